"""The tools, by the SDK's own client, over the standard streams and over HTTP."""

from __future__ import annotations

import json
import os
import sys
import time
from base64 import b64encode
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

mcp = pytest.importorskip("mcp", reason="needs the extra [mcp]")
anyio = pytest.importorskip("anyio")
httpx2 = pytest.importorskip("httpx2")

SOURCE = {"id": "d1", "text": "Zelotrine reduced pain in 40 of 80 adults."}
TOKEN = "0123456789abcdef0123"
EXAMPLE = Path(__file__).parents[2] / "examples/manuscript"
MINE = f"mine={EXAMPLE / 'sources.jsonl'}"


async def use(client: Any) -> None:
    """Each tool once, and what is wrong as messages."""
    listed = (await client.list_tools()).tools
    assert [tool.name for tool in listed] == ["search", "ask", "check", "check_manuscript", "attribute", "evidence"]
    assert all(tool.output_schema["properties"] for tool in listed)
    found = await client.call_tool("search", {"query": "aspirin", "k": 2})
    assert len(found.structured_content["evidence"]) == 2
    links = [it for it in found.content if it.type == "resource_link"]
    assert [it.name for it in links] == [it["document"]["id"] for it in found.structured_content["evidence"]]
    read = await client.read_resource(links[0].uri)
    assert json.loads(read.contents[0].text) == found.structured_content["evidence"][0]["document"]
    found = await client.call_tool("ask", {"question": "Does aspirin prevent heart attacks?"})
    assert found.structured_content["checked"]["verdicts"]
    assert len([it for it in found.content if it.type == "resource_link"]) == len(
        found.structured_content["answer"]["documents"]
    )
    question = {"question": "Does aspirin prevent heart attacks?"}
    for given, count in (({"plan": {"search": {"k": 2}}}, 2), ({"plan": {"search": {"k": 2}}, "k": 3}, 3)):
        found = await client.call_tool("ask", {**question, **given})
        assert len(found.structured_content["evidence"]) == count
    for plan, named in (
        ({"search": {"corpus": "/etc"}}, "'corpus'"),
        ({"serach": {}}, "plan.serach"),
        ({"search": 1}, ""),
    ):
        refused = await client.call_tool("ask", {**question, "k": 1, "plan": plan})
        assert refused.is_error and "expected" in refused.content[0].text and named in refused.content[0].text
    body = {"answer": "Zelotrine reduced pain in 40 of 80 adults [1].", "documents": [SOURCE]}
    found = await client.call_tool("check", body)
    assert found.structured_content["checked"]["verdicts"][0]["label"] == "supported"
    assert [it.type for it in found.content] == ["text"], "what the client sent is no document of ours"
    found = await client.call_tool("attribute", {**body, "answer": "Zelotrine reduced pain in 40 of 80 adults."})
    assert found.structured_content["answer"]["text"].endswith("[1].")
    found = await client.call_tool("evidence", {"answer": "Aspirin prolongs disability-free survival in older adults."})
    assert found.structured_content["sentences"][0]["contradicting"]
    for wrong in (
        {"query": " "},
        {},
        {"query": "a", "corpus": "/etc"},
        {"query": "a", "k": "many"},
        {"query": "a", "by": 1},
    ):
        refused = await client.call_tool("search", wrong)
        assert refused.is_error and "expected" in refused.content[0].text and "pydantic" not in refused.content[0].text
    refused = await client.call_tool("check", {"answer": "It works [1].", "documents": [{"text": "No id."}]})
    assert refused.is_error and "documents.0.id" in refused.content[0].text
    with pytest.raises(mcp.MCPError):
        await client.read_resource("vericite://documents/demo/..%2f..%2fetc%2fpasswd")


def test_each_tool_answers_over_the_standard_streams(tmp_path: Path):
    async def over_streams() -> None:
        command = mcp.StdioServerParameters(
            command=sys.executable,
            args=["-m", "vericite", "mcp", "--set", f"service.state={tmp_path}", "--corpus", "demo", "--corpus", MINE],
            env=dict(os.environ),
        )
        async with mcp.Client(command) as client:
            await use(client)
            await check_a_manuscript_by_path(client)

    anyio.run(over_streams)


