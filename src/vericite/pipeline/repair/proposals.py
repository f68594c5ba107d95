"""Rejected sentences, what is wrong with each, and proposals to repair it. The verifier decides."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice, pairwise
from typing import Literal, NamedTuple

from vericite.attribution.attributor import Attributor, SourcesFound, cited, replaced, uncited
from vericite.errors import EntrezError, InputError
from vericite.pipeline.repair.differences import Difference
from vericite.pipeline.repair.directions import (
    DirectionMention,
    direction_differences,
    mentions,
    opposite_differences,
)
from vericite.pipeline.repair.numbers import number_differences, quantities
from vericite.pipeline.search import Search
from vericite.records import (
    Answer,
    CheckedAnswer,
    Claim,
    Document,
    EvidenceSpan,
    Question,
    RepairAction,
    Span,
    Verdict,
    VerificationFailure,
)
from vericite.records.results import QUOTATION
from vericite.text.citations import parse_answer
from vericite.text.emphasis import replacement, with_its_marks
from vericite.text.injection import instructing
from vericite.text.marks import without_marks
from vericite.text.quotable import addresses_reader
from vericite.text.reversals import denials
from vericite.text.sentences import document_sentences
from vericite.text.statements import looks_dependent
from vericite.text.words import plain
from vericite.verify.verifier import ClaimsToJudge, Verifier, weighted_overlap

State = Literal["sound", "loose", "broken", "uncited", "left"]
"""Nothing is wrong; some citations are wrong; all are wrong; there are none; it could not be judged."""

_Place = tuple[int, int]


@dataclass(frozen=True)
class Diagnosis:
    """A sentence and what is wrong with it.

    Attributes:
        number: Index of the claim in its answer.
        claim: The claim.
        state: Whether it needs repair.
        kept: Documents that a loose sentence continues to cite.
        why: What is wrong, or why it was not judged.
        against: Whether a cited document says otherwise.
        opposing: Passages of cited documents that contradict it.
    """

    number: int
    claim: Claim
    state: State
    kept: tuple[str, ...] = ()
    why: str = ""
    against: bool = False
    opposing: tuple[EvidenceSpan, ...] = ()


def diagnoses(answer: Answer, checked: CheckedAnswer) -> list[Diagnosis]:
    """Diagnose each claim.

    Raises:
        InputError: The verdicts are on another text.
    """
    verdicts: dict[_Place, list[Verdict]] = {_place(claim): [] for claim in answer.claims}
    failures: dict[_Place, list[VerificationFailure]] = {place: [] for place in verdicts}
    for item in (*checked.verdicts, *checked.failures):
        place = item.start, item.end
        if checked.id != answer.id or place not in verdicts:
            raise InputError(
                f"expected the verdicts on the answer {answer.id!r}; found some of another text. Check it again."
            )
        if isinstance(item, Verdict):
            verdicts[place].append(item)
        else:
            failures[place].append(item)
    return [
        _condition(number, claim, verdicts[_place(claim)], failures[_place(claim)])
        for number, claim in enumerate(answer.claims)
    ]


def _place(claim: Claim) -> _Place:
    return claim.span.start, claim.span.end


def _condition(
    number: int, claim: Claim, verdicts: Sequence[Verdict], failures: Sequence[VerificationFailure]
) -> Diagnosis:
    if not claim.citations:
        return Diagnosis(number, claim, "uncited", why="it cites nothing")
    abstained = [verdict for verdict in verdicts if verdict.abstained]
    rejected = [verdict for verdict in verdicts if not verdict.abstained and verdict.label != "supported"]
    supported = [verdict for verdict in verdicts if not verdict.abstained and verdict.label == "supported"]
    open_ = [*abstained, *failures]
    if not claim.text or (open_ and not rejected):
        return Diagnosis(number, claim, "left", why="; ".join(_unjudged(abstained, failures)) or "it has no text")
    if not rejected:
        return Diagnosis(number, claim, "sound" if supported else "left", why="" if supported else "it was not judged")
    against = any(verdict.label == "contradicted" for verdict in rejected)
    opposing = tuple(span for verdict in rejected if verdict.label == "contradicted" for span in verdict.evidence)
    why = "; ".join(map(_why, rejected))
    kept = tuple(dict.fromkeys(id for item in (*supported, *open_) for id in item.documents))
    return Diagnosis(number, claim, "loose" if kept else "broken", kept, why, against, opposing)


def _unjudged(abstained: Sequence[Verdict], failures: Sequence[VerificationFailure]) -> Iterator[str]:
    for verdict in abstained:
        yield f"abstained: {verdict.reasons[0]}" if verdict.reasons else "abstained"
    for failure in failures:
        yield f"failed: {failure.reason}"


def _why(verdict: Verdict) -> str:
    marks = "".join(f"[{marker}]" for marker in verdict.markers)
    if verdict.label == "dangling":
        return f"{marks} points at no source"
    many = len(verdict.documents) > 1
    said = "contradict" if verdict.label == "contradicted" else "do not support"
    if not many:
        said = "contradicts" if verdict.label == "contradicted" else "does not support"
    return f"{marks} {said} it"


@dataclass(frozen=True)
class Proposal:
    """A proposed repair of a sentence.

    Attributes:
        action: Name of the action.
        text: The new words.
        documents: The documents to cite.
        by: Author of the words, if they are not the sentence's own.
    """

    action: RepairAction
    text: str
    documents: tuple[Document, ...]
    by: str | None = None


@dataclass
class RejectedSentence:
    """A sentence to repair.

    Attributes:
        answer: The answer of the sentence.
        condition: What is wrong with it.
        chosen: The chosen repair; None until one is found.
    """

    answer: Answer
    condition: Diagnosis
    chosen: Proposal | None = field(default=None)

    @property
    def claim(self) -> Claim:
        """The sentence."""
        return self.condition.claim

    @property
    def usable(self) -> tuple[Document, ...]:
        """Documents of the answer that may be cited: those that are not retracted."""
        return tuple(document for document in self.answer.documents if not document.retracted)

    @property
    def cited(self) -> tuple[Document, ...]:
        """Usable documents that the sentence cites."""
        own = {citation.document for citation in self.claim.citations}
        return tuple(document for document in self.usable if document.id in own)


def supported(verifier: Verifier, asked: Sequence[tuple[RejectedSentence, Sequence[Proposal]]]) -> list[list[bool]]:
    """Return whether the verifier supports each proposal by all documents that it would cite."""
    batches = [_claims(rejected_sentence.answer, proposals) for rejected_sentence, proposals in asked]
    return [
        [bool(results) and all(map(_is_supported, results)) for results in by_claim]
        for by_claim in verifier.judge_claims(batches)
    ]


def _is_supported(result: Verdict | VerificationFailure) -> bool:
    return isinstance(result, Verdict) and result.label == "supported" and not result.abstained


def _claims(answer: Answer, proposals: Sequence[Proposal]) -> ClaimsToJudge:
    documents = {document.id: document for proposal in proposals for document in proposal.documents}
    places = {id: place for place, id in enumerate(documents)}
    claims = ((proposal.text, tuple(places[document.id] for document in proposal.documents)) for proposal in proposals)
    return ClaimsToJudge(tuple(documents.values()), tuple(claims), answer.question)


class SimilarSentence(NamedTuple):
    """A sentence of a document, and its share of another sentence's words, weighted by rarity."""

    overlap: float
    text: str
    document: Document


