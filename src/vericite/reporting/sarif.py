"""Findings in SARIF 2.1.0, which code hosts and editors show next to the lines. It is written while findings are made.

``https://docs.oasis-open.org/sarif/sarif/v2.1.0/`` defines the form. A location has a line if the file has lines.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from hashlib import sha256
from typing import Any
from urllib.parse import quote

from vericite.evaluate.baseline import BaselineResult
from vericite.evaluate.gates import GateResult
from vericite.reporting.findings import RULES, Finding, UnusableRecord
from vericite.version import __version__

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_NAMES = list(RULES)


class Sarif:
    """Writes the findings of one file.

    Args:
        file: The name of the file; empty for the standard input.
        has_baseline: Whether findings were compared with a baseline.
    """

    def __init__(self, file: str, has_baseline: bool = False) -> None:
        self._file, self._has_baseline = file, has_baseline
        self._is_first = True

    @property
    def head(self) -> str:
        """The beginning of the file."""
        rules = [
            {
                "id": name,
                "shortDescription": {"text": f"{rule.short}."},
                "fullDescription": {"text": rule.full},
                "defaultConfiguration": {"level": rule.level},
            }
            for name, rule in RULES.items()
        ]
        driver = {"name": "VeriCite", "version": __version__, "rules": rules}
        head = {"$schema": _SCHEMA, "version": "2.1.0"}
        run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints"}
        return f'{_json(head)[:-1]}, "runs": [{_json(run)[:-1]}, "results": ['

    def results(self, findings: Iterable[Finding]) -> str:
        """Return the results of these findings; supported sentences have none."""
        lines: list[str] = []
        for finding in findings:
            if finding.level != "none":
                lines.append(("\n" if self._is_first else ",\n") + _json(self._result(finding)))
                self._is_first = False
        return "".join(lines)

    def end(
        self,
        results: Iterable[GateResult],
        compared: BaselineResult | None,
        unusable: Iterable[UnusableRecord],
        exit_code: int,
    ) -> str:
        """Return the end of the file: how the run ended, its baseline, and the records that could not be used."""
        notices = [
            {
                "level": "error",
                "message": {"text": _text(record.problem)},
                "locations": _places(record.file, record.line),
            }
            for record in unusable
        ]
        invocation: dict[str, Any] = {"executionSuccessful": exit_code < 2, "exitCode": exit_code}
        invocation |= {"toolExecutionNotifications": notices} if notices else {}
        baseline = {} if compared is None else {"baseline": compared.record}
        invocation |= {"properties": {"gates": [result.record for result in results], **baseline}}
        return f'\n], "invocations": [{_json(invocation)}]}}]}}\n'

    def _result(self, finding: Finding) -> dict[str, Any]:
        print_of = "\n".join((finding.kind, finding.answer, finding.sentence, *finding.documents))
        found: dict[str, Any] = {
            "ruleId": finding.kind,
            "ruleIndex": _NAMES.index(finding.kind),
            "level": finding.level,
            "message": {"text": _text(finding.message)},
            "locations": _places(self._file, finding.line, finding.end_line, finding.answer),
            "partialFingerprints": {"vericite/v1": sha256(print_of.encode("utf-8", "replace")).hexdigest()},
            "properties": {
                "answer": finding.answer,
                "sentence": finding.sentence,
                "documents": list(finding.documents),
                "evidence": [{"document": document, "text": text} for document, text in finding.evidence],
            },
        }
        if self._has_baseline:
            found["baselineState"] = "unchanged" if finding.is_known else "new"
        return found


def _places(file: str, line: int, end_line: int = 0, answer: str = "") -> list[dict[str, Any]]:
    place: dict[str, Any] = {}
    if file:
        place["physicalLocation"] = {
            "artifactLocation": {"uri": quote(file, safe="/:")},
            **({"region": {"startLine": line, "endLine": max(line, end_line)}} if line else {}),
        }
    if answer:
        place["logicalLocations"] = [{"name": answer, "kind": "answer"}]
    return [place] if place else []


def _json(value: object) -> str:
    # ASCII only: it can hold every character, and lone surrogates.
    return json.dumps(value)


_LINK = re.compile(r"\](?=\()")


def _text(text: str) -> str:
    """Return a message in which a text from outside is no link (``[text](address)``) and no placeholder (``{0}``)."""
    return _LINK.sub("] ", text).replace("{", "{{").replace("}", "}}")
