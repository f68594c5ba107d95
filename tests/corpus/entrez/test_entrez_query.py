from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vericite.corpus.entrez.results import (
    STOPWORDS,
    acronyms,
    all_in_title_or_abstract,
    as_asked,
    content_words,
    mapped,
    query_words,
)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Does IL-6 lower TNF-α in Crohn's disease?", ["Does", "IL-6", "lower", "TNF-α", "in", "Crohn's", "disease"]),
        ("Crohn\u2019s \u2013 IL\u20116", ["Crohn's", "IL-6"]),
        ("0.5 mg, e.g. daily.", ["0.5", "mg", "e.g", "daily"]),
        ("ﬁbrosis ＣＤ４", ["fibrosis", "CD4"]),
        ("stroke Stroke stroke", ["stroke", "Stroke", "stroke"]),
        ("什么是阿司匹林", ["什么是阿司匹林"]),
        ("", []),
        ("?!… []", []),
    ],
)
def test_words_are_as_pubmed_knows_them(text: str, words: list[str]):
    assert list(query_words(text)) == words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("aspirin AND stroke OR NOT gout", ["aspirin", "stroke", "gout"]),
        ("aspirin and not stroke", ["aspirin", "stroke"]),
        ("aspirin[au] OR 1[uid]", ["aspirin", "au", "1", "uid"]),
        ('"heart attack" (stroke)', ["heart", "attack", "stroke"]),
        ("asp* x?y 2010:2015[dp] #1 a~2 x/y", ["asp", "x", "y", "2010", "2015", "dp", "1", "2"]),
        ("［tiab］ ＊ ＂", ["tiab"]),
        ("--x -y z-", ["x", "y", "z"]),
        ("stroke Stroke STROKE", ["stroke"]),
        ("the use of THE", []),
    ],
)
def test_neither_syntax_nor_stopwords_are_looked_up(text: str, words: list[str]):
    assert list(content_words(query_words(text))) == words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("ALL treatment in adults: CAN or IT", ["all", "treatment", "adults", "can", "it"]),
        ("Is MG in an OR rare AND mild?", ["mg", "rare", "mild"]),
        ("Vitamin A, if I may", ["vitamin"]),
        ("ALL TREATMENT IN ADULTS", ["treatment", "adults"]),
    ],
)
def test_a_stopword_in_capitals_is_an_acronym_unless_all_is_in_capitals(text: str, words: list[str]):
    assert list(content_words(query_words(text), acronyms(query_words(text)))) == words


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("Which drugs do not cause QT prolongation?", "Which drugs do not cause QT prolongation"),
        ("The cat and the Dog OR NOT the AND-gate", "The cat and the Dog or not the and-gate"),
        ('"Melatonin*"[au] AND (jet:lag)', "Melatonin au and jet lag"),
        ("ORAL ANDROGENS NOTCH", "ORAL ANDROGENS NOTCH"),
    ],
)
def test_a_question_as_asked_has_all_its_words_and_no_operator(text: str, asked: str):
    assert as_asked(query_words(text)) == asked


def test_overlong_words_are_left_out():
    assert query_words("aspirin " + "acgt" * 2_000) == ("aspirin",)


@given(st.text())
def test_no_word_holds_anything_that_means_something_in_a_query(text: str):
    words = query_words(text)
    assert not re.search(r"[\[\]()\"*:/~#|&+,;?\s]", "".join(words))
    assert "" not in words
    looked_up = content_words(words, acronyms(words))
    assert not {"and", "or", "not", "AND", "OR", "NOT"} & set(looked_up)
    assert len(set(looked_up)) == len(looked_up)


@given(st.lists(st.sampled_from('aspirin AND OR NOT And [tiab] ( ) " * stroke [au]'.split())).map(" ".join))
def test_queries_have_the_syntax_that_is_ours_and_no_other(text: str):
    words = query_words(text)
    looked_up = content_words(words, acronyms(words))
    tagged = all_in_title_or_abstract(looked_up)
    assert tagged == "".join(f"{word}[tiab] AND " for word in looked_up) + "hasabstract"
    assert tagged.count("[") == len(looked_up)
    assert mapped(looked_up) == f"({' '.join(looked_up)}) AND hasabstract"
    assert as_asked(words) == " ".join(words).lower()


def test_the_stopwords_are_words():
    assert all(query_words(word) == (word,) for word in STOPWORDS)
    assert len(STOPWORDS) > 120
