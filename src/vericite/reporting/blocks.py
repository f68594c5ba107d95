"""A text in blocks, and its forms as Markdown and as a Word document.

Words of records enter a form in one place, where they are escaped: they are never markup, fields or links.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal
from xml.sax.saxutils import escape, quoteattr

from vericite.reporting.printable import clean

Kind = Literal["title", "heading", "text", "item", "detail"]
"""``item`` is an entry of a list, ``detail`` a line below it."""


@dataclass(frozen=True)
class Words:
    """Words with a style of the terminal (``bold``, ``dim``, a colour, or two of these), and perhaps an address."""

    text: str
    style: str = ""
    link: str = ""


@dataclass(frozen=True)
class StyledLine:
    """A line or paragraph; ``gap`` asks for an empty line before it."""

    kind: Kind
    words: tuple[Words, ...]
    gap: bool = False

    @classmethod
    def of(cls, kind: Kind, *words: str | Words | tuple[str, str], gap: bool = False) -> StyledLine:
        """Make a block of words; a pair is a text with its style. Each text is put on one line."""
        given = [Words(word) if isinstance(word, str) else word for word in words]
        made = [word if isinstance(word, Words) else Words(*word) for word in given]
        return cls(kind, tuple(Words(clean(word.text), word.style, word.link) for word in made), gap)

    @property
    def text(self) -> str:
        """The words without styles."""
        return "".join(word.text for word in self.words)


# A number in brackets is a citation; before "(" it would be a link. Addresses and "a < b" are plain text.
_SIGNS = re.compile(
    r"\[\d{1,4}(?:(?:, ?|-)\d{1,4}){,9}\](?![(:\[])|[\\`*_\[\]$@]|~(?=~)|<(?=[A-Za-z/!?])|&(?=[#\w])|:(?=//)|(?<=www)\."
)
_OPENING = re.compile(r"\A(\s*\d{0,9})([-+=#:>.)])")
_MARKS = {"title": "# ", "heading": "## ", "item": "- ", "detail": "  - "}
_LISTED = ("item", "detail")


def to_markdown(blocks: Iterable[StyledLine]) -> str:
    """Return the blocks as Markdown."""
    lines: list[str] = []
    before: Kind | None = None
    for block in blocks:
        if before is not None and not (block.kind in _LISTED and before in _LISTED):
            lines.append("")
        # A sign that begins a line would begin a list, a heading or a rule.
        text = _OPENING.sub(r"\1\\\2", "".join(map(_marked, block.words)))
        lines.append(_MARKS.get(block.kind, "") + text)
        before = block.kind
    return "\n".join(lines) + "\n"


def escaped(text: str) -> str:
    """Return a text in Markdown, with its signs as they are."""
    return _SIGNS.sub(lambda sign: sign[0] if len(sign[0]) > 1 else f"\\{sign[0]}", text)


def _marked(word: Words) -> str:
    text = escaped(word.text)
    if "bold" in word.style and (bare := text.strip()):
        text = text.replace(bare, f"**{bare}**", 1)
    return f"[{text}]({word.link})" if word.link else text


_SCHEMAS = "http://schemas.openxmlformats.org"
_WORD, _OFFICE, _PACKAGE = "wordprocessingml/2006/main", "officeDocument/2006/relationships", "package/2006"
_HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>'
_SPACE = f'xmlns:w="{_SCHEMAS}/{_WORD}" xmlns:r="{_SCHEMAS}/{_OFFICE}"'
_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml"
_CONTENT_TYPES = (
    f'{_HEAD}<Types xmlns="{_SCHEMAS}/{_PACKAGE}/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    f'<Override PartName="/word/document.xml" ContentType="{_TYPE}.document.main+xml"/>'
    f'<Override PartName="/word/styles.xml" ContentType="{_TYPE}.styles+xml"/></Types>'
)
_STYLES: dict[Kind, tuple[str, str, str]] = {
    "title": ("Heading1", "heading 1", '<w:pPr><w:keepNext/><w:spacing w:before="360" w:after="120"/>'
              '<w:outlineLvl w:val="0"/></w:pPr><w:rPr><w:b/><w:sz w:val="32"/></w:rPr>'),
    "heading": ("Heading2", "heading 2", '<w:pPr><w:keepNext/><w:spacing w:before="240" w:after="60"/>'
                '<w:outlineLvl w:val="1"/></w:pPr><w:rPr><w:b/><w:sz w:val="26"/></w:rPr>'),
    "text": ("BodyText", "Body Text", '<w:pPr><w:spacing w:after="120"/></w:pPr>'),
    "item": ("ListItem", "List Item", '<w:pPr><w:spacing w:after="60"/><w:ind w:left="425" w:hanging="425"/></w:pPr>'),
    "detail": ("ListDetail", "List Detail", '<w:pPr><w:spacing w:after="60"/><w:ind w:left="850"/></w:pPr>'),
}  # fmt: skip
_COLOURS = {"red": "B42318", "green": "1A7F37", "yellow": "9A6700", "magenta": "86198F", "dim": "57606A"}
NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML cannot hold."""


