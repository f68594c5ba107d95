"""Data sets of answers with sources: MedAESQA, ALCE, HAGRID, Verifiability Judgments, MS MARCO, HotpotQA and others."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

from vericite.datasets.entry import DataSet, Entry, Reading, each_row, from_row
from vericite.datasets.rows import Row, read_rows
from vericite.errors import InputError, RecordError
from vericite.records import (
    Answer,
    Citation,
    CitationJudgement,
    CitationLabel,
    Claim,
    Document,
    Gold,
    GoldNugget,
    GoldSentence,
    LabelledCitation,
    Labels,
    PairLabel,
    Question,
    Section,
    SentenceLabel,
    Span,
)
from vericite.text.citations import CitableDocuments, expect_text, mentions_in, parse_answer
from vericite.text.references import Library


def _medaesqa(reading: Reading) -> Iterator[Entry | RecordError]:
    """Questions and the answers of thirty systems, with an assessment of each citation. Documents have a PMID only."""
    for row in read_rows(reading.path):
        if isinstance(row, RecordError):
            yield row
            continue
        yield from from_row(row, _assessed_question)
        for system, answer in assessed_answers(row):
            yield from from_row(answer, partial(_assessed, row, system))


def _assessed_question(row: Row) -> Entry:
    id, text = row.required_text("question_id", "id"), row.optional_text("question")
    row.row("machine_generated_answers")
    question = Question(id=id, text=text) if text else None
    return Entry(question, Gold.of(question) if question else None)


def assessed_answers(row: Row) -> Iterator[tuple[str, Row]]:
    """Yield a MedAESQA question's answers, each with the name of its system."""
    name = "machine_generated_answers"
    if not isinstance(row.fields.get(name), dict):
        return
    systems = row.row(name)
    for system, value in systems.fields.items():
        # A value that is not an object gives an answer without readable sentences.
        fields = systems.row(system).fields if isinstance(value, dict) else {"answer_sentences": value}
        yield system, Row(row.path, row.line, row.number, f"{systems.within}.{system}", fields)


@dataclass(frozen=True)
class AssessedSentence:
    """A sentence of a MedAESQA answer.

    Attributes:
        text: Its text.
        cited: Assessment of each cited PMID. None: not assessed, or no such article.
        invalid: PMIDs that the assessors call invalid.
        relevance: Whether the answer needs the sentence.
        evidence: The spans of each PMID's abstract that the assessors marked for this assessment.
    """

    text: str
    cited: Mapping[str, CitationLabel | None]
    invalid: frozenset[str]
    relevance: SentenceLabel | None
    evidence: Mapping[str, tuple[str, ...]]


_RELATIONS: Mapping[str, CitationLabel | Literal["invalid"]] = {
    "supporting": "supports",
    "supports": "supports",
    "contradicting": "contradicts",
    "contradicts": "contradicts",
    "neutral": "neutral",
    "not relevant": "irrelevant",
    "irrelevant": "irrelevant",
    "invalid citation": "invalid",
}
_RANK: Mapping[CitationLabel, int] = {"supports": 3, "contradicts": 2, "neutral": 1, "irrelevant": 0}
_RELEVANCE: Mapping[str, SentenceLabel] = {
    "required": "required",
    "borderline": "borderline",
    "unnecessary": "unnecessary",
    "inappropriate": "inappropriate",
}


def assessed_sentences(answer: Row) -> list[AssessedSentence]:
    """Return the sentences of an answer, for ``check`` and for the data set.

    Raises:
        RecordError: The answer has another form.
    """
    return [_assessed_sentence(sentence) for sentence in answer.rows("answer_sentences", required=True)]


def _assessed_sentence(row: Row) -> AssessedSentence:
    # A PMID that is labelled twice in a sentence keeps the stronger label.
    cited: dict[str, CitationLabel | None] = {}
    spans: dict[tuple[str, CitationLabel | None], list[str]] = defaultdict(list)
    invalid: set[str] = set()
    for assessment in row.rows("citation_assessment"):
        pmid = assessment.optional_text("cited_pmid")
        if not pmid:
            continue
        label: CitationLabel | None = None
        if assessment.has("evidence_relation"):
            relation: CitationLabel | Literal["invalid"] = assessment.one_of("evidence_relation", _RELATIONS)
            invalid |= {pmid} if relation == "invalid" else set()
            label = None if relation == "invalid" else relation
        before = cited.setdefault(pmid, label)
        if label and (before is None or _RANK[label] > _RANK[before]):
            cited[pmid] = label
        if span := assessment.optional_text("evidence_support"):
            spans[pmid, label].append(span)
    evidence = {pmid: tuple(spans[pmid, label]) for pmid, label in cited.items()}
    word = row.optional_text("answer_sentence_relevance", "sentence_relevance").casefold()
    return AssessedSentence(row.text("answer_sentence"), cited, frozenset(invalid), _RELEVANCE.get(word), evidence)


