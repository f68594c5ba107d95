"""Reading aids: a source is put into the claim's terms where that is certain, and what is false lowers a verdict."""

import time
from collections.abc import Iterable, Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vericite import check
from vericite.errors import InputError
from vericite.models import Pair
from vericite.records import Document
from vericite.verify import Judgement, Protocol
from vericite.verify.aids import KINDS, Glossary, put_in_terms
from vericite.verify.aids.abbreviations import _table
from vericite.verify.checks import findings


def read(claim: str, source: str, document: str | None = None, kinds: Iterable[str] = KINDS) -> str:
    """The source as a judge reads it."""
    glossary = Glossary.of([Document.from_text("d", document or source)])
    return put_in_terms(claim, source, glossary, tuple(kinds))[0]


@pytest.mark.parametrize(
    ("claim", "source", "expected"),
    [
        ("Statins prevent myocardial infarction.", "Statins prevent MI.", "Statins prevent myocardial infarction."),
        ("Statins prevent MI.", "Statins prevent myocardial infarctions.", "myocardial infarctions (MI)"),
        ("DOACs are safe.", "NOACs are safe.", "DOACs are safe."),
        ("Anaemia is common in end-stage kidney disease.", "ESKD brings anaemia.", "end-stage kidney disease"),
        ("Leukaemia: acute myeloid leukaemia relapsed.", "AML relapsed.", "acute myeloid leukaemia relapsed"),
        ("Multiple sclerosis relapsed.", "MS relapsed under interferon.", "Multiple sclerosis relapsed"),
        ("About 20% of patients died.", "41 of 204 patients died.", "41 of 204 (20%)"),
        ("About 20% of patients died.", "Of 204 patients, 41 died.", "41 (20%) died"),
        ("One in five patients died.", "20% of patients died.", "20% (One in 5)"),
        ("The infection cleared in 67%.", "It cleared in two thirds of them.", "2 thirds (67%) of"),
        ("Follow-up lasted two years.", "They were followed for 24 months.", "24 months (2 years)"),
        ("Amoxicillin 500 mg was given.", "Amoxicillin 0.5 g was given.", "0.5 g (500 mg)"),
        ("The risk was 21% lower.", "Risk fell (HR 0.79, 95% CI 0.7 to 0.9).", "HR 0.79 (21% lower)"),
        ("The risk was 21% lower.", "The hazard ratio for death was 0.79.", "0.79 (21% lower)"),
        ("The relative risk was 1.20.", "The risk rose by 20%.", "20% (a ratio of 1.20)"),
        ("The rate was halved.", "The rate fell from 40% to 20%.", "20% (halved)"),
        ("The rate was cut by half.", "The rate was 40% before and 20% after.", "20% (by half) after"),
        ("The rate doubled.", "The odds ratio was 2.0.", "2.0 (doubled)"),
        ("The rate fell by 25%.", "The rate fell from 40% to 30%.", "30% (25% lower)"),
        (
            "The number needed to treat was 20.",
            "Death: 5% with the drug versus 10%.",
            "(number needed to treat was 20)",
        ),
        ("HbA1c fell by 1.3 percentage points.", "HbA1c fell from 8.4% to 7.1%.", "(1.3 percentage points lower)"),
    ],
)
def test_a_source_is_put_into_the_claims_terms(claim: str, source: str, expected: str):
    assert expected in read(claim, source)


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("Statins prevent stroke.", "Statins prevent MI."),
        ("Statins prevent myocardial infarction.", "Myocardial infarction (MI) is prevented by statins."),
        ("Mitral stenosis got worse.", "MS got worse under interferon in those with new brain lesions."),
        ("Multiple sclerosis got worse.", "MS got worse."),
        ("About 30% of patients died.", "41 of 204 patients died."),
        ("The risk was 21% lower.", "HR 0.65 (95% CI 0.5 to 0.9)."),
        ("The rate was halved.", "The rate fell from 40% to 30%."),
        ("The rate was halved.", "The rate rose from 20% to 40%."),
        ("Follow-up lasted two years.", "They were followed for 36 months."),
        ("Follow-up lasted 24 months.", "They were followed for 24 months."),
        ("The number needed to treat was 20.", "Death: 5% with the drug versus 30%."),
        ("No figures here at all.", "41 of 204 patients died."),
    ],
)
def test_nothing_is_put_in_that_is_not_so(claim: str, source: str):
    assert read(claim, source) == source


def test_a_documents_own_abbreviation_comes_before_the_tables():
    document = "Motivational interviewing (MI) helped. MI was given weekly."
    assert read("Myocardial infarction was treated.", "MI was given weekly.", document) == "MI was given weekly."
    assert "Motivational interviewing was" in read("Motivational interviewing helps.", "MI was given weekly.", document)


