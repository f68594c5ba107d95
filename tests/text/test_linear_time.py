"""Time that grows with a text's length alone: no regular expression over outside text is slower than linear."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from regular_expressions import Used, patterns, pumps, seconds
from vericite.corpus.sources.registry import documents_in
from vericite.formats import answers_in
from vericite.records import Document
from vericite.text import parse_answer, split_sentences, split_statements


def repeated(pump: str, length: int) -> str:
    """The pump as often as it takes, and an end that no pattern expects."""
    return (pump * (length // len(pump) + 1))[:length] + "\x00"


def growth(used: Used, pump: str) -> list[float]:
    """Seconds for 1, 2, 4 ... times as much text, until it is enough to tell."""
    found: list[float] = []
    for length in (800, 1600, 3200, 6400, 12_800):
        text = repeated(pump, length)
        found.append(min(seconds(used.pattern, text, used.anchored) for _ in range(2)))
        if found[-1] > 0.2:
            break
    return found


@pytest.mark.slow
def test_every_pattern_takes_linear_time():
    """Each is tried on repetitions of samples of its own parts, the hardest texts that there are for it."""
    every = patterns()
    assert len(every) > 400
    slow: list[tuple[str, str, list[float]]] = []
    for used in every:
        timed = (
            (seconds(used.pattern, repeated(pump, 400), used.anchored), pump) for pump in pumps(used.pattern) if pump
        )
        first, pump = max(timed, default=(0.0, ""))
        if first < 0.0006:
            continue
        took = growth(used, pump)
        length = 800 * 2 ** (len(took) - 1)
        # Linear in theory may still be slow: 4 microseconds a character are 4 seconds a megabyte.
        per_sign = took[-1] / length
        if per_sign > 15e-6 or (per_sign > 4e-6 and took[-1] > 2.6 * took[-2]):
            slow.append((used.name, pump, took))
    assert slow == []


HARD = {
    "comments that do not end": "<!--",
    "comments and words": "<!-- a ",
    "underscores": " _a",
    "blank lines": "\n \n",
    "rows of signs": "-",
    "stops": ".",
    "brackets": "[",
    "links": "[a](",
    "letters": "a",
    "spaces": " ",
    "labels": "\nAnswer ",
    "runs of backticks": "````a",
}


def _read_markdown(text: str, folder: Path) -> object:
    path = folder / "a.md"
    path.write_text(f"# T\n\nAspirin works.{text}")
    return list(documents_in(path, "markdown"))


def _check_markdown(text: str, folder: Path) -> object:
    path = folder / "b.md"
    path.write_text(f"Aspirin works [1].{text}\n\n[1]: https://example.org/a")
    return list(answers_in(path, documents=[Document.from_text("a", "Aspirin works.")]))


READERS: dict[str, Callable[[str, Path], object]] = {
    "a document in Markdown": _read_markdown,
    "an answer in Markdown": _check_markdown,
    "an answer": lambda text, _: parse_answer("a", f"Aspirin works [1].{text}", [Document.from_text("a", "x")]),
    "sentences": lambda text, _: split_sentences(text),
    "statements": lambda text, _: split_statements(text),
}


@pytest.mark.parametrize("pump", HARD.values(), ids=HARD)
@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
def test_readers_take_hard_texts(read: Callable[[str, Path], object], pump: str, tmp_path: Path):
    """What took minutes at 80 kB; no time is asserted but one that a machine under any load keeps."""
    start = time.thread_time()
    read(pump * (60_000 // len(pump)), tmp_path)
    assert time.thread_time() - start < 20
