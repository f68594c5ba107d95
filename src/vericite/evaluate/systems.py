"""Read systems from files: their answers, the files next to them, and gold."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar
from zipfile import BadZipFile

from pydantic import BaseModel, Field

from vericite.corpus.manuscript.listed import ReferencedLibrary
from vericite.datasets.registry import DatasetSource, is_named, source_named
from vericite.errors import InputError, Problems, RecordError
from vericite.evaluate.items import Features, GoldLine, Item, ModelScores
from vericite.evaluate.resampling import Floats
from vericite.evaluate.scoring import System, system_names
from vericite.evaluate.trec import is_qrels, is_run, read_qrels, read_run
from vericite.formats import AUTO, answers_in
from vericite.formats.files import MARKDOWN_FILES, first_fields, suffix_of
from vericite.formats.registry import AnswerToCheck, OnFormat, with_texts
from vericite.formats.tracks import banks_in, is_bank
from vericite.pipeline.manuscript import ManuscriptCheck
from vericite.records import (
    STANDARD_INPUT,
    STDIN,
    Answer,
    AnswerEvidence,
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

SIDE_FILES = ("verdicts", "labels", "scores", "outputs", "features", "evidence")
"""Files that can accompany a system's answers, in its folder or as options of the command."""
COMPUTED = ("scores-bertscore", "scores-claim-entailment", "scores-aligned-citations")
"""Files of scores that ``vericite compute`` writes into the folder, one per measure."""
_ENDINGS = {"features": "npz"}


def named_file(kind: str) -> str:
    """Return the file name for this kind in a system's folder."""
    return f"{kind}.{_ENDINGS.get(kind, 'jsonl')}"


def files_in(folder: Path) -> dict[str, Path]:
    """Return the files in a system's folder by kind; without a file of answers, the saved runs take its place."""
    files = {name: folder / named_file(name) for name in ("answers", *SIDE_FILES, *COMPUTED)}
    if not files["answers"].is_file():
        # A late import: it loads the whole pipeline, which few folders need.
        from vericite.pipeline.runs import RUNS

        files["answers"] = folder / RUNS
    return {name: path for name, path in files.items() if path.is_file()}


def expect_names(names: Sequence[str], locations: Sequence[Path]) -> None:
    """Check that either no names are given, or a distinct one for each system.

    Raises:
        InputError: A name is missing, empty or repeated.
    """
    distinct = {name.strip() for name in names} - {""}
    if names and not len(distinct) == len(names) == len(locations):
        count = "1 system" if len(locations) == 1 else f"each of {len(locations)} systems"
        raise InputError(
            f"expected a distinct name for {count}; found {', '.join(map(repr, names))}. Name each, as in "
            "NAME=PLACE, or none."
        )


_SIGN = re.compile(r"[\W_]+")
_SHOWN = 60


def verdict_mismatch(answer: Answer, checked: CheckedAnswer) -> str | None:
    """Return evidence that the verdicts belong to a different answer; None if there is none.

    Only properties that are fixed by the text are compared: the words at the offsets of each sentence, the documents
    cited by number, and, if the same sentence splitter was used, the sentences themselves.
    """
    for judgement in (*checked.verdicts, *checked.failures, *checked.uncited):
        there = answer.text[judgement.start : judgement.end]
        if not _within(judgement.claim, there):
            return f"verdicts on {_short(judgement.claim)}, where this answer has {_short(there)}"
    return _other_documents(answer, checked) or _other_sentences(answer, checked)


def _within(claim: str, there: str) -> bool:
    """Whether the claim's characters occur in the text in order, ignoring markers, links, bullets and punctuation."""
    if len(claim) > 2 * len(there) + 2:
        return False
    characters = iter(_SIGN.sub("", there))
    return all(character in characters for character in _SIGN.sub("", claim))


