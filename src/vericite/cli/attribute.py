"""``vericite attribute`` and ``repair``: add citations to answers without any, and repair rejected ones."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from vericite.cli.io import clean, count_lines, say_json
from vericite.cli.options import DocumentsOption, FormatOption
from vericite.cli.plans import takes_plan
from vericite.cli.refusals import code_of_count, prepare_output, refuse_same, report
from vericite.cli.workers import (
    Making,
    Shared,
    local_copy,
    made_by,
    shared_of,
)
from vericite.errors import Problems
from vericite.pipeline.plan import Plan

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vericite.attribution.attributor import Attribution, Attributor
    from vericite.cli.terminal import Terminal
    from vericite.corpus.store import Store
    from vericite.errors import RecordError
    from vericite.records import Answer, Document, Repaired
    from vericite.scale import AttributeWork


_STOPPED = "stopped; {} cited answers are in"
_LACKING = {"likeliest": ("cyan", "likeliest"), "none": ("yellow", "no source"), "failed": ("red", "failed")}


@takes_plan("attribute")
def attribute(
    ctx: typer.Context,
    plan: Plan,
    file: Annotated[
        Path,
        typer.Argument(
            help="An answer as text (.txt, .md), or JSONL of answers in any format that check reads; or s3://bucket/file."
        ),
    ],
    documents: Annotated[
        Path | None,
        typer.Option(
            "--documents",
            "--corpus",
            help='JSONL of sources, for answers that come without sources: {"id", "title"?, "text"}; or a store made '
            "by corpus build, which is searched for each sentence.",
        ),
    ] = None,
    by: Annotated[
        str | None,
        typer.Option(
            help="How to find sources: learned (default; with --judge or --protocol: verifier), verifier, "
            "likeliest, random, head:FOLDER, hf:FOLDER, llm:MODEL.",
            metavar="NAME",
        ),
    ] = None,
    keep: Annotated[
        bool, typer.Option("--keep", help="Leave sentences that already cite something as they are.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print each answer, with all scores, as JSON.")] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Write the cited answers to this file, in a format that check reads; an answer as text also to "
            ".md or .txt, with its sources listed."
        ),
    ] = None,
    format: FormatOption = "auto",
) -> None:
    """Find the sources of each sentence of an answer, and cite them before its full stop.

    Citations that an answer already has are removed first, unless you give --keep. Sentences that no source supports
    stay without a citation and are listed. A record that cannot be used is reported and skipped; the exit code
    is then 2.
    """
    from vericite.attribution.registry import default_attributor, load_attributor
    from vericite.cli.show import show_ledger
    from vericite.cli.terminal import ProgressLine
    from vericite.models.contracts import ledger_of
    from vericite.pipeline.build import judge_of, protocol_of, settings_of
    from vericite.scale.work import AttributeWork

    refuse_same(out, file, documents)
    prepare_output(out, is_shared=plan.workers.ray is not None)
    if plan.workers.ray is not None or not _is_one_text(file, format):
        _refuse_text(out)
    shared = shared_of(ctx, plan.workers, out)
    file = local_copy(ctx, file)
    problems = Problems()
    settings = settings_of(plan.llm)
    judged_by = judge_of(plan.check, settings)
    by = by or default_attributor(plan.check.protocol, plan.check.judge)
    attributor = load_attributor(by, protocol_of(plan.check, judged_by), settings)
    answers = _answers(_Given(file, format, documents), problems)
    number = 0
    try:
        progress = ProgressLine("attributing", "answers", count_lines(file))
        made = (
            _attributed(attributor, answers, keep, out)
            if shared is None
            else _attributed_by_workers(
                AttributeWork(by=by, check=plan.check, llm=plan.llm, keep=keep), answers, shared
            )
        )
        with progress.running(), closing(made) as attributions:
            for number, found in enumerate(attributions, start=1):
                progress.update(number)
                _show(found, as_json)
    finally:
        # Also shown for a stopped run: its calls were paid for.
        show_ledger(ledger_of(attributor))
        show_ledger(ledger_of(judged_by))
    report(problems, code_of_count(number))


def _attributed(
    attributor: Attributor, answers: Iterator[Answer], keep: bool, out: Path | None
) -> Generator[Attribution]:
    """Yield the attributions, and write the answers to the file if there is one."""
    from vericite.cli.io import output
    from vericite.formats import AnswerToCheck
    from vericite.formats.files import MARKDOWN_FILES
    from vericite.reporting.written import cited_text

    with output(out, _STOPPED) as written:
        for found in attributor.attributions(answers, keep=keep):
            if written is not None and _is_text(out):
                written.write([cited_text(found.answer, out is not None and out.suffix.lower() in MARKDOWN_FILES)])
            elif written is not None:
                written.add([AnswerToCheck.of(found.answer)])
            yield found


def _attributed_by_workers(work: AttributeWork, answers: Iterator[Answer], shared: Shared) -> Generator[Attribution]:
    """Yield the attributions made by workers."""
    from vericite.attribution.attributor import Attribution
    from vericite.formats import AnswerToCheck

    making = Making(
        Attribution,
        lambda attribution: AnswerToCheck.of(attribution.answer),
        lambda attribution: len(attribution.sentences),
        "sentences",
        _STOPPED,
    )
    with closing(made_by(shared, work, answers, making)) as made:
        for _, found in made:
            yield found


class _Given(NamedTuple):
    """The file of answers, and the sources that they may cite."""

    file: Path
    format: str
    documents: Path | None


def _answers(given: _Given, problems: Problems) -> Iterator[Answer]:
    """Yield the answers with the sources that they may cite; unusable records are appended to ``problems``."""
    from vericite.cli.answers import watched
    from vericite.corpus.retractions import known_retractions
    from vericite.errors import RecordError

    items = watched(_records(given, problems), given.file, given.documents is not None)
    sourced = (
        item if isinstance(item, RecordError) else _unusable(item, given.file, number) or item
        for number, item in enumerate(items, start=1)
    )
    return map(known_retractions().flagged_answer, problems.kept(sourced))


def _records(given: _Given, problems: Problems) -> Iterator[Answer | RecordError]:
    from vericite.cli.answers import read_library
    from vericite.errors import RecordError
    from vericite.formats import answers_in
    from vericite.retrieve.lookup import is_lookup_source

    if given.documents is not None and is_lookup_source(str(given.documents)):
        yield from _with_store(given, problems)
        return
    library = read_library(given.documents, problems)
    if _is_one_text(given.file, given.format):
        if (answer := _text(given.file, library)).text.strip():
            yield answer
        return
    for item in answers_in(given.file, given.format, library):
        yield item if isinstance(item, RecordError) else _sourced(item, library)


def _is_one_text(file: Path, format: str) -> bool:
    """Whether a file is read as one answer in plain text or Markdown."""
    from vericite.formats.files import TEXT_FILES, suffix_of

    return suffix_of(file) in TEXT_FILES and format == "auto"


def _is_text(out: Path | None) -> bool:
    from vericite.formats.files import TEXT_FILES

    return out is not None and out.suffix.lower() in TEXT_FILES


def _refuse_text(out: Path | None) -> None:
    """Refuse to write records to a file whose name says that it is a text.

    Raises:
        InputError: The name ends in .md or .txt.
    """
    from vericite.errors import InputError

    if out is not None and _is_text(out):
        raise InputError(
            f"expected --out to name a file of records; found {out}. Write {out.with_suffix('.jsonl')}, "
            "which check reads"
        )


_FOUND_FOR_A_SENTENCE = 5
"""Documents of a store to consider for each sentence of an answer."""

_FOUND_FOR_AN_ANSWER = 50


def _with_store(given: _Given, problems: Problems) -> Iterator[Answer | RecordError]:
    """Yield the answers, each with the documents that a store finds for its sentences."""
    from vericite.corpus.store import open_store
    from vericite.errors import InputError, RecordError
    from vericite.formats import answers_in
    from vericite.retrieve.lookup import PUBMED

    if str(given.documents) == PUBMED:
        raise InputError(
            "expected --documents to be a file or a store; found pubmed, which this command does not search. "
            "Build a store first: vericite corpus build pubmed:QUERY --to STORE"
        )
    store = open_store(str(given.documents))
    if _is_one_text(given.file, given.format):
        answers: Iterator[Answer | RecordError] = iter([_text(given.file, None)])
    else:
        # Libraries only look up names; here each sentence is searched for.
        answers = answers_in(given.file, given.format)
    for item in answers:
        yield item if isinstance(item, RecordError) else _sourced_from(item, store)


def _sourced_from(answer: Answer, store: Store) -> Answer:
    """Return the answer with the store's documents for its sentences, the best of each sentence first."""
    own = {document.id for document in answer.documents}
    found = [store.search(claim.text, _FOUND_FOR_A_SENTENCE) for claim in answer.claims if claim.text.strip()]
    ranked = [hits[place].document for place in range(_FOUND_FOR_A_SENTENCE) for hits in found if place < len(hits)]
    more = {document.id: document for document in ranked if document.id not in own}
    return answer.model_copy(update={"documents": (*answer.documents, *list(more.values())[:_FOUND_FOR_AN_ANSWER])})


