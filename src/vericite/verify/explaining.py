"""Which words of a sentence no source carries, and what the sources say instead.

A detail that the source lacks or says otherwise (``details.py``) is left out of the claim, or replaced by what the
source says. If the judge supports the claim then, and much more than before, the detail is what is wrong. The reason is
made of what was found; where nothing certain was found, there is none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from vericite.models.contracts import ENTAILS, Judge, Pair
from vericite.records import Answer, CheckedAnswer, EvidenceSpan, Sentence, Summary, UnsupportedWords, Verdict, WordKind
from vericite.records.results import FIGURES, SOURCE_SAYS
from vericite.text.injection import dictates
from vericite.text.names import drugs_in
from vericite.text.words import bounded, stems, word_list, words
from vericite.verify.counterparts import Counterpart
from vericite.verify.details import Compared, Suspect, Variant, association, compared, hedge_before, is_denied, suspects
from vericite.verify.figures import Ratio, amounts, changing_ratios, findings, ratios, unit_stem
from vericite.verify.judging import ask, log_odds
from vericite.verify.premises import Sources
from vericite.verify.swaps import Swap, outcome_stems, swap
from vericite.verify.verifier import weighted_overlap

EXPLAINING = "words.v9"
"""Signature of the rules, for provenance; changes whenever they would name other words."""

_AT_ONCE, _CLAIMS = 32, 64
"""Maximum answers asked together, and claims after which no other answer is added."""
_NEAR = 3
"""Sentences of the sources that the judge reads: those of the verdict, then those that share most words."""
_MOST = 24
"""Maximum number of wordings of one claim."""
_LEAST = 0.5
"""Minimum probability that the claim is supported without the detail."""
_ALIKE = 0.15
"""Difference between probabilities of wordings that counts as none."""
_UP, _DOWN = word_list("up"), word_list("down")


def at_once(checked: Iterable[tuple[Answer, CheckedAnswer]]) -> Iterator[list[tuple[Answer, CheckedAnswer]]]:
    """Yield the answers in groups: enough to fill the judge's batches, few enough that results keep coming."""
    group: list[tuple[Answer, CheckedAnswer]] = []
    for answer, result in checked:
        group.append((answer, result))
        if len(group) >= _AT_ONCE or sum(len(each.claims) for each, _ in group) >= _CLAIMS:
            yield group
            group = []
    if group:
        yield group


@dataclass(frozen=True)
class _Asked:
    """A claim with its source, its suspects, and where it stands in the answer."""

    verdict: Verdict
    text: str
    source: Compared
    suspects: tuple[Suspect, ...] = ()
    swapped: Swap | None = None

    @property
    def pairs(self) -> Iterator[Pair]:
        """What the judge is asked."""
        yield Pair(self.source.near, self.verdict.claim)
        for suspect in self.suspects:
            for variant in suspect.variants:
                yield Pair(self.source.near, variant.text)


@dataclass(frozen=True)
class WrongDetail:
    """The detail that is wrong, and the wording that is supported without it."""

    suspect: Suspect
    variant: Variant


@dataclass
class Explainer:
    """Adds to the verdicts of answers the words that no source carries, and a reason.

    Attributes:
        judge: Judges the wordings; the judge of the verdicts.
    """

    judge: Judge
    signature: str = field(default=EXPLAINING, init=False)

    def added(self, checked: Iterable[tuple[Answer, CheckedAnswer]]) -> Iterator[tuple[Answer, CheckedAnswer]]:
        """Add words and reasons to the verdicts on a stream of answers, in order."""
        for batch in at_once(checked):
            asked = {
                (number, place): item
                for number, (answer, result) in enumerate(batch)
                for place, item in _asked(answer, result)
            }
            pairs = dict.fromkeys(pair for item in asked.values() for pair in item.pairs)
            judged = dict(zip(pairs, ask(self.judge, pairs), strict=True))
            support = {
                pair: 0.0 if item.failure is not None else float(item.probabilities[ENTAILS])
                for pair, item in judged.items()
            }
            for number, (answer, result) in enumerate(batch):
                verdicts = list(result.verdicts)
                for place, verdict in enumerate(verdicts):
                    item = asked.get((number, place))
                    if item is None:
                        continue
                    if item.swapped is not None:
                        verdicts[place] = _with_swap(verdict, item.text, item.swapped)
                    elif found := found_in(item.source, verdict, item.suspects, support):
                        verdicts[place] = explained(verdict, item.text, item.source, found)
                    elif verdict.label != "supported" and (carried := carried_change(verdict.claim, item.source.text)):
                        verdicts[place] = verdict.model_copy(update={"because": carried})
                made = result.provenance
                parts = {**made.parts, "words": self.signature}
                provenance = made.model_copy(update={"parts": parts})
                summary = Summary.of(answer, tuple(verdicts), result.failures)
                new = {"verdicts": tuple(verdicts), "summary": summary, "provenance": provenance}
                yield answer, result.model_copy(update=new)


