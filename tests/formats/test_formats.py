from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from vericite.corpus import load_documents
from vericite.errors import InputError, Problems, RecordError
from vericite.formats import FORMATS, answers_in
from vericite.records import Answer, Document

EXAMPLES = Path(__file__).parents[2] / "examples" / "formats"
FILES = {
    "vericite": "vericite.jsonl",
    "biogen": "biogen.json",
    "ragas": "ragas.jsonl",
    "langchain": "langchain.jsonl",
    "spans": "spans.jsonl",
    "markdown": "markdown.md",
    "llamaindex": "llamaindex.jsonl",
    "haystack": "haystack.json",
    "alce": "alce.json",
    "openai": "openai.json",
    "gemini": "gemini.json",
    "perplexity": "perplexity.json",
    "paper-qa": "paper-qa.json",
    "trec-rag": "trec-rag.jsonl",
    "autojudge": "autojudge.jsonl",
    "medaesqa": "medaesqa.json",
}
LIBRARY = load_documents(EXAMPLES / "documents.jsonl", Problems())
DOCUMENTS = [Document.from_text("PMID:123", "Aspirin lowers LDL."), Document.from_text("doi:10.1000/x", "It does not.")]


def read(path: Path, format: str = "auto", documents=DOCUMENTS) -> list[Answer | RecordError]:
    return list(answers_in(path, format, documents))


def read_records(tmp_path: Path, *records: object, format: str = "auto", documents=DOCUMENTS):
    path = tmp_path / "answers.jsonl"
    path.write_text("".join((r if isinstance(r, str) else json.dumps(r)) + "\n" for r in records), encoding="utf-8")
    return read(path, format, documents)


def cited(answer: Answer) -> list[tuple[str, list[tuple[int, str | None]]]]:
    return [(claim.text, [(c.marker, c.document) for c in claim.citations]) for claim in answer.claims]


def coherent(answer: Answer) -> None:
    """What every reader promises of offsets and documents."""
    ids = {document.id for document in answer.documents}
    assert len(ids) == len(answer.documents)
    end = 0
    for claim in answer.claims:
        assert end <= claim.span.start <= claim.span.end <= len(answer.text)
        end = claim.span.end
        words, position = claim.text.split(), claim.span.start
        for citation in claim.citations:
            assert citation.document is None or citation.document in ids
            assert answer.text[citation.span.slice]
        # The words stand in the span in their order: nothing but what cites and dresses is left out.
        for word in words:
            position = answer.text.index(word[:1], position, claim.span.end) + 1
    Answer.model_validate(answer.model_dump())


@pytest.mark.parametrize("format", FORMATS)
def test_every_format_has_an_example_that_auto_recognises(format: str):
    told: list[str] = []
    path = EXAMPLES / FILES[format]
    found = list(answers_in(path, "auto", LIBRARY, lambda name, _: told.append(name)))
    assert told == [format]
    assert found and all(isinstance(item, Answer) for item in found)
    assert found == list(answers_in(path, format, LIBRARY))
    for item in found:
        coherent(item)
        assert any(claim.citations for claim in item.claims)


def test_the_examples_cite_what_they_say():
    answers = {name: read(EXAMPLES / file, name, LIBRARY) for name, file in FILES.items()}
    assert [documents for _, documents in cited(answers["vericite"][0])] == [
        [(99000001, "PMID:99000001")],
        [(1, "PMID:99000001")],
        [(99000002, "99000002")],
        [(99000009, None)],
    ]
    assert [documents for _, documents in cited(answers["markdown"][0])] == [
        [(99000001, "PMID:99000001")],
        [(1, "PMID:99000002")],
        [(3, "doi:10.99999/example.iron.3")],
        [(2, None)],
    ]
    assert cited(answers["markdown"][0])[0][0] == "Haemoglobin rises equally with daily and alternate-day doses."


# vericite


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("LDL falls PMID: 123.", [("LDL falls.", [(123, "PMID:123")])]),
        ("LDL falls (PMID 123).", [("LDL falls.", [(123, "PMID:123")])]),
        ("LDL falls. (PMID: 123) So it is.", [("LDL falls.", [(123, "PMID:123")]), ("So it is.", [])]),
        ("LDL falls (Smith 2020; PMID 123).", [("LDL falls.", [(123, "PMID:123")])]),
        (
            "LDL falls (Smith et al. 2020, PMID 123; Doe 2021a, PMID: 9).",
            [("LDL falls.", [(123, "PMID:123"), (9, None)])],
        ),
        ("LDL falls [PMID:123, PMID:456].", [("LDL falls.", [(123, "PMID:123"), (456, None)])]),
        ("LDL falls [1] (PMID 123).", [("LDL falls.", [(1, "PMID:123")])]),
        ("LDL falls (in 300 men, PMID 123, too).", [("LDL falls (in 300 men, too).", [(123, "PMID:123")])]),
        ("LDL falls (PMID: 123; n = 45).", [("LDL falls (n = 45).", [(123, "PMID:123")])]),
        ("LDL falls in PMID 123, 45 men did.", [("LDL falls in, 45 men did.", [(123, "PMID:123")])]),
        ("LDL falls.\n\nReferences\n1. Doe J. A trial. PMID: 123", [("LDL falls.", [])]),
    ],
)
def test_pubmed_ids_in_the_text_are_citations(tmp_path: Path, text: str, expected):
    record = {"id": "a", "answer": text, "documents": [{"id": "PMID:123", "text": "LDL falls."}]}
    [answer] = read_records(tmp_path, record)
    assert isinstance(answer, Answer)
    assert cited(answer) == expected
    coherent(answer)


