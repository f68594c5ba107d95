"""A run as a value: what is searched, how questions are answered, how citations are judged, and what is repaired.

A ``Plan`` holds all settings of a run as plain values. Each field has its help, its option and its limits in one place:
the command line, requests to the service, ``vericite settings`` and the documentation are generated from here. Files
hold a plan (JSON, TOML or YAML), and ``vericite.pipeline.build`` makes the parts that it names. A plan never holds a
key, and its paths are relative to the working folder.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self, get_args

from pydantic import Field, model_validator

from vericite.environment import CONFIG, existing, given
from vericite.errors import InputError, SettingsError, UnknownNameError
from vericite.pipeline.setting import Setting, SettingGroup, read_settings
from vericite.records import Record
from vericite.retrieve import CANDIDATES, MIN_COVERAGE, MIN_RELEVANCE

if TYPE_CHECKING:
    from vericite.corpus.store.contract import Filters
    from vericite.retrieve.rewrite import Trigger

By = Literal["bm25", "dense", "hybrid", "late", "medcpt", "rrf-2", "rrf-4"]
"""Ways to rank. The last ones are MedRAG's: MedCPT, and fusions of BM25 with MedCPT, and of both with Contriever and
SPECTER."""

Keep = Literal["better", "new"]
"""Which evidence is kept after rewriting."""

RerankBy = Literal["question", "rewriting"]
"""The text by which evidence found with a rewriting is ranked."""

ALL_GOLD = 10_000
"""The number of documents to find where an oracle gives all gold documents."""

NOTHING = "none"
"""The corpus without documents: a language model answers from its own knowledge."""

RATIONALE_PROMPTS = ("steps", "steps-maybe")
"""Prompts for ``rationale``; the second one allows maybe as the answer to a yes/no question."""

_SELECTION = ("min_shots", "max_similarity", "diversity")
"""Fields that refine how demonstrations are selected."""

ORACLE = "oracle:"
"""Prefix of a corpus that only gives gold documents."""

ABSTRACTS = "abstracts:"
"""Prefix of a file of full-text articles, to read only their abstracts."""

_ASK, _FIND = ("ask",), ("ask", "search")
_JUDGE = ("ask", "check", "attribute", "repair")


class SearchPlan(Record):
    """How to search."""

    corpus: Annotated[str, Setting("--corpus", (*_FIND, "evidence"), metavar="CORPUS")] = Field(
        default="demo",
        description='"demo", "pubmed" (asks NCBI), a folder of documents (PDF, Word, text, JSONL ...), a file, such as '
        'JSONL {"id", "title"?, "text"}, or a store made by `corpus build` (a folder or s3://...). "oracle:CORPUS" '
        'gives each question its gold documents from there; "abstracts:FILE" takes only the abstracts of full-text '
        'articles; "none" gives no documents.',
    )
    k: Annotated[int | None, Setting("--k", _FIND, by_request=True, request_most=50)] = Field(
        default=None,
        ge=1,
        le=ALL_GOLD,
        description="Documents to find. Default: 5 for ask, 10 for search, 3 for and 3 against for evidence, with an "
        "oracle all gold documents.",
    )
    by: Annotated[
        str | None,
        Setting("--by", _FIND, "WAY", by_request=True, request_values=("bm25", "dense", "hybrid", "late")),
    ] = Field(
        default=None,
        description="Rank by bm25, dense, hybrid (both; the default where there are vectors), late (matches by words, "
        "reordered by meaning: for a store without vectors), or MedRAG's medcpt, rrf-2 and rrf-4 (files only; need the "
        "extra hf). Only the default also searches for other names of drugs and conditions.",
    )
    rerank: Annotated[str, Setting(by_request=True, request_values=("bundled", "none"))] = Field(
        default="bundled", description="Reranker: bundled, medcpt, bge, hf:CHECKPOINT or none."
    )
    candidates: Annotated[int, Setting(by_request=True, request_most=200)] = Field(
        default=CANDIDATES, ge=1, description="Number of documents to rerank."
    )
    rewrite: str = Field(
        default="none",
        description="Language model that rewrites the question where the evidence is poor, such as "
        "openai:gpt-4o-mini; or none.",
    )
    coverage: float = Field(
        default=MIN_COVERAGE,
        ge=0,
        le=1,
        description="Rewrite if the evidence contains less than this share of the question's words; 0 never rewrites.",
    )
    relevance: float = Field(
        default=MIN_RELEVANCE,
        ge=0,
        le=1,
        description="Rewrite if the mean relevance of the top documents is lower than this; 0 never rewrites.",
    )
    relevance_top: int = Field(
        default=1, ge=1, description="Number of top documents whose mean relevance is compared (Reason and Verify: 5)."
    )
    keep: str = Field(
        default="better", description="Evidence to keep after rewriting: the better one, or always the new one."
    )
    rerank_by: RerankBy = Field(
        default="question", description="Rerank the evidence of a rewritten search by the question or the rewriting."
    )
    rewrite_shown: int = Field(
        default=5, ge=0, description="Documents shown to the model that rewrites; 0: the question alone."
    )
    controlled: Annotated[str | None, Setting(metavar="CORPUS|RUNS")] = Field(
        default=None,
        description="With an oracle: give each question as many documents as this standard cell does, gold documents "
        "first. A corpus to search, or a folder of runs.",
    )
    cleaning: Literal["stopwords", "interrogative"] = Field(
        default="stopwords",
        description="With pubmed: words of the question to leave out of the query: stopwords and the leading "
        "interrogative, or the interrogative only, as in the VeriCite paper.",
    )
    until: str = Field(
        default="",
        pattern=r"^(\d{4}-\d{2}-\d{2})?$",
        description="With pubmed: only articles that PubMed had by this date, such as 2025-03-01.",
    )
    year_from: Annotated[int | None, Setting(by_request=True)] = Field(
        default=None, ge=1500, le=2100, description="Only documents of this year or later."
    )
    year_to: Annotated[int | None, Setting(by_request=True)] = Field(
        default=None, ge=1500, le=2100, description="Only documents of this year or earlier."
    )
    journals: Annotated[tuple[str, ...], Setting(by_request=True)] = Field(
        default=(), description="Only documents of these journals."
    )
    mesh: Annotated[tuple[str, ...], Setting(by_request=True)] = Field(
        default=(), description="Only documents with one of these MeSH headings."
    )
    publication_types: Annotated[tuple[str, ...], Setting(by_request=True)] = Field(
        default=(), description="Only documents of these publication types."
    )
    languages: Annotated[tuple[str, ...], Setting(by_request=True)] = Field(
        default=(), description="Only documents in these languages, as codes such as eng."
    )
    designs: Annotated[tuple[str, ...], Setting(by_request=True)] = Field(
        default=(), description="Only documents that state one of these study designs, such as cohort study."
    )
    retracted: bool | None = Field(default=None, description="Only retracted documents, or only others. Default: both.")

    @model_validator(mode="after")
    def _known(self) -> Self:
        for field, value, known in (("search.by", self.by, get_args(By)), ("search.keep", self.keep, get_args(Keep))):
            if value is not None and value not in known:
                raise UnknownNameError(f"value of {field}", value, known)
        if self.designs:
            from vericite.text.designs import DESIGNS

            for design in self.designs:
                if design not in DESIGNS:
                    raise UnknownNameError("value of search.designs", design, DESIGNS)
        return self

    @property
    def gold_source(self) -> str | None:
        """Corpus of an oracle's gold documents; None for a search."""
        return self.corpus.removeprefix(ORACLE) if self.corpus.startswith(ORACLE) else None

    def depth(self, default: int = 5) -> int:
        """Return the number of documents to find: ``k``, else all gold documents of an oracle, else the default."""
        if self.k is not None:
            return self.k
        return ALL_GOLD if self.gold_source is not None and self.controlled is None else default

    @property
    def trigger(self) -> Trigger:
        """When to rewrite a question."""
        from vericite.retrieve.rewrite import Trigger

        return Trigger(self.coverage, self.relevance, self.relevance_top)

    @property
    def filters(self) -> Filters:
        """Conditions on the documents of a store."""
        from vericite.corpus.store.contract import Filters

        return Filters(
            self.year_from,
            self.year_to,
            self.journals,
            self.mesh,
            self.publication_types,
            self.languages,
            self.retracted,
        )

    @property
    def unfiltered(self) -> SearchPlan:
        """Return the plan without filters."""
        usual = type(self)()
        return self.model_copy(update={field: getattr(usual, field) for field in _FILTERS})


