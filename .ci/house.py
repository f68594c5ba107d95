"""How large and how deep the package is: ``python .ci/house.py [--without serve,experiment ...] [--list]``.

Depth is the longest chain of files of which each imports the next when it is loaded: imports within functions and those
for types alone do not count. A module has one importer if one file other than an ``__init__`` imports it, anywhere.
``--without`` leaves folders out, to compare with a time before they were there.
"""

from __future__ import annotations

import argparse
import ast
import sys
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1] / "src"


def files(without: set[str]) -> dict[str, Path]:
    """Every module by its name."""
    found: dict[str, Path] = {}
    for path in sorted(ROOT.joinpath("vericite").rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        if parts[1] not in without:
            found[".".join(parts).removesuffix(".__init__")] = path
    return found


def nodes(tree: ast.AST, at_load: bool) -> Iterator[ast.AST]:
    """What is in a file; at load nothing that is in a function or for types alone."""
    for node in ast.iter_child_nodes(tree):
        for_types = isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)
        if not for_types and not (at_load and isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)):
            yield node
            yield from nodes(node, at_load)


def imports(path: Path, known: dict[str, Path], at_load: bool) -> set[str]:
    """The modules that a file imports."""
    found: set[str] = set()
    for node in nodes(ast.parse(path.read_text(encoding="utf-8")), at_load):
        if isinstance(node, ast.Import):
            found |= {one.name for one in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            named = (f"{node.module}.{one.name}" for one in node.names)
            found |= {name if name in known else node.module for name in named}
    return {name for name in found if name in known and known[name] != path}


def deepest(graph: dict[str, set[str]]) -> tuple[str, ...]:
    """The longest chain."""

    @cache
    def chain(name: str) -> tuple[str, ...]:
        return (name, *max((chain(it) for it in sorted(graph[name])), key=len, default=()))

    return max(map(chain, sorted(graph)), key=len)


def main() -> None:
    """Print the counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--without", default="", help="folders that do not count, with commas")
    parser.add_argument("--list", action="store_true", help="name the modules with one importer")
    given = parser.parse_args()
    known = files({*given.without.split(",")})
    sources = {name: path.read_text(encoding="utf-8") for name, path in known.items()}
    chain = deepest({name: imports(path, known, at_load=True) for name, path in known.items()})
    importers: defaultdict[str, set[str]] = defaultdict(set)
    for name, path in known.items():
        for imported in imports(path, known, at_load=False) if path.name != "__init__.py" else ():
            importers[imported].add(name)
    single = [it for it, path in known.items() if len(importers[it]) == 1 and path.name != "__init__.py"]
    protocols = sum(
        isinstance(node, ast.ClassDef) and any("Protocol" in ast.unparse(base) for base in node.bases)
        for source in sources.values()
        for node in ast.walk(ast.parse(source))
    )
    lines = sum(len(source.splitlines()) for source in sources.values())
    sys.stdout.write(f"{len(known)} files, {lines:,} lines, {protocols} Protocols\n")
    sys.stdout.write(f"import depth {len(chain)}: {' > '.join(it.removeprefix('vericite.') for it in chain)}\n")
    sys.stdout.write(f"{len(single)} modules with one importer\n")
    for name in sorted(single, key=lambda it: len(sources[it].splitlines())) if given.list else ():
        sys.stdout.write(f"  {len(sources[name].splitlines()):4} {name} < {', '.join(importers[name])}\n")


if __name__ == "__main__":
    main()
