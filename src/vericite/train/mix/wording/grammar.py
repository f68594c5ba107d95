"""The little grammar that moving words about needs: capitals, articles, number, and what a clause is."""

from __future__ import annotations

import re
from itertools import pairwise

_PROPER = frozenset(
    "Parkinson Alzheimer Crohn Huntington Hodgkin Down Japan China India Africa Europe America Australia Canada "
    "Germany "
    "France Sweden Denmark Norway Finland Taiwan Korea England Brazil Iran Asian Chinese Japanese African European "
    "American Korean Indian Caucasian Hispanic Latino Black White English Medicare Medicaid Gram Doppler Notch Hippo "
    "Wnt Akt Ras Myc Bcl Hedgehog Kaplan Cox Cochrane Helicobacter Escherichia Staphylococcus Streptococcus Candida "
    "Mycobacterium Plasmodium Pseudomonas Salmonella Drosophila Arabidopsis Clostridium Toxoplasma Listeria January "
    "February March April May June July August September October November December Bayesian Western Northern Southern "
    "Toll Fas Swedish German French Danish Israeli Iranian Italian Spanish Dutch Turkish Egyptian Thai Chagas "
    "Lyme Zika Ebola Dengue Facebook Internet Polish Greek Romanian Malaysian Nigerian Australian Canadian Italy "
    "Spain Israel "
    "Iran Turkey Egypt Mexico Mexican Nigeria Kenya Uganda Ethiopia Pakistan Bangladesh Thailand Vietnam Sjogren "
    "Kawasaki Bell Cushing Graves Marfan Turner Klinefelter Leishmania Trypanosoma Chlamydia Legionella Aspergillus "
    "Saccharomyces Caenorhabditis Xenopus Wilms Ewing Kaposi Burkitt Barrett Raynaud Monte Likert Apgar".split()
)
_OPENING = frozenset("The These This Those Our Their Its In With Treatment Both Use Patients People Mean".split())
_PLURAL = frozenset(
    "children men women people mice data bacteria criteria teeth feet both these those they few".split()
)
_SINGULAR = frozenset(
    "diabetes herpes series rabies species measles statistics genetics access always this his".split()
)
_SPLIT = re.compile(
    r" (?:of|in|on|at|for|with|from|to|by|after|during|among|between|within|without|under|against|per|as|over|who|that"
    r"|treated|receiving|given|than|following|using|undergoing|via|through|before|until|towards?)\b"
)
_VOWEL = re.compile(
    r"(?!uni|use|usual|eu|one\b|once\b|ubi|uti|ure)[aeiou]|hour|honest|[AEFHILMNORSX][A-Z0-9-]+\b|8|11\b|18\b"
)
FINITE = re.compile(
    r"\b(?:was|were|is|are|had|has|have|did|does|do|can|could|may|might|will|would|should|must|showed|shows|remained"
    r"|became|occurred|appeared|seemed|differed|received|led|fell|rose|resulted|correlated|cannot|exhibited|displayed"
    r"|demonstrated|plays?|played|produced|caused|reported|developed|reached|ranged|tended|suggests?|indicates?|revealed|reveals|relapsed|provided|experienced|represents?)\b"
)
"""Words that are the verb of a clause, wherever they stand."""
NEGATED = re.compile(
    r"\b(?:not?|none|never|neither|nor|without|cannot|only|fail(?:s|ed)?|lack(?:s|ed)?|unless)\b", re.I
)
"""Words under which to drop a detail would be to claim more."""


def capital(text: str) -> str:
    """The text with a capital at its beginning."""
    return text[:1].upper() + text[1:]


def lowered(text: str) -> str:
    """The beginning of a sentence as it would stand within one; names and abbreviations keep their capitals."""
    word = re.match(r"[^\s,;:)]+", text)
    if word and len(word[0]) > 1 and re.match(r" (?!I\b)[A-Z][a-z]", text[word.end() :]) and word[0] not in _OPENING:
        return text
    if not word or not re.fullmatch(r"[A-Z][a-z]+(?:-[a-z]+)*|A(?= [a-z])", word[0]):
        return text if not text.startswith("A ") else "a" + text[1:]
    stem = word[0].split("-")[0]
    return text if stem in _PROPER or stem.removesuffix("n") in _PROPER else text[0].lower() + text[1:]


def head(phrase: str) -> str:
    """The noun that a noun phrase is about: the last word before what is hung on to it."""
    words = _SPLIT.split(f" {phrase}", maxsplit=1)[0].split() or phrase.split()
    return words[-1].strip(",;").lower() if words else ""


def plural(phrase: str) -> bool:
    """Whether a noun phrase takes a plural verb."""
    front = _SPLIT.split(phrase, maxsplit=1)[0]
    if re.search(r" and ", front) and not re.match(r"between|combin", phrase):
        return True
    noun = head(phrase)
    if noun in _PLURAL:
        return True
    return noun.endswith("s") and noun not in _SINGULAR and not re.search(r"(?:ss|is|us|itis|[A-Z]S)$", noun)


def nominal(phrase: str, most: int = 14) -> bool:
    """Whether words are likely a noun phrase by itself: short, without a verb, a clause or loose brackets."""
    words = phrase.split()
    if not 0 < len(words) <= most or FINITE.search(phrase) or re.search(r"[;:,()]", phrase):
        return False
    if re.search(
        r"\b(?:that|which|whose|when|if|because|while|whereas|although|but|however|there|it|we|they)\b", phrase, re.I
    ):
        return False
    return not re.search(r"(?:^|\b)(?:of|in|with|for|by|to|and|or|the|an?|than|not|also|as|both|its|their)$", phrase)


def article(phrase: str) -> str:
    """The phrase with "a" or "an" before it."""
    return f"{'an' if _VOWEL.match(phrase) else 'a'} {phrase}"


def mended(text: str) -> str:
    """The text with single spaces, fitting articles, a capital and a full stop."""
    text = re.sub(r"\s+", " ", text).strip()
    text = re.sub(r" ([,;.])", r"\1", text)
    text = re.sub(r",+(?=[,.])|,(?=\.)", "", text)
    text = re.sub(r"[\s,;]*\.*$", "", text) + "."
    text = re.sub(r"\b(the|an?) (?:the|an?) ", r"\1 ", text)
    return capital(re.sub(r"(?:^|(?<= ))(a|(?<!.)A)n? (?=([a-z]+))", _fitting, text))


def _fitting(match: re.Match[str]) -> str:
    return f"{match[1]}{'n' if _VOWEL.match(match[2]) else ''} "


def kept(text: str, original: str) -> float:
    """The share of the original's pairs of neighbouring words that the text still has."""
    pairs = _pairs(original)
    return len(pairs & _pairs(text)) / len(pairs) if pairs else 1.0


def _pairs(text: str) -> set[tuple[str, str]]:
    words = re.findall(r"[a-z0-9]+(?:[.'-][a-z0-9]+)*|[^\x00-\x7f]+", text.lower())
    return set(pairwise(words))


def fronted(text: str) -> tuple[str, str]:
    """A phrase of place, time or people at the beginning with its comma, and the rest; "" if there is none."""
    match = re.match(
        r"(?P<front>(?:In|Among|After|During|At|Over|For|Following|Within|Under|Overall|Compared|Relative|Before"
        r"|Upon|By)"
        r"\b[^,;:()]{0,120}, )(?P<main>(?!and\b|or\b|but\b)\S.*)$",
        text,
    )
    if match and not FINITE.search(match["front"]):
        return match["front"], match["main"]
    return "", text
