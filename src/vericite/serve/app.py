"""HTTP routes of the service, for programs and for the web page."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from fastapi import FastAPI, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, PlainTextResponse, StreamingResponse
from starlette.exceptions import HTTPException

from vericite.attribution.attributor import Attribution
from vericite.errors import InputError, VeriCiteError
from vericite.records import AnswerEvidence, Record, Run, to_json
from vericite.reporting.words import Wording
from vericite.serve import bodies, pages
from vericite.serve.engine import Stopped, TimeLimit, Work
from vericite.serve.events import ASK_EVENTS, CHECK_EVENTS, MANUSCRIPT_EVENTS, Emit
from vericite.serve.gate import FrontGate, GateSettings, Metrics, Refused
from vericite.serve.jobs import Jobs, JobState
from vericite.serve.memory import MemoryTrimmer
from vericite.serve.openapi import LAST_EVENT, ErrorDetails, Reply, calculation, complete_openapi, operation
from vericite.serve.run_store import NoSuchRun, RunsFound, StoredRun
from vericite.serve.service import Service
from vericite.serve.shelves import (
    DocumentShelf,
    FileAdded,
    ShelfBody,
    ShelvedDocuments,
    ShelvesFound,
    WaitingBody,
)
from vericite.serve.streams import PATIENCE, Stream, Streams, Turns, error_body, status_of
from vericite.version import __version__

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer

# pyright: reportUnusedFunction=false

_Made = TypeVar("_Made", bound=Record)
_FILE = "application/octet-stream"
_View = Annotated[bool, Query(include_in_schema=False)]
"""Whether to send what the web page shows."""
_RESULTS = (
    Run
    | bodies.RepairedBody
    | bodies.Checked
    | bodies.CheckedManuscript
    | Attribution
    | bodies.SearchFound
    | AnswerEvidence
)
"""What a stream can end with."""


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

    app = FastAPI(
        title="VeriCite",
        summary="Answers biomedical questions from sources, and checks the citations of any answer",
        version=__version__,
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
        generate_unique_id_function=lambda route: route.name,
    )
    app.state.ready = False
    _add_errors(app)
    _add_calls(app, service, responder)
    _add_manuscripts(app, service, responder)
    _add_documents(app, service, turns)
    _add_shelves(app, service, turns)
    _add_streams(app, streams)
    _add_pages(app, service)
    _add_runs(app, service, responder)
    _add_files_of_runs(app, service)
    _add_jobs(app, jobs)
    _add_health(app, service, turns, metrics)
    _add_openapi(app, needs_token=token is not None)
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


def _add_openapi(app: FastAPI, needs_token: bool) -> None:
    generate = app.openapi
    cached: list[dict[str, Any]] = []

    def openapi() -> dict[str, Any]:
        if not cached:
            cached.append(complete_openapi(generate(), needs_token))
        return cached[0]

    app.openapi = openapi


@dataclass(frozen=True)
class _Responder:
    """Answers requests: directly, as events, or as a stream that a client can reconnect to."""

    turns: Turns
    streams: Streams

    async def answer(
        self,
        request: Request,
        call: Callable[[Emit | None], _Made],
        brief: Callable[[_Made], str] | None = None,
        limit: TimeLimit | None = None,
    ) -> Response:
        """Run a call and respond with its result.

        Args:
            request: The client's request.
            call: The work to do; it reports progress to its argument.
            brief: Makes the last event of a stream, in place of the full record.
            limit: Time limit (None: the usual one).
        """
        last: Callable[[_Made], str] = brief or to_json
        if "respond-async" in request.headers.get("prefer", ""):
            stream = self.streams.begin(lambda emit: last(call(emit)), PATIENCE, limit)
            return JSONResponse({"stream": stream.id}, 202)
        if "text/event-stream" in request.headers.get("accept", ""):
            return _events(self.streams.begin(lambda emit: last(call(emit)), limit=limit))

        def reply() -> Response:
            return Response(to_json(call(None)), media_type="application/json")

        return await _respond(request, self.turns, reply, limit)


async def _respond(
    request: Request, turns: Turns, call: Callable[[], Response], limit: TimeLimit | None = None
) -> Response:
    """Run a call when its turn comes, within its time limit; stop it if the client disconnects."""
    async with turns.turn(limit) as work:
        response = turns.start(work, call)
        watching = asyncio.create_task(_watch_disconnect(request, work))
        try:
            return await asyncio.wait_for(asyncio.shield(response), work.limit.seconds + 1)
        except Stopped as stopped:
            return JSONResponse({"error": error_body(stopped)}, 504)
        except TimeoutError:
            work.stop(work.limit.message)
            # It ends soon, and no one waits for it: asyncio would log that as an error.
            response.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
            return JSONResponse({"error": {"status": 504, "message": work.limit.message}}, 504)
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
    @app.post("/v1/ask", openapi_extra=calculation(Run, bodies.AskBody, ASK_EVENTS))
    async def ask(request: Request, view: _View = False) -> Response:
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

    @app.post("/v1/check", openapi_extra=calculation(bodies.Checked, bodies.AnswerBody, CHECK_EVENTS))
    async def check(request: Request, view: _View = False) -> Response:
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

    @app.post("/v1/evidence", openapi_extra=calculation(AnswerEvidence, bodies.EvidenceBody))
    async def find_evidence(request: Request) -> Response:
        """Find articles that support and that contradict each sentence of an answer."""
        body = await _read_body(bodies.EvidenceBody, request)
        return await responder.answer(request, lambda emit: service.evidence(body))


def _add_manuscripts(app: FastAPI, service: Service, responder: _Responder) -> None:
    multipart = calculation(
        bodies.CheckedManuscript, bodies.ManuscriptBody, MANUSCRIPT_EVENTS, media="multipart/form-data"
    )

    @app.post("/v1/manuscripts", openapi_extra=multipart)
    async def check_manuscript(request: Request, view: _View = False) -> Response:
        """Check the citations of a manuscript: Word, PDF, LaTeX, HTML, Markdown or text with a list of references."""
        named = request.headers.get("content-type", "")
        body = await asyncio.to_thread(bodies.parse_manuscript, named, await request.body())

        def call(emit: Emit | None) -> bodies.CheckedManuscript:
            return service.manuscripts.check(body, emit)

        def brief(made: bodies.CheckedManuscript) -> str:
            return _brief(made.run)

        return await responder.answer(request, call, brief if view else None, service.manuscripts.time_limit)

    @app.post("/v1/pasted", openapi_extra=calculation(bodies.Pasted, bodies.PastedBody))
    async def read_pasted(request: Request) -> Response:
        """Number the sources of a pasted answer, and look up their texts in the places that it names."""
        body = await _read_body(bodies.PastedBody, request)
        return await responder.answer(request, lambda emit: service.manuscripts.read_pasted(body))


def _add_documents(app: FastAPI, service: Service, turns: Turns) -> None:
    @app.post(
        "/v1/documents",
        openapi_extra=operation(Reply(kind=bodies.DocumentsFound), body=bytes, errors=(422, 501, 504, 507)),
    )
    async def read_file(request: Request, name: str = "document.txt") -> Response:
        """Read a file (PDF, DOCX, Markdown, text, XML and more), sent as the body, and return its documents."""
        content = await request.body()

        def read() -> Response:
            found, problems = service.documents_in(name, content)
            values = [json.loads(to_json(document)) for document in found]
            return JSONResponse({"documents": values, "problems": problems})

        return await _respond(request, turns, read)


def _add_shelves(app: FastAPI, service: Service, turns: Turns) -> None:
    shelves = service.library.shelves

    @app.get("/v1/shelves", openapi_extra=operation(Reply(kind=ShelvesFound)))
    async def list_shelves() -> Response:
        """The corpora of the service, and the shelves that clients made."""
        found = await asyncio.to_thread(service.library.all)
        return _json(ShelvesFound(shelves=tuple(found)))

    @app.post("/v1/shelves", openapi_extra=operation(Reply(201, DocumentShelf), body=ShelfBody, errors=(422, 501, 507)))
    async def make_shelf(request: Request) -> Response:
        """Make a shelf and name the files that will be sent. It is a corpus as soon as all were sent."""
        body = await _read_body(ShelfBody, request)
        return _json(await asyncio.to_thread(shelves.make, body.name, body.files), 201)

    @app.get("/v1/shelves/{id}", openapi_extra=operation(Reply(kind=DocumentShelf), errors=(404,)))
    async def get_shelf(id: str) -> Response:
        """A shelf that a client made."""
        return _json(await asyncio.to_thread(shelves.get, id))

    @app.delete("/v1/shelves/{id}", openapi_extra=operation(Reply(204), errors=(404, 422, 507)))
    async def delete_shelf(id: str) -> Response:
        """Delete a shelf with its documents."""
        await asyncio.to_thread(shelves.remove, id)
        return Response(status_code=204)

    @app.put(
        "/v1/shelves/{id}/waiting",
        openapi_extra=operation(Reply(kind=DocumentShelf), body=WaitingBody, errors=(404, 422, 507)),
    )
    async def set_waiting(request: Request, id: str) -> Response:
        """Name the files that will be sent to a shelf; none to have it complete as it is."""
        body = await _read_body(WaitingBody, request)
        return _json(await asyncio.to_thread(shelves.wait_for, id, body.files))

    @app.post(
        "/v1/shelves/{id}/files",
        openapi_extra=operation(Reply(kind=FileAdded), body=bytes, errors=(404, 422, 501, 504, 507)),
    )
    async def add_file(request: Request, id: str, name: str = "document.txt") -> Response:
        """Read a file, sent as the body, into a shelf. One that cannot be read is noted with the reason."""
        content = await request.body()
        return await _respond(request, turns, lambda: _json(service.add_to_shelf(id, name, content)))

    @app.get("/v1/shelves/{id}/documents", openapi_extra=operation(Reply(kind=ShelvedDocuments), errors=(404, 422)))
    async def list_documents(id: str, offset: Annotated[int, Query(ge=0)] = 0) -> Response:
        """Fifty documents of a shelf, from this one on."""
        return _json(await asyncio.to_thread(shelves.documents, id, offset))

    @app.delete("/v1/shelves/{id}/documents", openapi_extra=operation(Reply(204), errors=(404, 422, 507)))
    async def delete_document(id: str, document: str) -> Response:
        """Delete a document from a shelf, by its id."""
        await asyncio.to_thread(shelves.remove_document, id, document)
        return Response(status_code=204)


def _json(record: Record, status: int = 200) -> Response:
    return Response(to_json(record), status, media_type="application/json")


def _brief(run: str) -> str:
    return json.dumps({"run": run})


def _add_streams(app: FastAPI, streams: Streams) -> None:
    every = {**ASK_EVENTS, **MANUSCRIPT_EVENTS, "done": _RESULTS, "error": ErrorDetails}

    @app.get("/v1/streams/{id}", openapi_extra=operation(Reply(events=every), errors=(404,), headers=(LAST_EVENT,)))
    async def read_stream(request: Request, id: str) -> Response:
        """Events of a request sent with Prefer: respond-async, starting after Last-Event-ID."""
        after = request.headers.get("last-event-id", "")
        return _events(streams.find(id), int(after) if after.isdecimal() and len(after) < 10 else 0)

    @app.delete("/v1/streams/{id}", openapi_extra=operation(Reply(202, bodies.StreamState), errors=(404,)))
    async def cancel_stream(id: str) -> Response:
        """Cancel a request. If it has already finished, ``cancelled`` is false."""
        stream = streams.find(id)
        stream.cancel()
        return JSONResponse({"stream": id, "cancelled": stream.cancelled, "finished": stream.ended is not None}, 202)


def _attachment(content: str | bytes, media: str, name: str) -> Response:
    return Response(content, media_type=media, headers={"content-disposition": f'attachment; filename="{name}"'})


def _add_runs(app: FastAPI, service: Service, responder: _Responder) -> None:
    @app.get("/v1/runs", openapi_extra=operation(Reply(kind=RunsFound), errors=(422,)))
    async def list_runs(words: Annotated[str, Query(max_length=bodies.MAX_NAME)] = "") -> Response:
        """The latest runs; with words, those whose question or answer has all of them."""
        found = await asyncio.to_thread(service.runs.recent, words=words)
        return JSONResponse({"runs": [entry.model_dump(mode="json") for entry in found]})

    @app.get("/v1/runs/{id}", openapi_extra=operation(Reply(kind=StoredRun), errors=(404,)))
    async def get_run(id: str) -> Response:
        """A run, as it was first returned."""
        return Response(to_json(await asyncio.to_thread(service.runs.get, id)), media_type="application/json")

    @app.delete("/v1/runs/{id}", openapi_extra=operation(Reply(204), errors=(404, 507)))
    async def delete_run(id: str) -> Response:
        """Delete a run."""
        await asyncio.to_thread(service.runs.forget, id)
        return Response(status_code=204)

    @app.post("/v1/runs/{id}/repair", openapi_extra=calculation(bodies.RepairedBody, errors=(404,)))
    async def repair_run(request: Request, id: str, view: _View = False) -> Response:
        """Repair the rejected citations of a run's answer."""

        def call(_: Emit | None) -> bodies.RepairedBody:
            return service.repair_run(id)

        return await responder.answer(request, call, (lambda made: _brief(made.run)) if view else None)

    @app.get("/v1/runs/{id}/view", include_in_schema=False)
    async def view(request: Request, id: str) -> Response:
        """A run in the form that the web page shows."""
        language = pages.language_of(request.headers)
        return JSONResponse(await asyncio.to_thread(lambda: pages.view_of(service.runs.get(id), language)))


