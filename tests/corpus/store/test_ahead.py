"""Files that other processes read ahead: the store is what one process makes, also after a kill."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_documents import answers, content, document, pubmed_files

from vericite.corpus.ingest import collect_sources
from vericite.corpus.pubmed.record import Deletion, Retraction
from vericite.corpus.store import build_store, open_store
from vericite.corpus.store.ahead import Task, item_of, line_of, lines_of, local_readers
from vericite.corpus.store.columns import row_of
from vericite.corpus.store.contract import Item, PreparedRow, StoreSourceFile
from vericite.errors import InputError, RecordError
from vericite.models import Embedder
from vericite.records import to_json


class Here:
    """Reads as other processes do, in this one; counts what was begun before the first was asked for."""

    count = 2

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.done: dict[str, int] = {}

    def start(self, task: Task) -> Callable[[], Iterable[bytes]]:
        self.begun.append(task.file.path.name)
        self.done[task.file.path.name] = task.done
        return lambda: lines_of(task)


def folder_of_all_kinds(folder: Path, count: int = 120) -> Path:
    """PubMed's XML with versions, deletions and retractions, JSON lines with ids twice and what is none, and text."""
    folder.mkdir()
    pubmed_files(folder / "xml", count)
    lines = [to_json(document(number, version)) for number in range(30) for version in (1, 2)]
    (folder / "a.jsonl").write_text("\n".join([*lines, "no json", '{"id": 3}', to_json(document(3))]) + "\n")
    (folder / "half.jsonl").write_text(
        json.dumps({"id": "half", "text": "a \ud800 b"}) + "\n" + to_json(document(700)) + "\n"
    )
    (folder / "notes.txt").write_text("Aspirin lowers the risk of stroke.")
    (folder / "table.csv").write_text('id,title,text\n1,One,"Iron helps."\n2,Two\n')
    return folder


def sources(folder: Path):
    return collect_sources([folder]).sources


def facts(place: Path) -> list[tuple[str, int, int, bool]]:
    return [(it.name, it.items, it.refused, it.done) for it in open_store(place).info().sources]


@pytest.mark.parametrize("vectors", [False, True])
def test_a_build_with_readers_makes_the_same_store_and_report(tmp_path: Path, vectors: bool):
    folder = folder_of_all_kinds(tmp_path / "files", 24 if vectors else 120)
    alone = build_store(tmp_path / "alone", sources(folder), vectors=vectors, batch=20)
    readers = Here()
    together = build_store(tmp_path / "together", sources(folder), vectors=vectors, batch=20, readers=readers)
    assert content(tmp_path / "together") == content(tmp_path / "alone") != {}
    assert answers(tmp_path / "together") == answers(tmp_path / "alone")
    assert facts(tmp_path / "together") == facts(tmp_path / "alone")
    for name in ("added", "replaced", "outdated", "deleted", "refused", "missing"):
        assert getattr(together, name) == getattr(alone, name), name
    assert list(map(str, together.problems)) == list(map(str, alone.problems)) != []
    assert len(readers.begun) == len(sources(folder))
    assert open_store(tmp_path / "together").verify() == ()
    if vectors:
        (query,) = Embedder.shared().embed(["stroke"])
        first, second = (open_store(tmp_path / name).search_vectors(query, 5) for name in ("alone", "together"))
        assert first == second != ()


def test_real_processes_read_and_what_is_built_already_is_not_read_again(tmp_path: Path):
    folder = folder_of_all_kinds(tmp_path / "files")
    build_store(tmp_path / "alone", sources(folder))
    with local_readers(2) as readers:
        build_store(tmp_path / "together", sources(folder), batch=20, readers=readers)
    assert content(tmp_path / "together") == content(tmp_path / "alone")
    again = Here()
    report = build_store(tmp_path / "together", sources(folder), readers=again)
    assert again.begun == [] and len(report.skipped) == len(sources(folder))


def test_only_some_files_are_read_ahead(tmp_path: Path):
    folder = tmp_path / "files"
    folder.mkdir()
    for number in range(9):
        (folder / f"{number}.jsonl").write_text(to_json(document(number)) + "\n")
    readers = Here()
    before: list[int] = []

    def progress(_) -> None:
        before.append(len(readers.begun))

    build_store(tmp_path / "store", sources(folder), batch=1, readers=readers, progress=progress)
    assert before[0] < 9 == len(readers.begun)


