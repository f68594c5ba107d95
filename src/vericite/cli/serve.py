"""``vericite serve`` and ``vericite mcp``: one service, over HTTP and as tools for assistants."""

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
    host: Annotated[str, typer.Option(help="The address to listen at.", metavar="ADDRESS")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65_535, help="The port; 0 takes a free one.")] = 8600,
    corpus: Annotated[
        list[str] | None,
        typer.Option(help="Documents to ask: demo, pubmed, or NAME=PLACE with a store or a file.", metavar="NAME"),
    ] = None,
    llm: Annotated[
        list[str] | None,
        typer.Option(help="A language model that may be asked, as in gpt=openai:gpt-4o-mini.", metavar="NAME=MODEL"),
    ] = None,
    state: Annotated[
        Path | None, typer.Option(help="Where runs and jobs are kept; the cache's folder if none.", metavar="FOLDER")
    ] = None,
    allow_host: Annotated[
        list[str] | None, typer.Option(help="A host name that requests may be meant for.", metavar="NAME")
    ] = None,
    insecure: Annotated[
        bool, typer.Option("--insecure", help="Listen to other machines without a token. Anybody can ask.")
    ] = False,
    rate: Annotated[
        int, typer.Option(min=1, help="Requests a minute of one client; behind a proxy all are one.")
    ] = 600,
) -> None:
    """Serve a page and an HTTP API to ask and to check, the models loaded once for all who ask (docs/service.md).

    It listens to this machine alone. For other machines set VERICITE_TOKEN, which every request must then bring.
    Language models are reached only where you name them; nothing else leaves this machine.
    """
    from vericite.serve.run import Address, run

    # A token out of a file ends in a newline, which no header could bring.
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

    service = Service(_offer(corpus or ["demo"], [], plan), state_folder(state))
    try:
        make_tools(service).run("stdio")
    finally:
        service.close()


def _offer(corpora: list[str], models: list[str], plan: Plan, rate: int = 600) -> Offer:
    """What a service has, from what its command was given.

    Raises:
        InputError: A model has no name, a corpus has another's, or it is not there.
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
                f"expected a name of its own for each --corpus; found {name!r} twice. Name it: NAME={place}"
            )
        named[name] = place
    return Offer(plan, named, named_models, Limits(rate=rate))
