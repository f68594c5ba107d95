"""Where systems are: the files of a system's folder by their names, and what each system is called."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from vericite.errors import InputError

BESIDE = ("verdicts", "labels", "scores", "outputs", "features")
"""What may lie beside the answers of a system: files of these names in its folder, or options of the command."""
_ENDINGS = {"features": "npz"}


def named_file(kind: str) -> str:
    """What a file of this kind is called in a system's folder."""
    return f"{kind}.{_ENDINGS.get(kind, 'jsonl')}"


def found_in(folder: Path) -> dict[str, Path]:
    """What lies in a system's folder; without answers of its own, the runs that were kept there."""
    places = {name: folder / named_file(name) for name in ("answers", *BESIDE)}
    if not places["answers"].is_file():
        # With it comes the whole pipeline, which few folders need.
        from vericite.pipeline.runs import RUNS

        places["answers"] = folder / RUNS
    return {name: path for name, path in places.items() if path.is_file()}


def expect_names(names: Sequence[str], places: Sequence[Path]) -> None:
    """Before anything is read.

    Raises:
        InputError: Names are given, and not each system has one of its own.
    """
    told = {name.strip() for name in names} - {""}
    if names and not len(told) == len(names) == len(places):
        count = "1 system" if len(places) == 1 else f"each of {len(places)} systems"
        raise InputError(
            f"expected a name of its own for {count}; found {', '.join(map(repr, names))}. Give --name once a system, "
            "in their order, or not at all."
        )


def system_names(places: Sequence[Path]) -> list[str]:
    """A name for each system: that of its file or folder, with as many of the folders above as tell them apart.

    ``x/answers.jsonl`` is named as its folder is.
    """
    parts = [_name_parts(place) for place in places]
    for depth in range(1, max(map(len, parts), default=1) + 1):
        names = ["/".join(one[-depth:]) for one in parts]
        if len(set(names)) == len(names):
            return names
    return [f"{one[-1]} ({number})" for number, one in enumerate(parts, start=1)]


def _name_parts(place: Path) -> tuple[str, ...]:
    """A path's folders and its name, without an ending; a folder has none, whatever dots are in its name."""
    place = place.resolve()
    if place.is_dir():
        return place.parts
    stem = place.stem if place.suffix[1:].isalpha() else place.name
    return place.parent.parts if stem == "answers" else (*place.parent.parts, stem)
