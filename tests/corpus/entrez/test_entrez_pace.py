from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from entrez_server import Article, EntrezServer
from hypothesis import given
from hypothesis import strategies as st

from vericite.corpus.entrez import Entrez, EntrezSettings, Fetched
from vericite.network.pacing import Turnstile, turnstile_of

THREADS = 20


class Clock:
    """Time that passes when somebody sleeps, and a little at every look."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


def most_in_a_second(times: list[float]) -> int:
    return max(sum(start <= at < start + 1 for at in times) for start in times)


@given(st.integers(1, 20), st.lists(st.floats(0, 2), max_size=60))
def test_no_second_holds_more_than_the_limit_whenever_they_come(limit: int, gaps: list[float]):
    clock = Clock()
    turnstile = Turnstile(clock, clock.sleep)
    times = [turnstile.enter(limit)]
    for gap in gaps:
        clock.now += gap
        times.append(turnstile.enter(limit))
    assert most_in_a_second(times) <= limit


@given(st.lists(st.sampled_from([3, 10]), min_size=1, max_size=60))
def test_clients_of_two_rates_are_together_no_faster_than_the_faster(rates: list[int]):
    clock = Clock()
    turnstile = Turnstile(clock, clock.sleep)
    times = [(rate, turnstile.enter(rate)) for rate in rates]
    assert most_in_a_second([at for _, at in times]) <= max(rates)
    slow = [at for rate, at in times if rate == 3]
    assert not slow or most_in_a_second(slow) <= 3


def test_a_pause_applies_to_all_clients_and_a_shorter_pause_does_not_end_it():
    clock = Clock()
    turnstile = Turnstile(clock, clock.sleep)
    turnstile.pause(5)
    turnstile.pause(1)
    assert turnstile.enter(10) >= 105


def test_clients_of_one_address_share_a_turnstile_and_others_do_not():
    assert turnstile_of("https://a.example/") is turnstile_of("https://a.example/")
    assert turnstile_of("https://a.example/") is not turnstile_of("https://b.example/")


@pytest.mark.parametrize(("key", "rate"), [("", 3.0), (" ", 3.0), ("0123456789abcdef", 10.0)])
def test_the_rate_is_what_ncbi_allows(key: str, rate: float, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("NCBI_API_KEY", key)
    rates: list[float] = []
    monkeypatch.setattr(Turnstile, "enter", lambda _, per_second: rates.append(per_second))
    with EntrezServer([Article("1", "Salt.")]) as server, Entrez(settings_of(server, None)) as entrez:
        entrez.search("salt[tiab]")
    assert rates == [rate]


def settings_of(server: EntrezServer, rate: float | None) -> EntrezSettings:
    return EntrezSettings(base_url=server.url, requests_per_second=rate, cache=None)


def ask_at_once(server: EntrezServer, rate: float | None, calls: int) -> tuple[list[Fetched], float]:
    """Two clients, twenty threads, each call a search and its records; and how long it took."""
    begun = time.monotonic()
    with Entrez(settings_of(server, rate)) as one, Entrez(settings_of(server, rate)) as other:

        def ask(number: int) -> Fetched:
            entrez = (one, other)[number % 2]
            return entrez.fetch(entrez.search(f"word{number}[tiab] AND hasabstract").ids)

        with ThreadPoolExecutor(THREADS) as pool:
            return list(pool.map(ask, range(calls))), time.monotonic() - begun


def assert_all_right(server: EntrezServer, found: list[Fetched], limit: int) -> None:
    assert [[record.pmid for record in fetched.records] for fetched in found] == [
        [str(1000 + number)] for number in range(len(found))
    ]
    assert server.refused == 0
    assert server.most_in_a_second <= limit


def articles(calls: int) -> list[Article]:
    return [Article(str(1000 + number), f"About word{number}.") for number in range(calls)]


def test_twenty_threads_at_once_stay_within_the_limit_and_get_all_right():
    with EntrezServer(articles(30), per_second=50) as server:
        found, seconds = ask_at_once(server, 50, 30)
    assert_all_right(server, found, 50)
    assert seconds >= 59 / 50, "sixty requests cannot have come sooner"


def test_requests_refused_for_being_too_fast_are_retried_successfully():
    """The server's limit is a fifth of what the clients believe: every answer comes, later."""
    with EntrezServer(articles(10), per_second=20) as server:
        settings = EntrezSettings(base_url=server.url, requests_per_second=100, backoff=0.3, attempts=12, cache=None)
        with Entrez(settings) as entrez, ThreadPoolExecutor(THREADS) as pool:
            queries = [f"word{number}[tiab]" for number in range(10)] * 4
            found = list(pool.map(entrez.search, queries))
    assert server.refused > 0
    assert [result.ids for result in found] == [(str(1000 + number),) for number in range(10)] * 4


@pytest.mark.slow
def test_twenty_threads_at_once_stay_within_the_limit_without_a_key():
    with EntrezServer(articles(THREADS), per_second=3) as server:
        found, seconds = ask_at_once(server, None, THREADS)
    assert_all_right(server, found, 3)
    assert seconds >= 39 / 3
