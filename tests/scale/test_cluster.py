"""How many workers fit, and errors of failed workers. Only the slow tests start Ray."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from test_stream import answers

from vericite.environment import THREADS
from vericite.errors import ClusterError, InputError, ModelError
from vericite.pipeline.plan import CheckPlan, ModelPlan
from vericite.scale import CheckWork, Parts, Workers, in_parts
from vericite.scale.cluster import WorkerPool, _Worker

WORK = CheckWork(check=CheckPlan(judge="lexical"), llm=ModelPlan(cache=False))


def machines(*resources: dict[str, float], dead: Sequence[dict[str, float]] = ()) -> Any:
    """A stand-in for Ray on such machines; it starts nothing."""
    nodes = [{"Alive": True, "Resources": machine} for machine in resources]
    nodes += [{"Alive": False, "Resources": machine} for machine in dead]

    def remote(_: type) -> Any:
        made = SimpleNamespace(remote=lambda *_: object())
        return SimpleNamespace(options=lambda **_: made)

    return SimpleNamespace(nodes=lambda: nodes, remote=remote)


def started(workers: Workers, ray: Any) -> int:
    return len(workers._start(ray, WORK))  # pyright: ignore[reportPrivateUsage]


@pytest.mark.parametrize(
    ("gpus", "there", "room"),
    [
        (0, [{"CPU": 3}], 3),
        (0.6, [{"CPU": 8, "GPU": 2}], 2),
        (0.5, [{"CPU": 8, "GPU": 2}], 4),
        (1 / 3, [{"CPU": 8, "GPU": 1}], 3),
        (0.1, [{"CPU": 80, "GPU": 1}], 10),
        (1, [{"CPU": 8, "GPU": 2}], 2),
        (2, [{"CPU": 8, "GPU": 3}, {"CPU": 8, "GPU": 1}], 1),
        (1, [{"CPU": 8}, {"CPU": 1, "GPU": 8}], 1),
    ],
)
def test_the_gpus_of_each_machine_limit_the_workers(gpus, there, room):
    ray = machines(*there, dead=[{"CPU": 64, "GPU": 8}])
    assert started(Workers(gpus=gpus), ray) == room
    with pytest.raises(InputError, match=f"room for {room + 1} workers .* found room for {room}"):
        started(Workers(count=room + 1, gpus=gpus), ray)


@pytest.mark.parametrize("gpus", [1.5, -1, 0.00001, float("nan"), float("inf")])
def test_impossible_numbers_of_gpus_are_refused(gpus):
    with pytest.raises(
        InputError, match=r"workers.gpus to be a share of one GPU, such as 0\.5, or a whole number; found"
    ):
        Workers(gpus=gpus)


def test_the_option_is_refused_before_anything_starts(run_cli, tmp_path):
    line = [
        "answers.jsonl",
        "--set",
        "workers.ray=local",
        "--out",
        str(tmp_path / "out.jsonl"),
        "--set",
        "workers.gpus=1.5",
    ]
    printed = run_cli("check", *line)
    assert printed.code == 2
    assert "share of one" in printed.err and "Traceback" not in printed.err


class RayError(Exception):
    pass


class RayTaskError(RayError):
    def __init__(self, cause: Exception) -> None:
        self.cause = cause


class ActorDied(RayError):
    actor_init_failed = False


def taking(raised: Exception) -> Callable[[], object]:
    """Take a part whose worker raised this error."""

    def get(_: object) -> None:
        raise raised

    exceptions = SimpleNamespace(RayError=RayError, RayTaskError=RayTaskError)
    ray = SimpleNamespace(get=get, exceptions=exceptions, wait=lambda refs, num_returns: (refs, []))
    pool = WorkerPool(ray, [SimpleNamespace(run=SimpleNamespace(remote=lambda _: "ref"))])
    pool.put(7, [b""])
    return pool.take


def test_errors_of_the_work_are_raised_unchanged():
    with pytest.raises(ModelError, match=r"^no weights$"):
        taking(RayTaskError(ModelError("no weights")))()
    with pytest.raises(ClusterError, match="do part 7; found ImportError"):
        taking(RayTaskError(ImportError("no library")))()


def test_a_worker_that_cannot_start_is_reported_with_its_cause():
    raised = ActorDied(
        "The actor died because of an error raised in its creation task, \x1b[36mray::_Worker.__init__()\x1b[39m\n"
        '  File "worker.py", line 1\nModuleNotFoundError: No module named \x1b[31mvericite\x1b[39m\n'
    )
    raised.actor_init_failed = True
    with pytest.raises(ClusterError) as told:
        taking(raised)()
    assert "expected a worker to start; found: ModuleNotFoundError: No module named vericite. " in str(told.value)
    assert "\x1b" not in str(told.value) and "memory" not in str(told.value)


def test_the_error_of_a_dead_worker_has_no_colour_codes():
    with pytest.raises(
        ClusterError, match=r"finish part 7 .* found that each worker died: gone\. It may need more mem"
    ):
        taking(ActorDied("\x1b[36mgone\x1b[39m\nmore"))()


def test_another_version_on_a_machine_is_reported_with_the_first_part(monkeypatch):
    # It sets this for its process.
    monkeypatch.setenv(THREADS, "1")
    worker = _Worker(WORK.model_dump_json(), 1, "0.0.0")
    with pytest.raises(ClusterError, match=r"expected vericite 0\.0\.0 on every machine; found"):
        worker.run([])


@pytest.mark.slow
def test_a_real_worker_without_its_model_reports_it(tmp_path: Path):
    pytest.importorskip("ray", reason="needs the extra [ray]")
    work = CheckWork(check=CheckPlan(judge=f"packed:{tmp_path}/none"), llm=ModelPlan(cache=False))
    with Parts(tmp_path / "parts", {}).open() as parts, pytest.raises(ModelError, match=f"{tmp_path}/none"):
        list(in_parts(answers(3), work, parts, Workers(count=1)))
