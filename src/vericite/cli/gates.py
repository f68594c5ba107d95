"""Gates and the baseline of ``check``: what is printed of them, and the exit code."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from vericite.cli.exits import ExitCode
from vericite.cli.io import remark, say
from vericite.errors import Problems

if TYPE_CHECKING:
    from vericite.evaluate.baseline import Baseline, BaselineResult
    from vericite.evaluate.gates import GateResult
    from vericite.records import Summary


def read_baseline(path: Path | None, problems: Problems) -> Baseline | None:
    """Read the verdicts of an earlier run; None without a file."""
    if path is None:
        return None
    from vericite.evaluate.baseline import Baseline

    return Baseline.read(path, problems)


def say_gates(results: Sequence[GateResult], compared: BaselineResult | None) -> None:
    """Print the comparison with the baseline, and the result of each gate."""
    if compared is not None:
        say("\n".join([*compared.lines(), compared.sentence]))
    for result in results:
        say(result.sentence)
    if compared is not None and compared.failure and not results:
        say(compared.failure)


def remark_unjudged(counts: Summary, code: ExitCode) -> None:
    """Say that no source was at hand, if the exit code does not say it."""
    if code == ExitCode.OK and counts.dangling and not (counts.judged or counts.quoted or counts.failed):
        remark(
            f"nothing could be judged: the text of a source is at hand for none of {counts.citations:,} citations. The "
            "exit code is 0, because no gate is given (--fail-under, --fail-over)"
        )


def gate_code(results: Sequence[GateResult], compared: BaselineResult | None) -> ExitCode:
    """Return the exit code of the gates; without gates, of the comparison with the baseline."""
    from vericite.evaluate.gates import overall

    if not results and compared is not None:
        return ExitCode.GATE_FAILED if compared.is_worse else ExitCode.OK
    codes = {"passed": ExitCode.OK, "failed": ExitCode.GATE_FAILED, "undecided": ExitCode.NOT_RUN}
    return codes[overall(results)]
