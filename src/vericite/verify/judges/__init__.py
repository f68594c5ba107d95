"""The judges there are."""

from vericite.verify.judges.bundled import BundledJudge
from vericite.verify.judges.lexical import LexicalJudge
from vericite.verify.judges.registry import JUDGES, JudgeKind, judge_names, load_judge, plugins

__all__ = ["JUDGES", "BundledJudge", "JudgeKind", "LexicalJudge", "judge_names", "load_judge", "plugins"]
