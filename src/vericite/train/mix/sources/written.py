"""Claims written one by one about texts of the other sets, in other words, each beside its broken twin.

The files hold the claims and where each one's evidence stands, not the evidence: texts of datasets are not copied.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from vericite.records import Record, read_jsonl
from vericite.train.mix.example import Example, Label
from vericite.train.mix.overlap import Rarity
from vericite.train.mix.premises import abstract, joined, sentences, told_by, window
from vericite.train.mix.shelf import Harvest, Shelf, blank
from vericite.train.mix.sources.cited import attribution_group, reference_sentences, wice_group, wice_sentences
from vericite.train.mix.sources.conjoined import Half, conjoined
from vericite.train.mix.sources.corpus import labelled_elsewhere, open_documents, refused
from vericite.train.mix.sources.findings import reports

_DEV_SHARE = 0.05
_WINDOW, _ABSTRACT, _ELSEWHERE = 0.35, 0.12, 0.4
_APART = 0.3


Kind = Literal[
    "certainty", "comparator", "direction", "entity", "merged", "method", "negation", "number", "outcome", "overreach",
    "population", "quantity", "time", "unstated",
]  # fmt: skip


class WrittenClaim(Record):
    """A line of such a file.

    Attributes:
        document: Its text: ``pmid:1``, ``scifact:2``, ``wice:3`` or ``attributionbench:4:0`` (row, reference).
        sentences: Those that decide the claims, by number; what they leave open the whole text does.
        check: Of these sentences, so that a text that was cut otherwise since is noticed (``told_by``).
        kind: What is broken; ``unstated`` where no claim is supported.
        supported: A claim that the sentences entail, if any.
        broken: One that they do not.
        label: What they make of that one.
    """

    document: str
    sentences: tuple[int, ...]
    check: str
    kind: Kind
    supported: str | None = None
    broken: str
    label: Literal["contradicts", "neutral"]


def written(shelf: Shelf) -> Harvest:
    """The claims of every file the shelf names, at three sizes of premise and before sentences that leave them open."""
    harvest, dice = Harvest(), shelf.dice("written")
    # Left out by name they must not take their texts from the other sets, as those of other sets that are left out do.
    if not shelf.written or "written" in shelf.without:
        return harvest
    claims = [claim for path in shelf.written for claim in read_jsonl(WrittenClaim, path)]
    wanted = {claim.document for claim in claims}
    texts = {key: text for key, text in _texts(shelf, wanted) if key in wanted}
    rarity = Rarity(sentence for text in texts.values() for sentence in text)
    labelled = labelled_elsewhere(shelf)
    halves: list[Half] = []
    for claim in claims:
        text = texts.get(claim.document)
        if text is None:
            harvest.note("text that a test holds, or that is left out")
        elif told_by(joined(text, claim.sentences)) != claim.check:
            harvest.note("text cut otherwise now")
        else:
            group = f"written:{claim.document}"
            apart = claim.document not in labelled
            dev = "written_dev" if apart and shelf.is_dev(group, _DEV_SHARE) else None
            case = _Case(claim, text, group)
            harvest.add(case.examples(dice, rarity, wide=dev is None), dev)
            halves += case.halves(apart) if dev is None else []
    harvest.add(conjoined(halves, shelf.dice("conjoined")), None)
    return harvest


@dataclass(frozen=True, slots=True)
class _Case:
    """A line with its text."""

    claim: WrittenClaim
    text: list[str]
    group: str

    def examples(self, dice: random.Random, rarity: Rarity, *, wide: bool) -> list[Example]:
        """Both claims before the same premises, and one of them before a sentence that says something else."""
        claim, chosen = self.claim, list(self.claim.sentences)
        premises = [joined(self.text, chosen)]
        if wide and dice.random() < _WINDOW and len(self.text) > len(chosen):
            premises.append(window(self.text, chosen))
        if wide and dice.random() < _ABSTRACT and len(self.text) > 3:
            premises.append(abstract(self.text, chosen))
        found: list[Example] = []
        for premise in premises:
            broken = replace(self._start(claim.broken, claim.label), premise=premise)
            if claim.supported:
                twin = f"{self.group}:{told_by(premise + claim.broken)}"
                entailed = replace(self._start(claim.supported, "entails"), premise=premise, twin=twin)
                found += [entailed, replace(broken, twin=twin)]
            else:
                found.append(broken)
        if wide and claim.supported and dice.random() < _ELSEWHERE:
            found += self._elsewhere(dice.choice((claim.supported, claim.broken)), dice, rarity)
        return found

    def halves(self, apart: bool) -> list[Half]:
        """What a claim of two things can be made of it."""
        claim, quiet = self.claim, self._quiet()
        if not claim.supported:
            return []
        return [
            Half(
                claim.supported,
                claim.broken,
                claim.label,
                frozenset(claim.sentences),
                joined(self.text, claim.sentences),
                quiet[-1] if quiet else None,
                claim.document,
                self.group,
                apart,
            )
        ]

    def _quiet(self) -> list[str]:
        """What was asked or done: another result may well settle the claim, in words that it does not share."""
        before = self.text[: max(0, min(self.claim.sentences) - 1)]
        return [sentence for sentence in before if not reports(sentence) and len(sentence.split()) > 4]

    def _start(self, text: str, label: Label, kind: str | None = None) -> Example:
        return blank(text, label, "written", kind or self.claim.kind, self.group, self.claim.document)

    def _elsewhere(self, text: str, dice: random.Random, rarity: Rarity) -> list[Example]:
        usable = [sentence for sentence in self._quiet() if rarity.coverage(text, sentence) < _APART]
        return [replace(self._start(text, "neutral", "same-text"), premise=dice.choice(usable))] if usable else []


def _texts(shelf: Shelf, wanted: set[str]) -> Iterator[tuple[str, list[str]]]:
    """The texts that may be used, by name; of pieces and pages only what is wanted, as each is looked up or cut."""
    for document in open_documents(shelf):
        yield document.key, document.sentences
    if "bioasq" not in shelf.without:
        for row in shelf.data.jsonl("corpus/pubmed_corpus.jsonl.gz"):
            key = f"pmid:{row['pmid']}"
            if key in wanted and not row["full"] and not refused(shelf, key, row["title"], row["abstract"]):
                yield key, sentences(row["abstract"])
    if not shelf.permissive:
        yield from _web_texts(shelf, wanted)


def _web_texts(shelf: Shelf, wanted: set[str]) -> Iterator[tuple[str, list[str]]]:
    """Of the halves that are trained on."""
    half = shelf.config.half_share
    for number, row in enumerate(shelf.data.jsonl("attributionbench/dev.jsonl")):
        if "attributionbench" not in shelf.without and not shelf.is_dev(attribution_group(row), half):
            for place, reference in enumerate(row["references"]):
                if (key := f"attributionbench:{number}:{place}") in wanted:
                    yield key, reference_sentences(reference)
    for number, row in enumerate(shelf.data.jsonl("wice/claim_dev.jsonl")):
        key = f"wice:{number}"
        if key in wanted and "wice" not in shelf.without and not shelf.is_dev(wice_group(row), half):
            yield key, wice_sentences(row)
