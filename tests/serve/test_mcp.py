"""The tools, by the SDK's own client."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

mcp = pytest.importorskip("mcp", reason="needs the extra [mcp]")
anyio = pytest.importorskip("anyio")

SOURCE = {"id": "d1", "text": "Zelotrine reduced pain in 40 of 80 adults."}


def test_each_tool_is_listed_and_answers_over_the_standard_streams(tmp_path: Path):
    async def use() -> None:
        command = mcp.StdioServerParameters(
            command=sys.executable, args=["-m", "vericite", "mcp", "--state", str(tmp_path)], env=dict(os.environ)
        )
        async with mcp.Client(command) as client:
            listed = await client.list_tools()
            assert [tool.name for tool in listed.tools] == ["search", "ask", "check", "attribute"]
            found = await client.call_tool("search", {"query": "aspirin", "k": 2})
            assert len(found.structured_content["evidence"]) == 2
            found = await client.call_tool("ask", {"question": "Does aspirin prevent heart attacks?"})
            assert found.structured_content["checked"]["verdicts"]
            body = {"answer": "Zelotrine reduced pain in 40 of 80 adults [1].", "documents": [SOURCE]}
            found = await client.call_tool("check", body)
            assert found.structured_content["checked"]["verdicts"][0]["label"] == "supported"
            found = await client.call_tool(
                "attribute", {**body, "answer": "Zelotrine reduced pain in 40 of 80 adults."}
            )
            assert found.structured_content["answer"]["text"].endswith("[1].")
            for wrong in ({"query": " "}, {}, {"query": "a", "corpus": "/etc"}, {"query": "a", "k": "many"}):
                refused = await client.call_tool("search", wrong)
                assert refused.is_error and "Traceback" not in refused.content[0].text

    anyio.run(use)
