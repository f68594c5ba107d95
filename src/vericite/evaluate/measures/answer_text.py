"""Measures of an answer's text: overlap with references, length, precomputed model scores, and cost.

No model is loaded here. MAUVE is implemented here because mauve-text depends on faiss and has the GNU General Public
License. The tests compare it with values that mauve-text computed from the same histograms.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import combinations
from math import isfinite
from typing import Any, ClassVar, Literal

import numpy as np

from vericite.errors import InputError
from vericite.evaluate.items import Features, Item
from vericite.evaluate.measures.measure import (
    NOTHING,
    CountInAnswer,
    Family,
    Measure,
    Need,
    Parts,
    eval_package,
    own_score,
)
from vericite.evaluate.resampling import Bootstrap, Estimate, Floats, Integers
from vericite.records import Answer, Spent

Side = Literal["f1", "precision", "recall"]
"""The reported figure of an overlap."""

_FIELDS: dict[Side, str] = {"f1": "fmeasure", "precision": "precision", "recall": "recall"}
_TEXTS = 20_000
"""Number of tokenized texts to cache, so that a reference is split once for all systems and measures."""
_STEMS = 200_000


def prose(item: Item) -> str | None:
    """Return the sentences of the answer without citation markers; None if there is no answer or it is empty.

    Headings, labels and a list of references at the end do not count as sentences.
    """
    answer = item.given
    return None if answer is None else " ".join(claim.text for claim in answer.claims if claim.text.strip())


@dataclass(frozen=True, repr=False)
class Rouge(Measure):
    """Base class of the ROUGE measures.

    Attributes:
        figure: ``f1``, ``precision`` (relative to the answer) or ``recall`` (relative to the reference).
        stem: Compare words by their Porter stems.
        many: How to combine several references. ``max`` uses the reference with the best F1, for every ``figure``, as
            rouge-score does; ``mean`` averages over references.
    """

    family: ClassVar[Family] = "answer"
    needs: ClassVar[tuple[Need, ...]] = ("answer", "gold")
    extra: ClassVar[str | None] = "eval"
    packages: ClassVar[tuple[str, ...]] = ("rouge-score",)
    pooled: ClassVar[bool] = False
    kind: ClassVar[str]
    """The name in rouge-score."""

    figure: Side = "f1"
    stem: bool = True
    many: Literal["max", "mean"] = "max"

    def parts(self, item: Item) -> Parts | None:
        """Return the answer's score; missing without an answer, or without a reference with words for rouge-score."""
        text = prose(item)
        if text is None or item.gold is None:
            return None
        references = [reference for reference in item.gold.ideal if self._words(reference)]
        if not references:
            return None
        scores = [self.score(reference, text) for reference in references]
        if self.many == "max":
            scores = [max(scores, key=lambda score: score.fmeasure)]
        return own_score(sum(float(getattr(score, _FIELDS[self.figure])) for score in scores) / len(scores))

    def score(self, reference: str, text: str) -> Any:
        """Return rouge-score's three figures of a text against a reference."""
        return _scorer(self.kind, self.stem).score(reference, text)[self.kind]

    def _words(self, text: str) -> Sequence[str]:
        return _splitter(self.stem).tokenize(text)


class Rouge1(Rouge):
    """Overlap of the answer's words with those of the reference answers.

    ROUGE-1 (Lin, 2004) by the package rouge-score, over single words with their counts. Words consist of the letters a
    to z and digits, so a question whose references are in another script is missing.
    """

    name = "Rouge1"
    kind = "rouge1"


class Rouge2(Rouge):
    """Overlap of the answer's pairs of words with those of the reference answers.

    ROUGE-2 (Lin, 2004) by the package rouge-score. BioASQ reports recall and F1 for ideal answers, computed by the Perl
    program, which gives slightly different values.
    """

    name = "Rouge2"
    kind = "rouge2"