def _asked(answer: Answer, checked: CheckedAnswer) -> Iterator[tuple[int, _Asked]]:
    """Yield the verdicts that can be explained, by their places."""
    sources = Sources(answer.documents)
    known = {document.id for document in answer.documents}
    for place, verdict in enumerate(checked.verdicts):
        cited = [id for id in verdict.documents if id in known]
        if verdict.abstained or not cited or not verdict.claim.strip() or verdict.native == "quoted":
            continue
        source = source_of(verdict, sources, cited)
        if not source.near:
            continue
        text = answer.text[verdict.start : verdict.end]
        if swapped := swap(verdict.claim, source.text):
            yield place, _Asked(verdict, text, source, swapped=swapped)
            continue
        found = suspects(verdict.claim, source)
        if verdict.label == "supported":
            found = [item for item in found if item.status != "present" and item.kind != "treatment"]
        ranked = sorted(found, key=lambda item: item.status == "present")
        kept: list[Suspect] = []
        left = _MOST
        for suspect in ranked:
            if left >= len(suspect.variants):
                kept.append(suspect)
                left -= len(suspect.variants)
        if kept or carried_change(verdict.claim, source.text):
            yield place, _Asked(verdict, text, source, tuple(kept))


def source_of(verdict: Verdict, sources: Sources, cited: Sequence[str]) -> Compared:
    """Return the text of the cited documents, without orders to the reader, and the sentences next to the claim."""
    documents = [sources.document(id) for id in cited]
    held: list[tuple[str, Sentence, str]] = [
        (document.id, sentence, document.text[sentence.span.slice])
        for document in documents
        for sentence in sources.sentences(document)
    ]
    texts = [text for *_, text in held]
    overlap: list[float] = weighted_overlap(verdict.claim, texts).tolist() if texts else []
    named = [place for place, (id, sentence, _) in enumerate(held) if _is_evidence(id, sentence, verdict.evidence)]
    ranked = sorted(range(len(held)), key=lambda place: (place not in named, -overlap[place]))
    near = " ".join(texts[place] for place in sorted(ranked[:_NEAR]))
    titles = [document.title for document in documents if document.title and not dictates(document.title)]
    return Compared(" ".join([*titles, *texts]), near)


def _is_evidence(id: str, sentence: Sentence, evidence: Sequence[EvidenceSpan]) -> bool:
    return any(
        span.document == id and span.start < sentence.span.end and sentence.span.start < span.end for span in evidence
    )


def found_in(
    source: Compared, verdict: Verdict, suspected: Sequence[Suspect], support: Mapping[Pair, float]
) -> WrongDetail | None:
    """Return the detail that is wrong: the one without which the claim is supported, and most clearly so."""
    before = support.get(Pair(source.near, verdict.claim), 0.0)
    best: tuple[float, WrongDetail] | None = None
    for suspect in suspected:
        if not suspect.variants:
            continue
        chances = [support[Pair(source.near, variant.text)] for variant in suspect.variants]
        after = max(chances)
        gain = log_odds(after) - log_odds(before)
        if after < _LEAST or gain < _needed(suspect, verdict.label == "supported"):
            continue
        rank = gain + (suspect.status != "present") * (1.5 if suspect.kind in FIGURES else 1.0)
        rank -= suspect.kind == "treatment"
        if best is None or rank > best[0]:
            # Of wordings that are about as likely, one that says what the source says.
            near = [place for place, chance in enumerate(chances) if chance >= after - _ALIKE]
            chosen = min(near, key=lambda place: (not suspect.variants[place].said, -chances[place]))
            best = rank, WrongDetail(suspect, suspect.variants[chosen])
    return None if best is None else best[1]