def _assessed(question: Row, system: str, answer: Row) -> Entry:
    id = f"{question.required_text('question_id', 'id')}-{system}"
    sentences = assessed_sentences(answer)
    # A citation that an assessor calls invalid names no article, so it cannot be labelled.
    cited = [
        [pmid for pmid, label in sentence.cited.items() if label or pmid not in sentence.invalid]
        for sentence in sentences
    ]
    judged = [
        CitationJudgement(sentence=number, document=pmid, label=label, evidence=sentence.evidence[pmid])
        for number, sentence in enumerate(sentences)
        for pmid, label in sentence.cited.items()
        if label
    ]
    relevance: tuple[SentenceLabel | None, ...] = tuple(sentence.relevance for sentence in sentences)
    documents = [_named(pmid) for pmid in _every(cited)]
    made = answer_of_sentences(
        id, [sentence.text for sentence in sentences], cited, documents, question.optional_text("question") or None
    )
    known = relevance if any(relevance) else None
    return Entry(answer=made, labels=Labels(id=id, citations=tuple(judged), sentences=known, by="assessors"))


def _named(pmid: str) -> Document:
    return Document(id=pmid, pmid=pmid if pmid.isdigit() else None)


def _every(cited: Sequence[Sequence[str]]) -> list[str]:
    return list(dict.fromkeys(id for ids in cited for id in ids))


def answer_of_sentences(
    id: str,
    texts: Sequence[str],
    cited: Sequence[Sequence[str]],
    documents: Sequence[Document],
    question: str | None = None,
) -> Answer:
    """Build an answer from known sentences that cite documents by id; unknown ids become dangling citations."""
    numbers = {document.id: number for number, document in enumerate(documents, start=1)}
    claims: list[Claim] = []
    start = 0
    for text, ids in zip(texts, cited, strict=True):
        span = Span(start=start, end=start + len(text))
        citations = tuple(
            Citation(marker=numbers.get(id, 0), span=span, document=id if id in numbers else None) for id in ids
        )
        claims.append(Claim(text=text, span=span, citations=citations))
        start = span.end + 1
    return Answer(id=id, text=" ".join(texts), claims=tuple(claims), documents=tuple(documents), question=question)


def _passage(row: Row, number: int) -> Document:
    title = row.optional_text("title")
    return Document.from_text(row.optional_text("id") or f"doc-{number}", row.optional_text("text"), title)


def _alce(row: Row, reading: Reading) -> Entry:
    """A question of ASQA, ELI5 or QAMPARI with its passages; files of runs also have the output with markers."""
    id, documents = _alce_id(row), _alce_documents(row)
    pairs = row.rows("qa_pairs")
    answers = row.fields.get("answers")
    listed = answers if isinstance(answers, list) and all(isinstance(item, list) for item in answers) else []  # pyright: ignore[reportUnknownVariableType]
    exact = [pair.texts("short_answers") for pair in pairs] + [tuple(map(str, item)) for item in listed]  # pyright: ignore[reportUnknownArgumentType,reportUnknownVariableType]
    ideal = [
        row.optional_text("answer"),
        *(annotation.optional_text("long_answer") for annotation in row.rows("annotations")),
    ]
    claims = row.texts("claims")
    question = Question(
        id=id,
        text=row.required_text("question"),
        type="list" if listed else None,
        gold_exact=tuple(names for names in exact if names),
        gold_ideal=tuple(dict.fromkeys(filter(None, ideal))),
    )
    nuggets = tuple(GoldNugget(id=f"claim-{place}", text=text) for place, text in enumerate(claims, start=1))
    gold = Gold.of(question)
    answer = alce_answer(row) if row.has("output") else None
    return Entry(
        question, gold.model_copy(update={"nuggets": nuggets}) if nuggets else gold, answer, documents=documents
    )


