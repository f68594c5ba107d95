"""MeSH's own words for a subject, out of the file that NLM gives away: descriptors with their entry terms.

    with MeshTerms.load("desc2025.xml") as terms:
        for heading in terms.found_in("What helps against adult-onset diabetes?"):
            print(heading.name, heading.entry_terms)

The file is read once, as XML or ASCII, packed with gzip or not, and kept in the cache as a table of its terms: a second
start looks terms up without reading it.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Literal, NamedTuple, Self
from unicodedata import normalize

from vericite.corpus.entrez.query import STOPWORDS
from vericite.corpus.pubmed.parser import SAFE
from vericite.corpus.sources.opening import SourceFile, opened
from vericite.corpus.sources.xml_root import root_of
from vericite.disk.folder import cache_file
from vericite.errors import InputError
from vericite.records.base import storable

if TYPE_CHECKING:
    from lxml.etree import _Element  # pyright: ignore[reportPrivateUsage]

    from vericite.disk.store import Store

_WANTED = "MeSH descriptors as NLM has them, in XML (desc2025.xml) or in ASCII (d2025.bin)"
_NEXT = "Download them at https://www.nlm.nih.gov/databases/download/mesh.html"

_WORD = re.compile(r"[^\W_]+")
# Between words of one term there is no end of a sentence and no bracket, unless it is inside a word: N(6)-methyl.
_BREAK = re.compile(r"[.;:!?()\[\]\"]\s|\s[(\[\"]|\n\s*\n")
_NEW_RECORD = "*NEWRECORD"
_MOST_TURNED = 5  # parts between commas; what has more is a list
_AT_ONCE = 4_000  # phrases of a text that are looked up together

_ABOUT = "#"
"""The key of what is said of a table as a whole; a heading's is its number behind it. No word has that sign."""


@dataclass(frozen=True)
class MeshHeading:
    """A descriptor: its name, and its other names, those that mean the same before narrower and permuted ones."""

    name: str
    entry_terms: tuple[str, ...] = ()


class MeshTerms:
    """The terms of one MeSH file. Threads may share it.

    Attributes:
        count: How many headings there are.
        signature: The rules of lookup and the file's content, for provenance.
    """

    def __init__(self, table: _Table) -> None:
        self._table = table
        about = json.loads(table.find([])[_ABOUT])
        self.count: int = about["headings"]
        self._longest: int = about["longest"]
        self.signature = f"mesh.v1({self.count} headings, {table.digest})"

    @classmethod
    def load(cls, path: str | Path, cache: Path | Literal["default"] | None = "default") -> Self:
        """The terms of a file, out of the cache if it was read before.

        Args:
            path: NLM's file of descriptors, or any of its form.
            cache: The folder to keep the terms in (or a ``.sqlite`` file); None to read the file every time.

        Raises:
            InputError: It cannot be read, or holds no descriptors.
        """
        return cls(_Table(Path(path), None if cache is None else cache_file(cache, "mesh.sqlite")))

    def found_in(self, text: str) -> tuple[MeshHeading, ...]:
        """The headings that a text names by any of their terms, each once, the longest term first.

        A word belongs to one term, the longest that it is part of. Upper case does not count, nor does what stands
        between the words of a term, but for the end of a sentence and brackets. "Type 2 Diabetes Mellitus" is found
        where MeSH has "Diabetes Mellitus, Type 2". A term that is a stopword (ALL, WAS) is found in capitals only.
        """
        taken: set[int] = set()
        numbers: dict[str, None] = {}
        for phrase, found in sorted(self._matches(_words_of(text)), key=lambda match: (-match[0].length, match[0].at)):
            if taken.isdisjoint(phrase.places):
                taken.update(phrase.places)
                numbers |= dict.fromkeys(found.split())
        rows = self._table.find([_ABOUT + number for number in numbers])
        headings = (json.loads(rows[_ABOUT + number]) for number in numbers)
        return tuple(MeshHeading(name, tuple(terms)) for name, *terms in headings)

    def close(self) -> None:
        """Let go of the cache; asked again, it opens again."""
        self._table.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _matches(self, words: Sequence[_Word]) -> Iterator[tuple[_Phrase, str]]:
        phrases = _phrases(words, self._longest)
        while part := list(islice(phrases, _AT_ONCE)):
            rows = self._table.find({phrase.key for phrase in part})
            yield from ((phrase, rows[phrase.key]) for phrase in part if phrase.key in rows)


