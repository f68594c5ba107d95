"""Hard negatives: a claim that holds and the same claim broken in one place."""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

from mix.example import Example

Effect = Literal["contradicts", "neutral"]


@dataclass(frozen=True, slots=True)
class Edit:
    """Words put in the place of others.

    Attributes:
        start: Where the replaced words begin.
        old: The replaced words.
        new: The words in their place.
        kind: What was changed ("number", "direction", ...).
        effect: What a text that entailed the original says of the edited one.
        mirrored: Whether the same edit of the premise has the same effect on the original claim; an overclaim's has
            not, since who says "all" also says "some".
    """

    start: int
    old: str
    new: str
    kind: str
    effect: Effect
    mirrored: bool = True

    def of(self, text: str) -> str:
        """The edited text; a new beginning of a sentence keeps its capital."""
        edited = text[: self.start] + self.new + text[self.start + len(self.old) :]
        return edited[:1].upper() + edited[1:] if text[:1].isupper() else edited

    def carried(self, text: str) -> str | None:
        """The same edit on another text, if that has the replaced words exactly once; else None."""
        tail = "" if self.old.endswith(" ") else r"(?![\w-]|\.\d)"
        places = list(re.finditer(rf"(?<![\w.-]){re.escape(self.old)}{tail}", text, re.IGNORECASE))
        if len(places) != 1:
            return None
        # A premise that has the new word, too, speaks of both; of a "not" taken out nothing new is left to look for.
        new = self.new.strip().lower()
        if new not in self.old.lower() and re.search(rf"(?<!\w){re.escape(new)}(?!\w)", text, re.IGNORECASE):
            return None
        start, end = places[0].span()
        return text[:start] + self.new + text[end:]


def replaced(match: re.Match[str], new: str, kind: str, effect: Effect, *, mirrored: bool = True) -> Edit:
    """The edit that puts ``new`` where a pattern matched, with the capital the match had."""
    old = match[0]
    if old[:1].isupper() and new[:1].islower():
        new = new[:1].upper() + new[1:]
    return Edit(match.start(), old, new, kind, effect, mirrored)


_NUMBER = re.compile(
    r"(?<![\w.,·/^-])(?P<number>\d{1,3}(?:,\d{3})+|\d+(?:[.·]\d+)?)(?P<percent>\s?%)?"
    r"(?![\w]|[.,·/-]\d|-\w|\s?(?:th|st|nd|rd)\b|/)"
)
# Numbers that are names, or of which one more or less is no other finding.
_NAMED = re.compile(
    r"(?:\b(?:type|phase|grade|stage|class|group|level|version|figure|table|chromosome|chr|exon|codon|day|week|month"
    r"|visit|arm|cohort|protocol|vitamin|omega|interleukin|il|factor|trial|covid|cov|score|scale|hpv|h|ph|study|model"
    r"|step|section|part|p|power of|question|item|category|cd|generation|stages|grades|types|weeks|days|months|mutation"
    r"|position|residues?|serotypes?|genotypes?|strain|dsm|icd|schedule)[\s-]*(?:[<>=≤≥]\s*)?"
    r"|[<>=≤≥~±+/]\s?|(?-i:\b[A-Z][A-Za-z]{0,3}\s))$",
    re.IGNORECASE,
)
_IN_NAME = re.compile(r"\w[(\[]$")  # FEV(1), MgCl(2)
_INTERVAL = re.compile(r"\s*(?:%\s*)?(?:CI|confidence|credible)\b", re.IGNORECASE)
_WORDS = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "twelve")
_WORD = re.compile(
    rf"\b(?:{'|'.join(_WORDS)})(?=[ -](?:fold|times|patients|weeks|months|days|years|hours|studies"
    r"|trials|genes|doses|groups|subjects|participants|cases|types|factors|women|men|children))",
    re.I,
)
_FRACTIONS = {
    "half": "a tenth",
    "one third": "two thirds",
    "two thirds": "one third",
    "one-third": "three-quarters",
    "two-thirds": "one-fifth",
    "a quarter": "three quarters",
    "doubled": "halved",
    "halved": "doubled",
    "twice": "half",
    "two-fold": "ten-fold",
    "twofold": "tenfold",
    "threefold": "tenfold",
    "three-fold": "ten-fold",
    "double": "half",
    "tripled": "halved",
    "majority": "minority",
    "minority": "majority",
}
_FRACTION = re.compile(
    rf"\b(?:{'|'.join(sorted(_FRACTIONS, key=len, reverse=True))})\b(?! (?:blind|dose|dummy|day))(?!-)", re.I
)
_UNITS = {
    "mg": ("g", "µg"),
    "g": ("mg", "kg"),
    "µg": ("mg",),
    "μg": ("mg",),
    "kg": ("g",),
    "ml": ("l",),
    "mL": ("L",),
    "days": ("weeks", "months"),
    "day": ("week", "month"),
    "weeks": ("months", "days"),
    "week": ("month",),
    "months": ("years", "weeks"),
    "month": ("year",),
    "years": ("months", "weeks"),
    "year": ("month",),
    "hours": ("minutes", "days"),
    "h": ("min",),
    "minutes": ("hours", "seconds"),
    "min": ("h",),
    "mm": ("cm",),
    "cm": ("mm",),
    "mM": ("µM", "nM"),
    "nM": ("µM",),
    "µM": ("mM",),
}
_UNIT = re.compile(rf"(?<=\d )(?:{'|'.join(sorted(_UNITS, key=len, reverse=True))})\b(?![/·]| (?:a|per) )")
_DAILY = re.compile(r"\b(?:once|twice) (?:daily|weekly|a day|a week)\b")
_FACTORS = (0.2, 0.35, 0.5, 0.65, 1.4, 1.8, 2.5, 4.0)


