"""A local server for several annotators, each with a page that the others cannot see.

The address of a page has a random key. Keys are stored with the labels, so addresses stay the same after a restart.
The server listens on the loopback address only. A label is written to the annotator's file before it is confirmed.
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

from vericite.disk.files import NotWritten, only_one, write_whole
from vericite.disk.jobs import Lines
from vericite.errors import InputError
from vericite.lab.annotate.labels import Annotation
from vericite.lab.annotate.page import make_annotation_page
from vericite.lab.annotate.schemes import Scheme
from vericite.lab.annotate.units import Unit

HOST = "127.0.0.1"
KEYS = "keys.json"
_MAX_BYTES = 1_000_000
"""Maximum size of a label with its passages."""
_NAME = re.compile(r"[\w-][\w.-]{0,59}")


class LabelFolder:
    """The folder with a file of labels for each annotator, and the keys of their pages.

    The folder is locked until ``close`` or the end of the process, so that no second server writes to it. New labels
    are appended to the file. Changing a label rewrites the file, so every item appears once.

    Raises:
        InputError: A name is not a valid file name, the folder is not writable, has other files with these names, or
            is locked by another server.
    """

    def __init__(self, folder: Path, raters: Sequence[str], units: Sequence[Unit], scheme: Scheme) -> None:
        wrong = [name for name in raters if not _NAME.fullmatch(name) or f"{name}.jsonl" == KEYS]
        if wrong or not raters or len(set(raters)) < len(raters):
            raise InputError(
                "expected distinct names of annotators, made of letters, digits, - and _; found "
                f"{', '.join(raters) or 'none'}"
            )
        self.units, self.scheme = units, scheme
        self._folder, self._lock = folder, Lock()
        self._items = {unit.item for unit in units}
        self._held = ExitStack()
        self._held.enter_context(only_one(folder, ".lock", "serves labels in", "server"))
        try:
            self._files = {name: Lines(folder / f"{name}.jsonl", Annotation) for name in raters}
            self._labels = {
                name: {annotation.item: annotation for annotation in file.read()} for name, file in self._files.items()
            }
            self.keys = self._keys(raters)
        except BaseException:
            self.close()
            raise
        self._raters = {key: name for name, key in self.keys.items()}

    def close(self) -> None:
        """Unlock the folder."""
        self._held.close()

    def _keys(self, raters: Sequence[str]) -> dict[str, str]:
        path = self._folder / KEYS
        try:
            kept = TypeAdapter(dict[str, str]).validate_json(path.read_bytes()) if path.exists() else {}
        except (ValidationError, OSError):
            raise InputError(f"expected the keys of pages in {path}; found something else. Move it away.") from None
        keys = kept | {name: secrets.token_urlsafe(18) for name in raters if name not in kept}
        write_whole(path, [json.dumps(keys, indent=2) + "\n"], 0o600)
        return {name: keys[name] for name in raters}

    def rater(self, key: str) -> str | None:
        """Return the annotator whose page has this key; None for an unknown key."""
        return self._raters.get(key)

    def page(self, rater: str) -> str:
        """Return an annotator's page with their labels."""
        with self._lock:
            saved = [annotation for item, annotation in self._labels[rater].items() if item in self._items]
        return make_annotation_page(self.units, self.scheme, rater=rater, saved=saved)

    def keep(self, rater: str, body: bytes) -> None:
        """Store a label sent by a page.

        Raises:
            InputError: It is not a label of this task.
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
            # After the write, so that only labels on disk are shown as saved.
            own[sent.item] = label


def make_server(labels: LabelFolder, port: int) -> ThreadingHTTPServer:
    """Create the server without starting it.

    Raises:
        InputError: The port is in use.
    """

    class Handler(_Handler):
        folder = labels

    try:
        return ThreadingHTTPServer((HOST, port), Handler)
    except OSError as error:
        raise InputError(f"expected port {port} to be free; found: {error.strerror}. Use another --port.") from None


def addresses(labels: LabelFolder, server: ThreadingHTTPServer) -> dict[str, str]:
    """Return the address of each annotator's page."""
    return {name: f"http://{HOST}:{server.server_address[1]}/{key}" for name, key in labels.keys.items()}


class _Handler(BaseHTTPRequestHandler):
    folder: LabelFolder
    protocol_version = "HTTP/1.1"
    timeout = 30

    def do_GET(self) -> None:
        """Answer with a page."""
        rater = self._rater("")
        if rater is not None:
            self._reply(HTTPStatus.OK, self.folder.page(rater), "text/html; charset=utf-8")

    def do_POST(self) -> None:
        """Store a label."""
        rater = self._rater("/labels")
        if rater is None:
            return
        length = self.headers.get("content-length", "")
        if not length.isdecimal() or int(length) > _MAX_BYTES:
            self.close_connection = True
            self._reply(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "too large")
            return
        try:
            self.folder.keep(rater, self.rfile.read(int(length)))
        except NotWritten as error:
            # Do not tell pages where the labels are stored.
            found = "that it is full" if error.is_full else "that it cannot"
            message = f"expected a server that can write to its disk; found {found}. Tell the person who runs it"
            self._reply(HTTPStatus.INSUFFICIENT_STORAGE, message)
            return
        except InputError as error:
            self._reply(HTTPStatus.BAD_REQUEST, str(error))
            return
        self._reply(HTTPStatus.OK, "kept")

    def _rater(self, ending: str) -> str | None:
        """Return the annotator of the requested address; answer unknown addresses with "not found".

        The host is checked against DNS rebinding: another site could make its own name resolve to this machine.
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
        # The client may have disconnected; its label is stored.
        with suppress(ConnectionError):
            self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing, because addresses contain keys."""
