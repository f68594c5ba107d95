"""Options of how a question is answered, and the generator they stand for."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple

import typer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vericite.errors import RecordError
    from vericite.generate import Generator
    from vericite.generate.demonstrations import Selector
    from vericite.generate.prompt import Prompt
    from vericite.llm import LLM
    from vericite.pipeline.rationale import RationaleChecker
    from vericite.records import Question
    from vericite.verify import Judge

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
GrammarOption = Annotated[
    Literal["auto", "on", "off"],
    typer.Option(
        "--grammar",
        help="Whether a grammar holds the model to sentences that end in citations of sources that exist: auto for "
        "gguf: files, on for the address of llama.cpp's server too.",
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
RepairOption = Annotated[
    bool,
    typer.Option(
        "--repair",
        help="Mend citations that are rejected: cite another source, put the sentence right, or leave it out.",
        rich_help_panel=_ANSWER,
    ),
]
ContextOption = Annotated[
    int | None,
    typer.Option(
        "--context",
        min=1,
        help="Documents that steps of a rationale are judged against; 5 if not said.",
        rich_help_panel=_ANSWER,
    ),
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
    str | None,
    typer.Option(
        help="How they are chosen: static, similar (if not said), similar+diverse or label-balanced.",
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
    grammar: Literal["auto", "on", "off"]
    rationale: bool
    context: int | None
    pool: Path | None
    shots: int | None
    select: str | None
    seed: int | None

    def generator(self, llm: LLM | None, questions: Sequence[Question], problems: list[RecordError]) -> Generator:
        """Who answers; what is wrong with lines of the pool goes to ``problems``.

        Raises:
            InputError: Options that do not go together, or a prompt or pool that cannot be used.
        """
        from vericite.pipeline.ask import extractive

        self._refuse_idle(llm is not None)
        if llm is None:
            return extractive()
        if self.rationale:
            from vericite.generate.prompt import load_prompt
            from vericite.generate.rationale import PROMPT, RationaleGenerator

            shown = self._chosen(load_prompt(PROMPT), questions, problems)
            return RationaleGenerator(llm, demonstrations=shown, seed=self.seed)
        from vericite.generate.language_model import LanguageModelGenerator
        from vericite.generate.prompt import load_prompt

        prompt = load_prompt(self.prompt)
        shown = self._chosen(prompt, questions, problems)
        return LanguageModelGenerator(llm, prompt, demonstrations=shown, grammar=self.grammar, seed=self.seed)

    def checker(self, name: str | None, judge: Judge | None) -> RationaleChecker | None:
        """Who judges the steps of a rationale: the judge, where it is asked for the categories, else the bundled one.

        Args:
            name: Of the judge, as the user has it.
            judge: The same, loaded.
        """
        if not self.rationale:
            return None
        from vericite.pipeline.rationale import CONTEXT, RationaleChecker

        tells = judge is not None and (name or "").partition(":")[0] == "llm-eight"
        return RationaleChecker(judge if tells and judge is not None else "bundled", (self.context or CONTEXT,))

    def _refuse_idle(self, asks_model: bool) -> None:
        """Options that would change nothing."""
        from vericite.errors import InputError

        if not asks_model:
            given = {
                "--rationale": self.rationale,
                "--prompt": self.prompt != "default",
                "--grammar": self.grammar != "auto",
                "--pool": self.pool is not None,
                "--shots": self.shots is not None,
                "--select": self.select is not None,
                "--seed": self.seed is not None,
            }
            if idle := [option for option, is_given in given.items() if is_given]:
                raise InputError(f"expected --llm beside {', '.join(idle)}; found none. Name a model.")
        if self.context is not None and not self.rationale:
            raise InputError("expected --rationale beside --context; found none. Add it, or leave --context out.")
        own = {"a prompt": ("--prompt", self.prompt, "default"), "a form": ("--grammar", self.grammar, "auto")}
        for has, (option, given, usual) in own.items():
            if self.rationale and given != usual:
                raise InputError(
                    f"expected --rationale, which has {has} of its own, without {option}; found {given!r}. "
                    "Leave one of them out."
                )
        if self.pool is None and (self.shots or self.select is not None):
            option = "--shots" if self.shots else "--select"
            raise InputError(f"expected --pool beside {option}; found none. Make one: vericite demonstrations build")

    def _chosen(
        self, prompt: Prompt, questions: Sequence[Question], problems: list[RecordError]
    ) -> Selector | tuple[()] | None:
        if self.shots == 0:
            return ()
        if self.pool is None:
            return None
        from vericite.generate.demonstrations import Pool, PoolSelector, Selection, Vectors, decontaminate
        from vericite.models import Embedder

        pool, wrong = Pool.read(self.pool)
        problems.extend(wrong)
        vectors = Vectors.beside(self.pool, Embedder.shared())
        clean = decontaminate(pool, questions, vectors)
        way = self.select or "similar"
        selection = Selection(way, self.shots or 2, seed=self.seed or 0)  # pyright: ignore[reportArgumentType]
        return PoolSelector(clean, selection, prompt, vectors)
