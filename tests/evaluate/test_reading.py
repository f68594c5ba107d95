from __future__ import annotations

import json

import pytest

from vericite.errors import InputError
from vericite.evaluate.reading import read_gold, read_system, system_names

ANSWER = {"id": "q1", "answer": "Aspirin works [1].", "documents": [{"id": "d1", "text": "Aspirin works."}]}


def lines(path, *records):
    path.write_text("".join((it if isinstance(it, str) else json.dumps(it)) + "\n" for it in records))
    return path


def items(given, gold=None):
    return {item.id: item for item in given.system("it", gold).items}


def test_a_folder_brings_what_lies_beside_the_answers(tmp_path):
    lines(tmp_path / "answers.jsonl", ANSWER)
    lines(
        tmp_path / "labels.jsonl", {"id": "q1", "citations": [{"sentence": 0, "document": "d1", "label": "supports"}]}
    )
    lines(tmp_path / "scores.jsonl", {"id": "q1", "scores": {"bertscore_f": 0.5}})
    lines(tmp_path / "outputs.jsonl", {"id": "q1", "retrieved": ["d1", "d2"], "exact": [["yes"]]})
    found = items(read_system(tmp_path, {}))["q1"]
    assert found.answer.text == "Aspirin works [1]."
    assert found.labels.citations[0].label == "supports"
    assert (found.scores["bertscore_f"], found.ranked, found.exact) == (0.5, ("d1", "d2"), (("yes",),))


def test_a_question_without_an_answer_is_there_and_empty(tmp_path):
    gold, problems = read_gold(lines(tmp_path / "gold.jsonl", {"id": "q1"}, {"id": "q2", "ideal": ["Yes."]}))
    found = items(read_system(lines(tmp_path / "a.jsonl", ANSWER), {}), gold)
    assert not problems
    assert found["q2"].answer is None
    assert found["q2"].failed


def test_a_bad_line_and_an_id_used_twice_cost_themselves_alone(tmp_path):
    given = read_system(lines(tmp_path / "a.jsonl", ANSWER, "{", ANSWER, {**ANSWER, "id": "q2"}), {})
    assert sorted(given.answers) == ["q1", "q2"]
    assert ["one JSON" in str(it) or "came before" in str(it) for it in given.problems] == [True, True]


def test_verdicts_are_told_by_their_fields(tmp_path):
    import vericite

    checked = vericite.check("Aspirin works [1].", [{"id": "d1", "text": "Aspirin works."}], id="q1")
    given = read_system(lines(tmp_path / "x.jsonl", checked.model_dump_json()), {})
    assert items(given)["q1"].checked == checked


def test_a_pipeline_run_is_told_by_its_fields(tmp_path):
    import vericite

    run = vericite.ask("Does hydroxychloroquine reduce mortality in patients hospitalised with COVID-19?", k=3)
    found = items(read_system(lines(tmp_path / "x.jsonl", run.model_dump_json()), {}))[run.question.id]
    assert (found.answer, found.checked) == (run.answer, run.checked)
    assert found.ranked == tuple(hit.document.id for hit in run.evidence)


def test_trec_files_are_read_in_trecs_order(tmp_path):
    run = lines(tmp_path / "run.txt", "t1 Q0 b 1 2.5 me", "t1 Q0 a 2 2.5 me", "t1 Q0 c 3 9 me", "t1 Q0 d 4 nought me")
    given = read_system(run, {})
    # Of the same score the document that sorts last is first, as trec_eval has it.
    assert items(given)["t1"].ranked == ("c", "b", "a")
    assert len(given.problems) == 1
    gold, problems = read_gold(lines(tmp_path / "qrels.txt", "t1 0 a 2", "t1 0 b 0", "t2 0 a"))
    assert (dict(gold["t1"].documents), len(problems)) == ({"a": 2.0, "b": 0.0}, 1)


def test_questions_that_know_their_answer_are_gold(tmp_path):
    question = {"id": "q", "text": "Is it so?", "type": "yesno", "gold_exact": [["yes"]], "gold_documents": ["d"]}
    gold, _ = read_gold(lines(tmp_path / "gold.jsonl", question))
    assert (gold["q"].exact, dict(gold["q"].documents), gold["q"].type) == ((("yes",),), {"d": 1.0}, "yesno")


@pytest.mark.parametrize("content", ["", "not gold\n", '{"no": "id"}\n'])
def test_a_file_that_is_no_gold_says_what_was_expected(tmp_path, content):
    (tmp_path / "gold.jsonl").write_text(content)
    with pytest.raises(InputError, match="expected gold in"):
        read_gold(tmp_path / "gold.jsonl")


def test_an_empty_folder_says_what_was_expected(tmp_path):
    with pytest.raises(InputError, match=r"expected answers\.jsonl or verdicts\.jsonl"):
        read_system(tmp_path, {})


def test_systems_are_named_so_that_names_differ(tmp_path):
    for name in ("a/run", "b/run"):
        (tmp_path / name).mkdir(parents=True)
    assert system_names([tmp_path / "a/run", tmp_path / "b/run"]) == ["a/run", "b/run"]
    assert system_names([tmp_path / "a/run"]) == ["run"]
    assert system_names([tmp_path / "a", tmp_path / "a"]) == ["a (1)", "a (2)"]
