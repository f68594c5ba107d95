from __future__ import annotations

import gc
import signal
import sys
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import settings

from shipped_models import SharedModels
from vericite.cli import main

# A slow machine is no failure: what must be fast is in benchmarks/. Laws that need more examples say so themselves.
settings.register_profile("vericite", deadline=None, max_examples=30)
settings.load_profile("vericite")

# A script's background job ignores Ctrl-C, and so would the commands that tests start and interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


# Thousands of tests are made while they are collected, none of them garbage.
gc.disable()


def pytest_collection_finish() -> None:
    """Leave what was collected out of every later look for garbage: thousands of tests take some time to go through."""
    gc.collect()
    gc.freeze()
    gc.enable()


SHARED = SharedModels()


@pytest.fixture(scope="session", autouse=True)
def shared_models() -> Iterator[None]:
    """Open each shipped model once."""
    with pytest.MonkeyPatch.context() as patch:
        SHARED.install(patch)
        yield


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Say which test is next to what tests share."""
    SHARED.before(item)


@pytest.fixture
def models_as_they_are() -> None:
    """Let the models score anything again, for a test that asks whether they say the same twice."""
    SHARED.remember = False


class Printed(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture(scope="session")
def caches(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Empty folders. ``mktemp`` looks through all folders that there are to number the next."""
    within = tmp_path_factory.mktemp("caches")
    return (within / str(number) for number in count())


@pytest.fixture(autouse=True)
def own_cache(monkeypatch: pytest.MonkeyPatch, caches: Iterator[Path]) -> None:
    """No test finds what another has kept, nor leaves anything with the user."""
    folder = next(caches)
    folder.mkdir()
    monkeypatch.setenv("VERICITE_CACHE", str(folder))


@pytest.fixture
def run_cli(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Printed]:
    """The command line in this process: its exit code and what it printed."""
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("NO_COLOR", "1")
    # --offline sets it for the process, which goes on here.
    monkeypatch.setenv("VERICITE_OFFLINE", "")
    # How long a model's client waits before it tries again is tested with the client.
    monkeypatch.setattr("vericite.llm.retry.backoff", lambda *_: 0.01)

    def run(*arguments: str) -> Printed:
        monkeypatch.setattr(sys, "argv", ["vericite", *arguments])
        with pytest.raises(SystemExit) as stop:
            main()
            raise SystemExit(0)
        return Printed(int(stop.value.code or 0), *capsys.readouterr())

    return run


@pytest.fixture(scope="module")
def s3_server() -> Iterator[Any]:
    """An S3 server on loopback, which counts requests."""
    from bucket_server import counting_server

    with counting_server().running() as running:
        yield running


@pytest.fixture
def bucket(s3_server: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """An empty bucket of it, which the usual variables lead to."""
    from bucket_server import empty_bucket

    with empty_bucket(s3_server, monkeypatch) as made:
        yield made
