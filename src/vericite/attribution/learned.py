"""A small network over all sources of a sentence: which of them support it, alone or together.

It reads features from the bundled verifier's and embedder's outputs (``features``), so nothing else is loaded. Its
weights are a JSON file: the package ships one, and ``vericite train attribution`` writes others.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, ValidationError, model_validator

from vericite.attribution.attributor import Attributor, SourcesFound
from vericite.attribution.features import FEATURES, VERSION, FeatureMaker, Known
from vericite.errors import InputError, ModelCardError, ModelMissingError
from vericite.models.contracts import Embeds, Judge
from vericite.models.folder import TrainingSet
from vericite.records import Answer, FloatMap, Record, first_problem

Floats = NDArray[np.float64]

HEAD = "head.json"
"""Name of the file in a head's folder."""

BUNDLED = Path(__file__).with_name(HEAD)

_CLIP = 5.0


class Member(Record):
    """One network: a layer over each source, then one over each source with the whole set. Rows are inputs."""

    first: tuple[tuple[float, ...], ...]
    first_bias: tuple[float, ...]
    second: tuple[tuple[float, ...], ...]
    second_bias: tuple[float, ...]
    last: tuple[float, ...]
    direct: tuple[float, ...]
    bias: float

    @model_validator(mode="after")
    def _coherent(self) -> Self:
        width, inputs = len(self.first_bias), len(self.direct)
        shapes = {
            "first": (self.first, inputs, width),
            "second": (self.second, inputs + 3 * width, len(self.second_bias)),
        }
        for name, (rows, high, wide) in shapes.items():
            if len(rows) != high or any(len(row) != wide for row in rows):
                raise ValueError(f"expected {high} rows of {wide} numbers in {name}; found others")
        if len(self.last) != len(self.second_bias):
            raise ValueError(f"expected {len(self.second_bias)} numbers in last; found {len(self.last)}")
        return self

    @property
    def arrays(self) -> dict[str, Floats]:
        """The weights by name."""
        return {name: np.asarray(getattr(self, name), dtype=np.float64) for name in type(self).model_fields}


class PairRule(Record):
    """When to cite two sources, neither of which suffices: the pair that the verifier ranks best together.

    Attributes:
        sure: A source with this probability suffices alone, so there is no pair.
        likely: Minimum probability of both.
        words: Minimum share of the sentence's words that are in one source only, for both.
        together: Minimum log odds that the two together entail the sentence.
    """

    sure: float = Field(default=0.98, ge=0, le=1)
    likely: float = Field(default=0.1, ge=0, le=1)
    words: float = Field(default=0.06, ge=0, le=1)
    together: float = -1.0


class Head(Record):
    """The weights, and what they were fitted to.

    Attributes:
        made_by: Signature of the features; features of another verifier mean something else.
        mean: Mean of each feature over the training data.
        scale: Scale of each feature over the training data.
        threshold: Minimum probability for citing a source.
        pair: When to cite two sources, neither of which suffices. None: never.
        training: The training data.
        scores: Scores on development questions.
    """

    format: Literal["vericite.set-head.v1"] = "vericite.set-head.v1"
    name: str = Field(min_length=1, max_length=80)
    version: str
    made_by: str
    features: tuple[str, ...]
    mean: tuple[float, ...]
    scale: tuple[float, ...]
    members: tuple[Member, ...] = Field(min_length=1)
    threshold: float = Field(ge=0, le=1)
    pair: PairRule | None = None
    training: tuple[TrainingSet, ...] = ()
    scores: FloatMap = Field(default_factory=dict)
    limits: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _coherent(self) -> Self:
        if not all(np.isfinite(member.arrays[name]).all() for member in self.members for name in member.arrays):
            raise ValueError("expected finite weights; found others")
        wide = len(self.features)
        if (
            len(self.mean) != wide
            or len(self.scale) != wide
            or any(len(member.direct) != wide for member in self.members)
        ):
            raise ValueError(f"expected weights for {wide} features; found others")
        if min(self.scale, default=1.0) <= 0:
            raise ValueError("expected scales above 0; found others")
        return self

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read a head's file.

        Raises:
            ModelMissingError: There is no such file.
            ModelCardError: The file is not a head, or needs another version.
        """
        try:
            head = cls.model_validate_json(path.read_text(encoding="utf-8"))
        except OSError as error:
            raise ModelMissingError(f"expected a head in {path}; found: {error.strerror}") from None
        except (ValidationError, UnicodeDecodeError) as error:
            problem = (
                "no UTF-8" if isinstance(error, UnicodeDecodeError) else ": ".join(filter(None, first_problem(error)))
            )
            raise ModelCardError(
                f"expected a head as `vericite train attribution` writes it in {path}; {problem}"
            ) from None
        if head.features != FEATURES or not head.made_by.startswith(f"{VERSION}("):
            raise ModelCardError(
                f"expected a head of {VERSION} in {path}; found one of {head.made_by.split('(')[0]}. Train it again."
            )
        return head

    @property
    def digest(self) -> str:
        """The first digits of the weights' hash."""
        content = self.model_dump(mode="json", include={"members", "mean", "scale", "made_by"})
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:12]

    def probabilities(self, values: Floats) -> Floats:
        """Return the probability that each source (a row) supports the sentence."""
        if not len(values):
            return np.zeros(0)
        inputs = standardized(values, np.asarray(self.mean), np.asarray(self.scale))
        logits = np.mean([logits_of(member.arrays, inputs) for member in self.members], axis=0)
        return (1 + np.tanh(logits / 2)) / 2


