"""Check the citations of a manuscript: every sentence that cites, against the documents that its references name."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from vericite.errors import Problems
from vericite.models.contracts import Judge
from vericite.pipeline.build import explain_of, judge_of, protocol_of, settings_of
from vericite.pipeline.check import check_many
from vericite.pipeline.plan import Plan, usual_plan
from vericite.records import (
    Answer,
    CheckedAnswer,
    Citation,
    Claim,
    Document,
    EvidenceSpan,
    Manuscript,
    Record,
    Summary,
    Verdict,
)
from vericite.records.manuscripts import ReferenceProblem, ReferenceProblemKind, ResolvedReference
from vericite.text.citations import Mention, parse_answer
from vericite.text.counted import counted

if TYPE_CHECKING:
    from vericite.corpus.manuscript.sources import WorkSource

Outcome = Literal["supported", "contradicted", "partly supported", "not found", "not judged", "source not at hand"]
"""What came of a sentence that cites. Not judged: all its sources failed, or the judge was too unsure."""

TO_REVIEW: tuple[Outcome, ...] = ("contradicted", "not found", "partly supported")
"""Outcomes to review, the worst first. Supported sentences whose source has another figure follow them."""


class CitingSentence(Record):
    """A sentence that cites, at ``start`` to ``end`` of the manuscript's text, and what came of it.

    ``missing`` are those of its keys whose source is not at hand. ``verdict`` decided the outcome, if one did.
    """

    text: str
    start: int
    end: int
    keys: tuple[str, ...]
    missing: tuple[str, ...] = ()
    page: int | None = None
    section: str = ""
    outcome: Outcome
    verdict: Verdict | None = None

    @property
    def place(self) -> str:
        """Its page and section, in words."""
        return ", ".join(filter(None, [f"page {self.page}" if self.page else "", self.section]))

    @property
    def has_other_figure(self) -> bool:
        """Whether it is supported by a source that has another figure."""
        return self.outcome == "supported" and self.verdict is not None and self.verdict.has_other_figure

    @property
    def passage(self) -> EvidenceSpan | None:
        """The sentence of the source that decided; None without one."""
        return self.verdict.evidence[0] if self.verdict and self.verdict.evidence else None


class ManuscriptCheck(Record):
    """The result of checking a manuscript.

    ``references`` has what was found for each reference. ``answer`` is made of the sentences with a source that is at
    hand, and ``checked`` has the verdicts on them; the marker of a source is the printed number of its reference, or
    its place in the list. ``unsourced`` are the sentences whose sources are all missing.
    """

    manuscript: Manuscript
    references: tuple[ResolvedReference, ...] = ()
    answer: Answer
    checked: CheckedAnswer
    unsourced: tuple[Claim, ...] = ()

    @cached_property
    def sources(self) -> Mapping[str, str]:
        """The id of the document of each reference that is at hand, by key."""
        return {key: document.id for key, document in _at_hand(self.references).items()}

    @cached_property
    def sentences(self) -> tuple[CitingSentence, ...]:
        """The sentences that cite, in the order of the text."""
        verdicts: dict[tuple[int, int], list[Verdict]] = {}
        for verdict in self.checked.verdicts:
            verdicts.setdefault((verdict.start, verdict.end), []).append(verdict)
        claims = sorted((*self.answer.claims, *self.unsourced), key=lambda claim: claim.span.start)
        missing = set(map(id, self.unsourced))
        return tuple(
            self._sentence(claim, verdicts.get((claim.span.start, claim.span.end), ()), id(claim) in missing)
            for claim in claims
        )

    def _sentence(self, claim: Claim, verdicts: Sequence[Verdict], is_missing: bool) -> CitingSentence:
        cited = self.manuscript.citations_within(claim.span.start, claim.span.end)
        keys = tuple(dict.fromkeys(key for citation in cited for key in citation.keys))
        outcome, verdict = ("source not at hand", None) if is_missing else _outcome(verdicts)
        return CitingSentence(
            text=claim.text,
            start=claim.span.start,
            end=claim.span.end,
            keys=keys,
            missing=tuple(key for key in keys if key not in self.sources),
            page=self.manuscript.page_at(claim.span.start),
            section=self.manuscript.section_at(claim.span.start),
            outcome=outcome,
            verdict=verdict,
        )

    @cached_property
    def gated(self) -> CheckedAnswer:
        """The verdicts with the counts that gates go by.

        A sentence without a source at hand is dangling. If its note could not be read, whether its source is against
        it is unknown, and it counts as failed. A retracted reference without a text is a citation, too, wherever it is
        cited.
        """
        unread, retracted = self._with_problem("could not be read"), self._with_problem("retracted")
        counts = Summary()
        for item in self.sentences:
            gone = len(retracted.intersection(item.missing))
            if item.outcome != "source not at hand":
                counts += Summary(citations=gone, retracted=gone)
                continue
            failed = int(not unread.isdisjoint(item.keys))
            counts += Summary(claims=1, citations=max(1, gone), dangling=1 - failed, failed=failed, retracted=gone)
        return self.checked.model_copy(update={"summary": self.checked.summary + counts})

    def _with_problem(self, kind: ReferenceProblemKind) -> set[str]:
        """Return the keys of the references with a problem of this kind."""
        return {found.key for found in self.references if any(problem.kind == kind for problem in found.problems)}

    @cached_property
    def counts(self) -> Mapping[str, int]:
        """The number of sentences by outcome."""
        return Counter(sentence.outcome for sentence in self.sentences)

    @property
    def summary(self) -> str:
        """The result in a sentence."""
        counts = self.counts
        kinds = [{problem.kind for problem in found.problems} for found in self.references if found.reference]
        told = {kind: sum(kind in own for own in kinds) for kind in _COUNTED}
        references = [f"{count} {kind}" for kind, count in told.items() if count]
        differ = sum(bool(own.difference(_COUNTED, ABOUT_SOURCES)) for own in kinds)
        references += [f"{differ} with {'other ' if references else ''}problems"] if differ else []
        parts = [
            f"{counts['supported']} {_are(counts['supported'])} supported{self._other_figures}",
            _verb(counts["contradicted"], "contradicts its source", "contradict their source"),
            _verb(counts["partly supported"], "is partly supported", "are partly supported"),
            _verb(counts["not found"], "is not found in its source", "are not found in their source"),
            f"{counts['not judged']} could not be judged" if counts["not judged"] else "",
            _verb(counts["source not at hand"], "has no source at hand", "have no source at hand"),
        ]
        listed = counted(len(self.manuscript.references), "reference")
        listed += f" ({', '.join(references)})" if references else ""
        sentences = counted(len(self.sentences), "citing sentence")
        return f"{sentences}, {listed}: " + ", ".join(filter(None, parts)) + "." + self._unlisted + self._unasked

    @property
    def _unlisted(self) -> str:
        """The keys that the text cites and the list lacks, in a sentence; empty without any."""
        keys = [f"[{found.key}]" for found in self.references if found.reference is None]
        if not keys:
            return ""
        named = ", ".join(keys[:_NAMED]) + (f" and {len(keys) - _NAMED} more" if len(keys) > _NAMED else "")
        return f" {named} {_are(len(keys))} cited but not in the list of references."

    @property
    def _other_figures(self) -> str:
        """How many supported sentences have another figure than their source, in words; empty if none has."""
        count = sum(sentence.has_other_figure for sentence in self.sentences)
        return f" ({count} with another figure than {'its' if count == 1 else 'their'} source)" if count else ""

    @property
    def to_review(self) -> tuple[CitingSentence, ...]:
        """The sentences that a person should look at, the worst first."""
        found = [sentence for outcome in TO_REVIEW for sentence in self.sentences if sentence.outcome == outcome]
        return (*found, *(sentence for sentence in self.sentences if sentence.has_other_figure))

    @property
    def _unasked(self) -> str:
        """The sources that could not be asked, in a sentence; empty if all could."""
        failed = [problem for found in self.references for problem in found.problems if _is_failure(problem)]
        names = ", ".join(dict.fromkeys(name for problem in failed for name in problem.given.split(", ")))
        why = " (offline)" if any(problem.is_offline for problem in failed) else ""
        return f" Could not be asked for {counted(len(failed), 'reference')}: {names}{why}." if failed else ""

    @property
    def every_lookup_failed(self) -> bool:
        """Whether all look-ups of all references failed, so that nothing is known of any."""
        known = [found.problems for found in self.references if found.reference]
        return bool(known) and all(any(map(_is_failure, problems)) for problems in known)


_COUNTED = ("not found", "retracted")
_NAMED = 8
"""Maximum number of keys that a sentence names."""
ABOUT_SOURCES = {"not in these sources", "could not be asked"}
"""Problems that say something about the sources, and nothing about the reference."""


def _is_failure(problem: ReferenceProblem) -> bool:
    return problem.kind == "could not be asked" and bool(problem.given)


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def _verb(count: int, one: str, many: str) -> str:
    return f"{count} {one if count == 1 else many}" if count else ""


def _outcome(verdicts: Sequence[Verdict]) -> tuple[Outcome, Verdict | None]:
    """Return the outcome of a sentence and the verdict that decided it.

    Its sources may disagree: one that contradicts it decides before one that supports it.
    """
    decided = [verdict for verdict in verdicts if not verdict.abstained]
    tests: tuple[tuple[Outcome, Callable[[Verdict], bool]], ...] = (
        ("contradicted", lambda verdict: verdict.label == "contradicted"),
        ("supported", lambda verdict: verdict.label == "supported"),
        ("partly supported", lambda verdict: verdict.is_partly_supported),
        ("not found", lambda verdict: True),
    )
    for outcome, fits in tests:
        if found := [verdict for verdict in decided if fits(verdict)]:
            return outcome, max(found, key=lambda verdict: verdict.probabilities.get(verdict.label, 0.0))
    return "not judged", next(iter(verdicts), None)


def check_manuscript(
    manuscript: Manuscript,
    references: Sequence[ResolvedReference] = (),
    plan: Plan | None = None,
    on_progress: Callable[[int, int], None] | None = None,
    judge: Judge | None = None,
) -> ManuscriptCheck:
    """Judge the sentences of a manuscript that cite against the documents of their references.

    Judgements are kept in the user's cache if the plan says so, so that a stopped check goes on where it was.

    Args:
        manuscript: The manuscript.
        references: What was found for its references. One with a document that has a text is at hand.
        plan: How citations are judged.
        on_progress: Called with the number of judged sentences, and of all to judge.
        judge: Replaces the plan's judge.

    Raises:
        InputError: A part that the plan names cannot be loaded.
    """
    plan = Plan() if plan is None else plan
    documents = _at_hand(references)
    own: dict[str, Document] = {}
    for document in documents.values():
        own.setdefault(document.id, document)
    claims, unsourced = _claims(manuscript, {key: document.id for key, document in documents.items()})
    answer = Answer(
        id=manuscript.name,
        question=manuscript.title or None,
        text=manuscript.text,
        claims=tuple(claims),
        documents=tuple(own.values()),
    )
    return ManuscriptCheck(
        manuscript=manuscript,
        references=tuple(references),
        answer=answer,
        checked=_checked(answer, plan, on_progress, judge),
        unsourced=tuple(unsourced),
    )


def _at_hand(references: Iterable[ResolvedReference]) -> dict[str, Document]:
    """Return the documents that have a text to judge against, by the key of their reference."""
    return {found.key: found.document for found in references if found.document and found.document.text.strip()}


_AT_ONCE = 16
"""Sentences that are judged together: results come while the rest is judged."""


def _checked(
    answer: Answer, plan: Plan, on_progress: Callable[[int, int], None] | None, judge: Judge | None
) -> CheckedAnswer:
    judge = judge or judge_of(plan.check, settings_of(plan.llm))
    parts = [
        answer.model_copy(update={"claims": answer.claims[start : start + _AT_ONCE]})
        for start in range(0, max(1, len(answer.claims)), _AT_ONCE)
    ]
    done = 0
    checked: list[CheckedAnswer] = []
    problems = Problems()
    found = check_many(parts, protocol_of(plan.check, judge), cache=plan.llm.cache, explain=explain_of(plan, problems))
    for part, result in zip(parts, found, strict=True):
        checked.append(result)
        done += len(part.claims)
        if on_progress is not None:
            on_progress(done, len(answer.claims))
    verdicts = tuple(verdict for result in checked for verdict in result.verdicts)
    failures = tuple(failure for result in checked for failure in result.failures)
    return checked[0].model_copy(
        update={"verdicts": verdicts, "failures": failures, "summary": Summary.of(answer, verdicts, failures)}
    )


_PARAGRAPH = re.compile(r"(?:[^\n]|\n(?![^\S\n]*\n))+")


def _claims(manuscript: Manuscript, sources: Mapping[str, str]) -> tuple[list[Claim], list[Claim]]:
    """Return the sentences that cite a source that is at hand, and those that cite only others."""
    numbers = markers_of(manuscript)
    ids = {numbers[key]: id for key, id in sources.items() if key in numbers}
    found: tuple[list[Claim], list[Claim]] = ([], [])
    for claim in _sentences(manuscript, numbers):
        held = {ids[item.marker]: item for item in reversed(claim.citations) if item.marker in ids}
        citations = [Citation(marker=item.marker, span=item.span, document=id) for id, item in held.items()]
        cited = claim.model_copy(update={"citations": tuple(reversed(citations)) or claim.citations})
        found[not citations].append(cited)
    return found


def markers_of(manuscript: Manuscript) -> dict[str, int]:
    """Return the marker of each key: its printed number if all have one, else its place in the list."""
    keys = list(dict.fromkeys([*(reference.key for reference in manuscript.references), *manuscript.cited_keys]))
    if all(key.isascii() and key.isdigit() for key in keys):
        return {key: int(key) for key in keys}
    return {key: number for number, key in enumerate(keys, start=1)}


def _sentences(manuscript: Manuscript, numbers: Mapping[str, int]) -> Iterator[Claim]:
    """Yield the sentences that cite. A paragraph is read by itself, as an answer is."""
    text, citations = manuscript.text, sorted(manuscript.citations, key=lambda citation: citation.span.start)
    headings = {heading.start for heading in manuscript.headings}
    starts = [citation.span.start for citation in citations]
    for paragraph in _PARAGRAPH.finditer(text):
        first, last = bisect_right(starts, paragraph.start() - 1), bisect_right(starts, paragraph.end() - 1)
        start = paragraph.start() + len(paragraph[0]) - len(paragraph[0].lstrip())
        if first == last or start in headings:
            continue
        mentions = [
            Mention(citation.span.shifted(-paragraph.start()), tuple((numbers[key], None) for key in citation.keys))
            for citation in citations[first:last]
        ]
        parsed = parse_answer(manuscript.name, paragraph[0], (), mentions=mentions)
        yield from (claim.shifted(paragraph.start()) for claim in parsed.claims if claim.citations and claim.text)


def check_document(
    path: str | Path,
    documents: str | Path | Sequence[str | Path] = (),
    *,
    plan: Plan | None = None,
    bibliography: str | Path | Sequence[str | Path] = (),
    on_progress: Callable[[str, int, int], None] | None = None,
) -> ManuscriptCheck:
    """Check the citations of a document: Word, PDF, LaTeX, HTML, Markdown or text with a list of references.

    Args:
        path: The document.
        documents: Where to look for the works that it cites: ``pubmed``, ``crossref``, ``pmc``, a store, or a file or
            folder of documents; or several of these. No other is asked.
        plan: How citations are judged. Default: as ``vericite check``.
        bibliography: Files of references that the document cites by key, such as ``library.bib``.
        on_progress: Called with what is done ("files" of documents, "references" or "sentences"), the number done, and
            their total.

    Raises:
        InputError: A file or a source cannot be read.
    """
    from vericite.corpus.manuscript.registry import read_manuscript

    plan = usual_plan("check") if plan is None else plan
    manuscript = read_manuscript(Path(path), [Path(name) for name in _listed(bibliography) or plan.check.bibliography])
    return check_against(manuscript, [str(name) for name in _listed(documents)], plan, on_progress)


def check_against(
    manuscript: Manuscript,
    sources: Sequence[str | WorkSource],
    plan: Plan,
    on_progress: Callable[[str, int, int], None] | None = None,
    judge: Judge | None = None,
) -> ManuscriptCheck:
    """Look up the references of a manuscript in these sources and in no others, and check its citations.

    Args:
        manuscript: The manuscript.
        sources: The sources, opened or by name, as in ``check_document``.
        plan: How citations are judged.
        on_progress: As in ``check_document``.
        judge: Replaces the plan's judge.

    Raises:
        InputError: A source cannot be read.
    """
    from vericite.corpus.manuscript.resolve import resolve, with_list_problems

    def progress(what: str) -> Callable[[int, int], None] | None:
        return None if on_progress is None else partial(on_progress, what)

    resolved = resolve(manuscript.references, sources, progress("references"), progress("files"))
    return check_manuscript(manuscript, with_list_problems(manuscript, resolved), plan, progress("sentences"), judge)


def _listed(given: str | Path | Sequence[str | Path]) -> Sequence[str | Path]:
    return [given] if isinstance(given, str | Path) else given
