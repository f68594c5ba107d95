from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

import pytest
from server import ScriptedServer, reply, silence, status

from vericite.errors import InputError, LLMAccessError
from vericite.generate import Generator
from vericite.generate.generator import INSUFFICIENT
from vericite.generate.language_model import LanguageModelGenerator
from vericite.generate.prompt import PROMPTS, Demonstration, load_prompt
from vericite.llm import LLM
from vericite.records import Answer, Document, Evidence, Question

QUESTION = Question(id="q", text="Does it help?")


def evidence(*texts: str, retracted: Sequence[int] = ()) -> list[Evidence]:
    documents = (Document.from_text(f"d{place}", text, f"Title {place}") for place, text in enumerate(texts, start=1))
    return [
        Evidence(
            document=document.model_copy(update={"retracted": place in retracted}), rank=place, score=1.0, retriever="t"
        )
        for place, document in enumerate(documents, start=1)
    ]


FOUND = evidence("It helped 12 of 20 patients.", "It lowered urate by 1.5 mg/dL.", "It harmed nobody.")
GOOD = "Yes, it helped 12 of 20 patients [1]. It lowered urate by 1.5 mg/dL [2]."


def asked(server: ScriptedServer) -> str:
    return server.arrivals[-1].body["messages"][1]["content"]


def markers(answer: Answer) -> list[list[int]]:
    return [[citation.marker for citation in claim.citations] for claim in answer.claims]


def test_an_answer_cites_the_evidence_by_its_numbers(server: ScriptedServer, llm: Callable[..., LLM]):
    server.default = reply(GOOD)
    generator: Generator = LanguageModelGenerator(llm())
    answer = generator.generate(QUESTION, FOUND)
    assert answer.text == GOOD
    assert [[citation.document for citation in claim.citations] for claim in answer.claims] == [["d1"], ["d2"]]
    assert (answer.id, answer.question, answer.failed, answer.insufficient) == ("q", QUESTION.text, None, False)
    assert answer.generator == generator.signature
    assert [document.id for document in answer.documents] == ["d1", "d2", "d3"]
    body = server.arrivals[0].body
    assert (body["temperature"], body["top_p"]) == (0.4, 0.9)
    assert "[3] Title 3 It harmed nobody." in asked(server)


@pytest.mark.parametrize("name", PROMPTS)
def test_every_prompt_makes_an_answer(server: ScriptedServer, llm: Callable[..., LLM], name: str):
    server.default = reply(f"{GOOD}\nFINAL ANSWER: A. yes" if name.startswith("reason") else GOOD)
    answer = LanguageModelGenerator(llm(), name).generate(QUESTION, FOUND)
    assert (answer.text, answer.failed) == (GOOD, None)
    assert markers(answer) == [[1], [2]]
    assert answer.exact == {"reason-verify": (("A. yes",),)}.get(name, (("yes",),) if "reason" in name else None)


ECHOES = {
    "its label": f"Answer: {GOOD}",
    "a label in bold": f"**Answer:** {GOOD}",
    "an introduction": f"Sure, here is the answer to your question:\n\n{GOOD}",
    "the question": f"Does it help?\n{GOOD}",
    "the question in its block": f"<question>\nDoes it help?\n</question>\n\nAnswer:\n{GOOD}",
    "the documents": f"<document>\n[1] Title 1 It helped.\n</document>\n{GOOD}",
    "thoughts": f"<think>Cite [3]. Or not.</think>\n{GOOD}",
    "thoughts without their beginning": f"Cite [3]. Or not.</think>\n{GOOD}",
    "the end of its turn": f"{GOOD}<|im_end|>",
    "the next example": f"{GOOD}\n\nQuestion: Does it harm?\nAnswer: It does [3].",
    "the next block": f"{GOOD}\n\n<question>\nDoes it harm?\n</question>\nIt does [3].",
    "a fence": f"```text\n{GOOD}\n```",
    "tags of its own": f"<answer>{GOOD}</answer>",
}


@pytest.mark.parametrize("said", ECHOES.values(), ids=ECHOES)
def test_what_echoes_the_prompt_is_no_part_of_the_answer(server: ScriptedServer, llm: Callable[..., LLM], said: str):
    server.default = reply(said)
    answer = LanguageModelGenerator(llm()).generate(QUESTION, FOUND)
    assert answer.text == GOOD
    assert markers(answer) == [[1], [2]]


