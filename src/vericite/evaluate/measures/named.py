"""What all measures have: a name, parameters, and one string for both."""

from __future__ import annotations

from dataclasses import MISSING, dataclass, fields
from typing import ClassVar, Literal

Family = Literal["citation", "answer", "nugget", "rationale", "retrieval", "agreement"]


@dataclass(frozen=True, repr=False)
class Named:
    """A value that its string names everywhere; two with the same parameters are equal.

    A field called ``cutoff`` is written ``@5``, all others in brackets, left out where they have their default.
    """

    name: ClassVar[str]
    family: ClassVar[Family]
    extra: ClassVar[str | None] = None
    """The optional dependency it is computed with."""
    packages: ClassVar[tuple[str, ...]] = ()
    """Packages that compute it, whose versions its scores are signed with."""

    @classmethod
    def summary(cls) -> str:
        """The first line of its docstring, for lists of measures."""
        return (cls.__doc__ or "").strip().split("\n", 1)[0]

    @classmethod
    def usage(cls) -> str:
        """Its string with all parameters and their defaults, for lists of measures."""
        told = [f"{it.name}={it.default!r}" for it in fields(cls) if it.name != "cutoff" and it.default is not MISSING]
        cutoff = next((it for it in fields(cls) if it.name == "cutoff"), None)
        at = "" if cutoff is None else f"@{cutoff.default}" if isinstance(cutoff.default, int) else "@k"
        return f"{cls.name}{'(' + ', '.join(told) + ')' if told else ''}{at}"

    def __repr__(self) -> str:
        told: list[str] = []
        at = ""
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name == "cutoff":
                at = f"@{value}" if value is not None else ""
            elif field.default is MISSING or value != field.default:
                told.append(f"{field.name}={value!r}")
        return f"{self.name}{'(' + ', '.join(told) + ')' if told else ''}{at}"

    __str__ = __repr__
