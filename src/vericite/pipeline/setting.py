"""Metadata of a plan's fields, from which command lines, requests and lists of settings are generated."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, get_args, get_origin

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

from vericite.errors import InputError, UnknownNameError
from vericite.records import first_problem


@dataclass(frozen=True)
class Setting:
    """Where a field can be set, next to plan files and ``--set``. Its help is the field's description.

    Attributes:
        option: Name on the command line, such as ``--k``.
        commands: Commands that show this option. All others that read the section take ``--set``.
        metavar: What help shows in place of the type.
        by_request: Whether a request to the service may set it. Never for what names files, addresses or models.
        request_values: The values that a request may give; empty for all.
    """

    option: str = ""
    commands: tuple[str, ...] = ()
    metavar: str | None = None
    by_request: bool = False
    request_values: tuple[str, ...] = ()


class SettingField(NamedTuple):
    """A field of a plan.

    Attributes:
        section: The section's name.
        name: The field's name in it.
        kind: The section's type.
        info: The field as pydantic knows it.
        setting: What it says about itself.
    """

    section: str
    name: str
    kind: type[BaseModel]
    info: FieldInfo
    setting: Setting

    @property
    def path(self) -> str:
        """Name in ``--set`` and messages: ``search.k``."""
        return f"{self.section}.{self.name}"

    @property
    def help(self) -> str:
        """Description of the field."""
        return self.info.description or ""

    @property
    def bounds(self) -> tuple[float | None, float | None]:
        """Minimum and maximum value."""
        found: dict[str, float] = {}
        for rule in self.info.metadata:
            found |= {name: getattr(rule, name) for name in ("ge", "le") if hasattr(rule, name)}
        return found.get("ge"), found.get("le")

    @property
    def is_list(self) -> bool:
        """Whether it holds several values."""
        return get_origin(self.info.annotation) is tuple

    @property
    def is_optional(self) -> bool:
        """Whether the value may be None."""
        return type(None) in get_args(self.info.annotation)


def fields_of(plan: type[BaseModel], sections: tuple[str, ...] | None = None) -> Iterator[SettingField]:
    """Yield the fields of a plan, or of some of its sections."""
    for section, outer in plan.model_fields.items():
        kind = outer.annotation
        if (sections is None or section in sections) and isinstance(kind, type) and issubclass(kind, BaseModel):
            for name, info in kind.model_fields.items():
                said = next((rule for rule in info.metadata if isinstance(rule, Setting)), Setting())
                yield SettingField(section, name, kind, info, said)


def parse_assignments(plan: type[BaseModel], texts: list[str], sections: tuple[str, ...]) -> dict[str, dict[str, Any]]:
    """Parse assignments such as ``search.candidates=50``; return the values by section and field.

    The items of a list are separated by commas. An empty text after ``=`` is None or an empty list.

    Raises:
        InputError: A text names no field, or the value has another type.
    """
    fields = {field.path: field for field in fields_of(plan, sections)}
    found: dict[str, dict[str, Any]] = {}
    for text in texts:
        path, sign, value = text.partition("=")
        path = path.strip()
        if not sign:
            raise InputError(f"expected --set as in search.candidates=50; found {text[:80]!r}")
        if path not in fields:
            ends = [known for known in fields if known.partition(".")[2] == path]
            if ends:
                raise InputError(f"expected --set with a section; found {path!r}. Write {' or '.join(ends)}")
            raise UnknownNameError("setting", path[:80], fields)
        field = fields[path]
        found.setdefault(field.section, {})[field.name] = parse_value(field, value.strip())
    return found


def parse_value(field: SettingField, text: str) -> Any:
    """Parse a value from a command line.

    Raises:
        InputError: The value is invalid for this field.
    """
    if not text and (field.is_optional or field.is_list):
        return () if field.is_list else None
    kind: Any = get_args(field.info.annotation)[0] if field.is_list else field.info.annotation
    reader = TypeAdapter[Any](kind)
    try:
        read = tuple(map(reader.validate_strings, _parts(text))) if field.is_list else reader.validate_strings(text)
        # With the field's own bounds and those of its section.
        made = field.kind.model_validate({field.name: read})
    except ValidationError as error:
        _, problem = first_problem(error)
        raise InputError(f"expected a value that {field.path} can have; found {text[:80]!r}: {problem}") from None
    return getattr(made, field.name)


def _parts(text: str) -> list[str]:
    """Split a list; ``1-5`` stands for five numbers."""
    found: list[str] = []
    for part in (part.strip() for part in text.split(",")):
        numbers = re.fullmatch(r"([0-9]{1,3})-([0-9]{1,3})", part)
        if numbers and int(numbers[1]) < int(numbers[2]):
            found += map(str, range(int(numbers[1]), int(numbers[2]) + 1))
        else:
            found.append(part)
    return found


def request_fields(plan: type[BaseModel]) -> Mapping[str, dict[str, SettingField]]:
    """Return the fields that a request may set, by section and name."""
    found: dict[str, dict[str, SettingField]] = {}
    for field in fields_of(plan):
        if field.setting.by_request:
            found.setdefault(field.section, {})[field.name] = field
    return found
