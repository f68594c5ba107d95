"""The exceptions of VeriCite.

A message says what was expected, what was found and what to do next.

VeriCiteError
├── InputError              the user's input cannot be used (exit code 2)
│   ├── RecordError         one record of a file; knows file, line and field
│   ├── ValuesError         invalid Python values for a record; knows the field, and is a ValueError
│   ├── SettingsError       settings of a run that conflict; knows the plan's fields
│   └── UnknownNameError    a protocol, judge or corpus that does not exist
├── ModelError              a model folder cannot be used
│   ├── ModelMissingError   a file of the folder is missing
│   ├── ModelHashError      a file does not match its card
│   └── ModelCardError      the card is malformed, or does not match the weights
├── LLMError                a language model failed
│   ├── LLMAccessError      every call would fail: the key, the credit, the model's name or its address
│   └── LLMStreamError      a streamed reply ended early
├── EntrezError             NCBI's E-utilities gave no usable reply
│   └── EntrezAccessError   every call would fail: the API key, a block, no network, or VERICITE_OFFLINE
├── CatalogueError          Crossref or Europe PMC gave no usable reply
├── OfflineError            VERICITE_OFFLINE forbids a call whose reply is not cached
├── JudgementError          a judge could not judge a pair
├── UnsupportedAnswerError  the sources of an answer support too few of its sentences for a guard
├── ClusterError            workers in other processes or on other machines failed
├── PluginError             a plug-in of another package is unusable
└── MissingExtraError       an optional dependency is not installed
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from types import UnionType
from typing import Self, TypeVar

_Item = TypeVar("_Item")


class VeriCiteError(Exception):
    """Base class of all errors of VeriCite."""


class InputError(VeriCiteError):
    """The user's input cannot be used."""


def expect_type(value: object, kind: type | UnionType, wanted: str, step: str) -> None:
    """Refuse an argument of the wrong type.

    Args:
        value: The argument.
        kind: The expected type.
        wanted: The expected type in words.
        step: What the user should do.

    Raises:
        InputError: The argument has another type.
    """
    if not isinstance(value, kind):
        raise InputError(f"expected {wanted}; found {value!r:.80}. {step}")


def expect_many(values: object, wanted: str) -> None:
    """Refuse a value that is not a collection, or a single text, mapping or record.

    Raises:
        InputError: The value is not a collection of values.
    """
    # Records are pydantic models, and iterating over one yields its fields.
    single = isinstance(values, str | bytes | Mapping) or hasattr(type(values), "model_fields")
    if single or not isinstance(values, Iterable):
        raise InputError(f"expected {wanted}; found {values!r:.80}. Put a single value in a list")


