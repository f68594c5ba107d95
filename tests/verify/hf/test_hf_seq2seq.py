"""Encoder-decoders from checkpoints: what they are asked, what they write, and how that is read."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="the extra [hf] is not installed")
pytest.importorskip("transformers", reason="the extra [hf] is not installed")

import tiny_models
import torch
import transformers
from tiny_models import PAIRS
from tiny_models import numbered as _numbered

import vericite
import vericite.models.hf as batching
from vericite.errors import ModelCardError
from vericite.models import Pair
from vericite.models.contracts import CONTRADICTS, ENTAILS, NEUTRAL, traits_of
from vericite.records import storable
from vericite.verify import Protocol
from vericite.verify.judges.hf import ATTRSCORE, TRUE, NliJudge, Seq2SeqJudge

pytestmark = pytest.mark.hf


@pytest.mark.parametrize(
    ("says", "native", "column"),
    [(["▁1"], "1", ENTAILS), (["▁0"], "0", NEUTRAL), (["▁", "0"], "0", NEUTRAL), (["▁", "1"], "1", ENTAILS)],
    ids=["1", "0", "space and 0", "space and 1"],
)
def test_true_answers_one_or_zero(tmp_path: Path, says: list[str], native: str, column: int):
    judge = Seq2SeqJudge(str(tiny_models.writer(tmp_path / "model", says)), TRUE, device="cpu")
    for found in judge.judge(PAIRS):
        assert (found.native, found.failure, found.raw) == (native, None, None)
        assert int(found.probabilities.argmax()) == column
        assert found.probabilities[CONTRADICTS] == 0
        assert float(found.probabilities.sum()) == pytest.approx(1)


@pytest.mark.parametrize(
    ("style", "says", "eos", "raw"),
    [
        (TRUE, ["▁maybe"], True, "maybe"),
        (TRUE, ["▁1", "▁a"], True, "1 a"),
        (TRUE, ["▁1", "0"], True, "10"),
        (TRUE, [], True, ""),
        (TRUE, ["▁1"], False, " ".join("1" * 10)),
        (ATTRSCORE, ["▁1"], True, "1"),
        (ATTRSCORE, ["▁Attributable", "."], True, "Attributable."),
        (ATTRSCORE, ["▁Attributable", "▁Contradictory"], True, "Attributable Contradictory"),
    ],
    ids=["another word", "a word more", "a digit more", "nothing", "without end", "a number", "a full stop", "two"],
)
def test_anything_else_is_a_failure_that_keeps_the_text(
    tmp_path: Path, style: Any, says: list[str], eos: bool, raw: str
):
    judge = Seq2SeqJudge(str(tiny_models.writer(tmp_path / "model", says, eos)), style)
    found = list(judge.judge(PAIRS))
    assert {item.raw for item in found} == {raw}
    assert all(item.failure and item.failure.startswith("expected one of ") for item in found)
    assert {item.native for item in found} == {None}


@pytest.mark.parametrize(
    ("word", "native", "column"),
    [
        ("Attributable", "Attributable", ENTAILS),
        ("attributable", "Attributable", ENTAILS),
        ("Extrapolatory", "Extrapolatory", NEUTRAL),
        ("Contradictory", "Contradictory", CONTRADICTS),
    ],
)
def test_attrscore_answers_three_words(tmp_path: Path, word: str, native: str, column: int):
    judge = Seq2SeqJudge(str(tiny_models.writer(tmp_path / "model", [f"▁{word}"])), ATTRSCORE)
    for found in judge.judge(PAIRS):
        assert (found.native, found.failure) == (native, None)
        assert int(found.probabilities.argmax()) == column
        assert float(found.probabilities.sum()) == pytest.approx(1)


@pytest.mark.parametrize(
    ("says", "native", "column"),
    [
        (["▁Attributable"], "attributable", ENTAILS),
        (["▁attributable", "."], "attributable", ENTAILS),
        (["▁maybe"], None, None),
    ],
)
def test_another_checkpoint_is_asked_by_a_prompt_of_the_user(
    tmp_path: Path, says: list[str], native: str | None, column: int | None, monkeypatch: pytest.MonkeyPatch
):
    from vericite.errors import InputError
    from vericite.verify.judges.registry import load_judge

    file = tmp_path / "printed.toml"
    labels = '[labels.attributable]\ncolumn = "entails"\n[labels."not attributable"]\ncolumn = "neutral"\n'
    user = "Options {a}. Claim:{claim} Reference:{reference}"
    file.write_text(f'name = "p"\nversion = 1\nabout = "x"\nverbatim = true\nuser = "{user}"\n{labels}')
    folder = tiny_models.writer(tmp_path / "model", says)
    judge = load_judge(f"hf-seq2seq:{folder}?prompt={file}")
    asked: list[str] = []
    ids = Seq2SeqJudge._ids
    monkeypatch.setattr(
        Seq2SeqJudge, "_ids", lambda self, text, **given: asked.append(text) or ids(self, text, **given)
    )
    for pair, found in zip(PAIRS, judge.judge(PAIRS), strict=True):
        assert found.native == native
        assert (found.failure is None) == (native is not None)
        if column is not None:
            assert int(found.probabilities.argmax()) == column
        assert storable(f"Options {{a}}. Claim:{pair.claim} Reference:{pair.premise}") in asked
    assert "p.v1[verbatim]" in judge.signature
    ours = file.with_name("ours.toml")
    ours.write_text(
        f'name = "p"\nversion = 1\nabout = "x"\nsystem = "{{labels}}"\nuser = "{{claim}} {{reference}}"\n{labels}'
    )
    with pytest.raises(InputError, match="verbatim"):
        load_judge(f"hf-seq2seq:{folder}?prompt={ours}")


def test_probabilities_are_those_of_the_first_token_among_the_answers(tmp_path: Path):
    folder = tiny_models.writer(tmp_path / "model", ["▁1"])
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForSeq2SeqLM.from_pretrained(folder).eval()
    with torch.no_grad():
        tiny_models.step(model).wo.weight[tokenizer.convert_tokens_to_ids("▁0"), 0] = 4.7
    model.save_pretrained(folder)
    premise, claim = PAIRS[0][:2]
    inputs = tokenizer(f"premise: {premise} hypothesis: {claim}", return_tensors="pt")
    with torch.no_grad():
        logits = model(
            input_ids=inputs["input_ids"],
            attention_mask=inputs["attention_mask"],
            decoder_input_ids=torch.tensor([[0]]),
        ).logits[0, 0]
    one, zero = logits[tokenizer.convert_tokens_to_ids(["▁1", "▁0"])].softmax(0).tolist()
    (found,) = Seq2SeqJudge(str(folder), TRUE, device="cpu").judge([PAIRS[0]])
    assert found.probabilities == pytest.approx([one, 0, zero], abs=1e-5)
    assert 0.55 < one < 0.95


def test_prompts_are_the_published_ones():
    assert TRUE.prompt.format(premise="P {claim}", claim="C") == "premise: P {claim} hypothesis: C"
    asked = ATTRSCORE.prompt.format(premise="P", claim="C")
    assert asked.startswith("Below is an instruction that describes a task, paired with an input that")
    assert asked.endswith("Contradictory.\n\n### Input:\nClaim: C\n\nReference: P\n\n### Response:")


@pytest.mark.parametrize("style", [TRUE, ATTRSCORE], ids=["true", "attrscore"])
def test_of_a_prompt_only_the_premise_is_cut(tmp_path: Path, style: Any):
    positions = 64 if style is TRUE else 600
    judge = Seq2SeqJudge(str(tiny_models.asker(tmp_path / "model", positions)), style)
    assert traits_of(judge).capacity is not None
    premise = " ".join(["a b"] * 500)
    (tokens,) = judge._encode([Pair(premise, "the claim")])
    assert isinstance(tokens, batching.TokenizedInput)
    assert tokens.cut
    assert positions - 2 <= len(tokens.ids) <= positions
    read = judge._loaded.tokenizer.decode(tokens.ids, skip_special_tokens=True)
    before, after = style.prompt.format(premise="PREMISE", claim="the claim").split("PREMISE")
    assert read.startswith(" ".join(before.split()))
    assert read.endswith(" ".join(after.split()))
    fits = " ".join(["a"] * (judge.capacity - judge.length("the claim")))
    whole, over, failed = judge._encode([Pair(fits, "the claim"), Pair(fits + " a", "the claim"), Pair("a", premise)])
    assert isinstance(whole, batching.TokenizedInput)
    assert isinstance(over, batching.TokenizedInput)
    assert (whole.cut, len(whole.ids), over.cut) == (False, positions, True)
    assert not isinstance(failed, batching.TokenizedInput)
    assert str(failed.failure).startswith("expected a claim of fewer than ")


def test_a_cut_premise_is_noted(tmp_path: Path):
    judge = Seq2SeqJudge(str(tiny_models.writer(tmp_path / "model", ["▁1"], positions=160)), TRUE)
    short, long = judge.judge([Pair("a", "b"), Pair("a " * 900, "b")])
    assert (short.note, long.note) == (None, "a premise was cut to the model's 160 tokens")


def test_what_it_writes_does_not_depend_on_the_batch(tmp_path: Path):
    folder = tiny_models.asker(tmp_path / "model", 160)
    judge = Seq2SeqJudge(str(folder), TRUE)
    pairs = [*PAIRS, *(Pair("a " * number, "b") for number in (3, 30, 60))]
    together = [item.raw for item in judge.judge(pairs)]
    assert together == [next(judge.judge([pair])).raw for pair in pairs]
    assert len(set(together)) > 2


def test_an_end_in_a_source_is_read_as_text(tmp_path: Path):
    judge = Seq2SeqJudge(str(tiny_models.asker(tmp_path / "model")), TRUE)
    (tokens,) = judge._encode([Pair("a </s> b", "a")])
    assert isinstance(tokens, batching.TokenizedInput)
    assert tokens.ids.count(1) == 1


def test_a_classifier_is_no_writer_and_a_writer_no_classifier(checkpoints: Mapping[str, Path], tmp_path: Path):
    with pytest.raises(ModelCardError, match="expected weights that transformers loads from bert"):
        Seq2SeqJudge(str(checkpoints["bert"]), TRUE)
    folder = tiny_models.change(tiny_models.asker(tmp_path / "t5"), id2label=_numbered(tiny_models.LABELS))
    with pytest.raises(ModelCardError, match=r"expected the weights of a T5ForSequenceClassification|expected weights"):
        NliJudge(str(folder))


def test_a_tokenizer_that_starts_all_answers_alike_is_an_error(tmp_path: Path):
    folder = tiny_models.asker(tmp_path / "model")
    content = json.loads((folder / "tokenizer.json").read_text())
    vocabulary = content["model"]["vocab"]
    for piece in vocabulary:
        # Words are then spelt, each after a space.
        if piece[0] in ("▁1", "▁0"):
            piece[0] = piece[0] + "x"
    (folder / "tokenizer.json").write_text(json.dumps(content))
    with pytest.raises(ModelCardError, match="expected a tokenizer that distinguishes 1, 0 by their first tokens"):
        Seq2SeqJudge(str(folder), TRUE)


def test_the_signature_of_a_writer_names_its_style(tmp_path: Path):
    folder = str(tiny_models.asker(tmp_path / "model"))
    signatures = [Seq2SeqJudge(folder, style).signature for style in (TRUE, ATTRSCORE)]
    assert [signature.split("@")[0] for signature in signatures] == ["hf-seq2seq:model", "hf-attrscore:model"]


# Through the verifier


def test_the_verifier_counts_answers_that_cannot_be_read(tmp_path: Path):
    judge = Seq2SeqJudge(str(tiny_models.writer(tmp_path / "model", ["▁maybe"])), TRUE)
    documents = [{"id": "a", "text": "Aspirin lowers fever in adults."}]
    checked = vericite.check("Aspirin lowers fever [1].", documents, protocol=Protocol(judge=judge))
    assert checked.verdicts == ()
    assert "the model wrote 'maybe'" in checked.failures[0].reason
