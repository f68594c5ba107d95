"""Read BibTeX (.bib): entries such as ``@article{key, title = {...}, doi = "..."}``."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping

from vericite.corpus.sources.entry import DocumentEntry, linked_pmid
from vericite.corpus.sources.files import Entries, Numbered, SourceFile, SourceFormat
from vericite.errors import RecordError

_ENTRY = re.compile(r"^[ \t]{0,9}@[ \t]{0,9}(?P<kind>[A-Za-z]{1,40})\s{0,9}(?P<open>[{(])", re.MULTILINE)
_KEY = re.compile(r"\s{0,99}(?P<key>[^\s,{}\"=]{0,200})\s{0,99}(?:,|(?=[})]))")
_FIELD = re.compile(r"[\s,]{0,999}(?P<name>[A-Za-z][\w:.+-]{0,60})\s{0,99}=\s{0,99}")
_BARE = re.compile(r"[^\s,#{}()\"=]{1,200}")
_JOINED = re.compile(r"\s{0,99}#\s{0,99}")
_MONTHS = {
    name: f"{number:02}"
    for number, name in enumerate("jan feb mar apr may jun jul aug sep oct nov dec".split(), start=1)
}
_ACCENTS = {
    "`": "\u0300", "'": "\u0301", "^": "\u0302", "~": "\u0303", '"': "\u0308", "=": "\u0304", ".": "\u0307",
    "u": "\u0306", "v": "\u030c", "H": "\u030b", "c": "\u0327", "k": "\u0328", "r": "\u030a", "d": "\u0323",
}  # fmt: skip
_LETTERS = {
    "ss": "ß", "ae": "æ", "AE": "Æ", "oe": "œ", "OE": "Œ", "o": "ø", "O": "Ø", "aa": "å", "AA": "Å", "l": "ł", "L": "Ł",
    "i": "i", "j": "j", "textmu": "µ", "mu": "µ", "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "kappa": "κ",
    "leq": "≤", "geq": "≥", "le": "≤", "ge": "≥", "pm": "±", "times": "×", "textdegree": "°", "textendash": "–",
    "textemdash": "—", "textless": "<", "textgreater": ">", "ldots": "...", "dots": "...",
}  # fmt: skip
_SIGN_ACCENT = re.compile(r"\\([`'^~\"=.])\s{0,3}(?:\{\s{0,3}\\?([A-Za-z])\s{0,3}\}|\\?([A-Za-z]))")
_WORD_ACCENT = re.compile(r"\\([uvHckrd])(?:\s{0,3}\{\s{0,3}\\?([A-Za-z])\s{0,3}\}|\s{1,3}\\?([A-Za-z]))")
_LETTER = re.compile(rf"\\({'|'.join(sorted(_LETTERS, key=len, reverse=True))})(?![A-Za-z])\s?(?:\{{\}})?")
_STYLE = re.compile(r"\\(?:emph|textit|textbf|textsc|textrm|text|mathrm|mathit|mathbf|ensuremath)(?=\s{0,3}\{)")
_RAISED = re.compile(r"(?:\\textsuperscript|\^)\{([^{}]{1,20})\}")
_LOWERED = re.compile(r"(?:\\textsubscript|_)\{([^{}]{1,20})\}")
_ESCAPED = re.compile(r"\\([&%$#_{}])")
_TYPES = {
    "article": "Journal Article", "book": "Book", "inbook": "Book Chapter", "incollection": "Book Chapter",
    "inproceedings": "Congress", "conference": "Congress", "phdthesis": "Academic Dissertation",
    "mastersthesis": "Academic Dissertation", "techreport": "Technical Report", "report": "Technical Report",
}  # fmt: skip
_NO_ENTRIES = frozenset(("comment", "preamble", "string"))


class _OpenError(Exception):
    """A value or an entry is not closed or not valid."""


def _read(file: SourceFile) -> Iterator[Numbered]:
    for line, entry in _entries(file):
        if isinstance(entry, RecordError):
            yield line, entry
        elif entry.title or entry.text:
            yield line, entry.document(f"{file.name}:{line}")
        else:
            yield line, RecordError(file.path, line, None, "expected a title or an abstract; found neither")


def _entries(file: SourceFile) -> Entries:
    text = file.text()
    names = dict(_MONTHS)
    line = done = at = 0
    while start := _ENTRY.search(text, at):
        line += text.count("\n", done, start.start())
        done, at = start.start(), start.end()
        kind = start["kind"].lower()
        if kind in ("comment", "preamble"):
            continue
        try:
            fields, at = _fields(text, at, names, has_key=kind != "string")
        except _OpenError as error:
            # Search for the next entry from here, so that an unclosed brace costs only this entry.
            yield line + 1, RecordError(file.path, line + 1, None, str(error))
            continue
        if kind == "string":
            names.update(fields)
        else:
            yield line + 1, _entry(kind, _plain(fields))


def _plain(fields: Mapping[str, str]) -> Mapping[str, str]:
    return {
        name: value.replace("\\_", "_") if name in _AS_WRITTEN else plain_of_latex(value)
        for name, value in fields.items()
    }


_AS_WRITTEN = frozenset(("key", "doi", "url", "pmid", "eprint", "howpublished", "pmcid"))


def _entry(kind: str, fields: Mapping[str, str]) -> DocumentEntry:
    def first(*names: str) -> str:
        return next((fields[name] for name in names if fields.get(name, "").strip()), "")

    pmid = first("pmid", "pubmedid")
    if not pmid and first("eprinttype").lower() in ("pubmed", "pmid"):
        pmid = first("eprint")
    year, month = first("year"), first("month").lower()[:3]
    date = first("date") or (f"{year}-{_MONTHS.get(month, month)}" if year and month.isalnum() else year)
    return DocumentEntry(
        number=first("key"),
        key=first("key"),
        volume=first("volume"),
        issue=first("number", "issue"),
        pages=first("pages", "eid"),
        url=first("url"),
        pmid=pmid or linked_pmid(first("url", "howpublished"), first("note"), first("annote")),
        pmcid=first("pmcid", "pmc"),
        doi=first("doi"),
        title=first("title"),
        text=first("abstract"),
        journal=first("journal", "journaltitle", "booktitle"),
        date=date if re.match(r"\d{4}(?:-\d|$|-\d\d)", date) else year,
        languages=(first("language", "langid"),) if first("language", "langid") else (),
        authors=tuple(name.strip() for name in re.split(r"\s+and\s+", first("author")) if name.strip()),
        publication_types=tuple(filter(None, (_TYPES.get(kind),))),
    )


def _fields(text: str, at: int, names: Mapping[str, str], *, has_key: bool) -> tuple[dict[str, str], int]:
    """Read the fields of an entry after its opening brace, and return them with the end position.

    Raises:
        _OpenError: The entry is not closed or not valid.
    """
    fields: dict[str, str] = {}
    if has_key:
        key = _KEY.match(text, at)
        if key is None:
            raise _OpenError("expected a BibTeX entry: @article{key, name = {value}}; found no key")
        fields["key"], at = key["key"], key.end()
    while field := _FIELD.match(text, at):
        value, at = _value(text, field.end(), names)
        name = field["name"].lower()
        if name in fields and name != "key":
            raise _OpenError(f"expected each field once; found several values of {name[:40]!r}. Keep one of them")
        fields[name] = value
    rest = re.compile(r"[\s,]{0,999}").match(text, at)
    at = rest.end() if rest else at
    if text[at : at + 1] not in ("}", ")"):
        raise _OpenError(
            "expected a BibTeX entry that ends with a closing brace; found "
            f"{text[at : at + 30].strip()[:30]!r} instead. Is a brace or a comma missing?"
        )
    return fields, at + 1


def _value(text: str, at: int, names: Mapping[str, str]) -> tuple[str, int]:
    """Read a value and join its parts; return it with the end position."""
    parts: list[str] = []
    while True:
        if text[at : at + 1] in ("{", '"'):
            end = _closed(text, at)
            parts.append(text[at + 1 : end])
            at = end + 1
        elif bare := _BARE.match(text, at):
            parts.append(names.get(bare[0].lower(), bare[0]))
            at = bare.end()
        else:
            raise _OpenError(f"expected a value in braces or quotation marks; found {text[at : at + 30]!r}")
        joined = _JOINED.match(text, at)
        if joined is None:
            return "".join(parts), at
        at = joined.end()


_SIGNS = re.compile(r'\\.|[{}"]', re.DOTALL)


def _closed(text: str, at: int) -> int:
    """Return the end of a value that begins with a brace or a quotation mark, counting nested braces."""
    quoted = text[at] == '"'
    depth = 0 if quoted else 1
    for sign in _SIGNS.finditer(text, at + 1):
        if sign[0] == "{":
            depth += 1
        elif sign[0] == "}":
            depth -= 1
            if depth == 0 and not quoted:
                return sign.start()
        elif sign[0] == '"' and quoted and depth == 0:
            return sign.start()
        if depth < 0:
            break
    raise _OpenError("expected every brace and quotation mark to be closed; one is not")


def plain_of_latex(text: str) -> str:
    """Remove LaTeX's braces and commands: accents become letters, superscripts ``^3``."""
    text = letters_of_latex(_STYLE.sub("", text))
    text = _LOWERED.sub(r"_\1", _RAISED.sub(r"^\1", text))
    text = _ESCAPED.sub(lambda match: match[1] if match[1] not in "{}" else "", text)
    text = (
        re.sub(r"(?<!\\)[{}]|\$", "", text) if "$" in text and text.count("$") % 2 == 0 else re.sub(r"[{}]", "", text)
    )
    return text.replace("---", "—").replace("--", "–").replace("``", "“").replace("''", "”").replace("~", " ")


def letters_of_latex(text: str) -> str:
    """Replace LaTeX's accents and names of letters by the letters."""

    def accented(match: re.Match[str]) -> str:
        return unicodedata.normalize("NFC", (match[2] or match[3]) + _ACCENTS[match[1]])

    return _LETTER.sub(lambda match: _LETTERS[match[1]], _WORD_ACCENT.sub(accented, _SIGN_ACCENT.sub(accented, text)))


_SUFFIXES = (".bib", ".bibtex")


def _matches(file: SourceFile) -> bool:
    return file.suffix in _SUFFIXES


BIBTEX = SourceFormat(
    "BibTeX (.bib): entries such as '@article{key, title = {...}, abstract = {...}}'",
    _read,
    _matches,
    suffixes=_SUFFIXES,
    record_mark=b"\n@",
    entries=_entries,
)
