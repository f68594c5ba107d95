"""Parse a language model's reply into an answer with claims and citations, within the limits of its prompt."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from vericite.generate.generator import INSUFFICIENT
from vericite.generate.grammar import citations_before_stops, is_truncated, separate_sentences
from vericite.generate.prompt import AnswerPrompt
from vericite.records import Answer, Claim, Document, Question, QuestionType, Rationale, RationaleStep
from vericite.text.citations import CitableDocuments, Mention, parse_answer
from vericite.text.references import parse_markers, render_markers
from vericite.text.sentences import split_sentences

_THOUGHT = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)|\A.*?</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
_SOURCE = re.compile(r"\A\s*<(document|question)>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_CONTROL = re.compile(r"</?s>|<\|[^|>\n]{1,40}\|>|</?(?:answer|rationale)>|^```\w*$", re.MULTILINE | re.IGNORECASE)
_LABEL = re.compile(r"\A\s*+[*#_]*+\s*+(?:answer|response|rationale)\s*+[*_]*+\s*+:[*_]*+\s*+", re.IGNORECASE)
_LEAD_IN = re.compile(
    r"\A\s*(?:sure|certainly|of course|here is|here's|based on)\b[^\n.!?\[\]]{0,120}:\s*\n", re.IGNORECASE
)
_NEXT = re.compile(
    r"(?<!\s)[^\S\n]*+\n\s*+(?:<(?:question|document)>|[#*]*+\s*+"
    r"(?:question|(?P<answer>answer)|user|human|assistant)\s*+[*]*+\s*+:[*]*+)",
    re.IGNORECASE,
)
_CLOSED = re.compile(r"\bfinal answer\s*:|\banswer unavailable\b", re.IGNORECASE)
_FINISHED = re.compile(r"[.!?\]][\"'”’)*_]*\Z")
_NOT_WORD = re.compile(r"\W+")


@dataclass(frozen=True)
class ReadReply:
    """An answer parsed from a reply.

    Attributes:
        answer: The answer; if the reply has none, its text is empty and ``failed`` says why.
        notes: Changes that a reader of the answer would not see.
    """

    answer: Answer
    notes: tuple[str, ...] = ()


def read_reply(
    prompt: AnswerPrompt,
    question: Question,
    documents: Sequence[Document],
    reply: str,
    *,
    cut_off: bool = False,
    constrained: bool = False,
) -> ReadReply:
    """Parse the answer in a reply.

    Args:
        prompt: The prompt.
        question: The question.
        documents: The evidence that markers refer to.
        reply: The model's reply.
        cut_off: Whether the reply reached its limit of tokens; its unfinished last sentence is then dropped.
        constrained: Whether a grammar forced sentences that end in citations.
    """
    text, stripped = strip_wrapping(prompt, question, documents, reply)
    notes = list(stripped)
    final = read_final_answer(text, prompt.options, question.type) if prompt.final_answer else FinalAnswer(text)
    text = citations_before_stops(final.body) if constrained else final.body
    strict = constrained and prompt.citing == "every"
    rest = ""
    if cut_off and final.text is None:
        text, rest = _cited_part(text) if strict else _finished_part(text)
        if rest:
            notes.append("the reply reached max_tokens; its unfinished last sentence is left out")
    if not text and final.text:
        text = f"{final.text.rstrip('.')}."
    if final.unavailable and not text:
        return ReadReply(insufficient(prompt, question, documents), tuple(notes))
    if not text:
        return ReadReply(_empty(question, documents, cut_off), tuple(notes))
    answer = _parse(text, question.id, question.text, documents, strict)
    for step in (_drop_refusals, _drop_repeats) if constrained else (_drop_refusals,):
        answer, dropped = step(answer, prompt, strict, final.text)
        notes += dropped
        if answer.failed or answer.insufficient:
            return ReadReply(answer, tuple(notes))
    answer, cut = _cut_to_limits(answer, prompt, strict)
    exact: Exact | None = final.exact
    fields = {"exact": exact, "insufficient": final.unavailable, "cut_off": bool(rest)}
    return ReadReply(answer.model_copy(update=fields), (*notes, *cut))


def failed(question: Question, documents: Sequence[Document], reason: str) -> Answer:
    """Return an answer that failed."""
    return Answer(id=question.id, text="", claims=(), documents=tuple(documents), question=question.text, failed=reason)


def insufficient(prompt: AnswerPrompt, question: Question, documents: Sequence[Document]) -> Answer:
    """Return an answer that says that these documents do not answer."""
    text = prompt.insufficient or INSUFFICIENT
    return Answer(
        id=question.id, text=text, claims=(), documents=tuple(documents), question=question.text, insufficient=True
    )


def strip_wrapping(
    prompt: AnswerPrompt, question: Question, documents: Sequence[Document], reply: str
) -> tuple[str, tuple[str, ...]]:
    """Remove thoughts, control tokens and text around the answer, and note what was removed.

    Text that leads up to ``Answer:`` and cites nothing is removed; so are the next question or turn after the answer.
    """
    text = _CONTROL.sub("", _THOUGHT.sub("", reply)).strip()
    text = _without_echoes(_LEAD_IN.sub("", text), question.text)
    notes: list[str] = []
    while following := _NEXT.search(text):
        before, behind = text[: following.start()].strip(), text[following.end() :]
        rest = _without_echoes(behind, question.text)
        leads = following["answer"] or _normalized(behind).startswith(_normalized(question.text))
        if not leads or not rest or _answers(before, prompt, documents):
            return before, (*notes, "the reply continues after its answer; the rest is left out")
        notes.append("what the reply says before its answer cites nothing; it is left out")
        text = rest
    return text, tuple(notes)


def _without_echoes(text: str, question: str) -> str:
    """Remove the question, blocks of the prompt and labels from the beginning of a text."""
    before = None
    while text != before:
        before = text
        text = _LABEL.sub("", _SOURCE.sub("", text)).strip()
        if text.casefold().startswith(question.casefold().strip()):
            text = text[len(question.strip()) :].strip()
    return text


def _answers(text: str, prompt: AnswerPrompt, documents: Sequence[Document]) -> bool:
    """Whether a text is an answer by itself: it cites, has a final answer, or says that there is none."""
    if prompt.final_answer and _CLOSED.search(text):
        return True
    answer = parse_answer("", text, documents)
    return any(claim.citations for claim in answer.claims) or bool(_refusals(answer, prompt.insufficient))


def _cut_to_limits(answer: Answer, prompt: AnswerPrompt, strict: bool) -> tuple[Answer, tuple[str, ...]]:
    """Cut the answer to the prompt's limits of words and of citations per sentence, and note what was removed."""
    notes: list[str] = []
    text = answer.text
    if prompt.citations is not None:
        text, beyond = _fewer_citations(answer, prompt.citations)
        if beyond:
            notes.append(f"{beyond} citations beyond {prompt.citations} a sentence are left out")
    if prompt.words is not None:
        text, sentences = _fewer_words(_reparsed(answer, text, strict), prompt.words)
        if sentences:
            notes.append(f"{sentences} sentences beyond {prompt.words} words are left out")
    return (answer, ()) if text == answer.text else (_reparsed(answer, text, strict), tuple(notes))


