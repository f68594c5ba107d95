"""From files to what measures are functions of: a system's answers with all that lies beside them, and gold."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar
from zipfile import BadZipFile

from pydantic import BaseModel, Field

from vericite.errors import InputError, RecordError
from vericite.evaluate.belonging import other_answer
from vericite.evaluate.gold import Gold, GoldLine, Labels, ModelScores
from vericite.evaluate.items import Features, Item, joined
from vericite.evaluate.places import BESIDE, expect_names, found_in, named_file, system_names
from vericite.evaluate.resampling import Floats
from vericite.evaluate.scoring import System
from vericite.evaluate.trec import is_qrels, is_run, read_qrels, read_run
from vericite.formats import answers_in
from vericite.formats.raw import first_fields
from vericite.formats.vericite import AnswerToCheck
from vericite.records import Answer, CheckedAnswer, Document, Record, Run, SourceText, number_jsonl
from vericite.text.references import Library

_Line = TypeVar("_Line", bound=BaseModel)
_Kept = TypeVar("_Kept")

NO_ANSWER = "no answer to this question"
"""Why a question failed of which a system that answers others has nothing."""

_Place = tuple[Path, int]
"""A file, and the line in it."""


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


class _PlainAnswer(AnswerToCheck):
    """An answer of which only the words are scored, and no citation is checked, needs no documents."""

    documents: tuple[SourceText, ...] = ()


@dataclass
class Given:
    """All that was read of one system, by the ids of its questions.

    Attributes:
        paths: The files that were read.
        where: Where the verdicts, labels, scores and features of a question stand, by what they are and its id.
    """

    answers: dict[str, Answer] = field(default_factory=dict[str, Answer])
    runs: dict[str, Run] = field(default_factory=dict[str, Run])
    verdicts: dict[str, CheckedAnswer] = field(default_factory=dict[str, CheckedAnswer])
    labels: dict[str, Labels] = field(default_factory=dict[str, Labels])
    scores: dict[str, ModelScores] = field(default_factory=dict[str, ModelScores])
    outputs: dict[str, Output] = field(default_factory=dict[str, Output])
    features: dict[str, Features] = field(default_factory=dict[str, Features])
    problems: list[RecordError] = field(default_factory=list[RecordError])
    paths: list[Path] = field(default_factory=list[Path])
    where: dict[str, dict[str, _Place]] = field(default_factory=dict[str, dict[str, _Place]])

    @property
    def ids(self) -> frozenset[str]:
        """The questions that the system was asked: those it answered, or else those that anything is known of."""
        asked = {id for kind in (self.answers, self.runs, self.verdicts, self.outputs) for id in kind}
        return frozenset(asked or {id for kind in (self.labels, self.scores, self.features) for id in kind})

    @property
    def answers_anything(self) -> bool:
        """Whether the system answers at all, and does not only retrieve, or is known by labels and scores alone."""
        told = any(output.exact is not None or output.failed is not None for output in self.outputs.values())
        return bool(self.answers or self.runs or self.verdicts) or told

    def system(self, name: str, gold: Mapping[str, Gold] | None = None) -> System:
        """The system, a question at a time; questions of the gold that it has nothing of are there, and missing."""
        ids = self.ids if self._asked_anything or not gold else ()
        # Of a system that was not asked for answers, that there is none is no failure.
        absent = NO_ANSWER if self.answers_anything else None
        items = (self._item(id, absent) for id in sorted(ids))
        return System(name, tuple(joined(items, gold, self.labels, self.scores, self.features, absent)))

    def strays(self, gold: Mapping[str, Gold] | None = None) -> list[RecordError]:
        """Labels, scores and features of questions that were never asked: a misspelt id is no question of its own."""
        known = self.ids | (gold or {}).keys() if self._asked_anything or not gold else gold.keys()
        return [
            RecordError(path, line, "id", f"expected the id of a question that has an answer or gold; found {id!r}")
            for places in self.where.values()
            for id, (path, line) in places.items()
            if id not in known
        ]

    def leave_out_others(self) -> None:
        """Verdicts of another answer under the same id say nothing of this one: they are a problem, and not counted."""
        for id, (path, line) in self.where.get("verdicts", {}).items():
            run, checked = self.runs.get(id), self.verdicts[id]
            answer = self.answers.get(id) or (run.answer if run else None)
            found = other_answer(answer, checked) if answer else None
            if found is not None:
                problem = (
                    f"expected verdicts on the answer {id!r} as it is; found {found}. These verdicts are left out: run "
                    "`vericite check` on the answers again, with --out, and give what it writes"
                )
                self.problems.append(RecordError(path, line, "verdicts", problem))
                del self.verdicts[id]

    @property
    def _asked_anything(self) -> bool:
        return bool(self.answers or self.runs or self.verdicts or self.outputs)

    def _item(self, id: str, absent: str | None) -> Item:
        output, run = self.outputs.get(id, Output(id=id)), self.runs.get(id)
        answer, checked = self.answers.get(id), self.verdicts.get(id)
        silent = answer is None and checked is None and output.exact is None and run is None
        failed = output.failed or (absent if silent else None)
        found = Item(id, answer, checked, output.retrieved, exact=output.exact, failed=failed)
        if run is None:
            return found
        retrieved = tuple(evidence.document.id for evidence in run.evidence)
        return replace(
            found,
            answer=found.answer or (None if run.answer.failed else run.answer),
            checked=found.checked or (None if run.answer.failed else run.checked),
            reasoned=run.rationale.checked if run.rationale else None,
            exact=run.answer.exact if found.exact is None else found.exact,
            failed=found.failed or run.answer.failed,
            ranked=retrieved if found.ranked is None else found.ranked,
            gold=Gold.of(run.question),
        )


@dataclass(frozen=True)
class Read:
    """Systems as they were read, and every file that they were read from."""

    systems: tuple[System, ...]
    paths: tuple[Path, ...]

    @property
    def groups(self) -> list[str]:
        """What scores of them may be shown by."""
        gold = [item.gold for system in self.systems for item in system.items if item.gold]
        named = {name for one in gold for name in one.groups}
        return sorted(named | ({"type"} if any(one.type for one in gold) else set()))


def read_systems(
    places: Sequence[Path],
    problems: list[RecordError],
    gold: Path | None = None,
    beside: Mapping[str, Path] | None = None,
    documents: Iterable[Document] = (),
    names: Sequence[str] = (),
) -> Read:
    """Systems, with their gold.

    Args:
        places: Each as ``read_system`` takes it.
        problems: Lines that cannot be used are added here, also where an error follows.
        gold: What is right.
        beside: Files beside the one system.
        documents: Documents that answers cite by PMID, DOI or address.
        names: What to call the systems; by default ``system_names`` does.

    Raises:
        InputError: A file cannot be read, or the gold is of other questions.
    """
    expect_names(names, places)
    known, paths = None, [gold] if gold else []
    if gold is not None:
        known, wrong = read_gold(gold)
        problems += wrong
    library = tuple(documents)
    systems: list[System] = []
    for place, name in zip(places, names or system_names(places), strict=True):
        given = read_system(place, dict(beside or {}), library, problems)
        problems += given.strays(known)
        if known is not None and gold is not None:
            _expect_shared(given.ids, known, place, gold)
        systems.append(given.system(name, known))
        paths += given.paths
    return Read(tuple(systems), tuple(paths))


def _expect_shared(ids: Collection[str], gold: Collection[str], place: Path, path: Path) -> None:
    if not set(ids) & set(gold):
        raise InputError(
            f"expected {place} and {path} to be of the same questions; found no id in both: {_some(ids)} here, "
            f"{_some(gold)} in the gold. Give a question one id."
        )


def _some(ids: Collection[str]) -> str:
    return ", ".join(map(repr, sorted(ids)[:3])) + (" ..." if len(ids) > 3 else "")


def read_system(
    place: Path,
    beside: dict[str, Path],
    documents: Iterable[Document] = (),
    problems: list[RecordError] | None = None,
) -> Given:
    """What a system made of its questions.

    Args:
        place: A file of answers in any format, of runs or of verdicts; a TREC run; or a folder with ``answers.jsonl``
            and what lies beside it: ``verdicts.jsonl``, ``labels.jsonl``, ``scores.jsonl``, ``outputs.jsonl``,
            ``features.npz``; or one of runs, as ``ask --save`` keeps them.
        beside: Files that lie elsewhere, by these names.
        documents: Documents that answers cite by PMID, DOI or address.
        problems: Where lines that cannot be used are added, so that they are known also where an error follows.

    Raises:
        InputError: A file cannot be read, the folder has none of these, or there is nothing in them.
    """
    given = Given(problems=[] if problems is None else problems)
    before = len(given.problems)
    files = dict(beside)
    if place.is_dir():
        files = {**found_in(place), **files}
        if not files:
            raise InputError(
                f"expected answers.jsonl or {', '.join(map(named_file, BESIDE))}, or the runs of `ask --save`, in "
                f"{place}; found none. Name a file of answers, or put them there under these names."
            )
    else:
        files["answers"] = place
    for name, path in files.items():
        given.paths.append(path)
        _READERS[name](path, given, documents)
    given.leave_out_others()
    if not given.ids:
        first = f" The first problem: {given.problems[before]}" if len(given.problems) > before else ""
        raise InputError(f"expected answers, or what is known of them, in {place}; found none.{first}")
    return given


def read_gold(path: Path) -> tuple[dict[str, Gold], list[RecordError]]:
    """Gold by the id of its question: lines of gold, questions that know their own, or TREC's relevance judgements.

    Raises:
        InputError: The file cannot be read, or holds nothing of the kind.
    """
    problems: list[RecordError] = []
    if is_qrels(path):
        found = read_qrels(path, problems)
    else:
        lines = _keep(number_jsonl(GoldLine, path), path, lambda line: line.gold.id, problems)
        found = {id: line.gold for id, line in lines.items()}
    if not found:
        first = f" The first problem: {problems[0]}" if problems else ""
        raise InputError(f'expected gold in {path}, a line a question: {{"id", "ideal"?, ...}}; found none.{first}')
    return found, problems


def _read_answers(path: Path, given: Given, documents: Iterable[Document]) -> None:
    if is_run(path):
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
    elif {"id", "answer"} <= fields <= {"id", "answer", "question"}:
        library = Library(tuple(documents))
        lines = _keep(number_jsonl(_PlainAnswer, path), path, lambda line: line.id, given.problems)
        given.answers |= {id: line.parsed(library) for id, line in lines.items()}
    else:
        numbered = enumerate(answers_in(path, documents=documents), start=1)
        given.answers |= _keep(numbered, path, lambda answer: answer.id, given.problems)


def _read_verdicts(path: Path, given: Given, _: Iterable[Document]) -> None:
    where = given.where.setdefault("verdicts", {})
    given.verdicts |= _keep(number_jsonl(CheckedAnswer, path), path, lambda line: line.id, given.problems, where)


def _read_labels(path: Path, given: Given, _: Iterable[Document]) -> None:
    where = given.where.setdefault("labels", {})
    given.labels |= _keep(number_jsonl(Labels, path), path, lambda line: line.id, given.problems, where)


def _read_scores(path: Path, given: Given, _: Iterable[Document]) -> None:
    where = given.where.setdefault("scores", {})
    given.scores |= _keep(number_jsonl(ModelScores, path), path, lambda line: line.id, given.problems, where)


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
        rows = list(zip(map(str, ids.tolist()), answer.astype(np.float64), reference.astype(np.float64), strict=True))
    except (OSError, ValueError, KeyError, TypeError, EOFError, BadZipFile) as error:
        raise InputError(
            f"expected an .npz with the arrays ids, answer and reference, a row a question, none of objects; found "
            f"{path}: {error}"
        ) from None
    lines = enumerate((_features(path, number, *row) for number, row in enumerate(rows, start=1)), start=1)
    where = given.where.setdefault("features", {})
    kept = _keep(lines, path, lambda row: row[0], given.problems, where)
    given.features |= {id: found for id, found in kept.values()}


def _features(
    path: Path, number: int, id: str, answer: Floats, reference: Floats
) -> tuple[str, Features] | RecordError:
    try:
        return id, Features(answer, reference)
    except InputError as error:
        return RecordError(path, number, id, str(error))


_READERS: dict[str, Callable[[Path, Given, Iterable[Document]], None]] = {
    "answers": _read_answers,
    "verdicts": _read_verdicts,
    "labels": _read_labels,
    "scores": _read_scores,
    "outputs": _read_outputs,
    "features": _read_features,
}


def _keep(
    lines: Iterator[tuple[int, _Kept | RecordError]],
    path: Path,
    id_of: Callable[[_Kept], str],
    problems: list[RecordError],
    where: dict[str, _Place] | None = None,
) -> dict[str, _Kept]:
    """Lines by id; a bad one, or one whose id came before, is a problem and costs itself alone.

    ``where`` is told the line of each.
    """
    found: dict[str, _Kept] = {}
    for number, line in lines:
        if isinstance(line, RecordError):
            problems.append(line)
        elif (id := id_of(line)) in found:
            problems.append(RecordError(path, number, "id", f"expected an id of its own; {id!r} came before"))
        else:
            found[id] = line
            if where is not None:
                where[id] = (path, number)
    return found
