"""Commands that list protocols, judges, measures and installed parts, and that try a judge or the splitters."""

from __future__ import annotations

import json
import platform
import sys
from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vericite.cli.exits import ExitCode, end
from vericite.cli.io import EXTRAS, Extra, clean, install_line, missing, say, say_json, wrong_versions
from vericite.cli.options import JsonOption, JudgeOption
from vericite.version import __version__

if TYPE_CHECKING:
    from vericite.evaluate.measures.measure import Named


def protocols(as_json: JsonOption = False) -> None:
    """List the protocols: what a claim is judged against, and how verdicts are combined.

    Any judge works with any protocol: `--protocol NAME --judge NAME`.
    """
    found = [_protocol(name) for name in _protocol_names()]
    _print(found, as_json, _listed(found, ("parts", "papers", "published")))


def judges(as_json: JsonOption = False) -> None:
    """List the judges, what they need, and how to install what is missing."""
    found = list_judges()
    _print(found, as_json, _listed(found, ("needs", "from")))


def measures(as_json: JsonOption = False) -> None:
    """List the measures: what each counts, its parameters, and the files that it needs.

    `vericite score` and `compare` take measures of answers, `vericite agree` measures of agreement.
    """
    from vericite.evaluate.measures.registry import AGREEMENT, MEASURES, RANKINGS

    found = [
        _measure(kind) for kind in (*(kind for _, kind in MEASURES.usable()), *AGREEMENT.values(), *RANKINGS.values())
    ]
    if as_json:
        say_json(json.dumps(found, indent=2))
        return
    rows = [{**row, "reads": f"{row['family']}; reads {', '.join(row['reads'])}"} for row in found]
    say(_listed(rows, ("reads", "cutoff", "needs")))


def _print(found: object, as_json: bool, lines: str) -> None:
    if as_json:
        say_json(json.dumps(found, indent=2, ensure_ascii=False))
    else:
        say(lines)


def list_judges() -> list[dict[str, Any]]:
    """Return all judges: bundled judges, those of other packages, and the user's own."""
    from vericite.verify.judges.registry import JUDGES, own_names

    ours = [_judge(name) for name in JUDGES.own]
    theirs = [
        {"name": plugin.name, "summary": plugin.value, "from": f"from {plugin.package}"} for plugin in JUDGES.plugins
    ]
    return [*ours, *theirs, *(_own(name) for name in own_names())]


def _protocol_names() -> tuple[str, ...]:
    from vericite.verify.protocol import protocol_names

    return protocol_names()


def _protocol(name: str) -> dict[str, Any]:
    from vericite.verify.protocol import AS_PUBLISHED, PRESETS

    preset = PRESETS[name.partition("(")[0]]
    protocol = preset.make(preset.usual or 1)
    parts = (protocol.claim.signature, protocol.premise.signature, protocol.aggregate.signature)
    row = {
        "name": name,
        "summary": preset.summary,
        "parts": "claim {}, premise {}, aggregate {}".format(*parts),
    }
    if preset.papers_judges:
        row["papers"] = f"the paper's judges: {', '.join(preset.papers_judges)}"
    if preset.published:
        base, bracket, size = name.partition("(")
        row["published"] = f"{base}{AS_PUBLISHED}{bracket}{size}: {preset.published}"
    return row


def _measure(kind: type[Named]) -> dict[str, Any]:
    from vericite.evaluate.measures.registry import reads

    row: dict[str, Any] = {
        "name": kind.usage(),
        "family": kind.family,
        "summary": kind.summary(),
        "reads": reads(kind),
    }
    if kind.takes_cutoff() and "@" not in row["name"]:
        row["cutoff"] = f"with a cutoff: {row['name']}@10"
    if kind.extra:
        ready = not missing(EXTRAS[kind.extra])
        row["needs"] = f"needs [{kind.extra}] {'installed' if ready else install_line(kind.extra)}"
    return row