async def check_a_manuscript_by_path(client: Any) -> None:
    given = {"path": str(EXAMPLE / "draft.md"), "bibliography": [str(EXAMPLE / "library.bib")], "sources": ["mine"]}
    found = await client.call_tool("check_manuscript", given)
    assert not found.is_error, found.content
    assert found.structured_content["summary"] in found.content[0].text
    outcomes = [item["outcome"] for item in found.structured_content["sentences"]]
    assert outcomes == ["contradicted", "not found", "partly supported"]
    assert "“Corvadil reduced the number of night-time coughs by half.”" in found.content[0].text
    assert [item["key"] for item in found.structured_content["references"]] == ["vasquez2020", "mbeki2022"]
    with TemporaryDirectory() as folder:
        (Path(folder) / "main.tex").write_text("\\documentclass{a}\\input{part}\\bibliography{library}")
        (Path(folder) / "part.tex").write_text("Zelotrine lowered blood pressure \\cite{abernathy2019}.")
        found = await client.call_tool("check_manuscript", {**given, "path": f"{folder}/main.tex"})
    assert not found.is_error, found.content
    assert found.structured_content["summary"].startswith("1 citing sentence"), "a part next to the file is read"
    assert "not found next to" not in found.content[0].text, "the bibliography was given"
    for wrong, said in (
        ({"path": "/etc/passwd"}, "that ends in"),
        ({"path": str(EXAMPLE / "none.docx")}, "found no"),
        ({"path": str(EXAMPLE)}, "that ends in"),
        ({**given, "sources": ["pubmed"]}, "pubmed"),
        ({"name": "a.docx", "content": ""}, "path"),
    ):
        refused = await client.call_tool("check_manuscript", wrong)
        assert refused.is_error and said in refused.content[0].text, refused.content


async def check_a_manuscript_sent(client: Any) -> None:
    content = b64encode((EXAMPLE / "draft.docx").read_bytes()).decode()
    found = await client.call_tool("check_manuscript", {"name": "draft.docx", "content": content})
    assert not found.is_error, found.content
    assert "No source was named" in found.content[0].text
    refused = await client.call_tool("check_manuscript", {"path": str(EXAMPLE / "draft.docx")})
    assert refused.is_error, "no path of this machine over HTTP"
    refused = await client.call_tool("check_manuscript", {"name": "a.docx", "content": "not base64!"})
    assert refused.is_error and "base64" in refused.content[0].text


def test_each_tool_answers_over_http(server):
    async def over_http() -> None:
        async with mcp.Client(f"{server.address}/mcp") as client:
            await use(client)
            await check_a_manuscript_sent(client)

    anyio.run(over_http)


def test_the_gate_protects_tools_over_http(guarded):
    server = guarded
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    accept = {"accept": "application/json, text/event-stream"}
    assert server.post("/mcp", call, **accept).status_code == 401
    own = {**accept, "authorization": f"Bearer {TOKEN}"}
    assert server.post("/mcp", call, **own, origin="https://evil.example").status_code == 403
    assert server.post("/mcp", call, **own, host="evil.example").status_code == 421

    async def with_token() -> None:
        from mcp.client.streamable_http import streamable_http_client

        async with httpx2.AsyncClient(headers={"authorization": f"Bearer {TOKEN}"}, timeout=60) as http:
            async with mcp.Client(streamable_http_client(f"{server.address}/mcp", http_client=http)) as client:
                assert len((await client.list_tools()).tools) == 6

    anyio.run(with_token)


@pytest.mark.parametrize("version", ["2025-06-18", "2026-07-28"])
def test_a_call_over_http_ends_when_its_client_disconnects(server, version: str):
    before = server.judged
    sentences = " ".join(
        f"Cohort {n} of {version} had {n} of {n + 80} adults with pain that zelotrine reduced [1]." for n in range(190)
    )
    arguments = {"answer": sentences, "documents": [{**SOURCE, "text": SOURCE["text"] * 40}]}
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "check", "arguments": arguments}}
    if version >= "2026":
        call["params"]["_meta"] = {
            "io.modelcontextprotocol/protocolVersion": version,
            "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        }
    headers = {
        "accept": "application/json, text/event-stream", "mcp-protocol-version": version, "mcp-method": "tools/call",
        "mcp-name": "check",
    }  # fmt: skip
    with pytest.raises(httpx2.ReadTimeout):
        httpx2.post(f"{server.address}/mcp", json=call, headers=headers, timeout=1)
    end = time.monotonic() + 30
    while "vericite_requests_in_flight 0" not in server.get("/metrics").text:
        assert time.monotonic() < end
        time.sleep(0.05)
    assert server.judged_in_the_end() - before < 190, "it was not worked for to its end"
