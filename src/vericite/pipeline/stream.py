"""Check an answer while it is written: each verdict comes as soon as its sentence has ended."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, AsyncIterator, Iterable

from vericite.errors import InputError, expect_type
from vericite.formats.objects import as_documents
from vericite.pipeline.check import verifier_for
from vericite.records import Answer, CheckedAnswer, Claim, UncitedClaim, Verdict, VerificationFailure
from vericite.text.citations import parse_answer
from vericite.verify.judges.function import AnyJudge
from vericite.verify.protocol import DEFAULT, Protocol

Result = Verdict | VerificationFailure | UncitedClaim
"""Result for a sentence: a verdict or a failure for each citation, or an UncitedClaim."""

_ENDINGS = frozenset(".!?\n]):;。！？")
"""Characters that can end a sentence or its citation; other text ends nothing."""


class CheckStream:
    """Checks an answer sentence by sentence, as a model writes it.

        stream = vericite.CheckStream(documents)
        for token in model_output:
            for result in stream.feed(token):
                print(result.claim, result)
        checked = stream.close()

    A sentence is checked when the next one begins, because a citation may follow its full stop. ``close`` checks the
    last one and returns what ``check`` returns for the whole text.

    Args:
        documents: The sources, as for ``check``.
        question: The question, for judges that read it.
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
        self._documents = tuple(as_documents(documents))
        self._question, self._id = question, id
        self._verifier = verifier_for(protocol, judge)
        self._text = ""
        self._known: dict[Claim, CheckedAnswer] = {}
        self._closed: CheckedAnswer | None = None

    @property
    def text(self) -> str:
        """Text fed so far."""
        return self._text

    def feed(self, piece: str) -> list[Result]:
        """Add a piece of the answer and check the sentences that it completes.

        Raises:
            InputError: The piece is not text, or the stream is closed.
        """
        expect_type(piece, str, "a piece of text", "Give a str")
        if self._closed is not None:
            raise InputError("expected an open stream; found one that was closed. Make another CheckStream")
        # The first character after a sentence ends it, so look at the end of the previous text too.
        before = self._text[-4:]
        self._text += piece
        if not piece.strip() or _ENDINGS.isdisjoint(before + piece):
            return []
        claims = self._answer().claims[:-1]
        return [result for claim in claims if claim not in self._known for result in self._check(claim)]

    async def afeed(self, piece: str) -> list[Result]:
        """Like ``feed``, in a thread."""
        return await asyncio.to_thread(self.feed, piece)

    async def results(self, pieces: AsyncIterable[str]) -> AsyncIterator[Result]:
        """Feed all pieces of an async stream, yield each result as soon as it is known, and close the stream."""
        async for piece in pieces:
            for result in await self.afeed(piece):
                yield result
        for result in await asyncio.to_thread(self._check_rest):
            yield result

    def close(self) -> CheckedAnswer:
        """End the answer: check the rest and return what ``check`` returns for the whole text."""
        if self._closed is None:
            self._check_rest()
        assert self._closed is not None
        return self._closed

    def _check_rest(self) -> list[Result]:
        answer = self._answer()
        new = [result for claim in answer.claims if claim not in self._known for result in self._check(claim)]
        parts = [self._known[claim] for claim in answer.claims]
        self._closed = self._verifier.combined(answer, parts)
        return new

    def _check(self, claim: Claim) -> list[Result]:
        alone = self._answer().model_copy(update={"claims": (claim,)})
        checked = next(self._verifier.verify([alone]))
        self._known[claim] = checked
        return [*checked.verdicts, *checked.failures, *checked.uncited]

    def _answer(self) -> Answer:
        return parse_answer(self._id, self._text, self._documents, self._question)
