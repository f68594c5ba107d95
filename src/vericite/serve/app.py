"""HTTP routes of the service, for programs and for the web page."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, PlainTextResponse, StreamingResponse
from starlette.exceptions import HTTPException

from vericite.attribution.attributor import Attribution
from vericite.errors import VeriCiteError
from vericite.records import Record, Run, to_json
from vericite.serve import bodies, pages
from vericite.serve.engine import OUT_OF_TIME, Stopped, Work
from vericite.serve.gate import FrontGate, GateSettings, Metrics, Refused
from vericite.serve.jobs import Jobs, JobState
from vericite.serve.memory import MemoryTrimmer
from vericite.serve.openapi import Reply, calculation, complete_openapi, operation
from vericite.serve.run_store import NoSuchRun, RunsFound, StoredRun
from vericite.serve.service import Emit, Service
from vericite.serve.streams import PATIENCE, Stream, Streams, Turns, error_body, status_of
from vericite.version import __version__

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer

# pyright: reportUnusedFunction=false

_Made = TypeVar("_Made", bound=Record)


def make_app(service: Service, token: str | None = None, hosts: frozenset[str] = frozenset()) -> FrontGate:
    """Build the application, wrapped in its gate.

    Args:
        service: The service behind the routes.
        token: Token that every request must send (None: no token).
        hosts: Host names to answer to (empty: all).
    """
    limits = service.offer.limits
    turns, metrics, trimmer = Turns(limits.running, limits.waiting, limits.seconds), Metrics(), MemoryTrimmer()
    streams, jobs = Streams(turns), Jobs(service, trimmer.request)
    responder = _Responder(turns, streams)

    tools = _tools(service, turns)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncGenerator[None]:
        jobs.start()
        trimmer.start()
        warming = asyncio.get_running_loop().run_in_executor(None, service.warm)
        warming.add_done_callback(lambda done: setattr(app.state, "ready", done.exception() is None))
        async with tools.session_manager.run() if tools is not None else nullcontext():
            yield
        for work in list(turns.work):
            work.stop("the service is shutting down")
        await asyncio.to_thread(jobs.close)
        trimmer.close()
        service.close()
        turns.pool.shutdown(wait=False, cancel_futures=True)

    app = FastAPI(title="VeriCite", version=__version__, docs_url=None, redoc_url=None, lifespan=lifespan)
    app.state.ready = False
    _add_errors(app)
    _add_calls(app, service, responder)
    _add_documents(app, service, turns)
    _add_streams(app, streams)
    _add_pages(app, service)
    _add_runs(app, service, responder)
    _add_jobs(app, jobs)
    _add_health(app, service, turns, metrics)
    _add_openapi(app)
    if tools is not None:
        from vericite.serve.mcp import routes_of

        app.router.routes.extend(routes_of(tools, limits.body))
    return FrontGate(app, GateSettings(hosts, token, limits), metrics, trimmer)


def _tools(service: Service, turns: Turns) -> MCPServer[Any] | None:
    """Return the MCP tools, or None if the MCP SDK is not installed."""
    try:
        from vericite.serve.mcp import make_tools
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("mcp", "mcp_types"):
            raise
        return None
    return make_tools(service, turns)


def _add_errors(app: FastAPI) -> None:
    @app.exception_handler(VeriCiteError)
    async def ours(_: Request, error: VeriCiteError) -> JSONResponse:
        return JSONResponse({"error": error_body(error)}, status_of(error))

    @app.exception_handler(Refused)
    async def refused(_: Request, error: Refused) -> JSONResponse:
        return JSONResponse({"error": {"status": error.status, "message": str(error)}}, error.status, error.headers)

    @app.exception_handler(HTTPException)
    async def absent(request: Request, error: HTTPException) -> JSONResponse:
        if error.status_code == 405:
            message = f"expected a method listed for this path in /openapi.json; found {request.method}"
        else:
            message = "expected a path listed in /openapi.json" if error.status_code == 404 else str(error.detail)
        return JSONResponse(
            {"error": {"status": error.status_code, "message": message}}, error.status_code, error.headers
        )

    @app.exception_handler(Exception)
    async def unknown(_: Request, error: Exception) -> JSONResponse:
        # The error is raised again, and the gate logs it.
        return JSONResponse({"error": {"status": 500, "message": "the service failed; its log says why"}}, 500)

    @app.exception_handler(RequestValidationError)
    async def invalid(_: Request, error: RequestValidationError) -> JSONResponse:
        first: dict[str, Any] = error.errors()[0]
        message = f"expected {'.'.join(map(str, first['loc']))} as defined in /openapi.json; {first['msg']}"
        return JSONResponse({"error": {"status": 422, "message": message}}, 422)


def _add_openapi(app: FastAPI) -> None:
    generate = app.openapi
    cached: list[dict[str, Any]] = []

    def openapi() -> dict[str, Any]:
        if not cached:
            cached.append(complete_openapi(generate()))
        return cached[0]

    app.openapi = openapi


@dataclass(frozen=True)
class _Responder:
    """Answers requests: directly, as events, or as a stream that a client can reconnect to."""

    turns: Turns
    streams: Streams

    async def answer(
        self, request: Request, call: Callable[[Emit | None], _Made], brief: Callable[[_Made], str] | None = None
    ) -> Response:
        """Run a call and respond with its result.

        Args:
            request: The client's request.
            call: The work to do; it reports progress to its argument.
            brief: Makes the last event of a stream, in place of the full record.
        """
        last: Callable[[_Made], str] = brief or to_json
        if "respond-async" in request.headers.get("prefer", ""):
            stream = self.streams.begin(lambda emit: last(call(emit)), PATIENCE)
            return JSONResponse({"stream": stream.id}, 202)
        if "text/event-stream" in request.headers.get("accept", ""):
            return _events(self.streams.begin(lambda emit: last(call(emit))))
        return await _respond(request, self.turns, lambda: Response(to_json(call(None)), media_type="application/json"))


async def _respond(request: Request, turns: Turns, call: Callable[[], Response]) -> Response:
    """Run a call when its turn comes, within its time limit; stop it if the client disconnects."""
    async with turns.turn() as work:
        response = turns.start(work, call)
        watching = asyncio.create_task(_watch_disconnect(request, work))
        try:
            return await asyncio.wait_for(asyncio.shield(response), turns.seconds + 1)
        except Stopped as stopped:
            return JSONResponse({"error": error_body(stopped)}, 504)
        except TimeoutError:
            work.stop(OUT_OF_TIME)
            return JSONResponse({"error": {"status": 504, "message": OUT_OF_TIME}}, 504)
        finally:
            watching.cancel()


async def _watch_disconnect(request: Request, work: Work) -> None:
    """Stop the work if the client disconnects."""
    while True:
        if (await request.receive())["type"] == "http.disconnect":
            work.stop("the client disconnected")
            return


def _events(stream: Stream, after: int = 0) -> Response:
    return StreamingResponse(stream.read(after), media_type="text/event-stream")


async def _read_body(kind: type[_Made], request: Request) -> _Made:
    """Parse the body of a request, in a thread so that a large one does not block other requests."""
    return await asyncio.to_thread(bodies.parse_body, kind, await request.body())


def _add_calls(app: FastAPI, service: Service, responder: _Responder) -> None:
    @app.post("/v1/ask", openapi_extra=calculation(Run, bodies.AskBody))
    async def ask(request: Request, view: bool = False) -> Response:
        """Answer a question and check every citation. With Accept: text/event-stream, step by step."""
        body = await _read_body(bodies.AskBody, request)
        kept: list[str] = []

        def call(emit: Emit | None) -> Run:
            run = service.ask(body, emit, view)
            kept.append(service.runs.keep(run))
            if emit:
                emit("kept", {"run": kept[0]})
            return run

        return await responder.answer(request, call, (lambda _: _brief(kept[0])) if view else None)

    @app.post("/v1/check", openapi_extra=calculation(bodies.Checked, bodies.AnswerBody))
    async def check(request: Request, view: bool = False) -> Response:
        """Judge the citations of an answer. With Accept: text/event-stream, verdict by verdict."""
        body = await _read_body(bodies.AnswerBody, request)

        def call(emit: Emit | None) -> bodies.Checked:
            return service.check(body, emit, view=view)

        return await responder.answer(request, call, (lambda made: _brief(made.run)) if view else None)

    @app.post("/v1/attribute", openapi_extra=calculation(Attribution, bodies.AnswerBody))
    async def attribute(request: Request) -> Response:
        """Find the sources of an answer's sentences."""
        body = await _read_body(bodies.AnswerBody, request)
        return await responder.answer(request, lambda emit: service.attribute(body))

    @app.post("/v1/repair", openapi_extra=calculation(bodies.RepairedBody, bodies.AnswerBody))
    async def repair(request: Request) -> Response:
        """Repair the rejected citations of an answer."""
        body = await _read_body(bodies.AnswerBody, request)
        return await responder.answer(request, lambda emit: service.repair(body))

    @app.post("/v1/search", openapi_extra=calculation(bodies.SearchFound, bodies.SearchBody))
    async def search(request: Request) -> Response:
        """Find documents."""
        body = await _read_body(bodies.SearchBody, request)
        return await responder.answer(request, lambda emit: service.search(body))


