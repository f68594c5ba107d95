"""The functions of ``vericite`` do what their arguments and plan say."""

from __future__ import annotations

from pathlib import Path

import vericite as vc

ZINC = '{"id": "z", "text": "Zinc shortened colds by two days."}\n'


def test_a_search_without_a_corpus_goes_over_the_corpus_of_its_plan(tmp_path: Path):
    file = tmp_path / "own.jsonl"
    file.write_text(ZINC)
    plan = vc.Plan().changed({"search": {"corpus": str(file), "by": "bm25", "rerank": "none"}})
    assert [hit.document.id for hit in vc.search("zinc", plan=plan).evidence] == ["z"]


def test_a_protocol_of_ones_own_keeps_the_judge_that_was_named_and_the_repair_of_the_plan():
    plan = vc.Plan().changed({"repair": {"enabled": True}})
    protocol = vc.get_protocol("windows")
    made = vc.build(plan, ["Zinc shortened colds by two days."], protocol=protocol, judge="lexical")
    assert made.verifier.judge.signature.startswith("lexical")
    assert made.verifier.protocol.premise == protocol.premise
    assert "repair" in made.parts


def test_a_function_can_be_called_again_after_its_parts_were_loaded():
    for _ in range(2):
        answer = vc.attribute("Zinc shortened colds by two days.", ["Zinc shortened colds by two days."], by="verifier")
        assert answer.answer.text == "Zinc shortened colds by two days [1]."
