"""No answer gets worse, whatever the judge and the protocol."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from repair_scripts import (
    SOURCES,
    Fickle,
    Moody,
    Script,
    assert_exact,
    repairer,
)

from vericite.pipeline.repair import Repairer
from vericite.pipeline.repair.proposals import diagnoses
from vericite.records import Answer, Repaired
from vericite.records.results import support
from vericite.text.citations import parse_answer
from vericite.verify import get_protocol

SAID = st.sampled_from(
    [
        "Statins lower LDL",
        "Zinc shortens colds",
        "Tea is warm",
        "Statins lower LDL, and zinc shortens colds",
        "Garlic smells",
        "Garlic was given to many patients with severe gout",
        "We measured lipids in 90 adults",
        "Music cures warts",
        "Zinc does not shorten colds",
    ]
)
MARKERS = st.lists(st.integers(1, 5), max_size=3, unique=True)
SENTENCES = st.lists(st.tuples(SAID, MARKERS, st.sampled_from([" ", "\n", "\n\n", "\n- "])), min_size=1, max_size=6)


def drawn(sentences: list[tuple[str, list[int], str]]) -> Answer:
    told = [
        (f"{said} {''.join(f'[{number}]' for number in markers)}".rstrip() + ".", gap)
        for said, markers, gap in sentences
    ]
    return parse_answer("a", "".join(text + gap for text, gap in told), SOURCES)


@pytest.mark.parametrize("protocol", ["default", "vericite", "alce"])
@pytest.mark.parametrize("judge", [Script, Moody, Fickle])
def test_an_answer_never_gets_worse(protocol: str, judge: type[Script | Moody]):
    @settings(max_examples=12)
    @given(SENTENCES)
    def law(sentences: list[tuple[str, list[int], str]]) -> None:
        answer = drawn(sentences)
        mender = Repairer(get_protocol(protocol), judge())
        found = mender.repair(answer)
        then, now = support(found.before), support(found.checked.summary)
        assert now[0] * then[1] >= then[0] * now[1]
        assert_exact(found.answer)
        assert found.answer.documents[: len(SOURCES)] == SOURCES
        done = [found.kept, found.count("re-cited"), found.count("rewritten"), found.count("dropped")]
        assert sum(done) == found.sentences == len(answer.claims)
        assert len(found.answer.claims) == found.sentences - done[-1]
        assert Repaired.model_validate_json(found.model_dump_json()) == found

    law()


@settings(max_examples=25)
@given(SENTENCES)
def test_supported_sentences_are_not_touched_and_repairs_last(sentences: list[tuple[str, list[int], str]]):
    answer = drawn(sentences)
    mender = repairer()
    checked = next(mender.verifier.verify([answer]))
    found = mender.repair(answer, checked)
    sound = [item.number for item in diagnoses(answer, checked) if item.state == "sound"]
    assert not set(sound) & set(found.actions)
    left = iter(found.answer.claims)
    for number in sound:
        claim = answer.claims[number]
        cites = {citation.document for citation in claim.citations}
        # In the order of the answer; those between them may have been changed.
        assert any(one.text == claim.text and {it.document for it in one.citations} == cites for one in left)
    again = mender.repair(found.answer, found.checked)
    assert again.answer == found.answer
    assert not again.changes
