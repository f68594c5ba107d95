"""Data sets of answers with sources: MedAESQA, ALCE, HAGRID, Verifiability Judgments, MS MARCO, HotpotQA and others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from vericite.datasets.entry import DataSet, Entry, Reading, each_row
from vericite.datasets.rows import Row
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
from vericite.text.citations import parse_answer


def _medaesqa(row: Row, reading: Reading) -> Iterator[Entry]:
    """A question and thirty systems' answers, each citation assessed; the documents are named by PMID alone."""
    id = row.words("question_id", "id")
    text = row.perhaps("question")
    answers = row.row("machine_generated_answers")
    question = Question(id=id, text=text) if text else None
    yield Entry(question, Gold.of(question) if question else None)
    for system in answers.fields:
        yield _assessed(answers.row(system), f"{id}-{system}", text or None)


_RELATIONS: Mapping[str, CitationLabel | None] = {
    "supporting": "supports",
    "supports": "supports",
    "contradicting": "contradicts",
    "contradicts": "contradicts",
    "neutral": "neutral",
    "not relevant": "irrelevant",
    "irrelevant": "irrelevant",
    "invalid citation": None,
}
_RANK: Mapping[CitationLabel, int] = {"supports": 3, "contradicts": 2, "neutral": 1, "irrelevant": 0}
_RELEVANCE: Mapping[str, SentenceLabel] = {
    "required": "required",
    "borderline": "borderline",
    "unnecessary": "unnecessary",
    "inappropriate": "inappropriate",
}


def _assessed(row: Row, id: str, question: str | None) -> Entry:
    sentences = row.rows("answer_sentences", required=True)
    texts = [sentence.text("answer_sentence") for sentence in sentences]
    cited: list[tuple[str, ...]] = []
    judged: list[CitationJudgement] = []
    for number, sentence in enumerate(sentences):
        # A PMID that is labelled twice in a sentence supports it if either label says so.
        labels: dict[str, CitationLabel] = {}
        pmids: dict[str, None] = {}
        for assessment in sentence.rows("citation_assessment"):
            label: CitationLabel | None = _relation(assessment)
            pmid = assessment.words("cited_pmid")
            if label is None:
                continue
            pmids[pmid] = None
            if pmid not in labels or _RANK[label] > _RANK[labels[pmid]]:
                labels[pmid] = label
        cited.append(tuple(pmids))
        judged += [CitationJudgement(sentence=number, document=it, label=label) for it, label in labels.items()]
    relevance: tuple[SentenceLabel | None, ...] = tuple(_relevance(it) for it in sentences)
    known = relevance if any(relevance) else None
    answer = answer_of_sentences(id, texts, cited, [_named(pmid) for pmid in _every(cited)], question)
    return Entry(answer=answer, labels=Labels(id=id, citations=tuple(judged), sentences=known, by="assessors"))


def _relation(row: Row) -> CitationLabel | None:
    word = row.text("evidence_relation").casefold()
    if word not in _RELATIONS:
        raise row.refused("evidence_relation", f"expected one of {', '.join(_RELATIONS)}; found {word!r}")
    return _RELATIONS[word]


def _relevance(row: Row) -> SentenceLabel | None:
    word = row.perhaps("answer_sentence_relevance", "sentence_relevance").casefold()
    return _RELEVANCE.get(word)


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
    """An answer of sentences that are known as such, each citing documents by id; ids of no document dangle."""
    numbers = {document.id: number for number, document in enumerate(documents, start=1)}
    claims: list[Claim] = []
    start = 0
    for text, ids in zip(texts, cited, strict=True):
        span = Span(start=start, end=start + len(text))
        citations = tuple(
            Citation(marker=numbers.get(it, 0), span=span, document=it if it in numbers else None) for it in ids
        )
        claims.append(Claim(text=text, span=span, citations=citations))
        start = span.end + 1
    return Answer(id=id, text=" ".join(texts), claims=tuple(claims), documents=tuple(documents), question=question)