_BEHIND, _OWN, _TOGETHER, _GISTS = map(
    FEATURES.index, ("behind the best pair", "words in no other", "together with another", "best pair of gists")
)


def chosen(probabilities: Floats, values: Floats, threshold: float, pair: PairRule | None) -> frozenset[int]:
    """Return the rows to cite: those that reach the threshold, or the best pair where no source suffices."""
    if pair is not None and len(values) and probabilities.max() < pair.sure:
        both = np.flatnonzero((values[:, _BEHIND] >= -1e-6) & (probabilities >= pair.likely))
        if len(both) > 1 and values[both, _OWN].min() >= pair.words:
            if values[both][:, [_TOGETHER, _GISTS]].max() >= pair.together:
                return frozenset(int(place) for place in both)
    return frozenset(int(place) for place in np.flatnonzero(probabilities >= threshold))


def standardized(values: Floats, mean: Floats, scale: Floats) -> Floats:
    """Return the features with mean 0 and similar width; outliers are clipped."""
    return np.clip((values - mean) / scale, -_CLIP, _CLIP)


def logits_of(weights: dict[str, Any], inputs: Floats) -> Floats:
    """Return a number for each source. Values shared by the whole set are an input for each of its sources."""
    hidden = np.tanh(inputs @ weights["first"] + weights["first_bias"])
    whole = np.concatenate([hidden.max(axis=0), hidden.mean(axis=0)])
    joined = np.concatenate([inputs, hidden, np.tile(whole, (len(inputs), 1))], axis=1)
    deep = np.tanh(joined @ weights["second"] + weights["second_bias"])
    return deep @ weights["last"] + inputs @ weights["direct"] + weights["bias"]


class LearnedAttributor(Attributor):
    """Cites the sources that a head selects, each by itself or with the others.

    Args:
        head: The weights.
        judge: Judges texts and the sentence; the judge that the head was fitted to.
        embedder: Makes vectors; the embedder that the head was fitted to.
        threshold: Minimum probability for citing a source. Default: the head's own.

    Raises:
        InputError: The head was fitted to another judge or embedder, or the threshold is not a probability.
    """

    def __init__(self, head: Head, judge: Judge, embedder: Embeds, threshold: float | None = None) -> None:
        self._maker = FeatureMaker(judge, embedder)
        if head.made_by != self._maker.signature:
            raise InputError(
                f"expected the judge and embedder that the head {head.name} was fitted to, {head.made_by}; found "
                f"{self._maker.signature}. Use --by verifier with another judge, or train a head for it."
            )
        self.head = head
        self.threshold = head.threshold if threshold is None else threshold
        if not 0 <= self.threshold <= 1:
            raise InputError(f"expected a threshold between 0 and 1; found {threshold}")

    @property
    def signature(self) -> str:
        """The head, its inputs and the threshold."""
        return f"learned.v1({self.head.name}@{self.head.digest}, {self.head.made_by}, {self.threshold:g})"

    def find(self, answers: Sequence[Answer]) -> Iterator[list[SourcesFound]]:
        """Judge the sentences of all answers together."""
        for known in self._maker.of(answers):
            yield [self._found(sentence) for sentence in known]

    def _found(self, known: Known) -> SourcesFound:
        scores: list[float | None] = [None] * known.documents
        if known.failed:
            return SourcesFound(tuple(scores), reasons=("no source could be judged",), failed=True)
        odds = self.head.probabilities(known.values)
        for place, probability in zip(known.places, odds, strict=True):
            scores[place] = round(float(probability), 6)
        rows = chosen(odds, known.values, self.threshold, self.head.pair)
        cited = tuple(known.places[row] for row in sorted(rows))
        left = known.documents - len(known.places)
        reasons = (
            (f"{left} of {known.documents} sources are too different from the sentence: not asked",) if left else ()
        )
        return SourcesFound(tuple(scores), cited, reasons)
