"""The number of participants of a study, from its title and abstract, by rules.

A number counts if it is said of all who were studied, not of a group or of an outcome. Otherwise there is none.
"""

from __future__ import annotations

import re

from vericite.records import Document
from vericite.text.words import SPELT

_LONGEST = 20_000
_FEWEST = 10
"""A smaller number is more often that of a part."""
_SENTENCE = 500
"""Maximum characters of a sentence in which other arms are looked for."""


def _any_of(words: str) -> str:
    return "|".join(words.split())


_WORD = "|".join(sorted(SPELT, key=len, reverse=True))
_IN_WORDS = rf"(?:{_WORD})(?:[ -](?:and[ -])?(?:{_WORD}|hundred|thousand)){{0,6}}"
_NUMBER = (
    rf"(?<![\w.,/–<>≤≥~-])(?<![<>≤≥~] )(?P<n>\d{{1,3}}(?:[,\s]\d{{3}}){{1,3}}|\d{{1,7}}|{_IN_WORDS})"
    r"(?![\w%/–]|-\d|[.,:·]\d|\s?%)"
)
_PERSON = "(?:(?:out|in)?patients|fe?males|" + _any_of(
    "participants subjects individuals persons people volunteers respondents adults children adolescents teenagers "
    "infants neonates newborns babies boys girls women men mothers pregnancies parents couples families caregivers "
    "students residents trainees interns workers employees nurses physicians clinicians practitioners dentists "
    "surgeons managers veterans smokers athletes runners survivors donors recipients midwives laypersons cleaners)"
)
_ANIMAL = "(?:guinea pigs|" + _any_of(
    "rats mice rabbits hamsters gerbils piglets pigs sheep lambs goats dogs cats horses cows calves monkeys animals "
    "chickens broilers)"
)
# Words that no number of participants has between itself and its noun.
_NOT_BETWEEN = _any_of(
    "of in to and or with for at from by than on the who were was had years? months? weeks? days? hours? minutes? min "
    "h mg g kg ml per times studies trials groups? articles centers centres sites hospitals points? percent other more "
    "less remaining additional controls? healthy normal out untreated practices clinics schools units wards villages "
    "households these those treating"
)
_BETWEEN = rf"(?:[ -](?!(?:{_NOT_BETWEEN})\b)[A-Za-z][\w'’/+-]*,?){{0,5}}?[ -]"


def _pattern(*parts: str) -> re.Pattern[str]:
    return re.compile("|".join(parts), re.IGNORECASE)


_PEOPLE, _ANIMALS = (_pattern(rf"{_NUMBER}{_BETWEEN}{noun}\b") for noun in (_PERSON, _ANIMAL))
_IN_BRACKETS = re.compile(
    rf"\b(?i:{_PERSON})[\w ,-]{{0,40}}?[(\[]\s?(?P<sign>[Nn])\s?=\s?(?P<n>[\d,]{{1,9}}\d|\d)\s?[)\]]"
)
_EQUALS = re.compile(r"\b[Nn]\s?=\s?\d")
_BRACKETS = re.compile(r"\s?\([^()]{0,150}\)|\s?\[[^\[\]]{0,150}\]")
_CUE = "took part|stud(?:y|ied)|analy[sz]|" + _any_of(
    "enrol recruit includ participa evaluat examin review survey interview identif investigat compris consist involv "
    "assess entered accrued collected treated receiv undergo underwent allocat assigned scheduled"
)
_RANDOM = r"random(?:i[sz]|ly (?:assign|allocat|divid))"
_RANDOMISED = _pattern(rf"\b{_RANDOM}")
_RANDOMISED_AFTER = _pattern(rf"[^.;,]{{0,160}}?\b{_RANDOM}")
_CUE_BEFORE = _pattern(rf"\b(?:{_CUE}|randomi[sz])\w*(?: (?!{_PERSON})[\w-]+){{0,4}}\W{{0,5}}\Z")
_CUE_AFTER = _pattern(rf"[^.;]{{0,160}}?\b(?:{_CUE}|randomi[sz]|randomly)")
_WHOLE = _any_of(
    "total sample cohort population series survey study trial database data records charts images performed conducted "
    "determined measured assessed"
)
_TOTAL_BEFORE = _pattern(
    rf"\b(?:{_WHOLE}|carried out)(?: \w+)? (?:of|on|from|among|in)\W{{0,5}}\Z",
    r"(?:\A|[.:;]\s+|\n)(?:of|in (?:all|total)|overall|altogether|among)\W{1,5}\Z",
)
# What a number of a part is next to: "12 patients (40 %)", "72 with endometriomas and 55 with cancer", "in each group".
_SHARE_AFTER = _pattern(r"\s?[(\[][^)\]]{0,30}%", r"(?: \w+)? with other\b")
_SECOND_GROUP_AFTER = _pattern(
    rf"[^.;,]{{0,90}}?\b(?:and|versus|vs)(?: in)? (?:\d[\d,]*|{_WORD}) "
    rf"(?:(?:[\w-]+ ){{0,3}}(?:{_PERSON}|controls?)|with|who|from)\b"
)
_LABEL = _any_of("year grade aged? stage phase type genotype serotype day week month class level all")
_OF_PART = _any_of(
    "groups? arms? each per every either other remaining another additional least most than controls? only excluding "
    "excluded in for"
)
_PART_BEFORE = _pattern(
    rf"\b(?:{_LABEL}|,\s+with|\d[\w-]{{0,20}} (?:\S{{1,30}} ){{0,3}}and|size of)\W{{0,5}}\Z",
    rf"\b(?:{_OF_PART})\W+(?:(?:of|with|comprising|included|comprised|were)\W+)?\Z",
    r"[\w%)]\s+(?:out )?of (?:the |these )?\Z",
)
_FATE = _any_of("completed withdrew excluded dropped discontinued died developed experienced had")
_PART_AFTER = _pattern(
    r"[^.;]{0,25}\b(?:in|per|for|to) (?:each|every|either|one|group [a-z0-9])\b",
    r"[^.;]{0,80}\band \w+ (?:\w+[ -]){0,3}(?:controls?|healthy)\b",
    r"(?: \w+){0,3} (?:were )?(?:screened|invited|approached|eligible|asked)\b",
    r"[^.;(]{0,30}\b(?:in|of|to) the [^.;]{0,30}\b(?:groups?|arms?)\b",
    rf"\W{{0,3}}(?:\w+ )?(?:{_FATE}|were (?:lost|excluded|needed|required|positive))\b",
)


