"""What to say of a file that is not PubMed XML."""

from __future__ import annotations

_FETCH = "Fetch records with efetch, db=pubmed and retmode=xml"
# What NCBI's services answer instead of records.
_KNOWN = {
    "eSearchResult": f"the answer of a search, which has ids alone. {_FETCH}",
    "eSummaryResult": f"summaries, which have no abstracts. {_FETCH}",
    "ePostResult": f"the answer to a list of ids. {_FETCH}",
    "eLinkResult": f"links between records. {_FETCH}",
    "eInfoResult": f"a description of a database. {_FETCH}",
    "eFetchResult": "NCBI's report of an error. Ask for fewer records, or later",
    "pmc-articleset": f"articles of PubMed Central. {_FETCH}",
    "article": f"an article of PubMed Central or a publisher. {_FETCH}",
    "html": "a web page. Get the file itself, not the page that links to it",
}
_MAGIC = {
    b"PK\x03\x04": "a zip archive. Unpack it",
    b"BZh": "bzip2 data. Unpack it",
    b"\xfd7zXZ": "xz data. Unpack it",
    b"(\xb5/\xfd": "zstandard data. Unpack it",
    b"\xff\xfe": "text in UTF-16. Save it as UTF-8",
    b"\xfe\xff": "text in UTF-16. Save it as UTF-8",
    b"{": f"JSON ({{}}). {_FETCH}",
    b"[": f"JSON ({{}}). {_FETCH}",
    b"PMID- ": f"PubMed's text format. {_FETCH}, or save the file as XML",
}


def refusal(name: str, root: str | None, head: bytes, damage: str | None) -> str:
    """Why there are no records to be had from a file with this root element, or these first bytes.

    Args:
        name: The file.
        root: Its root element, None where it has none.
        head: Its first bytes, unpacked.
        damage: What kept more of it from being read.
    """
    return f"expected PubMed XML in {name}; found {_found(root, head, damage)}."


def _found(root: str | None, head: bytes, damage: str | None) -> str:
    if root is not None:
        known = _KNOWN.get("html" if root.lower() == "html" else root)
        return f"the root element <{root}>" + (f", {known}" if known else f". {_FETCH}")
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if not text:
        return f"nothing: {damage}" if damage else "an empty file. Get it again"
    excerpt = repr(text[:60].decode("utf-8", "replace"))
    for magic, found in _MAGIC.items():
        if text.startswith(magic):
            return found.replace("{}", excerpt)
    return f"no root element but {excerpt}" + (f": {damage}" if damage else f". {_FETCH}")
