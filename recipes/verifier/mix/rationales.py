"""Sets whose claims come with labelled evidence, as examples."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from mix.example import DocumentExample, Example, Label, components
from mix.folder import Row
from mix.passages import Rarity, abstract, clean, joined, sentences, window
from mix.recipe import Harvest, Shelf, blank, sized

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


_COVERED = 0.7
# A window with fewer of the claim's words than this is not what a reference was cited for.
_NEAREST = 3


def attributionbench(shelf: Shelf) -> Harvest:
    """AttributionBench's dev part, halved by question; only attributable or not is known."""
    harvest = Harvest()
    rows = shelf.data.jsonl("attributionbench/dev.jsonl")
    rarity = Rarity(reference for row in rows for reference in row["references"])
    for row in rows:
        if shelf.guard.refuses_claim(row["claim"], "attributionbench"):
            continue
        group = attribution_group(row)
        attributable = row["attribution_label"] == "attributable"
        label: Label = "entails" if attributable else "neutral"
        start = replace(blank(row["claim"], label, "attributionbench", "reference", group), binary=True)
        document = [sentence for reference in row["references"] for sentence in reference_sentences(reference)]
        if not document:
            continue
        whole = replace(start, premise=abstract(document))
        harvest.transfer.append(whole)
        if shelf.is_dev(group, shelf.config.half_share):
            harvest.add([whole], "attributionbench_dev")
            continue
        if len(whole.premise.split()) <= 250:
            harvest.train.append(whole)
        harvest.train += _windows(start, document, rarity, attributable)
    return harvest


def attribution_group(row: Row) -> str:
    """What halves AttributionBench: the question."""
    return f"attributionbench:{row['question'].strip().lower()}"


def reference_sentences(reference: str) -> list[str]:
    """The sentences of a reference as AttributionBench has them."""
    return sentences(reference.removeprefix("Title:").strip())


def _windows(start: Example, document: list[str], rarity: Rarity, attributable: bool) -> list[Example]:
    """The nearest three sentences in a row; of an attributable claim only if they have nearly all of its words."""
    if len(document) <= 3:
        return []
    runs = [list(range(first, first + 3)) for first in range(len(document) - 2)]
    best = max(runs, key=lambda run: (rarity.coverage(start.claim, joined(document, run)), -run[0]))
    premise = joined(document, best)
    if len(premise.split()) > 150 or (attributable and rarity.coverage(start.claim, premise) < _COVERED):
        return []
    return [replace(start, premise=premise, kind="window")]


def wice(shelf: Shelf) -> Harvest:
    """WiCE's dev part, halved by page; partly supported is not entailed."""
    harvest = Harvest()
    rows = shelf.data.jsonl("wice/claim_dev.jsonl")
    rarity = Rarity(sentence for row in rows for sentence in row["evidence"])
    for row in rows:
        if shelf.guard.refuses_claim(row["claim"], "wice"):
            continue
        group = wice_group(row)
        supported = row["label"] == "supported"
        label: Label = "entails" if supported else "neutral"
        start = replace(blank(row["claim"], label, "wice", row["label"], group), binary=True)
        document = [clean(sentence) for sentence in row["evidence"]]
        found = _wice_examples(start, row, document, rarity)
        harvest.transfer += found[:1]
        if shelf.is_dev(group, shelf.config.half_share):
            harvest.add(found[:1], "wice_dev")
            whole = DocumentExample(start.claim, tuple(wice_sentences(row)), label, "wice", group, binary=True)
            harvest.documents.setdefault("wice_dev_doc", []).append(whole)
        else:
            harvest.train += found
    return harvest


def wice_group(row: Row) -> str:
    """What halves WiCE: the page."""
    return f"wice:{row['meta']['claim_title']}"


def wice_sentences(row: Row) -> list[str]:
    """The sentences of a cited page, without scraps."""
    return [clean(sentence) for sentence in row["evidence"] if len(clean(sentence).split()) > 2]


