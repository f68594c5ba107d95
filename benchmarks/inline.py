r"""Answers with citations in line by llama.cpp, with the adapter that ``vericite train inline`` exports.

    python recipes/attribution inline --data DIR --most 300 --out DATA
    vericite train inline --data DATA/train.jsonl --dev DATA/dev.jsonl --ask DATA/ask.jsonl --base MODEL --out OUT \
        --set new_tokens=64 --config recipes/attribution/inline-config.json
    vericite train inline (as above) --out PLAIN --set untrained=true
    python benchmarks/inline.py DATA/ask.jsonl --llm gguf:MODEL.gguf+OUT/adapter.gguf --out LLAMA/answers.jsonl

llama.cpp answers several times as fast on a processor. ALCE's measures and MultiAttr's aligned F1 and claim recall, by
the bundled judge in place of TRUE (``OUT``, ``PLAIN`` and ``LLAMA`` are folders of answers):

    vericite check OUT/answers.jsonl --protocol alce --out OUT/verdicts.jsonl
    vericite compute aligned-citations OUT PLAIN LLAMA --gold DATA/gold.jsonl
    vericite score OUT PLAIN LLAMA --gold DATA/gold.jsonl -m ShortAnswerRecall -m StatedClaimRecall \
        -m AlceRecall -m AlcePrecision -m AlignedCitationF1

What gold sentences cite is nobody's label: their words were counted in the sources (``made.py``). A source of which
that does not tell is neither right nor wrong.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from vericite.disk.jobs import Lines
from vericite.formats import AnswerToCheck
from vericite.lab.train.source_sets import read_examples
from vericite.text.citations import parse_answer

NOTHING = "-"


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


def main(arguments: Sequence[str] | None = None) -> None:
    """Answer the questions."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ask", type=Path)
    parser.add_argument("--llm", required=True, help="gguf:MODEL or gguf:MODEL+ADAPTER")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--tokens", type=int, default=448, help="of prompt and answer")
    parser.add_argument("--new-tokens", type=int, default=64)
    parser.add_argument("--threads", type=int, default=1)
    answer(parser.parse_args(arguments))


if __name__ == "__main__":
    main()
