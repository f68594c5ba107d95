"""Embedders and rerankers from Hugging Face checkpoints."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from vericite.errors import InputError, ModelCardError, ModelError
from vericite.models.hf import (
    Reader,
    TokenizedInput,
    find_checkpoint,
    in_batches,
    library,
    load,
    read_config,
    refuse_too_large,
)
from vericite.network.access import offline_by_environment
from vericite.records import Document

MAX_TOKENS = 512
"""Maximum number of tokens read from a text."""

Vector = NDArray[np.float32]

Pooling = Literal["cls", "mean", "last", "pooler"]
"""How token vectors become a text's vector: the first, the mean, the last (decoders), or the pooler's output for the
first (``SimCSE``)."""

Titles = Literal["joined", "pair", "separated"]
"""How a document's title is read: as part of the text, as the first of two texts (``MedCPT``), or as part of the text
with a separator (``SPECTER``)."""


class HFEmbedder:
    """A checkpoint as an embedder, optionally with another checkpoint for questions.

    Runs in 32-bit floats on a CPU and in bfloat16 on CUDA. Threads may share it.

    Args:
        checkpoint: A folder, or a name on huggingface.co.
        query_checkpoint: The model for questions. None: the same model.
        pooling: How token vectors become a text's vector.
        device: ``cpu``, ``cuda``, ``cuda:1``, ``mps``. Default: the fastest one.
        max_tokens: Maximum number of tokens read from a text; the checkpoint's own limit applies if it is lower.
        titles: How ``embed_documents`` reads titles.
        unit: Scale vectors to length one, so that their product is the cosine. Use False for checkpoints that were
            trained on products of vectors of any length.

    Raises:
        ModelMissingError: There is no such checkpoint.
        ModelCardError: It is not an encoder, is not safe to load, or the two do not fit together.
        InputError: There is no such device or pooling, or ``max_tokens`` is too small.
        MissingExtraError: The extra ``[hf]`` is not installed.
    """

    def __init__(
        self,
        checkpoint: str,
        query_checkpoint: str | None = None,
        pooling: Pooling = "cls",
        device: str | None = None,
        max_tokens: int = MAX_TOKENS,
        titles: Titles = "joined",
        unit: bool = True,
    ) -> None:
        if max_tokens < 8:
            raise InputError(f"expected max_tokens of at least 8; found {max_tokens}. Raise it.")
        if pooling not in get_args(Pooling) or titles not in get_args(Titles):
            raise InputError(
                "expected pooling to be cls, mean, last or pooler, and titles joined, pair or separated; "
                f"found {pooling!r} and {titles!r}. Correct them."
            )
        library("torch")
        self._titles: Titles = titles
        self._documents = _Encoder(checkpoint, pooling, device, max_tokens, unit)
        self._questions = (
            self._documents
            if query_checkpoint is None
            else _Encoder(query_checkpoint, pooling, device, max_tokens, unit)
        )
        if self._questions.width != self._documents.width:
            raise InputError(
                f"expected two checkpoints with vectors of the same width; found {self._questions.width} for questions "
                f"and {self._documents.width} for documents. Name two that were trained together."
            )
        names = [self._documents.name, *([self._questions.name] if query_checkpoint is not None else [])]
        length = "" if unit else ", any length"
        self.signature = f"hf:{'+'.join(names)}({pooling}, titles={titles}, max_tokens={max_tokens}{length})"

    def embed(self, texts: Iterable[str]) -> Vector:
        """Return a row for each text, read like a document that includes its title.

        Raises:
            ModelError: The model fails, gives no numbers, or runs out of memory.
        """
        return self._documents.rows([(text,) for text in texts], separated=False)

    def embed_documents(self, documents: Iterable[Document]) -> Vector:
        """Return a row for each document, with its title read as in the checkpoint's training.

        Raises:
            ModelError: The model fails, gives no numbers, or runs out of memory.
        """
        if self._titles == "joined":
            return self.embed(document.titled_text for document in documents)
        parts = [(document.title, document.text) for document in documents]
        return self._documents.rows(parts, separated=self._titles == "separated")

    def embed_query(self, text: str) -> Vector:
        """Return the vector of a question.

        Raises:
            ModelError: The model fails, gives no numbers, or runs out of memory.
        """
        return self._questions.rows([(text,)], separated=False)[0]


def is_decoder(checkpoint: str) -> bool:
    """Whether a checkpoint is a decoder, in which only the last token has seen the whole text.

    Raises:
        ModelMissingError: There is no such checkpoint.
        ModelCardError: It has no configuration that transformers knows.
    """
    kinds = library("transformers.models.auto.modeling_auto")
    kind: str = read_config(find_checkpoint(checkpoint, offline_by_environment())).model_type
    return kind in kinds.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES and kind not in kinds.MODEL_FOR_MASKED_LM_MAPPING_NAMES


class _Encoder:
    """One checkpoint."""

    def __init__(self, checkpoint: str, pooling: Pooling, device: str | None, max_tokens: int, unit: bool) -> None:
        found = find_checkpoint(checkpoint, offline_by_environment())
        # Poolers are not used unless asked for, and many checkpoints have none.
        self._loaded = load(found, "AutoModel", device, unused=None if pooling == "pooler" else "pooler")
        self.name = found.signature
        self.width: int = self._loaded.model.config.hidden_size
        self._reader = Reader(self._loaded)
        self._pooling: Pooling = pooling
        self._max_tokens = min(max_tokens, self._loaded.max_tokens)
        self._unit = unit

    def rows(self, parts: list[tuple[str, ...]], separated: bool) -> Vector:
        """Return a row for each text or pair of texts; ``separated`` pairs are read as one text."""
        encode = self._encode_joined if separated else self._encode_pairs
        rows = list(in_batches(parts, self._loaded, encode, self._score, refuse_too_large))
        return np.stack(rows) if rows else np.zeros((0, self.width), dtype=np.float32)

    def _encode_pairs(self, parts: list[tuple[str, ...]]) -> list[TokenizedInput | Vector]:
        seconds = [text for _, text in parts] if len(parts[0]) == 2 else None
        return [*self._reader.within(self._max_tokens, [each[0] for each in parts], seconds)]

    def _encode_joined(self, parts: list[tuple[str, ...]]) -> list[TokenizedInput | Vector]:
        titles = self._reader.read([title for title, _ in parts])
        texts = self._reader.read([text for _, text in parts])
        # The end token of the title separates it from the text, whose start token is left out.
        joined = [[*title.ids, *text.ids[1:]] for title, text in zip(titles, texts, strict=True)]
        limit = self._max_tokens
        cut = [ids if len(ids) <= limit else [*ids[: limit - 1], ids[-1]] for ids in joined]
        return [TokenizedInput(ids, [], len(ids) < len(whole)) for ids, whole in zip(cut, joined, strict=True)]

    def _score(self, batch: list[TokenizedInput]) -> list[Vector]:
        inputs = self._reader.inputs(batch)
        with library("torch").inference_mode():
            read = self._loaded.model(**inputs)
            if self._pooling == "pooler":
                pooled = self._by_pooler(read)
            else:
                pooled = _pooled(read.last_hidden_state.float(), inputs["attention_mask"], self._pooling)
            found = pooled.float().cpu().numpy()
        if not np.isfinite(found).all():
            raise ModelError(f"expected numbers from {self.name}; found none. Try another device or checkpoint")
        if self._unit:
            found = found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-12)
        return list(found.astype(np.float32))

    def _by_pooler(self, read: Any) -> Any:
        found = getattr(read, "pooler_output", None)
        if found is None:
            raise ModelCardError(f"expected a pooler in {self.name}; found none. Use cls or mean instead")
        return found


def _pooled(states: Any, mask: Any, pooling: Pooling) -> Any:
    if pooling == "cls":
        return states[:, 0]
    if pooling == "last":
        rows = library("torch").arange(len(states), device=states.device)
        return states[rows, mask.sum(dim=1) - 1]
    weights = mask.unsqueeze(-1).float()
    return (states * weights).sum(dim=1) / weights.sum(dim=1).clamp(min=1e-9)


RERANK_TOKENS = 512
"""Maximum number of tokens of question and document together; most cross-encoders were trained on this many."""

_RELEVANT = frozenset("1 label1 relevant positive true yes".split())
_IRRELEVANT = frozenset("0 label0 irrelevant notrelevant nonrelevant negative false no".split())


class HFReranker:
    """A checkpoint for sequence classification with one output, or two of which one means relevant.

    Runs in 32-bit floats on a CPU, where a text's relevance depends on its batch only by rounding, and in bfloat16 on
    CUDA, where it may change in the third digit. Threads may share it.

    Args:
        checkpoint: A folder, or a name on huggingface.co.
        device: ``cpu``, ``cuda``, ``cuda:1``, ``mps``. Default: the fastest one.
        max_tokens: Maximum number of tokens of question and text together; the longer of the two is cut. The
            checkpoint's own limit applies if it is lower.

    Raises:
        ModelMissingError: There is no such checkpoint.
        ModelCardError: It is not a cross-encoder, or is not safe to load.
        InputError: There is no such device, or ``max_tokens`` is too small.
        MissingExtraError: The extra ``[hf]`` is not installed.
    """

    def __init__(self, checkpoint: str, device: str | None = None, max_tokens: int = RERANK_TOKENS) -> None:
        if max_tokens < 8:
            raise InputError(f"expected max_tokens of at least 8; found {max_tokens}. Raise it.")
        library("torch")
        found = find_checkpoint(checkpoint, offline_by_environment())
        labels: dict[int, str] = read_config(found).id2label
        # Checked before the weights, which can take minutes to load.
        self._relevant = _relevant_output([str(labels[index]) for index in sorted(labels)], found.name)
        self._loaded = load(found, "AutoModelForSequenceClassification", device)
        self._reader = Reader(self._loaded)
        self._max_tokens = min(max_tokens, self._loaded.max_tokens)
        self.signature = f"hf:{found.signature}(max_tokens={self._max_tokens})"

    def logits(self, question: str, texts: Iterable[str]) -> NDArray[np.float32]:
        """Return a number for each text (including its title); higher is more relevant.

        Raises:
            ModelError: The model fails, gives no numbers, or runs out of memory.
        """

        def encode(window: list[str]) -> list[TokenizedInput | np.float32]:
            return [*self._reader.within(self._max_tokens, [question] * len(window), window)]

        rows = list(in_batches(texts, self._loaded, encode, self._score, refuse_too_large))
        return np.array(rows, dtype=np.float32)

    def relevance(self, question: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return each text's relevance from 0 to 1: the sigmoid of one output, or the softmax of the relevant one."""
        # With two outputs the softmax is the sigmoid of their difference. This form does not overflow.
        return (0.5 * (1 + np.tanh(0.5 * self.logits(question, texts)))).astype(np.float32)

    def _score(self, batch: list[TokenizedInput]) -> list[np.float32]:
        with library("torch").inference_mode():
            outputs = self._loaded.model(**self._reader.inputs(batch)).logits.float().cpu().numpy()
        if not np.isfinite(outputs).all():
            raise ModelError(f"expected numbers from {self.signature}; found none. Try another device or checkpoint")
        if outputs.shape[1] == 1:
            return list(outputs[:, 0])
        return list(outputs[:, self._relevant] - outputs[:, 1 - self._relevant])


