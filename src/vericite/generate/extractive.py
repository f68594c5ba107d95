"""The extractive generator: selects sentences of the sources that answer the question, or says that none does.

A closed question is answered with yes or no. Two things are read from each answering sentence: whether the judge finds
that it entails or contradicts the question's statement, and its words of negation and direction. A logistic model over
both, fitted in ``recipes/answers``, gives the probability of yes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from vericite.generate.aspects import (
    CLOSED,
    DO,
    asked_aspects,
    asks_yes_or_no,
    aspect_of,
    empty_kind,
    fit,
    has_asked,
    is_stated,
)
from vericite.generate.generator import INSUFFICIENT
from vericite.generate.selection import (
    Candidate,
    Weighed,
    candidates_of,
    document_relevance,
    first_look,
    missing_of,
    odds_of,
    sigmoid,
    sufficiency,
    weigh,
    weights_of,
)
from vericite.generate.subjects import (
    about_the_asked,
    absent,
    has_outcome,
    is_opposite,
    match_of,
    names_of,
    objects_of,
    outcomes_of,
    parts_of,
    population_match,
    unmentioned,
)
from vericite.models.contracts import Embeds, Judge, Pair, Reranks
from vericite.models.embedder import Reranker
from vericite.records import Answer, Document, Evidence, Question, Selected, SourceStance
from vericite.text.acronyms import Acronym, acronym_pairs
from vericite.text.citations import parse_answer
from vericite.text.language import foreign_reason
from vericite.text.marks import plain_words
from vericite.text.names import names_in, unnamed
from vericite.text.references import render_markers
from vericite.text.roles import FINDINGS, is_labelled
from vericite.text.terms import terms

VOTERS = 8
"""Number of sentences that vote: those that answer best."""
_SPEAKS = 0.5
"""Minimum vote of a sentence to be shown as speaking for yes or no."""
_CLEARLY = 0.1
"""Minimum lead of the match of a source that speaks against the answer, for which no answer is stated."""
_HALF = 0.2
"""Maximum distance of a probability from one half that is called near."""
_TOO_UNLIKELY = 0.1
"""If the sources answer with less than this probability, the usual share of yes answers counts too."""

_DIRECTIONS = {
    "negated": ("without", "lack", "absen", "unaffected", "ineffective", "failed", "contraindicat"),
    "up": tuple("increas rais rose rise higher more wors elevat promot harms greater doubl".split()),
    "down": ("reduc", "decreas", "lower", "fewer", "less", "halv", "declin", "fell", "prevent", "protect", "diminish"),
}
_NEGATIONS = frozenset({"no", "not", "nor", "neither", "never", "cannot", "fails", "fail"})


# "More than halves the risk" is no increase.
_COMPARED = re.compile(
    r"\b(?:more|less|higher|lower|fewer|greater)\s+than\s+(?=(?:halv|doubl|tripl)\w*)", re.IGNORECASE
)


def polarity(text: str) -> frozenset[str]:
    """Return the ``negated``, ``up`` and ``down`` that a text expresses."""
    words = [word.strip(".,;:()").lower() for word in _COMPARED.sub("", text).split()]
    found = {way for way, stems in _DIRECTIONS.items() if any(word.startswith(stems) for word in words)}
    negated = any(word in _NEGATIONS or word.endswith(("n't", "n’t")) for word in words)
    return frozenset(found | {"negated"} if negated else found)


# What follows the subject of a question with "is": a participle, an article, a word that only starts a predicate.
_PREDICATE = re.compile(
    r"(?:been|\w{2,}[^aeious\W]ed|known|found|seen|shown|given|a|an|the|effective|efficacious|beneficial|safe|useful|able|"
    r"better|worse|superior|inferior|more|less|as|contraindicated|responsible|necessary|sufficient|possible|available|"
    r"there|present|common|rare|due|part|similar|different|equivalent|predictive|prognostic|independent|reliable|valid|"
    r"feasible|helpful|harmful|important|in|on|at|of|for|with)",
    re.IGNORECASE,
)


def is_closed(question: Question) -> bool:
    """Whether the answer is yes or no; decided by the form of the question if its type is not given."""
    if question.type is not None:
        return question.type == "yesno"
    return asks_yes_or_no(question.text)


def statement_of(text: str) -> str:
    """Return what a yes/no question would state if the answer were yes.

    "Is X associated with Y?" gives "X is associated with Y."; "Does X reduce Y?" gives "X reduce Y.", which a judge
    reads as well as "reduces". Questions of other forms only lose their question mark.
    """
    bare = re.sub(r"\s+", " ", text).strip().rstrip("?").strip()
    asked = CLOSED.match(bare)
    if asked is None:
        return f"{bare}."
    auxiliary, words = asked["auxiliary"].lower(), asked["rest"].split()
    if auxiliary not in DO.split("|"):
        position = next((index for index in range(1, len(words)) if _PREDICATE.fullmatch(words[index])), None)
        if words[0].lower() == "there":
            position = 1
        words = words if position is None else [*words[:position], auxiliary, *words[position:]]
    stated = " ".join(words)
    return f"{stated[:1].upper()}{stated[1:]}."


NAMES = (
    "entailed", "contradicted", "most entailed", "most contradicted", "words",
    "concluding entailed", "concluding contradicted", "concluding words",
)  # fmt: skip
"""Features of all voting sentences together, in order."""


@dataclass(frozen=True)
class Stance:
    """What the sources say on a yes/no question.

    Attributes:
        yes: Probability that the answer is yes.
        votes: Vote of each sentence, by its index among the candidates: from -1 (no) to 1 (yes).
        weights: Probability of each of these sentences to answer.
    """

    yes: float
    votes: dict[int, float]
    weights: dict[int, float] = field(default_factory=dict[int, float])

    @property
    def answer(self) -> Literal["yes", "no"]:
        """The likelier answer."""
        return "yes" if self.yes >= 0.5 else "no"

    @property
    def deciding(self) -> int:
        """Index of the sentence that speaks for the answer most."""
        return max(self.votes, key=self._strength)

    def is_backed(self, candidates: Sequence[Candidate]) -> bool:
        """Whether a listed source speaks for the answer."""
        return bool(self.markers(candidates, self.side))

    def is_clear(self, candidates: Sequence[Candidate], sure: float) -> bool:
        """Whether the answer is likely enough; twice as far from one half if a source speaks against it."""
        return abs(self.yes - 0.5) >= sure * (2 if self.markers(candidates, -self.side) else 1)

    def is_split(self, candidates: Sequence[Candidate], matches: Sequence[float]) -> bool:
        """Whether the source that matches the question best speaks against the answer, and none as good for it.

        Args:
            candidates: The sentences.
            matches: How well each source matches the question's subject and patients.
        """
        pro, contra = (
            max((matches[marker - 1] for marker in self.markers(candidates, side)), default=0.0)
            for side in (self.side, -self.side)
        )
        return contra > pro + _CLEARLY

    @property
    def opposing(self) -> int | None:
        """Index of the sentence that speaks against the answer most, if one does."""
        most = min(self.votes, key=self._strength)
        return most if self.side * self.votes[most] <= -_SPEAKS else None

    def _strength(self, index: int) -> float:
        return self.side * self.votes[index] * self.weights.get(index, 1.0)

    @property
    def side(self) -> int:
        """1 if the likelier answer is yes, otherwise -1."""
        return 1 if self.answer == "yes" else -1

    def markers(self, candidates: Sequence[Candidate], side: int) -> list[int]:
        """Return the sources that speak for yes (1) or for no (-1).

        The vote of a source is its strongest vote, weighted by the probability that the sentence answers the question.
        """
        speaking: dict[int, int] = {}
        for index in sorted(self.votes, key=lambda index: abs(self.votes[index]) * candidates[index].answers):
            speaking |= dict.fromkeys(candidates[index].markers, index)
        return sorted(marker for marker, index in speaking.items() if side * self.votes[index] >= _SPEAKS)

    def speaking(self, candidates: Sequence[Candidate], side: int, opposing: set[int]) -> list[int]:
        """Return ``markers``, with the sources that oppose a stated answer."""
        return sorted({*self.markers(candidates, side), *(opposing if side != self.side else ())})

    def given(self, enough: float) -> Stance:
        """Return the stance, given the probability that the sources answer.

        If it is very low, the probability of yes is drawn towards the usual share of yes answers.
        """
        if enough >= _TOO_UNLIKELY:
            return self
        return replace(self, yes=enough * self.yes + (1 - enough) * weights_of("stance")["usually yes"])


_DESIGNS = (
    (re.compile(r"\bmeta-analys[ie]s\b|\bsystematic review\b|\bpooled analys[ie]s\b", re.IGNORECASE), 1.3),
    (re.compile(r"\bcase reports?\b|\bin vitro\b|\bmice\b|\brats?\b", re.IGNORECASE), 0.5),
    (re.compile(r"\brandomi[sz]ed\b|\brandomly\b|\bdouble-blind\b|\bguidelines?\b", re.IGNORECASE), 1.1),
    (re.compile(r"\bobservational\b|\bcohort\b|\bcase-control\b|\bretrospective", re.IGNORECASE), 0.7),
)
_LARGE = re.compile(r"\bmulti-?cent(?:re|er)\b|\bmultinational\b|\binternational\b", re.IGNORECASE)
_SMALL = re.compile(
    r"\b(?:single|one|a)[- ](?:\w+ )?cent(?:re|er)\b|\bopen-label\b|\bpilot (?:study|trial)\b", re.IGNORECASE
)


def design_weight(document: Document) -> float:
    """Return how much the vote of a source counts by its design and the number of its centres."""
    weight, whole = _kind_weight(document), document.titled_text
    if weight == 1.0:
        return 1.0
    return weight * (1.2 if _LARGE.search(whole) else 0.5 if _SMALL.search(whole) else 1.0)


def _kind_weight(document: Document) -> float:
    """Return the weight of the kind of study that a source's title, types or text name; 1 if they name none."""
    named = " ".join([document.title, *document.publication_types])
    weights = (weight for text in (named, document.text) for pattern, weight in _DESIGNS if pattern.search(text))
    return next(weights, 1.0)