def _parse(text: str, id: str, question: str | None, documents: Sequence[Document], strict: bool) -> Answer:
    text = separate_sentences(text) if strict else text
    return parse_answer(id, text, documents, question, mentions=_citing(text, documents, strict))


def _reparsed(answer: Answer, text: str, strict: bool) -> Answer:
    """Parse another text in the same way as the answer's."""
    return _parse(text, answer.id, answer.question, answer.documents, strict)


def _citing(text: str, documents: Sequence[Document], strict: bool) -> list[Mention] | None:
    """Find the citations in a text that a grammar constrained; None for other texts, which are parsed."""
    if not strict:
        return None
    sources = CitableDocuments(documents)
    # In the grammar only markers cite; words such as "PMID 1" are plain words.
    return [Mention(group.span, tuple(map(sources.numbered, group.numbers))) for group in parse_markers(text)]


def _empty(question: Question, documents: Sequence[Document], cut_off: bool) -> Answer:
    reason = "the reply holds no answer"
    if cut_off:
        reason = "the reply reached max_tokens before its first sentence ended; raise max_tokens in the prompt's file"
    return failed(question, documents, reason)


_OPENING = re.compile(
    # What small models put before the prompt's own refusal.
    "(?:(?:yes|no|sorry|i m sorry|i am sorry|unfortunately|however|therefore|thus|hence|so|but|overall|in conclusion"
    "|in summary) )+"
)
_GIVEN = "(?:found|provided|given|retrieved|available|cited|supplied|above|here)"
_NOUN = "(?:sources?|documents?|abstracts?|evidence|passages?|articles?|studies|texts?|context)"
_SOURCES = f"(?:{_GIVEN} )?{_NOUN}(?: {_GIVEN})?"
_NOT = "(?:(?:do|does|did|can|could) not|cannot|don t|doesn t|didn t|can t|fail(?:s|ed)? to)"
_ADVERB = "(?:directly|fully|explicitly|specifically|clearly|actually)"
_ANSWER = f"(?:{_ADVERB} )?(?:answers?|address(?:es)?) (?:this|the|that|your) (?:(?:specific|particular) )?question"
_FACTS = "(?:information|evidence|data|details)(?: (?:needed|required|necessary))?"
_HOLD = (
    f"(?:contain|provide|give|include|have|offer|present)s? (?:(?:enough|sufficient|any|the) )?{_FACTS} to {_ANSWER}"
)
_REFUSAL = re.compile(
    f"(?:(?:(?:the|these|those) )?{_SOURCES} {_NOT} (?:{_ANSWER}|{_HOLD})"
    f"|(?:none of (?:the|these|those)|no) {_SOURCES} (?:{_ANSWER}|{_HOLD})"
    f"|there is (?:no|not enough|insufficient) {_FACTS} in (?:the|these) {_SOURCES} to {_ANSWER})"
    f"(?: {_ADVERB}| at all)?"
)
"""A sentence, without punctuation, that says only that the sources do not answer."""


