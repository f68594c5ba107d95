"""Small models: what they are shown, who refuses, and what becomes of a reply that cannot be used."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from server import ScriptedServer, reply

from vericite.errors import InputError, Problems
from vericite.generate.extractive import ExtractiveGenerator
from vericite.generate.generator import INSUFFICIENT, followed
from vericite.generate.guide import SMALL
from vericite.generate.language_model import LanguageModelGenerator
from vericite.generate.prompt import load_prompt
from vericite.llm import LLM
from vericite.models.embedder import Embedder
from vericite.pipeline.build import generator_of
from vericite.pipeline.plan import AnswerPlan
from vericite.records import Answer, Document, Evidence, Question, SourceStance
from vericite.text.citations import parse_answer

QUESTION = Question(id="q", text="Does zelotrine prevent migraine?")
TEXTS = (
    "Migraine is common. Zelotrine halved the number of migraine days in adults. Nausea was rare.",
    "The weather in spring varies. Many people sleep badly.",
)


def evidence(*texts: str) -> list[Evidence]:
    documents = [Document.from_text(f"d{place}", text, f"Title {place}") for place, text in enumerate(texts, start=1)]
    return [Evidence(document=item, rank=rank, score=1, retriever="t") for rank, item in enumerate(documents, start=1)]


class Quoting:
    """A generator of quotations with one known answer."""

    signature = "quoting"

    def __init__(self, text: str | None) -> None:
        self.text = text

    def generate(self, question: Question, found: Sequence[Evidence]) -> Answer:
        documents = [hit.document for hit in found]
        if self.text is None:
            told = {"insufficient": True, "sufficiency": 0.2}
            return parse_answer(question.id, INSUFFICIENT, documents, question.text).model_copy(update=told)
        return parse_answer(question.id, self.text, documents, question.text)


QUOTED = Quoting("Zelotrine halved the number of migraine days in adults [1].")


def guided(llm: LLM, quoting: Quoting = QUOTED, prompt: str = "small") -> LanguageModelGenerator:
    return LanguageModelGenerator(llm, prompt, guide=quoting)


def test_a_small_model_reads_only_what_is_quoted(server: ScriptedServer, llm: Callable[..., LLM]):
    server.default = reply("Yes, it halved the migraine days [1].")
    answer = guided(llm()).generate(QUESTION, evidence(*TEXTS))
    shown = server.questions[0]
    assert "[1] Title 1 Zelotrine halved the number of migraine days in adults." in shown
    assert "Nausea" not in shown and "weather" not in shown
    assert [claim.citations[0].document for claim in answer.claims] == ["d1"]
    assert answer.trimmed == () and [document.text for document in answer.documents] == list(TEXTS)
    assert "guided by quoting" in (answer.generator or "")


def test_which_sources_say_yes_and_no_is_told_even_if_the_model_misses_it(server: ScriptedServer, llm):
    class Undecided(Quoting):
        def generate(self, question: Question, found: Sequence[Evidence]) -> Answer:
            stance = SourceStance(yes=("d1",), no=("d2",), probability=0.3)
            told = {"stance": stance, "sufficiency": 0.9, "exact": (("no",),)}
            return super().generate(question, found).model_copy(update=told)

    server.default = reply("Yes, it halved the migraine days [1].")
    answer = guided(llm(), Undecided(QUOTED.text)).generate(QUESTION, evidence(*TEXTS))
    assert answer.stance is not None and (answer.stance.yes, answer.stance.no) == (("d1",), ("d2",))
    assert (answer.exact, answer.sufficiency, answer.selected) == ((("no",),), 0.9, ())


def test_whether_the_sources_answer_is_decided_before_the_model_is_asked(server: ScriptedServer, llm):
    answer = guided(llm(), Quoting(None)).generate(QUESTION, evidence(*TEXTS))
    assert (answer.insufficient, answer.sufficiency, server.arrivals) == (True, 0.2, [])


@pytest.mark.parametrize("prompt", ["small", "default"])
def test_the_grammar_of_a_guided_model_has_no_refusal(prompt: str):
    model = LLM("http://127.0.0.1:9/v1#m")
    for guide, refuses in ((None, prompt == "default"), (QUOTED, False)):
        generator = LanguageModelGenerator(model, prompt, grammar="on", guide=guide)
        request = generator.request(QUESTION, evidence(*TEXTS))
        assert request is not None and ("do not answer" in (request.grammar or "")) == refuses


def test_the_quotations_of_the_real_generator_are_sentences_of_the_source():
    found = evidence(*TEXTS)
    quoting = ExtractiveGenerator(Embedder.shared())
    model = LLM("http://127.0.0.1:9/v1#m")
    request = LanguageModelGenerator(model, "small", guide=quoting).request(QUESTION, found)
    assert request is not None and "halved the number of migraine days" in request.messages[-1].text
    nothing = Question(id="q", text="What is the capital of France?")
    assert LanguageModelGenerator(model, "small", guide=quoting).request(nothing, found) is None


@pytest.mark.parametrize(
    ("size", "plan", "is_guided", "prompt"),
    [
        (SMALL - 1, {}, True, "small"),
        (SMALL, {}, False, "default"),
        (None, {}, False, "default"),
        (None, {"evidence": "quotations"}, True, "small"),
        (SMALL - 1, {"evidence": "abstracts"}, False, "default"),
        (SMALL - 1, {"prompt": "biogen"}, False, "biogen"),
        (SMALL - 1, {"prompt": "biogen", "evidence": "quotations"}, True, "biogen"),
    ],
)
def test_files_of_small_models_are_guided_unless_the_user_chooses(tmp_path, monkeypatch, size, plan, is_guided, prompt):
    model = LLM("http://127.0.0.1:9/v1#m")
    if size is not None:
        path = tmp_path / "model.gguf"
        path.touch()
        os.truncate(path, size)
        monkeypatch.setattr(model, "spec", replace(model.spec, path=path))
    made = generator_of(AnswerPlan(llm="m", **plan), model, [], Problems())
    assert isinstance(made, LanguageModelGenerator)
    assert made.prompt.name.split(".")[0] == prompt and ("guided by" in made.signature) == is_guided


def test_a_prompt_word_for_word_takes_no_chosen_sentences(tmp_path: Path):
    path = tmp_path / "own.toml"
    path.write_text(
        'name = "own"\nversion = 1\nabout = "a"\nverbatim = true\nsystem = "s"\nuser = "{documents} {question}"'
    )
    with pytest.raises(InputError, match=r"answer\.evidence"):
        LanguageModelGenerator(LLM("http://127.0.0.1:9/v1#m"), load_prompt(path), guide=QUOTED)


def test_a_reply_that_cannot_be_used_is_shown_as_it_came(server: ScriptedServer, llm: Callable[..., LLM]):
    server.default = reply("<think>Zelotrine may help, or may not help, and", finish="length")
    answer = guided(llm()).generate(QUESTION, evidence(*TEXTS))
    assert answer.failed is not None and answer.text == ""
    (told,) = [note for note in answer.notes if note.startswith("the model wrote")]
    assert "“<think>Zelotrine may help, or may not help, and”" in told and "What may help: a larger model" in told


def test_words_are_shown_as_they_come(server: ScriptedServer, llm: Callable[..., LLM]):
    server.default = reply("Yes, it halved the migraine days [1].")
    seen: list[str] = []
    with followed(seen.append):
        guided(llm()).generate(QUESTION, evidence(*TEXTS))
    assert len(seen) > 3 and "".join(seen) == "Yes, it halved the migraine days [1]."
