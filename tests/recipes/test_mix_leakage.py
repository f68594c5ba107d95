"""What is tested on does not get into the mix, and what is set aside stays aside."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mix.example import components, share
from mix.guard import Forbidden, Guard, NearTexts

TESTED = "Daily zinc lozenges shorten the common cold in otherwise healthy adults by two days."


def _guard() -> Guard:
    return Guard(
        Forbidden(((TESTED, "made-up test"),), {"pmid:7": "made-up test"}, (("Zinc and colds in adults", "t"),))
    )


@pytest.mark.parametrize(
    ("claim", "reason"),
    [
        (TESTED, "same claim"),
        (TESTED.upper().replace(".", "!"), "same claim"),
        (TESTED.replace("two", "three"), "near claim"),
        (TESTED.replace("otherwise ", ""), "near claim"),
    ],
)
def test_a_planted_claim_is_caught_and_counted(claim: str, reason: str) -> None:
    guard = _guard()
    assert guard.refuses_claim(claim, "set")
    assert guard.dropped == {("set", reason, "made-up test"): 1}


def test_another_claim_passes() -> None:
    guard = _guard()
    assert not guard.refuses_claim("Daily zinc lozenges caused nausea in a third of the children of this trial.", "set")
    assert not guard.dropped


def test_documents_are_caught_by_id_and_by_title() -> None:
    guard = _guard()
    assert guard.refuses_document("pmid:7", "set")
    assert guard.refuses_document("other:1", "set", "Zinc and colds, in adults.")
    assert not guard.refuses_document("pmid:8", "set", "Copper and colds in adults")
    assert guard.dropped["set", "document", "made-up test"] == 1


def test_a_set_may_be_allowed() -> None:
    assert not _guard().refuses_claim(TESTED, "set", allowed="made-up test")


words = st.lists(
    st.sampled_from("zinc cold trial adult dose week sleep pain risk care".split()), min_size=1, max_size=12
)


@given(st.lists(words, min_size=1, max_size=6), words)
def test_the_index_finds_what_comparing_all_would(held: list[list[str]], asked: list[str]) -> None:
    near = NearTexts((" ".join(text), str(number)) for number, text in enumerate(held))
    tokens = set(asked)
    close = any(len(tokens & set(t)) >= 0.85 * len(tokens | set(t)) and len(set(t)) >= 5 for t in held)
    assert (near.near(" ".join(asked)) is not None) == (close and len(tokens) >= 5)


@given(st.dictionaries(st.text("abc", min_size=1), st.sets(st.sampled_from("12345678"), max_size=3), max_size=8))
def test_claims_that_share_a_document_share_a_group(cited: dict[str, set[str]]) -> None:
    groups = components(cited.items())
    for one in cited:
        for other in cited:
            if cited[one] & cited[other]:
                assert groups[one] == groups[other]


def test_a_share_belongs_to_its_key() -> None:
    assert share("a", 0) == share("a", 0) != share("a", 1)
    assert 0.05 < sum(share(str(number), 0) < 0.1 for number in range(2000)) / 2000 < 0.15
