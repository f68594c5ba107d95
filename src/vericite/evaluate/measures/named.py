"""What all measures have: a name, parameters, and one string for both."""

from __future__ import annotations

from dataclasses import MISSING, Field, dataclass, fields
from typing import ClassVar, Literal

from vericite.evaluate.measures.parameters import expect_parameters

Family = Literal["citation", "answer", "nugget", "rationale", "retrieval", "agreement"]


@dataclass(frozen=True, repr=False)
class Named:
    """A value that its string names everywhere; two with the same parameters are equal.

    A field called ``cutoff`` is written ``@5``, all others in brackets, left out where they have their default.

    Raises:
        InputError: A parameter is not of its type, or no word of its closed set.
    """

    name: ClassVar[str]
    family: ClassVar[Family]
    extra: ClassVar[str | None] = None
    """The optional dependency it is computed with."""
    packages: ClassVar[tuple[str, ...]] = ()
    """Packages that compute it, whose versions its scores are signed with."""

    def __post_init__(self) -> None:
        expect_parameters(self.name, type(self), {field.name: getattr(self, field.name) for field in fields(self)})

    @classmethod
    def summary(cls) -> str:
        """The first line of its docstring, for lists of measures."""
        return (cls.__doc__ or "").strip().split("\n", 1)[0]

    @classmethod
    def usage(cls) -> str:
        """Its string with all parameters and their defaults, for lists of measures; it can be read back.

        A parameter that has no usual value stands as ``'NAME'``.
        """
        shown = [it for it in fields(cls) if it.name != "cutoff" and it.default is not MISSING]
        told = [f"{it.name}={_shown(it)}" for it in shown]
        cutoff = next((it.default for it in fields(cls) if it.name == "cutoff"), None)
        at = f"@{cutoff}" if isinstance(cutoff, int) else ""
        return f"{cls.name}{'(' + ', '.join(told) + ')' if told else ''}{at}"

    @classmethod
    def takes_cutoff(cls) -> bool:
        """Whether ``@`` and a number may follow its name."""
        return any(it.name == "cutoff" for it in fields(cls))

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


def _shown(parameter: Field[object]) -> str:
    # Annotations are texts here, and only free text has none that is usual.
    return repr("NAME" if parameter.default == "" and parameter.type == "str" else parameter.default)