@pytest.mark.parametrize(
    "said",
    [
        INSUFFICIENT,
        INSUFFICIENT.rstrip("."),
        f"Answer: {INSUFFICIENT.upper()}",
        f"{INSUFFICIENT} More research is due.",
    ],
)
def test_the_fixed_sentence_says_that_the_evidence_is_insufficient(
    server: ScriptedServer, llm: Callable[..., LLM], said: str
):
    server.default = reply(said)
    answer = LanguageModelGenerator(llm(), "default").generate(QUESTION, FOUND)
    assert (answer.insufficient, answer.text, answer.claims, answer.failed) == (True, INSUFFICIENT, (), None)


@pytest.mark.parametrize(
    "said",
    [
        f"Yes, {INSUFFICIENT[0].lower()}{INSUFFICIENT[1:-1]} [1].",
        "No. The sources do not answer this question.",
        "Unfortunately, the provided documents do not contain enough information to answer the question [1][2].",
        "I'm sorry, but these abstracts don't directly answer your question.",
        "None of the sources found answers this question.",
        "There is not enough evidence in the sources to answer this question.",
        "The evidence fails to address the question at all.",
    ],
)
def test_the_same_in_other_words_is_a_refusal_too(server: ScriptedServer, llm: Callable[..., LLM], said: str):
    server.default = reply(said)
    answer = LanguageModelGenerator(llm(), "default").generate(QUESTION, FOUND)
    assert (answer.insufficient, answer.text, answer.claims, answer.failed) == (True, INSUFFICIENT, (), None)


@pytest.mark.parametrize(
    "said",
    [
        "The sources found answer this question [1].",
        "The sources found do not answer this question in children, where it helped 12 of 20 [1].",
        "The studies did not address the question of dose [1].",
        "It is not so that the sources found do not answer this question [1].",
        "The evidence does not show that it lowers urate [2].",
        "No study addresses urate in women [2].",
    ],
)
def test_a_finding_that_sounds_like_a_refusal_is_not_a_refusal(
    server: ScriptedServer, llm: Callable[..., LLM], said: str
):
    server.default = reply(said)
    answer = LanguageModelGenerator(llm(), "default").generate(QUESTION, FOUND)
    assert not answer.insufficient and answer.text == said


@pytest.mark.parametrize(
    "said",
    [
        INSUFFICIENT.replace(".", " [1]."),
        f"{INSUFFICIENT[:-1]} [1][2]. {INSUFFICIENT[:-1]} [3].",
        f"{INSUFFICIENT[:-1]} [9]. More research is due.",
    ],
)
def test_the_fixed_sentence_cites_nothing(server: ScriptedServer, llm: Callable[..., LLM], said: str):
    server.default = reply(said)
    (found,) = LanguageModelGenerator(llm()).generations([(QUESTION, FOUND)])
    assert (found.answer.insufficient, found.answer.text, found.answer.claims) == (True, INSUFFICIENT, ())
    assert len(found.notes) == 1 and "citations" in found.notes[0]


@pytest.mark.parametrize(
    "said",
    [
        f"{GOOD} {INSUFFICIENT}",
        f"{GOOD} {INSUFFICIENT[:-1]} [3].",
        f"{INSUFFICIENT} {GOOD}",
        GOOD.replace(". ", f". {INSUFFICIENT[:-1]} [2]. ", 1),
    ],
)
def test_the_fixed_sentence_among_cited_ones_is_dropped(server: ScriptedServer, llm: Callable[..., LLM], said: str):
    server.default = reply(said)
    (found,) = LanguageModelGenerator(llm()).generations([(QUESTION, FOUND)])
    assert not found.answer.insufficient
    assert found.answer.text == GOOD
    assert markers(found.answer) == [[1], [2]]
    assert len(found.notes) == 1 and "left out" in found.notes[0]


LED_UP_TO = {
    "plain": f"Let me look at the documents first.\n\nAnswer: {GOOD}",
    "bold": f"Let me look at the documents first.\n\n**Answer:** {GOOD}",
    "the question again": f"Let me look at it.\n\nQuestion: Does it help?\nAnswer: {GOOD}",
}