def _add_files_of_runs(app: FastAPI, service: Service) -> None:
    @app.get("/v1/runs/{id}/report", openapi_extra=operation(Reply(others=("text/html",)), errors=(404, 422)))
    async def get_report(request: Request, id: str, other: str | None = None) -> Response:
        """A run as a single HTML file, in the language of the browser; with the id of another, both side by side."""
        language, get = pages.language_of(request.headers), service.runs.get

        def make() -> str:
            return pages.report_of(get(id), language, None if other is None else get(other))

        html = await asyncio.to_thread(make)
        return _attachment(html, "text/html", f"vericite-{id[:8]}.html")

    @app.get("/v1/runs/{id}/table", openapi_extra=operation(Reply(others=("text/csv",)), errors=(404,)))
    async def get_table(id: str) -> Response:
        """A table in CSV: a row for each sentence of a manuscript, or for each citation of an answer."""
        text = await asyncio.to_thread(lambda: pages.table_of(service.runs.get(id)))
        return _attachment(text, "text/csv; charset=utf-8", f"vericite-{id[:8]}.csv")

    @app.get(
        "/v1/runs/{id}/document",
        openapi_extra=operation(Reply(others=(_FILE,)), errors=(404, 422)),
    )
    async def get_document(id: str, form: str = "docx") -> Response:
        """An answer with its sources and verdicts, as a Word document or, with ``form=md``, as Markdown."""
        content, ending = await asyncio.to_thread(lambda: pages.document_of(service.runs.get(id), form))
        return _attachment(content, _FILE, f"vericite-{id[:8]}{ending}")

    @app.get("/v1/runs/{id}/copy", openapi_extra=operation(Reply(others=(_FILE,)), errors=(404,)))
    async def get_copy(id: str) -> Response:
        """The copy of a manuscript with comments: Word, PDF, or else Markdown with footnotes."""
        run = await asyncio.to_thread(service.runs.get, id)
        content = await asyncio.to_thread(service.runs.copy_of, id)
        suffix = run.copy_suffix if isinstance(run, bodies.CheckedManuscript) else None
        return _attachment(content, _FILE, f"vericite-{id[:8]}{suffix or ''}")


