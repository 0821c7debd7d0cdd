"""Fast random games, with every sheet as a few integers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random

from engine.games.blokus_dice.sheet import FACES, Sheet
from engine.games.blokus_dice.state import BlokusState, FilledSheet, PlayerStatus, places_passed_from
from engine.games.blokus_dice.turns import PlacementFinder, finder_of, outcome_of
from engine.support.chance import Ending, tally
from engine.support.grid import union
from engine.values import Tally


class _MutableSheet:
    """One mutable sheet: each colour's squares, all filled squares, the unused shapes, and the strikes."""

    __slots__ = ("colours", "every", "filled", "most_strikes", "status", "strikes", "unused")

    def __init__(self, sheet: Sheet, start: FilledSheet) -> None:
        self.colours = list(start.colours)
        self.filled = start.filled
        self.every = (1 << len(sheet.shapes)) - 1
        self.unused = self.every & ~start.used
        self.strikes = start.strikes
        self.most_strikes = sheet.strikes
        self.status = start.status

    def play_random_turn(self, finder: PlacementFinder, colour: int, dice: list[int], rng: Random) -> bool:
        """Play a random legal turn, all equally likely; return ``False`` and go out if there is none."""
        rows = finder.sheet.row_sets
        with_strike = self.strikes < self.most_strikes
        shapes = self.unused
        if not with_strike:
            shapes &= union(rows[die] for die in dice)
        ways = finder.placements(self.colours[colour], self.filled, shapes)
        if not ways:
            self.status = PlayerStatus.OUT
            return False
        placement = ways[int(rng.random() * len(ways))]
        shape = placement >> finder.squares
        if with_strike:
            # With a strike left, every different die goes with every placement.
            different = sorted(set(dice))
            die = different[int(rng.random() * len(different))]
            self.strikes += not rows[die] & shape
        else:
            die = next(die for die in dice if rows[die] & shape)
        dice.remove(die)
        squares = placement & finder.sheet.grid.every
        self.colours[colour] |= squares
        self.filled |= squares
        self.unused &= ~shape
        return True

    def sheet(self) -> FilledSheet:
        """Return the sheet as a value of the rules."""
        return FilledSheet(tuple(self.colours), self.every & ~self.unused, self.strikes, self.status)


def play_random_games(state: BlokusState, count: int, rng: Random, *, most_plies: int = 10_000) -> Tally:
    """Play ``count`` games from ``state`` with uniformly random turns and rolls, each up to ``most_plies`` turns."""
    finder = finder_of(state.options.sheet)
    games = (play_random_game(state, finder, rng, most_plies) for _ in range(count))
    return tally(Ending.by(outcome_of(final), played) for played, final in games)


def play_random_game(
    state: BlokusState, finder: PlacementFinder, rng: Random, most_plies: int
) -> tuple[int, BlokusState]:
    """Play one random game; return the number of turns and the final state.

    The state has valid scores and a valid outcome. If the game was cut off, its other fields are not meaningful.
    """
    if state.seat is None:
        return 0, state
    sheet, count = state.options.sheet, state.options.players
    players = [_MutableSheet(sheet, filled) for filled in state.sheets]
    markers: Sequence[int] = state.markers
    starter, dice, waiting = state.starter, list(state.dice), state.still_to_play() if state.dice else []
    played = 0
    while played < most_plies:
        if not waiting:
            waiting = [
                seat
                for step in range(count)
                if players[seat := (starter + step) % count].status == PlayerStatus.PLAYING
            ]
            if not waiting:
                break
            starter = waiting[0]
            dice = [int(rng.random() * FACES) + 1 for _ in waiting]
        seat = waiting.pop(0)
        played += players[seat].play_random_turn(finder, markers[seat], dice, rng)
        if not waiting:
            markers = [markers[place] for place in places_passed_from(state.options, starter)]
            starter = (starter + 1) % count
    over = all(player.status != PlayerStatus.PLAYING for player in players)
    sheets = tuple(player.sheet() for player in players)
    return played, replace(state, sheets=sheets, seat=None if over else state.seat)
