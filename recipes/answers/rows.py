"""Makes the groups that the sentence head of the reranker learns from: a question and sentences, each with a target.

    python recipes/answers/rows.py DATA OUT [WRITTEN ...] [--labels LABELS ...]

DATA is the folder of data sets, WRITTEN are files of our own clusters (``written``). OUT gets ``public.jsonl`` and
``written.jsonl``: a line per group with ``dev``, ``question``, ``from``, ``rows`` (pairs of input text and target) and,
where the question has documents, ``documents`` (texts whose scores by the shipped reranker are kept).

- BioASQ 7B to 11B, without its yes/no questions (MIRAGE tests on those): snippets are right, as far as their role
  answers; sentences of other documents on the subject are wrong, and so are those of a whole abstract that is put
  around a snippet.
- Two thirds of PubMedQA's training half (``collect.py`` measures on the other third): the conclusion is right, results
  in part, aims and methods wrong.
- Titles of whole abstracts as questions: the same. A sentence of a neighbouring abstract is wrong.
- Evidence Inference: what is marked as evidence on an outcome is right, other outcomes are wrong.
- Labels of the sentences that the system would quote (``labels``, ``candidates.py``).
- Written clusters: three abstracts on neighbouring subjects, questions by aspect. A quarter of them is for development.
"""

from __future__ import annotations

import argparse
import gzip
import html
import json
import random
import sys
import zlib
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from extractive import Asked, asked_in, overlaps, read_corpus
from vericite.models.contracts import SentenceInContext
from vericite.records import Document, Question, Section
from vericite.retrieve.local import MemoryRetriever
from vericite.text.roles import Role, document_roles, unlabelled
from vericite.text.sentences import document_sentences
from vericite.text.terms import terms

MOST = 8
"""Rows of a group."""
DEV_SHARE = 8
"""One BioASQ question in so many is for development; of written clusters one in four."""
PAIRS = {"aim": 0.05, "method": 0.1, "background": 0.1, "result": 0.4, "conclusion": 1.0}
"""Targets of an abstract's sentences for the question that its title asks."""
SNIPPETS = {"aim": 0.1, "method": 0.5, "background": 0.75}
"""Targets of snippets that are no findings: annotators take them, too."""

READ = {"2": 1.0, "1": 0.3, "0": 0.0}
"""Targets of labels: it answers, it supports an answer, it stands beside it."""

Row = tuple[str, float]
Group = dict[str, Any]


def read(document: Document) -> list[tuple[str, Role]]:
    """Its sentences as they are quoted, with their roles."""
    sentences = document_sentences(document)
    texts = [unlabelled(" ".join(sentence.text_in(document).split()))[1] for sentence in sentences]
    return list(zip(texts, document_roles(document, sentences), strict=True))


def row(title: str, role: Role, text: str, target: float) -> Row:
    """What is read, the sentence with its role and the title of its document; and its target."""
    return SentenceInContext(text, role, title).input, round(target, 3)


def group(question: str, source: str, rows: list[Row], documents: list[str], turn: int = 0) -> Group:
    """A question with its rows."""
    return {"question": question, "from": source, "turn": turn, "rows": rows, "documents": documents}


def is_dev(key: str, one_in: int) -> bool:
    """Whether a question or a cluster is for development: by a checksum, so that it stays."""
    return zlib.crc32(key.encode()) % one_in == 0


