"""Atomic statements: a sentence is cut where one clause ends and another that can stand alone begins.

After Reason and Verify: cuts at sentence ends, clause markers and list delimiters; fragments are merged back.
"""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from vericite.records import Span
from vericite.text.sentences import split_sentences

_LISTS: dict[str, str] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _listed(name: str) -> frozenset[str]:
    return _words(_LISTS[name])


_AUXILIARIES = _listed("auxiliaries")
_BE = _AUXILIARIES | _words("be been being having get gets getting not never also only")
_VERBS = _listed("verbs")
_NOUN_VERBS = _listed("noun_verbs")
_NOUNS = _listed("nouns")
_ADJECTIVAL = _listed("adjectival")
_DOUBLED = _words("control occur drop")
_IRREGULAR = _words("led found made held kept lost met brought bound known seen given taken shown grown arisen put")
_CLEAR_PASTS = _listed("clear_pasts")
_REPORTING = _listed("reporting")
_PREPOSITIONS = _listed("prepositions")
_DETERMINERS = _listed("determiners")
_SUBORDINATORS = _words("that which who whom whose whether where when if because although whereas while how why")
_LOOSE_SUBORDINATORS = _SUBORDINATORS | _words("after before until unless once than as since")
_NOMINAL = _words("how whether what why")
_ADVERBS = _words("not well often still already then even only just very quite less best better worse there here")
_COORDINATORS = _words("and or nor but and/or")
_STANDALONE_PRONOUNS = _words("it they he she them which who that")
_BARE_PRONOUNS = _words("it they he she which who whose whom that both neither either none")
_DEMONSTRATIVES = _words("this these those such")
_CONNECTIVES = _words("however therefore thus hence consequently moreover furthermore and but so or also instead")
_SUBORDINATE_OPENERS = _words("because although though whereas while since")
_CONSEQUENCES = _words("therefore thus hence consequently however nevertheless")
_INFERRING = _listed("inferring")
_OPPOSING = _words("but whereas although though because while since")
_NO_RESULT = _words("that far much many few little long as to called")
_STATES = _words("in on at under within awake asleep alive pregnant hospitalised hospitalized there still")
_INFERRED = _words("suggesting indicating implying demonstrating showing meaning")
_PAIRED = _words("between both either")


def _third_person(verb: str) -> str:
    if verb.endswith(("s", "x", "ch", "sh", "go")):
        return verb + "es"
    return verb[:-1] + "ies" if verb.endswith("y") and verb[-2] not in "aeo" else verb + "s"


def _past(verb: str) -> str:
    if verb.endswith("e"):
        return verb + "d"
    if verb.endswith("y") and verb[-2] not in "aeo":
        return verb[:-1] + "ied"
    return verb + verb[-1] + "ed" if verb in _DOUBLED else verb + "ed"


_THIRD = frozenset(map(_third_person, _VERBS)) - {"analyses"}
_NOUN_THIRD = frozenset(map(_third_person, _NOUN_VERBS))
_PASTS = frozenset(map(_past, _VERBS | _NOUN_VERBS | _NOUNS)) | _IRREGULAR
_VERB_FORMS = _AUXILIARIES | _VERBS | _THIRD | _NOUN_THIRD | _PASTS | _CLEAR_PASTS | _words("be been being")
_VERB_ENDING = re.compile(r".{3,}(?:ing|ed|ates|izes|ises|ifies|lyses|lyzes)\Z")

_TOKEN = re.compile(r"[^\W_]+(?:[-'’./][^\W_]+)*|[^\s\w]|_")
_SUBJECT_REACH = 12
_SHORT = 8  # words; a shorter sentence without a known verb is a fragment


@dataclass(frozen=True, slots=True)
class Token:
    """A word or a punctuation sign, and its place."""

    start: int
    end: int
    lower: str

    @property
    def word(self) -> bool:
        """Whether it is not punctuation."""
        return self.lower[0].isalnum()