@pytest.mark.parametrize("said", LED_UP_TO.values(), ids=LED_UP_TO)
def test_uncited_text_before_an_answer_is_dropped_and_noted(server: ScriptedServer, llm: Callable[..., LLM], said: str):
    server.default = reply(said)
    (found,) = LanguageModelGenerator(llm()).generations([(QUESTION, FOUND)])
    assert found.answer.text == GOOD
    assert found.notes == ("what the reply says before its answer cites nothing; it is left out",)


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        (f"{GOOD}\n\nAnswer: It harms [3].", GOOD),
        (f"{INSUFFICIENT}\n\nAnswer: It harms [3].", INSUFFICIENT),
        ("It helped.\n\nQuestion: Does it harm?\nAnswer: It does [3].", "It helped."),
        ("It helped.\n\nAnswer:", "It helped."),
    ],
)
def test_text_after_an_answer_is_dropped_and_noted(
    server: ScriptedServer, llm: Callable[..., LLM], said: str, kept: str
):
    server.default = reply(said)
    (found,) = LanguageModelGenerator(llm()).generations([(QUESTION, FOUND)])
    assert found.answer.text == kept
    assert found.notes == ("the reply continues after its answer; the rest is left out",)


def test_an_answer_unavailable_is_an_insufficient_one(server: ScriptedServer, llm: Callable[..., LLM]):
    server.default = reply("Nobody looked [1].\nANSWER UNAVAILABLE")
    answer = LanguageModelGenerator(llm(), "reason-verify-bioasq").generate(QUESTION, FOUND)
    assert (answer.insufficient, answer.exact, answer.text) == (True, None, "Nobody looked [1].")


def test_a_final_answer_alone_is_the_answer(server: ScriptedServer, llm: Callable[..., LLM]):
    server.default = reply("FINAL ANSWER: B. no")
    answer = LanguageModelGenerator(llm(), "reason-verify-bioasq").generate(QUESTION, FOUND)
    assert (answer.text, answer.exact, answer.failed) == ("B. no.", (("no",),), None)


def test_a_retracted_document_is_never_shown_and_keeps_its_number(server: ScriptedServer, llm: Callable[..., LLM]):
    server.default = reply("It harmed nobody [3]. It helped [2].")
    hits = evidence("It helped.", "A forged result.", "It harmed nobody.", retracted=[2])
    (found,) = LanguageModelGenerator(llm()).generations([(QUESTION, hits)])
    assert "forged" not in asked(server) and "[2] Title" not in asked(server)
    assert "[3] Title 3 It harmed nobody." in asked(server)
    assert markers(found.answer) == [[3], [2]]
    assert found.notes == ("it cites [2], which the model was not shown",)
    assert found.answer.trimmed == ()


@pytest.mark.parametrize("hits", [[], evidence("A forged result.", retracted=[1])])
def test_without_evidence_the_model_is_not_asked(server: ScriptedServer, llm: Callable[..., LLM], hits: list[Evidence]):
    answer = LanguageModelGenerator(llm()).generate(QUESTION, hits)
    assert (answer.insufficient, answer.text, server.arrivals) == (True, INSUFFICIENT, [])


def test_a_prompt_that_allows_own_knowledge_is_asked_without_evidence(server: ScriptedServer, llm: Callable[..., LLM]):
    server.default = reply("I know that it helps.\nFINAL ANSWER: A. yes")
    answer = LanguageModelGenerator(llm(), "reason-verify-bioasq").generate(QUESTION, [])
    assert (answer.exact, len(server.arrivals)) == ((("yes",),), 1)


def test_evidence_is_trimmed_to_the_budget_and_the_answer_says_so(server: ScriptedServer, llm: Callable[..., LLM]):
    server.default = reply(GOOD)
    long = " ".join(f"It helped patient {number} of the trial." for number in range(200))
    hits = evidence("It helped.", long, "It harmed nobody.")
    generator = LanguageModelGenerator(llm(), "default", budget=3000)
    answer = generator.generate(QUESTION, hits)
    by_id = {item.document: item for item in answer.trimmed}
    assert set(by_id) == {"d2", "d3"}
    assert 0 < by_id["d2"].shown < by_id["d2"].sentences == 200
    assert (by_id["d3"].shown, by_id["d3"].sentences) == (0, 1)
    shown = asked(server)
    assert f"patient {by_id['d2'].shown - 1} of" in shown and f"patient {by_id['d2'].shown} of" not in shown
    assert "[3]" not in shown.rsplit("<question>", 1)[1]


ABSTRACTS = evidence(*(f"Trial {n} found this. " + "It helped the patients of the trial. " * 60 for n in range(1, 21)))


