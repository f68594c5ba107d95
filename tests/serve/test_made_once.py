"""What requests share: made once, while other keys do not wait; searches with filters share the corpus."""

from __future__ import annotations

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from vericite.serve.made_once import MadeOnce


def test_a_value_is_made_once_and_other_keys_do_not_wait():
    made: list[str] = []
    begun, go_on = threading.Event(), threading.Event()

    def make(key: str) -> object:
        made.append(key)
        if key == "slow":
            begun.set()
            assert go_on.wait(60)
        return object()

    shared = MadeOnce(make, 2)
    with ThreadPoolExecutor(4) as pool:
        slow = [pool.submit(shared, "slow") for _ in range(3)]
        assert begun.wait(60)
        shared("other")
        assert not any(each.done() for each in slow)
        go_on.set()
        assert len({id(each.result(60)) for each in slow}) == 1
    assert made == ["slow", "other"]
    for key in ("other", "third", "other", "slow"):
        shared(key)
    assert made == ["slow", "other", "third", "slow"], "the two used last are kept"


def test_what_cannot_be_made_is_tried_again():
    left = [ValueError("first"), ValueError("second")]

    def make(key: int) -> int:
        if left:
            raise left.pop(0)
        return key

    shared = MadeOnce(make, 1)
    for message in ("first", "second"):
        with pytest.raises(ValueError, match=message):
            shared(3)
    assert shared(3) == 3


def test_filters_of_requests_read_no_file_again_and_push_out_no_usual_search(tmp_path: Path):
    from vericite.pipeline.plan import Plan, SearchPlan
    from vericite.records import Question
    from vericite.serve.offer import Offer
    from vericite.serve.service import Service, state_folder

    corpus = tmp_path / "corpus.jsonl"
    rows = [{"id": f"d{year}", "text": f"Zinc helps colds, {year}.", "year": year} for year in range(1970, 2020)]
    corpus.write_text("".join(json.dumps(row) + "\n" for row in rows))
    service = Service(Offer(), state_folder(tmp_path / "state"))

    def plan(**filters: int) -> Plan:
        return Plan(search=SearchPlan(corpus=str(corpus), by="bm25", rerank="none").model_copy(update=filters))

    try:
        usual = service.pipeline(plan())
        corpus.unlink()
        for year in range(1970, 2020):
            found = service.pipeline(plan(year_from=year)).search.find(Question(id="q", text="zinc"), 100).evidence
            assert {hit.document.year for hit in found} == set(range(year, 2020))
        assert service.pipeline(plan()) is usual
    finally:
        service.close()
