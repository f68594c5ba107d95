"""Records of lines with a tag in front, as bibliographies are exported."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from vericite.corpus.sources.opening import SourceFile, undecoded
from vericite.errors import RecordError

_TOLD = 60


@dataclass(slots=True)
class TaggedRecord:
    """The values of one record by their tags, in order; ``line`` is where it begins."""

    line: int
    values: dict[str, list[str]] = field(default_factory=lambda: dict[str, list[str]]())

    def all(self, *tags: str) -> tuple[str, ...]:
        """The values of these tags, those of the first tag first; empty ones left out."""
        return tuple(value for tag in tags for value in self.values.get(tag, ()) if value.strip())

    def first(self, *tags: str) -> str:
        """The first value of these tags; empty if there is none."""
        return next(iter(self.all(*tags)), "")

    @property
    def problem(self) -> str | None:
        """What was wrong with its bytes, if anything was."""
        return next((found for values in self.values.values() for value in values if (found := undecoded(value))), None)


def tagged_records(
    file: SourceFile, tag: re.Pattern[str], begins: str, ends: str | None = None, joint: str = " "
) -> Iterator[TaggedRecord | RecordError]:
    """Stream the records of a file.

    Args:
        file: The file.
        tag: A line with a tag, its groups the tag and the value. Any other goes on with the value above.
        begins: The tag that a record begins with.
        ends: The tag that closes a record, if there is one.
        joint: What a value's lines are joined by.
    """
    record: TaggedRecord | None = None
    stray = False
    last = ""
    for number, line in file.lines():
        found = tag.match(line)
        if found and found[1] == begins:
            if record:
                yield record
            record, stray = TaggedRecord(number), False
        elif record is None:
            if line.strip() and not stray:
                stray = True
                yield RecordError(
                    file.path, number, None, f"expected a record, which begins with {begins}; {_found(line)}"
                )
            continue
        if found and found[1] == ends:
            yield record
            record = None
        elif found:
            last = found[1]
            record.values.setdefault(last, []).append((found[2] or "").strip())
        else:
            values = record.values[last]
            values[-1] = f"{values[-1]}{joint}{line.strip()}"
    if record:
        yield record


def _found(line: str) -> str:
    shown = line.strip().encode("utf-8", "replace").decode()
    return f"found {shown[:_TOLD]!r}"