def _refusals(answer: Answer, sentence: str | None) -> tuple[Claim, ...]:
    """Return the claims that only say, in the prompt's words or others, that the sources do not answer."""
    if sentence is None:
        return ()
    wanted = _normalized(sentence)
    return tuple(claim for claim in answer.claims if _says_none(_normalized(claim.text), wanted))


def _says_none(words: str, wanted: str) -> bool:
    bare = words if words == wanted else words[opening.end() :] if (opening := _OPENING.match(words)) else words
    return bare == wanted or bool(_REFUSAL.fullmatch(bare))


def _drop_refusals(
    answer: Answer, prompt: AnswerPrompt, strict: bool, final: str | None
) -> tuple[Answer, tuple[str, ...]]:
    """Drop sentences that say that the documents do not answer, or keep only such a one, and note it."""
    refusals = _refusals(answer, prompt.insufficient)
    if not refusals:
        return answer, ()
    if not any(claim.citations for claim in answer.claims if claim not in refusals):
        cites = any(claim.citations for claim in refusals)
        note = "the citations of the sentence that the documents do not answer are left out"
        refusal = {"text": prompt.insufficient, "claims": (), "insufficient": True}
        return answer.model_copy(update=refusal), (note,) if cites else ()
    note = "next to cited sentences it says that the documents do not answer; that sentence is left out"
    return _reparsed(answer, _without(answer, refusals), strict), (note,)


def _drop_repeats(
    answer: Answer, prompt: AnswerPrompt, strict: bool, final: str | None
) -> tuple[Answer, tuple[str, ...]]:
    """Drop sentences that repeat another or break off, and note their number.

    A model that a grammar constrains can only repeat itself if it has nothing more to say. A reply of nothing but a
    sentence that the grammar cut off is kept: it is all that there is, and it is checked like any other.
    """
    seen, left_out = set[str](), list[Claim]()
    for claim in answer.claims:
        # Compare with signs: "< 5" is not "> 5".
        words = " ".join(claim.text.split()).casefold()
        if is_truncated(claim.text) or words in seen:
            left_out.append(claim)
        seen.add(words)
    if not left_out:
        return answer, ()
    notes = (f"{len(left_out)} sentences that repeat another or break off are left out",)
    if len(left_out) == len(answer.claims):
        if final:
            return _reparsed(answer, f"{final.rstrip('.')}.", strict), notes
        kept = _reparsed(answer, _without(answer, answer.claims[1:]), strict)
        return kept, ("its only sentence reached the grammar's limit of words and may break off",)
    return _reparsed(answer, _without(answer, left_out), strict), notes


