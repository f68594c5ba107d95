from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from vericite.corpus.sources.files import Item
from vericite.corpus.sources.registry import documents_in


@pytest.fixture
def read(tmp_path: Path) -> Callable[..., list[Item]]:
    """What a file of this name and content holds."""

    def read(name: str, content: str | bytes, format: str = "auto") -> list[Item]:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return list(documents_in(path, format))

    return read
