"""Settings as typed values: read from files, changed by texts such as ``--set NAME=VALUE``, and listed for help.

A class of settings states each field's type, default, bounds and help once. Command lines, requests to the service,
``vericite settings`` and docs/settings.md are generated from it. ``Plan`` is the largest; commands that measure and
train have smaller ones.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, time
from difflib import get_close_matches
from pathlib import Path, PurePath
from typing import Any, ClassVar, NamedTuple, Self, TypeVar, cast, get_args, get_origin

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

from vericite.disk.files import write_whole
from vericite.errors import InputError, UnknownNameError
from vericite.records import Record, first_problem


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
    """A field of settings.

    Attributes:
        section: The section's name; empty for a field of settings without sections.
        name: The field's name in it.
        kind: The type of the section or of the settings.
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
        return f"{self.section}.{self.name}" if self.section else self.name

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


_Kind = TypeVar("_Kind", bound=Record)


class SettingGroup(Record):
    """Settings of a command: fields with values, and sections of such fields.

    Every field has a default and a description.
    """

    noun: ClassVar[str] = "settings"
    """What messages call them."""
    former: ClassVar[Mapping[str, str]] = {}
    """Settings of earlier versions, and what to do instead."""

    @classmethod
    def load(cls, path: Path, base: Self | None = None) -> Self:
        """Read settings from a file; fields that it omits are taken from ``base``.

        Raises:
            InputError: The file cannot be read, or names an unknown field; the message names it.
        """
        return (base or cls()).changed(read_settings(path), f"in {path}")

    def changed(self, fields: Mapping[str, Any], where: str = "") -> Self:
        """Return a copy with some fields changed, as in ``{"search": {"k": 3}}``.

        Raises:
            InputError: A field is unknown or has another type; ``where`` names its origin.
        """
        # Only what was given, so that a default that depends on something else still applies.
        dumped, sections = self.model_dump(mode="json", exclude_unset=True), _sections(type(self))
        wanted = f"expected {_described(type(self))}; found"
        place = f" {where}" if where else ""
        for name, values in self._without_former(fields, place).items():
            within = name in sections and isinstance(values, Mapping)
            dumped[name] = {**dumped.get(name, {}), **values} if within else values
        try:
            return type(self).model_validate_json(json.dumps(dumped, default=_text_of))
        except ValidationError as error:
            field, problem = first_problem(error, type(self))
            raise InputError(f"{wanted} {field or 'a value'}{place}: {problem}. Correct that field.") from None
        except (TypeError, ValueError, RecursionError) as error:
            raise InputError(f"{wanted}{place} values that are not settings: {error}") from None

    def _without_former(self, fields: Mapping[str, Any], place: str) -> dict[str, Any]:
        """Leave out settings of earlier versions that had no value; refuse those with one."""
        found = dict(fields)
        for path, instead in self.former.items():
            section, _, name = path.rpartition(".")
            given = found.get(section)
            if not isinstance(given, Mapping) or name not in given:
                continue
            values = {**cast("Mapping[str, Any]", given)}
            if values.pop(name) is not None:
                raise InputError(
                    f"expected settings of this version; found {path}{place}, of an earlier one. {instead}"
                )
            found[section] = values
        return found

    def assigned(self, texts: list[str], sections: tuple[str, ...] | None = None) -> Self:
        """Return a copy with fields set by texts such as ``search.candidates=50``, as in ``--set``.

        Raises:
            InputError: A text names no field of these sections, or its value has another type.
        """
        found = parse_assignments(type(self), texts, sections)
        return self.changed({**found.pop("", {}), **found}, "in --set")

    def dump(self, path: Path, sections: tuple[str, ...] | None = None) -> None:
        """Write the settings, or only some of its sections: as TOML if the file's name ends so, else as JSON.

        TOML has no word for no value; settings without one are left out.

        Raises:
            InputError: The file cannot be written.
        """
        values = self.as_json(sections)
        json_text = json.dumps(values, indent=2, ensure_ascii=False) + "\n"
        write_whole(path, [_as_toml(values) if path.suffix == ".toml" else json_text])

    def part(self, kind: type[_Kind]) -> _Kind:
        """Return the fields of a class that this one extends."""
        return kind(**{name: getattr(self, name) for name in kind.model_fields.keys() & self.model_fields_set})

    def as_json(self, sections: tuple[str, ...] | None = None) -> dict[str, Any]:
        """Convert the settings, or some of their sections, to plain values."""
        dumped = self.model_dump(mode="json")
        return dumped if sections is None else {section: dumped[section] for section in sections}


def _sections(kind: type[BaseModel]) -> dict[str, type[BaseModel]]:
    annotations = {name: info.annotation for name, info in kind.model_fields.items()}
    return {name: held for name, held in annotations.items() if isinstance(held, type) and issubclass(held, BaseModel)}


def _described(kind: type[SettingGroup]) -> str:
    what = "the sections" if _sections(kind) else "any of"
    return f"{kind.noun} with {what} {', '.join(kind.model_fields)}"


def fields_of(kind: type[BaseModel], sections: tuple[str, ...] | None = None) -> Iterator[SettingField]:
    """Yield the fields of settings, or of some of their sections."""
    within = _sections(kind)
    for name, info in kind.model_fields.items():
        if name not in within:
            if sections is None:
                yield _field("", name, kind, info)
        elif sections is None or name in sections:
            for inner, inner_info in within[name].model_fields.items():
                yield _field(name, inner, within[name], inner_info)


