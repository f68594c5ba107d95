"""Parts are read in order, whichever worker finishes them when; without Ray."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from vericite.attribution.registry import load_attributor
from vericite.disk.bucket import Objects
from vericite.errors import ClusterError, InputError
from vericite.formats import answers_in
from vericite.pipeline.build import judge_of, protocol_of, settings_of
from vericite.pipeline.check import check_many
from vericite.pipeline.plan import CheckPlan, ModelPlan
from vericite.records import Answer
from vericite.scale import AnswerWork, AttributeWork, CheckWork, MadeAnswer, Parts, in_parts
from vericite.scale.stream import part_name
from vericite.scale.work import lines_of, work_of
from vericite.verify import verifier
from vericite.verify.protocol import Protocol

WORK = CheckWork(check=CheckPlan(judge="lexical"), llm=ModelPlan(cache=False))
EXAMPLES = Path(__file__).parents[2] / "examples" / "answers.jsonl"


class Here:
    """Workers in this process that return parts in the worst order: the last one first."""

    def __init__(self, dies_at: int | None = None) -> None:
        self.done: list[int] = []
        self._dies_at = dies_at
        self._queue: list[tuple[int, list[bytes]]] = []

    @contextmanager
    def running(self, work: AnswerWork) -> Iterator[Here]:
        self._do = work_of(work.model_dump_json()).open()
        yield self

    def __len__(self) -> int:
        return 2

    @property
    def is_full(self) -> bool:
        return len(self._queue) >= 4

    @property
    def is_idle(self) -> bool:
        return not self._queue

    def put(self, number: int, answers: Sequence[bytes]) -> None:
        self._queue.append((number, list(answers)))

    def take(self) -> tuple[int, list[bytes]]:
        number, answers = self._queue.pop()
        if len(self.done) == self._dies_at:
            raise ClusterError("expected a worker to finish")
        self.done.append(number)
        return number, lines_of(self._do, answers)


def answers(count: int) -> list[Answer]:
    (first, *_) = (item for item in answers_in(EXAMPLES) if isinstance(item, Answer))
    return [first.model_copy(update={"id": f"a{number}"}) for number in range(count)]


def as_the_command() -> Protocol:
    return protocol_of(WORK.check, judge_of(WORK.check, settings_of(WORK.llm)))


def made(
    folder: Path | Objects, given: Sequence[Answer], here: Here, work: AnswerWork = WORK, at_once: int = 3
) -> list[MadeAnswer]:
    with Parts(folder, work.settings()).open() as parts:
        return list(in_parts(given, work, parts, here, at_once))  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("count", [0, 1, 3, 20, 100])
def test_lines_are_in_the_order_of_the_answers_as_from_one_process(tmp_path: Path, count: int):
    given, here = answers(count), Here()
    found = made(tmp_path / "parts", given, here)
    alone = [checked.model_dump_json() for checked in check_many(given, as_the_command())]
    assert [made_answer.line.decode() for made_answer in found] == alone
    assert [made_answer.answer.id for made_answer in found] == [answer.id for answer in given]
    assert here.done != sorted(here.done) or count <= 3


def test_attributions_are_those_of_one_process(tmp_path: Path):
    given, work = answers(7), AttributeWork(by="random")
    found = [made_answer.line.decode() for made_answer in made(tmp_path / "parts", given, Here(), work)]
    assert found == [attribution.model_dump_json() for attribution in load_attributor("random").attributions(given)]


def test_finished_parts_of_a_dead_run_are_not_done_again(tmp_path: Path):
    given = answers(30)
    with pytest.raises(ClusterError):
        made(tmp_path / "parts", given, Here(dies_at=4))
    again = Here()
    found = made(tmp_path / "parts", given, again)
    assert len(again.done) == 10 - 4
    assert sum(made_answer.is_new for made_answer in found) == 18
    assert [made_answer.line for made_answer in found] == [
        made_answer.line for made_answer in made(tmp_path / "other", given, Here())
    ]


def test_an_incomplete_part_is_done_again(tmp_path: Path):
    given = answers(9)
    whole = [made_answer.line for made_answer in made(tmp_path, given, Here())]
    first, second, third = sorted(tmp_path.glob("*.jsonl"))
    first.write_bytes(first.read_bytes()[:-1])
    second.write_bytes(b"".join(second.read_bytes().splitlines(keepends=True)[:-1]))
    third.unlink()
    again = Here()
    assert [made_answer.line for made_answer in made(tmp_path, given, again)] == whole
    assert len(again.done) == 3


def test_a_changed_answer_only_redoes_its_part(tmp_path: Path):
    given = answers(9)
    made(tmp_path, given, Here())
    given[4] = given[4].model_copy(update={"id": "another"})
    again = Here()
    assert json.loads(made(tmp_path, given, again)[4].line)["id"] == "another"
    assert again.done == [1]


def test_parts_of_other_settings_are_refused(tmp_path: Path):
    made(tmp_path, answers(3), Here())
    with pytest.raises(InputError, match="same settings"):
        made(tmp_path, answers(3), Here(), CheckWork(check=CheckPlan(judge="lexical", abstain_below=0.5)))


@pytest.mark.parametrize("by", ["verifier", "likeliest", "llm:ollama:none"])
def test_a_judge_that_asks_a_language_model_is_refused_for_every_attributor(by: str):
    judge = "bundled" if by.startswith("llm") else "llm:ollama:none"
    with pytest.raises(InputError, match=r"expected a judge that uses a processor with workers\.ray"):
        AttributeWork(by=by, check=CheckPlan(judge=judge), llm=ModelPlan(cache=False)).settings()


@pytest.mark.parametrize("changed", ["__version__", "SPLITTER", "LANGUAGE"])
def test_attributions_of_another_version_or_of_other_rules_of_text_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changed: str
):
    work = AttributeWork(by="verifier", check=CheckPlan(judge="lexical"))
    made(tmp_path, answers(3), Here(), work)
    monkeypatch.setattr(verifier, changed, "another")
    with pytest.raises(InputError, match=r"same settings; found another [a-z.]*(version|splitter|language): "):
        made(tmp_path, answers(3), Here(), work)


def test_a_second_process_is_refused(tmp_path: Path):
    with Parts(tmp_path, {}).open(), pytest.raises(InputError, match="only one"), Parts(tmp_path, {}).open():
        pass


def test_only_parts_are_removed(tmp_path: Path):
    folder = tmp_path / "parts"
    made(folder, answers(3), Here())
    (folder / "mine.txt").write_text("kept")
    Parts(folder, {}).remove()
    assert [file.name for file in folder.iterdir()] == ["mine.txt"]


@pytest.mark.parametrize("kept", range(6))
def test_a_run_killed_while_removing_parts_is_finished_by_the_same_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kept: int
):
    given, removed, unlink = answers(9), [], Path.unlink
    whole = [made_answer.line for made_answer in made(tmp_path, given, Here())]
    # In the order that a folder may give.
    names = ["manifest.json", ".lock", *sorted(file.name for file in tmp_path.glob("*-*.jsonl"))]
    parts = Parts(tmp_path, WORK.settings())
    parts._keeping.names = lambda: names  # pyright: ignore

    def dying(file: Path, missing_ok: bool = False) -> None:
        if len(removed) == kept:
            raise KeyboardInterrupt
        removed.append(file)
        unlink(file, missing_ok)

    with monkeypatch.context() as patched, suppress(KeyboardInterrupt):
        patched.setattr(Path, "unlink", dying)
        parts.remove()
    assert len(removed) == min(kept, 5)
    assert [made_answer.line for made_answer in made(tmp_path, given, Here())] == whole


def test_a_parts_name_depends_on_text_boundaries_and_settings():
    assert part_name(0, [b"ab", b"c"], {}) != part_name(0, [b"a", b"bc"], {})
    assert part_name(0, [b"a"], {"by": 1}) != part_name(0, [b"a"], {"by": 2})
    assert part_name(0, [b"a"], {"by": 1, "to": 2}) == part_name(0, [b"a"], {"to": 2, "by": 1})