def similar_sentences(claim: str, documents: Sequence[Document]) -> Iterator[SimilarSentence]:
    """Return the sentences of the documents, most similar first, without those that address the reader."""
    found = [(text, document) for document in documents for _, text in _sentences(document)]
    overlaps = weighted_overlap(claim, [text for text, _ in found])
    told = [
        SimilarSentence(float(near), text, document) for near, (text, document) in zip(overlaps, found, strict=True)
    ]
    return iter(sorted(told, key=lambda item: -item.overlap))


def _sentences(document: Document) -> Iterator[tuple[Span, str]]:
    """Yield the span of each sentence, and its text without reference marks."""
    sentences = document_sentences(document)
    orders = instructing(document, sentences)
    for sentence in sentences:
        text = without_marks(sentence.text_in(document))
        if sentence.index not in orders and not addresses_reader(text):
            yield sentence.span, text


_LEAD = re.compile(r"\s*(?:(?:[-*+•‣◦▪●·–—>]|\(?\d{1,2}[.)])\s+|\|\s*)?")
_GAP = re.compile(r"[^\S\n]*(?:\|[^\S\n]*(?=\n|\Z))?")


@dataclass(frozen=True)
class Edit:
    """The edit of a sentence: its new text (None: deleted) and the documents that it cites."""

    text: str | None
    documents: tuple[Document, ...] = ()


