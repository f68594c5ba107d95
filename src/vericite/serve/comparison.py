"""Two runs side by side, as a report shows two systems."""

from __future__ import annotations

from typing import Any

from vericite.evaluate.resampling import Bootstrap
from vericite.evaluate.scoring import System
from vericite.reporting.data import Report, make_report
from vericite.serve.run_items import item_of
from vericite.serve.run_store import StoredRun


def report_of_two(first: StoredRun, second: StoredRun, names: tuple[str, str]) -> Report:
    """Return the report of two runs, as of two systems that were asked the same."""
    systems = [System(name, (item_of(run, "compared"),)) for name, run in zip(names, (first, second), strict=True)]
    return make_report(systems, Bootstrap(100, 0))


def differing_sentences(first: dict[str, Any], second: dict[str, Any]) -> list[tuple[int, int]]:
    """Return the places of sentences that are in both answers, and whose outcomes differ.

    Args:
        first: An answer as a report has it.
        second: The other answer.
    """
    places: dict[str, list[int]] = {}
    for place, claim in enumerate(second["claims"]):
        places.setdefault(_key(claim), []).append(place)
    found: list[tuple[int, int]] = []
    for place, claim in enumerate(first["claims"]):
        if same := places.get(_key(claim)):
            other = same.pop(0)
            if second["claims"][other]["kind"] != claim["kind"]:
                found.append((place, other))
    return found


def _key(claim: dict[str, Any]) -> str:
    return " ".join(claim["text"].split()).casefold().rstrip(". ")
