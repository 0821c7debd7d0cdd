"""Dice in a tray: where each lies in millimetres, and its value, which is null for one that leans."""

from __future__ import annotations

from typing import Any

from benchmarks.parts.photoreal.picture_game import PictureGame
from vision.layout.table import TableLayout
from vision.reading import DieReading, Reading


def _die(die: DieReading) -> dict[str, Any]:
    value = None if die.cocked else int(max(die.faces, key=lambda face: die.faces[face]))
    return {"x": round(die.x_mm, 1), "y": round(die.y_mm, 1), "value": value}


def _answer(reading: Reading, _layout: TableLayout) -> dict[str, Any]:
    return {"dice": [_die(die) for roll in reading.rolls for die in roll.dice]}


DICE = PictureGame(None, _answer)
