from __future__ import annotations

import io
import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

import vericite.records as records
from vericite.errors import InputError, RecordError, ValuesError
from vericite.records import (
    Answer,
    AnswerEvidence,
    Article,
    Change,
    CheckedAnswer,
    CheckedRationale,
    Citation,
    CitationJudgement,
    Claim,
    Degree,
    Document,
    Evidence,
    EvidenceSpan,
    Gold,
    GoldNugget,
    GoldSentence,
    Label,
    LabelledCitation,
    Labels,
    Ledger,
    Manuscript,
    ManuscriptCitation,
    ManuscriptHeading,
    NuggetMatch,
    OracleCell,
    OtherSource,
    Provenance,
    Question,
    QuestionType,
    Rationale,
    RationaleStep,
    Record,
    Reference,
    Repaired,
    Rewriting,
    Run,
    Section,
    Selected,
    Sentence,
    SentenceEvidence,
    SourceStance,
    SourceText,
    Span,
    Spent,
    StatementVerdict,
    Summary,
    Trimmed,
    UncitedClaim,
    UnsupportedWords,
    Verdict,
    VerificationFailure,
    WordKind,
    number_jsonl,
    parse_record,
    read_jsonl,
    to_json,
    write_jsonl,
)
from vericite.records.base import SCHEMA_VERSION

NAMED = st.sampled_from(
    [
        "TNF-α ↑ 2.5× (p < 0.001)\nand β-blockers",
        "Ménière's disease",
        "阿司匹林",
        "👩‍🔬 \U0001f9ec",
        "a\r\nb",
        "a\u2028b\u2029c\x85d\x0be\x1cf",
        '"quoted" \\ \\u0041 \\n',
        "e\u0301 \ufeff \x00 \x7f",
        "",
        " ",
    ]
)
TEXT = NAMED | st.text(max_size=30)
IDS = st.text(min_size=1, max_size=8)
COUNTS = st.integers(0, 10**6)
YEARS = st.none() | st.integers(-10, 10**20)
FLOATS = st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from(
    [-0.0, 5e-324, 1.7976931348623157e308, 0.1 + 0.2, 1e16, 1e22, 1 / 3]
)
SCORES = st.dictionaries(TEXT, FLOATS, max_size=3)


def tuples(of: st.SearchStrategy[Any], max_size: int = 3) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(of, max_size=max_size).map(tuple)


TEXTS = tuples(TEXT)
SECTIONS = tuples(st.builds(Section, text=TEXT, label=st.none() | TEXT))
DOCUMENTS = st.builds(
    Document,
    id=IDS,
    title=TEXT,
    sections=SECTIONS,
    pmid=st.none() | TEXT,
    journal=st.none() | TEXT,
    year=YEARS,
    authors=TEXTS,
    mesh=TEXTS,
    publication_types=TEXTS,
    retracted=st.booleans(),
    source=st.none() | TEXT,
)
SPANS = st.tuples(COUNTS, COUNTS).map(lambda ends: Span(start=min(ends), end=max(ends)))
SENTENCES = st.builds(Sentence, document=TEXT, index=COUNTS, span=SPANS)
QUESTIONS = st.builds(
    Question,
    id=IDS,
    text=IDS,
    type=st.none() | st.sampled_from(get_args(QuestionType)),
    gold_documents=TEXTS,
    gold_exact=tuples(TEXTS),
    gold_ideal=TEXTS,
)
EVIDENCE = st.builds(
    Evidence, document=DOCUMENTS, rank=st.integers(1, 10**6), score=FLOATS, retriever=TEXT, scores=SCORES
)
CITED = {"claim": TEXT, "start": COUNTS, "end": COUNTS, "markers": tuples(COUNTS), "documents": TEXTS}
PASSAGES = st.builds(
    lambda document, sentence, bounds: EvidenceSpan(
        document=document, sentence_index=sentence, start=min(bounds), end=max(bounds)
    ),
    TEXT,
    st.none() | COUNTS,
    st.tuples(COUNTS, COUNTS),
)
VERDICTS = st.builds(
    Verdict,
    **CITED,
    label=st.sampled_from(get_args(Label)),
    native=TEXT,
    probabilities=SCORES,
    evidence=tuples(PASSAGES),
    abstained=st.booleans(),
    reasons=TEXTS,
    degree=st.none() | st.sampled_from(get_args(Degree)),
    words=tuples(
        st.builds(UnsupportedWords, kind=st.sampled_from(get_args(WordKind)), text=IDS, start=COUNTS, end=COUNTS)
    ),
    because=TEXT,
    protocol=TEXT,
)
FAILURES = st.builds(VerificationFailure, **CITED, reason=TEXT, protocol=TEXT)
PROVENANCES = st.builds(
    Provenance,
    version=TEXT,
    protocol=st.none() | TEXT,
    parts=st.dictionaries(TEXT, TEXT, max_size=3),
    seed=st.none() | st.integers(),
)
SUMMARIES = st.builds(Summary, **{name: COUNTS for name in Summary.model_fields})
CHECKED = st.builds(
    CheckedAnswer,
    id=TEXT,
    verdicts=tuples(VERDICTS),
    failures=tuples(FAILURES),
    uncited=tuples(st.builds(UncitedClaim, claim=TEXT, start=COUNTS, end=COUNTS)),
    summary=SUMMARIES,
    provenance=PROVENANCES,
)


