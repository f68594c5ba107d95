from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vericite.disk.jobs import MANIFEST
from vericite.errors import EntrezAccessError, InputError
from vericite.llm import Ledger
from vericite.pipeline.ask import Pipeline
from vericite.pipeline.runs import FAILED, RUNS, EvidenceShown, RunFolder
from vericite.records import Answer, Document, Evidence, Question, Run, Spent, Trimmed
from vericite.text.citations import parse_answer

SETTINGS = {"k": 2, "parts": {"generator": "echo"}}
QUESTIONS = [Question(id=f"q{number}", text=f"Does aspirin help number {number}?") for number in range(6)]


class Same:
    signature = "same"

    def __init__(self, refused: Sequence[str] = ()) -> None:
        self._refused = refused

    def retrieve(self, question: Question, k: int) -> tuple[Evidence, ...]:
        if question.id in self._refused:
            raise InputError("expected a question with a word that is looked up; found none")
        document = Document.from_text("d", "Aspirin lowered fever in 40 adults.")
        return (Evidence(document=document, rank=1, score=1, retriever="same"),)


class Counting:
    """Answers every question alike, two at a time, and counts the questions it was asked."""

    signature = "counting"

    def __init__(self) -> None:
        self.asked: list[str] = []

    def generate(self, question: Question, evidence: Sequence[Evidence]) -> Answer:
        self.asked.append(question.id)
        documents = [hit.document for hit in evidence]
        answer = parse_answer(question.id, "Aspirin lowered fever in 40 adults [1].", documents, question.text)
        return answer.model_copy(update={"spent": Spent(calls=1, prompt_tokens=10, seconds=0.5, cost=0.25)})

    def generate_many(self, asked: Iterable[tuple[Question, Sequence[Evidence]]]) -> Iterator[Answer]:
        waiting: list[tuple[Question, Sequence[Evidence]]] = []
        for each in asked:
            waiting.append(each)
            if len(waiting) == 2:
                yield self.generate(*waiting.pop(0))
        for each in waiting:
            yield self.generate(*each)


def carried_out(folder: RunFolder, made: Pipeline, most: int | None = None) -> list[str]:
    with folder.open(QUESTIONS) as left:
        runs = made.run_many(left)
        for number, run in enumerate(runs):
            if number == most:
                raise KeyboardInterrupt
            folder.add(run)
    return [run.question.id for run in folder.runs()]


def pipeline(generator: Counting | None = None, refused: Sequence[str] = ()) -> Pipeline:
    return Pipeline(Same(refused), generator or Counting(), "default", "lexical")


def plain(runs: Iterable[Run]) -> list[Run]:
    return [run.model_copy(update={"seconds": {}}) for run in runs]


@settings(max_examples=15, deadline=None)
@given(st.lists(st.integers(0, 5), max_size=3), st.integers(0, 400))
def test_a_run_that_was_stopped_and_continued_equals_an_uninterrupted_one(
    tmp_path_factory: pytest.TempPathFactory, stops: list[int], torn: int
):
    whole = RunFolder(tmp_path_factory.mktemp("whole") / "run", SETTINGS)
    carried_out(whole, pipeline())
    place = tmp_path_factory.mktemp("stopped") / "run"
    generator = Counting()
    for stop in stops:
        before = {run.question.id for run in RunFolder(place, SETTINGS).runs()}
        generator.asked.clear()
        try:
            carried_out(RunFolder(place, SETTINGS), pipeline(generator), stop)
        except KeyboardInterrupt:
            # As a kill in the middle of a line would leave it.
            if (path := place / RUNS).exists():
                with path.open("ab") as file:
                    file.write(b'{"question": {"id": "q9"'[:torn])
        assert before.isdisjoint(generator.asked)
    folder = RunFolder(place, SETTINGS)
    assert carried_out(folder, pipeline()) == [question.id for question in QUESTIONS]
    assert plain(folder.runs()) == plain(whole.runs())


def test_the_manifest_has_what_each_answer_took(tmp_path: Path):
    carried_out(RunFolder(tmp_path / "run", SETTINGS), pipeline())
    manifest = json.loads((tmp_path / "run" / MANIFEST).read_text())
    assert (manifest["answers"], manifest["failed"], manifest["finished"]) == (6, 0, True)
    assert manifest["settings"] == SETTINGS
    assert manifest["dollars"] == pytest.approx(1.5)
    assert manifest["dollars_an_answer"] == pytest.approx(0.25)
    assert manifest["seconds_an_answer"]["generate"] == pytest.approx(0.5)
    assert manifest["spent"]["prompt_tokens"] == 60
    assert {"retrieve", "verify"} <= manifest["seconds"].keys()


def test_a_manifest_of_a_run_gone_on_with_counts_what_was_done_before(tmp_path: Path):
    with pytest.raises(KeyboardInterrupt):
        carried_out(RunFolder(tmp_path / "run", SETTINGS), pipeline(), 4)
    carried_out(RunFolder(tmp_path / "run", SETTINGS), pipeline())
    manifest = json.loads((tmp_path / "run" / MANIFEST).read_text())
    assert (manifest["answers"], manifest["dollars"]) == (6, pytest.approx(1.5))


