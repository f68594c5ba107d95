"""Building a pool from training questions, one line a question, so that a build that was stopped goes on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, NamedTuple, TextIO, TypeVar

from pydantic import Field, ValidationError

from vericite.errors import EntrezAccessError, EntrezError, InputError
from vericite.generate.demonstrations.attribution import ATTRIBUTION, cited_answer, evidence_for
from vericite.generate.demonstrations.pool import Exemplar, label_of
from vericite.generate.demonstrations.rationales import NoReply, RationaleWriter, Unusable
from vericite.records import SCHEMA_VERSION, Document, Names, Question, Record, read_jsonl, to_json
from vericite.text.references import reference_key

MOST_DOCUMENTS = 3
"""Documents an exemplar shows, if nothing else is said: four of it are then about as long as twelve abstracts."""

_Line = TypeVar("_Line", "Exemplar", "LeftOut")

_FRONT = b'{"schema_version":'
"""How every line begins."""


class LeftOut(Record):
    """A training question that makes no exemplar, and why; it is not tried again."""

    schema_version: int = Field(default=SCHEMA_VERSION, ge=1, le=SCHEMA_VERSION)
    id: str = Field(min_length=1)
    question: str
    reason: str
    made_by: Names


@dataclass(frozen=True)
class Built:
    """What a build did.

    Attributes:
        made: Exemplars it made.
        before: Questions that were done before.
        left_out: By reason, questions that make none, those of before among them.
        failed: By id, why a question could not be tried; the next build tries it again.
    """

    made: int
    before: int
    left_out: Counter[str]
    failed: dict[str, str]


class _Task(NamedTuple):
    question: Question
    documents: tuple[Document, ...]


class _Failed(NamedTuple):
    id: str
    reason: str


def build_pool(
    questions: Iterable[Question],
    evidence: Callable[[Question], Sequence[Document]],
    to: Path,
    writer: RationaleWriter | None = None,
    most: int = MOST_DOCUMENTS,
    progress: Callable[[Built], None] | None = None,
) -> Built:
    """Make exemplars of training questions and add them to a file.

    A line is on disk before the next question's is written. Questions that the file has, and those that were left out
    (``to`` with ``.left-out`` behind it), are not tried again; a last line that was torn is.

    Args:
        questions: With their gold documents and answers. None may be of a test set.
        evidence: Gives a question its gold documents; ``InputError`` where they are not to be had.
        to: The pool's file.
        writer: Who writes rationales; None to have none.
        most: Documents an exemplar shows.
        progress: Told after each question.

    Raises:
        InputError: The file is no pool, or was made in another way, or from other questions of the same ids.
        LLMAccessError: Every call to the language model would fail alike. What was made before is in the file.
        EntrezAccessError: The same of NCBI.
    """
    if most < 1:
        raise InputError(f"expected exemplars to show at least 1 document; found {most}. Raise it.")
    build = _Build(to, most, writer)
    with build.kept.open() as kept, build.passed.open() as passed:
        for item in build.run(questions, evidence):
            if isinstance(item, _Failed):
                build.built.failed[item.id] = item.reason
            else:
                (kept if isinstance(item, Exemplar) else passed).add(item)
                build.count(item)
            if progress is not None:
                progress(build.state)
    return build.state


class _Build:
    """One build: what is there already, and how the rest is made."""

    def __init__(self, to: Path, most: int, writer: RationaleWriter | None) -> None:
        self._most, self._writer = most, writer
        self._made_by = {"answer": ATTRIBUTION, "evidence": f"gold documents, {most} at most"}
        if writer is not None:
            self._made_by["rationale"] = writer.signature
        self.kept = _Lines(to)
        self.passed = _Lines(to.with_name(f"{to.name}.left-out"))
        exemplars, left_out = self.kept.read(Exemplar), self.passed.read(LeftOut)
        self._done = {line.id: line.question for line in (*exemplars, *left_out)}
        for line in (*exemplars, *left_out):
            if line.made_by != self._made_by:
                raise InputError(
                    f"expected {to} to hold what is made by {self._made_by}; found {line.id!r} made by "
                    f"{dict(line.made_by)}. Write to another file, or ask for the same again."
                )
        self.built = Built(0, 0, Counter(line.reason for line in left_out), {})
        self._made = self._before = 0

    @property
    def state(self) -> Built:
        """What was done so far."""
        return Built(self._made, self._before, self.built.left_out, self.built.failed)

    def count(self, item: Exemplar | LeftOut) -> None:
        """Note what was written."""
        if isinstance(item, Exemplar):
            self._made += 1
        else:
            self.built.left_out[item.reason] += 1

    def run(
        self, questions: Iterable[Question], evidence: Callable[[Question], Sequence[Document]]
    ) -> Iterator[Exemplar | LeftOut | _Failed]:
        """What becomes of each question that is not done."""
        tasks = (self._task(question, evidence) for question in questions if not self._is_done(question))
        if self._writer is not None:
            yield from self._writer.llm.each(tasks, self._reasoned)
        else:
            for task in tasks:
                yield task if isinstance(task, _Failed) else self._exemplar(task, None)

    def _is_done(self, question: Question) -> bool:
        before = self._done.get(question.id)
        if before is None:
            self._done[question.id] = question.text
            return False
        if before != question.text:
            raise InputError(
                f"expected question {question.id!r} to be the same as before; found {question.text[:200]!r}, and "
                f"before {before[:200]!r}. Give each its own id, or write to another file."
            )
        self._before += 1
        return True

    def _task(self, question: Question, evidence: Callable[[Question], Sequence[Document]]) -> _Task | _Failed:
        try:
            documents = list(evidence(question))
        except EntrezAccessError:
            raise
        except (InputError, EntrezError) as error:
            return _Failed(question.id, str(error))
        usable = [document for document in documents if document.text and not document.retracted]
        if not usable:
            return _Failed(question.id, "expected a gold document with a text that is not retracted; found none")
        return _Task(question, evidence_for(question.gold_ideal, usable, self._most))

    async def _reasoned(self, task: _Task | _Failed) -> Exemplar | LeftOut | _Failed:
        assert self._writer is not None
        if isinstance(task, _Failed):
            return task
        if not task.question.gold_exact and not task.question.gold_ideal:
            return self._left_out(task.question, "the question has no right answer")
        try:
            rationale = await self._writer.write(*task)
        except Unusable as reason:
            return self._left_out(task.question, str(reason))
        except NoReply as reason:
            return _Failed(task.question.id, str(reason))
        return self._exemplar(task, rationale)

    def _exemplar(self, task: _Task, rationale: str | None) -> Exemplar | LeftOut:
        question, documents = task
        answer = cited_answer(question.gold_ideal, documents)
        final = _final(question)
        if answer is None and (rationale is None or final is None):
            return self._left_out(question, "no sentence of the right answer has its words in a document")
        articles = (reference_key(name) for name in question.gold_documents)
        return Exemplar(
            id=question.id,
            question=question.text,
            type=question.type,
            label=label_of(question),
            documents=documents,
            articles=tuple(sorted(set(articles))),
            answer=answer,
            rationale=rationale,
            final=final,
            made_by=self._made_by,
        )

    def _left_out(self, question: Question, reason: str) -> LeftOut:
        return LeftOut(id=question.id, question=question.text, reason=reason, made_by=self._made_by)


def _final(question: Question) -> str | None:
    """The right answer in a word, an item's first name for each item; else the reference answer."""
    exact = "; ".join(item[0] for item in question.gold_exact if item)
    return exact or next((answer for answer in question.gold_ideal if answer.strip()), None)


