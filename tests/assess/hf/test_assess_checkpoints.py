"""BioACE's methods with tiny random checkpoints: embedders, encoders and adapters."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("torch", reason="the extra [hf] is not installed")
pytest.importorskip("transformers", reason="the extra [hf] is not installed")
pytest.importorskip("sklearn", reason="the extra [assess] is not installed")

import tiny_models
import torch
import transformers

from vericite.errors import InputError, ModelCardError, UnknownNameError
from vericite.lab.assess.checkpoint import labeller_of
from vericite.lab.assess.completeness import AnswerSentence
from vericite.lab.assess.correctness import WindowExample, by_judge
from vericite.lab.assess.nuggets import load_nugget_embedder
from vericite.models import Embedder
from vericite.verify.judges.registry import load_judge

pytestmark = [
    pytest.mark.hf,
    # Of transformers about what peft calls.
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]

EXAMPLES = Path(__file__).parents[3] / "examples" / "bioace"
ANSWERS, GOLD = f"medaesqa:{EXAMPLES / 'answers.json'}", str(EXAMPLES / "nuggets.json")
TEXTS = ["Aspirin lowers fever in adults .", "The trial enrolled 400 adults in Norway ."]
SENTENCE = AnswerSentence("Does aspirin lower fever ?", "Aspirin lowers fever .")
FAST = {"epochs": 2, "batch": 8, "at_once": 8, "max_tokens": 40, "threads": 1, "dropout": 0.0}


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_models.classifier("bert", tmp_path_factory.mktemp("base") / "sup-simcse-tiny")


@pytest.fixture(scope="module")
def llama(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("llama")
    transformers.AutoTokenizer.from_pretrained(tiny_models.asker(folder)).save_pretrained(folder)
    torch.manual_seed(0)
    config = transformers.LlamaConfig(
        vocab_size=200,
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        num_key_value_heads=2,
        eos_token_id=1,
        bos_token_id=None,
    )
    (folder / "generation_config.json").unlink(missing_ok=True)
    transformers.LlamaForCausalLM(config).save_pretrained(folder)
    return folder


@pytest.fixture
def config(tmp_path: Path) -> str:
    path = tmp_path / "config.json"
    path.write_text(json.dumps(FAST))
    return str(path)


def test_simcse_is_read_by_its_pooler_and_others_by_the_mean(bert: Path):
    model = transformers.AutoModel.from_pretrained(bert).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(bert)
    with torch.no_grad():
        found = model(**tokenizer(TEXTS, padding=True, return_tensors="pt"))
    pooled = torch.nn.functional.normalize(found.pooler_output).numpy()
    embedder = load_nugget_embedder(f"hf:{bert}")
    np.testing.assert_allclose(embedder.embed(TEXTS), pooled, atol=1e-5)
    assert "pooler" in embedder.signature and "mean" in load_nugget_embedder(f"hf:{bert}#mean").signature
    with pytest.raises(InputError, match="expected pooling"):
        load_nugget_embedder(f"hf:{bert}#middle")
    with pytest.raises(UnknownNameError):
        load_nugget_embedder("simcse")


def test_a_checkpoint_without_a_pooler_has_none_to_be_read_by(bert: Path, tmp_path: Path):
    transformers.AutoModel.from_pretrained(bert, add_pooling_layer=False).save_pretrained(tmp_path)
    transformers.AutoTokenizer.from_pretrained(bert).save_pretrained(tmp_path)
    with pytest.raises(ModelCardError, match="pooler"):
        load_nugget_embedder(f"hf:{tmp_path}#pooler").embed(TEXTS)


def test_nuggets_are_compared_by_a_checkpoint(bert: Path, run_cli, tmp_path: Path):
    kept = tmp_path / "mixture.json"
    printed = run_cli(
        "bioace", "score", ANSWERS, "--gold", GOLD, "--set", f"embedder=hf:{bert}", "--set", f"save_mixture={kept}"
    )
    assert printed.code == 0, printed.err
    assert json.loads(kept.read_text())["embedder"].startswith("hf:sup-simcse-tiny@")


@pytest.mark.parametrize("form", ["encoder", "decoder"])
def test_a_checkpoint_learns_to_label_and_labels(form, bert: Path, llama: Path, config: str, run_cli, tmp_path: Path):
    base, out = {"encoder": bert, "decoder": llama}[form], tmp_path / "out"
    train = ("bioace", "train-completeness", ANSWERS, f"--{form}", str(base), "--out", str(out), "--config", config)
    printed = run_cli(*train)
    assert printed.code == 0, printed.err
    assert "macro-F1" in printed.out
    manifest = json.loads((out / "manifest.json").read_text())
    assert manifest["finished"] and manifest["dev"]["groups"] >= 1
    trained, whole = (manifest["parameters"][name] for name in ("trained", "all"))
    assert trained == whole if form == "encoder" else trained < whole
    labeller = labeller_of(str(out), None, Embedder.shared())
    (found,) = labeller.label([SENTENCE])
    assert found.label in manifest["labels"]
    assert labeller.known([SENTENCE]) == 0
    scored = run_cli("bioace", "score", ANSWERS, "--gold", GOLD, "--set", f"completeness={out}", "--json")
    assert scored.code == 0, scored.err
    assert "trained on 30 of these 30 sentences" in scored.err.replace("\n", " ")
    first = (out / "manifest.json").read_text()
    assert run_cli(*train).code == 0  # a run that has ended is read again, and not trained again
    assert json.loads(first)["dev"] == json.loads((out / "manifest.json").read_text())["dev"]
    other = run_cli(*train, "--set", "seed=1")
    assert other.code == 2 and "same settings" in other.err.replace("\n", " ")


def test_an_encoder_is_trained_on_the_chosen_device(bert: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    from vericite.lab.train import labels
    from vericite.lab.train.configs import LabelConfig

    # The device meta stands for a GPU. It has no data, so the forward pass only returns the ids that it was given.
    meta, cast = torch.device("meta"), []
    monkeypatch.setattr(labels, "torch_device", lambda _: meta)
    monkeypatch.setattr(torch, "autocast", lambda kind, *_, **__: cast.append(kind) or contextlib.nullcontext())
    pair = labels.LabelledTexts(TEXTS[0], SENTENCE.sentence, "required", "q")
    run = labels.LabelRun(str(bert), tmp_path, [pair], ("required", "borderline"))
    texts = labels._Texts(run, LabelConfig.model_validate(FAST))
    assert {(weight.device, weight.dtype) for weight in texts.module.parameters()} == {(meta, torch.float32)}
    given: list[torch.Tensor] = []
    texts.module = lambda **inputs: given.extend(inputs.values()) or SimpleNamespace(logits=torch.zeros(1, 2))
    assert texts.logits(texts.encoded([pair])).device.type == "cpu"
    assert given and {tensor.device for tensor in given} == {meta} and cast == ["meta"]


def test_two_bases_are_refused(run_cli, tmp_path: Path):
    both = ("--encoder", "a", "--decoder", "b", "--out", str(tmp_path / "out"))
    printed = run_cli("bioace", "train-completeness", ANSWERS, *both)
    assert printed.code == 2 and "Give one of them" in printed.err


def test_an_encoder_learns_correctness_and_is_a_judge(bert: Path, tmp_path: Path):
    from vericite.lab.train.configs import LabelConfig
    from vericite.lab.train.labels import LabelRun, train_labels
    from vericite.lab.train.texts import correctness_texts

    rows = [
        WindowExample("Aspirin lowers fever .", window, correct, str(number))
        for number in range(12)
        for window, correct in (("Aspirin lowers fever in adults .", True), ("The trial enrolled adults .", False))
    ]
    texts = correctness_texts(rows)
    run = LabelRun(str(bert), tmp_path / "out", texts, ("entails", "neutral"))
    chosen = LabelConfig.model_validate({**FAST, "epochs": 20, "patience": 20, "learning_rate": 5e-3})
    losses: list[float] = []
    facts = train_labels(run, chosen, lambda _, loss: losses.append(loss))
    assert losses[-1] < losses[0] / 2
    assert facts["dev"]["accuracy"] == 1
    scores = by_judge(load_judge(f"hf:{tmp_path / 'out'}"))(rows)
    assert scores[::2].min() > scores[1::2].max()


def test_correctness_is_trained_on_labelled_pairs_at_the_command_line(bert: Path, config: str, run_cli, tmp_path: Path):
    pairs, out = tmp_path / "pairs.jsonl", tmp_path / "out"
    lines = [
        {"premise": TEXTS[number % 2], "claim": "Aspirin lowers fever .", "label": label, "group": str(number)}
        for number, label in enumerate(["supported", "irrelevant"] * 4)
    ]
    pairs.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    train = ("bioace", "train-correctness", str(pairs), "--out", str(out), "--config", config)
    printed = run_cli(*train, "--encoder", str(bert))
    assert printed.code == 0, printed.err
    assert f"hf:{out}" in printed.out.replace("\n", "")
    judged = run_cli("judge", "Aspirin lowers fever .", TEXTS[0], "--judge", f"hf:{out}", "--json")
    assert judged.code == 0, judged.err
    missing = run_cli(*train[:3], "--out", str(tmp_path / "new"), "--encoder", str(tmp_path / "nowhere"))
    assert missing.code == 3 and "checkpoint" in missing.err


def test_an_adapter_learns_correctness_from_labelled_answers_with_a_dev_set(
    llama: Path, config: str, run_cli, tmp_path: Path
):
    questions = json.loads((EXAMPLES / "answers.json").read_text())
    for name, question in zip(("train", "dev"), questions, strict=True):
        (tmp_path / f"{name}.json").write_text(json.dumps([question]))
    one, other = (f"medaesqa:{tmp_path / f'{name}.json'}" for name in ("train", "dev"))
    out, documents = tmp_path / "out", EXAMPLES / "documents.jsonl"
    given = (f"documents={documents}", f"dev={other}", "adapter=true", "max_tokens=64")
    train = ("bioace", "train-correctness", one, "--out", str(out), "--config", config)
    assigned = [part for text in given for part in ("--set", text)]
    printed = run_cli(*train, "--encoder", str(llama), *assigned)
    assert printed.code == 0, printed.err
    manifest = json.loads((out / "manifest.json").read_text())
    assert manifest["dev"]["groups"] == 1 and manifest["parameters"]["trained"] < manifest["parameters"]["all"]
    files = ("--documents", str(documents), "--set", "tables=3", "--set", f"correctness={out}", "--json")
    scored = run_cli("bioace", "score", ANSWERS, *files)
    assert scored.code == 0, scored.err
    rows = {row["row"]: row for row in json.loads(scored.out)}
    assert 0 <= rows["F1, macro"]["value"] <= 1 and rows["AUC"]["by"] == str(out)
    labels = run_cli("bioace", "score", ANSWERS, "--set", f"completeness={out}")
    assert labels.code == 2 and "completeness-checkpoint" in labels.err.replace("\n", " ")
    new = ("--out", str(tmp_path / "new"), "--encoder", str(llama))
    same = run_cli(*train[:3], *new, *assigned, "--set", f"dev={one}")
    assert same.code == 2 and "not trained on" in same.err.replace("\n", " ")


def test_an_encoder_may_have_a_dev_set_of_other_questions(bert: Path, config: str, run_cli, tmp_path: Path):
    questions = json.loads((EXAMPLES / "answers.json").read_text())
    for name, question in zip(("train", "dev"), questions, strict=True):
        (tmp_path / f"{name}.json").write_text(json.dumps([question]))
    train = ("bioace", "train-completeness", f"medaesqa:{tmp_path / 'train.json'}", "--encoder", str(bert))
    dev = ("--set", f"dev=medaesqa:{tmp_path / 'dev.json'}")
    printed = run_cli(*train, "--out", str(tmp_path / "out"), "--config", config, *dev)
    assert printed.code == 0, printed.err
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert manifest["dev"]["examples"] == 15 and sum(manifest["examples"].values()) == 15


def test_the_whole_of_a_group_is_held_out():
    from vericite.lab.train.labels import held_out
    from vericite.lab.train.texts import LabelledTexts

    texts = [LabelledTexts("q", str(number), "required", str(number % 5)) for number in range(20)]
    train, dev = held_out(texts, 0.2, 0)
    assert (len(train), len(dev)) == (16, 4)
    assert not {it.group for it in train} & {it.group for it in dev}
    with pytest.raises(InputError, match="two questions"):
        held_out(texts[:1], 0.2, 0)


def test_what_belongs_to_a_body_may_not_be_missing(bert: Path, tmp_path: Path):
    from safetensors.torch import load_file, save_file

    from vericite.models.hf import find_checkpoint, load

    base = Path(str(tmp_path / "base"))
    base.mkdir()
    for file in bert.iterdir():
        (base / file.name).write_bytes(file.read_bytes())
    weights = load_file(base / "model.safetensors")
    kept = {name: it for name, it in weights.items() if "layer.1.output" not in name}
    save_file(kept, base / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(ModelCardError, match="found none for"):
        load(find_checkpoint(str(base), True), "AutoModelForSequenceClassification", "cpu", labels=("a", "b"))
