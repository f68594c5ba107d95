from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from vericite.disk.files import Replacing, whole_bytes, write_bytes, write_whole
from vericite.errors import InputError


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A file with an earlier run's lines, and next to it those of a stopped run."""
    (tmp_path / "out.txt").write_text("earlier\n")
    (tmp_path / "out.txt.partial").write_text("stopped\n")
    return tmp_path / "out.txt"


def texts(place: Path) -> dict[str, str]:
    return {file.name: file.read_text() for file in place.parent.iterdir()}


def test_a_file_is_replaced_only_when_done(place: Path):
    file = Replacing(place)
    file.write(["one\n", "two\n"])
    assert texts(place) == {"out.txt": "earlier\n", "out.txt.partial": "one\ntwo\n"}
    file.write(["three\n"])
    file.done()
    assert texts(place) == {"out.txt": "one\ntwo\nthree\n"}


@pytest.mark.parametrize("lines", [None, []])
def test_nothing_is_lost_before_something_is_written(place: Path, lines: list[str] | None):
    before = texts(place)
    file = Replacing(place)
    if lines is not None:
        file.write(lines)
    assert not file.is_begun
    file.leave()
    assert texts(place) == before


def test_written_lines_stay_in_the_partial_file_after_leaving(place: Path):
    file = Replacing(place)
    file.write(["one\n"])
    file.leave()
    assert file.is_begun
    assert texts(place) == {"out.txt": "earlier\n", "out.txt.partial": "one\n"}


def test_a_file_done_without_lines_is_empty(place: Path):
    Replacing(place).done()
    assert texts(place) == {"out.txt": ""}


def test_line_ends_are_kept(place: Path):
    file = Replacing(place)
    file.write(["naïve\n"])
    file.done()
    assert place.read_bytes() == "naïve\n".encode()


def test_errors_are_left_to_the_caller(tmp_path: Path):
    (tmp_path / "file").write_text("one")
    with pytest.raises(NotADirectoryError):
        Replacing(tmp_path / "file" / "new" / "out.txt").write(["one\n"])


def test_a_missing_folder_is_created(tmp_path: Path):
    file = Replacing(tmp_path / "new" / "folder" / "out.txt")
    file.write(["one\n"])
    file.done()
    write_bytes(tmp_path / "other" / "out.bin", b"two")
    assert file.path.read_text() == "one\n" and (tmp_path / "other" / "out.bin").read_bytes() == b"two"


def test_a_link_stays_a_link_to_the_new_content(tmp_path: Path):
    (tmp_path / "kept").mkdir()
    target, link = tmp_path / "kept" / "real.txt", tmp_path / "link.txt"
    target.write_text("earlier\n")
    link.symlink_to(target)
    file = Replacing(link)
    file.write(["one\n"])
    file.done()
    assert link.is_symlink()
    assert target.read_text() == "one\n"


def test_permissions_stay_as_they_were(place: Path):
    place.chmod(0o600)
    file = Replacing(place)
    file.write(["secret\n"])
    assert file.partial.stat().st_mode & 0o777 == 0o600
    file.done()
    assert place.stat().st_mode & 0o777 == 0o600


def test_a_read_only_file_is_read_only_again_when_done(place: Path):
    place.chmod(0o440)
    file = Replacing(place)
    file.write(["one\n"])
    file.leave()
    assert file.partial.stat().st_mode & 0o777 == 0o640
    # What was left can be written over, also by one who is not root.
    again = Replacing(place)
    again.write(["two\n"])
    again.done()
    assert texts(place) == {"out.txt": "two\n"}
    assert place.stat().st_mode & 0o777 == 0o440


def test_a_file_system_that_refuses_to_set_modes_loses_no_line(place: Path, monkeypatch: pytest.MonkeyPatch):
    def refused(*_: object, **__: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "chmod", refused)
    file = Replacing(place)
    file.write(["one\n"])
    file.done()
    assert texts(place) == {"out.txt": "one\n"}


def test_a_second_run_is_refused_before_and_while_writing(place: Path):
    first, second = Replacing(place), Replacing(place)
    first.reserve()
    assert texts(place)["out.txt.partial"] == "stopped\n"
    with pytest.raises(BlockingIOError, match="another run is writing it"):
        second.reserve()
    first.write(["one\n"])
    with pytest.raises(BlockingIOError, match="another run is writing it"):
        second.write(["two\n"])
    first.done()
    second.write(["two\n"])
    assert texts(place) == {"out.txt": "one\n", "out.txt.partial": "two\n"}
    second.leave()


