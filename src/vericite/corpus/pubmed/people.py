"""Authors, editors and investigators."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from vericite.corpus.pubmed.gather import Fields
from vericite.corpus.pubmed.markup import plain_text

if TYPE_CHECKING:
    from lxml.etree import _Element  # pyright: ignore[reportPrivateUsage]

# Bare, as an address, or run together: 0000-0002-1825-0097, https://orcid.org/..., 0000000218250097.
_ORCID = re.compile(r"(\d{4})-?(\d{4})-?(\d{4})-?(\d{3}[\dXx])\s*$")

_PEOPLE = frozenset({"Author", "Investigator", "PersonalNameSubject"})
_NAMES = {
    "LastName": "last",
    "ForeName": "fore",
    "Initials": "initials",
    "Suffix": "suffix",
    "CollectiveName": "collective",
    # As files of before 2002 have it.
    "FirstName": "fore",
}


def people(listed: _Element) -> tuple[Fields, ...]:
    """The people of an AuthorList or InvestigatorList, as fields of ``Author``; an entry with no name is none."""
    found: list[Fields] = []
    person: Fields = {}
    for part in listed.iter():
        tag = part.tag
        if field := _NAMES.get(tag):
            if text := plain_text(part):
                person[field] = text
        elif tag == "Affiliation":
            # In an AffiliationInfo of its own since 2015.
            if text := plain_text(part):
                person["affiliations"] = (*person.get("affiliations", ()), text)
        elif tag in _PEOPLE:
            person = {"valid": False} if part.get("ValidYN") == "N" else {}
            found.append(person)
        elif tag == "Identifier":
            _take_identifier(part, person)
    return tuple([person for person in found if "last" in person or "collective" in person or "fore" in person])


def _take_identifier(element: _Element, fields: Fields) -> None:
    if element.get("Source") == "ORCID" and (digits := _ORCID.search(element.text or "")):
        # An affiliation has identifiers too, which are not the person's.
        parent = element.getparent()
        if parent is not None and parent.tag in _PEOPLE:
            fields["orcid"] = "-".join(digits.groups()).upper()
