"""Games played at random, fast: every sheet as a few integers, the ways to draw found by lists that shrink."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from random import Random

from engine.api import Player, Tally
from engine.blokus_dice.markers import places_passed_from
from engine.blokus_dice.scoring import outcome_of
from engine.blokus_dice.sheet import FACES, Sheet
from engine.blokus_dice.state import OUT, PLAYING, BlokusState, FilledSheet
from engine.grid import ORTHOGONAL


class Drawing:
    """Finds what may be drawn on a sheet; remembers, for each square, what fits the open squares at its sides."""

    def __init__(self, sheet: Sheet) -> None:
        self.sheet = sheet
        self.squares = sheet.grid.squares
        self._rows = tuple(row << self.squares for row in sheet.row_sets[1:])
        self._at_sides = sheet.grid.neighbours(ORTHOGONAL)
        self._fitting: list[dict[int, tuple[tuple[int, ...], ...]]] = [{} for _ in range(self.squares)]

    def ways(self, own: int, filled: int, shapes: int) -> list[int]:
        """Every way to draw these shapes in a colour that has ``own``, none twice, each as in ``Sheet.covering``."""
        sheet, grid = self.sheet, self.sheet.grid
        may_fill = sheet.open_squares & ~(filled | grid.beside(own))
        anchors = may_fill & (grid.diagonal_to(own) if own else sheet.corners)
        wanted = shapes << self.squares
        rows = [number for number, row in enumerate(self._rows) if row & wanted]
        closed = ~(may_fill | wanted)
        found: list[int] = []
        while anchors:
            lowest = anchors & -anchors
            anchors ^= lowest
            anchor = lowest.bit_length() - 1
            open_sides = self._at_sides[anchor] & may_fill
            fitting = self._fitting[anchor].get(open_sides) or self._find_fitting(anchor, open_sides)
            for row in rows:
                found += [laid for laid in fitting[row] if not laid & closed]
            # What covers several of these squares is found by the first of them.
            closed |= lowest
        return found

    def _find_fitting(self, square: int, open_sides: int) -> tuple[tuple[int, ...], ...]:
        """What covers a square and none of the closed ones at its sides, by the row of its shape."""
        closed = self._at_sides[square] & ~open_sides
        every = [laid for laid in self.sheet.covering[square] if not laid & closed]
        fitting = tuple(tuple(laid for laid in every if laid & row) for row in self._rows)
        self._fitting[square][open_sides] = fitting
        return fitting


@lru_cache(maxsize=8)
def drawing_on(sheet: Sheet) -> Drawing:
    """The one that finds what may be drawn on a sheet; what it remembers is at most 16 lists a square."""
    return Drawing(sheet)


class _Player:
    """One sheet under way: each colour's squares, all squares, shapes not used yet, strikes."""

    __slots__ = ("colours", "every", "filled", "most_strikes", "standing", "strikes", "unused")

    def __init__(self, sheet: Sheet, start: FilledSheet) -> None:
        self.colours = list(start.colours)
        self.filled = start.filled
        self.every = (1 << len(sheet.shapes)) - 1
        self.unused = self.every & ~start.used
        self.strikes = start.strikes
        self.most_strikes = sheet.strikes
        self.standing = start.standing

    def plays(self, drawing: Drawing, colour: int, dice: list[int], rng: Random) -> bool:
        """Take a die and draw, all that is legal being equally likely; ``False`` and out when there is nothing."""
        rows = drawing.sheet.row_sets
        with_strike = self.strikes < self.most_strikes
        shapes = self.unused
        if not with_strike:
            within = 0
            for die in dice:
                within |= rows[die]
            shapes &= within
        ways = drawing.ways(self.colours[colour], self.filled, shapes)
        if not ways:
            self.standing = OUT
            return False
        laid = ways[int(rng.random() * len(ways))]
        shape = laid >> drawing.squares
        if with_strike:
            # With a strike left every different die goes with every way to draw.
            different = sorted(set(dice))
            die = different[int(rng.random() * len(different))]
            self.strikes += not rows[die] & shape
        else:
            die = next(die for die in dice if rows[die] & shape)
        dice.remove(die)
        squares = laid & drawing.sheet.grid.every
        self.colours[colour] |= squares
        self.filled |= squares
        self.unused &= ~shape
        return True

    def sheet(self) -> FilledSheet:
        """The sheet as the rules keep it."""
        red, blue, yellow, green = self.colours
        return FilledSheet((red, blue, yellow, green), self.every & ~self.unused, self.strikes, self.standing)


def played_out(state: BlokusState, count: int, rng: Random, most_plies: int) -> Tally:
    """Play ``count`` games from ``state``, every turn and roll drawn evenly; cut off after ``most_plies`` turns."""
    drawing = drawing_on(state.settings.sheet)
    wins: Counter[Player] = Counter()
    plies = draws = unfinished = 0
    for _ in range(count):
        played, final = play_one(state, drawing, rng, most_plies)
        plies += played
        outcome = outcome_of(final)
        if outcome is None:
            unfinished += 1
        elif outcome.winner is None:
            draws += 1
        else:
            wins[outcome.winner] += 1
    return Tally(count, plies, dict(wins), draws, unfinished)


def play_one(state: BlokusState, drawing: Drawing, rng: Random, most_plies: int) -> tuple[int, BlokusState]:
    """Play one game at random: how many turns were played, and how it ended.

    The state given is good for scores and outcome; where the game was cut off it is good for nothing else.
    """
    if state.seat is None:
        return 0, state
    sheet, count = state.settings.sheet, state.settings.players
    players = [_Player(sheet, filled) for filled in state.sheets]
    markers: Sequence[int] = state.markers
    starter, dice, waiting = state.starter, list(state.dice), state.still_to_play() if state.dice else []
    played = 0
    while played < most_plies:
        if not waiting:
            waiting = [seat for step in range(count) if players[seat := (starter + step) % count].standing == PLAYING]
            if not waiting:
                break
            starter = waiting[0]
            dice = [int(rng.random() * FACES) + 1 for _ in waiting]
        seat = waiting.pop(0)
        played += players[seat].plays(drawing, markers[seat], dice, rng)
        if not waiting:
            markers = [markers[place] for place in places_passed_from(state.settings, starter)]
            starter = (starter + 1) % count
    over = all(player.standing != PLAYING for player in players)
    sheets = tuple(player.sheet() for player in players)
    return played, replace(state, sheets=sheets, seat=None if over else state.seat)
