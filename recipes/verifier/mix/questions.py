"""Sets of questions: PubMedQA's conclusions and BioASQ's ideal answers, before the texts they were drawn from."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise

from mix.example import Example
from mix.folder import Row
from mix.guard import mirage_bioasq, normal, pmid_of
from mix.passages import Nearest, Rarity, abstract, clean, finding, joined, result_window, sentences, without_heading
from mix.recipe import Harvest, Shelf, blank

_CONTEXT_COVERED = 0.55
_SNIPPET_COVERED = 0.6
_SNIPPET_APART = 0.25
# Above this a near text may well say the same as the claim does.
_TOO_NEAR = 0.5
_TOGETHER = 0.87  # what two or three snippets must have of a claim
_LEAST = 0.35  # what the first of them must have
_GAIN = 0.06  # a snippet that adds less than this is not needed
_MARK = re.compile(r"(?<=.)\b(?:[A-Z][\w-]*|\w*\d[\w.,-]*\w|\d)\b")  # names and numbers, not the first word
_LOOSE = re.compile(
    r"\b(?:never|should|important to note)\b|\b\d\.(?: |$)"
)  # hardly told by equal words; lists cut short
_OPEN = re.compile(r"\b(?:under review|yet to be|not yet|remains? (?:unclear|unknown)|did not differ)\b")
_STRONG = re.compile(
    r"\b(?:most|main|major|preferred|only|particularly|primar\w+|key|highest|lowest|first|best|all|always|gold)\b",
    re.IGNORECASE,
)
_ANSWER = re.compile(r"^(?:yes|no)\b[,.;:!]?\s*", re.IGNORECASE)


def pubmedqa(shelf: Shelf) -> Harvest:
    """The half that is no test: conclusions before their contexts, questions as statements before conclusions."""
    tested = shelf.data.json("pubmedqa/test_ground_truth.json")
    items = {pmid: item for pmid, item in shelf.data.json("pubmedqa/ori_pqal.json").items() if pmid not in tested}
    rarity = Rarity(context for item in items.values() for context in item["CONTEXTS"])
    harvest = Harvest()
    for pmid in sorted(items):
        item, group = items[pmid], f"pubmedqa:{pmid}"
        if shelf.guard.refuses_document(f"pmid:{pmid}", "pubmedqa", item["QUESTION"]):
            continue
        dev = "pubmedqa_dev" if shelf.is_dev(group) else None
        document = [sentence for context in item["CONTEXTS"] for sentence in sentences(context)]
        harvest.add(_conclusions(item, document, group, pmid, rarity), dev)
    return harvest


def _conclusions(item: Row, document: list[str], group: str, pmid: str, rarity: Rarity) -> list[Example]:
    found: list[Example] = []
    for sentence in sentences(item["LONG_ANSWER"]):
        claim = finding(sentence)
        if not claim or len(document) < 3:
            continue
        start = blank(claim, "entails", "pubmedqa", "conclusion", group, f"pmid:{pmid}")
        best, covered = result_window(claim, document, rarity)
        if covered >= _CONTEXT_COVERED:
            found.append(replace(start, premise=joined(document, best)))
        if covered >= _CONTEXT_COVERED - 0.1:
            found.append(replace(start, premise=abstract(document, best), kind="abstract"))
        found += _far_sentences(start, document, rarity)
    return found


def _far_sentences(start: Example, document: list[str], rarity: Rarity) -> list[Example]:
    """Background and methods of the same abstract, which share the topic and do not tell."""
    early = document[: len(document) // 2]
    apart = [sentence for sentence in early if 0.05 < rarity.coverage(start.claim, sentence) < _SNIPPET_APART]
    return [replace(start, premise=sentence, label="neutral", kind="same-abstract") for sentence in apart[:1]]


@dataclass(frozen=True, slots=True)
class Snippet:
    """A gold passage of a question."""

    text: str
    document: str
    question: str


def bioasq(shelf: Shelf) -> Harvest:
    """Ideal answers, sentence by sentence, before gold snippets of their question and of others."""
    questions = open_questions(shelf)
    by_question = {question["id"]: own for question, own in questions}
    snippets = [snippet for _, own in questions for snippet in own]
    rarity = Rarity(snippet.text for snippet in snippets)
    nearest = Nearest([snippet.text for snippet in snippets], [snippet.question for snippet in snippets])
    harvest, dice = Harvest(), shelf.dice("bioasq")
    for question, own in questions:
        group = f"bioasq:{question['id']}"
        dev = "bioasq_dev" if shelf.is_dev(group) else None
        for claim in _answer_claims(question):
            if shelf.guard.refuses_claim(claim, "bioasq"):
                continue
            start = blank(claim, "entails", "bioasq", "answer", group)
            harvest.add(_weak(start, own, rarity, dice), dev)
            far = nearest.find(claim, question["id"], 4)
            near = [snippets[index] for index in far]
            harvest.add(_far(start, near, own, rarity, shelf.config.near_negatives), dev)
            harvest.add(_assembled(start, own, near, by_question, rarity, dice), dev)
    return harvest


@lru_cache(maxsize=1)
def open_questions(shelf: Shelf) -> list[tuple[Row, list[Snippet]]]:
    """BioASQ's questions that no test holds, each once, with their passages; kept, so that drops are counted once."""
    asked = [question for question in _questions(shelf) if not _refused(shelf, question)]
    return [(question, list(_snippets(shelf, question))) for question in asked]


