"""From files to systems: the answers of each, with all that lies beside them, and gold."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar
from zipfile import BadZipFile

from pydantic import BaseModel, Field

from vericite.datasets.registry import DatasetSource, is_named, source_named
from vericite.errors import InputError, RecordError
from vericite.evaluate.items import Features, GoldLine, Item, ModelScores
from vericite.evaluate.resampling import Floats
from vericite.evaluate.scoring import System, system_names
from vericite.evaluate.trec import is_qrels, is_run, read_qrels, read_run
from vericite.formats import answers_in
from vericite.formats.files import first_fields
from vericite.formats.registry import AnswerToCheck, with_texts
from vericite.formats.tracks import banks_in, is_bank
from vericite.records import (
    STANDARD_INPUT,
    STDIN,
    Answer,
    CheckedAnswer,
    Document,
    FloatMap,
    Gold,
    Labels,
    Record,
    Run,
    SourceText,
    number_jsonl,
)
from vericite.records.base import FrozenDict
from vericite.text.citations import CITATIONS
from vericite.text.references import Library
from vericite.text.sentences import SPLITTER

BESIDE = ("verdicts", "labels", "scores", "outputs", "features")
"""What may lie beside the answers of a system: files of these names in its folder, or options of the command."""
COMPUTED = ("scores-bertscore", "scores-claim-entailment")
"""Scores that ``vericite compute`` wrote there, a file a measure."""
_ENDINGS = {"features": "npz"}


def named_file(kind: str) -> str:
    """What a file of this kind is called in a system's folder."""
    return f"{kind}.{_ENDINGS.get(kind, 'jsonl')}"


def files_in(folder: Path) -> dict[str, Path]:
    """What lies in a system's folder; without answers of its own, the runs that were kept there."""
    files = {name: folder / named_file(name) for name in ("answers", *BESIDE, *COMPUTED)}
    if not files["answers"].is_file():
        # With it comes the whole pipeline, which few folders need.
        from vericite.pipeline.runs import RUNS

        files["answers"] = folder / RUNS
    return {name: path for name, path in files.items() if path.is_file()}


def expect_names(names: Sequence[str], locations: Sequence[Path]) -> None:
    """Before anything is read.

    Raises:
        InputError: Names are given, and not each system has one of its own.
    """
    distinct = {name.strip() for name in names} - {""}
    if names and not len(distinct) == len(names) == len(locations):
        count = "1 system" if len(locations) == 1 else f"each of {len(locations)} systems"
        raise InputError(
            f"expected a name of its own for {count}; found {', '.join(map(repr, names))}. Give --name once a system, "
            "in their order, or not at all."
        )


_SIGN = re.compile(r"[\W_]+")
_SHOWN = 60


def other_answer(answer: Answer, checked: CheckedAnswer) -> str | None:
    """What shows that the verdicts are of another text than this answer; None where nothing does.

    Only what cannot differ of one text is held against the answer: each sentence's words at its place, the documents
    that its numbers cite, and, where the rules that split sentences are still the same, the sentences themselves.
    """
    for judgement in (*checked.verdicts, *checked.failures, *checked.uncited):
        there = answer.text[judgement.start : judgement.end]
        if not _within(judgement.claim, there):
            return f"verdicts on {_short(judgement.claim)}, where this answer has {_short(there)}"
    return _other_documents(answer, checked) or _other_sentences(answer, checked)


def _within(claim: str, there: str) -> bool:
    """Whether the claim is what is left of that text without its markers, links, bullets and other dress."""
    if len(claim) > 2 * len(there) + 2:
        return False
    characters = iter(_SIGN.sub("", there))
    return all(one in characters for one in _SIGN.sub("", claim))


def _other_documents(answer: Answer, checked: CheckedAnswer) -> str | None:
    """A sentence whose number cites a document of the answer where the verdict knows none of its documents."""
    known = {document.id for document in answer.documents}
    claims = {(claim.span.start, claim.span.end): claim for claim in answer.claims}
    for judgement in (*checked.verdicts, *checked.failures):
        claim = claims.get((judgement.start, judgement.end))
        # What is cited by name may be of a file of documents that was not given here, and shows nothing.
        if claim is None or not judgement.documents or not known.isdisjoint(judgement.documents):
            continue
        for citation in claim.citations:
            if citation.document is not None and citation.marker in judgement.markers:
                return (
                    f"a verdict on [{citation.marker}] as {judgement.documents[0]!r}, where this answer cites "
                    f"{citation.document!r}"
                )
    return None


