"""Check an answer while it is written: the checking runs next to the model's stream and never holds it up."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from collections.abc import AsyncGenerator, AsyncIterable, Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from enum import Enum
from functools import cache
from threading import Condition

from vericite.corpus.retractions import known_retractions
from vericite.errors import InputError, expect_type
from vericite.formats.objects import as_documents
from vericite.models.engine import available_cores
from vericite.pipeline.check import verifier_for
from vericite.records import Answer, CheckedAnswer, Claim, UncitedClaim, Verdict, VerificationFailure
from vericite.text.citations import LONGEST_ANSWER, parse_answer
from vericite.verify.judges.function import AnyJudge
from vericite.verify.protocol import DEFAULT, Protocol

SentenceResult = Verdict | VerificationFailure | UncitedClaim
"""SentenceResult for a sentence: a verdict or a failure for each citation, or an UncitedClaim."""

_ENDINGS = ".!?…\n:;。！？"
"""Characters that can end a sentence; other text ends none."""
_UNDER_WAY = re.compile(r"(?:\[[^\]]*\]|\([^)]*\)|<[^>]*>|[^\w\[(<])*\w\S*\s")
"""A sentence whose first word is complete. Until then it could be a citation of the sentence before, or its first word
one after which that sentence goes on ("et al. A", then "et al. Aspirin")."""
_LAST_MARKERS = re.compile(r"(?:\s{0,2}\[[^\[\]]*\]?)+\s*\Z")
"""Markers at the end of the text so far: whether they belong to the sentence before or the next is not yet known."""
_SURELY = 100
"""Characters after which a sentence has surely begun, for example with a parenthesis that is still open."""


class CheckStream:
    """Checks an answer sentence by sentence, as a model writes it.

        stream = vericite.CheckStream(documents)
        for token in model_output:
            for result in stream.feed(token):
                print(result.claim, result)
        for result in stream.rest():
            print(result.claim, result)
        checked = stream.close()

    Sentences are checked in another thread, so that ``feed`` returns at once. ``follow`` and ``afollow`` do the loop:
    they yield each piece as it comes, and each result when it is known. A sentence is checked after the first word of
    the next one, because a citation may follow its full stop. If later text changes a sentence, its new form is
    checked, too. A sentence whose check fails has a failure as its result, and the others are checked. ``close``
    returns what ``check`` returns for the whole text.

    Args:
        documents: The sources, as for ``check``.
        question: The question, for judges that read it.
        id: The answer's name in the result.
        protocol: A protocol or its name.
        judge: A judge, its name or a function.
    """

    def __init__(
        self,
        documents: Iterable[object],
        *,
        question: str | None = None,
        id: str = "answer",
        protocol: Protocol | str = DEFAULT,
        judge: AnyJudge | None = None,
    ) -> None:
        known = known_retractions()
        self._documents = tuple(known.flagged(document) for document in as_documents(documents))
        self._question, self._id = question, id
        self._verifier = verifier_for(protocol, judge)
        self._known: dict[Claim, CheckedAnswer] = {}
        self._closed: CheckedAnswer | None = None
        # Shared with the thread that checks, under this condition.
        self._changed = Condition()
        self._text = ""
        self._ended = False
        self._stopped = False
        self._to_read = False
        self._running = False
        self._new: list[SentenceResult] = []
        self._error: Exception | None = None
        self._on_change: Callable[[], None] | None = None

    @property
    def text(self) -> str:
        """Text fed so far."""
        return self._text

    def feed(self, piece: str) -> list[SentenceResult]:
        """Add a piece of the answer, without waiting, and return the results that are new since the last call.

        Raises:
            InputError: The piece is not text, the answer is too long, or the stream has ended.
        """
        self._add(piece)
        return self._take()

    def rest(self) -> Iterator[SentenceResult]:
        """End the answer, and yield the results that are not yet returned, each when it is known."""
        self._end()
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._new or self._is_done)
                is_done = self._is_done
            yield from self._take()
            if is_done:
                return

    def close(self) -> CheckedAnswer:
        """End the answer, wait for the rest and return what ``check`` returns for the whole text."""
        if self._closed is None:
            self._end()
            with self._changed:
                self._changed.wait_for(lambda: self._is_done)
            if self._error is not None:
                raise self._error
            answer = self._answer(self._text)
            self._closed = self._verifier.combined(answer, [self._known[claim] for claim in answer.claims])
        return self._closed

    async def aclose(self) -> CheckedAnswer:
        """Like ``close``, for async code."""
        return await asyncio.to_thread(self.close)

    def follow(self, pieces: Iterable[str]) -> Iterator[str | SentenceResult]:
        """Yield each piece of a model's stream as it comes, the results known by then, and at last the rest."""
        for piece in pieces:
            results = self.feed(piece)
            yield piece
            yield from results
        yield from self.rest()

    async def afollow(self, pieces: AsyncIterable[str]) -> AsyncGenerator[str | SentenceResult]:
        """Yield each piece of a model's async stream as it comes, and each result as soon as it is known."""
        loop = asyncio.get_running_loop()
        coming: asyncio.Queue[_Coming] = asyncio.Queue()

        def wake() -> None:
            # The loop may be closed already.
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(coming.put_nowait, _CHANGED)

        self._on_change = wake
        # One task reads all of it: some libraries' streams may not be read by several.
        reading = asyncio.create_task(_read(pieces, coming))
        try:
            is_done = False
            while not is_done:
                came = await coming.get()
                if isinstance(came, BaseException):
                    raise came
                if not isinstance(came, _Signal):
                    self._add(came)
                    yield came
                elif came is _END:
                    self._end()
                is_done = self._is_done
                for result in self._take():
                    yield result
        finally:
            self._on_change = None
            reading.cancel()
            # What the stream raised has been raised above.
            with suppress(asyncio.CancelledError, Exception):
                await reading

    @property
    def _is_done(self) -> bool:
        return self._ended and not self._running

    def _add(self, piece: str) -> None:
        expect_type(piece, str, "a piece of text", "Give a str")
        with self._changed:
            if self._ended:
                raise InputError("expected an open stream; found one that was closed. Make another CheckStream")
            if len(self._text) + len(piece) > LONGEST_ANSWER:
                raise InputError(f"expected an answer of at most {LONGEST_ANSWER:,} characters; found more")
            self._text += piece
            self._stopped = self._stopped or _last_ending(piece) >= 0
            if self._stopped and any(map(str.isspace, piece)):
                self._begin()

    def _end(self) -> None:
        with self._changed:
            if not self._ended:
                self._ended = True
                self._begin()

    def _begin(self) -> None:
        """Have the text read in another thread. The caller holds the condition."""
        self._to_read = True
        if not self._running:
            self._running = True
            _threads().submit(self._work)

    def _take(self) -> list[SentenceResult]:
        with self._changed:
            taken, self._new = self._new, []
        return taken

    def _work(self) -> None:
        """Check the sentences that have ended, until the newest text is read."""
        try:
            while (text := self._next_text()) is not None:
                answer = self._answer(text)
                for claim in self._ended_claims(answer):
                    if claim not in self._known:
                        results = self._check(answer, claim)
                        with self._changed:
                            self._new += results
                            self._changed.notify_all()
                        self._tell()
        except Exception as error:
            with self._changed:
                self._error, self._running = error, False
                self._changed.notify_all()
        self._tell()

    def _next_text(self) -> str | None:
        """Return the newest text; None if it was read before, which ends the work."""
        with self._changed:
            self._running, self._to_read = self._to_read, False
            self._changed.notify_all()
            if not self._running:
                return None
            markers = None if self._ended else _LAST_MARKERS.search(self._text, max(0, len(self._text) - _SURELY))
            return self._text[: markers.start()] if markers else self._text

    def _ended_claims(self, answer: Answer) -> tuple[Claim, ...]:
        """Return the claims that surely have ended."""
        text = answer.text
        with self._changed:
            if self._ended and len(text) == len(self._text):
                return answer.claims
            if _is_under_way(text[_last_ending(text) + 1 :]):
                # What can be known of the text so far is known.
                self._stopped = _last_ending(self._text[len(text) :]) >= 0
        if not answer.claims:
            return ()
        return answer.claims[: -1 if _is_under_way(text[answer.claims[-1].span.start :]) else -2]

    def _tell(self) -> None:
        if (on_change := self._on_change) is not None:
            on_change()

    def _check(self, answer: Answer, claim: Claim) -> list[SentenceResult]:
        alone = answer.model_copy(update={"claims": (claim,)})
        try:
            checked = next(self._verifier.verify([alone]))
        except Exception as error:  # one sentence must not end the stream
            checked = self._verifier.failed(alone, str(error) or type(error).__name__)
        self._known[claim] = checked
        return [*checked.verdicts, *checked.failures, *checked.uncited]

    def _answer(self, text: str) -> Answer:
        return parse_answer(self._id, text, self._documents, self._question)


