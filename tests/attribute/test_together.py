"""Sets of sources that complete each other: which are tried, and which cover a sentence's parts."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from vericite.attribute.together import candidates, covering, parts_of

SENTENCE = "Smoking and obesity raise the risk of psoriasis."
SOURCES = (
    ["We asked nurses.", "Smoking raised the risk of psoriasis."],
    ["Garlic is cheap."],
    ["Obesity was common.", "Psoriasis is more frequent with obesity."],
)
Row = list[float | None]


def test_sources_with_different_words_of_a_sentence_are_a_set():
    (found,) = candidates(SENTENCE, SOURCES, 2)
    assert found.sources == (0, 2)
    assert set(found.passages) == {"Smoking raised the risk of psoriasis.", "Obesity was common."}


def test_a_source_that_adds_no_word_is_in_no_set():
    assert not list(candidates(SENTENCE, [SOURCES[0], ["Psoriasis itches."]], 2))
    assert not list(candidates(SENTENCE, SOURCES, 3))


def test_a_source_that_seems_to_suffice_is_in_each_set_and_the_set_has_much_more():
    assert [found.sources for found in candidates(SENTENCE, SOURCES, 2, alone=[2])] == [(0, 2)]
    assert not list(candidates(SENTENCE, SOURCES, 2, alone=[1]))
    whole = [["Smoking and obesity raise the risk of psoriasis greatly."], *SOURCES[1:]]
    assert not list(candidates(SENTENCE, whole, 2, alone=[0]))


@given(st.text(max_size=60), st.lists(st.lists(st.text(max_size=40), max_size=4), max_size=6), st.integers(2, 3))
def test_any_texts_may_be_tried(sentence: str, sources: list[list[str]], size: int):
    for found in candidates(sentence, sources, size):
        assert len(found.sources) == len(found.passages) == size
        assert all(text in sources[place] for place, text in zip(found.sources, found.passages, strict=True))
        assert 0 < found.covered <= 1


def test_parts_are_what_conjunctions_join():
    assert parts_of("Statins lower LDL in men, whereas zinc shortens colds in adults.") == (
        "Statins lower LDL in men",
        "zinc shortens colds in adults.",
    )
    assert parts_of("Incidence rose in Norway while it fell in Portugal.") == (
        "Incidence rose in Norway",
        "it fell in Portugal.",
    )
    assert parts_of("Statins lower LDL.") == ()
    assert parts_of("It fell, but not much.") == ()


def test_the_surest_set_that_covers_all_parts_is_taken():
    rows: list[Row] = [[0.6, None], [None, 0.5], [None, 0.9], [None, None]]
    assert covering(rows, 2) == (0, 2)
    assert covering(rows, 3) == ()
    assert covering(rows, 2, alone=[1]) == (0, 1)
    assert covering([[0.6, None], [None, None]], 2) == ()
    assert covering([], 2) == covering([[], []], 2) == ()


@given(st.lists(st.lists(st.none() | st.floats(0.1, 1), min_size=3, max_size=3), max_size=5), st.integers(2, 3))
def test_no_source_of_a_set_is_spare(rows: list[Row], size: int):
    found = covering(rows, size)

    def covers(places: tuple[int, ...]) -> bool:
        return all(any(rows[place][part] is not None for place in places) for part in range(3))

    assert not found or (len(found) == size and covers(found))
    assert not any(covers(tuple(it for it in found if it != spare)) for spare in found)
