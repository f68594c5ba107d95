"""The answers that the verifier is measured on, the plain ways to judge them, and the floor under any way."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vericite.corpus import demo_documents, demo_vectors
from vericite.lab.train.pack import constants_of, unpacked
from vericite.models import ModelFolder, Pair
from vericite.models.engine import MAY_EXIT, available_cores
from vericite.models.session import open_session
from vericite.records import Answer
from vericite.text.citations import parse_answer
from vericite.text.sentences import document_sentences
from vericite.verify import Sources, Windows

Array = NDArray[np.float32]

ANSWERS, CLAIMS, DOCUMENTS = 200, 5, 5
TURNED = {"reduced": "increased", "increased": "reduced", "lower": "higher", "higher": "lower"}
TURNED |= {"lowers": "raises", "more": "less", "less": "more", "did not": "did", "improves": "worsens"}

Draft = tuple[str, str, tuple[int, ...]]
LONGEST = 512
PACKAGES = {"onnx": "onnx", "torch": "torch", "sentence_transformers": "sentence-transformers"}
SPECIAL = {
    "unk_token": "[UNK]",
    "sep_token": "[SEP]",
    "pad_token": "[PAD]",
    "cls_token": "[CLS]",
    "mask_token": "[MASK]",
}
SIDE = 2048
"""Of the square matrices whose product gives the machine's rate: large enough that the rate stands still."""


def _other_number(text: str) -> str:
    return re.sub(r"\b[1-9]\d*", lambda found: str(2 * int(found[0])), text, count=1)


def _turned(text: str) -> str:
    pattern = r"\b(?:" + "|".join(TURNED) + r")\b"
    return re.sub(pattern, lambda found: TURNED[found[0]], text, count=1)


def _without_parentheses(text: str) -> str:
    return re.sub(r" \([^()]*\)", "", text)


def _shorter(text: str) -> str:
    return re.sub(r"^(.{40,}), [^,]*\.$", r"\1.", text)


def led(text: str, by: str = "Overall") -> str:
    """The sentence after a few words; as it is where it begins with a name or a single letter."""
    return f"{by}, {text[0].lower()}{text[1:]}" if text[1:2].islower() else text


ALTERATIONS = (_other_number, _turned, _without_parentheses, _shorter, led)


def corpus() -> tuple[list[list[str]], NDArray[np.int64]]:
    """The demo documents' sentences; and to each document all of them by number, the likest first."""
    sentences = [[part.text_in(item) for part in document_sentences(item)] for item in demo_documents()]
    vectors = demo_vectors()
    return sentences, np.argsort(-(vectors @ vectors.T), axis=1, kind="stable")


def drafts() -> Iterator[Draft]:
    """Answers as text with markers, each with the numbers of its documents; the same in every run.

    A document and four of the ten most like it; claims are sentences of theirs, half of them altered, four
    in five citing the document they come from, one in four a second one.
    """
    sentences, near = corpus()
    draw = random.Random(0)
    for number in range(ANSWERS):
        first = draw.randrange(len(sentences))
        chosen = (first, *draw.sample([int(other) for other in near[first, 1:11]], DOCUMENTS - 1))
        pool = [(place, text) for place, item in enumerate(chosen) for text in sentences[item]]
        parts: list[str] = []
        for own, text in draw.sample(pool, CLAIMS):
            if draw.random() < 0.5:
                text = draw.choice(ALTERATIONS)(text)
            cited = own if draw.random() < 0.8 else draw.randrange(DOCUMENTS)
            second = draw.randrange(DOCUMENTS) if draw.random() < 0.25 else cited
            marks = "".join(f"[{mark + 1}]" for mark in sorted({cited, second}))
            parts.append(f"{text.removesuffix('.')} {marks}.")
        yield f"answer-{number}", " ".join(parts), chosen


def parsed(draft: Draft) -> Answer:
    """The answer split into claims, with its documents."""
    name, text, chosen = draft
    corpus = demo_documents()
    return parse_answer(name, text, [corpus[item] for item in chosen])


def pairs_of(answer: Answer) -> Iterator[Pair]:
    """What the ``vericite`` protocol asks of an answer: each claim with each sentence of what it cites."""
    sources = Sources(answer.documents)
    for claim in answer.claims:
        for case in Windows().cases(claim, sources):
            for premise in case.premises:
                yield Pair(premise.text, claim.text)


def missing() -> list[str]:
    """The packages that the sentence-transformers ways need and that are not installed."""
    return [package for module, package in PACKAGES.items() if not find_spec(module)]


class Session:
    """One pair at a time through onnxruntime with its default options, on the shipped 8-bit model, all layers read."""

    def __init__(self, folder: ModelFolder) -> None:
        from tokenizers import Tokenizer

        self.session = open_session(str(folder.path / "model.onnx"), available_cores())
        self.tokenizer = Tokenizer.from_file(str(folder.path / "tokenizer.json"))
        self.tokenizer.enable_truncation(LONGEST)
        self._has_exits = bool(folder.card.exits)

    def logits(self, pairs: Sequence[Pair]) -> Array:
        """The model's outputs, a row a pair."""
        rows: list[Array] = []
        for pair in pairs:
            found = self.tokenizer.encode(pair.premise, pair.claim)
            feed = {
                "input_ids": np.array([found.ids], dtype=np.int64),
                "attention_mask": np.array([found.attention_mask], dtype=np.int64),
                "token_type_ids": np.array([found.type_ids], dtype=np.int64),
            }
            if self._has_exits:
                feed[MAY_EXIT] = np.array([False])
            rows.append(self.session.run(None, feed)[0][0])
        return np.array(rows)


