"""PubMed's XML, read elsewhere."""

from __future__ import annotations

from collections.abc import Iterator

from vericite.corpus.pubmed import PubMedRecord
from vericite.corpus.sources.form import Numbered, SourceForm
from vericite.corpus.sources.opening import SourceFile
from vericite.corpus.sources.xml_root import root_of
from vericite.errors import RecordError

_ROOTS = frozenset((
    "PubmedArticleSet", "PubmedArticle", "PubmedBookArticleSet", "PubmedBookArticle", "MedlineCitationSet",
    "MedlineCitation", "DeleteCitation",
))  # fmt: skip


def _read(file: SourceFile) -> Iterator[Numbered]:
    from vericite.corpus.pubmed import read_pubmed

    line = 1
    for item in read_pubmed(file.stream, str(file.path)):
        line = item.line if isinstance(item, RecordError) else line
        yield line, item.document() if isinstance(item, PubMedRecord) else item
        if isinstance(item, PubMedRecord) and (retraction := item.retraction):
            yield line, retraction


def _matches(file: SourceFile) -> bool:
    return root_of(file.opening) in _ROOTS


PUBMED = SourceForm("PubMed's XML: a baseline or update file, or what efetch replies", _read, _matches, True, True)
