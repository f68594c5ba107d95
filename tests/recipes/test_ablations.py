"""MultiAttr's ablations: which rows there are, what each is fitted to, and that more of the same does not lose."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ablations import TABLES, Ablations, sets_of
from made import single_sources
from vericite.attribution.features import FEATURES
from vericite.errors import InputError
from vericite.lab.train.configs import HeadConfig
from vericite.lab.train.examples import AttributionExample, ExampleSource, as_line
from vericite.lab.train.set_head import Example


def sets(count: int, seed: int, noise: float) -> list[Example]:
    """Sets in which a source counts if its first feature is above 0; some labels are wrong."""
    dice = np.random.default_rng(seed)
    found: list[Example] = []
    for number in range(count):
        inputs = dice.normal(size=(4, len(FEATURES)))
        wanted = ((inputs[:, 0] > 0) != (dice.random(4) < noise)).astype(float)
        found.append(Example(inputs, wanted, np.ones(4), f"{seed}-{number // 2}", (0, 1, 2, 3), 0))
    return found


def test_each_row_says_what_it_was_fitted_to():
    given = {
        name: sets(count, seed, noise)
        for seed, (name, count, noise) in enumerate(
            [
                ("made", 60, 0.0),
                ("domain", 40, 0.0),
                ("short", 30, 0.95),
                ("long", 30, 0.0),
                ("dev", 20, 0),
                ("test", 40, 0),
            ]
        )
    }
    ablations = Ablations(given, HeadConfig(members=1, width=4, epochs=40))
    rows: list[str] = []
    for name in TABLES:
        head, rule, *own = ablations.table(name)
        assert name in head and head.count("|") == rule.count("|") == 6
        rows += own
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]
    assert [cell[0] for cell in cells] == [
        "made data 0%, in-domain 100%",
        "made data 20%, in-domain 100%",
        "made data 100%, in-domain 100%",
        "made data 100%, in-domain 0%",
        "made data 100%, in-domain 20%",
        "made data 100%, in-domain 100%",
        "short answers alone",
        "long answers alone",
        "short answers, then in-domain 100%",
        "long answers, then in-domain 100%",
    ]
    used = [int(cell[1]) for cell in cells]
    assert used[0] == 40 and used[2] == used[5] == 100 and used[3] == 60 and used[6:] == [30, 30, 70, 70]
    assert 40 < used[1] < 100 and 60 < used[4] < 100
    assert [cell[4] == "" for cell in cells] == [place in (0, 3, 6) for place in range(10)]
    assert cells[2][2:4] == cells[5][2:4]
    assert float(cells[7][4].split()[0]) > 0  # nearly all labels of the short ones are wrong


def test_numbers_of_another_verifier_are_not_taken_up_again(tmp_path: Path):
    sources = (ExampleSource(id="a", text="Zinc shortened colds by two days."), ExampleSource(id="b", text="Iron."))
    line = as_line(AttributionExample(id="e", sentence="Zinc shortened colds.", sources=sources, supports=(1,)))
    for name in ("dev", "test", "made", "domain", "short", "long"):
        (tmp_path / f"{name}.jsonl").write_text(f"{line}\n", encoding="utf-8")
    told: list[str] = []
    for _ in range(2):  # the second finds its numbers there
        found = sets_of(tmp_path, tmp_path / "dev.jsonl", tmp_path / "test.jsonl", told.append)
        assert found["long"][0].inputs.shape == (2, len(FEATURES))
    assert len((tmp_path / "numbers.jsonl").read_text("utf-8").splitlines()) == 1
    manifest = tmp_path / "numbers.jsonl.manifest.json"
    manifest.write_text(manifest.read_text("utf-8").replace('made_by": "', 'made_by": "an older '), encoding="utf-8")
    with pytest.raises(InputError, match="made_by"):
        sets_of(tmp_path, tmp_path / "dev.jsonl", tmp_path / "test.jsonl", told.append)


def test_single_sources_leave_out_what_is_not_known():
    sources = tuple(ExampleSource(id=name, title="Colds", text=f"About {name}.") for name in ("zinc", "iron", "tea"))
    it = AttributionExample(
        id="e", sentence="Zinc helps.", sources=sources, supports=(1,), unknown=(3,), kind="weak", made_from="bioasq"
    )
    pairs = list(single_sources(it))
    assert [(pair.premise, pair.label) for pair in pairs] == [
        ("Colds About zinc.", "entails"),
        ("Colds About iron.", "neutral"),
    ]
    assert {(pair.claim, pair.group, pair.source, pair.kind) for pair in pairs} == {
        ("Zinc helps.", "e", "bioasq", "weak")
    }
