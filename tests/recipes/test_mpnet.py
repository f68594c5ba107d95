"""An MPNet read as our own network: the same logits as transformers gives, there and back."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch", reason="torch is in the extra [train]")
pytest.importorskip("transformers", reason="transformers is in the extra [hf]")

import torch

from release.teach import open_scorer
from vericite.lab.train.configs import FitConfig
from vericite.lab.train.data import TOKENIZER
from vericite.lab.train.fit import make_optimizer
from vericite.lab.train.network import CrossEncoder, Shape, distances, load_network, logits_of, write_tokenizer
from vericite.models import Encoder, Pair

pytestmark = pytest.mark.hf

PAIRS = [
    Pair("Zinc shortened colds by a day in adults.", "Zinc shortens colds."),
    Pair("We gave honey. " * 40, "Coughs were soothed by honey in children."),
    Pair("Nobody died.", "naïve Ω words"),
]
SMALL = Shape(30522, 16, 3, 2, 32, 512, type_vocab_size=0, layer_norm_eps=1e-5, relative_attention_num_buckets=32)


def theirs(folder: Path):
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    return AutoModelForSequenceClassification.from_pretrained(folder).eval(), AutoTokenizer.from_pretrained(folder)


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    """A small MPNet of ours, its distances made to matter."""
    torch.manual_seed(3)
    network = CrossEncoder(SMALL)
    for parameter in network.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    network.save(tmp_path / "mpnet")
    write_tokenizer(TOKENIZER, tmp_path / "mpnet")
    return tmp_path / "mpnet"


def test_transformers_loads_it_and_says_the_same(saved: Path):
    model, tokenizer = theirs(saved)
    assert type(model).__name__ == "MPNetForSequenceClassification"
    read = tokenizer(
        [pair.premise for pair in PAIRS], [pair.claim for pair in PAIRS], padding=True, return_tensors="pt"
    )
    with torch.inference_mode():
        expected = model(**read).logits.numpy()
    ours = logits_of(load_network(saved).eval(), Encoder(TOKENIZER, 512).encode(PAIRS))
    assert np.ptp(expected) > 0.1
    np.testing.assert_allclose(ours, expected, atol=1e-4)


def test_there_and_back_changes_nothing(saved: Path, tmp_path: Path):
    network = load_network(saved)
    network.save(tmp_path / "again")
    again = load_network(tmp_path / "again")
    for name, value in network.state_dict().items():
        assert torch.equal(value, again.state_dict()[name]), name


def test_a_checkpoint_is_scored_with_our_own_ids(saved: Path):
    model, tokenizer = theirs(saved)
    read = tokenizer(PAIRS[0].premise, PAIRS[0].claim, return_tensors="pt")
    with torch.inference_mode():
        expected = model(**read).logits.softmax(-1).numpy()
    np.testing.assert_allclose(open_scorer(saved).probabilities(PAIRS[:1]), expected, atol=1e-4)


def test_distances_are_those_of_transformers():
    from transformers.models.mpnet.modeling_mpnet import MPNetEncoder

    places = torch.arange(300)
    expected = MPNetEncoder.relative_position_bucket(places[None, :] - places[:, None], num_buckets=32)
    assert torch.equal(distances(300, 32), expected)


def test_layers_that_are_frozen_keep_their_weights():
    network = CrossEncoder(SMALL)
    make_optimizer(network, FitConfig(freeze_layers=2, freeze_embeddings=True))
    moving = {name for name, parameter in network.named_parameters() if parameter.requires_grad}
    assert not any(name.startswith(("embeddings.", "encoder.layer.0.", "encoder.layer.1.")) for name in moving)
    assert any(name.startswith("encoder.layer.2.") for name in moving)
    assert "encoder.relative_attention_bias.weight" not in moving


def test_packed_it_says_nearly_the_same_alone_and_padded(saved: Path):
    pytest.importorskip("onnx", reason="onnx is in the extra [train]")
    import onnxruntime

    from vericite.lab.train.int8_graph import build
    from vericite.lab.train.pack import read_safetensors

    model = build(read_safetensors(saved / "model.safetensors"), SMALL.num_attention_heads, "classifier", None)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    rows = Encoder(TOKENIZER, 512).encode(PAIRS)
    length = max(len(row.ids) for row in rows)
    ids = np.zeros((len(rows), length), dtype=np.int64)
    mask = np.zeros_like(ids)
    for place, row in enumerate(rows):
        ids[place, : len(row.ids)], mask[place, : len(row.ids)] = row.ids, 1

    def run(ids: np.ndarray, mask: np.ndarray) -> np.ndarray:
        inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        return np.asarray(session.run(["logits"], inputs)[0])

    together = run(ids, mask)
    expected = logits_of(load_network(saved).eval(), rows)
    assert np.abs(together - expected).max() < 0.1 * np.ptp(expected)
    for place, row in enumerate(rows):
        size = len(row.ids)
        np.testing.assert_allclose(
            run(ids[place : place + 1, :size], mask[place : place + 1, :size])[0], together[place], atol=1e-5
        )
