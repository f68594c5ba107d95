"""The documents that a question's authors found its answer in: the best that retrieval could do."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from vericite.corpus.sources.entry import pmid_of
from vericite.errors import InputError
from vericite.records import Document, Evidence, Question

if TYPE_CHECKING:
    from vericite.corpus.entrez.client import Entrez

_LOG = logging.getLogger(__name__)


class Oracle:
    """Gives a question its gold documents, in their order.

    A gold document that is not to be had is left out, with a warning, and told in ``missing``; where none of a
    question's is to be had there is an error, because an answer from nothing would count against the generator.

    Args:
        entrez: Fetches by PMID what is not among ``documents``; None to take those only.
        documents: Documents by their ids or PMIDs.

    Attributes:
        missing: By question id, the gold documents that were not to be had, each with the reason.
    """

    def __init__(self, entrez: Entrez | None = None, documents: Iterable[Document] = ()) -> None:
        self._entrez = entrez
        self._documents: dict[str, Document] = {}
        self._count = 0
        for document in documents:
            self._count += 1
            # An id is the document's own; a PMID two versions of an article may share.
            self._documents[document.id] = document
            if document.pmid:
                self._documents.setdefault(document.pmid, document)
        self.missing: dict[str, Mapping[str, str]] = {}

    @property
    def signature(self) -> str:
        """Where the documents come from."""
        parts = ([f"{self._count} documents"] if self._count else []) + (
            [self._entrez.signature] if self._entrez else []
        )
        return f"oracle({', '.join(parts)})"

    def retrieve(self, question: Question, k: int) -> tuple[Evidence, ...]:
        """The first ``k`` gold documents that are to be had.

        Raises:
            InputError: The question has no gold documents, or none of them is to be had.
            EntrezError: NCBI cannot be asked, or gave no usable reply.
        """
        if not question.gold_documents:
            raise InputError(
                f"expected gold documents for question {question.id!r}; found none. Ask it of another retriever."
            )
        documents, missing = self._gold(question)
        self.missing.pop(question.id, None)
        if missing:
            self.missing[question.id] = missing
            reasons = "; ".join(f"{gold}: {reason}" for gold, reason in missing.items())
            if not documents:
                raise InputError(f"expected gold documents for question {question.id!r}; found none: {reasons[:500]}.")
            _LOG.warning("question %s: %d gold documents are left out: %s", question.id, len(missing), reasons)
        return tuple(
            Evidence(document=document, rank=rank, score=1 / rank, retriever="oracle")
            for rank, document in enumerate(documents[:k], start=1)
        )

    def _gold(self, question: Question) -> tuple[list[Document], dict[str, str]]:
        """The documents, each once, and why others are missing."""
        pmids = {gold: pmid_of(gold) or gold for gold in dict.fromkeys(question.gold_documents)}
        known = {gold: self._documents.get(gold) or self._documents.get(pmid) for gold, pmid in pmids.items()}
        reasons: dict[str, str] = {}
        if rest := [gold for gold, document in known.items() if document is None]:
            fetched, reasons = self._fetched([pmids[gold] for gold in rest])
            known |= {gold: fetched.get(pmids[gold]) for gold in rest}
        found = {document.id: document for document in known.values() if document is not None}
        missing = {gold: reasons[pmids[gold]] for gold, document in known.items() if document is None}
        return list(found.values()), missing

    def _fetched(self, pmids: list[str]) -> tuple[dict[str, Document], dict[str, str]]:
        if self._entrez is None:
            return {}, dict.fromkeys(pmids, "it is not among the documents given")
        fetched = self._entrez.fetch(pmids)
        reasons = dict.fromkeys(fetched.missing, "PubMed has no such record") | dict(fetched.problems)
        return {document.id: document for document in fetched.documents}, reasons