def stance_of(
    question: str, candidates: Sequence[Candidate], judge: Judge | None, evidence: Sequence[Evidence]
) -> Stance:
    """Combine the votes of the sentences that answer best, weighted by their probability to answer."""
    order = sorted(range(len(candidates)), key=lambda index: -candidates[index].answers)[:VOTERS]
    spoken = about_the_asked(question, [candidates[index] for index in order], evidence)
    if any(spoken):
        order = [index for index, about in zip(order, spoken, strict=True) if about]
    asked = [candidates[index] for index in order]
    designs = [design_weight(evidence[candidate.marker - 1].document) for candidate in asked]
    entailed, contradicted = judged(question, asked, judge)
    words = [lexical_vote(question, candidate.text) for candidate in asked]
    weights = weights_of("stance")
    figures = stance_figures(asked, entailed, contradicted, words, designs)
    yes = sigmoid(weights["bias"] + sum(weights[name] * value for name, value in zip(NAMES, figures, strict=True)))
    # A sentence has no vote if the judge and its words of negation and direction disagree.
    leanings = words
    if judge is not None:
        read = [e - c for e, c in zip(entailed, contradicted, strict=True)]
        leanings = [lean if lean * word > 0 else 0.0 for lean, word in zip(read, words, strict=True)]
    if not any(spoken):
        leanings = [0.0] * len(order)
    return Stance(
        yes, dict(zip(order, leanings, strict=True)), {index: max(candidates[index].answers, 0.01) for index in order}
    )


