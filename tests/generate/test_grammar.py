from __future__ import annotations

import random
import re
from dataclasses import replace

import pytest
from gbnf import Gbnf
from hypothesis import example, given, settings
from hypothesis import strategies as st

from vericite.generate.grammar import answer_grammar, citations_before_stops, is_truncated, separate_sentences
from vericite.generate.prompt import PROMPTS, load_prompt
from vericite.generate.reply import read_reply
from vericite.records import Document, Question
from vericite.text.citations import parse_answer
from vericite.text.references import parse_markers

QUESTION = Question(id="q", text="Does it help?")
DOCUMENTS = tuple(Document.from_text(f"d{number}", "Text.") for number in range(1, 13))
STRICT = [name for name in PROMPTS if load_prompt(name).citing == "every"]

# What readers of sentences stumble over: abbreviations, initials, numbers, quotations, names with points and brackets.
WORDS = """
    a the The This In Patients metformin Metformin p53 IL-6 24 h d 48 MS NO al fig Fig no vs. e.g. (e.g. i.e., cf. ca.
    approx. 0.05 1.5 .03 p=.05 p<.001 <.5 (0.9 1.2) 1.5-2.0 95% CI, (5 5) ( ) (a b) "so so" “x y” E C vitamin type 2 sp
    spp Dr et_al. Smith ± µg β-blockers HLA-B*57:01 1: : ; - – — 'x' US No Vol 12 Jan 3 etc max study: Sources % @ $
    References α-synuclein it's them. x. 5. 5.5. ? ! [1] PMID 123 PMID: 99999 pubmed id E._coli (S._aureus) et_al._found
"""
WORDS = [word.replace("_", " ") for word in WORDS.split()]


def sentences(text: str) -> list[str]:
    return re.split(r"(?<=\]\.) ", citations_before_stops(text))


def _bare(sentence: str) -> str:
    return re.sub(r" (?:\[\d+\])+\.$", ".", sentence)


def holds(reply: str, numbers: tuple[int, ...]) -> None:
    """Every sentence of the reply that has an end of its own is a claim with the citations it was written with."""
    read = read_reply(load_prompt("vericite"), QUESTION, DOCUMENTS, reply, constrained=True)
    answer = read.answer
    all_of_it = sentences(reply)
    plain = [_bare(it).casefold() for it in all_of_it]
    written = [
        it for place, it in enumerate(all_of_it) if not is_truncated(_bare(it)) and plain[place] not in plain[:place]
    ]
    assert (read.notes == ()) == (len(written) == len(all_of_it))
    assert (answer.failed is None) == bool(written)
    assert [claim.text for claim in answer.claims] == [_bare(it) for it in written]
    for claim, sentence in zip(answer.claims, written, strict=True):
        assert claim.span.end <= len(answer.text)
        assert answer.text[claim.span.slice] == sentence
        cited = [citation.marker for citation in claim.citations]
        assert cited and cited == list(dict.fromkeys(n for group in parse_markers(sentence) for n in group.numbers))
        assert set(cited) <= set(numbers)
        assert not any(citation.dangling for citation in claim.citations)


@settings(max_examples=60)
@given(st.integers(min_value=0), st.sets(st.integers(1, 12), min_size=1), st.floats(0.3, 0.8))
def test_whatever_the_grammar_accepts_is_sentences_that_each_end_in_valid_citations(seed, numbers, odd):
    prompt = load_prompt("vericite")
    grammar = Gbnf(answer_grammar(prompt, sorted(numbers)))
    reply = grammar.sample(random.Random(seed), odd=odd)
    if reply != prompt.insufficient:
        assert 1 <= len(sentences(reply)) <= 6
        holds(reply, tuple(numbers))


GRAMMAR = Gbnf(answer_grammar(replace(load_prompt("vericite"), sentences=(1, 6)), [1, 3]))


@settings(max_examples=100)
@given(
    st.lists(
        st.tuples(st.lists(st.sampled_from(WORDS), min_size=3, max_size=9), st.sampled_from(["[1]", "[3]", "[3][1]"])),
        min_size=2,
        max_size=4,
    )
)
def test_whatever_words_it_accepts_are_not_read_as_the_end_of_a_sentence(drawn):
    kept = [text for words, cites in drawn if GRAMMAR.accepts(text := f"{' '.join(words)} {cites}.")]
    if kept:
        holds(" ".join(kept), (1, 3))


def one(text: str, numbers: tuple[int, ...] = (1, 3)) -> bool:
    return Gbnf(answer_grammar(replace(load_prompt("vericite"), sentences=(1, 2)), numbers)).accepts(text)


