"""The basis of ``--offline``: no Python socket of this process reaches another machine.

Libraries that connect in native code (LanceDB, pyarrow, Ray) bypass this. Their addresses are checked before they are
called: buckets in ``vericite.disk.bucket``, clusters in ``vericite.scale.cluster``.
"""

from __future__ import annotations

import sys
from errno import ENETUNREACH
from functools import cache
from ipaddress import ip_address
from typing import cast

from vericite.network.access import is_loopback, offline_by_environment

_CONNECTIONS = frozenset({"socket.connect", "socket.sendto", "socket.sendmsg"})
_LOOKUPS = frozenset({"socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"})
_NAME_OF = "socket.getnameinfo"


class BlockedConnectionError(OSError):
    """A connection to another machine was refused because of VERICITE_OFFLINE."""

    def __init__(self, host: str) -> None:
        super().__init__(ENETUNREACH, f"VERICITE_OFFLINE is set, so {host} is not contacted")


@cache
def hold_offline() -> None:
    """Refuse connections to other machines, and look-ups of their names, while VERICITE_OFFLINE is set.

    Only for VeriCite's own processes, such as the command line. It cannot be undone, and would also refuse connections
    of a program that only uses the package.
    """
    sys.addaudithook(_refuse)


def _refuse(event: str, arguments: tuple[object, ...]) -> None:
    if not event.startswith("socket."):
        return
    if event in _CONNECTIONS:
        # The address of a Unix socket is a path, and a connected socket sends without one.
        address = arguments[1]
        host = cast("tuple[object, ...]", address)[0] if isinstance(address, tuple) and address else None
        is_ours = host is None or _is_here(host)
    elif event == _NAME_OF:
        # The name of an address is asked of a name server. The argument is the address with its port.
        host = cast("tuple[object, ...]", arguments[0])[0]
        is_ours = _is_here(host)
    elif event in _LOOKUPS:
        host = arguments[0]
        is_ours = host is None or _is_here(host) or _is_number(host)
    else:
        return
    if not is_ours and offline_by_environment():
        raise BlockedConnectionError(_text(host))


def _is_here(host: object) -> bool:
    # An empty host and the unspecified addresses mean this machine.
    return _text(host) in ("", "0.0.0.0", "::") or is_loopback(_text(host))


def _is_number(host: object) -> bool:
    """Whether it is already an address, so that no name server is asked."""
    try:
        ip_address(_text(host))
    except ValueError:
        return False
    return True


def _text(host: object) -> str:
    return host.decode("ascii", "replace") if isinstance(host, bytes | bytearray) else str(host)
