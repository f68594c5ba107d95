r"""Data for the head that ``attribute`` ships, and its figures.

python recipes/attribution sample --data DIR --part test|dev --sentences N --out TASK.jsonl
python recipes/attribution examples --data DIR --part test|dev --labels LABELS.jsonl --out DEV.jsonl
python recipes/attribution make --data DIR --out FOLDER [--used recipes/attribution/used.txt]
python recipes/attribution asked --data DIR --out FOLDER [--without EXAMPLES.jsonl ...] [--words N] [--most N]
python recipes/attribution inline --data DIR --out FOLDER [--most N]
python recipes/attribution pairs EXAMPLES.jsonl ... --out PAIRS.jsonl
python recipes/attribution short-long --data DIR --out FOLDER [--most N]

``sample`` draws sentences for whoever labels them. ``examples`` joins labels and texts. ``make`` writes ``made.jsonl``,
examples from elsewhere, and ``domain.jsonl``, those of BioASQ; with ``--used`` those of the head that ships. DIR
is the folder of data sets. Then:

    vericite train attribution --data made.jsonl --data domain.jsonl --dev DEV.jsonl --config head-config.json --out O

``pairs`` writes each sentence beside each of its sources, for ``vericite train fit``: the fine-tuned single-source NLI
of MultiAttr's table 2 (``benchmarks/attribution.py score --fine-tuned``).

``asked`` writes what a language model is to write about (``vericite train attribution-data``): training questions
with their sources in MS MARCO's form, and sentences of their answers with a source in AttrScore's. Nothing of EXAMPLES,
question or source, is among it.

``inline`` writes whole answers for ``vericite train inline --config inline-config.json``: ``train.jsonl``,
``dev.jsonl``, and sixty questions to be asked that are held out (``ask.jsonl``, ``gold.jsonl``). ``short-long`` writes
``short.jsonl`` and ``long.jsonl``: question and short answer as one sentence, and the long answer's first sentence.

MultiAttr's ablations are experiments (docs/experiments.md). Those of the head that ships, over FOLDER of ``make``:

    vericite run experiments/multiattr-figure4a.yaml --set base=head --set long=FOLDER/made.jsonl --set sources= \
        --set vj=FOLDER/domain.jsonl --set vj_dev= --set vj_test=TEST.jsonl --set msmarco_test=
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "verifier")]

import made
from pools import Part, Pools, hash_of, sampled, written
from vericite.disk.files import write_whole
from vericite.lab.train.examples import AttributionExample, as_compared, as_line
from vericite.lab.train.source_sets import read_examples
from vericite.records import to_json

WRITTEN = tuple(HERE.parent / "verifier" / name for name in ("written.jsonl", "written-2.jsonl"))


def sample(args: argparse.Namespace) -> None:
    """Sentences with their sources."""
    found = list(sampled(Pools(args.data).asked(args.part, args.seed), args.sentences, 2, args.seed))
    write_whole(args.out, written(found))
    print(f"{len(found)} questions, {sum(len(one.sentences) for one in found)} sentences")


def labelled_examples(pools: Pools, part: str, labels: Path, seed: int) -> Iterator[AttributionExample]:
    """The labelled sentences with their texts; a label whose sentence is another now is an error."""
    with labels.open(encoding="utf-8") as file:
        lines = [json.loads(line) for line in file if line.strip()]
    wanted = {(line["id"], line["sentence"]): line for line in lines}
    ids = {line["id"] for line in lines}
    met = 0
    for asked in pools.asked(part, seed):
        if asked.id not in ids:
            continue
        for number, text in asked.sentences:
            line = wanted.get((asked.id, number))
            if line is None:
                continue
            found = [source.id for source in asked.sources]
            if line["hash"] != hash_of(text) or line["sources"] != found:
                raise SystemExit(f"expected the sentence that was labelled: {asked.id} {number}; found another")
            met += 1
            yield AttributionExample(
                id=f"{asked.id}:{number}",
                question=asked.question,
                sentence=text,
                sources=asked.sources,
                supports=tuple(line["supports"]),
                kind="labelled",
                made_from="bioasq",
                group=f"bioasq:{asked.id}",
            )
    if met < len(lines):
        raise SystemExit(f"expected {len(lines)} labelled sentences in the data; found {met}")


def examples(args: argparse.Namespace) -> None:
    """Labels and texts."""
    found = list(labelled_examples(Pools(args.data), args.part, args.labels, args.seed))
    write_whole(args.out, (as_line(it) + "\n" for it in found))
    print(f"{len(found)} sentences")


def make(args: argparse.Namespace) -> None:
    """Examples without labels by hand."""
    pools, most = Pools(args.data), args.most
    parts: dict[str, Callable[[], Iterator[AttributionExample]]] = {
        "healthver": lambda: made.labelled(
            pools, "healthver", "healthver/multivers/claims_train.jsonl", "healthver/multivers/corpus.jsonl", most, 0
        ),
        "scifact": lambda: made.labelled(
            pools, "scifact", "scifact/data/claims_train.jsonl", "scifact/data/corpus.jsonl", most, 0
        ),
        "pubmedqa": lambda: made.pubmedqa(pools, most, 0),
        "written": lambda: made.written(pools, WRITTEN, 3 * most, 0),
        "invented": lambda: made.two_sources(HERE / "two-sources.jsonl", 0),
        "bioasq": lambda: made.bioasq(pools, 2 * most, 0),
    }
    found = {name: list(make_one()) for name, make_one in parts.items()}
    if args.used:
        used = set(args.used.read_text(encoding="utf-8").split("\n"))
        found = {
            name: [it for it in some if it.id in used or it.made_from == "invented"] for name, some in found.items()
        }
    domain = found.pop("bioasq")
    every = [it for one in found.values() for it in one]
    random.Random(0).shuffle(every)
    args.out.mkdir(parents=True, exist_ok=True)
    for name, some in (("made", every), ("domain", domain)):
        write_whole(args.out / f"{name}.jsonl", (as_line(it) + "\n" for it in some))
    for name, some in {**found, "bioasq": domain}.items():
        several = sum(len(it.supports) > 1 for it in some)
        none = sum(not it.supports for it in some)
        print(f"{name}: {len(some)} sentences, {several} with several sources, {none} with none")
    for (source, reason, test), count in sorted(pools.guard.dropped.items()):
        print(f"left out: {count} of {source}, {reason} of {test}")


def asked(args: argparse.Namespace) -> None:
    """Questions in MS MARCO's form and statements in AttrScore's, for ``vericite train attribution-data``."""
    pools = Pools(args.data)
    without = read_examples(args.without) if args.without else []
    found = list(made.for_models(pools, without, args.words, args.most, args.seed))
    types = {question["id"]: question for question in pools.questions["train"]}
    questions = [
        {
            "query_id": one.id,
            "query": one.question,
            "answers": [short_answer(types[one.id]) or one.sentences[0][1]],
            "passages": [
                {"passage_text": it.document.titled_text, "is_selected": int(place in one.snippets), "url": it.id}
                for place, it in enumerate(one.sources, start=1)
            ],
        }
        for one, _ in found
    ]
    statements = [
        {
            "query": one.question,
            "answer": said[0],
            "reference": one.sources[said[1] - 1].document.titled_text,
            "label": "Attributable",
        }
        for one, said in found
        if said
    ]
    args.out.mkdir(parents=True, exist_ok=True)
    for name, rows in (("questions", questions), ("statements", statements)):
        write_whole(args.out / f"{name}.jsonl", (json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
        print(f"{name}: {len(rows)}")


def short_answer(question: dict[str, Any]) -> str:
    """The exact answer of a question as text; none for one that asks for a summary."""
    exact = question.get("exact_answer") or ""
    first = [it if isinstance(it, str) else it[0] for it in ([exact] if isinstance(exact, str) else exact) if it]
    return ", ".join(first if question["type"] == "list" else first[:1])


def inline(args: argparse.Namespace) -> None:
    """Answers with citations, by part."""
    pools = Pools(args.data)
    args.out.mkdir(parents=True, exist_ok=True)
    # BioASQ asks some questions again in another year: what is asked or held out is not trained on.
    parts: tuple[tuple[str, Part, int], ...] = (("ask", "test", 60), ("dev", "dev", 20), ("train", "train", args.most))
    taken: set[str] = set()
    for name, part, most in parts:
        found = [it for it in made.whole_answers(pools, part, most, 0) if as_compared(it.question) not in taken]
        taken |= {as_compared(it.question) for it in found}
        write_whole(args.out / f"{name}.jsonl", (as_line(it) + "\n" for it in found))
        print(f"{name}: {len({it.group for it in found})} questions, {len(found)} sentences")
        if name == "ask":
            write_whole(args.out / "gold.jsonl", (to_json(it) + "\n" for it in made.gold_answers(pools, part, found)))


def pairs(args: argparse.Namespace) -> None:
    """Sentence and source, a line each; sources of which it is not known are left out."""
    found = [pair for it in read_examples(args.examples) for pair in made.single_sources(it)]
    write_whole(args.out, (to_json(pair) + "\n" for pair in found))
    print(f"{len(found)} pairs, {sum(pair.supported for pair in found)} of them entail")


def short_long(args: argparse.Namespace) -> None:
    """Short and long answers to the same questions."""
    pairs = list(made.short_and_long(Pools(args.data), args.most, args.seed))
    args.out.mkdir(parents=True, exist_ok=True)
    for place, name in enumerate(("short", "long")):
        write_whole(args.out / f"{name}.jsonl", (as_line(pair[place]) + "\n" for pair in pairs))
    print(f"{len(pairs)} questions")


def main() -> None:
    """Run a step."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    steps = parser.add_subparsers(required=True)
    step = steps.add_parser("pairs")
    step.add_argument("examples", type=Path, nargs="+", help="what make wrote")
    step.add_argument("--out", type=Path, required=True)
    step.set_defaults(do=pairs)
    for name, do in (
        ("sample", sample),
        ("examples", examples),
        ("make", make),
        ("asked", asked),
        ("inline", inline),
        ("short-long", short_long),
    ):
        step = steps.add_parser(name)
        step.add_argument("--data", type=Path, required=True)
        step.add_argument("--out", type=Path, required=True)
        step.add_argument("--seed", type=int, default=0)
        if name in ("sample", "examples"):
            step.add_argument("--part", choices=("test", "dev", "train"), required=True)
        step.set_defaults(do=do)
        if name == "sample":
            step.add_argument("--sentences", type=int, default=150)
        if name == "examples":
            step.add_argument("--labels", type=Path, required=True)
        if name in ("make", "asked", "inline", "short-long"):
            step.add_argument("--most", type=int, default=400)
        if name == "asked":
            step.add_argument("--without", type=Path, nargs="*", default=(), help="examples of questions to leave out")
            step.add_argument("--words", type=int, default=300, help="of all five sources of a question, at most")
        if name == "make":
            step.add_argument("--used", type=Path, help="a file of ids: leave out what is not among them")
    args = parser.parse_args()
    args.do(args)


if __name__ == "__main__":
    main()
