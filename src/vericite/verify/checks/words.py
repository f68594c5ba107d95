"""The content words of a text, brought to one form where different words mean the same."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

_STOP = frozenset(
    """
    a about above across after again all along also although among amongst an and any are as at be because been
    before being between both but by can compared comparison could despite did do does done during each either
    for from further given had has have having here how however if in into is it its itself may might more most
    much must nor of off on once one only onto or other our out over own per rather relative same shall should
    since so some such than that the their them then there these they this those through thus to toward towards
    under until up down upon use used using very via was we were what when where whereas whether which while who
    whose will with within would yet you your not no never none without neither cannot non too quite among
    versus vs according study trial patient patients people participant participants subject subjects person
    persons individual individuals group groups arm arms showed shown show shows found find finds reported
    report reports resulted results result observed seen associated association receiving received taking took
    take takes treated given who whom got get those had percent significantly significant statistically average
    mean median even just still about roughly approximately nearly almost overall respectively year years month
    months week weeks day days hour hours many few several lot made make makes making led lead leads leading due
    clearly markedly substantially considerably slightly modestly greatly strongly likely chance level levels
    rate rates proportion number numbers amount value values risk odds incidence frequency occurrence degree
    became become becomes becoming brought bring brings
    effect effects tended tend appears appeared seem seemed enrolled assigned randomised randomized
    """.split()
)
# phrases and words of one meaning; the first is its name
_SAME = """
mortality|death|deaths|died|die|dies|dying|fatal|fatality|fatalities|deadly|killed|lethality
survival|survived|survive|survives|survivors|alive|surviving|lived|live
mi|heart attack|heart attacks|myocardial infarction|myocardial infarctions|infarction|infarctions
stroke|strokes|cerebrovascular accident|cerebrovascular accidents
menstruation|menstruate|periods
bleeding|bleed|bleeds|haemorrhage|hemorrhage|haemorrhages|hemorrhages|haemorrhagic|hemorrhagic|bled|blood loss
hypertension|high blood pressure|raised blood pressure
bloodpressure|blood pressure|bp|sbp|dbp|systolic pressure|diastolic pressure
kidney|kidneys|renal|nephro
liver|hepatic
heart|cardiac|hearts
lung|lungs|pulmonary
brain|cerebral|brains
stomach|gastric
bowel|colorectal|intestinal|gut|colon
cancer|cancers|carcinoma|carcinomas|malignancy|malignancies|tumour|tumours|tumor|tumors|neoplasm|neoplasms
admission|admissions|admitted|hospitalisation|hospitalization|hospitalisations|hospitalizations|hospitalised
admission|hospitalized
readmission|readmitted|readmissions|rehospitalised|rehospitalisation
stay|length of stay|hospital stay|time in hospital|hospital stays|lengths of stay|stays|days in hospital
glucose|blood sugar|sugar|glycaemia|glycemia|glycaemic|glycemic|blood glucose
hba1c|glycated haemoglobin|glycated hemoglobin|haemoglobin a1c|a1c|glycosylated hemoglobin
hypoglycaemia|hypoglycemia|low blood sugar|hypoglycaemic|hypoglycemic|hypos
weight|body weight|bodyweight|weigh|weighed|body mass
fracture|fractures|broken bones|broken bone|broke
fall|falls|falling
ldl|low-density lipoprotein|bad cholesterol|ldl-c|ldl cholesterol
pain|painful|ache|aches|soreness|pains
loss|losses|dwindled|dwindle|dwindles|dwindling
relapse|relapses|relapsed|recurrence|recurrences|recurred|recur|recurrent|flare|flares|came back
recovery|recover|recovered|recovers|recovering
remission|remissions|remitted
infection|infections|infected|infect
adverse|side effect|side effects|adverse events|adverse event|adverse effects|adverse reactions|harms|side-effects
adverse|unwanted effects
sleep|slept|sleeping|asleep
itch|itching|pruritus|itchy
vomiting|vomit|vomited|vomits|emesis
nausea|nauseous|nauseated|sick
fever|febrile|temperature|feverish
diarrhoea|diarrhea|loose stools
breathless|dyspnoea|dyspnea|breathlessness|shortness of breath
clot|clots|thrombosis|thromboses|thrombotic|thromboembolism|vte
premature|preterm|prematurity|born early|early birth
exercise|physical activity|exercising|exercised|training
depression|depressed|depressive
anxiety|anxious
cognition|cognitive|memory
anaemia|anemia|anaemic|anemic
smoke|smoking|smoker|smokers|smoked|smokes
obese|obesity|overweight
elderly|older adults|older people|seniors
drug|drugs|medication|medications|medicine|medicines
child|children|childhood|paediatric|pediatric|kids
adult|adults
woman|women|female|females
man|men|male|males
baby|babies|infant|infants|newborn|newborns|neonate|neonates
mouse|mice|murine
response|respond|responded|responder|responders|responds|responses
time|duration|length
quality of life|qol|quality-of-life|wellbeing|well-being
seizure|seizures|fits|convulsions
growth|grow|grew|grows|growing
dayworker|day workers|day worker|day staff
shiftworker|shift workers|shift worker|those on shifts|night workers
proliferation|proliferate|proliferated|divide|divided|multiply|multiplied|multiplies
expression|expressed|express|expresses
inflammation|inflammatory|inflamed
immune|immunity|immunological
apoptosis|cell death|apoptotic
surgery|operation|operations|surgical|operative|operated
transmission|transmit|transmitted|spread
prevention|prevent|prevents|prevented|preventing
symptom|symptoms|symptomatic
score|scores
asthma|asthmatic|asthmatics
diabetes|diabetic|diabetics
migraine|migraines|headache|headaches
placebo|dummy|sham
control|controls
usual care|standard care|usual treatment|standard treatment|standard therapy
pacemaker|pacemakers
vaccine|vaccination|vaccinated|vaccines|immunisation|immunization|jab
tolerate|tolerated|tolerability|tolerable
detect|detected|detectable|detection|detects
differ|difference|differences|differed|differs|different
"""


def _concepts() -> dict[str, str]:
    table: dict[str, str] = {}
    for line in _SAME.strip().splitlines():
        name, *others = line.split("|")
        for word in (name, *others):
            table[word] = "=" + name
    return table


_CONCEPTS = _concepts()
_PHRASES = "|".join(
    sorted((re.escape(name) for name in _CONCEPTS if " " in name or "-" in name), key=len, reverse=True)
)
_TOKEN = re.compile(rf"(?<![\w])(?:{_PHRASES})(?![\w])|[^\W_]+(?:'[a-z]{{1,2}}(?![\w]))?", re.IGNORECASE)
_ENDINGS = (
    ("isations", "ise"),
    ("izations", "ise"),
    ("isation", "ise"),
    ("ization", "ise"),
    ("ational", "ate"),
    ("fulness", ""),
    ("iveness", "ive"),
    ("ations", "ate"),
    ("ation", "ate"),
    ("ities", ""),
    ("ments", ""),
    ("ically", "ic"),
    ("ment", ""),
    ("ness", ""),
    ("ions", ""),
    ("ion", ""),
    ("ity", ""),
    ("ies", "y"),
    ("ing", ""),
    ("ive", ""),
    ("ally", ""),
    ("ely", ""),
    ("ed", ""),
    ("es", ""),
    ("ly", ""),
    ("al", ""),
    ("ic", ""),
    ("s", ""),
    ("e", ""),
)


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a text: its form as written in small letters, its stem, and where it stands."""

    lower: str
    stem: str
    start: int
    end: int

    @property
    def content(self) -> bool:
        """Whether it tells what the text is about."""
        return self.stem != ""


