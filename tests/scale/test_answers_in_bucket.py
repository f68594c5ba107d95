"""Answers and verdicts in a bucket are the same as those of one process with files."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from test_stream import WORK, Here, answers, as_the_command, made

from vericite.disk.bucket import Objects, bucket_address, split_address
from vericite.errors import ClusterError, InputError
from vericite.pipeline.check import check_many
from vericite.pipeline.plan import CheckPlan
from vericite.scale import CheckWork, Parts, in_parts

EXAMPLES = Path(__file__).parents[2] / "examples" / "answers.jsonl"
PLACE = "s3://made-bucket/runs/verdicts.jsonl.parts"
pytestmark = pytest.mark.usefixtures("bucket")


def keys(bucket: Any) -> list[str]:
    # pyarrow leaves an empty object that stands for a folder.
    return sorted(item.key for item in bucket.objects.all() if not item.key.endswith("/"))


def test_a_dead_run_continues_from_the_parts_in_the_bucket(bucket, tmp_path):
    given = answers(30)
    with pytest.raises(ClusterError):
        made(Objects(PLACE), given, Here(dies_at=4))
    assert sum(key.endswith(".jsonl") for key in keys(bucket)) == 4
    again = Here()
    found = made(Objects(PLACE), given, again)
    assert len(again.done) == 10 - 4
    assert [made_answer.line for made_answer in found] == [
        made_answer.line for made_answer in made(tmp_path / "folder", given, Here())
    ]


def test_an_incomplete_part_or_one_of_another_answer_is_done_again(bucket):
    given = answers(9)
    whole = [made_answer.line for made_answer in made(Objects(PLACE), given, Here())]
    name = next(key for key in keys(bucket) if key.endswith(".jsonl"))
    bucket.Object(name).put(Body=bucket.Object(name).get()["Body"].read()[:-1])
    given[4] = given[4].model_copy(update={"id": "another"})
    again = Here()
    found = [made_answer.line for made_answer in made(Objects(PLACE), given, again)]
    assert sorted(again.done) == [0, 1]
    assert found[:3] + found[6:] == whole[:3] + whole[6:]


def test_parts_of_other_settings_are_refused_and_only_parts_are_removed(bucket):
    made(Objects(PLACE), answers(3), Here())
    with pytest.raises(InputError, match="same settings"):
        made(Objects(PLACE), answers(3), Here(), CheckWork())
    bucket.Object("runs/verdicts.jsonl.parts/mine.txt").put(Body=b"kept")
    Parts(Objects(PLACE), {}).remove()
    assert keys(bucket) == ["runs/verdicts.jsonl.parts/mine.txt"]


def test_a_refusal_names_the_place_in_the_bucket(bucket):
    made(Objects(PLACE), answers(3), Here())
    with pytest.raises(InputError, match=f"expected {PLACE} to hold a distributed run"):
        made(Objects(PLACE), answers(3), Here(), CheckWork())
    bucket.Object("runs/verdicts.jsonl.parts/manifest.json").put(Body=b"{")
    with pytest.raises(InputError, match=f"manifest of a distributed run in {PLACE}/manifest.json; found invalid JSON"):
        made(Objects(PLACE), answers(3), Here())


def test_parts_of_other_settings_are_not_used_even_without_a_manifest(bucket):
    given = answers(9)
    made(Objects(PLACE), given, Here())
    bucket.Object("runs/verdicts.jsonl.parts/manifest.json").delete()
    again = Here()
    found = made(Objects(PLACE), given, again, CheckWork(check=CheckPlan(judge="lexical", abstain_below=0.9)))
    assert len(again.done) == 3 and all(made_answer.is_new for made_answer in found)


class Taken(Here):
    """Workers whose parts are removed by another run after they have done this many."""

    def __init__(self, parts: Parts, at: Sequence[int]) -> None:
        super().__init__()
        self._parts, self._at = parts, at

    def take(self) -> tuple[int, list[bytes]]:
        if len(self.done) in self._at:
            self._parts.remove()
        return super().take()


def test_parts_removed_by_another_run_are_done_again(bucket):
    parts, given = Parts(Objects(PLACE), WORK.settings()), answers(30)
    here = Taken(parts, [4])
    with parts.open():
        found = list(in_parts(given, WORK, parts, here, 3))  # pyright: ignore[reportArgumentType]
    assert len(here.done) > 10
    assert [made_answer.answer.id for made_answer in found] == [answer.id for answer in given]
    alone = [checked.model_dump_json() for checked in check_many(given, as_the_command())]
    assert [made_answer.line.decode() for made_answer in found] == alone
    assert found[-1].ready == 30 and all(made_answer.ready <= 30 for made_answer in found)


def test_parts_that_disappear_repeatedly_are_an_error_with_a_next_step(bucket):
    parts = Parts(Objects(PLACE), WORK.settings())
    parts.write = lambda name, lines: None
    with parts.open(), pytest.raises(InputError, match=r"s3://made-bucket.* disappeared twice.*one run"):
        list(in_parts(answers(9), WORK, parts, Here(), 3))  # pyright: ignore[reportArgumentType]


def test_two_runs_that_end_at_once_both_remove_their_parts(bucket):
    made(Objects(PLACE), answers(9), Here())
    one, other = (Parts(Objects(PLACE), WORK.settings()) for _ in range(2))
    names = other._keeping.names()  # pyright: ignore
    one.remove()
    other._keeping.names = lambda: names  # pyright: ignore
    other.remove()


def test_answers_in_a_bucket_are_checked_like_a_file(bucket, run_cli):
    bucket.upload_file(str(EXAMPLES), "given/answers.jsonl")
    here = run_cli("check", str(EXAMPLES), "--judge", "lexical", "--json")
    there = run_cli("check", "s3://made-bucket/given/answers.jsonl", "--judge", "lexical", "--json")
    assert here.code == there.code and here.out == there.out and '"citations"' in there.out


@pytest.mark.parametrize("command", ["check", "attribute"])
def test_errors_of_an_object_name_its_address(bucket, run_cli, command):
    good = EXAMPLES.read_bytes().splitlines()[0]
    for name, content in (("bad.jsonl", good + b"\n{\n"), ("twice.jsonl", good + b"\n" + good), ("none.jsonl", b"")):
        bucket.Object(name).put(Body=content)
        printed = run_cli(command, f"s3://made-bucket/{name}", *(["--judge", "lexical"] if command == "check" else []))
        assert f"s3://made-bucket/{name}" in printed.err
        assert "/vericite-" not in printed.err
    assert "/vericite-" not in run_cli(command, str(EXAMPLES.with_name("none.jsonl"))).err


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (["s3://made-bucket/none.jsonl"], "expected an object, s3://made-bucket/none.jsonl; found none"),
        (["s3://no-such-bucket/a.jsonl"], "s3://no-such-bucket/a.jsonl"),
        (["s3://made-bucket"], "expected the address of an object"),
        ([str(EXAMPLES), "--out", "s3://made-bucket/x.jsonl"], "without workers.ray; found s3://made-bucket/x.jsonl"),
        (
            ["s3://made-bucket/x.jsonl", "--out", "s3://made-bucket/x.jsonl", "--set", "workers.ray=local"],
            "expected --out and the input to be different files; found s3://made-bucket/x.jsonl for both",
        ),
    ],
)
@pytest.mark.parametrize("command", ["check", "attribute"])
def test_impossible_uses_of_a_bucket_are_errors(run_cli, command, line, told):
    printed = run_cli(command, *line)
    assert printed.code == 2
    assert told in " ".join(printed.err.split())


@pytest.mark.slow
@pytest.mark.parametrize("command", ["check", "attribute"])
def test_a_cluster_writes_the_same_bytes_to_a_bucket_as_one_process(bucket, tmp_path, command):
    pytest.importorskip("ray", reason="needs the extra [ray]")
    bucket.upload_file(str(EXAMPLES), "given/answers.jsonl")

    def run(file: str, out: str, *more: str) -> bytes:
        line = [sys.executable, "-m", "vericite", command, file, "--out", out, "--set", "llm.cache=false", *more]
        return subprocess.run(line, check=True, capture_output=True, env=os.environ, timeout=600).stdout

    one = run(str(EXAMPLES), str(tmp_path / "one.jsonl"))
    many = run("s3://made-bucket/given/answers.jsonl", "s3://made-bucket/out/many.jsonl", "--set", "workers.ray=local")
    assert one == many
    assert bucket.Object("out/many.jsonl").get()["Body"].read() == (tmp_path / "one.jsonl").read_bytes()
    assert keys(bucket) == ["given/answers.jsonl", "out/many.jsonl"]


@pytest.mark.parametrize(
    ("given", "found"),
    [
        (Path("s3://bucket/a/b.jsonl"), "s3://bucket/a/b.jsonl"),
        ("s3://bucket/a", "s3://bucket/a"),
        (Path("s3.jsonl"), None),
        (Path("/s3:/bucket"), None),
    ],
)
def test_an_address_is_recognized_after_a_path_removed_a_slash(given, found):
    assert bucket_address(given) == found


def test_an_address_is_split_into_place_and_name():
    objects, name = split_address("s3://bucket/a/b.jsonl")
    assert (objects.address, name) == ("s3://bucket/a", "b.jsonl")
    for wrong in ("s3://bucket", "s3://b", "s3://bucket/../x", "s3://UPPER/x"):
        with pytest.raises(InputError, match="expected"):
            split_address(wrong)