class RecordError(InputError):
    """One record of a file cannot be used.

    Attributes:
        path: The file, or a name such as ``<stdin>``.
        line: The line, counted from 1 (0: unknown).
        field: The invalid field, dotted (``documents.0.id``), or None for the whole line.
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
        """Support pickling."""
        return type(self), (self.path, self.line, self.field, self.problem)


class Problems(list[RecordError]):
    """The records that could not be used. A reader streams ``T | RecordError``; the caller keeps the good ones.

    A function that returns a whole (a list, a mapping) takes a ``Problems`` and adds to it.

    >>> problems = Problems()
    >>> list(problems.kept(["a", RecordError("a.jsonl", 2, "id", "expected an id; found none"), "b"]))
    ['a', 'b']
    >>> len(problems)
    1
    """

    def kept(self, items: Iterable[_Item | RecordError]) -> Iterator[_Item]:
        """Yield the good records; the errors are added."""
        for item in items:
            if isinstance(item, RecordError):
                self.append(item)
            else:
                yield item

    def first_of(self, *paths: Path | str) -> str:
        """A sentence with the first problem of these files, to end a message with; empty if they have none."""
        names = {"<stdin>" if str(path) == "-" else str(path) for path in paths}
        found = next((problem for problem in self if problem.path in names), None)
        return f" The first problem: {found}" if found else ""


class ValuesError(InputError, ValueError):
    """Values that are invalid for a record of the Python API.

    Attributes:
        kind: The record's class.
        field: The invalid field, dotted, or None if fields conflict.
        problem: What was expected and what was found.
    """

    def __init__(self, kind: str, field: str | None, problem: str) -> None:
        self.kind, self.field, self.problem = kind, field, problem
        where = f"{kind}, field {field}" if field else kind
        super().__init__(f"{where}: {problem}. help({kind}) shows its fields")

    def __reduce__(self) -> tuple[type[Self], tuple[str, str | None, str]]:
        """Support pickling."""
        return type(self), (self.kind, self.field, self.problem)


class SettingsError(InputError):
    """Settings of a run that conflict. The message names the plan's fields, such as ``answer.llm``.

    Attributes:
        form: Template of the message, with ``{}`` for each field and ``{name}`` for each value.
        fields: The fields, as section and name.
        values: Other values in the message.
    """

    def __init__(self, form: str, fields: Sequence[str], values: Mapping[str, object] | None = None) -> None:
        self.form, self.fields, self.values = form, tuple(fields), dict(values or {})
        super().__init__(self.named(str))

    def named(self, name_of: Callable[[str], str]) -> str:
        """Return the message with other names for the fields, such as the options of a command."""
        return self.form.format(*map(name_of, self.fields), **self.values)

    def __reduce__(self) -> tuple[type[Self], tuple[str, tuple[str, ...], dict[str, object]]]:
        """Support pickling."""
        return type(self), (self.form, self.fields, self.values)


class UnknownNameError(InputError):
    """An unknown name; the message lists the known names."""

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        names = sorted(set(known))
        self._parts = (kind, name, names)
        close = get_close_matches(name, names, n=1)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        article = "an" if kind[:1].lower() in "aeiou" else "a"
        wanted = f"{article} {kind} out of {', '.join(names)}" if names else f"no {kind}, which has none to give"
        super().__init__(f"expected {wanted}; found {name!r}.{hint}")

    def __reduce__(self) -> tuple[type[Self], tuple[str, str, list[str]]]:
        """Support pickling."""
        return type(self), self._parts


class ModelError(VeriCiteError):
    """A model folder cannot be used."""


class ModelMissingError(ModelError):
    """A file of a model folder is missing."""


class ModelHashError(ModelError):
    """A model file does not match its card."""


class ModelCardError(ModelError):
    """The card of a model is malformed, or does not match the weights."""


class JudgementError(VeriCiteError):
    """A judge could not judge a pair. In a run this is recorded, not raised."""

    def __init__(self, reason: str, raw: str | None = None) -> None:
        self._parts = (reason, raw)
        reply = f" It said: {raw[:500]}" if raw else ""
        super().__init__(f"expected a judgement; found none: {reason}.{reply}")

    def __reduce__(self) -> tuple[type[Self], tuple[str, str | None]]:
        """Support pickling."""
        return type(self), self._parts


class UnsupportedAnswerError(VeriCiteError):
    """The sources of an answer support fewer of its sentences than a guard requires.

    Attributes:
        checked: The ``CheckedAnswer``.
        share: The share of supported sentences; None if nothing could be judged.
        at_least: The share that the guard requires.
        reason: A line for each sentence.
    """

    def __init__(self, checked: object, share: float | None, at_least: float, reason: str) -> None:
        self.checked, self.share, self.at_least, self.reason = checked, share, at_least, reason
        found = "none that could be judged" if share is None else f"{share:.3g}"
        super().__init__(
            f"expected at least {at_least:g} of the sentences to be supported by their sources; found {found}. "
            f"Answer again, or lower at_least. {reason}"
        )

    def __reduce__(self) -> tuple[type[Self], tuple[object, float | None, float, str]]:
        """Support pickling."""
        return type(self), (self.checked, self.share, self.at_least, self.reason)


class PluginError(VeriCiteError):
    """A plug-in that another package provides through an entry point is unusable."""


class LLMError(VeriCiteError):
    """A language model failed."""


class LLMAccessError(LLMError):
    """Every call would fail, because of the key, the credit, the model's name or its address."""


class LLMStreamError(LLMError):
    """A streamed reply ended early; only the part before the error was received."""


class EntrezError(VeriCiteError):
    """NCBI's E-utilities gave no usable reply, even after retries."""


class EntrezAccessError(EntrezError):
    """Every call would fail: the API key is wrong, NCBI blocks or is unreachable, or VERICITE_OFFLINE is set."""


class CatalogueError(VeriCiteError):
    """Crossref or Europe PMC gave no usable reply, even after retries, or VERICITE_OFFLINE is set."""


class OfflineError(VeriCiteError):
    """VERICITE_OFFLINE forbids a call, and the reply is not in the cache. Also the error of the service."""


class ClusterError(VeriCiteError):
    """Workers in other processes or on other machines failed."""


class MissingExtraError(VeriCiteError):
    """An optional dependency is not installed; the message has the command that installs it."""

    def __init__(self, extra: str, purpose: str) -> None:
        self.extra = extra
        self.purpose = purpose
        super().__init__(f"{purpose} needs the extra [{extra}]. Install it: pip install 'vericite[{extra}]'")

    def __reduce__(self) -> tuple[type[Self], tuple[str, str]]:
        """Support pickling."""
        return type(self), (self.extra, self.purpose)
