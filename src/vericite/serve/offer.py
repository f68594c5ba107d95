"""What a service offers: sources, models, default settings, and limits."""

from __future__ import annotations

from dataclasses import dataclass, field

from vericite.pipeline.plan import Plan


@dataclass(frozen=True)
class Limits:
    """Limits of the service. Each is a maximum.

    Attributes:
        body: Bytes of a request body.
        body_seconds: Seconds to send a body.
        upload: Bytes of an uploaded file.
        documents: Documents in a request.
        characters: Characters of all documents in a request.
        sentences: Sentences in an answer.
        pairs: Pairs of a sentence and a source sentence to judge in a request, as estimated beforehand.
        job_pairs: The same limit for an item of a job.
        citations: Citing places of a manuscript.
        references: References of a manuscript.
        manuscript_seconds: Seconds that checking a manuscript may take.
        running: Requests that run at a time.
        waiting: Requests that wait; further ones are refused.
        seconds: Seconds that a request may take.
        rate: Requests per minute and client.
        items: Items in a job.
        job_documents: Documents in all items of a job.
        waiting_bytes: Bytes of all unfinished jobs; further jobs are refused.
        kept_bytes: Bytes of all jobs; the oldest finished jobs are deleted first.
        shelves: Shelves that clients make.
        shelf_documents: Documents on a shelf.
        shelf_characters: Characters of the documents in a file for a shelf.
        shelf_bytes: Bytes of all shelves together; further files are refused.
    """

    body: int = 16_000_000
    body_seconds: float = 20
    upload: int = 32_000_000
    documents: int = 200
    characters: int = 5_000_000
    sentences: int = 200
    pairs: int = 40_000
    job_pairs: int = 400_000
    citations: int = 5_000
    references: int = 2_000
    manuscript_seconds: float = 900
    running: int = 16
    waiting: int = 64
    seconds: float = 120
    rate: int = 600
    items: int = 10_000
    job_documents: int = 50_000
    waiting_bytes: int = 500_000_000
    kept_bytes: int = 2_000_000_000
    shelves: int = 50
    shelf_documents: int = 5_000
    shelf_characters: int = 50_000_000
    shelf_bytes: int = 2_000_000_000


@dataclass(frozen=True)
class Offer:
    """What the service offers.

    Attributes:
        plan: Default settings of requests.
        corpora: Document sources by the names that requests use.
        models: Language models by the names that requests use.
        limits: Limits of requests.
        sources: Where references of manuscripts may be looked up, in addition to the corpora, by name.
    """

    plan: Plan = field(default_factory=Plan)
    corpora: dict[str, str] = field(default_factory=lambda: {"demo": "demo"})
    models: dict[str, str] = field(default_factory=dict[str, str])
    limits: Limits = field(default_factory=Limits)
    sources: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def works(self) -> dict[str, str]:
        """Where references may be looked up, by the names that requests use."""
        return {**self.corpora, **self.sources}
