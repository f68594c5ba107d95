from __future__ import annotations

from datetime import UTC, datetime
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vericite.llm import Settings
from vericite.llm.retry import BackendError, Breaker, Trip
from vericite.network.pacing import seconds_asked

NOW = 1_800_000_000.0


def date(seconds: float) -> str:
    return format_datetime(datetime.fromtimestamp(NOW + seconds, UTC), usegmt=True)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": " 1.5 "}, 1.5),
        ({"retry-after": "7", "retry-after-ms": "250"}, 0.25),
        ({"retry-after": date(90)}, 90.0),
        ({"retry-after": date(-90)}, 0.0),
        ({"retry-after": date(90).replace("GMT", "-0000")}, 90.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": ""}, None),
        ({}, None),
    ],
)
def test_retry_after_is_read_as_seconds_or_as_a_date(headers: dict[str, str], seconds: float | None):
    assert seconds_asked(headers, lambda: NOW) == seconds


@given(st.text())
def test_no_retry_after_breaks_the_reading(text: str):
    found = seconds_asked({"retry-after": text}, lambda: NOW)
    assert found is None or found >= 0


@given(chance=st.floats(0, 1), backoff=st.floats(0, 5), asked=st.one_of(st.none(), st.floats(0, 100)))
def test_the_waits_of_a_call_fit_into_its_deadline(chance: float, backoff: float, asked: float | None):
    trip = Trip(Settings(deadline=60.0, attempts=50, backoff=backoff), lambda: chance)
    problem = BackendError("busy", retry=True, after=asked)
    while True:
        trip.attempts += 1
        trip.spent += 0.5
        wait = trip.next_wait(problem)
        if isinstance(wait, str):
            break
        assert wait >= (asked or 0.0)
        trip.spent += wait
        assert trip.spent < 60.001
    assert "busy" in wait


def test_waits_grow_and_are_jittered():
    trips = [Trip(Settings(backoff=1.0), lambda chance=chance: chance) for chance in (0.0, 0.999)]
    problem = BackendError("busy", retry=True)
    found = []
    for _ in range(3):
        for trip in trips:
            trip.attempts += 1
        found.append(tuple(trip.next_wait(problem) for trip in trips))
    assert [round(low, 1) for low, _ in found] == [0.5, 1.0, 2.0]
    assert [round(high, 1) for _, high in found] == [1.0, 2.0, 4.0]


def test_what_is_not_worth_a_retry_is_given_up_with_its_reason():
    trip = Trip(Settings())
    trip.attempts = 1
    assert trip.next_wait(BackendError("the request is too long", retry=False)) == "the request is too long"


def test_one_attempt_always_has_its_time():
    trip = Trip(Settings(timeout=900.0, deadline=300.0))
    assert (trip.timeout, trip.left, trip.deadline) == (900.0, 900.0, 900.0)
    assert Trip(Settings(timeout=60.0, deadline=300.0)).left == 300.0


def test_after_twenty_refusals_alike_no_more_calls_are_made_until_one_finds_out():
    now = 0.0
    breaker = Breaker(lambda: now)
    for _ in range(19):
        breaker.refused(403, "not in your region")
    breaker.succeeded()
    for _ in range(19):
        breaker.refused(403, "not in your region")
        breaker.answered()
    breaker.refused(400, "another reason")
    assert breaker.refusal is None, "another status is another reason"
    for _ in range(20):
        assert breaker.refusal is None
        breaker.refused(403, "not in your region")
    assert breaker.refusal == "not asked: the last 20 calls failed: not in your region"
    now = 61.0
    assert breaker.refusal is None, "one call finds out"
    assert breaker.refusal is not None, "and only one"
    breaker.succeeded()
    assert breaker.refusal is None


def test_a_server_that_hangs_is_left_after_two_calls_and_a_slow_one_is_not():
    breaker = Breaker(lambda: 0.0)
    for between in (breaker.answered, breaker.succeeded):
        breaker.unanswered("did not answer", silent=True)
        between()
        breaker.unanswered("did not answer", silent=True)
        assert breaker.refusal is None, "it answered in between"
        between()
    for _ in range(2):
        assert breaker.refusal is None
        breaker.unanswered("did not answer", silent=True)
    assert breaker.refusal is not None


def test_after_twenty_unanswered_calls_no_more_are_made_until_one_finds_out():
    now = 0.0
    breaker = Breaker(lambda: now)
    for _ in range(19):
        breaker.unanswered("no route")
    breaker.answered()
    for _ in range(20):
        assert breaker.refusal is None
        breaker.unanswered("no route")
    assert breaker.refusal == "not asked: the last 20 calls failed: no route"
    now = 61.0
    assert breaker.refusal is None, "one call finds out"
    assert breaker.refusal is not None, "and only one"
    breaker.answered()
    assert breaker.refusal is None
