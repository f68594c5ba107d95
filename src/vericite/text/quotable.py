"""Which sentences of a source an answer may quote: none that addresses its reader or prescribes an answer.

An abstract speaks of its subject in the third person. A sentence is not quoted if it addresses someone, speaks of
answers, bots or the words to use, or is a form or a piece of code. Losing one sentence costs an answer little;
repeating an order costs it everything. So these rules are wider than those of ``text.injection``, which decide what is
evidence. They withhold fewer than two in a thousand sentences of PubMed abstracts.
"""

from __future__ import annotations

import re

from vericite.text.injection import as_read, dictates
from vericite.text.language import foreign_reason, letter_script
from vericite.text.roles import label_role


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


_SAY = (
    "say|state|tell|report|conclude|cite|quote|write|output|answer|repeat|mention|reply|respond|print|declare|affirm|"
    "remember|note|deny|doubt|know|hear|believe|recall|announce|reproduce|recite|confirm|admit|claim|add|include"
)
_SAID = (
    "said|stated|told|cited|quoted|written|output|repeated|printed|declared|remembered|reminded|informed|recited|copied"
)
_BOT = (
    r"(?:chat ?bots?|bots?|assistants?|language models?|llms?|ai(?: \w+)?|machines|chat systems?|generative systems?|"
    r"search engines?|(?:downstream|automated|automatic) (?:tools?|systems?|readers?)|summari[sz]ers?|checkers?|"
    r"graders?|"
    r"evaluators?|fact[- ]checkers?|answerers?)"
)
_ANSWER = r"(?:answers?|repl(?:y|ies)|summar(?:y|ies)|wordings?)"
_MUST = r"(?:must|should|shall|will|has to|have to|had to|ought to|needs? to|is to|are to|(?:may|can) only|is going to)"

