"""Base classes of records, and reading and writing JSON Lines without loss."""

from __future__ import annotations

import json
import logging
import os
import re
import select
import stat
import sys
import weakref
import zlib
from codecs import BOM_UTF8
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from difflib import get_close_matches
from gzip import BadGzipFile, GzipFile
from io import BufferedReader, BytesIO, RawIOBase
from pathlib import Path
from tempfile import mkstemp
from typing import IO, TYPE_CHECKING, Annotated, Any, BinaryIO, Never, Self, TypeVar, cast, get_args

from pydantic import AfterValidator, AliasChoices, BaseModel, ConfigDict, ValidationError, model_validator
from pydantic.fields import FieldInfo

from vericite.errors import InputError, RecordError, ValuesError
from vericite.records.digests import changed, known_digests, line_digest

SCHEMA_VERSION = 1
"""Version of the JSON form of the records; files of a later version are refused."""


LONGEST_LINE = 1 << 26
"""Maximum bytes of a line: 64 MiB. A longer line is one bad record."""

MOST_SKIPPED = 1 << 30
"""Maximum bytes of a line that is skipped for its length: 1 GiB. A file with a longer one is refused."""

MOST_KEPT = 1 << 33
"""Maximum bytes of the standard input that are stored in a file: 8 GiB."""

MOST_LINES = 10_000_000
"""Maximum number of lines read from the standard input or another pipe. A file may have more."""

MOST_FAULTS = 10_000
"""Number of unreadable records at the start of a file after which the whole file is refused."""

WAITED = 2.0
"""Seconds without a byte from a pipe or a terminal until a message says that the command is waiting."""

_LOG = logging.getLogger(__name__)

STDIN = Path("-")
"""The path of the standard input."""

_GZIP = b"\x1f\x8b"
_SURROGATE = re.compile("[\ud800-\udfff]")


def storable(text: str) -> str:
    """Replace lone surrogates, which cannot be written to a file, with U+FFFD; the length stays the same."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


class Record(BaseModel):
    """A frozen value. Unknown fields and values of another type are refused, not coerced.

    Raises:
        ValuesError: A field is unknown, missing, or has another type.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)

    if not TYPE_CHECKING:  # Type checkers derive it from the fields.

        def __init__(self, /, **data: Any) -> None:
            try:
                self.__pydantic_validator__.validate_python(data, self_instance=self)
            except ValidationError as error:
                raise ValuesError(type(self).__name__, *first_problem(error, type(self))) from None

        # As pydantic marks its own __init__: nested records, and those read from JSON, are built without calling it.
        __init__.__pydantic_base_init__ = True

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Return a copy with some fields changed; cached properties are computed again."""
        copied = super().model_copy(update=update, deep=deep)
        for name in set(vars(copied)) - set(type(self).model_fields):
            vars(copied).pop(name)
        return copied


class FrozenDict(dict[str, Any]):
    """A mapping that cannot be changed, so that records with mappings are immutable too."""

    def _refuse(self, *_: object, **__: object) -> Never:
        raise TypeError("expected nothing to change a record's mapping; make a copy of the record with another")

    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = _refuse  # pyright: ignore

    def __hash__(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        return hash(frozenset(self.items()))

    def __reduce__(self) -> tuple[type[FrozenDict], tuple[dict[str, Any]]]:
        return FrozenDict, (dict(self),)


FloatMap = Annotated[Mapping[str, float], AfterValidator(FrozenDict)]
"""Numbers by name, frozen."""

Names = Annotated[Mapping[str, str], AfterValidator(FrozenDict)]
"""Words by name, frozen."""


class Span(Record):
    """A half-open range of characters (Python code points) in a text."""

    start: int
    end: int

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if not 0 <= self.start <= self.end:
            raise ValueError(f"expected 0 <= start <= end; found start {self.start}, end {self.end}")
        return self

    @property
    def slice(self) -> slice:
        """The span as a slice: ``text[span.slice]`` is the text that it covers."""
        return slice(self.start, self.end)

    def shifted(self, by: int) -> Span:
        """Return the span in a text with ``by`` more characters in front."""
        return Span(start=self.start + by, end=self.end + by)


Model = TypeVar("Model", bound=BaseModel)
_Read = TypeVar("_Read")


def parse_record(kind: type[Model], line: str, path: Path | str, number: int) -> Model:
    """Parse one line as a record.

    Raises:
        RecordError: The line is not such a record; names the file, the line and the field.
    """
    if problem := several_values(line):
        raise RecordError(path, number, None, problem)
    try:
        return kind.model_validate_json(line)
    except ValidationError as error:
        raise RecordError(path, number, *first_problem(error, kind)) from None


class SeveralValues(dict[str, Any]):
    """A JSON object with a repeated name; ``problem`` says which."""

    problem: str = ""


def object_of(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Build the object of these pairs; ``SeveralValues`` if a name is repeated in it or in an object within."""
    made = dict(pairs)
    problem = ""
    if len(made) < len(pairs):
        names = [name for name, _ in pairs]
        shown = ", ".join(repr(storable(name[:40])) for name in made if names.count(name) > 1)
        problem = f"expected each field once; found several values of {shown}. Keep one of them"
    problem = problem or next(
        (inner.problem for value in made.values() for inner in _within(value) if inner.problem), ""
    )
    if problem:
        made = SeveralValues(made)
        made.problem = problem
    return made