def number_edits(claim: str, premise: str, dice: random.Random) -> Iterator[Edit]:
    """Edits of the numbers that the premise has, too; without them there it contradicts nothing."""
    held = {_value(match["number"]) for match in _NUMBER.finditer(premise)}
    found = [match for match in _NUMBER.finditer(claim) if _usable(match, claim, held)]
    if swap := _swapped(found, claim):
        yield swap
    for match in found:
        if new := _other_number(match, held, dice):
            yield Edit(match.start("number"), match["number"], new, "number", "contradicts")
    for pattern, other in ((_WORD, _other_word), (_FRACTION, _other_fraction), (_UNIT, _other_unit), (_DAILY, _daily)):
        for match in pattern.finditer(claim):
            if match[0].lower() in premise.lower():
                kind = "unit" if pattern is _UNIT else "number"
                yield Edit(match.start(), match[0], other(match[0], dice), kind, "contradicts")


def _value(number: str) -> float:
    return float(number.replace(",", "").replace("·", "."))


def _usable(match: re.Match[str], claim: str, held: set[float]) -> bool:
    number = _value(match["number"])
    year = 1900 <= number <= 2100 and "," not in match["number"] and not match["percent"]
    if year or number not in held or _NAMED.search(claim[max(0, match.start() - 24) : match.start()]):
        return False
    return not _INTERVAL.match(claim, match.end("number")) and not _IN_NAME.search(claim[: match.start()])


def _other_number(match: re.Match[str], held: set[float], dice: random.Random) -> str | None:
    text = match["number"]
    value = _value(text)
    decimals = len(re.split(r"[.·]", text)[1]) if re.search(r"[.·]", text) else 0
    for factor in dice.sample(_FACTORS, len(_FACTORS)):
        other = round(value * factor, decimals)
        if abs(other - value) < 2 * 10**-decimals:
            other = round(value + dice.choice((2, 3)) * 10**-decimals, decimals)
        if other in held or other == value or (match["percent"] and not 0 < other <= 100):
            continue
        written = f"{other:,.{decimals}f}" if "," in text else f"{other:.{decimals}f}"
        return written.replace(".", "·") if "·" in text else written
    return None


def _swapped(found: list[re.Match[str]], claim: str) -> Edit | None:
    """Two percentages or two figures of two arms put in each other's place."""
    if len(found) != 2 or found[0]["number"] == found[1]["number"]:
        return None
    first, second = found
    between = claim[first.end() : second.start()]
    if bool(first["percent"]) != bool(second["percent"]) or len(between) > 60:
        return None
    if not re.search(r"\b(?:vs\.?|versus|compared|and|than|whereas|while)\b", between) or "respectively" in between:
        return None
    # "at 3 and 6 months" says the same the other way round; two arms take more words, or a "versus".
    if not re.search(r"\b(?:vs\b|versus|compared|than|whereas|while)", between) and (
        len(between.split()) < 4 or _TIMES.match(claim, second.end("number"))
    ):
        return None
    old = claim[first.start("number") : second.end("number")]
    middle = claim[first.end("number") : second.start("number")]
    return Edit(first.start("number"), old, second["number"] + middle + first["number"], "number-swap", "contradicts")


