"""A faster form of the rules for counting, random play and search, using integers and tables instead of objects.

Every face must be known; if some are hidden, draw a possible position first (`draw_position`). A *code* is a block's
square and orientation in one integer, ``square * 24 + orientation``; square 49 (`OFF`) means that it has left the
board. A *move* is a turn: the code before it, shifted by 11 bits, and the code after it. A *position* is who is to move
(0 gold, 1 teal, `OVER` if neither can) and the codes of each player's blocks, in rising order.

The tables are computed with the rules in ``turns``; tests also compare the two.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import replace
from random import Random

from engine.games.deblockle.board import GOAL, PLACES, PLAYERS, RAYS, SQUARES, STARS, adjacent_to, diagonal_to
from engine.games.deblockle.state import MOST_BLOCKS, Block, DeblockleOptions, DeblockleState, DeblockleTurn
from engine.games.deblockle.turns import Ground, slide_ends
from engine.support.grid import members
from engine.support.lazy import OnDemand

ORIENTATIONS = 24
OFF = SQUARES
"""The square of a block that has left the board."""
OVER = 2
"""Stands for the player to move when neither can."""

Position = tuple[int, tuple[int, ...], tuple[int, ...]]
Move = int

BEFORE_SHIFT = 11
AFTER_MASK = (1 << BEFORE_SHIFT) - 1
_GONE = OFF * ORIENTATIONS
STOP, CROSS, X, SLIDER, HOOPS, LEAVES = range(6)
_KINDS = {"stop": STOP, "cross": CROSS, "x": X, "slider": SLIDER, "hoops": HOOPS}
FastRoll = tuple[int, int, int, int]
"""A roll that is legal on an empty board: the bit of the square rolled to, that square's index, the kind of hop, and a
base: the code before the roll, shifted as in a move, plus the orientation after it. The base plus 24 times the end
square is the move."""


class FastRules:
    """The rules under one set of options."""

    def __init__(self, options: DeblockleOptions) -> None:
        self._side_by_side = options.side_by_side
        self._forfeited = options.hop_forfeited_when_stuck
        self.rolls = tuple(
            tuple(_rolls_of(options, player, code) for code in range(SQUARES * ORIENTATIONS)) for player in PLAYERS
        )
        """``rolls[player][code]``: the rolls of a block that are legal on an empty board."""
        self.adjacent_to = OnDemand(adjacent_to)
        self.lines = tuple(_lines_through(square) for square in range(SQUARES))
        self.slides = tuple(
            tuple(OnDemand(_slide_table(square, line, options)) for line in self.lines[square])
            for square in range(SQUARES)
        )

    def leaving(self, player: int, code: int) -> Move | None:
        """Return the move that takes a block off the board from here on an otherwise empty board, or ``None``."""
        rolls = self.rolls[player][code]
        return rolls[0][3] + _GONE if rolls and rolls[0][2] == LEAVES else None

    def groups(self, position: Position) -> Iterator[tuple[Move, int]]:
        """Yield every legal roll: its base (see `FastRoll`), and the set of squares where the turn may end."""
        mover, golds, teals = position
        if mover == OVER:
            return
        own_codes, foe_codes = (teals, golds) if mover else (golds, teals)
        own = foes = 0
        for code in own_codes:
            own |= BIT_OF_CODE[code]
        for code in foe_codes:
            foes |= BIT_OF_CODE[code]
        rolls = self.rolls[mover]
        around = self.adjacent_to
        side_by_side = self._side_by_side
        allowed = OPEN_TO_END if side_by_side else OPEN_TO_END & ~adjacent_to(foes)
        for code in own_codes:
            others = own ^ BIT_OF_CODE[code]
            if not side_by_side and others and adjacent_to(foes) & others:
                continue
            taken = others | foes
            free = ~taken
            for bit, square, kind, base in rolls[code]:
                if taken & bit:
                    continue
                if kind == HOOPS:
                    ends = around[around[around[bit] & free] & free] & free & allowed
                elif kind == CROSS:
                    ends = around[bit] & free & allowed
                elif kind == X:
                    ends = DIAGONAL[square] & free & allowed
                elif kind == SLIDER:
                    across, along = self.lines[square]
                    slides_across, slides_along = self.slides[square]
                    ground = taken if side_by_side else others | foes << SQUARES
                    ends = (slides_across[ground & across] | slides_along[ground & along]) & allowed
                elif kind == STOP:
                    ends = bit & allowed
                else:
                    yield base, 1 << OFF
                    continue
                if ends:
                    yield base, ends
                elif self._forfeited and bit & allowed:
                    yield base, bit

    def count(self, position: Position) -> int:
        """Return the number of legal turns."""
        return sum(ends.bit_count() for _, ends in self.groups(position))

    def moves(self, position: Position) -> list[Move]:
        """Return every legal turn, in a fixed order."""
        found = []
        for base, ends in self.groups(position):
            while ends:
                lowest = ends & -ends
                found.append(base + END_OF_BIT[lowest])
                ends ^= lowest
        return found

    def play(self, position: Position, move: Move) -> Position:
        """Return the position after a legal turn; a player who can't move is skipped."""
        return self.settle(moved(position, move))

    def settle(self, position: Position) -> Position:
        """Return the position with a blocked player skipped."""
        mover, golds, teals = position
        if mover == OVER or not golds or not teals or next(self.groups(position), None) is not None:
            return position
        skipped = (1 - mover, golds, teals)
        return (OVER, golds, teals) if next(self.groups(skipped), None) is None else skipped


