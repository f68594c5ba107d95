"""A judge with a cache: what it has judged before, in whatever run, is looked up on disk.

The file holds hashes of what was judged and the judgements, none of the texts. It knows a judge by its signature: one
that comes to judge otherwise needs another. Our own tell which weights they have, not what turns texts into tokens and
runs them; that is part of every key in the file.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from hashlib import blake2b
from importlib.metadata import PackageNotFoundError, version
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Any, Self, cast

import numpy as np

from vericite.disk.store import Form, RowStore
from vericite.models.contracts import COLUMNS, Judge, Judgement, Pair
from vericite.verify.judges.calibrated import CalibratedJudge
from vericite.verify.judging import are_probabilities, ask, copy_traits

FILE = "judgements.sqlite"
"""Its name in the cache's folder."""

_FORM = Form("judgements", "judgement_2", "(key BLOB PRIMARY KEY, probabilities BLOB NOT NULL, rest TEXT)")
"""Where rows come to mean something else, the table gets another name. (The first had its form in its keys.)"""

_ENCODER = 2
"""To be raised where ``vericite.models`` comes to make other tokens of a text, or to read them otherwise."""

_MOST = 2_000_000
"""Judgements in a file; some 140 MB."""

_HIGHEST = f"SELECT max(rowid) FROM {_FORM.table}"
"""About how many there are, without counting: rows are never deleted."""

_FIRST, _LARGEST = 256, 4096
_SECONDS = 10.0
"""Pairs read ahead, and kept together when they are judged. From the first number it doubles for as long as that takes
no longer than this: a quick judge gets enough to fill its batches, and a slow one that is killed loses little."""

_STORED = np.dtype("<f4")


class CachedJudge:
    """A judge's judgements, from the file where it has made them before. Failures are made anew each time.

    It is ``Limited``, ``Slow`` or ``Inquiring`` where the judge is. Of a calibrated judge the one under it is
    cached, so that another calibration finds its judgements too. A judge that keeps its own replies, as those that
    ask language models do, gains nothing by it.

    Args:
        judge: Who judges what is not in the file.
        file: The file, shared by all judges; None for none. Let go of with ``close``, or at the end of a ``with``.
    """

    def __init__(self, judge: Judge, file: Path | None) -> None:
        self._judge = judge
        self._calibration = judge if isinstance(judge, CalibratedJudge) else None
        self._asked = judge.base if isinstance(judge, CalibratedJudge) else judge
        self._store = None if file is None else RowStore(file, _FORM)
        self._full = False
        # As attributes of its own: isinstance with a protocol looks for nothing behind __getattr__.
        copy_traits(self, judge)

    @property
    def signature(self) -> str:
        """The judge's own."""
        return self._judge.signature

    def judge(self, pairs: Iterable[Pair]) -> Iterator[Judgement]:
        """One judgement a pair, in their order; reads ahead.

        Raises:
            PluginError: The judge raised something of its own, or gave too few or too many.
        """
        if self._store is None:
            yield from self._judge.judge(pairs)
            return
        source, size = iter(pairs), _FIRST
        while window := list(islice(source, size)):
            began = time.monotonic()
            judgements = self._judged(window, self._store)
            if time.monotonic() - began < _SECONDS:
                size = min(2 * size, _LARGEST)
            yield from judgements if self._calibration is None else map(self._calibration.calibrated, judgements)

    def close(self) -> None:
        """Let go of the file; used again, it opens again."""
        if self._store is not None:
            self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _judged(self, pairs: Sequence[Pair], store: RowStore) -> list[Judgement]:
        signature = self._asked.signature
        keys = [_key(signature, pair) for pair in pairs]
        known = {key: judgement for key, row in store.find(keys).items() if (judgement := _judgement(row)) is not None}
        new = {key: pair for key, pair in zip(keys, pairs, strict=True) if key not in known}
        made = dict(zip(new, ask(self._asked, list(new.values())), strict=True))
        self._keep(made, store)
        known |= made
        return [known[key] for key in keys]

    def _keep(self, made: Mapping[bytes, Judgement], store: RowStore) -> None:
        rows = [row for key, judgement in made.items() if (row := _row(key, judgement)) is not None]
        if not rows or self._full:
            return
        highest = store.read(lambda connection: connection.execute(_HIGHEST).fetchone()[0])
        if (highest or 0) >= _MOST:
            self._full = True
            logging.getLogger(__name__).warning(
                "expected fewer than %d judgements in %s; found about %d. What is new in this run is not kept. Delete "
                "the file to begin anew, or do without it (--no-cache).",
                _MOST,
                store.file,
                highest,
            )
            return
        store.put(rows)


def _key(signature: str, pair: Pair) -> bytes:
    """The key of a pair that a judge is asked about: equal ones share it, and nothing else does."""
    # JSON marks where each text ends, and takes any text, also one that is no UTF-8.
    asked = json.dumps([_ENCODER, _runtime(), signature, pair.premise, pair.claim, pair.question])
    return blake2b(asked.encode(), digest_size=16).digest()


@cache
def _runtime() -> str:
    """The version of what runs our own models; found without loading it where it is installed by its usual name."""
    try:
        return version("onnxruntime")
    except PackageNotFoundError:
        import onnxruntime

        return str(onnxruntime.__version__)


def _row(key: bytes, judgement: Judgement) -> tuple[bytes, bytes, str | None] | None:
    """A judgement as it is stored, or None for one that would not come back as it was."""
    probabilities, failure, note, native, raw, graded = judgement
    if failure is not None or raw is not None or probabilities.dtype != np.float32:
        return None
    if not (_is_text(note) and _is_text(native)):
        return None
    rest = None if (note, native, graded) == (None, None, True) else json.dumps([note, native, bool(graded)])
    return key, probabilities.astype(_STORED).tobytes(), rest


def _judgement(row: tuple[Any, ...]) -> Judgement | None:
    """The judgement, or None where the row is not one: then it is made anew."""
    try:
        _, stored, rest = row
        probabilities = np.frombuffer(stored, _STORED).astype(np.float32)
        note, native, graded = (None, None, True) if rest is None else cast(list[Any], json.loads(rest))
    except (ValueError, TypeError):
        return None
    whole = _is_text(note) and _is_text(native) and isinstance(graded, bool)
    if not whole or len(probabilities) != len(COLUMNS) or not are_probabilities(probabilities):
        return None
    return Judgement(probabilities, note=note, native=native, graded=graded)


def _is_text(value: object) -> bool:
    # Another package's judge, or a damaged row, may hold anything.
    return isinstance(value, str | None)
