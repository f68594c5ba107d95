"""LoRA training end to end with tiny random decoders: a label for each source, and cited answers. Needs [train]."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = [
    pytest.mark.hf,
    # Warnings of transformers about calls by peft.
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]

pytest.importorskip("torch")
pytest.importorskip("peft")

WORDS = "[1] [2] [3] . , : ? Sources Question Sentence Answer zinc iron shortens colds days trial does help yes".split()
CONFIG = {
    "rank": 2,
    "alpha": 4,
    "batch": 2,
    "epochs": 2,
    "max_tokens": 128,
    "learning_rate": 0.01,
    "checkpoint_steps": 1,
    "threads": 1,
}


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a Llama with two layers, random weights and a vocabulary of words."""
    import torch
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    folder = tmp_path_factory.mktemp("base")
    words = Tokenizer(WordLevel({word: at for at, word in enumerate(["<unk>", "</s>", *WORDS])}, unk_token="<unk>"))
    words.pre_tokenizer = Whitespace()
    PreTrainedTokenizerFast(tokenizer_object=words, unk_token="<unk>", eos_token="</s>").save_pretrained(str(folder))
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(WORDS) + 2,
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=2,
        max_position_embeddings=256,
        eos_token_id=1,
    )
    LlamaForCausalLM(config).save_pretrained(str(folder))
    return folder


def lines(path: Path, prefix: str, count: int) -> Path:
    rows = [
        {
            "id": f"{prefix}{number}",
            "question": f"Does zinc help, {prefix} {number}?",
            "sentence": f"zinc shortens colds in trial {prefix}{number}.",
            "sources": [{"id": "a", "text": "zinc shortens colds"}, {"id": "b", "text": "iron does help"}],
            "supports": [1],
            "group": f"{prefix}{number}",
        }
        for number in range(count)
    ]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture
def asked(tmp_path: Path, base: Path) -> Callable[..., list[str]]:
    config = tmp_path / "config.json"
    config.write_text(json.dumps(CONFIG), encoding="utf-8")
    data, dev = lines(tmp_path / "data.jsonl", "t", 6), lines(tmp_path / "dev.jsonl", "d", 2)

    def words(command: str, out: str, *more: str) -> list[str]:
        named = ("--data", data, "--dev", dev, "--base", base, "--config", config, "--out", tmp_path / out)
        return ["train", command, *map(str, named), *more]

    return words


def test_a_decoder_learns_a_label_for_each_source(
    asked: Callable[..., list[str]], tmp_path: Path, run_cli: Callable[..., Any]
):
    printed = run_cli(*asked("attribution", "out"))
    assert printed.code == 0, printed.err
    assert "dev citation F1: 1" in printed.out
    out = tmp_path / "out"
    manifest = json.loads((out / "manifest.json").read_text("utf-8"))
    assert manifest["finished"] and manifest["stages"][0]["steps"] == 6
    assert manifest["parameters"]["trained"] < manifest["parameters"]["all"]
    assert (out / "adapter" / "adapter_config.json").exists() and (out / "head.safetensors").exists()
    rows = [json.loads(line) for line in (out / "dev-predictions.jsonl").read_text("utf-8").splitlines()]
    assert [row["id"] for row in rows] == ["d0", "d1"]
    assert rows[0]["probabilities"][2:] == [0, 0, 0]  # there are two sources


def test_a_trained_decoder_is_loaded_to_cite(
    asked: Callable[..., list[str]], tmp_path: Path, run_cli: Callable[..., Any]
):
    from vericite.attribution import load_attributor
    from vericite.attribution.decoder import CARD, DecoderAttributor, ShownToDecoder

    assert run_cli(*asked("attribution", "out")).code == 0
    out = tmp_path / "out"
    decoder = load_attributor(f"hf:{out}")
    assert isinstance(decoder, DecoderAttributor) and decoder.signature.startswith("decoder.v1(base")
    row = json.loads((out / "dev-predictions.jsonl").read_text("utf-8").splitlines()[0])
    shown = ShownToDecoder(
        "Does zinc help, d 0?",
        "zinc shortens colds in trial d0.",
        (("", "zinc shortens colds"), ("", "iron does help")),
    )
    assert decoder.probabilities(shown) == pytest.approx(row["probabilities"][:2], abs=1e-5)
    answers = tmp_path / "answers.jsonl"
    documents = [{"id": str(number), "text": f"zinc shortens colds {number}"} for number in range(7)]
    answers.write_text(json.dumps({"id": "a", "answer": "zinc shortens colds.", "documents": documents}), "utf-8")
    printed = run_cli("attribute", str(answers), "--by", f"hf:{out}", "--json")
    assert printed.code == 0, printed.err
    assert len(json.loads(printed.out)["sentences"][0]["scores"]) == 7  # more documents than labels
    (out / CARD).write_text("{}", encoding="utf-8")
    assert "expected a decoder's decoder.json" in run_cli("attribute", str(answers), "--by", f"hf:{out}").err
    assert "train attribution --base" in run_cli("attribute", str(answers), "--by", f"hf:{tmp_path}").err


