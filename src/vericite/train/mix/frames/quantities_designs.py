"""Scenes about how a study was built and read: sizes, ages, dates, comparators, ranks, tests, survival."""

from __future__ import annotations

import random

from vericite.train.mix.frames.quantities_names import TREATMENTS
from vericite.train.mix.frames.quantities_numbers import grouped, interval_text, words
from vericite.train.mix.frames.quantities_scene import Scene, Told, cast

_SIZE = (
    "[Of|Out of] {screened} people [screened|assessed for eligibility], {n} {pop} were randomised and {done} completed "
    "the [study|trial].",
    "A total of {screened} were screened, {n} {people} [entered|were enrolled in] the trial, [and|of "
    "whom] {done} finished it.",
    "We [randomised|enrolled] {n} {pop} (of {screened} screened); {done} [completed follow-up|were "
    "followed to the end].",
    "[The sample|The trial population] comprised {n} {pop}; {screened} had been [screened|approached] "
    "and {done} completed {when}.",
)
_SIZE_CLAIMS = (
    Told("count", "[The trial|The study] [had|included] {w} [people|participants|subjects]."),
    Told("count", "{w} [people|subjects] [entered|took part in] the [trial|study]."),
    Told("count", "[Altogether|In total], {lost} of those who entered did not [complete|finish] it."),
    Told("count", "{out} of the people screened did not [enter|go on to] the trial."),
    Told("count", "The sample size was {more} than {mid}."),
    Told("count", "{more_cap} than {mid} people [joined|were entered into] the [study|trial]."),
)


