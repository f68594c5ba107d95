"""Manuscripts of our own with known citations: Word with the fields of four programs, LaTeX, Markdown, HTML, text.

The XML has the shapes that the programs write; every name, article and sentence is invented.
"""

from __future__ import annotations

import base64
import io
import json
import random
import zipfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from vericite.corpus.manuscript.registry import read_manuscript
from vericite.records import Manuscript

SUBJECTS = "zelotrine bexamine corvadil tamirone oxafenil lurasep mirtocil pandrolin velicept sorvadine".split()
OUTCOMES = "fatigue,bone loss,night cough,knee pain,blood pressure,wound closure,early delirium,weight gain".split(",")
PEOPLE = "older adults,children with asthma,nurses on night shifts,women after childbirth,men with gout".split(",")
DESIGNS = ("a randomised trial", "a cohort study", "a systematic review", "a case-control study")
FAMILIES = (
    "Abernathy Brandvold Castellano Dufresne Eklund Farouk Grünwald Haverkamp Ishikawa Jankowski Kowalczyk Lindqvist "
    "Mbeki Nakamura Okonkwo Petrov Quigley Rasmussen Sørensen Takahashi Underhill Vasquez Whitcombe Yamada Zielinski"
).split()
GIVEN = "Anna Bela Carl Dora Emil Freya Georg Hanna Igor Jane Karl Lena".split()
JOURNALS = ("Journal of Made Trials", "Annals of Invented Medicine", "Archives of Plain Care", "Nordic Ward Studies")


@dataclass(frozen=True)
class Work:
    """An invented article."""

    title: str
    authors: tuple[tuple[str, str], ...]
    journal: str
    year: int
    volume: int
    issue: int
    pages: str
    doi: str
    pmid: str

    @property
    def key(self) -> str:
        return f"{self.authors[0][0].lower().encode('ascii', 'ignore').decode()}{self.year}{self.doi[-2:]}"

    @property
    def names(self) -> str:
        return ", ".join(f"{family} {given[0]}" for family, given in self.authors)

    @property
    def vancouver(self) -> str:
        where = f"{self.journal}. {self.year};{self.volume}({self.issue}):{self.pages}"
        return f"{self.names}. {self.title}. {where}. doi:{self.doi}"

    @property
    def apa(self) -> str:
        people = [f"{family}, {given[0]}." for family, given in self.authors]
        listed = f"{', '.join(people[:-1])}, & {people[-1]}" if len(people) > 1 else people[0]
        where = f"{self.journal}, {self.volume}({self.issue}), {self.pages}. https://doi.org/{self.doi}"
        return f"{listed} ({self.year}). {self.title}. {where}"

    @property
    def cited(self) -> str:
        families = [family for family, _ in self.authors]
        return families[0] + (f" and {families[1]}" if len(families) == 2 else " et al." if len(families) > 2 else "")

    @property
    def csl(self) -> dict[str, object]:
        return {
            "id": self.key,
            "type": "article-journal",
            "title": self.title,
            "container-title": self.journal,
            "volume": str(self.volume),
            "issue": str(self.issue),
            "page": self.pages,
            "DOI": self.doi,
            "PMID": self.pmid,
            "author": [{"family": family, "given": given} for family, given in self.authors],
            "issued": {"date-parts": [[self.year, 3]]},
        }

    @property
    def bibtex(self) -> str:
        people = " and ".join(f"{family}, {given}" for family, given in self.authors)
        return (
            f"@article{{{self.key},\n  title = {{{self.title}}},\n  author = {{{people}}},\n  "
            f"journal = {{{self.journal}}},\n"
            f"  year = {self.year},\n  volume = {{{self.volume}}},\n  number = {{{self.issue}}},\n"
            f"  pages = {{{self.pages.replace('-', '--')}}},\n  doi = {{{self.doi}}}\n}}\n"
        )

    @property
    def ris(self) -> str:
        people = "".join(f"AU  - {family}, {given}\n" for family, given in self.authors)
        first, last = self.pages.split("-")
        return (
            f"TY  - JOUR\n{people}TI  - {self.title}\nT2  - {self.journal}\nPY  - {self.year}\nVL  - {self.volume}\n"
            f"IS  - {self.issue}\nSP  - {first}\nEP  - {last}\nDO  - {self.doi}\nID  - {self.key}\nER  - \n"
        )


