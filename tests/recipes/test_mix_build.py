"""The mix as a whole: premises, templates, splits; with the real data where they are."""

import json
from pathlib import Path

import pytest

from mix.build import build, write
from mix.folder import DataFolder
from mix.passages import abstract, declarative_title, finding, sentences, window, without_heading
from mix.recipe import MixConfig, read_config
from vericite.errors import InputError, UnknownNameError

DATA = Path(__file__).parents[3] / "shared" / "data"
BODY = [f"Sentence {number} says something." for number in range(8)]


def test_a_window_holds_the_chosen_and_their_neighbours() -> None:
    assert window(BODY, [3]) == " ".join(BODY[2:5])
    assert window(BODY, [0]) == " ".join(BODY[:3])
    assert window(BODY, [7]) == " ".join(BODY[5:])
    assert window(BODY, [0, 7]) == f"{BODY[0]} {BODY[7]}"


def test_a_long_abstract_keeps_what_matters() -> None:
    assert BODY[7] in abstract(BODY, [7], longest=8)
    assert len(abstract(BODY, [7], longest=8).split()) <= 8


def test_headings_are_taken_off() -> None:
    assert without_heading("RESULTS: Zinc shortened colds by two days.") == "Zinc shortened colds by two days."
    assert sentences("Zinc &lt; iron in all arms. It helped.")[0] == "Zinc < iron in all arms."


def test_findings_stand_alone() -> None:
    kept = finding("CONCLUSION: Our results show that daily zinc reduced severe colds in adults (p < 0.01).")
    assert kept == "Daily zinc reduced severe colds in adults."
    assert not finding("Further studies of zinc in adults with colds are needed soon.")
    assert declarative_title("Daily zinc reduces the length of colds") == "Daily zinc reduces the length of colds."
    assert not declarative_title("A test of money to improve the use of zinc")


def test_a_recipe_with_an_unknown_key_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "recipe.json"
    path.write_text('{"windows": 1}')
    with pytest.raises(InputError, match=r"expected a recipe.*found in"):
        read_config(path)


def test_a_set_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="expected a set of the mix"):
        build(DataFolder(tmp_path), MixConfig(), 0, permissive=False, without=["scifacts"])


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="expected the data folder to hold"):
        DataFolder(tmp_path).json("mirage/benchmark.json")


@pytest.mark.slow
@pytest.mark.skipif(not DATA.is_dir(), reason="the datasets lie beside the repository, and are not here")
def test_the_whole_mix_leaks_nothing(tmp_path: Path) -> None:
    mix = build(DataFolder(DATA), MixConfig(), 0, permissive=False, without=[])
    write(mix, tmp_path)
    groups = {example.group for example in mix.train}
    for name, examples in mix.dev.items():
        if name == "nli4ct_dev":  # its authors' parts share trials; statements they do not share
            assert not {example.claim for example in mix.train} & {example.claim for example in examples}
            continue
        assert not groups & {example.group for example in examples}, name
    claims = {example.claim.lower() for example in mix.train}
    for line in (DATA / "scifact/data/claims_dev.jsonl").read_text().splitlines():
        assert json.loads(line)["claim"].lower() not in claims
    assert json.loads((tmp_path / "manifest.json").read_text())["train"] == len(mix.train)
