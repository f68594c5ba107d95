from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import datasets_samples as samples
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from vericite.cli.datasets import datasets as datasets_command
from vericite.datasets.registry import SETS, DatasetSource, found_files, is_named, source_named
from vericite.errors import InputError, Problems, RecordError, UnknownNameError, VeriCiteError
from vericite.evaluate.judge_calibration import read_labels
from vericite.evaluate.systems import read_gold, read_system
from vericite.formats import answers_in
from vericite.formats.registry import read_questions
from vericite.records import Answer


def source(name: str, path: Path, part: str = "") -> DatasetSource:
    return source_named(f"{name}/{part}:{path}" if part else f"{name}:{path}")


def test_bioasq_reads_the_formats_of_all_years(tmp_path: Path):
    path = samples.write(tmp_path, "b.json", samples.BIOASQ)
    problems = Problems()
    first, second, third, fourth = source("bioasq", path).questions(problems)
    assert not problems
    assert first.type == "yesno" and first.gold_exact == (("yes",),) and first.gold_ideal == ("Yes, by a day.",)
    assert first.gold_documents == ("101", "102", "103")
    assert second.gold_exact == (("CFTR", "ABCC7"),)
    assert third.gold_exact == (("a", "A"), ("b",)) and third.gold_ideal == ("Two.",)
    assert fourth.gold_exact == (("x",), ("y",))
    documents = {document.id: document for document in source("bioasq", path).documents(problems)}
    assert documents["101"].title == "Zinc." and documents["103"].text == "It did."


def test_mirage_gives_its_parts(tmp_path: Path):
    path = samples.write(tmp_path, "benchmark.json", samples.MIRAGE)
    (closed,) = source("mirage", path, "bioasq").questions(Problems())
    assert closed.type == "yesno" and closed.gold_exact == (("no",),)
    gold = source("mirage", path).gold(Problems())
    assert gold["0"].exact == (("zinc", "A"),) and gold["0"].groups == {"set": "medqa"}
    with pytest.raises(UnknownNameError, match="part of mirage"):
        source("mirage", path, "nonsense")
    with pytest.raises(InputError, match="mmlu"):
        source("mirage", path, "mmlu").questions(Problems())


def test_pubmedqa_gives_its_test_part_and_abstracts_without_conclusion(tmp_path: Path):
    path = samples.write(tmp_path, "ori_pqal.json", samples.PUBMEDQA)
    document = next(iter(source("pubmedqa", path).documents(Problems())))
    assert [section.label for section in document.sections] == ["METHODS", "RESULTS"]
    assert "may" not in document.text
    with pytest.raises(InputError, match=r"test_ground_truth\.json"):
        source("pubmedqa", path, "test").questions(Problems())
    samples.write(tmp_path, "test_ground_truth.json", {"102": "no"})
    assert [question.id for question in source("pubmedqa", path, "test").questions(Problems())] == ["102"]
    assert [question.id for question in source("pubmedqa", path, "training").questions(Problems())] == ["101"]
    # A folder holds both files.
    assert len(source("pubmedqa", tmp_path).questions(Problems())) == 2


def test_biogen_has_the_split_of_bioace(tmp_path: Path):
    path = samples.write(tmp_path, "topics.json", samples.TOPICS)
    parts = [source("biogen2024", path, part).questions(Problems()) for part in ("test", "validation", "training")]
    assert [len(part) for part in parts] == [40, 5, 20]
    assert [part[0].id for part in parts] == ["116", "156", "161"]


@pytest.mark.parametrize("form", ["topics", "halves", "lines", "reversed", "with other files"])
def test_biogens_parts_are_the_same_in_any_form_of_its_folder(tmp_path: Path, form: str):
    topics = samples.TOPICS["topics"]
    files: dict[str, object] = {
        "topics": {"t.json": samples.TOPICS},
        "halves": {"b.json": topics[::2], "a.json": topics[1::2]},
        "lines": {"t.jsonl": "".join(json.dumps(topic) + "\n" for topic in topics)},
        "reversed": {"t.json": topics[::-1]},
        "with other files": {"a.json": topics[::2], "t.json": samples.TOPICS},
    }[form]
    for name, content in {**files, "qrels.json": {str(topic["id"]): {"1": 5} for topic in topics}}.items():
        samples.write(tmp_path, name, content)
    for part, ids in {"test": range(116, 156), "validation": range(156, 161), "training": range(161, 181)}.items():
        found = source("biogen2024", tmp_path, part)
        assert sorted(question.id for question in found.questions(Problems())) == list(map(str, ids))
        assert sorted(found.gold(Problems())) == list(map(str, ids))


