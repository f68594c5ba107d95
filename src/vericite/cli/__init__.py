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
"""What a shell makes of a program that is ended so; it is no error of ours."""


def main() -> None:
    """Run the command line; it exits with a code of ``ExitCode``."""
    from vericite.cli.app import program

    # Arguments that are not UTF-8 come as halves of surrogate pairs, which no record and no file can hold.
    sys.argv[1:] = [os.fsencode(argument).decode("utf-8", "replace") for argument in sys.argv[1:]]
    _print_anything()
    _end_as_by_ctrl_c()
    try:
        with warnings.catch_warnings(), _logged():
            warnings.showwarning = _warn
            program()()
    except InputError as error:
        _stop(error, ExitCode.BAD_INPUT)
    except VeriCiteError as error:
        _stop(error, ExitCode.NOT_RUN)
    except SystemExit as ended:
        # Those who print for us make 1 of it when the reader of a pipe goes away (`vericite ... | head`), which is what
        # a failure gives.
        if isinstance(ended.__context__, BrokenPipeError):
            sys.exit(_READER_GONE)
        raise
    except BrokenPipeError:
        sys.exit(_READER_GONE)
    except OSError as error:
        found = f"expected to be able to write the output; found: {error.strerror or error}"
        _stop(VeriCiteError(found), ExitCode.NOT_RUN)
    except KeyboardInterrupt:
        sys.exit(130)
    except Exception:
        # A fault of ours. Python would exit with 1, which a pipeline reads as a gate that failed.
        traceback.print_exc()
        sys.exit(ExitCode.NOT_RUN)


def _end_as_by_ctrl_c() -> None:
    """Have a run that is told to end say where its results are, as one that is stopped by Ctrl-C does."""

    def end(*_: object) -> None:
        sys.exit(_TERMINATED)

    # Only the main thread may, and who ignores the signal means it.
    if threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, end)


def _print_anything() -> None:
    """Have what the output's encoding lacks told by its number, in the form that JSON reads as the character."""
    codecs.register_error("vericite", _numbered)
    for stream in (sys.stdout, sys.stderr):
        # A notebook's or a test's is none of these, and takes any text.
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="vericite")


def _numbered(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lacking = error.object[error.start : error.end].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{lacking[at : at + 2].hex()}" for at in range(0, len(lacking), 2)), error.end


def _warn(message: Warning | str, *_: object) -> None:
    remark(message)


class _Remarks(logging.Handler):
    """What the package logs, as remarks: an id in it may hold what would steer a terminal."""

    def emit(self, record: logging.LogRecord) -> None:
        """Say it; behind an exception's message stands where it was raised."""
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