_FILTERS = ("year_from", "year_to", "journals", "mesh", "publication_types", "languages", "designs", "retracted")

STARTING_POINTS: dict[str, dict[str, Any]] = {
    "default": {},
    "reason-verify": {
        "k": 5,
        "by": "bm25",
        "rerank": "bge",
        "rewrite": "",
        "relevance_top": 5,
        "keep": "new",
        "rerank_by": "rewriting",
        "rewrite_shown": 0,
    },
    "vericite": {"rerank": "none", "rewrite": "none"},
}
"""The changes that named plans make to a search. Reason and Verify rewrites with a model that the user names."""


class AnswerPlan(Record):
    """Who answers, and how."""

    llm: Annotated[str | None, Setting("--llm", _ASK, metavar="MODEL")] = Field(
        default=None,
        description="Language model that answers: openai:gpt-4o-mini, http://localhost:8000/v1#model, "
        "gguf:/file.gguf ... Without one, the answer is made of sentences of the sources.",
    )
    answerer: str = Field(
        default="extractive",
        description="Generator to use without a language model. extractive quotes sentences of the sources; other "
        "packages may add more.",
    )
    prompt: Annotated[str, Setting("--prompt", _ASK, metavar="NAME")] = Field(
        default="default",
        description="Prompt for the language model: default, vericite, reason-verify-bioasq, biogen ..., or a .toml "
        "file.",
    )
    rationale: Annotated[bool, Setting("--rationale", _ASK, by_request=True)] = Field(
        default=False, description="Let the model reason step by step, and check each step (needs a language model)."
    )
    contexts: Annotated[tuple[Annotated[int, Field(ge=1)], ...], Setting(by_request=True, request_most=50)] = Field(
        default=(),
        description="Numbers of documents to check a rationale's steps against, such as 1,3,5; the last one counts "
        "for the run. Default: 5.",
    )
    together: bool = Field(
        default=False,
        description="Show the judge question, documents, rationale and answer at once, and have it label all steps "
        "(needs the judge llm-eight:MODEL).",
    )
    evidence: Annotated[Literal["auto", "abstracts", "sentences", "quotations"], Setting(by_request=True)] = Field(
        default="auto",
        description="What the language model is shown: abstracts, the eight sentences that answer best, or the "
        "quotations of an answer without a model, which then also decides whether to refuse. Default: quotations, with "
        "--prompt small, for gguf: files below 2.5 GB; otherwise abstracts.",
    )
    window: int | None = Field(
        default=None,
        ge=256,
        description="Maximum tokens of prompt and reply together; evidence beyond it is cut. Default: the model's "
        "limit.",
    )
    temperature: float | None = Field(default=None, ge=0, le=2, description="Temperature. Default: the prompt's own.")
    grammar: Literal["auto", "on", "off"] = Field(
        default="auto",
        description="Whether a grammar restricts the model to sentences that cite existing sources: auto for gguf: "
        "models, on also for llama.cpp's server.",
    )
    pool: str | None = Field(
        default=None, description="File of demonstrations to choose from, made by `vericite demonstrations build`."
    )
    shots: Annotated[int | None, Setting(by_request=True)] = Field(
        default=None, ge=0, le=4, description="Number of demonstrations to show. Default: 2."
    )
    select: str | None = Field(
        default=None,
        description="How demonstrations are selected: static, similar (default), similar+diverse or label-balanced.",
    )
    min_shots: int | None = Field(
        default=None,
        ge=0,
        le=4,
        description="Minimum number of demonstrations; the rest is drawn at random. Default: shots.",
    )
    max_similarity: float | None = Field(
        default=None,
        gt=0,
        le=1,
        description="Drop demonstrations more similar to the question than this (cosine). Default: 0.9.",
    )
    diversity: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="With similar+diverse: weight of being unlike the demonstrations already selected. Default: 0.3.",
    )
    seed: Annotated[int | None, Setting(by_request=True)] = Field(
        default=None, ge=0, description="Seed of sampling and of random selection."
    )
    min_answer_probability: Annotated[float | None, Setting(by_request=True)] = Field(
        default=None,
        ge=0,
        le=1,
        description="Without a language model: refuse to answer where the sources answer with less probability than "
        "this. Default: 0.5.",
    )

    @model_validator(mode="after")
    def _each_once(self) -> Self:
        if len(set(self.contexts)) < len(self.contexts):
            raise ValueError("expected each number of documents once")
        return self

    def expect_coherent(self) -> None:
        """Refuse settings that would change nothing.

        Raises:
            SettingsError: A setting is given without another that it needs.
        """
        if self.llm is None:
            named = ("rationale", "prompt", "temperature", "grammar", "pool", "shots", "select", "seed", "evidence")
            named += ("window",)
            named += _SELECTION
            if idle := [f"answer.{name}" for name in named if self._is_changed(name)]:
                others = ", ".join(["{}"] * len(idle))
                raise SettingsError(f"expected {{}} with {others}; found none. Name a model.", ["answer.llm", *idle])
        elif self.min_answer_probability is not None:
            raise SettingsError(
                "expected {} without {}, whose model decides for itself; found both",
                ("answer.min_answer_probability", "answer.llm"),
            )
        for name in ("contexts", "together"):
            if self._is_changed(name) and not self.rationale:
                raise SettingsError(
                    "expected {} with {}; found none. Add it, or leave {} out.",
                    ("answer.rationale", f"answer.{name}", f"answer.{name}"),
                )
        for has, name in (("a prompt", "prompt"), ("a form", "grammar")):
            # A verbatim prompt's reply is its own rationale; whether a file is one is seen when it is read.
            is_own = name == "prompt" and (self.prompt.endswith(".toml") or self.prompt in RATIONALE_PROMPTS)
            if self.rationale and self._is_changed(name) and not is_own:
                raise SettingsError(
                    "expected {}, which has {has} of its own, without {}; found {found!r}. Leave one of them out.",
                    ("answer.rationale", f"answer.{name}"),
                    {"has": has, "found": getattr(self, name)},
                )
        selection = [name for name in ("shots", "select", *_SELECTION) if getattr(self, name) not in (None, 0)]
        if self.pool is None and selection:
            raise SettingsError(
                "expected {} with {}; found none. Make one: vericite demonstrations build",
                ("answer.pool", f"answer.{selection[0]}"),
            )

    def _is_changed(self, name: str) -> bool:
        return getattr(self, name) != type(self).model_fields[name].default


