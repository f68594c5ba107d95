"""Printed references and the marks that cite them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark_modules import benchmark
from vericite.corpus.references import reference_text
from vericite.records import Document
from vericite.records.manuscripts import ManuscriptCitation, Reference
from vericite.text.printed import (
    link,
    link_author_year,
    link_numeric,
    link_superscript,
    parse_reference,
    split_references,
)

bench = benchmark("printed_references")
KEYS = [str(number) for number in range(1, 13)]


def marks(text: str, found: Sequence[ManuscriptCitation]) -> list[tuple[str, tuple[str, ...]]]:
    return [(text[citation.span.start : citation.span.end], citation.keys) for citation in found]


@pytest.mark.parametrize("half", [0, 1])
def test_references_of_all_styles_are_read(half: int):
    """The bar of the benchmark: 0.95 right in title, year and first author, of each half."""
    right: list[bool] = []
    for case in bench.printed(half):
        fields = bench.read(parse_reference(case.text, "1"))
        right.append(
            all(bench.is_same(name, case.fields[name], fields[name]) for name in ("title", "year", "first author"))
        )
    assert len(right) == 110
    assert sum(right) / len(right) >= 0.95


def test_a_list_of_each_style_is_split():
    """Numbered or not, every reference of a list comes back whole."""
    for style, write in bench.STYLES.items():
        if "no titles" in style:
            continue
        texts = [write(work) for work in bench.works()[:12]]
        numbered = "\n".join(f"{number}. {text}" for number, text in enumerate(texts, start=1))
        start, found = split_references(
            f"Some text [1].\n\nReferences\n{numbered}\n\nFigure legends\nFigure 1. A curve"
        )
        assert start == len("Some text [1].\n\n")
        assert found == [(str(number), text) for number, text in enumerate(texts, start=1)], style
        _, plain = split_references("Some text.\n\nReferences\n\n" + "\n\n".join(texts))
        assert [text for _, text in plain] == texts, style
        _, lines = split_references("Some text.\n\nREFERENCES\n" + "\n".join(texts))
        assert [text for _, text in lines] == texts, style


def test_a_list_without_a_heading_is_found_and_numbered_steps_are_not():
    entries = "\n".join(f"[{n}] Smith J, Lee K. Tea and sleep. BMJ. 201{n};3:{n}-9." for n in range(1, 5))
    start, found = split_references(f"Tea helps [1-4].\n\n{entries}")
    assert (start, len(found)) == (len("Tea helps [1-4].\n\n"), 4)
    steps = "We did this:\n1. Wash the hands.\n2. Wait.\n3. Look.\n4. Go."
    assert split_references(steps) == (len(steps), [])


def test_lines_that_wrap_are_joined():
    text = (
        "References\n1. Smith J. Rehabili-\n   tation after stroke. BMJ.\n   2019;3:1-9. doi:10.1136/\n "
        "  bmj.x1\n2. Lee K. Tea."
    )
    _, found = split_references(text)
    assert found[0] == ("1", "Smith J. Rehabilitation after stroke. BMJ. 2019;3:1-9. doi:10.1136/bmj.x1")
    reference = parse_reference(found[0][1], "1")
    assert (reference.title, reference.doi) == ("Rehabilitation after stroke", "10.1136/bmj.x1")


def test_identifiers_are_read_and_organisations_are_authors():
    found = parse_reference(
        "RECOVERY Collaborative Group, Horby P. A trial. Lancet. 2021;3:4."
        " https://doi.org/10.1016/S0140-6736(21)00149-5. "
        "PMID: 33545096; PMCID: PMC7884931.",
        "7",
    )
    assert found.authors == ("RECOVERY Collaborative Group", "Horby P")
    assert (found.doi, found.pmid, found.pmcid) == ("10.1016/s0140-6736(21)00149-5", "33545096", "PMC7884931")
    assert parse_reference("World Health Organization. (2019). Clean water. https://www.who.int/x", "1").authors == (
        "World Health Organization",
    )


def test_numbers_in_brackets():
    text = "A [1]. B [1,3-5], c [2][7]. A score of [0-10], 95% CI [3, 12], Table [2]. d [15]. In [2019]."
    assert marks(text, link_numeric(text, KEYS)) == [
        ("[1]", ("1",)),
        ("[1,3-5]", ("1", "3", "4", "5")),
        ("[2]", ("2",)),
        ("[7]", ("7",)),
        ("[15]", ("15",)),
    ]


def test_numbers_in_parentheses_only_if_the_list_is_cited_by_them():
    text = "It works (1). It fails (2, 3). More (4-6). Table (2). 12 (3) men. We did: (1) age, (2) sex. Yes (7-12)."
    assert [keys for _, keys in marks(text, link_numeric(text, KEYS))] == [
        ("1",),
        ("2", "3"),
        ("4", "5", "6"),
        ("7", "8", "9", "10", "11", "12"),
    ]
    assert link_numeric("There were men (12) and women (11).", KEYS) == []


def test_superscripts_are_not_powers_units_or_isotopes():
    text = "It works¹ well.²,³ 10³ m², kg/m² R² 5 cm² ¹⁸F Ca²⁺ s⁻¹ many.⁴⁻⁶ Since 2019.⁷ So<sup>1,2</sup> 10^3^ b^{4-6}"
    assert [keys for _, keys in marks(text, link_superscript(text, KEYS))] == [
        ("1",),
        ("2", "3"),
        ("4", "5", "6"),
        ("7",),
        ("1", "2"),
        ("4", "5", "6"),
    ]


REFERENCES = [
    parse_reference(text, str(number))
    for number, text in enumerate(
        (
            "Smith JA, Lee K, Ho P (2019) Tea. BMJ 12:1-2",
            "Lee, K., & Wong, P. (2020a). Tea. Lancet, 3, 4-5.",
            "Lee, K., & Wong, P. (2020b). Coffee. Lancet, 3, 6-7.",
            "World Health Organization. (2018). Water.",
            "Müller H (2017) Salt. BMJ 1:2",
            "van der Berg, P. (2016). Stroke. BMJ, 3, 4.",
        ),
        start=1,
    )
]


def test_authors_and_years():
    text = (
        "Known (Smith et al., 2019; Lee & Wong 2020a, 2020b). Smith et al. (2019) said. As Lee and Wong (2020b) said "
        "(World Health Organization, 2018; WHO, 2018), see Müller (2017). In March (2019) and (January 2019) it was. "
        "Nemo et al. (2011). Van der Berg's (2016) work."
    )
    assert marks(text, link_author_year(text, REFERENCES)) == [
        ("(Smith et al., 2019; Lee & Wong 2020a, 2020b)", ("1", "2", "3")),
        ("(2019)", ("1",)),
        ("(2020b)", ("3",)),
        ("(World Health Organization, 2018; WHO, 2018)", ("4",)),
        ("(2017)", ("5",)),
        ("(2011)", ("Nemo 2011",)),
        ("(2016)", ("6",)),
    ]


def test_the_form_that_cites_most_is_taken():
    text = "Tea (Smith et al., 2019) in 3 [1] of the cups (Müller 2017)."
    assert [citation.keys for citation in link(text, REFERENCES)] == [("1",), ("5",)]


def _by_name(text: str, keys: Sequence[str]) -> list[ManuscriptCitation]:
    return link_author_year(text, [Reference(key=key, authors=("Smith J",), year=2000) for key in keys])


PIECES = st.sampled_from(
    [*" ()[]^,;-–.\n", "[1]", "¹", "³⁻⁵", "<sup>2</sup>", "(Smith 2000)", "Smith", "2000a", "12", "et al.", "É"]
)


@pytest.mark.parametrize("find", [link_numeric, link_superscript, _by_name])
@given(text=st.lists(PIECES, max_size=40).map("".join))
def test_spans_are_inside_the_text_in_order(find: Callable[[str, Sequence[str]], list[ManuscriptCitation]], text: str):
    found = find(text, KEYS)
    assert all(0 <= c.span.start < c.span.end <= len(text) for c in found)
    assert all(first.span.end <= second.span.start for first, second in pairwise(found))


@given(text=st.text(max_size=300))
def test_any_text_can_be_parsed(text: str):
    assert parse_reference(text, "1").key == "1"
    start, _ = split_references(text)
    assert 0 <= start <= len(text)


def test_our_own_references_are_read_back():
    """What the reports print of a document gives its authors, title, journal and year again."""
    for work in bench.works():
        names = tuple(f"{family} {given.replace('-', ' ')[0]}" for family, given in work.authors)
        document = Document(
            id="1", title=work.title, sections=(), authors=names, journal=work.journal[1], year=work.year
        )
        found = parse_reference(reference_text(document), "1")
        assert (found.authors, found.title, found.year) == (names[:6], work.title, work.year)
        assert found.journal == work.journal[1]


def test_an_author_and_a_year_that_the_list_lacks_count_where_the_text_cites_so():
    works = [Reference(key="1", authors=("Doe J",), year=2019)]
    text = "It fell (Doe, 2019). It rose (Smith, 2017; Žak, 2020). So (Table, 2018) and (n = 20, 2015) and (Rome 2016)."
    assert [mark.keys for mark in link_author_year(text, works)] == [("1",), ("Smith 2017", "Žak 2020")]
    assert link_author_year(text.partition(".")[2], works) == []
