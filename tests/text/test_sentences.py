"""Sentences: the hard cases of biomedical text, and the laws of the offsets."""

import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark_modules import benchmark
from vericite.records import Document, Section
from vericite.text.sentences import SPLITTER, document_sentences, split_sentences

PROJECT = Path(__file__).parents[2]
SCIFACT = PROJECT.parent / "shared/data/scifact/data/corpus.jsonl"


def sentences(text: str) -> list[str]:
    return [text[span.slice] for span in split_sentences(text)]


# Each case is the text with "|" where a new sentence begins.
CASES = {
    "plain": "Aspirin lowers fever.| It also thins the blood.",
    "question and exclamation": "Does it work?| Yes!| It does.",
    "label with colon": "BACKGROUND: Asthma is common.| METHODS: We enrolled 40.| RESULTS: None died.",
    "label without colon": "METHODS We enrolled 40 children.| RESULTS Of these, 20 improved.",
    "a row of a table": "Drug: aspirin; Change: 8.\n|Drug: statin; Change: 12.\n|Both were taken.",
    "a number in running text": "Two were low.| 2. After a week both rose; 8.5 was the mean.",
    "decimal": "They took 1.5 mg.| Then 2.25 mg were given.",
    "p value at the end": "The drug worked, p<0.001.| Side effects were mild.",
    "p value with a bare point": "Mortality fell (P = .03) and stays fell too (P=.004).| Costs rose.",
    "p value spaced": "Mortality fell, P = .03.| Costs rose.",
    "percentages": "Response was 45.5%.| 20 patients relapsed.",
    "vs": "We compared 5 mg vs. 10 mg and Aspirin vs. Placebo.| Both worked.",
    "et al": "Smith et al. reported this.| Jones et al. (2010) did not.| So did Brown et al.| We agree.",
    "routes": "Mice got 5 mg i.v. or s.c. injections.| Controls got saline i.p.| The rest got none.",
    "bid": "Patients took 20 mg b.i.d. for a week.| Others took 40 mg t.i.d.| None stopped.",
    "eg and ie": "Some drugs (e.g. Aspirin, i.e. ASA) help.| Others, e.g., Ibuprofen, do too.",
    "figures": "As Fig. 2 and Figs. 3 and 4 show, it rose.| See ref. 5.| It fell in Fig. S1.| Then it rose.",
    "approx": "It took approx. 5 days.| It cost approx. Twenty dollars.",
    "initials": "We thank J. Smith, A. B. Jones and J.-P. Martin.| They helped.",
    "species": "E. coli and S. aureus grew.| C. elegans was fed E. coli.| We also saw S. Typhimurium.",
    "genus at the end": "Growth of Candida spp. was slow.| It grew on Candida spp.| Then it died.",
    "titles": "Dr. Smith and Prof. Jones met Mrs. Brown.| They spoke.",
    "number": "Trial No. 5 began.| The answer was no.| Patients left.",
    "saint": "St. John's wort interacts with warfarin.| St. Louis was the site.",
    "country inside": "Most U.S. patients and U.K. hospitals took part.",
    "country at the end": "It was done in the U.S.| Patients came from all over.",
    "degree": "She holds a Ph.D. in biology.| He has an M.D.| They met.",
    "ellipsis inside": "It was ... not clear.| Then it was.",
    "ellipsis at the end": "Nobody knows...| The trial went on…| It ended.",
    "quote after the stop": 'He said "it works."| They agreed.| “It does.”| Fine.',
    "bracket after the stop": "It worked (see below.)| They agreed. [Data not shown.]| Fine.".replace(". [", ".| ["),
    "quote and bracket": '(They called it "new.")| It was old.',
    "aside with stops": "It fell (baseline was 5. Later it was 3.) and rose.| Then it ended.",
    "open bracket that never closes": "It fell (see below.| Then it rose.| It ended.",
    "gene first": "Cells died.| p53 is a tumour suppressor.| mTOR rose.| miR-21 fell.| eNOS was stable.",
    "number first": "The trial ended.| 20 patients were lost.| 3 died.",
    "greek first": "Levels rose.| α-Synuclein did not.| β-Catenin fell.",
    "greek last": "It activates NF-κB.| The rest is unknown.| It binds IFN-γ.| Levels fell.",
    "question before a gene": "Does it work?| p53 is why.| Who knows (why? when?) what it does.",
    "factor": "She lacks factor V.| The rest had protein C.| 20 patients were well.",
    "last word that looks like an abbreviation": "It is state of the art.| 20 had the app.| 30 did not.",
    "vitamin": "They took vitamin B12.| It helped.| Others took vitamin D.| Patients improved.",
    "interleukin": "Cells made IL-2.| The rest made IL-10.| Controls made RhoA.| Nothing else.",
    "capitals that look like abbreviations": "Some had MS.| Controls had NO.| Few took PrEP.| All had HR.",
    "units at the end": "It lasted 24 h.| Mice died after 3 d.| It was 10 g/L.| It took 5 min.| Rats slept.",
    "temperature": "Kept at 37 °C.| Frozen at -80° C.| Samples thawed.",
    "no space": "It cures the disease.|The trial ended.| Then (n = 5).|Results were good.",
    "no space after a decimal in brackets": "It fell (P = .179).|In others it rose (“new”).|Then it fell.",
    "label after an abbreviation": "It was done in the U.S.| RESULTS We found it.| It was phase I.| Fine.",
    "markdown": "**Aspirin helps.**| *It* is cheap.| See _E. coli_ for more.",
    "address": "See www.nih.gov for more.| Or https://nejm.org/doi/10.1056/NEJMoa.The now.| Mail a.b@c.Org.",
    "version": "We used version 2.0.1 of R.| It uses SPSS v.22.0 here.",
    "chemistry": "The Ca2+.Mg complex formed.| Na2SO4.10H2O is a salt.",
    "variants": "Carriers of c.5263insC and p.Arg139Cys were found.| Also c. 76G and p. Arg14 were seen.",
    "non-breaking space": "It was 5\u00a0mg.|\u00a0Then 10\u00a0mg.|\u2009Last 15.",
    "marker after the stop": "Aspirin helps. [1]| Metformin too. [2][3]| So do both. [4, 5]",
    "marker before the stop": "Aspirin helps [1].| Metformin too [2][3].| [4] showed it as well.",
    "marker with no space": "Aspirin helps.[1]| Metformin too.[2,3]| So do both.",
    "superscript": "Aspirin helps patients.1,2| Metformin too.3–5| So do both.¹²| Fine.",
    "points in running text": "1. Aspirin was given.| 2. Blood was drawn.| 3. Rats slept.",
    "figure number at the end": "This is shown in Fig. 2.| The rest is not.",
    "label as a sentence": "Results.| The drug worked.",
    "journal": "See J. Biol. Chem. 12, 34 for this.| Proc. Natl. Acad. Sci. USA has more.",
    "dot leaders": "Contents . . . . . . . . 12 Preface . . . . . 14",
    "loose stop": "It was found in the spindle .| Here, we show it.",
    "quote after a space": 'It was called "new. "| Then it was old.',
    "sentence in small letters": "the drug worked.| however, costs rose.| patients left.",
    "cjk": "阿司匹林有效。|它便宜吗？|不。",
    "cjk in brackets": "他说“有效。”|然后走了。",
    "lists": "We saw:\n|- fever\n|- pain.\n|• cough\n|1. rash\n|2) itch",
    "blank line": "A title without a stop\n\n|The text begins here.\n\n\n|It ends",
    "line break in a sentence": "The patients\nwere given\naspirin.|\nThey improved.",
    "heading lines": "METHODS\n|We did it.|\nResults:\n|It worked.|\n## Summary\n|It works.",
    "wrapped acronym": "They measured\nDNA\nand RNA.",
    "windows lines": "Aspirin\r\nhelps.|\r\n\r\nIt is cheap.",
}


