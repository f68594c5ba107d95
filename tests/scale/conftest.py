from __future__ import annotations

import sys
from pathlib import Path

# Made documents are at home with the tests of the store.
sys.path.append(str(Path(__file__).resolve().parents[1] / "corpus" / "store"))