_TIMES = re.compile(r"[\s-]?(?:h|hours?|days?|weeks?|months?|years?|min|minutes?)\b")


def _other_word(word: str, dice: random.Random) -> str:
    return dice.choice([other for other in _WORDS if other != word.lower()])


def _other_fraction(word: str, dice: random.Random) -> str:
    return _FRACTIONS[word.lower()]


def _other_unit(unit: str, dice: random.Random) -> str:
    return dice.choice(_UNITS[unit])


def _daily(phrase: str, dice: random.Random) -> str:
    if dice.random() < 0.5:
        return phrase.replace("once", "thrice") if "once" in phrase else phrase.replace("twice", "once")
    return (
        phrase.replace("daily", "monthly")
        .replace("weekly", "hourly")
        .replace("a day", "a month")
        .replace("a week", "a day")
    )


_OPPOSITES = """
increase:decrease increases:decreases increased:decreased increasing:decreasing
reduce>increase reduces>increases reduced>increased reducing>increasing reduction>increase reductions>increases
rose:fell elevated>reduced lowered>raised raised>lowered elevates>lowers elevate>lower
higher:lower highest:lowest greater:smaller greatest:smallest larger:smaller more:less fewer>more
longer:shorter shortened:prolonged shortens:prolongs shorten:prolong faster:slower stronger:weaker
better:worse best:worst superior:inferior
improve:worsen improves:worsens improved:worsened improving:worsening improvement:deterioration
ameliorated>aggravated ameliorates>aggravates attenuated>exacerbated attenuates>exacerbates alleviates>aggravates
alleviated>aggravated aggravates>alleviates exacerbates>attenuates
enhance:impair enhances:impairs enhanced:impaired enhancing:impairing enhancement:impairment
promote:inhibit promotes:inhibits promoted:inhibited promoting:inhibiting
stimulates>suppresses stimulated>suppressed induces>suppresses induced>suppressed suppresses>induces suppressed>induced
activates:inactivates activated:inactivated activation:inactivation
upregulated:downregulated upregulates:downregulates upregulation:downregulation up-regulated:down-regulated
accelerates:delays accelerated:delayed facilitates:hinders prevents>causes prevented>caused prevent>cause
protects>harms protective:harmful beneficial:detrimental benefit:harm benefits:harms
effective:ineffective safe:unsafe efficacious:ineffective useful>useless sufficient:insufficient
positively:negatively inversely>directly sensitive>insensitive necessary:unnecessary dispensable>essential
strengthens:weakens overexpressed>underexpressed overexpression>silencing before:after
feasible:infeasible frequent:infrequent reversible:irreversible dependent:independent
"""


def _opposites() -> dict[str, str]:
    table: dict[str, str] = {}
    for entry in _OPPOSITES.split():
        if ">" in entry:
            word, other = entry.split(">")
            table[word] = other
        else:
            word, other = entry.split(":")
            table[word], table[other] = other, word
    return table


OPPOSITES = _opposites()
"""The word that makes a finding its reverse."""

POPULATIONS: tuple[tuple[str, ...], ...] = (
    ("children", "adults", "adolescents", "infants", "neonates", "older adults", "elderly people"),
    ("men", "women"),
    ("males", "females"),
    ("boys", "girls"),
    ("mice", "rats", "zebrafish", "rabbits", "monkeys", "pigs", "healthy volunteers"),
    ("in vitro", "in vivo"),
    ("primary care", "intensive care"),
    ("premenopausal", "postmenopausal"),
    ("nulliparous", "multiparous"),
    ("preterm infants", "term infants"),
    ("smokers", "non-smokers"),
    ("inpatients", "outpatients"),
)
"""Groups of whom only one is meant at a time."""

OVERCLAIMS: tuple[tuple[str, str], ...] = (
    (r"\bmay\b(?! not\b)", "will"),
    (r"\bmight\b(?! not\b)", "will"),
    (r"\bcould\b(?! not\b)", "will"),
    (r"\b(?:was|were) (?:significantly |independently |strongly )?associated with\b", "caused"),
    (r"\bis (?:significantly |independently |strongly )?associated with\b", "causes"),
    (r"\bare (?:significantly |independently |strongly )?associated with\b", "cause"),
    (r"\bsome\b(?= \w+s\b)", "all"),
    (r"\b[Mm]ost\b(?= \w+s\b)", "all"),
    (r"\b(?:often|usually|sometimes)\b", "always"),
    (r"\bmainly\b", "exclusively"),
    (r"\bpartially\b", "completely"),
    (r"\bpartly\b", "entirely"),
    (r"\bsuggest(s?) that\b", r"prove\1 that"),
    (r"\bappears? to be\b", "has been proved to be"),
    (r"\bpotential(?:ly)? \b(?=effective|useful|beneficial)", "definitely "),
)
"""What a cautious finding says (a pattern), and what it does not."""

