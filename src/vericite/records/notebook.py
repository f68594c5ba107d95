"""How notebooks show records."""

from __future__ import annotations

from importlib import import_module


def as_html(value: object) -> str:
    """Return the HTML that a notebook shows.

    The module is loaded by name when a notebook asks: the templates are those of reports, in a layer above records.
    """
    return import_module("vericite.reporting.notebook").html_of(value)
