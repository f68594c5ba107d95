"""Findings as JUnit XML, which build servers show as tests: a suite for each answer, a test for each citation.

The form is that of ``junit-10.xsd`` of Jenkins, which others read, too. It has no line numbers for tests, so the
message of a failure begins with the file and the line. A suite is written when its answer is done: memory stays flat.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from lxml import etree

from vericite.evaluate.gates import GateResult
from vericite.reporting.blocks import NOT_XML
from vericite.reporting.findings import Finding, UnusableRecord

HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="vericite">\n'
END = "</testsuites>\n"

_Outcome = Literal["passed", "failure", "error", "skipped"]
_Test = tuple[str, _Outcome, str, str]  # name, outcome, type, message


def suite_of(answer: str, findings: Sequence[Finding], file: str) -> str:
    """Return the suite of an answer. Sentences without a verdict or a citation are skipped, as known ones are."""
    tests = [_test(finding, file) for finding in findings]
    line = next((finding.line for finding in findings if finding.line), 0)
    return _suite(answer, tests, file, {"line": str(line)} if line else {})


def gate_suite(results: Iterable[GateResult]) -> str:
    """Return the suite of the gates."""
    outcomes: dict[str, _Outcome] = {"passed": "passed", "failed": "failure", "undecided": "error"}
    return _suite(
        "gates",
        [(result.gate.option, outcomes[result.outcome], "gate", result.sentence) for result in results],
    )


def record_suite(unusable: Iterable[UnusableRecord]) -> str:
    """Return the suite of the records that could not be used."""
    return _suite(
        "unusable records",
        [(record.place, "error", "record", f"{record.place}: {record.problem}") for record in unusable],
    )


def baseline_suite(is_worse: bool, message: str) -> str:
    """Return the suite of the comparison with a baseline."""
    return _suite("baseline", [("--baseline", "failure" if is_worse else "passed", "baseline", message)])


def _test(finding: Finding, file: str) -> _Test:
    name = f"{finding.sentence}{f' {finding.cites}' if finding.cites else ''}"
    where = f"{file}:{finding.line}: " if finding.line else ""
    if finding.level == "none":
        return name, "passed", "", ""
    if finding.is_known:
        return name, "skipped", finding.kind, f"{where}as in the baseline: {finding.message}"
    outcome: _Outcome = "failure" if finding.level in ("error", "warning") else "skipped"
    return name, "error" if finding.kind == "failed" else outcome, finding.kind, f"{where}{finding.message}"


def _suite(name: str, tests: Sequence[_Test], file: str = "", properties: dict[str, str] | None = None) -> str:
    counts = {outcome: sum(test[1] == outcome for test in tests) for outcome in ("failure", "error", "skipped")}
    values = {"name": _xml(name), "tests": str(len(tests)), "failures": str(counts["failure"])}
    values |= {"errors": str(counts["error"]), "skipped": str(counts["skipped"])}
    suite = etree.Element("testsuite", values | ({"file": _xml(file)} if file else {}))
    if properties:
        listed = etree.SubElement(suite, "properties")
        for key, value in properties.items():
            etree.SubElement(listed, "property", name=key, value=value)
    for title, outcome, kind, message in tests:
        test = etree.SubElement(suite, "testcase", classname=_xml(name), name=_xml(title))
        if outcome != "passed":
            shown = etree.SubElement(test, outcome, type=kind, message=_xml(message.split("\n", 1)[0]))
            shown.text = _xml(message)
    etree.indent(suite, level=1)
    return f"  {etree.tostring(suite, encoding='unicode')}\n"


def _xml(text: str) -> str:
    return NOT_XML.sub("\ufffd", text)
