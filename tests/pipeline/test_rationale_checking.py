from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

# The service on loopback is at home with the client's own tests.
sys.path.append(str(Path(__file__).resolve().parents[1] / "llm"))

from server import Answering, Arrival, Behaviour, ScriptedServer, reply, status

from vericite.errors import InputError, Problems
from vericite.evaluate.measures.registry import AGREEMENT, parse_measure
from vericite.evaluate.measures.verdicts import CategoryShare, Faith
from vericite.evaluate.ratings import agree, read_ratings
from vericite.evaluate.resampling import Bootstrap
from vericite.evaluate.systems import read_systems
from vericite.generate.rationale import stated
from vericite.llm import LLM, Settings
from vericite.models import Pair
from vericite.pipeline.check import check
from vericite.pipeline.rationale import CONTEXT, UNDECIDED, RationaleChecker, Reasoned
from vericite.records import (
    CheckedRationale,
    Document,
    Evidence,
    Labels,
    Provenance,
    Question,
    Rationale,
    RationaleStep,
    Run,
    to_json,
    write_jsonl,
)
from vericite.verify import CATEGORIES, Judgement
from vericite.verify.aggregators import UNREACHABLE
from vericite.verify.judges.llm import PROMPTS, LlmJudge

QUESTION = Question(id="q", text="Does zinc shorten colds?", type="yesno")
TEXTS = ("Zinc shortened colds in adults.", "Vitamin C did not prevent colds.", "Sleep was not recorded.")


def evidence(*texts: str, retracted: Sequence[int] = ()) -> list[Evidence]:
    found: list[Evidence] = []
    for place, text in enumerate(texts, start=1):
        document = Document.from_text(f"d{place}", text).model_copy(update={"retracted": place in retracted})
        found.append(Evidence(document=document, rank=place, score=1.0, retriever="t"))
    return found


FOUND = evidence(*TEXTS)


def check_rationale(rationale, question, evidence, judge="bundled", context=CONTEXT) -> CheckedRationale:
    return next(RationaleChecker(judge, (context,)).check([Reasoned(rationale, question, evidence)]))[0]


def rationale(*steps: tuple[str, str | None]) -> Rationale:
    made = (RationaleStep(statement=said, documents=(named,) if named else ()) for said, named in steps)
    return Rationale(steps=tuple(made), provisional="Zinc shortens colds.")


MIXED = rationale(
    ("Zinc shortened colds in adults.", "d1"),
    ("Vitamin C prevented colds.", "d2"),
    ("Copper prevents measles.", None),
)


def natives(found: CheckedRationale) -> list[str]:
    return [verdict.native for verdict in found.checked.verdicts]


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer() as running:
        yield running


@pytest.fixture
def llm(server: ScriptedServer) -> Callable[..., LLM]:

    def make(**settings: object) -> LLM:
        return LLM(
            server.spec, Settings(**{"cache": None, "backoff": 0.01, "timeout": 5.0, "deadline": 20.0, **settings})
        )

    return make


def judging(categories: dict[str, str], whole: object = None) -> Behaviour:
    """A judge that knows the category of a statement, and what to say of a whole."""

    def behave(answering: Answering, arrival: Arrival) -> None:
        if "<reasoning>" in arrival.question:
            said = {"quality": 4, "verdict": "INCORRECT"} if whole is None else whole
        else:
            claim = arrival.question.partition("<claim>")[2]
            said = {"label": next(label for text, label in categories.items() if text in claim)}
        reply(json.dumps(said))(answering, arrival)

    return behave