class CheckPlan(Record):
    """How citations are judged."""

    protocol: Annotated[str, Setting("--protocol", _JUDGE, "NAME", by_request=True)] = Field(
        default="default", description="How citations are judged; `vericite protocols` lists the names."
    )
    judge: Annotated[str | None, Setting("--judge", _JUDGE, "NAME")] = Field(
        default=None, description="Judge to use in place of the protocol's own; `vericite judges` lists them."
    )
    abstain_below: Annotated[float | None, Setting(by_request=True)] = Field(
        default=None,
        ge=0,
        le=1,
        description="Abstain from verdicts of lower probability; 0 never abstains. Default: the protocol's or the "
        "judge's own threshold.",
    )
    precision: Annotated[float | None, Setting(by_request=True)] = Field(
        default=None,
        gt=0,
        lt=1,
        description="Abstain from supported verdicts unless at least this share of such verdicts is right on data sets "
        "that the judge was not trained on, as in 0.8. For the bundled judge with the protocol default or fast.",
    )
    explain: Annotated[bool, Setting("--explain", ("check",), by_request=True)] = Field(
        default=False,
        description="Also look for what is wrong with a sentence that its sources do not support, which takes longer: "
        "the words that no source carries, what the source says instead, and other sources that support the sentence.",
    )
    corpus: Annotated[str | None, Setting(metavar="CORPUS")] = Field(
        default=None,
        description="With explain: where else to look for a document that supports such a sentence: demo, pubmed, a "
        "store, a file or a folder.",
    )
    bibliography: tuple[str, ...] = Field(
        default=(),
        description="Files of references that a manuscript cites by key, such as library.bib, RIS or CSL JSON.",
    )


