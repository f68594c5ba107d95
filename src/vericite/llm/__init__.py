"""Language models: one careful client, over the network or in this process.

    with LLM("ollama:llama3.2") as llm:
        for reply in llm.map(ChatRequest.ask(question) for question in questions):
            print(reply.text if isinstance(reply, Completion) else reply.reason)

The client loads when it is first used. The values alone need neither an event loop nor its packages.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from vericite.llm.chat import CallFailure, ChatRequest, Completion, FrozenSchema, Message, Price, Reply, Settings, Usage
from vericite.llm.spec import ModelSpec
from vericite.network.access import offline_by_environment
from vericite.records import Ledger

if TYPE_CHECKING:
    from vericite.llm.client import LLM
    from vericite.llm.replies import Parsed
    from vericite.llm.retry import Backend, BackendError, RawReply

__all__ = [
    "LLM",
    "Backend",
    "BackendError",
    "CallFailure",
    "ChatRequest",
    "Completion",
    "FrozenSchema",
    "Ledger",
    "Message",
    "ModelSpec",
    "Parsed",
    "Price",
    "RawReply",
    "Reply",
    "Settings",
    "Usage",
    "offline_by_environment",
]

_HOMES = {
    "LLM": "vericite.llm.client",
    "Backend": "vericite.llm.retry",
    "BackendError": "vericite.llm.retry",
    "Parsed": "vericite.llm.replies",
    "RawReply": "vericite.llm.retry",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for."""
    if name not in _HOMES:
        raise AttributeError(f"module 'vericite.llm' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value
