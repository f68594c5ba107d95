"""The data of a report as plain values: systems with rates, answers with verdicts, and each document once."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

from vericite.corpus.references import file_name
from vericite.errors import InputError
from vericite.evaluate.citation_rates import CitationRates
from vericite.evaluate.correction import SystemByPeople
from vericite.evaluate.items import Item
from vericite.evaluate.measures.verdicts import SupportRate
from vericite.evaluate.resampling import Bootstrap
from vericite.evaluate.scoring import System, compare_all_pairs
from vericite.formats.convert import SOURCE_COLUMNS, VERDICT_COLUMNS, source_rows, to_table
from vericite.models.contracts import Judge
from vericite.pipeline.check import check_many, verifier_for
from vericite.pipeline.manuscript import ManuscriptCheck
from vericite.records import Answer, Change, CheckedAnswer, Document, EvidenceSpan, Rate, Verdict, VerificationFailure
from vericite.records.results import quoted_by_repair
from vericite.records.values import cut_in_words
from vericite.reporting.kept import by_number, shown_items, with_kept_answer
from vericite.reporting.manuscript import findings_of
from vericite.reporting.run_lines import what_is_wrong
from vericite.text.strength import Strength
from vericite.verify.protocol import DEFAULT, Protocol

KINDS = ("supported", "quoted", "contradicted", "irrelevant", "dangling", "abstained", "failed", "uncited")
"""Outcomes of a sentence or a citation, in display order."""
_WORST = ("contradicted", "dangling", "failed", "irrelevant", "abstained", "supported", "quoted", "uncited")
_SIGNATURES = 5
_CUT = 20_000
"""Maximum characters of a text; longer texts are cut and marked."""


@dataclass(frozen=True)
class SystemSummary:
    """Summary of a system.

    Attributes:
        answers: Number of answers.
        unanswered: Number of failures.
        insufficient: Number of answers that say that the sources do not suffice.
        sentences: Number of sentences that were judged or cite nothing.
        deleted: Number of sentences that repair deleted.
        rates: Its rates by name, except those with a denominator of 0.
        signatures: What made the verdicts, the most frequent first.
    """

    name: str
    answers: int
    unanswered: int
    insufficient: int
    sentences: int
    deleted: int
    rates: dict[str, Rate]
    signatures: list[dict[str, str]]


@dataclass(frozen=True)
class Report:
    """All data of a page.

    Attributes:
        systems: Summary of each system.
        answers: A record for each answer; answers to the same question are together.
        documents: Every document by its key.
        comparisons: Sentences about pairs of systems, on the questions that both answered.
        people: Results of people's labels, for systems that have some.
    """

    systems: list[SystemSummary]
    answers: list[dict[str, Any]]
    documents: dict[str, dict[str, Any]]
    comparisons: list[str]
    people: Sequence[SystemByPeople] = ()

    @property
    def values(self) -> dict[str, Any]:
        """The data that the page's script reads."""
        return {
            "systems": [system.name for system in self.systems],
            "answers": self.answers,
            "documents": self.documents,
        }


def with_verdicts(system: System, protocol: Protocol | str | None = None, judge: Judge | str | None = None) -> System:
    """Add verdicts to the answers of a system that have none.

    Args:
        system: The system.
        protocol: The protocol. None: the default one.
        judge: A judge to use in place of the protocol's own.

    Raises:
        InputError: The system has verdicts by another protocol, and one rate would mix the two.
    """
    left = [item.answer for item in system.items if item.checked is None and item.answer is not None]
    there = {item.checked.provenance.protocol for item in system.items if item.checked is not None}
    if there and (left or protocol is not None or judge is not None):
        asked = verifier_for(protocol or DEFAULT, judge).provenance.protocol
        if there != {asked}:
            more = f" and {len(left)} answers without verdicts, which would be judged by {asked}" if left else ""
            raise InputError(
                f"expected all verdicts of {system.name} to be from one protocol; also found verdicts from "
                f"{', '.join(sorted(filter(None, there)))}{more}. Select the protocol and judge of the stored "
                "verdicts with --set check.protocol=NAME and --set check.judge=NAME, or run "
                "`vericite check` on all answers and pass its output folder."
            )
    found = dict(zip((id(answer) for answer in left), check_many(left, protocol or DEFAULT, judge), strict=True))
    return replace(system, items=tuple(_with(item, found.get(id(item.answer))) for item in system.items))


def _with(item: Item, checked: CheckedAnswer | None) -> Item:
    return item if checked is None else replace(item, checked=checked)


