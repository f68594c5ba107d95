"""Sentences of a source as an answer quotes them, and which of them can be read alone."""

from __future__ import annotations

import html
import re

from vericite.text.marks import without_marks
from vericite.text.roles import unlabelled
from vericite.text.statements import looks_dependent

FEWEST, MOST = 5, 60
"""Numbers of words of a sentence that can be read alone."""
FEWEST_OF_SHORT = 3
"""The minimum if a source has no sentence that long."""

_POINTS_ELSEWHERE = re.compile(
    r"\b(?:these|such(?!\s+as\b)|those(?!\s+(?:who|whose|that|with|without|of|in|on|at|from|given|receiving|taking|"
    r"treated|assigned|aged|not|under|over|most|least|more|less)\b))\b",
    re.IGNORECASE,
)
# What may be left out without loss: "on the strength of these findings". And what has its meaning from words before it.
_ASIDE = re.compile(
    r",?\s(?:(?:up)?on the (?:strength|basis) of|based (?:up)?on|in (?:the )?light of|because of|owing to|"
    r"as a result of|in view of|given|from|after|since|following|according to)\s"
    r"(?:all\s|both\s)?(?:these|such|those)\s(?:\w+\s)?"
    r"(?:findings|results|data|trials|studies|reports|observations|analyses|publications|years|considerations)\b",
    re.IGNORECASE,
)
# "In the latter case": what is meant was named before.
_ORDER = re.compile(
    r"^\W*(?:\w+\W+){0,6}(?:the )?(?:latter|former|aforementioned|above-mentioned)\b(?! (?:smok|alcohol))",
    re.IGNORECASE,
)
_AFTER = 8
"""Number of words after which "these" can mean something in its own sentence."""

_CUT = re.compile(r"[,;:(\[/&+=<>-]\W*\Z")
_UNFINISHED = re.compile(
    r"(?:\b(?:a|an|the|of|to|in|on|at|by|for|with|from|and|or|but|nor|than|that|which|who|whose|as|is|are|was|"
    r"were|be|been|has|have|had|not|no|we|their|its|this|these|into|between|among|during|via|per|versus|vs|when|where|while|"
    r"because|if|whether|compared (?:to|with) \w{1,2}|[b-hj-z]))\Z",
)
_ENDED = re.compile(r"[.!?…][\"'”’»)\]*_]*\Z")
_BEGINS_WITHIN = re.compile(r"[a-z]{2,}(?![\w-]*[A-Z\d])|[,;:)\]]")
# Words of which a statement has one; a text without them and without a full stop is a title or a piece of a sentence.
_VERB = re.compile(
    r"\b(?:is|are|was|were|be|been|has|have|had|do|does|did|can|could|may|might|must|should|will|would|cannot|"
    r"(?:show|reduc|increas|decreas|improv|caus|prevent|inhibit|induc|lead|led|result|occur|remain|suggest|indicat|provid|reveal|"
    r"affect|requir|includ|contain|consist|play|help|lower|rais|rose|fell|protect|appear|seem|bind|activat|regulat|promot|"
    r"contribut|depend|differ|predict|demonstrat|confirm|cur|treat|reliev|enhanc|mediat|target|encod|express|produc|represent|"
    r"develop|begin|work|act|need|give|gave|become|became|mean|stand|refer|belong|comprise|involv|support|block)"
    r"(?:s|es|ed|d|t|n|ts|ds|ys|ps|ks|cs)?)\b(?!\W*\Z)",
    re.IGNORECASE,
)
# A label of a section without its colon: "Conclusion Applying a tourniquet ...", "[Conclusion] The ...".
_LABEL = (
    r"(?:Background(?: and (?:purpose|aims?|objectives?))?|Introduction|Objectives?|Purpose|Aims?|"
    r"(?:Materials? and |Patients and )?[Mm]ethods?(?: and (?:results|findings|materials))?|Results?|"
    r"Findings|(?:Discussion and )?[Cc]onclusions?|Interpretation|Discussion|Significance|Summary|Importance|Context|"
    r"Setting|Design)"
)
_LOST_COLON = re.compile(
    rf"\W{{0,2}}{_LABEL}(?:[\])]\s*:?|:?)\s+(?=(?:[A-Z][\w’'-]*\s+[a-z0-9(]|[A-Z]{{2,}}|A\s|\[?[A-Z][a-z]+,))"
)
# What is left of a label where a text was cut: "ONS: Fluoroquinolone exposure ...".
_REST_OF_LABEL = re.compile(r"[A-Z]{0,9}(?:HODS|ULTS|IONS?|ONS|OUND|IVES?|DINGS|POSE):\s+(?=[A-Z])")
_PLAIN_VERB = re.compile(
    r"\s(?:and|or|of|for|from|in|on|to|at|with|is|are|was|were|show\w*|suggest\w*|indicat\w*|obtain\w*)\b"
)
_WITHIN = re.compile(
    r"(?<=[\w).,%])\s+(?:BACKGROUND|INTRODUCTION|METHODS?|RESULTS?|FINDINGS|CONCLUSIONS?|INTERPRETATION|DISCUSSION)\s*:\s+(?=[A-Z])"
)


