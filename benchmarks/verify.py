"""The verifier against the plain ways to run the same weights: speed, same verdicts, memory, and the floor.

Usage: python benchmarks/verify.py [--sweep]

Needs ``pip install torch sentence-transformers``; without them the parts that can do without are measured.
All of it runs in turn, chunk by chunk, in one process, so that what slows the machine slows every way; only
the memory is measured in a process of its own. With --sweep, the engine's settings are compared instead.
Exits with 1 if a bar is missed.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import numpy as np

import plain
from plain import ANSWERS, DOCUMENTS, Draft, drafts, pairs_of, parsed
from vericite.models import Engine, ModelFolder, Pair
from vericite.models import engine as engine_module
from vericite.models.contracts import COLUMNS
from vericite.models.folder import VERIFIER
from vericite.models.session import open_session
from vericite.records import Answer, CheckedAnswer
from vericite.verify import Judgement, Protocol, Verifier, get_protocol

ROUNDS = 5
SINGLES = 100
"""Pairs a round given to the slowest way, every n-th of the round's, so that their lengths are alike."""

BATCH = 32
BARS = {"A": 3.0, "B": 1.3}
SAME, MEMORY = 0.99, 600
SIZES = (128, 256, 512, 1024, 2048, 8192)
SWEEP_ROUNDS, SWEEP_ANSWERS = 5, 12
Logits = Callable[[Sequence[Pair]], plain.Array]
Bar = tuple[str, float | None, bool]
"""What is expected, what was found (None where it was not measured), and whether it is as expected."""


@dataclass(frozen=True)
class Known:
    """A judge that looks its judgements up, so that a plain way's scores go through the same aggregation.

    What the verifier asks besides, such as a claim with what its source leaves open, ``way`` judges outside the timing.
    """

    logits: dict[Pair, plain.Array]
    order: list[int]
    way: Logits
    signature: str = "known"

    def judge(self, pairs: Iterable[Pair]) -> Iterator[Judgement]:
        """Softmax over the scores given."""
        for pair in pairs:
            if pair not in self.logits:
                self.logits[pair] = self.way([pair])[0]
            row = np.exp(self.logits[pair][self.order] - self.logits[pair].max())
            yield Judgement((row / row.sum()).astype(np.float32))


Verdicts = list[tuple[str, int, tuple[int, ...], str]]


def verdicts_of(checked: Iterable[CheckedAnswer]) -> Verdicts:
    """A verdict for every document that a claim cites."""
    found: Verdicts = []
    for answer in checked:
        if answer.failures or any(verdict.abstained for verdict in answer.verdicts):
            raise ValueError(f"expected every citation of {answer.id} to be judged; found one that was not")
        found += [(answer.id, item.start, item.markers, item.label) for item in answer.verdicts]
    return found


@dataclass
class Measured:
    """What one way did, round by round: pairs a second, and the verdicts it came to."""

    rates: list[float] = field(default_factory=list[float])
    verdicts: Verdicts = field(default_factory=list)
    rows: list[plain.Array] = field(default_factory=list)

    def add(self, pairs: int, seconds: float) -> None:
        """One round."""
        self.rates.append(pairs / seconds)


def spread(values: Sequence[float], digits: int = 2) -> str:
    """The median, and the lowest and highest."""
    return f"{median(values):.{digits}f} [{min(values):.{digits}f}, {max(values):.{digits}f}]"


