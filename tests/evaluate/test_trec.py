from __future__ import annotations

import ir_measures
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vericite.errors import Problems
from vericite.evaluate.measures.registry import MEASURES, parse_measure
from vericite.evaluate.systems import read_systems
from vericite.evaluate.trec import is_qrels, is_run, read_qrels, read_run


@pytest.mark.parametrize("grade", ["0.5", "101", "-101", "many", "nan"])
def test_an_invalid_grade_is_reported_and_skipped(tmp_path, grade):
    path, problems = tmp_path / "qrels", Problems()
    path.write_text(f"t 0 a 1\nt 0 b {grade}\nt 0 c -1\n")
    assert dict(read_qrels(path, problems)["t"].documents) == {"a": 1.0, "c": -1.0}
    assert [problem.line for problem in problems] == [2]


def test_a_repeated_document_keeps_its_first_grade_and_is_reported(tmp_path):
    path, problems = tmp_path / "qrels", Problems()
    path.write_text("t 0 a 1\nt 0 a 2\nu 0 a 2\n")
    found = read_qrels(path, problems)
    assert [dict(found[topic].documents) for topic in "tu"] == [{"a": 1.0}, {"a": 2.0}]
    assert "is repeated" in str(problems[0])


def test_the_tag_of_a_run_may_have_spaces(tmp_path):
    path, problems = tmp_path / "run", Problems()
    path.write_text("t Q0 a 1 2.5 my own run\nt Q0 b 2 3.5 my own run\n")
    assert is_run(path)
    assert (read_run(path, problems), problems) == ({"t": {"b": 3.5, "a": 2.5}}, [])


@pytest.mark.parametrize("line", ["t Q0 a 1 x tag", "t 0 a 1 2.5 tag", "t Q0 a 1 nan tag"])
def test_a_run_is_recognised_by_its_columns(tmp_path, line):
    (tmp_path / "run").write_text(f"{line}\n")
    assert is_run(tmp_path / "run")


def test_a_sentence_of_six_words_is_no_run(tmp_path):
    (tmp_path / "answer.txt").write_text("# Diabetes, blood pressure and vaccines\n\nAspirin helps [1].\n")
    assert not is_run(tmp_path / "answer.txt")


def run_of(folder, scores):
    path = folder / "run"
    path.write_text("".join(f"t Q0 {id} {rank} {score!r} tag\n" for rank, (id, score) in enumerate(scores.items(), 1)))
    return path


TIED = st.sampled_from([1.0, 0.5, 0.5 + 1e-9, 16777216.0, 16777217.0])


@settings(max_examples=60, deadline=None)
@given(
    st.dictionaries(st.sampled_from(["2", "17", "28", "9", "100", "a"]), TIED, min_size=1),
    st.sets(st.sampled_from(["2", "17", "28", "9"]), min_size=1),
)
@pytest.mark.parametrize("measure", ["MRR", "MRR@2", "MRR@10", "MAP", "nDCG@3", "Recall@2"])
def test_ties_are_ordered_as_ir_measures_orders_them(tmp_path_factory, measure, scores, relevant):
    path = run_of(tmp_path_factory.mktemp("run"), scores)
    gold = path.with_name("qrels")
    gold.write_text("".join(f"t 0 {id} 1\n" for id in sorted(relevant)))
    (system,) = read_systems([path], Problems(), gold).systems
    name, _, cutoff = measure.partition("@")
    theirs = getattr(ir_measures, name) @ int(cutoff) if cutoff else getattr(ir_measures, name)
    expected = ir_measures.calc_aggregate(
        [theirs], ir_measures.read_trec_qrels(str(gold)), ir_measures.read_trec_run(str(path))
    )
    assert parse_measure(measure, MEASURES).parts(system.items[0])[0] == pytest.approx(expected[theirs], abs=1e-9)


@pytest.mark.parametrize(
    "text", ["Aspirin prevents strokes in most of them.\n", '{"id": "q", "a": 1, "b": 2}\n', "", "a b c d e\n"]
)
def test_other_files_are_not_trec_files(tmp_path, text):
    path = tmp_path / "x"
    path.write_text(text)
    assert not is_run(path)
    assert not is_qrels(path)
