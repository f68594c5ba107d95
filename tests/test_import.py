from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import vericite

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


def python(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, **environment}
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, env=env)


def test_importing_the_package_imports_nothing_heavy():
    done = python(PLANTED.format(traps=SLOW_TO_LOAD) + "import vericite")
    assert done.returncode == 0, done.stderr


HELP = """
from vericite.cli import main
for words in (["--help"], ["--version"], ["check", "--help"]):
    sys.argv = ["vericite", *words]
    try:
        main()
    except SystemExit as stop:
        assert not stop.code, words
"""


def test_help_imports_nothing_heavy():
    done = python(PLANTED.format(traps=[*HEAVY, "onnxruntime", "tokenizers"]) + HELP)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("Usage: vericite") == 2 and vericite.__version__ in done.stdout


def test_importing_the_package_takes_under_300_milliseconds():
    code = "import time; t = time.perf_counter(); import vericite; print(time.perf_counter() - t)"
    assert any(float(python(code).stdout) < 0.3 for _ in range(3))


def test_every_public_name_loads():
    import vericite

    for name in vericite.__all__:
        assert getattr(vericite, name) is not None
    assert set(vericite.__all__) - {"__version__"} == set(vericite._HOME_OF)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = vericite.nothing


def test_checking_leaves_nothing_at_home_but_our_own_cache(tmp_path: Path):
    """The runtime's makers collect what is run with it, unless they are told not to."""
    check = "import vericite; vericite.check('Pills help [1].', [{'id': 'a', 'text': 'Aspirin helps.'}])"
    # Set in this process already, by the package's own import; and the runtime collects nothing where CI is set.
    code = f"import os; [os.environ.pop(name, None) for name in ('ORT_DISABLE_TELEMETRY', 'CI')]; {check}"
    ran = f"{code}; import sys; assert 'onnxruntime' in sys.modules"
    done = python(ran, HOME=str(tmp_path), USERPROFILE=str(tmp_path), XDG_CACHE_HOME=str(tmp_path / ".cache"))
    assert done.returncode == 0, done.stderr
    left = {path.relative_to(tmp_path).parts[:2] for path in tmp_path.rglob("*")}
    assert left <= {(".cache",), (".cache", "vericite")}


def test_no_file_imports_itself_over_others():
    # Imports within functions and for types alone count, too.
    root = Path(__file__).parents[1] / "src"
    files = {
        ".".join(it.relative_to(root).with_suffix("").parts).removesuffix(".__init__"): it for it in root.rglob("*.py")
    }
    graph: dict[str, set[str]] = {}
    for name, file in files.items():
        found: set[str] = set()
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module:
                names = (f"{node.module}.{one.name}" for one in node.names)
                found |= {full if full in files else node.module for full in names}
            elif isinstance(node, ast.Import):
                found |= {one.name for one in node.names}
        graph[name] = found & files.keys() - {name}
    TopologicalSorter(graph).prepare()  # raises CycleError, which names the files


def test_no_two_classes_have_one_name():
    found: dict[str, list[str]] = {}
    for path in sorted(Path(vericite.__file__).parent.rglob("*.py")):
        for name in re.findall(r"(?m)^class ([A-Za-z]\w*)", path.read_text(encoding="utf-8")):
            found.setdefault(name, []).append(path.name)
    assert {name: places for name, places in found.items() if len(places) > 1} == {}


def test_no_public_function_is_hidden_by_a_package():
    """Importing ``vericite.report`` would set the name to the package, and the function could not be called again."""
    import pkgutil

    packages = {info.name for info in pkgutil.iter_modules(vericite.__path__)}
    assert packages.isdisjoint(vericite.__all__)