def _passage(row: Row, number: int) -> Document:
    title = row.perhaps("title")
    return Document.from_text(row.perhaps("id") or f"doc-{number}", row.perhaps("text"), title)


def _alce(row: Row, reading: Reading) -> Entry:
    """A question of ASQA, ELI5 or QAMPARI with its passages; a run's file has the output, with markers, as well."""
    id = row.perhaps("sample_id", "question_id", "id", "qid") or str(row.number)
    documents = _distinct([_passage(it, number) for number, it in enumerate(row.rows("docs"), start=1)])
    pairs = row.rows("qa_pairs")
    answers = row.fields.get("answers")
    listed = answers if isinstance(answers, list) and all(isinstance(it, list) for it in answers) else []  # pyright: ignore[reportUnknownVariableType]
    exact = [pair.texts("short_answers") for pair in pairs] + [tuple(map(str, it)) for it in listed]  # pyright: ignore[reportUnknownArgumentType,reportUnknownVariableType]
    ideal = [row.perhaps("answer"), *(it.perhaps("long_answer") for it in row.rows("annotations"))]
    claims = row.texts("claims")
    question = Question(
        id=id,
        text=row.words("question"),
        type="list" if listed else None,
        gold_exact=tuple(names for names in exact if names),
        gold_ideal=tuple(dict.fromkeys(filter(None, ideal))),
    )
    nuggets = tuple(GoldNugget(id=f"claim-{place}", text=text) for place, text in enumerate(claims, start=1))
    gold = Gold.of(question)
    answer = parse_answer(id, row.text("output"), documents, question.text) if row.has("output") else None
    return Entry(
        question, gold.model_copy(update={"nuggets": nuggets}) if nuggets else gold, answer, documents=documents
    )


def _distinct(documents: Sequence[Document]) -> tuple[Document, ...]:
    """Documents with ids of their own: a passage may come from the same page as another."""
    seen: dict[str, int] = {}
    found: list[Document] = []
    for document in documents:
        seen[document.id] = seen.get(document.id, 0) + 1
        again = seen[document.id] > 1
        found.append(document.model_copy(update={"id": f"{document.id}#{seen[document.id]}"}) if again else document)
    return tuple(found)


def _hagrid(row: Row, reading: Reading) -> Iterator[Entry]:
    """A question with quotes and a model's answers, each sentence of which is attributable to what it cites or not."""
    id, query = row.words("query_id"), row.words("query")
    documents = _distinct(
        [
            Document.from_text(quote.perhaps("docid") or f"quote-{number}", quote.words("text"))
            for number, quote in enumerate(row.rows("quotes", required=True), start=1)
        ]
    )
    yield Entry(Question(id=id, text=query), documents=documents)
    for place, given in enumerate(row.rows("answers"), start=1):
        answer = parse_answer(f"{id}-{place}", given.text("answer"), documents, query)
        yield Entry(answer=answer, citations=tuple(_hagrid_sentences(given, documents, f"{id}-{place}", query)))


def _hagrid_sentences(given: Row, documents: Sequence[Document], id: str, query: str) -> Iterator[LabelledCitation]:
    for sentence in given.rows("sentences"):
        parsed = parse_answer(id, sentence.text("text"), documents)
        names = _every([[it.document for it in claim.citations if it.document] for claim in parsed.claims])
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
    """A statement of a generative search engine and a page it cites, judged by a person."""
    citation = LabelledCitation(
        id=f"vj-{row.number}",
        claim=row.words("statement"),
        premise=row.text("source_raw_text", "source_text"),
        label=row.one_of("source_supports_statement", _VJ),
        native=row.text("source_supports_statement"),
        documents=tuple(filter(None, (row.perhaps("source_url"),))),
        group=row.perhaps("query") or None,
    )
    return Entry(citations=(citation,))


_ATTRSCORE: Mapping[str, PairLabel] = {
    "attributable": "supported",
    "extrapolatory": "irrelevant",
    "contradictory": "contradicted",
}


