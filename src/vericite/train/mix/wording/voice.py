"""The passive made active, and the active passive."""

from __future__ import annotations

import re

from vericite.train.mix.wording.grammar import FINITE, NEGATED, capital, fronted, lowered, nominal, plural
from vericite.train.mix.wording.verbs import BY_PARTICIPLE, BY_PAST, BY_THIRD, PARTICIPLE, PAST, THIRD

_ADVERB = (
    r"(?:(?:significantly|markedly|strongly|substantially|effectively|potently|further|partially|completely|directly"
    r"|greatly) )?"
)
_PASSIVE = re.compile(
    rf"^(?P<x>.+?) (?P<be>was|were|is|are|can be|may be|could be|might be|has been|have been) (?P<adv>{_ADVERB})"
    rf"(?P<verb>{PARTICIPLE}) by (?P<y>.+)\.$"
)
_ACTIVE = re.compile(rf"^(?P<y>.+?) (?P<adv>{_ADVERB})(?P<verb>{PAST}|{THIRD}) (?P<x>(?!by\b|in\b|with\b).+)\.$")
_REST = re.compile(
    r" (?:in|after|during|at|among|when|compared|relative|through|via|within|over|following|throughout|by|under"
    r"|without|versus|"
    r"vs|both|on day|from \d|as|to|independently|but|for|with|while|and (?:was|were|is|are|had|did))\b"
)
_NO_AGENT = re.compile(
    (
        r"(?:an? |about |approximately |only |at least |up to |more than |nearly |over )?(?:\d|half|mean|one|two"
        r"|three|factor|average)|means\b"
    ),
    re.I,
)
_NO_OBJECT = re.compile(
    r"^(?:significantly|and|or|from|to|than|when|after|as|of|at|on|more|less|over|during|only|for|but|its|their"
    r"|his|her)\b"
)


def _parted(text: str) -> tuple[str, str]:
    """A noun phrase and the adverbials after it."""
    found = _REST.search(text)
    return (text[: found.start()], text[found.start() :]) if found else (text, "")


def active(text: str) -> str | None:
    """Thus "X was reduced by Y in Z." -> "Y reduced X in Z."."""
    front, main = fronted(text)
    match = _PASSIVE.match(main)
    if not match or NEGATED.search(main):
        return None
    x, (y, rest) = match["x"], _parted(match["y"])
    verb = BY_PARTICIPLE[match["verb"]]
    if _HELD.search(y) and rest.startswith((" in", " within")):
        return None
    if _NO_AGENT.match(y) or not nominal(x) or not nominal(y) or FINITE.search(rest) or "," in rest:
        return None
    be, many = match["be"], plural(y)
    if re.match(r"[a-z]+ing\b(?! (?:factor|agent|protein|cell|drug|cost)s?)", y):
        many = False
    if be in ("was", "were"):
        said = verb.past
    elif be in ("is", "are"):
        said = verb.base if many else verb.third
    elif be.endswith(" be"):
        said = f"{be[:-3]} {match['adv']}{verb.base}"
    else:
        said = f"{'have' if many else 'has'} {match['adv']}{verb.participle}"
    adverb = match["adv"] if be in ("was", "were", "is", "are") else ""
    return capital(f"{front}{y} {adverb}{said} {lowered(x)}{rest}.")


def passive(text: str) -> str | None:
    """Thus "Y reduced X in Z." -> "X was reduced by Y in Z."."""
    front, main = fronted(text)
    if NEGATED.search(main):
        return None
    match = _ACTIVE.match(main)
    if not match or not _subject(match["y"]):
        return None
    verb = BY_PAST.get(match["verb"]) or BY_THIRD[match["verb"]]
    past = match["verb"] in BY_PAST
    if verb.base in _LEFT_ACTIVE or _NO_OBJECT.match(match["x"]):
        return None
    x, rest = _parted(match["x"])
    if _HELD.search(x) and rest.startswith(" in"):
        return None
    if not nominal(x) or FINITE.search(rest) or re.search(r"[,;(]", rest) or _verbs(rest) or _verbs(x):
        return None
    be = ("were" if plural(x) else "was") if past else ("are" if plural(x) else "is")
    agent = lowered(match["y"]) if not front else match["y"]
    if amount := re.match(
        r" by (?:about |approximately |more than |up to )?[\d.]+ ?(?:%|percent|[a-z]+)?(?= |$)", rest
    ):
        return capital(
            f"{front}{x} {be} {match['adv']}{verb.participle}{amount[0]} with {agent}{rest[amount.end() :]}."
        )
    if re.match(r" (?:by|to|from|and|for|as|with)\b", rest):
        return None
    return capital(f"{front}{x} {be} {match['adv']}{verb.participle} by {agent}{rest}.")