class Maker:
    """Makes groups from every set."""

    def __init__(self, data: Path) -> None:
        self.data = data
        self.documents, self.whole = read_corpus(data / "corpus" / "pubmed_corpus.jsonl.gz")
        self.by_id = {document.id: document for document in self.documents}
        self.whole_ids = {document.id for document in self.whole}
        self.search, self.around = MemoryRetriever(self.documents, by="bm25"), MemoryRetriever(self.whole, by="bm25")

    def near(self, text: str, count: int, leave: set[str], whole: bool = False) -> list[Document]:
        """Documents on a like subject."""
        hits = (self.around if whole else self.search).retrieve(Question(id="near", text=text[:400]), count)
        return [hit.document for hit in hits if hit.document.id not in leave]

    def bioasq(self) -> Iterator[tuple[str, Group]]:
        """Groups of BioASQ: two for each question."""
        files = sorted((self.data / "mirage" / "rawdata" / "bioasq").rglob("*.json"))
        every = [one for file in files for one in asked_in(file) if one.question.type != "yesno" and one.snippets]
        for asked in every:
            yield from self._bioasq(asked)

    def _bioasq(self, asked: Asked) -> Iterator[tuple[str, Group]]:
        drawn = random.Random(asked.question.id)
        text, gold = asked.question.text, {id for id, _ in asked.snippets}
        right: list[Row] = []
        wrong: list[Row] = []
        for id in sorted(gold & self.by_id.keys()):
            document = self.by_id[id]
            snippets = [snippet for of, snippet in asked.snippets if of == id]
            for said, role in read(document):
                if any(overlaps(said, snippet) for snippet in snippets):
                    right.append(row(document.title, role, said, SNIPPETS.get(role, 1.0)))
                elif id in self.whole_ids:
                    wrong.append(row(document.title, role, said, 0.0))
            if id not in self.whole_ids and drawn.random() < 0.5:
                # Sentences of a whole abstract on a like subject, as if they stood beside the snippet.
                around = self.near(document.text, 4, gold, whole=True)
                if around:
                    foreign = read(drawn.choice(around[:3]))
                    wrong += [row(document.title, role, said, 0.0) for said, role in foreign]
        right += [row("", "conclusion", said, 1.0) for said in asked.question.gold_ideal[:1] if len(said.split()) < 60]
        others = self.near(text, 30, gold)[3:]
        beside = [row(other.title, role, said, 0.0) for other in others for said, role in read(other)]
        if not right:
            return
        documents = [self.by_id[id].titled_text for id in sorted(gold & self.by_id.keys())]
        away = [other.titled_text for other in others]
        for turn in range(2):
            for pool in (right, wrong, beside, documents, away):
                drawn.shuffle(pool)
            rows = right[:3] + wrong[:2]
            rows += beside[: MOST - len(rows)]
            yield asked.question.id, group(text, "bioasq", rows, documents[:1] + away[:1], turn)

    @cached_property
    def _kept_back(self) -> set[str]:
        test = json.loads((self.data / "pubmedqa" / "test_ground_truth.json").read_text(encoding="utf-8"))
        entries = json.loads((self.data / "pubmedqa" / "ori_pqal.json").read_text(encoding="utf-8"))
        return {pmid for index, pmid in enumerate(sorted(entries)) if pmid in test or index % 3 == 0}

    def kept_back(self, pmid: str) -> bool:
        """Whether a question of PubMedQA is its test's, or of the third that ``collect.py`` measures yes and no on."""
        return pmid in self._kept_back

    def pubmedqa(self) -> Iterator[tuple[str, Group]]:
        """Groups of PubMedQA's training half."""
        entries = json.loads((self.data / "pubmedqa" / "ori_pqal.json").read_text(encoding="utf-8"))
        own = [(pmid, entry) for pmid, entry in sorted(entries.items()) if not self.kept_back(pmid)]
        for pmid, entry in own:
            parts = [*zip(entry["LABELS"], entry["CONTEXTS"], strict=True), ("CONCLUSIONS", entry["LONG_ANSWER"])]
            document = Document(
                id=pmid, title="", sections=tuple(Section(label=label, text=text) for label, text in parts)
            )
            # Its title is the question, which would give it away.
            yield from self._abstract(pmid, entry["QUESTION"], document, "pubmedqa", {pmid})

    def titles(self, count: int) -> Iterator[tuple[str, Group]]:
        """Groups of whole abstracts, whose titles ask."""
        drawn = random.Random(5)
        allowed = [document for document in self.whole if not self.kept_back(document.id)]
        for document in drawn.sample(allowed, min(count, len(allowed))):
            title = document.title.strip().rstrip(".")
            if len(title.split()) < 5:
                continue
            lowered = title if title[1:2].isupper() else title[:1].lower() + title[1:]
            forms = (title, f"What is known about {lowered}?", f"What was found on {lowered}?", f"{title}?")
            question = title if title.endswith("?") else drawn.choice(forms)
            yield from self._abstract(
                document.id,
                question,
                document.model_copy(update={"title": title if drawn.random() < 0.5 else ""}),
                "titles",
                {document.id},
            )

    def _abstract(
        self, key: str, question: str, document: Document, source: str, own: set[str]
    ) -> Iterator[tuple[str, Group]]:
        drawn = random.Random(key)
        sentences = read(document)
        roles = {role for _, role in sentences}
        if "conclusion" not in roles or len(roles) < 3:
            return
        rows = [row(document.title, role, said, PAIRS[role]) for said, role in sentences if len(said.split()) >= 5]
        last = [one for one in rows if one[1] == 1.0]
        rest = [one for one in rows if one[1] < 1.0]
        drawn.shuffle(rest)
        others = self.near(question, 8, own, whole=True)
        beside = [
            row(other.title, role, said, 0.0)
            for other in others[1:]
            for said, role in read(other)
            if role in ("conclusion", "result", "background")
        ]
        drawn.shuffle(beside)
        kept = last[-2:] + rest[:4]
        documents = [document.titled_text] if document.title else []
        yield key, group(question, source, kept + beside[: MOST - len(kept)], documents)

    def evidence(self, count: int) -> Iterator[tuple[str, Group]]:
        """Groups of Evidence Inference."""
        folder = self.data / "evidence_inference"
        abstracts = self._abstracts(folder / "abstracts.jsonl")
        claims: dict[tuple[str, str, str], list[str]] = {}
        for line in (folder / "v2_claims.jsonl").open(encoding="utf-8"):
            held = json.loads(line)
            if held["in_abstract"] and held["pmid"] in abstracts:
                key = held["pmid"], held["intervention"].strip(), held["outcome"].strip()
                claims.setdefault(key, []).append(held["evidence"])
        drawn = random.Random(6)
        for (pmid, drug, outcome), found in drawn.sample(sorted(claims.items()), min(count, len(claims))):
            document = abstracts[pmid]
            asked = terms(outcome)
            right: list[Row] = []
            wrong: list[Row] = []
            for said, role in read(document):
                if any(overlaps(said, html.unescape(text)) for text in found):
                    right.append(row(document.title, role, said, 1.0 if role in ("result", "conclusion") else 0.5))
                elif role in ("aim", "method"):
                    wrong.append(row(document.title, role, said, 0.05))
                elif not set(asked) & set(terms(said)):
                    wrong.append(row(document.title, role, said, 0.1))
            if not right or not wrong:
                continue
            question = drawn.choice(
                (
                    f"Does {drug} affect {outcome}?",
                    f"What is the effect of {drug} on {outcome}?",
                    f"Is {drug} effective for {outcome}?",
                    f"Can {drug} change {outcome}?",
                    f"{drug} {outcome}",
                    f"Which effect does {drug} have on {outcome}?",
                )
            )
            drawn.shuffle(wrong)
            yield pmid, group(question, "evidence", right[:3] + wrong[: MOST - len(right[:3])], [])

    @staticmethod
    def _abstracts(path: Path) -> dict[str, Document]:
        rows = [json.loads(line) for line in path.open(encoding="utf-8")]
        return {
            held["pmid"]: Document.from_text(
                held["pmid"], html.unescape(held["abstract"]), html.unescape(held["title"] or "")
            )
            for held in rows
            if held["pmid"] and held["abstract"]
        }


