from __future__ import annotations

import random

import numpy as np
import pytest

from vericite.models import Engine, Pair
from vericite.models.contracts import SentenceInContext
from vericite.models.embedder import Reranker
from vericite.models.folder import RERANKER

QUESTION = "Does metformin lower the risk of stroke in people with type 2 diabetes?"
ANSWER = "In 812 adults with type 2 diabetes, metformin was followed by fewer strokes than diet alone."
STRANGERS = (
    "The larvae of this beetle feed on the roots of rye and barley.",
    "A hinge of titanium was fitted to the hull of the vessel.",
    "Voters in the three districts were asked about the new tax.",
)


@pytest.fixture(scope="module")
def reranker() -> Reranker:
    return Reranker.shared()


def test_a_relevant_document_is_ranked_first(reranker: Reranker) -> None:
    logits = reranker.logits(QUESTION, [*STRANGERS, ANSWER])
    assert logits.shape == (4,)
    assert int(logits.argmax()) == 3


def test_relevance_is_the_sigmoid_of_the_logits(reranker: Reranker) -> None:
    texts = [ANSWER, *STRANGERS]
    logits, relevance = reranker.logits(QUESTION, texts), reranker.relevance(QUESTION, texts)
    assert np.allclose(relevance, 1 / (1 + np.exp(-logits.astype(np.float64))), atol=1e-6)
    assert relevance[0] > 0.5 > relevance[1:].max()


def test_of_one_abstract_the_sentence_that_answers_is_first(reranker: Reranker) -> None:
    title = "Metformin and stroke in type 2 diabetes: a cohort study"
    sentences = [
        SentenceInContext("We asked whether metformin lowers the risk of stroke in type 2 diabetes.", "aim", title),
        SentenceInContext("The risk of stroke in type 2 diabetes was read from a national register.", "method", title),
        SentenceInContext("Metformin lowered the risk of stroke by a fifth.", "conclusion", title),
    ]
    answering = reranker.answering(QUESTION, sentences)
    assert answering.shape == (3,)
    assert int(answering.argmax()) == 2
    assert reranker.answering(QUESTION, []).shape == (0,)


def test_a_sentence_is_read_with_its_title_and_role() -> None:
    assert SentenceInContext("It did.", "result", "Zinc and colds.").input == "Zinc and colds. Result: It did."
    assert SentenceInContext("It did.", "result", "").input == "Result: It did."


def test_no_texts_give_no_scores(reranker: Reranker) -> None:
    assert reranker.logits(QUESTION, []).shape == (0,)
    assert reranker.relevance(QUESTION, []).shape == (0,)


def test_a_logit_does_not_depend_on_the_other_documents(reranker: Reranker) -> None:
    texts = [ANSWER, *STRANGERS, " ".join([ANSWER, *STRANGERS] * 12), ""]
    together = reranker.logits(QUESTION, texts)
    alone = np.concatenate([reranker.logits(QUESTION, [text]) for text in texts])
    order = list(range(len(texts)))
    random.Random(0).shuffle(order)
    shuffled = reranker.logits(QUESTION, [texts[index] for index in order])
    assert np.abs(together - alone).max() <= 1e-3
    assert np.abs(shuffled - together[order]).max() <= 1e-3


def test_text_beyond_the_limit_changes_nothing(reranker: Reranker) -> None:
    long = f"{ANSWER} " * 40
    first, second = reranker.logits(QUESTION, [long, f"{long} {STRANGERS[0]}"])
    assert first == second
    assert reranker.folder.card.max_tokens == 256


def test_the_question_is_read_first(reranker: Reranker) -> None:
    (row,) = Engine(reranker.folder).run([Pair(QUESTION, ANSWER)])
    card = reranker.folder.card
    (logit,) = reranker.logits(QUESTION, [ANSWER])
    assert logit == pytest.approx(float(row.values[0]) / card.temperature + card.offset, abs=1e-4)


def test_the_bundled_reranker_is_loaded_once_and_has_a_signature(reranker: Reranker) -> None:
    assert Reranker.shared() is reranker
    assert reranker.signature == f"{RERANKER}@{reranker.folder.card.files['model.onnx'][:12]}"
    assert reranker.folder.card.labels == ("relevant", "answers")
    assert (reranker.folder.path / "model.onnx").stat().st_size <= 32_000_000
