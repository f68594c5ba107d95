"""What a command does has a public Python name."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import vericite
from vericite.cli.app import program
from vericite.errors import InputError, RecordError, UnknownNameError

ROOT = Path(__file__).parents[2]
ANSWERS = ROOT / "examples/answers.jsonl"
NAMES = {
    "ask": "ask",
    "search": "search",
    "check": "check_many",
    "evidence": "evidence",
    "attribute": "attribute",
    "repair": "repair",
    "split": "split_sentences",
    "score": "score",
    "compare": "compare",
    "report": "report",
    "agree": "agree",
    "rankings": "rankings",
    "judge": "judge",
    "calibrate": "calibrate",
    "convert": "convert",
    "protocols": "get_protocol",
    "corpus": "open_corpus",
    "datasets": "read_dataset",
    "settings": "Plan",
    "prompts": "extract_prompts",
}
LAB = {"run", "table", "compute", "annotate", "bioace", "demonstrations", "train"}
"""Experiments and training are programs of their own, started from files."""
NO_VALUE = {"serve", "mcp", "doctor", "judges", "measures"}
"""These start a server, or only list."""


def test_each_command_has_a_name():
    assert set(program().commands) == {*NAMES, *LAB, *NO_VALUE}
    for name in NAMES.values():
        assert name in vericite.__all__


@pytest.mark.parametrize("form", ["vericite", "autojudge", "alce"])
def test_convert_writes_what_the_command_writes(run_cli, form: str):
    printed = run_cli("convert", str(ANSWERS), "--to", form)
    assert printed.code == 0
    assert vericite.convert(ANSWERS, form).strip() == printed.out.strip()
    assert vericite.convert(list(vericite.read_answers(ANSWERS)), form) == vericite.convert(ANSWERS, form)


def test_convert_refuses_what_it_cannot_write():
    with pytest.raises(UnknownNameError, match="biogen"):
        vericite.convert(ANSWERS, "biogn")
    long = vericite.parse_answer("a", "word " * 300 + "[1].", [vericite.Document.from_text("1", "A word.")])
    with pytest.raises(InputError, match="250 words"):
        vericite.convert([long], "biogen")


def test_a_data_set_is_read_by_its_name(tmp_path: Path):
    file = tmp_path / "pubmedqa.json"
    record = {
        "QUESTION": "Does it help?",
        "CONTEXTS": ["It helped."],
        "final_decision": "yes",
        "LONG_ANSWER": "It does.",
    }
    file.write_text(json.dumps({"1": record}))
    (question,) = vericite.read_dataset(f"pubmedqa:{file}")
    assert question.text == "Does it help?"
    with pytest.raises(UnknownNameError, match="questions"):
        vericite.read_dataset(f"pubmedqa:{file}", "question")


def test_a_judge_is_calibrated_and_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("VERICITE_HOME", str(tmp_path))
    found = vericite.calibrate(ROOT / "examples/labels.jsonl", "lexical", coverage=0.6, out="mine")
    assert found.stored.judge == "lexical" and (tmp_path / "judges/mine.json").is_file()
    checked = vericite.check("Zinc helps [1].", ["Zinc helps."], judge="mine")
    assert "calibrated=mine" in checked.provenance.parts["judge"]


def test_rankings_are_those_of_the_command(run_cli, tmp_path: Path):
    lines = [
        {"system": system, "measure": measure, "value": value}
        for measure, values in (("A", (0.1, 0.2, 0.3)), ("B", (0.2, 0.3, 0.9)))
        for system, value in zip("xyz", values, strict=True)
    ]
    file = tmp_path / "scores.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    printed = run_cli("rankings", str(file), "--json")
    assert printed.code == 0, printed.err
    assert [found.record for found in vericite.rankings(file)] == json.loads(printed.out)


def test_a_store_is_opened(tmp_path: Path):
    pytest.importorskip("lancedb", reason="needs the extra [store]")
    file = tmp_path / "documents.jsonl"
    file.write_text('{"id": "1", "text": "Zinc shortens colds."}\n')
    vericite.build_corpus(file, tmp_path / "store")
    store = vericite.open_corpus(tmp_path / "store")
    assert [document.id for document in store.get(["1"]).documents] == ["1"] and not store.verify()
    assert [found.document.id for found in vericite.search("Does zinc shorten colds?", store).evidence] == ["1"]
    assert vericite.ask("Does zinc shorten colds?", corpus=store).answer.documents[0].id == "1"
    with pytest.raises(InputError):
        vericite.open_corpus(tmp_path / "none")


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda: vericite.convert(3), "a list of answers"),  # pyright: ignore[reportArgumentType]
        (lambda: vericite.convert({"id": "a", "answer": "Zinc helps."}), "Put a single value in a list"),
        (lambda: vericite.score(None), "a list of answers"),  # pyright: ignore[reportArgumentType]
        (lambda: vericite.read_dataset(Path("bioasq.json")), "bioasq:FILE"),  # pyright: ignore[reportArgumentType]
        (lambda: vericite.calibrate(ROOT / "examples/labels.jsonl", coverage=5), "a coverage between 0 and 1; found 5"),
        (lambda: vericite.calibrate(ROOT / "examples/labels.jsonl", lambda premise, claim: True), "a judge's name"),  # pyright: ignore[reportArgumentType]
        (lambda: vericite.Plan().changed({"check": {"judge": print}}), "an object of the type builtin"),
    ],
)
def test_values_of_a_wrong_kind_are_refused_with_what_is_expected(call: Callable[[], object], expected: str):
    with pytest.raises(vericite.InputError, match=expected):
        call()


@pytest.mark.parametrize(
    "use",
    [
        lambda corpus: vericite.search("zinc colds", corpus),
        lambda corpus: vericite.build(corpus=corpus),
        lambda corpus: vericite.repair("Zinc helps [1].", ["Zinc helps colds."], corpus=corpus),
    ],
    ids=["search", "build", "repair"],
)
def test_a_bad_line_of_a_corpus_is_an_error_in_python(tmp_path: Path, use):
    """Commands report the line and go on; these functions lost the document without a word."""
    corpus = tmp_path / "corpus.jsonl"
    corpus.write_text('{"id": "a", "text": "Zinc helps colds."}\n{oops\n')
    with pytest.raises(RecordError, match="line 2"):
        use(str(corpus))
