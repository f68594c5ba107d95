"""Lists of PMIDs, which name documents to be fetched elsewhere."""

from __future__ import annotations

import re
from pathlib import Path

from vericite.corpus.sources.entry import pmid_of
from vericite.corpus.sources.fields import field_of
from vericite.corpus.sources.opening import SourceFile, opened
from vericite.corpus.sources.rows import rows
from vericite.corpus.sources.table import header_of, is_pubmed_export
from vericite.errors import InputError, RecordError

_APART = re.compile(r"[\s,;]+")
_LIST = re.compile(r"(?:pmids?:?[\s,;]+)?(?:(?:pmid\s{0,2}:?\s{0,2})?\d{1,8}(?:[\s,;]+|\Z))+", re.IGNORECASE)
_NAME = re.compile(r"\Apmids?\b:?\s*|pmid\s{0,2}:?\s{0,2}", re.IGNORECASE)


def pmids_in(path: Path) -> tuple[str, ...] | None:
    """The PMIDs of a file that lists them, each once and in order; None for any other file.

    A list has one PMID a line or several apart by commas; PubMed's CSV, which has no abstracts, is one too.

    Raises:
        InputError: The file cannot be read to its end, or goes on as something else than its beginning says.
    """
    with opened(path) as file:
        try:
            if lists_pmids(file):
                return _of_list(file)
            delimiter, header = header_of(file.opening)
            if is_pubmed_export(header):
                return _of_table(file, delimiter)
        except OSError as error:
            raise InputError(f"expected a readable file; found {path}: {error}") from None
    return None


def lists_pmids(file: SourceFile) -> bool:
    """Whether a file lists PMIDs and nothing else, as far as its beginning tells."""
    opening = file.opening.strip()
    if len(file.opening) >= len(file.head) >= 60_000:
        opening = _APART.sub(" ", opening).rpartition(" ")[0]  # the last one may be cut in two
    return bool(_LIST.fullmatch(opening))


def _of_list(file: SourceFile) -> tuple[str, ...]:
    names: list[str] = []
    for number, line in enumerate(file.text().split("\n"), start=1):
        for name in filter(None, _APART.split(_NAME.sub(" ", line))):
            if pmid_of(name) is None and not name.isdecimal():
                raise RecordError(file.path, number, None, f"expected a PMID; found {line.strip()[:60]!r}")
            names.append(name)
    return _once(names)


def _of_table(file: SourceFile, delimiter: str) -> tuple[str, ...]:
    table = rows(file.lines(), delimiter)
    header = next(table).cells
    column = next(index for index, name in enumerate(header) if field_of(name) == "pmid")
    return _once([row.cells[column] for row in table if len(row.cells) > column])


def _once(names: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(pmid for name in names if (pmid := pmid_of(name))))
