from __future__ import annotations

from collections.abc import Callable

import pytest

from vericite.evaluate.items import Item
from vericite.evaluate.scoring import System
from vericite.records import Document
from vericite.reporting.data import with_verdicts
from vericite.text.citations import parse_answer

SOURCE = "Zelotrine \U0001f600 reduced pain in 40 of 80 adults. Nausea was common. Cost was not studied."
TEXT = "Zelotrine reduced pain in 40 of 80 adults [1]. Nobody knows the rest of it [1]. It rains."


@pytest.fixture
def make_system() -> Callable[..., System]:
    """A system with this number of answers, each with two citations; default: one supported, one not."""

    def make(name: str = "one", answers: int = 10, text: str = TEXT, source: str = SOURCE) -> System:
        items = [
            parse_answer(f"q{number}", text, [Document.from_text("d1", source, "A title")], f"Question {number}?")
            for number in range(answers)
        ]
        return with_verdicts(System(name, tuple(Item(it.id, it) for it in items)), "vericite", "lexical")

    return make
