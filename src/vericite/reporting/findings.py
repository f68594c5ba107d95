"""What was found of each sentence, with its place in the file: for test reports and annotations of other programs."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from vericite.evaluate.gates import GATE_SHARES, GateResult
from vericite.records import CheckedAnswer, UncitedClaim, Verdict, VerificationFailure
from vericite.records.results import NO_TEXT
from vericite.reporting.run_lines import markers, probability, what_is_wrong

Level = Literal["error", "warning", "note", "none"]


@dataclass(frozen=True)
class Rule:
    """A kind of finding: how serious it is, and what it means, in a short and a full sentence."""

    level: Level
    short: str
    full: str


RULES: dict[str, Rule] = {
    "contradicted": Rule("error", "A source contradicts the sentence", "The cited source says the opposite."),
    "dangling": Rule("error", "The marker points to no source", "The answer cites a source that it does not have."),
    "irrelevant": Rule("warning", "Not found in the source", "The cited source does not say what the sentence says."),
    "retracted": Rule("warning", "The source is retracted", "The source supports the sentence and is retracted."),
    "figure": Rule("note", "Supported, with another figure in the source", "A figure differs: a person should look."),
    "opposed": Rule("note", "Supported, but another source says the opposite", "The cited sources do not agree."),
    "uncited": Rule("note", "The sentence cites nothing", "No source can be checked for the sentence."),
    "abstained": Rule("note", "No verdict", "The text is not English or empty, or the judge is too uncertain."),
    "failed": Rule("note", "The judge gave no verdict", "The judge failed; the message has its reason."),
}
"""The kinds of findings by name."""


@dataclass(frozen=True)
class Finding:
    """What was found of a sentence and one of its citations, or of a sentence without a citation.

    Attributes:
        kind: A name in ``RULES``; otherwise ``supported`` or ``quoted``.
        answer: Id of the answer.
        sentence: The sentence, without markers.
        cites: Its markers, as printed; empty if it cites nothing.
        documents: The cited documents.
        line: The line of the file on which the sentence or its record begins; 0 if the file has no lines.
        end_line: The line on which the sentence ends.
        probability: The judge's probability of the verdict, as printed; empty without one.
        evidence: The passages that decided, each with its document.
        reason: Why it is not supported, if that is known.
        is_known: Whether the sentence was already as bad in the baseline.
        is_listed: Whether the answer's own list of references has the cited work, without its text.
    """

    kind: str
    answer: str
    sentence: str
    cites: str = ""
    documents: tuple[str, ...] = ()
    line: int = 0
    end_line: int = 0
    probability: str = ""
    evidence: tuple[tuple[str, str], ...] = ()
    reason: str = ""
    is_known: bool = False
    is_listed: bool = False

    @property
    def level(self) -> Level:
        """How serious it is; ``none`` if the sentence is supported."""
        return RULES[self.kind].level if self.kind in RULES else "none"

    @property
    def title(self) -> str:
        """The kind in words, with the probability."""
        sure = f" (p {self.probability})" if self.probability else ""
        if self.is_listed:
            return "The list of references has no text of the source"
        return f"{RULES[self.kind].short if self.kind in RULES else self.kind}{sure}"

    @property
    def message(self) -> str:
        """The kind, the sentence, the evidence and the reason, a line each."""
        lines = [f"{self.title}: {self.sentence}{f' {self.cites}' if self.cites else ''}"]
        lines += [f"Source {document}: {text}" for document, text in self.evidence if text]
        return "\n".join([*lines, *([f"Reason: {self.reason}"] if self.reason else [])])


@dataclass(frozen=True)
class UnusableRecord:
    """A record that could not be used.

    Attributes:
        file: The name of its file; empty for the standard input.
        line: Its line; 0 if it is unknown.
        problem: What was expected and what was found.
    """

    file: str
    line: int
    problem: str

    @property
    def place(self) -> str:
        """The file and the line in words."""
        return (self.file or "standard input") + (f", line {self.line}" if self.line else "")


@dataclass(frozen=True)
class RecordPlace:
    """Where a record begins, and the lines of its text.

    Attributes:
        line: The line; 0 if it is unknown, or if the file has no lines.
        text: The text of a record that is a text file. Its offsets are those of the file, from ``line`` on.
    """

    line: int = 0
    text: str = ""

    def line_at(self, offset: int) -> int:
        """Return the line of the file at an offset in the text; in other files, the record's line."""
        return self.line + self.text.count("\n", 0, offset) if self.line else 0