class Clauses:
    """The tokens of a sentence, and what they say about its clauses."""

    def __init__(self, body: str, ignored: set[int]) -> None:
        found = [match for match in _TOKEN.finditer(body) if match.start() not in ignored]
        self.tokens = [Token(match.start(), match.end(), match[0].lower().replace("’", "'")) for match in found]
        self.inside = _bracketed(self.tokens)
        self.finite = [index for index in range(len(self.tokens)) if self._is_finite(index)]
        self.subordinators = self._outside(_SUBORDINATORS)
        self.loose = self._outside(_LOOSE_SUBORDINATORS)
        self.nominal = self._outside(_NOMINAL)
        self.conjunctions = self._outside(_COORDINATORS)
        self.commas = self._outside(frozenset(","))
        self.semicolons = self._outside(frozenset(";"))

    def _outside(self, words: frozenset[str]) -> list[int]:
        """Return the places of these words outside brackets."""
        return [i for i, token in enumerate(self.tokens) if token.lower in words and not self.inside[i]]

    def cuts(self) -> Iterator[int]:
        """Yield the start of each new clause, as a character offset."""
        begin = 0
        paired = False
        first = self._after_opening()
        for index, token in enumerate(self.tokens):
            if self.inside[index]:
                continue
            if token.lower in _PAIRED:
                paired = True
            if index == first or (index and self._opens(index, begin, paired)):
                begin = index
                yield token.start
                paired = token.lower in _PAIRED
            elif token.lower == "and":
                paired = False

    def item(self, start: int) -> int | None:
        """Return the start of the clause after a list number, including its "and"; None if it is not a clause."""
        index = bisect_left(self.tokens, start, key=lambda token: token.start)
        if not self._is_clause(index, coordinated=True):
            return None
        return self.tokens[index - 1].start if index and self._lower(index - 1) in ("and", "or") else start

    def _opens(self, index: int, begin: int, paired: bool) -> bool:
        """Whether the token opens a clause that can stand alone."""
        word, following = self.tokens[index].lower, self._lower(index + 1)
        previous = self._lower(index - 1)
        if word == ";":
            end = bisect_left(self.semicolons, index + 1)
            limit = self.semicolons[end] if end < len(self.semicolons) else len(self.tokens)
            return self._verbs_of_its_own(index, limit) > 0
        if word == "so":
            return previous == "," and following not in _NO_RESULT and self._results(index, begin)
        if not self._between(self.finite, begin, index):
            return False
        if word == "and":
            return self._adds(index, begin, paired)
        if word in _OPPOSING:
            return self._opposes(index, begin)
        if word in _CONSEQUENCES:
            # "These drugs are, however, expensive" continues after the second comma
            aside = self._lower(index - 2) in _AUXILIARIES
            return previous == "," and not aside and self._is_clause(index + 1 + (following == ","))
        if word == "which":
            return previous == "," and following in _INFERRING
        if word in _INFERRED:
            return following == "that" and previous == ","
        return word == "leading" and following == "to" and previous == ","

    def _adds(self, index: int, begin: int, paired: bool) -> bool:
        """Whether "and" is between two clauses."""
        previous, following = self._lower(index - 1), self._lower(index + 1)
        if following in _CONSEQUENCES:
            return self._is_clause(index + 2)
        listed = previous == ","
        return (
            not paired
            and previous not in _PREPOSITIONS
            and self._is_complete(begin, index, listed)
            and self._is_clause(index + 1, coordinated=listed)
        )

    def _opposes(self, index: int, begin: int) -> bool:
        """Whether "but", "although", "while" or a similar word is between two clauses."""
        word, previous = self._lower(index), self._lower(index - 1)
        if word in ("while", "since"):
            excluded = previous != "," and (word == "since" or self._is_temporal(index))
        else:
            excluded = previous in ("and", "even")
        # "which suggests that A is B, although C is D", "suggesting that ..."
        inferred = self._lower(begin) in _INFERRED or self._lower(begin + 1) in _INFERRING
        main = self._verbs_of_its_own(begin, index) > 0 or (previous == "," and "though" in word and inferred)
        return not excluded and main and self._is_clause(index + 1, coordinated=True)

    def _after_opening(self) -> int:
        """Return the start of the main clause in "Although A is B, C is D", or -1."""
        if self._lower(0) not in _SUBORDINATE_OPENERS or self._lower(1) == "of":
            return -1
        for index, token in enumerate(self.tokens):
            if token.lower == "," and not self.inside[index] and self._between(self.finite, 0, index):
                if self._is_clause(index + 1, coordinated=True):
                    return index + 1
        return -1

    def _results(self, index: int, begin: int) -> bool:
        """Whether "so" is between two clauses; the verb of the first may be its last word."""
        ended = self._lower(index - 2) in _PASTS and not self._between(self.subordinators, begin, index)
        return (ended or self._verbs_of_its_own(begin, index) > 0) and self._is_clause(index + 1, coordinated=True)

    def _is_temporal(self, index: int) -> bool:
        """Whether the clause after "while" says when: "while receiving aspirin", "while patients were asleep"."""
        if self._lower(index + 1).endswith("ing"):
            return True
        verb = next(iter(self.finite[bisect_left(self.finite, index) :][:1]), -1)
        state = self._lower(verb + 1 + (self._lower(verb + 1) in ("still", "not")))
        return self._lower(verb) in _BE and (state.endswith("ing") or state in _STATES)

    def _verbs_of_its_own(self, begin: int, end: int) -> int:
        """Count the verbs that are not in subordinate clauses."""
        begin += self._lower(begin) in ("whereas", "while")
        return self._between(self.finite, begin, end) - self._between(self.subordinators, begin, end)

    def _is_complete(self, begin: int, end: int, listed: bool) -> bool:
        """Whether the tokens are a main clause that may end here; ``listed``: before a comma."""
        if self._verbs_of_its_own(begin, end) <= 0 or self._between(self.nominal, begin, end):
            return False  # "drugs that inhibit COX-1 [and COX-2 are ...]"
        last = self.finite[bisect_left(self.finite, end) - 1]
        if self._between(self.loose, last, end):
            return False  # "was given before aspirin [and warfarin were ...]"
        if not listed and (self._between(self.conjunctions, last, end) or self._between(self.commas, last, end)):
            return False  # "was rare and levels of cholesterol [and of other lipids were ...]"
        return self.tokens[last].lower not in _REPORTING or self._lower(last + 1) in _DETERMINERS

    def _is_clause(self, begin: int, coordinated: bool = False) -> bool:
        """Whether a subject that is more than a pronoun, and its verb, begin here."""
        if not self._may_open(self._lower(begin), self._lower(begin + 1)):
            return False
        noun = False
        for index in range(begin, min(begin + _SUBJECT_REACH, len(self.tokens))):
            token = self.tokens[index]
            if self.inside[index]:
                continue
            if self._is_finite(index):
                if self._lower(index - 1) in _COORDINATORS:
                    return False
                return noun or (token.lower in _AUXILIARIES and self._lower(index - 1) == "there")
            if not self._continues(token, coordinated):
                return False
            noun = noun or self._is_noun(token.lower)
        return False

    @staticmethod
    def _may_open(word: str, following: str) -> bool:
        """Whether a subject that is more than a pronoun may begin with the first of two words."""
        if word in _PREPOSITIONS or word in _VERBS or word in _THIRD or word in _STANDALONE_PRONOUNS:
            return False
        return word not in _PASTS or following not in _PREPOSITIONS

    @staticmethod
    def _continues(token: Token, coordinated: bool) -> bool:
        """Whether a token may be inside a subject."""
        if not token.word:
            return token.lower in "-–/%'\""
        if token.lower in _LOOSE_SUBORDINATORS or token.lower == "to":
            return False
        return token.lower not in _COORDINATORS or (coordinated and token.lower == "and")

    @staticmethod
    def _is_noun(word: str) -> bool:
        """Whether a word may be the head of a subject."""
        if word in _DETERMINERS or word in _PREPOSITIONS or word in _CONNECTIVES or word in _COORDINATORS:
            return False
        return not word.endswith("ly") and word[0].isalnum() and word not in _VERB_FORMS and word not in _ADVERBS

    def _is_finite(self, index: int) -> bool:
        """Whether a token is a verb with a subject, judged by its neighbours."""
        word, previous, following = (self._lower(index + step) for step in (0, -1, 1))
        if previous in ("to", "") or self.inside[index]:
            return False
        if word in _AUXILIARIES:
            return True
        if previous in _DETERMINERS - _DEMONSTRATIVES - {"that"} or previous in _COORDINATORS:
            return False
        if word in _THIRD:
            return previous not in _PREPOSITIONS
        if word in _NOUN_THIRD or word in _PASTS or word in _CLEAR_PASTS:
            return self._governs(index, word, previous, following)
        plural = previous in ("we", "they", "which", "that", "who") or (
            previous.endswith("s") and not previous.endswith(("ss", "us", "is")) and previous not in _VERB_FORMS
        )
        return plural and word in _VERBS | _NOUN_VERBS

    def _governs(self, index: int, word: str, previous: str, following: str) -> bool:
        """Whether a form that may be a noun or a participle has an object, and so is a verb."""
        if previous in _PREPOSITIONS or not previous[0].isalnum() or self._passive(index):
            return False
        if word in _CLEAR_PASTS or (following in ("in", "to") and word in ("results", "leads", "led")):
            return True
        if word in _NOUN_THIRD and (
            previous in _VERB_FORMS
            or following in _VERB_FORMS
            or following.endswith("ing")
            or self._lower(index - 2) in _PREPOSITIONS
        ):
            return False
        if word in _PASTS and (previous in _SUBORDINATORS or word in _ADJECTIVAL):
            return False
        return following[:1].isalnum() and following not in _PREPOSITIONS | _COORDINATORS

    def _passive(self, index: int) -> bool:
        """Whether an auxiliary comes before, with at most adverbs between."""
        for step in range(1, 4):
            word = self._lower(index - step)
            if word in _BE:
                return True
            if not word.endswith("ly"):
                return False
        return False

    def _lower(self, index: int) -> str:
        return self.tokens[index].lower if 0 <= index < len(self.tokens) else ""

    @staticmethod
    def _between(indices: Sequence[int], begin: int, end: int) -> int:
        return bisect_left(indices, end) - bisect_left(indices, begin)


