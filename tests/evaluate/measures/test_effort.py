"""Tokens and seconds of answers, from runs."""

from __future__ import annotations

import pytest

from vericite.evaluate.items import Item
from vericite.evaluate.measures.registry import measures_named
from vericite.records import Answer, Spent


def item(spent: Spent | None, insufficient: bool = False) -> Item:
    answer = Answer(id="q", text="", claims=(), documents=(), insufficient=insufficient, spent=spent)
    return Item("q", answer)


@pytest.mark.parametrize(("name", "expected"), [("PromptTokens", 900.0), ("ReplyTokens", 40.0), ("AnswerSeconds", 2.5)])
def test_calls_are_counted_and_cached_answers_are_missing(name: str, expected: float):
    (measure,) = measures_named([name])
    made = Spent(calls=2, remembered=1, prompt_tokens=900, completion_tokens=40, seconds=2.5)
    items = [item(made), item(made, insufficient=True), item(Spent(remembered=1)), item(None), Item("q")]
    assert measure.of(items) == [(expected, 1.0), (expected, 1.0), None, None, None]
