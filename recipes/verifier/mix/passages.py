"""The sentences of documents: cleaning, windows, findings, shared words."""

from __future__ import annotations

import hashlib
import heapq
import html
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from functools import lru_cache

from vericite.text.sentences import split_sentences
from vericite.text.terms import terms

LONGEST = 380
"""Words of an abstract that fit, with a claim, into the encoder's 512 tokens."""

_SPACE = re.compile(r"\s+")
_HEADING = re.compile(
    r"^(?:\[?[A-Z][A-Z /&,()-]{3,60}\]?:\s*|\[\w+\]\s*|(?:BACKGROUND|METHODS|RESULTS|CONCLUSIONS?|FINDINGS|OBJECTIVES?"
    r"|INTERPRETATION|AIMS?|PURPOSE|DISCUSSION|INTRODUCTION|RATIONALE"
    r"|Methods/[Dd]esign|Conclusions and Clinical Importance)\s+|(?:Abstract\s+)?(?:Background|Introduction"
    r"|Objectives?|Purpose|Aims?|Methods?"
    r"|Materials and methods|Patients and methods|Results|Findings|Conclusions?|Interpretation|Discussion|Significance"
    r"|Methods and findings|Methodology/principal findings|Conclusions?/significance|Summary|Main findings)"
    r"(?::\s*|\s+(?=[A-Z])))+"
)


def clean(text: str) -> str:
    """The text without character entities and doubled spaces."""
    if "&" in text:
        text = html.unescape(html.unescape(text))
    return _SPACE.sub(" ", text).strip()


def without_heading(sentence: str) -> str:
    """A sentence of a structured abstract without the section's name before it."""
    rest = _HEADING.sub("", sentence)
    return rest if len(rest.split()) > 3 else sentence


def sentences(text: str) -> list[str]:
    """The sentences of an abstract, cleaned; headings that stand alone are left out."""
    text = clean(text)
    parts = (text[span.start : span.end] for span in split_sentences(text))
    return [part for part in parts if len(part.split()) > 2]


def joined(document: Sequence[str], chosen: Sequence[int]) -> str:
    """Some sentences of a document, in its order."""
    return " ".join(clean(document[index]) for index in sorted(set(chosen)) if 0 <= index < len(document))


def window(document: Sequence[str], chosen: Sequence[int], size: int = 3) -> str:
    """The chosen sentences and as many neighbours as make ``size``; gaps between the chosen are filled.

    Where the chosen lie far apart the window is only them: filling the gap would make it the abstract.
    """
    first, last = min(chosen), max(chosen)
    if last - first >= size + 2:
        return joined(document, chosen)
    before = True
    while last - first + 1 < min(size, len(document)):
        if before and first > 0:
            first -= 1
        elif last < len(document) - 1:
            last += 1
        elif first > 0:
            first -= 1
        before = not before
    return joined(document, range(first, last + 1))


def abstract(document: Sequence[str], kept: Sequence[int] = (), longest: int = LONGEST) -> str:
    """The whole document, or of a long one what fits, such that the sentences to be kept are in it."""
    lengths = [len(sentence.split()) for sentence in document]
    chosen = {index for index in kept if 0 <= index < len(document)}
    left = longest - sum(lengths[index] for index in chosen)
    for index, length in enumerate(lengths):
        if index not in chosen and length <= left:
            chosen.add(index)
            left -= length
    return joined(document, sorted(chosen))


def text_hash(text: str) -> str:
    """What a text of the data is recognised by in files that must not hold it."""
    return hashlib.sha256(text.encode()).hexdigest()[:8]


_COMMON = 0.01  # a term in more of the texts than this finds nothing worth the walk through its postings
_EMPTY = frozenset(
    """not no may also than more most between such other both used using use study studies result results group groups
    patient patients compared significant significantly associated association effect effects showed found shown among
    been however these which our we but during after before into one two they its can""".split()
)


@lru_cache(maxsize=1 << 18)
def content(text: str) -> frozenset[str]:
    """The terms that carry the topic of a text."""
    return frozenset(term for term in terms(text) if term not in _EMPTY and (len(term) > 1 or term.isdigit()))


class Rarity:
    """How rare a term is among some texts."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._counts: Counter[str] = Counter()
        self._size = 0
        self._weights: dict[str, float] = {}
        for text in texts:
            self._size += 1
            self._counts.update(content(text))

    def weight(self, term: str) -> float:
        """Its inverse document frequency; that of a term never seen is the highest."""
        if term not in self._weights:
            self._weights[term] = math.log(1 + (self._size + 1) / (self._counts[term] + 0.5))
        return self._weights[term]

    def coverage(self, claim: str, premise: str) -> float:
        """The weight of the claim's terms that the premise has, as a share of them all: 0 to 1."""
        wanted, held = sorted(content(claim)), content(premise)  # sorted: sums of floats depend on the order
        weights = [(term, self.weight(term)) for term in wanted]
        total = sum(weight for _, weight in weights)
        return sum(weight for term, weight in weights if term in held) / total if total else 0.0


class Nearest:
    """Finds the texts that share the most telling terms with a claim."""

    def __init__(self, texts: Sequence[str], groups: Sequence[str]) -> None:
        self._groups = groups
        self._postings: defaultdict[str, list[int]] = defaultdict(list)
        self._lengths: list[float] = []
        for index, text in enumerate(texts):
            found = content(text)
            self._lengths.append(1 / (20 + len(found)))  # 20: so that a heading does not beat a sentence
            for term in found:
                self._postings[term].append(index)
        self._size = max(1, len(texts))

    def find(self, claim: str, apart: str, count: int) -> list[int]:
        """The nearest texts of other groups than ``apart``, best first."""
        scores: defaultdict[int, float] = defaultdict(float)
        for term in sorted(content(claim)):
            if term.isdigit():  # equal numbers are no common topic
                continue
            postings = self._postings.get(term, [])
            if len(postings) > _COMMON * self._size + 50:
                continue
            weight = math.log(1 + self._size / (len(postings) + 1))
            for index in postings:
                scores[index] += weight
        found = (index for index in scores if self._groups[index] != apart)
        return heapq.nsmallest(count, found, key=lambda index: (-scores[index] * self._lengths[index], index))


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