def words(text: str) -> list[Word]:
    """The words of a text in order; words without content of their own have no stem."""
    return [
        Word(match[0].lower(), _lettered(text, match) or _stem(match[0].lower()), match.start(), match.end())
        for match in _TOKEN.finditer(text)
    ]


def _lettered(text: str, match: re.Match[str]) -> str:
    """The stem of a capital letter that is a name: "drug A"."""
    named = (
        len(match[0]) == 1 and match[0] in "ABCDEXYZ" and text[max(0, match.start() - 2) : match.start()][:1].isalpha()
    )
    return match[0].lower() if named else ""


def stems(text: str) -> frozenset[str]:
    """The stems of a text's content words."""
    return frozenset(word.stem for word in words(text) if word.stem)


@lru_cache(maxsize=4096)
def _stem(lower: str) -> str:
    concept = _CONCEPTS.get(lower)
    if concept:
        return concept
    if lower in _STOP or lower.isdigit() or (len(lower) < 2 and lower.isascii()):
        return ""
    stem = lower.removesuffix("'s")
    if len(stem) > 4:
        stem = stem.replace("ae", "e").replace("oe", "e").replace("our", "or").replace("yse", "yze")
    for ending, instead in _ENDINGS:
        if stem.endswith(ending) and not (ending == "s" and stem.endswith("ss")) and len(stem) - len(ending) >= 4:
            stem = stem[: len(stem) - len(ending)] + instead
            break
    return stem.removesuffix("e") if len(stem) > 4 else stem


_SENTENCE = re.compile(r"(?<=[\w%)\]]{2}[.!?])\s+(?=[A-Z0-9(\"])|;\s+", re.ASCII)
_CLAUSE = re.compile(
    r",?\s+(?:but|whereas|while|although|though|however|yet|whilst)\b(?! not only)"
    r"|(?<=[\w%)\]]{2}[.!?])\s+(?=[A-Z0-9(\"])|;\s+"
    r"|,\s+and\s+(?=(?:the|there|it|they|no|neither|did|was|were|had|has)\b)|,\s+(?=with\s+(?:no|a|an"
    r"|little)\b)|\.\s*$"
)


def sentences(text: str) -> list[str]:
    """The sentences of a plain text, roughly; parts between semicolons count as sentences."""
    return [part for part in _SENTENCE.split(text) if part.strip()]


def clauses(text: str) -> list[str]:
    """The parts of a plain text that say one thing each, roughly."""
    return [part for part in _CLAUSE.split(text) if part and part.strip()]