def stance_figures(
    asked: Sequence[Candidate],
    entailed: Sequence[float],
    contradicted: Sequence[float],
    words: Sequence[float],
    designs: Sequence[float] | None = None,
) -> list[float]:
    """Compute the features of the yes/no decision."""
    answering = np.array([max(candidate.answers, 0.01) for candidate in asked]) * np.array(designs or 1.0)
    concluding = np.array([2.0 if candidate.role == "conclusion" else candidate.lateness**2 for candidate in asked])
    (e, c, w), (e2, c2, w2) = (
        [float(np.average(values, weights=by)) for values in (entailed, contradicted, words)]
        for by in (answering, answering * concluding + 1e-6)
    )
    share = answering / answering.max()
    return [e, c, float((share * entailed).max()), float((share * contradicted).max()), w, e2, c2, w2]


def judged(question: str, asked: Sequence[Candidate], judge: Judge | None) -> tuple[list[float], list[float]]:
    """Return how far each sentence entails and contradicts what is asked; 0 if it could not be judged."""
    if judge is None:
        return [0.0] * len(asked), [0.0] * len(asked)
    statement = statement_of(question)
    rows = [
        (0.0, 0.0) if found.failure else (float(found.probabilities[0]), float(found.probabilities[1]))
        for found in judge.judge([Pair(candidate.text, statement) for candidate in asked])
    ]
    return [row[0] for row in rows], [row[1] for row in rows]


_ADVISED_AGAINST = re.compile(
    r"\b(?:should|must|ought to|needs? to|ha(?:s|ve) to) be (?:\w+ly )?"
    r"(?:stopped|avoided|withheld|discontinued|withdrawn)\b",
    re.IGNORECASE,
)
"""Advice that says of a treatment what a contraindication says."""


def lexical_vote(question: str, text: str) -> float:
    """Return 1 if a sentence has the question's direction, -1 if it negates or reverses it.

    Of a contraindication, advice to stop or avoid says the same.
    """
    asked, said = polarity(question), polarity(text)
    if "contraindicat" in question.lower() and _ADVISED_AGAINST.search(text):
        said |= {"negated"}
    directions = {"up", "down"}
    turned = len(asked & directions) == len(said & directions) == 1 and asked & directions != said & directions
    denied = ("negated" in asked) != ("negated" in said)
    return -1.0 if turned != denied else 1.0


Floats = NDArray[np.float32]


@dataclass(frozen=True)
class ExtractiveSettings:
    """How many sentences are selected, and when to refuse. Chosen on BioASQ 12B (``recipes/answers/LOG.md``).

    Attributes:
        min_answer_probability: Refuse below this probability that the sources answer. With 0 every question is
            answered, and every yes/no question is decided.
        least: Minimum probability of a sentence to answer. Refuse if none reaches it.
        longest: Maximum number of sentences.
        part: Minimum probability for quoting a sentence that answers only a part of the question.
        near: Minimum share of the best sentence's probability that another one must reach.
        same: Minimum cosine for a sentence to repeat another, unless their polarity differs: to an embedder "reduced"
            is similar to "did not reduce", and both must be shown.
        sure: Minimum distance of the probability of yes from one half to state yes or no.
        contradicts: Minimum probability for saying that another source contradicts a sentence.
    """

    min_answer_probability: float = 0.5
    least: float = 0.15
    longest: int = 3
    part: float = 0.2
    near: float = 0.9
    same: float = 0.9
    sure: float = 0.1
    contradicts: float = 0.8

    @property
    def changed(self) -> list[str]:
        """List the settings that differ from their defaults."""
        usual = asdict(ExtractiveSettings())
        return [f"{name}={value:g}" for name, value in asdict(self).items() if value != usual[name]]


