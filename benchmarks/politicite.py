r"""Articles of several paragraphs, in PolitiCite's form: citations found among the sources of the article itself.

    python benchmarks/politicite.py joined EXAMPLES.jsonl --out ARTICLES.json
    python benchmarks/politicite.py score ARTICLES.json --k 5 10 --by learned verifier likeliest first ceiling
    python benchmarks/politicite.py write ARTICLES.json --k 10 --out ANSWERS.jsonl
    python benchmarks/politicite.py written ARTICLES.json NAME=ANSWERS.jsonl ...
    python benchmarks/politicite.py bleu FIRST.json SECOND.json

PolitiCite was never published. ``ARTICLES`` has the form that the data set ``politicite`` reads (``vericite datasets
show politicite``). For each sentence BM25 takes the k likeliest of the article's sources; only these may be cited. The
ceiling is the share of gold citations that are among them. Figures are by sentence and by article, as in MultiAttr;
intervals and differences are over articles. Besides attributors ``--by`` takes ``first``, which cites the source that
BM25 puts first, and ``ceiling``, which cites what is gold among those shown. What the bundled verifier judged before is
looked up; ``--kept FOLDER`` keeps what each attributor found, so that an ended run goes on there.

``joined`` makes such articles of labelled examples (``recipes/attribution``): sentences of four questions on one topic
behind each other, a paragraph a question, with all their sources. Only a question's own sources were labelled for its
sentences: the sources of the other three count as not supporting, which nobody has read.

``write`` answers the questions of joined articles from their own sources, a paragraph a question, without a language
model (k sources by BM25 each). ``written`` scores such answers, anybody's, in MultiAttr's three figures: claim recall
(gold sentences that a sentence of the answer entails), and citation F1 of sentences and of articles. A sentence of an
answer ought to cite what the gold sentences cite that it states.

``bleu`` holds the snippets that two annotators chose for the same sentences against each other (MultiAttr has 37.2); it
needs nltk.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from vericite.attribution import load_attributor
from vericite.attribution.attributor import cited
from vericite.datasets.attributed import answer_of_sentences
from vericite.datasets.entry import Entry
from vericite.datasets.registry import source_named
from vericite.disk.files import cache_file
from vericite.disk.jobs import Lines
from vericite.evaluate.items import Item
from vericite.evaluate.measures.citation_gold import GoldClaim, aligned
from vericite.evaluate.measures.registry import measures_named
from vericite.evaluate.resampling import Estimate
from vericite.evaluate.scoring import System, compare_systems, score_systems
from vericite.formats import AnswerToCheck
from vericite.generate import ExtractiveGenerator
from vericite.lab.train.examples import one_claim
from vericite.lab.train.source_sets import read_examples
from vericite.models.contracts import Judge
from vericite.models.embedder import Embedder, Reranker
from vericite.records import Answer, Claim, Document, Evidence, Gold, Question, RateTally, Record, read_jsonl
from vericite.retrieve.local import BM25
from vericite.verify.judges.bundled import BundledJudge
from vericite.verify.judges.wrapped import FILE, CachedJudge
from vericite.verify.protocol import get_protocol

MEASURES = ("CitationF1", "CitationExactMatch", "CitationF1(level='article')")
JOINED = 4
FIRST, CEILING = "first", "ceiling"
NOTHING = "-"

Found = list[list[str]]
"""The documents that each sentence of an article is said to rest on."""


class Kept(Record):
    """What an attributor found for a sentence, as it is kept."""

    id: str
    documents: tuple[str, ...]


def articles(path: Path) -> Iterator[tuple[Answer, Gold]]:
    """The articles that can be used."""
    source = source_named(f"politicite:{path}")
    for entry in source.set.entries(source.paths):
        if isinstance(entry, Entry) and entry.answer is not None and entry.gold is not None:
            yield entry.answer, entry.gold


def nearest(answer: Answer, k: int) -> list[list[Document]]:
    """The article's sources that BM25 puts first for each sentence."""
    index = BM25(document.titled_text for document in answer.documents)
    return [
        [answer.documents[place] for place in np.argsort(-index.scores(claim.text), kind="stable")[:k].tolist()]
        for claim in answer.claims
    ]


