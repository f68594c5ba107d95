"""Embedders: models whose vectors of questions and documents lie close where they belong together."""

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
"""Tokens of a text that are read, at most."""

Vector = NDArray[np.float32]

Pooling = Literal["cls", "mean", "last", "pooler"]
"""Which of a text's token vectors is its own: the first, the mean of all, or the last, as of models that read on; or
what the checkpoint's pooler makes of the first (``SimCSE``)."""

Titles = Literal["joined", "pair", "separated"]
"""How a document's title is read before its text: as part of it, as the first of two texts (``MedCPT``), or as part of
it with a separator between them (``SPECTER``)."""


class HFEmbedder:
    """A checkpoint as an embedder, perhaps with another checkpoint for questions.

    Runs in 32-bit floats on a processor and in bfloat16 on CUDA. Threads may share it.

    Args:
        checkpoint: A folder, or a name on huggingface.co.
        query_checkpoint: The model for questions; the same one where this is None.
        pooling: Which vector is a text's.
        device: ``cpu``, ``cuda``, ``cuda:1``, ``mps``; by default the fastest there is.
        max_tokens: Tokens of a text that are read; the checkpoint's own limit holds where it is lower.
        titles: How ``embed_documents`` reads titles.
        unit: Make the vectors one long, so that their product is the cosine; for checkpoints that were trained by the
            product of vectors of any length, which says more, False.

    Raises:
        ModelMissingError: There is no such checkpoint.
        ModelCardError: It is no encoder, or not one that is safe to load, or two do not fit together.
        InputError: There is no such device or pooling, or too few tokens.
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
                f"expected two checkpoints with vectors of one width; found {self._questions.width} for questions and "
                f"{self._documents.width} for documents. Name two that were trained together."
            )
        names = [self._documents.name, *([self._questions.name] if query_checkpoint is not None else [])]
        length = "" if unit else ", any length"
        self.signature = f"hf:{'+'.join(names)}({pooling}, titles={titles}, max_tokens={max_tokens}{length})"

    def embed(self, texts: Iterable[str]) -> Vector:
        """A row a text, as of documents whose titles are part of them.

        Raises:
            ModelError: The model breaks, gives no numbers, or has not enough memory.
        """
        return self._documents.rows([(text,) for text in texts], separated=False)

    def embed_documents(self, documents: Iterable[Document]) -> Vector:
        """A row a document, its title read as the checkpoint was trained to.

        Raises:
            ModelError: The model breaks, gives no numbers, or has not enough memory.
        """
        if self._titles == "joined":
            return self.embed(document.titled_text for document in documents)
        parts = [(document.title, document.text) for document in documents]
        return self._documents.rows(parts, separated=self._titles == "separated")

    def embed_query(self, text: str) -> Vector:
        """The vector of a question.

        Raises:
            ModelError: The model breaks, gives no numbers, or has not enough memory.
        """
        return self._questions.rows([(text,)], separated=False)[0]


def is_decoder(checkpoint: str) -> bool:
    """Whether a checkpoint is of a kind that only reads on, so that its last token alone has seen all of a text.

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
        # A pooler lies behind the vectors that are read here, unless it is asked for, and many checkpoints have none.
        self._loaded = load(found, "AutoModel", device, unused=None if pooling == "pooler" else "pooler")
        self.name = found.signature
        self.width: int = self._loaded.model.config.hidden_size
        self._reader = Reader(self._loaded)
        self._pooling: Pooling = pooling
        self._max_tokens = min(max_tokens, self._loaded.max_tokens)
        self._unit = unit

    def rows(self, parts: list[tuple[str, ...]], separated: bool) -> Vector:
        """A row for the texts, or pairs of texts; ``separated`` ones are read as one."""
        encode = self._one if separated else self._apart
        rows = list(in_batches(parts, self._loaded, encode, self._score, refuse_too_large))
        return np.stack(rows) if rows else np.zeros((0, self.width), dtype=np.float32)

    def _apart(self, parts: list[tuple[str, ...]]) -> list[TokenizedInput | Vector]:
        seconds = [text for _, text in parts] if len(parts[0]) == 2 else None
        return [*self._reader.within(self._max_tokens, [each[0] for each in parts], seconds)]

    def _one(self, parts: list[tuple[str, ...]]) -> list[TokenizedInput | Vector]:
        titles = self._reader.read([title for title, _ in parts])
        texts = self._reader.read([text for _, text in parts])
        # What ends the title separates it from the text, whose own beginning is left out.
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
            raise ModelCardError(f"expected a pooler in {self.name}; found none. Take its cls or mean instead")
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
"""Tokens of question and document together that most cross-encoders were trained on."""

