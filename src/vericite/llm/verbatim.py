"""Prompts word for word: exactly a file's text is sent, with its slots filled.

    name = "a-paper"
    version = 1
    about = "Its appendix, as printed."
    verbatim = true
    temperature = 0.4

    [[turns]]
    role = "system"
    text = \"\"\"...\"\"\"

    [[turns]]
    role = "user"
    text = \"\"\"... {documents} ... {question} ...\"\"\"

``system`` and ``user`` may be given instead of turns. Braces around other words are plain text, and no space or line
end is removed. The defences of our own prompts are absent: no notice that documents are data, no tags around them, and
no removal of marks from them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import ConfigDict

from vericite.errors import InputError
from vericite.llm.chat import ChatRequest, FrozenSchema, Message, as_block, canonical
from vericite.llm.prompts import Prompt, expect_known_slots, read_prompt, read_toml, signed

_SLOT = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")


@dataclass(frozen=True)
class Turn:
    """One turn of the conversation, with slots."""

    __pydantic_config__ = ConfigDict(extra="forbid")

    role: Literal["system", "user", "assistant"]
    text: str


def is_verbatim(path: Path) -> bool:
    """Whether a prompt file is to be sent word for word.

    Raises:
        InputError: The file cannot be read.
    """
    return read_toml(path).get("verbatim") is True


def with_turns(found: dict[str, Any]) -> dict[str, Any]:
    """Convert ``system`` and ``user`` in the fields of a file to turns.

    Raises:
        InputError: The file has both forms, or none that ends with the user.
    """
    plain = [{"role": role, "text": found[role]} for role in ("system", "user") if role in found]
    turns = found.get("turns", [])
    if bool(plain) == bool(turns):
        raise InputError(
            f"expected turns ([[turns]] with role and text), or system and user; found {'both' if plain else 'neither'}"
        )
    rest = {name: value for name, value in found.items() if name not in ("system", "user", "turns")}
    return {**rest, "turns": plain or turns}


def fill_turns(turns: Sequence[Turn], given: Mapping[str, str]) -> tuple[Message, ...]:
    """Fill the slots of the turns; braces around other words stay as they are."""
    return tuple(Message(turn.role, fill_verbatim(turn.text, given)) for turn in turns)


def fill_verbatim(text: str, given: Mapping[str, str]) -> str:
    """Fill the slots of a text in one pass, without removing any space."""
    return _SLOT.sub(lambda slot: given.get(slot[1], slot[0]), text)


def expect_slots(name: str, turns: Sequence[Turn], wanted: Sequence[str]) -> None:
    """Refuse turns that lack a slot they need.

    Raises:
        InputError: A slot is missing, or the last turn is not the user's.
    """
    found = {slot for turn in turns for slot in _SLOT.findall(turn.text)}
    for slot in wanted:
        if slot not in found:
            raise InputError(
                f"expected prompt {name} to have the slot {{{slot}}}; found none. Put it where it belongs."
            )
    if turns[-1].role == "system":
        raise InputError(f"expected prompt {name} to end with a turn of the user; found one of the system. Add it.")


_Label = TypeVar("_Label", bound=str)


def find_label(labels: Iterable[_Label], reply: str) -> _Label | None:
    """Return the label in a reply, with or without other words and punctuation; None if it has none, or several.

    A label within a longer one ("attributable" in "not attributable") does not count.
    """
    said = {_bare(label): label for label in sorted(labels, key=len, reverse=True)}
    if (whole := said.get(_bare(reply))) is not None:
        return whole
    inside = re.compile(r"(?<!\w)(?:" + "|".join(map(re.escape, said)) + r")(?!\w)")
    found = {said[label] for label in inside.findall(_bare(reply))}
    return found.pop() if len(found) == 1 else None


def _bare(text: str) -> str:
    return " ".join(re.sub(r"[\W_]+", " ", text).split()).casefold()


def sign_verbatim(name: str, fixed: object) -> str:
    """Return a name that says verbatim, with the hash of all fixed text."""
    return signed(f"{name}[verbatim]", canonical(fixed))


@dataclass(frozen=True)
class VerbatimPrompt:
    """A prompt for any use; the caller defines its slots.

    Attributes:
        name: Name and version.
        about: Its purpose.
        turns: The conversation.
        source: Where it comes from.
        temperature: Sampling temperature.
        top_p: Nucleus sampling; None uses the service's default.
        max_tokens: Maximum length of the reply.
    """

    __pydantic_config__ = ConfigDict(extra="forbid")

    name: str
    about: str
    turns: tuple[Turn, ...]
    source: str = ""
    verbatim: Literal[True] = True
    temperature: float | None = 0.0
    top_p: float | None = None
    max_tokens: int = 512

    @classmethod
    def read(cls, path: Path) -> VerbatimPrompt:
        """Read a prompt from a file.

        Raises:
            InputError: The file does not exist or does not contain a valid prompt.
        """
        return read_prompt(path, cls, with_turns)

    @property
    def signature(self) -> str:
        """Name, version, the word verbatim, and the hash of its turns."""
        return sign_verbatim(self.name, [[turn.role, turn.text] for turn in self.turns])

    def request(self, given: Mapping[str, str]) -> ChatRequest:
        """Make the request with these texts in its slots."""
        return ChatRequest(fill_turns(self.turns, given), self.max_tokens, self.temperature, self.top_p)


def read_any(path: Path) -> Prompt | VerbatimPrompt:
    """Read a prompt from a file, verbatim or not.

    Raises:
        InputError: The file does not exist, or is not a prompt.
    """
    return VerbatimPrompt.read(path) if is_verbatim(path) else read_prompt(path, Prompt)


def expect_texts(prompt: Prompt | VerbatimPrompt, names: Sequence[str], may: Sequence[str] = ()) -> None:
    """Refuse a prompt that lacks a slot for one of its texts, or that has a slot which nothing fills.

    It may also have the slots in ``may``.

    In a verbatim prompt, braces around other words are plain text.

    Raises:
        InputError: A slot is missing or unknown.
    """
    if isinstance(prompt, VerbatimPrompt):
        expect_slots(prompt.name, prompt.turns, names)
        return
    expect_known_slots(prompt.name, "system", prompt.system, (), names)
    expect_known_slots(prompt.name, "user", prompt.user, names, may)


def request_with(
    prompt: Prompt | VerbatimPrompt, texts: Mapping[str, str], max_tokens: int, schema: FrozenSchema | None = None
) -> ChatRequest:
    """Make the request with these texts: as they are in a verbatim prompt, otherwise delimited as data.

    Args:
        prompt: The prompt.
        texts: The texts, by slot.
        max_tokens: Maximum length of the reply; a verbatim prompt has its own.
        schema: Form of the reply; a verbatim prompt asks for its own.
    """
    if isinstance(prompt, VerbatimPrompt):
        return prompt.request(texts)
    given = {name: as_block(name, text) for name, text in texts.items()}
    return ChatRequest(prompt.filled(given), max_tokens=max_tokens, schema=schema)
