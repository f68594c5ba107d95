"""Answers with citations in line, against the gold of their questions: ALCE's measures and MultiAttr's aligned F1.

    python recipes/attribution inline --data DIR --most 240 --out DATA
    vericite train inline --data DATA/train.jsonl --dev DATA/dev.jsonl --ask DATA/ask.jsonl --base MODEL --out OUT
    vericite train inline (as above) --out PLAIN --untrained
    python benchmarks/inline.py DATA/ask.jsonl --exact DATA/gold.jsonl plain=PLAIN/answers.jsonl new=OUT/answers.jsonl

String exact match is whether the gold's yes or no is a word of the answer, as ALCE has it of short answers. Citation
recall and precision are ALCE's, by the bundled judge in place of TRUE. Claim recall is the share of the gold answer's
sentences that a sentence of the answer entails. Aligned F1 holds the citations of each sentence against those of the
gold sentences that it states (``vericite.evaluate.measures.citation_gold``).
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from vericite.errors import RecordError
from vericite.evaluate.items import Item
from vericite.evaluate.measures.citation_gold import GoldClaim, aligned
from vericite.evaluate.measures.registry import measures_named
from vericite.evaluate.rates import RateTally
from vericite.evaluate.scoring import System, score_systems
from vericite.formats import answers_in
from vericite.pipeline import check_many
from vericite.records import Answer, Gold, read_jsonl
from vericite.train.examples import read_examples
from vericite.verify.judges.bundled import BundledJudge

MEASURES = ("AlceRecall", "AlcePrecision", "CitationF1", "CitationF1(average='micro', empty='ignored')")


def gold_claims(path: Path) -> dict[str, list[GoldClaim]]:
    """The sentences of each question's gold answer."""
    found: dict[str, list[GoldClaim]] = {}
    for it in read_examples([path]):
        documents = tuple(it.sources[number - 1].id for number in it.supports)
        found.setdefault(it.group or it.id, []).append(GoldClaim(it.sentence, documents))
    return found


def exact_of(path: Path) -> dict[str, str]:
    """The short answer of each question."""
    return {gold.id: gold.exact[0][0] for gold in read_jsonl(Gold, path)}


def row(name: str, answers: list[Answer], gold: dict[str, list[GoldClaim]], exact: dict[str, str]) -> str:
    """A line of the table."""
    laid = aligned([(answer, gold[answer.id]) for answer in answers], BundledJudge())
    checked = list(check_many(answers, "alce", cache=True))
    items = tuple(
        Item(answer.id, answer=answer, checked=verdicts, gold=one.gold)
        for answer, verdicts, one in zip(answers, checked, laid, strict=True)
    )
    matched, stated, cites = RateTally(), RateTally(), RateTally()
    for answer, one in zip(answers, laid, strict=True):
        if answer.id in exact:
            matched.add(exact[answer.id].lower() in re.findall(r"\w+", answer.text.lower()), 1)
        stated.add(one.stated, one.claims)
        cites.add(sum(bool(claim.citations) for claim in answer.claims), len(answer.claims))
    told = [figure.estimate for figure in score_systems([System(name, items)], measures_named(MEASURES))]
    cells = [f"{it.value:.3f} [{it.low:.3f}, {it.high:.3f}]" if it.value is not None else "-" for it in told]
    rates = [
        f"{it.rate.value:.3f} [{it.rate.low:.3f}, {it.rate.high:.3f}] ({it.rate.count}/{it.rate.n})" if it.n else "-"
        for it in (matched, stated, cites)
    ]
    return f"| {name} | {' | '.join([*rates, *cells])} |"


def main() -> None:
    """A row a file of answers."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ask", type=Path)
    parser.add_argument("answers", nargs="+", metavar="NAME=FILE")
    parser.add_argument("--exact", type=Path, help="short answers, as gold")
    args = parser.parse_args()
    gold = gold_claims(args.ask)
    exact = exact_of(args.exact) if args.exact else {}
    columns = ["string exact match", "claim recall", "sentences that cite"]
    columns += ["citation recall", "citation precision", "aligned F1", "the same, pooled"]
    print(f"{len(gold)} questions\n\n| | {' | '.join(columns)} |\n|{'---|' * (len(columns) + 1)}")
    for named in args.answers:
        name, _, file = named.partition("=")
        found = [item for item in answers_in(Path(file)) if not isinstance(item, RecordError)]
        print(row(name, found, gold, exact))


if __name__ == "__main__":
    main()
