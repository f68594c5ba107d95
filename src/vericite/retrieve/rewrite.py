"""Rewriting a question when its evidence is insufficient."""

from __future__ import annotations

import logging
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable
from unicodedata import normalize

from pydantic import BaseModel, ConfigDict

from vericite.corpus.entrez.results import STOPWORDS
from vericite.corpus.store.contract import LONGEST_QUERY
from vericite.errors import InputError
from vericite.llm.chat import CallFailure, ChatRequest, Message, as_block
from vericite.llm.prompts import Prompt, read_prompt, signed
from vericite.records import Document
from vericite.retrieve import MIN_COVERAGE, MIN_RELEVANCE
from vericite.text.terms import terms

if TYPE_CHECKING:
    from vericite.llm import LLM
    from vericite.llm.calls import Ledger


_LONGEST_QUERY_WRITTEN = 1_000  # maximum characters of a model's query; a longer one is an answer
_WORD = re.compile(r"[^\W_]+")

_LOG = logging.getLogger(__name__)


class LanguageModelRewriter:
    """Asks a language model for one query, at temperature 0.

    A reply that is still unusable after one request to correct it is logged and kept in ``failures``; the question is
    then not rewritten.

    Args:
        llm: The model.
        documents: Maximum number of documents shown to it.
        characters: Maximum characters of each document.

    Attributes:
        failures: By question, why the last reply was unusable.
    """

    def __init__(self, llm: LLM, documents: int = 5, characters: int = 1_000) -> None:
        if documents < 0 or characters < 1:
            raise InputError(
                f"expected documents >= 0 and characters >= 1; found documents={documents}, characters={characters}."
            )
        self.llm = llm
        self._documents = documents
        self._characters = characters
        self.failures: dict[str, str] = {}

    @property
    def signature(self) -> str:
        """The prompt's name, version and hash, what is shown of the evidence, and the model's name."""
        fixed = "\n".join(message.text for message in _messages("", [""]))
        shown = f"documents={self._documents}, characters={self._characters}"
        return f"{signed(_PROMPT.name, fixed)}({shown}):{self.llm.signature}(temperature=0)"

    @property
    def ledger(self) -> Ledger:
        """The calls so far and their cost."""
        return self.llm.ledger

    def rewrite(self, question: str, evidence: Sequence[Document]) -> str | None:
        """Return the model's query; None if it has none, or only the question's own words.

        Raises:
            LLMAccessError: Every call would fail in the same way.
        """
        (found,) = self.llm.each([self._request(question, evidence)], self._ask)
        if isinstance(found, CallFailure):
            self.failures[question] = found.reason
            _LOG.warning("expected a rewritten question for %r; found none: %s", question[:200], found.reason)
            return None
        self.failures.pop(question, None)
        return None if set(terms(found)) == set(terms(question)) else found

    def _request(self, question: str, evidence: Sequence[Document]) -> ChatRequest:
        shown = [document.titled_text[: self._characters] for document in evidence[: self._documents]]
        messages = _messages(question[:LONGEST_QUERY], shown)
        return ChatRequest(messages, max_tokens=self.llm.settings.reply_tokens)

    async def _ask(self, request: ChatRequest) -> str | CallFailure:
        found = await self.llm.parsed(request, _Query, _usable)
        return found if isinstance(found, CallFailure) else found.value.query


class _Query(BaseModel):
    model_config = ConfigDict(extra="forbid")

    query: str


def _usable(found: _Query) -> _Query:
    tidy = " ".join(_visible(found.query).split())
    if not _WORD.search(tidy):
        raise ValueError("a query without words")
    if len(tidy) > _LONGEST_QUERY_WRITTEN:
        raise ValueError(f"a query of {len(tidy)} characters; at most {_LONGEST_QUERY_WRITTEN} are read")
    return _Query(query=tidy)


_PROMPT = read_prompt(Path(__file__).with_suffix(".toml"), Prompt)


def _messages(question: str, evidence: Sequence[str]) -> tuple[Message, Message]:
    """Return the prompt. No text of the data can end its own block or open a turn of the conversation."""
    documents = "\n\n".join(as_block("document", text) for text in evidence)
    return _PROMPT.filled({"question": as_block("question", question), "documents": documents})


def _visible(text: str) -> str:
    """Remove invisible characters: they could hide a tag from the patterns but not from a model."""
    return "".join(char for char in text if unicodedata.category(char) not in ("Cf", "Cs"))