def is_orderly(answer: Answer) -> bool:
    """Whether the claims follow each other in the text, so that each can be changed without the others."""
    return all(claim.span.end <= following.span.start for claim, following in pairwise(answer.claims))


def stands_alone(text: str) -> bool:
    """Whether the parser of answers takes this as exactly one sentence without a citation."""
    claims = parse_answer("sentence", text, ()).claims
    return len(claims) == 1 and claims[0].text == text and not claims[0].citations


def edited(answer: Answer, edits: Mapping[int, Edit]) -> Answer:
    """Apply edits, by index of the claim, to an answer.

    New documents are appended, so that the markers keep their meaning.
    """
    documents = _with(answer.documents, edits.values())
    number = {document.id: place for place, document in enumerate(documents, start=1)}
    bare = uncited(answer, edits).model_copy(update={"documents": documents})
    texts = {index: edit.text for index, edit in edits.items() if edit.text is not None}
    markers = {index: sorted({number[document.id] for document in edits[index].documents}) for index in texts}
    found = cited(_reworded(bare, texts), markers, _by_pmid(answer, documents))
    for index in sorted(set(edits) - set(texts), reverse=True):
        found = _without(found, index)
    return found


def _by_pmid(answer: Answer, documents: Sequence[Document]) -> dict[int, str]:
    """Return the PubMed ids of the documents by number if the answer cites by PubMed ids only, else nothing."""
    citations = [citation for claim in answer.claims for citation in claim.citations]
    if not citations or any(citation.marker <= len(documents) for citation in citations):
        return {}
    pmids = {number: _pmid(document) for number, document in enumerate(documents, start=1)}
    return {number: pmid for number, pmid in pmids.items() if pmid}


def _pmid(document: Document) -> str | None:
    return document.pmid or (document.id if re.fullmatch(r"[1-9][0-9]{4,7}", document.id) else None)


def _with(documents: Sequence[Document], edits: Iterable[Edit]) -> tuple[Document, ...]:
    found = {document.id: document for document in documents}
    for edit in edits:
        for document in edit.documents:
            found.setdefault(document.id, document)
    return tuple(found.values())


def _reworded(answer: Answer, texts: Mapping[int, str]) -> Answer:
    """Replace the words of some sentences without citations."""
    changed = {index: text for index, text in texts.items() if text != answer.claims[index].text}
    whole, spans = replaced(answer, changed)
    claims = [
        Claim(text=changed[index], span=span) if index in changed else claim.shifted(span.start - claim.span.start)
        for index, (claim, span) in enumerate(zip(answer.claims, spans, strict=True))
    ]
    return answer.model_copy(update={"text": whole, "claims": tuple(claims)})


def _without(answer: Answer, index: int) -> Answer:
    """Delete a sentence and the space after it; at the end of a line, the space before it."""
    text, span = answer.text, answer.claims[index].span
    found = replacement(text, *_region(text, *with_its_marks(text, span.start, span.end)))
    later = (claim.shifted(found.moved) for claim in answer.claims[index + 1 :])
    claims = (*answer.claims[:index], *later)
    return answer.model_copy(update={"text": found.applied(text), "claims": claims})


