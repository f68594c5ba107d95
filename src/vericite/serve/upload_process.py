"""Reads a file that was sent, in a process of its own: one that fills the memory or never ends can be ended.

``vericite.serve.uploads`` runs this as a program. It gets one line of JSON, which says what to read, and prints a line
for each document and each problem.
"""

from __future__ import annotations

import json
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from vericite.corpus.sources.registry import UnknownForm, documents_in
from vericite.errors import InputError, MissingExtraError, RecordError
from vericite.records import Document, to_json

DOCUMENT, PROBLEM, ERROR, ABSENT, END = "document", "problem", "error", "absent", "end"
"""What a line says: a document, a record that cannot be used, why the file cannot be read, what is not installed."""


def main() -> None:
    """Read what the first line of the standard input asks for."""
    line = sys.stdin.readline()
    if not line:
        return  # the service ended without a file for this process
    wanted: dict[str, Any] = json.loads(line)
    _limit(wanted["bytes"], wanted["seconds"])
    try:
        for item in documents_in(Path(wanted["path"]), name=wanted["name"]):
            if isinstance(item, Document):
                _say(DOCUMENT, json.loads(to_json(item)))
            elif isinstance(item, RecordError):
                _say(PROBLEM, str(item))
    except MissingExtraError as error:
        _say(ABSENT, [error.extra, error.purpose])
    except UnknownForm as error:
        _say(ERROR, error.without_options)
    except InputError as error:
        _say(ERROR, str(error))
    else:
        _say(END, None)


def _limit(most_bytes: int, seconds: int) -> None:
    """Limit memory and time, where the system can; the time also holds where no one is left to end this process."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
        resource.setrlimit(resource.RLIMIT_AS, (most_bytes, most_bytes))


def _say(what: str, value: Any) -> None:
    sys.stdout.write(f"{json.dumps([what, value])}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
