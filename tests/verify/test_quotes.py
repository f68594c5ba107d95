"""Quotations are support without asking the judge."""

from collections.abc import Iterable, Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vericite import check
from vericite.models import Pair
from vericite.records import Document
from vericite.verify import Case, Judgement, Premise, get_protocol
from vericite.verify.aggregators import quoted


class Saying:
    """A judge that says the same of every pair, and counts them."""

    def __init__(self, *row: float) -> None:
        self.row, self.asked = np.array(row, dtype=np.float32), 0
        self.signature = f"saying{row}"

    def judge(self, pairs: Iterable[Pair]) -> Iterator[Judgement]:
        for _ in pairs:
            self.asked += 1
            yield Judgement(self.row)


AGAINST = (0.05, 0.9, 0.05)
FOR = (0.9, 0.05, 0.05)
WORDS = st.lists(st.sampled_from("zinc honey cold cough fever trial 12 mg".split()), min_size=3, max_size=7)
TEXTS = st.lists(WORDS.map(lambda words: " ".join(words).capitalize() + "."), min_size=1, max_size=5, unique=True)


@given(TEXTS, st.integers(0, 4))
def test_a_sentence_of_the_source_is_supported_by_it_whatever_the_judge_says(sentences: list[str], place: int):
    claim = sentences[place % len(sentences)]
    protocol = get_protocol("default")
    found = check(
        claim.rstrip(".") + " [1].",
        [{"id": "d", "text": " ".join(sentences)}],
        protocol=protocol,
        judge=Saying(*AGAINST),
    )
    assert [verdict.label for verdict in found.verdicts] == ["supported"]


def case(*premises: str) -> Case:
    return Case((), (), tuple(Premise(text, ()) for text in premises))


@pytest.mark.parametrize(
    ("claim", "found"),
    [
        ("Adding ICS [inhaled corticosteroids] lowers the risk.", 1),
        ("Adding ICS [interferon] lowers the risk.", None),
        ("Adding ICS [never] lowers the risk.", None),
    ],
)
def test_the_documents_own_long_form_in_brackets_is_no_other_word(claim: str, found: int | None):
    text = "Patients took inhaled corticosteroids (ICS). Adding ICS lowers the risk."
    first, second = text.split(". ")
    parts = (Premise(f"{first}.", ()), Premise(second, ()))
    assert quoted(claim, Case((), (Document.from_text("d", text),), parts)) == found


@pytest.mark.parametrize(
    "premise", ["Zinc shortens colds.", "ZINC shortens  colds", "CONCLUSIONS: Zinc shortens colds."]
)
def test_a_whole_sentence_is_quoted(premise: str):
    assert quoted("Zinc shortens colds.", case("Rain fell.", premise)) == 1


@pytest.mark.parametrize(
    "premise",
    [
        "It is a myth that zinc shortens colds.",
        "Myth: zinc shortens colds.",
        "No results: zinc shortens colds.",
        "There is no support for the view of Smith et al. Zinc shortens colds.",
        "Zinc shortens colds in mice.",
        "Zinc shortens coldsores.",
        "Zinc shortens colds?",
        "",
    ],
)
def test_a_part_of_a_sentence_or_a_question_is_not(premise: str):
    assert quoted("Zinc shortens colds.", case(premise)) is None


def test_a_question_and_a_word_quote_nothing():
    assert quoted("Does zinc shorten colds?", case("Does zinc shorten colds.")) is None
    assert quoted("Zinc.", case("Zinc.")) is None


def test_a_quotation_is_named_and_has_no_figure():
    judge = Saying(*AGAINST)
    documents = [{"id": "d", "text": "Rain fell. Zinc shortens colds."}]
    (verdict,) = check("Zinc shortens colds [1].", documents, judge=judge).verdicts
    assert (verdict.label, verdict.native, verdict.probabilities) == ("supported", "quoted", {})
    assert [span.sentence_index for span in verdict.evidence] == [1]
    assert judge.asked == 0


def test_published_protocols_ask_the_judge_alone():
    judge = Saying(*AGAINST)
    found = check("Rain fell [1].", [{"id": "d", "text": "Rain fell."}], protocol="vericite", judge=judge)
    assert found.verdicts[0].label == "contradicted"
    assert judge.asked == 1