def _bracketed(tokens: Sequence[Token]) -> list[bool]:
    """For each token, return whether it is inside matched brackets."""
    change = [0] * (len(tokens) + 1)
    opened: list[int] = []
    for index, token in enumerate(tokens):
        if token.lower in "([{":
            opened.append(index)
        elif token.lower in ")]}" and opened:
            change[opened.pop()] += 1
            change[index + 1] -= 1
    depth = 0
    inside: list[bool] = []
    for step in change[:-1]:
        depth += step
        inside.append(depth > 0)
    return inside


def is_fragment(statement: str, opens: bool) -> bool:
    """Whether a clause cannot stand alone; ``opens``: it begins a sentence, where a pronoun is acceptable."""
    words = [match[0].lower() for match in _TOKEN.finditer(statement) if match[0][0].isalnum()]
    if len(words) < 3:
        return True
    if not any(word in _VERB_FORMS or _VERB_ENDING.match(word) for word in words):
        return not opens or len(words) < _SHORT
    if opens:
        return False
    start = 0
    while start < len(words) and words[start] in _CONNECTIVES:
        start += 1
    subject, verb = (*words[start : start + 2], "", "")[:2]
    if subject == "which" and verb in _INFERRING:
        return len(words) < 5
    if subject in _AUXILIARIES or subject in _THIRD:
        return True
    return subject in _BARE_PRONOUNS or (subject in _DEMONSTRATIVES and verb in _VERB_FORMS)


