"""Articles of several paragraphs, in PolitiCite's form: citations found among the sources of the article itself.

    python benchmarks/politicite.py score ARTICLES.json --k 5 10 --by learned
    python benchmarks/politicite.py joined EXAMPLES.jsonl --out ARTICLES.json
    python benchmarks/politicite.py bleu FIRST.json SECOND.json

PolitiCite was never published. ``ARTICLES`` has the form that the data set ``politicite`` reads (``vericite datasets
show politicite``). For each sentence BM25 takes the k likeliest of the article's sources; only these may be cited. The
ceiling is the share of gold citations that are among them. Figures are by sentence and by article, as in MultiAttr.

``joined`` makes such articles of labelled examples (``recipes/attribution``): sentences of a few questions on one topic
behind each other, with all their sources. ``bleu`` holds the snippets that two annotators chose for the same sentences
against each other (MultiAttr has 37.2); it needs nltk.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from vericite.attribute import Attributor, load_attributor
from vericite.attribute.attributor import cited
from vericite.datasets.entry import Entry
from vericite.datasets.registry import source_named
from vericite.evaluate.items import Item
from vericite.evaluate.measures.registry import measures_named
from vericite.evaluate.rates import RateTally
from vericite.evaluate.scoring import System, score_systems
from vericite.records import Answer, Gold
from vericite.retrieve.memory import BM25
from vericite.train.examples import one_claim, read_examples

MEASURES = ("CitationF1", "CitationExactMatch", "CitationF1(level='article')")
JOINED = 4


def articles(path: Path) -> Iterator[tuple[Answer, Gold]]:
    """The articles that can be used."""
    source = source_named(f"politicite:{path}")
    for entry in source.set.entries(source.paths):
        if isinstance(entry, Entry) and entry.answer is not None and entry.gold is not None:
            yield entry.answer, entry.gold


def attributed(answer: Answer, attributor: Attributor, k: int) -> tuple[Answer, list[set[str]]]:
    """The article with the citations found, and the sources that each sentence was shown."""
    index = BM25(document.titled_text for document in answer.documents)
    shown = [np.argsort(-index.scores(claim.text), kind="stable")[:k].tolist() for claim in answer.claims]
    asked = [
        one_claim(f"{answer.id}-{number}", claim.text, [answer.documents[place] for place in places], answer.question)
        for number, (claim, places) in enumerate(zip(answer.claims, shown, strict=True))
    ]
    markers = {
        number: [shown[number][marker - 1] + 1 for marker in found.sentences[0].cited]
        for number, found in enumerate(attributor.attributions(asked))
    }
    bare = answer.model_copy(
        update={"claims": tuple(claim.model_copy(update={"citations": ()}) for claim in answer.claims)}
    )
    return cited(bare, markers), [{answer.documents[place].id for place in places} for places in shown]


def score(args: argparse.Namespace) -> None:
    """A row for each k."""
    pairs = list(articles(args.articles))
    attributor = load_attributor(args.by)
    measures = measures_named(MEASURES)
    print(f"{len(pairs)} articles, {sum(len(gold.citations or ()) for _, gold in pairs)} sentences\n")
    print(f"| k | ceiling | {' | '.join(MEASURES)} |\n|{'---|' * (len(MEASURES) + 2)}")
    for k in args.k:
        ceiling, items = RateTally(), []
        for answer, gold in pairs:
            found, shown = attributed(answer, attributor, k)
            for sentence in gold.citations or ():
                wanted = set(sentence.documents)
                ceiling.add(len(wanted & shown[sentence.sentence]), len(wanted))
            items.append(Item(answer.id, answer=found, gold=gold))
        figures = [it.estimate for it in score_systems([System(args.by, tuple(items))], measures)]
        cells = [f"{it.value:.3f} [{it.low:.3f}, {it.high:.3f}]" for it in figures]
        print(f"| {k} | {ceiling.rate.value:.3f} | {' | '.join(cells)} |")


def joined(args: argparse.Namespace) -> None:
    """Labelled sentences as articles: questions whose words are most alike go together."""
    groups: dict[str, list[dict[str, object]]] = {}
    asked: dict[str, str] = {}
    for it in read_examples([args.examples]):
        evidence = [
            {"source": f"{source.title} ({source.id})".strip(), "text": source.text, "support": support}
            for number, source in enumerate(it.sources, start=1)
            for support in ["complete" if number in it.supports else "relevant"]
        ]
        groups.setdefault(it.group, []).append({"text": it.sentence, "evidence": evidence})
        asked.setdefault(it.group, it.question or "")
    names = list(groups)
    index = BM25(asked[name] for name in names)
    left, found = set(range(len(names))), []
    while len(left) >= JOINED:
        first = min(left)
        order = [int(place) for place in np.argsort(-index.scores(asked[names[first]]), kind="stable")]
        some = [first, *(place for place in order if place in left and place != first)][:JOINED]
        left -= set(some)
        claims = [claim for place in some for claim in groups[names[place]]]
        found.append({"id": f"article-{len(found) + 1}", "question": asked[names[first]], "claims": claims})
    args.out.write_text(json.dumps(found, ensure_ascii=False), encoding="utf-8")
    print(f"{len(found)} articles of {JOINED} questions")


def bleu(args: argparse.Namespace) -> None:
    """Snippets of one annotator against those of another, sentence by sentence."""
    from nltk.translate.bleu_score import SmoothingFunction, corpus_bleu

    def snippets(path: Path) -> dict[tuple[str, int], list[list[str]]]:
        rows = json.loads(path.read_text(encoding="utf-8"))
        return {
            (row["id"], number): [it["text"].lower().split() for it in claim["evidence"]]
            for row in rows
            for number, claim in enumerate(row["claims"])
        }

    first, second = snippets(args.first), snippets(args.second)
    pairs = [(first[key], one) for key in first.keys() & second.keys() if first[key] for one in second[key]]
    value = corpus_bleu(
        [own for own, _ in pairs], [one for _, one in pairs], smoothing_function=SmoothingFunction().method1
    )
    print(f"BLEU {100 * value:.1f} of {len(pairs)} snippets")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one of the steps."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    steps = parser.add_subparsers(required=True)
    step = steps.add_parser("score")
    step.add_argument("articles", type=Path)
    step.add_argument("--k", type=int, nargs="+", default=(5, 10))
    step.add_argument("--by", default="learned")
    step.set_defaults(do=score)
    step = steps.add_parser("joined")
    step.add_argument("examples", type=Path)
    step.add_argument("--out", type=Path, required=True)
    step.set_defaults(do=joined)
    step = steps.add_parser("bleu")
    step.add_argument("first", type=Path)
    step.add_argument("second", type=Path)
    step.set_defaults(do=bleu)
    args = parser.parse_args(arguments)
    args.do(args)


if __name__ == "__main__":
    main()
