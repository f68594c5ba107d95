"""Findings said with a noun instead of a verb and the other way, and what a study did not find."""

from __future__ import annotations

import random
import re

from vericite.train.mix.wording.grammar import FINITE, NEGATED, article, capital, fronted, lowered, nominal, plural

_RISE = {
    "increased": ("increase", "rise"),
    "rose": ("rise", "increase"),
    "decreased": ("decrease", "fall"),
    "fell": ("fall", "drop"),
    "declined": ("decline", "fall"),
    "improved": ("improvement",),
    "worsened": ("worsening",),
    "dropped": ("drop", "fall"),
}
_WENT = re.compile(
    (
        r"^(?P<x>.+?) (?P<adv>(?:significantly|markedly|substantially|gradually|slightly|rapidly"
        r"|progressively)? ?)(?P<verb>"
    )
    + "|".join(_RISE)
    + r")"
    r"(?P<adv2> (?:significantly|markedly|substantially|gradually|slightly|rapidly"
    r"|progressively))?(?P<rest>(?: (?:in|after|during|with|from|over|at|following|among|between|by)\b[^;]*)?)\.$"
)
_WAS = re.compile(
    r"^(?P<x>.+?) (?:was|were) (?P<adv>(?:significantly|markedly|substantially|also|slightly"
    r"|further)? ?)(?P<verb>increased|decreased|reduced|elevated|improved|impaired)"
    r"(?P<rest> (?:in|after|during|among|following|at)\b[^;]*)\.$"
)
_WAS_NOUN = {
    "increased": "increase",
    "decreased": "decrease",
    "reduced": "reduction",
    "elevated": "rise",
    "improved": "improvement",
    "impaired": "impairment",
}
_ADJECTIVE = {
    "significantly": "significant",
    "markedly": "marked",
    "substantially": "substantial",
    "gradually": "gradual",
    "slightly": "slight",
    "rapidly": "rapid",
    "progressively": "progressive",
    "further": "further",
}
_LINKED = re.compile(
    r"^(?P<x>.+?) (?P<be>was|were|is|are) (?P<adv>(?:(?:significantly|strongly|independently|positively"
    r"|negatively|inversely|closely|also) )*)"
    r"(?P<verb>associated|correlated|linked) (?:with|to) (?P<y>.+?)(?P<rest>(?: (?:in|among|after|at"
    r"|during) [^,;]+)?)\.$"
)
_RISK = re.compile(
    r"^(?P<x>.+?) (?P<be>was|were|is|are) (?:(?:significantly|strongly|independently"
    r"|also) )*associated with (?:an? )?(?:significantly )?"
    r"(?P<how>higher|increased|greater|elevated|lower|reduced|decreased|better|worse|poorer|longer"
    r"|shorter) (?P<y>[^,;]+)\.$"
)
_DEGREE = {
    "increased": "higher",
    "elevated": "higher",
    "greater": "higher",
    "reduced": "lower",
    "decreased": "lower",
    "poorer": "worse",
}
_CORRELATED = re.compile(
    r"^(?P<x>.+?) (?P<adv>(?:(?:positively|negatively|inversely|strongly"
    r"|significantly) )*)correlated(?P<adv2>(?: (?:positively|negatively|inversely|strongly"
    r"|significantly))?) with (?P<y>.+?)(?P<rest>(?: (?:in|among|after|at) [^,;]+)?)\.$"
)
_KIND = {
    "positively": "positive",
    "negatively": "negative",
    "inversely": "inverse",
    "strongly": "strong",
    "significantly": "significant",
    "independently": "independent",
    "closely": "close",
}


def as_noun(text: str, dice: random.Random) -> str | None:
    """Thus "X increased in mice." -> "There was an increase in X in mice."; links likewise."""
    if NEGATED.search(text):
        return None
    for rule in (_higher_with, _link, _correlation, _rise, _was_raised):
        if said := rule(text, dice):
            return capital(said)
    return None


def _adjective(match: re.Match[str]) -> str:
    adverb = (match.groupdict().get("adv") or "").strip() or (match.groupdict().get("adv2") or "").strip()
    return f"{_ADJECTIVE[adverb]} " if adverb in _ADJECTIVE else ""


def _rise(text: str, dice: random.Random) -> str | None:
    front, main = fronted(text)
    match = _WENT.match(main)
    if not match or not nominal(match["x"]) or FINITE.search(match["rest"]) or _also(match["rest"]):
        return None
    if not match["rest"] and dice.random() < 0.3:
        return None
    noun = article(_adjective(match) + dice.choice(_RISE[match["verb"]]))
    x = match["x"] if front else lowered(match["x"])
    if dice.random() < 0.35 and not match["rest"].startswith((" from", " by")):
        return f"{front}{noun} in {x} was {dice.choice(('seen', 'observed'))}{match['rest']}."
    return f"{front}{'there' if front else 'There'} was {noun} in {x}{match['rest']}."


