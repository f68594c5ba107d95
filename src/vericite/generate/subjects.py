"""Subjects of a question, and whether a text is about them: by name, synonym, abbreviation or class, not its opposite.

A question's subjects are its words without those that any biomedical question may have (``subjects.toml``).
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from importlib import resources
from itertools import chain
from typing import Any, Literal, Protocol

from vericite.records import Evidence
from vericite.text.acronyms import Acronym, acronym_pairs
from vericite.text.names import is_mentioned, names_in, spelt
from vericite.text.terms import terms

_ENDINGS = (
    "e|es|ed|s|d|n|t|th|ing|ings|er|ers|or|ors|al|als|ally|ly|y|ies|ied|ying|ion|ions|ation|ations|ication|ications|ive|ives|"
    "ively|ment|ments|able|ance|ances|ant|ants|ent|ents|ence|ences|ently|ity|ities|ic|ics|ical|ically|ous|ously|ness|ful|ise|"
    "ised|ises|ising|ize|ized|izes|izing|ate|ates|ated|ating|sis|ses|ued|ues|uing"
)


@cache
def _generic() -> re.Pattern[str]:
    """Words that any question may have, from ``subjects.toml``; those of four letters or more with any usual ending."""
    words = _subject_table()["generic"].split()
    beginnings = "|".join(word for word in words if len(word) >= 4)
    whole = "|".join(word for word in words if len(word) < 4)
    return re.compile(rf"(?:{beginnings})(?:{_ENDINGS})?|{whole}")


@cache
def _subject_table() -> dict[str, Any]:
    return tomllib.loads(resources.files("vericite.generate").joinpath("subjects.toml").read_text(encoding="utf-8"))


Kind = Literal["same", "act"]
"""Tables of words of one meaning: of things, and of what patients do."""


@cache
def _same(*kinds: Kind) -> list[tuple[str, ...]]:
    """Groups of word beginnings with the same meaning, in the spelling of ``spelt``."""
    return [tuple(spelt(word) for word in group) for kind in kinds or ("same",) for group in _subject_table()[kind]]


_WORD = re.compile(r"[^\W_]{3,}")


def subjects_of(question: str) -> list[str]:
    """Return the subjects of a question: its words, except those that any question may have."""
    found = dict.fromkeys(_WORD.findall(question))
    loud = question.isupper()
    return [
        word
        for word in found
        if not word.isdigit() and ((word.isupper() and not loud) or not _generic().fullmatch(word.lower()))
    ]


_AND_ASKS = re.compile(r",?\s+and\s+(?=(?:what|how|which|when|why|who|where)\b)", re.IGNORECASE)


def parts_of(question: str) -> list[str]:
    """Return the questions that a question asks: "How does X work, and what harm does it do?" asks two.

    A part without words of its own, such as "and why", belongs to the part before. One that points to the subject
    of the first ("its harms") begins with it. One part alone is the question itself.
    """
    parts = _AND_ASKS.split(question.strip().rstrip("?"))
    found: list[str] = []
    for part in parts:
        if found and not set(terms(part)) - _NO_WORDS:
            found[-1] = f"{found[-1]} and {part}"
        else:
            found.append(part)
    if len(found) == 1:
        return [question]
    subject = " ".join(subjects_of(found[0]))
    return [f"{found[0]}?", *(f"{subject}: {part}?" if _POINTS.search(part) else f"{part}?" for part in found[1:])]


_NO_WORDS = frozenset({"not"})
_POINTS = re.compile(r"\b(?:it|its|they|them|their|he|she|his|her|this|these|those|one|ones)\b", re.IGNORECASE)


def unmentioned(subjects: Sequence[str], text: str, *more: Kind) -> list[str]:
    """Return the subjects that a text lacks. A subject is found by its beginning, a synonym or its long form.

    ``more`` are tables of synonyms to read besides the usual one.

    A long word may have one letter more or less, or two that are swapped. With another letter in place of one it is
    another word: nephrotic, nephritic.
    """
    text = spelt(text)
    words = frozenset(re.findall(r"[^\W\d_]{6,}", text))
    same = _same("same", *more)
    return [
        subject for subject in subjects if not (_mentions(text, subject, same) or _is_misspelt(spelt(subject), words))
    ]


def absent(question: str, text: str) -> list[str]:
    """Return the subjects of a question that a text lacks. For a term and its abbreviation, either is enough."""
    lacking = unmentioned(subjects_of(question), text)
    told: set[str] = set()
    for pair in acronym_pairs(question):
        long, short = set(_WORD.findall(pair.long)), set(_WORD.findall(pair.short))
        # In the original case: in lower case, ALL, WAS and CAT are plain words.
        if re.search(rf"(?<!\w){re.escape(pair.singular)}s?(?!\w)", text):
            told |= long
        if long and not unmentioned(sorted(long), text):
            told |= short
    if lacking:
        others = names_in(text)
        told |= {
            word for named in names_in(question) if is_mentioned(named, others) for word in _WORD.findall(named.text)
        }
    return [word for word in lacking if word not in told]


def outcomes_of(question: str) -> list[str]:
    """Return the general outcomes in a question, which are not among its subjects: mortality, survival."""
    subjects = subjects_of(question)
    every = dict.fromkeys(_WORD.findall(question))
    return [word for word in every if word not in subjects and spelt(word).startswith(tuple(chain(*_same())))]


def has_outcome(question: str, text: str) -> bool:
    """Whether a text has what an effect is asked on: every general outcome, such as mortality, and an object."""
    objects = objects_of(question)
    return not unmentioned(outcomes_of(question), text) and (
        not objects or len(_lacking(question, objects, text)) < len(objects)
    )


class SentenceOfSource(Protocol):
    """A sentence, and the marker of its source."""

    text: str
    marker: int


def about_the_asked(question: str, asked: Sequence[SentenceOfSource], evidence: Sequence[Evidence]) -> list[bool]:
    """Whether each sentence is about what is asked, so that it may vote for yes or for no.

    A sentence is excluded if its source has clearly less of what is asked than another source; if another sentence of
    its source has at least twice as much ("cytomegalovirus was not followed by multiple sclerosis" says nothing about
    Epstein-Barr virus); or if the outcome that is asked for is neither in it nor in its source's title. Abbreviations
    that the source explains count as their long forms.
    """
    outcomes, wanted = outcomes_of(question), subjects_of(question)
    sources = {candidate.marker: evidence[candidate.marker - 1].document for candidate in asked}
    explained = {marker: acronym_pairs(source.titled_text) for marker, source in sources.items()}
    texts = [
        " ".join([candidate.text, *_long_forms(candidate.text, explained[candidate.marker])]) for candidate in asked
    ]
    had = [
        len(wanted) + len(outcomes) - len(absent(question, text)) - len(unmentioned(outcomes, text)) for text in texts
    ]
    most = {
        marker: max(count for candidate, count in zip(asked, had, strict=True) if candidate.marker == marker)
        for marker in sources
    }
    matches = {marker: match_of(question, source.titled_text) for marker, source in sources.items()}
    best = max(matches.values())
    lacking = {marker for marker, source in sources.items() if {*wanted[:1]} & {*absent(question, source.titled_text)}}
    others = lacking if lacking != sources.keys() else set[int]()
    others |= {marker for marker, match in matches.items() if match < _MATCHES * best}
    return [
        candidate.marker not in others
        and (not most[candidate.marker] or 2 * count > most[candidate.marker])
        and has_outcome(question, f"{sources[candidate.marker].title} {text}")
        for candidate, text, count in zip(asked, texts, had, strict=True)
    ]


_MATCHES = 0.75
"""Minimum share of the best source's match that a source must reach to vote."""


