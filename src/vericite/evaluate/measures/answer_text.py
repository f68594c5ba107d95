"""Measures of what an answer says as a text: its overlap with references, its length, whether there is one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, ClassVar, Literal

from vericite.evaluate.items import Item
from vericite.evaluate.measures.measure import Measure, Need, Parts, one
from vericite.evaluate.measures.named import Family
from vericite.evaluate.measures.packages import eval_package

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
        right, said = self._words(reference), self._words(text)
        if not said:
            return super().score(reference, text)
        precision, recall = (_common(right, said) / len(words) for words in (said, right))
        scoring = _package("rouge_score.scoring")
        return scoring.Score(precision, recall, scoring.fmeasure(precision, recall))


@dataclass(frozen=True, repr=False)
class Length(Measure):
    """Words of an answer.

    Pieces between spaces that hold a letter or a digit, of sentences without citation markers; the mean over answers.
    """

    name = "Length"
    family = "answer"
    needs = ("answer",)
    pooled = False
    share = False
    unit = "words"
    higher_is_better = None

    def parts(self, item: Item) -> Parts | None:
        """The number of words; missing without an answer."""
        text = prose(item)
        return None if text is None else one(float(sum(any(map(str.isalnum, piece)) for piece in text.split())))


@dataclass(frozen=True, repr=False)
class Sentences(Measure):
    """Sentences of an answer.

    As ``vericite split`` finds them; the mean over answers.
    """

    name = "Sentences"
    family = "answer"
    needs = ("answer",)
    pooled = False
    share = False
    unit = "sentences"
    higher_is_better = None

    def parts(self, item: Item) -> Parts | None:
        """The number of sentences; missing without an answer."""
        if item.given is None:
            return None
        return one(float(sum(bool(claim.text.strip()) for claim in item.given.claims)))


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


ANSWER_TEXT_MEASURES: tuple[type[Measure], ...] = (Rouge1, Rouge2, RougeL, Length, Sentences, AnsweredRate)


def _common(first: Sequence[str], second: Sequence[str]) -> int:
    """The length of the longest common subsequence, a bit a word of the first (Hyyrö 2004)."""
    places: dict[str, int] = {}
    for place, word in enumerate(first):
        places[word] = places.get(word, 0) | 1 << place
    full = (1 << len(first)) - 1
    open_places = full
    for word in second:
        met = open_places & places.get(word, 0)
        open_places = ((open_places + met) | (open_places - met)) & full
    return len(first) - open_places.bit_count()


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
