"""What stands around a finding in an abstract: headings, background, a remark on something else."""

from __future__ import annotations

import random

_HEADINGS = ("RESULTS: ", "Results: ", "FINDINGS: ", "CONCLUSIONS: ", "Conclusion: ", "MAIN RESULTS: ")
_BEFORE = (
    "{c} is a common reason for seeing a doctor",
    "a total of {n} participants were enrolled at {k} centres",
    "we searched three databases up to last December",
    "treatment options in {c} remain few",
    "guidelines on {c} differ between countries",
    "baseline characteristics were well balanced",
    "the median follow-up was {weeks} weeks",
    "earlier reports have been inconsistent",
    "patients were recruited from primary care",
    "analyses followed a plan that had been registered in advance",
    "{c} places a heavy burden on health services",
    "samples were taken at enrolment and after {weeks} weeks",
)
_AFTER = (
    "the certainty of the evidence was graded as moderate",
    "sensitivity analyses gave the same picture",
    "these results need to be seen in the light of the setting",
    "further work in {c} is under way",
    "follow-up was complete in nearly all cases",
    "the findings may inform the care of {c}",
    "no data were missing for the main analysis",
    "the underlying mechanisms deserve attention",
)
_ABSENT = {
    "t9": (
        "{t9} was not examined here",
        "a separate trial of {t9} is planned",
        "previous work dealt with {t9}",
        "interest in {t9} has also grown in recent years",
    ),
    "o9": (
        "data on {o9} will be reported elsewhere",
        "{o9} was a further endpoint and is still being analysed",
        "{o9} was not assessed",
        "whether anything would alter {o9} was not studied",
    ),
    "d9": ("{d9} was not examined here", "{d9} has other properties"),
    "x9": ("{x9} was not recorded", "questions on {x9} were added later", "another report will deal with {x9}"),
    "g9": ("{g9} was not measured", "{g9} was the subject of earlier work", "work on {g9} is under way"),
    "c9": (
        "patients with {c9} were not eligible",
        "a similar study in {c9} has begun",
    ),
}


def surrounded(pattern: str, absent: str | None, dice: random.Random) -> str:
    """The premise with a heading or with sentences about something else around it, one of which names `absent`."""
    before = [dice.choice(_BEFORE)] if dice.random() < 0.3 else []
    after = [dice.choice(_AFTER)] if not absent and dice.random() < 0.3 else []
    if absent:
        (before if dice.random() < 0.3 and not before else after).append(dice.choice(_ABSENT[absent]))
    heading = dice.choice(_HEADINGS) if dice.random() < 0.2 else ""
    return ". ".join((*before, heading + pattern, *after))
