"""Take a step in making the reranker."""

from __future__ import annotations

import sys
from importlib import import_module

STEPS = {
    "lists": "vericite.train.relevance.build",
    "fit": "vericite.train.relevance.fit",
    "calibrate": "vericite.train.relevance.calibrate",
    "score": "vericite.train.relevance.score",
}


def main(arguments: list[str] | None = None) -> int:
    """Hand what follows the step to it."""
    told = sys.argv[1:] if arguments is None else arguments
    if not told or told[0] not in STEPS:
        sys.stderr.write(f"expected a step, one of {', '.join(STEPS)}; found {' '.join(told[:1]) or 'none'}\n")
        return 0 if told[:1] == ["--help"] else 2
    return import_module(STEPS[told[0]]).main(list(told[1:]))


if __name__ == "__main__":
    sys.exit(main())
