"""What can be labelled in a run, and a sample of it."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from math import sqrt
from pathlib import Path

from pydantic import Field

from vericite.annotate.schemes import Of
from vericite.errors import InputError, RecordError
from vericite.evaluate.items import Item
from vericite.evaluate.scoring import System
from vericite.records import Z95, FloatMap, Names, Record, SourceText, StatementVerdict, Verdict, number_jsonl
from vericite.records.base import FrozenDict

STRATIFIED_BY = ("verdict", "system", "type")
"""What a sample may be drawn by."""
_CUT = 50_000


class Unit(Record):
    """A thing to label: a sentence and the sources judged together for it; a line of a sample.

    Attributes:
        item: Its id, which tells neither system nor verdict.
        group: The answer that it is of, in the same way.
        of: What it is.
        question: The question of the answer.
        claim: The words to judge, without markers.
        context: The answer that they stand in, at ``start`` to ``end``; empty where only verdicts are known.
        documents: The sources.
        verdict: What the judge said; annotators do not see it.
        protocol: What judged it, with the judge; empty where there is no verdict or it does not say.
        stratum: What it was drawn by.
        weight: How many units of its stratum it stands for.
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

    def drawn_by(self, keys: Sequence[str]) -> dict[str, str]:
        """The stratum that it is of."""
        found = {"verdict": self.verdict or "none", "system": self.system, "type": self.type or "none"}
        return {key: found[key] for key in keys}


def units_of(systems: Sequence[System], of: Of = "citation") -> list[Unit]:
    """All that can be labelled in systems that were checked, in their order.

    Of citations these are the cases that the judge decided, as in the rate of supported ones.

    Raises:
        InputError: There is nothing of the kind.
    """
    make = {"citation": _citations, "sentence": _sentences, "statement": _statements}[of]
    found = [unit for system in systems for item in system.items for unit in make(system.name, item)]
    if not found:
        needs = {
            "citation": "citations with a verdict",
            "sentence": "answers with sentences",
            "statement": "answers with a rationale",
        }[of]
        raise InputError(f"expected {needs} to label; found none. Another --scheme may fit what there is.")
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
    # Sentences are counted as `vericite agree` counts them.
    every = [*item.checked.verdicts, *item.checked.failures, *item.checked.uncited]
    index = {start: number for number, start in enumerate(sorted({one.start for one in every}))}
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
    """Of verdicts alone, the passages that they quote."""
    return tuple(SourceText(id=it.document, text=it.text) for it in verdict.evidence if it.text)


def _sentences(system: str, item: Item) -> Iterator[Unit]:
    for number, claim in enumerate(item.answer.claims if item.answer else ()):
        cited = list(dict.fromkeys(it.document for it in claim.citations if it.document))
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
        judged |= {one.text: one for one in verdict.statements}
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
                "documents": _sources(item, step.documents or [it.id for it in item.answer.documents]),
                "verdict": found.label if found else None, "native": found.native if found else None,
            }
        )  # fmt: skip


def _cut(text: str) -> str:
    return text[:_CUT]


@dataclass(frozen=True)
class Sample:
    """Units drawn to be labelled.

    Attributes:
        units: What was drawn, in the order in which it is shown.
        sizes: How many units each stratum has, and how many of them were drawn.
    """

    units: list[Unit]
    sizes: dict[str, tuple[int, int]]

    @property
    def expected(self) -> str:
        """What the labels will tell, before there are any."""
        n = len(self.units)
        alone = Z95 * sqrt(0.25 / n)
        helped = alone * sqrt(1 - _HELP**2)
        return (
            f"{n} labels tell a rate near one half within ±{alone:.3f} by themselves, and within ±{helped:.3f} beside "
            "a judge that agrees with them on four in five; citations of one answer that go together widen both"
        )


_HELP = 0.6
"""Correlation of the labels with a judge that is right on four in five of each kind."""


def draw(units: Sequence[Unit], n: int, stratify: Sequence[str] = (), seed: int = 0) -> Sample:
    """A sample, the same for the same seed.

    Strata get half of the labels by their size and half alike, so that rare ones have some; what a unit stands for is
    kept as its weight.

    Raises:
        InputError: There are not so many units, or ``stratify`` names what nothing is drawn by.
    """
    unknown = [key for key in stratify if key not in STRATIFIED_BY]
    if unknown:
        raise InputError(f"expected --stratify out of {', '.join(STRATIFIED_BY)}; found {', '.join(unknown)}")
    if not 0 < n <= len(units):
        raise InputError(f"expected from 1 to {len(units):,} to label, which is all there are; found {n:,}")
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
    """How many of each stratum: no more than there are, and all together n."""
    found = dict.fromkeys(sizes, 0)
    all = sum(sizes.values())
    for _ in range(n):
        left = [name for name in sizes if found[name] < sizes[name]]
        wish = {name: n * (sizes[name] / all + 1 / len(sizes)) / 2 for name in left}
        found[max(left, key=lambda name: (wish[name] - found[name], name))] += 1
    return found


def read_sample(path: Path, problems: list[RecordError]) -> list[Unit]:
    """The units of a sample; lines that are none are added to ``problems``.

    Raises:
        InputError: The file cannot be read, or holds none.
    """
    found: list[Unit] = []
    for _, line in number_jsonl(Unit, path):
        if isinstance(line, RecordError):
            problems.append(line)
        else:
            found.append(line)
    again = [item for item, count in Counter(unit.item for unit in found).items() if count > 1]
    if again:
        raise InputError(f"expected each item of {path} once; found {again[0]!r} twice")
    if not found:
        first = f" The first problem: {problems[0]}" if problems else ""
        raise InputError(f"expected units to label in {path}, as `vericite annotate sample` writes; found none.{first}")
    return found
