"""Compute model scores for the answers in folders: BERTScore, vectors for MAUVE, claim entailment, aligned citations.

Scores are written as lines to a file next to the answers while they are computed, so a killed process loses only the
last few answers. Each line has a hash of its inputs; if an answer changes, its line is computed again. Scores of the
same texts come from a cache, whatever folder they were computed for.
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
from vericite.errors import InputError, Problems
from vericite.evaluate.encoders import EmbedsTokens, best_overlap, load_token_encoder
from vericite.evaluate.items import Item, ModelScores
from vericite.evaluate.measures.answer_text import prose
from vericite.evaluate.measures.citation_gold import Aligned, CitationF1, GoldClaim, aligned, cited_documents
from vericite.evaluate.systems import named_file, read_gold, read_system
from vericite.lab.experiment.grid import EXPERIMENT, folders_of
from vericite.models.contracts import ENTAILS, Judgement, Pair, ledger_of
from vericite.records import Answer, Document, Gold
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
"""Number of answers per batch: a few seconds of work for a large model, lost if the process is killed."""

OnDone = Callable[[int, int], None]
"""Called with the number of answers that have scores, and the number of all answers."""


@dataclass(frozen=True)
class ComparedTexts:
    """An answer, and the texts that it is compared with."""

    id: str
    answer: str
    references: tuple[str, ...]

    def of(self, signature: str) -> str:
        """Return a hash of the texts and of the signature of what compares them."""
        content = json.dumps([signature, self.answer, self.references])
        return blake2b(content.encode(), digest_size=16).hexdigest()


@dataclass
class Computed:
    """The outcome of a computation.

    Attributes:
        signature: The signature of the model.
        answers: Number of answers that can be compared, in all folders.
        made: Number of answers scored now.
        without: Number of questions left out because they have no prose answer, or nothing to compare it with.
        cut: Number of answers scored now whose texts were truncated.
        failed: Number of answers on which the model failed.
        files: The files that were written.
    """

    signature: str
    answers: int = 0
    made: int = 0
    without: int = 0
    cut: int = 0
    failed: int = 0
    files: list[Path] = field(default_factory=list[Path])


class Scores(Protocol):
    """Computes scores of answers."""

    kind: str
    """The kind of file that they are written to."""

    @property
    def signature(self) -> str:
        """Identifies the method and its model."""
        ...

    def compared(self, item: Item) -> ComparedTexts | None:
        """Return the texts to compare; None if there are none."""
        ...

    def scores(self, asked: Sequence[ComparedTexts]) -> list[ComputedFigures]:
        """Return the scores of each answer, in order."""
        ...

    def close(self) -> None:
        """Close the cache."""
        ...


@dataclass(frozen=True)
class ComputedFigures:
    """Scores of an answer by name; ``failed`` names those that could not be computed, ``cut`` is whether it was cut."""

    scores: Mapping[str, float]
    failed: tuple[str, ...] = ()
    cut: bool = False


class BertScores:
    """BERTScore of an answer against its reference answers; with several references, the maximum of each figure.

    Args:
        model: The encoder.
        cache: The cache file; None: no cache.
    """

    kind = "scores-bertscore"
    names = ("bertscore_precision", "bertscore_recall", "bertscore_f1")

    def __init__(self, model: EmbedsTokens, cache: Path | None) -> None:
        self._model = model
        self._cache = None if cache is None else RowStore(cache, _BERTSCORES)
        self.signature = f"bertscore({model.signature})"

    def compared(self, item: Item) -> ComparedTexts | None:
        """Return the answer's sentences and all reference answers."""
        return _compared(item, item.gold.ideal if item.gold else ())

    def scores(self, asked: Sequence[ComparedTexts]) -> list[ComputedFigures]:
        """Return the scores of each answer, in order; those of known texts come from the cache."""
        keys = [bytes.fromhex(texts.of(self.signature)) for texts in asked]
        rows = self._cache.find(list(dict.fromkeys(keys))) if self._cache else {}
        known = {key: np.frombuffer(row[1], _STORED) for key, row in rows.items()}
        missing = {key: texts for key, texts in zip(keys, asked, strict=True) if key not in known}
        distinct = dict.fromkeys(chain.from_iterable((texts.answer, *texts.references) for texts in missing.values()))
        vectors = dict(zip(distinct, self._model.tokens(distinct), strict=True))
        for key, texts in missing.items():
            references = [vectors[text] for text in texts.references]
            cut = vectors[texts.answer].cut or any(reference.cut for reference in references)
            known[key] = np.array([*best_overlap(vectors[texts.answer], references), cut], dtype=_STORED)
        if self._cache is not None:
            self._cache.put([(key, known[key].tobytes()) for key in missing])
        return [self._figures(known[key].tolist()) for key in keys]

    def close(self) -> None:
        """Close the cache."""
        if self._cache is not None:
            self._cache.close()

    def _figures(self, row: list[float]) -> ComputedFigures:
        return ComputedFigures(dict(zip(self.names, row[:3], strict=True)), cut=bool(row[3]))


