"""Words and phrases exchanged for others that mean the same."""

from __future__ import annotations

import random
import re

from vericite.train.mix.wording.clinical_words import CLINICAL
from vericite.train.mix.wording.study_words import STUDY

_HUNG = re.compile(r"\w (?:of|in|with|against|from|for|at|after|to|by) \w|ing (?:swallowing|sick)|^(?:a|an) ")
_NOUN_AFTER = re.compile(
    r" (?!(?:was|were|is|are|had|has|have|did|does|do|can|could|may|might|will|in|on|of|and|or|but|with|by|at|for"
    r"|to|from|than|after"
    r"|before|during|among|between|within|compared|versus|relative|as|that|who|which|when|while|whereas|if|over"
    r"|under|without"
    r"|through|via|because|per|following|significantly|using|led|showed|due|owing|both|not|only|also|then|increased"
    r"|decreased|reduced|improved|treated|receiving|undergoing)\b)[\w(]|-"
)
_AGREES = re.compile(r"^(?:a|an|the) ")


def _numbered(member: str) -> tuple[str, ...]:
    """A word and its plural where both are written, else the word."""
    if "/" in member and " " not in member.split("/")[0].rsplit(" ", 1)[0] and "-" not in member:
        stem, _, ending = member.rpartition(" ")
        one, _, many = ending.partition("/")
        if one[:3] == many[:3]:
            return f"{stem} {one}".strip(), f"{stem} {many}".strip()
    return (member.replace("+", ""), member.replace("+", "s")) if "+" in member else (member,)


def _table() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for line in (CLINICAL + STUDY).strip().split("\n"):
        if not line:
            continue
        left, arrow, right = line.partition(" > ")
        members = [left, *right.split(" | ")] if arrow else line.split(" = ")
        forms = [_numbered(member.strip()) for member in members]
        for number in range(max(len(form) for form in forms)):
            same = [form[min(number, len(form) - 1)] for form in forms if number < len(form)]
            for word in same[:1] if arrow else same:
                found.setdefault(word, []).extend(other for other in same if other != word)
    return {word: others for word, others in found.items() if others}


SYNONYMS = _table()
"""What may stand for a word or phrase."""

_ANY = "|".join(re.escape(word) for word in sorted(SYNONYMS, key=len, reverse=True))
_WORDS = re.compile(rf"(?<![\w'/–-])(?:{_ANY})(?![\w'/–-]|\.\w)")
_SPOILED = re.compile(
    r"\b(?:(?:premature|newborn|pre-?school|term) (?:babies|newborns)|pediatric kids|might be able|(?:the"
    r"|an?) (?:most|more than half) of|could be not"
    r"|(?P<w>\w+) (?P=w)|an? (?:the|an?|\w+s of)|more (?:commoner|fast|big|\w+er)\b|most (?:commonest)|(?:the"
    r"|a) versus|versus (?:with|to)|(?:was|were|is|are) (?:rose|fell|showed|got|bore|held|gave)"
    r"|(?:to|can|may|could|did not|not) (?:showed|rose|got)|increase(?:d|s) drinking|(?:heart|kidney|liver|lung"
    r"|stomach|brain|eye|skin) (?:and|or|,|\.)|(?:heart|kidney|liver|stomach|brain|eye|skin|nerve cell) in"
    r"|[Mm]ost (?:the|these|this|our)|\w+ing it\b)\b|(?:of|the) (?:death|deaths) from all causes of"
)


def synonymised(text: str, dice: random.Random, most: int) -> str:
    """The text with up to ``most`` of its words and phrases said otherwise."""
    for _ in range(most):
        places = [place for place in _WORDS.finditer(_sentence(text)) if _fits(text, place)]
        if not places:
            break
        place = dice.choice(places)
        said = _put(text, place, dice.choice(SYNONYMS[place[0]]))
        if not _SPOILED.search(said) or _SPOILED.search(text):
            text = said
    return text


def _sentence(text: str) -> str:
    """The text with its first word as it stands within a sentence, where that is a word of the table."""
    low = text[:1].lower() + text[1:]
    return low if _WORDS.match(low) else text


