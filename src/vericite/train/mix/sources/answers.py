"""Exact answers of BioASQ's questions as claims, before the gold snippets that hold the answer in other words."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import cast

from vericite.text.terms import terms
from vericite.train.mix.example import Example
from vericite.train.mix.files import Row
from vericite.train.mix.overlap import Rarity, content
from vericite.train.mix.premises import clean, sentences
from vericite.train.mix.shelf import Harvest, Shelf, blank
from vericite.train.mix.sources.asked import Asked, asked
from vericite.train.mix.sources.questions import Snippet, is_copy, open_questions

_COVERED = 0.55
_NEAR_ANSWER = 0.4
"""How much of the claim the very sentence with the answer must have."""
_APART = (0.12, 0.45)
"""A snippet without the answer that has this much of the claim is about the topic, and does not tell."""
_ANSWERS = 5
_SNIPPETS = 4
_TWICE = 0.35
"""Of the snippets, those that are set before a second wording."""
_SYNONYM = 0.3
_JOINED = 0.25
_HARD = 0.5
_CLAUSE = re.compile(r"[:;?]|\.\s|\b(?:is|are|was|were|has|have|can|which|that|may|not|e\.g|i\.e|etc|or)\b")
_NUMBER = re.compile(r"^(?:\d[\d.,]*|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)$", re.IGNORECASE)
_YEAR = re.compile(r"^(?:[A-Z][a-z]+ )?(?:19|20)\d\d$")
_KINDS = {
    noun: kind
    for kind, nouns in {
        "gene": "gene oncogene",
        "protein": "protein molecule receptor enzyme target kinase antigen cytokine ligand transporter interleukin",
        "disease": "disease disorder syndrome condition cancer infection treat",
        "drug": "drug medication inhibitor antibody treatment antibiotic agent vaccine",
        "tool": "tool algorithm package database method software program server approach",
        "symptom": "symptom sign manifestation complication",
        "cell": "cell tissue organ place",
        "company": "company manufacturer",
    }.items()
    for noun in nouns.split()
}
_FIRST = re.compile(
    r"\b(?:most|first|main|mainly|key|best|only|predominant\w*|primar\w+|major|largest|commonly|common|frequent\w*"
    r"|highest|essential|optimal|faster|fastest|leading|typical\w*|characteristic|master|currently|standard|gold)\b",
    re.IGNORECASE,
)
_DOUBT = re.compile(
    r"\b(?:no evidence|whether|unlikely|(?:do|does|did|was|were|is|are|has|have|had|been|but) not|neither|nor|lack of"
    r"|to (?:evaluate|determine|investigate|assess|test|examine|compare)|investigated|hypothesi[sz]ed?|comparing"
    r"|without|suspected|suggest(?:ing|ed)? that there may)\b",
    re.IGNORECASE,
)
_NAMED = frozenset(("gene", "protein", "disease", "drug"))


@dataclass(frozen=True, slots=True)
class _Turned:
    """A question with its answers; each answer is its names, the first of them the best."""

    key: str
    body: str
    asked: Asked
    answers: tuple[tuple[str, ...], ...]
    single: bool

    @property
    def kind(self) -> str:
        return _KINDS.get(self.asked.noun, self.asked.noun)


@dataclass(frozen=True, slots=True)
class _Others:
    """The answers of all questions, by kind: what a wrong answer is taken from."""

    names: dict[str, list[str]]
    close: dict[str, list[str]]

    def wrong(self, turned: _Turned, own: list[Snippet], name: str, dice: random.Random) -> str | None:
        """Another answer of the kind that no snippet of the question speaks of."""
        close = self.close.get(turned.asked.noun, [])
        pool = close if len(close) > 12 else self.names.get(turned.kind, [])
        words = _own_words(turned) | content(turned.body)
        for other in dice.sample(pool, min(12, len(pool))):
            alike = abs(len(other.split()) - len(name.split())) <= 2 and other.islower() == name.islower()
            if (
                alike
                and not content(other) & words
                and not _is_part(turned, other)
                and not any(_holds(snippet.text, other) for snippet in own)
            ):
                return other
        return None

    def beside(self, turned: _Turned, snippet: Snippet, dice: random.Random) -> str | None:
        """Another name of the kind that the snippet speaks of, apart from the answer."""
        words = _own_words(turned) | content(turned.body)
        found = [
            other
            for other in self.names.get(turned.kind, [])
            if _holds(snippet.text, other)
            and not content(other) & words
            and not _is_part(turned, other)
            and _is_apart(turned, snippet.text, other)
        ]
        return dice.choice(found) if found else None


def answers(shelf: Shelf) -> Harvest:
    """Questions with exact answers as statements: before snippets that say so, that do not tell, and with others'."""
    harvest, dice = Harvest(), shelf.dice("bioasq answers")
    held: list[tuple[_Turned, list[Snippet]]] = []
    texts: list[str] = []
    for question, own in open_questions(shelf):
        texts += [snippet.text for snippet in own]
        turned = _turned(question, own)
        harvest.note("questions turned" if turned else "questions not turned", int(question["type"] in _TYPES))
        if turned:
            held.append((turned, own))
    rarity, others = Rarity(texts), _others([turned for turned, _ in held])
    for turned, own in held:
        dev = "bioasq_exact_dev" if shelf.is_dev(f"bioasq:{turned.key}") else None
        found = list(_examples(turned, own, others, rarity, dice))
        harvest.add([e for e in found if not shelf.guard.refuses_claim(e.claim, "bioasq")], dev)
    return harvest


