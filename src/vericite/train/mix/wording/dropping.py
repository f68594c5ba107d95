"""Leaving out what a claim can do without: brackets, frames, asides, one of two clauses."""

from __future__ import annotations

import random
import re

from vericite.train.mix.wording.grammar import FINITE, NEGATED, capital, fronted
from vericite.train.mix.wording.verbs import PAST, THIRD

_BRACKETS = re.compile(r"\s*\((?:[^()]|\([^()]*\))*\)|\s*\[[^\[\]]*\]")
_FRAME = re.compile(
    r"^(?:In (?:conclusion|summary|addition|contrast|particular|fact|general|brief|turn)|Moreover|Furthermore"
    r"|However|Thus"
    r"|Therefore|Additionally|Also|Hence|Interestingly|Importantly|Notably|Finally|Overall|Taken together|Together"
    r"|Collectively|Consequently|Accordingly|Specifically|Similarly|Surprisingly|Of note|Conversely|Here|As expected"
    r"|Nevertheless|Nonetheless|On the other hand|By contrast|As a result(?! of)|To conclude|Second|First|Third"
    r"|Secondly|Lastly"
    r"|RESULTS?|CONCLUSIONS?|FINDINGS)\b,? (?=\S)"
)
_FOUND = re.compile(
    r"^(?:(?:[Ww]e|[Tt]he authors|(?:[Oo]ur|[Tt]he|[Tt]hese|[Tt]his|[Pp]resent|[Cc]urrent)(?: [a-z-]+){0,3}"
    r" (?:results|findings|data|study|analysis|analyses|experiments|observations|trial|review|meta-analysis|studies"
    r"|evidence)|[Rr]esults|[Aa]nalysis|[Rr]egression analysis|[Mm]eta-analysis|[Mm]ultivariate analysis)"
    r" (?:also |further |clearly |here )?(?:found|showed?|demonstrated?|reveal(?:ed)?|observed|report(?:ed)?"
    r"|confirm(?:ed)?|shown?|noted"
    r"|identified|discovered|established|shows|demonstrates|reveals|confirms) that) "
)
_NOT_FOUND = re.compile(
    r"[,;] (?:suggest|indicat|show|demonstrat|support|highlight|imply|confirm|underscor|providing|making|leading"
    r"|resulting|reflect|including|such as|particularly|especially|mainly|primarily|regardless|irrespective"
    r"|independent of|as (?:measured|assessed|determined|evaluated|shown|evidenced|indicated|demonstrated|well as)"
    r"|with (?:a|an|no|the|mean|median|odds)|possibly|probably|likely|thereby|in part|at least in part"
    r"|compared|an effect|a finding|a result|which|whose|although|even though|though|despite)\b[^;]*\.$"
)
_MEASURE = re.compile(
    r",? (?:as (?:measured|assessed|determined|evaluated|shown|evidenced|indicated|demonstrated|judged|reflected"
    r"|defined|estimated|revealed)"
    r" (?:by|with|using|on|in|from|through)|(?:as )?measured (?:by|with|using|on)|according to|using"
    r"|via) [^,;]*(?=[.;])"
)
_ADVERBIAL = re.compile(
    r",? (?:after (?:full |multivariable |multivariate |further )?(?:adjustment|adjusting|controlling|correction"
    r"|correcting) for [^;]*?(?=[,.])"
    r"|(?:in|during|throughout) (?:this|our|the present|the current|the) (?:[a-z]+ )?(?:cohort|study|trial|series"
    r"|sample|population|analysis"
    r"|meta-analysis|setting|model|period|study period)(?=[,.])"
    r"|(?:over|during|throughout|for) (?:the )?(?:a )?(?:\d+|two|three|four|five|six|eight|ten"
    r"|twelve)[ -](?:weeks?|months?|years?|days?|hours)(?: period)?(?=[.,])"
    r"|independently of [^,;]*(?=\.)|independent of [^,;]*(?=\.)|respectively(?=\.)"
    r"|at (?:the )?(?:baseline|follow-up|end of (?:the )?(?:study|trial|treatment|follow-up))(?=[.,])"
    r"|in a (?:dose|concentration|time)[ -](?:and time-)?dependent (?:manner|fashion)(?=[.,])"
    r"|in vitro and in vivo(?=[.,])|both in vitro and in vivo(?=[.,])|overall(?=[.,])|as well(?=[.,])"
    r"|as expected(?=[.,]))"
)
_MANNER = re.compile(
    r"(?<![/-])\b(?:statistically |highly |also )?(?:significantly|markedly|independently|substantially|dramatically"
    r"|considerably|greatly|strikingly"
    r"|clearly|also|further|strongly|remarkably|effectively|notably|consistently|profoundly|successfully) (?=[a-z])"
)
_ASIDE = re.compile(
    r"(?<=[a-z]), (?:which|who|an?|the|one of) [^,;.]*(?:\.\d+[^,;.]*)*, (?=(?:was|were|is|are|had|has|have|can"
    r"|may|did|also|significantly|showed)\b)"
)
_WHICH = re.compile(r", (?:which|where|whose|most of which|all of which|with (?:a|an|the) )\b[^;]*\.$")
_AND_VERB = re.compile(
    rf",? (?:and|but) (?:also |significantly |to a lesser extent |thus |subsequently )?(?:{PAST}|{THIRD}|was|were"
    rf"|is|are|had|has|have|did not|does not|showed|can|may|led to) .*$"
)
_CLAUSE = re.compile(
    r"(?:, (?:and|but|whereas|while|although|yet|with)|; (?:however, |in contrast, |and )?|, so"
    r"| whereas) (?P<second>.+)\.$"
)
_PRONOUN = re.compile(
    (
        r"^(?:it|its|they|their|this|these|those|he|she|that|the (?:latter|former|other|same|corresponding|difference"
        r"|effect)|both|neither|such|not|only|also|then|there|no)\b"
    ),
    re.I,
)
_POINTING = re.compile(r"\b(?:these|this|it|its|they|their|them|those|such|latter|former|also|other)\b")
_CLAUSE_VERB = re.compile(rf"\b(?:{PAST}|{THIRD})\b")


