from __future__ import annotations

import sys
from pathlib import Path

from processor import plain_processor

# The small checkpoints are at home with the tests of judges.
sys.path.append(str(Path(__file__).resolve().parents[2] / "verify/hf"))

__all__ = ["plain_processor"]
