"""Tables of citations as BioACE has them: judges on pairs of HealthVer and SciFact whose labels are known.

Usage: python benchmarks/language_judges.py [--llm gguf:MODEL]... [--judge NAME]... [--n 150] [--only SET]

The sets are HealthVer's official test table and SciFact's development claims with the whole abstracts that they cite
(its test labels are not published); of each set N pairs, as many of each label, chosen by the hash of their place. Each
language model has three rows: by the probabilities of labels' letters, these in a mean with the bundled verifier, and
by labels that it writes. With --letters it has no row of written labels, which take several times as long. Replies are
cached, so that a run that was ended goes on where it was. Intervals (95 %) are a bootstrap over claims (HealthVer) or
documents (SciFact).
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn.metrics import precision_recall_fscore_support, roc_auc_score

from vericite.datasets.registry import source_named
from vericite.errors import Problems
from vericite.evaluate.resampling import Bootstrap
from vericite.llm import LLM, Settings
from vericite.models.contracts import Judge, Pair
from vericite.verify.judges.bundled import BundledJudge, LexicalJudge, MeanJudge
from vericite.verify.judges.llm import PROMPTS, LlmJudge
from vericite.verify.judges.registry import load_judge
from vericite.verify.judging import ask

LABELS = ("supported", "contradicted", "irrelevant")
SETS = {
    "healthver": "healthver:{data}/healthver/healthver_test.csv",
    "healthver-dev": "healthver:{data}/healthver/healthver_dev.csv",
    "scifact": "scifact:{data}/scifact/data/claims_dev.jsonl",
}
NEEDS = {
    "TRUE, T5 of 11 B": "--judge hf-seq2seq:google/t5_xxl_true_nli_mixture, vericite[hf], 45 GB of memory",
    "AttrScore, FLAN-T5 XL": "--judge hf-attrscore:osunlp/attrscore-flan-t5-xl, vericite[hf], 12 GB",
    "AttrScore, Alpaca 7 B": "--judge hf-attrscore-causal:osunlp/attrscore-alpaca-7b, vericite[hf], 28 GB",
    "AlignScore": "--judge alignscore:CHECKPOINT, its package and its checkpoint",
    "SummaC": "--judge summac:MODEL, its package",
}


class Labelled(NamedTuple):
    """Pairs, the column of each one's label, and what each is drawn with."""

    pairs: list[Pair]
    gold: np.ndarray
    groups: list[str]


def main() -> None:
    """Print a table a set, a row a judge."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--llm", action="append", default=[], help="a language model; repeatable")
    parser.add_argument("--judge", action="append", default=[], help="any other judge; repeatable")
    parser.add_argument("--letters", action="store_true", help="no rows of written labels")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--only", choices=list(SETS), action="append")
    parser.add_argument("--n", type=int, default=150)
    given = parser.parse_args()
    rows: list[tuple[str, Judge]] = [("lexical", LexicalJudge()), ("bundled", BundledJudge())]
    rows += [(name, load_judge(name)) for name in given.judge]
    for name in given.llm:
        # One call at a time: what prompts have in common is then computed once.
        llm = LLM(name, Settings(concurrency=1, timeout=600, deadline=1200))
        model, letters = name.rsplit("/", 1)[-1], LlmJudge(llm, PROMPTS["ternary"])
        rows += [(f"{model}, letters", letters), (f"bundled + {model}", MeanJudge([BundledJudge(), letters]))]
        if not given.letters:
            rows.append((f"{model}, labels", LlmJudge(llm, PROMPTS["ternary"], probabilities=False)))
    for name in given.only or ("healthver", "scifact"):
        of = chosen(SETS[name].format(data=given.data), given.n)
        print(f"{name}, {len(of.pairs)} pairs, {len(of.pairs) // 3} of each label", flush=True)
        for title, judge in rows:
            began = time.monotonic()
            found = ask(judge, of.pairs)
            seconds = (time.monotonic() - began) / len(of.pairs)
            places = [at for at, one in enumerate(found) if one.failure is None]
            kept = Labelled([of.pairs[at] for at in places], of.gold[places], [of.groups[at] for at in places])
            told = figures(np.array([found[at].probabilities for at in places]), kept)
            print(f"{title} (n {len(places)}, {seconds:.2f} s a pair)\n  {told}", flush=True)
        for title, needs in NEEDS.items():
            print(f"{title}\n  needs {needs}")


def chosen(source: str, n: int) -> Labelled:
    """As many pairs of each label."""
    rows = [one for one in source_named(source).citations(Problems()) if one.premise.strip() and one.label in LABELS]
    place = sorted(range(len(rows)), key=lambda number: sha256(str(number).encode()).hexdigest())
    of = {label: [at for at in place if rows[at].label == label] for label in LABELS}
    count = min(n // 3, *map(len, of.values()))
    kept = [rows[at] for listed in of.values() for at in listed[:count]]
    gold = np.array([LABELS.index(one.label) for one in kept])
    return Labelled([Pair(one.premise, one.claim) for one in kept], gold, [one.group or one.id for one in kept])


def figures(probabilities: np.ndarray, of: Labelled) -> str:
    """The area of supported against the rest, and P, R and F1 of two and of three labels, with intervals."""
    said, gold = probabilities.argmax(axis=1), of.gold

    def area(at: np.ndarray) -> float:
        supported = gold[at] == 0
        return float(roc_auc_score(supported, probabilities[at, 0])) if 0 < supported.sum() < len(at) else np.nan

    def share(number: int, labels: Sequence[int], binary: bool) -> Callable[[np.ndarray], float]:
        def of_rows(at: np.ndarray) -> float:
            own, judged = (np.minimum(it, 1) if binary else it for it in (gold[at], said[at]))
            found = precision_recall_fscore_support(own, judged, labels=labels, average="macro", zero_division=0)
            return float(found[number])

        return of_rows

    parts = [f"AUC {shown(area, of)}"]
    for title, labels, binary in (
        ("supporting", [0], True),
        ("binary, macro", [0, 1], True),
        ("ternary, macro", [0, 1, 2], False),
    ):
        whole = np.arange(len(gold))
        p, r = (share(number, labels, binary)(whole) for number in (0, 1))
        parts.append(f"{title}: P {p:.3f}, R {r:.3f}, F1 {shown(share(2, labels, binary), of)}")
    return "; ".join(parts)


def shown(statistic: Callable[[np.ndarray], float], of: Labelled) -> str:
    """A figure with its interval."""
    found = Bootstrap(draws=500, method="percentile").over_rows(statistic, of.groups)
    return f"{found.value:.3f} [{found.low:.3f}, {found.high:.3f}]"


if __name__ == "__main__":
    main()
