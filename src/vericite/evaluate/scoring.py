"""Scores of systems: measures with intervals and signatures, comparisons, and reasons for undefined scores."""

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
from vericite.evaluate.measures.registry import available_inputs, reads
from vericite.evaluate.measures.verdicts import JudgedRate, counted, designs_of
from vericite.evaluate.resampling import Bootstrap, Estimate
from vericite.evaluate.significance import PERMUTATIONS, Comparison, Scored, compare, corrected
from vericite.records import Answer, Claim, Labels, Span
from vericite.text.citations import CITATIONS
from vericite.text.designs import DESIGNS
from vericite.text.sentences import SPLITTER
from vericite.version import __version__


@dataclass(frozen=True)
class System:
    """A system's name and its output for each question."""

    name: str
    items: tuple[Item, ...]


def system_names(locations: Sequence[Path]) -> list[str]:
    """Name each system after its file or folder, with as many parent folders as needed to make the names unique.

    ``x/answers.jsonl`` is named after its folder.
    """
    paths = [_name_parts(location) for location in locations]
    for depth in range(1, max(map(len, paths), default=1) + 1):
        names = ["/".join(parts[-depth:]) for parts in paths]
        if len(set(names)) == len(names):
            return names
    return [f"{parts[-1]} ({number})" for number, parts in enumerate(paths, start=1)]


def _name_parts(location: Path) -> tuple[str, ...]:
    """Return a path's parts without the file extension; the name of a folder is kept whole."""
    location = location.resolve()
    if location.is_dir():
        return location.parts
    stem = location.stem if location.suffix[1:].isalpha() else location.name
    return location.parent.parts if stem == "answers" else (*location.parent.parts, stem)


@dataclass(frozen=True)
class Figure:
    """The score of a system by a measure, over all questions or those of a group.

    Attributes:
        estimate: The score; ``n`` is the number of questions used, ``missing`` of those that could not be used and
            ``empty`` of those with nothing to count.
        signature: The version, interval method and packages, and the judge and protocol if verdicts were used.
    """

    system: str
    measure: Measure
    estimate: Estimate
    signature: str
    group: str | None = None

    @property
    def record(self) -> dict[str, object]:
        """JSON-ready dict."""
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
"""How a measure against gold treats a question without output: left out and counted, as trec_eval does, or scored 0,
as trec_eval does with ``-c``."""


def counts_zero(measure: Measure) -> bool:
    """Whether a missing answer can be scored 0: the measure compares with gold, and 0 is its worst value."""
    return "gold" in measure.needs and measure.higher_is_better is True


def _completed(measure: Measure, items: Sequence[Item], missing: Missing) -> Sequence[Item]:
    """With ``missing="zero"``, give questions without output an empty ranking and an answer with no content."""
    return [_empty(item) for item in items] if missing == "zero" and counts_zero(measure) else items


def _empty(item: Item) -> Item:
    if item.given is not None or item.judged is not None or item.gold is None:
        return item if item.ranked is not None else replace(item, ranked=())
    has_exact = item.exact is not None and not item.refused
    labels = item.labels or Labels(id=item.id, nuggets=0, matches=())
    # As many placeholder sentences as the gold refers to.
    count = 1 + max((citation.sentence for citation in item.gold.citations or ()), default=0)
    claims = tuple(Claim(text="-", span=Span(start=2 * index, end=2 * index + 1)) for index in range(count))
    placeholder = Answer(id=item.id, text=" ".join("-" * count), claims=claims, documents=(), question=None)
    return replace(
        item,
        answer=placeholder,
        exact=item.exact if has_exact else (),
        ranked=item.ranked or (),
        labels=labels,
        failed=None,
    )


