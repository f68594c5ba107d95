"""Protocols: the worked examples of each rule, what is put before the judge, and their names."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np
import pytest

from vericite.errors import InputError, UnknownNameError
from vericite.models import Pair
from vericite.records import Answer, CheckedAnswer, Document, Section, Verdict
from vericite.text.citations import parse_answer
from vericite.verify import (
    AnyEntails,
    AtomicStatements,
    BundledJudge,
    Context,
    Joint,
    Judgement,
    LexicalJudge,
    MostSimilar,
    PremisePlan,
    Protocol,
    Sources,
    Verifier,
    WholeDocument,
    WholeSentence,
    Windows,
    get_protocol,
    protocol_names,
)

CLAIM = "Aspirin lowers the risk of stroke."
WORDS = {"entails": (0.8, 0.1, 0.1), "contradicts": (0.1, 0.7, 0.2), "neutral": (0.1, 0.2, 0.7)}

YES = "Fewer strokes were seen with aspirin."
NO = "More strokes were seen with aspirin."
ELSE = "The mean age was 60 years."


class Scripted:
    """Says of each pair what a function of premise and claim says; remembers what it was asked."""

    signature = "scripted"

    def __init__(self, word: Callable[[str, str], str]) -> None:
        self.word = word
        self.asked: list[Pair] = []

    def judge(self, pairs: Iterable[Pair]) -> Iterator[Judgement]:
        for pair in pairs:
            self.asked.append(pair)
            yield Judgement(np.array(WORDS[self.word(pair.premise, pair.claim)], dtype=np.float32))


def by_premise(premise: str, claim: str) -> str:
    if YES in premise:
        return "entails"
    return "contradicts" if NO in premise else "neutral"


def document(id: str, *sentences: str, title: str = "") -> Document:
    return Document.from_text(id, " ".join(sentences), title)


def answer(text: str, *documents: Document) -> Answer:
    return parse_answer("a", text, documents)


def checked(
    text: str, *documents: Document, premise: PremisePlan | None = None, judge: Scripted | None = None
) -> CheckedAnswer:
    protocol = Protocol(premise=premise or Windows(), judge=judge or Scripted(by_premise))
    return next(Verifier(protocol).verify([answer(text, *documents)]))


def verdict(*sentences: str, title: str = "") -> Verdict:
    (found,) = checked("Aspirin lowers the risk of stroke [1].", document("d", *sentences, title=title)).verdicts
    return found


EXAMPLES = {
    "one entails": ([ELSE, YES], "supported"),
    "all entail": ([YES, YES], "supported"),
    "one contradicts": ([ELSE, NO, ELSE], "contradicted"),
    "entailment wins over contradiction": ([NO, YES, NO], "supported"),
    "neither": ([ELSE, ELSE], "irrelevant"),
    "a single sentence": ([ELSE], "irrelevant"),
}


@pytest.mark.parametrize(("sentences", "label"), EXAMPLES.values(), ids=EXAMPLES)
def test_the_vericite_rule_decides_by_the_best_sentence(sentences: list[str], label: str):
    found = verdict(*sentences)
    assert (found.label, found.native) == (label, label)


def test_the_evidence_is_the_sentences_with_the_deciding_label():
    text = " ".join([NO, YES, ELSE, YES])
    found = verdict(NO, YES, ELSE, YES)
    assert [text[span.start : span.end] for span in found.evidence] == [YES, YES]
    assert [span.sentence_index for span in found.evidence] == [1, 3]
    assert found.probabilities == {"supported": 0.8, "contradicted": 0.1, "irrelevant": 0.1}


def test_an_irrelevant_verdict_has_probabilities_but_no_evidence():
    found = verdict(ELSE)
    assert found.evidence == ()
    assert found.probabilities == {"supported": 0.1, "contradicted": 0.2, "irrelevant": 0.7}


@pytest.mark.parametrize("name", ["vericite", "windows(2)", "bioace-maxsim", "context(3)"])
def test_the_title_is_no_premise(name: str):
    judge = Scripted(by_premise)
    protocol = get_protocol(name)
    protocol = Protocol(protocol.claim, protocol.premise, judge, protocol.aggregate, protocol.name)
    found = next(Verifier(protocol).verify([answer(f"{CLAIM} [1]", document("d", ELSE, title=YES))]))
    assert [item.label for item in found.verdicts] == ["irrelevant"]
    assert not any(YES in pair.premise for pair in judge.asked)


def test_each_cited_document_has_its_own_verdict():
    found = checked(f"{CLAIM} [3][1][2]", document("a", YES), document("b", NO), document("c", ELSE))
    assert [(item.markers, item.documents, item.label) for item in found.verdicts] == [
        ((1,), ("a",), "supported"),
        ((2,), ("b",), "contradicted"),
        ((3,), ("c",), "irrelevant"),
    ]


def test_only_the_claims_words_are_put_before_the_judge():
    judge = Scripted(by_premise)
    checked("According to the trial, aspirin lowers [1] the risk of stroke [2].", document("a", YES), judge=judge)
    assert judge.asked == [Pair(YES, "According to the trial, aspirin lowers the risk of stroke.")]


def test_a_document_that_is_not_cited_is_not_read():
    judge = Scripted(by_premise)
    checked(f"{CLAIM} [1]", document("a", YES), document("b", NO), judge=judge)
    assert [pair.premise for pair in judge.asked] == [YES]


SENTENCES = ("Alpha rose.", "Beta fell.", "Gamma stayed.", "Delta was lost.", "Epsilon ended.")


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        (1, list(SENTENCES)),
        (2, [" ".join(SENTENCES[start : start + 2]) for start in range(4)]),
        (4, [" ".join(SENTENCES[:4]), " ".join(SENTENCES[1:])]),
        (5, [" ".join(SENTENCES)]),
        (6, [" ".join(SENTENCES)]),
    ],
)
def test_windows_are_runs_of_sentences_and_the_whole_where_there_are_too_few(size: int, expected: list[str]):
    source = document("d", *SENTENCES)
    parsed = answer(f"{CLAIM} [1]", source)
    (case,) = Windows(size).cases(parsed.claims[0], Sources(parsed.documents))
    assert [premise.text for premise in case.premises] == expected
    for index, premise in enumerate(case.premises):
        (passage,) = premise.passages
        assert passage.sentence_index == index
        assert source.text[passage.start : passage.end] == premise.text


def test_windows_keep_the_text_of_a_document_with_sections():
    source = Document(
        id="d",
        sections=(
            Section(label="METHODS", text="Alpha rose.  Beta fell."),
            Section(label="RESULTS", text="Gamma stayed."),
        ),
    )
    parsed = answer(f"{CLAIM} [1]", source)
    (case,) = Windows(2).cases(parsed.claims[0], Sources(parsed.documents))
    assert [premise.text for premise in case.premises] == ["Alpha rose.  Beta fell.", "Beta fell.\nGamma stayed."]
    assert [source.text[p.passages[0].start : p.passages[0].end] for p in case.premises] == [
        premise.text for premise in case.premises
    ]


def test_a_window_can_support_what_no_sentence_does():
    def word(premise: str, claim: str) -> str:
        return "entails" if "Alpha" in premise and "Beta" in premise else "neutral"

    source = document("d", *SENTENCES)
    assert checked(f"{CLAIM} [1]", source, judge=Scripted(word)).verdicts[0].label == "irrelevant"
    found = checked(f"{CLAIM} [1]", source, premise=Windows(2), judge=Scripted(word)).verdicts[0]
    assert found.label == "supported"
    assert source.text[found.evidence[0].start : found.evidence[0].end] == "Alpha rose. Beta fell."


def test_the_whole_document_is_read_under_its_title():
    judge = Scripted(by_premise)
    source = document("d", ELSE, YES, title="Aspirin and stroke")
    found = checked(f"{CLAIM} [1]", source, premise=WholeDocument(), judge=judge)
    assert [pair.premise for pair in judge.asked] == [f"Aspirin and stroke\n{ELSE} {YES}"]
    (span,) = found.verdicts[0].evidence
    assert (span.sentence_index, span.start, span.end) == (None, 0, len(source.text))


def test_the_whole_document_can_be_read_without_its_title():
    judge = Scripted(by_premise)
    source = document("d", ELSE, title=YES)
    checked(f"{CLAIM} [1]", source, premise=WholeDocument(title=False), judge=judge)
    assert [pair.premise for pair in judge.asked] == [ELSE]


def test_joint_gives_one_verdict_over_all_cited_documents():
    judge = Scripted(by_premise)
    sources = [document("a", ELSE), document("b", NO), document("c", YES)]
    found = checked(f"{CLAIM} [3][1]", *sources, premise=Joint(), judge=judge)
    (one,) = found.verdicts
    assert (one.markers, one.documents, one.label) == ((3, 1), ("c", "a"), "supported")
    assert [span.document for span in one.evidence] == ["c", "a"]
    assert [pair.premise for pair in judge.asked] == [f"{YES}\n{ELSE}"]
    assert (found.summary.citations, found.summary.cases) == (2, 1)


def test_joint_keeps_a_dangling_marker_out_of_the_joint_verdict():
    found = checked(f"{CLAIM} [1][7]", document("a", YES), premise=Joint())
    assert [(item.markers, item.documents, item.label) for item in found.verdicts] == [
        ((1,), ("a",), "supported"),
        ((7,), (), "dangling"),
    ]


def test_context_judges_every_claim_against_the_top_documents_cited_or_not():
    judge = Scripted(by_premise)
    sources = [document("a", ELSE), document("b", YES), document("c", NO)]
    found = checked(f"{CLAIM} Nobody cited this. {CLAIM} [3]", *sources, premise=Context(2), judge=judge)
    assert [(item.claim, item.markers, item.documents, item.label) for item in found.verdicts] == [
        (CLAIM, (), ("a", "b"), "supported"),
        ("Nobody cited this.", (), ("a", "b"), "supported"),
        (CLAIM, (), ("a", "b"), "supported"),
    ]
    assert (found.summary.citations, found.summary.cases) == (1, 3)
    assert {pair.premise for pair in judge.asked} == {f"{ELSE}\n{YES}"}
    assert [item.claim for item in found.uncited] == [CLAIM, "Nobody cited this."]


def test_context_of_more_documents_than_there_are_takes_all():
    found = checked(CLAIM, document("a", ELSE), document("b", YES), premise=Context(50))
    assert [item.documents for item in found.verdicts] == [("a", "b")]


TWO = "Aspirin lowers fever, whereas ibuprofen raises blood pressure [1]."


def statements(*sentences: str) -> tuple[Verdict, list[Pair]]:
    def word(premise: str, claim: str) -> str:
        topic = "fever" if "fever" in claim else "pressure"
        if topic not in premise:
            return "neutral"
        return "contradicts" if "not" in premise else "entails"

    judge = Scripted(word)
    protocol = Protocol(claim=AtomicStatements(), judge=judge)
    (found,) = next(Verifier(protocol).verify([answer(TWO, document("d", *sentences))])).verdicts
    return found, judge.asked


@pytest.mark.parametrize(
    ("sentences", "label"),
    [
        (["It lowers fever.", "It raises pressure."], "supported"),
        (["It lowers fever.", "It was cheap."], "irrelevant"),
        (["It was cheap.", "It raises pressure."], "irrelevant"),
        (["It lowers fever.", "It does not raise pressure."], "contradicted"),
        (["It was cheap.", "It does not raise pressure."], "contradicted"),
        (["It was cheap."], "irrelevant"),
    ],
)
def test_all_statements_must_hold_for_the_claim_to_hold(sentences: list[str], label: str):
    found, asked = statements(*sentences)
    assert found.label == label
    assert len({pair.claim for pair in asked}) == 2
    assert found.claim == TWO.replace(" [1]", "")


def test_the_evidence_of_a_claim_is_that_of_all_its_statements():
    found, _ = statements("It lowers fever.", "It was cheap.", "It raises pressure.")
    assert [span.sentence_index for span in found.evidence] == [0, 2]


@pytest.mark.parametrize(
    ("name", "premise"),
    [
        ("vericite", Windows(1)),
        ("statements", Windows(1)),
        ("bioace-document", WholeDocument(title=True)),
        ("bioace-maxsim", MostSimilar()),
        ("alce", Joint(title=True, apart=True)),
        ("reason-verify(3)", Context(3)),
        ("windows(3)", Windows(3)),
        ("context(5)", Context(5)),
    ],
)
def test_a_protocol_is_found_by_its_name(name: str, premise: PremisePlan):
    protocol = get_protocol(name)
    assert protocol.name == name
    assert protocol.premise == premise
    split = name == "statements" or name.startswith("reason-verify")
    assert isinstance(protocol.claim, AtomicStatements if split else WholeSentence)


def test_reason_and_verify_judges_each_item_of_a_numbered_list():
    judge = Scripted(lambda premise, claim: "entails" if "aspirin" in claim else "neutral")
    claim = "Drugs that lower risk are (1) aspirin and (2) statins."
    answer = parse_answer("a", f"{claim[:-1]} [1].", [Document.from_text("d", YES)])
    for protocol, asked, label in (
        ("reason-verify", ["Drugs that lower risk are aspirin.", "Drugs that lower risk are statins."], "irrelevant"),
        ("statements", [claim], "supported"),
    ):
        judge.asked.clear()
        made = get_protocol(protocol)
        (checked,) = Verifier(replace(made, judge=judge)).verify([answer])
        assert list(dict.fromkeys(pair.claim for pair in judge.asked)) == asked
        assert checked.verdicts[0].label == label


def test_a_number_may_be_left_out():
    assert get_protocol("reason-verify") == get_protocol("reason-verify(5)")
    assert get_protocol("windows").premise == Windows(3)


def test_every_listed_name_is_taken():
    for name in protocol_names():
        assert get_protocol(name.replace("(N)", "(2)")).signature


@pytest.mark.parametrize(
    ("name", "meant"),
    [("vericit", "vericite"), ("alse", "alce"), ("window(3)", "windows(N)"), ("contexts", "context(N)")],
)
def test_a_misspelt_name_gets_a_suggestion(name: str, meant: str):
    with pytest.raises(UnknownNameError, match="expected a protocol out of") as caught:
        get_protocol(name)
    assert f"Did you mean {meant!r}?" in str(caught.value)


@pytest.mark.parametrize("name", ["", "windows()", "windows(-1)", "windows(2.5)", "vericite(2)", "windows(3) "])
def test_an_invalid_name_is_refused(name: str):
    with pytest.raises(InputError):
        get_protocol(name)


@pytest.mark.parametrize("name", ["windows(0)", "context(0)", "context(00)"])
def test_a_number_below_one_is_refused(name: str):
    with pytest.raises(InputError, match="at least 1"):
        get_protocol(name)


PLANS: Sequence[PremisePlan] = (
    Windows(),
    Windows(2),
    WholeDocument(),
    WholeDocument(title=False),
    Joint(),
    Joint(title=True),
    Joint(apart=True),
    MostSimilar(),
    Context(1),
    Context(2),
)


@pytest.mark.parametrize("plan", PLANS, ids=lambda plan: plan.signature)
def test_any_judge_goes_into_any_protocol(plan: PremisePlan):
    for judge in (LexicalJudge(), Scripted(by_premise), "lexical"):
        protocol = Protocol(premise=plan, judge=judge)
        found = next(
            Verifier(protocol).verify([answer("Fewer strokes were seen with aspirin [1].", document("d", YES))])
        )
        assert [item.label for item in found.verdicts] == ["supported"]
        assert found.provenance.parts["judge"] == Verifier(protocol).judge.signature


def test_the_bundled_judge_is_a_judge_like_any_other():
    protocol = Protocol(premise=Joint(), judge=BundledJudge())
    found = next(Verifier(protocol).verify([answer("Smoking raises the risk of lung cancer [1].", document("d", YES))]))
    assert len(found.verdicts) == 1


def test_an_unknown_judge_lists_the_judges():
    with pytest.raises(UnknownNameError, match="Did you mean 'lexical'"):
        Verifier(Protocol(judge="lexicall"))


def test_different_protocols_have_different_signatures():
    protocols = [
        *(get_protocol(name) for name in ("vericite", "statements", "bioace-document", "bioace-maxsim", "alce")),
        *(get_protocol(f"{name}({size})") for name in ("windows", "context", "reason-verify") for size in (2, 3)),
        *(Protocol(premise=plan) for plan in PLANS),
        Protocol(judge="lexical"),
        Protocol(claim=AtomicStatements(), judge="lexical"),
    ]
    assert len({protocol.signature for protocol in protocols}) == len(protocols)


def test_aggregators_that_differ_have_different_signatures():
    assert AnyEntails(evidence=1).signature != AnyEntails(evidence=3).signature


def test_the_verdicts_name_the_protocol_and_the_provenance_spells_it_out():
    found = checked(f"{CLAIM} [1]", document("d", YES))
    assert found.verdicts[0].protocol == "custom"
    assert found.provenance.protocol == (
        "custom(claim=sentence, premise=sentences, judge=scripted, aggregate=any-entails)"
    )