def _within(value: object) -> Iterator[SeveralValues]:
    """Yield the objects with repeated names in a value: itself, or those in its lists, however deep."""
    left = [value]
    while left:
        item = left.pop()
        if isinstance(item, SeveralValues):
            yield item
        elif isinstance(item, list):
            left += reversed(cast("list[object]", item))


_DECODER = json.JSONDecoder(object_pairs_hook=object_of, parse_int=str, parse_float=str)


def several_values(text: str) -> str | None:
    """Describe a name that is repeated in an object of this JSON; None if there is none, or the text is not JSON."""
    try:
        value: object = _DECODER.decode(text)
    except (ValueError, RecursionError):
        return None
    return next((inner.problem for inner in _within(value)), None)


def read_jsonl(kind: type[Model], path: Path) -> Iterator[Model]:
    """Stream the records of a file; empty lines are skipped.

    Raises:
        InputError: The file cannot be read.
        RecordError: A line is not such a record.
    """
    for item in number_jsonl(kind, path):
        if isinstance(item, RecordError):
            raise item
        yield item[1]


def number_jsonl(kind: type[Model], path: Path) -> Iterator[tuple[int, Model] | RecordError]:
    """Stream a file's records with their line numbers, from 1. A bad line yields its error.

    Raises:
        InputError: The file cannot be read at all.
    """
    return expecting_records(_records(kind, path), path)


def _records(kind: type[Model], path: Path) -> Iterator[tuple[int, Model] | RecordError]:
    for line in number_lines(path):
        try:
            yield line if isinstance(line, RecordError) else (line[0], parse_record(kind, line[1], path, line[0]))
        except RecordError as error:
            yield error


def expecting_records(items: Iterable[_Read], path: Path) -> Iterator[_Read]:
    """Stream records and errors; refuse a file of which nothing can be read, instead of listing all its errors.

    Raises:
        InputError: There were more than ``MOST_FAULTS`` errors and no record.
    """
    faults, found = 0, False
    for item in items:
        found = found or not isinstance(item, RecordError)
        faults += not found
        if faults > MOST_FAULTS:
            raise InputError(
                f"expected records; the first {MOST_FAULTS:,} of {path} are all unreadable. The last problem: {item}"
            )
        yield item


