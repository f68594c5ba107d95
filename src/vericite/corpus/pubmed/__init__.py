"""PubMed's XML (baseline, daily update and efetch files), one record after the other."""

from vericite.corpus.pubmed.parts import (
    AbstractSection,
    ArticleId,
    Author,
    Book,
    BookContent,
    Chemical,
    Correction,
    DataBank,
    Grant,
    HistoryDate,
    Journal,
    MeshHeading,
    OtherAbstract,
    Qualifier,
)
from vericite.corpus.pubmed.read import read_pubmed
from vericite.corpus.pubmed.record import Deletion, PubMedRecord, Retraction

__all__ = [
    "AbstractSection",
    "ArticleId",
    "Author",
    "Book",
    "BookContent",
    "Chemical",
    "Correction",
    "DataBank",
    "Deletion",
    "Grant",
    "HistoryDate",
    "Journal",
    "MeshHeading",
    "OtherAbstract",
    "PubMedRecord",
    "Qualifier",
    "Retraction",
    "read_pubmed",
]