def _wice_examples(start: Example, row: Row, document: list[str], rarity: Rarity) -> list[Example]:
    """The supporting sentences if any, else the nearest; and the nearest others, as not entailing."""
    groups = [group for group in row["supporting_sentences"] if group]
    ranked = sorted(range(len(document)), key=lambda index: -rarity.coverage(start.claim, document[index]))
    chosen = groups[:2] or [ranked[:_NEAREST]]
    found = [replace(start, premise=joined(document, group)) for group in chosen]
    used = {index for group in groups for index in group}
    others = [index for index in ranked if index not in used][:2]
    if start.label == "entails" and others:
        found.append(replace(start, premise=joined(document, others), label="neutral", kind="other-sentences"))
    return [example for example in found if 0 < len(example.premise.split()) <= 250]


_LABELS_general: dict[str, Label] = {"entailment": "entails", "contradiction": "contradicts", "neutral": "neutral"}


def esnli(shelf: Shelf) -> Harvest:
    """All pairs; the trainer begins with them and the mix leaves them out."""
    harvest = Harvest()
    for part in ("dev", "test"):
        columns = [shelf.data.lines(f"esnli/dataset/eSNLI/{name}.{part}") for name in ("s1", "s2", "labels")]
        for premise, claim, label in zip(*columns, strict=True):
            if label.strip() in _LABELS_general and claim.strip():
                group = f"esnli:{clean(premise)}"
                harvest.train.append(
                    Example(clean(premise), clean(claim), _LABELS_general[label.strip()], "esnli", "general", group)
                )
    shelf.dice("esnli").shuffle(harvest.train)
    harvest.train = harvest.train[: shelf.config.warmup]
    return harvest


_PARTS = ("train", "validation", "test")
# "0" is an inconclusive result: a claim that one arm is superior is then false.
_CLINIFACT: dict[str, Label] = {"0": "contradicts", "1": "entails", "2": "neutral"}
_CONCLUSION = re.compile(r"conclu|interpretation|in summary|significan|superior|compared with|versus|\bP\s?[<=]", re.I)
_COVERED_trials = 0.45
_SPECIAL = re.compile(r" or other\b")
_ELSEWHERE = 0.5  # statements that are also set against a section of another trial


def clinifact(shelf: Shelf) -> Harvest:
    """CliniFact, all parts taken together and split again by paper and trial."""
    folder = "clinifact/data/processed/primary_outcome_publication_dataset"
    rows = [row for part in _PARTS for row in shelf.data.csv(f"{folder}/{part}_set.csv")]
    kept = [row for row in rows if not _clinifact_leaks(shelf, row)]
    groups = components((row["index"], [row["PMID"], row["nctId"]]) for row in kept)
    rarity = Rarity(row["article_abstract"] for row in kept)
    harvest, dice = Harvest(), shelf.dice("clinifact")
    for row in kept:
        group = f"clinifact:{groups[row['index']]}"
        document = sentences(row["article_abstract"])
        start = blank(row["claim"], _CLINIFACT[row["label"]], "clinifact", "abstract", group, f"pmid:{row['PMID']}")
        whole = replace(start, premise=abstract(document))
        dev = shelf.is_dev(group)
        harvest.transfer.append(whole)
        if dev:
            harvest.add([whole], "clinifact_dev")
            continue
        harvest.train.append(whole)
        harvest.train += _telling_trials(start, row, document, rarity, dice)
    return harvest


def _clinifact_leaks(shelf: Shelf, row: Row) -> bool:
    guard, source = shelf.guard, "clinifact"
    return (
        guard.refuses_claim(row["claim"], source)
        or guard.refuses_document(f"pmid:{row['PMID']}", source, row["article_title"])
        or guard.refuses_document(f"nct:{row['nctId']}", source)
    )


