"""Linux ends this process when anything in it, native code too, opens an internet socket.

Run as a program: each argument is a JSON list, the arguments of one ``vericite`` command. They run one after another.
The exit code of each is printed, with what it wrote to stderr.
"""

from __future__ import annotations

import contextlib
import ctypes
import io
import json
import platform
import struct
import sys

SOCKET = {"x86_64": 41, "aarch64": 198}
"""The number of the system call ``socket`` by architecture."""
_NO_NEW_PRIVILEGES, _SECCOMP, _FILTER = 38, 22, 2
_LOAD, _EQUAL, _RETURN = 0x20, 0x15, 0x06
_ALLOW, _KILL_PROCESS = 0x7FFF0000, 0x80000000
_INET, _INET6 = 2, 10


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


def forbid() -> None:
    """Install the filter; it holds for all threads that are started from now on, and cannot be taken away."""
    rules = [
        (_LOAD, 0, 0, 0),  # the number of the call
        (_EQUAL, 0, 4, SOCKET[platform.machine()]),
        (_LOAD, 0, 0, 16),  # its first argument: the family
        (_EQUAL, 1, 0, _INET),
        (_EQUAL, 0, 1, _INET6),
        (_RETURN, 0, 0, _KILL_PROCESS),
        (_RETURN, 0, 0, _ALLOW),
    ]
    program = _Program(len(rules), b"".join(struct.pack("HBBI", *rule) for rule in rules))
    system = ctypes.CDLL(None, use_errno=True)
    if system.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0) or system.prctl(_SECCOMP, _FILTER, ctypes.byref(program), 0, 0):
        raise OSError(ctypes.get_errno(), "seccomp")


def main() -> None:
    """Run the commands."""
    from vericite.cli import main as vericite

    with contextlib.suppress(ImportError):
        # As it is imported, it opens a socket on ::1 to learn whether there is IPv6.
        import urllib3.util.connection  # noqa: F401
    forbid()
    print("ready", flush=True)
    for command in map(json.loads, sys.argv[1:]):
        print(json.dumps(command), end=" ", flush=True)
        sys.argv = ["vericite", *command]
        said = io.StringIO()
        code: object = 0
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
            try:
                vericite()
            except SystemExit as stop:
                code = stop.code
        print(json.dumps([code, said.getvalue()]), flush=True)


if __name__ == "__main__":
    main()
