"""Units to label, and samples of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from vericite.errors import InputError, Problems, UnknownNameError
from vericite.lab.annotate.schemes import Scheme, load_scheme, scheme_names
from vericite.lab.annotate.units import draw, read_sample, units_of
from vericite.records import write_jsonl


def test_units_are_the_citations_that_the_judge_decided(make_system):
    units = units_of([make_system(answers=3)])
    assert [unit.verdict for unit in units] == ["supported", "irrelevant"] * 3
    assert len({unit.item for unit in units}) == 6
    assert len({unit.group for unit in units}) == 3
    assert units[0].context[units[0].start : units[0].end].startswith("Zelotrine reduced pain")


def test_ids_do_not_reveal_the_system(make_system):
    units = units_of([make_system("one", 2), make_system("two", 2)])
    assert len({unit.item for unit in units}) == 8
    assert not any(name in unit.item + unit.group for unit in units for name in ("one", "two", "q0"))


def test_a_sample_is_reproducible_and_weighted(make_system):
    units = units_of([make_system("one", 40), make_system("two", 5)])
    first, again = (draw(units, 30, ["verdict", "system"], seed=3) for _ in range(2))
    assert first.units == again.units
    assert draw(units, 30, ["verdict", "system"], seed=4).units != first.units
    assert sum(chosen for _, chosen in first.sizes.values()) == 30
    assert all(chosen >= 4 for _, chosen in first.sizes.values())
    assert sum(unit.weight for unit in first.units) == pytest.approx(len(units))


def test_a_sample_of_all_units_has_all_units(make_system):
    units = units_of([make_system(answers=4)])
    assert {unit.item for unit in draw(units, 8, ["verdict"]).units} == {unit.item for unit in units}


def test_too_large_samples_and_unknown_strata_are_refused(make_system):
    units = units_of([make_system(answers=2)])
    with pytest.raises(InputError, match="expected a sample of 1 to 4"):
        draw(units, 5)
    with pytest.raises(InputError, match="expected stratify from verdict, system, type; found mood"):
        draw(units, 2, ["mood"])


def test_a_sample_is_read_as_it_was_written(make_system, tmp_path: Path):
    drawn = draw(units_of([make_system()]), 10, ["verdict"]).units
    with (tmp_path / "sample.jsonl").open("w", encoding="utf-8") as file:
        write_jsonl(drawn, file)
    assert read_sample(tmp_path / "sample.jsonl", Problems()) == drawn


def test_sentences_are_units_of_a_scheme_that_asks_for_them(make_system):
    units = units_of([make_system(answers=2)], "sentence")
    assert [unit.claim for unit in units][2] == "It rains."
    assert len(units) == 6


@pytest.mark.parametrize("name", scheme_names())
def test_every_scheme_is_read(name: str):
    scheme = load_scheme(name)
    assert scheme.name == name
    assert scheme.guideline.strip() and scheme.source


def test_the_schemes_have_the_labels_of_their_papers():
    assert [len(load_scheme(name).labels) for name in scheme_names()] == [4, 4, 3, 8, 3]
    assert [one.name for one in load_scheme("reason-verify").scales] == ["quality", "faithfulness"]


def test_a_scheme_can_be_a_file(tmp_path: Path):
    file = tmp_path / "mine.toml"
    file.write_text(
        'name = "mine"\nversion = 1\ntitle = "?"\nof = "citation"\nguideline = "g"\n'
        '[[labels]]\nname = "yes"\nverdict = "supported"\n[[labels]]\nname = "no"\n'
    )
    assert isinstance(load_scheme(str(file)), Scheme)
    file.write_text('name = "mine"\nversion = 1\ntitle = "?"\nof = "mood"\nguideline = "g"\nlabels = []\n')
    with pytest.raises(InputError, match="field of"):
        load_scheme(str(file))
    file.write_text("= no toml")
    with pytest.raises(InputError, match="in TOML"):
        load_scheme(str(file))
    with pytest.raises(UnknownNameError, match="expected a scheme out of"):
        load_scheme("nothing")