def _other_documents(answer: Answer, checked: CheckedAnswer) -> str | None:
    """Find a citation by number that refers to another document than the verdict does."""
    known = {document.id for document in answer.documents}
    claims = {(claim.span.start, claim.span.end): claim for claim in answer.claims}
    for judgement in (*checked.verdicts, *checked.failures):
        claim = claims.get((judgement.start, judgement.end))
        # Documents cited by name may come from a file that was not given here, so they prove nothing.
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
    """Find a judged sentence that is not in the answer, or a different number of sentences."""
    parts = checked.provenance.parts
    if (parts.get("splitter"), parts.get("citations")) != (SPLITTER, CITATIONS):
        return None
    known = {document.id for document in answer.documents}
    if any(not known.issuperset(judgement.documents) for judgement in (*checked.verdicts, *checked.failures)):
        # Without the file of documents, some links count as words of the sentence.
        return None
    claims = {(claim.span.start, claim.span.end): claim.text for claim in answer.claims}
    for judgement in (*checked.verdicts, *checked.failures, *checked.uncited):
        if claims.get((judgement.start, judgement.end)) != judgement.claim:
            return f"verdicts on {_short(judgement.claim)}, which is not a sentence of this answer"
    judged, present = checked.summary.claims, len(answer.claims)
    if judged == present:
        return None
    return f"verdicts on an answer with {judged} sentences, where this one has {present}"


def _short(text: str) -> str:
    return repr(text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "...")


_Line = TypeVar("_Line", bound=BaseModel)
_Kept = TypeVar("_Kept")

NO_ANSWER = "no answer to this question"
"""The failure reason for a question without output from a system that answers others."""

_FileLine = tuple[Path, int]
"""A file and a line number."""


SYSTEM_ID = re.compile(r"(?P<question>.+)-(?P<system>M\d{1,3})")
"""The ids in MedAESQA's file, which has answers of many systems: a question's id and a system's name."""


class SystemOutput(Record):
    """A system's output for a question, other than a prose answer.

    Attributes:
        retrieved: Ids of the retrieved documents, best first.
        retrieval_scores: Their scores, if known; only measures with their own order of ties use them.
        exact: The exact answer: ranked entries, each with its synonyms, as in ``Question.gold_exact``.
        failed: Why there is no answer.
    """

    id: str = Field(min_length=1)
    retrieved: tuple[str, ...] | None = None
    retrieval_scores: FloatMap = FrozenDict()
    exact: tuple[tuple[str, ...], ...] | None = None
    failed: str | None = None


class _PlainAnswer(AnswerToCheck):
    """An answer whose documents are optional, because only its text is scored."""

    documents: tuple[SourceText, ...] = ()