def _judge(name: str) -> dict[str, Any]:
    from vericite.verify.judges.registry import JUDGES

    kind = JUDGES[name]
    row: dict[str, Any] = {"name": kind.usage(name), "summary": kind.summary}
    if not kind.extras:
        return row
    ways = [f"[{extra}] {'installed' if not missing(EXTRAS[extra]) else install_line(extra)}" for extra in kind.extras]
    return {**row, "needs": "needs " + " or ".join(ways)}


def _own(name: str) -> dict[str, Any]:
    from vericite.errors import InputError
    from vericite.verify.judges.wrapped import read_stored, stored_path

    path = stored_path(name)
    try:
        summary = clean(read_stored(path).summary)
    except InputError as error:
        summary = clean(str(error))
    return {"name": name, "summary": summary, "from": f"from {clean(str(path))}"}


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


def doctor(
    as_json: JsonOption = False,
    llm: Annotated[
        str | None, typer.Option(help="Test this language model by asking it to write a sentence.", metavar="MODEL")
    ] = None,
) -> None:
    """Show what is installed, whether the bundled models are intact, and how to install what is missing.

    The exit code is 3 if a bundled model is missing or damaged, or the language model does not answer.
    """
    if llm is not None:
        _try(llm)
        return
    found = examine()
    _print(found, as_json, _shown(found))
    end(ExitCode.OK if all(model["ok"] for model in found["models"]) else ExitCode.NOT_RUN)


def _try(model: str) -> None:
    """Stream a language model's answer, then print its use."""
    import asyncio

    from vericite.cli.show import show_ledger
    from vericite.llm import LLM, ChatRequest, Settings

    async def stream(asked: LLM) -> None:
        async for piece in asked.stream(ChatRequest.ask("In one sentence: what is a citation for?")):
            typer.echo(clean(piece), nl=False)
        typer.echo()

    with LLM(model, Settings(cache=None)) as asked:
        say(f"{asked.signature}")
        asyncio.run(stream(asked))
        show_ledger(asked.ledger)


def examine() -> dict[str, Any]:
    """Return versions, models and extras."""
    from vericite.models.engine import available_cores
    from vericite.models.folder import SHIPPED

    return {
        "vericite": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "cores": available_cores(),
        "settings": _project(),
        "models": [_model(name) for name in SHIPPED],
        "extras": [_extra(name, extra) for name, extra in EXTRAS.items()],
    }


def _project() -> dict[str, Any]:
    """Return the project's settings file and its settings."""
    from vericite.errors import InputError
    from vericite.pipeline.plan import project_file, project_settings

    path = project_file()
    if path is None:
        return {"file": None}
    try:
        return {"file": str(path), "sets": project_settings(path)}
    except InputError as error:
        return {"file": str(path), "problem": str(error)}


def _project_line(found: dict[str, Any]) -> str:
    if found["file"] is None:
        return "settings: no vericite.toml in this folder"
    if "problem" in found:
        return f"settings: BROKEN   {found['problem']}"
    sets = (
        f"{section}.{name} = {value}" for section, values in found["sets"].items() for name, value in values.items()
    )
    return f"settings: {clean(found['file'])}: {clean(', '.join(sets))}"


def _model(name: str) -> dict[str, Any]:
    from vericite.errors import ModelError
    from vericite.models.folder import ModelFolder
    from vericite.models.manifest import expect_as_shipped

    try:
        shipped, signature = expect_as_shipped(name), ModelFolder.bundled(name).signature
    except ModelError as error:
        return {"name": name, "ok": False, "problem": str(error)}
    return {
        "name": name,
        "ok": True,
        "signature": signature,
        "megabytes": round(sum(file.bytes for file in shipped.files) / 1e6, 1),
        "licence": shipped.licence,
    }


def _extra(name: str, extra: Extra) -> dict[str, Any]:
    lacking, wrong = missing(extra), wrong_versions(name)
    found: dict[str, Any] = {"name": name, "purpose": extra.purpose, "installed": not lacking}
    if lacking:
        found |= {"missing": lacking}
    if wrong:
        found |= {"wrong_version": wrong}
    return {**found, "install": install_line(name)} if lacking or wrong else found


