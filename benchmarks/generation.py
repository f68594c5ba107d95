"""Sentences of a local model held by the grammar: do they end in valid citations, and are their numbers whole?

Usage: python benchmarks/generation.py MODEL [--sentences N] [--prompt NAME] [--k K] [--seed N] [--free]
       python benchmarks/generation.py --runs RUNS.jsonl...

Questions are those of the demonstration corpus, the evidence what is found for them there. MODEL is a GGUF file
that runs in this process (``pip install 'vericite[local]'``), or the address of llama.cpp's server as in
``http://localhost:8080/v1#name``; nothing is remembered, so that every run asks it. ``--free`` leaves the
grammar out, to compare; ``--runs`` asks nobody, and counts in runs that were kept.

A number is cut where a sentence ends in the part before the point of a number of its sources, or begins with the part
behind it, and that part stands in no source by itself. Such parts inside a sentence are shown, to be read: mostly
they are numbers of the model's own. Exits with 1 if a bar is missed: all sentences end in a valid citation, no citation
is dangling, no number is cut, and no prompt takes more tokens than were reckoned with.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from vericite.corpus import demo_documents, demo_questions, demo_vectors
from vericite.generate.language_model import Generation, LanguageModelGenerator
from vericite.generate.prompt import PROMPTS, message_tokens
from vericite.llm import LLM, Completion, Settings
from vericite.models import Embedder
from vericite.records import Answer, Claim, Evidence, Question, Run
from vericite.retrieve.local import MemoryRetriever

_NUMBER = re.compile(r"(?<![\w.])(?:\d+(?:\.\d+)*|\.\d+)")
_ENDS_CITED = re.compile(r"(?:\[\d+\])+\.\Z")


@dataclass
class Counts:
    """What was seen so far."""

    answers: int = 0
    insufficient: int = 0
    failed: int = 0
    sentences: int = 0
    cited: int = 0
    dangling: int = 0
    uncited: int = 0
    decimals: int = 0
    from_sources: int = 0
    cut: list[str] = field(default_factory=list)
    inside: list[str] = field(default_factory=list)
    notes: int = 0
    tokens: list[float] = field(default_factory=list)

    def add(self, found: Generation, reckoned: int) -> None:
        """Count an answer's sentences, and the tokens of its prompt against those reckoned with."""
        self.add_answer(found.answer)
        self.notes += len(found.notes)
        if isinstance(found.reply, Completion):
            self.tokens.append(found.reply.usage.prompt_tokens / reckoned)

    def add_answer(self, answer: Answer) -> None:
        """Count an answer's sentences."""
        self.answers += 1
        self.insufficient += answer.insufficient
        self.failed += answer.failed is not None
        for claim in answer.claims:
            self._add(answer, claim)

    def _add(self, answer: Answer, claim: Claim) -> None:
        self.sentences += 1
        dangling = sum(citation.dangling for citation in claim.citations)
        ends = _ENDS_CITED.search(answer.text[claim.span.slice]) is not None
        self.cited += ends and not dangling
        self.dangling += dangling
        self.uncited += not claim.citations
        sources = numbers(" ".join(document.titled_text for document in answer.documents))
        for number in numbers(claim.text):
            self.decimals += "." in number
            self.from_sources += "." in number and number in sources
            if number not in sources and any(number in halves(source) for source in sources if "." in source):
                at_end = re.search(rf"\A{re.escape(number)}\b|(?<![\w.]){re.escape(number)}\W*\Z", claim.text)
                (self.cut if at_end else self.inside).append(f"{number} in {claim.text!r}")


def numbers(text: str) -> set[str]:
    """The numbers of a text as they are written."""
    return set(_NUMBER.findall(text))


def halves(number: str) -> tuple[str, str]:
    """What stands before the point of a number, and what behind it."""
    before, _, behind = number.partition(".")
    return before, behind


def asked(count: int, seed: int, k: int) -> Iterator[tuple[Question, tuple[Evidence, ...]]]:
    """Questions with what is found for them, at random, again and again."""
    retriever = MemoryRetriever(demo_documents(), Embedder.shared(), demo_vectors())
    questions = list(demo_questions())
    chance = random.Random(seed)
    for _ in range(count):
        if not questions:
            questions = list(demo_questions())
        question = questions.pop(chance.randrange(len(questions)))
        yield question, tuple(retriever.retrieve(question, k))


def measured(
    generator: LanguageModelGenerator, pairs: Sequence[tuple[Question, Sequence[Evidence]]], most: int
) -> Counts:
    """Answers until there are enough sentences."""
    counts = Counts()
    for (question, evidence), found in zip(pairs, generator.generations(pairs), strict=False):
        request = generator.request(question, evidence)
        counts.add(found, message_tokens(request.messages) if request else 1)
        held = f"{counts.cited}/{counts.sentences} cited, {len(counts.cut)} cut"
        print(f"  {held}  {question.id}  {found.answer.text[:90]}", file=sys.stderr)
        if counts.sentences >= most:
            break
    return counts


def show(counts: Counts) -> bool:
    """Print what was counted; whether the bars are met."""
    print(f"{counts.answers} answers ({counts.insufficient} insufficient, {counts.failed} failed)")
    print(f"end in a valid citation  {counts.cited}/{counts.sentences}")
    print(f"dangling {counts.dangling}, without a citation {counts.uncited}, notes {counts.notes}")
    print(f"decimals {counts.decimals}, of them in the sources {counts.from_sources}; cut at a point {len(counts.cut)}")
    for line in (*counts.cut, *(f"inside: {line}" for line in counts.inside)):
        print(f"  {line}")
    most = max(counts.tokens, default=0.0)
    if counts.tokens:
        print(f"tokens of a prompt against those reckoned with: at most {most:.2f}")
    return counts.cited == counts.sentences > 0 and not counts.dangling and not counts.cut and most <= 1


def ask(given: argparse.Namespace) -> Counts:
    """Answers of the model, and how long it took."""
    settings = Settings(cache=None, timeout=1200.0, deadline=1200.0, concurrency=1)
    began = time.monotonic()
    with LLM(given.model if "://" in given.model else f"gguf:{given.model}", settings) as llm:
        generator = LanguageModelGenerator(llm, given.prompt, grammar="off" if given.free else "on", seed=given.seed)
        counts = measured(generator, list(asked(given.sentences, given.seed, given.k)), given.sentences)
        tokens = generator.ledger.completion_tokens
    seconds = time.monotonic() - began
    print(generator.signature)
    print(f"{seconds:.0f} s, {seconds / counts.answers:.1f} s an answer, {tokens} tokens")
    return counts


def kept(files: Sequence[Path]) -> Counts:
    """Of the answers in runs."""
    counts = Counts()
    for file in files:
        for line in file.read_text(encoding="utf-8").splitlines():
            counts.add_answer(Run.model_validate_json(line).answer)
    return counts


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("model", nargs="?", help="a GGUF file, or the address of llama.cpp's server")
    parser.add_argument("--runs", type=Path, nargs="+", help="runs that were kept")
    parser.add_argument("--sentences", type=int, default=200)
    parser.add_argument("--prompt", default="vericite", help=f"one of {', '.join(PROMPTS)}")
    parser.add_argument("--k", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--free", action="store_true", help="without the grammar")
    given = parser.parse_args()
    if (given.model is None) == (given.runs is None):
        parser.error("expected a model or --runs, one of them")
    return int(not show(kept(given.runs) if given.runs else ask(given)))


if __name__ == "__main__":
    sys.exit(main())
