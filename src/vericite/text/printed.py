"""Printed references and the marks that cite them: find the list, split it, parse it, link the text to it.

Reference styles differ in the order of their parts and in their punctuation. So a reference is read from its two ends:
its identifiers are removed first, then the authors are read at its beginning, then the place in the journal (year,
volume, issue, pages) at its end. What remains is the title and the journal.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from vericite.records import Span
from vericite.records.manuscripts import ManuscriptCitation, Reference
from vericite.text.passages import entry_in
from vericite.text.references import REFERENCES, body_end, parse_markers
from vericite.text.references import lines as lines_of

# Finding and splitting the list.

LIST_HEADING = re.compile(
    r"[#*_\s]{0,9}(?:\d{1,2}\.?\s{1,3}|[IVX]{1,5}\.\s{1,3})?(?:references?(?: list| cited|s? and notes)?|bibliography|"
    r"(?:cited )?literature(?: cited)?|works cited|list of references)[*_:.\s]{0,5}",
    re.IGNORECASE,
)
"""A line that is the heading of the list of references."""
AFTER_LIST = re.compile(
    r"[#*_\s]{0,9}(?:(?:appendix|supplement\w{0,10}|figure legends?|figures?|tables?|acknowledge?ments?|funding|"
    r"(?:conflicts?|declarations?) of interests?|author contributions?|data availability)\b[^.]{0,50}"
    r"|table \d.{0,200})",
    re.IGNORECASE,
)
_RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹"
_SUPERSCRIPTS = str.maketrans(_RAISED, "0123456789")
_NUMBER_AT = re.compile(
    r"\s{0,20}(?:\[(\d{1,3})\]|\((\d{1,3})\)|(\d{1,3})[.)\]:](?!\d)|([¹²³⁴-⁹⁰]{1,4})|(\d{1,3})"
    r"(?=\s{1,9}[^\W\d]))\s{0,9}"
)
_NUMBER_WITHIN = re.compile(r"(?<![^\s.])(?:\[(\d{1,3})\]|(\d{1,3})\.(?= [^\W\da-z]))")
NO_LIST = "expected a list of references under a heading such as References; found none"
"""What is noted of a text without one."""
_FEWEST = 3
"""Minimum numbered lines at the end of a text to be a list without a heading."""


def split_references(text: str) -> tuple[int, list[tuple[str, str]]]:
    """Find the list of references at the end of a text, and split it.

    Returns:
        Where the list begins, its heading included (the length of the text if there is none), and its references: the
        number that each is printed with, or its position in the list, and its text on one line, without the number.
    """
    lines = [(start, line.rstrip()) for start, line in lines_of(text)]
    for index in range(len(lines) - 1, -1, -1):
        start, line = lines[index]
        if len(line) < 60 and LIST_HEADING.fullmatch(line) and (found := split_list(_until_end(lines[index + 1 :]))):
            return start, found
    return _unheaded(text, lines)


ENTRY = re.compile(
    r"^[^\S\n]{0,3}(?:[-*•][^\S\n]{1,3})?(?:\[\^?(?P<name>\d{1,3})\]:?|(?P<plain>\d{1,3})[.)])[^\S\n]+"
    r"(?P<target>\S[^\n]*(?:\n(?: {2,}|\t)[^\S\n]{0,8}(?![-*•\[\d\s])[^\n]*)*)",
    re.MULTILINE,
)
"""An entry of the list at the end of an answer."""
_NEXT_HEADING = re.compile(r"#{1,6}\s")


def split_answer(text: str) -> tuple[int, int, list[tuple[str, str]]]:
    """Find the numbered list of references of an answer, usually at its end, and split it.

    Returns:
        Where the list begins (the length of the text if there is none) and ends, and its entries by number. Lines
        without a number continue an entry only under a heading, where most entries are references or passages of
        sources. Another heading ends the list, as does a paragraph that cites.
    """
    end = body_end(text)
    lines = [(start, line.rstrip()) for start, line in lines_of(text)]
    stop = len(lines)
    for index in range(len(lines) - 1, -1, -1):
        start, line = lines[index]
        if start >= end:
            continue
        if _NEXT_HEADING.match(line) and not _heads_list(line):
            stop = index
        if _heads_list(line):
            last = _end_of_list(lines, index + 1, stop)
            found = _numbered([line for _, line in lines[index + 1 : last]])
            # "Sources: 1. Oily fish [1]" lists sources of a vitamin: an entry that cites is a claim.
            entries = [entry for _, entry in found if not parse_markers(entry)]
            listed = sum(looks_like_reference(entry) or entry_in(entry).passage is not None for entry in entries)
            if 2 * listed > len(found):
                return start, lines[last][0] if last < len(lines) else len(text), found
            break
    return end, len(text), [(match["name"] or match["plain"], match["target"]) for match in ENTRY.finditer(text, end)]


_BOLD = re.compile(r"\s*(?:\*\*|__)[^*_]{1,80}(?:\*\*|__):?\s*")


def _end_of_list(lines: list[tuple[int, str]], first: int, stop: int) -> int:
    """Return the line at which a list ends: a heading in bold, or a paragraph without a number that cites."""
    for index in range(first + 1, stop):
        line = lines[index][1]
        if lines[index - 1][1].strip() or not line.strip() or _number_of(line) is not None:
            continue
        if _BOLD.fullmatch(line) or parse_markers(line):
            return index
    return stop


def _heads_list(line: str) -> bool:
    return len(line) < 60 and bool(LIST_HEADING.fullmatch(line) or REFERENCES.fullmatch(line.strip().strip("#*_: ")))


def _until_end(lines: list[tuple[int, str]]) -> list[str]:
    found: list[str] = []
    for _, line in lines:
        if len(line) < 250 and AFTER_LIST.fullmatch(line) and not _YEAR.search(line):
            break
        found.append(line)
    return found


def _unheaded(text: str, lines: list[tuple[int, str]]) -> tuple[int, list[tuple[str, str]]]:
    """Find a list without a heading: numbered lines, from 1, up to the end of the text, most with a year."""
    for index in range(len(lines) - 1, -1, -1):
        if _number_of(lines[index][1]) != 1:
            continue
        rest = [line for _, line in lines[index:]]
        found = _numbered(rest)
        dated = sum(1 for _, entry in found if _YEAR.search(entry))
        if len(found) >= _FEWEST and dated > 0.6 * len(found) and max(len(entry) for _, entry in found) < 900:
            return lines[index][0], found
    return len(text), []


def split_list(lines: Sequence[str]) -> list[tuple[str, str]]:
    """Split the lines of a list of references, without its heading, into keys and references on one line."""
    filled = [line for line in lines if line.strip()]
    if not filled:
        return []
    if _number_of(filled[0]) is not None:
        found = _numbered(lines)
        if len(found) > 1 or len(filled) == 1:
            return found
    inline = _numbered_within(" ".join(filled))
    if len(inline) >= _FEWEST and len(inline) > len(filled) / 2:
        return inline
    entries = [entry for entry in _unnumbered(lines) if len(entry) > 15 and any(char.isalpha() for char in entry)]
    return [(str(number), entry) for number, entry in enumerate(entries, start=1)]


def _number_of(line: str) -> int | None:
    found = _NUMBER_AT.match(line)
    return int(next(group for group in found.groups() if group).translate(_SUPERSCRIPTS)) if found else None


def _numbered(lines: Sequence[str]) -> list[tuple[str, str]]:
    """Split at the lines that open with the next number in the form of the first.

    Other lines, such as "2019. p. 3" or "12 cities" in a list with "11.", continue an entry.
    """
    entries: list[tuple[int, list[str]]] = []
    form = ""
    for line in lines:
        number = _number_of(line)
        last = entries[-1][0] if entries else None
        form = form if entries else _form_of(line)
        if number is not None and (last is None or last < number <= last + 2) and _form_of(line) == form:
            entries.append((number, [_NUMBER_AT.sub("", line, count=1)]))
        elif entries:
            entries[-1][1].append(line)
    return [(str(number), entry) for number, parts in entries if (entry := one_line(parts))]


def _form_of(line: str) -> str:
    """Return the signs around the number that a line opens with."""
    found = _NUMBER_AT.match(line)
    return "".join(sign for sign in found[0] if not (sign.isdigit() or sign.isspace())) if found else ""


def _numbered_within(text: str) -> list[tuple[str, str]]:
    """Split a list that was printed as one paragraph."""
    found: list[tuple[int, int, int]] = []
    for match in _NUMBER_WITHIN.finditer(text):
        number = int(match[1] or match[2])
        if number == (found[-1][0] + 1 if found else 1):
            found.append((number, match.start(), match.end()))
    if not found or found[0][1] > 0:
        return []
    ends = [*(start for _, start, _ in found[1:]), len(text)]
    return [(str(number), text[begin:end].strip()) for (number, _, begin), end in zip(found, ends, strict=True)]


def _unnumbered(lines: Sequence[str]) -> Iterator[str]:
    blank = [index for index, line in enumerate(lines) if not line.strip()]
    filled = [line for line in lines if line.strip()]
    hanging = sum(line[0].isspace() for line in filled)
    held: list[str] = []
    apart = len(blank) >= 0.3 * len(filled)
    for line in lines:
        bare = re.sub(r"\A\s{0,20}[-*•]\s", "", line)
        if not bare.strip():
            begins = apart
        elif hanging and hanging < len(filled):
            begins = not line[0].isspace()
        else:
            begins = bare != line or (not apart and _opens(held, bare))
        if begins and held:
            yield one_line(held)
            held = []
        if bare.strip():
            held.append(bare)
    if held:
        yield one_line(held)


_CLOSED = re.compile(r"(?:[.\])]|\d|10\.\d{4,9}/\S{1,100})\Z")


def _opens(held: Sequence[str], line: str) -> bool:
    """Whether a line begins the next reference of a list without numbers: it opens with authors, the last one ended."""
    if not held:
        return True
    entry = " ".join(held)
    if not _CLOSED.search(held[-1].rstrip()[-120:]) or not _YEAR.search(entry):
        return False
    authors, _ = _authors(line.strip())
    return bool(authors)


_BROKEN = re.compile(r"([^\W\d_])-\Z")


def one_line(lines: Sequence[str]) -> str:
    """Join the lines of a printed reference; a word or an address broken at the end of a line is repaired."""
    parts: list[str] = []
    tail = ""
    for line in lines:
        bare = " ".join(line.split())
        if not bare:
            continue
        if _BROKEN.search(tail[-2:]) and bare[0].islower():
            parts[-1], tail = parts[-1][:-1], tail[:-1]
        elif parts and not (tail[-1:] in ("-", "–", "/") or (tail[-1:] in (".", "_") and _IN_ADDRESS.search(tail))):
            bare = f" {bare}"
        parts.append(bare)
        tail = (tail + bare)[-100:]
    return "".join(parts)


_IN_ADDRESS = re.compile(r"(?:10\.\d{4,9}/|https?://)\S{0,100}\Z")

# Parsing one reference.

_UP = "A-ZÀ-ÖØ-ÞĀĂĄĆČĎĐĒĖĘĚĞĢĪİĶĹĻĽŁŃŅŇŌŐŒŔŘŚŞŠȘŢȚŤŪŮŰŲŹŻŽ"
_DASHES = "-‐‑–—−"
_YEAR = re.compile(r"(?<![\d/.])(?:1[89]|20)\d\d(?![\d/])")
_PARTICLE = (
    r"(?:(?:[Vv][ao]n(?: (?:de[nr]?|der))?|[Dd]e(?: la| los)?|[Dd]e[rnl]|[Dd]el|[Dd]ella|[Dd]i|[Dd]a|[Dd]os|[Dd]u|"
    r"[Ll]a|[Ll]e|[Tt]en|[Tt]er|[Aa]l|[Ee]l|[Bb]in|[Ss]t\.?|[Zz]u[mr]?)[ -]|[dDOL]['’]|[Aa]l-)"
)
_PART = (
    rf"(?:(?:Mc|Mac|O['’]|[dD]['’])?[{_UP}](?:[^\W\d_{_UP}][^\W\d_]{{0,28}}|[{_UP}]{{2,29}})(?:['’][^\W\d_]{{2,20}})?)"
)
_FAMILY = rf"(?:{_PARTICLE}{{0,2}}{_PART}(?:[-‐‑]{_PART}){{0,2}}(?: {_PART}){{0,2}})"
_ONE_FAMILY = rf"(?:{_PARTICLE}{{0,2}}{_PART}(?:[-‐‑]{_PART}){{0,2}})"
_PLAIN = rf"(?:[{_UP}]{{1,4}}(?:-[{_UP}])?(?![^\W\d_]))"
_DOTTED = rf"(?:[{_UP}]\.(?:[ -]{{0,2}}[{_UP}]\.){{0,4}})"
_SUFFIX = r"(?:,? (?:Jr|Sr|III|II|2nd|3rd)\b\.?)?"
_GIVEN = (
    rf"(?:[{_UP}][^\W\d_]{{1,19}}(?:-[{_UP}]?[^\W\d_]{{1,19}})?(?: (?:[{_UP}]\.?(?![^\W\d_])"
    rf"|[{_UP}][^\W\d_]{{1,14}}(?!,? [{_UP}]\.?[,;] ))){{0,2}})"
)
_GROUP = (
    rf"(?:(?:for |on behalf of )?(?:the |The )?(?:[{_UP}\d][\w&’'/-]{{0,30}},? (?:(?:of|for|and|on|in"
    rf"|the|&) ){{0,2}}){{0,9}}"
    r"(?:Groups?|Collaborat(?:ors?|ion|ive)|Investigators|Organi[sz]ation|Committee|Association"
    r"|Society|Agency|Institutes?|"
    r"Consortium|Network|Trialists|Centers?|Centres?|Council|Ministry|Department|Team|Task Force|College|Academy|Board|"
    rf"Foundation|Federation|Initiative|Commission|Service)\b(?:,? (?:of|for|on|and) (?:the"
    rf" )?[{_UP}][\w’'-]{{1,30}}(?: (?:and |of |on )?[{_UP}][\w’'-]{{1,30}}){{0,5}})?(?: \([^"
    rf"()]{{2,30}}\))?)"
)
_FORMS = {
    # Smith JA; Smith, J. A.; J. A. Smith; Smith, John A.; John A. Smith
    "plain": re.compile(rf"(?P<family>{_FAMILY}),? (?P<given>{_PLAIN}){_SUFFIX}"),
    "dotted": re.compile(rf"(?P<family>{_FAMILY}),? (?P<given>{_DOTTED}){_SUFFIX}"),
    "first": re.compile(rf"(?P<given>{_DOTTED}|{_PLAIN}) {{0,2}}(?P<family>{_FAMILY}){_SUFFIX}"),
    "inverted": re.compile(rf"(?P<family>{_ONE_FAMILY}(?: {_PART})?), (?P<given>{_GIVEN}){_SUFFIX}"),
    "full": re.compile(rf"(?P<given>{_GIVEN}) (?P<family>{_ONE_FAMILY}){_SUFFIX}"),
    "group": re.compile(rf"(?P<family>{_GROUP})(?P<given>)"),
}
_ORDERS = (
    ("plain", ("plain",)),
    ("dotted", ("dotted",)),
    ("first", ("first",)),
    ("dotted", ("dotted", "first")),
    ("inverted", ("full", "first")),
    ("inverted", ("inverted", "full")),
    ("full", ("full",)),
    ("group", ("plain", "dotted", "first", "full")),
)
_INITIAL_OF_JOURNAL = re.compile(
    r"(?<=\b[A-Z]\.) (?=(?:J\. (?:Am|Biol|Chem|Clin|Med|Phys|Org|Exp|Pharm|Immunol|Gen|Cell|Neuro"
    r"|Nutr|Mol)|N\. Engl)\b)"
)
_JOINT = re.compile(r"(?:,|;)? ?(?:and|&|und|et) |[,;] ?(?:and |& )?")
_ET_AL = re.compile(r"[,;]? ?(?:\bet\.? ?al\b\.?|\band (?:others|colleagues)\b|…|\. ?\. ?\.)[,;:]?")
_AFTER_AUTHORS = re.compile(r"\s?(?:\(?[Ee]ds?\.?\)?[,.]?|\(?[Ee]ditors?\)?[.,]?)?\s?[.,:;]?\s?")


def _authors(text: str) -> tuple[list[str], int]:
    """Return the authors that a reference begins with, and where they end."""
    best: tuple[tuple[int, int], list[str], int] | None = None
    # "Lee, K. J. Am. Chem. Soc.": the last initial is the beginning of a journal's name.
    journal = _INITIAL_OF_JOURNAL.search(text[:400])
    text = text[: journal.start()] if journal else text
    for first, others in _ORDERS:
        names, end, closed = _series(text, first, others)
        if not names or (first in ("full", "group", "inverted") and not closed):
            continue
        rank = (int(closed), end)
        if best is None or rank > best[0]:
            best = rank, names, end
    return (best[1], best[2]) if best else ([], 0)


def _series(text: str, first: str, others: Sequence[str]) -> tuple[list[str], int, bool]:
    """Read authors one after the other; the last value is whether what follows is what follows authors."""
    names: list[str] = []
    at = end = 0
    kinds: Sequence[str] = (first,)
    while len(names) < 1000:
        found = next((match for kind in (*kinds, "group") if (match := _FORMS[kind].match(text, at))), None)
        if found is None:
            break
        names.append(_name(found["family"], found["given"]))
        end = found.end()
        kinds = others
        joint = _JOINT.match(text, end)
        if joint is None:
            break
        at = joint.end()
    if names and (more := _ET_AL.match(text, end)):
        end = more.end()
        return names, end, True
    closed = bool(_CLOSES.match(text, end))
    if first == "full" and len(names) == 1:
        closed = closed and bool(_YEAR.match(text[end : end + 12].lstrip(" .,(")))
    return names, end, closed


_CLOSES = re.compile(
    r"\s?(?:[.:;]|\(|[.,]? [\"“‘'«]|[.,][\"“‘'«]|,? (?:1[89]|20)\d\d|\(?[Ee]ds?\b|\Z)|(?<=\.) |, (?=[^\W\d_])"
)


def _name(family: str, given: str) -> str:
    """Write a name as in ``Document``: family name, then initials or given names."""
    family = re.sub(r"\A(?:for|on behalf of) ", "", " ".join(family.split()))
    initials = re.fullmatch(rf"[{_UP}](?:[.\s-]{{0,3}}[{_UP}])*\.?", given)
    short = re.sub(r"\W", "", given) if initials else " ".join(given.replace(".", "").split())
    return f"{family} {short}".strip()


_IDENTIFIERS = (
    (
        "doi",
        re.compile(
            r"(?:(?:https?://)?(?:dx\.)?doi\.org/|\bdoi ?: ?(?:https?://(?:dx\.)?doi\.org/)?|\bDOI"
            r" )?\b(10\.\d{4,9}/[^\s\"<>]{2,200})",
            re.IGNORECASE,
        ),
    ),
    ("pmcid", re.compile(r"(?:\bPMCID ?: ?|https?://\S{0,60}/)?\b(PMC\d{3,9})\b/?", re.IGNORECASE)),
    (
        "pmid",
        re.compile(
            r"(?:\bPubMed )?(?:\bPMID ?:? ?|https?://pubmed\.ncbi\.nlm\.nih\.gov/"
            r"|https?://www\.ncbi\.nlm\.nih\.gov/pubmed/)(\d{1,8})\b/?",
            re.IGNORECASE,
        ),
    ),
    ("url", re.compile(r"<?(https?://[^\s<>\"]{3,300}|www\.[^\s<>\"]{3,300})>?", re.IGNORECASE)),
)
_NOISE = re.compile(
    r"(?:\[|\()?(?:\b(?:available|retrieved|accessed|cited|last accessed|date accessed)\b(?: (?:at|from|on))?:? ?"
    r"[^.\[\]()]{0,40}(?:19|20)\d\d[^.;\[\]()]{0,12}(?:\]|\)|,? from:?)?|\b(?:available|retrieved) "
    r"(?:at|from|online):?)(?:\]|\))?"
    r"|\b[Ii]n press\b,?|\bEpub [^.]{0,40}\.?|\[(?:Internet|Online|published [^\]]{0,60}|PubMed"
    r"|CrossRef|Google Scholar|Journal article)\]"
    r"|\b(?:PubMed|CrossRef|Google Scholar|Medline)\b(?=[\s.,\]]{0,3}\Z)",
    re.IGNORECASE,
)
_VOLUME = r"(?P<volume>[A-Z]?\d{1,5}[A-Z]?|[IVXL]{1,6}\b)"
_SUPPL = r"(?P<supplement>,? ?\(?(?:[Ss]uppl(?:ement|\.)?|[Ss]pec\.? (?:[Nn]o|[Ii]ss)\.?) ?[A-Z]?\d{0,3}\)?)?"
_ISSUE = r"(?: ?\((?P<issue>[^();]{1,25})\))?"
_PAGE = rf"(?:[A-Za-z]{{0,4}}\.?\d[\w.]{{0,11}}(?: ?[{_DASHES}]{{1,2}} ?[A-Za-z]{{0,3}}\d[\w]{{0,9}})?)"
_PP = r"(?:pp?\.? ?|pages? |article (?:no\.? )?|art\. (?:no\. )?|Article )?"
_PAGES = rf"{_PP}(?P<pages>{_PAGE})"
_Y = r"(?P<year>(?:1[89]|20)\d\d)[a-z]?"
_MONTH = (
    r"(?:[, -]{0,2}(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sept?|Oct|Nov|Dec|Spring|Summer|Autumn|Fall"
    r"|Winter)[a-z]{0,6}\.?(?:[-/–][A-Z][a-z]{2,8})?(?: \d{1,2})?,?)"
)
_DATE = rf"(?:{_MONTH}? ?{_Y}{_MONTH}?)"
_B = r"(?<![\w(-])"
_TAILS = tuple(
    re.compile(pattern)
    for pattern in (
        # 2019 Mar 3;12(3):1-10   2019; 393: 1-10   2019;12 Suppl 1:S3-9
        rf"{_B}\(?{_Y}\)?{_MONTH}?(?:[-–]\d{{1,2}})? ?[;:] ?{_VOLUME}{_SUPPL}{_ISSUE}(?: ?[:,;] ?{_PAGES})?",
        # vol. 12, no. 3, pp. 1-10, Mar. 2019   vol. 12, no. 3, 2019, pp. 1-10
        rf"(?:\b{_Y},? )?\b(?:[Vv]ol(?:ume|\.)?|v\.) ?{_VOLUME}(?:[,.]? (?:[Nn]o|[Ii]ss(?:ue)?"
        rf"|[Nn]r)\.? ?(?P<issue>[\w/–-]{{1,12}}))?"
        rf"(?:,?{_MONTH}? ?\(?(?P<year3>(?:1[89]|20)\d\d)\)?)?"
        rf"(?:[,:;.]? ?(?:p[pg]?\.? ?|Art\. no\. ?|pages? )(?P<pages>{_PAGE}))?(?:,?(?:{_MONTH})? \(?"
        rf"(?P<year2>(?:1[89]|20)\d\d)\)?)?",
        # 12(3), 1-10 (2019)   12, 1–10 (2019)   12:1-10 (2019)
        rf"{_B}{_VOLUME}{_SUPPL}{_ISSUE} ?[,:] ?{_PAGES},? \({_DATE}\)",
        # 12(3), 1-10   12:1-10   12 (3): 1-10   12, no. 3 (2019): 1-10   12, e1
        rf"{_B}{_VOLUME}{_SUPPL}{_ISSUE}(?:,? (?:no|[Ii]ssue|iss)\.? ?(?P<issue2>[\w/–-]{{1,12}}))?(?:"
        rf" \({_DATE}\))? ?[,:] ?{_PAGES}",
        # 12 (2019) 1–10   12(3) (2019) 1-10
        rf"{_B}{_VOLUME}{_SUPPL}{_ISSUE}(?:,? (?:no|[Ii]ssue|iss)\.? ?(?P<issue2>[\w/–-]{{1,12}}))?,?"
        rf" \({_DATE}\),? ?{_PAGES}",
        # 2019, 12 (3), 1-10   2019, 12, 1-10
        rf"{_B}{_Y}, ?{_VOLUME}{_SUPPL}{_ISSUE},? ?{_PAGES}",
        # 12, 1 (no pages): 12(3)   vol alone with year
        rf"{_B}{_VOLUME}{_SUPPL} ?\((?P<issue>\d[\w/–-]{{0,9}}|[Ss]uppl[^()]{{0,12}})\)(?=[.,;]?(?:\s|\Z))",
        # Journal, 12, 2019   Journal 12 (2019)
        rf"(?<=[a-z.,] ){_VOLUME},? \({_DATE}\)",
        # Journal. 2019.   Journal (2019)
        rf"{_B}\(?{_DATE}\)?(?=[.,;]?\s{{0,3}}\Z)",
        rf"{_B}\(?{_DATE}\)?(?=[.,;])",
        # (Lancet 2019, in press)
        rf"(?<=[a-z.,] )\(?{_Y}\)?(?= ?[,;(])",
    )
)
_PAGES_ALONE = re.compile(rf"\bpp?\. ?({_PAGE})")
_YEAR_FIRST = re.compile(
    r"\s?[.,]?\s?[(\[]?(?P<year>(?:1[89]|20)\d\d)[a-z]?"
    rf"(?:[,;]? ?{_MONTH}(?:[-–]\d{{1,2}})?)?[)\]]?\s?[.,:]?\s{{0,2}}(?![;:\d])"
)
_NO_YEAR = re.compile(r"\s?\((?:n\.d\.|in press|forthcoming|submitted)\)[.,:]?\s?", re.IGNORECASE)
_QUOTED = re.compile(
    r"[\"“”„«]\s?(?P<title>[^\"“”»]{3,500})[\"”“»]|(?<![\w’])[‘'](?P<single>(?:[^‘’']|[’'](?=\w)){3,500})[’'](?!\w)"
)


def parse_reference(text: str, key: str) -> Reference:
    """Parse a printed reference of any common style; what it does not have stays empty."""
    printed = one_line(text.split("\n"))[:5000]
    rest, found = _without_identifiers(printed)
    rest = re.sub(r"[*_]{1,3}(?=\w)|(?<=\w|[.,;:?!)])[*_]{1,3}", "", _NOISE.sub(" ", rest))
    numbered = re.match(r"\s?(?:\[\d{1,3}\]|\(\d{1,3}\)|\d{1,3}[.)](?!\d))\s?", rest)
    rest = " ".join(rest[numbered.end() if numbered else 0 :].split())
    quoted = _QUOTED.search(rest)
    authors, end = _authors(rest[: quoted.start()] if quoted and quoted.start() > 2 else rest)
    if quoted and quoted.start() < end:
        quoted = None
    place, body = _placed(rest[end:])
    if not authors:
        authors, body = _corporate(body, place)
    title, journal = _title_and_journal(body, _QUOTED.search(body), bool(place.get("volume") or place.get("pages")))
    year = place.get("year")
    return Reference(
        key=key,
        text=printed,
        authors=tuple(authors),
        title=title,
        journal=journal or None,
        year=int(year) if year else None,
        volume=place.get("volume"),
        issue=place.get("issue"),
        pages=place.get("pages"),
        **found,
    )


def _without_identifiers(text: str) -> tuple[str, dict[str, Any]]:
    found: dict[str, Any] = {}
    # "https:// doi.org/10.1000/ x1": addresses are broken where lines end.
    text = re.sub(r"(https?://|doi\.org/|\b10\.\d{4,9}/) (?=\w)", r"\1", text)
    for name, pattern in _IDENTIFIERS:
        match = pattern.search(text)
        if match:
            value = match[1].rstrip(".,;:]’”\"'")
            if value.endswith(")") and value.count("(") < value.count(")"):
                value = value[:-1].rstrip(".,;:")
            found[name] = value.lower() if name == "doi" else value.upper() if name == "pmcid" else value
            text = pattern.sub(" ", text)
    return text, found


def _placed(text: str) -> tuple[dict[str, str], str]:
    """Return year, volume, issue and pages, and what is left between the authors and them."""
    year, begin = _first_year(text)
    body = text[begin:].strip()
    tail = _tail(body, bool(year), begin > 0)
    if tail is None:
        return {"year": year} if year else {}, body
    values = {name: value for name, value in tail.groupdict().items() if value}
    years = _YEAR.findall(body, tail.end()) or _YEAR.findall(body)
    named = [values[name] for name in ("year", "year2", "year3") if name in values]
    issue = [values.get("issue") or values.get("issue2") or "", values.get("supplement", "").strip(" ,()")]
    alone = _PAGES_ALONE.search(text)
    place = {
        "year": year or next(iter([*named, *years]), ""),
        "volume": values.get("volume", ""),
        "issue": " ".join(" ".join(issue).split()),
        "pages": " ".join((values.get("pages") or (alone[1] if alone else "")).split()).rstrip("."),
    }
    head = body[: tail.start()]
    if not head.strip(" .,;"):
        head = body[tail.end() :]
    return {name: value for name, value in place.items() if value}, head.strip(" ,;:(")


def _first_year(text: str) -> tuple[str, int]:
    """Return the year that follows the authors, if any, and where the title begins."""
    after = _AFTER_AUTHORS.match(text)
    behind = after.end() if after else 0
    if first := _YEAR_FIRST.match(text) or _YEAR_FIRST.match(text, behind):
        return first["year"], first.end()
    missing = _NO_YEAR.match(text)
    return "", missing.end() if missing else behind


def _tail(body: str, has_year: bool, has_authors: bool) -> re.Match[str] | None:
    """Return the place in the journal: the match with most fields that is nearest to the end."""
    best: tuple[tuple[int, int, int], re.Match[str]] | None = None
    for pattern in _TAILS:
        for match in pattern.finditer(body):
            if not has_authors and match.start() < 2:
                continue
            named = {name.rstrip("23") for name, value in match.groupdict().items() if value}
            rank = (len(named - {"year"} if has_year else named), match.end(), -match.start())
            if rank[0] and (best is None or rank > best[0]):
                best = rank, match
    return best[1] if best else None


def _corporate(body: str, place: dict[str, str]) -> tuple[list[str], str]:
    """Take an organisation at the beginning: "World Health Organization. Title. Geneva: WHO; 2019"."""
    dated = re.match(r"([^.()]{2,120}?)[.,]? \((?P<year>(?:1[89]|20)\d\d)(?![\d/])[^()]{0,20}\)[.,:]? ", body)
    if dated:
        place.setdefault("year", dated["year"])
        return [dated[1].strip()], body[dated.end() :]
    parts = _SENTENCE.split(body)
    if len(parts) > 2 and len(parts[0].split()) <= 10 and parts[0][:1].isupper() and not parts[0].endswith(("?", "!")):
        return [parts[0].rstrip(".").strip()], body[len(parts[0]) :].strip()
    return [], body


_LOWER = r"eLife|npj|mBio|bioRxiv|medRxiv|arXiv"
_SENTENCE = re.compile(rf"(?<=[.?!;]) (?=[^\Wa-z_]|[\"“(]|{_LOWER})|(?<=[;?])(?=[A-Z])")
_SMALL = frozenset(
    "of and the in for & on et de der für la le a an to und del di des do e y part section series ed".split()
)
_NOT_IN_JOURNALS = frozenset(
    "trial study review analysis meta-analysis metaanalysis randomized randomised effect effects"
    " cohort protocol guideline guidelines patients "
    "versus vs with without from after during between among by is are does can as using update".split()
)
_JOURNALS = re.compile(
    r"\b(?:J|Journal|Am|Ann|Annals|Arch|Archives|Br|British|Eur|European|Int|International|Clin|Proc"
    r"|Proceedings|Lancet|Nature|Science|"
    r"BMJ|JAMA|PLoS|PLOS|Cochrane|N Engl|Acta|Cell|Res|Med|Rev|Reviews|Letters|Lett|Sci|Reports"
    r"|Bulletin|Circulation|Stroke|Blood|"
    r"Gut|Chest|Thorax|Diabetes|Frontiers|BMC|eLife)\b"
)


_PREPRINT = re.compile(r"\s{0,2}(?:bioRxiv|medRxiv|arXiv|SSRN|Preprints?)\b", re.IGNORECASE)


def _is_journal(text: str) -> bool:
    """Whether words may be a journal's name: few, and each begins with a capital or is a small word."""
    words = text.strip(" .,;:").split()
    if not words or len(words) > 12:
        return False
    if _PREPRINT.match(text):
        return True
    for word in words:
        bare = word.strip(".,;:()[]&'’")
        if bare.lower() in _NOT_IN_JOURNALS or word.endswith(("?", "!")):
            return False
        if bare and not (bare[0].isupper() or bare.lower() in _SMALL or re.match(_LOWER, bare)):
            return False
    return words[0][:1].isupper() or bool(re.match(_LOWER, words[0]))


