"""The published protocols, by examples worked by hand."""

from collections.abc import Iterable, Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vericite.evaluate import CitationRates
from vericite.models import Pair
from vericite.models.contracts import CONTRADICTS, ENTAILS, NEUTRAL
from vericite.models.folder import EMBEDDER
from vericite.records import Answer, CheckedAnswer, Document
from vericite.text.citations import parse_answer
from vericite.verify import (
    CATEGORIES,
    Faithfulness,
    Joint,
    Judgement,
    LeaveOneOut,
    MostSimilar,
    NuggetRule,
    Nuggets,
    Protocol,
    Sheet,
    Sources,
    Verifier,
    get_protocol,
)

CLAIM = "Aspirin lowers the risk of stroke."


class Holding:
    """Entails what a premise gives all the facts for; facts are capital letters, and a claim needs those it has.

    A premise with a minus before a letter contradicts claims that need it; ``!`` makes the judge fail.
    """

    signature = "holding"

    def __init__(self, needs: str) -> None:
        self.needs = needs
        self.asked: list[str] = []

    def judge(self, pairs: Iterable[Pair]) -> Iterator[Judgement]:
        for pair in pairs:
            self.asked.append(pair.premise)
            if "!" in pair.premise:
                yield Judgement.failed("the judge lost its voice", "mumble")
            elif all(f"fact{need}" in pair.premise for need in self.needs):
                yield Judgement.certain(ENTAILS, "1")
            elif any(f"minus{need}" in pair.premise for need in self.needs):
                yield Judgement.certain(CONTRADICTS, "0")
            else:
                yield Judgement.certain(NEUTRAL, "0")


def sources(*texts: str) -> list[Document]:
    return [Document.from_text(f"d{number}", text, f"T{number}") for number, text in enumerate(texts, start=1)]


def alce(needs: str, *texts: str, text: str = "") -> tuple[CheckedAnswer, Holding]:
    markers = "".join(f"[{number}]" for number in range(1, len(texts) + 1))
    judge = Holding(needs)
    protocol = Protocol(premise=Joint(title=True, apart=True), judge=judge, aggregate=LeaveOneOut(), name="alce")
    answer = parse_answer("a", text or f"{CLAIM[:-1]} {markers}.", sources(*texts))
    return next(Verifier(protocol).verify([answer])), judge


# A claim that needs facts, the facts of its sources, the recall, and the documents that are not needed:
# irrelevant, says the paper, is what does not support alone and whose removal does not hurt the rest.
ALCE = {
    "one that suffices": ("A", ["factA"], "supported", ()),
    "one that does not": ("A", ["factB"], "irrelevant", ()),
    "two, one of which suffices": ("A", ["factA", "factB"], "supported", ("d2",)),
    "two, the second of which suffices": ("A", ["factB", "factA"], "supported", ("d1",)),
    "two that each suffice are both needed": ("A", ["factA", "factA again"], "supported", ()),
    "two that suffice together": ("AB", ["factA", "factB"], "supported", ()),
    "three, two of which together suffice": ("AB", ["factA", "factB", "factC"], "supported", ("d3",)),
    "three with a fact twice": ("AB", ["factA", "factB", "factA once more"], "supported", ("d1", "d3")),
    "none together": ("AB", ["factA", "factC"], "irrelevant", ()),
    "contradicted together": ("A", ["minusA", "factB"], "contradicted", ()),
    "a document without text": ("A", ["factA", ""], "supported", ("d2",)),
}


@pytest.mark.parametrize(("needs", "texts", "label", "redundant"), ALCE.values(), ids=ALCE)
def test_alce_by_worked_examples(needs: str, texts: list[str], label: str, redundant: tuple[str, ...]):
    found, _ = alce(needs, *texts)
    (verdict,) = found.verdicts
    assert (verdict.label, verdict.redundant) == (label, redundant)
    needed = len(texts) - len(redundant) if label == "supported" else 0
    assert (found.summary.tested, found.summary.needed) == (len(texts), needed)


