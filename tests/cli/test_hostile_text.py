"""Text of records is never markup, a link, or something that steers the terminal, whatever command prints it."""

from __future__ import annotations

import json
import re
from io import StringIO
from pathlib import Path

import pytest
from rich.table import Table
from rich.text import Text

from vericite.cli.show import show_rows, verdict_rows
from vericite.cli.terminal import Terminal
from vericite.pipeline.check import check

HOSTILE = {
    "closing": "[/red]",
    "opening": "[red]here",
    "link": "[link=https://e.example]here[/link]",
    "escape": "\x1b[31mhere\x1b]8;;https://e.example\x07",
    "bidi": "\u202ehere\u2066\u200f",
    "lines": "he\rre\nhere\x9b2J\x08",
}
TOGETHER = {
    "markup": "".join(HOSTILE[name] for name in ("closing", "opening", "link")),
    "steering": "".join(HOSTILE[name] for name in ("escape", "bidi", "lines")),
}
"""The same for tests that run every command."""
STEERS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
SENTENCE = "Aspirin lowers the risk of stroke in adults."
LABELS = ("supported", "contradicted", "irrelevant")


@pytest.fixture(params=HOSTILE.values(), ids=HOSTILE)
def evil(request: pytest.FixtureRequest) -> str:
    return request.param


def lines(path: Path, *records: object) -> str:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return str(path)


def document(evil: str, number: int = 1) -> dict[str, object]:
    title = f"{evil} title {number}"
    return {"id": f"{evil} {number}", "title": title, "text": f"{SENTENCE} {evil} and more."}


def answer(evil: str) -> dict[str, object]:
    text = f"{SENTENCE} [1]. Zinc {evil} cures warts [2]. Nothing {evil} is cited. Dangling {evil} [9]."
    return {
        "id": evil,
        "question": f"Does it {evil}?",
        "answer": text,
        "documents": [document(evil, 1), document(evil, 2)],
    }


def ratings(evil: str, rater: str, shift: int) -> list[dict[str, object]]:
    return [
        {"item": f"{evil}{number}", "rater": f"{rater}{evil}", "label": f"{evil}{(number * shift) % 3}", "by": evil}
        for number in range(9)
    ]