_WORD = re.compile(r"\w+")
_WORDS, _BETWEEN = 6, 8


class SourceLines:
    """Finds the lines of sentences in the file that they were read from, such as LaTeX, by their first words.

    Sentences are looked for in their order in the file.
    """

    def __init__(self, source: str) -> None:
        found = list(_WORD.finditer(source))
        self._places: dict[str, list[int]] = {}
        for number, word in enumerate(found):
            self._places.setdefault(word[0], []).append(number)
        ends = [place for place, char in enumerate(source) if char == "\n"]
        self._lines = [bisect_left(ends, word.start()) + 1 for word in found]
        self._after = 0

    def line_of(self, sentence: str) -> int:
        """Return the line on which a sentence begins; 0 if it is not found."""
        words = _WORD.findall(sentence)[:_WORDS]
        firsts = self._places.get(words[0], []) if words else []
        for first in firsts[bisect_left(firsts, self._after) :]:
            if self._follow(first, words[1:]):
                self._after = first
                return self._lines[first]
        return 0

    def _follow(self, place: int, words: Sequence[str]) -> bool:
        """Whether these words follow, with only a few others between them, such as the names of commands."""
        for word in words:
            there = self._places.get(word, [])
            at = bisect_left(there, place + 1)
            if at == len(there) or there[at] - place > _BETWEEN:
                return False
            place = there[at]
        return True


_IsKnown = Callable[[str, str, str], bool]


def findings_of(checked: CheckedAnswer, place: RecordPlace, is_known: _IsKnown | None = None) -> Iterator[Finding]:
    """Yield a finding for each verdict, failure and uncited sentence of an answer, in the order of the text.

    Args:
        checked: The verdicts on the answer.
        place: Where its record is.
        is_known: Whether a baseline has this answer and sentence with an outcome that is no better.
    """
    items = [*checked.verdicts, *checked.failures, *checked.uncited]
    for item in sorted(items, key=lambda item: item.start):
        kind = _kind(item, checked.kind_of(item)) if isinstance(item, Verdict) else item.label
        known = is_known is not None and kind in RULES and is_known(checked.id, item.claim, kind)
        yield _finding(checked.id, item, kind, place, known)


def finding_of_verdict(verdict: Verdict) -> Finding:
    """Return the finding of a verdict on its own."""
    return _finding("", verdict, _kind(verdict, verdict.outcome), RecordPlace(), False)


def _kind(verdict: Verdict, kind: str) -> str:
    if verdict.retracted and kind in ("supported", "quoted"):
        return "retracted"
    return "figure" if verdict.has_other_figure else "opposed" if verdict.opposition else kind


def _finding(
    answer: str, item: Verdict | VerificationFailure | UncitedClaim, kind: str, place: RecordPlace, is_known: bool
) -> Finding:
    found = Finding(
        kind,
        answer,
        " ".join(item.claim.split()) or "(no text with the citation)",
        line=place.line_at(item.start),
        end_line=place.line_at(max(item.start, item.end - 1)),
        is_known=is_known,
    )
    if isinstance(item, UncitedClaim):
        return found
    found = replace(found, cites=markers(item.markers), documents=item.documents)
    if isinstance(item, VerificationFailure):
        return replace(found, reason=item.reason)
    evidence = tuple((span.document, " ".join((span.text or "").split())) for span in item.evidence)
    reason = "; ".join(filter(None, (what_is_wrong(item), item.elsewhere, *item.reasons)))
    is_listed = item.native == NO_TEXT
    return replace(found, probability=probability(item), evidence=evidence, reason=reason, is_listed=is_listed)


_MOST = 20


def unsupported(result: GateResult, findings: Iterable[Finding]) -> str:
    """Return the message for an answer that did not pass a gate: the share, and what was found of each sentence."""
    found = [finding.message for finding in findings if finding.level != "none"]
    counts = result.found
    share = "" if counts.share is None else f" ({counts.share:.3f})"
    denominator = GATE_SHARES[result.gate.name].denominator
    head = (
        f"expected at least {result.gate.limit:g} {result.gate.name}; found {counts.count} of {counts.of} {denominator}"
    )
    more = [f"... and {len(found) - _MOST} more"] if len(found) > _MOST else []
    more += [f"{result.unjudged[0].upper()}{result.unjudged[1:]}"] if result.unjudged else []
    return "\n\n".join([f"{head}{share}", *found[:_MOST], *more])