@pytest.mark.parametrize("marked", CASES.values(), ids=CASES.keys())
def test_hard_case(marked: str) -> None:
    assert sentences(marked.replace("|", "")) == [part.strip() for part in marked.split("|")]


# Characters that decide, and all others, lone surrogates included.
tricky = st.text(st.sampled_from(" \n\r\t\u00a0.?!…。)(][\"'”-•:,;#*123aApPé°"), max_size=80)
anything = tricky | st.text(st.characters(exclude_categories=()), max_size=60)


@given(anything)
def test_spans_are_ordered_trimmed_and_leave_out_only_space(text: str) -> None:
    end = 0
    for span in split_sentences(text):
        assert span.start >= end
        assert not text[end : span.start].strip()
        assert text[span.slice]
        assert text[span.slice] == text[span.slice].strip()
        end = span.end
    assert not text[end:].strip()


@given(anything, anything)
def test_a_blank_line_separates(first: str, second: str) -> None:
    joined = split_sentences(first + "\n\n" + second)
    apart = *split_sentences(first), *(span.shifted(len(first) + 2) for span in split_sentences(second))
    assert joined == apart


@given(st.lists(anything, max_size=4))
def test_no_sentence_crosses_a_section(texts: list[str]) -> None:
    document = Document(id="d", sections=tuple(Section(text=text) for text in texts))
    found = document_sentences(document)
    assert [sentence.index for sentence in found] == list(range(len(found)))
    assert {sentence.document for sentence in found} <= {"d"}
    assert [sentence.text_in(document) for sentence in found] == [part for text in texts for part in sentences(text)]
    for sentence in found:
        assert any(
            section.start <= sentence.span.start and sentence.span.end <= section.end
            for section in document.section_spans
        )