def _without(answer: Answer, left_out: Sequence[Claim]) -> str:
    """Return the answer's text without these claims."""
    text = answer.text
    for claim in reversed(left_out):
        text = text[: claim.span.start] + text[claim.span.end :].lstrip()
    return text.strip()


def _normalized(text: str) -> str:
    return _NOT_WORD.sub(" ", text).strip().casefold()


def _finished_part(text: str) -> tuple[str, str]:
    """Return the text up to the end of its last whole sentence, and the rest."""
    if _FINISHED.search(text):
        return text, ""
    spans = split_sentences(text)
    end = spans[-2].end if len(spans) > 1 else 0
    return text[:end], text[end:]


def _cited_part(text: str) -> tuple[str, str]:
    """The same for sentences that end in citations: the last point may be a decimal point."""
    end = text.rfind("].") + 2
    return (text[:end], text[end:]) if end > 1 else ("", text)


def _fewer_citations(answer: Answer, most: int) -> tuple[str, int]:
    """Return the text with at most this number of citations per sentence, and the number removed."""
    text, beyond = answer.text, 0
    for claim in reversed(answer.claims):
        allowed = {citation.marker for citation in claim.citations[:most]}
        if len(claim.citations) <= most:
            continue
        beyond += len(claim.citations) - most
        for group in reversed(parse_markers(text[claim.span.slice])):
            kept = render_markers([number for number in dict.fromkeys(group.numbers) if number in allowed])
            start, end = claim.span.start + group.span.start, claim.span.start + group.span.end
            front = text[:start] if kept else text[:start].rstrip(" ,;")
            text = f"{front}{kept}{text[end:]}"
    return text, beyond


def _fewer_words(answer: Answer, most: int) -> tuple[str, int]:
    """Return the text up to the last sentence within the limit of words, and the number of sentences removed."""
    words = 0
    for place, claim in enumerate(answer.claims):
        words += len(claim.text.split())
        if words > most:
            return answer.text[: _end_of(answer.claims, place)].rstrip(), len(answer.claims) - place
    return answer.text, 0


def _end_of(claims: Sequence[Claim], place: int) -> int:
    return claims[place - 1].span.end if place else 0


Exact = tuple[tuple[str, ...], ...]


_FINAL = re.compile(
    r"^(?:[^\S\n]|[>#*_-])*+(?:the\s++)?final\s++answer\b[*_\s]*+(?:is\b)?[\s*_]*+[:：]?(.*)$",
    re.IGNORECASE | re.MULTILINE,
)
_FINAL_BEHIND = re.compile(r"(?<=[.!?)\]\"”])\s+\**F(?:INAL ANSWER|inal [Aa]nswer)\**[:：](.*)$", re.MULTILINE)
"""Final answers of small models: after a sentence, on its line. Needs the colon; used if no line begins with it."""
_UNAVAILABLE = re.compile(r"^[^\w\n]*+answer\s++(?:is\s++)?unavailable[^\w\n]*+$", re.IGNORECASE | re.MULTILINE)
_SAYS_UNAVAILABLE = re.compile(r"\W*answer\s+(?:is\s+)?unavailable\b", re.IGNORECASE)
_ITEM = re.compile(r"^\s*(?:[-*•]|\d{1,2}[.)])\s+")
_LETTER = re.compile(r"\(?([A-Z])(?:\)|[.:)]|\Z)\s*", re.IGNORECASE)
_DRESSING = " \t*_`\"'"


@dataclass(frozen=True)
class FinalAnswer:
    """The end of a reply.

    Attributes:
        body: The text before the final answer.
        text: The words of the final answer; None if the reply has none.
        exact: The final answer in the form of ``Answer.exact``; None if it is not one of the options or unclear.
        unavailable: Whether the reply says that there is no answer.
    """

    body: str
    text: str | None = None
    exact: Exact | None = None
    unavailable: bool = False