@dataclass
class SystemFiles:
    """Everything read for a system, by question id.

    Attributes:
        paths: The files that were read.
        format: The format of answers.
        on_format: Called with the detected format, as by ``answers_in``.
        where: The file and line of verdicts, labels, scores and features, by kind and question id.
    """

    answers: dict[str, Answer] = field(default_factory=dict[str, Answer])
    runs: dict[str, Run] = field(default_factory=dict[str, Run])
    verdicts: dict[str, CheckedAnswer] = field(default_factory=dict[str, CheckedAnswer])
    labels: dict[str, Labels] = field(default_factory=dict[str, Labels])
    scores: dict[str, dict[str, float]] = field(default_factory=dict[str, dict[str, float]])
    scored_by: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])
    outputs: dict[str, SystemOutput] = field(default_factory=dict[str, SystemOutput])
    features: dict[str, Features] = field(default_factory=dict[str, Features])
    evidence: dict[str, AnswerEvidence] = field(default_factory=dict[str, AnswerEvidence])
    manuscripts: dict[str, ManuscriptCheck] = field(default_factory=dict[str, ManuscriptCheck])
    problems: Problems = field(default_factory=Problems)
    paths: list[Path] = field(default_factory=list[Path])
    where: dict[str, dict[str, _FileLine]] = field(default_factory=dict[str, dict[str, _FileLine]])
    format: str = AUTO
    on_format: OnFormat | None = None

    @property
    def ids(self) -> frozenset[str]:
        """The questions that the system was asked; without outputs, the questions with labels, scores or features."""
        asked = {id for kind in (self.answers, self.runs, self.verdicts, self.outputs) for id in kind}
        return frozenset(
            asked or {id for kind in (self.labels, self.scores, self.features, self.evidence) for id in kind}
        )

    @property
    def answers_anything(self) -> bool:
        """Whether the system gives answers, and not only retrieval results, labels or scores."""
        answered = any(output.exact is not None or output.failed is not None for output in self.outputs.values())
        return bool(self.answers or self.runs or self.verdicts) or answered

    def system(self, name: str, gold: Mapping[str, Gold] | None = None) -> System:
        """Build the system; questions in the gold without output become items without an answer."""
        known = gold or {}
        ids = self.ids if self._asked_anything or not known else frozenset[str]()
        # A missing answer is a failure only for a system that gives answers.
        absent = NO_ANSWER if self.answers_anything else None
        return System(name, tuple(self._item(id, known.get(id), absent) for id in sorted(ids | known.keys())))

    def strays(self, gold: Mapping[str, Gold] | None = None) -> list[RecordError]:
        """Report labels, scores and features for unknown questions, such as those with a misspelt id."""
        known = self.ids | (gold or {}).keys() if self._asked_anything or not gold else gold.keys()
        return [
            RecordError(path, line, "id", f"expected the id of a question that has an answer or gold; found {id!r}")
            for locations in self.where.values()
            for id, (path, line) in locations.items()
            if id not in known
        ]

    def drop_foreign_verdicts(self) -> None:
        """Drop verdicts that belong to a different answer with the same id, and report them as problems."""
        for id, (path, line) in self.where.get("verdicts", {}).items():
            run, checked = self.runs.get(id), self.verdicts[id]
            answer = self.answers.get(id) or (run.answer if run else None)
            found = verdict_mismatch(answer, checked) if answer else None
            if found is not None:
                problem = (
                    f"expected verdicts on the answer {id!r} as it is; found {found}. These verdicts are left out: run "
                    "`vericite check` on the answers again, with --out, and use the new file"
                )
                self.problems.append(RecordError(path, line, "verdicts", problem))
                del self.verdicts[id]

    def split_by_system(self) -> dict[str, SystemFiles]:
        """Split a file of many systems by name, if every id includes a system's name; otherwise return nothing."""
        matches = [SYSTEM_ID.fullmatch(id) for id in self.ids]
        if not all(matches):
            return {}
        names = sorted({match["system"] for match in matches if match}, key=lambda name: int(name[1:]))
        return {name: self._of_system(name) for name in names}

    def _of_system(self, name: str) -> SystemFiles:
        end = f"-{name}"
        kinds = ("answers", "runs", "verdicts", "labels", "scores", "scored_by", "outputs", "features", "evidence")
        own = {
            kind: {id.removesuffix(end): value for id, value in getattr(self, kind).items() if id.endswith(end)}
            for kind in kinds
        }
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
            articles=self.evidence.get(id),
            manuscript=self.manuscripts.get(id),
        )
        return _with_run(found, self.runs[id]) if id in self.runs else found


def _with_run(item: Item, run: Run) -> Item:
    """Fill the item's missing fields from its run."""
    succeeded = None if run.answer.failed else run
    return replace(
        item,
        answer=item.answer or (succeeded and succeeded.answer),
        checked=item.checked or (succeeded and succeeded.checked),
        reasoned=run.rationale.checked if run.rationale else None,
        scores={**_numbers_of(run), **item.scores},
        exact=run.answer.exact if item.exact is None else item.exact,
        failed=item.failed or run.answer.failed,
        changes=run.changes,
        ranked=tuple(evidence.document.id for evidence in run.evidence) if item.ranked is None else item.ranked,
        gold=item.gold or Gold.of(run.question),
        oracle=run.cell is not None and run.cell.kind == "oracle",
    )


def _numbers_of(run: Run) -> dict[str, float]:
    """Return the numeric scores of the rationale's judge, for ``ModelScore``."""
    judged = run.rationale
    if judged is None:
        return {}
    found = {"faith": judged.score, "grounded": judged.grounded, "quality": judged.quality}
    return {name: float(value) for name, value in found.items() if value is not None}


