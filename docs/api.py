"""Writes docs/api.md from docstrings and docs/settings.md from classes of settings. --check says which is stale."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import vericite
from vericite.cli.commands_with_settings import OWN, settings_class, settings_fields
from vericite.pipeline.plan import SECTIONS, Plan
from vericite.pipeline.setting import SettingField, fields_of, write_value

PAGE = Path(__file__).parent / "api.md"
SETTINGS = Path(__file__).parent / "settings.md"
PROGRAMS = PAGE.parents[1] / "examples/python"
HEAD = """# Python API

What the commands do with answers, documents and figures has a name in `vericite`. Names load when they are first used,
so `import vericite` takes a fraction of a second.

Documents are given as texts, as mappings with `text` and perhaps `id` and `title`, as `Document`, or as another
library's objects: LangChain documents, LlamaIndex nodes, Haystack documents. Answers are given as texts with markers
such as `[1]`, as `Answer`, or as what a library returns: a LangChain result, a LlamaIndex or Haystack response, a ragas
sample. No library is imported for it.

This page is made by `docs/api.py`: the programs from `examples/python`, the rest from docstrings.

## What is public

The names on this page, their arguments, the fields of records, the columns and JSON that commands write, and exit
codes. A name that starts with an underscore and a module that this page does not name may change at any time. From
version 1.0 on, a public name is first deprecated: it works for at least one minor version and warns. Files carry a
`schema_version`; a newer VeriCite reads older files, and an older one says that a file was written by a newer one.

"""


SETTINGS_HEAD = """# Settings

What commands can be told without an option of its own. Each is given with `--set NAME=VALUE`; `vericite settings
COMMAND` lists those of a command with their present values, and `--out FILE` writes them.

Settings of asking, searching and checking are a *plan*, by section. They can also be given in a file for `--plan`, for
a whole project in `vericite.toml`, in Python as a field of `Plan`, and those marked *request* in the `plan` of a
request to the service. Common ones also have an option. The section may be left out where only one has the name:
`--set candidates=50`. Settings of other commands follow below; those of training can be given in a file for `--config`.

With `--set`, the values of a list are separated by commas, and a value that has a comma is put in double quotes:
`--set 'search.mesh="Diabetes Mellitus, Type 2",Asthma'`. An empty value, as in `--set search.k=`, means none.

A value that is a list or mapping in a setting of training is JSON: `--set 'rates={"scifact": 2}'`.