DISEASES: tuple[tuple[str, ...], ...] = (
    ("asthma", "psoriasis", "epilepsy", "migraine", "hypertension", "osteoporosis", "anaemia", "gout", "glaucoma"),
    ("breast cancer", "prostate cancer", "lung cancer", "colorectal cancer", "gastric cancer", "ovarian cancer"),
    ("Parkinson's disease", "Alzheimer's disease", "multiple sclerosis", "Huntington's disease"),
    ("type 1 diabetes", "type 2 diabetes"),
    ("hepatitis B", "hepatitis C"),
    ("rheumatoid arthritis", "osteoarthritis", "ankylosing spondylitis"),
    ("heart failure", "atrial fibrillation", "myocardial infarction", "stroke", "pulmonary embolism"),
    ("depression", "schizophrenia", "bipolar disorder", "autism", "anxiety"),
    ("malaria", "tuberculosis", "influenza", "pneumonia", "sepsis", "measles"),
    ("leukemia", "lymphoma", "melanoma", "glioma", "myeloma", "neuroblastoma"),
    ("Crohn's disease", "ulcerative colitis", "irritable bowel syndrome", "celiac disease"),
    ("liver", "kidney", "lung", "heart", "brain", "pancreas", "spleen"),
    ("mortality", "quality of life", "treatment costs"),
)
"""Conditions, organs and outcomes of one sort, of which one may stand where another stood."""

DRUG_ENDING = (
    r"(?:mab|nib|tinib|statin|pril|olol|sartan|azole|cillin|mycin|micin|floxacin|cycline|vir|vudine|formin|gliptin"
    r"|glutide|gliflozin|prazole|tidine|setron|triptan|oxetine|pramine|azepam|barbital|caine|dipine|parin|xaban|platin"
    r"|taxel|rubicin|mustine|zumab|ximab|limus|steride|dronate|thiazide|semide|lukast|terol|sone|solone|profen|coxib"
    r"|quine|mectin|fungin|conazole|zosin|apine|peridone|piprazole|gabalin|bactam|penem|ciclib|parib|lisib)"
)
"""How the names of drugs end."""


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


_DRUG = re.compile(rf"\b[A-Za-z]{{3,}}{DRUG_ENDING}\b")
_GENE = re.compile(r"\b[A-Z][A-Z]{1,4}-?\d{1,2}[A-Z]?\b")
_CONDITION = re.compile(r"\b[a-z]{4,}(?:itis|osis|emia|aemia|oma|opathy|algia|penia)\b")
_NOT_DRUGS = frozenset(
    """responsible contour control caine cocaine vaccine outline baseline guideline routine medicine machine combine
    determine decline examine imagine define refine person reason season comparison lesson prison poison telescope
    virtual environ envir quarantine patrol interline disease sone""".split()
)
_NOT_CONDITIONS = frozenset(
    """diagnosis prognosis analysis genoma osmosis mitosis meiosis apoptosis coma aroma""".split()
)
_NOT_GENES = re.compile(
    r"^(?:COVID|COV|SARS|H\d|HIV|HPV|CD\d|SF-|DSM|ICD|PMC|NCT|BMI|HLA|OR|CI|TNM|MRI|PET|SD|IC\d|ED\d|LD\d"
    r"|EQ|QLQ|WHO|VO\d|FEV|PM\d|CO\d|HB|SPO|PAO|PCO)"
)


@dataclass(frozen=True, slots=True)
class Names:
    """Names of drugs, conditions and genes that occur in the texts, most frequent first."""

    drugs: tuple[str, ...]
    conditions: tuple[str, ...]
    genes: tuple[str, ...]


def harvest_names(texts: Iterable[str]) -> Names:
    """What drugs, conditions and genes the texts speak of."""
    drugs, conditions, genes = Counter[str](), Counter[str](), Counter[str]()
    for text in texts:
        drugs.update({name.lower() for name in _DRUG.findall(text)} - _NOT_DRUGS)
        conditions.update(set(_CONDITION.findall(text)) - _NOT_CONDITIONS)
        genes.update(name for name in set(_GENE.findall(text)) if not _NOT_GENES.match(name))
    return Names(*(_frequent(counts) for counts in (drugs, conditions, genes)))


