from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

pytest.importorskip("onnx")

import onnx
from onnx import TensorProto, helper, numpy_helper
from test_int8_graph import random_weights
from tokenizers import Tokenizer

from vericite.errors import ModelCardError
from vericite.lab.train.data import TOKENIZER
from vericite.lab.train.int8_graph import Weights
from vericite.lab.train.pack import WORDS, cut_to, read_dynamic
from vericite.models import Pair
from vericite.models.folder import EMBEDDER, WEIGHTS
from vocabulary import cut, texts_in
from vocabulary import main as cut_main

FULL = json.loads(TOKENIZER.read_text(encoding="utf-8"))
CUT = WEIGHTS / EMBEDDER / "tokenizer.json"


def rounded(value: NDArray[np.float32], signed: bool) -> tuple[NDArray[Any], NDArray[np.float32], NDArray[Any]]:
    """Return 8-bit values, their scale and their zero point, in the form of dynamic quantisation."""
    if signed:
        scale = np.abs(value).max() / 127
        return np.rint(value / scale).astype(np.int8), np.float32(scale), np.int8(0)
    low, high = min(value.min(), 0), max(value.max(), 0)
    scale = (high - low) / 255
    zero = np.rint(-low / scale)
    return (np.rint(value / scale) + zero).astype(np.uint8), np.float32(scale), np.uint8(zero)


def exported(weights: Weights, biases: bool = True) -> onnx.ModelProto:
    """Make a graph like an export: products lost their names; biases, norms and tables kept them."""
    nodes: list[onnx.NodeProto] = []
    held: dict[str, Any] = {}
    for place, (name, value) in enumerate(weights.items()):
        full = name if name.startswith("classifier") else f"bert.{name}"
        if name.endswith(".bias") or "LayerNorm" in name:
            held[full] = value
            continue
        table = name.endswith("embeddings.weight")
        stored = full if table else f"onnx::MatMul_{place}"
        parts = rounded(value if table else value.T, signed=not table)
        held |= {
            f"{stored}_{part}": value for part, value in zip(("quantized", "scale", "zero_point"), parts, strict=True)
        }
        if not table:
            bias = full.removesuffix("weight") + "bias"
            nodes += [
                helper.make_node("MatMulInteger", ["x", f"{stored}_quantized"], [f"{place}.product"], name=f"p{place}"),
                helper.make_node("Cast", [f"{place}.product"], [f"{place}.cast"], to=TensorProto.FLOAT),
                helper.make_node("Mul", [f"{place}.cast", "scale"], [f"{place}.scaled"]),
                helper.make_node("Add", [bias if biases else "x", f"{place}.scaled"], [f"{place}.out"]),
            ]
    constants = [numpy_helper.from_array(np.asarray(value), name) for name, value in held.items()]
    return helper.make_model(helper.make_graph(nodes, "exported", [], [], constants))


def test_an_exported_graph_gives_back_every_weight_by_its_name(tmp_path: Path):
    weights = random_weights(7)
    onnx.save(exported(weights), tmp_path / "model.onnx")
    found = read_dynamic(tmp_path / "model.onnx")
    assert found.keys() == weights.keys()
    for name, value in weights.items():
        assert found[name].shape == value.shape, name
        assert np.abs(found[name] - value).max() <= np.ptp(value) / 200, name


def test_a_product_without_a_bias_is_not_guessed_at(tmp_path: Path):
    onnx.save(exported(random_weights(7), biases=False), tmp_path / "model.onnx")
    with pytest.raises(ModelCardError, match="expected a bias after every product; found none after p"):
        read_dynamic(tmp_path / "model.onnx")


def tokenizer(*words: str) -> Tokenizer:
    model = {**FULL["model"], "vocab": {word: number for number, word in enumerate(words)}}
    return Tokenizer.from_str(json.dumps({**FULL, "added_tokens": [], "post_processor": None, "model": model}))


def test_words_keep_their_rows_in_a_cut_tokenizers_order():
    rows = np.arange(8, dtype=np.float32).reshape(4, 2)
    found = cut_to({WORDS: rows, "other": rows}, tokenizer("[UNK]", "a", "b", "c"), tokenizer("[UNK]", "c", "a"))
    assert found[WORDS].tolist() == [[0, 1], [6, 7], [2, 3]]
    assert found["other"] is rows


def test_a_word_unknown_to_the_checkpoint_is_refused():
    with pytest.raises(ModelCardError, match="found 1 unknown words, such as 'zinc'"):
        cut_to({WORDS: np.zeros((2, 2), dtype=np.float32)}, tokenizer("[UNK]", "a"), tokenizer("[UNK]", "zinc"))


def test_words_of_the_texts_are_kept_and_no_character_is_lost(tmp_path: Path):
    (tmp_path / "full.json").write_text(json.dumps(FULL), encoding="utf-8")
    (tmp_path / "texts.jsonl").write_text(json.dumps({"text": "Metformin lowers haemoglobin in 30 adults."}) + "\n")
    size, out = 2100, tmp_path / "cut.json"
    options = ["--tokenizer", str(tmp_path / "full.json"), "--texts", str(tmp_path / "texts.jsonl")]
    assert cut_main([*options, "--size", str(size), "--out", str(out)]) == 0
    made = Tokenizer.from_file(str(out))
    assert made.get_vocab_size() <= size
    full = Tokenizer.from_str(json.dumps(FULL))
    assert made.encode("Metformin in adults").tokens == full.encode("Metformin in adults").tokens
    # A word in no text is split into shorter pieces, and every character is still a token.
    assert "[UNK]" not in made.encode("bolsheviks \u03b2-\u03b1 \u00b5g \u4e2d").tokens
    assert made.encode("bolsheviks").tokens != full.encode("bolsheviks").tokens
    assert "".join(token.removeprefix("##") for token in made.encode("bolsheviks").tokens[1:-1]) == "bolsheviks"


def test_fewer_words_than_characters_are_refused():
    with pytest.raises(SystemExit, match="the characters alone; found 10"):
        cut(FULL, {}, 10)


def test_numbers_and_labels_are_not_texts(tmp_path: Path):
    (tmp_path / "a.json").write_text(
        json.dumps({"id": "x1", "n": 3, "all": ["http://address.of.a/page/that/is/long", "y" * 30]})
    )
    assert list(texts_in(tmp_path / "a.json")) == ["y" * 30]


def test_the_shipped_tokenizer_is_cut_from_the_full_one_and_agrees_on_special_tokens():
    made, full = Tokenizer.from_file(str(CUT)), FULL["model"]["vocab"]
    vocabulary = made.get_vocab()
    assert vocabulary.keys() < full.keys()
    order = sorted(vocabulary, key=vocabulary.__getitem__)
    assert order == sorted(order, key=full.__getitem__) and vocabulary["[PAD]"] == 0
    encoded = made.encode(*Pair("Zinc did not shorten colds.", "Does zinc help?")[:2])
    assert encoded.tokens[0] == "[CLS]" and encoded.tokens.count("[SEP]") == 2
    assert [made.id_to_token(number) for number in encoded.ids] == encoded.tokens
