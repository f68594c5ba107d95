"""The grammar that forces a language model to end sentences in citations, and the repair of its side effects."""

from __future__ import annotations

import re
from collections.abc import Sequence

from vericite.generate.prompt import AnswerPrompt
from vericite.text.sentences import split_sentences

GRAMMAR = "grammar.v2"
"""Signature of the rules."""


_MOST_WORDS = 60
_MOST_LETTERS = 40
_MOST_CITATIONS = 5
_FREE_SENTENCES = 12
# What may stand in a word, except ASCII digits, points, brackets and what changes the meaning of the next character.
_MARKS = "A-Za-z%&'\"),+/:;@$"
_LETTERS = "\u00a1-\u00ac\u00ae-\u00b0\u00b2-\u02af\u0386-\u03ff"
_SIGNS = "\u2010-\u2012\u2014\u2018\u2019\u201c\u201d\u2030\u2032\u2033\u2070-\u2089\u2103\u2190-\u2193"
_MATHEMATICS = "\u2200-\u2211\u2213-\u2247\u2249-\u2263\u2266-\u22ff"
_WORDED = f"{_MARKS}{_LETTERS}{_SIGNS}{_MATHEMATICS}"
_BEFORE_POINT = "0-9<>=≤≥±~≈(–−-"
# What a sentence may end in, in addition to digits: no comma, colon or opening bracket.
_LAST = f"A-Za-z%'\"){_LETTERS}\u2019\u201d\u2030\u2032\u2033\u2103"
# w: a word, of h and more u; d: what a point may follow, if a digit follows the point; n: the same, with a digit last;
# "**" would be bold type. A sentence's last word is lettered or numbered: a point after a digit may be a decimal point.
_WORDS = rf"""
w ::= h u{{0,{_MOST_LETTERS - 1}}}
h ::= [{_WORDED}] | d | "." [0-9] point{{0,3}}
u ::= [{_WORDED}] | d | "*" [A-Za-z] | "*" [0-9] point{{0,3}}
d ::= [{_BEFORE_POINT}] point{{0,3}}
n ::= [0-9] | [{_BEFORE_POINT}] point{{1,3}}
point ::= "." [0-9]
lettered ::= (h u{{0,{_MOST_LETTERS - 2}}})? [{_LAST}] | [A-Z] ". " [a-z]{{3,{_MOST_LETTERS}}}
numbered ::= (h u{{0,{_MOST_LETTERS - 2}}})? n | "." [0-9]
first ::= [A-Za-zÀ-ÖØ-öø-ɏΑ-Ωα-ω] u{{0,{_MOST_LETTERS - 1}}} | genus
genus ::= [A-Z] ". " [a-z]{{3,{_MOST_LETTERS}}} [,;)]?
short ::= "(e.g." ","? | "(i.e." ","? | "e.g." ","? | "i.e." ","? | "vs." | "cf." | "ca." | "approx."
others ::= "et al." ("," | " " [a-z] u{{0,{_MOST_LETTERS - 1}}})
word ::= w | "("? genus | short | others
"""


_STOPPED = re.compile(r"(?<=\]\.) ")
_CITES = re.compile(r" (?:\[\d+\])+\.\Z")
# What the rules count as one word although it has a space: "E. coli", "et al.", "et al. found".
_ONE_WORD = re.compile(r"(?<!\S)(\(?[A-Z]\.(?= [a-z]{3})|et(?= al\.)|al\.(?= [a-z])) ")
_STOP_FIRST = re.compile(r"\. ?((?:\[\d+\])+)")


def answer_grammar(
    prompt: AnswerPrompt, numbers: Sequence[int], final: str | None = None, may_refuse: bool = True
) -> str:
    """Build the grammar of an answer to a prompt.

    Args:
        prompt: Sets the maximum number of sentences, how they cite, and the refusal.
        numbers: Numbers of the documents that may be cited.
        final: The options of the final answer, one per line; None allows any words.
        may_refuse: Whether the prompt's refusal is allowed in place of an answer.
    """
    # A model with less to say than the minimum would repeat itself, so there is no minimum.
    most = prompt.sentences[1] if prompt.sentences else _FREE_SENTENCES
    count = min(len(numbers), prompt.citations or _MOST_CITATIONS)
    free = prompt.citing != "every"
    answer = f"sentence (gap sentence){{0,{most - 1}}}"
    if prompt.final_answer:
        answer += ' "\\n" final'
    ways = [answer] if prompt.insufficient is None or not may_refuse else [_literal(prompt.insufficient), answer]
    rules = [
        f"root ::= {' | '.join(ways)}",
        'gap ::= " " | "\\n"' if free else 'gap ::= " "',
        f'sentence ::= first (" " word){{1,{_MOST_WORDS - 2}}} " " end',
        *_ending(numbers, count, free),
    ]
    if prompt.final_answer:
        rules += ['final ::= "FINAL ANSWER: " chosen | "ANSWER UNAVAILABLE"', f"chosen ::= {_chosen(final)}"]
    return "\n".join(rules) + _WORDS


def _ending(numbers: Sequence[int], count: int, free: bool) -> list[str]:
    """Return the rules of a sentence's last word and its citations."""
    if not numbers:
        return ['end ::= (lettered | numbered) "."']
    bare = ' | lettered "." | numbered "."' if free else ""
    marker = " | ".join(f'"{number}"' for number in numbers)
    return [
        f'end ::= lettered " " cites "." | lettered "." " "? cites | numbered " " cites "."{bare}',
        f'cites ::= ("[" number "]"){{1,{count}}}',
        f"number ::= {marker}",
    ]


def citations_before_stops(answer: str) -> str:
    """Move every full stop after the citations, in an answer of the grammar or its beginning."""
    return _STOP_FIRST.sub(r" \1.", answer)


def is_truncated(sentence: str) -> bool:
    """Whether a sentence, without its markers, has the maximum length of the grammar: it was then cut off."""
    return len(_ONE_WORD.sub(r"\1", sentence).split()) >= _MOST_WORDS


def separate_sentences(answer: str) -> str:
    """Separate the sentences of an answer of the grammar, so that a parser finds their ends.

    A sentence that ends in "24 h" or "of Smith et al" would be joined with the next one; a blank line separates them.
    """
    sentences = _STOPPED.split(answer.strip())
    bare = [_CITES.sub(".", sentence) for sentence in sentences]
    gaps = [" "] * (len(sentences) - 1)
    while run_on := _run_on(bare, gaps):
        for place in run_on:
            gaps[place] = "\n\n"
    return "".join(f"{sentence}{gap}" for sentence, gap in zip(sentences, [*gaps, ""], strict=True))


def _run_on(bare: Sequence[str], gaps: Sequence[str]) -> list[int]:
    """Return the gaps at which a parser would not see the end of a sentence."""
    text, ends = bare[0], [len(bare[0])]
    for gap, sentence in zip(gaps, bare[1:], strict=True):
        text += gap + sentence
        ends.append(len(text))
    seen = {span.end for span in split_sentences(text)}
    return [place for place, end in enumerate(ends[:-1]) if end not in seen]


def _chosen(final: str | None) -> str:
    if final is None:
        return "[^\\n\\[\\]] [^\\n\\[\\]]{0,200}"
    return " | ".join(map(_literal, final.splitlines()))


def _literal(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