class RougeL(Rouge):
    """Longest common subsequence of words in the answer and the reference answer.

    ROUGE-L (Lin, 2004) by the package rouge-score, over the whole texts.
    """

    name = "RougeL"
    kind = "rougeL"

    def score(self, reference: str, text: str) -> Any:
        """Return rouge-score's three figures, computed a hundred times faster than by its own table."""
        right, given = self._words(reference), self._words(text)
        if not given:
            return super().score(reference, text)
        precision, recall = (_longest_common(right, given) / len(words) for words in (given, right))
        scoring = _package("rouge_score.scoring")
        return scoring.Score(precision, recall, scoring.fmeasure(precision, recall))


@dataclass(frozen=True, repr=False)
class Consistency(Measure):
    """Similarity of repeated answers to one question.

    A system that is asked a question several times has answers with different ids and the same question. The mean over
    the pairs of a question's answers, and then over questions; the question counts at the first of their ids.
    Refusals are left out, and a question with fewer than two answers has nothing to count. With ``what='words'`` it is
    the F1 of ROUGE-L without stems, as in Vectara's open-rag-eval, which wants three answers; with ``what='citations'``
    the share of documents that both answers cite, of those that either cites (1 if neither cites any).
    """

    name = "Consistency"
    family = "answer"
    needs = ("answer",)
    extra = "eval"
    packages = ("rouge-score",)
    pooled = False
    in_all = False
    difference_words = ("repeated answers", "is", "more consistent")

    what: Literal["words", "citations"] = "words"

    def parts(self, item: Item) -> Parts | None:
        """Return the parts of a question with one answer."""
        return self.of([item])[0]

    def of(self, items: Sequence[Item]) -> list[Parts | None]:
        """Return the mean over the pairs of a question's answers at its first id, nothing at the others."""
        asked: dict[str, list[Answer]] = {}
        first: dict[str, str] = {}
        for item in items:
            if item.given is not None and item.given.question:
                asked.setdefault(item.given.question, []).append(item.given)
                first.setdefault(item.given.question, item.id)
        scores = {
            first[question]: own_score(sum(pairs) / len(pairs))
            for question, answers in asked.items()
            if (pairs := [self._alike(*pair) for pair in combinations(answers, 2)])
        }
        known = [item.answer is not None and item.answer.question for item in items]
        return [scores.get(item.id, NOTHING) if has else None for item, has in zip(items, known, strict=True)]

    def _alike(self, one: Answer, other: Answer) -> float:
        if self.what == "words":
            texts = [" ".join(claim.text for claim in answer.claims) for answer in (one, other)]
            return float(RougeL(stem=False).score(*texts).fmeasure)
        cited = [
            {citation.document for claim in answer.claims for citation in claim.citations} - {None}
            for answer in (one, other)
        ]
        either = cited[0] | cited[1]
        return len(cited[0] & cited[1]) / len(either) if either else 1.0


class Length(CountInAnswer):
    """Number of words of an answer.

    A word is a sequence without spaces that has a letter or a digit. Citation markers do not count. The mean over
    answers.
    """

    name = "Length"
    family = "answer"
    unit = "words"

    def count(self, answer: Answer) -> int:
        """Return the number of words."""
        return sum(any(map(str.isalnum, piece)) for claim in answer.claims for piece in claim.text.split())


class Sentences(CountInAnswer):
    """Number of sentences of an answer.

    Sentences are split as in ``vericite split``. The mean over answers.
    """

    name = "Sentences"
    family = "answer"
    unit = "sentences"

    def count(self, answer: Answer) -> int:
        """Return the number of sentences."""
        return sum(bool(claim.text.strip()) for claim in answer.claims)