def match_of(question: str, text: str) -> float:
    """Return the share of the question's subjects that a text has, lowered for other patients than those asked for."""
    share = 1 - len(absent(question, text)) / max(1, len(subjects_of(question)))
    return share * population_match(question, text, text)


def names_of(question: str) -> list[str]:
    """Return the subjects of a question that are names: of drugs, genes and people, and abbreviations."""
    drugs = {word for named in names_in(question) if named.is_drug for word in _WORD.findall(named.text)}
    loud = question.isupper()
    return [
        word
        for word in subjects_of(question)
        if word in drugs
        or (not loud and (re.search(r"[A-Z].*[A-Z]|\d", word) or (word[0].isupper() and not question.startswith(word))))
    ]


_ACTS = re.compile(
    r"^\s*(?:do|does|did|can|could|may|will)\b.*?\s(?:increas|reduc|decreas|lower|rais|improv|prevent|caus|affect|reliev|worsen|"
    r"induc|delay|shorten|prolong|protect)(?:e|es|s)?\s+(?:against\s+|from\s+)?(?P<object>.{3,80}?)"
    r"(?=\s(?:in|after|among|for|during|with|than|when|following|by|of patients)\b|\?|$)",
    re.IGNORECASE,
)


def objects_of(question: str) -> list[str]:
    """Return the subjects that a yes/no question asks about an effect on: seizures in "Does X increase seizures?"."""
    found = _ACTS.search(question)
    return [] if found is None else [word for word in subjects_of(question) if word in _WORD.findall(found["object"])]


def _lacking(question: str, subjects: Sequence[str], text: str) -> list[str]:
    absent_of_all = set(absent(question, text))
    return [subject for subject in subjects if subject in absent_of_all]


def _long_forms(text: str, explained: Iterable[Acronym]) -> Iterator[str]:
    return (pair.long for pair in explained if re.search(rf"(?<!\w){re.escape(pair.singular)}s?(?!\w)", text))


_LONG_WORD = 8
"""Minimum length of a word that may be misspelt."""


def _is_misspelt(subject: str, words: Iterable[str]) -> bool:
    """Whether one of these words is the subject with one letter more or less, or with two letters swapped."""
    return len(subject) >= _LONG_WORD and any(_is_slip(subject, word) for word in words)