def test_a_question_that_cannot_be_searched_for_costs_itself_alone_and_no_call(tmp_path: Path):
    generator = Counting()
    folder = RunFolder(tmp_path / "run", SETTINGS)
    assert carried_out(folder, pipeline(generator, ["q0", "q3", "q5"])) == [question.id for question in QUESTIONS]
    assert generator.asked == ["q1", "q2", "q4"]
    failed = {run.question.id: run.answer.failed for run in folder.runs() if run.answer.failed}
    assert set(failed) == {"q0", "q3", "q5"}
    assert all("expected a question with a word" in (problem or "") for problem in failed.values())


def test_questions_that_failed_are_asked_again(tmp_path: Path):
    carried_out(RunFolder(tmp_path / "run", SETTINGS), pipeline(refused=["q1"]))
    generator = Counting()
    folder = RunFolder(tmp_path / "run", SETTINGS)
    carried_out(folder, pipeline(generator))
    assert generator.asked == ["q1"]
    assert not [run for run in folder.runs() if run.answer.failed]


def test_a_folder_takes_runs_of_one_kind_only(tmp_path: Path):
    carried_out(RunFolder(tmp_path / "run", SETTINGS), pipeline())
    with pytest.raises(InputError, match=r"found another k: 2 there, 3 now\. Choose another place"):
        carried_out(RunFolder(tmp_path / "run", {**SETTINGS, "k": 3}), pipeline())


def test_a_folder_of_something_else_is_left_alone(tmp_path: Path):
    (tmp_path / "thesis.tex").write_text("mine")
    with pytest.raises(InputError, match=r"found .* with thesis\.tex in it"):
        carried_out(RunFolder(tmp_path, SETTINGS), pipeline())
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (b"[]", "JSON without the settings of a job"),
        (b"{}", "JSON without the settings of a job"),
        (b'{"settings": 1}', "JSON without the settings of a job"),
        (b'{"settings": {}', "invalid JSON at line 1, column 16"),
        (b"", "invalid JSON at line 1, column 1"),
        (b"\xff", "text that is not UTF-8"),
    ],
)
def test_an_invalid_manifest_is_an_error(tmp_path: Path, content: bytes, found: str):
    (tmp_path / MANIFEST).write_bytes(content)
    with pytest.raises(InputError, match="expected the manifest of a run") as caught:
        carried_out(RunFolder(tmp_path, SETTINGS), pipeline())
    assert f"found {found}. " in str(caught.value) and "Error" not in str(caught.value)


def test_two_processes_do_not_write_into_one_folder(tmp_path: Path):
    folder = RunFolder(tmp_path / "run", SETTINGS)
    with (
        folder.open(QUESTIONS),
        pytest.raises(InputError, match="another process is at work there"),
        RunFolder(tmp_path / "run", SETTINGS).open(QUESTIONS),
    ):
        pass


def test_an_answer_of_unknown_cost_makes_the_total_unknown(tmp_path: Path):
    class Free(Counting):
        def generate(self, question: Question, evidence: Sequence[Evidence]) -> Answer:
            answer = super().generate(question, evidence)
            return answer.model_copy(update={"spent": Spent(calls=1)}) if question.id == "q2" else answer

    carried_out(RunFolder(tmp_path / "run", SETTINGS), pipeline(Free()))
    manifest = json.loads((tmp_path / "run" / MANIFEST).read_text())
    assert manifest["dollars"] is None
    assert manifest["dollars_an_answer"] is None


def test_another_text_under_an_id_that_is_there_is_refused(tmp_path: Path):
    carried_out(RunFolder(tmp_path / "run", SETTINGS), pipeline())
    other = Question(id="q3", text="Does ibuprofen help?")
    with (
        pytest.raises(InputError, match=r"'Does aspirin help number 3\?' there, 'Does ibuprofen help\?' now"),
        RunFolder(tmp_path / "run", SETTINGS).open([other]),
    ):
        pass


def test_runs_without_a_manifest_are_not_ours_to_change(tmp_path: Path):
    (tmp_path / RUNS).write_text("mine\n")
    with pytest.raises(InputError, match=r"with runs\.jsonl in it"):
        carried_out(RunFolder(tmp_path, SETTINGS), pipeline())
    assert (tmp_path / RUNS).read_text() == "mine\n"


def test_a_bad_line_that_no_kill_explains_is_reported_and_kept(tmp_path: Path):
    carried_out(RunFolder(tmp_path, SETTINGS), pipeline())
    first, *others = (tmp_path / RUNS).read_text().splitlines(keepends=True)
    (tmp_path / RUNS).write_text("".join([first, '{"mine": 1}\n', *others]))
    before = (tmp_path / RUNS).read_bytes()
    with pytest.raises(InputError, match=r"runs\.jsonl, line 2"):
        carried_out(RunFolder(tmp_path, SETTINGS), pipeline())
    assert (tmp_path / RUNS).read_bytes() == before