@dataclass(frozen=True, repr=False)
class AnsweredRate(Measure):
    """Share of questions that have an answer.

    Unlike other measures it counts questions without an answer: those that failed, were refused for lack of evidence,
    or have an answer without sentences. An exact answer counts, and so does an answer of which only the verdicts are
    known. The questions are those of the gold and of the system's file. They are missing if nothing is known about the
    system's answers, such as for a ranking alone.
    """

    name = "AnsweredRate"
    family = "answer"
    needs = ("reply",)
    pooled = False
    whole = True

    def parts(self, item: Item) -> Parts | None:
        """Return 1 with an answer, 0 without; missing if nothing is known, see ``of``."""
        return self.of([item])[0]

    def of(self, items: Sequence[Item]) -> list[Parts | None]:
        """Return the parts of each question; a system with any answer has not answered its unknown questions."""
        answered = [item.answered for item in items]
        known = any(state is not None for state in answered)
        return [own_score(float(bool(state))) if known else None for state in answered]


class RefusedRate(Measure):
    """Share of questions that the system refused to answer: ANSWER UNAVAILABLE, or no evidence.

    Questions that failed do not count as refused. Missing if nothing is known about the system's answers.
    """

    name = "RefusedRate"
    family = "answer"
    needs = ("reply",)
    pooled = False
    whole = True
    higher_is_better = None

    def parts(self, item: Item) -> Parts | None:
        """Return 1 for a refusal, else 0."""
        if item.answered is None:
            return None
        return own_score(float(item.answer is not None and item.answer.insufficient))


def _longest_common(first: Sequence[str], second: Sequence[str]) -> int:
    """Return the length of the longest common subsequence, with a bit per word of the first text (Hyyrö 2004)."""
    positions: dict[str, int] = {}
    for position, word in enumerate(first):
        positions[word] = positions.get(word, 0) | 1 << position
    full = (1 << len(first)) - 1
    open_positions = full
    for word in second:
        met = open_positions & positions.get(word, 0)
        open_positions = ((open_positions + met) | (open_positions - met)) & full
    return len(first) - open_positions.bit_count()


@cache
def _scorer(kind: str, stem: bool) -> Any:
    return _package("rouge_score.rouge_scorer").RougeScorer([kind], tokenizer=_splitter(stem))


@cache
def _splitter(stem: bool) -> _Splitter:
    return _Splitter(_package("rouge_score.tokenize").tokenize, _Stemmer() if stem else None)


def _package(module: str) -> Any:
    return eval_package(module, "ROUGE")


class _Splitter:
    """The tokenizer of rouge-score with a cache."""

    def __init__(self, split: Callable[[str, _Stemmer | None], Sequence[str]], stemmer: _Stemmer | None) -> None:
        self._split = split
        self._stemmer = stemmer
        self.tokenize: Callable[[str], Sequence[str]] = lru_cache(maxsize=_TEXTS)(self._words)

    def _words(self, text: str) -> Sequence[str]:
        return self._split(text, self._stemmer)


class _Stemmer:
    """The stemmer of rouge-score with a cache: stemming takes most of the time, and words repeat."""

    def __init__(self) -> None:
        stemmer = _package("nltk.stem.porter").PorterStemmer()
        self.stem: Callable[[str], str] = lru_cache(maxsize=_STEMS)(stemmer.stem)


@dataclass(frozen=True, repr=False)
class StoredScore(Measure):
    """The mean of a precomputed model score over questions; missing if it is not stored."""

    family: ClassVar[Family] = "answer"
    needs: ClassVar[tuple[Need, ...]] = ("scores",)
    pooled: ClassVar[bool] = False

    @property
    @abstractmethod
    def key(self) -> str:
        """The name of the stored score."""

    def parts(self, item: Item) -> Parts | None:
        """Return the stored score; missing without one, and for an empty answer or a refusal."""
        value = item.scores.get(self.key)
        return None if value is None or item.refused or not isfinite(value) else own_score(float(value))


