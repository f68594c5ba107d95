"""Scripts outside the package that no other test runs still find what they import from it."""

from __future__ import annotations

import ast
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPTS = sorted(
    path for folder in ("benchmarks", "docs", "recipes", "examples") for path in ROOT.glob(f"{folder}/**/*.py")
)


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_script_finds_what_it_imports_from_the_package(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "vericite":
            try:
                module = import_module(node.module)
            except ModuleNotFoundError as error:
                # Of an extra that is not installed here, such as torch.
                assert not (error.name or "").startswith("vericite"), error
                continue
            missing = [
                it.name
                for it in node.names
                if not hasattr(module, it.name) and find_spec(f"{node.module}.{it.name}") is None
            ]
            assert not missing, f"{path.name}, line {node.lineno}: {node.module} has no {', '.join(missing)}"