def _add_jobs(app: FastAPI, jobs: Jobs) -> None:
    @app.post("/v1/jobs", openapi_extra=operation(Reply(202, bodies.JobAdded), body=bodies.JobBody, errors=(422, 507)))
    async def add_job(request: Request) -> Response:
        """Submit many answers to check or questions to ask; they are saved to disk before the reply."""
        return JSONResponse({"id": await asyncio.to_thread(jobs.add, await request.body())}, 202)

    @app.get("/v1/jobs/{id}", openapi_extra=operation(Reply(kind=JobState), errors=(404,)))
    async def get_job(id: str) -> Response:
        """Progress of a job."""
        return JSONResponse(await asyncio.to_thread(jobs.state, id))

    @app.get("/v1/jobs/{id}/results", openapi_extra=operation(Reply(lines=bodies.JobResult), errors=(404,)))
    async def get_job_results(id: str) -> Response:
        """Results of a job so far, as JSON Lines; ``item`` counts from 0."""
        lines = await asyncio.to_thread(lambda: b"".join(jobs.results(id)))
        return Response(lines, media_type="application/x-ndjson")

    @app.delete("/v1/jobs/{id}", openapi_extra=operation(Reply(202, JobState), errors=(404, 507)))
    async def cancel_job(id: str) -> Response:
        """Cancel a job. If it has already finished, ``cancelled`` is false. Its results are kept."""
        return JSONResponse(await asyncio.to_thread(jobs.cancel, id), 202)


