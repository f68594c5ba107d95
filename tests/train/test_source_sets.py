"""Examples from Verifiability Judgments and MS MARCO, in the form of their published files."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vericite.errors import InputError, Problems
from vericite.lab.train.examples import AttributionExample, file_hash
from vericite.lab.train.source_sets import ANNOTATIONS, SNIPPET_TOKENS, read_examples, snippet

FILLER = "The committee met again and adjourned without a result."
RESPONSE = "Zinc shortens colds [1][2]. Iron cures anaemia [3]."


def judged(statement: str, url: str, support: str, text: str, evidence: str | None, **more: Any) -> dict[str, Any]:
    return {
        "query": "do minerals help",
        "response": RESPONSE,
        "statement": statement,
        "source_title": url,
        "source_content_title": None,
        "source_date": None,
        "source_author": None,
        "source_text": text,
        "source_raw_text": text,
        "source_supports_statement": f"{support}_support",
        "source_localized_evidence": evidence,
        "source_url": f"https://example.org/{url}",
        **more,
    }


LONG = " ".join([FILLER] * 60 + ["Zinc shortened colds by two days."] + [FILLER] * 60)
ROWS = [
    judged("Zinc shortens colds.", "long", "partial", LONG, "Zinc shortened colds by two days."),
    judged(
        "Zinc shortens colds.", "short", "partial", "Colds were shorter in adults.", "Colds were shorter in adults."
    ),
    judged("Iron cures anaemia.", "iron", "complete", "Iron cured anaemia.", "Iron cured anaemia."),
    judged("Iron cures anaemia.", "tea", "no", "Tea was served.", None),
    judged("Iron is a metal.", "iron", "no", "Iron cured anaemia.", None),
]


def written(path: Path, rows: list[dict[str, Any]]) -> Path:
    text = "".join(f"{json.dumps(row)}\n" for row in rows).encode()
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
    return path


def annotations(path: Path, **supported: str) -> Path:
    said = {
        "Zinc shortens colds.": supported.get("zinc", "Yes"),
        "Iron cures anaemia.": supported.get("iron", "Yes"),
    }
    known = {
        statement: {"statement_is_verification_worthy": True, "statement_supported": value, "citation_annotations": []}
        for statement, value in said.items()
    }
    row = {
        "id": "1",
        "query": "do minerals help",
        "response": RESPONSE,
        "annotation": {"fluency": "Agree", "statement_to_annotation": known},
    }
    return written(path, [row])


def test_a_statement_needs_the_union_of_its_sources(tmp_path: Path):
    (tmp_path / "judgments").mkdir()
    file = written(tmp_path / "judgments" / "train.jsonl.gz", ROWS)
    # Without annotations nobody says that two partial supports are a complete one.
    assert [example.sentence for example in read_examples([Path(f"vj:{file}")])] == ["Iron cures anaemia."]
    annotations(tmp_path / ANNOTATIONS)
    zinc, iron = read_examples([Path(f"vj:{file}")])
    assert (zinc.sentence, zinc.supports) == ("Zinc shortens colds.", (1, 2))
    assert (iron.sentence, iron.supports) == ("Iron cures anaemia.", (3,))
    # The other pages of the response are distractors, and both statements are parts of one answer.
    assert [source.title for source in zinc.sources] == ["long", "short", "iron", "tea"]
    assert zinc.sources == iron.sources and zinc.group == iron.group
    annotations(tmp_path / ANNOTATIONS, iron="Citations Contradict Each Other")
    assert [example.sentence for example in read_examples([Path(f"vj:{file}")])] == ["Zinc shortens colds."]


def test_evidence_is_widened_to_400_tokens(tmp_path: Path):
    annotations(tmp_path / ANNOTATIONS)
    zinc = read_examples([Path(f"vj:{written(tmp_path / 'train.jsonl', ROWS)}")])[0]
    text = zinc.sources[0].text
    assert "Zinc shortened colds by two days." in text and text in LONG
    assert len(text.replace(".", " .").split()) == SNIPPET_TOKENS
    before, after = text.split("Zinc shortened colds by two days.")
    assert abs(len(before) - len(after)) < 120  # in the middle
    assert zinc.sources[1].text == "Colds were shorter in adults."


def test_another_part_of_a_page_that_supports_is_unknown(tmp_path: Path):
    far = f"{LONG} Iron cured anaemia."
    rows = [
        judged("Zinc shortens colds.", "long", "complete", far, "Zinc shortened colds by two days."),
        judged("Iron cures anaemia.", "long", "complete", far, "Iron cured anaemia."),
    ]
    zinc, iron = read_examples([Path(f"vj:{written(tmp_path / 'vj.jsonl', rows)}")])
    assert [len(example.sources) for example in (zinc, iron)] == [2, 2]
    assert (zinc.supports, zinc.unknown, iron.supports, iron.unknown) == ((1,), (2,), (2,), (1,))


def test_at_most_five_sources_and_the_cited_ones_first(tmp_path: Path):
    rows = [judged("Iron cures anaemia.", f"p{number}", "no", f"Page {number}.", None) for number in range(5)]
    rows += [judged("Zinc shortens colds.", "zinc", "complete", "Zinc shortened colds.", "Zinc shortened colds.")]
    (zinc,) = read_examples([Path(f"vj:{written(tmp_path / 'vj.jsonl', rows)}")])
    assert len(zinc.sources) == 5 and zinc.sources[zinc.supports[0] - 1].title == "zinc"
    assert zinc.group.endswith("-1")  # its sources are its own


def test_a_bad_row_costs_itself(tmp_path: Path):
    bad = [{"query": "q"}, judged("Iron cures anaemia.", "x", "some", "Iron.", None)]
    problems = Problems()
    found = read_examples([Path(f"vj:{written(tmp_path / 'vj.jsonl', [*bad, *ROWS])}")], problems)
    assert len(found) == 1 and [problem.line for problem in problems] == [1, 2]
    with pytest.raises(InputError, match="first problem"):
        read_examples([Path(f"vj:{written(tmp_path / 'vj.jsonl', bad)}")])


def test_sets_without_examples_are_refused(tmp_path: Path):
    path = written(tmp_path / "a.jsonl", ROWS)
    with pytest.raises(InputError, match=r"vj or msmarco.*attribution-data"):
        read_examples([Path(f"attrscore:{path}")])
    assert file_hash(Path(f"vj:{path}")) == file_hash(path)


@given(
    st.lists(st.sampled_from(["zinc", "iron.", "(tea)", "colds"]), min_size=1, max_size=60),
    st.integers(0, 59),
    st.integers(1, 20),
    st.integers(1, 30),
)
def test_a_snippet_is_a_part_of_the_page_that_has_its_evidence(words: list[str], start: int, size: int, most: int):
    page = " ".join(f"{word}{number}" for number, word in enumerate(words))
    evidence = page.split()[start : start + min(size, most // 3)]
    found = snippet(page, [" ".join(evidence)], most)
    assert found in page
    assert len(snippet(page, [], most)) <= len(page)
    if evidence:
        assert " ".join(evidence).strip("().") in found


PASSAGES = [
    {"is_selected": int(number in (0, 8)), "passage_text": f"Passage {number}.", "url": "u"} for number in range(10)
]


def marco(id: int, **more: Any) -> dict[str, Any]:
    return {
        "query_id": id,
        "query": "what is zinc",
        "query_type": "DESCRIPTION",
        "passages": PASSAGES,
        "answers": ["a metal"],
        "wellFormedAnswers": ["Zinc is a metal. It shortens colds."],
        **more,
    }


def as_columns(row: dict[str, Any]) -> dict[str, Any]:
    return {**row, "passages": {name: [passage[name] for passage in PASSAGES] for name in PASSAGES[0]}}


@pytest.mark.parametrize("form", ["lines", "columns", "lists"])
def test_long_answers_with_the_passages_that_were_used(tmp_path: Path, form: str):
    rows = [marco(7), marco(8, wellFormedAnswers="[]"), marco(9, passages=[{**PASSAGES[1]}])]
    path = tmp_path / "train.json"
    if form == "columns":
        path.write_text(json.dumps({name: {str(at): row[name] for at, row in enumerate(rows)} for name in rows[0]}))
    else:
        written(path.with_suffix(".jsonl"), [as_columns(row) for row in rows[:2]] if form == "lists" else rows)
        path = path.with_suffix(".jsonl")
    first, second = read_examples([Path(f"msmarco:{path}")])
    assert (first.sentence, second.sentence) == ("Zinc is a metal.", "It shortens colds.")
    assert first.group == second.group and first.question == "what is zinc"
    assert [source.text for source in first.sources] == [f"Passage {number}." for number in (0, 1, 2, 3, 8)]
    assert first.supports == second.supports == (1, 5)


def example_line(id: str) -> str:
    example = AttributionExample.model_validate(
        {
            "id": id,
            "question": f"Does {id} help?",
            "sentence": f"Magnesium shortens {id}.",
            "sources": ({"id": "a", "text": f"Magnesium shortens {id}."}, {"id": "b", "text": "Iron."}),
            "supports": (1,),
        }
    )
    return example.model_dump_json(exclude_defaults=True)


def test_a_head_is_trained_on_both_sets(tmp_path: Path, run_cli: Callable[..., Any]):
    judgments = written(tmp_path / "vj.jsonl", [*ROWS, {"query": "q"}])
    marco_file = written(tmp_path / "marco.jsonl", [marco(7)])
    dev = tmp_path / "dev.jsonl"
    dev.write_text(f"{example_line('cramps')}\n", encoding="utf-8")
    named = ["--data", f"vj:{judgments}", "--data", f"msmarco:{marco_file}", "--dev", str(dev)]
    printed = run_cli("train", "attribution", *named, "--out", str(tmp_path / "head"), "--set", "epochs=1")
    assert printed.code == 2, printed.err  # one row could not be used, and it is said
    assert "vj.jsonl, line 6" in printed.err and "written to" in printed.out
    manifest = json.loads((tmp_path / "head" / "manifest.json").read_text("utf-8"))
    assert manifest["examples"] == {"data": 3, "then": 0, "dev": 1}