class Rewriter(Protocol):
    """Rewrites a question for a second search."""

    @property
    def signature(self) -> str:
        """The rewriter and its settings, for provenance."""
        ...

    def rewrite(self, question: str, evidence: Sequence[Document]) -> str | None:
        """Return a new query, or None.

        Args:
            question: The question.
            evidence: Documents of the first search, the best first. They are data, never instructions.
        """
        ...


@runtime_checkable
class Fallible(Protocol):
    """A rewriter that may fail, and records why."""

    @property
    def failures(self) -> Mapping[str, str]:
        """By question, why the last reply was unusable."""
        ...


_QUESTION_WORD = re.compile(r"[^\W_]+")
_POSSESSIVE = re.compile(r"(?<=\w)['\u2019]s\b", re.IGNORECASE)
_QUESTION_OPENERS = frozenset("who whom whose where why".split())
"""Openers of questions that PubMed's list of stopwords lacks."""

NO_EVIDENCE = "no evidence"


class Sufficiency(NamedTuple):
    """How far evidence suffices, and the reasons why it does not."""

    coverage: float
    relevance: float | None
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class Trigger:
    """Fires when the evidence covers too few words of the question, or the best documents have too little relevance.

    Attributes:
        coverage: Minimum share of the question's words; 0 never fires.
        relevance: Minimum mean score of the best documents; 0 never fires.
        best: Number of documents in that mean.
    """

    coverage: float = MIN_COVERAGE
    relevance: float = MIN_RELEVANCE
    best: int = 5

    def __post_init__(self) -> None:
        for name, value in (("coverage", self.coverage), ("relevance", self.relevance)):
            if not 0 <= value <= 1:
                raise InputError(f"expected a trigger's {name} from 0 to 1; found {value}. Correct it.")
        if self.best < 1:
            raise InputError(f"expected a trigger's best to be at least 1; found {self.best}. Raise it.")

    @property
    def signature(self) -> str:
        """The rules and thresholds, for provenance."""
        return f"trigger.v1(coverage={self.coverage:g}, relevance={self.relevance:g}, best={self.best})"

    def reasons(self, question: str, evidence: Iterable[str], scores: Sequence[float] | None = None) -> Sufficiency:
        """Return how far the evidence suffices for a question. No evidence is always a reason to fire.

        Args:
            question: The question.
            evidence: Texts of the documents.
            scores: Their scores from 0 to 1 by a reranker; None if there are none.

        Raises:
            InputError: A score is not from 0 to 1.
        """
        texts = [text for text in evidence if text.strip()]
        covered = coverage(question, texts)
        if not texts:
            return Sufficiency(0.0, None, (NO_EVIDENCE,))
        mean = relevance(scores, self.best) if scores else None
        found: list[str] = []
        if covered < self.coverage:
            found.append(f"coverage {covered:.3g} is below {self.coverage:g}")
        if mean is not None and mean < self.relevance:
            found.append(f"relevance {mean:.3g} is below {self.relevance:g}")
        return Sufficiency(covered, mean, tuple(found))


def question_words(text: str) -> frozenset[str]:
    """Return the words of a text without stopwords: PubMed's list, and who, whom, whose, where, why.

    A word is a run of letters and digits in lower case, unstemmed. "IL-6" has two words; the possessive s of "Crohn's"
    is not a word.
    """
    plain = _POSSESSIVE.sub("", normalize("NFKC", text)).lower()
    return frozenset(_QUESTION_WORD.findall(plain)) - STOPWORDS - _QUESTION_OPENERS


def coverage(question: str, evidence: Iterable[str]) -> float:
    """Return the share of the question's distinct words that occur in the evidence as a whole.

    A question that has only stopwords is always covered.
    """
    wanted = question_words(question)
    missing = set(wanted)
    for text in evidence:
        missing -= question_words(text)
    return 1 - len(missing) / len(wanted) if wanted else 1.0


def relevance(scores: Sequence[float], best: int) -> float:
    """Return the mean of the best scores, or of all if there are fewer.

    Raises:
        InputError: There are no scores, or one is not from 0 to 1.
    """
    invalid = [score for score in scores if not 0 <= score <= 1]
    if invalid or not scores:
        found = invalid[0] if invalid else "none"
        raise InputError(f"expected scores from 0 to 1, such as a reranker's; found {found}. Rerank first.")
    top = sorted(scores, reverse=True)[:best]
    # Sums of floats may slightly exceed 1.
    return min(1.0, sum(top) / len(top))
