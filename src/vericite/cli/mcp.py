"""``vericite mcp``: tools for assistants, over the standard streams."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from vericite.cli.serve import offer_of


def mcp(
    corpus: Annotated[
        list[str] | None,
        typer.Option(help="Documents to ask: demo, pubmed, or NAME=PLACE with a store or a file.", metavar="NAME"),
    ] = None,
    state: Annotated[
        Path | None, typer.Option(help="Where the service keeps its files; the cache's folder if none.")
    ] = None,
) -> None:
    """Give an assistant the tools search, ask, check and attribute, over the standard streams (docs/service.md)."""
    from vericite.errors import MissingExtraError

    try:
        from vericite.serve.mcp import make_tools
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "mcp":
            raise
        raise MissingExtraError("mcp", "The tools for assistants") from None
    from vericite.serve.service import Service, state_folder

    service = Service(offer_of(corpus or ["demo"], [], None), state_folder(state))
    try:
        make_tools(service).run("stdio")
    finally:
        service.close()
