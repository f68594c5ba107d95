from __future__ import annotations

import json
from pathlib import Path

import pytest

from vericite.errors import Problems
from vericite.evaluate.trec import read_run

QUESTION = "Does levodopa improve the symptoms of Parkinson's disease?"


def write(path: Path, *lines: object) -> Path:
    path.write_text("".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines))
    return path


def found(printed) -> list[str]:
    return [hit["document"]["id"] for hit in json.loads(printed.out)["evidence"]]


def test_the_best_documents_are_printed_in_their_order(run_cli):
    printed = run_cli("search", QUESTION, "--k", "3")
    assert printed.code == 0
    assert printed.out.index("  1. ") < printed.out.index("  2. ") < printed.out.index("  3. ")
    assert "rerank" not in printed.out


def test_explain_shows_every_stage_its_score_and_its_time(run_cli):
    told = " ".join(run_cli("search", QUESTION, "--k", "3", "--explain").out.split())
    for word in ("bm25 ", "dense ", "rerank ", "by hybrid, reranked", "retrieve "):
        assert word in told


@pytest.mark.parametrize("by", ["bm25", "dense", "hybrid"])
def test_each_way_to_rank_names_itself(run_cli, by: str):
    printed = run_cli("search", QUESTION, "--by", by, "--set", "search.rerank=none", "--json")
    hits = json.loads(printed.out)["evidence"]
    assert {hit["retriever"] for hit in hits} == {by}
    assert set(hits[0]["scores"]) == ({"bm25", "dense"} if by == "hybrid" else {by})


def test_late_is_for_stores(run_cli):
    printed = run_cli("search", QUESTION, "--by", "late")
    assert printed.code and "expected a store to rank by late" in printed.err and "Rank by hybrid" in printed.err


def test_reranking_keeps_the_candidates_and_changes_their_order(run_cli):
    before = found(
        run_cli(
            "search", QUESTION, "--k", "20", "--set", "search.rerank=none", "--set", "search.rewrite=none", "--json"
        )
    )
    after = found(run_cli("search", QUESTION, "--k", "20", "--set", "search.rewrite=none", "--json"))
    assert set(before) == set(after)
    assert before != after


def test_a_batch_is_written_as_a_run_that_trec_reads(run_cli, tmp_path: Path):
    batch = write(
        tmp_path / "q.jsonl", {"id": "q1", "question": QUESTION}, {"id": "q2", "question": "Does aspirin help?"}
    )
    run, rest = tmp_path / "my run.trec", ("--set", "search.rerank=none")
    printed = run_cli("search", "--batch", str(batch), "--out", str(run), "--k", "4", *rest)
    assert (printed.code, printed.out) == (0, "")
    problems = Problems()
    ranked = read_run(run, problems)
    assert (set(ranked), problems) == ({"q1", "q2"}, [])
    assert list(ranked["q1"]) == found(run_cli("search", QUESTION, "--k", "4", "--json", *rest))
    assert {line.split()[5] for line in run.read_text().splitlines()} == {"my-run"}
    assert "Recall@5" in run_cli("score", str(run), "--gold", str(gold(tmp_path)), "--measures", "Recall@5").out


def gold(folder: Path) -> Path:
    return write(
        folder / "gold.jsonl", {"id": "q1", "documents": ["demo:0001"]}, {"id": "q2", "documents": ["demo:0019"]}
    )


def test_bad_lines_of_a_batch_cost_themselves(run_cli, tmp_path: Path):
    batch = write(
        tmp_path / "q.jsonl", {"id": "q1", "question": QUESTION}, "{", {"id": "q1", "question": "Again?"}, {"id": "q3"}
    )
    printed = run_cli("search", "--batch", str(batch), "--json", "--set", "search.rerank=none")
    assert printed.code == 2
    assert [json.loads(line)["id"] for line in printed.out.splitlines()] == ["q1"]
    assert printed.err.count("q.jsonl") == 3


def test_an_id_that_a_run_cannot_have_is_told_by_its_file_line_and_field(run_cli, tmp_path: Path):
    questions = [{"id": "q1", "question": QUESTION}, "{", {"id": "q 2", "question": QUESTION}]
    batch = write(tmp_path / "q.jsonl", *questions)
    printed = run_cli("search", "--batch", str(batch), "--out", str(tmp_path / "r.trec"), "--set", "search.rerank=none")
    assert printed.code == 2
    assert "q.jsonl, line 3, field id: " in printed.err


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ([], "expected a question, or --batch"),
        ([QUESTION, "--batch", "q.jsonl"], "found both"),
        ([QUESTION, "--by", "magic"], "expected a value of search.by out of bm25"),
        ([QUESTION, "--set", "search.keep=old"], "expected a value of search.keep"),
        ([QUESTION, "--set", "search.rerank=gbe"], "expected a reranker out of"),
        ([QUESTION, "--plan", "best"], "expected a search plan out of default"),
        ([QUESTION, "--plan", "reason-verify"], "a language model to rewrite"),
        (
            [QUESTION, "--corpus", "pubmed", "--set", "search.year_from=2010"],
            "expected a store or documents with filters",
        ),
        ([QUESTION, "--set", "search.designs=guess"], "value of search.designs out of animal study"),
        ([QUESTION, "--corpus", "pubmed", "--by", "dense"], "ranks by its own rules"),
        ([QUESTION, "--out", f"{__file__}/out.trec"], "is a file, not a folder"),
    ],
)
def test_invalid_options_are_refused_with_the_next_step(run_cli, arguments: list[str], problem: str):
    printed = run_cli("search", *arguments)
    assert printed.code == 2
    assert problem.lower() in " ".join(printed.err.split()).lower()
    assert "Traceback" not in printed.err


