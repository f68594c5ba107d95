"""Sentences of biomedical English, split by our rules or by NLTK's Punkt, with exact offsets.

The rules are our own because no measured library was better on gold sentences (docs/decisions/verification.md). Punkt
is for the papers that use it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

from vericite.errors import InputError, MissingExtraError, expect_type
from vericite.records import Document, Sentence, Span

SPLITTER = "vericite-rules.v3"
"""Signature of the rules; changes whenever they would split some text differently."""

PUNKT = "nltk-punkt.english"
"""Signature of the splitter; NLTK's version is appended."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Never the last word of a sentence: something named, compared or counted must follow.
_OPEN = _words("""e.g eg i.e ie vs v viz cf ca approx incl excl esp aka p pp subsp ssp subgen var cvs""")
_TITLES = _words("""Dr Drs Prof Mr Mrs Ms Mx St Ste Mt Rev Hon Capt Col Gen Gov Lt Sgt Fr""")
# Not the last word of a sentence when a number follows.
_NUMBERED = _words(
    """fig figs tab no nos nr eq eqs ref refs sec sect ch chap chs vol vols suppl jan feb mar apr jun
    jul aug sep sept oct nov dec"""
)
# May end a sentence, but only before a word that is capitalized for no other reason.
_SHORTENED = _words(
    """al inc ltd co corp jr bros univ dept dep hosp natl int intl assoc assn inst av avg max conc temp
    proc acad sci biol chem med surg clin exp pharmacol physiol biochem biophys res commun eur
    am br engl lett ann arch soc microbiol immunol virol mol genet neurosci neurol psychiatry
    nutr epidemiol dis ther obstet gynecol pathol oncol psychol appl lond phys ed eds sr resp"""
)
# May end a sentence, but never before a lower-case letter.
_CLIPPED = _words(
    """etc min spp sp nov gen syn cv sens spec pos neg pts pt abs rel wt ht mol bid tid qid qd qod prn
    po iv ip im hr hrs sec secs mins wk wks mo mos yr yrs vol ad lib exptl calc diam equiv"""
)
# A capital letter after these names a kind, and is not an initial: "vitamin C. Patients ...".
_LETTERED = _words(
    """vitamin vitamins hepatitis hepatitides type types subtype serotype genotype clade lineage group
    groups subgroup class grade arm arms cohort panel part stage category factor protein kinase
    influenza cyclin cathepsin apolipoprotein glycoprotein immunoglobulin haemophilia hemophilia
    cyclosporin cyclosporine ciclosporin amphotericin option phase prophase prometaphase
    metaphase anaphase telophase meiosis plan level model case study region site domain
    cytochrome complex caspase toxin troponin hemoglobin haemoglobin synaptotagmin degrees
    appendix figure table os"""
)
# Capitalized, these begin sentences and are hardly ever names.
_STARTERS = _words(
    """A About According Across Additional Additionally Adults After All Although Among An Analysis And
    Another Approximately As At Background Based Because Before Between Both But By Children
    Compared Comparison Conclusion Conclusions Consequently Consistent Conversely Data Despite
    Due During Each Eight Evidence Finally Findings Five For Four From Further Furthermore Given
    He Hence Her Here His How However If Importantly In Increased Indeed Interestingly
    Interpretation It Its Last Likewise Main Many Mean Median Methods Moreover Most Multiple
    Neither Nevertheless New Nine No None Notably Objective Objectives Of On Once One Only Other
    Our Outcomes Over Overall Participants Patients Previous Previously Primary Purpose Recent
    Recently Results Secondary Seven Several She Similar Similarly Since Six Some Specifically
    Studies Subjects Subsequently Such Surprisingly Taken Ten That The Their Then There
    Therefore These They This Those Three Through Thus To Together Treatment Two Under Unlike
    Until Upon Using We What When Where Whereas Whether Which While Who With Within Without
    Women Yet You"""
)
_LABEL = re.compile(
    r"(?:abstract|aims?|background|case presentation|conclusions?|context|data sources|design|discussion"
    r"|findings|funding|importance|interpretation|interventions?|introduction|keywords|limitations"
    r"|main outcome measures?|measurements|(?:materials and |patients and )?methods?"
    r"(?: and (?:results|findings|materials))?|objectives?|outcomes?|participants|patients"
    r"|principal findings|purpose|rationale|references|results?|setting|significance|summary"
    r"|trial registration):?",
    re.IGNORECASE,
)
_LIST_ITEM = re.compile(r"\s*(?:[-*•‣◦▪●·–—]|\(?\d{1,2}[.)]|#{1,6})(?=\s|\Z)")
_STOP = re.compile(r"[.!?…]+|[。！？｡．]+")
_WIDE_STOPS = "。！？｡．"
_CLOSERS = ")]}\"'”’»›」』）】*_"
_OPENERS = "([{\"'“‘«‹「『（【¿¡*_"
_BEHIND = (")", "]", "%", "”", "’")
_SPACE = re.compile(r"\s*")
_LOOSE_CLOSERS = re.compile(r"[^\S\n]{1,2}[\"”’»)\]]+(?=\s|\Z)")
_NUMBERS = r"\d{1,3}(?:[-–—,;]\s?\d{1,3}){0,20}"
# A citation marker after the full stop belongs to the sentence before it.
_MARKERS = re.compile(
    rf"(?:[^\S\n]?,?[^\S\n]?\[{_NUMBERS}\]|<sup>{_NUMBERS}</sup>|\^{_NUMBERS}\^){{1,20}}(?=\s*(?:[^\sa-z]|\Z))"
)
_SUPERSCRIPT = re.compile(rf"(?:{_NUMBERS}|\({_NUMBERS}\)|[⁰¹²³⁴-⁹⁻,]{{1,20}})(?=\s+[A-Z])")
_CODE_NAME = re.compile(r"[^\W\d_]{0,8}-?[A-Z0-9α-ω]")
_GLUED = re.compile(r"(?:[A-Z][\w'’-]{0,30}[,:]?(?:\s|\Z)|[A-Z][a-z]{2,20}:)")
_DOTTED = re.compile(r"(?:[^\W\d_]\.-?)+[^\W\d_]")
_REFERENCE = re.compile(r"[A-Z]{0,2}\d|[IVX]+\b|[A-Z]\b")
_PLAIN = re.compile(r"[A-Z][a-z]{3,}[,:;]?")
_JOINT = re.compile(r"[(\[;–—]")
_REACH = 60  # characters to search on either side of a stop, to keep the time linear
_ASIDE = 200  # the same for the end of a parenthesis


