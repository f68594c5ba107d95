"""How often something is done: conflicts that are told, and differences that are none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vericite.verify.checks import findings
from vericite.verify.checks.frequency import frequencies
from vericite.verify.checks.words import plain


@pytest.mark.parametrize(
    ("claim", "source", "reason"),
    [
        (
            "Methotrexate is taken daily for rheumatoid arthritis.",
            "In rheumatoid arthritis methotrexate is taken once weekly.",
            "claim says daily, the source once weekly",
        ),
        ("Apixaban is taken once daily.", "Apixaban 5 mg was taken twice daily.", "once daily, the source twice daily"),
        ("Adalimumab is injected every day.", "Adalimumab is injected every other week.", "every other week"),
        ("The women exercised three times a week.", "The women exercised five times weekly.", "5 times weekly"),
        ("The creams were applied bid.", "The creams were applied qid.", "claim says bid, the source qid"),
    ],
)
def test_another_frequency_is_told(claim: str, source: str, reason: str):
    assert [reason in finding.reason for finding in findings(claim, source)] == [True]


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("Apixaban is taken twice a day.", "Apixaban is taken every 12 hours."),
        ("Galcanezumab is injected monthly.", "Galcanezumab is injected every four weeks."),
        ("Denosumab is injected every six months.", "Denosumab is injected twice yearly."),
        ("Amoxicillin was taken every day.", "Amoxicillin was taken three times a day."),
        ("Methotrexate is taken daily.", "Methotrexate is taken once weekly; that it is taken daily is a known error."),
        ("The pills affect daily life.", "The pills, taken once weekly, affect life."),
        ("Warfarin is taken daily.", "Golimumab was injected once a month in a trial of arthritis."),
        ("Patients took it daily, later weekly.", "Patients took it once a month."),
        ("The pain was mild.", "The pain was mild and came once a week."),
    ],
)
def test_the_same_in_other_words_and_what_cannot_be_told_are_left(claim: str, source: str):
    assert findings(claim, source) == []


@given(st.integers(2, 9), st.sampled_from(["day", "week", "month"]))
def test_so_many_times_a_span_is_a_gap_of_its_part(times: int, span: str):
    days = {"day": 1, "week": 7, "month": 30}[span]
    for text in (f"{times} times a {span}", f"{times} times per {span}", f"{times} times each {span}"):
        assert [item.days for item in frequencies(text)] == [pytest.approx(days / times)]
    assert [item.days for item in frequencies(f"every {times} {span}s")] == [times * days]


@given(st.text(alphabet="every other once 12 a day,week.ly ", max_size=60))
def test_any_text_is_read(text: str):
    assert all(item.days > 0 for item in frequencies(plain(text)))
