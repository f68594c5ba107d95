"""Files that are sent: no more of one is read than its request may have, or somebody waits for."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="needs the extra [serve]")

from vericite.errors import InputError
from vericite.serve.engine import Stopped, Work, at_work
from vericite.serve.service import Limits, Offer, Service, state_folder

ENTRIES = 3_000
MANY = "\n".join(json.dumps({"id": f"d{n}", "text": "Words of it."}) for n in range(ENTRIES)).encode()


class Counted(Work):
    """Work that counts how often it looked, and is left after so many times."""

    looked = 0
    most = 10**9

    def go_on(self) -> None:
        self.looked += 1
        if self.looked > self.most:
            self.stop("the client went away")
        super().go_on()


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    made = Service(Offer(limits=Limits(characters=1_200)), state_folder(tmp_path))
    yield made
    made.close()


def test_reading_ends_when_its_client_goes_away(service: Service):
    work = Counted()
    work.most = 50
    with at_work(work), pytest.raises(Stopped, match="went away"):
        service.documents_in("a.jsonl", MANY)
    assert work.looked == 51


def test_reading_ends_at_the_most_characters(service: Service):
    work = Counted()
    with at_work(work), pytest.raises(InputError, match=r"at most 1,200 characters.* found more in a\.jsonl"):
        service.documents_in("a.jsonl", MANY)
    assert work.looked < 150
