"""What differs on Windows, with stand-ins for its modules; ``make check`` also checks types as they are there."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from vericite.disk import files
from vericite.disk.files import only_one
from vericite.errors import InputError


class Locks:
    """``msvcrt.locking`` for one process: a byte of a file is locked once."""

    LK_NBLCK = 2

    def __init__(self) -> None:
        self.held: dict[tuple[int, int], int] = {}

    def locking(self, descriptor: int, mode: int, length: int) -> None:
        assert (mode, length) == (self.LK_NBLCK, 1)
        place = os.lseek(descriptor, 0, os.SEEK_CUR)
        key = (os.fstat(descriptor).st_ino, place)
        if self.held.setdefault(key, descriptor) != descriptor:
            raise PermissionError(13, "Permission denied")


@pytest.fixture
def locks(monkeypatch: pytest.MonkeyPatch) -> Locks:
    made = Locks()
    monkeypatch.setitem(sys.modules, "msvcrt", made)
    monkeypatch.setattr(files, "sys", SimpleNamespace(platform="win32"))
    return made


def test_a_folder_is_held_by_a_lock_on_a_byte_behind_the_content(locks: Locks, tmp_path: Path):
    with only_one(tmp_path, "lock", "builds"):
        ((_, place),) = locks.held
        assert place >= 1 << 30
        with pytest.raises(InputError, match="the only one that builds"), only_one(tmp_path, "lock", "builds"):
            pass


def test_writing_goes_on_at_the_beginning_of_the_file(locks: Locks, tmp_path: Path):
    files.write_whole(tmp_path / "a.jsonl", ["one\n", "two\n"])
    assert (tmp_path / "a.jsonl").read_bytes() == b"one\ntwo\n"


def test_a_file_system_without_locks_is_no_error(locks: Locks, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def refuse(*_: object) -> None:
        raise OSError(22, "Invalid argument")

    monkeypatch.setattr(locks, "locking", refuse)
    with only_one(tmp_path, "lock", "builds"):
        pass


def test_a_reading_process_is_killed_without_its_group(monkeypatch: pytest.MonkeyPatch):
    uploads = pytest.importorskip("vericite.serve.uploads", reason="needs the extra [serve]")
    monkeypatch.setattr(uploads, "sys", SimpleNamespace(platform="win32"))
    monkeypatch.delattr(os, "killpg")
    killed: list[str] = []
    uploads._kill(SimpleNamespace(kill=lambda: killed.append("killed")))
    assert killed == ["killed"]


def test_no_limit_of_memory_or_files_is_asked_for(monkeypatch: pytest.MonkeyPatch):
    pytest.importorskip("uvicorn", reason="needs the extra [serve]")
    from vericite.corpus.sources import pdf_process
    from vericite.serve import connections, upload_process

    monkeypatch.setitem(sys.modules, "resource", None)
    for module in (pdf_process, connections, upload_process):
        monkeypatch.setattr(module, "sys", SimpleNamespace(platform="win32"))
    pdf_process._limit(1)
    upload_process._limit(1, 1)
    assert connections.allowed_connections() == connections.MAX_CONNECTIONS
