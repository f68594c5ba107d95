"""Attempts on a service, by class: each is a path and a body."""

from __future__ import annotations

import json
import random
import zipfile
from collections.abc import Callable
from io import BytesIO
from typing import Any

SOURCE = {"id": "d", "text": "Zelotrine reduced pain in 40 of 80 adults. Nausea was common."}
ADDRESSES = (
    "s3://outside-bucket/x.jsonl", "http://169.254.169.254/latest/meta-data", "https://outside.invalid/x",
    "hf://datasets/outside/set", "file:///etc/passwd", "//outside.invalid/share", "openai:gpt", "pubmed",
    "http://192.0.2.1:9/v1#model",
)  # fmt: skip

Attempt = tuple[str, bytes]


def _many(random: random.Random, value: bytes) -> bytes:
    return b",".join([value] * random.choice((1_000, 100_000, 1_000_000)))


def unknown_keys(random: random.Random) -> Attempt:
    count = random.choice((1_000, 100_000, 800_000))
    return "/v1/check", ("{" + ",".join(f'"k{n}":1' for n in range(count)) + "}").encode()


def tiny_documents(random: random.Random) -> Attempt:
    item = b'{"answer":"a","documents":[' + _many(random, b'{"id":"d"}') + b"]}"
    return ("/v1/jobs", b'{"items":[' + item + b"]}") if random.random() < 0.5 else ("/v1/check", item)


def many_lines(random: random.Random) -> Attempt:
    line = json.dumps({"id": "d%d", "text": "Words."}).encode()
    return "/v1/documents?name=a.jsonl", b"\n".join([line] * random.choice((100, 10_000, 600_000)))


def comments(random: random.Random) -> Attempt:
    opening = random.choice((b"<!--", b"[](", b"**", b"`", b"> ", b"# ", b"|a", b"\\", b"&amp"))
    return "/v1/documents?name=a.md", b"# T\n\nIt works. " + opening * random.choice((1_000, 20_000, 250_000))


def broken_files(random: random.Random) -> Attempt:
    ending = random.choice(("pdf", "docx", "xml", "csv", "ris", "nbib", "txt", "bin", "jsonl"))
    opening = random.choice((b"%PDF-1.7\n", b"PK\x03\x04", b"<?xml version='1.0'?><a>", b"", b"\x00", b"TY  - JOUR\n"))
    return f"/v1/documents?name=a.{ending}", opening + random.randbytes(random.choice((10, 5_000, 500_000)))


def large_files(random: random.Random) -> Attempt:
    """Files that are what their names say, as large as they may be, or that unpack to much more."""
    ending = random.choice(("txt", "jsonl", "docx", "xml", "csv"))
    size = random.choice((100_000, 4_000_000, 30_000_000))
    text = "Patients of this group improved a little. " * (size // 42)
    if ending == "docx":
        packed = BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("word/document.xml", f"<w:document><w:body><w:p>{text}</w:p></w:body></w:document>")
        return "/v1/documents?name=a.docx", packed.getvalue()
    written = {
        "txt": text, "jsonl": json.dumps({"id": "d", "text": text}), "xml": f"<article><p>{text}</p></article>",
        "csv": f"id,text\nd,{text}\n",
    }[ending]  # fmt: skip
    return f"/v1/documents?name=a.{ending}", written.encode()


def long_texts(random: random.Random) -> Attempt:
    text = "x " * random.choice((1_000, 1_000_000, 7_000_000))
    body: dict[str, Any] = {"answer": "It works [1].", "documents": [dict(SOURCE)]}
    place = random.choice(("answer", "question", "id", "title", "document"))
    if place in ("title", "document"):
        body["documents"][0]["title" if place == "title" else "id"] = text
    else:
        body[place] = text
    return "/v1/check", json.dumps(body).encode()


def much_work(random: random.Random) -> Attempt:
    marks = "".join(f"[{n}]" for n in range(1, 151))
    body = {
        "answer": " ".join(f"Group {n} improved {marks}." for n in range(150)),
        "documents": [{"id": f"d{n}", "text": "Patients of this group improved a little. " * 200} for n in range(150)],
    }
    return random.choice(("/v1/check", "/v1/repair", "/v1/attribute")), json.dumps(body).encode()


def allowed_work(random: random.Random) -> Attempt:
    """Work within the limits."""
    number, sentences = random.randrange(1_000_000), random.choice((1, 10, 40))
    documents = [
        {"id": f"d{n}", "text": f"Pain fell in {number + n} of the adults of clinic {n}. " * random.choice((1, 60))}
        for n in range(1, 6)
    ]
    body = {
        "answer": " ".join(f"Pain fell in {number + n} adults [{n % 5 + 1}]." for n in range(sentences)),
        "documents": documents,
    }
    return random.choice(("/v1/check", "/v1/repair", "/v1/attribute")), json.dumps(body).encode()


def no_json(random: random.Random) -> Attempt:
    value = random.choice((b"[", b'{"a":', b'"', b'{"answer":"' + rb"\"", b"\xff", b"1", b"-", b"{}", b"null"))
    return random.choice(("/v1/ask", "/v1/check", "/v1/jobs", "/mcp")), value * random.choice((1, 1_000, 1_000_000))


def addresses(random: random.Random) -> Attempt:
    """Addresses of other machines wherever a text may stand, and files that refer to them."""
    address = random.choice(ADDRESSES)
    place = random.choice(("corpus", "model", "plan", "pmids", "id", "text", "markdown", "xml", "docx"))
    if place in ("markdown", "xml", "docx"):
        return _file_with(address, place)
    body: dict[str, Any] = {"question": "Does it work?"}
    section, field = random.choice((("search", "corpus"), ("search", "rerank"), ("answer", "llm"), ("check", "judge"),
                                    ("check", "protocol"), ("answer", "shots"), ("llm", "price")))  # fmt: skip
    if place in ("corpus", "model"):
        body[place] = address
    elif place == "plan":
        body["plan"] = {section: {field: address}}
    elif place == "pmids":
        return "/v1/check", json.dumps({"answer": "It works [1].", "pmids": [address]}).encode()
    else:
        body["documents"] = [{"id": "d", "text": "It works.", place: address}]
    return random.choice(("/v1/ask", "/v1/jobs")), json.dumps(body).encode()


def _file_with(address: str, kind: str) -> Attempt:
    if kind == "markdown":
        tags = f"<img src='{address}'> <script src='{address}'></script>"
        text = f"# T\n\n![figure]({address}) {tags} It works [a]({address})."
        return "/v1/documents?name=a.md", text.encode()
    entities = f"<!ENTITY x SYSTEM '{address}'><!ENTITY % y SYSTEM '{address}'> %y;"
    opening = f"<?xml version='1.0'?><!DOCTYPE a SYSTEM '{address}' [{entities}]>"
    if kind == "xml":
        return "/v1/documents?name=a.xml", f"{opening}<article><p>It works. &x;</p></article>".encode()
    document = f"{opening}<w:document><w:body><w:p>It works. &x;</w:p></w:body></w:document>"
    reference = f'<Relationships><Relationship Target="{address}" TargetMode="External"/></Relationships>'
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("word/document.xml", document)
        archive.writestr("word/_rels/document.xml.rels", reference)
    return "/v1/documents?name=a.docx", packed.getvalue()


CLASSES: tuple[Callable[[random.Random], Attempt], ...] = (
    unknown_keys, tiny_documents, many_lines, comments, broken_files, large_files, long_texts, much_work, allowed_work,
    no_json, addresses,
)  # fmt: skip
