from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import vericite
from vericite.cli import io as extras
from vericite.cli.io import EXTRAS

SOURCE = Path(vericite.__file__).parent


def imported() -> Iterator[str]:
    """The packages that any line of ours imports, at the top of a file or within a function."""
    for file in set(SOURCE.rglob("*.py")) - {Path(extras.__file__)}:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                yield from (name.name.partition(".")[0] for name in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module:
                yield node.module.partition(".")[0]
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value  # import_module("ir_measures"), eval_package("rouge_score", ...)


def test_no_extra_is_offered_for_what_is_not_there():
    unused = {name: set(extra.modules) for name, extra in EXTRAS.items()}
    for package in imported():
        unused = {name: modules for name, modules in unused.items() if package not in modules}
        if not unused:
            break
    assert not unused


@pytest.mark.parametrize("name", ["report"])
def test_doctor_does_not_offer_features_that_do_not_exist(run_cli, name):
    assert f"vericite[{name}]" not in run_cli("doctor").out
