"""``--ray``: the options of commands that workers can share, and what these make."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Generic, NamedTuple, TypeVar

import typer
from pydantic import BaseModel

from vericite.cli.io import note, remark, show_as

if TYPE_CHECKING:
    from vericite.corpus.store.ahead import Readers
    from vericite.pipeline.plan import WorkersPlan
    from vericite.records import Answer
    from vericite.scale import AnswerWork, MadeAnswer, Workers

_Made = TypeVar("_Made", bound=BaseModel)

_RAY = "Many processes or machines"
RayOption = Annotated[
    str | None,
    typer.Option(
        "--ray",
        help="Share the work among processes that Ray starts: local for this machine, auto for the cluster it belongs "
        "to, or a cluster's address. Needs --out and the extra \\[ray]; see the settings under workers. Run the same "
        "command again to go on with a run that was stopped.",
        metavar="ADDRESS",
        rich_help_panel=_RAY,
    ),
]
BuildRayOption = Annotated[
    str | None,
    typer.Option(
        "--ray",
        help="Have processes that Ray starts read the files: local, auto, or a cluster's address. All machines see the "
        "files under the same paths. Needs the extra \\[ray].",
        metavar="ADDRESS",
        rich_help_panel=_RAY,
    ),
]
BuildWorkersOption = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="Processes that read files, and make vectors, ahead of the one that writes: of this machine, or with "
        "--ray wherever there is room.",
        rich_help_panel=_RAY,
    ),
]


@contextmanager
def readers_of(ray: str | None, workers: int | None) -> Generator[Readers | None]:
    """Who reads files ahead of the writer; nobody where neither option is there."""
    if ray is not None:
        from vericite.scale import Workers
        from vericite.scale.cluster import readers

        with readers(Workers(ray, workers)) as found:
            yield found
    elif workers is not None:
        from vericite.corpus.store.ahead import local_readers

        with local_readers(workers) as found:
            yield found
    else:
        yield None


class Shared(NamedTuple):
    """Who shares the work, where its lines go, and what a worker costs an hour.

    Where they go into a bucket, ``out`` is written first, and then put where ``address`` says.
    """

    workers: Workers
    out: Path
    price: float | None
    address: str | None = None


def local_copy(ctx: typer.Context, file: Path) -> Path:
    """The file; of an object in a bucket a copy of the same name, which goes away with the command.

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


def shared_of(ctx: typer.Context, ray: str | None, plan: WorkersPlan, out: Path | None) -> Shared | None:
    """The workers of ``--ray`` as a value; None without it.

    Raises:
        InputError: A setting is there without the one that it needs.
    """
    from vericite.disk.bucket import bucket_address, split_address
    from vericite.errors import InputError

    if ray is None:
        if idle := [f"workers.{name}" for name, value in plan if value is not None]:
            raise InputError(f"expected --ray with {', '.join(idle)}; found none. Add --ray local, or leave it out.")
        return None
    if out is None:
        raise InputError("expected --out FILE with --ray, where what workers made is kept; found none")
    from vericite.scale import Workers

    if plan.price is not None and plan.count is None:
        raise InputError("expected workers.count with workers.price; found none")
    able = Workers(ray, plan.count, gpus=plan.gpus or 0)
    if address := bucket_address(out):
        return Shared(able, _folder_for(ctx) / split_address(address)[1], plan.price, address)
    return Shared(able, out, plan.price)


@dataclass(frozen=True)
class Making(Generic[_Made]):
    """What a command makes of an answer, and how it counts it.

    Attributes:
        kind: The record that a line of the workers is.
        written: What of it goes to ``--out``.
        count: How much it is, for the figures.
        unit: What is counted: ``citations``.
        stopped: The line for a run that is stopped, as for ``output``.
    """

    kind: type[_Made]
    written: Callable[[_Made], BaseModel]
    count: Callable[[_Made], int]
    unit: str
    stopped: str


def made_by(
    shared: Shared, work: AnswerWork, answers: Iterator[Answer], making: Making[_Made]
) -> Generator[tuple[MadeAnswer, _Made]]:
    """What the workers make of the answers, in order; it is written to ``--out`` as it comes."""
    from vericite.cli.io import output
    from vericite.disk.bucket import Objects, split_address
    from vericite.scale import Parts, in_parts

    address = shared.address
    beside = Objects(f"{address}.parts") if address else shared.out.with_name(f"{shared.out.name}.parts")
    parts = Parts(beside, work.settings())
    began, new, kept = time.monotonic(), 0, 0
    with parts.open():
        try:
            # What is beside a bucket's object goes away; its parts stay.
            with output(shared.out, "" if address else making.stopped) as written:
                for one in in_parts(answers, work, parts, shared.workers):
                    record = making.kind.model_validate_json(one.line)
                    if written is not None:
                        written.add([making.written(record)])
                    new += making.count(record) if one.is_new else 0
                    kept += not one.is_new
                    yield one, record
            if address:
                objects, name = split_address(address)
                objects.put(shared.out, name)
        except BaseException:
            if parts.any:
                remark(f"what is done is kept in {parts}; run the same command again to go on")
            raise
        # Held until now, so that no other run finds half of them.
        parts.remove()
    note(_figures(shared, making.unit, new, time.monotonic() - began, kept))


def _figures(shared: Shared, unit: str, new: int, seconds: float, kept: int) -> str:
    count = shared.workers.count
    rate = new / max(seconds, 1e-9)
    line = f"{new:,} {unit} in {seconds:.0f} s with the start of the workers, {rate:.1f} a second"
    if kept:
        line += f"; {kept:,} answers were there from a run that was stopped"
    if shared.price is not None and count and rate:
        line += (
            f"; a million {unit} at {shared.price:g} an hour a worker: {shared.price * count / 3600 * 1e6 / rate:.2f}"
        )
    return line
