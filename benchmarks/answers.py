"""Answers of a language model under several prompts, with and without demonstrations: one table.

    python benchmarks/answers.py --llm gguf:MODEL --corpus STORE --questions FILE --pool POOL --work FOLDER

FILE is in BioASQ's form; ``--count`` questions of it are asked, the same for all rows. The pool of demonstrations is
made by ``vericite demonstrations build`` from other questions. Every row is a run kept in the work folder: stopped, it
goes on.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from pathlib import Path

from vericite.errors import Problems
from vericite.evaluate.measures.registry import measures_named
from vericite.evaluate.resampling import Estimate
from vericite.evaluate.scoring import score_systems
from vericite.evaluate.systems import read_systems
from vericite.generate import Generator
from vericite.generate.demonstrations import Pool, PoolSelector, Selection, Vectors, decontaminate
from vericite.generate.language_model import LanguageModelGenerator
from vericite.generate.prompt import load_prompt
from vericite.generate.rationale import RationaleGenerator
from vericite.llm import LLM, Settings
from vericite.models import Embedder
from vericite.pipeline.ask import Pipeline
from vericite.pipeline.build import open_search
from vericite.pipeline.plan import SearchPlan
from vericite.pipeline.rationale import RationaleChecker
from vericite.pipeline.runs import RunFolder
from vericite.records import Question

MEASURES = ("SupportRate", "DanglingRate", "UncitedRate", "RougeL", "YesNoAccuracy", "AnsweredRate")
ROWS: dict[str, tuple[str, int, str]] = {
    "vericite, 0": ("vericite", 0, "static"),
    "vericite, 1 static": ("vericite", 1, "static"),
    "vericite, 1 similar": ("vericite", 1, "similar"),
    "vericite, 2 static": ("vericite", 2, "static"),
    "vericite, 2 similar": ("vericite", 2, "similar"),
    "default, 0": ("default", 0, "static"),
    "vanilla RAG": ("vanilla", 0, "static"),
    "rationale, 0": ("rationale", 0, "static"),
}


def questions_in(path: Path, count: int, seed: int) -> list[Question]:
    """So many questions, by seed, with what is known of their answers."""
    items = json.loads(path.read_text(encoding="utf-8"))["questions"]
    chosen = random.Random(seed).sample(items, min(count, len(items)))
    return [
        Question(
            id=item["id"],
            text=item["body"],
            type=item["type"],
            gold_documents=tuple(gold.rstrip("/").rsplit("/", 1)[-1] for gold in item["documents"]),
            gold_exact=((_word(item["exact_answer"]),),) if item["type"] == "yesno" else (),
            gold_ideal=tuple(item.get("ideal_answer", ())),
        )
        for item in chosen
    ]


def _word(answer: str | list[str]) -> str:
    return (answer if isinstance(answer, str) else answer[0]).lower()


def generator(row: str, llm: LLM, pool: Pool, vectors: Vectors, given: argparse.Namespace) -> Generator:
    """Who answers in a row."""
    prompt, shots, way = ROWS[row]
    seed, grammar = given.seed, "auto" if prompt == "vanilla" else given.grammar
    if prompt == "rationale":
        return RationaleGenerator(llm, seed=seed)
    if not shots:
        return LanguageModelGenerator(
            llm, prompt, demonstrations=() if load_prompt(prompt).demonstration else None, grammar=grammar, seed=seed
        )
    selector = PoolSelector(pool, Selection(way, shots, seed=seed), load_prompt(prompt), vectors)  # pyright: ignore[reportArgumentType]
    return LanguageModelGenerator(llm, prompt, demonstrations=selector, grammar=grammar, seed=seed)


def carry_out(row: str, given: argparse.Namespace, llm: LLM, questions: list[Question]) -> Path:
    """A row's run, kept."""
    vectors = Vectors.next_to(given.pool, Embedder.shared())
    pool = decontaminate(Pool.read(given.pool, Problems()), questions, vectors)
    search = open_search(SearchPlan(corpus=str(given.corpus)))
    checker = RationaleChecker() if ROWS[row][0] == "rationale" else None
    made = Pipeline(search, generator(row, llm, pool, vectors, given), rationales=checker)
    folder = RunFolder(given.work / row.replace(" ", "-").replace(",", ""), {"row": row, "parts": made.parts})
    with folder.open(questions) as left:
        for number, run in enumerate(made.run_many(left, given.k), start=1):
            folder.add(run)
            print(f"{row}: {number} of {len(left)}", file=sys.stderr)
    return folder.folder


def table(folders: dict[str, Path], questions: list[Question], work: Path) -> None:
    """Every row with its intervals and the seconds of an answer."""
    gold = work / "gold.jsonl"
    gold.write_text("".join(question.model_dump_json() + "\n" for question in questions), encoding="utf-8")
    yesno = sum(question.type == "yesno" for question in questions)
    print(f"{len(questions)} questions, {yesno} of them yes/no\n")
    print(f"| row | {' | '.join(MEASURES)} | s an answer |\n|" + "---|" * (len(MEASURES) + 2))
    problems = Problems()
    read = read_systems([folder / "runs.jsonl" for folder in folders.values()], problems, gold, names=list(folders))
    figures = {
        (it.system, it.measure.name): it.estimate for it in score_systems(read.systems, measures_named(MEASURES))
    }
    for row, folder in folders.items():
        manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
        shown = [figures[row, measure] for measure in MEASURES]
        cells = [_cell(it) for it in shown]
        print(f"| {row} | {' | '.join(cells)} | {manifest['seconds_an_answer'].get('generate', 0):.1f} |")


def _cell(estimate: Estimate) -> str:
    if estimate.value is None:
        return "-"
    interval = "" if estimate.low is None else f" [{estimate.low:.3f}, {estimate.high:.3f}]"
    return f"{estimate.value:.3f}{interval} (n {estimate.n})"


def main() -> None:
    """Carry out the rows, then print the table of all that are there."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--llm", required=True)
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--questions", type=Path, required=True)
    parser.add_argument("--pool", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--rows", nargs="+", choices=ROWS, default=list(ROWS))
    parser.add_argument("--grammar", choices=("auto", "on", "off"), default="auto", help="on for llama.cpp's server")
    parser.add_argument("--count", type=int, default=30)
    parser.add_argument("--k", type=int, default=5)
    parser.add_argument("--seed", type=int, default=13)
    given = parser.parse_args()
    given.work.mkdir(parents=True, exist_ok=True)
    questions = questions_in(given.questions, given.count, given.seed)
    folders: dict[str, Path] = {}
    with LLM(given.llm, Settings(timeout=1200, deadline=3600, cache=given.work / "replies", concurrency=1)) as llm:
        for row in given.rows:
            folders[row] = carry_out(row, given, llm, questions)
    table(folders, questions, given.work)


if __name__ == "__main__":
    main()
