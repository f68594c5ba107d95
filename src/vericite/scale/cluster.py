# Ray's types are known only where it is installed, and it is in no lock of ours.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
"""Workers that Ray starts, here or on a cluster, for answers and for files; one that dies is started again."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Callable, Generator, Hashable, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vericite.environment import THREADS
from vericite.errors import ClusterError, InputError, MissingExtraError, VeriCiteError
from vericite.models.engine import available_cores
from vericite.network.access import offline_by_environment
from vericite.network.offline import hold_offline
from vericite.scale.work import AnswerWork, Do, lines_of, work_of
from vericite.version import __version__

if TYPE_CHECKING:
    from vericite.corpus.store.ahead import Readers, Task

LOCAL = "local"
"""In place of an address: a cluster of this machine alone, which ends with the run."""

RETRIES = 4
"""How often a part is tried again whose worker died: a part that kills every worker must not do so for ever."""

QUEUE = 2
"""Parts that a worker has at a time: the next one is there when it is done with one."""

_STORE = 256 << 20
"""Bytes of shared memory for parts on their way on this machine; by default Ray takes a third of it all."""


_SHARES = 10_000
"""In how many parts Ray shares out a GPU at most."""

_COLOURS = re.compile(r"\x1b\[[0-9;]*m")


@dataclass(frozen=True)
class Workers:
    """How many processes work, where, and what each takes.

    Attributes:
        address: ``local``, ``auto`` for the cluster of this machine, or an address that Ray knows.
        count: How many; None for as many as there are processors for.
        cpus: Processors that each takes.
        gpus: GPUs that each takes: a share of one, or some whole ones.

    Raises:
        InputError: There are no such GPUs.
    """

    address: str = LOCAL
    count: int | None = None
    cpus: int = 1
    gpus: float = 0

    def __post_init__(self) -> None:
        is_share = self.gpus == 0 or 1 / _SHARES <= self.gpus <= 1
        if not is_share and not (self.gpus > 1 and float(self.gpus).is_integer()):
            raise InputError(
                "expected the GPUs that a worker takes to be a share of one, as in 0.5, or a whole number; found "
                f"{self.gpus:g}. Correct workers.gpus."
            )

    @contextmanager
    def running(self, work: AnswerWork) -> Generator[WorkerPool]:
        """Connect, start the workers, and end them.

        Raises:
            MissingExtraError: Ray is not installed.
            InputError: There is no such cluster, it has no room for so many workers, or this is offline.
        """
        with self.connected() as ray:
            yield WorkerPool(ray, self._start(ray, work))

    @contextmanager
    def connected(self) -> Generator[Any]:
        """Ray, connected to the cluster until the end.

        Raises:
            MissingExtraError: Ray is not installed.
            InputError: There is no such cluster, or this is offline.
        """
        if self.address == LOCAL:
            # On loopback, as Ray does on other systems: who reaches a cluster can run what they like on it.
            os.environ.setdefault("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")
            # Workers do what the command was started for: by default they give way to all else on the machine.
            os.environ.setdefault("RAY_worker_niceness", "0")
        ray = _package()
        self._connect(ray)
        try:
            yield ray
        finally:
            ray.shutdown()

    def _connect(self, ray: Any) -> None:
        quiet = {"logging_level": logging.ERROR, "log_to_driver": False}
        if self.address == LOCAL:
            count = self.count or max(1, available_cores() // self.cpus)
            here = {"num_cpus": count * self.cpus, "_node_ip_address": "127.0.0.1", "include_dashboard": False}
            try:
                ray.init(address=LOCAL, object_store_memory=_STORE, **here, **quiet)
            except Exception as error:
                # Of no class of its own; it waits for itself for thirty seconds, whatever else runs.
                raise ClusterError(
                    f"expected Ray to start on this machine; found: {str(error)[:200]} Run the same command again when "
                    "the machine has less to do: what is done is kept."
                ) from None
            return
        if offline_by_environment():
            raise InputError(f"expected --ray local, because this is offline; found {self.address!r}")
        try:
            ray.init(address=self.address, **quiet)
        except (ConnectionError, ValueError, RuntimeError, OSError) as error:
            raise InputError(
                "expected the address of a Ray cluster, as in local, auto or 10.0.0.1:6379; found "
                f"{self.address!r:.200}: {str(error)[:200]}"
            ) from None

    def _start(self, ray: Any, work: AnswerWork) -> list[Any]:
        room = sum(self._room(machine["Resources"]) for machine in ray.nodes() if machine["Alive"])
        if not room or room < (self.count or 1):
            raise InputError(
                f"expected room for {self.count or 'some'} workers with {self.cpus} processors and {self.gpus:g} GPUs "
                f"each; found room for {room}. Name fewer, or add machines."
            )
        actor = ray.remote(_Worker).options(
            num_cpus=self.cpus, num_gpus=self.gpus, max_restarts=-1, max_task_retries=RETRIES
        )
        return [actor.remote(work.model_dump_json(), self.cpus, __version__) for _ in range(self.count or room)]

    def _room(self, there: Mapping[str, float]) -> int:
        """How many a machine has room for; none is spread over two, nor is the share of a GPU that one takes."""
        room = int(there.get("CPU", 0) // self.cpus)
        if not self.gpus:
            return room
        gpus = int(there.get("GPU", 0))
        share = round(self.gpus * _SHARES)
        return min(room, gpus // int(self.gpus) if self.gpus > 1 else gpus * (_SHARES // share))


class WorkerPool:
    """Workers that take parts in any order, and give them back as they are done."""

    def __init__(self, ray: Any, workers: Sequence[Any]) -> None:
        self._ray = ray
        self._workers = workers
        self._load = [0] * len(workers)
        self._running: dict[Hashable, tuple[int, int]] = {}

    def __len__(self) -> int:
        return len(self._workers)

    @property
    def is_full(self) -> bool:
        """Whether every worker has as many parts as it can take."""
        return min(self._load) >= QUEUE

    @property
    def is_idle(self) -> bool:
        """Whether nothing is on its way."""
        return not self._running

    def put(self, number: int, answers: Sequence[bytes]) -> None:
        """Give a part to the worker that has the least to do."""
        chosen = min(range(len(self._workers)), key=self._load.__getitem__)
        ref = self._workers[chosen].run.remote(list(answers))
        self._load[chosen] += 1
        self._running[ref] = (number, chosen)

    def take(self) -> tuple[int, list[bytes]]:
        """Wait for a part: its number and its lines.

        Raises:
            ClusterError: Its worker died again and again, or failed in a way that is no answer's fault.
            VeriCiteError: What the work itself raises.
        """
        (ref, *_), _ = self._ray.wait(list(self._running), num_returns=1)
        number, worker = self._running.pop(ref)
        self._load[worker] -= 1
        what = f"part {number}"
        return number, _got(self._ray, ref, what, "It may need more memory; the parts that are done are kept.")


def _got(ray: Any, ref: Any, what: str, next_step: str) -> Any:
    """What a worker made, or why it did not."""
    try:
        return ray.get(ref)
    except ray.exceptions.RayTaskError as error:
        cause = error.cause
        if isinstance(cause, VeriCiteError):
            raise cause from None
        raise ClusterError(f"expected a worker to do {what}; found {cause!r:.500}") from None
    except ray.exceptions.RayError as error:
        lines = _COLOURS.sub("", str(error)).strip().splitlines() or [type(error).__name__]
        if getattr(error, "actor_init_failed", False):
            # The cause is in the text alone: what is raised there comes last, after where it was.
            raise ClusterError(
                f"expected a worker to start; found: {lines[-1].strip()[:500]}. Look at what its machine has installed"
            ) from None
        found = lines[0][:300]
        raise ClusterError(
            f"expected a worker to live through {what} in one of {RETRIES + 1} tries; found that each died: {found}. "
            f"{next_step}"
        ) from None


class _Worker:
    """In a process of its own."""

    def __init__(self, work: str, threads: int, version: str) -> None:
        self._work, self._version = work, version
        self._do: Do | None = None
        # Each worker would else take all processors of its machine.
        os.environ[THREADS] = str(threads)

    def run(self, answers: list[bytes]) -> list[bytes]:
        """The lines of a part."""
        # With the first part, and not before: of what fails as a worker starts, Ray tells no more than a text.
        if self._do is None:
            _prepare(self._version)
            self._do = work_of(self._work).open()
        return lines_of(self._do, answers)


@contextmanager
def readers(workers: Workers) -> Generator[Readers]:
    """Processes that read files of a store that is built; the store itself is written by one process.

    Each reads on whatever machine has room for it; all see the files under the same paths.

    Raises:
        MissingExtraError: Ray is not installed.
        InputError: There is no such cluster, or this is offline.
    """
    with workers.connected() as ray:
        count = workers.count or max(1, int(ray.cluster_resources().get("CPU", 0) // workers.cpus))
        yield _RayReaders(ray, count, workers.cpus)


class _RayReaders:
    def __init__(self, ray: Any, count: int, cpus: int) -> None:
        self._ray, self.count, self._cpus = ray, count, cpus
        self._read = ray.remote(_read).options(num_cpus=cpus, max_retries=RETRIES)

    def start(self, task: Task) -> Callable[[], Iterable[bytes]]:
        path, form, name = task.file
        ref = self._read.remote(str(path.resolve()), form, name, task.vectors, task.done, self._cpus, __version__)
        kept = "What is built stays; the same command goes on from there."
        return lambda: _got(self._ray, ref, str(task.file.path), kept).splitlines()


def _read(path: str, format: str, name: str, vectors: bool, done: int, threads: int, version: str) -> bytes:
    """In a process of its own."""
    from vericite.corpus.store.ahead import Task
    from vericite.corpus.store.ahead import lines_of as file_lines
    from vericite.corpus.store.contract import StoreSourceFile

    _prepare(version)
    os.environ[THREADS] = str(threads)
    return b"\n".join(file_lines(Task(StoreSourceFile(Path(path), format, name), vectors, done)))


def _prepare(version: str) -> None:
    """Prepare a worker's process: check its version, and hold it offline if the command is.

    The code and the models are those installed there; only plans, answers and paths are sent.
    """
    if offline_by_environment():
        hold_offline()
    if version != __version__:
        raise ClusterError(
            f"expected vericite {version} on every machine; found {__version__} on one. Install the same one there"
        )


def _package() -> Any:
    # Before it is imported: it would tell its makers of every start, and empty the variables that name GPUs.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    try:
        ray = import_module("ray")
        import_module("ray.exceptions")
    except ImportError:
        raise MissingExtraError("ray", "Working on many processes or machines") from None
    return ray
