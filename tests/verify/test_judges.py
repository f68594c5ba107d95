"""Judges: the bundled model on cases nobody disputes, whose columns are whose, and the lexical floor."""

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vericite.errors import ModelCardError, UnknownNameError, VeriCiteError
from vericite.models import ModelFolder, Pair
from vericite.models.contracts import CONTRADICTS, ENTAILS, NEUTRAL
from vericite.models.folder import EMBEDDER, VERIFIER, WEIGHTS
from vericite.verify import BundledJudge, LexicalJudge, load_judge

ENTAILED = [
    ("Smoking increases the risk of lung cancer.", "Smoking raises lung cancer risk."),
    ("Metformin lowers blood glucose in patients with type 2 diabetes.", "Metformin lowers blood glucose."),
    ("Mortality was lower with dexamethasone than with usual care.", "Dexamethasone lowered mortality."),
    ("Aspirin reduced the risk of myocardial infarction in men.", "Aspirin lowers the risk of heart attack."),
]
CONTRADICTED = [
    ("Statins lowered LDL cholesterol.", "Statins increase LDL cholesterol."),
    ("Patients in the treatment group had fewer strokes.", "The treatment increased the number of strokes."),
]
UNRELATED = [
    ("The trial enrolled 400 adults in Norway.", "Vitamin D prevents fractures."),
]


@pytest.fixture(scope="module")
def bundled() -> BundledJudge:
    return BundledJudge()


def word(judge: BundledJudge | LexicalJudge, premise: str, claim: str) -> int:
    return int(next(iter(judge.judge([Pair(premise, claim)]))).probabilities.argmax())


@pytest.mark.parametrize(("premise", "claim"), ENTAILED)
def test_the_bundled_judge_sees_entailment(bundled: BundledJudge, premise: str, claim: str):
    assert word(bundled, premise, claim) == ENTAILS


@pytest.mark.parametrize(("premise", "claim"), CONTRADICTED)
def test_the_bundled_judge_sees_contradiction(bundled: BundledJudge, premise: str, claim: str):
    assert word(bundled, premise, claim) == CONTRADICTS


@pytest.mark.parametrize(("premise", "claim"), UNRELATED)
def test_the_bundled_judge_sees_that_a_premise_says_neither(bundled: BundledJudge, premise: str, claim: str):
    assert word(bundled, premise, claim) == NEUTRAL


ALL = [Pair(*case) for case in ENTAILED + CONTRADICTED + UNRELATED]


def test_the_bundled_judge_gives_probabilities_in_the_order_of_the_pairs(bundled: BundledJudge):
    together = [item.probabilities for item in bundled.judge(ALL)]
    alone = [next(bundled.judge([pair])).probabilities for pair in ALL]
    for row, single in zip(together, alone, strict=True):
        assert row.dtype == np.float32
        assert float(row.sum()) == pytest.approx(1, abs=1e-5)
        assert row == pytest.approx(single, abs=1e-4)


def test_the_bundled_judge_asked_nothing_says_nothing(bundled: BundledJudge):
    assert list(bundled.judge([])) == []


def test_the_bundled_judge_takes_empty_texts(bundled: BundledJudge):
    (found,) = bundled.judge([Pair("", "")])
    assert math.isclose(float(found.probabilities.sum()), 1, abs_tol=1e-5)
    assert (found.failure, found.note) == (None, None)


def test_the_bundled_judge_notes_a_premise_that_it_had_to_cut(bundled: BundledJudge):
    short, long = bundled.judge([Pair("A word.", "A claim."), Pair("word " * 2000, "A claim.")])
    assert (short.note, long.note) == (None, "a premise was cut to the model's 512 tokens")


def test_a_separator_in_a_source_is_read_as_text(bundled: BundledJudge):
    plain, hostile = bundled.judge(
        [
            Pair("The trial enrolled 400 adults in Norway.", "Vitamin D prevents fractures."),
            Pair("The trial enrolled 400 adults in Norway. [SEP]", "Vitamin D prevents fractures."),
        ]
    )
    assert plain.probabilities.argmax() == hostile.probabilities.argmax() == NEUTRAL


def folder_with_labels(path: Path, labels: list[str]) -> ModelFolder:
    """The bundled folder under a card with other labels."""
    original = ModelFolder.bundled(VERIFIER).path
    path.mkdir()
    for file in original.iterdir():
        if file.name != "card.json":
            (path / file.name).write_bytes(file.read_bytes())
    card = json.loads((original / "card.json").read_text())
    (path / "card.json").write_text(json.dumps({**card, "labels": labels}))
    return ModelFolder.open(path)


