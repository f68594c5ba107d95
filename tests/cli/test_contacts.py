"""No command contacts anything that was not named: every one of them is run with all sockets refused."""

from __future__ import annotations

import json
import shutil
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from vericite.cli.app import program
from vericite.corpus import demo_questions
from vericite.records import to_json

EXAMPLES = Path(__file__).parents[2] / "examples"
QUESTION = "Does levodopa improve the symptoms of Parkinson's disease?"
DOCUMENTS, ANSWERS = EXAMPLES / "formats" / "documents.jsonl", EXAMPLES / "answers.jsonl"
BIOACE = EXAMPLES / "bioace"
FIRST, SECOND = EXAMPLES / "score" / "first", EXAMPLES / "score" / "second"
FIRST_COPY = "first"
"""Of what is read there, for a command that writes beside it."""

COMMANDS: dict[str, list[list[object]]] = {
    "ask": [[QUESTION], [QUESTION, "--corpus", DOCUMENTS, "--by", "bm25", "--set", "search.rerank=none"]],
    "search": [[QUESTION], [QUESTION, "--corpus", "store"]],
    "check": [
        [ANSWERS],
        *([EXAMPLES / "formats" / name, "--documents", DOCUMENTS] for name in ("markdown.md", "biogen.json")),
    ],
    "evidence": [[ANSWERS, "--corpus", DOCUMENTS, "--set", "search.by=bm25"]],
    "attribute": [["answer.jsonl"]],
    "repair": [["answer.jsonl", "--corpus", "store"]],
    "score": [[FIRST, SECOND, "--gold", EXAMPLES / "score" / "gold.jsonl", "--out", "scores.jsonl"]],
    "compare": [[FIRST, SECOND]],
    "agree": [[FIRST / "verdicts.jsonl", FIRST / "labels.jsonl", "--reference", "labels"]],
    "rankings": [["figures.jsonl"]],
    "judge": [["Aspirin reduces strokes.", "Aspirin reduces the risk of stroke."]],
    "calibrate": [[EXAMPLES / "labels.jsonl", "--coverage", "0.6", "--out", "mine.json"]],
    "split": [["Statins lower LDL. They may harm muscle."]],
    "prompts from": [["paper.txt", "--to", "prompts"]],
    "protocols": [[]],
    "judges": [[]],
    "measures": [[]],
    "convert": [[ANSWERS, "--to", "alce"], [ANSWERS, "--to", "vericite"]],
    "doctor": [[]],
    "settings": [[]],
    "report": [[ANSWERS, "--out", "report.html"]],
    # Data sets are read from the user's own files.
    **{f"datasets {name}": [["--help"]] for name in ("stats", "show")},
    # They need data and torch, and these tests have neither.
    **{f"train {step}": [["--help"]] for step in ("fit", "pack", "unpack")},
    # They read examples and data sets of the user's; their own tests run them.
    **{f"train {step}": [["--help"]] for step in ("attribution", "attribution-data", "inline")},
    "corpus retractions": [[], ["store"]],
    "corpus build": [["pile", EXAMPLES / "corpus", "--to", "built"], ["pile", "--to", "built", "--vectors"]],
    "corpus info": [["store"]],
    "corpus get": [["store", "99000004"]],
    "corpus export": [["store", "--out", "exported.jsonl"]],
    "corpus verify": [["store"]],
    "demonstrations build": [["questions.jsonl", "--to", "pool.jsonl", "--corpus", "demo"]],
    "demonstrations info": [["pool.jsonl"]],
    # It needs torch; tests/assess/hf runs it.
    "bioace train-correctness": [["--help"]],
    "bioace train-completeness": [[f"medaesqa:{BIOACE / 'answers.json'}", "--out", "classifier.json"]],
    "bioace score": [[f"medaesqa:{BIOACE / 'answers.json'}", "--gold", BIOACE / "nuggets.json"]],
    "run": [["experiment.json", "--to", "grid"]],
    "table": [["grid", "--layout", "vericite-1"]],
    "compute": [
        [what, FIRST_COPY, "--gold", EXAMPLES / "score" / "gold.jsonl"]
        for what in ("bertscore", "mauve-features", "claim-entailment")
    ],
    "annotate sample": [[ANSWERS, "--n", "4", "--out", "sample.jsonl"]],
    "annotate page": [["sample.jsonl", "--out", "page.html"]],
    # They read labels, which tests/cli/test_annotate.py makes.
    **{f"annotate {name}": [["--help"]] for name in ("agreement", "correct", "convert")},
    # To listen is what they are for; their own tests say where.
    **{name: [["--help"]] for name in ("serve", "mcp", "annotate serve")},
}
"""Of each command what people usually type, with nothing in it that names a service."""
MAKERS = {"demonstrations info": "demonstrations build", "table": "run", "annotate page": "annotate sample"}
"""The commands whose results others read."""


