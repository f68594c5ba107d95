"""Sentences changed and taken out of answers: what is left reads as it should, and every offset is right."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from vericite.formats import answers_in
from vericite.pipeline.repair.proposals import Edit, edited, is_orderly, stands_alone
from vericite.records import Answer, Claim, Document, Span
from vericite.text.citations import parse_answer

SOURCES = tuple(Document.from_text(name, f"{name} helps.") for name in "abc")


def parsed(text: str) -> Answer:
    return parse_answer("x", text, SOURCES)


def assert_exact(answer: Answer) -> None:
    assert parse_answer("x", answer.text, answer.documents).claims == answer.claims


@pytest.mark.parametrize(
    ("text", "gone", "left"),
    [
        ("One helps [1]. Two helps [2]. Three helps [3].", [1], "One helps [1]. Three helps [3]."),
        ("One helps [1]. Two helps [2]. Three helps [3].", [0], "Two helps [2]. Three helps [3]."),
        ("One helps [1]. Two helps [2]. Three helps [3].", [2], "One helps [1]. Two helps [2]."),
        ("One helps [1]. Two helps [2]. Three helps [3].", [0, 2], "Two helps [2]."),
        ("One helps [1].\n\nTwo helps [2].\n\nThree helps [3].", [2], "One helps [1].\n\nTwo helps [2].\n"),
        ("1. One helps [1].\n2. Two helps [2].\n3. Three helps [3].", [1], "1. One helps [1].\n3. Three helps [3]."),
        ("- One helps [1]. Two helps [2].\n- Three helps [3].", [0], "- Two helps [2].\n- Three helps [3]."),
        ("- One helps [1]. Two helps [2].\n- Three helps [3].", [1], "- One helps [1].\n- Three helps [3]."),
        ("# Head\nOne helps. [1]\nTwo helps. [2]", [1], "# Head\nOne helps. [1]"),
    ],
)
def test_a_sentence_goes_with_the_space_or_the_line_that_it_took(text: str, gone: list[int], left: str):
    found = edited(parsed(text), {number: Edit(None) for number in gone})
    assert found.text == left
    assert_exact(found)


def test_other_words_and_documents_take_the_place_of_a_sentence():
    more = Document.from_text("more", "Four helps.")
    answer = parsed("One helps [1]. Two (see [2]) helps well [9]. Three helps [3].")
    found = edited(answer, {1: Edit("Four helps.", (more, SOURCES[0]))})
    assert found.text == "One helps [1]. Four helps [1][4]. Three helps [3]."
    assert found.documents == (*SOURCES, more)
    assert_exact(found)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("1. One **really** helps [7][1].\n2. Two helps [2].", "1. One **really** helps [1].\n2. Two helps [2]."),
        ("One _may_ help, `x` **and** so [7].", "One _may_ help, `x` **and** so [1]."),
        ("One **helps** the [old](https://example.org/z) [7].", "One **helps** the [old](https://example.org/z) [1]."),
        ("**One helps [7]. Two helps [2].**", "**One helps [1]. Two helps [2].**"),
        ("| a | b |\n|---|---|\n| One | **helps** [7] |", "| a | b |\n|---|---|\n| One | **helps** [1] |"),
    ],
)
def test_other_citations_leave_emphasis_numbering_and_tables_as_they_are(text: str, left: str):
    answer = parsed(text)
    assert edited(answer, {0: Edit(answer.claims[0].text, SOURCES[:1])}).text == left


def test_a_link_that_points_at_no_source_stays_whole(tmp_path: Path):
    text = "See the [guide](https://example.org/guide) of [old](https://example.org/1): one helps [7]."
    record = {"markdown": text, "documents": [{"id": "https://example.org/1", "text": "One helps."}]}
    (tmp_path / "a.jsonl").write_text(json.dumps(record))
    [answer] = answers_in(tmp_path / "a.jsonl", "markdown")
    assert isinstance(answer, Answer)
    found = edited(answer, {0: Edit(answer.claims[0].text, answer.documents)})
    assert found.text == "See the [guide](https://example.org/guide) of old: one helps [1]."


def test_with_its_sentence_the_row_of_a_table_goes():
    answer = parsed("| a | b |\n|---|---|\n| One | helps [1] |\n| Two | helps [2] |")
    assert edited(answer, {0: Edit(None)}).text == "| a | b |\n|---|---|\n| Two | helps [2] |"


@pytest.mark.parametrize(
    ("text", "gone", "left"),
    [
        ("**One helps. Two helps** [2]. Three helps [3].", [1], "**One helps.** Three helps [3]."),
        ("**One helps [1]. Two helps [2].** Three helps [3].", [0], "**Two helps [2].** Three helps [3]."),
        ("**One helps [1]. Two helps [2].** Three helps [3].", [1], "**One helps [1].** Three helps [3]."),
        ("**One helps [1].** Two helps [2].", [0], "Two helps [2]."),
        ("One helps [1]. **Two helps [2].**", [1], "One helps [1]."),
        ("**One helps [1].**\n\nTwo **helps** [2].", [0], "\nTwo **helps** [2]."),
    ],
)
def test_no_bold_sign_is_left_open(text: str, gone: list[int], left: str):
    found = edited(parsed(text), {number: Edit(None) for number in gone})
    assert found.text.count("**") % 2 == 0
    assert found.text == left
    for claim in found.claims:
        assert claim.text.rstrip(".") in found.text[claim.span.slice].replace("**", "")


@pytest.mark.parametrize(
    ("text", "gone", "left"),
    [
        ("*One helps. Two helps* [2]. Three helps [3].", [1], "*One helps.* Three helps [3]."),
        ("*One helps [1]. Two helps [2].* Three helps [3].", [0], "*Two helps [2].* Three helps [3]."),
        ("_One helps [1]. Two helps [2]._ Three helps [3].", [1], "_One helps [1]._ Three helps [3]."),
        ("__One helps [1].__ Two helps [2].", [0], "Two helps [2]."),
        ("One helps [1]. `Two helps. Three` helps [3].", [1], "One helps [1]. `Three` helps [3]."),
        ("***One helps [1]. Two*** helps [2].", [1], "***One helps [1].***"),
        ("- *One helps [1]. Two helps [2].*\n- Three *helps* [3].", [0], "- *Two helps [2].*\n- Three *helps* [3]."),
        ("2 * 3 helps [1]. *Two helps [2]. Three helps [3].*", [2], "2 * 3 helps [1]. *Two helps [2].*"),
    ],
)
def test_no_other_mark_is_left_open(text: str, gone: list[int], left: str):
    assert edited(parsed(text), {number: Edit(None) for number in gone}).text == left


def shown_signs(text: str) -> str:
    """The signs that a reader of Markdown sees, because they are no marks."""
    found: list[str] = []
    for block in MarkdownIt("commonmark").parse(text):
        for token in block.children or ():
            found += [sign for sign in token.content if token.type == "text" and sign in "*_`"]
    return "".join(found)


MARKED = st.one_of(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.sampled_from(["*", "**", "***"])), max_size=1),
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.sampled_from(["_", "__", "`", "**_"])), max_size=1),
    st.tuples(
        st.tuples(st.integers(0, 5), st.integers(0, 5), st.sampled_from(["*", "**", "***"])),
        st.tuples(st.integers(0, 5), st.integers(0, 5), st.sampled_from(["_", "__"])),
    ),
)


def marked(sentences: list[str], marks: Iterable[tuple[int, int, str]], before_marker: bool) -> list[str]:
    """The sentences with marks that open before one of them and close behind one, or before its citation."""
    texts = list(sentences)
    for one, other, mark in marks:
        first, last = sorted((one % len(texts), other % len(texts)))
        closing = mark[::-1]
        texts[first] = mark + texts[first]
        at = texts[last].find(" [") if before_marker else -1
        texts[last] = texts[last] + closing if at < 0 else texts[last][:at] + closing + texts[last][at:]
    return texts


@settings(max_examples=150)
@given(
    st.lists(
        st.tuples(st.sampled_from(["One helps", "Two *really* helps", "Six `x y` helps"]), st.integers(0, 3)),
        min_size=2,
        max_size=6,
    ),
    MARKED,
    st.booleans(),
    st.dictionaries(st.integers(0, 5), st.sampled_from([None, "Milk is white.", "Tea cures colds."]), min_size=1),
    st.sampled_from([" ", "\n", "\n\n", "\n* "]),
)
def test_marks_that_were_balanced_stay_so(
    said: list[tuple[str, int]],
    marks: Sequence[tuple[int, int, str]],
    before_marker: bool,
    changes: dict[int, str | None],
    gap: str,
):
    sentences = [f"{words}{f' [{number}]' if number else ''}." for words, number in said]
    text = gap.join(marked(sentences, marks, before_marker))
    # Code within code, and bold within bold, are told apart by no reader.
    assume(not shown_signs(text) and "****" not in text and text.count("`") <= 2)
    answer = parsed(text)
    edits = {number: Edit(words, (SOURCES[1],)) for number, words in changes.items() if number < len(answer.claims)}
    assert not shown_signs(edited(answer, edits).text)


@pytest.mark.parametrize("number", [0, 1])
def test_no_bold_sign_is_left_open_by_other_words(number: int):
    found = edited(parsed("**One helps. Two helps** [2]. Three helps [3]."), {number: Edit("Six helps.", SOURCES[:1])})
    assert found.text.count("**") == 2
    assert "**Six helps [1]." in found.text or "Six helps [1].**" in found.text


def test_an_answer_that_cites_by_pubmed_ids_is_given_no_number():
    sources = tuple(Document.from_text(name, f"{name} helps.").model_copy(update={"pmid": name}) for name in
                    ("12345678", "22345678"))  # fmt: skip
    answer = parse_answer("x", "One helps (PMID: 12345678). Two helps (PMID: 12345678).", sources[:1])
    found = edited(answer, {1: Edit("Two helps.", (sources[1],))})
    assert found.text == "One helps (PMID: 12345678). Two helps (PMID: 22345678)."
    assert_exact(found)


def test_a_sentence_without_citations_is_given_some():
    found = edited(parsed("One helps. Two helps [2]."), {0: Edit("One helps.", (SOURCES[2],))})
    assert found.text == "One helps [3]. Two helps [2]."
    assert_exact(found)


@given(
    st.lists(st.tuples(st.sampled_from(["One", "Two", "Six"]), st.integers(0, 3)), min_size=1, max_size=6),
    st.dictionaries(st.integers(0, 5), st.sampled_from([None, "Milk is white.", "Tea cures colds."]), max_size=6),
    st.sampled_from([" ", "\n", "\n\n", "\n* "]),
)
def test_whatever_is_changed_the_rest_stays_word_for_word(
    said: list[tuple[str, int]], changes: dict[int, str | None], gap: str
):
    answer = parsed(gap.join(f"{name} helps{f' [{number}]' if number else ''}." for name, number in said))
    edits = {number: Edit(text, (SOURCES[1],)) for number, text in changes.items() if number < len(said)}
    found = edited(answer, edits)
    assert_exact(found)
    left = [number for number in range(len(said)) if number not in edits or edits[number].text is not None]
    for number, claim in zip(left, found.claims, strict=True):
        before = answer.claims[number]
        if number in edits:
            assert (claim.text, [it.marker for it in claim.citations]) == (edits[number].text, [2])
        else:
            assert found.text[claim.span.slice] == answer.text[before.span.slice]


def test_claims_that_lie_in_each_other_are_no_order():
    claims = tuple(Claim(text="x", span=Span(start=start, end=start + 3)) for start in (0, 2))
    assert not is_orderly(Answer(id="x", text="One helps.", claims=claims, documents=()))
    assert is_orderly(parsed("One helps [1]. Two helps [2]."))


@pytest.mark.parametrize(
    ("text", "alone"),
    [
        ("Tea cures colds.", True),
        ("Tea cures colds [1].", False),
        ("Tea cures. Milk does not.", False),
        ("Results:", False),
        ("- Tea cures colds.", False),
        ("", False),
        ("Tea cures colds (PMID: 123).", False),
    ],
)
def test_exactly_one_sentence_without_markers_stands_alone(text: str, alone: bool):
    assert stands_alone(text) is alone