_RELEVANT = frozenset("1 label1 relevant positive true yes".split())
_IRRELEVANT = frozenset("0 label0 irrelevant notrelevant nonrelevant negative false no".split())


class HFReranker:
    """A checkpoint for sequence classification with one output, or two of which one means relevant.

    Runs in 32-bit floats on a processor, where a text's relevance does not depend on its batch beyond rounding, and in
    bfloat16 on CUDA, where it moves in the third digit. Threads may share it.

    Args:
        checkpoint: A folder, or a name on huggingface.co.
        device: ``cpu``, ``cuda``, ``cuda:1``, ``mps``; by default the fastest there is.
        max_tokens: Tokens of question and text together; where there are more, the longer of the two is cut. The
            checkpoint's own limit holds where it is lower.

    Raises:
        ModelMissingError: There is no such checkpoint.
        ModelCardError: It is no cross-encoder, or not one that is safe to load.
        InputError: There is no such device, or too few tokens.
        MissingExtraError: The extra ``[hf]`` is not installed.
    """

    def __init__(self, checkpoint: str, device: str | None = None, max_tokens: int = RERANK_TOKENS) -> None:
        if max_tokens < 8:
            raise InputError(f"expected max_tokens of at least 8; found {max_tokens}. Raise it.")
        library("torch")
        found = find_checkpoint(checkpoint, offline_by_environment())
        labels: dict[int, str] = read_config(found).id2label
        # Before the weights, which can take minutes to load.
        self._relevant = _relevant_output([str(labels[index]) for index in sorted(labels)], found.name)
        self._loaded = load(found, "AutoModelForSequenceClassification", device)
        self._reader = Reader(self._loaded)
        self._max_tokens = min(max_tokens, self._loaded.max_tokens)
        self.signature = f"hf:{found.signature}(max_tokens={self._max_tokens})"

    def logits(self, question: str, texts: Iterable[str]) -> NDArray[np.float32]:
        """One number a text, title and all; the higher, the more relevant.

        Raises:
            ModelError: The model breaks, gives no numbers, or has not enough memory.
        """

        def encode(window: list[str]) -> list[TokenizedInput | np.float32]:
            return [*self._reader.within(self._max_tokens, [question] * len(window), window)]

        rows = list(in_batches(texts, self._loaded, encode, self._score, refuse_too_large))
        return np.array(rows, dtype=np.float32)

    def relevance(self, question: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """How relevant each text is, from 0 to 1: the sigmoid of one output, or the softmax's share of the relevant."""
        # Of two outputs the share is the sigmoid of their difference. Written so that nothing overflows.
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
        "expected a cross-encoder with one output, or with two that are called relevant and irrelevant or LABEL_1 and "
        f"LABEL_0; found {len(labels)} ({', '.join(labels[:6])}) in {checkpoint}. Choose a checkpoint that was trained "
        "to rank"
    )


RERANKERS: Mapping[str, str] = {
    "medcpt": "ncbi/MedCPT-Cross-Encoder",
    "bge": "BAAI/bge-reranker-v2-m3",
}
"""Cross-encoders by name: MedCPT's, and the one of Reason and Verify."""

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
"""Embedders by name: MedRAG's dense retrievers, each read as it was trained."""


def load_reranker(name: str, device: str | None = None) -> HFReranker:
    """The reranker of a name here, else of a folder or a name on huggingface.co.

    Raises:
        ModelMissingError: There is no such checkpoint.
        ModelCardError: It is no cross-encoder, or not one that is safe to load.
        MissingExtraError: The extra ``[hf]`` is not installed.
    """
    return HFReranker(RERANKERS.get(name, name), device)


def load_embedder(name: str, device: str | None = None) -> HFEmbedder:
    """The embedder of a name here, else of a folder or a name on huggingface.co, whose first token's vector is taken.

    Raises:
        ModelMissingError: There is no such checkpoint.
        ModelCardError: It is no encoder, or not one that is safe to load.
        MissingExtraError: The extra ``[hf]`` is not installed.
    """
    return HFEmbedder(**EMBEDDERS.get(name, {"checkpoint": name}), device=device)
