"""Explained verdicts: what is wrong with sentences that their sources do not support (``check.explain``)."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator

from vericite.pipeline.others import OtherSources
from vericite.pipeline.search import Search
from vericite.records import Answer, CheckedAnswer
from vericite.verify.explaining import Explainer
from vericite.verify.verifier import Verifier


def check_and_explain(
    verifier: Verifier, answers: Iterable[Answer], search: Search | None = None
) -> Iterator[CheckedAnswer]:
    """Check a stream of answers and explain the verdicts; a search is asked for other sources, too."""
    waiting: deque[Answer] = deque()

    def kept() -> Iterator[Answer]:
        for answer in answers:
            waiting.append(answer)
            yield answer

    return explained(verifier, ((waiting.popleft(), checked) for checked in verifier.verify(kept())), search)


def explained(
    verifier: Verifier, checked: Iterable[tuple[Answer, CheckedAnswer]], search: Search | None = None
) -> Iterator[CheckedAnswer]:
    """Add to the verdicts on answers the words that no source carries, reasons, and other sources that support them."""
    return OtherSources(verifier, search).added(Explainer(verifier.judge).added(checked))
