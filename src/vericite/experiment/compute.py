"""Figures of models that measures read, computed of the answers of folders: BERTScore, vectors for MAUVE, entailment.

Figures are lines beside the answers, added as they are made: a process that is killed costs some answers' work. A line
says what it was computed of; when an answer has changed since, its line is made anew. What was computed of the same
texts before, in whatever folder, comes from the cache.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from hashlib import blake2b
from io import BytesIO
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Protocol
from zipfile import BadZipFile

import numpy as np

from vericite.disk.files import cache_file, write_bytes
from vericite.disk.jobs import Lines
from vericite.disk.store import Form, RowStore
from vericite.errors import InputError, RecordError
from vericite.evaluate.encoders import EmbedsTokens, best_overlap, load_token_encoder
from vericite.evaluate.items import Item, ModelScores
from vericite.evaluate.measures.answer_text import prose
from vericite.evaluate.systems import named_file, read_gold, read_system
from vericite.experiment.grid import EXPERIMENT, folders_of
from vericite.models.contracts import ENTAILS, Judgement, Pair, ledger_of
from vericite.records import Document, Gold
from vericite.retrieve.vectors import FILE as VECTORS
from vericite.retrieve.vectors import OnEmbedding, vectors_of
from vericite.text.sentences import split_sentences
from vericite.verify.judges.registry import load_judge
from vericite.verify.judges.wrapped import FILE as JUDGEMENTS
from vericite.verify.judges.wrapped import CachedJudge
from vericite.verify.judging import ask

if TYPE_CHECKING:
    from vericite.models.contracts import Embeds, Judge

AT_ONCE = 32
"""Answers that are computed and kept together: some seconds' work for a large model, which a kill may cost."""

OnDone = Callable[[int, int], None]
"""Called with how many answers have their figures, and how many there are."""


@dataclass(frozen=True)
class ComparedTexts:
    """An answer, and the texts that it is compared with."""

    id: str
    answer: str
    references: tuple[str, ...]

    def of(self, signature: str) -> str:
        """A hash of the texts, and of what compares them."""
        content = json.dumps([signature, self.answer, self.references])
        return blake2b(content.encode(), digest_size=16).hexdigest()


@dataclass
class Computed:
    """What was done.

    Attributes:
        answers: Answers that can be compared, in all folders.
        made: Of them, those whose figures were made now.
        without: Questions left out: without an answer in words, or without anything to compare it with.
        cut: Answers and references of which the model read only the beginning, among those made now.
        failed: Answers that the model failed on.
        files: What was written.
        signature: The model.
    """

    signature: str
    answers: int = 0
    made: int = 0
    without: int = 0
    cut: int = 0
    failed: int = 0
    files: list[Path] = field(default_factory=list[Path])


class Scores(Protocol):
    """Computes figures of answers."""

    kind: str
    """The kind of file that they are kept in."""

    @property
    def signature(self) -> str:
        """What computes them."""
        ...

    def compared(self, item: Item) -> ComparedTexts | None:
        """What is compared of a question; None where there is nothing."""
        ...

    def scores(self, asked: Sequence[ComparedTexts]) -> list[ComputedFigures]:
        """The figures of each, in order."""
        ...

    def close(self) -> None:
        """Let go of the cache."""
        ...


@dataclass(frozen=True)
class ComputedFigures:
    """Figures of an answer by name; ``failed`` names those that could not be had, ``cut`` says what was not read."""

    scores: Mapping[str, float]
    failed: tuple[str, ...] = ()
    cut: bool = False


