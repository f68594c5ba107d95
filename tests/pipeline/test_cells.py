"""Retrieval cells: oracle and controlled oracle, as values, in plan files and in batch runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import ClassVar

import pytest

from vericite.errors import InputError, Problems
from vericite.pipeline.build import build, fingerprint, open_search
from vericite.pipeline.plan import Plan, RepairPlan, SearchPlan
from vericite.pipeline.search import OracleSearch
from vericite.records import Document, Evidence, Question
from vericite.retrieve.lookup import Oracle

TEXTS = {
    "1": "Zinc shortened colds by a day.",
    "2": "Zinc lozenges did not prevent colds.",
    "3": "Colds last a week without treatment.",
    "4": "Zinc deficiency delays the healing of wounds.",
    "5": "Vitamin C did not shorten colds.",
}
QUESTION = Question(id="q", text="Does zinc shorten colds?", gold_documents=("5", "3"))
FAST = {"rerank": "none", "by": "bm25"}


@pytest.fixture
def corpus(tmp_path: Path) -> str:
    path = tmp_path / "documents.jsonl"
    path.write_text("".join(json.dumps({"id": id, "text": text}) + "\n" for id, text in TEXTS.items()))
    return str(path)


def ids(search: OracleSearch, question: Question, k: int) -> list[str]:
    return [hit.document.id for hit in search.find(question, k).evidence]


def opened(**fields: object) -> OracleSearch:
    problems = Problems()
    search = open_search(SearchPlan.model_validate(fields), problems=problems)
    assert isinstance(search, OracleSearch) and not problems
    return search


def test_an_oracle_has_all_gold_documents_in_their_order_or_the_first_k(corpus: str):
    plan = SearchPlan(corpus=f"oracle:{corpus}")
    search = opened(corpus=plan.corpus)
    assert ids(search, QUESTION, plan.depth()) == ["5", "3"]
    assert ids(search, QUESTION, SearchPlan(corpus=plan.corpus, k=1).depth()) == ["5"]
    found = search.find(QUESTION, plan.depth())
    assert found.cell is not None and (found.cell.kind, found.cell.gold, found.cell.standard) == ("oracle", 2, None)


def test_a_controlled_oracle_has_as_many_documents_as_its_standard_cell(corpus: str):
    controlled = opened(corpus=f"oracle:{corpus}", controlled=corpus, **FAST)
    standard = open_search(SearchPlan(corpus=corpus, by="bm25", rerank="none"))
    for k in (1, 2, 4):
        wanted = [hit.document.id for hit in standard.find(QUESTION, k).evidence]
        found = controlled.find(QUESTION, k)
        got = [hit.document.id for hit in found.evidence]
        assert len(got) == len(wanted) == len(set(got))
        assert got[:2] == ["5", "3"][:k]
        # Padded by what the standard cell found, in its order.
        assert got[2:] == [id for id in wanted if id not in ("5", "3")][: max(0, k - 2)]
        assert [hit.rank for hit in found.evidence] == list(range(1, k + 1))
        assert found.cell is not None
        assert (found.cell.gold, found.cell.retrieved, found.cell.standard) == (min(2, k), max(0, k - 2), k)


def test_a_question_whose_standard_cell_is_empty_has_an_empty_controlled_one(corpus: str):
    controlled = opened(corpus=f"oracle:{corpus}", controlled=corpus, **FAST)
    asked = Question(id="x", text="Xylophone?", gold_documents=("5",))
    found = controlled.find(asked, 3)
    assert found.evidence == () and found.cell is not None and found.cell.standard == 0


def test_gold_documents_that_are_missing_or_without_abstract_are_reported(tmp_path: Path):
    documents = [Document.from_text("5", TEXTS["5"]), Document.from_text("6", "", "A title alone")]
    found = OracleSearch(Oracle(documents=documents)).find(
        Question(id="q", text="Zinc?", gold_documents=("6", "5", "9")), 9
    )
    assert [hit.document.id for hit in found.evidence] == ["5"]
    assert found.cell is not None
    assert dict(found.cell.missing) == {"9": "it is not among the documents given", "6": "it has no abstract"}


def test_a_retracted_gold_document_takes_no_place_under_control(corpus: str):
    gone = Document.from_text("5", TEXTS["5"]).model_copy(update={"retracted": True})

    class Standard:
        parts: ClassVar = {"retriever": "fixed"}

        def find(self, question: Question, k: int):
            return OracleSearch(Oracle(documents=[Document.from_text("1", TEXTS["1"])])).find(
                Question(id="s", text="s", gold_documents=("1",)), k
            )

    search = OracleSearch(Oracle(documents=[gone]), standard=Standard())
    found = search.find(QUESTION.model_copy(update={"gold_documents": ("5",)}), 1)
    assert [hit.document.id for hit in found.evidence] == ["1"]
    assert found.cell is not None and (found.cell.gold, found.cell.retrieved) == (0, 1)


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"corpus": "demo", "controlled": "demo"}, "expected search.corpus oracle:"),
        ({"corpus": "oracle:demo", "by": "bm25"}, "no search.by with"),
        ({"corpus": "oracle:demo", "rewrite": "ollama:x"}, "no search.rewrite with"),
        ({"corpus": "oracle:demo", "journals": ("BMJ",)}, "no filters with"),
        ({"corpus": "demo", "cleaning": "interrogative"}, "expected search.corpus pubmed with search.cleaning"),
    ],
)
def test_settings_that_change_nothing_are_refused(fields: dict[str, object], told: str):
    with pytest.raises(InputError, match=told):
        open_search(SearchPlan.model_validate(fields))


def test_what_fixes_a_run_names_the_cell(corpus: str):
    for controlled, k in ((None, "all"), (corpus, 5)):
        plan = Plan(search=SearchPlan(corpus=f"oracle:{corpus}", controlled=controlled))
        facts = fingerprint(plan, build(plan))
        assert facts["k"] == k and facts.get("controlled") == controlled and "corpus_sha256" in facts
        assert facts["parts"]["retriever"].startswith("oracle(5@")
        assert ("standard retriever" in facts["parts"]) is (controlled is not None)


def test_repair_looks_no_sentence_up_in_an_oracle(corpus: str):
    plan = Plan(search=SearchPlan(corpus=f"oracle:{corpus}"), repair=RepairPlan(enabled=True))
    run = build(plan).run(QUESTION, plan.search.depth())
    assert run.cell is not None and run.answer.failed is None


def batch(tmp_path: Path) -> Path:
    path = tmp_path / "questions.jsonl"
    lines = [
        {"id": "q1", "question": QUESTION.text, "gold_documents": ["5", "3"]},
        {"id": "q2", "question": "Do zinc lozenges prevent colds?", "gold_documents": ["2", "77"]},
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_a_batch_runs_resumes_and_says_its_cell(run_cli, tmp_path: Path, corpus: str):
    questions, plan = str(batch(tmp_path)), str(tmp_path / "plan.json")
    standard, oracle, controlled = (str(tmp_path / name) for name in ("standard", "oracle", "controlled"))
    common = ("ask", "--batch", questions, "--judge", "lexical")
    assert run_cli(*common, "--corpus", corpus, "--k", "3", "--by", "bm25", "--save", standard).code == 0
    printed = run_cli(*common, "--corpus", f"oracle:{corpus}", "--save", oracle)
    assert printed.code == 0
    assert "oracle: 3 gold documents; 1 gold documents were not found" in " ".join(printed.err.split())
    # From its plan it is the same run, of which nothing is left to do.
    Path(plan).write_text(json.dumps(json.loads((Path(oracle) / "manifest.json").read_text())["plan"]))
    again = run_cli("ask", "--batch", questions, "--plan", plan, "--save", oracle)
    assert again.code == 0 and "2 of them earlier" in again.out
    manifest = json.loads((Path(oracle) / "manifest.json").read_text())
    assert manifest["plan"]["search"]["corpus"] == f"oracle:{corpus}"
    assert manifest["retrieval"] == {
        "questions": 2,
        "with_evidence": 2,
        "documents": 3,
        "cell_oracle": 2,
        "gold": 3,
        "gold_missing": 1,
    }
    # The standard cell may be the runs that were kept.
    asked = (*common, "--corpus", f"oracle:{corpus}", "--set", f"search.controlled={standard}", "--save", controlled)
    printed = run_cli(*asked)
    assert printed.code == 0, printed.err
    manifest = json.loads((Path(controlled) / "manifest.json").read_text())["retrieval"]
    assert (manifest["documents"], manifest["standard"], manifest["gold"], manifest["padding"]) == (6, 6, 3, 3)
    runs = [json.loads(line) for line in (Path(controlled) / "runs.jsonl").read_text().splitlines()]
    assert [hit["document"]["id"] for hit in runs[0]["evidence"]][:2] == ["5", "3"]
    assert runs[0]["cell"] == {"kind": "controlled", "gold": 2, "retrieved": 1, "standard": 3, "missing": {}}


def test_the_yield_of_a_run_is_printed_kept_and_measured(run_cli, tmp_path: Path, corpus: str):
    path, folder = tmp_path / "q.jsonl", tmp_path / "run"
    texts = {"q1": QUESTION.text, "q2": "Xylophone?"}
    path.write_text("".join(json.dumps({"id": id, "question": text}) + "\n" for id, text in texts.items()))
    asked = (
        "ask",
        "--batch",
        str(path),
        "--judge",
        "lexical",
        "--corpus",
        corpus,
        "--by",
        "bm25",
        "--set",
        "search.rerank=none",
    )
    printed = run_cli(*asked, "--save", str(folder))
    assert "retrieval yield: 1 of 2 questions have a document" in printed.err
    assert json.loads((folder / "manifest.json").read_text())["retrieval"]["with_evidence"] == 1
    scored = run_cli("score", str(folder), "--measures", "RetrievalYield", "--json")
    assert [figure["value"] for figure in json.loads(scored.out)] == [0.5]


def test_evidence_of_cells_is_distinguished(corpus: str):
    found = opened(corpus=f"oracle:{corpus}", controlled=corpus, **FAST).find(QUESTION, 3).evidence
    assert [hit.retriever for hit in found] == ["oracle", "oracle", "bm25"]
    assert all(isinstance(hit, Evidence) for hit in found)
