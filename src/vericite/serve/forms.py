"""Bodies of forms with files (``multipart/form-data``), as browsers, curl and httpx send them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import unquote

from vericite.errors import InputError

MAX_PARTS = 300
"""Maximum number of fields and files of a form."""
_MAX_HEADERS = 4_000
_BOUNDARY = re.compile(r'multipart/form-data\s*;.*?\bboundary=(?:"([^"]{1,200})"|([^\s;"]{1,200}))', re.IGNORECASE)
_DISPOSITION = re.compile(r"^content-disposition:\s*form-data\s*;(.*)$", re.IGNORECASE | re.MULTILINE)
_PARAMETER = re.compile(r'(?:^|;)\s*(name|filename)="((?:[^"\\\r\n]|\\.)*+)"', re.IGNORECASE)
_ENCODED_NAME = re.compile(r"(?:^|;)\s*filename\*=utf-8'[^';]*'([^\s;\"]+)", re.IGNORECASE)
"""A file name with other letters than ASCII, percent-encoded (RFC 8187)."""


@dataclass(frozen=True, slots=True)
class FormPart:
    """A field of a form; ``filename`` is what the client calls the file, and None if it is no file."""

    name: str
    filename: str | None
    content: bytes

    @property
    def text(self) -> str:
        """The content of a field that is no file."""
        return self.content.decode("utf-8", "replace").strip()


def parse_form(content_type: str, raw: bytes) -> list[FormPart]:
    """Parse the body of a form.

    Args:
        content_type: The request's header, with the boundary.
        raw: The body.

    Raises:
        InputError: It is no such body, or has too many parts.
    """
    named = _BOUNDARY.search(content_type)
    if named is None:
        raise InputError(
            f"expected a form with files (multipart/form-data, as curl -F sends it); found {content_type[:80]!r}"
        )
    mark = b"\r\n--" + (named[1] or named[2]).encode("latin-1", "replace")
    head, *parts = (b"\r\n" + raw).split(mark, MAX_PARTS + 2)
    if len(parts) > MAX_PARTS + 1:
        raise InputError(f"expected a form of at most {MAX_PARTS} fields and files; found more")
    if head or not parts or not parts[-1].startswith(b"--"):
        raise InputError("expected a whole form (multipart/form-data); found one without its beginning or its end")
    return [_part(part) for part in parts[:-1]]


def _part(part: bytes) -> FormPart:
    headers, blank, content = part.partition(b"\r\n\r\n")
    disposition = _DISPOSITION.search(headers[:_MAX_HEADERS].decode("utf-8", "replace").replace("\r\n", "\n"))
    if not (blank and disposition):
        raise InputError("expected each part of a form with content-disposition: form-data; found one without it")
    given = {name.lower(): re.sub(r"\\(.)", r"\1", value) for name, value in _PARAMETER.findall(disposition[1])}
    if not given.get("name"):
        raise InputError("expected each part of a form with a name; found one without it")
    encoded = _ENCODED_NAME.search(_PARAMETER.sub("", disposition[1]))
    return FormPart(given["name"], unquote(encoded[1]) if encoded else given.get("filename"), content)
