"""AlignScore and SummaC, by stand-ins for their packages."""

from __future__ import annotations

import re
import sys
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import pytest

from vericite.errors import InputError
from vericite.models import Pair
from vericite.verify.judges.registry import load_judge

PAIRS = [Pair("Iron lowers fatigue.", "Iron helps."), Pair("Zinc.", "Iron helps."), Pair("", "Iron helps.")]


class Scorer:
    """Its first argument says which scores it gives."""

    made: ClassVar[list[dict[str, Any]]] = []

    def __init__(self, **choices: Any) -> None:
        self.made.append(choices)

    def score(self, contexts: Any, claims: Any) -> Any:
        found = [0.8 if "fatigue" in text else -0.4 if text else float("nan") for text in contexts]
        return {"scores": found} if "granularity" in self.made[-1] else np.array(found)


@pytest.fixture(autouse=True)
def packages(monkeypatch: pytest.MonkeyPatch) -> None:
    Scorer.made.clear()
    monkeypatch.delenv("VERICITE_OFFLINE", raising=False)
    monkeypatch.setitem(sys.modules, "alignscore", SimpleNamespace(AlignScore=Scorer))
    monkeypatch.setitem(sys.modules, "summac", SimpleNamespace())
    of = {"SummaCZS": Scorer, "SummaCConv": Scorer}
    monkeypatch.setitem(sys.modules, "summac.model_summac", SimpleNamespace(**of))


def test_alignscore_gives_its_score_as_the_probability(tmp_path):
    checkpoint = tmp_path / "AlignScore-base.ckpt"
    checkpoint.touch()
    judge = load_judge(f"alignscore:roberta-base@{checkpoint}")
    first, second, third = judge.judge(PAIRS)
    np.testing.assert_allclose(first.probabilities, [0.8, 0, 0.2], rtol=1e-6)
    np.testing.assert_allclose(second.probabilities, [0, 0, 1])
    assert third.failure == "the score is not a number"
    assert re.fullmatch(r"alignscore:roberta-base@AlignScore-base\.ckpt@[0-9a-f]{16}\(nli_sp\)", judge.signature)
    assert Scorer.made[-1]["model"] == "roberta-base"
    with pytest.raises(InputError, match="Download it"):
        load_judge(f"alignscore:{tmp_path / 'none.ckpt'}")


def test_summacs_zero_shot_score_is_moved_to_a_share():
    first, second, _ = load_judge("summac:zs").judge(PAIRS)
    np.testing.assert_allclose([first.probabilities[0], second.probabilities[0]], [0.9, 0.3], rtol=1e-6)
    first, *_ = load_judge("summac:conv").judge(PAIRS)
    assert first.probabilities[0] == pytest.approx(0.8)
    with pytest.raises(InputError, match="summac:zs or summac:conv"):
        load_judge("summac:best")


def test_a_missing_package_or_a_forbidden_download_is_an_error(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("VERICITE_OFFLINE", "1")
    with pytest.raises(InputError, match="VERICITE_OFFLINE"):
        load_judge("summac:zs")
    monkeypatch.setitem(sys.modules, "summac.model_summac", None)
    monkeypatch.setitem(sys.modules, "alignscore", None)
    for name in ("summac:conv", "alignscore:x.ckpt"):
        with pytest.raises(InputError, match="Install it from"):
            load_judge(name)