This page is made by `docs/api.py` from the classes of settings; `src/vericite/pipeline/plan.py` has the largest.
"""


def settings_page() -> str:
    """The page of all settings."""
    parts = [SETTINGS_HEAD]
    section = ""
    for field in fields_of(Plan):
        if field.section != section:
            section = field.section
            commands = [name for name, sections in SECTIONS.items() if section in sections]
            parts.append(f"\n## {section}\n\nRead by: {', '.join(commands)}.\n\n")
            parts.append("| setting | default | meaning |\n|---|---|---|\n")
        parts.append(_row(field))
    for commands in _sharing():
        parts.append(f"\n## {', '.join(commands)}\n\n| setting | default | meaning |\n|---|---|---|\n")
        parts += [_row(field) for field in settings_fields(commands[0]) if field.section not in Plan.model_fields]
        if used := [name for name in settings_class(commands[0]).model_fields if name in Plan.model_fields]:
            parts.append(f"\nAlso the sections {' and '.join(used)} of a plan.\n")
    return "".join(parts)


def _sharing() -> list[list[str]]:
    """Commands with settings of their own; those with the same settings together."""
    found: dict[str, list[str]] = {}
    for command, place in OWN.items():
        found.setdefault(place, []).append(command)
    return list(found.values())


def _row(field: SettingField) -> str:
    default = field.info.get_default(call_default_factory=True)
    shown = "" if default in (None, (), {}) else f"`{write_value(default)}`"
    also = [f"`{field.setting.option}` of {', '.join(field.setting.commands)}"] if field.setting.option else []
    also += ["*request*"] if field.setting.by_request else []
    told = f" ({'; '.join(also)})" if also else ""
    meaning = f"{field.help}{told}".replace("|", "\\|")
    return f"| `{field.path}` | {shown} | {meaning} |\n"


def page() -> str:
    """The page of the public names."""
    names = sorted(vericite.__all__, key=str.lower)
    functions = [name for name in names if inspect.isfunction(getattr(vericite, name))]
    classes = [name for name in names if inspect.isclass(getattr(vericite, name))]
    others = [name for name in names if name not in {*functions, *classes}]
    parts = [
        "## Programs\n\n",
        *(_program(path) for path in sorted(PROGRAMS.glob("*.py"))),
        "## Functions\n\n",
        *(_entry(name) for name in functions),
        "## Classes\n\n",
        *(_entry(name) for name in classes),
    ]
    if others:
        parts += ["## Other names\n\n", ", ".join(f"`{name}`" for name in others), "\n"]
    return HEAD + "".join(parts)


def _program(path: Path) -> str:
    """A program under its first sentence."""
    told, _, code = path.read_text(encoding="utf-8").removeprefix('"""').partition('"""\n')
    return f"### {told.strip().rstrip('.')}\n\n```py\n{code.strip()}\n```\n\n"


def _entry(name: str) -> str:
    thing = getattr(vericite, name)
    lines = [f"### `{name}`\n\n", f"```py\n{name}{_signature(thing)}\n```\n\n", _text(inspect.getdoc(thing) or "")]
    if inspect.isclass(thing):
        lines += [f"- **`{own}{_signature(method)}`**: {_first(method)}\n" for own, method in _methods(thing)]
    return "".join(lines).rstrip() + "\n\n"


def _methods(thing: type) -> Iterator[tuple[str, Callable[..., object]]]:
    for own, value in vars(thing).items():
        method = getattr(value, "__func__", value)
        is_ours = getattr(method, "__module__", "").startswith("vericite")
        if not own.startswith("_") and inspect.isfunction(method) and is_ours and inspect.getdoc(method):
            yield own, method


def _signature(thing: Callable[..., object]) -> str:
    try:
        text = str(inspect.signature(thing))
    except (TypeError, ValueError):
        return ""
    text = re.sub(r"(: |-> )'([^']*)'", r"\1\2", text)
    # Python 3.14 writes these annotations as the source does; earlier versions do not.
    text = re.sub(r"ForwardRef\('([^']*)'\)", r"\1", text)
    text = re.sub(r"Optional\[((?:[^\[\]]|\[[^\[\]]*\])*)\]", r"\1 | None", text)
    return re.sub(r"\bvericite(?:\.\w+)+\.", "", text.replace("typing.", ""))


def _first(thing: object) -> str:
    return (inspect.getdoc(thing) or "").split("\n\n")[0].replace("\n", " ").replace("``", "`")


def _text(docstring: str) -> str:
    """Google's sections as lists."""
    lines: list[str] = []
    in_section = False
    for line in docstring.replace("``", "`").splitlines():
        if re.fullmatch(r"(Args|Attributes|Raises|Returns|Yields):", line):
            lines += [f"**{line[:-1]}**", ""]
            in_section = True
        elif in_section and (item := re.match(r" {4}(\w[\w.]*)(?: \([^)]*\))?: (.*)", line)):
            lines.append(f"- `{item[1]}`: {item[2]}")
        else:
            in_section = in_section and (line.startswith(" ") or not line)
            lines.append(f"  {line.strip()}" if in_section and line.strip() else line)
    return "\n".join(lines).rstrip() + "\n\n"


def main(check: bool) -> int:
    """Write the pages, or compare them."""
    stale = 0
    for path, text in ((PAGE, page()), (SETTINGS, settings_page())):
        if not check:
            path.write_text(text, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            print(f"stale: docs/{path.name}. Run: make docs")
            stale = 1
    return stale


if __name__ == "__main__":
    sys.exit(main("--check" in sys.argv[1:]))
