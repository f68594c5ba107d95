"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer


def _protocols(incomplete: str) -> list[str]:
    from vericite.verify.protocol import protocol_names

    return [name for name in protocol_names() if name.startswith(incomplete)]


def _judges(incomplete: str) -> list[str]:
    from vericite.verify.judges.registry import judge_names

    return [name for name in judge_names() if name.startswith(incomplete)]


ProtocolOption = Annotated[
    str,
    typer.Option(
        help="How citations are judged; `vericite protocols` lists the names.",
        metavar="NAME",
        autocompletion=_protocols,
    ),
]
MaybeProtocolOption = Annotated[
    str | None,
    typer.Option(
        help="How citations without a verdict are judged; `vericite protocols` lists the names. Default: default.",
        metavar="NAME",
        autocompletion=_protocols,
    ),
]
JudgeOption = Annotated[
    str | None,
    typer.Option(
        help="Who judges, in place of the protocol's own; `vericite judges` lists them.",
        metavar="NAME",
        autocompletion=_judges,
    ),
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

_SEARCH = "How to search"
_FILTERS = "Which documents of a store"
BATCH = "Many questions"

CorpusOption = Annotated[
    str,
    typer.Option(
        help='"demo", "pubmed" (asks NCBI), a store that `corpus build` made, or a file of documents: JSONL '
        '{"id", "title"?, "text"}. With "oracle:" before it, each question gets its own gold documents from there, all '
        'or --k. "none" shows a language model no documents.'
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
        help="Rank by bm25, dense, hybrid (both; the default where there are vectors), late (what words find, by "
        "meaning: for a store without vectors), or MedRAG's medcpt, rrf-2 and rrf-4 (files only; need the extra "
        "\\[hf]).",
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
BestOption = Annotated[
    int | None,
    typer.Option(
        "--best",
        min=1,
        help="Documents that --relevance is the mean of; 1 if not said, 5 in Reason and Verify.",
        rich_help_panel=_SEARCH,
    ),
]
RerankByOption = Annotated[
    str | None,
    typer.Option(
        "--rerank-by",
        help='After rewriting, rank again by the "question" or, as in Reason and Verify, by the "rewriting".',
        metavar="WHAT",
        rich_help_panel=_SEARCH,
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
TemperatureOption = Annotated[
    float | None,
    typer.Option("--temperature", min=0, max=2, help="Of sampling, in place of the prompt's.", rich_help_panel=_ANSWER),
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
WindowOption = Annotated[
    int | None,
    typer.Option(
        "--window",
        min=256,
        help="Tokens of prompt and reply together, beyond which evidence is cut. Default: the model's own limit.",
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
ContextsOption = Annotated[
    str | None,
    typer.Option(
        "--contexts",
        help="Judge the rationale against several numbers of documents, as in 1-5 or 1,3,5; the last is the run's own.",
        metavar="NUMBERS",
        rich_help_panel=_ANSWER,
    ),
]
TogetherOption = Annotated[
    bool,
    typer.Option(
        "--together",
        help="Show the judge question, documents, rationale and answer at once (needs --judge llm-eight:MODEL).",
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
FewestOption = Annotated[
    int | None,
    typer.Option(
        min=0,
        max=4,
        help="How many there must be, filled up by chance; as many as are shown if not said.",
        rich_help_panel=_DEMONSTRATIONS,
    ),
]
NearOption = Annotated[
    float | None,
    typer.Option(
        min=0,
        max=1,
        help="Cosine to a question from which a demonstration would give it away. [default: 0.9]",
        rich_help_panel=_DEMONSTRATIONS,
    ),
]
DiversityOption = Annotated[
    float | None,
    typer.Option(
        min=0,
        max=1,
        help="With similar+diverse: weight of being unlike the others. [default: 0.3]",
        rich_help_panel=_DEMONSTRATIONS,
    ),
]
SeedOption = Annotated[
    int | None,
    typer.Option("--seed", min=0, help="Of sampling and of what is chosen by chance.", rich_help_panel=_DEMONSTRATIONS),
]

PlanOutOption = Annotated[
    Path | None,
    typer.Option(
        "--plan-out", help="Write the settings of this run here, for --plan; - prints them alone.", metavar="FILE"
    ),
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