def number_lines(path: Path) -> Iterator[tuple[int, str] | RecordError]:
    """Stream a file's non-empty lines with their numbers.

    These yield their error: a line that is not UTF-8 or too long, the place where a gzip file breaks off, and a line
    that was changed in a file with digests (``Lines``). The first such line of a binary file ends it.

    Raises:
        InputError: The file cannot be read at all.
    """
    with open_bytes(path) as file:
        number = 0
        known = None if path == STDIN else known_digests(path)
        is_binary: bool | None = None
        while True:
            number += 1
            try:
                raw = _line(file, path, number)
                if raw is None:
                    return
                if number > MOST_LINES and not path.is_file():
                    problem = f"at most {MOST_LINES:,} lines of a pipe or the standard input; found more"
                    raise InputError(f"expected {problem}. Write them to a file and name it")
                # Spreadsheets and editors on Windows write a byte order mark first.
                line = raw.removeprefix(BOM_UTF8).strip() if number == 1 else raw.strip()
                if line and known is not None and line_digest(line) not in known:
                    raise RecordError(path, number, None, changed(path))
                if line:
                    yield number, _decoded(line, path, number)
            except _NotUTF8 as error:
                if is_binary is None and (is_binary := _is_binary(path)):
                    problem = "expected a text; found a binary file, or one in UTF-16. Is it the file you meant? "
                    yield RecordError(path, number, None, problem + "Save a text as UTF-8")
                    return
                yield error
            except RecordError as error:
                yield error
            except (EOFError, BadGzipFile, zlib.error) as error:
                yield RecordError(path, number, None, f"expected a whole gzip file; found: {error}")
                return


def _line(file: BinaryIO, path: Path, number: int) -> bytes | None:
    """Read the next line within the memory of the longest allowed one; None at the end."""
    line = file.readline(LONGEST_LINE + 1)
    if len(line) <= LONGEST_LINE:
        return line or None
    length = len(line)
    while line and not line.endswith(b"\n"):
        line = file.readline(1 << 20)
        length += len(line)
        if length > MOST_SKIPPED:
            problem = f"a line of at most {MOST_SKIPPED:,} bytes, even to skip it; found a longer one, line {number}"
            raise InputError(f"expected {problem} of {path}. Is it a device, or a binary file?")
    problem = f"expected a line of at most {LONGEST_LINE:,} bytes; found a longer one. Write one record a line"
    raise RecordError(path, number, None, problem)


def _decoded(raw: bytes, path: Path, number: int) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        problem = f"expected UTF-8; found byte 0x{raw[error.start]:02x} at {error.start}. Save it as UTF-8"
        raise _NotUTF8(path, number, None, problem) from None


class _NotUTF8(RecordError):
    """A line that is not UTF-8."""


def _is_binary(path: Path) -> bool:
    """Whether a file has NUL bytes at its beginning, which no text in UTF-8 has. A pipe is read only once."""
    if not path.is_file():
        return False
    with open_bytes(path) as file:
        return b"\0" in file.read(_BEGINNING)


_BEGINNING = 8_000


@contextmanager
def open_bytes(path: Path) -> Generator[BinaryIO]:
    """Open a file's bytes and decompress gzip; ``-`` is the standard input.

    Raises:
        InputError: The file cannot be read.
    """
    try:
        if path == STDIN:
            with STANDARD_INPUT.opened() as stream:
                yield stream
            return
        with open_or_wait(path) as file:
            expect_end(path, file)
            yield cast(BinaryIO, unpacked(file))
    except (EOFError, BadGzipFile, zlib.error) as error:
        raise InputError(f"expected a whole gzip file; found {path}: {error}") from None
    except (OSError, ValueError) as error:
        # ValueError: a path with a null byte.
        reason = error.strerror if isinstance(error, OSError) else error
        raise InputError(f"expected a readable file; found {path}: {reason}") from None


def open_or_wait(path: Path) -> BinaryIO:
    """Open a file for reading. If it is a named pipe without a writer, say so and wait.

    Raises:
        OSError: The file cannot be opened.
    """
    if sys.platform == "win32" or not path.is_fifo():
        return path.open("rb")
    # A plain open would wait silently for a writer.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    report_waiting(descriptor, str(path), "Write to it")
    os.set_blocking(descriptor, True)
    return open(descriptor, "rb")


def report_waiting(descriptor: int, name: str, advice: str) -> None:
    """Wait for the first byte of a pipe or terminal; after a while, say so."""
    if sys.platform == "win32":
        return  # It cannot poll, and waits when it reads.
    try:
        poll = select.poll()
        poll.register(descriptor, select.POLLIN | select.POLLHUP)
        if not poll.poll(WAITED * 1_000):
            _LOG.warning("waiting for %s, which has sent nothing yet. %s, or end with Ctrl+C", name, advice)
            poll.poll()
    except (AttributeError, OSError, ValueError):
        # Systems that cannot poll wait when they read.
        return


