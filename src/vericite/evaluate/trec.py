"""TREC files: runs (``topic Q0 document rank score tag``) and relevance judgements (``topic 0 document grade``)."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from math import isfinite
from pathlib import Path

from vericite.errors import InputError, Problems, RecordError, ValuesError
from vericite.records import Gold, number_lines

_RUN = 6
_JUDGED = 4


def is_run(path: Path) -> bool:
    """Whether a file's first line is that of a run: Q0 in its second column, or a number as rank and as score.

    The tag may have spaces. A sentence of six words is no run.
    """
    row = _first(path)
    if len(row) < _RUN:
        return False
    return row[1] == "Q0" or (len(row) == _RUN and None not in (_number(row[3]), _number(row[4])))


def is_qrels(path: Path) -> bool:
    """Whether a file's first line is a relevance judgement and is not JSON."""
    return len(_first(path)) == _JUDGED


def _first(path: Path) -> list[str]:
    """Return the columns of the first readable line."""
    _, line = next(Problems().kept(number_lines(path)), (0, ""))
    return [] if line[:1] in "{[" else line.split()


def read_run(path: Path, problems: Problems) -> dict[str, dict[str, float]]:
    """Read a run: document scores by topic, in trec_eval's order, best first.

    trec_eval compares scores as 32-bit floats and orders ties by document id, in descending order.
    """
    found: dict[str, dict[str, float]] = {}
    for number, (topic, _, document, _, score, _) in _rows(path, _RUN, problems):
        value = _number(score)
        if value is None:
            problems.append(RecordError(path, number, None, f"expected a number as the score; found {score!r}"))
        elif document in found.setdefault(topic, {}):
            problem = f"expected each document once per topic; {document!r} is repeated"
            problems.append(RecordError(path, number, None, problem))
        else:
            found[topic][document] = value
    return {topic: _ordered(scores) for topic, scores in found.items()}


def read_qrels(path: Path, problems: Problems) -> dict[str, Gold]:
    """Read gold by topic, with document grades; a line with an invalid grade becomes a problem."""
    found: dict[str, dict[str, float]] = {}
    for number, (topic, _, document, grade) in _rows(path, _JUDGED, problems):
        value = _number(grade)
        refused = "" if value is None else _refused(topic, document, value)
        if value is None or refused:
            problem = refused or f"expected a number as the grade; found {grade!r}"
            problems.append(RecordError(path, number, None, problem))
        elif document in found.setdefault(topic, {}):
            problem = f"expected each document once per topic; {document!r} is repeated"
            problems.append(RecordError(path, number, None, problem))
        else:
            found[topic][document] = value
    return {topic: Gold(id=topic, documents=grades) for topic, grades in found.items()}


def _refused(topic: str, document: str, grade: float) -> str:
    """Return the validation error of a grade; empty if it is valid."""
    try:
        Gold(id=topic, documents={document: grade})
    except ValuesError as error:
        return error.problem
    return ""


def _ordered(scores: dict[str, float]) -> dict[str, float]:
    by_document = sorted(scores, reverse=True)
    ranked = sorted(by_document, key=lambda document: -array("f", [scores[document]])[0])
    return {document: scores[document] for document in ranked}


def _rows(path: Path, columns: int, problems: Problems) -> Iterator[tuple[int, list[str]]]:
    for number, line in problems.kept(number_lines(path)):
        if len(row := line.split(maxsplit=columns - 1 if columns == _RUN else -1)) != columns:
            problems.append(RecordError(path, number, None, f"expected {columns} columns; found {len(row)}"))
        else:
            yield number, row


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if isfinite(value) else None


def run_lines(topic: str, documents: Sequence[str], tag: str) -> list[str]:
    """Return the lines of a run for a topic's documents, best first. The scores are reciprocal ranks.

    Raises:
        InputError: An id contains a space.
    """
    for id in (topic, *documents):
        if id.split() != [id]:
            raise InputError(f"expected ids without spaces, which separate the columns of a TREC file; found {id!r}")
    return [f"{topic} Q0 {document} {rank} {1 / rank:.8f} {tag}\n" for rank, document in enumerate(documents, start=1)]
