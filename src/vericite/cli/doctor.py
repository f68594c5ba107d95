"""``vericite doctor``: what is installed, and what is missing."""

from __future__ import annotations

import platform
from typing import Annotated, Any

import typer

from vericite.cli.extras import EXTRAS, Extra, install_line, missing
from vericite.cli.options import JsonOption
from vericite.cli.remarks import clean
from vericite.version import __version__


def doctor(
    as_json: JsonOption = False,
    llm: Annotated[
        str | None, typer.Option(help="Ask this language model for a sentence, as a trial.", metavar="MODEL")
    ] = None,
) -> None:
    """Show what is installed, which models are there and intact, and how to install what is missing.

    Exits with 1 if a bundled model is missing or damaged, or the language model does not answer.
    """
    import json

    if llm is not None:
        _try(llm)
        return
    found = examine()
    typer.echo(json.dumps(found, indent=2) if as_json else _shown(found))
    if not all(model["ok"] for model in found["models"]):
        raise typer.Exit(1)


def _try(model: str) -> None:
    """Print a language model's answer as it comes, and what it took."""
    import asyncio

    from vericite.cli.show import show_ledger
    from vericite.llm import LLM, ChatRequest, Settings

    async def stream(asked: LLM) -> None:
        async for piece in asked.stream(ChatRequest.ask("In one sentence: what is a citation for?")):
            typer.echo(clean(piece), nl=False)
        typer.echo()

    with LLM(model, Settings(cache=None)) as asked:
        typer.echo(f"{asked.signature}")
        asyncio.run(stream(asked))
        show_ledger(asked.ledger)


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
    lacking = missing(extra)
    found: dict[str, Any] = {"name": name, "purpose": extra.purpose, "installed": not lacking}
    return found if not lacking else {**found, "missing": lacking, "install": install_line(name)}


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
