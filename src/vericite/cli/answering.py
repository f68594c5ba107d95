"""Options of how a question is answered, and the generator they stand for."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vericite.generate import Generator
    from vericite.generate.demonstrations import Selector
    from vericite.llm import LLM
    from vericite.pipeline.rationale import RationaleChecker
    from vericite.records import Question

_ANSWER = "How to answer"
_DEMONSTRATIONS = "Demonstrations for a language model"

LLMOption = Annotated[
    str | None,
    typer.Option(
        "--llm",
        help="Who answers: openai:gpt-4o-mini, http://localhost:8000/v1#model, gguf:/file.gguf ...; without one the "
        "answer is made of sentences of the sources.",
        metavar="MODEL",
        rich_help_panel=_ANSWER,
    ),
]
PromptOption = Annotated[
    str,
    typer.Option(
        help="How a language model is asked: default, vericite, reason-verify-bioasq, biogen ..., or a .toml file.",
        metavar="NAME",
        rich_help_panel=_ANSWER,
    ),
]
RationaleOption = Annotated[
    bool,
    typer.Option(
        "--rationale",
        help="Let the model reason step by step, and judge each step (needs --llm).",
        rich_help_panel=_ANSWER,
    ),
]
ContextOption = Annotated[
    int, typer.Option("--context", min=1, help="Documents that steps are judged against.", rich_help_panel=_ANSWER)
]
PoolOption = Annotated[
    Path | None,
    typer.Option(
        help="Where they are chosen from; `demonstrations build` makes it.",
        metavar="FILE",
        rich_help_panel=_DEMONSTRATIONS,
    ),
]
ShotsOption = Annotated[
    int | None, typer.Option(min=0, max=4, help="How many to show.", rich_help_panel=_DEMONSTRATIONS)
]
SelectOption = Annotated[
    str,
    typer.Option(
        help="How they are chosen: static, similar, similar+diverse or label-balanced.",
        metavar="WAY",
        rich_help_panel=_DEMONSTRATIONS,
    ),
]
SeedOption = Annotated[
    int | None,
    typer.Option("--seed", min=0, help="Of sampling and of what is chosen by chance.", rich_help_panel=_DEMONSTRATIONS),
]


class Answering(NamedTuple):
    """The options as given."""

    prompt: str
    rationale: bool
    context: int
    pool: Path | None
    shots: int | None
    select: str
    seed: int | None

    def generator(self, llm: LLM | None, questions: Sequence[Question]) -> Generator:
        """Who answers.

        Raises:
            InputError: Options that do not go together, or a prompt or pool that cannot be used.
        """
        from vericite.errors import InputError
        from vericite.pipeline.ask import extractive

        if llm is None:
            if self.rationale or self.pool or self.shots is not None:
                raise InputError("expected --llm beside --rationale, --pool and --shots; found none. Name a model.")
            return extractive()
        if self.rationale:
            from vericite.generate.rationale import RationaleGenerator

            return RationaleGenerator(llm, demonstrations=self._chosen(None, questions), seed=self.seed)
        from vericite.generate.language_model import LanguageModelGenerator

        return LanguageModelGenerator(
            llm, self.prompt, demonstrations=self._chosen(self.prompt, questions), seed=self.seed
        )

    def checker(self, judge: str | None) -> RationaleChecker | None:
        """Who judges the steps of a rationale: the judge that is named, else the bundled one."""
        if not self.rationale:
            return None
        from vericite.pipeline.rationale import RationaleChecker

        return RationaleChecker(judge or "bundled", (self.context,))

    def _chosen(self, prompt: str | None, questions: Sequence[Question]) -> Selector | tuple[()] | None:
        from vericite.errors import InputError

        if self.shots == 0:
            return ()
        if self.pool is None:
            if self.shots is not None:
                raise InputError("expected --pool beside --shots; found none. Make one: vericite demonstrations build")
            return None
        from vericite.generate.demonstrations import Pool, PoolSelector, Selection, Vectors, decontaminate
        from vericite.generate.prompt import load_prompt
        from vericite.models import Embedder

        pool, _ = Pool.read(self.pool)
        vectors = Vectors.beside(self.pool, Embedder.shared())
        clean = decontaminate(pool, questions, vectors)
        selection = Selection(self.select, self.shots or 2, seed=self.seed or 0)  # pyright: ignore[reportArgumentType]
        return PoolSelector(clean, selection, None if prompt is None else load_prompt(prompt), vectors)
