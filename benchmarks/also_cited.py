"""How many verdicts stay when sources that say nothing of the claim are cited next to the one that does.

    python benchmarks/also_cited.py DATA

``two documents``: 60 invented sentences that two of five documents support together (``cases/two_documents.jsonl``),
with both cited and with all five. The other three are on like matters, so they are not always silent.

SciFact and HealthVer: claims with the abstract that supports or contradicts them, alone and with two abstracts of other
claims cited as well: the next ones of the file whose claim shares no word with it but function words. Dev parts; the
verifier was trained on the training parts of both.

DATA is the folder of data sets, with ``scifact/data`` and ``healthver/multivers``.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from vericite.datasets.registry import source_named
from vericite.errors import RecordError
from vericite.pipeline.check import verifier_for
from vericite.records import Document, LabelledCitation, RateTally
from vericite.text.terms import terms
from vericite.verify import Verifier
from vericite.verify.verifier import ClaimsToJudge

CASES = Path(__file__).parent / "cases" / "two_documents.jsonl"
SETS = {
    "SciFact dev": "scifact:{data}/scifact/data/claims_dev.jsonl",
    "HealthVer dev": "healthver:{data}/healthver/multivers/claims_dev.jsonl",
}
OTHERS = 2


def together(verifier: Verifier) -> None:
    """The sentences that two documents support, with those alone and with all five."""
    cases: list[dict[str, Any]] = [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines()]
    batches: list[ClaimsToJudge] = []
    for case in cases:
        documents = tuple(Document.from_text(it["id"], it["text"], title=it["title"]) for it in case["documents"])
        both = tuple(place for place, document in enumerate(documents) if document.id in case["both"])
        every = tuple(range(len(documents)))
        batches.append(ClaimsToJudge(documents, ((case["sentence"], both), (case["sentence"], every))))
    print(f"two documents: {told(list(labels(verifier, batches)), 'both', 'all five')}")


def claims_of(place: str) -> list[LabelledCitation]:
    """The claims that an abstract supports or contradicts, each once."""
    source = source_named(place)
    found: dict[str, LabelledCitation] = {}
    for entry in source.set.entries(source.paths, source.part):
        if isinstance(entry, RecordError):
            raise entry
        for citation in entry.citations:
            if citation.label != "irrelevant":
                found.setdefault(citation.claim, citation)
    return list(found.values())


def with_others(claims: Sequence[LabelledCitation]) -> Iterator[ClaimsToJudge]:
    """Each claim with its abstract, and with two abstracts of other claims that share little with it."""
    for place, claim in enumerate(claims):
        words = set(terms(claim.claim))
        rest = [*claims[place + 1 :], *claims[:place]]
        others = [one for one in rest if one.documents != claim.documents and words.isdisjoint(terms(one.claim))][
            :OTHERS
        ]
        documents = [Document.from_text(f"{number}", one.premise) for number, one in enumerate((claim, *others))]
        yield ClaimsToJudge(tuple(documents), ((claim.claim, (0,)), (claim.claim, tuple(range(len(documents))))))


def labels(verifier: Verifier, batches: Sequence[ClaimsToJudge]) -> Iterator[tuple[str, str]]:
    """What the verifier says of the two claims of each batch."""
    for alone, more in verifier.judge_claims(batches):
        yield alone[0].label, more[0].label


def told(pairs: Sequence[tuple[str, str]], alone: str, more: str) -> str:
    """The share of verdicts that stay, and the moves of the others."""
    stay = RateTally()
    for before, after in pairs:
        stay.add(before == after, 1)
    supported = [after for before, after in pairs if before == "supported"]
    moves = Counter(f"{before} -> {after}" for before, after in pairs if before != after)
    rate = stay.rate
    return (
        f"{stay.count} of {stay.n} verdicts stay, {rate.value:.3f} [{rate.low:.3f}, {rate.high:.3f}]; supported with "
        f"{alone} {len(supported)}, of these with {more} {supported.count('supported')}; "
        f"moved: {', '.join(f'{number} {move}' for move, number in moves.most_common()) or 'none'}"
    )


def main() -> None:
    """Print a line for each set."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--most", type=int, help="claims of each data set")
    given = parser.parse_args()
    verifier = verifier_for("default")
    together(verifier)
    for name, place in SETS.items():
        claims = claims_of(place.format(data=given.data))[: given.most]
        pairs = list(labels(verifier, list(with_others(claims))))
        print(f"{name}: {told(pairs, 'its source', 'two others cited as well')}")


if __name__ == "__main__":
    main()
