"""A judge that is asked about each pair once, however many rounds come upon it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from vericite.models import Pair
from vericite.verify import Judge, Judgement
from vericite.verify.asking import ask
from vericite.verify.judging import like


class OnceJudge:
    """Another judge, and what it has said since it was last told to forget."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self._said: dict[Pair, Judgement] = {}
        # As attributes of its own: isinstance with a protocol looks for nothing behind __getattr__.
        like(self, judge)

    @property
    def signature(self) -> str:
        """The judge's own."""
        return self._judge.signature

    def judge(self, pairs: Iterable[Pair]) -> Iterator[Judgement]:
        """One judgement a pair, in their order."""
        wanted = list(pairs)
        new = list(dict.fromkeys(pair for pair in wanted if pair not in self._said))
        self._said.update(zip(new, ask(self._judge, new), strict=True))
        return iter([self._said[pair] for pair in wanted])

    def forget(self) -> None:
        """Let go of what was said."""
        self._said.clear()
