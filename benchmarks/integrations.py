"""Measure what the scores of integrations cost on top of ``vericite.check``.

    python benchmarks/integrations.py [--answers 100]

Each answer is checked both ways, one after the other, with the judge loaded. The answers
are made of sentences of the demonstration corpus, a part of them with a changed word, so that the judge is asked.
"""

from __future__ import annotations

import argparse
import time

import vericite
from vericite.corpus import demo_documents
from vericite.integrations.scores import answer_with, score_answer
from vericite.text import split_sentences


def answers(count: int) -> list[tuple[str, list[str]]]:
    """Answers of three cited sentences, each with its three sources."""
    documents = [document for document in demo_documents() if len(split_sentences(document.text)) > 3]
    made: list[tuple[str, list[str]]] = []
    for number in range(count):
        sources = [documents[(number * 3 + step) % len(documents)] for step in range(3)]
        picked = [split_sentences(source.text)[number % 3] for source in sources]
        texts = [source.text[span.slice].rstrip(".") for source, span in zip(sources, picked, strict=True)]
        # Another word in each, and the number of the answer, so that no two are equal.
        text = " ".join(
            f"In group {number}, {words[0].lower()}{words[1:]} [{place}]." for place, words in enumerate(texts, 1)
        )
        made.append((text, [source.text for source in sources]))
    return made


def main() -> None:
    """Print the ratios of the two ways, by the clock and by the processor's time."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--answers", type=int, default=100)
    items = answers(parser.parse_args().answers)

    def check(text: str, sources: list[str]) -> object:
        return vericite.check(text, sources)

    def score(text: str, sources: list[str]) -> object:
        return score_answer("support", answer_with(text, sources, "question")).reason

    check(*items[0])
    for name, clock in (("clock", time.perf_counter), ("processor", time.process_time)):
        seconds = {check: 0.0, score: 0.0}
        # Each answer both ways, one after the other: a busy machine slows both.
        for number, (text, sources) in enumerate(items):
            for work in (check, score) if number % 2 else (score, check):
                start = clock()
                # A score of the same text and question is kept, so the second clock has other texts.
                work(f"{text} By the {name}." if name == "processor" else text, sources)
                seconds[work] += clock() - start
        ratio = seconds[score] / seconds[check]
        print(f"{name}: check {seconds[check]:.2f} s, score and reason {seconds[score]:.2f} s, ratio {ratio:.3f}")


if __name__ == "__main__":
    main()