def _other_sentences(answer: Answer, checked: CheckedAnswer) -> str | None:
    """A sentence that this answer does not have, or more or fewer of them."""
    parts = checked.provenance.parts
    if (parts.get("splitter"), parts.get("citations")) != (SPLITTER, CITATIONS):
        return None
    known = {document.id for document in answer.documents}
    if any(not known.issuperset(judgement.documents) for judgement in (*checked.verdicts, *checked.failures)):
        # Without a file of documents some links to them are words of their sentence.
        return None
    claims = {(claim.span.start, claim.span.end): claim.text for claim in answer.claims}
    for judgement in (*checked.verdicts, *checked.failures, *checked.uncited):
        if claims.get((judgement.start, judgement.end)) != judgement.claim:
            return f"verdicts on {_short(judgement.claim)}, which is no sentence of this answer"
    found, here = checked.summary.claims, len(answer.claims)
    return None if found == here else f"verdicts on an answer of {found} sentences, where this one has {here}"


def _short(text: str) -> str:
    return repr(text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "...")


_Line = TypeVar("_Line", bound=BaseModel)
_Kept = TypeVar("_Kept")

NO_ANSWER = "no answer to this question"
"""Why a question failed of which a system that answers others has nothing."""

_FileLine = tuple[Path, int]
"""A file, and the line in it."""


OF_SYSTEM = re.compile(r"(?P<question>.+)-(?P<system>M\d{1,3})")
"""The id of an answer in MedAESQA's file, which holds those of many systems: its question's id and its system's."""


class SystemOutput(Record):
    """What a system returns of a question beside an answer in words.

    Attributes:
        retrieved: Documents by id, the best first.
        retrieval_scores: Their scores, where they are known; only measures that break ties otherwise read them.
        exact: Its exact answer: ranked entries, each with its synonyms, as in ``Question.gold_exact``.
        failed: Why it gave no answer.
    """

    id: str = Field(min_length=1)
    retrieved: tuple[str, ...] | None = None
    retrieval_scores: FloatMap = FrozenDict()
    exact: tuple[tuple[str, ...], ...] | None = None
    failed: str | None = None


class _PlainAnswer(AnswerToCheck):
    """An answer of which only the words are scored, and no citation is checked, needs no documents."""

    documents: tuple[SourceText, ...] = ()


