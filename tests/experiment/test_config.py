"""The file of an experiment: axes, extra cells, values, samples and errors."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from vericite.errors import InputError, UnknownNameError
from vericite.generate.printed import ANSWER_PROMPTS, our_wording
from vericite.generate.rationale import rationale_prompt
from vericite.lab.experiment.config import Experiment, QuestionsPlan, experiment_content
from vericite.records import Question

yaml = pytest.importorskip("yaml", reason="needs PyYAML")


def written(folder: Path, text: str, name: str = "e.yaml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


PLAIN = """
name: small
questions: {from: questions.jsonl}
plan: {search: {corpus: demo, rerank: none}}
axes:
  model: {one: {answer: {llm: "http://127.0.0.1:9/v1#a"}}, two: {}}
  k: {3: {search: {k: 3}}, 5: {search: {k: 5}}}
"""


def test_cells_are_all_combinations_in_the_order_of_the_file(tmp_path: Path):
    cells = Experiment.load(written(tmp_path, PLAIN)).expanded()
    assert [cell.name for cell in cells] == ["model one, k 3", "model one, k 5", "model two, k 3", "model two, k 5"]
    assert [cell.plan.search.k for cell in cells] == [3, 5, 3, 5]
    assert cells[0].plan.answer.llm and cells[2].plan.answer.llm is None
    assert len({cell.folder for cell in cells}) == 4


def test_the_folder_changes_only_with_settings_that_affect_results(tmp_path: Path):
    before = Experiment.load(written(tmp_path, PLAIN)).expanded()
    faster = Experiment.load(written(tmp_path, PLAIN.replace("rerank: none}", "rerank: none}, llm: {rpm: 5}")))
    other = Experiment.load(written(tmp_path, PLAIN.replace("rerank: none", "rerank: none, by: bm25")))
    assert [cell.folder for cell in faster.expanded()] == [cell.folder for cell in before]
    assert not {cell.folder for cell in other.expanded()} & {cell.folder for cell in before}


def test_extra_cells_and_excluded_combinations(tmp_path: Path):
    more = """
