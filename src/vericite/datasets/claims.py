"""Data sets of claims with documents to check them against: SciFact, HealthVer and similar ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path

from vericite.datasets.entry import DataSet, Entry, ReadFile, Reading, each_row
from vericite.datasets.rows import Row, pmid_of, read_object, read_rows
from vericite.errors import InputError, RecordError
from vericite.records import Document, LabelledCitation, PairLabel, Section

_RATIONALES: Mapping[str, PairLabel] = {"SUPPORT": "supported", "SUPPORTS": "supported", "CONTRADICT": "contradicted"}
_WORDS: Mapping[str, PairLabel] = {"Supports": "supported", "Refutes": "contradicted", "Neutral": "irrelevant"}
_NLI: Mapping[str, PairLabel] = {
    "entailment": "supported",
    "contradiction": "contradicted",
    "neutral": "irrelevant",
    "not_entailment": "irrelevant",
}


def _cited_claims(name: str) -> ReadFile:
    """Return a reader of claims that cite abstracts, in SciFact's form, with the abstracts in ``corpus.jsonl``."""

    def claims(row: Row, reading: Reading) -> Entry:
        if row.has("evidence", "label"):
            return _sentence_pair(row, name)
        if row.has("doc_id", "abstract"):
            return Entry(documents=(_abstract(row),))
        if set(row.fields) == {"id", "claim"}:
            return Entry(unlabelled=1)
        corpus = _corpus(reading.path.parent)
        numbers = (*row.texts("cited_doc_ids"), *row.texts("doc_ids"))
        cited = (_case(row, number, corpus[number], name) for number in numbers if number in corpus)
        row.any_of("cited_doc_ids", "doc_ids")
        return Entry(citations=tuple(cited))

    read = each_row(claims)

    def read_with_corpus(reading: Reading) -> Iterator[Entry | RecordError]:
        try:
            yield from read(reading)
        except _NoCorpusError as error:
            yield RecordError(reading.path, 0, None, f"{error} This file was not read")

    return read_with_corpus


class _NoCorpusError(InputError):
    """There is no file of abstracts next to the claims."""


def _sentence_pair(row: Row, name: str) -> Entry:
    """A passage and a claim, in a row of HealthVer's official table."""
    citation = LabelledCitation(
        id=f"{name}-{row.number}",
        claim=row.required_text("claim"),
        premise=row.required_text("evidence"),
        label=row.one_of("label", _WORDS),
        native=row.text("label"),
        group=row.required_text("claim"),
    )
    return Entry(citations=(citation,))


def _case(row: Row, number: str, document: Document, name: str) -> LabelledCitation:
    """A claim with one abstract. Without a rationale the label is irrelevant."""
    rationales = row.row("evidence").rows(number) if row.has("evidence") else []
    label: PairLabel = rationales[0].one_of("label", _RATIONALES) if rationales else "irrelevant"
    sentences = {int(number) for rationale in rationales for number in rationale.texts("sentences") if number.isdigit()}
    return LabelledCitation(
        id=f"{name}-{row.required_text('id')}",
        claim=row.required_text("claim"),
        premise=document.text,
        label=label,
        native=rationales[0].text("label") if rationales else "no rationale",
        documents=(document.id,),
        evidence=tuple(sorted(sentences)),
        group=f"document {document.id}",
    )


def _abstract(row: Row) -> Document:
    """An abstract that was split into sentences by hand. Each sentence is a section, so that it stays as it is."""
    sections = tuple(Section(text=text) for text in row.texts("abstract") if text)
    return Document(id=row.required_text("doc_id"), title=row.optional_text("title"), sections=sections)


@lru_cache(maxsize=2)
def _corpus(folder: Path) -> dict[str, Document]:
    path = next((folder / name for name in ("corpus.jsonl", "corpus.jsonl.gz") if (folder / name).exists()), None)
    if path is None:
        raise _NoCorpusError(
            f"expected corpus.jsonl in {folder}, with the abstracts that the claims cite; found none. Put it there."
        )
    rows = (row for row in read_rows(path) if isinstance(row, Row) and row.has("doc_id", "abstract"))
    return {document.id: document for document in map(_abstract, rows)}


_CLINIFACT: Mapping[str, tuple[PairLabel, str]] = {
    "1": ("supported", "1 positive"),
    "0": ("irrelevant", "0 inconclusive"),
    "2": ("irrelevant", "2 no information"),
}


def _clinifact(row: Row, reading: Reading) -> Entry:
    label, native = row.one_of("label", _CLINIFACT)
    pmid = row.required_text("PMID")
    text = row.required_text("article_abstract")
    citation = LabelledCitation(
        id=f"clinifact-{row.required_text('index')}",
        claim=row.required_text("claim"),
        premise=text,
        label=label,
        native=native,
        documents=(pmid,),
        group=f"pmid {pmid}",
    )
    document = Document(id=pmid, pmid=pmid, title=row.optional_text("article_title"), sections=(Section(text=text),))
    return Entry(citations=(citation,), documents=(document,))


