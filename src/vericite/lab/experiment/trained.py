"""Experiments that train models: what each row is trained on, and its citations on each test set (MultiAttr's tables).

A row is an attributor by name, a judge of single sources, or a model that is trained in stages: made data first, then
the domain's own. ``labels`` models say which sources support the sentences of an answer; ``answers`` models write
answers with citations. The same stages are trained once, also for several experiments with the same ``models`` folder.

FOLDER/experiment.json      the cells, as `vericite table` reads them
FOLDER/cells/NAME/          citations or answers of a cell, its gold, and its scores
MODELS/NAME/                examples and weights of a trained model
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, TypeVar, cast

from pydantic import Field, ValidationError, field_validator

from vericite.attribution import Attributor, load_attributor
from vericite.datasets.entry import Entry
from vericite.datasets.registry import is_named, source_named
from vericite.disk.files import only_one, write_whole
from vericite.disk.jobs import LOCK, Lines
from vericite.errors import InputError, Problems, UnknownNameError
from vericite.evaluate.systems import named_file, read_gold
from vericite.formats import AnswerToCheck, answers_in
from vericite.lab.experiment.compute import compute_features, compute_scores, load_scores
from vericite.lab.experiment.config import experiment_content
from vericite.lab.experiment.grid import CELLS, EXPERIMENT
from vericite.lab.experiment.tables import ANSWERS, CITED, GOLD, CitedAnswer
from vericite.lab.train.configs import HeadConfig, LabelConfig, LoraConfig
from vericite.lab.train.examples import AttributionExample, as_compared, as_line, file_hash, one_claim, source_of
from vericite.lab.train.source_sets import read_examples
from vericite.lab.train.written import Cited, asked_of, gold_of, prompt_text
from vericite.pipeline.check import check_many
from vericite.records import (
    Answer,
    Document,
    Gold,
    GoldNugget,
    GoldSentence,
    Record,
    first_problem,
    to_json,
)
from vericite.retrieve.local import BM25
from vericite.verify.judges.registry import load_judge
from vericite.verify.protocol import get_protocol
from vericite.version import __version__

Kind = Literal["labels", "answers"]
KINDS: Mapping[Kind, str] = {"labels": "post-gen", "answers": "in-line"}
"""The papers' names of the two kinds of models."""
OWN = "own"
"""The stage of the domain's own training data."""
AT_ONCE = 64

Report = Callable[[str], None]
_Config = TypeVar("_Config", HeadConfig, LoraConfig, LabelConfig)
_CONFIGS = (HeadConfig, LoraConfig, LabelConfig)


class Stage(Record):
    """The data of a stage: a name of ``data`` or ``own``, and the share that is used, drawn by group."""

    data: str
    share: float = Field(default=1.0, ge=0, le=1)


class TrainedRow(Record):
    """A row of the table: an attributor, a judge of single sources, a language model, or the stages of a model.

    ``judge`` with stages is fine-tuned on them, a source at a time: an encoder (``hf:``) whole, others by LoRA.
    ``only`` are the test sets of the row.
    """

    name: str = Field(min_length=1)
    stages: tuple[Stage, ...] = ()
    by: str | None = None
    judge: str | None = None
    llm: str | None = None
    only: tuple[str, ...] = ()

    @field_validator("stages", mode="before")
    @classmethod
    def _named(cls, value: Any) -> Any:
        if not isinstance(value, list):
            return value
        stages = cast(list[Any], value)
        return tuple(Stage(data=stage) if isinstance(stage, str) else Stage.model_validate(stage) for stage in stages)


class Domain(Record):
    """A test set, and training data of the same domain.

    Attributes:
        train: Training data; empty: that of the domain ``like``.
        test: Test data: examples, ``vj:FILE``, ``msmarco:FILE``, ``politicite:FILE`` or ``alce:FILE``.
        most: Maximum number of training questions, drawn by the seed.
        k: Maximum number of snippets (of articles, by BM25) or of sources (ALCE) for post-generation and for in-line
            models. Snippets of one source are shown as one.
        like: The domain whose training data are used.
    """

    train: tuple[str, ...] = ()
    test: tuple[str, ...]
    most: int | None = Field(default=None, ge=1)
    k: tuple[int, int] = (5, 5)
    like: str | None = None


