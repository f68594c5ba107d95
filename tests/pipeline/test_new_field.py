"""A new field of a plan is written in one file: everything that shows or reads settings follows.

The package is overlaid with links to its files, except ``plan.py``, in which every section has one field more.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import vericite
from vericite.pipeline.plan import Plan

SOURCE = Path(vericite.__file__).parent
PROGRAM = """
import contextlib, io, json, sys
from vericite.cli import main

sys.path.insert(0, sys.argv[1])

def printed(*arguments):
    sys.argv = ["vericite", *arguments]
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.suppress(SystemExit):
        main()
    return out.getvalue()

from vericite.pipeline.plan import Plan
from vericite.serve.bodies import AskBody, PlanBody, parse_body

sections = list(Plan.model_fields)
body = {"question": "Why?", "plan": {section: {"novelty": 7} for section in sections}}
found = {
    "help": printed("ask", "--help"),
    "listed": printed("settings", "ask"),
    "set": printed("settings", "ask", "--set", "answer.novelty=7", "--set", "llm.novelty=8", "--json"),
    "asked": parse_body(AskBody, json.dumps(body).encode()).plan.apply_to(Plan()).as_json(),
    "schema": AskBody.model_json_schema(mode="validation")["$defs"]["PlanBody"],
}
from api import settings_page

found["page"] = settings_page()
try:
    from vericite.serve.mcp import make_tools
except ModuleNotFoundError:
    found["tool"] = None
else:
    import asyncio
    tools = asyncio.run(make_tools(None).list_tools())
    found["tool"] = next(tool.input_schema for tool in tools if tool.name == "ask")
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("overlay")
    package, pipeline = folder / "vericite", folder / "vericite" / "pipeline"
    pipeline.mkdir(parents=True)
    for source, copy in ((SOURCE, package), (SOURCE / "pipeline", pipeline)):
        for entry in source.iterdir():
            if entry.name not in ("pipeline", "plan.py", "__pycache__"):
                (copy / entry.name).symlink_to(entry)
    field = (
        '    novelty: Annotated[int, Setting("--novelty-{}", ("ask",), by_request=True, request_most=9)] = Field(\n'
        '        default=1, ge=1, description="A field that no other file knows."\n    )\n\n'
    )
    code, count = re.subn(
        r'^class (\w+)Plan\(Record\):\n    """[^\n]*"""\n\n',
        lambda found: found[0] + field.replace("{}", found[1].lower()),
        (SOURCE / "pipeline" / "plan.py").read_text(encoding="utf-8"),
        flags=re.MULTILINE,
    )
    assert count == len(Plan.model_fields)
    (pipeline / "plan.py").write_text(code, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PROGRAM, str(SOURCE.parents[1] / "docs")],
        env={**os.environ, "PYTHONPATH": str(folder), "COLUMNS": "200", "NO_COLOR": "1"},
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_new_field_has_its_option_and_is_read_by_set_and_listed(shown: dict[str, Any]):
    assert "--novelty-answer" in shown["help"] and "A field that no other file knows." in shown["help"]
    assert "answer.novelty = 1  (--novelty-answer of ask)" in shown["listed"]
    assert "search.novelty" in shown["page"]
    values = json.loads(shown["set"])
    assert (values["search"]["novelty"], values["answer"]["novelty"], values["llm"]["novelty"]) == (1, 7, 8)


def test_a_request_may_set_a_new_field_of_any_section(shown: dict[str, Any]):
    assert {section: values["novelty"] for section, values in shown["asked"].items()} == dict.fromkeys(
        shown["asked"], 7
    )
    for section in Plan.model_fields:
        field = shown["schema"]["properties"][section]["properties"]["novelty"]
        assert (field["minimum"], field["maximum"]) == (1, 9)
        assert field["description"] == "A field that no other file knows."


def test_the_tool_for_assistants_takes_a_new_field(shown: dict[str, Any]):
    if shown["tool"] is None:
        pytest.skip("needs the extra [mcp]")
    plan = shown["tool"]["properties"]["plan"]["anyOf"][0]
    assert plan["properties"] == shown["schema"]["properties"]