@pytest.mark.parametrize("text", ['{"116": {"1": 5, "2": 2, "3": 0}}', "116 0 1 5\n116 0 2 2\n116 0 3 0\n"])
def test_biogen_judgements_are_gold_with_grades(tmp_path: Path, text: str):
    gold = source("biogen2025", samples.write(tmp_path, "qrels", text)).gold(Problems())
    assert gold["116"].documents == {"1": 5.0, "2": 2.0, "3": 0.0}


def test_topics_and_judgements_of_a_folder_are_merged(tmp_path: Path):
    samples.write(tmp_path, "topics.json", samples.TOPICS)
    samples.write(tmp_path, "qrels.json", {"116": {"1": 5}})
    gold = source("biogen2024", tmp_path).gold(Problems())
    assert gold["116"].question == "Question 0?" and gold["116"].documents == {"1": 5.0}


def test_kqa_gives_vital_nuggets_and_labelled_statements(tmp_path: Path):
    gold = source("kqa", samples.write(tmp_path, "k.jsonl", samples.KQA)).gold(Problems())["kqa-1"]
    assert [nugget.vital for nugget in gold.nuggets or ()] == [True, False, False]
    table = "Question,answer,claim,majority_label\nIs it?,It is.,It is so.,Entailment\nIs it?,No.,It is so.,Maybe\n"
    problems = Problems()
    (citation,) = source("kqa", samples.write(tmp_path, "nli.csv", table)).citations(problems)
    assert citation.label == "supported" and citation.premise == "It is."
    assert "Entailment, Contradiction, Neutral" in str(problems[0]) and "line 3" in str(problems[0])


def test_medaesqa_gives_answers_and_a_label_for_each_citation(tmp_path: Path):
    path = samples.write(tmp_path, "m.json", samples.MEDAESQA)
    answers = source("medaesqa", path).answers(Problems())
    assert [answer.id for answer in answers] == ["116-M1", "116-M2"]
    assert [[citation.document for citation in claim.citations] for claim in answers[0].claims] == [["101"], ["102"]]
    assert [answers[0].text[claim.span.slice] for claim in answers[0].claims] == [
        "Zinc shortens colds.",
        "Sleep helps.",
    ]
    labels = source("medaesqa", path).labels(Problems())["116-M1"]
    # Supporting if either of two labels is; invalid citations are none.
    assert [(label.document, label.label) for label in labels.citations or ()] == [
        ("101", "supports"),
        ("102", "irrelevant"),
    ]
    assert [label.evidence for label in labels.citations or ()] == [("x",), ()]
    assert labels.sentences == ("required", None)


def test_medaesqa_is_checked_with_the_texts_of_its_documents(tmp_path: Path):
    from vericite.records import Document

    path = samples.write(tmp_path, "m.json", samples.MEDAESQA)
    with pytest.raises(InputError, match="--documents FILE"):
        list(answers_in(path, "medaesqa"))
    found = list(answers_in(path, "medaesqa", [Document.from_text("101", "Zinc shortens colds.")]))
    assert found[0].documents[0].text == "Zinc shortens colds."  # pyright: ignore[reportAttributeAccessIssue]
    assert read_system(Path(f"medaesqa:{path}"), {}).labels.keys() == {"116-M1", "116-M2"}


