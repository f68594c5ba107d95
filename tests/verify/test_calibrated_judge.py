from __future__ import annotations

import datetime
import json
import stat
import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import vericite
from vericite.disk.fitted import write_fitted
from vericite.errors import InputError, UnknownNameError
from vericite.models import Pair
from vericite.models.contracts import JudgeTraits, traits_of
from vericite.verify import BundledJudge, Judgement, LexicalJudge, Protocol, load_judge
from vericite.verify.judges.registry import default_threshold
from vericite.verify.judges.wrapped import (
    CalibratedJudge,
    CalibrationFigures,
    Shift,
    StaleCalibrationWarning,
    StoredCalibration,
    home,
    make_folder,
    read_stored,
    stored_names,
    stored_path,
)

SHIFT = Shift(before=0.5, after=0.25)
FIGURES = CalibrationFigures(
    groups=20, folds=5, log_loss=SHIFT, ece=SHIFT, brier=SHIFT, coverage=0.9, risk=0.1, risk_low=0.05, risk_high=0.2
)
PAIRS = [
    Pair("Aspirin lowers fever in adults.", "Aspirin lowers fever."),
    Pair("Aspirin did not lower fever.", "Aspirin lowers fever."),
    Pair("The trial was in Norway.", "Aspirin lowers fever."),
]


def stored(**changed: object) -> StoredCalibration:
    told = {
        "judge": "lexical",
        "signature": "lexical.v1",
        "temperature": 2.0,
        "bias": (0.0, 0.0, 0.0),
        "abstain_below": 0.6,
        "n": 240,
        "date": datetime.date(2026, 11, 21),
        "figures": FIGURES,
    }
    return StoredCalibration.model_validate({**told, **changed})


class Saying:
    """Says what it was given."""

    signature = "saying"

    def __init__(self, *judgements: Judgement) -> None:
        self.judgements = judgements

    def judge(self, pairs: object) -> Iterator[Judgement]:
        yield from self.judgements


def said(judgement: Judgement, **changed: object) -> Judgement:
    (found,) = CalibratedJudge(Saying(judgement), stored(signature="saying", **changed), "mine").judge([PAIRS[0]])
    return found


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("VERICITE_HOME", str(tmp_path / "home"))
    make_folder(stored_path("mine").parent)
    return tmp_path / "home"


rows = st.lists(st.floats(0, 1, width=32), min_size=3, max_size=3).filter(lambda row: sum(row) > 1e-3)
temperatures = st.floats(0.05, 20)
biases = st.tuples(*[st.floats(-5, 5)] * 3)


@given(rows, temperatures)
def test_a_temperature_alone_keeps_the_likeliest_label(row: list[float], temperature: float):
    before = (np.array(row) / sum(row)).astype(np.float32)
    after = said(Judgement(before), temperature=temperature).probabilities
    assert after[before.argmax()] == after.max()


@given(rows, temperatures, biases)
def test_probabilities_stay_probabilities(row: list[float], temperature: float, bias: tuple[float, float, float]):
    before = (np.array(row) / sum(row)).astype(np.float32)
    after = said(Judgement(before), temperature=temperature, bias=bias).probabilities
    assert after.dtype == np.float32
    assert float(after.sum()) == pytest.approx(1, abs=1e-5)
    assert ((after >= 0) & (after <= 1)).all()


@given(rows)
def test_temperature_1_without_bias_changes_nothing(row: list[float]):
    before = (np.array(row) / sum(row)).astype(np.float32)
    assert said(Judgement(before), temperature=1.0).probabilities == pytest.approx(before, abs=1e-6)


def test_the_arithmetic_is_as_documented():
    before, bias = np.array([0.6, 0.1, 0.3], dtype=np.float32), (0.5, -0.25, -0.25)
    expected = before.astype(np.float64) ** (1 / 1.7) * np.exp(bias)
    found = said(Judgement(before), temperature=1.7, bias=bias).probabilities
    assert found == pytest.approx(expected / expected.sum(), abs=1e-6)


