"""Encoders from checkpoints: BERTScore by a layer's tokens, and MAUVE's vectors by the last token of a decoder."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch", reason="the extra [hf] is not installed")
pytest.importorskip("transformers", reason="the extra [hf] is not installed")

import tiny_models
import torch
import transformers
from tiny_models import KINDS, POSITIONS

from vericite.errors import InputError
from vericite.evaluate.encoders import CheckpointTokens, load_text_encoder, load_token_encoder, overlap
from vericite.evaluate.systems import read_system

pytestmark = pytest.mark.hf

TEXTS = ["Aspirin lowers fever in adults .", "The trial enrolled 400 adults in Norway .", "lower mortality"]
SCORED = Path(__file__).parents[3] / "examples" / "score"
LONG = "Statins lowered LDL cholesterol . " * 20


@pytest.fixture(scope="module")
def checkpoints(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Path]:
    folder = tmp_path_factory.mktemp("encoders")
    return {kind: tiny_models.classifier(kind, folder / kind) for kind in KINDS}


@pytest.fixture(scope="module")
def decoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """GPT-2, which has no token to fill a batch with."""
    folder = tmp_path_factory.mktemp("decoder") / "gpt2"
    tokenizer = tiny_models._bytes()
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer.backend_tokenizer,
        eos_token="</s>",
        unk_token="<unk>",
        model_input_names=["input_ids", "attention_mask"],
    )
    config = transformers.GPT2Config(
        vocab_size=len(tokenizer),
        n_positions=64,
        n_embd=16,
        n_layer=2,
        n_head=2,
        initializer_range=0.5,
        bos_token_id=0,
        eos_token_id=2,
    )
    torch.manual_seed(0)
    transformers.GPT2LMHeadModel(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def hidden(folder: Path, texts: list[str], layer: int, limit: int = POSITIONS) -> tuple[Any, Any, Any]:
    """A layer's states of a plain forward pass over a batch, the mask, and the ids."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModel.from_pretrained(folder).eval()
    space = " " if model.config.model_type == "roberta" else ""
    inputs = tokenizer(
        [space + text for text in texts], truncation=True, max_length=limit, return_tensors="pt", padding=True
    )
    if model.config.model_type == "roberta":
        inputs.pop("token_type_ids", None)
    with torch.no_grad():
        states = model(**inputs, output_hidden_states=True).hidden_states[layer]
    return states, inputs["attention_mask"], inputs["input_ids"]


def greedy(folder: Path, answers: list[str], references: list[str], layer: int) -> np.ndarray:
    """bert-score's greedy_cos_idf, whose weights are 0 for tokens that frame a text and 1 for others."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)

    def side(texts: list[str]) -> tuple[Any, Any, Any]:
        states, mask, ids = hidden(folder, texts, layer)
        frame = torch.isin(ids, torch.tensor([tokenizer.cls_token_id, tokenizer.sep_token_id]))
        return states / states.norm(dim=-1, keepdim=True), mask, mask * ~frame

    (hyp, hyp_mask, hyp_weight), (ref, ref_mask, ref_weight) = side(answers), side(references)
    likeness = torch.bmm(hyp, ref.transpose(1, 2))
    outside = torch.bmm(hyp_mask.unsqueeze(2).float(), ref_mask.unsqueeze(1).float()) == 0
    likeness = likeness.masked_fill(outside, -2)
    precision = (likeness.max(dim=2).values * hyp_weight).sum(dim=1) / hyp_weight.sum(dim=1)
    recall = (likeness.max(dim=1).values * ref_weight).sum(dim=1) / ref_weight.sum(dim=1)
    return torch.stack([precision, recall, 2 * precision * recall / (precision + recall)], dim=1).numpy()


@pytest.mark.parametrize("layer", [1, 2])
@pytest.mark.parametrize("kind", KINDS)
def test_scores_are_those_of_bert_scores_own_matching(checkpoints: Mapping[str, Path], kind: str, layer: int):
    answers, references = [*TEXTS, LONG], [TEXTS[1], TEXTS[0], TEXTS[0], TEXTS[1]]
    model = CheckpointTokens(str(checkpoints[kind]), layer)
    made, right = list(model.tokens(answers)), list(model.tokens(references))
    found = [overlap(*pair) for pair in zip(made, right, strict=True)]
    assert np.array(found) == pytest.approx(greedy(checkpoints[kind], answers, references, layer), abs=1e-4)
    assert [text.cut for text in made] == [False, False, False, True]
    assert model.signature.startswith(f"hf:{kind}@") and model.signature.endswith(f"(layer {layer})")


def test_a_layer_is_named_or_the_one_that_bert_score_takes(
    checkpoints: Mapping[str, Path], monkeypatch: pytest.MonkeyPatch
):
    folder = checkpoints["bert"]
    assert CheckpointTokens(str(folder)).layer == 2
    monkeypatch.setattr("vericite.evaluate.encoders.LAYERS", {"bert": 1})
    assert CheckpointTokens(str(folder)).layer == 1
    assert "(layer 2)" in load_token_encoder(f"hf:{folder}#2").signature
    for layer in (0, 3):
        with pytest.raises(InputError, match=r"expected a layer of bert.* from 1 to 2"):
            load_token_encoder(f"hf:{folder}#{layer}")


def test_a_decoder_encodes_a_text_by_its_last_token(decoder: Path):
    encoder = load_text_encoder(f"hf:{decoder}")
    found = encoder.embed([*TEXTS, LONG])
    tokenizer = transformers.AutoTokenizer.from_pretrained(decoder)
    model = transformers.AutoModel.from_pretrained(decoder).eval()
    for text, vector in zip([*TEXTS, LONG], found, strict=True):
        ids = tokenizer([text], truncation=True, max_length=64, return_tensors="pt")["input_ids"]
        with torch.no_grad():
            expected = model(input_ids=ids).last_hidden_state[0, -1].numpy()
        assert vector == pytest.approx(expected, abs=1e-4)
    assert "(last, " in encoder.signature


def test_an_encoder_encodes_a_text_by_the_mean(checkpoints: Mapping[str, Path]):
    assert "(mean, " in load_text_encoder(f"hf:{checkpoints['bert']}").signature


def test_the_command_computes_by_checkpoints(run_cli, checkpoints: Mapping[str, Path], decoder: Path, tmp_path: Path):
    folder = Path(shutil.copytree(SCORED / "first", tmp_path / "first"))
    judge = tiny_models.writer(tmp_path / "true", ["▁1"])
    for what, model, signed in (
        ("bertscore", f"hf:{checkpoints['roberta']}#1", "by bertscore(hf:roberta@"),
        ("mauve-features", f"hf:{decoder}", "by mauve-features(hf:gpt2@"),
        ("claim-entailment", f"hf-seq2seq:{judge}", "by claim-entailment(hf-seq2seq:true@"),
    ):
        printed = run_cli("compute", what, str(folder), "--gold", str(SCORED / "gold.jsonl"), "--with", model)
        assert printed.code == 0 and signed in printed.out, printed
        again = run_cli("compute", what, str(folder), "--gold", str(SCORED / "gold.jsonl"))
        assert again.code == 2 and "move that file away" in again.err
    items = read_system(folder, {}).system("first").items
    assert {item.scores["claims_entailed"] for item in items if item.scores} == {1.0}
