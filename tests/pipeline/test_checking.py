"""Checking answers made elsewhere: what is taken, what is refused, and what comes back."""

import asyncio
import json
from pathlib import Path

import pytest

from vericite.errors import InputError, RecordError, UnknownNameError
from vericite.formats import answers_in
from vericite.models.folder import VERIFIER
from vericite.pipeline.check import acheck, check, check_many, judge
from vericite.records import Answer, CheckedAnswer, Document, parse_record, to_json
from vericite.text.citations import parse_answer
from vericite.verify import Protocol

LEXICAL = Protocol(judge="lexical", name="lexical")
DOCUMENTS = [
    {"id": "a", "text": "Aspirin lowers the risk of stroke. It was cheap.", "title": "A trial"},
    {"id": "b", "text": "Aspirin does not lower the risk of stroke."},
]
TEXT = "Aspirin lowers the risk of stroke [1][2]. Nobody knows why. It may be the weather [3]."


def labels(checked: CheckedAnswer) -> list[tuple[tuple[int, ...], str]]:
    return [(verdict.markers, verdict.label) for verdict in checked.verdicts]


EXPECTED = [((1,), "supported"), ((2,), "contradicted"), ((3,), "dangling")]


def test_a_text_is_checked_against_mappings():
    found = check("Aspirin lower the risk of stroke [1][2]. It may be the weather [3].", DOCUMENTS, protocol=LEXICAL)
    assert labels(found)[1:] == EXPECTED[1:]


def test_a_text_is_checked_against_documents_and_mappings_alike():
    documents = [Document.from_text(item["id"], item["text"], item.get("title", "")) for item in DOCUMENTS]
    expected = check(TEXT, DOCUMENTS, protocol=LEXICAL)
    assert check(TEXT, documents, protocol=LEXICAL) == expected
    assert check(TEXT, [documents[0], DOCUMENTS[1]], protocol=LEXICAL) == expected
    assert check(TEXT, tuple(documents), protocol=LEXICAL) == expected


def test_a_parsed_answer_brings_its_own_documents():
    documents = [Document.from_text(item["id"], item["text"], item.get("title", "")) for item in DOCUMENTS]
    parsed = parse_answer("mine", TEXT, documents)
    assert check(parsed, protocol=LEXICAL) == check(TEXT, DOCUMENTS, id="mine", protocol=LEXICAL)


def test_the_result_has_the_counts_and_what_is_uncited():
    found = check(TEXT, DOCUMENTS, id="mine", protocol=LEXICAL)
    assert found.id == "mine"
    assert [item.claim for item in found.uncited] == ["Nobody knows why."]
    counts = found.summary
    assert (counts.claims, counts.uncited, counts.citations, counts.judged, counts.dangling) == (3, 1, 3, 2, 1)


def test_the_result_goes_through_json_unchanged():
    found = check(TEXT, DOCUMENTS, protocol=LEXICAL)
    assert parse_record(CheckedAnswer, to_json(found), "out.jsonl", 1) == found


def test_check_in_an_event_loop_gives_what_check_gives():
    async def both() -> list[CheckedAnswer]:
        return list(await asyncio.gather(*(acheck(TEXT, DOCUMENTS, id=name, protocol=LEXICAL) for name in ("x", "y"))))

    assert asyncio.run(both()) == [check(TEXT, DOCUMENTS, id=name, protocol=LEXICAL) for name in ("x", "y")]


def test_acheck_raises_what_check_raises():
    with pytest.raises(InputError):
        asyncio.run(acheck(TEXT, [{"id": "a"}], protocol=LEXICAL))


def test_the_bundled_model_checks_by_default():
    found = check(
        "Metformin lowers blood glucose [1]. Statins increase LDL cholesterol [2].",
        [
            {"id": "m", "text": "Metformin lowers blood glucose in patients with type 2 diabetes."},
            {"id": "s", "text": "Statins lowered LDL cholesterol."},
        ],
    )
    assert labels(found) == [((1,), "supported"), ((2,), "contradicted")]
    assert found.provenance.parts["judge"].startswith(f"{VERIFIER}@")
    assert found.verdicts[0].protocol == "default"


def test_the_order_of_documents_is_what_markers_count():
    text = "Aspirin lowers the risk of stroke [1]."
    assert check(text, DOCUMENTS, protocol=LEXICAL).verdicts[0].documents == ("a",)
    assert check(text, DOCUMENTS[::-1], protocol=LEXICAL).verdicts[0].documents == ("b",)


