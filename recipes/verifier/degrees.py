"""When is a sentence that fails partly supported? Weights for the degree of a verdict (``verify/degrees.json``).

    python recipes/verifier/degrees.py cases DATA recipes/verifier/degrees.jsonl.gz  # half an hour: 3,064 claims
    python recipes/verifier/degrees.py fit recipes/verifier/degrees.jsonl.gz [--write]

The figures of the claims are kept (no texts), so that the weights can be fitted again in a minute.

WiCE's dev claims and Factcheck-GPT's (``DATA/wice``, ``DATA/transfer``) are labelled fully, partly or not supported.
A tenth of Factcheck-GPT by group is held out, as in ``more transfer``; WiCE is halved by page, and each half is scored
with weights fitted on the other. Half of WiCE's pages were also in the judge's training, where partly supported counted
as not entailed. Compared are two thresholds on the probability of support, fitted on the same rows; both maximize the
balanced accuracy of partly against the rest. Sets and labels weigh alike. Halves and fifths are drawn five times.
"""

from __future__ import annotations

import argparse
import ast
import gzip
import json
import sys
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

sys.path.insert(0, str(Path(__file__).parent))

from mix.example import share
from mix.passages import clean
from more.transfer import is_held_out
from vericite.formats.objects import as_documents
from vericite.records import Verdict, VerificationFailure
from vericite.verify.degrees import FEATURES, WEIGHTS, features, is_contradiction
from vericite.verify.protocol import get_protocol
from vericite.verify.verifier import ClaimsToJudge, PendingCase, Verifier

NOT, PARTLY, FULLY = range(3)
LABELS = {
    "not_supported": NOT, "irrelevant": NOT, "refute": NOT,
    "partially_supported": PARTLY, "partially-support": PARTLY,
    "supported": FULLY, "completely-support": FULLY,
}  # fmt: skip
SETS = ("wice", "factcheck_gpt")
SEED, DRAWS, STRENGTH, REPEATS = 51, 2000, 0.1, 5
CONSOLE = Console(width=140, highlight=False)
Rows = dict[str, Any]


class Watching(Verifier):
    """Keeps the figures of each claim."""

    def __init__(self) -> None:
        super().__init__(get_protocol("default"))
        self.figures: list[list[float] | None] = []

    def _result(self, pending: PendingCase) -> Verdict | VerificationFailure:
        result = super()._result(pending)
        idle = pending.abstain is not None or pending.quotes is not None
        texts = [premise.text for premise in pending.case.premises]
        self.figures.append(None if idle else features(pending.claim.text, texts, pending.sheet))
        return result


def read(data: Path) -> Iterator[Rows]:
    """Claims with their sources and labels."""
    for line in (data / "wice" / "claim_dev.jsonl").read_text("utf-8").splitlines():
        row = {
            name: ast.literal_eval(value) if name in ("evidence", "meta") and isinstance(value, str) else value
            for name, value in json.loads(line).items()
        }
        text = " ".join(sentence for sentence in map(clean, row["evidence"]) if len(sentence.split()) > 2)
        group = row["meta"]["claim_title"]
        yield {"set": "wice", "claim": clean(row["claim"]), "text": text, "kind": row["label"], "group": group}
    with gzip.open(data / "transfer" / "factcheck_gpt.jsonl.gz", "rt") as lines:
        for row in map(json.loads, lines):
            texts = {"claim": clean(row["claim"]), "text": clean(row["premise"])}
            yield {"set": "factcheck_gpt", **texts, "kind": row["kind"], "group": row["group"]}


def cases(data: Path, out: Path) -> None:
    """Judge the claims and write their figures."""
    verifier = Watching()
    rows = [row for row in read(data) if row["text"]]
    batches = (ClaimsToJudge(tuple(as_documents([row["text"]])), ((row["claim"], (0,)),)) for row in rows)
    with gzip.open(out, "wt", encoding="utf-8") as file:
        for place, (row, (results,)) in enumerate(zip(rows, verifier.judge_claims(batches), strict=True)):
            figures, (verdict,) = verifier.figures[place], results
            if figures is None or not isinstance(verdict, Verdict):
                continue
            held = row["set"] != "wice" and is_held_out(row["set"], row["group"])
            kept = {"set": row["set"], "group": digest(row["group"]), "degree": LABELS[row["kind"]], "held": held}
            told = {"label": verdict.label, "supported": verdict.probabilities.get("supported", 0.0)}
            told |= {"features": [round(value, 4) for value in figures], "judge": verifier.judge.signature}
            file.write(json.dumps({**kept, **told}) + "\n")


