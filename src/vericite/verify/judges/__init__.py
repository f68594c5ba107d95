"""The judges there are."""

from vericite.verify.judges.bundled import BundledJudge
from vericite.verify.judges.lexical import LexicalJudge
from vericite.verify.judges.registry import (
    JUDGES,
    JudgeKind,
    calibrated_file,
    is_kept,
    judge_names,
    load_judge,
    own_names,
    plugins,
    usual_bar,
)

__all__ = [
    "JUDGES",
    "BundledJudge",
    "JudgeKind",
    "LexicalJudge",
    "calibrated_file",
    "is_kept",
    "judge_names",
    "load_judge",
    "own_names",
    "plugins",
    "usual_bar",
]