def wanted(answer: Answer, gold: Gold) -> Found:
    """The gold documents of each sentence."""
    by_sentence = {it.sentence: list(it.documents) for it in gold.citations or ()}
    return [by_sentence.get(number, []) for number in range(len(answer.claims))]


def with_citations(answer: Answer, found: Found) -> Answer:
    """The article, each sentence citing these documents and no other."""
    places = {document.id: number for number, document in enumerate(answer.documents, start=1)}
    bare = answer.model_copy(
        update={"claims": tuple(claim.model_copy(update={"citations": ()}) for claim in answer.claims)}
    )
    return cited(bare, {number: [places[id] for id in ids] for number, ids in enumerate(found)})


def attributed(by: str, pairs: Sequence[tuple[Answer, Gold]], k: int, kept: Path | None, judge: Judge) -> list[Found]:
    """What somebody cites in each article, of the k sources that each sentence is shown."""
    shown = [nearest(answer, k) for answer, _ in pairs]
    if by == FIRST:
        return [[[documents[0].id] for documents in sentences] for sentences in shown]
    if by == CEILING:
        return [
            [
                [document.id for document in documents if document.id in own]
                for documents, own in zip(sentences, wanted(answer, gold), strict=True)
            ]
            for (answer, gold), sentences in zip(pairs, shown, strict=True)
        ]
    attributor = load_attributor(by, replace(get_protocol("default"), judge=judge))
    asked = [
        one_claim(f"{answer.id}-{number}", claim.text, documents, answer.question)
        for (answer, _), sentences in zip(pairs, shown, strict=True)
        for number, (claim, documents) in enumerate(zip(answer.claims, sentences, strict=True))
    ]
    known: dict[str, Kept] = {}
    lines: Lines[Kept] | None = None
    if kept is not None:
        told = repr([attributor.signature, [(it.text, [one.titled_text for one in it.documents]) for it in asked]])
        lines = Lines(kept / f"{by}-{k}-{hashlib.sha256(told.encode()).hexdigest()[:12]}.jsonl", Kept)
        known = {it.id: it for it in lines.read()}
    began, waiting = time.perf_counter(), [it for it in asked if it.id not in known]
    for answer, found in zip(waiting, attributor.attributions(waiting), strict=True):
        ids = tuple(answer.documents[marker - 1].id for marker in found.sentences[0].cited)
        known[answer.id] = Kept(id=answer.id, documents=ids)
        if lines is not None:
            lines.append([known[answer.id]])
    print(f"{by}, {k}: {time.perf_counter() - began:.0f} s, {len(waiting)} sentences asked about", file=sys.stderr)
    return [
        [list(known[f"{answer.id}-{number}"].documents) for number in range(len(answer.claims))] for answer, _ in pairs
    ]


def reached(pairs: Sequence[tuple[Answer, Gold]], k: int) -> RateTally:
    """Gold citations that are among the sources shown, an article at a time."""
    tally = RateTally()
    for answer, gold in pairs:
        own = wanted(answer, gold)
        shown = [{document.id for document in documents} for documents in nearest(answer, k)]
        tally.add(sum(len(set(ids) & there) for ids, there in zip(own, shown, strict=True)), sum(map(len, own)))
    return tally