class TrainedExperiment(Record):
    """The content of a file.

    Attributes:
        trains: The kinds of models: ``labels``, ``answers`` or both.
        base: The decoder that is trained; ``head``: the head over the bundled models.
        settings: Changes to the settings of training (`vericite settings train attribution`); those of another kind of
            model are ignored.
        new_tokens: Maximum tokens of an answer.
        dev_share: Share of the last stage's questions that chooses epoch and threshold.
        data: Training data by name; empty names of files are left out.
        judge: Judges citations (ALCE) and claims of answers.
        features: Encoder of the vectors for MAUVE; empty: no MAUVE.
        models: Folder of the trained models.
    """

    name: str = Field(min_length=1)
    about: str = ""
    layout: str | None = None
    trains: tuple[Kind, ...] = Field(min_length=1)
    base: str = "head"
    settings: Mapping[str, Any] = Field(default_factory=dict)
    new_tokens: int = Field(default=160, ge=8)
    dev_share: float = Field(default=0.1, gt=0, lt=1)
    seed: int = 0
    data: Mapping[str, tuple[str, ...]] = Field(default_factory=dict)
    domains: Mapping[str, Domain]
    rows: tuple[TrainedRow, ...] = Field(min_length=1)
    judge: str = "bundled"
    features: str = ""
    models: str = "models"
    values: Mapping[str, str] = Field(default_factory=dict)

    @classmethod
    def load(cls, path: Path, values: Mapping[str, str] | None = None) -> TrainedExperiment:
        """Read the file, and substitute values for ``$names``. Domains without a test file are left out.

        Raises:
            InputError: The file cannot be read, or is not such an experiment.
        """
        content = experiment_content(path, values)
        try:
            found = cls.model_validate_json(json.dumps(content))
        except ValidationError as error:
            where, problem = first_problem(error)
            raise InputError(
                f"expected an experiment that trains in {path}; found {where or 'it'}: {problem}"
            ) from None
        found = found.model_copy(
            update={
                "data": {name: _given(files) for name, files in found.data.items()},
                "domains": {
                    name: domain.model_copy(update={"train": _given(domain.train), "test": _given(domain.test)})
                    for name, domain in found.domains.items()
                    if _given(domain.test)
                },
            }
        )
        if unknown := [name for name in found.settings if not any(name in kind.model_fields for kind in _CONFIGS)]:
            known = {name for kind in _CONFIGS for name in kind.model_fields}
            raise UnknownNameError(f"setting of {path}", unknown[0], sorted(known))
        for row in found.rows:
            for stage in row.stages:
                if stage.data != OWN and stage.data not in found.data:
                    raise InputError(
                        f"expected {OWN} or a name of data ({', '.join(found.data)}) in row {row.name} of {path}; "
                        f"found {stage.data}"
                    )
        return found


def trains_models(path: Path) -> bool:
    """Whether an experiment's file trains models."""
    return "trains" in experiment_content(path, None, substituted=False)


def _given(files: Sequence[str]) -> tuple[str, ...]:
    return tuple(file for file in files if file and not file.endswith(":"))


@dataclass(frozen=True)
class TrainedCell:
    """A row on a test set, by a kind of model."""

    row: TrainedRow
    domain: str
    kind: Kind

    @property
    def at(self) -> dict[str, str]:
        """Its values on the axes of the table."""
        return {"trained on": self.row.name, "data": self.domain, "kind": KINDS[self.kind]}

    @property
    def name(self) -> str:
        """The name for display."""
        return ", ".join(f"{axis} {value}" for axis, value in self.at.items())


@dataclass
class CellDone:
    """What was done for a cell; ``failures`` are the reasons why a language model gave no answer."""

    cell: TrainedCell
    items: int
    before: int
    failures: list[str] = field(default_factory=list[str])
    trained_on: dict[str, int] = field(default_factory=dict[str, int])


