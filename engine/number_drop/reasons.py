"""Why a turn is good, in words a player understands."""

from __future__ import annotations

from engine.number_drop.candidates import Candidate
from engine.number_drop.combining import unused_digits
from engine.number_drop.sheet import BOXES, GRID, IDENTICAL, Sheet, kind_of_digits
from engine.number_drop.state import Combination, PenaltyDrop, SetUpDigit
from engine.number_drop.turns import digits_at, squares_of

_NUMBER = {3: "three", 4: "four", 5: "five", 6: "six", 7: "seven", 8: "eight"}


def reason_of(before: Sheet, candidate: Candidate) -> str:
    """Say what is good about a turn that writes on a sheet, or draws a loop round what stands there."""
    turn = candidate.turn
    if isinstance(turn, SetUpDigit):
        return "leaves room on both sides"
    follow = turn if isinstance(turn, Combination) else candidate.follow
    told = []
    if follow is not None and follow.squares:
        told.append(_combination_told(candidate.sheet, follow))
        if follow.letter:
            told.append(f"circles the letter {follow.letter}")
    gained = [line + 1 for line in candidate.sheet.full_lines() if line not in before.full_lines()]
    told += [f"fills line {line} for +2" for line in gained]
    if not told and not isinstance(turn, PenaltyDrop):
        told += _kept_together(before, candidate)
    if not told and isinstance(turn, Combination):
        return "keeps the digits for a larger combination"
    return ", ".join(told) if told else _low(before, candidate)


def _combination_told(sheet: Sheet, follow: Combination) -> str:
    digits = digits_at(sheet.cells, squares_of(follow.squares))
    if kind_of_digits(digits) == IDENTICAL:
        return f"takes {_NUMBER[len(digits)]} {digits[0]}s for {len(digits)} points"
    ordered = sorted(digits)
    return f"takes the run from {ordered[0]} to {ordered[-1]} for {len(digits)} points"


def _kept_together(before: Sheet, candidate: Candidate) -> list[str]:
    """What the largest patch of equal digits that a drop has joined is kept for."""
    fresh = sum(1 << square for square, mark in enumerate(candidate.sheet.cells) if mark != before.cells[square])
    best = (1, "")
    for digit, squares in enumerate(unused_digits(candidate.sheet)):
        left = squares
        while left:
            patch, grown = 0, left & -left
            while grown != patch:
                patch, grown = grown, (grown | GRID.beside(grown)) & squares
            left &= ~patch
            if (patch & fresh or not fresh) and patch.bit_count() > best[0]:
                best = (patch.bit_count(), str(digit))
    size, digit_text = best
    larger = [
        wanted
        for (kind, wanted), loop in zip(BOXES, candidate.sheet.loops, strict=True)
        if kind == IDENTICAL and not loop and wanted >= size
    ]
    if size < 2 or not larger:
        return []
    aim = larger[0] if larger[0] > size or len(larger) == 1 else larger[1]
    return [f"keeps the {digit_text}s together for a {_NUMBER[aim]}"]


def _low(before: Sheet, candidate: Candidate) -> str:
    holes = _holes(candidate.sheet) - _holes(before)
    highest = max(candidate.sheet.heights)
    if holes <= 0 and highest <= max(before.heights):
        return "stays low and leaves no hole"
    return "stays low" if highest <= max(before.heights) + 1 else "leaves the most room for what comes"


def _holes(sheet: Sheet) -> int:
    return sum(sheet.heights) - sum(mark != "." for mark in sheet.cells)
