"""A model's sentences reach the client while it still writes."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

# The service on loopback is at home with the client's own tests.
sys.path.append(str(Path(__file__).resolve().parents[1] / "llm"))

import server as scripted

pytest.importorskip("fastapi", reason="needs the extra [serve]")

ANSWER = "Aspirin lowers the risk [1]. It also bleeds [2]. That is all [1]."
WRITTEN = f"<think>What do they say? It is hard.</think>{ANSWER}"
PLAN = {"search": {"rerank": "none"}}
QUESTION = {"question": "Does aspirin prevent heart attacks?", "model": "m", "plan": PLAN}


@pytest.fixture(scope="module")
def model() -> Iterator[scripted.ScriptedServer]:
    with scripted.ScriptedServer() as running:
        yield running


@pytest.fixture(scope="module")
def server(shared, model: scripted.ScriptedServer):
    """A server that may ask the model."""
    return shared("--llm", f"m={model.spec}")


def test_sentences_come_while_the_model_writes_and_the_answer_is_the_whole(server, model: scripted.ScriptedServer):
    model.default = scripted.stream([word + " " for word in WRITTEN.split(" ")], pause=0.05)
    times: list[tuple[float, str, dict]] = []
    headers = {"accept": "text/event-stream"}
    with httpx2.stream("POST", f"{server.address}/v1/ask", json=QUESTION, headers=headers, timeout=60) as reply:
        name = ""
        for line in reply.iter_lines():
            if line.startswith("event: "):
                name = line[7:]
            elif line.startswith("data: "):
                times.append((time.monotonic(), name, json.loads(line[6:])))
    drafts = [(at, it["text"]) for at, name, it in times if name == "sentence" and it.get("draft")]
    assert [text for _, text in drafts] == ["Aspirin lowers the risk [1].", "It also bleeds [2]."]
    whole = next(at for at, name, _ in times if name == "answer")
    assert whole - drafts[0][0] > 0.25, "the first came while the rest was not yet written"
    assert times[-1][1] == "done"
    assert times[-1][2]["answer"]["text"] == ANSWER
    assert times[-1][2]["answer"]["spent"]["calls"] == 1


def test_a_model_is_cancelled_soon_after_the_client_disconnects(server, model: scripted.ScriptedServer):
    written: list[float] = []

    def write(answering: scripted.Answering, arrival: scripted.Arrival) -> None:
        answering.send_response(200)
        answering.send_header("content-type", "text/event-stream")
        answering.end_headers()
        for event in scripted.events_of(["It helps [1]. "] * 600):
            answering.wfile.write(event.encode())
            answering.wfile.flush()
            written.append(time.monotonic())
            answering.wait(0.1)

    model.default = write
    headers = {"accept": "text/event-stream"}
    with httpx2.stream(
        "POST",
        f"{server.address}/v1/ask",
        json={**QUESTION, "question": "Do statins cause muscle pain?"},
        headers=headers,
        timeout=60,
    ) as reply:
        next(line for line in reply.iter_lines() if '"draft": true' in line)
    # Half a minute before the model would have been done; about 1 s on a machine that has nothing else to do.
    end = time.monotonic() + 30
    while "vericite_requests_in_flight 0" not in server.get("/metrics").text:
        assert time.monotonic() < end
        time.sleep(0.05)
    taken = -1
    while taken != len(written):
        assert time.monotonic() < end
        taken = len(written)
        time.sleep(0.3)
    assert taken < 600, "nothing more is taken from the model"
