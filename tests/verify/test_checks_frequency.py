"""How often something is done: conflicts that are told, and differences that are none."""

import pytest
from hypothesis import example, given
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
        ("Docetaxel was given weekly.", "Docetaxel was given every three weeks.", "weekly, the source every 3 weeks"),
        ("The women exercised three times a week.", "The women exercised five times weekly.", "5 times weekly"),
        ("The creams were applied bid.", "The creams were applied qid.", "claim says bid, the source qid"),
    ],
)
def test_another_frequency_is_found(claim: str, source: str, reason: str):
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
        ("Semaglutide lowers daily energy intake.", "Semaglutide once weekly lowers energy intake."),
        ("Rivaroxaban once daily prevents stroke.", "Rivaroxaban 20 mg od prevents stroke; enoxaparin every 12 hours."),
        (
            "Insulin degludec once daily is safe.",
            "Insulin degludec is safe; insulin aspart was injected 3 times daily.",
        ),
        ("They exercised twice a week.", "They exercised at least three times a week."),
        ("They exercised three times a week.", "They exercised 3.5 times a week."),
        ("Radiotherapy was given daily.", "Radiotherapy was given five times a week."),
        ("Bortezomib is given weekly.", "Bortezomib is given twice weekly, then every 5 weeks."),
        ("Paracetamol was given every 6 hours.", "Paracetamol was given every 4 to 6 hours."),
        ("Zoledronate is infused once a month.", "Zoledronate is infused annually, or every 3 months in cancer."),
    ],
)
def test_equal_and_unclear_frequencies_are_not_findings(claim: str, source: str):
    assert findings(claim, source) == []


@given(st.integers(2, 9), st.sampled_from(["day", "week", "month"]))
def test_a_number_of_times_per_span_is_a_gap(times: int, span: str):
    hours = {"day": 24, "week": 168, "month": 720}[span]
    for text in (f"{times} times a {span}", f"{times} times every {span}"):
        assert [item.hours for item in frequencies(text)] == [pytest.approx(hours / times)]
    assert [item.hours for item in frequencies(f"every {times} {span}s")] == [times * hours]


PIECES = st.sampled_from("every other once twice 12 3 times a per day week s daily weekly bid q12h . ı İ ſ".split())


@given(st.text(max_size=80) | st.lists(PIECES, max_size=20).map(" ".join) | st.lists(PIECES, max_size=20).map("".join))
@example("TAKEN DAİLY.")
@example("every ſecond day")
@example("Taken twıce a day and bıd")
def test_any_text_is_read(text: str):
    assert all(item.hours > 0 for item in (*frequencies(text), *frequencies(plain(text))))
    findings(text, "It is taken once weekly.")