@st.composite
def answers(draw: st.DrawFn) -> Answer:
    text = draw(TEXT)
    documents = draw(st.lists(DOCUMENTS, max_size=3, unique_by=lambda document: document.id))
    inside = st.integers(0, len(text))
    spans = st.tuples(inside, inside).map(lambda ends: Span(start=min(ends), end=max(ends)))
    cited = st.sampled_from([None, *(document.id for document in documents)])
    citations = st.builds(Citation, marker=COUNTS, span=spans, document=cited)
    return Answer(
        id=draw(TEXT),
        text=text,
        claims=draw(tuples(st.builds(Claim, text=TEXT, span=spans, citations=tuples(citations)))),
        documents=tuple(documents),
        question=draw(st.none() | TEXT),
        generator=draw(st.none() | TEXT),
        insufficient=draw(st.booleans()),
    )


RUNS = st.builds(
    Run,
    question=QUESTIONS,
    evidence=tuples(EVIDENCE, 2),
    answer=answers(),
    checked=CHECKED,
    provenance=PROVENANCES,
)

ASPIRIN = Document(
    id="d1",
    title="Aspirin",
    sections=(Section(text="Aspirin was given.", label="METHODS"), Section(text="Stroke fell.")),
)
SPAN = Span(start=0, end=12)
CITATION = Citation(marker=1, span=Span(start=13, end=16), document="d1")
STEP = RationaleStep(
    statement="Aspirin lowers it.",
    question="Does it?",
    documents=("d1",),
    passages=(EvidenceSpan(document="d1", sentence_index=1, start=19, end=31),),
    unfound=("It rose.",),
)
RATIONALE = Rationale(steps=(STEP,), provisional="yes", raw="1. Aspirin lowers it [1].")
LEDGER = Ledger(calls=3, cached=1, attempts=2, prompt_tokens=900, completion_tokens=80, answered_as=("small",))
SPENT = Spent(calls=2, remembered=1, prompt_tokens=900, completion_tokens=80, seconds=1.5, cost=0.001)
TRIMMED = Trimmed(document="d1", shown=1, sentences=2)
CLAIM = Claim(text="Stroke fell.", span=SPAN, citations=(CITATION,))
ANSWER = Answer(
    id="a1",
    text="Stroke fell. [1]",
    claims=(CLAIM,),
    documents=(ASPIRIN,),
    exact=(("yes",),),
    rationale=RATIONALE,
    trimmed=(TRIMMED,),
    spent=SPENT,
)
QUESTION = Question(id="q1", text="Does aspirin prevent stroke?", type="yesno")
FOUND = Evidence(document=ASPIRIN, rank=1, score=2.5, retriever="bm25", scores={"bm25": 2.5})
PASSAGE = EvidenceSpan(document="d1", sentence_index=1, start=19, end=31)
JUDGED: dict[str, Any] = {
    "claim": "Stroke fell.",
    "start": 0,
    "end": 12,
    "markers": (1,),
    "documents": ("d1",),
    "protocol": "document-any",
}
STATEMENT = StatementVerdict(text="Aspirin helps.", label="supported", native="Fully", holds=True)
WORDS = UnsupportedWords(kind="number", text="2.1", start=3, end=6)
VERDICT = Verdict(
    **JUDGED,
    label="supported",
    native="Fully",
    probabilities={"entails": 0.9},
    evidence=(PASSAGE,),
    statements=(STATEMENT, STATEMENT.model_copy(update={"label": None, "native": "failed", "holds": False})),
    redundant=("d2",),
)
FAILURE = VerificationFailure(**JUDGED, reason="the judge ran out of time", raw=("Well, ...",))
PROVENANCE = Provenance(version="0.1.0", parts={"judge": "bundled"})
UNCITED = UncitedClaim(claim="Stroke fell.", start=0, end=12)
SUMMARY = Summary.of(ANSWER, verdicts=(VERDICT,), failures=(FAILURE,))
CHECKED_ANSWER = CheckedAnswer(
    id="a1",
    verdicts=(VERDICT,),
    failures=(FAILURE,),
    uncited=(UNCITED,),
    summary=SUMMARY,
    provenance=PROVENANCE,
)
REWRITING = Rewriting(
    coverage=0.25,
    relevance=0.4,
    reasons=("coverage 0.25 is below 0.3",),
    query="aspirin acetylsalicylic acid",
    by="expansion",
    again=(0.5, None),
    kept=True,
)
CHECKED_RATIONALE = CheckedRationale(
    checked=CHECKED_ANSWER, verdict="CORRECT", quality=4, context=5, undecided=("INCORRECT-ILLOGICAL",)
)
CHANGE = Change(
    sentence=0,
    action="rewritten",
    before="Stroke rose [1].",
    after="Stroke fell [1].",
    why="[1] contradicts it",
    round=1,
    by="restoration",
)
RUN = Run(
    question=QUESTION,
    evidence=(FOUND,),
    answer=ANSWER,
    checked=CHECKED_ANSWER,
    provenance=PROVENANCE,
    rewriting=REWRITING,
    rationale=CHECKED_RATIONALE,
    changes=(CHANGE,),
    seconds={"retrieve": 0.1},
)
REPAIRED = Repaired(
    answer=ANSWER,
    checked=CHECKED_ANSWER,
    before=SUMMARY,
    changes=(CHANGE,),
    rounds=1,
    sentences=1,
    words=2,
    words_kept=1,
    left=("Stroke fell.: abstained",),
)
GOLD_SENTENCE, GOLD_NUGGET = GoldSentence(sentence=0, documents=("d1",)), GoldNugget(id="n1", text="Fever falls.")
GOLD = Gold(id="q", type="yesno", documents={"d1": 1.0}, citations=(GOLD_SENTENCE,), nuggets=(GOLD_NUGGET,))
LABELS = Labels(
    id="q",
    citations=(CitationJudgement(sentence=0, document="d1", label="supports"),),
    nuggets=1,
    matches=(NuggetMatch(answer=0, gold="n1"),),
)
ARTICLE = Article(id="d1", pmid="20000001", title="Aspirin", year=2020, probability=0.9)
SENTENCE_EVIDENCE = SentenceEvidence(text="It works.", start=0, end=9, supporting=(ARTICLE,))
EXAMPLES: list[Record] = [
    Manuscript(
        name="paper.tex",
        text="Methods\n\nAspirin works [1].",
        headings=(ManuscriptHeading(start=0, text="Methods"),),
        citations=(ManuscriptCitation(span=Span(start=23, end=26), keys=("1",)),),
        references=(
            Reference(key="1", text="1. Doe J. Aspirin. 2019.", title="Aspirin", authors=("Doe J",), year=2019),
        ),
    ),
    ManuscriptHeading(start=4, text="Results", level=2),
    ManuscriptCitation(span=Span(start=0, end=3), keys=("1", "2")),
    Reference(key="doe2019", origin="bibliography", title="Aspirin", pmid="99000001"),
    ARTICLE,
    SENTENCE_EVIDENCE,
    AnswerEvidence(id="a", sentences=(SENTENCE_EVIDENCE,), provenance=PROVENANCE),
    WORDS,
    OracleCell(kind="controlled", gold=2, retrieved=1, standard=3, missing={"d9": "no abstract"}),
    OtherSource(document="d2", marker=2),
    ASPIRIN,
    ASPIRIN.sections[0],
    SourceText(id="d1", text="Aspirin.", title=None),
    Sentence(document="d1", index=1, span=Span(start=19, end=31)),
    SPAN,
    STATEMENT,
    STEP,
    RATIONALE,
    TRIMMED,
    REWRITING,
    CHECKED_RATIONALE,
    SPENT,
    LEDGER,
    CITATION,
    CLAIM,
    ANSWER,
    QUESTION,
    FOUND,
    PASSAGE,
    VERDICT,
    FAILURE,
    PROVENANCE,
    UNCITED,
    SUMMARY,
    CHECKED_ANSWER,
    CHANGE,
    REPAIRED,
    RUN,
    Selected(answers=0.9, role="conclusion", contradicted_by=("d2",)),
    SourceStance(yes=("d1",), no=("d2",), probability=0.6),
    GOLD,
    GOLD_SENTENCE,
    GOLD_NUGGET,
    LABELS,
    LABELS.citations[0],
    LABELS.matches[0],
    LabelledCitation(
        id="c1", claim="It rains.", premise="Rain fell.", label="supported", documents=("d1",), evidence=(0,)
    ),
]
each_record = pytest.mark.parametrize("record", EXAMPLES, ids=lambda record: type(record).__name__)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("records") / "records.jsonl"


