"""What an answer says as a text: overlap with references, length, and figures of what models computed beforehand.

What language models took for it, in tokens and seconds, is at the end. No model is loaded here. MAUVE is written here
and not taken from mauve-text, which brings faiss and the GNU General Public License. The tests hold figures that
mauve-text computed of the same histograms.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from math import isfinite
from typing import Any, ClassVar, Literal

import numpy as np

from vericite.errors import InputError
from vericite.evaluate.items import Features, Item
from vericite.evaluate.measures.measure import (
    CountInAnswer,
    Family,
    Measure,
    Need,
    Parts,
    eval_package,
    one,
)
from vericite.evaluate.resampling import Bootstrap, Estimate, Floats, Integers
from vericite.records import Answer, Spent

Side = Literal["f1", "precision", "recall"]
"""Which figure of an overlap is meant."""

_FIELDS: dict[Side, str] = {"f1": "fmeasure", "precision": "precision", "recall": "recall"}
_TEXTS = 20_000
"""Texts kept in words, so that a reference is split once for all systems and all ROUGEs."""
_STEMS = 200_000


def prose(item: Item) -> str | None:
    """The sentences of the answer without citation markers; None where there is no answer or it says nothing.

    Headings, labels and a list of references at the end are no sentences.
    """
    answer = item.given
    return None if answer is None else " ".join(claim.text for claim in answer.claims if claim.text.strip())


@dataclass(frozen=True, repr=False)
class Rouge(Measure):
    """What the ROUGEs have in common.

    Attributes:
        figure: ``f1``, ``precision`` (out of the answer's) or ``recall`` (out of the reference's).
        stem: Whether words are compared by their stems (Porter).
        many: Of several references, ``max`` takes the one with the best F1, as rouge-score does, whatever
            ``figure`` is; ``mean`` takes all alike.
    """

    family: ClassVar[Family] = "answer"
    needs: ClassVar[tuple[Need, ...]] = ("answer", "gold")
    extra: ClassVar[str | None] = "eval"
    packages: ClassVar[tuple[str, ...]] = ("rouge-score",)
    pooled: ClassVar[bool] = False
    kind: ClassVar[str]
    """What rouge-score calls it."""

    figure: Side = "f1"
    stem: bool = True
    many: Literal["max", "mean"] = "max"

    def parts(self, item: Item) -> Parts | None:
        """The answer's score; missing without an answer, or without a reference that has words rouge-score knows."""
        text = prose(item)
        if text is None or item.gold is None:
            return None
        references = [reference for reference in item.gold.ideal if self._words(reference)]
        if not references:
            return None
        each = [self.score(reference, text) for reference in references]
        if self.many == "max":
            each = [max(each, key=lambda score: score.fmeasure)]
        return one(sum(float(getattr(score, _FIELDS[self.figure])) for score in each) / len(each))

    def score(self, reference: str, text: str) -> Any:
        """rouge-score's three figures of a text beside one reference."""
        return _scorer(self.kind, self.stem).score(reference, text)[self.kind]

    def _words(self, text: str) -> Sequence[str]:
        return _splitter(self.stem).tokenize(text)


class Rouge1(Rouge):
    """Overlap of the answer's words with those of the reference answers.

    ROUGE-1 (Lin, 2004) by the package rouge-score: single words, with their number of occurrences. Only a to z and
    digits make words there, so references in another script leave a question out.
    """

    name = "Rouge1"
    kind = "rouge1"


class Rouge2(Rouge):
    """Overlap of the answer's pairs of words with those of the reference answers.

    ROUGE-2 (Lin, 2004) by the package rouge-score. BioASQ reports its recall and F1 for ideal answers, computed with
    the Perl program, from which it differs a little.
    """

    name = "Rouge2"
    kind = "rouge2"


class RougeL(Rouge):
    """The longest run of words, gaps allowed, that answer and reference answer have in common.

    ROUGE-L (Lin, 2004) by the package rouge-score: the longest common subsequence of the whole texts.
    """

    name = "RougeL"
    kind = "rougeL"

    def score(self, reference: str, text: str) -> Any:
        """rouge-score's three figures; its own table takes a hundred times as long."""
        right, given = self._words(reference), self._words(text)
        if not given:
            return super().score(reference, text)
        precision, recall = (_common(right, given) / len(words) for words in (given, right))
        scoring = _package("rouge_score.scoring")
        return scoring.Score(precision, recall, scoring.fmeasure(precision, recall))


