from __future__ import annotations

import sys
from pathlib import Path

# The small checkpoints are at home with the tests of judges.
sys.path.append(str(Path(__file__).resolve().parents[2] / "verify/hf"))
