"""What made a figure, as comparisons, agreement and rankings are signed with it."""

from __future__ import annotations

from vericite.evaluate.measures.measure import Measure
from vericite.evaluate.resampling import Bootstrap
from vericite.evaluate.scoring import System, made_by, packages_of
from vericite.evaluate.significance import PERMUTATIONS
from vericite.version import __version__


def signed(bootstrap: Bootstrap, *told: str) -> str:
    """Version, how an interval was drawn, and what else there is to tell."""
    return "|".join([f"vericite={__version__}", bootstrap.signature, *told])


def comparison_signature(measure: Measure, first: System, second: System, bootstrap: Bootstrap) -> str:
    """What a comparison by a measure is made of; where two judges differ, what each system was judged by."""
    told = [f"permutations={PERMUTATIONS}", *packages_of(measure)]
    one, other = (made_by(measure, system.items) for system in (first, second))
    told += one if one == other else [f"{first.name}: {', '.join(one)}", f"{second.name}: {', '.join(other)}"]
    return signed(bootstrap, *told)


def judged_apart(measure: Measure, first: System, second: System) -> str | None:
    """The warning that two systems' verdicts were not made alike; None where they were, or are not read."""
    if "verdicts" not in measure.needs:
        return None
    one, other = (made_by(measure, system.items) for system in (first, second))
    apart = sorted({part.partition("=")[0] for part in set(one) ^ set(other)})
    if not one or not other or not apart:
        return None
    return (
        f"The verdicts of {first.name} and {second.name} were made with another {', '.join(apart)}: what differs in "
        f"{measure} may be that, and not the systems. Check both alike."
    )
