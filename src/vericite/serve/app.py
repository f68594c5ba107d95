"""The service over HTTP: routes, streams of events, and the turn-taking of requests."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from contextvars import copy_context
from dataclasses import dataclass
from typing import Any, TypeVar

from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse, PlainTextResponse, StreamingResponse

from vericite.errors import EntrezError, InputError, LLMError, MissingExtraError, VeriCiteError
from vericite.records import Record, Run, to_json
from vericite.serve import bodies, pages
from vericite.serve.engine import Stopped, Work, at_work
from vericite.serve.gate import Door, Gate, Metrics, Refused
from vericite.serve.jobs import Jobs, NoSuchJob
from vericite.serve.service import NoSuchRun, Service, Tell
from vericite.version import __version__

# pyright: reportUnusedFunction=false

_LOG = logging.getLogger(__name__)
_T = TypeVar("_T")


@dataclass
class Turns:
    """Requests at work in threads, so many at a time; some wait, and more are sent away."""

    running: int
    waiting: int
    seconds: float

    def __post_init__(self) -> None:
        self.pool = ThreadPoolExecutor(self.running, thread_name_prefix="request")
        self.taken = 0
        self.work: set[Work] = set()

    @asynccontextmanager
    async def turn(self) -> AsyncGenerator[Work]:
        """The work of a request; when this ends, whatever it still does is stopped."""
        if self.taken >= self.running + self.waiting:
            raise Refused(429, "expected fewer requests at a time; ask again later", {"retry-after": "2"})
        self.taken += 1
        work = Work(time.monotonic() + self.seconds)
        self.work.add(work)
        try:
            yield work
        finally:
            work.stop("the client went away")
            self.work.discard(work)
            self.taken -= 1

    def start(self, work: Work, call: Callable[[], _T]) -> asyncio.Future[_T]:
        """Do something in a thread, as part of a request."""

        def run() -> _T:
            with at_work(work):
                work.go_on()
                return call()

        return asyncio.get_running_loop().run_in_executor(self.pool, copy_context().run, run)


def make_app(service: Service, token: str | None = None, hosts: frozenset[str] = frozenset()) -> Gate:
    """The application, behind its gate.

    Args:
        service: What it serves.
        token: What every request must bring; None for none.
        hosts: The host names it answers to; empty for all.
    """
    limits = service.offer.limits
    turns, metrics, jobs = Turns(limits.running, limits.waiting, limits.seconds), Metrics(), Jobs(service)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncGenerator[None]:
        jobs.start()
        warming = asyncio.get_running_loop().run_in_executor(None, service.warm)
        warming.add_done_callback(lambda done: setattr(app.state, "ready", done.exception() is None))
        yield
        for work in list(turns.work):
            work.stop("the service is shutting down")
        await asyncio.to_thread(jobs.close)
        service.close()
        turns.pool.shutdown(wait=False, cancel_futures=True)

    app = FastAPI(title="VeriCite", version=__version__, docs_url=None, redoc_url=None, lifespan=lifespan)
    app.state.ready = False
    _add_errors(app)
    _add_calls(app, service, turns)
    _add_kept(app, service, jobs)
    _add_health(app, service, turns, metrics)
    return Gate(app, Door(hosts, token, limits), metrics)


def status_of(error: BaseException) -> int:
    """The status that an error is told with."""
    if isinstance(error, (NoSuchRun, NoSuchJob)):
        return 404
    if isinstance(error, InputError):
        return 422
    if isinstance(error, MissingExtraError):
        return 501
    if isinstance(error, (LLMError, EntrezError)):
        return 502
    return 504 if isinstance(error, Stopped) else 500


def told(error: BaseException) -> dict[str, Any]:
    """An error as it is told; of one that is not ours nothing but that it happened."""
    status = status_of(error)
    if isinstance(error, (VeriCiteError, Stopped)):
        message = str(error) or "out of time"
    else:
        _LOG.error("a request failed", exc_info=error)
        message = "the service failed; its log says why"
    return {"status": status, "message": message}


def _add_errors(app: FastAPI) -> None:
    @app.exception_handler(VeriCiteError)
    async def ours(_: Request, error: VeriCiteError) -> JSONResponse:
        return JSONResponse({"error": told(error)}, status_of(error))

    @app.exception_handler(Refused)
    async def refused(_: Request, error: Refused) -> JSONResponse:
        return JSONResponse({"error": {"status": error.status, "message": str(error)}}, error.status, error.headers)

    @app.exception_handler(404)
    async def absent(_: Request, __: Exception) -> JSONResponse:
        return JSONResponse({"error": {"status": 404, "message": "expected a path of /openapi.json"}}, 404)


def _schema(kind: type[Record]) -> dict[str, Any]:
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": kind.model_json_schema()}}}}


async def _answered(request: Request, turns: Turns, call: Callable[[Tell | None], Record]) -> Response:
    """What a call gives, as JSON; or, where the client wants that, as events while it is made."""
    if "text/event-stream" in request.headers.get("accept", ""):
        if turns.taken >= turns.running + turns.waiting:
            raise Refused(429, "expected fewer requests at a time; ask again later", {"retry-after": "2"})
        return StreamingResponse(_events(turns, call), media_type="text/event-stream")
    async with turns.turn() as work:
        found = turns.start(work, lambda: call(None))
        left = asyncio.create_task(_left(request, work))
        try:
            record = await asyncio.wait_for(asyncio.shield(found), turns.seconds + 1)
        except Stopped as stopped:
            return JSONResponse({"error": told(stopped)}, 504)
        except TimeoutError:
            work.stop("out of time")
            return JSONResponse({"error": {"status": 504, "message": "out of time"}}, 504)
        finally:
            left.cancel()
        return Response(to_json(record), media_type="application/json")


async def _left(request: Request, work: Work) -> None:
    """Stop the work of a client that goes away."""
    while True:
        if (await request.receive())["type"] == "http.disconnect":
            work.stop("the client went away")
            return


async def _events(turns: Turns, call: Callable[[Tell | None], Record]) -> AsyncIterator[str]:
    loop, queue = asyncio.get_running_loop(), asyncio.Queue[tuple[str, str] | None]()

    def put(name: str, data: str) -> None:
        # The loop may be gone, with everyone who listened.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(queue.put_nowait, (name, data))

    def run() -> None:
        try:
            record = call(lambda name, values: put(name, json.dumps(values, ensure_ascii=False)))
            put("done", to_json(record))
        except BaseException as error:  # whatever it was, the stream says so and ends
            put("error", json.dumps(told(error)))
        finally:
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(queue.put_nowait, None)

    async with turns.turn() as work:
        turns.start(work, run).add_done_callback(lambda done: done.cancelled() or done.exception())
        yield ": begun\n\n"
        while True:
            try:
                event = await asyncio.wait_for(queue.get(), 10)
            except TimeoutError:
                # So that whoever stands between does not take the stream for dead.
                yield ": waiting\n\n"
                if work.deadline is not None and time.monotonic() > work.deadline + 5:
                    yield 'event: error\ndata: {"status": 504, "message": "out of time"}\n\n'
                    return
                continue
            if event is None:
                return
            yield f"event: {event[0]}\ndata: {event[1]}\n\n"


def _add_calls(app: FastAPI, service: Service, turns: Turns) -> None:
    @app.post("/v1/ask", openapi_extra=_schema(bodies.AskBody))
    async def ask(request: Request) -> Response:
        """Answer a question and check every citation. With Accept: text/event-stream, step by step."""
        body = bodies.parsed(bodies.AskBody, await request.body())

        def call(tell: Tell | None) -> Run:
            run = service.ask(body, tell)
            kept = service.keep(run)
            if tell:
                tell("kept", {"run": kept})
            return run

        return await _answered(request, turns, call)

    @app.post("/v1/check", openapi_extra=_schema(bodies.AnswerBody))
    async def check(request: Request) -> Response:
        """Judge the citations of an answer. With Accept: text/event-stream, verdict by verdict."""
        body = bodies.parsed(bodies.AnswerBody, await request.body())
        return await _answered(request, turns, lambda tell: service.check(body, tell))

    @app.post("/v1/attribute", openapi_extra=_schema(bodies.AnswerBody))
    async def attribute(request: Request) -> Response:
        """Find the sources of an answer's sentences."""
        body = bodies.parsed(bodies.AnswerBody, await request.body())
        return await _answered(request, turns, lambda tell: service.attribute(body))

    @app.post("/v1/repair", openapi_extra=_schema(bodies.AnswerBody))
    async def repair(request: Request) -> Response:
        """Mend an answer's rejected citations."""
        body = bodies.parsed(bodies.AnswerBody, await request.body())
        return await _answered(request, turns, lambda tell: service.repair(body))

    @app.post("/v1/search", openapi_extra=_schema(bodies.SearchBody))
    async def search(request: Request) -> Response:
        """Find documents."""
        body = bodies.parsed(bodies.SearchBody, await request.body())
        return await _answered(request, turns, lambda tell: service.search(body))

    @app.post("/v1/documents")
    async def documents(request: Request, name: str = "document.txt") -> Response:
        """Read a file (PDF, DOCX, Markdown, text, XML and more), sent as the body; gives its documents."""
        content = await request.body()

        def read() -> Response:
            found, problems = service.documents_in(name, content)
            values = [json.loads(to_json(document)) for document in found]
            return JSONResponse({"documents": values, "problems": problems})

        async with turns.turn() as work:
            return await turns.start(work, read)


