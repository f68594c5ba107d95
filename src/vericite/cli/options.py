"""Options and endings that several commands share."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vericite.cli.remarks import remark
from vericite.errors import RecordError

if TYPE_CHECKING:
    from vericite.llm import Price, Settings
    from vericite.verify import Judge, Protocol

ProtocolOption = Annotated[
    str, typer.Option(help="How citations are judged; `vericite protocols` lists the names.", metavar="NAME")
]
JudgeOption = Annotated[
    str | None,
    typer.Option(help="Who judges, in place of the protocol's own; `vericite judges` lists them.", metavar="NAME"),
]
AbstainOption = Annotated[
    float | None,
    typer.Option(
        "--abstain-below",
        min=0,
        max=1,
        help="Abstain from verdicts whose probability is lower; 0 never does, and is the default but for judges that "
        "were calibrated.",
    ),
]
ChecksOption = Annotated[
    bool | None,
    typer.Option(
        "--checks/--no-checks",
        help="Lower supported claims whose evidence, else in agreement, has another number, direction, negation or "
        "group. The protocols default and fast do.",
        show_default=False,
    ),
]
_LLM = "Judges that ask a language model"
ConcurrencyOption = Annotated[int, typer.Option(min=1, help="Calls at a time.", rich_help_panel=_LLM)]
RequestsOption = Annotated[
    int | None, typer.Option("--rpm", min=1, help="Requests a minute at most.", rich_help_panel=_LLM)
]
TokensOption = Annotated[
    int | None, typer.Option("--tpm", min=1, help="Tokens a minute at most.", rich_help_panel=_LLM)
]
TimeoutOption = Annotated[float, typer.Option(min=1, help="Seconds a call may take.", rich_help_panel=_LLM)]
PriceOption = Annotated[
    str | None,
    typer.Option(help="Price of a million tokens in and out, as in 0.15,0.60.", metavar="IN,OUT", rich_help_panel=_LLM),
]
ReplyOption = Annotated[
    int,
    typer.Option(
        "--reply-tokens", min=1, help="Room for a reply; raise it for models that think first.", rich_help_panel=_LLM
    ),
]
CacheOption = Annotated[
    bool,
    typer.Option(
        "--cache/--no-cache", help="Keep judgements and replies, so that nothing is judged or paid for twice."
    ),
]
DocumentsOption = Annotated[
    Path | None,
    typer.Option(help='JSONL of documents that are cited by PMID, DOI or address: {"id", "title"?, "text"}.'),
]
FormatOption = Annotated[str, typer.Option(help="The form of the answers, as for check.", metavar="NAME")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]
OutOption = Annotated[Path | None, typer.Option(help="Write the figures here, a line of JSON each.")]
DrawsOption = Annotated[int, typer.Option(min=100, help="Bootstrap draws for the intervals.")]
SeedOption = Annotated[int, typer.Option(min=0, help="Seed of the draws.")]


def llm_settings(
    concurrency: int, rpm: int | None, tpm: int | None, timeout: float, price: str | None, reply: int, cache: bool
) -> Settings:
    """The options as settings.

    Raises:
        InputError: The price is none.
    """
    from vericite.llm import Settings

    return Settings(
        concurrency=concurrency,
        requests_per_minute=rpm,
        tokens_per_minute=tpm,
        timeout=timeout,
        price=None if price is None else _price(price),
        reply_tokens=reply,
        cache="default" if cache else None,
    )


def chosen(protocol: str, judge: Judge | str | None, abstain_below: float | None, checks: bool | None) -> Protocol:
    """The protocol with what the options change of it; a calibrated judge brings the threshold that none gives."""
    from dataclasses import replace

    from vericite.verify import get_protocol
    from vericite.verify.judges import usual_bar

    named = get_protocol(protocol)
    asked = judge or named.judge
    bar = named.abstain_below or usual_bar(asked) if abstain_below is None else abstain_below
    return replace(named, judge=asked, abstain_below=bar, checks=named.checks if checks is None else checks)


def _price(text: str) -> Price:
    from math import isfinite

    from vericite.errors import InputError
    from vericite.llm import Price

    try:
        prompt, completion = (float(part) for part in text.split(","))
    except ValueError:
        prompt = completion = -1.0
    if not (isfinite(prompt + completion) and min(prompt, completion) >= 0):
        raise InputError(f"expected --price to be two amounts, as in 0.15,0.60; found {text!r}")
    return Price(prompt, completion)


def refuse_same(out: Path | None, *read: Path | None, what: str = "--out") -> None:
    """Before a file that is read is written over.

    Raises:
        InputError: ``out`` is one of them, by whatever name.
    """
    from vericite.errors import InputError

    for file in read:
        if out is not None and file is not None and _is_same(out, file):
            raise InputError(f"expected {what} to be another file than the input; found {out} for both")


def _is_same(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except OSError:
        return False


def refuse_unwritable(path: Path | None, what: str = "--out") -> None:
    """Before anything is judged or paid for.

    Raises:
        InputError: A file is asked for that is a folder, in none, or in one that may not be written to.
    """
    from os import W_OK, access
    from os.path import isdir

    from vericite.errors import InputError

    if path is None:
        return
    found = None
    if isdir(path):
        found = "Is a directory"
    elif not isdir(path.parent):
        found = "its folder is not there. Make the folder first"
    elif not access(path.parent, W_OK):
        found = "Permission denied"
    if found is not None:
        raise InputError(f"expected {what} to be a file that can be written; found {path}: {found}")


def report(problems: Sequence[RecordError]) -> None:
    """Name the lines that could not be used, and exit with 2 if there are any."""
    for problem in problems[:20]:
        remark(problem)
    if len(problems) > 20:
        remark(f"and {len(problems) - 20} more lines that could not be used")
    if problems:
        raise typer.Exit(2)