def _field(section: str, name: str, kind: type[BaseModel], info: FieldInfo) -> SettingField:
    said = next((rule for rule in info.metadata if isinstance(rule, Setting)), Setting())
    return SettingField(section, name, kind, info, said)


def parse_assignments(
    kind: type[BaseModel], texts: list[str], sections: tuple[str, ...] | None = None
) -> dict[str, dict[str, Any]]:
    """Parse assignments such as ``search.candidates=50``; return the values by section and field.

    The section may be omitted where only one has the field. The last text counts; a list holds the values of all of
    them. An empty text after ``=`` is None or an empty list.

    Raises:
        InputError: A text names no field, or the value has another type.
    """
    found: dict[str, dict[str, Any]] = {}
    for text in texts:
        path, sign, value = text.partition("=")
        if not sign:
            first = next(fields_of(kind, sections))
            example = write_value(first.info.get_default(call_default_factory=True)) or "VALUE"
            raise InputError(f"expected --set as in {first.path}={example}; found {text[:80]!r}")
        field = _field_named(kind, path.strip(), sections)
        read = parse_value(field, value.strip())
        values = found.setdefault(field.section, {})
        values[field.name] = (*values.get(field.name, ()), *read) if field.is_list and read else read
    return found


def _field_named(kind: type[BaseModel], path: str, sections: tuple[str, ...] | None) -> SettingField:
    if issubclass(kind, SettingGroup) and path in kind.former:
        raise InputError(f"expected a setting of this version; found {path}, of an earlier one. {kind.former[path]}")
    fields = {field.path: field for field in fields_of(kind, sections)}
    if path in fields:
        return fields[path]
    ends = [known for known, field in fields.items() if field.name == path]
    if len(ends) == 1:
        return fields[ends[0]]
    if ends:
        raise InputError(f"expected --set with a section; found {path!r}. Write {' or '.join(ends)}")
    if path in {field.path for field in fields_of(kind)}:
        read = ", ".join(sections or ())
        raise InputError(f"expected --set with a setting that this command reads, one of {read}; found {path!r}")
    raise unknown_setting(path, fields)


def unknown_setting(path: str, known: Iterable[str]) -> InputError:
    """Return the error for an unknown setting, with the section's settings."""
    known = tuple(known)
    section, _, name = path.rpartition(".")
    near = [other for other in known if other.startswith(f"{section}.")]
    if close := get_close_matches(name, [other.rpartition(".")[2] for other in near or known], n=1):
        # Names of fields alone are compared: a section before one of the two would hide a slip.
        meant = next(other for other in near or known if other.rpartition(".")[2] == close[0])
        return InputError(f"expected a known setting; found {path[:80]!r}. Did you mean {meant!r}?")
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
        # A text may begin with a bracket, too: only what has no other form is JSON.
        is_json = text.startswith("{") and not field.is_list and get_origin(kind) in (dict, Mapping)
        read = reader.validate_json if is_json else reader.validate_strings
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
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
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
        raise InputError(f"expected no empty values in {field.path}; found {text[:80]!r}")
    return [part.strip() for part in parts]


def request_fields(plan: type[BaseModel]) -> Mapping[str, dict[str, SettingField]]:
    """Return the fields that a request may set, by section and name."""
    found: dict[str, dict[str, SettingField]] = {}
    for field in fields_of(plan):
        if field.setting.by_request:
            found.setdefault(field.section, {})[field.name] = field
    return found


def read_settings(path: Path) -> Mapping[str, Any]:
    """Read a file of settings as plain values: TOML or YAML by its ending, else JSON.

    Raises:
        InputError: The file cannot be read, or holds no settings.
    """
    try:
        text = path.read_text(encoding="utf-8")
        found = _read_toml(text) if path.suffix == ".toml" else _read_yaml(text) if _is_yaml(path) else json.loads(text)
    except OSError as error:
        raise InputError(f"expected a file of settings; found {path}: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"expected settings in JSON, TOML or YAML; found in {path}: {error}") from None
    if not isinstance(found, Mapping):
        raise InputError(f"expected settings, as names with values; found {path}: {found!r:.40}")
    return found  # pyright: ignore[reportUnknownVariableType]


def _text_of(value: object) -> str:
    """Return a path, or a date that TOML or YAML made of a text, as text.

    Raises:
        TypeError: It is something else, which no setting can be.
    """
    if isinstance(value, PurePath | date | time):
        return str(value)
    raise TypeError(f"an object of the type {type(value).__name__}")


def _as_toml(values: Mapping[str, Any]) -> str:
    """Return plain values as TOML, whose texts, numbers and lists are written as in JSON with ASCII alone."""
    sections: dict[str, Mapping[str, Any]] = {
        name: value for name, value in values.items() if isinstance(value, Mapping)
    }
    alone = _lines({name: value for name, value in values.items() if name not in sections})
    return "\n".join([*([alone] if alone else []), *(f"[{name}]\n{_lines(held)}" for name, held in sections.items())])


def _lines(values: Mapping[str, Any]) -> str:
    return "".join(f"{_key(name)} = {json.dumps(value)}\n" for name, value in values.items() if value is not None)


def _key(name: str) -> str:
    return name if name.isidentifier() else json.dumps(name)


def _is_yaml(path: Path) -> bool:
    return path.suffix in (".yaml", ".yml")


def _read_toml(text: str) -> Any:
    import tomllib

    return tomllib.loads(text)


def _read_yaml(text: str) -> Any:
    import yaml  # pyright: ignore[reportMissingModuleSource]

    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(str(error).replace("\n", " ")) from None
