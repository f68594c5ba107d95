"""Judge labelled citations in BioACE's three settings: tables 4, 5, A3, A5 and A6, and the rankings of systems (A4).

A judge reads a sentence with the cited document, with the most similar sentence of the document, or the nuggets of both
as lists. Neutral and irrelevant documents count as the same. The paper's F1 is the harmonic mean of its P and R in each
row, as for one label: these are those of the label "supports".
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vericite.disk.files import write_whole
from vericite.errors import InputError
from vericite.evaluate.resampling import Bootstrap
from vericite.lab.assess.answers import SystemAnswer
from vericite.lab.assess.checkpoint import CARD, AdapterJudge
from vericite.lab.assess.nuggets import PROMPT, make_nuggets
from vericite.lab.assess.tables import FigureRow, figures_of, ranked, sums_of
from vericite.llm import LLM
from vericite.llm.prompts import Prompt
from vericite.llm.verbatim import VerbatimPrompt
from vericite.models.contracts import CONTRADICTS, ENTAILS, NEUTRAL, Embeds, Judge, Judgement, Pair
from vericite.records import Document
from vericite.text.sentences import split_by_punkt, split_sentences
from vericite.verify.judges.bundled import ScoreJudge
from vericite.verify.judges.registry import load_judge
from vericite.verify.judging import ask

Floats = NDArray[np.float64]
Setting = Literal["document", "sentence", "nuggets"]
"""What a judge reads of a document: all of it, its most similar sentence, or its nuggets (next to the claim's)."""

TABLES: Mapping[Setting, str] = {
    "document": "citations by document (tables 4, A6)",
    "sentence": "citations by the most similar sentence (tables 5, A3)",
    "nuggets": "citations by lists of nuggets (table A5)",
}
RANKINGS = "rankings by citations (A4)"
_WORDS = ("supports", "contradicts", "neutral")
_VERDICTS = {"supports": "supported", "contradicts": "contradicted", "neutral": "irrelevant"}
_SHARES = ("coverage", "support", "contradiction")


@dataclass(frozen=True)
class LabelledCase:
    """A citation with a human label, whose document has a text.

    Attributes:
        question: The id of the question.
        asked: The question.
        system: The system that gave the answer.
        sentence: The number of the sentence in the answer.
        claim: The sentence.
        document: The cited document.
        said: The label; irrelevant counts as neutral.
        evidence: The spans of the document that people marked.
    """

    question: str
    asked: str
    system: str
    sentence: int
    claim: str
    document: Document
    said: str
    evidence: tuple[str, ...] = ()


def labelled_cases(answers: Sequence[SystemAnswer]) -> list[LabelledCase]:
    """Return the labelled citations of documents with known texts."""
    found: list[LabelledCase] = []
    for entry in answers:
        answer, labels = entry.item.answer, entry.item.labels
        if answer is None or labels is None:
            continue
        documents = {document.id: document for document in answer.documents if document.text.strip()}
        for citation in labels.citations or ():
            if citation.document in documents and citation.sentence < len(answer.claims):
                said = "neutral" if citation.label == "irrelevant" else citation.label
                found.append(
                    LabelledCase(
                        entry.question,
                        answer.question or entry.question,
                        entry.system,
                        citation.sentence,
                        answer.claims[citation.sentence].text,
                        documents[citation.document],
                        said,
                        citation.evidence,
                    )
                )
    return found


def sentences_of(document: Document, punkt: bool = False) -> tuple[str, ...]:
    """Return the sentences of a document's text, by our rules or by NLTK's Punkt."""
    spans = split_by_punkt(document.text) if punkt else split_sentences(document.text)
    return tuple(document.text[span.slice] for span in spans) or (document.text,)


@dataclass(frozen=True)
class PairMaker:
    """Makes what a judge reads in each setting.

    Attributes:
        embedder: Finds the most similar sentence.
        llm: Extracts the nuggets of sentences and documents. Default: atomic statements, offline.
        prompt: The prompt for nuggets.
        punkt: Whether to split documents by NLTK's Punkt, as in the paper.
    """

    embedder: Embeds
    llm: LLM | None = None
    prompt: Prompt | VerbatimPrompt = PROMPT
    punkt: bool = False

    def pairs(self, setting: Setting, cases: Sequence[LabelledCase]) -> list[Pair | str]:
        """Return a pair for each case, or the reason why there is none."""
        if setting == "document":
            return [Pair(case.document.titled_text, case.claim) for case in cases]
        return self._most_similar(cases) if setting == "sentence" else self._nuggets(cases)

    def _most_similar(self, cases: Sequence[LabelledCase]) -> list[Pair | str]:
        split = {case.document.id: sentences_of(case.document, self.punkt) for case in cases}
        texts = list(
            dict.fromkeys([*(case.claim for case in cases), *(text for own in split.values() for text in own)])
        )
        vectors = dict(zip(texts, self.embedder.embed(texts), strict=True)) if texts else {}
        found: list[Pair | str] = []
        for case in cases:
            own = split[case.document.id]
            cosines = [float(vectors[text] @ vectors[case.claim]) for text in own]
            found.append(Pair(own[int(np.argmax(cosines))], case.claim))
        return found

    def _nuggets(self, cases: Sequence[LabelledCase]) -> list[Pair | str]:
        asked = list(
            dict.fromkeys((text, case.asked) for case in cases for text in (case.document.titled_text, case.claim))
        )
        texts, questions = ([pair[side] for pair in asked] for side in (0, 1))
        made = dict(zip(asked, make_nuggets(texts, self.llm, self.prompt, questions), strict=True))
        found: list[Pair | str] = []
        for case in cases:
            own = [made[text, case.asked] for text in (case.document.titled_text, case.claim)]
            failure = next((nuggets.failure for nuggets in own if nuggets.failure), None)
            premise, claim = ("\n".join(nuggets.nuggets) for nuggets in own)
            found.append(f"no nuggets: {failure}" if failure else Pair(premise, claim))
        return found


class CasePair(NamedTuple):
    """A case with what a judge reads of it; a text instead of a pair says why there is none."""

    case: LabelledCase
    pair: Pair | str


@dataclass(frozen=True)
class CitationJudges:
    """The judges of each setting by name, and what they read.

    Attributes:
        judges: Judges of documents and of sentences.
        of_nuggets: Judges of lists of nuggets.
        maker: Makes the pairs.
        fit: Labelled cases of other questions, on which thresholds of scores are fitted.
    """

    judges: Mapping[str, Judge]
    of_nuggets: Mapping[str, Judge]
    maker: PairMaker
    fit: Sequence[LabelledCase] = ()

    def named(self, setting: Setting) -> Mapping[str, Judge]:
        """Return the judges of a setting."""
        return self.of_nuggets if setting == "nuggets" else self.judges


class ByJudge(NamedTuple):
    """Labelled pairs with a judge's label of each; None for failures."""

    setting: Setting
    by: str
    cases: Sequence[LabelledCase]
    found: Sequence[str | None]


def pairs_of_all(cases: Sequence[LabelledCase], maker: PairMaker) -> dict[Setting, list[CasePair]]:
    """Return the pairs of all three settings."""
    return {
        setting: [CasePair(case, pair) for case, pair in zip(cases, maker.pairs(setting, cases), strict=True)]
        for setting in TABLES
    }


def judge_citations(
    cases: Sequence[LabelledCase], chosen: CitationJudges, remarks: list[str], setting: Setting
) -> Iterator[ByJudge]:
    """Yield each judge's labels in a setting, and those by a threshold that is fitted on other questions."""
    pairs = chosen.maker.pairs(setting, cases)
    train = chosen.maker.pairs(setting, chosen.fit)
    for name, judge in chosen.named(setting).items():
        judged = _judged(judge, pairs)
        yield ByJudge(setting, name, cases, [_label(judgement) for judgement in judged])
        if not chosen.fit:
            continue
        scored = [(judgement, case) for judgement, case in zip(_judged(judge, train), chosen.fit, strict=True)]
        known = [(judgement, case) for judgement, case in scored if judgement.failure is None]
        if not known or not all(judgement.graded for judgement, _ in known):
            remarks.append(f"{name} gives labels and no scores: it has no threshold to fit")
            continue
        scores = np.array([judgement.probabilities[ENTAILS] for judgement, _ in known], dtype=np.float64)
        threshold = threshold_by_f1(scores, np.array([case.said == "supports" for _, case in known]))
        labels = [_label(judgement, threshold) for judgement in judged]
        yield ByJudge(setting, f"{name}, fitted: at least {threshold:.4g}", cases, labels)


def _judged(judge: Judge, pairs: Sequence[Pair | str]) -> list[Judgement]:
    distinct = list(dict.fromkeys(pair for pair in pairs if isinstance(pair, Pair)))
    known = dict(zip(distinct, ask(judge, distinct), strict=True))
    return [known[pair] if isinstance(pair, Pair) else Judgement.failed(pair) for pair in pairs]


def _label(judgement: Judgement, threshold: float | None = None) -> str | None:
    if judgement.failure is not None:
        return None
    scores = judgement.probabilities
    if threshold is None:
        return _WORDS[int(scores.argmax())]
    if float(scores[ENTAILS]) >= threshold:
        return _WORDS[ENTAILS]
    return _WORDS[CONTRADICTS if scores[CONTRADICTS] > scores[NEUTRAL] else NEUTRAL]


def threshold_by_f1(scores: Floats, gold: NDArray[np.bool_]) -> float:
    """Return the score from which on the F1 of the gold is highest; the highest of several such scores.

    Raises:
        InputError: The gold has no positive case.
    """
    if not gold.any():
        raise InputError("expected a supporting citation to fit a threshold on; found none. Fit it on more answers.")
    order = np.argsort(-scores, kind="stable")
    ranked_scores, right = scores[order], np.cumsum(gold[order])
    f1 = 2 * right / (np.arange(1, len(order) + 1) + gold.sum())
    # A threshold takes all cases of the same score.
    last = np.append(np.diff(ranked_scores) != 0, True)
    return float(ranked_scores[int(np.argmax(np.where(last, f1, -1.0)))])


def citation_rows(
    answers: Sequence[SystemAnswer],
    chosen: CitationJudges | None,
    bootstrap: Bootstrap,
    remarks: list[str],
    settings: Sequence[Setting] = tuple(TABLES),
) -> tuple[list[FigureRow], list[FigureRow]]:
    """Return the rows of these settings, and those of the rankings of systems."""
    cases = labelled_cases(answers)
    labelled = any(entry.item.labels is not None and entry.item.labels.citations for entry in answers)
    needs = None
    if not labelled:
        needs = '"citations" labels of the answers (labels.jsonl, medaesqa:FILE)'
    elif not cases:
        needs = "the texts of the cited documents: --documents FILE"
    sentences = Counter[str]()
    for entry in answers:
        if entry.item.answer is not None and entry.item.labels is not None:
            sentences[entry.system] += len(entry.item.answer.claims)
    rows: list[FigureRow] = []
    rankings: list[FigureRow] = []
    for setting in settings:
        table = TABLES[setting]
        missing = needs or "a judge: --set judge=NAME"
        if needs is not None or chosen is None or not chosen.named(setting):
            rows.append(FigureRow(table, "P, R, F1", needs=missing))
            rankings.append(FigureRow(RANKINGS, f"{', '.join(_SHARES)}, by {setting}", needs=missing))
            continue
        for judged in judge_citations(cases, chosen, remarks, setting):
            rows += _agreement(judged, bootstrap)
            rankings += _rankings(judged, sentences, bootstrap)
    return rows, rankings


def _agreement(judged: ByJudge, bootstrap: Bootstrap) -> list[FigureRow]:
    """Return precision, recall and F1 of supporting citations, macro-F1 of three labels, and failures."""
    table = TABLES[judged.setting]
    per_question: dict[str, Counter[tuple[str, str]]] = defaultdict(Counter)
    for case, found in zip(judged.cases, judged.found, strict=True):
        if found is not None:
            per_question[case.question][case.said, found] += 1
    rows: list[FigureRow] = []
    if per_question:
        sums = np.array([[sums_of(counts, _WORDS)] for counts in per_question.values()], dtype=np.float64)
        names = ["P, supporting", "R, supporting", "F1, supporting"]
        if "contradicts" in judged.found:
            names.append("macro-F1, ternary")
        for index, name in enumerate(names):

            def figure(drawn: Floats, index: int = index) -> Floats:
                return figures_of(drawn)[index]

            rows.append(FigureRow(table, name, None, bootstrap.pooled(sums, figure)[0], by=judged.by))
    if failed := judged.found.count(None):
        rows.append(
            FigureRow(table, "failed", needs=f"{failed} of {len(judged.found)} could not be judged", by=judged.by)
        )
    return rows


def _rankings(judged: ByJudge, sentences: Mapping[str, int], bootstrap: Bootstrap) -> list[FigureRow]:
    """Correlate the rankings of systems by a judge's and by human labels of the same citations."""
    both = [(case, found) for case, found in zip(judged.cases, judged.found, strict=True) if found is not None]
    rows: list[FigureRow] = []
    for name in _SHARES:
        automatic, human = (
            {system: _share(name, own, sentences[system]) for system, own in _by_system(both, by_people).items()}
            for by_people in (False, True)
        )
        rows += ranked(RANKINGS, f"{name}, by {judged.setting}", automatic, human, bootstrap, judged.by)
    return rows


def _by_system(both: Sequence[tuple[LabelledCase, str]], by_people: bool) -> dict[str, list[tuple[LabelledCase, str]]]:
    listed: dict[str, list[tuple[LabelledCase, str]]] = defaultdict(list)
    for case, found in both:
        listed[case.system].append((case, case.said if by_people else found))
    return listed


def _share(name: str, listed: Sequence[tuple[LabelledCase, str]], sentences: int) -> float:
    if name == "coverage":
        return len({(case.question, case.sentence) for case, said in listed if said == "supports"}) / sentences
    wanted = "supports" if name == "support" else "contradicts"
    return sum(said == wanted for _, said in listed) / len(listed)


def write_pairs(cases: Sequence[LabelledCase], maker: PairMaker, path: Path) -> int:
    """Write the pairs of all settings as JSON lines, and return their number.

    They are labelled pairs, as `train-correctness` and `calibrate` read them. With the score of another program in the
    field ``score`` of each line, the file is a judge: ``NAME=FILE``.
    """
    lines = [
        json.dumps(
            {
                "setting": setting,
                "question": case.question,
                "system": case.system,
                "sentence": case.sentence,
                "document": case.document.id,
                "group": case.question,
                "label": _VERDICTS[case.said],
                "premise": pair.premise,
                "claim": pair.claim,
            },
            ensure_ascii=False,
        )
        for setting, listed in pairs_of_all(cases, maker).items()
        for case, pair in listed
        if isinstance(pair, Pair)
    ]
    write_whole(path, (f"{line}\n" for line in lines))
    return len(lines)


def named_judge(text: str) -> tuple[str, Judge]:
    """Return a judge and its name in tables.

    Args:
        text: A judge's name, the folder of an adapter from `train-correctness`, or ``NAME=FILE`` with scores of pairs.

    Raises:
        InputError: The file of scores or the folder cannot be used.
        UnknownNameError: Unknown judge.
        MissingExtraError: An adapter needs an extra that is not installed.
    """
    if (Path(text) / CARD).is_file():
        return text, AdapterJudge(Path(text))
    name, sign, file = text.partition("=")
    if not sign or ":" in name:
        return text, load_judge(text)
    return name, judge_from_scores(name, Path(file))


def judge_from_scores(name: str, path: Path) -> ScoreJudge:
    """Return a judge that looks its scores up in lines of ``{"premise", "claim", "score"}``; others are failures.

    Raises:
        InputError: The file cannot be read, a line lacks a field, or a score is not between 0 and 1.
    """
    scores: dict[tuple[str, str], float] = {}
    try:
        with path.open(encoding="utf-8") as file:
            for number, line in enumerate(file, start=1):
                if line.strip():
                    pair, score = _scored(line, f"{path}, line {number}")
                    scores[pair] = score
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"expected a file of scores in {path}: {error}. Name a file as in NAME=FILE.") from None
    if not scores:
        raise InputError(f'expected lines of {{"premise", "claim", "score"}} in {path}; found none. Score some pairs.')
    return ScoreJudge(
        f"scores({name})",
        lambda premises, claims: [scores.get(pair, np.nan) for pair in zip(premises, claims, strict=True)],
    )


def _scored(line: str, where: str) -> tuple[tuple[str, str], float]:
    try:
        fields = json.loads(line)
        pair, score = (str(fields["premise"]), str(fields["claim"])), float(fields["score"])
    except (ValueError, TypeError, KeyError, RecursionError):
        raise InputError(
            f'expected {{"premise", "claim", "score"}} in {where}; found {line.strip()[:60]!r}. Correct it.'
        ) from None
    if not 0 <= score <= 1:
        raise InputError(f"expected a score from 0 to 1 in {where}; found {score:g}. Rescale the scores.")
    return pair, score
