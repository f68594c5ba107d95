"""Data sets of biomedical questions: BioASQ, MIRAGE, PubMedQA, TREC BioGen, K-QA, MedLFQA."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from vericite.datasets.entry import DataSet, Entry, Reading, each_row, from_row
from vericite.datasets.rows import Row, pmid_of, read_object, read_rows, read_text
from vericite.errors import InputError, RecordError
from vericite.records import (
    Document,
    Gold,
    GoldNugget,
    LabelledCitation,
    PairLabel,
    Question,
    QuestionType,
    Section,
)

BIOASQ_TYPES: Mapping[str, QuestionType] = {
    "yesno": "yesno",
    "factoid": "factoid",
    "list": "list",
    "summary": "summary",
}


def _bioasq(row: Row, reading: Reading) -> Entry:
    """A question of a golden or training file of any year. Test files have no answers."""
    cited = [pmid_of(snippet.text("document")) for snippet in row.rows("snippets")]
    documents = dict.fromkeys([*map(pmid_of, row.texts("documents")), *cited])
    question = Question(
        id=row.required_text("id"),
        text=row.required_text("body"),
        type=row.one_of("type", BIOASQ_TYPES) if row.has("type") else None,
        gold_documents=tuple(documents),
        gold_exact=exact_answers(row),
        gold_ideal=tuple(filter(None, row.texts("ideal_answer"))),
    )
    return Entry(question, Gold.of(question), documents=_snippets(row))


def exact_answers(row: Row) -> tuple[tuple[str, ...], ...]:
    """Return the exact answer. Its form depends on the year: a text, a list of texts, a list of lists of synonyms.

    A list of texts holds the synonyms of one answer, except in list questions, where each text is an answer.
    """
    value: Any = row.fields.get("exact_answer")
    if value is None or value == "":
        return ()
    if isinstance(value, str):
        return ((value.strip().casefold() if row.optional_text("type") == "yesno" else value.strip(),),)
    if not isinstance(value, list):
        raise row.refused("exact_answer", "expected a text or a list; found neither")
    entries: list[Any] = value  # pyright: ignore[reportUnknownVariableType]
    if all(isinstance(text, str) for text in entries):
        is_list = row.optional_text("type") == "list"
        return tuple((text,) for text in entries) if is_list else (tuple(entries),)
    if not all(isinstance(item, list | str) for item in entries):
        raise row.refused("exact_answer", "expected texts or lists of synonyms; found something else")
    listed = [[item] if isinstance(item, str) else item for item in entries]
    return tuple(tuple(str(name) for name in item) for item in listed if item)


def _snippets(row: Row) -> tuple[Document, ...]:
    """Return the gold documents; their text is that of the snippets, not the whole abstract."""
    texts: dict[str, dict[str, None]] = {}
    titles: dict[str, str] = {}
    for snippet in row.rows("snippets"):
        pmid, text = pmid_of(snippet.text("document")), snippet.text("text")
        if snippet.optional_text("beginSection") == "title":
            titles[pmid] = text
        elif text:
            texts.setdefault(pmid, {})[text] = None
    return tuple(
        Document(
            id=pmid,
            pmid=pmid if pmid.isdigit() else None,
            title=titles.get(pmid, ""),
            sections=tuple(Section(text=text) for text in texts.get(pmid, ())),
            source="gold snippets",
        )
        for pmid in {**texts, **titles}
    )


MIRAGE_PARTS = ("bioasq", "pubmedqa", "medqa", "medmcqa", "mmlu")
_DECISIONS = ("yes", "no", "maybe")


def _mirage(reading: Reading) -> Iterator[Entry | RecordError]:
    """The benchmark's only file: questions by part and id, each with lettered options and the letter of the answer."""
    whole = read_object(reading.path)
    parts = [part for part in ([reading.part] if reading.part else MIRAGE_PARTS) if whole.has(part)]
    if not parts:
        raise InputError(
            f"expected an object with {reading.part or ', '.join(MIRAGE_PARTS)} in {reading.path}; found "
            f"{', '.join(list(whole.fields)[:6]) or 'none'}. Use MIRAGE's benchmark.json."
        )
    for part in parts:
        questions = whole.row(part)
        for id in questions.fields:
            try:
                row = questions.row(id)
            except RecordError as error:
                yield error
                continue
            yield from from_row(row, lambda row, id=id, part=part: _mirage_entry(row, id, part))