def measure(
    verifiers: dict[str, Verifier], ways: dict[str, Logits], chunks: list[list[Draft]]
) -> tuple[dict[str, Measured], list[plain.Work]]:
    """Every way on every chunk, in turn, a different one first each time; and the machine's rate each time."""
    labels = ModelFolder.bundled(VERIFIER).card.labels
    order = [labels.index(label) for label in COLUMNS]
    found = {name: Measured() for name in (*verifiers, *ways)}
    matrix: list[plain.Work] = []

    def one_round(name: str, chunk: list[Draft], answers: list[Answer], distinct: list[Pair]) -> None:
        own = found[name]
        pairs = distinct[:: max(1, len(distinct) // SINGLES)] if name == "A" else distinct
        start = time.perf_counter()
        if name in verifiers:
            checked = list(verifiers[name].verify(parsed(draft) for draft in chunk))
            own.add(len(pairs), time.perf_counter() - start)
            own.verdicts += verdicts_of(checked)
            return
        rows = ways[name](pairs)
        own.add(len(pairs), time.perf_counter() - start)
        if len(pairs) == len(distinct):
            judge = Known(dict(zip(pairs, rows, strict=True)), order, ways[name])
            own.verdicts += verdicts_of(Verifier(Protocol(judge=judge)).verify(answers))
            own.rows.append(rows)

    for turn, chunk in enumerate(chunks):
        answers = [parsed(draft) for draft in chunk]
        distinct = list(dict.fromkeys(pair for answer in answers for pair in pairs_of(answer)))
        names = list(found)
        first = turn % len(names)
        for name in names[first:] + names[:first]:
            one_round(name, chunk, answers, distinct)
        if "onnx" not in plain.missing():
            matrix.append(plain.matrix_rates())
    return found, matrix


def same(one: Verdicts, other: Verdicts) -> float:
    """The share of citations with the same verdict."""
    return sum(a == b for a, b in zip(one, other, strict=True)) / len(one)


def peak_megabytes(command: Sequence[str]) -> float:
    """The largest memory of a run of Python with these arguments; to be called before any other process is run."""
    # And while this process is small: a child's peak counts from its parent's size at the fork.
    subprocess.run([sys.executable, *command], check=True)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    return peak / (1e6 if sys.platform == "darwin" else 1e6 / 1024)


def best_of(rates: list[plain.Work]) -> plain.Work:
    """The machine's best rate of each kind."""
    return plain.Work(*map(max, zip(*rates, strict=True)))


def floor_of(work: plain.Work, best: plain.Work) -> float:
    """The seconds that the multiplications alone would take."""
    return work.int8 / best.int8 + work.fp32 / best.fp32


def print_floor(lengths: Sequence[int], rates: list[plain.Work], rate: float) -> None:
    """The time the multiplications alone would take at the machine's best rate, beside ours at the median."""
    work, best = plain.work(ModelFolder.bundled(VERIFIER), lengths), best_of(rates)
    floor, seconds = floor_of(work, best), len(lengths) / rate
    print(
        f"\nfloor: {work.int8 / 1e12:.2f} tera multiply-adds in 8 bits at {best.int8 / 1e9:.0f} giga a second"
        f" and {work.fp32 / 1e12:.2f} in fp32 at {best.fp32 / 1e9:.0f} giga\n"
        f"  (best of the rounds), mean length {np.mean(lengths):.0f} tokens, no padding: {floor:.1f} s; "
        f"ours {seconds:.1f} s, {seconds / floor:.2f} times the floor"
    )


def print_rates(found: dict[str, Measured], repeated: float) -> dict[str, float]:
    """The table of rates and ratios; gives the median ratio on distinct pairs for each plain way.

    A rate is the pairs of claim and sentence of a round by the seconds for the verdicts on its citations, so that
    ``default``, which asks other pairs, is measured by the citations that it decides.
    """
    titles = {
        "ours": "ours: Verifier, protocol vericite, end to end",
        "default": "ours: Verifier, protocol default, the same citations",
        "A": "A: sentence-transformers fp32, one pair at a time",
        "A2": "A2: onnxruntime defaults, shipped model, one pair at a time",
        "B": f"B: sentence-transformers fp32, batches of {BATCH}",
    }
    print(f"\n{'distinct pairs only; median [min, max] of the rounds':<62}{'pairs a second':<24}ours is faster by")
    ratios: dict[str, float] = {}
    for name, own in found.items():
        line = f"{titles[name]:<62}{spread(own.rates, 0):<24}"
        if name not in ("ours", "default"):
            quotients = [a / b for a, b in zip(found["ours"].rates, own.rates, strict=True)]
            ratios[name] = median(quotients)
            line += f"{spread(quotients)} x"
        print(line.rstrip())
    if "B" in found:
        usual = [a / b for a, b in zip(found["default"].rates, found["B"].rates, strict=True)]
        print(f"protocol default against B: {spread(usual)} x")
    print(f"a further {repeated:.2f} x for all pairs asked, as ours judges identical pairs of a round once:")
    print("  " + ", ".join(f"{ratio * repeated:.2f} x against {name}" for name, ratio in ratios.items()))
    return ratios


def bars(ratios: dict[str, float], agreement: float | None, peak: float) -> bool:
    """Print what is asked of speed, verdicts and memory; whether no bar was missed."""
    found: list[Bar] = []
    for name, bar in BARS.items():
        ratio = ratios.get(name)
        found.append((f"at least {bar} x as fast as {name}", ratio, (ratio or 0) >= bar))
    found.append((f"same verdicts as B, at least {SAME}", agreement, (agreement or 0) >= SAME))
    found.append((f"peak memory under {MEMORY} MB", peak, peak < MEMORY))
    return told(found)


def told(found: Sequence[Bar]) -> bool:
    """Print each bar; whether none was missed."""
    print()
    for title, value, met in found:
        word = "NOT MEASURED" if value is None else "PASS" if met else "FAIL"
        print(f"{word:<5} {title}" + ("" if value is None else f": {value:.4g}"))
    return all(met or value is None for _, value, met in found)


def compare() -> bool:
    """Measure and print it all; whether no bar was missed."""
    peak = peak_megabytes([__file__, "--alone"])
    made = list(drafts())
    size = ANSWERS // ROUNDS
    chunks = [made[start : start + size] for start in range(0, ANSWERS, size)]
    asked = [[pair for draft in chunk for pair in pairs_of(parsed(draft))] for chunk in chunks]
    total, judged = sum(map(len, asked)), sum(len(set(pairs)) for pairs in asked)
    everywhere = len({pair for pairs in asked for pair in pairs})
    print(
        f"{ANSWERS} answers x {DOCUMENTS} documents, {sum(len(parsed(draft).claims) for draft in made)} claims, "
        f"{total} pairs of claim and sentence asked;\n{everywhere} distinct, {judged} counting again what "
        f"recurs in another of the {ROUNDS} rounds; {engine_module.available_cores()} cores"
    )
    folder = ModelFolder.bundled(VERIFIER)
    verifier, session = Verifier(get_protocol("vericite")), plain.Session(folder)
    ways: dict[str, Logits] = {"A2": session.logits}
    with TemporaryDirectory() as temporary:
        if absent := plain.missing():
            print(f"A, B{' and the floor' if 'onnx' in absent else ''} left out: pip install {' '.join(absent)}")
        else:
            encoder = plain.SentenceTransformers(folder, Path(temporary))
            singly: Logits = lambda pairs: encoder.logits(pairs, 1)  # noqa: E731
            ways = {"A": singly, **ways, "B": lambda pairs: encoder.logits(pairs, BATCH)}
        verifiers = {"ours": verifier, "default": Verifier(get_protocol("default"))}
        for own in verifiers.values():
            list(own.verify([parsed(made[0])]))
        for way in ways.values():
            way(asked[0][:BATCH])
        found, matrix = measure(verifiers, ways, chunks)
    ratios = print_rates(found, total / judged)
    print(f"\nsame verdict on {len(found['ours'].verdicts)} citations: ", end="")
    agreements = {name: same(found["ours"].verdicts, found[name].verdicts) for name in ("B", "A2") if name in found}
    print(", ".join(f"ours and {name} {100 * share:.2f} %" for name, share in agreements.items()))
    if "B" in found:
        gap = np.abs(np.concatenate(found["B"].rows) - np.concatenate(found["A2"].rows)).mean()
        print(f"outputs before softmax, fp32 weights against the shipped 8-bit model: {gap:.3f} apart on average")
    if matrix:
        pairs = [(pair.premise, pair.claim) for part in asked for pair in dict.fromkeys(part)]
        lengths = [len(item.ids) for item in session.tokenizer.encode_batch(pairs)]
        print_floor(lengths, matrix, median(found["ours"].rates))
    print(f"peak memory of ours alone: {peak:.0f} MB")
    return bars(ratios, agreements.get("B"), peak)


def _otherwise(folder: ModelFolder, threads: int, cores: int) -> Engine:
    """An engine that runs so many batches at a time, each on so many cores."""
    engine = Engine(folder, threads)
    path = str(folder.path / "model.onnx")
    # Laid where the engine keeps its own, which it then does not load.
    engine.__dict__["_session"] = open_session(path, cores)
    return engine


def sweep() -> None:
    """The engine alone at other batch sizes and with its threads otherwise employed, in turn."""
    folder = ModelFolder.bundled(VERIFIER)
    shipped = engine_module.BATCH_TOKENS
    own = Engine(folder)
    cores = own.threads
    arrangements = {
        "a batch a core": own,
        "a batch across all cores": _otherwise(folder, 1, cores),
    }
    settings = {f"{title}, {size} tokens": (engine, size) for title, engine in arrangements.items() for size in SIZES}
    made = list(drafts())[:SWEEP_ANSWERS]
    pairs = list(dict.fromkeys(pair for draft in made for pair in pairs_of(parsed(draft))))
    print(f"{len(pairs)} distinct pairs, {SWEEP_ROUNDS} rounds, {cores} cores; shipped: {shipped} tokens")
    seconds: dict[str, list[float]] = {title: [] for title in settings}
    outputs: dict[str, plain.Array] = {}
    for turn in range(SWEEP_ROUNDS + 1):
        for title, (engine, size) in settings.items():
            engine_module.BATCH_TOKENS = size
            start = time.perf_counter()
            rows = list(engine.run(pairs))
            if turn:  # The first round loads and warms up.
                seconds[title].append(time.perf_counter() - start)
            outputs[title] = np.array([row.values for row in rows])
    engine_module.BATCH_TOKENS = shipped
    base = f"a batch a core, {shipped} tokens"
    print("speed as a ratio to the shipped setting, median [min, max], and the largest change of an output:")
    for title, taken in seconds.items():
        ratios = spread([a / b for a, b in zip(seconds[base], taken, strict=True)])
        print(f"{title:<50}{ratios:<20}{np.abs(outputs[title] - outputs[base]).max():.1e}")


def main() -> None:
    """Measure what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sweep", action="store_true", help="compare the engine's settings instead")
    parser.add_argument("--alone", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.alone:
        for _ in Verifier(get_protocol("vericite")).verify(parsed(draft) for draft in drafts()):
            pass
    elif arguments.sweep:
        sweep()
    else:
        sys.exit(0 if compare() else 1)


if __name__ == "__main__":
    main()