def select_sentences(
    candidates: Sequence[Candidate], cosines: Floats, settings: ExtractiveSettings, must: Sequence[int] = ()
) -> list[int]:
    """Select the sentences that answer best, without repeats and without those too far behind the best.

    Among equals, findings come before background, and newer sources before older ones.

    Args:
        candidates: The sentences, with their probabilities to answer.
        cosines: Cosine of each pair of sentences.
        settings: Numbers and thresholds.
        must: Sentences that are always selected.
    """
    taken = list(must)
    best = max(candidate.answers for candidate in candidates)
    order = sorted(
        range(len(candidates)), key=lambda index: (-round(candidates[index].answers, 2), *_rank(candidates[index]))
    )
    for index in order:
        if index in taken or len(taken) >= settings.longest:
            continue
        if candidates[index].answers < max(settings.near * best, settings.least):
            break
        if not any(_repeats(candidates, cosines, settings, index, other) for other in taken):
            taken.append(index)
    return taken


def _rank(candidate: Candidate) -> tuple[bool, int, int]:
    return candidate.role not in FINDINGS, -(candidate.year or 0), candidate.marker


def _repeats(
    candidates: Sequence[Candidate], cosines: Floats, settings: ExtractiveSettings, index: int, other: int
) -> bool:
    """Whether a sentence repeats another. A similar sentence with another polarity is not a repeat."""
    text, before = candidates[index].text, candidates[other].text
    words, held = set(terms(text)), set(terms(before))
    alike = len(words & held) / max(1, len(words | held))
    near = cosines[index, other] >= settings.same or alike >= _ALIKE
    return bool(near) and (alike >= _SAME or polarity(text) == polarity(before))


_ALIKE, _SAME = 0.75, 0.95
"""Share of common words from which a sentence repeats another of the same polarity, or of any."""


def in_order(taken: Sequence[Candidate], first: Candidate) -> list[Candidate]:
    """Order sentences: ``first`` and its source, then the other sources, best first; each source in its own order."""
    best: dict[int, float] = {}
    for candidate in taken:
        best[candidate.marker] = max(candidate.answers, best.get(candidate.marker, -1.0))
    best[first.marker] = float("inf")

    def place(candidate: Candidate) -> tuple[float, int, bool, int]:
        return -best[candidate.marker], candidate.marker, candidate is not first, candidate.place

    return sorted(taken, key=place)


_GENERAL = frozenset("DNA RNA USA UK EU WHO FDA HIV AIDS COVID COVID-19 SARS-CoV-2 CI OR HR RR SD MRI CT".split())
"""Abbreviations that are better known than their long forms."""


def with_long_forms(text: str, explained: Sequence[Acronym], known: set[str]) -> str:
    """Add long forms, in square brackets, to abbreviations that the source explains elsewhere.

    Args:
        text: A sentence.
        explained: The abbreviations that its source explains.
        known: Abbreviations that the answer or the question has explained; updated with those explained here.
    """
    for pair in explained:
        short = pair.singular
        # Skip if the long form is next to it, or words in brackets that may be another long form of the same letters.
        explains = pair.long.lower() in text.lower() or re.search(rf"[(\[]{re.escape(short)}s?[)\];,]", text)
        if explains:
            known.add(short)
        if explains or short in known or short in _GENERAL:
            continue
        match = re.search(rf"(?<![\w-]){re.escape(short)}(?![\w-])", text)
        if match is None:
            continue
        text = f"{text[: match.end()]} [{pair.long}]{text[match.end() :]}"
        known.add(short)
    return text


def cited(text: str, markers: Sequence[int]) -> str:
    """Insert the markers before the full stop."""
    body = text.rstrip()
    stop = body[-1] if body.endswith((".", "!")) else "."
    return f"{body.rstrip('.!')} {render_markers(sorted(markers))}{stop}"


def quotation(text: str, markers: Sequence[int], documents: Sequence[Document]) -> str:
    """Quote a sentence of a source so that a parser of answers finds these markers and no other citations."""
    sentence = cited(text, markers)
    claims = parse_answer("quotation", sentence, documents).claims
    found = sorted(citation.marker for claim in claims for citation in claim.citations)
    return sentence if found == sorted(markers) else cited(plain_words(text), markers)


_RULES = 0.35
"""Power of the rules' factor. The model has learnt most of what the rules say. Chosen on labels."""
_OUTRIGHT = 2.0
"""Added to the log odds of a sentence that says outright what is asked, in a source on the question's subject."""
_OPPOSITE = 0.1
"""Factor of a sentence on the opposite of what is asked."""
_OTHER_DRUG = 0.5
"""Factor of a sentence that names drugs, but not one that is asked for."""
_REFUSED = 0.25
"""Maximum probability that the sources answer if no sentence has what is asked for."""


