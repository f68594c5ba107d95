"""Sentences of abstracts that can stand as claims: findings and conclusions, without what frames them."""

from __future__ import annotations

import re

from vericite.train.mix.overlap import Rarity
from vericite.train.mix.premises import clean, without_heading

_FRAME = re.compile(
    r"^(?:(?:however|moreover|furthermore|additionally|in addition|in conclusion|in summary|overall|thus|therefore"
    r"|hence|finally|notably|interestingly|importantly|collectively|together|taken together|to conclude|indeed"
    r"|consequently|specifically|similarly|also|further|meanwhile|in contrast|surprisingly|accordingly|in general"
    r"|as expected|to sum up|in particular|conversely|as a result|on the other hand),?\s+)+",
    re.IGNORECASE,
)
_REPORTS = re.compile(
    r"^(?:(?:we|the authors?|(?:the|our|these|this|present|current|those)?\s*(?:present |current |preliminary "
    r"|overall )?"
    r"(?:results?|findings|data|study|studies|analys[ie]s|observations?|evidence|trial|work|experiments?))"
    r"(?: (?:from|of|in) (?:this|our|the) (?:\w+ ){0,3}\w+)?"
    r"\s+(?:also |further |clearly |strongly |therefore |thus |here )?"
    r"(?:show|showed|shows|have shown|has shown|demonstrate[sd]?|found|find|conclude[sd]?|suggest(?:s|ed)?"
    r"|indicate[sd]?"
    r"|reveal(?:s|ed)?|confirm(?:s|ed)?|provides? evidence|support(?:s)? the (?:idea|hypothesis|notion|conclusion))"
    r"(?: here| clearly)?\s+that)\s+",
    re.IGNORECASE,
)
_IMPERSONAL = re.compile(r"^(?:it (?:was|is|has been) (?:found|shown|concluded|demonstrated|observed) that)\s+", re.I)
_STATISTICS = re.compile(
    r"\s*[(\[][^()\[\]]*(?:\bCI\b|confidence|[PpNn]\s*[<=>≤≥]|\bOR\b|\bHR\b|\bRR\b|±|[χtFr]\d?\s*[=(]|\bSD\b|\bIQR\b"
    r"|\bTable|\bFig|\bref)[^()\[\]]*(?:\([^()]*\)[^()\[\]]*)?[)\]]"
)
_TRAILING = re.compile(r"[,;]\s*(?:both\s+)?(?:all\s+)?[Pp]\s*(?:for \w+\s*)?[<=>≤≥]\s*[\d.·]+|,?\s*\[[\d,\s–-]+\]")
_NO_CLAIM = re.compile(
    r"\b(?:further|future|warrant\w*|should|recommend\w*|needed|aim\w*|objective|purpose|discuss\w*|investigat\w*"
    r"|was to|were randomi[sz]ed|clinicaltrials|registration|registered|trial number|isrctn|nct\d+|copyright|funded"
    r"|supported by|hypothesi[sz]\w*|it is possible|unknown|remains? unclear|to determine|to evaluate|to assess"
    r"|will be|is expected|are expected|primary (?:outcome|end ?point)|secondary (?:outcome|end ?point)s?|sample size"
    r"|were (?:recruited|enrolled|collected|obtained|recorded|sacrificed|assigned|included|measured|calculated|divided"
    r"|performed|documented|analy[sz]ed|assessed|evaluated|followed|searched|invited|asked|used|given|treated|selected)"
    r"|was (?:determined|calculated|measured|collected|obtained|performed|assessed|evaluated|recorded|conducted|defined"
    r"|analy[sz]ed|used)|data (?:are|were)|randomi[sz]ation|masked|blinded|intention-to-treat|significance"
    r"|have not been (?:identified|investigated|studied|established|fully)|poorly understood|not (?:well|fully)"
    r"|article|review|in this study|we show|here we|(?:is|are|was) an? (?:\w+[- ,]+){0,3}(?:randomi[sz]ed"
    r"|multicent\w+|pilot|open-label)|viable|promising|can be considered|option|report\w*|we (?:describe|present"
    r"|propose|studied|used|performed|examined|measured))\b",
    re.IGNORECASE,
)
_HANGING = re.compile(
    r"^(?:this|these|those|that|it|they|their|its|such|both|he|she|his|her|there|here|we|our|all|none|one|the (?:latter"
    r"|former|other|same|present|current|difference|differences|results?|study|authors?)|and|but|or|which|although"
    r"|while|whereas|because|no such|other)\b",
    re.IGNORECASE,
)
_VERB = re.compile(
    r"\b(?:is|are|was|were|has|have|had|can|may|might|could|does|do|did|will|increase[sd]?|decrease[sd]?|reduce[sd]?"
    r"|improve[sd]?|cause[sd]?|prevent(?:s|ed)?|lead|leads|led|predict(?:s|ed)?|inhibit(?:s|ed)?|induce[sd]?"
    r"|promote[sd]?"
    r"|enhance[sd]?|contribute[sd]?|affect(?:s|ed)?|remain(?:s|ed)?|play(?:s|ed)?|show(?:s|ed)?|result(?:s|ed) in"
    r"|correlate[sd]?|mediate[sd]?|regulate[sd]?|provide[sd]?|protect(?:s|ed)?|require[sd]?|occur(?:s|red)?"
    r"|differ(?:s|ed)?|activate[sd]?|suppress(?:es|ed)?|attenuate[sd]?|impair(?:s|ed)?|modulate[sd]?|control(?:s|led)?"
    r"|drive[sn]?|encode[sd]?|bind(?:s)?|express(?:es|ed)?|worsen(?:s|ed)?|accelerate[sd]?|delay(?:s|ed)?)\b"
)
_TITLE_VERB = re.compile(
    r"(?<!\bto )\b(?:is|are|was|were|has|have|does not|do not|did not|can|may|increases|decreases|reduces|improves"
    r"|causes|prevents"
    r"|leads to|predicts|inhibits|induces|promotes|enhances|contributes to|affects|remains|plays|regulates|mediates"
    r"|protects|requires|controls|drives|encodes|suppresses|activates|attenuates|impairs|modulates|worsens|accelerates"
    r"|delays|triggers|alters|facilitates|maintains|limits|confers|reveals|restores|influences|correlates with"
    r"|increase|reduce|improve|cause|prevent|predict|inhibit|induce|promote|enhance|contribute to|affect|regulate"
    r"|mediate|protect against)\b"
)
_TITLE_NAMES = re.compile(
    r"\b(?:trial|study|review|meta-analysis|protocol|role of|effects? of|comparison|evaluation)\b", re.I
)