def _title_and_journal(body: str, quoted: re.Match[str] | None, has_place: bool) -> tuple[str, str]:
    if quoted:
        title = (quoted["title"] or quoted["single"]).strip(" ,")
        return title.rstrip("."), _journal(body[quoted.end() :])
    body = body.strip(" .,;:") if not body.endswith("?") else body.strip(" ,;:")
    if chapter := re.search(r"[.,?] ?(?:In: |In (?=.{0,200}\b[Ee]ds?\b))", body):
        book = body[chapter.end() :]
        is_edited = re.search(r"\b[Ee]d(?:itor)?s?\b", book)
        return body[: chapter.start() + 1].rstrip(" .,"), "" if is_edited else _journal(book)
    if has_place and _whole_journal(body):
        return "", _journal(body)
    if found := _at_stop(body) or (_at_comma(body) if has_place else None):
        return found
    parts = [match.end() for match in _SENTENCE.finditer(body)]
    if parts:
        is_book = not has_place or re.search(r"\w: [^\W\d_]", body[parts[0] :])
        at = parts[0] if is_book else parts[-1]
        return body[:at].strip().rstrip("."), "" if is_book else _journal(body[at:])
    unmarked = re.search(rf"(?<=[a-z]) (?={_BEGINS_JOURNAL})", body) if has_place else None
    if unmarked and _is_journal(body[unmarked.end() :]):
        return body[: unmarked.start()], _journal(body[unmarked.end() :])
    return body.rstrip("."), ""