class TrainedGrid:
    """The cells of an experiment that trains models, with their folder.

    Args:
        experiment: The experiment.
        folder: The folder to write to.
        problems: Records that cannot be used are added here.
        first: Use only this number of test items of each cell; the others can follow later.
    """

    def __init__(
        self, experiment: TrainedExperiment, folder: Path, problems: Problems, first: int | None = None
    ) -> None:
        self.experiment = experiment
        self.folder = folder
        self._problems = problems
        self._first = first
        self._read: dict[tuple[str, ...], list[AttributionExample]] = {}
        self._hashes: dict[str, str] = {}
        self.cells = [
            TrainedCell(row, domain, kind)
            for row in experiment.rows
            for domain in experiment.domains
            for kind in experiment.trains
            if self._possible(row, domain, kind)
        ]

    def _possible(self, row: TrainedRow, domain: str, kind: Kind) -> bool:
        if row.only and domain not in row.only:
            return False
        if kind == "answers":
            return bool(row.stages and not row.judge) or row.llm is not None
        # Answers of ALCE have no gold citations.
        return row.llm is None and not any(file.startswith("alce") for file in self.experiment.domains[domain].test)

    def run(self, report: Report = lambda _: None) -> Iterator[CellDone]:
        """Train what is missing, and find citations or write answers, a cell after the other.

        Raises:
            InputError: Data or a model cannot be used, or another process is working there.
            ModelError: A base does not exist.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        others = {file.name for file in self.folder.iterdir()} - {LOCK, CELLS}
        if others and EXPERIMENT not in others:
            raise InputError(
                f"expected {self.folder} to be new, or the folder of an experiment; found {min(others)} in it. Name "
                "another folder."
            )
        with only_one(self.folder, LOCK, "works in"):
            for cell in self.cells:
                report(cell.name)
                done = self._labels(cell) if cell.kind == "labels" else self._answers(cell)
                self._write_record()
                yield done
            self._write_record(finished=True)

    def counts(self, cell: TrainedCell) -> dict[str, int]:
        """Return the numbers of a cell's examples, and of what is asked."""
        domain = self.experiment.domains[cell.domain]
        asked = self._test_labels(domain) if cell.kind == "labels" else self._test_answers(domain)
        found: dict[str, int] = {}
        if cell.row.stages:
            stages, dev = self._stages(cell)
            found = {f"stage {number}": len(stage) for number, stage in enumerate(stages, 1)} | {"dev": len(dev)}
        return found | {"asked": len(asked[: self._first])}

    def cell_folder(self, cell: TrainedCell) -> Path:
        """Return the folder of a cell; other data, rows or settings have another one."""
        outer = {"rows", "name", "about", "layout", "values", "models", "data", "domains", "trains"}
        known = self.experiment.model_dump(mode="json", exclude=outer)
        domain = self.experiment.domains[cell.domain]
        own = self.experiment.domains[domain.like] if domain.like else domain
        files = [*domain.test]
        for stage in cell.row.stages:
            files += own.train if stage.data == OWN else self.experiment.data[stage.data]
        hashes = [self._file_hash(file) for file in files]
        digest = _hash([known, cell.row.model_dump(mode="json"), cell.at, hashes, domain.k, own.most])
        words = re.sub(r"[^A-Za-z0-9.]+", "-", "_".join(cell.at.values())).strip("-.")
        return self.folder / CELLS / f"{words[:60]}-{digest}"

    def _file_hash(self, file: str) -> str:
        if file not in self._hashes:
            self._hashes[file] = file_hash(Path(file))
        return self._hashes[file]

    def _write_record(self, finished: bool = False) -> None:
        cells: dict[str, Any] = {}
        for cell in self.cells:
            folder = self.cell_folder(cell)
            file = folder / (CITED if cell.kind == "labels" else GOLD)
            if file.exists():
                ids = [json.loads(line)["id"] for line in file.read_text(encoding="utf-8").splitlines()]
                cells[cell.name] = {"at": cell.at, "folder": folder.name, "ids": ids, "plan": {}}
        record = {
            "version": __version__,
            "name": self.experiment.name,
            "about": self.experiment.about,
            "layout": self.experiment.layout,
            "finished": finished and self._first is None,
            "cells": cells,
            "experiment": self.experiment.model_dump(mode="json"),
        }
        write_whole(self.folder / EXPERIMENT, [json.dumps(record, indent=1, ensure_ascii=False) + "\n"])

    # --- data -----------------------------------------------------------------------------------------------------

    def _examples(self, files: tuple[str, ...]) -> list[AttributionExample]:
        if files not in self._read:
            if not files:
                raise InputError(
                    "expected files for all data and domains that rows are trained on; found none for some of them. "
                    "Name them with --set."
                )
            self._read[files] = read_examples([Path(file) for file in files], self._problems)
        return self._read[files]

    def _stages(self, cell: TrainedCell) -> tuple[list[list[AttributionExample]], list[AttributionExample]]:
        """Return the examples of each stage and those that choose, none of which share a question or a sentence."""
        domain = self.experiment.domains[cell.domain]
        own = self.experiment.domains[domain.like] if domain.like else domain
        stages: list[list[AttributionExample]] = []
        for stage in cell.row.stages:
            read = self._examples(own.train if stage.data == OWN else self.experiment.data[stage.data])
            if stage.data == OWN and own.most is not None:
                drawn = set(sorted({example.group or example.id for example in read}, key=self._draw)[: own.most])
                read = [example for example in read if (example.group or example.id) in drawn]
            stages.append([example for example in read if self._draw(example.group or example.id) < stage.share])
        tested = self._tested(domain)
        stages = [[example for example in stage if not tested & _texts(example)] for stage in stages]
        stages = [stage for stage in stages if stage]
        if not stages:
            raise InputError(f"expected examples to train {cell.row.name} on; found none that are not in the test")
        *_, last = stages
        dev = [example for example in last if self._draw(f"dev|{_question(example)}") < self.experiment.dev_share]
        dev = dev or last[:1]
        held = set[str]().union(*map(_texts, dev))
        groups = {example.group for example in dev if example.group}
        stages = [
            [example for example in stage if example.group not in groups and not held & _texts(example)]
            for stage in stages
        ]
        stages = [stage for stage in stages if stage]
        if not stages:
            raise InputError(f"expected examples of several questions to train {cell.row.name} on; found one question")
        return stages, dev

    def _draw(self, text: str) -> float:
        """Return a number from 0 to 1 that depends on the text and the seed, so that a share contains smaller ones."""
        digest = hashlib.blake2b(f"{self.experiment.seed}|{text}".encode(), digest_size=8).digest()
        return int.from_bytes(digest) / 2**64

    def _tested(self, domain: Domain) -> set[str]:
        """Return the questions and sentences of the test, none of which is trained on."""
        found = set[str]()
        for file in domain.test:
            if _is_examples(file):
                found |= set[str]().union(*map(_texts, self._examples((file,))))
            else:
                found |= {as_compared(entry.question.text) for entry in self._entries(file) if entry.question}
        return found

    def _test_labels(self, domain: Domain) -> list[CitedAnswer]:
        """Return the sentences of the test, each as an answer without citations, with its gold."""
        found: list[CitedAnswer] = []
        for file in domain.test:
            if _is_examples(file):
                items = self._examples((file,))
                found += [CitedAnswer(id=one.id, answer=one.answer, gold=one.gold) for one in items]
                continue
            for entry in self._entries(file):
                answer, gold = entry.answer, entry.gold
                if answer is None or gold is None:
                    continue
                evidence = _Evidence(answer.documents)
                for number, claim in enumerate(answer.claims):
                    id = f"{answer.id}-{number}"
                    shown = evidence.nearest(claim.text, domain.k[0])
                    wanted = GoldSentence(sentence=0, documents=_wanted(gold).get(number, ()))
                    alone = one_claim(id, claim.text, shown, answer.question)
                    found.append(CitedAnswer(id=id, answer=alone, gold=Gold(id=id, citations=(wanted,))))
        return _each_once(found)

    def _test_answers(self, domain: Domain) -> list[tuple[Cited, Gold]]:
        """Return the questions of the test with their sources and their gold."""
        found: list[tuple[Cited, Gold]] = []
        for file in domain.test:
            if _is_examples(file):
                examples = [example for example in self._examples((file,)) if example.question]
                by_id: dict[str, list[AttributionExample]] = {}
                for example in examples:
                    by_id.setdefault(example.group or example.id, []).append(example)
                found += [(cited, gold_of(cited.id, by_id[cited.id])) for cited in asked_of(examples)]
                continue
            for entry in self._entries(file):
                if entry.question is None or entry.gold is None:
                    continue
                documents = entry.documents or (entry.answer.documents if entry.answer else ())
                if entry.answer is not None and entry.gold.citations is not None:
                    documents = _Evidence(documents).nearest(entry.question.text, domain.k[1])
                    gold = _with_claims(entry.gold, entry.answer)
                else:
                    gold = entry.gold
                sources = tuple(source_of(document) for document in documents[: domain.k[1]])
                found.append((Cited(entry.question.id, entry.question.text, sources, (), ()), gold))
        return found

    def _entries(self, file: str) -> Iterator[Entry]:
        return source_named(file).entries(self._problems)

    # --- models ---------------------------------------------------------------------------------------------------

    def _model(
        self, cell: TrainedCell, train: Callable[[Path, list[Path], Path], object]
    ) -> tuple[Path, dict[str, int]]:
        """Return the folder of a cell's model, trained if it is not there, and the numbers of its examples."""
        stages, dev = self._stages(cell)
        experiment = self.experiment
        written = [[as_line(example) for example in examples] for examples in (*stages, dev)]
        known = [written, experiment.base, dict(experiment.settings), experiment.seed, cell.kind, cell.row.judge]
        folder = Path(experiment.models) / f"{cell.kind}-{_hash(known)}"
        counts = {f"stage {number}": len(stage) for number, stage in enumerate(stages, 1)} | {"dev": len(dev)}
        done = folder / "trained.json"
        if not done.exists():
            folder.mkdir(parents=True, exist_ok=True)
            files = [folder / f"stage-{number}.jsonl" for number in range(1, len(stages) + 1)]
            for file, lines in zip((*files, folder / "dev.jsonl"), written, strict=True):
                write_whole(file, (f"{line}\n" for line in lines))
            train(folder / "model", files, folder / "dev.jsonl")
            write_whole(done, [json.dumps({"examples": counts, "base": experiment.base}) + "\n"])
        return folder / "model", counts

    def _config(self, kind: type[_Config]) -> _Config:
        """Return the settings of a kind of model."""
        given = {name: value for name, value in self.experiment.settings.items() if name in kind.model_fields}
        return kind().changed({"seed": self.experiment.seed, **given}, "in settings")

    def _lora(self) -> LoraConfig:
        return self._config(LoraConfig)

    def _attributor(self, cell: TrainedCell) -> tuple[Attributor, dict[str, int]]:
        row, base = cell.row, self.experiment.base
        if row.by is not None:
            return load_attributor(row.by), {}
        if row.judge is not None:
            judge, counts = self._tuned(cell) if row.stages else (row.judge, {})
            alone = get_protocol("bioace-document")  # a source as a whole is the premise
            return load_attributor("verifier", replace(alone, judge=load_judge(judge))), counts
        if base == "head":
            folder, counts = self._model(cell, self._train_head)
            return load_attributor(f"head:{folder}"), counts
        from vericite.attribution.decoder import DecoderAttributor

        folder, counts = self._model(cell, self._train_decoder)
        return DecoderAttributor(folder, device=self._lora().device), counts

    def _train_head(self, out: Path, stages: list[Path], dev: Path) -> object:
        from vericite.lab.train.set_head import HeadRun, train_head

        first, *rest = stages
        run = HeadRun((first,), dev, out, tuple(rest), problems=self._problems)
        return train_head(run, self._config(HeadConfig))

    def _train_decoder(self, out: Path, stages: list[Path], dev: Path) -> object:
        from vericite.lab.train.labels import DecoderRun, train_decoder

        run = DecoderRun(self.experiment.base, tuple((stage,) for stage in stages), dev, out)
        return train_decoder(run, self._lora(), lambda _step, _loss: None)

    def _train_inline(self, out: Path, stages: list[Path], dev: Path) -> object:
        from vericite.lab.train.inline import InlineRun, train_inline

        run = InlineRun(self.experiment.base, (stages[0],), dev, out, then=tuple(stages[1:]))
        return train_inline(run, self._lora(), lambda _step, _loss: None)

    def _tuned(self, cell: TrainedCell) -> tuple[str, dict[str, int]]:
        """Return a judge that is fine-tuned on single sources."""
        from vericite.lab.train.labels import LabelRun, train_labels
        from vericite.lab.train.texts import single_source_texts
        from vericite.lab.train.writing_judges import WritingRun, train_writing_judge
        from vericite.models.contracts import COLUMNS, ENTAILS, NEUTRAL

        judge = cell.row.judge or ""
        kind, _, base = judge.partition(":")

        def train(out: Path, stages: list[Path], dev: Path) -> object:
            texts, held = (single_source_texts(read_examples(files)) for files in (stages, [dev]))
            if kind != "hf":
                return train_writing_judge(WritingRun(judge, texts, held, out), self._lora(), lambda _step, _loss: None)
            run = LabelRun(base, out, texts, (COLUMNS[ENTAILS], COLUMNS[NEUTRAL]), dev=held)
            return train_labels(run, self._config(LabelConfig), lambda _step, _loss: None)

        folder, counts = self._model(cell, train)
        return f"{kind}:{folder}", counts

    # --- cells ----------------------------------------------------------------------------------------------------

    def _labels(self, cell: TrainedCell) -> CellDone:
        asked = self._test_labels(self.experiment.domains[cell.domain])[: self._first]
        folder = self.cell_folder(cell)
        folder.mkdir(parents=True, exist_ok=True)
        lines = Lines(folder / CITED, CitedAnswer)
        known = {line.id for line in lines.read()}
        left = [item for item in asked if item.id not in known]
        done = CellDone(cell, len(asked), len(asked) - len(left))
        if left:
            attributor, done.trained_on = self._attributor(cell)
            for start in range(0, len(left), AT_ONCE):
                some = left[start : start + AT_ONCE]
                found = attributor.attributions([item.answer for item in some])
                lines.append(
                    item.model_copy(update={"answer": attribution.answer})
                    for item, attribution in zip(some, found, strict=True)
                )
        return done

    def _answers(self, cell: TrainedCell) -> CellDone:
        asked = self._test_answers(self.experiment.domains[cell.domain])[: self._first]
        folder = self.cell_folder(cell)
        folder.mkdir(parents=True, exist_ok=True)
        write_whole(folder / GOLD, (to_json(gold) + "\n" for _, gold in asked))
        lines = Lines(folder / ANSWERS, AnswerToCheck)
        known = {answer.id for answer in lines.read()}
        left = [cited for cited, _ in asked if cited.id not in known]
        done = CellDone(cell, len(asked), len(asked) - len(left))
        if left and cell.row.llm is not None:
            for answer in _asked_of_model(cell.row.llm, left, self.experiment.new_tokens):
                if isinstance(answer, str):
                    done.failures.append(answer)
                else:
                    lines.append([answer])
        elif left:
            from vericite.lab.train.inline import ADAPTER, answer_with

            model, done.trained_on = self._model(cell, self._train_inline)
            config, tokens = self._lora(), self.experiment.new_tokens
            answer_with(self.experiment.base, model / ADAPTER, left, config, tokens, folder / ANSWERS)
        if lines.path.exists():
            self._score(folder)
        return done

    def _score(self, folder: Path) -> None:
        """Write verdicts (ALCE), claims and vectors of the answers next to them; what is there already is kept."""
        judge = load_judge(self.experiment.judge)
        answers = list(self._problems.kept(answers_in(folder / ANSWERS)))
        verdicts = folder / named_file("verdicts")
        checked = check_many(answers, "alce", judge, cache=True)
        write_whole(verdicts, (to_json(one) + "\n" for one in checked))
        gold = folder / GOLD
        known = read_gold(gold, self._problems).values()
        kinds = ["claim-entailment"] if any(one.nuggets or one.ideal for one in known) else []
        kinds += (
            ["aligned-citations"] if any(n.documents is not None for one in known for n in one.nuggets or ()) else []
        )
        for kind in kinds:
            with closing(load_scores(kind, self.experiment.judge)) as scores:
                compute_scores([folder], scores, self._problems, gold)
        if self.experiment.features and any(one.ideal for one in known):
            from vericite.evaluate.encoders import load_text_encoder

            compute_features([folder], load_text_encoder(self.experiment.features), self._problems, gold)