_BERTSCORES = Form("BERTScores", "bertscore_1", "(key BLOB PRIMARY KEY, figures BLOB NOT NULL)")
_STORED = np.dtype("<f4")
FILE = "bertscores.sqlite"
"""The name of the cache file."""


class _Judged:
    """Scores by a judge. Judgements are cached.

    Args:
        judge: The judge.
    """

    kind: str
    names: tuple[str, ...]

    def __init__(self, judge: Judge) -> None:
        # Judges that ask a language model cache its replies themselves.
        cached = ledger_of(judge) is None
        self._cache = CachedJudge(judge, cache_file("default", JUDGEMENTS)) if cached else None
        self._judge: Judge = self._cache or judge
        self.signature = f"{self.kind.removeprefix('scores-')}({judge.signature})"

    def close(self) -> None:
        """Close the cache."""
        if self._cache is not None:
            self._cache.close()


class Entailments(_Judged):
    """Entailment of gold claims by an answer. Claims are the gold's nuggets or, without nuggets, reference sentences.

    Each claim is judged with the answer as premise.
    """

    kind = "scores-claim-entailment"
    names = ("claim_entailment", "claims_entailed")

    def compared(self, item: Item) -> ComparedTexts | None:
        """Return the answer's sentences and the claims."""
        return _compared(item, claims_of(item.gold) if item.gold else ())

    def scores(self, asked: Sequence[ComparedTexts]) -> list[ComputedFigures]:
        """Return for each answer the mean probability that it entails a claim, and the share of entailed claims."""
        pairs = [Pair(texts.answer, claim) for texts in asked for claim in texts.references]
        judged = iter(ask(self._judge, pairs))
        return [self._figures([next(judged) for _ in texts.references]) for texts in asked]

    def _figures(self, judgements: Sequence[Judgement]) -> ComputedFigures:
        cut = any(judgement.note for judgement in judgements)
        if any(judgement.failure is not None for judgement in judgements):
            return ComputedFigures({}, self.names, cut)
        rows = np.array([judgement.probabilities for judgement in judgements], dtype=np.float64)
        entailed = sum(int(row.argmax()) == ENTAILS for row in rows) / len(rows)
        return ComputedFigures(dict(zip(self.names, (float(rows[:, ENTAILS].mean()), entailed), strict=True)), cut=cut)


@dataclass(frozen=True)
class AlignedTexts(ComparedTexts):
    """An answer with its citations, and the gold's claims with theirs."""

    given: Answer
    claims: tuple[GoldClaim, ...]

    def of(self, signature: str) -> str:
        """Return a hash of sentences, citations, claims and the judge's signature."""
        cited = [[claim.text, sorted(map(str, cited_documents([claim])))] for claim in self.given.claims]
        content = json.dumps([signature, cited, self.claims])
        return blake2b(content.encode(), digest_size=16).hexdigest()


class AlignedCitations(_Judged):
    """Citations of an answer's sentences against those of the gold claims that they state (MultiAttr, figure 3).

    The claims are the gold's nuggets with documents. A sentence that states none of them should cite nothing.
    """

    kind = "scores-aligned-citations"
    names = ("aligned_f1", "aligned_sentences", "claims_stated", "claims", "aligned_empty")

    def compared(self, item: Item) -> ComparedTexts | None:
        """Return the answer and the claims whose documents are known."""
        nuggets = item.gold.nuggets or () if item.gold else ()
        claims = tuple(
            GoldClaim(nugget.text, nugget.documents, nugget.unknown)
            for nugget in nuggets
            if nugget.documents is not None and nugget.text.strip()
        )
        if item.answer is None or not claims:
            return None
        return AlignedTexts(item.id, item.answer.text, tuple(claim.text for claim in claims), item.answer, claims)

    def scores(self, asked: Sequence[ComparedTexts]) -> list[ComputedFigures]:
        """Return for each answer the sums of F1 and of its sentences, and the numbers of claims stated and of all.

        The last number is that of the sentences that rightly cite nothing.
        """
        texts = [one for one in asked if isinstance(one, AlignedTexts)]
        found = aligned([(_spoken(one.given), one.claims) for one in texts], self._judge)
        return [self._figures(_spoken(one.given), known) for one, known in zip(texts, found, strict=True)]

    def _figures(self, answer: Answer, known: Aligned) -> ComputedFigures:
        if known.failed:
            return ComputedFigures({}, self.names)
        item = Item(answer.id, answer=known.without_unknown(answer), gold=known.gold)
        f1, sentences = CitationF1().parts(item) or (0.0, 0.0)
        _, counted = CitationF1(empty="ignored").parts(item) or (0.0, 0.0)
        values = (f1, sentences, float(known.stated), float(known.claims), sentences - counted)
        return ComputedFigures(dict(zip(self.names, values, strict=True)))


