"""TREC's files: runs (``topic Q0 document rank score tag``) and judgements (``topic 0 document grade``)."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from math import isfinite
from pathlib import Path

from vericite.errors import InputError, RecordError, ValuesError
from vericite.records import Gold, number_lines

_RUN = 6
_JUDGED = 4


def is_run(path: Path) -> bool:
    """Whether a file's first line is that of a run, and no JSON; its tag may have spaces."""
    row = _first(path)
    return len(row) == _RUN or (len(row) > _RUN and row[1] == "Q0")


def is_qrels(path: Path) -> bool:
    """Whether a file's first line is that of judgements, and no JSON."""
    return len(_first(path)) == _JUDGED


def _first(path: Path) -> list[str]:
    """The columns of the first line that can be read."""
    line = next((line for _, line in number_lines(path) if isinstance(line, str)), "")
    return [] if line[:1] in "{[" else line.split()


def read_run(path: Path, problems: list[RecordError]) -> dict[str, dict[str, float]]:
    """Documents by topic with their scores, the best first as trec_eval orders them.

    It keeps scores as numbers of 32 bits, so that those which differ by less are ties, and orders ties by document, the
    last name first.
    """
    found: dict[str, dict[str, float]] = {}
    for number, (topic, _, document, _, score, _) in _rows(path, _RUN, problems):
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
    """Gold by topic, with the grades of its documents; a grade that gold cannot have costs its line alone."""
    found: dict[str, dict[str, float]] = {}
    for number, (topic, _, document, grade) in _rows(path, _JUDGED, problems):
        value = _number(grade)
        refused = "" if value is None else _refused(topic, document, value)
        if value is None or refused:
            problem = refused or f"expected a number as the grade; found {grade!r}"
            problems.append(RecordError(path, number, None, problem))
        elif document in found.setdefault(topic, {}):
            problem = f"expected each document once a topic; {document!r} came before"
            problems.append(RecordError(path, number, None, problem))
        else:
            found[topic][document] = value
    return {topic: Gold(id=topic, documents=grades) for topic, grades in found.items()}


def _refused(topic: str, document: str, grade: float) -> str:
    """What gold itself says against a grade."""
    try:
        Gold(id=topic, documents={document: grade})
    except ValuesError as error:
        return error.problem
    return ""


def _ordered(scores: dict[str, float]) -> dict[str, float]:
    by_document = sorted(scores, reverse=True)
    return {it: scores[it] for it in sorted(by_document, key=lambda document: -array("f", [scores[document]])[0])}


def _rows(path: Path, columns: int, problems: list[RecordError]) -> Iterator[tuple[int, list[str]]]:
    for number, line in number_lines(path):
        if isinstance(line, RecordError):
            problems.append(line)
        elif len(row := line.split(maxsplit=columns - 1 if columns == _RUN else -1)) != columns:
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
    """A topic's documents, the best first, as lines of a run. The scores are those of the ranks.

    Raises:
        InputError: A name has a space in it, which the form cannot hold.
    """
    for name in (topic, *documents):
        if name.split() != [name]:
            raise InputError(f"expected ids without spaces, for TREC's form has columns; found {name!r}")
    return [f"{topic} Q0 {document} {rank} {1 / rank:.8f} {tag}\n" for rank, document in enumerate(documents, start=1)]
