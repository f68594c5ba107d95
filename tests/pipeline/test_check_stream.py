"""An answer that is checked while it is written."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

import vericite as vc

DOCUMENTS = ["Aspirin lowers the risk of stroke.", "Zinc shortened colds by two days.", "Tea lowers iron absorption."]
TEXT = "Aspirin lowers the risk of stroke [1]. Zinc shortens colds [2]. Nothing is cited here. Tea helps [9]."


def stream(**settings: object) -> vc.CheckStream:
    return vc.CheckStream(DOCUMENTS, protocol="windows", judge="lexical", **settings)  # type: ignore[arg-type]


def whole(text: str) -> vc.CheckedAnswer:
    return vc.check(text, DOCUMENTS, protocol="windows", judge="lexical")


def test_a_sentence_is_checked_when_the_next_one_begins():
    checking = stream()
    assert checking.feed("Aspirin lowers the risk of stroke [1].") == []
    assert [result.claim for result in checking.feed(" Zinc")] == ["Aspirin lowers the risk of stroke."]
    assert checking.feed(" shortens colds [2]") == []
    told = checking.feed(". And")
    assert [(result.claim, result.label) for result in told] == [
        ("Zinc shortens colds.", whole(TEXT).verdicts[1].label)
    ]


PARTS = st.lists(
    st.sampled_from(
        [" ", "\n", "Zinc works [2].", "Aspirin", "[1]", " [1][2]. ", "Tea. ", "- ", "9", "?", ".", "# A\n"]
    )
)


@given(parts=PARTS, sizes=st.lists(st.integers(1, 9), min_size=1))
def test_closing_gives_what_check_gives_for_the_whole_text(parts: list[str], sizes: list[int]):
    text = "".join(parts)
    checking, start, number = stream(), 0, 0
    while start < len(text):
        size = sizes[number % len(sizes)]
        checking.feed(text[start : start + size])
        start, number = start + size, number + 1
    assert checking.text == text
    assert checking.close() == whole(text)


def test_nothing_is_judged_twice(monkeypatch: pytest.MonkeyPatch):
    asked: list[str] = []

    def judge(premise: str, claim: str) -> float:
        asked.append(claim)
        return 0.9

    checking = vc.CheckStream(DOCUMENTS, protocol="windows", judge=judge)
    for word in TEXT.split(" "):
        checking.feed(word + " ")
    before = list(asked)
    checking.close()
    checking.close()
    assert len(asked) == len(before)


def test_an_async_stream_gives_the_same_results():
    async def pieces() -> AsyncIterator[str]:
        for word in TEXT.split(" "):
            yield word + " "

    async def collect() -> list[tuple[str, str]]:
        checking = stream()
        found = [(result.claim, result.label) async for result in checking.results(pieces())]
        assert checking.close() == whole(TEXT + " ")
        return found

    rows = [(row["claim"], row["label"]) for row in whole(TEXT + " ").rows]
    assert asyncio.run(collect()) == rows


def test_a_closed_stream_takes_no_more():
    checking = stream()
    checking.close()
    with pytest.raises(vc.InputError, match="closed"):
        checking.feed("More.")
