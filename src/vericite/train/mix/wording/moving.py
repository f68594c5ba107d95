"""Phrases that stand first put last, and the other way."""

from __future__ import annotations

import re

from vericite.train.mix.wording.grammar import FINITE, capital, fronted, lowered, plural
from vericite.train.mix.wording.verbs import PAST, THIRD

_LOOSE = re.compile(
    r"[,;:]|\b(?:that|which|whereas|while|although|but|because|if|than|who|respectively|it|its|their|they|this|these)\b"
)
_ORDINARY = re.compile(
    r"^(?:In (?:conclusion|summary|addition|contrast|particular|fact|general|turn|order|this|these|our|that|other"
    r"|all)|Overall|For (?:example|instance)|Following this|By)\b"
)
_PEOPLE = (
    r"patients|women|men|people|children|adults|adolescents|individuals|participants|subjects|mice|rats|infants"
    r"|cells|smokers|girls|boys"
    r"|neonates|students|older adults|survivors|volunteers|animals|pigs|mothers|workers|nurses|residents"
    r"|users|tissues|samples"
)
_LAST = re.compile(
    rf"^(?P<main>.+?) (?P<last>(?:in|among) (?:the |healthy |elderly |older |young |female |male |adult "
    rf"|pregnant |[a-z]+ ){{0,2}}(?:{_PEOPLE})\b[^,;:()]*)\.$"
)
_TIMED = re.compile(
    r"^(?P<main>.+?) (?P<last>(?:after|during|at|over|within|following) (?:the )?(?:\d+|one|two|three|four|five"
    r"|six|follow-up|treatment|surgery|pregnancy|adjust)[^,;:()]{0,60})\.$"
)
_ARGUMENT = re.compile(
    r"\b(?:increase|decrease|reduction|improvement|difference|change|higher|lower|rise|fall|used|decline"
    r"|variation|resulted|role|involved"
    r"|implicated|interest|engaged|found|occurred|seen|observed|reported|present|detected|differences|changes"
    r"|only|than|and|or|not"
    r"|early|late|except|even|especially|particularly|mainly|especially|but|also|both|effective|common|identified"
    r"|performed)$"
)
_COMPARED = re.compile(
    r"^(?P<main>[^,;:]+?),? (?:as )?(?:compared (?:with|to)|in comparison (?:with|to)"
    r"|relative to) (?P<other>[^,;:()]+)\.$"
)
_COMPARED_FIRST = re.compile(
    r"^(?:As )?(?:[Cc]ompared (?:with|to)|In comparison (?:with|to)"
    r"|Relative to) (?P<other>[^,;:()]+), (?P<main>[^;:()]+)\.$"
)


def _clause(main: str) -> bool:
    found = FINITE.search(main) or re.search(rf"\b(?:{PAST}|{THIRD})\b", main)
    return bool(found) and found.start() > 0 and len(main.split()) > 3


def to_end(text: str) -> str | None:
    """Thus "In women, zinc did nothing." -> "Zinc did nothing in women."."""
    if match := _COMPARED_FIRST.match(text):
        if (
            _clause(match["main"])
            and "," not in match["main"]
            and not re.search(r"\bthan\b|\bcompared\b|^(?:those|the latter)", match["main"])
        ):
            return capital(f"{match['main']} relative to {match['other']}.")
        return None
    front, main = fronted(text)
    if not front or _ORDINARY.match(front) or len(front.split()) > 14 or not _clause(main):
        return None
    if (
        _LOOSE.search(main)
        or re.search(r"\band (?:was|were|is|are|had|did|\w+ed)\b", main)
        or _LOOSE.search(front[:-2])
    ):
        return None
    if re.search(r"\bwe\b", main) or len(main.split()) > 22:
        return None
    return capital(f"{main.rstrip('.')} {front[0].lower()}{front[1:-2]}.")


def to_front(text: str) -> str | None:
    """Thus "Zinc did nothing in women." -> "In women, zinc did nothing."."""
    if fronted(text)[0] or re.search(r"\b(?:than|between|whether|both)\b|[,;:()]", text):
        return None
    for rule in (_COMPARED, _LAST, _TIMED):
        match = rule.match(text)
        if not match or not _clause(match["main"]) or FINITE.search(match.groupdict().get("last") or ""):
            continue
        if rule is _COMPARED:
            if re.search(r"\b(?:but|only)\b|\band (?:was|were)\b", match["other"]):
                continue
            return f"Relative to {match['other']}, {lowered(match['main'])}."
        main, last = match["main"], match["last"]
        if _ARGUMENT.search(main) or _noun_before(main) or re.search(r"\b(?:that|which|whose|who)\b", main):
            continue
        return f"{capital(last)}, {lowered(main)}."
    return None


def _noun_before(main: str) -> bool:
    """Whether the clause ends in its own subject, as a "zinc in mice" that has no verb before it."""
    found = FINITE.search(main) or re.search(rf"\b(?:{PAST}|{THIRD})\b", main)
    return found is None or found.end() > len(main) - 3


_WE = re.compile(
    r"^(?P<front>(?:In|Among) [^,;]+, )?[Ww]e (?:also )?(?P<verb>found|observed|identified|detected|noted|saw"
    r"|reported|measured|used|confirmed|included|enrolled|recruited) (?!that\b|in\b|no\b|to\b|evidence\b|it\b"
    r"|them\b|out\b)(?P<x>[^,;:()]+)\.$"
)


def seen(text: str) -> str | None:
    """Thus "We observed a rise in X in mice." -> "A rise in X was observed in mice."."""
    match = _WE.match(text)
    if not match or FINITE.search(match["x"]) or re.search(r" and (?:\w+ed|found) ", match["x"]):
        return None
    x = re.split(r" (?=(?:among|after|during|using|when|compared|following|from) )", match["x"], maxsplit=1)
    rest = f" {x[1]}" if len(x) > 1 else ""
    verb = "seen" if match["verb"] == "saw" else match["verb"]
    front = match["front"] or ""
    return capital(
        f"{front}{x[0]} {'were' if plural(x[0]) and not re.match(r'(?:an?|one) ', x[0]) else 'was'} {verb}{rest}."
    )
