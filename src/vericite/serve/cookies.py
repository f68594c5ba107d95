"""Cookies of a request."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import unquote


def cookie(headers: Mapping[str, str], name: str) -> str:
    """Return the value of a cookie, or an empty text."""
    parts = (part.strip().partition("=") for part in headers.get("cookie", "").split(";"))
    return unquote(next((value for found, _, value in parts if found == name), ""))