def test_a_bad_answer_of_medaesqa_only_costs_itself_in_every_reader(tmp_path: Path):
    from vericite.records import Document

    question = json.loads(json.dumps(samples.MEDAESQA[0]))
    question["machine_generated_answers"] |= {"M3": "no sentences", "M4": {"answer_sentences": [{}]}}
    path = samples.write(tmp_path, "m.json", [question])
    zinc = Document.from_text("101", "Zinc shortens colds.")
    for found in (
        list(answers_in(path, "medaesqa", [zinc])),
        list(answers_in(Path(f"medaesqa:{path}"), documents=[zinc])),
    ):
        assert [item.id for item in found if isinstance(item, Answer)] == ["116-M1", "116-M2"]
        wrong = [str(item) for item in found if isinstance(item, RecordError)]
        assert len(wrong) == 2 and ".M3.answer_sentences: expected a list" in wrong[0]
        assert ".M4.answer_sentences.0: expected the field answer_sentence" in wrong[1]


def test_an_overlong_output_of_alce_only_costs_itself(tmp_path: Path):
    record = samples.ALCE["data"][0]
    path = samples.write(tmp_path, "asqa.json", {"data": [{**record, "output": "word " * 300_000}, record]})
    problems = Problems()
    assert [answer.id for answer in source("alce", path).answers(problems)] == ["a1"]
    assert "data.0.output: expected an answer of at most" in str(problems[0])


def test_alce_gives_gold_of_its_three_sets_and_the_answers_of_a_run(tmp_path: Path):
    path = samples.write(tmp_path, "asqa.json", samples.ALCE)
    gold = source("alce", path).gold(Problems())
    assert gold["a1"].exact == (("1990",),) and [nugget.text for nugget in gold["a1"].nuggets or ()] == [
        "It was in 1990."
    ]
    assert gold["2"].type == "list" and gold["2"].exact == (("Rhine", "Rhein"), ("Elbe",))
    (answer,) = source("alce", path).answers(Problems())
    # Passages of the same page stay separate.
    assert [[citation.document for citation in claim.citations] for claim in answer.claims] == [["7"], ["7#2"]]


def test_labelled_statements_can_be_used_to_calibrate(tmp_path: Path):
    path = samples.write(tmp_path, "vj.jsonl", samples.VJ, {**samples.VJ, "source_supports_statement": "no_support"})
    problems = Problems()
    labels = read_labels(Path(f"vj:{path}"), problems)
    assert not problems and [label.label for label in labels] == ["supported", "irrelevant"]
    assert labels[0].premise == "Zinc helps." and labels[0].group == "is zinc good"


@pytest.mark.parametrize("value", [samples.MSMARCO, samples.MSMARCO_COLUMNS])
def test_msmarco_gives_the_passages_used_for_the_answer(tmp_path: Path, value: object):
    path = samples.write(tmp_path, "train.json", value)
    (question,) = source("msmarco", path).questions(Problems())
    assert question.id == "19699" and question.gold_documents == ("19699-2",)
    assert question.gold_ideal[-1] == "a metal"
    assert [document.source for document in source("msmarco", path).documents(Problems())][
        1
    ] == "https://example.org/zinc"


@pytest.mark.parametrize("value", [samples.HOTPOTQA, samples.HOTPOTQA_HUB])
def test_hotpotqa_gives_the_paragraphs_that_it_rests_on(tmp_path: Path, value: object):
    path = samples.write(tmp_path, "dev.json", value)
    (question,) = source("hotpotqa", path).questions(Problems())
    assert question.type == "yesno" and question.gold_documents == ("Zinc", "Iron")
    texts = {document.id: document.text for document in source("hotpotqa", path).documents(Problems())}
    assert texts["Zinc"] == "Zinc is a metal."


def test_attrscore_gives_only_natural_questions_as_a_part(tmp_path: Path):
    path = samples.write(tmp_path, "train.json", samples.ATTRSCORE)
    assert [label.label for label in source("attrscore", path).citations(Problems())] == [
        "supported",
        "irrelevant",
        "contradicted",
    ]
    assert len(list(source("attrscore", path, "nq").citations(Problems()))) == 2


def test_hagrid_gives_answers_that_cite_quotes_and_labels_of_sentences(tmp_path: Path):
    path = samples.write(tmp_path, "h.jsonl", samples.HAGRID)
    (answer,) = source("hagrid", path).answers(Problems())
    assert [[citation.document for citation in claim.citations] for claim in answer.claims] == [
        ["10#1"],
        ["10#1", "11#1"],
        [],
    ]
    first, second = source("hagrid", path).citations(Problems())
    assert (first.label, first.claim, first.premise) == ("supported", "Zinc is a metal.", "Zinc is a metal.")
    assert (second.label, second.documents) == ("irrelevant", ("10#1", "11#1"))


