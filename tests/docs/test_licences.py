"""The licence of each package that VeriCite or an extra installs is listed and compatible."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
PERMISSIVE = {
    "0BSD", "Apache-2.0", "BSD", "BSD-2-Clause", "BSD-3-Clause", "BSL-1.0", "CC0-1.0", "CNRI-Python", "HPND", "ISC",
    "MIT", "MIT-0", "MIT-CMU", "MPL-2.0", "PSF-2.0", "Unlicense", "Zlib", "Apache-2.0 WITH LLVM-exception",
}  # fmt: skip


@pytest.fixture(scope="module")
def licences() -> ModuleType:
    spec = importlib.util.spec_from_file_location("docs_licences", ROOT / "docs" / "licences.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_each_locked_package_has_a_row(licences: ModuleType):
    absent = licences.locked().keys() - licences.rows().keys()
    assert not absent, f"run docs/licences.py: {sorted(absent)}"


def test_each_package_of_the_service_has_a_row(licences: ModuleType):
    text = (ROOT / "deploy" / "requirements.lock").read_text(encoding="utf-8")
    names = {licences.name_of(name) for name in re.findall(r"(?m)^([\w.-]+)==", text)}
    assert names - licences.rows().keys() == set()


def test_each_licence_is_compatible(licences: ModuleType):
    for name, licence in licences.rows().items():
        if name.startswith("nvidia-") or name == "cuda-toolkit":
            assert licence == "LicenseRef-NVIDIA-Proprietary", name
            continue
        assert set(re.split(r" (?:AND|OR) ", re.sub(r"[()]", "", licence))) <= PERMISSIVE, (name, licence)


def test_a_locked_version_that_is_installed_here_has_the_licence_of_its_row(licences: ModuleType):
    # Other versions of a package may be under another licence, or name the same one differently.
    text = "".join((ROOT / file).read_text(encoding="utf-8") for file in licences.LOCKS.values())
    versions = {(licences.name_of(name), version) for name, version in re.findall(r"(?m)^([\w.-]+)==([\w.+!-]+)", text)}
    assert {name for name, _ in versions} == licences.locked().keys()
    rows = licences.rows()
    changed = {
        package.metadata["Name"]: found
        for package in licences.distributions()
        if ((name := licences.name_of(package.metadata["Name"])), package.version) in versions
        and (found := licences.licence_of(package))
        and found != rows[name]
    }
    assert changed == {}