# Words that only join a sentence to the one before: it says the same without them.
_JOINING = re.compile(
    r"(?:In (?:conclusion|summary|addition|general)|To conclude|Overall|Thus|Therefore|Hence|Consequently|Accordingly|"
    r"Furthermore|Moreover|Additionally|Importantly|Notably|Interestingly|Taken together|Collectively|"
    r"Finally|Of note)\s?,\s+(?=\w)"
)
# "This trial showed that ...": the marker of the source stands for the trial.
_REPORTED = re.compile(
    r"(?:(?:the )?(?:present|current)|this|these|our|such)\s(?:[\w-]+\s){0,3}?(?:trials?|stud(?:y|ies)|"
    r"meta-analys[ie]s|reviews?|analys[ie]s|reports?|data|results|findings|evidence|experiments?|observations?)\s(?:\w+ly\s)?(?:shows?|showed|"
    r"indicates?|indicated|demonstrates?|demonstrated|confirms?|confirmed|finds|found|reveals?|revealed|"
    r"supports? the (?:view|idea) |provides? evidence|establish(?:es|ed)?|concludes?|concluded)\s(?:\w+ly\s)?that\s",
    re.IGNORECASE,
)


def quotation(text: str) -> str:
    """Prepare a sentence for quotation: on one line, without section labels and the source's own reference marks."""
    text = without_marks(re.sub(r"\s+", " ", html.unescape(text) if "&" in text else text))
    # A label in the middle ends a sentence that the source cuts off; what follows is whole.
    text = _WITHIN.split(text)[-1].strip()
    text = _REST_OF_LABEL.sub("", unlabelled(text)[1], count=1) if ":" in text else text
    label = _LOST_COLON.match(text)
    if label is not None and not _PLAIN_VERB.match(text, label.end() - 1):
        text = text[label.end() :]
    joining = _JOINING.match(text)
    if joining is not None:
        text = text[joining.end() :]
        text = f"{text[:1].upper()}{text[1:]}"
    return text


def stands_alone(text: str, fewest: int = FEWEST) -> bool:
    """Whether a sentence can be read without its neighbours and states something."""
    stated = _REPORTED.sub("", text, count=1) if _REPORTED.match(text) else text
    return (
        fewest <= len(text.split()) <= MOST
        and not text.endswith("?")
        and not looks_dependent(stated)
        and not _points_elsewhere(stated)
        and not is_fragment(text)
    )


def _points_elsewhere(text: str) -> bool:
    if _ORDER.search(text):
        return True
    match = _POINTS_ELSEWHERE.search(_ASIDE.sub("", text))
    return match is not None and len(text[: match.start()].split()) < _AFTER


def is_fragment(text: str) -> bool:
    """Whether a text is a piece of a sentence, or a title: it begins or ends within a sentence, or has no verb."""
    if _BEGINS_WITHIN.match(text) or _CUT.search(text):
        return True
    return _ENDED.search(text) is None and (_UNFINISHED.search(text) is not None or _VERB.search(text) is None)
