"""Random games with the fast rules; turns are drawn uniformly without listing them.

Each block has a fixed set of proposals that contains each of its turns once, whatever else is on the board.
Proposals of all the player's blocks are drawn until one is legal, so all legal turns are equally likely
(rejection sampling, von Neumann 1951, "Various techniques used in connection with random digits"). About every other
proposal is legal, and that is quick to check.
"""

from __future__ import annotations

from functools import lru_cache, partial
from random import Random
from typing import NamedTuple

from engine.games.deblockle.board import PLAYERS, RAYS
from engine.games.deblockle.fast_rules import (
    BIT_OF_CODE,
    CROSS,
    DIAGONAL,
    END_OF_BIT,
    HOOPS,
    LEAVES,
    OFF,
    OPEN_TO_END,
    OVER,
    SLIDER,
    STOP,
    FastRules,
    Move,
    Position,
    X,
    draw_position,
    fast_rules_of,
    known_position,
    moved,
)
from engine.games.deblockle.state import DeblockleState
from engine.games.deblockle.turns import outcome_of
from engine.support.chance import Ending, tally
from engine.support.grid import members
from engine.support.lazy import OnDemand
from engine.values import Tally

_MOST_PROPOSALS = 48


class _Proposal(NamedTuple):
    """A turn that may be legal; it needs the squares ``must_be_open`` to be open.

    If ``bit`` is 0, that is enough. Otherwise the hoops must reach ``end`` from the square ``bit`` by an open way;
    or, if ``line`` isn't 0, it is a slide that ends on one of the squares ``end``, looked up in ``slides``
    by the blocks on ``line``; its end must be added to ``move``.
    """

    must_be_open: int
    bit: int
    end: int
    line: int
    slides: dict[int, int]
    move: Move


class TurnSampler:
    """Draws random turns."""

    def __init__(self, core: FastRules) -> None:
        self._core = core
        self._proposals = tuple(OnDemand(partial(self._make_proposals, player)) for player in range(len(PLAYERS)))

    def draw(self, position: Position, rng: Random) -> Move | None:
        """Draw a legal turn, all equally likely; ``None`` if there is none."""
        mover, golds, teals = position
        if mover == OVER:
            return None
        core = self._core
        if core.has_plain_hops:
            everything = 0
            proposals = self._proposals[mover]
            sets = []
            total = 0
            for code in teals if mover else golds:
                everything |= BIT_OF_CODE[code]
                of_block = proposals[code]
                sets.append((BIT_OF_CODE[code], of_block))
                total += len(of_block)
            for code in golds if mover else teals:
                everything |= BIT_OF_CODE[code]
            random, around = rng.random, core.adjacent_to
            for _ in range(_MOST_PROPOSALS if total else 0):
                number = int(random() * total)
                taken = everything
                for own_bit, of_block in sets:
                    if number < len(of_block):
                        taken ^= own_bit
                        break
                    number -= len(of_block)
                must_be_open, bit, end, line, slides, move = of_block[number]
                if must_be_open & taken:
                    continue
                if not bit:
                    return move
                if line:
                    ends = slides[taken & line] & end
                    if ends:
                        return move + END_OF_BIT[ends]
                elif around[around[around[bit] & ~taken] & ~taken] & end:
                    return move
        moves = core.moves(position)
        return moves[int(rng.random() * len(moves))] if moves else None

    def _make_proposals(self, player: int, code: int) -> tuple[_Proposal, ...]:
        core = self._core
        made: list[_Proposal] = []
        for bit, square, kind, base in core.rolls[player][code]:
            near = core.adjacent_to[bit]
            if kind == LEAVES:
                made.append(_Proposal(0, 0, 0, 0, {}, base + END_OF_BIT[1 << OFF]))
            elif kind == SLIDER:
                for side, ray in enumerate(RAYS[square]):
                    along = side % 2 == 0
                    passed = sum(1 << each for each in ray)
                    if ray:
                        line, slides = core.lines[square][along], core.slides[square][along]
                        made.append(_Proposal(bit, bit, passed, line, slides, base))
            else:
                at_once = {STOP: bit, CROSS: near, HOOPS: near, X: DIAGONAL[square]}[kind] & OPEN_TO_END
                for end in members(at_once):
                    made.append(_Proposal(bit | 1 << end, 0, 0, 0, {}, base + END_OF_BIT[1 << end]))
                far = core.adjacent_to[core.adjacent_to[near]] & OPEN_TO_END & ~near if kind == HOOPS else 0
                for end in members(far):
                    made.append(_Proposal(bit | 1 << end, bit, 1 << end, 0, {}, base + END_OF_BIT[1 << end]))
        return tuple(made)


@lru_cache(maxsize=16)
def turn_sampler_of(core: FastRules) -> TurnSampler:
    """Return the sampler for these rules, cached; it makes proposals on demand."""
    return TurnSampler(core)


def play_random_games(state: DeblockleState, count: int, rng: Random, *, most_plies: int = 10_000) -> Tally:
    """Play ``count`` games with uniformly random turns; a game is cut off after ``most_plies`` turns.

    If faces are hidden, each game starts from a possible position, all equally likely.
    """
    outcome = outcome_of(state)
    if outcome is not None:
        return tally([Ending.by(outcome, 0)] * count)
    core = fast_rules_of(state.options)
    sampler = turn_sampler_of(core)
    known = known_position(state)
    return tally(_play_game(core, sampler, known or draw_position(state, rng), rng, most_plies) for _ in range(count))


def _play_game(core: FastRules, sampler: TurnSampler, position: Position, rng: Random, most_plies: int) -> Ending:
    left = most_plies
    while left and position[1] and position[2]:
        move = sampler.draw(position, rng)
        if move is None:
            position = core.settle(position)
            if position[0] == OVER:
                break
        else:
            position = moved(position, move)
            left -= 1
    mover, golds, teals = core.settle(position)
    winner = None if golds and teals else PLAYERS[bool(golds)]
    return Ending(most_plies - left, winner, winner is not None or mover == OVER)