@dataclass(frozen=True, repr=False)
class BERTScore(StoredScore):
    """Similarity of answer and reference answer, word by word, by a language model's vectors.

    BERTScore (Zhang et al. 2020), computed beforehand by ``vericite compute bertscore`` or another program and stored
    as ``bertscore_f1``, ``bertscore_precision`` or ``bertscore_recall``. ``made_by`` names the model (usually
    roberta-large) and any rescaling; scores of different models are not comparable.
    """

    name = "BERTScore"

    figure: Side = "f1"

    @property
    def key(self) -> str:
        """The name of the stored score."""
        return f"bertscore_{self.figure}"


@dataclass(frozen=True, repr=False)
class ClaimEntailment(StoredScore):
    """Probability that the answer entails the gold's claims, by an entailment model.

    Computed beforehand by ``vericite compute claim-entailment`` or another program and stored as ``claim_entailment``:
    for each answer, the mean over the gold's claims of the model's probability (or its yes or no) of entailment.
    """

    name = "ClaimEntailment"

    @property
    def key(self) -> str:
        """The name of the stored score."""
        return "claim_entailment"


@dataclass(frozen=True, repr=False)
class StoredShare(Measure):
    """A share of which numerator and denominator are stored for each question; pooled over questions."""

    family: ClassVar[Family] = "answer"
    needs: ClassVar[tuple[Need, ...]] = ("scores",)
    in_all: ClassVar[bool] = False
    numerator: ClassVar[str]
    denominator: ClassVar[str]

    def parts(self, item: Item) -> Parts | None:
        """Return the stored sums; missing if one is not stored."""
        count, of = (item.scores.get(name) for name in (self.numerator, self.denominator))
        return None if count is None or of is None or not isfinite(count + of) else (float(count), float(of))


@dataclass(frozen=True, repr=False)
class AlignedCitationF1(StoredShare):
    """F1 of the citations of an answer's sentences against those of the gold claims that they state.

    Citation F1 of in-line answers in MultiAttr (Patel et al. 2024, figure 3), the mean over sentences. Computed
    beforehand by ``vericite compute aligned-citations``: a judge assigns each claim (a nugget with ``documents``) to
    the sentence that entails it. A sentence that states no claim should cite nothing: it then scores 1, or is left out
    with ``empty='ignored'``.
    """

    name = "AlignedCitationF1"
    numerator, denominator = "aligned_f1", "aligned_sentences"

    empty: Literal["right", "ignored"] = "right"

    def parts(self, item: Item) -> Parts | None:
        """Return the stored sums, without the sentences to leave out."""
        found, empty = super().parts(item), item.scores.get("aligned_empty")
        if found is None or self.empty == "right":
            return found
        return None if empty is None else (found[0] - empty, found[1] - empty)


class StatedClaimRecall(StoredShare):
    """Share of the gold's claims that a sentence of the answer entails.

    Claim recall of MultiAttr (Patel et al. 2024, table 6), pooled over claims. Computed beforehand by
    ``vericite compute aligned-citations``.
    """

    name = "StatedClaimRecall"
    numerator, denominator = "claims_stated", "claims"


@dataclass(frozen=True, repr=False)
class ModelScore(StoredScore):
    """Any precomputed score of answers, by its stored name.

    ``ModelScore(score='faithfulness')`` is the mean of ``scores["faithfulness"]`` over questions, on its own scale.

    Attributes:
        score: The name of the stored score.
        better: Whether higher (``more``) or lower (``less``) values are better; empty if unknown.
    """

    name = "ModelScore"
    share = False
    unit = "units"
    higher_is_better = None
    in_all = False

    score: str = ""
    better: Literal["more", "less", ""] = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.score:
            raise InputError(
                f"expected the name of a stored score, as in {self.name}(score='faithfulness'); found none"
            )
        higher = {"more": True, "less": False, "": None}[self.better]
        object.__setattr__(self, "higher_is_better", higher)

    @property
    def key(self) -> str:
        """The name of the stored score."""
        return self.score