# "1561 inpatients to hydroxychloroquine and 3155 to usual care": each arm has its number.
_TO_ARM = r"(?: (?:were|was))?(?: (?:randomly|equally))?(?: (?:assigned|allocated|randomi[sz]ed))? to (?!\d|one|each)"
_FIRST_ARM = _pattern(rf"(?:\s?\([^()]{{0,60}}\))?{_TO_ARM}")
_OTHER_ARMS = _pattern(
    rf"(?:,|\band|\bor|\bversus|\bvs) (?P<n>\d[\d,]*)(?: {_PERSON})?(?:\s?\([^()]{{0,60}}\))?{_TO_ARM}"
)
_ALLOCATED = _pattern(r"\b(?:assign|allocat|randomi[sz]|randomly)")
_REST_TO_ARM = _pattern(r"\b(?:and|while) the (?:others?|rest|remainder|remaining)\b")


def sample_size(document: Document, design: str | None = None) -> int | None:
    """Return the number of people that a study reports on; of animals, if it is a study of animals."""
    text = f"{document.title}\n{document.text}"[:_LONGEST]
    counted = _ANIMALS if design == "animal study" else _PEOPLE
    found: list[tuple[int, int, int]] = []
    behind = 0
    for match in counted.finditer(text):
        if match.start() < behind:
            continue
        arms = _other_arms(text, match)
        if arms is None:
            continue
        value = _value(match["n"]) + sum(_value(arm["n"].rstrip(",")) for arm in arms)
        behind = arms[-1].end() if arms else 0
        found.append((3 if arms else _rank(text, match), -match.start(), value))
    signs = [sign[0] for sign in _EQUALS.findall(text)]
    for match in _IN_BRACKETS.finditer(text):
        # "N = 432" is that of all if the others are "n = 204".
        if signs == [match["sign"]] or (match["sign"] == "N" and signs.count("N") == 1):
            found.append((2, -match.start(), _value(match["n"])))
    rank, _, value = max(found, default=(0, 0, 0))
    return value if rank and value else None


def _rank(text: str, match: re.Match[str]) -> int:
    """Return how surely a number is that of all participants: 0 if it may be that of a part."""
    start = max(text.rfind(". ", 0, match.start()) + 2, match.start() - 100, 0)
    before, after = text[start : match.start()], text[match.end() : match.end() + 300]
    rest = _BRACKETS.sub("", after)
    total = _TOTAL_BEFORE.search(text[max(0, match.start() - 40) : match.start()])
    if _SHARE_AFTER.match(after) or _SECOND_GROUP_AFTER.match(rest):
        return 0
    if not total and (_PART_BEFORE.search(before) or _PART_AFTER.match(after)):
        return 0
    if _RANDOMISED.search(before[-40:]) or _RANDOMISED_AFTER.match(rest):
        return 3
    if total:
        return 2
    cued = _CUE_BEFORE.search(before) or _CUE_AFTER.match(rest)
    return 1 if cued and _value(match["n"]) >= _FEWEST else 0


def _other_arms(text: str, number: re.Match[str]) -> list[re.Match[str]] | None:
    """Return the numbers of the other arms behind that of one arm; None if one is not given."""
    at = number.end()
    arm = _FIRST_ARM.match(text, at)
    if not arm or not _ALLOCATED.search(text, max(0, number.start() - 60), arm.end()):
        return []
    end = re.compile(r"[.;](?:\s|\Z)").search(text, at, at + _SENTENCE)
    until = end.start() if end else min(len(text), at + _SENTENCE)
    return None if _REST_TO_ARM.search(text, at, until) else list(_OTHER_ARMS.finditer(text, at, until))


def _value(words: str) -> int:
    """Return the value of a number in digits or in words."""
    if words[0].isdigit():
        return int(re.sub(r"\D", "", words))
    total = part = 0
    for word in re.split(r"[ -]", words.lower()):
        if word == "hundred":
            part = max(part, 1) * 100
        elif word == "thousand":
            total, part = total + max(part, 1) * 1000, 0
        else:
            part += SPELT.get(word, 0)
    return total + part