def _relevant_output(labels: Sequence[str], checkpoint: str) -> int:
    if len(labels) == 1:
        return 0
    spelt = [re.sub(r"[\W_]+", "", label.casefold()) for label in labels]
    for relevant, other in ((1, 0), (0, 1)):
        if len(labels) == 2 and spelt[relevant] in _RELEVANT and spelt[other] in _IRRELEVANT:
            return relevant
    raise ModelCardError(
        "expected a cross-encoder with one output, or with two named relevant and irrelevant or LABEL_1 and LABEL_0; "
        f"found {len(labels)} ({', '.join(labels[:6])}) in {checkpoint}. Choose a checkpoint that was trained to rank"
    )


RERANKERS: Mapping[str, str] = {
    "medcpt": "ncbi/MedCPT-Cross-Encoder",
    "bge": "BAAI/bge-reranker-v2-m3",
}
"""Cross-encoders by name: MedCPT's, and the one used by Reason and Verify."""

EMBEDDERS: Mapping[str, Mapping[str, Any]] = {
    "medcpt": {
        "checkpoint": "ncbi/MedCPT-Article-Encoder",
        "query_checkpoint": "ncbi/MedCPT-Query-Encoder",
        "titles": "pair",
        "unit": False,
    },
    "contriever": {"checkpoint": "facebook/contriever", "pooling": "mean", "unit": False},
    "specter": {"checkpoint": "allenai/specter", "titles": "separated"},
}
"""Embedders by name: MedRAG's dense retrievers, each read as in its training."""


def load_reranker(name: str, device: str | None = None) -> HFReranker:
    """Return the reranker of this name, or of a folder or a name on huggingface.co.

    Raises:
        ModelMissingError: There is no such checkpoint.
        ModelCardError: It is not a cross-encoder, or is not safe to load.
        MissingExtraError: The extra ``[hf]`` is not installed.
    """
    return HFReranker(RERANKERS.get(name, name), device)


def load_embedder(name: str, device: str | None = None) -> HFEmbedder:
    """Return the embedder of this name, or of a folder or a name on huggingface.co (with the first token's vector).

    Raises:
        ModelMissingError: There is no such checkpoint.
        ModelCardError: It is not an encoder, or is not safe to load.
        MissingExtraError: The extra ``[hf]`` is not installed.
    """
    return HFEmbedder(**EMBEDDERS.get(name, {"checkpoint": name}), device=device)
