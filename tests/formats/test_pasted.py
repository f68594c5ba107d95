"""Answers of chat assistants: what they cite by links, footnotes and ids becomes numbered."""

from __future__ import annotations

import pytest

from hostile import HOSTILE
from vericite.errors import InputError
from vericite.formats.pasted import read_pasted

FOOTNOTES = """Aspirin helps.[^1] It bleeds.[^2][^1]

[^1]: Smith J. Aspirin for all. https://doi.org/10.1000/xyz123
[^2]: PMID: 12345678"""
LIST = """Zinc helps [1]. It is cheap [2, 3].

References
1. Jones A. Zinc for colds. Lancet 2011. PMID: 21328251
2. Miller B. Costs of zinc. doi:10.1016/S0140-6736(11)60123-4
3. [A page on zinc](https://zinc.example/page)"""
PMIDS = "Zinc helps (PMID: 21328251). It does not (PMID 28304224; PMID 21328251)."


def cited(text: str) -> list[str | None]:
    return [source.pmid or source.doi or source.url for source in read_pasted(text).sources]


@pytest.mark.parametrize(
    ("pasted", "text", "sources"),
    [
        (
            "It helps ([PubMed](https://pubmed.ncbi.nlm.nih.gov/31452104/)) [most adults](https://a.example/x). Sure.",
            "It helps [1] most adults [2]. Sure.",
            ["31452104", "https://a.example/x"],
        ),
        (FOOTNOTES, "Aspirin helps. [1] It bleeds. [2][1]", ["10.1000/xyz123", "12345678"]),
        (
            LIST,
            "Zinc helps [1]. It is cheap [2][3].",
            ["21328251", "10.1016/s0140-6736(11)60123-4", "https://zinc.example/page"],
        ),
        (PMIDS, "Zinc helps [1]. It does not [2][1].", ["21328251", "28304224"]),
        (
            "A [2](https://b.example/y) and [1](https://a.example/x).",
            "A [2] and [1].",
            ["https://a.example/x", "https://b.example/y"],
        ),
        ("It helps (a trial [NICE](https://a.example/x)).", "It helps (a trial NICE [1]).", ["https://a.example/x"]),
        ("Numbers alone [2].", "Numbers alone [2].", [None, None]),
        ("Nothing.", "Nothing.", []),
    ],
)
def test_what_an_assistant_cites_is_numbered(pasted: str, text: str, sources: list[str | None]):
    made = read_pasted(pasted)
    assert made.text == text and cited(pasted) == sources
    assert [source.key for source in made.sources] == [str(number) for number in range(1, len(sources) + 1)]
    assert read_pasted(made.text).text == made.text, "what is numbered stays as it is"


def test_a_list_gives_titles():
    assert [source.title for source in read_pasted(LIST).sources] == [
        "Jones A. Zinc for colds. Lancet 2011", "Miller B. Costs of zinc", "A page on zinc",
    ]  # fmt: skip


def test_reading_stops_at_the_most_sources():
    many = " ".join(f"https://a.example/{number}" for number in range(8_000))
    with pytest.raises(InputError, match="at most 200 sources; found more"):
        read_pasted(many, most=200)
    with pytest.raises(InputError, match="at most 200"):
        read_pasted("It helps [201].", most=200)
    some = " ".join(f"https://a.example/{number % 200}" for number in range(400))
    assert len(read_pasted(some, most=200).sources) == 200


@pytest.mark.parametrize("hostile", HOSTILE)
def test_hostile_texts_stay_texts(hostile: str):
    made = read_pasted(f"{hostile} Zinc helps [1](https://a.example/x).")
    assert made.sources