def _also(rest: str) -> bool:
    return bool(re.search(r"\band (?:\w+ed|fell|rose|its|their|then|to)\b|,|\bthan\b|^ by \S+ (?:the|of)\b", rest))


def _was_raised(text: str, dice: random.Random) -> str | None:
    front, main = fronted(text)
    match = _WAS.match(main)
    if not match or not nominal(match["x"]) or FINITE.search(match["rest"]) or _also(match["rest"]):
        return None
    noun = article(_adjective(match) + _WAS_NOUN[match["verb"]])
    x = match["x"] if front else lowered(match["x"])
    return f"{front}{noun} in {x} was {dice.choice(('seen', 'found', 'observed'))}{match['rest']}."


def _link(text: str, dice: random.Random) -> str | None:
    match = _LINKED.match(text)
    if not match or not nominal(match["x"]) or not nominal(match["y"], 18) or FINITE.search(match["rest"]):
        return None
    if re.match(r"(?:an? )?(?:higher|lower|increased|reduced|greater|decreased|better|worse)\b", match["y"]):
        return None
    kinds = [_KIND[word] for word in match["adv"].split() if word in _KIND]
    kind = f"{kinds[-1]} " if kinds else ""
    tense = "was" if match["be"] in ("was", "were") else "is"
    noun = (
        "association" if match["verb"] == "associated" else "correlation" if match["verb"] == "correlated" else "link"
    )
    if not kinds and dice.random() < 0.4 and not match["rest"]:
        be = ("were" if plural(match["y"]) else "was") if tense == "was" else ("are" if plural(match["y"]) else "is")
        return f"{match['y']} {be} {match['verb']} with {lowered(match['x'])}."
    if " and " in match["x"] or " and " in match["y"]:
        return f"There {tense} {article(kind + noun)} of {lowered(match['x'])} with {match['y']}{match['rest']}."
    return f"There {tense} {article(kind + noun)} between {lowered(match['x'])} and {match['y']}{match['rest']}."


def _higher_with(text: str, dice: random.Random) -> str | None:
    match = _RISK.match(text)
    if not match or not nominal(match["x"]) or not nominal(match["y"], 18):
        return None
    how, y = _DEGREE.get(match["how"], match["how"]), match["y"]
    past = match["be"] in ("was", "were")
    subject = re.split(r" (?:in|among|after|during|at) ", y)[0]
    rest = y[len(subject) :]
    if dice.random() < 0.3:
        many = plural(match["x"])
        went = "went" if past else "go" if many else "goes"
        det = (
            "a "
            if re.search(
                r"(?:risk|rate|likelihood|incidence|prevalence|odds ratio|level|number|probability|frequency)(?: |$)",
                subject,
            )
            else ""
        )
        return f"{match['x']} {went} along with {det}{how} {y}."
    if re.search(r" and ", subject):
        return None
    if re.match(
        r"(?:risk|odds|rate|likelihood|incidence|prevalence|probability|frequency|mortality|levels?|number)\b", subject
    ):
        subject = subject if subject.startswith("mortality") else f"the {subject}"
    be = ("were" if plural(y) else "was") if past else ("are" if plural(y) else "is")
    return f"{subject} {be} {how} with {lowered(match['x'])}{rest}."


def _correlation(text: str, dice: random.Random) -> str | None:
    match = _CORRELATED.match(text)
    if (
        not match
        or not nominal(match["x"])
        or not nominal(match["y"], 18)
        or " and " in match["x"]
        or " and " in match["y"]
    ):
        return None
    kinds = [_KIND[word] for word in (match["adv"] + match["adv2"]).split()]
    kind = f"{kinds[-1]} " if kinds else ""
    if len(kinds) > 1:
        return None
    return f"There was {article(kind + 'correlation')} between {lowered(match['x'])} and {match['y']}{match['rest']}."


