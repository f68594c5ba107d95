from __future__ import annotations

import asyncio

from hypothesis import given, settings
from hypothesis import strategies as st

from vericite.network.pacing import Limiter, Pace, PacedTurn


class SimulatedClock:
    """Time that passes by sleeping only, and now and then a little more than was asked for."""

    def __init__(self, overshoots: list[float]) -> None:
        self.now = 1000.0
        self._overshoots = overshoots

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.now += seconds + (self._overshoots.pop() if self._overshoots else 0.0)


def fullest_window(times: list[float], minute: float) -> int:
    return max(sum(start <= time < start + minute for time in times) for start in times)


@settings(max_examples=60, deadline=None)
@given(
    limit=st.integers(1, 40),
    gaps=st.lists(st.floats(0, 20), min_size=1, max_size=90),
    overshoots=st.lists(st.floats(0, 8), max_size=20),
)
def test_no_window_of_a_minute_holds_more_than_the_limit_however_the_machine_is_held_up(
    limit: int, gaps: list[float], overshoots: list[float]
):
    clock = SimulatedClock(overshoots)
    limiter = Limiter(Pace(limit, None, 60.0), clock, clock.sleep)

    async def go() -> list[float]:
        times = []
        for gap in gaps:
            clock.now += gap if gap > 10 else 0.0
            slot = await limiter.slot(1, 1e9)
            assert isinstance(slot, PacedTurn)
            times.append(slot.at)
        return times

    assert fullest_window(asyncio.run(go()), 60.0) <= limit


@settings(max_examples=60, deadline=None)
@given(
    limit=st.integers(10, 200),
    calls=st.lists(st.tuples(st.integers(1, 260), st.floats(0.1, 1.0)), min_size=1, max_size=60),
)
def test_no_minute_has_more_tokens_than_the_limit_except_a_single_request(limit: int, calls: list[tuple[int, float]]):
    clock = SimulatedClock([])
    limiter = Limiter(Pace(None, limit, 60.0), clock, clock.sleep)

    async def go() -> list[tuple[float, int]]:
        taken: list[tuple[float, int]] = []
        for tokens, part in calls:
            clock.now += 1.0
            slot = await limiter.slot(tokens, 1e9)
            assert isinstance(slot, PacedTurn)
            slot.tokens = int(tokens * part)  # what it really took is never more than was set aside
            taken.append((slot.at, slot.tokens))
        return taken

    taken = asyncio.run(go())
    for start, _ in taken:
        window = [tokens for at, tokens in taken if start <= at < start + 60.0]
        assert sum(window) <= limit or len(window) == 1


def test_evenly_paced_and_no_slower_than_need_be():
    clock = SimulatedClock([])
    limiter = Limiter(Pace(60, None, 60.0), clock, clock.sleep)

    async def go() -> list[float]:
        return [(await limiter.slot(1, 1e9)).at for _ in range(61)]  # pyright: ignore

    times = asyncio.run(go())
    assert 60.0 < times[-1] - times[0] < 61.1


def test_a_pause_applies_to_all_calls_and_fails_those_with_a_shorter_deadline():
    clock = SimulatedClock([])
    limiter = Limiter(Pace(None, None, 60.0), clock, clock.sleep)
    limiter.pause(30.0)

    async def go() -> tuple[PacedTurn | float, PacedTurn | float]:
        return await limiter.slot(1, patience=10.0), await limiter.slot(1, patience=31.0)

    impatient, patient = asyncio.run(go())
    assert impatient == 30.0
    assert isinstance(patient, PacedTurn) and patient.at >= 1030.0


def test_a_pause_that_begins_while_others_wait_holds_for_them_too():
    clock = SimulatedClock([])
    pace = Pace(6, None, 60.0)
    limiter = Limiter(pace, clock, clock.sleep)

    async def go() -> float:
        await limiter.slot(1, 1e9)
        original = clock.sleep

        async def sleep_and_pause(seconds: float) -> None:
            limiter.pause(100.0)
            limiter._sleep = original
            await original(seconds)

        limiter._sleep = sleep_and_pause
        slot = await limiter.slot(1, 1e9)
        assert isinstance(slot, PacedTurn)
        return slot.at

    assert asyncio.run(go()) >= 1100.0


def test_a_wild_pause_ends_within_the_hour():
    pace = Pace(None, None, 60.0)
    pace.pause(0.0, 1.7e9)
    assert pace.wait(3601.0, 1) == 0.0
