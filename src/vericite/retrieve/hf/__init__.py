"""Rerankers and embedders from Hugging Face checkpoints; they need the extra ``[hf]``, which loads when one is made."""

from vericite.retrieve.hf.embedder import HFEmbedder
from vericite.retrieve.hf.names import EMBEDDERS, RERANKERS, load_embedder, load_reranker
from vericite.retrieve.hf.reranker import HFReranker

__all__ = ["EMBEDDERS", "RERANKERS", "HFEmbedder", "HFReranker", "load_embedder", "load_reranker"]
