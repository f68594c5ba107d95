"""Findings that nobody made, told twice in different words: every fact of them is known, so every label is."""

from __future__ import annotations

from vericite.train.mix.frames.effects import effect_frames
from vericite.train.mix.frames.quantities import quantity_frames
from vericite.train.mix.shelf import Harvest, Shelf

_DEV_SHARE = 0.02


def frames(shelf: Shelf) -> Harvest:
    """Quantities and effects, as many as the recipe says; a few are dev."""
    harvest = Harvest()
    for name, make in (("quantities", quantity_frames), ("effects", effect_frames)):
        for example in make(shelf.config.frames, shelf.dice(f"frames of {name}")):
            harvest.add([example], "frames_dev" if shelf.is_dev(example.group, _DEV_SHARE) else None)
    return harvest