@pytest.mark.parametrize("id", ["123", "PMID:123", "pmid:123", "PMID 123", "https://pubmed.ncbi.nlm.nih.gov/123/"])
def test_a_pubmed_id_finds_its_document_however_the_id_is_written(tmp_path: Path, id: str):
    record = {"id": "a", "answer": "LDL falls (PMID: 123).", "documents": [{"id": id, "text": "LDL falls."}]}
    [answer] = read_records(tmp_path, record)
    assert cited(answer) == [("LDL falls.", [(123, id)])]


def test_documents_may_come_from_a_file_of_their_own_and_only_the_cited_are_taken(tmp_path: Path):
    record = {"id": "a", "answer": "LDL falls (PMID: 123). So [1]."}
    [answer] = read_records(tmp_path, record)
    assert cited(answer) == [("LDL falls.", [(123, "PMID:123")]), ("So.", [(1, None)])]
    assert [document.id for document in answer.documents] == ["PMID:123"]
    [error] = read_records(tmp_path, record, documents=())
    assert isinstance(error, RecordError)
    assert error.field == "documents"


def test_a_document_of_a_file_whose_id_the_answers_own_have_comes_under_another(tmp_path: Path):
    library = [Document(id="a", pmid="123"), Document(id="b", pmid="9")]
    record = {"id": "x", "answer": "LDL falls (PMID 123). So [1] (PMID 9).", "documents": [{"id": "a", "text": "One."}]}
    record["answer"] += " It stays (PMID: 123)."
    [answer] = read_records(tmp_path, record, documents=library)
    assert isinstance(answer, Answer)
    assert [document.id for document in answer.documents] == ["a", "pmid:123", "b"]
    assert cited(answer) == [
        ("LDL falls.", [(123, "pmid:123")]),
        ("So.", [(1, "a"), (9, "b")]),
        ("It stays.", [(123, "pmid:123")]),
    ]


# biogen

SENTENCES = [{"text": "LDL falls. ", "citations": [123, "456"]}, {"text": "It\nstays.", "citations": []}]


@pytest.mark.parametrize(
    "record",
    [
        {"metadata": {"team_id": "t", "run_id": "r", "topic_id": 7}, "responses": SENTENCES},
        {
            "metadata": {"topic_id": "7"},
            "responses": [{**SENTENCES[0], "citations": {"123": {}, "456": {}}}, SENTENCES[1]],
        },
        {
            "metadata": {"qa_id": "7"},
            "answer": [
                {"text": "LDL falls.", "supported_citations": [123, 456], "contradicted_citations": [9]},
                {"text": "It\nstays.", "supported_citations": [], "existing_supported_citations": [8]},
            ],
        },
        {"topic_id": "7", "answer": SENTENCES},
        {"topic_id": "7", "answer": "LDL falls [123, 456]. It\nstays.", "references": ["123", "456"]},
    ],
)
@pytest.mark.parametrize("wrap", [lambda r: r, lambda r: [r], lambda r: {"team_id": "t", "results": [r]}])
@pytest.mark.parametrize("indent", [None, 2])
def test_the_shapes_of_biogen_runs(tmp_path: Path, record, wrap, indent):
    path = tmp_path / "run.json"
    path.write_text(json.dumps(wrap(record), indent=indent))
    [answer] = read(path)
    assert isinstance(answer, Answer)
    assert answer.id == "7"
    assert cited(answer) == [("LDL falls.", [(123, "PMID:123"), (456, None)]), ("It\nstays.", [])]
    if not isinstance(record.get("answer"), str):
        assert answer.text == "LDL falls. It\nstays."
        assert all(answer.text[claim.span.slice] == claim.text for claim in answer.claims)


@given(st.lists(st.tuples(st.text(), st.lists(st.integers(1, 10**8 - 1), max_size=3)), max_size=6))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_sentences_that_were_split_keep_exact_offsets(tmp_path: Path, sentences):
    said = [{"text": text, "citations": pmids} for text, pmids in sentences]
    [answer] = read_records(tmp_path, {"topic_id": "1", "responses": said}, format="biogen")
    if isinstance(answer, RecordError):  # half a surrogate pair
        return
    assert all(answer.text[claim.span.slice] == claim.text for claim in answer.claims)
    assert answer.text == " ".join(claim.text for claim in answer.claims)
    kept = [pmids for text, pmids in sentences if text.strip() or pmids]
    assert [[c.marker for c in claim.citations] for claim in answer.claims] == [list(dict.fromkeys(p)) for p in kept]


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("LDL falls [123].", "LDL falls."),
        ("LDL [123, 456] falls ([456]).", "LDL falls."),
        ("Median 30 [12, 45].", "Median 30 [12, 45]."),
        ("[123] LDL falls.", "LDL falls."),
    ],
)
def test_lists_that_repeat_what_a_sentence_cites_are_no_part_of_the_claim(tmp_path: Path, text: str, left: str):
    record = {"topic_id": "7", "responses": [{"text": text, "citations": ["PMID:123", 456]}]}
    [answer] = read_records(tmp_path, record)
    assert answer.text == text
    assert cited(answer) == [(left, [(123, "PMID:123"), (456, None)])]
    coherent(answer)