def _add_documents(app: FastAPI, service: Service, turns: Turns) -> None:
    @app.post("/v1/documents", openapi_extra=operation(Reply(kind=bodies.DocumentsFound), body=bytes))
    async def documents(request: Request, name: str = "document.txt") -> Response:
        """Read a file (PDF, DOCX, Markdown, text, XML and more), sent as the body, and return its documents."""
        content = await request.body()

        def read() -> Response:
            found, problems = service.documents_in(name, content)
            values = [json.loads(to_json(document)) for document in found]
            return JSONResponse({"documents": values, "problems": problems})

        return await _respond(request, turns, read)


def _brief(run: str) -> str:
    return json.dumps({"run": run})


def _add_streams(app: FastAPI, streams: Streams) -> None:
    @app.get("/v1/streams/{id}", openapi_extra=operation(Reply(others=("text/event-stream",))))
    async def stream(request: Request, id: str) -> Response:
        """Events of a request sent with Prefer: respond-async, starting after Last-Event-ID."""
        after = request.headers.get("last-event-id", "")
        return _events(streams.find(id), int(after) if after.isdecimal() and len(after) < 10 else 0)

    @app.delete("/v1/streams/{id}", openapi_extra=operation(Reply(202, bodies.Left)))
    async def leave(id: str) -> Response:
        """Cancel a request. If it has already finished, ``cancelled`` is false."""
        stream = streams.find(id)
        stream.cancel()
        return JSONResponse({"stream": id, "cancelled": stream.cancelled, "finished": stream.ended is not None}, 202)


