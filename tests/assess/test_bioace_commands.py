"""Every command of docs/reproduce.md's section on BioACE, with models that stand in for those of the paper."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from random import Random

import pytest
from server import ScriptedServer, reply

pytest.importorskip("sklearn", reason="the extra [eval] is not installed")

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples" / "bioace"
PAGE = (ROOT / "docs" / "reproduce.md").read_text(encoding="utf-8")
COMMANDS = [
    line.strip()
    for line in PAGE.partition("## BioACE")[2].partition("\n## ")[0].replace("\\\n", " ").splitlines()
    if line.strip().startswith("vericite bioace ")
]
TABLES = {"1": 1, "A1": 1, "2": 2, "A2": 2, "3": 1, "4": 1, "5": 1, "A3": 1, "A4": 1, "A5": 1, "A6": 1}
FIGURES = {"figure-1": 1, "figure-A6": 1}

# What the paper's models are here. Trained encoders become the classifiers that need no torch.
STANDS_FOR = [
    (r"hf:sentence-transformers/all-MiniLM-L6-v2(?:,hf:[^ ,]+)*", "bundled"),
    (r"hf:princeton-nlp/sup-simcse-roberta-large", "bundled"),
    (r"minilm\.json,mpnet\.json,simcse\.json", "mixture.json"),
    (r"completeness=hf-attrscore-causal:(\w+)\S+", r"completeness=\1"),
    (r",hf-attrscore-causal:lora[^ ,]+", ""),
    (r"hf-seq2seq:[^ ,]+|hf-attrscore(?:-causal)?:[^ ,]+|hf:FacebookAI/roberta-large-mnli", "lexical"),
    (r"hf:correct,", "correct,"),
    (r" --set dev=\S+", ""),
    (r" --set punkt=true", ""),
    (r" --encoder \S+| --decoder \S+| --set adapter=true", ""),
]
if find_spec("optuna") is None:
    STANDS_FOR.append((r" --set tune=\d+", ""))


def stood_in(command: str, model: str) -> list[str]:
    for pattern, other in STANDS_FOR:
        command = re.sub(pattern, other, command)
    return shlex.split(command.replace("MODEL", model))[1:]


def answered_by(arrival) -> str:
    """What a model writes that knows the printed prompts' labels."""
    text = str(arrival.body)
    if "Sentence:" in text:
        return "Required" if "lower" in arrival.question else "Unnecessary"
    if "Nuggets:" in text:
        return "Supports" if len(arrival.question) % 3 else "Not relevant"
    if "One fact a line" in text:
        return "\n".join(part for part in re.split(r"(?<=\.) ", arrival.question.partition(": ")[2]) if part)
    if "attributable" in text or "not attributable" in text:
        return "attributable" if len(arrival.question) % 2 else "not attributable"
    return ("support", "contradict", "neutral")[len(arrival.question) % 3]


PROMPTS = {
    "nuggets": ("One fact a line: {text}", {}),
    "completeness": ("Required or not? Question:{question} Sentence:{sentence}", {}),
    "binary": ("attributable? Claim:{claim} Reference:{reference}", {"attributable": 0, "not attributable": 2}),
    "ternary": ("Which? Claim:{claim} Reference:{reference}", {"support": 0, "contradict": 1, "neutral": 2}),
    "nugget-labels": ("Nuggets: {claim} / {reference}", {"Supports": 0, "Contradicts": 1, "Not relevant": 2}),
}
COLUMNS = ("entails", "contradicts", "neutral")