def _at_stop(body: str) -> tuple[str, str] | None:
    """Split title and journal at the first stop behind which there may be a journal."""
    for match in _SENTENCE.finditer(body):
        head, tail = body[: match.end()].strip(), body[match.end() :]
        if not _is_journal(tail) or _ABBREVIATED.search(head) or (len(head.split()) == 1 and len(head) < 6):
            continue
        comma = head.rfind(", ")
        if comma > 0 and _is_journal(head[comma + 2 :]) and _JOURNALS.search(head[comma + 2 :]):
            # "Title, Cochrane Database Syst. Rev.": the stop is part of the journal's name.
            return head[:comma], _journal(body[comma + 2 :])
        return head.rstrip(".;"), _journal(tail)
    return None


def _at_comma(body: str) -> tuple[str, str] | None:
    for match in reversed(list(re.finditer(rf", (?=[^\Wa-z_]|{_LOWER})", body))):
        if _is_journal(body[match.end() :]) and len(body[: match.start()].split()) > 2:
            return body[: match.start()].strip(" ,"), _journal(body[match.end() :])
    return None


_BEGINS_JOURNAL = r"(?:Br|Am|Eur|J|N Engl|Int|Ann|Arch|Acta|Lancet|BMJ|JAMA|Clin)\b"
_ABBREVIATED = re.compile(
    r"(?:\A|[\s.])(?:[A-Z]|vs|Am|Engl|Clin|Int|Eur|Br|Med|Proc|Natl|Acad|Sci|Chem|Biol|Ann|Arch|Rev|Dr|St)\.\Z"
)


