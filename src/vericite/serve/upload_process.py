"""Program that reads an uploaded file in its own process, so that it can be killed if it needs too much memory or time.

``vericite.serve.uploads`` runs it. It reads one line of JSON with the task, the path and limits, and prints a line for
each document and each problem, or one for a manuscript or its copy with comments.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from vericite.corpus.sources.registry import UnknownFormat, documents_in
from vericite.errors import InputError, MissingExtraError, RecordError
from vericite.records import Document, to_json

DOCUMENT, PROBLEM, ERROR, ABSENT, END = "document", "problem", "error", "absent", "end"
"""Kinds of printed lines: a document, an unusable record, an unreadable file, a missing extra, the end."""
MANUSCRIPT, COPY = "manuscript", "copy"
"""Kinds of printed lines, and tasks: a manuscript; its copy with comments, written to a file. Else documents are read.
"""


def main() -> None:
    """Read the file named by the first line of standard input."""
    line = sys.stdin.readline()
    if not line:
        return  # the service ended without a file for this process
    wanted: dict[str, Any] = json.loads(line)
    _limit(wanted["bytes"], wanted["seconds"])
    try:
        for what, value in _TASKS.get(wanted["task"], _documents)(Path(wanted["path"]), wanted):
            _print_line(what, value)
    except MissingExtraError as error:
        _print_line(ABSENT, [error.extra, error.purpose])
    except UnknownFormat as error:
        _print_line(ERROR, error.without_options)
    except InputError as error:
        _print_line(ERROR, str(error))
    else:
        _print_line(END, None)


def _documents(path: Path, wanted: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for item in documents_in(path, name=wanted["name"]):
        if isinstance(item, Document):
            yield DOCUMENT, json.loads(to_json(item))
        elif isinstance(item, RecordError):
            yield PROBLEM, str(item)


def _manuscript(path: Path, wanted: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    from vericite.corpus.manuscript.registry import read_manuscript

    yield MANUSCRIPT, json.loads(to_json(read_manuscript(path, [Path(name) for name in wanted["bibliography"]])))


def _copy(path: Path, wanted: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    from vericite.pipeline.manuscript import ManuscriptCheck
    from vericite.reporting.manuscript import copy_with_comments

    check = ManuscriptCheck.model_validate_json(Path(wanted["checked"]).read_bytes())
    made = copy_with_comments(path, check)
    Path(wanted["out"]).write_bytes(made.content)
    yield COPY, [made.suffix, made.unplaced]


_TASKS = {MANUSCRIPT: _manuscript, COPY: _copy}


def _limit(max_bytes: int, seconds: int) -> None:
    """Limit memory and time, if the system supports it; the time limit also applies if the service is gone."""
    if sys.platform == "win32":
        return
    import resource

    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
        resource.setrlimit(resource.RLIMIT_AS, (max_bytes, max_bytes))


def _print_line(what: str, value: Any) -> None:
    sys.stdout.write(f"{json.dumps([what, value])}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
