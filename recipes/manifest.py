"""Write the list of the shipped weights: python recipes/manifest.py. With --check, compare it with the weights."""

from __future__ import annotations

import sys

from vericite.models.folder import SHIPPED, WEIGHTS
from vericite.models.manifest import MANIFEST, Manifest, describe


def main() -> int:
    """Write or check the list."""
    text = Manifest(models=tuple(describe(name) for name in SHIPPED)).model_dump_json(indent=2) + "\n"
    path = WEIGHTS / MANIFEST
    if "--check" not in sys.argv[1:]:
        path.write_text(text, encoding="utf-8", newline="\n")
        return 0
    if path.is_file() and path.read_text(encoding="utf-8") == text:
        return 0
    sys.stderr.write(f"{path} differs from the weights. Run: python recipes/manifest.py\n")
    return 1


if __name__ == "__main__":
    raise SystemExit(main())