def test_section_without_a_stop_ends_its_sentence() -> None:
    document = Document(id="d", sections=(Section(text="Aspirin helps"), Section(text="It is cheap.")))
    assert [sentence.text_in(document) for sentence in document_sentences(document)] == [
        "Aspirin helps",
        "It is cheap.",
    ]


@pytest.mark.parametrize("text", ["", " ", "\n\n\t", "\u2029", "\ufeff" * 0])
def test_nothing_in_nothing_out(text: str) -> None:
    assert split_sentences(text) == ()


def test_text_without_a_stop_is_one_sentence() -> None:
    assert sentences("no stop at all") == ["no stop at all"]


def test_signature_names_its_version() -> None:
    assert SPLITTER.rpartition(".v")[2].isdigit()


UNITS = [
    *[
        "The drug worked in 20 patients (P < 0.001). ",
        "a",
        " ",
        "\n",
        ".",
        ". ",
        "(",
        "(a. ",
        "[1]",
        ". [1, ",
    ],
    *[
        '."',
        ".1,",
        "A. ",
        "…",
        "- ",
        "1. ",
        "。",
        "\x00",
        "\ud800",
        "a.B",
        "x (y) z. Aa ",
        "#\n",
        "A:\n",
        ".\u00a0",
    ],
]


@pytest.mark.parametrize("unit", UNITS)
def test_a_long_text_takes_linear_time(unit: str) -> None:
    text = unit * (300_000 // len(unit))
    start = time.process_time()
    split_sentences(text)
    # A tenth of it takes seconds as well where the time is quadratic; the bound is loose for busy machines.
    assert time.process_time() - start < 5


def test_ten_thousand_sentences_take_a_moment() -> None:
    text = "The drug (5 mg b.i.d., i.v.) worked vs. placebo in E. coli (P < 0.001). " * 10_000
    start = time.process_time()
    assert len(split_sentences(text)) == 10_000
    assert time.process_time() - start < 3


@pytest.mark.slow
def test_agreement_with_scifact() -> None:
    if not SCIFACT.is_file():
        pytest.skip("expected the SciFact corpus in ../shared/data; found none")
    bench = benchmark("sentences")
    _, held_out = bench.halves(bench.gold_abstracts(SCIFACT))
    result = bench.agreement(bench.prose(held_out), lambda text: [(s.start, s.end) for s in split_sentences(text)])
    precision, recall, f1 = result.rates(result.counts.sum(axis=0))
    assert precision > 0.99
    assert recall > 0.98
    assert f1 > 0.987
    assert result.exact > 0.91