def test_offline_a_statement_has_the_category_that_the_verifier_can_tell():
    found = check_rationale(MIXED, QUESTION, FOUND, judge="lexical")
    assert natives(found) == ["CORRECT-EXPLICIT", "INCORRECT-FALSE", UNDECIDED]
    assert [verdict.label for verdict in found.checked.verdicts] == ["supported", "contradicted", "irrelevant"]
    assert found.faith == (1, 3)
    assert (found.verdict, found.quality, found.context) == (None, None, 5)
    assert (
        found.undecided
        == UNREACHABLE
        == tuple(name for name in CATEGORIES if name not in ("CORRECT-EXPLICIT", "CORRECT-IMPLICIT", "INCORRECT-FALSE"))
    )


def test_what_is_neither_entailed_nor_contradicted_is_judged_and_not_faithful():
    found = check_rationale(rationale(("Copper prevents measles.", "d1")), QUESTION, FOUND, judge="lexical")
    (verdict,) = found.checked.verdicts
    assert (verdict.abstained, verdict.statements[0].holds, found.faith) == (False, False, (0, 1))
    assert all(name in " ".join(verdict.reasons) for name in UNREACHABLE)


class Agreeing:
    signature = "agreeing"

    def judge(self, pairs: Iterable[Pair]) -> Iterator[Judgement]:
        for _ in pairs:
            yield Judgement(np.array([0.9, 0.05, 0.05], dtype=np.float32))


def test_what_follows_in_other_words_is_implicit():
    found = check_rationale(rationale(("The element works against rhinitis.", "d1")), QUESTION, FOUND, judge=Agreeing())
    assert (natives(found), found.faith) == (["CORRECT-IMPLICIT"], (1, 1))


def test_a_split_statement_counts_as_one():
    steps = rationale(("Zinc shortened colds in adults; copper was found in rivers.", "d1"))
    found = check_rationale(steps, QUESTION, FOUND, judge="lexical")
    (verdict,) = found.checked.verdicts
    assert (len(verdict.statements), found.faith) == (1, (0, 1))
    assert any(reason.startswith("by its parts:") and "of 2 statements" in reason for reason in verdict.reasons)


def test_a_verdict_lies_on_the_statement_in_the_answer_and_has_its_own_markers():
    found = check_rationale(MIXED, QUESTION, FOUND, judge="lexical")
    answer = stated(MIXED, QUESTION, [hit.document for hit in FOUND])
    assert [(it.start, it.end) for it in found.checked.verdicts] == [
        (claim.span.start, claim.span.end) for claim in answer.claims
    ]
    assert [it.markers for it in found.checked.verdicts] == [(1,), (2,), ()]
    assert all(it.documents == ("d1", "d2", "d3") for it in found.checked.verdicts)
    assert [it.claim for it in found.checked.uncited] == ["Copper prevents measles."]


def test_support_from_an_uncited_document_counts_and_is_reported():
    found = check_rationale(rationale(("Zinc shortened colds in adults.", "d2")), QUESTION, FOUND, judge="lexical")
    (verdict,) = found.checked.verdicts
    assert verdict.native == "CORRECT-EXPLICIT"
    assert "supported by [1], which it does not cite" in verdict.reasons


def test_only_the_first_documents_of_a_context_are_read():
    steps = rationale(("Sleep was not recorded.", "d3"))
    checker = RationaleChecker("lexical", range(1, 4))
    ((first, second, third),) = checker.check([Reasoned(steps, QUESTION, FOUND)])
    assert [it.context for it in (first, second, third)] == [1, 2, 3]
    assert [natives(it) for it in (first, second, third)] == [[UNDECIDED], [UNDECIDED], ["CORRECT-EXPLICIT"]]
    assert [it.checked.verdicts[0].markers for it in (first, second, third)] == [(), (), (3,)]


def test_a_retracted_document_supports_nothing():
    hits = evidence(*TEXTS, retracted=[1])
    found = check_rationale(
        rationale(("Zinc shortened colds in adults.", "d1")), QUESTION, hits, judge="lexical", context=2
    )
    (verdict,) = found.checked.verdicts
    assert (verdict.native, verdict.documents) == (UNDECIDED, ("d2", "d3"))


