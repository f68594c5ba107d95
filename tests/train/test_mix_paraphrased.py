"""Claims said anew: what becomes of each wording before a premise that proves, disproves or leaves open the claim."""

import json
import random
from pathlib import Path
from typing import Any

import pytest

from vericite.errors import RecordError
from vericite.records import read_jsonl
from vericite.train.mix.config import MixConfig
from vericite.train.mix.example import Example, Label
from vericite.train.mix.paraphrased import ParaphrasedClaim, Paraphrases
from vericite.train.mix.premises import told_by

ALWAYS = MixConfig(paraphrased_share=1, paraphrased_neutral_share=1)
RECIPE = Path(__file__).parents[2] / "recipes" / "verifier"
CLAIM = "Zinc shortens colds."
LINE = {
    "source": "healthver",
    "check": told_by(CLAIM),
    "alike": ["A cold ends sooner with zinc.", "Zinc cuts the length of colds."],
    "denied": "Zinc leaves colds no shorter.",
    "opposite": "Zinc draws colds out.",
    "other": "Zinc shortens hay fever.",
}


def pair(label: Label, premise: str = "Colds were followed up.", **changed: Any) -> Example:
    """A pair of the set with the claim."""
    return Example(premise, changed.pop("claim", CLAIM), label, "healthver", "rationale", "g", **changed)


def said_anew(tmp_path: Path, examples: list[Example], line: dict[str, Any] = LINE) -> list[Example]:
    """What comes of them."""
    path = tmp_path / "paraphrased.jsonl"
    path.write_text(json.dumps(line) + "\n")
    return Paraphrases([path]).of(examples, ALWAYS, random.Random(0))


@pytest.mark.parametrize(
    ("label", "binary", "expected"),
    [
        (
            "entails",
            False,
            {("alike", "entails"), ("denied", "contradicts"), ("opposite", "contradicts"), ("other", "neutral")},
        ),
        ("entails", True, {("alike", "entails"), ("denied", "neutral"), ("opposite", "neutral"), ("other", "neutral")}),
        # That zinc draws colds out does not follow from its not shortening them.
        ("contradicts", False, {("alike", "contradicts"), ("denied", "entails"), ("other", "neutral")}),
        ("neutral", False, {("alike", "neutral"), ("denied", "neutral")}),
        # "Not entailed" may be contradicted, and the denial then entailed.
        ("neutral", True, {("alike", "neutral")}),
    ],
)
def test_each_wording_has_the_label_that_follows(
    tmp_path: Path, label: Label, binary: bool, expected: set[tuple[str, str]]
) -> None:
    found = said_anew(tmp_path, [pair(label, f"Cold {n}.", binary=binary) for n in range(60)])
    assert {(example.kind, example.label) for example in found} == expected
    texts = {"alike": set(LINE["alike"])} | {kind: {LINE[kind]} for kind in ("denied", "opposite", "other")}
    assert all(example.claim in texts[example.kind] and example.binary is binary for example in found)
    assert {example.group for example in found} == {"g"}


@pytest.mark.parametrize("label", ["entails", "contradicts"])
def test_twins_share_their_premise_and_one_of_them_is_entailed(tmp_path: Path, label: Label) -> None:
    found = said_anew(tmp_path, [pair(label, f"Cold {n}.") for n in range(20)])
    twins: dict[str, list[Example]] = {}
    for example in found:
        if example.twin:
            twins.setdefault(example.twin, []).append(example)
    assert len(twins) == 20
    for one, two in twins.values():
        assert one.premise == two.premise
        assert [one.label, two.label].count("entails") == 1


def test_another_matter_stands_before_short_premises_alone(tmp_path: Path) -> None:
    """An abstract may have something to say of it."""
    assert "other" in {example.kind for example in said_anew(tmp_path, [pair("entails")])}
    assert "other" not in {example.kind for example in said_anew(tmp_path, [pair("entails", "word " * 91)])}


def test_claims_of_other_sets_unknown_claims_and_twins_are_left_alone(tmp_path: Path) -> None:
    elsewhere = Example("Colds.", CLAIM, "entails", "scifact", "rationale", "g")
    assert not said_anew(tmp_path, [elsewhere, pair("entails", claim="Iron helps."), pair("entails", twin="t")])


def test_without_a_denial_the_claim_in_other_words_stands_alone(tmp_path: Path) -> None:
    line = {key: LINE[key] for key in ("source", "check", "alike")}
    assert [(e.kind, e.twin) for e in said_anew(tmp_path, [pair("entails")], line)] == [("alike", None)]


def test_a_line_with_an_unknown_field_is_told(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="claim"):
        said_anew(tmp_path, [], {**LINE, "claim": CLAIM})


def test_the_files_of_the_recipe_parse_and_no_wording_has_two_meanings() -> None:
    lines = [line for path in RECIPE.glob("paraphrased*.jsonl") for line in read_jsonl(ParaphrasedClaim, path)]
    for line in lines:
        wordings = [*line.alike, *filter(None, (line.denied, line.opposite, line.other))]
        assert wordings
        assert len({wording.lower() for wording in wordings}) == len(wordings)
    assert len({(line.source, line.check) for line in lines}) == len(lines)