def test_politicite_has_the_counts_of_the_papers_table(tmp_path: Path):
    path = samples.write(tmp_path, "p.jsonl", samples.POLITICITE)
    counts = source("politicite", path).counts(Problems()).record
    assert counts["answers"] == 1 and counts["sentences of answers"] == 3 and counts["sentences that cite"] == 2
    assert counts["sentences with several sources"] == 1 and counts["citations a sentence that cites"] == 1.5
    gold = source("politicite", path).gold(Problems())["p1"]
    assert [sentence.documents for sentence in gold.citations or ()] == [("s1",), ("s1", "s2"), ()]


def test_claims_are_paired_with_the_abstracts_in_their_folder(tmp_path: Path):
    path = samples.write(tmp_path, "claims_dev.jsonl", *samples.SCIFACT)
    with pytest.raises(InputError, match=r"corpus\.jsonl"):
        list(source("scifact", path).citations(Problems()))
    samples.write(tmp_path, "corpus.jsonl", samples.SCIFACT_CORPUS)
    supported, other = source("scifact", path).citations(Problems())
    assert (supported.label, supported.evidence, supported.documents) == ("supported", (1,), ("7",))
    assert supported.premise == "Zinc was given.\nColds were shorter." and other.label == "irrelevant"
    table = samples.write(tmp_path, "hv.csv", samples.HEALTHVER)
    assert [label.label for label in source("healthver", table).citations(Problems())] == ["supported", "irrelevant"]


def test_claims_without_abstracts_only_cost_their_file(tmp_path: Path):
    samples.write(tmp_path, "claims_dev.jsonl", *samples.SCIFACT)
    samples.write(tmp_path, "corpus.jsonl", samples.SCIFACT_CORPUS)
    fold = tmp_path / "elsewhere"
    fold.mkdir()
    samples.write(fold, "claims_dev_1.jsonl", *samples.SCIFACT)
    problems = Problems()
    counts = source("scifact", tmp_path).counts(problems).record
    assert counts["labelled citations"] == 2 and counts["documents"] == 1
    assert len(problems) == 1 and "claims_dev_1.jsonl: expected corpus.jsonl" in str(problems[0])
    assert str(problems[0]).endswith("This file was not read")


def test_unlabelled_claims_are_not_an_error(tmp_path: Path, run_cli: Callable[..., Any]):
    samples.write(tmp_path, "claims_dev.jsonl", *samples.SCIFACT)
    samples.write(tmp_path, "claims_test.jsonl", {"id": 3, "claim": "Zinc cures colds."}, {"id": 4, "claim": "None."})
    samples.write(tmp_path, "corpus.jsonl", samples.SCIFACT_CORPUS)
    fold = tmp_path / "cross_validation" / "fold_1"
    fold.mkdir(parents=True)
    samples.write(fold, "claims_dev_1.jsonl", *samples.SCIFACT)
    printed = run_cli("datasets", "stats", "scifact", str(tmp_path), "--json")
    counts = json.loads(printed.out)["counts"]
    assert printed.code == 0 and counts["labelled citations"] == 2 and counts["claims without labels"] == 2
    misspelt = samples.write(tmp_path, "claims_test.jsonl", {"id": 3, "claim": "Zinc.", "cited": [7]})
    assert run_cli("datasets", "stats", "scifact", str(misspelt)).code == 2


def test_gzipped_data_sets_work_in_other_commands(tmp_path: Path):
    path = tmp_path / "b.json.gz"
    path.write_bytes(gzip.compress(json.dumps(samples.BIOASQ).encode()))
    problems = Problems()
    questions = read_questions(Path(f"bioasq:{path}"), problems)
    assert len(questions) == 4 and not problems
    problems = Problems()
    gold = read_gold(Path(f"bioasq:{path}"), problems)
    assert gold["q2"].exact == (("CFTR", "ABCC7"),) and not problems


