"""Attribution after generation: which of five sources support each sentence of an answer, held against labels by hand.

    cd recipes/attribution
    python . examples --data DIR --part test --labels held-out.jsonl --out TEST.jsonl
    python . examples --data DIR --part dev --labels dev.jsonl --out DEV.jsonl
    python benchmarks/attribution.py score TEST.jsonl --dev DEV.jsonl
    python benchmarks/attribution.py together

MultiAttr's table 2 also has an NLI model fine-tuned on single sources. Made here, from the bundled verifier:

    python recipes/attribution make --data DIR --out FOLDER --used recipes/attribution/used.txt
    python recipes/attribution pairs FOLDER/made.jsonl FOLDER/domain.jsonl --out pairs.jsonl
    vericite train unpack --model src/vericite/models/weights/verifier-v6 --out base
    vericite train fit --data pairs.jsonl --base base --out run --config recipes/attribution/nli-config.json
    python benchmarks/attribution.py score TEST.jsonl --dev DEV.jsonl --fine-tuned hf:run/model

``score`` has 150 sentences of BioASQ's ideal answers, of questions that neither the verifier nor the head has learnt
from, each with up to three of its gold documents and their neighbours by BM25. A language model, not a person, read
them and said which sources support each. Bars of the rows that are tuned are chosen on other questions.

``together`` asks for the two documents that support a sentence only as a pair: 60 cases, all invented, by a writer who
had not seen how any attributor works (``cases/two_documents.jsonl``; for judging, nothing is fitted to them). It tells
how often both are cited, and how often they and nothing else, by what makes the sentence need two.

The corpus is made of gold documents of BioASQ questions: its distractors are closer to some question, and fewer, than
those of all of PubMed.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from vericite.attribution import Attribution, Attributor, load_attributor
from vericite.disk.files import cache_file, write_whole
from vericite.evaluate.items import Item
from vericite.evaluate.measures.registry import measures_named
from vericite.evaluate.resampling import Bootstrap
from vericite.evaluate.scoring import System, compare_systems, score_systems
from vericite.lab.train.examples import AttributionExample
from vericite.lab.train.source_sets import read_examples
from vericite.records import Answer, Claim, Document, Gold, GoldSentence, RateTally, Span, read_jsonl, to_json
from vericite.text.citations import parse_answer
from vericite.verify.judges.bundled import BundledJudge
from vericite.verify.judges.registry import load_judge
from vericite.verify.judges.wrapped import FILE, CachedJudge
from vericite.verify.protocol import get_protocol


@dataclass(frozen=True)
class Row:
    """A row of the table: who finds the sources, and whether the bar is chosen on development sentences."""

    name: str
    by: str
    protocol: str = "default"
    tuned: bool = False
    judge: str | None = None

    @property
    def attributor(self) -> Attributor:
        """It, made."""
        return remembering(self.by, self.protocol, self.judge)


def remembering(by: str, protocol: str = "default", judge: str | None = None) -> Attributor:
    """An attributor whose judgements are kept on disk: another head over the same sentences need not wait for them."""
    own = load_judge(judge) if judge else BundledJudge()
    return load_attributor(by, replace(get_protocol(protocol), judge=CachedJudge(own, cache_file("default", FILE))))


ROWS = (
    Row("learned", "learned"),
    Row("random", "random"),
    Row("NLI, one source", "verifier", "vericite"),
    Row("NLI, one source, tuned", "verifier", "vericite", tuned=True),
    Row("verifier", "verifier"),
    Row("likeliest", "likeliest"),
)
MEASURES = ("CitationF1", "CitationExactMatch", "CitationPrecision", "CitationRecall", "CitationF1(average='micro')")


def by_question(path: Path) -> list[tuple[Answer, Gold]]:
    """Labelled sentences, those of a question together: they are not independent of each other."""
    groups: dict[str, list[AttributionExample]] = {}
    for example in read_examples([path]):
        groups.setdefault(example.group or example.id, []).append(example)
    return [_joined(id, examples) for id, examples in groups.items()]


def _joined(id: str, examples: Sequence[AttributionExample]) -> tuple[Answer, Gold]:
    documents = [source.document for source in examples[0].sources]
    text = " ".join(example.sentence for example in examples)
    claims: list[Claim] = []
    start = 0
    for example in examples:
        claims.append(Claim(text=example.sentence, span=Span(start=start, end=start + len(example.sentence))))
        start += len(example.sentence) + 1
    answer = Answer(id=id, text=text, claims=tuple(claims), documents=tuple(documents), question=examples[0].question)
    gold = [
        GoldSentence(sentence=place, documents=tuple(example.sources[number - 1].id for number in example.supports))
        for place, example in enumerate(examples)
    ]
    return answer, Gold(id=id, citations=tuple(gold))


def _items(pairs: Sequence[tuple[Answer, Gold]], found: Sequence[Attribution]) -> tuple[Item, ...]:
    return tuple(
        Item(answer.id, answer=one.answer, gold=gold) for (answer, gold), one in zip(pairs, found, strict=True)
    )


def _found(row: Row, path: Path, kept: Path | None) -> list[Attribution]:
    """What a row finds, kept in a folder so that another table does not ask again."""
    attributor = row.attributor
    name = hashlib.sha256(f"{attributor.signature}|{path.read_bytes()!r}".encode()).hexdigest()[:16]
    file = kept / f"{name}.jsonl" if kept else None
    if file is not None and file.exists():
        return list(read_jsonl(Attribution, file))
    began = time.perf_counter()
    found = list(attributor.attributions([answer for answer, _ in by_question(path)]))
    print(f"{row.name}: {time.perf_counter() - began:.0f} s; {attributor.signature}", file=sys.stderr)
    if file is not None:
        file.parent.mkdir(parents=True, exist_ok=True)
        write_whole(file, (to_json(one) + "\n" for one in found))
    return found


def _tuned(row: Row, dev: Path, kept: Path | None) -> float:
    """The bar with the highest F1 on development sentences."""
    pairs, found = by_question(dev), _found(row, dev, kept)
    measure = measures_named(MEASURES[:1])
    steps = [step / 100 for step in range(2, 99)]

    def reached(bar: float) -> float:
        system = System(row.name, _items(pairs, [one.above(bar) for one in found]))
        return score_systems([system], measure, Bootstrap(draws=100))[0].estimate.value or 0.0

    values = {bar: reached(bar) for bar in steps}
    best = [bar for bar in steps if values[bar] >= max(values.values()) - 1e-9]
    return best[len(best) // 2]


def score(args: argparse.Namespace) -> None:
    """The table, and the first row against each other one."""
    pairs = by_question(args.test)
    sentences = [sentence for _, gold in pairs for sentence in gold.citations or ()]
    cited = sum(len(sentence.documents) for sentence in sentences)
    none = sum(not sentence.documents for sentence in sentences)
    several = sum(len(sentence.documents) > 1 for sentence in sentences)
    print(
        f"{len(pairs)} questions, {len(sentences)} sentences: {cited} citations, {none} have none, {several} several\n"
    )
    systems: dict[str, System] = {}
    rows = list(ROWS)
    if args.fine_tuned:
        found = Row("NLI, fine-tuned", "verifier", "bioace-document", judge=args.fine_tuned)  # as it was trained
        rows += [found, replace(found, name=f"{found.name}, tuned", tuned=True)]
    for row in (row for row in rows if not args.only or row.name in args.only):
        found = _found(row, args.test, args.kept)
        if row.tuned:
            bar = _tuned(row, args.dev, args.kept)
            print(f"{row.name}: {bar:g}", file=sys.stderr)
            found = [one.above(bar) for one in found]
        systems[row.name] = System(row.name, _items(pairs, found))
    measures = measures_named(MEASURES)
    print(f"| by | {' | '.join(MEASURES)} | F1 of the first over it | exact match |\n|{'---|' * (len(MEASURES) + 3)}")
    first = next(iter(systems.values()))
    for name, system in systems.items():
        figures = [figure.estimate for figure in score_systems([system], measures)]
        cells = [f"{it.value:.3f} [{it.low:.3f}, {it.high:.3f}]" for it in figures]
        gains = ["", ""] if system is first else [_gain(it) for it in compare_systems(first, system, measures[:2])]
        print(f"| {name} | {' | '.join(cells)} | {' | '.join(gains)} |")


def together(args: argparse.Namespace) -> None:
    """How often both of the documents are cited, by kind of sentence."""
    with args.cases.open(encoding="utf-8") as file:
        cases: list[dict[str, Any]] = [json.loads(line) for line in file]
    answers = [
        parse_answer(
            case["id"],
            case["sentence"],
            [Document.from_text(it["id"], it["text"], title=it["title"]) for it in case["documents"]],
        )
        for case in cases
    ]
    kinds: list[str] = list(dict.fromkeys(case["kind"] for case in cases))
    print(f"| by | both cited | and nothing else | {' | '.join(kinds)} |\n|{'---|' * (len(kinds) + 3)}")
    for name, attributor in ((name, remembering(name)) for name in args.by):
        kind_of = {kind: RateTally() for kind in kinds}
        both, alone = RateTally(), RateTally()
        for case, found in zip(cases, attributor.attributions(answers), strict=True):
            cited = {citation.document for claim in found.answer.claims for citation in claim.citations}
            for tally in (both, kind_of[case["kind"]]):
                tally.add(set(case["both"]) <= cited, 1)
            alone.add(set(case["both"]) == cited, 1)
        cells = [f"{it.count}/{it.n}" for it in kind_of.values()]
        print(f"| {name} | {_rate(both)} | {_rate(alone)} | {' | '.join(cells)} |")


def _rate(tally: RateTally) -> str:
    rate = tally.rate
    return f"{rate.value:.3f} [{rate.low:.3f}, {rate.high:.3f}]"


def _gain(compared: Any) -> str:
    found = compared.difference
    return f"{found.value:+.3f} [{found.low:+.3f}, {found.high:+.3f}]"


def main() -> None:
    """Run one of the steps."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    steps = parser.add_subparsers(required=True)
    step = steps.add_parser("score")
    step.add_argument("test", type=Path)
    step.add_argument("--dev", type=Path, required=True)
    step.add_argument("--only", nargs="*", default=())
    step.add_argument("--kept", type=Path)
    step.add_argument("--fine-tuned", metavar="JUDGE", help="single-source NLI trained on such examples")
    step.set_defaults(do=score)
    step = steps.add_parser("together")
    step.add_argument("--cases", type=Path, default=Path(__file__).parent / "cases" / "two_documents.jsonl")
    step.add_argument("--by", nargs="+", default=("learned", "likeliest", "verifier", "random"))
    step.set_defaults(do=together)
    args = parser.parse_args()
    args.do(args)


if __name__ == "__main__":
    main()