def _whole_journal(text: str) -> bool:
    """Whether a reference has no title: what is between authors and volume is a journal's name."""
    words = text.strip(" .,").split()
    first = _SENTENCE.split(text)[0]
    if not _is_journal(text) or len(words) > 8:
        return False
    abbreviated = all(word.endswith(".") or word in _SMALL for word in words[:-1])
    return abbreviated or bool(_JOURNALS.search(first))


def _journal(text: str) -> str:
    text = re.sub(r"\A[\s.,;:]{0,4}(?:[Ii]n: ?|in )?", "", text)
    text = re.sub(rf"(?:[\s.,;:(]|,? [Vv]ol(?:ume)?\b\.?|{_MONTH}|(?:1[89]|20)\d\d){{1,6}}\Z", "", text).strip()
    if _PREPRINT.match(text):
        return text.split()[0].rstrip(":.,")
    # "Geneva: World Health Organization" is a publisher.
    return "" if re.match(r"[^.:]{2,40}: [^\W\d_]", text) else text


def listed_reference(text: str, key: str) -> Reference:
    """Return an entry of a printed list: a reference, a passage of the source in place of it, or both."""
    reference, passage = entry_in(text)
    if passage is None:
        return parse_reference(text, key)
    if not reference:
        return Reference(key=key, text=text, passage=passage.text)
    return parse_reference(reference, key).model_copy(update={"passage": passage.text})