_TYPES = ("factoid", "list")


def _turned(question: Row, own: list[Snippet]) -> _Turned | None:
    several = question["type"] == "list"
    form = asked(clean(question["body"]), several) if question["type"] in _TYPES else None
    if form is None or not own:
        return None
    text = " ".join(snippet.text for snippet in own)
    named = [tuple(_names(synonyms, form, text)) for synonyms in _synonyms(question)]
    named = [names for names in named if names]
    body = clean(question["body"])
    return _Turned(question["id"], body, form, tuple(named), not several) if named else None


def _synonyms(question: Row) -> list[list[str]]:
    given = cast("list[str] | list[list[str]]", question.get("exact_answer") or [])
    names = [item for item in given if isinstance(item, str)]
    if names:
        return [names] if question["type"] == "factoid" else [[name] for name in names]
    return [item for item in given if not isinstance(item, str)]


def _names(synonyms: list[str], form: Asked, text: str) -> Iterator[str]:
    """The names of an answer that fit into a statement, as the snippets write them."""
    known = frozenset(terms(" ".join(form.wordings)))
    for synonym in synonyms:
        name = clean(synonym).strip(" .,'\"“”‘’")
        name = re.sub(r"^(?:in|on|at|within|by) (?:the )?", "", name, flags=re.IGNORECASE)
        fits = {"number": _NUMBER, "year": _YEAR}.get(form.noun)
        if fits and not fits.match(name):
            continue
        if not 1 <= len(name.split()) <= 6 or len(name) < 2 - bool(fits) or _CLAUSE.search(name):
            continue
        if name.count("(") != name.count(")") or not terms(name) or known.issuperset(terms(name)):
            continue
        small = name[0].lower() + name[1:]
        yield small if re.match(r"[A-Z][a-z]+\b", name) and re.search(rf"\b{re.escape(small)}\b", text) else name


def _others(held: list[_Turned]) -> _Others:
    by_kind: dict[str, dict[str, None]] = {}
    by_noun: dict[str, dict[str, None]] = {}
    for turned in held:
        for names, key in ((by_kind, turned.kind), (by_noun, turned.asked.noun)):
            names.setdefault(key, {}).update((answer[0], None) for answer in turned.answers)
    kinds, nouns = ({key: list(found) for key, found in names.items()} for names in (by_kind, by_noun))
    return _Others(kinds, nouns)


def _examples(
    turned: _Turned, own: list[Snippet], others: _Others, rarity: Rarity, dice: random.Random
) -> Iterator[Example]:
    for names in dice.sample(turned.answers, min(_ANSWERS, len(turned.answers))):
        name = names[0]
        if turned.kind in _NAMED and len(names) > 1 and dice.random() < _SYNONYM:
            name = dice.choice(names[1:])
        scored = [(_said(turned, names, name, snippet.text, rarity), snippet) for snippet in own]
        ranked = sorted(scored, key=lambda pair: (-pair[0], pair[1].text))
        for _, snippet in [pair for pair in ranked if pair[0] >= _COVERED][:_SNIPPETS]:
            wordings = _wordings(turned.asked, dice)
            for wording in wordings[: 1 + (dice.random() < _TWICE)]:
                yield from _pair(turned, wording, name, snippet, own, others, dice)
        yield from _untold(turned, names, own, rarity, dice)


def _wordings(form: Asked, dice: random.Random) -> list[str]:
    """All wordings as they fall, at times those first that leave no room for another answer."""
    wordings = dice.sample(form.wordings, len(form.wordings))
    return sorted(wordings, key=form.denies, reverse=True) if dice.random() < _HARD else wordings


def _said(turned: _Turned, names: tuple[str, ...], name: str, text: str, rarity: Rarity) -> float:
    """How much of the statement a snippet has, or 0 where it lacks the answer or the most telling word."""
    wording = _without(turned.asked.wordings[0])
    known = [name] if turned.kind not in _NAMED or _marks(name) else [*names]
    if not any(_holds(text, held) for held in known) or not _marks(wording) <= _marks(text):
        return 0.0
    if _FIRST.search(wording) and not _FIRST.search(text):
        return 0.0
    parts = sentences(text) or [text]
    rarest = max(sorted(content(wording)), key=rarity.weight, default="")
    if rarest not in content(text):
        return 0.0
    sure = [part for part in parts if _has_any(part, known) and not _DOUBT.search(part)]
    near = max((rarity.coverage(wording, part) for part in sure), default=0.0)
    return rarity.coverage(wording, text) if near >= _NEAR_ANSWER else 0.0


