"""Estimate the cost of an experiment without calling a model.

Prompts are built as they would be sent, from evidence that is actually retrieved. The number of tokens per prompt and
the length of replies are measured on answers in the folder, if there are any, or guessed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from vericite.errors import EntrezError, InputError, Problems
from vericite.lab.experiment.sharing import answer_key
from vericite.llm.chat import estimated_tokens
from vericite.pipeline.build import settings_of
from vericite.pipeline.runs import RUNS
from vericite.records import Evidence, Question, Run, number_jsonl

if TYPE_CHECKING:
    from vericite.lab.experiment.config import Cell
    from vericite.lab.experiment.grid import Grid
    from vericite.llm import ChatRequest
    from vericite.pipeline.search import Search

SEARCHED = 60
"""Maximum number of questions per cell for which prompts are built; the others are assumed to have the same length."""

TOKENS_A_SENTENCE = 40
"""Assumed length of a sentence in a reply, if no replies are known."""


@dataclass(frozen=True)
class Estimated:
    """The estimated cost of a cell."""

    name: str
    questions: int
    there: int = 0
    calls: int = 0
    prompt_tokens: float = 0.0
    completion_tokens: float = 0.0
    dollars: float | None = 0.0

    def __add__(self, other: Estimated) -> Estimated:
        dollars = None if self.dollars is None or other.dollars is None else self.dollars + other.dollars
        return Estimated(
            self.name,
            self.questions + other.questions,
            self.there + other.there,
            self.calls + other.calls,
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            dollars,
        )


@dataclass
class Estimates:
    """The estimated cost of all cells, with notes on what is guessed."""

    cells: list[Estimated] = field(default_factory=list[Estimated])
    notes: list[str] = field(default_factory=list[str])

    @property
    def total(self) -> Estimated:
        """The sum over all cells."""
        found = Estimated("all cells", 0)
        for cell in self.cells:
            found += cell
        return found

    def note(self, line: str) -> None:
        """Add a note, unless it is already there."""
        if line not in self.notes:
            self.notes.append(line)


@dataclass
class Measured:
    """Measured lengths of a generator's prompts and replies.

    Attributes:
        counted: Tokens of prompts by our own count.
        prompt: Tokens of prompts as counted by the service.
        completion: Tokens of replies as counted by the service.
        calls: Number of calls.
    """

    counted: float = 0.0
    prompt: int = 0
    completion: int = 0
    calls: int = 0

    @property
    def ratio(self) -> float:
        """Tokens counted by the service, relative to our own count."""
        return self.prompt / self.counted if self.counted and self.prompt else 1.0


def estimate(grid: Grid) -> Estimates:
    """Estimate the cost of an experiment's cells. Answers shared by several cells are counted in the first.

    Raises:
        InputError: A plan cannot be run.
    """
    found = Estimates()
    asked: set[tuple[str, str]] = set()
    for cell in grid.cells:
        if cell.plan.answer.llm is None:
            found.cells.append(Estimated(cell.name, len(grid.asked(cell)), len(_existing_runs(grid, cell))))
        else:
            found.cells.append(_estimate_cell(grid, cell, asked, found))
        if (cell.plan.check.judge or "").startswith("llm"):
            found.note("calls of language-model judges are not counted: they depend on the answers")
        if cell.plan.search.rewrite != "none":
            found.note("calls of language models that rewrite questions are not counted: they depend on the evidence")
    return found


def _estimate_cell(grid: Grid, cell: Cell, asked: set[tuple[str, str]], notes: Estimates) -> Estimated:
    from vericite.generate.language_model import AskingGenerator

    generator = grid.pipeline(cell).generator
    existing = _existing_runs(grid, cell)
    questions = [question for question in grid.asked(cell) if question.id not in existing]
    if not isinstance(generator, AskingGenerator) or not questions:
        return Estimated(cell.name, len(grid.asked(cell)), len(existing))
    tried = _spread(questions, SEARCHED)
    search = _without_rewriting(grid.search(cell))
    requests: list[ChatRequest] = []
    shared = 0
    for question in tried:
        evidence = _evidence(search, question, cell.plan.search.depth())
        key = answer_key(generator.signature, question, evidence)
        if key in asked:
            shared += 1
            continue
        asked.add(key)
        if (request := generator.request(question, evidence)) is not None:
            requests.append(request)
    measured = _measured(grid, cell)
    share = len(questions) / len(tried)
    calls = round(len(requests) * share)
    prompt = sum(map(_counted, requests)) * share * measured.ratio
    if measured.calls:
        completion = calls * measured.completion / measured.calls
        notes.note("lengths are measured on existing answers")
    else:
        template = generator.prompt
        sentences = template.sentences[1] if template.sentences else 5
        completion = calls * min(template.max_tokens, sentences * TOKENS_A_SENTENCE)
        notes.note("lengths of replies are guessed: run a few questions of each cell with --first 3 to measure them")
    if len(tried) < len(questions):
        notes.note(
            f"prompts were built for {SEARCHED} questions per cell; the others are assumed to have the same length"
        )
    price = settings_of(cell.plan.llm).price
    dollars = None
    if price is not None:
        dollars = (prompt * price.prompt + completion * price.completion) / 1_000_000
    elif not calls or (cell.plan.answer.llm or "").startswith("gguf:"):
        dollars = 0.0
    else:
        notes.note("dollars are unknown without a price per million tokens: set llm.price in the plan, as in 0.15,0.60")
    return Estimated(cell.name, len(grid.asked(cell)), len(existing), calls, prompt, completion, dollars)


def _counted(request: ChatRequest) -> float:
    return float(sum(estimated_tokens(message.text) for message in request.messages))


def _existing_runs(grid: Grid, cell: Cell) -> dict[str, Run]:
    """Return the successful runs that a cell has, by question."""
    path = grid.cell_folder(cell) / RUNS
    if not path.exists():
        return {}
    runs = (run for _, run in Problems().kept(number_jsonl(Run, path)))
    return {run.question.id: run for run in runs if run.answer.failed is None}


def _measured(grid: Grid, cell: Cell) -> Measured:
    """Measure lengths on the answers of this cell, or of others with the same model and prompt."""
    from vericite.generate.language_model import AskingGenerator

    alike = [
        other
        for other in grid.cells
        if (other.plan.answer.llm, other.plan.answer.prompt, other.plan.answer.rationale)
        == (cell.plan.answer.llm, cell.plan.answer.prompt, cell.plan.answer.rationale)
    ]
    own = [other for other in alike if other is cell]
    for cells in (own, alike):
        found = Measured()
        for other in cells:
            generator = grid.pipeline(other).generator
            assert isinstance(generator, AskingGenerator)
            for run in _existing_runs(grid, other).values():
                spent = run.answer.spent
                if spent is None or spent.calls != 1:
                    continue
                request = generator.request(run.question, run.evidence)
                if request is not None:
                    found.counted += _counted(request)
                    found.prompt += spent.prompt_tokens
                    found.completion += spent.completion_tokens
                    found.calls += 1
        if found.calls:
            return found
    return Measured()


def _evidence(search: Search, question: Question, k: int) -> Sequence[Evidence]:
    try:
        return search.find(question, k).usable_first
    except (InputError, EntrezError):
        return ()


def _without_rewriting(search: Search) -> Search:
    """Return the search without rewriting, which would call a language model."""
    return search if search.rewrite is None else replace(search, rewrite=None)


def _spread(questions: Sequence[Question], most: int) -> Sequence[Question]:
    """Return at most this number of questions, evenly spaced over the list."""
    if len(questions) <= most:
        return questions
    return [questions[index * len(questions) // most] for index in range(most)]