def clusters(path: Path) -> list[dict[str, Any]]:
    """Our own clusters."""
    opened = gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8")
    with opened as lines:
        return [json.loads(line) for line in lines]


def written(path: Path) -> Iterator[tuple[str, Group]]:
    """Groups of our own clusters: every sentence of the three abstracts, two groups for a question."""
    for cluster in clusters(path):
        sentences: dict[tuple[int, int], tuple[str, Role, str]] = {}
        for number, held in enumerate(cluster["documents"]):
            for place, (role, text) in enumerate(held["sentences"]):
                sentences[number, place] = (held["title"], role, text)
        for asked in cluster["questions"]:
            best, good = {tuple(place) for place in asked["best"]}, {tuple(place) for place in asked["good"]}
            drawn = random.Random(asked["text"])
            target = {place: 1.0 if place in best else 0.6 if place in good else 0.0 for place in sentences}
            made = {place: row(*sentences[place], target[place]) for place in sentences}
            right = [made[place] for place in sentences if target[place]]
            wrong = [made[place] for place in sentences if not target[place]]
            # Wrong sentences with the question's words tempt.
            wanted = set(terms(asked["text"]))
            wrong.sort(key=lambda one: -len(wanted & set(terms(one[0]))) - 2 * drawn.random())
            for turn in range(2):
                drawn.shuffle(right)
                kept = right[:3]
                tempting, others = wrong[:10], wrong[10:]
                drawn.shuffle(tempting)
                drawn.shuffle(others)
                rows = kept + tempting[: MOST - 2 - len(kept)] + others[:2]
                documents = [
                    " ".join([held["title"], *(text for _, text in held["sentences"])]) for held in cluster["documents"]
                ]
                yield cluster["id"], group(asked["text"], "written", rows, documents[:2], turn)


def read_labels(data: Path, labels: list[Path]) -> Iterator[tuple[str, Group]]:
    """Groups of sentences that have labels (``candidates.py``)."""
    from candidates import labelled

    for asked, held, candidates in labelled(data, labels):
        rows = [
            row(one.title, one.role, one.text, READ[digit])
            for one, digit in zip(candidates, held["labels"], strict=True)
        ]
        yield asked.question.id, group(asked.question.text, "labelled", rows, [], int(held["gone"]))


def main() -> int:
    """Make and write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("written", type=Path, nargs="*")
    parser.add_argument("--labels", type=Path, nargs="*", default=[])
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    base = given.out / "public.jsonl"
    if not base.exists():
        maker = Maker(given.data)
        with base.with_suffix(".part").open("w", encoding="utf-8") as file:
            for source in (maker.bioasq(), maker.pubmedqa(), maker.titles(2500), maker.evidence(2500)):
                for key, group in source:
                    file.write(json.dumps({"dev": is_dev(key, DEV_SHARE), **group}, ensure_ascii=False) + "\n")
        base.with_suffix(".part").rename(base)
    with (given.out / "written.jsonl").open("w", encoding="utf-8") as file:
        for path in given.written:
            for key, group in written(path):
                file.write(json.dumps({"dev": is_dev(key, 4), **group}, ensure_ascii=False) + "\n")
    with (given.out / "labelled.jsonl").open("w", encoding="utf-8") as file:
        for key, group in read_labels(given.data, given.labels):
            file.write(json.dumps({"dev": is_dev(key, DEV_SHARE), **group}, ensure_ascii=False) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
