"""``vericite serve`` and ``vericite mcp``: the service over HTTP and as tools for assistants."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vericite import environment
from vericite.cli.io import remark, say
from vericite.cli.plans import takes_plan
from vericite.pipeline.plan import Plan

if TYPE_CHECKING:
    from vericite.serve.offer import Offer


@takes_plan("serve")
def serve(
    plan: Plan,
    corpus: Annotated[
        list[str] | None,
        typer.Option(
            help="Corpus to offer: demo, pubmed, or NAME=PLACE with a store, a file or a folder.", metavar="NAME"
        ),
    ] = None,
    llm: Annotated[
        list[str] | None,
        typer.Option(help="Language model to offer, as in gpt=openai:gpt-4o-mini.", metavar="NAME=MODEL"),
    ] = None,
    insecure: Annotated[
        bool, typer.Option("--insecure", help="Allow other machines without a token. Anyone can ask.")
    ] = False,
) -> None:
    """Serve a web page and an HTTP API that answer questions and check answers (docs/service.md).

    The service accepts connections from this machine only. To allow other machines, set VERICITE_TOKEN; every request
    must then send it. Nothing leaves this machine unless you name a remote model or corpus.
    """
    from vericite.serve.run import Address, run

    # Stripped, because a token from a file ends in a newline, which a header cannot contain.
    token = environment.text(environment.TOKEN)
    listening = plan.service
    offer = _offer(corpus or ["demo"], llm or [], plan)
    address = Address(listening.host, listening.port, frozenset(listening.hosts), token, insecure)
    for line in address.warnings:
        remark(line)
    run(offer, address, _state(plan), say)


@takes_plan("mcp")
def mcp(
    plan: Plan,
    corpus: Annotated[
        list[str] | None,
        typer.Option(
            help="Corpus to offer: demo, pubmed, or NAME=PLACE with a store, a file or a folder.", metavar="NAME"
        ),
    ] = None,
) -> None:
    """Offer the tools of the service to an assistant, over standard streams (docs/service.md)."""
    from vericite.errors import MissingExtraError

    try:
        from vericite.serve.mcp import make_tools
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "mcp":
            raise
        raise MissingExtraError("mcp", "The tools for assistants") from None
    from vericite.serve.service import Service, state_folder

    service = Service(_offer(corpus or ["demo"], [], plan), state_folder(_state(plan)))
    try:
        make_tools(service).run("stdio")
    finally:
        service.close()


def _state(plan: Plan) -> Path | None:
    return None if plan.service.state is None else Path(plan.service.state)


def _offer(corpora: list[str], models: list[str], plan: Plan) -> Offer:
    """Build the offer of a service from the options of its command.

    Raises:
        InputError: A model has no name, two corpora share a name, or a corpus does not exist.
    """
    from vericite.errors import InputError
    from vericite.serve.offer import Limits, Offer

    named_models: dict[str, str] = {}
    for text in models:
        name, sign, model = text.partition("=")
        if not (sign and name and model):
            raise InputError(f"expected --llm as NAME=MODEL, as in gpt=openai:gpt-4o-mini; found {text!r}")
        named_models[name] = model
    named = _named_places(corpora, ("demo", "pubmed"), "--corpus")
    sources = _named_places(plan.service.sources, ("pmc", "crossref"), "service.sources")
    if twice := sorted(named.keys() & sources.keys()):
        raise InputError(f"expected service.sources with other names than --corpus; found {twice[0]!r} in both")
    return Offer(plan, named, named_models, Limits(rate=plan.service.rate), sources)


def _named_places(given: Sequence[str], known: Sequence[str], where: str) -> dict[str, str]:
    """Return places by name, of texts such as ``demo`` or ``mine=STORE``.

    Raises:
        InputError: A place does not exist, or two have one name.
    """
    from vericite.errors import InputError

    named: dict[str, str] = {}
    for text in given:
        name, sign, place = text.partition("=")
        name, place = (name, place) if sign else (Path(text).stem or text, text)
        if place not in known and not place.startswith("s3://") and not (place and Path(place).exists()):
            names = ", ".join(known)
            raise InputError(
                f"expected {where} to be {names}, a store, a file or a folder of documents; found no {place!r}"
            )
        if name in named:
            raise InputError(
                f"expected a different name for each {where}; found {name!r} twice. Name one: NAME={place}"
            )
        named[name] = place
    return named