def test_a_wrong_shape_is_an_error_with_expectation_and_place(tmp_path: Path):
    rows = [{**samples.BIOASQ["questions"][0], "id": "x", "type": "opinion"}, samples.BIOASQ["questions"][1], 7]
    problems = Problems()
    found = source("bioasq", samples.write(tmp_path, "b.json", {"questions": rows})).questions(problems)
    assert [question.id for question in found] == ["q2"]
    assert "questions.0.type: expected one of yesno, factoid, list, summary; found 'opinion'" in str(problems[0])
    assert "questions.2: expected an object; found a number" in str(problems[1])
    path = samples.write(tmp_path, "m.json", samples.MIRAGE)
    with pytest.raises(InputError, match=r"expected BioASQ task B.*\"body\".*found none.*fields 'bioasq', 'medqa'"):
        source("bioasq", path).questions(Problems())
    with pytest.raises(InputError, match=r"expected answers in .*found none\. bioasq gives questions, gold, documents"):
        source("bioasq", samples.write(tmp_path, "g.json", samples.BIOASQ)).answers(Problems())
    with pytest.raises(InputError, match="Get it from http"):
        source("bioasq", tmp_path / "absent.json")


def test_without_a_file_the_usual_files_of_the_data_folder_are_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("VERICITE_DATA", raising=False)
    with pytest.raises(InputError, match="VERICITE_DATA"):
        source_named("mirage:bioasq")
    monkeypatch.setenv("VERICITE_DATA", str(tmp_path))
    with pytest.raises(InputError, match=r"mirage/benchmark\.json"):
        source_named("mirage:bioasq")
    (tmp_path / "mirage").mkdir()
    samples.write(tmp_path / "mirage", "benchmark.json", samples.MIRAGE)
    assert source_named("mirage:bioasq").name == "mirage/bioasq"
    assert [question.id for question in source_named("mirage:bioasq").questions(Problems())] == ["q1"]


def test_an_existing_file_is_read_as_a_file_whatever_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    samples.write(tmp_path, "bioasq", "{}")
    assert not is_named("bioasq") and not is_named("questions.jsonl") and not is_named("C:/x") and is_named("scifact")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 10**12) | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)
FIELDS = sorted({word for known in SETS.values() for word in known.shape.split('"')[1::2]})
SHAPED = st.recursive(
    JSON, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(FIELDS), inner, max_size=9)
)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@example(value=[{"": {}}], name="biogen2024")
@given(value=SHAPED, name=st.sampled_from(sorted(SETS)))
def test_garbage_is_refused_with_a_message(value: object, name: str, tmp_path_factory: pytest.TempPathFactory):
    path = samples.write(tmp_path_factory.mktemp("garbage"), "x.json", value)
    try:
        source(name, path).counts(Problems())
    except VeriCiteError as error:
        assert "expected" in str(error)


DATA = Path(os.environ.get("VERICITE_DATA") or Path(__file__).parents[2] / ".." / "shared" / "data")
COUNTS = {
    "bioasq": {"questions": 3144, "questions: yesno": 843},
    "mirage/bioasq": {"questions": 618},
    "mirage/pubmedqa": {"questions": 500},
    "pubmedqa": {"questions": 1000},
    "pubmedqa/test": {"questions": 500},
    "biogen2024": {"questions": 65, "gold documents": 3217},
    "kqa": {"questions": 201, "vital nuggets": 892, "gold nuggets": 1589, "labelled citations": 399},
    "medlfqa": {"questions": 1670},
    "scifact": {
        "labelled citations: supported": 138,
        "labelled citations: contradicted": 71,
        "labelled citations: irrelevant": 131,
    },
    "healthver": {"as the data say: SUPPORT": 374, "as the data say: CONTRADICT": 225, "labelled citations": 2726},
    "covidfact": {"labelled citations: supported": 299, "labelled citations: contradicted": 641},
    "clinifact": {"labelled citations": 1970},
    "nli4ct": {"labelled citations": 500, "labelled citations: supported": 250},
    "evidence-inference": {"labelled citations": 4545},
    "attributionbench": {"labelled citations": 1198, "labelled citations: supported": 599},
    "wice": {"labelled citations": 349},
    "esnli": {"labelled citations": 19666},
}


