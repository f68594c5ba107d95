"""Read PubMed's XML (baseline, daily update and efetch files) record by record."""

from vericite.corpus.pubmed.read import read_pubmed
from vericite.corpus.pubmed.record import Deletion, PubMedRecord, Retraction

__all__ = ["Deletion", "PubMedRecord", "Retraction", "read_pubmed"]
