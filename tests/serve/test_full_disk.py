"""A full or read-only disk, on a small file system made for the test."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import httpx2
import pytest

SOURCE = {"id": "d", "text": "Zelotrine reduced pain in 40 of 80 adults. Nausea was common."}
MOUNT = 'mount -t tmpfs -o size=1m none "$0" && exec "$@"'


def _can_mount() -> bool:
    if sys.platform != "linux" or shutil.which("unshare") is None or shutil.which("nsenter") is None:
        return False
    tried = ["unshare", "--user", "--map-root-user", "--mount", "mount", "-t", "tmpfs", "none", "/mnt"]
    return subprocess.run(tried, capture_output=True, timeout=20).returncode == 0


pytestmark = pytest.mark.skipif(not _can_mount(), reason="needs namespaces of Linux in which this user may mount")


class SmallDisk:
    """A server whose folder is on a file system of 1 MB, which no other process sees."""

    def __init__(self, start: Callable[..., object], folder: Path) -> None:
        folder.mkdir()
        within = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", MOUNT, str(folder)]
        self.server = start(within=within)
        self._number = self.server.process.pid
        self.folder = Path(f"/proc/{self._number}/root{folder}")
        self._inside = folder

    def fill(self, leave: int = 0) -> None:
        """Leave so many bytes free."""
        (self.folder / "filler").write_bytes(bytes(leave))
        rest = self.folder / "rest"
        with rest.open("wb", buffering=0) as file:
            try:
                while file.write(bytes(4096)):
                    pass
            except OSError:
                pass
        (self.folder / "filler").unlink()

    def empty(self) -> None:
        (self.folder / "rest").unlink()

    def mount(self, options: str) -> None:
        enter = ["nsenter", f"--target={self._number}", "--user", "--mount", "--preserve-credentials"]
        subprocess.run([*enter, "mount", "-o", f"remount,{options}", "none", str(self._inside)], check=True, timeout=20)

    def files(self) -> set[str]:
        return {str(path.relative_to(self.folder)) for path in self.folder.rglob("*")} - {"rest"}


@pytest.fixture
def disk(started: Callable[..., object], tmp_path: Path) -> SmallDisk:
    return SmallDisk(started, tmp_path / "state")


def requests(address: str) -> list[httpx2.Response]:
    answer = {"answer": "Zelotrine reduced pain in 40 of 80 adults [1].", "documents": [SOURCE]}
    job = {"items": [answer] * 200}
    return [
        httpx2.post(f"{address}/v1/jobs", json=job, timeout=60),
        httpx2.post(f"{address}/v1/check", json=answer, timeout=60),
        httpx2.post(f"{address}/v1/repair", json=answer, timeout=60),
        httpx2.post(f"{address}/v1/ask", json={"question": "Does it work?", "documents": [SOURCE]}, timeout=60),
    ]


@pytest.mark.parametrize("state", ["full", pytest.param("read-only", marks=pytest.mark.slow)])
def test_nothing_is_written_and_no_path_is_revealed(disk: SmallDisk, state: str):
    kept = disk.server.post("/v1/check", {"answer": "It helps.", "documents": [SOURCE]}).json()["run"]
    before = disk.files()
    if state == "full":
        disk.fill()
    else:
        disk.mount("ro")
    replies = requests(disk.server.address)
    assert [reply.status_code for reply in replies] == [507] * 4, [reply.text for reply in replies]
    for reply in replies:
        message = reply.json()["error"]["message"]
        assert message.startswith("expected a service that can write to its disk; found") and "/" not in message
    assert disk.files() == before
    assert disk.server.get(f"/v1/runs/{kept}").status_code == 200
    if state == "full":
        disk.empty()
    else:
        assert httpx2.delete(f"{disk.server.address}/v1/runs/{kept}").status_code == 507
        disk.mount("rw")
    assert {reply.status_code for reply in requests(disk.server.address)} == {200, 202}


def test_a_job_that_fills_the_disk_continues_when_there_is_space(disk: SmallDisk):
    items = [{"answer": f"Zelotrine reduced pain in {n} of 80 adults [1].", "documents": [SOURCE]} for n in range(60)]
    job = {"items": items}
    size = len(json.dumps(job))
    disk.fill(leave=2 * size + 30_000)
    id = disk.server.post("/v1/jobs", job).json()["id"]

    def wait(key: str) -> dict[str, object]:
        end = time.monotonic() + 120
        while not (state := disk.server.get(f"/v1/jobs/{id}").json())[key]:
            assert time.monotonic() < end, state
            time.sleep(0.1)
        return state

    state = wait("problem")
    assert 0 < state["done"] < len(items) and not state["finished"], state
    results = disk.folder / "jobs" / id / "results.jsonl"
    assert results.read_bytes().endswith(b"\n")
    disk.empty()
    assert wait("finished")["problem"] is None
    found = [json.loads(line) for line in disk.server.get(f"/v1/jobs/{id}/results").text.splitlines()]
    assert [one["item"] for one in found] == list(range(len(items))) and all(one["value"] for one in found)
