"""Which questions a reranker is trained on, which it is developed on, and what must be left out of both."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from vericite.train.mix.example import share
from vericite.train.mix.files import DataFolder, Row
from vericite.train.mix.leakage import Forbidden, Guard, normal
from vericite.train.mix.tested import forbidden, mirage_bioasq, pmid_of

TRAINING = "mirage/rawdata/bioasq"
DEVELOPMENT = "bioasq13b"
TESTS = {"bioasq12b": "bioasq 12b", "bioasq13b_tuw": "bioasq 13b test"}
HELD_OUT = 0.1
"""Share of the training questions that are set aside."""


@dataclass(frozen=True)
class Asked:
    """A question with the documents that answer it.

    Attributes:
        documents: PMIDs of its gold documents and of those its gold snippets are from.
        snippets: Gold passages by PMID.
        context: PubMedQA's own abstract, without its conclusion; the other sets have none.
    """

    id: str
    text: str
    source: str
    documents: tuple[str, ...]
    snippets: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    context: str | None = None


@dataclass(frozen=True)
class Split:
    """Questions by use.

    Attributes:
        train: Those that are learnt from.
        dev: Development sets by name.
        closed: PMIDs that must not be trained on, with the set each is kept for.
        dropped: Counts by (set it is from, reason, set that holds it).
    """

    train: list[Asked]
    dev: dict[str, list[Asked]]
    closed: dict[str, str]
    dropped: Counter[tuple[str, str, str]]


def split(data: DataFolder, seed: int) -> Split:
    """Sort all questions; tests come before development, development before training."""
    asked = mirage_bioasq(data)
    rows = data.questions(TRAINING)
    pool = [_asked(row, "bioasq") for row in rows if row["id"] not in asked]
    other = [row for row in data.questions(DEVELOPMENT)]
    guard = Guard(_tested(data))
    guard.dropped["bioasq", "question id", "mirage bioasq"] += len(rows) - len(pool)
    pool = [one for one in pool if not guard.refuses_claim(one.text, "bioasq")]
    known = {normal(one.text) for one in pool}
    newer = [_asked(row, DEVELOPMENT) for row in other]
    newer = [one for one in newer if not guard.refuses_claim(one.text, DEVELOPMENT)]
    fresh = [one for one in newer if normal(one.text) not in known]
    guard.dropped[DEVELOPMENT, "same question", "training"] += len(newer) - len(fresh)
    about = [one for one in _pubmedqa(data) if not guard.refuses_claim(one.text, "pubmedqa")]
    dev = {
        DEVELOPMENT: fresh,
        "held-out": [one for one in pool if share(one.id, seed) < HELD_OUT],
        "pubmedqa": [one for one in about if share(one.id, seed) < HELD_OUT],
    }
    set_aside = {one.id for questions in dev.values() for one in questions}
    near = Guard(Forbidden(tuple((one.text, f"dev {name}") for name, held in dev.items() for one in held)))
    train = [one for one in [*pool, *about] if one.id not in set_aside]
    train = [one for one in train if not near.refuses_claim(one.text, one.source)]
    closed = _closed(data) | {
        pmid: f"dev {name}" for name, held in dev.items() for one in held for pmid in one.documents
    }
    # What is tested counts as kept for the test, also where it is in a dev set.
    closed |= _closed(data)
    return Split(train, dev, closed, guard.dropped + near.dropped)


def _tested(data: DataFolder) -> Forbidden:
    held = forbidden(data, ())
    questions = [(row["body"], origin) for folder, origin in TESTS.items() for row in data.questions(folder)]
    return Forbidden((*held.claims, *questions), held.documents, held.titles)


def _closed(data: DataFolder) -> dict[str, str]:
    found = {name.removeprefix("pmid:"): origin for name, origin in forbidden(data, ()).documents.items()}
    for folder, origin in TESTS.items():
        for row in data.questions(folder):
            found |= dict.fromkeys(_asked(row, folder).documents, origin)
    return found


def _asked(row: Row, source: str) -> Asked:
    snippets: dict[str, list[str]] = {}
    for snippet in row.get("snippets", []):
        snippets.setdefault(_pmid(snippet["document"]), []).append(" ".join(snippet["text"].split()))
    documents = _unique([*(_pmid(address) for address in row.get("documents", [])), *snippets])
    passages = {pmid: _unique(texts) for pmid, texts in snippets.items()}
    return Asked(row["id"], row["body"].strip(), source, documents, passages)


def _pubmedqa(data: DataFolder) -> list[Asked]:
    """The labelled questions that no test holds."""
    tested = {*data.json("pubmedqa/test_ground_truth.json"), *data.json("mirage/benchmark.json")["pubmedqa"]}
    items = data.json("pubmedqa/ori_pqal.json")
    return [
        Asked(f"pubmedqa:{pmid}", item["QUESTION"], "pubmedqa", (pmid,), context=" ".join(item["CONTEXTS"]))
        for pmid, item in items.items()
        if pmid not in tested
    ]


def _pmid(address: str) -> str:
    return pmid_of(address).removeprefix("pmid:")


def _unique(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(value for value in values if value))