def _region(text: str, first: int, last: int) -> tuple[int, int]:
    """Extend the place of a sentence to what is deleted with it: the whole line if nothing else is on it."""
    line = text.rfind("\n", 0, first) + 1
    behind = _GAP.match(text, last)
    end = behind.end() if behind else last
    ends_line = end == len(text) or text[end] == "\n"
    if ends_line and _LEAD.fullmatch(text, line, first):
        return (line, end + 1) if end < len(text) else (max(0, line - 1), end)
    if ends_line:
        return len(text[:first].rstrip(" \t")), last
    return first, end


CLOSE = 0.5
"""Minimum share of a sentence's words, weighted by rarity, in another that is about the same thing."""

_MOST = 3
_WORDS = (5, 60)
_HEADING = re.compile(r"\A[A-Z][A-Za-z /&]{2,40}:\s+(?=[A-Z0-9])")


def quotations(rejected: Sequence[RejectedSentence]) -> list[list[Proposal]]:
    """Propose for each sentence the most similar sentences of the answer's documents, cited documents first."""
    return [list(islice(_quoted(rejected_sentence), _MOST)) for rejected_sentence in rejected]


def _quoted(rejected_sentence: RejectedSentence) -> Iterator[Proposal]:
    cited = rejected_sentence.cited
    others = [document for document in rejected_sentence.usable if document not in cited]
    for told in chain(
        similar_sentences(rejected_sentence.claim.text, cited), similar_sentences(rejected_sentence.claim.text, others)
    ):
        text = _quotable(told.text)
        if told.overlap >= CLOSE and text:
            yield Proposal("rewritten", text, (told.document,), QUOTATION)


def opposing_quotations(verifier: Verifier, rejected: Sequence[RejectedSentence]) -> list[list[Proposal]]:
    """Propose for each sentence the sentences of the passages that contradict it, surest first.

    Such a sentence is about the same thing even if it shares few words: it is what the source concludes instead.
    """
    given = [list(_opposing(rejected_sentence)) for rejected_sentence in rejected]
    batches = [
        ClaimsToJudge(
            tuple(Document.from_text(f"{place}", proposal.text) for place, proposal in enumerate(proposals)),
            tuple((rejected_sentence.claim.text, (place,)) for place in range(len(proposals))),
            rejected_sentence.answer.question,
        )
        for rejected_sentence, proposals in zip(rejected, given, strict=True)
    ]
    found: list[list[Proposal]] = []
    for proposals, results in zip(given, verifier.judge_claims(batches), strict=True):
        sure = [max(map(_contradicts, of_one), default=0.0) for of_one in results]
        ranked = sorted(zip(sure, proposals, strict=True), key=lambda item: -item[0])
        found.append([proposal for probability, proposal in ranked if probability][:_MOST])
    return found


def _opposing(rejected_sentence: RejectedSentence) -> Iterator[Proposal]:
    """Yield the quotable sentences of the passages that contradict a sentence."""
    for document in rejected_sentence.cited:
        passages = [span for span in rejected_sentence.condition.opposing if span.document == document.id]
        for place, sentence in _sentences(document) if passages else ():
            text = _quotable(sentence)
            # A passage begins after the label of its section.
            if text and any(span.start < place.end and place.start < span.end for span in passages):
                yield Proposal("rewritten", text, (document,), QUOTATION)


def _contradicts(result: Verdict | VerificationFailure) -> float:
    """Return how surely a passage contradicts a claim; 0 if support is likelier."""
    if not isinstance(result, Verdict) or result.abstained:
        return 0.0
    sure = result.probabilities.get("contradicted", float(result.label == "contradicted"))
    return sure if sure > result.probabilities.get("supported", 0.0) else 0.0