_A_REFERENCE = re.compile(r"\b(?:1[89]|20)\d\d\b|\b10\.\d{4,9}/|\bPMID\b|https?://", re.IGNORECASE)


def looks_like_reference(text: str) -> bool:
    """Whether a note may be a reference: it is more than a few words, with a year, an identifier or an address."""
    return len(text) > 20 and _A_REFERENCE.search(text) is not None


# Linking the marks in running text.

_KEY_NUMBER = re.compile(r"\d{1,3}")
_AMOUNT_BEFORE = re.compile(
    r"(?:[=%<>±]|\b(?:ci|iqr|interquartile range|confidence interval|range[ds]?|sd|median|mean"
    r"|between|from))[\s:,]{0,3}\Z",
    re.IGNORECASE,
)
_NOUN_BEFORE = re.compile(
    r"\b(?:tables?|figs?\.?|figures?|eqs?\.?|equations?|formulas?|sections?|chapters?|appendix|box"
    r"|steps?|stages?|grades?|phases?|panel|"
    r"group|arm|items?|criteri(?:on|a)|supplement\w{0,7}|types?|class|model|aims?|question)\s{0,2}\Z",
    re.IGNORECASE,
)
_PARENTHESES = re.compile(r"\((\d{1,3}(?: ?[,;–‐‑-] ?\d{1,3}){0,20})\)")
_RANGE = re.compile(r"(\d{1,3})(?: ?[-‐‑–—−⁻] ?(\d{1,3}))?")
_WIDEST = 60
"""Maximum number of references that one range names."""


