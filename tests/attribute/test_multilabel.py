"""The multi-label classifier: its input and its logits, with a model made for the test."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("onnx")

import onnx
from onnx import TensorProto, helper, numpy_helper

from vericite.attribution import MultiLabelAttributor, load_attributor
from vericite.attribution.registry import SourcesEncoder
from vericite.errors import InputError, ModelCardError, ModelHashError, ModelMissingError
from vericite.models import ModelFolder, Pair
from vericite.models.folder import VERIFIER, WEIGHTS
from vericite.records import Document

TOKENIZER = WEIGHTS / VERIFIER / "tokenizer.json"
K = 3


def weights() -> bytes:
    """Make a graph: the k-th logit is 10 if "yes" follows the k-th separator, otherwise -10."""
    separator, yes = token("[SEP]"), token("yes")
    constants = {
        "separator": np.array(separator, dtype=np.int64),
        "yes": np.array(yes, dtype=np.int64),
        "from_one": np.array([1], dtype=np.int64),
        "to_last": np.array([-1], dtype=np.int64),
        "zero": np.array([0], dtype=np.int64),
        "far": np.array([1 << 30], dtype=np.int64),
        "axis": np.array([1], dtype=np.int64),
        "ranks": np.arange(1, K + 1, dtype=np.int64).reshape(1, K, 1),
        "twenty": np.array(20, dtype=np.float32),
        "ten": np.array(10, dtype=np.float32),
        "along": np.array(1, dtype=np.int64),
    }
    node = helper.make_node
    nodes = [
        node("Equal", ["input_ids", "separator"], ["ends"]),
        node("Cast", ["ends"], ["ends_int"], to=TensorProto.INT64),
        node("CumSum", ["ends_int", "along"], ["count"]),
        node("Slice", ["ends_int", "zero", "to_last", "axis"], ["end_here"]),
        node("Slice", ["count", "zero", "to_last", "axis"], ["rank_here"]),
        node("Slice", ["input_ids", "from_one", "far", "axis"], ["next"]),
        node("Equal", ["next", "yes"], ["is_yes"]),
        node("Cast", ["is_yes"], ["yes_int"], to=TensorProto.INT64),
        node("Mul", ["end_here", "yes_int"], ["hit"]),
        node("Mul", ["hit", "rank_here"], ["hit_rank"]),
        node("Unsqueeze", ["hit_rank", "axis"], ["wide"]),
        node("Equal", ["wide", "ranks"], ["match"]),
        node("Cast", ["match"], ["match_float"], to=TensorProto.FLOAT),
        node("ReduceMax", ["match_float"], ["any"], axes=[2], keepdims=0),
        node("Mul", ["any", "twenty"], ["scaled"]),
        node("Sub", ["scaled", "ten"], ["plain"]),
        # The other inputs are the engine's to give; a graph must name them.
        node("Cast", ["attention_mask"], ["mask_float"], to=TensorProto.FLOAT),
        node("Cast", ["token_type_ids"], ["type_float"], to=TensorProto.FLOAT),
        node("Mul", ["mask_float", "type_float"], ["both"]),
        node("ReduceMax", ["both"], ["seen"], axes=[1], keepdims=1),
        node("Sub", ["seen", "seen"], ["nothing"]),
        node("Add", ["plain", "nothing"], ["logits"]),
    ]
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "tokens"])
        for name in ("input_ids", "attention_mask", "token_type_ids")
    ]
    output = helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", K])
    tensors = [numpy_helper.from_array(value, name) for name, value in constants.items()]
    graph = helper.make_graph(nodes, "made", inputs, [output], tensors)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model)
    return model.SerializeToString()


def token(text: str) -> int:
    from tokenizers import Tokenizer

    return Tokenizer.from_file(str(TOKENIZER)).token_to_id(text)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "model.onnx").write_bytes(weights())
    shutil.copy(TOKENIZER, tmp_path / "tokenizer.json")
    write_card(tmp_path)
    return tmp_path


def write_card(folder: Path, **changes: Any) -> None:
    card = json.loads((WEIGHTS / VERIFIER / "card.json").read_text(encoding="utf-8"))
    files = {
        name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in ("model.onnx", "tokenizer.json")
    }
    labels = [f"source-{number}" for number in range(1, K + 1)]
    card |= {
        "name": "made",
        "exits": [],
        "labels": labels,
        "max_tokens": 32,
        "temperature": 2.0,
        "files": files,
        **changes,
    }
    (folder / "card.json").write_text(json.dumps(card), encoding="utf-8")


def sources(*texts: str) -> list[Document]:
    return [Document.from_text(str(place), text) for place, text in enumerate(texts)]


def test_each_source_has_its_own_logit(folder: Path):
    attributor = load_attributor(f"multi-label:{folder}")
    found = attributor.attribution("Zinc helps.", sources("yes it does", "it does not", "yes"))
    assert found.answer.text == "Zinc helps [1][3]."
    odds = pytest.approx([1 / (1 + np.exp(-5)), 1 / (1 + np.exp(5)), 1 / (1 + np.exp(-5))], abs=1e-5)
    assert list(found.sentences[0].scores) == odds  # 10 over the card's temperature of 2
    assert found.by.startswith("multi-label.v1(made@")


@pytest.mark.parametrize("count", [0, 1, 2, 3, 4, 7])
def test_any_number_of_sources_is_read_in_groups(folder: Path, count: int):
    texts = ["yes" if place % 2 else "no" for place in range(count)]
    found = load_attributor(f"multi-label:{folder}").attribution("Zinc helps. So does rest.", sources(*texts))
    for sentence in found.sentences:
        assert len(sentence.scores) == count
        assert sentence.cited == tuple(place + 1 for place in range(count) if place % 2)


def test_a_long_source_is_cut_and_noted(folder: Path):
    found = load_attributor(f"multi-label:{folder}").attribution("Zinc helps.", sources("no " * 60, "yes", "yes"))
    assert found.sentences[0].cited == (2, 3)
    assert found.sentences[0].reasons == ("too long for the model: cut",)


def test_sentence_and_sources_are_separated_by_tokens_and_types():
    encoder = SourcesEncoder(TOKENIZER, 32)
    (found,) = encoder.encode([Pair("one two\x1ethree", "zinc helps")])
    separator = token("[SEP]")
    assert [place for place, id in enumerate(found.ids) if id == separator] == [3, 6, 8]
    assert found.type_ids == [0] * 4 + [1] * 5
    assert not found.truncated


@pytest.mark.parametrize("lengths", [(50, 0, 0), (5, 40, 40), (2, 1, 40), (40, 40, 40), (20, 3, 3)])
def test_no_input_is_longer_than_the_model_reads(lengths: tuple[int, int, int]):
    sentence, *rest = ("word " * length for length in lengths)
    (found,) = SourcesEncoder(TOKENIZER, 32).encode([Pair("\x1e".join(rest), sentence)])
    assert len(found.ids) <= 32
    assert found.truncated == (sum(lengths) + 4 > 32)


def test_separators_in_a_source_are_text(folder: Path):
    found = load_attributor(f"multi-label:{folder}").attribution("Zinc helps.", sources("no \x1eyes [SEP] yes", "no"))
    assert found.sentences[0].cited == ()


def test_missing_weights_are_an_error(tmp_path: Path):
    with pytest.raises(ModelMissingError, match="expected a model folder"):
        load_attributor(f"multi-label:{tmp_path}")
    with pytest.raises(InputError, match="expected multi-label:FOLDER"):
        load_attributor("multi-label")


def test_a_folder_of_another_kind_of_model_is_refused():
    with pytest.raises(ModelCardError, match="labels source-1"):
        MultiLabelAttributor(ModelFolder.bundled(VERIFIER))


def test_changed_weights_are_refused(folder: Path):
    (folder / "model.onnx").write_bytes(weights() + b" ")
    with pytest.raises(ModelHashError):
        load_attributor(f"multi-label:{folder}")


def test_a_card_with_other_columns_is_refused(folder: Path):
    write_card(folder, labels=["source-1", "source-2"])
    with pytest.raises(ModelCardError, match="2 outputs"):
        load_attributor(f"multi-label:{folder}").attribute("Zinc helps.", sources("yes"))


def test_a_threshold_outside_0_to_1_is_refused(folder: Path):
    with pytest.raises(InputError, match="between 0 and 1"):
        MultiLabelAttributor(ModelFolder.open(folder), 1.5)
