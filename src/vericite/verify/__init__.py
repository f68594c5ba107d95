"""Judge citations: a protocol is a claim plan, a premise plan, a judge and an aggregator."""

from vericite.models.contracts import Judge, Judgement
from vericite.verify.aggregators import (
    CATEGORIES,
    Aggregator,
    AnyEntails,
    Faithfulness,
    LeaveOneOut,
    NuggetRule,
    Outcome,
    TwoViews,
)
from vericite.verify.claims import AtomicStatements, ClaimPlan, WholeSentence, WholeThenStatements
from vericite.verify.judges.bundled import BundledJudge, LexicalJudge
from vericite.verify.judges.registry import load_judge
from vericite.verify.premises import (
    Assembly,
    Case,
    Context,
    Joint,
    MostSimilar,
    Nuggets,
    Premise,
    PremisePlan,
    Role,
    Sources,
    WholeDocument,
    Windows,
)
from vericite.verify.protocol import DEFAULT, PRESETS, Protocol, get_protocol, protocol_names
from vericite.verify.sheet import Sheet
from vericite.verify.verifier import Verifier

__all__ = [
    "CATEGORIES",
    "DEFAULT",
    "PRESETS",
    "Aggregator",
    "AnyEntails",
    "Assembly",
    "AtomicStatements",
    "BundledJudge",
    "Case",
    "ClaimPlan",
    "Context",
    "Faithfulness",
    "Joint",
    "Judge",
    "Judgement",
    "LeaveOneOut",
    "LexicalJudge",
    "MostSimilar",
    "NuggetRule",
    "Nuggets",
    "Outcome",
    "Premise",
    "PremisePlan",
    "Protocol",
    "Role",
    "Sheet",
    "Sources",
    "TwoViews",
    "Verifier",
    "WholeDocument",
    "WholeSentence",
    "WholeThenStatements",
    "Windows",
    "get_protocol",
    "load_judge",
    "protocol_names",
]
