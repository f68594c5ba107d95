"""Write docs/licences.md: the licence of each package that VeriCite and its extras install.

    python docs/licences.py [FOLDER ...]

It reads the metadata of the packages in the given site-packages folders (default: of this Python). A package that is in
none of them keeps its row. The packages are those of requirements.lock and requirements-extras.lock.
"""

from __future__ import annotations

import re
import sys
from importlib.metadata import Distribution, distributions
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "licences.md"
LOCKS = {"core": "requirements.lock", "extras": "requirements-extras.lock"}
HEAD = """# Licences of dependencies

VeriCite is under Apache-2.0. It installs these packages; none of their code is in ours. All licences allow use and
distribution next to Apache-2.0 code. MPL-2.0 asks that changes to the package's own files be published. NVIDIA's
packages come only with the default build of `torch` on Linux and have terms of their own; a build of `torch` for the
processor needs none of them. The licences of the bundled models are in [NOTICE](../NOTICE).

Made by `python docs/licences.py` from what the packages declare. `make sbom` writes the core's as CycloneDX.

| package | licence | installed by |
|---|---|---|
"""
SPDX = {
    "Apache Software License": "Apache-2.0",
    "Apache 2.0": "Apache-2.0",
    "Apache License, Version 2.0": "Apache-2.0",
    "Apache 2.0 License": "Apache-2.0",
    "Apache-2.0": "Apache-2.0",
    "BSD License": "BSD",
    "BSD-3-Clause": "BSD-3-Clause",
    "3-Clause BSD License": "BSD-3-Clause",
    "BSD-3-Clause, Apache-2.0, dependency licenses": "BSD-3-Clause AND Apache-2.0",
    "Dual License": "Apache-2.0 OR BSD-3-Clause",
    "ISC License (ISCL)": "ISC",
    "MIT": "MIT",
    "MIT License": "MIT",
    "MPL-2.0 AND MIT": "MPL-2.0 AND MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "PSF": "PSF-2.0",
    "Python Software Foundation License": "PSF-2.0",
}
"""What packages write, and its identifier."""
NVIDIA = "LicenseRef-NVIDIA-Proprietary"
WITHOUT_METADATA = {"cuda-toolkit": NVIDIA, "triton": "MIT"}
"""Packages that declare nothing, or are too large to install for this."""


def name_of(text: str) -> str:
    """Return a package's name as indexes compare it."""
    return re.sub(r"[-_.]+", "-", text).lower()


def locked() -> dict[str, str]:
    """Return the packages of the lock files, and what installs each."""
    found: dict[str, str] = {}
    for by, file in LOCKS.items():
        for name in re.findall(r"(?m)^([\w.-]+)==", (ROOT / file).read_text(encoding="utf-8")):
            found.setdefault(name_of(name), by)
    return dict(sorted(found.items()))


def licence_of(package: Distribution) -> str | None:
    """Return the licence that a package declares; None without one."""
    metadata = package.metadata
    classifiers = [
        line.split(" :: ")[-1] for line in metadata.get_all("Classifier") or () if line.startswith("License")
    ]
    stated = (metadata.get("License") or "").splitlines()[:1]
    if expression := metadata.get("License-Expression"):
        return expression
    return next((SPDX[text] for text in (*stated, *classifiers) if text in SPDX), None)


def rows() -> dict[str, str]:
    """Return the licences of the page, by package."""
    page = PAGE.read_text(encoding="utf-8") if PAGE.is_file() else ""
    return dict(re.findall(r"(?m)^\| `([\w.-]+)` \| ([^|]+) \|", page))


def main(folders: list[str]) -> int:
    """Write the page; list packages whose licence is unknown."""
    packages = locked()
    known = {name: NVIDIA for name in packages if name.startswith("nvidia-")} | WITHOUT_METADATA | rows()
    for package in distributions(path=folders or sys.path):
        if licence := licence_of(package):
            known[name_of(package.metadata["Name"])] = licence
    table = [f"| `{name}` | {known[name]} | {by} |\n" for name, by in packages.items() if name in known]
    PAGE.write_text(HEAD + "".join(table), encoding="utf-8", newline="\n")
    if absent := sorted(packages.keys() - known.keys()):
        sys.stderr.write(f"no licence known of {', '.join(absent)}: install them, or add their rows by hand\n")
    return 1 if absent else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
