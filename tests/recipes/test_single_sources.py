"""Sentences with each of their sources, for a fine-tuned judge of single sources."""

from __future__ import annotations

from made import single_sources
from vericite.lab.train.examples import AttributionExample, ExampleSource


def test_single_sources_leave_out_what_is_not_known():
    sources = tuple(ExampleSource(id=name, title="Colds", text=f"About {name}.") for name in ("zinc", "iron", "tea"))
    it = AttributionExample(
        id="e", sentence="Zinc helps.", sources=sources, supports=(1,), unknown=(3,), kind="weak", made_from="bioasq"
    )
    pairs = list(single_sources(it))
    assert [(pair.premise, pair.label) for pair in pairs] == [
        ("Colds About zinc.", "entails"),
        ("Colds About iron.", "neutral"),
    ]
    assert {(pair.claim, pair.group, pair.source, pair.kind) for pair in pairs} == {
        ("Zinc helps.", "e", "bioasq", "weak")
    }
