"""Classifiers from checkpoints: what they read, what they say of it, and what goes wrong while they judge."""

import json
import shutil
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import count, islice, permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch", reason="the extra [hf] is not installed")
pytest.importorskip("transformers", reason="the extra [hf] is not installed")

import tiny_models
import torch
import transformers
from tiny_models import KINDS, LONG, PAIRS, probabilities
from tiny_models import numbered as _numbered

import vericite
import vericite.models.hf as batching
from vericite.errors import ModelCardError, ModelError
from vericite.models import Pair
from vericite.models.contracts import CONTRADICTS, ENTAILS, NEUTRAL, traits_of
from vericite.verify import Protocol
from vericite.verify.judges.hf import NliJudge, columns_of

pytestmark = pytest.mark.hf


@pytest.mark.parametrize("kind", KINDS)
def test_probabilities_are_those_of_a_plain_forward_pass(
    checkpoints: Mapping[str, Path], judges: Mapping[str, NliJudge], kind: str
):
    tokenizer = transformers.AutoTokenizer.from_pretrained(checkpoints[kind])
    model = transformers.AutoModelForSequenceClassification.from_pretrained(checkpoints[kind]).eval()
    order = [tiny_models.LABELS.index(label) for label in ("entailment", "contradiction", "neutral")]
    for pair in [*PAIRS[:4], LONG, Pair(LONG.premise, "")]:
        inputs = tokenizer(
            [pair.premise],
            [pair.claim],
            truncation="only_first",
            max_length=tiny_models.POSITIONS,
            return_tensors="pt",
        )
        if kind == "roberta":
            inputs.pop("token_type_ids", None)
        with torch.no_grad():
            expected = model(**inputs).logits.softmax(-1)[0, order].numpy()
        (found,) = judges[kind].judge([pair])
        assert found.probabilities == pytest.approx(expected, abs=1e-6)
        assert found.native == tiny_models.LABELS[order[int(expected.argmax())]]
        assert found.probabilities.dtype == np.float32


@pytest.mark.parametrize("kind", KINDS)
def test_a_batch_of_mixed_lengths_says_what_each_pair_alone_says_in_order(
    judges: Mapping[str, NliJudge], kind: str, monkeypatch: pytest.MonkeyPatch
):
    pairs = [*PAIRS, LONG, *reversed(PAIRS), PAIRS[0]]
    alone = np.concatenate([probabilities(judges[kind], [pair]) for pair in pairs])
    assert len(np.unique(alone.round(4), axis=0)) == len(set(pairs))
    assert probabilities(judges[kind], pairs) == pytest.approx(alone, abs=1e-4)
    monkeypatch.setitem(batching.WINDOW, "cpu", 4)
    monkeypatch.setitem(batching.BATCH_TOKENS, "cpu", 50)
    assert probabilities(judges[kind], pairs) == pytest.approx(alone, abs=1e-4)


def test_the_configuration_says_which_output_is_which(bert: Path):
    spellings = {"Entails": ENTAILS, "REFUTES": CONTRADICTS, "not_enough_info": NEUTRAL}
    raw = probabilities(NliJudge(str(tiny_models.change(bert, id2label=_numbered(spellings)))), PAIRS)
    for order in permutations(spellings):
        found = probabilities(NliJudge(str(tiny_models.change(bert, id2label=_numbered(order)))), PAIRS)
        # The weights are the same, so that the labels move the probabilities and change none of them.
        for output, label in enumerate(order):
            assert np.array_equal(found[:, spellings[label]], raw[:, list(spellings.values())[output]])


def test_permuted_outputs_under_permuted_labels_say_the_same(bert: Path, tmp_path: Path):
    model = transformers.AutoModelForSequenceClassification.from_pretrained(bert)
    order = [2, 0, 1]
    with torch.no_grad():
        for values in (model.classifier.weight, model.classifier.bias):
            values.copy_(values[order].clone())
    model.config.id2label = dict(enumerate(tiny_models.LABELS[index] for index in order))
    other = shutil.copytree(bert, tmp_path / "other")
    model.save_pretrained(other)
    assert probabilities(NliJudge(str(other)), PAIRS) == pytest.approx(probabilities(NliJudge(str(bert)), PAIRS))


