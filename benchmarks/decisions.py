"""Citations decided a second, early exit against asking for everything, and the memory of many answers.

Usage: python benchmarks/decisions.py [--only speed|early|memory] [--citations N] [--pairs N] [--answers N]

Speed is that of the protocols, text to verdicts, against sentence-transformers' CrossEncoder in fp32 on the same
weights (way B of verify.py, which must score every pair of claim and sentence, and does nothing else). It needs
``pip install torch sentence-transformers onnx``; without them what can do without is measured. All ways run in turn,
chunk by chunk, in one process, so that what slows the machine slows every way. Memory is that of the command line in
a process of its own, and takes many minutes. Exits with 1 if a bar is missed.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from statistics import mean, median
from tempfile import TemporaryDirectory
from typing import NamedTuple

import plain
import verify
from plain import ALTERATIONS, pairs_of
from vericite.models import ModelFolder, Pair
from vericite.models import engine as engine_module
from vericite.models.contracts import COLUMNS
from vericite.models.engine import Encoder
from vericite.models.folder import VERIFIER
from vericite.records import Answer, Document
from vericite.text.citations import parse_answer
from vericite.verify import Assembly, BundledJudge, Judgement, Sources, Verifier, get_protocol
from vericite.verify.aggregators import quoted
from verify import BATCH, Bar, Known, Measured, spread

ROUNDS = 5
CITATIONS, SENTENCES = 500, 10
PROTOCOLS = ("vericite", "early", "default", "fast")
BARS = {"default": 4.0, "early": 2.0, "fast": 8.0}
SAME = 0.98
PAIRS = 10_000
ANSWERS, MEMORY, SHORT = 100_000, 700, 120
"""Answers, the most megabytes that checking them may take, and the most characters of their sentences."""


class Cited(NamedTuple):
    """A claim with its marker, and the one abstract that it cites."""

    name: str
    text: str
    document: Document

    def parsed(self) -> Answer:
        """The same as an answer."""
        return parse_answer(self.name, self.text, [self.document])


def citations() -> Iterator[Cited]:
    """Distinct claims and abstracts, one after another; the same in every run.

    An abstract is a demo document followed by the first sentences of one of the ten most like it, ten in all. A claim
    is a sentence of the abstract, or, one in five, of a third document, put through one of ``ALTERATIONS``: a quoted
    sentence would cost some protocols nothing.
    """
    sentences, near = plain.corpus()
    draw = random.Random(0)
    seen: set[tuple[str, str]] = set()
    while True:
        first = draw.randrange(len(sentences))
        second, third = draw.sample([int(other) for other in near[first, 1:11]], 2)
        texts = (sentences[first] + sentences[second])[:SENTENCES]
        sentence = draw.choice(texts if draw.random() < 0.8 else sentences[third])
        changed = [text for alter in ALTERATIONS if (text := alter(sentence)) != sentence]
        claim = draw.choice(changed or [sentence])
        document = Document.from_text(f"demo-{first}-{second}", " ".join(texts))
        cited = Cited(f"citation-{len(seen)}", f"{claim.removesuffix('.')} [1].", document)
        if changed and (claim, document.id) not in seen and _sound(cited):
            seen.add((claim, document.id))
            yield cited


def _sound(cited: Cited) -> bool:
    """Whether it is read as one claim with one citation, and not as a quotation."""
    answer = cited.parsed()
    once = [len(claim.citations) for claim in answer.claims] == [1]
    cases = (case for claim in answer.claims for case in Assembly().cases(claim, Sources(answer.documents)))
    return once and all(quoted(answer.claims[0].text, case) is None for case in cases)


class Noting(BundledJudge):
    """The bundled judge, which notes what it was asked."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[Pair] = []

    def judge(self, pairs: Iterable[Pair]) -> Iterator[Judgement]:
        """As the bundled one does."""
        noted = list(pairs)
        self.asked += noted
        return super().judge(noted)

    def taken(self) -> list[Pair]:
        """What was asked since the last call."""
        asked, self.asked = self.asked, []
        return asked


def protocols(judge: Noting, names: Sequence[str]) -> dict[str, Verifier]:
    """A verifier for each name, all with this judge."""
    return {name: Verifier(replace(get_protocol(name), judge=judge)) for name in names}


def forget() -> None:
    """Empty the package's memories of texts, so that no way gains by what the one before it has read."""
    for name, module in list(sys.modules.items()):
        if name.startswith(("vericite.text.", "vericite.verify.")):
            for item in list(vars(module).values()):
                if hasattr(item, "cache_clear"):
                    item.cache_clear()


@dataclass
class Way(Measured):
    """What one way did; and the pairs that it asked the model about."""

    asked: list[Pair] = field(default_factory=list[Pair])


