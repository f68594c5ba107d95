"""Tools for assistants over the Model Context Protocol, on standard streams and over HTTP."""

from __future__ import annotations

import asyncio
import json
from base64 import b64decode
from collections import OrderedDict
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from threading import Lock
from typing import Annotated, Any
from urllib.parse import quote, unquote

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ResourceNotFoundError, ToolError
from mcp.server.mcpserver.tools import Tool
from mcp.server.transport_security import TransportSecuritySettings
from mcp_types import CallToolResult, ContentBlock, ResourceLink, TextContent, ToolAnnotations
from pydantic import ValidationError, WithJsonSchema
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from vericite.attribution.attributor import Attribution
from vericite.corpus.manuscript.registry import MANUSCRIPTS
from vericite.corpus.sources.registry import SOURCES
from vericite.errors import VeriCiteError
from vericite.records import AnswerEvidence, Document, Record, Run, first_problem, to_json
from vericite.reporting.blocks import to_markdown
from vericite.reporting.manuscript import ManuscriptFindings, manuscript_lines
from vericite.serve.bodies import (
    MAX_VALUES,
    AnswerBody,
    AskBody,
    Checked,
    EvidenceBody,
    ManuscriptBody,
    PlanBody,
    QuietSchema,
    SearchBody,
    SearchFound,
    UploadedFile,
    check_value_count,
    parse_body,
)
from vericite.serve.engine import Stopped, TimeLimit, Work, at_work
from vericite.serve.gate import Refused
from vericite.serve.service import Service
from vericite.serve.streams import Turns
from vericite.version import __version__

_INSTRUCTIONS = (
    "Answers biomedical questions from sources with a citation on every sentence, and checks the citations of any "
    "answer. Verdicts are a model's, and models err. Not medical advice."
)
_URI_PREFIX = "vericite://documents/"
_MAX_LINKED = 2_000


_Plan = Annotated[dict[str, dict[str, Any]], WithJsonSchema(PlanBody.model_json_schema(schema_generator=QuietSchema))]
"""The settings that a request may change, with their schema; ``PlanBody`` checks them."""


class _Documents:
    """Corpus documents that recent results linked to, so that the links can be read."""

    def __init__(self) -> None:
        self._documents: OrderedDict[str, Document] = OrderedDict()
        self._lock = Lock()

    def links(self, corpus: str, documents: Iterable[Document]) -> list[ContentBlock]:
        """Return a link to each document, and keep the documents for reading."""
        found: list[ContentBlock] = []
        for document in documents:
            uri = f"{_URI_PREFIX}{quote(corpus, safe='')}/{quote(document.id, safe='')}"
            with self._lock:
                self._documents[uri] = document
                self._documents.move_to_end(uri)
                while len(self._documents) > _MAX_LINKED:
                    self._documents.popitem(last=False)
            found.append(
                ResourceLink(uri=uri, name=document.id, title=document.title or None, mime_type="application/json")
            )
        return found

    def read(self, corpus: str, id: str) -> str:
        """Return a document as JSON."""
        uri = f"{_URI_PREFIX}{quote(unquote(corpus), safe='')}/{quote(unquote(id), safe='')}"
        with self._lock:
            document = self._documents.get(uri)
        if document is None:
            raise ResourceNotFoundError("expected a document that a recent result links to; found another")
        return to_json(document)