def _alce_id(row: Row) -> str:
    return row.optional_text("sample_id", "question_id", "id", "qid") or str(row.number)


def _alce_documents(row: Row) -> tuple[Document, ...]:
    return _distinct([_passage(passage, number) for number, passage in enumerate(row.rows("docs"), start=1)])


def alce_answer(row: Row, library: Library | None = None) -> Answer:
    """Return an output with its passages and the documents of a library that it names.

    Raises:
        RecordError: The row has no output, or a text is too long.
    """
    return _parsed(_alce_id(row), row, "output", _alce_documents(row), row.optional_text("question") or None, library)


def _parsed(
    id: str, row: Row, name: str, documents: Sequence[Document], question: str | None, library: Library | None = None
) -> Answer:
    """Parse the answer in a field by its markers.

    Raises:
        RecordError: The field is missing, or a text is too long.
    """
    text = row.text(name)
    try:
        expect_text(text)
        sources = CitableDocuments(documents, library)
        mentions = mentions_in(text, sources)
        return parse_answer(id, text, sources.documents, question, mentions=mentions)
    except InputError as error:
        raise row.refused(name, str(error)) from None


def _distinct(documents: Sequence[Document]) -> tuple[Document, ...]:
    """Make the documents' ids distinct: several passages may come from the same page."""
    seen: dict[str, int] = {}
    found: list[Document] = []
    for document in documents:
        seen[document.id] = seen.get(document.id, 0) + 1
        again = seen[document.id] > 1
        found.append(document.model_copy(update={"id": f"{document.id}#{seen[document.id]}"}) if again else document)
    return tuple(found)


def _hagrid(row: Row, reading: Reading) -> Iterator[Entry]:
    """A question with quotes and a model's answers; each sentence is labelled as attributable or not."""
    id, query = row.required_text("query_id"), row.required_text("query")
    documents = _distinct(
        [
            Document.from_text(quote.optional_text("docid") or f"quote-{number}", quote.required_text("text"))
            for number, quote in enumerate(row.rows("quotes", required=True), start=1)
        ]
    )
    yield Entry(Question(id=id, text=query), documents=documents)
    for place, given in enumerate(row.rows("answers"), start=1):
        answer = _parsed(f"{id}-{place}", given, "answer", documents, query)
        yield Entry(answer=answer, citations=tuple(_hagrid_sentences(given, documents, f"{id}-{place}", query)))


def _hagrid_sentences(given: Row, documents: Sequence[Document], id: str, query: str) -> Iterator[LabelledCitation]:
    for sentence in given.rows("sentences"):
        parsed = _parsed(id, sentence, "text", documents, None)
        names = _every(
            [[citation.document for citation in claim.citations if citation.document] for claim in parsed.claims]
        )
        if not names or not sentence.has("attributable"):
            continue
        attributable = sentence.number_of("attributable")
        known = {document.id: document for document in documents}
        yield LabelledCitation(
            id=f"{id}-{sentence.number}",
            claim=" ".join(claim.text for claim in parsed.claims),
            premise="\n".join(known[name].text for name in names),
            label="supported" if attributable else "irrelevant",
            native="attributable" if attributable else "not attributable",
            documents=tuple(names),
            group=query,
        )


_VJ: Mapping[str, PairLabel] = {
    "complete_support": "supported",
    "partial_support": "irrelevant",
    "no_support": "irrelevant",
}


def _verifiability(row: Row, reading: Reading) -> Entry:
    """A statement of a generative search engine and a page that it cites, judged by a person."""
    citation = LabelledCitation(
        id=f"vj-{row.number}",
        claim=row.required_text("statement"),
        premise=row.text("source_raw_text", "source_text"),
        label=row.one_of("source_supports_statement", _VJ),
        native=row.text("source_supports_statement"),
        documents=tuple(filter(None, (row.optional_text("source_url"),))),
        group=row.optional_text("query") or None,
    )
    return Entry(citations=(citation,))


_ATTRSCORE: Mapping[str, PairLabel] = {
    "attributable": "supported",
    "extrapolatory": "irrelevant",
    "contradictory": "contradicted",
}