def test_a_range_in_brackets_is_no_list_of_pubmed_ids(tmp_path: Path):
    [answer] = read_records(tmp_path, {"topic_id": "7", "answer": "LDL falls [123] by 30 [123-125]."})
    assert cited(answer) == [("LDL falls by 30 [123-125].", [(123, "PMID:123")])]


def test_biogen_without_documents_says_how_to_give_them():
    with pytest.raises(InputError, match="--documents FILE"):
        read(EXAMPLES / "biogen.json", documents=())


# ragas and langchain


@pytest.mark.parametrize(
    "record",
    [
        {"user_input": "Q?", "response": "LDL falls. It stays.", "retrieved_contexts": ["One.", "Two."]},
        {"question": "Q?", "answer": "LDL falls. It stays.", "contexts": ["One.", "Two."], "ground_truth": "x"},
        {
            "input": "Q?",
            "output": "LDL falls. It stays.",
            "context": [{"page_content": "One."}, {"page_content": "Two.", "metadata": {"page": 3}}],
        },
        {
            "query": "Q?",
            "result": "LDL falls. It stays.",
            "source_documents": [{"page_content": "One."}, {"page_content": "Two."}],
        },
    ],
)
def test_each_sentence_of_an_answer_without_markers_cites_every_context(tmp_path: Path, record):
    [answer] = read_records(tmp_path, record)
    assert answer.question == "Q?"
    assert [document.text for document in answer.documents] == ["One.", "Two."]
    assert cited(answer) == [
        ("LDL falls.", [(1, "context-1"), (2, "context-2")]),
        ("It stays.", [(1, "context-1"), (2, "context-2")]),
    ]
    assert answer.assumed == ("No sentence has a marker, so each was taken to cite all 2 contexts.",)
    coherent(answer)


@pytest.mark.parametrize("text", ["LDL falls. It stays [2].", "LDL falls. It stays [9]."])
def test_a_sentence_without_marker_is_uncited_in_an_answer_with_markers(tmp_path: Path, text: str):
    [answer] = read_records(tmp_path, {"response": text, "retrieved_contexts": ["One.", "Two."]})
    assert isinstance(answer, Answer)
    assert [claim.text for claim in answer.uncited] == ["LDL falls."]
    assert answer.assumed == ()


def test_chunks_of_a_source_are_separate_sources(tmp_path: Path):
    chunks = [
        {"page_content": text, "metadata": {"source": source, "title": "T"}}
        for text, source in (("One.", "a.pdf"), ("Two.", "b.pdf"), ("Three.", "a.pdf"))
    ]
    [answer] = read_records(tmp_path, {"output": "LDL falls [3].", "context": chunks})
    assert [(document.id, document.text) for document in answer.documents] == [
        ("a.pdf#1", "One."),
        ("a.pdf#2", "Three."),
        ("b.pdf", "Two."),
    ]
    assert cited(answer) == [("LDL falls.", [(3, "a.pdf#2")])]
    [answer] = read_records(tmp_path, {"output": "It stays.", "context": chunks})
    assert cited(answer) == [("It stays.", [(1, "a.pdf#1"), (2, "b.pdf"), (3, "a.pdf#2")])]


def test_swapped_citations_of_two_chunks_of_one_source_stay_apart(tmp_path: Path):
    chunks = [{"page_content": text, "metadata": {"source": "a.pdf"}} for text in ("LDL falls.", "HDL rises.")]
    [answer] = read_records(tmp_path, {"output": "HDL rises [1]. LDL falls [2].", "context": chunks})
    assert isinstance(answer, Answer)
    cites = [answer.document(claim.citations[0].document or "").text for claim in answer.claims]
    assert cites == ["LDL falls.", "HDL rises."]


def test_chunks_that_are_one_text_of_one_source_are_one_document(tmp_path: Path):
    chunks = [{"page_content": "One.", "metadata": {"source": "a.pdf"}}] * 2
    [answer] = read_records(tmp_path, {"output": "LDL falls [2].", "context": chunks})
    assert [document.id for document in answer.documents] == ["a.pdf"]
    assert cited(answer) == [("LDL falls.", [(2, "a.pdf")])]


def test_a_citation_by_name_cites_all_chunks_of_a_document(tmp_path: Path):
    chunks = [{"page_content": text, "metadata": {"uid": "123", "Title": "T"}} for text in ("One.", "Two.")]
    [answer] = read_records(tmp_path, {"output": "LDL falls (PMID: 123). It stays [2].", "context": chunks})
    assert cited(answer) == [("LDL falls.", [(123, "123")]), ("It stays.", [(2, "123#2")])]
    whole = answer.document("123")
    assert (whole.text, whole.title, whole.pmid) == ("One.\nTwo.", "T", "123")
    assert answer.document("123#2").pmid == "123"


