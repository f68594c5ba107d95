"""By what documents are ranked."""

from __future__ import annotations

from typing import Literal

Way = Literal["bm25", "dense", "hybrid"]
"""By their words, by meaning (the cosine of vectors), or by the fused ranks of both."""