def test_a_reserved_place_without_lines_is_left_as_it_was(tmp_path: Path):
    file = Replacing(tmp_path / "out.txt")
    file.reserve()
    file.leave()
    assert list(tmp_path.iterdir()) == []


def test_each_of_many_runs_at_once_is_complete_or_refused(tmp_path: Path):
    place, refused = tmp_path / "out.txt", []

    def run(name: int) -> None:
        file = Replacing(place)
        try:
            for _ in range(20):
                file.write([f"{name}\n"])
            file.done()
        except BlockingIOError:
            refused.append(name)
            file.leave()

    threads = [threading.Thread(target=run, args=(name,)) for name in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    lines = place.read_text().splitlines()
    assert len(lines) == 20 and len(set(lines)) == 1
    assert not Path(f"{place}.partial").exists()
    assert len(refused) < 16


@pytest.fixture
def memory() -> Iterator[Path]:
    """A folder under ``/dev`` with regular files."""
    if not os.access("/dev/shm", os.W_OK):
        pytest.skip("the system has no /dev/shm that can be written to")
    with TemporaryDirectory(dir="/dev/shm") as folder:
        yield Path(folder)


def test_a_file_in_memory_is_replaced_like_any_other(memory: Path):
    for line in ("one\n", "two\n"):
        file = Replacing(memory / "out.txt")
        file.write([line])
        assert (memory / "out.txt.partial").read_text() == line
        file.done()
        assert texts(memory / "out.txt") == {"out.txt": line}


@pytest.mark.skipif(not Path("/dev/fd").is_dir(), reason="the system does not name open files")
def test_an_open_file_is_written_in_place(place: Path):
    # As the shell opens it for `--out /dev/stdout > out.txt`, where the rest is printed.
    with place.open("w") as opened:
        print("before", file=opened, flush=True)
        file = Replacing(Path(f"/dev/fd/{opened.fileno()}"))
        file.write(["one\n"])
        file.done()
        print("after", file=opened)
    assert texts(place) == {"out.txt": "before\none\nafter\n", "out.txt.partial": "stopped\n"}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
def test_a_pipe_is_written_to_and_stays_a_pipe(tmp_path: Path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()), daemon=True)
    reader.start()
    file = Replacing(pipe)
    file.write(["one\n"])
    file.done()
    reader.join(10)
    assert read == ["one\n"]
    assert pipe.is_fifo()


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="the system has no device that is full")
def test_a_device_is_written_to_and_not_replaced():
    file = Replacing(Path("/dev/full"))
    with pytest.raises(OSError, match="No space"):
        file.write(["one\n"])
    file.leave()
    assert Path("/dev/full").is_char_device()


@pytest.mark.skipif(os.name == "nt", reason="needs links")
@pytest.mark.parametrize("make", [os.symlink, os.link])
def test_a_partial_file_that_is_a_link_is_never_followed(tmp_path: Path, make: Callable[[Path, Path], None]):
    victim = tmp_path / "victim.txt"
    victim.write_text("mine\n")
    make(victim, tmp_path / "out.txt.partial")
    with pytest.raises(FileExistsError, match=r"out\.txt\.partial (?:is|has) .*link.*Remove it"):
        Replacing(tmp_path / "out.txt").reserve()
    with pytest.raises(InputError, match="Remove it"):
        write_whole(tmp_path / "out.txt", ["one\n"])
    assert victim.read_text() == "mine\n"
    assert not (tmp_path / "out.txt").exists()


def test_bytes_are_written_under_a_name_that_cannot_be_guessed(tmp_path: Path):
    (tmp_path / "victim").write_bytes(b"mine")
    (tmp_path / "out.partial").symlink_to(tmp_path / "victim")
    write_bytes(tmp_path / "out", b"one")
    assert ((tmp_path / "out").read_bytes(), (tmp_path / "victim").read_bytes()) == (b"one", b"mine")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["out", "out.partial", "victim"]


def test_a_failed_write_of_bytes_leaves_nothing_behind(tmp_path: Path):
    (tmp_path / "out").write_bytes(b"before")
    with pytest.raises(RuntimeError), whole_bytes(tmp_path / "out") as file:
        file.write(b"half")
        raise RuntimeError
    assert [file.name for file in tmp_path.iterdir()] == ["out"]
    assert (tmp_path / "out").read_bytes() == b"before"