def digest(group: str) -> str:
    """A name for a group without its words."""
    return sha256(group.encode()).hexdigest()[:12]


def balanced(found: Any, degrees: Any) -> float:
    """Balanced accuracy of partly against the rest."""
    return float((found[degrees == PARTLY].mean() + 1 - found[degrees != PARTLY].mean()) / 2)


def weights(sets: Any, degrees: Any) -> Any:
    """Sets weigh alike; within one, partly as much as the two others together."""
    found = np.zeros(len(degrees))
    for name in SETS:
        for degree, part in ((PARTLY, 0.5), (NOT, 0.25), (FULLY, 0.25)):
            chosen = (sets == name) & (degrees == degree)
            found[chosen] = part / max(1, chosen.sum())
    return found * len(degrees) / found.sum()


def open_to(rows: dict[str, Any], chosen: Any) -> Any:
    """Which of the chosen rows may be partly supported: those that are neither supported nor clearly contradicted."""
    labels, figures = rows["label"][chosen], rows["features"][chosen]
    clear = np.array([is_contradiction(row) for row in figures], dtype=bool)
    return (labels != "supported") & ~((labels == "contradicted") & clear)


def best(values: Any, allowed: Any, degrees: Any, weight: Any, ends: Any) -> tuple[float, float]:
    """The range of values that is called partly with the best balanced accuracy; ``ends``: highest values to try."""
    tried = np.unique(np.quantile(values[allowed], np.linspace(0, 1, 60)))
    partly, rest = weight * (degrees == PARTLY), weight * (degrees != PARTLY)
    best_of = (-1.0, 0.0, np.inf)
    for low in tried:
        for high in tried[tried >= low] if ends is None else ends:
            found = allowed & (values >= low) & (values < high)
            value = partly[found].sum() / partly.sum() + rest[~found].sum() / rest.sum()
            best_of = max(best_of, (float(value), float(low), float(high)))
    return best_of[1], best_of[2]


class Fit:
    """Weights, and two thresholds, fitted on some rows."""

    def __init__(self, rows: dict[str, Any], chosen: Any) -> None:
        from sklearn.linear_model import LogisticRegression

        table, degrees = rows["features"], rows["degree"]
        weight = weights(rows["set"][chosen], degrees[chosen])
        self.mean, self.scale = table[chosen].mean(axis=0), table[chosen].std(axis=0)
        self.model = LogisticRegression(C=STRENGTH, max_iter=5000)
        self.model.fit(self._scaled(table[chosen]), degrees[chosen], sample_weight=weight)
        allowed = open_to(rows, chosen)
        self.least, _ = best(self.odds(table[chosen]), allowed, degrees[chosen], weight, [np.inf])
        everything = np.ones(chosen.sum(), dtype=bool)
        self.low, self.high = best(rows["supported"][chosen], everything, degrees[chosen], weight, None)

    def _scaled(self, table: Any) -> Any:
        return (table - self.mean) / self.scale

    def odds(self, table: Any) -> Any:
        """Log odds of partly."""
        logits = self.model.decision_function(self._scaled(table))
        return logits[:, PARTLY] - np.logaddexp(logits[:, NOT], logits[:, FULLY])

    def found(self, rows: dict[str, Any], chosen: Any) -> tuple[Any, Any]:
        """What is called partly by the weights, and by the thresholds."""
        mine = (self.odds(rows["features"][chosen]) >= self.least) & open_to(rows, chosen)
        probability = rows["supported"][chosen]
        return mine, (probability >= self.low) & (probability < self.high)


