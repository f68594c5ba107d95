"""BioGen's rules for a run of task B, as a validator that takes whatever a file holds.

The rules are those of the track's pages: the guidelines of 2025 (``trec-biogen.github.io/docs``) and the page on the
submission format of 2024 (``dmice.ohsu.edu/trec-biogen/submission_format.html``). An answer has 250 words at most. A
sentence cites three PubMed ids at most. Each cited id is in ``references``, which has each id once and none that is not
cited. Each topic of the track is answered once. Malformed content is discarded by the track.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any, cast

from vericite.errors import RecordError
from vericite.formats.files import raw_records

WORDS = 250
"""Words that an answer has at most."""
PMIDS = 3
"""PubMed ids that a sentence cites at most."""
_DIGITS = 8
"""Of a PubMed id, at most."""


def answer_problems(run: object, topics: Collection[str] = ()) -> list[str]:
    """What the track's rules have against an answer; nothing where they take it.

    Args:
        run: A line of a run, of whatever form.
        topics: The topics of the track; any if none are given.
    """
    if not isinstance(run, dict):
        return [f"expected an object; found {type(run).__name__}"]
    fields = cast("dict[str, Any]", run)
    found = _metadata_problems(fields.get("metadata"), topics)
    sentences = fields.get("responses")
    if not isinstance(sentences, list) or not sentences:
        return [*found, f"expected sentences under responses; found {'none' if sentences == [] else 'no list'}"]
    cited: list[str] = []
    words = 0
    for number, sentence in enumerate(cast("list[object]", sentences), start=1):
        problems, ids, length = _sentence(sentence, number)
        found += problems
        cited += ids
        words += length
    if words > WORDS:
        found.insert(0, f"expected {WORDS} words at most; found {words}")
    return [*found, *_reference_problems(fields.get("references"), cited)]


def _metadata_problems(metadata: object, topics: Collection[str]) -> list[str]:
    if not isinstance(metadata, dict):
        return ["expected metadata with topic_id and run_name; found none"]
    fields = cast("dict[str, Any]", metadata)
    found = [
        f"expected metadata.{name} to be a text; found {fields.get(name)!r:.40}"
        for name in ("topic_id", "run_name")
        if not isinstance(fields.get(name), str | int) or not str(fields[name]).strip()
    ]
    topic = str(fields.get("topic_id", ""))
    if topics and topic not in topics:
        found.append(f"expected a topic of the track; found {topic!r:.40}")
    return found


def _sentence(sentence: object, number: int) -> tuple[list[str], list[str], int]:
    """What is wrong with a sentence, the PubMed ids that it cites, and its words."""
    fields = cast("dict[str, Any]", sentence) if isinstance(sentence, dict) else {}
    text, citations = fields.get("text"), fields.get("citations", [])
    if not isinstance(text, str) or not text.strip():
        return [f"expected a text in sentence {number}; found none"], [], 0
    if not isinstance(citations, list | dict):
        return [f"expected a list of PMIDs in sentence {number}; found {citations!r:.40}"], [], len(text.split())
    ids = [str(id) for id in cast("Collection[object]", citations)]
    found: list[str] = []
    if len(ids) > PMIDS:
        found.append(f"expected {PMIDS} PMIDs at most in sentence {number}; found {len(ids)}")
    if wrong := [id for id in ids if not _is_pmid(id)]:
        found.append(f"expected PMIDs in sentence {number}; found {wrong[0]!r:.40}")
    if twice := [id for id, count in Counter(ids).items() if count > 1]:
        found.append(f"expected each PMID once in sentence {number}; found {twice[0]!r:.40} twice")
    return found, ids, len(text.split())


def _is_pmid(id: str) -> bool:
    return id.isascii() and id.isdecimal() and len(id) <= _DIGITS and id[0] != "0"


def _reference_problems(references: object, cited: Sequence[str]) -> list[str]:
    if references is None:
        return []
    if not isinstance(references, list):
        return [f"expected references to be a list of PMIDs; found {references!r:.40}"]
    listed = [str(id) for id in cast("list[object]", references)]
    found: list[str] = []
    if twice := [id for id, count in Counter(listed).items() if count > 1]:
        found.append(f"expected each reference once; found {twice[0]!r:.40} twice")
    if absent := [id for id in dict.fromkeys(cited) if id not in set(listed)]:
        found.append(f"expected each cited PMID among the references; {absent[0]!r:.40} is not")
    if idle := [id for id in dict.fromkeys(listed) if id not in set(cited)]:
        found.append(f"expected each reference to be cited; {idle[0]!r:.40} is not")
    return found


def run_problems(path: Path, topics: Collection[str] = ()) -> Iterator[RecordError]:
    """What the rules have against a run: each answer by itself, topics answered twice, and topics left out.

    Raises:
        InputError: The file cannot be read.
    """
    seen: dict[str, int] = {}
    for raw in raw_records(path, lambda fields: "responses" in fields or "metadata" in fields):
        if isinstance(raw, RecordError):
            yield raw
            continue
        yield from (raw.refused(None, problem) for problem in answer_problems(raw.fields, topics))
        metadata = (raw.fields or {}).get("metadata")
        topic = str(cast("dict[str, Any]", metadata).get("topic_id", "")) if isinstance(metadata, dict) else ""
        if topic in seen:
            yield raw.refused(
                "metadata.topic_id", f"expected one answer a topic; {topic!r:.40} is in line {seen[topic]}"
            )
        seen.setdefault(topic, raw.line)
    if not seen:
        yield RecordError(path, 0, None, "expected answers, one a line; found none")
    for topic in sorted(set(topics) - seen.keys()):
        yield RecordError(path, 0, "metadata.topic_id", f"expected an answer to topic {topic!r:.40}; found none")
