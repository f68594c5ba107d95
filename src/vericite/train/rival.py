"""The core of AnchorCite, a lexical citation checker, as a scorer to compare with."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from vericite.errors import InputError
from vericite.models import Pair
from vericite.train.scoring import Floats


class AnchorCite:
    """What it anchors it holds for supported; it says nothing of contradiction.

    The probabilities put the pairs in its own order: above one half where it anchors, by the score of the anchor,
    and below by the score of the best sentence, which did not reach its threshold.
    """

    def __init__(self, package: Path) -> None:
        if not (package / "anchorcite" / "__init__.py").is_file():
            raise InputError(f"expected the unpacked wheel of anchorcite in {package}; found no package in it")
        sys.path.insert(0, str(package))
        try:
            self._module = importlib.import_module("anchorcite")
        finally:
            sys.path.remove(str(package))
        # The core alone: with no scorer named it would look for installed neural models.
        self._lexical = self._module.LexicalScorer()
        self._anchorer = self._module.CitationAnchorer(scorer=self._lexical)

    def probabilities(self, pairs: Sequence[Pair]) -> Floats:
        """[pairs, columns]; nothing is ever contradicted."""
        supported = np.array([self._supported(pair) for pair in pairs], dtype=np.float64)
        return np.stack([supported, np.zeros_like(supported), 1 - supported], axis=1)

    def _supported(self, pair: Pair) -> float:
        anchor = self._anchorer.anchor(pair.claim, pair.premise)
        if anchor:
            return 0.5 + anchor.score / 2
        sentences = [part[0] for part in self._module.split_sentences_with_offsets(pair.premise)] or [pair.premise]
        return 0.4 * max(self._lexical.score(pair.claim, sentences))
