"""Readings written as short text: a table, its doubtful places, and dice.

A table is drawn as the places that differ from a state's, with their looks: ``{"c3": "empty"}``. A look may be followed
by how sure it is, ``"black piece 70%"``, or be ``"hidden"``. Dice are drawn as ``"4 1"``, left to right: ``4?`` is a
die that may as well show the next face, ``4/`` one that leans, ``4~`` one that moves, ``4|`` one that is half hidden,
``red:4`` one with a name.
"""

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from referee.judge.pooled_reading import PooledReading, pool
from referee.judge.settings import JudgeSettings
from vision.reading import DieReading, HindranceKind, PlaceReading, Reading, RollReading

SURE = 0.98
_DIE = re.compile(r"(?:(\w+):)?(\w)([?/~|]?)")
_SPACING_MM = 30.0


def drawn(
    game: Any,
    state: Any,
    differing: Mapping[str, str] | None = None,
    *,
    dice: str | None = None,
    at_mm: float = 0.0,
    time_s: float = 10.0,
    readings: int = 2,
) -> list[Reading]:
    """Give readings of a table at rest; ``dice`` lie in a row from ``at_mm`` on."""
    looks = {**game.table.appearance(state), **(differing or {})}
    places = places_drawn(game, looks)
    rolls = () if dice is None else (roll_drawn(dice, at_mm),)
    return [Reading(number, time_s + number / 10, places, rolls=rolls) for number in range(readings)]


def seen_as(game: Any, state: Any, differing: Mapping[str, str] | None = None) -> PooledReading:
    """Give what such a table shows, pooled."""
    return pool(drawn(game, state, differing), game.places, game.looks, JudgeSettings().probability_floor)


def roll_drawn(dice: str, at_mm: float = 0.0) -> RollReading:
    """Give dice as they are drawn."""
    return RollReading(
        "tray", tuple(_die(one, at_mm + _SPACING_MM * number) for number, one in enumerate(dice.split()))
    )


def _die(text: str, x_mm: float) -> DieReading:
    matched = _DIE.fullmatch(text)
    assert matched is not None, text
    name, face, how = matched.groups()
    other = str(int(face) % 6 + 1)
    sure = 0.5 if how == "?" else SURE
    rest = (1 - sure) / 5 if how != "?" else 0.02
    faces = {str(number): rest for number in range(1, 7)} | {face: sure}
    if how == "?":
        faces[other] = 1 - sum(value for number, value in faces.items() if number != other)
    return DieReading(x_mm, 0.0, faces, name or "", at_rest=how != "~", cocked=how == "/", half_hidden=how == "|")


def places_drawn(game: Any, looks: Mapping[str, str], percent: str = "") -> dict[str, PlaceReading]:
    """Give places as they are drawn, all of them with these percents."""
    every_look = tuple(game.looks)
    return {place: _place(every_look, f"{look} {percent}" if percent else look) for place, look in looks.items()}


@cache
def _place(every_look: tuple[str, ...], drawn_look: str) -> PlaceReading:
    if drawn_look == "hidden":
        return PlaceReading({}, hidden_by=HindranceKind.OBJECT)
    look, _, percent = drawn_look.rpartition(" ") if drawn_look.endswith("%") else (drawn_look, "", "")
    sure = float(percent.rstrip("%")) / 100 if percent else SURE
    others = [name for name in every_look if name != look]
    return PlaceReading({look: sure, **dict.fromkeys(others, (1 - sure) / len(others))})
