from __future__ import annotations

import sys
from pathlib import Path

# The E-utilities and the chat service on loopback are at home with the tests of their clients.
sys.path += [str(Path(__file__).resolve().parents[1] / home) for home in ("corpus/entrez", "llm")]