def _attrscore(row: Row, reading: Reading) -> Entry:
    """An answer and its reference with AttrScore's three labels; part ``nq`` is Natural Questions."""
    if reading.part and reading.part not in row.optional_text("dataset").casefold().replace("natural questions", "nq"):
        return Entry()
    citation = LabelledCitation(
        id=f"attrscore-{row.number}",
        claim=row.required_text("answer"),
        premise=row.text("reference"),
        label=row.one_of("label", _ATTRSCORE),
        native=row.text("label"),
        group=row.optional_text("query") or None,
    )
    return Entry(citations=(citation,))


def _attributionbench(row: Row, reading: Reading) -> Entry:
    labels: Mapping[str, PairLabel] = {"attributable": "supported", "not attributable": "irrelevant"}
    citation = LabelledCitation(
        id=row.optional_text("id") or f"attributionbench-{row.number}",
        claim=row.required_text("claim"),
        premise="\n".join(row.texts("references")),
        label=row.one_of("attribution_label", labels),
        native=row.text("attribution_label"),
        group=row.optional_text("question") or None,
    )
    return Entry(citations=(citation,))


def _msmarco(row: Row, reading: Reading) -> Iterator[Entry]:
    """Questions with ten passages each; those that people used for the answer are marked."""
    for asked in msmarco_rows(row):
        yield msmarco_entry(asked)


def msmarco_rows(row: Row) -> Iterator[Row]:
    """Yield the questions of a row: the row itself, or those of the distributed file of columns.

    That file is one object, with an object by row for each column.
    """
    if not isinstance(row.fields.get("query"), dict):
        yield row
        return
    names = [name for name, value in row.fields.items() if isinstance(value, dict)]
    for key in row.row("query").fields:
        fields = {name: row.row(name).fields.get(key) for name in names}
        yield Row(row.path, row.line, row.number, f"row {key}", fields)


def _msmarco_passages(row: Row) -> list[Row]:
    """Return the passages: a list of objects, or an object of lists as on Hugging Face."""
    if not isinstance(row.fields.get("passages"), dict):
        return row.rows("passages", required=True)
    columns = row.row("passages")
    texts = columns.texts("passage_text")
    urls, marks = columns.texts("url"), columns.texts("is_selected")
    if not len(texts) == len(urls or texts) == len(marks or texts):
        raise row.refused("passages", "expected lists of the same length; found others")
    return [
        Row(
            row.path,
            row.line,
            place + 1,
            f"{columns.within}.{place}",
            {
                "passage_text": text,
                "url": urls[place] if urls else None,
                "is_selected": marks[place] if marks else None,
            },
        )
        for place, text in enumerate(texts)
    ]


def long_answers(row: Row) -> tuple[str, ...]:
    """Return the answers that people wrote as whole sentences; a question without any has the text ``[]``."""
    return row.texts("wellFormedAnswers") if isinstance(row.fields.get("wellFormedAnswers"), list) else ()


def msmarco_entry(row: Row) -> Entry:
    """Return a question with its passages, marked documents and answers.

    Raises:
        RecordError: The row has another form.
    """
    id, passages = row.required_text("query_id"), _msmarco_passages(row)
    names = [f"{id}-{number}" for number in range(1, len(passages) + 1)]
    documents = tuple(
        Document.from_text(name, passage.text("passage_text")).model_copy(
            update={"source": passage.optional_text("url") or None}
        )
        for name, passage in zip(names, passages, strict=True)
    )
    marked = [passage.has("is_selected") and passage.number_of("is_selected") > 0 for passage in passages]
    chosen = [name for name, selected in zip(names, marked, strict=True) if selected]
    found = (*long_answers(row), *row.texts("answers"))
    answers = tuple(answer for answer in found if answer and answer != "No Answer Present.")
    question = Question(id=id, text=row.required_text("query"), gold_documents=tuple(chosen), gold_ideal=answers)
    return Entry(question, Gold.of(question), documents=documents)


def _hotpotqa(row: Row, reading: Reading) -> Entry:
    """A question that needs two paragraphs out of ten, with the sentences that its answer rests on."""
    titles, texts = _hotpot_context(row)
    documents = _distinct([_paragraph(title, sentences) for title, sentences in zip(titles, texts, strict=True)])
    facts = dict.fromkeys(title for title, _ in _pairs(row, "supporting_facts", ("title", "sent_id")))
    answer = row.required_text("answer")
    closed = answer.casefold() in ("yes", "no")
    question = Question(
        id=row.required_text("_id", "id"),
        text=row.required_text("question"),
        type="yesno" if closed else "factoid",
        gold_documents=tuple(facts),
        gold_exact=((answer.casefold() if closed else answer,),),
    )
    return Entry(question, Gold.of(question), documents=documents)


