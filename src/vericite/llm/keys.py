"""API keys: read from the environment, shown to the one header that needs them, struck out everywhere else."""

from __future__ import annotations

import logging
import os
from typing import Never

from vericite.errors import LLMAccessError
from vericite.llm.disguises import Disguises
from vericite.llm.spec import ModelSpec

_SHORTEST_SECRET = 8
"""Shorter values are placeholders ("EMPTY", "none"); striking those out would damage replies."""


class Key:
    """An API key. It has no readable form: not in ``repr``, not in ``vars``, not in a pickle."""

    __slots__ = ("__disguises", "__value", "variable")

    def __init__(self, variable: str | None, value: str) -> None:
        self.variable = variable
        self.__value = value
        self.__disguises = Disguises(value) if len(value) >= _SHORTEST_SECRET else None

    @classmethod
    def of(cls, spec: ModelSpec) -> Key:
        """The key for a model; an empty one where none is needed and none is set.

        Raises:
            LLMAccessError: The service needs one and the environment has none, or has one that cannot be sent.
        """
        if spec.key_variable is None:
            return cls(None, "")
        # Without a local name for the value: a traceback that prints locals would print it.
        key = cls(spec.key_variable, os.environ.get(spec.key_variable, "").strip())
        if not key and spec.needs_key:
            raise LLMAccessError(
                f"expected the key for {spec.signature} in the environment variable {spec.key_variable}; "
                f"found none. Set it: export {spec.key_variable}=..."
            )
        if not key.sendable:
            raise LLMAccessError(
                f"expected a key of printable ASCII characters in the environment variable {spec.key_variable}; "
                "found others. Copy the key again."
            )
        return key

    def __bool__(self) -> bool:
        return bool(self.__value)

    def __repr__(self) -> str:
        return f"Key({self.variable or 'none'}, {'hidden' if self else 'not set'})"

    def __reduce__(self) -> Never:
        raise TypeError("expected no key to leave the process; read it from the environment there")

    @property
    def sendable(self) -> bool:
        """Whether a header can hold it."""
        return self.__value.isascii() and self.__value.isprintable() and " " not in self.__value

    def bearer(self) -> str:
        """The header's value. For the request about to be sent only."""
        return f"Bearer {self.__value}"

    def scrub(self, text: str) -> str:
        """The text with the key struck out, also where it is escaped or in base64."""
        return text if self.__disguises is None else self.__disguises.replace(text, f"[{self.variable}]")

    def held_back(self, text: str) -> int:
        """How many of the text's last characters may be the beginning of the key, whose rest is yet to come."""
        return 0 if self.__disguises is None else self.__disguises.begun(text)


class PieceScrubber:
    """Strikes the key out of a text that comes in pieces, also where it is spread over several."""

    def __init__(self, key: Key) -> None:
        self._key = key
        self._rest = ""

    def feed(self, piece: str) -> str:
        """What can be shown so far."""
        text = self._key.scrub(self._rest + piece)
        keep = len(text) - self._key.held_back(text)
        self._rest = text[keep:]
        return text[:keep]

    def finish(self) -> str:
        """What was held back."""
        text, self._rest = self._rest, ""
        return text


class LogScrubber(logging.Filter):
    """Strikes the key out of what the packages below log: at DEBUG they repeat what a service sends, headers too."""

    _PACKAGES = ("openai", "httpx2", "httpcore2")
    _MODULES = ("_base_client", "_response", "_legacy_response", "connection", "http11", "http2", "proxy", "socks")

    def __init__(self, key: Key) -> None:
        super().__init__()
        self._key = key
        self._loggers: list[str] = []

    def filter(self, record: logging.LogRecord) -> bool:
        """Let every record pass, without the key."""
        said = record.getMessage()
        scrubbed = self._key.scrub(said)
        if scrubbed != said:
            record.msg, record.args = scrubbed, ()
        if record.exc_info:
            # As text, so that nothing behind this filter prints the error in its own words.
            record.exc_text = self._key.scrub(logging.Formatter().formatException(record.exc_info))
            record.exc_info = None
        return True

    def attach(self) -> None:
        """Begin."""
        # A filter holds for the very logger that it is given to, and not for those below. Those that the packages
        # have not made yet are named; all others are found, whatever a version of them calls its modules.
        named = {f"{package}.{module}" for package in self._PACKAGES for module in self._MODULES}
        found = {name for name in list(logging.root.manager.loggerDict) if name.split(".")[0] in self._PACKAGES}
        self._loggers = sorted({*self._PACKAGES, *named, *found})
        for name in self._loggers:
            logging.getLogger(name).addFilter(self)

    def detach(self) -> None:
        """End."""
        for name in self._loggers:
            logging.getLogger(name).removeFilter(self)
