"""A sheet that changes in place, for games played out by the thousand: sets of squares by digit, and heights."""

from __future__ import annotations

from random import Random

from engine.number_drop.combining import found_in
from engine.number_drop.components import NUMBER_DICE, STAR
from engine.number_drop.dropping import Cells, Falling, assignments, falling, squares_at
from engine.number_drop.sheet import (
    COLUMNS,
    CROSS,
    EMPTY_CELL,
    FULL_COLUMN_POINTS,
    FULL_LINE_POINTS,
    GAME_OVER_POINTS,
    LINES,
    LINES_BELOW_GAME_OVER,
    SMALLEST,
    Sheet,
)
from engine.polyomino import Shape

_LINE = (1 << COLUMNS) - 1
_TRIES = 40
_SAME, _RUNS = range(5), range(5, 10)


class LooseSheet:
    """One sheet: ``free`` digits' squares outside loops by digit, ``filled`` squares, ``digits``' squares."""

    __slots__ = ("digits", "filled", "free", "heights", "letters", "loops")

    def __init__(self, sheet: Sheet) -> None:
        self.free = [0] * 10
        self.filled = self.digits = 0
        circled = sheet.circled
        for square, mark in enumerate(sheet.cells):
            if mark != EMPTY_CELL:
                self.filled |= 1 << square
                if mark != CROSS:
                    self.digits |= 1 << square
                    if not circled >> square & 1:
                        self.free[int(mark)] |= 1 << square
        self.heights = list(sheet.heights)
        self.loops = list(sheet.loops)
        self.letters = sheet.letters

    def landing(self, shapes: tuple[Shape, ...], rng: Random) -> Cells | None:
        """The squares of one of the ways these shapes can come to rest, each equally likely; ``None`` without any."""
        held, at = falling(shapes), squares_at(shapes)
        for _ in range(_TRIES):
            number = int(rng.random() * len(held))
            cells = self._landed(held[number], at[number])
            if cells is not None:
                return cells
        rest = [cells for each, rows in zip(held, at, strict=True) if (cells := self._landed(each, rows)) is not None]
        return rest[int(rng.random() * len(rest))] if rest else None

    def _landed(self, held: Falling, rows: tuple[Cells, ...]) -> Cells | None:
        column, row = held.column, 0
        for low in held.lows:
            rest = self.heights[column] - low
            row = max(row, rest)
            column += 1
        return rows[row] if row < len(rows) else None

    def write(self, cells: Cells, digits: str | None) -> None:
        """Write digits, in the squares' order, or crosses."""
        for number, square in enumerate(cells):
            self.filled |= 1 << square
            line, column = divmod(square, COLUMNS)
            if self.heights[column] <= line:
                self.heights[column] = line + 1
            if digits is not None:
                self.digits |= 1 << square
                self.free[int(digits[number])] |= 1 << square

    def combinations(self) -> tuple[tuple[int, int], ...]:
        """Every open box that can be filled and the squares to loop."""
        return found_in(self.free, self.loops)

    def loop(self, box: int, squares: int, *, letter: bool) -> None:
        """Draw a loop, and circle its letter or not."""
        self.loops[box] = squares
        for digit in range(10):
            self.free[digit] &= ~squares
        if letter:
            self.letters |= 1 << (box % 5)

    def earns_letter(self, box: int) -> bool:
        """Whether filling this box fills both of its size, so its letter may be circled."""
        return box < 10 and bool(self.loops[(box + 5) % 10]) and not self.letters >> (box % 5) & 1

    def above_the_line(self, x_counts: bool) -> int:
        """How many lines above the Game Over line count."""
        above = (self.filled if x_counts else self.digits) >> (COLUMNS * LINES_BELOW_GAME_OVER)
        return sum(1 for line in range(LINES - LINES_BELOW_GAME_OVER) if above >> (COLUMNS * line) & _LINE)

    def score(self, x_counts: bool) -> int:
        """The points as they stand."""
        loops = self.loops
        points = sum(box % 5 + SMALLEST for box in range(10) if loops[box]) + (8 if loops[10] else 0)
        points += FULL_COLUMN_POINTS * (all(loops[box] for box in _SAME) + all(loops[box] for box in _RUNS))
        filled = self.filled
        for _ in range(LINES_BELOW_GAME_OVER):
            if filled & _LINE == _LINE:
                points += FULL_LINE_POINTS
            filled >>= COLUMNS
        return points + GAME_OVER_POINTS * self.above_the_line(x_counts)


def any_digits(faces: tuple[str, ...], rng: Random) -> str:
    """One of the different ways to arrange the number dice, each equally likely."""
    numbers = tuple(sorted(faces[:NUMBER_DICE]))
    if STAR not in numbers:
        # Shuffled dice give every different arrangement equally often.
        order = list(numbers)
        rng.shuffle(order)
        return "".join(order)
    arranged = assignments(numbers)
    return arranged[int(rng.random() * len(arranged))]
