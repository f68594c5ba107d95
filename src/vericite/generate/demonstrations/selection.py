"""Choose the demonstrations for a question. Random choices depend on the seed, not on the order of the pool."""

from __future__ import annotations

import hashlib
import logging
from collections import Counter, defaultdict, deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from vericite.disk.files import whole_bytes
from vericite.errors import InputError, UnknownNameError
from vericite.generate.demonstrations.pool import Exemplar, Pool, Removed, normal
from vericite.generate.prompt import AnswerPrompt, Demonstration
from vericite.models.embedder import Embedder
from vericite.records import Question
from vericite.text.references import reference_key

if TYPE_CHECKING:
    from vericite.models.contracts import Embeds


_LOG = logging.getLogger(__name__)

Array = NDArray[np.float32]


class Vectors:
    """Vectors by the hash of their texts. Those of a pool are stored in a file, others only in this object.

    A file that is damaged or of another embedder is computed again; a file that cannot be written causes a warning.
    """

    def __init__(self, embedder: Embeds, file: Path | None = None) -> None:
        self._embedder = embedder
        self.file = file
        self._known: dict[bytes, Array] = {} if file is None else _read(file, embedder.signature)

    @classmethod
    def next_to(cls, pool: Path | None, embedder: Embeds) -> Vectors:
        """Open the vectors of a pool, stored next to its file: ``pool.jsonl.vectors.npz`` for ``pool.jsonl``."""
        return cls(embedder, None if pool is None else pool.with_name(f"{pool.name}.vectors.npz"))

    @property
    def signature(self) -> str:
        """Signature of the embedder."""
        return self._embedder.signature

    def of(self, texts: Sequence[str], keep: bool = False) -> Array:
        """Return one row per text; with ``keep``, the file holds exactly these afterwards."""
        keys = [hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest() for text in texts]
        absent = {key: text for key, text in zip(keys, texts, strict=True) if key not in self._known}
        fresh = self._embedder.embed(absent.values())
        self._known.update(zip(absent, fresh, strict=True))
        rows = [self._known[key] for key in keys]
        if keep and absent and self.file is not None:
            _write(self.file, self.signature, dict(zip(keys, rows, strict=True)))
        return np.stack(rows) if rows else fresh


def _read(file: Path, signature: str) -> dict[bytes, Array]:
    if not file.exists():
        return {}
    try:
        with file.open("rb") as raw, np.load(raw, allow_pickle=False) as arrays:
            keys, vectors, embedder = arrays["keys"], arrays["vectors"], str(arrays["embedder"])
    except (OSError, ValueError, KeyError, EOFError, BadZipFile) as error:
        _LOG.warning("expected vectors in %s; found a damaged file: %s. They are computed again.", file, error)
        return {}
    right = keys.dtype == np.uint8 and vectors.dtype == np.float32 and keys.shape == (len(vectors), 32)
    if not right or vectors.ndim != 2 or embedder != signature:
        return {}
    return {row.tobytes(): vector for row, vector in zip(keys, vectors, strict=True)}


def _write(file: Path, signature: str, rows: dict[bytes, Array]) -> None:
    keys = np.frombuffer(b"".join(rows), dtype=np.uint8).reshape(-1, 32)
    try:
        with whole_bytes(file) as out:
            np.savez(out, keys=keys, vectors=np.stack(list(rows.values())), embedder=np.array(signature))
    except OSError as error:
        _LOG.warning(
            "expected to keep vectors in %s; found: %s. The next run computes them again.", file, error.strerror
        )


NEAR = 0.9
"""Minimum cosine of two questions that count as the same.

Measured with the bundled embedder on the 1.4 million pairs of 1,692 questions of BioASQ (no test sets). These shares
of pairs rest on a common article: from 0.90, 64 % (of 50 pairs); from 0.88 to 0.90, 39 % (23); from 0.85 to 0.88, 29 %
(68); from 0.80 to 0.85, 13 %; from 0.70 to 0.75, 0.5 %.
"""

_BLOCK = 1024