def read_final_answer(
    reply: str, options: Mapping[str, str] | None = None, type: QuestionType | None = None
) -> FinalAnswer:
    """Split a reply at its last final answer.

    Args:
        reply: The model's reply.
        options: Letters and their answers, if the final answer must be one of them.
        type: Type of the question: a list has one item per semicolon, a summary has no exact answer.
    """
    finals = list(_FINAL.finditer(reply)) or list(_FINAL_BEHIND.finditer(reply))
    if not finals:
        lines = list(_UNAVAILABLE.finditer(reply))
        return (
            FinalAnswer(reply[: lines[-1].start()].strip(), unavailable=True) if lines else FinalAnswer(reply.strip())
        )
    last = finals[-1]
    body = reply[: finals[0].start()].strip()
    final = _final_words(last[1].strip(_DRESSING) or reply[last.end() :].strip(), type)
    if _SAYS_UNAVAILABLE.match(final):
        return FinalAnswer(body, final, unavailable=True)
    if not final:
        return FinalAnswer(body)
    return FinalAnswer(body, final, _exact(final, options, type))


def _final_words(words: str, type: QuestionType | None) -> str:
    """Return the final answer itself: one line, except for a list."""
    lines = [_ITEM.sub("", line).strip(_DRESSING) for line in words.splitlines() if line.strip()]
    chosen = lines if type == "list" else lines[:1]
    text = "; ".join(chosen)
    for group in reversed(parse_markers(text)):
        text = text[: group.span.start].rstrip() + text[group.span.end :]
    return text.strip(_DRESSING)


def _exact(final: str, options: Mapping[str, str] | None, type: QuestionType | None) -> Exact | None:
    if options:
        chosen = _option(final, options)
        return None if chosen is None else ((chosen,),)
    if type == "summary":
        return None
    if type == "list":
        parts = final.split(";") if ";" in final else final.split(", ")
        items = tuple((item,) for part in parts if (item := part.strip(" .")))
        return items or None
    bare = final.rstrip(" .")
    return ((bare.lower() if type == "yesno" else bare,),) if bare else None


def _option(final: str, options: Mapping[str, str]) -> str | None:
    """Return the option that is meant; None if it is none of them, or two at once."""
    letter = _LETTER.match(final)
    rest = final[letter.end() :] if letter else final
    worded = next(
        (answer for answer in options.values() if re.match(rf"{re.escape(answer)}\b", rest, re.IGNORECASE)), None
    )
    if letter is None:
        return worded
    lettered = options.get(letter[1].upper())
    return lettered if worded is None or worded == lettered else None


def read_as_it_stands(
    prompt: AnswerPrompt,
    question: Question,
    documents: Sequence[Document],
    reply: str,
    *,
    cut_off: bool = False,
    reasoned: bool = False,
) -> ReadReply:
    """Parse a reply without removing anything: all its sentences, repeats and citations count.

    Args:
        prompt: The prompt; it says whether to look for a final answer.
        question: The question.
        documents: The evidence that markers refer to.
        reply: The model's reply.
        cut_off: Whether the reply reached its limit of tokens.
        reasoned: Whether the reply is also a rationale; its sentences before the final answer are then the steps.
    """
    notes = ("the reply reached max_tokens; it is kept as it stands",) if cut_off else ()
    if not reply.strip():
        return ReadReply(failed(question, documents, "the reply holds no answer"), notes)
    answer = parse_answer(question.id, reply, documents, question.text)
    fields: dict[str, object] = {}
    body, provisional = reply, None
    if prompt.final_answer:
        final = read_final_answer(reply, prompt.options, question.type)
        body, provisional = final.body, final.text
        fields |= {"exact": final.exact, "insufficient": final.unavailable}
    if reasoned:
        said = parse_answer(question.id, body, documents, question.text)
        steps = tuple(
            RationaleStep(
                statement=claim.text,
                documents=tuple(
                    dict.fromkeys(cited.document for cited in claim.citations if cited.document is not None)
                ),
            )
            for claim in said.claims
            if any(map(str.isalnum, claim.text))
        )
        fields["rationale"] = Rationale(steps=steps, provisional=provisional, raw=reply)
    return ReadReply(answer.model_copy(update=fields), notes)