def score_systems(
    systems: Sequence[System],
    measures: Sequence[Measure],
    bootstrap: Bootstrap | None = None,
    by: str | None = None,
    missing: Missing = "out",
) -> list[Figure]:
    """Score every system by every measure, one system after the other.

    Some measures, such as MAUVE, depend on all systems; these are computed together.

    Args:
        systems: The systems with their items.
        measures: The measures.
        bootstrap: Settings of the intervals.
        by: A group of the gold, such as ``type``, or ``design``, the study design of cited documents. The overall score
            is followed by the score of each group.
        missing: How measures against gold treat questions without output.

    Raises:
        MissingExtraError: A measure needs a package that is not installed.
    """
    drawn = bootstrap or Bootstrap()
    by_measure = [
        measure.of_each([_completed(measure, system.items, missing) for system in systems]) for measure in measures
    ]
    return [
        figure
        for index, system in enumerate(systems)
        for measure, parts in zip(measures, by_measure, strict=True)
        for figure in _figures(system, measure, parts[index], drawn, by, missing)
    ]


def _figures(
    system: System, measure: Measure, parts: Sequence[Parts | None], drawn: Bootstrap, by: str | None, missing: Missing
) -> Iterator[Figure]:
    """Yield the overall score, then that of each group."""
    signature = _signature(measure, system.items, drawn)
    signature += "|missing=0" if missing == "zero" and counts_zero(measure) else ""
    yield Figure(system.name, measure, measure.estimate(parts, drawn), signature)
    if by == "design":
        yield from (
            Figure(system.name, measure, own.estimate(own.of(system.items), drawn), signature, str(own.design))
            for own in _of_designs(measure, system.items)
        )
        return
    groups = [item.group(by) for item in system.items] if by else []
    for group in sorted(set(groups)):
        chosen = [part for part, own_group in zip(parts, groups, strict=True) if own_group == group]
        yield Figure(system.name, measure, measure.estimate(chosen, drawn), signature, group)


def _of_designs(measure: Measure, items: Sequence[Item]) -> Iterator[JudgedRate]:
    """Yield the measure for each design of the documents that the answers cite."""
    if not isinstance(measure, JudgedRate) or measure.design is not None:
        return
    cited = {
        design
        for item in items
        if item.judged is not None and item.answer is not None
        for verdict in counted(item.judged)
        for design in designs_of(item, verdict)
    }
    yield from (replace(measure, design=design) for design in (*DESIGNS, "none") if design in cited)


def compare_systems(
    first: System,
    second: System,
    measures: Sequence[Measure],
    bootstrap: Bootstrap | None = None,
    missing: Missing = "out",
) -> list[Comparison]:
    """Compare two systems by every measure; with several measures, p is corrected by Holm's method."""
    return corrected([_compare(first, second, measure, bootstrap, missing) for measure in measures])


def compare_all_pairs(
    systems: Sequence[System],
    measures: Sequence[Measure],
    bootstrap: Bootstrap | None = None,
    missing: Missing = "out",
) -> list[tuple[System, System, Measure, Comparison]]:
    """Compare each pair of systems by every measure; p is corrected for all comparisons together."""
    cases = [(*pair, measure) for pair in combinations(systems, 2) for measure in measures]
    found = corrected([_compare(*case, bootstrap, missing) for case in cases])
    return [(*case, comparison) for case, comparison in zip(cases, found, strict=True)]


