"""Which demonstrations a question is shown with. Whatever is random is so by seed, and by no pool's order."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Literal, Protocol, get_args

import numpy as np

from vericite.errors import InputError, UnknownNameError
from vericite.generate.demonstrations.decontamination import NEAR
from vericite.generate.demonstrations.pool import Exemplar, Pool, normal
from vericite.generate.demonstrations.vectors import Array, Vectors
from vericite.generate.prompt import Demonstration, Prompt
from vericite.models import Embedder
from vericite.records import Question
from vericite.text.references import reference_key

Way = Literal["static", "similar", "similar+diverse", "label-balanced"]

MOST_SHOTS = 4

_CANDIDATES = 100
"""The nearest ones, among which those that repeat each other least are looked for."""


@dataclass(frozen=True)
class Selection:
    """How demonstrations are chosen.

    Attributes:
        way: ``static``: the first by seed, the same for all questions. ``similar``: the nearest to the question in
            meaning. ``similar+diverse``: the same, less like each other. ``label-balanced``: by seed, as many of each
            label as of any other.
        shots: How many, 0 to 4.
        fewest: How many there must be: where similarity or labels give fewer they are filled up by seed. None for
            ``shots``.
        seed: Of what is random.
        least: Cosine to the question below which nothing counts as similar.
        diversity: Weight of being unlike those already chosen, against being like the question.
        near: Cosine to the question from which an exemplar would give it away; only ways that compare use it.
    """

    way: Way = "static"
    shots: int = 2
    fewest: int | None = None
    seed: int = 0
    least: float = 0.0
    diversity: float = 0.3
    near: float = NEAR

    def __post_init__(self) -> None:
        if self.way not in get_args(Way):
            raise UnknownNameError("way to choose demonstrations", self.way, get_args(Way))
        if not 0 <= self.shots <= MOST_SHOTS:
            raise InputError(f"expected 0 to {MOST_SHOTS} demonstrations; found {self.shots}. Ask for fewer.")
        if self.fewest is not None and not 0 <= self.fewest <= self.shots:
            raise InputError(
                f"expected the fewest demonstrations to be 0 to {self.shots}, as many as are shown; found "
                f"{self.fewest}. Lower it, or raise shots."
            )
        for name, low in (("least", -1), ("diversity", 0), ("near", 0)):
            if not low <= getattr(self, name) <= 1:
                raise InputError(f"expected {name} from {low} to 1; found {getattr(self, name)}. Correct it.")

    @property
    def needed(self) -> int:
        """How many there must be."""
        return self.shots if self.fewest is None else self.fewest

    @property
    def compares(self) -> bool:
        """Whether it goes by likeness to the question."""
        return self.way in ("similar", "similar+diverse")

    @property
    def signature(self) -> str:
        """The way, the shots, the seed, and what else is not the usual."""
        changed = (
            f", {name}={value:g}"
            for name, value in asdict(self).items()
            if name not in ("way", "shots", "seed") and value != getattr(Selection, name)
        )
        return f"{self.way}, shots={self.shots}, seed={self.seed}{''.join(changed)}"


class Selector(Protocol):
    """Chooses demonstrations for a question."""

    @property
    def signature(self) -> str:
        """For provenance."""
        ...

    def choose(self, question: Question, evidence_pmids: Collection[str] = ()) -> tuple[Demonstration, ...]:
        """The demonstrations to show, in the order they are shown; none rests on the question's own evidence."""
        ...