_NULLS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        (
            r"^(?P<f>.*?, )?[Tt]here (?:was|were) no (?:statistically )?significant differences? in (?P<x>[^,;]+?) "
            r"(?P<w>between|among) (?P<g>[^;]+)\.$"
        ),
        ("{f}{x} did not differ significantly {w} {g}.", "{f}no significant difference {w} {g} was seen in {x}."),
    ),
    (
        (
            r"^(?P<f>.*?, )?[Tt]here (?:was|were) no (?:statistically )?significant differences? (?P<w>between"
            r"|among) (?P<g>[^,;]+?) (?:in terms of|with respect to|with regard to|regarding|in) (?P<x>[^;]+)\.$"
        ),
        ("{f}{x} did not differ significantly {w} {g}.", "{f}{g} did not differ significantly in {x}."),
    ),
    (
        (
            r"^[Nn]o (?:statistically )?significant differences? (?:in (?P<x>[^,;]+?) )?(?:was|were) (?:found"
            r"|observed|seen|noted|detected) (?P<w>between|among) (?P<g>[^;]+)\.$"
        ),
        ("{x} did not differ significantly {w} {g}.", "There was no significant difference {w} {g} in {x}."),
    ),
    (
        (
            r"^(?P<x>.+?) (?:did not differ significantly|did not significantly differ|(?:was"
            r"|were) not significantly different) (?P<w>between|among) (?P<g>[^;]+)\.$"
        ),
        ("There was no significant difference in {x} {w} {g}.", "No significant difference {w} {g} was found in {x}."),
    ),
    (
        r"^(?P<x>.+?) did not differ (?P<w>between|among) (?P<g>[^;]+)\.$",
        ("There was no difference in {x} {w} {g}.", "{X} was no different {w} {g}."),
    ),
    (
        (
            r"^(?P<x>.+?) (?P<be>was|were) (?:similar|comparable) (?P<w>in|between|among) (?P<g>(?:the "
            r"|both )?[^,;]+ (?:groups|arms|and [^,;]+))\.$"
        ),
        ("there was little difference in {x} between {g}.",),
    ),
    (
        r"^(?P<x>.+?) did not (?:significantly )?(?:affect|influence|alter|change) (?P<g>[^,;]+)\.$",
        ("{x} had no significant effect on {g}.", "{g} was not significantly affected by {x}."),
    ),
    (r"^(?P<x>.+?) does not (?:affect|influence|alter) (?P<g>[^,;]+)\.$", ("{x} has no effect on {g}.",)),
    (r"^(?P<x>.+?) do not (?:affect|influence|alter) (?P<g>[^,;]+)\.$", ("{x} have no effect on {g}.",)),
    (
        r"^(?P<x>.+?) had no (?P<s>significant )?(?:effect|impact|influence) on (?P<g>[^,;]+)\.$",
        ("{x} did not {s}affect {g}.", "no {s}effect of {x} on {g} was seen."),
    ),
    (
        r"^(?P<x>.+?) has no (?:significant )?(?:effect|impact|influence) on (?P<g>[^,;]+)\.$",
        ("{x} does not affect {g}.",),
    ),
    (r"^(?P<x>.+?) failed to (?P<g>[a-z]+ [^;]+)\.$", ("{x} did not {g}.",)),
    (
        r"^(?P<x>.+?) (?:was|were) not (?:significantly |independently )?associated with (?P<g>[^,;]+)\.$",
        ("there was no association between {x} and {g}.", "{g} showed no association with {x}."),
    ),
    (
        r"^(?P<x>.+?) (?:is|are) not associated with (?P<g>[^,;]+)\.$",
        ("there is no association between {x} and {g}.", "no association exists between {x} and {g}."),
    ),
    (
        (
            r"^[Tt]here (?:was|were) no (?:significant )?(?:association|relationship|correlation)s? between "
            r"(?P<x>[^,;]+?) and (?P<g>[^,;]+)\.$"
        ),
        ("{x} showed no association with {g}.",),
    ),
    (
        (
            r"^[Nn]o (?P<x>[a-z-]+(?: [a-z-]+){0,3}) (?:was|were) (?:observed|found|seen|reported|detected"
            r"|noted)(?P<g>(?: [^,;]+)?)\.$"
        ),
        ("there was no {x}{g}.", "{x} was not seen{g}."),
    ),
)
_READY = [(re.compile(pattern), said) for pattern, said in _NULLS]


def null(text: str, dice: random.Random) -> str | None:
    """A finding of no difference or no effect in other words."""
    for pattern, ways in _READY:
        match = pattern.match(text)
        if not match:
            continue
        parts = {key: value or "" for key, value in match.groupdict().items()}
        x, front = parts.get("x", ""), parts.get("f", "")
        if not x or not nominal(x, 16) or re.search(r"\bdid\b|\bbut\b", parts["g"]) or FINITE.search(parts["g"]):
            continue
        return _filled(dice.choice(ways), parts, front)
    return None


def _filled(way: str, parts: dict[str, str], front: str) -> str:
    values = dict(parts)
    start = way.removeprefix("{f}")
    for key in ("x", "g"):
        values[key] = lowered(parts[key])
    values["f"] = front
    text = start.format(**values, X=values["x"]) if not front else way.format(**values, X=values["x"])
    if plural(values["x"]):
        text = text.replace(f"{values['x']} was ", f"{values['x']} were ")
        text = text.replace(f"there was no {values['x']}", f"there were no {values['x']}")
    if plural(values["g"]):
        text = text.replace(f"{values['g']} was ", f"{values['g']} were ")
    return capital(text)