def test_other_files_next_to_a_manifest_are_not_touched(tmp_path: Path):
    carried_out(RunFolder(tmp_path, SETTINGS), pipeline())
    (tmp_path / "notes.txt").write_text("mine")
    assert len(carried_out(RunFolder(tmp_path, SETTINGS), pipeline())) == len(QUESTIONS)
    assert (tmp_path / "notes.txt").read_text() == "mine"


def test_a_stopped_run_has_what_was_spent_in_its_manifest(tmp_path: Path):
    with pytest.raises(KeyboardInterrupt):
        carried_out(RunFolder(tmp_path, SETTINGS), pipeline(), 4)
    manifest = json.loads((tmp_path / MANIFEST).read_text())
    assert (manifest["answers"], manifest["finished"], manifest["dollars"]) == (4, False, pytest.approx(1.0))


def test_what_failed_answers_took_is_not_lost_when_they_are_asked_again(tmp_path: Path):
    class Failing(Counting):
        def generate(self, question: Question, evidence: Sequence[Evidence]) -> Answer:
            answer = super().generate(question, evidence)
            empty = {"text": "", "claims": (), "failed": "the reply was empty"}
            return answer.model_copy(update=empty) if question.id == "q2" else answer

    carried_out(RunFolder(tmp_path, SETTINGS), pipeline(Failing()))
    carried_out(RunFolder(tmp_path, SETTINGS), pipeline())
    carried_out(RunFolder(tmp_path, SETTINGS), pipeline())
    manifest = json.loads((tmp_path / MANIFEST).read_text())
    assert (manifest["answers"], manifest["failed"], manifest["dollars"]) == (6, 0, pytest.approx(7 * 0.25))
    assert len((tmp_path / FAILED).read_text().splitlines()) == 1


def test_what_all_language_models_were_asked_adds_up_over_processes(tmp_path: Path):
    for calls in (3, 4):
        with RunFolder(
            tmp_path, SETTINGS, lambda calls=calls: Ledger(calls=calls, cost=0.5, answered_as=("b", f"m{calls}"))
        ).open(QUESTIONS):
            pass
    manifest = json.loads((tmp_path / MANIFEST).read_text())
    assert (manifest["language_models"]["calls"], manifest["dollars"]) == (7, pytest.approx(1.0))
    assert manifest["language_models"]["answered_as"] == ["b", "m3", "m4"]


def test_a_pipeline_counts_a_model_that_several_stages_share_once(monkeypatch: pytest.MonkeyPatch):
    made, shared = pipeline(), Ledger(calls=2, cost=0.5)
    assert made.ledger is None
    monkeypatch.setattr(made.generator, "ledger", shared, raising=False)
    # The lexical judge is shared by all tests.
    monkeypatch.setattr(made.verifier.judge, "ledger", shared, raising=False)
    assert made.ledger == shared
    monkeypatch.setattr(made.verifier.judge, "ledger", Ledger(calls=1, cost=None), raising=False)
    assert made.ledger == Ledger(calls=3, cost=None)


def test_an_error_under_which_every_search_fails_ends_the_run():
    class Blocked(Same):
        def retrieve(self, question: Question, k: int) -> tuple[Evidence, ...]:
            raise EntrezAccessError("expected NCBI; found VERICITE_OFFLINE")

    with pytest.raises(EntrezAccessError):
        list(Pipeline(Blocked(), Counting(), "default", "lexical").run_many(QUESTIONS))


def test_a_generator_that_is_no_language_model_is_timed_too():
    class Plain:
        signature = "plain"

        def generate(self, question: Question, evidence: Sequence[Evidence]) -> Answer:
            return Answer(id=question.id, text="", claims=(), documents=(), question=question.text)

    runs = list(Pipeline(Same(), Plain(), "default", "lexical").run_many(QUESTIONS))
    assert all(run.seconds["generate"] > 0 for run in runs)


class Cutting(Counting):
    """Sees of each document nothing, as a model whose prompt is full."""

    def generate(self, question: Question, evidence: Sequence[Evidence]) -> Answer:
        trimmed = tuple(Trimmed(document=hit.document.id, shown=0, sentences=1) for hit in evidence)
        return super().generate(question, evidence).model_copy(update={"trimmed": trimmed})


def test_the_manifest_counts_failures_refusals_and_evidence_that_was_not_seen(tmp_path: Path):
    carried_out(RunFolder(tmp_path / "run", SETTINGS, plan={"search": {"k": 2}}), pipeline(Cutting(), ["q0"]))
    manifest = json.loads((tmp_path / "run" / MANIFEST).read_text())
    assert (manifest["answers"], manifest["failed"], manifest["finished"]) == (6, 1, True)
    assert manifest["plan"] == {"search": {"k": 2}}
    assert manifest["evidence"] == {"found": 5, "whole": 0, "in_part": 0, "left_out": 5}


def test_a_failed_question_counts_no_evidence_as_shown():
    (run,) = pipeline(Counting(), []).run_many(QUESTIONS[:1])
    assert EvidenceShown.of(run) == EvidenceShown(found=1)
    failed = run.model_copy(update={"answer": run.answer.model_copy(update={"failed": "the prompt is too long"})})
    assert EvidenceShown.of(failed) == EvidenceShown()
