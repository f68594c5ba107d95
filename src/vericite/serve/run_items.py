"""Runs as items of a report."""

from __future__ import annotations

from vericite.evaluate.items import Item
from vericite.records import Run
from vericite.serve.bodies import CheckedManuscript, RepairedBody
from vericite.serve.run_store import StoredRun


def item_of(run: StoredRun, id: str | None = None) -> Item:
    """Convert a run to an item of a report.

    Args:
        run: The run.
        id: Id of the item (None: that of the question or answer).
    """
    if isinstance(run, Run):
        reasoned = run.rationale.checked if run.rationale else None
        return Item(id or run.question.id, run.answer, run.checked, changes=run.changes, reasoned=reasoned)
    if isinstance(run, CheckedManuscript):
        return Item(id or run.answer.id, run.answer, run.checked, manuscript=run.check)
    changes = run.changes if isinstance(run, RepairedBody) else ()
    return Item(id or run.answer.id, run.answer, run.checked, changes=changes)


def original_of(run: RepairedBody) -> Item:
    """Return the answer before the repair."""
    return Item(run.original.id, run.original, run.before)