class _Lines:
    """A file that lines are added to, whole ones."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: TextIO | None = None

    def read(self, kind: type[_Line]) -> list[_Line]:
        """The lines there are. A last one that was torn as it was written is taken out of the file."""
        if not self.path.exists():
            return []
        try:
            with self.path.open("r+b") as file:
                _mend(file, kind, self.path)
        except OSError as error:
            raise InputError(
                f"expected a file that can be read and written; found {self.path}: {error.strerror}"
            ) from None
        return list(read_jsonl(kind, self.path))

    def open(self) -> _Lines:
        """To add to it."""
        try:
            self._file = self.path.open("a", encoding="utf-8", newline="\n")
        except OSError as error:
            raise InputError(f"expected a file that can be written; found {self.path}: {error.strerror}") from None
        return self

    def add(self, line: Record) -> None:
        """Write a line; it is with the operating system when this returns."""
        assert self._file is not None, "it is open"
        self._file.write(to_json(line) + "\n")
        self._file.flush()

    def __enter__(self) -> _Lines:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()


def _mend(file: BinaryIO, kind: type[_Line], path: Path) -> None:
    """Give a last line its end, or take it out where it is torn."""
    content = file.read()
    start = content.rfind(b"\n") + 1
    last = content[start:]
    if not last:
        return
    try:
        kind.model_validate_json(last)
    except ValidationError:
        # What we never wrote is not ours to cut.
        if not last.startswith(_FRONT[: len(last)]):
            raise InputError(
                f"expected {path} to be a pool that demonstrations build made; found another file"
            ) from None
        file.truncate(start)
    else:
        file.write(b"\n")
