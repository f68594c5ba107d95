"""VeriCite answers biomedical questions with a citation on every sentence, and checks every citation.

    import vericite as vc

    checked = vc.check("Aspirin prevents strokes [1].", ["Aspirin prevents strokes."])
    checked.support_rate.value  # 1.0

Names load when they are first used, so that importing the package costs next to nothing.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

from vericite.version import __version__

# Otherwise ONNX Runtime gives this machine a number and notes what is run, to tell its maker.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")

if TYPE_CHECKING:
    from vericite.api import (
        agree,
        ask,
        assert_supported,
        attribute,
        build,
        build_corpus,
        calibrate,
        compare,
        convert,
        evidence,
        extract_prompts,
        open_corpus,
        rankings,
        read_answers,
        read_dataset,
        read_questions,
        repair,
        report,
        score,
        search,
        write_answers,
    )
    from vericite.attribution.attributor import Attribution
    from vericite.corpus.store import Filters, Store
    from vericite.errors import InputError, MissingExtraError, VeriCiteError
    from vericite.evaluate.scoring import Figure
    from vericite.evaluate.significance import Comparison
    from vericite.models.contracts import Judge, Judgement, Pair
    from vericite.pipeline.ask import Pipeline
    from vericite.pipeline.check import acheck, check, check_many, judge
    from vericite.pipeline.manuscript import ManuscriptCheck, check_document
    from vericite.pipeline.plan import Plan
    from vericite.pipeline.search import FoundEvidence
    from vericite.pipeline.stream import CheckStream, SentenceResult
    from vericite.records import (
        Answer,
        AnswerEvidence,
        CheckedAnswer,
        Document,
        Evidence,
        Question,
        Rate,
        Repaired,
        Run,
        Verdict,
        VerificationFailure,
    )
    from vericite.reporting.progress import progress
    from vericite.retrieve.retriever import Retriever
    from vericite.text import parse_answer, split_sentences, split_statements
    from vericite.text.strength import Strength
    from vericite.verify import Protocol, get_protocol

_HOMES = {
    "vericite.api": (
        "agree",
        "ask",
        "assert_supported",
        "attribute",
        "build",
        "build_corpus",
        "calibrate",
        "compare",
        "convert",
        "evidence",
        "extract_prompts",
        "open_corpus",
        "rankings",
        "read_answers",
        "read_dataset",
        "read_questions",
        "repair",
        "report",
        "score",
        "search",
        "write_answers",
    ),
    "vericite.attribution.attributor": ("Attribution",),
    "vericite.corpus.store": (
        "Filters",
        "Store",
    ),
    "vericite.errors": (
        "InputError",
        "MissingExtraError",
        "VeriCiteError",
    ),
    "vericite.evaluate.scoring": ("Figure",),
    "vericite.evaluate.significance": ("Comparison",),
    "vericite.models.contracts": (
        "Judge",
        "Judgement",
        "Pair",
    ),
    "vericite.pipeline.ask": ("Pipeline",),
    "vericite.pipeline.check": (
        "acheck",
        "check",
        "check_many",
        "judge",
    ),
    "vericite.pipeline.manuscript": (
        "ManuscriptCheck",
        "check_document",
    ),
    "vericite.pipeline.plan": ("Plan",),
    "vericite.pipeline.search": ("FoundEvidence",),
    "vericite.pipeline.stream": (
        "CheckStream",
        "SentenceResult",
    ),
    "vericite.records": (
        "Answer",
        "AnswerEvidence",
        "CheckedAnswer",
        "Document",
        "Evidence",
        "Question",
        "Rate",
        "Repaired",
        "Run",
        "Verdict",
        "VerificationFailure",
    ),
    "vericite.reporting.progress": ("progress",),
    "vericite.retrieve.retriever": ("Retriever",),
    "vericite.text": (
        "parse_answer",
        "split_sentences",
        "split_statements",
    ),
    "vericite.text.strength": ("Strength",),
    "vericite.verify": (
        "Protocol",
        "get_protocol",
    ),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "Answer",
    "AnswerEvidence",
    "Attribution",
    "CheckStream",
    "CheckedAnswer",
    "Comparison",
    "Document",
    "Evidence",
    "Figure",
    "Filters",
    "FoundEvidence",
    "InputError",
    "Judge",
    "Judgement",
    "ManuscriptCheck",
    "MissingExtraError",
    "Pair",
    "Pipeline",
    "Plan",
    "Protocol",
    "Question",
    "Rate",
    "Repaired",
    "Retriever",
    "Run",
    "SentenceResult",
    "Store",
    "Strength",
    "Verdict",
    "VeriCiteError",
    "VerificationFailure",
    "__version__",
    "acheck",
    "agree",
    "ask",
    "assert_supported",
    "attribute",
    "build",
    "build_corpus",
    "calibrate",
    "check",
    "check_document",
    "check_many",
    "compare",
    "convert",
    "evidence",
    "extract_prompts",
    "get_protocol",
    "judge",
    "open_corpus",
    "parse_answer",
    "progress",
    "rankings",
    "read_answers",
    "read_dataset",
    "read_questions",
    "repair",
    "report",
    "score",
    "search",
    "split_sentences",
    "split_statements",
    "write_answers",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for."""
    if name not in _HOME_OF:
        raise AttributeError(f"module 'vericite' has no attribute {name!r}")
    value = getattr(import_module(_HOME_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