class Length(CountInAnswer):
    """Words of an answer.

    Pieces between spaces that hold a letter or a digit, of sentences without citation markers; the mean over answers.
    """

    name = "Length"
    family = "answer"
    unit = "words"

    def count(self, answer: Answer) -> int:
        """The number of words."""
        return sum(any(map(str.isalnum, piece)) for claim in answer.claims for piece in claim.text.split())


class Sentences(CountInAnswer):
    """Sentences of an answer.

    As ``vericite split`` finds them; the mean over answers.
    """

    name = "Sentences"
    family = "answer"
    unit = "sentences"

    def count(self, answer: Answer) -> int:
        """The number of sentences."""
        return sum(bool(claim.text.strip()) for claim in answer.claims)


@dataclass(frozen=True, repr=False)
class AnsweredRate(Measure):
    """Share of the questions asked that have an answer.

    The one measure in which a question without an answer is counted, as not answered: one that failed, one refused for
    want of evidence, and one whose answer has no sentence. An exact answer is an answer, and so is one of which
    only the verdicts are there. Questions asked are those of the gold and of the system's file together; they are
    missing where nothing at all is known of the system's answers, such as of a ranking alone.
    """

    name = "AnsweredRate"
    family = "answer"
    needs = ("reply",)
    pooled = False
    whole = True

    def parts(self, item: Item) -> Parts | None:
        """1 with an answer, 0 without; missing where nothing is known, see ``of``."""
        return self.of([item])[0]

    def of(self, items: Sequence[Item]) -> list[Parts | None]:
        """Of a system that answered some question, one that nothing is known of is not answered."""
        answered = [item.answered for item in items]
        known = any(it is not None for it in answered)
        return [one(float(bool(it))) if known else None for it in answered]


class RefusedRate(Measure):
    """Share of the questions asked whose answer says that there is none: ANSWER UNAVAILABLE, or no evidence.

    Questions that failed are no refusals. Missing where nothing is known of the system's answers.
    """

    name = "RefusedRate"
    family = "answer"
    needs = ("reply",)
    pooled = False
    whole = True
    higher_is_better = None

    def parts(self, item: Item) -> Parts | None:
        """1 where it is refused, else 0."""
        if item.answered is None:
            return None
        return one(float(item.answer is not None and item.answer.insufficient))


def _common(first: Sequence[str], second: Sequence[str]) -> int:
    """The length of the longest common subsequence, a bit a word of the first (Hyyrö 2004)."""
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
    """rouge-score's own way to split a text, with a memory."""

    def __init__(self, split: Callable[[str, _Stemmer | None], Sequence[str]], stemmer: _Stemmer | None) -> None:
        self._split = split
        self._stemmer = stemmer
        self.tokenize: Callable[[str], Sequence[str]] = lru_cache(maxsize=_TEXTS)(self._words)

    def _words(self, text: str) -> Sequence[str]:
        return self._split(text, self._stemmer)


class _Stemmer:
    """The stemmer of rouge-score, with a memory: it takes most of the time, and texts repeat their words."""

    def __init__(self) -> None:
        stemmer = _package("nltk.stem.porter").PorterStemmer()
        self.stem: Callable[[str], str] = lru_cache(maxsize=_STEMS)(stemmer.stem)


@dataclass(frozen=True, repr=False)
class StoredScore(Measure):
    """The mean over questions of a figure that a model computed of each answer; missing where it is not stored."""

    family: ClassVar[Family] = "answer"
    needs: ClassVar[tuple[Need, ...]] = ("scores",)
    pooled: ClassVar[bool] = False

    @property
    @abstractmethod
    def key(self) -> str:
        """Its name among the stored scores."""

    def parts(self, item: Item) -> Parts | None:
        """The stored figure; missing where there is none, and for an answer that is none."""
        value = item.scores.get(self.key)
        return None if value is None or item.refused or not isfinite(value) else one(float(value))


@dataclass(frozen=True, repr=False)
class BERTScore(StoredScore):
    """Likeness of answer and reference answer, word by word, by a language model's vectors.

    BERTScore (Zhang et al. 2020), computed beforehand by ``vericite compute bertscore`` or elsewhere and stored as
    ``bertscore_f1``, ``bertscore_precision`` or ``bertscore_recall``; ``made_by`` says which model made it
    (roberta-large is usual) and whether it was rescaled, since figures of two models are not comparable.
    """

    name = "BERTScore"

    figure: Side = "f1"

    @property
    def key(self) -> str:
        """Its name among the stored scores."""
        return f"bertscore_{self.figure}"