def _needed(suspect: Suspect, supported: bool) -> float:
    """Return how much the log odds of support must rise. A claim that is supported as it is needs better reasons."""
    if suspect.kind == "certainty" and suspect.status == "other":
        return -0.1 if supported else 0.5
    if not supported:
        return 1.0
    if suspect.kind in ("outcome", "treatment"):
        return 1.5
    return 0.3 if suspect.kind in FIGURES else 0.8


def explained(verdict: Verdict, sentence: str, source: Compared, found: WrongDetail) -> Verdict:
    """Return the verdict with the words and the reason; ``sentence`` is the claim as the answer has it."""
    suspect = found.suspect
    because = reason(verdict.claim, source, found)
    return _with_words(verdict, sentence, suspect.kind, (suspect.start, suspect.end), because)


def _with_swap(verdict: Verdict, sentence: str, found: Swap) -> Verdict:
    return _with_words(verdict, sentence, found.kind, (found.start, found.end), found.because)


def _with_words(verdict: Verdict, sentence: str, kind: WordKind, span: tuple[int, int], because: str) -> Verdict:
    place = place_in(sentence, verdict.claim, *span)
    if place is None:
        return verdict
    start, end = verdict.start + place[0], verdict.start + place[1]
    unsupported = UnsupportedWords(kind=kind, text=sentence[slice(*place)], start=start, end=end)
    return verdict.model_copy(update={"words": (unsupported,), "because": because})


def place_in(sentence: str, claim: str, start: int, end: int) -> tuple[int, int] | None:
    """Return the place of words of a claim in its sentence, which also has markers; None if they are not in it."""
    words = bounded(claim[start:end])
    before = sum(match.start() < start for match in words.finditer(claim))
    kept = _MARKER.sub(lambda match: match[0] if match[0] in claim else " " * len(match[0]), sentence)
    found = next(islice(words.finditer(kept), before, None), None) if end > start else None
    return None if found is None else found.span()


_MARKER = re.compile(r"[\[(][^\[\]()\n]{0,200}[\])]|[⁰¹²³⁴-⁹]{1,9}")


def reason(claim: str, source: Compared, found: WrongDetail) -> str:
    """Return what was found instead of the words, in a sentence; empty if nothing is certain."""
    suspect, said = found.suspect, found.variant.said
    words = suspect.shown or claim[suspect.start : suspect.end]
    if suspect.start == 0 and words[1:].islower():
        words = words[0].lower() + words[1:]
    match suspect.kind:
        case "number" if suspect.instead is not None:
            return _of_number(claim, suspect, words, suspect.instead)
        case "time" if suspect.instead is not None:
            whole = suspect.instead.whole
            return f"{SOURCE_SAYS} {whole}; the claim says {words}." if whole else f"“{words}” is not in the source."
        case "unit" | "time" if said:
            first, other = _with_context(claim, suspect, words, said)
            return f"{SOURCE_SAYS} {first}; the claim says {other}."
        case "population" if said and suspect.status == "other" and said != "people":
            return f"The source is about {said}; the claim says {words}."
        case "comparator" if suspect.status == "absent" and said in compared(source.near):
            return f"The source does not mention {words}; it compares with {said}."
        case "direction" if said:
            return _of_direction(claim, words, said, source)
        case "certainty":
            return _of_certainty(claim, suspect, words, source)
        case _:
            is_absent = suspect.status == "absent" and not source.has_all(claim[suspect.start : suspect.end])
            return f"The source does not say “{words}”." if is_absent else ""