def test_without_a_document_statements_are_failures():
    found = check_rationale(MIXED, QUESTION, [], judge="lexical")
    assert len(found.checked.failures) == 3
    assert (found.checked.verdicts, found.faith) == ((), (0, 0))


STATEMENTS = st.sampled_from([*TEXTS, "Vitamin C prevented colds.", "Copper.", "Der Schlaf wurde nicht erfasst."])
NAMED = st.sampled_from(["d1", "d2", "d3", None])


@given(st.lists(st.tuples(STATEMENTS, NAMED), max_size=5), st.integers(1, 6))
def test_every_statement_is_judged_once_and_faith_is_a_share(steps: list[tuple[str, str | None]], context: int):
    found = check_rationale(rationale(*steps), QUESTION, FOUND, judge="lexical", context=context)
    assert len(found.checked.verdicts) + len(found.checked.failures) == len(steps)
    holding, statements = found.faith
    assert 0 <= holding <= statements <= len(steps)
    told = [verdict for verdict in found.checked.verdicts if not verdict.abstained]
    assert holding == sum(verdict.native.startswith("CORRECT") for verdict in told)
    assert statements == len(told)


def test_a_language_model_chooses_the_category_and_judges_the_whole(server: ScriptedServer, llm: Callable[..., LLM]):
    chosen = ("CORRECT-IMPLICIT", "CORRECT-ADDITIONAL", "INCORRECT-ILLOGICAL")
    categories = dict(zip((step.statement for step in MIXED.steps), chosen, strict=True))
    server.default = judging(categories)
    found = check_rationale(MIXED, QUESTION, FOUND, judge=llm(), context=2)
    assert natives(found) == list(chosen)
    assert [verdict.label for verdict in found.checked.verdicts] == ["supported", "irrelevant", "irrelevant"]
    assert (found.faith, found.verdict, found.quality, found.undecided) == ((2, 3), "INCORRECT", 4, ())
    assert all(TEXTS[1] in asked and TEXTS[2] not in asked for asked in server.questions)
    assert "rationale-judge.v1@" in found.checked.provenance.parts["whole"]
    assert len(server.arrivals) == 4


def test_a_reply_that_cannot_be_had_is_a_failure_and_never_a_label(server: ScriptedServer, llm: Callable[..., LLM]):
    server.default = status(400)
    found = check_rationale(MIXED, QUESTION, FOUND, judge=llm())
    assert (found.verdict, found.quality, found.faith, len(found.checked.failures)) == (None, None, (0, 0), 3)


@pytest.mark.parametrize("whole", [{"quality": 6, "verdict": "CORRECT"}, {"quality": 3}, "good"])
def test_an_unreadable_verdict_on_the_whole_is_none(server: ScriptedServer, llm: Callable[..., LLM], whole: object):
    server.default = judging({"": "CORRECT-EXPLICIT"}, whole)
    found = check_rationale(MIXED, QUESTION, FOUND, judge=llm())
    assert (found.verdict, found.quality, found.faith) == (None, None, (3, 3))


def test_what_was_judged_is_not_asked_again(server: ScriptedServer, llm: Callable[..., LLM], tmp_path: Path):
    server.default = judging({"": "CORRECT-EXPLICIT"})
    first, second = (check_rationale(MIXED, QUESTION, FOUND, judge=llm(cache=tmp_path)) for _ in range(2))
    assert first == second
    assert len(server.arrivals) == 4


def test_many_are_judged_in_order_several_at_a_time(server: ScriptedServer, llm: Callable[..., LLM]):
    judge = judging({"": "CORRECT-EXPLICIT"})

    def slowly(answering: Answering, arrival: Arrival) -> None:
        time.sleep(0.2)  # long enough for a busy machine to send the next meanwhile
        judge(answering, arrival)

    server.default = slowly
    asked = [
        Reasoned(rationale((f"Statement {n}.", "d1")), QUESTION.model_copy(update={"id": f"q{n}"}), FOUND)
        for n in range(9)
    ]
    found = list(RationaleChecker(llm(concurrency=4), (1, 2)).check(asked))
    assert [[it.checked.id for it in pair] for pair in found] == [[f"q{n}"] * 2 for n in range(9)]
    assert [[it.context for it in pair] for pair in found] == [[1, 2]] * 9
    assert server.most_at_once > 1


