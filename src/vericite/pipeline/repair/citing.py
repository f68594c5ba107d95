"""Other citations for a sentence: what supports it among the documents of its answer, or among those found for it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from vericite.attribute import Attributor, Found
from vericite.errors import EntrezError, InputError
from vericite.pipeline.repair.proposing import Proposal, Wound
from vericite.pipeline.repair.telling import tellings
from vericite.pipeline.search import Search
from vericite.records import Claim, Document, Question

MOST = 3
"""Citations that a sentence is given at the most, as prompts for answers have it."""

FOUND = 3
"""Documents that are looked for, a sentence."""


class Citing:
    """Proposes what an attributor finds to support a sentence as it stands.

    Where the source that is cited says otherwise, only documents that say more of what the sentence says are proposed:
    it is likelier that the sentence misreads its source than that another was meant which hardly speaks of it.

    Args:
        attributor: Finds it.
        search: Where more documents are looked for; None tries those of the answer.
    """

    def __init__(self, attributor: Attributor, search: Search | None = None) -> None:
        self._attributor = attributor
        self._search = search

    def propose(self, wounds: Sequence[Wound]) -> list[list[Proposal]]:
        """First what the sentence cites already, then other documents."""
        given = [self._documents(wound) for wound in wounds]
        asked = [
            wound.answer.model_copy(update={"claims": (_bare(wound),), "documents": documents})
            for wound, documents in zip(wounds, given, strict=True)
        ]
        found = self._attributor.find(asked) if asked else ()
        return [
            list(_proposals(wound, documents, sentences[0])) if documents else []
            for wound, documents, sentences in zip(wounds, given, found, strict=True)
        ]

    def _documents(self, wound: Wound) -> tuple[Document, ...]:
        if self._search is None:
            return wound.usable
        try:
            found = self._search.find(Question(id=wound.answer.id, text=wound.claim.text), FOUND)
        except (InputError, EntrezError):
            # Nothing was found for it, which is no reason to leave the answer as it is.
            return ()
        own = {document.id for document in wound.answer.documents}
        return tuple(
            hit.document for hit in found.usable_first if not hit.document.retracted and hit.document.id not in own
        )


def _bare(wound: Wound) -> Claim:
    return wound.claim.model_copy(update={"citations": ()})


def _proposals(wound: Wound, documents: Sequence[Document], found: Found) -> Iterator[Proposal]:
    cited = {document.id for document in wound.cited}
    alone = [place for place in found.chosen if place not in found.together]
    ranked = sorted(alone, key=lambda place: -_worth(found.scores[place]))
    own = [place for place in ranked if documents[place].id in cited]
    ranked = _nearer(wound, documents, ranked) if wound.condition.against else ranked
    text = wound.claim.text
    for places in (own, own[:1]):
        if places:
            yield Proposal("dropped citation", text, tuple(documents[place] for place in places))
    together = () if wound.condition.against else found.together
    for places in (together, ranked[:MOST], ranked[:1]):
        if places:
            yield Proposal("re-cited", text, tuple(documents[place] for place in places))


def _nearer(wound: Wound, documents: Sequence[Document], places: Sequence[int]) -> list[int]:
    """Those whose likest sentence is liker than that of every document cited."""
    told = tellings(wound.claim.text, [*wound.cited, *(documents[place] for place in places)])
    nearest: dict[str, float] = {}
    for item in told:
        nearest.setdefault(item.document.id, item.likeness)
    bar = max((nearest.get(document.id, 0.0) for document in wound.cited), default=0.0)
    return [place for place in places if nearest.get(documents[place].id, 0.0) > bar]


def _worth(score: float | None) -> float:
    """A sentence quoted word for word has no score, and is surest."""
    return 1.0 if score is None else score