class _Word(NamedTuple):
    """A word of a text: in small letters, whether it is in capitals, and whether something ends before it."""

    text: str
    capitals: bool
    apart: bool


class _Phrase(NamedTuple):
    """Words that stand together, from the place of the first."""

    key: str
    at: int
    length: int

    @property
    def places(self) -> range:
        return range(self.at, self.at + self.length)


def _words_of(text: str) -> list[_Word]:
    text = normalize("NFKC", text)
    words: list[_Word] = []
    end = 0
    for found in _WORD.finditer(text):
        apart = _BREAK.search(text, end, found.start()) is not None
        words.append(_Word(found[0].lower(), found[0].isupper(), apart))
        end = found.end()
    return words


def _phrases(words: Sequence[_Word], longest: int) -> Iterator[_Phrase]:
    for start, first in enumerate(words):
        key = first.text
        if first.capitals or key not in STOPWORDS:
            yield _Phrase(key, start, 1)
        for length, word in enumerate(words[start + 1 : start + longest], start=2):
            if word.apart:
                break
            key = f"{key} {word.text}"
            yield _Phrase(key, start, length)


class _Table:
    """Rows by key: in the cache, or in memory where that cannot be used."""

    def __init__(self, path: Path, file: Path | None) -> None:
        self._path = path
        self._memory: dict[str, str] | None = None
        self._store = None if file is None else _store(file)
        self.digest = self._digest()
        if self._store is None or self._stored([]) is None:
            self._memory = _rows_of(path)
            if self._store is not None:
                self._store.put([(self._key(key), value) for key, value in self._memory.items()])
                # What is in the cache need not be in memory too.
                self._memory = self._memory if self._stored([]) is None else None

    def find(self, keys: Collection[str]) -> Mapping[str, str]:
        """The rows there are at these keys, and what is said of the table."""
        if self._memory is None:
            found = self._stored(keys)
            if found is not None:
                return found
            # The cache was damaged, or is held by others, since this began.
            self._memory = _rows_of(self._path)
        held = self._memory
        return {key: held[key] for key in (_ABOUT, *keys) if key in held}

    def close(self) -> None:
        if self._store is not None:
            self._store.close()

    def _stored(self, keys: Collection[str]) -> Mapping[str, str] | None:
        """The rows in the cache; None where the table is not in it."""
        assert self._store is not None
        rows = self._store.find([self._key(key) for key in (_ABOUT, *keys)])
        found = {str(key).removeprefix(self._key("")): str(row[1]) for key, row in rows.items()}
        return found if _ABOUT in found else None

    def _key(self, key: str) -> str:
        return f"{self.digest} {key}"

    def _digest(self) -> str:
        """A hash of the file, which is read for it only where its size or time has changed."""
        try:
            status = self._path.stat()
            known = storable(f"{self._path.resolve()} {status.st_size} {status.st_mtime_ns}")
            if self._store is not None and (row := self._store.find([known]).get(known)):
                return str(row[1])
            with self._path.open("rb") as content:
                digest = hashlib.file_digest(content, "sha256").hexdigest()[:12]
        except (OSError, ValueError) as error:
            # ValueError: a path with a zero byte in it.
            reason = error.strerror if isinstance(error, OSError) else error
            raise InputError(f"expected {_WANTED}; found {self._path}: {reason}. {_NEXT}") from None
        if self._store is not None:
            self._store.put([(known, digest)])
        return digest


def _store(file: Path) -> Store:
    # Here, for SQLite costs time to load.
    from vericite.disk.store import Form, Store

    # Where rows or keys come to mean something else, the table gets another name.
    return Store(file, Form("MeSH terms", "mesh_term", "(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID"))


def _rows_of(path: Path) -> dict[str, str]:
    """Every heading at its number, and at the words of each of its terms the numbers of the headings that have it."""
    rows: dict[str, str] = {}
    places: dict[str, list[int]] = {}
    count = 0
    for count, heading in enumerate(headings_in(path), start=1):
        rows[f"{_ABOUT}{count}"] = json.dumps([heading.name, *heading.entry_terms], ensure_ascii=False)
        for key in {key for term in (heading.name, *heading.entry_terms) for key in _keys(term)}:
            places.setdefault(key, []).append(count)
    if not count:
        raise InputError(f"expected {_WANTED}; found {path}, which has the form and no descriptor in it. {_NEXT}")
    rows |= {key: " ".join(map(str, found)) for key, found in places.items()}
    longest = max((key.count(" ") + 1 for key in places), default=0)
    return rows | {_ABOUT: json.dumps({"headings": count, "longest": longest})}


