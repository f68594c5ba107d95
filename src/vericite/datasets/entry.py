"""Data sets, the entries that their records give, and counts of entries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from vericite.datasets.rows import Row, files_in, read_rows
from vericite.errors import InputError, RecordError, ValuesError
from vericite.records import Answer, Document, Gold, LabelledCitation, Labels, Question, first_problem

Gives = Literal["questions", "gold", "answers", "labels", "citations", "documents"]


@dataclass(frozen=True)
class Entry:
    """The parts that one record of a data set has."""

    question: Question | None = None
    gold: Gold | None = None
    answer: Answer | None = None
    labels: Labels | None = None
    citations: tuple[LabelledCitation, ...] = ()
    documents: tuple[Document, ...] = ()
    unlabelled: int = 0
    """Number of claims whose labels are not published, such as those of a leaderboard's test."""


@dataclass(frozen=True)
class Reading:
    """One file of a data set to read.

    Attributes:
        path: The file.
        part: The part to read; empty for all.
    """

    path: Path
    part: str = ""

    def sibling(self, name: str) -> Path | None:
        """Return the file of this name in the same folder, or None."""
        found = self.path.parent / name
        return found if found.exists() else None


ReadFile = Callable[[Reading], Iterator[Entry | RecordError]]
"""Reads the entries of a file. Unusable records are yielded as errors."""


@dataclass(frozen=True)
class DataSet:
    """A data set that can be read by name.

    Attributes:
        name: Name on the command line.
        title: The usual name.
        about: Short description.
        gives: Kinds of records that it has.
        shape: Required fields of a record, for error messages.
        where: Where to get it.
        licence: Its licence.
        read: Its reader.
        parts: Parts that can be read alone, such as a split.
        trained_on: Shipped models trained on it, and on which part. Empty: none.
        usual: Its files or folders in a folder of data sets, used when no file is named.
        copies: Subfolders with the same records again; they are only read when named.
        cite: The paper.
    """

    name: str
    title: str
    about: str
    gives: tuple[Gives, ...]
    shape: str
    where: str
    licence: str
    read: ReadFile
    parts: tuple[str, ...] = ()
    trained_on: tuple[str, ...] = ()
    usual: tuple[str, ...] = ()
    copies: tuple[str, ...] = ()
    cite: str = ""

    def entries(self, paths: Iterable[Path], part: str = "") -> Iterator[Entry | RecordError]:
        """Yield the entries of these files or folders.

        Raises:
            InputError: A file cannot be read, or has no records of this data set.
        """
        listed = list(paths)
        first: RecordError | None = None
        usable = False
        for path in (file for named in listed for file in files_in(named) if not self._copied(file, named)):
            for entry in self.read(Reading(path, part)):
                usable = usable or isinstance(entry, Entry)
                first = first or (entry if isinstance(entry, RecordError) else None)
                yield entry
        if not usable:
            problem = f" First problem: {first}" if first else ""
            names = ", ".join(map(str, listed))
            raise InputError(f"expected {self.title} in {names}: {self.shape}; found none.{problem}")

    def _copied(self, file: Path, named: Path) -> bool:
        return not set(self.copies).isdisjoint(file.relative_to(named).parts)


Make = Callable[[Row, Reading], Entry | Iterable[Entry]]
"""Makes the entries of a row. Raises ``RecordError`` if the row is not a record of the data set."""


def each_row(make: Make, under: tuple[str, ...] = ()) -> ReadFile:
    """Return a reader that makes entries from each row of a file. A bad row is skipped."""

    def read(reading: Reading) -> Iterator[Entry | RecordError]:
        for row in read_rows(reading.path, under):
            if isinstance(row, RecordError):
                yield row
            else:
                yield from from_row(row, lambda row: make(row, reading))

    return read


