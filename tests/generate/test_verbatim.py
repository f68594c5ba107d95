"""Verbatim prompts: nothing is added to what is asked, and nothing taken out of what is said."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parents[1] / "llm"))

from server import FAST, ScriptedServer, reply, status

from vericite.errors import InputError
from vericite.generate.language_model import LanguageModelGenerator
from vericite.generate.prompt import load_prompt
from vericite.llm import LLM
from vericite.records import Document, Evidence, Question
from vericite.verify.judges.llm import VerbatimJudgePrompt, load_judge_prompt

FILE = '''
name = "own"
version = 3
about = "Ours."
verbatim = true
citing = "every"
insufficient = "I do not know."
citations = 1
words = 3
user = """Docs:
{documents}
Q: {question} {unknown} {"json": 1}
A: """
'''


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "own.toml"
    path.write_text(FILE)
    return path


def evidence(*texts: str, retracted: int = -1) -> list[Evidence]:
    return [
        Evidence(
            document=Document.from_text(f"d{n}", text).model_copy(update={"retracted": n == retracted}),
            rank=n,
            score=1,
            retriever="fixed",
        )
        for n, text in enumerate(texts, start=1)
    ]


def answered(server: ScriptedServer, path: Path, said: str, found: list[Evidence], finish: str = "stop"):
    server.default = reply(said, finish=finish)
    return LanguageModelGenerator(LLM(server.spec, FAST), path).generate(Question(id="q", text="Why?"), found)


def test_slots_are_filled_and_nothing_is_added_or_stripped(path: Path):
    with ScriptedServer() as server:
        answered(server, path, "Yes [1].", evidence("One. ", "Two.", "Three.", retracted=2))
        (arrival,) = server.arrivals
    text = 'Docs:\n[1] One. \n[3] Three.\nQ: Why? {unknown} {"json": 1}\nA: '
    assert arrival.body["messages"] == [{"role": "user", "content": text}]
    assert not {"grammar", "response_format", "stop"} & set(arrival.body)


@pytest.mark.parametrize(
    "said",
    [
        "One [1][2]. One [1][2]. I do not know. And three words more than allowed [7].",
        "<think>Hm.</think> Answer: so it is [1].\n\nQuestion: next?\nAnswer: no [2].",
    ],
)
def test_nothing_is_taken_out_of_a_reply(path: Path, said: str):
    with ScriptedServer() as server:
        answer = answered(server, path, said, evidence("One.", "Two."), finish="length")
    assert answer.text == said and answer.failed is None and not answer.insufficient
    assert answer.notes == ("the reply reached max_tokens; it is kept as it stands",)
    cited = sum(len(claim.citations) for claim in answer.claims)
    assert cited == said.count("[")


def test_an_empty_reply_is_a_failure_and_no_evidence_no_question(path: Path):
    with ScriptedServer() as server:
        assert answered(server, path, " ", evidence("One.")).failed == "the reply holds no answer"
        none = answered(server, path, "Yes.", [])
        assert none.insufficient and none.text == "I do not know." and len(server.arrivals) == 1


def test_the_signature_says_verbatim_and_depends_on_every_character(path: Path, tmp_path: Path):
    other = tmp_path / "other.toml"
    other.write_text(FILE.replace("A: ", "A:"))
    first, second = load_prompt(path).signature, load_prompt(other).signature
    assert first.startswith("own.v3[verbatim]@") and second.startswith("own.v3[verbatim]@") and first != second


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (("{question}", "{q}"), "slot {question}"),
        (('user = """', 'system = """'), "end with a turn of the user"),
        (('about = "Ours."', 'about = "Ours."\nturns = [{role = "user", text = "x"}]'), "found both"),
        (('about = "Ours."', 'about = "Ours."\nnotice = "x"'), "notice"),
    ],
)
def test_a_file_that_cannot_be_meant_is_refused(path: Path, change: tuple[str, str], told: str):
    path.write_text(FILE.replace(*change))
    with pytest.raises(InputError, match=told):
        load_prompt(path)


@pytest.mark.parametrize(
    ("error", "limit"),
    [
        ({"type": "exceed_context_size_error", "message": "x", "n_ctx": 512}, "the 512 tokens that the model takes"),
        ({"code": "context_length_exceeded", "message": "x"}, "more than the model takes"),
    ],
)
def test_a_prompt_longer_than_a_service_takes_fails_its_question_and_no_other(
    path: Path, error: dict[str, object], limit: str
):
    asked = [(Question(id=id, text=text), evidence("One.")) for id, text in (("long", "Why?"), ("short", "How?"))]
    with ScriptedServer() as server:
        server.script([status(400, error), reply("Yes [1].")])
        generator = LanguageModelGenerator(LLM(server.spec, replace(FAST, concurrency=1)), path)
        long, short = generator.generate_many(asked)
    assert long.failed is not None and limit in long.failed
    assert "verbatim cuts nothing; lower --k, or name a model that takes more" in long.failed
    assert short.failed is None and short.text == "Yes [1]."


def test_a_prompt_longer_than_the_window_fails_its_question_with_the_limit_and_the_option(path: Path):
    with ScriptedServer() as server:
        generator = LanguageModelGenerator(LLM(server.spec, FAST), path, budget=256)
        answer = generator.generate(Question(id="q", text="Why?"), evidence("Word " * 3_000))
        assert not server.arrivals
    assert answer.failed is not None and "of 256 tokens, and verbatim cuts nothing; lower --k" in answer.failed
    assert "answer.window" in answer.failed


def test_a_grammar_for_a_verbatim_prompt_is_refused(path: Path):
    with ScriptedServer() as server, pytest.raises(InputError, match="verbatim"):
        LanguageModelGenerator(LLM(server.spec, FAST), path, grammar="on")


@pytest.mark.parametrize(
    ("said", "label"),
    [
        ("attributable", "attributable"),
        ("'Not attributable.'", "not attributable"),
        ("The claim is not attributable to it", "not attributable"),
        ("### Output: attributable", "attributable"),
        ("attributable or not attributable", None),
        ("unattributable", None),
        ("", None),
    ],
)
def test_a_judges_label_is_found_in_its_words(tmp_path: Path, said: str, label: str | None):
    path = tmp_path / "judge.toml"
    path.write_text(
        'name = "j"\nversion = 1\nabout = "x"\nverbatim = true\nuser = "{claim} {reference}"\n'
        '[labels.attributable]\ncolumn = "entails"\n[labels."not attributable"]\ncolumn = "neutral"\n'
    )
    prompt = load_judge_prompt(path)
    assert isinstance(prompt, VerbatimJudgePrompt) and prompt.label_in(said) == label


def test_a_run_on_the_command_line_with_a_verbatim_prompt_and_judge(run_cli, path: Path, tmp_path: Path):
    judge, corpus = tmp_path / "judge.toml", tmp_path / "docs.jsonl"
    judge.write_text(
        'name = "j"\nversion = 1\nabout = "x"\nverbatim = true\nuser = "{claim}|{reference}"\n'
        '[labels.yes]\ncolumn = "entails"\n[labels.no]\ncolumn = "neutral"\n'
    )
    corpus.write_text(json.dumps({"id": "a", "text": "Zinc helps."}) + "\n")
    with ScriptedServer() as server:
        server.script([reply("Zinc helps [1]."), reply("yes"), reply("Zinc helps [1]."), reply("maybe so")])
        asked = (
            "ask",
            "Does zinc help?",
            "--corpus",
            str(corpus),
            "--set",
            "search.rerank=none",
            "--by",
            "bm25",
            "--set",
            "llm.cache=false",
        )
        asked += ("--llm", server.spec, "--prompt", str(path), "--protocol", "bioace-document")
        asked += ("--judge", f"llm:{server.spec}?prompt={judge}", "--json")
        run = json.loads(run_cli(*asked).out)
        assert run["checked"]["verdicts"][0]["native"] == "yes"
        assert server.questions[1].startswith("Zinc helps.|")
        assert "[verbatim]@" in run["provenance"]["parts"]["judge"]
        # What cannot be read is a failed judgement with what was said, and nobody is asked again.
        run = json.loads(run_cli(*asked).out)
        assert run["checked"]["failures"][0]["raw"] == ["maybe so"] and len(server.arrivals) == 4
        refused = run_cli("ask", "Does zinc help?", "--llm", server.spec, "--judge", f"llm:{server.spec}?prompt=")
        assert refused.code == 2 and "after ?prompt=" in refused.err


def test_a_verbatim_reply_is_its_own_rationale(run_cli, path: Path, tmp_path: Path):
    corpus = tmp_path / "docs.jsonl"
    corpus.write_text(json.dumps({"id": "a", "text": "Zinc helps."}) + "\n")
    plain = tmp_path / "plain.toml"
    plain.write_text(FILE.replace("verbatim = true\n", 'system = "x"\n').replace("{unknown}", ""))
    with ScriptedServer() as server:
        server.default = reply("Zinc helps [1]. It is cheap.")
        asked = (
            "ask",
            "Does zinc help?",
            "--corpus",
            str(corpus),
            "--set",
            "search.rerank=none",
            "--by",
            "bm25",
            "--json",
        )
        asked += ("--llm", server.spec, "--judge", "lexical", "--rationale", "--prompt")
        run = json.loads(run_cli(*asked, str(path)).out)
        assert [it["claim"] for it in run["rationale"]["checked"]["verdicts"]] == ["Zinc helps.", "It is cheap."]
        refused = run_cli(*asked, str(plain))
        assert refused.code == 2 and "or with a verbatim prompt" in refused.err