def _keys(term: str) -> Iterator[str]:
    """The words of a term, as they stand and turned: "Type 2 Diabetes" of "Diabetes, Type 2"."""
    parts = term.split(", ")
    turned = len(parts) <= _MOST_TURNED and not any(part.startswith(("and ", "or ")) for part in parts)
    for form in (term, " ".join(reversed(parts))) if turned else (term,):
        key = " ".join(_WORD.findall(normalize("NFKC", form))).lower()
        if len(key) > 1 and any(char.isalpha() for char in key):
            yield key


def headings_in(path: Path) -> Iterator[MeshHeading]:
    """The descriptors of a file, one after the other.

    Raises:
        InputError: It cannot be read to its end, or is of another form. What came before is whole.
    """
    with opened(path) as file:
        root = root_of(file.opening)
        try:
            if root == "DescriptorRecordSet":
                yield from _xml(file)
            elif root is None and file.opening.lstrip("\ufeff\n ").startswith(_NEW_RECORD):
                yield from _ascii(file)
            else:
                raise InputError(f"expected {_WANTED}; found {path}, which is {_kind(file, root)}. {_NEXT}")
        except OSError as error:
            raise InputError(f"expected a readable file; found {path}: {error}") from None


def _kind(file: SourceFile, root: str | None) -> str:
    if file.is_empty:
        return "empty"
    if root == "SupplementalRecordSet":
        return "of supplementary concepts"
    return f"XML of another kind, <{root}>" if root else "neither"


def _xml(file: SourceFile) -> Iterator[MeshHeading]:
    from lxml import etree

    records = etree.iterparse(file.stream, events=("end",), tag="DescriptorRecord", **SAFE)
    try:
        for _, record in records:
            if (heading := _heading_of(record)) is not None:
                yield heading
            # Its own node stays until the next one, for the parser goes on from there.
            record.clear(keep_tail=True)  # pyright: ignore[reportCallIssue]
            parent = record.getparent()
            while parent is not None and record.getprevious() is not None:
                del parent[0]
    except etree.XMLSyntaxError as error:
        problem = f"an error in line {error.lineno} ({error.msg})"
        raise InputError(f"expected well-formed XML; found {file.path} with {problem}. {_NEXT}") from None


def _heading_of(record: _Element) -> MeshHeading | None:
    ranked: list[tuple[bool, bool, str]] = []
    for concept in record.iterfind("ConceptList/Concept"):
        other = concept.get("PreferredConceptYN") != "Y"
        for term in concept.iterfind("TermList/Term"):
            ranked.append((term.get("IsPermutedTermYN") == "Y", other, term.findtext("String") or ""))
    ranked.sort(key=lambda term: term[:2])
    return _heading(record.findtext("DescriptorName/String") or "", [term for *_, term in ranked])


def _ascii(file: SourceFile) -> Iterator[MeshHeading]:
    kind, name = "D", ""
    ranked: list[tuple[int, str]] = []
    for _, line in file.lines():
        if line.startswith(_NEW_RECORD):
            if heading := _of_kind(kind, name, ranked):
                yield heading
            kind, name, ranked = "D", "", []
            continue
        field, _, value = line.partition("=")
        match field.strip():
            case "RECTYPE":
                kind = value.strip()
            case "MH":
                name = value
            case "ENTRY" | "PRINT ENTRY":
                term, *said = value.split("|")
                # What means the same says so; a term without any remark is a variant of another.
                ranked.append((0 if "EQV" in said else 1 if said else 2, term))
            case _:
                pass
    if heading := _of_kind(kind, name, ranked):
        yield heading


def _of_kind(kind: str, name: str, ranked: list[tuple[int, str]]) -> MeshHeading | None:
    ranked.sort(key=lambda term: term[0])
    return _heading(name, [term for _, term in ranked]) if kind == "D" else None


def _heading(name: str, terms: Sequence[str]) -> MeshHeading | None:
    """A heading with its terms in order, each once; None where it has no name."""
    tidy = [" ".join(storable(term).split()) for term in (name, *terms)]
    rest = dict.fromkeys(term for term in tidy[1:] if term and term != tidy[0])
    return MeshHeading(tidy[0], tuple(rest)) if tidy[0] else None
