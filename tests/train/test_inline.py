"""In-line training with a byte-level tokenizer: prompts, length limits, weights. Needs [train]."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchmark_modules import benchmark

pytestmark = [
    pytest.mark.hf,
    # Warnings of transformers about calls by peft.
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]

torch = pytest.importorskip("torch")
pytest.importorskip("peft")

ROOT = Path(__file__).parents[2]
SENTENCE = "Zinc shortens colds in 12 trials."
TEXTS = [
    "Answer the question from the sources. Cite the sources of each sentence by their numbers, as in [1][2].",
    f"Sources: [1] {SENTENCE} [2] Iron does help. Question: Does zinc help? Answer: Yes [1]. {SENTENCE}",
]
CONFIG = {"rank": 2, "batch": 2, "epochs": 1, "max_tokens": 256, "checkpoint_steps": 1, "threads": 1}


def bytewise() -> Any:
    """Train a byte-level BPE: a space belongs to the following word."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    words = Tokenizer(models.BPE())
    words.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    words.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=500,
        special_tokens=["<s>", "</s>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    words.train_from_iterator(TEXTS * 5, trainer)
    return PreTrainedTokenizerFast(tokenizer_object=words, bos_token="<s>", eos_token="</s>")


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    return bytewise()


def made(folder: Path, tokenizer: Any, seed: int) -> Path:
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(seed)
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        num_key_value_heads=2,
        max_position_embeddings=512,
        eos_token_id=1,
    )
    tokenizer.save_pretrained(str(folder))
    LlamaForCausalLM(config).save_pretrained(str(folder))
    return folder


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory, tokenizer: Any) -> Path:
    return made(tmp_path_factory.mktemp("decoders") / "base", tokenizer, 0)


def lines(path: Path, prefix: str, count: int, **more: Any) -> Path:
    rows = [
        {
            "id": f"{prefix}{number}",
            "question": f"Does zinc help, {prefix} {number}?",
            "sentence": f"Zinc shortens colds in trial {prefix}{number}.",
            "sources": [{"id": "a", "text": SENTENCE}, {"id": "b", "text": "Iron does help."}],
            "supports": [1],
            "group": f"{prefix}{number}",
            **more,
        }
        for number in range(count)
    ]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture
def asked(tmp_path: Path, base: Path) -> Callable[..., list[str]]:
    config = tmp_path / "config.json"
    config.write_text(json.dumps(CONFIG), encoding="utf-8")
    data, dev = lines(tmp_path / "data.jsonl", "t", 4), lines(tmp_path / "dev.jsonl", "d", 2)

    def words(out: str, *more: str, command: str = "inline", **other: Path) -> list[str]:
        named = {"data": data, "dev": dev, "base": base, "config": config, "out": tmp_path / out, **other}
        return ["train", command, *(word for name, path in named.items() for word in (f"--{name}", str(path))), *more]

    return words


def cited(*sentences: str, source: str = SENTENCE) -> Any:
    from vericite.lab.train.examples import ExampleSource
    from vericite.lab.train.written import Cited

    sources = (ExampleSource(id="a", text=source), ExampleSource(id="b", text="Iron does help."))
    return Cited("q", "Does zinc help?", sources, sentences, (1.0,) * len(sentences))


def test_asking_uses_the_prompt_of_training(tokenizer: Any):
    from vericite.lab.train.inline import encoded, prompt_ids

    question = cited("Yes [1].", "Zinc shortens colds in 12 trials [1].")
    learnt, prompt = encoded(question, tokenizer, 256), prompt_ids(question, tokenizer, 200)
    assert learnt and prompt
    start = learnt.weights.index(1.0)
    assert learnt.ids[:start] == prompt
    assert tokenizer.decode(prompt).endswith("Answer:")
    # The space belongs to the first word: no training prompt ends in a space.
    assert tokenizer.convert_ids_to_tokens(learnt.ids[start]).startswith("Ġ")
    assert "Ġ" not in tokenizer.convert_ids_to_tokens(prompt)[-2:]
    assert learnt.ids[start:] == [*tokenizer(f" {question.answer}", add_special_tokens=False)["input_ids"], 1]
    assert set(learnt.weights[start:]) == {1.0}


