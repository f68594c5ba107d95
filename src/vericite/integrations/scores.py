"""The scores of an answer that all integrations return, with a reason for each sentence."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from math import nan
from threading import Lock
from typing import Any, Literal, cast, get_args

from vericite.errors import UnknownNameError, VeriCiteError
from vericite.evaluate.gates import GATE_SHARES
from vericite.evaluate.items import Item
from vericite.evaluate.measures.measure import Measure
from vericite.evaluate.measures.verdicts import AlcePrecision, AlceRecall
from vericite.formats.objects import as_documents
from vericite.pipeline.check import check
from vericite.records import CheckedAnswer
from vericite.records.results import summary_in_words
from vericite.reporting.blocks import escaped
from vericite.verify.judges.function import AnyJudge
from vericite.verify.protocol import DEFAULT, Protocol

ScoreName = Literal["support", "contradiction", "citation_recall", "citation_precision"]
"""``support``: share of sentences that their sources support; sentences without a source and sources that do not exist
count against it, as in ``vericite check --fail-under supported=...``. ``contradiction``: share of judged sentences that
a source contradicts. ``citation_recall`` and ``citation_precision``: ALCE's two figures, under protocol ``alce``."""
_ALCE: Mapping[str, Measure] = {"citation_recall": AlceRecall(), "citation_precision": AlcePrecision()}
_SHARES = {"support": "supported", "contradiction": "contradicted"}
_MOST_EVIDENCE = 300
"""Maximum characters of a quoted passage in a reason."""


@dataclass(frozen=True)
class AnswerScore:
    """A score of one answer.

    Attributes:
        name: The name of the score.
        value: From 0 to 1; None if there is nothing to count: no text, no judged sentence, or only failures.
        checked: What ``vericite.check`` returned.
    """

    name: ScoreName
    value: float | None
    checked: CheckedAnswer

    @property
    def number(self) -> float:
        """The value, or NaN, which the libraries leave out of their means."""
        return nan if self.value is None else self.value

    @property
    def to_maximize(self) -> float:
        """The value for libraries in which more is better: 1 minus a share of contradictions, and 0 without a value."""
        if self.value is None:
            return 0.0
        return self.value if _higher_is_better(self.name) else 1.0 - self.value

    def is_below(self, at_least: float) -> bool:
        """Whether the value is lower than a minimum. No value is lower than any minimum, except 0."""
        return at_least > 0 and (self.value is None or self.value < at_least)

    @property
    def reason(self) -> str:
        """One line for each sentence and its sources: the verdict, its probability, and the evidence."""
        lines = [summary_in_words(self.checked.summary), *map(reason_of, self.checked.rows)]
        return "\n".join([*lines, *self.checked.assumed])

    @property
    def markdown_reason(self) -> str:
        """The reason as a list in Markdown, in which words of answers and sources are no markup."""
        first, *lines = self.reason.splitlines()
        return "\n".join([escaped(first), "", *(f"- {escaped(line)}" for line in lines)])


def score_answer(
    name: ScoreName,
    answer: object,
    documents: Sequence[object] = (),
    *,
    question: str | None = None,
    protocol: Protocol | str | None = None,
    judge: AnyJudge | None = None,
) -> AnswerScore:
    """Score one answer.

    Args:
        name: Which score.
        answer: A text, an ``Answer``, or what a library returns, as for ``vericite.check``.
        documents: The sources, if the answer does not include them.
        question: The question, for judges that read it.
        protocol: A protocol or its name. Default: ``alce`` for its two figures, otherwise that of ``vericite.check``.
        judge: Replaces the protocol's judge.

    Raises:
        UnknownNameError: There is no such score.
        InputError: The answer or a document cannot be read.
    """
    expect_score(name)
    chosen = protocol or ("alce" if name in _ALCE else DEFAULT)
    single = isinstance(documents, str | Mapping)
    checked = _RECENT.get(answer, (documents,) if single else tuple(documents), question, chosen, judge)
    return AnswerScore(name, _value(name, checked), checked)


