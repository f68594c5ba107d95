"""Invented articles as PubMed, Crossref and Europe PMC describe them."""

from __future__ import annotations

from typing import Any

from entrez_server import Article

from vericite.records.manuscripts import Reference

ARTICLES = [
    Article(
        "30000001", "Walking after meals and blood glucose in older adults.", "Glucose fell by a tenth.",
        "Journal of Invented Findings", "2019", ("Okafor", "Lind"), doi="10.1000/jif.101",
        abbreviation="J Inv Find", volume="12", pages="101-9",
    ),
    Article(
        "30000002", "Walking after meals and blood glucose in pregnancy.", "Glucose did not fall.",
        "Journal of Invented Findings", "2021", ("Haddad",), doi="10.1000/jif.202",
        abbreviation="J Inv Find", volume="14", pages="33-41",
    ),
    Article(
        "30000003", "Cold baths and sleep of shift workers.", "They slept better.", "Sleep of the North", "2015",
        ("Varga", "Sato"), retracted=True, doi="10.1000/son.3", abbreviation="Sleep North", volume="3", pages="7-12",
        notices=(("RetractionIn", "30000009"),),
    ),
    Article(
        "30000004", "Honey for cough in children: a trial.", "Cough was shorter.", "Sleep of the North", "2018",
        ("Rossi",), doi="10.1000/son.4", abbreviation="Sleep North", volume="6", pages="70-75",
        notices=(("ExpressionOfConcernIn", "30000008"), ("ErratumIn", "30000007")),
    ),
]  # fmt: skip

CROSSREF: list[dict[str, Any]] = [
    {
        "DOI": "10.1000/jif.101",
        "type": "journal-article",
        "title": ["Walking after meals and blood glucose in older adults"],
        "author": [
            {"given": "Ada", "family": "Okafor", "sequence": "first", "affiliation": []},
            {"given": "Erik G.", "family": "Lind", "sequence": "additional", "affiliation": []},
        ],
        "container-title": ["Journal of Invented Findings"],
        "short-container-title": ["J Inv Find"],
        "published-print": {"date-parts": [[2019, 3]]},
        "published-online": {"date-parts": [[2018, 12, 20]]},
        "issued": {"date-parts": [[2018, 12, 20]]},
        "volume": "12",
        "issue": "2",
        "page": "101-109",
        "score": 42.0,
    },
    {
        "DOI": "10.1000/son.3",
        "type": "journal-article",
        "title": ["RETRACTED: Cold baths and sleep of shift workers"],
        "author": [{"given": "Z", "family": "Varga", "sequence": "first", "affiliation": []}],
        "container-title": ["Sleep of the North"],
        "issued": {"date-parts": [[2015]]},
        "volume": "3",
        "page": "7-12",
        "updated-by": [{"type": "retraction", "DOI": "10.1000/son.3r", "label": "Retraction"}],
        "abstract": "<jats:p>They slept better.</jats:p>",
        "score": 30.0,
    },
]

RESULTS: list[dict[str, Any]] = [
    {
        "id": "30000001",
        "source": "MED",
        "pmid": "30000001",
        "pmcid": "PMC900",
        "doi": "10.1000/jif.101",
        "title": "Walking after meals and blood glucose in older adults.",
        "authorString": "Okafor A, Lind EG.",
        "authorList": {
            "author": [
                {"fullName": "Okafor A", "firstName": "Ada", "lastName": "Okafor", "initials": "A"},
                {"fullName": "Lind EG", "firstName": "Erik G", "lastName": "Lind", "initials": "EG"},
            ]
        },
        "journalInfo": {
            "issue": "2",
            "volume": "12",
            "yearOfPublication": 2019,
            "journal": {"title": "Journal of invented findings", "isoabbreviation": "J Inv Find"},
        },
        "pubYear": "2019",
        "pageInfo": "101-109",
        "abstractText": "Glucose fell by a tenth.",
        "isOpenAccess": "Y",
        "inEPMC": "Y",
        "pubTypeList": {"pubType": ["Journal Article"]},
        "commentCorrectionList": {"commentCorrection": [{"id": "30000050", "source": "MED", "type": "Erratum in"}]},
    }
]

FULL_TEXT = """<?xml version="1.0"?>
<article article-type="research-article"><front><article-meta>
<article-id pub-id-type="pmcid">PMC900</article-id><article-id pub-id-type="pmid">30000001</article-id>
<title-group><article-title>Walking after meals and blood glucose in older adults</article-title></title-group>
<abstract><p>Glucose fell by a tenth.</p></abstract></article-meta></front>
<body><sec><title>Methods</title><p>We asked 41 older adults to walk for a quarter of an hour after each meal.</p></sec>
<sec><title>Results</title><p>The mean glucose was 6.1 mmol/l with walks and 6.8 mmol/l without.</p></sec></body>
</article>
"""

SOUND = Reference(
    key="1",
    title="Walking after meals and blood glucose in older adults",
    authors=("Okafor A", "Lind EG"),
    journal="J Inv Find",
    year=2019,
    volume="12",
    pages="101–109",
)


def like(key: str, **changed: object) -> Reference:
    """The sound reference with other values."""
    return SOUND.model_copy(update={"key": key, **changed})