def test_the_model_gets_the_prompt_of_training_to_answer(
    asked: Callable[..., list[str]], tmp_path: Path, tokenizer: Any, run_cli: Callable[..., Any], monkeypatch: Any
):
    from vericite.lab.train import inline

    given: list[list[int]] = []
    monkeypatch.setattr(inline, "generated", lambda front, *_: given.append(front) or "Zinc shortens colds [1].")
    ask = lines(tmp_path / "ask.jsonl", "a", 2)
    printed = run_cli(*asked("out", "--ask", str(ask), "--set", "new_tokens=16", "--set", "untrained=true"))
    assert printed.code == 0, printed.err
    for front, question in zip(given, inline.answers_of(inline.read_examples([ask])), strict=True):
        learnt = inline.encoded(question, tokenizer, CONFIG["max_tokens"])
        assert learnt and front == learnt.ids[: len(front)] and not any(learnt.weights[: len(front)])
        assert learnt.weights[len(front)]


def test_sources_are_cut_and_the_question_is_not(tokenizer: Any):
    from vericite.lab.train.inline import encoded, prompt_ids
    from vericite.lab.train.written import SOURCE_LENGTHS, prompt_text

    question = cited("Zinc helps [1].", source=SENTENCE * 200)
    for most in (200, 300, 400):
        prompt = prompt_ids(question, tokenizer, most)
        assert prompt and len(prompt) <= most
        assert tokenizer.decode(prompt).endswith("Question: Does zinc help?\n\nAnswer:")
    least = len(tokenizer(prompt_text(question, SOURCE_LENGTHS[-1]))["input_ids"])
    assert prompt_ids(question, tokenizer, least) and prompt_ids(question, tokenizer, least - 1) is None
    assert encoded(question, tokenizer, least) is None


def test_questions_that_do_not_fit_are_left_out_and_counted(
    asked: Callable[..., list[str]], tmp_path: Path, run_cli: Callable[..., Any]
):
    data = tmp_path / "data.jsonl"
    long = lines(tmp_path / "long.jsonl", "l", 1, question="Does zinc help " * 90).read_text("utf-8")
    data.write_text(data.read_text("utf-8") + long, encoding="utf-8")
    ask = lines(tmp_path / "ask.jsonl", "a", 1)
    long = lines(tmp_path / "long.jsonl", "m", 1, question="Does iron help " * 90).read_text("utf-8")
    ask.write_text(ask.read_text("utf-8") + long, encoding="utf-8")
    printed = run_cli(*asked("out", "--ask", str(ask), "--set", "new_tokens=16"))
    assert printed.code == 0, printed.err
    assert "left out, too long: 1" in printed.out and "not asked, too long: 1" in printed.out
    assert "answers: 1" in printed.out
    ask.write_text(long, encoding="utf-8")
    printed = run_cli(*asked("none", "--ask", str(ask), "--set", "new_tokens=16"))
    assert printed.code == 2 and "max_tokens" in printed.err
    assert not (tmp_path / "none" / "steps").exists()


@pytest.mark.parametrize(
    ("line", "tokens", "problem"),
    [
        ("{", "16", "ask.jsonl"),
        ('{"id": "a", "sentence": "Zinc helps.", "sources": [{"id": "s", "text": "Zinc"}]}', "16", "with questions in"),
        ("", "256", "Lower new_tokens"),
    ],
)
def test_unusable_questions_are_refused_before_training(
    asked: Callable[..., list[str]], tmp_path: Path, run_cli: Callable[..., Any], line: str, tokens: str, problem: str
):
    ask = lines(tmp_path / "ask.jsonl", "a", 1)
    if line:
        ask.write_text(f"{line}\n", encoding="utf-8")
    printed = run_cli(*asked("out", "--ask", str(ask), "--set", f"new_tokens={tokens}"))
    assert printed.code == 2 and problem in printed.err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("command", ["attribution", "inline"])
