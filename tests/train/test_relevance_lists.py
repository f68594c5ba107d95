from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from vericite.records import Document, read_jsonl
from vericite.train.mix.files import DataFolder
from vericite.train.relevance.build import build, main
from vericite.train.relevance.lists import Candidate, RankedList, TrainingList
from vericite.train.relevance.questions import Asked, split
from vericite.train.relevance.searching import as_document

DRUGS = ("aspirin", "warfarin", "insulin", "metformin", "zinc", "heparin", "digoxin", "lithium")
ENDS = ("death", "stroke", "bleeding", "falls", "fever")
ASKED = [(drug, end) for drug in DRUGS for end in ENDS]


def question(number: int, text: str, pmids: list[int]) -> dict[str, Any]:
    snippets = [{"document": f"http://www.ncbi.nlm.nih.gov/pubmed/{pmid}", "text": sentence(pmid)} for pmid in pmids]
    return {
        "id": f"q{number}",
        "body": text,
        "type": "factoid",
        "documents": [f"http://www.ncbi.nlm.nih.gov/pubmed/{pmid}" for pmid in pmids],
        "snippets": snippets,
    }


def sentence(pmid: int) -> str:
    drug, end = ASKED[pmid % len(ASKED)]
    return f"In trial {pmid} of many people, {drug} was followed by less {end} than placebo."


def wording(number: int) -> str:
    drug, end = ASKED[number % len(ASKED)]
    return f"By how much does {drug} lower the rate of {end} in ward {number} of the hospital?"


