"""Commands that share work among workers, as the settings under ``workers`` say, and the workers' results."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

import typer
from pydantic import BaseModel

from vericite.cli.io import note, remark, show_as

if TYPE_CHECKING:
    from vericite.corpus.store.ahead import Readers
    from vericite.pipeline.plan import WorkersPlan
    from vericite.records import Answer
    from vericite.scale import AnswerWork, MadeAnswer, Workers

_Made = TypeVar("_Made", bound=BaseModel)


@contextmanager
def readers_of(plan: WorkersPlan) -> Generator[Readers | None]:
    """Yield the readers that work ahead of the writer; None without ``workers.ray`` and ``workers.count``.

    Raises:
        InputError: A setting is given that readers do not use.
    """
    from vericite.errors import InputError

    if idle := [f"workers.{name}" for name in ("gpus", "price") if getattr(plan, name) is not None]:
        raise InputError(f"expected no {' and '.join(idle)} for processes that read files; found one. Omit it.")
    if plan.ray is not None:
        from vericite.scale import Workers
        from vericite.scale.cluster import readers

        with readers(Workers(plan.ray, plan.count)) as found:
            yield found
    elif plan.count is not None:
        from vericite.corpus.store.ahead import local_readers

        with local_readers(plan.count) as found:
            yield found
    else:
        yield None


class Shared(NamedTuple):
    """The workers, the output, and the price of a worker per hour.

    If the output goes to a bucket, ``out`` is written first and then copied to ``address``.
    """

    workers: Workers
    out: Path
    price: float | None
    address: str | None = None


def local_copy(ctx: typer.Context, file: Path) -> Path:
    """Return the file; for an object in a bucket, a temporary copy with the same name.

    Raises:
        InputError: There is no such object, or the bucket cannot be reached.
    """
    from vericite.disk.bucket import bucket_address, split_address

    address = bucket_address(file)
    if address is None:
        return file
    objects, name = split_address(address)
    copy = _folder_for(ctx) / name
    objects.fetch(name, copy)
    show_as(copy, address)
    return copy


def _folder_for(ctx: typer.Context) -> Path:
    return Path(ctx.with_resource(TemporaryDirectory(prefix="vericite-")))


def shared_of(ctx: typer.Context, plan: WorkersPlan, out: Path | None) -> Shared | None:
    """Return the workers that Ray starts, or None without ``workers.ray``.

    Raises:
        InputError: A setting lacks another that it needs.
    """
    from vericite.disk.bucket import bucket_address, split_address
    from vericite.errors import InputError

    if plan.ray is None:
        if idle := [f"workers.{name}" for name, value in plan if value is not None]:
            raise InputError(
                f"expected workers.ray with {', '.join(idle)}; found none. Add --set workers.ray=local, or omit them."
            )
        return None
    if out is None:
        raise InputError("expected --out FILE with workers.ray, to store the workers' results; found none")
    from vericite.scale import Workers

    if plan.price is not None and plan.count is None:
        raise InputError("expected workers.count with workers.price; found none")
    able = Workers(plan.ray, plan.count, gpus=plan.gpus or 0)
    if address := bucket_address(out):
        return Shared(able, _folder_for(ctx) / split_address(address)[1], plan.price, address)
    return Shared(able, out, plan.price)


@dataclass(frozen=True)
class Making(Generic[_Made]):
    """What a command makes from an answer, and how it is counted.

    Attributes:
        kind: Type of the record in a worker's line.
        written: Returns the part of it that goes to ``--out``.
        count: Returns its number of units.
        unit: The units: ``citations``.
        stopped: The line for a stopped run, as for ``output``.
    """

    kind: type[_Made]
    written: Callable[[_Made], BaseModel]
    count: Callable[[_Made], int]
    unit: str
    stopped: str


def made_by(
    shared: Shared, work: AnswerWork, answers: Iterator[Answer], making: Making[_Made]
) -> Generator[tuple[MadeAnswer, _Made]]:
    """Yield the workers' results for the answers, in order, and write them to ``--out``."""
    from vericite.cli.io import output
    from vericite.disk.bucket import Objects, split_address
    from vericite.scale import Parts, in_parts

    address = shared.address
    place = Objects(f"{address}.parts") if address else shared.out.with_name(f"{shared.out.name}.parts")
    parts = Parts(place, work.settings())
    began, new, kept = time.monotonic(), 0, 0
    with parts.open():
        try:
            # With a bucket, the local file is temporary; the parts stay in the bucket.
            with output(shared.out, "" if address else making.stopped) as written:
                for made in in_parts(answers, work, parts, shared.workers):
                    record = making.kind.model_validate_json(made.line)
                    if written is not None:
                        written.add([making.written(record)])
                    new += making.count(record) if made.is_new else 0
                    kept += not made.is_new
                    yield made, record
            if address:
                objects, name = split_address(address)
                objects.put(shared.out, name)
        except BaseException:
            if parts.any:
                remark(f"finished parts are kept in {parts}; run the same command again to continue")
            raise
        # Held until now, so that no other run finds only half of them.
        parts.remove()
    note(_figures(shared, making.unit, new, time.monotonic() - began, kept))


def _figures(shared: Shared, unit: str, new: int, seconds: float, kept: int) -> str:
    count = shared.workers.count
    rate = new / max(seconds, 1e-9)
    line = f"{new:,} {unit} in {seconds:.0f} s with the start of the workers, {rate:.1f} a second"
    if kept:
        line += f"; {kept:,} answers were made by a stopped run"
    if shared.price is not None and count and rate:
        cost = shared.price * count / 3600 * 1e6 / rate
        line += f"; a million {unit} at {shared.price:g} per hour and worker: {cost:.2f}"
    return line