@dataclass(frozen=True)
class Sentence:
    """A sentence, its number, and the positions of the works that it cites."""

    number: int
    before: str
    behind: str
    cites: tuple[int, ...]

    def text(self, mark: Callable[[tuple[int, ...]], str]) -> str:
        return f"In trial {self.number}, {self.before}{mark(self.cites) if self.cites else ''}{self.behind}."


@dataclass
class Case:
    """A document: its files, the first of which is read, and what it cites."""

    name: str
    files: dict[str, bytes]
    sentences: Sequence[Sentence]
    works: Sequence[Work]
    bibliography: tuple[str, ...] = ()

    @property
    def typed(self) -> bool:
        return self.name in ("typed numbers, tracked changes", "numbered list", "plain text")

    def write(self, folder: Path) -> tuple[Path, list[Path]]:
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in self.files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content)
        return folder / next(iter(self.files)), [folder / name for name in self.bibliography]

    def read(self, folder: Path) -> Manuscript:
        path, bibliography = self.write(folder)
        return read_manuscript(path, bibliography)


def invent(draw: random.Random, count: int = 14) -> tuple[list[Work], list[Sentence]]:
    """Return works, and sentences that cite them in order of their first citation; every third cites several."""
    works: list[Work] = []
    titles = [f"{s} {o} {p}" for s in SUBJECTS for o in OUTCOMES for p in PEOPLE]
    for number, words in enumerate(draw.sample(titles, count)):
        subject, _, rest = words.partition(" ")
        outcome = next(name for name in OUTCOMES if rest.startswith(name))
        people = rest[len(outcome) + 1 :]
        first = draw.randrange(100, 900)
        works.append(
            Work(
                title=f"Effect of {subject} on {outcome} in {people}: {draw.choice(DESIGNS)}",
                authors=tuple((family, draw.choice(GIVEN)) for family in draw.sample(FAMILIES, draw.randint(1, 4))),
                journal=draw.choice(JOURNALS),
                year=draw.randint(1998, 2024),
                volume=draw.randint(1, 60),
                issue=draw.randint(1, 12),
                pages=f"{first}-{first + draw.randint(3, 9)}",
                doi=f"10.5555/made.{draw.randrange(1000, 9999)}.{number:02}",
                pmid=str(draw.randrange(10_000_000, 39_000_000)),
            )
        )
    sentences: list[Sentence] = []
    following = 0
    for number in range(1, 21):
        many = 3 if number % 5 == 0 else 2 if number % 3 == 0 else 1
        cites = [following] if following < count else [draw.randrange(count)]
        following += 1
        while len(cites) < many:
            other = following if following < count and draw.random() < 0.5 else draw.randrange(min(following, count))
            following += other == following
            if other not in cites:
                cites.append(other)
        arms, change = draw.randrange(40, 900), draw.randrange(3, 60)
        # Statements without a citation, and numbers that are none.
        inside = number % 4 == 0
        sentences.append(
            Sentence(
                number,
                f"the fall of {change}% "
                if inside
                else f"the {arms} adults (mean age 61 years) improved by {change}% ",
                f" was found again in {arms} adults" if inside else "",
                () if number % 10 == 7 else tuple(sorted(cites)),
            )
        )
    # What no sentence cites is not listed.
    order = list(dict.fromkeys(at for sentence in sentences for at in sentence.cites))
    at = {old: new for new, old in enumerate(order)}
    return [works[old] for old in order], [
        Sentence(s.number, s.before, s.behind if s.cites else s.behind.lstrip(), tuple(sorted(at[c] for c in s.cites)))
        for s in sentences
    ]


def numbers(cites: Sequence[int], dash: str = "–", comma: str = ",") -> str:
    """Return numbers with runs of three or more joined."""
    shown: list[str] = []
    runs: list[list[int]] = []
    for number in sorted(at + 1 for at in cites):
        if runs and runs[-1][-1] == number - 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    for run in runs:
        shown += [f"{run[0]}{dash}{run[-1]}"] if len(run) > 2 else [str(number) for number in run]
    return comma.join(shown)


# Word

SPACES = (
    'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" '
    'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
)
STYLES = (
    f'<w:styles {SPACES}><w:style w:type="paragraph" w:styleId="Title"><w:name w:val="Title"/></w:style>'
    '<w:style w:type="paragraph" w:styleId="Heading1"><w:name w:val="heading 1"/></w:style></w:styles>'
)