def test_a_search_in_memory_can_be_narrowed_by_year_and_design(run_cli):
    narrowed = ("--set", "search.year_from=2010", "--set", "search.designs=randomised trial", "--set", "search.k=20")
    printed = run_cli("search", QUESTION, *narrowed, "--json")
    documents = [hit["document"] for hit in json.loads(printed.out)["evidence"]]
    assert documents and all(document["year"] >= 2010 for document in documents)
    assert all("random" in json.dumps(document).lower() for document in documents)


def test_a_question_of_ten_thousand_characters_is_searched_for(run_cli):
    assert run_cli("search", "aspirin " * 1250, "--set", "search.rerank=none", "--json").code == 0


def test_operators_and_quotation_marks_have_no_special_meaning(run_cli):
    plain = found(
        run_cli("search", "levodopa Parkinson symptoms", "--by", "bm25", "--set", "search.rerank=none", "--json")
    )
    quoted = found(
        run_cli("search", '"levodopa" (Parkinson) [symptoms]*', "--by", "bm25", "--set", "search.rerank=none", "--json")
    )
    assert plain == quoted


def test_a_run_is_not_written_over_the_corpus(run_cli, tmp_path: Path):
    documents = write(tmp_path / "docs.jsonl", {"id": "a", "text": "Aspirin lowers fever."})
    before = documents.read_text()
    printed = run_cli("search", "aspirin", "--corpus", str(documents), "--out", str(documents))
    assert printed.code == 2
    assert "expected --out and the input to be different files" in printed.err
    assert documents.read_text() == before


def test_ids_with_spaces_are_found_and_only_a_run_refuses_them(run_cli, tmp_path: Path):
    documents = write(tmp_path / "docs.jsonl", {"id": "a b", "text": "Aspirin lowers fever."})
    options = ("--corpus", str(documents), "--by", "bm25", "--set", "search.rerank=none")
    assert "a b" in run_cli("search", "aspirin", *options).out
    batch = write(tmp_path / "q.jsonl", {"id": "q1", "question": "knees?"}, {"id": "q2", "question": "aspirin?"})
    run = tmp_path / "out.trec"
    printed = run_cli("search", "--batch", str(batch), "--out", str(run), *options)
    assert (printed.code, run.read_text()) == (2, "")
    assert "ids without spaces" in printed.err


def test_documents_that_say_they_are_retracted_are_marked(run_cli, tmp_path: Path):
    documents = write(
        tmp_path / "docs.jsonl",
        {"id": "a", "text": "Aspirin lowers fever.", "retracted": True},
        {"id": "b", "text": "Aspirin lowers fever in adults.", "retracted": False},
    )
    shown = run_cli(
        "search", "aspirin", "--corpus", str(documents), "--by", "bm25", "--set", "search.rerank=none", "--json"
    ).out
    assert {hit["document"]["id"]: hit["document"]["retracted"] for hit in json.loads(shown)["evidence"]} == {
        "a": True,
        "b": False,
    }


def test_a_score_that_is_on_another_scale_does_not_stand_among_the_others(run_cli, tmp_path: Path):
    texts = {"a": "Aspirin lowers fever.", "b": "Aspirin lowers fever in adults.", "c": "Aspirin is a drug."}
    lines = [{"id": id, "text": text, "retracted": id == "a"} for id, text in texts.items()]
    corpus = write(tmp_path / "docs.jsonl", *lines)
    given = ("search", "does aspirin lower fever", "--corpus", str(corpus), "--by", "bm25")
    printed = run_cli(*given, "--set", "search.rerank=bundled").out
    hits = [line for line in printed.splitlines() if line[:4].strip(" .").isdigit()]
    retracted, *others = sorted(hits, key=lambda line: "RETRACTED" not in line)
    assert retracted.endswith("  a  -  RETRACTED") and len(others) == 2
    assert all(float(line.split()[-1]) for line in others)
    assert "-: not ranked again" in printed
    assert "-: not ranked again" not in run_cli(*given, "--set", "search.rerank=none").out


def test_a_question_id_cannot_steer_the_terminal(run_cli, tmp_path: Path):
    batch = write(tmp_path / "q.jsonl", {"id": "q\u001b[31m1", "question": "aspirin?"})
    assert "\x1b" not in run_cli("search", "--batch", str(batch), "--set", "search.rerank=none").out


def test_a_folder_of_the_name_demo_is_not_the_demonstration(run_cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "demo").mkdir()
    monkeypatch.chdir(tmp_path)
    assert run_cli("search", "aspirin", "--set", "search.rerank=none").code == 0


def test_more_documents_than_there_are_give_all_and_too_many_are_refused(run_cli):
    assert (
        len(
            found(run_cli("search", QUESTION, "--k", "10000", "--set", "search.rerank=none", "--by", "dense", "--json"))
        )
        == 150
    )
    assert run_cli("search", QUESTION, "--k", "10001").code == 2


def test_a_file_with_the_name_of_a_corpus_is_not_read_in_silence(run_cli, tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("demo").write_text(json.dumps({"id": "mine", "text": "Aspirin lowers fever."}) + "\n")
    words = ("search", "aspirin", "--by", "bm25", "--set", "search.rerank=none", "--corpus")
    found = run_cli(*words, "demo")
    assert "demo is the demonstration corpus here; the file or folder of that name is not read" in found.err
    assert "Write ./demo for it" in found.err and "mine" not in found.out
    own = run_cli(*words, "./demo")
    assert "mine" in own.out and "demonstration corpus" not in own.err