class BertScores:
    """BERTScore of an answer and its reference answers; of several references the highest of each figure.

    Args:
        model: Makes the vectors of tokens.
        cache: The file of figures; None keeps none.
    """

    kind = "scores-bertscore"
    names = ("bertscore_precision", "bertscore_recall", "bertscore_f1")

    def __init__(self, model: EmbedsTokens, cache: Path | None) -> None:
        self._model = model
        self._cache = None if cache is None else RowStore(cache, _BERTSCORES)
        self.signature = f"bertscore({model.signature})"

    def compared(self, item: Item) -> ComparedTexts | None:
        """The answer's sentences and all reference answers."""
        return _compared(item, item.gold.ideal if item.gold else ())

    def scores(self, asked: Sequence[ComparedTexts]) -> list[ComputedFigures]:
        """The figures of each, in order; those of texts that were compared before are known."""
        keys = [bytes.fromhex(one.of(self.signature)) for one in asked]
        rows = self._cache.find(list(dict.fromkeys(keys))) if self._cache else {}
        known = {key: np.frombuffer(row[1], _STORED) for key, row in rows.items()}
        missing = {key: one for key, one in zip(keys, asked, strict=True) if key not in known}
        texts = dict.fromkeys(chain.from_iterable((one.answer, *one.references) for one in missing.values()))
        vectors = dict(zip(texts, self._model.tokens(texts), strict=True))
        for key, one in missing.items():
            references = [vectors[text] for text in one.references]
            cut = vectors[one.answer].cut or any(reference.cut for reference in references)
            known[key] = np.array([*best_overlap(vectors[one.answer], references), cut], dtype=_STORED)
        if self._cache is not None:
            self._cache.put([(key, known[key].tobytes()) for key in missing])
        return [self._figures(known[key].tolist()) for key in keys]

    def close(self) -> None:
        """Let go of the cache."""
        if self._cache is not None:
            self._cache.close()

    def _figures(self, row: list[float]) -> ComputedFigures:
        return ComputedFigures(dict(zip(self.names, row[:3], strict=True)), cut=bool(row[3]))


_BERTSCORES = Form("BERTScores", "bertscore_1", "(key BLOB PRIMARY KEY, figures BLOB NOT NULL)")
_STORED = np.dtype("<f4")
FILE = "bertscores.sqlite"
"""Its name in the cache's folder."""


class Entailments:
    """How far an answer entails what a good one says: the gold's nuggets or, without any, a reference's sentences.

    Args:
        judge: Judges an answer as the premise of each of them; what it judged before is known.
    """

    kind = "scores-claim-entailment"
    names = ("claim_entailment", "claims_entailed")

    def __init__(self, judge: Judge) -> None:
        # One that asks a language model keeps its replies itself.
        cached = ledger_of(judge) is None
        self._cache = CachedJudge(judge, cache_file("default", JUDGEMENTS)) if cached else None
        self._judge: Judge = self._cache or judge
        self.signature = f"claim-entailment({judge.signature})"

    def compared(self, item: Item) -> ComparedTexts | None:
        """The answer's sentences, and the claims."""
        return _compared(item, claims_of(item.gold) if item.gold else ())

    def scores(self, asked: Sequence[ComparedTexts]) -> list[ComputedFigures]:
        """Of each the mean probability that the answer entails a claim, and the share of claims it rather does."""
        judged = iter(ask(self._judge, [Pair(one.answer, claim) for one in asked for claim in one.references]))
        return [self._figures([next(judged) for _ in one.references]) for one in asked]

    def close(self) -> None:
        """Let go of the cache."""
        if self._cache is not None:
            self._cache.close()

    def _figures(self, judgements: Sequence[Judgement]) -> ComputedFigures:
        cut = any(judgement.note for judgement in judgements)
        if any(judgement.failure is not None for judgement in judgements):
            return ComputedFigures({}, self.names, cut)
        rows = np.array([judgement.probabilities for judgement in judgements], dtype=np.float64)
        entailed = sum(int(row.argmax()) == ENTAILS for row in rows) / len(rows)
        return ComputedFigures(dict(zip(self.names, (float(rows[:, ENTAILS].mean()), entailed), strict=True)), cut=cut)


def load_scores(kind: str, model: str) -> Scores:
    """What computes ``bertscore`` or ``claim-entailment`` by the encoder or the judge of this name.

    Raises:
        UnknownNameError: There is no such encoder or judge.
        InputError: What follows the name cannot be used.
        MissingExtraError: It needs an extra.
    """
    if kind == "bertscore":
        return BertScores(load_token_encoder(model), cache_file("default", FILE))
    return Entailments(load_judge(model))