def test_a_judge_that_is_asked_for_something_else_is_refused(llm: Callable[..., LLM]):
    with pytest.raises(InputError, match="llm-eight"):
        RationaleChecker(LlmJudge(llm(), PROMPTS["ternary"]))
    with pytest.raises(InputError, match="of at least 1"):
        RationaleChecker("lexical", (0,))


def run(id: str, given: Rationale | None) -> Run:
    question = QUESTION.model_copy(update={"id": id})
    answer = stated(given or Rationale(), question, [hit.document for hit in FOUND])
    answer = answer.model_copy(update={"rationale": given})
    checked = check(answer, judge="lexical")
    return Run(
        question=question, evidence=tuple(FOUND), answer=answer, checked=checked, provenance=Provenance(version="1")
    )


def test_runs_get_their_rationale_judged_and_score_reads_its_faith(tmp_path: Path):
    given = [run("a", MIXED), run("b", None), run("c", rationale((TEXTS[0], "d1")))]
    runs = list(RationaleChecker("lexical").runs(iter(given)))
    assert [it.rationale is not None for it in runs] == [True, False, True]
    assert runs[1] == given[1]
    assert Run.model_validate_json(to_json(runs[0])) == runs[0]
    path = tmp_path / "rationales.jsonl"
    with path.open("w", encoding="utf-8") as file:
        write_jsonl((it.rationale.checked for it in runs if it.rationale is not None), file)
    (system,) = read_systems([path], problems := Problems()).systems
    assert not problems
    assert [Faith()._of_verdicts(item) for item in system.items] == [(1, 3), (1, 1)]
    # Of a statement without a category nothing is known, and nothing of the share either.
    assert [CategoryShare()._of_verdicts(item) for item in system.items] == [None, (1, 1)]


def together(categories: Sequence[str], faithfulness: float = 0.5, numbers: Sequence[int] | None = None) -> Behaviour:
    """A judge that is shown everything, and labels the statements in their order."""
    counted = numbers or range(1, len(categories) + 1)
    labelled = [{"index": n, "label": label} for n, label in zip(counted, categories, strict=False)]
    said = {"categories": labelled, "faithfulness": faithfulness, "quality": 3, "verdict": "INCORRECT"}
    return reply(json.dumps(said))


def test_a_judge_that_is_shown_everything_labels_all_statements_in_one_call(
    server: ScriptedServer, llm: Callable[..., LLM]
):
    server.default = together(["CORRECT-EXPLICIT", "INCORRECT-FALSE", "CORRECT-ADDITIONAL"], 0.7)
    ((found,),) = RationaleChecker(llm(), (2,), together=True).check([Reasoned(MIXED, QUESTION, FOUND)])
    assert natives(found) == ["CORRECT-EXPLICIT", "INCORRECT-FALSE", "CORRECT-ADDITIONAL"]
    assert (found.faith, found.grounded, found.quality, found.verdict) == ((2, 3), 0.7, 3, "INCORRECT")
    assert found.score == pytest.approx(2 / 3)
    (arrival,) = server.arrivals
    for shown in (QUESTION.text, TEXTS[1], "1. Zinc shortened colds in adults.", "Zinc shortens colds."):
        assert shown in arrival.question
    assert TEXTS[2] not in arrival.question


