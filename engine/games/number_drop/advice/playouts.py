"""Fast random games: by the rules up to the next roll, then with mutable sheets."""

from __future__ import annotations

from random import Random

from engine.games.number_drop import flow
from engine.games.number_drop.components import STAR
from engine.games.number_drop.drops import Cells, any_digits, falling, landed, landings, squares_at, turned_shapes
from engine.games.number_drop.rolls import tile_draws
from engine.games.number_drop.sheet import (
    COLUMNS,
    CROSS,
    EMPTY_CELL,
    LINES,
    LINES_BELOW_GAME_OVER,
    SLOT_OF_BOX,
    SQUARES,
    Sheet,
    earns_letter,
    found_in,
)
from engine.games.number_drop.state import PLAYERS, SLIDES_TO_GO, NumberDropState, Phase
from engine.games.number_drop.turns import legal_turns, play_turn
from engine.support.chance import Ending, tally
from engine.support.grid import union
from engine.support.polyomino import Shape
from engine.values import Tally


class _CutOffError(Exception):
    """A game reached its maximum number of turns."""


def play_random_games(state: NumberDropState, count: int, rng: Random, *, most_plies: int = 10_000) -> Tally:
    """Play ``count`` games to their end, with uniformly random turns and rolls."""
    return tally(_RandomGame(state, rng, most_plies).ending() for _ in range(count))


class _RandomGame:
    """One random game."""

    def __init__(self, state: NumberDropState, rng: Random, most_plies: int) -> None:
        self.plies = 0
        self._most = most_plies
        self._rng = rng
        self._state = state

    def ending(self) -> Ending:
        """Play to the end, and return how it ended."""
        winner = self.play()
        return Ending(self.plies, winner or None, winner is not None)

    def play(self) -> str | None:
        """Play to the end; return the winner, an empty text if nobody wins alone, ``None`` if the game was cut off."""
        try:
            while self._state.phase not in (Phase.ROLL, Phase.OVER):
                self._step()
            if self._state.phase is Phase.OVER:
                outcome = flow.outcome_of(self._state)
                return (outcome.winner if outcome else None) or ""
            return self._play_turns()
        except _CutOffError:
            return None

    def _count(self) -> None:
        if self.plies >= self._most:
            raise _CutOffError
        self.plies += 1

    def _step(self) -> None:
        state = self._state
        if state.phase is Phase.TILES:
            # All draws are equally likely.
            self._state = flow.apply_tiles(state, self._rng.choice(tile_draws(state.options)).roll.faces)
            return
        self._count()
        turns = legal_turns(state)
        self._state = play_turn(state, turns[self._rng.randrange(len(turns))])

    def _play_turns(self) -> str:
        state, rng = self._state, self._rng
        self._components = state.options.components
        self._x_counts = state.options.x_counts_above_line
        self._sheets = {player: MutableSheet(state.sheets[player]) for player in state.in_order()}
        self._crossed_off = state.crossed_off
        self._notches = list(state.notches)
        dice = self._components.dice
        while True:
            roll = tuple(die[int(rng.random() * len(die))] for die in dice)
            stuck = self._solo_turn(roll) if self._notches else self._turn(roll)
            if (
                stuck
                or any(sheet.above_the_line(self._x_counts) for sheet in self._sheets.values())
                or (self._notches and min(self._notches) == SLIDES_TO_GO)
            ):
                return self._winner()

    def _winner(self) -> str:
        scores = {player: sheet.score(self._x_counts) for player, sheet in self._sheets.items()}
        best = max(scores.values())
        winners = [player for player, score in scores.items() if score == best]
        return PLAYERS[winners[0]] if len(winners) == 1 else ""

    def _turn(self, roll: tuple[str, ...]) -> bool:
        """Play one turn of a game of several; return whether a shape fitted nowhere."""
        struck_slot = union(sheet.letters for sheet in self._sheets.values()) & ~self._crossed_off
        if struck_slot and STAR in roll:
            bit = struck_slot & -struck_slot
            struck = [sheet for sheet in self._sheets.values() if not sheet.letters & bit]
            stuck = [not self._penalty(sheet, bit.bit_length() - 1) for sheet in struck]
            self._crossed_off |= bit
            return any(stuck)
        stuck = [not self._drop(sheet, roll) for sheet in self._sheets.values()]
        return any(stuck)

    def _solo_turn(self, roll: tuple[str, ...]) -> bool:
        loose = [slot for slot, notch in enumerate(self._notches) if notch < SLIDES_TO_GO]
        stuck = self._slide(loose)
        if STAR in roll:
            loose = [
                slot
                for slot, notch in enumerate(self._notches)
                if notch < SLIDES_TO_GO and (roll[-1] == STAR or self._state.tiles[slot][0] == roll[-1])
            ]
            if loose:
                stuck = self._slide(loose) or stuck
        return not self._drop(self._sheets[0], roll) or stuck

    def _slide(self, loose: list[int]) -> bool:
        self._count()
        slot = loose[int(self._rng.random() * len(loose))]
        self._notches[slot] += 1
        if self._notches[slot] < SLIDES_TO_GO:
            return False
        self._crossed_off |= 1 << slot
        sheet = self._sheets[0]
        return not sheet.letters >> slot & 1 and not self._penalty(sheet, slot)

    def _penalty(self, sheet: MutableSheet, slot: int) -> bool:
        cells = sheet.landing(turned_shapes(self._components, self._state.tiles[slot]), self._rng)
        if cells is None:
            return False
        self._count()
        sheet.write(cells, None)
        return True

    def _drop(self, sheet: MutableSheet, roll: tuple[str, ...]) -> bool:
        rng = self._rng
        cells = sheet.landing(turned_shapes(self._components, roll[-1]), rng)
        if cells is None:
            return False
        self._count()
        sheet.write(cells, any_digits(roll, rng))
        found = sheet.combinations()
        if found:
            self._count()
            turns: list[tuple[int, int, bool]] = []
            for box, squares in found:
                turns.append((box, squares, False))
                if earns_letter(sheet.loops, sheet.letters, box) and not self._crossed_off >> SLOT_OF_BOX[box] & 1:
                    turns.append((box, squares, True))
            # The last number stands for no combination at all.
            number = int(rng.random() * (len(turns) + 1))
            if number < len(turns):
                box, squares, letter = turns[number]
                sheet.loop(box, squares, letter=letter)
        return True