def on_named(question: str, candidates: Sequence[Candidate], evidence: Sequence[Evidence]) -> list[Candidate]:
    """Return the candidates of sources that name a drug of the question.

    None are returned if no source names one of its drugs, or any of its names (of genes, drugs, people).
    """
    texts = {candidate.marker: evidence[candidate.marker - 1].document.titled_text for candidate in candidates}
    names = set(names_of(question))
    if names and texts and names <= set(absent(question, " ".join(texts.values()))):
        return []
    lacking = {marker: set(unnamed(question, text)) for marker, text in texts.items()}
    asked = set(unnamed(question, ""))
    if not asked or not lacking:
        return list(candidates)
    if any(all(name in names for names in lacking.values()) for name in asked):
        return []
    return [candidate for candidate in candidates if lacking[candidate.marker] != asked]


def _set_probabilities(
    question: str,
    closed: bool,
    candidates: Sequence[Candidate],
    odds: Floats,
    behind: Floats,
    evidence: Sequence[Evidence],
) -> None:
    """Set the probability of each sentence to answer.

    If the likeliest sentence lacks the outcome that a yes/no question asks for, findings on it ("No difference in
    mortality was observed") count as said outright.

    Args:
        question: The question.
        closed: Whether its answer is yes or no.
        candidates: The sentences.
        odds: Their log odds to answer.
        behind: Share of the question's subjects that each document lacks and another one has.
        evidence: The documents.
    """
    stating: dict[int, float] = {}
    for index, (candidate, value) in enumerate(zip(candidates, odds, strict=True)):
        # Another source may have more of the question's subject.
        lacks = float(behind[candidate.marker - 1])
        factor = to_the_point(question, candidate, evidence[candidate.marker - 1].document) * (1 - lacks)
        outright = not lacks and is_stated(question, candidate.text)
        candidate.answers = factor * sigmoid(float(value) + _OUTRIGHT * outright)
        if closed and not lacks and states_effect(question, candidate):
            stating[index] = factor * sigmoid(float(value) + _OUTRIGHT)
    best = max(candidates, key=lambda candidate: candidate.answers)
    if not has_outcome(question, f"{best.title} {best.text}"):
        for index, value in stating.items():
            candidates[index].answers = value


_FILLER = 0.35
"""Factor of a sentence that lacks what is asked for where another one has it."""


_NO_DIFFERENCE = re.compile(r"\b(?:similar|comparable|equal|the same|unchanged|differ(?:s|ed)?)\b", re.IGNORECASE)


def states_effect(question: str, candidate: Candidate) -> bool:
    """Whether a finding says outright how the outcome of a yes/no question turned out, without naming the subject."""
    text = candidate.text
    return (
        bool(objects_of(question) or outcomes_of(question))
        and candidate.role in FINDINGS
        and bool(polarity(text) or _NO_DIFFERENCE.search(text))
        and bool(absent(question, text))
        and has_asked(question, text)
        and has_outcome(question, text)
        and empty_kind(text) is None
    )


def _filler(question: str, candidates: Sequence[Candidate], least: float) -> set[int]:
    """Return the sentences that lack what is asked for, such as a harm or deaths, if a likely one has it."""
    lacking = {
        index
        for index, candidate in enumerate(candidates)
        if not has_asked(question, candidate.text) or not has_outcome(question, f"{candidate.title} {candidate.text}")
    }
    has_it = any(candidate.answers >= least for index, candidate in enumerate(candidates) if index not in lacking)
    return lacking if has_it else set()


def to_the_point(question: str, candidate: Candidate, document: Document) -> float:
    """Return the factor of a sentence's probability: what it states, of which subject, and on which patients."""
    own = f"{document.title} {candidate.text}"
    factor = fit(question, candidate.text, candidate.role, is_labelled(document)) ** _RULES
    factor *= population_match(question, own, document.titled_text)
    if is_opposite(question, candidate.text):
        factor *= _OPPOSITE
    asked = unnamed(question, "")
    names = any(named.is_drug for named in names_in(candidate.text))
    return factor * _OTHER_DRUG if asked and names and unnamed(question, candidate.text) == asked else factor