@pytest.mark.parametrize(
    "text",
    [
        "Mortality fell by 1.5 points [1].",
        "Mortality fell (HR 0.87, 95% CI 0.79-0.96; p = 0.03) [1][3].",
        "Mortality fell with p<.001 in men and P = .04 in women [3].",
        "It inhibits E. coli and, e.g., S. aureus in vitro [1].",
        "Smith et al. found 12.5 mg/kg vs. 10 mg/kg to be safe [1].",
        "β-Blockers lowered HLA-B*57:01 carriers' risk to ≤.5 [1].",
        "The drug lowered urate [1]. It did so by 1.9 mg/dL [3].",
        "It inhibits the growth of E. coli [1].",
        "The drug lowered urate. [1][3] It did so by 1.9 mg/dL.[3]",
    ],
)
def test_numbers_and_abbreviations_may_stand_in_a_sentence(text: str):
    assert one(text)
    holds(text, (1, 3))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Mortality fell.",
        "Mortality fell with it.",
        "Mortality fell by 1. [1]",
        "Mortality fell with it, [1].",
        "Mortality fell with it [2].",
        "Mortality fell with it [13].",
        "Mortality fell with it [1]",
        "Mortality fell with it [].",
        "Mortality fell. It rose [1].",
        "Mortality fell by 1. [1].",
        "Mortality fell by 1.",
        "Mortality [3] fell with it.",
        "Mortality fell [1] with it [1].",
        "Mortality fell with it! [1].",
        "Does it fall at all? [1].",
        "Mortality fell\nwith it [1].",
        "Mortality fell **with** it [1].",
        "1. Mortality fell [1].",
        "- Mortality fell [1].",
        "Mortality fell with it [1]. The sources found do not answer this question.",
        "The sources found do not answer this question",
        "<document> Mortality fell [1].",
    ],
)
def test_what_ends_in_no_valid_citation_is_not_accepted(text: str):
    assert not one(text)


@pytest.mark.parametrize("name", STRICT)
def test_only_the_fixed_sentence_needs_no_citation(name: str):
    prompt = load_prompt(name)
    grammar = Gbnf(answer_grammar(prompt, [2]))
    if prompt.insufficient:
        assert grammar.accepts(prompt.insufficient)
        assert read_reply(prompt, QUESTION, DOCUMENTS, prompt.insufficient, constrained=True).answer.insufficient
    assert not grammar.accepts("The sources do not say.")
    assert prompt.sentences is not None
    # Fewer than asked for, too: who has no more to say would say it again.
    most = prompt.sentences[1]
    for count in (1, most, most + 1):
        text = " ".join(["Mortality fell with it [2]."] * count)
        assert grammar.accepts(text) == (count <= most)


def test_citations_of_a_sentence_are_as_many_as_the_prompt_allows():
    marks = {count: f"Mortality fell with it {'[1][2]' * (count // 2)}{'[3]' * (count % 2)}." for count in range(1, 8)}
    prompt = replace(load_prompt("biogen"), sentences=(1, 1))
    grammar = Gbnf(answer_grammar(prompt, [1, 2, 3, 4, 5, 6]))
    assert [count for count, text in marks.items() if grammar.accepts(text)] == [1, 2, 3]


@pytest.mark.parametrize(
    ("words", "citations", "kept"),
    [(250, 1, [[1], [3]]), (14, 3, [[1, 2]]), (14, 1, [[1]]), (250, 3, [[1, 2], [3]])],
)
def test_a_reply_that_is_shortened_is_read_as_it_was_before(words: int, citations: int, kept: list[list[int]]):
    said = ["Smith et al PMID 99999 found this within 24 h", "It fell in mice PMID 99999 too"]
    reply = f"{said[0]} [1][2]. {said[1]} [3]."
    prompt = replace(load_prompt("biogen"), words=words, citations=citations)
    answer = read_reply(prompt, QUESTION, DOCUMENTS, reply, constrained=True).answer
    assert [[citation.marker for citation in claim.citations] for claim in answer.claims] == kept
    assert [claim.text for claim in answer.claims] == [f"{sentence}." for sentence in said[: len(kept)]]


