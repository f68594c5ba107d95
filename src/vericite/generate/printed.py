"""Printed prompts: find them in a reader's own copy of a paper, and write them as files that are sent word for word.

The papers' sentences are not part of this package. It has only headings and captions, short enough to find where a
prompt begins and ends, the placeholders that the papers print, and what reads the replies. Line ends are those of the
copy. Marks of the page are removed: arrows where a listing breaks a line, footnotes, page numbers and code fences.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from vericite.corpus.sources.files import opened
from vericite.corpus.sources.pdf import printed_lines
from vericite.disk.files import write_whole
from vericite.errors import InputError
from vericite.generate.prompt import Demonstration, load_prompt


@dataclass(frozen=True)
class PrintedPrompts:
    """The prompts that were found in a paper.

    Attributes:
        paper: Short name of the paper.
        files: The files written, by name of the prompt.
        uses: What each prompt is for, by name.
        missing: Prompts of the paper that were not found in this copy.
    """

    paper: str
    files: Mapping[str, Path]
    uses: Mapping[str, str]
    missing: tuple[str, ...] = ()


Fields = dict[str, Any]
"""The fields of a prompt file."""


class _NotFoundError(Exception):
    """A part of a prompt is not in the copy."""


@dataclass(frozen=True)
class _Printed:
    """Where a paper prints a prompt, and how it becomes a file.

    Attributes:
        name: Name of the file.
        about: Its place in the paper, and what it is for.
        begins: Pattern of the line before the prompt.
        ends: Pattern of the line after it; None: the end of the paper.
        fields: Makes the fields of the file from the text.
    """

    name: str
    about: str
    begins: str
    ends: str | None
    fields: Callable[[str], Fields]

    def found_in(self, text: str) -> Fields:
        return self.fields(_between(text, self.begins, self.ends))


def write_printed(paper: Path, to: Path) -> PrintedPrompts:
    """Find the prompts that a paper prints, and write each into a file.

    Raises:
        InputError: The paper cannot be read, none of its prompts is recognized, or ``to`` is a file.
        MissingExtraError: The paper is a PDF, and the reader of PDF files is not installed.
    """
    if to.exists() and not to.is_dir():
        raise InputError(f"expected a folder to write prompts to; found the file {to}. Name another.")
    name, found = find_printed(read_paper(paper), paper)
    to.mkdir(parents=True, exist_ok=True)
    files: dict[str, Path] = {}
    for prompt, content in found.items():
        files[prompt] = to / f"{prompt}.toml"
        write_whole(files[prompt], [content])
    known = {prompt.name: prompt.about for prompt in _PAPERS[name]}
    missing = tuple(prompt for prompt in known if prompt not in files)
    return PrintedPrompts(name, files, {prompt: known[prompt] for prompt in files}, missing)


def read_paper(path: Path) -> str:
    """Return the text of a paper: a text file, or the lines of a PDF.

    Raises:
        InputError: The file cannot be read.
        MissingExtraError: The reader of PDF files is not installed.
    """
    try:
        with opened(path) as file:
            if file.head.startswith(b"%PDF-"):
                return printed_lines(file)
            text = file.stream.read().decode("utf-8-sig")
    except OSError as error:
        raise InputError(f"expected a readable file; found {path}: {error.strerror or error}. Copy it again") from None
    except UnicodeDecodeError:
        raise InputError(
            f"expected a paper as UTF-8 text or PDF; found {path}, which is neither. Save it as text, or as PDF."
        ) from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def find_printed(text: str, path: Path) -> tuple[str, dict[str, str]]:
    """Return the short name of the paper, and the content of the file of each prompt in it.

    Raises:
        InputError: None of the prompts is recognized.
    """
    text = _without_page_marks(text)
    for paper, prompts in _PAPERS.items():
        found: dict[str, str] = {}
        for prompt in prompts:
            try:
                fields = prompt.found_in(text)
            except _NotFoundError:
                continue
            found[prompt.name] = _as_toml(
                prompt.name, {"about": f"{prompt.about}. As printed in {_NAMES[paper]}.", **fields}
            )
        if found:
            return paper, found
    raise InputError(
        f"expected a paper whose printed prompts are known ({', '.join(_NAMES.values())}); found none of their "
        f"headings and captions in {path}. Use the full text with its appendices, as PDF or as text."
    )


ANSWER_PROMPTS = {
    "vericite": "vericite",
    "reason-verify-bioasq": "reason-verify-bioasq",
    "reason-verify-pubmedqa": "reason-verify-pubmedqa",
    "steps": "reason-verify-bioasq",
    "steps-maybe": "reason-verify-pubmedqa",
}
"""Our prompts for answers, with the printed prompt of a paper that each stands for."""

HOW_TO_PRINT = "the paper's: vericite prompts from PAPER --to FOLDER"


def our_wording(signature: str) -> str | None:
    """Return the name of our prompt behind an answer's signature, if a paper prints that prompt in its own words."""
    if of_steps := re.match(r"rationale\.v\d+:rationale(-maybe)?\.v\d+@", signature):
        return f"steps{of_steps[1] or ''}"
    name = re.match(r"([\w-]+)\.v\d+@", signature)
    return name[1] if name and name[1] in ANSWER_PROMPTS else None