def test_alce_asks_about_the_titled_documents_together_then_separately_only_if_needed():
    _, judge = alce("A", "factA", "factB")
    assert judge.asked == [
        "Title: T1\nfactA\nTitle: T2\nfactB",
        "Title: T1\nfactA",
        "Title: T2\nfactB",
        # Without the second is the first alone, which was asked.
    ]
    _, judge = alce("A", "factB", "factC")
    assert judge.asked == ["Title: T1\nfactB\nTitle: T2\nfactC"]


def test_alce_recall_and_precision_over_an_answer():
    text = f"{CLAIM[:-1]} [1][2]. Nobody cited this. {CLAIM[:-1]} [2]. {CLAIM[:-1]} [1][9]."
    found, _ = alce("A", "factA", "factB", text=text)
    rates = CitationRates()
    rates.add(found)
    # Supported is the first of four claims, as [9] spoils the last; precise is [1] of [1][2][2].
    assert (rates["citation recall"].value, rates["citation recall"].n) == (1 / 4, 1)
    assert (rates["citation precision"].value, rates["citation precision"].n) == (1 / 3, 1)


def test_alce_keeps_the_recall_where_only_the_precision_hangs_on_a_failed_judgement():
    class Moody(Holding):
        def judge(self, pairs: Iterable[Pair]) -> Iterator[Judgement]:
            for pair, said in zip(pairs := list(pairs), super().judge(pairs), strict=True):
                yield Judgement.failed("no word") if pair.premise == "Title: T2\nfactB" else said

    protocol = Protocol(premise=Joint(title=True, apart=True), judge=Moody("A"), aggregate=LeaveOneOut(), name="alce")
    answer = parse_answer("a", f"{CLAIM[:-1]} [1][2].", sources("factA", "factB"))
    found = next(Verifier(protocol).verify([answer]))
    (verdict,) = found.verdicts
    assert (verdict.label, verdict.redundant) == ("supported", None)
    assert verdict.reasons == ("1 of 3 judgements failed: no word",)
    assert (found.summary.supported, found.summary.tested, found.summary.failed) == (1, 0, 0)


def test_alce_does_not_guess_a_failed_judgement():
    found, _ = alce("A", "factA", "factB !")
    assert found.verdicts == ()
    (failure,) = found.failures
    assert failure.raw == ("mumble",)
    assert found.summary.tested == 0


@given(st.lists(st.sets(st.sampled_from("ABC")), min_size=1, max_size=4), st.sets(st.sampled_from("ABC"), min_size=1))
def test_alce_agrees_with_the_definition(held: list[set[str]], needs: set[str]):
    """The paper's two conditions, written out."""

    def enough(chosen: Iterable[set[str]]) -> bool:
        return needs <= set().union(*chosen)

    expected = [
        number
        for number, facts in enumerate(held)
        if enough(held) and not enough([facts]) and enough(held[:number] + held[number + 1 :])
    ]
    texts = [" ".join(f"fact{fact}" for fact in sorted(facts)) + "." for facts in held]
    found, _ = alce("".join(sorted(needs)), *texts)
    (verdict,) = found.verdicts
    assert (verdict.label == "supported") == enough(held)
    assert verdict.redundant == tuple(f"d{number + 1}" for number in expected)


class Toy:
    """An embedder of counted words, so that likeness can be worked out by hand."""

    signature = "toy"
    words = ("aspirin", "stroke", "risk", "fever", "age")

    def embed(self, texts: Iterable[str]) -> np.ndarray:
        rows = np.array([[text.lower().count(word) + 1e-6 for word in self.words] for text in texts], dtype=np.float32)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def test_maxsim_judges_the_one_sentence_most_like_the_claim():
    document = Document.from_text("d", "Aspirin and fever. Stroke risk fell with aspirin. The risk of age. Age.")
    answer = parse_answer("a", "Aspirin lowers the risk of stroke [1].", [document])
    (case,) = MostSimilar(Toy()).cases(answer.claims[0], Sources(answer.documents))
    assert [premise.text for premise in case.premises] == ["Stroke risk fell with aspirin."]
    assert case.premises[0].passages[0].sentence_index == 1


def test_maxsim_takes_the_first_of_two_that_are_as_like():
    document = Document.from_text("d", "Age. Aspirin stroke risk one. Aspirin stroke risk two.")
    answer = parse_answer("a", "Aspirin lowers the risk of stroke [1].", [document])
    (case,) = MostSimilar(Toy()).cases(answer.claims[0], Sources(answer.documents))
    assert [premise.text for premise in case.premises] == ["Aspirin stroke risk one."]