@pytest.mark.parametrize(
    "record",
    [
        {
            "response": "It stays.",
            "retrieved_contexts": ["One.", "Two.", "Three."],
            "retrieved_context_ids": ["a", 5, "a"],
        },
        {
            "output": "It stays.",
            "context": [
                {"page_content": "One.", "metadata": None, "id": "a"},
                {"page_content": "Two.", "metadata": {"source": "", "id": 5}},
                {"page_content": "Three.", "metadata": {"source": "a", "pmid": ""}},
            ],
        },
    ],
)
def test_names_that_come_twice_or_not_at_all(tmp_path: Path, record):
    [answer] = read_records(tmp_path, record)
    assert isinstance(answer, Answer)
    texts = [(document.id, document.text) for document in answer.documents]
    assert texts == [("a#1", "One."), ("a#2", "Three."), ("5", "Two.")]
    every = [(1, "a#1"), (2, "5"), (3, "a#2")]
    assert cited(answer) == [("It stays.", every)]


def test_a_chunk_without_any_name_is_named_by_its_number(tmp_path: Path):
    chunks = [{"page_content": "One.", "metadata": None}, {"page_content": "Two.", "metadata": {"source": ""}}]
    [answer] = read_records(tmp_path, {"output": "LDL falls.", "context": chunks})
    assert cited(answer) == [("LDL falls.", [(1, "context-1"), (2, "context-2")])]


# spans


def test_a_block_cites_from_every_sentence_that_it_stands_on(tmp_path: Path):
    blocks = [
        {"type": "text", "text": "We looked. LDL "},
        {
            "type": "text",
            "text": "falls. It stays low.",
            "citations": [{"type": "char_location", "cited_text": "LDL falls.", "document_index": 1}],
        },
        {"type": "tool_use", "name": "x"},
        {"type": "text", "text": " The end.", "citations": None},
    ]
    documents = [
        {"text": "Other."},
        {"type": "document", "source": {"type": "text", "data": "So LDL\nfalls."}, "title": "T"},
    ]
    [answer] = read_records(tmp_path, {"content": blocks, "documents": documents})
    assert answer.text == "We looked. LDL falls. It stays low. The end."
    one = [(2, "document-2")]
    assert cited(answer) == [("We looked.", []), ("LDL falls.", one), ("It stays low.", one), ("The end.", [])]
    assert answer.text[answer.claims[1].citations[0].span.slice] == "falls."
    coherent(answer)


def test_without_documents_the_cited_passages_stand_for_them(tmp_path: Path):
    citations = [
        {"type": "char_location", "cited_text": text, "document_index": 2, "document_title": "T"}
        for text in ("A.", "B.")
    ]
    [answer] = read_records(tmp_path, {"content": [{"type": "text", "text": "LDL falls.", "citations": citations}]})
    assert [(document.id, document.title, document.text) for document in answer.documents] == [
        ("document-3", "T", "A.\nB.")
    ]
    assert cited(answer) == [("LDL falls.", [(3, "document-3")])]


def test_a_passage_that_its_document_does_not_have_is_an_error(tmp_path: Path):
    block = {"type": "text", "text": "LDL falls.", "citations": [{"cited_text": "LDL rises.", "document_index": 0}]}
    [error] = read_records(tmp_path, {"content": [block], "documents": [{"text": "LDL falls."}]})
    assert isinstance(error, RecordError)
    assert error.field == "documents.0"
    assert "LDL rises." in error.problem


@pytest.mark.parametrize(
    "record",
    [
        {
            "text": "LDL falls. It stays.",
            "citations": [{"start": 0, "end": 9, "text": "LDL falls", "document_ids": ["a", "b"]}],
            "documents": [{"id": "a", "snippet": "One."}],
        },
        {
            "message": {
                "content": [{"type": "text", "text": "LDL falls. It stays."}],
                "citations": [
                    {
                        "start": 0,
                        "end": 9,
                        "text": "LDL falls",
                        "sources": [
                            {"type": "document", "id": "a", "document": {"id": "a", "snippet": "One."}},
                        ],
                    }
                ],
            },
        },
    ],
)
def test_offsets_in_the_text_and_names_of_documents(tmp_path: Path, record):
    [answer] = read_records(tmp_path, record)
    dangling = [(2, None)] if "message" not in record else []
    assert cited(answer) == [("LDL falls.", [(1, "a"), *dangling]), ("It stays.", [])]
    assert answer.documents[0].text == "One."


@pytest.mark.parametrize(
    "place", [{"start": 5, "end": 99}, {"start": 3, "end": 3}, {"start": 1}, {"start": -1, "end": 2}]
)
def test_offsets_outside_the_text_are_an_error(tmp_path: Path, place):
    [error] = read_records(tmp_path, {"text": "LDL falls.", "citations": [{**place, "document_ids": ["a"]}]})
    assert isinstance(error, RecordError)
    assert error.field and error.field.startswith("citations.0")


TEXT_BLOCKS = [{"type": "text", "text": "Zinc helps"}, {"type": "text", "text": " a lot."}]


