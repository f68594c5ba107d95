"""What every record has in common: frozen, closed to unknown fields, compared by value."""

from __future__ import annotations

from typing import Self

from pydantic import BaseModel, ConfigDict, model_validator

SCHEMA_VERSION = 1
"""Version of the JSON form of the records; a file written by a later one is refused, not guessed at."""


class Record(BaseModel):
    """A frozen value. Unknown fields and values of another type are refused, not coerced."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


class Span(Record):
    """A half-open range of characters (Python code points) in some text."""

    start: int
    end: int

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if not 0 <= self.start <= self.end:
            raise ValueError(f"expected 0 <= start <= end; found start {self.start}, end {self.end}")
        return self

    @property
    def slice(self) -> slice:
        """The span as a slice, so that ``text[span.slice]`` is the text it covers."""
        return slice(self.start, self.end)

    def shifted(self, by: int) -> Span:
        """The same span in a text that has ``by`` more characters in front."""
        return Span(start=self.start + by, end=self.end + by)