def _text(file: Path, documents: Sequence[Document] | None) -> Answer:
    from vericite.errors import InputError
    from vericite.records import LONGEST_LINE, open_bytes
    from vericite.text.citations import parse_answer

    try:
        with open_bytes(file) as stream:
            raw = stream.read(LONGEST_LINE)
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"expected a readable text; found {file}: it is not UTF-8") from None
    if documents is not None and not documents:
        raise InputError(f"expected the sources of the answer in {file}; found none. Give them with --documents FILE")
    return parse_answer(file.name.split(".", 1)[0] or "answer", text, documents or ())


def _sourced(answer: Answer, library: Sequence[Document]) -> Answer:
    """Return the answer; if it has no documents of its own, it may cite all those of the file."""
    known = {document.id for document in library}
    if not all(document.id in known for document in answer.documents):
        return answer
    own = {document.id for document in answer.documents}
    more = tuple(document for document in library if document.id not in own)
    return answer.model_copy(update={"documents": (*answer.documents, *more)})


def _unusable(answer: Answer, file: Path, number: int) -> RecordError | None:
    from vericite.attribution.attributor import MOST_DOCUMENTS
    from vericite.errors import RecordError

    count = len(answer.documents)
    if 0 < count <= MOST_DOCUMENTS:
        return None
    found = "none. Give them in the record or with --documents FILE" if not count else f"{count}"
    return RecordError(file, number, "documents", f"expected 1 to {MOST_DOCUMENTS} sources; found {found}")