def test_failures_labels_and_nonsense_pass_as_they_are():
    failed = Judgement.failed("no luck", "raw")
    assert said(failed) is failed
    certain = Judgement.certain(1, "Contradictory")
    assert said(certain) is certain
    for nonsense in (np.full(3, np.nan, dtype=np.float32), np.zeros(2, dtype=np.float32), None):
        assert said(Judgement(nonsense)).probabilities is nonsense  # pyright: ignore[reportArgumentType]


def test_notes_stay_and_a_native_label_goes_where_the_verdict_does():
    before = Judgement(np.array([0.5, 0.1, 0.4], dtype=np.float32), note="cut", native="1")
    assert said(before)[2:4] == ("cut", "1")
    assert said(before, bias=(-2.0, 0.0, 2.0))[2:4] == ("cut", None)


def test_it_reads_as_much_and_as_fast_as_the_judge_under_it():
    base = BundledJudge()
    judge = CalibratedJudge(base, stored(signature=base.signature), "mine")
    # Its probabilities are others, so the precisions measured for the judge under it do not hold.
    assert traits_of(judge) == replace(traits_of(base), precisions={})
    assert traits_of(base).precisions and traits_of(judge).capacity == base.capacity
    assert traits_of(CalibratedJudge(LexicalJudge(), stored(), "mine")) == JudgeTraits()

    class Everything(Saying):
        pairs_at_once, reads_question, ledger = 7, True, "dear"

    full = CalibratedJudge(Everything(), stored(signature="saying"), "mine")
    assert traits_of(full) == JudgeTraits(pairs_at_once=7, reads_question=True)
    assert full.ledger == "dear"


def test_a_judge_that_only_says_labels_is_refused():
    class Ungraded(Saying):
        graded = False

    with pytest.raises(InputError, match="only returns labels"):
        CalibratedJudge(Ungraded(), stored(), "mine")


def test_the_signature_is_the_bases_and_what_was_fitted():
    names = {
        CalibratedJudge(LexicalJudge(), stored(**changed), "mine").signature
        for changed in ({}, {"temperature": 2.5}, {"abstain_below": 0.5}, {"bias": (0.1, 0.0, -0.1)}, {"n": 99})
    }
    # How many pairs there were changes no verdict.
    assert len(names) == 4
    assert all(name.startswith("lexical.v1(calibrated=mine@") and len(name) == 36 for name in names)


@given(
    temperatures,
    biases,
    st.floats(0, 1),
    st.integers(1, 10**6),
    st.dates(),
    st.text(min_size=1, max_size=40).filter(lambda name: name.isprintable()),
)
def test_a_file_comes_back_as_it_was(tmp_path_factory, temperature, bias, bar, n, day, judge):
    path = tmp_path_factory.mktemp("own") / "mine.json"
    before = stored(temperature=temperature, bias=bias, abstain_below=bar, n=n, date=day, judge=judge)
    write_fitted(before, path)
    assert read_stored(path) == before
    assert json.loads(path.read_text(encoding="utf-8"))["schema"] == "vericite.calibrated-judge.v1"


def test_the_folder_is_its_owners_alone_and_a_file_is_written_whole(own: Path):
    path = stored_path("mine")
    write_fitted(stored(), path)
    write_fitted(stored(n=300), path)
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert [file.name for file in path.parent.iterdir()] == ["mine.json"]
    assert read_stored(path).n == 300


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "calibrate"),
        ("[]", "calibrate"),
        (b"\x80\x04K\x01.", "calibrate"),
        (stored().model_dump_json(by_alias=True).replace(".v1", ".v9"), "schema"),
        (stored().model_dump_json(by_alias=True).replace('"temperature":2.0', '"temperature":0'), "temperature"),
        (stored().model_dump_json(by_alias=True).replace('"temperature":2.0', '"temperature":NaN'), "calibrate"),
        (stored().model_dump_json(by_alias=True).replace('"n":240', '"n":240,"code":"x"'), "code"),
    ],
)
def test_a_file_of_another_kind_is_refused(tmp_path: Path, text: str | bytes, told: str):
    path = tmp_path / "mine.json"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(InputError, match=told):
        read_stored(path)


