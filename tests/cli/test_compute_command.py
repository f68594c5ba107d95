"""``vericite compute`` as a user types it, and what ``score`` and ``table`` then have."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from vericite.corpus import demo_questions
from vericite.evaluate.items import ModelScores
from vericite.records import read_jsonl, to_json

EXAMPLES = Path(__file__).parents[2] / "examples"
GOLD = str(EXAMPLES / "score" / "gold.jsonl")
LAYOUT = """
title = "By whom"
source = "Paper"
rows = ["k"]
compare = "k"
columns = [{ name = "BS", measure = "BERTScore", by = "roberta-large" }, { name = "R", measure = "Recall@10000" }]
printed = [{ at = { k = "2" }, figures = { BS = 0.862 } }]
"""


@pytest.fixture
def first(tmp_path: Path) -> Path:
    return Path(shutil.copytree(EXAMPLES / "score" / "first", tmp_path / "first"))


@pytest.mark.parametrize(
    ("what", "measure", "by"),
    [
        ("bertscore", "BERTScore", "scores-by=bertscore(embedder-v1@"),
        ("mauve-features", "MAUVE", "features-by=mauve-features(embedder-v1@"),
        ("claim-entailment", "ClaimEntailment", "scores-by=claim-entailment(verifier-v6@"),
    ],
)
def test_a_measure_has_a_figure_once_it_is_computed(run_cli, first: Path, what: str, measure: str, by: str):
    scored = ("score", str(first), "--gold", GOLD, "-m", measure, "--json", "--set", "draws=100")
    assert "vericite compute" in run_cli(*scored).err
    printed = run_cli("compute", what, str(first), "--gold", GOLD)
    assert printed.code == 0, printed.err
    assert f"{what}: 4 answers" in printed.out and f"vericite score {first} -m {measure}" in printed.err
    after = run_cli(*scored)
    assert by in after.out and '"value": null' not in after.out
    again = run_cli("compute", what, str(first), "--gold", GOLD)
    assert again.code == 0 and (what == "mauve-features" or "4 of them earlier" in again.out)


def test_citations_are_scored_against_the_claims_that_sentences_state(run_cli, tmp_path: Path):
    folder = tmp_path / "run"
    folder.mkdir()
    documents = [{"id": "a", "text": "Zinc shortens colds."}, {"id": "b", "text": "Iron cures anaemia."}]
    said = {"q": "Zinc shortens colds [1][2]. Iron cures anaemia [1]. Tea is warm.", "r": "-"}
    answers = [{"id": id, "answer": text, "documents": documents} for id, text in said.items()]
    (folder / "answers.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in answers))
    claims = [
        {"id": "1", "text": "Zinc shortens colds.", "documents": ["a"], "unknown": ["b"]},
        {"id": "2", "text": "Iron cures anaemia.", "documents": ["b"]},
    ]
    gold = tmp_path / "gold.jsonl"
    gold.write_text("".join(f"{json.dumps({'id': id, 'nuggets': claims})}\n" for id in said))
    named = (str(folder), "--gold", str(gold))
    scored = ("score", *named, "-m", "AlignedCitationF1", "-m", "StatedClaimRecall", "--json", "--set", "draws=100")
    without = ("score", *named, "-m", "AlignedCitationF1(empty='ignored')", "--json", "--set", "draws=100")
    assert "run `vericite compute` first" in run_cli(*scored).err
    printed = run_cli("compute", "aligned-citations", *named, "--with", "lexical")
    assert printed.code == 0, printed.err
    # The first sentence is right, because nobody knows about its second source; the second one is wrong. The third one
    # rightly cites nothing. An answer without words states nothing, and has no sentence that could cite nothing.
    line = json.loads((folder / "scores-aligned-citations.jsonl").read_text().splitlines()[0])
    counts = {"aligned_f1": 2.0, "aligned_sentences": 3.0, "aligned_empty": 1.0}
    assert line["scores"] == counts | {"claims_stated": 2.0, "claims": 2.0}
    assert [figure["value"] for figure in json.loads(run_cli(*scored).out)] == [pytest.approx(2 / 3), 0.5]
    assert [figure["value"] for figure in json.loads(run_cli(*without).out)] == [0.5]
    gold.write_text(gold.read_text().replace('"documents": ["b"]', '"documents": ["a"]'))
    assert "0 of them earlier" not in run_cli("compute", "aligned-citations", *named, "--with", "lexical").out
    assert (
        json.loads((folder / "scores-aligned-citations.jsonl").read_text().splitlines()[0])["scores"]["aligned_f1"] == 3
    )


def test_what_cannot_be_computed_is_told(run_cli, first: Path):
    for given, expected in (
        (["bertscore", str(first), "--with", "roberta-large"], "hf:CHECKPOINT"),
        (["claim-entailment", str(first), "--with", "roberta-large"], "expected a judge"),
        (["bertscore", str(first / "answers.jsonl")], "expected the folder of a run"),
        (["bertscore", str(first)], "--gold"),
    ):
        printed = run_cli("compute", *given)
        assert printed.code == 2 and expected in printed.err, printed
    assert not list(first.glob("scores-*"))[1:]


def test_all_cells_of_an_experiment_are_computed_and_have_a_column_of_their_own(run_cli, tmp_path: Path):
    questions = tmp_path / "questions.jsonl"
    questions.write_text("".join(to_json(question) + "\n" for question in demo_questions()), encoding="utf-8")
    content = {
        "name": "depth",
        "questions": {"from": str(questions), "sample": 2},
        "plan": {"search": {"by": "bm25", "rerank": "none"}, "check": {"protocol": "vericite", "judge": "lexical"}},
        "axes": {"k": {"2": {"search": {"k": 2}}, "4": {"search": {"k": 4}}}},
    }
    (tmp_path / "e.json").write_text(json.dumps(content))
    (tmp_path / "layout.toml").write_text(LAYOUT)
    folder = str(tmp_path / "runs")
    assert run_cli("run", str(tmp_path / "e.json"), "--to", folder).code == 0
    gold = tmp_path / "gold.jsonl"
    gold.write_text("".join(json.dumps({"id": it.id, "ideal": [it.text]}) + "\n" for it in demo_questions()))
    printed = run_cli("compute", "bertscore", folder, "--gold", str(gold))
    assert printed.code == 0 and "; 2 files" in printed.out, printed
    table = ("table", folder, "--layout", str(tmp_path / "layout.toml"), "--set", "draws=100", "--as", "csv")
    rows = [line.split(",") for line in run_cli(*table).out.splitlines()]
    ours = {(row[0], row[1]): row[4] for row in rows if row[3] == "ours"}
    # Never in the paper's column.
    assert ours["2", "BS"] == "" and float(ours["2", "BS (embedder-v1)"]) > 0.3
    assert [row[1] for row in rows if row[3].startswith("paper")] == ["BS"]
    # Of the paper's own model they stand beside the paper's.
    for path in Path(folder).glob("cells/*/scores-bertscore.jsonl"):
        named = {"made_by": "roberta-large, bert-score 0.3.13"}
        lines = [line.model_copy(update=named) for line in read_jsonl(ModelScores, path)]
        path.write_text("".join(to_json(line) + "\n" for line in lines))
    rows = [line.split(",") for line in run_cli(*table).out.splitlines()]
    assert {row[1] for row in rows} == {"column", "BS", "R"} and float(rows[1][4]) > 0.3
