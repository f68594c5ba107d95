"""The optional parts of the package, and whether they are installed."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec


@dataclass(frozen=True)
class Extra:
    """An optional part: what it is for, and the modules that must be there."""

    purpose: str
    modules: tuple[str, ...]


EXTRAS = {
    "store": Extra("a local store for large corpora", ("lancedb", "pyarrow")),
    "llm": Extra("language models over an OpenAI-compatible service", ("openai",)),
    "local": Extra("language models in process, through llama.cpp", ("xllamacpp",)),
    "eval": Extra("measures of answers and rankings", ("rouge_score", "ir_measures", "scipy", "sklearn")),
    "hf": Extra("judges and rerankers from checkpoints", ("torch", "transformers")),
    "train": Extra("training and export", ("torch", "transformers", "onnx", "safetensors")),
}


def missing(extra: Extra) -> list[str]:
    """The modules of an extra that are not installed."""
    return [module for module in extra.modules if find_spec(module) is None]


def install_line(name: str) -> str:
    """What to type to install an extra."""
    return f"pip install 'vericite[{name}]'"