def _attrscore(row: Row, reading: Reading) -> Entry:
    """An answer and a reference to it, with AttrScore's three labels; part ``nq`` is that of Natural Questions."""
    if reading.part and reading.part not in row.perhaps("dataset").casefold().replace("natural questions", "nq"):
        return Entry()
    citation = LabelledCitation(
        id=f"attrscore-{row.number}",
        claim=row.words("answer"),
        premise=row.text("reference"),
        label=row.one_of("label", _ATTRSCORE),
        native=row.text("label"),
        group=row.perhaps("query") or None,
    )
    return Entry(citations=(citation,))


def _attributionbench(row: Row, reading: Reading) -> Entry:
    labels: Mapping[str, PairLabel] = {"attributable": "supported", "not attributable": "irrelevant"}
    citation = LabelledCitation(
        id=row.perhaps("id") or f"attributionbench-{row.number}",
        claim=row.words("claim"),
        premise="\n".join(row.texts("references")),
        label=row.one_of("attribution_label", labels),
        native=row.text("attribution_label"),
        group=row.perhaps("question") or None,
    )
    return Entry(citations=(citation,))


def _msmarco(row: Row, reading: Reading) -> Entry | Iterator[Entry]:
    """A question with ten passages, of which people marked those that they answered from.

    A file of columns, as it is distributed, has one object of objects by row.
    """
    if isinstance(row.fields.get("query"), dict):
        return _columns(row)
    return _msmarco_entry(row, row.words("query_id"))


def _columns(row: Row) -> Iterator[Entry]:
    names = [name for name, value in row.fields.items() if isinstance(value, dict)]
    for key in row.row("query").fields:
        fields = {name: row.row(name).fields.get(key) for name in names}
        one = Row(row.path, row.line, row.number, f"row {key}", fields)
        yield _msmarco_entry(one, one.words("query_id"))


def _msmarco_entry(row: Row, id: str) -> Entry:
    passages = row.rows("passages", required=True)
    names = [f"{id}-{number}" for number in range(1, len(passages) + 1)]
    documents = tuple(
        Document.from_text(name, it.text("passage_text")).model_copy(update={"source": it.perhaps("url") or None})
        for name, it in zip(names, passages, strict=True)
    )
    marked = [it.has("is_selected") and it.number_of("is_selected") > 0 for it in passages]
    chosen = [name for name, selected in zip(names, marked, strict=True) if selected]
    full, short = row.fields.get("wellFormedAnswers"), row.texts("answers")
    ideal = row.texts("wellFormedAnswers") if isinstance(full, list) else ()
    answers = tuple(it for it in (*ideal, *short) if it and it != "No Answer Present.")
    question = Question(id=id, text=row.words("query"), gold_documents=tuple(chosen), gold_ideal=answers)
    return Entry(question, Gold.of(question), documents=documents)


def _hotpotqa(row: Row, reading: Reading) -> Entry:
    """A question that needs two paragraphs out of ten, with the sentences that it rests on."""
    titles, texts = _hotpot_context(row)
    documents = _distinct([_paragraph(title, it) for title, it in zip(titles, texts, strict=True)])
    facts = dict.fromkeys(title for title, _ in _pairs(row, "supporting_facts", ("title", "sent_id")))
    answer = row.words("answer")
    closed = answer.casefold() in ("yes", "no")
    question = Question(
        id=row.words("_id", "id"),
        text=row.words("question"),
        type="yesno" if closed else "factoid",
        gold_documents=tuple(facts),
        gold_exact=((answer.casefold() if closed else answer,),),
    )
    return Entry(question, Gold.of(question), documents=documents)


def _paragraph(title: str, sentences: Sequence[str]) -> Document:
    return Document(id=title, title=title, sections=(Section(text="".join(sentences)),) if sentences else ())


def _hotpot_context(row: Row) -> tuple[list[str], list[list[str]]]:
    pairs = list(_pairs(row, "context", ("title", "sentences")))
    return [title for title, _ in pairs], [it if isinstance(it, list) else [str(it)] for _, it in pairs]  # pyright: ignore[reportUnknownVariableType]


