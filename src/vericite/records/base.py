"""What every record has in common: frozen, closed to unknown fields, compared by value."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, Never, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, model_validator

SCHEMA_VERSION = 1
"""Version of the JSON form of the records; a file written by a later one is refused, not guessed at."""


_SURROGATE = re.compile("[\ud800-\udfff]")


def storable(text: str) -> str:
    """The text, of the same length, with U+FFFD for halves of surrogate pairs, which no file can hold."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


class Record(BaseModel):
    """A frozen value. Unknown fields and values of another type are refused, not coerced."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """A copy with some fields changed; what was derived from the old ones is derived again."""
        copied = super().model_copy(update=update, deep=deep)
        for name in set(vars(copied)) - set(type(self).model_fields):
            vars(copied).pop(name)
        return copied


class FrozenDict(dict[str, Any]):
    """A mapping that cannot be changed, so that a record which holds one cannot either."""

    def _refuse(self, *_: object, **__: object) -> Never:
        raise TypeError("expected nothing to change a record's mapping; make a copy of the record with another")

    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = _refuse  # pyright: ignore

    def __hash__(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        return hash(frozenset(self.items()))

    def __reduce__(self) -> tuple[type[FrozenDict], tuple[dict[str, Any]]]:
        return FrozenDict, (dict(self),)


Floats = Annotated[Mapping[str, float], AfterValidator(FrozenDict)]
"""Numbers by name, frozen."""

Names = Annotated[Mapping[str, str], AfterValidator(FrozenDict)]
"""Words by name, frozen."""


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
