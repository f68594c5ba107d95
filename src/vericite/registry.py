"""Registries of named objects: our own, and those that installed packages provide through entry points."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields, is_dataclass, replace
from functools import lru_cache, wraps
from importlib.metadata import EntryPoint, entry_points
from types import FunctionType, MethodType
from typing import Any, Generic, NamedTuple, TypeVar, cast

from pydantic import ValidationError

from vericite.errors import InputError, PluginError, UnknownNameError, VeriCiteError

_LOG = logging.getLogger(__name__)
T = TypeVar("T")
G = TypeVar("G")


def expect_function(found: Callable[..., T]) -> Callable[..., T]:
    """Check that an object is a function; for ``kept`` of a registry of functions."""
    if not callable(found):
        raise TypeError("expected a function")
    return found


class Plugin(NamedTuple):
    """A name that an installed package registers; the package itself is not loaded for this.

    Attributes:
        name: The name.
        value: Where the thing is, as in ``package.module:attribute``.
        package: The package that provides it, with its version.
    """

    name: str
    value: str
    package: str


@lru_cache(maxsize=64)
def _installed(group: str, _path: tuple[str, ...]) -> dict[str, EntryPoint]:
    """Return the entry points of a group, looked up again when the search path changes."""
    return {entry.name: entry for entry in sorted(entry_points(group=group), key=lambda entry: entry.name)}


def _package(entry: EntryPoint) -> str:
    return f"{entry.dist.name} {entry.dist.version}" if entry.dist else "an unknown package"


class Registry(Mapping[str, T], Generic[T]):
    """Objects of one kind by name. One of ours hides a plugin of the same name.

    As a mapping it has our objects and the plugins' names; a plugin is loaded when it is first looked up.

    Args:
        kind: The word for such an object in messages.
        own: Our objects, in the order in which they are listed and tried.
        group: The entry-point group for plugins; empty if there can be none.
        kept: Types that a plugin's object must be an instance of, or a function that makes the thing of the object and
            raises ``TypeError`` or ``ValueError`` with what is wrong.
        last: Our things that come after the plugins where things are tried in order, because they fit anything.
    """

    def __init__(
        self,
        kind: str,
        own: Mapping[str, T],
        group: str = "",
        kept: type[T] | Callable[[Any], T] | None = None,
        last: tuple[str, ...] = (),
    ) -> None:
        self.kind, self.group = kind, group
        self._own, self._kept, self._last = dict(own), kept, last
        self._loaded: dict[int, tuple[EntryPoint, T]] = {}
        self._warned: set[str] = set()

    @property
    def _entries(self) -> dict[str, EntryPoint]:
        found = _installed(self.group, tuple(sys.path)) if self.group else {}
        return {name: entry for name, entry in found.items() if name not in self._own}

    @property
    def own(self) -> Mapping[str, T]:
        """Our objects."""
        return self._own

    @property
    def plugins(self) -> tuple[Plugin, ...]:
        """The plugins of installed packages, sorted by name."""
        return tuple(Plugin(entry.name, entry.value, _package(entry)) for entry in self._entries.values())

    def __iter__(self) -> Iterator[str]:
        yield from (name for name in self._own if name not in self._last)
        yield from self._entries
        yield from self._last

    def __len__(self) -> int:
        return len(self._own) + len(self._entries)

    def __contains__(self, name: object) -> bool:
        return name in self._own or name in self._entries

    def __getitem__(self, name: str) -> T:
        if name in self._own:
            return self._own[name]
        entry = self._entries[name]
        # By identity, and the entry is kept: another package that is found later under the same name is another entry.
        if id(entry) not in self._loaded:
            self._loaded[id(entry)] = entry, self._load(entry)
        return self._loaded[id(entry)][1]

    def usable(self) -> Iterator[tuple[str, T]]:
        """Yield names and objects in order; a plugin that cannot be loaded is left out with a warning, given once."""
        for name in self:
            try:
                yield name, self[name]
            except PluginError as error:
                if name not in self._warned:
                    self._warned.add(name)
                    _LOG.warning("%s", error)

    def named(self, name: str) -> T:
        """Return the object with this name.

        Raises:
            UnknownNameError: There is none; the message lists the names and the closest one.
            PluginError: Another package's cannot be loaded, or is of another kind.
        """
        if name not in self:
            raise UnknownNameError(self.kind, name, self)
        return self[name]

    def _load(self, entry: EntryPoint) -> T:
        try:
            found = entry.load()
            if isinstance(self._kept, type):
                if not isinstance(found, self._kept):
                    raise TypeError(f"expected {self._kept.__name__}; found {type(found).__name__}")
                return self._guarded(entry.name, found)
            return self._guarded(entry.name, found if self._kept is None else self._kept(found))
        except InputError:
            raise
        except Exception as error:  # another package may raise anything
            raise self.broken(entry.name, f"{type(error).__name__}: {error}") from error

    def expect(self, name: str, thing: G, *methods: str) -> G:
        """Return what a plugin made, with its methods guarded.

        Raises:
            PluginError: It has no text as its signature, or lacks the first of these methods.
        """
        if not isinstance(getattr(thing, "signature", None), str):
            raise self.broken(name, f"{type(thing).__name__} without a text as its signature")
        if not callable(getattr(thing, methods[0], None)):
            raise self.broken(name, f"{type(thing).__name__} without a method {methods[0]}")
        return self._guard_methods(name, thing, *methods)

    def _guard_methods(self, name: str, thing: G, *methods: str) -> G:
        """Guard these methods of an object that a plugin made; one that has fixed slots is left as it is."""
        own: dict[str, Any] = getattr(thing, "__dict__", {})
        for method in methods:
            if hasattr(thing, "__dict__") and method not in own and callable(found := getattr(thing, method, None)):
                # Not setattr: the object may be a frozen dataclass.
                object.__setattr__(thing, method, self._guard(name, found))
        return thing

    def _guarded(self, name: str, thing: Any) -> Any:
        """Return a plugin's thing, with functions that raise ``PluginError`` in place of unexpected errors.

        Guarded are the functions in the fields of a dataclass, the methods that a class defines, and a function itself.
        Other things are returned as they are.
        """
        if isinstance(thing, type):
            for key, value in list(vars(cast("type[Any]", thing)).items()):
                if isinstance(value, FunctionType) and not key.startswith("__"):
                    setattr(cast("type[Any]", thing), key, self._guard(name, value))
            return cast("type[Any]", thing)
        if is_dataclass(thing):
            values = {field.name: getattr(thing, field.name) for field in fields(thing) if field.init}
            changed = {key: self._guard(name, value) for key, value in values.items() if callable(value)}
            return cast("Any", replace)(thing, **changed)
        return self._guard(name, thing) if isinstance(thing, FunctionType | MethodType) else thing

    def _guard(self, name: str, function: Callable[..., Any]) -> Any:
        @wraps(function)
        def called(*args: Any, **options: Any) -> Any:
            with self._errors(name):
                found = function(*args, **options)
            return self._each(name, cast("Iterator[Any]", found)) if isinstance(found, Iterator) else found

        return called

    def _each(self, name: str, items: Iterator[Any]) -> Iterator[Any]:
        with self._errors(name):
            yield from items

    @contextmanager
    def _errors(self, name: str) -> Generator[None]:
        try:
            yield
        # Errors that readers may raise about their input, by contract.
        except (VeriCiteError, ValidationError, OSError):
            raise
        except Exception as error:  # another package may raise anything
            raise self.broken(name, f"{type(error).__name__}: {error}") from error

    def broken(self, name: str, found: str) -> PluginError:
        """Return the error about a plugin that cannot be used."""
        entry = self._entries[name]
        article = "an" if self.kind[:1] in "aeiou" else "a"
        return PluginError(
            f"expected {article} {self.kind} from the entry point {entry.name} = {entry.value} of {_package(entry)}; "
            f"found {found}. See docs/extending.md, or tell its authors."
        )
