r"""Answers with citations in line, against the gold of their questions: ALCE's measures and MultiAttr's aligned F1.

    python recipes/attribution inline --data DIR --most 300 --out DATA
    vericite train inline --data DATA/train.jsonl --dev DATA/dev.jsonl --ask DATA/ask.jsonl --base MODEL --out OUT \
        --set new_tokens=64 --config recipes/attribution/inline-config.json
    vericite train inline (as above) --out PLAIN --set untrained=true
    python benchmarks/inline.py score DATA/ask.jsonl --exact DATA/gold.jsonl NAME=OUT/answers.jsonl ...

A model in llama.cpp's form answers several times as fast on a processor, and the adapter is exported to that form:

    python benchmarks/inline.py answer DATA/ask.jsonl --llm gguf:MODEL.gguf+OUT/adapter.gguf --out FILE.jsonl

String exact match is whether the gold's yes or no is a word of the answer, as ALCE has it of short answers. Citation
recall and precision are ALCE's, by the bundled judge in place of TRUE. Claim recall is the share of the gold answer's
sentences that a sentence of the answer entails; a bare "Yes." is no such sentence. Aligned F1 holds the citations of
each sentence against those of the gold sentences that it states (``vericite.evaluate.measures.citation_gold``). What
gold sentences cite is nobody's label: their words were counted in the sources (``made.py``). A source of which that
does not tell is neither right nor wrong.

Every question counts: one without an answer that can be read is wrong in all, and has no sentence for aligned F1 and
the share of sentences that cite. How many there are, and what was left out, is told before the table.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from vericite.disk.jobs import Lines
from vericite.errors import RecordError
from vericite.evaluate.items import Item
from vericite.evaluate.measures.citation_gold import GoldClaim, aligned
from vericite.evaluate.measures.registry import measures_named
from vericite.evaluate.resampling import Estimate
from vericite.evaluate.scoring import System, score_systems
from vericite.formats import AnswerToCheck, answers_in
from vericite.lab.train.examples import AttributionExample, read_examples
from vericite.models.contracts import Judge
from vericite.pipeline.check import check_many
from vericite.records import Answer, Claim, Gold, RateTally, Span, read_jsonl
from vericite.text.citations import parse_answer
from vericite.verify.judges.bundled import BundledJudge

ALCE = ("AlceRecall", "AlcePrecision")
ALIGNED = ("CitationF1", "CitationF1(average='micro', empty='ignored')")
NOTHING = "-"
BARE_ANSWER = re.compile(r"(yes|no)\W*", re.IGNORECASE)
"""What the exact match is about, and no claim."""


@dataclass(frozen=True)
class Asked:
    """A question, and its gold.

    Attributes:
        empty: An answer of one sentence that says nothing, for where there is none.
        claims: The sentences of the gold answer.
    """

    empty: Answer
    claims: tuple[GoldClaim, ...]


def gold_of(path: Path) -> dict[str, Asked]:
    """The questions that are asked, each with the sentences of its gold answer."""
    groups: dict[str, list[AttributionExample]] = {}
    for it in read_examples([path]):
        groups.setdefault(it.group or it.id, []).append(it)
    return {id: Asked(_empty(id, some[0]), tuple(_claims(some))) for id, some in groups.items()}


def _empty(id: str, it: AttributionExample) -> Answer:
    documents = tuple(source.document for source in it.sources)
    nothing = Claim(text=NOTHING, span=Span(start=0, end=len(NOTHING)))
    return Answer(id=id, text=NOTHING, claims=(nothing,), documents=documents, question=it.question)


def _claims(sentences: Iterable[AttributionExample]) -> Iterator[GoldClaim]:
    for it in sentences:
        if not BARE_ANSWER.fullmatch(it.sentence):
            cited, unknown = (
                tuple(it.sources[number - 1].id for number in numbers) for numbers in (it.supports, it.unknown)
            )
            yield GoldClaim(it.sentence, cited, unknown)


def exact_of(path: Path) -> dict[str, str]:
    """The short answer of each question."""
    return {gold.id: gold.exact[0][0] for gold in read_jsonl(Gold, path) if gold.exact}


def answers_to(gold: Mapping[str, Asked], path: Path) -> tuple[list[Answer], list[str]]:
    """An answer to each question, and what there is to tell of the file."""
    found: dict[str, Answer] = {}
    unread = unasked = again = 0
    for item in answers_in(path):
        if isinstance(item, RecordError):
            unread += 1
        elif item.id not in gold:
            unasked += 1
        elif item.id in found:
            again += 1
        else:
            found[item.id] = item
    counts = {
        "questions without an answer, which count as wrong": len(gold) - len(found),
        "answers without a sentence, which count as wrong": sum(not it.claims for it in found.values()),
        "lines that cannot be read": unread,
        "answers to what was not asked, left out": unasked,
        "second answers to a question, left out": again,
    }
    told = [f"{count} {what}" for what, count in counts.items() if count]
    spoken = {id: it for id, it in found.items() if it.claims}
    return [spoken.get(id, asked.empty) for id, asked in gold.items()], told


def row(name: str, answers: Sequence[Answer], gold: Mapping[str, Asked], exact: Mapping[str, str], judge: Judge) -> str:
    """A line of the table."""
    laid = aligned([(answer, gold[answer.id].claims) for answer in answers], judge)
    checked = check_many(answers, "alce", judge, cache=True)
    cited = tuple(
        Item(answer.id, answer=answer, checked=verdicts) for answer, verdicts in zip(answers, checked, strict=True)
    )
    against = tuple(
        Item(answer.id, answer=one.without_unknown(answer), gold=one.gold)
        for answer, one in zip(answers, laid, strict=True)
        if answer is not gold[answer.id].empty  # which would rightly cite nothing
    )
    matched, stated, cites = RateTally(), RateTally(), RateTally()
    for answer, one in zip(answers, laid, strict=True):
        if answer.id in exact:
            matched.add(exact[answer.id].lower() in re.findall(r"\w+", answer.text.lower()), 1)
        stated.add(one.stated, one.claims)
        if answer is not gold[answer.id].empty:
            cites.add(sum(bool(claim.citations) for claim in answer.claims), len(answer.claims))
    told = [
        figure.estimate
        for items, measures in ((cited, ALCE), (against, ALIGNED))
        for figure in score_systems([System(name, items)], measures_named(measures))
    ]
    cells = [_told(it) for it in told]
    rates = [
        f"{it.rate.value:.3f} [{it.rate.low:.3f}, {it.rate.high:.3f}] ({it.rate.count}/{it.rate.n})" if it.n else "-"
        for it in (matched, stated, cites)
    ]
    return f"| {name} | {' | '.join([*rates, *cells])} |"


def _told(it: Estimate) -> str:
    if it.value is None:
        return "-"
    return f"{it.value:.3f}" if it.low is None else f"{it.value:.3f} [{it.low:.3f}, {it.high:.3f}]"


def answer(args: argparse.Namespace) -> None:
    """What llama.cpp writes after the tokens that ``train inline`` trains on, the likeliest word each time."""
    import xllamacpp
    from transformers import AutoTokenizer

    from vericite.lab.train.inline import prompt_ids
    from vericite.lab.train.written import asked_of, first_paragraph
    from vericite.llm.spec import ModelSpec

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
    for it in asked_of(read_examples([args.ask])):
        prompt = prompt_ids(it, tokenizer, args.tokens - args.new_tokens)
        if prompt is None:
            print(f"{it.id}: left out, its question does not fit {args.tokens - args.new_tokens} tokens")
        elif it.id not in done:
            # Tokens, not their text: which would be split anew, and might begin twice.
            reply = server.handle_completions({"prompt": prompt, "n_predict": args.new_tokens, "temperature": 0})
            text = first_paragraph(reply["choices"][0]["text"]) or NOTHING
            own = parse_answer(it.id, text, [source.document for source in it.sources], it.question)
            lines.append([AnswerToCheck.of(own)])


def score(args: argparse.Namespace) -> None:
    """A row a file of answers."""
    gold = gold_of(args.ask)
    exact = exact_of(args.exact) if args.exact else {}
    print(f"{len(gold)} questions, {sum(len(it.claims) for it in gold.values())} sentences of gold answers")
    systems: dict[str, list[Answer]] = {}
    for named in args.answers:
        name, _, file = named.partition("=")
        systems[name], told = answers_to(gold, Path(file))
        print(*(f"{name}: {one}" for one in told), sep="\n", end="\n" if told else "")
    columns = ["string exact match", "claim recall", "sentences that cite"]
    columns += ["citation recall", "citation precision", "aligned F1", "the same, pooled"]
    print(f"\n| | {' | '.join(columns)} |\n|{'---|' * (len(columns) + 1)}")
    judge = BundledJudge()
    for name, answers in systems.items():
        print(row(name, answers, gold, exact, judge))


def main(arguments: Sequence[str] | None = None) -> None:
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
    args = parser.parse_args(arguments)
    args.do(args)


if __name__ == "__main__":
    main()
