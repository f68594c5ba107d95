from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = [
    "torch",
    "transformers",
    "ray",
    "fastapi",
    "lancedb",
    "pyarrow",
    "openai",
    "scipy",
    "sklearn",
    "nltk",
    "altair",
]
SLOW_TO_LOAD = [*HEAVY, "onnxruntime", "tokenizers", "numpy", "lxml", "pydantic"]
PLANTED = """
import importlib.abc, importlib.machinery, sys

class Trap(importlib.abc.MetaPathFinder):
    # A finder that is asked for a heavy package proves the attempt even where it is not installed.
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {traps}:
            sys.exit("imported " + name)
        return None

sys.meta_path.insert(0, Trap())
"""


def python(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)


def test_importing_the_package_imports_nothing_heavy():
    done = python(PLANTED.format(traps=SLOW_TO_LOAD) + "import vericite")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["check", "--help"]])
def test_help_imports_nothing_heavy(arguments):
    code = f"import sys; sys.argv = ['vericite', *{arguments}]\nfrom vericite.cli import main\nmain()"
    done = python(PLANTED.format(traps=[*HEAVY, "onnxruntime", "tokenizers"]) + code)
    assert done.returncode == 0, done.stderr
    assert "ericite" in done.stdout


def test_importing_the_package_takes_under_300_milliseconds():
    code = "import time; t = time.perf_counter(); import vericite; print(time.perf_counter() - t)"
    assert min(float(python(code).stdout) for _ in range(3)) < 0.3


def test_every_public_name_loads():
    import vericite

    for name in vericite.__all__:
        assert getattr(vericite, name) is not None
    assert set(vericite.__all__) - {"__version__"} == set(vericite._HOME_OF)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = vericite.nothing