def test_a_dead_reader_is_reported_and_the_same_command_continues(tmp_path: Path):
    folder = folder_of_all_kinds(tmp_path / "files")

    class Dying(Here):
        def start(self, task: Task) -> Callable[[], Iterable[bytes]]:
            def lines() -> Iterator[bytes]:
                yield from list(lines_of(task))[:10]
                raise InputError("a reader died")

            return lines if task.file.path.suffix == ".xml" else super().start(task)

    with pytest.raises(InputError, match="died"):
        build_store(tmp_path / "store", sources(folder), batch=5, readers=Dying())
    build_store(tmp_path / "store", sources(folder), batch=5, readers=Here())
    build_store(tmp_path / "alone", sources(folder))
    assert content(tmp_path / "store") == content(tmp_path / "alone")


def test_vectors_of_a_partly_read_file_are_not_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    folder = tmp_path / "files"
    folder.mkdir()
    (folder / "a.jsonl").write_text("".join(to_json(document(number)) + "\n" for number in range(30)))

    class Dying(Here):
        def start(self, task: Task) -> Callable[[], Iterable[bytes]]:
            def lines() -> Iterator[bytes]:
                yield from list(lines_of(task))[:17]
                raise InputError("a reader died")

            return lines

    with pytest.raises(InputError, match="died"):
        build_store(tmp_path / "store", sources(folder), vectors=True, batch=5, readers=Dying())
    ((_, before, _, _),) = facts(tmp_path / "store")
    assert 5 <= before < 30
    embedded: list[str] = []
    embed = Embedder.embed

    def counted(self: Embedder, texts: Iterable[str]) -> np.ndarray:
        given = list(texts)
        embedded.extend(given)
        return embed(self, given)

    monkeypatch.setattr(Embedder, "embed", counted)
    again = Here()
    build_store(tmp_path / "store", sources(folder), vectors=True, batch=5, readers=again)
    assert again.done == {"a.jsonl": before}
    assert embedded == [document(number).titled_text for number in range(before, 30)]
    monkeypatch.undo()
    build_store(tmp_path / "alone", sources(folder), vectors=True)
    assert content(tmp_path / "store") == content(tmp_path / "alone")
    assert facts(tmp_path / "store") == facts(tmp_path / "alone")


def test_a_process_that_is_killed_is_named_by_its_file(tmp_path: Path):
    file = tmp_path / "large.jsonl"
    file.write_text("".join(to_json(document(number)) + "\n" for number in range(20_000)))
    with local_readers(1) as readers:
        read = readers.start(Task(StoreSourceFile(file, "jsonl", "large"), False))
        (pid,) = readers._pool._processes  # pyright: ignore
        os.kill(pid, signal.SIGKILL)
        with pytest.raises(InputError, match=r"large\.jsonl; the process died"):
            list(read())


@pytest.mark.slow  # a build that is killed, and a reader that is: test_killed.py and above
def test_a_command_that_is_killed_leaves_no_process_and_goes_on(tmp_path: Path):
    folder = folder_of_all_kinds(tmp_path / "files", 400)
    command = [sys.executable, "-m", "vericite", "corpus", "build", str(folder), "--to", str(tmp_path / "store")]
    with subprocess.Popen(
        [*command, "--set", "workers.count=2"], stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL
    ) as build:
        time.sleep(1.5)
        build.kill()
    # Two records cannot be used.
    assert subprocess.run([*command, "--set", "workers.count=2"], capture_output=True, check=False).returncode == 2
    build_store(tmp_path / "alone", sources(folder))
    assert content(tmp_path / "store") == content(tmp_path / "alone")


ITEMS = st.one_of(
    st.builds(lambda pmids: Deletion(pmids=tuple(pmids)), st.lists(st.text(), min_size=1)),
    st.builds(lambda pmids: Retraction(pmids=tuple(pmids)), st.lists(st.text(), min_size=1)),
    st.builds(RecordError, st.text(min_size=1), st.integers(0, 10), st.none() | st.text(min_size=1), st.text()),
    st.integers(0, 10_000).map(document),
)


@given(ITEMS)
def test_a_line_holds_what_the_item_says(item: Item):
    line = line_of(item)
    assert b"\n" not in line
    found = item_of(line)
    if isinstance(found, PreparedRow):
        assert json.dumps(found.row) == json.dumps(row_of(item))  # pyright: ignore
    elif isinstance(item, RecordError):
        assert str(found) == str(item) or item.path == "-"
    else:
        assert found == item


def test_a_vector_comes_through_to_the_bit(tmp_path: Path):
    file = tmp_path / "a.jsonl"
    file.write_text("".join(to_json(document(number)) + "\n" for number in range(3)))
    made = [item_of(line) for line in lines_of(Task(StoreSourceFile(file, "jsonl", "a"), True))]
    expected = Embedder.shared().embed(document(number).titled_text for number in range(3))
    for one, vector in zip(made, expected, strict=True):
        assert isinstance(one, PreparedRow)
        np.testing.assert_array_equal(one.vector, vector)
