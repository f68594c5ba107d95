"""Metadata of a plan's fields, from which command lines, requests and lists of settings are generated."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, get_args, get_origin

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

from vericite.errors import InputError, UnknownNameError
from vericite.records import first_problem


@dataclass(frozen=True)
class Setting:
    """Where a field can be set, in addition to plan files and ``--set``. Its help is the field's description.

    Attributes:
        option: Name on the command line, such as ``--k``.
        commands: Commands that show this option. All others that read the section take ``--set``.
        metavar: What help shows in place of the type.
        by_request: Whether a request to the service may set it. Never for files, addresses and models.
        request_values: The values that a request may give; empty for all.
        request_most: The largest number that a request may give.
    """

    option: str = ""
    commands: tuple[str, ...] = ()
    metavar: str | None = None
    by_request: bool = False
    request_values: tuple[str, ...] = ()
    request_most: int | None = None


class SettingField(NamedTuple):
    """A field of a plan.

    Attributes:
        section: The section's name.
        name: The field's name in it.
        kind: The section's type.
        info: The field as pydantic knows it.
        setting: Its metadata.
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

    The last text counts; a list holds the values of all of them. An empty text after ``=`` is None or an empty list.

    Raises:
        InputError: A text names no field, or the value has another type.
    """
    found: dict[str, dict[str, Any]] = {}
    for text in texts:
        path, sign, value = text.partition("=")
        if not sign:
            raise InputError(f"expected --set as in search.candidates=50; found {text[:80]!r}")
        field = _field_named(plan, path.strip(), sections)
        read = parse_value(field, value.strip())
        values = found.setdefault(field.section, {})
        values[field.name] = (*values.get(field.name, ()), *read) if field.is_list and read else read
    return found


def _field_named(plan: type[BaseModel], path: str, sections: tuple[str, ...]) -> SettingField:
    every = {field.path: field for field in fields_of(plan)}
    fields = {path: field for path, field in every.items() if field.section in sections}
    if path in fields:
        return fields[path]
    if path in every:
        raise InputError(
            f"expected --set with a setting that this command reads, one of {', '.join(sections)}; found {path!r}"
        )
    if ends := [known for known in fields if known.partition(".")[2] == path]:
        raise InputError(f"expected --set with a section; found {path!r}. Write {' or '.join(ends)}")
    raise unknown_setting(path, fields)


def unknown_setting(path: str, known: Iterable[str]) -> InputError:
    """Return the error for an unknown setting, with the section's settings."""
    known = tuple(known)
    section = path.rpartition(".")[0]
    near = [other for other in known if other.startswith(f"{section}.")]
    return UnknownNameError("setting", path[:80], near or known)


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
        read = reader.validate_strings
        value = tuple(map(read, _parts(field, text))) if field.is_list else read(text)
        # With the field's own bounds and those of its section.
        made = field.kind.model_validate({field.name: value})
    except ValidationError as error:
        _, problem = first_problem(error)
        step = f". For no value write {field.path}=" if field.is_optional else ""
        raise InputError(f"expected a value that {field.path} can have; found {text[:80]!r}: {problem}{step}") from None
    return getattr(made, field.name)


def write_value(value: Any) -> str:
    """Return a value as ``parse_value`` reads it."""
    if value is None:
        return ""
    if isinstance(value, tuple):
        return ",".join(_quoted(str(part)) for part in value)  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    return str(value).lower() if isinstance(value, bool) else str(value)


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if re.search(r'[,"]|^\s|\s$', text) else text


def _parts(field: SettingField, text: str) -> list[str]:
    """Split a list at its commas; a value with a comma is in quotes, as in CSV.

    In a list of numbers ``1-5`` stands for five numbers.
    """
    if get_args(field.info.annotation)[0] is str:
        return _texts(field, text)
    found: list[str] = []
    for part in (part.strip() for part in text.split(",")):
        numbers = re.fullmatch(r"([0-9]{1,3})-([0-9]{1,3})", part)
        if numbers and int(numbers[1]) < int(numbers[2]):
            found += map(str, range(int(numbers[1]), int(numbers[2]) + 1))
        else:
            found.append(part)
    return found


def _texts(field: SettingField, text: str) -> list[str]:
    try:
        (parts,) = csv.reader([text], skipinitialspace=True, strict=True)
    except (csv.Error, ValueError):
        raise InputError(
            f"expected texts that {field.path} can have, with quotes around a whole value; found {text[:80]!r}"
        ) from None
    # Names of journals and headings have such commas themselves: "Diabetes Mellitus, Type 2" is one heading.
    if re.search(r",\s", re.sub(r'"(?:[^"]|"")*"', "", text)):
        example = next(part for part in csv.reader([text]))
        raise InputError(
            f"expected several values of {field.path} without a space after the comma, and a value with a comma in "
            f"quotes; found {text[:80]!r}. Write --set '{field.path}={write_value(tuple(map(str.strip, example)))}' or "
            f"--set '{field.path}={_quoted(text)}'"
        )
    if not all(part.strip() for part in parts):
        raise InputError(f"expected no empty value of {field.path}; found {text[:80]!r}")
    return [part.strip() for part in parts]


def request_fields(plan: type[BaseModel]) -> Mapping[str, dict[str, SettingField]]:
    """Return the fields that a request may set, by section and name."""
    found: dict[str, dict[str, SettingField]] = {}
    for field in fields_of(plan):
        if field.setting.by_request:
            found.setdefault(field.section, {})[field.name] = field
    return found
