"""Refuse to send an answer whose citations do not hold."""

from fastapi import FastAPI, HTTPException

import vericite as vc

app = FastAPI()


@app.post("/answer")
async def answer(text: str, sources: list[str]) -> str:
    """Return the text only if every sentence cites a source that supports it."""
    if not (checked := await vc.acheck(text, sources)).supported:
        raise HTTPException(422, repr(checked))
    return text