def test_maxsim_with_the_bundled_embedder_through_the_whole_protocol():
    document = Document.from_text(
        "d", "The mean age was 60 years. Aspirin lowered the risk of stroke. Funding came from a charity."
    )
    answer = parse_answer("a", "Aspirin lowers the risk of stroke [1].", [document])
    protocol = Protocol(premise=MostSimilar(), judge="lexical", name="bioace-maxsim")
    found = next(Verifier(protocol).verify([answer]))
    assert [span.sentence_index for span in found.verdicts[0].evidence] == [1]
    assert f"{EMBEDDER}@" in (found.provenance.protocol or "")


class Labelling:
    """Says of a statement the category that a word in it names; keeps the pairs."""

    signature = "labelling"
    reads_question = True

    def __init__(self, **categories: str) -> None:
        self.categories = categories
        self.asked: list[Pair] = []

    def judge(self, pairs: Iterable[Pair]) -> Iterator[Judgement]:
        for pair in pairs:
            self.asked.append(pair)
            category = next(name for word, name in self.categories.items() if word in pair.claim)
            yield Judgement.certain(CATEGORIES[category], category)


def reasoned(text: str, judge: Labelling) -> CheckedAnswer:
    documents = sources("Aspirin lowers fever.", "Ibuprofen raises pressure.", "Not read.")
    answer: Answer = parse_answer("a", text, documents, "What does aspirin do?")
    protocol = get_protocol("reason-verify(2)")
    return next(
        Verifier(Protocol(protocol.claim, protocol.premise, judge, protocol.aggregate, protocol.name)).verify([answer])
    )


TWO = "Aspirin lowers fever, whereas ibuprofen raises blood pressure [1]."

# The categories of a claim's two statements; the paper's word for the claim, ours, and how many statements count.
REASON_VERIFY = [
    ("CORRECT-EXPLICIT", "CORRECT-IMPLICIT", "CORRECT", "supported", 2),
    ("CORRECT-EXPLICIT", "CORRECT-ADDITIONAL", "CORRECT", "irrelevant", 2),
    ("CORRECT-MISSING", "CORRECT-EXPLICIT", "CORRECT", "irrelevant", 2),
    ("CORRECT-EXPLICIT", "INCORRECT-FALSE", "INCORRECT", "contradicted", 1),
    ("INCORRECT-DEVIATING", "CORRECT-EXPLICIT", "INCORRECT", "irrelevant", 1),
    ("INCORRECT-ILLOGICAL", "INCORRECT-MISSING", "INCORRECT", "irrelevant", 0),
]


@pytest.mark.parametrize(("first", "second", "native", "label", "holding"), REASON_VERIFY)
def test_reason_and_verify_by_worked_examples(first: str, second: str, native: str, label: str, holding: int):
    found = reasoned(TWO, Labelling(fever=first, pressure=second))
    (verdict,) = found.verdicts
    assert (verdict.native, verdict.label) == (native, label)
    assert [item.native for item in verdict.statements] == [first, second]
    assert (found.summary.holding, found.summary.statements) == (holding, 2)
    rates = CitationRates()
    rates.add(found)
    assert rates["statements that hold"].value == holding / 2


def test_reason_and_verify_reads_the_first_documents_cited_or_not_and_the_question():
    judge = Labelling(fever="CORRECT-EXPLICIT")
    found = reasoned("Aspirin lowers fever.", judge)
    assert [pair.premise for pair in judge.asked] == ["Aspirin lowers fever.\nIbuprofen raises pressure."]
    assert [pair.question for pair in judge.asked] == ["What does aspirin do?"]
    assert [item.native for item in found.verdicts[0].statements] == ["CORRECT-EXPLICIT"]