_SCALE = 5.0
"""Factor for divergences, so that the score uses its whole range."""
_MIXTURES = np.linspace(1e-6, 1 - 1e-6, 25)
"""Shares of the references in the mixtures along the curve."""
_EXPLAINED = 0.9
"""Share of the variance explained by the dimensions kept."""
_RESTARTS = 5
_ROUNDS = 500
_SEED = 0


@dataclass(frozen=True, repr=False)
class MAUVE(Measure):
    """Similarity of the distributions of answers and reference answers, by a language model's vectors.

    MAUVE (Pillutla et al. 2021) from precomputed vectors (``vericite compute mauve-features``), one of the answer and
    one of a reference for each question. They are scaled to length 1, reduced to the dimensions with 90 % of the
    variance, and clustered by k-means (5 starts). The score is the area under the curve of exp(-5 KL) over mixtures of
    the two cluster histograms; it is 1 for equal histograms. A question without both vectors is missing.

    The score describes a whole run. It is useful from a few hundred questions on; with fewer it mostly reflects their
    number. It is comparable only between runs with the same number of questions. Runs that are scored together share
    their clusters, so a run that is scored alone has a different value. For the interval the clusters are kept and the
    questions are drawn, so it does not include the randomness of k-means.

    Attributes:
        buckets: Number of clusters. Default: a tenth of the questions, at least two.
        smoothed: Add half a text to each cluster on both sides (MAUVE*, Pillutla et al. 2023), which helps with few
            questions.
    """

    name = "MAUVE"
    family = "answer"
    needs = ("features",)
    extra = "eval"
    packages = ("scikit-learn",)
    centred = True
    counts_from_one = ("buckets",)

    buckets: int | None = None
    smoothed: bool = False

    def parts(self, item: Item) -> Parts | None:
        """Return the clusters of a single question, which are of no use alone; see ``of``."""
        return self.of([item])[0]

    def of(self, items: Sequence[Item]) -> list[Parts | None]:
        """Return the clusters of each question's reference and answer; missing without both vectors."""
        return self.of_each([items])[0]

    def of_each(self, runs: Sequence[Sequence[Item]]) -> list[list[Parts | None]]:
        """Return the clusters for several runs, which share them."""
        known = [item.features for run in runs for item in run if item.features]
        if not known:
            return [[None] * len(run) for run in runs]
        pairs = max(sum(item.features is not None for item in run) for run in runs)
        clusters, count = _clusters(known, self.buckets or max(2, round(pairs / 10)))
        rows = iter(np.eye(count)[clusters].reshape(len(known), 2 * count).tolist())
        return [[tuple(next(rows)) if item.features else None for item in run] for run in runs]

    def statistic(self, sums: Floats) -> Floats:
        """Return the area under the curve; NaN without questions."""
        counts = sums.reshape(*sums.shape[:-1], 2, -1)
        totals = counts.sum(axis=-1, keepdims=True)
        smoothed = counts + 0.5 if self.smoothed else counts
        shares = np.where(totals > 0, smoothed, np.nan) / smoothed.sum(axis=-1, keepdims=True)
        return _area(shares[..., 0, :], shares[..., 1, :])

    def estimate(self, parts: Sequence[Parts | None], bootstrap: Bootstrap) -> Estimate:
        """Return the score with its interval: percentiles of the draws, shifted so that their mean is the score.

        A draw has fewer distinct texts than the run, and so a lower score. In simulations with 100 and 300 questions
        the coverage of percentile and BCa intervals was 13 to 92 %, that of these intervals 92 to 100 %.
        """
        return bootstrap.centred(self.table(parts), self.statistic, 0.0, 1.0)

    def drawn_by(self, bootstrap: Bootstrap) -> str:
        """Return the interval method: shifted percentiles."""
        return replace(bootstrap, method="percentile").signature.replace("=", "=centred ", 1)