def split_sentences(text: str) -> tuple[Span, ...]:
    """Return the spans of the sentences of a text, in order.

    The spans do not overlap, begin and end with a non-whitespace character, and leave out only whitespace. Any string
    is accepted. The time is linear in its length.
    """
    expect_type(text, str, "a text", "Give it as a str")
    spans: list[Span] = []
    for start, end in _blocks(text):
        begin = start
        for stop in _boundaries(text, start, end):
            spans.extend(_trimmed(text, begin, stop))
            begin = stop
        spans.extend(_trimmed(text, begin, end))
    return tuple(spans)


def document_sentences(document: Document) -> tuple[Sentence, ...]:
    """Return the sentences of a document's text, numbered from 0; no sentence crosses a section boundary."""
    spans = (
        span.shifted(section.start)
        for section in document.section_spans
        for span in split_sentences(document.text[section.slice])
    )
    return tuple(Sentence(document=document.id, index=index, span=span) for index, span in enumerate(spans))


def _trimmed(text: str, start: int, end: int) -> Iterator[Span]:
    part = text[start:end]
    body = part.strip()
    if body:
        start += len(part) - len(part.lstrip())
        yield Span(start=start, end=start + len(body))


def _blocks(text: str) -> Iterator[tuple[int, int]]:
    """Yield the blocks between blank lines, list items and headings; no sentence crosses a block boundary."""
    start = position = 0
    fresh = True
    for line in text.splitlines(keepends=True):
        heading = _is_heading(line, fresh)
        if (heading or not line.strip() or _LIST_ITEM.match(line)) and position > start:
            yield start, position
            start = position
        position += len(line)
        if heading:
            yield start, position
            start = position
        fresh = heading or not line.strip() or line.rstrip()[-1] in ".!?:;。"
    if position > start:
        yield start, position