@dataclass
class SystemFiles:
    """All that was read of one system, by the ids of its questions.

    Attributes:
        paths: The files that were read.
        columns: Which columns of a table of answers hold what.
        where: Where the verdicts, labels, scores and features of a question stand, by what they are and its id.
    """

    answers: dict[str, Answer] = field(default_factory=dict[str, Answer])
    runs: dict[str, Run] = field(default_factory=dict[str, Run])
    verdicts: dict[str, CheckedAnswer] = field(default_factory=dict[str, CheckedAnswer])
    labels: dict[str, Labels] = field(default_factory=dict[str, Labels])
    scores: dict[str, dict[str, float]] = field(default_factory=dict[str, dict[str, float]])
    scored_by: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])
    outputs: dict[str, SystemOutput] = field(default_factory=dict[str, SystemOutput])
    features: dict[str, Features] = field(default_factory=dict[str, Features])
    problems: list[RecordError] = field(default_factory=list[RecordError])
    paths: list[Path] = field(default_factory=list[Path])
    where: dict[str, dict[str, _FileLine]] = field(default_factory=dict[str, dict[str, _FileLine]])
    columns: str | None = None

    @property
    def ids(self) -> frozenset[str]:
        """The questions that the system was asked: those it answered, or else those that anything is known of."""
        asked = {id for kind in (self.answers, self.runs, self.verdicts, self.outputs) for id in kind}
        return frozenset(asked or {id for kind in (self.labels, self.scores, self.features) for id in kind})

    @property
    def answers_anything(self) -> bool:
        """Whether the system answers at all, and does not only retrieve, or is known by labels and scores alone."""
        answered = any(output.exact is not None or output.failed is not None for output in self.outputs.values())
        return bool(self.answers or self.runs or self.verdicts) or answered

    def system(self, name: str, gold: Mapping[str, Gold] | None = None) -> System:
        """The system, a question at a time; questions of the gold that it has nothing of are there, and missing."""
        known = gold or {}
        ids = self.ids if self._asked_anything or not known else frozenset[str]()
        # Of a system that was not asked for answers, that there is none is no failure.
        absent = NO_ANSWER if self.answers_anything else None
        return System(name, tuple(self._item(id, known.get(id), absent) for id in sorted(ids | known.keys())))

    def strays(self, gold: Mapping[str, Gold] | None = None) -> list[RecordError]:
        """Labels, scores and features of questions that were never asked: a misspelt id is no question of its own."""
        known = self.ids | (gold or {}).keys() if self._asked_anything or not gold else gold.keys()
        return [
            RecordError(path, line, "id", f"expected the id of a question that has an answer or gold; found {id!r}")
            for locations in self.where.values()
            for id, (path, line) in locations.items()
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

    def apart(self) -> dict[str, SystemFiles]:
        """The systems of a file of many by name, where every id names one, by their questions' ids; else none."""
        parts = [OF_SYSTEM.fullmatch(id) for id in self.ids]
        if not all(parts):
            return {}
        names = sorted({part["system"] for part in parts if part}, key=lambda name: int(name[1:]))
        return {name: self._of_system(name) for name in names}

    def _of_system(self, name: str) -> SystemFiles:
        end = f"-{name}"
        kinds = ("answers", "runs", "verdicts", "labels", "scores", "scored_by", "outputs", "features")
        held = {kind: getattr(self, kind).items() for kind in kinds}
        own = {kind: {id.removesuffix(end): it for id, it in of if id.endswith(end)} for kind, of in held.items()}
        return replace(self, **own)

    @property
    def _asked_anything(self) -> bool:
        return bool(self.answers or self.runs or self.verdicts or self.outputs)

    def _item(self, id: str, gold: Gold | None, absent: str | None) -> Item:
        output = self.outputs.get(id, SystemOutput(id=id))
        answer, checked = self.answers.get(id), self.verdicts.get(id)
        silent = answer is None and checked is None and output.exact is None and id not in self.runs
        found = Item(
            id,
            answer,
            checked,
            output.retrieved,
            gold,
            self.labels.get(id),
            output.exact,
            self.scores.get(id, {}),
            self.features.get(id),
            output.failed or (absent if silent else None),
            self.scored_by.get(id, {}),
            retrieval_scores=output.retrieval_scores,
        )
        return _with_run(found, self.runs[id]) if id in self.runs else found


def _with_run(item: Item, run: Run) -> Item:
    """The item, and of its run what nothing else says."""
    made = None if run.answer.failed else run
    return replace(
        item,
        answer=item.answer or (made and made.answer),
        checked=item.checked or (made and made.checked),
        reasoned=run.rationale.checked if run.rationale else None,
        scores={**_numbers_of(run), **item.scores},
        exact=run.answer.exact if item.exact is None else item.exact,
        failed=item.failed or run.answer.failed,
        changes=run.changes,
        ranked=tuple(evidence.document.id for evidence in run.evidence) if item.ranked is None else item.ranked,
        gold=item.gold or Gold.of(run.question),
    )


def _numbers_of(run: Run) -> dict[str, float]:
    """What the judge of a rationale says in numbers, for ``ModelScore``."""
    judged = run.rationale
    if judged is None:
        return {}
    found = {"faith": judged.score, "grounded": judged.grounded, "quality": judged.quality}
    return {name: float(value) for name, value in found.items() if value is not None}


@dataclass(frozen=True)
class LoadedSystems:
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
    locations: Sequence[Path],
    problems: list[RecordError],
    gold: Path | None = None,
    beside: Mapping[str, Path] | None = None,
    documents: Iterable[Document] = (),
    names: Sequence[str] = (),
    columns: str | None = None,
    whole: bool = False,
) -> LoadedSystems:
    """Systems, with their gold. Those of a file of many, as MedAESQA's, are each one of its own.

    They are not where the gold has the ids of the file, each of which names a question and a system.

    Args:
        locations: Each as ``read_system`` takes it.
        problems: Lines that cannot be used are added here, also where an error follows.
        gold: What is right.
        beside: Files beside the one system.
        documents: Documents that answers cite by PMID, DOI or address.
        names: What to call the systems; by default ``system_names`` does.
        columns: Which columns of tables of answers hold what, as for ``answers_in``.
        whole: Leave a file of many systems together, with the ids that it has.

    Raises:
        InputError: A file cannot be read, or the gold is of other questions.
    """
    expect_names(names, locations)
    known, paths = None, [gold] if gold else []
    if gold is not None:
        known, wrong = read_gold(gold)
        problems += wrong
    library = tuple(documents)
    systems: list[System] = []
    for location, name in zip(locations, names or system_names(locations), strict=True):
        given = read_system(location, dict(beside or {}), library, problems, columns)
        problems += given.strays(known)
        before = f"{name}/" if names or len(locations) > 1 else ""
        # Gold with the ids that the file has is of the file as it is.
        whole_here = whole or not given.ids.isdisjoint(known or ())
        apart = {} if whole_here else {f"{before}{part}": files for part, files in given.apart().items()}
        found = apart or {name: given}
        if known is not None and gold is not None:
            _expect_shared({id for files in found.values() for id in files.ids}, known, location, gold)
        systems += [files.system(each, known) for each, files in found.items()]
        paths += given.paths
    return LoadedSystems(tuple(systems), tuple(paths))


