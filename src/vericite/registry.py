"""Things that have a name: our own, and those that installed packages bring through entry points."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Generic, NamedTuple, TypeVar

from vericite.errors import InputError, PluginError, UnknownNameError

T = TypeVar("T")


class Plugin(NamedTuple):
    """A name that an installed package brings; nothing of the package is loaded for it.

    Attributes:
        name: The name.
        value: Where the thing is, as in ``package.module:attribute``.
        package: The package that brings it, with its version.
    """

    name: str
    value: str
    package: str


@lru_cache(maxsize=64)
def _installed(group: str, _path: tuple[str, ...]) -> dict[str, EntryPoint]:
    """The entry points of a group, looked up again when the search path changes."""
    return {entry.name: entry for entry in sorted(entry_points(group=group), key=lambda entry: entry.name)}


def _package(entry: EntryPoint) -> str:
    return f"{entry.dist.name} {entry.dist.version}" if entry.dist else "an unknown package"


class Registry(Mapping[str, T], Generic[T]):
    """Things of one kind by name. A thing of ours hides another package's of the same name.

    As a mapping it has our things and the plugins' names; a plugin is loaded when it is first looked up.

    Args:
        kind: What such a thing is called in messages.
        own: Our things, in the order in which they are listed and tried.
        group: The entry points through which packages bring theirs; empty where none may.
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

    @property
    def _entries(self) -> dict[str, EntryPoint]:
        found = _installed(self.group, tuple(sys.path)) if self.group else {}
        return {name: entry for name, entry in found.items() if name not in self._own}

    @property
    def own(self) -> Mapping[str, T]:
        """Our things."""
        return self._own

    @property
    def plugins(self) -> tuple[Plugin, ...]:
        """What installed packages bring, sorted by name."""
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

    def named(self, name: str) -> T:
        """The thing of this name.

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
                return found
            return found if self._kept is None else self._kept(found)
        except InputError:
            raise
        except Exception as error:  # another package may raise anything
            raise self.broken(entry.name, f"{type(error).__name__}: {error}") from error

    def broken(self, name: str, found: str) -> PluginError:
        """The error about a plugin that cannot be used."""
        entry = self._entries[name]
        return PluginError(
            f"expected a {self.kind} from the entry point {entry.name} = {entry.value} of {_package(entry)}; "
            f"found {found}. See docs/extending.md, or tell its authors."
        )
