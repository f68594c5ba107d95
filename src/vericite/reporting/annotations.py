"""Findings as workflow commands of GitHub Actions, which it shows as annotations of the lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from uuid import uuid4

from vericite.reporting.findings import Finding, UnusableRecord

_MOST = 10
"""Annotations of a level that GitHub shows for a step."""
_COMMANDS = {"error": "error", "warning": "warning", "note": "notice"}


class Annotations:
    """Keeps the first findings of each level until the end of the run.

    Args:
        file: The file, as GitHub knows it; empty for the standard input.
    """

    def __init__(self, file: str) -> None:
        self._file = file
        self._kept: dict[str, list[str]] = {level: [] for level in _COMMANDS}
        self._counts: Counter[str] = Counter()
        self._token = uuid4().hex

    @property
    def begin(self) -> str:
        """The line after which GitHub takes no printed text for a command: texts of answers are printed, too."""
        return f"::stop-commands::{self._token}"

    def add(self, findings: Iterable[Finding]) -> None:
        """Add findings. Those that were as bad in the baseline are left out."""
        for finding in findings:
            if finding.level != "none" and not finding.is_known:
                message = f"{finding.message}\nAnswer: {finding.answer}"
                self._add(finding.level, self._file, finding.line, finding.kind, message)

    def end(
        self, failures: Iterable[str], unusable: Iterable[UnusableRecord], notices: Iterable[str] = ()
    ) -> Iterator[str]:
        """Yield the commands: the worst findings first, after the gates that failed.

        Args:
            failures: Sentences about gates that did not hold.
            unusable: The records that could not be used.
            notices: Sentences about the run that are no findings.
        """
        yield f"::{self._token}::"
        for sentence in failures:
            yield _command("error", {"title": "vericite check"}, sentence)
        for record in unusable:
            self._add("error", record.file, record.line, "unusable record", record.problem)
        for level, lines in self._kept.items():
            yield from lines
            if (more := self._counts[level] - len(lines)) > 0:
                yield _command("notice", {"title": "vericite check"}, f"{more} more findings of level {level}")
        for sentence in notices:
            yield _command("notice", {"title": "vericite check"}, sentence)

    def _add(self, level: str, file: str, line: int, title: str, message: str) -> None:
        self._counts[level] += 1
        if len(self._kept[level]) < _MOST:
            place = {"file": file, "line": str(line) if line and file else "", "title": title}
            self._kept[level].append(_command(_COMMANDS[level], place, message))


def _command(name: str, properties: dict[str, str], message: str) -> str:
    shown = ",".join(f"{key}={_property(value)}" for key, value in properties.items() if value)
    return f"::{name} {shown}::{_data(message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
