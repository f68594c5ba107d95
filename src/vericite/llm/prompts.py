"""Prompts: TOML files with a name, a version and texts with slots in braces."""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ConfigDict, TypeAdapter, ValidationError

from vericite.errors import InputError
from vericite.llm.chat import Message, canonical

_SLOT = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")


@dataclass(frozen=True)
class Prompt:
    """The fixed part of a request to a language model. Subclasses add the fields of their use.

    Attributes:
        name: Name and version: ``bioace-binary.v1``. In a file they are separate.
        about: Its purpose, and how it differs from its source.
        system: The rules.
        user: The form of the case at hand.
        source: Where it comes from.
    """

    __pydantic_config__ = ConfigDict(extra="forbid", str_strip_whitespace=True)

    name: str
    about: str
    system: str
    user: str
    source: str = ""

    @property
    def signature(self) -> str:
        """Name, version and hash of all fixed text."""
        return signed(self.name, canonical([self.system, self.user]))

    def filled(self, given: Mapping[str, str]) -> tuple[Message, Message]:
        """Fill the slots of both texts."""
        return Message("system", fill(self.system, given)), Message("user", fill(self.user, given))


_Kind = TypeVar("_Kind")


def read_prompt(
    path: Path, kind: type[_Kind], prepare: Callable[[dict[str, Any]], dict[str, Any]] | None = None
) -> _Kind:
    """Read a prompt from a file.

    Args:
        path: The file.
        kind: The class of the prompt.
        prepare: Converts the fields of the file before they are checked.

    Raises:
        InputError: The file does not exist, or is not a valid prompt.
    """
    found = read_toml(path)
    version = found.pop("version", None)
    if not isinstance(version, int) or isinstance(version, bool):
        raise InputError(
            f"expected the version of the prompt in {path} to be a whole number; found {version!r}. Add it."
        )
    if isinstance(name := found.get("name"), str):
        found["name"] = f"{name}.v{version}"
    try:
        return TypeAdapter(kind).validate_python(found if prepare is None else prepare(found))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the file"
        raise InputError(f"expected a prompt in {path}; found a problem with {where}: {first['msg']}") from None
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def read_toml(path: Path) -> dict[str, Any]:
    """Read the fields of a prompt file.

    Raises:
        InputError: The file does not exist, or is not TOML.
    """
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise InputError(f"expected a prompt in {path}; found none: {error.strerror}. Check the path.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"expected TOML in {path}; found something else: {error}. Correct it.") from None


def slots(text: str) -> set[str]:
    """Return the names of a text's slots."""
    return set(_SLOT.findall(text))


def expect_known_slots(name: str, part: str, text: str, must: Sequence[str], may: Sequence[str] = ()) -> None:
    """Refuse a part of a prompt that lacks a required slot, or has an unknown one.

    Raises:
        InputError: A slot is missing or unknown.
    """
    found, known = slots(text), (*must, *may)
    for slot in sorted(found - set(known)):
        raise InputError(
            f"expected the slots of {part} in prompt {name} to be among {', '.join(known)}; found {{{slot}}}. "
            "Correct it, or write it without braces."
        )
    for slot in must:
        if slot not in found:
            raise InputError(f"expected {part} in prompt {name} to have the slot {{{slot}}}; found none. Add it.")


def fill(text: str, given: Mapping[str, str]) -> str:
    """Fill the slots of a text."""
    # In one pass: inserted text may have braces of its own.
    return _SLOT.sub(lambda slot: given[slot[1]], text).strip()


def signed(name: str, fixed: str) -> str:
    """Return a name with the hash of all fixed text."""
    return f"{name}@{hashlib.sha256(fixed.encode()).hexdigest()[:12]}"