def test_it_is_found_by_name_and_by_file(own: Path):
    write_fitted(stored(), stored_path("mine"))
    named, by_file = load_judge("mine"), load_judge(f"calibrated:{stored_path('mine')}")
    assert named.signature == by_file.signature
    for before, after in zip(LexicalJudge().judge(PAIRS), named.judge(PAIRS), strict=True):
        assert after.probabilities.argmax() == before.probabilities.argmax()
        assert after.probabilities.max() <= before.probabilities.max() + 1e-6
    assert stored_names() == ("mine",)
    with pytest.raises(UnknownNameError, match="mine"):
        load_judge("mime")
    with pytest.raises(UnknownNameError):
        load_judge("mine:more")
    with pytest.raises(InputError, match="expected a calibrated judge's file"):
        load_judge("calibrated:/nowhere/at/all.json")


def test_it_is_no_part_of_a_mean(own: Path):
    """It would be calibrated twice, or reach itself."""
    write_fitted(stored(judge="mean:mine+lexical"), stored_path("mine"))
    with pytest.raises(InputError, match="expected uncalibrated judges"):
        load_judge("mean:mine+lexical")
    with pytest.raises(InputError, match="expected uncalibrated judges"):
        load_judge("mine")


def test_what_is_calibrated_again_is_read_again(own: Path):
    write_fitted(stored(), stored_path("mine"))
    before = load_judge("mine").signature
    write_fitted(stored(temperature=3.0), stored_path("mine"))
    assert load_judge("mine").signature != before


def test_ours_cannot_be_replaced_by_a_file_of_their_name(own: Path):
    write_fitted(stored(), stored_path("bundled"))
    assert isinstance(load_judge("bundled"), BundledJudge)
    assert default_threshold("bundled") == 0


def test_a_circle_of_calibrated_judges_is_refused(own: Path):
    write_fitted(stored(judge="mine"), stored_path("mine"))
    with pytest.raises(InputError, match="not calibrated itself"):
        load_judge("mine")


def test_a_judge_that_has_changed_since_is_warned_of(own: Path):
    write_fitted(stored(signature="lexical.v0"), stored_path("mine"))
    with pytest.warns(StaleCalibrationWarning, match=r"lexical.v0.*found lexical.v1. Calibrate again"):
        load_judge("mine")
    write_fitted(stored(), stored_path("mine"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        load_judge("mine")


def test_its_threshold_is_the_default(own: Path):
    write_fitted(stored(abstain_below=1.0), stored_path("mine"))

    def abstained(**asked: object) -> bool:
        source = {"id": "a", "text": "Aspirin lowers fever in some adults."}
        return vericite.check("Aspirin lowers fever [1].", [source], **asked).verdicts[0].abstained  # pyright: ignore

    assert abstained(judge="mine")
    assert abstained(judge=load_judge("mine"))
    assert not abstained(judge="lexical")
    assert not abstained(judge="mine", protocol=Protocol(abstain_below=0.1))
    # Within a protocol it is the protocol that says.
    assert not abstained(protocol=Protocol(judge="mine"))


@pytest.mark.parametrize("name", ["", "Mine", "a" * 41, "../mine", "mine.json", "mine\n", "ünser"])
def test_names_are_plain(name: str):
    with pytest.raises(InputError, match="1 to 40"):
        stored_path(name)


def test_the_folder_is_the_users_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("VERICITE_HOME", raising=False)
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    assert home() == Path.home() / ".config" / "vericite"
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert home() == tmp_path / "vericite"
    monkeypatch.setenv("VERICITE_HOME", str(tmp_path / "own"))
    assert home() == tmp_path / "own"
    assert stored_names() == ()