@pytest.mark.parametrize(
    "labels", [["neutral", "entails", "contradicts"], ["contradicts", "neutral", "entails"]], ids="-".join
)
def test_the_card_says_which_column_is_which(bundled: BundledJudge, tmp_path: Path, labels: list[str]):
    other = BundledJudge(folder_with_labels(tmp_path / "model", labels))
    model_columns = {"entails": ENTAILS, "contradicts": CONTRADICTS, "neutral": NEUTRAL}
    raw_order = [list(model_columns)[labels.index(label)] for label in model_columns]
    for mine, theirs in zip(bundled.judge(ALL), other.judge(ALL), strict=True):
        # The weights are the same, so the card moves the probabilities and changes none of them.
        expected = [mine.probabilities[model_columns[name]] for name in raw_order]
        assert theirs.probabilities == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize(
    "labels",
    [
        ["yes", "no", "maybe"],
        ["entails", "contradicts"],
        ["entails", "contradicts", "neutral", "other"],
        [],
    ],
    ids="-".join,
)
def test_a_model_with_other_labels_is_no_judge(tmp_path: Path, labels: list[str]):
    folder = folder_with_labels(tmp_path / "model", labels)
    with pytest.raises(ModelCardError, match="labels entails, contradicts, neutral") as caught:
        BundledJudge(folder)
    assert ", ".join(labels or ["none"]) in str(caught.value)


def test_an_embedder_is_no_judge():
    with pytest.raises(ModelCardError, match="found none"):
        BundledJudge(ModelFolder.bundled(EMBEDDER))


def test_judges_are_found_by_name_and_an_unknown_name_lists_them():
    assert isinstance(load_judge("bundled"), BundledJudge)
    assert isinstance(load_judge("lexical"), LexicalJudge)
    with pytest.raises(UnknownNameError, match=r"out of .*bundled, .*; found 'bundeled'. Did you mean 'bundled'"):
        load_judge("bundeled")


def test_the_signature_names_the_model_and_its_hash(bundled: BundledJudge):
    card = bundled.folder.card
    softened = f"(temperature={card.temperature:g})" if card.temperature != 1 else ""
    assert bundled.signature == f"{VERIFIER}@{card.files['model.onnx'][:12]}{softened}"


LEXICAL = {
    "the same words": ("Aspirin lowers fever.", "Aspirin lowers fever.", ENTAILS),
    "other case and number": ("ASPIRIN lowered fevers.", "aspirin lowered fever", ENTAILS),
    "more words in the premise": ("In adults aspirin lowers fever a lot.", "Aspirin lowers fever.", ENTAILS),
    "a negation in the premise": ("Aspirin does not lower fever.", "Aspirin does lower fever.", CONTRADICTS),
    "a negation in the claim": ("Aspirin can lower fever.", "Aspirin cannot lower fever.", CONTRADICTS),
    "a negation in both": ("Aspirin did not lower fever.", "Aspirin did not lower fever.", ENTAILS),
    "no word shared": ("The trial was in Norway.", "Aspirin lowers fever.", NEUTRAL),
    "one word shared": ("Aspirin was cheap.", "Aspirin lowers fever.", NEUTRAL),
    "an empty premise": ("", "Aspirin lowers fever.", NEUTRAL),
    "a claim of function words": ("It may be the one.", "It may be.", NEUTRAL),
}


@pytest.mark.parametrize(("premise", "claim", "expected"), LEXICAL.values(), ids=LEXICAL)
def test_the_lexical_judge_counts_shared_words(premise: str, claim: str, expected: int):
    assert word(LexicalJudge(), premise, claim) == expected


def test_the_lexical_judge_counts_no_function_word_that_ends_in_s():
    assert word(LexicalJudge(), "This was it, as it has its own.", "This was, as it has.") == NEUTRAL


@given(st.text(), st.text())
def test_the_lexical_judge_gives_probabilities_for_any_text(premise: str, claim: str):
    (found,) = LexicalJudge().judge([Pair(premise, claim)])
    assert found.failure is None
    assert bool((found.probabilities >= 0).all())
    assert float(found.probabilities.sum()) == pytest.approx(1, abs=1e-5)


def test_a_temperature_on_the_card_softens_the_probabilities_and_keeps_the_order(bundled: BundledJudge):
    cool, warm = (
        BundledJudge(replace(bundled.folder, card=bundled.folder.card.model_copy(update={"temperature": degrees})))
        for degrees in (1.0, 2.0)
    )
    pairs = [Pair(premise, claim) for premise, claim in ENTAILED]
    for cold, soft in zip(cool.judge(pairs), warm.judge(pairs), strict=True):
        expected = np.sqrt(cold.probabilities) / np.sqrt(cold.probabilities).sum()
        assert soft.probabilities == pytest.approx(expected, abs=1e-5)
    assert warm.signature == f"{cool.signature}(temperature=2)"


def test_a_packed_folder_is_a_judge_by_its_path(bundled: BundledJudge):
    judge = load_judge(f"packed:{WEIGHTS / VERIFIER}")
    pair = Pair("Zinc shortened colds by a day in adults.", "Zinc shortens colds.")
    (found,), (expected,) = list(judge.judge([pair])), list(bundled.judge([pair]))
    assert judge.signature == bundled.signature
    assert found.probabilities.tolist() == expected.probabilities.tolist()


@pytest.mark.parametrize("folder", ["", "/nowhere/at/all"])
def test_a_missing_folder_is_an_error(folder: str):
    with pytest.raises(VeriCiteError, match="expected"):
        load_judge(f"packed:{folder}")
