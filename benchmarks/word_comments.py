"""Word documents with our comments, opened by LibreOffice: the comments that it reads, and the text it shows.

Usage: python benchmarks/word_comments.py [--seed SEED] [--to FOLDER]

The ten Word documents of ``tests/manuscript_files.py`` get a comment on each sentence that cites. LibreOffice (Debian:
``apt install libreoffice-writer``) converts each document and its copy with comments to OpenDocument. The comments of
the copy are counted, and its text and its footnotes are compared with those of the document.

LibreOffice 7.4 shows footnotes of a Word document that has comments at the wrong places, also if it wrote that document
itself. The part of the file that holds them is the same byte for byte, which this command checks.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import zipfile
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from lxml import etree

from vericite.pipeline.manuscript import check_against
from vericite.pipeline.plan import Plan
from vericite.reporting.commented import with_comments
from vericite.reporting.manuscript import all_remarks

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
from manuscript_files import cases

_OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
_NOTES = "word/footnotes.xml"
_COMMENT = "Checked by a benchmark."


@dataclass(frozen=True)
class Row:
    """A document, its copy with comments, and the number of comments."""

    name: str
    plain: Path
    copy: Path
    comments: int


def converted(office: str, files: list[Path], folder: Path) -> None:
    """Convert files to OpenDocument, with a profile of their own."""
    profile = (folder / "profile").resolve().as_uri()
    command = [office, f"-env:UserInstallation={profile}", "--headless", "--convert-to", "odt"]
    subprocess.run([*command, "--outdir", folder, *files], check=True, capture_output=True, timeout=600)


def shown(path: Path) -> tuple[int, str, str]:
    """Return the number of our comments in an OpenDocument text, its text without them, and its footnotes."""
    with zipfile.ZipFile(path) as archive:
        body = etree.fromstring(archive.read("content.xml")).find(f"{_OFFICE}body")
    comments = 0
    for element in list(body.iter(f"{_OFFICE}annotation", f"{_OFFICE}annotation-end")):
        comments += _COMMENT in "".join(element.itertext())
        _emptied(element)
    notes = list(body.iter("{*}note-body"))
    texts = ["".join(note.itertext()) for note in notes]
    for note in notes:
        _emptied(note)
    return comments, "\n".join("".join(part.itertext()) for part in body.iter("{*}p", "{*}h")), "\n".join(texts)


def _emptied(element: etree._Element) -> None:
    for child in list(element):
        element.remove(child)
    element.text = None


def notes_part(path: Path) -> bytes:
    """Return the part of a Word document with its footnotes."""
    with zipfile.ZipFile(path) as archive:
        return archive.read(_NOTES) if _NOTES in archive.namelist() else b""


def main() -> None:
    """Write the documents and their copies, convert them, and print a row for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--to", type=Path, help="keep the files in this folder")
    arguments = parser.parse_args()
    if (office := shutil.which("soffice")) is None:
        print("skipped: expected LibreOffice; found no soffice. Install it: apt install libreoffice-writer")
        return
    with TemporaryDirectory() as held:
        folder = arguments.to or Path(held)
        rows: list[Row] = []
        for number, case in enumerate(case for case in cases(arguments.seed) if "paper.docx" in case.files):
            document, copy = folder / f"{number:02}/paper.docx", folder / f"{number:02}-comments.docx"
            check = check_against(case.read(document.parent), [], Plan())
            remarks = [replace(remark, lines=(_COMMENT,)) for remark in all_remarks(check)[0]]
            made = with_comments(document, remarks)
            copy.write_bytes(made.content)
            plain = shutil.copyfile(document, folder / f"{number:02}-plain.docx")
            rows.append(Row(case.name, plain, copy, len(remarks)))
        converted(office, [file for row in rows for file in (row.plain, row.copy)], folder)
        print(f"{'document':42} comments  read  text     footnotes")
        total = read = same = same_notes = 0
        for row in rows:
            comments, text, notes = shown(row.copy.with_suffix(".odt"))
            _, own_text, own_notes = shown(row.plain.with_suffix(".odt"))
            if notes_part(row.plain) != notes_part(row.copy):
                raise SystemExit(f"expected the same {_NOTES} in {row.copy}; found another")
            total, read = total + row.comments, read + comments
            same, same_notes = same + (text == own_text), same_notes + (notes == own_notes)
            words = ("same" if text == own_text else "differs", "same" if notes == own_notes else "shown shifted")
            print(f"{row.name:42} {row.comments:8} {comments:5}  {words[0]:8} {words[1]}")
        print(f"{'all':42} {total:8} {read:5}  {same}/{len(rows):<5} {same_notes}/{len(rows)}")


if __name__ == "__main__":
    main()