def _is_heading(line: str, fresh: bool) -> bool:
    """Whether a line is a section's label; ``fresh``: no unfinished sentence comes before it."""
    label = line.strip().strip("*_# ")
    if not 0 < len(label) <= 80 or not label[0].isupper() or label[-1] in ".!?,;":
        return False
    if not fresh:
        return label.endswith(":") and bool(_LABEL.fullmatch(label))
    capitals = label.isupper() and len(label) > 4 and not any(map(str.isdigit, label))
    return capitals or bool(_LABEL.fullmatch(label))


def _boundaries(text: str, start: int, end: int) -> Iterator[int]:
    """Yield the places in a block after which a new sentence begins."""
    item = _LIST_ITEM.match(text, start, end)
    position = item.end() if item else start
    begin = start
    while stop := _STOP.search(text, position, end):
        position = stop.end()
        while position < end and text[position] in _CLOSERS:
            position += 1
        if stop[0][0] in _WIDE_STOPS:
            cut = position
        elif loose := _LOOSE_CLOSERS.match(text, position, end):
            cut = _after_space(text, stop, loose.end(), start, end)
        elif marker := _MARKERS.match(text, position, end):
            cut = _after_space(text, stop, marker.end(), start, end)
        elif position < end and text[position].isspace():
            cut = _after_space(text, stop, position, start, end)
        else:
            cut = _before_word(text, stop, position, start, end)
        if cut is not None and cut < end and not _in_aside(text, begin, cut, end):
            yield cut
            begin = position = cut


def _in_aside(text: str, begin: int, position: int, end: int) -> bool:
    """Whether a parenthesis is open here and closes soon; an unclosed one is ignored."""
    begin = max(begin, position - _ASIDE)
    if text.count("(", begin, position) <= text.count(")", begin, position):
        return False
    limit = min(end, position + _ASIDE)
    close = text.find(")", position, limit)
    return close >= 0 and text.find("(", position, close) < 0


def _after_space(text: str, stop: re.Match[str], cut: int, start: int, end: int) -> int | None:
    """Return ``cut`` if the sentence ends there, at a stop followed by a space."""
    space = _SPACE.match(text, cut, end)
    onward = space.end() if space else cut
    following = text[onward : min(end, onward + _REACH)].split(maxsplit=1)
    if not following:
        return None
    word = following[0].lstrip(_OPENERS)
    before = text[max(start, stop.start() - _REACH) : stop.start()].split()
    token = _JOINT.split(before[-1].lstrip(_OPENERS))[-1] if before else ""
    loose = stop.start() == start or text[stop.start() - 1].isspace()
    if loose and not (word[:1].isupper() and token.strip(".")):
        return None  # dot leaders, "P = . 03", "E . coli"
    if token.isdigit() and len(before) > 1 and before[-2][-1] in ":;" and "\n" in text[cut:onward]:
        return cut  # "Dose: 8." ends its line, as a row of a table does
    closed = text[stop.end()] in _CLOSERS
    plain = word[:1].islower() and not _CODE_NAME.match(word)
    if stop[0] != ".":
        return None if plain else cut
    if plain and (closed or not _finished(token)):
        return None
    return cut if _ends(token, before[-2] if len(before) > 1 else "", word) else None


def _finished(token: str) -> bool:
    """Whether a word is so clearly complete that a stop after it ends the sentence even before a lower-case letter."""
    bare = token.lower()
    if "." in token or bare in _SHORTENED or bare in _CLIPPED or bare in _NUMBERED:
        return False
    return len(token) >= 4 or (len(token) > 1 and not token.islower() and not token.istitle())


