"""The image of the service has the packages that were tested, each known by its hash."""

from __future__ import annotations

import re
from importlib.metadata import requires
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]


def pinned(path: Path) -> dict[str, str]:
    """The version of each package of a lock file, all of which have hashes."""
    found: dict[str, str] = {}
    for block in re.split(r"\n(?=\S)", path.read_text(encoding="utf-8").strip()):
        name, version = re.match(r"([\w.-]+)==([\w.]+)", block).groups()
        assert "--hash=sha256:" in block, name
        found[name] = version
    return found


def test_the_image_installs_by_hash_alone():
    text = (ROOT / "deploy" / "Dockerfile").read_text(encoding="utf-8")
    installs = re.findall(r"pip install [^&\n]*", text)
    assert len(installs) == 2
    assert "--require-hashes -r requirements.lock" in installs[0]
    assert "--no-index --no-deps --no-build-isolation" in installs[1]


def test_the_base_of_the_image_is_named_by_its_digest():
    text = (ROOT / "deploy" / "Dockerfile").read_text(encoding="utf-8")
    assert re.search(r"^ARG PYTHON=python:3\.\d+\.\d+-slim-\w+@sha256:[0-9a-f]{64}$", text, re.MULTILINE)
    assert set(re.findall(r"^FROM (\S+)", text, re.MULTILINE)) == {"${PYTHON}"}


def test_the_image_has_what_the_service_needs_in_the_versions_that_are_tested():
    image = pinned(ROOT / "deploy" / "requirements.lock")
    tested = pinned(ROOT / "requirements.lock") | pinned(ROOT / "requirements-dev.lock")
    assert {name: tested[name] for name in image} == image
    for line in requires("vericite") or []:
        requirement = Requirement(line)
        wanted = [{"extra": extra} for extra in ("", "serve", "mcp")]
        if requirement.marker is None or any(requirement.marker.evaluate(one) for one in wanted):
            assert requirement.name in image
