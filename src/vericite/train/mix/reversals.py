"""Turning a finding round: its direction, its negation, which of two arms did better."""

from __future__ import annotations

import re
from collections.abc import Iterator

from vericite.train.mix.edits import Edit, replaced
from vericite.train.mix.lexicon import OPPOSITES

_DIRECTION = re.compile(rf"(?<![\w-])(?:{'|'.join(sorted(OPPOSITES, key=len, reverse=True))})(?![\w-])", re.IGNORECASE)
_NEGATED = re.compile(
    r"\b(?:no|not|non|without|neither|nor|none|never|cannot|fail\w*|lack\w*|unchanged|unaffected|similar\w*|equal\w*"
    r"|comparable|absence|rather than|instead of|only|unlikely|hardly|little|few|whether|if|versus"
    r"|non-inferior\w*)\b|n't\b",
    re.IGNORECASE,
)
_LEADS = re.compile(
    r"(?:\b(?:associated|correlated|linked|resulted|results|resulting|led|leads|leading|lead|due|related|contributed"
    r"|contributes|observed|seen|conferred)\s(?:with|in|to|by)|\b(?:was|were|is|are|had|has|have|a|an|be|been"
    r"|significantly|markedly|more|that|may|can|will|also|and|which|to|show\w*|produced|caused|experienced|exhibited"
    r"|demonstrated|reported|revealed|displayed|significant|marked|greatly|strongly|further|directly|effectively))\s?$",
    re.IGNORECASE,
)
_NOT_AFTER = re.compile(
    r"\b(?:of|in|for|with|by|from|the|their|its|this|to|at|on|under|between|against|those|these|after|before)\s$", re.I
)
_VERB_FORM = re.compile(r"(?:s|ed|e|rose|fell|fall|rise|worsen|harm|impair)$")
_COMPARED = re.compile(r"\bthan\b|\brisk|\bassociat|\bcorrelat|\brate|\blevel|\bcompared\b", re.IGNORECASE)
# "more" and "less" alone, and words of time, count as directions only before what makes them so.
_NEEDS_AFTER = {
    "more": re.compile(
        r"\s(?:likely|effective|often|frequent\w*|common\w*|severe\w*|than|efficient\w*|sensitive|potent"
        r"|accurate|rapid\w*|pronounced|prone|susceptible|resistant|prevalent|favou?rable)\b"
    ),
    "less": re.compile(
        r"\s(?:likely|effective|often|frequent\w*|common\w*|severe\w*|than|efficient\w*|sensitive|potent"
        r"|accurate|rapid\w*|pronounced|prone|susceptible|resistant|prevalent|favou?rable)\b"
    ),
    "before": re.compile(r"\s(?:the|treatment|surgery|birth|age|onset|diagnosis|transplantation)\b"),
    "after": re.compile(r"\s(?:the onset|birth|age|onset|diagnosis)\b"),
    "activation": re.compile(r"\sof\b"),
    "benefit": re.compile(r"\sfrom\b|s?\sof\b|s?\sin\b"),
    "dependent": re.compile(r"\son\b"),
    "independent": re.compile(r"\sof\b"),
    "induced": re.compile(r"\s(?!by\b)"),
    "overexpression": re.compile(r"\sof\b"),
}


def direction_edits(claim: str) -> Iterator[Edit]:
    """The word that says in which direction something differs, turned; not where the claim denies or hedges it."""
    if _NEGATED.search(claim):
        return
    for match in _DIRECTION.finditer(claim):
        word = match[0].lower()
        needed = _NEEDS_AFTER.get(word)
        if needed and not needed.match(claim, match.end()):
            continue
        if _decides(claim, match, word):
            new = OPPOSITES[word]
            if word == "independent":
                continue
            yield _articled(claim, match, new)


def _decides(claim: str, match: re.Match[str], word: str) -> bool:
    """Whether a word says what was found rather than in whom: "had increased levels", not "with increased levels"."""
    before = claim[: match.start()]
    if _LEADS.search(before):
        return True
    if _NOT_AFTER.search(before):
        return False
    if match.start() == 0:
        return bool(_COMPARED.search(claim)) and word.endswith(("er",))
    if word.endswith(("ing", "ion")):
        return False
    return bool(_VERB_FORM.search(word)) or bool(_COMPARED.search(claim[match.end() :]))