def commands(evil: str, folder: Path) -> dict[str, list[str]]:
    """Every command that prints text of records, with files in which all of that is hostile."""
    answers = lines(folder / "answers.jsonl", answer(evil))
    documents = lines(folder / "documents.jsonl", document(evil, 1), document(evil, 2))
    questions = lines(folder / "questions.jsonl", {"id": evil, "question": f"Does aspirin {evil} help?"})
    broken = lines(folder / "broken.jsonl", {"id": evil, evil: 3}, {"id": 3, "answer": evil})
    gold = lines(folder / "gold.jsonl", {"id": evil, "ideal": [f"{SENTENCE} {evil}"], "groups": {"kind": evil}})
    first = lines(folder / "first.jsonl", *ratings(evil, "a", 1))
    second = lines(folder / "second.jsonl", *ratings(evil, "b", 2))
    figures = [
        {"system": f"{evil}{number}", "measure": measure, "value": number / 7}
        for number in range(5)
        for measure in (f"one {evil}", f"two {evil}")
    ]
    scores = lines(folder / "figures.jsonl", *figures)
    pairs = [
        {
            "premise": f"{SENTENCE} {number}",
            "claim": f"{SENTENCE} {evil}",
            "label": LABELS[number % 3],
            "group": evil + str(number),
        }
        for number in range(40)
    ]
    labels = lines(folder / "labels.jsonl", *pairs)
    assessed = {
        "question_id": evil,
        "question": f"Does it {evil}?",
        "machine_generated_answers": {
            evil: {
                "answer_sentences": [
                    {
                        "answer_sentence": f"{SENTENCE} {evil}",
                        "citation_assessment": [{"cited_pmid": evil, "evidence_relation": "supporting"}],
                    }
                ]
            }
        },
    }
    medaesqa = lines(folder / "medaesqa.json", assessed)
    nuggets = lines(folder / "nuggets.json", {evil: [f"{SENTENCE} {evil}", f"Zinc {evil} cures warts."]})
    people = [
        lines(folder / f"{rater}.jsonl", *({"item": f"{evil}{n}", "rater": f"{rater}{evil}", "label": label}
              for n, label in enumerate(LABELS if rater == "ann" else LABELS[1:])))
        for rater in ("ann", "ben")
    ]  # fmt: skip
    experiment = {
        "name": re.sub(r"\W", "", evil) or "x",
        "questions": {"from": questions},
        "plan": {"search": {"corpus": documents, "by": "bm25", "rerank": "none"}, "check": {"judge": "lexical"}},
        "axes": {evil: {f"{evil} 1": {"search": {"k": 1}}, f"{evil} 2": {"search": {"k": 2}}}},
    }
    experiments = lines(folder / "experiment.json", experiment)
    sample, store, grid = (str(folder / name) for name in ("sample.jsonl", "store", "grid"))
    (folder / "computed").mkdir(exist_ok=True)
    computed = str(Path(lines(folder / "computed" / "answers.jsonl", answer(evil))).parent)
    named = evil.strip()
    systems = [f"{number} {named}={answers}" for number in ("one", "two")]
    judged = ("--set", "check.judge=lexical")
    lexical = ("--judge", "lexical")
    example = {"id": evil, "sentence": evil, "sources": [{"id": evil, "text": evil}], "group": evil}
    examples = lines(folder / "examples.jsonl", example)
    return {
        "train attribution": ["train", "attribution", "--data", examples, "--dev", examples, "--out", f"{folder}/out"],
        "check": ["check", answers, *lexical],
        "check what is broken": ["check", broken, *lexical, "--format", "vericite"],
        "check with an unknown name": ["check", answers, "--judge", evil],
        "attribute": ["attribute", answers, *lexical],
        "repair": ["repair", answers, *lexical],
        "ask": [
            "ask",
            f"Does aspirin {evil} help?",
            "--corpus",
            documents,
            *lexical,
            "--by",
            "bm25",
            "--set",
            "search.rerank=none",
        ],
        "ask many": [
            "ask",
            "--batch",
            questions,
            "--corpus",
            documents,
            *lexical,
            "--by",
            "bm25",
            "--set",
            "search.rerank=none",
        ],
        "search": [
            "search",
            f"aspirin {evil}",
            "--corpus",
            documents,
            "--by",
            "bm25",
            "--set",
            "search.rerank=none",
            "--explain",
        ],
        "search many": [
            "search",
            "--batch",
            questions,
            "--corpus",
            documents,
            "--by",
            "bm25",
            "--set",
            "search.rerank=none",
        ],
        "score": [
            "score",
            *systems,
            "--gold",
            gold,
            "-m",
            "RougeL",
            "--by",
            "kind",
            "--set",
            "draws=100",
        ],
        "compare": ["compare", *systems, "--gold", gold, "-m", "RougeL", "--set", "draws=100"],
        "agree": ["agree", first, second, "--set", "by=true", "--set", "draws=100"],
        "rankings": ["rankings", scores, "--set", "draws=100"],
        "calibrate": ["calibrate", labels, *lexical],
        "split": ["split", f"{SENTENCE} {evil} [1].", "--into", "claims"],
        "judge": ["judge", f"{SENTENCE} {evil}", f"{SENTENCE} {evil}", *lexical],
        "report": ["report", answers, *judged, "--out", str(folder / "report.html")],
        "convert": ["convert", answers, "--to", "alce"],
        "convert to a table": ["convert", medaesqa, "--documents", documents, "--to", "vericite"],
        "annotate sample": ["annotate", "sample", *systems, *judged, "--n", "2", "--out", sample],
        "annotate page": ["annotate", "page", sample, "--out", str(folder / "page.html")],
        "annotate agreement": ["annotate", "agreement", *people, "--set", "draws=100"],
        "annotate convert": ["annotate", "convert", "--sample", sample, "--to", "label-studio"],
        "annotate convert to csv": ["annotate", "convert", "--sample", sample, "--to", "csv"],
        "bioace score": ["bioace", "score", f"medaesqa:{medaesqa}", "--gold", nuggets, "--set", "judge=lexical"],
        "datasets stats": ["datasets", "stats", "medaesqa", medaesqa],
        "datasets show": ["datasets", "show", "medaesqa", medaesqa, "--what", "answers"],
        "corpus build": ["corpus", "build", documents, "--to", store],
        "corpus info": ["corpus", "info", store],
        "corpus get": ["corpus", "get", store, f"{evil} 1", f"{evil} 9"],
        "corpus export": ["corpus", "export", store],
        "corpus verify": ["corpus", "verify", store],
        "run": ["run", experiments, "--to", grid],
        "run dry": ["run", experiments, "--to", grid, "--dry-run"],
        "table": ["table", grid, "--layout", "vericite-1"],
        "compute": ["compute", "bertscore", computed, "--gold", gold],
        "compute by a model that is not there": ["compute", "bertscore", computed, "--with", evil],
        "serve what is not there": ["serve", "--corpus", f"{evil}={evil}", "--port", "0"],
        "mcp of what is not there": ["mcp", "--corpus", f"{evil}={evil}"],
    }


