"""Evidence Inference: what a trial found of an outcome, said rightly, reversed, denied, and of other outcomes."""

from __future__ import annotations

import random
import re
from collections import defaultdict
from dataclasses import dataclass, replace

from vericite.train.mix.example import Example, Label
from vericite.train.mix.files import Row
from vericite.train.mix.overlap import Rarity
from vericite.train.mix.premises import clean, sentences
from vericite.train.mix.shelf import Harvest, Shelf, blank, sized
from vericite.train.mix.sources.templates import BETTER, DIRECTED, EQUAL, UNEQUAL, Relation, choose, fill, is_good

_RELATIONS: dict[int, Relation] = {-1: "down", 0: "same", 1: "up"}
_OPPOSITE: dict[Relation, Relation] = {"up": "down", "down": "up", "same": "same"}
# Fields that are clauses, lists or two outcomes at once make no sentence.
_CLAUSE = re.compile(
    r"\b(?:was|were|is|are|had|has|have|received|underwent|vs|versus|compared|respectively|who|which|then|followed"
    r"|receive|placed|only|neither|any|every|between|among)\b"
    r"|[;=<>]|,.*,|\band/or\b",
    re.IGNORECASE,
)
_BRACKETS = re.compile(r"\s*[(\[][^()\[\]]*[)\]]")
_VERBS = re.compile(
    r"\b(?:was|were|is|are|had|has|did|do|no|not|showed|found|differ\w*|increas\w+|decreas\w+|reduc\w+|improv\w+|higher"
    r"|lower|greater|less|more|fewer|better|significant\w*|similar|compar\w+|between|than|demonstrated|observed)\b",
    re.IGNORECASE,
)
_TELLS = re.compile(
    r"\b(?:increas\w+|decreas\w+|reduc\w+|improv\w+|higher|lower|greater|less|more|fewer|better|worse|longer|shorter"
    r"|differ\w*|similar\w*|compar\w+|significan\w+|no effect|superior|inferior|larger|smaller|than|effect\w*"
    r"|equal\w*)\b",
    re.IGNORECASE,
)
_OPENING = frozenset(("The", "A", "An", "In", "Use", "No", "All", "Low", "Two", "One", "New", "Age"))
_OTHER_OUTCOME = 0.3


@dataclass(frozen=True, slots=True)
class _Item:
    """A usable annotation: arms and outcome as phrases, and the sentence that tells."""

    arms: tuple[str, str, str]
    relation: Relation
    evidence: str
    document: list[str]
    place: list[int]
    group: str
    key: str
    pmid: str


def evidence_inference(shelf: Shelf) -> Harvest:
    """Every item through several wordings; a part of the articles is dev."""
    abstracts = {row["pmcid"]: row for row in shelf.data.jsonl("evidence_inference/abstracts.jsonl")}
    harvest, dice = Harvest(), shelf.dice("evidence_inference")
    articles: defaultdict[str, list[_Item]] = defaultdict(list)
    for row in shelf.data.jsonl("evidence_inference/v2_claims.jsonl"):
        if shelf.permissive and not may_ship(abstracts.get(row["pmcid"])):
            harvest.note("left out for the article's licence")
        elif _refused(shelf, row, abstracts.get(row["pmcid"])):
            continue
        elif item := _item(row, abstracts.get(row["pmcid"])):
            articles[row["pmcid"]].append(item)
        else:
            harvest.note("fields or evidence that make no sentence")
    rarity = Rarity(item.evidence for items in articles.values() for item in items)
    pool = sorted({(item.arms[0], pmcid) for pmcid, items in articles.items() for item in items})
    for pmcid in sorted(articles):
        items = articles[pmcid]
        dev = "evidence_inference_dev" if shelf.is_dev(items[0].group) else None
        for item in items:
            harvest.add(_statements(item, shelf, dice, wide=dev is None), dev)
            harvest.add(_irrelevant(item, items, rarity, dice), dev)
            harvest.add(_other_arm(item, pool, pmcid, dice), dev)
    return harvest


def may_ship(article: Row | None) -> bool:
    """Whether an article's licence, as far as it is stated, allows commercial use."""
    licence = ((article or {}).get("license") or "").lower().replace("-", "").replace(" ", "")
    return bool(licence) and "noncommercial" not in licence and "bync" not in licence


def _refused(shelf: Shelf, row: Row, article: Row | None) -> bool:
    title = article["title"] if article else ""
    return shelf.guard.refuses_document(f"pmid:{row['pmid']}", "evidence_inference", title)


def _phrase(field: str) -> str:
    """A field as the middle of a sentence, or nothing if it is no noun phrase."""
    text = _BRACKETS.sub("", clean(field)).strip(" .,:;-")
    words = text.split()
    if not 0 < len(words) <= 10 or len(text) < 3 or _CLAUSE.search(text) or "(" in text or ")" in text:
        return ""
    first = words[0]
    if first in _OPENING or (first[:1].isupper() and first[1:].islower() and len(first) > 3):
        text = text[0].lower() + text[1:]
    return text


