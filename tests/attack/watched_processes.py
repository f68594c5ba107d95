"""Processes under attack: their silence, their memory, and whom they contact."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path

import httpx2

HOOK = Path(__file__).parent / "contacts"
_PAGE = os.sysconf("SC_PAGESIZE") if sys.platform == "linux" else 4096


@dataclass(frozen=True)
class Contacts:
    """The hosts that processes contacted, as their audit hooks wrote them down."""

    file: Path

    @property
    def environment(self) -> dict[str, str]:
        """The environment in which a process writes down whom it contacts."""
        path = os.pathsep.join(filter(None, (str(HOOK), os.environ.get("PYTHONPATH"))))
        return {**os.environ, "PYTHONPATH": path, "CONTACTS": str(self.file), "PYTHONUNBUFFERED": "1"}

    def hosts(self) -> set[str]:
        """All of them."""
        lines = self.file.read_text().splitlines() if self.file.exists() else []
        return {line.split(" ", 2)[2] for line in lines}

    def outside(self) -> set[str]:
        """Those that are not this machine."""
        return {host for host in self.hosts() if not _is_this_machine(host)}


def _is_this_machine(host: str) -> bool:
    try:
        address = ip_address(host.strip("[]"))
    except ValueError:
        return host in ("localhost", "None", "")
    return address.is_loopback or address.is_unspecified


def children(process: int) -> list[int]:
    """The processes that a process started, and those that they started."""
    found: list[int] = []
    # A process may end at any moment, also while its folder is listed.
    with suppress(OSError):
        for file in Path(f"/proc/{process}/task").glob("*/children"):
            with suppress(OSError):
                found += map(int, file.read_text().split())
    return [*found, *(grandchild for child in found for grandchild in children(child))]


def resident(process: int) -> int:
    """Bytes that a process holds in memory; 0 if it has ended."""
    try:
        return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * _PAGE
    except (OSError, IndexError):
        return 0


def native_contacts(process: int) -> Iterator[str]:
    """Addresses outside this machine to which a process has a connection now, whatever code opened it."""
    own: set[str] = set()
    with suppress(OSError):
        for handle in Path(f"/proc/{process}/fd").iterdir():
            with suppress(OSError):
                own.update(re.findall(r"socket:\[(\d+)\]", os.readlink(handle)))
    for table in ("tcp", "tcp6", "udp", "udp6"):
        with suppress(OSError):
            for line in Path(f"/proc/{process}/net/{table}").read_text().splitlines()[1:]:
                fields = line.split()
                remote = fields[2].partition(":")[0]
                if fields[9] in own and not _is_local(remote):
                    yield f"{table} {remote}"


def _is_local(remote: str) -> bool:
    """Whether an address of /proc/net is of this machine, or of a socket that is not connected."""
    words = [bytes.fromhex(remote[at : at + 8])[::-1] for at in range(0, len(remote), 8)]
    address = ip_address(b"".join(words))
    mapped = getattr(address, "ipv4_mapped", None) or address
    return mapped.is_loopback or mapped.is_unspecified


class Service:
    """A service that is asked for its health all the time, and that can be killed and started again."""

    def __init__(self, state: Path, contacts: Contacts, *options: str) -> None:
        self._command = [
            sys.executable, "-m", "vericite", "serve", "--port", "0",
            "--set", "service.rate=1000000", "--set", f"service.state={state}",
            *options,
        ]  # fmt: skip
        self._contacts = contacts
        self.silence, self.memory, self.with_children = 0.0, 0, 0
        self.native: set[str] = set()
        self._start()
        self._away = threading.Lock()
        self._done = threading.Event()
        self._watch = threading.Thread(target=self._look)
        self._watch.start()

    def _start(self) -> None:
        self.process = subprocess.Popen(
            self._command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=self._contacts.environment
        )
        assert self.process.stdout is not None
        self.port = int(self.process.stdout.readline().split("/")[2].rpartition(":")[2])
        self.process.stdout.close()
        self.address = f"http://127.0.0.1:{self.port}"
        end = time.monotonic() + 120
        while not self._is_ready():
            assert time.monotonic() < end
            time.sleep(0.2)

    def _is_ready(self) -> bool:
        try:
            return httpx2.get(f"{self.address}/readyz", timeout=60).status_code == 200
        except httpx2.TransportError:
            return False

    def _look(self) -> None:
        looked = 0.0
        while not self._done.wait(0.1):
            with self._away:
                began = time.monotonic()
                assert httpx2.get(f"{self.address}/healthz", timeout=120).status_code == 200
                self.silence = max(self.silence, time.monotonic() - began)
                own, others = self.process.pid, children(self.process.pid)
                self.memory = max(self.memory, resident(own))
                self.with_children = max(self.with_children, sum(map(resident, [own, *others])))
                if time.monotonic() - looked > 1:
                    # Less often: with many connections it takes some hundredths of a second.
                    looked = time.monotonic()
                    for process in (own, *others):
                        self.native.update(native_contacts(process))

    def kill_and_restart(self) -> None:
        """End the process as a power cut would, and start another with the same state."""
        with self._away:
            self.process.kill()
            self.process.wait(10)
            self._start()

    def look_away(self) -> None:
        """Ask for its health no more."""
        self._done.set()
        self._watch.join()

    def close(self) -> None:
        """End it, whatever it does."""
        self.look_away()
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(10)


class LabelServer:
    """A server of pages for annotators, with the labels that it acknowledged."""

    def __init__(self, sample: Path, folder: Path, contacts: Contacts) -> None:
        self.folder = folder
        self.items = [json.loads(line)["item"] for line in sample.read_text().splitlines()]
        self._command = [
            sys.executable, "-m", "vericite", "annotate", "serve", str(sample), "--out", str(folder), "--port", "0",
            "--rater", "ann", "--rater", "ben",
        ]  # fmt: skip
        self._contacts = contacts
        self.acknowledged: dict[tuple[str, str], str] = {}
        self._start()

    def _start(self) -> None:
        self.process = subprocess.Popen(
            self._command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=self._contacts.environment
        )
        assert self.process.stdout is not None
        lines = (self.process.stdout.readline() for _ in range(2))
        self.pages = dict(line.strip().split(": ", 1) for line in lines)
        self.process.stdout.close()

    def second(self) -> subprocess.CompletedProcess[str]:
        """What becomes of a second server on the same folder."""
        environment = self._contacts.environment
        return subprocess.run(self._command, capture_output=True, text=True, timeout=60, env=environment)

    def send(self, rater: str, item: str, label: str) -> None:
        """Send a label, and keep in mind what was acknowledged."""
        body = json.dumps({"item": item, "rater": rater, "label": label})
        reply = httpx2.post(f"{self.pages[rater]}/labels", content=body, timeout=60)
        assert (reply.status_code, reply.text) == (200, "kept")
        self.acknowledged[rater, item] = label

    def kill_and_restart(self) -> None:
        """End the process as a power cut would, and start another with the same folder."""
        self.close()
        self._start()

    def on_disk(self) -> dict[tuple[str, str], str]:
        """The labels in the folder, each once."""
        found: dict[tuple[str, str], str] = {}
        for rater in self.pages:
            file = self.folder / f"{rater}.jsonl"
            for line in file.read_text().splitlines() if file.exists() else ():
                record = json.loads(line)
                assert (rater, record["item"]) not in found
                found[rater, record["item"]] = record["label"]
        return found

    def close(self) -> None:
        """End it."""
        self.process.kill()
        self.process.wait(10)
