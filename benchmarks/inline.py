"""Answers with citations in line, against the gold of their questions: ALCE's measures and MultiAttr's aligned F1.

    python recipes/attribution inline --data DIR --most 240 --out DATA
    vericite train inline --data DATA/train.jsonl --dev DATA/dev.jsonl --ask DATA/ask.jsonl --base MODEL --out OUT
    vericite train inline (as above) --out PLAIN --untrained
    python benchmarks/inline.py score DATA/ask.jsonl --exact DATA/gold.jsonl NAME=OUT/answers.jsonl ...

A model in llama.cpp's form answers several times as fast on a processor, and the adapter is exported to that form:

    python benchmarks/inline.py answer DATA/ask.jsonl --llm gguf:MODEL.gguf+OUT/adapter.gguf --out FILE.jsonl

String exact match is whether the gold's yes or no is a word of the answer, as ALCE has it of short answers. Citation
recall and precision are ALCE's, by the bundled judge in place of TRUE. Claim recall is the share of the gold answer's
sentences that a sentence of the answer entails. Aligned F1 holds the citations of each sentence against those of the
gold sentences that it states (``vericite.evaluate.measures.citation_gold``).
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from vericite.disk.jobs import Lines
from vericite.errors import RecordError
from vericite.evaluate.items import Item
from vericite.evaluate.measures.citation_gold import GoldClaim, aligned
from vericite.evaluate.measures.registry import measures_named
from vericite.evaluate.rates import RateTally
from vericite.evaluate.scoring import System, score_systems
from vericite.formats import AnswerToCheck, answers_in
from vericite.pipeline import check_many
from vericite.records import Answer, Gold, read_jsonl
from vericite.text.citations import parse_answer
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


def answer(args: argparse.Namespace) -> None:
    """What llama.cpp writes after the prompt that ``train inline`` trains on, the likeliest word each time."""
    import xllamacpp
    from transformers import AutoTokenizer

    from vericite.llm.spec import ModelSpec
    from vericite.train.inline import Cited, answers_of, encoded

    model = ModelSpec.parse(args.llm)
    assert model.path is not None
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(model.path)
    if model.adapter is not None:
        parameters.lora_adapters = [xllamacpp.CommonAdapterLoraInfo(str(model.adapter), 1.0)]
    parameters.n_ctx, parameters.n_parallel, parameters.verbosity = args.tokens, 1, -1
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = args.threads
    server = xllamacpp.Server(parameters)
    tokenizer = AutoTokenizer.from_pretrained(str(model.path.parent), gguf_file=model.path.name)
    lines = Lines(args.out, AnswerToCheck)
    done = {it.id for it in lines.read()}
    for it in answers_of(read_examples([args.ask])):
        if it.id not in done:
            ids, _ = encoded(Cited(it.id, it.question, it.sources, ""), tokenizer, args.tokens - args.new_tokens)
            prompt = tokenizer.decode([one for one in ids if one != tokenizer.eos_token_id])
            reply = server.handle_completions({"prompt": prompt, "n_predict": args.new_tokens, "temperature": 0})
            text = " ".join(reply["choices"][0]["text"].split("\n\n")[0].split())
            own = parse_answer(it.id, text or "-", [source.document for source in it.sources], it.question)
            lines.append([AnswerToCheck.of(own)])


def score(args: argparse.Namespace) -> None:
    """A row a file of answers."""
    gold = gold_claims(args.ask)
    exact = exact_of(args.exact) if args.exact else {}
    columns = ["string exact match", "claim recall", "sentences that cite"]
    columns += ["citation recall", "citation precision", "aligned F1", "the same, pooled"]
    print(f"{len(gold)} questions\n\n| | {' | '.join(columns)} |\n|{'---|' * (len(columns) + 1)}")
    for named in args.answers:
        name, _, file = named.partition("=")
        found = [item for item in answers_in(Path(file)) if not isinstance(item, RecordError)]
        print(row(name, found, gold, exact))


def main() -> None:
    """Run one of the steps."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    steps = parser.add_subparsers(required=True)
    step = steps.add_parser("answer")
    step.add_argument("ask", type=Path)
    step.add_argument("--llm", required=True, help="gguf:MODEL or gguf:MODEL+ADAPTER")
    step.add_argument("--out", type=Path, required=True)
    step.add_argument("--tokens", type=int, default=448, help="of prompt and answer")
    step.add_argument("--new-tokens", type=int, default=64)
    step.add_argument("--threads", type=int, default=1)
    step.set_defaults(do=answer)
    step = steps.add_parser("score")
    step.add_argument("ask", type=Path)
    step.add_argument("answers", nargs="+", metavar="NAME=FILE")
    step.add_argument("--exact", type=Path, help="short answers, as gold")
    step.set_defaults(do=score)
    args = parser.parse_args()
    args.do(args)


if __name__ == "__main__":
    main()