without: [{model: two, k: "5"}]
cells: [{at: {model: one, k: all}, plan: {search: {k: 50}}}]
"""
    cells = Experiment.load(written(tmp_path, PLAIN + more)).expanded()
    assert [cell.name for cell in cells] == ["model one, k 3", "model one, k 5", "model two, k 3", "model one, k all"]
    assert cells[-1].plan.search.k == 50 and cells[-1].plan.answer.llm


def test_several_sets_of_questions_are_an_axis(tmp_path: Path):
    text = PLAIN.replace("{from: questions.jsonl}", "{a: {from: a.jsonl}, b: {from: b.jsonl, sample: 2}}")
    experiment = Experiment.load(written(tmp_path, text))
    cells = experiment.expanded()
    assert len(cells) == 8 and cells[0].at["data"] == "a"
    assert experiment.questions_of(cells[-1]).source == "b.jsonl"


def test_variables_are_substituted(tmp_path: Path):
    text = PLAIN.replace("corpus: demo", "corpus: $corpus") + "values: {corpus: demo}\n"
    path = written(tmp_path, text)
    assert Experiment.load(path).expanded()[0].plan.search.corpus == "demo"
    assert Experiment.load(path, {"corpus": "x"}).expanded()[0].plan.search.corpus == "x"
    with pytest.raises(UnknownNameError, match="corpse"):
        Experiment.load(path, {"corpse": "x"})
    with pytest.raises(InputError, match=r"expected a value for \$corpus"):
        Experiment.load(written(tmp_path, PLAIN.replace("corpus: demo", "corpus: $corpus")))


def test_an_extending_file_overrides_fields(tmp_path: Path):
    written(tmp_path, PLAIN, "whole.yaml")
    twin = "extends: whole.yaml\nname: twin\nquestions: {sample: 2}\naxes: {model: {small: {}}}\n"
    experiment = Experiment.load(written(tmp_path, twin, "twin.yaml"))
    assert experiment.name == "twin" and experiment.questions["questions"].sample == 2
    assert [cell.name for cell in experiment.expanded()] == ["model small, k 3", "model small, k 5"]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("name: small", "nome: small", "nome: expected only .* perhaps for 'name'"),
        ("k: 3}}", "k: 0}}", "axis k, 3"),
        ("rerank: none", "reranks: none", "reranks"),
        ("{from: questions.jsonl}", "{from: questions.jsonl, sample: 0}", "sample"),
        ("axes:", "axis:", "axis"),
        ("name: small", "name: [", "expected settings in JSON, TOML or YAML"),
    ],
)
def test_errors_name_the_field(tmp_path: Path, old: str, new: str, expected: str):
    with pytest.raises(InputError, match=expected):
        Experiment.load(written(tmp_path, PLAIN.replace(old, new, 1))).expanded()


def test_json_and_toml_are_supported(tmp_path: Path):
    content = yaml.safe_load(PLAIN.replace("{3:", '{"3":').replace(" 5:", ' "5":'))
    assert len(Experiment.load(written(tmp_path, json.dumps(content), "e.json")).expanded()) == 4


def asked(count: int) -> list[Question]:
    kinds = ("yesno", "list", "factoid")
    return [
        Question(id=f"q{n}", text=f"Question {n}?", type=kinds[n % 3], gold_documents=("1",) if n % 2 else ())
        for n in range(count)
    ]


def test_a_larger_sample_includes_a_smaller_one():
    questions = asked(40)
    small, large = (QuestionsPlan.model_validate({"from": "f", "sample": n, "seed": 3}) for n in (10, 20))
    chosen = small.chosen(questions)
    assert {it.id for it in chosen} < {it.id for it in large.chosen(questions)}
    assert {it.id for it in small.chosen(questions[::-1])} == {it.id for it in chosen}
    assert chosen == sorted(chosen, key=questions.index)


def test_questions_are_chosen_by_type_and_gold():
    plan = QuestionsPlan.model_validate_json('{"from": "f", "types": ["list", "factoid"], "gold": true}')
    chosen = plan.chosen(asked(12))
    assert {it.type for it in chosen} == {"list", "factoid"} and all(it.gold_documents for it in chosen)
    with pytest.raises(InputError, match="expected 99 questions of type list or factoid in f; found 4 of 12"):
        plan.model_copy(update={"sample": 99}).chosen(asked(12))


READY = sorted((Path(__file__).parents[2] / "experiments").glob("*.yaml"))
# A paper prints no prompt for these.
OURS_ALONE = {"default", "vanilla", "vanilla-pubmedqa", "closed-book-bioasq", "closed-book-pubmedqa"}


@pytest.mark.parametrize("file", READY, ids=lambda file: file.stem)
def test_a_folder_of_printed_prompts_replaces_every_prompt_that_stands_for_one(file: Path, tmp_path: Path):
    if "prompts" not in experiment_content(file).get("values", {}):
        pytest.skip("its prompts are not a paper's")
    for name in ANSWER_PROMPTS.values():
        written(tmp_path, "", f"{name}.toml")
    plain, given = (Experiment.load(file, values) for values in ({}, {"prompts": str(tmp_path)}))
    for before, after in zip(plain.expanded(), given.expanded(), strict=True):
        name = before.plan.answer.prompt
        expected = name if name in OURS_ALONE else str(tmp_path / f"{ANSWER_PROMPTS[name]}.toml")
        assert after.plan.answer.prompt == expected
        assert (name in plain.our_wording) == (name not in OURS_ALONE)
    assert not given.our_wording


@pytest.mark.parametrize("maybe", [False, True])
def test_the_signature_of_a_rationale_tells_that_the_wording_is_ours(maybe: bool):
    signature = f"rationale.v1:{rationale_prompt(maybe).signature}"
    assert our_wording(signature) == ("steps-maybe" if maybe else "steps")