def _last_ending(text: str) -> int:
    """Return the place of the last character that can end a sentence, or -1."""
    return max(map(text.rfind, _ENDINGS))


def _is_under_way(text: str) -> bool:
    """Whether a sentence that begins with this text has surely begun."""
    return len(text) > _SURELY or _UNDER_WAY.match(text) is not None


class _Signal(Enum):
    """What happened to a stream other than a piece of text."""

    CHANGED = "a result is new, or all are known"
    END = "the model's stream ended"


_CHANGED, _END = _Signal.CHANGED, _Signal.END
_Coming = str | BaseException | _Signal


async def _read(pieces: AsyncIterable[str], coming: asyncio.Queue[_Coming]) -> None:
    """Put the pieces of a stream into a queue, then how it ended."""
    try:
        async for piece in pieces:
            coming.put_nowait(piece)
    except BaseException as error:
        # Also where what the stream waits for was cancelled: else its reader would wait forever.
        coming.put_nowait(error)
        raise
    else:
        coming.put_nowait(_END)


@cache
def _threads() -> ThreadPoolExecutor:
    """Return the threads in which all streams are checked, one sentence of a stream at a time."""
    return ThreadPoolExecutor(max(2, available_cores()), thread_name_prefix="check-stream")


if sys.platform != "win32":
    # A forked process has none of its parent's threads.
    os.register_at_fork(after_in_child=_threads.cache_clear)