def _expect_shared(ids: Collection[str], gold: Collection[str], location: Path, path: Path) -> None:
    if not set(ids) & set(gold):
        raise InputError(
            f"expected {location} and {path} to be of the same questions; found no id in both: {_some(ids)} here, "
            f"{_some(gold)} in the gold. Give a question one id."
        )


def _some(ids: Collection[str]) -> str:
    return ", ".join(map(repr, sorted(ids)[:3])) + (" ..." if len(ids) > 3 else "")


def read_system(
    location: Path,
    beside: dict[str, Path],
    documents: Iterable[Document] = (),
    problems: list[RecordError] | None = None,
    columns: str | None = None,
) -> SystemFiles:
    """What a system made of its questions.

    Args:
        location: A file of answers in any format, of runs or verdicts; a TREC run; or a folder with ``answers.jsonl``
            and what lies beside it: ``verdicts.jsonl``, ``labels.jsonl``, ``scores.jsonl``, ``outputs.jsonl``,
            ``features.npz``; or one of runs, as ``ask --save`` keeps them.
        beside: Files that lie elsewhere, by these names.
        documents: Documents that answers cite by PMID, DOI or address.
        problems: Where lines that cannot be used are added, so that they are known also where an error follows.
        columns: Which columns of a table of answers hold what.

    Raises:
        InputError: A file cannot be read, the folder has none of these, or there is nothing in them.
    """
    if location == STDIN:
        # It is looked into before it is read.
        STANDARD_INPUT.keep()
    given = SystemFiles(problems=[] if problems is None else problems, columns=columns)
    before = len(given.problems)
    files = dict(beside)
    if is_named(str(location)):
        _read_data_set(source_named(str(location)), given, documents)
    elif location.is_dir():
        files = {**files_in(location), **files}
        if not files:
            raise InputError(
                f"expected answers.jsonl or {', '.join(map(named_file, BESIDE))}, or the runs of `ask --save`, in "
                f"{location}; found none. Name a file of answers, or put them there under these names."
            )
    else:
        files["answers"] = location
    for name, path in files.items():
        given.paths.append(path)
        _READERS[name](path, given, documents)
    given.leave_out_others()
    if not given.ids:
        first = f" The first problem: {given.problems[before]}" if len(given.problems) > before else ""
        raise InputError(f"expected answers, or what is known of them, in {location}; found none.{first}")
    return given


def read_gold(path: Path) -> tuple[dict[str, Gold], list[RecordError]]:
    """Gold by the id of its question.

    A file has lines of gold, questions that know their own, TREC's relevance judgements, or AutoJudge's nugget banks;
    or a data set is named, as in ``bioasq:FILE``.

    Raises:
        InputError: The file cannot be read, or holds nothing of the kind.
    """
    problems: list[RecordError] = []
    if path == STDIN:
        STANDARD_INPUT.keep()
    if is_named(str(path)):
        return source_named(str(path)).gold(problems), problems
    if is_qrels(path):
        found = read_qrels(path, problems)
    elif is_bank(first_fields(path)):
        found = _keep(enumerate(banks_in(path), start=1), path, lambda gold: gold.id, problems)
    else:
        lines = _keep(number_jsonl(GoldLine, path), path, lambda line: line.gold.id, problems)
        found = {id: line.gold for id, line in lines.items()}
    if not found:
        first = f" The first problem: {problems[0]}" if problems else ""
        raise InputError(f'expected gold in {path}, a line a question: {{"id", "ideal"?, ...}}; found none.{first}')
    return found, problems


