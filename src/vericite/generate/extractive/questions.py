"""What a question asks for, and what it would state."""

from __future__ import annotations

import re

from vericite.records import Question

_BE = "is|are|was|were"
_DO = "do|does|did"
_OTHER = "can|could|has|have|had|should|will|would|may|might|must"
_CLOSED = re.compile(rf"\s*(?P<opening>{_BE}|{_DO}|{_OTHER})\s+(?P<rest>\S.*)", re.IGNORECASE | re.DOTALL)
_CHOICE = re.compile(r"\bor\b", re.IGNORECASE)
_NUMBER_WORDS = {name: count for count, name in enumerate("two three four five six seven eight nine ten".split(), 2)}
_LIST = re.compile(
    r"""\s*(?:list\b|name\b|enumerate\b
        |(?:which|what)\s(?:are|were)\s
        |(?:which|what)\s(?:[\w-]+\s){0,2}(?!causes|makes|encodes|binds|regulates|controls|produces)[\w-]*[^su\Wi]s\s(?!is\b|was\b|does\b|has\b)
        |(?:which|what)\s(?:two|three|four|five|six|seven|eight|nine|ten)\b)""",
    re.IGNORECASE | re.VERBOSE,
)
# What follows the subject of a question with "is": a participle, an article, a word that only a predicate begins with.
_PREDICATE = re.compile(
    r"(?:been|\w{2,}[^aeious\W]ed|known|found|seen|shown|given|a|an|the|effective|efficacious|beneficial|safe|useful|able|"
    r"better|worse|superior|inferior|more|less|as|contraindicated|responsible|necessary|sufficient|possible|available|"
    r"there|present|common|rare|due|part|similar|different|equivalent|predictive|prognostic|independent|reliable|valid|"
    r"feasible|helpful|harmful|important|in|on|at|of|for|with)",
    re.IGNORECASE,
)


def is_closed(question: Question) -> bool:
    """Whether it is answered with yes or no; by its form where its type is not told."""
    if question.type is not None:
        return question.type == "yesno"
    return _CLOSED.match(question.text) is not None and not _CHOICE.search(question.text)


def wants_list(question: Question) -> bool:
    """Whether it asks for several things; by its form where its type is not told."""
    if question.type is not None:
        return question.type == "list"
    return _LIST.match(question.text) is not None


def number_wanted(text: str) -> int | None:
    """How many things a question asks for, where it says so."""
    return next((_NUMBER_WORDS[word] for word in text.lower().split()[:6] if word in _NUMBER_WORDS), None)


def statement_of(text: str) -> str:
    """What a yes/no question would state if the answer were yes.

    "Is X associated with Y?" gives "X is associated with Y."; "Does X reduce Y?" gives "X reduce Y.", which a judge
    reads as well as the form with its s. A question of another form is taken without its mark.
    """
    bare = re.sub(r"\s+", " ", text).strip().rstrip("?").strip()
    asked = _CLOSED.match(bare)
    if asked is None:
        return f"{bare}."
    opening, words = asked["opening"].lower(), asked["rest"].split()
    if opening not in _DO.split("|"):
        place = next((index for index in range(1, len(words)) if _PREDICATE.fullmatch(words[index])), None)
        if words[0].lower() == "there":
            place = 1
        words = words if place is None else [*words[:place], opening, *words[place:]]
    stated = " ".join(words)
    return f"{stated[:1].upper()}{stated[1:]}."
