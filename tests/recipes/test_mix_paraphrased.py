"""Claims said anew: what becomes of each wording before a premise that proves, disproves or leaves open the claim."""

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mix.build import SOURCES, Mix, build
from mix.example import Example, Label
from mix.folder import DataFolder
from mix.guard import Forbidden
from mix.passages import text_hash
from mix.recipe import Harvest, MixConfig, Shelf
from mix.written import ParaphrasedClaim, Paraphrases
from vericite.errors import RecordError
from vericite.records import read_jsonl

ALWAYS = MixConfig(paraphrased_share=1, paraphrased_neutral_share=1)
RECIPE = Path(__file__).parents[2] / "recipes" / "verifier"
CLAIM = "Zinc shortens colds."
TESTED = "Drinking hot tea with honey cures a common cold in most healthy adults overnight."
AWAY = "Gargling with warm salt water each morning keeps singers from catching winter colds."
HELD_OUT = "Wearing warm woollen socks at night keeps older children free of colds all winter."
LINE = {
    "source": "scifact",
    "check": text_hash(CLAIM),
    "alike": ["A cold ends sooner with zinc.", "Zinc cuts the length of colds."],
    "denied": "Zinc leaves colds no shorter.",
    "opposite": "Zinc draws colds out.",
    "other": "Zinc shortens hay fever.",
}


def pair(label: Label, premise: str = "Colds were followed up.", **changed: Any) -> Example:
    """A pair of the set with the claim."""
    kind = changed.pop("kind", "rationale")
    return Example(premise, changed.pop("claim", CLAIM), label, changed.pop("source", "scifact"), kind, "g", **changed)


def said_anew(tmp_path: Path, examples: list[Example], line: dict[str, Any] = LINE) -> list[Example]:
    """What comes of them."""
    path = tmp_path / "paraphrased.jsonl"
    path.write_text(json.dumps(line) + "\n")
    return Paraphrases([path]).of("scifact", examples, ALWAYS, random.Random(0))


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ({"label": "entails"}, {"alike entails", "denied contradicts", "opposite contradicts", "other neutral"}),
        (
            {"label": "entails", "binary": True},
            {"alike entails", "denied neutral", "opposite neutral", "other neutral"},
        ),
        # That zinc draws colds out does not follow from its not shortening them.
        ({"label": "contradicts"}, {"alike contradicts", "denied entails", "other neutral"}),
        # HealthVer calls refuted also what is not borne out: then the denial does not follow either.
        ({"label": "contradicts", "source": "healthver"}, {"alike contradicts", "other neutral"}),
        ({"label": "neutral"}, {"alike neutral", "denied neutral"}),
        ({"label": "neutral", "kind": "same-abstract"}, {"alike neutral", "denied neutral", "opposite neutral"}),
        # "Not entailed" may be contradicted, and the denial then entailed.
        ({"label": "neutral", "binary": True}, {"alike neutral"}),
    ],
)
def test_each_wording_has_the_label_that_follows(tmp_path: Path, told: dict[str, Any], expected: set[str]) -> None:
    examples = [pair(premise=f"Cold {n}.", **told) for n in range(90)]
    found = said_anew(tmp_path, examples, {**LINE, "source": examples[0].source})
    assert {f"{example.kind} {example.label}" for example in found} == expected
    texts = {"alike": set(LINE["alike"])} | {kind: {LINE[kind]} for kind in ("denied", "opposite", "other")}
    assert all(example.claim in texts[example.kind] for example in found)
    assert {(example.group, example.binary) for example in found} == {("g", told.get("binary", False))}


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
    short, long = ([pair("entails", f"{n} " + "word " * length) for n in range(40)] for length in (10, 91))
    assert "other" in {example.kind for example in said_anew(tmp_path, short)}
    assert "other" not in {example.kind for example in said_anew(tmp_path, long)}


def test_claims_of_other_sets_unknown_claims_and_twins_are_left_alone(tmp_path: Path) -> None:
    elsewhere = pair("entails", source="healthver")
    assert not said_anew(tmp_path, [elsewhere, pair("entails", claim="Iron helps."), pair("entails", twin="t")])