def score(args: argparse.Namespace) -> None:
    """A row for each k and each attributor; the first one against each other."""
    pairs = list(articles(args.articles))[: args.most]
    own = [ids for answer, gold in pairs for ids in wanted(answer, gold)]
    sources = sum(len(answer.documents) for answer, _ in pairs) / len(pairs)
    print(
        f"{len(pairs)} articles, {len(own)} sentences, {sources:.1f} sources an article: {sum(map(len, own))} "
        f"citations, {sum(not ids for ids in own)} sentences have none, {sum(len(ids) > 1 for ids in own)} several\n"
    )
    judge = CachedJudge(BundledJudge(), cache_file("default", FILE))
    measures = measures_named(MEASURES)
    head = ["k", "by", *MEASURES, "F1 of the first over it", "by article"]
    print(f"| {' | '.join(head)} |\n|{'---|' * len(head)}")
    tallies: list[str] = []
    for k in args.k:
        first: System | None = None
        for by in args.by:
            found = attributed(by, pairs, k, args.kept, judge)
            items = tuple(
                Item(answer.id, answer=with_citations(answer, one), gold=gold)
                for (answer, gold), one in zip(pairs, found, strict=True)
            )
            system = System(by, items)
            cells = [_told(it.estimate) for it in score_systems([system], measures)]
            gains = ["", ""]
            if first is not None:
                gains = [_gain(it) for it in compare_systems(first, system, [measures[0], measures[2]])]
            first = first or system
            print(f"| {k} | {by} | {' | '.join([*cells, *gains])} |", flush=True)
        rate = reached(pairs, k).rate
        tallies.append(f"of {rate.n} gold citations among {k} sources: {_rate(rate)}")
    print("", *tallies, sep="\n")


def _told(it: Estimate) -> str:
    if it.value is None:
        return "-"
    return f"{it.value:.3f}" if it.low is None else f"{it.value:.3f} [{it.low:.3f}, {it.high:.3f}]"


def _gain(compared: Any) -> str:
    found = compared.difference
    return f"{found.value:+.3f}" + ("" if found.low is None else f" [{found.low:+.3f}, {found.high:+.3f}]")


def _rate(it: Any) -> str:
    return f"{it.value:.3f} [{it.low:.3f}, {it.high:.3f}]" if it.n else "-"


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
    left = set(range(len(names)))
    found: list[dict[str, object]] = []
    while len(left) >= JOINED:
        first = min(left)
        order = [int(place) for place in np.argsort(-index.scores(asked[names[first]]), kind="stable")]
        some = [first, *(place for place in order if place in left and place != first)][:JOINED]
        left -= set(some)
        claims = [claim for place in some for claim in groups[names[place]]]
        questions = [asked[names[place]] for place in some]
        # The form has one question; an article of four answers them all.
        whole = {"id": f"article-{len(found) + 1}", "question": "\n".join(questions), "claims": claims}
        found.append(whole)
    args.out.write_text(json.dumps(found, ensure_ascii=False), encoding="utf-8")
    print(f"{len(found)} articles of {JOINED} questions; {len(left)} questions are left over")


def write(args: argparse.Namespace) -> None:
    """An answer to each article, a paragraph a question, from its own sources."""
    generator = ExtractiveGenerator(Embedder.shared(), None, Reranker.shared(), BundledJudge())
    lines = Lines(args.out, AnswerToCheck)
    done = {it.id for it in lines.read()}
    for answer, _ in list(articles(args.articles))[: args.most]:
        if answer.id not in done:
            lines.append([paragraphs(answer, args.k, generator.generate)])


def paragraphs(answer: Answer, k: int, generate: Callable[[Question, Sequence[Evidence]], Answer]) -> AnswerToCheck:
    """What is written about each question of an article, a paragraph each, with the numbers of its sources."""
    index = BM25(document.titled_text for document in answer.documents)
    numbers = {document.id: number for number, document in enumerate(answer.documents, start=1)}
    found: list[str] = []
    for number, text in enumerate((answer.question or "").splitlines()):
        scores = index.scores(text)
        evidence = [
            Evidence(document=answer.documents[place], rank=rank, score=float(scores[place]), retriever="bm25")
            for rank, place in enumerate(np.argsort(-scores, kind="stable")[:k].tolist(), start=1)
        ]
        made = generate(Question(id=f"{answer.id}-{number}", text=text), evidence)
        if not made.insufficient:
            found.append(" ".join(_marked(claim, numbers) for claim in made.claims))
    return AnswerToCheck.of(answer.model_copy(update={"text": "\n\n".join(found)}))