@pytest.mark.parametrize(
    "document",
    [
        "Zinc helps a lot.",
        {"data": "Zinc helps a lot."},
        {"document": "Zinc helps a lot."},
        {"data": {"text": "Zinc helps a lot.", "title": "T"}},
        {"data": {"snippet": "Zinc helps a lot."}},
        {"text": "Zinc helps a lot."},
        {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "Zinc helps a lot."}},
        {"type": "document", "source": {"type": "content", "content": TEXT_BLOCKS}},
        {"type": "document", "source": {"type": "content", "content": "Zinc helps a lot."}},
        {"type": "search_result", "source": "https://example.org", "title": "T", "content": TEXT_BLOCKS},
    ],
)
def test_a_document_brings_its_words_in_any_of_its_forms(tmp_path: Path, document):
    citation = {"document_index": 0, "cited_text": "Zinc helps a lot."}
    block = {"type": "text", "text": "It helps.", "citations": [citation]}
    [answer] = read_records(tmp_path, {"content": [block], "documents": [document]})
    assert isinstance(answer, Answer)
    assert "".join(answer.documents[0].text.split("\n")) == "Zinc helps a lot."
    name = (
        "https://example.org" if isinstance(document, dict) and "search" in str(document.get("type")) else "document-1"
    )
    assert cited(answer) == [("It helps.", [(1, name)])]


