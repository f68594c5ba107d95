"""Judges that write their label learn it by LoRA, and stay judges of the same kind. Needs [train]."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parents[1] / "experiment"))

from trained_data import MINERALS, tiny_writer

from vericite.errors import InputError
from vericite.models.contracts import COLUMNS, ENTAILS, NEUTRAL, Pair

pytestmark = [
    pytest.mark.hf,
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]

pytest.importorskip("torch")
pytest.importorskip("peft")


def pairs(count: int) -> list[object]:
    from vericite.lab.train.texts import LabelledTexts

    return [
        LabelledTexts(
            f"{MINERALS[number % 10]} cures anaemia",
            f"{MINERALS[(number + number % 2) % 10]} cures anaemia",
            COLUMNS[NEUTRAL if number % 2 else ENTAILS],
            f"{number}",
        )
        for number in range(count)
    ]


def test_a_t5_learns_to_write_its_label(tmp_path: Path):
    from vericite.lab.train.configs import LoraConfig
    from vericite.lab.train.writing_judges import WritingRun, train_writing_judge
    from vericite.verify.judges.registry import load_judge

    base = tiny_writer(tmp_path / "base")
    asked = [Pair("zinc cures anaemia", "zinc cures anaemia")]
    assert next(iter(load_judge(f"hf-seq2seq:{base}").judge(asked))).failure is not None  # it writes anything
    config = LoraConfig(
        rank=8, alpha=64, batch=4, at_once=4, epochs=30, learning_rate=0.05, patience=30, threads=1,
        checkpoint_steps=999, targets=("q", "v", "o", "wi", "wo"),
    )  # fmt: skip
    only = [pair for pair in pairs(20) if pair.label == COLUMNS[ENTAILS]]  # pyright: ignore[reportAttributeAccessIssue]
    run = WritingRun(f"hf-seq2seq:{base}", only, only[:2], tmp_path / "out")  # pyright: ignore[reportArgumentType]
    facts = train_writing_judge(run, config, lambda _step, _loss: None)
    assert facts["dev_loss"] < 0.5
    trained = load_judge(f"hf-seq2seq:{tmp_path / 'out'}")
    (judgement,) = trained.judge(asked)
    assert judgement.failure is None and judgement.native == "1"


def test_other_judges_are_refused(tmp_path: Path):
    from vericite.lab.train.configs import LoraConfig
    from vericite.lab.train.writing_judges import WritingRun, train_writing_judge

    with pytest.raises(InputError, match="expected a judge that writes its label"):
        train_writing_judge(WritingRun("bundled", [], [], tmp_path), LoraConfig(), lambda _step, _loss: None)
