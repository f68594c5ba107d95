"""Unusable files for each command that reads one: a clear message, exit code 2, no traceback."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
RECORD = {"id": "a", "answer": "Zinc helps [1].", "documents": [{"id": "d", "text": "Zinc helps."}]}
LINE = json.dumps(RECORD)


def _zip(*names: str) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as packed:
        for name in names:
            packed.writestr(name, "<x/>")
    return content.getvalue()


BAD: dict[str, tuple[str, bytes]] = {
    "nothing": ("a.jsonl", b""),
    "spaces": ("a.jsonl", b" \n\t\n"),
    "zero bytes": ("a.jsonl", bytes(4_000)),
    "a picture": ("a.png", b"\x89PNG\r\n\x1a\n" + bytes(range(256))),
    "a PDF without pages": ("a.pdf", b"%PDF-1.7\n%%EOF"),
    "a ZIP archive": ("a.zip", _zip("a.txt")),
    "an empty workbook": ("a.xlsx", b""),
    "a workbook of nothing": ("a.xlsx", _zip("xl/workbook.xml")),
    "a workbook that is text": ("a.xlsx", b"id,answer\n1,x\n"),
    "a Word file of nothing": ("a.docx", _zip("word/document.xml")),
    "a Parquet file cut short": ("a.parquet", b"PAR1\x00\x01"),
    "gzip cut short": ("a.jsonl.gz", gzip.compress(LINE.encode() * 50)[:40]),
    "gzip by name alone": ("a.jsonl.gz", b"\x1f\x8bnot packed"),
    "an old Office file": ("a.doc", b"\xd0\xcf\x11\xe0" + bytes(100)),
    "a database": ("a.db", b"SQLite format 3\x00" + bytes(100)),
    "a web page": ("a.html", b"<!doctype html><html><body>Zinc</body></html>"),
    "XML of another kind": ("a.xml", b"<?xml version='1.0'?><catalog><cd/></catalog>"),
    "XML with an entity bomb": ("a.xml", b'<!DOCTYPE x [<!ENTITY a "aa"><!ENTITY b "&a;&a;">]><PubmedArticleSet>&b;'),
    "YAML": ("a.yaml", b"answer: x\ndocuments:\n  - text: y\n"),
    "a script": ("a.py", b"#!/usr/bin/python\nprint('x')\n"),
    "half a record": ("a.jsonl", LINE[:30].encode()),
    "JSON with a comma too many": ("a.json", b'[{"answer": "x"},]'),
    "JSON with single quotes": ("a.json", b"{'answer': 'x'}"),
    "JSON with comments": ("a.json", b'// answers\n{"answer": "x"} // one\n'),
    "JSON that goes deep": ("a.json", b"[" * 50_000),
    "objects within each other": ("a.json", b'{"a":' * 5_000 + b"1" + b"}" * 5_000),
    "a long number": ("a.json", b'{"id": ' + b"9" * 6_000 + b"}"),
    "not a number": ("a.json", b'{"id": NaN, "answer": "x"}'),
    "a lone surrogate": ("a.json", b'{"\\ud800": 1}'),
    "bytes of Latin 1": ("a.jsonl", '{"answer": "Zürich"}'.encode("latin-1")),
    "UTF-16": ("a.jsonl", '{"answer": "Zinc"}'.encode("utf-16")),
    "UTF-32": ("a.jsonl", '{"answer": "Zinc"}'.encode("utf-32")),
    "a number": ("a.json", b"42"),
    "a list of numbers": ("a.json", b"[1, 2, 3]"),
    "a list of lists": ("a.json", b"[[], [[]]]"),
    "an empty list": ("a.json", b"[]"),
    "an empty object": ("a.json", b"{}"),
    "null": ("a.json", b"null"),
    "other fields": ("a.jsonl", b'{"colour": "red", "size": 3}\n'),
    "a field twice": ("a.jsonl", b'{"id": "a", "id": "b", "answer": "x", "text": "y", "question": "z"}\n'),
    "a table of one cell": ("a.csv", b"x"),
    "a table without rows": ("a.csv", b"id,answer,contexts\n"),
    "a column twice": ("a.csv", b"id,answer,text,text,answer,question,question\n1,a,b,c,d,e,f\n"),
    "an open quote in the first row": ("a.csv", b'"id,answer,contexts,question,text\n1,a,b,c,d\n'),
    "more cells than columns": ("a.csv", b"id,answer,text,question\n1,a,b,c,d,e\n"),
    "a table of other columns": ("a.tsv", b"colour\tsize\nred\t3\n"),
    "an open brace": ("a.bib", b"@article{a, title = {x"),
    "no entries": ("a.bib", b"nothing here\n"),
    "RIS without a beginning": ("a.ris", b"AB  - x\nER  -\n"),
    "tags without a beginning": ("a.enw", b"%T x\n%A y\n"),
}
"""Files by what is wrong with them; no command can make anything of one."""

COMMANDS: dict[str, tuple[str, ...]] = {
    "check": ("check", "FILE", "--judge", "lexical"),
    "ask": (
        "ask",
        "--batch",
        "FILE",
        "--corpus",
        "DOCUMENTS",
        "--judge",
        "lexical",
        "--by",
        "bm25",
        "--set",
        "search.rerank=none",
    ),
    "score": ("score", "ANSWERS", "--gold", "FILE", "-m", "RougeL", "--set", "draws=100"),
    "attribute": ("attribute", "FILE", "--judge", "lexical"),
    "repair": ("repair", "FILE", "--judge", "lexical"),
    "corpus build": ("corpus", "build", "FILE", "--to", "STORE"),
    "convert": ("convert", "FILE", "--to", "alce"),
    "report": ("report", "FILE", "--set", "check.judge=lexical", "--out", "PAGE"),
}

SOUND = {
    # Prose is a document, and a name such as .html or .py says no more than that; lists of numbers are PMIDs.
    ("corpus build", "a script"),
}
"""What a command may make something of."""


@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize("command", COMMANDS)
def test_a_file_that_no_command_can_read_is_told(run_cli: Run, tmp_path: Path, command: str, bad: str):
    name, content = BAD[bad]
    (tmp_path / name).write_bytes(content)
    (tmp_path / "documents.jsonl").write_text('{"id": "d", "text": "Zinc helps."}\n')
    (tmp_path / "answers.jsonl").write_text(LINE + "\n")
    places = {
        "FILE": tmp_path / name,
        "DOCUMENTS": tmp_path / "documents.jsonl",
        "ANSWERS": tmp_path / "answers.jsonl",
        "STORE": tmp_path / "store",
        "PAGE": tmp_path / "page.html",
    }
    printed = run_cli(*(str(places.get(word, word)) for word in COMMANDS[command]))
    assert "Traceback" not in printed.err + printed.out
    assert "expected" in printed.err, printed
    assert printed.code == 2 or (command, bad) in SOUND, printed