def _nli4ct(reading: Reading) -> Iterator[Entry | RecordError]:
    """Statements by id. The trials' sections to check them against are in ``trials.json`` in the same folder."""
    if reading.path.name.startswith("trials"):
        return
    path = reading.sibling("trials.json")
    if path is None:
        raise InputError(
            f"expected trials.json next to {reading.path}, with the trials' sections; found none. Put it there."
        )
    trials, statements = _object(path), read_object(reading.path)
    for id in statements.fields:
        try:
            yield Entry(citations=(_statement(id, statements.row(id), trials),))
        except RecordError as error:
            yield error


@lru_cache(maxsize=1)
def _object(path: Path) -> Row:
    return read_object(path)


def _statement(id: str, row: Row, trials: Row) -> LabelledCitation:
    section = row.required_text("Section_id")
    names = [row.required_text("Primary_id"), *filter(None, (row.optional_text("Secondary_id"),))]
    labels = {"Entailment": "supported", "Contradiction": "contradicted"}
    for name in names:
        if not trials.has(name):
            raise row.refused("Primary_id", f"expected a trial in trials.json; found {name!r}")
    return LabelledCitation(
        id=id,
        claim=row.required_text("Statement"),
        premise="\n".join(line for name in names for line in trials.row(name).texts(section)),
        label=row.one_of("Label", labels),
        native=row.text("Label"),
        documents=tuple(names),
        group=f"trial {names[0]}",
    )


def _wice(row: Row, reading: Reading) -> Entry:
    labels: Mapping[str, PairLabel] = {
        "supported": "supported",
        "partially_supported": "irrelevant",
        "not_supported": "irrelevant",
    }
    citation = LabelledCitation(
        id=row.row("meta").optional_text("id") or f"wice-{row.number}" if row.has("meta") else f"wice-{row.number}",
        claim=row.required_text("claim"),
        premise=" ".join(row.texts("evidence")),
        label=row.one_of("label", labels),
        native=row.text("label"),
        group=row.row("meta").optional_text("claim_title") or None if row.has("meta") else None,
    )
    return Entry(citations=(citation,))


def _esnli(reading: Reading) -> Iterator[Entry | RecordError]:
    """Three files of lines for each part: ``s1``, ``s2`` and ``labels``. ``labels.PART`` is the one to name."""
    part = reading.path.suffix.lstrip(".")
    paths = [reading.sibling(f"{name}.{part}") for name in ("s1", "s2", "labels")]
    if reading.path.stem != "labels" or not all(paths):
        raise InputError(f"expected labels.PART, with s1.PART and s2.PART in the same folder; found {reading.path}")
    columns = [path.read_text(encoding="utf-8").rstrip("\n").split("\n") for path in paths if path]
    if len({len(column) for column in columns}) > 1:
        raise InputError(
            f"expected the same number of lines in s1, s2 and labels of {part}; found "
            f"{', '.join(str(len(column)) for column in columns)}"
        )
    for number, (premise, claim, label) in enumerate(zip(*columns, strict=True), start=1):
        known = _NLI.get(label.strip())
        if known is None:
            yield RecordError(reading.path, number, None, f"expected one of {', '.join(_NLI)}; found {label[:40]!r}")
        else:
            citation = LabelledCitation(
                id=f"esnli-{part}-{number}",
                claim=claim.strip(),
                premise=premise.strip(),
                label=known,
                native=label.strip(),
                group=premise.strip(),
            )
            yield Entry(citations=(citation,))


_DIRECTIONS = {-1: "decreased", 0: "made no significant difference to", 1: "increased"}


def _evidence_inference(row: Row, reading: Reading) -> Entry:
    """A comparison with the direction found by annotators, as a statement with its evidence; or an abstract."""
    pmid = pmid_of(row.required_text("pmid", "pmcid"))
    if row.has("abstract"):
        text = row.text("abstract")
        return Entry(documents=(Document.from_text(pmid, text, row.optional_text("title")),) if text else ())
    code = row.number_of("label_code")
    if code not in _DIRECTIONS:
        raise row.refused("label_code", f"expected -1, 0 or 1; found {code}")
    compared = f"{row.required_text('intervention')} {_DIRECTIONS[code]} {row.required_text('outcome')}"
    citation = LabelledCitation(
        id=f"{row.required_text('prompt_id')}-{row.number}",
        claim=f"Compared with {row.required_text('comparator')}, {compared}.",
        premise=row.text("evidence"),
        label="supported",
        native=row.text("label"),
        documents=(pmid,),
        group=f"pmid {pmid}",
    )
    return Entry(citations=(citation,))


_VERIFIER = "verifier-v6"

