"""The protocol of generators."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Generator as Generating
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol, runtime_checkable

from vericite.records import Answer, Evidence, Question

INSUFFICIENT = "The sources found do not answer this question."
"""The answer if there is nothing to answer from, unless the prompt has its own sentence for that."""


class Generator(Protocol):
    """Answers a question from evidence, with citations."""

    @property
    def signature(self) -> str:
        """Name and settings, for provenance."""
        ...

    def generate(self, question: Question, evidence: Sequence[Evidence]) -> Answer:
        """Return an answer whose marker ``[n]`` cites the document of ``evidence[n - 1]``."""
        ...


@runtime_checkable
class GeneratesMany(Protocol):
    """A generator that is faster when several questions are asked at a time."""

    def generate_many(self, asked: Iterable[tuple[Question, Sequence[Evidence]]]) -> Iterator[Answer]:
        """Yield the answers in order; questions are taken from the iterable as needed."""
        ...


_follower: ContextVar[Callable[[str], None] | None] = ContextVar("follower", default=None)


@contextmanager
def followed(seen: Callable[[str], None]) -> Generating[None]:
    """Call ``seen`` with each piece of a model's prose as it is written, from another thread, inside this block."""
    token = _follower.set(seen)
    try:
        yield
    finally:
        _follower.reset(token)


def follower() -> Callable[[str], None] | None:
    """Return the callback of the enclosing ``followed`` block."""
    return _follower.get()