def decontaminate(pool: Pool, questions: Iterable[Question], vectors: Vectors, near: float = NEAR) -> Pool:
    """Remove exemplars that share an id, an article or nearly the same words with a question to be asked.

    Articles are those of the questions' ``gold_documents``; articles that are found later go to ``Selector.choose``.
    The counts are in the pool's ``removed``, and so in its signature.

    Raises:
        InputError: ``near`` is not a cosine above 0.
    """
    if not 0 < near <= 1:
        raise InputError(f"expected near to be above 0 and at most 1; found {near:g}. Correct it.")
    asked = list(questions)
    ids = {question.id for question in asked}
    articles = {reference_key(name) for question in asked for name in question.gold_documents}
    texts = {normal(question.text) for question in asked}
    close = _near(pool, [question.text for question in asked], vectors, near)

    def rule(exemplar: Exemplar, is_near: bool) -> str | None:
        if exemplar.id in ids:
            return "id"
        if not articles.isdisjoint(exemplar.keys):
            return "article"
        return "text" if normal(exemplar.question) in texts else "near" if is_near else None

    rules = [rule(exemplar, bool(is_near)) for exemplar, is_near in zip(pool.exemplars, close, strict=True)]
    counts = Counter(rules)
    removed = Removed(
        questions=len(asked),
        id=counts["id"],
        article=counts["article"],
        text=counts["text"],
        near=counts["near"],
        threshold=near,
        embedder=vectors.signature,
    )
    left = (exemplar for exemplar, found in zip(pool.exemplars, rules, strict=True) if found is None)
    return replace(pool, exemplars=tuple(left), removed=(*pool.removed, removed))


def _near(pool: Pool, texts: list[str], vectors: Vectors, near: float) -> NDArray[np.bool_]:
    """Return which exemplars are similar to any of the texts."""
    found = np.zeros(len(pool), dtype=np.bool_)
    if not texts or not len(pool):
        return found
    own = vectors.of([exemplar.question for exemplar in pool.exemplars], keep=True)
    others = vectors.of(texts)
    for start in range(0, len(texts), _BLOCK):
        found |= (own @ others[start : start + _BLOCK].T).max(axis=1) >= near
    return found


Way = Literal["static", "similar", "similar+diverse", "label-balanced"]

MOST_SHOTS = 4

_CANDIDATES = 100
"""Number of nearest exemplars from which diverse ones are chosen."""


