"""The frozen values that flow through VeriCite: question, evidence, answer, verdicts, run."""

from vericite.records.answer import Answer, Citation, Claim, Spent, Trimmed
from vericite.records.base import SCHEMA_VERSION, Floats, Names, Record, Span, storable
from vericite.records.change import Change, RepairAction
from vericite.records.document import Document, Section, Sentence, SourceText
from vericite.records.jsonl import (
    first_problem,
    number_jsonl,
    number_lines,
    parse_record,
    read_jsonl,
    to_json,
    write_jsonl,
)
from vericite.records.question import Evidence, Question, QuestionType, Rewriting
from vericite.records.rationale import Rationale, RationaleStep
from vericite.records.repair import Repaired
from vericite.records.run import (
    CheckedAnswer,
    CheckedRationale,
    Provenance,
    Run,
    Summary,
    UncitedClaim,
)
from vericite.records.verdict import EvidenceSpan, Label, StatementVerdict, Verdict, VerificationFailure

__all__ = [
    "SCHEMA_VERSION",
    "Answer",
    "Change",
    "CheckedAnswer",
    "CheckedRationale",
    "Citation",
    "Claim",
    "Document",
    "Evidence",
    "EvidenceSpan",
    "Floats",
    "Label",
    "Names",
    "Provenance",
    "Question",
    "QuestionType",
    "Rationale",
    "RationaleStep",
    "Record",
    "RepairAction",
    "Repaired",
    "Rewriting",
    "Run",
    "Section",
    "Sentence",
    "SourceText",
    "Span",
    "Spent",
    "StatementVerdict",
    "Summary",
    "Trimmed",
    "UncitedClaim",
    "Verdict",
    "VerificationFailure",
    "first_problem",
    "number_jsonl",
    "number_lines",
    "parse_record",
    "read_jsonl",
    "storable",
    "to_json",
    "write_jsonl",
]