def _expanded(written: str) -> tuple[str, ...]:
    """Return the numbers of a mark, ranges written out; none if a range runs backwards or names zero."""
    found: list[int] = []
    for match in _RANGE.finditer(written):
        low = int(match[1])
        high = int(match[2] or low)
        if not 0 < low <= high < low + _WIDEST:
            return ()
        found.extend(range(low, high + 1))
    return tuple(dict.fromkeys(map(str, found)))


def link_numeric(text: str, keys: Collection[str]) -> list[ManuscriptCitation]:
    """Return the places that cite by numbers in brackets or parentheses: [1], [1,3-5], (1-3).

    Args:
        text: Running text, without the list of references.
        keys: Numbers of the listed references. Parentheses around other numbers are not citations.
    """
    listed = set(keys)
    found: list[ManuscriptCitation] = []
    for group in parse_markers(text):
        numbers = tuple(dict.fromkeys(map(str, group.numbers)))
        before = text[max(0, group.span.start - 40) : group.span.start]
        if "0" in numbers or _NOUN_BEFORE.search(before):
            continue
        if len(numbers) > 1 and _AMOUNT_BEFORE.search(before) and _may_be_interval(before, text[group.span.slice]):
            continue
        if not listed.intersection(numbers) and (len(numbers) > 1 or _AMOUNT_BEFORE.search(before)):
            continue
        found.append(ManuscriptCitation(span=group.span, keys=numbers))
    return found or _in_parentheses(text, listed)


