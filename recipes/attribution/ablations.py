"""MultiAttr's ablations for the head, by the names that the paper gives them.

``figure-4a`` is more made data, ``figure-4b`` more of the domain, ``table-3`` short answers against long ones.

Every row is fitted as the head that ships is, the bar chosen on ``dev`` each time, and read once on ``test``. The
numbers that the bundled models give of each example are kept, so that a run that was ended goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pools import Pools
from vericite.attribution.features import FeatureMaker
from vericite.attribution.learned import chosen
from vericite.disk.jobs import Job
from vericite.evaluate.resampling import Bootstrap, Estimate, ratio
from vericite.lab.train.configs import HeadConfig
from vericite.lab.train.examples import AttributionExample, read_examples
from vericite.lab.train.set_head import Example, NumberStore, figures, fit_head, gold_of, odds, shared
from vericite.models.embedder import Embedder
from vericite.verify.judges.bundled import BundledJudge

SHARES = (0.0, 0.2, 1.0)
TABLES = ("figure-4a", "figure-4b", "table-3")
NUMBERS = "numbers.jsonl"


def short_and_long(pools: Pools, most: int, seed: int) -> Iterator[tuple[AttributionExample, AttributionExample]]:
    """Of one question each: question and short answer as one sentence, and the first sentence of its long answer.

    Both before the same sources. The gold documents whose snippets have the short answer support both; other gold
    documents are unknown.
    """
    exact = {item["id"]: item.get("exact_answer") for item in pools.questions["train"] if item["type"] == "factoid"}
    left = most
    for asked in pools.asked("train", seed):
        entries = exact.get(asked.id) or ()
        names = [name for entry in entries for name in ([entry] if isinstance(entry, str) else entry)]
        if not names or left <= 0:
            continue
        held = [
            place
            for place, snippets in asked.snippets.items()
            if any(name.lower() in snippet.lower() for name in names for snippet in snippets)
        ]
        long = asked.sentences[0][1]
        text = f"{asked.question.rstrip('?. ')}: {names[0].rstrip('.')}."
        stated = any(name.lower() in long.lower() for name in names)
        if not held or not stated or any(pools.guard.refuses_claim(it, "attribution") for it in (text, long)):
            continue
        left -= 1
        unknown = tuple(sorted(set(asked.snippets) - set(held)))
        short = AttributionExample(
            id=asked.id,
            question=asked.question,
            sentence=text,
            sources=asked.sources,
            supports=tuple(sorted(held)),
            unknown=unknown,
            kind="short",
            made_from="bioasq",
            group=f"bioasq:{asked.id}",
        )
        yield short, short.model_copy(update={"id": f"{asked.id}:long", "sentence": long, "kind": "long"})


@dataclass(frozen=True)
class Row:
    """A row of a table: what is trained on, and which share of it."""

    first: Sequence[Example]
    then: Sequence[Example]
    share: float = 1.0
    then_share: float = 1.0


def sets_of(folder: Path, dev: Path, test: Path, tell: Callable[[str], None]) -> dict[str, list[Example]]:
    """The sets with their numbers, which are kept in FOLDER, where ``made``, ``domain``, ``short`` and ``long`` are.

    Raises:
        InputError: The numbers that are kept there are another verifier's.
    """
    maker = FeatureMaker(BundledJudge(), Embedder.shared())
    files = {name: folder / f"{name}.jsonl" for name in ("made", "domain", "short", "long")}
    found: dict[str, list[Example]] = {}
    with Job.next_to(folder / NUMBERS, {"made_by": maker.signature}, "numbers of the bundled models").open():
        store = NumberStore(folder / NUMBERS, maker)
        for name, path in (("dev", dev), ("test", test), *files.items()):
            examples = read_examples([path])
            tell(f"{name}: {len(examples)} sentences")
            store.add(examples)
            found[name] = [store.of(it) for it in examples]
    return found


class Ablations:
    """Rows of figures.

    Args:
        sets: ``made``, ``domain``, ``short``, ``long``, ``dev`` and ``test``.
        config: As for the head that ships; the bar is chosen anew.
    """

    def __init__(self, sets: Mapping[str, Sequence[Example]], config: HeadConfig) -> None:
        self._sets = sets
        self._config = config.model_copy(update={"threshold": None})

    def rows(self, table: str) -> Iterator[tuple[str, Row]]:
        """A table's rows, by their names."""
        made, domain = self._sets["made"], self._sets["domain"]
        if table == "figure-4a":
            for share in SHARES:
                yield f"made data {share:.0%}, in-domain 100%", Row(made, domain, share)
        elif table == "figure-4b":
            for share in SHARES:
                yield f"made data 100%, in-domain {share:.0%}", Row(made, domain, 1.0, share)
        else:
            for name in ("short", "long"):
                yield f"{name} answers alone", Row((), self._sets[name])
            for name in ("short", "long"):
                yield f"{name} answers, then in-domain 100%", Row(self._sets[name], domain)

    def of(self, row: Row) -> tuple[int, dict[str, np.ndarray]]:
        """Examples trained on; F1 and exact match of each test sentence."""
        config = self._config.model_copy(update={"share": row.share, "then_share": row.then_share})
        members, mean, scale, bar, _ = fit_head(row.first, row.then, self._sets["dev"], config)
        test = self._sets["test"]
        found = [chosen(odds(members, it, mean, scale), it.inputs, bar, config.pair) for it in test]
        each = [figures([own], [gold_of(it)]) for own, it in zip(found, test, strict=True)]
        used = sum(
            len(shared(some, share, config.seed))
            for some, share in ((row.first, row.share), (row.then, row.then_share))
        )
        return used, {"f1": np.array([it.f1 for it in each]), "exact": np.array([it.exact for it in each])}

    def table(self, name: str) -> Iterator[str]:
        """Lines of markdown. Sentences of a question are drawn together."""
        yield f"| {name}: trained on | examples | citation F1 | exact match | F1 over the first row |"
        yield "|---|---|---|---|---|"
        first: dict[str, np.ndarray] | None = None
        for told, row in self.rows(name):
            used, values = self.of(row)
            gain = "" if first is None else _told(self._mean(values["f1"] - first["f1"]), signed=True)
            first = values if first is None else first
            cells = " | ".join(_told(self._mean(values[it])) for it in ("f1", "exact"))
            yield f"| {told} | {used} | {cells} | {gain} |"

    def _mean(self, values: np.ndarray) -> Estimate:
        groups = [it.group for it in self._sets["test"]]
        names = list(dict.fromkeys(groups))
        places = np.array([names.index(group) for group in groups])
        parts = np.zeros((len(names), 1, 2))
        np.add.at(parts[:, 0, 0], places, values)
        np.add.at(parts[:, 0, 1], places, 1.0)
        return Bootstrap().pooled(parts, ratio)[0]


def _told(it: Estimate, signed: bool = False) -> str:
    plus = "+" if signed else ""
    return f"{it.value:{plus}.3f} [{it.low:{plus}.3f}, {it.high:{plus}.3f}]"
