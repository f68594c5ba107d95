"""Measures of a system's answers, each with its interval and the signature of what made it, or why it has no figure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from itertools import combinations
from pathlib import Path
from typing import Literal

from vericite.errors import UnknownNameError
from vericite.evaluate.items import Item
from vericite.evaluate.measures.answer_text import StoredScore
from vericite.evaluate.measures.measure import Measure, Need, Parts
from vericite.evaluate.measures.registry import reads, what_is_known
from vericite.evaluate.resampling import Bootstrap, Estimate
from vericite.evaluate.significance import PERMUTATIONS, Comparison, Scored, compare, corrected
from vericite.records import Answer, Claim, Labels, Span
from vericite.text.citations import CITATIONS
from vericite.text.sentences import SPLITTER
from vericite.version import __version__


@dataclass(frozen=True)
class System:
    """A system's name and what it made of each question."""

    name: str
    items: tuple[Item, ...]


def system_names(locations: Sequence[Path]) -> list[str]:
    """A name for each system: that of its file or folder, with as many of the folders above as tell them apart.

    ``x/answers.jsonl`` is named as its folder is.
    """
    parts = [_name_parts(location) for location in locations]
    for depth in range(1, max(map(len, parts), default=1) + 1):
        names = ["/".join(one[-depth:]) for one in parts]
        if len(set(names)) == len(names):
            return names
    return [f"{one[-1]} ({number})" for number, one in enumerate(parts, start=1)]


def _name_parts(location: Path) -> tuple[str, ...]:
    """A path's folders and its name, without an ending; a folder has none, whatever dots are in its name."""
    location = location.resolve()
    if location.is_dir():
        return location.parts
    stem = location.stem if location.suffix[1:].isalpha() else location.name
    return location.parent.parts if stem == "answers" else (*location.parent.parts, stem)


@dataclass(frozen=True)
class Figure:
    """A measure of one system, over all questions or those of a group.

    Attributes:
        estimate: The figure; its ``n`` are the questions it is made of, ``missing`` those that it could not be made of
            and ``empty`` those with nothing to count.
        signature: What made it: version, interval, judge and protocol where verdicts were read, packages.
    """

    system: str
    measure: Measure
    estimate: Estimate
    signature: str
    group: str | None = None

    @property
    def record(self) -> dict[str, object]:
        """It as JSON has it."""
        found = self.estimate
        return {
            "system": self.system,
            "measure": str(self.measure),
            "group": self.group,
            **found.record,
            "n": found.n,
            "missing": found.missing,
            "empty": found.empty,
            "higher_is_better": self.measure.higher_is_better,
            "signature": self.signature,
        }


Missing = Literal["out", "zero"]
"""What a question that a system has nothing for does to a measure against gold: it is left out and counted, as
trec_eval does, or it counts 0, as trec_eval does with ``-c``."""


def counts_zero(measure: Measure) -> bool:
    """Whether a missing answer can count 0 in a measure: it is one against gold, and 0 is the worst."""
    return "gold" in measure.needs and measure.higher_is_better is True


def _completed(measure: Measure, items: Sequence[Item], missing: Missing) -> Sequence[Item]:
    """The questions with an empty ranking and an answer that says nothing right where the system has none."""
    return [_empty(item) for item in items] if missing == "zero" and counts_zero(measure) else items


def _empty(item: Item) -> Item:
    if item.given is not None or item.judged is not None or item.gold is None:
        return item if item.ranked is not None else replace(item, ranked=())
    said = item.exact is not None and not item.refused
    labels = item.labels or Labels(id=item.id, nuggets=0, matches=())
    # As many sentences as the gold speaks of, none of which says or cites anything.
    count = 1 + max((it.sentence for it in item.gold.citations or ()), default=0)
    claims = tuple(Claim(text="-", span=Span(start=2 * place, end=2 * place + 1)) for place in range(count))
    silence = Answer(id=item.id, text=" ".join("-" * count), claims=claims, documents=(), question=None)
    return replace(
        item, answer=silence, exact=item.exact if said else (), ranked=item.ranked or (), labels=labels, failed=None
    )


