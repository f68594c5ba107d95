"""The scripts of ``benchmarks/`` as modules: what they count with is tested like other code."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

_FOLDER = Path(__file__).parents[1] / "benchmarks"


def benchmark(name: str) -> ModuleType:
    """The script of this name."""
    spec = importlib.util.spec_from_file_location(f"benchmark_{name}", _FOLDER / f"{name}.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # its dataclasses look themselves up there
    spec.loader.exec_module(module)
    return module
