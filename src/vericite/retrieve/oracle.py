"""The documents that a question's authors found its answer in: the best that retrieval could do."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from vericite.corpus.sources.entry import pmid_of
from vericite.errors import InputError
from vericite.records import Document, Evidence, Question
from vericite.retrieve.retriever import corpus_signature

if TYPE_CHECKING:
    from vericite.corpus.entrez.client import Entrez

Lookup = Callable[[Sequence[str]], Iterable[Document]]
"""The documents that have one of these ids or PMIDs, in any order."""

_LOG = logging.getLogger(__name__)


class Oracle:
    """Gives a question its gold documents, in their order.

    A gold document that is not to be had, or has no abstract, is left out, with a warning, and told in ``missing``;
    where none of a question's is to be had there is an error, because an answer from nothing would count against the
    generator.

    Args:
        entrez: Fetches by PMID what is not among ``documents``; None to take those only.
        documents: Documents by their ids or PMIDs.
        lookup: Finds others, as in a store.
        source: What ``lookup`` looks into, for the signature.

    Attributes:
        missing: By question id, the gold documents that were not to be had, each with the reason.
    """

    def __init__(
        self,
        entrez: Entrez | None = None,
        documents: Iterable[Document] = (),
        lookup: Lookup | None = None,
        source: str = "store",
    ) -> None:
        self._entrez = entrez
        self._lookup = lookup
        self._source = source
        self._documents: dict[str, Document] = {}
        given = list(documents)
        self._corpus = corpus_signature(given) if given else None
        for document in given:
            _keep(self._documents, document)
        self.missing: dict[str, Mapping[str, str]] = {}

    @property
    def signature(self) -> str:
        """Where the documents come from."""
        parts = [self._corpus] if self._corpus else []
        parts += [self._source] if self._lookup else []
        parts += [self._entrez.signature] if self._entrez else []
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
        given = self._looked_up(pmids) if self._lookup else self._documents
        known = {gold: given.get(gold) or given.get(pmid) for gold, pmid in pmids.items()}
        reasons: dict[str, str] = {}
        if rest := [gold for gold, document in known.items() if document is None]:
            fetched, reasons = self._fetched([pmids[gold] for gold in rest])
            known |= {gold: fetched.get(pmids[gold]) for gold in rest}
        found = {it.id: it for it in known.values() if it is not None and it.text.strip()}
        missing = {gold: reasons[pmids[gold]] for gold, document in known.items() if document is None}
        # What has a title alone cannot be cited and checked.
        missing |= {gold: "it has no abstract" for gold, it in known.items() if it is not None and it.id not in found}
        return list(found.values()), missing

    def _looked_up(self, pmids: Mapping[str, str]) -> Mapping[str, Document]:
        found = dict(self._documents)
        assert self._lookup is not None
        for document in self._lookup(list(dict.fromkeys([*pmids, *pmids.values()]))):
            _keep(found, document)
        return found

    def _fetched(self, pmids: list[str]) -> tuple[dict[str, Document], dict[str, str]]:
        if self._entrez is None:
            return {}, dict.fromkeys(pmids, "it is not among the documents given")
        fetched = self._entrez.fetch(pmids)
        reasons = dict.fromkeys(fetched.missing, "PubMed has no such record") | dict(fetched.problems)
        return {document.id: document for document in fetched.documents}, reasons


def _keep(documents: dict[str, Document], document: Document) -> None:
    # An id is the document's own; a PMID two versions of an article may share.
    documents[document.id] = document
    if document.pmid:
        documents.setdefault(document.pmid, document)