def test_statements_count_though_another_of_their_claim_failed():
    class Silent(Labelling):
        def judge(self, pairs: Iterable[Pair]) -> Iterator[Judgement]:
            for pair, said in zip(pairs := list(pairs), super().judge(pairs), strict=True):
                yield Judgement.failed("no word") if "pressure" in pair.claim else said

    found = reasoned(TWO, Silent(fever="CORRECT-EXPLICIT", pressure="CORRECT-EXPLICIT"))
    (failure,) = found.failures
    assert [(item.label, item.native) for item in failure.statements] == [
        ("supported", "CORRECT-EXPLICIT"),
        (None, "failed"),
    ]
    assert (found.summary.holding, found.summary.statements, found.summary.failed) == (1, 1, 1)


@pytest.mark.parametrize("name", ["alce", "reason-verify"])
def test_what_is_abstained_from_counts_nowhere_else(name: str):
    protocol = get_protocol(name)
    unsure = Protocol(protocol.claim, protocol.premise, "lexical", protocol.aggregate, name, abstain_below=0.99)
    answer = parse_answer("a", "Aspirin lowers fever quickly [1].", sources("Aspirin lowers fever in adults."))
    found = next(Verifier(unsure).verify([answer]))
    assert found.verdicts[0].abstained
    assert (found.summary.tested, found.summary.statements) == (0, 0)


def test_a_judge_without_categories_counts_what_it_finds_entailed():
    scores = np.array([[(0.8, 0.1, 0.1)], [(0.1, 0.1, 0.8)]], dtype=np.float32)
    outcome = Faithfulness().decide(Sheet.filled(scores))
    assert outcome is not None
    assert (outcome.native, outcome.label) == ("INCORRECT", "irrelevant")
    assert [item.holds for item in outcome.statements] == [True, False]


def test_the_eight_categories_are_those_of_the_paper():
    assert len(CATEGORIES) == 8
    assert [name for name, column in CATEGORIES.items() if column == ENTAILS] == [
        "CORRECT-EXPLICIT",
        "CORRECT-IMPLICIT",
    ]
    assert [name for name, column in CATEGORIES.items() if column == CONTRADICTS] == ["INCORRECT-FALSE"]


def cells(*rows: str) -> Sheet:
    """A sheet: a row a nugget of the claim, a letter a nugget of the source (+, -, . for neutral, ! for failed)."""
    columns = {"+": ENTAILS, "-": CONTRADICTS, ".": NEUTRAL, "!": NEUTRAL}
    scores = np.array([[np.eye(3, dtype=np.float32)[columns[mark]] for mark in row] for row in rows])
    return Sheet.filled(scores, np.array([[mark == "!" for mark in row] for row in rows]))


@pytest.mark.parametrize(
    ("rows", "any_one", "every_one"),
    [
        (("+.", ".+"), "supported", "supported"),
        (("+.", ".."), "supported", "irrelevant"),
        (("+-", "++"), "contradicted", "contradicted"),
        (("..", ".."), "irrelevant", "irrelevant"),
        (("+.", ".-"), "contradicted", "contradicted"),
        (("+!", "++"), None, None),
        (("!.", ".-"), "contradicted", "contradicted"),
    ],
)
def test_nuggets_add_up_by_either_of_bioaces_rules(rows: tuple[str, ...], any_one: str | None, every_one: str | None):
    assert NuggetRule().decide(cells(*rows)).label == any_one
    assert NuggetRule(every=True).decide(cells(*rows)).label == every_one


def test_the_nuggets_of_a_source_are_the_statements_of_its_sentences_and_are_shown_in_them():
    text = "Aspirin lowers the risk of stroke, whereas heparin raises the risk of bleeding. The trial ended early."
    document = Document.from_text("d1", text)
    answer = parse_answer("a", "It raises the risk of bleeding [1].", [document])
    (case,) = Nuggets().cases(answer.claims[0], Sources((document,)))
    assert len(case.premises) == 3
    assert [text[it.passages[0].start : it.passages[0].end] for it in case.premises] == [
        *[text.partition(". ")[0] + "."] * 2,
        "The trial ended early.",
    ]
    assert all(premise.text in text for premise in case.premises)


def test_a_source_without_text_supports_nothing_by_nuggets():
    answer = parse_answer("a", f"{CLAIM[:-1]} [1].", [Document.from_text("d1", "")])
    (checked,) = Verifier(Protocol(premise=Nuggets(), aggregate=NuggetRule(), judge="lexical")).verify([answer])
    assert [verdict.label for verdict in checked.verdicts] == ["irrelevant"]