class ExtractiveGenerator:
    """Selects the sentences that answer the question, drops repeats, and cites each.

    For a yes/no question, ``Answer.exact`` has the decision. The answer then begins with the sentence that speaks most
    for it, and includes the one that speaks most against it, if any. Where the answer is stated, sentences of a weaker
    design that say the opposite are not quoted. A note names the sources that say the opposite and are not quoted, and
    those that contradict the deciding sentence.
    ``Answer.selected``
    has for each sentence its probability to answer and the other sources that contradict it.

    Args:
        embedder: Measures similarity.
        settings: Number of sentences, and when to refuse.
        reranker: Reads every sentence with the question. Default: the bundled one.
        judge: Judges whether a sentence entails what a yes/no question asks, and whether one source contradicts
            another. Without a judge, words of negation and direction decide, and contradictions are not looked for.
    """

    def __init__(
        self,
        embedder: Embeds,
        settings: ExtractiveSettings | None = None,
        reranker: Reranks | None = None,
        judge: Judge | None = None,
    ) -> None:
        self.settings = settings or ExtractiveSettings()
        self._embedder = embedder
        self._reranker = reranker or Reranker.shared()
        self._judge = judge

    @property
    def signature(self) -> str:
        """Version, models and the settings that differ from their defaults."""
        parts = [part.signature for part in (self._embedder, self._reranker, self._judge) if part is not None]
        return f"extractive.v16({', '.join([*parts, *self.settings.changed])})"

    def generate(self, question: Question, evidence: Sequence[Evidence]) -> Answer:
        """Return an answer of a few cited sentences, or say that the sources do not answer."""
        language = foreign_reason(question.text)
        if language is not None and self.settings.min_answer_probability:
            return self._refused(question, (), None, f"This question {language}. {_ENGLISH_ONLY}")
        every = candidates_of(evidence)
        candidates = on_named(question.text, every, evidence)
        if not self.settings.min_answer_probability:
            candidates = candidates or every
        if not candidates:
            return self._refused(question, evidence, 0.0)
        documents = document_relevance(question.text, evidence, self._reranker)
        candidates = first_look(question.text, candidates, documents)
        weighed = weigh(question.text, candidates, documents, self._embedder, self._reranker)
        closed = is_closed(question)
        odds, missing = odds_of(weighed.figures, closed), missing_of(question.text, evidence)
        # Only sources that can be quoted count: a retracted one answers nothing.
        least = float(min(missing[candidate.marker - 1] for candidate in candidates))
        _set_probabilities(question.text, closed, candidates, odds, missing - least, evidence)
        filler = _filler(question.text, candidates, self.settings.least)
        for index in filler:
            candidates[index].answers *= _FILLER
        parts = [] if closed else self._for_parts(question.text, candidates, documents, evidence)
        enough = sufficiency(odds, documents, least)
        if max(candidate.answers for candidate in candidates) < self.settings.least:
            enough = min(enough, _REFUSED)
        if enough < self.settings.min_answer_probability:
            return self._refused(question, evidence, enough)
        stance = None
        if closed:
            stance = stance_of(question.text, candidates, self._judge, evidence).given(enough)
        return self._answered(question, evidence, candidates, weighed, stance, parts, filler, enough)

    def _for_parts(
        self, question: str, candidates: Sequence[Candidate], documents: Floats, evidence: Sequence[Evidence]
    ) -> list[int]:
        """Return the sentence that answers each part of a question with several; none if it has one part."""
        found: list[int] = []
        parts = parts_of(question)
        for part in parts if len(parts) > 1 else []:
            odds = odds_of(weigh(part, candidates, documents, self._embedder, self._reranker).figures, closed=False)
            values = [
                sigmoid(float(value)) * to_the_point(part, candidate, evidence[candidate.marker - 1].document)
                for candidate, value in zip(candidates, odds, strict=True)
            ]
            best = int(np.argmax(values))
            if values[best] >= self.settings.part:
                candidates[best].answers = max(candidates[best].answers, values[best])
                found.append(best)
        return list(dict.fromkeys(found))

    def _answered(
        self,
        question: Question,
        evidence: Sequence[Evidence],
        candidates: Sequence[Candidate],
        weighed: Weighed,
        stance: Stance | None,
        parts: Sequence[int],
        filler: set[int],
        enough: float,
    ) -> Answer:
        always = not self.settings.min_answer_probability
        matches = [match_of(question.text, hit.document.titled_text) for hit in evidence]
        split = stance is not None and stance.is_split(candidates, matches)
        must = [] if stance is None else [index for index in (stance.deciding, stance.opposing) if index is not None]
        if not always:
            must = [i for i in must if candidates[i].answers >= self.settings.least and i not in filler]
        # Yes or no without the sentence that says so would stand under sentences on something else.
        sure = stance is not None and (
            always
            or (
                stance.is_backed(candidates)
                and stance.is_clear(candidates, self.settings.sure)
                and not split
                and stance.deciding in must
            )
        )
        taken = [*parts] or select_sentences(candidates, weighed.cosines, self.settings, must)
        left_out = set[int]()
        if stance is not None and sure:
            opposite = [index for index in taken if _is_weaker(stance, index, question.text, candidates, evidence)]
            taken = [index for index in taken if index not in opposite]
            left_out = {marker for index in opposite for marker in candidates[index].markers}
        if not taken:
            taken = [max(range(len(candidates)), key=lambda index: candidates[index].answers)]
        best = max(taken, key=lambda index: candidates[index].answers)
        first = candidates[stance.deciding if stance is not None and sure and stance.deciding in taken else best]
        chosen = in_order([candidates[index] for index in taken], first)
        against = set[int]()
        if stance is not None and sure:
            against = self._opposing(question.text, stance, candidates, evidence)
        documents = [hit.document for hit in evidence]
        known = set(re.findall(r"[\w-]+", question.text))
        texts: list[str] = []
        for candidate in chosen:
            explained = acronym_pairs(documents[candidate.marker - 1].titled_text)
            spelt_out = with_long_forms(candidate.text, explained, known)
            texts.append(quotation(spelt_out, candidate.markers, documents))
        answer = parse_answer(question.id, " ".join(texts), documents, question.text, self.signature)
        rows = {id(candidate): index for index, candidate in enumerate(candidates)}
        contradicting = self._contradictions([rows[id(candidate)] for candidate in chosen], candidates, weighed.cosines)
        rivals = set[int]()
        if stance is not None and sure:
            sided = {marker for side in (1, -1) for marker in stance.markers(candidates, side)}
            rivals = {*contradicting[chosen.index(first)]} - sided - against - left_out
        selected = [
            Selected(
                answers=candidate.answers,
                role=candidate.role,
                aspect=_spoken_of(question.text, candidate),
                contradicted_by=tuple(documents[marker - 1].id for marker in markers),
            )
            for candidate, markers in zip(chosen, contradicting, strict=True)
        ]
        return answer.model_copy(
            update={
                "notes": (
                    *_notes(question.text, evidence),
                    *_unspoken(question.text, chosen, " ".join(document.titled_text for document in documents)),
                    *_undecided(stance, sure, candidates),
                    *(_unlikely(chosen) if stance is not None else ()),
                    *_opposites(stance, chosen, against | left_out, candidates, evidence),
                    *([f"{render_markers(sorted(rivals))} contradicts the first sentence"] if rivals else ()),
                ),
                "exact": ((stance.answer,),) if stance is not None and sure else None,
                "sufficiency": enough,
                "selected": tuple(selected[place] for place in _places(answer, texts)),
                "stance": None if stance is None else SourceStance(
                    yes=tuple(documents[m - 1].id for m in stance.speaking(candidates, 1, against)),
                    no=tuple(documents[m - 1].id for m in stance.speaking(candidates, -1, against)),
                    probability=stance.yes,
                ),
            }
        )  # fmt: skip

    def _contradictions(
        self, chosen: Sequence[int], candidates: Sequence[Candidate], cosines: Floats
    ) -> list[list[int]]:
        """Return for each chosen sentence the markers of other sources whose most similar sentence contradicts it."""
        found: list[list[int]] = [[] for _ in chosen]
        if self._judge is None:
            return found
        asked: list[tuple[int, int, Pair]] = []
        for row, index in enumerate(chosen):
            nearest: dict[int, int] = {}
            for other, candidate in enumerate(candidates):
                if candidate.marker not in candidates[index].markers and candidate.role != "aim":
                    held = nearest.get(candidate.marker)
                    if held is None or cosines[index, other] > cosines[index, held]:
                        nearest[candidate.marker] = other
            asked += [
                (row, marker, Pair(candidates[other].text, candidates[index].text))
                for marker, other in sorted(nearest.items())
                if cosines[index, other] >= _COMPARABLE
            ]
        for (row, marker, _), judgement in zip(asked, self._judge.judge([pair for *_, pair in asked]), strict=True):
            if not judgement.failure and judgement.probabilities[1] >= self.settings.contradicts:
                found[row].append(marker)
        return found

    def _opposing(
        self, question: str, stance: Stance, candidates: Sequence[Candidate], evidence: Sequence[Evidence]
    ) -> set[int]:
        """Return the sources with a finding that says the opposite of a stated answer.

        Sources that speak for the answer are left out. More sentences are read than vote, and also those that cannot be
        quoted alone ("In this cohort, ..."): they state what their source concludes.
        """
        if self._judge is None:
            return set()
        deciding = candidates[stance.deciding]
        for_it = {*deciding.markers, *stance.markers(candidates, stance.side)}
        every = [candidate for candidate in candidates_of(evidence, alone=False) if candidate.role in FINDINGS]
        about = about_the_asked(question, [deciding, *every], evidence)[1:]
        asked = [
            candidate
            for candidate, is_about in zip(every, about, strict=True)
            if is_about
            and for_it.isdisjoint(candidate.markers)
            and empty_kind(candidate.text) is None
            and lexical_vote(question, candidate.text) * stance.side < 0
        ]
        entailed, contradicted = judged(question, asked, self._judge)
        against = self._judge.judge([Pair(candidate.text, deciding.text) for candidate in asked])
        return {
            marker
            for candidate, e, c, pair in zip(asked, entailed, contradicted, against, strict=True)
            if (c - e) * stance.side >= _SPEAKS
            or (not pair.failure and pair.probabilities[1] >= self.settings.contradicts)
            for marker in candidate.markers
        }

    def _refused(
        self, question: Question, evidence: Sequence[Evidence], enough: float | None, text: str = INSUFFICIENT
    ) -> Answer:
        lacking = (*_notes(question.text, evidence), *_without_aspect(question.text, evidence)) if evidence else ()
        return Answer(
            id=question.id,
            text=text,
            claims=(),
            documents=tuple(hit.document for hit in evidence),
            question=question.text,
            generator=self.signature,
            insufficient=True,
            notes=lacking,
            sufficiency=enough,
        )