def _fits(text: str, place: re.Match[str]) -> bool:
    before, after = text[: place.start()], text[place.end() :]
    word = place[0]
    if re.match(r" [A-Z][a-z]", after) and re.search(r"[A-Z][a-z]+ $", before):
        return False  # within a name
    if word in _ONLY_BEFORE and not re.match(_ONLY_BEFORE[word], after):
        return False
    return not (word in _NOT_AFTER and re.search(_NOT_AFTER[word], before))


_NOUN = r" (?!and\b|or\b|in\b|was\b|were\b|is\b|are\b|cell carcinoma\b|ventric|of\b|to\b|with\b)[a-z]{4,}"
_ORGAN = (
    r" (?:function|disease|damage|injury|tissue|cells?|transplant\w*|surgery|failure|events|dysfunction|disorders"
    r"|fibrosis|metasta\w+|volume|size|complications|toxicity|involvement|problems)"
)
_ONLY_BEFORE = {
    **{
        word: _ORGAN
        for word in (
            "renal",
            "hepatic",
            "cardiac",
            "cerebral",
            "gastric",
            "cutaneous",
            "ocular",
            "dermal",
            "intestinal",
        )
    },
    "dental": r" decay",
    "therapeutic": (
        r" (?:effect|option|approach|response|strategy|strategies|options|approaches|effects|outcome|outcomes)\b"
    ),
    "required": r" (?!to\b|for\b|by\b|in\b)[a-z]",
    "received": r" (?!from\b|by\b|at\b)[a-z\d]",
    "provided": r" (?!by\b|with\b|that\b|to\b|in\b|for\b)[a-z]",
    "improved": r" (?!in\b|from\b|by\b|significantly\b|after\b|with\b|and\b|over\b|during\b|at\b|to\b|more\b)[a-z]",
    "similar": r" (?:rates|results|effects|levels|efficacy|outcomes|changes|numbers|values)\b",
    "common": r" (?:cause|causes|complication|adverse|symptom|symptoms|in|among|side)\b",
    "frequent": r" (?:cause|causes|complication|adverse|symptom|symptoms|in|among|side)\b",
    "large": r" (?:differences?|effects?|studies|study|numbers?|trials?|majority)\b",
    "following": (
        r" (?:[a-z]+ )?(?:treatment|surgery|therapy|administration|exposure|injury|exercise|transplantation"
        r"|vaccination|birth|discharge|infection|intervention|training)\b"
    ),
    "within": r" (?:the )?(?:cell|cells|tumor|tumour|nucleus|brain)\b",
    "most": r" (?:patients|women|men|children|people|participants|subjects|studies|cases|infants)\b",
    "may": (
        r" (?:be|have|reduce|increase|improve|help|play|contribute|cause|affect|lead|also|not|result|serve|represent"
        r"|provide)\b"
    ),
    "employed": r" (?:to|as|in)\b",
    "surgery": r"[.,]",
    "carcinoma": r"[., ](?! in situ)",
    "metastasis": r" (?:to|of)\b",
    "obtained": r" (?:from|by|in|with)\b",
    "before": r" (?:the|treatment|surgery|and|a|birth)\b",
    "higher than": r" \d",
    "lower than": r" \d",
    "impaired": r" [a-z]+ (?:function|signaling|performance|sleep|control)\b",
    "induced": r" (?:the|an?|by)\b",
    **{word: r" \d" for word in ("about", "around", "roughly")},
    "without": r" (?:the|an?|any|[a-z]{4,})\b",
    "immediately": r" (?:after|before)\b",
    **{word: r" (?:the|an?)\b" for word in ("delayed", "accelerated", "enhanced", "attenuated")},
    "multiple": r" [a-z]+s\b",
    "rapid": r" (?!eye\b)[a-z]",
    "long-term": r" (?:effects?|benefits?|outcomes?|survival|use|treatment|risk)\b",
    "short-term": r" (?:effects?|benefits?|use|treatment|exposure)\b",
    "weakened": r" the",
    "reported": r" in\b",
    "suppressed": r" (?:the|tumor|growth|[a-z]+ (?:growth|expression))\b",
    "inhibited": r" (?:the|by|tumor|growth|[a-z]+ (?:growth|activity|expression))\b",
}
_PASSIVE = r"\b(?:was|were|is|are|been|be|being)(?: \w+ly)? $"
_NOT_AFTER = {
    **{
        word: _PASSIVE
        for word in (
            "received",
            "demonstrated",
            "reported",
            "revealed",
            "exhibited",
            "provided",
            "required",
            "improved",
            "showed",
            "displayed",
            "attenuated",
            "enhanced",
            "prevented",
            "abolished",
            "alleviated",
            "got",
            "suppressed",
            "delayed",
            "weakened",
            "confirmed",
            "decreased by",
            "increased by",
            "decreased from",
            "increased from",
            "decreased the",
        )
    },
    **{word: r"\b(?:as) $" for word in ("relative to", "compared with", "compared to")},
    "administration of": r"\b(?:the|an?|\w+(?:al|ous|ed|ic)) $",
    "employed": r"\b(?:who|self|is|be)(?: \w+)? $",
    "surgery": r"\b(?:\w+ic|\w+al|bypass|\w+ary|the|\w+s|\w+ive|cancer|of|cataract|fusion) $",
    "observed": r"\b(?:we|We|was|were|been|have|had|The|the) never $",
    "risk of": (
        r"\b(?:at|at the|relative|hazard|attributable|absolute|increase in|low|high|at high|at low|at increased"
        r"|at higher|at lower|at a lower|at great\w*) $"
    ),
    "detected": r"\b(?:not|screen|also) $",
    "associated with": r"\b(?:was|were|is|are|not|inversely|positively|negatively|been|be)(?: \w+ly)? $",
    "correlated with": r"\b(?:was|were|is|are|not|positively|negatively|inversely)(?: \w+ly)? $",
    "infants": r"\b(?:preterm|premature|term|newborn|birth-?weight|weight|born) $",
    "most": r"\b(?:the|in the|at|of) $",
    "participants": r"\b(?:\w+al|study|trial) $",
    "subjects": r"\b(?:study|control|\w+al) $",
    "people with": r"\b(?:other|young|older|of) $",
    "patients with": (
        r"\b(?:other|cancer|young|older|elderly|outpatients|inpatients|female|male|adult|pediatric|hospitalized"
        r"|in) $(?<!in )"
    ),
    "may": r"\bthere $",
    "adverse events": r"\b(?:serious|cardiac|cardiovascular|major|severe) $",
    "hypertension": (
        r"\b(?:pulmonary|portal|ocular|intracranial|arterial|gestational|resistant|\w+al|\w+ary|\w+ic|masked|no) $"
    ),
    "bleeding": r"\b(?:is|was|were|of|the) $",
    "carcinoma": r"\b(?:cell|hepatocellular|adeno|ductal|\w+ous) $",
    "increase in": r"\b(?:to|can|may|will|not|an|could) $(?<!an )",
    "decrease in": r"\b(?:to|can|may|will|not|could) $",
    "increased the": _PASSIVE,
    "similar": r"\b(?:was|were|is|are|very|more) $",
    "seizure": r"\b(?:epileptic|febrile) $",
    "seizures": r"\b(?:epileptic|febrile) $",
    "fatigue": r"\b(?:muscle|chronic|muscular) $",
    "following": r"\b(?:the|by|with|and|were|was) $",
    "examined": r"\b(?:be) $",
    "before": r"\b(?:and|or|than|weeks?|months?|years?|days?|hours?) $",
    "seen": r"\b(?:be) $",
    "drug": r"\b\w+ $",
    "drugs": r"\b(?:anti\S+|\S+ive|\S+ic) $",
}


def _put(text: str, place: re.Match[str], new: str) -> str:
    before, after = text[: place.start()], text[place.end() :]
    if _HUNG.search(new) and not _HUNG.search(place[0]) and (_NOUN_AFTER.match(after) or before.endswith("cell ")):
        return text
    if new.startswith("those") and re.search(r"\b(?:the|an?|\w+(?:al|ic|ed)) $", before):
        return text
    if place.start() == 0 and new == "versus":
        return text
    if (
        _AGREES.match(new)
        and re.search(r"\b(?:a|an|the|\w+(?:ed|ic|al|ous|ive|ere|ent|ute)|of|no|more|less|with) $", before)
        and not before.endswith(("of ", "with "))
    ):
        return text
    if re.search(r"\ban? $", before) and (
        new.startswith(("most ", "various", "many", "several", "more than")) or new.endswith("s of")
    ):
        return text
    if place.start() == 0:
        new = new[:1].upper() + new[1:]
    return before + new + after