def _spoken(answer: Answer) -> Answer:
    """Return the answer without sentences that have no words, such as the dash of an empty answer."""
    claims = tuple(claim for claim in answer.claims if any(map(str.isalnum, claim.text)))
    return answer.model_copy(update={"claims": claims})


def load_scores(kind: str, model: str) -> Scores:
    """Load ``bertscore`` with an encoder, or ``claim-entailment`` and ``aligned-citations`` with a judge.

    Raises:
        UnknownNameError: The encoder or judge does not exist.
        InputError: The settings after the name are wrong.
        MissingExtraError: An optional dependency is not installed.
    """
    if kind == "bertscore":
        return BertScores(load_token_encoder(model), cache_file("default", FILE))
    return (AlignedCitations if kind == "aligned-citations" else Entailments)(load_judge(model))


def claims_of(gold: Gold) -> tuple[str, ...]:
    """Return the claims of a good answer: the texts of nuggets, or the sentences of the first reference answer."""
    nuggets = tuple(nugget.text for nugget in gold.nuggets or () if nugget.text.strip())
    if nuggets or not gold.ideal:
        return nuggets
    first = gold.ideal[0]
    return tuple(first[span.slice] for span in split_sentences(first))


def _compared(item: Item, texts: Iterable[str]) -> ComparedTexts | None:
    answer, references = prose(item), tuple(text for text in texts if text.strip())
    return ComparedTexts(item.id, answer, references) if answer and references else None


def answer_folders(named: Iterable[Path]) -> list[Path]:
    """Return the folders with answers; the folder of an experiment is replaced by those of its cells.

    Raises:
        InputError: A path is not a folder, or an experiment has no runs.
    """
    found: list[Path] = []
    for folder in named:
        if not folder.is_dir():
            raise InputError(
                f"expected the folder of a run, to write next to its answers; found {folder}. Put a file of answers "
                "into its own folder, as answers.jsonl"
            )
        if not (folder / EXPERIMENT).is_file():
            found.append(folder)
            continue
        cells = [path for _, path, _, _ in folders_of(folder) if (path / "runs.jsonl").is_file()]
        if not cells:
            raise InputError(f"expected runs in {folder}; found none. Run the experiment first.")
        found += cells
    return list(dict.fromkeys(found))


def compute_scores(
    folders: Sequence[Path],
    scores: Scores,
    problems: Problems,
    gold: Path | None = None,
    on_done: OnDone | None = None,
) -> Computed:
    """Compute scores for the answers in folders, and write them next to the answers.

    Args:
        folders: Folders from ``answer_folders``.
        scores: Computes the scores.
        problems: Lines that cannot be used are added here.
        gold: The gold file, if the answers' questions have no gold.
        on_done: Called after each batch of answers.

    Raises:
        InputError: A folder has scores of another model, another process is writing them, or it is not writable.
    """
    done = Computed(scores.signature)
    right = _gold(gold, problems)
    with ExitStack() as held:
        left: list[tuple[Lines[ModelScores], ComparedTexts]] = []
        for folder in folders:
            found = [scores.compared(item) for item in _items(folder, right, problems)]
            asked = {texts.id: texts for texts in found if texts is not None}
            lines = held.enter_context(Lines(folder / named_file(scores.kind), ModelScores).locked())
            known = _valid_ids(lines, asked, scores.signature)
            left += [(lines, texts) for id, texts in asked.items() if id not in known]
            done.answers += len(asked)
            done.without += len(found) - len(asked)
            done.files.append(lines.path)
        _expect_some(done, folders)
        before = done.answers - len(left)
        # Cells with the same question share its references, and often the answer.
        left.sort(key=lambda entry: entry[1].id)
        for start in range(0, len(left), AT_ONCE):
            batch = left[start : start + AT_ONCE]
            made = scores.scores([texts for _, texts in batch])
            _append(batch, made, scores.signature)
            done.made += len(batch)
            done.cut += sum(figures.cut for figures in made)
            done.failed += sum(bool(figures.failed) for figures in made)
            if on_done is not None:
                on_done(before + done.made, done.answers)
    return done