@pytest.mark.parametrize(
    ("document", "problem"),
    [
        ({"source": {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0="}}, "a PDF"),
        ({"source": {"type": "url", "url": "https://example.org"}}, "an address"),
        ({"id": "d"}, "found none"),
        ({"data": {"heading": "x"}}, "found none"),
        (5, "found 5"),
    ],
)
def test_a_document_without_words_is_refused_by_name(tmp_path: Path, document, problem: str):
    [error] = read_records(tmp_path, {"content": [{"type": "text", "text": "It helps."}], "documents": [document]})
    assert isinstance(error, RecordError)
    assert error.field == "documents.0"
    assert problem in error.problem
    assert "_" not in str(error).replace(str(tmp_path), "")


def test_an_error_names_fields_and_no_classes_of_ours(tmp_path: Path):
    [error] = read_records(tmp_path, {"content": [{"type": "text", "text": 5}]})
    assert isinstance(error, RecordError)
    assert error.field in ("content", "content.0.text")


def test_documents_and_search_results_are_numbered_separately(tmp_path: Path):
    first = {"cited_text": "One.", "document_index": 0}
    second = {"cited_text": "Two.", "search_result_index": 0, "source": "https://example.org"}
    blocks = [{"type": "text", "text": "LDL falls.", "citations": [first]}]
    blocks.append({"type": "text", "text": " It stays.", "citations": [second]})
    [answer] = read_records(tmp_path, {"content": blocks})
    assert [(document.id, document.text) for document in answer.documents] == [
        ("document-1", "One."),
        ("search-result-1", "Two."),
    ]
    assert cited(answer) == [("LDL falls.", [(1, "document-1")]), ("It stays.", [(2, "search-result-1")])]
    documents = [{"type": "search_result", "content": [{"type": "text", "text": "Two."}]}, {"text": "One."}]
    [answer] = read_records(tmp_path, {"content": blocks, "documents": documents})
    assert cited(answer) == [("LDL falls.", [(2, "document-2")]), ("It stays.", [(1, "document-1")])]


def test_search_results_alone_keep_their_numbers(tmp_path: Path):
    citation = {"cited_text": "Two.", "search_result_index": 2}
    [answer] = read_records(tmp_path, {"content": [{"type": "text", "text": "LDL falls.", "citations": [citation]}]})
    assert cited(answer) == [("LDL falls.", [(3, "search-result-3")])]


def test_one_address_is_one_document_wherever_in_it_the_citation_points(tmp_path: Path):
    citations = [{"cited_text": text, "url": f"https://x.org/a#{text}"} for text in ("One.", "Two.")]
    [answer] = read_records(tmp_path, {"content": [{"type": "text", "text": "LDL falls.", "citations": citations}]})
    assert [(document.id, document.text) for document in answer.documents] == [("https://x.org/a#One.", "One.\nTwo.")]
    assert cited(answer) == [("LDL falls.", [(1, "https://x.org/a#One.")])]


def test_a_source_without_an_id_is_named_by_its_words(tmp_path: Path):
    citations = [
        {"start": start, "end": end, "sources": [{"document": {"snippet": text}}]}
        for start, end, text in ((0, 9, "One."), (11, 19, "Two."), (21, 27, "One."))
    ]
    [answer] = read_records(tmp_path, {"text": "LDL falls. It stays. So it is.", "citations": citations})
    assert cited(answer) == [
        ("LDL falls.", [(1, "source-1")]),
        ("It stays.", [(2, "source-2")]),
        ("So it is.", [(1, "source-1")]),
    ]


def blocks_and_citation(**place: int) -> dict[str, object]:
    blocks = [
        {"type": "thinking", "thinking": "..."},
        {"type": "text", "text": "LDL falls."},
        {"type": "text", "text": " It stays."},
    ]
    return {"message": {"content": blocks, "citations": [{**place, "sources": [{"id": "a"}]}]}}


@pytest.mark.parametrize(
    ("place", "claim"),
    [
        ({"content_index": 1, "start": 0, "end": 9}, "LDL falls."),
        ({"content_index": 2, "start": 1, "end": 9}, "It stays."),
        ({"start": 11, "end": 19}, "It stays."),
    ],
)
def test_a_content_index_counts_all_blocks(tmp_path: Path, place, claim: str):
    [answer] = read_records(tmp_path, blocks_and_citation(**place))
    assert isinstance(answer, Answer)
    assert [text for text, citations in cited(answer) if citations] == [claim]


@pytest.mark.parametrize(
    ("place", "found"),
    [
        ({"content_index": 1, "start": 0, "end": 12}, "block 1's 10 characters; found 0 to 12"),
        ({"content_index": 0, "start": 0, "end": 3}, "block 0's 0 characters; found 0 to 3"),
        ({"content_index": 3, "start": 0, "end": 3}, "one of 3 blocks; found 3"),
    ],
)
def test_a_span_beyond_its_block_is_an_error(tmp_path: Path, place, found: str):
    [error] = read_records(tmp_path, blocks_and_citation(**place))
    assert isinstance(error, RecordError)
    assert found in error.problem


@given(st.text(min_size=1), st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_citation_covers_the_claims_it_stands_on_and_no_other(tmp_path: Path, text: str, data):
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    [answer] = read_records(
        tmp_path, {"text": text, "citations": [{"start": start, "end": end, "document_ids": ["x"]}]}, format="spans"
    )
    if isinstance(answer, RecordError):  # half a surrogate pair
        return
    coherent(answer)
    assert any(claim.citations for claim in answer.claims) == bool(answer.text[start:end].strip())
    for claim in answer.claims:
        for citation in claim.citations:
            assert start <= citation.span.start < citation.span.end <= end


# markdown

LINK = "https://pubmed.ncbi.nlm.nih.gov/123/"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"LDL [falls a lot]({LINK}).", [("LDL falls a lot.", [(123, "PMID:123")])]),
        (f"[LDL]({LINK} 'x') falls.", [("LDL falls.", [(123, "PMID:123")])]),
        (f'[LDL]({LINK} "PubMed") falls.', [("LDL falls.", [(123, "PMID:123")])]),
        (f"LDL falls [1]({LINK}).", [("LDL falls.", [(1, "PMID:123")])]),
        (
            "LDL falls [1](https://example.org/A). It stays [2](https://example.org/a). So [3](https://doi.org/10.1000/x?y=1)",
            [("LDL falls.", [(1, None)]), ("It stays.", [(2, None)]), ("So", [(3, "doi:10.1000/x")])],
        ),
        ("LDL falls [1].\n\n## References\n1. Doe. PMID: 123", [("LDL falls.", [(1, "PMID:123")])]),
        (
            "LDL falls [1, 2].\n\n## References\n1. Doe J,\n   A trial. PMID: 123\n2. Roe R,\n   PMID: 9",
            [("LDL falls.", [(1, "PMID:123"), (2, None)])],
        ),
        ("LDL falls [1].\n\n## References\n\n[1] Doe. PMID: 123", [("LDL falls.", [(1, "PMID:123")])]),
        ("LDL falls (1).\n\n## References\n\n1. Doe. PMID: 123", [("LDL falls.", [(1, "PMID:123")])]),
        (
            "Two died (1) and one moved (1).\n\n## References\n\n1. Doe. PMID: 123",
            [("Two died (1) and one moved (1).", [])],
        ),
        ("It was two (1).\n\n## References\n\n1. Doe. PMID: 123", [("It was two (1).", [])]),
        (
            "LDL (2) falls [1], in all (2).\n\n## References\n1. PMID: 123",
            [("LDL (2) falls, in all (2).", [(1, "PMID:123")])],
        ),
        (
            "LDL falls [1, 2].\n\n1. Doe. PMID: 9.\n2. Roe. https://doi.org/10.1000/x",
            [("LDL falls.", [(1, None), (2, "doi:10.1000/x")])],
        ),
        (f"LDL falls [1].\n\n[1]: {LINK}\n[1]: https://doi.org/10.1000/x", [("LDL falls.", [(1, "PMID:123")])]),
        (
            f"LDL falls ([PMID 123]({LINK}), [Smith et al., 2020](https://doi.org/10.1000/X)).",
            [("LDL falls.", [(123, "PMID:123"), (1, "doi:10.1000/x")])],
        ),
        (
            f"LDL falls [1], [2][3].\n\n[1]: {LINK}\n[2]: https://doi.org/10.1000/x 'T'\n[3]: https://example.org/a",
            [("LDL falls.", [(1, "PMID:123"), (2, "doi:10.1000/x"), (3, None)])],
        ),
        (f"LDL [falls][a] much.\n\n[A]: <{LINK}>", [("LDL falls much.", [(123, "PMID:123")])]),
        (
            "LDL falls.[^1] It stays.[^b]\n\n[^1]: Doe J. A trial. PMID: 123\n[^b]: Roe R.\n    doi: 10.1000/x.",
            [("LDL falls.", [(1, "PMID:123")]), ("It stays.", [(2, "doi:10.1000/x")])],
        ),
        (
            f"LDL falls ({LINK}). It stays <https://example.org/b>.",
            [("LDL falls.", [(123, "PMID:123")]), ("It stays.", [(1, None)])],
        ),
        ("LDL falls ![plot](https://example.org/p.png). <!-- see https://example.org/c -->", [("LDL falls.", [])]),
        (
            "LDL falls [here](#below) and [mail](mailto:x@example.org).",
            [("LDL falls [here](#below) and [mail](mailto:x@example.org).", [])],
        ),
    ],
)
def test_links_and_footnotes(tmp_path: Path, text: str, expected):
    path = tmp_path / "answer.md"
    path.write_text(text)
    [answer] = read(path)
    assert isinstance(answer, Answer)
    assert (answer.id, answer.text) == ("answer", text)
    assert cited(answer) == expected
    [again] = read_records(tmp_path, {"id": "answer", "markdown": text})
    assert again == answer


@pytest.mark.parametrize("written", ["LDL falls¹.", "LDL falls.¹", "LDL falls.¹ HDL rises [2].", "LDL falls (ref. 1)."])
def test_markdown_cites_by_superscripts_and_worded_numbers(tmp_path: Path, written: str):
    given = [{"id": "1", "text": "LDL falls."}, {"id": "2", "text": "HDL rises."}]
    path = tmp_path / "answer.md"
    path.write_text(written, encoding="utf-8")
    [by_number] = read_records(tmp_path, {"markdown": written, "documents": given})
    [by_name] = read(path, documents=[Document.from_text(one["id"], one["text"]) for one in given])
    for answer in (by_number, by_name):
        assert cited(answer)[0] == ("LDL falls.", [(1, "1")])


def test_a_superscript_without_sources_is_a_footnote_of_another_text(tmp_path: Path):
    [answer] = read_records(tmp_path, {"markdown": "LDL falls.¹"})
    assert [claim.citations for claim in answer.claims] == [()]


def test_documents_next_to_markdown_may_have_more_fields(tmp_path: Path):
    documents = [{"id": "a", "text": "One.", "url": "https://example.org/a", "year": 2020}]
    [answer] = read_records(tmp_path, {"markdown": "LDL falls [1].\n\n1. Doe. PMID: 5", "documents": documents})
    assert cited(answer) == [("LDL falls.", [(1, "a")])]


def test_a_text_file_is_markdown_if_it_is_said_to_be(tmp_path: Path):
    path = tmp_path / "answer.txt"
    path.write_text(f"[LDL]({LINK}) falls.\n")
    [answer] = read(path, "markdown")
    assert cited(answer) == [("LDL falls.", [(123, "PMID:123")])]


# every format


@pytest.mark.parametrize("format", FORMATS)
def test_a_bad_record_costs_itself_and_a_wrong_shape_says_what_was_expected(tmp_path: Path, format: str):
    good = next(answers_in(EXAMPLES / FILES[format], format, LIBRARY))
    assert isinstance(good, Answer)
    if format == "markdown":
        record: object = {"markdown": good.text}
    else:
        text = (EXAMPLES / FILES[format]).read_text()
        whole = FILES[format].endswith(".json")
        record = json.loads(text) if whole else json.loads(text.splitlines()[0])
        record = record[0] if isinstance(record, list) else record
        record = record["data"][0] if format == "alce" else record
    several = 2 if format == "medaesqa" else 1
    found = read_records(
        tmp_path, record, "{broken", {"colour": "red"}, "[]", "", record, format=format, documents=LIBRARY
    )
    kinds = [*[True] * several, False, False, False, *[True] * several]
    assert [isinstance(item, Answer) for item in found] == kinds
    errors = [item for item in found if isinstance(item, RecordError)]
    assert [error.line for error in errors] == [2, 3, 4]
    assert FORMATS[format].summary in errors[1].problem
    assert "'colour'" in errors[1].problem


@pytest.mark.parametrize("wrap", [lambda items: items, lambda items: {"results": items}])
@pytest.mark.parametrize("bad", [None, "x", 5, [], {"colour": "red"}])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_only_a_bad_item_of_a_list_is_lost(tmp_path: Path, wrap, bad, place: int):
    items: list[object] = [{"topic_id": str(number), "responses": SENTENCES} for number in (1, 2)]
    items.insert(place, bad)
    found = read_records(tmp_path, wrap(items))
    assert [isinstance(item, RecordError) for item in found] == [number == place for number in range(3)]
    error = found[place]
    assert isinstance(error, RecordError)
    assert error.field and error.field.endswith(str(place))


def test_a_list_next_to_the_answer_is_not_the_records_of_the_file(tmp_path: Path):
    record = {"id": "a", "question": "Q?", "response": "LDL falls.", "retrieved_contexts": ["One."]}
    found = read_records(tmp_path, {**record, "samples": [{"x": 1}]}, {**record, "data": [{"x": 1}]})
    assert [isinstance(item, Answer) and item.id for item in found] == ["a", "a"]


def test_every_line_may_hold_a_list_of_records(tmp_path: Path):
    topics = [{"topic_id": str(number), "responses": SENTENCES} for number in (1, 2, 3)]
    found = read_records(tmp_path, topics[0], {"results": topics[1:2]}, topics[2:])
    assert [isinstance(item, Answer) and item.id for item in found] == ["1", "2", "3"]


def test_a_record_of_another_format_is_told_apart(tmp_path: Path):
    [error] = read_records(tmp_path, {"response": "x", "retrieved_contexts": []}, format="vericite")
    assert "--format ragas" in str(error)


def test_records_of_no_format_name_the_line_and_every_format(tmp_path: Path):
    with pytest.raises(InputError) as refused:
        read_records(tmp_path, "nope", {"colour": "red"})
    assert "line 2, with the fields 'colour'" in str(refused.value)
    assert all(name in str(refused.value) for name in FORMATS)


def test_an_unknown_format_lists_the_known_formats():
    with pytest.raises(InputError, match="Did you mean 'ragas'"):
        answers_in(EXAMPLES / "ragas.jsonl", "raga")


def test_records_over_many_lines_are_named_by_their_line(tmp_path: Path):
    path = tmp_path / "run.json"
    records = [{"topic_id": "1", "responses": SENTENCES}, {"topic_id": "2", "responses": 3}]
    path.write_text(json.dumps({"team_id": "t", "results": records}, indent=1))
    first, error = read(path)
    assert isinstance(first, Answer) and isinstance(error, RecordError)
    assert error.field == "results.1.responses"
    assert path.read_text().splitlines()[error.line - 1].strip() == "{"
    assert '"topic_id": "2"' in path.read_text().splitlines()[error.line]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                """id answer documents text title citations responses topic_id metadata content message type cited_text
                document_index start end document_ids sources response retrieved_contexts contexts output context
                page_content source_documents result markdown results question data source url snippet samples pmid
                search_result_index content_index document retrieved_context_ids""".split()
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=25,
)


