"""Positions inside a turn: a piece lifted, waiting where it can't rest, or a tower that has no cap yet."""

from __future__ import annotations

from engine.api import Unfinished
from engine.games.blockade.board import (
    COLOURS,
    LARGE,
    OWNED,
    PLACES,
    SIZES,
    SQUARES,
    UNREACHABLE,
    colour_of,
    distances,
    name_of,
    size_of,
)
from engine.games.blockade.moves import allocations
from engine.games.blockade.play.stacks import is_blockade, makes_tower, resting_fault, walls_against
from engine.games.blockade.state import BlockadeState, appearance_of
from engine.games.blockade.turns import TurnList, turns_of


def unfinished_positions(state: BlockadeState) -> list[Unfinished]:
    """Every piece of the player lifted, waiting where it can't rest, or on a tower that has no cap yet.

    A position that looks like the end of a legal turn is left out: once a turn is ended, the turn explains it.
    """
    if state.to_move is None or state.roll is None:
        return []
    before = appearance_of(state.stacks)
    listed = turns_of(state)
    positions = []
    for change, to_do in _part_way(state):
        appearance = {**before, **change}
        if not _ends_a_turn(listed, appearance):
            positions.append(Unfinished(appearance, tuple(change), to_do))
    return positions


def _ends_a_turn(listed: TurnList, appearance: dict[str, str]) -> bool:
    return next(listed.looking_like(appearance), None) is not None


def _part_way(state: BlockadeState) -> list[tuple[dict[str, str], str]]:
    assert state.to_move is not None
    assert state.roll is not None
    colours = OWNED[state.to_move]
    way = distances(walls_against(state.stacks, state.to_move))
    most = [max(allowed[which] for allowed in allocations(state.roll)) for which in (0, 1)]
    found = []
    for start, stack in enumerate(state.stacks):
        piece = stack[-1]
        if colour_of(piece) not in colours or size_of(piece) == LARGE:
            continue
        lifted = {PLACES[start]: name_of(stack[-2])}
        found.append((lifted, f"Put the {name_of(piece)} from {PLACES[start]} down."))
        points = most[colours.index(colour_of(piece))]
        for end in range(SQUARES):
            if end == start or way[start][end] > points or way[start][end] == UNREACHABLE:
                continue
            target = state.stacks[end]
            change = {**lifted, PLACES[end]: name_of(piece)}
            if resting_fault(piece, target) is not None:
                found.append((change, f"Move the {name_of(piece)} on from {PLACES[end]}: it can't rest there."))
            elif not is_blockade(target) and makes_tower((*target, piece), state.settings.tower) and state.supply:
                black = SIZES[state.supply[0]]
                found.append(
                    (change, f"Cap the {COLOURS[colour_of(piece)]} tower on {PLACES[end]} with a black {black}.")
                )
    return found
