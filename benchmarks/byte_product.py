"""The bundled judge with the fast product of bytes and with the exact one: logits and labels over 1,000 pairs.

    python benchmarks/byte_product.py [--pairs 1000]
    qemu-x86_64 -cpu Haswell .venv/bin/python benchmarks/byte_product.py     a processor whose fast product overflows

Activations have 7 bits, so the fast product should be exact on every processor. Pairs are the claims of
``cases/exaggerations.jsonl`` before their own source and the four that follow. Printed are whether bytes overflow on
this processor, how many logits and labels differ, the largest difference, and the labels, to be compared with those
of another processor. Exits with 1 if a label differs.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
from dataclasses import replace
from pathlib import Path

import numpy as np

from vericite.environment import EXACT_BYTES
from vericite.models import Engine, ModelFolder, Pair
from vericite.models.engine import FITTING_BITS
from vericite.models.folder import VERIFIER, ModelCard
from vericite.models.session import bytes_overflow

CASES = Path(__file__).parent / "cases" / "exaggerations.jsonl"
SOURCES = 5


def pairs() -> list[Pair]:
    """Each claim before its own source and those of the cases that follow."""
    cases = [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines()]
    return [
        Pair(cases[(number + step) % len(cases)]["source"], case[claim])
        for number, case in enumerate(cases)
        for step in range(SOURCES)
        for claim in ("sound", "exaggerated")
    ]


def logits(given: list[Pair], is_exact: bool) -> np.ndarray:
    """The judge's logits with one of the two products."""
    os.environ[EXACT_BYTES] = "1" if is_exact else "0"
    # With 7 bits the engine takes the fast product whatever the variable says.
    folder = replace(ModelFolder.bundled(VERIFIER), card=_card(8 if is_exact else FITTING_BITS))
    return np.stack([output.values for output in Engine(folder, exits=True).run(given)])


def _card(bits: int) -> ModelCard:
    return ModelFolder.bundled(VERIFIER).card.model_copy(update={"activation_bits": bits})


def main() -> int:
    """Compare the two products."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=1000)
    given = pairs()[: parser.parse_args().pairs]
    fast, exact = logits(given, False), logits(given, True)
    labels = int((fast.argmax(1) != exact.argmax(1)).sum())
    found = hashlib.sha256(fast.astype("<f4").tobytes()).hexdigest()[:16]
    decided = "".join(map(str, fast.argmax(1)))
    print(f"bytes overflow on this processor: {'yes' if bytes_overflow() else 'no'}")
    print(
        f"{len(given)} pairs: {labels} labels differ, {int((fast != exact).any(1).sum())} rows of logits differ, "
        f"by up to {float(np.abs(fast - exact).max()):.6f}; logits {found}"
    )
    print(f"labels: {decided}")
    return 1 if labels else 0


if __name__ == "__main__":
    raise SystemExit(main())