def claims_of(gold: Gold) -> tuple[str, ...]:
    """What a good answer says: the texts of nuggets, else the sentences of the first reference answer."""
    nuggets = tuple(nugget.text for nugget in gold.nuggets or () if nugget.text.strip())
    if nuggets or not gold.ideal:
        return nuggets
    first = gold.ideal[0]
    return tuple(first[span.slice] for span in split_sentences(first))


def _compared(item: Item, texts: Iterable[str]) -> ComparedTexts | None:
    answer, references = prose(item), tuple(text for text in texts if text.strip())
    return ComparedTexts(item.id, answer, references) if answer and references else None


def answer_folders(named: Iterable[Path]) -> list[Path]:
    """The folders with answers: those of the cells of an experiment, and others as they are.

    Raises:
        InputError: One is no folder, or nothing in it was run.
    """
    found: list[Path] = []
    for folder in named:
        if not folder.is_dir():
            raise InputError(
                f"expected the folder of a run, to write beside its answers; found {folder}. Lay a file of answers "
                "into a folder of its own, as answers.jsonl"
            )
        if not (folder / EXPERIMENT).is_file():
            found.append(folder)
            continue
        cells = [place for _, place, _, _ in folders_of(folder) if (place / "runs.jsonl").is_file()]
        if not cells:
            raise InputError(f"expected runs in {folder}; found none. Run the experiment first.")
        found += cells
    return list(dict.fromkeys(found))


def compute_scores(
    folders: Sequence[Path],
    scores: Scores,
    problems: list[RecordError],
    gold: Path | None = None,
    on_done: OnDone | None = None,
) -> Computed:
    """Write the figures of the answers of folders beside them.

    Args:
        folders: As ``answer_folders`` gives them.
        scores: Computes them.
        problems: Where lines that cannot be used go.
        gold: What is right, where the answers' questions do not say.
        on_done: Called after some answers.

    Raises:
        InputError: A folder has figures of another model, another process writes them, or it cannot be written.
    """
    done = Computed(scores.signature)
    right = _gold(gold, problems)
    with ExitStack() as held:
        left: list[tuple[Lines[ModelScores], ComparedTexts]] = []
        for folder in folders:
            found = [scores.compared(item) for item in _items(folder, right, problems)]
            asked = {one.id: one for one in found if one is not None}
            lines = held.enter_context(Lines(folder / named_file(scores.kind), ModelScores).locked())
            there = _kept(lines, asked, scores.signature)
            left += [(lines, one) for id, one in asked.items() if id not in there]
            done.answers += len(asked)
            done.without += len(found) - len(asked)
            done.files.append(lines.path)
        _expect_some(done, folders)
        before = done.answers - len(left)
        # Cells that answer one question share its references, and often the answer.
        left.sort(key=lambda one: one[1].id)
        for start in range(0, len(left), AT_ONCE):
            some = left[start : start + AT_ONCE]
            made = scores.scores([one for _, one in some])
            _append(some, made, scores.signature)
            done.made += len(some)
            done.cut += sum(figures.cut for figures in made)
            done.failed += sum(bool(figures.failed) for figures in made)
            if on_done is not None:
                on_done(before + done.made, done.answers)
    return done


def _append(
    asked: Sequence[tuple[Lines[ModelScores], ComparedTexts]], made: Sequence[ComputedFigures], signature: str
) -> None:
    by_file: dict[Path, tuple[Lines[ModelScores], list[ModelScores]]] = {}
    for (lines, one), figures in zip(asked, made, strict=True):
        record = ModelScores(
            id=one.id, scores=figures.scores, failed=figures.failed, made_by=signature, of=one.of(signature)
        )
        by_file.setdefault(lines.path, (lines, []))[1].append(record)
    for lines, records in by_file.values():
        lines.append(records)


