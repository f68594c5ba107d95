"""What a data set is, what a record of it gives, and what it counts to."""

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
    """What one record gives, as far as it has it."""

    question: Question | None = None
    gold: Gold | None = None
    answer: Answer | None = None
    labels: Labels | None = None
    citations: tuple[LabelledCitation, ...] = ()
    documents: tuple[Document, ...] = ()
    unlabelled: int = 0
    """Claims whose labels the set keeps to itself, as those of a test on a leaderboard."""


@dataclass(frozen=True)
class Reading:
    """A file of a data set that is being read.

    Attributes:
        path: The file, one of those that were named.
        part: The part that was asked for; empty for all.
    """

    path: Path
    part: str = ""

    def beside(self, name: str) -> Path | None:
        """A file beside it, if it is there."""
        found = self.path.parent / name
        return found if found.exists() else None


ReadFile = Callable[[Reading], Iterator[Entry | RecordError]]
"""The entries of a file; a record that cannot be used comes out as its error."""


@dataclass(frozen=True)
class DataSet:
    """A data set that comes in by name.

    Attributes:
        name: As it is called on the command line.
        title: As people call it.
        about: What it is.
        gives: What can be had of it.
        shape: The fields that a record must have, as an error names them.
        where: Where to get it.
        licence: Under which terms.
        read: Its reader.
        parts: Parts that can be asked for, such as a split.
        trained_on: What of ours was trained on it, and on which part. None was where it is empty.
        usual: Its files or folders in a folder of data sets, for use without naming a file.
        copies: Folders of it that hold the same records again; they are read where they are named alone.
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
        """What is in these files or folders.

        Raises:
            InputError: A file cannot be read, or holds nothing of this data set.
        """
        listed = list(paths)
        first: RecordError | None = None
        usable = False
        for path in (file for it in listed for file in files_in(it) if not self._copied(file, it)):
            for entry in self.read(Reading(path, part)):
                usable = usable or isinstance(entry, Entry)
                first = first or (entry if isinstance(entry, RecordError) else None)
                yield entry
        if not usable:
            problem = f" The first problem: {first}" if first else ""
            names = ", ".join(map(str, listed))
            raise InputError(f"expected {self.title} in {names}: {self.shape}; found none.{problem}")

    def _copied(self, file: Path, named: Path) -> bool:
        return not set(self.copies).isdisjoint(file.relative_to(named).parts)


Make = Callable[[Row, Reading], Entry | Iterable[Entry]]
"""What a row gives; ``RecordError`` if it is no record of the data set."""


def each_row(make: Make, under: tuple[str, ...] = ()) -> ReadFile:
    """A reader that makes entries of each row of a file, where a row that is none costs itself alone."""

    def read(reading: Reading) -> Iterator[Entry | RecordError]:
        for row in read_rows(reading.path, under):
            if isinstance(row, RecordError):
                yield row
            else:
                yield from from_row(row, lambda row: make(row, reading))

    return read


def from_row(row: Row, make: Callable[[Row], Entry | Iterable[Entry]]) -> list[Entry | RecordError]:
    """What a row gives; a value that a record refuses is the row's error."""
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
    """How much there is of each thing; questions, answers and documents once by their ids."""

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
        """Count what an entry gives."""
        if entry.question is not None:
            self.questions.setdefault(entry.question.id, entry.question.type or "untyped")
        if entry.gold is not None:
            relevant = (id for id, grade in entry.gold.documents.items() if grade > 0)
            self.gold_documents |= {(entry.gold.id, id) for id in relevant}
        if entry.gold is not None and entry.gold.id not in self.gold:
            self.gold.add(entry.gold.id)
            self.nuggets += len(entry.gold.nuggets or ())
            self.vital += sum(it.vital for it in entry.gold.nuggets or ())
        if entry.answer is not None and entry.answer.id not in self.answers:
            self._add_answer(entry.answer)
        for one in entry.labels.citations or () if entry.labels else ():
            self.judgements[one.label] += 1
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
        """The counts by what they are of, those that are 0 left out."""
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
            **({f"as the data say: {it}": n for it, n in sorted(self.native.items())} if self._renamed else {}),
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
