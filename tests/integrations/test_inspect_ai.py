from __future__ import annotations

import json
import subprocess
import sys
from math import isnan
from pathlib import Path

import pytest
from cited_answers import ANSWERS, PARTLY, QUESTION, SOURCES, SUPPORTED, run_block

import vericite
from vericite.records import RateTally

pytest.importorskip("inspect_ai")
from inspect_ai import Task, eval
from inspect_ai._util.citation import ContentCitation, DocumentCitation, UrlCitation
from inspect_ai.dataset import Sample
from inspect_ai.log import read_eval_log
from inspect_ai.model import ChatMessageAssistant, ContentText, ModelOutput, ModelUsage, get_model
from inspect_ai.solver import generate

from vericite.integrations.inspect_ai import citations

pytestmark = pytest.mark.filterwarnings("ignore")
MOCK = "mockllm/model"


def output(content: object) -> ModelOutput:
    made = ModelOutput.from_content(MOCK, content)
    made.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)  # counting would load a file
    return made


def evaluated(contents: list[object], folder: Path, documents: object = SOURCES, **options: object):
    metadata = {} if documents is None else {"documents": documents}
    samples = [Sample(id=number, input=QUESTION, metadata=metadata) for number, _ in enumerate(contents, start=1)]
    model = get_model(MOCK, custom_outputs=[output(content) for content in contents])
    task = Task(dataset=samples, solver=generate(), scorer=citations(**options))
    (log,) = eval(task, model=model, log_dir=str(folder), display="none", max_samples=1)
    assert log.status == "success", log.error
    return log


def score(sample) -> object:
    return sample.scores["citations"]


def test_a_hundred_samples(tmp_path: Path):
    texts = [ANSWERS[number % 2] for number in range(100)]
    log = evaluated(texts, tmp_path)
    tally = RateTally()
    for sample, text in zip(log.samples, texts, strict=True):
        checked = vericite.check(text, SOURCES, question=QUESTION)
        assert score(sample).value == ("C" if checked.supported else "P")
        assert score(sample).metadata["summary"] == checked.summary.model_dump()
        summary = checked.summary
        tally.add(summary.supported, summary.judged + summary.uncited)
    metrics = {name: metric.value for name, metric in log.results.scores[0].metrics.items()}
    assert metrics["supported"] == tally.rate.value
    assert (metrics["supported low"], metrics["supported high"]) == (tally.rate.low, tally.rate.high)
    assert 0 < metrics["contradicted low"] < metrics["contradicted"] < metrics["contradicted high"] < 1
    assert metrics["accuracy"] == 0.75
    # What the log viewer shows: the explanation, read back from the file.
    kept = read_eval_log(log.location).samples[1].scores["citations"]
    assert "contradicted" in kept.explanation and "Nausea was rare." in kept.explanation


def test_marked_text_needs_the_samples_documents(tmp_path: Path):
    log = evaluated([SUPPORTED], tmp_path, documents=None)
    assert isnan(score(log.samples[0]).value)
    assert "Give Sample(metadata={'documents'" in score(log.samples[0]).explanation


def blocks(first: object, second: object) -> list[ContentText]:
    texts = SUPPORTED.replace(" [1]", "").replace(" [2]", "").partition(". ")
    return [
        ContentText(text=texts[0] + ". ", citations=[first]),
        ContentText(text=texts[2].replace("frequent", "rare"), citations=[second]),
    ]


QUOTING = blocks(
    ContentCitation(cited_text=SOURCES[0], title="Zinc"), DocumentCitation(cited_text=SOURCES[1], title="Harms")
)
NAMING = blocks(UrlCitation(url="https://zinc.example/1", cited_text=(0, 40)), ContentCitation(title="Harms"))
NAMED = [
    {"id": "https://zinc.example/1", "text": SOURCES[0]},
    {"id": "2", "title": "Harms", "text": SOURCES[1]},
]


@pytest.mark.parametrize(("content", "documents"), [(QUOTING, None), (QUOTING, NAMED), (NAMING, NAMED)])
def test_citations_of_content_blocks(tmp_path: Path, content: list[ContentText], documents: object):
    if content is QUOTING and documents is NAMED:
        documents = [{**NAMED[0], "title": "Zinc"}, NAMED[1]]
    found = score(evaluated([content], tmp_path, documents=documents).samples[0])
    assert found.value == "P"
    assert [row["label"] for row in found.metadata["sentences"]] == ["supported", "contradicted"]


def test_a_message_is_checked_in_memory():
    checked = vericite.check(ChatMessageAssistant(content=QUOTING))
    assert [verdict.label for verdict in checked.verdicts] == ["supported", "contradicted"]
    assert [verdict.documents for verdict in checked.verdicts] == [("Zinc",), ("Harms",)]


@pytest.mark.parametrize(("text", "value"), [("", "N"), ("Zinc cures cancer [1].", "I"), ("Zinc helps.", "I")])
def test_grades(tmp_path: Path, text: str, value: str):
    assert score(evaluated([text], tmp_path).samples[0]).value == value


def test_inspect_score_finds_the_scorer_by_its_entry_point(tmp_path: Path):
    log = evaluated([SUPPORTED, PARTLY], tmp_path)
    command = [str(Path(sys.executable).with_name("inspect")), "score", log.location, "--scorer", "vericite/citations"]
    more = ["--action", "append", "--overwrite", "-S", "protocol=alce", "--display", "none"]
    subprocess.run([*command, *more], check=True, capture_output=True, timeout=120)
    scores = read_eval_log(log.location).results.scores
    assert {"protocol": "alce"} in [found.params for found in scores]
    assert json.loads(json.dumps(scores[0].metrics["supported"].value)) == pytest.approx(3 / 5)


def test_the_program_on_the_page(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)  # the log is written there
    run_block("inspect_ai")
    assert capsys.readouterr().out.strip().endswith("1.0")