def _telling_trials(
    start: Example, row: Row, document: list[str], rarity: Rarity, dice: random.Random
) -> list[Example]:
    """The same claim, plainly worded, against the sentences that most probably decide it."""
    claim = clean(_SPECIAL.sub("", row["claim"]))
    if len(document) < 3:
        return []
    scores = [
        rarity.coverage(claim, sentence) + 0.3 * bool(_CONCLUSION.search(sentence)) + 0.2 * index / len(document)
        for index, sentence in enumerate(document)
    ]
    ranked = sorted(range(len(document)), key=lambda index: -scores[index])
    plain = replace(start, claim=claim)
    found = [replace(plain, premise=joined(document, ranked[:3]), kind="window")]
    closing = document[-3:]
    covered = rarity.coverage(claim, joined(closing, range(len(closing))))
    if (start.label == "neutral" and dice.random() < 0.5) or (start.label != "neutral" and covered >= _COVERED_trials):
        found.append(replace(plain, premise=joined(closing, range(len(closing))), kind="conclusion"))
    return found


def nli4ct(shelf: Shelf) -> Harvest:
    """NLI4CT's training statements against the lines they rest on and the whole section; its dev part is dev."""
    harvest, dice = Harvest(), shelf.dice("nli4ct")
    trials: dict[str, Row] = shelf.data.json("nli4ct/trials.json")
    for part, dev in (("train", None), ("dev", "nli4ct_dev")):
        items = shelf.data.json(f"nli4ct/{part}.json")
        for key in sorted(items):
            item = items[key]
            if _nli4ct_leaks(shelf, item):
                continue
            found = statement_examples(item, trials, key, dev is not None)
            harvest.transfer += [example for example in found if example.kind.endswith("section")]
            # Lists of adverse events and criteria may well deny a statement about another trial.
            if dev is None and item["Section_id"] in ("Intervention", "Results") and dice.random() < _ELSEWHERE:
                found.append(_elsewhere(item, trials, dice, key))
            harvest.add([example for example in found if example.premise], dev)
    return harvest


def _nli4ct_leaks(shelf: Shelf, item: Row) -> bool:
    if shelf.guard.refuses_claim(item["Statement"], "nli4ct"):
        return True
    trials = [item[key] for key in ("Primary_id", "Secondary_id") if item.get(key)]
    return any(shelf.guard.refuses_document(f"nct:{trial}", "nli4ct") for trial in trials)


def statement_examples(item: Row, trials: dict[str, Row], key: str, held_out: bool) -> list[Example]:
    """A statement before the sections it is about, and in training before the lines that tell, too."""
    label: Label = "entails" if item["Label"] == "Entailment" else "contradicts"
    two = "two-" if item.get("Secondary_id") else ""
    start = blank(item["Statement"], label, "nli4ct", f"{two}evidence", f"nli4ct:{item['Primary_id']}")
    lines = [(name, _section(trials[item[f"{name}_id"]], item["Section_id"])) for name in _roles(item)]
    whole = replace(start, premise=_read(lines, 330), kind=f"{two}section")
    if held_out:
        return [whole]
    chosen: list[tuple[str, list[str]]] = [
        (name, [text[i] for i in item[f"{name}_evidence_index"] if i < len(text)]) for name, text in lines
    ]
    short = replace(start, premise=_read(chosen, 200))
    return [short] if short.premise == whole.premise else [short, whole]


def _roles(item: Row) -> list[str]:
    return ["Primary", "Secondary"] if item.get("Secondary_id") else ["Primary"]


def _section(trial: Row, name: str) -> list[str]:
    return trial[next(key for key in trial if key.lower() == name.lower())]


def _read(parts: list[tuple[str, list[str]]], longest: int) -> str:
    """Lines of a record as running text; each trial gets its share of the words."""
    texts: list[str] = []
    for role, lines in parts:
        text = "; ".join(stripped for line in lines if (stripped := clean(line))).replace(":;", ":")
        words = text.split()[: longest // len(parts)]
        if words:
            texts.append(f"{role} trial: {' '.join(words)}.")
    return " ".join(texts)


def _elsewhere(item: Row, trials: dict[str, Row], dice: random.Random, key: str) -> Example:
    """A statement before the same section of trials that it is not about."""
    other = [trials[name] for name in dice.sample(sorted(trials), len(_roles(item)))]
    parts = [(role, _section(trial, item["Section_id"])) for role, trial in zip(_roles(item), other, strict=True)]
    start = blank(item["Statement"], "neutral", "nli4ct", "other-trial", f"nli4ct:{item['Primary_id']}")
    return replace(start, premise=_read(parts, 120))