def _pairs(row: Row, name: str, columns: tuple[str, str]) -> Iterable[tuple[str, object]]:
    """Pairs as the authors write them, or two columns as the hub does."""
    value = row.fields.get(name)
    if isinstance(value, dict):
        first, second = (value.get(column) for column in columns)  # pyright: ignore[reportUnknownMemberType,reportUnknownVariableType]
        if isinstance(first, list) and isinstance(second, list) and len(first) == len(second):  # pyright: ignore[reportUnknownArgumentType]
            return [(str(one), other) for one, other in zip(first, second, strict=True)]  # pyright: ignore[reportUnknownArgumentType,reportUnknownVariableType]
    if isinstance(value, list) and all(isinstance(it, list) and len(it) == 2 for it in value):  # pyright: ignore[reportUnknownArgumentType,reportUnknownVariableType]
        return [(str(it[0]), it[1]) for it in value]  # pyright: ignore[reportUnknownVariableType,reportUnknownArgumentType]
    raise row.refused(name, f"expected a list of pairs of {' and '.join(columns)}; found something else")


_DEGREES: Mapping[str, PairLabel] = {"complete": "supported", "partial": "irrelevant", "relevant": "irrelevant"}


def _politicite(row: Row, reading: Reading) -> Entry:
    """An article as the paper describes it: its claims, each with evidence snippets and how far they support it."""
    id, asked = row.words("id"), row.words("question")
    claims = row.rows("claims", required=True)
    texts = [claim.words("text") for claim in claims]
    sources: dict[str, dict[str, None]] = {}
    citations: list[LabelledCitation] = []
    gold: list[GoldSentence] = []
    for number, claim in enumerate(claims):
        supporting: dict[str, None] = {}
        for evidence in claim.rows("evidence"):
            name, snippet = evidence.words("source"), evidence.words("text")
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
    answer = answer_of_sentences(id, texts, [it.documents for it in gold], documents, asked)
    return Entry(question, known, answer, citations=tuple(citations), documents=documents)


SETS = (
    DataSet(
        "medaesqa",
        "MedAESQA",
        "40 questions of TREC BioGen 2024, each with 30 answers whose citations were assessed; abstracts are not in it",
        ("questions", "answers", "labels"),
        '{"question_id", "question"?, "machine_generated_answers": {"M1": {"answer_sentences": [{"answer_sentence", '
        '"citation_assessment": [{"cited_pmid", "evidence_relation"}]}]}}}',
        "https://osf.io/ydbzq and https://huggingface.co/datasets/deepak8452/MedAESQA",
        "CC0 1.0",
        each_row(_medaesqa),
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
        "statements of four generative search engines before the pages they cite; partial support counts as none",
        ("citations",),
        '{"query", "statement", "source_text" or "source_raw_text", "source_supports_statement"}',
        "https://github.com/nelson-liu/evaluating-verifiability-in-generative-search-engines",
        "MIT; pages have their own",
        each_row(_verifiability),
        cite="Liu et al. 2023, arXiv 2304.09848",
    ),
    DataSet(
        "msmarco",
        "MS MARCO QnA 2.1",
        "search queries with ten passages, those answered from, and answers by people",
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
        "AttrScore; part nq is Natural Questions as it has them",
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
        trained_on=("verifier-v3: those in half of AttributionBench's dev part",),
        cite="Kamalloo et al. 2023, arXiv 2307.16883",
    ),
    DataSet(
        "politicite",
        "PolitiCite, in the form that the paper describes (it was never published)",
        "fact-checking articles, claim by claim, with evidence snippets and how far they support it",
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
        "claims of cited answers of five sets, attributable to their references or not",
        ("citations",),
        '{"question", "claim", "references", "attribution_label"}',
        "https://huggingface.co/datasets/osunlp/AttributionBench",
        "none stated",
        each_row(_attributionbench),
        trained_on=("verifier-v3: half of dev, by question",),
        usual=("attributionbench/dev.jsonl",),
        cite="Li et al. 2024, arXiv 2402.15089",
    ),
)