def _add_kept(app: FastAPI, service: Service, jobs: Jobs) -> None:
    @app.get("/v1/runs")
    async def runs() -> Response:
        """The latest runs."""
        return JSONResponse({"runs": await asyncio.to_thread(service.recent)})

    @app.get("/v1/runs/{id}")
    async def run(id: str) -> Response:
        """A run as it was answered with."""
        return Response(to_json(await asyncio.to_thread(service.kept, id)), media_type="application/json")

    @app.get("/v1/runs/{id}/report")
    async def report(id: str) -> Response:
        """A run as one HTML file."""
        html = await asyncio.to_thread(lambda: pages.report_of(service.kept(id)))
        name = f'attachment; filename="vericite-{id[:8]}.html"'
        return Response(html, media_type="text/html", headers={"content-disposition": name})

    @app.post("/v1/jobs", openapi_extra=_schema(bodies.JobBody), status_code=202)
    async def job(request: Request) -> Response:
        """Take many answers to check or questions to ask; they are on disk when this replies."""
        body = bodies.parsed(bodies.JobBody, await request.body())
        return JSONResponse({"id": await asyncio.to_thread(jobs.add, body)}, 202)

    @app.get("/v1/jobs/{id}")
    async def state(id: str) -> Response:
        """How far a job is."""
        return JSONResponse(await asyncio.to_thread(jobs.state, id))

    @app.get("/v1/jobs/{id}/results")
    async def results(id: str) -> Response:
        """The results of a job so far, as JSON Lines; ``item`` counts from 0."""
        lines = await asyncio.to_thread(lambda: "".join(jobs.results(id)))
        return Response(lines, media_type="application/x-ndjson")

    @app.delete("/v1/jobs/{id}", status_code=202)
    async def cancel(id: str) -> Response:
        """Do no more of a job."""
        await asyncio.to_thread(jobs.cancel, id)
        return JSONResponse({"id": id, "cancelled": True}, 202)


def _add_health(app: FastAPI, service: Service, turns: Turns, metrics: Metrics) -> None:
    @app.get("/healthz")
    async def health() -> Response:
        """Whether the process answers."""
        return JSONResponse({"status": "ok", "version": __version__})

    @app.get("/readyz")
    async def ready() -> Response:
        """Whether the models are loaded."""
        return JSONResponse({"ready": app.state.ready}, 200 if app.state.ready else 503)

    @app.get("/metrics")
    async def figures() -> Response:
        """Counts, in Prometheus's form."""
        lines = [
            f'vericite_requests_total{{path="{path}",status="{status}"}} {count}'
            for (path, status), count in sorted(metrics.requests.items())
        ]
        lines += [
            f'vericite_request_seconds_total{{path="{path}"}} {seconds:.3f}'
            for path, seconds in sorted(metrics.seconds.items())
        ]
        counts = service.judge.counts
        lines += [
            f"vericite_pairs_judged_total {counts.pairs}",
            f"vericite_batches_total {counts.batches}",
            f"vericite_shared_batches_total {counts.shared}",
            f"vericite_requests_in_flight {turns.taken}",
        ]
        return PlainTextResponse("\n".join(lines) + "\n")