@dataclass(frozen=True)
class LoadedSystems:
    """Systems, and the files that they were read from."""

    systems: tuple[System, ...]
    paths: tuple[Path, ...]

    @property
    def groups(self) -> list[str]:
        """The names of groups in the gold, by which scores can be shown."""
        golds = [item.gold for system in self.systems for item in system.items if item.gold]
        named = {name for gold in golds for name in gold.groups}
        return sorted(named | ({"type"} if any(gold.type for gold in golds) else set()))


def read_systems(
    locations: Sequence[Path],
    problems: Problems,
    gold: Path | None = None,
    side_files: Mapping[str, Path] | None = None,
    documents: Iterable[Document] = (),
    names: Sequence[str] = (),
    format: str = AUTO,
    whole: bool = False,
    on_format: OnFormat | None = None,
) -> LoadedSystems:
    """Read systems with their gold.

    A file with answers of many systems, such as MedAESQA's, is split into its systems, unless the gold has the file's
    own ids.

    Args:
        locations: Locations of systems, as for ``read_system``.
        problems: Lines that cannot be used are added here, even if an error is raised later.
        gold: The gold file.
        side_files: Files that accompany the answers, if there is a single system.
        documents: Documents that answers cite by PMID, DOI or address.
        names: Names of the systems. Default: see ``system_names``.
        format: The format of answers, as for ``answers_in``.
        whole: Do not split a file of many systems; keep its ids.
        on_format: Called with the detected format of each file of answers, as by ``answers_in``.

    Raises:
        InputError: A file cannot be read, or the gold has none of the questions.
    """
    expect_names(names, locations)
    known, paths = None, [gold] if gold else []
    if gold is not None:
        known = read_gold(gold, problems)
    library = tuple(documents)
    systems: list[System] = []
    for location, name in zip(locations, names or system_names(locations), strict=True):
        given = read_system(location, dict(side_files or {}), library, problems, format, on_format)
        problems += given.strays(known)
        before = f"{name}/" if names or len(locations) > 1 else ""
        # Gold with the file's own ids belongs to the unsplit file.
        whole_here = whole or not given.ids.isdisjoint(known or ())
        parts = {} if whole_here else {f"{before}{part}": files for part, files in given.split_by_system().items()}
        found = parts or {name: given}
        if known is not None and gold is not None:
            _expect_shared({id for files in found.values() for id in files.ids}, known, location, gold)
        systems += [files.system(system, known) for system, files in found.items()]
        paths += given.paths
    return LoadedSystems(tuple(systems), tuple(paths))


def _expect_shared(ids: Collection[str], gold: Collection[str], location: Path, path: Path) -> None:
    if not set(ids) & set(gold):
        raise InputError(
            f"expected {location} and {path} to have the same questions; found no common id: {_first_ids(ids)} here, "
            f"{_first_ids(gold)} in the gold. Use the same ids in both files."
        )


def _first_ids(ids: Collection[str]) -> str:
    return ", ".join(map(repr, sorted(ids)[:3])) + (" ..." if len(ids) > 3 else "")


