"""Atomic statements: a sentence cut where one clause ends and another that can stand alone begins.

After Reason and Verify: cuts at sentence ends, clause markers and list delimiters; fragments are merged back.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from vericite.records import Span
from vericite.text.clauses import Clauses, is_fragment
from vericite.text.sentences import split_sentences

STATEMENTS = "statements.v2"
"""Signature of the rules; it changes whenever they would cut some text otherwise."""


_LIST_MARK = re.compile(r"\((?P<a>\d{1,2}|[ivx]{1,4}|[a-h])\)|(?<![^\s(])(?P<b>\d{1,2}|[ivx]{1,4}|[a-h])\)(?=\s)")
_ORDERS = (
    tuple(map(str, range(1, 21))),
    ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x"),
    tuple("abcdefgh"),
)
_LEADING = re.compile(
    r"(?:[\s,;]+|(?:[-*+•‣◦▪●·–—]|\(?\d{1,2}[.)]|\((?:[ivx]{1,4}|[a-h])\)|(?:[ivx]{1,4}|[a-h])\)|#{1,6})\s+)*"
)


def split_statements(text: str) -> tuple[Span, ...]:
    """The atomic statements of a text, in order.

    A statement keeps the clause marker that opens it ("whereas ...", "and ...") and loses bullets, list
    numbers and a comma or semicolon at its end. What cannot stand alone, because it has under three words, no
    verb or only a pronoun for a subject, stays with the clause before, or after if it comes first.
    Every word lies in exactly one statement; the time is linear.
    """
    pieces: list[Span] = []
    waiting = False  # the only piece so far is a fragment: what comes next joins it
    for sentence in split_sentences(text):
        for index, piece in enumerate(_clauses(text, sentence)):
            fragment = is_fragment(text[piece.slice], opens=index == 0)
            if pieces and (fragment or waiting):
                pieces[-1] = Span(start=pieces[-1].start, end=piece.end)
            else:
                pieces.append(piece)
            waiting = fragment and (waiting or (len(pieces) == 1 and pieces[0] == piece))
    return tuple(piece for piece in pieces if any(map(str.isalnum, text[piece.slice])))


def _clauses(text: str, sentence: Span) -> Iterator[Span]:
    """The parts between the cuts in one sentence."""
    body = text[sentence.slice]
    marks = _list_marks(body)
    clauses = Clauses(body, {position for start, end in marks for position in range(start, end)})
    items = (clauses.item(start) for start, _ in marks)
    cuts = sorted({0, *clauses.cuts(), *(item for item in items if item is not None), len(body)})
    for start, end in pairwise(cuts):
        lead = _LEADING.match(body, start, end)
        start = lead.end() if lead else start
        end = start + len(body[start:end].rstrip(" \t\r\n,;"))
        if start < end:
            yield Span(start=start, end=end).shifted(sentence.start)


def _list_marks(body: str) -> list[tuple[int, int]]:
    """Where (i), (ii) or 1), 2) number the parts of a sentence; one number alone counts for nothing."""
    found = [(match.start(), match.end(), match["a"] or match["b"]) for match in _LIST_MARK.finditer(body)]
    best: list[tuple[int, int]] = []
    for order in _ORDERS:
        run: list[tuple[int, int]] = []
        for start, end, name in found:
            if len(run) < len(order) and name == order[len(run)]:
                run.append((start, end))
        best = max(best, run, key=len)
    return best if len(best) > 1 else []


_DEPENDENT = re.compile(
    r"""[\s"'“‘(\[*•-]*(?:
        (?:it|they|he|she|this|these|those|its|their|his|her|such|which|whose|who)\b
        | both\b(?!(?:\s[\w-]+){1,5}\sand\b)
        | that\s(?:study|trial|is|was|said|being|effect|finding|result|group)\b
        | (?:however|therefore|thus|hence|moreover|furthermore|additionally|also|consequently|accordingly
            |conversely|similarly|likewise|nevertheless|nonetheless|instead|otherwise|then|indeed|meanwhile
            |subsequently|besides|thereby|thereafter|afterwards|secondly|thirdly|lastly|finally|importantly
            |interestingly|notably|surprisingly|specifically|alternatively|together|but|and|or|so|yet|nor
            |again)[\s,]
        | (?:first|second|third|next)\s?,
        | (?:in|by)\s(?:addition|contrast|comparison|turn|particular|fact|other\swords)\s?,
        | (?:as\sa\s(?:result|consequence)|on\sthe\s(?:other\shand|contrary)|for\s(?:example|instance)
            |that\sis|at\sthe\ssame\stime|to\sthis\send|taken\stogether|even\sso)\s?,
        | (?:in|on|at|of|for|from|with|by|to|among|after|before|during|under|within|through|following|despite
            |given|based\son|due\sto|because\sof|according\sto|unlike|like|using)\s(?:all\s|both\s)?
            (?:this|these|those|such|them|it|their|its)\b
        | (?:the\s)?(?:all|most|some|many|one|two|each|none|neither|either|both|half)\sof\s
            (?:these|those|them|this|which)\b
        | the\s(?:former|latter|same|others?|above|aforementioned|remaining)\b
        | (?:another|others?)\b
    )""",
    re.IGNORECASE | re.VERBOSE,
)
# "It is known that aspirin ..." points nowhere.
_IMPERSONAL = re.compile(
    r"it\s(?:is|was|has\sbeen|remains)\s(?:\w+ly\s|now\s|also\s|well\s|not\s)?\w+\s(?:that|whether)\b",
    re.IGNORECASE,
)


def looks_dependent(text: str) -> bool:
    """Whether a sentence opens with a word that points outside it: "This suggests", "However, they".

    Such a sentence says too little on its own to be quoted. Only the opening is looked at.
    """
    return _DEPENDENT.match(text) is not None and not _IMPERSONAL.match(text)
