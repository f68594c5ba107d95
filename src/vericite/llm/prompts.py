"""Prompts: TOML files with a name, a version and texts with slots in braces, all read in one way."""

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
    """What is fixed in what a language model is asked. A use that needs more has fields of its own beside these.

    Attributes:
        name: Name and version: ``bioace-binary.v1``. A file has them apart.
        about: What it is for, and how it differs from where it comes from.
        system: The rules.
        user: How the case at hand is shown.
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
        """Name, version and hash of all that is fixed in it."""
        return signed(self.name, canonical([self.system, self.user]))

    def filled(self, given: Mapping[str, str]) -> tuple[Message, Message]:
        """The prompt with these texts in its slots."""
        return Message("system", fill(self.system, given)), Message("user", fill(self.user, given))


_Kind = TypeVar("_Kind")


def read_prompt(
    path: Path, kind: type[_Kind], prepare: Callable[[dict[str, Any]], dict[str, Any]] | None = None
) -> _Kind:
    """The prompt in a file.

    Args:
        path: The file.
        kind: What prompts of its use have.
        prepare: Puts the fields of the file in order before they are checked.

    Raises:
        InputError: The file is not there, or no prompt: what is wrong with it.
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
    """The fields of a prompt's file.

    Raises:
        InputError: It is not there, or no TOML.
    """
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise InputError(f"expected a prompt in {path}; found none: {error.strerror}. Check the path.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"expected TOML in {path}; found something else: {error}. Correct it.") from None


def slots(text: str) -> set[str]:
    """The names of a text's slots."""
    return set(_SLOT.findall(text))


def expect_known_slots(name: str, part: str, text: str, must: Sequence[str], may: Sequence[str] = ()) -> None:
    """Refuse a part of a prompt that would not show what it is about, or has a slot that nothing goes into.

    Raises:
        InputError: It has a slot beyond these, or lacks one that it must have.
    """
    found, known = slots(text), (*must, *may)
    for slot in sorted(found - set(known)):
        raise InputError(
            f"expected the slots of {part} in prompt {name} to be of {', '.join(known)}; found {{{slot}}}. Correct it, "
            "or write it without braces."
        )
    for slot in must:
        if slot not in found:
            raise InputError(f"expected {part} in prompt {name} to have the slot {{{slot}}}; found none. Add it.")


def fill(text: str, given: Mapping[str, str]) -> str:
    """The text with these in its slots."""
    # In one pass: what is filled in may hold braces of its own.
    return _SLOT.sub(lambda slot: given[slot[1]], text).strip()


def signed(name: str, fixed: str) -> str:
    """A name with the hash of all that is fixed."""
    return f"{name}@{hashlib.sha256(fixed.encode()).hexdigest()[:12]}"