def _paragraph(title: str, sentences: Sequence[str]) -> Document:
    return Document(id=title, title=title, sections=(Section(text="".join(sentences)),) if sentences else ())


def _hotpot_context(row: Row) -> tuple[list[str], list[list[str]]]:
    pairs = list(_pairs(row, "context", ("title", "sentences")))
    return [title for title, _ in pairs], [
        sentences if isinstance(sentences, list) else [str(sentences)] for _, sentences in pairs
    ]  # pyright: ignore[reportUnknownVariableType]


def _pairs(row: Row, name: str, columns: tuple[str, str]) -> Iterable[tuple[str, object]]:
    """Return the pairs of a list of pairs (the authors' form) or of two columns (the Hugging Face form)."""
    value = row.fields.get(name)
    if isinstance(value, dict):
        first, second = (value.get(column) for column in columns)  # pyright: ignore[reportUnknownMemberType,reportUnknownVariableType]
        if isinstance(first, list) and isinstance(second, list) and len(first) == len(second):  # pyright: ignore[reportUnknownArgumentType]
            return [(str(left), right) for left, right in zip(first, second, strict=True)]  # pyright: ignore[reportUnknownArgumentType,reportUnknownVariableType]
    if isinstance(value, list) and all(isinstance(pair, list) and len(pair) == 2 for pair in value):  # pyright: ignore[reportUnknownArgumentType,reportUnknownVariableType]
        return [(str(pair[0]), pair[1]) for pair in value]  # pyright: ignore[reportUnknownVariableType,reportUnknownArgumentType]
    raise row.refused(name, f"expected a list of pairs of {' and '.join(columns)}; found something else")


_DEGREES: Mapping[str, PairLabel] = {"complete": "supported", "partial": "irrelevant", "relevant": "irrelevant"}


def _politicite(row: Row, reading: Reading) -> Entry:
    """An article in the paper's form: its claims, each with evidence snippets and degrees of support."""
    id, asked = row.required_text("id"), row.required_text("question")
    claims = row.rows("claims", required=True)
    texts = [claim.required_text("text") for claim in claims]
    sources: dict[str, dict[str, None]] = {}
    citations: list[LabelledCitation] = []
    gold: list[GoldSentence] = []
    for number, claim in enumerate(claims):
        supporting: dict[str, None] = {}
        for evidence in claim.rows("evidence"):
            name, snippet = evidence.required_text("source"), evidence.required_text("text")
            label: PairLabel = evidence.one_of("support", _DEGREES)
            sources.setdefault(name, {})[snippet] = None
            if evidence.text("support").casefold() != "relevant":
                supporting[name] = None
            citations.append(
                LabelledCitation(
                    id=f"{id}-{number + 1}-{evidence.number}",
                    claim=texts[number],
                    premise=snippet,
                    label=label,
                    native=evidence.text("support"),
                    documents=(name,),
                    group=id,
                )
            )
        gold.append(GoldSentence(sentence=number, documents=tuple(supporting)))
    documents = tuple(
        Document(id=name, sections=tuple(Section(text=text) for text in snippets)) for name, snippets in sources.items()
    )
    question = Question(id=id, text=asked, gold_ideal=(" ".join(texts),))
    known = Gold.of(question).model_copy(update={"citations": tuple(gold)})
    answer = answer_of_sentences(id, texts, [sentence.documents for sentence in gold], documents, asked)
    return Entry(question, known, answer, citations=tuple(citations), documents=documents)