def test_development_examples_that_are_trained_on_are_refused(
    asked: Callable[..., list[str]], tmp_path: Path, run_cli: Callable[..., Any], command: str
):
    printed = run_cli(*asked("out", command=command, dev=tmp_path / "data.jsonl"))
    assert printed.code == 2 and "that are not trained on" in printed.err
    # The group differs, the text is the same.
    same = lines(tmp_path / "same.jsonl", "t", 1, group="other")
    printed = run_cli(*asked("out", command=command, dev=same))
    assert printed.code == 2 and "that are not trained on" in printed.err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("more", "shared"),
    [({}, "whose group t0 is in both"), ({"group": "other"}, "whose question is in both")],
)
def test_questions_that_are_trained_on_are_not_asked(
    asked: Callable[..., list[str]], tmp_path: Path, run_cli: Callable[..., Any], more: dict[str, str], shared: str
):
    ask = lines(tmp_path / "ask.jsonl", "t", 1, **more)
    printed = run_cli(*asked("out", "--ask", str(ask), "--set", "new_tokens=16"))
    told = " ".join(printed.err.split())
    assert printed.code == 2 and f"questions to ask that are not trained on; found t0, {shared}" in told
    assert not (tmp_path / "out").exists()
    # Lines without a question are not asked, so they may be trained on.
    ask.write_text(ask.read_text("utf-8").replace('"question"', '"was_asked"'), encoding="utf-8")
    ask.write_text(ask.read_text("utf-8") + lines(tmp_path / "a.jsonl", "a", 1).read_text("utf-8"), encoding="utf-8")
    assert run_cli(*asked("out", "--ask", str(ask), "--set", "new_tokens=16", "--set", "untrained=true")).code == 0


def test_a_question_to_ask_has_one_list_of_sources(
    asked: Callable[..., list[str]], tmp_path: Path, run_cli: Callable[..., Any]
):
    """Readers of the answers, and a resumed run, identify the question by its group."""
    other = [{"id": "c", "text": "Copper."}]
    first, second = (
        lines(tmp_path / f"{name}.jsonl", "a", 1, **more) for name, more in (("1", {}), ("2", {"sources": other}))
    )
    ask = tmp_path / "ask.jsonl"
    ask.write_text(first.read_text("utf-8") + second.read_text("utf-8"), encoding="utf-8")
    printed = run_cli(*asked("out", "--ask", str(ask), "--set", "new_tokens=16"))
    assert printed.code == 2 and "found two lists of sources for a0" in " ".join(printed.err.split())
    assert not (tmp_path / "out").exists()
    # Training on both is allowed.
    assert run_cli(*asked("both", data=ask)).code == 0


@pytest.mark.parametrize(
    ("text", "line"),
    [("Yes [1].\nZinc helps.", "Yes [1]. Zinc helps."), ("\n\n Yes [1].\n\nQuestion:", "Yes [1]."), ("\n\n", "")],
)
def test_an_answer_ends_at_the_first_blank_line(text: str, line: str):
    from vericite.lab.train.written import first_paragraph

    assert first_paragraph(text) == line


def test_answers_to_different_questions_may_be_the_same(
    asked: Callable[..., list[str]], tmp_path: Path, run_cli: Callable[..., Any]
):
    for name in ("data", "dev"):
        lines(tmp_path / f"{name}.jsonl", name, 2, sentence="Yes.", supports=[])
    assert run_cli(*asked("out")).code == 0


@pytest.mark.parametrize("command", ["attribution", "inline"])
def test_an_example_counts_by_its_weight(
    asked: Callable[..., list[str]], tmp_path: Path, run_cli: Callable[..., Any], command: str
):
    """Tested by the development loss in the manifest."""
    losses: dict[str, float] = {}
    for name, weights in (("one", [1]), ("two", [1, 1]), ("half", [0.5, 0.5]), ("none", [1, 0])):
        parts = [
            lines(tmp_path / "part.jsonl", f"d{number}", 1, weight=weight, supports=[number + 1]).read_text("utf-8")
            for number, weight in enumerate(weights)
        ]
        dev = tmp_path / f"{name}.jsonl"
        dev.write_text("".join(parts), encoding="utf-8")
        assert run_cli(*asked(name + "-out", command=command, dev=dev)).code == 0
        manifest = json.loads((tmp_path / f"{name}-out" / "manifest.json").read_text("utf-8"))
        losses[name] = (manifest["stages"][0] if command == "attribution" else manifest)["dev_loss"]
    assert losses["none"] == losses["one"] != losses["two"]
    assert losses["half"] == pytest.approx(losses["two"], abs=1e-6)