def make_tools(service: Service, turns: Turns | None = None) -> MCPServer[Any]:
    """Build an MCP server with the tools search, ask, check, check_manuscript, attribute and evidence.

    Results link to the corpus documents that they use, and clients can read these. Documents in a call have the form
    ``{"id", "text", "title"?}``, in the order of the answer's markers.

    Args:
        service: The service behind the tools.
        turns: Limits the calls that run at a time (None: no limit, for a single client on this machine, who may name
            files of it).
    """
    linked = _Documents()

    def answered(kind: type[Any], body: dict[str, Any], call: Callable[[Any], Record]) -> CallToolResult:
        try:
            with _turn(turns):
                made = call(parse_body(kind, json.dumps(body).encode()))
        except (VeriCiteError, Refused, Stopped) as error:
            raise ToolError(str(error)) from None
        text = to_json(made)
        corpus = body.get("corpus") or next(iter(service.offer.corpora))
        content: list[ContentBlock] = [TextContent(text=text), *linked.links(corpus, _corpus_documents(made))]
        return CallToolResult(content=content, structured_content=json.loads(text))

    def search(query: str, k: int = 5, corpus: str | None = None) -> CallToolResult:
        """Find documents of the corpus for a question, best first."""
        return answered(SearchBody, {"query": query, "k": k, "corpus": corpus}, service.search)

    def ask(
        question: str, corpus: str | None = None, k: int | None = None, plan: _Plan | None = None
    ) -> CallToolResult:
        """Answer a biomedical question from the corpus, with a citation on every sentence and a verdict on each."""
        settings = {**(plan or {})}
        if k is not None:
            settings["search"] = {**settings.get("search", {}), "k": k}
        return answered(AskBody, {"question": question, "corpus": corpus, "plan": settings}, service.ask)

    def check(answer: str, documents: Sequence[dict[str, str]], question: str | None = None) -> CallToolResult:
        """Judge whether each sentence of an answer with markers such as [1] is supported by the documents it cites."""
        body = {"answer": answer, "documents": list(documents), "question": question}
        return answered(AnswerBody, body, lambda made: service.check(made, keep=False))

    def attribute(answer: str, documents: Sequence[dict[str, str]]) -> CallToolResult:
        """Find which documents support each sentence of an answer, and cite them."""
        return answered(AnswerBody, {"answer": answer, "documents": list(documents)}, service.attribute)

    def evidence(answer: str, corpus: str | None = None) -> CallToolResult:
        """Find articles of the corpus that support and that contradict each sentence of an answer, or one sentence."""
        return answered(EvidenceBody, {"answer": answer, "corpus": corpus}, service.evidence)

    calls = [
        (search, SearchFound),
        (ask, Run),
        (check, Checked),
        (_manuscript_tool(service, turns), ManuscriptFindings),
        (attribute, Attribution),
        (evidence, AnswerEvidence),
    ]
    server = MCPServer(
        "vericite",
        instructions=_INSTRUCTIONS,
        version=__version__,
        log_level="WARNING",
        tools=[_tool(call, result_type) for call, result_type in calls],
    )
    server.resource(_URI_PREFIX + "{corpus}/{id}", name="document", mime_type="application/json")(linked.read)
    return server


def _manuscript_tool(service: Service, turns: Turns | None) -> Callable[..., CallToolResult]:
    """Return the tool that checks a manuscript: a file of this machine, or over HTTP one that the client sends."""

    def checked(
        file: UploadedFile, bibliography: Sequence[UploadedFile], sources: Sequence[str], path: Path | None = None
    ) -> CallToolResult:
        plan = PlanBody.model_validate({"check": {"explain": True}})
        body = ManuscriptBody(file=file, bibliography=tuple(bibliography), sources=tuple(sources), plan=plan)
        try:
            with _turn(turns, service.manuscripts.time_limit):
                made = service.manuscripts.check(body, keep=False, path=path)
        except (VeriCiteError, Refused, Stopped) as error:
            raise ToolError(str(error)) from None
        found = made.findings
        brief = found.model_copy(
            update={
                "sentences": found.to_review,
                "references": tuple(item for item in found.references if item.problems or item.not_at_hand),
            }
        )
        text = "\n".join([to_markdown(manuscript_lines(made.check)), *found.notes])
        return CallToolResult(content=[TextContent(text=text)], structured_content=json.loads(to_json(brief)))

    def check_manuscript(path: str, sources: Sequence[str] = (), bibliography: Sequence[str] = ()) -> CallToolResult:
        """Check the citations of a manuscript: a file of Word, PDF, LaTeX, HTML, Markdown or text on this machine.

        Returns a summary, the sentences that are contradicted by, not found in or partly supported by their sources,
        and the references with problems. `sources` names where references are looked up (corpora of this server; none
        is asked that is not named), `bibliography` files of references that the manuscript cites by key.
        """
        most = service.offer.limits.upload
        files = [_file_of(name, most) for name in bibliography]
        # Read where it is: a .tex file may include others of its folder.
        return checked(_file_of(path, most), files, sources, Path(path).expanduser())

    def check_manuscript_sent(
        name: str, content: str, sources: Sequence[str] = (), bibliography: Mapping[str, str] | None = None
    ) -> CallToolResult:
        """Check the citations of a manuscript, sent as the name of the file and its content in base64.

        Returns a summary, the sentences that are contradicted by, not found in or partly supported by their sources,
        and the references with problems. `sources` names where references are looked up (corpora of this server; none
        is asked that is not named), `bibliography` has files of references, as names with contents in base64.
        """
        files = [_decoded(key, value) for key, value in (bibliography or {}).items()]
        return checked(_decoded(name, content), files, sources)

    if turns is None:
        return check_manuscript
    check_manuscript_sent.__name__ = "check_manuscript"
    return check_manuscript_sent