_TELLS = re.compile(
    r"\b(?:increas\w+|decreas\w+|reduc\w+|improv\w+|higher|lower|greater|less|more|fewer|better|worse|longer|shorter"
    r"|differ\w*|similar\w*|compared|significan\w+|no effect|superior|inferior|than|effective\w*|found|showed|shown"
    r"|show"
    r"|associat\w+|correlat\w+|induc\w+|inhibit\w+|reveal\w*|demonstrat\w+|observed|caus\w+|prevent\w*|predict\w*"
    r"|result(?:s|ed)? in|led|leads|had|was|were|is|are)\b"
)
_AIMS = re.compile(
    r"\b(?:aim\w*|objective|purpose|to (?:determine|evaluate|assess|investigate|examine|test|compare|explore|describe)"
    r"|hypothesi[sz]ed|were randomi[sz]ed|were (?:recruited|enrolled|assigned)|was performed|we (?:examined"
    r"|investigated"
    r"|studied|evaluated|assessed|tested|conducted|performed|compared))\b",
    re.IGNORECASE,
)


def reports(sentence: str) -> bool:
    """Whether a sentence tells what was found rather than what was done or asked."""
    return bool(_TELLS.search(sentence)) and not _AIMS.search(sentence)


def result_window(claim: str, document: list[str], rarity: Rarity, size: int = 3) -> tuple[list[int], float]:
    """The sentences in a row that have most of a claim and tell of results, and how much of it they have."""
    told = [index for index, sentence in enumerate(document) if index >= len(document) // 4 and reports(sentence)]
    best: tuple[list[int], float] = ([], 0.0)
    for first in told:
        run = list(range(first, min(first + size, len(document))))
        while run[-1] not in told:
            run.pop()
        covered = rarity.coverage(claim, " ".join(document[index] for index in run))
        # Of windows that cover the claim alike the later holds the results.
        if round(covered, 1) >= round(best[1], 1):
            best = (run, covered)
    return best


def plain(sentence: str) -> str:
    """A sentence without the section's name, connectives, reporting frames and bracketed statistics."""
    text = without_heading(clean(sentence))
    for _ in range(2):
        text = _FRAME.sub("", text)
        text = _REPORTS.sub("", text)
        text = _IMPERSONAL.sub("", text)
    text = _TRAILING.sub("", _STATISTICS.sub("", text)).strip(" ,;:")
    text = re.sub(r"\s+([.,;:])", r"\1", text)
    return text[:1].upper() + text[1:]


def finding(sentence: str) -> str:
    """A sentence as a claim that stands alone, or nothing."""
    text = plain(sentence)
    if not 7 <= len(text.split()) <= 38 or _NO_CLAIM.search(text) or _HANGING.search(text):
        return ""
    if not _VERB.search(text) or text.count("(") != text.count(")") or text.endswith("?") or ":" in text:
        return ""
    return text if text.endswith(".") else text + "."


def declarative_title(title: str) -> str:
    """A title that states a finding, or the part of it behind a colon that does; else nothing."""
    for part in reversed(clean(title).strip(" .").split(": ")):
        words = part.split()
        if 6 <= len(words) <= 25 and _TITLE_VERB.search(part) and "?" not in title and not _TITLE_NAMES.search(part):
            if _HANGING.search(part) or _NO_CLAIM.search(part):
                continue
            return part[:1].upper() + part[1:] + "."
    return ""