@pytest.mark.parametrize("labels", [("not_entailment", "entailment"), ("entailment", "not entailment")])
def test_of_two_labels_the_rest_is_neutral(tmp_path: Path, labels: tuple[str, str]):
    judge = NliJudge(str(tiny_models.classifier("deberta", tmp_path / "two", labels)))
    found = probabilities(judge, PAIRS)
    assert (found[:, CONTRADICTS] == 0).all()
    assert found[:, ENTAILS] + found[:, NEUTRAL] == pytest.approx(1)
    assert {item.native for item in judge.judge(PAIRS)} <= set(labels)


def test_labels_given_by_hand_stand_in_for_those_missing(bert: Path):
    named = probabilities(NliJudge(str(bert)), PAIRS)
    tiny_models.change(bert, id2label=_numbered(["LABEL_0", "LABEL_1", "LABEL_2"]))
    judge = NliJudge(str(bert), labels=tiny_models.LABELS)
    assert np.array_equal(probabilities(judge, PAIRS), named)
    assert judge.signature.endswith("#entailment,neutral,contradiction")
    with pytest.raises(ModelCardError, match=r"expected 3 labels.*found 2: entailment, not_entailment"):
        NliJudge(str(bert), labels=("entailment", "not_entailment"))


@pytest.mark.parametrize(
    "labels",
    [
        ["LABEL_0", "LABEL_1", "LABEL_2"],
        ["LABEL_0"],
        ["entailment", "contradiction"],
        ["entailment", "entails", "neutral"],
        ["entailment", "neutral", "contradiction", "other"],
        ["entailment", "not_entailment", "neutral"],
        ["positive", "negative"],
        [],
    ],
    ids="-".join,
)
def test_labels_that_are_unclear_are_an_error_that_says_how_to_name_them(labels: list[str]):
    with pytest.raises(ModelCardError, match="expected a classifier with the labels entailment, neutral") as caught:
        columns_of(labels, "someone/model")
    assert ", ".join(labels) in str(caught.value)
    assert "'hf:someone/model#entailment,neutral,contradiction'" in str(caught.value)


@pytest.mark.parametrize(
    ("labels", "columns"),
    [
        (["CONTRADICTION", "NEUTRAL", "ENTAILMENT"], [CONTRADICTS, NEUTRAL, ENTAILS]),
        (["SUPPORTS", "REFUTES", "NOT ENOUGH INFO"], [ENTAILS, CONTRADICTS, NEUTRAL]),
        (["Attributable", "Extrapolatory", "Contradictory"], [ENTAILS, NEUTRAL, CONTRADICTS]),
        (["contradict", "NEI", "support"], [CONTRADICTS, NEUTRAL, ENTAILS]),
        (["entailment", "not_entailment"], [ENTAILS, NEUTRAL]),
        (["Not-Entailment", "Entailment"], [NEUTRAL, ENTAILS]),
    ],
)
def test_labels_are_known_by_many_spellings(labels: list[str], columns: list[int]):
    assert columns_of(labels, "model") == tuple(columns)


# What is read


@pytest.mark.parametrize("kind", KINDS)
def test_the_limit_is_that_of_the_positions_and_a_pair_that_fills_it_is_read_whole(
    judges: Mapping[str, NliJudge], kind: str
):
    judge = judges[kind]
    assert traits_of(judge).capacity == tiny_models.POSITIONS - (4 if kind == "roberta" else 3)
    claim = "Aspirin lowers fever ."
    words = "Aspirin"
    while judge.length(f"{words} a") + judge.length(claim) <= judge.capacity:
        words += " a"
    full, over = judge.judge([Pair(words, claim), Pair(words + " Norway" * 4, claim)])
    assert (full.note, over.note) == (None, "a premise was cut to the model's 40 tokens")
    assert full.failure is over.failure is None


@pytest.mark.parametrize("kind", KINDS)
def test_only_the_premise_is_cut(judges: Mapping[str, NliJudge], kind: str):
    judge = judges[kind]
    loaded = judge._loaded
    (tokens,) = judge._encode([LONG])
    assert isinstance(tokens, batching.TokenizedInput)
    claim = loaded.tokenizer(LONG.claim, add_special_tokens=False)["input_ids"]
    assert len(tokens.ids) == tiny_models.POSITIONS
    assert tokens.ids[-len(claim) - 1 : -1] == claim
    # What was cut is not read, and what is left is.
    swapped = [Pair(LONG.premise + "Norway", LONG.claim), Pair("Norway " + LONG.premise, LONG.claim)]
    same, other = probabilities(judge, swapped)
    (first,) = probabilities(judge, [LONG])
    assert same == pytest.approx(first, abs=1e-5)
    assert other != pytest.approx(first, abs=1e-3)


