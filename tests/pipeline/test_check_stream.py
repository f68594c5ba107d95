"""An answer that is checked while it is written."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
import time
from collections.abc import AsyncIterator, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

import vericite as vc

DOCUMENTS = ["Aspirin lowers the risk of stroke.", "Zinc shortened colds by two days.", "Tea lowers iron absorption."]
TEXT = "Aspirin lowers the risk of stroke [1]. Zinc shortens colds [2]. Nothing is cited here. Tea helps [9]."


def stream(judge: object = "lexical", **settings: object) -> vc.CheckStream:
    return vc.CheckStream(DOCUMENTS, protocol="windows", judge=judge, **settings)


def whole(text: str) -> vc.CheckedAnswer:
    return vc.check(text, DOCUMENTS, protocol="windows", judge="lexical")


def words(text: str) -> list[str]:
    return [f"{word} " for word in text.split(" ")]


async def slowly(pieces: list[str], seconds: float = 0.002) -> AsyncIterator[str]:
    for piece in pieces:
        await asyncio.sleep(seconds)
        yield piece


def feed(checking: vc.CheckStream, piece: str, results: int = 0) -> list[str]:
    """Feed a piece and return the claims checked after it: so many results, or those of a tenth of a second."""
    found = checking.feed(piece)
    end = time.monotonic() + (10 if results else 0.1)
    while time.monotonic() < end and not (results and len(found) >= results):
        time.sleep(0.005)
        found += checking.feed("")
    return [result.claim for result in found]


def test_a_sentence_is_checked_after_the_first_word_of_the_next():
    checking = stream()
    assert feed(checking, "Aspirin lowers the risk of stroke [1].") == []
    # A marker may follow, and a word that begins like this one may go on.
    assert feed(checking, " Zinc") == []
    assert feed(checking, " shortens", 1) == ["Aspirin lowers the risk of stroke."]
    assert feed(checking, " colds. [2") == []
    assert feed(checking, ", 3] ") == []
    assert feed(checking, "And so ", 2) == ["Zinc shortens colds."] * 2
    assert [result.claim for result in checking.rest()] == ["And so"]


PARTS = st.lists(
    st.sampled_from(
        [" ", "\n", "Zinc works [2].", "Aspirin", "[1]", " [1][2]. ", "Tea. ", "- ", "9", "?", ".", "# A\n", "et al. "]
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


@pytest.mark.parametrize(
    "text",
    [
        TEXT,
        "Zinc works, as Smith et al. Aspirin studies say [2]. Tea lowers iron. [3] Zinc is safe. [1, 2] It is cheap.",
        "[1] Aspirin lowers risk. [2] Zinc shortens colds. [3] Tea lowers iron absorption.",
        "Effects:\n- Aspirin lowers risk [1]\n- Zinc (see Fig. 2) shortens colds [2].\n\nTea helps.[3] It was 2.5 mg. ",
    ],
)
def test_no_sentence_is_reported_before_it_has_ended(text: str):
    checking, found = stream(), list[vc.Verdict]()
    for start in range(0, len(text), 3):
        found += checking.feed(text[start : start + 3])
        time.sleep(0.002)
    found += checking.rest()
    results = [*whole(text).verdicts, *whole(text).uncited]
    assert sorted(found, key=str) == sorted(results, key=str)


def test_nothing_is_judged_twice():
    asked: list[str] = []

    def judge(premise: str, claim: str) -> float:
        asked.append(claim)
        return 0.9

    checking = stream(judge)
    for word in words(TEXT):
        checking.feed(word)
    checking.close()
    before = list(asked)
    checking.close()
    assert before and asked == before and len(asked) == len(set(asked))


class Slow:
    """A judge that waits until it may answer."""

    def __init__(self) -> None:
        self.may = threading.Event()

    def __call__(self, premise: str, claim: str) -> float:
        assert self.may.wait(20)
        return 0.9


def test_no_piece_waits_for_a_judge():
    judge = Slow()

    def pieces() -> Iterator[str]:
        yield from words(TEXT)
        judge.may.set()

    parts = list(stream(judge).follow(pieces()))
    assert parts[: len(words(TEXT))] == words(TEXT)
    assert len(parts) == len(words(TEXT)) + 4


def test_no_async_piece_waits_for_a_judge():
    judge = Slow()

    async def pieces() -> AsyncIterator[str]:
        async for piece in slowly(words(TEXT)):
            yield piece
        judge.may.set()

    async def collect() -> list[object]:
        return [part async for part in stream(judge).afollow(pieces())]

    parts = asyncio.run(collect())
    assert parts[: len(words(TEXT))] == words(TEXT) and len(parts) == len(words(TEXT)) + 4


def test_an_async_result_comes_while_the_model_pauses():
    async def pieces() -> AsyncIterator[str]:
        yield "Aspirin lowers the risk of stroke [1]. Zinc shortens "
        await asyncio.wait_for(seen.wait(), 20)
        yield "colds [2]."

    async def collect() -> list[str]:
        checking, found = stream(), list[str]()
        async for part in checking.afollow(pieces()):
            if not isinstance(part, str):
                seen.set()
                found.append(part.claim)
        assert await checking.aclose() == whole(checking.text)
        return found

    seen = asyncio.Event()
    assert asyncio.run(collect()) == ["Aspirin lowers the risk of stroke.", "Zinc shortens colds."]


def test_an_async_stream_gives_the_same_results():
    async def collect() -> list[tuple[str, str]]:
        parts = [part async for part in stream().afollow(slowly(words(TEXT)))]
        return [(part.claim, part.label) for part in parts if not isinstance(part, str)]

    assert asyncio.run(collect()) == [(row["claim"], row["label"]) for row in whole(TEXT).rows]


def test_a_sentence_that_fails_does_not_end_the_stream():
    def judge(premise: str, claim: str) -> float:
        if "Zinc" in claim:
            raise RuntimeError("out of memory")
        return 0.9

    checking = stream(judge)
    results = [part for part in checking.follow(words(TEXT)) if not isinstance(part, str)]
    assert [result.label for result in results] == ["supported", "failed", "uncited", "dangling"]
    assert "out of memory" in results[1].reason
    checked = checking.close()
    assert (checked.summary.failed, checked.summary.supported) == (1, 1)


def test_an_error_of_the_model_is_passed_on_and_what_came_before_is_checked():
    async def pieces() -> AsyncIterator[str]:
        yield "Aspirin lowers the risk of stroke [1]."
        raise ConnectionError("the model is gone")

    async def collect(checking: vc.CheckStream) -> None:
        async for _ in checking.afollow(pieces()):
            pass

    checking = stream()
    with pytest.raises(ConnectionError, match="gone"):
        asyncio.run(collect(checking))
    assert checking.close().summary.supported == 1


def test_a_client_that_leaves_ends_the_models_stream():
    closed: list[bool] = []

    async def pieces() -> AsyncIterator[str]:
        try:
            async for piece in slowly(words(TEXT) * 1_000):
                yield piece
        finally:
            closed.append(True)

    async def leave() -> None:
        following = stream().afollow(pieces())
        await anext(following)
        await following.aclose()
        await asyncio.sleep(0)

    asyncio.run(leave())
    assert closed == [True]


def test_a_closed_stream_takes_no_more():
    checking = stream()
    assert checking.close() == whole("")
    with pytest.raises(vc.InputError, match="closed"):
        checking.feed("More.")
    with pytest.raises(vc.InputError, match="a piece of text"):
        stream().feed(b"bytes")


def test_retracted_sources_are_marked_as_check_marks_them():
    document = {"id": "d", "title": "Retracted: Zinc and colds", "text": "Zinc shortened colds by two days."}
    checking = vc.CheckStream([document], protocol="windows", judge="lexical")
    checking.feed("Zinc shortened colds [1].")
    (verdict,) = checking.close().verdicts
    assert verdict.retracted == ("d",)
    assert checking.close() == vc.check("Zinc shortened colds [1].", [document], protocol="windows", judge="lexical")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
def test_a_forked_process_checks_streams_of_its_own():
    """Servers that load a program before they fork."""
    assert stream().close() == whole("")
    child = os.fork()
    if not child:
        checking = stream(lambda premise, claim: 0.9)
        checking.feed(TEXT)
        os._exit(0 if checking.close().summary.supported == 2 else 1)
    end = time.monotonic() + 20
    while (ended := os.waitpid(child, os.WNOHANG))[0] == 0 and time.monotonic() < end:
        time.sleep(0.01)
    if not ended[0]:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    assert ended == (child, 0)