def _quotable(sentence: str) -> str | None:
    """Remove a heading of the abstract; None if the sentence says too little out of context."""
    text = " ".join(_HEADING.sub("", sentence).split())
    fits = _WORDS[0] <= len(text.split()) <= _WORDS[1] and text.endswith(".")
    return text if fits and not looks_dependent(text) and stands_alone(text) else None


RESTORATION = "restoration"
NEAR = 0.5
"""Minimum share of the sentence's words, weighted by rarity, in a sentence of its source that says the same."""

_SENTENCES, _MOST_RESTORED = 2, 6
_NUMERIC = frozenset({"number", "interval", "p-value"})
_ENDINGS = ("ing", "ion", "ions", "ed", "er", "ment", "es", "s")


def restorations(rejected: Sequence[RejectedSentence]) -> list[list[Proposal]]:
    """Propose for each sentence its own words with the one difference from its source corrected.

    A sentence qualifies if exactly one difference from a similar cited sentence is found, and none afterwards.
    """
    return [list(islice(_restored(rejected_sentence), _MOST_RESTORED)) for rejected_sentence in rejected]


def _restored(rejected_sentence: RejectedSentence) -> Iterator[Proposal]:
    claim = rejected_sentence.claim.text
    seen = {claim}
    for told in islice(similar_sentences(claim, rejected_sentence.cited), _SENTENCES):
        if told.overlap < NEAR:
            return
        found = differences(claim, told.text)
        if len(found) != 1:
            continue
        ways = _numbers(claim, told.text) if found[0].kind in _NUMERIC else _turned(claim, told.text)
        given = _pairs(told.text)
        # Prefer the corrections whose words stand as in the source.
        for text in sorted(ways, key=lambda text: -(_pairs(text) & given).total()):
            if text not in seen and not differences(text, told.text) and stands_alone(text):
                seen.add(text)
                yield Proposal("rewritten", text, (told.document,), RESTORATION)


def differences(claim: str, source: str) -> list[Difference]:
    """Return the differences between a sentence and its source in numbers, directions and negations, one of each kind.

    Accepts any two strings. The result is deterministic; a sentence that is copied from its source has no differences.
    """
    claim, source = plain(claim), plain(source)
    if " ".join(claim.split()).rstrip(".") in " ".join(source.split()):
        return []
    found: dict[str, Difference] = {}
    for find in (number_differences, direction_differences, opposite_differences):
        for difference in find(claim, source):
            found.setdefault(difference.kind, difference)
    return list(found.values())


def _numbers(claim: str, source: str) -> Iterator[str]:
    """Yield the claim with one of its quantities replaced by one of the source."""
    given = plain(source)
    for item in quantities(plain(claim)):
        said = item.text.strip()
        others = (other.text.strip() for other in quantities(given) if other.kind == item.kind)
        for other in dict.fromkeys(others):
            if other != said and _once(claim, said):
                yield _restored_with(claim, said, other)


def _turned(claim: str, source: str) -> Iterator[str]:
    """Yield the claim with a direction word replaced by one from the source, or with a negation added or removed."""
    for item in mentions(plain(claim)):
        for other in mentions(plain(source)):
            if _of_one_form(item, other) and _once(claim, item.text):
                yield _restored_with(claim, item.text, other.text)
    yield from denials(claim)


def _of_one_form(item: DirectionMention, other: DirectionMention) -> bool:
    """Whether the one word can replace the other."""
    first, second = item.text.lower(), other.text.lower()
    if item.kind != other.kind or item.sign == other.sign or " " in first + second:
        return False
    return next((first.endswith(end) for end in _ENDINGS if second.endswith(end)), False)


def _pairs(text: str) -> Counter[tuple[str, str]]:
    """Count the pairs of adjacent words."""
    return Counter(pairwise(re.findall(r"[^\W_]+", plain(text).lower())))


def _once(text: str, words: str) -> bool:
    return bool(words) and len(re.findall(_pattern(words), text)) == 1


