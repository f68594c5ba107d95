"""Answers pasted from a chat assistant: their links, footnotes, DOIs and PubMed ids become numbered sources."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from vericite.errors import InputError
from vericite.formats import links
from vericite.records import Document, storable
from vericite.records.manuscripts import Reference
from vericite.text.citations import CitableDocuments, Mention, disjoint
from vericite.text.printed import listed_reference, split_answer
from vericite.text.references import parse_markers, parse_pmids, reference_key

_EDGES = " \t\n.,;:!?*_-–—|()[]"
_IN_BRACKETS = re.compile(r"\((?P<markers>(?:\[\d{1,3}\]){1,99})\)")
_MANY_BREAKS = re.compile(r"\n{3,}")


@dataclass(frozen=True)
class PastedAnswer:
    """An answer in which ``[1]`` is the first of ``sources``; one that is only numbered has a key alone."""

    text: str
    sources: tuple[Reference, ...]


def read_pasted(text: str, most: int | None = None) -> PastedAnswer:
    """Return a pasted answer with its sources in the order of their numbers.

    Links, reference links, footnotes, bare addresses, DOIs and PubMed ids become markers such as ``[1]``. A list of
    references at the end is read and left out. Numbers that the text itself uses stay.

    Raises:
        InputError: It has more than ``most`` sources.
    """
    text = storable(text)
    definitions = {
        links.folded(match["name"]): match["target"] for match in reversed(list(links.DEFINITION.finditer(text)))
    }
    prose = links.DEFINITION.sub(links.blank, text)
    begin, end, listed = split_answer(prose)
    for number, target in listed:
        definitions.setdefault(number, target)
    prose = prose[:begin] + prose[end:]
    numbered = _Numbered(most)
    for name, target in definitions.items():
        if name.removeprefix("^").isdecimal():
            entry = listed_reference(target, f"text {name}")
            reference = entry if entry.passage else _reference(target, links.names_of(target))
            numbered.put(int(name.removeprefix("^")), reference)
    for match in links.INLINE.finditer(prose):
        if number := links.OWN_NUMBER.fullmatch(match["label"]):
            numbered.put(int(number[1]), _reference("", iter((match["url"],))))
    for number in sorted({number for group in parse_markers(prose) for number in group.numbers}):
        numbered.put(number, None)
    for names, title in _named(prose, definitions):
        numbered.add(_reference(title, iter(names)))
    documents = CitableDocuments([Document.from_text(id, "", "") for id in numbered.ids()])
    mentions = disjoint(links.mentions_in(prose, definitions, documents))
    return PastedAnswer(_rewritten(prose, mentions, numbered.numbers()), numbered.references())


@dataclass
class _Numbered:
    """The sources by their numbers, each once; at most ``most``."""

    most: int | None
    _by_number: dict[int, Reference | None] = field(default_factory=dict[int, Reference | None])
    _known: set[str] = field(default_factory=set[str])
    _last: int = 0

    def put(self, number: int, reference: Reference | None) -> None:
        if 0 < number < 1_000 and self._by_number.get(number) is None:
            self._set(number, reference)

    def add(self, reference: Reference) -> None:
        if _id(reference) not in self._known:
            self._set(self._last + 1, reference)

    def _set(self, number: int, reference: Reference | None) -> None:
        if self.most is not None and number > self.most:
            raise InputError(f"expected at most {self.most:,} sources; found more. Check it in parts")
        self._by_number[number] = reference
        self._last = max(self._last, number)
        if reference is not None:
            self._known.add(_id(reference))

    def _all(self) -> Iterator[tuple[int, Reference | None]]:
        """Yield every number from 1, so that a number is the place of its source."""
        return ((number, self._by_number.get(number)) for number in range(1, self._last + 1))

    def ids(self) -> list[str]:
        return [_id(reference) if reference else f"source {number}" for number, reference in self._all()]

    def numbers(self) -> dict[str, int]:
        return {id: number for number, id in reversed(list(enumerate(self.ids(), start=1)))}

    def references(self) -> tuple[Reference, ...]:
        return tuple(
            (reference or Reference(key=str(number))).model_copy(update={"key": str(number)})
            for number, reference in self._all()
        )


def _id(reference: Reference) -> str:
    """Return the name that the text cites a source by."""
    if reference.pmid:
        return f"pmid:{reference.pmid}"
    return reference.url or reference.doi or reference.pmcid or reference.key


def _reference(text: str, names: Iterator[str]) -> Reference:
    """Return what a definition or a link says of its source."""
    found: dict[str, str] = {}
    for name in names:
        kind, _, value = reference_key(name).partition(":")
        if kind in ("pmid", "doi"):
            found.setdefault(kind, value)
        elif kind == "pmc":
            found.setdefault("pmcid", f"PMC{value}")
        elif kind == "url":
            found.setdefault("url", name)
            if doi := links.DOI.search(name):
                found.setdefault("doi", doi[0])
    title = links.INLINE.sub(lambda match: match["label"], text)
    for name in links.names_of(text):
        title = title.replace(name, " ").replace(name.removeprefix("pmid:"), " ")
    title = re.sub(r"<\s*>|\b(?:PMID|doi)\b:?|https?://\S+", " ", title, flags=re.IGNORECASE)
    title = " ".join(title.split()).strip(_EDGES)
    return Reference(key="x", text=title, title=title[:500], **found)  # pyright: ignore[reportArgumentType]


def _named(prose: str, definitions: Mapping[str, str]) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the sources that the text names otherwise than by a number, in order: their names and titles."""
    found: list[tuple[int, tuple[str, ...], str]] = []
    for match in links.INLINE.finditer(prose):
        if links.OWN_NUMBER.fullmatch(match["label"]):
            continue
        # A link may be a part of the sentence, which is no title.
        is_title = len(match["label"].split()) > 3 and match["label"][0].isupper()
        found.append((match.start(), (match["url"],), match["label"] if is_title else ""))
    for match in links.NAMED.finditer(prose):
        target = definitions.get(links.folded(match["name"]))
        if target and not match["name"].removeprefix("^").isdecimal():
            found.append((match.start(), tuple(links.names_of(target)), target))
    found += [(group.span.start, (f"pmid:{pmid}",), "") for group in parse_pmids(prose) for pmid in group.pmids]
    for match in links.BARE.finditer(prose):
        found.append((match.start(), ((match["framed"] or match["bare"]).rstrip(links.TRAILING),), ""))
    for _, names, title in sorted(found, key=lambda item: item[0]):
        if names:
            yield names, title


def _rewritten(prose: str, mentions: list[Mention], numbers: Mapping[str, int]) -> str:
    """Return the text with markers in place of what cites."""
    made: list[str] = []
    at = 0
    for mention in mentions:
        made.append(prose[at : mention.span.start])
        at = mention.span.end
        marked = dict.fromkeys(numbers.get(id or "", number) for number, id in mention.cited)
        if marked:
            before = "".join(made[-1:])
            space = "" if not before or before[-1].isspace() or before[-1] in "](" else " "
            made.append(space + "".join(f"[{number}]" for number in marked))
    made.append(prose[at:])
    text = _IN_BRACKETS.sub(r"\g<markers>", "".join(made))
    return _MANY_BREAKS.sub("\n\n", "\n".join(line.rstrip() for line in text.split("\n"))).strip()
