"""Options and endings that several commands share."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from vericite.cli.io import note, remark
from vericite.errors import RecordError, VeriCiteError

if TYPE_CHECKING:
    from vericite.corpus.store import Filters
    from vericite.llm import Settings
    from vericite.pipeline.plan import Plan


ProtocolOption = Annotated[
    str, typer.Option(help="How citations are judged; `vericite protocols` lists the names.", metavar="NAME")
]
JudgeOption = Annotated[
    str | None,
    typer.Option(help="Who judges, in place of the protocol's own; `vericite judges` lists them.", metavar="NAME"),
]
AbstainOption = Annotated[
    float | None,
    typer.Option(
        "--abstain-below",
        min=0,
        max=1,
        help="Abstain from verdicts whose probability is lower; 0 never does, and is the default but for judges that "
        "were calibrated.",
    ),
]
ChecksOption = Annotated[
    bool | None,
    typer.Option(
        "--checks/--no-checks",
        help="Lower supported claims whose evidence, else in agreement, has another number, direction, negation or "
        "group. The protocols default and fast do.",
        show_default=False,
    ),
]
AidsOption = Annotated[
    bool | None,
    typer.Option(
        "--aids/--no-aids",
        help="Put a source into the claim's terms before it is judged: abbreviations, shares, units, ratios. The "
        "protocols default and fast do.",
        show_default=False,
    ),
]
_LLM = "Judges that ask a language model"
ConcurrencyOption = Annotated[int, typer.Option(min=1, help="Calls at a time.", rich_help_panel=_LLM)]
RequestsOption = Annotated[
    int | None, typer.Option("--rpm", min=1, help="Requests a minute at most.", rich_help_panel=_LLM)
]
TokensOption = Annotated[
    int | None, typer.Option("--tpm", min=1, help="Tokens a minute at most.", rich_help_panel=_LLM)
]
TimeoutOption = Annotated[float, typer.Option(min=1, help="Seconds a call may take.", rich_help_panel=_LLM)]
PriceOption = Annotated[
    str | None,
    typer.Option(help="Price of a million tokens in and out, as in 0.15,0.60.", metavar="IN,OUT", rich_help_panel=_LLM),
]
ReplyOption = Annotated[
    int,
    typer.Option(
        "--reply-tokens", min=1, help="Room for a reply; raise it for models that think first.", rich_help_panel=_LLM
    ),
]
CacheOption = Annotated[
    bool,
    typer.Option(
        "--cache/--no-cache", help="Keep judgements and replies, so that nothing is judged or paid for twice."
    ),
]
DocumentsOption = Annotated[
    Path | None,
    typer.Option(
        help='Where the documents are that are cited by PMID, DOI or address: JSONL {"id", "title"?, "text"}; for '
        "check and repair also a store, or pubmed, which asks NCBI for the cited articles.",
        metavar="FILE",
    ),
]
FormatOption = Annotated[str, typer.Option(help="The form of the answers, as for check.", metavar="NAME")]
ColumnsOption = Annotated[
    str | None,
    typer.Option(
        help="Which columns of a table, or fields of records, hold what: answer=reply,contexts=sources. Also id, "
        "question, context_ids and documents; contexts may be given several times.",
        metavar="NAMES",
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]
CsvOption = Annotated[bool, typer.Option("--csv", help="Print the figures as CSV.")]
SignaturesOption = Annotated[
    bool, typer.Option("--signatures", help="Print signatures whole; else each is a short hash.")
]
OutOption = Annotated[Path | None, typer.Option(help="Write the figures here, a line of JSON each.")]
DrawsOption = Annotated[int, typer.Option(min=100, help="Bootstrap draws for the intervals.")]
DrawSeedOption = Annotated[int, typer.Option(min=0, help="Seed of the draws.")]


def llm_settings(
    concurrency: int, rpm: int | None, tpm: int | None, timeout: float, price: str | None, reply: int, cache: bool
) -> Settings:
    """The options as settings.

    Raises:
        InputError: The price is none.
    """
    from vericite.pipeline.build import settings_of
    from vericite.pipeline.plan import ModelPlan

    return settings_of(
        ModelPlan(
            concurrency=concurrency,
            rpm=rpm,
            tpm=tpm,
            timeout=timeout,
            price=price,
            reply_tokens=reply,
            cache=cache,
        )
    )


def refuse_both(as_json: bool, as_csv: bool) -> None:
    """Before anything is read.

    Raises:
        InputError: Two forms of the output are asked for.
    """
    from vericite.errors import InputError

    if as_json and as_csv:
        raise InputError("expected --json or --csv; found both. Leave one out.")


def refuse_same(out: Path | None, *read: Path | None, what: str = "--out") -> None:
    """Before a file that is read is written over, or the standard input taken for two files.

    Raises:
        InputError: ``out`` is one of them, by whatever name, or two of them are the standard input.
    """
    from vericite.errors import InputError

    refuse_two_inputs(*map(str, filter(None, read)))
    for file in read:
        if out is not None and file is not None and _is_same(out, file):
            raise InputError(f"expected {what} to be another file than the input; found {out} for both")


def refuse_two_inputs(*names: str) -> None:
    """Before anything is read.

    Raises:
        InputError: The standard input is named for two files.
    """
    from vericite.errors import InputError

    if names.count("-") > 1:
        raise InputError("expected - for one file, because the standard input can be read once; found it twice")


def _is_same(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except OSError:
        return False


def refuse_unwritable(path: Path | None, what: str = "--out") -> None:
    """Before anything is judged or paid for.

    Raises:
        InputError: A file is asked for that is a folder, in none, or in one that may not be written to.
    """
    from os import W_OK, access
    from os.path import isdir

    from vericite.errors import InputError

    if path is None:
        return
    found = None
    if isdir(path):
        found = "Is a directory"
    elif not isdir(path.parent):
        found = "its folder is not there. Make the folder first"
    elif not access(path.parent, W_OK):
        found = "Permission denied"
    if found is not None:
        raise InputError(f"expected {what} to be a file that can be written; found {path}: {found}")


def report(problems: Sequence[RecordError]) -> None:
    """Name the lines that could not be used, and exit with 2 if there are any."""
    for problem in problems[:20]:
        remark(problem)
    if len(problems) > 20:
        remark(f"and {len(problems) - 20} more lines that could not be used")
    if problems:
        raise typer.Exit(2)


@contextmanager
def lines_before_errors(problems: list[RecordError]) -> Generator[None]:
    """Name the lines that could not be used before an error that they may have led to."""
    try:
        yield
    except VeriCiteError:
        with suppress(typer.Exit):
            report(problems)
        raise


_SEARCH = "How to search"
_FILTERS = "Which documents of a store"
BATCH = "Many questions"

CorpusOption = Annotated[
    str,
    typer.Option(
        help='"demo", "pubmed" (asks NCBI), a store that `corpus build` made, or a file of documents: JSONL '
        '{"id", "title"?, "text"}. With "oracle:" before it, each question gets its own gold documents from there, all '
        "or --k."
    ),
]
ControlledOption = Annotated[
    str | None,
    typer.Option(
        "--controlled",
        help="With --corpus oracle:...: give a question as many documents as its standard cell has, gold ones first. "
        "The cell: a corpus that is searched, or a folder of runs (--save).",
        metavar="CORPUS|RUNS",
        rich_help_panel=_SEARCH,
    ),
]
CleaningOption = Annotated[
    str | None,
    typer.Option(
        "--cleaning",
        help="With --corpus pubmed, what is left out of a question: its stopwords (the default), or its leading "
        "interrogative alone, as in the VeriCite paper.",
        metavar="stopwords|interrogative",
        rich_help_panel=_SEARCH,
    ),
]
PlanOption = Annotated[
    str | None,
    typer.Option(
        "--plan",
        help='Where the other options start from: a file of settings, as --plan-out writes, or "default", '
        '"reason-verify" (that paper\'s: BM25, BGE, a language model rewrites) or "vericite" (neither reranks nor '
        "rewrites).",
        metavar="FILE|NAME",
        rich_help_panel=_SEARCH,
    ),
]
ByOption = Annotated[
    str | None,
    typer.Option(
        "--by",
        help="Rank by bm25, dense, hybrid (both; the default where there are vectors), or MedRAG's rrf-2 and rrf-4 "
        "(files only; need the extra \\[hf]).",
        metavar="WAY",
        rich_help_panel=_SEARCH,
    ),
]
RerankOption = Annotated[
    str | None,
    typer.Option(
        "--rerank",
        help='"bundled", "none", "medcpt", "bge", or hf:CHECKPOINT.',
        metavar="NAME",
        rich_help_panel=_SEARCH,
    ),
]
CandidatesOption = Annotated[
    int | None, typer.Option("--candidates", min=1, help="Documents that are reranked.", rich_help_panel=_SEARCH)
]
RewriteOption = Annotated[
    str | None,
    typer.Option(
        "--rewrite",
        help='Who finds other words where the evidence is poor: "none" or a language model, as openai:gpt-4o-mini.',
        metavar="NAME",
        rich_help_panel=_SEARCH,
    ),
]
CoverageOption = Annotated[
    float | None,
    typer.Option(
        min=0, max=1, help="Rewrite where less of the question's words are in the evidence.", rich_help_panel=_SEARCH
    ),
]
RelevanceOption = Annotated[
    float | None,
    typer.Option(
        min=0, max=1, help="Rewrite where the best documents' mean relevance is lower.", rich_help_panel=_SEARCH
    ),
]
KeepOption = Annotated[
    str | None,
    typer.Option("--keep", help='After rewriting, keep the "better" evidence or the "new".', rich_help_panel=_SEARCH),
]
BatchOption = Annotated[
    Path | None,
    typer.Option(
        help='JSONL of questions, {"id", "question"}, or a data set by name, as in bioasq:FILE (`vericite datasets`).',
        metavar="FILE",
        rich_help_panel=BATCH,
    ),
]

FromYear = Annotated[
    int | None, typer.Option("--from", min=1500, max=2100, help="Of this year or later.", rich_help_panel=_FILTERS)
]
ToYear = Annotated[
    int | None, typer.Option("--to", min=1500, max=2100, help="Of this year or earlier.", rich_help_panel=_FILTERS)
]
Journals = Annotated[list[str] | None, typer.Option("--journal", help="May be repeated.", rich_help_panel=_FILTERS)]
Mesh = Annotated[list[str] | None, typer.Option("--mesh", help="A MeSH heading.", rich_help_panel=_FILTERS)]
Types = Annotated[list[str] | None, typer.Option("--type", help="A publication type.", rich_help_panel=_FILTERS)]
Languages = Annotated[
    list[str] | None, typer.Option("--language", help="A code such as eng.", rich_help_panel=_FILTERS)
]
Retracted = Annotated[
    bool | None,
    typer.Option("--retracted/--not-retracted", help="Only these; both if not said.", rich_help_panel=_FILTERS),
]


def expect_either(question: str | None, batch: Path | None) -> None:
    """Before anything is read.

    Raises:
        InputError: There is neither a question nor a file of them, or both.
    """
    from vericite.errors import InputError

    if (question is None) == (batch is None):
        raise InputError("expected a question, or --batch with a file of them; found " + ("both" if batch else "none"))


def filters_of(
    from_year: int | None,
    to_year: int | None,
    journals: list[str] | None,
    mesh: list[str] | None,
    types: list[str] | None,
    languages: list[str] | None,
    retracted: bool | None,
) -> Filters:
    """The options as conditions."""
    from vericite.corpus.store import Filters

    return Filters(
        year_from=from_year,
        year_to=to_year,
        journals=tuple(journals or ()),
        mesh=tuple(mesh or ()),
        publication_types=tuple(types or ()),
        languages=tuple(languages or ()),
        retracted=retracted,
    )


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
EvidenceOption = Annotated[
    str,
    typer.Option(
        "--evidence",
        help="What the model is shown: whole abstracts, or the sentences that answer (fewer tokens).",
        metavar="abstracts|sentences",
        rich_help_panel=_ANSWER,
    ),
]
AnswerAtOption = Annotated[
    float | None,
    typer.Option(
        "--answer-at",
        min=0,
        max=1,
        help="Without --llm: refuse where the sources answer with less probability than this. [default: 0.5]",
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


PlanOutOption = Annotated[
    Path | None,
    typer.Option("--plan-out", help="Write the settings of this run here, for --plan; - prints them.", metavar="FILE"),
]
PlanFileOption = Annotated[
    str | None,
    typer.Option(
        "--plan",
        help="A file of settings to start from (JSON, TOML or YAML), as --plan-out writes; options given here override "
        "it.",
        metavar="FILE",
    ),
]

_SEARCH_FIELDS = {
    **{name: name for name in ("corpus", "k", "by", "rerank", "candidates", "rewrite", "coverage", "relevance")},
    **{name: name for name in ("keep", "mesh", "retracted", "controlled", "cleaning")},
    "from_year": "year_from",
    "to_year": "year_to",
    "journal": "journals",
    "type": "publication_types",
    "language": "languages",
}
_ANSWER_FIELDS = {
    name: name
    for name in (
        "llm",
        "prompt",
        "grammar",
        "rationale",
        "context",
        "pool",
        "shots",
        "select",
        "seed",
        "answer_at",
        "evidence",
    )
}
_CHECK_FIELDS = {name: name for name in ("protocol", "judge", "abstain_below", "checks", "aids")}
_MODEL_FIELDS = {name: name for name in ("concurrency", "rpm", "tpm", "timeout", "price", "reply_tokens", "cache")}

FIELDS: dict[str, dict[str, dict[str, str]]] = {
    "ask": {
        "search": _SEARCH_FIELDS,
        "answer": _ANSWER_FIELDS,
        "check": _CHECK_FIELDS,
        "llm": _MODEL_FIELDS,
        "repair": {"repair": "enabled"},
    },
    "search": {"search": _SEARCH_FIELDS, "llm": {}},
    "check": {"check": _CHECK_FIELDS, "llm": _MODEL_FIELDS},
    "repair": {
        "check": _CHECK_FIELDS,
        "llm": _MODEL_FIELDS,
        "repair": {name: name for name in ("llm", "corpus", "rounds", "drop_uncited")},
    },
}
"""Of each command the sections of a plan that it reads, and in each the options that set a field."""

_USUAL: dict[str, dict[str, dict[str, Any]]] = {
    "ask": {"llm": {"timeout": 300, "reply_tokens": 512}},
    "repair": {"repair": {"enabled": True}},
}
"""What a command has otherwise than a plan without a command."""


def plan_of(ctx: typer.Context, command: str, plan: str | None, plan_out: Path | None) -> Plan:
    """What a command is to do: its usual plan, changed by the project's file, ``--plan`` and the options given.

    Raises:
        InputError: The plan's file or a value in it cannot be used, or ``plan_out`` cannot be written.
    """
    from vericite.pipeline.plan import STARTING_POINTS, Plan

    made = Plan().changed(_USUAL.get(command, {})).changed(_of_project(FIELDS[command]))
    if plan is not None and "search" in FIELDS[command] and _is_name(plan, STARTING_POINTS):
        made = made.changed({"search": STARTING_POINTS[plan]}) if plan in STARTING_POINTS else _unknown(plan)
    elif plan is not None:
        made = Plan.load(Path(plan), made)
    given = {section: _given(ctx, options) for section, options in FIELDS[command].items()}
    made = made.changed(given, "on the command line")
    _write(made, plan_out, tuple(FIELDS[command]))
    return made


def _of_project(sections: Iterable[str]) -> dict[str, dict[str, Any]]:
    """What the project's file sets of these sections; said aloud, because it decides the figures."""
    from vericite.pipeline.plan import project_file, project_settings

    path = project_file()
    if path is None:
        return {}
    found = {section: values for section, values in project_settings(path).items() if section in sections}
    if found:
        names = [f"{section}.{name}" for section, values in found.items() for name in values]
        note(f"settings from {path}: {', '.join(names)}")
    return found


def _is_name(plan: str, known: dict[str, Any]) -> bool:
    return plan in known or not (Path(plan).suffix or Path(plan).exists())


def _unknown(plan: str) -> Plan:
    from vericite.errors import UnknownNameError
    from vericite.pipeline.plan import STARTING_POINTS

    raise UnknownNameError("search plan", plan, STARTING_POINTS)


def _given(ctx: typer.Context, options: dict[str, str]) -> dict[str, Any]:
    """The fields whose options stand on the command line."""
    found: dict[str, Any] = {}
    for option, field in options.items():
        source = ctx.get_parameter_source(option)
        if source is not None and source.name == "COMMANDLINE":
            value = ctx.params[option]
            found[field] = str(value) if isinstance(value, Path) else value
    return found


def _write(plan: Plan, path: Path | None, sections: tuple[str, ...]) -> None:
    if path is None:
        return
    if str(path) == "-":
        import json

        typer.echo(json.dumps(plan.as_json(sections), indent=2, ensure_ascii=False))
        return

    refuse_unwritable(path, "--plan-out")
    plan.dump(path, sections)
