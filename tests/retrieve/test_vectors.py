"""Vectors of documents are computed once, in any file."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from vericite.records import Document
from vericite.retrieve.vectors import vectors_of


class Counting:
    """An embedder that counts what it embeds."""

    def __init__(self, signature: str = "counting") -> None:
        self.signature = signature
        self.texts: list[str] = []

    def embed(self, texts: Iterable[str]) -> NDArray[np.float32]:
        given = list(texts)
        self.texts += given
        return np.array([[len(text), 1, 0] for text in given], dtype=np.float32).reshape(-1, 3)


def documents(numbers: range) -> list[Document]:
    return [Document.from_text(str(n), f"Text {n * 7}.", f"Title {n}") for n in numbers]


def test_earlier_vectors_are_read_from_disk(tmp_path: Path):
    file, embedder = tmp_path / "vectors.sqlite", Counting()
    first = vectors_of(documents(range(250)), embedder, file)
    steps: list[tuple[int, int]] = []
    again = vectors_of(documents(range(260)), embedder, file, lambda done, all: steps.append((done, all)))
    assert len(embedder.texts) == 260 and steps == [(10, 10)]
    assert np.array_equal(again[:250], first) and again.dtype == np.float32
    assert np.array_equal(again, vectors_of(documents(range(260)), Counting(), None))


def test_another_embedder_text_or_title_is_embedded_again(tmp_path: Path):
    file, embedder = tmp_path / "vectors.sqlite", Counting()
    (one,) = documents(range(1))
    vectors_of([one], embedder, file)
    vectors_of([one.model_copy(update={"title": "Another"})], embedder, file)
    vectors_of([one, one.model_copy(update={"id": "twin"})], embedder, file)
    other = Counting("other")
    vectors_of([one], other, file)
    assert (len(embedder.texts), len(other.texts)) == (2, 1)


def test_an_interrupted_run_keeps_its_vectors(tmp_path: Path):
    file, embedder = tmp_path / "vectors.sqlite", Counting()

    def stop(done: int, all: int) -> None:
        if done == 200:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        vectors_of(documents(range(300)), embedder, file, stop)
    vectors_of(documents(range(300)), embedder, file)
    assert len(embedder.texts) == 300


def test_no_documents_give_no_vectors(tmp_path: Path):
    assert vectors_of([], Counting(), tmp_path / "v.sqlite").shape == (0, 3)


def test_a_file_is_embedded_once_for_two_searches_with_progress(run_cli, tmp_path, monkeypatch):
    monkeypatch.setenv("VERICITE_CACHE", str(tmp_path / "cache"))
    corpus = tmp_path / "corpus.jsonl"
    corpus.write_text("".join(json.dumps({"id": str(n), "text": f"Drug {n} lowers fever."}) + "\n" for n in range(30)))
    given = ("search", "Which drug lowers fever?", "--corpus", str(corpus), "--set", "search.rerank=none")
    first = run_cli(*given)
    assert first.code == 0 and "vectors of 30 of 30 documents" in first.err
    again = run_cli(*given)
    assert again.out == first.out and "vectors" not in again.err
