"""A server on this machine for several annotators: each has a page of their own, and none sees the others'.

A page's address has a key that cannot be guessed; keys are kept beside the labels, so that a page is the same after the
server was stopped. Only this machine is served. A label is on disk, in a file of the annotator's, before the page says
so.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock

from pydantic import TypeAdapter, ValidationError

from vericite.annotate.labels import Annotation
from vericite.annotate.page import make_annotation_page
from vericite.annotate.schemes import Scheme
from vericite.annotate.units import Unit
from vericite.disk.files import NotWritten, only_one, write_whole
from vericite.disk.jobs import Lines
from vericite.errors import InputError

HOST = "127.0.0.1"
KEYS = "keys.json"
_LARGEST = 1_000_000
"""Bytes of a label with its passages."""
_NAME = re.compile(r"[\w-][\w.-]{0,59}")


class LabelFolder:
    """The labels of some annotators, a file each, and the keys of their pages.

    The folder is held until ``close`` or the end of the process, so that no second server writes to it. A label is
    added to its file; only a label that changes an earlier one rewrites the file, so every item stands in it once.

    Raises:
        InputError: A name cannot name a file, the folder cannot be written, holds other things by these names, or is
            held by another server.
    """

    def __init__(self, folder: Path, raters: Sequence[str], units: Sequence[Unit], scheme: Scheme) -> None:
        wrong = [name for name in raters if not _NAME.fullmatch(name) or f"{name}.jsonl" == KEYS]
        if wrong or not raters or len(set(raters)) < len(raters):
            raise InputError(
                f"expected each annotator's name once, of letters, digits, - and _; found {', '.join(raters) or 'none'}"
            )
        self.units, self.scheme = units, scheme
        self._folder, self._lock = folder, Lock()
        self._items = {unit.item for unit in units}
        self._held = ExitStack()
        self._held.enter_context(only_one(folder, ".lock", "serves labels in", "server"))
        try:
            self._files = {name: Lines(folder / f"{name}.jsonl", Annotation) for name in raters}
            self._labels = {name: {one.item: one for one in file.read()} for name, file in self._files.items()}
            self.keys = self._keys(raters)
        except BaseException:
            self.close()
            raise
        self._raters = {key: name for name, key in self.keys.items()}

    def close(self) -> None:
        """Let go of the folder."""
        self._held.close()

    def _keys(self, raters: Sequence[str]) -> dict[str, str]:
        path = self._folder / KEYS
        try:
            kept = TypeAdapter(dict[str, str]).validate_json(path.read_bytes()) if path.exists() else {}
        except (ValidationError, OSError):
            raise InputError(f"expected the keys of pages in {path}; found something else. Move it away.") from None
        every = kept | {name: secrets.token_urlsafe(18) for name in raters if name not in kept}
        write_whole(path, [json.dumps(every, indent=2) + "\n"], 0o600)
        return {name: every[name] for name in raters}

    def rater(self, key: str) -> str | None:
        """Whose page has this key; None for nobody's."""
        return self._raters.get(key)

    def page(self, rater: str) -> str:
        """An annotator's page, with what they labelled."""
        with self._lock:
            saved = [one for item, one in self._labels[rater].items() if item in self._items]
        return make_annotation_page(self.units, self.scheme, rater=rater, saved=saved)

    def keep(self, rater: str, body: bytes) -> None:
        """Keep a label that a page sent.

        Raises:
            InputError: It is none of this task.
        """
        try:
            sent = Annotation.model_validate_json(body)
        except ValidationError:
            raise InputError("expected a label") from None
        if sent.item not in self._items or (sent.label is not None and sent.label not in self.scheme.verdicts):
            raise InputError("expected a label of this task")
        with self._lock:
            own, file = self._labels[rater], self._files[rater]
            is_new = sent.item not in own
            label = sent.model_copy(update={"rater": rater})
            if is_new:
                file.append([label])
            else:
                file.replace({**own, sent.item: label}.values())
            # Only what is on disk is shown as kept.
            own[sent.item] = label


def make_server(labels: LabelFolder, port: int) -> ThreadingHTTPServer:
    """The server, which does not serve yet.

    Raises:
        InputError: The port is taken.
    """

    class Handler(_Handler):
        folder = labels

    try:
        return ThreadingHTTPServer((HOST, port), Handler)
    except OSError as error:
        raise InputError(f"expected port {port} to be free; found: {error.strerror}. Give --port another.") from None


def addresses(labels: LabelFolder, server: ThreadingHTTPServer) -> dict[str, str]:
    """The address of each annotator's page."""
    return {name: f"http://{HOST}:{server.server_address[1]}/{key}" for name, key in labels.keys.items()}


class _Handler(BaseHTTPRequestHandler):
    folder: LabelFolder
    protocol_version = "HTTP/1.1"
    timeout = 30

    def do_GET(self) -> None:
        """A page."""
        rater = self._rater("")
        if rater is not None:
            self._reply(HTTPStatus.OK, self.folder.page(rater), "text/html; charset=utf-8")

    def do_POST(self) -> None:
        """A label."""
        rater = self._rater("/labels")
        if rater is None:
            return
        length = self.headers.get("content-length", "")
        if not length.isdecimal() or int(length) > _LARGEST:
            self.close_connection = True
            self._reply(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "too large")
            return
        try:
            self.folder.keep(rater, self.rfile.read(int(length)))
        except NotWritten as error:
            # Pages must not learn where the labels are kept.
            found = "that it is full" if error.is_full else "that it cannot"
            message = f"expected a server that can write to its disk; found {found}. Tell whoever runs it"
            self._reply(HTTPStatus.INSUFFICIENT_STORAGE, message)
            return
        except InputError as error:
            self._reply(HTTPStatus.BAD_REQUEST, str(error))
            return
        self._reply(HTTPStatus.OK, "kept")

    def _rater(self, ending: str) -> str | None:
        """Whose address was asked for; nobody's is answered as one that is not there.

        A page of another site that has its name point here would come by that name.
        """
        host = self.headers.get("host", "").rpartition(":")[0]
        path = self.path.partition("?")[0].rstrip("/")
        key = path.removesuffix(ending).removeprefix("/") if path.endswith(ending) else ""
        rater = self.folder.rater(key) if host in (HOST, "localhost") else None
        if rater is None:
            self.close_connection = True
            self._reply(HTTPStatus.NOT_FOUND, "no such page")
        return rater

    def _reply(self, status: HTTPStatus, text: str, kind: str = "text/plain; charset=utf-8") -> None:
        body = text.encode("utf-8", "replace")
        self.send_response(status)
        for name, value in (
            ("content-type", kind), ("content-length", str(len(body))), ("cache-control", "no-store"),
            ("x-content-type-options", "nosniff"), ("referrer-policy", "no-referrer"), ("x-frame-options", "DENY"),
        ):  # fmt: skip
            self.send_header(name, value)
        self.end_headers()
        # The page may be gone by now; what it sent is kept.
        with suppress(ConnectionError):
            self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: addresses have keys."""
