"""Options as the values that they set: the plan of a run, a model's settings, a store's filters."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from vericite.cli.io import note, say_json
from vericite.cli.refusals import refuse_unwritable

if TYPE_CHECKING:
    from vericite.corpus.store import Filters
    from vericite.pipeline.plan import Plan

_FILTER_FIELDS = {
    "from_year": "year_from",
    "to_year": "year_to",
    "journal": "journals",
    "mesh": "mesh",
    "type": "publication_types",
    "language": "languages",
    "retracted": "retracted",
}
_SEARCH_FIELDS = {
    **{name: name for name in ("corpus", "k", "by", "rerank", "candidates", "rewrite", "coverage", "relevance")},
    **{name: name for name in ("keep", "controlled", "cleaning", "best", "rerank_by")},
    **_FILTER_FIELDS,
}
_ANSWER_FIELDS = {
    name: name
    for name in (
        "llm",
        "prompt",
        "temperature",
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
        "window",
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
    "attribute": {"check": {name: name for name in ("protocol", "judge")}, "llm": _MODEL_FIELDS},
    "demonstrations": {"search": {"corpus": "corpus"}, "llm": _MODEL_FIELDS},
    "repair": {
        "check": _CHECK_FIELDS,
        "llm": _MODEL_FIELDS,
        "repair": {name: name for name in ("llm", "corpus", "rounds", "drop_uncited")},
    },
}
"""Of each command the sections of a plan that it reads, and in each the options that set a field.

A command that is not here reads all sections, and has no option that sets a field.
"""


def option_of(field: str) -> str:
    """The option of ``ask`` that sets a plan's field; the field itself where none does."""
    section, _, name = field.partition(".")
    options = FIELDS["ask"].get(section, {})
    return next((f"--{option.replace('_', '-')}" for option, sets in options.items() if sets == name), field)


def plan_of(ctx: typer.Context, command: str, plan: str | None = None, plan_out: Path | None = None) -> Plan:
    """What a command is to do: its usual plan, changed by the project's file, ``--plan`` and the options given.

    Raises:
        InputError: The plan's file or a value in it cannot be used, or ``plan_out`` cannot be written.
    """
    from vericite.pipeline.plan import Plan, changed_by, usual_plan

    fields = FIELDS.get(command) or {section: {} for section in Plan.model_fields}
    made = usual_plan(command).changed(_of_project(fields))
    if plan is not None:
        made = changed_by(plan, made, searches="search" in fields)
    made = made.changed({section: _given(ctx, options) for section, options in fields.items()}, "on the command line")
    _write(made, plan_out, tuple(fields))
    return made


def filters_of(ctx: typer.Context) -> Filters:
    """The options as conditions on documents. No file changes them: what is exported is what was asked for."""
    from vericite.pipeline.plan import Plan

    return Plan().changed({"search": _given(ctx, _FILTER_FIELDS)}, "on the command line").search.filters


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

        say_json(json.dumps(plan.as_json(sections), indent=2, ensure_ascii=False))
        # Nothing else goes there, so that what is printed is a plan.
        raise typer.Exit

    refuse_unwritable(path, "--plan-out")
    plan.dump(path, sections)
