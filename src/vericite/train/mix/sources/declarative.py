"""Yes-no questions turned into statements, where simple rules do it reliably; else not at all."""

from __future__ import annotations

import re

_VERBS = (
    "affect|improve|predict|reduce|increase|decrease|influence|play|have|cause|provide|prevent|contribute|correlate"
    "|benefit|impair|alter|change|protect|lead|inhibit|induce|promote|enhance|support|depend|impact|modify|vary|differ"
    "|represent|remain|require|need|help|determine|lower|raise|worsen|accelerate|delay|regulate|modulate|express"
    "|develop|produce|facilitate|explain|reflect|indicate|work|exist|occur|matter|show|make|offer|interact|bind|cross"
    "|reverse|attenuate|mediate|activate|trigger|encode|act|limit|interfere|minimize|suppress|target|guarantee"
)
_PREDICATES = (
    "associated|related|linked|effective|safe|useful|feasible|necessary|predictive|beneficial|different|better|superior"
    "|inferior|worse|reliable|valid|accurate|sufficient|possible|justified|needed|required|important|helpful|harmful"
    "|appropriate|dependent|independent|involved|correlated|indicated|increased|decreased|reduced|present|affected"
    "|influenced|responsible|common|rare|equivalent|cost-effective|more|less|still|being|implicated|caused|expressed"
    "|recommended|used|approved|regulated|overexpressed|mutated|inherited|essential|contraindicated|toxic"
)
_DOES = re.compile(
    rf"^(?P<aux>Do|Does|Did|Can|Could|Should|Will|May|Might) (?P<subject>[^,?:;]{{3,120}}?) (?P<verb>{_VERBS})\b"
    r"(?P<rest>[^?:;]*)\?$",
    re.IGNORECASE,
)
_IS = re.compile(
    rf"^(?P<aux>Is|Are|Was|Were) (?P<subject>[^,?:;]{{3,120}}?) (?P<predicate>(?:an? |the )?(?:{_PREDICATES})\b|an? )"
    r"(?P<rest>[^?:;]*)\?$",
    re.IGNORECASE,
)
_EXISTS = re.compile(r"^(?P<aux>Is|Are) there (?P<rest>(?:an? |any )?[^?:;]{8,160})\?$", re.IGNORECASE)
_ALTERNATIVE = re.compile(r"\b(?:or|versus|vs|whether|why|how|which|what)\b", re.IGNORECASE)
_OPEN_END = re.compile(r"\b(?:of|in|for|with|by|to|the|a|an|and|from|between)$", re.IGNORECASE)


def as_statements(question: str) -> tuple[str, str] | None:
    """The statement that "yes" affirms and the one that "no" affirms; None where the rules are not sure."""
    question = re.sub(r"\s+", " ", question).strip()
    question = question.rsplit(": ", 1)[1] if re.search(r": [A-Z]", question) else question
    if _ALTERNATIVE.search(question) or not 4 <= len(question.split()) <= 28:
        return None
    return _verbal(question) or _existing(question) or _predicative(question)


def _verbal(question: str) -> tuple[str, str] | None:
    found = _DOES.match(question)
    if not found or _OPEN_END.search(found["subject"]):
        return None
    aux, subject, verb, rest = found["aux"].lower(), _capital(found["subject"]), found["verb"].lower(), found["rest"]
    if aux in ("do", "does", "did"):
        positive = {"do": verb, "does": _third_person(verb), "did": f"did {verb}"}[aux]
        return f"{subject} {positive}{rest}.", f"{subject} {aux} not {verb}{rest}."
    denied = "cannot" if aux == "can" else f"{aux} not"
    return f"{subject} {aux} {verb}{rest}.", f"{subject} {denied} {verb}{rest}."


def _predicative(question: str) -> tuple[str, str] | None:
    found = _IS.match(question)
    if not found or _OPEN_END.search(found["subject"]) or len(found["subject"].split()) > 12:
        return None
    aux, subject = found["aux"].lower(), _capital(found["subject"])
    rest = f"{found['predicate'].rstrip()}{' ' if found['predicate'].endswith(' ') else ''}{found['rest']}"
    return f"{subject} {aux} {rest}.", f"{subject} {aux} not {rest}."


def _existing(question: str) -> tuple[str, str] | None:
    found = _EXISTS.match(question)
    if not found:
        return None
    aux, rest = found["aux"].lower(), re.sub(r"^any ", "", found["rest"])
    denied = re.sub(r"^(?:an?|any) ", "", found["rest"])
    return f"There {aux} {rest}.", f"There {aux} no {denied}."


def _third_person(verb: str) -> str:
    if verb == "have":
        return "has"
    if verb.endswith(("s", "x", "ch", "sh", "o")):
        return verb + "es"
    return verb[:-1] + "ies" if verb.endswith("y") and verb[-2] not in "aeo" else verb + "s"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