class ModelPlan(Record):
    """How language models are called. Their keys come from the environment alone."""

    concurrency: int = Field(default=8, ge=1, description="Calls at a time.")
    rpm: int | None = Field(default=None, ge=1, description="Maximum requests per minute.")
    tpm: int | None = Field(default=None, ge=1, description="Maximum tokens per minute.")
    timeout: float = Field(
        default=300, ge=1, description="Timeout of a call, in seconds. Default: 300 if a model answers, otherwise 60."
    )
    price: Annotated[str | None, Setting(metavar="IN,OUT")] = Field(
        default=None, description="Price of a million tokens in and out, such as 0.15,0.60."
    )
    reply_tokens: int = Field(
        default=512,
        ge=1,
        description="Maximum tokens of a reply; raise it for models that think first. "
        "Default: 512 if a model answers, 1024 for demonstrations build, otherwise 256.",
    )
    cache: bool = Field(default=True, description="Keep judgements and replies between runs.")


class RepairPlan(Record):
    """Whether and how rejected citations are repaired."""

    enabled: Annotated[bool, Setting("--repair", _ASK, by_request=True)] = Field(
        default=False,
        description="Repair rejected citations: cite another source, correct the sentence, or delete it.",
    )
    llm: Annotated[str | None, Setting("--llm", ("repair",), metavar="MODEL")] = Field(
        default=None,
        description="Language model that rewrites sentences, such as ollama:llama3.2. ask uses the one that answers.",
    )
    corpus: Annotated[str | None, Setting("--corpus", ("repair",), metavar="CORPUS")] = Field(
        default=None,
        description="Where to look for documents that support a sentence when its own sources do not: demo, pubmed, a "
        "store, a file or a folder. ask uses its own corpus.",
    )
    rounds: Annotated[int, Setting(by_request=True, request_most=10)] = Field(
        default=2, ge=1, description="Maximum rounds of repairing and checking again."
    )
    drop_uncited: Annotated[bool, Setting(by_request=True)] = Field(
        default=False, description="Delete sentences that cite nothing and that no source supports."
    )


