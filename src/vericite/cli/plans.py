"""Options as the values that they set: the plan of a run, a model's settings, a store's filters."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from vericite.cli.io import note
from vericite.cli.refusals import refuse_unwritable

if TYPE_CHECKING:
    from vericite.corpus.store import Filters
    from vericite.llm import Settings
    from vericite.pipeline.plan import Plan, SearchPlan


_SEARCH_FIELDS = {
    **{name: name for name in ("corpus", "k", "by", "rerank", "candidates", "rewrite", "coverage", "relevance")},
    **{name: name for name in ("keep", "mesh", "retracted", "controlled", "cleaning", "best", "rerank_by")},
    "from_year": "year_from",
    "to_year": "year_to",
    "journal": "journals",
    "type": "publication_types",
    "language": "languages",
}
_ANSWER_FIELDS = {
    name: name
    for name in (
        "llm",
        "prompt",
        "grammar",
        "rationale",
        "context",
        "contexts",
        "together",
        "pool",
        "shots",
        "select",
        "fewest",
        "near",
        "diversity",
        "seed",
        "answer_at",
        "evidence",
    )
}
_CHECK_FIELDS = {name: name for name in ("protocol", "judge", "abstain_below", "checks", "aids")}
_MODEL_FIELDS = {name: name for name in ("concurrency", "rpm", "tpm", "timeout", "price", "reply_tokens", "cache")}

FIELDS: dict[str, dict[str, dict[str, str]]] = {
    "ask": {
        "search": _SEARCH_FIELDS,
        "answer": _ANSWER_FIELDS,
        "check": _CHECK_FIELDS,
        "llm": _MODEL_FIELDS,
        "repair": {"repair": "enabled"},
    },
    "search": {"search": _SEARCH_FIELDS, "llm": {}},
    "check": {"check": _CHECK_FIELDS, "llm": _MODEL_FIELDS},
    "repair": {
        "check": _CHECK_FIELDS,
        "llm": _MODEL_FIELDS,
        "repair": {name: name for name in ("llm", "corpus", "rounds", "drop_uncited")},
    },
}
"""Of each command the sections of a plan that it reads, and in each the options that set a field."""

_USUAL: dict[str, dict[str, dict[str, Any]]] = {
    "ask": {"llm": {"timeout": 300, "reply_tokens": 512}},
    "repair": {"repair": {"enabled": True}},
}
"""What a command has otherwise than a plan without a command."""


def plan_of(ctx: typer.Context, command: str, plan: str | None, plan_out: Path | None) -> Plan:
    """What a command is to do: its usual plan, changed by the project's file, ``--plan`` and the options given.

    Raises:
        InputError: The plan's file or a value in it cannot be used, or ``plan_out`` cannot be written.
    """
    from vericite.pipeline.plan import STARTING_POINTS, Plan

    made = Plan().changed(_USUAL.get(command, {})).changed(_of_project(FIELDS[command]))
    if plan is not None and "search" in FIELDS[command] and _is_name(plan, STARTING_POINTS):
        made = made.changed({"search": STARTING_POINTS[plan]}) if plan in STARTING_POINTS else _unknown(plan)
    elif plan is not None:
        made = Plan.load(Path(plan), made)
    given = {section: _given(ctx, options) for section, options in FIELDS[command].items()}
    made = made.changed(given, "on the command line")
    _write(made, plan_out, tuple(FIELDS[command]))
    return made


def search_plan(plan: str | None) -> SearchPlan:
    """How ``--plan`` has it searched: a name, or a file of settings; the usual way without one.

    Raises:
        InputError: The plan's file or a value in it cannot be used.
    """
    from vericite.pipeline.plan import STARTING_POINTS, Plan

    if plan is None:
        return Plan().search
    if _is_name(plan, STARTING_POINTS):
        return (Plan().changed({"search": STARTING_POINTS[plan]}) if plan in STARTING_POINTS else _unknown(plan)).search
    return Plan.load(Path(plan)).search


def _of_project(sections: Iterable[str]) -> dict[str, dict[str, Any]]:
    """What the project's file sets of these sections; said aloud, because it decides the figures."""
    from vericite.pipeline.plan import project_file, project_settings

    path = project_file()
    if path is None:
        return {}
    found = {section: values for section, values in project_settings(path).items() if section in sections}
    if found:
        names = [f"{section}.{name}" for section, values in found.items() for name in values]
        note(f"settings from {path}: {', '.join(names)}")
    return found


def _is_name(plan: str, known: dict[str, Any]) -> bool:
    return plan in known or not (Path(plan).suffix or Path(plan).exists())


def _unknown(plan: str) -> Plan:
    from vericite.errors import UnknownNameError
    from vericite.pipeline.plan import STARTING_POINTS

    raise UnknownNameError("search plan", plan, STARTING_POINTS)


def _given(ctx: typer.Context, options: dict[str, str]) -> dict[str, Any]:
    """The fields whose options stand on the command line."""
    found: dict[str, Any] = {}
    for option, field in options.items():
        source = ctx.get_parameter_source(option)
        if source is not None and source.name == "COMMANDLINE":
            value = ctx.params[option]
            found[field] = str(value) if isinstance(value, Path) else value
    if isinstance(found.get("contexts"), str):
        found["contexts"] = _numbers(found["contexts"])
    return found


def _numbers(text: str) -> list[int]:
    """The numbers of "1-5" or "1,3,5".

    Raises:
        InputError: They are none.
    """
    from vericite.errors import InputError

    ranges = [re.fullmatch(r"([1-9][0-9]{0,2})(?:-([1-9][0-9]{0,2}))?", part.strip()) for part in text.split(",")]
    found = [number for it in ranges if it for number in range(int(it[1]), int(it[2] or it[1]) + 1)]
    if not all(ranges) or not found or len(set(found)) < len(found):
        raise InputError(f"expected --contexts as in 1-5 or 1,3,5, each number once; found {text!r}")
    return found


def _write(plan: Plan, path: Path | None, sections: tuple[str, ...]) -> None:
    if path is None:
        return
    if str(path) == "-":
        import json

        typer.echo(json.dumps(plan.as_json(sections), indent=2, ensure_ascii=False))
        return

    refuse_unwritable(path, "--plan-out")
    plan.dump(path, sections)


def llm_settings(
    concurrency: int, rpm: int | None, tpm: int | None, timeout: float, price: str | None, reply: int, cache: bool
) -> Settings:
    """The options as settings.

    Raises:
        InputError: The price is none.
    """
    from vericite.pipeline.build import settings_of
    from vericite.pipeline.plan import ModelPlan

    return settings_of(
        ModelPlan(
            concurrency=concurrency,
            rpm=rpm,
            tpm=tpm,
            timeout=timeout,
            price=price,
            reply_tokens=reply,
            cache=cache,
        )
    )


def filters_of(
    from_year: int | None,
    to_year: int | None,
    journals: list[str] | None,
    mesh: list[str] | None,
    types: list[str] | None,
    languages: list[str] | None,
    retracted: bool | None,
) -> Filters:
    """The options as conditions."""
    from vericite.corpus.store import Filters

    return Filters(
        year_from=from_year,
        year_to=to_year,
        journals=tuple(journals or ()),
        mesh=tuple(mesh or ()),
        publication_types=tuple(types or ()),
        languages=tuple(languages or ()),
        retracted=retracted,
    )
