"""Files that are wrong in every way that is easily met: each command says where, and what it expected."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

DOCUMENT = {"id": "d1", "title": "Trial", "text": "Aspirin lowers the risk of stroke in adults."}
ANSWER = {"id": "a1", "answer": "Aspirin lowers the risk of stroke [1].", "documents": [DOCUMENT]}
QUESTION = {"id": "q1", "question": "Does aspirin lower the risk of stroke?"}
GOLD = {"id": "a1", "ideal": ["Aspirin lowers the risk of stroke."]}
RATING = {"item": "i1", "rater": "r1", "label": "yes"}
FIGURE = {"system": "s1", "measure": "m1", "value": 0.5}
LABEL = {"premise": "Aspirin lowers risk.", "claim": "Aspirin lowers risk.", "label": "supported"}
NUGGETS = {"q1": ["Aspirin lowers the risk of stroke.", "Aspirin may cause bleeding."]}
UNIT = {
    "item": "u1", "group": "g1", "of": "citation", "system": "s1", "answer": "a1", "sentence": 0,
    "claim": "Aspirin lowers risk.", "start": 0, "end": 20, "documents": [DOCUMENT], "verdict": "supported",
}  # fmt: skip
LABELLED = {"item": "i1", "rater": "r1", "label": "supported"}
EXAMPLE = {"id": "e1", "sentence": "Zinc shortens colds.", "sources": [{"id": "s1", "text": "Zinc."}], "supports": [1]}
LEXICAL = ("--judge", "lexical")
JUDGED = ("--set", "check.judge=lexical")
PLAIN = ("--by", "bm25", "--set", "search.rerank=none")


@dataclass(frozen=True)
class Target:
    """A file that a command reads.

    Attributes:
        words: The command, with ``FILE`` for the file, and names of good files.
        record: A line that is right.
        wrong: Fields, each with a value that no reader can take.
        right: How many right lines follow the bad one: fewer where each costs an answer.
    """

    words: tuple[str, ...]
    record: dict[str, Any]
    wrong: dict[str, object]
    right: int = 12

    def command(self, folder: Path, file: Path) -> list[str]:
        experiment = {
            "name": "one",
            "questions": {"from": str(file)},
            "plan": {"search": {"corpus": "demo", "by": "bm25"}},
        }
        good = {"ANSWERS": ANSWER, "DOCUMENTS": DOCUMENT, "OUT": None, "EXPERIMENT": experiment, "NUGGETS": NUGGETS}
        for name, record in good.items():
            if record is not None:
                (folder / name).write_text(json.dumps(record) + "\n", encoding="utf-8")
        (folder / "SYSTEM").mkdir(exist_ok=True)
        (folder / "SYSTEM" / "answers.jsonl").write_text(json.dumps(ANSWER) + "\n", encoding="utf-8")
        places = {"FILE": file, **{name: folder / name for name in (*good, "SYSTEM")}}
        return [str(places.get(word, word)) for word in self.words]


TARGETS = {
    "check": Target(
        ("check", "FILE", *LEXICAL),
        ANSWER,
        {"answer": 3, "documents": 3, "documents.0.text": 3, "documents.0.id": {}, "documents.0.title": 3},
    ),
    "attribute": Target(("attribute", "FILE", *LEXICAL), ANSWER, {"answer": None, "documents.0.text": 3}),
    "repair": Target(("repair", "FILE", *LEXICAL), ANSWER, {"answer": [], "documents.0.text": 3}),
    "documents": Target(
        ("check", "ANSWERS", "--documents", "FILE", *LEXICAL), DOCUMENT, {"id": [], "text": 3, "title": {}}
    ),
    "corpus": Target(("search", "stroke", "--corpus", "FILE", *PLAIN), DOCUMENT, {"id": None, "text": []}),
    "questions": Target(
        ("search", "--batch", "FILE", "--corpus", "DOCUMENTS", *PLAIN), QUESTION, {"id": [], "question": 3}
    ),
    "asked": Target(
        ("ask", "--batch", "FILE", "--corpus", "DOCUMENTS", *LEXICAL, *PLAIN),
        QUESTION,
        {"id": {}, "question": " "},
        right=2,
    ),
    "gold": Target(
        ("score", "ANSWERS", "--gold", "FILE", "-m", "RougeL", "--set", "draws=100"), GOLD, {"id": 3, "ideal": 3}
    ),
    "compared": Target(("compute", "bertscore", "SYSTEM", "--gold", "FILE"), GOLD, {"id": 3, "ideal": 3}),
    "ratings": Target(("agree", "FILE", "--set", "draws=100"), RATING, {"item": [], "label": 3}),
    "figures": Target(("rankings", "FILE", "--set", "draws=100"), FIGURE, {"system": 3, "value": "much"}),
    "reported": Target(("report", "FILE", *JUDGED, "--out", "OUT"), ANSWER, {"answer": 3, "documents.0.text": 3}),
    "converted": Target(("convert", "FILE", "--to", "alce"), ANSWER, {"answer": {}, "documents.0.text": None}),
    "sampled": Target(("annotate", "sample", "FILE", *JUDGED, "--n", "1", "--out", "OUT"), ANSWER, {"answer": 3}),
    "units": Target(("annotate", "page", "FILE", "--out", "OUT"), UNIT, {"claim": 3, "documents": 3, "end": -1}),
    "people": Target(("annotate", "agreement", "FILE", "--set", "draws=100"), LABELLED, {"item": [], "label": 3}),
    "experiment": Target(("run", "EXPERIMENT", "--to", "OUT", "--dry-run"), QUESTION, {"id": [], "question": 3}),
    "stored": Target(("corpus", "build", "FILE", "--to", "OUT"), DOCUMENT, {"id": {}, "text": 3}),
    "examples": Target(
        ("train", "attribution", "--data", "FILE", "--dev", "FILE", "--out", "OUT"),
        EXAMPLE,
        {"id": 3, "sentence": " ", "sources": []},
    ),
    "labels": Target(("calibrate", "FILE", *LEXICAL), LABEL, {"label": "perhaps", "claim": " ", "premise": 3}),
}

BAD_LINES: dict[str, bytes] = {
    "no JSON": b"not json",
    "cut short": b'{"id": "x", ',
    "a list": b"[1, 2]",
    "a number": b"3",
    "null": b"null",
    "a text": b'"text"',
    "a zero byte": b'{"id": "\x00"}',
    "no UTF-8": b'{"id": "\xff\xfe"}',
    "no fields": b"{}",
    "deep": b"[" * 20_000,
    "an infinite number": b'{"id": Infinity}',
}

Run = Callable[..., Any]


def several(target: Target, bad: bytes) -> bytes:
    """A right line, then the bad one, then right ones with ids of their own."""
    record = target.record
    names = [name for name in ("id", "item", "system") if name in record]
    right = [json.dumps(record | {name: f"n{number}" for name in names}).encode() for number in range(target.right)]
    return b"\n".join([json.dumps(record).encode(), bad, *right]) + b"\n"


def changed(record: dict[str, Any], field: str, value: object) -> bytes:
    """The record with one field wrong."""
    copy = json.loads(json.dumps(record | {"id": "bad"} if "id" in record else record))
    within: Any = copy
    *way, last = field.split(".")
    for step in way:
        within = within[int(step)] if step.isdigit() else within[step]
    within[last] = value
    return json.dumps(copy).encode()


def said(run_cli: Run, target: Target, folder: Path, content: bytes) -> Any:
    file = folder / "bad.jsonl"
    file.write_bytes(content)
    printed = run_cli(*target.command(folder, file))
    assert "Traceback" not in printed.err
    return printed


OF_EACH = ("no JSON", "no UTF-8", "no fields")
"""Bad lines that are tried with every command; they read lines in one way, which ``check`` and others try with all."""
ALL_LINES = ("check", "documents", "questions", "ratings", "examples", "stored")


@pytest.mark.parametrize(
    ("name", "bad"),
    [
        pytest.param(name, bad, marks=() if name in ALL_LINES or bad in OF_EACH else pytest.mark.slow)
        for name in TARGETS
        for bad in BAD_LINES
        # A text alone is a question.
        if name not in ("questions", "asked", "experiment") or bad != "a text"
    ],
)
def test_a_bad_line_is_named_with_what_was_expected(run_cli: Run, tmp_path: Path, name: str, bad: str):
    target = TARGETS[name]
    printed = said(run_cli, target, tmp_path, several(target, BAD_LINES[bad]))
    assert printed.code == 2, printed
    assert "bad.jsonl, line 2" in printed.err
    assert "expected" in printed.err


@pytest.mark.parametrize(("name", "field"), [(name, field) for name in TARGETS for field in TARGETS[name].wrong])
def test_a_bad_field_is_named_too(run_cli: Run, tmp_path: Path, name: str, field: str):
    target = TARGETS[name]
    bad = changed(target.record, field, target.wrong[field])
    printed = said(run_cli, target, tmp_path, several(target, bad))
    assert printed.code == 2, printed
    assert f"bad.jsonl, line 2, field {field}" in printed.err
    assert "expected" in printed.err


@pytest.mark.parametrize("name", TARGETS)
def test_a_file_that_is_no_file_is_named(run_cli: Run, tmp_path: Path, name: str):
    target = TARGETS[name]
    for file in (tmp_path / "nowhere.jsonl", tmp_path):
        printed = run_cli(*target.command(tmp_path, file))
        assert printed.code == 2, printed
        assert "expected" in printed.err and file.name in printed.err
        assert "Traceback" not in printed.err


@pytest.mark.parametrize("content", [b"", b"\n \n", b"\xef\xbb\xbf"], ids=["empty", "blank", "only a mark"])
@pytest.mark.parametrize("name", TARGETS)
def test_a_file_without_a_record_is_said_to_be_so(run_cli: Run, tmp_path: Path, name: str, content: bytes):
    printed = said(run_cli, TARGETS[name], tmp_path, content)
    assert "expected" in printed.err, printed
    assert "bad.jsonl" in printed.err


BAD_PLANS = {
    "no JSON": ("plan.json", "{"),
    "a list": ("plan.json", "[]"),
    "no TOML": ("plan.toml", "check ="),
    "an unknown section": ("plan.toml", "[serch]\nk = 3\n"),
    "an unknown field": ("plan.toml", "[check]\nprotocl = 'fast'\n"),
    "another type": ("plan.toml", "[check]\nchecks = 'yes'\n"),
    "out of range": ("plan.toml", "[check]\nabstain_below = 3\n"),
    "a section that is none": ("plan.json", '{"check": 3}'),
    "an unknown protocol": ("plan.toml", "[check]\nprotocol = 'quickest'\n"),
    "an unknown judge": ("plan.toml", "[check]\njudge = 'judy'\n"),
}


@pytest.mark.parametrize("bad", BAD_PLANS)
def test_a_bad_plan_is_named_with_its_field(run_cli: Run, tmp_path: Path, bad: str):
    name, text = BAD_PLANS[bad]
    (tmp_path / name).write_text(text)
    words = TARGETS["check"].command(tmp_path, tmp_path / "ANSWERS")
    printed = run_cli("check", words[1], "--plan", str(tmp_path / name))
    assert printed.code == 2, printed
    assert "expected" in printed.err and "Traceback" not in printed.err


BAD_EXPERIMENTS = {
    "no JSON": ("e.json", "{"),
    "a list": ("e.json", "[]"),
    "no YAML": ("e.yaml", "name: [\n"),
    "no TOML": ("e.toml", "name ="),
    "no questions": ("e.json", '{"name": "x"}'),
    "questions that are nowhere": ("e.json", '{"name": "x", "questions": {"from": "nowhere.jsonl"}}'),
    "an unknown field": ("e.json", '{"name": "x", "questions": {"from": "q"}, "axis": {}}'),
    "an unknown setting": (
        "e.json", '{"name": "x", "questions": {"from": "q"}, "axes": {"k": {"1": {"search": {"kk": 1}}}}}'
    ),
    "a setting out of range": (
        "e.json", '{"name": "x", "questions": {"from": "q"}, "axes": {"k": {"1": {"search": {"k": 0}}}}}'
    ),
    "a name that is a path": ("e.json", '{"name": "../x", "questions": {"from": "q"}}'),
    "a value that is not given": ("e.json", '{"name": "x", "questions": {"from": "$file"}}'),
    "a tag of YAML's that runs code": ("e.yaml", "name: !!python/object/apply:os.system ['true']\n"),
}  # fmt: skip


@pytest.mark.parametrize("bad", BAD_EXPERIMENTS)
def test_a_bad_experiment_is_named(run_cli: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bad: str):
    monkeypatch.chdir(tmp_path)
    name, text = BAD_EXPERIMENTS[bad]
    (tmp_path / name).write_text(text)
    (tmp_path / "q").write_text(json.dumps(QUESTION) + "\n")
    printed = run_cli("run", name)
    assert printed.code == 2, printed
    assert "expected" in printed.err and "Traceback" not in printed.err


BAD_WORDS = [
    ("check", "ANSWERS", "--protocol", "quickest"),
    ("check", "ANSWERS", "--format", "word"),
    ("check", "ANSWERS", "--set", "check.abstain_below=2"),
    ("check", "ANSWERS", "--fail-under", "x"),
    ("check", "ANSWERS", "--csv"),
    ("check", "ANSWERS", "--set", "abstain"),
    ("check", "ANSWERS", "--set", "search.k=3"),
    ("check", "ANSWERS", "--out", "."),
    ("check", "ANSWERS", "--set", "llm.price=cheap"),
    ("ask",),
    ("ask", " "),
    ("ask", "Why?", "--k", "0"),
    ("ask", "Why?", "--set", "answer.shots=2"),
    ("ask", "Why?", "--corpus", "nowhere.jsonl"),
    ("search", "?!"),
    ("search", "why", "--by", "chance"),
    ("search", "why", "--set", "search.year_from=soon"),
    ("score", "ANSWERS", "-m", "Best"),
    ("score", "ANSWERS", "-m", "nDCG@x"),
    ("score", "ANSWERS", "--with", "verdicts"),
    ("score", "ANSWERS", "--with", "word=x.jsonl"),
    ("score", "ANSWERS", "--set", "draws=1"),
    ("compare", "ANSWERS", "nowhere"),
    ("agree", "nowhere.jsonl"),
    ("calibrate", "ANSWERS", "--coverage", "0.9", "--risk", "0.1"),
    ("split", "text", "--into", "words"),
    ("judge", "", "premise"),
    ("corpus", "info", "nowhere"),
    ("corpus", "build"),
    ("demonstrations", "info", "nowhere.jsonl"),
    ("prompts", "from", "ANSWERS", "--to", "x"),
    ("train", "fitt"),
    ("run", "nowhere.yaml"),
    ("run", "ANSWERS"),
    ("table", "nowhere"),
    ("table", "."),
    ("report", "ANSWERS"),
    ("report", "ANSWERS", "--out", "x.html", "--out", "x.html"),
    ("report", "ANSWERS", "--out", "ANSWERS/x.csv"),
    ("report", "ANSWERS", "--out", "ANSWERS"),
    ("convert", "ANSWERS", "--to", "word"),
    ("convert", "ANSWERS", "--to", "csv"),
    ("annotate", "sample", "ANSWERS", "--n", "0", "--out", "x"),
    ("annotate", "sample", "ANSWERS", "--scheme", "mine", "--out", "x"),
    ("annotate", "page", "ANSWERS", "--out", "x.html"),
    ("annotate", "serve", "ANSWERS", "--rater", "ann", "--out", "x"),
    ("annotate", "agreement", "ANSWERS"),
    ("annotate", "correct", "ANSWERS", "--sample", "ANSWERS", "--labels", "ANSWERS"),
    ("annotate", "convert", "--sample", "ANSWERS", "--to", "word"),
    ("bioace", "score", "ANSWERS", "--gold", "nowhere"),
    ("bioace", "score", "nowhere"),
    ("bioace", "score", "ANSWERS", "--gold", "ANSWERS", "--set", "tune=3", "--set", "threshold=0.5"),
    ("bioace", "train-completeness", "ANSWERS", "--out", "x", "--encoder", "a", "--decoder", "b"),
    ("bioace", "train-correctness", "nowhere", "--encoder", "nowhere", "--out", "x"),
    ("datasets", "stats", "medaesqa", "ANSWERS"),
    ("datasets", "show", "bioask", "ANSWERS"),
    ("datasets", "show", "alce", "ANSWERS", "--what", "labels"),
    ("serve", "--corpus", "nowhere.jsonl", "--port", "0"),
    ("serve", "--corpus", "demo", "--corpus", "demo", "--port", "0"),
    ("serve", "--corpus", "x=", "--port", "0"),
    ("serve", "--port", "99999"),
    ("serve", "--host", "0.0.0.0", "--port", "0"),
    ("serve", "--host", "no host", "--port", "0"),
    ("serve", "--llm", "gpt", "--port", "0"),
    ("serve", "--plan", "nowhere.toml", "--port", "0"),
    ("mcp", "--corpus", "nowhere.jsonl"),
    ("mcp", "--corpus", "demo", "--corpus", "demo"),
    ("mcp", "--set", "service.state=ANSWERS"),
    ("chek",),
]


@pytest.mark.parametrize("words", BAD_WORDS, ids=" ".join)
def test_invalid_arguments_are_refused(
    run_cli: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ANSWERS").write_text(json.dumps(ANSWER) + "\n", encoding="utf-8")
    printed = run_cli(*words)
    assert printed.code == 2, printed
    assert "Traceback" not in printed.err and printed.err.strip()


def test_lines_with_one_problem_are_one_message(run_cli, tmp_path):
    path = tmp_path / "rag.jsonl"
    path.write_text(json.dumps({"llm": "Zinc helps [1].", "docs": ["Zinc helped."]}) + "\n")
    path.write_text(path.read_text() * 18)
    printed = run_cli("check", str(path), "--format", "answer=llm_output,contexts=docs")
    assert printed.code == 2
    assert printed.err.count("expected a field 'llm_output'; found 'llm', 'docs'") == 1
    assert "rag.jsonl, line 1: " in printed.err and "... and 17 more lines alike" in printed.err
    path.write_text(json.dumps({"llm": "Zinc helps [1].", "found": ["Zinc helped."]}) + "\n")
    assert "documents=NAME" in run_cli("check", str(path)).err
