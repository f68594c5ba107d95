"""The demonstration corpus, and corpora read from files."""

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from vericite.corpus import demo_documents, demo_questions, demo_vectors, load_documents
from vericite.errors import InputError, Problems
from vericite.records import Document, to_json
from vericite.text.sentences import document_sentences


def test_there_are_150_documents_numbered_through():
    assert [document.id for document in demo_documents()] == [f"demo:{number:04}" for number in range(1, 151)]


def test_no_document_passes_for_a_publication():
    for document in demo_documents():
        assert document.pmid is None
        assert document.authors == ()
        assert document.journal is not None and "demonstration" in document.journal
        assert document.source == "vericite-demo"


def test_every_document_has_a_title_and_a_short_abstract():
    for document in demo_documents():
        assert document.title and not document.title.endswith(".")
        assert 3 <= len(document_sentences(document)) <= 20
        assert all(section.text.strip() for section in document.sections)
        assert not re.search(r"\s{2}|^\s|\s$", document.text)


def test_titles_are_used_once():
    assert max(Counter(document.title for document in demo_documents()).values()) == 1


def test_no_sentence_is_in_two_documents():
    seen: dict[str, str] = {}
    for document in demo_documents():
        for sentence in document_sentences(document):
            text = sentence.text_in(document)
            assert text not in seen, f"{document.id} and {seen[text]}: {text}"
            seen[text] = document.id


def test_there_are_60_questions_of_every_type_whose_gold_exists():
    known = {document.id for document in demo_documents()}
    questions = demo_questions()
    assert len({question.id for question in questions}) == len({question.text for question in questions}) == 60
    assert {question.type for question in questions} == {"yesno", "factoid", "list", "summary"}
    for question in questions:
        assert question.gold_documents and set(question.gold_documents) <= known
        assert len(set(question.gold_documents)) == len(question.gold_documents)
        assert question.gold_ideal
        assert bool(question.gold_exact) == (question.type != "summary")
        assert question.text.endswith("?")


def test_yes_no_questions_are_answered_yes_or_no():
    answers = Counter(item.gold_exact for item in demo_questions() if item.type == "yesno")
    assert set(answers) == {(("yes",),), (("no",),)}
    assert min(answers.values()) >= 5


def test_factoid_answers_are_in_a_gold_document():
    documents = {document.id: document for document in demo_documents()}
    for question in demo_questions():
        if question.type in ("factoid", "list"):
            gold = " ".join(f"{documents[id].title} {documents[id].text}" for id in question.gold_documents).lower()
            for names in question.gold_exact:
                assert any(name.lower() in gold for name in names), (question.id, names)


def test_the_corpus_has_a_vector_a_document():
    assert len(demo_vectors()) == len(demo_documents())


def write(path: Path, *lines: str) -> Path:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def line(id: str, text: str = "Aspirin lowers fever.") -> str:
    return to_json(Document.from_text(id, text))


def test_a_corpus_is_read_from_a_file(tmp_path: Path):
    path = write(tmp_path / "c.jsonl", line("a"), '{"id": "b", "sections": [{"text": "x", "label": "RESULTS"}]}')
    problems = Problems()
    documents = load_documents(path, problems)
    assert not problems
    assert [(document.id, document.text) for document in documents] == [("a", "Aspirin lowers fever."), ("b", "x")]


def test_the_demonstration_corpus_can_be_read_from_its_file(tmp_path: Path):
    path = write(tmp_path / "c.jsonl", *map(to_json, demo_documents()))
    problems = Problems()
    assert load_documents(path, problems) == demo_documents()
    assert not problems


def test_bad_lines_and_repeated_ids_are_reported_by_line_and_the_rest_is_read(tmp_path: Path):
    path = write(
        tmp_path / "c.jsonl",
        line("a"),
        "{broken",
        json.dumps({"title": "no id"}),
        line("a", "Another text."),
        json.dumps({"id": "b", "sections": [{"txt": "x"}]}),
        json.dumps({"id": "c", "year": "2020"}),
        line("d"),
    )
    problems = Problems()
    documents = load_documents(path, problems)
    assert [document.id for document in documents] == ["a", "d"]
    assert documents[0].text == "Aspirin lowers fever."
    assert [(item.line, item.field) for item in problems] == [
        (2, None),
        (3, "id"),
        (4, "id"),
        (5, "sections.0.txt"),
        (6, "year"),
    ]
    assert "'a' was used before" in problems[2].problem
    assert all(str(path) in str(item) for item in problems)


def test_a_repeated_id_is_reported_by_its_line_with_empty_lines_before_it(tmp_path: Path):
    path = write(tmp_path / "c.jsonl", line("a"), "", "", line("a"))
    problems = Problems()
    load_documents(path, problems)
    assert [item.line for item in problems] == [4]


@pytest.mark.parametrize("content", ["", "\n\n", "{broken\n"], ids=["empty", "blank", "broken"])
def test_a_file_without_a_document_is_refused_with_the_form_expected(tmp_path: Path, content: str):
    path = tmp_path / "c.jsonl"
    path.write_text(content)
    with pytest.raises(InputError, match="expected documents") as caught:
        load_documents(path, Problems())
    assert ("The first problem" in str(caught.value)) == bool(content.strip())


def test_a_file_that_is_not_there_and_a_folder_without_files_are_refused(tmp_path: Path):
    for path, expected in ((tmp_path / "none.jsonl", "a readable file"), (tmp_path, "document files; found none")):
        with pytest.raises(InputError, match=f"expected {expected}"):
            load_documents(path, Problems())


def test_a_byte_order_mark_and_windows_line_ends_are_no_problem(tmp_path: Path):
    path = tmp_path / "c.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + f"{line('a')}\r\n{line('b')}\r\n".encode())
    problems = Problems()
    documents = load_documents(path, problems)
    assert ([document.id for document in documents], problems) == (["a", "b"], [])