def test_a_service_is_sent_every_document_whole(server: ScriptedServer, llm: Callable[..., LLM]):
    server.default = reply(GOOD)
    answer = LanguageModelGenerator(llm()).generate(QUESTION, ABSTRACTS)
    assert (answer.failed, answer.trimmed) == (None, ())
    assert all(f"Trial {n} found this" in asked(server) for n in range(1, 21))
    assert asked(server).count("It helped the patients of the trial.") == 20 * 60


def test_where_a_service_names_its_limit_the_evidence_is_cut_to_it_and_the_answer_says_so(
    server: ScriptedServer, llm: Callable[..., LLM]
):
    refusal = "This model's maximum context length is 4096 tokens. However, you requested 14000 tokens."
    server.script([status(400, refusal), reply(GOOD)])
    answer = LanguageModelGenerator(llm()).generate(QUESTION, ABSTRACTS)
    assert (answer.failed, answer.text, len(server.arrivals)) == (None, GOOD, 2)
    assert sum(not document.shown for document in answer.trimmed) > 10
    assert len(asked(server)) < 4096 * 3


def test_a_budget_that_leaves_no_room_is_a_failed_answer_and_not_an_error(
    server: ScriptedServer, llm: Callable[..., LLM]
):
    answers = list(LanguageModelGenerator(llm(), budget=500).generate_many([(QUESTION, FOUND)] * 2))
    assert [answer.text for answer in answers] == ["", ""]
    assert "raise answer.window" in (answers[0].failed or "")
    assert not answers[0].insufficient and server.arrivals == []


def test_a_call_that_fails_costs_its_own_question_alone(server: ScriptedServer, llm: Callable[..., LLM]):
    server.script([reply(GOOD), status(400, "cannot do that"), reply(GOOD), reply("")])
    questions = [(Question(id=f"q{number}", text=f"Does it help {number}?"), FOUND) for number in range(4)]
    answers = list(LanguageModelGenerator(llm(concurrency=1)).generate_many(questions))
    assert [answer.id for answer in answers] == ["q0", "q1", "q2", "q3"]
    assert [answer.failed is None for answer in answers] == [True, False, True, False]
    assert "cannot do that" in (answers[1].failed or "")
    assert (answers[1].text, answers[1].claims, len(answers[1].documents)) == ("", (), 3)
    assert answers[3].failed


def test_a_model_that_does_not_answer_in_time_is_a_failed_answer(server: ScriptedServer, llm: Callable[..., LLM]):
    server.default = silence
    answer = LanguageModelGenerator(llm(timeout=0.2, deadline=0.5, attempts=1)).generate(QUESTION, FOUND)
    assert answer.failed and answer.text == ""


def test_a_key_that_is_refused_ends_the_run(server: ScriptedServer, llm: Callable[..., LLM]):
    server.default = status(401, "no such key")
    with pytest.raises(LLMAccessError):
        LanguageModelGenerator(llm()).generate(QUESTION, FOUND)


def test_answers_come_in_order_several_asked_at_a_time_and_before_all_questions_are_read(
    server: ScriptedServer, llm: Callable[..., LLM]
):
    server.default = reply(GOOD, after=0.05)
    read = 0

    def questions():
        nonlocal read
        for number in range(40):
            read += 1
            yield Question(id=f"q{number}", text=f"Does it help {number}?"), FOUND

    answers = LanguageModelGenerator(llm(concurrency=4)).generate_many(questions())
    assert next(answers).id == "q0"
    assert read < 20
    assert [answer.id for answer in answers] == [f"q{number}" for number in range(1, 40)]
    assert 1 < server.most_at_once <= 4


def test_biogens_limits_are_enforced_and_noted(server: ScriptedServer, llm: Callable[..., LLM]):
    hits = evidence(*["It helped."] * 5)
    words = " ".join(["word"] * 59)
    sentences = [f"Sentence {number} {words} [1]." for number in range(6)]
    server.default = reply(f"It helped [1][2], [3] and [5] [4]. {' '.join(sentences)}")
    (found,) = LanguageModelGenerator(llm(), "biogen").generations([(QUESTION, hits)])
    assert markers(found.answer)[0] == [1, 2, 3]
    assert sum(len(claim.text.split()) for claim in found.answer.claims) <= 250
    assert len(found.answer.claims) == 5
    assert found.notes == (
        "2 citations beyond 3 a sentence are left out",
        "2 sentences beyond 250 words are left out",
    )


