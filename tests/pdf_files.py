"""A small writer of PDF files for the tests: text at places, fonts, columns, pictures; no library."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field

WIDTH, HEIGHT = 595, 842
FONTS = {"R": "Helvetica", "B": "Helvetica-Bold"}
# Advance widths of Helvetica, in thousandths, for the characters that the tests use; the rest count as 556.
_WIDTHS = {
    **dict.fromkeys("ijl'|", 222),
    **dict.fromkeys(" .,:;/ftI![]", 278),
    **dict.fromkeys("()r-", 333),
    **dict.fromkeys("cksvxyzJ", 500),
    **dict.fromkeys("mM", 833),
    **dict.fromkeys("ABEKPSVXY", 667),
    **dict.fromkeys("CDHNRUw", 722),
    **dict.fromkeys("GOQ", 778),
    "F": 611,
    "T": 611,
    "Z": 611,
    "W": 944,
}


def width(text: str, size: float) -> float:
    return sum(_WIDTHS.get(char, 556) for char in text) * size / 1000


@dataclass
class Page:
    """A page: words put at places, from the lower left corner."""

    content: list[str] = field(default_factory=list[str])
    rotate: int = 0
    picture: bool = False

    def at(self, x: float, y: float, text: str, size: float = 10, font: str = "R", turned: bool = False) -> None:
        raw = text.encode("latin-1", "replace").replace(b"\\", b"\\\\").replace(b"(", b"\\(").replace(b")", b"\\)")
        matrix = f"0 1 -1 0 {x} {y}" if turned else f"1 0 0 1 {x} {y}"
        self.content.append(f"BT /{font} {size} Tf {matrix} Tm ({raw.decode('latin-1')}) Tj ET")

    def flow(
        self, x: float, y: float, column: float, text: str, size: float = 10, hyphenate: bool = False, indent: float = 0
    ) -> float:
        """Lines of a column; gives the height behind the last."""
        line, begin = "", x + indent
        for word in text.split():
            room = column - (begin - x)
            longer = f"{line} {word}".strip()
            if width(longer, size) <= room:
                line = longer
                continue
            if hyphenate and len(word) > 7 and word.isalpha():
                for cut in range(len(word) - 3, 2, -1):
                    part = f"{line} {word[:cut]}-".strip()
                    if width(part, size) <= room:
                        line, word = part, word[cut:]
                        break
            self.at(begin, y, line, size)
            begin, y, line = x, y - 1.2 * size, word
        if line:
            self.at(begin, y, line, size)
            y -= 1.2 * size
        return y


def pdf(pages: list[Page], title: str = "", filter: bool = True) -> bytes:
    """The file of these pages."""
    objects: list[bytes] = [b"", b""]
    fonts: dict[str, int] = {}
    for name, base in FONTS.items():
        objects.append(f"<< /Type /Font /Subtype /Type1 /BaseFont /{base} /Encoding /WinAnsiEncoding >>".encode())
        fonts[name] = len(objects)
    objects.append(
        b"<< /Type /XObject /Subtype /Image /Width 1 /Height 1 /ColorSpace /DeviceGray /BitsPerComponent 8 "
        b"/Length 1 >>\n"
        b"stream\n\x80\nendstream"
    )
    image = len(objects)
    kids: list[int] = []
    for page in pages:
        drawn = "\n".join([*page.content, *(["q 500 0 0 700 40 60 cm /I Do Q"] if page.picture else [])])
        raw = drawn.encode("latin-1")
        packed = zlib.compress(raw) if filter else raw
        objects.append(
            f"<< /Length {len(packed)}{' /Filter /FlateDecode' if filter else ''} >>\nstream\n".encode()
            + packed
            + b"\nendstream"
        )
        resources = " ".join(f"/{name} {number} 0 R" for name, number in fonts.items())
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {WIDTH} {HEIGHT}] /Rotate {page.rotate} /Contents "
            f"{len(objects)} 0 R /Resources << /Font << {resources} >> /XObject << /I {image} 0 R >> >> >>".encode()
        )
        kids.append(len(objects))
    objects[0] = b"<< /Type /Catalog /Pages 2 0 R >>"
    objects[1] = f"<< /Type /Pages /Count {len(kids)} /Kids [{' '.join(f'{kid} 0 R' for kid in kids)}] >>".encode()
    info = ""
    if title:
        objects.append(f"<< /Title ({title}) >>".encode())
        info = f" /Info {len(objects)} 0 R"
    return assembled(objects, info)


def assembled(objects: list[bytes], trailer: str = "") -> bytes:
    out = bytearray(b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n")
    places: list[int] = []
    for number, content in enumerate(objects, start=1):
        places.append(len(out))
        out += f"{number} 0 obj\n".encode() + content + b"\nendobj\n"
    start = len(out)
    out += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode()
    out += b"".join(f"{place:010} 00000 n \n".encode() for place in places)
    out += f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R{trailer} >>\nstartxref\n{start}\n%%EOF\n".encode()
    return bytes(out)


def encrypted(password: bytes) -> bytes:
    """A page of which all is encrypted by a user's password: RC4 of 40 bits, the oldest way."""
    from hashlib import md5

    padding = bytes.fromhex("28bf4e5e4e758a4164004e56fffa01082e2e00b6d0683e802f0ca9fe6453697a")

    def rc4(key: bytes, data: bytes) -> bytes:
        state, j, out = list(range(256)), 0, bytearray()
        for i in range(256):
            j = (j + state[i] + key[i % len(key)]) % 256
            state[i], state[j] = state[j], state[i]
        i = j = 0
        for byte in data:
            i = (i + 1) % 256
            j = (j + state[i]) % 256
            state[i], state[j] = state[j], state[i]
            out.append(byte ^ state[(state[i] + state[j]) % 256])
        return bytes(out)

    padded, id, rights = (password + padding)[:32], b"0123456789abcdef", -4
    owner = rc4(md5(padded).digest()[:5], padded)
    key = md5(padded + owner + rights.to_bytes(4, "little", signed=True) + id).digest()[:5]
    user = rc4(key, padding)
    content = rc4(
        md5(key + (5).to_bytes(3, "little") + bytes(2)).digest()[:10], b"BT /R 9 Tf 60 700 Td (Secret.) Tj ET"
    )
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Count 1 /Kids [4 0 R] >>",
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 5 0 R /Resources << /Font << /R 3 0 R >> >> >>",
        b"<< /Length " + str(len(content)).encode() + b" >>\nstream\n" + content + b"\nendstream",
        f"<< /Filter /Standard /V 1 /R 2 /O <{owner.hex()}> /U <{user.hex()}> /P {rights} >>".encode(),
    ]
    return assembled(objects, f" /Encrypt 6 0 R /ID [<{id.hex()}> <{id.hex()}>]")