def test_a_sentence_counts_by_its_weight(tokenizer: Any):
    from vericite.lab.train.examples import AttributionExample, ExampleSource
    from vericite.lab.train.inline import encoded
    from vericite.lab.train.written import answers_of

    some = [
        AttributionExample(
            id=str(weight),
            question="Does zinc help?",
            sentence=text,
            sources=(ExampleSource(id="a", text=SENTENCE),),
            weight=weight,
            group="q",
        )
        for text, weight in (("Yes.", 0), ("Zinc shortens colds.", 0.5))
    ]
    (question,) = answers_of(some)
    learnt = encoded(question, tokenizer, 256)
    assert learnt
    counted = [one for one, weight in zip(learnt.ids, learnt.weights, strict=True) if weight]
    assert tokenizer.decode(counted) == " Zinc shortens colds.</s>"
    assert set(learnt.weights) == {0, 0.5}


@pytest.mark.parametrize("command", ["attribution", "inline"])
def test_another_base_of_the_same_name_is_another_run(
    asked: Callable[..., list[str]],
    tmp_path: Path,
    tokenizer: Any,
    run_cli: Callable[..., Any],
    command: str,
):
    one, other = (made(tmp_path / folder / "base", tokenizer, seed) for seed, folder in enumerate(("one", "other")))
    assert run_cli(*asked("out", command=command, base=one)).code == 0
    printed = run_cli(*asked("out", command=command, base=other))
    assert printed.code == 2 and "found another base" in printed.err


def test_the_recipes_config_is_one():
    from vericite.lab.train.configs import LoraConfig

    config = LoraConfig.load(ROOT / "recipes" / "attribution" / "inline-config.json")
    assert (config.batch, config.steps, config.max_tokens) == (8, 20, 448)


def gguf_of(path: Path, tokenizer: Any) -> Path:
    """A Llama of one layer and random weights, as llama.cpp has question."""
    import gguf
    import numpy as np

    words = json.loads(tokenizer.backend_tokenizer.to_str())["model"]
    vocabulary = sorted(words["vocab"], key=words["vocab"].get)
    wide, deep, heads = 32, 64, 2
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_context_length(512)
    writer.add_embedding_length(wide)
    writer.add_block_count(1)
    writer.add_feed_forward_length(deep)
    writer.add_head_count(heads)
    writer.add_head_count_kv(heads)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(wide // heads)
    writer.add_vocab_size(len(vocabulary))
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(vocabulary)
    writer.add_token_types([3, 3] + [1] * (len(vocabulary) - 2))
    writer.add_token_merges(
        [question if isinstance(question, str) else " ".join(question) for question in words["merges"]]
    )
    writer.add_bos_token_id(0)
    writer.add_eos_token_id(1)
    writer.add_add_bos_token(True)
    dice = np.random.default_rng(0)
    square, shapes = (wide, wide), {"ffn_gate": (deep, wide), "ffn_up": (deep, wide), "ffn_down": (wide, deep)}
    shapes |= dict.fromkeys(("attn_q", "attn_k", "attn_v", "attn_output"), square)
    tensors = {f"blk.0.{name}": dice.normal(0, 0.3, shape) for name, shape in shapes.items()}
    tensors |= {name: dice.normal(0, 0.3, (len(vocabulary), wide)) for name in ("token_embd", "output")}
    tensors |= {name: np.ones(wide) for name in ("blk.0.attn_norm", "blk.0.ffn_norm", "output_norm")}
    for name, tensor in tensors.items():
        writer.add_tensor(f"{name}.weight", tensor.astype(np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def test_llama_cpp_is_asked_with_the_same_tokens(
    asked: Callable[..., list[str]], tmp_path: Path, tokenizer: Any, run_cli: Callable[..., Any]
):
    pytest.importorskip("gguf")
    pytest.importorskip("xllamacpp")
    base, ask = gguf_of(tmp_path / "tiny.gguf", tokenizer), lines(tmp_path / "ask.jsonl", "a", 2)
    own, theirs = tmp_path / "torch", tmp_path / "llama.jsonl"
    printed = run_cli(
        *asked(own.name, "--set", "untrained=true", "--ask", str(ask), "--set", "new_tokens=8", base=base)
    )
    assert printed.code == 0, printed.err
    benchmark("inline").main(
        [str(ask), "--llm", f"gguf:{base}", "--out", str(theirs), "--tokens", "256", "--new-tokens", "8"]
    )
    assert theirs.read_text("utf-8") == (own / "answers.jsonl").read_text("utf-8")
