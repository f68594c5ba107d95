"""The service's calls as tools for assistants, by the Model Context Protocol: over standard streams, and over HTTP."""

from __future__ import annotations

import asyncio
import json
from collections import OrderedDict
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock
from typing import Any
from urllib.parse import quote, unquote

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ResourceNotFoundError, ToolError
from mcp.server.mcpserver.tools import Tool
from mcp.server.transport_security import TransportSecuritySettings
from mcp_types import CallToolResult, ContentBlock, ResourceLink, TextContent, ToolAnnotations
from pydantic import ValidationError
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaWarningKind
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from vericite.attribution.attributor import Attribution
from vericite.errors import VeriCiteError
from vericite.records import Document, Record, Run, first_problem, to_json
from vericite.serve.bodies import (
    MOST_VALUES,
    AnswerBody,
    AskBody,
    Checked,
    SearchBody,
    SearchFound,
    parsed,
    refuse_many_values,
)
from vericite.serve.engine import Stopped, Work, at_work
from vericite.serve.gate import Refused
from vericite.serve.service import Service
from vericite.serve.streams import Turns
from vericite.version import __version__

_WHAT = (
    "Answers biomedical questions from sources with a citation on every sentence, and checks the citations of any "
    "answer. Verdicts are a model's, and models err. Not medical advice."
)
_PLACE = "vericite://documents/"
_REMEMBERED = 2_000


class _Documents:
    """The documents of corpora that results named lately, so that their links can be read."""

    def __init__(self) -> None:
        self._held: OrderedDict[str, Document] = OrderedDict()
        self._lock = Lock()

    def links(self, corpus: str, documents: Iterable[Document]) -> list[ContentBlock]:
        """A link to each; it can be read from now on."""
        found: list[ContentBlock] = []
        for document in documents:
            uri = f"{_PLACE}{quote(corpus, safe='')}/{quote(document.id, safe='')}"
            with self._lock:
                self._held[uri] = document
                self._held.move_to_end(uri)
                while len(self._held) > _REMEMBERED:
                    self._held.popitem(last=False)
            found.append(
                ResourceLink(uri=uri, name=document.id, title=document.title or None, mime_type="application/json")
            )
        return found

    def read(self, corpus: str, id: str) -> str:
        """A document, as JSON."""
        uri = f"{_PLACE}{quote(unquote(corpus), safe='')}/{quote(unquote(id), safe='')}"
        with self._lock:
            document = self._held.get(uri)
        if document is None:
            raise ResourceNotFoundError("expected a document that a result linked to lately; found another")
        return to_json(document)


def make_tools(service: Service, turns: Turns | None = None) -> MCPServer[Any]:
    """A server of tools: search, ask, check and attribute. What is found in a corpus is linked to, and can be read.

    Documents are given as ``{"id", "text", "title"?}``, in the order that the markers of an answer count.

    Args:
        service: What it asks.
        turns: Which calls must await theirs; None where there is one client.
    """
    held = _Documents()

    def answered(kind: type[Any], body: dict[str, Any], call: Callable[[Any], Record]) -> CallToolResult:
        try:
            with _turn(turns):
                made = call(parsed(kind, json.dumps(body).encode()))
        except (VeriCiteError, Refused, Stopped) as error:
            raise ToolError(str(error)) from None
        text = to_json(made)
        corpus = body.get("corpus") or next(iter(service.offer.corpora))
        content: list[ContentBlock] = [TextContent(text=text), *held.links(corpus, _of_corpus(made))]
        return CallToolResult(content=content, structured_content=json.loads(text))

    def search(query: str, k: int = 5, corpus: str | None = None) -> CallToolResult:
        """Find documents of the corpus for a question, the best first."""
        return answered(SearchBody, {"query": query, "k": k, "corpus": corpus}, service.search)

    def ask(question: str, corpus: str | None = None, k: int = 5) -> CallToolResult:
        """Answer a biomedical question from the corpus, each sentence cited and each citation judged."""
        return answered(AskBody, {"question": question, "corpus": corpus, "plan": {"search": {"k": k}}}, service.ask)

    def check(answer: str, documents: Sequence[dict[str, str]], question: str | None = None) -> CallToolResult:
        """Judge whether each sentence of an answer with markers such as [1] is supported by the documents it cites."""
        body = {"answer": answer, "documents": list(documents), "question": question}
        return answered(AnswerBody, body, lambda made: service.check(made, keep=False))

    def attribute(answer: str, documents: Sequence[dict[str, str]]) -> CallToolResult:
        """Find which documents support each sentence of an answer, and cite them."""
        return answered(AnswerBody, {"answer": answer, "documents": list(documents)}, service.attribute)

    made = [(search, SearchFound), (ask, Run), (check, Checked), (attribute, Attribution)]
    server = MCPServer(
        "vericite",
        instructions=_WHAT,
        version=__version__,
        log_level="WARNING",
        tools=[_tool(call, gives) for call, gives in made],
    )
    server.resource(_PLACE + "{corpus}/{id}", name="document", mime_type="application/json")(held.read)
    return server


