from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch", reason="torch is in the extra [train]")

import torch

from vericite.errors import InputError, ModelCardError
from vericite.models import Encoder, Pair
from vericite.train.network import CrossEncoder, Shape, logits_of
from vericite.train.relevance.calibrate import write_calibrated
from vericite.train.relevance.config import RelevanceConfig
from vericite.train.relevance.fit import TOKENIZER, main, prepare
from vericite.train.relevance.losses import list_losses, point_losses
from vericite.train.relevance.network import RelevanceNetwork, load_relevance
from vericite.train.relevance.ranking import CheckpointRanker

SMALL = Shape(30522, 16, 2, 2, 32, 64)
DRUGS = ("aspirin", "warfarin", "insulin", "metformin")

pytestmark = pytest.mark.hf


@pytest.fixture
def base(tmp_path: Path) -> Path:
    torch.manual_seed(0)
    CrossEncoder(SMALL).save(tmp_path / "base")
    return tmp_path / "base"


@pytest.fixture
def lists(tmp_path: Path) -> Path:
    path = tmp_path / "train.jsonl"
    rows = [
        {
            "question": f"What does {drug} do?",
            "positive": f"{drug} was given to {number} people.",
            "negatives": [f"{other} was given to {number} people." for other in DRUGS if other != drug],
            "source": "own",
            "group": f"q{number}",
        }
        for number in range(10)
        for drug in DRUGS
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def config(tmp_path: Path, **chosen: object) -> Path:
    path = tmp_path / "config.json"
    held = {
        "learning_rate": 0.004,
        "batch_examples": 16,
        "max_tokens": 48,
        "dropout": 0,
        "precision": "fp32",
        "average_from": 1,
    }
    path.write_text(json.dumps({**held, **chosen}), encoding="utf-8")
    return path


def test_a_list_in_which_all_are_alike_costs_the_logarithm_of_its_size() -> None:
    logits = torch.tensor([1.0, 1.0, 1.0, 0.5, 0.5])
    assert list_losses(logits, [3, 2]).tolist() == pytest.approx([math.log(3), math.log(2)])


def test_a_list_costs_less_the_higher_its_first_document_stands_and_is_blind_to_a_shift() -> None:
    logits = torch.tensor([0.0, 1.0, -1.0])
    (low,), (high,) = list_losses(logits, [3]), list_losses(logits + torch.tensor([3.0, 0.0, 0.0]), [3])
    (moved,) = list_losses(logits + 5, [3])
    assert high < low
    assert moved.item() == pytest.approx(low.item(), abs=1e-5)


def test_documents_on_their_own_are_measured_from_zero() -> None:
    (wrong,), (right,) = (point_losses(torch.tensor(value), [3]) for value in ([-4.0, 4.0, 4.0], [4.0, -4.0, -4.0]))
    (unsure,) = point_losses(torch.zeros(3), [3])
    assert right < unsure < wrong
    assert unsure.item() == pytest.approx(math.log(2))


def test_training_puts_the_relevant_document_first(base: Path, lists: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    told = ["--data", str(lists), "--base", str(base), "--out", str(out), "--config", str(config(tmp_path))]
    assert main([*told, "--lists", "1500"]) == 0
    ranker = CheckpointRanker(out / "model", max_tokens=48)
    pairs = [Pair(f"{other} was given to 5 people.", f"What does {drug} do?") for drug in DRUGS for other in DRUGS]
    said = ranker.of_pairs(pairs).reshape(4, 4)
    assert said.argmax(1).tolist() == [0, 1, 2, 3]
    held = json.loads((out / "model" / "config.json").read_text(encoding="utf-8"))
    assert held["id2label"] == {"0": "relevant"}
    assert main([*told, "--lists", "400"]) == 2, "the folder holds a run"


def test_a_source_of_rate_nought_is_not_seen(base: Path, lists: Path) -> None:
    run = prepare(lists, base, RelevanceConfig(max_tokens=48, rates={"own": 0.5}))
    assert run.plan.epoch_examples() == 80
    assert prepare(lists, base, RelevanceConfig(max_tokens=48, rates={"own/whole": 0})).plan.epoch_examples() == 0


def test_lists_of_several_sizes_are_refused(base: Path, lists: Path) -> None:
    rows = lists.read_text(encoding="utf-8").splitlines()
    short = json.loads(rows[0])
    lists.write_text("\n".join([*rows, json.dumps({**short, "negatives": ["one"]})]), encoding="utf-8")
    with pytest.raises(InputError, match="of one size"):
        prepare(lists, base, RelevanceConfig(max_tokens=48))


def test_a_verifier_gives_its_encoder_and_a_new_head(base: Path) -> None:
    network = load_relevance(base)
    assert network.classifier.weight.shape == (1, 16)
    verifier = CrossEncoder(SMALL)
    assert not torch.equal(network.pooler["dense"].weight, verifier.pooler["dense"].weight)
    with pytest.raises(ModelCardError, match="trained reranker"):
        load_relevance(base, trained=True)


def test_calibration_goes_into_the_weights(tmp_path: Path) -> None:
    torch.manual_seed(1)
    RelevanceNetwork(SMALL).save(tmp_path / "model")
    (tmp_path / "model" / "tokenizer.json").write_bytes(TOKENIZER.read_bytes())
    write_calibrated(tmp_path / "model", tmp_path / "out", temperature=0.5, bias=-1.0)
    rows = Encoder(TOKENIZER, 48).encode([Pair("Zinc is a metal.", "What is zinc?"), Pair("It rains.", "What is tin?")])
    before, after = (logits_of(load_relevance(tmp_path / name, trained=True), rows) for name in ("model", "out"))
    assert np.allclose(after, before / 0.5 - 1.0, atol=1e-5)
