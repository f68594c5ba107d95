"""Data sets by name, and how ``NAME:FILE`` is read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from vericite import environment
from vericite.datasets import attributed, claims, questions
from vericite.datasets.entry import DataSet, DatasetCounts, Entry, Gives
from vericite.environment import DATA
from vericite.errors import InputError, Problems, UnknownNameError
from vericite.records import STDIN, Answer, Document, Gold, LabelledCitation, Labels, Question, Record
from vericite.registry import Registry

_OWN = {known.name: known for known in (*questions.SETS, *attributed.SETS, *claims.SETS)}

SETS = Registry("data set", _OWN, "vericite.datasets", DataSet)
"""Data sets by name; another package may add a ``DataSet``."""


Found = TypeVar("Found")


@dataclass(frozen=True)
class DatasetSource:
    """A data set with the files or folders to read.

    Attributes:
        set: The data set.
        part: The part to read; empty for all.
        paths: The files or folders.
    """

    set: DataSet
    part: str
    paths: tuple[Path, ...]

    @property
    def name(self) -> str:
        """The name with its part, without files."""
        return f"{self.set.name}/{self.part}" if self.part else self.set.name

    @property
    def leakage(self) -> str | None:
        """Warning about shipped models that were trained on the data set, or None."""
        if not self.set.trained_on:
            return None
        return f"shipped models were trained on parts of {self.set.name}: {'; '.join(self.set.trained_on)}"

    def entries(self, problems: Problems) -> Iterator[Entry]:
        """Return the entries; errors of unusable records are appended to ``problems``.

        Raises:
            InputError: A file cannot be read, or has no records of the data set.
        """
        return problems.kept(self.set.entries(self.paths, self.part))

    def questions(self, problems: Problems) -> list[Question]:
        """Return the questions, each id once."""
        found: dict[str, Question] = {}
        for entry in self.entries(problems):
            if entry.question is not None:
                found.setdefault(entry.question.id, entry.question)
        return list(self._some(found, "questions").values())

    def gold(self, problems: Problems) -> dict[str, Gold]:
        """Return the gold by question; parts from several files (topics, judgements) are merged."""
        found: dict[str, Gold] = {}
        for entry in self.entries(problems):
            if entry.gold is not None:
                before = found.get(entry.gold.id)
                found[entry.gold.id] = entry.gold if before is None else _merged(before, entry.gold)
        return self._some(found, "gold")

    def answers(self, problems: Problems) -> list[Answer]:
        """Return the answers."""
        found = {entry.answer.id: entry.answer for entry in self.entries(problems) if entry.answer is not None}
        return list(self._some(found, "answers").values())

    def labels(self, problems: Problems) -> dict[str, Labels]:
        """Return the assessors' labels by answer."""
        found = {entry.labels.id: entry.labels for entry in self.entries(problems) if entry.labels is not None}
        return self._some(found, "labels")

    def citations(self, problems: Problems) -> Iterator[LabelledCitation]:
        """Yield the labelled citations."""
        for entry in self.entries(problems):
            yield from entry.citations

    def documents(self, problems: Problems) -> Iterator[Document]:
        """Yield the documents, each id once."""
        seen = set[str]()
        for entry in self.entries(problems):
            for document in entry.documents:
                if document.id not in seen:
                    seen.add(document.id)
                    yield document

    def kind_named(self, name: str) -> Gives:
        """The kind of record of this name.

        Raises:
            UnknownNameError: The data set has nothing of this kind.
        """
        kind: Gives | None = next((known for known in self.set.gives if known == name), None)
        if kind is None:
            raise UnknownNameError(f"kind of record in {self.set.name}", name, self.set.gives)
        return kind

    def records(self, what: Gives, problems: Problems) -> Iterable[Record]:
        """Return all records of one kind."""
        kinds: dict[Gives, Callable[[Problems], Iterable[Record]]] = {
            "questions": self.questions,
            "gold": lambda problems: self.gold(problems).values(),
            "answers": self.answers,
            "labels": lambda problems: self.labels(problems).values(),
            "citations": self.citations,
            "documents": self.documents,
        }
        return kinds[what](problems)

    def counts(self, problems: Problems) -> DatasetCounts:
        """Count the entries."""
        found = DatasetCounts()
        for entry in self.entries(problems):
            found.add(entry)
        return found

    def _some(self, found: dict[str, Found], what: str) -> dict[str, Found]:
        if not found:
            gives = ", ".join(self.set.gives)
            names = ", ".join(map(str, self.paths))
            raise InputError(f"expected {what} in {names}; found none. {self.set.name} gives {gives}.")
        return found