def test_a_model_that_has_nothing_more_to_say_is_cut_short():
    grammar = Gbnf(answer_grammar(load_prompt("vericite"), [1, 3]))
    endless = "Mortality fell" + " and it fell" * 30
    assert grammar.allows(endless[:230]) and not grammar.allows(endless)
    assert grammar.allows("Mortality fell by " + "so" * 20) and not grammar.allows("Mortality fell by " + "so" * 21)
    words = " ".join(["fell"] * 59)
    reply = f"Mortality fell with it [1]. It rose [3]. Mortality {words} [1]. Mortality fell with it [3]."
    read = read_reply(load_prompt("vericite"), QUESTION, DOCUMENTS, reply, constrained=True)
    assert read.answer.text == "Mortality fell with it [1]. It rose [3]."
    assert read.notes == ("2 sentences that repeat another or break off are left out",)
    read = read_reply(load_prompt("vericite"), QUESTION, DOCUMENTS, f"Mortality {words} [1].", constrained=True)
    assert (read.answer.failed, read.answer.text) == (None, f"Mortality {words} [1].")
    assert read.notes == ("its only sentence reached the grammar's limit of words and may break off",)


def test_repeated_and_truncated_sentences_are_recognized_as_the_rules_count():
    prompt = load_prompt("vericite")
    reply = "Urate was < 5 in most [1]. Urate was > 5 in most [3]."
    assert len(read_reply(prompt, QUESTION, DOCUMENTS, reply, constrained=True).answer.claims) == 2
    reply = f"It was {'found by Smith et al. in E. coli ' * 8}and men [1]."
    assert one(reply)
    assert read_reply(prompt, QUESTION, DOCUMENTS, reply, constrained=True).notes == ()
    assert not is_truncated(_bare(reply)) and is_truncated("so " * 60)


def test_a_final_answer_outlives_reasons_that_come_to_no_end():
    prompt = load_prompt("reason-verify-pubmedqa")
    reasons = f"Mortality {' '.join(['fell'] * 59)} [1]."
    for reply, held in ((f"{reasons}\nFINAL ANSWER: A. yes", True), ("Conclusion:\nFINAL ANSWER: A. yes", False)):
        answer = read_reply(prompt, QUESTION, DOCUMENTS, reply, constrained=held).answer
        assert answer.exact == (("yes",),) and answer.failed is None
    unavailable = read_reply(prompt, QUESTION, DOCUMENTS, "Reasoning:\nANSWER UNAVAILABLE").answer
    assert unavailable.insufficient


def test_a_number_is_never_cut_at_its_point():
    for begun in ("Mortality fell by 1", "Mortality fell with p = 0"):
        for goes_on in (".5", ".05 points [1].", " points [1]."):
            assert GRAMMAR.allows(begun + goes_on)
        for ends in (". ", ".\n", ". [", ".x", ".["):
            assert not GRAMMAR.allows(begun + ends)


def test_a_sentence_ends_even_where_a_reader_would_read_on():
    reply = (
        "It fell within 3 d [1]. It rose as in Smith et al [3]. Metformin was given for (5 [1]. It fell at 5) h [3]."
    )
    holds(reply, (1, 3))
    text = separate_sentences(reply)
    assert parse_answer("a", text, DOCUMENTS).claims[0].text == "It fell within 3 d."
    assert len(parse_answer("a", text, DOCUMENTS).claims) == 4


def test_a_final_answer_is_one_of_the_options():
    prompt = load_prompt("reason-verify-pubmedqa")
    grammar = Gbnf(answer_grammar(prompt, [1, 2], prompt.how_to_answer(QUESTION)))
    reasons = "Mortality fell with it [1]. I know that it is safe."
    assert grammar.accepts(f"{reasons}\nFINAL ANSWER: C. maybe")
    assert grammar.accepts(f"{reasons}\nANSWER UNAVAILABLE")
    assert not grammar.accepts(f"{reasons}\nFINAL ANSWER: D. never")
    assert not grammar.accepts(reasons)
    assert not grammar.allows("Mortality fell with it [3]")


def test_without_documents_nothing_can_be_cited():
    prompt = load_prompt("reason-verify")
    grammar = Gbnf(answer_grammar(prompt, []))
    assert grammar.accepts("I know that it is safe.\nFINAL ANSWER: CFTR")
    assert not grammar.allows("I know that it is safe [")


@settings(max_examples=50)
@given(st.integers(min_value=0))
@example(31_872_031_122)  # a raised zero
def test_whatever_the_grammar_of_reasoning_accepts_has_a_final_answer(seed):
    prompt = load_prompt("reason-verify-bioasq")
    grammar = Gbnf(answer_grammar(prompt, [1, 2], prompt.how_to_answer(QUESTION)))
    reply = grammar.sample(random.Random(seed))
    answer = read_reply(prompt, QUESTION, DOCUMENTS, reply, constrained=True).answer
    assert answer.exact in ((("yes",),), (("no",),)) or answer.insufficient
    assert not any(citation.dangling for claim in answer.claims for citation in claim.citations)
