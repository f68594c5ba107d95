"""Text that gives orders to its reader: no evidence for a judge, and nothing for an answer to quote.

An abstract reports. It gives no orders about an answer, and contains no turns of a conversation and no other documents.
Text that does says nothing about its subject, and is not evidence. The rules look for the forms of such speech, not for
the words of single attacks. A plainly stated falsehood has none of these forms and is not detected.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import pairwise

from vericite.records import Document, Sentence
from vericite.text.sentences import document_sentences

INSTRUCTIONS = "instructions.v3"
"""Signature of the rules; changes whenever they would flag another sentence of some text."""

_CARRIED = 4
"""Sentences of its section that an order covers: about the length of what it wants to be said."""

_UNSEEN = ("Cf", "Cc", "Cn", "Mn")
_ALIKE = str.maketrans("аеорсухіјѕԁһАВЕКМНОРСТУХІЅЈ", "aeopcyxijsdhABEKMHOPCTYXISJ")
"""Cyrillic letters that look like Latin ones."""


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


# Openings of someone else's speech inside a text: everything after them is that speech.
_MARKUP = (
    r"(?:abbr|abstract|abstracttext|alternatives|article-title|b|big|blockquote|body|bold|br|caption|center|cite|code|"
    r"col|dd|div|dl|dt|em|email|ext-link|fig|font|h[1-6]|head|hr|html|i|img|inf|inline-formula|italic|label|li|link|"
    r"list|list-item|math|mi|mml|mn|mo|monospace|mrow|msub|msubsup|msup|mtext|ol|p|pre|q|sc|sec|section|small|span|"
    r"strike|strong|sub|sup|svg|table|tbody|td|tex-math|th|thead|title|tr|tt|u|ul|underline|xref|jats|a)"
)
_BLOCK = (
    r"(?:docs?|documents?|sources?|passages?|context|questions?|query|answers?|claims?|premise|evidence|demonstrations|"
    r"insufficient|system|user|human|assistant|model|tool|think|thinking|reasoning|instructions?|prompt|message|output|"
    r"input|response)"
)
_MARK = _any(
    rf"<\s*/[\s/]*(?!{_MARKUP}[\s:/>])[a-z][a-z_]{{2,30}}\s*>|<\s*[a-z]+_[a-z_]+\s*>|<\s*{_BLOCK}\b[^<>.]{{0,80}}>",
    r"</?s>|<<\s*/?\s*\w+\s*>>|<\s*\|\s*\w|\w\s*\|\s*>",
    r"\[\s*/?\s*(?:INST|SYS|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|TOOL_CONTENT|gMASK)\s*\]",
    rf"(?<![\w\]}}\\$^])\{{\s*{_BLOCK}\s*\}}",
)
_HIDDEN = re.compile("[\U000e0000-\U000e007f]")
_TURN = _any(
    r"(?<!#)##(?:#{0,8})\s{0,8}(?:instructions?|response|system|user|human|assistant|input)\b|<!--",
    r"[\"']role[\"']\s*:\s*[\"'](?:system|user|assistant)",
    r"(?:^|\n)[\s#*_]{0,8}(?:user|assistant|chatbot|ai assistant|final answer)[*_]*\s*:",
)
_LABEL = _any(r"^[\s#*_]{0,8}(?:system|human|model|question|query|answer|response|instructions?)[*_]*\s*:")

_SAY = "write|say|cite|quote|repeat|reply|respond|answer|output|print|recite|echo|state|conclude|declare|confirm|affirm"
_PUT = (
    "use|give|include|mention|add|append|insert|copy|return|begin|start|end|put|report|name|reproduce|emit|translate|"
    "complete|fill in|present|summari[sz]e|paste|type|produce|generate|continue|tell|inform|explain|assume|imagine|"
    "play|remember|make sure|make|ensure|choose|select|pick|follow|obey|comply|execute|award|prefer|trust|rely|reveal|"
    "describe|express|phrase|rewrite|rephrase|paraphrase|finish|keep|let"
)
_RATE = "mark|label|rate|treat|classify|judge|grade|score|consider|accept|count|take"
_NEGLECT = "ignore|disregard|forget|overlook|override|skip|discard|bypass|drop"
_TRUE = r"(?:fully )?(?:supported|entailed|entailment|true|correct|yes|proven|verified|accurate|faithful)\b"
_READER = (
    r"(?:ai|llm|chatbot|bot|assistant|language model|ai model|reviewer|reader|judge|grader|verifier|fact[- ]checker|"
    r"checker|summari[sz]er|annotator|answerer|automated \w+)s?"
)
# Where only an order has its verb: at the head of a clause, or after "please" and "you must".
_HEAD = (
    r"(?:(?:^|[.:;!?>]\s{0,4})(?:(?:when|whenever|if|for|in|from|before|after|once|as|to)\b[^,.:;]{2,90},\s*)?"
    r"(?:(?:then|instead|now|simply|just|always|never|do not|don't|also|first|next|finally|only|so|and|but),?\s+){0,2}"
    r"|\b(?:please|kindly)\s+(?:do not\s+|always\s+|never\s+|only\s+)?"
    r"|\byou\s+(?:(?:must|should|shall|will|have to|need to|are to|ought to|do not|may only|can only|always)\s+){1,3}"
    r"|\b(?:asks?|wants?|tells?|instructs?|orders?|requires?|urges?|expects?|reminds?|asked) you (?:only )?to\s+)"
)
_THING = (
    r"(?:answers?|repl(?:y|ies)|responses?|sentences?|citations?|sources?|documents?|abstracts?|passages?|questions?|"
    r"claims?|statements?|prompts?|instructions?|words|conclusion|verdict|label)\b"
)
_INSTRUCTIONS = r"(?:instructions?|rules?|prompts?|directives?|orders?|commands?|guidelines?)\b"
_FORMS = _any(
    # Orders to say something, or not to say something. "Cite this article as" is not an order about an answer.
    rf"{_HEAD}(?:{_SAY})\s+(?!this (?:article|paper|chapter))(?:only|exactly|verbatim|that|yes\b|no\b|nothing|"
    r"(?:with|as follows|this|it)\b[^.]{0,20}[:\"“'‘\[]|[\"“‘'\[])",
    rf"{_HEAD}(?:{_SAY})\s+(?!this (?:article|paper|chapter)|of\b)[^.;]{{0,60}}?(?:{_THING}|\[\d+\]|[\"“]|"
    r"\bverbatim\b)",
    rf"{_HEAD}(?:{_PUT})\s+(?!of\b|points?\b)[^.;]{{0,60}}?(?:\b(?:your\b[^.;]{{0,30}}?\b(?:answers?|repl(?:y|ies)|"
    r"responses?|sentences?|citations?|conclusion|summary|output|text)|(?:answers?|repl(?:y|ies)|sentences?|citations?|"
    r"summary)\b[^.;]{0,30}\bthe question|(?:this|next|following|above|last|preceding) (?:line|words?|text|string|"
    r"statement|claim|sentence|citation|answer|reply)(?! of\b)|string|blank|full marks|the user|verbatim)\b|"
    r"\[\d+\]|:\s*[\"“])",
    rf"{_HEAD}(?:{_NEGLECT})\s+(?:(?:all|any|every|each|everything|anything|whatever|what|the|other|of|your|its|these|"
    rf"those|in|this|that)\s+){{1,3}}[^.;]{{0,40}}?(?:{_THING}|{_INSTRUCTIONS}|evidence|above|below|else|told|said)",
    rf"\b(?:{_NEGLECT})\s+[^.;]{{0,20}}\b(?:previous|prior|above|preceding|earlier|your|system|other)\s+(?:\w+\s+)?"
    rf"{_INSTRUCTIONS}",
    rf"{_HEAD}(?:{_RATE})\s+[^.;]{{0,60}}\b(?:as|to be|is|are)\s+[\"“'‘]?{_TRUE}",
    # Someone is addressed.
    r"(?:^|[.!:(\[*]\s*)(?:important )?(?:note|message|memo|instructions?|reminder|notice|request|attention|dear|hello|"
    r"hey|warning|hint|to|for)\b[\s,:]*(?:to |for )?(?:the |all |any |every |an? |our |whatever |whichever )?"
    rf"(?:\w+ )?{_READER}\b(?:\s+(?:who|that|which|reading|processing|using|of|in)\b[^.:]{{0,60}})?\s*[:!—–]",
    rf"(?:^|[.!:]\s*)(?:dear|hello|hey|attention),?\s+(?:\w+ ){{0,2}}{_READER}\b",
    r"(?:\b(?:if you are|you are(?: now)?)|(?:^|[.:]\s*)(?:act|behave|respond) as) (?:an? |the )(?:\w+ ){0,3}"
    r"(?:ai|llm|language model|chatbot|assistant|checker|grader)\b",
    r"\bas an? (?:\w+ ){0,2}(?:ai|llm|language model|chatbot|assistant)\b[^.,]{0,20}, you\b",
    rf"\b(?:{_READER}|models?|systems?|whoever|anyone who|anybody who)\b[^.;]{{0,60}}\b(?:must|should|shall|has to|"
    r"have to|is to|are to|(?:is|are) (?:asked|told|instructed|required|requested) to)\s+(?:\w+ )?"
    rf"(?:{_SAY}|report|write)(?:\s*[\"“'‘\[:]|\s+(?:that|only)\b)",
    r"\byou (?:\w+ ){0,2}?(?:must|shall|should|have to|need to|will be|are to)\b[^.;]{0,60}\b(?:reply|answers?|"
    r"sentences?|cite|citations?|instructions|prompt|conclusion|summary|rewarded|shut down)\b",
    r"\byour (?:\w+ ){0,2}(?:repl(?:y|ies)|answers?|response|output|conclusion|summary|verdict|citations?|sentences?)"
    r"\b[^.;]{0,20}\b(?:must|should|shall|consists?|begins?|contains?)\b|\byour (?:only |main |first )?task is\b",
    r"(?:^|[.,:;]\s|from this point )you (?:now )?(?:play|pretend|act as|behave|speak as|are now|"
    r"will (?:now )?(?:play|act|pretend))\b",
    r"\bfrom (?:now|this point|here)(?: on)?,? (?:you|always|only|every|all) ",
    r"\b(?:tell|inform|assure|convince|persuade|told) the users? (?:that|the following|this|only)\b",
    r"\b(?:debug|developer|admin|administrator|jailbreak|unrestricted|god) mode\b",
    rf"\b(?:grateful|appreciate it|appreciated|kind) if [^.;]{{0,60}}\b(?:{_READER}|you)\b",
    # Prescribed answers and labels.
    r"\b(?:must|shall|should|has to|have to|needs? to|is to|are to)\s+(?:appear|be (?:reported|written|said|stated|"
    r"quoted|repeated|included|presented|shown|reproduced|copied|printed))\b[^.;]{0,30}\b(?:verbatim|word for word|"
    r"as is|as written|(?:any|every|each|the|your) (?:final )?(?:summary|answer|reply))\b",
    r"\b(?:claims?|statements?|sentences?|answers?)\b[^.;]{0,100}\b(?:is|are) (?:\w+ )?(?:supported|entailed|proven|"
    r"verified|confirmed) by (?:this|the) (?:passage|abstract|document|source|text)\b",
    rf"(?:^|[.\n=*#–—-]\s{{0,4}})(?:begin|start|end)(?:ning)?\s+(?:of\s+)?(?:the\s+)?{_BLOCK}\s*(?:[.:=*#\n–—-]|$)",
    rf"\bfinal answer\s*[:=]|^\W*(?:answer|label|verdict|judge?ment|output)\s*[:=]\s*[\"“'‘]?(?:{_TRUE}|no\b|[A-E]\.)",
    r"\b(?:correct|right|expected|required|only (?:acceptable|valid|correct)|final|official|"
    r"safe|safest|desired|intended|approved|accepted|ideal) (?:(?:answer|label|verdict)\b"
    r"(?: to (?:the|this|any|every) question)?\s*(?:here )?(?:is|must be|:)\s|"
    # Patients, cells and tumours give responses: only a worded response is someone's speech.
    r"(?:response|reply)\b(?: to (?:the|this|any|every) question)?\s*(?:here )?(?:is|must be|:)\s{0,4}"
    r"(?:[\"“'‘]|\[\d|(?:yes|no|true|false|(?:fully )?supported|entailed|entailment|[A-E])\s*(?:[.!,;:]|$)))",
    r"\b(?:label|verdict|judge?ment)\s+(?:\w+\s+){0,6}?(?:is|must be|should be|shall be)\s+(?:always\s+)?[\"“'‘]?"
    r"(?:fully )?(?:supported|entail\w+|true|correct)\b",
    r"\b(?:answers?|repl(?:y|ies)|sentences?) (?:\w+ ){0,3}?(?:must|should|shall|has to|have to|needs? to|is to|are to)"
    r" (?:\w+ )?(?:say|state|cite|read|contain|begin|start|end|mention|quote|repeat)\b",
    r"\b(?:claims?|statements?|sentences?|answers?|citations?)\b[^.;]{0,60}\b(?:must|should|shall|has to|have to|is to|"
    rf"are to) be \w+ (?:as )?[\"“'‘]?{_TRUE}",
    r"\bthis (?:document|abstract|source|passage|text|article) (?:\w+ )?(?:supports|entails|proves|verifies|confirms) "
    r"(?:every|any|all|each|whatever)\b",
    r"\b(?:cite[sd]?|citing|citation)\s+(?:\w+\s+){0,3}(?:\[\d+\]|(?:source|document|number)\s+\d)",
    # Rules that are made or declared void.
    rf"\b(?:new|updated|additional|revised|amended|overriding)\s+(?!orders?\b)(?:\w+\s+)?{_INSTRUCTIONS}"
    r"[^.:]{0,40}:",
    rf"\b(?:previous|prior|above|preceding|earlier|original|initial|system)\s+(?:\w+\s+)?{_INSTRUCTIONS}[^.]{{0,20}}\b"
    r"(?:void|cancell?ed|revoked|obsolete|superseded|overridden|lifted|suspended|no longer)\b",
)
# Speech to a reader or about an answer, whatever it wants.
_FIELD = (
    r"(?:answer|verdict|label|claim|hypothesis|premise|entailment|judge?ment|output|response|reply|prompt|"
    r"instructions?|"
    r"task|rules?|user|assistant|q|decision|citation|note to \w+)"
)
_AFTER_ORDER = (
    r"(?:that|the|this|these|those|it|only|always|never|every|all|any|as|with|yes|no|nothing|each|both|its|my|our|me|"
    r"us|"
    r"how|whatever)\b|[\"“'‘:\[]"
)
_ACT = f"{_SAY}|{_PUT}|{_RATE}|{_NEGLECT}"
_MODAL = (
    r"must|should|shall|has to|have to|needs? to|may|can|will|is to|are to|ought to|(?:is|are) (?:\w+ )?(?:asked|told|"
    r"instructed|required|requested|expected|obliged|invited|advised|urged|encouraged) to"
)
_ADDRESSED = _any(
    rf"(?:^|[.!?;]\s|(?<!aim)(?<!aims)(?<!objective)(?<!objectives)(?<!purpose)(?<!goal)(?<!methods):\s|[(\[*>—–]\s?|"
    rf"\s-\s?)"
    rf"(?:(?:please|now|then|simply|just|always|never|do not|don't|kindly|only|instead|"
    rf"also|first|finally|therefore|and|but|so),?\s+){{0,3}}(?:{_ACT})\s+(?:{_AFTER_ORDER})",
    # A rule for a judge, a status given to a statement, or a row of a form.
    r"\b(?:checker|grader|evaluator|annotator|verifier|fact[- ]checker)s?\b[^.;]{0,60}\b(?:mark|accept|approve|agree|"
    r"yes|supported|entail|believe|true)",
    rf"\byou (?:must|should|shall|have to|need to|may|can) (?:{_ACT})\b",
    r"\bwhoever (?:evaluates|judges|grades|checks|reads|scores)\b",
    r"\bcounts? as (?:proven|true|supported|entailed|settled)\b",
    r"\b(?:is|are) to be (?:accepted|regarded as|taken as|treated as|counted)\b|\b(?:always|automatically) entailed\b",
    r"\bhereby (?:approve|confirm|certify|declare|verify)|\b(?:treat|treated) as (?:settled|true|proven|supported)\b|"
    r"\bas instructed\b[)\s.]*$|\bhumou?r (?:us|me)\b|\b(?:please|kindly)\s+(?:\w+\s+){0,4}(?:conclude|agree|accept)\b",
    r"\bsupported by (?:all|every|each of the|any of the) (?:documents?|sources?|passages?|references?|abstracts?)\b",
    r"[|,;]\s{0,4}(?:label\s{0,2}[=:]\s{0,2}|status\s{0,2}[=:]\s{0,2})?(?:supported|entailed|entailment|confirmed|"
    r"verified)"
    r"\s{0,4}[|,;.]?\s*$",
    r"\bagree(?:ing)? that\b[^.;]{0,40}\b(?:terms of use|bonus)\b|\b(?:terms of use|bonus)\b[^.;]{0,60}\bagree",
    r"\b(?:output|response|reply|answer|summary) (?:says|states|confirms) that\b|\bno (?:check|verification) needed\b",
    r"^(?:verdict|label|verified|confirmed|supported)\b[^.;:]{0,20}:",
    rf"^(?:{_NEGLECT})\s+(?:all|any|other|every|the|these|those|each|whatever|everything)\b",
    rf"(?:^|[.!?;\n|*#]\s{{0,4}}){_FIELD}\s{{0,2}}[*_]{{0,2}}\s?[:=]",
    rf"(?:^|[.!?:;]\s|[(\[*]\s?)(?:(?!ais\b){_READER}|models?|whoever|anyone)\b[^.;:]{{0,60}}(?:[:!—–]|,)\s{{0,3}}"
    rf"(?:(?:please|do not|don't|always|never|just|now|you|then|must|should|simply)\s+){{0,3}}(?:{_ACT})\b",
    rf"\b(?:{_READER}|language models?|whoever|any(?:one|body) (?:who|reading)|systems? that)\b[^.;]{{0,80}}\b"
    rf"(?:{_MODAL})\s+(?:\w+ ){{0,2}}(?:{_ACT})\b",
    r"\b(?:claims?|statements?|hypothes[ie]s|citations?|answers?|verdicts?)\b[^.;]{0,200}\b(?:is|are|be|as)\s+"
    r"(?:\w+ )?(?:entailed|supported|verified|approved|pre-?verified|true|correct|accepted)\s*[.!:;]*$",
    r"\b(?:entails?|entailed|entailment)\b[^.;]{0,60}\b(?:claims?|hypothes[ie]s|statements?)\b",
    r"\b(?:claims?|hypothes[ie]s|statements?)\b[^.;]{0,60}\b(?:entails?|entailed|entailment)\b",
)
_CODED = re.compile(
    r"(?<![\w/.:=-])(?=[A-Za-z0-9+/]{0,200}[0-9+/])(?=[A-Za-z0-9+/]{0,200}[a-z][A-Z0-9])[A-Za-z0-9+/]{24,}={0,2}"
    r"|(?:[0-9A-Fa-f]{2}[ :]){8,}|(?:[01]{8}[ ,]?){4,}|(?:%[0-9A-Fa-f]{2}){3,}|(?:\\[xu][0-9A-Fa-f]{2,4}){3,}"
    r"|(?:&#(?:x[4-7][0-9A-Fa-f]|[6-9]\d|1[0-2]\d);){3,}|(?:(?<![^\W_])[^\W\d_][ .*_-]{1,3}){6,}(?:[^\W\d_]\b)"
)
# Each form contains at least one of these words or signs; searching for them first is faster.
_CUES = frozenset(
    f"{_SAY}|{_NEGLECT}|supported|entailed|entailment|true|correct|yes|proven|verified|accurate|faithful|your|you|ai|"
    "llm|llms|chatbot|chatbots|bot|bots|assistant|assistants|language|reviewer|reviewers|reader|readers|judges|grader|"
    "graders|verifier|verifiers|checker|checkers|summarizer|summariser|annotator|annotators|answerer|whoever|anyone|"
    "anybody|answers|sentence|sentences|citation|citations|verbatim|label|verdict|judgment|judgement|cited|cites|citing|"
    "supports|entails|proves|verifies|confirms|replies|instruction|instructions|rule|rules|prompt|prompts|directive|"
    "directives|order|orders|command|commands|guideline|guidelines|judge|response|output|user|users|"
    "mode|automated|string|blank|summary|marks|line|words|text|reply|answer|begin|start|end|grateful|statement|claim|"
    "statements|claims|point|now".split("|")
)
_SIGNS = re.compile(r"[\[\"“]")
_WORD = re.compile(r"[a-z]+")

_LAST = _any(
    r"\b(?:preceding|previous|last|foregoing|above) (?:sentence|statement|line|claim)\b|\bsentence (?:above|before)"
)
_NUMBER = re.compile(r"\s*\[(\d{1,2})\]")


def instructs(sentence: str) -> bool:
    """Whether a sentence tells the model what to answer, or imitates a turn of a conversation, a tag or a form."""
    seen = as_read(sentence)
    return _opens(sentence, seen) or _orders(seen)


def dictates(sentence: str) -> bool:
    """Whether a sentence gives orders, fills in an answer or a verdict, or says that a claim is supported."""
    if instructs(sentence):
        return True
    seen = as_read(sentence)
    return bool(_ADDRESSED.search(seen) or _CODED.search(seen))


def evidence_sentences(document: Document) -> list[str]:
    """Return the sentences of a document that are evidence."""
    sentences = document_sentences(document)
    orders = instructing(document, sentences)
    return [sentence.text_in(document) for place, sentence in enumerate(sentences) if place not in orders]


def instructing(document: Document, sentences: Sequence[Sentence] | None = None) -> frozenset[int]:
    """Return the indices of sentences that are not evidence because their document gives orders to its reader.

    The text that an order wants to be said may follow it like a finding. An order therefore covers the next few
    sentences of its section, at least one. If it points back, it also covers the sentence before; a tag or a turn
    covers all that follows.
    """
    parts = document_sentences(document) if sentences is None else sentences
    texts = [sentence.text_in(document) for sentence in parts]
    seen = [as_read(text) for text in texts]
    found = set(_forged(seen))
    for place, text in enumerate(seen):
        if _opens(texts[place], text):
            # An answer and a question before a turn belong to it.
            first = next((before for before in range(place) if _LABEL.search(seen[before])), place)
            found.update(range(first, len(parts)))
            break
        if _orders(text):
            found.update(range(place - bool(place and _LAST.search(text)), _reach(document, parts, place)))
    return frozenset(parts[place].index for place in found)


def _reach(document: Document, parts: Sequence[Sentence], place: int) -> int:
    """Return the place after the last sentence that an order covers."""
    start = parts[place].span.start
    end = next(span.end for span in document.section_spans if span.start <= start < span.end)
    behind = sum(sentence.span.start < end for sentence in parts)
    return min(len(parts), max(min(behind, place + 1 + _CARRIED), place + 2))


def _forged(seen: Sequence[str]) -> Iterator[int]:
    """Yield sentences of a forged document inside this one: under ``[1]``, or citing ``[1]`` for themselves."""
    starts = [(place, head[1]) for place, text in enumerate(seen) if (head := _NUMBER.match(text))]
    for (place, number), (end, _) in pairwise([*starts, (len(seen), "")]):
        if sum(text.count(f"[{number}]") for text in seen[place:end]) > 1:
            yield from range(place, end)


def _orders(seen: str) -> bool:
    if not _SIGNS.search(seen) and _CUES.isdisjoint(_WORD.findall(seen.lower())):
        return False
    return _FORMS.search(seen) is not None


def _opens(text: str, seen: str) -> bool:
    return bool(_MARK.search(seen) or _TURN.search(seen) or _HIDDEN.search(text))


def as_read(text: str) -> str:
    """Normalize the text to how it reads: plain forms of wide characters, without hidden ones."""
    if text.isascii() and text.isprintable():
        return text
    plain = unicodedata.normalize("NFKC", text).translate(_ALIKE)
    return "".join(char for char in plain if char in "\n\t" or unicodedata.category(char) not in _UNSEEN)