@given(st.lists(JSON.map(json.dumps) | st.text(), max_size=4), st.sampled_from(["auto", *FORMATS]))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None)
def test_garbage_gives_errors_and_never_raises_others(tmp_path: Path, lines: list[str], format: str):
    path = tmp_path / "garbage.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8", errors="surrogatepass")
    try:
        found = read(path, format)
    except InputError as refused:
        assert "expected answers in a known format" in str(refused)
        return
    for item in found:
        if isinstance(item, Answer):
            coherent(item)


@given(st.text(alphabet="[]()^:1aA .\n!<>-*\"'/") | st.text())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_markdown_is_read_and_keeps_its_text(tmp_path: Path, text: str):
    text = text.replace("L", LINK)
    found = read_records(tmp_path, {"markdown": f"LDL [1]({LINK}) {text}"}, format="markdown")
    for answer in found:
        if isinstance(answer, Answer):
            assert answer.text == f"LDL [1]({LINK}) {text}"
            coherent(answer)


@pytest.mark.parametrize(
    "unit",
    [
        "[a](https://b",
        "(Smith 2020; PMID 1",
        "[^1]: x\n",
        "https://a(",
        "<!--",
        "PMID 12, ",
        "[[a][",
        "(PMID 1; x, ",
        "1. a\n   b\n",
    ],
)
@pytest.mark.parametrize("format", ["markdown", "vericite"])
def test_long_answers_take_linear_time(tmp_path: Path, unit: str, format: str):
    import time

    record = {"id": "a", "answer": unit * 4_000}
    start = time.process_time()
    read_records(tmp_path, record, format=format)
    assert time.process_time() - start < 3  # quadratic takes longer