def _questions(shelf: Shelf) -> list[Row]:
    folders = ("mirage/rawdata/bioasq", "bioasq12b", "bioasq13b")
    return list({q["id"]: q for folder in folders for q in shelf.data.questions(folder)}.values())


def _refused(shelf: Shelf, question: Row) -> bool:
    if question["id"] in mirage_bioasq(shelf.data):
        shelf.guard.dropped["bioasq", "question id", "mirage bioasq"] += 1
        return True
    return shelf.guard.refuses_claim(question["body"], "bioasq")


def _snippets(shelf: Shelf, question: Row) -> Iterator[Snippet]:
    """The gold passages of a question that can be premises, without those of tested documents."""
    seen: set[str] = set()
    for snippet in question.get("snippets", []):
        text, document = clean(snippet["text"]), pmid_of(snippet["document"])
        if text in seen or not 6 <= len(text.split()) <= 120 or text.endswith("?") or text[0].islower():
            continue
        seen.add(text)
        if not shelf.guard.refuses_document(document, "bioasq"):
            yield Snippet(without_heading(text), document, question["id"])


def _answer_claims(question: Row) -> Iterator[str]:
    """The sentences of the first two ideal answers that can stand alone."""
    seen: set[str] = set()
    for answer in question.get("ideal_answer", [])[:2]:
        for sentence in sentences(answer):
            claim = _ANSWER.sub("", without_heading(sentence))
            claim = claim[:1].upper() + claim[1:]
            opening = claim.split(" ", 1)[0].lower().strip(",")
            if 6 <= len(claim.split()) <= 45 and opening not in _DANGLING and claim not in seen and claim.endswith("."):
                seen.add(claim)
                yield claim


_DANGLING = frozenset(
    """it they this these those he she however therefore thus also moreover furthermore additionally hence such that
    its their both in-addition other others""".split()
)


def _weak(start: Example, own: list[Snippet], rarity: Rarity, dice: random.Random) -> list[Example]:
    """Snippets of the question by how much of the claim they have: nearly all, or nearly nothing."""
    scored = [(rarity.coverage(start.claim, snippet.text), snippet) for snippet in own]
    copies = [pair for pair in scored if is_copy(start.claim, pair[1].text)]
    close = [pair for pair in scored if pair[0] >= _SNIPPET_COVERED and pair not in copies]
    close = sorted(close, key=lambda pair: (-pair[0], pair[1].text))[:4]
    # Copies teach that equal words entail; one in four is kept, so that they are known at all.
    kept = close + [pair for pair in copies[:1] if dice.random() < 0.25]
    apart = [pair for pair in scored if pair[0] < _SNIPPET_APART]
    away = dice.sample(apart, min(1, len(apart)))
    return [
        *(replace(start, premise=snippet.text, document=snippet.document) for _, snippet in kept),
        *(
            replace(start, premise=snippet.text, document=snippet.document, label="neutral", kind="same-question")
            for _, snippet in away
        ),
    ]