def _item(row: Row, article: Row | None) -> _Item | None:
    arms = (_phrase(row["intervention"]), _phrase(row["comparator"]), _phrase(row["outcome"]))
    raw = row["evidence"]
    evidence = clean(raw)
    words = evidence.split()
    letters = sum(map(str.isalpha, evidence)) / max(1, len(evidence))
    if not all(arms) or len({arm.lower() for arm in arms}) < 3 or raw.strip().count("\n") > 1:
        return None
    if not 8 <= len(words) <= 110 or letters < 0.6 or not _VERBS.search(evidence) or not _TELLS.search(evidence):
        return None
    document = sentences(article["abstract"]) if article else []
    place = [index for index, sentence in enumerate(document) if evidence[:60] in sentence or sentence in evidence]
    key = f"{row['prompt_id']}:{row['annotator']}"
    group = f"evidence_inference:{row['pmcid']}"
    return _Item(arms, _RELATIONS[row["label_code"]], evidence, document, place[:2], group, key, f"pmid:{row['pmid']}")


def _start(item: _Item, claim: str, label: Label, kind: str, twin: str | None = None) -> Example:
    start = blank(claim, label, "evidence_inference", kind, item.group, item.pmid)
    return replace(start, premise=item.evidence, twin=f"ei:{item.key}:{twin}" if twin else None)


def _statements(item: _Item, shelf: Shelf, dice: random.Random, *, wide: bool) -> list[Example]:
    """True, reversed and denied; each twin pair is one wording filled in two ways."""
    found: list[Example] = []
    for turn in range(shelf.config.templates_per_item):
        found += _told(item, dice, turn)
    found += _judged(item, dice)
    true = found[0]
    if wide and item.place and dice.random() < shelf.config.window_share:
        sizes = sized(replace(true, twin=None), item.document, item.place, shelf.config, dice)
        found += [example for example in sizes if example.kind in ("window", "abstract")]
    return found


def _told(item: _Item, dice: random.Random, turn: int) -> list[Example]:
    equal, unequal, directed = choose(dice, EQUAL), choose(dice, UNEQUAL), choose(dice, DIRECTED)
    up, down = (fill(directed, item.arms, relation) for relation in ("up", "down"))
    same, differs = fill(equal, item.arms, "same"), fill(unequal, item.arms, "same")
    if item.relation == "same":
        wrong = (up, down)[dice.randrange(2)]
        return [
            _start(item, same, "entails", "equal", f"{turn}a"),
            _start(item, differs, "contradicts", "unequal", f"{turn}a"),
            _start(item, fill(choose(dice, EQUAL), item.arms, "same"), "entails", "equal", f"{turn}b"),
            _start(item, wrong, "contradicts", "direction", f"{turn}b"),
        ]
    right, wrong = (up, down) if item.relation == "up" else (down, up)
    swapped = fill(choose(dice, DIRECTED), (item.arms[1], item.arms[0], item.arms[2]), _OPPOSITE[item.relation])
    return [
        _start(item, right, "entails", "direction", f"{turn}a"),
        _start(item, wrong, "contradicts", "direction", f"{turn}a"),
        _start(item, (swapped, differs)[dice.randrange(2)], "entails", "reworded", f"{turn}b"),
        _start(item, same, "contradicts", "equal", f"{turn}b"),
    ]


def _judged(item: _Item, dice: random.Random) -> list[Example]:
    """Superior or inferior, where the outcome is plainly good or plainly bad."""
    good = is_good(item.arms[2])
    if good is None:
        return []
    template = choose(dice, BETTER)
    true, false = (fill(template, item.arms, relation, good) for relation in ("up", "down"))
    if item.relation == "down":
        true, false = false, true
    if item.relation == "same":
        return [_start(item, (true, false)[dice.random() < 0.3], "contradicts", "superiority")]
    return [
        _start(item, true, "entails", "superiority", "s"),
        _start(item, false, "contradicts", "superiority", "s"),
    ]


def _irrelevant(item: _Item, items: list[_Item], rarity: Rarity, dice: random.Random) -> list[Example]:
    """Statements about this outcome before what the article says of another."""
    apart = [
        other
        for other in items
        if other.evidence != item.evidence
        and rarity.coverage(item.arms[2], other.evidence) < _OTHER_OUTCOME
        and rarity.coverage(other.arms[2], item.evidence) < _OTHER_OUTCOME
    ]
    found: list[Example] = []
    for other in dice.sample(apart, min(2, len(apart))):
        relation: Relation = dice.choice(("up", "down", "same"))
        claim = fill(choose(dice, EQUAL if relation == "same" else DIRECTED), item.arms, relation)
        found.append(_start(replace(item, evidence=other.evidence), claim, "neutral", "other-outcome"))
    return found


def _other_arm(item: _Item, pool: list[tuple[str, str]], pmcid: str, dice: random.Random) -> list[Example]:
    """The true statement with an intervention of another article."""
    arm, origin = pool[dice.randrange(len(pool))]
    if origin == pmcid or set(arm.lower().split()) & set(item.evidence.lower().split()) or dice.random() < 0.4:
        return []
    template = choose(dice, EQUAL if item.relation == "same" else DIRECTED)
    claim = fill(template, (arm, item.arms[1], item.arms[2]), item.relation)
    return [_start(item, claim, "neutral", "other-intervention")]