def _show(found: Attribution, as_json: bool) -> None:
    from rich.text import Text

    from vericite.cli.terminal import Terminal
    from vericite.records import to_json
    from vericite.reporting.written import cited_text

    if as_json:
        say_json(to_json(found))
        return
    console = Terminal()
    console.print(Text(found.answer.id, style="bold"))
    for line in cited_text(found.answer, is_markdown=False).splitlines():
        console.print(Text(clean(line)))
    likely = f", {len(found.likeliest)} with likeliest sources only" if found.likeliest else ""
    lacking = f"{len(found.uncited)} without a source{likely}, {len(found.failed)} failed"
    console.print(Text(f"{len(found.sentences)} sentences, {lacking}", style="dim"))
    for sentence in (*found.likeliest, *found.uncited, *found.failed):
        style, label = _LACKING[sentence.how]
        reason = f"  ({sentence.reasons[0]})" if sentence.reasons else ""
        console.print(Text.assemble((label, style), "  ", clean(sentence.text), (clean(reason), "dim")))
    console.print()


@takes_plan("repair")
def repair(
    plan: Plan,
    file: Annotated[Path, typer.Argument(help="JSONL of answers, in any format that check reads.")],
    documents: DocumentsOption = None,
    out: Annotated[
        Path | None, typer.Option(help="Write the repaired answers to this file, in a format that check reads.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print each answer, with its changes, as JSON.")] = False,
    format: FormatOption = "auto",
) -> None:
    """Repair the citations that the verifier rejects, and show the changes.

    A rejected citation is dropped if the sentence has another, supported one, or replaced by a document that supports
    the sentence. Otherwise the sentence is rewritten so that its source supports it, or deleted. Supported sentences
    are not changed. A record that cannot be used is reported and skipped; the exit code is then 2.
    """
    from vericite.cli.answers import read_answers
    from vericite.cli.io import output
    from vericite.cli.show import show_ledger
    from vericite.cli.terminal import ProgressLine, Terminal
    from vericite.corpus.retractions import known_retractions
    from vericite.formats import AnswerToCheck
    from vericite.models.contracts import ledger_of
    from vericite.pipeline.build import build_repairer

    refuse_same(out, file, documents)
    prepare_output(out)
    _refuse_text(out)
    problems = Problems()
    repairer = build_repairer(plan, problems)
    console = Terminal()
    totals = RepairTotals()
    try:
        progress = ProgressLine("repairing", "answers", count_lines(file))
        with progress.running(), output(out, "stopped; {} repaired answers are in") as written:
            answers = map(known_retractions().flagged_answer, read_answers(file, format, documents, problems))
            for found in repairer.repair_many(answers):
                totals.add(found)
                progress.update(totals.answers)
                _show_repaired(console, found, as_json)
                if written is not None:
                    written.add([AnswerToCheck.of(found.answer)])
    finally:
        # Also shown for a stopped run: its calls were paid for.
        show_ledger(ledger_of(repairer.rewriter))
        show_ledger(ledger_of(repairer.verifier.judge))
    if not as_json:
        console.print(totals.line)
    report(problems, code_of_count(totals.answers))