def expect_end(path: Path, file: BinaryIO) -> None:
    """Refuse a device that never ends, such as ``/dev/zero``; terminals, pipes and ``/dev/null`` end.

    Raises:
        InputError: The file is such a device.
    """
    mode = os.fstat(file.fileno()).st_mode
    is_device = stat.S_ISBLK(mode) or (stat.S_ISCHR(mode) and not file.isatty())
    if is_device and not path.samefile(os.devnull):
        raise InputError(f"expected a file; found {path}, a device, which may never end. Give a file, or - for a pipe")


def unpacked(file: BinaryIO) -> GzipFile | BufferedReader[RawIOBase]:
    """Return the decompressed bytes of a gzip file, or the file itself."""
    raw = cast(RawIOBase, file)
    stream = cast("BufferedReader[RawIOBase]", file) if isinstance(file, BufferedReader) else BufferedReader(raw)
    return GzipFile(fileobj=stream) if stream.peek(2)[:2] == _GZIP else stream


class _StandardInput:
    """The standard input. It can be read once, unless it was kept."""

    def __init__(self) -> None:
        self._source: object = None
        self._raw: BufferedReader[Any] = BufferedReader(BytesIO())
        self._stream: GzipFile | BufferedReader[Any] = self._raw
        self._kept: Path | None = None
        self._remove: Callable[[], object] = lambda: None

    @contextmanager
    def opened(self, packed: bool = False) -> Generator[BinaryIO]:
        """Open its bytes, decompressed, or with ``packed`` as they came."""
        self._begin()
        if self._kept is None:
            yield cast(BinaryIO, self._raw if packed else self._stream)
            return
        with self._kept.open("rb") as file:
            yield cast(BinaryIO, file if packed else unpacked(file))

    def head(self) -> bytes:
        """Return its first bytes, decompressed; they can still be read."""
        self._begin()
        if self._kept is not None:
            with self.opened() as file:
                return file.read(4)
        start = self._raw.peek(2)
        if not start.startswith(_GZIP):
            return start[:4]
        # Do not use the decompressed stream: it would read ahead more bytes than can be given back.
        with suppress(zlib.error):
            return zlib.decompressobj(wbits=31).decompress(start, 4)
        return b""

    def keep(self) -> Path:
        """Write all of it to a temporary file, so that it can be read again."""
        self._begin()
        if self._kept is None:
            # A file of a name, since Windows opens none a second time that is removed when it is closed.
            descriptor, name = mkstemp(prefix="vericite-")
            self._remove = weakref.finalize(self, Path(name).unlink, missing_ok=True)
            with open(descriptor, "wb") as file:
                _copy(self._raw, file)
            self._kept = Path(name)
        return self._kept

    def _begin(self) -> None:
        if self._source is sys.stdin.buffer:
            return
        self._remove()
        self._source, self._kept = sys.stdin.buffer, None
        with suppress(OSError, ValueError):  # In tests, the input is not a file.
            report_waiting(sys.stdin.buffer.fileno(), "the standard input", "Type or pipe the records")
        raw = cast(RawIOBase, sys.stdin.buffer)
        self._raw = cast("BufferedReader[Any]", raw) if isinstance(raw, BufferedReader) else BufferedReader(raw)
        self._stream = unpacked(cast(BinaryIO, self._raw))


def _copy(source: BufferedReader[Any], to: IO[bytes]) -> None:
    """Copy at most ``MOST_KEPT`` bytes.

    Raises:
        InputError: There are more.
    """
    length = 0
    while chunk := source.read(1 << 20):
        length += len(chunk)
        if length > MOST_KEPT:
            raise InputError(
                f"expected at most {MOST_KEPT:,} bytes on the standard input; found more. Give a file instead"
            )
        to.write(chunk)


STANDARD_INPUT = _StandardInput()


def write_jsonl(records: Iterable[BaseModel], file: IO[str]) -> None:
    """Write each record as one line."""
    for record in records:
        file.write(to_json(record) + "\n")


