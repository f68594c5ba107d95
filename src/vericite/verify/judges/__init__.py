"""The judges there are."""

from vericite.verify.judges.bundled import BundledJudge
from vericite.verify.judges.lexical import LexicalJudge
from vericite.verify.judges.registry import JUDGES, JudgeKind, is_kept, judge_names, load_judge, plugins

__all__ = ["JUDGES", "BundledJudge", "JudgeKind", "LexicalJudge", "is_kept", "judge_names", "load_judge", "plugins"]
