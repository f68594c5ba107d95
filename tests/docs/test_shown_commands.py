"""The commands that the pages show exist, with the options that they are shown with."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from vericite.cli.app import program

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
COMMAND = re.compile(r"(?m)^(?: {4}|\$ )?(?:VERICITE_\w+=\S+ )?vericite (?P<words>[^\n|]*)")


def unknown_words(text: str) -> Iterator[str]:
    """Commands and options in a page that the command line does not have."""
    for found in COMMAND.finditer(text.replace("\\\n", " ")):
        line = re.split(r"\s+#|&&|>", found["words"])[0]
        words = shlex.split(line)
        command: Any = program()
        while words and words[0] in getattr(command, "commands", {}):
            command = command.commands[words.pop(0)]
        if hasattr(command, "commands") and words and not words[0].startswith("-"):
            yield f"no command {words[0]}: {line}"
        options = {name for parameter in command.params for name in (*parameter.opts, *parameter.secondary_opts)}
        for word in words:
            if re.match(r"--?[a-z]", word) and word.partition("=")[0] not in {*options, "--help"}:
                yield f"no option {word}: {line}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_commands_on_a_page_have_the_options_that_they_are_shown_with(page):
    blocks = re.findall(r"```(?:sh|console)\n(.*?)```|((?:^ {4}vericite .*\n)+)", page.read_text(), re.DOTALL | re.M)
    assert [problem for block in blocks for problem in unknown_words("\n".join(block))] == []


def test_an_unknown_option_and_an_unknown_command_are_found():
    found = list(
        unknown_words("vericite check a.jsonl --no-such-option\nvericite no-such-command x\nvericite ask x -k 3\n")
    )
    assert [problem.partition(":")[0] for problem in found] == [
        "no option --no-such-option",
        "no command no-such-command",
        "no option -k",
    ]
