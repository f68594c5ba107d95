"""A chat completions service on loopback that does as it is told, well or badly."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from vericite.llm import Settings

FAST = Settings(cache=None, backoff=0.01, timeout=5.0, deadline=20.0)
"""For clients of this service: nobody waits for it."""


@dataclass(frozen=True)
class Arrival:
    at: float
    path: str
    headers: dict[str, str]
    body: dict[str, Any]

    @property
    def question(self) -> str:
        return self.body["messages"][-1]["content"]


Behaviour = Callable[["Answering", Arrival], None]


class Answering(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Replies go out at once, and not when the kernel thinks that they are worth a packet.
    disable_nagle_algorithm = True
    wbufsize = -1
    server: _Listening

    def do_POST(self) -> None:
        at = time.monotonic()
        content = self.rfile.read(int(self.headers.get("content-length", 0)))
        arrival = Arrival(
            at, self.path, {name.lower(): value for name, value in self.headers.items()}, json.loads(content)
        )
        with suppress(OSError):
            self.server.owner.answer(self, arrival)

    do_GET = do_POST

    def log_message(self, *_: object) -> None:
        pass

    def send(self, status: int, body: bytes | str, kind: str = "application/json", **headers: str) -> None:
        content = body.encode() if isinstance(body, str) else body
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(content)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(content)
        self.wfile.flush()

    def cut(self) -> None:
        self.wfile.flush()
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)

    def wait(self, seconds: float) -> None:
        self.server.owner.closing.wait(seconds)


class _Listening(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128
    owner: ScriptedServer

    def handle_error(self, *_: object) -> None:
        pass


class ScriptedServer:
    """Answers the n-th request by the n-th behaviour, and whatever comes after them by the default one."""

    def __init__(self) -> None:
        self.arrivals: list[Arrival] = []
        self.default: Behaviour = reply()
        self.closing = threading.Event()
        self.most_at_once = 0
        self._at_once = 0
        self._script: deque[Behaviour] = deque()
        self._lock = threading.Lock()
        self._http = _Listening(("127.0.0.1", 0), Answering)
        self._http.owner = self
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self._thread.start()

    def __enter__(self) -> ScriptedServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.closing.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    @property
    def port(self) -> int:
        return self._http.server_address[1]

    @property
    def spec(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1#small"

    @property
    def questions(self) -> list[str]:
        return [arrival.question for arrival in self.arrivals]

    def script(self, behaviours: Iterable[Behaviour]) -> None:
        self._script = deque(behaviours)

    def answer(self, answering: Answering, arrival: Arrival) -> None:
        with self._lock:
            self.arrivals.append(arrival)
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)
            behaviour = self._script.popleft() if self._script else self.default
        try:
            behaviour(answering, arrival)
        finally:
            with self._lock:
                self._at_once -= 1


USAGE = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}


def body_of(text: str | None, finish: str = "stop", usage: dict[str, Any] | None = USAGE) -> dict[str, Any]:
    message = {"role": "assistant", "content": text}
    body = {"id": "1", "object": "chat.completion", "created": 1, "model": "small"}
    choices = [{"index": 0, "finish_reason": finish, "message": message}]
    return body | {"choices": choices} | ({} if usage is None else {"usage": usage})


def events_of(pieces: Iterable[str], finish: str | None = "stop") -> list[str]:
    def event(choices: list[dict[str, Any]], **more: Any) -> str:
        chunk = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "small", "choices": choices}
        return f"data: {json.dumps(chunk | more)}\n\n"

    found = [event([{"index": 0, "delta": {"content": piece}, "finish_reason": None}]) for piece in pieces]
    if finish is not None:
        found += [
            event([{"index": 0, "delta": {}, "finish_reason": finish}]),
            event([], usage=USAGE),
            "data: [DONE]\n\n",
        ]
    return found


def reply(
    text: str | None = None, finish: str = "stop", usage: dict[str, Any] | None = USAGE, after: float = 0.0
) -> Behaviour:
    """The text, or the question back; streamed where that is asked for."""

    def behave(answering: Answering, arrival: Arrival) -> None:
        answering.wait(after)
        said = arrival.question if text is None else text
        if arrival.body.get("stream"):
            words = [word + " " for word in said.split(" ")]
            words[-1] = words[-1][:-1]
            stream(words, finish)(answering, arrival)
        else:
            answering.send(200, json.dumps(body_of(said, finish, usage)))

    return behave


def stream(pieces: Iterable[str], finish: str | None = "stop", pause: float = 0.0) -> Behaviour:
    """An event for each piece; without a finish the connection is cut after the last."""

    def behave(answering: Answering, _: Arrival) -> None:
        answering.send_response(200)
        answering.send_header("content-type", "text/event-stream")
        answering.send_header("transfer-encoding", "chunked")
        answering.end_headers()
        for event in events_of(pieces, finish):
            content = event.encode()
            answering.wfile.write(f"{len(content):x}\r\n".encode() + content + b"\r\n")
            answering.wfile.flush()
            answering.wait(pause)
        if finish is None:
            answering.cut()
        else:
            answering.wfile.write(b"0\r\n\r\n")

    return behave


def status(code: int, error: dict[str, Any] | str = "no", **headers: str) -> Behaviour:
    content = {"error": {"message": error, "code": None} if isinstance(error, str) else error}
    return lambda answering, _: answering.send(code, json.dumps(content), **headers)


def page(code: int = 200) -> Behaviour:
    return lambda answering, _: answering.send(code, "<!doctype html><p>Sign in</p>", "text/html")


def body(content: str | bytes) -> Behaviour:
    return lambda answering, _: answering.send(200, content)


def retry_at(seconds: float, code: int = 503) -> Behaviour:
    """Retry-After as a date, made when it is sent."""

    def behave(answering: Answering, arrival: Arrival) -> None:
        date = format_datetime(datetime.now(UTC) + timedelta(seconds=seconds), usegmt=True)
        status(code, **{"retry-after": date})(answering, arrival)

    return behave


def silence(answering: Answering, _: Arrival) -> None:
    """Accepts, reads, and never answers."""
    answering.wait(60)
    answering.close_connection = True


def dribble(answering: Answering, _: Arrival) -> None:
    """A byte now and then, of a reply that would take hours."""
    answering.send_response(200)
    answering.send_header("content-type", "application/json")
    answering.send_header("content-length", "100000")
    answering.end_headers()
    while not answering.server.owner.closing.is_set():
        answering.wfile.write(b" ")
        answering.wfile.flush()
        answering.wait(0.05)


def dribble_stream(answering: Answering, _: Arrival) -> None:
    """A stream that begins, and then sends comments that keep the connection alive and say nothing."""
    answering.send_response(200)
    answering.send_header("content-type", "text/event-stream")
    answering.send_header("transfer-encoding", "chunked")
    answering.end_headers()
    while not answering.server.owner.closing.is_set():
        answering.wfile.write(b"9\r\n: wait..\n\r\n")
        answering.wfile.flush()
        answering.wait(0.05)


def cut_body(answering: Answering, _: Arrival) -> None:
    """Half of a reply, and then the connection is gone."""
    content = json.dumps(body_of("half of it")).encode()
    answering.send_response(200)
    answering.send_header("content-type", "application/json")
    answering.send_header("content-length", str(len(content)))
    answering.end_headers()
    answering.wfile.write(content[:20])
    answering.cut()


def hang_up(answering: Answering, _: Arrival) -> None:
    """Reads the request and closes the connection."""
    answering.cut()


def echo_key(code: int = 200) -> Behaviour:
    """Says the key back, as some services do where they refuse it."""

    def behave(answering: Answering, arrival: Arrival) -> None:
        said = f"You sent {arrival.headers.get('authorization', '').removeprefix('Bearer ')}, thank you"
        if code == 200:
            reply(said)(answering, arrival)
        else:
            status(code, said)(answering, arrival)

    return behave