STATEMENTS = "statements.v2"
"""Signature of the rules; changes whenever they would cut some text differently."""


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
    """Return the atomic statements of a text, in order.

    A statement keeps the clause marker that opens it ("whereas ...", "and ...") and loses bullets, list numbers and a
    final comma or semicolon. A clause that cannot stand alone, because it has fewer than three words, no verb or only a
    pronoun as its subject, is joined to the clause before, or after if it comes first. Every word is in exactly one
    statement; the time is linear.
    """
    pieces: list[Span] = []
    waiting = False  # the only piece so far is a fragment: the next one joins it
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
    """Yield the parts between the cuts in one sentence."""
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
    """Return where (i), (ii) or 1), 2) number the parts of a sentence; a single number is ignored."""
    found = [(match.start(), match.end(), match["a"] or match["b"]) for match in _LIST_MARK.finditer(body)]
    best: list[tuple[int, int]] = []
    for order in _ORDERS:
        run: list[tuple[int, int]] = []
        for start, end, name in found:
            if len(run) < len(order) and name == order[len(run)]:
                run.append((start, end))
        best = max(best, run, key=len)
    return best if len(best) > 1 else []


ENUMERATIONS = "enumerations.v2"
"""Signature of the rules of ``split_enumeration``."""

_ALTERNATIVES = re.compile(r"\b(?:or|nor|either|neither)\b", re.IGNORECASE)
_ITEM_END = re.compile(r"[\s,;]*(?:\band\b)?[\s,;]*\Z", re.IGNORECASE)


