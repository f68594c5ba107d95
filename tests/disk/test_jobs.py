"""Jobs: after a kill the next process reads all complete lines, and files of others are never cut."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from vericite.disk.jobs import MANIFEST, Job, Lines
from vericite.errors import InputError, RecordError
from vericite.records import number_lines
from vericite.records.digests import digests_file


class Item(BaseModel):
    number: int
    text: str = ""


ITEMS = [Item(number=number, text="naïve " * number) for number in range(4)]


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 200), st.integers(0, 3))
def test_a_file_cut_anywhere_can_be_continued(tmp_path_factory: pytest.TempPathFactory, cut: int, zeros: int):
    lines = Lines(tmp_path_factory.mktemp("job") / "items.jsonl", Item)
    lines.append(ITEMS)
    whole = lines.path.read_bytes()
    lines.path.write_bytes(whole[: max(0, len(whole) - cut)] + b"\0" * zeros)
    there = lines.read()
    assert there == ITEMS[: len(there)]
    assert len(there) >= whole[: max(0, len(whole) - cut)].count(b"\n")
    lines.append(ITEMS[len(there) :])
    assert lines.path.read_bytes() == whole


@pytest.mark.parametrize("content", [b"my notes", b"[1", b'{"number": 1}\nmine\n{"number": 2}\n'])
def test_other_files_are_refused_and_left_as_they_are(tmp_path: Path, content: bytes):
    lines = Lines(tmp_path / "items.jsonl", Item)
    lines.path.write_bytes(content)
    with pytest.raises(InputError, match=r"items\.jsonl"):
        lines.read()
    assert lines.path.read_bytes() == content


def test_only_one_process_adds_to_a_file(tmp_path: Path):
    with (
        Lines(tmp_path / "items.jsonl", Item).locked(),
        pytest.raises(InputError, match=r"adds to items\.jsonl in .* another process is at work"),
        Lines(tmp_path / "items.jsonl", Item).locked(),
    ):
        pass


@pytest.mark.parametrize("make", [Job.in_folder, Job.next_to])
def test_a_job_continues_only_with_the_same_settings(tmp_path: Path, make: Callable[..., Job]):
    place = tmp_path / "job"
    with make(place, {"seed": 1}, "a test").open() as before:
        assert before == {}
        make(place, {"seed": 1}, "a test").note({"items": 3})
        with pytest.raises(InputError, match="another process is at work"), make(place, {"seed": 1}, "a test").open():
            pass
    with make(place, {"seed": 1}, "a test").open() as before:
        assert (before["settings"], before["items"]) == ({"seed": 1}, 3)
    with pytest.raises(InputError, match="found another seed: 1 there, 2 now"), make(place, {"seed": 2}, "a").open():
        pass


def test_a_file_and_its_manifest_belong_together(tmp_path: Path):
    job = Job.next_to(tmp_path / "items.jsonl", {"seed": 1}, "a test")
    with job.open():
        Lines(job.place, Item).append(ITEMS)
    assert json.loads((tmp_path / f"items.jsonl.{MANIFEST}").read_text())["settings"] == {"seed": 1}
    job.manifest.unlink()
    with pytest.raises(InputError, match="content without"), job.open():
        pass


def test_every_reader_refuses_a_changed_line(tmp_path: Path):
    path = tmp_path / "lines.jsonl"
    Lines(path, Item, digests=True).append([Item(number=1, text="one"), Item(number=1, text="two")])
    Lines(path, Item, digests=True).append([Item(number=1, text="three")])
    path.write_text(path.read_text().replace("two", "ten"))
    with pytest.raises(RecordError, match=r"lines\.jsonl, line 2: .*other bytes.*\.lines\.jsonl\.digests"):
        Lines(path, Item, digests=True).read()
    every = list(number_lines(path))
    assert [isinstance(line, RecordError) for line in every] == [False, True, False]


def test_every_flipped_bit_in_a_file_with_digests_is_noticed(tmp_path: Path):
    path = tmp_path / "lines.jsonl"
    Lines(path, Item, digests=True).append([Item(number=1, text="one"), Item(number=1, text="two")])
    whole = path.read_bytes()
    for place in range(len(whole)):
        damaged = bytearray(whole)
        damaged[place] ^= 1 << (place % 8)
        path.write_bytes(bytes(damaged))
        assert any(isinstance(line, RecordError) for line in number_lines(path)) or place == len(whole) - 1


def test_lines_may_be_removed_and_reordered(tmp_path: Path):
    path = tmp_path / "lines.jsonl"
    lines = Lines(path, Item, digests=True)
    lines.append(Item(number=1, text=text) for text in ("one", "two", "three"))
    first, _, third = path.read_text().splitlines(keepends=True)
    path.write_text(third + first)
    assert [row.text for row in lines.read()] == ["three", "one"]
    lines.replace([Item(number=1, text="four")])
    lines.append([Item(number=1, text="five")])
    assert [row.text for row in lines.read()] == ["four", "five"]


def test_a_file_of_an_earlier_version_is_read_and_added_to(tmp_path: Path):
    path = tmp_path / "lines.jsonl"
    Lines(path, Item).append([Item(number=1, text="one")])
    assert digests_file(path).exists() is False
    lines = Lines(path, Item, digests=True)
    assert [row.text for row in lines.read()] == ["one"]
    lines.append([Item(number=1, text="two")])
    assert [row.text for row in lines.read()] == ["one", "two"]


@pytest.mark.parametrize("cut", range(1, 17))
def test_incomplete_digests_after_a_kill_invalidate_no_line(tmp_path: Path, cut: int):
    path = tmp_path / "lines.jsonl"
    lines = Lines(path, Item, digests=True)
    lines.append([Item(number=1, text="one")])
    before = path.read_bytes()
    lines.append([Item(number=1, text="two")])
    path.write_bytes(before)
    digests_file(path).write_bytes(digests_file(path).read_bytes()[:-cut])
    lines.append([Item(number=1, text="three")])
    assert [row.text for row in lines.read()] == ["one", "three"]


def test_a_removed_lock_file_lets_no_second_one_in_unseen(tmp_path: Path):
    """The lock is on the file of that name: whoever holds a file that was removed holds nothing."""
    import os
    import threading

    from vericite.disk import files

    lock = tmp_path / ".lock"
    opened = threading.Event()
    real = files._lock

    def slow(descriptor: int) -> None:
        # Between opening and locking, another one removes the file.
        if not opened.is_set():
            opened.set()
            lock.unlink()
        real(descriptor)

    files._lock = slow
    try:
        with files.only_one(tmp_path, ".lock", "works in"):
            assert lock.exists()
            with pytest.raises(files.Held), files.only_one(tmp_path, ".lock", "works in"):
                raise AssertionError("two hold it")
    finally:
        files._lock = real
    os.symlink(tmp_path / "elsewhere", tmp_path / ".link")
    with pytest.raises(InputError, match="links are not followed"), files.only_one(tmp_path, ".link", "works in"):
        raise AssertionError("a link was followed")
    assert not (tmp_path / "elsewhere").exists()