_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_WORD_PART = "application/vnd.openxmlformats-officedocument.wordprocessingml"
_KINDS = {
    "word/document.xml": ("officeDocument", f"{_WORD_PART}.document.main+xml"),
    "word/styles.xml": ("styles", f"{_WORD_PART}.styles+xml"),
    "word/footnotes.xml": ("footnotes", f"{_WORD_PART}.footnotes+xml"),
    "word/endnotes.xml": ("endnotes", f"{_WORD_PART}.endnotes+xml"),
    "docProps/custom.xml": ("custom-properties", "application/vnd.openxmlformats-officedocument.custom-properties+xml"),
    "customXml/item1.xml": ("customXml", ""),
}
"""Parts that Word writes: how another part refers to them, and their type if it is not plain XML."""


def docx(body: str, **parts: str) -> bytes:
    """Return a Word document with this body; ``parts`` are other parts, with ``__`` for a slash and ``_`` for a dot."""
    more = {name.replace("__", "/").replace("_xml", ".xml"): text for name, text in parts.items()}
    packed = {
        "word/document.xml": f"<w:document {SPACES}><w:body>{body}</w:body></w:document>",
        "word/styles.xml": STYLES,
    } | more
    packed = {
        "[Content_Types].xml": _content_types(packed),
        "_rels/.rels": _relations(name for name in packed if name in ("word/document.xml", "docProps/custom.xml")),
        "word/_rels/document.xml.rels": _relations(
            f"../{name}" if name.startswith("customXml") else name.removeprefix("word/")
            for name in packed
            if name in _KINDS and name not in ("word/document.xml", "docProps/custom.xml")
        ),
    } | packed
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in packed.items():
            archive.writestr(name, text)
    return held.getvalue()


def _content_types(names: Iterable[str]) -> str:
    overrides = "".join(
        f'<Override PartName="/{name}" ContentType="{_KINDS[name][1]}"/>'
        for name in names
        if name in _KINDS and _KINDS[name][1]
    )
    return (
        f'<?xml version="1.0" encoding="UTF-8"?><Types xmlns="{_PACKAGE}/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Default Extension="xml" ContentType="application/xml"/>{overrides}</Types>'
    )


def _relations(targets: Iterable[str]) -> str:
    """Return relations to parts, by their paths from the part that refers to them."""
    kinds = {name.rpartition("/")[2]: kind for name, (kind, _) in _KINDS.items()}
    links = "".join(
        f'<Relationship Id="rId{number}" Type="{_OFFICE}/{kinds[target.rpartition("/")[2]]}" Target="{target}"/>'
        for number, target in enumerate(targets, start=1)
    )
    return (
        f'<?xml version="1.0" encoding="UTF-8"?><Relationships xmlns="{_PACKAGE}/relationships">{links}</Relationships>'
    )


def footnotes(notes: Iterable[str]) -> str:
    """Return the part of footnotes as Word writes it: its two separators first."""
    separators = "".join(
        f'<w:footnote w:type="{kind}" w:id="{id}"><w:p><w:r><w:{kind}/></w:r></w:p></w:footnote>'
        for id, kind in ((-1, "separator"), (0, "continuationSeparator"))
    )
    return f"<w:footnotes {SPACES}>{separators}{''.join(notes)}</w:footnotes>"


def run(text: str, style: str = "") -> str:
    return f'<w:r>{f"<w:rPr>{style}</w:rPr>" if style else ""}<w:t xml:space="preserve">{escape(text)}</w:t></w:r>'


RAISED = '<w:vertAlign w:val="superscript"/>'


def paragraph(runs: str, style: str = "") -> str:
    return f"<w:p>{f'<w:pPr><w:pStyle w:val={quoteattr(style)}/></w:pPr>' if style else ''}{runs}</w:p>"


def char(kind: str, data: str = "") -> str:
    inner = f'<w:fldData xml:space="preserve">{data}</w:fldData>' if data else ""
    return f'<w:r><w:fldChar w:fldCharType="{kind}">{inner}</w:fldChar></w:r>'


def instruction(text: str, size: int = 0) -> str:
    """Return the code of a field, in pieces as Word saves a long one."""
    pieces = [text[at : at + size] for at in range(0, len(text), size)] if size else [text]
    return "".join(f'<w:r><w:instrText xml:space="preserve">{escape(piece)}</w:instrText></w:r>' for piece in pieces)


