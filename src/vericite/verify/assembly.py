"""Evidence put together: after a claim's sentences have been judged alone, those that tell most are judged as one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

import numpy as np

from vericite.records import Claim, Document
from vericite.verify.judging import NEUTRAL
from vericite.verify.premises import TOGETHER, Case, Premise, Role, Sources
from vericite.verify.sheet import Sheet


@runtime_checkable
class Assembling(Protocol):
    """A plan of premises that puts more of them together once the first are judged."""

    def assemble(self, case: Case, sheet: Sheet, fits: Callable[[str], bool]) -> tuple[Premise, ...]:
        """More premises for a case, given what is known of those it has; asked once a case."""
        ...


@dataclass(frozen=True)
class Assembly:
    """All documents that a claim cites, as one case: each sentence, then the ``most`` telling ones together.

    Telling is a sentence that the judge is least likely to call neutral to the whole claim; each cited document
    gives its best one, as long as there is room, however many that makes. Titles are no evidence. Three and
    four do better on dev than two, and three cost less (docs/protocols.md).
    """

    most: int = 3

    @property
    def signature(self) -> str:
        """Says how many sentences are put together."""
        return f"assembly({self.most})"

    def cases(self, claim: Claim, sources: Sources) -> Iterator[Case]:
        """One case, if the claim cites anything that exists."""
        cited = sources.cited(claim)
        if cited:
            documents = tuple(sources.answer.document(id) for id in cited)
            premises = tuple(
                replace(premise, role=Role("sentence", number))
                for number, document in enumerate(documents)
                for premise in self.sentences(document, sources)
            )
            yield Case(tuple(citation for group in cited.values() for citation in group), documents, premises)

    def sentences(self, document: Document, sources: Sources) -> tuple[Premise, ...]:
        """The document's sentences."""
        return sources.windows(document, 1)

    def assemble(self, case: Case, sheet: Sheet, fits: Callable[[str], bool]) -> tuple[Premise, ...]:
        """The telling sentences as one premise, in the order of the documents; none where one is all there is.

        One that would make it longer than the judge reads is passed over.
        """
        usable = np.flatnonzero(sheet.asked[0] & ~sheet.failed[0])
        if len(usable) < 2:
            return ()
        ranked: list[int] = usable[np.argsort(sheet.scores[0, usable, NEUTRAL], kind="stable")].tolist()
        first: dict[int | None, int] = {}
        for place in ranked:
            first.setdefault(case.premises[place].role.source, place)
        most = max(self.most, len(case.documents))
        chosen: list[int] = []
        for place in dict.fromkeys([*first.values(), *ranked]):
            if len(chosen) < most and fits(_text(case, [*chosen, place])):
                chosen.append(place)
        if len(chosen) < 2:
            return ()
        passages = tuple(span for place in sorted(chosen) for span in case.premises[place].passages)
        return (Premise(_text(case, chosen), passages, role=TOGETHER),)


def _text(case: Case, chosen: Sequence[int]) -> str:
    return " ".join(case.premises[place].text for place in sorted(chosen))
