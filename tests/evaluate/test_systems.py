"""Systems read from files."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from vericite.corpus import load_documents
from vericite.errors import InputError, Problems
from vericite.evaluate.scoring import system_names
from vericite.evaluate.systems import read_gold, read_system, read_systems, verdict_mismatch
from vericite.formats import answers_in
from vericite.pipeline.check import check_many
from vericite.records import Answer, CheckedAnswer, Document
from vericite.text import parse_answer
from vericite.verify import get_protocol

ANSWER = {"id": "q1", "answer": "Aspirin works [1].", "documents": [{"id": "d1", "text": "Aspirin works."}]}


def lines(path, *records):
    path.write_text("".join((it if isinstance(it, str) else json.dumps(it)) + "\n" for it in records))
    return path


def items(given, gold=None):
    return {item.id: item for item in given.system("it", gold).items}


def test_files_next_to_the_answers_are_read(tmp_path):
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


def test_a_question_without_an_answer_becomes_an_empty_item(tmp_path):
    problems = Problems()
    gold = read_gold(lines(tmp_path / "gold.jsonl", {"id": "q1"}, {"id": "q2", "ideal": ["Yes."]}), problems)
    found = items(read_system(lines(tmp_path / "a.jsonl", ANSWER), {}), gold)
    assert not problems
    assert found["q2"].answer is None
    assert found["q2"].failed


def test_a_bad_line_and_a_repeated_id_are_skipped(tmp_path):
    given = read_system(lines(tmp_path / "a.jsonl", ANSWER, "{", ANSWER, {**ANSWER, "id": "q2"}), {})
    assert sorted(given.answers) == ["q1", "q2"]
    assert ["one JSON" in str(it) or "is repeated" in str(it) for it in given.problems] == [True, True]


def test_verdicts_are_recognized_by_their_fields(tmp_path):
    import vericite

    checked = vericite.check("Aspirin works [1].", [{"id": "d1", "text": "Aspirin works."}], id="q1")
    given = read_system(lines(tmp_path / "x.jsonl", checked.model_dump_json()), {})
    assert items(given)["q1"].checked == checked


def test_a_run_is_recognized_by_its_fields(tmp_path):
    import vericite

    source = "Zinc lozenges shortened the common cold by two days."
    run = vericite.ask("Does zinc shorten the common cold?", [source], judge="lexical")
    assert run.evidence
    found = items(read_system(lines(tmp_path / "x.jsonl", run.model_dump_json()), {}))[run.question.id]
    assert (found.answer, found.checked) == (run.answer, run.checked)
    assert found.ranked == tuple(hit.document.id for hit in run.evidence)


def test_trec_files_are_read_in_trecs_order(tmp_path):
    run = lines(tmp_path / "run.txt", "t1 Q0 b 1 2.5 me", "t1 Q0 a 2 2.5 me", "t1 Q0 c 3 9 me", "t1 Q0 d 4 nought me")
    given = read_system(run, {})
    # Of the same score the document that sorts last is first, as trec_eval has it.
    assert items(given)["t1"].ranked == ("c", "b", "a")
    assert len(given.problems) == 1
    problems = Problems()
    gold = read_gold(lines(tmp_path / "qrels.txt", "t1 0 a 2", "t1 0 b 0", "t2 0 a"), problems)
    assert (dict(gold["t1"].documents), len(problems)) == ({"a": 2.0, "b": 0.0}, 1)


def test_questions_with_gold_fields_are_gold(tmp_path):
    question = {"id": "q", "text": "Is it so?", "type": "yesno", "gold_exact": [["yes"]], "gold_documents": ["d"]}
    gold = read_gold(lines(tmp_path / "gold.jsonl", question), Problems())
    assert (gold["q"].exact, dict(gold["q"].documents), gold["q"].type) == ((("yes",),), {"d": 1.0}, "yesno")


@pytest.mark.parametrize("content", ["", "not gold\n", '{"no": "id"}\n'])
def test_a_file_without_gold_is_refused(tmp_path, content):
    (tmp_path / "gold.jsonl").write_text(content)
    with pytest.raises(InputError, match="expected gold in"):
        read_gold(tmp_path / "gold.jsonl", Problems())


def test_an_empty_folder_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"expected answers\.jsonl or verdicts\.jsonl"):
        read_system(tmp_path, {})


def test_systems_get_distinct_names(tmp_path):
    for name in ("a/run", "b/run", "llama-3.1-8b", "llama-3.1-70b"):
        (tmp_path / name).mkdir(parents=True)
    assert system_names([tmp_path / "llama-3.1-8b"]) == ["llama-3.1-8b"]
    both = [tmp_path / name / "answers.jsonl" for name in ("llama-3.1-8b", "llama-3.1-70b")]
    assert system_names(both) == ["llama-3.1-8b", "llama-3.1-70b"]
    assert system_names([tmp_path / "run-2.txt", tmp_path / "model-3.5"]) == ["run-2", "model-3.5"]
    assert system_names([tmp_path / "a/run", tmp_path / "b/run"]) == ["a/run", "b/run"]
    assert system_names([tmp_path / "a/run"]) == ["run"]
    assert system_names([tmp_path / "a", tmp_path / "a"]) == ["a (1)", "a (2)"]


def test_plain_answers_need_no_documents(tmp_path):
    answers = lines(tmp_path / "a.jsonl", {"id": "q1", "answer": "Yes. It works."}, {"id": "q2", "answer": 1})
    given = read_system(answers, {})
    assert [claim.text for claim in items(given)["q1"].answer.claims] == ["Yes.", "It works."]
    assert len(given.problems) == 1


def test_labels_and_vectors_with_unknown_ids_are_reported(tmp_path):
    lines(tmp_path / "answers.jsonl", ANSWER)
    lines(tmp_path / "labels.jsonl", {"id": "q1", "correct": [True]}, {"id": "q9", "correct": [True]})
    lines(tmp_path / "scores.jsonl", {"id": "q8", "scores": {"x": 1}})
    problems = Problems()
    read = read_systems([tmp_path], problems)
    assert [item.id for item in read.systems[0].items] == ["q1"]
    assert sorted((it.path.rpartition("/")[2], it.line) for it in problems) == [
        ("labels.jsonl", 2),
        ("scores.jsonl", 1),
    ]
    assert {path.name for path in read.paths} == {"answers.jsonl", "labels.jsonl", "scores.jsonl"}


def test_labels_alone_define_the_questions(tmp_path):
    given = read_system(tmp_path, {"labels": lines(tmp_path / "x.jsonl", {"id": "q1", "correct": [True]})})
    assert (list(items(given)), given.strays()) == (["q1"], [])


def test_a_ranking_alone_has_no_failed_answers(tmp_path):
    gold = read_gold(lines(tmp_path / "gold.jsonl", {"id": "t1"}, {"id": "t2"}), Problems())
    ranked = items(read_system(lines(tmp_path / "run.txt", "t1 Q0 a 1 2.5 me"), {}), gold)
    assert [item.failed for item in ranked.values()] == [None, None]
    answered = items(read_system(lines(tmp_path / "o.jsonl", {"id": "t1", "exact": [["yes"]]}), {}), gold)
    assert [bool(item.failed) for item in answered.values()] == [False, True]


def test_an_explicit_empty_ranking_is_kept(tmp_path):
    import vericite

    run = vericite.ask("Does hydroxychloroquine reduce mortality in patients hospitalised with COVID-19?", k=3)
    lines(tmp_path / "answers.jsonl", run.model_dump_json())
    lines(tmp_path / "outputs.jsonl", {"id": run.question.id, "retrieved": []})
    assert items(read_system(tmp_path, {}))[run.question.id].ranked == ()


def test_unusable_vectors_are_reported_and_skipped(tmp_path):
    lines(tmp_path / "answers.jsonl", ANSWER, {**ANSWER, "id": "q2"})
    vectors = np.ones((3, 2))
    vectors[1, 0] = np.nan
    np.savez(tmp_path / "features.npz", ids=np.array(["q1", "q2", "q1"]), answer=vectors, reference=np.ones((3, 2)))
    given = read_system(tmp_path, {})
    assert list(given.features) == ["q1"]
    assert [problem.line for problem in given.problems] == [2, 3]


def test_each_system_needs_a_distinct_name(tmp_path):
    place = lines(tmp_path / "a.jsonl", ANSWER)
    with pytest.raises(InputError, match="expected a distinct name for"):
        read_systems([place, place], Problems(), names=["a", "a"])
    assert [system.name for system in read_systems([place], Problems(), names=["b"]).systems] == ["b"]


EXAMPLES = Path(__file__).parents[2] / "examples"
FILES = [
    EXAMPLES / "answers.jsonl",
    *(path for path in sorted((EXAMPLES / "formats").iterdir()) if path.name != "documents.jsonl"),
]
SOURCES = [Document.from_text("d1", "Folic acid helps."), Document.from_text("d2", "Iron helps.")]


def checked(answers: list[Answer], protocol: str = "fast") -> list[CheckedAnswer]:
    return list(check_many(answers, replace(get_protocol(protocol), judge="lexical"), cache=False))


def answer(text: str, *documents: Document) -> Answer:
    return parse_answer("q", text, documents or SOURCES)


@pytest.mark.parametrize("protocol", ["default", "alce", "bioace-document", "context(3)", "statements"])
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_verdicts_match_their_answers_in_every_format_and_protocol(path, protocol):
    library = load_documents(EXAMPLES / "formats" / "documents.jsonl", Problems())
    answers = [one for one in answers_in(path, documents=library) if isinstance(one, Answer)]
    assert answers
    found = [verdict_mismatch(one, its) for one, its in zip(answers, checked(answers, protocol), strict=True)]
    assert found == [None] * len(answers)


@pytest.mark.parametrize(
    ("now", "said"),
    [
        ("Metformin cures nothing at all [1]. Yes.", "Take 0.4 mg a day."),
        ("Take 4 mg a day [1]. It helps [2].", "Take 0.4 mg a day."),
        ("Take 0.4 mg a day [1]. It helps [2]. It never harms [1].", "2 sentences, where this one has 3"),
        ("Take 0.4 mg a day [1].", "It helps."),
        ("", "where this answer has ''"),
    ],
)
def test_another_text_is_detected_by_its_sentences(now, said):
    (verdicts,) = checked([answer("Take 0.4 mg a day [1]. It helps [2].")])
    assert said in (verdict_mismatch(answer(now), verdicts) or "")


def test_an_edit_that_keeps_the_words_is_detected():
    (verdicts,) = checked([answer("Take 4 mg of folic acid [1].")])
    assert verdict_mismatch(answer("Take 0.4 mg of folic acid [1]."), verdicts)


def test_the_same_words_from_other_documents_are_another_answer():
    text = "Take 0.4 mg a day [1]."
    (verdicts,) = checked([answer(text)])
    assert "[1] as 'd1', where this answer cites 'x'" in (
        verdict_mismatch(answer(text, Document.from_text("x", "No.")), verdicts) or ""
    )


def test_verdicts_match_if_only_check_had_the_documents():
    text = "Folic acid helps (PMID: 31535829). It does [1]."
    own = Document.from_text("d1", "It does.")
    cited = Document(id="pubmed", pmid="31535829", sections=Document.from_text("x", "Folic acid helps.").sections)
    (verdicts,) = checked([parse_answer("q", text, [own, cited])])
    assert verdict_mismatch(parse_answer("q", text, [own]), verdicts) is None
    assert verdict_mismatch(parse_answer("q", text, []), verdicts) is None


def test_verdicts_of_another_splitter_are_compared_by_words_only():
    before = answer("Take 0.4 mg a day [1]. It helps [2].")
    (verdicts,) = checked([before])
    parts = {**verdicts.provenance.parts, "splitter": "another.v1"}
    older = verdicts.model_copy(update={"provenance": verdicts.provenance.model_copy(update={"parts": parts})})
    now = answer(before.text + " It never harms.")
    assert verdict_mismatch(now, verdicts)
    assert verdict_mismatch(now, older) is None


def test_verdicts_of_another_answer_are_dropped(tmp_path):
    given = [
        {"id": id, "answer": "Folic acid helps [1].", "documents": [{"id": "d1", "text": "Folic acid helps."}]}
        for id in ("q1", "q2")
    ]
    answers, verdicts = tmp_path / "answers.jsonl", tmp_path / "verdicts.jsonl"
    answers.write_text("\n".join(map(json.dumps, given)))
    read = [one for one in answers_in(answers) if isinstance(one, Answer)]
    verdicts.write_text("\n".join(one.model_dump_json() for one in checked(read)))
    assert read_system(tmp_path, {}).problems == []
    given[1]["answer"] = "Metformin cures nothing at all [1]."
    answers.write_text("\n".join(map(json.dumps, given)))
    found = read_system(tmp_path, {})
    assert sorted(found.verdicts) == ["q1"]
    (problem,) = found.problems
    assert (problem.path, problem.line) == (str(verdicts), 2)
    assert "vericite check" in str(problem)


def test_runs_are_compared_with_the_verdicts_next_to_them(tmp_path):
    import vericite

    run = vericite.ask("Does hydroxychloroquine reduce mortality in patients hospitalised with COVID-19?", k=3)
    (tmp_path / "runs.jsonl").write_text(run.model_dump_json() + "\n")
    for verdicts, problems in ((run.checked, 0), (checked([answer("It helps [1].")])[0], 1)):
        verdicts = verdicts.model_copy(update={"id": run.question.id})
        (tmp_path / "verdicts.jsonl").write_text(verdicts.model_dump_json() + "\n")
        found = read_system(tmp_path, {})
        assert len(found.problems) == problems
        assert {item.id: item.checked for item in found.system("it").items} == {run.question.id: run.checked}