_ENGLISH_ONLY = "Questions and sources are read in English only."


def _is_weaker(
    stance: Stance, index: int, question: str, candidates: Sequence[Candidate], evidence: Sequence[Evidence]
) -> bool:
    """Whether a sentence says the opposite of a stated answer, from a weaker design than the deciding sentence's."""
    own, other = (
        design_weight(evidence[candidates[number].marker - 1].document) for number in (stance.deciding, index)
    )
    side = 1 if stance.answer == "yes" else -1
    return other < own and lexical_vote(question, candidates[index].text) * side < 0


def _spoken_of(question: str, candidate: Candidate) -> str | None:
    """Return what a sentence speaks of, of what is asked for; None if it speaks of something else."""
    if asked := asked_aspects(question):
        return next((aspect.name for aspect in asked if aspect.is_in(candidate.text)), None)
    is_on_outcome = has_outcome(question, f"{candidate.title} {candidate.text}")
    return aspect_of(question) if is_on_outcome else None


_DEFINITE = 0.3
"""Maximum factor of aspects whose absence from a sentence is certain by its words: a dose, a harm."""


def _unspoken(question: str, chosen: Sequence[Candidate], every: str) -> Iterator[str]:
    """Say what is asked for that no quoted sentence speaks of: an aspect, such as harm, or an outcome.

    ``every`` is the text of all sources.
    """
    lacking = [
        aspect.name
        for aspect in asked_aspects(question)
        if aspect.unmet <= _DEFINITE and not any(aspect.is_in(candidate.text) for candidate in chosen)
    ]
    if lacking:
        yield f"no quoted sentence gives what is asked for ({', '.join(lacking)})"
    titled = [f"{candidate.title} {candidate.text}" for candidate in chosen]
    if not any(has_outcome(question, text) for text in titled):
        lacking = unmentioned([*outcomes_of(question), *objects_of(question)], " ".join(titled))
        # Those that no source mentions are noted already.
        if outcomes := [word for word in dict.fromkeys(lacking) if word not in absent(question, every)]:
            yield f"no quoted sentence mentions {', '.join(outcomes)}"


