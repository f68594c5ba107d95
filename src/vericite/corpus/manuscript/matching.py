"""How likely a reference means a work, and in which fields the two differ."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from functools import cache, lru_cache
from pathlib import Path
from unicodedata import combining, normalize

from vericite.corpus.manuscript.works import PublishedWork
from vericite.records.manuscripts import Reference, ReferenceProblem
from vericite.text.references import reference_key

_WORD = re.compile(r"[^\W_]+")
_GREEK = dict(zip("αβγδεζηθικλμνξοπρσςτυφχψω", """alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu
xi omicron pi rho sigma sigma tau upsilon phi chi psi omega""".split(), strict=True))  # fmt: skip
_LETTERS = str.maketrans({"ß": "ss", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "e", "œ": "e", "ı": "i"})
# British and American spellings, as one.
_SPELLINGS = (
    (re.compile(r"(?<=[a-z])(?:ae|oe)|\b(?:oe|ae)(?=[a-z]{3})"), "e"),
    (re.compile(r"our(?=s?\b|al|ed|ing)"), "or"),
    (re.compile(r"(?<=[a-z]{3})is(?=e[sd]?\b|ing\b|ation)"), "iz"),
    (re.compile(r"ys(?=e[sd]?\b|ing\b)"), "yz"),
    (re.compile(r"tre(?=s?\b)"), "ter"),
    (re.compile(r"ll(?=ed\b|ing\b)"), "l"),
)
_RETRACTED = re.compile(
    r"\W{0,3}(?:retracted(?: article)?|retraction)\s{0,3}:|[\[(]retracted[^)\]]{0,60}[\])]", re.IGNORECASE
)
_TAG = re.compile(r"</?[a-zA-Z]{1,6}>")
_AND = re.compile(r"&(?:amp;)?")


def comparable(text: str) -> str:
    """Fold a text for comparison: lower case, no accents, Greek letters by name, one spelling, words only."""
    text = _AND.sub(" and ", _TAG.sub("", text))
    folded = "".join(char for char in normalize("NFKD", text.casefold()) if not combining(char)).translate(_LETTERS)
    text = " ".join(_WORD.findall("".join(f" {_GREEK[char]} " if char in _GREEK else char for char in folded)))
    for pattern, spelling in _SPELLINGS:
        text = pattern.sub(spelling, text)
    return text


@lru_cache(maxsize=20_000)
def title_words(title: str) -> tuple[str, ...]:
    """Return the words of a title, folded, without a mark of retraction."""
    return tuple(comparable(_RETRACTED.sub("", title)).split())


def title_similarity(one: str, other: str) -> float:
    """Return how similar two titles are, from 0 to 1; a title without its subtitle counts as nearly the same."""
    first, second = title_words(one), title_words(other)
    if not first or not second:
        return 0.0
    if "".join(first) == "".join(second):
        return 1.0
    ratio = SequenceMatcher(None, first, second, autojunk=False).ratio()
    return max(ratio, 0.97) if _begins_with(one, other) or _begins_with(other, one) else ratio


_SUBTITLE = re.compile(r"[:.?!;(\[]|\s[-–—]\s")


def _begins_with(whole: str, part: str) -> bool:
    """Whether one title is the other without its subtitle."""
    short = title_words(part)
    if len(short) < 3 or title_words(whole)[: len(short)] != short:
        return False
    return any(title_words(whole[: found.start()]) == short for found in _SUBTITLE.finditer(whole))


_PARTICLES = frozenset("van von der den de del della di da dos du la le el al bin ibn ter ten zu zur st".split())
_SUFFIX = frozenset(("jr", "sr", "ii", "iii", "iv", "2nd", "3rd"))
_INITIALS = re.compile(r"(?:[^\W\d_]\.?-?){1,4}")


@lru_cache(maxsize=20_000)
def family_name(author: str) -> tuple[str, ...]:
    """Return the folded words of a family name, without particles: ``van der Berg JA`` is ``berg``.

    Given names that are written out stay: they cannot be distinguished from a double name.
    """
    if "," in author:
        family = comparable(author.partition(",")[0]).split()
    else:
        words = [word for word in author.split() if comparable(word) not in _SUFFIX]
        while len(words) > 1 and _INITIALS.fullmatch(words[-1]) and words[-1].replace(".", "").isupper():
            words.pop()
        while len(words) > 1 and _INITIALS.fullmatch(words[0]) and (words[0].endswith(".") or len(words[0]) == 1):
            words.pop(0)
        family = comparable(" ".join(words)).split()
    return tuple(word for word in family if word not in _PARTICLES) or tuple(family)


def _same_name(one: Sequence[str], other: Sequence[str]) -> bool:
    # "Garcia" for "Garcia-Lopez", as catalogues shorten double names.
    return "".join(one) == "".join(other) or set(one) <= set(other) or set(other) <= set(one)


_ET_AL = re.compile(r"\bet\.?\s?al\b|\band (?:others|colleagues)\b|\bothers\b", re.IGNORECASE)


def _listed(authors: Sequence[str]) -> list[tuple[str, ...]]:
    return [name for author in authors if not _ET_AL.search(author) and (name := family_name(author))]


_JOURNAL_NOTE = re.compile(r"\([^)]*\)|\[[^\]]*\]|:.*|=.*|\s/\s.*")
_SMALL = frozenset("the of and for in on a an de la et des der und fur le el los las del di e y in".split())


@lru_cache(maxsize=20_000)
def _journal_words(name: str) -> tuple[str, ...]:
    bare = _JOURNAL_NOTE.sub(" ", name) if comparable(_JOURNAL_NOTE.sub(" ", name)) else name
    words = comparable(bare).split()
    return tuple(word for word in words if word not in _SMALL) or tuple(words)


def same_journal(one: str, other: str) -> bool:
    """Whether two names, in full or abbreviated, may be those of one journal."""
    first, second = _journal_words(one), _journal_words(other)
    if not first or not second or "".join(first) == "".join(second):
        return True
    return (
        _abbreviates(first, second) or _abbreviates(second, first) or _acronym(first, second) or _acronym(second, first)
    )


def _abbreviates(short: Sequence[str], long: Sequence[str]) -> bool:
    # All words count: "Ann Surg" is not "Annals of surgical oncology".
    return len(short) == len(long) and all(map(_abbreviates_word, short, long))


def _abbreviates_word(short: str, long: str) -> bool:
    """Whether a word shortens another: "natl" for "national", "intern" for "internal"."""
    if not long.startswith(short[0]):
        return False
    if long.startswith(short):
        return True
    letters = iter(long)
    return len(short) >= 3 and short[:2] == long[:2] and all(letter in letters for letter in short)


def _acronym(short: Sequence[str], long: Sequence[str]) -> bool:
    if len(short) != 1 or len(long) < 2:
        return False
    return short[0] == "".join(word[0] for word in long)


_NUMBER = re.compile(r"[a-z]{0,4}\d+", re.IGNORECASE)


def page_range(pages: str) -> tuple[str, str | None] | None:
    """Return the first page and the last, in full: ``1234-40`` is 1234 to 1240; None without a number."""
    found = [number.lower() for number in _NUMBER.findall(pages)]
    if not found:
        return None
    first, last = found[0], found[1] if len(found) > 1 else None
    if last is not None and last.isdigit() and len(last) < len(first) and first[-len(last) :].isdigit():
        last = first[: -len(last)] + last
    return first, last


FEATURES = (
    "title", "same title", "title unlike", "first author", "another first author", "other authors", "year", "year near",
    "another year", "journal", "another journal", "volume", "another volume", "page", "another page", "same id",
    "another id",
)  # fmt: skip
"""Names of the features, in the order of ``features``."""


def features(reference: Reference, work: PublishedWork) -> list[float]:
    """Return what speaks for and against a work; what one of the two lacks is 0."""
    document = work.document
    similarity = title_similarity(reference.title, document.title) if reference.title else 0.0
    found: dict[str, float] = {
        "title": similarity**2,
        "title unlike": float(bool(reference.title) and similarity < 0.5),
    }
    # A short title, such as "Sepsis", may be that of many works.
    found["same title"] = float(similarity == 1 and len(title_words(reference.title)) >= 5)
    given, theirs = _listed(reference.authors), _listed(document.authors)
    if given and theirs:
        found["first author"] = float(_same_name(given[0], theirs[0]))
        found["another first author"] = float(not any(_same_name(given[0], name) for name in theirs))
        found["other authors"] = sum(any(_same_name(a, b) for b in theirs) for a in given) / len(given)
    if reference.year and work.years:
        away = min(abs(reference.year - year) for year in work.years)
        found |= {"year": float(away == 0), "year near": float(away == 1), "another year": float(away > 1)}
    if reference.journal and work.journals:
        same = any(same_journal(reference.journal, name) for name in work.journals)
        found |= {"journal": float(same), "another journal": float(not same)}
    if reference.volume and work.volume:
        same = comparable(reference.volume) == comparable(work.volume)
        found |= {"volume": float(same), "another volume": float(not same)}
    if (ours := page_range(reference.pages or "")) and (printed := page_range(work.pages or "")):
        found |= {"page": float(ours[0] == printed[0]), "another page": float(ours[0] != printed[0])}
    ids = [(reference.doi, document.doi), (reference.pmid, document.pmid), (reference.pmcid, document.pmcid)]
    known = [reference_key(one) == reference_key(other) for one, other in ids if one and other]
    if known:
        found |= {"same id": float(any(known)), "another id": float(not any(known))}
    return [found.get(name, 0.0) for name in FEATURES]


@cache
def _weights() -> tuple[float, tuple[float, ...], float]:
    fitted = json.loads(Path(__file__).with_name("matching.json").read_text("utf-8"))
    return fitted["bias"], tuple(fitted["weights"][name] for name in FEATURES), fitted["threshold"]


def threshold() -> float:
    """Return the minimum probability of a work to be the one that a reference means."""
    return _weights()[2]


def probability(reference: Reference, work: PublishedWork) -> float:
    """Return how likely it is that a reference means this work."""
    bias, weights, _ = _weights()
    total = bias + sum(map(float.__mul__, weights, features(reference, work)))
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, total))))


_LEAST_WORDS = 3
"""Minimum words of a title that few works share."""
_NEARLY = 0.8
_ORGANISATION = re.compile(
    r"\b(?:organi[sz]ation|association|society|college|committee|group|institutes?|ministry|agency|cent(?:er|re)s?|council"
    r"|network|collaborat(?:ion|ive|ors)|foundation|federation|commission|department|office|consortium|task force|board"
    r"|academy|program(?:me)?|united nations|initiative|union)\b"
)
_AGAINST = ("another journal", "another volume", "another page", "another id")
_FOR = ("journal", "volume", "page", "same id")
_LONG_TITLE = 8
"""Minimum words of a title that with its first author names one work."""


def has_same_title(reference: Reference, work: PublishedWork) -> bool:
    """Whether a work has the title of a reference, or nearly, and its first author; whatever the year."""
    given, theirs = _listed(reference.authors), _listed(work.document.authors)
    is_same_author = given and theirs and _same_name(given[0], theirs[0]) and not _has_other_initial(reference, work)
    if not is_same_author or len(title_words(reference.title)) < _LEAST_WORDS:
        return False
    return title_similarity(reference.title, work.document.title) >= _NEARLY


def differs_only_in_year(reference: Reference, work: PublishedWork) -> bool:
    """Whether a work has the same title and first author as a reference, a person, and only its year speaks against it.

    A short title is enough only if the journal, volume, page or id agrees. Reports of an organisation have one title
    and a new text each year. The paper of a preprint has another journal.
    """
    if not has_same_title(reference, work) or is_of_organisation(reference):
        return False
    if "".join(title_words(reference.title)) != "".join(title_words(work.document.title)):
        return False
    found = dict(zip(FEATURES, features(reference, work), strict=True))
    if any(found[name] for name in _AGAINST):
        return False
    return len(title_words(reference.title)) >= _LONG_TITLE or any(found[name] for name in _FOR)


def _has_other_initial(reference: Reference, work: PublishedWork) -> bool:
    """Whether the first authors both have an initial, and not the same."""
    if not reference.authors or not work.document.authors:
        return False
    ours, theirs = _first_initial(reference.authors[0]), _first_initial(work.document.authors[0])
    return bool(ours and theirs and ours != theirs)


def _first_initial(author: str) -> str:
    """Return the first letter of the given name of a person; empty for a name without one."""
    family, comma, given = author.partition(",")
    if comma:
        return "" if _ORGANISATION.search(comparable(family)) else comparable(given)[:1]
    words = author.split()
    found = [word for word in words if _INITIALS.fullmatch(word) and word.replace(".", "").replace("-", "").isupper()]
    return comparable(found[0])[:1] if 0 < len(found) < len(words) else ""


def is_of_organisation(reference: Reference) -> bool:
    """Whether the first author of a reference may be an organisation: its name has no given name or initial."""
    return bool(reference.authors) and not _first_initial(reference.authors[0])


def is_other_edition(reference: Reference, work: PublishedWork) -> bool:
    """Whether a work with the title of a reference is of another year, and an organisation's or a namesake's."""
    if not reference.year or not work.years or reference.year in work.years:
        return False
    is_namesake = _has_other_initial(reference, work)
    if not is_namesake and not is_of_organisation(reference):
        return False
    found = dict(zip(FEATURES, features(reference, work), strict=True))
    is_same = found["same id"] or found["page"] or found["journal"] or found["year near"]
    return (is_namesake or has_same_title(reference, work)) and not is_same


def differences(reference: Reference, work: PublishedWork) -> Iterator[ReferenceProblem]:
    """Yield the fields of a reference that differ from the work's record.

    A value of the record that is in the printed text was misread, and is no difference.
    """
    if not work.is_record:
        return
    printed = _PrintedText(reference.text)
    yield from _differing_names(reference, work, printed)
    if reference.year and work.years and reference.year not in work.years:
        if not any(printed.has_number(str(year)) for year in work.years):
            years = " or ".join(map(str, work.years))
            yield ReferenceProblem(kind="year differs", given=str(reference.year), found=years)
    if reference.volume and work.volume and comparable(reference.volume) != comparable(work.volume):
        yield ReferenceProblem(kind="volume differs", given=reference.volume, found=work.volume)
    if reference.pages and work.pages and _pages_differ(reference.pages, work.pages):
        yield ReferenceProblem(kind="pages differ", given=reference.pages, found=work.pages)


def _differing_names(reference: Reference, work: PublishedWork, printed: _PrintedText) -> Iterator[ReferenceProblem]:
    title, theirs = work.document.title, work.document.authors
    if reference.title and title and _titles_differ(reference.title, title) and not printed.has(title):
        yield ReferenceProblem(kind="title differs", given=reference.title, found=title)
    given, found = _listed(reference.authors), _listed(theirs)
    if given and found and _authors_differ(given, found):
        shown = "; ".join(theirs[:6]) + ("; ..." if len(theirs) > 6 else "")
        yield ReferenceProblem(kind="authors differ", given="; ".join(reference.authors), found=shown)
    journal, names = reference.journal, work.journals
    if journal and names and not any(same_journal(journal, name) or printed.has(name) for name in names):
        yield ReferenceProblem(kind="journal differs", given=journal, found=names[0])


_ADDRESS = re.compile(r"(?:https?://|\b10\.\d{4,9}/)\S+")
_LETTERS_IN_PRINT = 5


class _PrintedText:
    """The text of a printed reference, without addresses; empty for a reference of a program."""

    def __init__(self, text: str) -> None:
        self._words = comparable(_ADDRESS.sub(" ", text))
        self._letters = self._words.replace(" ", "")

    def has(self, name: str) -> bool:
        """Whether a name is in the text; a short one may be there by chance."""
        letters = "".join(title_words(name))
        return len(letters) >= _LETTERS_IN_PRINT and letters in self._letters

    def has_number(self, number: str) -> bool:
        """Whether a number is in the text."""
        return number in self._words.split()


def _titles_differ(given: str, found: str) -> bool:
    if "".join(title_words(given)) == "".join(title_words(found)):
        return False
    return not (_begins_with(found, given) or _begins_with(given, found))


def _authors_differ(given: Sequence[tuple[str, ...]], found: Sequence[tuple[str, ...]]) -> bool:
    if not _same_name(given[0], found[0]):
        return True
    return not all(any(_same_name(name, other) for other in found) for name in given)


def _pages_differ(given: str, found: str) -> bool:
    ours, theirs = page_range(given), page_range(found)
    if ours is None or theirs is None:
        return False
    return ours[0] != theirs[0] or (None not in (ours[1], theirs[1]) and ours[1] != theirs[1])
