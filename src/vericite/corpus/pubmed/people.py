"""Authors, editors and investigators."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from vericite.corpus.pubmed.gather import Fields, Start, Table, append_to, entries

if TYPE_CHECKING:
    from lxml.etree import _Element  # pyright: ignore[reportPrivateUsage]

# Bare, as an address, or run together: 0000-0002-1825-0097, https://orcid.org/..., 0000000218250097.
_ORCID = re.compile(r"(\d{4})-?(\d{4})-?(\d{4})-?(\d{3}[\dXx])\s*$")


def people(listed: _Element) -> tuple[Fields, ...]:
    """The people of an AuthorList or InvestigatorList, as fields of ``Author``; an entry with no name is none."""
    found = entries(listed, _STARTS, _PERSON)
    return tuple([person for person in found if "last" in person or "collective" in person or "fore" in person])


def _start(element: _Element) -> Fields:
    return {"valid": False} if element.get("ValidYN") == "N" else {}


def _take_identifier(element: _Element, fields: Fields) -> None:
    if element.get("Source") == "ORCID" and (digits := _ORCID.search(element.text or "")):
        # An affiliation has identifiers too, which are not the person's.
        parent = element.getparent()
        if parent is not None and parent.tag in _STARTS:
            fields["orcid"] = "-".join(digits.groups()).upper()


_STARTS: dict[str, Start] = {"Author": _start, "Investigator": _start, "PersonalNameSubject": _start}

_PERSON: Table = {
    "LastName": "last",
    "ForeName": "fore",
    "Initials": "initials",
    "Suffix": "suffix",
    "CollectiveName": "collective",
    # In an AffiliationInfo of its own since 2015.
    "Affiliation": append_to("affiliations"),
    "Identifier": _take_identifier,
    # As files of before 2002 have it.
    "FirstName": "fore",
}