BAD = {
    "no text": ([{"id": "a"}], "text"),
    "an empty id": ([{"id": "", "text": "x"}], "id"),
    "a number for an id": ([{"id": 7, "text": "x"}], "id"),
    "a misspelt field": ([{"id": "a", "text": "x", "titel": "y"}], "Did you mean 'title'"),
    "fields without words": ([{"id": "a", "score": 0.3}], "documents.0.text"),
    "one id twice": ([{"id": "a", "text": "x"}, {"id": "a", "text": "y"}], "'a'"),
    "one mapping, not in a list": ({"id": "a", "text": "x"}, "Put a single value in a list"),
}


@pytest.mark.parametrize(("documents", "named"), BAD.values(), ids=BAD)
def test_documents_that_are_none_are_refused_by_field(documents, named: str):
    with pytest.raises(InputError, match="expected") as caught:
        check(TEXT, documents, protocol=LEXICAL)
    assert named in str(caught.value)


@pytest.mark.parametrize("documents", [[3], [None]], ids=str)
def test_documents_that_are_no_mappings_are_refused_as_input(documents):
    with pytest.raises(InputError):
        check(TEXT, documents, protocol=LEXICAL)


def test_the_refusal_of_a_document_says_which_one_in_one_line():
    with pytest.raises(InputError) as caught:
        check(TEXT, [DOCUMENTS[0], {"id": "b"}], protocol=LEXICAL)
    assert "\n" not in str(caught.value)
    assert "pydantic" not in str(caught.value)
    assert "1.text" in str(caught.value)


def test_an_unknown_protocol_is_refused():
    with pytest.raises(UnknownNameError, match="Did you mean 'vericite'"):
        check(TEXT, DOCUMENTS, protocol="veracite")


def test_many_answers_come_out_in_order():
    answers = [parse_answer(str(number), TEXT, [Document.from_text("a", "Aspirin helps.")]) for number in range(5)]
    assert [item.id for item in check_many(iter(answers), LEXICAL)] == list("01234")
    assert list(check_many([], LEXICAL)) == []


def test_one_pair_is_judged_without_a_protocol():
    found = judge("Aspirin lowers fever.", "In adults aspirin lowers fever.", judge="lexical")
    assert found.probabilities.argmax() == 0
    with pytest.raises(UnknownNameError):
        judge("a", "b", judge="nobody")


def write(path: Path, *lines: object) -> Path:
    text = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines)
    path.write_text(text + "\n", encoding="utf-8")
    return path


GOOD = {"id": "q1", "question": "Why?", "answer": TEXT, "documents": DOCUMENTS}


def test_a_file_of_answers_is_read_line_by_line_and_a_bad_line_stops_nothing(tmp_path: Path):
    path = write(
        tmp_path / "answers.jsonl",
        GOOD,
        "{broken",
        "",
        {"id": "q2", "answer": TEXT},
        {**GOOD, "id": "q3", "documents": [{"id": "a", "txt": "x"}]},
        {**GOOD, "id": "q4", "documents": [DOCUMENTS[0], DOCUMENTS[0]]},
        {**GOOD, "id": "q5", "documents": []},
        "[1, 2]",
        {**GOOD, "id": "q6", "score": 1},
    )
    found = list(answers_in(path, "vericite"))
    answers = [item for item in found if isinstance(item, Answer)]
    errors = [item for item in found if isinstance(item, RecordError)]
    assert [item.id for item in answers] == ["q1", "q5", "q6"]
    assert [(item.line, item.field) for item in errors] == [
        (2, None),
        (4, "documents"),
        (5, "documents.0.text"),
        (6, None),
        (8, None),
    ]
    assert all(item.path == str(path) for item in errors)
    assert "'a'" in errors[3].problem
    assert answers[0].question == "Why?"
    assert labels(check(answers[0], protocol=LEXICAL)) == labels(check(TEXT, DOCUMENTS, protocol=LEXICAL))
    assert [item.label for item in check(answers[1], protocol=LEXICAL).verdicts] == ["dangling"] * 3


def test_a_file_that_is_not_there_is_an_input_error(tmp_path: Path):
    with pytest.raises(InputError, match="expected a readable file"):
        list(answers_in(tmp_path / "none.jsonl", "vericite"))