def _merged(first: Gold, second: Gold) -> Gold:
    documents = {**first.documents, **second.documents}
    known = {name: value for name, value in second if value and not getattr(first, name)}
    return first.model_copy(update={**known, "documents": Gold(id=first.id, documents=documents).documents})


def is_named(text: str) -> bool:
    """Whether a text names a data set, such as ``bioasq:FILE``, ``mirage/bioasq`` or ``mirage:bioasq``."""
    name = text.partition(":")[0].partition("/")[0]
    return name in SETS and not Path(text).exists() and (":" in text or text in SETS or "/" in text)


def source_named(text: str) -> DatasetSource:
    """Return the data set of ``NAME:FILE``, ``NAME/PART:FILE``, ``NAME:PART`` or ``NAME``.

    Without a file, its files are looked up in the folder ``VERICITE_DATA``.

    Raises:
        UnknownNameError: There is no such data set, or no such part.
        InputError: There is no such file, or no folder of data sets.
    """
    first, _, rest = text.partition(":")
    name, _, part = first.partition("/")
    known = SETS.named(name)
    if not part and rest in known.parts and not Path(rest).exists():
        part, rest = rest, ""
    if part and part not in known.parts:
        if not known.parts:
            raise InputError(f"expected {name} without a part, which it does not have; found {part!r}. Omit the part.")
        raise UnknownNameError(f"part of {name}", part, known.parts)
    paths = (Path(rest).expanduser(),) if rest else tuple(_usual(known))
    for path in paths:
        if path != STDIN and not path.exists():
            raise InputError(f"expected a file of {known.title} in {path}; found none. Get it from {known.where}")
    return DatasetSource(known, part, paths)


def describe_data(path: Path | None) -> dict[str, object] | None:
    """Return what a run's manifest says about its data set; None for a file that is not named as a data set."""
    if path is None or not is_named(str(path)):
        return None
    source = source_named(str(path))
    files = list(map(str, source.paths))
    return {"set": source.name, "files": files, "licence": source.set.licence, "leakage": list(source.set.trained_on)}


def found_files(known: DataSet, folder: Path | None = None) -> list[Path]:
    """Return the data set's usual files that exist in the folder of data sets."""
    base = folder or _folder()
    return [] if base is None else [base / name for name in known.usual if (base / name).exists()]


def missing_files(known: DataSet) -> list[str]:
    """Return the data set's usual files that the folder of data sets lacks."""
    base = _folder()
    return [] if base is None else [name for name in known.usual if not (base / name).exists()]


def _folder() -> Path | None:
    return environment.existing(DATA, "folder")


def _usual(known: DataSet) -> Iterable[Path]:
    if _folder() is None:
        raise InputError(
            f"expected a file, as in {known.name}:FILE, or a folder of data sets in {DATA}; found neither. "
            f"Get {known.title} from {known.where}"
        )
    if found := found_files(known):
        return found
    wanted = ", ".join(known.usual) or "none of its files has a usual place there"
    raise InputError(
        f"expected files of {known.title} in {_folder()} ({wanted}); found none. Get them from {known.where}, "
        f"and name one: {known.name}:FILE"
    )