def _add_runs(app: FastAPI, service: Service, responder: _Responder) -> None:
    @app.get("/v1/runs", openapi_extra=operation(Reply(kind=RunsFound)))
    async def runs() -> Response:
        """The latest runs."""
        found = await asyncio.to_thread(service.runs.recent)
        return JSONResponse({"runs": [entry.model_dump(mode="json") for entry in found]})

    @app.get("/v1/runs/{id}", openapi_extra=operation(Reply(kind=StoredRun)))
    async def run(id: str) -> Response:
        """A run, as it was first returned."""
        return Response(to_json(await asyncio.to_thread(service.runs.get, id)), media_type="application/json")

    @app.delete("/v1/runs/{id}", openapi_extra=operation(Reply(204)))
    async def forget(id: str) -> Response:
        """Delete a run."""
        await asyncio.to_thread(service.runs.forget, id)
        return Response(status_code=204)

    @app.post("/v1/runs/{id}/repair", openapi_extra=calculation(bodies.RepairedBody))
    async def repair_run(request: Request, id: str, view: bool = False) -> Response:
        """Repair the rejected citations of a run's answer."""

        def call(_: Emit | None) -> bodies.RepairedBody:
            return service.repair_run(id)

        return await responder.answer(request, call, (lambda made: _brief(made.run)) if view else None)

    @app.get("/v1/runs/{id}/report", openapi_extra=operation(Reply(others=("text/html",))))
    async def report(id: str) -> Response:
        """A run as a single HTML file."""
        html = await asyncio.to_thread(lambda: pages.report_of(service.runs.get(id)))
        name = f'attachment; filename="vericite-{id[:8]}.html"'
        return Response(html, media_type="text/html", headers={"content-disposition": name})

    @app.get("/v1/runs/{id}/view", openapi_extra=operation(Reply(kind=dict[str, Any])))
    async def view(id: str) -> Response:
        """A run in the form that the web page shows."""
        return JSONResponse(await asyncio.to_thread(lambda: pages.view_of(service.runs.get(id))))