def from_row(row: Row, make: Callable[[Row], Entry | Iterable[Entry]]) -> list[Entry | RecordError]:
    """Return the entries of a row. Values that a record refuses become the row's error."""
    try:
        made = make(row)
        return [made] if isinstance(made, Entry) else list(made)
    except RecordError as error:
        return [error]
    except (ValidationError, ValuesError) as error:
        field_name, problem = first_problem(error)
        return [row.refused(field_name, problem)]


@dataclass
class DatasetCounts:
    """Counts of everything in a data set. Questions, answers and documents are counted once by id."""

    questions: dict[str, str] = field(default_factory=dict[str, str])
    gold: set[str] = field(default_factory=set[str])
    gold_documents: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    nuggets: int = 0
    vital: int = 0
    answers: set[str] = field(default_factory=set[str])
    claims: int = 0
    cited_claims: int = 0
    multi_cited_claims: int = 0
    answer_citations: int = 0
    answer_words: int = 0
    citations: Counter[str] = field(default_factory=Counter[str])
    native: Counter[str] = field(default_factory=Counter[str])
    unlabelled: int = 0
    judgements: Counter[str] = field(default_factory=Counter[str])
    documents: set[str] = field(default_factory=set[str])

    def add(self, entry: Entry) -> None:
        """Count an entry."""
        if entry.question is not None:
            self.questions.setdefault(entry.question.id, entry.question.type or "untyped")
        if entry.gold is not None:
            relevant = (id for id, grade in entry.gold.documents.items() if grade > 0)
            self.gold_documents |= {(entry.gold.id, id) for id in relevant}
        if entry.gold is not None and entry.gold.id not in self.gold:
            self.gold.add(entry.gold.id)
            self.nuggets += len(entry.gold.nuggets or ())
            self.vital += sum(nugget.vital for nugget in entry.gold.nuggets or ())
        if entry.answer is not None and entry.answer.id not in self.answers:
            self._add_answer(entry.answer)
        for judgement in entry.labels.citations or () if entry.labels else ():
            self.judgements[judgement.label] += 1
        for citation in entry.citations:
            self.citations[citation.label] += 1
            self.native[citation.native or citation.label] += 1
        self.unlabelled += entry.unlabelled
        self.documents |= {document.id for document in entry.documents}

    def _add_answer(self, answer: Answer) -> None:
        self.answers.add(answer.id)
        self.answer_words += len(answer.text.split())
        for claim in answer.claims:
            cited = {citation.document or citation.marker for citation in claim.citations}
            self.claims += 1
            self.cited_claims += bool(cited)
            self.multi_cited_claims += len(cited) > 1
            self.answer_citations += len(cited)

    @property
    def record(self) -> dict[str, object]:
        """The counts by name, without those that are 0."""
        types = Counter(self.questions.values())
        found: dict[str, object] = {
            "questions": len(self.questions),
            **({f"questions: {type}": n for type, n in sorted(types.items())} if set(types) - {"untyped"} else {}),
            "questions with gold": len(self.gold),
            "gold documents": len(self.gold_documents),
            "gold nuggets": self.nuggets,
            "vital nuggets": self.vital,
            "answers": len(self.answers),
            "sentences of answers": self.claims,
            "sentences that cite": self.cited_claims,
            "sentences with several sources": self.multi_cited_claims,
            "citations of answers": self.answer_citations,
            **{f"labels of citations: {label}": n for label, n in sorted(self.judgements.items())},
            "labelled citations": sum(self.citations.values()),
            **{f"labelled citations: {label}": n for label, n in sorted(self.citations.items())},
            **({f"as the data say: {label}": n for label, n in sorted(self.native.items())} if self._renamed else {}),
            "claims without labels": self.unlabelled,
            "documents": len(self.documents),
        }
        if self.answers:
            found["words an answer"] = round(self.answer_words / len(self.answers), 1)
        if self.cited_claims:
            found["citations a sentence that cites"] = round(self.answer_citations / self.cited_claims, 2)
        return {name: value for name, value in found.items() if value}

    @property
    def _renamed(self) -> bool:
        return self.native.keys() != self.citations.keys()