@dataclass(frozen=True, repr=False)
class ClaimEntailment(StoredScore):
    """How far an answer entails the claims that a good answer makes, by an entailment model.

    Computed beforehand by ``vericite compute claim-entailment`` or elsewhere and stored as ``claim_entailment``: of
    each answer, the mean over the gold's claims of the model's probability (or its yes or no) that the answer entails
    it.
    """

    name = "ClaimEntailment"

    @property
    def key(self) -> str:
        """Its name among the stored scores."""
        return "claim_entailment"


@dataclass(frozen=True, repr=False)
class ModelScore(StoredScore):
    """Any figure that was computed of each answer beforehand, by the name it is stored under.

    ``ModelScore(score='faithfulness')`` is the mean over questions of ``scores["faithfulness"]``, on the scale that it
    has. Whether more is better is ``better``: ``more``, ``less``, or not told.

    Attributes:
        score: The name it is stored under.
        better: Which way a difference is good.
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
        """Its name among the stored scores."""
        return self.score


_SCALE = 5.0
"""What divergences are multiplied by, so that the figure uses its range."""
_MIXTURES = np.linspace(1e-6, 1 - 1e-6, 25)
"""Shares of the references in the mixtures that the curve goes through."""
_EXPLAINED = 0.9
"""Share of the variance that the dimensions kept explain."""
_RESTARTS = 5
_ROUNDS = 500
_SEED = 0


@dataclass(frozen=True, repr=False)
class MAUVE(Measure):
    """How alike answers and reference answers are as two crowds of texts, by a language model's vectors.

    MAUVE (Pillutla et al. 2021) of vectors made beforehand (``vericite compute mauve-features``), one of the answer and
    one of a reference for each question: scaled to length 1, reduced to the dimensions with 90 % of the variance, put
    into cells by k-means (5 starts), and from both shares of the cells the area under the curve of exp(-5 KL) over
    their mixtures. 1 where both fill the cells alike. A question without both vectors is missing on both sides.

    It is a figure of a run, of use from some hundred questions on; below it mostly says how few there are, and it
    is comparable only between runs of as many. Runs that are scored or compared together have their cells in
    common, so a run scored by itself has another figure. For the interval cells are kept and questions drawn again, so
    it has nothing of the chance in k-means.

    Attributes:
        buckets: Cells; by default a tenth of the questions, but two or more.
        smoothed: Whether half a text is added to each cell on both sides (MAUVE*, Pillutla et al. 2023), which helps
            with few questions.
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
        """The cells of one question by itself, which tell nothing; see ``of``."""
        return self.of([item])[0]

    def of(self, items: Sequence[Item]) -> list[Parts | None]:
        """The cell of each question's reference and of its answer; missing without both vectors."""
        return self.of_each([items])[0]

    def of_each(self, runs: Sequence[Sequence[Item]]) -> list[list[Parts | None]]:
        """The cells of several runs that are to be compared, which are the same for all of them."""
        known = [item.features for run in runs for item in run if item.features]
        if not known:
            return [[None] * len(run) for run in runs]
        pairs = max(sum(item.features is not None for item in run) for run in runs)
        cells, count = _cells(known, self.buckets or max(2, round(pairs / 10)))
        rows = iter(np.eye(count)[cells].reshape(len(known), 2 * count).tolist())
        return [[tuple(next(rows)) if item.features else None for item in run] for run in runs]

    def statistic(self, sums: Floats) -> Floats:
        """The area under the curve; NaN over no questions."""
        counts = sums.reshape(*sums.shape[:-1], 2, -1)
        totals = counts.sum(axis=-1, keepdims=True)
        smoothed = counts + 0.5 if self.smoothed else counts
        shares = np.where(totals > 0, smoothed, np.nan) / smoothed.sum(axis=-1, keepdims=True)
        return _area(shares[..., 0, :], shares[..., 1, :])

    def estimate(self, parts: Sequence[Parts | None], bootstrap: Bootstrap) -> Estimate:
        """The figure over questions, with its interval: percentiles of the draws, moved so that their mean is it.

        A draw has fewer different texts than the run and so a lower figure. In simulations with 100 and 300 questions
        the ends of percentiles and BCa held the figure expected of so many in 13 to 92 of 100 cases, these in 92 to
        100.
        """
        return bootstrap.centred(self.table(parts), self.statistic, 0.0, 1.0)

    def drawn_by(self, bootstrap: Bootstrap) -> str:
        """Percentiles, moved."""
        return replace(bootstrap, method="percentile").signature.replace("=", "=centred ", 1)