def _restored_with(text: str, words: str, other: str) -> str:
    return re.sub(_pattern(words), lambda match: other.capitalize() if match[0][:1].isupper() else other, text)


def _pattern(words: str) -> str:
    return rf"(?<![\w.]){re.escape(words)}(?![\w]|\.\d)"


MOST = 3
"""Maximum number of citations of a sentence, as in the prompts for answers."""

FOUND = 3
"""Number of documents to search for, for each sentence."""


class Citing:
    """Proposes the documents that an attributor finds to support the unchanged sentence.

    If the cited source says otherwise, only documents closer to the sentence than it are proposed: the sentence
    more likely misreads its source than means a document that hardly mentions its subject.

    Args:
        attributor: Finds supporting documents.
        search: Where to look for more documents; None uses those of the answer.
    """

    def __init__(self, attributor: Attributor, search: Search | None = None) -> None:
        self._attributor = attributor
        self._search = search

    def propose(self, rejected: Sequence[RejectedSentence]) -> list[list[Proposal]]:
        """Propose documents that the sentence already cites first, then others."""
        given = [self._documents(rejected_sentence) for rejected_sentence in rejected]
        asked = [
            rejected_sentence.answer.model_copy(update={"claims": (_bare(rejected_sentence),), "documents": documents})
            for rejected_sentence, documents in zip(rejected, given, strict=True)
        ]
        found = self._attributor.find(asked) if asked else ()
        return [
            list(_proposals(rejected_sentence, documents, sentences[0])) if documents else []
            for rejected_sentence, documents, sentences in zip(rejected, given, found, strict=True)
        ]

    def _documents(self, rejected_sentence: RejectedSentence) -> tuple[Document, ...]:
        if self._search is None:
            return rejected_sentence.usable
        try:
            found = self._search.find(
                Question(id=rejected_sentence.answer.id, text=rejected_sentence.claim.text), FOUND
            )
        except (InputError, EntrezError):
            # A failed search is no reason to give up on the answer.
            return ()
        own = {document.id for document in rejected_sentence.answer.documents}
        return tuple(
            hit.document for hit in found.usable_first if not hit.document.retracted and hit.document.id not in own
        )


def _bare(rejected_sentence: RejectedSentence) -> Claim:
    return rejected_sentence.claim.model_copy(update={"citations": ()})


def _proposals(
    rejected_sentence: RejectedSentence, documents: Sequence[Document], found: SourcesFound
) -> Iterator[Proposal]:
    cited = {document.id for document in rejected_sentence.cited}
    ranked = sorted(found.chosen, key=lambda place: -_worth(found.scores[place]))
    own = [place for place in ranked if documents[place].id in cited]
    ranked = _nearer(rejected_sentence, documents, ranked) if rejected_sentence.condition.against else ranked
    text = rejected_sentence.claim.text
    for places in (own, own[:1]):
        if places:
            yield Proposal("dropped citation", text, tuple(documents[place] for place in places))
    for places in (ranked[:MOST], ranked[:1]):
        if places:
            yield Proposal("re-cited", text, tuple(documents[place] for place in places))


def _nearer(rejected_sentence: RejectedSentence, documents: Sequence[Document], places: Sequence[int]) -> list[int]:
    """Keep the documents that have a sentence more similar to the claim than any sentence in the cited documents."""
    told = similar_sentences(
        rejected_sentence.claim.text, [*rejected_sentence.cited, *(documents[place] for place in places)]
    )
    nearest: dict[str, float] = {}
    for item in told:
        nearest.setdefault(item.document.id, item.overlap)
    bar = max((nearest.get(document.id, 0.0) for document in rejected_sentence.cited), default=0.0)
    return [place for place in places if nearest.get(documents[place].id, 0.0) > bar]


def _worth(score: float | None) -> float:
    """Return a score to sort by; a verbatim quotation has no score and is surest."""
    return 1.0 if score is None else score