def make_report(
    systems: Sequence[System], bootstrap: Bootstrap | None = None, people: Sequence[SystemByPeople] = ()
) -> Report:
    """Return the report of these systems; their items must have been checked."""
    documents: dict[str, dict[str, Any]] = {}
    rows: list[dict[str, Any]] = []
    for number, system in enumerate(systems):
        rows += [_answer(number, with_kept_answer(item), documents) for item in system.items]
    rows.sort(key=lambda row: (by_number(row["id"]), row["system"]))
    _mark_disagreement(rows)
    return Report([_system(system) for system in systems], rows, documents, _comparisons(systems, bootstrap), people)


def citation_table(systems: Sequence[System]) -> str:
    """Return a CSV table: a row for each citation of each system, and one for each sentence without citations."""
    rows = (
        [system.name, (item.answer.question if item.answer else None) or "", *row]
        for system in systems
        for item in map(with_kept_answer, shown_items(system))
        if item.checked is not None
        for row in source_rows(item.checked, item.answer)
    )
    return to_table([("system", "question", *VERDICT_COLUMNS, *SOURCE_COLUMNS), *rows])


def _system(system: System) -> SystemSummary:
    rates = CitationRates()
    signatures: Counter[tuple[tuple[str, str], ...]] = Counter()
    for item in system.items:
        if item.checked is not None:
            rates.add(item.checked)
            made = item.checked.provenance
            parts = {"version": made.version, "protocol": made.protocol or "", **dict(made.parts)}
            signatures[tuple(sorted(parts.items()))] += 1
    shown = [name for name in rates.names if rates[name].n]
    return SystemSummary(
        system.name,
        len(system.items),
        sum(item.failed is not None for item in system.items),
        sum(item.answer is not None and item.answer.insufficient for item in system.items),
        rates.summary.claims,
        sum(_deleted(item.changes) for item in system.items),
        {name: rates[name] for name in shown},
        [dict(parts) for parts, _ in signatures.most_common(_SIGNATURES)],
    )


def _deleted(changes: Iterable[Change]) -> int:
    return len({change.sentence for change in changes if change.after is None})


def _answer(system: int, item: Item, documents: dict[str, dict[str, Any]]) -> dict[str, Any]:
    return {"system": system} | ShownAnswer(item.answer, documents).row(item)


class ScriptOffsets:
    """Converts offsets to JavaScript's, which counts a character beyond the first 65,536 as two."""

    def __init__(self, text: str) -> None:
        self._wide = [place for place, char in enumerate(text) if char > "\uffff"]

    def __call__(self, offset: int) -> int:
        """Return the offset of the same place."""
        return offset + bisect_left(self._wide, offset)


