"""Articles in JATS, PubMed Central's XML: files of one, what efetch and OAI reply, chapters of the Bookshelf."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from vericite.corpus.pubmed import Retraction
from vericite.corpus.pubmed.parser import SAFE
from vericite.corpus.sources.form import Numbered, SourceForm
from vericite.corpus.sources.opening import SourceFile
from vericite.corpus.sources.xml_root import root_of
from vericite.errors import RecordError
from vericite.records import Document

if TYPE_CHECKING:
    from lxml.etree import _Element  # pyright: ignore[reportPrivateUsage]

_ARTICLES = ("{*}article", "{*}book-part-wrapper")
_ROOTS = frozenset(("article", "pmc-articleset", "articles", "OAI-PMH", "book-part-wrapper"))


def _read(file: SourceFile) -> Iterator[Numbered]:
    from lxml import etree

    line = 1
    articles = etree.iterparse(file.stream, events=("end",), tag=_ARTICLES, **SAFE)
    try:
        for _, article in articles:
            line = article.sourceline or line
            yield from ((line, item) for item in _items(file, article, line))
            _forget(article)
    except etree.XMLSyntaxError as error:
        # The error itself may be no more than that there was no end.
        first = next((entry for entry in articles.error_log if entry.level >= etree.ErrorLevels.ERROR), None)
        message, line = (first.message, first.line) if first else (error.msg, error.lineno or line)
        problem = f"expected well-formed XML; found an error ({message.strip()}). What follows was not read"
        raise RecordError(file.path, max(line, 1), None, problem) from None


def _items(file: SourceFile, article: _Element, line: int) -> Iterator[Document | Retraction | RecordError]:
    from vericite.corpus.sources.jats_article import document_of, retracted_by

    document = document_of(article, file.name)
    if document.sections:
        yield document
    else:
        problem = f"expected an abstract or a body; found {document.id!r} without either"
        yield RecordError(file.path, line, None, problem)
    # What a notice retracts is retracted, though the notice itself may have no text.
    if retraction := Retraction.said_by(document.pmid, retracted_by(article)):
        yield retraction


def _forget(article: _Element) -> None:
    """Free the memory of an article. Its own node stays until the next one, for the parser goes on from there."""
    article.clear(keep_tail=True)  # pyright: ignore[reportCallIssue]
    parent = article.getparent()
    while parent is not None and article.getprevious() is not None:
        del parent[0]


def _matches(file: SourceFile) -> bool:
    return root_of(file.opening) in _ROOTS or file.suffix == ".nxml"


JATS = SourceForm("articles in JATS XML, as PubMed Central has them (.nxml, .xml)", _read, _matches)