def test_a_decoder_learns_to_write_answers(
    asked: Callable[..., list[str]], tmp_path: Path, run_cli: Callable[..., Any]
):
    ask = lines(tmp_path / "ask.jsonl", "a", 2)
    printed = run_cli(*asked("inline", "out", "--ask", str(ask), "--set", "new_tokens=8"))
    assert printed.code == 0, printed.err
    answers = [json.loads(line) for line in (tmp_path / "out" / "answers.jsonl").read_text("utf-8").splitlines()]
    assert [answer["id"] for answer in answers] == ["a0", "a1"]
    assert all(len(answer["documents"]) == 2 for answer in answers)
    assert "llama.cpp: adapter.gguf" in printed.out
    plain = run_cli(*asked("inline", "plain", "--ask", str(ask), "--set", "new_tokens=8", "--set", "untrained=true"))
    assert plain.code == 0, plain.err
    assert not (tmp_path / "plain" / "adapter").exists()


def test_an_adapter_is_exported_in_the_format_of_llama_cpp(
    asked: Callable[..., list[str]], tmp_path: Path, run_cli: Callable[..., Any]
):
    import gguf
    import numpy as np
    from safetensors.numpy import load_file

    from vericite.lab.train.inline import interleaved

    assert run_cli(*asked("inline", "out")).code == 0
    reader = gguf.GGUFReader(tmp_path / "out" / "adapter.gguf")
    assert reader.fields["adapter.lora.alpha"].contents() == 4
    assert reader.fields["general.architecture"].contents() == "llama"
    own = {tensor.name: np.array(tensor.data) for tensor in reader.tensors}
    assert len(own) == 2 * 2 * 2  # layers, targets, matrices
    theirs = load_file(tmp_path / "out" / "adapter" / "adapter_model.safetensors")
    layer = "base_model.model.model.layers.1.self_attn."
    assert np.array_equal(own["blk.1.attn_v.weight.lora_b"], theirs[f"{layer}v_proj.lora_B.weight"])
    assert np.array_equal(own["blk.1.attn_q.weight.lora_a"], theirs[f"{layer}q_proj.lora_A.weight"])
    turned = own["blk.1.attn_q.weight.lora_b"]
    assert np.array_equal(turned, interleaved(theirs[f"{layer}q_proj.lora_B.weight"], 2))
    # In each of two heads of eight rows, the rows of the two halves alternate.
    rows = interleaved(np.arange(16, dtype=np.float32)[:, None], 2)[:, 0].tolist()
    assert rows == [0, 4, 1, 5, 2, 6, 3, 7, 8, 12, 9, 13, 10, 14, 11, 15]


def test_the_loss_covers_the_answer_only(base: Path):
    from transformers import AutoTokenizer

    from vericite.lab.train.examples import ExampleSource
    from vericite.lab.train.inline import encoded
    from vericite.lab.train.written import Cited

    tokenizer = AutoTokenizer.from_pretrained(str(base))
    source = ExampleSource(id="s", text="zinc shortens colds")
    learnt = encoded(Cited("a", "Does zinc help ?", (source,), ("zinc shortens colds .",), (1.0,)), tokenizer, 128)
    assert learnt
    counted = [token for token, weight in zip(learnt.ids, learnt.weights, strict=True) if weight]
    assert tokenizer.decode(counted) == "zinc shortens colds . </s>"
    assert learnt.ids[-len(counted) :] == counted


@pytest.mark.parametrize("command", ["attribution", "inline"])
def test_a_killed_run_ends_with_the_same_weights(asked: Callable[..., list[str]], tmp_path: Path, command: str):
    def run(out: str) -> subprocess.Popen[bytes]:
        words = [sys.executable, "-m", "vericite", *asked(command, out)]
        return subprocess.Popen(words, env={**os.environ, "VERICITE_OFFLINE": "1"}, stderr=subprocess.DEVNULL)

    folder = tmp_path / "killed" / ("stage-1" if command == "attribution" else "steps")
    process = run("killed")
    end = time.monotonic() + 300
    while not list(folder.glob("checkpoint-*")) and process.poll() is None and time.monotonic() < end:
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert list(folder.glob("checkpoint-*")) and not (tmp_path / "killed" / "adapter").exists()
    for out in ("killed", "whole"):
        assert run(out).wait() == 0
    named = "adapter/adapter_model.safetensors"
    assert (tmp_path / "killed" / named).read_bytes() == (tmp_path / "whole" / named).read_bytes()


def test_half_precision_applies_to_the_decoder_only(base: Path):
    import torch

    from vericite.attribution.decoder import load_decoder
    from vericite.lab.train.configs import LoraConfig
    from vericite.lab.train.lora import adapted, trained

    model = adapted(load_decoder(str(base), causal=True)[0], LoraConfig(precision="bf16"), causal=True)
    assert {weight.dtype for weight in trained(model).values()} == {torch.float32}
    assert {weight.dtype for weight in model.parameters() if not weight.requires_grad} == {torch.bfloat16}
    assert torch.isfinite(model(input_ids=torch.tensor([[2, 3, 4]])).logits.float()).all()


def test_an_unusable_base_is_an_error(asked: Callable[..., list[str]], tmp_path: Path, run_cli: Callable[..., Any]):
    words = asked("inline", "out")
    words[words.index("--base") + 1] = str(tmp_path / "nowhere.gguf")
    printed = run_cli(*words)
    assert printed.code == 2 and "expected a decoder in" in printed.err
    words[words.index("--base") + 1] = str(tmp_path / "nowhere")
    printed = run_cli(*words)
    assert printed.code == 3 and "expected a checkpoint's folder" in printed.err
    (tmp_path / "config.json").write_text(json.dumps({**CONFIG, "targets": ["nothing"]}), encoding="utf-8")
    printed = run_cli(*asked("inline", "another"))
    assert printed.code == 2 and "all-linear" in printed.err
