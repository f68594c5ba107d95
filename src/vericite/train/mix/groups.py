"""Groups that a split must not tear apart: claims that share a document, directly or through others."""

from __future__ import annotations

from collections.abc import Iterable


def components(members: Iterable[tuple[str, Iterable[str]]]) -> dict[str, str]:
    """The group of each claim, named after its least document.

    Args:
        members: Each claim's key and the keys of what it must stay with.
    """
    parent: dict[str, str] = {}

    def root(key: str) -> str:
        parent.setdefault(key, key)
        while parent[key] != key:
            parent[key] = parent[parent[key]]
            key = parent[key]
        return key

    claims: list[tuple[str, str]] = []
    for claim, tied in members:
        keys = sorted(tied) or [claim]
        for key in keys[1:]:
            low, high = sorted((root(keys[0]), root(key)))
            parent[high] = low
        claims.append((claim, keys[0]))
    return {claim: root(key) for claim, key in claims}
