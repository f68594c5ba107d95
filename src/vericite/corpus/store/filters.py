"""Which documents may be found, and the same as a condition of LanceDB's SQL."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from vericite.errors import InputError


@dataclass(frozen=True)
class Filters:
    """What a document has to be; all of it has to hold, and of a list one entry is enough.

    Names are compared as they stand in the documents, letter for letter. A document without a year passes no
    filter of years. The default lets everything pass, retracted documents too: a caller that answers questions
    says ``retracted=False``.

    Attributes:
        year_from: The first year.
        year_to: The last year.
        journals: Names of journals.
        mesh: MeSH headings.
        publication_types: PubMed's types, such as ``Randomized Controlled Trial``.
        languages: Codes of three letters (``eng``).
        retracted: Only those that are, or are not; None for both.
    """

    year_from: int | None = None
    year_to: int | None = None
    journals: tuple[str, ...] = ()
    mesh: tuple[str, ...] = ()
    publication_types: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    retracted: bool | None = None

    def __post_init__(self) -> None:
        if self.year_from is not None and self.year_to is not None and self.year_from > self.year_to:
            raise InputError(f"expected the first year before the last; found {self.year_from} to {self.year_to}")

    def predicate(self) -> str | None:
        """The condition, or None where everything passes."""
        parts = [
            _years(self.year_from, self.year_to),
            is_in("journal", self.journals) if self.journals else None,
            has_any("mesh", self.mesh),
            has_any("publication_types", self.publication_types),
            has_any("languages", self.languages),
            None if self.retracted is None else f"retracted = {str(self.retracted).lower()}",
        ]
        return " AND ".join(part for part in parts if part) or None


def is_in(column: str, values: Sequence[str]) -> str:
    """The condition that a column's value is one of these."""
    return f"{column} IN ({', '.join(_quoted(value) for value in values)})"


def in_parts(values: Iterable[str], size: int) -> Iterator[list[str]]:
    """The values, each once, so many at a time: conditions of any length take LanceDB's memory."""
    each = list(dict.fromkeys(values))
    return (each[start : start + size] for start in range(0, len(each), size))


def has_any(column: str, values: Sequence[str]) -> str | None:
    """The condition that a list of a column has one of these; None for none of them."""
    return f"array_has_any({column}, [{', '.join(_quoted(value) for value in values)}])" if values else None


def _years(first: int | None, last: int | None) -> str | None:
    parts = [
        None if first is None else f"year >= {int(first)}",
        None if last is None else f"year <= {int(last)}",
    ]
    return " AND ".join(part for part in parts if part) or None


def _quoted(value: str) -> str:
    # The one character with a meaning inside quotes is the quote: there are no backslash escapes.
    return "'" + value.replace("'", "''") + "'"