def _add_pages(app: FastAPI, service: Service) -> None:
    async def page(request: Request, name: pages.PageName, run: str | None = None, words: str = "") -> Response:
        language = pages.language_of(request.headers)
        try:
            html = await asyncio.to_thread(pages.page_of, service, name, run, language=language, words=words)
            return HTMLResponse(html)
        except NoSuchRun:
            problem = Wording(language)("service.run-gone")
            html = await asyncio.to_thread(pages.page_of, service, name, None, problem, language)
            return HTMLResponse(html, 404)

    @app.get("/", include_in_schema=False)
    async def ask(request: Request, run: str | None = None) -> Response:
        return await page(request, "ask", run)

    @app.get("/check", include_in_schema=False)
    async def check(request: Request, run: str | None = None) -> Response:
        return await page(request, "check", run)

    @app.get("/library", include_in_schema=False)
    async def library(request: Request) -> Response:
        return await page(request, "library")

    @app.get("/runs", include_in_schema=False)
    async def runs(request: Request, words: str = "") -> Response:
        return await page(request, "runs", words=words[: bodies.MAX_NAME])

    # Before the page of one run, which would take the word for an id.
    @app.get("/runs/compare", include_in_schema=False)
    async def compare(request: Request) -> Response:
        language, ids = pages.language_of(request.headers), request.query_params.getlist("run")
        try:
            return HTMLResponse(await asyncio.to_thread(pages.comparison_page, service, ids, language))
        except InputError as error:
            gone = isinstance(error, NoSuchRun)
            problem = Wording(language)("service.run-gone" if gone else "runs.choose-two")
            html = await asyncio.to_thread(pages.page_of, service, "runs", None, problem, language)
            return HTMLResponse(html, 404 if gone else 422)

    @app.get("/runs/{id}", include_in_schema=False)
    async def run(request: Request, id: str) -> Response:
        return await page(request, "run", id)


def _add_health(app: FastAPI, service: Service, turns: Turns, metrics: Metrics) -> None:
    @app.get("/healthz", openapi_extra=operation(Reply(kind=bodies.Health)))
    async def get_health() -> Response:
        """Whether the process is up."""
        return JSONResponse({"status": "ok", "version": __version__})

    @app.get("/readyz", openapi_extra=operation(Reply(kind=bodies.Ready), Reply(503, bodies.Ready)))
    async def get_readiness() -> Response:
        """Whether the models are loaded."""
        return JSONResponse({"ready": app.state.ready}, 200 if app.state.ready else 503)

    @app.get("/metrics", openapi_extra=operation(Reply(others=("text/plain",))))
    async def get_metrics() -> Response:
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
