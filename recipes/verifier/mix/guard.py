"""What a reported test set holds, by claim, near claim, document or title, and must not be trained on."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from mix.folder import DataFolder

NEAR = 0.85
"""Token Jaccard from which two claims count as the same."""

_TOKEN = re.compile(r"[^\W_]+")
# Shorter texts agree by chance ("Is it contagious?"); they must agree word for word.
_SHORTEST = 5


def normal(text: str) -> str:
    """A text's words in small letters, and nothing else of it."""
    return " ".join(_TOKEN.findall(text.lower()))


class NearTexts:
    """Texts that can be asked for one nearly the same as another, without comparing all pairs.

    Two sets of tokens with a Jaccard of at least t share one of the rarest ``n - ceil(t n) + 1`` tokens of either,
    so only those are indexed.
    """

    def __init__(self, texts: Iterable[tuple[str, str]], threshold: float = NEAR) -> None:
        self._threshold = threshold
        self._exact: dict[str, str] = {}
        for text, origin in texts:
            self._exact.setdefault(normal(text), origin)
        self._exact.pop("", None)
        self._sets = [(frozenset(text.split()), origin) for text, origin in self._exact.items()]
        self._counts = Counter(token for tokens, _ in self._sets for token in tokens)
        self._prefixes: defaultdict[str, list[int]] = defaultdict(list)
        for index, (tokens, _) in enumerate(self._sets):
            if len(tokens) >= _SHORTEST:
                for token in self._prefix(tokens):
                    self._prefixes[token].append(index)

    def _prefix(self, tokens: frozenset[str]) -> list[str]:
        ranked = sorted(tokens, key=lambda token: (self._counts[token], token))
        return ranked[: len(ranked) - math.ceil(self._threshold * len(ranked)) + 1]

    def same(self, text: str) -> str | None:
        """Where the very same text comes from, if it is here."""
        return self._exact.get(normal(text))

    def near(self, text: str) -> str | None:
        """Where a text as near as the threshold comes from, if one is here."""
        tokens = frozenset(normal(text).split())
        if len(tokens) < _SHORTEST:
            return None
        candidates = {index for token in self._prefix(tokens) for index in self._prefixes.get(token, ())}
        for index in sorted(candidates):
            other, origin = self._sets[index]
            if len(tokens & other) >= self._threshold * len(tokens | other):
                return origin
        return None


@dataclass(frozen=True, slots=True)
class Forbidden:
    """What the test sets hold.

    Attributes:
        claims: (text, set) of every claim, question and statement that is tested on.
        documents: The set by the id of a document ("pmid:1", "scifact:2", "nct:NCT3").
        titles: (title, set) of documents, for those that another set may hold under another id.
    """

    claims: tuple[tuple[str, str], ...] = ()
    documents: dict[str, str] = field(default_factory=lambda: dict[str, str]())
    titles: tuple[tuple[str, str], ...] = ()


class Guard:
    """Says of a claim or a document which test set it belongs to, and counts what was turned away.

    Attributes:
        dropped: Counts by (source of the example, reason, test set).
    """

    def __init__(self, forbidden: Forbidden, threshold: float = NEAR) -> None:
        self._claims = NearTexts(forbidden.claims, threshold)
        self._titles = NearTexts(forbidden.titles, threshold)
        self._documents = forbidden.documents
        self._verdicts: dict[str, tuple[str, str] | None] = {}
        self.dropped: Counter[tuple[str, str, str]] = Counter()

    def _claim_reason(self, claim: str) -> tuple[str, str] | None:
        if claim not in self._verdicts:
            origin = self._claims.same(claim)
            near = None if origin else self._claims.near(claim)
            self._verdicts[claim] = ("same claim", origin) if origin else ("near claim", near) if near else None
        return self._verdicts[claim]

    def refuses_claim(self, claim: str, source: str, allowed: str | None = None) -> bool:
        """Whether a claim is, or nearly is, one that is tested on; ``allowed`` names a set that may hold it."""
        reason = self._claim_reason(claim)
        return self._counted(source, reason, allowed)

    def refuses_document(self, document: str, source: str, title: str = "") -> bool:
        """Whether a document is one that is tested on, by its id or by its title."""
        origin = self._documents.get(document)
        if origin:
            return self._counted(source, ("document", origin), None)
        origin = self._titles.same(title) or self._titles.near(title) if title else None
        return self._counted(source, ("title", origin) if origin else None, None)

    def _counted(self, source: str, reason: tuple[str, str] | None, allowed: str | None) -> bool:
        if reason is None or reason[1] == allowed:
            return False
        self.dropped[source, *reason] += 1
        return True


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