def read_system(
    location: Path,
    side_files: dict[str, Path],
    documents: Iterable[Document] = (),
    problems: Problems | None = None,
    format: str = AUTO,
    on_format: OnFormat | None = None,
) -> SystemFiles:
    """Read the output of a system.

    Args:
        location: A file of answers in any format, of runs or of verdicts; a TREC run; a folder with ``answers.jsonl``
            and optionally ``verdicts.jsonl``, ``labels.jsonl``, ``scores.jsonl``, ``outputs.jsonl``,
            ``evidence.jsonl`` and ``features.npz``; or a folder of runs, as written by ``ask --save``.
        side_files: Files in other places, by kind.
        documents: Documents that answers cite by PMID, DOI or address.
        problems: Lines that cannot be used are added here, even if an error is raised later.
        format: The format of answers.
        on_format: Called with the detected format, as by ``answers_in``.

    Raises:
        InputError: A file cannot be read, the folder has none of these files, or they are empty.
    """
    if location == STDIN:
        # Its first line is inspected before it is read.
        STANDARD_INPUT.keep()
    kept = Problems() if problems is None else problems
    given = SystemFiles(problems=kept, format=format, on_format=on_format)
    before = len(given.problems)
    files = dict(side_files)
    if is_named(str(location)):
        _read_data_set(source_named(str(location)), given, documents)
    elif location.is_dir():
        files = {**files_in(location), **files}
        if not files:
            raise InputError(
                f"expected answers.jsonl or {', '.join(map(named_file, SIDE_FILES))}, or the runs of `ask --save`, in "
                f"{location}; found none. Name a file of answers, or put files with these names there."
            )
    else:
        files["answers"] = location
    for name, path in files.items():
        given.paths.append(path)
        _READERS[name](path, given, documents)
    given.drop_foreign_verdicts()
    if not given.ids:
        first = f" The first problem: {given.problems[before]}" if len(given.problems) > before else ""
        raise InputError(f"expected answers, verdicts, labels or scores in {location}; found none.{first}")
    return given


def read_gold(path: Path, problems: Problems) -> dict[str, Gold]:
    """Read gold by question id.

    The path is a file of gold records, questions with gold fields, TREC relevance judgements or AutoJudge nugget banks,
    or a named data set, as in ``bioasq:FILE``.

    Raises:
        InputError: The file cannot be read, or has no gold.
    """
    if path == STDIN:
        STANDARD_INPUT.keep()
    if is_named(str(path)):
        return source_named(str(path)).gold(problems)
    if is_qrels(path):
        found = read_qrels(path, problems)
    elif is_bank(first_fields(path)):
        found = _keep(banks_in(path), path, lambda gold: gold.id, problems)
    else:
        lines = _keep(number_jsonl(GoldLine, path), path, lambda line: line.gold.id, problems)
        found = {id: line.gold for id, line in lines.items()}
    if not found:
        raise InputError(
            f'expected gold in {path}, one question per line: {{"id", "ideal"?, ...}}; found none.'
            + problems.first_of(path)
        )
    return found


def _read_data_set(source: DatasetSource, given: SystemFiles, documents: Iterable[Document]) -> None:
    """Read the answers of a data set, and their labels."""
    given.paths += source.paths
    library = Library(tuple(documents))
    for entry in source.entries(given.problems):
        given.answers |= {entry.answer.id: with_texts(entry.answer, library)} if entry.answer else {}
        given.labels |= {entry.labels.id: entry.labels} if entry.labels else {}


def _read_answers(path: Path, given: SystemFiles, documents: Iterable[Document]) -> None:
    is_open = given.format == AUTO and suffix_of(path) not in MARKDOWN_FILES
    if is_open and is_run(path):
        found = read_run(path, given.problems)
        given.outputs |= {
            id: SystemOutput(id=id, retrieved=tuple(scores), retrieval_scores=scores) for id, scores in found.items()
        }
        return
    fields = first_fields(path) if is_open else frozenset[str]()
    if {"verdicts", "summary"} <= fields:
        _read_verdicts(path, given, documents)
    elif {"manuscript", "references", "checked"} <= fields:
        _read_manuscripts(path, given)
    elif {"checked", "evidence"} <= fields:
        given.runs |= _keep(number_jsonl(Run, path), path, lambda run: run.question.id, given.problems)
    elif fields & {"retrieved", "exact"} and "answer" not in fields:
        _read_outputs(path, given, documents)
    elif {"id", "answer"} <= fields <= {"id", "answer", "question"}:
        library = Library(tuple(documents))
        lines = _keep(number_jsonl(_PlainAnswer, path), path, lambda line: line.id, given.problems)
        given.answers |= {id: line.parsed(library) for id, line in lines.items()}
    else:
        read = enumerate(answers_in(path, given.format, ReferencedLibrary(documents), given.on_format), start=1)
        numbered = (item if isinstance(item, RecordError) else (number, item) for number, item in read)
        given.answers |= _keep(numbered, path, lambda answer: answer.id, given.problems)


