from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vericite.corpus.entrez.query import STOPWORDS, all_in_title_or_abstract, mapped, query_words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Does IL-6 lower TNF-α in Crohn's disease?", ["does", "il-6", "lower", "tnf-α", "in", "crohn's", "disease"]),
        ("Crohn\u2019s \u2013 IL\u20116", ["crohn's", "il-6"]),
        ("0.5 mg, e.g. daily.", ["0.5", "mg", "e.g", "daily"]),
        ("ﬁbrosis ＣＤ４", ["fibrosis", "cd4"]),
        ("stroke Stroke STROKE", ["stroke"]),
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
        ("asp* as?in 2010:2015[dp] #1 a~2 x/y", ["asp", "as", "in", "2010", "2015", "dp", "1", "a", "2", "x", "y"]),
        ("［tiab］ ＊ ＂", ["tiab"]),
        ("--x -y z-", ["x", "y", "z"]),
    ],
)
def test_syntax_in_a_text_is_none_in_its_words(text: str, words: list[str]):
    assert list(query_words(text)) == words


def test_what_is_no_word_for_its_length_is_left_out():
    assert query_words("aspirin " + "acgt" * 2_000) == ("aspirin",)


@given(st.text())
def test_no_word_holds_anything_that_means_something_in_a_query(text: str):
    words = query_words(text)
    assert not re.search(r"[\[\]()\"*:/~#|&+,;?\s]", "".join(words))
    assert not {"and", "or", "not", ""} & set(words)
    assert len(set(words)) == len(words)


@given(st.lists(st.sampled_from('aspirin AND OR NOT [tiab] ( ) " * stroke [au]'.split())).map(" ".join))
def test_queries_have_the_syntax_that_is_ours_and_no_other(text: str):
    words = query_words(text)
    tagged = all_in_title_or_abstract(words)
    assert tagged == "".join(f"{word}[tiab] AND " for word in words) + "hasabstract"
    assert tagged.count("[") == len(words)
    assert mapped(words) == f"({' '.join(words)}) AND hasabstract"


def test_the_stopwords_are_words():
    assert all(query_words(word) == (word,) for word in STOPWORDS - {"and", "or", "not"})
    assert len(STOPWORDS) > 120
