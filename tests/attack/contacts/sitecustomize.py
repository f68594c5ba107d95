"""Records every host that a Python process contacts or looks up, this machine included.

With this folder in ``PYTHONPATH``, Python imports this module before anything else, in child processes as well. Each
contact is a line of the file that ``CONTACTS`` names: the process, the event and the host.
"""

from __future__ import annotations

import os
import sys

_TO_AN_ADDRESS = frozenset({"socket.connect", "socket.sendto", "socket.sendmsg"})
_BY_NAME = frozenset({"socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"})
_FILE = os.environ.get("CONTACTS")


def _record(event: str, arguments: tuple[object, ...]) -> None:
    if event in _TO_AN_ADDRESS:
        # The address of a Unix socket is a path.
        address = arguments[1]
        if not isinstance(address, tuple) or not address:
            return
        host = address[0]
    elif event in _BY_NAME:
        host = arguments[0]
    else:
        return
    if isinstance(host, bytes):
        host = host.decode("utf-8", "replace")
    file = os.open(str(_FILE), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.write(file, f"{os.getpid()} {event} {host}\n".encode())
    os.close(file)


if _FILE:
    sys.addaudithook(_record)