_PERCENT = re.compile(r"(\d{1,3}(?:\.\d{1,4})?)\s?%\Z")


def _may_be_interval(before: str, mark: str) -> bool:
    """Whether a bracket behind an amount may be its interval: "12% [9, 15]", but not "12% [3, 4]"."""
    percent = _PERCENT.search(before.rstrip())
    ends = [int(number) for number in re.findall(r"\d+", mark)]
    return percent is None or (len(ends) == 2 and ends[0] <= float(percent[1]) <= ends[1])


def _in_parentheses(text: str, listed: set[str]) -> list[ManuscriptCitation]:
    """Numbers in parentheses are citations if all are listed and at least half of the list is cited by them."""
    found: list[ManuscriptCitation] = []
    for match in _PARENTHESES.finditer(text):
        numbers = _expanded(match[1])
        before = text[max(0, match.start() - 40) : match.start()]
        if (
            not numbers
            or not listed.issuperset(numbers)
            or _NOUN_BEFORE.search(before)
            or _AMOUNT_BEFORE.search(before)
        ):
            continue
        behind = text[match.end() : match.end() + 3]
        opens = not before.strip() or before.rstrip()[-1:] in ":;" or before.endswith("\n\n")
        listing = len(numbers) == 1 and behind[:1] == " " and (opens or re.search(r"(?:,|\band|\bor) {0,2}\Z", before))
        if opens or listing or before[-1:].isdigit() or before[-2:-1].isdigit() or behind[:1].isalnum():
            continue
        found.append(ManuscriptCitation(span=Span(start=match.start(), end=match.end()), keys=numbers))
    cited = {key for citation in found for key in citation.keys}
    return found if listed and len(cited) >= min(0.5 * len(listed), 10) else []


_SUPERSCRIPT = re.compile(
    rf"(?P<plain>[{_RAISED}]{{1,3}}(?: ?[,˒⁻–-] ?[{_RAISED}]{{1,3}}){{0,20}})"
    r"|<sup>\s{0,2}\[?(?P<html>\d{1,3}(?:\s?[,;–‐‑-]\s?\d{1,3}){0,20})\]?\s{0,2}</sup>"
    r"|\^\{?\[?(?P<caret>\d{1,3}(?:\s?[,;–‐‑-]\s?\d{1,3}){0,20})\]?(?:\}|\^)"
)
_UNIT_BEFORE = re.compile(r"(?:(?:\A|[\s\d/·⋅(])(?:[kcmµμn]?m|s|kg|g|in|ft|km|mi|h|min|cm|yd)|\b[A-Za-zχηωβ])\Z")


def link_superscript(text: str, keys: Collection[str]) -> list[ManuscriptCitation]:
    """Return the places that cite by superscript numbers, written as ¹,³⁻⁵ or as ^1,3-5^ or <sup>1</sup>.

    Powers and units (10³, m², R²) and isotopes (¹⁸F) are not citations.

    Args:
        text: Running text, without the list of references.
        keys: Numbers of the listed references.
    """
    listed = set(keys)
    found: list[ManuscriptCitation] = []
    for match in _SUPERSCRIPT.finditer(text):
        written = match[match.lastgroup or 0].translate(_SUPERSCRIPTS).replace("˒", ",")
        numbers = _expanded(written)
        if not numbers or not listed.intersection(numbers) or _is_power(text, match, numbers):
            continue
        found.append(ManuscriptCitation(span=Span(start=match.start(), end=match.end()), keys=numbers))
    return found


def _is_power(text: str, match: re.Match[str], numbers: Sequence[str]) -> bool:
    before, behind = text[max(0, match.start() - 6) : match.start()], text[match.end() : match.end() + 1]
    if before[-1:].isdigit():
        return not re.search(r"(?:\b|\D)(?:19|20)\d\d\Z", before)
    if behind in ("⁺", "⁻", "+") or (behind.isalpha() and (not before or not before[-1].isalnum())):
        return True
    if not before.strip() or before[-1:] in "⁻−⁺·×":
        return True
    return numbers[0] in ("2", "3") and len(numbers) == 1 and bool(_UNIT_BEFORE.search(before))


_CITED_NAME = (
    rf"(?>(?:(?:van|von|de|der|den|la|le|di|da|del|ten|ter|al|el|Van|Von|De|Di|La|Le|du|Du|dos|Dos|St\.?)[ -]){{0,2}}"
    rf"(?:Mc|O['’])?[{_UP}][\w’'-]{{1,30}}(?: [{_UP}][\w’'-]{{1,25}}){{0,5}})"
)
_ET = (
    rf"(?:,? (?:et\.? ?al\.?,?|and colleagues|and others|(?:and|&) {_CITED_NAME}|(?:,"
    rf" {_CITED_NAME}){{1,3}},? (?:and|&) {_CITED_NAME}))"
)
_YEARS = r"(?:1[89]|20)\d\d[a-z]?(?:, ?(?:(?:1[89]|20)\d\d[a-z]?|[b-z]\b)){0,6}"
_NARRATIVE = re.compile(
    rf"(?<![\w’'-])(?P<name>{_CITED_NAME})(?P<more>{_ET})?(?:['’]s?)? (?P<mark>[(\[]"
    rf"(?P<years>{_YEARS})(?:[,:;] ?[^()\[\]]{{1,40}})?[)\]])"
)
_ENCLOSED = re.compile(r"[(\[]([^()\[\]]{6,600})[)\]]")
_WITHIN = re.compile(rf"(?P<name>{_CITED_NAME})(?P<more>{_ET})?,? ?\(?(?P<years>{_YEARS})\)?")
_NOT_NAMES = frozenset(
    "january february march april may june july august september october november december since"
    " until version in from before after "
    "spring summer autumn winter table figure between during the of by early late mid updated"
    " accessed published revised vol "
    "jan feb mar apr jun jul aug sep sept oct nov dec edition copyright".split()
)


