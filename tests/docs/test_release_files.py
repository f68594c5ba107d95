"""What a release consists of: the citation file, the site's pages, and builds that anyone can repeat."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
import yaml

from vericite.version import __version__

ROOT = Path(__file__).parents[2]


def test_the_citation_file_names_the_version_and_what_its_format_demands():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert cited["cff-version"] == "1.2.0"
    assert cited["version"] == __version__
    assert cited["license"] == "Apache-2.0"
    assert cited["title"] and cited["message"]
    assert all(author.get("name") or author.get("family-names") for author in cited["authors"])


def test_the_site_has_every_page_of_the_docs():
    config = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    named = {page for (section,) in map(dict.values, config["nav"]) for page in section}
    assert {path for path in named if not (ROOT / path).is_file()} == set()
    pages = {f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md")} - {"docs/index.md"}
    assert pages - named == set()


def copied(folder: Path, seconds: int) -> Path:
    """Copy what git tracks into a folder, with other times and permissions."""
    files = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
    for name in filter(None, files.decode().split("\0")):
        if not (ROOT / name).is_file():
            continue
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes((ROOT / name).read_bytes())
        os.utime(path, (seconds, seconds))
        path.chmod(0o600 if seconds % 2 else 0o644)
    return folder


def build(folder: Path) -> list[Path]:
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(folder / "built")]
    subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=300)
    return sorted((folder / "built").iterdir())


@pytest.mark.slow
def test_two_builds_have_the_same_bytes_and_hold_the_models(tmp_path: Path):
    first = build(copied(tmp_path / "one", 1_000_000_000))
    second = build(copied(tmp_path / "another" / "folder", 1_700_000_001))
    assert [path.name for path in first] == [path.name for path in second]
    assert [hashlib.sha256(path.read_bytes()).hexdigest() for path in first] == [
        hashlib.sha256(path.read_bytes()).hexdigest() for path in second
    ]
    wheel, source = (next(path for path in first if path.name.endswith(end)) for end in (".whl", ".tar.gz"))
    with zipfile.ZipFile(wheel) as packed:
        names = packed.namelist()
    assert "vericite/models/weights/manifest.json" in names
    assert not [name for name in names if re.search(r"(^|/)(tests|__pycache__)/", name)]
    with tarfile.open(source) as packed:
        held = {name.partition("/")[2] for name in packed.getnames()}
    assert {"CITATION.cff", "SECURITY.md", "mkdocs.yml", "requirements-extras.lock", "src/vericite/version.py"} <= held
