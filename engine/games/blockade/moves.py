"""Plays a turn move by move, and collects the rules that it breaks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from engine.games.blockade import violations
from engine.games.blockade.board import (
    BLACK,
    CLEAR,
    LARGE,
    OWNED,
    PLACES,
    SHARED_AT_MOST,
    UNREACHABLE,
    BlockadeOptions,
    Path,
    Stack,
    Stacks,
    colour_of,
    distances,
    first_fault,
    is_blockade,
    makes_tower,
    owner_of,
    piece_of,
    size_of,
    supply,
    walls_against,
    winning_colours,
)
from engine.games.blockade.state import BlockadeState, Dice
from engine.support.grid import members
from engine.values import Breach, Player


def allocations(dice: Dice) -> tuple[Dice, ...]:
    """Return the ways to share a roll's points, each as the most points that either colour may use."""
    first, second = dice
    if max(dice) > SHARED_AT_MOST:
        return (dice,)
    return dice, (first + second, 0), (0, first + second)


_STRAIGHT = distances(0)
"""The distances without any blockades."""


def _steps(distance: Sequence[bytes], path: Path) -> int:
    return sum(distance[here][there] for here, there in pairwise(path))


def _covers(dice: Dice, used: Dice) -> bool:
    """Return whether the dice give each colour these points."""
    return any(used[0] <= first and used[1] <= second for first, second in allocations(dice))


@dataclass(frozen=True, slots=True)
class Played:
    """What a turn leads to: the stacks, the points each colour used, and the rules it breaks, in order."""

    stacks: Stacks
    used: Dice
    breaches: tuple[Breach, ...]


def merge_moves(paths: Sequence[Path]) -> tuple[Path, ...]:
    """Merge consecutive moves of one piece: a move that starts where the last one ended extends it."""
    whole: list[Path] = []
    for path in paths:
        if whole and whole[-1][-1] == path[0]:
            whole[-1] = whole[-1] + path[1:]
        else:
            whole.append(path)
    return tuple(whole)


def play(state: BlockadeState, player: Player, dice: Dice | None, paths: Sequence[Path]) -> Played:
    """Play the moves in order; if ``dice`` is ``None``, points are not checked.

    A move that is impossible is recorded as a breach and skipped.
    """
    return _TurnPlayer(state, player, dice).play_moves(merge_moves(paths))


class _TurnPlayer:
    def __init__(self, state: BlockadeState, player: Player, dice: Dice | None) -> None:
        self.options: BlockadeOptions = state.options
        self.player = player
        self.dice = dice
        self.stacks: list[Stack] = list(state.stacks)
        self.walls = walls_against(state.stacks, player)
        self.distance = distances(self.walls)
        self.used = [0, 0]
        self.saved_over_blockades = [0, 0]
        self.detours: list[tuple[int, Path]] = []
        self.made: list[Path] = []
        self.breaches: list[Breach] = []
        self.won = False

    def play_moves(self, paths: Sequence[Path]) -> Played:
        for path in paths:
            if self.won:
                self.breaches.append(violations.after_the_win(path))
                break
            self._move(path)
        self._check_resting(range(len(self.stacks)))
        used, dice = (self.used[0], self.used[1]), self.dice
        if dice is not None and not _covers(dice, used):
            straight = (used[0] - self.saved_over_blockades[0], used[1] - self.saved_over_blockades[1])
            if _covers(dice, straight):
                self.breaches += [self._breach_of_detour(piece, path) for piece, path in self.detours]
            else:
                self.breaches.append(violations.points(self.player, dice, allocations(dice), used, self.made))
        return Played(tuple(self.stacks), used, tuple(dict.fromkeys(self.breaches)))

    def _move(self, path: Path) -> None:
        start, end = path[0], path[-1]
        piece = self.stacks[start][-1]
        wrong = self._breach_of_piece(piece, path)
        if wrong is not None:
            self.breaches.append(wrong)
            return
        colour = OWNED[self.player].index(colour_of(piece))
        blocked = next((there for here, there in pairwise(path) if self.distance[here][there] == UNREACHABLE), None)
        if blocked is not None:
            has_way_round = start != end and self._affords(colour, self.distance[start][end])
            breach = violations.over_blockade(piece, path, blocked, self.walls, has_way_round=has_way_round)
            self.breaches.append(breach)
            return
        steps, straight = _steps(self.distance, path), _steps(_STRAIGHT, path)
        self.used[colour] += steps
        self.saved_over_blockades[colour] += steps - straight
        if steps > straight:
            self.detours.append((piece, path))
        self.made.append(path)
        self.stacks[start] = self.stacks[start][:-1]
        self.stacks[end] = (*self.stacks[end], piece)
        if start != end:
            self._cap_new_tower(end)
        if self.options.strict:
            self._check_resting((end,))

    def _affords(self, colour: int, steps: int) -> bool:
        """Return whether a piece of the colour (0 or 1) can go these steps after the moves so far."""
        used = [*self.used]
        used[colour] += steps
        return steps != UNREACHABLE and (self.dice is None or _covers(self.dice, (used[0], used[1])))

    def _breach_of_detour(self, piece: int, path: Path) -> Breach:
        """Return the breach of a move that is shorter over blockades than round them."""
        blockades = [
            PLACES[wall]
            for wall in members(self.walls)
            if any(_steps(_STRAIGHT, (here, wall, there)) == _STRAIGHT[here][there] for here, there in pairwise(path))
        ]
        straight, steps = _steps(_STRAIGHT, path), _steps(self.distance, path)
        return violations.too_far_round(piece, path, blockades, straight, steps)

    def _breach_of_piece(self, piece: int, path: Path) -> Breach | None:
        colour = colour_of(piece)
        if colour == BLACK:
            return violations.black_moved(path)
        if colour == CLEAR or size_of(piece) == LARGE:
            return violations.large_moved(piece, path)
        if owner_of(colour) != self.player:
            return violations.opponent_moved(self.player, piece, path)
        return None

    def _cap_new_tower(self, square: int) -> None:
        stack = self.stacks[square]
        if is_blockade(stack) or not makes_tower(stack, self.options.tower):
            return
        left = supply(self.stacks)
        if left:
            self.stacks[square] = (*stack, piece_of(BLACK, left[0]))
        self.won = colour_of(stack[0]) in winning_colours(tuple(self.stacks), self.options.tower)

    def _check_resting(self, squares: Sequence[int]) -> None:
        for square in squares:
            fault = first_fault(self.stacks[square])
            if fault is not None:
                height, rule = fault
                self.breaches.append(violations.rested(rule, self.stacks[square], height, square))
