"""The claims and documents of every set that scores are reported on, as the data's README lists them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from vericite.train.mix.files import DataFolder
from vericite.train.mix.leakage import Forbidden

_PMID = re.compile(r"(\d+)/?$")
_Text = tuple[str, str]


def forbidden(data: DataFolder, keep_shared_documents: tuple[str, ...]) -> Forbidden:
    """What may not be trained on; the sets named may share documents, never claims."""
    claims = [*_verification_claims(data), *_question_claims(data)]
    documents = dict(_question_documents(data))
    titles = list(_question_titles(data))
    if "scifact" not in keep_shared_documents:
        documents.update(
            (f"scifact:{number}", "scifact dev") for number in _cited(data, "scifact/data/claims_dev.jsonl")
        )
    if "nli4ct" not in keep_shared_documents:
        documents.update((f"nct:{trial}", "nli4ct test") for trial in nli4ct_trials(data))
    # Documents of these sets bear other ids elsewhere, and are known there by their titles.
    titles += _titles(data, "scifact/data/corpus.jsonl", _cited(data, "scifact/data/claims_dev.jsonl"), "scifact dev")
    tested = _cited(data, "healthver/multivers/claims_test.jsonl")
    titles += _titles(data, "healthver/multivers/corpus.jsonl", tested, "healthver test")
    return Forbidden(tuple(claims), documents, tuple(titles))


def mirage_bioasq(data: DataFolder) -> dict[str, str]:
    """The questions of MIRAGE's BioASQ part, by id."""
    return {key: item["question"] for key, item in data.json("mirage/benchmark.json")["bioasq"].items()}


def nli4ct_trials(data: DataFolder) -> set[str]:
    """The trials that NLI4CT's test statements are about."""
    items = data.json("nli4ct/Gold_test.json").values()
    return {item[key] for item in items for key in ("Primary_id", "Secondary_id") if item.get(key)}


def pmid_of(address: str) -> str:
    """The document id of a PubMed address."""
    found = _PMID.search(address)
    return f"pmid:{found[1]}" if found else address


def _verification_claims(data: DataFolder) -> Iterator[_Text]:
    for path, origin in (
        ("scifact/data/claims_dev.jsonl", "scifact dev"),
        ("scifact/data/claims_test.jsonl", "scifact test"),
        ("healthver/multivers/claims_test.jsonl", "healthver test"),
    ):
        yield from ((row["claim"], origin) for row in data.jsonl(path))
    yield from ((row["claim"], "healthver test") for row in data.csv("healthver/healthver_test.csv"))
    yield from ((item["Statement"], "nli4ct test") for item in data.json("nli4ct/Gold_test.json").values())
    for row in data.jsonl("kqa/dataset/questions_w_answers.jsonl"):
        yield from ((statement, "k-qa") for statement in (row["Question"], *row["Must_have"], *row["Nice_to_have"]))
    yield from ((row["claim"], "k-qa") for row in data.csv("kqa/dataset/NLI_medical_annotator.csv"))


def _question_claims(data: DataFolder) -> Iterator[_Text]:
    for name in ("bioasq", "pubmedqa"):
        for item in data.json("mirage/benchmark.json")[name].values():
            yield item["question"], f"mirage {name}"
    yield from ((item["QUESTION"], "pubmedqa test") for item in _pubmedqa_test(data).values())
    for question in data.questions("bioasq13b_tuw"):
        yield question["body"], "bioasq 13b test"


def _question_documents(data: DataFolder) -> Iterator[_Text]:
    yield from ((f"pmid:{pmid}", "pubmedqa test") for pmid in _pubmedqa_test(data))
    yield from ((f"pmid:{pmid}", "mirage pubmedqa") for pmid in data.json("mirage/benchmark.json")["pubmedqa"])
    asked = mirage_bioasq(data)
    for question in data.questions("mirage/rawdata/bioasq"):
        if question["id"] in asked:
            yield from ((pmid_of(address), "mirage bioasq") for address in _documents(question))
    for question in data.questions("bioasq13b_tuw"):
        yield from ((pmid_of(address), "bioasq 13b test") for address in _documents(question))


def _question_titles(data: DataFolder) -> Iterator[_Text]:
    # The question of a PubMedQA item is the title of its article.
    yield from ((item["QUESTION"], "pubmedqa test") for item in _pubmedqa_test(data).values())


def _documents(question: dict[str, Any]) -> Iterator[str]:
    yield from question.get("documents", [])
    yield from (snippet["document"] for snippet in question.get("snippets", []))


def _pubmedqa_test(data: DataFolder) -> dict[str, Any]:
    tested = data.json("pubmedqa/test_ground_truth.json")
    return {pmid: item for pmid, item in data.json("pubmedqa/ori_pqal.json").items() if pmid in tested}


def _cited(data: DataFolder, path: str) -> set[str]:
    return {str(number) for row in data.jsonl(path) for number in row.get("cited_doc_ids") or row.get("doc_ids", [])}


def _titles(data: DataFolder, path: str, numbers: set[str], origin: str) -> list[_Text]:
    return [(row["title"], origin) for row in data.jsonl(path) if str(row["doc_id"]) in numbers and row["title"]]
