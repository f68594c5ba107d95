"""Claims that say more than their source, and claims that say less, each next to a twin that says as much.

Every rule turns one sentence into a weaker and a stronger one. Weaker before stronger is left open, stronger before
weaker is entailed: association and cause, may and does, animals and people, some and all, one group and everyone.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from mix.passages import finding
from more.rows import Row

LONGEST = 45
Made = Callable[..., Row]
Dice = Callable[[Row, str], random.Random]


@dataclass(frozen=True)
class Degree:
    r"""A way to say a thing more weakly.

    Attributes:
        name: What the strong and the weak sentence differ in.
        strong: What the strong one has.
        weak: Wordings to put there; ``\1`` is the verb, ``\1=`` its base form.
        back: Whether the strong sentence entails the weak one; an animal study says nothing of people.
    """

    name: str
    strong: re.Pattern[str]
    weak: tuple[str, ...]
    back: bool = True


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text)


_ASSOCIATED = (
    r"is associated with", r"was associated with", r"correlates with", r"is linked to", r"was linked to",
    r"goes together with", r"was more common with", r"is related to", r"tended to occur together with",
)  # fmt: skip

DEGREES = (
    Degree(
        "cause", _pattern(r"\b(?:causes|leads to|results in|brings about|produces|induces|triggers)\b"), _ASSOCIATED
    ),
    Degree("cause", _pattern(r"\b(?:caused|led to|resulted in|induced|triggered)\b(?! by)"), _ASSOCIATED),
    Degree(
        "certainty",
        _pattern(r"\b(reduces|increases|improves|prevents|lowers|raises|protects|worsens|delays|promotes|inhibits)\b"),
        (r"may \1=", r"might \1=", r"could \1=", r"possibly \1", r"perhaps \1", r"appears to \1=", r"may well \1="),
        True,
    ),
    Degree(
        "certainty",
        _pattern(r"\b(is|are) (?=(?:effective|safe|useful|beneficial|superior|harmful|necessary|required|involved)\b)"),
        (r"may be ", r"might be ", r"could be ", r"is possibly ", r"seems to be ", r"may well be "),
    ),
)  # fmt: skip

_SMALL_GROUPS = (
    "women over 80", "boys with asthma", "pregnant women", "smokers", "patients on dialysis", "premature infants",
    "heart transplant recipients", "adolescents with obesity", "men with prostate cancer", "nurses on night shifts",
    "people with HIV", "patients with a pacemaker", "elite athletes", "adults with Down syndrome", "farm workers",
    "patients with cirrhosis", "survivors of a stroke", "women with polycystic ovaries", "people aged 18 to 25",
    "patients with type 1 diabetes",
)  # fmt: skip
_GROUP = re.compile(
    r"\b(?P<before>in|among) (?P<who>patients|adults|people|children|women|men|individuals)"
    r"(?P<more> with [a-z][a-z -]{2,40}?| aged [\d a-z-]{2,20}?)?(?=[.,;]|$| who\b| and\b)"
)
_ANIMALS = re.compile(
    r"\b(?P<before>in|of) (?P<who>mice|rats|rabbits|pigs|dogs|zebrafish|monkeys|hamsters|sheep|guinea pigs)\b"
)
_PEOPLE = (
    "people", "humans", "patients", "adults", "men and women", "children", "the general population", "volunteers",
)  # fmt: skip
_EVERYONE = (
    "everyone", "all patients", "every patient", "people of all ages", "the whole population", "all people",
    "any patient",
)  # fmt: skip
_BASE = {
    "reduces": "reduce", "increases": "increase", "improves": "improve", "prevents": "prevent", "lowers": "lower",
    "raises": "raise", "protects": "protect", "worsens": "worsen", "delays": "delay", "promotes": "promote",
    "inhibits": "inhibit",
}  # fmt: skip
_MAY = re.compile(
    r"\b(?:may|might|could)(?: also| well| possibly)? (?P<verb>reduce|increase|improve|prevent|lower|raise|protect"
    r"|worsen|delay|promote|inhibit|cause|lead to|contribute to)\b"
)
_LINKED = re.compile(
    r"\b(?:is|was|are|were) (?:significantly |strongly |independently |positively )?"
    r"(?:associated with|linked to|related to|correlated with)\b"
)
_CAUSES = ("causes", "leads to", "results in", "is the cause of", "brings about", "is responsible for", "produces")


def _third(verb: str) -> str:
    first, _, rest = verb.partition(" ")
    return f"{first}s{' ' + rest if rest else ''}"


def stronger(text: str, dice: random.Random) -> tuple[str, str] | None:
    """A claim that says more than the text, and in what."""
    ways: list[tuple[str, str]] = []
    if found := _MAY.search(text):
        verb = found["verb"]
        new = dice.choice((_third(verb), f"was proved to {verb}", f"certainly {_third(verb)}", f"does {verb}"))
        ways.append(("certainty", text[: found.start()] + new + text[found.end() :]))
    if found := _LINKED.search(text):
        ways.append(("cause", text[: found.start()] + dice.choice(_CAUSES) + text[found.end() :]))
    if found := _ANIMALS.search(text):
        ways.append(
            ("species", f"{text[: found.start()]}{found['before']} {dice.choice(_PEOPLE)}{text[found.end() :]}")
        )
    if (found := _GROUP.search(text)) and found["more"]:
        ways.append(
            ("everyone", f"{text[: found.start()]}{found['before']} {dice.choice(_EVERYONE)}{text[found.end() :]}")
        )
    return dice.choice(ways) if ways else None


def weaker(text: str, dice: random.Random) -> tuple[str, str] | None:
    """A claim that says less than the text, and in what."""
    ways: list[tuple[str, str]] = []
    for degree in DEGREES:
        if degree.weak and (found := degree.strong.search(text)):
            new = re.sub(
                r"\\1(=?)", lambda it: _BASE.get(found[1], found[1]) if it[1] else found[1], dice.choice(degree.weak)
            )
            ways.append((degree.name, text[: found.start()] + new + text[found.end() :]))
    return dice.choice(ways) if ways else None


def narrower(text: str, dice: random.Random) -> tuple[str, str] | None:
    """A claim about another, smaller group than that of the text."""
    found = _GROUP.search(text)
    if not found:
        return None
    return "group", f"{text[: found.start()]}{found['before']} {dice.choice(_SMALL_GROUPS)}{text[found.end() :]}"


def degrees(rows: list[Row], part: float, made: Made, dice_for: Dice) -> Iterator[Row]:
    """Pairs from sentences of the mix: a premise before what says more or less, and the same turned round."""
    seen: set[str] = set()
    for row in rows:
        premise = row["premise"]
        if premise in seen or len(premise.split()) > LONGEST or row["source"] in ("covidfact", "nli4ct"):
            continue
        seen.add(premise)
        dice = dice_for(row, "degrees")
        text = finding(premise)
        if not text or dice.random() >= part:
            continue
        start = {**row, "binary": False}
        if more := stronger(text, dice):
            yield made({**start, "claim": more[1]}, premise, "neutral", f"stronger-{more[0]}")
            if more[0] != "species":
                yield made({**start, "claim": text}, more[1], "entails", f"weaker-{more[0]}")
            yield made({**start, "claim": text}, premise, "entails", "equal")
        if (less := weaker(text, dice)) and dice.random() < 0.5:
            yield made({**start, "claim": less[1]}, premise, "entails", f"weaker-{less[0]}")
            yield made({**start, "claim": text}, less[1], "neutral", f"stronger-{less[0]}")
        if (other := narrower(text, dice)) and dice.random() < 0.5:
            yield made({**start, "claim": other[1]}, premise, "neutral", f"other-{other[0]}")