_DOUBTFUL = 0.3
"""Minimum probability of the best sentence, below which an answer to a yes/no question says that it is low. Sentences
that answer other questions often have less: the demonstration's seven below it are on the point or partly."""


def _unlikely(chosen: Sequence[Candidate]) -> tuple[str, ...]:
    """Say that no quoted sentence is likely to answer, if so."""
    best = max(candidate.answers for candidate in chosen)
    return (f"no quoted sentence is likely to answer: the best has the probability {best:.2f}",) * (best < _DOUBTFUL)


def _undecided(stance: Stance | None, sure: bool, candidates: Sequence[Candidate]) -> tuple[str, ...]:
    """Say why neither yes nor no is stated, if it is not."""
    if stance is None or sure:
        return ()
    own, other = (render_markers(stance.markers(candidates, side)) for side in (stance.side, -stance.side))
    if own and other:
        yes, no = (own, other) if stance.side > 0 else (other, own)
        return (f"the sources disagree: {yes} yes, {no} no",)
    if other:
        why = f"{other} says {'no' if stance.side > 0 else 'yes'}, but the probability of yes is {stance.yes:.2f}"
    elif not own:
        why = f"no source was read as clearly yes or no; the probability of yes is {stance.yes:.2f}"
    elif abs(stance.yes - 0.5) < _HALF:
        why = f"the probability of yes is {stance.yes:.2f}, near one half"
    else:
        why = f"the sentence that says {stance.answer} is unlikely to answer the question"
    return (f"neither yes nor no is stated: {why}",)


def _opposites(
    stance: Stance | None,
    chosen: Sequence[Candidate],
    opposing: set[int],
    candidates: Sequence[Candidate],
    evidence: Sequence[Evidence],
) -> Iterator[str]:
    """Name the sources that say the opposite of a stated answer and are not quoted, and if their design is weaker."""
    unquoted = sorted(opposing - {marker for candidate in chosen for marker in candidate.markers})
    if stance is None or not unquoted:
        return
    weights = {marker: _kind_weight(evidence[marker - 1].document) for marker in unquoted}
    own = _kind_weight(evidence[candidates[stance.deciding].marker - 1].document)
    if equal := [marker for marker in unquoted if weights[marker] >= own]:
        yield f"{render_markers(equal)} says the opposite"
    if weaker := [marker for marker in unquoted if weights[marker] < own]:
        yield f"{render_markers(weaker)} says the opposite, but its study design is weaker"


def _without_aspect(question: str, evidence: Sequence[Evidence]) -> tuple[str, ...]:
    """Say if no sentence of the sources has what is asked for, such as a dose."""
    name = aspect_of(question)
    if name is None or any(has_asked(question, candidate.text) for candidate in candidates_of(evidence)):
        return ()
    return (f"no sentence that was found gives what is asked for ({name})",)


def _notes(question: str, evidence: Sequence[Evidence]) -> tuple[str, ...]:
    """List the subjects of the question that no source mentions."""
    every = " ".join(hit.document.titled_text for hit in evidence)
    lacking = absent(question, every)
    return (f"no source that was found mentions {', '.join(lacking)}",) if lacking else ()


def _places(answer: Answer, texts: Sequence[str]) -> list[int]:
    """Return the sentence of each claim: one sentence of a source may be parsed as two claims."""
    ends = np.cumsum([len(text) + 1 for text in texts])
    return [int(np.searchsorted(ends, claim.span.start, side="right")) for claim in answer.claims]


_COMPARABLE = 0.6
"""Minimum cosine of two sentences about the same thing, so that one can contradict the other."""
