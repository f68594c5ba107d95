"""Answers in, lines out, in order: parts are sent to workers, committed as they come, and read in their order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from vericite.records import Answer
from vericite.scale.cluster import WorkerPool, Workers
from vericite.scale.parts import Parts, part_name
from vericite.scale.work import AnswerWork

ANSWERS = 64
"""Answers of a part: some seconds of work, which is what a worker's death costs."""

BYTES = 16 << 20
"""Bytes of a part from which on it takes no more answers."""

AHEAD = 16
"""Parts for each worker that may wait for one before them: they are on disk, but their answers are in memory."""


class MadeAnswer(NamedTuple):
    """What was made of an answer.

    Attributes:
        answer: The answer.
        line: The record's JSON.
        is_new: Whether it was made now; else an earlier run had made it.
        ready: Answers that are done by now, of later parts, too.
    """

    answer: Answer
    line: bytes
    is_new: bool
    ready: int


@dataclass
class _Part:
    number: int
    answers: list[Answer] = field(default_factory=list[Answer])
    texts: list[bytes] = field(default_factory=list[bytes])
    name: str = ""
    is_new: bool = False
    is_done: bool = False


def in_parts(
    answers: Iterable[Answer], work: AnswerWork, parts: Parts, workers: Workers, at_once: int = ANSWERS
) -> Iterator[MadeAnswer]:
    """Do the work on each answer, in order; what ``parts`` has already is not done again.

    Args:
        answers: The answers; they are read here, some parts ahead.
        work: What is done.
        parts: Where parts are committed; open.
        workers: Who does it.
        at_once: Answers of a part. Another number makes other parts.

    Raises:
        InputError: The workers cannot be had.
        ClusterError: A part cannot be done.
    """
    with workers.running(work) as pool:
        yield from _Stream(pool, parts, len(pool) * AHEAD).of(_grouped(answers, work.preparing(), at_once))


class _Stream:
    def __init__(self, pool: WorkerPool, parts: Parts, ahead: int) -> None:
        self._pool, self._parts, self._ahead = pool, parts, ahead
        self._waiting: deque[_Part] = deque()
        self._sent: dict[int, _Part] = {}
        self._ready = 0

    def of(self, source: Iterator[_Part]) -> Iterator[MadeAnswer]:
        for part in source:
            self._send(part)
            yield from self._front()
            while self._pool.is_full or len(self._waiting) >= self._ahead:
                self._take()
                yield from self._front()
        while not self._pool.is_idle:
            self._take()
            yield from self._front()

    def _send(self, part: _Part) -> None:
        self._waiting.append(part)
        part.name = part_name(part.number, part.texts)
        if self._parts.read(part.name, len(part.answers)) is None:
            part.is_new = True
            self._sent[part.number] = part
            self._pool.put(part.number, part.texts)
        else:
            part.is_done = True
            self._ready += len(part.answers)
        part.texts.clear()

    def _take(self) -> None:
        number, lines = self._pool.take()
        part = self._sent.pop(number)
        # Committed before anyone sees it.
        self._parts.write(part.name, lines)
        part.is_done = True
        self._ready += len(part.answers)

    def _front(self) -> Iterator[MadeAnswer]:
        while self._waiting and self._waiting[0].is_done:
            part = self._waiting.popleft()
            lines = self._parts.read(part.name, len(part.answers))
            assert lines is not None, part.name
            for answer, line in zip(part.answers, lines, strict=True):
                yield MadeAnswer(answer, line, part.is_new, self._ready)


def _grouped(answers: Iterable[Answer], prepare: Callable[[Answer], Answer], at_once: int) -> Iterator[_Part]:
    part, size = _Part(0), 0
    for answer in answers:
        text = prepare(answer).model_dump_json().encode()
        part.answers.append(answer)
        part.texts.append(text)
        size += len(text)
        if len(part.answers) >= at_once or size >= BYTES:
            yield part
            part, size = _Part(part.number + 1), 0
    if part.answers:
        yield part