def _kept(lines: Lines[ModelScores], asked: Mapping[str, ComparedTexts], signature: str) -> set[str]:
    """The ids whose figures are there; lines of other texts, and of failures, leave the file.

    Raises:
        InputError: The file is of another model.
    """
    there = lines.read()
    _refuse_other(lines.path, {line.made_by for line in there} - {signature}, signature)
    kept = {
        line.id: line
        for line in there
        if line.id in asked and not line.failed and line.of == asked[line.id].of(signature)
    }
    if len(kept) < len(there):
        lines.replace(kept.values())
    return set(kept)


def _refuse_other(path: Path, others: Iterable[str | None], signature: str) -> None:
    for other in others:
        raise InputError(
            f"expected {path} to have figures by {signature}; found some by {other or 'nobody knows whom'}. Ask for "
            "the same model (--with), or move that file away"
        )


def compute_features(
    folders: Sequence[Path],
    model: Embeds,
    problems: list[RecordError],
    gold: Path | None = None,
    on_embedding: OnEmbedding | None = None,
) -> Computed:
    """Write vectors of answers, and of the first reference answer to each, into ``features.npz`` beside them.

    Args:
        folders: As ``answer_folders`` gives them.
        model: Makes the vectors.
        problems: Where lines that cannot be used go.
        gold: What is right, where the answers' questions do not say.
        on_embedding: Called while texts get their vectors, which are kept as they are made.

    Raises:
        InputError: A folder has vectors of another model, another process writes them, or it cannot be written.
    """
    signature = f"mauve-features({model.signature})"
    done = Computed(signature)
    right = _gold(gold, problems)
    asked: dict[Path, list[ComparedTexts]] = {}
    for folder in folders:
        path = folder / named_file("features")
        _refuse_other(path, _makers(path) - {signature}, signature)
        items = _items(folder, right, problems)
        found = [_compared(item, item.gold.ideal[:1] if item.gold else ()) for item in items]
        asked[path] = [one for one in found if one is not None]
        done.answers += len(asked[path])
        done.without += len(found) - len(asked[path])
    _expect_some(done, folders)
    every = chain.from_iterable(asked.values())
    texts = list(dict.fromkeys(text for one in every for text in (one.answer, *one.references)))
    documents = [Document.from_text(str(number), text) for number, text in enumerate(texts)]
    cache = cache_file("default", VECTORS)
    rows = dict(zip(texts, vectors_of(documents, model, cache, on_embedding), strict=True))
    for path, each in asked.items():
        content = BytesIO()
        np.savez(
            content,
            ids=np.array([one.id for one in each]),
            answer=np.array([rows[one.answer] for one in each]),
            reference=np.array([rows[one.references[0]] for one in each]),
            made_by=np.array(signature),
        )
        write_bytes(path, content.getvalue())
        done.files.append(path)
        done.made += len(each)
    return done


def _makers(path: Path) -> set[str | None]:
    """The model that a file of vectors says it is by."""
    if not path.exists():
        return set()
    try:
        with np.load(path, allow_pickle=False) as arrays:
            return {str(arrays["made_by"]) if "made_by" in arrays else None}
    except (OSError, ValueError, EOFError, BadZipFile):
        return {None}


def _items(folder: Path, gold: Mapping[str, Gold] | None, problems: list[RecordError]) -> Sequence[Item]:
    read = read_system(folder, {}, (), problems)
    return [item for item in read.system(folder.name, gold).items if item.id in read.ids]


def _gold(path: Path | None, problems: list[RecordError]) -> Mapping[str, Gold] | None:
    if path is None:
        return None
    found, wrong = read_gold(path)
    problems += wrong
    return found


def _expect_some(done: Computed, folders: Sequence[Path]) -> None:
    if not done.answers:
        raise InputError(
            f"expected answers, and reference answers or claims to compare them with, in "
            f"{', '.join(map(str, folders[:3]))}; found none in {done.without} questions. Give what is right with "
            "--gold"
        )