def _hash(content: object) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:12]


def _question(example: AttributionExample) -> str:
    return as_compared(example.question or example.sentence)


def _texts(example: AttributionExample) -> set[str]:
    return {_question(example), as_compared(example.sentence)}


def _is_examples(file: str) -> bool:
    return not is_named(file) or file.partition(":")[0] in ("vj", "msmarco")


class _Evidence:
    """The snippets of an article's sources: each section of a document is one."""

    def __init__(self, documents: Sequence[Document]) -> None:
        self._snippets = [
            document.model_copy(update={"sections": (section,)})
            for document in documents
            for section in document.sections
        ]
        self._index = BM25(snippet.titled_text for snippet in self._snippets)

    def nearest(self, text: str, k: int) -> tuple[Document, ...]:
        """Return the sources of the ``k`` nearest snippets, with these snippets only; the nearest source is first."""
        order: list[int] = (-self._index.scores(text)).argsort(kind="stable")[:k].tolist()
        found: dict[str, list[int]] = {}
        for place in order:
            found.setdefault(self._snippets[place].id, []).append(place)
        return tuple(
            self._snippets[places[0]].model_copy(
                update={"sections": tuple(self._snippets[place].sections[0] for place in sorted(places))}
            )
            for places in found.values()
        )


def _wanted(gold: Gold) -> dict[int, tuple[str, ...]]:
    return {sentence.sentence: sentence.documents for sentence in gold.citations or ()}


