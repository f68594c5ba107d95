"""Citing places that Markdown, HTML and LaTeX share: links to articles, and marks that are made of references."""

from __future__ import annotations

import re

from vericite.corpus.sources.entry import doi_of
from vericite.records import Reference
from vericite.text.references import reference_key


def of_address(address: str, label: str = "") -> Reference | None:
    """Return the reference that an address of PubMed, PMC or a DOI names; None for any other address."""
    if not re.match(r"https?://|doi:|pmid:", address.strip(), re.IGNORECASE):
        return None
    kind, _, id = reference_key(address).partition(":")
    if kind == "doi":
        # The key of a DOI is in lower case.
        id = doi_of(address) or id
    names = {"pmid": f"PMID {id}", "doi": f"doi:{id}", "pmc": f"PMC{id}"}
    if kind not in names:
        return None
    return Reference(
        key=names[kind],
        text=" ".join(label.split()),
        pmid=id if kind == "pmid" else None,
        doi=id if kind == "doi" else None,
        pmcid=f"PMC{id}" if kind == "pmc" else None,
        url=address.strip(),
    )


def author_year(reference: Reference) -> tuple[str, str] | None:
    """Return the authors of a reference as a text cites them, and the year; None if it lacks one of them."""
    if not reference.authors or not reference.year:
        return None
    names = [family_name(name) for name in reference.authors]
    shown = " and ".join(names) if len(names) < 3 else f"{names[0]} et al."
    return shown, str(reference.year)


def family_name(name: str) -> str:
    """Return the family name: of ``Doe JA``, ``Doe, Jane`` and ``Jane Doe``."""
    last, comma, _ = name.partition(",")
    if comma:
        return last.strip()
    words = name.split()
    if len(words) > 1 and re.fullmatch(r"[^\W\d_a-z]{1,4}", words[-1]):
        return " ".join(words[:-1])
    return words[-1] if words else name