def expect_score(name: str) -> ScoreName:
    """Return the name of a score.

    Raises:
        UnknownNameError: There is no such score.
    """
    known: tuple[ScoreName, ...] = get_args(ScoreName)
    for score in known:
        if score == name:
            return score
    raise UnknownNameError("score", name, known)


def _higher_is_better(name: ScoreName) -> bool:
    return name != "contradiction"


@dataclass(frozen=True)
class Threshold:
    """The limit of a score: a minimum, 0.9 by default, or for ``contradiction`` a maximum, 0 by default."""

    name: ScoreName
    given: float | None = None

    @property
    def value(self) -> float:
        """The limit."""
        return (0.9 if _higher_is_better(self.name) else 0.0) if self.given is None else self.given

    def is_met(self, value: float | None) -> bool:
        """Whether a score meets it; an answer in which nothing could be scored does not."""
        if value is None:
            return False
        return value >= self.value if _higher_is_better(self.name) else value <= self.value


def answer_with(response: str, contexts: object, question: str | None = None) -> dict[str, Any]:
    """Return a response with its contexts, in the form in which a response without markers cites them all.

    Args:
        response: The text.
        contexts: A text, or a list of texts, mappings or documents of other libraries.
        question: The question.

    Raises:
        InputError: A context cannot be read.
    """
    documents = as_documents([contexts] if isinstance(contexts, str) else cast("Sequence[object]", contexts))
    sources = [{"id": item.id, "title": item.title, "text": item.text} for item in documents]
    return {"response": response, "retrieved_contexts": sources, "user_input": question}


def reason_of(row: Mapping[str, Any]) -> str:
    """Return the reason for a row of ``CheckedAnswer.rows``: the verdict, its probability, and the evidence."""
    cites = "".join(f"[{marker}]" for marker in row["markers"])
    probability = "" if row["probability"] is None else f" ({row['probability']:.2f})"
    evidence = row["evidence"] if len(row["evidence"]) <= _MOST_EVIDENCE else f"{row['evidence'][:_MOST_EVIDENCE]}..."
    parts = [f"{row['label']}{probability} {cites}".rstrip() + f": {row['claim']}"]
    parts += [f'Source: "{evidence}"'] if evidence else []
    return " ".join(" ".join([*parts, row["reason"]]).split())


def missing(library: str, package: str) -> VeriCiteError:
    """Return the error for a library that is not installed."""
    return VeriCiteError(f"this integration needs {library}. Install it: pip install {package}")


def _value(name: ScoreName, checked: CheckedAnswer) -> float | None:
    if not checked.summary.claims:
        return None
    if name in _ALCE:
        count, of = _ALCE[name].parts(Item(checked.id, checked=checked)) or (0, 0)
    else:
        share = GATE_SHARES[_SHARES[name]]
        count, of = share.count(checked.summary), share.of(checked.summary)
    return count / of if of else None


class _RecentChecks:
    """Checks of recent answers, so that several scores of one answer check it once, in several threads too."""

    def __init__(self, most: int) -> None:
        self._most, self._lock = most, Lock()
        self._found: OrderedDict[str, Future[CheckedAnswer]] = OrderedDict()

    def get(
        self,
        answer: object,
        documents: tuple[object, ...],
        question: str | None,
        protocol: Protocol | str,
        judge: AnyJudge | None,
    ) -> CheckedAnswer:
        """Return a check, made now or before. Only plain values are compared; others are checked each time."""

        def make() -> CheckedAnswer:
            return check(answer, documents, question=question, protocol=protocol, judge=judge)

        try:
            key = json.dumps((answer, documents, question, protocol, judge))
        except (TypeError, ValueError):
            return make()
        return self._made_once(key, make)

    def _made_once(self, key: str, make: Callable[[], CheckedAnswer]) -> CheckedAnswer:
        made: Future[CheckedAnswer] = Future()
        with self._lock:
            known = self._found.get(key)
            if known is None:
                self._found[key] = made
                while len(self._found) > self._most:
                    self._found.popitem(last=False)
        if known is not None:
            return known.result()
        try:
            made.set_result(make())
        except BaseException as error:
            made.set_exception(error)
            with self._lock:
                self._found.pop(key, None)
        return made.result()


_RECENT = _RecentChecks(64)
