from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from vericite.verify import protocol_names

ROOT = Path(__file__).parents[2]


# Half a minute; CI runs it by itself.
@pytest.mark.slow
def test_the_output_shown_in_the_docs_is_what_the_commands_print():
    done = subprocess.run(
        [sys.executable, "docs/refresh.py", "--check"], cwd=ROOT, capture_output=True, text=True, timeout=400
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_readme_names_every_protocol():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for name in protocol_names():
        assert f"| `{name}` |" in readme


def test_the_readme_python_example_holds():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    code = re.search(r"```python\n(import vericite.*?)```", readme, re.DOTALL)
    assert code
    found: dict[str, object] = {}
    exec(code[1], found)
    verdict = found["verdict"]
    assert (verdict.label, verdict.evidence[0].sentence) == ("supported", 0)


@pytest.mark.parametrize(
    "page",
    ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", *[f"docs/{p.name}" for p in (ROOT / "docs").glob("*.md")]],
)
def test_links_within_the_repository_lead_somewhere(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    for target in re.findall(r"\]\((?!http)([^)#]+)", text):
        assert ((ROOT / page).parent / target).exists(), target