# Text of the paper.

_PAGE_NUMBER = re.compile(r"\n+[ \t]*\d{1,4}[ \t]*\n*\f")
_BROKEN_LINE = re.compile(r"\n[ \t]*↪[ \t]*")
_FOOTNOTE = re.compile(r"^[ \t]*(?:[¹²³]|\d{1,2}[ \t]*(?=<?https?://)).*\n+", re.MULTILINE)
_FENCE = re.compile(r"^```\w*\n|\n```$")


def _without_page_marks(text: str) -> str:
    text = _PAGE_NUMBER.sub("\n", text).replace("\f", "")
    return _FOOTNOTE.sub("", _BROKEN_LINE.sub(" ", text))


def _between(text: str, begins: str, ends: str | None) -> str:
    """Return what stands between two lines, at the first place where both are found."""
    end = None
    for start in re.finditer(rf"^[ \t]*{begins}[^\n]*\n", text, re.MULTILINE):
        if ends is None:
            return text[start.end() :].strip("\n")
        if end := re.compile(rf"^[ \t]*{ends}", re.MULTILINE).search(text, start.end()):
            return _FENCE.sub("", text[start.end() : end.start()].strip("\n"))
    raise _NotFoundError


def _through(text: str, pattern: str) -> str:
    """Return a text up to the end of the first line that matches."""
    if (end := re.search(rf"{pattern}[^\n]*", text)) is None:
        raise _NotFoundError
    return text[: end.end()].rstrip()


def _with_slots(text: str, places: Mapping[str, str]) -> str:
    """Put slots where the paper prints placeholders; a placeholder may be broken at a space."""
    for place, slot in places.items():
        text, count = re.subn(r"\s+".join(map(re.escape, place.split())), lambda _, slot=slot: slot, text)
        if not count:
            raise _NotFoundError
    return text


# The papers.


def _vericite(text: str) -> Fields:
    parts = re.split(r"\[[^\]]*demonstrations\s+omitted\]", _through(text, r"\n[ \t]*Answer:"))
    shown = re.search(r"\[1\]\s+<abstract.*?\[k\]\s+<[^>]*>", parts[-1], re.DOTALL)
    if len(parts) != 2 or shown is None:
        raise _NotFoundError
    rules, rest = parts
    form = f"{rest[: shown.start()]}{{documents}}{rest[shown.end() :]}".lstrip("\n")
    form = _with_slots(form, {"<question>": "{question}"})
    # The paper omits its demonstrations: ours are shown in its form.
    return _answers("vericite", rules.rstrip(), f"{{demonstrations}}{form}", f"{form} {{answer}}\n\n")


