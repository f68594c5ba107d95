"""Checkpoints that are known by a name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vericite.retrieve.hf.embedder import HFEmbedder
from vericite.retrieve.hf.reranker import HFReranker

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
