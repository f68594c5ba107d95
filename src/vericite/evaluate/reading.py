"""From files to what measures are functions of: a system's answers with all that lies beside them, and gold."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar
from zipfile import BadZipFile

from pydantic import BaseModel, Field

from vericite.errors import InputError, RecordError
from vericite.evaluate.gold import Gold, GoldLine, Labels, ModelScores
from vericite.evaluate.items import Features, Item, joined
from vericite.evaluate.scoring import System
from vericite.evaluate.trec import is_trec, read_qrels, read_run
from vericite.formats import answers_in
from vericite.formats.raw import first_fields
from vericite.records import Answer, CheckedAnswer, Document, Record, Run, number_jsonl

_Line = TypeVar("_Line", bound=BaseModel)
_Kept = TypeVar("_Kept")

BESIDE = ("verdicts", "labels", "scores", "outputs", "features")
"""What may lie beside the answers of a system: files of these names in its folder, or options of the command."""
_ENDINGS = {"features": "npz"}


class Output(Record):
    """What a system returns of a question beside an answer in words.

    Attributes:
        retrieved: Documents by id, the best first.
        exact: Its exact answer: ranked entries, each with its synonyms, as in ``Question.gold_exact``.
        failed: Why it gave no answer.
    """

    id: str = Field(min_length=1)
    retrieved: tuple[str, ...] | None = None
    exact: tuple[tuple[str, ...], ...] | None = None
    failed: str | None = None


@dataclass
class Given:
    """All that was read of one system, by the ids of its questions."""

    answers: dict[str, Answer] = field(default_factory=dict[str, Answer])
    runs: dict[str, Run] = field(default_factory=dict[str, Run])
    verdicts: dict[str, CheckedAnswer] = field(default_factory=dict[str, CheckedAnswer])
    labels: dict[str, Labels] = field(default_factory=dict[str, Labels])
    scores: dict[str, ModelScores] = field(default_factory=dict[str, ModelScores])
    outputs: dict[str, Output] = field(default_factory=dict[str, Output])
    features: dict[str, Features] = field(default_factory=dict[str, Features])
    problems: list[RecordError] = field(default_factory=list[RecordError])

    def system(self, name: str, gold: dict[str, Gold] | None = None) -> System:
        """The system, a question at a time; questions of the gold that it has nothing of are there, and missing."""
        kinds = (self.answers, self.runs, self.verdicts, self.labels, self.scores, self.outputs, self.features)
        ids = sorted({id for kind in kinds for id in kind})
        scores = {id: line.scores for id, line in self.scores.items()}
        return System(name, tuple(joined(map(self._item, ids), gold, self.labels, scores)))

    def _item(self, id: str) -> Item:
        output = self.outputs.get(id, Output(id=id))
        found = Item(
            id,
            self.answers.get(id),
            self.verdicts.get(id),
            output.retrieved,
            exact=output.exact,
            features=self.features.get(id),
            failed=output.failed,
        )
        run = self.runs.get(id)
        if run is None:
            return found
        return replace(
            found,
            answer=found.answer or run.answer,
            checked=found.checked or run.checked,
            ranked=found.ranked or tuple(evidence.document.id for evidence in run.evidence),
            gold=Gold.of(run.question),
        )


def read_system(place: Path, beside: dict[str, Path], documents: Iterable[Document] = ()) -> Given:
    """What a system made of its questions.

    Args:
        place: A file of answers in any format, of runs or of verdicts; a TREC run; or a folder with ``answers.jsonl``
            and what lies beside it: ``verdicts.jsonl``, ``labels.jsonl``, ``scores.jsonl``, ``outputs.jsonl``,
            ``features.npz``.
        beside: Files that lie elsewhere, by these names.
        documents: Documents that answers cite by PMID, DOI or address.

    Raises:
        InputError: A file cannot be read, or the folder has none of these.
    """
    given = Given()
    files = dict(beside)
    if place.is_dir():
        found = {name: place / _file(name) for name in ("answers", *BESIDE)}
        files = {**{name: path for name, path in found.items() if path.is_file()}, **files}
        if not files:
            raise InputError(
                f"expected answers.jsonl or {', '.join(map(_file, BESIDE))} in {place}; found none. "
                "Name a file of answers, or put them there under these names."
            )
    else:
        files["answers"] = place
    for name, path in files.items():
        _READERS[name](path, given, documents)
    return given


def system_names(places: Sequence[Path]) -> list[str]:
    """A name for each system: that of its file or folder, with as many of the folders above as tell them apart."""
    longest = max((len(place.resolve().parts) for place in places), default=1)
    for depth in range(1, longest + 1):
        names = [
            "/".join([*place.resolve().parent.parts[1 - depth :][: depth - 1], place.resolve().stem])
            for place in places
        ]
        if len(set(names)) == len(names):
            return names
    return [f"{place.stem} ({number})" for number, place in enumerate(places, start=1)]


def read_gold(path: Path) -> tuple[dict[str, Gold], list[RecordError]]:
    """Gold by the id of its question: lines of gold, questions that know their own, or TREC's relevance judgements.

    Raises:
        InputError: The file cannot be read, or holds nothing of the kind.
    """
    problems: list[RecordError] = []
    if is_trec(path, 4):
        found = read_qrels(path, problems)
    else:
        lines = _keep(number_jsonl(GoldLine, path), path, lambda line: line.gold.id, problems)
        found = {id: line.gold for id, line in lines.items()}
    if not found:
        first = f" The first problem: {problems[0]}" if problems else ""
        raise InputError(f'expected gold in {path}, a line a question: {{"id", "ideal"?, ...}}; found none.{first}')
    return found, problems


def _read_answers(path: Path, given: Given, documents: Iterable[Document]) -> None:
    if is_trec(path, 6):
        found = read_run(path, given.problems)
        given.outputs |= {id: Output(id=id, retrieved=ranked) for id, ranked in found.items()}
        return
    fields = first_fields(path)
    if {"verdicts", "summary"} <= fields:
        _read_verdicts(path, given, documents)
    elif {"checked", "evidence"} <= fields:
        given.runs |= _keep(number_jsonl(Run, path), path, lambda run: run.question.id, given.problems)
    elif fields & {"retrieved", "exact"} and "answer" not in fields:
        _read_outputs(path, given, documents)
    else:
        numbered = enumerate(answers_in(path, documents=documents), start=1)
        given.answers |= _keep(numbered, path, lambda answer: answer.id, given.problems)


def _read_verdicts(path: Path, given: Given, _: Iterable[Document]) -> None:
    given.verdicts |= _keep(number_jsonl(CheckedAnswer, path), path, lambda line: line.id, given.problems)


def _read_labels(path: Path, given: Given, _: Iterable[Document]) -> None:
    given.labels |= _keep(number_jsonl(Labels, path), path, lambda line: line.id, given.problems)


def _read_scores(path: Path, given: Given, _: Iterable[Document]) -> None:
    given.scores |= _keep(number_jsonl(ModelScores, path), path, lambda line: line.id, given.problems)


def _read_outputs(path: Path, given: Given, _: Iterable[Document]) -> None:
    given.outputs |= _keep(number_jsonl(Output, path), path, lambda line: line.id, given.problems)


def _read_features(path: Path, given: Given, _: Iterable[Document]) -> None:
    """Vectors by the ids of their questions: arrays ``ids``, ``answer`` and ``reference`` of as many rows."""
    import numpy as np

    try:
        with np.load(path, allow_pickle=False) as arrays:
            ids, answer, reference = (arrays[name] for name in ("ids", "answer", "reference"))
        if not len(ids) == len(answer) == len(reference):
            raise ValueError(f"{len(ids)} ids, {len(answer)} and {len(reference)} vectors")
        rows = zip(map(str, ids.tolist()), answer.astype(np.float64), reference.astype(np.float64), strict=True)
        given.features |= {id: Features(one, other) for id, one, other in rows}
    except (OSError, ValueError, KeyError, TypeError, EOFError, BadZipFile) as error:
        raise InputError(
            f"expected an .npz with the arrays ids, answer and reference, a row a question, none of objects; found "
            f"{path}: {error}"
        ) from None


_READERS: dict[str, Callable[[Path, Given, Iterable[Document]], None]] = {
    "answers": _read_answers,
    "verdicts": _read_verdicts,
    "labels": _read_labels,
    "scores": _read_scores,
    "outputs": _read_outputs,
    "features": _read_features,
}


def _file(kind: str) -> str:
    return f"{kind}.{_ENDINGS.get(kind, 'jsonl')}"


def _keep(
    lines: Iterator[tuple[int, _Kept | RecordError]],
    path: Path,
    id_of: Callable[[_Kept], str],
    problems: list[RecordError],
) -> dict[str, _Kept]:
    """Lines by id; a bad one, or one whose id came before, is a problem and costs itself alone."""
    found: dict[str, _Kept] = {}
    for number, line in lines:
        if isinstance(line, RecordError):
            problems.append(line)
        elif (id := id_of(line)) in found:
            problems.append(RecordError(path, number, "id", f"expected an id of its own; {id!r} came before"))
        else:
            found[id] = line
    return found