class PoolSelector:
    """Chooses from a pool.

    What has the question's id, its words, or an article of its evidence is never chosen, whether or not the pool was
    decontaminated. Two with the same words are not chosen together. ``similar`` and ``similar+diverse`` show the most
    similar last, nearest to the question; the others keep the order of the seed.

    Args:
        pool: Where from.
        selection: How.
        prompt: What they are to be shown in; only exemplars that have what it asks for are chosen.
        vectors: Whose likeness; None for the bundled embedder's, kept beside the pool's file.

    Raises:
        InputError: The pool has fewer than are needed, or the prompt takes none.
    """

    def __init__(
        self, pool: Pool, selection: Selection, prompt: Prompt | None = None, vectors: Vectors | None = None
    ) -> None:
        self._pool, self.selection = pool, selection
        if prompt is not None and prompt.demonstration is None and selection.shots:
            raise InputError(f"expected a prompt that takes demonstrations; found {prompt.name}. Ask for 0.")
        shown = [(exemplar, exemplar.shown_in(prompt)) for exemplar in pool.exemplars if selection.shots]
        self._exemplars = [exemplar for exemplar, demonstration in shown if demonstration is not None]
        self._demonstrations = [demonstration for _, demonstration in shown if demonstration is not None]
        self._texts = [normal(exemplar.question) for exemplar in self._exemplars]
        if len(set(self._texts)) < selection.needed:
            wanted = "" if prompt is None else f" that {prompt.name} can show"
            raise InputError(
                f"expected at least {selection.needed} different demonstrations{wanted}; found "
                f"{len(set(self._texts))} in {pool.path or 'the pool'}, which has {len(pool)} in all. "
                "Build more (a final answer needs rationales, which --llm makes), or ask for fewer."
            )
        self._by_seed = sorted(range(len(self._exemplars)), key=lambda place: self._lot(self._exemplars[place].id))
        self._order = {place: order for order, place in enumerate(self._by_seed)}
        self._by_label: dict[str, list[int]] = {}
        for place in self._by_seed:
            if (label := self._exemplars[place].label) is not None:
                self._by_label.setdefault(label, []).append(place)
        self._barred_by = _barring(self._exemplars, self._texts)
        self._vectors: Vectors | None = None
        self._rows = np.zeros((0, 0), dtype=np.float32)
        if selection.compares and selection.shots:
            self._vectors = vectors or Vectors.beside(pool.path, Embedder.shared())
            # All of the pool's, so that the file beside it serves every prompt and seed.
            rows = self._vectors.of([exemplar.question for exemplar in pool.exemplars], keep=True)
            self._rows = rows[[demonstration is not None for _, demonstration in shown]]

    @property
    def signature(self) -> str:
        """How, from which pool, less what was removed of it, and by whose likeness."""
        if not self.selection.shots:
            return "demonstrations.v1(none)"
        by = f", {self._vectors.signature}" if self._vectors else ""
        return f"demonstrations.v1({self.selection.signature}, {self._pool.signature}{by})"

    def choose(self, question: Question, evidence_pmids: Collection[str] = ()) -> tuple[Demonstration, ...]:
        """The demonstrations for a question.

        Raises:
            InputError: Fewer are left than are needed.
        """
        if not self.selection.shots:
            return ()
        likeness = None if self._vectors is None else self._rows @ self._vectors.of([question.text])[0]
        barred = self._barred(question, evidence_pmids, likeness)
        chosen = self._distinct(self._ruled(barred, likeness), barred, self.selection.shots)
        if len(chosen) < self.selection.needed:
            chosen = self._distinct((*chosen, *self._by_seed), barred, self.selection.needed)
        if len(chosen) < self.selection.needed:
            raise InputError(
                f"expected {self.selection.needed} demonstrations that do not share their evidence or words with "
                f"question {question.id!r}; found {len(chosen)}. Add to the pool, or lower the fewest."
            )
        if likeness is not None:
            chosen.sort(key=lambda place: float(likeness[place]))
        else:
            chosen.sort(key=self._order.__getitem__)
        return tuple(self._demonstrations[place] for place in chosen)

    def _lot(self, name: str) -> bytes:
        """A number drawn for a name: what others there are does not change it."""
        return hashlib.sha256(f"{self.selection.seed}\0{name}".encode()).digest()

    def _barred(self, question: Question, evidence: Collection[str], likeness: Array | None) -> frozenset[int]:
        names = [*question.gold_documents, *evidence]
        marks = {f"id\0{question.id}", f"text\0{normal(question.text)}", *map(reference_key, names)}
        barred = {place for mark in marks for place in self._barred_by.get(mark, ())}
        if likeness is not None:
            barred.update(int(place) for place in np.flatnonzero(likeness >= self.selection.near))
        return frozenset(barred)

    def _distinct(self, places: Iterable[int], barred: frozenset[int], most: int) -> list[int]:
        """The first of these that may be shown together."""
        chosen: dict[str, int] = {}
        for place in places:
            if len(chosen) == most:
                break
            if place not in barred:
                chosen.setdefault(self._texts[place], place)
        return list(chosen.values())

    def _ruled(self, barred: frozenset[int], likeness: Array | None) -> Iterable[int]:
        """What the way gives, the best first."""
        if likeness is None:
            return self._by_seed if self.selection.way == "static" else self._balanced(barred)
        if self.selection.way == "similar":
            return self._nearest(likeness)
        return self._diverse(barred, likeness)

    def _balanced(self, barred: frozenset[int]) -> list[int]:
        """By seed, so many of each label; who has one more where they do not come out even, the seed says."""
        labels = sorted(self._by_label, key=self._lot)
        each, rest = divmod(self.selection.shots, max(1, len(labels)))
        return [
            place
            for order, label in enumerate(labels)
            for place in self._distinct(self._by_label[label], barred, each + (order < rest))
        ]

    def _diverse(self, barred: frozenset[int], likeness: Array) -> Iterator[int]:
        """Maximal marginal relevance among the nearest."""
        weight = self.selection.diversity
        left = [place for place in self._nearest(likeness) if place not in barred][:_CANDIDATES]
        rows, near = self._rows[left], likeness[left]
        repeats = np.zeros_like(near)
        free = np.ones(len(left), dtype=np.bool_)
        while free.any():
            best = int(np.where(free, (1 - weight) * near - weight * repeats, -np.inf).argmax())
            yield left[best]
            free[best] = False
            repeats = np.maximum(repeats, rows @ rows[best])

    def _nearest(self, likeness: Array) -> list[int]:
        """What is similar, the nearest first."""
        order = np.argsort(-likeness, kind="stable")
        return order[: int((likeness >= self.selection.least).sum())].tolist()


def _barring(exemplars: list[Exemplar], texts: list[str]) -> dict[str, list[int]]:
    """What of a question bars which exemplars."""
    found: defaultdict[str, list[int]] = defaultdict(list)
    for place, (exemplar, text) in enumerate(zip(exemplars, texts, strict=True)):
        for mark in (f"id\0{exemplar.id}", f"text\0{text}", *exemplar.keys):
            found[mark].append(place)
    return found
