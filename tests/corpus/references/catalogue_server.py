"""Crossref and Europe PMC on loopback, over invented works, with replies in the shape of theirs."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

Json = Mapping[str, Any]


@dataclass(frozen=True)
class Asked:
    at: float
    path: str
    fields: dict[str, str]


class _Answering(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Listening

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        fields = {name: values[0] for name, values in parse_qs(parts.query).items()}
        owner = self.server.owner
        owner.asked.append(Asked(time.monotonic(), unquote(parts.path), fields))
        status, kind, body = owner.failing.pop(0) if owner.failing else owner.reply(unquote(parts.path), fields)
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


class _Listening(ThreadingHTTPServer):
    daemon_threads = True
    owner: CatalogueServer


@dataclass
class CatalogueServer:
    """Finds a work by its DOI or id, and otherwise those with most of the words that are asked for in the title."""

    crossref: Sequence[Json]
    results: Sequence[Json]
    full_texts: Mapping[str, str]
    asked: list[Asked] = field(default_factory=list)
    failing: list[tuple[int, str, bytes]] = field(default_factory=list)
    """Replies that are given first."""

    def __enter__(self) -> CatalogueServer:
        self._http = _Listening(("127.0.0.1", 0), _Answering)
        self._http.owner = self
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def url(self, service: str) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}/{service}/"

    @property
    def paths(self) -> list[str]:
        return [asked.path for asked in self.asked]

    def reply(self, path: str, fields: Mapping[str, str]) -> tuple[int, str, bytes]:
        if path.startswith("/crossref/works/"):
            doi = path.removeprefix("/crossref/works/").lower()
            found = next((item for item in self.crossref if item["DOI"].lower() == doi), None)
            if found is None:
                return 404, "text/plain", b"Resource not found."
            return _json({"status": "ok", "message-type": "work", "message-version": "1.0.0", "message": found})
        if path == "/crossref/works":
            items = _like(self.crossref, fields["query.bibliographic"], int(fields["rows"]))
            about = {"items-per-page": len(items), "total-results": 1_000_000, "facets": {}, "items": items}
            return _json({"status": "ok", "message-type": "work-list", "message-version": "1.0.0", "message": about})
        if path == "/europepmc/search":
            found = self._searched(fields["query"])
            about = {"version": "6.9", "hitCount": len(found), "resultList": {"result": found}}
            return _json(about)
        if path.endswith("/fullTextXML") and (text := self.full_texts.get(path.split("/")[2])):
            return 200, "application/xml", text.encode()
        return 404, "text/plain", b""

    def _searched(self, query: str) -> list[Json]:
        for pattern, name in (
            (r"EXT_ID:(\d+) AND SRC:MED", "pmid"),
            (r'DOI:"(.+)"', "doi"),
            (r"PMCID:(PMC\d+)", "pmcid"),
        ):
            if found := re.fullmatch(pattern, query):
                return [result for result in self.results if result.get(name, "").lower() == found[1].lower()]
        title = re.fullmatch(r'TITLE:"([^"]+)"', query)
        if title is None:
            raise ValueError(f"syntax that is not expected here: {query}")
        plain = " ".join(re.findall(r"\w+", title[1].lower()))
        return [result for result in self.results if plain in " ".join(re.findall(r"\w+", result["title"].lower()))]


def _json(value: object) -> tuple[int, str, bytes]:
    return 200, "application/json", json.dumps(value).encode()


def _like(items: Sequence[Json], text: str, rows: int) -> list[Json]:
    words = set(re.findall(r"\w+", text.lower()))
    shared = [(len(words & set(re.findall(r"\w+", item["title"][0].lower()))), item) for item in items]
    return [item for count, item in sorted(shared, key=lambda pair: -pair[0]) if count][:rows]