def split_enumeration(statement: str) -> tuple[str, ...]:
    """Split a statement with numbered items into one statement per item, each after the words that they share.

    "Causes are (1) smoking and (2) obesity." gives "Causes are smoking." and "Causes are obesity." Items at the start
    of a statement are not split, because they say nothing on their own. Alternatives ("(1) smoking or (2) ...") and
    items that share what comes after the last ("that (1) aspirin and (2) warfarin reduce mortality") are not split
    either.
    """
    marks = _list_marks(statement)
    if not marks:
        return (statement,)
    stem = statement[: marks[0][0]].rstrip()
    ends = [start for start, _ in marks[1:]]
    stop = statement.rstrip()[-1:] if statement.rstrip()[-1:] in ".!?" else ""
    bodies = [statement[end:until] for (_, end), until in zip(marks, [*ends, len(statement)], strict=True)]
    if not any(map(str.isalnum, stem)) or any(_ALTERNATIVES.search(text) for text in (stem, *bodies)):
        return (statement,)
    items = [_ITEM_END.sub("", body).strip().rstrip(".!?") for body in bodies]
    if not all(any(map(str.isalnum, item)) for item in items):
        return (statement,)
    *earlier, last = (is_fragment(item, opens=True) for item in items)
    if all(earlier) and not last:
        return (statement,)
    return tuple(f"{stem} {item}{stop}" for item in items)


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
# "It is known that aspirin ...", "Those most often affected are ..." do not point outside the sentence.
_IMPERSONAL = re.compile(
    r"those\s(?:who|with|without|at|most|least|aged|given|treated|receiving|taking)\b|it\s(?:is|was|has\sbeen|remains)\s(?:\w+ly\s|now\s|also\s|well\s|not\s)?\w+\s(?:that|whether)\b",
    re.IGNORECASE,
)


def looks_dependent(text: str) -> bool:
    """Whether a sentence opens with a word that points outside it: "This suggests", "However, they".

    Such a sentence says too little on its own to be quoted. Only the opening is checked.
    """
    return _DEPENDENT.match(text) is not None and not _IMPERSONAL.match(text)