BEFORE = {
    "annotate page": "annotate sample", "annotate convert": "annotate sample", "table": "run",
    "annotate convert to csv": "annotate sample", "corpus info": "corpus build", "corpus get": "corpus build",
    "corpus export": "corpus build", "corpus verify": "corpus build",
}  # fmt: skip
"""What makes the file or folder that a command reads."""
WRONG = {
    "check what is broken", "check with an unknown name", "serve what is not there", "mcp of what is not there",
    "train attribution", "compute by a model that is not there",
}  # fmt: skip


NAMES = [
    "check", "check what is broken", "check with an unknown name", "attribute", "repair", "ask", "ask many", "search",
    "search many", "score", "compare", "agree", "rankings", "calibrate", "split", "judge", "report", "convert",
    "convert to a table", "annotate sample", "annotate page", "annotate agreement", "annotate convert",
    "annotate convert to csv", "bioace score", "datasets stats", "datasets show", "corpus build", "corpus info",
    "corpus get", "corpus export", "corpus verify", "run", "run dry", "table", "serve what is not there",
    "compute", "compute by a model that is not there", "mcp of what is not there",
    "train attribution",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("evil", TOGETHER.values(), ids=TOGETHER)
def test_no_command_takes_text_of_a_record_for_more_than_text(run_cli, tmp_path: Path, evil: str, name: str):
    typed = commands(evil, tmp_path)
    if name in BEFORE:
        made = run_cli(*typed[BEFORE[name]])
        assert made.code == 0, made.err
    printed = run_cli(*typed[name])
    assert printed.code == (2 if name in WRONG or "get" in name else 0), printed.err
    assert not STEERS.search(printed.out), printed.out
    assert not STEERS.search(printed.err), printed.err
    assert "Traceback" not in printed.err
    assert printed.out or printed.err


@pytest.mark.parametrize("name", ["check", "attribute", "repair", "ask many", "score", "compare", "agree", "rankings"])
def test_markup_is_shown_as_it_stands(run_cli, monkeypatch, tmp_path: Path, name: str):
    monkeypatch.setenv("COLUMNS", "300")
    for evil in (HOSTILE["closing"], HOSTILE["opening"], HOSTILE["link"]):
        printed = run_cli(*commands(evil, tmp_path)[name])
        assert evil in re.sub(r"\s+", " ", printed.out), printed


def test_on_a_terminal_with_colours_and_links_too(evil: str):
    checked = check(f"{SENTENCE} [1]. {evil} [7].", [{"id": evil, "text": SENTENCE}], id=evil, judge="lexical")
    hostile = checked.verdicts[0].model_copy(update={"native": evil, "reasons": (evil,)})
    rows = list(verdict_rows(checked.model_copy(update={"verdicts": (hostile, *checked.verdicts)})))
    out = StringIO()
    console = Terminal(file=out, force_terminal=True, width=200, color_system="truecolor", legacy_windows=False)
    show_rows(console, rows)
    table = Table(evil)
    table.add_row(evil)
    for anything in (table, evil, Text(evil), f":smile: {evil}"):
        console.print(anything)
    printed = re.sub(r"\x1b\[[\d;]*m", "", out.getvalue())
    assert not STEERS.search(printed)
    assert "\x1b]8" not in out.getvalue()
    assert ":smile:" in printed
    if evil == HOSTILE["link"]:
        assert printed.count(evil) >= 4


def test_what_the_package_logs_is_a_remark_and_steers_no_terminal(run_cli, tmp_path: Path):
    path = tmp_path / "a\x1b[31m.csv"
    path.write_bytes("id,answer\n1,Café au lait [1].\n".encode("cp1252"))
    printed = run_cli("check", str(path))
    (said,) = [line for line in printed.err.split("\n") if "cp1252" in line]
    assert said.startswith("vericite: ") and "\x1b" not in printed.err
