"""Program that reads an uploaded file in its own process, so that it can be killed if it needs too much memory or time.

``vericite.serve.uploads`` runs it. It reads one line of JSON with the path and limits, and prints a line for each
document and each problem.
"""

from __future__ import annotations

import json
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from vericite.corpus.sources.registry import UnknownFormat, documents_in
from vericite.errors import InputError, MissingExtraError, RecordError
from vericite.records import Document, to_json

DOCUMENT, PROBLEM, ERROR, ABSENT, END = "document", "problem", "error", "absent", "end"
"""Kinds of printed lines: a document, an unusable record, an unreadable file, a missing extra, the end."""


def main() -> None:
    """Read the file named by the first line of standard input."""
    line = sys.stdin.readline()
    if not line:
        return  # the service ended without a file for this process
    wanted: dict[str, Any] = json.loads(line)
    _limit(wanted["bytes"], wanted["seconds"])
    try:
        for item in documents_in(Path(wanted["path"]), name=wanted["name"]):
            if isinstance(item, Document):
                _print_line(DOCUMENT, json.loads(to_json(item)))
            elif isinstance(item, RecordError):
                _print_line(PROBLEM, str(item))
    except MissingExtraError as error:
        _print_line(ABSENT, [error.extra, error.purpose])
    except UnknownFormat as error:
        _print_line(ERROR, error.without_options)
    except InputError as error:
        _print_line(ERROR, str(error))
    else:
        _print_line(END, None)


def _limit(max_bytes: int, seconds: int) -> None:
    """Limit memory and time, if the system supports it; the time limit also applies if the service is gone."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
        resource.setrlimit(resource.RLIMIT_AS, (max_bytes, max_bytes))


def _print_line(what: str, value: Any) -> None:
    sys.stdout.write(f"{json.dumps([what, value])}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
