"""Answers, verdicts and comparisons as notebooks show them, with the colours of reports.

Jupyter's themes are attributes of the page, and VS Code's are classes; elsewhere the browser's preference decides.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

from markupsafe import Markup

from vericite.evaluate.significance import Comparison, shown_p
from vericite.records import Answer, CheckedAnswer, Document, Repaired, Run, Verdict
from vericite.records.results import summary_in_words
from vericite.reporting.findings import RULES, Finding, RecordPlace, finding_of_verdict, findings_of
from vericite.reporting.page import page_part, template

_ROWS, _LONGEST = 200, 1_000
"""Maximum rows of a table, and maximum characters of a text in it."""
_SAME_COLOUR = {"retracted": "contradicted", "figure": "supported", "opposed": "supported"}


def html_of(value: object) -> str:
    """Return the HTML of an answer, a checked answer, a verdict, a run, a repair or a comparison.

    Raises:
        TypeError: It is another object.
    """
    match value:
        case Answer():
            return _rendered(title=value.question, paragraphs=_paragraphs(value), sources=_sources(value.documents))
        case CheckedAnswer():
            return _rendered(**_verdicts(value))
        case Verdict():
            return _rendered(findings=_rows([finding_of_verdict(value)]))
        case Run() | Repaired():
            return _rendered(**_answered(value.answer, value.checked))
        case Comparison():
            return _rendered(**_compared(value))
        case _:
            raise TypeError(f"expected an answer, verdicts or a comparison; found {type(value).__name__}")


def _answered(answer: Answer, checked: CheckedAnswer) -> dict[str, Any]:
    paragraphs = [f"No answer: {answer.failed}"] if answer.failed else _paragraphs(answer)
    return {
        "title": answer.question,
        "paragraphs": paragraphs,
        "sources": _sources(answer.documents),
        **_verdicts(checked),
    }


def _verdicts(checked: CheckedAnswer) -> dict[str, Any]:
    findings = list(findings_of(checked, RecordPlace()))
    more = f"... and {len(findings) - _ROWS} more" if len(findings) > _ROWS else ""
    return {"summary": summary_in_words(checked.summary), "findings": _rows(findings[:_ROWS]), "more": more}


def _rows(findings: Iterable[Finding]) -> list[dict[str, Any]]:
    return [
        {
            # Of what is supported, the reason says what to look at.
            "kind": "supported" if _SAME_COLOUR.get(finding.kind) == "supported" else finding.kind,
            "colour": _SAME_COLOUR.get(finding.kind, finding.kind),
            "cites": finding.cites,
            "probability": finding.probability,
            "sentence": _cut(finding.sentence),
            "reason": _cut(finding.reason),
            "evidence": [(document, _cut(text)) for document, text in finding.evidence if text],
            "level": finding.level,
        }
        for finding in findings
    ]


def _paragraphs(answer: Answer) -> list[str]:
    return [_cut(part.strip(), 20 * _LONGEST) for part in re.split(r"\n\s*\n", answer.text) if part.strip()]


def _sources(documents: Sequence[Document]) -> list[str]:
    return [_cut(": ".join(filter(None, (document.id, document.title or document.text)))) for document in documents]


def _compared(found: Comparison) -> dict[str, Any]:
    scale = found.phrase.scale

    def shown(value: float | None) -> str:
        return "-" if value is None else f"{value * scale:.{found.phrase.decimals}f}"

    difference = found.difference
    interval = "-" if difference.low is None else f"[{shown(difference.low)}, {shown(difference.high)}]"
    rows = [
        ("", found.phrase.measure),
        (found.first, shown(found.values[0])),
        (found.second, shown(found.values[1])),
        ("difference", shown(difference.value)),
        ("95 % interval", interval),
        ("test", "-" if found.p is None else shown_p(found.p)),
        ("n", str(difference.n)),
    ]
    return {"paragraphs": [found.sentence], "figures": rows}


def _cut(text: str, longest: int = _LONGEST) -> str:
    return text if len(text) <= longest else f"{text[:longest]} ..."


def _rendered(**values: Any) -> str:
    blank = {"title": "", "paragraphs": (), "summary": "", "findings": (), "more": "", "figures": ()}
    html = template("notebook.html.j2").render({**blank, "sources": (), **values}, css=Markup(_css()))
    return re.sub(r"\n\s*", "\n", html)


@lru_cache
def _css() -> str:
    """Return the style, in which everything is below ``.vericite``: it must not change the notebook's own."""
    tokens = re.search(r":root \{[^}]*\}", page_part("components.css"))
    assert tokens is not None
    kinds = "".join(f".vericite .{kind} {{ --k: var(--{kind}, var(--undecided)); }}" for kind in _KINDS)
    return (
        tokens[0].replace(":root", ".vericite")
        + "[data-jp-theme-light=true] .vericite, .vscode-light .vericite { color-scheme: light; }"
        + "[data-jp-theme-light=false] .vericite, .vscode-dark .vericite { color-scheme: dark; }"
        + kinds
        + page_part("notebook.css")
    )


_KINDS = ("supported", "quoted", *(kind for kind in RULES if kind not in _SAME_COLOUR))
