"""Claims written about texts of the data: what they become before which premises, and what is left out."""

import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest

from mix.example import Example
from mix.folder import DataFolder
from mix.guard import Forbidden, Guard, forbidden, normal
from mix.passages import joined, text_hash
from mix.recipe import Harvest, MixConfig, Shelf
from mix.written import InventedClaims, WrittenClaim, written
from vericite.errors import RecordError
from vericite.records import read_jsonl

DATA = Path(__file__).parents[3] / "shared" / "data"
RECIPE = Path(__file__).parents[2] / "recipes" / "verifier"
ABOUT_DATA = ["written.jsonl", "written-2.jsonl", "written-3.jsonl"]
_NEGATION = re.compile(r"\b(?:no|not|never|neither|nor|without|cannot|none|nobody)\b|n't\b", re.IGNORECASE)
TEXT = [
    "A runny nose sends many adults to the chemist each winter.",
    "We gave zinc or placebo to 240 adults.",
    "Colds lasted 5 days with zinc and 7 days with placebo.",
    "Nausea was reported by 12 adults in either arm.",
    "Nasal swabs were taken by nurses at home visits.",
]
FOUND = joined(TEXT, [2])
CLAIM = {
    "document": "pmid:1",
    "sentences": [2],
    "check": text_hash(FOUND),
    "kind": "direction",
    "supported": "Taking zinc shortens a cold.",
    "broken": "Taking zinc prolongs a cold.",
    "label": "contradicts",
}
ALONE = {**CLAIM, "kind": "unstated", "broken": "Zinc spares people from pneumonia.", "label": "neutral"}
del ALONE["supported"]


@pytest.fixture
def data(tmp_path: Path) -> DataFolder:
    """A folder with one abstract of each kind that claims are written about."""
    files: dict[str, list[dict[str, Any]]] = {
        "scifact/data/corpus.jsonl": [{"doc_id": 2, "title": "Zinc in mice", "abstract": TEXT}],
        "scifact/data/claims_train.jsonl": [],
        "evidence_inference/abstracts.jsonl": [],
        "evidence_inference/v2_claims.jsonl": [],
        "attributionbench/dev.jsonl": [{"question": "Does zinc help?", "references": ["Title: " + " ".join(TEXT)]}],
        "wice/claim_dev.jsonl": [{"meta": {"claim_title": "Zinc"}, "evidence": TEXT}],
    }
    corpus = {"title": "Zinc for colds", "abstract": " ".join(TEXT), "source": "medline16n0902"}
    rows = [{"pmid": "1", **corpus, "full": True}, {"pmid": "3", **corpus, "full": False}]
    for name, held in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(json.dumps(row) + "\n" for row in held))
    path = tmp_path / "corpus" / "pubmed_corpus.jsonl.gz"
    path.parent.mkdir()
    path.write_bytes(gzip.compress("\n".join(json.dumps(row) for row in rows).encode()))
    return DataFolder(tmp_path)


def harvested(data: DataFolder, lines: list[dict[str, Any]], **chosen: Any) -> Harvest:
    """What comes of these lines; the general sets' dev halves are empty."""
    path = data.root / "written.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    guard = Guard(Forbidden(documents=chosen.pop("tested", {})))
    return written(Shelf(data, MixConfig(half_share=0.0), guard, 0, written=(path,), **chosen))


def made(data: DataFolder, lines: list[dict[str, Any]], **chosen: Any) -> tuple[list[Example], dict[str, int]]:
    """The examples of these lines, whatever they are for, and what was noted."""
    harvest = harvested(data, lines, **chosen)
    return [*harvest.train, *(example for part in harvest.dev.values() for example in part)], harvest.notes


def test_a_claim_and_its_broken_twin_stand_before_the_same_premises(data: DataFolder) -> None:
    lines = [{**CLAIM, "supported": f"Zinc shortens colds, as trial {n} found."} for n in range(60)]
    lines = [{**line, "broken": line["supported"].replace("shortens", "prolongs")} for line in lines]
    examples, notes = made(data, lines)
    twins: dict[str, list[Example]] = {}
    for example in examples:
        if example.twin:
            twins.setdefault(example.twin, []).append(example)
    assert len(twins) > 60
    for pair in twins.values():
        assert {(e.label, "prolongs" in e.claim) for e in pair} == {("entails", False), ("contradicts", True)}
        assert len(pair) == 2
        assert pair[0].premise == pair[1].premise
        assert FOUND in pair[0].premise
    sizes = {pair[0].premise for pair in twins.values()}
    assert sizes == {FOUND, joined(TEXT, [1, 2, 3]), joined(TEXT, range(5))}
    assert {example.document for example in examples} == {"pmid:1"}
    assert not notes


