"""``vericite doctor``: what is installed, and what is missing."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Annotated, Any

import typer

from vericite.version import __version__


@dataclass(frozen=True)
class Extra:
    """An optional part: what it is for, and the modules that must be there."""

    purpose: str
    modules: tuple[str, ...]


EXTRAS = {
    "store": Extra("a local store for large corpora", ("lancedb", "pyarrow")),
    "llm": Extra("language models over an OpenAI-compatible service", ("openai",)),
    "local": Extra("language models in process, through llama.cpp", ("xllamacpp",)),
    "eval": Extra("answer measures", ("rouge_score", "bert_score", "mauve", "ir_measures", "scipy", "sklearn")),
    "report": Extra("reports and plots", ("jinja2", "altair", "vl_convert")),
    "serve": Extra("the HTTP service and web page", ("fastapi", "uvicorn")),
    "mcp": Extra("the MCP server", ("mcp",)),
    "hf": Extra("judges and rerankers from checkpoints", ("torch", "transformers")),
    "train": Extra("training and export", ("torch", "transformers", "onnx", "optuna", "peft")),
    "ray": Extra("pipelines over many machines", ("ray", "lance_ray")),
}


def doctor(as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """Show what is installed, which models are there and intact, and how to install what is missing.

    Exits with 1 if a bundled model is missing or damaged.
    """
    import json

    found = examine()
    typer.echo(json.dumps(found, indent=2) if as_json else _shown(found))
    if not all(model["ok"] for model in found["models"]):
        raise typer.Exit(1)


def examine() -> dict[str, Any]:
    """Versions, models and extras."""
    from vericite.models.engine import available_cores
    from vericite.models.folder import SHIPPED

    return {
        "vericite": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "cores": available_cores(),
        "models": [_model(name) for name in SHIPPED],
        "extras": [_extra(name, extra) for name, extra in EXTRAS.items()],
    }


def _model(name: str) -> dict[str, Any]:
    from vericite.errors import ModelError
    from vericite.models.folder import WEIGHTS, ModelFolder

    try:
        folder = ModelFolder.bundled(name)
    except ModelError as error:
        return {"name": name, "ok": False, "problem": str(error)}
    size = (WEIGHTS / name / "model.onnx").stat().st_size
    return {
        "name": name,
        "ok": True,
        "signature": folder.signature,
        "megabytes": round(size / 1e6, 1),
        "licence": folder.card.licence,
    }


def _extra(name: str, extra: Extra) -> dict[str, Any]:
    missing = [module for module in extra.modules if find_spec(module) is None]
    found: dict[str, Any] = {"name": name, "purpose": extra.purpose, "installed": not missing}
    return found if not missing else {**found, "missing": missing, "install": f"pip install 'vericite[{name}]'"}


def _shown(found: dict[str, Any]) -> str:
    lines = [
        f"vericite {found['vericite']}, Python {found['python']}, {found['cores']} cores, {found['platform']}",
        "",
        "models",
    ]
    for model in found["models"]:
        told = (
            f"ok       {model['signature']}  {model['megabytes']} MB  {model['licence']}"
            if model["ok"]
            else f"BROKEN   {model['problem']}"
        )
        lines.append(f"  {model['name']:<14}{told}")
    lines += ["", "extras (the core needs none of them)"]
    for extra in found["extras"]:
        told = "installed" if extra["installed"] else extra["install"]
        lines.append(f"  {extra['name']:<8}{extra['purpose']:<54}{told}")
    return "\n".join(lines)