def moved(position: Position, move: Move) -> Position:
    """Return the position after a legal turn with the other player to move, even if that player is blocked."""
    mover, golds, teals = position
    before, after = move >> BEFORE_SHIFT, move & AFTER_MASK
    codes = [code for code in (teals if mover else golds) if code != before]
    if after < _GONE:
        codes.append(after)
        codes.sort()
    own = tuple(codes)
    return (0, golds, own) if mover else (1, own, teals)


def fast_rules_of(options: DeblockleOptions) -> FastRules:
    """Return the fast rules for these options; the result is cached."""
    return _fast_rules(
        # Options that don't affect the tables get fixed values, so that all their settings share one cache entry.
        replace(options, blocks_gold=MOST_BLOCKS, blocks_teal=MOST_BLOCKS, starts=PLAYERS[0], repetition_draw=False)
    )


_fast_rules = functools.lru_cache(maxsize=16)(FastRules)


def position_of(state: DeblockleState, orientation: Callable[[Block], int]) -> Position:
    """Return the state as a position; ``orientation`` chooses one of the possible orientations of each block."""
    sides: tuple[list[int], list[int]] = ([], [])
    for block in state.blocks:
        sides[PLAYERS.index(block.owner)].append(block.square * ORIENTATIONS + orientation(block))
    mover = OVER if state.to_move is None else PLAYERS.index(state.to_move)
    return mover, tuple(sides[0]), tuple(sides[1])


def known_position(state: DeblockleState) -> Position | None:
    """Return the state as a position, or ``None`` while some face is hidden."""
    if any(block.mask & (block.mask - 1) for block in state.blocks):
        return None
    return position_of(state, lambda block: block.mask.bit_length() - 1)


def draw_position(state: DeblockleState, rng: Random) -> Position:
    """Draw one of the state's possible positions, all equally likely; a blocked player is not skipped."""
    return position_of(state, lambda block: rng.choice(list(members(block.mask))))


def codes_of(move: Move) -> tuple[int, int]:
    """Return the moved block's code before the turn and after it."""
    return move >> BEFORE_SHIFT, move & AFTER_MASK


def turn_of(options: DeblockleOptions, player: str, move: Move) -> DeblockleTurn:
    """Return the turn that corresponds to a move of the player."""
    (square, before), (end, after) = (divmod(code, ORIENTATIONS) for code in codes_of(move))
    rolls = enumerate(options.cube.rolls(1 << before))
    side, top = next((side, top) for side, ((top, _, result),) in rolls if result == 1 << after)
    rolled_to = PLACES[RAYS[square][side][0]]
    return DeblockleTurn(player, PLACES[square], (rolled_to,), top, None if end == OFF else PLACES[end])


def _rolls_of(options: DeblockleOptions, player: str, code: int) -> tuple[FastRoll, ...]:
    square, orientation = divmod(code, ORIENTATIONS)
    rolls: list[FastRoll] = []
    for side, ((top, _, after),) in enumerate(options.cube.rolls(1 << orientation)):
        if not RAYS[square][side]:
            continue
        target = RAYS[square][side][0]
        onto_star = STARS >> target & 1
        if (onto_star and (top != "star" or target != GOAL[player])) or (top == "star" and not onto_star):
            continue
        kind = LEAVES if onto_star else _KINDS[top]
        rolls.append((1 << target, target, kind, (code << BEFORE_SHIFT) + after.bit_length() - 1))
    # A roll that leaves the board comes first.
    return tuple(sorted(rolls, key=lambda roll: roll[2] != LEAVES))


def _lines_through(square: int) -> tuple[int, int]:
    """Return the other squares in the row and in the column, each mask doubled for own and opposing blocks."""
    north, east, south, west = (sum(1 << passed for passed in ray) for ray in RAYS[square])
    return (east | west) * (1 | 1 << SQUARES), (north | south) * (1 | 1 << SQUARES)


def _slide_table(square: int, line: int, options: DeblockleOptions) -> Callable[[int], int]:
    only = line & _BOARD

    def ends(ground: int) -> int:
        return slide_ends(square, Ground(ground & _BOARD, ground >> SQUARES), options) & only

    return ends


_BOARD = (1 << SQUARES) - 1
OPEN_TO_END = _BOARD & ~STARS
BIT_OF_CODE = tuple(1 << code // ORIENTATIONS for code in range(SQUARES * ORIENTATIONS))
DIAGONAL = tuple(diagonal_to(1 << square) for square in range(SQUARES))
END_OF_BIT = {1 << square: square * ORIENTATIONS for square in range(SQUARES + 1)}
