"""A second implementation of Blockade's moves: a board changed in place, which plays random turns.

A random turn is built move by move: each step draws among ending the turn and all moves of the player's pieces that the
points allow, from one square where they may rest to another. Sets of squares are integers as in
``engine.support.grid``.
"""

from functools import lru_cache
from random import Random

from engine.games.blockade.state import (
    BLACK,
    CLEAR,
    GRID,
    LARGE,
    MEDIUM,
    MOST_POINTS,
    OWNED,
    PLAYERS,
    SHARED_AT_MOST,
    SMALL,
    TOWERS_TO_WIN,
    BlockadeState,
    Dice,
    colour_of,
    is_blockade,
    makes_tower,
    other,
    owner_of,
    piece_of,
    size_of,
    supply,
    towers_of,
)
from engine.values import Player


@lru_cache(maxsize=1 << 16)
def within(square: int, walls: int) -> tuple[int, ...]:
    """Return, by number of steps, the squares at most that many steps away, without walls."""
    reached = 1 << square
    rings = [reached]
    for _ in range(MOST_POINTS):
        reached |= GRID.around(reached) & ~walls
        rings.append(reached)
    return tuple(rings)


class MutableBoard:
    """A mutable position: its stacks, and the sets of squares that every draw needs.

    ``tops[piece]`` is the set of squares with that movable piece on top; ``rests[piece]`` is where it may rest.
    """

    __slots__ = ("black", "rests", "stacks", "tops", "tower", "towers", "walls")

    def __init__(self, state: BlockadeState) -> None:
        self.tower = state.options.tower
        self.stacks = [list(stack) for stack in state.stacks]
        self.black = list(reversed(supply(state.stacks)))
        self.tops = [0] * (BLACK * 4)
        self.rests = [0] * (BLACK * 4)
        self.towers = [0] * BLACK
        self.walls = dict.fromkeys(PLAYERS, 0)
        for square, stack in enumerate(state.stacks):
            colour = colour_of(stack[0])
            if is_blockade(stack):
                self.towers[colour] += 1
                self._wall(square, colour)
            elif makes_tower(stack, state.options.tower):
                self.towers[colour] += 1
            self._show(square)

    def _wall(self, square: int, colour: int) -> None:
        owner = owner_of(colour)
        assert owner is not None
        self.walls[other(owner)] |= 1 << square

    def _show(self, square: int) -> None:
        """Add a square to ``tops`` and ``rests`` according to its top piece; ``_hide`` must have removed it before."""
        stack = self.stacks[square]
        top = stack[-1]
        colour, size = colour_of(top), size_of(top)
        bit = 1 << square
        if colour == CLEAR:
            for each in range(CLEAR):
                self.rests[piece_of(each, SMALL)] |= bit
                self.rests[piece_of(each, MEDIUM)] |= bit
            return
        if colour == BLACK:
            colour, size = colour_of(stack[0]), size - 1
        elif size != LARGE:
            self.tops[top] |= bit
        if size >= SMALL:
            self.rests[piece_of(colour, SMALL)] |= bit
        if size >= MEDIUM:
            self.rests[piece_of(colour, MEDIUM)] |= bit

    def _hide(self, square: int) -> None:
        """Remove a square from ``tops`` and ``rests``."""
        mask = ~(1 << square)
        stack = self.stacks[square]
        top = stack[-1]
        colour = colour_of(top)
        if colour == CLEAR:
            for each in range(CLEAR):
                self.rests[each * 4 + SMALL] &= mask
                self.rests[each * 4 + MEDIUM] &= mask
            return
        if colour == BLACK:
            colour = colour_of(stack[0])
        elif size_of(top) != LARGE:
            self.tops[top] &= mask
        self.rests[colour * 4 + SMALL] &= mask
        self.rests[colour * 4 + MEDIUM] &= mask

    def move(self, start: int, end: int) -> bool:
        """Move the top piece and cap the tower it makes; return whether that is the colour's fifth."""
        self._hide(start)
        self._hide(end)
        source, target = self.stacks[start], self.stacks[end]
        piece = source.pop()
        target.append(piece)
        won = False
        colour = piece >> 2
        if not self.black:
            # Towers without a cap can be taken apart again.
            self.towers[colour] = len(towers_of(tuple(map(tuple, self.stacks)), colour, self.tower))
            won = self.towers[colour] >= TOWERS_TO_WIN
        elif size_of(piece) == SMALL and makes_tower(tuple(target), self.tower):
            self.towers[colour] += 1
            won = self.towers[colour] >= TOWERS_TO_WIN
            target.append(piece_of(BLACK, self.black.pop()))
            self._wall(end, colour)
        self._show(start)
        self._show(end)
        return won

    def random_turn(self, player: Player, dice: Dice, rng: Random) -> tuple[bool, bool]:
        """Play a random turn with these dice; return whether anything moved, and whether the player has won."""
        random = rng.random
        first, second = OWNED[player]
        points = list(dice)
        if points[0] <= SHARED_AT_MOST and points[1] <= SHARED_AT_MOST:
            shared = int(random() * 3)
            if shared:
                points = [sum(points), 0] if shared == 1 else [0, sum(points)]
        walls = self.walls[player]
        moved = False
        while True:
            ways = []
            total = 1
            for which, colour in ((0, first), (1, second)):
                left = points[which]
                if not left:
                    continue
                for piece in (colour * 4 + SMALL, colour * 4 + MEDIUM):
                    tops, rests = self.tops[piece], self.rests[piece]
                    while tops:
                        bit = tops & -tops
                        tops ^= bit
                        ends = within(bit.bit_length() - 1, walls)[left] & rests & ~bit
                        if ends:
                            total += ends.bit_count()
                            ways.append((total, bit, ends, which))
            drawn = int(random() * total)
            if not drawn:
                return moved, False
            for upto, bit, ends, which in ways:
                if drawn < upto:
                    for _ in range(upto - drawn - 1):
                        ends &= ends - 1
                    start = bit.bit_length() - 1
                    end = ends & -ends
                    steps = 1
                    rings = within(start, walls)
                    while not rings[steps] & end:
                        steps += 1
                    points[which] -= steps
                    moved = True
                    if self.move(start, end.bit_length() - 1):
                        return True, True
                    break