def _ends(token: str, previous: str, word: str) -> bool:
    """Whether a stop after ``token`` ends the sentence, judged by the following word."""
    bare = token.lower()
    if token in _TITLES:
        return False
    if len(token) == 1 and token.isupper():
        return _letter_ends(token, previous, word)
    if "." not in token and token not in (bare, bare.capitalize()):
        return True  # MS, NO, PrEP: these are names; their small-letter look-alikes are abbreviations
    if bare in _OPEN or (bare in _NUMBERED and _REFERENCE.match(word)):
        return False
    starter = _starts(word)
    if bare in _SHORTENED:
        return starter
    if bare in _CLIPPED:
        return word[:1].isupper()
    if _DOTTED.fullmatch(token):
        return starter or (token.islower() and bool(_PLAIN.fullmatch(word)))
    if len(token) == 1 and token.isalpha():
        return _letter_ends(token, previous, word)
    if token.isdigit() and len(token) < 3 and (not previous or previous[-1] in ".:;?!"):
        # "... was low. 2. After": the number of a point in running text, unless it is that of a figure
        return previous.strip(_OPENERS + ".").lower() in _NUMBERED
    return not (token.isdigit() and word[:1].isdigit() and "%" in word)


def _starts(word: str) -> bool:
    """Whether a capitalized word begins a sentence rather than being a name; RESULTS does too."""
    word = word.rstrip(",:;")
    return word in _STARTERS or (len(word) > 4 and word.isupper() and word.capitalize() in _STARTERS)


def _letter_ends(letter: str, previous: str, word: str) -> bool:
    """Like ``_ends``, after a single letter: an initial, a genus, a unit ("24 h.") or a kind ("vitamin D.")."""
    if previous[-1:].isdigit() or previous.endswith("°"):
        return True
    if letter.islower():
        return word[:1].isupper()
    return _starts(word) or previous.lower().lstrip(_OPENERS) in _LETTERED


def _before_word(text: str, stop: re.Match[str], position: int, start: int, end: int) -> int | None:
    """Return where the sentence ends, if it does, at a stop without a space: "disease.The trial"."""
    before = text[max(start, stop.start() - _REACH) : stop.start()].split()
    token = before[-1] if before else ""
    if stop.start() == start or text[stop.start() - 1].isspace():
        return None
    if stop[0] != "." or "/" in token or "@" in token or token.startswith("www"):
        return None
    tail = token[-3:]
    word = len(tail) == 3 and tail.isalpha() and tail.islower() and "." not in token
    if tail[-1:] not in _BEHIND and not word:
        return None
    if _GLUED.match(text, position, end):
        return position
    cited = _SUPERSCRIPT.match(text, position, end)
    return cited.end() if cited else None


def punkt_signature() -> str:
    """Return the signature of the splitter, with NLTK's version.

    Raises:
        MissingExtraError: NLTK is not installed.
    """
    return f"{PUNKT}@{_nltk().__version__}"


def split_by_punkt(text: str) -> tuple[Span, ...]:
    """Return the spans of a text's sentences by Punkt, trimmed like our own.

    Raises:
        MissingExtraError: NLTK is not installed.
        InputError: Its English model is not on this machine.
    """
    return tuple(Span(start=start, end=end) for start, end in _punkt().span_tokenize(text) if text[start:end].strip())


def _nltk() -> Any:
    try:
        import nltk
    except ModuleNotFoundError:
        raise MissingExtraError("eval", "Punkt's sentences") from None
    return nltk


@cache
def _punkt() -> Any:
    _nltk()
    from nltk.tokenize.punkt import PunktTokenizer

    try:
        return PunktTokenizer("english")
    except LookupError:
        raise InputError(
            "expected NLTK's Punkt for English, which this protocol's paper splits with; found none. "
            "Get it: python -m nltk.downloader punkt_tab"
        ) from None
