"""Authors, editors and investigators."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from vericite.corpus.pubmed.gather import Fields, Table, gather
from vericite.corpus.pubmed.markup import plain_text

if TYPE_CHECKING:
    from lxml.etree import _Element  # pyright: ignore[reportPrivateUsage]

# Bare, as an address, or run together: 0000-0002-1825-0097, https://orcid.org/..., 0000000218250097.
_ORCID = re.compile(r"(\d{4})-?(\d{4})-?(\d{4})-?(\d{3}[\dXx])\s*$")


def people(listed: _Element) -> tuple[Fields, ...]:
    """The people of an AuthorList or InvestigatorList, as fields of ``Author``; an entry with no name is none."""
    found: list[Fields] = []
    for element in listed:
        person: Fields = {}
        gather(element, _PERSON, person)
        if element.get("ValidYN") == "N":
            person["valid"] = False
        if "last" in person or "collective" in person or "fore" in person:
            found.append(person)
    return tuple(found)


def _take_affiliation(element: _Element, fields: Fields) -> None:
    # Before 2015 it stood in the author itself, with no element around it.
    parts = (element,) if element.tag == "Affiliation" else element.iterchildren("Affiliation")
    fields["affiliations"] = fields.get("affiliations", ()) + tuple(
        text for part in parts if (text := plain_text(part))
    )


def _take_identifier(element: _Element, fields: Fields) -> None:
    if element.get("Source") == "ORCID" and (digits := _ORCID.search(element.text or "")):
        fields["orcid"] = "-".join(digits.groups()).upper()


_PERSON: Table = {
    "LastName": "last",
    "ForeName": "fore",
    "Initials": "initials",
    "Suffix": "suffix",
    "CollectiveName": "collective",
    "AffiliationInfo": _take_affiliation,
    "Affiliation": _take_affiliation,
    "Identifier": _take_identifier,
    # As files of before 2002 have it.
    "FirstName": "fore",
}