SETS = (
    DataSet(
        "scifact",
        "SciFact",
        "scientific claims with the abstracts they cite, labels and rationale sentences",
        ("citations", "documents"),
        '{"id", "claim", "cited_doc_ids", "evidence": {ID: [{"label", "sentences"}]}}, with corpus.jsonl next to it',
        "https://github.com/allenai/scifact",
        "claims CC BY 4.0, abstracts ODC-By 1.0",
        _cited_claims("scifact"),
        trained_on=(f"{_VERIFIER}: claims_train",),
        usual=("scifact/data/claims_dev.jsonl",),
        copies=("cross_validation",),
        cite="Wadden et al. 2020, EMNLP",
    ),
    DataSet(
        "healthver",
        "HealthVer",
        "claims about COVID-19 with passages (the official table) or abstracts (MultiVerS' form)",
        ("citations", "documents"),
        '"claim", "evidence", "label" in a table; or {"id", "claim", "doc_ids", "evidence"}, corpus.jsonl next to it',
        "https://github.com/sarrouti/HealthVer and https://github.com/dwadden/multivers",
        "none stated; upstream card says CC BY-NC 2.0",
        _cited_claims("healthver"),
        trained_on=(f"{_VERIFIER}: claims_train; 217 of its documents are also those of test claims",),
        usual=("healthver/multivers/claims_test.jsonl", "healthver/healthver_test.csv"),
        cite="Sarrouti et al. 2021, EMNLP Findings",
    ),
    DataSet(
        "covidfact",
        "CovidFact, in MultiVerS' form",
        "claims about COVID-19 with abstracts; the refuted claims were generated",
        ("citations", "documents"),
        '{"id", "claim", "doc_ids", "evidence"} with corpus.jsonl next to it',
        "https://github.com/asaakyan/covidfact and https://github.com/dwadden/multivers",
        "none stated",
        _cited_claims("covidfact"),
        trained_on=(f"{_VERIFIER}: claims_train",),
        usual=("covidfact/multivers/claims_train.jsonl",),
        cite="Saakyan et al. 2021, ACL",
    ),
    DataSet(
        "clinifact",
        "CliniFact",
        "claims of clinical trials with the abstracts that report them",
        ("citations", "documents"),
        "a table with index, claim, PMID, article_abstract, label (0, 1, 2)",
        "https://github.com/ds4dh/CliniFact",
        "MIT",
        each_row(_clinifact),
        trained_on=(f"{_VERIFIER}: nine in ten of it, split by PMID",),
        usual=("clinifact/data/processed/primary_outcome_publication_dataset",),
        cite="Zhang et al. 2025, Scientific Data",
    ),
    DataSet(
        "nli4ct",
        "NLI4CT",
        "statements about sections of clinical trial records",
        ("citations",),
        '{ID: {"Statement", "Section_id", "Primary_id", "Secondary_id"?, "Label"}} with trials.json next to it',
        "https://github.com/ai-systems/nli4ct",
        "none stated",
        _nli4ct,
        trained_on=(f"{_VERIFIER}: train",),
        usual=("nli4ct/Gold_test.json",),
        cite="Jullien et al. 2023, SemEval",
    ),
    DataSet(
        "wice",
        "WiCE, claims",
        "claims of Wikipedia with the pages they cite; partial support counts as none",
        ("citations",),
        '{"claim", "evidence": [SENTENCE], "label", "meta"?}',
        "https://github.com/ryokamoi/wice",
        "CC BY-SA and Common Crawl terms",
        each_row(_wice),
        trained_on=(f"{_VERIFIER}: half of dev, by page",),
        usual=("wice/claim_dev.jsonl",),
        cite="Kamoi et al. 2023, EMNLP",
    ),
    DataSet(
        "evidence-inference",
        "Evidence Inference 2.0",
        "comparisons of treatments in trial reports, as claims with the evidence that annotators marked",
        ("citations", "documents"),
        '{"pmid", "prompt_id", "intervention", "comparator", "outcome", "label", "label_code", "evidence"} or {"pmid", '
        '"title", "abstract"}',
        "https://github.com/jayded/evidence-inference",
        "MIT",
        each_row(_evidence_inference),
        usual=("evidence_inference/v2_claims.jsonl", "evidence_inference/abstracts.jsonl"),
        cite="DeYoung et al. 2020, BioNLP",
    ),
    DataSet(
        "esnli",
        "e-SNLI, pairs",
        "general premises and hypotheses",
        ("citations",),
        "labels.PART with s1.PART and s2.PART next to it, one pair a line",
        "https://github.com/OanaMariaCamburu/e-SNLI",
        "MIT; SNLI CC BY-SA 4.0",
        _esnli,
        trained_on=(f"{_VERIFIER}: dev and test",),
        usual=("esnli/dataset/eSNLI/labels.dev", "esnli/dataset/eSNLI/labels.test"),
        cite="Camburu et al. 2018, NeurIPS",
    ),
)