def to_json(record: BaseModel) -> str:
    """Convert a record to one line of JSON."""
    return record.model_dump_json()


_MOST_LOOKED_AT = 50
"""Number of problems in which a misspelt field is looked for: each is compared with every name."""


def renamed(name: str, *before: str) -> AliasChoices:
    """Return the ``validation_alias`` of a field that older files have under other names."""
    return AliasChoices(name, *before)


def first_problem(error: ValidationError | ValuesError, kind: type[BaseModel] | None = None) -> tuple[str | None, str]:
    """Return the field and the wording of pydantic's first problem, with the number of others.

    A misspelt field comes before the missing field that it causes.

    Args:
        error: The error of pydantic, or of a record's constructor.
        kind: The class of the record; its fields are suggested for unknown ones.
    """
    if isinstance(error, ValuesError):
        return error.field, error.problem
    problems = error.errors(include_url=False)
    first, meant = problems[0], ""
    lacking = [problem["loc"] for problem in problems if problem["type"] == "missing"]
    for problem in problems[:_MOST_LOOKED_AT] if first["type"] in ("missing", "extra_forbidden") else ():
        *within, name = problem["loc"]
        if problem["type"] == "extra_forbidden":
            known = [str(loc[-1]) for loc in lacking if list(loc[:-1]) == within] or _fields_within(kind, within)
            if close := get_close_matches(str(name), known, n=1):
                first, meant = problem, f", perhaps for {close[0]!r}"
                break
    # A part in angle brackets is the name of a union member, not of a field.
    field = ".".join(str(part) for part in first["loc"] if not str(part).startswith("<")) or None
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    return field, _wording(first) + meant + more


def _fields_within(kind: object, place: Sequence[str | int]) -> list[str]:
    """Return the fields of the record at a place inside this type; none if it is unclear."""
    for part in place:
        if isinstance(part, str):
            field = _model_in(kind).get(part)
            kind = field.annotation if field else None
    return list(_model_in(kind))


def _model_in(kind: object) -> Mapping[str, FieldInfo]:
    """Return the fields of the one record class in a type, for example in a list or an optional."""
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return kind.model_fields
    held = [fields for inner in get_args(kind) if (fields := _model_in(inner))]
    return held[0] if len(held) == 1 else {}


def _wording(problem: Any) -> str:
    message = str(problem["msg"]).removeprefix("Value error, ")
    if problem["type"] == "extra_forbidden":
        return "expected only the fields of this record; found an unknown one"
    if problem["type"] == "json_invalid":
        return f"expected one JSON object a line; found none ({message.replace(' at line 1 column ', ' at column ')})"
    if problem["type"] == "missing":
        return "expected a value; found none"
    if problem["type"] == "value_error":
        return message
    if problem["type"] == "less_than_equal" and problem["loc"][-1:] == ("schema_version",):
        return (
            f"expected schema {SCHEMA_VERSION} or older; found schema {problem['input']}, written by a newer VeriCite: "
            "upgrade with pip install -U vericite"
        )
    if problem["type"] == "tuple_type" and isinstance(problem["input"], list):
        return "expected a tuple; found a list"
    # A text may be as long as its file.
    value = problem["input"][:200] if isinstance(problem["input"], str) else problem["input"]
    found = json.dumps(value, ensure_ascii=False, default=str)
    return f"{_expectation(message)}; found {found if len(found) <= 80 else found[:77] + '...'}"


_PLAIN = {
    "a valid string": "a text",
    "a valid array": "a list",
    "a valid list": "a list",
    "a valid tuple": "a list",
    "a valid dictionary": "an object",
    "a valid integer": "a whole number",
    "a valid number": "a number",
    "a valid boolean": "true or false",
}


def _expectation(message: str) -> str:
    """Turn pydantic's message into what was expected."""
    subject, should, what = message.partition(" should ")
    if not should:
        return f"expected something else: {message}"
    if subject == "Input":
        what = what.removeprefix("be ")
        return f"expected {_PLAIN.get(what, what)}"
    return f"expected a {subject.lower()} with {what.removeprefix('have ')}"