def score_systems(
    systems: Sequence[System],
    measures: Sequence[Measure],
    bootstrap: Bootstrap | None = None,
    by: str | None = None,
    missing: Missing = "out",
) -> list[Figure]:
    """Every measure of each system, a system after the other.

    Where a measure of one system depends on the others, as MAUVE's cells do, all share it.

    Args:
        systems: What each made of each question.
        measures: What to measure.
        bootstrap: How intervals are drawn.
        by: A group of the gold, such as ``type``: figures of each of its values follow that of the whole.
        missing: What a question that a system has nothing for does to measures against gold.

    Raises:
        MissingExtraError: A measure is computed with a package that is not installed.
    """
    drawn = bootstrap or Bootstrap()
    each = [measure.of_each([_completed(measure, it.items, missing) for it in systems]) for measure in measures]
    return [
        figure
        for index, system in enumerate(systems)
        for measure, parts in zip(measures, each, strict=True)
        for figure in _figures(system, measure, parts[index], drawn, by, missing)
    ]


def _figures(
    system: System, measure: Measure, parts: Sequence[Parts | None], drawn: Bootstrap, by: str | None, missing: Missing
) -> Iterator[Figure]:
    """That of the whole, and those of each group."""
    signature = _signature(measure, system.items, drawn)
    signature += "|missing=0" if missing == "zero" and counts_zero(measure) else ""
    yield Figure(system.name, measure, measure.estimate(parts, drawn), signature)
    groups = [item.group(by) for item in system.items] if by else []
    for group in sorted(set(groups)):
        chosen = [part for part, its in zip(parts, groups, strict=True) if its == group]
        yield Figure(system.name, measure, measure.estimate(chosen, drawn), signature, group)


def compare_systems(
    first: System,
    second: System,
    measures: Sequence[Measure],
    bootstrap: Bootstrap | None = None,
    missing: Missing = "out",
) -> list[Comparison]:
    """Two systems in every measure; p is corrected by Holm's method where there are several."""
    return corrected([_compared(first, second, measure, bootstrap, missing) for measure in measures])


def each_compared(
    systems: Sequence[System],
    measures: Sequence[Measure],
    bootstrap: Bootstrap | None = None,
    missing: Missing = "out",
) -> list[tuple[System, System, Measure, Comparison]]:
    """Each pair of systems in every measure; p is corrected for all of them together."""
    known = [(*pair, measure) for pair in combinations(systems, 2) for measure in measures]
    found = corrected([_compared(*each, bootstrap, missing) for each in known])
    return [(*each, comparison) for each, comparison in zip(known, found, strict=True)]


def _compared(
    first: System, second: System, measure: Measure, bootstrap: Bootstrap | None, missing: Missing
) -> Comparison:
    systems = (first, second)
    both = measure.of_each([_completed(measure, system.items, missing) for system in systems])
    one, other = (_scored(system, measure, parts) for system, parts in zip(systems, both, strict=True))
    return compare(one, other, measure.phrase, bootstrap)


def _scored(system: System, measure: Measure, parts: Sequence[Parts | None]) -> Scored:
    scores = {item.id: measure.compared(part) for item, part in zip(system.items, parts, strict=True)}
    return Scored(system.name, scores, measure.statistic, measure.centred)


def _signature(measure: Measure, items: Sequence[Item], bootstrap: Bootstrap) -> str:
    parts = [f"vericite={__version__}", measure.drawn_by(bootstrap), *packages_of(measure)]
    return "|".join([*parts, *made_by(measure, items)])


def packages_of(measure: Measure) -> list[str]:
    """The packages that compute a measure, with their versions."""
    return [f"{package}={_version(package)}" for package in measure.packages]


_OF_MODELS = frozenset({"verdicts", "scores", "features"})
"""Needs that another model meets otherwise."""
_OF_TEXT = frozenset({"answer", "exact", "reply"})
"""Needs that may be met by the text of an answer."""


def made_by(measure: Measure, items: Sequence[Item]) -> list[str]:
    """What made that which is measured: splitter, judge, labellers, models; all of it, where there are several."""
    found: dict[str, set[str]] = {}
    if "verdicts" in measure.needs:
        checked = [(item.reasoned if measure.family == "rationale" else None) or item.checked for item in items]
        made = [it.provenance for it in checked if it is not None]
        found = {"checked-with": {it.version for it in made}, "protocol": {it.protocol or "" for it in made}}
        for provenance in made:
            for stage, signature in provenance.parts.items():
                found.setdefault(stage, set()).add(signature)
    if not _OF_TEXT.isdisjoint(measure.needs):
        found.setdefault("splitter", set()).add(SPLITTER)
        found.setdefault("citations", set()).add(CITATIONS)
    if "labels" in measure.needs:
        found["labels-by"] = {item.labels.by or "" for item in items if item.labels}
    if isinstance(measure, StoredScore):
        found["scores-by"] = scored_by(measure, items)
    if "features" in measure.needs:
        found["features-by"] = {item.features.by or "" for item in items if item.features}
    named = {stage: sorted(filter(None, names)) for stage, names in found.items()}
    return [f"{stage}={'+'.join(names)}" for stage, names in sorted(named.items()) if names]