def _articled(claim: str, match: re.Match[str], new: str) -> Edit:
    """The edit, with "a" or "an" before it as the new word wants."""
    article = re.search(r"\b(an?)\s$", claim[: match.start()], re.IGNORECASE)
    edit = replaced(match, new, "direction", "contradicts")
    if not article:
        return edit
    wanted = "an" if new[0] in "aeiou" else "a"
    if article[1].lower() == wanted:
        return edit
    wanted = wanted.capitalize() if article[1][0].isupper() else wanted
    return Edit(article.start(), claim[article.start() : match.end()], f"{wanted} {new}", "direction", "contradicts")


_ADD = re.compile(
    r"\b(?P<aux>is|are|was|were|can|should|has|have|had|does|did|will)"
    r"(?P<rest> (?:(?:significantly|also|strongly|independently|markedly|highly|directly|positively|negatively|been"
    r"|inversely|effectively|commonly|primarily|more|less|further) )*"
    r"(?:associated|correlated|related|effective|safe|observed|found|detected|increased|decreased|reduced|improved"
    r"|higher"
    r"|lower|superior|inferior|better|worse|present|expressed|required|involved|able|sufficient|necessary|different"
    r"|predictive|linked|elevated|greater|shown|affected|induced|inhibited|caused|be|lead|reduce|increase|improve"
    r"|prevent|a|an|likely|efficacious|well tolerated|feasible|useful|impaired|enhanced|mediated|regulated|dependent"
    r"|essential|frequent|common|significant|longer|shorter|identified|demonstrated|beneficial|prevented|achieved))\b"
)
_PLAIN_VERBS = {
    "increased": "increase",
    "decreased": "decrease",
    "reduced": "reduce",
    "improved": "improve",
    "led": "lead",
    "prevented": "prevent",
    "inhibited": "inhibit",
    "caused": "cause",
    "predicted": "predict",
    "affected": "affect",
    "enhanced": "enhance",
    "promoted": "promote",
    "suppressed": "suppress",
    "resulted": "result",
    "correlated": "correlate",
    "differed": "differ",
    "protected": "protect",
    "attenuated": "attenuate",
    "lowered": "lower",
    "worsened": "worsen",
    "abolished": "abolish",
}
_PRESENT = {
    "increases": "increase",
    "decreases": "decrease",
    "reduces": "reduce",
    "improves": "improve",
    "leads": "lead",
    "prevents": "prevent",
    "inhibits": "inhibit",
    "induces": "induce",
    "causes": "cause",
    "predicts": "predict",
    "affects": "affect",
    "enhances": "enhance",
    "promotes": "promote",
    "suppresses": "suppress",
    "results": "result",
    "correlates": "correlate",
    "differs": "differ",
    "protects": "protect",
    "attenuates": "attenuate",
    "contributes": "contribute",
    "requires": "require",
    "plays": "play",
    "regulates": "regulate",
    "mediates": "mediate",
    "activates": "activate",
    "binds": "bind",
    "triggers": "trigger",
    "impairs": "impair",
}
_FINITE_AFTER = re.compile(
    r" (?:the|a|an|in|to|with|from|by|both|all|serum|plasma|patient\w*|survival|mortality|cell"
    r"|pain|risk|expression|levels?|[a-z]+(?:ity|ion|ness|ism|osis|itis)|against|significantly)\b"
)
_REMOVE: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"\b(is|are|was|were|can|should|has|have|had|will) not (?=\w)"), r"\1 "),
    (re.compile(r"\bcannot (?=\w)"), "can "),
    (re.compile(r"\bdid not (?=(?:significantly )?(?:\w+))"), "did "),
    (re.compile(r"\bdoes not (?=\w)"), "does "),
    (re.compile(r"\bdo not (?=\w)"), "do "),
    (
        re.compile(
            r"\b[Nn]o (?=(?:statistically )?(?:significant )?(?:difference|differences|effect|effects|association"
            r"|associations|change|changes|correlation|increase|decrease|evidence|benefit|improvement|relationship"
            r"|reduction|impact|influence|interaction)\b)"
        ),
        "a ",
    ),
)
_BARE = re.compile(r"\bdid not (?:significantly )?(?P<verb>" + "|".join(sorted(set(_PLAIN_VERBS.values()))) + r")\b")
_BARE_NOW = re.compile(r"\bdoes not (?:significantly )?(?P<verb>" + "|".join(sorted(set(_PRESENT.values()))) + r")\b")


