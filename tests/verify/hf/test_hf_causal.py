"""Decoders that write AttrScore's labels behind the prompt."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch", reason="the extra [hf] is not installed")
pytest.importorskip("transformers", reason="the extra [hf] is not installed")

import tiny_models
import torch
import transformers
from tiny_models import PAIRS
from tokenizers import processors

from vericite.errors import ModelCardError
from vericite.models.contracts import CONTRADICTS, ENTAILS, NEUTRAL
from vericite.verify.judges.hf import ATTRSCORE_CAUSAL, CausalJudge
from vericite.verify.judges.registry import load_judge

pytestmark = pytest.mark.hf

ASKED = PAIRS[:1] + PAIRS[2:4]
COLUMN = {"Attributable": ENTAILS, "Extrapolatory": NEUTRAL, "Contradictory": CONTRADICTS}


def decoder(folder: Path, says: str) -> Path:
    """A GPT-2 that writes this word of its vocabulary behind any prompt, and then ends."""
    tokenizer = tiny_models._sentencepiece()
    tokenizer.backend_tokenizer.post_processor = processors.TemplateProcessing(single="$A", pair="$A $B")
    rows = len(tokenizer) + len(tokenizer) % 2
    config = transformers.GPT2Config(
        vocab_size=rows, n_embd=rows, n_layer=1, n_head=2, n_positions=1000, tie_word_embeddings=False
    )
    torch.manual_seed(0)
    model = transformers.GPT2LMHeadModel(config)
    word = tokenizer.convert_tokens_to_ids(f"\u2581{says}")
    with torch.no_grad():
        for weights in (*model.transformer.parameters(), *model.lm_head.parameters()):
            weights.zero_()
        # Every token has a dimension of its own. All lead to the word, and the word to the end.
        model.transformer.wte.weight.copy_(torch.eye(rows))
        model.transformer.ln_f.weight.fill_(1)
        model.transformer.ln_f.bias.fill_(1)
        model.lm_head.weight[word] = 1
        model.lm_head.weight[word, word] = -20
        model.lm_head.weight[1, word] = 1
    # What a checkpoint says of sampling must change nothing.
    model.generation_config.update(do_sample=True, temperature=5.0, eos_token_id=1, pad_token_id=0, bos_token_id=None)
    model.config.pad_token_id = 0
    return tiny_models._saved(model, tokenizer, folder)


@pytest.mark.parametrize(("says", "column"), COLUMN.items())
def test_a_decoder_writes_one_of_attrscores_labels(tmp_path: Path, says: str, column: int):
    judge = load_judge(f"hf-attrscore-causal:{decoder(tmp_path / 'model', says)}")
    for found in judge.judge(ASKED):
        assert (found.native, found.failure) == (says, None)
        assert int(found.probabilities.argmax()) == column
    assert judge.signature.startswith("hf-attrscore-causal:model@")


def test_what_is_no_label_is_a_failure_that_keeps_the_text(tmp_path: Path):
    judge = CausalJudge(str(decoder(tmp_path / "model", "maybe")), ATTRSCORE_CAUSAL, device="cpu")
    (found,) = judge.judge(ASKED[:1])
    assert found.failure and found.raw and "maybe" in found.raw


def test_a_batch_says_what_each_pair_alone_does(tmp_path: Path):
    torch.manual_seed(0)
    folder = decoder(tmp_path / "model", "Attributable")
    model = transformers.GPT2LMHeadModel.from_pretrained(folder)
    with torch.no_grad():
        model.transformer.h[0].attn.c_attn.weight.normal_(std=0.5)
        model.transformer.h[0].attn.c_proj.weight.normal_(std=0.5)
        model.transformer.h[0].ln_1.weight.fill_(1)
        model.lm_head.weight.normal_(std=0.5)
    model.save_pretrained(folder)
    judge = CausalJudge(str(folder), ATTRSCORE_CAUSAL, device="cpu")
    together = [found.raw for found in judge.judge(ASKED)]
    assert together == [found.raw for one in ASKED for found in judge.judge([one])]
    assert len(set(together)) > 1


def test_an_encoder_is_no_decoder(tmp_path: Path):
    with pytest.raises(ModelCardError):
        CausalJudge(str(tiny_models.asker(tmp_path / "t5")), ATTRSCORE_CAUSAL, device="cpu")
