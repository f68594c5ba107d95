"""Units to label in a run, and samples of them."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from math import sqrt
from pathlib import Path

from pydantic import Field

from vericite.errors import InputError, Problems
from vericite.evaluate.items import Item
from vericite.evaluate.scoring import System
from vericite.lab.annotate.schemes import Of
from vericite.records import Z95, FloatMap, Names, Record, SourceText, StatementVerdict, Verdict, number_jsonl
from vericite.records.base import FrozenDict

STRATIFIED_BY = ("verdict", "system", "type")
"""The properties by which a sample can be stratified."""
_CUT = 50_000


class Unit(Record):
    """A unit to label: a sentence with the sources judged together for it; a line of a sample.

    Attributes:
        item: The id, which reveals neither system nor verdict.
        group: The id of the answer, which reveals neither system nor verdict.
        of: The kind of unit.
        question: The question of the answer.
        claim: The text to judge, without markers.
        context: The answer, with the claim at ``start`` to ``end``; empty if only verdicts are known.
        documents: The sources.
        verdict: The judge's label, which annotators do not see.
        protocol: The protocol of the verdict, with the judge; empty if unknown.
        stratum: The stratum from which it was drawn.
        weight: The number of units of its stratum that it represents.
        scheme: The scheme of the sample: a name or a file.
    """

    item: str = Field(min_length=1)
    group: str
    of: Of
    system: str
    answer: str
    sentence: int = Field(ge=0)
    question: str = ""
    type: str = ""
    claim: str
    context: str = ""
    start: int = Field(default=0, ge=0)
    end: int = Field(default=0, ge=0)
    documents: tuple[SourceText, ...] = ()
    verdict: str | None = None
    protocol: str = ""
    native: str | None = None
    probabilities: FloatMap = FrozenDict()
    stratum: Names = FrozenDict()
    weight: float = Field(default=1.0, gt=0)
    scheme: str = "vericite"

    def drawn_by(self, keys: Sequence[str]) -> dict[str, str]:
        """Return the stratum of the unit."""
        found = {"verdict": self.verdict or "none", "system": self.system, "type": self.type or "none"}
        return {key: found[key] for key in keys}


def units_of(systems: Sequence[System], of: Of = "citation") -> list[Unit]:
    """Return all units of checked systems, in order.

    The units of citations are the cases that the judge decided, as in the rate of supported citations.

    Raises:
        InputError: There are no units of this kind.
    """
    make = {"citation": _citations, "sentence": _sentences, "statement": _statements}[of]
    found = [unit for system in systems for item in system.items for unit in make(system.name, item)]
    if not found:
        needs = {
            "citation": "citations with a verdict",
            "sentence": "answers with sentences",
            "statement": "answers with a rationale",
        }[of]
        raise InputError(f"expected {needs} to label; found none. Another --scheme may fit.")
    # A sentence may cite the same source twice.
    return list({unit.item: unit for unit in found}.values())


def _id(*parts: object) -> str:
    return sha256("\x1f".join(map(str, parts)).encode("utf-8", "replace")).hexdigest()[:16]


def _common(system: str, item: Item) -> dict[str, object]:
    answer = item.answer
    return {
        "group": _id(system, item.id), "system": system, "answer": item.id,
        "question": (answer.question if answer else None) or "",
        "type": (item.gold.type if item.gold else None) or "",
        "context": _cut(answer.text) if answer else "",
    }  # fmt: skip


def _sources(item: Item, ids: Sequence[str]) -> tuple[SourceText, ...]:
    held = {document.id: document for document in item.answer.documents} if item.answer else {}
    return tuple(SourceText(id=id, text=_cut(held[id].text), title=held[id].title or None) for id in ids if id in held)


def _citations(system: str, item: Item) -> Iterator[Unit]:
    if item.checked is None:
        return
    # Sentences are numbered as in `vericite agree`.
    judgements = [*item.checked.verdicts, *item.checked.failures, *item.checked.uncited]
    index = {start: number for number, start in enumerate(sorted({judgement.start for judgement in judgements}))}
    for verdict in item.checked.verdicts:
        if verdict.abstained or verdict.label == "dangling":
            continue
        documents = _sources(item, verdict.documents) or _quoted(verdict)
        yield Unit.model_validate(
            {
                **_common(system, item),
                "item": _id(system, item.id, index[verdict.start], verdict.claim, *verdict.documents),
                "of": "citation", "sentence": index[verdict.start], "claim": verdict.claim,
                "start": verdict.start, "end": verdict.end, "documents": documents, "verdict": verdict.label,
                "protocol": item.checked.provenance.protocol or "",
                "native": verdict.native, "probabilities": dict(verdict.probabilities),
            }
        )  # fmt: skip


def _quoted(verdict: Verdict) -> tuple[SourceText, ...]:
    """Return the passages quoted by a verdict, for verdicts without their answer."""
    return tuple(SourceText(id=span.document, text=span.text) for span in verdict.evidence if span.text)


def _sentences(system: str, item: Item) -> Iterator[Unit]:
    for number, claim in enumerate(item.answer.claims if item.answer else ()):
        cited = list(dict.fromkeys(citation.document for citation in claim.citations if citation.document))
        yield Unit.model_validate(
            {
                **_common(system, item), "item": _id(system, item.id, number, claim.text), "of": "sentence",
                "sentence": number, "claim": claim.text, "start": claim.span.start, "end": claim.span.end,
                "documents": _sources(item, cited),
            }
        )  # fmt: skip


def _statements(system: str, item: Item) -> Iterator[Unit]:
    if item.answer is None or item.answer.rationale is None:
        return
    judged: dict[str, StatementVerdict] = {}
    for verdict in item.reasoned.verdicts if item.reasoned else ():
        judged |= {statement.text: statement for statement in verdict.statements}
        judged.setdefault(
            verdict.claim,
            StatementVerdict(text=verdict.claim, label=verdict.label, native=verdict.native, holds=False),
        )
    for number, step in enumerate(item.answer.rationale.steps):
        found = judged.get(step.statement)
        yield Unit.model_validate(
            {
                **_common(system, item), "item": _id(system, item.id, "statement", number, step.statement),
                "of": "statement", "sentence": number, "claim": step.statement,
                "documents": _sources(item, step.documents or [document.id for document in item.answer.documents]),
                "verdict": found.label if found else None, "native": found.native if found else None,
            }
        )  # fmt: skip


def _cut(text: str) -> str:
    return text[:_CUT]


@dataclass(frozen=True)
class Sample:
    """Units drawn to be labelled.

    Attributes:
        units: The drawn units in display order.
        sizes: The size of each stratum, and the number of units drawn from it.
    """

    units: list[Unit]
    sizes: dict[str, tuple[int, int]]

    @property
    def expected(self) -> str:
        """The expected precision of rates from the labels, in a sentence."""
        n = len(self.units)
        alone = Z95 * sqrt(0.25 / n)
        helped = alone * sqrt(1 - _HELP**2)
        return (
            f"{n} labels estimate a rate near one half within ±{alone:.3f} alone, and within ±{helped:.3f} together "
            "with a judge that agrees with 80 % of them; correlated citations of an answer widen both"
        )


_HELP = 0.6
"""Correlation of the labels with a judge that is right in 80 % of both classes."""


def draw(units: Sequence[Unit], n: int, stratify: Sequence[str] = (), seed: int = 0) -> Sample:
    """Draw a sample, reproducible by its seed.

    Half of the sample is allocated to strata in proportion to their size, and half equally, so that rare strata are
    included. The weight of a unit corrects for this.

    Raises:
        InputError: There are fewer than ``n`` units, or ``stratify`` has an unknown property.
    """
    unknown = [key for key in stratify if key not in STRATIFIED_BY]
    if unknown:
        raise InputError(f"expected stratify from {', '.join(STRATIFIED_BY)}; found {', '.join(unknown)}")
    if not 0 < n <= len(units):
        raise InputError(f"expected a sample of 1 to {len(units):,} units, the number of all units; found {n:,}")
    strata: dict[str, list[Unit]] = {}
    for unit in units:
        found = unit.drawn_by(stratify)
        strata.setdefault(_named(found), []).append(unit.model_copy(update={"stratum": FrozenDict(found)}))
    quotas = _quotas({name: len(found) for name, found in strata.items()}, n)
    drawn: list[Unit] = []
    generator = random.Random(seed)
    for name in sorted(strata):
        held, quota = strata[name], quotas[name]
        chosen = generator.sample(sorted(held, key=lambda unit: unit.item), quota)
        drawn += [unit.model_copy(update={"weight": len(held) / quota}) for unit in chosen]
    generator.shuffle(drawn)
    return Sample(drawn, {name: (len(held), quotas[name]) for name, held in sorted(strata.items())})


def _named(stratum: Mapping[str, str]) -> str:
    return ", ".join(f"{key} {value}" for key, value in stratum.items()) or "all"


def _quotas(sizes: Mapping[str, int], n: int) -> dict[str, int]:
    """Return the number of units to draw from each stratum, n in total and at most the size of the stratum."""
    found = dict.fromkeys(sizes, 0)
    all = sum(sizes.values())
    for _ in range(n):
        left = [name for name in sizes if found[name] < sizes[name]]
        wish = {name: n * (sizes[name] / all + 1 / len(sizes)) / 2 for name in left}
        found[max(left, key=lambda name: (wish[name] - found[name], name))] += 1
    return found


def read_sample(path: Path, problems: Problems) -> list[Unit]:
    """Read the units of a sample; bad lines are added to ``problems``.

    Raises:
        InputError: The file cannot be read, or has no units.
    """
    found = [unit for _, unit in problems.kept(number_jsonl(Unit, path))]
    repeated = [item for item, count in Counter(unit.item for unit in found).items() if count > 1]
    if repeated:
        raise InputError(f"expected each item of {path} once; found {repeated[0]!r} twice")
    if not found:
        raise InputError(
            f"expected units to label in {path}, as written by `vericite annotate sample`; found none."
            + problems.first_of(path)
        )
    return found