def is_copy(claim: str, premise: str) -> bool:
    """Whether four in five word pairs of the claim stand in the premise."""
    wanted, held = (set(pairwise(normal(text).split())) for text in (claim, premise))
    return len(wanted & held) >= 0.8 * len(wanted)


def _far(start: Example, found: list[Snippet], own: list[Snippet], rarity: Rarity, count: int) -> list[Example]:
    """The nearest snippets of other questions, but of no document of this one, and not those that may say the same."""
    documents = {snippet.document for snippet in own}
    usable = [
        snippet
        for snippet in found
        if snippet.document not in documents
        and 0.1 < rarity.coverage(start.claim, snippet.text) < _TOO_NEAR
        and len(snippet.text.split()) > 7
    ]
    return [
        replace(start, premise=snippet.text, document=snippet.document, label="neutral", kind="near")
        for snippet in usable[:count]
    ]


def _assembled(
    start: Example,
    own: list[Snippet],
    near: list[Snippet],
    by_question: dict[str, list[Snippet]],
    rarity: Rarity,
    dice: random.Random,
) -> list[Example]:
    """A claim that no snippet of the question tells alone, before those that tell it together; and before others."""
    chosen = _LOOSE.search(start.claim) is None and _together(start.claim, own, rarity)
    if not chosen:
        return []
    texts = [snippet.text for snippet in chosen]
    apart = {snippet.document for snippet in own}
    others = [one for one in near if one.document not in apart and rarity.coverage(start.claim, one.text) < _TOO_NEAR]
    if others and dice.random() < 0.3:
        texts.append(min((one.text for one in others), key=len))
    if dice.random() < 0.4:
        dice.shuffle(texts)
    start = replace(start, kind="answer-joined")
    found = [replace(start, premise=" ".join(texts), document=chosen[0].document)]
    words = sum(len(text.split()) for text in texts)
    for other in others[:1]:
        pool = [one for one in by_question[other.question] if one.text != other.text and one.document not in apart]
        pool.sort(key=lambda one: (abs(len(one.text.split()) - words // len(texts)), one.text))
        premise = " ".join([other.text, *(one.text for one in pool[: len(texts) - 1])])
        if rarity.coverage(start.claim, premise) < _TOO_NEAR:
            found.append(replace(start, premise=premise, label="neutral", document=other.document))
    return found


def _together(claim: str, own: list[Snippet], rarity: Rarity) -> list[Snippet]:
    """Two or three snippets that tell a claim, with the next best beside one that tells all alone; else none."""
    usable = [snippet for snippet in own if len(snippet.text.split()) <= 80]
    chosen: list[Snippet] = []
    covered = 0.0
    while (covered < _TOGETHER or len(chosen) == 1) and len(chosen) < 3:
        text = " ".join(snippet.text for snippet in chosen)
        scored = [(rarity.coverage(claim, f"{text} {one.text}"), one) for one in usable if one.text not in text]
        best, snippet = max(scored, key=lambda pair: (pair[0], pair[1].text), default=(0.0, None))
        needed = _GAIN if covered < _TOGETHER else 0.0
        if snippet is None or best < covered + needed or (not chosen and not _LEAST < best):
            return []
        covered, chosen = best, [*chosen, snippet]
    premise = " ".join(snippet.text for snippet in chosen)
    return chosen if covered >= _TOGETHER and _has_marks(claim, premise) and not is_copy(claim, premise) else []


def _has_marks(claim: str, premise: str) -> bool:
    """Whether a premise has every name and number of a claim, and something as strong where the claim is strong."""
    held = f" {normal(premise)} "
    if _OPEN.search(premise):
        return False
    strong = {word.lower() for word in _STRONG.findall(claim)}
    told = {word.lower() for word in _STRONG.findall(premise)}
    return strong <= told and all(f" {normal(mark)} " in held for mark in _MARK.findall(claim) if normal(mark))
