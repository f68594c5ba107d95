"""``vericite serve`` and ``vericite mcp``: the service over HTTP and as tools for assistants."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vericite import environment
from vericite.cli.io import remark, say
from vericite.cli.plans import takes_plan
from vericite.pipeline.plan import Plan

if TYPE_CHECKING:
    from vericite.serve.service import Offer


@takes_plan("serve")
def serve(
    plan: Plan,
    host: Annotated[str, typer.Option(help="Address to listen on.", metavar="ADDRESS")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65_535, help="Port; 0 picks a free one.")] = 8600,
    corpus: Annotated[
        list[str] | None,
        typer.Option(help="Corpus to offer: demo, pubmed, or NAME=PLACE with a store or a file.", metavar="NAME"),
    ] = None,
    llm: Annotated[
        list[str] | None,
        typer.Option(help="Language model to offer, as in gpt=openai:gpt-4o-mini.", metavar="NAME=MODEL"),
    ] = None,
    state: Annotated[
        Path | None, typer.Option(help="Folder for runs and jobs. Default: a folder in the cache.", metavar="FOLDER")
    ] = None,
    allow_host: Annotated[
        list[str] | None, typer.Option(help="Host name to accept in requests.", metavar="NAME")
    ] = None,
    insecure: Annotated[
        bool, typer.Option("--insecure", help="Allow other machines without a token. Anyone can ask.")
    ] = False,
    rate: Annotated[
        int,
        typer.Option(
            min=1, help="Maximum requests per minute from one client. Behind a proxy, all clients count as one."
        ),
    ] = 600,
) -> None:
    """Serve a web page and an HTTP API that answer questions and check answers (docs/service.md).

    The service accepts connections from this machine only. To allow other machines, set VERICITE_TOKEN; every request
    must then send it. Nothing leaves this machine unless you name a remote model or corpus.
    """
    from vericite.serve.run import Address, run

    # Stripped, because a token from a file ends in a newline, which a header cannot contain.
    token = environment.text(environment.TOKEN)
    offer = _offer(corpus or ["demo"], llm or [], plan, rate)
    address = Address(host, port, frozenset(allow_host or ()), token, insecure)
    for line in address.warnings:
        remark(line)
    run(offer, address, state, say)


@takes_plan("mcp")
def mcp(
    plan: Plan,
    corpus: Annotated[
        list[str] | None,
        typer.Option(help="Corpus to offer: demo, pubmed, or NAME=PLACE with a store or a file.", metavar="NAME"),
    ] = None,
    state: Annotated[
        Path | None, typer.Option(help="Folder for the service's files. Default: a folder in the cache.")
    ] = None,
) -> None:
    """Offer the tools search, ask, check and attribute to an assistant, over standard streams (docs/service.md)."""
    from vericite.errors import MissingExtraError

    try:
        from vericite.serve.mcp import make_tools
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "mcp":
            raise
        raise MissingExtraError("mcp", "The tools for assistants") from None
    from vericite.serve.service import Service, state_folder

    service = Service(_offer(corpus or ["demo"], [], plan), state_folder(state))
    try:
        make_tools(service).run("stdio")
    finally:
        service.close()


def _offer(corpora: list[str], models: list[str], plan: Plan, rate: int = 600) -> Offer:
    """Build the offer of a service from the options of its command.

    Raises:
        InputError: A model has no name, two corpora share a name, or a corpus does not exist.
    """
    from vericite.errors import InputError
    from vericite.serve.service import Limits, Offer

    named_models: dict[str, str] = {}
    for text in models:
        name, sign, model = text.partition("=")
        if not (sign and name and model):
            raise InputError(f"expected --llm as NAME=MODEL, as in gpt=openai:gpt-4o-mini; found {text!r}")
        named_models[name] = model
    named: dict[str, str] = {}
    for text in corpora:
        name, sign, place = text.partition("=")
        name, place = (name, place) if sign else (Path(text).stem or text, text)
        if place not in ("demo", "pubmed") and not place.startswith("s3://") and not (place and Path(place).exists()):
            raise InputError(
                f"expected --corpus to be demo, pubmed, a store or a file of documents; found no {place!r}"
            )
        if name in named:
            raise InputError(
                f"expected a different name for each --corpus; found {name!r} twice. Name one: NAME={place}"
            )
        named[name] = place
    return Offer(plan, named, named_models, Limits(rate=rate))