class SentenceTransformers:
    """Its CrossEncoder in fp32, on the shipped weights brought back to fp32."""

    def __init__(self, folder: ModelFolder, restored_to: Path) -> None:
        import torch
        from sentence_transformers import CrossEncoder

        restore(folder, restored_to)
        self.encoder = CrossEncoder(str(restored_to), device="cpu")
        found = {parameter.dtype for parameter in self.encoder.parameters()}
        if found != {torch.float32}:
            raise TypeError(f"expected weights of float32; found {found}")

    def logits(self, pairs: Sequence[Pair], batch: int) -> Array:
        """The model's outputs, a row a pair."""
        texts = [(pair.premise, pair.claim) for pair in pairs]
        return self.encoder.predict(texts, batch_size=batch, show_progress_bar=False)


def restore(folder: ModelFolder, destination: Path) -> None:
    """Write the shipped 8-bit graph as a BERT classifier in fp32, with its tokenizer."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification, PreTrainedTokenizerFast
    from transformers.utils.logging import disable_progress_bar

    disable_progress_bar()
    import onnx

    weights = {
        name if name.startswith("classifier") else f"bert.{name}": value
        for name, value in unpacked(onnx.load(folder.path / "model.onnx").graph).items()
    }
    vocabulary, hidden = weights["bert.embeddings.word_embeddings.weight"].shape
    labels = dict(enumerate(folder.card.labels))
    config = BertConfig(
        vocab_size=vocabulary,
        hidden_size=hidden,
        num_hidden_layers=sum(name.endswith("intermediate.dense.bias") for name in weights),
        num_attention_heads=folder.card.heads,
        intermediate_size=len(weights["bert.encoder.layer.0.intermediate.dense.bias"]),
        max_position_embeddings=len(weights["bert.embeddings.position_embeddings.weight"]),
        id2label=labels,
        label2id={label: index for index, label in labels.items()},
    )
    model = BertForSequenceClassification(config)
    model.load_state_dict({name: torch.from_numpy(value.copy()) for name, value in weights.items()})
    model.save_pretrained(destination)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_file=str(folder.path / "tokenizer.json"),
        model_max_length=LONGEST,
        # Not among the default names; without it the claim would be read as more of the premise.
        model_input_names=["input_ids", "token_type_ids", "attention_mask"],
        **SPECIAL,
    )
    tokenizer.save_pretrained(destination)


class Work(NamedTuple):
    """Multiply-adds, by the kind of number multiplied."""

    int8: float
    fp32: float


def work(folder: ModelFolder, lengths: Sequence[int]) -> Work:
    """What the model must multiply for inputs of these lengths in tokens, none of them padded."""
    import onnx

    held = constants_of(onnx.load(folder.path / "model.onnx").graph)
    products = [value for name, value in held.items() if value.dtype == np.int8 and name != "words"]
    hidden = held["words"].shape[1]
    layers = sum(name.endswith(".intermediate.weight") for name in held)
    tokens = np.asarray(lengths, dtype=np.float64)
    # Queries by keys, then the result by values: both of length x length x hidden over all heads.
    attention = layers * 2 * hidden * (tokens**2).sum()
    last = len(tokens) * (held["pooler.dense.weight"].size + held["classifier.weight"].size)
    return Work(int8=sum(value.size for value in products) * tokens.sum(), fp32=attention + last)


def matrix_rates() -> Work:
    """Multiply-adds a second of onnxruntime's products of large matrices, all cores; the best of ten."""
    from onnx import TensorProto, helper, numpy_helper

    rates: list[float] = []
    for op, left, right, kind, out in (
        ("MatMulInteger", np.uint8, np.int8, TensorProto.UINT8, TensorProto.INT32),
        ("MatMul", np.float32, np.float32, TensorProto.FLOAT, TensorProto.FLOAT),
    ):
        draw = np.random.default_rng(0)
        weight = numpy_helper.from_array(draw.integers(-127, 128, (SIDE, SIDE)).astype(right), "weight")
        graph = helper.make_graph(
            [helper.make_node(op, ["left", "weight"], ["product"])],
            "rate",
            [helper.make_tensor_value_info("left", kind, [SIDE, SIDE])],
            [helper.make_tensor_value_info("product", out, [SIDE, SIDE])],
            [weight],
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        session = open_session(model.SerializeToString())
        feed = {"left": draw.integers(0, 256, (SIDE, SIDE)).astype(left)}
        session.run(None, feed)
        seconds: list[float] = []
        for _ in range(10):
            start = time.perf_counter()
            session.run(None, feed)
            seconds.append(time.perf_counter() - start)
        rates.append(SIDE**3 / min(seconds))
    return Work(*rates)