def written(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def error_of(kind: type[Record], path: Path) -> RecordError:
    with pytest.raises(RecordError) as caught:
        list(read_jsonl(kind, path))
    return caught.value


def changed(record: Record, *keys: str | int, value: Any) -> str:
    """The record's JSON with one value, at the end of the keys, set to another."""
    whole = json.loads(to_json(record))
    part = whole
    for key in keys[:-1]:
        part = part[key]
    part[keys[-1]] = value
    return json.dumps(whole)


def test_every_record_type_has_an_example_here():
    exported = {getattr(records, name) for name in records.__all__}
    kinds = {kind for kind in exported if isinstance(kind, type) and issubclass(kind, Record)}
    assert {type(record) for record in EXAMPLES} == kinds - {Record}


@each_record
def test_no_field_of_a_record_can_be_set_deleted_or_added(record: Record):
    for name in type(record).model_fields:
        with pytest.raises(ValidationError):
            setattr(record, name, getattr(record, name))
        with pytest.raises(ValidationError):
            delattr(record, name)
    with pytest.raises(ValidationError):
        record.note = "new"


@pytest.mark.parametrize(
    ("record", "field"),
    [(FOUND, "scores"), (VERDICT, "probabilities"), (PROVENANCE, "parts")],
    ids=["Evidence.scores", "Verdict.probabilities", "Provenance.parts"],
)
def test_a_mapping_inside_a_record_is_frozen_too(record: Record, field: str):
    own = parse_record(type(record), to_json(record), "memory", 1)
    with pytest.raises(TypeError):
        getattr(own, field)["new"] = None


def test_a_changed_copy_of_a_document_has_its_own_text():
    document = Document.from_text("d1", "old")
    assert document.text == "old"
    assert document.model_copy(update={"sections": (Section(text="new"),)}).text == "new"


def test_reading_a_derived_value_leaves_a_record_equal_and_hashable():
    read, fresh = (Document.from_text("d1", "Aspirin.") for _ in range(2))
    assert read.text == "Aspirin."
    assert read == fresh
    assert hash(read) == hash(fresh)
    assert to_json(read) == to_json(fresh)


@each_record
def test_an_example_of_every_type_survives_a_file(record: Record, path: Path):
    written(path, to_json(record) + "\n")
    assert list(read_jsonl(type(record), path)) == [record]


@pytest.mark.parametrize(
    ("kind", "strategy"),
    [
        (Document, DOCUMENTS),
        (Sentence, SENTENCES),
        (Question, QUESTIONS),
        (Evidence, EVIDENCE),
        (Answer, answers()),
        (Verdict, VERDICTS),
        (VerificationFailure, FAILURES),
        (CheckedAnswer, CHECKED),
        (Run, RUNS),
    ],
    ids=lambda value: value.__name__ if isinstance(value, type) else "",
)
def test_records_come_back_from_a_file_exactly(kind: type[Record], strategy: st.SearchStrategy[Record], path: Path):
    @settings(max_examples=40, deadline=None)
    @given(st.lists(strategy, max_size=3))
    def comes_back(items: list[Record]) -> None:
        with path.open("w", encoding="utf-8") as file:
            write_jsonl(items, file)
        again = list(read_jsonl(kind, path))
        assert again == items
        # Equality takes -0.0 for 0.0 and 1.0 for 1; the text of the JSON does not.
        assert [to_json(item) for item in again] == [to_json(item) for item in items]

    comes_back()


def test_parts_that_not_every_check_finds_are_in_json_only_where_they_were_found():
    optional = {"degree", "words", "because"}
    assert not optional & VERDICT.model_dump(mode="json").keys()
    found = VERDICT.model_copy(
        update={"degree": "partly supported", "words": (WORDS,), "because": "The source says 1.2."}
    )
    assert optional <= found.model_dump(mode="json").keys()


@given(DOCUMENTS | SENTENCES | QUESTIONS)
def test_a_record_is_one_line_whatever_its_text(record: Record):
    file = io.StringIO()
    write_jsonl([record], file)
    assert file.getvalue().count("\n") == 1
    assert file.getvalue().endswith("\n")


def test_a_record_that_can_be_made_can_be_written():
    try:
        document = Document.from_text("d1", "half of a pair: \ud83d")
    except InputError:
        return
    parse_record(Document, to_json(document), "memory", 1)


@pytest.mark.parametrize(
    ("kind", "line", "field", "words"),
    [
        (Document, '{"id": "a", "titel": "x"}', "titel", "unknown"),
        (Document, changed(ASPIRIN, "sections", 1, "lable", value="x"), "sections.1.lable", "unknown"),
        (Document, '{"title": "x"}', "id", "found none"),
        (Document, '{"id": ""}', "id", "at least 1 character"),
        (Document, '{"id": 7}', "id", "a text; found 7"),
        (Document, '{"id": null}', "id", "a text; found null"),
        (Document, '{"id": "a", "year": "2020"}', "year", 'a whole number; found "2020"'),
        (Document, '{"id": "a", "year": 2020.0}', "year", "a whole number; found 2020.0"),
        (Document, '{"id": "a", "retracted": 0}', "retracted", "true or false; found 0"),
        (Document, '{"id": "a", "authors": "Ménière"}', "authors", 'found "Ménière"'),
        (Document, '{"id": "a", "mesh": ["x", 1]}', "mesh.1", "a text; found 1"),
        (Document, changed(ASPIRIN, "sections", 1, "text", value=3), "sections.1.text", "found 3"),
        (Question, '{"id": "q", "text": "x", "type": "essay"}', "type", "'yesno'"),
        (Evidence, changed(FOUND, "rank", value=0), "rank", "greater than or equal to 1; found 0"),
        (Evidence, changed(FOUND, "score", value=float("nan")), "score", "finite"),
        (Evidence, changed(FOUND, "score", value=float("inf")), "score", "finite"),
        (Evidence, changed(FOUND, "scores", "bm25", value=float("nan")), "scores.bm25", "finite"),
        (Verdict, changed(VERDICT, "probabilities", "entails", value=float("-inf")), None, "finite"),
        (Verdict, changed(VERDICT, "label", value="true"), "label", "'supported'"),
        (Citation, changed(CITATION, "marker", value=-1), "marker", "found -1"),
        (Answer, changed(ANSWER, "claims", 0, "span", "end", value=-1), "claims.0.span", "found start 0, end -1"),
        (Answer, changed(ANSWER, "claims", 0, "span", "end", value=99), None, "ends at 99"),
        (Run, changed(RUN, "evidence", 0, "document", "id", value=1), "evidence.0.document.id", "found 1"),
        (Document, "[]", None, "object; found []"),
        (Document, "null", None, "object; found null"),
        (Document, '{"id": "a"', None, "Invalid JSON"),
        (Document, "{'id': 'a'}", None, "Invalid JSON"),
        (Document, '{"id": "a"} {"id": "b"}', None, "Invalid JSON"),
        (Document, "[" * 100_000, None, "Invalid JSON"),
        (Document, '{"id": "a", "year": ' + "9" * 5000 + "}", None, "Invalid JSON"),
        (Document, r'{"id": "\ud800"}', None, "Invalid JSON"),
        (Document, "PMID\tTitle", None, "Invalid JSON"),
    ],
    ids=lambda value: value[:50] if isinstance(value, str) else None,
)
def test_a_line_that_is_no_record_is_reported_with_file_line_and_field(
    kind: type[Record], line: str, field: str | None, words: str, path: Path
):
    error = error_of(kind, written(path, f"\n\n{line}\n"))
    assert (error.path, error.line) == (str(path), 3)
    if field is not None:
        assert error.field == field
        assert f"{path}, line 3, field {field}: " in str(error)
    else:
        assert f"{path}, line 3" in str(error)
    assert words in error.problem
    assert len(str(error)) < 500


def test_a_record_with_several_problems_says_how_many_more_there_are(path: Path):
    assert "(and 2 more)" in error_of(Document, written(path, '{"id": 1, "title": 2, "x": 3}')).problem


def test_a_long_wrong_value_is_shown_cut(path: Path):
    line = json.dumps({"id": "a", "sections": "x" * 10_000})
    assert len(error_of(Document, written(path, line)).problem) < 200


def test_a_record_error_can_name_standard_input():
    with pytest.raises(RecordError, match=r"<stdin>, line 4, field id"):
        parse_record(Document, "{}", "<stdin>", 4)


@pytest.mark.parametrize(
    "content",
    [
        b'\xef\xbb\xbf{"id": "a"}\n{"id": "b"}\n',
        b'{"id": "a"}\r\n{"id": "b"}\r\n',
        b'\xef\xbb\xbf{"id": "a"}\r\n\r\n  \t\r\n{"id": "b"}',
        b'\n\n{"id": "a"}\n\n\n{"id": "b"}\n\n',
        b'  {"id": "a"}  \n\t{"id": "b"}\t',
    ],
    ids=["byte order mark", "Windows line ends", "all together", "blank lines", "spaces around"],
)
def test_what_editors_and_spreadsheets_leave_in_a_file_is_read_over(content: bytes, path: Path):
    assert [document.id for document in read_jsonl(Document, written(path, content))] == ["a", "b"]


@pytest.mark.parametrize("content", [b"", b"\n\n", b" \r\n\t"])
def test_a_file_without_records_gives_none(content: bytes, path: Path):
    assert list(read_jsonl(Document, written(path, content))) == []


@pytest.mark.parametrize("content", [b"\xef\xbb\xbf", b"\xef\xbb\xbf\r\n", b"\xef\xbb\xbf\n\n"])
def test_a_byte_order_mark_alone_is_a_blank_line(content: bytes, path: Path):
    assert list(read_jsonl(Document, written(path, content))) == []


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252"])
def test_a_line_that_is_not_utf_8_is_reported_and_loses_only_itself(encoding: str, path: Path):
    foreign = '{"id": "b", "title": "Ménière"}'.encode(encoding)
    items = [
        item if isinstance(item, RecordError) else item[1]
        for item in number_jsonl(Document, written(path, b'{"id": "a"}\n' + foreign + b'\n{"id": "c"}\n'))
    ]
    assert [item.line if isinstance(item, RecordError) else item.id for item in items] == ["a", 2, "c"]
    assert "expected UTF-8; found byte 0xe9 at 23" in str(items[1])


def test_line_numbers_count_blank_lines_and_only_real_line_ends(path: Path):
    separators = json.dumps({"id": "a\u2028b\x0bc\x85d"}, ensure_ascii=False).replace("\\u000b", " ")
    assert error_of(Document, written(path, f"{separators}\r\n\r\n{separators}\n{{}}\n")).line == 4


def test_a_file_that_does_not_exist_is_an_input_error_that_names_it(tmp_path: Path):
    with pytest.raises(InputError, match=r"expected a readable file; found .*absent\.jsonl: No such file"):
        list(read_jsonl(Document, tmp_path / "absent.jsonl"))


def test_a_directory_is_an_input_error_that_names_it(tmp_path: Path):
    with pytest.raises(InputError, match=r"expected a readable file; found .*: Is a directory"):
        list(number_jsonl(Document, tmp_path))


@pytest.mark.parametrize(
    "content",
    [bytes(range(256)), b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", b"\x1f\x8b\x08\x00", '{"id": "a"}\n'.encode("utf-16")],
    ids=["all bytes", "png", "gzip", "utf-16"],
)
def test_a_binary_file_is_a_record_error_on_its_first_line(content: bytes, path: Path):
    assert error_of(Document, written(path, content)).line == 1


def test_a_bad_line_in_the_middle_loses_only_itself(path: Path):
    lines = ['{"id": "a"}', '{"id": 1}', '{"id": "c"}', "{oops", "", '{"id": "d"}']
    items = [
        item if isinstance(item, RecordError) else item[1]
        for item in number_jsonl(Document, written(path, "\n".join(lines)))
    ]
    assert [item.line if isinstance(item, RecordError) else item.id for item in items] == ["a", 2, "c", 4, "d"]


def test_good_lines_before_a_bad_one_come_out_before_it_is_reported(path: Path):
    stream = read_jsonl(Document, written(path, '{"id": "a"}\n{}\n{"id": "c"}\n'))
    assert next(stream).id == "a"
    with pytest.raises(RecordError):
        next(stream)


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_no_record_holds_a_number_that_json_has_no_word_for(number: float):
    with pytest.raises(ValuesError):
        Evidence(document=ASPIRIN, rank=1, score=number, retriever="bm25")
    with pytest.raises(ValuesError):
        Evidence(document=ASPIRIN, rank=1, score=0.0, retriever="bm25", scores={"dense": number})


def test_a_record_of_a_later_schema_is_refused(path: Path):
    line = changed(PROVENANCE, "schema_version", value=SCHEMA_VERSION + 1)
    error = error_of(Provenance, written(path, line))
    assert error.field == "schema_version"
    assert "written by a newer VeriCite: upgrade with pip install -U vericite" in error.problem
    assert f"found schema {SCHEMA_VERSION + 1}" in error.problem


def test_a_record_carries_the_schema_version_it_was_written_with():
    assert json.loads(to_json(PROVENANCE))["schema_version"] == SCHEMA_VERSION


@given(SECTIONS)
def test_a_section_span_covers_the_section_in_the_documents_text(sections: tuple[Section, ...]):
    document = Document(id="d", sections=sections)
    assert [document.text[span.slice] for span in document.section_spans] == [section.text for section in sections]
    between = zip(document.section_spans, document.section_spans[1:], strict=False)
    assert all(document.text[left.end : right.start] == "\n" for left, right in between)
    assert document.section_spans[-1].end == len(document.text) if sections else document.text == ""


@given(TEXT)
def test_a_document_made_from_a_text_has_that_text(text: str):
    assert Document.from_text("d", text, title="t").text == text


def test_labels_and_title_are_not_in_a_documents_text():
    assert ASPIRIN.text == "Aspirin was given.\nStroke fell."


def test_a_sentence_is_read_from_its_own_document_only():
    sentence = Sentence(document="d1", index=1, span=Span(start=19, end=31))
    assert sentence.text_in(ASPIRIN) == "Stroke fell."
    with pytest.raises(ValueError, match="expected document 'd1'; found 'd2'"):
        sentence.text_in(Document.from_text("d2", ASPIRIN.text))


@pytest.mark.parametrize(("start", "end"), [(-1, 0), (2, 1), (-2, -1), (0, -1)])
def test_a_span_that_does_not_run_forward_from_zero_is_refused(start: int, end: int):
    with pytest.raises(ValuesError, match=f"found start {start}, end {end}"):
        Span(start=start, end=end)


@pytest.mark.parametrize("start", [1.0, "1", True, None])
def test_a_span_of_anything_but_whole_numbers_is_refused(start: Any):
    with pytest.raises(ValuesError):
        Span(start=start, end=3)


@given(TEXT, st.data(), TEXT)
def test_a_shifted_span_covers_the_same_words_behind_a_prefix(text: str, data: st.DataObject, prefix: str):
    ends = sorted(data.draw(st.tuples(*[st.integers(0, len(text))] * 2)))
    span = Span(start=ends[0], end=ends[1])
    assert (prefix + text)[span.shifted(len(prefix)).slice] == text[span.slice]


def test_a_span_cannot_be_shifted_before_the_text():
    with pytest.raises(ValuesError):
        SPAN.shifted(-1)


def test_an_answer_whose_documents_share_an_id_is_refused_with_both_places():
    with pytest.raises(ValuesError, match=r"documents\.2\.id repeats documents\.0\.id, 'd1'"):
        Answer(id="a", text="", claims=(), documents=(ASPIRIN, Document(id="d2"), Document.from_text("d1", "x")))


@pytest.mark.parametrize(("text", "fits"), [("Stroke fell. ", True), ("Stroke fell.", True), ("Stroke fell", False)])
def test_a_claim_must_lie_inside_the_answer(text: str, fits: bool):
    claim = Claim(text="x", span=SPAN)
    if fits:
        assert Answer(id="a", text=text, claims=(claim,), documents=()).claims == (claim,)
    else:
        with pytest.raises(ValuesError, match=r"inside the 11 characters of the answer; found .* 12"):
            Answer(id="a", text=text, claims=(claim,), documents=())


def test_a_citation_of_a_document_the_answer_does_not_have_is_refused():
    with pytest.raises(ValuesError, match="answer's own documents; found 'd1'"):
        Answer(id="a", text=ANSWER.text, claims=(CLAIM,), documents=(Document(id="d2"),))


def test_a_citation_of_nothing_is_kept_as_dangling():
    dangling = Citation(marker=9, span=CITATION.span, document=None)
    claim = Claim(text="x", span=SPAN, citations=(dangling,))
    answer = Answer(id="a", text=ANSWER.text, claims=(claim,), documents=())
    assert answer.claims[0].citations[0].dangling
    assert not CITATION.dangling


def test_only_a_claim_without_any_citation_is_uncited():
    dangling = Claim(text="x", span=SPAN, citations=(Citation(marker=9, span=CITATION.span, document=None),))
    bare = Claim(text="y", span=SPAN)
    answer = Answer(id="a", text=ANSWER.text, claims=(CLAIM, dangling, bare), documents=(ASPIRIN,))
    assert answer.uncited == (bare,)


@given(answers())
def test_an_answer_finds_each_of_its_documents_by_id(answer: Answer):
    assert all(answer.document(document.id) is document for document in answer.documents)


def verdict(label: Label, abstained: bool = False) -> Verdict:
    return Verdict(**JUDGED, label=label, native=label, abstained=abstained)


def test_a_summary_counts_each_verdict_once():
    verdicts = (
        verdict("supported"),
        verdict("supported"),
        verdict("contradicted"),
        verdict("irrelevant"),
        verdict("dangling"),
        verdict("supported", abstained=True),
    )
    summary = Summary.of(ANSWER, verdicts=verdicts, failures=(FAILURE,))
    assert summary == Summary(
        claims=len(ANSWER.claims),
        uncited=len(ANSWER.uncited),
        citations=sum(len({item.document or item.marker for item in claim.citations}) for claim in ANSWER.claims),
        supported=2,
        contradicted=1,
        irrelevant=1,
        dangling=1,
        abstained=1,
        failed=1,
    )
    assert (summary.judged, summary.cases) == (4, 6)


@given(st.lists(VERDICTS, max_size=8), st.lists(FAILURES, max_size=3))
def test_every_verdict_and_failure_of_a_summary_is_a_case_or_dangling(
    verdicts: list[Verdict], failures: list[VerificationFailure]
):
    summary = Summary.of(ANSWER, verdicts=tuple(verdicts), failures=tuple(failures))
    assert summary.cases + summary.dangling == len(verdicts) + len(failures)


@given(SUMMARIES, SUMMARIES, SUMMARIES)
def test_summaries_add_up_in_any_order_from_an_empty_one(a: Summary, b: Summary, c: Summary):
    assert a + Summary() == a
    assert a + b == b + a
    assert (a + b) + c == a + (b + c)
    assert (a + b).judged == a.judged + b.judged
    assert sum([a, b, c], Summary()) == a + b + c


@given(st.lists(VERDICTS, max_size=6), st.integers(0, 6))
def test_the_summary_of_two_halves_is_the_summary_of_the_whole(verdicts: list[Verdict], cut: int):
    def of(part: list[Verdict]) -> Summary:
        return Summary.of(ANSWER, verdicts=tuple(part), failures=())

    once = Summary.of(ANSWER, verdicts=(), failures=())
    assert of(verdicts[:cut]) + of(verdicts[cut:]) == of(verdicts) + once


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: Document(id=3), r"Document, field id: expected a text; found 3\."),
        (lambda: Document(id="a", titel="x"), r"field titel: expected only the fields .* perhaps for 'title'"),
        (lambda: Answer(id="a", tex="x", claims=(), documents=()), r"field tex: .* perhaps for 'text' \(and 1 more\)"),
        (lambda: Document(id="a", sections=({"txt": "x"},)), r"field sections\.0\.txt: .* perhaps for 'text'"),
        (lambda: Document(id="a", colour="x"), r"field colour: .* found an unknown one\. help\(Document\)"),
    ],
)
def test_invalid_values_are_reported_in_our_own_words(make: Callable[[], object], told: str):
    with pytest.raises(ValuesError, match=told) as caught:
        make()
    assert isinstance(caught.value, InputError) and isinstance(caught.value, ValueError)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_records_are_made_out_of_json_without_a_call_of_python():
    assert not Document.__pydantic_custom_init__


def test_names_of_older_files_are_still_read():
    span = {"document": "d1", "sentence": 1, "start": 19, "end": 31}
    assert EvidenceSpan.model_validate_json(json.dumps(span)) == PASSAGE
    now = json.loads(to_json(VERDICT))
    before = dict(now)
    for name, old in (("split_after_failure", "taken_apart"), ("redundant", "unneeded"), ("label_by_source", "apart")):
        before[old] = before.pop(name)
    assert Verdict.model_validate_json(json.dumps(before)) == VERDICT
    assert set(now).isdisjoint({"taken_apart", "unneeded", "apart"})


def test_the_outcome_of_a_verdict_is_its_label_or_abstained():
    assert verdict("irrelevant").outcome == "irrelevant"
    assert verdict("irrelevant", abstained=True).outcome == "abstained"