def put(path: Path, held: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(held) if not isinstance(held, str) else held, encoding="utf-8")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data folder of ours in the forms of the real one: 40 questions to train on, and one of each test."""
    root = tmp_path / "data"
    training = [question(number, wording(number), [number, number + 40]) for number in range(40)]
    training.append(question(90, "Is heparin given in ward ninety of the hospital at night?", [39]))
    put(root / "mirage/rawdata/bioasq/7B1_golden.json", {"questions": training})
    put(
        root / "mirage/benchmark.json",
        {"bioasq": {"q90": {"question": training[-1]["body"]}}, "pubmedqa": {"700": {"question": "Is it?"}}},
    )
    put(
        root / "bioasq13b/new_training13b.json",
        {"questions": [question(50, wording(50), [90]), question(51, wording(3), [91])]},
    )
    put(root / "bioasq12b/12B1_golden.json", {"questions": [question(60, wording(7), [5])]})
    put(
        root / "bioasq13b_tuw/batch1.json",
        {"questions": [question(61, "What is tested here, and by whom and when?", [6])]},
    )
    items = {
        str(pmid): {
            "QUESTION": f"Is {DRUGS[pmid % 8]} of use in {ENDS[pmid % 5]} at site {pmid}?",
            "CONTEXTS": [f"At site {pmid} we gave {DRUGS[pmid % 8]}.", f"There was less {ENDS[pmid % 5]}."],
        }
        for pmid in range(700, 712)
    }
    put(root / "pubmedqa/ori_pqal.json", items)
    put(root / "pubmedqa/test_ground_truth.json", {"700": "yes"})
    for name in ("scifact/data/claims_dev.jsonl", "scifact/data/claims_test.jsonl", "scifact/data/corpus.jsonl"):
        put(root / name, "")
    for name in ("healthver/multivers/claims_test.jsonl", "healthver/multivers/corpus.jsonl"):
        put(root / name, "")
    put(root / "healthver/healthver_test.csv", "claim\n")
    put(root / "nli4ct/Gold_test.json", {})
    put(root / "kqa/dataset/questions_w_answers.jsonl", "")
    put(root / "kqa/dataset/NLI_medical_annotator.csv", "claim\n")
    rows = [
        {"pmid": str(pmid), "title": "", "abstract": sentence(pmid), "source": "bioasq_snippets", "full": False}
        for pmid in range(92)
    ]
    rows += [
        {
            "pmid": pmid,
            "title": item["QUESTION"],
            "abstract": "With its conclusion.",
            "source": "pubmedqa",
            "full": True,
        }
        for pmid, item in items.items()
    ]
    (root / "corpus").mkdir()
    with gzip.open(root / "corpus/pubmed_corpus.jsonl.gz", "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    return root


def test_questions_and_documents_of_tests_and_dev_are_left_out_and_counted(data: Path) -> None:
    found = split(DataFolder(data), seed=0)
    texts = {one.text for one in found.train}
    assert wording(7) not in texts, "12b asks it"
    assert not any("ward ninety" in text for text in texts), "MIRAGE asks it"
    assert found.dropped["bioasq", "question id", "mirage bioasq"] == 1
    assert found.dropped["bioasq", "same claim", "bioasq 12b"] == 1
    assert {"5", "6", "39"} <= set(found.closed)
    assert not texts & {one.text for held in found.dev.values() for one in held}


def test_a_development_question_that_is_trained_on_is_dropped(data: Path) -> None:
    found = split(DataFolder(data), seed=0)
    assert [one.id for one in found.dev["bioasq13b"]] == ["q50"]
    assert found.dropped["bioasq13b", "same question", "training"] == 1


def test_questions_are_sorted_alike_whatever_else_there_is(data: Path) -> None:
    first, second = (split(DataFolder(data), seed=0) for _ in range(2))
    assert first == second


def test_lists_hold_no_document_that_is_kept_for_a_test(data: Path, tmp_path: Path) -> None:
    manifest = build(DataFolder(data), tmp_path / "out", seed=0)
    closed = split(DataFolder(data), seed=0).closed
    kept = {sentence(int(pmid)) for pmid in closed if int(pmid) < 92}
    lists = list(read_jsonl(TrainingList, tmp_path / "out" / "train.jsonl"))
    assert len(lists) == manifest["train"]["lists"] > 0
    assert kept
    for one in lists:
        texts = [one.positive, *one.negatives]
        assert not any(text in held for text in kept for held in texts)
        assert not any("With its conclusion" in text for text in texts)
        assert one.positive not in one.negatives
        assert len(one.negatives) == 7


def test_a_list_is_about_its_own_question(data: Path, tmp_path: Path) -> None:
    build(DataFolder(data), tmp_path / "out", seed=0)
    gold = {wording(number): {sentence(number), sentence(number + 40)} for number in range(40)}
    for one in read_jsonl(TrainingList, tmp_path / "out" / "train.jsonl"):
        if one.source == "bioasq":
            assert any(text in one.positive for text in gold[one.question])
            assert not gold[one.question] & set(one.negatives)


def test_development_lists_are_of_each_stage_and_corpus(data: Path, tmp_path: Path) -> None:
    build(DataFolder(data), tmp_path / "out", seed=0)
    lists = list(read_jsonl(RankedList, tmp_path / "out" / "dev.jsonl"))
    assert {(one.stage, one.corpus) for one in lists} == {
        (s, c) for s in ("bm25", "hybrid") for c in ("all", "stitched")
    }
    (one,) = [one for one in lists if one.id == "q50" and one.stage == "bm25" and one.corpus == "all"]
    assert one.gold == ("90",)
    assert one.relevant(50)[[candidate.id for candidate in one.candidates].index("90")]


def test_the_same_seed_makes_the_same_files(data: Path, tmp_path: Path) -> None:
    for name in ("one", "two"):
        assert main(["--data", str(data), "--out", str(tmp_path / name)]) == 0
    for file in ("train.jsonl", "dev.jsonl", "manifest.json"):
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()


def test_a_data_folder_without_the_sets_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--data", str(tmp_path), "--out", str(tmp_path / "out")]) == 2
    assert "expected the data folder to hold" in capsys.readouterr().err


def test_a_title_that_opens_the_abstract_is_not_told_twice() -> None:
    row = {"pmid": "1", "title": "Of zinc.", "abstract": "Of zinc. It is a metal."}
    assert as_document(row) == Document.from_text("1", "Of zinc. It is a metal.")
    assert as_document({**row, "title": "Metals"}).titled_text == "Metals Of zinc. It is a metal."


def test_a_question_stands_behind_its_documents() -> None:
    ranked = RankedList(
        id="q", question="Why?", set="s", stage="bm25", corpus="all", gold=("2",),
        candidates=(Candidate(id="1", text="a", score=2), Candidate(id="2", text="b", score=1)),
    )  # fmt: skip
    assert [(pair.premise, pair.claim) for pair in ranked.pairs(1)] == [("a", "Why?")]
    assert ranked.relevant(2) == [False, True]


def test_a_question_knows_no_context_but_pubmedqas() -> None:
    assert Asked("q", "Why?", "bioasq", ("1",)).context is None
