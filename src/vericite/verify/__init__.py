"""Judging citations: a protocol is a claim plan, a premise plan, a judge and an aggregator."""

from vericite.verify.aggregate import Aggregator, AnyEntails, Outcome
from vericite.verify.claims import AtomicStatements, ClaimPlan, WholeSentence
from vericite.verify.judges import JUDGES, BundledJudge, LexicalJudge, load_judge
from vericite.verify.judging import Judge, Judgement
from vericite.verify.premises import (
    Case,
    Context,
    Joint,
    Premise,
    PremisePlan,
    Sources,
    WholeDocument,
    Windows,
)
from vericite.verify.protocol import DEFAULT, PRESETS, Protocol, get_protocol, protocol_names
from vericite.verify.verifier import Verifier

__all__ = [
    "DEFAULT",
    "JUDGES",
    "PRESETS",
    "Aggregator",
    "AnyEntails",
    "AtomicStatements",
    "BundledJudge",
    "Case",
    "ClaimPlan",
    "Context",
    "Joint",
    "Judge",
    "Judgement",
    "LexicalJudge",
    "Outcome",
    "Premise",
    "PremisePlan",
    "Protocol",
    "Sources",
    "Verifier",
    "WholeDocument",
    "WholeSentence",
    "Windows",
    "get_protocol",
    "load_judge",
    "protocol_names",
]