def sample_size(dice: random.Random) -> Scene:
    """How many were screened, entered and finished."""
    drawn = cast(dice)
    first = dice.randint(12, 900)
    second = dice.choice([value for value in (first * 2, first // 2, first + 10, first * 3 // 2) if 12 <= value <= 999])
    screened = max(first, second) + dice.randint(20, 400)
    fewest, mid = min(first, second), (first + second) // 2
    done = fewest - dice.randint(1, max(1, fewest // 4))
    worlds: list[dict[str, str]] = []
    for n in (first, second):
        more = "more" if n > mid else "fewer"
        world = {"n": str(n), "w": words(n), "lost": words(n - done), "out": words(screened - n) if screened - n < 1000
                 else grouped(screened - n)}  # fmt: skip
        if fewest < mid < max(first, second) and abs(first - second) > 12:
            world |= {"more": more.replace("fewer", "less"), "more_cap": more, "mid": str(mid)}
        worlds.append(world)
    common = {**drawn.common, "screened": grouped(screened), "done": str(done)}
    return Scene(common, (worlds[0], worlds[1]), _SIZE, _SIZE_CLAIMS)


_POOLED = (
    "[We included|The review included] {k} [randomised trials|trials] with {n} {people}[ in total|] (I2 = {i}%).",
    "[Data|Results] from {k} studies ({n} {people}) of {drug} in {cond} were pooled.",
    "[Out of|Among] {found} records, {k} trials [met the criteria|were eligible], with {n} {people} [overall|in all].",
    "This meta-analysis of {drug} for {cond} [covers|comprises] {k} [RCTs|trials] (n = {n})[; {found} were excluded|].",
)
_POOLED_CLAIMS = (
    Told("count", "{w} [trials|studies] [were combined|went into the analysis]."),
    Told("count", "The [review|pooled analysis] [drew on|rests on] {w} [studies|trials]."),
    Told("count", "[The number of trials|The number of studies] [in the analysis|pooled] was {w}."),
    Told("count", "The evidence came from {over} {mid} [trials|studies]."),
    Told("count", "The trials had {size} than {each} people [each|apiece] on average."),
)


def pooled(dice: random.Random) -> Scene:
    """How many trials a meta-analysis has."""
    drawn = cast(dice)
    first, second = dice.sample(range(4, 46), 2)
    people = dice.randint(15, 300) * 100 + dice.randint(0, 99)
    mid = (first + second) // 2
    each = round(people / ((first * second) ** 0.5), -1)
    worlds: list[dict[str, str]] = []
    for k in (first, second):
        world = {"k": str(k), "w": "a dozen" if k == 12 and dice.random() < 0.5 else words(k)}
        if mid not in (first, second):
            world |= {"over": "more than" if k > mid else "fewer than", "mid": str(mid)}
        if min(people / first, people / second) * 1.08 < each < max(people / first, people / second) / 1.08:
            world |= {"size": "more" if people / k > each else "fewer", "each": str(int(each))}
        worlds.append(world)
    common = {**drawn.common, "n": grouped(people), "i": str(dice.randint(0, 88)), "found": str(dice.randint(200, 999))}
    return Scene(common, (worlds[0], worlds[1]), _POOLED, _POOLED_CLAIMS)


_AGES = (
    "[Eligible were|Eligible people were] {cond} patients aged {lo} to {hi} years.",
    "{pop} [aged|who were] {lo}-{hi} years [old|] [were eligible|were enrolled] [in {n} centres|].",
    "[We recruited|The trial recruited] {pop} between {lo} and {hi} years of age (n = {n}).",
    "[Inclusion criteria|The criteria for entry] were {cond} and an age of {lo}–{hi} years.",
)
_AGES_CLAIMS = (
    Told("number", "[A person|Someone|A patient] aged {age} [could|was eligible to] [join|enter|take part]."),
    Told("number", "The upper age limit was {hi}[, the lower {lo}|]."),
    Told("number", "[The trial|The study] was [open|confined] to {group}."),
    Told("number", "The age [range|span] [of those eligible|for entry] [covered|was] {span} years."),
)


def ages(dice: random.Random) -> Scene:
    """Between which ages people could enter."""
    drawn = cast(dice)
    bands = ((18, 65, 44, "adults up to 65"), (66, 90, 78, "people older than 65"), (1, 12, 7, "children up to 12"),
             (13, 17, 15, "adolescents under 18"),
             (40, 60, 52, "middle-aged adults"))  # fmt: skip
    picked = dice.sample(bands, 2)
    worlds: list[dict[str, str]] = []
    for lo, hi, age, group in picked:
        world = {"lo": str(lo), "hi": str(hi), "age": words(age), "group": group, "span": words(hi - lo)}
        worlds.append(world)
    # A person of the one band's age is not in the other, as the bands used together never overlap there.
    if {band[0] for band in picked} == {18, 40}:
        for world in worlds:
            del world["age"], world["group"]
    common = {**drawn.common, "pop": drawn.common["cond"] + " patients", "n": str(dice.randint(30, 600))}
    return Scene(common, (worlds[0], worlds[1]), _AGES, _AGES_CLAIMS, aside=dice.random() < 0.7)


_DATES = (
    "[Between|From] {x} [and|to] {y}, {n} {pop} were [enrolled|recruited] [at {c} centres|].",
    "[Recruitment|Enrolment] [of {pop}|] [began|started] in {x} and [ended|closed] in {y}.",
    "The [study|trial] [ran|was conducted] from {x} to {y}[ in {c} hospitals|] and [compared|tested] {drug} "
    "[with|against] {rival}.",
)
_DATES_CLAIMS = (
    Told("time", "The [enrolment period|recruitment phase] [lasted|spanned] {w} years."),
    Told("time", "[It took|The work took] {w} years from the first to the last year of the study."),
    Told("time", "The [last|final] year of the study was {y}."),
    Told("time", "The study had {come} to an end before {late}."),
)


def dates(dice: random.Random) -> Scene:
    """From which year to which."""
    drawn = cast(dice)
    start = dice.randint(1994, 2016)
    spans = dice.sample((2, 3, 4, 5, 6, 8, 10), 2)
    late = start + (sum(spans) + 1) // 2
    worlds: list[dict[str, str]] = []
    for span in spans:
        world = {"x": str(start), "y": str(start + span), "w": words(span)}
        if start + min(spans) < late < start + max(spans):
            world |= {"come": "already come" if start + span < late else "not come", "late": str(late)}
        worlds.append(world)
    common = {**drawn.common, "n": str(dice.randint(40, 2000)), "c": str(dice.randint(3, 40))}
    return Scene(common, (worlds[0], worlds[1]), _DATES, _DATES_CLAIMS)


_TEST = (
    "For {cond}, the [test|index test] had a sensitivity of {se}% ({ci}) and a specificity of {sp}%.",
    "[Sensitivity and specificity|The sensitivity and the specificity] for {cond} were {se}% and {sp}%[, "
    "respectively|].",
    "The [assay|questionnaire|scan] [detected|identified] {cond} with {se}% sensitivity [and|at] {sp}% specificity.",
    "[Against|Compared with] the reference standard, specificity for {cond} was {sp}% and sensitivity {se}% (n = {n}).",
)
_TEST_CLAIMS = (
    Told("proportion", "[About|Some] {miss} [cases|people] with {cond} [was|were] missed [by the test|]."),
    Told("proportion", "The [test|method] wrongly flagged {false} of those without {cond}."),
    Told("proportion", "Among those without {cond}, {right}% [had a negative result|were correctly cleared]."),
    Told("proportion", "[Of|Among] people who [do|did] have {cond}, the test picked up {se}%."),
    Told("proportion", "The false-[positive|alarm] rate of the test was {fp}%."),
    Told("comparator", "Its {strong} [exceeded|was higher than] its {weak}."),
)


def diagnostic(dice: random.Random) -> Scene:
    """Sensitivity and specificity, which change places."""
    drawn = cast(dice)
    pairs = {90: "one in ten", 80: "one in five", 75: "one in four", 95: "one in twenty", 60: "two in five",
             70: "three in ten"}  # fmt: skip
    se, sp = dice.sample(sorted(pairs), 2)
    worlds: list[dict[str, str]] = []
    for a, b in ((se, sp), (sp, se)):
        names = ("sensitivity", "specificity") if a > b else ("specificity", "sensitivity")
        world = {"se": str(a), "sp": str(b), "miss": pairs[a], "false": pairs[b], "right": str(b),
                 "fp": str(100 - b), "strong": names[0], "weak": names[1]}  # fmt: skip
        worlds.append(world | {"ci": interval_text(b, f"{a - 4}", f"{a + 3}")})
    common = {**drawn.common, "n": str(dice.randint(80, 900))}
    return Scene(common, (worlds[0], worlds[1]), _TEST, _TEST_CLAIMS)


_RANK = (
    "{event} [occurred|was recorded] in {a}% [with|on] {one}, {b}% [with|on] {two} and {c}% [with|on] {three}.",
    "[Rates of {event}|Proportions with {event}] were {a}% ({one}), {b}% ({two}) and {c}% ({three}).",
    "{event}: {one} {a}%, {two} {b}%, {three} {c}%[ (p < 0.001 for trend)|].",
    "In {pop}, the [incidence|frequency] of {event} was {b}% under {two}, {a}% under {one} and {c}% under {three}.",
)
_RANK_CLAIMS = (
    Told("comparator", "{lay} was [most common|most frequent] [with|under|on] {top}."),
    Told(
        "comparator",
        "[Of the three|Among the three treatments], {bottom} had the [lowest|smallest] [rate|share] of "
        "{lay}.",
    ),
    Told("comparator", "{middle} [ranked|came] second of three for [the frequency of|] {lay}."),
    Told("comparator", "{lay} was [rarer|less common] [with|on] {bottom} than [with|on] {top}."),
    Told("comparator", "[No other arm|None of the other arms] had {lay} as [seldom|rarely] as {bottom}."),
    Told("comparator", "{top} went with more {lay} than {middle}[, and {middle} more than {bottom}|]."),
    Told("comparator", "The rate of {lay} on {middle} lay between those on {bottom} and {top}."),
)  # fmt: skip


def ranks(dice: random.Random) -> Scene:
    """Three arms, in another order in the other world."""
    drawn = cast(dice)
    names = dice.sample(TREATMENTS, 3)
    low = dice.randint(4, 20)
    rates = [low, low + dice.randint(4, 12), low + dice.randint(16, 40)]
    orders = dice.sample(((0, 1, 2), (1, 2, 0), (2, 0, 1)), 2)
    dice.shuffle(names)
    worlds: list[dict[str, str]] = []
    for order in orders:
        mine = [rates[place] for place in order]
        ranked = sorted(range(3), key=lambda at: mine[at])
        worlds.append({"a": str(mine[0]), "b": str(mine[1]), "c": str(mine[2]), "bottom": names[ranked[0]],
                       "middle": names[ranked[1]], "top": names[ranked[2]]})  # fmt: skip
    common = {**drawn.common, "one": names[0], "two": names[1], "three": names[2]}
    return Scene(common, (worlds[0], worlds[1]), _RANK, _RANK_CLAIMS, (drawn.foreign_event,))


_AGAINST = (
    "[In this trial|In a double-blind trial], {pop} were randomised to {drug} or {x}[ for {when}|].",
    "{drug} was [tested|evaluated] against {x} [in|among] {n} {pop}.",
    "[Participants|Patients] [were allocated|were assigned] 1:1 to {drug} (n = {n}) or {x} (n = {m}).",
    "[We compared|The study compared] {drug} with {x} for {cond}, {event} being the main outcome.",
    "[Ratios for {event}|Hazard ratios for {event}] on {drug} were [computed|estimated] with {x} as the reference.",
)
_AGAINST_CLAIMS = (
    Told("comparator", "[The control group|The comparison group] {y}."),
    Told("comparator", "[Those not assigned to|The people who did not get] {drug} {y}."),
    Told("comparator", "The [effects|results] of {drug} were [judged|measured] against people who {y}."),
    Told("comparator", "{drug} was [set against|compared with] {kind}."),
    Told("comparator", "The [reference|comparator] was {kind}[, against which {drug} was judged|]."),
)
_RIVALS = {
    "placebo": ("[took|were given] dummy pills", "an inactive look-alike"),
    "usual care": ("[got|had] the care they would have had anyway", "the care that is customary"),
    "no treatment": ("went untreated", "doing nothing"),
    "a waiting list": ("[had|were left] to wait for treatment", "deferred treatment"),
    "a sham procedure": ("had a feigned procedure", "a mock procedure"),
}


def against(dice: random.Random) -> Scene:
    """What the treatment was compared with."""
    drawn = cast(dice)
    first, second = dice.sample(sorted(_RIVALS), 2)
    worlds: list[dict[str, str]] = []
    for name in (first, second):
        did, what = _RIVALS[name]
        worlds.append({"x": name, "y": did.replace("[took|were given]", "were given").replace("[got|had]", "had")
                       .replace("[had|were left]", "were left"), "kind": what})  # fmt: skip
    common = {**drawn.common, "rival": "control", "n": str(dice.randint(30, 300)), "m": str(dice.randint(30, 300))}
    return Scene(common, (worlds[0], worlds[1]), _AGAINST, _AGAINST_CLAIMS, (drawn.foreign_drug,))


_MEDIAN = (
    "Median [overall survival|survival] was {a} months [with|on] {drug} and {b} months [with|on] {rival}{ci}.",
    "[Patients|People] on {rival} survived a median of {b} months, [those|people] on {drug} {a} months{ci}.",
    "In {pop}, median survival [reached|was] {a} months (IQR {q1}-{q3}) [under|with] {drug} vs {b} "
    "months [under|with] {rival}.",
)  # fmt: skip
_MEDIAN_CLAIMS = (
    Told("time", "[Typical|Median] survival was {d} months {longer} with {drug} than with {rival}."),
    Told(
        "time",
        "[People|Patients] [given|treated with] {best} [lived|survived] longer [at the median|in the median] "
        "than those [given|on] {worst}.",
    ),
    Told("comparator", "{best} was the arm with the longer median survival[, not {worst}|]."),
    Told("time", "[On|With] {drug}, median survival was {side} {mid} [months|months from entry]."),
    Told("time", "[Relative to|Compared with] {rival}, {drug} went with a {d}-month {gain} in median survival."),
)  # fmt: skip


def survival(dice: random.Random) -> Scene:
    """The median survival of two arms, which change places."""
    drawn = cast(dice)
    low = dice.randint(6, 24)
    high = low + dice.randint(3, 16)
    drug, rival = drawn.common["drug"], drawn.common["rival"]
    mid = (low + high) // 2
    worlds: list[dict[str, str]] = []
    for a, b in ((low, high), (high, low)):
        up = a > b
        world = {"a": str(a), "b": str(b), "d": words(high - low), "longer": "longer" if up else "shorter",
                 "best": drug if up else rival, "worst": rival if up else drug, "gain": "gain" if up else "loss",
                 "q1": str(a - 3), "q3": str(a + 5)}  # fmt: skip
        worlds.append(world | ({"side": "above" if up else "below", "mid": words(mid)} if low < mid < high else {}))
    common = {**drawn.common, "ci": dice.choice(("", " (log-rank p = 0.004)", " (p<0.001)"))}
    return Scene(common, (worlds[0], worlds[1]), _MEDIAN, _MEDIAN_CLAIMS, (drawn.foreign_drug,))


DESIGNS = (sample_size, pooled, ages, dates, diagnostic, ranks, against, survival)
