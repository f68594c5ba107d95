"""Evidence put together: after a claim's sentences have been judged alone, those that tell most are judged as one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

import numpy as np

from vericite.records import Claim
from vericite.verify.judging import NEUTRAL
from vericite.verify.premises import TOGETHER, Case, Part, Premise, Role, Sources
from vericite.verify.sheet import Sheet


@runtime_checkable
class Assembling(Protocol):
    """A plan of premises that puts more of them together once the first are judged."""

    def assemble(self, case: Case, sheet: Sheet) -> tuple[Premise, ...]:
        """More premises for a case, given what is known of those it has; asked once a case."""
        ...


@dataclass(frozen=True)
class Assembly:
    """All documents that a claim cites, as one case: each sentence, then the ``most`` telling ones together.

    Telling is a sentence that the judge is least likely to call neutral to the whole claim; each cited document
    gives at least its best one, as long as there is room. Titles are no evidence.
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
                for premise in sources.windows(document, 1)
            )
            yield Case(tuple(citation for group in cited.values() for citation in group), documents, premises)

    def assemble(self, case: Case, sheet: Sheet) -> tuple[Premise, ...]:
        """The telling sentences as one premise, in the order of the documents; none where one is all there is."""
        usable = np.flatnonzero(sheet.asked[0] & ~sheet.failed[0])
        if len(usable) < 2:
            return ()
        ranked: list[int] = usable[np.argsort(sheet.scores[0, usable, NEUTRAL], kind="stable")].tolist()
        first: dict[int | None, int] = {}
        for place in ranked:
            first.setdefault(case.premises[place].role.source, place)
        chosen = sorted(list(dict.fromkeys([*first.values(), *ranked]))[: self.most])
        parts = tuple(Part(case.premises[place].text, case.premises[place].passages[0]) for place in chosen)
        passages = tuple(part.span for part in parts if part.span is not None)
        return (Premise(" ".join(part.text for part in parts), passages, parts, TOGETHER),)
