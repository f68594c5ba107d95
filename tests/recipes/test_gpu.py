"""Training on a borrowed GPU: the same networks and batches as ours, and a run from pairs to a checkpoint."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch", reason="torch is in the extra [train]")
pytest.importorskip("transformers", reason="transformers is in the extra [hf]")
pytest.importorskip("gguf", reason="gguf is in the extra [train]")

import gguf
import torch
from safetensors.torch import load_file, save_file

from gpu.__main__ import main
from gpu.arrays import Arrays, write
from gpu.fit import DEFAULTS, State, as_it_was, auc, losses, margins, neutral_offset, predict, softmax, total_loss
from gpu.networks import Blocks, EncoderNet, LanguageJudge, from_checkpoint, load_base, to_checkpoint
from vericite.lab.train.data import TOKENIZER
from vericite.lab.train.fit import label_losses, margin_losses, taught_losses
from vericite.lab.train.network import CrossEncoder, Shape, load_network, logits_of
from vericite.models import Encoder, Pair

pytestmark = pytest.mark.hf

LABELS = ("entails", "contradicts", "neutral")
BERT = Shape(30522, 24, 2, 2, 48, 512)
MPNET = Shape(30522, 24, 2, 2, 48, 512, type_vocab_size=0, relative_attention_num_buckets=32)


def pair(number: int, **more: Any) -> dict[str, Any]:
    premise = f"Drug {number} lowered mortality by {number} % in {100 + number} adults. " * (1 + number % 7)
    held = {
        "premise": premise,
        "claim": f"Drug {number} saves lives.",
        "label": LABELS[number % 3],
        "source": "scifact",
    }
    return {**held, "kind": "rationale", "group": f"g{number}", **more}


@pytest.fixture
def mix(tmp_path: Path) -> Path:
    folder = tmp_path / "mix"
    (folder / "dev").mkdir(parents=True)
    twins = [pair(n, twin=f"t{n // 2}", label=LABELS[n % 2]) for n in range(100, 108)]
    files = {
        "train.jsonl": [pair(n) for n in range(40)] + twins,
        "warmup.jsonl": [pair(n, source="esnli") for n in range(50, 56)],
        "dev/scifact_dev.jsonl": [pair(n) for n in range(60, 72)],
        "dev/wice_dev.jsonl": [pair(n, binary=True, source="wice") for n in range(80, 89)],
        "dev/scifact_dev_doc.jsonl": [],
        "pool.jsonl": [pair(n, kind="unlabelled") for n in range(20, 30)],
    }
    for name, rows in files.items():
        (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


def written(mix: Path, language: Path | None = None) -> Path:
    data = mix / "data.npz"
    write(mix, mix / "pool.jsonl", TOKENIZER, language, data)
    return data


def test_a_batch_is_what_our_encoder_makes(mix: Path) -> None:
    arrays = Arrays(written(mix), "encoder", 48, "cpu")
    words = np.load(mix / "words.npy")
    rows = [json.loads(line) for line in (mix / "train.jsonl").read_text().splitlines()]
    chosen = np.array([3, 6, 0, 40])
    ids, kinds, lengths = arrays.batch(chosen)
    encoded = Encoder(TOKENIZER, 48).encode([Pair(rows[row]["premise"], rows[row]["claim"]) for row in chosen])
    assert any(row.truncated for row in encoded)
    for place, row in enumerate(encoded):
        assert words[ids[place, : lengths[place]].numpy()].tolist() == row.ids
        assert kinds[place, : lengths[place]].tolist() == row.type_ids


@pytest.mark.parametrize("shape", [BERT, MPNET], ids=["bert", "mpnet"])
def test_an_encoder_computes_what_ours_does_and_goes_back(mix: Path, shape: Shape) -> None:
    torch.manual_seed(0)
    theirs = CrossEncoder(shape).eval()
    arrays, words = Arrays(written(mix), "encoder", 512, "cpu"), np.load(mix / "words.npy")
    held = {name: value.numpy() for name, value in theirs.state_dict().items()}
    sizes = {"width": 24, "inner": 48, "layers": 2, "heads": 2, "words": len(words), "places": 512}
    kinds = {"kinds": shape.type_vocab_size, "epsilon": 1e-12, "buckets": shape.relative_attention_num_buckets}
    ours = EncoderNet({**sizes, **kinds})
    weights = {name: torch.from_numpy(np.array(value)) for name, value in from_checkpoint(held, words, 2).items()}
    heads = {f"classifier.{kind}": theirs.state_dict()[f"classifier.{kind}"] for kind in ("weight", "bias")}
    ours.load_state_dict({**ours.state_dict(), **weights, **heads})
    rows = [json.loads(line) for line in (mix / "train.jsonl").read_text().splitlines()]
    encoded = Encoder(TOKENIZER, 512).encode([Pair(row["premise"], row["claim"]) for row in rows])
    found = predict(ours, arrays, np.arange(len(rows)))
    np.testing.assert_allclose(found, [logits_of(theirs, [row])[0] for row in encoded], atol=1e-5)
    back = to_checkpoint(ours.state_dict(), theirs.state_dict(), words)
    assert back.keys() == theirs.state_dict().keys()
    assert all(torch.equal(back[name], value) for name, value in theirs.state_dict().items())


def test_losses_are_those_of_the_other_trainer(mix: Path) -> None:
    arrays = Arrays(written(mix), "encoder", 512, "cpu")
    rows = torch.tensor([0, 1, 2, 40, 41, 42, 43, *np.flatnonzero(arrays.part == "dev:wice_dev")[:3]])
    rows = torch.cat([rows, torch.from_numpy(np.flatnonzero(arrays.part == "pool")[:2])])
    torch.manual_seed(1)
    logits = torch.randn(len(rows), 3)
    taught = torch.zeros(len(arrays.part), 3)
    taught[rows[:2]] = taught[rows[-2:]] = torch.tensor([0.7, 0.1, 0.2])
    config = {"smoothing": 0.05, "share": 0.6}
    column, binary = arrays.label[rows], arrays.binary[rows]
    told = [tuple(row) if sum(row) else None for row in taught[rows].tolist()]
    own = label_losses(logits, column, binary, 0.05)
    wanted = taught_losses(logits, own, told, arrays.labelled[rows].tolist(), 0.6)
    torch.testing.assert_close(losses(arrays, rows, logits, taught, config), wanted)
    units = [[0], [1], [2], [3, 4], [5, 6], *([place] for place in range(7, len(rows)))]
    torch.testing.assert_close(margins(arrays, rows, logits), margin_losses(logits, column, units, 1.0).sum())


def test_further_rows_come_last_and_leave_the_hash_of_what_was_taught(mix: Path) -> None:
    """What teachers said is kept by a row's place and by a hash of the pairs: neither may move."""
    alone = Arrays(written(mix), "encoder", 512, "cpu")
    further = [pair(n, source="against", kind="among") for n in range(200, 205)]
    (mix / "more.jsonl").write_text("".join(json.dumps(row) + "\n" for row in further))
    data = mix / "data.npz"
    places = [str(mix), str(mix / "pool.jsonl"), str(data)]
    main(["arrays", *places, "--more", str(mix / "more.jsonl"), "--tokenizer", str(TOKENIZER)])
    more = Arrays(data, "encoder", 512, "cpu")
    np.testing.assert_array_equal(more.held["pairs_sha256"], alone.held["pairs_sha256"])
    np.testing.assert_array_equal(more.kind[:-5], alone.kind)
    assert more.kind[-5:].tolist() == ["against/among"] * 5
    assert more.part[-5:].tolist() == ["train"] * 5
    assert len(more.dev) == len(alone.dev)


