"""The sentences that stand around a fact: background, methods, other outcomes with numbers of their own."""

from __future__ import annotations

import random
import re

from vericite.train.mix.frames.quantities_scene import Scene, chosen, filled

_BEFORE = (
    "Whether {drug} has a place in the [care|management] of {cond} [is debated|is unknown|remains unclear].",
    "Options for {cond} [remain limited|vary widely].",
    "{cond} is a [common|frequent|major] cause of [morbidity|disability|lost working days].",
    "[We|The authors] [studied|examined] {pop} [at {d1} centres|in {d1} hospitals|from {d1} clinics].",
    "[The evidence on|Experience with] {drug} in {cond} comes mainly from [small|uncontrolled] studies.",
    "[Analyses were|The analysis was] by intention to treat.",
)
_AFTER = (
    "{oevent} [occurred|was recorded|was seen] in {d2} [people|patients] ({d3}%).",
    "[By contrast|In addition|Of note], {d4} of {d5} people {ohad}.",
    "[Mean|Average] {omarker} [did not differ|was similar] at the [last visit|end] (p = 0.{d3}).",
    "[Overall|In all], {d3}% {ohad}[, mostly early on|, most of them late|].",
    "[The rate of|The frequency of] {oevent} was {d3}.{d1} per 1000 [person-years|patient-years].",
    "{oevent} [led to withdrawal|was reported as serious] in {d3} cases.",
    "[Adherence|Compliance] [exceeded|was above] {d6}% [throughout|in all centres].",
    "[Larger|Longer|Independent] [studies|trials] are [needed|warranted] to [confirm|extend] these [findings|results].",
    "[The odds of|The hazard of] {oevent} rose with age (per decade, 1.{d3}; 95% CI 1.0{d7}-1.{d6}).",
    "[Results|Findings] were [similar|consistent] in [sensitivity analyses|a per-protocol analysis].",
)
_PERCENT = re.compile(r"(?<=[0-9])%")
_HEADS = ("RESULTS: ", "Results: ", "FINDINGS: ", "MAIN RESULTS: ", "Findings: ")
_FIRST_HEADS = ("BACKGROUND: ", "METHODS: ", "Background: ", "IMPORTANCE: ")


def _asides(scene: Scene, dice: random.Random) -> tuple[str, str]:
    """A sentence before and one after; either may be missing."""
    if not scene.aside or dice.random() < 0.3:
        return "", ""
    whole = dice.randint(60, 400)
    numbers = {
        "d1": str(dice.randint(4, 9)), "d2": str(dice.randint(11, 59)), "d3": str(dice.randint(11, 48)),
        "d4": str(dice.randint(5, whole // 2)), "d5": str(whole), "d6": str(dice.randint(71, 96)),
        "d7": str(dice.randint(1, 9)),
    }  # fmt: skip
    fields = {**scene.common, **numbers}
    where = dice.choice(("before", "after", "after", "both"))
    before = filled(chosen(dice.choice(_BEFORE), dice), fields) if where != "after" else ""
    after = filled(chosen(dice.choice(_AFTER), dice), fields) if where != "before" else ""
    return before or "", after or ""


def _print_style(dice: random.Random) -> tuple[bool, bool]:
    return dice.random() < 0.12, dice.random() < 0.08


def premises_of(scene: Scene, dice: random.Random) -> tuple[str, str]:
    """The premise of either world: the same sentences around the same wording, only the fact differs."""
    template = chosen(dice.choice(scene.premises), dice)
    before, after = _asides(scene, dice)
    headed = dice.random() < 0.15
    head = dice.choice(_HEADS) if headed else ""
    before = dice.choice(_FIRST_HEADS) + before if headed and before else before
    dots, thin = _print_style(dice)

    def told(world: int) -> str:
        core = filled(template, {**scene.common, **scene.worlds[world]})
        if core is None:
            raise KeyError(f"a field of {template!r} is missing")
        text = " ".join(part for part in (before, head + core, after) if part)
        text = _dotted(text) if dots else text
        return _PERCENT.sub(" %", text) if thin else text

    return told(0), told(1)


def _dotted(text: str) -> str:
    """The text with the raised decimal point of some journals."""
    letters = list(text)
    for at in range(1, len(text) - 1):
        if text[at] == "." and text[at - 1].isdigit() and text[at + 1].isdigit():
            letters[at] = "·"
    return "".join(letters)