def scored_by(measure: StoredScore, items: Iterable[Item]) -> set[str]:
    """The models that computed the figures that a measure reads; an empty name where nobody says."""
    return {item.scored_by.get(measure.key, "") for item in items if measure.key in item.scores}


@cache
def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "absent"


def signed(bootstrap: Bootstrap, *parts: str) -> str:
    """Version, how an interval was drawn, and what else there is to tell."""
    return "|".join([f"vericite={__version__}", bootstrap.signature, *parts])


def comparison_signature(measure: Measure, first: System, second: System, bootstrap: Bootstrap) -> str:
    """What a comparison by a measure is made of; where two judges differ, what each system was judged by."""
    parts = [f"permutations={PERMUTATIONS}", *packages_of(measure)]
    one, other = (made_by(measure, system.items) for system in (first, second))
    parts += one if one == other else [f"{first.name}: {', '.join(one)}", f"{second.name}: {', '.join(other)}"]
    return signed(bootstrap, *parts)


def different_judges_warning(measure: Measure, first: System, second: System) -> str | None:
    """The warning that two systems' verdicts or scores were not made alike; None where they were, or are not read."""
    if _OF_MODELS.isdisjoint(measure.needs):
        return None
    one, other = (made_by(measure, system.items) for system in (first, second))
    apart = sorted({part.partition("=")[0] for part in set(one) ^ set(other)})
    if not one or not other or not apart:
        return None
    what, do = ("verdicts", "Check") if "verdicts" in measure.needs else ("figures", "Compute")
    return (
        f"The {what} of {first.name} and {second.name} were made with another {', '.join(apart)}: what differs in "
        f"{measure} may be that, and not the systems. {do} both alike."
    )


_GIVE: dict[Need, str] = {
    "answer": "answers: name a file of them, or a folder with answers.jsonl",
    "exact": "answers: name a file of them, or a folder with answers.jsonl or outputs.jsonl",
    "reply": "answers: name a file of them, or a folder with answers.jsonl",
    "verdicts": "verdicts: run `vericite check ANSWERS --out verdicts.jsonl` first, then lay that file beside "
    "answers.jsonl in the system's folder, or give it to `score` with --verdicts",
    "gold": "gold: give --gold FILE",
    "labels": "assessors' labels: lay labels.jsonl into the system's folder, or give `score` --labels FILE",
    "scores": "figures of models: run `vericite compute` first, or lay scores.jsonl into the system's folder, or give "
    "`score` --scores FILE",
    "features": "vectors: run `vericite compute mauve-features` first, or lay features.npz into the system's folder, "
    "or give `score` --features FILE",
    "evidence": "documents retrieved: name a TREC run, lay outputs.jsonl into the system's folder, or give `score` "
    "--outputs FILE",
}


def undefined_reasons(undefined: Iterable[tuple[Measure, System]]) -> list[str]:
    """A sentence for each reason that measures of a system have no figure, the measures of one reason together."""
    found: dict[tuple[str, str], list[str]] = {}
    for measure, system in undefined:
        for reason in _reasons(measure, system):
            found.setdefault((system.name, reason), []).append(str(measure))
    return [
        f"{', '.join(measures)} {'is' if len(measures) == 1 else 'are'} undefined for {name}: {reason}"
        for (name, reason), measures in found.items()
    ]


def _reasons(measure: Measure, system: System) -> list[str]:
    """Empty where all is there, and there is merely nothing to count."""
    known = what_is_known(system.items)
    if absent := [_GIVE[need] for need in measure.needs if not known[need]]:
        return [f"it has no {what}" for what in absent]
    if isinstance(measure, StoredScore):
        names = {name for item in system.items for name in item.scores}
        if measure.key not in names:
            return [str(UnknownNameError("stored score", measure.key, names))]
    if any(part is not None for part in measure.of(system.items)):
        return []
    return [
        f"it has {' and '.join(reads(type(measure)))}, but no question with all that the measure takes of these; "
        "`vericite measures` and docs/measures.md say what that is"
    ]
