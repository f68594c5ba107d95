"""Other sources that support a sentence whose cited sources do not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from repair_scripts import COLDS, GARLIC, LIPIDS, SOURCES, Found, Script

from vericite.errors import SettingsError
from vericite.evaluate.items import Item
from vericite.evaluate.measures.verdicts import MisattributedRate, NoSourceRate, SupportRate
from vericite.models.contracts import Judgement, Pair
from vericite.pipeline.build import explain_of
from vericite.pipeline.check import check, check_many
from vericite.pipeline.plan import CheckPlan, Plan
from vericite.pipeline.search import Search
from vericite.records import CheckedAnswer, Document
from vericite.reporting.data import ShownAnswer
from vericite.reporting.run_lines import verdict_blocks
from vericite.text.citations import parse_answer

SWAPPED = "Statins lower LDL [2]. Zinc shortens colds [1]."


def explained(text: str, documents: Sequence[Document] = SOURCES, explain: Search | bool = True) -> CheckedAnswer:
    return check(text, documents, judge=Script(), explain=explain)


def elsewhere(checked: CheckedAnswer) -> list[str]:
    return [verdict.elsewhere for verdict in checked.verdicts]


def test_swapped_citations_are_named_with_the_right_sources():
    checked = explained(SWAPPED)
    assert elsewhere(checked) == ["supported by [1] instead", "supported by [2] instead"]
    assert [verdict.label for verdict in checked.verdicts] == ["irrelevant", "irrelevant"]
    assert checked.summary.misattributed == 2


def test_a_supported_sentence_and_one_without_any_support_name_no_other_source():
    checked = explained("Statins lower LDL [1]. Music cures warts [2]. Tea is warm [1][2].")
    assert elsewhere(checked) == ["", "", ""]
    assert checked.summary.misattributed == 0


def test_a_source_that_does_not_exist_is_replaced_by_one_that_does():
    checked = explained("Tea is warm [9].")
    assert (checked.verdicts[0].label, elsewhere(checked)) == ("dangling", ["supported by [2] instead"])
    # It is counted as dangling alone.
    assert checked.summary.misattributed == 0


def test_a_retracted_source_supports_nothing():
    assert elsewhere(explained(SWAPPED, (LIPIDS.model_copy(update={"retracted": True}), COLDS))) == [
        "",
        "supported by [2] instead",
    ]


def test_of_many_sources_only_those_nearest_to_the_sentence_are_asked():
    many = [Document.from_text(f"tea{number}", f"Tea number {number} is green.") for number in range(60)]
    asked: list[str] = []

    class Recording(Script):
        def judge(self, pairs: Iterable[Pair]) -> Iterator[Judgement]:
            given = list(pairs)
            asked.extend(pair.premise for pair in given)
            return super().judge(given)

    checked = check("Statins lower LDL [3].", [*many, LIPIDS], judge=Recording(), explain=True)
    assert elsewhere(checked) == ["supported by [61] instead"]
    assert len({premise for premise in asked if "Tea number" in premise}) < 10


def test_a_corpus_is_asked_only_for_sentences_that_the_answer_has_no_source_for():
    more = Document.from_text("more", "Honey soothes coughs.")
    retriever = Found(more)
    checked = explained("Statins lower LDL [2]. Honey soothes coughs [2].", explain=Search(retriever))
    assert elsewhere(checked) == ["supported by [1] instead", "supported by more instead"]
    assert set(retriever.asked) == {"Honey soothes coughs."}


def test_without_the_setting_no_other_source_is_asked_and_the_json_has_no_new_field():
    checked = explained(SWAPPED, explain=False)
    judge = Script()
    check(SWAPPED, SOURCES, judge=judge)
    every = Script()
    check(SWAPPED, SOURCES, judge=every, explain=True)
    assert judge.asked < every.asked
    assert "supported_by" not in checked.verdicts[0].model_dump()
    assert "misattributed" not in checked.summary.model_dump()


def test_the_verdicts_survive_their_json():
    checked = explained(SWAPPED)
    assert CheckedAnswer.model_validate_json(checked.model_dump_json()) == checked


def test_many_answers_keep_their_order_and_their_sources():
    answers = [
        parse_answer(str(number), SWAPPED if number % 3 else "Garlic smells [3].", SOURCES) for number in range(70)
    ]
    found = list(check_many(answers, judge=Script(), explain=True))
    assert [checked.id for checked in found] == [answer.id for answer in answers]
    assert [checked.summary.misattributed for checked in found] == [2 if number % 3 else 0 for number in range(70)]


def test_a_protocol_that_reads_all_sources_has_no_others():
    checked = check(SWAPPED, SOURCES, protocol="reason-verify", judge=Script(), explain=True)
    assert not any(elsewhere(checked))


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(["Statins lower LDL", "Tea is warm", "Music cures warts"]), st.integers(1, 4)))
)
def test_the_rates_add_up(sentences: list[tuple[str, int]]):
    checked = explained(" ".join(f"{words} [{marker}]." for words, marker in sentences) or "Garlic smells [3].")
    item = Item("answer", checked=checked)
    counts = [measure().counts(item) for measure in (SupportRate, MisattributedRate, NoSourceRate)]
    assert sum(count[0] for count in counts if count) == checked.summary.judged
    assert MisattributedRate().counts(Item("a", checked=explained(SWAPPED, explain=False))) is None


def test_the_terminal_and_the_page_show_the_other_source():
    answer = parse_answer("a", SWAPPED, SOURCES)
    (checked,) = check_many([answer], judge=Script(), explain=True)
    lines = ["".join(word.text for word in line.words) for line in verdict_blocks(checked.verdicts[0], answer)]
    assert "supported by [1] instead" in lines
    shown = ShownAnswer(answer, {}).row(Item("a", answer, checked))["claims"][0]["verdicts"][0]
    assert (shown["elsewhere"], shown["others"]) == ("supported by [1] instead", ["lipids"])


def test_a_corpus_needs_the_setting():
    with pytest.raises(SettingsError, match=r"found none"):
        explain_of(Plan(check=CheckPlan(corpus="demo")))
    assert explain_of(Plan()) is False
    assert isinstance(explain_of(Plan(check=CheckPlan(explain=True, corpus="demo"))), Search)


def test_other_sources_are_sources_of_the_answer(run_cli, tmp_path):
    file = tmp_path / "answers.jsonl"
    parsed = parse_answer(
        "one",
        "Metformin lowers glucose [2]. Statins lower cholesterol [1].",
        [
            Document.from_text("m", "Metformin lowers glucose in adults."),
            Document.from_text("s", "Statins lower cholesterol."),
        ],
    )
    from vericite.formats.convert import to_vericite

    file.write_text(to_vericite(parsed) + "\n")
    printed = run_cli("check", str(file), "--set", "check.explain=true")
    assert "supported by [1] instead" in printed.out and "misattributed" in printed.out
    assert "instead" not in run_cli("check", str(file)).out
    assert GARLIC.id not in printed.out
