"""Uploads: reading stops at the limits of the request, and when the client disconnects."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx2
import pytest

pytest.importorskip("fastapi", reason="needs the extra [serve]")

from vericite.errors import InputError
from vericite.serve import uploads
from vericite.serve.engine import Stopped, TimeLimit, Work, at_work
from vericite.serve.offer import Limits, Offer
from vericite.serve.service import Service, state_folder

ENTRIES = 3_000
MANY = "\n".join(json.dumps({"id": f"d{n}", "text": "Words of it."}) for n in range(ENTRIES)).encode()


class Counted(Work):
    """Work that counts how often it looked, and is left after so many times."""

    looked = 0
    most = 10**9

    def check_stopped(self) -> None:
        self.looked += 1
        if self.looked > self.most:
            self.stop("the client disconnected")
        super().check_stopped()


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    made = Service(Offer(limits=Limits(characters=1_200)), state_folder(tmp_path))
    yield made
    made.close()


def test_reading_ends_when_its_client_disconnects(service: Service):
    work = Counted()
    work.most = 50
    with at_work(work), pytest.raises(Stopped, match="disconnected"):
        service.documents_in("a.jsonl", MANY)
    assert work.looked == 51


def test_reading_ends_at_the_most_characters(service: Service):
    work = Counted()
    with at_work(work), pytest.raises(InputError, match=r"at most 1,200 characters.* found more in a\.jsonl"):
        service.documents_in("a.jsonl", MANY)
    assert work.looked < 150


def busy_reader(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Have files read by a process that never ends; gives the file in which it writes its number."""
    number = tmp_path / "number"
    code = f"import os, sys\nsys.stdin.readline()\nopen({str(number)!r}, 'w').write(str(os.getpid()))\nwhile True: pass"
    monkeypatch.setattr(
        uploads,
        "_start_process",
        lambda: subprocess.Popen(
            [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
        ),
    )
    return number


def is_gone(number: Path) -> bool:
    try:
        os.kill(int(number.read_text()), 0)
    except ProcessLookupError:
        return True
    return False


def test_a_reader_that_never_ends_is_killed(service: Service, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    number = busy_reader(monkeypatch, tmp_path)
    monkeypatch.setattr(uploads, "SECONDS", 2)
    with pytest.raises(InputError, match=r"read within 2 s; found a\.txt"):
        service.documents_in("a.txt", b"Words.")
    assert is_gone(number)


def test_a_busy_reader_is_killed_with_its_request(service: Service, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    number = busy_reader(monkeypatch, tmp_path)
    work = Work(TimeLimit(2))
    with at_work(work), pytest.raises(Stopped, match=r"request that finishes within its time limit.* a job"):
        service.documents_in("a.txt", b"Words.")
    assert is_gone(number)


def test_closing_the_service_kills_its_readers(service: Service, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    number = busy_reader(monkeypatch, tmp_path)
    with ThreadPoolExecutor() as pool:
        found = pool.submit(service.documents_in, "a.txt", b"Words.")
        while not (number.exists() and number.read_text()):
            time.sleep(0.05)
        service.close()
        with pytest.raises(InputError, match="shutting down"):
            found.result(10)
    assert is_gone(number)


@pytest.mark.slow  # closing the service kills its readers: above, in this process
def test_the_service_ends_soon_while_a_file_is_read(started):
    served = started()
    # Many sections: a file that is worked on for some seconds.
    content = b"# T\n\n" + b"## A heading\n\nSome words of it.\n\n" * 800_000
    with ThreadPoolExecutor() as pool:
        sent = pool.submit(httpx2.post, f"{served.address}/v1/documents?name=a.md", content=content, timeout=60)
        time.sleep(1.5)
        assert httpx2.get(f"{served.address}/healthz", timeout=5).status_code == 200
        began = time.monotonic()
        served.process.send_signal(signal.SIGTERM)
        served.process.wait(20)
        assert time.monotonic() - began < 12
        sent.exception(20)


def test_an_upload_error_names_no_command_option(service: Service):
    with pytest.raises(
        InputError, match=r"Send one of these formats, with the usual suffix in its name: pdf, docx"
    ) as found:
        service.documents_in("a.bin", b"\x01words of no form")
    assert "--" not in str(found.value) and "vericite-upload" not in str(found.value)


def test_reading_stops_after_many_problems(service: Service):
    line = json.dumps({"id": "d", "text": "Words."}).encode()
    documents, problems = service.documents_in("a.jsonl", b"\n".join([line] * 50_000))
    assert len(documents) == 1 and len(problems) == 1_001
    assert problems[-1] == "expected at most 1,000 problems; the rest was not read"
