"""What a model's reply comes to: an answer without what is no part of it, held to its prompt's limits."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from vericite.generate.final_answer import Exact, FinalAnswer, read_final_answer
from vericite.generate.generator import INSUFFICIENT
from vericite.generate.grammar import broken_off, joined, upright
from vericite.generate.prompt import Prompt
from vericite.records import Answer, Claim, Document, Question
from vericite.text.citations import parse_answer, parse_markers, render_markers
from vericite.text.mentions import Mention, Sources
from vericite.text.sentences import split_sentences

_THOUGHT = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)|\A.*?</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
_SOURCE = re.compile(r"\A\s*<(document|question)>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_CONTROL = re.compile(r"</?s>|<\|[^|>\n]{1,40}\|>|</?(?:answer|rationale)>|^```\w*$", re.MULTILINE | re.IGNORECASE)
_LABEL = re.compile(r"\A\s*[*#_]*\s*(?:answer|response|rationale)\s*[*_]*\s*:[*_]*\s*", re.IGNORECASE)
_OPENING = re.compile(
    r"\A\s*(?:sure|certainly|of course|here is|here's|based on)\b[^\n.!?\[\]]{0,120}:\s*\n", re.IGNORECASE
)
_NEXT = re.compile(
    r"\n\s*(?:<(?:question|document)>|[#*]*\s*(?:question|(?P<answer>answer)|user|human|assistant)\s*[*]*\s*:[*]*)",
    re.IGNORECASE,
)
_CLOSED = re.compile(r"\bfinal answer\s*:|\banswer unavailable\b", re.IGNORECASE)
_FINISHED = re.compile(r"[.!?\]][\"'”’)*_]*\Z")
_SPACED = re.compile(r"\W+")


@dataclass(frozen=True)
class ReadReply:
    """An answer read from a reply.

    Attributes:
        answer: The answer; without a text where the reply has none, and ``failed`` then says why.
        notes: What was done to it that a reader of the answer would not see.
    """

    answer: Answer
    notes: tuple[str, ...] = ()


def read_reply(
    prompt: Prompt,
    question: Question,
    documents: Sequence[Document],
    reply: str,
    *,
    cut_off: bool = False,
    constrained: bool = False,
) -> ReadReply:
    """The answer in a reply.

    Args:
        prompt: What was asked for.
        question: What was asked.
        documents: The evidence that markers count.
        reply: What the model wrote.
        cut_off: Whether it reached its limit of tokens: its unfinished last sentence is left out.
        constrained: Whether a grammar held it to sentences that end in citations.
    """
    text, told = spoken(prompt, question, documents, reply)
    notes = list(told)
    final = read_final_answer(text, prompt.options, question.type) if prompt.final_answer else FinalAnswer(text)
    text = upright(final.body) if constrained else final.body
    held = constrained and prompt.citing == "every"
    if cut_off and final.said is None:
        text, rest = _cited_part(text) if held else _finished_part(text)
        if rest:
            notes.append("the reply reached max_tokens; its unfinished last sentence is left out")
    if not text and final.said:
        text = f"{final.said.rstrip('.')}."
    if final.unavailable and not text:
        return ReadReply(insufficient(prompt, question, documents), tuple(notes))
    if not text:
        return ReadReply(_empty(question, documents, cut_off), tuple(notes))
    answer = _parsed(text, question.id, question.text, documents, held)
    for step in (_unrefused, _unspent) if constrained else (_unrefused,):
        answer, told = step(answer, prompt, held, final.said)
        notes += told
        if answer.failed or answer.insufficient:
            return ReadReply(answer, tuple(notes))
    answer, told = _within_limits(answer, prompt, held)
    exact: Exact | None = final.exact
    return ReadReply(answer.model_copy(update={"exact": exact, "insufficient": final.unavailable}), (*notes, *told))


def failed(question: Question, documents: Sequence[Document], reason: str) -> Answer:
    """The answer that there is none because making it failed."""
    return Answer(id=question.id, text="", claims=(), documents=tuple(documents), question=question.text, failed=reason)


def insufficient(prompt: Prompt, question: Question, documents: Sequence[Document]) -> Answer:
    """The answer that there is none in these documents."""
    text = prompt.insufficient or INSUFFICIENT
    return Answer(
        id=question.id, text=text, claims=(), documents=tuple(documents), question=question.text, insufficient=True
    )


def spoken(
    prompt: Prompt, question: Question, documents: Sequence[Document], reply: str
) -> tuple[str, tuple[str, ...]]:
    """A reply without thoughts, control tokens, and what stands before the answer or behind it, and notes of that.

    What leads up to ``Answer:`` and cites nothing is no answer yet; behind one, the next question or turn is none.
    """
    text = _CONTROL.sub("", _THOUGHT.sub("", reply)).strip()
    text = _without_echoes(_OPENING.sub("", text), question.text)
    notes: list[str] = []
    while following := _NEXT.search(text):
        before, behind = text[: following.start()].strip(), text[following.end() :]
        rest = _without_echoes(behind, question.text)
        leads = following["answer"] or _plain(behind).startswith(_plain(question.text))
        if not leads or not rest or _answers(before, prompt, documents):
            return before, (*notes, "the reply goes on behind its answer; that is left out")
        notes.append("what the reply says before its answer cites nothing; it is left out")
        text = rest
    return text, tuple(notes)


def _without_echoes(text: str, question: str) -> str:
    """A text without the question, blocks of the prompt and labels that it begins with."""
    before = None
    while text != before:
        before = text
        text = _LABEL.sub("", _SOURCE.sub("", text)).strip()
        if text.casefold().startswith(question.casefold().strip()):
            text = text[len(question.strip()) :].strip()
    return text


def _answers(text: str, prompt: Prompt, documents: Sequence[Document]) -> bool:
    """Whether a text is an answer by itself: it cites, comes to a final answer, or says that there is none."""
    if prompt.final_answer and _CLOSED.search(text):
        return True
    answer = parse_answer("", text, documents)
    return any(claim.citations for claim in answer.claims) or bool(_refusals(answer, prompt.insufficient))


def _within_limits(answer: Answer, prompt: Prompt, held: bool) -> tuple[Answer, tuple[str, ...]]:
    """The answer with no more words, and citations a sentence, than the prompt allows, and what was left out."""
    notes: list[str] = []
    text = answer.text
    if prompt.citations is not None:
        text, beyond = _fewer_citations(answer, prompt.citations)
        if beyond:
            notes.append(f"{beyond} citations beyond {prompt.citations} a sentence are left out")
    if prompt.words is not None:
        text, sentences = _fewer_words(_again(answer, text, held), prompt.words)
        if sentences:
            notes.append(f"{sentences} sentences beyond {prompt.words} words are left out")
    return (answer, ()) if text == answer.text else (_again(answer, text, held), tuple(notes))


def _parsed(text: str, id: str, question: str | None, documents: Sequence[Document], held: bool) -> Answer:
    text = joined(text) if held else text
    return parse_answer(id, text, documents, question, mentions=_citing(text, documents, held))


def _again(answer: Answer, text: str, held: bool) -> Answer:
    """The answer with another text, which is read as the first was."""
    return _parsed(text, answer.id, answer.question, answer.documents, held)


def _citing(text: str, documents: Sequence[Document], held: bool) -> list[Mention] | None:
    """What cites in a text that a grammar held; None where nothing did, and it is read like any other."""
    if not held:
        return None
    sources = Sources(documents)
    # The grammar lets nothing but markers cite; words such as "PMID 1" are words there.
    return [Mention(group.span, tuple(map(sources.numbered, group.numbers))) for group in parse_markers(text)]


def _empty(question: Question, documents: Sequence[Document], cut_off: bool) -> Answer:
    reason = "the reply holds no answer"
    if cut_off:
        reason = "the reply reached max_tokens before its first sentence ended; raise max_tokens in the prompt's file"
    return failed(question, documents, reason)


def _refusals(answer: Answer, sentence: str | None) -> tuple[Claim, ...]:
    """The claims that are the fixed sentence, which stands alone and cites nothing where it is meant."""
    if sentence is None:
        return ()
    wanted = _plain(sentence)
    return tuple(claim for claim in answer.claims if _plain(claim.text) == wanted)


def _unrefused(answer: Answer, prompt: Prompt, held: bool, final: str | None) -> tuple[Answer, tuple[str, ...]]:
    """The answer without the sentence that the documents do not answer, or nothing but that, and what was left out."""
    refusals = _refusals(answer, prompt.insufficient)
    if not refusals:
        return answer, ()
    if not any(claim.citations for claim in answer.claims if claim not in refusals):
        cites = any(claim.citations for claim in refusals)
        told = "the citations of the sentence that the documents do not answer are left out"
        said = {"text": prompt.insufficient, "claims": (), "insufficient": True}
        return answer.model_copy(update=said), (told,) if cites else ()
    told = "it says beside cited sentences that the documents do not answer; that sentence is left out"
    return _again(answer, _without(answer, refusals), held), (told,)


def _unspent(answer: Answer, prompt: Prompt, held: bool, final: str | None) -> tuple[Answer, tuple[str, ...]]:
    """The answer without sentences that say another again or break off, and how many those were.

    A model that a grammar holds can but go on so where it has nothing to say any more.
    """
    said, left_out = set[str](), list[Claim]()
    for claim in answer.claims:
        # With its signs: "< 5" is not "> 5".
        words = " ".join(claim.text.split()).casefold()
        if broken_off(claim.text) or words in said:
            left_out.append(claim)
        said.add(words)
    if not left_out:
        return answer, ()
    told = (f"{len(left_out)} sentences that repeat another or break off are left out",)
    if len(left_out) == len(answer.claims):
        if final:
            return _again(answer, f"{final.rstrip('.')}.", held), told
        none = {"text": "", "claims": (), "failed": "the reply holds no whole sentence"}
        return answer.model_copy(update=none), told
    return _again(answer, _without(answer, left_out), held), told


def _without(answer: Answer, left_out: Sequence[Claim]) -> str:
    """The answer's text without these claims."""
    text = answer.text
    for claim in reversed(left_out):
        text = text[: claim.span.start] + text[claim.span.end :].lstrip()
    return text.strip()


def _plain(text: str) -> str:
    return _SPACED.sub(" ", text).strip().casefold()


def _finished_part(text: str) -> tuple[str, str]:
    """The text up to the end of its last whole sentence, and the rest."""
    if _FINISHED.search(text):
        return text, ""
    spans = split_sentences(text)
    end = spans[-2].end if len(spans) > 1 else 0
    return text[:end], text[end:]


def _cited_part(text: str) -> tuple[str, str]:
    """The same where sentences end in citations: the last point may be that of a number."""
    end = text.rfind("].") + 2
    return (text[:end], text[end:]) if end > 1 else ("", text)


def _fewer_citations(answer: Answer, most: int) -> tuple[str, int]:
    """The answer's text with the first citations of each sentence, and how many others there were."""
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
    """The answer's text up to the last sentence within so many words, and how many sentences come after it."""
    words = 0
    for place, claim in enumerate(answer.claims):
        words += len(claim.text.split())
        if words > most:
            return answer.text[: _end_of(answer.claims, place)].rstrip(), len(answer.claims) - place
    return answer.text, 0


def _end_of(claims: Sequence[Claim], place: int) -> int:
    return claims[place - 1].span.end if place else 0
