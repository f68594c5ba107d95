"""The settings of BioACE's tables, and the models and files that they name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from pydantic import Field

from vericite.errors import InputError, Problems
from vericite.evaluate.resampling import Bootstrap
from vericite.evaluate.settings import Draws
from vericite.evaluate.systems import read_systems
from vericite.evaluate.trec import read_run
from vericite.lab.assess.answers import SystemAnswer, answered
from vericite.lab.assess.checkpoint import labeller_of
from vericite.lab.assess.citations import (
    CitationJudges,
    PairMaker,
    labelled_cases,
    named_judge,
)
from vericite.lab.assess.completeness import PROMPT as LABELS_PROMPT
from vericite.lab.assess.completeness import Labeller
from vericite.lab.assess.correctness import Ranked
from vericite.lab.assess.correctness_tables import (
    CorrectnessModel,
    correctness_model,
)
from vericite.lab.assess.mixture import StoredMixture, read_mixture
from vericite.lab.assess.nuggets import (
    PROMPT,
    Way,
)
from vericite.lab.assess.recall import (
    Clusters,
    read_clusters,
)
from vericite.llm import LLM
from vericite.llm.prompts import Prompt
from vericite.llm.verbatim import VerbatimPrompt, read_any
from vericite.models import Embedder
from vericite.models.contracts import Embeds, Judge
from vericite.records import Document
from vericite.text.references import Library

TableName = Literal["1", "2", "3", "4", "5", "A1", "A2", "A3", "A4", "A5", "A6", "figure-1", "figure-A6"]


class AssessSettings(Draws):
    """Settings of ``bioace score``."""

    align: Way = Field(default="greedy", description="Method that aligns nuggets one to one.")
    threshold: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="Minimum probability of a match. Default: the mixture's, or 0.5 if one is fitted here.",
    )
    tune: int | None = Field(
        default=None,
        ge=1,
        description="Number of Optuna trials that tune the threshold on these answers. The result has the highest F1 "
        "on the Pareto front of F1, similarity and number of pairs.",
    )
    embedder: tuple[str, ...] = Field(
        default=("bundled",),
        min_length=1,
        description="Embedders that compare nuggets: bundled, hf:CHECKPOINT or hf:CHECKPOINT#POOLING (mean, cls, last, "
        "pooler; default for SimCSE: pooler). The first one also finds the most similar sentence of a document.",
    )
    mixture: tuple[str, ...] = Field(
        default=(),
        description="Files of mixtures from save_mixture, one for each embedder. Default: fit them to these answers.",
    )
    save_mixture: tuple[str, ...] = Field(
        default=(), description="Files to write the mixtures to, as JSON, one for each embedder."
    )
    nugget_prompt: str | None = Field(
        default=None,
        description="File (.toml) with a prompt for nuggets, instead of the bundled one. It has the slot {text}, and "
        "may have {question}.",
    )
    completeness: str | None = Field(
        default=None,
        description="How to label the necessity of each sentence: llm (the model of --llm), a checkpoint that "
        "writes labels (hf-seq2seq:FOLDER?prompt=FILE, hf-attrscore-causal: for decoders), or the file or folder of a "
        "classifier from `bioace train-completeness`.",
    )
    completeness_prompt: str | None = Field(
        default=None, description="File (.toml) with a prompt for labelling sentences, instead of the bundled one."
    )
    unlabelled: bool = Field(
        default=False,
        description="Whether sentences without a human label count in the denominators of shares, as in MedAESQA's own "
        "evaluation.",
    )
    judge: tuple[str, ...] = Field(
        default=(),
        description="Judges of citations: names (`vericite judges`), adapters from `bioace train-correctness`, or "
        "NAME=FILE with scores of the pairs that write_pairs wrote. Default: citations are not judged.",
    )
    nugget_judge: tuple[str, ...] = Field(
        default=(), description="Judges of lists of nuggets, such as llm-nuggets:MODEL. Default: those of judge."
    )
    fit: str | None = Field(
        default=None,
        description="Labelled answers to other questions, such as medaesqa:FILE, on which each judge's threshold is "
        "fitted by F1. Their documents are among --documents.",
    )
    write_pairs: str | None = Field(
        default=None,
        description="File to write what judges read to, with labels, as JSON lines to score or to train on.",
    )
    punkt: bool = Field(
        default=False, description="Whether NLTK's Punkt splits documents into sentences, as in the paper."
    )
    clusters: tuple[str, ...] = Field(
        default=(),
        description="Clusters of sentences for recall (R+B), as NAME=FILE, in MedAESQA's format. Default: clusters by "
        "the first embedder.",
    )

    correctness: tuple[str, ...] = Field(
        default=(),
        description="Classifiers of correctness: files or folders from `bioace train-correctness`, judges, cosine (of "
        "the first embedder, at least 0.75), or NAME=FILE with scores.",
    )
    ranked: Ranked = Field(
        default="question", description="Text for which BM25 ranks the windows of incorrect pairs (table 3)."
    )
    nli: tuple[str, ...] = Field(
        default=(),
        description="Judges that figure 1 compares with the embedders, such as hf:FacebookAI/roberta-large-mnli.",
    )
    retrieved: str | None = Field(
        default=None,
        description="TREC run with the documents found for each question (figure A6, T10 to T100). Their texts are "
        "among --documents.",
    )
    tables: tuple[TableName, ...] = Field(
        default=(), description="Tables and figures to compute, such as 3 or A4,figure-1. Default: all."
    )

    def refuse_misuse(self, llm: str | None) -> None:
        """Refuse settings that exclude each other, or that need a language model.

        Raises:
            InputError: There are such settings.
        """
        if self.tune is not None and self.threshold is not None:
            raise InputError("expected tune or threshold; found both. Set one of them.")
        for name, files in (("mixture", self.mixture), ("save_mixture", self.save_mixture)):
            if files and len(files) != len(self.embedder):
                raise InputError(
                    f"expected {name} to have a file for each embedder; found {len(files)} for {len(self.embedder)}. "
                    "Name one for each, separated by commas."
                )
        if self.nugget_prompt is not None and llm is None:
            raise InputError("expected --llm MODEL with nugget_prompt; found none. Name a model.")
        if self.completeness_prompt is not None and self.completeness != "llm":
            raise InputError("expected completeness=llm with completeness_prompt; found none. Set it.")


@dataclass(frozen=True)
class Choices:
    """Settings of an assessment.

    Attributes:
        way: The alignment method for nuggets.
        threshold: Minimum probability of a match. Default: the mixture's threshold.
        mixtures: Fitted mixtures by embedder. Default: fit them to the scored answers, with a remark.
        llm: The language model that extracts nuggets. Default: atomic statements, offline.
        prompt: The prompt for nuggets.
        judges: The judges of citations, and what they read. Default: citations are not judged.
        clusters: Clusters of sentences by name, for recall (R+B). Default: clusters by the embedder.
        labeller: Labels how necessary each sentence is. Default: sentences are not labelled.
        trials: Number of Optuna trials to tune the threshold on the scored answers, with a remark. Default: no tuning.
        bootstrap: Settings of the intervals.
        correctness: Classifiers of correctness by name.
        nli: Judges that are compared with the embedders.
        ranked: The text for which windows of incorrect pairs are ranked.
        punkt: Whether Punkt splits documents.
        retrieved: The documents found for each question, best first.
        library: The texts of documents.
        tables: The tables to compute. Default: all.
        unlabelled: Whether sentences without a human label count in the denominators of shares.
    """

    way: Way = "greedy"
    threshold: float | None = None
    mixtures: Mapping[str, StoredMixture] = field(default_factory=dict[str, StoredMixture])
    llm: LLM | None = None
    prompt: Prompt | VerbatimPrompt = PROMPT
    judges: CitationJudges | None = None
    clusters: Mapping[str, Clusters] = field(default_factory=dict[str, "Clusters"])
    labeller: Labeller | None = None
    trials: int | None = None
    bootstrap: Bootstrap = field(default_factory=Bootstrap)
    correctness: Mapping[str, CorrectnessModel] = field(default_factory=dict[str, CorrectnessModel])
    nli: Mapping[str, Judge] = field(default_factory=dict[str, Judge])
    ranked: Ranked = "question"
    punkt: bool = False
    retrieved: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    library: Library = field(default_factory=Library)
    tables: frozenset[TableName] = frozenset()
    unlabelled: bool = False

    def wants(self, *tables: TableName) -> bool:
        """Whether one of these tables is to be computed."""
        return not self.tables or not self.tables.isdisjoint(tables)


@dataclass(frozen=True)
class OtherFiles:
    """What an assessment reads in addition to answers and gold.

    Attributes:
        fit: Labelled answers to other questions.
        retrieved: The documents found for each question, best first.
        documents: The texts of documents.
    """

    fit: Sequence[SystemAnswer] = ()
    retrieved: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    documents: Sequence[Document] = ()


def read_others(settings: AssessSettings, documents: Sequence[Document], problems: Problems) -> OtherFiles:
    """Read the answers and the run that the settings name; unusable lines are added to the problems.

    Raises:
        InputError: A file cannot be read.
    """
    fit = read_systems([Path(settings.fit)], problems, documents=documents, whole=True).systems if settings.fit else ()
    run = read_run(Path(settings.retrieved), problems) if settings.retrieved else {}
    return OtherFiles(answered(fit, problems), {topic: list(scores) for topic, scores in run.items()}, documents)


def choose(settings: AssessSettings, llm: str | None, others: OtherFiles, embedder: Embeds) -> Choices:
    """Load the models and files that the settings name.

    Args:
        settings: The settings.
        llm: The name of the language model that extracts nuggets and labels sentences.
        others: What is read in addition.
        embedder: Finds the most similar sentence of a document.

    Raises:
        InputError: A file cannot be used.
        UnknownNameError: A judge does not exist.
    """
    model = None if llm is None else LLM(llm)
    nuggets = PROMPT if settings.nugget_prompt is None else read_any(Path(settings.nugget_prompt))
    asked = LABELS_PROMPT if settings.completeness_prompt is None else read_any(Path(settings.completeness_prompt))
    judges = dict(map(named_judge, settings.judge))
    of_nuggets = dict(map(named_judge, settings.nugget_judge)) or judges
    maker = PairMaker(embedder, model, nuggets, settings.punkt)
    labels = settings.completeness
    return Choices(
        settings.align,
        settings.threshold,
        {name: read_mixture(Path(file)) for name, file in zip(settings.embedder, settings.mixture, strict=False)},
        model,
        nuggets,
        CitationJudges(judges, of_nuggets, maker, labelled_cases(others.fit)),
        {name: read_clusters(path) for name, path in _named_paths(settings.clusters).items()},
        None if labels is None else labeller_of(labels, model, Embedder.shared(), asked),
        settings.tune,
        settings.bootstrap,
        dict(correctness_model(name, embedder) for name in settings.correctness),
        dict(map(named_judge, settings.nli)),
        settings.ranked,
        settings.punkt,
        others.retrieved,
        Library(others.documents),
        frozenset(settings.tables),
        settings.unlabelled,
    )


def _named_paths(texts: Sequence[str]) -> dict[str, Path]:
    """Read texts such as ``NAME=FILE``; without a name, a file is called by its stem."""
    named = [text.rpartition("=") for text in texts]
    return {name or Path(path).stem: Path(path) for name, _, path in named}