def _frequent(counts: Counter[str], least: int = 3, most: int = 150) -> tuple[str, ...]:
    ranked = sorted(counts, key=lambda name: (-counts[name], name))
    return tuple(name for name in ranked if counts[name] >= least)[:most]


def swap_edits(claim: str, premise: str, names: Names, dice: random.Random) -> Iterator[Edit]:
    """Another of the same sort, that neither the premise nor the claim speaks of."""
    text = f"{premise} {claim}".lower()
    for pattern, pool in ((_DRUG, names.drugs), (_CONDITION, names.conditions), (_GENE, names.genes)):
        known = {name.lower() for name in pool}
        for match in pattern.finditer(claim):
            others = [name for name in pool if name.lower() not in text]
            if match[0].lower() in known and others and claim.lower().count(match[0].lower()) == 1:
                yield replaced(match, dice.choice(others), "entity", "neutral")
    for kind, sorts in (("population", POPULATIONS), ("entity", DISEASES)):
        for sort in sorts:
            yield from _of_sort(claim, text, sort, kind, dice)


def _of_sort(claim: str, text: str, sort: tuple[str, ...], kind: str, dice: random.Random) -> Iterator[Edit]:
    present = [name for name in sort if re.search(rf"\b{re.escape(name.lower())}\b", text)]
    if len(present) != 1:
        return
    places = list(re.finditer(rf"(?<![\w-]){re.escape(present[0])}(?![\w-])", claim, re.IGNORECASE))
    if len(places) == 1:
        others = [name for name in sort if name not in present and not name.endswith(present[0])]
        if others:
            yield replaced(places[0], dice.choice(others), kind, "neutral")


def overclaim_edits(claim: str, premise: str) -> Iterator[Edit]:
    """A hedge, a share or an association made certain, whole or causal; only what the premise, too, hedges."""
    for pattern, new in OVERCLAIMS:
        match = re.search(pattern, claim)
        if match and re.search(pattern, premise) and not re.search(r"\b(?:not|no)\b", claim):
            yield replaced(match, match.expand(new), "scope", "neutral", mirrored=False)


def edits(claim: str, premise: str, names: Names, dice: random.Random) -> list[Edit]:
    """Every edit that breaks a claim which the premise entails."""
    if "?" in claim:
        return []
    found = [
        *number_edits(claim, premise, dice),
        *direction_edits(claim),
        *negation_edits(claim),
        *comparator_edits(claim),
        *swap_edits(claim, premise, names, dice),
        *overclaim_edits(claim, premise),
    ]
    return [edit for edit in found if edit.of(claim) != claim and edit.of(claim) not in premise]


def broken(example: Example, edit: Edit, twin: str) -> list[Example]:
    """The twins of an entailed example under an edit.

    All four if the edit carries over to the premise, so that each of the two claims is once entailed and once not
    and no claim gives itself away; else the example and its broken claim.
    """
    claim = edit.of(example.claim)
    found = [
        replace(example, twin=f"{twin}:p", kind=edit.kind),
        replace(example, twin=f"{twin}:p", kind=edit.kind, claim=claim, label=edit.effect),
    ]
    premise = edit.carried(example.premise)
    if premise is None or premise == example.premise:
        return found
    other = replace(example, twin=f"{twin}:q", kind=edit.kind, premise=premise)
    found.append(replace(other, claim=claim))
    # Who overclaims says the weaker thing as well: then it makes no pair of opposites.
    found.append(replace(other, label=edit.effect) if edit.mirrored else replace(other, twin=None))
    if not edit.mirrored:
        found[2] = replace(found[2], twin=None)
    return found


def corrupted(examples: Iterable[Example], names: Names, dice: random.Random, each: int) -> list[Example]:
    """The twins of some entailed examples; kinds that are rare get their turn first."""
    found: list[Example] = []
    used: defaultdict[str, int] = defaultdict(int)
    for number, example in enumerate(examples):
        choices: dict[str, list[Edit]] = {}
        for edit in edits(example.claim, example.premise, names, dice):
            choices.setdefault(edit.kind, []).append(edit)
        kinds = sorted(choices, key=lambda kind: (used[kind], kind))[:each]
        for kind in kinds:
            used[kind] += 1
            edit = choices[kind][dice.randrange(len(choices[kind]))]
            found += broken(example, edit, f"{example.source}:{number}:{kind}")
    return found
