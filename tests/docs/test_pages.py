from __future__ import annotations

import re
import subprocess
import sys
import tomllib
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


def test_the_protocols_page_names_every_protocol():
    page = (ROOT / "docs" / "protocols.md").read_text(encoding="utf-8")
    for name in protocol_names():
        assert f"| `{name}` |" in page


def test_the_readme_is_read_in_a_minute():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 120


def test_the_api_page_is_made_from_the_docstrings():
    done = subprocess.run([sys.executable, "docs/api.py", "--check"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_readme_python_example_holds():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    code = re.search(r"```python\n(import vericite.*?)```", readme, re.DOTALL)
    assert code
    found: dict[str, object] = {}
    exec(code[1], found)
    verdict = found["verdict"]
    assert (verdict.label, verdict.evidence[0].sentence_index) == ("supported", 0)


PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def page(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_the_table_of_layers_is_the_contract():
    (contract,) = (one for one in PROJECT["tool"]["importlinter"]["contracts"] if one["name"] == "data flows one way")
    table = page("ARCHITECTURE.md").partition("| layer | holds |")[2].partition("\n\n")[0]
    rows = re.findall(r"(?m)^\| (`[^|]+) \|", table)
    assert [set(re.findall(r"\w+", row)) for row in rows] == [
        set(re.findall(r"\w+", layer)) for layer in reversed(contract["layers"])
    ]


def test_the_paths_that_architecture_names_are_there():
    named = re.findall(r"`((?:\w+/)+[\w.]*)`", page("ARCHITECTURE.md"))
    assert len(named) > 15
    assert [path for path in named if not any((root / path).exists() for root in (ROOT, ROOT / "src/vericite"))] == []


def test_the_readme_and_architecture_name_every_dependency():
    names = {re.match(r"[\w-]+", line)[0] for line in PROJECT["project"]["dependencies"]}  # pyright: ignore
    listed = re.search(r"The core is light\s+\(([^)]*)\)", page("README.md"))
    assert listed and set(re.findall(r"`([\w-]+)`", listed[1])) == names
    table = page("ARCHITECTURE.md").partition("| package | for |")[2].partition("\n\n")[0]
    firsts = re.findall(r"(?m)^\| ([^|]+) \|", table)
    assert {name for cell in firsts for name in re.findall(r"`([\w-]+)`", cell)} == names


PAGES = [
    *(ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md")),
    *(ROOT / "docs").rglob("*.md"),
    *(ROOT / "recipes").rglob("*.md"),
]


def anchors(page: Path) -> set[str]:
    """The anchors that a forge gives to a page's headings."""
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    headings = re.findall(r"(?m)^#+ (.*)$", text)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_within_the_repository_lead_somewhere(page):
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\((?!http)([^)\s]+)\)", text):
        path, _, anchor = target.partition("#")
        found = (page.parent / path).resolve() if path else page
        assert found.exists(), target
        assert not anchor or anchor in anchors(found), target


def test_every_page_is_reached_from_the_index():
    docs = ROOT / "docs"
    seen, queue = set(), [docs / "index.md"]
    while queue:
        page = queue.pop()
        if page in seen:
            continue
        seen.add(page)
        links = re.findall(r"\]\((?!http)([^)#\s]+\.md)", page.read_text(encoding="utf-8"))
        queue += [(page.parent / link).resolve() for link in links]
    assert sorted(str(p.relative_to(docs)) for p in docs.rglob("*.md") if p not in seen) == []


def test_the_data_sets_page_names_every_set():
    from vericite.datasets.registry import SETS

    page = (ROOT / "docs" / "datasets.md").read_text(encoding="utf-8")
    for known in SETS.values():
        assert f"| `{known.name}` | {known.title} | {', '.join(known.gives)} |" in page