def to_docx(blocks: Sequence[StyledLine]) -> bytes:
    """Return the blocks as a Word document. The same blocks give the same bytes."""
    links: dict[str, str] = {}
    body = "".join(_paragraph(block, links) for block in blocks)
    relations = "".join(
        f'<Relationship Id="{id}" Type="{_SCHEMAS}/{_OFFICE}/hyperlink" Target={quoteattr(link)} '
        'TargetMode="External"/>'
        for link, id in links.items()
    )
    styles = "".join(
        f'<w:style w:type="paragraph" w:styleId="{id}"><w:name w:val="{name}"/>{form}</w:style>'
        for id, name, form in _STYLES.values()
    )
    parts = {
        "[Content_Types].xml": _CONTENT_TYPES,
        "_rels/.rels": _relationships(
            f'<Relationship Id="r1" Type="{_SCHEMAS}/{_OFFICE}/officeDocument" Target="word/document.xml"/>'
        ),
        "word/document.xml": f"{_HEAD}<w:document {_SPACE}><w:body>{body}<w:sectPr/></w:body></w:document>",
        "word/styles.xml": f"{_HEAD}<w:styles {_SPACE}>{styles}</w:styles>",
        "word/_rels/document.xml.rels": _relationships(
            f'<Relationship Id="styles" Type="{_SCHEMAS}/{_OFFICE}/styles" Target="styles.xml"/>{relations}'
        ),
    }
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        for name, text in parts.items():
            archive.writestr(zipfile.ZipInfo(name), text.encode(), zipfile.ZIP_DEFLATED)
    return held.getvalue()


def _relationships(inner: str) -> str:
    return f'{_HEAD}<Relationships xmlns="{_SCHEMAS}/{_PACKAGE}/relationships">{inner}</Relationships>'


def _paragraph(block: StyledLine, links: dict[str, str]) -> str:
    runs: list[str] = []
    for word in block.words:
        run = _run(word)
        if word.link:
            id = links.setdefault(word.link, f"link{len(links) + 1}")
            run = f'<w:hyperlink r:id="{id}">{run}</w:hyperlink>'
        runs.append(run)
    return f'<w:p><w:pPr><w:pStyle w:val="{_STYLES[block.kind][0]}"/></w:pPr>{"".join(runs)}</w:p>'


def _run(word: Words) -> str:
    colour = next((_COLOURS[part] for part in word.style.split() if part in _COLOURS), None)
    form = "<w:b/>" if "bold" in word.style else ""
    form += f'<w:color w:val="{colour or "0563C1"}"/>' if colour or word.link else ""
    form += '<w:u w:val="single"/>' if word.link else ""
    text = escape(NOT_XML.sub("\ufffd", word.text))
    return f'<w:r>{f"<w:rPr>{form}</w:rPr>" if form else ""}<w:t xml:space="preserve">{text}</w:t></w:r>'