def measure(
    chunks: list[list[Cited]], verifiers: dict[str, Verifier], judge: Noting, encoder: plain.SentenceTransformers | None
) -> tuple[dict[str, Way], list[plain.Work]]:
    """Every way on every chunk, in turn, a different one first each time; and the machine's rate each time."""
    order = [judge.folder.card.labels.index(label) for label in COLUMNS]
    found = {name: Way() for name in (*verifiers, *(["B"] if encoder else []))}
    matrix: list[plain.Work] = []

    def one_round(name: str, chunk: list[Cited]) -> None:
        own = found[name]
        answers = [cited.parsed() for cited in chunk]
        pairs = list(dict.fromkeys(pair for answer in answers for pair in pairs_of(answer)))
        forget()
        start = time.perf_counter()
        if name == "B" and encoder:
            rows = encoder.logits(pairs, BATCH)
            own.add(len(chunk), time.perf_counter() - start)
            own.asked += pairs
            known = Known(dict(zip(pairs, rows, strict=True)), order)
            checked = list(Verifier(replace(get_protocol("vericite"), judge=known)).verify(answers))
        else:
            checked = list(verifiers[name].verify(cited.parsed() for cited in chunk))
            own.add(len(chunk), time.perf_counter() - start)
            own.asked += judge.taken()
        own.verdicts += verify.verdicts_of(checked)

    for turn, chunk in enumerate(chunks):
        names = list(found)
        first = turn % len(names)
        for name in names[first:] + names[:first]:
            one_round(name, chunk)
        if "onnx" not in plain.missing():
            matrix.append(plain.matrix_rates())
    return found, matrix


def print_rates(found: dict[str, Way]) -> dict[str, float]:
    """The table of rates and ratios; gives the median ratio to B for each protocol."""
    titles = {name: f"protocol {name}, end to end" for name in PROTOCOLS}
    titles["B"] = f"B: sentence-transformers fp32, batches of {BATCH}"
    head = f"\n{'median [min, max] of the rounds':<48}{'citations a second':<24}{'pairs a citation':<20}"
    print((head + ("faster than B by" if "B" in found else "")).rstrip(" "))
    ratios: dict[str, float] = {}
    for name, own in found.items():
        each = len(own.asked) / len(own.verdicts)
        line = f"{titles[name]:<48}{spread(own.rates, 1):<24}{each:<20.1f}"
        if name != "B" and "B" in found:
            quotients = [a / b for a, b in zip(own.rates, found["B"].rates, strict=True)]
            ratios[name] = median(quotients)
            line += f"{spread(quotients)} x"
        print(line.rstrip())
    return ratios


def print_floors(found: dict[str, Way], rates: list[plain.Work]) -> None:
    """The time the multiplications alone would take for what each protocol asks, beside its own at the median."""
    folder = ModelFolder.bundled(VERIFIER)
    encoder = Encoder(folder.path / "tokenizer.json", folder.card.max_tokens)
    best = verify.best_of(rates)
    print(
        f"\nfloor: what each protocol asks, no padding, at {best.int8 / 1e9:.0f} giga multiply-adds a second in 8 bits "
        f"and {best.fp32 / 1e9:.0f} in fp32\n  (the machine's products of large matrices, best of the rounds)"
    )
    for name in PROTOCOLS:
        own = found[name]
        lengths = [len(item.ids) for item in encoder.encode(own.asked)]
        floor = verify.floor_of(plain.work(folder, lengths), best)
        seconds = len(own.verdicts) / median(own.rates)
        print(
            f"  {name:<10}{len(lengths)} pairs of {mean(lengths):.0f} tokens: {floor:.2f} s; "
            f"took {seconds:.2f} s, {seconds / floor:.2f} times the floor"
        )


def print_labels(found: dict[str, Way]) -> float:
    """What the ways said; gives the share of citations of which fast says what default says."""
    print()
    for name, own in found.items():
        counts = Counter(label for *_, label in own.verdicts)
        print(f"{name:<10}" + ", ".join(f"{count} {label}" for label, count in sorted(counts.items())))
    agreement = verify.same(found["fast"].verdicts, found["default"].verdicts)
    told = {"fast and default": agreement, "early and vericite": verify.same(*_both(found, "early", "vericite"))}
    if "B" in found:
        told["B and vericite"] = verify.same(*_both(found, "B", "vericite"))
    print("same label: " + ", ".join(f"{names} {100 * share:.2f} %" for names, share in told.items()))
    return agreement


def _both(found: dict[str, Way], one: str, other: str) -> tuple[verify.Verdicts, verify.Verdicts]:
    return found[one].verdicts, found[other].verdicts


def speed(count: int) -> list[Bar]:
    """Citations a second."""
    made = list(islice(citations(), count))
    chunks = [chunk for start in range(ROUNDS) if (chunk := made[start::ROUNDS])]
    pairs = [pair for cited in made for pair in pairs_of(cited.parsed())]
    print(
        f"speed: {len(made)} claims, each citing an abstract of about {len(pairs) / len(made):.0f} sentences; "
        f"{len(pairs)} pairs, {len(set(pairs))} distinct;\n  {len(chunks)} rounds, "
        f"{engine_module.available_cores()} cores"
    )
    judge = Noting()
    verifiers = protocols(judge, PROTOCOLS)
    encoder: plain.SentenceTransformers | None = None
    with TemporaryDirectory() as temporary:
        if absent := plain.missing():
            print(f"B{' and the floor' if 'onnx' in absent else ''} left out: pip install {' '.join(absent)}")
        else:
            encoder = plain.SentenceTransformers(judge.folder, Path(temporary))
            encoder.logits(pairs[:BATCH], BATCH)
        for verifier in verifiers.values():
            list(verifier.verify([made[0].parsed()]))
        judge.taken()
        found, matrix = measure(chunks, verifiers, judge, encoder)
    ratios = print_rates(found)
    agreement = print_labels(found)
    if matrix:
        print_floors(found, matrix)
    bars: list[Bar] = []
    for name, bar in BARS.items():
        ratio = ratios.get(name)
        bars.append((f"{name} at least {bar:g} x as fast as B", ratio, (ratio or 0) >= bar))
    bars.append((f"fast has default's labels, at least {SAME}", agreement, agreement >= SAME))
    return bars


