"""The default protocol: sentences, then the telling ones together, then the claim's statements."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vericite import check
from vericite.models import Pair
from vericite.models.contracts import CONTRADICTS, ENTAILS, NEUTRAL
from vericite.verify import (
    PRESETS,
    Assembly,
    Judgement,
    PremisePlan,
    Protocol,
    Role,
    Sheet,
    TwoViews,
    WholeDocument,
    WholeThenStatements,
    Windows,
    get_protocol,
)

FOR, AGAINST, OPEN = (0.9, 0.05, 0.05), (0.05, 0.9, 0.05), (0.05, 0.05, 0.9)
SENTENCE = Role("sentence", 0)
ROW = st.tuples(*[st.integers(1, 30)] * 3).map(lambda row: tuple(part / sum(row) for part in row))


@dataclass
class Reader:
    """Judges by a table: (a word of the premise, a word of the claim) to probabilities; what it read is kept."""

    table: dict[tuple[str, str], tuple[float, float, float]]
    read: list[Pair] = field(default_factory=list[Pair])
    signature: str = "reader"

    def judge(self, pairs: Iterable[Pair]) -> Iterator[Judgement]:
        for pair in pairs:
            self.read.append(pair)
            found = [row for words, row in self.table.items() if words[0] in pair.premise and words[1] in pair.claim]
            yield Judgement(np.array(found[0] if found else OPEN, dtype=np.float32))


def sheet(*alone: tuple[float, float, float], together: tuple[float, float, float] | None = None) -> Sheet:
    rows = [*alone, *([together] if together else [])]
    roles = [SENTENCE] * len(alone) + ([Role()] if together else [])
    return Sheet.filled(np.array([rows], dtype=np.float32), roles=roles)


def verdicts(judge: Reader, text: str, *sources: str):
    documents = [{"id": f"d{number}", "text": source} for number, source in enumerate(sources, 1)]
    protocol = Protocol(WholeThenStatements(), Assembly(2), judge, TwoViews(), name="default")
    return check(text, documents, protocol=protocol).verdicts


@given(st.lists(ROW, min_size=1, max_size=6), ROW)
def test_probabilities_add_up_and_the_label_is_the_likeliest(alone: list[tuple[float, float, float]], joint):
    outcome = TwoViews().decide(sheet(*alone, together=joint))
    assert sum(outcome.probabilities.values()) == pytest.approx(1, abs=1e-5)
    assert outcome.probabilities[outcome.label or ""] == max(outcome.probabilities.values())


@given(st.lists(ROW, min_size=2, max_size=6), ROW, st.randoms(use_true_random=False))
def test_the_order_of_sentences_does_not_matter(alone: list[tuple[float, float, float]], joint, random):
    mixed = random.sample(alone, len(alone))
    assert TwoViews().decide(sheet(*alone, together=joint))[:3] == TwoViews().decide(sheet(*mixed, together=joint))[:3]


def test_a_sentence_that_the_whole_does_not_bear_out_does_not_decide():
    assert TwoViews().decide(sheet(FOR, OPEN)).label == "supported"
    assert TwoViews().decide(sheet((0.5, 0.05, 0.45), OPEN, together=(0.02, 0.02, 0.96))).label == "irrelevant"


def test_evidence_is_the_sentences_that_have_the_label_alone_the_strongest_first():
    outcome = TwoViews().decide(sheet(OPEN, (0.7, 0.1, 0.2), FOR, together=FOR))
    assert outcome.premises == (2, 1)
    assert TwoViews().decide(sheet(OPEN, OPEN, together=(0.9999, 0.00005, 0.00005))).premises == (2,)


def test_a_failed_judgement_leaves_it_undecided():
    held = sheet(FOR, OPEN)
    held.failed[0, 1] = True
    assert TwoViews().decide(held).label is None


def test_no_sentences_support_nothing():
    assert TwoViews().decide(Sheet.filled(np.zeros((1, 0, 3), dtype=np.float32), roles=[])).label == "irrelevant"


def test_what_two_documents_say_together_is_read_together():
    judge = Reader(
        {("Zinc. Honey", "both"): FOR, ("Zinc", "both"): (0.2, 0.1, 0.7), ("Honey", "both"): (0.2, 0.1, 0.7)}
    )
    (verdict,) = verdicts(judge, "They both helped [1][2].", "Rain fell. Zinc.", "Honey. Snow fell.")
    assert verdict.label == "supported"
    assert verdict.markers == (1, 2)
    assert [(span.document, span.sentence_index) for span in verdict.evidence] == [("d1", 1), ("d2", 0)]


def test_each_cited_document_gives_its_best_sentence():
    judge = Reader({("Zinc", "x"): (0.3, 0.1, 0.6), ("Zink", "x"): (0.25, 0.1, 0.65)})
    verdicts(judge, "Ax x [1][2].", "Zinc was given. Zink was given.", "Nobody knows this.")
    assert judge.read[-1].premise == "Zinc was given. Nobody knows this."


TWO = "Zinc reduced colds by 10% and honey improved cough in children [1]."


def test_a_claim_that_fails_whole_is_supported_if_each_statement_is():
    judge = Reader({("", "colds by 10% and"): OPEN, ("Cold", "Zinc"): FOR, ("Cough", "honey"): FOR})
    (verdict,) = verdicts(judge, TWO, "Cold went sooner. Coughs were soothed.")
    assert [statement.label for statement in verdict.statements] == ["supported", "supported"]
    assert verdict.label == "supported"
    assert {span.sentence_index for span in verdict.evidence} == {0, 1}


@pytest.mark.parametrize(("second", "label"), [(OPEN, "irrelevant"), (AGAINST, "contradicted")])
def test_one_statement_that_fails_is_named(second: tuple[float, float, float], label: str):
    judge = Reader({("", "colds by 10% and"): OPEN, ("Cold", "Zinc"): FOR, ("Cough", "honey"): second})
    (verdict,) = verdicts(judge, TWO, "Cold went sooner. Coughs were soothed.")
    assert [statement.label for statement in verdict.statements] == ["supported", label]
    assert verdict.label == label


def test_a_claim_on_a_source_of_one_sentence_is_split_too():
    judge = Reader({("", "colds by 10% and"): OPEN, ("Colds", "Zinc"): FOR, ("coughs", "honey"): FOR})
    (verdict,) = verdicts(judge, TWO, "Colds went sooner and coughs were soothed.")
    assert (verdict.label, verdict.native) == ("supported", "2 of 2 statements")


def test_a_statement_that_could_not_be_judged_leaves_the_claim_undecided():
    class Failing(Reader):
        def judge(self, pairs: Iterable[Pair]) -> Iterator[Judgement]:
            for pair in pairs:
                (found,) = super().judge([pair])
                yield Judgement.failed("gone") if pair.claim.startswith("honey") else found

    judge = Failing({("", "colds by 10% and"): OPEN, ("Cold", "Zinc"): FOR})
    protocol = Protocol(WholeThenStatements(), Assembly(2), judge, TwoViews(), name="default")
    document = {"id": "d", "text": "Cold went sooner. Coughs were soothed."}
    checked = check(TWO, [document], protocol=protocol)
    assert not checked.verdicts
    assert [statement.label for statement in checked.failures[0].statements] == ["supported", None]


def test_what_is_put_together_fits_the_judge():
    class Narrow(Reader):
        capacity = 12

        def length(self, text: str) -> int:
            return len(text.split())

    judge = Narrow({("long", "x"): (0.3, 0.1, 0.6), ("Short", "x"): (0.2, 0.1, 0.7), ("Brief", "x"): (0.1, 0.1, 0.8)})
    protocol = Protocol(WholeThenStatements(), Assembly(3), judge, TwoViews())
    text = "A sentence that is rather long to read. Short it is. Brief. It goes on and on and on."
    check("Ax x [1].", [{"id": "d", "text": text}], protocol=protocol)
    assert judge.read[-1].premise == "A sentence that is rather long to read. Brief."


def test_statements_of_claims_that_failed_whole_are_not_counted_as_a_rate():
    judge = Reader({("", "colds by 10% and"): OPEN, ("Cold", "Zinc"): FOR})
    protocol = Protocol(WholeThenStatements(), Assembly(2), judge, TwoViews())
    checked = check(TWO, [{"id": "d", "text": "Cold went sooner. Coughs were soothed."}], protocol=protocol)
    assert checked.verdicts[0].native == "1 of 2 statements"
    assert checked.summary.statements == 0


def test_a_tie_of_the_views_is_not_support():
    assert TwoViews().decide(sheet((1, 0, 0), (0, 0, 1), together=(0, 0, 1))).label == "irrelevant"


def test_a_supported_claim_is_not_split():
    judge = Reader({("", "Zinc"): FOR})
    (verdict,) = verdicts(judge, TWO, "Cold went sooner. Coughs were soothed.")
    assert verdict.label == "supported"
    assert verdict.statements == ()


def test_the_preset_reads_all_cited_documents_at_once():
    protocol = get_protocol("default")
    assert isinstance(protocol.premise, Assembly)
    assert "two-views" in protocol.signature


@pytest.mark.parametrize("name", ["default", "fast"])
def test_three_sentences_of_a_document_are_read_together(name: str):
    judge = Reader({("", "Zinc"): OPEN})
    source = "Zinc was given. Zinc was swallowed. Zinc was liked. Zinc was cheap."
    check("Zinc heals [1].", [{"id": "d", "text": source}], protocol=replace(get_protocol(name), judge=judge))
    joined = [pair.premise for pair in judge.read if pair.premise.count(".") > 1]
    assert {premise.count(".") for premise in joined} == {3}


def test_the_columns_are_those_of_judges():
    assert (ENTAILS, CONTRADICTS, NEUTRAL) == (0, 1, 2)


SENTENCES = st.lists(
    st.lists(st.sampled_from("zinc honey cold cough fever children trial".split()), min_size=1, max_size=5).map(
        " ".join
    ),
    min_size=1,
    max_size=12,
    unique=True,
)


class Hashing(Reader):
    """A judge whose word depends on the texts alone."""

    def judge(self, pairs: Iterable[Pair]) -> Iterator[Judgement]:
        for pair in pairs:
            self.read.append(pair)
            seed = sum(map(ord, pair.premise + pair.claim))
            yield Judgement(np.random.default_rng(seed).dirichlet((1, 1, 2)).astype(np.float32))


def found_by(rule: TwoViews, text: str) -> tuple[str, int]:
    judge = Hashing({})
    protocol = Protocol(WholeThenStatements(), Assembly(2), judge, rule)
    (verdict,) = check("Zinc shortened colds in children [1].", [{"id": "d", "text": text}], protocol=protocol).verdicts
    return verdict.label, len(judge.read)


@given(SENTENCES)
def test_fast_asks_no_more_and_with_nothing_sure_enough_says_the_same(sentences: list[str]):
    text = " ".join(f"{sentence.capitalize()}." for sentence in sentences)
    label, asked = found_by(TwoViews(), text)
    assert found_by(TwoViews(first=0.2, sure=1.1), text) == (label, asked)
    assert found_by(TwoViews(first=0.2), text)[1] <= asked


def test_fast_leaves_out_what_shares_no_word_once_the_likest_decides():
    judge = Reader({("colds", "Zinc"): FOR})
    text = " ".join(["Zinc shortened colds."] + [f"Rain fell on day {day}." for day in range(9)])
    protocol = Protocol(WholeThenStatements(), Assembly(2), judge, TwoViews(first=0.2))
    (verdict,) = check("Zinc shortens colds [1].", [{"id": "d", "text": text}], protocol=protocol).verdicts
    assert verdict.label == "supported"
    assert len(judge.read) == 3


def test_each_of_several_documents_has_a_label_of_its_own_and_is_named_if_it_does_not_support():
    judge = Reader({("adults. Zinc", "Zinc"): FOR, ("did not", "Zinc"): AGAINST, ("Zinc shortened", "Zinc"): FOR})
    documents = ["Zinc shortened colds in adults.", "Honey was given to rats.", "Zinc did not shorten colds."]
    (verdict,) = verdicts(judge, "Zinc shortens colds [1][2][3].", *documents)
    assert verdict.label == "supported"
    assert dict(verdict.label_by_source) == {"d1": "supported", "d2": "irrelevant", "d3": "contradicted"}
    assert verdict.reasons == ("carried by [1]", "[2] says nothing about it", "[3] says the opposite")
    assert verdict.opposition == ("[3] says the opposite",)


def test_a_verdict_that_nothing_decides_keeps_the_sentence_that_came_closest():
    text, source = "Zinc cured colds [1].", "Honey was given to rats. Zinc was studied in colds. Zinc is blue."
    (alike,) = verdicts(Reader({}), text, source)
    assert alike.label == "irrelevant" and alike.evidence == () and alike.nearest is not None
    assert alike.nearest.text == "Zinc was studied in colds.", (
        "the most shared words, where the judge sees no difference"
    )
    (told,) = verdicts(Reader({("blue", "Zinc"): (0.3, 0.1, 0.6)}), text, source)
    assert told.label == "irrelevant" and told.nearest is not None
    assert told.nearest.text == "Zinc is blue."
    (found,) = verdicts(Reader({("blue", "Zinc"): FOR}), text, source)
    assert found.label == "supported" and found.nearest is None and "nearest" not in found.model_dump(mode="json")


def test_documents_that_say_nothing_of_the_claim_move_no_verdict():
    table = {("Zinc shortened", "Zinc"): FOR, ("Rain", "Zinc"): (0.1, 0.2, 0.7), ("Honey", "Zinc"): (0.1, 0.3, 0.6)}
    sources = ["Zinc shortened colds. Colds are common.", "Rain fell. It fell in May.", "Honey was given to rats."]
    (alone,) = verdicts(Reader(table), "Zinc shortens colds [1].", *sources)
    (beside,) = verdicts(Reader(table), "Zinc shortens colds [1][2][3].", *sources)
    assert (beside.label, beside.probabilities, beside.evidence) == (alone.label, alone.probabilities, alone.evidence)
    assert beside.reasons == ("carried by [1]", "[2] says nothing about it", "[3] says nothing about it")


def test_where_no_document_bears_on_the_claim_all_are_judged():
    (verdict,) = verdicts(Reader({}), "Zinc shortens colds [1][2].", "Rain fell. It fell in May.", "Honey is sweet.")
    assert verdict.label == "irrelevant"
    assert not verdict.reasons


def test_a_document_with_the_claims_words_is_read_however_neutral_its_sentences():
    judge = Reader({("colds. Zinc", "Zinc"): FOR, ("Adults", "Zinc"): (0.4, 0.0, 0.6)})
    (verdict,) = verdicts(judge, "Zinc shortens colds [1][2].", "Adults had colds.", "Zinc was given to them.")
    assert any(pair.premise == "Adults had colds. Zinc was given to them." for pair in judge.read)
    assert verdict.label == "supported"
    assert verdict.reasons == ("carried by [1][2] together",)


def test_what_only_all_documents_say_together_names_none_of_them():
    judge = Reader(
        {("Zinc. Honey", "both"): FOR, ("Zinc", "both"): (0.2, 0.1, 0.7), ("Honey", "both"): (0.2, 0.1, 0.7)}
    )
    (verdict,) = verdicts(judge, "They both helped [1][2].", "Zinc.", "Honey.")
    assert verdict.label == "supported"
    assert not any("alone" in reason for reason in verdict.reasons)


@pytest.mark.parametrize("premise", [Windows(1), Windows(2), WholeDocument()])
def test_two_views_of_a_plan_that_puts_nothing_together_are_one(premise: PremisePlan):
    judge = Reader({("shortened", "Zinc"): FOR})
    protocol = Protocol(premise=premise, judge=judge, aggregate=TwoViews())
    document = {"id": "d", "text": "Rain fell. Zinc shortened colds. Snow fell."}
    assert check("Zinc shortens colds [1].", [document], protocol=protocol).verdicts[0].label == "supported"


@pytest.mark.parametrize("name", PRESETS)
def test_a_document_without_text_costs_no_protocol_its_run(name: str):
    documents = [{"id": "a", "title": "Zinc", "text": ""}, {"id": "b", "text": "Zinc shortened colds."}]
    checked = check("Zinc helps [1]. Zinc shortens colds [1][2].", documents, protocol=name, judge="lexical")
    assert checked.summary.claims == 2


def test_of_sentences_judged_together_the_one_that_carries_most_of_the_claim_comes_first():
    nearly = (0.45, 0.05, 0.5)
    judge = Reader({("took zinc. The", "rose"): FOR, ("took", "rose"): nearly, ("slightly", "rose"): nearly})
    source = "Of 80 adults half took zinc. The risk rose slightly (hazard ratio 1.31). Zinc is blue."
    (verdict,) = verdicts(judge, "In adults who took zinc the risk rose (HR 1.31) [1].", source)
    assert verdict.label == "supported"
    assert [span.sentence_index for span in verdict.evidence] == [1, 0]
