"""The service's calls as tools for assistants, by the Model Context Protocol."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

from vericite.errors import VeriCiteError
from vericite.records import Record, to_json
from vericite.serve.bodies import AnswerBody, AskBody, SearchBody, parsed
from vericite.serve.service import Service
from vericite.version import __version__

# pyright: reportUnusedFunction=false

_WHAT = (
    "Answers biomedical questions from sources with a citation on every sentence, and checks the citations of any "
    "answer. Verdicts are a model's, and models err. Not medical advice."
)


def make_tools(service: Service) -> MCPServer[Any]:
    """A server of tools: search, ask, check and attribute.

    Documents are given as ``{"id", "text", "title"?}``, in the order that the markers of an answer count.
    """
    server = MCPServer("vericite", instructions=_WHAT, version=__version__)

    @server.tool(structured_output=True)
    def search(query: str, k: int = 5, corpus: str | None = None) -> dict[str, Any]:
        """Find documents of the corpus for a question, the best first."""
        return _told(SearchBody, {"query": query, "k": k, "corpus": corpus}, service.search)

    @server.tool(structured_output=True)
    def ask(question: str, corpus: str | None = None, k: int = 5) -> dict[str, Any]:
        """Answer a biomedical question from the corpus, each sentence cited and each citation judged."""
        body = {"question": question, "corpus": corpus, "plan": {"search": {"k": k}}}
        return _told(AskBody, body, service.ask)

    @server.tool(structured_output=True)
    def check(answer: str, documents: Sequence[dict[str, str]], question: str | None = None) -> dict[str, Any]:
        """Judge whether each sentence of an answer with markers such as [1] is supported by the documents it cites."""
        body = {"answer": answer, "documents": list(documents), "question": question}
        return _told(AnswerBody, body, lambda made: service.check(made, keep=False))

    @server.tool(structured_output=True)
    def attribute(answer: str, documents: Sequence[dict[str, str]]) -> dict[str, Any]:
        """Find which documents support each sentence of an answer, and cite them."""
        return _told(AnswerBody, {"answer": answer, "documents": list(documents)}, service.attribute)

    return server


def _told(kind: type[Any], body: dict[str, Any], call: Callable[[Any], Record]) -> dict[str, Any]:
    """What a call gives, as plain values; what is wrong with its arguments as a message to the assistant."""
    try:
        return json.loads(to_json(call(parsed(kind, json.dumps(body)))))
    except VeriCiteError as error:
        raise ToolError(str(error)) from None