_LINE = (1 << COLUMNS) - 1
_TRIES = 40


class MutableSheet:
    """One mutable sheet; ``free`` holds, for each digit, the set of its squares outside loops."""

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
        """Draw the squares of one of the ways these shapes can come to rest, all equally likely; ``None`` if none."""
        held, at = falling(shapes), squares_at(shapes)
        for _ in range(_TRIES):
            number = int(rng.random() * len(held))
            cells = landed(self.heights, held[number], at[number])
            if cells is not None:
                return cells
        rest = landings(tuple(self.heights), shapes)
        return rest[int(rng.random() * len(rest))] if rest else None

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
        """Return every open box that can be filled and the squares to loop."""
        return found_in(self.free, self.loops)

    def loop(self, box: int, squares: int, *, letter: bool) -> None:
        """Draw a loop, and circle its letter or not."""
        self.loops[box] = squares
        for digit in range(10):
            self.free[digit] &= ~squares
        if letter:
            self.letters |= 1 << SLOT_OF_BOX[box]

    def above_the_line(self, x_counts: bool) -> int:
        """Return how many lines above the Game Over line count."""
        above = (self.filled if x_counts else self.digits) >> (COLUMNS * LINES_BELOW_GAME_OVER)
        return sum(1 for line in range(LINES - LINES_BELOW_GAME_OVER) if above >> (COLUMNS * line) & _LINE)

    def score(self, x_counts: bool) -> int:
        """Return the current points, for which all digits are alike."""
        cells = [
            ("0" if self.digits >> square & 1 else CROSS) if self.filled >> square & 1 else EMPTY_CELL
            for square in range(SQUARES)
        ]
        return Sheet("".join(cells), tuple(self.loops)).score(x_counts)
