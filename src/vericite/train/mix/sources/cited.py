"""General cited claims: AttributionBench's answers of search engines, WiCE's sentences of Wikipedia."""

from __future__ import annotations

from dataclasses import replace

from vericite.train.mix.example import DocumentExample, Example, Label
from vericite.train.mix.files import Row
from vericite.train.mix.overlap import Rarity
from vericite.train.mix.premises import abstract, clean, joined, sentences
from vericite.train.mix.shelf import Harvest, Shelf, blank

_COVERED = 0.7
# A window with fewer of the claim's words than this is not what a reference was cited for.
_NEAREST = 3


def attributionbench(shelf: Shelf) -> Harvest:
    """AttributionBench's dev part, halved by question; only attributable or not is known."""
    harvest = Harvest()
    rows = shelf.data.jsonl("attributionbench/dev.jsonl")
    rarity = Rarity(reference for row in rows for reference in row["references"])
    for row in rows:
        if shelf.guard.refuses_claim(row["claim"], "attributionbench"):
            continue
        group = attribution_group(row)
        attributable = row["attribution_label"] == "attributable"
        label: Label = "entails" if attributable else "neutral"
        start = replace(blank(row["claim"], label, "attributionbench", "reference", group), binary=True)
        document = [sentence for reference in row["references"] for sentence in reference_sentences(reference)]
        if not document:
            continue
        whole = replace(start, premise=abstract(document))
        harvest.transfer.append(whole)
        if shelf.is_dev(group, shelf.config.half_share):
            harvest.add([whole], "attributionbench_dev")
            continue
        if len(whole.premise.split()) <= 250:
            harvest.train.append(whole)
        harvest.train += _windows(start, document, rarity, attributable)
    return harvest


def attribution_group(row: Row) -> str:
    """What halves AttributionBench: the question."""
    return f"attributionbench:{row['question'].strip().lower()}"


def reference_sentences(reference: str) -> list[str]:
    """The sentences of a reference as AttributionBench has them."""
    return sentences(reference.removeprefix("Title:").strip())


def _windows(start: Example, document: list[str], rarity: Rarity, attributable: bool) -> list[Example]:
    """The nearest three sentences in a row; of an attributable claim only if they have nearly all of its words."""
    if len(document) <= 3:
        return []
    runs = [list(range(first, first + 3)) for first in range(len(document) - 2)]
    best = max(runs, key=lambda run: (rarity.coverage(start.claim, joined(document, run)), -run[0]))
    premise = joined(document, best)
    if len(premise.split()) > 150 or (attributable and rarity.coverage(start.claim, premise) < _COVERED):
        return []
    return [replace(start, premise=premise, kind="window")]


def wice(shelf: Shelf) -> Harvest:
    """WiCE's dev part, halved by page; partly supported is not entailed."""
    harvest = Harvest()
    rows = shelf.data.jsonl("wice/claim_dev.jsonl")
    rarity = Rarity(sentence for row in rows for sentence in row["evidence"])
    for row in rows:
        if shelf.guard.refuses_claim(row["claim"], "wice"):
            continue
        group = wice_group(row)
        supported = row["label"] == "supported"
        label: Label = "entails" if supported else "neutral"
        start = replace(blank(row["claim"], label, "wice", row["label"], group), binary=True)
        document = [clean(sentence) for sentence in row["evidence"]]
        found = _wice_examples(start, row, document, rarity)
        harvest.transfer += found[:1]
        if shelf.is_dev(group, shelf.config.half_share):
            harvest.add(found[:1], "wice_dev")
            whole = DocumentExample(start.claim, tuple(wice_sentences(row)), label, "wice", group, binary=True)
            harvest.documents.setdefault("wice_dev_doc", []).append(whole)
        else:
            harvest.train += found
    return harvest


def wice_group(row: Row) -> str:
    """What halves WiCE: the page."""
    return f"wice:{row['meta']['claim_title']}"


def wice_sentences(row: Row) -> list[str]:
    """The sentences of a cited page, without scraps."""
    return [clean(sentence) for sentence in row["evidence"] if len(clean(sentence).split()) > 2]


def _wice_examples(start: Example, row: Row, document: list[str], rarity: Rarity) -> list[Example]:
    """The supporting sentences if any, else the nearest; and the nearest others, as not entailing."""
    groups = [group for group in row["supporting_sentences"] if group]
    ranked = sorted(range(len(document)), key=lambda index: -rarity.coverage(start.claim, document[index]))
    chosen = groups[:2] or [ranked[:_NEAREST]]
    found = [replace(start, premise=joined(document, group)) for group in chosen]
    used = {index for group in groups for index in group}
    others = [index for index in ranked if index not in used][:2]
    if start.label == "entails" and others:
        found.append(replace(start, premise=joined(document, others), label="neutral", kind="other-sentences"))
    return [example for example in found if 0 < len(example.premise.split()) <= 250]