def early(least: int) -> list[Bar]:
    """Early exit against asking about every sentence."""
    made: list[Cited] = []
    pairs: set[Pair] = set()
    for cited in citations():
        if len(pairs) >= least:
            break
        made.append(cited)
        pairs.update(pairs_of(cited.parsed()))
    judge = Noting()
    verdicts: dict[str, verify.Verdicts] = {}
    asked: dict[str, int] = {}
    for name, verifier in protocols(judge, ("vericite", "early")).items():
        verdicts[name] = verify.verdicts_of(verifier.verify(cited.parsed() for cited in made))
        asked[name] = len(judge.taken())
    differences = sum(a != b for a, b in zip(verdicts["vericite"], verdicts["early"], strict=True))
    supported = sum(label == "supported" for *_, label in verdicts["vericite"])
    print(
        f"early exit: {len(pairs)} distinct pairs, {len(verdicts['vericite'])} citations, {supported} of them "
        f"supported: {differences} labels differ;\n  asked about {asked['early']} pairs of {asked['vericite']}, "
        f"{100 * asked['early'] / asked['vericite']:.1f} %"
    )
    return [(f"early differs from vericite on no citation of {len(pairs)} pairs", differences, not differences)]


def short_answers(count: int) -> Iterator[str]:
    """Lines of answers of one claim, with a document of two sentences; a number of their own makes them differ."""
    sentences, _ = plain.corpus()
    short = [[text for text in texts if len(text) <= SHORT and plain.led(text) != text] for texts in sentences]
    usable = [texts for texts in short if len(texts) > 1]
    draw = random.Random(0)
    for number in range(count):
        study = f"In study {number}"
        first, second = draw.sample(draw.choice(usable), 2)
        # By other words than the document, so that it quotes no sentence.
        claim = plain.led(draw.choice(ALTERATIONS)(draw.choice((first, second))), f"In trial {number}")
        document = {"id": f"study-{number}", "text": f"{plain.led(first, study)} {second}"}
        answer = f"{claim.removesuffix('.')} [1]."
        yield json.dumps({"id": f"answer-{number}", "answer": answer, "documents": [document]}) + "\n"


def memory(count: int) -> list[Bar]:
    """The largest memory of the command line on a file of answers."""
    with TemporaryDirectory() as temporary:
        file, out = Path(temporary) / "answers.jsonl", Path(temporary) / "verdicts.jsonl"
        with file.open("w", encoding="utf-8") as output:
            output.writelines(short_answers(count))
        size = file.stat().st_size / 1e6
        print(f"memory: vericite check on {count} short answers, {size:.1f} MB, no cache", flush=True)
        start = time.perf_counter()
        arguments = ["check", str(file), "--out", str(out), "--set", "llm.cache=false", "--rows", "0"]
        peak = verify.peak_megabytes(["-m", "vericite", *arguments])
        seconds = time.perf_counter() - start
        with out.open(encoding="utf-8") as lines:
            found = [sum(not item["abstained"] for item in json.loads(line)["verdicts"]) for line in lines]
    print(
        f"{len(found)} answers, {sum(found)} citations decided in {seconds:.0f} s, {sum(found) / seconds:.1f} a "
        f"second with the start; peak memory {peak:.0f} MB"
    )
    if len(found) != count:
        raise ValueError(f"expected verdicts on {count} answers; found {len(found)}")
    return [(f"peak memory on {count} answers under {MEMORY} MB", peak, peak < MEMORY)]


def main() -> None:
    """Measure what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=("speed", "early", "memory"), help="measure this alone")
    parser.add_argument("--citations", type=int, default=CITATIONS, help=f"for speed; {CITATIONS} unless told")
    parser.add_argument("--pairs", type=int, default=PAIRS, help=f"for early, at least; {PAIRS} unless told")
    parser.add_argument("--answers", type=int, default=ANSWERS, help=f"for memory; {ANSWERS} unless told")
    arguments = parser.parse_args()
    bars: list[Bar] = []
    # Memory first: verify.peak_megabytes says why.
    if arguments.only in (None, "memory"):
        bars += memory(arguments.answers)
    if arguments.only in (None, "early"):
        bars += early(arguments.pairs)
    if arguments.only in (None, "speed"):
        bars += speed(arguments.citations)
    sys.exit(0 if verify.told(bars) else 1)


if __name__ == "__main__":
    main()