def table_of(path: Path) -> dict[str, Any]:
    """The rows of a file by column."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        read_rows = [json.loads(line) for line in lines]
    names = ("set", "group", "degree", "held", "label", "supported", "features")
    found = {name: np.array([row[name] for row in read_rows]) for name in names}
    return {**found, "judge": read_rows[0]["judge"]}


def tell(name: str, rows: dict[str, Any], draws: list[list[tuple[Any, Any]]]) -> None:
    """Print the figures of the scored rows, each scored with weights fitted on the first rows of its part.

    Of several draws of the parts, each row counts with the share of draws in which it is called partly.
    """
    degrees, dice = rows["degree"], np.random.default_rng(SEED)
    mine, theirs = np.zeros((2, len(draws), len(degrees)))
    tested = np.zeros(len(degrees), dtype=bool)
    for draw, parts in enumerate(draws):
        for fitted, scored in parts:
            mine[draw, scored], theirs[draw, scored] = Fit(rows, fitted).found(rows, scored)
            tested |= scored
    mine, theirs = mine.mean(axis=0), theirs.mean(axis=0)
    places = np.flatnonzero(tested)
    groups = np.unique(rows["group"][places])
    own = {group: places[rows["group"][places] == group] for group in groups}
    drawn = [np.concatenate([own[group] for group in dice.choice(groups, len(groups))]) for _ in range(DRAWS)]
    values = np.array([(balanced(mine[i], degrees[i]), balanced(theirs[i], degrees[i])) for i in drawn])
    low, high = np.nanquantile(values[:, 0], (0.025, 0.975))
    least, most = np.nanquantile(values[:, 0] - values[:, 1], (0.025, 0.975))
    first, other = balanced(mine[places], degrees[places]), balanced(theirs[places], degrees[places])
    told = f"{name:36} n {len(places):5} {first:.3f} [{low:.3f}, {high:.3f}], thresholds {other:.3f}"
    CONSOLE.print(f"{told}, difference {first - other:+.3f} [{least:+.3f}, {most:+.3f}]")
    supported = rows["label"] == "supported"
    for degree, word in enumerate(("not", "partly", "fully")):
        own_rows = places[degrees[places] == degree]
        partly_called, fully_called = mine[own_rows].sum(), supported[own_rows].sum()
        none = len(own_rows) - partly_called - fully_called
        CONSOLE.print(f"    {word:7} called not {none:6.0f}, partly {partly_called:6.0f}, fully {fully_called:6.0f}")


def fit(path: Path, write: bool) -> None:
    """Print how well it does on what it was not fitted on, and write the weights."""
    rows = table_of(path)
    wice, held = rows["set"] == "wice", rows["held"]
    halves: list[list[tuple[Any, Any]]] = []
    fifths: list[list[tuple[Any, Any]]] = []
    for draw in range(REPEATS):
        shares = np.array([share(f"{draw}|{group}", SEED) for group in rows["group"]])
        halves.append([(~held & ~(wice & part), wice & part) for part in (shares < 0.5, shares >= 0.5)])
        fold = (shares * 5).astype(int)
        fifths.append([(fold != part, (fold == part) & ~wice) for part in range(5)])
    tell("WiCE dev, by halves", rows, halves)
    tell("Factcheck-GPT, held-out tenth", rows, [[(~held, held & ~wice)]])
    tell("Factcheck-GPT, five parts", rows, fifths)
    if write:
        made = Fit(rows, ~held)
        kept = {
            "judge": rows["judge"],
            "features": FEATURES,
            "mean": made.mean.round(5).tolist(),
            "scale": made.scale.round(5).tolist(),
            "weights": made.model.coef_.round(5).tolist(),
            "bias": made.model.intercept_.round(5).tolist(),
            "least": round(made.least, 5),
        }
        WEIGHTS.write_text(json.dumps(kept, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    steps = parser.add_subparsers(dest="step", required=True)
    step = steps.add_parser("cases")
    step.add_argument("data", type=Path)
    step.add_argument("out", type=Path)
    step = steps.add_parser("fit")
    step.add_argument("cases", type=Path)
    step.add_argument("--write", action="store_true")
    given = parser.parse_args()
    if given.step == "cases":
        cases(given.data, given.out)
    else:
        fit(given.cases, given.write)
