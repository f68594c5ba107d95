"""Runs as pages of their own."""

from __future__ import annotations

from vericite.evaluate.items import Item
from vericite.evaluate.resampling import Bootstrap
from vericite.evaluate.scoring import System
from vericite.records import Run
from vericite.report.data import make_report
from vericite.report.page import make_page
from vericite.serve.bodies import Checked


def item_of(run: Run | Checked) -> Item:
    """A run as a report takes it."""
    if isinstance(run, Run):
        return Item(
            run.question.id,
            run.answer,
            run.checked,
            changes=run.changes,
            reasoned=run.rationale.checked if run.rationale else None,
        )
    return Item(run.answer.id, run.answer, run.checked)


def report_of(run: Run | Checked) -> str:
    """A run as a page of its own."""
    title = run.question.text if isinstance(run, Run) else run.answer.question or "A checked answer"
    return make_page(make_report([System("answer", (item_of(run),))], Bootstrap(100, 0)), title[:200]).html