def _mirage_entry(row: Row, id: str, part: str) -> Entry:
    options = row.row("options")
    answers = {letter: options.text(letter) for letter in options.fields}
    letter = row.required_text("answer")
    if letter not in answers:
        raise row.refused("answer", f"expected one of the options {', '.join(answers)}; found {letter!r}")
    closed = set(answers.values()) <= set(_DECISIONS)
    text = row.required_text("question")
    if not closed:
        text = "\n".join([text, *(f"{letter}. {answer}" for letter, answer in answers.items())])
    question = Question(
        id=id,
        text=text,
        type="yesno" if closed else None,
        gold_documents=(id,) if part == "pubmedqa" else (),
        gold_exact=((answers[letter],) if closed else (answers[letter], letter),),
    )
    gold = Gold.of(question).model_copy(update={"groups": {"set": part}})
    return Entry(question, gold)


def _pubmedqa(reading: Reading) -> Iterator[Entry | RecordError]:
    """The labelled part: articles by PMID. The question is the title, the context is the abstract without its end."""
    whole = read_object(reading.path)
    if whole.fields and all(value in _DECISIONS for value in whole.fields.values()):
        return  # the ids of the test part, in a file next to the articles
    tested = _pubmedqa_test(reading) if reading.part else set[str]()
    for pmid in whole.fields:
        if reading.part and (pmid in tested) != (reading.part == "test"):
            continue
        try:
            row = whole.row(pmid)
        except RecordError as error:
            yield error
            continue
        yield from from_row(row, lambda row, pmid=pmid: _pubmedqa_entry(row, pmid))


def _pubmedqa_test(reading: Reading) -> set[str]:
    path = reading.sibling("test_ground_truth.json")
    if path is None:
        raise InputError(
            f"expected test_ground_truth.json, which lists the test part, next to {reading.path}; found none. "
            "Put it there, or omit the part."
        )
    return set(read_object(path).fields)


def _pubmedqa_entry(row: Row, pmid: str) -> Entry:
    decision = row.required_text("final_decision")
    if decision not in _DECISIONS:
        raise row.refused("final_decision", f"expected yes, no or maybe; found {decision!r}")
    question = Question(
        id=pmid,
        text=row.required_text("QUESTION"),
        type="yesno",
        gold_documents=(pmid,),
        gold_exact=((decision,),),
        gold_ideal=tuple(filter(None, (row.optional_text("LONG_ANSWER"),))),
    )
    contexts, labels = row.texts("CONTEXTS"), row.texts("LABELS")
    named = labels if len(labels) == len(contexts) else (None,) * len(contexts)
    sections = tuple(Section(text=text, label=label) for text, label in zip(contexts, named, strict=True) if text)
    document = Document(id=pmid, pmid=pmid, title=question.text, sections=sections, mesh=row.texts("MESHES"))
    return Entry(question, Gold.of(question), documents=(document,) if sections else ())


_SPLITS = {"test": range(40), "validation": range(40, 45), "training": range(45, 65)}
"""BioACE's split of the 65 topics of 2024: by their order in the track's file."""

_FIRST_TOPIC = 116
"""Id of the first topic of 2024; the others follow it one by one."""


def _biogen(reading: Reading) -> Iterator[Entry | RecordError]:
    """Topics or judgements. Judgements are JSON by topic and PMID, or lines in TREC's format."""
    for place, entry in enumerate(_biogen_entries(reading.path)):
        if isinstance(entry, RecordError) or not reading.part or _is_in_part(entry, place, reading.part):
            yield entry


def _is_in_part(entry: Entry, place: int, part: str) -> bool:
    """Whether a topic is in a part: by its id, so that the files of a folder may hold topics in any order.

    A topic with another id is counted by its place in the file.
    """
    id = entry.gold.id if entry.gold is not None else ""
    number = int(id) - _FIRST_TOPIC if id.isdecimal() and len(id) < 9 else -1
    return (number if number in range(65) else place) in _SPLITS[part]


def _biogen_entries(path: Path) -> Iterator[Entry | RecordError]:
    text = read_text(path)
    if not text.lstrip().startswith(("{", "[")):
        yield from _qrels(path, text)
        return
    rows = list(read_rows(path, ("topics", "queries")))
    first = next((row for row in rows if isinstance(row, Row)), None)
    if first is not None and _is_graded(first):
        yield from _graded(first)
        return
    for row in rows:
        yield from [row] if isinstance(row, RecordError) else from_row(row, _topic)