def negation_edits(claim: str) -> Iterator[Edit]:
    """A "not" put in or taken out."""
    if re.search(r"\b(?:not|no|neither|nor|without|cannot)\b", claim, re.IGNORECASE):
        yield from _removals(claim)
    elif not _NEGATED.search(claim) and not re.search(r"\b(?:may|might|could|some|most)\b", claim):
        yield from _additions(claim)


def _additions(claim: str) -> Iterator[Edit]:
    for match in _ADD.finditer(claim):
        new = f"{match['aux']} not{match['rest']}"
        yield replaced(match, new, "negation", "contradicts")
    for table, aux in ((_PLAIN_VERBS, "did"), (_PRESENT, "does")):
        for match in re.finditer(rf"(?<=\w )(?:{'|'.join(table)})\b", claim):
            before = claim[: match.start()].split()[-1].lower()
            if _FINITE_AFTER.match(claim, match.end()) and before not in _NO_SUBJECT:
                yield replaced(match, f"{aux} not {table[match[0]]}", "negation", "contradicts")


_NO_SUBJECT = frozenset(
    """is are was were be been being has have had the a an of in with by for and or to from significantly that which
    not as more less also when if than these those this their its both either""".split()
)


def _removals(claim: str) -> Iterator[Edit]:
    if len(re.findall(r"\b(?:not|no|neither|nor|without|cannot)\b", claim, re.IGNORECASE)) > 1:
        return
    for pattern, table in ((_BARE, _PLAIN_VERBS), (_BARE_NOW, _PRESENT)):
        forms = {verb: form for form, verb in table.items()}
        if match := pattern.search(claim):
            yield replaced(match, forms[match["verb"]], "negation", "contradicts")
            return
    for pattern, new in _REMOVE:
        if match := pattern.search(claim):
            words = match.expand(new)
            if words == "a ":
                noun = re.match(r"(?:statistically )?(?:significant )?(\w+)", claim[match.end() :])
                words = "" if noun and (noun[1].endswith("s") or noun[1] == "evidence") else words
                words = "an " if words and re.match(r"[aeiou]", claim[match.end() :]) else words
                words = words.capitalize() if match[0][0] == "N" else words.lower()
            yield Edit(match.start(), match[0], words, "negation", "contradicts")
            return


# Nothing may stand between the comparison and "than" but what is compared: "higher in A than in B" has no two subjects.
_THAN = re.compile(
    r"^(?P<first>[^,;]{3,60}?) (?P<middle>(?:was|were|is|are|had|has|have|showed|produced|caused|resulted in)"
    r"(?: (?:significantly|markedly|a|an|much|also|far|clearly|slightly)){0,3}"
    r" (?:(?:more|less) \w+|better|worse|(?:higher|lower|greater|smaller|longer|shorter|fewer|larger)(?: \w+){0,3}"
    r"|superior|inferior)) (?P<than>than|to) (?P<second>[^,;.]{3,60})(?P<end>\.?)$"
)
_BAD_ARM = re.compile(
    r"^(?:in|with|for|at|to|on|by|those|that|there|further|the\s(?:other|general)|after|before|when|it|they|among"
    r"|expected|previously|\d|or|and)\b"
    r"|\b(?:of|in|for|among|within|with|that|than|was|were|had|is|are|does?|did)\b",
    re.IGNORECASE,
)


def comparator_edits(claim: str) -> Iterator[Edit]:
    """The two arms of a comparison put in each other's place."""
    match = _THAN.match(claim)
    if not match or _NEGATED.search(claim):
        return
    first, second = match["first"], match["second"]
    if re.search(r"\b(?:in|at|on|among|for|with|by|from)\b", match["middle"].removeprefix("resulted in")):
        return
    if match["than"] == "to" and not re.search(r"(?:superior|inferior)$", match["middle"]):
        return
    if _BAD_ARM.search(first) or _BAD_ARM.search(second) or len(second.split()) > 6 or len(first.split()) > 7:
        return
    lowered = first if first[1:2].isupper() or first[:3].isupper() else first[:1].lower() + first[1:]
    new = f"{second[:1].upper() + second[1:]} {match['middle']} {match['than']} {lowered}"
    yield Edit(0, claim[: match.end("second")], new, "comparator", "contradicts", mirrored=False)