def _area(references: Floats, answers: Floats) -> Floats:
    """Return the area under the curve between two histograms [..., clusters]."""
    x, y = np.ones(references.shape[:-1]), np.zeros(references.shape[:-1])
    area = np.zeros_like(x)
    for share in _MIXTURES:
        mixed = share * references + (1 - share) * answers
        right, up = (np.exp(-_SCALE * _divergence(histogram, mixed)) for histogram in (answers, references))
        area += (x - right) * (y + up) / 2
        x, y = right, up
    return area + x * (y + 1) / 2


def _divergence(histogram: Floats, mixed: Floats) -> Floats:
    """Return the Kullback-Leibler divergence of a histogram from a mixture that contains it."""
    over = np.divide(histogram, mixed, out=np.ones_like(mixed), where=~(histogram == 0))
    return (histogram * np.log(over)).sum(axis=-1)


def _clusters(known: Sequence[Features], buckets: int) -> tuple[Integers, int]:
    """Return the clusters of references and answers [questions, 2], and the number of clusters."""
    if len({len(features.answer) for features in known}) > 1:
        raise InputError(
            "expected vectors of the same length for all answers; found several lengths. Compute all with one model."
        )
    vectors = np.array([side for features in known for side in (features.reference, features.answer)], dtype=np.float64)
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), np.finfo(np.float64).tiny)
    distinct = len(np.unique(vectors, axis=0))
    count = min(buckets, distinct)
    if count == 1:
        return np.zeros((len(known), 2), dtype=np.int64), 1
    reduction = eval_package("sklearn.decomposition", MAUVE.name).PCA(svd_solver="full")
    placed = reduction.fit_transform(vectors)
    kept = int(np.argmax(np.cumsum(reduction.explained_variance_ratio_) >= _EXPLAINED)) + 1
    kmeans = eval_package("sklearn.cluster", MAUVE.name).KMeans(
        count, n_init=_RESTARTS, max_iter=_ROUNDS, random_state=_SEED
    )
    found: Integers = kmeans.fit_predict(placed[:, :kept])
    return found.astype(np.int64).reshape(-1, 2), count


@dataclass(frozen=True, repr=False)
class Effort(Measure):
    """The mean cost of the model calls for a question.

    Missing if no cost is recorded, and for cached answers, whose calls another run made.
    """

    family: ClassVar[Family] = "answer"
    needs: ClassVar[tuple[Need, ...]] = ("answer",)
    pooled: ClassVar[bool] = False
    share: ClassVar[bool] = False
    higher_is_better: ClassVar[bool | None] = None

    def parts(self, item: Item) -> Parts | None:
        """Return the cost, also of a refusal."""
        spent = item.answer.spent if item.answer is not None else None
        return None if spent is None or not spent.calls else own_score(float(self.of_answer(spent)))

    @abstractmethod
    def of_answer(self, spent: Spent) -> float:
        """Return the cost of an answer."""


class PromptTokens(Effort):
    """Tokens that a language model read for an answer.

    As counted by the service, over all calls for the answer: prompt, demonstrations and documents.
    """

    name = "PromptTokens"
    unit = "tokens"

    def of_answer(self, spent: Spent) -> float:
        """Return the prompt tokens."""
        return spent.prompt_tokens


class ReplyTokens(Effort):
    """Tokens that a language model wrote for an answer.

    As counted by the service, over all calls for the answer.
    """

    name = "ReplyTokens"
    unit = "tokens"

    def of_answer(self, spent: Spent) -> float:
        """Return the reply tokens."""
        return spent.completion_tokens


class AnswerSeconds(Effort):
    """Duration of the model calls for an answer, in seconds.

    Includes waiting for the service or for other questions. Comparable only between runs on one machine.
    """

    name = "AnswerSeconds"
    unit = "seconds"

    def of_answer(self, spent: Spent) -> float:
        """Return the duration of the calls."""
        return spent.seconds