def carried_change(claim: str, text: str) -> str:
    """Return in words which ratio of a text says the relative change of a claim, or that it is of another outcome.

    Empty if no ratio says the change, or if it is not certain of which outcome and group the ratio is.
    """
    directions = {word.lower for word in words(claim)}
    own = outcome_stems(claim)
    changes = [item for item in findings(claim) if unit_stem(item.unit) == "%"]
    if not own or len(changes) != 1 or directions & _NEGATORS:
        return ""
    (item,) = changes
    told = [
        ratio
        for ratio in changing_ratios(item, claim, text)
        if not ratio.is_listed and directions & (_DOWN if ratio.is_lower else _UP)
    ]
    if not told:
        return ""
    percent = claim[item.start : item.stop]
    every = [(_outcome_of(ratio), ratio) for ratio in ratios(text)]
    if mine := next((ratio for ratio in told if _outcome_of(ratio) == own), None):
        same = [
            ratio for outcome, ratio in every if outcome == own or (ratio.is_listed and own & stems(ratio.sentence))
        ]
        is_certain = all(other.value == mine.value for other in same)
        if not is_certain or _group(mine.sentence) - own != _group(claim) - own:
            return ""
        return f"The figures agree: {_change(mine, percent)}. The judge may be wrong; read the source."
    if not any(own & outcome for outcome, _ in every):
        return ""
    other = next((ratio for ratio in told if ratio.outcome and not own & stems(ratio.about)), None)
    if other is None:
        return ""
    change = _change(other, percent)
    is_plain = other.outcome[1:].islower()
    outcome = other.outcome[0].lower() + other.outcome[1:] if is_plain else other.outcome
    return f"{change[:1].upper()}{change[1:]}, but that is for {outcome}."


def _change(ratio: Ratio, percent: str) -> str:
    """Return a ratio and the relative change that it says."""
    return f"{ratio.name} {ratio.written} = {percent} {'lower' if ratio.is_lower else 'higher'}"


def _outcome_of(ratio: Ratio) -> frozenset[str]:
    """Return the stems of the outcome that a ratio is of."""
    found = outcome_stems(ratio.about) or stems(_VERB.split(ratio.about, maxsplit=1)[0])
    return found - _group(ratio.about)


def _group(text: str) -> frozenset[str]:
    """Return the stems of the people whom a text is about, unless they are adults or patients of any kind."""
    found = " ".join(_THE.split(match["who"])[0] for match in _AMONG.finditer(text))
    drugs = stems(" ".join(named.text for named in drugs_in(found)))
    return (stems(found) | Compared(text, text).groups.keys()) - drugs - _ANY_PEOPLE


_NEGATORS = word_list("negators")
_VERB = re.compile(r"\b(?:was|were|is|are|occurred|developed|happened)\b")
_AMONG = re.compile(
    r"\b(?:in|among|within)\s(?:[0-9][0-9,]*\s)?(?![0-9])(?P<who>(?:(?!(?:by|was|were|than|vs)\b)[^\s.;:,()]+\s?){1,10})",
    re.IGNORECASE,
)
_THE = re.compile(r"(?<=\s)the\s")
_ANY_PEOPLE = stems("people persons patients participants individuals subjects adults") | {"adults"}


def _of_number(claim: str, suspect: Suspect, words: str, instead: Counterpart) -> str:
    first, other = _with_context(claim, suspect, words, instead.said)
    if instead.said:
        return f"{SOURCE_SAYS} {first}; the claim says {other}."
    if instead.several:
        other = next((claim[item.start : item.stop] for item in amounts(claim) if item.start == suspect.start), other)
    has = f"; it has {instead.listed}" if instead.listed else ""
    return f"{other[:1].upper()}{other[1:]} is not in the source{has}."


def _with_context(claim: str, suspect: Suspect, words: str, said: str) -> tuple[str, str]:
    """Return what the source and the claim say, with the unit or number next to it."""
    after = re.match(r"%|\s(?:percentage points?|percent)\b|\s?[A-Za-zµ°]{1,4}(?:/[A-Za-z]+)+", claim[suspect.end :])
    if suspect.kind == "number" and after:
        return f"{said}{after[0]}", f"{words}{after[0]}"
    before = re.search(r"[0-9][0-9.,]*\s$", claim[: suspect.start])
    if suspect.kind == "unit" and before:
        return f"{before[0]}{said}", f"{before[0]}{words}"
    return said, words


def _of_direction(claim: str, words: str, said: str, source: Compared) -> str:
    if said.lower() in source.lower:
        return f"{SOURCE_SAYS} {said}; the claim says {words}."
    if " " in said and is_denied(claim, words, source.near):
        return f"The judge reads the source as “{said}”, not “{words}”."
    return ""


def _of_certainty(claim: str, suspect: Suspect, words: str, source: Compared) -> str:
    if hedged := hedge_before(words, source.near):
        return f"{SOURCE_SAYS} “{hedged}”; the claim says “{words}”."
    if named := association(claim[: suspect.start], claim[suspect.end :], source.near):
        return f"The source reports only that they are {named}; the claim says “{words}”."
    return ""
