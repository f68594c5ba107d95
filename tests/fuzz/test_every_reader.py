"""Hostile files for every reader: ``seeds`` has what was found so far, and the slow test changes and joins them.

A reader returns records or raises our own error, in bounded time. Add a file to ``seeds`` for each fault that is found.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import vericite
from vericite.corpus.manuscript.bibliography import read_bibliography
from vericite.corpus.manuscript.registry import read_manuscript
from vericite.corpus.retractions import retracted_in_table
from vericite.corpus.sources.registry import documents_in
from vericite.datasets.registry import SETS
from vericite.errors import VeriCiteError
from vericite.formats.registry import answers_in
from vericite.pipeline.plan import project_settings
from vericite.text.citations import parse_answer
from vericite.text.sentences import split_sentences

SEEDS = sorted((Path(__file__).parent / "seeds").iterdir())
SECONDS = 20.0
"""Maximum seconds for one reader of one small file, on a machine that does much else."""


def read_text(path: Path) -> None:
    text = path.read_text(encoding="utf-8", errors="replace")[:50_000]
    parse_answer("a", text, ())
    spans = [place for span in split_sentences(text) for place in (span.start, span.end)]
    assert spans == sorted(spans)


READERS: dict[str, Callable[[Path], object]] = {
    "answers": lambda path: list(answers_in(path)),
    "documents": lambda path: list(documents_in(path)),
    "manuscript": read_manuscript,
    "bibliography": lambda path: read_bibliography([path]),
    "questions": lambda path: vericite.read_questions(path),
    "retractions": retracted_in_table,
    "settings": project_settings,
    "text": read_text,
    **{f"data set {name}": lambda path, name=name: vericite.read_dataset(f"{name}:{path}") for name in SETS},
}


def read_by_all(path: Path) -> None:
    for name, read in READERS.items():
        started = time.monotonic()
        try:
            read(path)
        except VeriCiteError as error:
            assert 0 < len(str(error)) < 5_000, name
        took = time.monotonic() - started
        assert took < SECONDS, f"{name}: {took:.1f} s"


@pytest.mark.parametrize("seed", SEEDS, ids=lambda seed: seed.name)
def test_each_known_file_is_read_or_refused(seed: Path, tmp_path: Path):
    path = tmp_path / seed.name
    path.write_bytes(seed.read_bytes())
    read_by_all(path)
    assert {file.name for file in tmp_path.iterdir()} == {seed.name}


def changed(content: bytes, other: bytes, chosen: random.Random) -> bytes:
    """Return a content with one to four changes: bytes replaced, cut, repeated, or taken from another file."""
    data = bytearray(content)
    for _ in range(chosen.randint(1, 4)):
        at, length = chosen.randrange(len(data) + 1), chosen.choice((1, 2, 8, 64, 512))
        match chosen.randrange(5):
            case 0:
                data[at : at + length] = chosen.randbytes(length)
            case 1:
                del data[at : at + length]
            case 2:
                data[at:at] = data[at : at + length] * chosen.choice((2, 50, 500))
            case 3:
                start = chosen.randrange(len(other) + 1)
                data[at:at] = other[start : start + length]
            case _:
                del data[at:]
    return bytes(data[:200_000])


SUFFIXES = sorted({"".join(seed.suffixes) for seed in SEEDS})


@pytest.mark.slow
@settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    seed=st.sampled_from(SEEDS), other=st.sampled_from(SEEDS), suffix=st.sampled_from(SUFFIXES), number=st.integers(0)
)
def test_changed_files_are_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, seed: Path, other: Path, suffix: str, number: int
):
    chosen = random.Random(number)
    content = changed(seed.read_bytes(), other.read_bytes(), chosen)
    path = tmp_path_factory.mktemp("fuzz") / f"file{chosen.choice((''.join(seed.suffixes), suffix))}"
    path.write_bytes(content)
    read_by_all(path)
