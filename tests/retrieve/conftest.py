from __future__ import annotations

import sys
from pathlib import Path

# The E-utilities on loopback are at home with the client's own tests.
sys.path.append(str(Path(__file__).resolve().parents[1] / "corpus/entrez"))