def test_without_a_denial_the_claim_in_other_words_stands_alone(tmp_path: Path) -> None:
    line = {key: LINE[key] for key in ("source", "check", "alike")}
    assert [(e.kind, e.twin) for e in said_anew(tmp_path, [pair("entails")], line)] == [("alike", None)]


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Mix]:
    """Builds a mix of one set with the claim before 40 premises, and lines about it."""

    def source(shelf: Shelf) -> Harvest:
        harvest = Harvest([pair("entails", f"Cold {n} was short.", document=f"scifact:{n}") for n in range(40)])
        harvest.train += [pair("entails", "Tea was drunk.", claim=TESTED)]
        harvest.transfer = [pair("entails", "Cold 42 was short.", claim=AWAY)]
        harvest.dev["scifact_dev"] = [pair("entails", "Cold 41 was short.", claim=HELD_OUT)]
        return harvest

    def small_mix(**chosen: Any) -> Mix:
        path = tmp_path / "paraphrased.jsonl"
        lines = [{**LINE, **chosen.pop("line", {})}]
        lines += [{**LINE, "check": text_hash(TESTED), "alike": ["It came back in other words."], "other": None}]
        lines += [{**LINE, "source": "healthver", "alike": [f"{AWAY[:-1]} too.", "Zinc helps."]}]
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        settings = {"permissive": False, "without": (), "paraphrased": (path,), **chosen}
        return build(DataFolder(tmp_path), MixConfig(paraphrased_share=1, warmup=0), 0, **settings)

    def other_source(shelf: Shelf) -> Harvest:
        return Harvest([pair("entails", f"A cold {n} went.", source="healthver") for n in range(40)])

    monkeypatch.setattr("mix.build.SOURCES", {"scifact": source, "healthver": other_source})
    monkeypatch.setattr("mix.build.esnli", lambda shelf: Harvest())
    monkeypatch.setattr("mix.build.forbidden", lambda data, keep: Forbidden(claims=((TESTED, "a test"),)))
    return small_mix


def test_a_mix_has_them_and_the_same_ones_each_time(small: Callable[..., Mix]) -> None:
    mix = small()
    assert {"alike", "denied", "opposite", "other"} <= {example.kind for example in mix.train}
    assert [example.as_row() for example in mix.train] == [example.as_row() for example in small().train]
    assert not {"alike", "denied"} & {example.kind for example in small(paraphrased=()).train}


def test_a_claim_that_was_turned_away_does_not_come_back_in_other_words(small: Callable[..., Mix]) -> None:
    assert not any("came back" in example.claim for example in small().train)


def test_what_is_tested_on_or_held_out_is_no_wording(small: Callable[..., Mix]) -> None:
    mix = small(line={"alike": [f"{TESTED[:-1]} today.", f"{HELD_OUT[:-1]} too."]})
    assert "denied" in {example.kind for example in mix.train}
    assert not any(example.kind == "alike" for example in mix.train if example.source == "scifact")
    assert mix.manifest["paraphrases"]["pairs_near_held_out_claims"] > 0
    # The one about the claim that is tested on.
    assert mix.manifest["paraphrases"]["lines_about_no_claim"] == 1
    assert {row["from"] for row in mix.manifest["dropped"]} >= {"scifact paraphrased"}


def test_a_set_that_is_left_out_is_not_paraphrased_nor_its_claims_a_wording(small: Callable[..., Mix]) -> None:
    assert any(example.claim.startswith(AWAY[:-1]) for example in small().train)
    left = small(without=("scifact",)).train
    assert {example.source for example in left} == {"healthver"}
    assert "Zinc helps." in {example.claim for example in left}
    assert not any(example.claim.startswith(AWAY[:-1]) for example in left)


def test_a_line_with_an_unknown_field_is_told(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="claim"):
        said_anew(tmp_path, [], {**LINE, "claim": CLAIM})


def test_the_recipes_wordings_are_many_and_none_has_two_meanings() -> None:
    lines = list(read_jsonl(ParaphrasedClaim, RECIPE / "paraphrased.jsonl"))
    assert len(lines) > 2_500
    assert {line.source for line in lines} <= SOURCES.keys()
    for line in lines:
        wordings = [text for _, text in _worded(line)]
        assert wordings
        assert len({wording.lower() for wording in wordings}) == len(wordings)
    assert len({(line.source, line.check) for line in lines}) == len(lines)
    told = [(line.source, kind, text) for line in lines for kind, text in _worded(line)]
    assert len({(source, text.lower()) for source, _, text in told}) == len({(s, k, t.lower()) for s, k, t in told})


def _worded(line: ParaphrasedClaim) -> list[tuple[str, str]]:
    kinds = {"denied": line.denied, "opposite": line.opposite, "other": line.other}
    return [*(("alike", text) for text in line.alike), *((kind, text) for kind, text in kinds.items() if text)]