class ShownAnswer:
    """An answer in the form that a page's script reads, with its verdicts, added at once or one by one.

    Args:
        answer: The answer; None if only verdicts are known.
        documents: Receives the answer's documents by key.
    """

    def __init__(self, answer: Answer | None, documents: dict[str, dict[str, Any]]) -> None:
        self._answer = answer
        own = () if answer is None else answer.documents
        self._keys = {document.id: _keep(document, documents) for document in own}
        self._texts = {document.id: (document.text, ScriptOffsets(document.text)) for document in own}
        self._units = ScriptOffsets(answer.text if answer else "")
        self._kinds: dict[tuple[int, int], set[str]] = {}

    def row(self, item: Item) -> dict[str, Any]:
        """Return everything that the page shows of the answer."""
        answer = self._answer
        claims = self._claims(item.checked)
        manuscript = None if item.manuscript is None else self._manuscript(item.manuscript, claims)
        self._mark_quoted(claims, set(quoted_by_repair(item.changes).values()))
        return {
            "id": item.id,
            "question": (answer.question if answer else None) or "",
            "type": (item.gold.type if item.gold else None) or "",
            "text": _cut(answer.text if answer else " ".join(claim["text"] for claim in claims)),
            "failed": item.failed or (answer.failed if answer else None) or "",
            "insufficient": bool(answer and answer.insufficient),
            "cut": _cut_evidence(answer),
            "exact": [" / ".join(names) for names in (item.exact or (answer.exact if answer else None) or ())],
            "sources": list(self._keys.values()),
            "claims": claims,
            "rationale": self._rationale(item),
            "changes": [_change(change) for change in item.changes],
            "chosen": self._chosen(),
            "stance": self._stance(),
            "sufficiency": answer.sufficiency if answer else None,
            "unlikely": bool(answer and answer.is_unlikely),
            "notes": [f"{note[:1].upper()}{note[1:]}." for note in answer.notes] if answer else [],
            # Added to quotations: the meaning of an abbreviation in its source.
            "bracketed": bool(answer and answer.selected and any("[" in claim.text for claim in answer.claims)),
            "counts": dict(Counter(claim["kind"] for claim in claims)),
        } | ({"manuscript": manuscript} if manuscript else {})

    def _manuscript(self, check: ManuscriptCheck, claims: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """Return what was found about a manuscript; each sentence with the place of its claim among these."""
        places = {(claim["start"], claim["end"]): number for number, claim in enumerate(claims)}
        found = findings_of(check)
        shown = found.model_dump(mode="json")
        for sentence, given in zip(shown["sentences"], check.sentences, strict=True):
            sentence["claim"] = places.get((self._units(given.start), self._units(given.end)), -1)
            sentence["place"] = given.place
        return shown

    def judged(self, result: Verdict | VerificationFailure) -> dict[str, Any]:
        """Return one more verdict with the resulting kind of its sentence."""
        verdict = self._verdict(result) if isinstance(result, Verdict) else self._failure(result)
        kinds = self._kinds.setdefault((result.start, result.end), set())
        kinds.add(verdict["kind"])
        start, end = self._units(result.start), self._units(result.end)
        return {"start": start, "end": end, "kind": min(kinds, key=_WORST.index), "verdict": verdict}

    def _chosen(self) -> list[dict[str, Any]]:
        """Return how each sentence was chosen; none for answers that are not quotations, and for repaired ones."""
        answer = self._answer
        if answer is None or len(answer.selected) != len(answer.claims):
            return []
        return [
            {
                "about": f"{selected.role} on {selected.aspect}" if selected.aspect else selected.role,
                "answers": round(selected.answers, 3),
                "against": _keys(selected.contradicted_by, self._keys),
            }
            for selected in answer.selected
        ]

    def _stance(self) -> dict[str, Any] | None:
        """Return which sources say yes and which no, and the probability of yes; None if the answer does not say."""
        stance = self._answer.stance if self._answer else None
        if stance is None or not (stance.yes or stance.no):
            return None
        return {
            "yes": _keys(stance.yes, self._keys),
            "no": _keys(stance.no, self._keys),
            "probability": round(stance.probability, 3),
        }

    def _claims(self, checked: CheckedAnswer | None) -> list[dict[str, Any]]:
        """Return the sentences with their verdicts. Without an answer, they are taken from the verdicts."""
        answer, units = self._answer, self._units
        found: dict[tuple[int, int], dict[str, Any]] = {}
        for claim in answer.claims if answer else ():
            found[claim.span.start, claim.span.end] = {
                "start": units(claim.span.start), "end": units(claim.span.end), "text": _cut(claim.text),
                "verdicts": [],
                "cites": [
                    [
                        cited.marker,
                        self._keys.get(cited.document or "", ""),
                        units(cited.span.start),
                        units(cited.span.end),
                    ]
                    for cited in claim.citations
                ],
            }  # fmt: skip

        def at(start: int, end: int, text: str) -> dict[str, Any]:
            blank: dict[str, Any] = {
                "start": units(start), "end": units(end), "text": _cut(text), "verdicts": [], "cites": [],
            }  # fmt: skip
            return found.setdefault((start, end), blank)

        if checked is not None:
            for verdict in checked.verdicts:
                shown = self._verdict(verdict) | {"kind": checked.kind_of(verdict)}
                at(verdict.start, verdict.end, verdict.claim)["verdicts"].append(shown)
            for failure in checked.failures:
                at(failure.start, failure.end, failure.claim)["verdicts"].append(self._failure(failure))
            for uncited in checked.uncited:
                at(uncited.start, uncited.end, uncited.claim)
        for claim in found.values():
            kinds = {verdict["kind"] for verdict in claim["verdicts"]} or {"failed" if claim["cites"] else "uncited"}
            if checked is None and claim["cites"]:
                kinds = {"abstained"}
            claim["kind"] = min(kinds, key=_WORST.index)
        return [found[span] for span in sorted(found)]

    def _mark_quoted(self, claims: Sequence[dict[str, Any]], quoted: Collection[str]) -> None:
        """Mark sentences that repair quoted from their sources. They support themselves, and are counted separately."""
        shown = () if self._answer is None or not quoted else self._answer.claims
        places = {
            (self._units(claim.span.start), self._units(claim.span.end))
            for claim in shown
            if self._answer is not None and self._answer.text[claim.span.slice] in quoted
        }
        for claim in claims:
            if claim["kind"] == "supported" and (claim["start"], claim["end"]) in places:
                claim["kind"] = "quoted"
                for verdict in claim["verdicts"]:
                    verdict["kind"] = "quoted"

    def _verdict(self, verdict: Verdict) -> dict[str, Any]:
        held: dict[str, Any] = {
            "kind": verdict.kind_in(self._answer),
            "native": verdict.native,
            "markers": list(verdict.markers),
            "sources": _keys(verdict.documents, self._keys),
            "p": {name: round(value, 3) for name, value in verdict.probabilities.items()},
            "evidence": [self._passage(span) for span in verdict.evidence if span.document in self._texts],
            "nearest": self._nearest(verdict),
            "reasons": [reason for reason in verdict.reasons if reason not in verdict.opposition],
            "against": ", ".join(verdict.opposition),
            "degree": verdict.degree if verdict.is_partly_supported else None,
            "because": what_is_wrong(verdict),
            "differs": verdict.has_other_figure,
            "words": [[self._units(words.start), self._units(words.end), words.kind] for words in verdict.words],
            "elsewhere": verdict.elsewhere,
            "others": _keys([source.document for source in verdict.supported_by], self._keys),
            "statements": [[part.text, part.label or "failed", part.native] for part in verdict.statements],
            "retracted": list(verdict.retracted),
            "redundant": [key for document in verdict.redundant or () for key in _keys([document], self._keys)],
        }
        return {name: value for name, value in held.items() if value}

    def _nearest(self, verdict: Verdict) -> list[Any]:
        """Return the passage that came closest to deciding, if none did."""
        span = verdict.nearest
        return [self._passage(span)] if span is not None and span.document in self._texts else []

    def _failure(self, failure: VerificationFailure) -> dict[str, Any]:
        return {
            "kind": "failed",
            "markers": list(failure.markers),
            "reasons": [failure.reason],
            "sources": _keys(failure.documents, self._keys),
        }

    def _passage(self, span: EvidenceSpan) -> list[Any]:
        """Return source and offsets, the page if there are pages, and the words if the source is cut before them."""
        text, units = self._texts[span.document]
        words = _cut(text[span.start : span.end]) if span.end > _CUT else None
        found = [self._keys[span.document], units(span.start), units(span.end), span.page, words]
        return found if words else found[:4] if span.page else found[:3]

    def _rationale(self, item: Item) -> list[dict[str, Any]]:
        steps = item.answer.rationale.steps if item.answer and item.answer.rationale else ()
        judged = {} if item.reasoned is None else {verdict.claim: verdict.native for verdict in item.reasoned.verdicts}
        return [
            {
                "text": step.statement,
                "question": step.question or "",
                "category": judged.get(step.statement, "not judged"),
                "documents": _keys(step.documents, self._keys),
                "unfound": [_cut(quotation) for quotation in step.unfound],
                "passages": [
                    _cut(self._texts[passage.document][0][passage.start : passage.end])
                    for passage in step.passages
                    if passage.document in self._texts
                ],
            }
            for step in steps
        ]


def _cut_evidence(answer: Answer | None) -> str:
    if answer is None:
        return ""
    return cut_in_words(sum(not document.retracted for document in answer.documents), answer.trimmed)


def _keys(ids: Iterable[str], keys: dict[str, str]) -> list[str]:
    return [keys.get(id, id) for id in ids]


def _change(change: Change) -> dict[str, Any]:
    held = change.model_dump(mode="json", exclude={"round"})
    return held | {"after": change.after or "", "by": change.by or ""}


def _keep(document: Document, documents: dict[str, dict[str, Any]]) -> str:
    """Add a document once, and return its key: the id, or for a second text with the same id, id and hash."""
    text = _cut(document.text)
    key = document.id
    if key in documents and documents[key]["text"] != text:
        key = f"{document.id}#{sha256(document.text.encode('utf-8', 'replace')).hexdigest()[:8]}"
    if key not in documents:
        strength = Strength.of(document)
        held = {
            "id": file_name(document),
            "title": _cut(document.title),
            "text": text,
            "journal": document.journal,
            "year": document.year,
            "design": strength.design,
            "n": strength.n,
            "depth": strength.depth,
            "pmid": document.pmid if (document.pmid or "").isdigit() else None,
            "doi": document.doi,
            "retraction": strength.retraction,
        }
        documents[key] = {name: value for name, value in held.items() if value or name in ("title", "text")}
    return key


def _cut(text: str) -> str:
    return text if len(text) <= _CUT else f"{text[:_CUT]} ... ({len(text):,} characters in all)"


def _mark_disagreement(rows: list[dict[str, Any]]) -> None:
    """Mark questions whose answers have different outcomes in different systems."""
    fates: dict[str, set[str]] = {}
    for row in rows:
        worst = min(row["counts"], key=_WORST.index, default="failed" if row["failed"] else "uncited")
        row["worst"] = worst
        fates.setdefault(row["id"], set()).add(worst)
    for row in rows:
        row["differs"] = len(fates[row["id"]]) > 1


def _comparisons(systems: Sequence[System], bootstrap: Bootstrap | None) -> list[str]:
    """Return a sentence for each pair of systems that answered the same questions."""
    asked = {system.name: {item.id for item in system.items} for system in systems}
    compared = compare_all_pairs(systems, [SupportRate()], bootstrap or Bootstrap())
    return [found.sentence for first, second, _, found in compared if asked[first.name] & asked[second.name]]
