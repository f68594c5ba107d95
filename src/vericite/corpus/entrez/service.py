"""One call to the E-utilities: its turn, its attempts, and what to make of a reply that is none."""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeVar
from urllib.parse import urlencode

import httpx2

from vericite.corpus.entrez.key import VARIABLE, EntrezKey
from vericite.corpus.entrez.pace import turnstile_of
from vericite.corpus.entrez.replies import UnfitReply, complaint, nothing_found, unfit
from vericite.corpus.entrez.settings import EntrezSettings
from vericite.errors import EntrezAccessError, EntrezError, InputError
from vericite.llm.keys import LogScrubber
from vericite.llm.retry import seconds_asked
from vericite.llm.settings import offline_by_environment
from vericite.version import __version__

TOOL = "vericite"

_LONGEST_BACKOFF = 30.0
_MOST_BYTES = 256 * 2**20
"""Of one reply, unpacked: 200 records take a few million."""

_AGAIN = (408, 425, 429)
_REFUSED = (401, 403, 407)

_LOG = logging.getLogger(__name__)
_T = TypeVar("_T")


class _Reply(NamedTuple):
    status: int
    headers: Mapping[str, str]
    body: bytes


class _Trouble(NamedTuple):
    """Why an attempt failed: words, and not the error, which would keep the request with the key in it."""

    reason: str
    again: bool = True
    after: float | None = None
    refused: bool = False


class _OfflineError(EntrezAccessError, InputError):
    """NCBI was to be asked offline: what the user wants cannot be done, as with a language model elsewhere."""


class Service:
    """Asks the E-utilities, in turn with all others of this process.

    Raises:
        EntrezAccessError: The API key in the environment can be none.
    """

    def __init__(self, settings: EntrezSettings, transport: httpx2.BaseTransport | None = None) -> None:
        self.settings = settings
        self._key = EntrezKey.of_environment()
        self._rate = settings.requests_per_second or (10.0 if self._key else 3.0)
        self._turns = turnstile_of(settings.base_url)
        self._http = httpx2.Client(
            transport=transport,
            timeout=settings.timeout,
            headers={"user-agent": f"{TOOL}/{__version__}", "content-type": "application/x-www-form-urlencoded"},
        )
        self._scrubber = LogScrubber(self._key)
        self._scrubber.attach()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()
        self._scrubber.detach()

    def ask(self, tool: str, fields: Mapping[str, str], read: Callable[[bytes], _T]) -> _T:
        """What ``read`` makes of the reply; it raises ``UnfitReply`` where that is to be asked for again.

        Raises:
            EntrezAccessError: The key or the network is refused, or VERICITE_OFFLINE is set.
            EntrezError: There was no usable reply in all attempts.
        """
        attempt = 0
        while True:
            attempt += 1
            if offline_by_environment():
                raise _OfflineError(
                    f"expected leave to ask NCBI ({tool}); found VERICITE_OFFLINE set, and what is asked for is not in "
                    "the cache. Unset it, or ask for what was asked before."
                )
            found = self._attempt(tool, fields, read)
            if not isinstance(found, _Trouble):
                return found[0]
            if (wait := self._wait(attempt, found)) is None:
                raise self._error(tool, found, attempt)
            _LOG.info("%s: %s; trying again in %.1f s", tool, found.reason, wait)
            time.sleep(wait)

    def _attempt(self, tool: str, fields: Mapping[str, str], read: Callable[[bytes], _T]) -> tuple[_T] | _Trouble:
        self._turns.enter(self._rate)
        try:
            reply = self._send(tool, fields)
            _check(reply)
            return (read(reply.body),)
        except httpx2.TimeoutException as error:
            return _Trouble(f"no reply in time ({type(error).__name__}, {self.settings.timeout:g} s)")
        except _Overdue:
            return _Trouble(f"no whole reply in {self.settings.timeout:g} s")
        except (httpx2.TransportError, httpx2.DecodingError) as error:
            return _Trouble(self._key.scrub(f"the connection failed ({type(error).__name__}: {error})"))
        except UnfitReply as error:
            return _Trouble(self._key.scrub(error.reason), not error.lasting, error.after, error.refused)

    def _send(self, tool: str, fields: Mapping[str, str]) -> _Reply:
        until = time.monotonic() + self.settings.timeout
        body = bytearray()
        # In the body, and never in the address: addresses are logged, here and on the way.
        with self._http.stream("POST", f"{self.settings.base_url}{tool}.fcgi", content=self._form(fields)) as response:
            for piece in response.iter_bytes():
                body += piece
                if time.monotonic() > until:
                    raise _Overdue
                if len(body) > _MOST_BYTES:
                    raise UnfitReply(f"expected at most {_MOST_BYTES} bytes; found more", lasting=True)
            return _Reply(response.status_code, response.headers, bytes(body))

    def _form(self, fields: Mapping[str, str]) -> bytes:
        who = {"tool": TOOL} | ({"email": self.settings.email} if self.settings.email else {})
        form = urlencode({**fields, **who})
        return (f"{form}&{urlencode({'api_key': self._key.form_value()})}" if self._key else form).encode()

    def _wait(self, attempt: int, trouble: _Trouble) -> float | None:
        """Seconds until the next attempt; None where there is none."""
        if not trouble.again or attempt == self.settings.attempts:
            return None
        if trouble.after is not None:
            if trouble.after > self.settings.patience:
                return None
            # It is the address that is too busy, and not this call: nobody asks meanwhile.
            self._turns.pause(trouble.after)
        # Jittered, so that calls that failed together do not come back together.
        backoff = min(_LONGEST_BACKOFF, self.settings.backoff * 2 ** (attempt - 1)) * (0.5 + random.random() / 2)
        return max(backoff, trouble.after or 0.0)

    def _error(self, tool: str, trouble: _Trouble, attempts: int) -> EntrezError:
        if trouble.refused:
            advice = f"Correct {VARIABLE} or unset it" if self._key else "Ask from another network, or write to NCBI"
            return EntrezAccessError(f"expected NCBI to answer {tool}; found {trouble.reason}. {advice}.")
        tries = f" in {attempts} attempts" if attempts > 1 else ""
        asked = f", which asks to wait {trouble.after:.0f} s" if trouble.after else ""
        advice = "Try again later" if trouble.again else "Correct the query"
        return EntrezError(
            f"expected a reply to {tool} of {self.settings.base_url}{tries}; found {trouble.reason}{asked}. {advice}."
        )


class _Overdue(Exception):
    """It has taken longer than an attempt may."""


def _check(reply: _Reply) -> None:
    """Raise for a reply that is no success, by its status or by its words."""
    said = complaint(reply.body)
    if said is not None and nothing_found(said):
        return
    if reply.status == 200:
        if said is not None:
            raise unfit(said)
        return
    reason = f"HTTP {reply.status}" + (f": {said}" if said else "")
    if reply.status in _AGAIN or reply.status >= 500:
        raise UnfitReply(reason, after=seconds_asked(reply.headers))
    if said is None or reply.status in _REFUSED:
        raise UnfitReply(reason, lasting=True, refused=reply.status in _REFUSED)
    found = unfit(said)
    raise UnfitReply(reason, found.lasting, found.refused)
