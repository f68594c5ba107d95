"""A run as a value: what is searched, who answers, how citations are judged, whom to ask and what to repair.

A ``Plan`` says all that makes a run, in plain values. Commands fill one from their options, files hold one (JSON, TOML
or YAML), and ``vericite.pipeline.build`` makes the parts that it names. It never holds a key, and paths in it are
relative to the working folder.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import Field, ValidationError, model_validator

from vericite.corpus.store.contract import Filters
from vericite.disk.files import write_whole
from vericite.environment import CONFIG, existing, given
from vericite.errors import InputError, SettingsError, UnknownNameError
from vericite.pipeline.search import ALL_GOLD, Keep, RerankBy
from vericite.records import Record, first_problem
from vericite.retrieve.rerank import CANDIDATES
from vericite.retrieve.rewrite import Trigger

By = Literal["bm25", "dense", "hybrid", "late", "medcpt", "rrf-2", "rrf-4"]
"""Ways to rank. The last ones are MedRAG's: MedCPT, and fusions of BM25 with MedCPT, and of both with Contriever and
SPECTER."""


NOTHING = "none"
"""The corpus without a document: a language model answers from what it knows."""

RATIONALE_PROMPTS = ("steps", "steps-maybe")
"""Prompts for ``rationale``; the second one allows maybe as the answer to a yes/no question."""

_CHOSEN = ("fewest", "near", "diversity")
"""What more there is to say about how demonstrations are chosen."""

ORACLE = "oracle:"
"""Begins the name of a corpus that only gives gold documents."""

ABSTRACTS = "abstracts:"
"""Begins the name of a file of articles in full text of which only the abstracts are taken."""


class SearchPlan(Record):
    """How to search, in names.

    Attributes:
        corpus: ``demo``, ``pubmed``, a store (a folder or ``s3://...``), or a file of documents; with ``oracle:``
            before it, each question's gold documents are taken from there and nothing is searched for. ``abstracts:``
            before a file of articles in JATS takes their abstracts alone. ``none`` gives no document: a closed book.
        controlled: With an oracle: the standard cell, whose number of documents each question gets. A corpus to be
            searched, or a folder of runs.
        k: Documents to find; None for the usual number, and of an oracle for all gold documents.
        by: What documents are ranked by; None for words and meaning where there are vectors, else words.
        rerank: ``bundled``, ``medcpt``, ``bge``, ``hf:CHECKPOINT`` or ``none``.
        candidates: Documents that are reranked.
        rewrite: ``none``, or a language model such as ``openai:gpt-4o-mini``. An empty name has still to be given.
        coverage: The question is rewritten if less of its words are in the evidence; 0 never.
        relevance: The question is rewritten if the best documents' mean relevance is lower; 0 never.
        best: Documents that this mean is of. By default the best one alone: one article answers most questions.
        keep: Which evidence is kept after rewriting: the ``better`` one, or the ``new`` one.
        rerank_by: What that evidence is ranked again by: the ``question``, or the ``rewriting``.
        year_from, year_to, journals, mesh, publication_types, languages, retracted: Filters on documents of a store.
        cleaning: Which words of a question PubMed is not asked for: its ``stopwords`` and the leading interrogative, or
            the ``interrogative`` alone, as in the VeriCite paper.
    """

    corpus: str = "demo"
    controlled: str | None = None
    k: int | None = Field(default=None, ge=1)
    by: str | None = None
    rerank: str = "bundled"
    candidates: int = Field(default=CANDIDATES, ge=1)
    rewrite: str = "none"
    coverage: float = Field(default=Trigger.coverage, ge=0, le=1)
    relevance: float = Field(default=Trigger.relevance, ge=0, le=1)
    best: int = Field(default=1, ge=1)
    keep: str = "better"
    rerank_by: RerankBy = "question"
    year_from: int | None = None
    year_to: int | None = None
    journals: tuple[str, ...] = ()
    mesh: tuple[str, ...] = ()
    publication_types: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    retracted: bool | None = None
    cleaning: Literal["stopwords", "interrogative"] = "stopwords"

    @model_validator(mode="after")
    def _known(self) -> Self:
        for option, value, known in (("--by", self.by, get_args(By)), ("--keep", self.keep, get_args(Keep))):
            if value is not None and value not in known:
                raise UnknownNameError(f"value of {option}", value, known)
        return self

    @property
    def gold_source(self) -> str | None:
        """Where an oracle takes gold documents from; None where documents are searched for."""
        return self.corpus.removeprefix(ORACLE) if self.corpus.startswith(ORACLE) else None

    def depth(self, usual: int = 5) -> int:
        """How many documents to find: ``k``, else all gold ones of an oracle, else the usual number."""
        if self.k is not None:
            return self.k
        return ALL_GOLD if self.gold_source is not None and self.controlled is None else usual

    @property
    def trigger(self) -> Trigger:
        """When a question is rewritten."""
        return Trigger(self.coverage, self.relevance, self.best)

    @property
    def filters(self) -> Filters:
        """What documents of a store have to be."""
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
        """The same without filters."""
        usual = type(self)()
        return self.model_copy(update={field: getattr(usual, field) for field in _FILTERS})


_FILTERS = ("year_from", "year_to", "journals", "mesh", "publication_types", "languages", "retracted")

STARTING_POINTS: dict[str, dict[str, Any]] = {
    "default": {},
    "reason-verify": {
        "k": 5,
        "by": "bm25",
        "rerank": "bge",
        "rewrite": "",
        "best": 5,
        "keep": "new",
        "rerank_by": "rewriting",
    },
    "vericite": {"rerank": "none", "rewrite": "none"},
}
"""What named plans change of a search. Reason and Verify's rewriter is a language model, which the user names."""


class AnswerPlan(Record):
    """Who answers, and how.

    Attributes:
        llm: A language model such as ``openai:gpt-4o-mini``; without one the answer is made of the sources' sentences.
        prompt: A name, or a ``.toml`` file, which may be verbatim.
        temperature: Of sampling; None for the prompt's own.
        grammar: Whether a grammar holds the model to cited sentences.
        rationale: Let the model reason step by step, and judge each step.
        context: Documents that steps of a rationale are judged against; 5 if None.
        contexts: Several such numbers, each judged apart; the last one is the run's own.
        together: Whether a judge is shown question, documents, rationale and answer at once, and labels all steps.
        pool: A file of demonstrations.
        shots: How many of them are shown; 2 if None.
        select: How they are chosen; ``similar`` if None.
        fewest: How many there must be, filled up by chance; ``shots`` if None.
        near: Cosine to the question from which one would give it away; 0.9 if None.
        diversity: Weight of being unlike those chosen before, for ``similar+diverse``; 0.3 if None.
        seed: Of sampling and of what is chosen by chance.
        answer_at: Without a language model: the probability that the sources answer, below which none is given.
        evidence: What a language model is shown of the documents: whole abstracts, or the sentences that answer.
        window: Tokens of prompt and reply together, beyond which evidence is cut; None for the model's own limit.
    """

    llm: str | None = None
    prompt: str = "default"
    temperature: float | None = Field(default=None, ge=0, le=2)
    grammar: Literal["auto", "on", "off"] = "auto"
    rationale: bool = False
    context: int | None = Field(default=None, ge=1)
    contexts: tuple[Annotated[int, Field(ge=1)], ...] = ()
    together: bool = False
    pool: str | None = None
    shots: int | None = Field(default=None, ge=0, le=4)
    select: str | None = None
    fewest: int | None = Field(default=None, ge=0, le=4)
    near: float | None = Field(default=None, gt=0, le=1)
    diversity: float | None = Field(default=None, ge=0, le=1)
    seed: int | None = Field(default=None, ge=0)
    answer_at: float | None = Field(default=None, ge=0, le=1)
    evidence: Literal["abstracts", "sentences"] = "abstracts"
    window: int | None = Field(default=None, ge=256)

    def expect_coherent(self) -> None:
        """Refuse options that would change nothing.

        Raises:
            SettingsError: One is given without the one that it needs.
        """
        if self.llm is None:
            named = ("rationale", "prompt", "temperature", "grammar", "pool", "shots", "select", "seed", "evidence")
            named += ("window",)
            named += _CHOSEN
            if idle := [f"answer.{name}" for name in named if self._is_changed(name)]:
                beside = ", ".join(["{}"] * len(idle))
                raise SettingsError(f"expected {{}} beside {beside}; found none. Name a model.", ["answer.llm", *idle])
        elif self.answer_at is not None:
            raise SettingsError(
                "expected {} without {}, whose model decides for itself; found both", ("answer.answer_at", "answer.llm")
            )
        for name in ("context", "contexts", "together"):
            if self._is_changed(name) and not self.rationale:
                raise SettingsError(
                    "expected {} beside {}; found none. Add it, or leave {} out.",
                    ("answer.rationale", f"answer.{name}", f"answer.{name}"),
                )
        if self.context is not None and self.contexts:
            raise SettingsError("expected {} or {}; found both. Leave one out.", ("answer.context", "answer.contexts"))
        for has, name in (("a prompt", "prompt"), ("a form", "grammar")):
            # A verbatim prompt's reply is its own rationale; whether a file is one is seen when it is read.
            is_own = name == "prompt" and (self.prompt.endswith(".toml") or self.prompt in RATIONALE_PROMPTS)
            if self.rationale and self._is_changed(name) and not is_own:
                raise SettingsError(
                    "expected {}, which has {has} of its own, without {}; found {found!r}. Leave one of them out.",
                    ("answer.rationale", f"answer.{name}"),
                    {"has": has, "found": getattr(self, name)},
                )
        chosen = [name for name in ("shots", "select", *_CHOSEN) if getattr(self, name) not in (None, 0)]
        if self.pool is None and chosen:
            raise SettingsError(
                "expected {} beside {}; found none. Make one: vericite demonstrations build",
                ("answer.pool", f"answer.{chosen[0]}"),
            )

    def _is_changed(self, name: str) -> bool:
        return getattr(self, name) != type(self).model_fields[name].default


class CheckPlan(Record):
    """How citations are judged.

    Attributes:
        protocol: Its name.
        judge: Who judges, in place of the protocol's own.
        abstain_below: Verdicts of lower probability are abstained from; None for the protocol's or judge's own bar.
        checks: Whether deterministic checks may lower a verdict; None for the protocol's own choice.
        aids: Whether reading aids put a source into the claim's terms; None for the protocol's own choice.
    """

    protocol: str = "default"
    judge: str | None = None
    abstain_below: float | None = Field(default=None, ge=0, le=1)
    checks: bool | None = None
    aids: bool | None = None


class ModelPlan(Record):
    """How language models are asked. Their keys come from the environment alone.

    Attributes:
        concurrency: Calls at a time.
        rpm: Requests a minute at most.
        tpm: Tokens a minute at most.
        timeout: Seconds that a call may take.
        price: Of a million tokens in and out, as in ``0.15,0.60``.
        reply_tokens: Tokens that a reply may have.
        cache: Keep judgements and replies between runs.
    """

    concurrency: int = Field(default=8, ge=1)
    rpm: int | None = Field(default=None, ge=1)
    tpm: int | None = Field(default=None, ge=1)
    timeout: float = Field(default=300, ge=1)
    price: str | None = None
    reply_tokens: int = Field(default=512, ge=1)
    cache: bool = True


class RepairPlan(Record):
    """Whether and how rejected citations are repaired.

    Attributes:
        enabled: Whether answers are repaired.
        llm: A language model that rewrites sentences. ``ask`` uses the one that answers.
        corpus: Where documents are looked for that support a sentence. ``ask`` uses its own.
        rounds: How often an answer is repaired and checked again.
        drop_uncited: Delete sentences that cite nothing and that nothing supports.
    """

    enabled: bool = False
    llm: str | None = None
    corpus: str | None = None
    rounds: int = Field(default=2, ge=1)
    drop_uncited: bool = False


class Plan(Record):
    """All that makes a run, as a value.

    Attributes:
        search: How evidence is found.
        answer: Who answers.
        check: How citations are judged.
        llm: How language models are asked.
        repair: What happens to rejected citations.
    """

    search: SearchPlan = SearchPlan()
    answer: AnswerPlan = AnswerPlan()
    check: CheckPlan = CheckPlan()
    llm: ModelPlan = ModelPlan()
    repair: RepairPlan = RepairPlan()

    @classmethod
    def load(cls, path: Path, base: Plan | None = None) -> Plan:
        """The plan of a file; what it leaves out is as in ``base``.

        Raises:
            InputError: The file cannot be read, or holds no plan. The field is named.
        """
        return (base or cls()).changed(read_settings(path), f"in {path}")

    def changed(self, fields: Mapping[str, Any], where: str = "") -> Plan:
        """A copy with some fields of some sections changed, as in ``{"search": {"k": 3}}``.

        Raises:
            InputError: A field is unknown or has another type; ``where`` says whose it is.
        """
        dumped = self.model_dump(mode="json")
        for section, values in fields.items():
            known = dumped.get(section)
            dumped[section] = {**known, **values} if isinstance(known, dict) and isinstance(values, Mapping) else values
        try:
            return Plan.model_validate_json(json.dumps(dumped))
        except ValidationError as error:
            field, problem = first_problem(error)
            sections = ", ".join(Plan.model_fields)
            raise InputError(
                f"expected a plan with the sections {sections}; found {field} {where}: {problem}. Correct that field."
            ) from None

    def dump(self, path: Path, sections: tuple[str, ...] | None = None) -> None:
        """Write the plan as JSON, or only some of its sections.

        Raises:
            InputError: The file cannot be written.
        """
        text = json.dumps(self.as_json(sections), indent=2, ensure_ascii=False) + "\n"
        write_whole(path, [text])

    def as_json(self, sections: tuple[str, ...] | None = None) -> dict[str, Any]:
        """The plan as plain values, or only some of its sections."""
        dumped = self.model_dump(mode="json")
        return dumped if sections is None else {section: dumped[section] for section in sections}


_SHORT_REPLIES: dict[str, Any] = {"timeout": 60, "reply_tokens": 256}
_USUAL: dict[str, dict[str, dict[str, Any]]] = {
    "search": {"llm": _SHORT_REPLIES},
    "check": {"llm": _SHORT_REPLIES},
    "attribute": {"llm": _SHORT_REPLIES},
    "repair": {"llm": _SHORT_REPLIES, "repair": {"enabled": True}},
    "demonstrations": {"llm": {"timeout": 60, "reply_tokens": 1024}},
}
"""What a command has otherwise than ``Plan()``: verdicts and queries are shorter than answers, rationales longer."""


def usual_plan(command: str) -> Plan:
    """What a command does without a file and without an option; of ``ask``, and of all not named here, ``Plan()``."""
    return Plan().changed(_USUAL.get(command, {}))


def changed_by(plan: str, base: Plan, searches: bool) -> Plan:
    """A plan as ``--plan`` changes it: by a file of settings, or, for a command that searches, by a name.

    Raises:
        InputError: There is no such file or name, or a value cannot be used.
    """
    is_name = plan in STARTING_POINTS or not (Path(plan).suffix or Path(plan).exists())
    if not is_name:
        return Plan.load(Path(plan), base)
    if not searches:
        raise InputError(
            f"expected --plan to be a file of settings; found the name {plan!r}. Write a file with --plan-out FILE; "
            "a protocol is named with --protocol."
        )
    if plan not in STARTING_POINTS:
        raise UnknownNameError("search plan", plan, STARTING_POINTS)
    return base.changed({"search": STARTING_POINTS[plan]})


PROJECT_FILE = "vericite.toml"
"""In the working folder: what a project has otherwise than usual, for every command that has a plan."""


def project_file() -> Path | None:
    """``$VERICITE_CONFIG``, else ``vericite.toml`` in the working folder; None where there is none.

    No folder above is looked at: settings may name a model elsewhere, and what leaves the machine is to be seen.
    """
    if given(CONFIG) is not None:
        return existing(CONFIG, "file")
    path = Path(PROJECT_FILE)
    return path if path.is_file() else None


def project_settings(path: Path) -> dict[str, dict[str, Any]]:
    """What the project's file sets, by section.

    Raises:
        InputError: The file cannot be read, or sets what there is not. The field is named.
    """
    found = read_settings(path)
    # All of it, also what this command does not read: a wrong word is to be seen at once.
    Plan().changed(found, f"in {path}")
    return {section: dict(values) for section, values in found.items()}


def read_settings(path: Path) -> Mapping[str, Any]:
    """A file of settings as plain values: TOML by its ending, YAML by its ending, else JSON.

    Raises:
        InputError: The file cannot be read, or holds none.
    """
    try:
        text = path.read_text(encoding="utf-8")
        found = _read_toml(text) if path.suffix == ".toml" else _read_yaml(text) if _is_yaml(path) else json.loads(text)
    except OSError as error:
        raise InputError(f"expected a file of settings; found {path}: {error.strerror}") from None
    except ValueError as error:
        raise InputError(f"expected a plan in JSON, TOML or YAML; found in {path}: {error}") from None
    if not isinstance(found, Mapping):
        raise InputError(
            f"expected a plan with the sections {', '.join(Plan.model_fields)}; found {path}: {found!r:.40}"
        )
    return found  # pyright: ignore[reportUnknownVariableType]


def _is_yaml(path: Path) -> bool:
    return path.suffix in (".yaml", ".yml")


def _read_toml(text: str) -> Any:
    import tomllib

    return tomllib.loads(text)


def _read_yaml(text: str) -> Any:
    import yaml  # pyright: ignore[reportMissingModuleSource]

    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(str(error).replace("\n", " ")) from None