def _is_graded(row: Row) -> bool:
    return not row.has("question") and all(isinstance(value, dict) for value in row.fields.values())


def _graded(row: Row) -> Iterator[Entry | RecordError]:
    for topic in row.fields:
        try:
            graded = row.row(topic)
            if not topic or "" in graded.fields:
                raise row.refused(topic or None, "expected a topic and PMIDs; one of them is empty")
            grades = {pmid: float(graded.number_of(pmid)) for pmid in graded.fields}
            yield Entry(gold=Gold(id=topic, documents=grades))
        except RecordError as error:
            yield error


def _qrels(path: Path, text: str) -> Iterator[Entry | RecordError]:
    grades: dict[str, dict[str, float]] = {}
    for number, line in enumerate(text.split("\n"), start=1):
        columns = line.split()
        if columns and (len(columns) != 4 or not re.fullmatch(r"-?\d{1,2}", columns[3])):
            yield RecordError(path, number, None, f"expected topic, 0, PMID and a whole grade; found {line[:60]!r}")
        elif columns:
            grades.setdefault(columns[0], {})[columns[2]] = float(columns[3])
    yield from (Entry(gold=Gold(id=topic, documents=documents)) for topic, documents in grades.items())


def _topic(row: Row) -> Entry:
    """A topic with its question."""
    id = row.required_text("id", "topic_id", "qa_id")
    question = Question(id=id, text=row.required_text("question"))
    return Entry(question, Gold.of(question))


KQA_LABELS: Mapping[str, PairLabel] = {
    "Entailment": "supported",
    "Contradiction": "contradicted",
    "Neutral": "irrelevant",
}


def _kqa(row: Row, reading: Reading) -> Entry:
    """A question with a physician's answer as statements; or an answer and a statement, labelled by three people."""
    if row.has("claim", "majority_label"):
        label: PairLabel = row.one_of("majority_label", KQA_LABELS)
        asked = row.required_text("Question")
        native = row.text("majority_label")
        citation = LabelledCitation(
            id=f"{asked[:60]} {row.number}",
            claim=row.required_text("claim"),
            premise=row.required_text("answer"),
            label=label,
            native=native,
            group=asked,
        )
        return Entry(citations=(citation,))
    return _statements(row, f"kqa-{row.number}", row.optional_text("ICD_10_diag"))


def _statements(row: Row, id: str, diagnosis: str = "") -> Entry:
    must, nice = row.texts("Must_have"), row.texts("Nice_to_have")
    nuggets = [GoldNugget(id=f"must-{place}", text=text) for place, text in enumerate(must, start=1)]
    nuggets += [GoldNugget(id=f"nice-{place}", text=text, vital=False) for place, text in enumerate(nice, start=1)]
    answer = row.optional_text("Free_form_answer")
    question = Question(id=id, text=row.required_text("Question"), gold_ideal=(answer,) if answer else ())
    gold = Gold.of(question).model_copy(update={"groups": {"diagnosis": diagnosis}} if diagnosis else {})
    return Entry(question, gold.model_copy(update={"nuggets": tuple(nuggets)}) if nuggets else gold)


_INSTANCE = re.compile(r"\A\s*QUESTION:\s*")


def _medlfqa(row: Row, reading: Reading) -> Entry:
    """A question with K-QA's fields. Files from before that step have an instruction with a question and its answer."""
    id = f"{reading.path.name.removesuffix('.gz').rsplit('.', 1)[0]}-{row.number}"
    if not row.has("instances"):
        return _statements(row, id)
    instance = row.row("instances")
    answer = instance.optional_text("output")
    text = _INSTANCE.sub("", instance.required_text("input")).strip()
    question = Question(id=id, text=text, gold_ideal=(answer,) if answer else ())
    return Entry(question, Gold.of(question))


_VERIFIER = "verifier-v6"