class RepairTotals:
    """Counts of the changes to all answers of a run."""

    def __init__(self) -> None:
        self.answers = self.kept = self.recited = self.rewritten = self.quoted = self.dropped = 0
        self._before = self._after = (0, 0)

    def add(self, found: Repaired) -> None:
        """Count an answer."""
        from vericite.records.results import support

        self.answers += 1
        self.kept += found.kept
        self.recited += found.count("re-cited")
        self.rewritten += found.count("rewritten")
        self.quoted += found.quoted
        self.dropped += found.count("dropped")
        self._before = _sum(self._before, support(found.before))
        self._after = _sum(self._after, support(found.checked.summary))

    @property
    def line(self) -> str:
        """The counts in one line."""
        counts = f"{self.kept} kept, {self.recited} re-cited, {self.rewritten} rewritten, {self.dropped} dropped"
        notes = [f"{self.quoted} of them quote their source and support themselves"] if self.quoted else []
        notes += [f"without those of the {self.dropped} dropped"] if self.dropped else []
        suffix = f" ({'; '.join(notes)})" if notes else ""
        return (
            f"{self.answers} answers: {counts}; citations supported {_of(self._before)} before, "
            f"{_of(self._after)} now{suffix}"
        )


def _show_repaired(console: Terminal, found: Repaired, as_json: bool) -> None:
    from rich.text import Text

    from vericite.cli.show import show_blocks
    from vericite.records import to_json
    from vericite.reporting.run_lines import changes_blocks

    if as_json:
        say_json(to_json(found))
        return
    console.print(Text(clean(found.answer.id), style="bold"))
    for line in found.answer.text.splitlines():
        console.print(Text(clean(line)))
    show_blocks(console, changes_blocks(found.changes, found.left))
    if found.deleted:
        console.print(Text(f"{found.deleted} of {found.sentences} sentences deleted", style="yellow"))
    if found.quoted:
        console.print(Text(f"{found.quoted} of {found.sentences} sentences replaced by their source's words"))
    console.print()


def _sum(first: tuple[int, int], second: tuple[int, int]) -> tuple[int, int]:
    return first[0] + second[0], first[1] + second[1]


def _of(share: tuple[int, int]) -> str:
    return f"{share[0]}/{share[1]}"
