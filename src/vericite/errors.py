"""Everything VeriCite raises on purpose.

A message says what was expected, what was found and what to do next.

VeriCiteError
├── InputError              the user's input cannot be used (exit code 2)
│   ├── RecordError         one record of a file; knows file, line and field
│   ├── ValuesError         values of Python that no such record can have; knows the field, and is a ValueError
│   ├── SettingsError       settings of a run that do not go together; knows the plan's fields
│   └── UnknownNameError    a protocol, judge or corpus that does not exist
├── ModelError              a model folder cannot be used
│   ├── ModelMissingError   a file of the folder is not there
│   ├── ModelHashError      a file is not the one its card describes
│   └── ModelCardError      the card, or what it promises of the weights, is wrong
├── LLMError                a language model cannot be asked
│   ├── LLMAccessError      every call would fail alike: the key, the credit, the model's name or its address
│   └── LLMStreamError      a streamed reply that could not be had to its end
├── EntrezError             NCBI's E-utilities gave no usable reply
│   └── EntrezAccessError   every call would fail alike: the API key, a block, no network, or VERICITE_OFFLINE
├── JudgementError          a judge could not judge the one pair it was asked about
├── ClusterError            workers on other processes or machines cannot do their work
├── PluginError             what another package brings cannot be used
└── MissingExtraError       an optional dependency is not installed
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from types import UnionType
from typing import Self


class VeriCiteError(Exception):
    """Base of every error VeriCite raises on purpose."""


class InputError(VeriCiteError):
    """The user's input cannot be used."""


def expect_type(value: object, kind: type | UnionType, wanted: str, step: str) -> None:
    """Refuse a value of another type, where users of Python give it.

    Args:
        value: What was given.
        kind: What it is to be.
        wanted: The same in words.
        step: What to do about it.

    Raises:
        InputError: It is of another type.
    """
    if not isinstance(value, kind):
        raise InputError(f"expected {wanted}; found {value!r:.80}. {step}")


def expect_many(values: object, wanted: str) -> None:
    """Refuse what is no list or stream, or a single text, mapping or record in the place of one.

    Raises:
        InputError: It is.
    """
    # Records are pydantic models, over whose fields one can iterate.
    single = isinstance(values, str | bytes | Mapping) or hasattr(type(values), "model_fields")
    if single or not isinstance(values, Iterable):
        raise InputError(f"expected {wanted}; found {values!r:.80}. Put a single one in a list")


class RecordError(InputError):
    """One record of a file cannot be used.

    Attributes:
        path: The file, or a name such as ``<stdin>``.
        line: The line, counted from 1; 0 where none can be named.
        field: The field at fault, dotted (``documents.0.id``), or None where the line as a whole is.
        problem: What was expected and what was found.
    """

    def __init__(self, path: Path | str, line: int, field: str | None, problem: str) -> None:
        self.path = "<stdin>" if str(path) == "-" else str(path)
        self.line = line
        self.field = field
        self.problem = problem
        where = self.path + (f", line {line}" if line else "") + (f", field {field}" if field else "")
        super().__init__(f"{where}: {problem}")

    def __reduce__(self) -> tuple[type[Self], tuple[str, int, str | None, str]]:
        """So that it survives the way to another process."""
        return type(self), (self.path, self.line, self.field, self.problem)


class ValuesError(InputError, ValueError):
    """A record of the Python API cannot be made of these values.

    Attributes:
        kind: The record's class.
        field: The field at fault, dotted, or None where they do not go together.
        problem: What was expected and what was found.
    """

    def __init__(self, kind: str, field: str | None, problem: str) -> None:
        self.kind, self.field, self.problem = kind, field, problem
        where = f"{kind}, field {field}" if field else kind
        super().__init__(f"{where}: {problem}. help({kind}) shows its fields")

    def __reduce__(self) -> tuple[type[Self], tuple[str, str | None, str]]:
        """So that it survives the way to another process."""
        return type(self), (self.kind, self.field, self.problem)


class SettingsError(InputError):
    """Settings of a run that do not go together. The message names the plan's fields, such as ``answer.llm``.

    Attributes:
        form: The message, with ``{}`` for each field and ``{name}`` for each value.
        fields: The fields, by section and name.
        values: What else the message says.
    """

    def __init__(self, form: str, fields: Sequence[str], values: Mapping[str, object] | None = None) -> None:
        self.form, self.fields, self.values = form, tuple(fields), dict(values or {})
        super().__init__(self.named(str))

    def named(self, name_of: Callable[[str], str]) -> str:
        """The message with other names for the fields, such as the options of a command."""
        return self.form.format(*map(name_of, self.fields), **self.values)

    def __reduce__(self) -> tuple[type[Self], tuple[str, tuple[str, ...], dict[str, object]]]:
        """So that it survives the way to another process."""
        return type(self), (self.form, self.fields, self.values)


class UnknownNameError(InputError):
    """A name that is in no registry; the message lists the names there are."""

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        names = sorted(set(known))
        self._parts = (kind, name, names)
        close = get_close_matches(name, names, n=1)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        article = "an" if kind[:1].lower() in "aeiou" else "a"
        wanted = f"{article} {kind} out of {', '.join(names)}" if names else f"no {kind}, which has none to give"
        super().__init__(f"expected {wanted}; found {name!r}.{hint}")

    def __reduce__(self) -> tuple[type[Self], tuple[str, str, list[str]]]:
        """So that it survives the way to another process."""
        return type(self), self._parts


class ModelError(VeriCiteError):
    """A model folder cannot be used."""


class ModelMissingError(ModelError):
    """A file of a model folder is not there."""


class ModelHashError(ModelError):
    """A model file is not the one its card describes."""


class ModelCardError(ModelError):
    """The card of a model is malformed, or the weights do not do what it says."""


class JudgementError(VeriCiteError):
    """A judge could not judge the one pair it was asked about; in a run this is recorded, not raised."""

    def __init__(self, reason: str, raw: str | None = None) -> None:
        self._parts = (reason, raw)
        reply = f" It said: {raw[:500]}" if raw else ""
        super().__init__(f"expected a judgement; found none: {reason}.{reply}")

    def __reduce__(self) -> tuple[type[Self], tuple[str, str | None]]:
        """So that it survives the way to another process."""
        return type(self), self._parts


class PluginError(VeriCiteError):
    """What another package brings through an entry point cannot be used."""


class LLMError(VeriCiteError):
    """A language model cannot be asked."""


class LLMAccessError(LLMError):
    """Every call would fail alike: the key, the credit, the model's name or its address is at fault."""


class LLMStreamError(LLMError):
    """A streamed reply could not be had to its end; what came before the error is all there is."""


class EntrezError(VeriCiteError):
    """NCBI's E-utilities gave no usable reply, however often they were asked."""


class EntrezAccessError(EntrezError):
    """Every call would fail alike: the API key, a block, no way to NCBI, or VERICITE_OFFLINE is set."""


class ClusterError(VeriCiteError):
    """Workers on other processes or machines cannot do their work."""


class MissingExtraError(VeriCiteError):
    """An optional dependency is not installed; the message gives the line that installs it."""

    def __init__(self, extra: str, purpose: str) -> None:
        self.extra = extra
        self.purpose = purpose
        super().__init__(f"{purpose} needs the extra [{extra}]. Install it: pip install 'vericite[{extra}]'")

    def __reduce__(self) -> tuple[type[Self], tuple[str, str]]:
        """So that it survives the way to another process."""
        return type(self), (self.extra, self.purpose)