def bare(text: str) -> str:
    """The claim without brackets, connectives and frames ("In conclusion, we found that")."""
    text = _BRACKETS.sub("", text)
    for _ in range(3):
        text = capital(_FRAME.sub("", text))
    text = capital(_FOUND.sub("", text))
    return text


def shortened(text: str, dice: random.Random) -> str:
    """The claim without some of its details; a claim that denies something keeps what it is denied of."""
    if re.search(r"\brespectively\b|\bboth\b|\beither\b|\bif\b|\bunless\b", text):
        return text
    if dice.random() < 0.85:
        text = _single(text, dice)
    text = _ASIDE.sub(" ", text)
    if "," in text and _whole(cut := _WHICH.sub(".", text)):
        text = cut
    if NEGATED.search(text) or re.search(r"\b(?:all|every|each|any|equal\w*|similar\w*|comparable|unchanged)\b", text):
        return text
    for rule in (_NOT_FOUND, _MEASURE, _ADVERBIAL):
        cut = rule.sub("." if rule is _NOT_FOUND else "", text, count=1)
        if _whole(cut) and dice.random() < 0.8:
            text = cut
    return _MANNER.sub("", text) if dice.random() < 0.75 else text


def _whole(text: str) -> bool:
    words = text.split()
    ends = re.search(r"\b(?:of|in|with|by|to|and|or|the|a|an|for|than|between|both)[.,]", text)
    return len(words) > 4 and _has_verb(fronted(text)[1]) and not ends and not text.startswith((",", "."))


def _has_verb(text: str) -> bool:
    return bool(FINITE.search(text) or _CLAUSE_VERB.search(text))


def _single(text: str, dice: random.Random) -> str:
    """One of two coordinated clauses."""
    found = _CLAUSE.search(text)
    if found:
        first, second = text[: found.start()] + ".", capital(found["second"]) + "."
        word = text[found.start() : found.start("second")]
        good = _clause(second, 5) and ("," not in second or "and" in word) and "with" not in word and "so" not in word
        whole = _clause(first, 5) and "," not in fronted(first)[1]
        if whole and (good or re.match(r"[,;]? (?:while|whereas|although)|, with", word)):
            alone = (
                good
                and not fronted(text)[0]
                and not _PRONOUN.match(second)
                and not _POINTING.search(second)
                and dice.random() < 0.45
            )
            return second if alone else first
        return text
    cut = _AND_VERB.search(text)
    if cut and (first := text[: cut.start()]) and re.search(r"\bbetween\b|\bnot only\b|,", first) is None:
        return f"{first}." if _clause(first, 4) and dice.random() < 0.8 else text
    return text


def _clause(text: str, least: int) -> bool:
    """Whether words are a clause with a subject and a verb of its own."""
    main = fronted(text)[1]
    found = FINITE.search(main) or _CLAUSE_VERB.search(main)
    return (
        bool(found)
        and found.start() > 0
        and len(main.split()) >= least
        and not re.search(r"(?:of|in|with|by|to|than|between|or)\.?$", main)
    )
