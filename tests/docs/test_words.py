"""Plain English: no docstring, comment or message has a phrase that CONTRIBUTING.md bans."""

from __future__ import annotations

import io
import re
import tokenize
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BANNED = re.compile(
    r"\b(?:mend(?:s|ed|ing)?|beside|nobody|if not said|to be had|but for|so many|as \w+ has it|whoever|anew)\b",
    re.IGNORECASE,
)
LANGUAGE_DATA = (
    "repair/directions.py",
    "text/assertion.py",
    "text/injection.py",
    "text/quotable.py",
    "text/citations.py",
)
"""Modules whose strings are words to look for in texts: only their comments are looked at."""


def words_of(path: Path) -> str:
    """Comments and strings of a module, or the prose of a page."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        return re.sub(r"```.*?```|`[^`\n]*`", "", text, flags=re.DOTALL)
    kinds = (tokenize.COMMENT,) if path.as_posix().endswith(LANGUAGE_DATA) else (tokenize.COMMENT, tokenize.STRING)
    return "\n".join(
        token.string for token in tokenize.generate_tokens(io.StringIO(text).readline) if token.type in kinds
    )


def files() -> list[Path]:
    """All modules of the package."""
    return sorted((ROOT / "src/vericite").rglob("*.py"))


@pytest.mark.parametrize("path", files(), ids=lambda path: str(path.relative_to(ROOT / "src/vericite")))
def test_no_banned_phrase(path: Path):
    found = {match[0].lower() for match in BANNED.finditer(words_of(path))}
    assert not found, f"{path.relative_to(ROOT)}: {', '.join(sorted(found))}; see CONTRIBUTING.md, Words"


def test_a_banned_phrase_is_found(tmp_path: Path):
    module = tmp_path / "module.py"
    module.write_text('"""Mend it."""\nx = 1  # beside the other\n')
    assert {match[0] for match in BANNED.finditer(words_of(module))} == {"Mend", "beside"}
