"""Examples that a language model makes: what is kept, what is left out, that a killed run pays nothing twice."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from server import Answering, Arrival, ScriptedServer, reply

from vericite.lab.train.examples import AttributionExample
from vericite.lab.train.source_sets import read_examples

PAGES = [
    ("Levodopa", ["Levodopa relieves rigidity in Parkinson's disease. ", "It is given with carbidopa."]),
    ("Carbidopa", ["Carbidopa does not enter the brain."]),
    ("Tea", ["Tea is drunk in many countries."]),
    ("Rain", ["Rain falls in autumn."]),
    ("Chess", ["Chess is played by two people."]),
    ("Bread", ["Bread is baked from flour."]),
]


def hotpot(path: Path, count: int = 1) -> Path:
    rows = [
        {
            "_id": f"q{number}",
            "question": f"Which drug given with carbidopa relieves rigidity, question {number}?",
            "answer": "Levodopa",
            "supporting_facts": [["Levodopa", 0], ["Carbidopa", 0]],
            "context": [list(page) for page in PAGES],
        }
        for number in range(count)
    ]
    path.write_text(json.dumps(rows), encoding="utf-8")
    return path


def numbers(question: str) -> dict[str, int]:
    """The number of each page in what the model was shown."""
    found = re.findall(r"<source_(\d)>\n(\w+)\n", question)
    return {title: int(number) for number, title in found}


def long_answer(answering: Answering, arrival: Arrival) -> None:
    places = numbers("".join(message["content"] for message in arrival.body["messages"]))
    sentences: list[dict[str, Any]] = [
        {"sentence": "Levodopa relieves rigidity in Parkinson's disease.", "sources": [places["Levodopa"]]},
        {
            "sentence": "Levodopa relieves rigidity and carbidopa does not enter the brain.",
            "sources": [places["Carbidopa"], places["Levodopa"]],
        },
        {"sentence": "Aspirin prevents strokes in women.", "sources": [places["Levodopa"]]},
        {"sentence": "Carbidopa is a drug of many names.", "sources": []},
        {"sentence": "Carbidopa stays outside the brain.", "sources": [9]},
    ]
    reply(json.dumps({"sentences": sentences}))(answering, arrival)


@pytest.fixture
def make(tmp_path: Path, server: ScriptedServer, run_cli: Callable[..., Any]) -> Callable[..., Any]:
    def run(data: str, *more: str) -> Any:
        asked = ("--out", str(tmp_path / "out"), "--llm", server.spec, "--set", "judge=lexical")
        return run_cli("train", "attribution-data", data, *asked, *more)

    return run


def test_long_answers_keep_what_their_sources_say(tmp_path: Path, server: ScriptedServer, make: Callable[..., Any]):
    server.default = long_answer
    printed = make(f"hotpotqa:{hotpot(tmp_path / 'hotpot.json')}")
    assert printed.code == 0, printed.err
    found = read_examples([tmp_path / "out" / "examples.jsonl"])
    assert [cited(example) for example in found] == [{"Levodopa"}, {"Levodopa", "Carbidopa"}]
    assert all(len(example.sources) == 5 for example in found)  # distractors are kept
    assert {example.group for example in found} == {"hotpotqa:q0"}
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text("utf-8"))
    assert manifest["rejected"] == {
        "its sources do not entail it": 1,
        "it cites nothing": 1,
        "it cites a source that there is not": 1,
    }
    assert manifest["settings"]["prompts"]["long"].startswith("attribution-long-answer.v3@")
    assert "left out: 1: it cites nothing" in printed.out


def test_long_answers_can_be_kept_as_the_model_wrote_them(
    tmp_path: Path, server: ScriptedServer, make: Callable[..., Any]
):
    server.default = long_answer
    path = hotpot(tmp_path / "hotpot.json")
    assert make(f"hotpotqa:{path}", "--set", "checked=false").code == 0
    found = read_examples([tmp_path / "out" / "examples.jsonl"])
    assert [cited(example) for example in found] == [{"Levodopa"}, {"Levodopa", "Carbidopa"}, {"Levodopa"}, set()]
    assert not any(example.unknown for example in found)
    again = make(f"hotpotqa:{path}")
    assert again.code == 2 and "checked" in again.err  # what is checked is another run


def test_the_model_is_told_the_number_of_its_sources_and_shown_three_examples(
    tmp_path: Path, server: ScriptedServer, make: Callable[..., Any]
):
    server.default = long_answer
    assert make(f"hotpotqa:{hotpot(tmp_path / 'hotpot.json')}").code == 0
    (arrival,) = server.arrivals
    messages = arrival.body["messages"]
    assert [message["role"] for message in messages] == ["system", *["user", "assistant"] * 3, "user"]
    assert "You are given two numbered sources," in messages[0]["content"]
    assert set(numbers(messages[-1]["content"])) == {"Levodopa", "Carbidopa"}  # what the answer rests on
    for reply_shown in messages[2:-1:2]:
        sentences = json.loads(reply_shown["content"])["sentences"]
        assert len(sentences) == 2 and {number for one in sentences for number in one["sources"]} == {1, 2}


def test_examples_can_be_others_or_none(tmp_path: Path, server: ScriptedServer, make: Callable[..., Any]):
    server.default = long_answer
    path = hotpot(tmp_path / "hotpot.json")
    mine = {
        "sources": [{"text": "Tea is hot."}],
        "question": "Is tea hot?",
        "answer": "yes",
        "response": "Tea is hot [1].",
    }
    (tmp_path / "mine.jsonl").write_text(json.dumps(mine), encoding="utf-8")
    assert make(f"hotpotqa:{path}", "--set", f"examples={tmp_path}/mine.jsonl").code == 0
    assert "Tea is hot." in server.arrivals[0].body["messages"][2]["content"]
    again = make(f"hotpotqa:{path}", "--set", "examples=none")
    assert again.code == 2 and "prompts" in again.err  # other examples are another run
    (tmp_path / "mine.jsonl").write_text("{}", encoding="utf-8")
    printed = make(f"hotpotqa:{path}", "--set", f"examples={tmp_path}/mine.jsonl")
    assert printed.code == 2 and "Correct that line of the setting examples" in printed.err


def cited(example: AttributionExample) -> set[str]:
    return {example.sources[number - 1].id for number in example.supports}


def test_what_a_sentence_cites_for_nothing_and_what_says_it_uncited_is_not_known(
    tmp_path: Path, server: ScriptedServer, make: Callable[..., Any]
):
    def behave(answering: Answering, arrival: Arrival) -> None:
        places = numbers("".join(message["content"] for message in arrival.body["messages"]))
        sentences = [
            {
                "sentence": "Levodopa relieves rigidity and carbidopa does not enter the brain.",
                "sources": [places["Carbidopa"], places["Levodopa"], places["Tea"]],
            },
            {"sentence": "Levodopa relieves rigidity in Parkinson's disease.", "sources": [places["Therapy"]]},
        ]
        reply(json.dumps({"sentences": sentences}))(answering, arrival)

    server.default = behave
    path = hotpot(tmp_path / "hotpot.json")
    rows = json.loads(path.read_text("utf-8"))
    said = ["For years levodopa relieves rigidity in Parkinson's disease."]
    rows[0]["context"] = [*rows[0]["context"][:4], ["Therapy", said]]
    path.write_text(json.dumps(rows), encoding="utf-8")
    printed = make(f"hotpotqa:{path}", "--set", "shown=five")
    assert printed.code == 0, printed.err
    both, one = read_examples([tmp_path / "out" / "examples.jsonl"])
    assert (cited(both), unknown(both)) == ({"Levodopa", "Carbidopa"}, {"Tea"})
    assert (cited(one), unknown(one)) == ({"Therapy"}, {"Levodopa"})


def test_of_three_sources_of_which_any_two_are_enough_two_stay(
    tmp_path: Path, server: ScriptedServer, make: Callable[..., Any]
):
    said = "Zinc shortens colds, iron cures anaemia, iodine prevents goitre."
    parts = said.rstrip(".").split(", ")
    path = hotpot(tmp_path / "hotpot.json")
    rows = json.loads(path.read_text("utf-8"))
    pairs = {name: f"{one}. {other}." for name, one, other in zip("ABC", parts, [*parts[1:], parts[0]], strict=True)}
    rows[0] |= {"context": [[name, [text]] for name, text in pairs.items()], "supporting_facts": [["A", 0]]}
    path.write_text(json.dumps(rows), encoding="utf-8")
    server.default = reply(json.dumps({"sentences": [{"sentence": said, "sources": [1, 2, 3]}]}))
    make(f"hotpotqa:{path}", "--set", "shown=five")
    (one,) = read_examples([tmp_path / "out" / "examples.jsonl"])
    assert len(cited(one)) == 2 and cited(one) | unknown(one) == {"A", "B", "C"}


def unknown(example: AttributionExample) -> set[str]:
    return {example.sources[number - 1].id for number in example.unknown}


def sources_written(positive: str, first: str, second: str) -> Callable[[Answering, Arrival], None]:
    """A model that writes a source in other words, and two of the same topic."""

    def behave(answering: Answering, arrival: Arrival) -> None:
        is_positive = '"text"' in arrival.body["messages"][0]["content"]
        said = {"text": positive} if is_positive else {"first": first, "second": second}
        reply(json.dumps(said))(answering, arrival)

    return behave


def test_one_source_becomes_four(tmp_path: Path, server: ScriptedServer, make: Callable[..., Any]):
    server.default = sources_written(
        "Among metals, zinc shortens colds, trials say.", "Colds come from viruses.", "Zinc shortens colds in adults."
    )
    data = tmp_path / "nq.jsonl"
    rows = [
        {"query": "q", "answer": "Zinc shortens colds.", "reference": "Zinc shortens colds by a day.", "label": label}
        for label in ("Attributable", "Extrapolatory")
    ]
    data.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    printed = make(f"attrscore:{data}", "--form", "sources")
    assert printed.code == 0, printed.err
    (example,) = read_examples([tmp_path / "out" / "examples.jsonl"])
    assert cited(example) == {"reference", "other words"}
    assert {source.id for source in example.sources} == {"reference", "other words", "same topic 1"}
    assert "left out: 1: a source of the same topic entails it" in printed.out


def test_what_is_only_copied_is_no_new_source(tmp_path: Path, server: ScriptedServer, make: Callable[..., Any]):
    server.default = sources_written("zinc shortens colds", "Trials were small.", "Colds come from viruses.")
    data = tmp_path / "nq.jsonl"
    row = {
        "query": "q",
        "answer": "Zinc shortens colds.",
        "reference": "Zinc shortens colds by a day. Trials were small.",
        "label": "Attributable",
    }
    data.write_text(f"{json.dumps(row)}\n", encoding="utf-8")
    printed = make(f"attrscore:{data}", "--form", "sources")
    assert printed.code == 0, printed.err
    (example,) = read_examples([tmp_path / "out" / "examples.jsonl"])
    assert {source.id for source in example.sources} == {"reference", "same topic 2"}
    assert "left out: 1: the source in other words is a copy" in printed.out
    assert "left out: 1: a source of the same topic is a copy" in printed.out


def test_the_short_form_needs_no_model(tmp_path: Path, run_cli: Callable[..., Any]):
    data = f"hotpotqa:{hotpot(tmp_path / 'hotpot.json')}"
    asked = ("train", "attribution-data", data, "--form", "short", "--out", str(tmp_path / "out"))
    assert run_cli(*asked).code == 0
    (example,) = read_examples([tmp_path / "out" / "examples.jsonl"])
    assert cited(example) == {"Levodopa", "Carbidopa"}
    assert example.sentence.endswith("question 0: Levodopa.")


def test_a_prompt_of_a_file_is_sent_word_for_word(tmp_path: Path, server: ScriptedServer, make: Callable[..., Any]):
    prompt = tmp_path / "mine.toml"
    prompt.write_text(
        'name = "mine"\nversion = 1\nabout = "x"\nverbatim = true\n'
        'user = "Cite {sources}\\n{question} {answer}\\n### Response:\\n{response}"\n',
        encoding="utf-8",
    )

    def behave(answering: Answering, arrival: Arrival) -> None:
        *examples, asked = arrival.question.split("Cite ")[1:]
        assert len(examples) == 3 and all("### Response:\n" in example for example in examples)
        assert asked.startswith("[1]") and asked.endswith("### Response:\n") and "[3]" not in asked
        number = re.search(r"\[(\d)\] Levodopa", asked)
        assert number
        reply(f"Levodopa relieves rigidity in Parkinson's disease [{number[1]}].")(answering, arrival)

    server.default = behave
    printed = make(f"hotpotqa:{hotpot(tmp_path / 'hotpot.json')}", "--set", f"prompt={prompt}")
    assert printed.code == 0, printed.err
    (example,) = read_examples([tmp_path / "out" / "examples.jsonl"])
    assert cited(example) == {"Levodopa"}


def test_what_failed_is_asked_again_and_nothing_else(tmp_path: Path, server: ScriptedServer, make: Callable[..., Any]):
    data = f"hotpotqa:{hotpot(tmp_path / 'hotpot.json', 3)}"

    def behave(answering: Answering, arrival: Arrival) -> None:
        (reply("no JSON") if "question 0" in json.dumps(arrival.body) else long_answer)(answering, arrival)

    server.default = behave
    printed = make(data, "--set", "llm.concurrency=1", "--set", "llm.cache=false")
    assert printed.code == 3
    assert "q0" in printed.err
    asked = len(server.arrivals)
    server.default = long_answer
    printed = make(data, "--set", "llm.concurrency=1", "--set", "llm.cache=false")
    assert printed.code == 0, printed.err
    assert [json.dumps(it.body).count("question 0") > 0 for it in server.arrivals[asked:]] == [True]
    assert len(read_examples([tmp_path / "out" / "examples.jsonl"])) == 6


@pytest.mark.slow  # tests/generate/test_demonstrations_building.py kills one that adds to a file in the same way
def test_a_killed_run_continues(tmp_path: Path, server: ScriptedServer):
    hotpot(tmp_path / "hotpot.json", 8)

    def behave(answering: Answering, arrival: Arrival) -> None:
        answering.wait(0.05)
        long_answer(answering, arrival)

    server.default = behave
    words = ["train", "attribution-data", f"hotpotqa:{tmp_path / 'hotpot.json'}", "--out", str(tmp_path / "out")]
    words += ["--llm", server.spec, "--set", "judge=lexical", "--set", "llm.concurrency=1", "--set", "llm.cache=false"]
    command = [sys.executable, "-m", "vericite", *words]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    made = tmp_path / "out" / "made.jsonl"
    end = time.monotonic() + 60
    while not (made.exists() and made.read_bytes().count(b"\n") >= 3) and time.monotonic() < end:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    before, kept = len(server.arrivals), made.read_bytes().count(b"\n")
    subprocess.run(command, check=True, capture_output=True)
    assert len(server.arrivals) - before == 8 - kept
    assert len(read_examples([tmp_path / "out" / "examples.jsonl"])) == 16


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        (("--form", "short"), "no language model for --form short"),
        (("--form", "sources"), "found none"),
        (("--set", "seed=1"), "another seed"),
    ],
)
def test_what_does_not_fit_is_refused(
    tmp_path: Path, server: ScriptedServer, make: Callable[..., Any], more: tuple[str, ...], problem: str
):
    server.default = long_answer
    data = f"hotpotqa:{hotpot(tmp_path / 'hotpot.json')}"
    assert make(data).code == 0
    printed = make(data, *more)
    assert printed.code == 2
    assert problem in " ".join(printed.err.split())