def _area(references: Floats, answers: Floats) -> Floats:
    """Under the curve between two spreads [..., cells], from all answers to all references."""
    x, y = np.ones(references.shape[:-1]), np.zeros(references.shape[:-1])
    area = np.zeros_like(x)
    for share in _MIXTURES:
        mixed = share * references + (1 - share) * answers
        right, up = (np.exp(-_SCALE * _divergence(spread, mixed)) for spread in (answers, references))
        area += (x - right) * (y + up) / 2
        x, y = right, up
    return area + x * (y + 1) / 2


def _divergence(spread: Floats, mixed: Floats) -> Floats:
    """Kullback and Leibler's, of a spread from a mixture that has it in itself."""
    over = np.divide(spread, mixed, out=np.ones_like(mixed), where=~(spread == 0))
    return (spread * np.log(over)).sum(axis=-1)


def _cells(known: Sequence[Features], buckets: int) -> tuple[Integers, int]:
    """The cells of references and answers [questions, 2], and how many cells there are."""
    if len({len(features.answer) for features in known}) > 1:
        raise InputError(
            "expected the vectors of all answers to be of one length; found several. Make all by one model."
        )
    vectors = np.array([side for it in known for side in (it.reference, it.answer)], dtype=np.float64)
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), np.finfo(np.float64).tiny)
    different = len(np.unique(vectors, axis=0))
    count = min(buckets, different)
    if count == 1:
        return np.zeros((len(known), 2), dtype=np.int64), 1
    reduction = eval_package("sklearn.decomposition", MAUVE.name).PCA(svd_solver="full")
    placed = reduction.fit_transform(vectors)
    kept = int(np.argmax(np.cumsum(reduction.explained_variance_ratio_) >= _EXPLAINED)) + 1
    clusters = eval_package("sklearn.cluster", MAUVE.name).KMeans(
        count, n_init=_RESTARTS, max_iter=_ROUNDS, random_state=_SEED
    )
    found: Integers = clusters.fit_predict(placed[:, :kept])
    return found.astype(np.int64).reshape(-1, 2), count


@dataclass(frozen=True, repr=False)
class Effort(Measure):
    """The mean over questions of what their calls took.

    Missing where nothing is recorded, and where the answer was remembered, whose calls another run made.
    """

    family: ClassVar[Family] = "answer"
    needs: ClassVar[tuple[Need, ...]] = ("answer",)
    pooled: ClassVar[bool] = False
    share: ClassVar[bool] = False
    higher_is_better: ClassVar[bool | None] = None

    def parts(self, item: Item) -> Parts | None:
        """What it took; also for an answer that says that there is none."""
        spent = item.answer.spent if item.answer is not None else None
        return None if spent is None or not spent.calls else one(float(self.of_answer(spent)))

    @abstractmethod
    def of_answer(self, spent: Spent) -> float:
        """What is counted."""


class PromptTokens(Effort):
    """Tokens that a language model read for an answer.

    As the service counts them, over all calls for it: prompt, demonstrations and documents.
    """

    name = "PromptTokens"
    unit = "tokens"

    def of_answer(self, spent: Spent) -> float:
        """Tokens of prompts."""
        return spent.prompt_tokens


class ReplyTokens(Effort):
    """Tokens that a language model wrote for an answer.

    As the service counts them, over all calls for it.
    """

    name = "ReplyTokens"
    unit = "tokens"

    def of_answer(self, spent: Spent) -> float:
        """Tokens of replies."""
        return spent.completion_tokens


class AnswerSeconds(Effort):
    """Seconds that the calls for an answer took.

    Waits for a service or for other questions included; comparable between runs on one machine alone.
    """

    name = "AnswerSeconds"
    unit = "seconds"

    def of_answer(self, spent: Spent) -> float:
        """Seconds of calls."""
        return spent.seconds
