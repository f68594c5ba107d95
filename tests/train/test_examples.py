"""Which training examples are refused, and why."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from vericite.errors import InputError
from vericite.lab.train.examples import AttributionExample, ExampleSource, refuse_shared
from vericite.lab.train.source_sets import read_examples


def example(id: str, **more: Any) -> AttributionExample:
    fields = {"sentence": f"Zinc shortens colds in {id}.", "question": f"Does zinc help in {id}?", **more}
    return AttributionExample(id=id, sources=(ExampleSource(id="a", text="Zinc."),), **fields)


@pytest.mark.parametrize("blank", [" ", "\n\t"])
def test_a_blank_sentence_is_named_with_its_line(tmp_path: Path, blank: str):
    good = example("t").model_dump_json(exclude_defaults=True)
    path = tmp_path / "data.jsonl"
    path.write_text(f"{good}\n{json.dumps({**json.loads(good), 'sentence': blank})}\n", encoding="utf-8")
    with pytest.raises(
        InputError, match=r"data\.jsonl, line 2, field sentence: expected a sentence; found a blank one"
    ):
        read_examples([path])


@pytest.mark.parametrize(
    ("by", "dev", "problem"),
    [
        ("sentence", {"group": "g1"}, "found d, whose group g1 is in both. Split the data by group"),
        (
            "question",
            {"group": "g2", "question": "Does  zinc help in T?"},
            "found d, whose question is in both. Remove",
        ),
        ("sentence", {"group": "g2", "sentence": "Zinc shortens colds in t."}, "found d, whose sentence is in both"),
        ("question", {"sentence": "Zinc shortens iron.", "question": None}, "found d, whose sentence is in both"),
    ],
)
def test_error_names_what_development_and_training_share(by: Any, dev: dict[str, Any], problem: str):
    known = [example("t", group="g1"), example("u", sentence="Zinc shortens iron.", question=None)]
    with pytest.raises(InputError, match=f"development examples that are not trained on; {problem}"):
        refuse_shared([example("d", **dev)], known, by)


def test_examples_that_share_neither_group_nor_text_are_accepted():
    known = [example("t", group="g1")]
    refuse_shared([example("d", group="g2", question="Does zinc help in t?"), example("e")], known)
    refuse_shared([example("d", sentence="Zinc shortens colds in t.")], known, "question")
