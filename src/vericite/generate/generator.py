"""What a generator is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Generator as Generating
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol, runtime_checkable

from vericite.records import Answer, Evidence, Question

INSUFFICIENT = "The sources found do not answer this question."
"""The answer where there is nothing to answer from, unless a prompt has a sentence of its own for it."""


class Generator(Protocol):
    """Answers a question from evidence, citing it."""

    @property
    def signature(self) -> str:
        """For provenance."""
        ...

    def generate(self, question: Question, evidence: Sequence[Evidence]) -> Answer:
        """An answer whose marker ``[n]`` is the document of ``evidence[n - 1]``."""
        ...


@runtime_checkable
class GeneratesMany(Protocol):
    """A generator that gains by being asked several questions at a time."""

    def generate_many(self, asked: Iterable[tuple[Question, Sequence[Evidence]]]) -> Iterator[Answer]:
        """An answer each, in order; what is asked is taken as it is needed."""
        ...


_follower: ContextVar[Callable[[str], None] | None] = ContextVar("follower", default=None)


@contextmanager
def followed(seen: Callable[[str], None]) -> Generating[None]:
    """Within, ``seen`` is called with each piece of a model's prose as it is written, from another thread."""
    token = _follower.set(seen)
    try:
        yield
    finally:
        _follower.reset(token)


def follower() -> Callable[[str], None] | None:
    """Who follows what is being written."""
    return _follower.get()
