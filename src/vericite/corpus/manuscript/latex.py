r"""Read LaTeX manuscripts: ``\cite`` and its family, ``thebibliography``, BibTeX files of the same folder.

Nothing is executed. A small reader of our own instead of a library: only commands that change the text are known, and
of the others the arguments in braces are read as text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from vericite.corpus.manuscript.bibliography import Bibliography, read_bibliography
from vericite.corpus.manuscript.cited import author_year
from vericite.corpus.manuscript.draft import Draft, Mark, Piece, text_of
from vericite.corpus.manuscript.kind import ManuscriptKind
from vericite.corpus.sources.bibtex import letters_of_latex
from vericite.corpus.sources.files import SourceFile, opened
from vericite.errors import InputError
from vericite.records import Manuscript, Reference
from vericite.text.printed import listed_reference

MOST_DEPTH = 200
"""Maximum depth of braces and environments."""
MOST_FILES = 100
"""Maximum number of files that a manuscript includes."""

_COMMENT = re.compile(r"(?<!\\)((?:\\\\)*)%[^\n]*(?:\n[ \t]*|\Z)")
_INCLUDED = re.compile(r"\\(?:input|include|subfile)\s{0,3}\{([^{}]{1,300})\}")
_VERBATIM = re.compile(r"\\begin\{(verbatim|lstlisting|minted|comment|filecontents)(\*?)\}")
_DEFINED = re.compile(r"\\(?:re)?newcommand\*?\s{0,3}\{?\\([A-Za-z]{1,40})\}?\s{0,3}\{([^{}\\]{0,200})\}")
_USED = re.compile(r"(?<!command)(?<!command\{)(?<!command\*)(?<!command\*\{)\\([A-Za-z]{1,40})(?:\{\})?")
_BIBLIOGRAPHY = re.compile(r"\\(?:bibliography|addbibresource)\s{0,3}(?:\[[^\]]{0,200}\])?\s{0,3}\{([^{}]{1,1000})\}")
_NOCITE = re.compile(r"\\nocite\s{0,3}\{([^{}]{1,10000})\}")
_BODY = re.compile(r"\\begin\s{0,3}\{document\}")
_END = re.compile(r"\\end\s{0,3}\{document\}")
_TOKEN = re.compile(
    r"\\(?P<word>[A-Za-z@]+)\*?|\\(?P<sign>.)|(?P<open>\{)|(?P<close>\})|(?P<math>\$\$?)|(?P<blank>\n[ \t]*\n\s*)"
    r"|(?P<text>[^\\{}$\n]+|\n)|(?P<rest>.)",
    re.DOTALL,
)
_OPTION = re.compile(r"\s{0,3}\[((?:[^\[\]{}]|\{[^{}]{0,200}\}){0,500})\]")
_GROUP = re.compile(r"\s{0,3}\{")
_CITES = re.compile(r"[A-Za-z]*cite(?:s|p|t|alp|alt|author|year|yearpar|title|num|text|online)?s?|Cite[a-z]{0,8}")
_NO_CITES = frozenset(("nocite", "bibcite", "citetext"))
_TEXTUAL = re.compile(r"(?:text|Text)cites?|[cC]itet|citeA|newcite|onlinecite")
_BARE = re.compile(r"[cC]ite(?:alp|alt|author|year)")
_LEVELS = {
    "title": 0, "part": 1, "chapter": 1, "section": 1, "subsection": 2, "subsubsection": 3, "paragraph": 4,
    "subparagraph": 5,
}  # fmt: skip
_INLINE = {"footnote": (" (", ")"), "textsuperscript": ("^", ""), "textsubscript": ("_", "")}
_AROUND = frozenset((*_LEVELS, *_INLINE, "caption"))
_DROPPED = {
    "label": 1, "includegraphics": 1, "vspace": 1, "hspace": 1, "bibliographystyle": 1,
    "bibliography": 1, "addbibresource": 1, "usepackage": 1, "documentclass": 1, "nocite": 1, "newcommand": 2,
    "renewcommand": 2, "providecommand": 2, "def": 1, "setlength": 2, "pagestyle": 1, "thispagestyle": 1, "input": 1,
    "include": 1, "bibliographyunit": 1, "email": 1, "affil": 1, "affiliation": 1, "address": 1, "thanks": 1,
    "author": 1, "date": 1, "index": 1, "hypersetup": 1, "newtheorem": 2, "setcounter": 2, "addtocounter": 2,
    "definecolor": 3, "color": 1, "write": 1, "openin": 0, "immediate": 0, "tableofcontents": 0,
    "citestyle": 1, "setcitestyle": 1, "bibcite": 2, "special": 1, "directlua": 1, "includeonly": 1,
    "graphicspath": 1, "DeclareCiteCommand": 4, "printbibliography": 0,
}  # fmt: skip
_RISKY = frozenset(("write", "openin", "directlua", "special", "immediate"))
_KEPT_SECOND = frozenset(("href", "textcolor"))
_SIGNS = {
    "ldots": "...", "dots": "...", "textendash": "–", "textemdash": "—", "LaTeX": "LaTeX", "TeX": "TeX", "quad": " ",
    "qquad": " ", "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "mu": "µ", "leq": "≤", "geq": "≥", "le": "≤",
    "ge": "≥", "pm": "±", "times": "×", "approx": "≈", "sim": "~", "cdot": "·", "rightarrow": "→", "to": "→",
    "infty": "∞", "textbackslash": "\\", "textasciitilde": "~", "kappa": "κ", "chi": "χ", "lambda": "λ", "sigma": "σ",
    "neq": "≠", "degree": "°", "textdegree": "°", "newline": " ", "par": "\n\n", "item": "\n\n",
    "tabularnewline": "\n\n",
}  # fmt: skip
_NOT_TEXT = frozenset(
    "equation align gather multline eqnarray displaymath tikzpicture picture thebibliography CCSXML verbatim".split()
)


def _without_verbatim(text: str) -> str:
    parts: list[str] = []
    at = 0
    while found := _VERBATIM.search(text, at):
        end = f"\\end{{{found[1]}{found[2]}}}"
        closed = text.find(end, found.end())
        parts.append(text[at : found.start()])
        at = closed + len(end) if closed >= 0 else len(text)
    return "".join([*parts, text[at:]])


@dataclass(slots=True)
class _Source:
    """The text of a manuscript with the files that it includes."""

    folder: Path
    notes: list[str] = field(default_factory=list[str])
    files: int = 0

    def expanded(self, text: str, above: tuple[Path, ...]) -> str:
        text = _without_verbatim(_COMMENT.sub(r"\1", text))
        return _INCLUDED.sub(lambda match: self.included(match[1].strip(), above), text)

    def included(self, name: str, above: tuple[Path, ...]) -> str:
        path = self.path_of(name, ".tex")
        if path is None or path in above or len(above) > 10:
            if path is not None:
                self.notes.append(f"{name} includes itself: it was read once")
            return ""
        self.files += 1
        if self.files > MOST_FILES:
            raise InputError(f"expected at most {MOST_FILES} included files; found more. Join them")
        with opened(path) as file:
            return self.expanded(file.text(), (*above, path))

    def path_of(self, name: str, suffix: str) -> Path | None:
        return path_in_folder(self.folder, name, suffix, self.notes.append)


def path_in_folder(folder: Path, name: str, suffix: str, note: Callable[[str], None]) -> Path | None:
    """Return a file that a manuscript names in its own folder or one below; None, with a note, for any other.

    A file that is named in a folder below may also be next to the manuscript, as uploaded files are.
    """
    bare = name.removeprefix("./")
    parts = bare.split("/")
    if re.search(r"[\\:\0]", bare) or any(not part.strip(".") for part in parts):
        note(f"{name} was not read: it is in another folder. Copy it next to the manuscript")
        return None
    places = dict.fromkeys((bare, parts[-1]))
    for path in (folder / (place + ending) for place in places for ending in (suffix, "")):
        if path.is_file():
            if not path.resolve().is_relative_to(folder.resolve()):
                note(f"{name} was not read: it is a link to another folder")
                return None
            return path
    note(f"{name} was not found next to the manuscript")
    return None


@dataclass(slots=True)
class _Reader:
    """Reads tokens into paragraphs."""

    text: str
    draft: Draft
    references: Mapping[str, Reference]
    numbers: Mapping[str, int]
    at: int = 0
    pieces: list[Piece] = field(default_factory=list[Piece])
    math: bool = False

    def read(self, end: int, depth: int = 0) -> None:
        """Read up to a position."""
        while self.at < end:
            token = _TOKEN.match(self.text, self.at)
            if token is None:
                return
            self.at = token.end()
            if word := token["word"]:
                self.command(word, depth)
            elif token["text"]:
                self.words(token["text"])
            elif token["math"]:
                self.math = not self.math
            elif token["blank"]:
                self.finish()
            elif sign := token["sign"]:
                self.sign(sign)

    def words(self, text: str) -> None:
        text = text.replace("---", "—").replace("--", "–").replace("``", "“").replace("''", "”")
        text = text.replace("~", " ").replace("&", " | ")
        self.pieces.append(text)

    def sign(self, sign: str) -> None:
        if sign == "\\":
            self.pieces.append(" ")
            self.option()
        elif sign in "[]()":
            self.math = sign in "[("
        elif sign in " ,;:!\n":
            self.pieces.append(" " if sign in " ,;:\n" else "")
        elif sign in "&%$#_{}":
            self.pieces.append(sign)

    def finish(self, level: int | None = None) -> None:
        pieces, self.pieces = self.pieces, []
        self.draft.paragraph(pieces, level)

    def option(self) -> str:
        found = _OPTION.match(self.text, self.at)
        if found:
            self.at = found.end()
        return found[1] if found else ""

    def argument(self) -> tuple[int, int] | None:
        """Skip an argument in braces, and return where it is."""
        found = _GROUP.match(self.text, self.at)
        if found is None:
            return None
        end = _closed(self.text, found.end())
        self.at = end + 1
        return found.end(), end

    def inside(self, span: tuple[int, int], depth: int) -> None:
        """Read an argument as text."""
        if depth >= MOST_DEPTH:
            raise InputError(f"expected at most {MOST_DEPTH} nested commands; found more in {self.draft.name}")
        behind, self.at = self.at, span[0]
        self.read(span[1], depth + 1)
        self.at = max(behind, span[1])

    def command(self, word: str, depth: int) -> None:
        if _CITES.fullmatch(word) and word not in _NO_CITES:
            self.cite(word)
        elif word in _AROUND:
            self.option()
            if span := self.argument():
                self.around(word, span, depth)
        elif word in ("begin", "end"):
            self.environment(word)
        elif word in _SIGNS:
            self.symbol(_SIGNS[word])
        elif word in _DROPPED or word in _KEPT_SECOND:
            self.drop(word, depth)
        elif word.endswith("ref"):
            self.argument()
        else:
            # Unknown: its arguments in braces are text.
            self.option()

    def around(self, word: str, span: tuple[int, int], depth: int) -> None:
        """Read the argument of a heading, a caption, a note or a script."""
        if word in _INLINE:
            before, behind = _INLINE[word]
            self.pieces.append(before)
            self.inside(span, depth)
            self.pieces.append(behind)
        else:
            self.finish()
            self.inside(span, depth)
            self.finish(_LEVELS.get(word))

    def symbol(self, sign: str) -> None:
        if sign == "\n\n":
            self.option()
            self.finish()
        else:
            self.pieces.append(sign)
        if self.text.startswith("{}", self.at):
            self.at += 2

    def drop(self, word: str, depth: int) -> None:
        if word in _RISKY:
            self.draft.note("commands that write or run something were not followed")
        self.option()
        for _ in range(1 if word in _KEPT_SECOND else _DROPPED[word]):
            if word in ("def", "newcommand", "renewcommand", "providecommand"):
                found = re.compile(r"\s{0,3}(?:\\[A-Za-z@]+|\{\\[A-Za-z@]+\})(?:\s{0,3}\[[^\]]{0,99}\]){0,2}").match(
                    self.text, self.at
                )
                self.at = found.end() if found else self.at
            self.option()
            self.argument()
        if word in _KEPT_SECOND and (span := self.argument()):
            self.inside(span, depth)

    def environment(self, word: str) -> None:
        span = self.argument()
        name = self.text[span[0] : span[1]].strip("* ") if span else ""
        if word == "begin" and name in _NOT_TEXT:
            end = re.compile(rf"\\end\s{{0,3}}\{{{re.escape(name)}\*?\}}").search(self.text, self.at)
            self.at = end.end() if end else len(self.text)
        elif word == "begin" and name == "abstract":
            self.finish()
            self.draft.paragraph(["Abstract"], 1)
        elif word == "begin":
            self.finish()
            self.option()
            if name in ("tabular", "longtable", "array", "tabularx", "minipage", "multicols"):
                self.argument()
        else:
            self.finish()

    def cite(self, word: str) -> None:
        groups: list[tuple[str, ...]] = []
        aside = ""
        for _ in range(50 if word.endswith("s") else 1):
            start = self.at
            options = [found for found in (self.option(), self.option()) if found]
            span = self.argument()
            if span is None:
                self.at = start
                break
            aside = options[-1] if options else aside
            groups.append(tuple(key.strip() for key in self.text[span[0] : span[1]].split(",") if key.strip()))
        keys = tuple(dict.fromkeys(key for group in groups for key in group))
        if not keys:
            return
        shown = self.shown(word, keys)
        if "foot" in word or "super" in word:
            shown = shown if shown[0] in "([" else f"({shown})"
        before = self.pieces[-1] if self.pieces else ""
        if isinstance(before, str) and before[-1:].strip() and before[-1] not in "([{" and shown[0] in "([":
            self.pieces.append(" ")
        self.pieces.append(Mark(shown, keys))

    def shown(self, word: str, keys: tuple[str, ...]) -> str:
        """Return what a reader sees: numbers for a printed list, else authors and years, else the keys."""
        if self.numbers and all(key in self.numbers for key in keys):
            return f"[{', '.join(str(self.numbers[key]) for key in keys)}]"
        named = [self.references[key] for key in keys if key in self.references]
        pairs = [pair for reference in named if (pair := author_year(reference))]
        if len(pairs) < len(keys):
            return f"[{'; '.join(keys)}]"
        if re.search(r"[cC]iteauthor", word):
            return "; ".join(names for names, _ in pairs)
        if re.search(r"[cC]iteyear", word):
            years = "; ".join(year for _, year in pairs)
            return f"({years})" if word.endswith("par") else years
        if _TEXTUAL.fullmatch(word):
            return " and ".join(f"{names} ({year})" for names, year in pairs)
        between = " " if word.lower().startswith("citealt") else ", "
        inner = "; ".join(f"{names}{between}{year}" for names, year in pairs)
        return inner if _BARE.fullmatch(word) else f"({inner})"


def _closed(text: str, at: int) -> int:
    """Return where the braces that are open at a position are closed; the end of the text if they are not."""
    depth = 1
    for sign in re.compile(r"\\.|[{}]", re.DOTALL).finditer(text, at):
        depth += {"{": 1, "}": -1}.get(sign[0], 0)
        if depth == 0:
            return sign.start()
    return len(text)


_ITEM = re.compile(r"\\bibitem\s{0,3}(?:\[((?:[^\[\]{}]|\{[^{}]{0,300}\}){0,500})\])?\s{0,3}\{([^{}]{1,200})\}")
_THE_BIBLIOGRAPHY = re.compile(
    r"\\begin\{thebibliography\}(?:\{[^{}]{0,99}\})?(.*?)(?:\\end\{thebibliography\}|\Z)", re.DOTALL
)


def _items(text: str) -> Iterator[Reference]:
    for found in _THE_BIBLIOGRAPHY.finditer(text):
        items = list(_ITEM.finditer(found[1]))
        ends = [*(item.start() for item in items[1:]), len(found[1])][: len(items)]
        for item, end in zip(items, ends, strict=True):
            words = re.sub(r"\\newblock\b", " ", found[1][item.end() : end])
            yield listed_reference(_plain(words), item[2].strip())


def _plain(text: str) -> str:
    draft = Draft("", list_is_known=True)
    reader = _Reader(re.sub(r"\n\s*\n", "\n", text), draft, {}, {})
    reader.read(len(reader.text))
    return " ".join("".join(map(text_of, reader.pieces)).split())


def _read(file: SourceFile, bibliography: Bibliography) -> Manuscript:
    source = _Source(file.path.parent)
    text = source.expanded(file.text(), (file.path,))
    draft = Draft(file.name, list_is_known=True, notes=[*bibliography.notes])
    works = dict(bibliography.works)
    named = [name.strip() for found in _BIBLIOGRAPHY.finditer(text) for name in found[1].split(",") if name.strip()]
    # A file that was given takes the place of the one next to the manuscript.
    missing = [name for name in named if not bibliography.has(name)]
    paths = {path: None for name in missing if (path := source.path_of(name, ".bib"))}
    found = read_bibliography(list(paths))
    draft.notes += [*dict.fromkeys(source.notes), *found.notes]
    for key, reference in found.works.items():
        works.setdefault(key, reference)
    listed = {item.key: item for item in _items(text)}
    if not listed and not works and (bbl := file.path.with_suffix(".bbl")).is_file() and file.path != bbl:
        with opened(bbl) as other:
            listed = {item.key: item for item in _items(source.expanded(other.text(), (file.path,)))}
    text = letters_of_latex(text)
    macros = {found[1]: found[2] for found in _DEFINED.finditer(text)}
    text = _USED.sub(lambda match: macros.get(match[1], match[0]), text) if macros else text
    begin = _BODY.search(text)
    head, body = (text[: begin.start()], text[begin.end() :]) if begin else ("", text)
    end = _END.search(body)
    body = body[: end.start()] if end else body
    for reference in listed.values():
        draft.works.by_key.setdefault(reference.key, reference)
    draft.works.know(works.values())
    named_only = {key.strip() for found in _NOCITE.finditer(text) for key in found[1].split(",")}
    draft.only_if_cited = set() if "*" in named_only else {*works} - {*listed} - named_only
    numbers = {key: number for number, key in enumerate(listed, start=1)}
    reader = _Reader(body, draft, works, numbers)
    if (title := re.search(r"\\title\s{0,3}(?:\[[^\]]{0,300}\])?\s{0,3}\{", head)) and "\\title" not in body:
        draft.title = _plain(head[title.end() : _closed(head, title.end())])
    reader.read(len(body))
    reader.finish()
    return draft.manuscript()


_LOOKS_SO = re.compile(r"^\s*(?:%[^\n]*\n\s*)*\\(?:documentclass|documentstyle|begin|section|chapter|title|input)\b")


def _matches(file: SourceFile) -> bool:
    if "\x00" in file.opening:
        return False
    return file.suffix in (".tex", ".latex", ".ltx") or bool(_LOOKS_SO.match(file.opening[:20_000]))


LATEX_MANUSCRIPT = ManuscriptKind("LaTeX (.tex)", _read, _matches, suffixes=(".tex", ".latex", ".ltx"))
