"""The kinds of manuscripts, recognised by their beginning, else by the suffix, and the function that reads them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from vericite.corpus.manuscript.bibliography import read_bibliography
from vericite.corpus.manuscript.docx import DOCX_MANUSCRIPT
from vericite.corpus.manuscript.html import HTML_MANUSCRIPT
from vericite.corpus.manuscript.kind import ManuscriptKind
from vericite.corpus.manuscript.latex import LATEX_MANUSCRIPT
from vericite.corpus.manuscript.markup import MARKDOWN_MANUSCRIPT, TEXT_MANUSCRIPT
from vericite.corpus.manuscript.pdf import PDF_MANUSCRIPT
from vericite.corpus.sources.files import SourceFile, opened
from vericite.errors import InputError
from vericite.records import Manuscript
from vericite.registry import Registry

MANUSCRIPTS = Registry(
    "manuscript format",
    {
        "docx": DOCX_MANUSCRIPT,
        "pdf": PDF_MANUSCRIPT,
        "latex": LATEX_MANUSCRIPT,
        "html": HTML_MANUSCRIPT,
        "markdown": MARKDOWN_MANUSCRIPT,
        "text": TEXT_MANUSCRIPT,
    },
)
"""Kinds of manuscripts, in the order in which they are tried."""


def read_manuscript(path: Path, bibliography: Sequence[Path] = ()) -> Manuscript:
    """Read a manuscript: its text, the places that cite, and its references.

    Args:
        path: The manuscript. Files that it names are read only from its own folder.
        bibliography: Files of references, such as BibTeX, RIS or CSL JSON, that the manuscript cites by key or name.

    Raises:
        InputError: A file cannot be read, or is no manuscript.
    """
    works = read_bibliography(bibliography)
    with opened(path) as file:
        try:
            return _kind(file).read(file, works)
        except OSError as error:
            raise InputError(f"expected a readable file; found {path}: {error}") from None


def manuscript_kind(path: Path) -> str | None:
    """Return the name of a file's kind in ``MANUSCRIPTS``; None if it is no manuscript."""
    with opened(path) as file:
        return next((name for name, kind in MANUSCRIPTS.usable() if kind.matches(file)), None)


_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")


def _kind(file: SourceFile) -> ManuscriptKind:
    if file.is_empty:
        raise InputError(f"expected a manuscript; found {file.path}, which is empty")
    found = next((kind for _, kind in MANUSCRIPTS.usable() if kind.matches(file)), None)
    if found:
        return found
    kind = file.known_kind
    if file.head.startswith(b"\xd0\xcf\x11\xe0") and _ENCRYPTED in file.content():
        kind = "a document with a password. Remove the password"
    names = ", ".join(MANUSCRIPTS)
    raise InputError(f"expected a manuscript ({names}); found {file.path}, {kind or 'of an unknown kind'}")
