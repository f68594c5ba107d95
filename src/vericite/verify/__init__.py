"""Judging citations: a protocol is a claim plan, a premise plan, a judge and an aggregator."""

from vericite.verify.aggregate import Aggregator, AnyEntails, LeaveOneOut, Outcome
from vericite.verify.assembly import Assembly
from vericite.verify.claims import AtomicStatements, ClaimPlan, WholeSentence, WholeThenStatements
from vericite.verify.faithful import CATEGORIES, Faithful
from vericite.verify.judges import BundledJudge, LexicalJudge, load_judge
from vericite.verify.judging import Judge, Judgement
from vericite.verify.premises import (
    Case,
    Context,
    Joint,
    MostSimilar,
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
from vericite.verify.views import TwoViews

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
    "Faithful",
    "Joint",
    "Judge",
    "Judgement",
    "LeaveOneOut",
    "LexicalJudge",
    "MostSimilar",
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