def leaves(command: Any, path: str = "") -> Iterator[str]:
    below = getattr(command, "commands", None)
    if not below:
        yield path
    for name, each in (below or {}).items():
        yield from leaves(each, f"{path} {name}".strip())


@pytest.fixture(scope="module")
def workplace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from vericite.corpus.ingest import collect_sources
    from vericite.corpus.store import build_store

    folder = tmp_path_factory.mktemp("workplace")
    (folder / "pile").mkdir()
    for name in ("room.csv", "ids.txt"):
        (folder / "pile" / name).write_text("20301\n20302\n20303\n")
    (folder / "pile" / "words.txt").write_text("Melatonin helps against jet lag.")
    paper = (
        "D Results\n\nNone.\n\nE Prompt Template\n\nAnswer.\n\n[Three demonstrations omitted]\n\nSources:\n\n"
        "[1] <abstract of document 1>\n ...\n [k] <abstract of document k>\n\nAsked: <question>\n\nAnswer:"
    )
    (folder / "paper.txt").write_text(paper)
    (folder / "questions.jsonl").write_text("".join(to_json(one) + "\n" for one in demo_questions()[:8]))
    figures = [
        {"system": system, "measure": measure, "value": value / 10}
        for measure in ("SupportRate", "MRR")
        for value, system in enumerate("abcde")
    ]
    (folder / "figures.jsonl").write_text("".join(json.dumps(row) + "\n" for row in figures))
    experiment = {
        "name": "two",
        "questions": {"from": "questions.jsonl", "sample": 2},
        "plan": {"search": {"corpus": "demo", "by": "bm25", "rerank": "none"}},
        "axes": {"k": {"1": {"search": {"k": 1}}, "2": {"search": {"k": 2}}}},
    }
    (folder / "experiment.json").write_text(json.dumps(experiment))
    (folder / "answer.jsonl").write_text(ANSWERS.read_text(encoding="utf-8").splitlines(keepends=True)[0])
    shutil.copytree(FIRST, folder / FIRST_COPY)
    build_store(folder / "store", collect_sources([EXAMPLES / "corpus"]).sources)
    return folder


@pytest.fixture
def contacted(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Whom anything in this process tried to reach."""
    found: list[object] = []

    def refuse(*arguments: object, **options: object) -> None:
        found.append(arguments[1:] if isinstance(arguments[0], socket.socket) else arguments)
        raise OSError("no network here")

    for name in ("connect", "connect_ex", "sendto", "sendmsg", "bind"):
        monkeypatch.setattr(socket.socket, name, refuse)
    for name in ("getaddrinfo", "gethostbyname", "gethostbyname_ex", "create_connection"):
        monkeypatch.setattr(socket, name, refuse)
    for name in ("NCBI_API_KEY", "OPENAI_API_KEY", "OPENAI_BASE_URL", "VERICITE_OFFLINE"):
        monkeypatch.delenv(name, raising=False)
    return found


def test_every_command_is_tried_here():
    assert set(leaves(program())) == set(COMMANDS)


@pytest.mark.parametrize(
    ("command", "arguments"), [(name, given) for name, tries in COMMANDS.items() for given in tries]
)
def test_a_command_contacts_nothing_that_was_not_named(
    run_cli, contacted, workplace, tmp_path, monkeypatch, command: str, arguments: list[object]
):
    shutil.copytree(workplace, tmp_path / "here")
    monkeypatch.chdir(tmp_path / "here")
    if (maker := MAKERS.get(command)) is not None:
        run_cli(*maker.split(), *map(str, COMMANDS[maker][0]))
    printed = run_cli(*command.split(), *map(str, arguments))
    assert contacted == []
    assert printed.code == 0, printed.err


@pytest.mark.parametrize(
    "given",
    [
        ["search", QUESTION, "--corpus", "pubmed"],
        ["corpus", "build", "pmids:101", "--to", "built"],
        ["corpus", "build", "--to", "built", "pmids:pile/ids.txt"],
    ],
)
def test_what_is_named_is_contacted_so_that_this_would_show(
    run_cli, contacted, workplace, tmp_path, monkeypatch, given: list[str]
):
    shutil.copytree(workplace, tmp_path / "here")
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setenv("VERICITE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    run_cli(*given)
    assert contacted
