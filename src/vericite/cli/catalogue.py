"""``vericite protocols``, ``judges`` and ``measures``: what there is to choose from."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import typer

from vericite.cli.extras import EXTRAS, install_line, missing
from vericite.cli.options import JsonOption
from vericite.cli.remarks import clean

if TYPE_CHECKING:
    from vericite.evaluate.measures.named import Named


def protocols(as_json: JsonOption = False) -> None:
    """List the protocols: what a claim is judged against, and how it adds up.

    Any judge may be put in any protocol: `--protocol NAME --judge NAME`.
    """
    found = [_protocol(name) for name in _protocol_names()]
    typer.echo(json.dumps(found, indent=2) if as_json else _listed(found, ("parts", "papers")))


def judges(as_json: JsonOption = False) -> None:
    """List the judges: what each is, what it needs, and how to install what is missing."""
    found = examine()
    typer.echo(json.dumps(found, indent=2) if as_json else _listed(found, ("needs", "from")))


def measures(as_json: JsonOption = False) -> None:
    """List the measures: what each counts over what, its parameters, and the files that it needs.

    `vericite score` and `compare` take those of answers, `vericite agree` those of agreement.
    """
    from vericite.evaluate.measures.registry import ALL

    found = [_measure(kind) for kind in ALL.values()]
    if as_json:
        typer.echo(json.dumps(found, indent=2))
        return
    told = [{**one, "reads": f"{one['family']}; reads {', '.join(one['reads'])}"} for one in found]
    typer.echo(_listed(told, ("reads", "cutoff", "needs")))


def examine() -> list[dict[str, Any]]:
    """Every judge: ours, those of other packages, and the user's own."""
    from vericite.verify.judges import JUDGES, own_names, plugins

    ours = [_judge(name) for name in JUDGES]
    theirs = [{"name": entry.name, "summary": entry.value, "from": _package(entry)} for entry in plugins()]
    return [*ours, *theirs, *(_own(name) for name in own_names())]


def _protocol_names() -> tuple[str, ...]:
    from vericite.verify import protocol_names

    return protocol_names()


def _protocol(name: str) -> dict[str, Any]:
    from vericite.verify import PRESETS

    preset = PRESETS[name.partition("(")[0]]
    protocol = preset.make(preset.usual or 1)
    parts = (protocol.claim.signature, protocol.premise.signature, protocol.aggregate.signature)
    told = {
        "name": name,
        "summary": preset.summary,
        "parts": "claim {}, premise {}, aggregate {}".format(*parts),
    }
    return (
        {**told, "papers": f"the paper's judges: {', '.join(preset.papers_judges)}"} if preset.papers_judges else told
    )


def _measure(kind: type[Named]) -> dict[str, Any]:
    from vericite.evaluate.measures.registry import reads

    told: dict[str, Any] = {
        "name": kind.usage(),
        "family": kind.family,
        "summary": kind.summary(),
        "reads": reads(kind),
    }
    if kind.takes_cutoff() and "@" not in told["name"]:
        told["cutoff"] = f"with a cutoff: {told['name']}@10"
    if kind.extra:
        ready = not missing(EXTRAS[kind.extra])
        told["needs"] = f"needs [{kind.extra}] {'installed' if ready else install_line(kind.extra)}"
    return told


def _judge(name: str) -> dict[str, Any]:
    from vericite.verify.judges import JUDGES

    kind = JUDGES[name]
    told: dict[str, Any] = {"name": kind.usage(name), "summary": kind.summary}
    if not kind.extras:
        return told
    ways = [f"[{extra}] {'installed' if not missing(EXTRAS[extra]) else install_line(extra)}" for extra in kind.extras]
    return {**told, "needs": "needs " + " or ".join(ways)}


def _own(name: str) -> dict[str, Any]:
    from vericite.errors import InputError
    from vericite.verify.judges.stored import read_stored, stored_path

    path = stored_path(name)
    try:
        told = clean(read_stored(path).summary)
    except InputError as error:
        told = clean(str(error))
    return {"name": name, "summary": told, "from": f"from {clean(str(path))}"}


def _package(entry: Any) -> str:
    return f"from {entry.dist.name} {entry.dist.version}" if entry.dist else "from an unknown package"


def _listed(found: Sequence[dict[str, Any]], details: Sequence[str]) -> str:
    from textwrap import fill

    blocks: list[str] = []
    for item in found:
        lines = [item["summary"], *(item[name] for name in details if name in item)]
        shown = [
            fill(line, 98, initial_indent="    ", subsequent_indent="    ", break_on_hyphens=False) for line in lines
        ]
        blocks.append("\n".join([item["name"], *shown]))
    return "\n\n".join(blocks)