class WorkersPlan(Record):
    """How work is shared among processes."""

    ray: Annotated[str | None, Setting(metavar="ADDRESS")] = Field(
        default=None,
        description="Where Ray starts the processes: local for this machine, auto for the cluster it belongs to, or a "
        "cluster's address. Needs the extra ray; check and attribute also need --out. Run the same command again to "
        "continue a stopped run.",
    )
    count: int | None = Field(
        default=None,
        ge=1,
        description="Number of processes. Default: with ray one per processor. corpus build also takes it without ray: "
        "processes of this machine that read files, and make vectors, ahead of the one that writes.",
    )
    gpus: float | None = Field(
        default=None, ge=0, description="GPUs per process, such as 2 or 0.5, for judges that use one."
    )
    price: float | None = Field(
        default=None, ge=0, description="Price of a process per hour; the price of a million is then printed."
    )


class ServicePlan(Record):
    """Where the service listens, and what it keeps."""

    host: Annotated[str, Setting("--host", ("serve",), metavar="ADDRESS")] = Field(
        default="127.0.0.1", description="Address to listen on."
    )
    port: Annotated[int, Setting("--port", ("serve",))] = Field(
        default=8600, ge=0, le=65_535, description="Port; 0 picks a free one."
    )
    hosts: tuple[str, ...] = Field(
        default=(), description="Host names to accept in requests, in addition to the address."
    )
    sources: tuple[str, ...] = Field(
        default=(),
        description="Where references of manuscripts may be looked up, in addition to the corpora: pmc, crossref, or "
        "NAME=PLACE with a folder, a file or a store.",
    )
    state: str | None = Field(
        default=None, description="Folder for runs, jobs and shelves. Default: a folder in the cache."
    )
    rate: int = Field(
        default=600,
        ge=1,
        description="Maximum requests per minute from one client. Behind a proxy, all clients count as one.",
    )


Language = Literal["en", "de", "es"]
"""Languages of pages."""


class ReportPlan(Record):
    """How a report is written."""

    language: Language = Field(
        default="en", description="Language of the words around answers and sources. What was found stays in English."
    )


