"""Sets that name the sentences of an abstract a claim rests on: SciFact, and HealthVer and CovidFact in its format."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace

from vericite.train.mix.example import DocumentExample, Example, Label
from vericite.train.mix.files import Row
from vericite.train.mix.groups import components
from vericite.train.mix.overlap import Rarity
from vericite.train.mix.premises import abstract, clean, joined, window
from vericite.train.mix.shelf import Harvest, Shelf, blank, sized

_LABELS: dict[str, Label] = {"SUPPORT": "entails", "CONTRADICT": "contradicts"}
# A sentence that has nearly all the words of a claim may well entail it, whatever the annotators picked.
_TOO_NEAR = 0.8
_OTHER_PASSAGE = 0.4  # of a claim with rationales, whether it was read against another passage is not known


@dataclass(frozen=True, slots=True)
class CitedCase:
    """A claim before one abstract; without rationales the abstract leaves it open.

    ``telling`` are the sentences that other claims about the abstract rest on.
    """

    claim: str
    document: list[str]
    rationales: list[list[int]]
    label: Label
    source: str
    group: str
    key: str
    telling: tuple[tuple[int, ...], ...] = ()

    def start(self, label: Label, kind: str) -> Example:
        """An example of it that lacks only the premise."""
        return blank(self.claim, label, self.source, kind, self.group, self.key)


def scifact(shelf: Shelf) -> Harvest:
    """SciFact's training claims; a tenth is set aside by document, because its dev set is the reported test."""
    corpus = sentences_by_document(shelf.data.jsonl("scifact/data/corpus.jsonl"))
    claims = [row for row in shelf.data.jsonl("scifact/data/claims_train.jsonl") if not _leaks(shelf, row, "scifact")]
    groups = components((str(row["id"]), [str(number) for number in row["cited_doc_ids"]]) for row in claims)
    harvest, dice = Harvest(), shelf.dice("scifact")
    rarity = Rarity(sentence for document in corpus.values() for sentence in document)
    for row in claims:
        group = groups[str(row["id"])]
        dev = "scifact_dev" if shelf.is_dev(f"scifact:{group}", 1.5 * shelf.config.dev_share) else None
        for case in cited_cases(row, row["cited_doc_ids"], corpus, "scifact", f"scifact:{group}"):
            harvest.add(_examples(case, shelf, dice, rarity, training=dev is None), dev)
            if dev:
                harvest.documents.setdefault("scifact_dev_doc", []).append(whole_document(case))
    return harvest


def healthver(shelf: Shelf) -> Harvest:
    """HealthVer's training claims, and its sentence-level dev file."""
    corpus = sentences_by_document(shelf.data.jsonl("healthver/multivers/corpus.jsonl"))
    harvest, dice = Harvest(), shelf.dice("healthver")
    rarity = Rarity(sentence for document in corpus.values() for sentence in document)
    rows = [
        row for row in shelf.data.jsonl("healthver/multivers/claims_train.jsonl") if not _leaks(shelf, row, "healthver")
    ]
    telling = _telling(rows)
    for row in rows:
        for case in cited_cases(row, row["doc_ids"], corpus, "healthver", f"healthver:claim:{row['id']}"):
            known = replace(case, telling=telling.get(case.key, ()))
            harvest.train += _examples(known, shelf, dice, rarity, training=True)
    labels: dict[str, Label] = {"Supports": "entails", "Refutes": "contradicts", "Neutral": "neutral"}
    for row in shelf.data.csv("healthver/healthver_dev.csv"):
        start = blank(row["claim"], labels[row["label"]], "healthver", "sentence", f"healthver:dev:{row['claim']}")
        harvest.add([replace(start, premise=clean(row["evidence"]))], "healthver_dev")
    for row in shelf.data.jsonl("healthver/multivers/claims_dev.jsonl"):
        cases = cited_cases(row, row["doc_ids"], corpus, "healthver", f"healthver:claim:{row['id']}")
        harvest.documents.setdefault("healthver_dev_doc", []).extend(map(whole_document, cases))
    return harvest


def _telling(rows: Sequence[Row]) -> dict[str, tuple[tuple[int, ...], ...]]:
    """The sentences that claims rest on, by document.

    HealthVer's annotators put one or two passages of an abstract before all claims of its topic; a claim without
    rationales was read against these, whatever else the abstract says.
    """
    found: dict[str, dict[tuple[int, ...], None]] = {}
    for row in rows:
        for number, evidence in row["evidence"].items():
            passages = found.setdefault(f"healthver:{number}", {})
            passages.update({tuple(sorted(item["sentences"])): None for item in evidence})
    return {key: tuple(passages) for key, passages in found.items()}


def covidfact(shelf: Shelf) -> Harvest:
    """CovidFact: abstracts with rationales, and the larger set of web evidence, where refuted means not entailed."""
    corpus = sentences_by_document(shelf.data.jsonl("covidfact/multivers/corpus.jsonl"))
    harvest, dice = Harvest(), shelf.dice("covidfact")
    rarity = Rarity(sentence for document in corpus.values() for sentence in document)
    for part, dev in (("train", None), ("test", "covidfact_dev")):
        for row in shelf.data.jsonl(f"covidfact/multivers/claims_{part}.jsonl"):
            if _leaks(shelf, row, "covidfact"):
                continue
            for case in cited_cases(row, row["doc_ids"], corpus, "covidfact", f"covidfact:claim:{row['id']}"):
                harvest.add(_examples(case, shelf, dice, rarity, training=dev is None), dev)
    harvest.train += _web_evidence(shelf, {clean(example.claim) for example in harvest.dev.get("covidfact_dev", [])})
    return harvest