_LEFT_ACTIVE = frozenset(
    "follow precede support explain express confirm protect double halve undergo worsen produce control".split()
)


def _subject(phrase: str) -> bool:
    """Whether words before a verb are its subject, not words that make a participle of it."""
    if not nominal(phrase) or re.search(r" (?:who|and|or|also|then|significantly|the|an?|of|more|less|to)$", phrase):
        return False
    if phrase.lower() in (
        "the",
        "a",
        "an",
        "this",
        "these",
        "those",
        "no",
        "both",
        "all",
        "which",
        "who",
        "it",
        "such",
    ):
        return False
    if re.search(rf"(?<!\w)(?:{PAST}|{THIRD})$", phrase) or re.search(r" (?:had|with|for|from|by|in)$", phrase):
        return False
    return not re.match(
        r"(?:In|After|During|With|At|By|For|To|Among|When|If|As|On|From|Both|Despite|Because|Although)\b", phrase
    )


def _verbs(text: str) -> bool:
    return bool(re.search(rf"\b(?:and|or) (?:[a-z]+ly |also |then )*(?:{PAST}|{THIRD}|[a-z]+[^s\W]ed)\b|\bbut\b", text))


_HELD = re.compile(
    r"(?:changes?|increases?|decreases?|reductions?|improvements?|differences?|decline|rise|fall|loss|gain"
    r"|variations?|alterations?|blocks?|mutations?|defects?|deficits?|deficiency|role|variants?|inhibition)$"
)
_FALLING = frozenset("reduce decrease lower diminish attenuate suppress inhibit".split())
_RISING = frozenset("increase elevate raise enhance augment".split())
_MEASURED = re.compile(
    r"(?:levels?|rates?|risks?|concentrations?|expression|pressure|scores?|mortality|incidence|prevalence"
    r"|activity|number"
    r"|numbers|volumes?|secretion|production|intensity|frequency|duration|index|ratio|weight|cost|costs|use|intake"
    r"|pain|anxiety|symptoms|proliferation|apoptosis|growth|odds|size|loss|stay|time|severity|uptake|release|counts?)$"
)


def went(text: str) -> str | None:
    """Thus "Treatment with Y reduced X." -> "X was lower after treatment with Y." or "X was lower with Y."."""
    front, main = fronted(text)
    match = _ACTIVE.match(main)
    if not match or NEGATED.search(main) or match["verb"] not in BY_PAST or not _subject(match["y"]):
        return None
    verb = BY_PAST[match["verb"]].base
    x, rest = _parted(match["x"])
    if (
        verb not in _FALLING | _RISING
        or not nominal(x)
        or re.search(r"[,;(]", rest)
        or FINITE.search(rest)
        or _verbs(rest)
    ):
        return None
    if not _MEASURED.search(re.split(r" (?:of|in|for) ", x)[0]) or re.match(r" (?:by|to|from|and)\b", rest):
        return None
    how = "higher" if verb in _RISING else "lower"
    link = (
        "after"
        if re.match(r"(?:Treatment|Administration|Supplementation|Exposure|Injection|Surgery|Training)\b", match["y"])
        else "with"
    )
    agent = lowered(match["y"]) if not front else match["y"]
    return capital(f"{front}{x} {'were' if plural(x) else 'was'} {how} {link} {agent}{rest}.")
