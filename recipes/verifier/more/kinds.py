"""Made-up findings of the kinds that the verifier fails on, each with claims of two or three labels.

Thirteen kinds: inference from counts, units, classes and abbreviations, which arm a figure belongs to, who was
excluded, noninferiority, what is unknown, rates over time, claims of two halves, outcomes that were not reported,
numbers that are ten times too large, figures of two groups, shares in words. Numbers and labels are computed, so
that they are right by construction; wordings are put together from parts, and every label of a kind has wordings that
another label has, too.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from more.framed import DENIED, PLAIN, frame
from more.lexicon import (
    ABBREVIATIONS,
    CLASSES,
    CONTEXT,
    CONTROLS,
    EVENTS,
    FRACTIONS,
    GROUPS,
    MEASURES,
    OTHER_TREATMENTS,
    PEOPLE,
    TIMES,
    UNREPORTED,
)
from more.rows import Row, once, write_file

ENTAILS, CONTRADICTS, NEUTRAL = "entails", "contradicts", "neutral"
SOURCE = "kinds"
SEED = 51
TAKEN, ELSEWHERE, REVERSED, DECIDED = 0.9, 0.9, 0.4, 0.9
MEMBERS = tuple((member, one, many) for (one, many), members in CLASSES.items() for member in members)
Claim = tuple[str, str]


@dataclass(frozen=True)
class Finding:
    """A made-up text, and claims with what it says of each.

    Attributes:
        premise: One sentence or a few.
        claims: (claim, label).
    """

    premise: str
    claims: Sequence[Claim]


def capital(text: str) -> str:
    """The text as the beginning of a sentence."""
    return text[:1].upper() + text[1:]


def sentence(text: str) -> str:
    """The text as a sentence."""
    return capital(text.strip().rstrip(".")) + "."


def share(count: int, of: int) -> str:
    """A percentage as it is printed."""
    value = 100 * count / of
    return f"{value:.1f}%" if value < 10 or value != round(value) else f"{value:.0f}%"


class Maker:
    """Draws findings of each kind.

    Args:
        seed: Of all chance.
    """

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)

    def one(self, choice: Sequence[str]) -> str:
        """One of several wordings."""
        return self.dice.choice(choice)

    def treatment(self) -> str:
        """A drug or another treatment."""
        return self.one(OTHER_TREATMENTS) if self.dice.random() < 0.4 else self.dice.choice(MEMBERS)[0]

    def arms(self) -> tuple[str, str]:
        """What is compared with what."""
        first = self.treatment()
        second = self.one(CONTROLS) if self.dice.random() < 0.6 else self.treatment()
        return (first, second) if first != second else self.arms()

    def two_events(self) -> tuple[tuple[str, str, str], tuple[str, str, str]]:
        """Two outcomes, both good or both bad: death and survival are one outcome."""
        first, second = self.dice.sample(EVENTS, 2)
        return (first, second) if first[2] == second[2] else self.two_events()

    def counts(self) -> Finding:
        """Events in two arms: which is more, how many times, how many percent, how many to treat."""
        one = self.one
        (a, b), (event, other), who, when = self.arms(), self.two_events(), one(PEOPLE), one(TIMES)
        size = self.dice.choice((40, 60, 80, 100, 120, 150, 200, 250, 300, 400, 500, 600, 800, 1000))
        times = self.dice.choice((2, 2, 2, 3, 4))
        low = self.dice.randint(2, max(3, size // (times * 3)))
        high = low * times
        fewer = self.dice.random() < 0.6
        first, second = (low, high) if fewer else (high, low)
        did, noun, _ = event
        shape = self.dice.randrange(5)
        told = (
            f"{first} of {size} {who} on {a} {did} {when}, against {second} of {size} on {b}",
            f"numbers of {who} who {did} {when}: {first}/{size} with {a}, {second}/{size} with {b}",
            f"{when}, {first} ({share(first, size)}) of the {size} given {a} and {second} ({share(second, size)}) "
            f"of the {size} given {b} {did}",
            f"with {b}, {second} out of {size} {who} {did}; with {a} it was {first} out of {size}",
            f"of {size} {who} allocated to {a}, {first} {did} {when}; of {size} allocated to {b}, {second}",
        )[shape]
        word = {2: "half", 3: "a third", 4: "a quarter"}[times]
        fold = {2: "twice", 3: "three times", 4: "four times"}[times]
        less, more = (a, b) if fewer else (b, a)
        per = round(size / (high - low))
        claims: list[Claim] = [
            (
                one(
                    (
                        f"{noun} was {word} as common with {less} as with {more}",
                        f"{fold} as many people on {more} as on {less} {did}",
                        f"the risk of {noun} was {fold} as high with {more}",
                    )
                ),
                ENTAILS,
            ),
            (
                one(
                    (
                        f"{noun} was {word} as common with {more} as with {less}",
                        f"{fold} as many people on {less} as on {more} {did}",
                        f"fewer people on {more} than on {less} {did}",
                    )
                ),
                CONTRADICTS,
            ),
            (
                one(
                    (
                        f"{share(low, size)} of those on {less} {did}",
                        f"{high - low} more people {did} on {more}",
                        f"{low + high} people {did} in the two groups together",
                    )
                ),
                ENTAILS,
            ),
            (
                one(
                    (
                        f"about {share(min(size, 2 * high), size)} of those on {more} {did}",
                        f"{noun} was equally common in both groups",
                        f"the share who {did} was {share(high, size)} with {less}",
                    )
                ),
                CONTRADICTS,
            ),
            (
                one(
                    (
                        f"{other[1]} was less common with {less}",
                        f"{noun} was less common with {less} in every age group",
                        f"{a} was better tolerated than {b}",
                        f"most of those who {did} were women",
                        f"the difference in {noun} lasted for ten years",
                    )
                ),
                NEUTRAL,
            ),
        ]
        if size % (high - low) == 0:
            claims.append((f"one in {per} people {did} on {more} who would not have done so on {less}", ENTAILS))
        return Finding(told, claims)

    def units(self) -> Finding:
        """The same quantity in another unit, and a like number that is another quantity."""
        one, dice = self.one, self.dice
        drug, who = dice.choice(MEMBERS)[0], one(PEOPLE)
        shape = dice.randrange(6)
        if shape == 0:
            grams = dice.choice((0.5, 1, 1.5, 2, 2.5, 3, 4))
            told = one(
                (f"{who} took {drug} {grams:g} g once a day", f"the dose of {drug} was {grams:g} g daily in {who}")
            )
            same, wrong = f"{grams * 1000:g} mg", f"{dice.choice((grams * 100, grams * 10000)):g} mg"
            claims = [
                (f"the daily dose of {drug} was {same}", ENTAILS),
                (f"{who} took {same} of {drug} a day", ENTAILS),
                (f"the daily dose of {drug} was {wrong}", CONTRADICTS),
                (f"{same} of {drug} a day is enough for {who}", NEUTRAL),
            ]
        elif shape == 1:
            value = dice.choice((80, 90, 95, 100, 105, 110, 120, 130, 140))
            told = one(
                (f"mean haemoglobin in {who} was {value} g/L", f"{who} had a haemoglobin of {value} g/L on average")
            )
            claims = [
                (f"mean haemoglobin was {value / 10:g} g/dL", ENTAILS),
                (f"average haemoglobin was {value} g/dL", CONTRADICTS),
                (f"haemoglobin averaged {value / 100:g} g/dL", CONTRADICTS),
                (f"haemoglobin rose to {value / 10:g} g/dL on treatment", NEUTRAL),
            ]
        elif shape == 2:
            every, same, wrong = dice.choice(
                (
                    ("every seven days", ("weekly", "once a week"), ("daily", "every seven hours", "once a month")),
                    (
                        "every 12 hours",
                        ("twice a day", "twice daily"),
                        ("once a day", "every 12 days", "four times a day"),
                    ),
                    ("every eight hours", ("three times a day", "thrice daily"), ("twice a day", "every eight days")),
                    ("every six hours", ("four times a day",), ("six times a day", "once a day", "every six weeks")),
                    ("every 14 days", ("fortnightly", "every two weeks"), ("twice a week", "monthly", "every day")),
                    (
                        "every other day",
                        ("on alternate days", "every second day"),
                        ("daily", "twice a day", "every other week"),
                    ),
                    (
                        "every three months",
                        ("four times a year", "quarterly"),
                        ("three times a month", "yearly", "monthly"),
                    ),
                    ("once in 24 hours", ("once a day", "daily"), ("24 times a day", "twice a day", "weekly")),
                )
            )
            told = one((f"{drug} was given {every} to {who}", f"{who} received {drug} {every}"))
            claims = [
                (f"{drug} was given {one(same)}", ENTAILS),
                (f"{who} had {drug} {one(wrong)}", CONTRADICTS),
                (f"{drug} was given {one(wrong)}", CONTRADICTS),
                (f"{drug} {one(same)} works better than a daily dose", NEUTRAL),
            ]
        elif shape == 3:
            weeks = dice.choice((4, 8, 12, 24, 26, 52, 104))
            same = {
                4: "28 days",
                8: "56 days",
                12: "84 days",
                24: "168 days",
                26: "half a year",
                52: "a year",
                104: "two years",
            }
            wrong = one((f"{weeks} days", f"{weeks} months", f"{weeks * 10} weeks"))
            told = one((f"{who} were followed for {weeks} weeks", f"follow-up of {who} lasted {weeks} weeks"))
            claims = [
                (f"follow-up lasted {same[weeks]}", ENTAILS),
                (f"{who} were followed for {wrong}", CONTRADICTS),
                (f"effects of treatment lasted {same[weeks]}", NEUTRAL),
            ]
        elif shape == 4:
            micro = dice.choice((50, 75, 100, 125, 200, 250, 400, 500))
            told = one((f"the dose was {micro} micrograms of {drug}", f"{who} inhaled {micro} µg of {drug} per puff"))
            claims = [
                (f"the dose of {drug} was {micro / 1000:g} mg", ENTAILS),
                (f"the dose of {drug} was {micro} mg", CONTRADICTS),
                (f"the dose of {drug} was {micro / 100:g} mg", CONTRADICTS),
                (f"a dose of {micro / 1000:g} mg of {drug} is safe", NEUTRAL),
            ]
        else:
            per = dice.choice((2, 4, 5, 12, 15, 20, 25, 40))
            _, noun, _ = dice.choice(EVENTS)
            told = one(
                (f"the rate of {noun} in {who} was {per} per 1000", f"{noun} was seen in {per} per 1000 of {who}")
            )
            claims = [
                (f"{per / 10:g}% of {who} had {noun}", ENTAILS),
                (f"{noun} affected {per * 10} in 10,000", ENTAILS),
                (f"{per}% of {who} had {noun}", CONTRADICTS),
                (f"{noun} affected {per} in 10,000", CONTRADICTS),
                (f"the rate of {noun} in {who} has doubled since then", NEUTRAL),
            ]
        return Finding(told, claims)

    def classes(self) -> Finding:
        """A member of a class is one of that class, and no evidence about another; short and long names."""
        one, dice = self.one, self.dice
        who, (_, noun, side) = one(PEOPLE), dice.choice(EVENTS)
        lowered = side == "bad"
        effect = one(("lowered", "reduced", "cut") if lowered else ("raised", "increased"))
        against = one(("raised", "increased") if lowered else ("lowered", "reduced", "cut"))
        if dice.random() < 0.35:
            short, long, other = dice.choice(ABBREVIATIONS)
            drug = self.treatment()
            told = one(
                (f"in {short}, {drug} {effect} the rate of {noun}", f"{drug} {effect} {noun} in people with {short}")
            )
            return Finding(
                told,
                [
                    (f"{drug} {effect} the rate of {noun} in {long}", ENTAILS),
                    (f"in people with {long}, {drug} {against} {noun}", CONTRADICTS),
                    (f"{drug} {effect} {noun} in {other}", NEUTRAL),
                    (f"{drug} is licensed for {long}", NEUTRAL),
                ],
            )
        member, kind, _ = dice.choice(MEMBERS)
        other_member, other_kind, _ = dice.choice(MEMBERS)
        if other_kind == kind:
            return self.classes()
        told = one(
            (
                f"{member} {effect} {noun} in {who}",
                f"among {who}, {member} {effect} the rate of {noun}",
                f"{member}, given to {who}, {effect} {noun}",
            )
        )
        return Finding(
            told,
            [
                (f"{kind} {effect} {noun} in {who}", ENTAILS),
                (f"{noun} was affected by {kind}", ENTAILS),
                (f"{member} had no effect on {noun} in {who}", CONTRADICTS),
                (f"{member} {against} {noun} in {who}", CONTRADICTS),
                (f"{other_kind} {effect} {noun} in {who}", NEUTRAL),
                (f"{other_member} {effect} {noun} in {who}", NEUTRAL),
            ],
        )

    def arm(self) -> Finding:
        """Figures of two or three arms; the claim gives one of them to its own arm, to another or to none."""
        one, dice = self.one, self.dice
        (a, b), who = self.arms(), one(PEOPLE)
        name, unit, low, high, places = dice.choice(MEASURES)
        bare = name.removeprefix("the ")
        values: list[str] = []
        while len(values) < 3:
            value = f"{dice.uniform(low, high):.{places}f}"
            values += [value] if value not in values else []
        x, y, z = values
        unit = unit if unit == "%" else f" {unit}"
        third = next(it for it in iter(self.treatment, None) if it not in (a, b))
        told = one(
            (
                f"in {who}, {name} was {x}{unit} with {a} and {y}{unit} with {b}",
                f"{name} ended at {x}{unit} in the group given {a}, at {y}{unit} in that given {b} and at {z}{unit} "
                f"in that given {third}",
                f"mean {bare} after treatment: {a}, {x}{unit}; {b}, {y}{unit}; {third}, {z}{unit}",
                f"{name} was {x}{unit} and {y}{unit} with {a} and {b}, respectively",
                f"{who} on {b} had a mean {bare} of {y}{unit}, while it was {x}{unit} in those on {a}",
            )
        )
        larger, smaller = (a, b) if float(x) > float(y) else (b, a)
        return Finding(
            told,
            [
                (one((f"{name} was {y}{unit} with {b}", f"those given {b} had a mean {bare} of {y}{unit}")), ENTAILS),
                (one((f"{name} was {x}{unit} with {a}", f"in the {a} group, {name} was {x}{unit}")), ENTAILS),
                (one((f"{name} was {x}{unit} with {b}", f"in the {b} group, {name} was {x}{unit}")), CONTRADICTS),
                (
                    one((f"{name} was {y}{unit} with {a}", f"those given {a} had a mean {bare} of {y}{unit}")),
                    CONTRADICTS,
                ),
                (f"{name} was higher with {larger} than with {smaller}", ENTAILS),
                (f"{name} was higher with {smaller} than with {larger}", CONTRADICTS),
                (
                    one(
                        (
                            f"{name} was {y}{unit} before {b} was begun",
                            f"{name} differed significantly between {a} and {b}",
                            f"{name} was {x}{unit} a year after {a} was stopped",
                        )
                    ),
                    NEUTRAL,
                ),
            ],
        )

    def eligible(self) -> Finding:
        """Who was left out was not studied."""
        one, dice = self.one, self.dice
        who, drug = one(PEOPLE), self.treatment()
        out, other = dice.sample(PEOPLE, 2)
        if who in (out, other):
            return self.eligible()
        left_out = dice.random() < 0.6
        away = (
            f"{out} were excluded from the trial of {drug}",
            f"the trial of {drug} did not enrol {out}",
            f"{out} were not eligible to receive {drug} in this study",
            f"exclusion criteria: {out}; the drug was {drug}",
            f"{drug} was tested in {who}; {out} could not take part",
            f"being among {out} was a reason for exclusion from the {drug} trial",
            f"all comers could join the {drug} trial, with the exception of {out}",
        )
        there = (
            f"{out} were enrolled in the trial of {drug}",
            f"the trial of {drug} was open to {out}",
            f"inclusion criteria: {out}; the drug was {drug}",
            f"not excluded from the {drug} trial were {out}",
            f"{out} made up a fifth of those in the {drug} trial",
            f"{out} were eligible to receive {drug}",
        )
        yes = (
            f"{out} were eligible for the trial of {drug}",
            f"{out} could take part in the {drug} trial",
            f"the trial of {drug} admitted {out}",
        )
        no = (
            f"{out} could not take part in the {drug} trial",
            f"the {drug} trial left out {out}",
            f"{out} were not eligible for the trial of {drug}",
        )
        return Finding(
            one(away if left_out else there),
            [
                (one(no if left_out else yes), ENTAILS),
                (one(yes if left_out else no), CONTRADICTS),
                (
                    one(
                        (
                            f"{drug} is harmful to {out}",
                            f"{drug} does not help {out}",
                            f"{drug} works in {out}",
                            f"{out} did worse than others on {drug}",
                        )
                    ),
                    NEUTRAL,
                ),
                (
                    one((f"{other} were eligible for the trial of {drug}", f"the {drug} trial left out {other}")),
                    NEUTRAL,
                ),
            ],
        )

    def noninferior(self) -> Finding:
        """No worse is not better, and not shown to be no worse is not worse."""
        one = self.one
        (a, b), (_, noun, _), who = self.arms(), self.dice.choice(EVENTS), one(PEOPLE)
        shape = self.dice.randrange(4)
        if shape == 0:
            told = one(
                (
                    f"{a} was noninferior to {b} for {noun} in {who}",
                    f"noninferiority of {a} to {b} was shown for {noun}",
                    f"for {noun}, {a} met the prespecified margin of noninferiority against {b}",
                )
            )
            claims = [
                (
                    one(
                        (
                            f"{a} was not unacceptably worse than {b} for {noun}",
                            f"for {noun}, {a} was no worse than {b} by more than the margin",
                            f"{a} was non-inferior to {b} as regards {noun}",
                        )
                    ),
                    ENTAILS,
                ),
                (
                    one(
                        (
                            f"{a} was inferior to {b} for {noun}",
                            f"{a} failed to show noninferiority to {b} for {noun}",
                            f"for {noun}, {a} was worse than {b} by more than the margin",
                        )
                    ),
                    CONTRADICTS,
                ),
                (one((f"{a} was superior to {b} for {noun}", f"for {noun}, {a} did better than {b}")), NEUTRAL),
            ]
        elif shape == 1:
            told = one(
                (
                    f"noninferiority of {a} to {b} could not be shown for {noun} in {who}",
                    f"{a} did not meet the criterion of noninferiority to {b} for {noun}",
                )
            )
            claims = [
                (
                    one(
                        (f"{a} was noninferior to {b} for {noun}", f"noninferiority of {a} was established for {noun}")
                    ),
                    CONTRADICTS,
                ),
                (
                    one(
                        (
                            f"the trial failed to show that {a} is no worse than {b} for {noun}",
                            f"{a} was not shown to be noninferior to {b} for {noun}",
                        )
                    ),
                    ENTAILS,
                ),
                (one((f"{a} led to much more {noun} than any other treatment", f"{b} is cheaper than {a}")), NEUTRAL),
            ]
        elif shape == 2:
            told = one(
                (
                    f"{a} was noninferior but not superior to {b} for {noun}",
                    f"for {noun} in {who}, {a} met noninferiority to {b}; superiority was tested and not met",
                )
            )
            claims = [
                (
                    one((f"{a} was superior to {b} for {noun}", f"superiority of {a} over {b} was shown for {noun}")),
                    CONTRADICTS,
                ),
                (
                    one(
                        (
                            f"superiority of {a} over {b} was not shown for {noun}",
                            f"{a} was noninferior to {b} for {noun}",
                        )
                    ),
                    ENTAILS,
                ),
                (f"{a} costs less than {b}", NEUTRAL),
            ]
        else:
            told = one(
                (f"{a} was superior to {b} for {noun} in {who}", f"for {noun}, superiority of {a} over {b} was shown")
            )
            claims = [
                (one((f"{a} did better than {b} for {noun}", f"for {noun}, {a} was better than {b}")), ENTAILS),
                (one((f"{a} was inferior to {b} for {noun}", f"{a} was worse than {b} for {noun}")), CONTRADICTS),
                (one((f"{a} was safer than {b}", f"{a} is superior to {b} in children under two")), NEUTRAL),
            ]
        return Finding(told, claims)

    def unknown(self) -> Finding:
        """That something is not known is no effect, and no lack of one."""
        one = self.one
        a, (_, noun, _), who = self.treatment(), self.dice.choice(EVENTS), one(PEOPLE)
        if self.dice.random() < 0.6:
            told = one(
                (
                    f"whether {a} affects {noun} in {who} is unknown",
                    f"the effect of {a} on {noun} in {who} has not been studied",
                    f"no trial has measured {noun} in {who} given {a}",
                    f"it remains unclear if {a} changes {noun} in {who}",
                    f"data on {a} and {noun} in {who} are lacking",
                    f"we know nothing yet of what {a} does to {noun} in {who}",
                    f"trials of {a} in {who} disagree so much about {noun} that no conclusion can be drawn",
                )
            )
            claims = [
                (one((f"{a} reduces {noun} in {who}", f"{a} lowers the risk of {noun} in {who}")), NEUTRAL),
                (one((f"{a} has no effect on {noun} in {who}", f"{a} does not change {noun} in {who}")), NEUTRAL),
                (
                    one(
                        (
                            f"it is not known what {a} does to {noun} in {who}",
                            f"the effect of {a} on {noun} in {who} is uncertain",
                        )
                    ),
                    ENTAILS,
                ),
                (
                    one(
                        (
                            f"it is well established that {a} affects {noun} in {who}",
                            f"there is firm evidence on {a} and {noun} in {who}",
                        )
                    ),
                    CONTRADICTS,
                ),
            ]
        else:
            told = one(
                (
                    f"{a} had no effect on {noun} in {who}: the confidence interval leaves out any relevant difference",
                    f"large trials show that {a} does not change the rate of {noun} in {who}",
                    f"{a} made no difference to {noun} in {who}",
                )
            )
            claims = [
                (one((f"{a} has no effect on {noun} in {who}", f"{a} did not change {noun} in {who}")), ENTAILS),
                (
                    one((f"{a} reduces {noun} in {who}", f"{noun} in {who} depends on whether {a} is given")),
                    CONTRADICTS,
                ),
                (
                    one(
                        (
                            f"whether {a} affects {noun} in {who} has never been studied",
                            f"no trial has looked at {a} and {noun} in {who}",
                        )
                    ),
                    CONTRADICTS,
                ),
                (one((f"{a} is safe in {who}", f"{a} does not change the cost of care")), NEUTRAL),
            ]
        return Finding(told, claims)

    def falling(self) -> Finding:
        """Rates at several times, each alone or one after the other."""
        one, dice = self.one, self.dice
        (did, noun, _), who = dice.choice(EVENTS), one(PEOPLE)
        times = one(
            (
                "in 2001, 2008 and 2015",
                "in 1990, 2000 and 2010",
                "at month 1, month 6 and month 12",
                "in week 2, week 6 and week 10",
                "in the first, second and third year",
                "at age 20, age 40 and age 60",
            )
        )
        low = dice.randint(1, 20)
        rates = [low, low + dice.randint(2, 15), low + dice.randint(18, 40)]
        falls = dice.random() < 0.6
        rates = rates[::-1] if falls else rates
        x, y, z = (f"{rate}%" for rate in rates)
        told = one(
            (
                f"the share of {who} who {did} was {x}, {y} and {z} {times}",
                f"{times}, {x}, {y} and {z} of {who} {did}, respectively",
                f"{noun} in {who}: {x} at first, then {y}, and {z} at the last count",
            )
        )
        down, up = (
            (f"{noun} became rarer over time", f"ever fewer of {who} {did}"),
            (f"{noun} became more common over time", f"ever more of {who} {did}"),
        )
        claims = [
            (one(down if falls else up), ENTAILS),
            (one(up if falls else down), CONTRADICTS),
            (one((f"the last figure for {noun} was {z}", f"{noun} was at {x} at the beginning")), ENTAILS),
            (
                one(
                    (
                        f"{noun} was at its {'highest' if falls else 'lowest'} at the last count",
                        f"{noun} stayed the same throughout",
                        f"{noun} was at {z} at the beginning and at {x} at the end",
                    )
                ),
                CONTRADICTS,
            ),
            (
                one(
                    (
                        f"{noun} will {'fall' if falls else 'rise'} further",
                        f"better treatment made {noun} {'rarer' if falls else 'more common'}",
                        f"{noun} changed in the same way in other countries",
                    )
                ),
                NEUTRAL,
            ),
        ]
        return Finding(told, claims)

    def unreported(self) -> Finding:
        """An outcome that was not looked at did not stay the same."""
        one, dice = self.one, self.dice
        a, who = self.treatment(), one(PEOPLE)
        first, second, missing = dice.sample(UNREPORTED, 3)
        silent = dice.random() < 0.5
        told = (
            one(
                (
                    f"the trial of {a} in {who} reported {first} and {second}",
                    f"in {who}, {a} was judged by {first} and {second} alone",
                    f"outcomes of the {a} study were {first} and {second}",
                )
            )
            if silent
            else one(
                (
                    f"the trial of {a} in {who} measured {first}; {missing} was not measured",
                    f"{missing} was not reported for {who} given {a}",
                    f"no data on {missing} were collected in {who} given {a}",
                )
            )
        )
        claims: list[Claim] = [
            (
                one(
                    (
                        f"{a} did not change {missing} in {who}",
                        f"{a} improved {missing} in {who}",
                        f"{missing} got worse with {a}",
                        f"{missing} was alike with and without {a}",
                    )
                ),
                NEUTRAL,
            ),
        ]
        if silent:
            claims += [
                (f"the study of {a} looked at {first}", ENTAILS),
                (f"{first} was not looked at in the study of {a}", CONTRADICTS),
            ]
        else:
            claims += [
                (
                    one((f"the study of {a} in {who} says nothing of {missing}", f"{missing} was left unmeasured")),
                    ENTAILS,
                ),
                (
                    one((f"{missing} was measured in {who} given {a}", f"the study reported {missing} under {a}")),
                    CONTRADICTS,
                ),
            ]
        return Finding(told, claims)

    def tenfold(self) -> Finding:
        """A number that is ten times too large or too small."""
        one, dice = self.one, self.dice
        who, a = one(PEOPLE), self.treatment()
        number = dice.choice((12, 15, 24, 36, 48, 72, 120, 150, 240, 360, 480, 1200, 2400, 3600, 12000))
        said = f"{number:,}" if number >= 1000 and dice.random() < 0.6 else str(number)
        wrong = number * 10 if dice.random() < 0.6 or number < 20 else number // 10
        other = f"{wrong:,}" if wrong >= 1000 else str(wrong)
        told = one(
            (
                f"{said} {who} were given {a}",
                f"the study of {a} had {said} participants, all {who}",
                f"we enrolled {said} {who} and treated them with {a}",
                f"a total of {said} {who} received {a}",
            )
        )
        return Finding(
            told,
            [
                (one((f"{said} people received {a}", f"the study of {a} had {said} participants")), ENTAILS),
                (one((f"{other} people received {a}", f"the study of {a} had {other} participants")), CONTRADICTS),
                (
                    one(
                        (
                            f"fewer than {number * 2:,} people received {a}",
                            f"more than {number // 2:,} people received {a}",
                        )
                    ),
                    ENTAILS,
                ),
                (
                    one(
                        (
                            f"more than {number * 3:,} people received {a}",
                            f"fewer than {number // 3:,} people received {a}",
                        )
                    ),
                    CONTRADICTS,
                ),
                (one((f"{said} people declined {a}", f"{said} people finished treatment with {a}")), NEUTRAL),
            ],
        )

    def halves(self) -> Finding:
        """Two findings, and claims of two halves of which one may be false or not told."""
        first, second = (self.dice.choice(self.simple())() for _ in range(2))
        joint = self.one((", and ", ", while ", "; ", ", whereas ", ", and "))

        def of(finding: Finding, label: str) -> str:
            return self.one([claim for claim, own in finding.claims if own == label] or [""])

        true = (of(first, ENTAILS), of(second, ENTAILS))
        claims: list[Claim] = [(joint.join(true), ENTAILS)]
        claims.append((f"{true[0]}{joint}{of(second, CONTRADICTS)}", CONTRADICTS))
        claims.append((f"{true[0]}{joint}{of(second, NEUTRAL)}", NEUTRAL))
        claims.append((f"{of(first, CONTRADICTS)}{joint}{true[1]}", CONTRADICTS))
        return Finding(f"{sentence(first.premise)} {sentence(second.premise)}", claims)

    def compared(self) -> Finding:
        """Figures of two groups: in which the outcome was more or less, and by which figure."""
        one, dice = self.one, self.dice
        treated = dice.random() < 0.65
        a, b = self.arms() if treated else dice.choice(GROUPS)
        if dice.random() < 0.5:
            a, b = b, a
        forms: Sequence[str] = (
            ("with {}", "on {}", "in the {} group", "in the {} arm", "in those given {}", "under {}")
            if treated
            else ("in {}", "among {}", "for {}")
        )
        form = one(forms)
        if " group" in form or " arm" in form:
            form = form if not (a + b).count(" ") or dice.random() < 0.3 else "with {}"
        at_a, at_b = form.format(a), form.format(b)
        claimed = one(forms) if dice.random() < 0.6 else form
        in_a, in_b = claimed.format(a), claimed.format(b)
        shape = dice.randrange(3)
        if shape == 0:
            told, claims = self._shares(a, b, (at_a, at_b), (in_a, in_b), treated)
        elif shape == 1:
            told, claims = self._levels(a, b, (at_a, at_b), (in_a, in_b))
        else:
            told, claims = self._changes(a, b, (at_a, at_b), (in_a, in_b))
        if dice.random() < 0.35:
            _, noun, _ = dice.choice(EVENTS)
            # What a claim leaves open is not answered beside it.
            if noun not in told and not any(noun in claim for claim, _ in claims):
                low, high = sorted(dice.sample(range(1, 40), 2))
                one_way = dice.random() < 0.5
                told += f"; {noun} was seen in {low if one_way else high}% and {high if one_way else low}%"
        return Finding(told, claims)

    def _two(self, low: float, high: float, places: int) -> tuple[str, str]:
        """Two figures of a range that are clearly apart, in any order."""
        first = self.dice.uniform(low, high)
        second = first * self.dice.choice((0.45, 0.6, 0.7, 0.78, 1.3, 1.45, 1.7, 2.2))
        x, y = f"{first:.{places}f}", f"{second:.{places}f}"
        return (x, y) if x != y else self._two(low, high, places)

    def _shares(
        self, a: str, b: str, at: tuple[str, str], within: tuple[str, str], treated: bool
    ) -> tuple[str, list[Claim]]:
        one, who, when = self.one, self.one(PEOPLE), self.one(TIMES)
        (did, noun, side), (_, other, _) = self.two_events()
        x, y = self._two(3, 44, self.dice.choice((0, 0, 1)))
        tail = one(("", "", f" {when}", " (P < 0.001)", " (P = 0.02)", f" {when} (P < 0.01)"))
        told = one(
            (
                f"{noun} occurred in {x}% {at[0]} and in {y}% {at[1]}{tail}",
                f"{x}% {at[0]} and {y}% {at[1]} {did}{tail}",
                f"{noun} was seen in {x}% {at[0]} compared with {y}% {at[1]}{tail}",
                f"rates of {noun} were {x}% {at[0]} versus {y}% {at[1]}{tail}",
                f"rates of {noun} were {x}% and {y}% {at[0]} and {at[1]}, respectively{tail}",
                f"in {who}, the incidence of {noun} was {x}% {at[0]} against {y}% {at[1]}{tail}",
                f"{noun} {at[0]}: {x}%; {at[1]}: {y}%{tail}",
                f"{at[0]}, {x}% {did}; {at[1]}, {y}%{tail}",
                f"{x}% of {who} {at[0]} {did}, and {y}% of those {at[1]}{tail}",
                f"the proportion who {did} was {x}% {at[0]} and {y}% {at[1]}{tail}",
            )
        )
        less, more = (within[0], within[1]) if float(x) < float(y) else (within[1], within[0])
        down, up = (a, b) if float(x) < float(y) else (b, a)

        def ordered(fewer: str, many: str, lowers: str, raises: str) -> str:
            forms = [
                f"{noun} was {one(('less common', 'rarer', 'less frequent', 'lower'))} {fewer} than {many}",
                f"{noun} was {one(('more common', 'more frequent', 'more likely', 'higher'))} {many} than {fewer}",
                f"{one(('fewer', 'a smaller share of'))} {who} {did} {fewer} than {many}",
                f"more {who} {did} {many} than {fewer}",
                f"there was less {noun} {fewer}" if side == "bad" else f"{noun} was seen less often {fewer}",
                f"{noun} was at its highest {many}",
            ]
            if treated:
                forms += [
                    f"{lowers} {one(('lowered', 'reduced', 'cut', 'decreased'))} {noun} compared with {raises}",
                    f"compared with {raises}, {lowers} was followed by less {noun}",
                    f"{lowers} led to a lower rate of {noun} than {raises}",
                    f"{raises} led to more {noun} than {lowers}",
                ]
            return one(forms)

        return told, [
            (ordered(less, more, down, up), ENTAILS),
            (ordered(more, less, up, down), CONTRADICTS),
            (
                one(
                    (f"{noun} occurred in {x}% {within[0]}", f"{y}% {within[1]} {did}", f"{noun} was {y}% {within[1]}")
                ),
                ENTAILS,
            ),
            (
                one(
                    (f"{noun} occurred in {y}% {within[0]}", f"{x}% {within[1]} {did}", f"{noun} was {x}% {within[1]}")
                ),
                CONTRADICTS,
            ),
            (f"{ordered(less, more, down, up)}, with {min(x, y, key=float)}% {less}", ENTAILS),
            (f"{ordered(less, more, down, up)}, with {max(x, y, key=float)}% {less}", CONTRADICTS),
            (
                one(
                    (
                        f"{other} was {one(('less', 'more'))} common {less}",
                        f"{noun} was less common {less} in people over 80",
                        f"{noun} is less costly to treat {less}",
                    )
                ),
                NEUTRAL,
            ),
        ]

    def _levels(self, a: str, b: str, at: tuple[str, str], within: tuple[str, str]) -> tuple[str, list[Claim]]:
        one, when = self.one, self.one(TIMES)
        name, unit, low, high, places = self.dice.choice(MEASURES)
        unit = unit if unit == "%" else f" {unit}"
        x, y = self._two(low, high, places)
        bare = name.removeprefix("the ")
        told = one(
            (
                f"{name} was {x}{unit} {at[0]} and {y}{unit} {at[1]} {when}",
                f"mean {bare} {at[0]} was {x}{unit}, {at[1]} {y}{unit}",
                f"{when}, {name} averaged {x}{unit} {at[0]} versus {y}{unit} {at[1]}",
                f"{bare} {when}: {x}{unit} {at[0]}, {y}{unit} {at[1]}",
                f"{name} ({x} and {y}{unit}) differed between {a} and {b}",
            )
        )
        less, more = within if float(x) < float(y) else within[::-1]
        ordered = (f"{name} was lower {{0}} than {{1}}", f"{name} was higher {{1}} than {{0}}")
        open_claims = (f"{name} was lower {less} because of better adherence", f"{name} kept falling {less} afterwards")
        return told, [
            *self._both_ways(ordered, (less, more)),
            *self._both_ways((f"{name} was {x}{unit} {{0}}", f"{name} was {y}{unit} {{1}}"), within),
            (one(open_claims), NEUTRAL),
        ]

    def _changes(self, a: str, b: str, at: tuple[str, str], within: tuple[str, str]) -> tuple[str, list[Claim]]:
        one, when = self.one, self.one(TIMES)
        name, unit, low, high, places = self.dice.choice(MEASURES)
        unit = unit if unit == "%" else f" {unit}"
        x, y = self._two((high - low) / 12, (high - low) / 3, max(places, 1) if high < 20 else places)
        way, against = self.dice.choice((("fell", "rose"), ("rose", "fell"), ("improved", "got worse")))
        drop = {"fell": "fall", "rose": "rise", "improved": "improvement"}[way]
        change = f"the {drop} in {name.removeprefix('the ')}"
        told = one(
            (
                f"{name} {way} by {x}{unit} {at[0]} and by {y}{unit} {at[1]} {when}",
                f"{change} was {x}{unit} {at[0]} compared with {y}{unit} {at[1]}",
                f"{at[0]}, {name} {way} by {x}{unit}; {at[1]}, by {y}{unit}",
                f"{name} {way} {at[0]} ({x}{unit}) and {at[1]} ({y}{unit})",
                f"{name} {way} by {x} and {y}{unit} {at[0]} and {at[1]}, respectively",
            )
        )
        less, more = within if float(x) < float(y) else within[::-1]
        ordered = (
            f"{name} {way} more {{1}} than {{0}}",
            f"{change} was larger {{1}}",
            f"{name} {way} less {{0}} than {{1}}",
        )
        return told, [
            *self._both_ways(ordered, (less, more)),
            *self._both_ways((f"{name} {way} by {x}{unit} {{0}}", f"{name} {way} by {y}{unit} {{1}}"), within),
            (f"{name} {way} in both groups", ENTAILS),
            (f"{name} {against} {more}", CONTRADICTS),
            (one((f"the {drop} lasted for two years {more}", f"{name} had {way} before the study {more}")), NEUTRAL),
        ]

    def _both_ways(self, forms: Sequence[str], places: tuple[str, str]) -> list[Claim]:
        """A claim on two groups that holds, and one with the groups in each other's place."""
        return [
            (self.one(forms).format(*places), ENTAILS),
            (self.one(forms).format(*places[::-1]), CONTRADICTS),
        ]

    def fractions(self) -> Finding:
        """So many of so many, told as a share in words or percent."""
        one, dice = self.one, self.dice
        who, when, (did, noun, _) = one(PEOPLE), one(TIMES), dice.choice(EVENTS)
        top, bottom = dice.choice(tuple(FRACTIONS))
        size = bottom * dice.choice((4, 5, 6, 8, 9, 10, 12, 15, 18, 20, 24, 25, 30, 36, 40, 48, 60, 75, 90))
        count = size * top // bottom
        near = dice.random() < 0.3 and size >= 60
        count += dice.choice((-1, 1)) if near else 0
        told = one(
            (
                f"of {size} {who}, {count} {did} {when}",
                f"{count} of the {size} {who} {did}",
                f"{noun} occurred in {count} of {size} {who}",
                f"{when}, {count}/{size} {who} had recorded {noun}",
                f"we followed {size} {who}; {count} of them {did} {when}",
                f"among {size} {who} there were {count} who {did}",
            )
        )
        value = 100 * top / bottom
        about = "about " if near else ""
        wrong = dice.choice([it for it in FRACTIONS if abs(100 * it[0] / it[1] - value) > 6])
        words, others = FRACTIONS[(top, bottom)], FRACTIONS[wrong]
        claims: list[Claim] = [
            (f"{about}{one(words)} of {who} {did}", ENTAILS),
            (f"{about}{value:.0f}% of {who} {did}", ENTAILS),
            (f"{about}{one(others)} of {who} {did}", CONTRADICTS),
            (f"{about}{100 * wrong[0] / wrong[1]:.0f}% of {who} {did}", CONTRADICTS),
            (f"{one(words)} of {who} {did} because treatment was stopped", NEUTRAL),
            (f"{about}{one(words)} of those who {did} had done so before", NEUTRAL),
        ]
        if value < 45:
            claims += [
                (f"most {who} {did}", CONTRADICTS),
                (one((f"fewer than half of {who} {did}", f"a minority of {who} {did}")), ENTAILS),
            ]
        if value > 55:
            claims += [
                (f"most {who} {did}", ENTAILS),
                (one((f"fewer than half of {who} {did}", f"a minority of {who} {did}")), CONTRADICTS),
            ]
        return Finding(told, claims)

    def simple(self) -> list[Callable[[], Finding]]:
        """The kinds that are no claims of two halves."""
        return [
            self.counts,
            self.units,
            self.classes,
            self.arm,
            self.eligible,
            self.noninferior,
            self.unknown,
            self.falling,
            self.unreported,
            self.tenfold,
            self.compared,
            self.fractions,
        ]

    def rows(self, lines: int) -> list[Row]:
        """So many findings of each kind, each with one claim a label; no claim tells its label by its wording.

        What a finding leaves open it says, or denies, once something is put next to it; and what it decides another
        finding of its kind leaves open.
        """
        found: list[Row] = []
        for make in [*self.simple(), self.halves]:
            kind = make.__name__
            before: list[Row] = []
            for number in range(lines):
                finding = make()
                premise = self._around(finding.premise)
                start = {"source": SOURCE, "kind": kind, "group": f"{kind}:{number}", "twin": f"{kind}:{number}"}
                own: list[Row] = []
                for label in (ENTAILS, CONTRADICTS, NEUTRAL):
                    claims = [claim for claim, its in finding.claims if its == label]
                    if claims and self.dice.random() < TAKEN:
                        own.append({"premise": premise, "claim": sentence(self.one(claims)), "label": label, **start})
                found += own
                if before and self.dice.random() < ELSEWHERE:
                    other = self.dice.choice(before)
                    if other["label"] != NEUTRAL and other["claim"] not in {row["claim"] for row in own}:
                        found.append(self._elsewhere(other, premise))
                for row in own:
                    if row["label"] == NEUTRAL and self.dice.random() < DECIDED:
                        found.append(self._decided(row, self.dice.random() < 0.5))
                before = own or before
        return found

    def _elsewhere(self, row: Row, premise: str) -> Row:
        """A claim before another finding of its kind, which leaves it open; or with a sentence that turns it round."""
        moved = {**row, "premise": premise, "label": NEUTRAL, "kind": f"{row['kind']}-elsewhere"}
        return self._decided(moved, row["label"] == CONTRADICTS) if self.dice.random() < REVERSED else moved

    def _decided(self, row: Row, asserted: bool) -> Row:
        """An open claim before its finding and a sentence that asserts or denies it."""
        beside = frame(row["claim"], PLAIN if asserted else DENIED, self.dice)
        texts = [row["premise"], beside]
        self.dice.shuffle(texts)
        label = ENTAILS if asserted else CONTRADICTS
        return {**row, "premise": " ".join(texts), "label": label, "kind": f"{row['kind'].split('-')[0]}-decided"}

    def _around(self, premise: str) -> str:
        """The finding, often among sentences that say how it was come by."""
        told = sentence(premise) if not premise.endswith(".") else premise
        if self.dice.random() < 0.45:
            return told
        near = self.dice.sample(CONTEXT, self.dice.choice((1, 1, 2, 3)))
        at = self.dice.randint(0, len(near))
        return " ".join([*near[:at], told, *near[at:]])


def kinds(out: Path, lines: int, seed: int) -> str:
    """Write so many findings of each kind with their claims; returns what to print."""
    rows = once(Maker(seed).rows(lines))
    write_file(out, rows)
    counts = Counter((row["kind"], row["label"]) for row in rows)
    told = [f"{kind:24} {label:12} {count:6}" for (kind, label), count in sorted(counts.items())]
    return "\n".join([*told, f"{len(rows)} rows"])
