"""A fact in two worlds: the templates that tell it, and the examples that come of it.

A scene knows two worlds in which the fact differs. A claim template filled for the one world is false in the other,
whichever the premise tells; so a claim alone never says which it is.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from dataclasses import dataclass

from vericite.train.mix.frames.quantities_names import (
    CONDITIONS,
    CONTROLS,
    EVENTS,
    GENERIC,
    MARKERS,
    PEOPLE,
    TREATMENTS,
    Marker,
)

Fields = Mapping[str, str]
_CHOICE = re.compile(r"\[([^\[\]]*)\]")
_SLOT = re.compile(r"\{(\w+)\}")
_ARTICLE = re.compile(r"\b([Aa]) (?=[aei]|o(?!ne|nce)|8|11\b|18\b)")
_STRAY = re.compile(r" +(?=[.,;:)])")
_DOUBLED = re.compile(r"\b([Tt]he) (?:the|an?) ")
_SPAN = ("weeks", "months")


@dataclass(frozen=True, slots=True)
class Told:
    """A claim template: the kind of fact it is about, and its words."""

    kind: str
    words: str


@dataclass(frozen=True, slots=True)
class Scene:
    """A fact that can be told.

    Attributes:
        common: Fields that both worlds share.
        worlds: Fields of the one world and of the other.
        premises: Templates that tell the fact.
        claims: Templates that restate it; one whose two fillings are equal, or lack a field, is left out.
        foreign: Fields that turn a claim into one the premise says nothing of.
        aside: Other sentences may stand about it.
    """

    common: Fields
    worlds: tuple[Fields, Fields]
    premises: tuple[str, ...]
    claims: tuple[Told, ...]
    foreign: tuple[Fields, ...] = ()
    aside: bool = True


@dataclass(frozen=True, slots=True)
class Cast:
    """Who and what a scene is about, drawn once; `other` names things that are not in the fact."""

    common: dict[str, str]
    marker: Marker
    foreign_event: dict[str, str]
    foreign_marker: dict[str, str]
    foreign_drug: dict[str, str]


def cast(dice: random.Random) -> Cast:
    """Draw treatments, a condition, people, an event and a marker, and others of each that the fact is not about."""
    drug, rival, third, stranger = dice.sample(TREATMENTS, 4)
    drug = dice.choice(GENERIC) if dice.random() < 0.08 else drug
    rival = dice.choice(CONTROLS) if dice.random() < 0.45 else rival
    event, aside, absent = dice.sample(EVENTS, 3)
    marker, aside_marker, absent_marker = dice.sample(MARKERS, 3)
    illness = dice.choice([name for name in CONDITIONS if name not in {event.event, aside.event, absent.event}])
    when = f"{dice.choice((3, 4, 6, 8, 10, 15, 18, 20, 30, 36))} {dice.choice(_SPAN)}"
    people = dice.choice(PEOPLE)
    common = {
        "drug": drug, "rival": rival, "third": third, "cond": illness, "people": people,
        "pop": f"{people} with {illness}", "event": event.event, "had": event.had, "hadnt": event.hadnt,
        "lay": dice.choice((event.event, event.lay, event.lay)), "marker": marker.name, "unit": marker.unit,
        "mlay": dice.choice((marker.name, marker.lay, marker.lay)), "when": when,
        "oevent": aside.event, "ohad": aside.had, "omarker": aside_marker.name,
    }  # fmt: skip
    return Cast(
        common,
        marker,
        {"event": absent.event, "had": absent.had, "hadnt": absent.hadnt, "lay": absent.lay},
        {"marker": absent_marker.name, "mlay": absent_marker.lay},
        {"drug": stranger},
    )


def chosen(template: str, dice: random.Random) -> str:
    """The template with one of each "[this|that]" taken, the inner ones first."""
    while match := _CHOICE.search(template):
        template = template[: match.start()] + dice.choice(match[1].split("|")) + template[match.end() :]
    return template


def filled(template: str, fields: Fields) -> str | None:
    """The template as a sentence; None where a field is missing."""
    if any(name not in fields for name in _SLOT.findall(template)):
        return None
    text = _SLOT.sub(lambda slot: fields[slot[1]], template)
    text = _ARTICLE.sub(r"\1n ", _STRAY.sub("", " ".join(text.split())))
    text = _DOUBLED.sub(r"\1 ", text)
    return text[:1].upper() + text[1:]


def claim_pair(scene: Scene, told: Told, dice: random.Random) -> tuple[str, tuple[str, str]] | None:
    """The chosen wording and what it says in either world; None if it does not tell the worlds apart."""
    template = chosen(told.words, dice)
    first, second = (filled(template, {**scene.common, **world}) for world in scene.worlds)
    return None if first is None or second is None or first == second else (template, (first, second))


def open_claim(scene: Scene, template: str, dice: random.Random) -> str | None:
    """A claim in these words about something that no sentence of the premise tells; None if there is none."""
    slots = set(_SLOT.findall(template))
    apt = [fields for fields in scene.foreign if slots & fields.keys()]
    if not apt:
        return None
    return filled(template, {**scene.common, **dice.choice(scene.worlds), **dice.choice(apt)})