def _is_slip(word: str, other: str) -> bool:
    if word[0] != other[0] or abs(len(word) - len(other)) > 1:
        return False
    least = min(len(word), len(other))
    head = next((place for place in range(least) if word[place] != other[place]), least)
    tail = next((place for place in range(least - head) if word[-1 - place] != other[-1 - place]), least - head)
    if len(word) == len(other):
        return head + tail == least - 2 and word[head : head + 2] == other[head + 1] + other[head]
    return head + tail >= least


def _mentions(text: str, subject: str, groups: Sequence[tuple[str, ...]]) -> bool:
    bare = spelt(subject)
    single = bare[:-1] if len(bare) > 3 and re.search(r"[^isu]s$", bare) else bare
    stem = single if len(single) < 6 else single[: max(5, len(single) - 3)]
    if subject[:-1].isupper() and len(single) <= 6:
        # An abbreviation, or the words that it abbreviates.
        spelt_out = r"\w*[\s-]+".join(single)
        return re.search(rf"\b(?:{single}s?\b|{spelt_out})", text) is not None
    if len(stem) < 4:
        # Short words are found whole, in the singular or plural: day, days.
        return re.search(rf"\b(?:{stem}|{bare})s?\b", text) is not None
    # Long subjects are also found within words: statin in atorvastatin, but not conjugated in unconjugated.
    same = [word for group in groups if bare.startswith(group) for word in group]
    begins = "|".join([stem, *same])
    within = rf"|(?<!\bun)(?<!\bnon)(?<!\banti)(?<!\bnon-)(?<!\banti-){single}" if len(single) >= 6 else ""
    return re.search(rf"\b(?:{begins}){within}", text) is not None


@cache
def _opposites() -> tuple[tuple[re.Pattern[str], re.Pattern[str]], ...]:
    """Pairs of patterns of which a question that has only one is not answered by a sentence that has only the other."""
    pairs = [(left, right) for left, right in _subject_table()["opposite"]]
    compiled = [(re.compile(rf"\b(?:{left})"), re.compile(rf"\b(?:{right})")) for left, right in pairs]
    return (*compiled, *((right, left) for left, right in compiled))


_NEGATING = re.compile(r"(?:un|non-?)(?=\w{5})|a(?=symptomatic|typical|febrile|virulent)")
_KIND = re.compile(
    r"\b(type|class|grade|stage|phase|hiv|hsv|htlv|influenza|hepatitis|vitamin)[\s-]([a-k]|[ivx]{1,3}|\d)\d?\b"
)


def is_opposite(question: str, text: str) -> bool:
    """Whether a text is on the opposite of what is asked: unconjugated for conjugated, type 1 for type 2."""
    asked, said = spelt(question), spelt(text)
    for own, other in _opposites():
        if own.search(asked) and not other.search(asked) and other.search(said) and not own.search(said):
            return True
    words = set(re.findall(r"[^\W\d_]+(?:-[^\W\d_]+)*", said))
    own = set(re.findall(r"[^\W\d_]+(?:-[^\W\d_]+)*", asked))
    for subject in map(spelt, subjects_of(question)):
        turned = {f"{prefix}{subject}" for prefix in ("un", "non", "non-", "a")}
        if _NEGATING.match(subject):
            turned.add(_NEGATING.sub("", subject, count=1))
        if len(subject) >= _TURNED and turned & words and subject not in words and not turned & own:
            return True
    kinds = {
        kind: {number for other, number in _KIND.findall(asked) if other == kind} for kind, _ in _KIND.findall(asked)
    }
    for kind, numbers in kinds.items():
        others = {number for other, number in _KIND.findall(said) if other == kind}
        if others and not others & numbers:
            return True
    return False


_TURNED = 7
"""Minimum length of a word whose opposite is looked for: conjugated."""


@cache
def _populations() -> tuple[tuple[tuple[str, re.Pattern[str]], ...], ...]:
    return tuple(
        tuple((name, re.compile(rf"\b(?:{words})")) for name, words in groups.items())
        for groups in _subject_table()["population"].values()
    )


_ANOTHER, _ELSEWHERE = 0.4, 0.6


def population_match(question: str, sentence: str, document: str) -> float:
    """Return a factor: whether a sentence is on the patients asked for, such as children, or only on others.

    Args:
        question: The question.
        sentence: The sentence with its document's title.
        document: The whole document, for a sentence that names no patients.
    """
    asked, said, whole = spelt(question), spelt(sentence), spelt(document)
    factor = 1.0
    for groups in _populations():
        wanted = {name for name, words in groups if words.search(asked)}
        if not wanted:
            continue
        here = {name for name, words in groups if words.search(said)}
        there = here or {name for name, words in groups if words.search(whole)}
        if there and not wanted & there:
            factor *= _ANOTHER if here else _ELSEWHERE
    return factor