SETS = (
    DataSet(
        "medaesqa",
        "MedAESQA",
        "40 questions of TREC BioGen 2024, each with 30 answers with assessed citations; without the abstracts",
        ("questions", "answers", "labels"),
        '{"question_id", "question"?, "machine_generated_answers": {"M1": {"answer_sentences": [{"answer_sentence", '
        '"citation_assessment": [{"cited_pmid", "evidence_relation", "evidence_support"?}]}]}}}',
        "https://osf.io/ydbzq and https://huggingface.co/datasets/deepak8452/MedAESQA",
        "CC0 1.0",
        _medaesqa,
        cite="Gupta et al. 2025, Scientific Data",
    ),
    DataSet(
        "alce",
        "ALCE: ASQA, ELI5, QAMPARI",
        "questions with retrieved passages, reference answers and claims; files of runs have answers",
        ("questions", "gold", "answers", "documents"),
        '[{"question", "docs": [{"title", "text"}], "answer"?, "qa_pairs"?, "claims"?, "answers"?, "output"?}]',
        "https://github.com/princeton-nlp/ALCE",
        "MIT; its sets have their own",
        each_row(_alce, ("data",)),
        cite="Gao et al. 2023, arXiv 2305.14627",
    ),
    DataSet(
        "vj",
        "Verifiability Judgments",
        "statements of four generative search engines with the pages they cite; partial support counts as none",
        ("citations",),
        '{"query", "statement", "source_text" or "source_raw_text", "source_supports_statement"}',
        "https://github.com/nelson-liu/evaluating-verifiability-in-generative-search-engines",
        "MIT; pages have their own",
        each_row(_verifiability),
        trained_on=("verifier-v6: those in half of AttributionBench's dev part",),
        cite="Liu et al. 2023, arXiv 2304.09848",
    ),
    DataSet(
        "msmarco",
        "MS MARCO QnA 2.1",
        "search queries with ten passages (those used for the answer are marked) and answers by people",
        ("questions", "gold", "documents"),
        '{"query_id", "query", "passages": [{"passage_text", "is_selected", "url"?}], "answers", "wellFormedAnswers"?}',
        "https://microsoft.github.io/msmarco",
        "non-commercial research only",
        each_row(_msmarco),
        cite="Bajaj et al. 2016, arXiv 1611.09268",
    ),
    DataSet(
        "hotpotqa",
        "HotpotQA",
        "questions that need two Wikipedia paragraphs out of ten",
        ("questions", "gold", "documents"),
        '[{"_id", "question", "answer", "supporting_facts": [[TITLE, N]], "context": [[TITLE, [SENTENCE]]]}]',
        "https://hotpotqa.github.io",
        "CC BY-SA 4.0",
        each_row(_hotpotqa),
        cite="Yang et al. 2018, EMNLP",
    ),
    DataSet(
        "attrscore",
        "AttrScore; part nq is its Natural Questions",
        "answers and references, attributable, extrapolatory or contradictory",
        ("citations",),
        '"query", "answer", "reference", "label" (Attributable, Extrapolatory, Contradictory), "dataset"?',
        "https://huggingface.co/datasets/osunlp/AttrScore",
        "Apache 2.0; Natural Questions CC BY-SA 3.0",
        each_row(_attrscore),
        parts=("nq",),
        cite="Yue et al. 2023, arXiv 2305.06311",
    ),
    DataSet(
        "hagrid",
        "HAGRID",
        "questions with quotes of Wikipedia and a model's cited answers, sentences judged attributable or not",
        ("questions", "answers", "citations", "documents"),
        '{"query_id", "query", "quotes": [{"docid", "text"}], "answers": [{"answer", "sentences": [{"text", '
        '"attributable"}]}]}',
        "https://huggingface.co/datasets/miracl/hagrid",
        "Apache 2.0",
        each_row(_hagrid),
        cite="Kamalloo et al. 2023, arXiv 2307.16883",
    ),
    DataSet(
        "politicite",
        "PolitiCite, in the form that the paper describes (never published)",
        "fact-checking articles, claim by claim, with evidence snippets and degrees of support",
        ("questions", "gold", "answers", "citations", "documents"),
        '{"id", "question", "claims": [{"text", "evidence": [{"source", "text", "support": complete, partial or '
        "relevant}]}]}",
        "not published: https://github.com/offendo/politicite",
        "unknown",
        each_row(_politicite),
        cite="Patel et al. 2024, NAACL",
    ),
    DataSet(
        "attributionbench",
        "AttributionBench",
        "claims of cited answers from five sets, attributable to their references or not",
        ("citations",),
        '{"question", "claim", "references", "attribution_label"}',
        "https://huggingface.co/datasets/osunlp/AttributionBench",
        "none stated",
        each_row(_attributionbench),
        trained_on=("verifier-v6: half of dev, by question",),
        usual=("attributionbench/dev.jsonl",),
        cite="Li et al. 2024, arXiv 2402.15089",
    ),
)