def _read_data_set(source: DatasetSource, given: SystemFiles, documents: Iterable[Document]) -> None:
    """The answers of a data set, and what assessors said of them."""
    given.paths += source.paths
    library = Library(tuple(documents))
    for entry in source.entries(given.problems):
        given.answers |= {entry.answer.id: with_texts(entry.answer, library)} if entry.answer else {}
        given.labels |= {entry.labels.id: entry.labels} if entry.labels else {}


def _read_answers(path: Path, given: SystemFiles, documents: Iterable[Document]) -> None:
    if not given.columns and is_run(path):
        found = read_run(path, given.problems)
        given.outputs |= {
            id: SystemOutput(id=id, retrieved=tuple(scores), retrieval_scores=scores) for id, scores in found.items()
        }
        return
    fields = frozenset[str]() if given.columns else first_fields(path)
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
        numbered = enumerate(answers_in(path, documents=documents, columns=given.columns), start=1)
        given.answers |= _keep(numbered, path, lambda answer: answer.id, given.problems)


def _read_verdicts(path: Path, given: SystemFiles, _: Iterable[Document]) -> None:
    where = given.where.setdefault("verdicts", {})
    given.verdicts |= _keep(number_jsonl(CheckedAnswer, path), path, lambda line: line.id, given.problems, where)


def _read_labels(path: Path, given: SystemFiles, _: Iterable[Document]) -> None:
    where = given.where.setdefault("labels", {})
    given.labels |= _keep(number_jsonl(Labels, path), path, lambda line: line.id, given.problems, where)


def _read_scores(path: Path, given: SystemFiles, _: Iterable[Document]) -> None:
    where = given.where.setdefault("scores", {})
    for id, line in _keep(number_jsonl(ModelScores, path), path, lambda line: line.id, given.problems, where).items():
        there, by = given.scores.setdefault(id, {}), given.scored_by.setdefault(id, {})
        # What the user laid there comes first, and stays.
        new = {name: value for name, value in line.scores.items() if name not in there}
        there.update(new)
        by.update(dict.fromkeys(new, line.made_by) if line.made_by else {})


def _read_outputs(path: Path, given: SystemFiles, _: Iterable[Document]) -> None:
    given.outputs |= _keep(number_jsonl(SystemOutput, path), path, lambda line: line.id, given.problems)


def _read_features(path: Path, given: SystemFiles, _: Iterable[Document]) -> None:
    """Vectors by the ids of their questions: arrays ``ids``, ``answer`` and ``reference`` of as many rows.

    A further one, ``made_by``, has the name of the model.
    """
    import numpy as np

    try:
        with np.load(path, allow_pickle=False) as arrays:
            ids, answer, reference = (arrays[name] for name in ("ids", "answer", "reference"))
            by = str(arrays["made_by"]) if "made_by" in arrays else None
        if not len(ids) == len(answer) == len(reference):
            raise ValueError(f"{len(ids)} ids, {len(answer)} and {len(reference)} vectors")
        rows = list(zip(map(str, ids.tolist()), answer.astype(np.float64), reference.astype(np.float64), strict=True))
    except (OSError, ValueError, KeyError, TypeError, EOFError, BadZipFile) as error:
        raise InputError(
            f"expected an .npz with the arrays ids, answer and reference, a row a question, none of objects; found "
            f"{path}: {error}"
        ) from None
    lines = enumerate((_features(path, number, by, *row) for number, row in enumerate(rows, start=1)), start=1)
    where = given.where.setdefault("features", {})
    kept = _keep(lines, path, lambda row: row[0], given.problems, where)
    given.features |= {id: found for id, found in kept.values()}


def _features(
    path: Path, number: int, by: str | None, id: str, answer: Floats, reference: Floats
) -> tuple[str, Features] | RecordError:
    try:
        return id, Features(answer, reference, by)
    except InputError as error:
        return RecordError(path, number, id, str(error))


_READERS: dict[str, Callable[[Path, SystemFiles, Iterable[Document]], None]] = {
    "answers": _read_answers,
    "verdicts": _read_verdicts,
    "labels": _read_labels,
    "scores": _read_scores,
    "outputs": _read_outputs,
    "features": _read_features,
    **dict.fromkeys(COMPUTED, _read_scores),
}


def _keep(
    lines: Iterator[tuple[int, _Kept | RecordError]],
    path: Path,
    id_of: Callable[[_Kept], str],
    problems: list[RecordError],
    where: dict[str, _FileLine] | None = None,
) -> dict[str, _Kept]:
    """Lines by id; a bad one, or one whose id came before, is a problem and costs itself alone.

    ``where`` gets the line of each.
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