def test_numbers_and_nesting_without_end_are_errors(tmp_path: Path):
    deep = '{"id": ' + "[" * 100_000 + "]" * 100_000 + "}"
    long = '{"id": "a", "answer": ' + "1" * 100_000 + ', "documents": []}'
    found = read_records(tmp_path, deep, long, format="vericite")
    assert len(found) == 2 and all(isinstance(item, RecordError) for item in found)


def test_a_place_past_the_end_of_trec_rags_references_costs_itself_alone(tmp_path: Path):
    record = {
        "metadata": {"narrative_id": "t", "team_id": "a", "run_id": "r"},
        "references": ["d7", "d8"],
        "answer": [{"text": text, "citations": of} for text, of in (("One.", [0]), ("Two.", [1, 0]), ("Three.", [2]))],
    }
    path = tmp_path / "t.jsonl"
    path.write_text(json.dumps(record) + "\n")
    (answer,) = answers_in(path, documents=[Document.from_text(name, "Text.") for name in ("d7", "d8")])
    cited = [[citation.document for citation in claim.citations] for claim in answer.claims]
    assert cited == [["d7"], ["d8", "d7"], [None]]
    assert [citation.marker for citation in answer.claims[2].citations] == [3]


def test_a_document_that_says_it_is_retracted_is_marked(tmp_path: Path):
    documents = [
        {"id": "a", "text": "It helps.", "retracted": True},
        {"id": "b", "text": "It helps.", "retracted": "no"},
    ]
    given = {"id": "1", "answer": "It helps [1][2].", "documents": documents}
    (answer,) = read_records(tmp_path, given, documents=[])
    assert [document.retracted for document in answer.documents] == [True, False]