def _compare(
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
    """Return the packages that compute a measure, with their versions."""
    return [f"{package}={_version(package)}" for package in measure.packages]


_OF_MODELS = frozenset({"verdicts", "scores", "features"})
"""Needs whose values depend on a model."""
_OF_TEXT = frozenset({"answer", "exact", "reply"})
"""Needs that are read from the text of an answer."""


def made_by(measure: Measure, items: Sequence[Item]) -> list[str]:
    """Return the origins of a measure's inputs for its signature: splitter, judge, labellers and models."""
    found: dict[str, set[str]] = {}
    if "verdicts" in measure.needs:
        checked = [(item.reasoned if measure.family == "rationale" else None) or item.checked for item in items]
        origins = [answer.provenance for answer in checked if answer is not None]
        found = {
            "checked-with": {provenance.version for provenance in origins},
            "protocol": {provenance.protocol or "" for provenance in origins},
        }
        for provenance in origins:
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
    """Return the models that computed the scores that a measure reads; an empty name if unknown."""
    return {item.scored_by.get(measure.key, "") for item in items if measure.key in item.scores}


@cache
def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "absent"


def signed(bootstrap: Bootstrap, *parts: str) -> str:
    """Return a signature: the version, the interval method and further parts."""
    return "|".join([f"vericite={__version__}", bootstrap.signature, *parts])


def comparison_signature(measure: Measure, first: System, second: System, bootstrap: Bootstrap) -> str:
    """Return the signature of a comparison; if the systems' inputs have different origins, it names both."""
    parts = [f"permutations={PERMUTATIONS}", *packages_of(measure)]
    one, other = (made_by(measure, system.items) for system in (first, second))
    parts += one if one == other else [f"{first.name}: {', '.join(one)}", f"{second.name}: {', '.join(other)}"]
    return signed(bootstrap, *parts)


def different_judges_warning(measure: Measure, first: System, second: System) -> str | None:
    """Return a warning if two systems' verdicts or scores come from different models or settings; otherwise None."""
    if _OF_MODELS.isdisjoint(measure.needs):
        return None
    one, other = (made_by(measure, system.items) for system in (first, second))
    different = sorted({part.partition("=")[0] for part in set(one) ^ set(other)})
    if not one or not other or not different:
        return None
    what, verb = ("verdicts", "Check") if "verdicts" in measure.needs else ("scores", "Compute")
    return (
        f"The {what} of {first.name} and {second.name} differ in {', '.join(different)}: a difference in {measure} may "
        f"come from that, and not from the systems. {verb} both the same way."
    )


_REMEDIES: dict[Need, str] = {
    "answer": "answers: name a file of answers, or a folder with answers.jsonl",
    "exact": "answers: name a file of answers, or a folder with answers.jsonl or outputs.jsonl",
    "reply": "answers: name a file of answers, or a folder with answers.jsonl",
    "verdicts": "verdicts: run `vericite check ANSWERS --out verdicts.jsonl` first, then put that file next to "
    "answers.jsonl in the system's folder, or give `score` --with verdicts=FILE",
    "gold": "gold: give --gold FILE",
    "labels": "assessors' labels: put labels.jsonl into the system's folder, or give `score` --with labels=FILE",
    "scores": "model scores: run `vericite compute` first, or put scores.jsonl into the system's folder, or give "
    "`score` --with scores=FILE",
    "features": "vectors: run `vericite compute mauve-features` first, or put features.npz into the system's folder, "
    "or give `score` --with features=FILE",
    "evidence": "retrieved documents: name a TREC run, put outputs.jsonl into the system's folder, or give `score` "
    "--with outputs=FILE",
    "articles": "articles for and against its sentences: run `vericite evidence ANSWERS --json > evidence.jsonl`, then "
    "put that file into the system's folder, or give `score` --with evidence=FILE",
}


def undefined_reasons(undefined: Iterable[tuple[Measure, System]]) -> list[str]:
    """Return a sentence for each reason why measures of a system are undefined, grouping measures by reason."""
    found: dict[tuple[str, str], list[str]] = {}
    for measure, system in undefined:
        for reason in _reasons(measure, system):
            found.setdefault((system.name, reason), []).append(str(measure))
    return [
        f"{', '.join(measures)} {'is' if len(measures) == 1 else 'are'} undefined for {name}: {reason}"
        for (name, reason), measures in found.items()
    ]


def _reasons(measure: Measure, system: System) -> list[str]:
    """Return the reasons; empty if all inputs are present and there is merely nothing to count."""
    known = available_inputs(system.items)
    if absent := [_REMEDIES[need] for need in measure.needs if not known[need]]:
        return [f"it has no {what}" for what in absent]
    if isinstance(measure, StoredScore):
        names = {name for item in system.items for name in item.scores}
        if measure.key not in names:
            return [str(UnknownNameError("stored score", measure.key, names))]
    if any(part is not None for part in measure.of(system.items)):
        return []
    return [
        f"it has {' and '.join(reads(type(measure)))}, but no question with all the fields that the measure needs; "
        "see `vericite measures` and docs/measures.md"
    ]