def complex_field(code: str, result: str, size: int = 0) -> str:
    return char("begin") + instruction(code, size) + char("separate") + result + char("end")


def zotero_json(works: Sequence[Work], cites: Sequence[int], shown: str) -> str:
    items = [
        {"id": at + 400, "uris": [f"http://zotero.org/users/1/items/K{at:07}"], "itemData": works[at].csl}
        for at in cites
    ]
    mark = {"formattedCitation": shown, "plainCitation": shown, "noteIndex": 0}
    return json.dumps({"citationID": f"c{shown}", "properties": mark, "citationItems": items, "schema": "csl"})


def mendeley_json(works: Sequence[Work], cites: Sequence[int], shown: str) -> str:
    items = [
        {
            "id": f"ITEM-{number}",
            "itemData": works[at].csl | {"id": f"ITEM-{number}"},
            "uris": [f"http://www.mendeley.com/documents/?uuid=00000000-{at:04}"],
        }
        for number, at in enumerate(cites, start=1)
    ]
    return json.dumps(
        {"citationItems": items, "mendeley": {"formattedCitation": shown}, "properties": {"noteIndex": 0}}
    )


def endnote_xml(works: Sequence[Work], cites: Sequence[int], shown: str) -> str:
    def styled(text: object) -> str:
        return f'<style face="normal" font="default" size="100%">{escape(str(text))}</style>'

    cited = ""
    for at in cites:
        work = works[at]
        people = "".join(f"<author>{styled(f'{family}, {given}')}</author>" for family, given in work.authors)
        cited += (
            f"<Cite><Author>{work.authors[0][0]}</Author><Year>{work.year}</Year><RecNum>{at + 70}</RecNum>"
            f"<DisplayText>{escape(shown)}</DisplayText><record><rec-number>{at + 70}</rec-number><foreign-keys>"
            f'<key app="EN" db-id="x">{at + 70}</key></foreign-keys><ref-type name="Journal Article">17</ref-type>'
            f"<contributors><authors>{people}</authors></contributors><titles><title>{styled(work.title)}</title>"
            f"<secondary-title>{styled(work.journal)}</secondary-title></titles><pages>{work.pages}</pages>"
            f"<volume>{work.volume}</volume><number>{work.issue}</number><dates><year>{work.year}</year></dates>"
            f"<urls></urls><electronic-resource-num>{work.doi}</electronic-resource-num></record></Cite>"
        )
    return f"<EndNote>{cited}</EndNote>"


def word_body(sentences: Sequence[Sentence], mark: Callable[[tuple[int, ...]], str], behind: str) -> str:
    """Return the body of a document: title, headings, paragraphs of five sentences, the list."""
    body = paragraph(run("Care on invented wards"), "Title") + paragraph(run("Introduction"), "Heading1")
    for start in range(0, len(sentences), 5):
        runs = ""
        for sentence in sentences[start : start + 5]:
            marked = mark(sentence.cites) if sentence.cites else ""
            runs += run(f"In trial {sentence.number}, {sentence.before}") + marked + run(f"{sentence.behind}. ")
        body += paragraph(runs)
        if start == 5:
            body += paragraph(run("Results"), "Heading1")
    return body + paragraph(run("References"), "Heading1") + behind


def field_list(code: str, works: Sequence[Work]) -> str:
    """Return a list of references in a field that spans its paragraphs."""
    first, *others = [run(f"{number}. {work.vancouver}") for number, work in enumerate(works, start=1)]
    opened = char("begin") + instruction(code) + char("separate")
    return "".join([paragraph(opened + first), *map(paragraph, others), paragraph(char("end"))])


def author_year_mark(works: Sequence[Work], cites: Sequence[int]) -> str:
    return f"({'; '.join(f'{works[at].cited}, {works[at].year}' for at in cites)})"


