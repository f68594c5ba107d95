"""Outputs of ``check`` for build servers: JUnit XML, SARIF, and annotations of GitHub Actions."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from vericite.cli.exits import ExitCode
from vericite.cli.io import Output, output, say, with_address
from vericite.cli.refusals import prepare_output, refuse_same
from vericite.records import STDIN

if TYPE_CHECKING:
    from vericite.errors import RecordError
    from vericite.evaluate.baseline import Baseline, BaselineResult
    from vericite.evaluate.gates import GateResult
    from vericite.pipeline.manuscript import ManuscriptCheck
    from vericite.records import Answer, CheckedAnswer
    from vericite.reporting.annotations import Annotations
    from vericite.reporting.findings import Finding, UnusableRecord


@dataclass(frozen=True)
class CIOptions:
    """The options of ``check`` for build servers.

    Attributes:
        junit: File for JUnit XML.
        sarif: File for SARIF.
        github: Whether to print annotations of GitHub Actions.
        is_json: Whether standard output must only have JSON.
    """

    junit: Path | None = None
    sarif: Path | None = None
    github: bool = False
    is_json: bool = False

    def refuse(self, *read: Path | None) -> None:
        """Refuse files that cannot be written, or that are read.

        Raises:
            InputError: There is such a file.
        """
        for path, option in ((self.junit, "--junit"), (self.sarif, "--sarif")):
            prepare_output(path, option)
            refuse_same(path, *read, what=option)


class CIReports:
    """Writes the findings of each answer to the requested files while answers are checked.

    Args:
        options: What is requested.
        file: The file of answers, as the user named it.
        is_text: Whether the file is one text, so that offsets in the answer are offsets in the file.
        baseline: The verdicts of an earlier run. Findings that it has, too, are no failures.
    """

    def __init__(self, options: CIOptions, file: Path, is_text: bool, baseline: Baseline | None = None) -> None:
        self._options, self._is_text, self._baseline = options, is_text, baseline
        self._file = file
        self._lines: deque[int] = deque()
        self._stack = ExitStack()
        self._is_requested = bool(options.junit or options.sarif or options.github)
        self._annotations: Annotations | None = None
        self._ending: Iterable[str] = ()

    def __enter__(self) -> Self:
        """Open the requested files."""
        if self._is_requested:
            self._begin()
        return self

    def _begin(self) -> None:
        from vericite.reporting.annotations import Annotations
        from vericite.reporting.junit import HEAD
        from vericite.reporting.sarif import Sarif

        self._name = _name_of(str(self._file))
        self._sarif = Sarif(self._name, self._baseline is not None)
        self._files = {
            "junit": self._stack.enter_context(output(self._options.junit, what="--junit")),
            "sarif": self._stack.enter_context(output(self._options.sarif, what="--sarif")),
        }
        self._write("junit", HEAD)
        self._write("sarif", self._sarif.head)
        if self._options.github:
            self._annotations = Annotations(self._name)
            self._print(self._annotations.begin)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the files, and print the annotations after everything else."""
        try:
            self._stack.__exit__(kind, error, trace)
        finally:
            if self._annotations is not None:
                for line in self._ending or self._annotations.end((), ()):
                    self._print(line)

    def on_line(self, line: int) -> None:
        """Keep the line of the next answer."""
        self._lines.append(line)

    def add(self, answer: Answer, checked: CheckedAnswer) -> None:
        """Add a checked answer; answers are added in the order of ``on_line``."""
        line = self._lines.popleft()
        if self._baseline is not None:
            self._baseline.add(checked, self._file, line)
        if self._is_requested:
            self._add(checked.id, self._findings(checked, line, answer.text if self._is_text else ""))

    def add_manuscript(self, check: ManuscriptCheck, file: Path) -> None:
        """Add a checked manuscript. Sentences of formats with lines get theirs."""
        from dataclasses import replace

        from vericite.reporting.findings import SourceLines

        if self._baseline is not None:
            self._baseline.add(check.gated, file, 0)
        if not self._is_requested:
            return
        findings = self._findings(check.checked)
        if file.suffix.lower() in _WITH_LINES:
            lines = SourceLines(file.read_text(encoding="utf-8", errors="replace"))
            found = [lines.line_of(finding.sentence) for finding in findings]
            findings = [replace(finding, line=at, end_line=at) for finding, at in zip(findings, found, strict=True)]
        self._add(check.checked.id, findings)

    def end(
        self,
        results: Sequence[GateResult],
        compared: BaselineResult | None,
        problems: Sequence[RecordError],
        code: ExitCode,
    ) -> None:
        """Write the ends of the files. Annotations follow when the command has printed everything else."""
        if not self._is_requested:
            return
        from vericite.reporting.junit import END, baseline_suite, gate_suite, record_suite

        notices: list[str] = []
        failures = [result.sentence for result in results if result.outcome != "passed"]
        if compared is not None:
            # Also where a record could not be used, which decides the exit code.
            failed = not results and compared.is_worse
            failures += [compared.failure] if failed else []
            notices += filter(None, [compared.uncompared])
            said = [compared.failure] if failed else []
            self._write("junit", baseline_suite(failed, "\n".join([*said, compared.sentence, *compared.lines()])))
        self._write("junit", gate_suite(results) if results else "")
        unusable = _unusable(problems)
        self._write("junit", record_suite(unusable) if unusable else "")
        self._write("junit", END)
        self._write("sarif", self._sarif.end(results, compared, unusable, int(code)))
        self._stack.close()
        if self._annotations is not None:
            self._ending = list(self._annotations.end(failures, unusable, notices))

    def _findings(self, checked: CheckedAnswer, line: int = 0, text: str = "") -> list[Finding]:
        from vericite.reporting.findings import RecordPlace, findings_of

        is_known = None if self._baseline is None else self._baseline.is_known
        return list(findings_of(checked, RecordPlace(line, text), is_known))

    def _add(self, answer: str, findings: list[Finding]) -> None:
        from vericite.reporting.junit import suite_of

        if self._options.junit is not None:
            self._write("junit", suite_of(answer, findings, self._name))
        if self._options.sarif is not None:
            self._write("sarif", self._sarif.results(findings))
        if self._annotations is not None:
            self._annotations.add(findings)

    def _write(self, name: str, text: str) -> None:
        file: Output | None = self._files[name]
        if file is not None and text:
            file.write([text])

    def _print(self, line: str) -> None:
        say(line, err=self._options.is_json)


_WITH_LINES = frozenset({".md", ".markdown", ".tex", ".html", ".htm", ".txt"})


def _unusable(problems: Sequence[RecordError]) -> list[UnusableRecord]:
    from vericite.reporting.findings import UnusableRecord

    names = {path: _name_of(path) for path in {found.path for found in problems}}
    return [
        UnusableRecord(
            names[found.path], found.line, f"field {found.field}: {found.problem}" if found.field else found.problem
        )
        for found in problems
    ]


def _name_of(file: str) -> str:
    """Return a file's path in its repository, with slashes; else relative to the working folder, or absolute.

    An object in a bucket keeps its address. The standard input has no name.
    """
    from vericite.datasets.registry import is_named
    from vericite.disk.bucket import bucket_address

    if file in (str(STDIN), "<stdin>"):
        return ""
    if address := bucket_address(with_address(file)):
        return address
    path = Path(file.partition(":")[2] if is_named(file) else file).absolute()
    roots = [parent for parent in path.parents if (parent / ".git").exists()]
    for root in [*roots[:1], Path.cwd()]:
        if path.is_relative_to(root):
            return path.relative_to(root).as_posix()
    return path.as_posix()