def routes_of(tools: MCPServer[Any], largest: int) -> list[BaseRoute]:
    """Where tools answer over HTTP, at ``/mcp``; hosts and origins are the gate's business.

    Args:
        tools: The server of tools.
        largest: Bytes of a request.
    """
    security = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    routes = tools.streamable_http_app(
        json_response=True, stateless_http=True, max_request_body_size=largest, transport_security=security
    ).routes
    for route in routes:
        if isinstance(route, Route):
            route.app = _watched(route.app)
    return routes


class _Client:
    """Whoever sent a request: what is done for it, until it goes away."""

    def __init__(self) -> None:
        self._work: set[Work] = set()
        self._left = False

    def add(self, work: Work) -> None:
        """Have work end when the client leaves."""
        self._work.add(work)
        if self._left:
            self.leave()

    def leave(self) -> None:
        """The client went away."""
        self._left = True
        for work in list(self._work):
            work.stop("the client went away")


_client: ContextVar[_Client | None] = ContextVar("client", default=None)


def _watched(app: ASGIApp) -> ASGIApp:
    """An application whose work ends when its client goes away, which the SDK looks for on some of its ways alone."""

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        client, gone, first = _Client(), asyncio.Event(), [await receive()]
        await asyncio.to_thread(refuse_many_values, first[0].get("body", b""), MOST_VALUES)
        token = _client.set(client)

        async def watch() -> None:
            while (await receive())["type"] != "http.disconnect":
                pass
            client.leave()
            gone.set()

        async def again() -> Message:
            if first:
                return first.pop()
            await gone.wait()
            return {"type": "http.disconnect"}

        watching = asyncio.create_task(watch())
        try:
            await app(scope, again, send)
        finally:
            watching.cancel()
            _client.reset(token)

    return answer


@contextmanager
def _turn(turns: Turns | None) -> Generator[None]:
    if turns is None:
        yield
        return
    work = turns.take()
    if (client := _client.get()) is not None:
        client.add(work)
    try:
        with at_work(work):
            yield
    finally:
        turns.work.discard(work)


class _Quiet(GenerateJsonSchema):
    """Without a word about defaults that JSON cannot say."""

    ignored_warning_kinds: set[JsonSchemaWarningKind] = {"skipped-choice", "non-serializable-default"}  # noqa: RUF012


class _Told(Tool):
    """A tool that says of arguments what was expected and what was found, and takes none that it does not know."""

    async def run(self, arguments: dict[str, Any], context: Context[Any, Any], convert_result: bool = False) -> Any:
        known = self.parameters["properties"]
        if unknown := [name for name in arguments if name not in known]:
            raise ToolError(f"expected arguments out of {', '.join(known)}; found {unknown[0][:60]!r}")
        try:
            return await super().run(arguments, context, convert_result)
        except ToolError as error:
            if not isinstance(error.__cause__, ValidationError):
                raise
            field, problem = first_problem(error.__cause__)
            raise ToolError(f"{field}: {problem}" if field else problem) from None


def _tool(call: Callable[..., CallToolResult], gives: type[Record]) -> Tool:
    """A tool whose results have the form of a record."""
    tool = _Told.from_function(call, annotations=ToolAnnotations(read_only_hint=True), structured_output=False)
    # Told, and not checked once more: records have been, and are refused lists where they have tuples.
    tool.fn_metadata.output_schema = gives.model_json_schema(mode="serialization", schema_generator=_Quiet)
    return tool


def _of_corpus(made: Record) -> Sequence[Document]:
    """The documents that a result brings from a corpus: not those that the client sent itself."""
    if isinstance(made, SearchFound):
        return [hit.document for hit in made.evidence]
    return made.answer.documents if isinstance(made, Run) else ()
