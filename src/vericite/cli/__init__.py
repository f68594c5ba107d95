"""The command line: arguments, one call into the library, print."""

from __future__ import annotations

import sys

from vericite.errors import InputError, VeriCiteError


def main() -> None:
    """Run the command line; exits 2 on input that cannot be used, 1 on failure."""
    from vericite.cli.app import app

    try:
        app()
    except InputError as error:
        _stop(error, 2)
    except VeriCiteError as error:
        _stop(error, 1)
    except BrokenPipeError:
        # The reader of a pipe went away (`vericite ... | head`): not an error of ours.
        sys.stderr.close()
        sys.exit(141)
    except KeyboardInterrupt:
        sys.exit(130)


def _stop(error: VeriCiteError, code: int) -> None:
    from vericite.cli.show import clean

    sys.stdout.flush()
    print(f"vericite: {clean(str(error))}", file=sys.stderr)  # noqa: T201
    sys.exit(code)