def _each_once(items: Sequence[CitedAnswer]) -> list[CitedAnswer]:
    return list({item.id: item for item in items}.values())


def _with_claims(gold: Gold, article: Answer) -> Gold:
    """Return an article's gold with its sentences as claims, and what each should cite."""
    wanted = _wanted(gold)
    nuggets = tuple(
        GoldNugget(id=str(number + 1), text=claim.text, documents=wanted.get(number, ()))
        for number, claim in enumerate(article.claims)
    )
    return gold.model_copy(update={"nuggets": nuggets})


def _asked_of_model(name: str, asked: Sequence[Cited], new_tokens: int) -> Iterator[AnswerToCheck | str]:
    """Ask a language model the questions with the prompt of the in-line models; yield answers, or why there is none."""
    from vericite.llm import LLM, CallFailure, ChatRequest
    from vericite.llm.chat import Message
    from vericite.text.citations import parse_answer

    with closing(LLM(name)) as llm:

        async def one(cited: Cited) -> str | CallFailure:
            prompt = prompt_text(cited, None)
            reply = await llm.complete(ChatRequest((Message("user", prompt),), max_tokens=new_tokens))
            return reply if isinstance(reply, CallFailure) else reply.text.strip()

        for cited, text in zip(asked, llm.each(asked, one), strict=True):
            if isinstance(text, CallFailure):
                yield text.reason
            else:
                documents = [source.document for source in cited.sources]
                yield AnswerToCheck.of(parse_answer(cited.id, text or "-", documents, cited.question))
