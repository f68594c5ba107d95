"""Token vectors of the bundled embedder, and BERTScore's matching."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from vericite.errors import InputError, MissingExtraError, UnknownNameError
from vericite.evaluate.encoders import (
    BundledTokens,
    TokenVectors,
    best_overlap,
    load_text_encoder,
    load_token_encoder,
    overlap,
)
from vericite.models import Embedder

TEXTS = [
    "Aspirin lowers the risk of stroke.",
    "The risk of stroke is lower with aspirin.",
    "Zinc shortens colds by a day or two in adults.",
    "",
    "Mortality fell. " * 200,
]


@pytest.fixture(scope="module")
def bundled() -> BundledTokens:
    return BundledTokens()


def vectors(rows: np.ndarray) -> TokenVectors:
    """Rows of any length as tokens of a text; the first and the last are special tokens."""
    counted = np.ones(len(rows), dtype=np.bool_)
    counted[[0, -1]] = False
    unit = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
    return TokenVectors(unit.astype(np.float32), counted, False)


def texts() -> st.SearchStrategy[TokenVectors]:
    numbers = st.floats(-1, 1, width=32).filter(lambda it: it == 0 or abs(it) > 1e-3)
    shapes = st.tuples(st.integers(3, 8), st.just(4))
    return shapes.flatmap(lambda shape: arrays.arrays(np.float32, shape, elements=numbers)).map(vectors)


def plainly(answer: TokenVectors, reference: TokenVectors) -> tuple[float, float, float]:
    """bert-score's greedy matching, token by token."""

    def nearest(own: TokenVectors, others: TokenVectors) -> float:
        best = [
            max(sum(float(a) * float(b) for a, b in zip(row, other, strict=True)) for other in others.vectors)
            for row, counts in zip(own.vectors, own.counted, strict=True)
            if counts
        ]
        return sum(best) / len(best)

    precision, recall = nearest(answer, reference), nearest(reference, answer)
    both = precision + recall
    return precision, recall, 2 * precision * recall / both if both > 0 else 0.0


@given(texts(), texts())
def test_the_matching_agrees_with_a_plain_loop(answer: TokenVectors, reference: TokenVectors):
    assert tuple(overlap(answer, reference)) == pytest.approx(plainly(answer, reference), abs=1e-5)


@given(texts(), texts())
def test_precision_is_recall_with_swapped_texts(answer: TokenVectors, reference: TokenVectors):
    one, other = overlap(answer, reference), overlap(reference, answer)
    assert (one.precision, one.recall) == pytest.approx((other.recall, other.precision), abs=1e-6)


@given(texts(), st.lists(texts(), min_size=1, max_size=3))
def test_each_figure_is_the_maximum_over_references(answer: TokenVectors, references: list[TokenVectors]):
    each = [overlap(answer, reference) for reference in references]
    assert best_overlap(answer, references) == tuple(map(max, zip(*each, strict=True)))


def test_the_first_token_is_the_embedding_of_the_text(bundled: BundledTokens):
    made = list(bundled.tokens(TEXTS))
    expected = Embedder.shared().embed(TEXTS)
    assert np.stack([text.vectors[0] for text in made]) == pytest.approx(expected, abs=1e-5)
    assert [text.cut for text in made] == [False, False, False, False, True]
    assert [int(text.counted.sum()) for text in made][3:] == [0, 254]
    assert np.linalg.norm(made[0].vectors, axis=1) == pytest.approx(1, abs=1e-5)


def test_a_text_is_most_similar_to_itself(bundled: BundledTokens):
    same, like, other, nothing, _ = bundled.tokens(TEXTS)
    assert tuple(overlap(same, same)) == pytest.approx((1, 1, 1), abs=1e-5)
    assert overlap(same, like).f1 > overlap(same, other).f1 + 0.1
    assert overlap(same, nothing) == (0, 0, 0)


def test_unknown_encoder_names_are_refused():
    for load in (load_token_encoder, load_text_encoder):
        with pytest.raises(UnknownNameError, match="hf:CHECKPOINT"):
            load("roberta-large")
    with pytest.raises(InputError, match="expected a layer number after #"):
        load_token_encoder("hf:roberta-large#last")
    assert load_text_encoder("bundled") is Embedder.shared()


def test_a_checkpoint_needs_its_extra(monkeypatch: pytest.MonkeyPatch):
    import vericite.models.hf as hf

    def missing(name: str) -> object:
        raise MissingExtraError("hf", "a model from a Hugging Face checkpoint")

    monkeypatch.setattr(hf, "library", missing)
    with pytest.raises(MissingExtraError, match="hf"):
        load_token_encoder("hf:roberta-large")
