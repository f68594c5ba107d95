from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable
from errno import ENETUNREACH

import httpx2
import pytest
from entrez_server import (
    Behaviour,
    EntrezServer,
    backend_failed,
    bad_key,
    body,
    busy,
    cut_body,
    dribble,
    hang,
    hang_up,
    page,
    serve,
    status,
    too_many,
    truncated,
)

from vericite.corpus.entrez import Entrez, EntrezSettings
from vericite.errors import EntrezAccessError, EntrezError, InputError

Client = Callable[..., Entrez]

PASSING: dict[str, Behaviour] = {
    "too many requests": too_many,
    "too many, said with success": body('{"error":"API rate limit exceeded","api-key":"203.0.113.7"}'),
    "500": status(500, "no"),
    "502": page(502),
    "503 with a page": page(503),
    "408": status(408),
    "a page in place of a reply": page(),
    "a page with a bad request": page(400),
    "a search backend that failed": backend_failed,
    "a connection closed without a reply": hang_up,
    "nothing": body(""),
}


@pytest.mark.parametrize("behaviour", PASSING.values(), ids=PASSING)
def test_temporary_failures_are_retried(server: EntrezServer, client: Client, behaviour: Behaviour):
    server.script([behaviour, behaviour])
    assert client().search("melatonin[tiab]").ids == ("104",)
    assert len(server.arrivals) == 3


@pytest.mark.parametrize("behaviour", [cut_body, truncated, page(), hang_up, status(500)])
def test_a_truncated_reply_never_becomes_a_record(server: EntrezServer, client: Client, behaviour: Behaviour):
    server.script([behaviour, behaviour])
    (record,) = client().fetch(["104"]).records
    assert record.document.text == "Melatonin shortened jet lag by 1 < 2 days & more."
    assert server.tools == ["efetch"] * 3


