"""Test each integration with the newest and the oldest version of its library that it supports.

    python tests/integrations/hosts.py test [inspect_ai ragas-oldest ...]   # all, or some
    python tests/integrations/hosts.py lock                                 # pins the versions again; needs uv

Each version has a virtual environment of its own in .venv-hosts, made when it is first needed.
"""

from __future__ import annotations

import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
TOOLS = ["hypothesis", "pytest", "pytest-socket"]
# Errors in our own warnings filter would come from the libraries while they are imported.
PYTEST = ["-m", "pytest", "-q", "-W", "ignore", "-p", "no:cacheprovider"]


def chosen(names: Iterable[str]) -> Iterator[tuple[str, str, list[str]]]:
    """Yield library, newest or oldest, and requirements."""
    wanted = set(names)
    for host, versions in tomllib.loads((HERE / "hosts.toml").read_text()).items():
        for version, requirements in versions.items():
            if not wanted or wanted & {host, f"{host}-{version}"}:
                yield host, version, requirements


def lock(names: Iterable[str]) -> None:
    """Pin each version and all that it needs, for every system and Python from 3.11."""
    for host, version, requirements in chosen(names):
        given = "\n".join([*requirements, *TOOLS])
        options = ["--quiet", "--universal", "--python-version", "3.11", "--no-emit-index-url", "--no-annotate"]
        inputs = ["--no-header", "pyproject.toml", "--group", "build", "-"]
        target = HERE / "hosts" / f"{host}-{version}.txt"
        command = ["uv", "pip", "compile", *options, *inputs, "-o", str(target)]
        subprocess.run(command, input=given, text=True, check=True, cwd=ROOT, stdout=subprocess.DEVNULL)


def test(names: Iterable[str]) -> int:
    """Run the tests of each version; return 1 if one fails."""
    failed: list[str] = []
    for host, version, _ in chosen(names):
        name = f"{host}-{version}"
        print(f"{name}:", flush=True)
        tests = HERE / f"test_{host}.py"
        if subprocess.run([str(environment(name)), *PYTEST, "-rs", str(tests)], cwd=ROOT).returncode:
            failed.append(name)
    print(f"failed: {', '.join(failed)}" if failed else "all passed")
    return bool(failed)


def environment(name: str) -> Path:
    """Return the Python of a virtual environment with these pinned versions and VeriCite."""
    folder = ROOT / ".venv-hosts" / name
    python, pins, done = folder / "bin" / "python", HERE / "hosts" / f"{name}.txt", folder / ".done"
    if not done.exists() or done.stat().st_mtime < max(pins.stat().st_mtime, (ROOT / "pyproject.toml").stat().st_mtime):
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
        pip = [str(python), "-m", "pip", "--disable-pip-version-check", "--quiet", "install", "--no-compile"]
        subprocess.run([*pip, "-r", str(pins)], check=True)
        subprocess.run([*pip, "--no-deps", "--no-build-isolation", "--editable", str(ROOT)], check=True)
        done.touch()
    return python


if __name__ == "__main__":
    action, *names = sys.argv[1:] or ["test"]
    if action not in ("lock", "test"):
        sys.exit("expected lock or test; found " + action)
    sys.exit(lock(names) if action == "lock" else test(names))