def _web_evidence(shelf: Shelf, held_out: set[str]) -> list[Example]:
    """Claims of the entailment files; their counter-claims were made by a model that often only broke the claim."""
    found: list[Example] = []
    for number, line in enumerate(shelf.data.lines("covidfact/RTE-covidfact/train.tsv")):
        cells = line.split("\t")
        if len(cells) != 4:
            continue
        claim, premise = clean(cells[2]), clean(cells[1])
        entailed = cells[3].strip() == "entailment"
        if claim in held_out or len(premise.split()) < 6 or shelf.guard.refuses_claim(claim, "covidfact"):
            continue
        premise = " ".join(premise.split()[:150])
        label: Label = "entails" if entailed else "neutral"
        found.append(Example(premise, claim, label, "covidfact", "web", f"covidfact:web:{number}", binary=not entailed))
    return found


def sentences_by_document(rows: Sequence[Row]) -> dict[str, list[str]]:
    """A corpus file's sentences, by the document's name."""
    return {str(row["doc_id"]): [clean(sentence) for sentence in row["abstract"]] for row in rows}


def _leaks(shelf: Shelf, row: Row, source: str) -> bool:
    if shelf.guard.refuses_claim(row["claim"], source):
        return True
    numbers = row.get("cited_doc_ids") or row.get("doc_ids", [])
    return any(shelf.guard.refuses_document(f"{source}:{number}", source) for number in numbers)


def cited_cases(
    row: Row, numbers: Sequence[int], corpus: dict[str, list[str]], source: str, group: str
) -> list[CitedCase]:
    """A claim before each of the abstracts it cites that the corpus has."""
    cases: list[CitedCase] = []
    for number in map(str, numbers):
        document = corpus.get(number)
        if not document:
            continue
        evidence = row["evidence"].get(number, [])
        rationales = [[index for index in item["sentences"] if index < len(document)] for item in evidence]
        label: Label = _LABELS[evidence[0]["label"]] if evidence else "neutral"
        chosen = [rationale for rationale in rationales if rationale]
        cases.append(CitedCase(row["claim"], document, chosen, label, source, group, f"{source}:{number}"))
    return cases


def whole_document(case: CitedCase) -> DocumentExample:
    """The case as an item of a document-level set."""
    evidence = tuple(sorted({index for rationale in case.rationales for index in rationale}))
    return DocumentExample(
        clean(case.claim), tuple(case.document), case.label, case.source, case.group, evidence=evidence
    )


def _examples(case: CitedCase, shelf: Shelf, dice: random.Random, rarity: Rarity, *, training: bool) -> list[Example]:
    config = shelf.config if training else shelf.config.model_copy(update={"window_share": 0.0, "abstract_share": 0.0})
    found: list[Example] = []
    for rationale in case.rationales:
        found += sized(case.start(case.label, "rationale"), case.document, rationale, config, dice)
    used = {index for rationale in case.rationales for index in rationale}
    for passage in case.telling:
        if not used & set(passage) and (not used or dice.random() < _OTHER_PASSAGE):
            chosen = [index for index in passage if index < len(case.document)]
            found += sized(case.start("neutral", "telling"), case.document, chosen, config, dice)
    kind = "same-abstract" if used else "unsupporting"
    # Abstracts with rationales are already set against the claim; those without have nothing but these.
    count = (config.neutral_per_claim + 1) // 2 if used or case.telling else config.neutral_per_claim
    told = {index for passage in case.telling for index in passage}
    for index in _others(case, used | told, count, dice, rarity):
        start = case.start("neutral", kind)
        found.append(replace(start, premise=joined(case.document, [index])))
        around = [near for near in (index - 1, index, index + 1) if 0 <= near < len(case.document)]
        if dice.random() < 0.6 * config.window_share and not used & set(around):
            found.append(replace(start, premise=window(case.document, around), kind="window"))
    if not used and dice.random() < 3 * config.abstract_share:
        found.append(replace(case.start("neutral", "abstract"), premise=abstract(case.document)))
    return [example for example in found if example.premise]


def _others(case: CitedCase, used: set[int], count: int, dice: random.Random, rarity: Rarity) -> list[int]:
    """Sentences that are no rationale: the nearest to the claim that is not too near, and some at random.

    The nearest keep the judge from going by shared words, the random ones are what most sentences are like.
    """
    rest = [index for index in range(len(case.document)) if index not in used and len(case.document[index].split()) > 4]
    covered = {index: rarity.coverage(case.claim, case.document[index]) for index in rest}
    rest = [index for index in rest if covered[index] < _TOO_NEAR]
    ranked = sorted(rest, key=lambda index: (-covered[index], index))
    nearest = ranked[: count // 2 + (count % 2 and dice.random() < 0.5)]
    others = [index for index in rest if index not in nearest]
    return nearest + dice.sample(others, min(len(others), count - len(nearest)))
