"""The command line: arguments, one call into the library, print."""

from __future__ import annotations

import codecs
import logging
import os
import signal
import sys
import threading
import traceback
import warnings
from collections.abc import Generator
from contextlib import contextmanager
from io import TextIOWrapper

from vericite.cli.exits import ExitCode
from vericite.cli.io import remark, say
from vericite.errors import InputError, SettingsError, VeriCiteError

_READER_GONE, _TERMINATED = 141, 143
"""Exit codes that a shell shows for SIGPIPE and SIGTERM; these are not errors."""


def main() -> None:
    """Run the command line; it exits with a code of ``ExitCode``."""
    from vericite.cli.app import program

    # Arguments that are not UTF-8 arrive as lone surrogates, which records and files cannot hold.
    sys.argv[1:] = [os.fsencode(argument).decode("utf-8", "replace") for argument in sys.argv[1:]]
    _escape_unencodable()
    _handle_sigterm()
    try:
        with warnings.catch_warnings(), _logged():
            warnings.showwarning = _warn
            program()()
    except InputError as error:
        _stop(error, ExitCode.BAD_INPUT)
    except VeriCiteError as error:
        _stop(error, ExitCode.NOT_RUN)
    except SystemExit as ended:
        # Typer exits with 1 if the reader of a pipe closes it (`vericite ... | head`), but 1 means a failed gate.
        if isinstance(ended.__context__, BrokenPipeError):
            sys.exit(_READER_GONE)
        raise
    except BrokenPipeError:
        sys.exit(_READER_GONE)
    except OSError as error:
        message = f"expected output that can be written; found: {error.strerror or error}"
        _stop(VeriCiteError(message), ExitCode.NOT_RUN)
    except KeyboardInterrupt:
        sys.exit(130)
    except Exception:
        # A bug. Python would exit with 1, but 1 means a failed gate.
        traceback.print_exc()
        sys.exit(ExitCode.NOT_RUN)


def _handle_sigterm() -> None:
    """Handle SIGTERM like Ctrl-C: the command reports where its results are, and exits."""

    def end(*_: object) -> None:
        sys.exit(_TERMINATED)

    # Only the main thread may set a handler. A signal that is already ignored stays ignored.
    if threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, end)


def _escape_unencodable() -> None:
    """Escape characters that the output's encoding lacks, in a form that JSON can read."""
    codecs.register_error("vericite", _escaped)
    for stream in (sys.stdout, sys.stderr):
        # Streams of a notebook or a test have another type and accept any text.
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="vericite")


def _escaped(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lacking = error.object[error.start : error.end].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{lacking[at : at + 2].hex()}" for at in range(0, len(lacking), 2)), error.end


def _warn(message: Warning | str, *_: object) -> None:
    remark(message)


class _Remarks(logging.Handler):
    """Prints the package's log as remarks, which are safe for a terminal even if an id has control characters."""

    def emit(self, record: logging.LogRecord) -> None:
        """Print the message, and the traceback if there is one."""
        first, *more = self.format(record).split("\n")
        remark(first)
        if more:
            say("\n".join(more), err=True)


@contextmanager
def _logged() -> Generator[None]:
    logger, remarks = logging.getLogger("vericite"), _Remarks(logging.WARNING)
    logger.addHandler(remarks)
    try:
        yield
    finally:
        logger.removeHandler(remarks)


def _stop(error: VeriCiteError, code: ExitCode) -> None:
    if isinstance(error, SettingsError):
        from vericite.cli.plans import option_of

        remark(error.named(option_of))
    else:
        remark(error)
    sys.exit(code)