def link_author_year(text: str, references: Sequence[Reference]) -> list[ManuscriptCitation]:
    """Return the places that cite by author and year: (Smith et al., 2019; Lee & Wong 2020a), Smith et al. (2019).

    The span of "Smith et al. (2019) found" is that of the year: the names are part of the sentence. A place that cites
    what the list lacks has a key made of its words, such as "Smith 2019".
    """
    listed = _ByName(references)
    found: dict[int, ManuscriptCitation] = {}
    for match in _NARRATIVE.finditer(text):
        keys = listed.keys(match["name"], match["more"] or "", match["years"])
        if keys:
            start, end = match.span("mark")
            found[start] = ManuscriptCitation(span=Span(start=start, end=end), keys=keys)
    places = [match for match in _ENCLOSED.finditer(text) if match.start() not in found and _YEAR.search(match[1])]
    known = {reference.key for reference in references}
    # "(Smith, 2017)" may be no citation: it counts in a text that cites so, even if the list lacks it.
    for counts_alone in (False, True):
        if counts_alone and not any(known.intersection(mark.keys) for mark in found.values()):
            break
        for match in places:
            keys = tuple(
                dict.fromkeys(
                    key
                    for part in _WITHIN.finditer(match[1])
                    for key in listed.keys(
                        part["name"], part["more"] or "", part["years"], counts_alone and _stands_alone(match[1], part)
                    )
                )
            )
            if keys:
                found[match.start()] = ManuscriptCitation(span=Span(start=match.start(), end=match.end()), keys=keys)
    return [found[start] for start in sorted(found)]


def _stands_alone(inside: str, part: re.Match[str]) -> bool:
    """Whether a part is "Smith, 2017" and nothing else, up to a semicolon."""
    before, behind = inside[: part.start()].rstrip(), inside[part.end() :].lstrip()
    return (
        before[-1:] in ("", ";")
        and behind[:1] in ("", ";")
        and re.fullmatch(r",? ?(?:19|20)\d\d[a-z]?", part[0][len(part["name"]) :]) is not None
        and "," in part[0]
    )


_PLAIN_LETTERS = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ı": "i"})


def folded(name: str) -> str:
    """Return a name without case, accents, spaces and punctuation."""
    plain = unicodedata.normalize("NFKD", name.casefold().translate(_PLAIN_LETTERS))
    return "".join(char for char in plain if char.isalnum())


class _ByName:
    """References by family name of the first author and year."""

    def __init__(self, references: Sequence[Reference]) -> None:
        self._found: dict[tuple[str, str], list[tuple[Reference, str]]] = {}
        self._names: set[str] = set()
        for reference in references:
            if reference.year is None:
                continue
            letter = re.search(rf"\b{reference.year}([a-z])\b", reference.text)
            for name in self._first(reference):
                self._names.add(name)
                self._found.setdefault((name, str(reference.year)), []).append((reference, letter[1] if letter else ""))

    @staticmethod
    def _first(reference: Reference) -> set[str]:
        if not reference.authors:
            return {folded(" ".join(reference.title.split()[:3]))}
        first = reference.authors[0]
        family = re.sub(rf" (?:[{_UP}]{{1,4}})\Z", "", first)
        names = {folded(family), folded(first)}
        if family == first and " " in first:
            names |= {folded(first.split()[0]), folded(first.rsplit(" ", 1)[0])}
            names.add(folded("".join(word[0] for word in first.split() if word[0].isupper())))
        names.add(folded(re.sub(r"\A(?:[Vv][ao]n|[Dd]e[rn]?|[Ll]a|[Dd]i|[Dd]a) (?:de[rn]? |la )?", "", family)))
        if in_brackets := re.search(r"\(([^()]{2,30})\)", reference.authors[0]):
            names.add(folded(in_brackets[1]))
        return names - {""}

    def keys(self, name: str, more: str, years: str, is_alone: bool = False) -> tuple[str, ...]:
        """Return the keys that a name and its years cite; a year without a listed work has a key of its own."""
        words = re.sub(r"['’]s?\Z", "", name).split()
        # "In Smith et al. (2019)", "As Smith (2019)": the name may have words of the sentence before it.
        tried = [" ".join(words[at:]) for at in range(len(words))]
        known = next((folded(part) for part in tried if folded(part) in self._names), None)
        found: list[str] = []
        year = ""
        for written in re.split(r", ?", years):
            digits = _YEAR.match(written)
            year, letter = (digits[0], written[4:]) if digits else (year, written)
            works = self._found.get((known or "", year), [])
            chosen = [work for work, own in works if own == letter] or (
                [work for work, _ in works] if not letter else []
            )
            if not chosen and len(works) == 1:
                chosen = [works[0][0]]
            if len(chosen) > 1:
                chosen = self._with_second(chosen, more) or chosen[:1]
            if chosen:
                found.append(chosen[0].key)
            elif words[-1].lower().rstrip(".") not in _NOT_NAMES and (known or more or is_alone):
                found.append(f"{words[-1]} {year}{letter}")
        return tuple(dict.fromkeys(found))

    @staticmethod
    def _with_second(works: list[Reference], more: str) -> list[Reference]:
        if second := re.search(rf"(?:and|&) ({_CITED_NAME})", more):
            name = folded(second[1])
            return [work for work in works if any(folded(author).startswith(name) for author in work.authors[1:2])]
        several = "al" in more or "colleagues" in more or "others" in more
        return [work for work in works if (len(work.authors) > 2) == several or (len(work.authors) == 1) != several]


def link(text: str, references: Sequence[Reference]) -> list[ManuscriptCitation]:
    """Link running text by whichever form cites most of the list: numbers, superscripts, or authors and years."""
    listed = {reference.key for reference in references}
    keys = [reference.key for reference in references if _KEY_NUMBER.fullmatch(reference.key)]
    ways = [link_numeric(text, keys), link_superscript(text, keys), link_author_year(text, references)]
    return max(ways, key=lambda found: len({key for citation in found for key in citation.keys} & listed))
