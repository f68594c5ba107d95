from __future__ import annotations

import logging
import pickle
import traceback
from collections.abc import Callable

import pytest
from entrez_server import (
    Answering,
    Arrival,
    Behaviour,
    EntrezServer,
    bad_key,
    body,
    hang_up,
    page,
    status,
    too_many,
    truncated,
)

from vericite.corpus.entrez import Entrez
from vericite.corpus.entrez.service import entrez_key
from vericite.errors import EntrezAccessError, EntrezError

Client = Callable[..., Entrez]
KEY = "0123456789abcdef+/0123456789abcdef0123"


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NCBI_API_KEY", KEY)


def echo(answering: Answering, arrival: Arrival) -> None:
    answering.send(400, f'{{"error": "no such thing as {arrival.fields["api_key"]}"}}', "application/json", x_key=KEY)


FAILURES: dict[str, Behaviour] = {
    "key invalid": bad_key,
    "too many": too_many,
    "said back": echo,
    "said back in JSON that is cut": body(f'{{"esearchresult": {{"count": "{KEY}'),
    "said back as the count": body(f'{{"esearchresult": {{"count": "{KEY}"}}}}'),
    "said back in the title of a page": status(200, f"<html><title>{KEY}</title>", "text/html"),
    "in an address": page(502),
    "server error": status(500, KEY),
    "hung up": hang_up,
    "truncated": truncated,
}


def test_the_key_goes_in_the_body_and_nowhere_else(server: EntrezServer, client: Client):
    client().search("stroke[tiab]")
    (arrival,) = server.arrivals
    assert arrival.fields["api_key"] == KEY
    assert KEY not in arrival.path
    assert KEY not in repr(arrival.headers)


def test_without_a_key_none_is_sent(server: EntrezServer, client: Client, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("NCBI_API_KEY", "  ")
    client().search("stroke[tiab]")
    assert "api_key" not in server.arrivals[0].fields


@pytest.mark.parametrize("behaviour", FAILURES.values(), ids=FAILURES)
def test_no_error_traceback_or_log_contains_the_key(
    server: EntrezServer, client: Client, behaviour: Behaviour, caplog: pytest.LogCaptureFixture
):
    caplog.set_level(logging.DEBUG)
    server.script([behaviour] * 9)
    with pytest.raises(EntrezError) as caught:
        entrez = client(attempts=2)
        if behaviour is truncated:
            entrez.fetch(["101"])
        else:
            entrez.search("stroke[tiab]")
    told = "".join(traceback.TracebackException.from_exception(caught.value, capture_locals=True).format())
    assert "entrez" in caplog.text + told, "there is something to look at"
    for text in (str(caught.value), told, caplog.text, repr(entrez), repr(vars(entrez))):
        assert KEY not in text
        assert "0123456789abcdef%2B%2F" not in text
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None, "an error behind it would keep the request, and the key in it"


def test_a_key_has_no_readable_form_and_does_not_leave_the_process():
    key = entrez_key()
    assert KEY not in repr(key)
    assert key.form_value() == KEY
    with pytest.raises(TypeError, match="expected no key to leave the process"):
        pickle.dumps(key)


def test_an_impossible_key_is_refused_without_showing_it(client: Client, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("NCBI_API_KEY", "a key with blanks")
    with pytest.raises(EntrezAccessError, match="NCBI_API_KEY; found others") as caught:
        client()
    assert "blanks" not in str(caught.value)