@pytest.mark.slow
@pytest.mark.parametrize("name", COUNTS)
def test_real_files_are_read_completely(name: str, monkeypatch: pytest.MonkeyPatch):
    if not DATA.is_dir():
        pytest.skip("the folder of data sets, ../shared/data, is not here")
    monkeypatch.setenv("VERICITE_DATA", str(DATA))
    problems = Problems()
    counts = source_named(name).counts(problems).record
    assert not problems
    assert {what: counts.get(what) for what in COUNTS[name]} == COUNTS[name]


def judged(supported: int, contradicted: int, irrelevant: int) -> dict[str, int]:
    counts = {"supported": supported, "contradicted": contradicted, "irrelevant": irrelevant}
    return {f"labelled citations: {label}": count for label, count in counts.items() if count}


FILES = {
    "bioasq:mirage/rawdata/bioasq": {
        "questions": 2310,
        "questions: factoid": 740,
        "questions: yesno": 618,
        "questions: summary": 543,
        "questions: list": 409,
    },
    "bioasq:bioasq12b": {"questions": 340},
    "bioasq:bioasq13b": {"questions": 154},
    "bioasq:bioasq13b_tuw": {"questions": 340},
    "scifact:scifact/data/claims_train.jsonl": judged(370, 194, 355),
    "healthver:healthver/multivers/claims_train.jsonl": judged(2084, 1256, 1952),
    "healthver:healthver/multivers/claims_dev.jsonl": judged(300, 208, 432),
    "healthver:healthver/multivers/claims_test.jsonl": judged(374, 225, 304),
    "healthver:healthver/healthver_test.csv": {"labelled citations": 1823},
    "nli4ct:nli4ct/train.json": judged(850, 850, 0),
    "nli4ct:nli4ct/dev.json": judged(100, 100, 0),
}
"""Counts of files other than the usual ones, from the folder's own page."""


@pytest.mark.slow
@pytest.mark.parametrize("named", FILES)
def test_other_real_files_have_the_counts_of_the_folders_page(named: str):
    name, _, file = named.partition(":")
    if not (DATA / file).exists():
        pytest.skip("the folder of data sets, ../shared/data, is not here")
    problems = Problems()
    counts = source(name, DATA / file).counts(problems).record
    assert not problems
    assert {what: counts.get(what) for what in FILES[named]} == FILES[named]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("part", "answers"), [("bioasq", {"yes": 395, "no": 223}), ("pubmedqa", {"yes": 276, "no": 169, "maybe": 55})]
)
def test_mirages_parts_have_the_answers_of_the_folders_page(part: str, answers: dict[str, int]):
    if not (DATA / "mirage").is_dir():
        pytest.skip("the folder of data sets, ../shared/data, is not here")
    found = [
        question.gold_exact[0][0]
        for question in source("mirage", DATA / "mirage/benchmark.json", part).questions(Problems())
    ]
    assert {answer: found.count(answer) for answer in set(found)} == answers


WANTED = set(
    "bioasq mirage pubmedqa biogen2024 biogen2025 medaesqa kqa medlfqa alce vj msmarco hotpotqa attrscore hagrid "
    "scifact healthver politicite".split()
)


def test_every_set_is_listed_with_its_missing_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    assert WANTED <= SETS.keys()
    monkeypatch.setenv("VERICITE_DATA", str(tmp_path))
    done = CliRunner().invoke(datasets_command, [])
    told = " ".join(done.stdout.split())
    assert told.count("not here: get it") == len(SETS)
    assert "name it (mirage:FILE) or put it in VERICITE_DATA as mirage/benchmark.json" in told
    assert "not here: get it, and name it: medaesqa:FILE" in told


def test_each_bioasq_file_has_the_counts_of_its_year():
    if not found_files(SETS["bioasq"], DATA):
        pytest.skip("the folder of data sets, ../shared/data, is not here")
    counts = source("bioasq", DATA / "bioasq12b").counts(Problems()).record
    assert counts["questions"] == 340
