"""VeriCite answers biomedical questions with a citation on every sentence, and checks every citation.

    import vericite

    checked = vericite.check("Aspirin prevents strokes [1].", [{"id": "a", "text": "Aspirin prevents strokes."}])
    checked.verdicts[0].label  # "supported"

Names load when they are first used, so that importing the package costs next to nothing.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

from vericite.version import __version__

# ONNX Runtime, when it is imported, else gives this machine a number and notes what is run, to tell its maker.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")

if TYPE_CHECKING:
    from vericite.errors import InputError, VeriCiteError
    from vericite.pipeline import Pipeline, ask, check, check_async, check_many, judge
    from vericite.pipeline.plan import Plan
    from vericite.records import (
        Answer,
        CheckedAnswer,
        Document,
        Evidence,
        Question,
        Run,
        Verdict,
        VerificationFailure,
    )
    from vericite.text import parse_answer, split_sentences, split_statements
    from vericite.verify import Protocol, get_protocol

_HOMES = {
    "vericite.errors": ("InputError", "VeriCiteError"),
    "vericite.pipeline.plan": ("Plan",),
    "vericite.pipeline": ("Pipeline", "ask", "check", "check_async", "check_many", "judge"),
    "vericite.records": (
        "Answer",
        "CheckedAnswer",
        "Document",
        "Evidence",
        "Question",
        "Run",
        "Verdict",
        "VerificationFailure",
    ),
    "vericite.text": ("parse_answer", "split_sentences", "split_statements"),
    "vericite.verify": ("Protocol", "get_protocol"),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "Answer",
    "CheckedAnswer",
    "Document",
    "Evidence",
    "InputError",
    "Pipeline",
    "Plan",
    "Protocol",
    "Question",
    "Run",
    "Verdict",
    "VeriCiteError",
    "VerificationFailure",
    "__version__",
    "ask",
    "check",
    "check_async",
    "check_many",
    "get_protocol",
    "judge",
    "parse_answer",
    "split_sentences",
    "split_statements",
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
