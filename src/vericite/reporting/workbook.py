"""Excel workbooks of results."""

from __future__ import annotations

import io
from collections.abc import Collection, Iterable

from vericite.formats.tables import workbooks
from vericite.reporting.blocks import NOT_XML

_LONGEST_CELL = 32_767
"""Maximum characters of a cell in Excel."""


def to_workbook(rows: Iterable[Iterable[str]], numeric: Collection[str] = ()) -> bytes:
    """Return rows as an Excel workbook, in which no cell is a formula.

    Args:
        rows: The rows; the first has the names of the columns.
        numeric: Columns of numbers.

    Raises:
        MissingExtraError: The extra ``[tables]`` is not installed.
    """
    openpyxl = workbooks()
    book = openpyxl.Workbook()
    sheet = book.active
    names: list[str] = []
    for number, row in enumerate(rows, start=1):
        cells = list(row)
        names = names or cells
        for column, (name, text) in enumerate(zip(names, cells, strict=True), start=1):
            if text:
                cell = sheet.cell(number, column)
                if number > 1 and name in numeric:
                    cell.value = float(text)
                else:
                    cell.value = NOT_XML.sub("\ufffd", text)[:_LONGEST_CELL]
                    cell.data_type = "s"
    sheet.freeze_panes = "A2"
    held = io.BytesIO()
    book.save(held)
    return held.getvalue()
