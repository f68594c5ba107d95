# Ray's types are only known where it is installed, and it is in none of our lock files.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
"""Workers started by Ray, on this machine or a cluster, for answers and files. A worker that dies is restarted."""

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
"""Used in place of an address: a cluster on this machine only, which ends with the run."""

RETRIES = 4
"""How often to retry a part after its worker died. A part that kills every worker must not do so forever."""

QUEUE = 2
"""Parts that a worker holds at a time, so that the next one is ready when it finishes one."""

_STORE = 256 << 20
"""Bytes of shared memory for parts in transit on this machine. Ray's own default is a third of all memory."""


_SHARES = 10_000
"""Smallest fraction of a GPU that Ray can share, as a denominator."""

_COLOUR_CODES = re.compile(r"\x1b\[[0-9;]*m")


@dataclass(frozen=True)
class Workers:
    """Number, place and resources of worker processes.

    Attributes:
        address: ``local``, ``auto`` for the cluster on this machine, or an address that Ray knows.
        count: Number of workers. None: as many as the processors allow.
        cpus: Processors for each.
        gpus: GPUs for each: a share of one, or a whole number.

    Raises:
        InputError: The number of GPUs is invalid.
    """

    address: str = LOCAL
    count: int | None = None
    cpus: int = 1
    gpus: float = 0

    def __post_init__(self) -> None:
        is_share = self.gpus == 0 or 1 / _SHARES <= self.gpus <= 1
        if not is_share and not (self.gpus > 1 and float(self.gpus).is_integer()):
            raise InputError(
                "expected workers.gpus to be a share of one GPU, such as 0.5, or a whole number; found "
                f"{self.gpus:g}. Correct it."
            )

    @contextmanager
    def running(self, work: AnswerWork) -> Generator[WorkerPool]:
        """Connect, start the workers, and stop them at the end.

        Raises:
            MissingExtraError: Ray is not installed.
            InputError: There is no such cluster, it has too few resources, or VeriCite is offline.
        """
        with self.connected() as ray:
            yield WorkerPool(ray, self._start(ray, work))

    @contextmanager
    def connected(self) -> Generator[Any]:
        """Connect Ray to the cluster until the end.

        Raises:
            MissingExtraError: Ray is not installed.
            InputError: There is no such cluster, or VeriCite is offline.
        """
        if self.address == LOCAL:
            # On loopback, as Ray does on other systems: anyone who reaches a cluster can run anything on it.
            os.environ.setdefault("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")
            # Workers are the command itself, so they must not yield to other processes as is Ray's default.
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
                # Ray raises no class of its own here. It waits for itself for thirty seconds, whatever else runs.
                raise ClusterError(
                    f"expected Ray to start on this machine; found: {str(error)[:200]} Run the same command again when "
                    "the machine is less busy: finished parts are kept."
                ) from None
            return
        if offline_by_environment():
            raise InputError(f"expected workers.ray=local, since VeriCite is offline; found {self.address!r}")
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
                f"each; found room for {room}. Choose fewer, or add machines."
            )
        actor = ray.remote(_Worker).options(
            num_cpus=self.cpus, num_gpus=self.gpus, max_restarts=-1, max_task_retries=RETRIES
        )
        return [actor.remote(work.model_dump_json(), self.cpus, __version__) for _ in range(self.count or room)]

    def _room(self, there: Mapping[str, float]) -> int:
        """Return how many workers fit on a machine. Neither a worker nor its share of a GPU can be split."""
        room = int(there.get("CPU", 0) // self.cpus)
        if not self.gpus:
            return room
        gpus = int(there.get("GPU", 0))
        share = round(self.gpus * _SHARES)
        return min(room, gpus // int(self.gpus) if self.gpus > 1 else gpus * (_SHARES // share))


class WorkerPool:
    """Workers that take parts in any order, and return them as they finish."""

    def __init__(self, ray: Any, workers: Sequence[Any]) -> None:
        self._ray = ray
        self._workers = workers
        self._load = [0] * len(workers)
        self._running: dict[Hashable, tuple[int, int]] = {}

    def __len__(self) -> int:
        return len(self._workers)

    @property
    def is_full(self) -> bool:
        """Whether every worker holds as many parts as it can."""
        return min(self._load) >= QUEUE

    @property
    def is_idle(self) -> bool:
        """Whether no part is in progress."""
        return not self._running

    def put(self, number: int, answers: Sequence[bytes]) -> None:
        """Give a part to the least busy worker."""
        chosen = min(range(len(self._workers)), key=self._load.__getitem__)
        ref = self._workers[chosen].run.remote(list(answers))
        self._load[chosen] += 1
        self._running[ref] = (number, chosen)

    def take(self) -> tuple[int, list[bytes]]:
        """Wait for a part. Return its number and its lines.

        Raises:
            ClusterError: Its worker died repeatedly, or failed for a reason other than an answer.
            VeriCiteError: Raised by the work itself.
        """
        (ref, *_), _ = self._ray.wait(list(self._running), num_returns=1)
        number, worker = self._running.pop(ref)
        self._load[worker] -= 1
        what = f"part {number}"
        return number, _got(self._ray, ref, what, "It may need more memory; finished parts are kept.")


def _got(ray: Any, ref: Any, what: str, next_step: str) -> Any:
    """Return a worker's result, or raise the reason why there is none."""
    try:
        return ray.get(ref)
    except ray.exceptions.RayTaskError as error:
        cause = error.cause
        if isinstance(cause, VeriCiteError):
            raise cause from None
        raise ClusterError(f"expected a worker to do {what}; found {cause!r:.500}") from None
    except ray.exceptions.RayError as error:
        lines = _COLOUR_CODES.sub("", str(error)).strip().splitlines() or [type(error).__name__]
        if getattr(error, "actor_init_failed", False):
            # The cause is only in the text, in its last line.
            raise ClusterError(
                f"expected a worker to start; found: {lines[-1].strip()[:500]}. Check what is installed on its machine"
            ) from None
        found = lines[0][:300]
        raise ClusterError(
            f"expected a worker to finish {what} in {RETRIES + 1} tries; found that each worker died: {found}. "
            f"{next_step}"
        ) from None


class _Worker:
    """A worker in its own process."""

    def __init__(self, work: str, threads: int, version: str) -> None:
        self._work, self._version = work, version
        self._do: Do | None = None
        # Otherwise each worker would use all processors of its machine.
        os.environ[THREADS] = str(threads)

    def run(self, answers: list[bytes]) -> list[bytes]:
        """Return the lines of a part."""
        # Done with the first part, because Ray only reports a text for errors in the constructor.
        if self._do is None:
            _prepare(self._version)
            self._do = work_of(self._work).open()
        return lines_of(self._do, answers)


@contextmanager
def readers(workers: Workers) -> Generator[Readers]:
    """Return processes that read files for a store that is being built. The store itself is written by one process.

    Each reads on any machine with free resources; all must see the files under the same paths.

    Raises:
        MissingExtraError: Ray is not installed.
        InputError: There is no such cluster, or VeriCite is offline.
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
        kept = "What was built is kept; the same command continues from there."
        return lambda: _got(self._ray, ref, str(task.file.path), kept).splitlines()


def _read(path: str, format: str, name: str, vectors: bool, done: int, threads: int, version: str) -> bytes:
    """Read a file, in its own process."""
    from vericite.corpus.store.ahead import Task
    from vericite.corpus.store.ahead import lines_of as file_lines
    from vericite.corpus.store.contract import StoreSourceFile

    _prepare(version)
    os.environ[THREADS] = str(threads)
    return b"\n".join(file_lines(Task(StoreSourceFile(Path(path), format, name), vectors, done)))


def _prepare(version: str) -> None:
    """Prepare a worker's process: check its version, and keep it offline if the command is.

    Workers use the code and the models that are installed there; only plans, answers and paths are sent.
    """
    if offline_by_environment():
        hold_offline()
    if version != __version__:
        raise ClusterError(
            f"expected vericite {version} on every machine; found {__version__} on one. Install the same version there"
        )


def _package() -> Any:
    # Set before the import: otherwise Ray reports every start to its makers, and clears the variables that name GPUs.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    try:
        ray = import_module("ray")
        import_module("ray.exceptions")
    except ImportError:
        raise MissingExtraError("ray", "Working on many processes or machines") from None
    return ray