def _has_any(text: str, names: list[str]) -> bool:
    return any(_holds(text, name) for name in names)


def _marks(text: str) -> frozenset[str]:
    """The letters and numbers that tell one type of a thing from another."""
    found = re.findall(r"(?<![\w.])(?:[A-Z]|\d[\d.]*|[IV]{1,3})(?![\w])", text[1:])
    return frozenset(mark.rstrip(".") for mark in found)


def _pair(
    turned: _Turned,
    wording: str,
    name: str,
    snippet: Snippet,
    own: list[Snippet],
    others: _Others,
    dice: random.Random,
) -> Iterator[Example]:
    """A statement before a snippet that says so, and the same with a wrong answer."""
    form, group = turned.asked, f"bioasq:{turned.key}"
    claim = form.claim(wording, name)
    # Copies teach that equal words entail; some are kept, so that they are known at all.
    if is_copy(claim, snippet.text) and dice.random() < 0.7:
        return
    premise = _joined(snippet, own, dice) if dice.random() < _JOINED else snippet.text
    start = replace(blank(claim, "entails", "bioasq", "exact", group, snippet.document), premise=premise)
    denies = form.denies(wording)
    beside = others.beside(turned, snippet, dice) if turned.single and not denies and premise == snippet.text else None
    wrong = beside if beside and dice.random() < _HARD else others.wrong(turned, own, name, dice)
    if wrong is None:
        yield start
        return
    twin = f"{group}:{premise[:40]}:{claim[:60]}"
    yield replace(start, twin=twin)
    label = "contradicts" if denies else "neutral"
    yield replace(start, claim=clean(form.claim(wording, wrong)), label=label, kind="wrong-answer", twin=twin)


def _joined(snippet: Snippet, own: list[Snippet], dice: random.Random) -> str:
    rest = [other.text for other in own if other.text not in snippet.text and snippet.text not in other.text]
    rest = [other for other in rest if len(other.split()) <= 60]
    texts = [snippet.text, *dice.sample(rest, min(1, len(rest)))]
    dice.shuffle(texts)
    return " ".join(texts)


def _untold(
    turned: _Turned, names: tuple[str, ...], own: list[Snippet], rarity: Rarity, dice: random.Random
) -> Iterator[Example]:
    """The right statement before a snippet of the question that has no word of the answer."""
    wording = dice.choice(turned.asked.wordings)
    words = content(" ".join(names))
    low, high = _APART
    usable = [
        snippet
        for snippet in own
        if not content(snippet.text) & words
        and not _may_shorten(snippet.text, names)
        and low < rarity.coverage(_without(wording), snippet.text) < high
    ]
    for snippet in dice.sample(usable, min(1, len(usable))):
        claim = turned.asked.claim(wording, names[0])
        start = blank(claim, "neutral", "bioasq", "exact", f"bioasq:{turned.key}", snippet.document)
        yield replace(start, premise=snippet.text)


def _may_shorten(text: str, names: tuple[str, ...]) -> bool:
    """Whether a text has capitals that may be short for one of the names, or a word with the same stem."""
    stems = {word[:6] for word in content(" ".join(names)) if len(word) > 4}
    if any(stem in text.lower() for stem in stems):
        return True
    first = {name[0].upper() for name in names}
    return any(word[0] in first for word in re.findall(r"\b[A-Z][A-Z0-9]{1,6}\b", text))


def _own_words(turned: _Turned) -> frozenset[str]:
    return content(" ".join(name for names in turned.answers for name in names))


def _is_part(turned: _Turned, other: str) -> bool:
    """Whether a name is within one of the question's answers, or one of them in it."""
    short = "".join(terms(other))
    own = ("".join(terms(name)) for names in turned.answers for name in names)
    return any(short in name or name in short for name in own)


def _without(wording: str) -> str:
    """What a statement says beside the answer."""
    return re.sub(r"\{a\}|<[^>]*>", "", wording)


@lru_cache(maxsize=1 << 16)
def _key(text: str) -> str:
    return f" {' '.join(terms(text))} "


def _holds(text: str, name: str) -> bool:
    """Whether a text has a name, word by word."""
    return _key(name) in _key(text)


def _is_apart(turned: _Turned, text: str, other: str) -> bool:
    """Whether a name stands away from every name of the answers, so that it is not listed with them."""
    words = _key(text)
    place = words.find(_key(other))
    for names in turned.answers:
        for name in names:
            here = words.find(_key(name))
            between = words[min(here, place) : max(here, place)].split()
            if here >= 0 and len(between) < 5 + len(name.split()):
                return False
    return True
