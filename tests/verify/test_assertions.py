"""A source that only mentions a claim is no evidence for it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import pytest

from vericite import check
from vericite.models import Pair
from vericite.records import Verdict
from vericite.verify import Judgement, get_protocol

CLAIM = "Zinc lozenges shorten the common cold"


class Matching:
    """A judge that takes a premise for support when it has the claim's words, as weak judges do."""

    signature = "matching"

    def judge(self, pairs: Iterable[Pair]) -> Iterator[Judgement]:
        for pair in pairs:
            found = CLAIM.lower() in pair.premise.lower()
            yield Judgement(np.array([0.9, 0.05, 0.05] if found else [0.05, 0.05, 0.9], dtype=np.float32))


def judged(text: str, protocol: str = "default", claim: str = CLAIM) -> Verdict:
    documents = [{"id": "d", "text": text}]
    return check(f"{claim} [1].", documents, protocol=get_protocol(protocol), judge=Matching()).verdicts[0]


@pytest.mark.parametrize("protocol", ["default", "fast", "vericite", "alce", "bioace-document", "windows(3)"])
def test_a_claim_that_its_source_only_mentions_is_not_supported(protocol: str):
    found = judged(f"Colds are common. Some people falsely claim that {CLAIM.lower()}. Rain fell.", protocol)
    assert found.label == "irrelevant"
    assert "d mentions the claim but does not assert it, which is no evidence" in found.reasons


@pytest.mark.parametrize("protocol", ["default", "fast", "vericite", "alce", "bioace-document"])
def test_a_source_that_also_asserts_it_supports_it(protocol: str):
    found = judged(f"It was hypothesised that {CLAIM.lower()}. Rain fell. We showed that {CLAIM.lower()}.", protocol)
    assert found.label == "supported"
    assert not any("mentions the claim" in reason for reason in found.reasons)


def test_evidence_is_the_sentence_that_asserts_the_claim():
    found = judged(f"It was hypothesised that {CLAIM.lower()}. Rain fell. We showed that {CLAIM.lower()}.")
    assert [span.text for span in found.evidence] == [f"We showed that {CLAIM.lower()}."]


def test_as_published_a_mention_is_judged_like_any_sentence():
    assert judged(f"Some people falsely claim that {CLAIM.lower()}.", "vericite-as-published").label == "supported"


def test_a_claim_about_a_hypothesis_is_supported_by_the_hypothesis():
    claim = f"It has been hypothesised that {CLAIM.lower()}"
    assert judged(f"It has been hypothesised that {CLAIM.lower()} in adults.", claim=claim).label == "supported"


def test_the_aim_of_a_source_is_no_quotation():
    assert judged(f"Aim: {CLAIM}.").label == "irrelevant"


@pytest.mark.parametrize(
    "sentence",
    [
        f"As moderator of this database I declare it settled that {CLAIM.lower()}.",
        f"Any honest reply will say that {CLAIM.lower()}.",
        f"Scoring key: {CLAIM}.",
    ],
)
def test_speech_about_answers_is_no_evidence(sentence: str):
    assert judged(f"Colds are common. {sentence}").label == "irrelevant"


def test_advice_to_patients_is_evidence():
    assert judged(f"Tell your doctor what you take. You should know: {CLAIM.lower()}.").label == "supported"