def _add_jobs(app: FastAPI, jobs: Jobs) -> None:
    @app.post("/v1/jobs", openapi_extra=operation(Reply(202, bodies.Taken), body=bodies.JobBody))
    async def job(request: Request) -> Response:
        """Submit many answers to check or questions to ask; they are saved to disk before the reply."""
        return JSONResponse({"id": await asyncio.to_thread(jobs.add, await request.body())}, 202)

    @app.get("/v1/jobs/{id}", openapi_extra=operation(Reply(kind=JobState)))
    async def state(id: str) -> Response:
        """Progress of a job."""
        return JSONResponse(await asyncio.to_thread(jobs.state, id))

    @app.get("/v1/jobs/{id}/results", openapi_extra=operation(Reply(others=("application/x-ndjson",))))
    async def results(id: str) -> Response:
        """Results of a job so far, as JSON Lines; ``item`` counts from 0."""
        lines = await asyncio.to_thread(lambda: b"".join(jobs.results(id)))
        return Response(lines, media_type="application/x-ndjson")

    @app.delete("/v1/jobs/{id}", openapi_extra=operation(Reply(202, JobState)))
    async def cancel(id: str) -> Response:
        """Cancel a job. If it has already finished, ``cancelled`` is false. Its results are kept."""
        return JSONResponse(await asyncio.to_thread(jobs.cancel, id), 202)


def _add_pages(app: FastAPI, service: Service) -> None:
    async def page(name: pages.PageName, run: str | None) -> Response:
        try:
            return HTMLResponse(await asyncio.to_thread(pages.page_of, service, name, run))
        except NoSuchRun:
            return HTMLResponse(
                await asyncio.to_thread(pages.page_of, service, name, None, "This run is no longer available."), 404
            )

    @app.get("/", include_in_schema=False)
    async def ask(run: str | None = None) -> Response:
        return await page("ask", run)

    @app.get("/check", include_in_schema=False)
    async def check(run: str | None = None) -> Response:
        return await page("check", run)

    @app.get("/runs", include_in_schema=False)
    async def runs() -> Response:
        return await page("runs", None)

    @app.get("/runs/{id}", include_in_schema=False)
    async def run(id: str) -> Response:
        return await page("run", id)


def _add_health(app: FastAPI, service: Service, turns: Turns, metrics: Metrics) -> None:
    @app.get("/healthz", openapi_extra=operation(Reply(kind=bodies.Health)))
    async def health() -> Response:
        """Whether the process is up."""
        return JSONResponse({"status": "ok", "version": __version__})

    @app.get("/readyz", openapi_extra=operation(Reply(kind=bodies.Ready), Reply(503, bodies.Ready)))
    async def ready() -> Response:
        """Whether the models are loaded."""
        return JSONResponse({"ready": app.state.ready}, 200 if app.state.ready else 503)

    @app.get("/metrics", openapi_extra=operation(Reply(others=("text/plain",))))
    async def figures() -> Response:
        """Counters in Prometheus format."""
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
            f"vericite_requests_in_flight {len(turns.work)}",
        ]
        return PlainTextResponse("\n".join(lines) + "\n")