SETS = (
    DataSet(
        "bioasq",
        "BioASQ task B, golden or training files",
        "questions with gold documents, snippets, exact and ideal answers; all years",
        ("questions", "gold", "documents"),
        '{"questions": [{"id", "body", "type", "documents", "snippets"?, "ideal_answer"?, "exact_answer"?}]}',
        "http://participants-area.bioasq.org/datasets (free account)",
        "CC BY 2.5",
        each_row(_bioasq, ("questions",)),
        trained_on=(
            f"{_VERIFIER}: ideal answers and snippets of 7B to 13B, except MIRAGE's yes/no questions and 13b's test",
        ),
        usual=("mirage/rawdata/bioasq", "bioasq12b", "bioasq13b", "bioasq13b_tuw"),
        cite="Krithara et al. 2023, Scientific Data",
    ),
    DataSet(
        "mirage",
        "MIRAGE",
        "multiple-choice and yes/no questions; parts bioasq and pubmedqa are about biomedical research",
        ("questions", "gold"),
        '{"bioasq": {ID: {"question", "options": {"A": ...}, "answer": "A"}}, ...}',
        "https://github.com/Teddy-XiongGZ/MIRAGE (benchmark.json)",
        "NCBI public domain notice; its parts have their own",
        _mirage,
        parts=MIRAGE_PARTS,
        usual=("mirage/benchmark.json",),
        cite="Xiong et al. 2024, arXiv 2402.13178",
    ),
    DataSet(
        "pubmedqa",
        "PubMedQA, the expert-labelled part",
        "yes/no/maybe questions that are titles, with their abstracts; parts test and training",
        ("questions", "gold", "documents"),
        '{PMID: {"QUESTION", "CONTEXTS", "LABELS"?, "final_decision", "LONG_ANSWER"}}',
        "https://github.com/pubmedqa/pubmedqa (ori_pqal.json, test_ground_truth.json)",
        "MIT",
        _pubmedqa,
        parts=("test", "training"),
        trained_on=(f"{_VERIFIER}: conclusions and contexts of part training",),
        usual=("pubmedqa/ori_pqal.json",),
        cite="Jin et al. 2019, EMNLP",
    ),
    DataSet(
        "biogen2024",
        "TREC BioGen 2024, topics or judgements",
        "65 consumer questions; parts test, validation and training as in BioACE (40, 5, 20)",
        ("questions", "gold"),
        '{"topics": [{"id", "question", "topic"?, "narrative"?}]} or judgements, {TOPIC: {PMID: GRADE}} or TREC lines',
        "https://trec-biogen.github.io/docs2024 and https://trec.nist.gov/data/biogen2024.html",
        "none stated; U.S. government work",
        _biogen,
        parts=tuple(_SPLITS),
        usual=(
            "biogen2024_derived/data/BioGen2024topics.json",
            "biogen2024_derived/results/qrels/qrels_graded.json",
        ),
        cite="Gupta et al. 2024, arXiv 2411.18069",
    ),
    DataSet(
        "biogen2025",
        "TREC BioGen 2025, topics or judgements",
        "consumer questions of tasks A (grounding) and B (answering), or judgements",
        ("questions", "gold"),
        '[{"id" or "topic_id" or "qa_id", "question", "topic"?, "narrative"?}] or judgements as of 2024',
        "https://trec-biogen.github.io/docs",
        "none stated; U.S. government work",
        _biogen,
        cite="Gupta et al. 2026, arXiv 2603.21582",
    ),
    DataSet(
        "kqa",
        "K-QA",
        "patients' questions with physicians' answers, as must-have and nice-to-have statements; labelled statements",
        ("questions", "gold", "citations"),
        '{"Question", "Free_form_answer", "Must_have", "Nice_to_have"}, or a table with claim, answer, majority_label',
        "https://github.com/Itaymanes/K-QA",
        "MIT",
        each_row(_kqa),
        usual=("kqa/dataset/questions_w_answers.jsonl", "kqa/dataset/NLI_medical_annotator.csv"),
        cite="Manes et al. 2024, arXiv 2401.14493",
    ),
    DataSet(
        "medlfqa",
        "MedLFQA",
        "long-form questions in K-QA's form, with statements by a language model",
        ("questions", "gold"),
        '{"Question", "Free_form_answer"?, "Must_have"?, "Nice_to_have"?}',
        "https://github.com/dmis-lab/OLAPH",
        "none stated",
        each_row(_medlfqa),
        usual=(
            "medlfqa/MedLFQA/live_qa_test_MedLFQA.jsonl",
            "medlfqa/MedLFQA/medication_qa_test_MedLFQA.jsonl",
            "medlfqa/MedLFQA/kqa_silver_wogold_test_MedLFQA.jsonl",
        ),
        cite="Jeong et al. 2024, arXiv 2405.12701",
    ),
)