def test_a_verifier_that_is_trained_further_starts_from_its_own_weights(mix: Path) -> None:
    """In 32 bits, all of them; a base that travels is rounded to 8."""
    torch.manual_seed(0)
    theirs = CrossEncoder(BERT)
    theirs.save(mix / "base")
    data = written(mix)
    main(["base", str(mix / "base"), str(data), str(mix / "whole.npz"), "--whole"])
    main(["base", str(mix / "base"), str(data), str(mix / "rounded.npz")])
    weight = theirs.state_dict()["encoder.layer.1.output.dense.weight"]
    whole, rounded = (load_base(mix / f"{name}.npz").down[1].weight for name in ("whole", "rounded"))
    assert torch.equal(whole, weight)
    assert not torch.equal(rounded, weight)
    torch.testing.assert_close(rounded, weight, atol=1e-3, rtol=0)


class Killed(Exception):
    """In place of a kill."""


def test_a_run_that_was_ended_goes_on_where_it_was(mix: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ended after its state was written, it ends with the weights of a run that was left alone."""
    data, out, config = written(mix), mix / "runs", mix / "config.json"
    CrossEncoder(BERT).save(mix / "base")
    main(["base", str(mix / "base"), str(data), str(mix / "base.npz")])
    config.write_text(
        json.dumps({"visits": 120, "rows": 8, "average_from": 0.3, "learning_rate": 0.01, "looks": [1], "dropout": 0.1})
    )
    fit = ["fit", str(data), str(mix / "base.npz"), "--out", str(out), "--config", str(config), "--name"]
    monkeypatch.setattr("gpu.fit.KEPT_EVERY", 0)
    kept, steps, last = State.keep, 0, 0

    def counted(self: State, *told: Any) -> None:
        nonlocal steps
        kept(self, *told)
        steps += 1
        if steps == last:
            raise Killed

    monkeypatch.setattr(State, "keep", counted)
    main([*fit, "whole"])
    all_of_it, steps, last = steps, 0, 9
    with pytest.raises(Killed):
        main([*fit, "ended"])
    main([*fit, "ended"])
    assert not list(out.glob("*.state")), "a run that ended well would be gone on with"
    whole, ended = (load_file(out / f"{name}.safetensors") for name in ("whole", "ended"))
    assert steps == all_of_it > 9, "it began anew"
    for name, value in whole.items():
        torch.testing.assert_close(ended[name], value)
    steps, last = 0, 5
    with pytest.raises(Killed):
        main([*fit, "other"])
    CrossEncoder(replace(BERT, num_hidden_layers=1)).save(mix / "base")
    main(["base", str(mix / "base"), str(data), str(mix / "base.npz")])
    steps, last = 0, 0
    main([*fit, "other"])
    assert steps == all_of_it, "the state of another base was gone on with"


def test_a_run_of_so_many_minutes_ends_by_the_clock(mix: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its rate falls to 0 by then, and what was trained before it was ended counts."""
    data, out, config = written(mix), mix / "runs", mix / "config.json"
    CrossEncoder(BERT).save(mix / "base")
    main(["base", str(mix / "base"), str(data), str(mix / "base.npz")])
    config.write_text(json.dumps({"visits": 2000, "minutes": 1, "rows": 4, "rates": {"snli": 1.0}}))
    fit = ["fit", str(data), str(mix / "base.npz"), "--out", str(out), "--config", str(config), "--name"]
    seconds = 0.0
    monkeypatch.setattr("gpu.fit.time", SimpleNamespace(monotonic=lambda: seconds))
    monkeypatch.setattr("gpu.fit.KEPT_EVERY", 0)
    kept, rates, last = State.keep, list[float](), 0

    def slow(self: State, trained: Any, optimizer: torch.optim.Optimizer, *told: Any) -> None:
        nonlocal seconds
        seconds += 5
        kept(self, trained, optimizer, *told)
        rates.append(optimizer.param_groups[0]["lr"])
        if len(rates) == last:
            raise Killed

    monkeypatch.setattr(State, "keep", slow)
    main([*fit, "whole"])
    assert len(rates) == 60 / 5, "a step takes five seconds of the minute"
    assert rates[1:] == sorted(rates[1:], reverse=True)
    assert rates[-1] < 0.1 * rates[1]
    whole, last = list(rates), 7
    rates.clear()
    with pytest.raises(Killed):
        main([*fit, "ended"])
    seconds += 1000
    last = 0
    main([*fit, "ended"])
    assert len(rates) == len(whole) + 1, "the step that was ended in is the only one whose time is not kept"


def test_weights_of_a_run_that_has_not_ended_are_its_mean_so_far(mix: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the layers after which guesses are made: they are trained, and left out of the weights."""
    data, out, config = written(mix), mix / "runs", mix / "config.json"
    CrossEncoder(BERT).save(mix / "base")
    main(["base", str(mix / "base"), str(data), str(mix / "base.npz"), "--whole"])
    config.write_text(json.dumps({"visits": 120, "rows": 8, "average_from": 0.3, "learning_rate": 0.01, "looks": [1]}))
    monkeypatch.setattr("gpu.fit.KEPT_EVERY", 0)
    monkeypatch.setattr(Path, "unlink", lambda *_args, **_more: None)
    main(["fit", str(data), str(mix / "base.npz"), "--out", str(out), "--config", str(config), "--name", "run"])
    main(["weights", str(mix / "base.npz"), str(out / "run.state"), str(out / "found.safetensors")])
    ended, found = (load_file(out / f"{name}.safetensors") for name in ("run", "found"))
    assert ended.keys() == found.keys()
    for name, value in ended.items():
        torch.testing.assert_close(found[name], value)


def test_earlier_rows_are_said_to_be_what_they_were_and_frozen_layers_stay(
    mix: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Earlier rows teach nothing by their labels; further rows train the layers that are not frozen."""
    further = [pair(n, source="against", kind="among") for n in range(200, 240)]
    (mix / "more.jsonl").write_text("".join(json.dumps(row) + "\n" for row in further))
    (mix / "held_a.jsonl").write_text("".join(json.dumps(pair(n)) + "\n" for n in range(300, 306)))
    data, out, config = mix / "data.npz", mix / "runs", mix / "config.json"
    places = [str(mix), str(mix / "pool.jsonl"), str(data)]
    main(["arrays", *places, "--more", str(mix / "more.jsonl"), "--judged", str(mix / "held_a.jsonl")])
    torch.manual_seed(0)
    CrossEncoder(BERT).save(mix / "base")
    main(["base", str(mix / "base"), str(data), str(mix / "base.npz"), "--whole"])
    before = load_base(mix / "base.npz").state_dict()
    arrays, network = Arrays(data, "encoder", 512, "cpu"), load_base(mix / "base.npz", frozen=1)
    settings = {**DEFAULTS, "as_before": 1.0}
    start, losses_of = as_it_was(network, settings), list[float]()
    for is_further in (False, True):
        rows = np.flatnonzero((arrays.part == "train") & (arrays.further.numpy() == is_further))[:8]
        losses_of.append(float(total_loss(network, arrays, rows, None, settings, start).detach()))
    assert losses_of[0] < 0.01 < 1 < losses_of[1]
    told = {"visits": 100, "rows": 16, "learning_rate": 0.01, "frozen": 1, "as_before": 1.0, "rates": {"pool": 1.0}}
    config.write_text(json.dumps(told))
    fit = ["fit", str(data), str(mix / "base.npz"), "--out", str(out), "--config", str(config), "--name", "further"]
    main(fit)
    after = load_file(out / "further.safetensors")
    changed = {name for name, value in after.items() if not torch.equal(value, before[name].half())}
    assert {"up.1.weight", "classifier.weight"} <= changed
    assert not {name for name in changed if ".0." in name}
    capsys.readouterr()
    main(["shares", str(data), str(mix / "base.npz"), str(out / "further.safetensors"), "0", "0.5"])
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith("0 of the run: headline")
    assert "held_a" in first
    assert first.split(":", 1)[1] != second.split(":", 1)[1]


def test_a_base_is_cut_to_its_first_layers(mix: Path) -> None:
    """What comes out has so many, and computes what was trained."""
    data, out = written(mix), mix / "runs"
    CrossEncoder(BERT).save(mix / "base")
    main(["base", str(mix / "base"), str(data), str(mix / "base.npz"), "--layers", "1"])
    (mix / "config.json").write_text(json.dumps({"visits": 16, "rows": 8, "learning_rate": 0.01}))
    fit = ["--out", str(out), "--config", str(mix / "config.json"), "--name", "cut"]
    main(["fit", str(data), str(mix / "base.npz"), *fit])
    main(["checkpoint", str(mix / "base"), str(data), str(out / "cut.safetensors"), str(mix / "checkpoint")])
    network = load_network(mix / "checkpoint", trained=True).eval()
    assert network.shape.num_hidden_layers == 1
    said = np.load(out / "cut.dev.npz")
    arrays = Arrays(data, "encoder", 512, "cpu")
    rows = [json.loads(line) for line in (mix / "dev/scifact_dev.jsonl").read_text().splitlines()]
    encoded = Encoder(TOKENIZER, 512).encode([Pair(row["premise"], row["claim"]) for row in rows])
    first = [place for place, row in enumerate(said["rows"]) if arrays.part[row] == "dev:scifact_dev"]
    wanted = np.array([logits_of(network, [row])[0] for row in encoded])
    np.testing.assert_allclose(softmax(said["logits"][first]), softmax(wanted), atol=0.02)


def test_area_under_the_curve_shares_ties() -> None:
    positive = np.array([True, False, True, False])
    assert auc(np.array([3.0, 1.0, 2.0, 0.0]), positive) == 1.0
    assert auc(np.ones(4), positive) == 0.5
    assert auc(np.array([2.0, 2.0, 1.0, 0.0]), positive) == 0.625


@pytest.mark.parametrize(("kind", "size", "halves"), [
    ("Q8_0", 34, [0]), ("Q5_0", 22, [0]), ("Q4_K", 144, [0, 2]), ("Q6_K", 210, [208]),
])  # fmt: skip
def test_blocks_are_read_as_gguf_reads_them(kind: str, size: int, halves: list[int]) -> None:
    drawn = np.random.default_rng(0)
    raw = drawn.integers(0, 256, (4, size), dtype=np.uint8)
    for place in halves:
        raw[:, place : place + 2] = drawn.normal(size=(4, 1)).astype(np.float16).view(np.uint8)
    wanted = gguf.quants.dequantize(raw, gguf.GGMLQuantizationType[kind])
    np.testing.assert_array_equal(Blocks(raw.reshape(-1), kind, wanted.shape).on("cpu").numpy(), wanted)


def test_another_kind_of_block_is_named() -> None:
    with pytest.raises(ValueError, match="found IQ2_S"):
        Blocks(np.zeros(4, np.uint8), "IQ2_S", (1,)).on("cpu")


def language_model(folder: Path) -> Any:
    """A tiny Qwen2 in transformers, and the same in a GGUF file."""
    from transformers import Qwen2Config, Qwen2Model

    torch.manual_seed(3)
    sizes = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4}
    model = Qwen2Model(Qwen2Config(vocab_size=60, num_key_value_heads=2, rope_theta=1e4, **sizes)).eval()
    writer = gguf.GGUFWriter(folder / "model.gguf", "qwen2")
    writer.add_block_count(2)
    writer.add_embedding_length(32)
    writer.add_feed_forward_length(48)
    writer.add_head_count(4)
    writer.add_head_count_kv(2)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_rope_freq_base(1e4)
    names = {
        "embed_tokens": "token_embd",
        "norm": "output_norm",
        "self_attn.q_proj": "attn_q",
        "self_attn.k_proj": "attn_k",
    }
    names |= {"self_attn.v_proj": "attn_v", "self_attn.o_proj": "attn_output", "mlp.gate_proj": "ffn_gate"}
    names |= {"mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down", "input_layernorm": "attn_norm"}
    names |= {"post_attention_layernorm": "ffn_norm"}
    for name, value in model.state_dict().items():
        stem, kind = name.rsplit(".", 1)
        place = ""
        if stem.startswith("layers."):
            _, layer, stem = stem.split(".", 2)
            place = f"blk.{layer}."
        writer.add_tensor(f"{place}{names[stem]}.{kind}", value.numpy())
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return model


def test_a_language_model_computes_what_transformers_does(tmp_path: Path) -> None:
    theirs = language_model(tmp_path)
    words = np.arange(60)[::-1].copy()
    ours = LanguageJudge(tmp_path / "model.gguf", words, "cpu")
    ids = torch.randint(0, 60, (3, 9))
    with torch.no_grad():
        wanted = theirs(torch.from_numpy(words)[ids]).last_hidden_state
        torch.testing.assert_close(ours.hidden(ids), wanted, atol=1e-5, rtol=1e-4)
        logits = ours(ids, ids, torch.tensor([9, 4, 9]))
        torch.testing.assert_close(logits[1], ours.classifier(wanted[1, 3]), atol=1e-5, rtol=1e-4)


def as_reranker(folder: Path) -> None:
    """Turn a base into one that has one figure a pair, as the published cross-encoder."""
    weights = load_file(folder / "model.safetensors")
    weights |= {f"classifier.{kind}": weights[f"classifier.{kind}"][:1].clone() for kind in ("weight", "bias")}
    save_file(weights, folder / "model.safetensors")


def test_neutral_loses_what_was_too_much_of_it(mix: Path) -> None:
    arrays = Arrays(written(mix), "encoder", 512, "cpu")
    gold = arrays.held["label"][arrays.dev]
    right = np.eye(3)[gold] + np.random.default_rng(0).normal(0, 1, (len(gold), 3))
    less = neutral_offset(arrays, right)
    assert -1 < less < 1
    assert neutral_offset(arrays, right + np.array([0, 0, 0.7])) == pytest.approx(less + 0.7)


def test_from_pairs_to_a_checkpoint_by_a_teacher(mix: Path) -> None:
    """The teacher's word of pairs that nobody labelled is learnt from; what comes out is read by the other trainer."""
    data, out = written(mix), mix / "runs"
    for name, shape in (("base", BERT), ("larger", MPNET)):
        CrossEncoder(shape).save(mix / name)
        if name == "base":
            as_reranker(mix / name)
        main(["base", str(mix / name), str(data), str(mix / f"{name}.npz")])
    config = mix / "config.json"
    config.write_text(json.dumps({"visits": 80, "rows": 16, "rates": {"pool": 1, "snli": 1}, "learning_rate": 0.01}))
    fit = ["--out", str(out), "--config", str(config)]
    main(["fit", str(data), str(mix / "larger.npz"), "--name", "teacher", "--label", "train,pool", *fit])
    main(["mean", str(data), str(out), str(mix / "taught.npy"), "teacher:1"])
    taught = np.load(mix / "taught.npy")
    arrays = Arrays(data, "encoder", 512, "cpu")
    assert ((taught.sum(1) > 0.9) == np.isin(arrays.part, ["train", "pool"])).all()
    said = np.load(out / "teacher.said.npz")
    two = np.round(softmax(said["logits"])[:, :2] * 255).astype(np.uint8)
    held = {
        "teacher": two,
        "teacher_rows": np.diff(said["rows"], prepend=0),
        "pairs_sha256": arrays.held["pairs_sha256"],
    }
    np.savez(mix / "kept.npz", **held)
    recalled = ["kept", str(data), str(mix / "kept.npz"), str(mix / "recalled.npy"), "teacher:1"]
    main(recalled)
    told = np.load(mix / "recalled.npy")
    assert ((told.sum(1) > 0.9) == (taught.sum(1) > 0.9)).all()
    np.testing.assert_allclose(told[said["rows"]], softmax(said["logits"]), atol=0.005)
    np.savez(mix / "kept.npz", **{**held, "pairs_sha256": np.zeros(32, np.uint8)})
    with pytest.raises(SystemExit, match="has others"):
        main(recalled)
    config.write_text(json.dumps({**json.loads(config.read_text()), "offset": 0.5}))
    main(["fit", str(data), str(mix / "base.npz"), "--name", "verifier", "--taught", str(mix / "taught.npy"), *fit])
    main(["checkpoint", str(mix / "base"), str(data), str(out / "verifier.safetensors"), str(mix / "checkpoint")])
    said = np.load(out / "verifier.dev.npz")
    network = load_network(mix / "checkpoint", trained=True).eval()
    rows = [json.loads(line) for line in (mix / "dev/scifact_dev.jsonl").read_text().splitlines()]
    encoded = Encoder(TOKENIZER, 512).encode([Pair(row["premise"], row["claim"]) for row in rows])
    first = [place for place, row in enumerate(said["rows"]) if arrays.part[row] == "dev:scifact_dev"]
    wanted = np.array([logits_of(network, [row])[0] for row in encoded])
    np.testing.assert_allclose(softmax(said["logits"][first]), softmax(wanted), atol=0.02)
