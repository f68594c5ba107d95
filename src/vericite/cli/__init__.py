"""The command line: arguments, one call into the library, print."""

from __future__ import annotations

import os
import sys
import warnings

from vericite.errors import InputError, VeriCiteError


def main() -> None:
    """Run the command line; exits 2 on input that cannot be used, 1 on failure."""
    from vericite.cli.app import app

    # Arguments that are not UTF-8 come as halves of surrogate pairs, which no record and no file can hold.
    sys.argv[1:] = [os.fsencode(argument).decode("utf-8", "replace") for argument in sys.argv[1:]]
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _warn
            app()
    except InputError as error:
        _stop(error, 2)
    except VeriCiteError as error:
        _stop(error, 1)
    except BrokenPipeError:
        # The reader of a pipe went away (`vericite ... | head`): not an error of ours.
        sys.stderr.close()
        sys.exit(141)
    except OSError as error:
        _stop(VeriCiteError(f"expected to be able to write the output; found: {error.strerror or error}"), 1)
    except KeyboardInterrupt:
        sys.exit(130)


def _warn(message: Warning | str, *_: object) -> None:
    from vericite.cli.show import clean

    print(f"vericite: {clean(str(message))}", file=sys.stderr)  # noqa: T201


def _stop(error: VeriCiteError, code: int) -> None:
    from vericite.cli.show import clean

    print(f"vericite: {clean(str(error))}", file=sys.stderr)  # noqa: T201
    sys.exit(code)
