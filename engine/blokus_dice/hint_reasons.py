"""Why a turn is a good one, in words for a player."""

from __future__ import annotations

from engine.blokus_dice.outlook import Prospect, anchors_left
from engine.blokus_dice.settings import COLOURS
from engine.blokus_dice.sheet import Sheet

_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def reason_for(sheet: Sheet, before: Prospect, after: Prospect, colour: int, *, only: bool, wins: bool) -> str:
    """Say why to draw what makes ``after`` of ``before`` in a colour, to go on after *That*: ``fills five squares``."""
    filled = after.filled.bit_count() - before.filled.bit_count()
    said = f"fills {_many(filled, 'square')}"
    if wins:
        return f"wins: it {said}, and nobody can catch up"
    if after.strikes_left < before.strikes_left:
        said += f", worth a strike ({_many(after.strikes_left, 'strike')} left)"
    if only:
        return f"is the only turn there is: it {said}"
    open_now = [anchors_left(sheet, own, after.filled).bit_count() for own in after.colours]
    corners = f"keeps {_many(open_now[colour], f'{COLOURS[colour]} corner')} open"
    if all(open_now):
        return f"{said}, {corners}, and every colour can go on"
    if open_now[colour]:
        return f"{said} and {corners}"
    return f"{said}, though {COLOURS[colour]} can't go on from there"


def _many(number: int, thing: str) -> str:
    written = _NUMBERS[number] if number < len(_NUMBERS) else str(number)
    return f"{written} {thing}{'' if number == 1 else 's'}"