def _read_manuscripts(path: Path, given: SystemFiles) -> None:
    """Read checked manuscripts, as ``check --out x.json`` writes them."""
    found = _keep(number_jsonl(ManuscriptCheck, path), path, lambda check: check.answer.id, given.problems)
    given.manuscripts |= found
    given.answers |= {id: check.answer for id, check in found.items()}
    given.verdicts |= {id: check.checked for id, check in found.items()}


def _read_verdicts(path: Path, given: SystemFiles, _: Iterable[Document]) -> None:
    where = given.where.setdefault("verdicts", {})
    given.verdicts |= _keep(number_jsonl(CheckedAnswer, path), path, lambda line: line.id, given.problems, where)


def _read_labels(path: Path, given: SystemFiles, _: Iterable[Document]) -> None:
    where = given.where.setdefault("labels", {})
    given.labels |= _keep(number_jsonl(Labels, path), path, lambda line: line.id, given.problems, where)


def _read_scores(path: Path, given: SystemFiles, _: Iterable[Document]) -> None:
    where = given.where.setdefault("scores", {})
    for id, line in _keep(number_jsonl(ModelScores, path), path, lambda line: line.id, given.problems, where).items():
        known, by = given.scores.setdefault(id, {}), given.scored_by.setdefault(id, {})
        # The user's own file is read first and takes precedence.
        new = {name: value for name, value in line.scores.items() if name not in known}
        known.update(new)
        by.update(dict.fromkeys(new, line.made_by) if line.made_by else {})


def _read_evidence(path: Path, given: SystemFiles, _: Iterable[Document]) -> None:
    where = given.where.setdefault("evidence", {})
    given.evidence |= _keep(number_jsonl(AnswerEvidence, path), path, lambda line: line.id, given.problems, where)


def _read_outputs(path: Path, given: SystemFiles, _: Iterable[Document]) -> None:
    given.outputs |= _keep(number_jsonl(SystemOutput, path), path, lambda line: line.id, given.problems)


def _read_features(path: Path, given: SystemFiles, _: Iterable[Document]) -> None:
    """Read vectors by question id: the arrays ``ids``, ``answer`` and ``reference``, with a row per question.

    The optional array ``made_by`` has the name of the model.
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
            f"expected an .npz file with the arrays ids, answer and reference, one row per question, without Python "
            f"objects; found {path}: {error}"
        ) from None
    lines = (_features(path, number, by, *row) for number, row in enumerate(rows, start=1))
    where = given.where.setdefault("features", {})
    kept = _keep(lines, path, lambda row: row[0], given.problems, where)
    given.features |= {id: found for id, found in kept.values()}


def _features(
    path: Path, number: int, by: str | None, id: str, answer: Floats, reference: Floats
) -> tuple[int, tuple[str, Features]] | RecordError:
    try:
        return number, (id, Features(answer, reference, by))
    except InputError as error:
        return RecordError(path, number, id, str(error))


_READERS: dict[str, Callable[[Path, SystemFiles, Iterable[Document]], None]] = {
    "answers": _read_answers,
    "verdicts": _read_verdicts,
    "labels": _read_labels,
    "scores": _read_scores,
    "outputs": _read_outputs,
    "features": _read_features,
    "evidence": _read_evidence,
    **dict.fromkeys(COMPUTED, _read_scores),
}


def _keep(
    lines: Iterator[tuple[int, _Kept] | RecordError],
    path: Path,
    id_of: Callable[[_Kept], str],
    problems: Problems,
    where: dict[str, _FileLine] | None = None,
) -> dict[str, _Kept]:
    """Return lines by id; a bad line or a repeated id is added to the problems and skipped.

    The file and line number of each kept line are added to ``where``.
    """
    found: dict[str, _Kept] = {}
    for number, line in problems.kept(lines):
        if (id := id_of(line)) in found:
            problems.append(RecordError(path, number, "id", f"expected a unique id; {id!r} is repeated"))
        else:
            found[id] = line
            if where is not None:
                where[id] = (path, number)
    return found