def word_cases(draw: random.Random) -> list[Case]:  # noqa: C901
    cases: list[Case] = []

    def add(name: str, make: Callable[[list[Work], list[Sentence]], bytes]) -> None:
        works, sentences = invent(draw)
        cases.append(Case(name, {"paper.docx": make(works, sentences)}, sentences, works))

    def zotero(size: int, numeric: bool) -> Callable[[list[Work], list[Sentence]], bytes]:
        def make(works: list[Work], sentences: list[Sentence]) -> bytes:
            def mark(cites: tuple[int, ...]) -> str:
                shown = f"[{numbers(cites)}]" if numeric else author_year_mark(works, cites)
                code = f" ADDIN ZOTERO_ITEM CSL_CITATION {zotero_json(works, cites, shown)} "
                return complex_field(code, run(shown[:2]) + run(shown[2:]), size)

            code = ' ADDIN ZOTERO_BIBL {"uncited":[],"omitted":[],"custom":[]} CSL_BIBLIOGRAPHY '
            return docx(word_body(sentences, mark, field_list(code, works)))

        return make

    add("Zotero, numbers, codes in pieces", zotero(200, True))
    add("Zotero, author and year", zotero(0, False))

    def bookmarks(works: list[Work], sentences: list[Sentence]) -> bytes:
        held: dict[str, str] = {}

        def mark(cites: tuple[int, ...]) -> str:
            number = len(held) + 1
            shown = f"({numbers(cites)})"
            held[f"ZOTERO_BREF_k{number}"] = f"ZOTERO_ITEM CSL_CITATION {zotero_json(works, cites, shown)}"
            start = f'<w:bookmarkStart w:id="{number}" w:name="ZOTERO_BREF_k{number}"/>'
            return f'{start}{run(shown)}<w:bookmarkEnd w:id="{number}"/>'

        body = word_body(sentences, mark, "".join(paragraph(run(work.vancouver)) for work in works))
        properties = "".join(
            f'<property fmtid="{{D5CDD505-2E9C-101B-9397-08002B2CF9AE}}" pid="{id}" name="{name}">'
            f"<vt:lpwstr>{escape(code)}</vt:lpwstr></property>"
            for id, (name, code) in enumerate(
                (
                    (f"{name}_{part}", code[at : at + 250])
                    for name, code in held.items()
                    for part, at in enumerate(range(0, len(code), 250), start=1)
                ),
                start=2,
            )
        )
        space = (
            'xmlns="http://schemas.openxmlformats.org/officeDocument/2006/custom-properties" '
            'xmlns:vt="http://schemas.openxmlformats.org/officeDocument/2006/docPropsVTypes"'
        )
        return docx(body, docProps__custom_xml=f"<Properties {space}>{properties}</Properties>")

    add("Zotero, bookmarks", bookmarks)

    def mendeley(works: list[Work], sentences: list[Sentence]) -> bytes:
        def mark(cites: tuple[int, ...]) -> str:
            code = f"ADDIN CSL_CITATION {mendeley_json(works, cites, numbers(cites))}"
            return complex_field(code, run(numbers(cites), RAISED), 500)

        return docx(word_body(sentences, mark, field_list("ADDIN Mendeley Bibliography CSL_BIBLIOGRAPHY ", works)))

    add("Mendeley Desktop, superscript", mendeley)

    def control(works: list[Work], sentences: list[Sentence]) -> bytes:
        def mark(cites: tuple[int, ...]) -> str:
            items = [{"id": f"u-{at}", "itemData": works[at].csl | {"id": f"u-{at}"}} for at in cites]
            value = json.dumps({"citationID": "M", "properties": {"noteIndex": 0}, "citationItems": items})
            tag = "MENDELEY_CITATION_v3_" + base64.b64encode(value.encode()).decode()
            shown = run(author_year_mark(works, cites))
            return f'<w:sdt><w:sdtPr><w:tag w:val="{tag}"/></w:sdtPr><w:sdtContent>{shown}</w:sdtContent></w:sdt>'

        listed = "".join(paragraph(run(work.apa)) for work in works)
        tag = '<w:sdtPr><w:tag w:val="MENDELEY_BIBLIOGRAPHY"/></w:sdtPr>'
        return docx(word_body(sentences, mark, f"<w:sdt>{tag}<w:sdtContent>{listed}</w:sdtContent></w:sdt>"))

    add("Mendeley Cite, content controls", control)

    def endnote(packed: bool) -> Callable[[list[Work], list[Sentence]], bytes]:
        def make(works: list[Work], sentences: list[Sentence]) -> bytes:
            def mark(cites: tuple[int, ...]) -> str:
                shown = f"({numbers(cites, '-', ', ')})"
                xml = endnote_xml(works, cites, shown)
                if not packed:
                    return complex_field(f" ADDIN EN.CITE {xml}", run(shown), 300)
                data = base64.encodebytes(xml.encode() + b"\0").decode()
                inner = char("begin", data) + instruction(" ADDIN EN.CITE.DATA ") + "<w:r/>" + char("end")
                opened = char("begin", data) + instruction(" ADDIN EN.CITE ") + inner + "<w:r/>"
                return opened + char("separate") + run(shown) + char("end")

            return docx(word_body(sentences, mark, field_list(" ADDIN EN.REFLIST ", works)))

        return make

    add("EndNote, records in the code", endnote(False))
    add("EndNote, records in the data", endnote(True))

    def words_own(works: list[Work], sentences: list[Sentence]) -> bytes:
        def mark(cites: tuple[int, ...]) -> str:
            first, *others = [works[at].key for at in cites]
            code = f" CITATION {first} \\l 1033 " + "".join(f" \\m {tag}" for tag in others)
            field = complex_field(code, run(author_year_mark(works, cites)))
            return f"<w:sdt><w:sdtPr><w:citation/></w:sdtPr><w:sdtContent>{field}</w:sdtContent></w:sdt>"

        sources = "".join(
            f"<b:Source><b:Tag>{work.key}</b:Tag><b:SourceType>JournalArticle</b:SourceType><b:Title>{work.title}</b:Title>"
            f"<b:Year>{work.year}</b:Year><b:JournalName>{work.journal}</b:JournalName><b:Pages>{work.pages}</b:Pages>"
            f"<b:Volume>{work.volume}</b:Volume><b:Author><b:Author><b:NameList>"
            + "".join(f"<b:Person><b:Last>{f}</b:Last><b:First>{g}</b:First></b:Person>" for f, g in work.authors)
            + "</b:NameList></b:Author></b:Author></b:Source>"
            for work in works
        )
        space = 'xmlns:b="http://schemas.openxmlformats.org/officeDocument/2006/bibliography"'
        body = word_body(sentences, mark, field_list(" BIBLIOGRAPHY ", works))
        return docx(body, customXml__item1_xml=f"<b:Sources {space}>{sources}</b:Sources>")

    add("Word's own citations", words_own)

    def plain(works: list[Work], sentences: list[Sentence]) -> bytes:
        listed = "".join(paragraph(run(f"{at}. {work.vancouver}")) for at, work in enumerate(works, start=1))
        gone = f'<w:del w:id="1"><w:r><w:delText>[{len(works)}]</w:delText></w:r></w:del>'

        def mark(cites: tuple[int, ...]) -> str:
            shown = run(f"[{numbers(cites, '-', ', ')}]")
            return f'{gone}<w:ins w:id="2">{shown}</w:ins>'

        return docx(word_body(sentences, mark, listed))

    add("typed numbers, tracked changes", plain)

    works, sentences = invent(draw)
    notes: list[str] = []

    def note(cites: tuple[int, ...]) -> str:
        marks = ""
        for at in cites:
            notes.append(f'<w:footnote w:id="{len(notes) + 1}">{paragraph(run(works[at].vancouver))}</w:footnote>')
            marks += f'<w:r><w:rPr>{RAISED}</w:rPr><w:footnoteReference w:id="{len(notes)}"/></w:r>'
        return marks

    body = word_body(sentences, note, "").rpartition("<w:p><w:pPr>")[0]
    cases.append(
        Case(
            "references in footnotes",
            {"paper.docx": docx(body, word__footnotes_xml=footnotes(notes))},
            sentences,
            works,
        )
    )
    return cases


