"""Claims about clinical trials: CliniFact against abstracts of papers, NLI4CT against sections of registry records."""

from __future__ import annotations

import random
import re
from dataclasses import replace

from vericite.train.mix.example import Example, Label
from vericite.train.mix.files import Row
from vericite.train.mix.groups import components
from vericite.train.mix.overlap import Rarity
from vericite.train.mix.premises import abstract, clean, joined, sentences
from vericite.train.mix.shelf import Harvest, Shelf, blank

_PARTS = ("train", "validation", "test")
# "0" is an inconclusive result: a claim that one arm is superior is then false.
_CLINIFACT: dict[str, Label] = {"0": "contradicts", "1": "entails", "2": "neutral"}
_CONCLUSION = re.compile(r"conclu|interpretation|in summary|significan|superior|compared with|versus|\bP\s?[<=]", re.I)
_COVERED = 0.45
_SPECIAL = re.compile(r" or other\b")
_ELSEWHERE = 0.5  # statements that are also set against a section of another trial


def clinifact(shelf: Shelf) -> Harvest:
    """CliniFact, all parts taken together and split again by paper and trial."""
    folder = "clinifact/data/processed/primary_outcome_publication_dataset"
    rows = [row for part in _PARTS for row in shelf.data.csv(f"{folder}/{part}_set.csv")]
    kept = [row for row in rows if not _clinifact_leaks(shelf, row)]
    groups = components((row["index"], [row["PMID"], row["nctId"]]) for row in kept)
    rarity = Rarity(row["article_abstract"] for row in kept)
    harvest, dice = Harvest(), shelf.dice("clinifact")
    for row in kept:
        group = f"clinifact:{groups[row['index']]}"
        document = sentences(row["article_abstract"])
        start = blank(row["claim"], _CLINIFACT[row["label"]], "clinifact", "abstract", group, f"pmid:{row['PMID']}")
        whole = replace(start, premise=abstract(document))
        dev = shelf.is_dev(group)
        harvest.transfer.append(whole)
        if dev:
            harvest.add([whole], "clinifact_dev")
            continue
        harvest.train.append(whole)
        harvest.train += _telling(start, row, document, rarity, dice)
    return harvest


def _clinifact_leaks(shelf: Shelf, row: Row) -> bool:
    guard, source = shelf.guard, "clinifact"
    return (
        guard.refuses_claim(row["claim"], source)
        or guard.refuses_document(f"pmid:{row['PMID']}", source, row["article_title"])
        or guard.refuses_document(f"nct:{row['nctId']}", source)
    )


def _telling(start: Example, row: Row, document: list[str], rarity: Rarity, dice: random.Random) -> list[Example]:
    """The same claim, plainly worded, against the sentences that most probably decide it."""
    claim = clean(_SPECIAL.sub("", row["claim"]))
    if len(document) < 3:
        return []
    scores = [
        rarity.coverage(claim, sentence) + 0.3 * bool(_CONCLUSION.search(sentence)) + 0.2 * index / len(document)
        for index, sentence in enumerate(document)
    ]
    ranked = sorted(range(len(document)), key=lambda index: -scores[index])
    plain = replace(start, claim=claim)
    found = [replace(plain, premise=joined(document, ranked[:3]), kind="window")]
    closing = document[-3:]
    covered = rarity.coverage(claim, joined(closing, range(len(closing))))
    if (start.label == "neutral" and dice.random() < 0.5) or (start.label != "neutral" and covered >= _COVERED):
        found.append(replace(plain, premise=joined(closing, range(len(closing))), kind="conclusion"))
    return found


def nli4ct(shelf: Shelf) -> Harvest:
    """NLI4CT's training statements against the lines they rest on and the whole section; its dev part is dev."""
    harvest, dice = Harvest(), shelf.dice("nli4ct")
    trials: dict[str, Row] = shelf.data.json("nli4ct/trials.json")
    for part, dev in (("train", None), ("dev", "nli4ct_dev")):
        items = shelf.data.json(f"nli4ct/{part}.json")
        for key in sorted(items):
            item = items[key]
            if _nli4ct_leaks(shelf, item):
                continue
            found = statement_examples(item, trials, key, dev is not None)
            harvest.transfer += [example for example in found if example.kind.endswith("section")]
            # Lists of adverse events and criteria may well deny a statement about another trial.
            if dev is None and item["Section_id"] in ("Intervention", "Results") and dice.random() < _ELSEWHERE:
                found.append(_elsewhere(item, trials, dice, key))
            harvest.add([example for example in found if example.premise], dev)
    return harvest


def _nli4ct_leaks(shelf: Shelf, item: Row) -> bool:
    if shelf.guard.refuses_claim(item["Statement"], "nli4ct"):
        return True
    trials = [item[key] for key in ("Primary_id", "Secondary_id") if item.get(key)]
    return any(shelf.guard.refuses_document(f"nct:{trial}", "nli4ct") for trial in trials)


def statement_examples(item: Row, trials: dict[str, Row], key: str, held_out: bool) -> list[Example]:
    """A statement before the sections it is about, and in training before the lines that tell, too."""
    label: Label = "entails" if item["Label"] == "Entailment" else "contradicts"
    two = "two-" if item.get("Secondary_id") else ""
    start = blank(item["Statement"], label, "nli4ct", f"{two}evidence", f"nli4ct:{item['Primary_id']}")
    lines = [(name, _section(trials[item[f"{name}_id"]], item["Section_id"])) for name in _roles(item)]
    whole = replace(start, premise=_read(lines, 330), kind=f"{two}section")
    if held_out:
        return [whole]
    chosen: list[tuple[str, list[str]]] = [
        (name, [text[i] for i in item[f"{name}_evidence_index"] if i < len(text)]) for name, text in lines
    ]
    short = replace(start, premise=_read(chosen, 200))
    return [short] if short.premise == whole.premise else [short, whole]


def _roles(item: Row) -> list[str]:
    return ["Primary", "Secondary"] if item.get("Secondary_id") else ["Primary"]


def _section(trial: Row, name: str) -> list[str]:
    return trial[next(key for key in trial if key.lower() == name.lower())]


def _read(parts: list[tuple[str, list[str]]], longest: int) -> str:
    """Lines of a record as running text; each trial gets its share of the words."""
    texts: list[str] = []
    for role, lines in parts:
        text = "; ".join(stripped for line in lines if (stripped := clean(line))).replace(":;", ":")
        words = text.split()[: longest // len(parts)]
        if words:
            texts.append(f"{role} trial: {' '.join(words)}.")
    return " ".join(texts)


def _elsewhere(item: Row, trials: dict[str, Row], dice: random.Random, key: str) -> Example:
    """A statement before the same section of trials that it is not about."""
    other = [trials[name] for name in dice.sample(sorted(trials), len(_roles(item)))]
    parts = [(role, _section(trial, item["Section_id"])) for role, trial in zip(_roles(item), other, strict=True)]
    start = blank(item["Statement"], "neutral", "nli4ct", "other-trial", f"nli4ct:{item['Primary_id']}")
    return replace(start, premise=_read(parts, 120))
