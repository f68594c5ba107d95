"""The API key: from the environment into the body of a request, and struck out everywhere else."""

from __future__ import annotations

import os
from typing import Self

from vericite.errors import EntrezAccessError
from vericite.llm.keys import Key

VARIABLE = "NCBI_API_KEY"


class EntrezKey(Key):
    """NCBI's API key, or none; it has no readable form."""

    __slots__ = ()

    @classmethod
    def of_environment(cls) -> Self:
        """The key in ``NCBI_API_KEY``; an empty one where it is not set, or is blank.

        Raises:
            EntrezAccessError: It holds what no key does.
        """
        # Without a local name for the value: a traceback that prints locals would print it.
        key = cls(VARIABLE, os.environ.get(VARIABLE, "").strip())
        if not key.sendable:
            raise EntrezAccessError(
                f"expected a key of printable ASCII characters in the environment variable {VARIABLE}; found others. "
                "Copy the key again."
            )
        return key

    def form_value(self) -> str:
        """The value of the field ``api_key``. For the request about to be sent only."""
        return self.bearer().removeprefix("Bearer ")