def test_statements_of_one_step_are_labelled_separately_and_a_step_is_correct_if_all_are(
    server: ScriptedServer, llm: Callable[..., LLM]
):
    steps = rationale(("It was given as (1) tablets and (2) syrup.", "d1"), ("Zinc helps.", "d1"))
    server.default = together(["CORRECT-EXPLICIT", "INCORRECT-FALSE", "CORRECT-IMPLICIT"])
    ((found,),) = RationaleChecker(llm(), (5,), together=True).check([Reasoned(steps, QUESTION, FOUND)])
    assert natives(found) == ["INCORRECT", "CORRECT-IMPLICIT"]
    assert [[it.native for it in verdict.statements] for verdict in found.checked.verdicts] == [
        ["CORRECT-EXPLICIT", "INCORRECT-FALSE"],
        ["CORRECT-IMPLICIT"],
    ]
    assert found.faith == (2, 3)


@pytest.mark.parametrize(
    ("labels", "numbers"),
    [(["CORRECT-EXPLICIT"], None), (["CORRECT-EXPLICIT"] * 3, [1, 1, 2]), (["CORRECT-EXPLICIT", "FINE", "FINE"], None)],
)
def test_a_reply_that_leaves_a_statement_out_is_a_failure_after_one_repair(
    server: ScriptedServer, llm: Callable[..., LLM], labels: list[str], numbers: list[int] | None
):
    server.default = together(labels, numbers=numbers)
    ((found,),) = RationaleChecker(llm(), together=True).check([Reasoned(MIXED, QUESTION, FOUND)])
    assert (len(found.checked.failures), found.checked.verdicts, found.grounded, found.score) == (3, (), None, None)
    assert len(server.arrivals) == 2


def test_only_a_language_model_can_be_shown_everything():
    with pytest.raises(InputError, match="llm-eight:MODEL"):
        RationaleChecker("lexical", together=True)


def test_several_contexts_are_kept_in_the_run_and_agree_shows_each(tmp_path: Path):
    checker = RationaleChecker("lexical", range(1, 4))
    runs = list(checker.runs([run("a", MIXED), run("b", rationale(("Sleep was not recorded.", "d3")))]))
    assert [[it.context for it in one.contexts] for one in runs] == [[1, 2, 3]] * 2
    assert all(one.rationale == one.contexts[-1] for one in runs)
    path = tmp_path / "runs.jsonl"
    with path.open("w", encoding="utf-8") as file:
        write_jsonl(runs, file)
    ratings = read_ratings([path], problems := Problems(), "rationale")
    assert not problems
    shown = {(one.item, one.by): one.label for one in ratings}
    assert {by for _, by in shown} == {"CONTEXT-1", "CONTEXT-2", "CONTEXT-3"}
    assert [shown["b statement 0", f"CONTEXT-{n}"] for n in (1, 2, 3)] == [None, None, "CORRECT-EXPLICIT"]
    people = tmp_path / "people.jsonl"
    lines = [
        Labels(id="a", rationale=("CORRECT-EXPLICIT", "INCORRECT-FALSE", "INCORRECT-MISSING")),
        Labels(id="b", rationale=("CORRECT-EXPLICIT",)),
    ]
    people.write_text("\n".join(map(to_json, lines)))
    both = read_ratings([path, people], problems, "rationale")
    found = agree(both, [parse_measure("CohenKappa", AGREEMENT)], "people", bootstrap=Bootstrap(100), by=True)
    assert [(one.by, one.found.n) for one in found] == [("CONTEXT-1", 1), ("CONTEXT-2", 2), ("CONTEXT-3", 3)]


def test_faith_of_a_question_is_a_number_that_score_reads(tmp_path: Path):
    path = tmp_path / "runs.jsonl"
    with path.open("w", encoding="utf-8") as file:
        write_jsonl(RationaleChecker("lexical").runs([run("a", MIXED)]), file)
    (system,) = read_systems([path], problems := Problems()).systems
    assert not problems
    assert dict(system.items[0].scores) == {"faith": pytest.approx(1 / 3)}