def _shown(found: dict[str, Any]) -> str:
    lines = [
        f"vericite {found['vericite']}, Python {found['python']}, {found['cores']} cores, {found['platform']}",
        _project_line(found["settings"]),
        "",
        "models",
    ]
    for model in found["models"]:
        state = (
            f"ok       {model['signature']}  {model['megabytes']} MB  {model['licence']}"
            if model["ok"]
            else f"BROKEN   {model['problem']}"
        )
        lines.append(f"  {model['name']:<14}{state}")
    lines += ["", "extras (the core needs none of them)"]
    width, purposes = (max(len(extra[part]) for extra in found["extras"]) + 2 for part in ("name", "purpose"))
    for extra in found["extras"]:
        state = "installed" if "install" not in extra else extra["install"]
        lines.append(f"  {extra['name']:<{width}}{extra['purpose']:<{purposes}}{state}")
        lines += [f"  {'':<{width}}wrong version: {clean(wrong)}" for wrong in extra.get("wrong_version", ())]
    return "\n".join(lines)


def judge(
    claim: Annotated[str, typer.Argument(help="The claim.")],
    premise: Annotated[str, typer.Argument(help="The text that may support it.")],
    judge: JudgeOption = "bundled",
    as_json: JsonOption = False,
) -> None:
    """Judge whether a premise entails a claim, contradicts it, or does neither."""
    import json

    from vericite.errors import JudgementError
    from vericite.models.contracts import COLUMNS
    from vericite.pipeline.check import judge as judged
    from vericite.verify.judges.registry import default_threshold

    judgement = judged(claim, premise, judge or "bundled")
    if judgement.failure is not None:
        raise JudgementError(judgement.failure, judgement.raw)
    label = COLUMNS[int(judgement.probabilities.argmax())]
    # A judge that only returns a label has no probabilities.
    shown = judgement.probabilities if judgement.graded else ()
    found = {name: round(float(value), 6) for name, value in zip(COLUMNS, shown, strict=judgement.graded)}
    bar, sure = default_threshold(judge or "bundled"), float(judgement.probabilities.max())
    if as_json:
        row = {"label": label, "native": judgement.native, "probabilities": found, "note": judgement.note}
        say_json(json.dumps({**row, "abstained": sure < bar}))
    else:
        native = f"  ({clean(judgement.native)})" if judgement.native else ""
        say("  ".join([label, *(f"{name} {value:.3f}" for name, value in found.items())]) + native)
        if judgement.note:
            say(judgement.note)
        if sure < bar:
            say(f"uncertain: {label} at {sure:.2f}, below {bar:.2f}: `vericite check` would abstain")


class SplitInto(StrEnum):
    """Units to split a text into."""

    sentences = "sentences"
    claims = "claims"
    statements = "statements"


def split(
    text: Annotated[str, typer.Argument(help="The text; - reads it from standard input.")] = "-",
    into: Annotated[
        SplitInto, typer.Option(help="The unit. Claims are sentences without their citation markers.")
    ] = SplitInto.sentences,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object per line.")] = False,
) -> None:
    """Split a text into sentences, claims with their citations, or atomic statements."""
    for part in _parts(sys.stdin.read() if text == "-" else text, into):
        if as_json:
            say_json(json.dumps(part, ensure_ascii=False))
        else:
            markers = "".join(f" [{marker}]" for marker in part.get("markers", ()))
            say(f"{part['start']:>6}-{part['end']:<6}{clean(part['text'])}{markers}")


def _parts(text: str, into: SplitInto) -> Iterator[dict[str, Any]]:
    from vericite.text.citations import parse_answer
    from vericite.text.sentences import split_sentences
    from vericite.text.statements import split_statements

    if into is SplitInto.claims:
        for claim in parse_answer("text", text, ()).claims:
            markers = [citation.marker for citation in claim.citations]
            yield {"start": claim.span.start, "end": claim.span.end, "text": claim.text, "markers": markers}
        return
    for span in split_sentences(text) if into is SplitInto.sentences else split_statements(text):
        yield {"start": span.start, "end": span.end, "text": text[span.slice]}