def test_an_abbreviation_explained_in_two_ways_is_not_replaced():
    document = "Motivational interviewing (MI) helped. Mental imagery (MI) did not. MI was given."
    assert read("Mental imagery was given.", "MI was given.", document) == "MI was given."


def test_the_table_has_600_entries_that_can_be_read():
    assert len(_table()) >= 600
    assert all(meaning.long and " @" not in meaning.long for meanings in _table().values() for meaning in meanings)


def test_several_meanings_need_a_context_each_or_are_one():
    bare = {short: meanings for short, meanings in _table().items() if len(meanings) > 1}
    assert all(
        all(item.context for item in found) or not any(item.context for item in found) for found in bare.values()
    )


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("The rate of falls was halved.", "The rate of falls went from 40% to 35%."),
        ("Exercise tripled the rate of falls.", "The rate of falls was 10% without exercise and 20% with exercise."),
        (
            "The number needed to treat to prevent one death was 50.",
            "Death occurred in 5% of treated patients versus 10% of controls.",
        ),
        ("The risk of stroke was 35% higher.", "The hazard ratio for the risk of stroke was 0.65."),
        ("HbA1c fell by 2.3 percentage points.", "HbA1c fell from 8.4% to 7.1%."),
        ("Adverse events affected 36% of patients.", "Adverse events affected 36 of 120 patients."),
    ],
)
def test_a_comparison_that_is_false_is_found(claim: str, source: str):
    assert findings(claim, source)


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("The rate of falls was halved.", "The rate of falls went from 40% to 21%."),
        ("The number needed to treat was 20.", "Death occurred in 5% of treated patients versus 10% of controls."),
        ("The risk of stroke was 35% lower.", "The hazard ratio for the risk of stroke was 0.65."),
        ("HbA1c fell by 1.3 percentage points.", "HbA1c fell from 8.4% to 7.1%."),
        ("Adverse events affected 30% of patients.", "Adverse events affected 36 of 120 patients."),
        ("A double-blind trial of falls.", "In this trial of falls, 40% fell versus 30%."),
    ],
)
def test_a_comparison_that_holds_is_not(claim: str, source: str):
    assert not findings(claim, source)


class Copying:
    """Entails what the premise has in it word for word."""

    signature = "copying"

    def judge(self, pairs: Iterable[Pair]) -> Iterator[Judgement]:
        for pair in pairs:
            same = pair.claim.rstrip(".").lower() in pair.premise.lower()
            yield Judgement(np.array([0.9, 0.05, 0.05] if same else [0.1, 0.1, 0.8], dtype=np.float32))


def test_a_verdict_says_what_its_source_was_read_with():
    source = {"id": "d", "text": "Statins prevented MI in adults."}
    protocol = Protocol(judge=Copying(), aids=KINDS)
    (aided,) = check("Statins prevented myocardial infarction [1].", [source], protocol=protocol).verdicts
    assert aided.label == "supported"
    assert aided.reasons == ("read with: MI is myocardial infarction",)
    (plain,) = check(
        "Statins prevented myocardial infarction [1].", [source], protocol=Protocol(judge=Copying())
    ).verdicts
    assert (plain.label, plain.reasons) == ("irrelevant", ())


def test_a_protocol_names_its_aids():
    assert "aids.v1" in Protocol(aids=KINDS).signature
    assert "aids.v1(unit)" in Protocol(aids=("unit",)).signature
    assert "aids" not in Protocol().signature
    with pytest.raises(InputError, match="reading aids out of"):
        Protocol(aids=("units",))


TEXTS = st.lists(
    st.sampled_from(
        "MI AF (MI) of 204 patients, 41 died 20% HR 0.79 from 40% to halved one in five 2 years . ) ( é".split(" ")
    )
).map(" ".join)


@given(TEXTS, TEXTS)
def test_any_two_texts_are_read(claim: str, source: str):
    glossary = Glossary.of([Document.from_text("d", source)])
    given, asked, reasons = put_in_terms(claim, source, glossary)
    assert (given, asked) == (source, claim) or reasons
    assert put_in_terms(claim, source, glossary) == (given, asked, reasons)


@pytest.mark.parametrize(
    "piece", ["MI ", "(MI) ", "from 5 to 10% ", "of 20 a ", "HR 0.5 ", "myocardial ", "half ", "1 of 2 "]
)
def test_time_grows_no_faster_than_the_text(piece: str):
    claim = "MI was halved, 20% lower, in one in five; the number needed to treat was 20."
    took: list[float] = []
    for size in (10_000, 40_000):
        text = piece * (size // len(piece))
        began = time.process_time()
        put_in_terms(claim, text, Glossary.of([Document.from_text("d", text)]))
        took.append(time.process_time() - began)
    assert took[1] < 12 * took[0] + 0.5
