from __future__ import annotations

from pathlib import Path

import pytest

from vericite.disk.replacing import Replacing


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A file with an earlier run's lines, and beside it those of one that was stopped."""
    (tmp_path / "out.txt").write_text("earlier\n")
    (tmp_path / "out.txt.partial").write_text("stopped\n")
    return tmp_path / "out.txt"


def texts(place: Path) -> dict[str, str]:
    return {file.name: file.read_text() for file in place.parent.iterdir()}


def test_it_takes_the_place_only_when_it_is_done(place: Path):
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


def test_what_was_written_stays_where_it_goes_no_further(place: Path):
    file = Replacing(place)
    file.write(["one\n"])
    file.leave()
    assert file.is_begun
    assert texts(place) == {"out.txt": "earlier\n", "out.txt.partial": "one\n"}


def test_one_that_is_done_without_a_line_is_empty(place: Path):
    Replacing(place).done()
    assert texts(place) == {"out.txt": ""}


def test_ends_of_lines_are_kept_as_they_are(place: Path):
    file = Replacing(place)
    file.write(["naïve\n"])
    file.done()
    assert place.read_bytes() == "naïve\n".encode()


def test_a_file_that_cannot_be_written_is_the_callers_to_tell(tmp_path: Path):
    with pytest.raises(FileNotFoundError):
        Replacing(tmp_path / "nowhere" / "out.txt").write(["one\n"])
