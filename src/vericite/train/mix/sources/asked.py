"""Questions that ask for a name or a number, turned into statements with a place for the answer."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

_REGULAR = (
    "inhibit|target|block|activate|encode|cause|produce|express|regulate|mediate|catalyze|induce|affect|treat|recognize"
    "|contain|promote|prevent|phosphorylate|suppress|stimulate|degrade|cleave|trigger|control|modulate|repress|secrete"
    "|synthesize|release|methylate|stabilize|predict|increase|decrease|antagonize|involve|influence|impair|infect"
)
_PARTICLED = (
    "bind to|bind|interact with|lead to|belong to|act on|play a role in|contribute to|participate in|consist of"
)
_DONE = r"(?:\w+ly )?(?:\w{2,}ed|found|known|shown|made|seen|given|driven|held|built|thought)\b(?: to be \w+ed\b)?"
_STATE = (
    rf"(?:{_DONE}|responsible|present|common|characteristic|essential|specific|important|available|effective"
    r"|deficient|defective|in\b|on\b)"
)
_IDENTITY = r"(?:the|an?|most)\b[^,]* (?:of|for|in) (?!.*\bto \w+$).*"
_UNSURE = re.compile(r"[?;]|\. [A-Z]|\b(?:would|you|we)\b|\b(?:and|or) (?:how|why|what|which)\b")
_BE = "is|are|was|were"
_NOUN = r"(?!(?:is|are|was|were|do|does|did|has|have|can|could|the)\b)(?:[\w'/+-]+ ){0,3}?[\w'/+-]+"
_PREPOSITION = "in|on|for|through|by|with|against|to|from|at|of"
_FINITE = r"(?:is|are|was|were|has|have|had|can|could|may|does|do|play|plays|cause|causes|lead|leads|result|results)\b"
_NUMBER = "two|three|four|five|six|seven|eight|nine|ten|[0-9]+"
# What answers these is seldom a name, and seldom fits behind "is".
_VAGUE = frozenset(
    """effect role function mechanism association aim difference definition purpose mode origin relation relationship
    meaning impact basis principle use action consequence outcome link connection result evidence structure goal
    importance significance advantage disadvantage reason way rationale correlation indication connection focus
    contribution characteristic feature treatment benefit status""".split()
)
# A thing has one of these, however it is said.
_COUNTED = frozenset(("number", "year", "expansion"))
# "The cause is A" leaves room for others where "the gene is A" does not.
_MANIFOLD = frozenset(
    "use cause disease condition symptom type place factor process treatment mutation prevalence incidence".split()
) - {"gene"}


@dataclass(frozen=True, slots=True)
class Asked:
    """A question as statements.

    Attributes:
        noun: What is asked for, in the singular ("gene", "drug"); answers to the same noun can stand for each other.
        functional: Whether only one answer can be right, as a rule; `denies` says it of a wording.
        wordings: Statements that say the same, with ``{a}`` for the answer and ``<is|are>`` where its number matters.
    """

    noun: str
    functional: bool
    wordings: tuple[str, ...]

    def denies(self, wording: str) -> bool:
        """Whether the wording with another answer denies the right one, not only says more."""
        named = wording.endswith(" is {a}.") or wording.startswith("{a} is the ")
        return self.functional and (named or self.noun in _COUNTED)

    def claim(self, wording: str, answer: str) -> str:
        """A wording with an answer in it."""
        many = _is_plural(answer)
        text = re.sub(r"<([^|>]+)\|([^>]+)>", lambda found: found[2] if many else found[1], wording)
        text = text.replace("{a}", answer)
        return text[:1].upper() + text[1:]


_Parts = tuple[str, list[str]]


@lru_cache(maxsize=1 << 13)
def asked(question: str, several: bool = False) -> Asked | None:
    """The question as statements; None where no rule is sure. ``several`` says that more than one answer is right."""
    text = re.sub(r"\s+", " ", question).strip().rstrip("?., ")
    text = re.sub(r"^(?:please|can you|could you) ", "", text, flags=re.IGNORECASE)
    text = re.sub(r"\b(the|of|in) \1\b", r"\1", text)
    if not 3 <= len(text.split()) <= 26 or _UNSURE.search(text):
        return None
    for rule in _RULES:
        found = rule(text[:1].upper() + text[1:], several)
        if found:
            noun, wordings = found
            every = dict.fromkeys(other for wording in wordings for other in (wording, *_reworded(wording)))
            return Asked(noun, noun not in _MANIFOLD and not several, tuple(every))
    return None


def _expansion(text: str, several: bool) -> _Parts | None:
    found = re.match(r"^What (?:does|do) (?P<s>.+?) stand for$", text)
    if not found or several:
        return None
    short = re.sub(r"^(?:the )?(?:acronym|abbreviation|term|letters?) ", "", found["s"])
    return "expansion", [f"{short} stands for {{a}}.", f"{short} is short for {{a}}."]


def _count(text: str, several: bool) -> _Parts | None:
    if several:
        return None
    found = re.match(rf"^How many (?P<n>.+?) (?P<aux>are|were|have) (?P<rest>there\b.*|been .+|{_STATE}.*)$", text)
    if found and found["rest"].startswith("there"):
        return "number", [f"There {found['aux']} {{a}} {found['n']}{found['rest'][5:]}."]
    if found:
        return "number", [f"{{a}} {found['n']} {found['aux']} {found['rest']}."]
    found = re.match(r"^How many (?P<n>.+?) (?P<aux>does|do) (?P<s>.+?) (?P<v>have|contain|encode)$", text)
    if not found:
        return None
    verb = third(found["v"]) if found["aux"] == "does" else found["v"]
    return "number", [f"{found['s']} {verb} {{a}} {found['n']}."]


def _time(text: str, several: bool) -> _Parts | None:
    found = re.match(
        rf"^(?:When|In (?:which|what) year) (?P<aux>was|were) (?P<s>.+?) (?P<d>(?:first )?{_DONE}.*)$", text
    )
    return ("year", [f"{found['s']} {found['aux']} {found['d']} in {{a}}."]) if found and not several else None


def _place(text: str, several: bool) -> _Parts | None:
    verbs = "located|found|expressed|localized|produced|synthesized|situated|secreted|encoded"
    found = re.match(rf"^Where (?P<aux>{_BE}) (?P<s>.+?) (?P<d>(?:\w+ly )?(?:{verbs})\b.*)$", text)
    return ("place", [f"{found['s']} {found['aux']} {found['d']} in {{a}}."]) if found else None


def _doing(text: str, several: bool) -> _Parts | None:
    """What does something: "Which company produces X"."""
    found = re.match(rf"^(?:Which|What)(?: (?P<n>{_NOUN}))? (?P<v>{_REGULAR})(?P<s>s)? (?P<rest>.+)$", text)
    if not found or (not found["s"] and not (found["n"] or "").endswith("s")):
        return None
    verb, rest = found["v"], found["rest"]
    return head(found["n"] or verb), [f"{{a}} <{third(verb)}|{verb}> {rest}.", *_passive(verb, rest, "{a}")]


def _done_to(text: str, several: bool) -> _Parts | None:
    """What something does it to: "Which molecule does X target"."""
    found = re.match(
        rf"^(?:Which|What)(?: (?P<n>{_NOUN}))? (?P<aux>do|does|did) (?P<s>.+?) (?P<v>{_PARTICLED}|{_REGULAR})$", text
    )
    if not found:
        return None
    first, *particle = found["v"].split(" ", 1)
    verb = {"does": third(first), "do": first, "did": f"did {first}"}[found["aux"]]
    wording = " ".join([found["s"], verb, *particle, "{a}."])
    passive = [f"{{a}} <is|are> {past(first)} by {found['s']}."] if not particle and found["aux"] != "did" else []
    return head(found["n"] or found["v"]), [wording, *passive]


def _within(text: str, several: bool) -> _Parts | None:
    """Where a preposition opens: "In which cells is X expressed"."""
    start = rf"^(?P<p>{_PREPOSITION}) (?:which|what) (?P<n>{_NOUN}) "
    found = re.match(rf"{start}(?P<aux>{_BE}) (?P<s>.+?) (?P<d>{_DONE}|located|used|present|mutated)$", text, re.I)
    if found:
        return head(found["n"]), [f"{found['s']} {found['aux']} {found['d']} {found['p'].lower()} {{a}}."]
    found = re.match(rf"{start}(?P<aux>do|does) (?P<s>.+?) (?P<v>bind|act|belong|participate|play a role)$", text, re.I)
    if not found:
        return None
    first, *more = found["v"].split(" ", 1)
    verb = " ".join([third(first) if found["aux"] == "does" else first, *more])
    return head(found["n"]), [f"{found['s']} {verb} {found['p'].lower()} {{a}}."]


def _inside(text: str, several: bool) -> _Parts | None:
    """Where the question word stands where the answer will: "X is used in which disease"."""
    found = re.match(
        rf"^(?!(?:which|what|who|how|list|name|{_PREPOSITION}|{_BE})\b)(?P<before>.+ )(?:which|what) "
        rf"(?P<n>[\w'/+-]+(?: [\w'-]+){{0,2}}?)(?P<after>| {_FINITE}.*)$",
        text,
        re.IGNORECASE,
    )
    if not found or not re.search(rf"\b{_FINITE}|\b(?:has|targets|inhibits|binds)\b", text):
        return None
    noun, before, after = head(found["n"]), found["before"], found["after"]
    wordings = [f"{before}{{a}}{after}."]
    return noun, [*wordings, f"{before}the {{a}} gene{after}."] if noun == "gene" and not several else wordings


def _being(text: str, several: bool) -> _Parts | None:
    """What is so: "Which gene is mutated in X"; or what something is so with: "What disease is X used for"."""
    found = re.match(rf"^What is (?P<d>{_DONE} .+)$", text)
    if found and not re.search(rf" (?:{_PREPOSITION})$|^(?:known|meant|used)", found["d"]):
        return head(found["d"].split()[0]), [f"{{a}} <is|are> {found['d']}."]
    found = re.match(rf"^(?:Which|What) (?P<n>{_NOUN}) (?P<aux>{_BE}) (?P<rest>.+)$", text)
    if found and re.search(rf" (?:{_PREPOSITION})$", found["rest"]):
        turned = re.match(rf"^(?P<s>.+?) (?P<d>{_DONE} .*|used .*)$", found["rest"])
        return (head(found["n"]), [f"{turned['s']} {found['aux']} {turned['d']} {{a}}."]) if turned else None
    if found and re.match(rf"{_STATE}|{_IDENTITY}", found["rest"]):
        was = "<was|were>" if found["aux"] in ("was", "were") else "<is|are>"
        return head(found["n"]), [f"{{a}} {was} {found['rest']}.", *_named(found["n"], found["rest"], several)]
    found = re.match(
        rf"^(?:Which|What) (?P<n>{_NOUN}) (?P<aux>(?:has|have|can|could|may|should) be(?:en)?) (?P<rest>.+)$", text
    )
    if not found or not re.match(_DONE, found["rest"]) or re.search(rf" (?:{_PREPOSITION})$", found["rest"]):
        return None
    aux = "<has|have> been" if found["aux"].startswith("ha") else found["aux"]
    return head(found["n"]), [f"{{a}} {aux} {found['rest']}."]


def _named(noun: str, rest: str, several: bool) -> list[str]:
    noun = re.sub(rf"^(?:{_NUMBER}) ", "", noun)
    if re.match(_IDENTITY, rest):
        return []
    if several and singular(noun) != noun:
        return [f"{{a}} <is|are> among the {noun} {rest}.", f"The {noun} {rest} include {{a}}."]
    return [f"The {noun} {rest} is {{a}}."] if not several and singular(noun) == noun and re.match(_DONE, rest) else []


def _definite(text: str, several: bool) -> _Parts | None:
    """What the such-and-such of something is."""
    use = re.match(r"^What (?P<aux>is|are) (?:the (?:use|indication)s? (?:of|for) (?P<s>.+)|(?P<t>.+) used for)$", text)
    if use:
        return "use", [f"{use['s'] or use['t']} {use['aux']} used for {{a}}."]
    found = re.match(rf"^(?:What|Which) (?P<aux>{_BE}) (?P<the>(?:the )?.+)$", text)
    if not found or (re.search(rf" (?:{_PREPOSITION})$", text) and " that " not in text):
        return None
    the = found["the"] if found["the"].startswith("the ") else f"the {found['the']}"
    noun = _head_of(the)
    bare = the != found["the"] and (not several or singular(_first(the)) == _first(the))
    if bare or noun == "the" or noun in _VAGUE:
        return None
    if found["aux"] in ("is", "was") and not several:
        return noun, [f"{the} {found['aux']} {{a}}.", f"{{a}} {found['aux']} {the}."]
    return _several(noun, re.sub(rf"^the (?:{_NUMBER}) ", "the ", the)) if several and found["aux"] == "are" else None


def _listed(text: str, several: bool) -> _Parts | None:
    """What is to be listed."""
    skipped = rf"(?:me |of |some |all |at least |as many |the |known |(?:{_NUMBER}) )*"
    found = re.match(rf"^(?:List|Name|Give|Provide|Enumerate) {skipped}(?P<n>.+)$", text)
    if not found or not several:
        return None
    first = _first(found["n"])
    plural = singular(first) != first and head(first) not in _VAGUE
    return _several(head(first), f"the {found['n']}") if plural else None


def _first(phrase: str) -> str:
    """A noun phrase up to what tells it apart."""
    return re.split(rf" (?:{_PREPOSITION}|that|which|as|where|used|known|found|causing|\w+ing|\w+ed)\b", phrase)[0]


def _head_of(the: str) -> str:
    return head(_first(the)) if re.search(rf" (?:{_PREPOSITION}|that|which|\w+ed)\b", the) else "the"


def _several(noun: str, the: str) -> _Parts:
    return noun, [f"{the} include {{a}}.", f"{{a}} <is|are> among {the}."]


_RULES: tuple[Callable[[str, bool], _Parts | None], ...] = (
    _expansion,
    _count,
    _time,
    _place,
    _done_to,
    _within,
    _inside,
    _being,
    _doing,
    _definite,
    _listed,
)

_THERAPY = r"(?:the )?(?:treatment|therapy) of"
_REWORDINGS: tuple[tuple[str, str], ...] = (
    (rf"^(.+?) (is|are) used (?:for|in) {_THERAPY} \{{a\}}\.$", r"\1 \2 used to treat {a}."),
    (rf"^(.+?) (is|are) used (?:for|in) {_THERAPY} \{{a\}}\.$", r"{a} <is|are> treated with \1."),
    (rf"^(.+? (?:is|are|was|has been|have been) (?:approved|developed|indicated)) for {_THERAPY} ", r"\1 to treat "),
    (r"^\{a\} <is\|are> mutated in ([^,]+)\.$", r"Mutations of {a} occur in \1."),
    (r"^\{a\} <is\|are> (?:included|contained) in ([^,]+)\.$", r"\1 contains {a}."),
    (r"^(.+) associated with (.+)$", r"\1 linked to \2"),
    (r"^(.+) linked to (.+)$", r"\1 associated with \2"),
    (r"^\{a\} can be treated with ([^,]+)\.$", r"\1 can be used to treat {a}."),
    (r"^[Tt]he cause of ([^,]+) is \{a\}\.$", r"\1 is caused by {a}."),
    (r"^[Tt]he target of ([^,]+) is \{a\}\.$", r"\1 targets {a}."),
    (r"^\{a\} <is\|are> located in ([^,]+)\.$", r"\1 is where {a} <is|are> located."),
)


def _reworded(wording: str) -> list[str]:
    turned = [re.sub(pattern, other, wording) for pattern, other in _REWORDINGS if re.match(pattern, wording)]
    found = re.match(r"^\{a\} <is\|are> (?P<d>\w+ed) by (?P<s>[^,]+)\.$", wording)
    verb = _BASES.get(found["d"]) if found else None
    if found and verb and len(found["s"].split()) <= 6 and not re.search(r"\b(?:that|which|in)\b", found["s"]):
        turned.append(f"{found['s']} {verb if _is_plural(found['s']) else third(verb)} {{a}}.")
    return turned


def _passive(verb: str, rest: str, agent: str) -> list[str]:
    if verb in ("contain", "involve", "predict") or re.search(rf"\b(?:{_PREPOSITION}|that|which)\b", rest):
        return []
    if len(rest.split()) > 6:
        return []
    return [f"{rest} {'are' if _is_plural(rest) else 'is'} {past(verb)} by {agent}."]


def head(noun: str) -> str:
    """The last word of a noun phrase, in small letters and in the singular."""
    return singular(noun.split()[-1].lower())


def singular(noun: str) -> str:
    """A noun without the plural's ending, where it has one."""
    if noun.endswith("ies") and len(noun) > 5 and noun not in ("series", "species"):
        return noun[:-3] + "y"
    if noun.endswith("sses"):
        return noun[:-2]
    return noun[:-1] if noun.endswith("s") and len(noun) > 3 and not noun.endswith(("ss", "is", "us")) else noun


def third(verb: str) -> str:
    """A verb as "it" has it."""
    return "has" if verb == "have" else verb + ("es" if verb.endswith(("s", "x", "ch", "sh", "o")) else "s")


def past(verb: str) -> str:
    """The participle of a regular verb."""
    if verb == "control":
        return "controlled"
    return verb + ("d" if verb.endswith("e") else "ed")


_BASES = {past(verb): verb for verb in _REGULAR.split("|")}


def _is_plural(phrase: str) -> bool:
    last = re.split(r" (?:of|in|for|with|to)\b", phrase)[0].split(" ")[-1]
    both = " and " in phrase
    return both or (last.islower() and last.isalpha() and len(last) > 4 and singular(last) != last)
