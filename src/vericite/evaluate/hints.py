"""Why a measure has no figure of a system, and what would have to be given for one."""

from __future__ import annotations

from collections.abc import Iterable

from vericite.errors import UnknownNameError
from vericite.evaluate.measures.measure import Measure, Need
from vericite.evaluate.measures.model_scores import Stored
from vericite.evaluate.measures.registry import reads, what_is_known
from vericite.evaluate.scoring import System

_GIVE: dict[Need, str] = {
    "answer": "answers: name a file of them, or a folder with answers.jsonl",
    "exact": "answers: name a file of them, or a folder with answers.jsonl or outputs.jsonl",
    "reply": "answers: name a file of them, or a folder with answers.jsonl",
    "verdicts": "verdicts: run `vericite check ANSWERS --out verdicts.jsonl` first, then lay that file beside "
    "answers.jsonl in the system's folder, or give it to `score` with --verdicts",
    "gold": "gold: give --gold FILE",
    "labels": "assessors' labels: lay labels.jsonl into the system's folder, or give `score` --labels FILE",
    "scores": "figures of models: lay scores.jsonl into the system's folder, or give `score` --scores FILE",
    "features": "vectors: lay features.npz into the system's folder, or give `score` --features FILE",
    "evidence": "documents retrieved: name a TREC run, lay outputs.jsonl into the system's folder, or give `score` "
    "--outputs FILE",
}


def hints(undefined: Iterable[tuple[Measure, System]]) -> list[str]:
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
    if isinstance(measure, Stored):
        names = {name for item in system.items for name in item.scores}
        if measure.key not in names:
            return [str(UnknownNameError("stored score", measure.key, names))]
    if any(part is not None for part in measure.of(system.items)):
        return []
    return [
        f"it has {' and '.join(reads(type(measure)))}, but no question with all that the measure takes of these; "
        "`vericite measures` and docs/measures.md say what that is"
    ]
