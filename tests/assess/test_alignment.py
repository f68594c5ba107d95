"""Alignment of gold claims with the sentences that state them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from vericite.evaluate.items import Item
from vericite.evaluate.measures.citation_gold import GoldClaim, aligned
from vericite.evaluate.measures.registry import measures_named
from vericite.evaluate.scoring import System, score_systems
from vericite.models.contracts import Judgement, Pair
from vericite.records import Document
from vericite.text.citations import parse_answer
from vericite.text.terms import terms

DOCUMENTS = [Document.from_text(name, f"About {name}.") for name in ("a", "b", "c")]


class Words:
    """Predicts entailment if all words of the claim occur; fails on broken claims."""

    signature = "words"

    def judge(self, pairs: Iterable[Pair]) -> Iterator[Judgement]:
        for pair in pairs:
            if "broken" in pair.claim:
                yield Judgement.failed("broken")
            else:
                held = set(terms(pair.claim)) <= set(terms(pair.premise))
                yield Judgement(np.array([0.9, 0.0, 0.1] if held else [0.1, 0.0, 0.9], dtype=np.float32))


def test_claims_are_aligned_with_the_sentences_that_state_them():
    answer = parse_answer("q", "Zinc shortens colds [1]. Iron cures anaemia [3]. Tea is drunk [2].", DOCUMENTS)
    claims = [
        GoldClaim("Zinc shortens colds.", ("a",)),
        GoldClaim("Iron cures anaemia.", ("b", "c")),
        GoldClaim("Copper is toxic.", ("a",)),
        GoldClaim("A broken claim.", ("c",)),
    ]
    (one,) = aligned([(answer, claims)], Words())
    assert [it.documents for it in one.gold.citations or ()] == [("a",), ("b", "c"), ()]
    # The broken claim is judged once for each of the three sentences.
    assert (one.stated, one.claims, one.failed) == (2, 4, 3)
    item = Item("q", answer=answer, gold=one.gold)
    (figure,) = score_systems([System("x", (item,))], measures_named(["CitationF1"]))
    # Right; one of two; cites where no claim of the gold is stated.
    assert figure.estimate.value is not None and abs(figure.estimate.value - (1 + 2 / 3 + 0) / 3) < 1e-9


def test_an_answer_without_sentences_states_nothing():
    (one,) = aligned([(parse_answer("q", "", DOCUMENTS), [GoldClaim("Zinc.", ("a",))])], Words())
    assert (one.gold.citations, one.stated, one.claims) == ((), 0, 1)


def test_unknown_citations_are_ignored():
    answer = parse_answer("q", "Zinc shortens colds [1][2]. Iron cures anaemia [2][3].", DOCUMENTS)
    claims = [
        GoldClaim("Zinc shortens colds.", ("a",), ("b",)),
        GoldClaim("Iron cures anaemia.", ("c",), ("a",)),
        GoldClaim("Iron cures.", (), ("c",)),
        GoldClaim("Copper is toxic.", ("c",), ("b",)),
    ]
    (one,) = aligned([(answer, claims)], Words())
    assert [sorted(it) for it in one.unknown] == [["b"], ["a"]]
    assert [[it.document for it in claim.citations] for claim in one.without_unknown(answer).claims] == [
        ["a"],
        ["b", "c"],
    ]
    assert [len(claim.citations) for claim in answer.claims] == [2, 2]


@given(st.lists(st.sampled_from(["Zinc shortens colds.", "Iron cures anaemia.", "Copper is toxic."]), min_size=1))
def test_an_answer_aligned_with_itself_is_correct(texts: list[str]):
    told = list(dict.fromkeys(texts))
    answer = parse_answer(
        "q", " ".join(f"{text[:-1]} [{place % 3 + 1}]." for place, text in enumerate(told)), DOCUMENTS
    )
    claims = [GoldClaim(claim.text, tuple(it.document or "" for it in claim.citations)) for claim in answer.claims]
    ((gold, stated, *_),) = aligned([(answer, claims)], Words())
    assert stated == len(told)
    assert [it.documents for it in gold.citations or ()] == [claim.documents for claim in claims]
