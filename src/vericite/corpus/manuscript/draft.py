"""A manuscript while it is read: paragraphs with citing places, whose offsets stay exact."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from vericite.corpus.sources.entry import folded, without_controls
from vericite.corpus.sources.files import MOST_CHARACTERS
from vericite.errors import InputError
from vericite.records import Manuscript, ManuscriptCitation, ManuscriptHeading, Reference, Span
from vericite.text.passages import entry_in
from vericite.text.printed import NO_LIST, link, listed_reference, looks_like_reference, split_references
from vericite.text.references import reference_key


@dataclass(frozen=True, slots=True)
class Mark:
    """A citing place of a paragraph: what stands there, and the keys that it names."""

    text: str
    keys: tuple[str, ...]


Piece = str | Mark


def text_of(piece: Piece) -> str:
    """Return the text of a piece."""
    return piece if isinstance(piece, str) else piece.text


@dataclass(slots=True)
class Works:
    """References by key, each work once: records with the same DOI, PMID or title are one work."""

    by_key: dict[str, Reference] = field(default_factory=dict[str, Reference])
    _keys: dict[str, str] = field(default_factory=dict[str, str])

    def add(self, reference: Reference) -> str:
        """Add a reference, and return the key of the work."""
        names = list(names_of(reference))
        key = self.find(*names) or reference.key
        if key in self.by_key and key == reference.key and names and not any(self._keys.get(n) == key for n in names):
            key = self._unused(key)
        self.by_key.setdefault(key, reference if key == reference.key else _with_key(reference, key))
        for name in names:
            self._keys.setdefault(name, key)
        return key

    def know(self, references: Iterable[Reference]) -> None:
        """Add records under their own keys; a link to one of them is the same work."""
        for reference in references:
            self.by_key.setdefault(reference.key, reference)
            for name in names_of(reference):
                self._keys.setdefault(name, reference.key)

    def find(self, *names: str) -> str | None:
        """Return the key of the work with one of these names: see ``names_of``."""
        return next((self._keys[name] for name in names if name in self._keys), None)

    def _unused(self, key: str) -> str:
        return next(name for number in range(2, 1 << 30) if (name := f"{key} ({number})") not in self.by_key)


def names_of(reference: Reference) -> Iterable[str]:
    """Yield what identifies a work: its ids; its title with the year, if it has no ids."""
    for id in (reference.doi, reference.pmid, reference.pmcid):
        if id:
            yield reference_key(id)
    if reference.title and not (reference.doi or reference.pmid):
        yield f"title:{folded(reference.title)}:{reference.year}"


def _with_key(reference: Reference, key: str) -> Reference:
    return reference.model_copy(update={"key": key})


_SPACES = re.compile(r"\s+")


@dataclass(slots=True)
class Draft:
    """Collects paragraphs, and makes the manuscript of them.

    Attributes:
        name: Name of the manuscript.
        title: Its title.
        list_is_known: Whether the text holds no printed list of references that is to be found.
        links_numbers: Whether the text may cite the known list by numbers, too.
        only_if_cited: Keys of works that the list has only if the text cites them, as a BibTeX file's.
        cited_by: Keys of listed references by another name, such as the anchor that a link leads to.
        has_remarks: Whether notes without a reference are remarks of the author, and not what a sentence cites.
        by_note: Keys of works that only notes name.
        unsure: Those of them that may be remarks.
    """

    name: str
    title: str = ""
    list_is_known: bool = False
    links_numbers: bool = False
    works: Works = field(default_factory=Works)
    notes: list[str] = field(default_factory=list[str])
    only_if_cited: set[str] = field(default_factory=set[str])
    cited_by: dict[str, str] = field(default_factory=dict[str, str])
    printed: list[str] = field(default_factory=list[str])
    has_remarks: bool = False
    by_note: set[str] = field(default_factory=set[str])
    unsure: set[str] = field(default_factory=set[str])
    _parts: list[str] = field(default_factory=list[str])
    _length: int = 0
    _headings: list[ManuscriptHeading] = field(default_factory=list[ManuscriptHeading])
    _marks: list[ManuscriptCitation] = field(default_factory=list[ManuscriptCitation])

    def note(self, note: str) -> None:
        """Add a note, once."""
        if note not in self.notes:
            self.notes.append(note)

    def cited_by_note(self, key: str, text: str) -> str | None:
        """Add what a note cites, and return the key of the work; None for a remark.

        A note has a reference or a passage of the source. One with neither is kept, to be reported.
        """
        passage = entry_in(text).passage
        if looks_like_reference(text) and (passage is None or entry_in(text).reference):
            work = self.works.add(listed_reference(text, key))
        elif self.has_remarks and not (passage and passage.is_quoted):
            self.note("notes without a reference were left out")
            return None
        else:
            work = self.works.add(Reference(key=key, text=text, passage=passage.text if passage else ""))
            if passage is None or not passage.is_quoted:
                self.unsure.add(work)
        self.by_note.add(work)
        return work

    def paragraph(self, pieces: Iterable[Piece], level: int | None = None) -> None:
        """Append a paragraph, or a heading of this level (0 is the title); white space becomes single spaces."""
        start, open_space = self._length, False
        for piece in pieces:
            if words := self._spaced(text_of(piece), start, open_space):
                # The space in front belongs to no mark.
                begin = self._length + (len(words) - len(words.lstrip()))
                self._append(words.rstrip())
                if isinstance(piece, Mark) and self._length > begin and piece.keys:
                    self._marks.append(ManuscriptCitation(span=Span(start=begin, end=self._length), keys=piece.keys))
                open_space = words[-1:] == " "
        if self._length == start:
            return
        if level is not None:
            title = self._since(start)
            if level == 0 and not self.title:
                self.title = title
            self._headings.append(ManuscriptHeading(start=start, text=title, level=max(level, 1)))
        self._append("\n\n")

    def lines(self, lines: Iterable[str]) -> None:
        """Append lines as they stand, such as those of a list of references."""
        self._append("".join(f"{without_controls(line.rstrip())}\n" for line in lines))

    def _spaced(self, text: str, start: int, open_space: bool) -> str:
        words = _SPACES.sub(" ", without_controls(text))
        if self._length == start:
            return words.lstrip()
        bare = words.lstrip()
        return f" {bare}" if open_space or words[:1] == " " else words

    def _append(self, text: str) -> None:
        self._parts.append(text)
        self._length += len(text)
        if self._length > MOST_CHARACTERS:
            limit = f"at most {MOST_CHARACTERS:,} characters"
            raise InputError(f"expected a manuscript of {limit}; found more in {self.name}. Split it")

    def _since(self, start: int) -> str:
        length, parts = self._length, list[str]()
        for part in reversed(self._parts):
            length -= len(part)
            parts.append(part[max(0, start - length) :])
            if length <= start:
                break
        return "".join(reversed(parts))

    def manuscript(self) -> Manuscript:
        """Return the manuscript: the printed list of references is found, and what the text cites is linked to it."""
        text = "".join(self._parts).rstrip()
        begin, listed = (len(text), []) if self.list_is_known else split_references(text)
        text = text[:begin].rstrip()
        headings = tuple(heading for heading in self._headings if heading.start < len(text))
        marks = [mark for mark in self._marks if mark.span.end <= len(text)]
        if not text and not listed:
            raise InputError(f"expected a manuscript with text; found none in {self.name}")
        self._list(listed)
        references = list(self.works.by_key.values())
        if not references and not self.list_is_known:
            self.note(NO_LIST)
        marks = [_renamed(mark, self.cited_by) for mark in marks]
        if references and (self.links_numbers or listed or not marks):
            free = link(text, references)
            marks += [mark for mark in free if not any(_overlap(mark.span, other.span) for other in marks)]
        cited = {key for mark in marks for key in mark.keys}
        references = [item for item in references if item.key in cited or item.key not in self.only_if_cited]
        marks.sort(key=lambda mark: mark.span.start)
        manuscript = Manuscript(
            name=self.name,
            title=self.title or (headings[0].text if headings and _stands_alone(headings) else ""),
            text=text,
            headings=headings,
            citations=tuple(marks),
            references=tuple(references),
            notes=tuple(self.notes),
        )
        return numbered(manuscript)

    def _list(self, listed: Sequence[tuple[str, str]]) -> None:
        """Add the printed references; one that is a known work gives it its text."""
        titles = self._titles()
        for key, text in [*listed, *(("", text) for text in self.printed)]:
            reference = listed_reference(text, key or "printed")
            whole = folded(text)
            titled = (name for name, title in titles if title in whole)
            known = self.works.find(*names_of(reference)) or next(titled, None)
            own = self.works.by_key.get(known or "")
            self.only_if_cited.discard(known or "")
            if known and own and own.title:
                self.works.by_key[known] = own.model_copy(
                    update={"text": own.text or reference.text, "passage": own.passage or reference.passage}
                )
                if key:
                    self.cited_by.setdefault(key, known)
            elif known and own and key:
                # The text links to the article: the list says which it is.
                ids = {name: getattr(own, name) for name in ("doi", "pmid", "pmcid") if getattr(own, name)}
                del self.works.by_key[known]
                self.works.by_key[key] = reference.model_copy(update=ids)
                self.cited_by[known] = key
            elif key:
                # Not Works.add: a work that is listed twice stays twice, so that the check can tell.
                self.works.by_key.setdefault(key, reference)

    def _titles(self) -> list[tuple[str, str]]:
        """Return the keys of works that are known from records, with their titles."""
        known = [(key, work) for key, work in self.works.by_key.items() if work.origin != "printed"]
        return [(key, title) for key, work in known if len(title := folded(work.title)) > 20]


def read_notes(drafted: Callable[[bool], Draft]) -> Manuscript:
    """Return a manuscript in which notes without a reference are remarks if it cites by more than notes.

    Args:
        drafted: Reads the manuscript; its argument says whether such notes are remarks.
    """
    draft = drafted(False)
    manuscript = draft.manuscript()
    if draft.unsure and not draft.by_note.issuperset(manuscript.cited_keys):
        return drafted(True).manuscript()
    return manuscript


def _stands_alone(headings: Sequence[ManuscriptHeading]) -> bool:
    return headings[0].start == 0 and all(heading.level > headings[0].level for heading in headings[1:])


def _renamed(mark: ManuscriptCitation, names: dict[str, str]) -> ManuscriptCitation:
    keys = tuple(dict.fromkeys(names.get(key, key) for key in mark.keys))
    return mark if keys == mark.keys else mark.model_copy(update={"keys": keys})


def _overlap(one: Span, other: Span) -> bool:
    return one.start < other.end and other.start < one.end


_NUMBERS = re.compile(r"\d{1,4}(?:\s?[-–—‑]\s?\d{1,4})?")


def numbered(manuscript: Manuscript) -> Manuscript:
    """Name the works of field codes by their printed numbers, if the text cites by numbers in order of citation."""
    if not manuscript.citations or any(reference.origin == "printed" for reference in manuscript.references):
        return manuscript
    listed = {reference.key for reference in manuscript.references}
    order = {key: str(at) for at, key in enumerate(manuscript.cited_keys, start=1)}
    for mark in manuscript.citations:
        shown = manuscript.text[mark.span.slice]
        if set(expanded(shown)) != {order[key] for key in mark.keys} or not listed.issuperset(mark.keys):
            return manuscript
    references = [_with_key(entry, order.get(entry.key, entry.key)) for entry in manuscript.references]
    return manuscript.model_copy(
        update={
            "citations": tuple(_renamed(mark, order) for mark in manuscript.citations),
            "references": tuple(
                sorted(references, key=lambda entry: int(entry.key) if entry.key.isdigit() else 1 << 30)
            ),
        }
    )


def expanded(shown: str) -> list[str]:
    """Return the numbers of a mark such as ``[1, 3-5]``; empty if it has other words."""
    if re.search(r"[^\W\d]", shown):
        return []
    found: list[str] = []
    for part in _NUMBERS.findall(shown):
        first, *last = map(int, re.findall(r"\d+", part))
        found += map(str, range(first, min(last[0] if last else first, first + 999) + 1))
    return found