def _append(
    asked: Sequence[tuple[Lines[ModelScores], ComparedTexts]], made: Sequence[ComputedFigures], signature: str
) -> None:
    by_file: dict[Path, tuple[Lines[ModelScores], list[ModelScores]]] = {}
    for (lines, texts), figures in zip(asked, made, strict=True):
        record = ModelScores(
            id=texts.id, scores=figures.scores, failed=figures.failed, made_by=signature, of=texts.of(signature)
        )
        by_file.setdefault(lines.path, (lines, []))[1].append(record)
    for lines, records in by_file.values():
        lines.append(records)


def _valid_ids(lines: Lines[ModelScores], asked: Mapping[str, ComparedTexts], signature: str) -> set[str]:
    """Return the ids with valid scores, and remove lines of other texts and of failures from the file.

    Raises:
        InputError: The file has scores of another model.
    """
    stored = lines.read()
    _refuse_other(lines.path, {line.made_by for line in stored} - {signature}, signature)
    kept = {
        line.id: line
        for line in stored
        if line.id in asked and not line.failed and line.of == asked[line.id].of(signature)
    }
    if len(kept) < len(stored):
        lines.replace(kept.values())
    return set(kept)


def _refuse_other(path: Path, others: Iterable[str | None], signature: str) -> None:
    for other in others:
        raise InputError(
            f"expected {path} to have scores by {signature}; found some by {other or 'an unknown model'}. Use the same "
            "model (--with), or move that file away"
        )


def compute_features(
    folders: Sequence[Path],
    model: Embeds,
    problems: Problems,
    gold: Path | None = None,
    on_embedding: OnEmbedding | None = None,
) -> Computed:
    """Write vectors of answers and of their first reference answers into ``features.npz`` next to the answers.

    Args:
        folders: Folders from ``answer_folders``.
        model: The embedder.
        problems: Lines that cannot be used are added here.
        gold: The gold file, if the answers' questions have no gold.
        on_embedding: Called while texts are embedded. Vectors are cached as they are computed.

    Raises:
        InputError: A folder has vectors of another model, another process is writing them, or it is not writable.
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
        asked[path] = [texts for texts in found if texts is not None]
        done.answers += len(asked[path])
        done.without += len(found) - len(asked[path])
    _expect_some(done, folders)
    all_texts = chain.from_iterable(asked.values())
    distinct = list(dict.fromkeys(text for texts in all_texts for text in (texts.answer, *texts.references)))
    documents = [Document.from_text(str(number), text) for number, text in enumerate(distinct)]
    cache = cache_file("default", VECTORS)
    rows = dict(zip(distinct, vectors_of(documents, model, cache, on_embedding), strict=True))
    for path, compared in asked.items():
        content = BytesIO()
        np.savez(
            content,
            ids=np.array([texts.id for texts in compared]),
            answer=np.array([rows[texts.answer] for texts in compared]),
            reference=np.array([rows[texts.references[0]] for texts in compared]),
            made_by=np.array(signature),
        )
        write_bytes(path, content.getvalue())
        done.files.append(path)
        done.made += len(compared)
    return done


def _makers(path: Path) -> set[str | None]:
    """Return the model named in a file of vectors."""
    if not path.exists():
        return set()
    try:
        with np.load(path, allow_pickle=False) as arrays:
            return {str(arrays["made_by"]) if "made_by" in arrays else None}
    except (OSError, ValueError, EOFError, BadZipFile):
        return {None}


def _items(folder: Path, gold: Mapping[str, Gold] | None, problems: Problems) -> Sequence[Item]:
    read = read_system(folder, {}, (), problems)
    return [item for item in read.system(folder.name, gold).items if item.id in read.ids]


def _gold(path: Path | None, problems: Problems) -> Mapping[str, Gold] | None:
    return None if path is None else read_gold(path, problems)


def _expect_some(done: Computed, folders: Sequence[Path]) -> None:
    if not done.answers:
        raise InputError(
            f"expected answers, and reference answers or claims to compare them with, in "
            f"{', '.join(map(str, folders[:3]))}; found none in {done.without} questions. Give a gold file with --gold"
        )