def test_a_reply_that_is_cut_off_loses_its_unfinished_sentence(server: ScriptedServer, llm: Callable[..., LLM]):
    server.default = reply(f"{GOOD} And it also low", finish="length")
    (found,) = LanguageModelGenerator(llm()).generations([(QUESTION, FOUND)])
    assert found.answer.text == GOOD
    assert "unfinished" in found.notes[0]
    assert (found.answer.cut_off, found.answer.notes) == (True, found.notes)
    server.default = reply("It lowered the", finish="length")
    answer = LanguageModelGenerator(llm()).generate(QUESTION, FOUND)
    assert "max_tokens" in (answer.failed or "")


class OfTheQuestion:
    signature = "of-the-question"

    def choose(self, question: Question, evidence_pmids: Collection[str] = ()) -> tuple[Demonstration, ...]:
        asked = f"Not: {question.text} {' '.join(evidence_pmids)}".strip()
        return (Demonstration(asked, (FOUND[2].document,), "It harmed nobody [1]."),)


def test_demonstrations_are_given_chosen_or_the_prompts_own(server: ScriptedServer, llm: Callable[..., LLM]):
    server.default = reply(GOOD)
    own = LanguageModelGenerator(llm())
    none = LanguageModelGenerator(llm(), demonstrations=())
    chosen = LanguageModelGenerator(llm(), demonstrations=OfTheQuestion())
    given = LanguageModelGenerator(llm(), demonstrations=OfTheQuestion().choose(QUESTION))
    shown = []
    for generator in (own, none, chosen, given):
        generator.generate(QUESTION, FOUND)
        shown.append(asked(server))
    assert [text.count("<question>") for text in shown] == [3, 1, 2, 2]
    assert shown[2] == shown[3]
    assert len({generator.signature for generator in (own, none, chosen, given)}) == 4
    assert "of-the-question" in chosen.signature


def test_the_selector_gets_the_pubmed_ids_of_the_evidence(server: ScriptedServer, llm: Callable[..., LLM]):
    server.default = reply(GOOD)
    hits = [hit.model_copy(update={"document": hit.document.model_copy(update={"pmid": "77"})}) for hit in FOUND[:1]]
    LanguageModelGenerator(llm(), demonstrations=OfTheQuestion()).generate(QUESTION, hits)
    assert "Not: Does it help? 77" in asked(server)


class NoneLeft(OfTheQuestion):
    def choose(self, question: Question, evidence_pmids: Collection[str] = ()) -> tuple[Demonstration, ...]:
        raise InputError("expected 2 demonstrations; found 1")


def test_a_question_that_no_demonstration_is_left_for_is_a_failed_answer(llm: Callable[..., LLM]):
    answer = LanguageModelGenerator(llm(), demonstrations=NoneLeft()).generate(QUESTION, FOUND)
    assert (answer.failed, answer.text) == ("expected 2 demonstrations; found 1", "")


def test_the_signature_tells_prompt_model_and_how_it_is_asked(llm: Callable[..., LLM]):
    generator = LanguageModelGenerator(llm(), seed=3, grammar="on", budget=8192)
    assert generator.signature.startswith(load_prompt("vericite").signature)
    for part in ("small", "temperature=0.4", "top_p=0.9", "seed=3", "grammar.v2", "budget=8192"):
        assert part in generator.signature


def test_a_grammar_is_sent_where_it_is_asked_for_and_lists_only_what_is_shown(
    server: ScriptedServer, llm: Callable[..., LLM]
):
    server.default = reply(GOOD)
    hits = evidence("It helped.", "A forged result.", "It harmed nobody.", retracted=[2])
    LanguageModelGenerator(llm()).generate(QUESTION, hits)
    assert "grammar" not in server.arrivals[-1].body
    LanguageModelGenerator(llm(), grammar="on").generate(QUESTION, hits)
    assert 'number ::= "1" | "3"' in server.arrivals[-1].body["grammar"]


def test_a_grammar_for_a_model_without_support_is_refused_at_once(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    with pytest.raises(InputError, match="grammar"):
        LanguageModelGenerator(LLM("openai:gpt-4o-mini"), grammar="on")


def test_demonstrations_for_a_prompt_that_cannot_show_them_are_refused(llm: Callable[..., LLM]):
    prompt = load_prompt("vanilla")
    bare = type(prompt)(prompt.name, prompt.about, prompt.system, "{question} {documents}")
    with pytest.raises(InputError, match="demonstration"):
        LanguageModelGenerator(llm(), bare, demonstrations=OfTheQuestion())