@dataclass(frozen=True)
class Selection:
    """How demonstrations are chosen.

    Attributes:
        way: ``static``: the same for all questions, drawn by seed. ``similar``: the most similar to the question.
            ``similar+diverse``: similar to the question and unlike each other. ``label-balanced``: the most similar of
            each label, in equal numbers; if that is not possible, the nearer label has one more.
        shots: Number of demonstrations, 0 to 4.
        fewest: Minimum number; if similarity or labels give fewer, the rest is drawn by seed. Default: ``shots``.
        seed: Seed for random choices.
        least: Minimum cosine to the question.
        diversity: Weight of diversity against similarity to the question.
        near: Drop exemplars more similar to the question than this, as they would give it away. Only for ways that
            compare with the question.
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
                f"expected min_shots to be 0 to {self.shots}, the number of demonstrations to show; found "
                f"{self.fewest}. Lower it, or raise shots."
            )
        for name, low in (("least", -1), ("diversity", 0), ("near", 0)):
            if not low <= getattr(self, name) <= 1:
                raise InputError(f"expected {name} from {low} to 1; found {getattr(self, name)}. Correct it.")

    @property
    def needed(self) -> int:
        """Minimum number of demonstrations."""
        return self.shots if self.fewest is None else self.fewest

    @property
    def compares(self) -> bool:
        """Whether the way compares exemplars with the question."""
        return self.way != "static"

    @property
    def signature(self) -> str:
        """The way, the shots, the seed, and the settings that differ from their defaults."""
        changed = (
            f", {name}={value:g}"
            for name, value in asdict(self).items()
            if name not in ("way", "shots", "seed") and value != getattr(Selection, name)
        )
        # Earlier, label-balanced drew by seed: pools and runs made then are of another kind.
        way = "label-balanced.v2" if self.way == "label-balanced" else self.way
        return f"{way}, shots={self.shots}, seed={self.seed}{''.join(changed)}"


class PoolSelector:
    """Chooses demonstrations from a pool.

    An exemplar with the question's id, its words, or an article of its evidence is never chosen, even if the pool was
    not decontaminated. Two with the same words are not chosen together. Ways that compare show the most similar last,
    closest to the question; ``static`` keeps the order of the seed.

    Args:
        pool: The pool.
        selection: How to choose.
        prompt: The prompt to show them in; only exemplars that have what it asks for are chosen.
        vectors: Vectors to compare. None: those of the bundled embedder, stored next to the pool's file.

    Raises:
        InputError: The pool has too few exemplars, or the prompt takes none.
    """

    def __init__(
        self, pool: Pool, selection: Selection, prompt: AnswerPrompt | None = None, vectors: Vectors | None = None
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
        self._barred_by = _barring(self._exemplars, self._texts)
        self._vectors: Vectors | None = None
        self._rows = np.zeros((0, 0), dtype=np.float32)
        if selection.compares and selection.shots:
            self._vectors = vectors or Vectors.next_to(pool.path, Embedder.shared())
            # Vectors of the whole pool, so that the file serves every prompt and seed.
            rows = self._vectors.of([exemplar.question for exemplar in pool.exemplars], keep=True)
            self._rows = rows[[demonstration is not None for _, demonstration in shown]]

    @property
    def signature(self) -> str:
        """The way, the pool, what was removed from it, and the embedder."""
        if not self.selection.shots:
            return "demonstrations.v1(none)"
        by = f", {self._vectors.signature}" if self._vectors else ""
        return f"demonstrations.v1({self.selection.signature}, {self._pool.signature}{by})"

    def choose(self, question: Question, evidence_pmids: Collection[str] = ()) -> tuple[Demonstration, ...]:
        """Choose the demonstrations for a question.

        Raises:
            InputError: Too few are left.
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
                f"question {question.id!r}; found {len(chosen)}. Add to the pool, or lower min_shots."
            )
        if likeness is not None:
            chosen.sort(key=lambda place: float(likeness[place]))
        else:
            chosen.sort(key=self._order.__getitem__)
        return tuple(self._demonstrations[place] for place in chosen)

    def _lot(self, name: str) -> bytes:
        """Draw a number for an id; it does not depend on the other ids."""
        return hashlib.sha256(f"{self.selection.seed}\0{name}".encode()).digest()

    def _barred(self, question: Question, evidence: Collection[str], likeness: Array | None) -> frozenset[int]:
        names = [*question.gold_documents, *evidence]
        marks = {f"id\0{question.id}", f"text\0{normal(question.text)}", *map(reference_key, names)}
        barred = {place for mark in marks for place in self._barred_by.get(mark, ())}
        if likeness is not None:
            barred.update(int(place) for place in np.flatnonzero(likeness >= self.selection.near))
        return frozenset(barred)

    def _distinct(self, places: Iterable[int], barred: frozenset[int], most: int) -> list[int]:
        """Return the first of these that may be shown together."""
        chosen: dict[str, int] = {}
        for place in places:
            if len(chosen) == most:
                break
            if place not in barred:
                chosen.setdefault(self._texts[place], place)
        return list(chosen.values())

    def _ruled(self, barred: frozenset[int], likeness: Array | None) -> Iterable[int]:
        """Return the exemplars in the order of the chosen way, best first."""
        if likeness is None:
            return self._by_seed
        if self.selection.way == "similar":
            return self._nearest(likeness)
        return (
            self._balanced(barred, likeness)
            if self.selection.way == "label-balanced"
            else self._diverse(barred, likeness)
        )

    def _balanced(self, barred: frozenset[int], likeness: Array) -> Iterator[int]:
        """Yield the nearest of each label in rounds, without exemplars that have no label."""
        queues: dict[str, deque[int]] = {}
        for place in self._nearest(likeness):
            label = self._exemplars[place].label
            if place not in barred and label is not None:
                queues.setdefault(label, deque()).append(place)
        seen = set[str]()
        while queues:
            for label in sorted(queues, key=lambda label: -float(likeness[queues[label][0]])):
                queue = queues[label]
                while queue and self._texts[queue[0]] in seen:
                    queue.popleft()
                if queue:
                    place = queue.popleft()
                    seen.add(self._texts[place])
                    yield place
            queues = {label: queue for label, queue in queues.items() if queue}

    def _diverse(self, barred: frozenset[int], likeness: Array) -> Iterator[int]:
        """Yield by maximal marginal relevance among the nearest."""
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
        """Return similar exemplars, nearest first."""
        order = np.argsort(-likeness, kind="stable")
        return order[: int((likeness >= self.selection.least).sum())].tolist()


def _barring(exemplars: list[Exemplar], texts: list[str]) -> dict[str, list[int]]:
    """Index the exemplars by what excludes them: ids, words and articles of a question."""
    found: defaultdict[str, list[int]] = defaultdict(list)
    for place, (exemplar, text) in enumerate(zip(exemplars, texts, strict=True)):
        for mark in (f"id\0{exemplar.id}", f"text\0{text}", *exemplar.keys):
            found[mark].append(place)
    return found
