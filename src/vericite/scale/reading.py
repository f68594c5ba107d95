# Ray's types are known only where it is installed, and it is in no lock of ours.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
"""Files of a store that is built, read by processes that Ray starts; the store itself is written by one process."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from vericite.corpus.store.ahead import Readers, Task, lines_of
from vericite.corpus.store.contract import StoreSourceFile
from vericite.errors import ClusterError, VeriCiteError
from vericite.models.engine import THREADS
from vericite.scale.cluster import RETRIES, Workers
from vericite.version import __version__


@contextmanager
def readers(workers: Workers) -> Generator[Readers]:
    """Processes that read files, each on whatever machine has room for it; all see the files under the same paths.

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
        ref = self._read.remote(str(path.resolve()), form, name, task.vectors, self._cpus, __version__)

        def lines() -> Iterable[bytes]:
            try:
                return self._ray.get(ref).splitlines()
            except self._ray.exceptions.RayTaskError as error:
                if isinstance(error.cause, VeriCiteError):
                    raise error.cause from None
                raise ClusterError(f"expected a worker to read {task.file.path}; found {error.cause!r:.500}") from None
            except self._ray.exceptions.RayError as error:
                found = str(error).strip().splitlines()[0][:300]
                raise ClusterError(
                    f"expected a worker to live through {task.file.path} in one of {RETRIES + 1} tries; found that "
                    f"each died: {found}. What is built stays; the same command goes on from there"
                ) from None

        return lines


def _read(path: str, format: str, name: str, vectors: bool, threads: int, version: str) -> bytes:
    """In a process of its own. The code and the models are those installed there."""
    if version != __version__:
        raise ClusterError(f"expected vericite {version} on every machine; found {__version__} on one")
    os.environ[THREADS] = str(threads)
    return b"\n".join(lines_of(Task(StoreSourceFile(Path(path), format, name), vectors)))