# LaTeX


def latex_cases(draw: random.Random) -> list[Case]:
    cases: list[Case] = []

    def add(
        name: str,
        commands: Sequence[str],
        listed: str = "natbib",
        shape: Callable[[str, list[Work]], dict[str, str]] | None = None,
        named: tuple[str, ...] = (),
    ) -> None:
        works, sentences = invent(draw)
        turn = iter(range(10_000))

        def mark(cites: tuple[int, ...]) -> str:
            command = commands[next(turn) % len(commands)]
            keys = [works[at].key for at in cites]
            if command == "cites":
                return "\\autocites" + "".join(f"[12]{{{key}}}" for key in keys)
            before = "~" if "foot" not in command else ""
            return f"{before}\\{command}{{{', '.join(keys)}}}".replace("~\\textcite", "\\textcite")

        text = ""
        for sentence in sentences:
            text += sentence.text(mark).replace("%", "\\%") + "\n"
            text += "% In an older draft \\cite{nowhere1999}.\n" if sentence.number % 6 == 0 else ""
            text += "\n\\subsection*{More trials}\n" if sentence.number == 10 else ""
        end = {
            "natbib": "\\bibliographystyle{plainnat}\n\\bibliography{refs}\n",
            "biblatex": "\\printbibliography\n",
            "none": "",
        }.get(listed)
        if listed == "bibitem":
            items = "".join(f"\\bibitem{{{work.key}}} {work.vancouver}\n\n" for work in works)
            end = f"\\begin{{thebibliography}}{{99}}\n{items}\\end{{thebibliography}}\n"
        head = "\\documentclass{article}\n\\usepackage{natbib}\n"
        head += "\\addbibresource{refs.bib}\n" if listed == "biblatex" else ""
        main = f"{head}\\title{{Care on \\emph{{invented}} wards}}\n\\begin{{document}}\n\\maketitle\n"
        main += f"\\section{{Introduction}}\\label{{sec:intro}}\n{text}{end}\\end{{document}}\n"
        files = {"paper.tex": main}
        if listed in ("natbib", "biblatex"):
            files["refs.bib"] = "\n".join(work.bibtex for work in works)
        if shape:
            files |= shape(main, works)
        cases.append(Case(name, {name: text.encode() for name, text in files.items()}, sentences, works, named))

    add("natbib", ["citep", "citep[see][p.~3]", "citep*"])
    add("natbib in the text", ["citet", "citealp", "citeauthor", "Citet"])
    add("plain cite", ["cite", "cite[chap. 2]"])
    add("biblatex", ["parencite", "textcite", "autocite", "footcite"], "biblatex")
    add("superscript and several keys", ["supercite", "cites"], "biblatex")
    add("thebibliography", ["cite"], "bibitem")
    add("thebibliography, superscript", ["supercite", "onlinecite"], "bibitem")

    def split(main: str, _: list[Work]) -> dict[str, str]:
        head, body, rest = main.partition("\\section{Introduction}")
        text, mark, end = rest.partition("\\bibliographystyle")
        return {"paper.tex": f"{head}\\input{{body}}\n\\input{{../outside}}\n{mark}{end}", "body.tex": body + text}

    add("included files", ["citep", "citet"], "natbib", split)

    def bbl(_: str, works: list[Work]) -> dict[str, str]:
        items = "".join(f"\\bibitem{{{w.key}}}\n{w.names}.\n\\newblock {w.title}.\n\\newblock {w.journal}, "
                        f"{w.volume}({w.issue}):{w.pages}, {w.year}.\n\n" for w in works)  # fmt: skip
        return {"paper.bbl": f"\\begin{{thebibliography}}{{9}}\n{items}\\end{{thebibliography}}"}

    add("only the .bbl file", ["cite"], "none", bbl)
    add(
        "a RIS file that is named",
        ["citep"],
        "none",
        lambda _, works: {"library.ris": "\n".join(work.ris for work in works)},
        ("library.ris",),
    )
    return cases