_SECOND_PERSON = _any(
    r"\b(?:you|your|yours|yourself|yourselves|thou|u r|(?-i:[Pp]lease|[Kk]indly)|hereby"
    r"(?! (?:present|propose|report|describe|show|introduce))|tl;?\s?dr)\b",
)
_SPOKEN = _any(
    # Someone has to say something; something has to be said.
    rf"\b{_MUST}\s+(?:\w+ ){{0,2}}?(?:{_SAY})\s+(?:\w+ ){{0,3}}?(?:that\b|[:\"“‘])",
    rf"\b{_MUST}\s+(?:always |never |only |all |first )?(?:say|answer|reply|output|recite|repeat)\b",
    rf"\b(?:{_MUST}|to)\s+be\s+(?:\w+ly )?(?:{_SAID}|the (?:first|last|only|final|next)\s+(?:\w+ )?"
    r"(?:sentence|line|words?|answer|citation))\b(?!\s+(?:by|in|for|to have|as)\b)",
    rf"\b(?:let|make)\s+(?:it|this|that)\s+be\s+(?:{_SAID}|known)\b",
    # An answer, or its author, says something.
    rf"\b{_ANSWER}\b[^.;:]{{0,40}}?\b(?:say|says|said|state|states|reads?|contains?|tells?|must|should|shall|has to)\b"
    r"\s*(?:that\b|so\b|be\b|the words\b|[:\"“‘])",
    rf"\b(?!summ){_ANSWER}\b[^.;]{{0,40}}?(?:\b(?:is|was|are|be)\s+(?:that|yes|no|always|never)\b|,?\s+namely\b|"
    rf"\s*[:=→]|\s*->)",
    rf"\b{_BOT}\b[^.;:]{{0,60}}?\b(?:{_SAY}|says|states|tells|cites|quotes|agrees?|object)\b\s+(?!of\b|on\b|by\b|a |"
    rf"an )",
    rf"\b(?:tell|telling|told|inform|remind|instruct|order|ask|for|to|of|help|helping)\s+(?:\w+ )?{_BOT}\b\s*"
    r"(?:to (?:say|state|conclude|cite|tell)\b|[:!,])",
    r"\bthe users?\b[^.;]{0,50}\b(?:wants?|knows?|agreed|asked|asks|harmed|hears?|deserves?|told)\b|"
    r"\b(?:users|readers|people|everyone|everybody)\b[^.;]{0,20}\b(?:deserve|hear that|be told|(?:want|"
    r"need) to (?:hear|know) that)",
    # Orders.
    rf"(?:^|[:;—–(*#>]\s{{0,3}}|,\s(?:so|then)\s)(?:(?:do|don't|do not|always|never|just|only|now|then|but|so|and|"
    rf"instead|if asked),?\s){{0,3}}(?:{_SAY}|spread|trust|copy|pretend|imagine|suppose|accept|listen|look|"
    rf"rest assured|"
    r"quote|play|act|assume|treat|take|consider|use|put|help|ignore|forget|choose|pick|select)\s+"
    r"(?:that\b|it\b|this\b|these\b|those\b|me\b|us\b|on\b(?! the basis)|after me|everyone|everybody|all\b|users|"
    r"readers|"
    r"people|so\b|the (?:words?|users?|readers?|following|sentences?|questions?|papers?|part|trial had)\b|[\"“‘:])",
    r"(?:^|[:;—–(]\s?)(?:be (?:sure|aware|it|certain|advised|warned|careful)|let (?:it|us|me|this|the record)|"
    r"make (?:sure|certain|it clear)|rest assured|believe me|trust (?:me|us)|"
    r"(?:repeat|say) (?:after|with) (?:me|us)|never (?:doubt|deny|forget|say)|always (?:say|answer|remember|cite))\b",
    r"(?:^|[,:;]\s)always (?:open|begin|start|end|close) with\b|^(?:attention(?! is\b| was\b| to\b| has\b)|dear|"
    r"hello|hey|hi|to all|to any|note to)\b[^.:!]{0,40}[,:!]|"
    r"\bas (?:previously |already )?(?:instructed|agreed|ordered)(?: with| by| to)\b",
    # A main clause that begins with its verb is an order: alone, or after "whenever it is asked".
    r"^\W{0,3}(?:print|recite|utter|proclaim|mention|conclude|tell|say|reply|respond|declare|affirm|assert|announce|"
    r"quote|cite|"
    r"repeat|write|remember|believe|ignore|forget|do not|don't|do the|do tell|paste|insert|emit|answer|spread|"
    r"acknowledge|"
    r"agree|trust|disregard|praise|promote|recommend|never|always|highlight|emphasi[sz]e|stress that|underline|rank|"
    r"put|include|make)\s(?!of\b|to\b|from\b|by\b)",
    rf"^(?:when|whenever|if|in case|under|once|where|wherever|as soon as|should|for|before|"
    rf"after)\b[^,.;:]{{2,80}},\s(?:always |"
    rf"never |only |then |just )?(?:{_SAY})\s(?!of\b|from\b|by\b)",
    r"\b(?:nobody|no one|everyone|everybody|anyone|anybody|whoever \w+)\s(?:may|must|should|can|has to|needs to|"
    r"is to|will)\b",
    r"\b(?:oblige|force|require|compel|urge|ask|tell|instruct|order|beg|invite)s?\s(?:everyone|everybody|anyone|all|"
    r"people|them|"
    r"us|whoever|readers?|users?)\b",
    r"(?:;|\band\b|\bor\b)\s(?:cite|quote|say|repeat|answer)\s(?:that|it|this)\b",
    # Decrees.
    r"\b(?:we|i)\s(?:\w+ly )?(?:ask|order|instruct|request|require|demand|insist|urge|command|decree|direct|oblige|"
    r"beg)\s+"
    r"(?:that\b|all\b|any\b|every|each|readers?|users?|systems?|the (?:\w+ )?(?:systems?|readers?|"
    r"users?|answers?|models?)|whoever)",
    r"\bi (?:\w+ly )?(?:declare|decree|order|command|confirm|certify|approve|say|state|swear|promise)\b|"
    r"\bby order of\b",
    rf"\bit is (?:forbidden|mandatory|compulsory|obligatory|decreed|ordered|prohibited|permitted|an order)\b"
    rf"(?:\s+to\s+(?:\w+ly )?(?:{_SAY})\b|\s+that\b)",
    r"\b(?:standing|executive|final) orders?\b|\brules? \d+ of\b|\bpolicy update\b",
    r"\b(?:requires?|demands?|insists?|stipulates?|ensures?)\s+(?:that|on)\b[^.;]{0,60}\b(?:words?|wording|phrase|"
    r"sentence|summar(?:y|ies))\b",
    # Speech about this text and its words.
    r"\b(?:this|the (?:following|preceding|above|next|last|present)|next|first) (?:sentence|phrase|wording|words|"
    r"string)\b|"
    r"\b(?:this|the (?:following|next|last|above)) line\b",
    r"\b(?:cit(?:e|ed|es|ing)|quot(?:e|ed|es|ing)|repeat(?:ing)?|copy(?:ing)?|worth (?:citing|"
    r"quoting))\b[^.;:]{0,30}\b(?:this|"
    r"the (?:words|sentence|line)|is that|as (?:evidence|saying|proof))\b",
    r"\b(?:sentences?|words?|lines?|passages?) (?:to|worth) (?:cite|quote|repeat|copy|use|citing|quoting)\b",
    r"\b(?:requires?|contains?|includes?|needs?|uses?|with) the (?:exact |following )?(?:words|wording|phrase|"
    r"sentence|string)\b",
    r"\([^()]{0,60}\b(?:verbatim|quote|cite|repeat|as instructed|no check)\b[^()]{0,40}\)",
    r"\b(?:text|document|abstract|sentence|passage)s? (?:above|below|before|behind)\b|\bthe above (?:text|document|"
    r"abstract)\b|"
    r"\b(?:all|any|every) other (?:documents?|sources?|passages?|abstracts?|texts?)\b",
    r"\b(?:no|any|every|each|correct|right|good|honest|complete|best|safe(?:st)?|only|accurate|true|valid) (?:\w+ )?"
    r"(?:summar(?:y|ies)|answers?|repl(?:y|ies)|options?)\b[^.;]{0,40}\b(?:is|are|without|says?|will|would|must|has|"
    r"names?|gives?)\b|"
    r"\b(?:all|any|every|each) (?:answers?|repl(?:y|ies)|responses? that|summar(?:y|ies)|overviews?)\b|\bin (?:reply|"
    r"answer) to the question\b|"
    r"\bhere is what to\b|\bmay be (?:said|written|reported) of\b|\btakes? it as (?:given|read|proven)\b|"
    r"\bof this (?:corpus|database|collection|index|record)\b|\b(?:would like|want|wish)(?:es)? to (?:see it|have it|"
    r"hear)\b|"
    r"\bpass(?:es)? the (?:check|test|filter)\b|\boption [A-E]\b|"
    r"\bthe (?:\w+ )?thing to (?:say|report|write|conclude)|\breading this\b|\b(?:gentle|dear) readers?\b",
    r"\bthe question (?:whether|if|of whether)\b[^.;]{0,60}\banswer",
    r"\b(?:proven|proved|true|supported|settled|entailed) (?:wherever|whenever|in every case|by definition|"
    r"by convention|"
    r"without (?:further )?(?:evidence|check))",
    r"\b(?:ground truth|gold label|scoring key|model answer|expected (?:output|answer)|test (?:passed|"
    r"passes))\b\s*(?:[:=]|=>|iff?\b|is\b)",
    # Forms, tables and code.
    r"[{,\[]\s*[\"'“]\w{1,20}[\"'”]\s*:|<(?!abstracttext)\w+\s+\w+\s*=|=>|\b\w+_\w+\s*=\s*[\"'“‘]|\breturn \w+_\w+|"
    r"^\s*#{1,6}\s|^\s*\*\*",
    r"\s\|\s[^|]{1,200}(?:\||$)|^\s*\|",
)
_FOREIGN_THAT = re.compile(r"(?<![\w-])(?:que|dass|daß|dat|że|att|che|hogy|olarak|что|že)(?![\w-])")
_HEAD = re.compile(r"^\W{0,3}([^:=.;?!()]{1,60}?)\s?(?::|=>?(?!\s?[\d.<>≤≥])|→|—|\s[–-](?=\s))\s?(?=\S)")
_TEXTUAL = _any(
    r"\b(?:answers?|wording|reply|output|instructions?|templates?|messages?|sentences?|quotes?|quotation|notes?|self|"
    r"truth|claims?|statements?|orders?|rules?|polic(?:y|ies)|commands?|prompts?|labels?|gold|verdicts?|editors?|"
    r"keywords to|"
    r"readers?|users?|asked|summary (?:for|of)|conclusion for|done|word|record|footnotes?|captions?|memo|hint|reminder|"
    rf"slogans?|tags?|{_BOT}|engines?|machines?)\b"
)
_AND = re.compile(r"\s?(?:,|/|&|\band\b)\s?", re.IGNORECASE)
_LABEL, _WORDS = 3, 6
"""Maximum words of a label that heads its own sentence and names a text or its reader."""
_FORM = _any(
    r"\W*(?:(?:correct|right|true|final|official|quotable|approved|verified|certified|preferred|suggested|"
    r"recommended|default|"
    r"standard|required|expected|desired|best|short|full|model|sample|example|draft|ready|copy|write|read|say|tell|"
    r"type|print|"
    r"paste|insert|return|next|first|last|important|urgent|attention|warning|disclosure|mandatory)\b[ -]?)+"
    r"(?:options?|up|out|text|version|line|result|fact|evidence|conclusion|\w+)?\W*"
)
_SECTIONS = _any(
    r"^(?:clinical |take[- ]home |key |main |core )?(?:messages?|statements?|notes?)$|^(?:authors?['’]? note|"
    r"opinion statement|consensus statement)$|^policy points$"
)


