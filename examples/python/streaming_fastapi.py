"""Send an answer while a model writes it, and each verdict when it is known, as server-sent events."""

from collections.abc import AsyncIterable

from fastapi import FastAPI
from fastapi.sse import EventSourceResponse, ServerSentEvent

import vericite as vc

app = FastAPI()  # app.state.model(question) is an async stream of pieces of text


@app.post("/answer", response_class=EventSourceResponse)
async def answer(question: str, sources: list[str]) -> AsyncIterable[ServerSentEvent]:
    """A verdict has the place of its sentence in the text."""
    async for part in vc.CheckStream(sources).afollow(app.state.model(question)):
        yield ServerSentEvent(data=part, event="piece" if isinstance(part, str) else part.label)