def _reason_verify(text: str) -> Fields:
    base, _, block = text.partition(_CUT)
    instructions = f"{base}\n\n{_through(block, 'ANSWER UNAVAILABLE')}"
    name = "reason-verify-pubmedqa" if "C. maybe" in block else "reason-verify-bioasq"
    # The paper prints the instructions alone, and says that documents and question follow.
    form = "{documents}\n\n{question}"
    return _answers(
        name, instructions, f"{{demonstrations}}{form}", f"{form}\n\n{{rationale}}\n\nFINAL ANSWER: {{answer}}\n\n"
    )


_CUT = "\x00"


class _ReasonVerify(_Printed):
    def found_in(self, text: str) -> Fields:
        base = _between(text, r"C\.1\.[ \t]*Base", r"C\.2\.[ \t]*Dataset")
        if (start := base.find("Task Instruction:")) < 0:
            raise _NotFoundError
        block = _between(text, self.begins, self.ends)
        appended = re.search(r"We\s+appended:\s*", block)
        if appended is None:
            raise _NotFoundError
        return self.fields(f"{base[start:].rstrip()}{_CUT}{block[appended.end() :]}")


def _answers(name: str, system: str, user: str, demonstration: str) -> Fields:
    """Return the fields of a prompt for answers; sampling and the reading of replies are as for ours."""
    ours = load_prompt(name)
    given: Fields = {"temperature": ours.temperature, "top_p": ours.top_p, "max_tokens": ours.max_tokens}
    given |= {"citing": ours.citing, "final_answer": ours.final_answer, "own_knowledge": ours.own_knowledge}
    return {
        **given,
        "demonstration": demonstration,
        "turns": [("system", system), ("user", user)],
        "options": dict(ours.options),
        "demonstrations": ours.demonstrations,
    }


def _asking(
    text: str, places: Mapping[str, str], max_tokens: int | None = None, labels: Mapping[str, str] | None = None
) -> Fields:
    return {"max_tokens": max_tokens, "turns": [("user", _with_slots(text, places))], "labels": labels or {}}


def _source(text: str) -> Fields:
    # A caption that takes several lines stands before it.
    if (start := re.search(r"^(?:#+[ \t]*)?Instructions", text, re.MULTILINE)) is None:
        raise _NotFoundError
    return _asking(text[start.start() :], {"{reference}": "{reference}", "{statement}": "{statement}"}, 1024)


def _long_answer(text: str) -> Fields:
    # The response is left blank; behind it stand the closing quotes of the program that the figure was copied from.
    text = _with_slots(text, {"{response}": "", "{sources}": "{sources}", "{question} {answer}": "{question} {answer}"})
    return _asking(text.removesuffix('"""'), {}, 1024)


_CLAIM = {"{sentence}": "{claim}", "{document}": "{reference}"}
_LISTS = {"{list of answer nuggets}": "{claim}", "{list of document nuggets}": "{reference}"}
_TWO = {"attributable": "entails", "not attributable": "neutral"}
_THREE = {"support": "entails", "contradict": "contradicts", "neutral": "neutral"}
_FOUR = {"Supports": "entails", "Contradicts": "contradicts", "Neutral": "neutral", "Not relevant": "neutral"}


_SPACE = r"\s+"


def _bioace(number: int, name: str, about: str, title: str, fields: Callable[[str], Fields]) -> _Printed:
    begins = rf"Prompt\s*:\s*{title.replace(' ', _SPACE)}\s+Prompt"
    return _Printed(f"bioace-{name}", f"Figure A{number}, {about}", begins, rf"Fig\.\s*A{number}:", fields)


def _figure(number: int, name: str, about: str, begins: str, fields: Callable[[str], Fields]) -> _Printed:
    return _Printed(f"multiattr-{name}", f"Figure {number}, {about}", begins, rf"Figure\s+{number}:", fields)