# Markdown, HTML and plain text


def markup_cases(draw: random.Random) -> list[Case]:  # noqa: C901
    cases: list[Case] = []

    def add(
        name: str,
        file: str,
        make: Callable[[list[Work], list[Sentence]], str],
        others: Callable[[list[Work]], dict[str, str]] = lambda _: {},
        named: tuple[str, ...] = (),
    ) -> None:
        works, sentences = invent(draw)
        files = {file: make(works, sentences)} | others(works)
        cases.append(Case(name, {name: text.encode() for name, text in files.items()}, sentences, works, named))

    def markdown(mark: Callable[[list[Work], tuple[int, ...]], str], head: str = "", tail: str = ""):
        def make(works: list[Work], sentences: list[Sentence]) -> str:
            lines = [sentence.text(lambda cites: mark(works, cites)) for sentence in sentences]
            body = "\n".join(lines[:10]) + "\n\n## Results of *all* trials\n\n" + " ".join(lines[10:])
            entries = ""
            if tail == "numbers":
                entries = "## References\n\n" + "\n".join(f"{n}. {w.vancouver}" for n, w in enumerate(works, start=1))
            elif tail == "apa":
                entries = "## References\n\n" + "\n\n".join(w.apa for w in sorted(works, key=lambda w: w.cited))
            elif tail == "notes":
                entries = "\n".join(f"[^n{at}]: {work.vancouver}" for at, work in enumerate(works))
            return f"{head}# Care on invented wards\n\n## Introduction\n\n{body}\n\n{entries}\n"

        return make

    def pandoc(works: list[Work], cites: tuple[int, ...]) -> str:
        return f"[see {'; '.join(f'@{works[at].key}, p. {at + 3}' for at in cites)}]"

    bib = "---\ntitle: Care\nbibliography: refs.bib\n---\n"
    add("Pandoc", "paper.md", markdown(pandoc, bib), lambda works: {"refs.bib": "\n".join(w.bibtex for w in works)})
    add(
        "Pandoc with CSL JSON",
        "paper.qmd",
        markdown(lambda works, cites: " and ".join(f"@{works[at].key} [p. 2]" for at in cites)),
        lambda works: {"library.json": json.dumps([work.csl for work in works], indent=1)},
        ("library.json",),
    )
    add("footnotes", "paper.md", markdown(lambda _, cites: "".join(f"[^n{at}]" for at in cites), "", "notes"))
    add("numbered list", "paper.md", markdown(lambda _, cites: f"[{numbers(cites, '-', ', ')}]", "", "numbers"))
    add("author and year", "paper.md", markdown(author_year_mark, "", "apa"))
    add(
        "links to DOIs and a list",
        "paper.md",
        markdown(
            lambda works, cites: " ".join(
                f"[{works[at].cited} {works[at].year}](https://doi.org/{works[at].doi})" for at in cites
            ),
            "",
            "numbers",
        ),
    )

    def html(mark: Callable[[list[Work], tuple[int, ...]], str], item: Callable[[int, Work], str], holder: str):
        def make(works: list[Work], sentences: list[Sentence]) -> str:
            body = " ".join(sentence.text(lambda cites: mark(works, cites)) for sentence in sentences)
            listed = "\n".join(item(at, work) for at, work in enumerate(works))
            opened, closed = f"<{holder}>", f"</{holder.split()[0]}>"
            return (
                "<!DOCTYPE html><html><head><title>Care</title><script>alert(1)</script></head><body><h1>Care</h1>"
                f"<h2>Introduction</h2><p>{body}</p><h2>References</h2>{opened}{listed}{closed}</body></html>"
            )

        return make

    def anchors(_: list[Work], cites: tuple[int, ...]) -> str:
        links = (f'<a href="#bib{at + 1}">{at + 1}</a>' for at in cites)
        return f"<sup>{','.join(links)}</sup>"

    add(
        "HTML with anchors",
        "paper.html",
        html(anchors, lambda at, work: f'<li id="bib{at + 1}">{escape(work.vancouver)}</li>', 'ol class="refs"'),
    )
    add(
        "HTML, superscript numbers",
        "paper.html",
        html(
            lambda _, cites: f"<sup>{numbers(cites)}</sup>", lambda _, work: f"<li>{escape(work.vancouver)}</li>", "ol"
        ),
    )
    add(
        "HTML of Pandoc",
        "paper.html",
        html(
            lambda works, cites: (
                f'<span class="citation" data-cites="{" ".join(works[at].key for at in cites)}">'
                f"{escape(author_year_mark(works, cites))}</span>"
            ),
            lambda _, work: f'<div id="ref-{work.key}" class="csl-entry">{escape(work.apa)}</div>',
            'div id="refs" class="references csl-bib-body"',
        ),
    )

    def text(works: list[Work], sentences: list[Sentence]) -> str:
        body = "\n".join(sentence.text(lambda cites: f"[{numbers(cites, '-', ', ')}]") for sentence in sentences)
        listed = "\n".join(f"{number}. {work.vancouver}" for number, work in enumerate(works, start=1))
        return f"Care on invented wards\n\n{body}\n\nReferences\n\n{listed}\n"

    add("plain text", "paper.txt", text)
    return cases


def cases(seed: int = 7) -> list[Case]:
    """Return the thirty documents; the same seed gives the same documents."""
    draw = random.Random(seed)
    return word_cases(draw) + latex_cases(draw) + markup_cases(draw)