def _marked(claim: Claim, numbers: dict[str, int]) -> str:
    markers = "".join(f"[{numbers[it.document]}]" for it in claim.citations if it.document)
    return f"{claim.text.rstrip(' .')} {markers}."


def written(args: argparse.Namespace) -> None:
    """A row a file of answers."""
    pairs = {answer.id: (answer, gold) for answer, gold in list(articles(args.articles))[: args.most]}
    sentences = sum(len(answer.claims) for answer, _ in pairs.values())
    words = sum(len(claim.text.split()) for answer, _ in pairs.values() for claim in answer.claims) / len(pairs)
    print(f"{len(pairs)} articles, {sentences} sentences, {words:.0f} words an article\n")
    print("| | words | claim recall | citation F1, a sentence | an article |\n|---|---|---|---|---|")
    judge = CachedJudge(BundledJudge(), cache_file("default", FILE))
    for named in args.answers:
        name, _, file = named.partition("=")
        given = {it.id: it for it in read_jsonl(AnswerToCheck, Path(file))}
        print(f"| {name} | {' | '.join(figures_of(pairs, given, judge))} |")


def figures_of(
    pairs: dict[str, tuple[Answer, Gold]], given: dict[str, AnswerToCheck], judge: Judge
) -> tuple[str, str, str, str]:
    """Words an answer, claim recall, and F1 of sentences and articles; an article without an answer states nothing."""
    answers = [
        given[id].parsed() if id in given and given[id].answer.strip() else answer_of_sentences(id, [NOTHING], [[]], ())
        for id in pairs
    ]
    claims = [
        [GoldClaim(claim.text, tuple(ids)) for claim, ids in zip(answer.claims, wanted(answer, gold), strict=True)]
        for answer, gold in pairs.values()
    ]
    laid = aligned(list(zip(answers, claims, strict=True)), judge)
    stated = RateTally()
    for one in laid:
        stated.add(one.stated, one.claims)
    by_sentence = tuple(
        Item(it.id, answer=it, gold=one.gold)
        for it, one in zip(answers, laid, strict=True)
        if it.text != NOTHING  # which would rightly cite nothing
    )
    by_article = tuple(Item(it.id, answer=it, gold=pairs[it.id][1]) for it in answers)
    told = [
        _told(score_systems([System("", items)], measures_named([measure]))[0].estimate)
        for items, measure in ((by_sentence, MEASURES[0]), (by_article, MEASURES[2]))
    ]
    words = sum(len(it.text.split()) for it in answers) / len(answers)
    return f"{words:.0f}", _rate(stated.rate), told[0], told[1]


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
    step = steps.add_parser("joined")
    step.add_argument("examples", type=Path)
    step.add_argument("--out", type=Path, required=True)
    step.set_defaults(do=joined)
    step = steps.add_parser("score")
    step.add_argument("articles", type=Path)
    step.add_argument("--k", type=int, nargs="+", default=(5, 10))
    step.add_argument("--by", nargs="+", default=("learned", "verifier", "likeliest", FIRST, CEILING))
    step.add_argument("--kept", type=Path, help="a folder for what was found")
    step.add_argument("--most", type=int, help="articles")
    step.set_defaults(do=score)
    step = steps.add_parser("write")
    step.add_argument("articles", type=Path)
    step.add_argument("--k", type=int, default=10)
    step.add_argument("--out", type=Path, required=True)
    step.add_argument("--most", type=int, help="articles")
    step.set_defaults(do=write)
    step = steps.add_parser("written")
    step.add_argument("articles", type=Path)
    step.add_argument("answers", nargs="+", metavar="NAME=FILE")
    step.add_argument("--most", type=int, help="articles")
    step.set_defaults(do=written)
    step = steps.add_parser("bleu")
    step.add_argument("first", type=Path)
    step.add_argument("second", type=Path)
    step.set_defaults(do=bleu)
    args = parser.parse_args(arguments)
    args.do(args)


if __name__ == "__main__":
    main()