def files_of(folder: Path, questions: list[dict], documents: str, nuggets: dict, ranked: str) -> None:
    """Write the files that the commands name."""
    (folder / "printed").mkdir()
    for name, (user, labels) in PROMPTS.items():
        head = f'name = "{name}"\nversion = 1\nabout = "x"\nverbatim = true\nuser = "{user}"\n'
        said = "".join(f'[labels."{label}"]\ncolumn = "{COLUMNS[at]}"\n' for label, at in labels.items())
        (folder / "printed" / f"bioace-{name}.toml").write_text(head + said)
    half = max(len(questions) // 3, 1)
    (folder / "train.json").write_text(json.dumps(questions[:half]))
    (folder / "medaesqa.json").write_text(json.dumps(questions[half:]))
    (folder / "abstracts.jsonl").write_text(documents)
    (folder / "nuggets.json").write_text(json.dumps(nuggets))
    (folder / "found.trec").write_text(ranked)
    clusters = {
        question["question_id"]: {
            "required_and_borderline_answer_sentences_cluster": {
                str(at): [
                    {"answer_sentence_id": f"{name}-{at}"} for name in list(question["machine_generated_answers"])[at:]
                ]
                for at in (1, 2)
            }
        }
        for question in questions
    }
    for name in ("sim_cse", "sentence_transformers"):
        (folder / f"{name}.json").write_text(json.dumps(clusters))


@pytest.fixture
def model() -> Iterator[ScriptedServer]:
    with ScriptedServer() as running:
        running.default = lambda answering, arrival: reply(answered_by(arrival))(answering, arrival)
        yield running


def run_all(run_cli, folder: Path, model: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> dict[str, list[dict]]:
    """Run the commands in order; return the rows of each table."""
    monkeypatch.chdir(folder)
    found: dict[str, list[dict]] = {}
    for command in COMMANDS:
        parts = stood_in(command, model.spec)
        if "AlignScore=alignscore.jsonl" in command:
            scored_elsewhere(folder)
        printed = run_cli(*parts, *(("--json", "--set", "draws=100") if parts[1] == "score" else ()))
        assert printed.code == 0, f"{command}\n{printed.err}"
        if parts[1] == "score":
            for table in re.search(r"tables=(\S+)", command)[1].split(","):
                found.setdefault(table, []).extend(json.loads(printed.out))
    return found


def scored_elsewhere(folder: Path) -> None:
    lines = [line for name in ("test", "train") for line in (folder / f"{name}-pairs.jsonl").read_text().splitlines()]
    for name in ("alignscore", "conv", "zs"):
        rows = [{**json.loads(line), "score": (len(line) % 11) / 10} for line in lines]
        (folder / f"{name}.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))


def test_every_table_and_figure_has_a_command():
    named = [name for command in COMMANDS for name in re.findall(r"tables=(\S+)", command)]
    assert {name for names in named for name in names.split(",")} == {*TABLES, *FIGURES}


def test_the_commands_make_every_table_of_the_examples(run_cli, tmp_path: Path, model, monkeypatch):
    questions = json.loads((EXAMPLES / "answers.json").read_text())
    # The second question also stands for a third: one is for training.
    other = json.loads(json.dumps(questions[0]).replace("iron", "steel").replace("Iron", "Steel"))
    other["question_id"] = "steel"
    nuggets = json.loads((EXAMPLES / "nuggets.json").read_text())
    files_of(
        tmp_path,
        [questions[0], other, questions[1]],
        (EXAMPLES / "documents.jsonl").read_text(),
        {**nuggets, "steel": nuggets["iron"]},
        (EXAMPLES / "retrieved.txt").read_text().replace("iron ", "steel "),
    )
    figures_in(run_all(run_cli, tmp_path, model, monkeypatch))


def figures_in(found: dict[str, list[dict]]) -> None:
    """Check that each table has figures, and what the paper's columns are."""
    rows = {
        "1": ("nuggets (table 1)", "recall"),
        "A1": ("rankings (A1)", "Kendall's tau-b, nugget recall with recall (R+B) by ST"),
        "2": ("sentences by a model against people (table 2)", "F1, weighted"),
        "A2": ("rankings by sentences (A2)", "Spearman's rho, completeness"),
        "3": ("correctness of pairs (table 3)", "F1, macro"),
        "4": ("citations by document (tables 4, A6)", "F1, supporting"),
        "A6": ("citations by document (tables 4, A6)", "macro-F1, ternary"),
        "5": ("citations by the most similar sentence (tables 5, A3)", "F1, supporting"),
        "A3": ("citations by the most similar sentence (tables 5, A3)", "F1, supporting"),
        "A5": ("citations by lists of nuggets (table A5)", "F1, supporting"),
        "A4": ("rankings by citations (A4)", "Spearman's rho, coverage, by nuggets"),
        "figure-1": ("correctness by similarity and NLI (figure 1)", "AUC, evidence"),
        "figure-A6": ("correctness by documents (figure A6)", "T100"),
    }
    for table, (title, row) in rows.items():
        values = [each["value"] for each in found[table] if each["table"] == title and each["row"] == row]
        assert values and all(value is not None for value in values), (table, found[table])
    for table, title in (("4", "citations by document"), ("5", "citations by the most similar sentence")):
        fitted = {row["by"] for row in found[table] if row["table"].startswith(title) and "fitted" in (row["by"] or "")}
        assert {name.partition(",")[0] for name in fitted} == {"AlignScore", "SummaC-conv", "SummaC-zs"}


@pytest.mark.slow
def test_the_commands_make_every_table_of_thirty_systems(run_cli, tmp_path: Path, model, monkeypatch):
    # 18 questions with the answers of 30 systems, as in MedAESQA; a third is for training.
    drawn = Random(0)
    words = [f"{a}{b}" for a in ("met", "sta", "cor", "lis", "val") for b in ("formin", "tin", "tisol", "inopril")]
    questions, documents, nuggets, ranked = [], {}, {}, []
    for number in range(18):
        drug, id = f"{drawn.choice(words)} {number}", f"q{number}"
        facts = [f"The drug {drug} lowers {what} in trial {at}." for at, what in enumerate(("pain", "fever", "risk"))]
        for at, fact in enumerate(facts):
            pmid = str(1000 + 10 * number + at)
            lead = [f"Trial {at} of {drug} was registered.", "Adults took part.", "Doses differed.", "It lasted weeks."]
            documents[pmid] = {
                "id": pmid,
                "pmid": pmid,
                "title": f"About {drug}",
                "sections": [{"text": " ".join([*lead, fact])}],
            }
            ranked.append(f"{id} Q0 {pmid} {at + 1} {1 / (at + 1):.3f} bm25")
        answers = {}
        for system in range(1, 31):
            told = drawn.sample(range(3), 1 + system % 3)
            answers[f"M{system}"] = {
                "answer_sentences": [
                    {
                        "answer_sentence": facts[at] if drawn.random() < 0.8 else f"See a doctor about {drug}.",
                        "answer_sentence_relevance": drawn.choice(["required", "borderline", "unnecessary"]),
                        "citation_assessment": [
                            {
                                "cited_pmid": str(1000 + 10 * number + at),
                                "evidence_relation": relation,
                                "evidence_support": facts[at] if relation == "supporting" else "",
                            }
                            for relation in [drawn.choice(["supporting", "supporting", "contradicting", "neutral"])]
                        ],
                    }
                    for at in told
                ]
            }
        questions.append({"question_id": id, "question": f"What does {drug} do?", "machine_generated_answers": answers})
        nuggets[id] = facts
    lines = "".join(f"{json.dumps(document)}\n" for document in documents.values())
    files_of(tmp_path, questions, lines, nuggets, "\n".join(ranked) + "\n")
    found = run_all(run_cli, tmp_path, model, monkeypatch)
    figures_in(found)
    rho = next(row for row in found["A4"] if row["row"] == "Spearman's rho, coverage, by document")
    assert rho["n"] == 30 and rho["low"] is not None