def _file_of(path: str, most: int) -> UploadedFile:
    """Read a file of this machine that has the suffix of a manuscript or a bibliography.

    Raises:
        ToolError: There is no such file, or it is too long.
    """
    place = Path(path).expanduser()
    known = {suffix for _, kind in [*MANUSCRIPTS.usable(), *SOURCES.usable()] for suffix in kind.suffixes}
    if place.suffix.lower() not in known:
        raise ToolError(f"expected a file that ends in {', '.join(sorted(known))}; found {path!r:.200}")
    try:
        if not place.is_file():
            raise ToolError(f"expected a file; found no {path!r:.200}")
        if (size := place.stat().st_size) > most:
            raise ToolError(f"expected a file of at most {most:,} bytes; found {size:,}")
        return UploadedFile(name=place.name, content=place.read_bytes())
    except (OSError, ValueError) as error:
        raise ToolError(f"expected a file that can be read; found {path!r:.200}: {error}") from None


def _decoded(name: str, content: str) -> UploadedFile:
    try:
        return UploadedFile(name=name, content=b64decode(content, validate=True))
    except ValueError:
        raise ToolError(f"expected the content of {name!r:.200} in base64; found something else") from None


def routes_of(tools: MCPServer[Any], max_bytes: int) -> list[BaseRoute]:
    """Return the HTTP routes of the tools, at ``/mcp``. The gate checks hosts and origins.

    Args:
        tools: The MCP server.
        max_bytes: Maximum size of a request.
    """
    security = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    routes = tools.streamable_http_app(
        json_response=True, stateless_http=True, max_request_body_size=max_bytes, transport_security=security
    ).routes
    for route in routes:
        if isinstance(route, Route):
            route.app = _stopping_on_disconnect(route.app)
    return routes


class _Client:
    """The client of a request, with the work done for it."""

    def __init__(self) -> None:
        self._work: set[Work] = set()
        self._gone = False

    def add(self, work: Work) -> None:
        """Add work that is stopped when the client disconnects."""
        self._work.add(work)
        if self._gone:
            self.disconnect()

    def disconnect(self) -> None:
        """Stop the client's work."""
        self._gone = True
        for work in list(self._work):
            work.stop("the client disconnected")


_client: ContextVar[_Client | None] = ContextVar("client", default=None)


def _stopping_on_disconnect(app: ASGIApp) -> ASGIApp:
    """Wrap an application so that its work stops when the client disconnects; the SDK does not always notice."""

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        client, gone, first = _Client(), asyncio.Event(), [await receive()]
        await asyncio.to_thread(check_value_count, first[0].get("body", b""), MAX_VALUES)
        token = _client.set(client)

        async def watch() -> None:
            while (await receive())["type"] != "http.disconnect":
                pass
            client.disconnect()
            gone.set()

        async def replay() -> Message:
            if first:
                return first.pop()
            await gone.wait()
            return {"type": "http.disconnect"}

        watching = asyncio.create_task(watch())
        try:
            await app(scope, replay, send)
        finally:
            watching.cancel()
            _client.reset(token)

    return answer


@contextmanager
def _turn(turns: Turns | None, limit: TimeLimit | None = None) -> Generator[None]:
    if turns is None:
        yield
        return
    work = turns.take(limit)
    if (client := _client.get()) is not None:
        client.add(work)
    try:
        with at_work(work):
            yield
    finally:
        turns.work.discard(work)


class _StrictTool(Tool):
    """A tool that refuses unknown arguments and reports invalid ones in the service's own words."""

    async def run(self, arguments: dict[str, Any], context: Context[Any, Any], convert_result: bool = False) -> Any:
        known = self.parameters["properties"]
        if unknown := [name for name in arguments if name not in known]:
            raise ToolError(f"expected arguments among {', '.join(known)}; found {unknown[0][:60]!r}")
        try:
            return await super().run(arguments, context, convert_result)
        except ToolError as error:
            if not isinstance(error.__cause__, ValidationError):
                raise
            field, problem = first_problem(error.__cause__)
            raise ToolError(f"{field}: {problem}" if field else problem) from None


def _tool(call: Callable[..., CallToolResult], result_type: type[Record]) -> Tool:
    """Make a tool whose result is a record."""
    tool = _StrictTool.from_function(call, annotations=ToolAnnotations(read_only_hint=True), structured_output=False)
    # Published but not checked again: records are already valid, and the check would refuse their tuples.
    tool.fn_metadata.output_schema = result_type.model_json_schema(mode="serialization", schema_generator=QuietSchema)
    return tool


def _corpus_documents(made: Record) -> Sequence[Document]:
    """Return the corpus documents of a result, without those that the client sent."""
    if isinstance(made, SearchFound):
        return [hit.document for hit in made.evidence]
    return made.answer.documents if isinstance(made, Run) else ()