def test_a_claim_that_leaves_no_room_is_a_failure_and_the_others_are_judged(judges: Mapping[str, NliJudge]):
    for judge in judges.values():
        before, failed, after = judge.judge([PAIRS[0], Pair("A premise.", LONG.premise), PAIRS[0]])
        assert failed.failure is not None
        assert failed.failure.startswith("expected a claim of fewer than ")
        assert before.failure is after.failure is None


@pytest.mark.parametrize("kind", KINDS)
def test_a_separator_in_a_source_is_read_as_text(judges: Mapping[str, NliJudge], kind: str):
    tokenizer = judges[kind]._loaded.tokenizer
    (tokens,) = judges[kind]._encode([Pair(f"a {tokenizer.sep_token} b", "a")])
    assert isinstance(tokens, batching.TokenizedInput)
    assert tokens.ids.count(tokenizer.sep_token_id) == (3 if kind == "roberta" else 2)


def test_a_tokenizer_that_states_a_lower_limit_is_heard(bert: Path):
    _change_json(bert / "tokenizer_config.json", model_max_length=24)
    assert NliJudge(str(bert)).capacity == 21


def test_it_streams_and_asked_nothing_says_nothing(judges: Mapping[str, NliJudge], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(batching.WINDOW, "cpu", 4)
    asked = count()
    endless = (Pair("Aspirin " * (number % 7), "fever") for number in asked)
    assert len(list(islice(judges["bert"].judge(endless), 6))) == 6
    assert next(asked) == 8
    assert traits_of(judges["bert"]).pairs_at_once == 4
    assert list(judges["bert"].judge([])) == []


def test_threads_may_share_a_judge(judges: Mapping[str, NliJudge]):
    judge = judges["bert"]
    expected = probabilities(judge, [*PAIRS, LONG])
    with ThreadPoolExecutor(8) as pool:
        for found in pool.map(lambda _: probabilities(judge, [*PAIRS, LONG]), range(24)):
            assert found == pytest.approx(expected, abs=1e-5)


# What goes wrong while judging


def test_memory_that_does_not_hold_a_batch_halves_it(judges: Mapping[str, NliJudge], monkeypatch: pytest.MonkeyPatch):
    judge = judges["bert"]
    expected = probabilities(judge, PAIRS)
    score = judge._score
    sizes: list[int] = []

    def starved(batch: list[batching.TokenizedInput]) -> Any:
        sizes.append(len(batch))
        if len(batch) > 1 or len(batch[0].ids) > 30:
            raise torch.OutOfMemoryError("no memory")
        return score(batch)

    monkeypatch.setattr(judge, "_score", starved)
    *found, failed = judge.judge([*PAIRS, LONG])
    assert max(sizes) > 1
    assert np.array([item.probabilities for item in found]) == pytest.approx(expected, abs=1e-4)
    assert failed.failure == "the device's memory does not hold a pair of 40 tokens"


def test_outputs_that_are_no_numbers_are_failures(bert: Path):
    judge = NliJudge(str(bert))
    with torch.no_grad():
        judge._loaded.model.classifier.bias[1] = float("nan")
    assert {item.failure for item in judge.judge(PAIRS)} == {"the model's outputs are not numbers"}


def test_a_model_that_breaks_is_our_error(bert: Path):
    judge = NliJudge(str(bert))
    judge._loaded.model.bert.embeddings.word_embeddings.weight.data = torch.zeros(3, 16)
    with pytest.raises(
        ModelError, match=r"expected the model to read 1 inputs of up to .* tokens; it failed: IndexError"
    ):
        list(judge.judge(PAIRS[:1]))


# Through the verifier


def test_the_verifier_checks_citations_with_a_checkpoint(judges: Mapping[str, NliJudge]):
    documents = [
        {"id": "a", "text": "Aspirin lowers fever in adults. The trial enrolled 400 adults in Norway."},
        {"id": "b", "text": "Statins lowered LDL cholesterol. " * 40},
    ]
    judge = judges["bert"]
    checked = vericite.check(
        "Aspirin lowers fever [1]. Statins lower cholesterol [2].", documents, protocol=Protocol(judge=judge)
    )
    assert len(checked.verdicts) == 2
    assert checked.failures == ()
    assert checked.provenance.parts["judge"] == judge.signature
    for verdict in checked.verdicts:
        assert sum(verdict.probabilities.values()) == pytest.approx(1, abs=1e-4)


def _change_json(path: Path, **values: Any) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text()), **values}))