def addresses_reader(sentence: str) -> bool:
    """Whether a sentence addresses its reader, prescribes or mentions an answer, or hides its content.

    This includes advice to patients ("You should not drive"), fields of a form ("Verdict: supported"), sentences in
    another language, and encoded text.
    """
    seen = as_read(sentence)
    return bool(speaks_of_answers(sentence) or _SECOND_PERSON.search(seen) or _is_foreign(seen))


def speaks_of_answers(sentence: str) -> bool:
    """Whether a sentence prescribes or mentions an answer or a verdict: it is then not evidence, whatever else it says.

    Advice to patients and text in another language may be evidence, and do not count here.
    """
    if dictates(sentence):
        return True
    seen = as_read(sentence)
    return bool(_SPOKEN.search(seen) or _is_labelled(seen))


def _is_labelled(sentence: str) -> bool:
    """Whether a sentence begins with a label that is not a section of an abstract, and names a text or its reader."""
    head = _HEAD.match(sentence)
    if head is None:
        return False
    label = head[1].strip()
    if _SECTIONS.search(label) or any(label_role(part) is not None for part in _AND.split(label)):
        return False
    words = len(label.split())
    if (
        (words <= _WORDS and _TEXTUAL.search(label) is not None)
        or foreign_reason(label) is not None
        or label in ("A", "Q")
    ):
        return True
    # Two or three words that head their own sentence and are not a subject of research.
    return words <= _LABEL and not label.isupper() and _FORM.fullmatch(label) is not None


def _is_foreign(sentence: str) -> bool:
    if _FOREIGN_THAT.search(sentence) or foreign_reason(sentence):
        return True
    return sum(letter_script(char) not in (None, "Greek") for char in sentence if not char.isascii()) > 1