def test_some_claims_of_either_kind_stand_before_what_tells_no_result(data: DataFolder) -> None:
    lines = [{**CLAIM, "supported": f"Zinc shortens colds, as trial {n} found."} for n in range(60)]
    alone = [example for example in made(data, lines)[0] if not example.twin]
    assert len(alone) > 10
    assert {(example.premise, example.label, example.kind) for example in alone} == {(TEXT[0], "neutral", "same-text")}
    assert len({"shortens" in example.claim for example in alone}) == 2


def test_a_claim_alone_is_left_open(data: DataFolder) -> None:
    examples, _ = made(data, [ALONE])
    assert {(example.claim, example.label, example.twin) for example in examples} == {
        ("Zinc spares people from pneumonia.", "neutral", None)
    }


@pytest.mark.parametrize("document", ["pmid:1", "pmid:3", "scifact:2", "wice:0", "attributionbench:0:0"])
def test_texts_of_every_set_are_found(data: DataFolder, document: str) -> None:
    examples, notes = made(data, [{**CLAIM, "document": document}])
    assert examples
    assert not notes


def test_left_out_by_name_they_keep_no_text_from_the_other_sets(data: DataFolder) -> None:
    assert made(data, [CLAIM], without=frozenset(["written"])) == ([], {})


def test_a_text_that_another_set_labels_is_no_dev_text_here(data: DataFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    """That set's own split decides where the document goes."""
    monkeypatch.setattr("mix.written._DEV_SHARE", 1.0)
    lines = [{**CLAIM, "document": "scifact:2"}, CLAIM]
    assert not harvested(data, lines).train
    row = {"id": 1, "claim": "Zinc helps.", "cited_doc_ids": [2]}
    (data.root / "scifact" / "data" / "claims_train.jsonl").write_text(json.dumps(row) + "\n")
    harvest = harvested(DataFolder(data.root), lines)
    assert {example.document for example in harvest.train} == {"scifact:2"}
    assert {example.document for example in harvest.dev["written_dev"]} == {"pmid:1"}


@pytest.mark.parametrize(
    ("document", "left_out"),
    [
        ("pmid:1", {"tested": {"pmid:1": "a test"}}),
        ("pmid:3", {"tested": {"pmid:3": "a test"}}),
        ("pmid:3", {"without": frozenset(["bioasq"])}),
        ("scifact:2", {"without": frozenset(["scifact"])}),
        ("scifact:2", {"tested": {"scifact:2": "a test"}}),
        ("wice:0", {"without": frozenset(["wice"])}),
        ("wice:0", {"permissive": True}),
        ("attributionbench:0:0", {"without": frozenset(["attributionbench"])}),
        ("pmid:9", {}),
    ],
)
def test_texts_that_may_not_be_used_cost_their_claims(
    data: DataFolder, document: str, left_out: dict[str, Any]
) -> None:
    examples, notes = made(data, [{**CLAIM, "document": document}], **left_out)
    assert not examples
    assert notes == {"text that a test holds, or that is left out": 1}


def test_a_text_cut_otherwise_is_noticed(data: DataFolder) -> None:
    examples, notes = made(data, [{**CLAIM, "sentences": [1]}, {**CLAIM, "sentences": [40]}])
    assert not examples
    assert notes == {"text cut otherwise now": 2}


def test_a_line_that_is_no_claim_is_named(data: DataFolder) -> None:
    with pytest.raises(RecordError, match="label"):
        made(data, [{**CLAIM, "label": "false"}])


INVENTED = {
    "topic": "zinc",
    "premise": "Zinc was given twice daily.",
    "kind": "dose",
    "supported": "Zinc was taken two times a day.",
    "contradicted": "Zinc was taken every other day.",
    "neutral": "Zinc was taken with meals.",
}


def test_a_line_may_bring_its_own_premise(data: DataFolder) -> None:
    """Its claims are twins before it; half of a claim of two things is left open by either premise alone."""
    other = {**INVENTED, "premise": "Zinc was given at noon.", "supported": "Zinc was taken about midday."}
    examples, _ = made(data, [CLAIM, INVENTED, {key: text for key, text in other.items() if key != "contradicted"}])
    twins = [e for e in examples if e.premise == INVENTED["premise"] and e.kind == "dose"]
    assert [(e.claim, e.label) for e in twins] == [
        (INVENTED["supported"], "entails"),
        (INVENTED["contradicted"], "contradicts"),
        (INVENTED["neutral"], "neutral"),
    ]
    assert len({e.twin for e in twins}) == 1
    assert {e.group for e in examples if e.kind == "dose"} == {"invented:zinc"}


def test_a_line_with_nothing_to_compare_is_refused(data: DataFolder) -> None:
    with pytest.raises(RecordError, match="neither"):
        made(data, [{key: INVENTED[key] for key in ("topic", "premise", "kind", "supported")}])


def test_the_invented_claims_are_told_apart_by_their_premises() -> None:
    """Each stands once before a premise, and hardly repeats it."""
    lines = list(read_jsonl(InventedClaims, RECIPE / "written-4.jsonl"))
    pairs = [(line.premise, e.claim) for line in lines for e in line.examples]
    assert len(pairs) > 4000
    assert len(set(pairs)) == len(pairs)
    assert max(longest_run(claim, premise) for premise, claim in pairs) <= 9
    topics: dict[str, set[str]] = {}
    for line in lines:
        topics.setdefault(line.premise, set()).add(line.topic)
    assert {len(found) for found in topics.values()} == {1}
    shares = [
        sum(bool(_NEGATION.search(claim)) for claim in claims) / len(claims)
        for claims in ([line.supported for line in lines], [line.contradicted for line in lines if line.contradicted])
    ]
    assert abs(shares[0] - shares[1]) < 0.05


@pytest.fixture(scope="module", params=ABOUT_DATA)
def shipped(request: pytest.FixtureRequest) -> list[WrittenClaim]:
    """The claims of a file of the recipe."""
    return list(read_jsonl(WrittenClaim, RECIPE / request.param))


def test_the_recipes_claims_are_many_and_each_stands_once() -> None:
    shipped = [claim for name in ABOUT_DATA for claim in read_jsonl(WrittenClaim, RECIPE / name)]
    assert len(shipped) > 30_000
    assert len({(claim.document, claim.supported, claim.broken) for claim in shipped}) == len(shipped)
    assert all(claim.supported or claim.label == "neutral" for claim in shipped)
    assert not any(claim.supported == claim.broken for claim in shipped)


def test_a_claims_words_tell_little_of_its_label(shipped: list[WrittenClaim]) -> None:
    """Negations come as often in what is supported as in what is contradicted."""
    pairs = [claim for claim in shipped if claim.supported and claim.label == "contradicts"]
    shares = [
        sum(bool(_NEGATION.search(text or "")) for text in texts) / len(pairs)
        for texts in ([claim.supported for claim in pairs], [claim.broken for claim in pairs])
    ]
    assert abs(shares[0] - shares[1]) < 0.05


@pytest.mark.slow
@pytest.mark.skipif(not DATA.is_dir(), reason="the datasets lie beside the repository, and are not here")
@pytest.mark.parametrize("name", ABOUT_DATA)
def test_the_recipes_claims_find_their_texts_and_copy_none(name: str) -> None:
    config = MixConfig()
    guard = Guard(forbidden(DataFolder(DATA), config.keep_shared_documents))
    harvest = written(Shelf(DataFolder(DATA), config, guard, 0, written=(RECIPE / name,)))
    assert not harvest.notes
    for example in harvest.train:
        assert longest_run(example.claim, example.premise) <= 9, example.claim


def longest_run(claim: str, premise: str) -> int:
    """How many words of the claim stand in the premise in a row."""
    words, text = normal(claim).split(), f" {normal(premise)} "
    best = 0
    for start in range(len(words)):
        while start + best < len(words) and f" {' '.join(words[start : start + best + 1])} " in text:
            best += 1
    return best
