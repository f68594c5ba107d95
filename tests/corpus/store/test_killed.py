"""Builds are interruptible at any moment, also by a full disk, and end with the same store."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from made_documents import answers, content, many, pubmed_files, with_pubmed

from vericite.corpus.store import BuildReport, Source, build_store, open_store

COUNT = 400

BUILD = """
import sys
sys.path.insert(0, sys.argv[3])
from pathlib import Path
from made_documents import many, with_pubmed
from vericite.corpus.store import build_store
from vericite.errors import InputError
if sys.argv[4] != "0":
    import resource
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[4]), int(sys.argv[4])))
try:
    count, xml = int(sys.argv[2]), sys.argv[5]
    sources = with_pubmed(count, Path(xml)) if xml else many(count)
    build_store(sys.argv[1], sources, batch=50, progress=lambda at: print(at.items, flush=True))
except InputError as error:
    sys.exit(str(error))
"""


def command(place: Path, count: int, largest_file: int = 0, xml: Path | None = None) -> list[str]:
    here = str(Path(__file__).parent)
    return [sys.executable, "-c", BUILD, str(place), str(count), here, str(largest_file), str(xml or "")]


def kill_after(place: Path, count: int, batches: int, seconds: float, xml: Path | None = None) -> bool:
    """Start a build and kill it so long after that many batches; whether it was still at work."""
    with subprocess.Popen(command(place, count, xml=xml), stdout=subprocess.PIPE, text=True) as build:
        assert build.stdout is not None
        for _ in range(batches):
            build.stdout.readline()
        time.sleep(seconds)
        alive = build.poll() is None
        build.send_signal(signal.SIGKILL)
    return alive


def finish(place: Path, count: int, xml: Path | None = None) -> BuildReport:
    return build_store(place, with_pubmed(count, xml) if xml else many(count), batch=50)


def assert_same(place: Path, other: Path) -> None:
    assert content(place) == content(other)
    assert answers(place) == answers(other)
    assert open_store(place).verify() == ()


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The store of ``COUNT`` documents that nothing stopped."""
    place = tmp_path_factory.mktemp("whole") / "whole"
    finish(place, COUNT)
    return place


def test_a_killed_build_continues_where_it_was(tmp_path: Path, whole: Path):
    count = COUNT
    assert kill_after(tmp_path / "killed", count, batches=3, seconds=0.02)
    before = open_store(tmp_path / "killed").info()
    assert 0 < before.documents < count
    report = finish(tmp_path / "killed", count)
    assert report.skipped + report.resumed
    assert_same(tmp_path / "killed", whole)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_a_build_that_is_killed_five_times_ends_as_the_one_that_was_not(tmp_path: Path, seed: int):
    count, chance, xml = 3_000, random.Random(seed), tmp_path / "xml"
    pubmed_files(xml, count)
    # Of more than a hundred batches: none of the five comes to its end.
    for _ in range(5):
        assert kill_after(tmp_path / "killed", count, chance.randrange(8), chance.random() * 0.3, xml)
    report = finish(tmp_path / "killed", count, xml)
    assert report.added and len(report.resumed) <= 1
    report = finish(tmp_path / "whole", count, xml)
    assert report.deleted and report.outdated and report.replaced
    assert_same(tmp_path / "killed", tmp_path / "whole")
    held = content(tmp_path / "whole")
    gone = {f"{1_000_000 + number}" for number in range(0, count // 4, 23)}
    assert held["1000003"].retracted and gone.isdisjoint(held)


@pytest.mark.slow
def test_a_build_that_is_killed_while_it_indexes_ends_as_the_one_that_was_not(tmp_path: Path):
    count = 2_000
    readings = len(subprocess.run(command(tmp_path / "whole", count), capture_output=True, text=True).stdout.split())
    for seconds in (0.0, 0.05, 0.1, 0.2, 0.3):
        kill_after(tmp_path / "killed", count, readings, seconds)
    finish(tmp_path / "killed", count)
    assert_same(tmp_path / "killed", tmp_path / "whole")


@pytest.mark.skipif(sys.platform == "win32", reason="needs a limit on the size of files")
def test_a_full_disk_is_reported_and_the_build_continues_later(tmp_path: Path, whole: Path):
    count = COUNT
    done = subprocess.run(command(tmp_path / "full", count, 20_000), capture_output=True, text=True, timeout=60)
    assert done.returncode != 0
    assert "Free disk space and run the same command again" in done.stderr, done.stderr
    finish(tmp_path / "full", count)
    assert_same(tmp_path / "full", whole)


def test_a_build_that_died_while_it_made_its_tables_can_begin_again(tmp_path: Path):
    (tmp_path / "s" / "documents.lance" / "data").mkdir(parents=True)
    (tmp_path / "s" / ".building").touch()
    finish(tmp_path / "s", 40)
    assert open_store(tmp_path / "s").verify() == ()


def test_the_documents_of_a_batch_that_was_not_noted_are_read_again_without_harm(tmp_path: Path):
    build_store(tmp_path / "s", many(100)[:1])
    # As a build leaves it that dies between the documents and the note of them.
    open_store(tmp_path / "s").put(many_documents(many(100)[1])[:10])
    finish(tmp_path / "s", 100)
    finish(tmp_path / "whole", 100)
    assert_same(tmp_path / "s", tmp_path / "whole")


def many_documents(source: Source) -> list:
    return [item for item in source.items() if hasattr(item, "title")]
