"""What hangs on a noun put before or after it, and who had what told from the other side."""

from __future__ import annotations

import random
import re

from vericite.train.mix.wording.grammar import FINITE, NEGATED, capital, fronted, lowered, nominal

_HEADS = (
    r"levels|expression|concentrations?|activity|incidence|prevalence|inhibition|deficiency|consumption|intake"
    r"|production"
    r"|secretion|phosphorylation|overexpression|knockdown|deletion|depletion|exposure|administration"
    r"|supplementation|synthesis"
    r"|proliferation|migration|degradation|signaling|scores|rates|infection|resection|loss|formation|severity"
    r"|symptoms|survival"
)
_OTHER_LINK = {"exposure": "to", "infection": "with", "supplementation": "with", "signaling": "by"}
_WORD = (
    r"(?!(?:the|an?|these|this|those|all|both|each|its|their|our|and|or|low|high|gene|protein|higher|lower|increased"
    r"|decreased|reduced|elevated|more|less|mean|median|total|overall|serum|plasma|relative|cell|significant|new"
    r"|other|similar|different|poor|better|longer|shorter|long-term|year|such|some|most|no|\w+(?:ed|ing|al|ic|ive|ous"
    r"|ly|ary|ine|ent|ant|ate))\b)[A-Za-z][\w-]*[\w]"
)
_COMPOUND = re.compile(
    rf"(?P<before>^|\b(?:of|in|and|the|by|with|on|for|reduced|increased|that|serum|plasma|higher|lower|mean"
    rf"|elevated|between) )(?P<of>{_WORD}) (?P<head>{_HEADS})(?= (?:was|were|is|are|in|and|with|by|at|after|than"
    rf"|between|among|had|has)\b|\.)"
)
_GENITIVE = re.compile(
    rf"(?P<det>\b[Tt]he )?\b(?P<head>(?i:{_HEADS}))(?P<link> of )(?P<of>{_WORD})(?= (?:was|were|is|are|by|at"
    rf"|after|than|between|among|had|has)\b|\.)"
)
_INDUCED = re.compile(
    r"(?<!['’-])(?<!'s )\b(?P<by>[A-Za-z][\w]+)-(?P<how>induced|mediated|associated|related|dependent|derived|treated"
    r"|infected) (?P<what>[a-z]+(?: (?:injury|cells|damage|activation|death|patients|mice|disease|signaling"
    r"|response|expression|pain|stress))?)(?= (?:was|were|is|are|in|by|and|at|with|after)\b|[.,])"
)
_LINKS = {
    "induced": "induced by",
    "mediated": "mediated by",
    "associated": "associated with",
    "related": "related to",
    "dependent": "dependent on",
    "derived": "derived from",
    "treated": "treated with",
    "infected": "infected with",
}
_FOUND_IN = re.compile(
    r"^(?P<x>.+?) (?:was|were) (?:also |only )?(?:seen|found|observed|detected|noted|present"
    r"|identified) in (?P<y>[^,;()]+)\.$"
)
_OCCURRED = re.compile(
    r"^(?P<x>.+?) (?:occurred|developed) in (?P<y>(?:\d|about|one|two|three|four|five|six|seven|eight|nine|ten"
    r"|most|half)[^,;()]+)\.$"
)
_HAD = re.compile(
    r"^(?P<y>.+? of (?:the )?(?:\w+ )?(?:patients|women|men|children|participants|subjects|people|cases"
    r"|adults)(?: in [^,;]+?| with [^,;]+?)?) (?:had|developed|experienced|reported) (?P<x>[^,;()]+)\.$"
)


def rehung(text: str, dice: random.Random) -> str:
    """Thus "zinc levels" -> "levels of zinc", "levels of zinc" -> "zinc levels", and the like."""
    if "- and " in text:
        return text
    for rule in dice.sample(((_COMPOUND, _after), (_GENITIVE, _before), (_INDUCED, _induced)), 3):
        pattern, put = rule
        if (said := pattern.sub(put, text, count=1)) != text:
            return capital(said)
    return text


def _after(match: re.Match[str]) -> str:
    link = _OTHER_LINK.get(match["head"], "of")
    of = lowered(match["of"]) if match.start() == 0 else match["of"]
    return f"{match['before']}{match['head']} {link} {of}"


def _before(match: re.Match[str]) -> str:
    return f"{match['of']} {lowered(match['head'])}"


def _induced(match: re.Match[str]) -> str:
    by = lowered(match["by"]) if match.start() == 0 else match["by"]
    return f"{match['what']} {_LINKS[match['how']]} {by}"


def bearers(text: str, dice: random.Random) -> str | None:
    """Thus "A rash occurred in 12% of patients." -> "12% of patients had a rash.", or the other way."""
    if NEGATED.search(text):
        return None
    front, main = fronted(text)
    if match := _OCCURRED.match(main):
        if _noun_and_rest(match["x"], match["y"]):
            return capital(f"{front}{match['y']} had {lowered(match['x'])}.")
    if match := _FOUND_IN.match(main):
        if _noun_and_rest(match["x"], match["y"]) and not re.search(
            r" (?:in|between|differences?|increase|decrease)\b", match["x"]
        ):
            return capital(f"{front}{match['y']} {dice.choice(('had', 'showed'))} {lowered(match['x'])}.")
    match = _HAD.match(main)
    if (
        match
        and _noun_and_rest(match["x"], match["y"])
        and not re.search(r"\b(?:an?|to|than|one|two|more|at least) ", match["x"])
    ):
        return (
            capital(
                f"{front}{lowered(match['x'])} {dice.choice(('was present', 'was seen'))} in {lowered(match['y'])}."
            )
            if _mass(match["x"])
            else None
        )
    return None


def _noun_and_rest(x: str, y: str) -> bool:
    return nominal(x) and nominal(y, 16) and not FINITE.search(y) and not re.search(r" and (?:in|\w+ed|\d)|\bwe\b", y)


def _mass(x: str) -> bool:
    return not re.search(r"s\b|\band\b", x)