_NAMES = {"vericite": "VeriCite", "reason-verify": "Reason and Verify", "bioace": "BioACE", "multiattr": "MultiAttr"}
_PAPERS: Mapping[str, tuple[_Printed, ...]] = {
    "vericite": (
        _Printed(
            "vericite",
            "Appendix E, for answers; its omitted demonstrations are ours",
            r"(?:Appendix\s+)?E\.?\s+Prompt\s+Template",
            None,
            _vericite,
        ),
    ),
    "reason-verify": tuple(
        _ReasonVerify(f"reason-verify-{name.lower()}", f"Appendix {at}, for answers", rf"{at}\.", ends, _reason_verify)
        for name, at, ends in (("PubMedQA", "C.2.1", r"C\.2\.2\."), ("BioASQ", "C.2.2", None))
    ),
    "bioace": (
        _bioace(
            1,
            "completeness",
            "for labels of sentences",
            "Completeness",
            partial(_asking, places={"{question}": "{question}", "{answer sentence}": "{sentence}"}, max_tokens=64),
        ),
        _bioace(2, "binary", "for a judge", "Binary Label", partial(_asking, places=_CLAIM, labels=_TWO)),
        _bioace(3, "ternary", "for a judge", "Ternary Label", partial(_asking, places=_CLAIM, labels=_THREE)),
        _bioace(4, "nugget-labels", "for a judge", "Nugget Label", partial(_asking, places=_LISTS, labels=_FOUR)),
        _bioace(
            5,
            "nuggets",
            "for the nuggets of a text",
            "Nugget Generation",
            partial(_asking, places={"{text}": "{text}"}, max_tokens=1024),
        ),
    ),
    "multiattr": (
        _figure(6, "long", "for training data: long answers", r"A\.1\.?\s+HotpotQA\s+prompt", _long_answer),
        _figure(7, "positive", "for training data: a source in other words", r"A\.2\.?\s+NaturalQuestions", _source),
        _figure(8, "negative", "for training data: sources on the same topic", r"Figure\s+7:", _source),
    ),
}


# The file.

_SETTINGS = ("temperature", "top_p", "max_tokens", "citing", "final_answer", "own_knowledge")


def _as_toml(name: str, fields: Mapping[str, Any]) -> str:
    """Write a prompt file; texts are readable, and keep every character."""
    lines = [f'name = "{name}-printed"', "version = 1", f"about = {_text(fields['about'])}", "verbatim = true"]
    for key in _SETTINGS:
        if (value := fields.get(key)) is not None:
            lines.append(f"{key} = {json.dumps(value)}")
    if "demonstration" in fields:
        lines.append(f"demonstration = {_block(fields['demonstration'])}")
    if options := fields.get("options"):
        lines += ["", "[options]", *(f"{letter} = {_text(answer)}" for letter, answer in options.items())]
    for role, text in fields["turns"]:
        lines += ["", "[[turns]]", f'role = "{role}"', f"text = {_block(text)}"]
    labels: Mapping[str, str] = fields.get("labels", {})
    for label, column in labels.items():
        lines += ["", f"[labels.{_text(label)}]", f'column = "{column}"']
    for demonstration in fields.get("demonstrations", ()):
        lines += _demonstration(demonstration)
    return "\n".join(lines) + "\n"


def _demonstration(shown: Demonstration) -> list[str]:
    documents = [
        f"  {{ title = {_text(document.title)}, text = {_text(document.text)} }}," for document in shown.documents
    ]
    lines = ["", "[[demonstrations]]", f"question = {_text(shown.question)}", "documents = [", *documents, "]"]
    lines += [f"answer = {_text(shown.answer)}"]
    return lines if shown.rationale is None else [*lines, f"rationale = {_text(shown.rationale)}"]


_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f]")


def _text(text: str) -> str:
    # Strings of JSON are strings of TOML, except for one character.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _block(text: str) -> str:
    body = text.rstrip('"')
    # A quotation mark before the closing three would be read as one of them.
    end = '\\"' * (len(text) - len(body))
    kept = body.replace("\\", "\\\\").replace('"""', '\\"\\"\\"') + end
    kept = _CONTROL.sub(lambda char: f"\\u{ord(char[0]):04x}", kept)
    return f'"""\n{kept}"""'