@pytest.mark.parametrize(
    ("behaviour", "said"),
    [
        (too_many, "HTTP 429"),
        (status(500), "HTTP 500"),
        (page(502), "HTTP 502: an HTML page titled 'NCBI - WWW Error Blocked Diagnostic'"),
        (page(), "an HTML page"),
        (hang_up, "the connection failed"),
        (truncated, "expected XML"),
        (cut_body, "the connection failed"),
    ],
)
def test_a_lasting_failure_is_an_error_after_the_last_attempt(
    server: EntrezServer, client: Client, behaviour: Behaviour, said: str
):
    server.script([behaviour] * 9)
    with pytest.raises(EntrezError) as caught:
        client().fetch(["101"])
    assert said in str(caught.value)
    assert "in 4 attempts" in str(caught.value)
    assert len(server.arrivals) == 4
    assert not isinstance(caught.value, EntrezAccessError)


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Names are not found; the names that were asked for."""
    asked: list[object] = []

    def fail(host: object, *_: object, **__: object) -> None:
        asked.append(host)
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", fail)
    return asked


def test_without_a_network_the_first_attempt_is_the_last(no_network: list[object]):
    settings = EntrezSettings(base_url="https://eutils.invalid/entrez/", cache=None, attempts=5, backoff=30)
    with Entrez(settings) as entrez, pytest.raises(EntrezAccessError) as caught:
        entrez.search("stroke[tiab]")
    said = str(caught.value)
    assert len(no_network) == 1
    assert said.startswith("expected to reach NCBI at https://eutils.invalid/entrez/; found the connection failed")
    assert "Name or service not known" in said
    assert "--offline" in said
    assert "later" not in said


def test_a_network_that_goes_away_is_tried_again(server: EntrezServer, client: Client, monkeypatch: pytest.MonkeyPatch):
    entrez = client()
    entrez.search("melatonin[tiab]")
    sent = entrez._service._send

    def failing(*arguments: object) -> object:
        if (trouble := troubles.pop() if troubles else None) is not None:
            raise httpx2.ConnectError("no route") from trouble
        return sent(*arguments)

    monkeypatch.setattr(entrez._service, "_send", failing)
    troubles = [OSError(ENETUNREACH, "Network is unreachable")] * 2
    assert entrez.search("stroke[tiab]").ids
    troubles = [OSError(ENETUNREACH, "Network is unreachable")] * 9
    with pytest.raises(EntrezError, match="in 4 attempts; found the connection failed") as caught:
        entrez.search("aspirin[tiab]")
    assert not isinstance(caught.value, EntrezAccessError)


@pytest.mark.parametrize("behaviour", [status(404), status(400, '{"error":"Invalid db name specified: x"}')])
def test_permanent_errors_are_not_retried(server: EntrezServer, client: Client, behaviour: Behaviour):
    server.script([behaviour])
    with pytest.raises(EntrezError, match=r"found HTTP 40\d"):
        client().search("stroke[tiab]")
    assert len(server.arrivals) == 1


@pytest.mark.parametrize("behaviour", [hang, dribble])
def test_every_attempt_ends_within_its_timeout(server: EntrezServer, client: Client, behaviour: Behaviour):
    server.script([behaviour, behaviour])
    begun = time.monotonic()
    with pytest.raises(EntrezError, match=r"in 2 attempts; found no (whole )?reply in"):
        client(timeout=0.2, attempts=2).search("stroke[tiab]")
    assert 0.4 <= time.monotonic() - begun < 20


def test_a_reply_that_hangs_once_is_asked_for_again(server: EntrezServer, client: Client):
    server.script([hang])
    assert client(timeout=0.3).search("melatonin[tiab]").ids == ("104",)


def test_an_unreachable_server_is_an_error_that_names_the_address():
    with EntrezServer() as gone:
        url = gone.url
    with Entrez(EntrezSettings(base_url=url, requests_per_second=1000, backoff=0, attempts=2, cache=None)) as entrez:
        with pytest.raises(EntrezError, match=r"ConnectError.*Try again later") as caught:
            entrez.search("stroke[tiab]")
    assert url in str(caught.value)


def test_all_clients_wait_as_long_as_the_service_asks(server: EntrezServer, client: Client):
    server.script([busy("1")])
    one, other = client(backoff=0), client()
    asking = threading.Thread(target=lambda: one.search("melatonin[tiab]"))
    asking.start()
    while not server.arrivals:
        time.sleep(0.01)
    time.sleep(0.2)
    other.search("stroke[tiab]")
    asking.join()
    first, *later = (arrival.at for arrival in server.arrivals)
    assert len(later) == 2
    assert min(later) - first >= 0.95


def test_an_error_does_not_contain_the_email_address(server: EntrezServer, client: Client):
    server.script([too_many] * 2)
    with pytest.raises(EntrezError, match="HTTP 429") as caught:
        client(attempts=2).search("melatonin[tiab]")
    assert "203.0.113.7" not in str(caught.value)


def test_too_long_a_wait_is_an_immediate_error_that_names_it(server: EntrezServer, client: Client):
    server.script([busy("3600")])
    begun = time.monotonic()
    with pytest.raises(EntrezError, match="request to wait 3600 s"):
        client(patience=5).search("melatonin[tiab]")
    assert time.monotonic() - begun < 20


def test_each_wait_is_longer_than_the_one_before(server: EntrezServer, client: Client):
    server.script([status(500)] * 3)
    client(backoff=0.1).search("melatonin[tiab]")
    first, second, third = (
        later.at - earlier.at for earlier, later in zip(server.arrivals, server.arrivals[1:], strict=False)
    )
    assert first >= 0.05
    assert second >= 0.1
    assert third >= 0.2


def test_a_refused_key_is_reported_once_by_the_name_of_its_variable(
    server: EntrezServer, client: Client, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("NCBI_API_KEY", "0123456789abcdef0123456789abcdef0123")
    server.script([bad_key] * 9)
    with pytest.raises(EntrezAccessError, match=r"API key invalid\. Correct NCBI_API_KEY or unset it"):
        client().search("stroke[tiab]")
    assert len(server.arrivals) == 1


@pytest.mark.parametrize("code", [401, 403, 407])
def test_a_refused_network_is_reported_at_once(server: EntrezServer, client: Client, code: int):
    server.script([page(code)])
    with pytest.raises(EntrezAccessError, match=r"Ask from another network"):
        client().search("stroke[tiab]")
    assert len(server.arrivals) == 1


def test_a_redirection_is_not_followed(server: EntrezServer, client: Client):
    server.script([lambda answering, _: answering.send(302, "", "text/plain", location="http://127.0.0.1:9/")])
    with pytest.raises(EntrezError, match="HTTP 302"):
        client().search("stroke[tiab]")


@pytest.mark.parametrize("said", ["1", "yes", "true"])
def test_offline_nothing_is_sent_and_the_error_says_why(
    server: EntrezServer, client: Client, monkeypatch: pytest.MonkeyPatch, said: str
):
    entrez = client()
    monkeypatch.setenv("VERICITE_OFFLINE", said)
    for ask in (lambda: entrez.search("stroke[tiab]"), lambda: entrez.fetch(["101"]), lambda: entrez.summaries(["1"])):
        with pytest.raises(EntrezAccessError, match="--offline or VERICITE_OFFLINE set"):
            ask()
    assert not server.arrivals


def test_the_transport_is_an_argument():
    def answer(request: httpx2.Request) -> httpx2.Response:
        assert request.url == "https://eutils.ncbi.nlm.nih.gov/entrez/eutils/esearch.fcgi"
        return httpx2.Response(200, json={"esearchresult": {"count": "1", "idlist": ["7"]}})

    with Entrez(EntrezSettings(cache=None), transport=httpx2.MockTransport(answer)) as entrez:
        assert entrez.search("x").ids == ("7",)


def test_every_failure_in_turn_is_survived(server: EntrezServer, client: Client):
    server.script([too_many, status(500), cut_body, page(502), truncated, hang_up, serve])
    assert len(client(attempts=7).fetch(["101", "102"]).records) == 2


@pytest.mark.parametrize(
    "settings",
    [
        {"attempts": 0},
        {"timeout": 0.0},
        {"timeout": float("nan")},
        {"requests_per_second": 0.0},
        {"requests_per_second": -1.0},
        {"backoff": -1.0},
        {"patience": float("inf")},
        {"base_url": ""},
        {"base_url": "ftp://example.org/"},
        {"base_url": "https://user:secret@example.org/"},
        {"base_url": "https://example.org/?api_key=secret"},
        {"base_url": "http://example.org/eutils/"},
        {"base_url": "http://[::1"},
    ],
    ids=str,
)
def test_invalid_settings_are_refused_without_showing_secrets(settings: dict[str, object]):
    with pytest.raises(InputError, match="expected") as caught:
        EntrezSettings(**settings)
    assert "secret" not in str(caught.value)


def test_an_address_is_the_same_with_and_without_its_last_slash():
    assert EntrezSettings(base_url="https://Example.org/eutils").base_url == "https://example.org/eutils/"