class Plan(SettingGroup):
    """All settings of a run.

    Attributes:
        search: How evidence is found.
        answer: Who answers.
        check: How citations are judged.
        llm: How language models are called.
        repair: What happens to rejected citations.
        workers: How work is shared among processes.
        service: Where the service listens.
        report: How a report is written.
    """

    noun: ClassVar[str] = "a plan"
    former: ClassVar[Mapping[str, str]] = {
        "search.best": "Write search.relevance_top.",
        "answer.answer_at": "Write answer.min_answer_probability.",
        "answer.context": "Write answer.contexts, which is a list.",
        "answer.fewest": "Write answer.min_shots.",
        "answer.near": "Write answer.max_similarity.",
        "check.aids": "Remove it: sources are no longer rewritten before they are judged.",
        "check.checks": "Remove it: supported claims are no longer lowered by rules about numbers and negations.",
    }

    search: SearchPlan = SearchPlan()
    answer: AnswerPlan = AnswerPlan()
    check: CheckPlan = CheckPlan()
    llm: ModelPlan = ModelPlan()
    repair: RepairPlan = RepairPlan()
    workers: WorkersPlan = WorkersPlan()
    service: ServicePlan = ServicePlan()
    report: ReportPlan = ReportPlan()


_ANSWERING = ("search", "answer", "check", "llm", "repair")
SECTIONS: dict[str, tuple[str, ...]] = {
    "ask": _ANSWERING,
    "search": ("search", "llm"),
    "evidence": ("search", "check", "llm"),
    "check": ("check", "llm", "workers"),
    "attribute": ("check", "llm", "workers"),
    "repair": ("check", "llm", "repair"),
    "demonstrations build": ("search", "llm"),
    "report": ("check", "llm", "report"),
    "annotate correct": ("check", "llm"),
    "corpus build": ("workers",),
    "corpus export": ("search",),
    "serve": (*_ANSWERING, "service"),
    "mcp": (*_ANSWERING, "service"),
}
"""The sections that a command reads."""

_SHORT_REPLIES: dict[str, Any] = {"timeout": 60, "reply_tokens": 256}
_USUAL: dict[str, dict[str, dict[str, Any]]] = {
    "search": {"llm": _SHORT_REPLIES},
    "check": {"llm": _SHORT_REPLIES},
    "evidence": {"llm": _SHORT_REPLIES},
    "attribute": {"llm": _SHORT_REPLIES},
    "repair": {"llm": _SHORT_REPLIES, "repair": {"enabled": True}},
    "report": {"llm": _SHORT_REPLIES},
    "annotate correct": {"llm": _SHORT_REPLIES},
    "demonstrations build": {"llm": {"timeout": 60, "reply_tokens": 1024}},
}
"""Defaults of a command that differ from ``Plan()``: verdicts and queries are short, rationales are long."""


def usual_plan(command: str) -> Plan:
    """Return the default plan of a command; for most commands ``Plan()``."""
    return Plan().changed(_USUAL.get(command, {}))


def changed_by(plan: str, base: Plan, searches: bool) -> Plan:
    """Apply ``--plan`` to a plan: a file of settings or, for commands that search, a name.

    Raises:
        InputError: Unknown file or name, or an invalid value.
    """
    is_name = plan in STARTING_POINTS or not (Path(plan).suffix or Path(plan).exists())
    if not is_name:
        return Plan.load(Path(plan), base)
    if not searches:
        raise InputError(
            f"expected --plan to be a file of settings; found the name {plan!r}. `vericite settings --out FILE` writes "
            "one; a protocol is named with --protocol."
        )
    if plan not in STARTING_POINTS:
        raise UnknownNameError("search plan", plan, STARTING_POINTS)
    return base.changed({"search": STARTING_POINTS[plan]})


PROJECT_FILE = "vericite.toml"
"""A file in the working folder with a project's own settings, for every command that has a plan."""


def project_file() -> Path | None:
    """``$VERICITE_CONFIG``, else ``vericite.toml`` in the working folder; None where there is none.

    Parent folders are not searched: settings may name a remote model, and the user must see what leaves the machine.
    """
    if given(CONFIG) is not None:
        return existing(CONFIG, "file")
    path = Path(PROJECT_FILE)
    return path if path.is_file() else None


def project_settings(path: Path) -> dict[str, dict[str, Any]]:
    """Return the settings in the project's file, by section.

    Raises:
        InputError: The file cannot be read, or has an unknown setting; the message names it.
    """
    found = read_settings(path)
    # All of it, also what this command does not read: a wrong word is to be seen at once.
    Plan().changed(found, f"in {path}")
    return {section: dict(values) for section, values in found.items()}
