"""TREC's files: runs (``topic Q0 document rank score tag``) and judgements (``topic 0 document grade``)."""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite
from pathlib import Path

from vericite.errors import RecordError
from vericite.evaluate.gold import Gold
from vericite.records import number_lines


def is_trec(path: Path, columns: int) -> bool:
    """Whether a file's first line is of so many columns, as a run (6) or judgements (4) are, and no JSON."""
    for _, line in number_lines(path):
        return isinstance(line, str) and line[:1] not in "{[" and len(line.split()) == columns
    return False


def read_run(path: Path, problems: list[RecordError]) -> dict[str, tuple[str, ...]]:
    """Documents by topic, the best first: by score, as TREC's own program orders them, ties by document."""
    found: dict[str, dict[str, float]] = {}
    for number, (topic, _, document, _, score, _) in _rows(path, 6, problems):
        value = _number(score)
        if value is None:
            problems.append(RecordError(path, number, None, f"expected a number as the score; found {score!r}"))
        elif document in found.setdefault(topic, {}):
            problem = f"expected each document once a topic; {document!r} came before"
            problems.append(RecordError(path, number, None, problem))
        else:
            found[topic][document] = value
    return {topic: _ordered(scores) for topic, scores in found.items()}


def read_qrels(path: Path, problems: list[RecordError]) -> dict[str, Gold]:
    """Gold by topic, with the grades of its documents."""
    found: dict[str, dict[str, float]] = {}
    for number, (topic, _, document, grade) in _rows(path, 4, problems):
        value = _number(grade)
        if value is None:
            problems.append(RecordError(path, number, None, f"expected a number as the grade; found {grade!r}"))
        else:
            found.setdefault(topic, {})[document] = value
    return {topic: Gold(id=topic, documents=grades) for topic, grades in found.items()}


def _ordered(scores: dict[str, float]) -> tuple[str, ...]:
    by_document = sorted(scores, reverse=True)
    return tuple(sorted(by_document, key=lambda document: -scores[document]))


def _rows(path: Path, columns: int, problems: list[RecordError]) -> Iterator[tuple[int, list[str]]]:
    for number, line in number_lines(path):
        if isinstance(line, RecordError):
            problems.append(line)
        elif len(row := line.split()) != columns:
            problems.append(RecordError(path, number, None, f"expected {columns} columns; found {len(row)}"))
        else:
            yield number, row


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if isfinite(value) else None
