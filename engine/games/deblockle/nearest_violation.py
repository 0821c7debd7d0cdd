"""Explains an illegal move of one block by the smallest violation that leads to it.

Only one roll brings a given side up, so the top symbol shows which way the block was rolled; either that roll or the
hop after it was illegal. While faces are hidden several rolls are possible, and the one with the smallest violation is
chosen.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from enum import IntEnum, auto
from typing import NamedTuple

from common.phrases import listed
from engine.games.deblockle.board import (
    GOAL,
    GRID,
    HOME_STAR,
    PLACES,
    RAYS,
    SIDES,
    STARS,
    TOWARDS,
    adjacent_to,
    other,
)
from engine.games.deblockle.changes import Moved
from engine.games.deblockle.state import Block, DeblockleState
from engine.games.deblockle.turns import Ground, ends_of, ground_for, slide_ends
from engine.support.grid import members
from engine.values import Breach

_HOP_RULES = {
    "cross": ("cross-one-orthogonal", "hops one square straight"),
    "x": ("x-one-diagonal", "hops one square diagonally"),
    "slider": ("slider-to-the-end", "slides straight on until something stops it"),
    "hoops": ("hoops-three-steps", "takes exactly three straight steps over open squares"),
}
MOST_NAMED = 6
"""The most squares that a remedy names as possible ends of a hop."""


class Distance(IntEnum):
    """How far a move is from a legal turn, in rising order."""

    AS_MOVED = auto()
    """The roll and hop are good; only a variant forbids the end, or the block must still be taken off."""
    AFTER_ROLL = auto()
    """The block stands where it rolled, or stopped on a star."""
    TWO_SQUARES = auto()
    WRONG_HOP = auto()
    FORBIDDEN_ROLL = auto()
    """The block moved on from a square that it may not roll to."""
    DIAGONAL = auto()
    THROUGH_BLOCK = auto()
    OVER_EDGE = auto()
    IMPOSSIBLE = auto()


class Explanation(NamedTuple):
    """One possible explanation of a move: its distance from a legal turn, and its breaches."""

    distance: Distance
    breaches: tuple[Breach, ...]


def put_back(state: DeblockleState, square: int) -> str:
    """Return the instruction to restore the block that stood on a square, including its known sides."""
    block = state.by_square()[square]
    cube = state.options.cube
    facings = cube.facings(block.mask)
    side = f" and {facings[0][SIDES[0]]} facing {TOWARDS[SIDES[0]]}" if len(facings) == 1 else ""
    return f"Put the {block.owner} block back on {PLACES[square]} with {cube.top(block.mask)} up{side}."


def turn_back(state: DeblockleState, square: int) -> str:
    """Return the instruction to restore the sides of a block that was turned in place."""
    block = state.by_square()[square]
    cube = state.options.cube
    facings = cube.facings(block.mask)
    how = f"until {facings[0][SIDES[0]]} faces {TOWARDS[SIDES[0]]}" if len(facings) == 1 else "as it stood"
    return f"Turn the {block.owner} block on {PLACES[square]} {how}, {cube.top(block.mask)} still up."


def breaches_of_move(before: DeblockleState, move: Moved, facing: Mapping[str, str]) -> list[Breach]:
    """List the breaches of a move that no legal turn explains, of either player's block with side faces ``facing``."""
    block = before.by_square()[move.start]
    wording = _MoveWording(before, block, move)
    if move.start == move.end:
        sentence = (
            f"The {move.owner} block on {wording.start} shows {move.top_after} instead of {move.top_before}, "
            "and didn't move."
        )
        return [wording.breach("top-changed-in-place", sentence)]
    if move.landed_on:
        return _landed_on_block(before, wording)
    found: list[Breach] = []
    if move.top_after == move.top_before:
        sentence = (
            f"The {move.owner} block went from {wording.start} to {wording.end} without a roll: "
            f"{move.top_before} is still up."
        )
        found.append(wording.breach("no-roll", sentence))
        if STARS >> move.end & 1:
            found.append(wording.landed_on_star())
        return found
    return list(_nearest_explanation(before, block, wording, facing).breaches)


def breaches_of_roll(before: DeblockleState, block: Block, move: Moved, side: int) -> Explanation:
    """Explain a move that no legal turn explains and that began with a roll to ``side`` (an index of SIDES)."""
    return _explanation(before, block, _MoveWording(before, block, move), side)


def breach_of_wrong_goal(before: DeblockleState, square: int) -> Breach | None:
    """Return the breach of a block that left by the wrong star, or ``None`` if that is impossible."""
    block = before.by_square()[square]
    home = HOME_STAR[block.owner]
    for side, results in enumerate(before.options.cube.rolls(block.mask)):
        if RAYS[square][side][:1] == (home,) and any(top == "star" for top, _, _ in results):
            sentence = (
                f"The {block.owner} block from {PLACES[square]} left by {PLACES[home]}, its own star; "
                f"its goal is {PLACES[GOAL[block.owner]]}."
            )
            return Breach("wrong-goal", sentence, put_back(before, square), (PLACES[square], PLACES[home]))
    return None


class _MoveWording:
    """Words for the breaches of one move: its block, its squares, and how to correct it."""

    def __init__(self, before: DeblockleState, block: Block, move: Moved) -> None:
        self.move = move
        self.start, self.end = PLACES[move.start], PLACES[move.end]
        self.back = put_back(before, block.square)

    def breach(
        self, rule: str, sentence: str, *, remedy: str = "", instead: str = "", also: tuple[str, ...] = ()
    ) -> Breach:
        places = tuple(dict.fromkeys((self.start, *also, self.end)))
        if instead:
            remedy = f"{instead} Or start again: {self.back[:1].lower()}{self.back[1:]}"
        return Breach(rule, sentence, remedy or self.back, places, instead=instead)

    def landed_on_star(self) -> Breach:
        return self.breach("landed-on-star", f"The {self.move.owner} block stopped on {self.end}, a star square.")

    def explanation(
        self,
        distance: Distance,
        rule: str,
        sentence: str,
        *,
        remedy: str = "",
        instead: str = "",
        also: tuple[str, ...] = (),
    ) -> Explanation:
        """Explain the move by a single breach."""
        return Explanation(distance, (self.breach(rule, sentence, remedy=remedy, instead=instead, also=also),))


def _landed_on_block(before: DeblockleState, wording: _MoveWording) -> list[Breach]:
    move = wording.move
    owner = move.landed_on[0] if move.landed_on else other(move.owner)
    sentence = f"The {move.owner} block went from {wording.start} to {wording.end}, where a {owner} block stood."
    found = [wording.breach("landed-on-block", sentence, remedy=f"{wording.back} {put_back(before, move.end)}")]
    if move.top_after == move.top_before:
        sentence = f"The {move.owner} block from {wording.start} didn't roll: {move.top_before} is still up."
        found.append(wording.breach("no-roll", sentence))
    return found


def _nearest_explanation(
    before: DeblockleState, block: Block, wording: _MoveWording, facing: Mapping[str, str]
) -> Explanation:
    cube = before.options.cube
    move = wording.move
    sides = []
    for side, results in enumerate(cube.rolls(block.mask)):
        sides += [(side, after) for top, _, after in results if top == move.top_after]
    agreeing = [side for side, after in sides if cube.agreeing(after, facing)]
    candidates = agreeing or [side for side, _ in sides]
    explanations = [_explanation(before, block, wording, side) for side in candidates]
    apart = GRID.apart(move.start, move.end)
    if apart == (1, 1):
        sentence = f"The {move.owner} block went diagonally from {wording.start} to {wording.end}."
        diagonal = wording.breach("rolled-diagonally", sentence)
        on_star = (wording.landed_on_star(),) if STARS >> move.end & 1 else ()
        explanations.append(Explanation(Distance.DIAGONAL, (diagonal, *on_star)))
    if not candidates and apart in {(0, 2), (2, 0)}:
        sentence = f"The {move.owner} block rolled two squares, from {wording.start} to {wording.end}."
        explanations.append(wording.explanation(Distance.TWO_SQUARES, "rolled-too-far", sentence))
    sentence = f"After one roll from {wording.start} the {move.owner} block can't show {move.top_after}."
    explanations.append(wording.explanation(Distance.IMPOSSIBLE, "symbol-not-possible", sentence))
    return min(explanations, key=lambda one: one.distance)


def _explanation(before: DeblockleState, block: Block, wording: _MoveWording, side: int) -> Explanation:
    """Explain the move if the block was first rolled towards ``side``."""
    move = wording.move
    ground = ground_for(before, block)
    ray = RAYS[move.start][side]
    what = f"The {move.owner} block"
    if not ray:
        sentence = (
            f"{what} shows {move.top_after} only after a roll {TOWARDS[SIDES[side]]}, "
            f"and {wording.start} is at that edge."
        )
        return wording.explanation(Distance.OVER_EDGE, "roll-blocked", sentence)
    target = ray[0]
    place = PLACES[target]
    if ground.taken >> target & 1:
        sentence = (
            f"{what} can't roll from {wording.start} to {place}, where a block stands."
            if move.end == target
            else f"{what} shows {move.top_after} only after a roll onto {place}, where a block stands."
        )
        return wording.explanation(Distance.THROUGH_BLOCK, "roll-blocked", sentence, also=(place,))
    if STARS >> target & 1 and not (move.top_after == "star" and move.end != target):
        return _onto_star(wording, target)
    if move.top_after == "star":
        distance = Distance.AFTER_ROLL if move.end == target else Distance.WRONG_HOP
        sentence = f"{what} from {wording.start} has the star up, but not on its goal {PLACES[GOAL[move.owner]]}."
        return wording.explanation(distance, "star-rolled-up", sentence)
    return _bad_hop(before, wording, target, ground)


def _onto_star(wording: _MoveWording, target: int) -> Explanation:
    move = wording.move
    place = PLACES[target]
    if move.end == target and move.top_after == "star" and target == GOAL[move.owner]:
        sentence = f"The {move.owner} block reached its goal {place} with the star up, and still stands there."
        remedy = f"Take the {move.owner} block off {place}: it has arrived."
        return wording.explanation(Distance.AS_MOVED, "not-removed", sentence, remedy=remedy)
    if move.end == target and move.top_after == "star":
        goal = PLACES[GOAL[move.owner]]
        sentence = f"{place} is {move.owner}'s own star; its blocks leave on {goal}."
        return wording.explanation(Distance.AFTER_ROLL, "wrong-goal", sentence)
    distance = Distance.AFTER_ROLL if move.end == target else Distance.FORBIDDEN_ROLL
    sentence = f"The {move.owner} block rolled from {wording.start} onto the star square {place}, {move.top_after} up."
    return wording.explanation(distance, "rolled-onto-star", sentence, also=(place,))


def _bad_hop(before: DeblockleState, wording: _MoveWording, target: int, ground: Ground) -> Explanation:
    """Explain what was wrong after a legal roll to ``target``."""
    move, options = wording.move, before.options
    place, symbol, end = PLACES[target], move.top_after, move.end
    base = ends_of(symbol, target, ground, replace(options, side_by_side=True))
    may = ends_of(symbol, target, ground, options)
    is_beside = not options.side_by_side and adjacent_to(ground.own) & ground.foes
    instead = "" if is_beside else _how_to_finish(wording, target, may)
    if base >> end & 1:
        return Explanation(Distance.AS_MOVED, (_variant_breach(before, wording, target, ground),))
    if STARS >> end & 1:
        return Explanation(Distance.AFTER_ROLL, (wording.landed_on_star(),))
    foe = other(move.owner)
    if symbol == "stop":
        sentence = (
            f"The {move.owner} block rolled to {place} with the stop up and must stay there; "
            f"it went on to {wording.end}."
            if may
            else f"The {move.owner} block rolled to {place} with the stop up and went on to {wording.end}; "
            f"{foe}'s blocks don't let it stay on {place}, so it may not roll there."
        )
        return wording.explanation(Distance.WRONG_HOP, "stop-must-not-hop", sentence, instead=instead, also=(place,))
    rule, how = _HOP_RULES[symbol]
    if end == target and may:
        sentence = f"The {move.owner} block on {place} has the {symbol} up, so it {how}; it hasn't hopped yet."
        return wording.explanation(Distance.AFTER_ROLL, "hop-missing", sentence, instead=instead)
    if not may:
        distance = Distance.AFTER_ROLL if end == target else Distance.FORBIDDEN_ROLL
        sentence = (
            f"After the roll to {place} the {move.owner} block has the {symbol} up and could hop only where {foe}'s "
            "blocks forbid it, so it may not roll there."
            if base & ~(1 << target)
            else f"After the roll to {place} the {move.owner} block has the {symbol} up and can't hop anywhere, "
            "so it may not roll there."
        )
        return wording.explanation(distance, "no-hop-possible", sentence, also=(place,))
    sentence = f"With the {symbol} up a block {how}; from {place} the {move.owner} block can't get to {wording.end}."
    return wording.explanation(Distance.WRONG_HOP, rule, sentence, instead=instead, also=(place,))


def _how_to_finish(wording: _MoveWording, target: int, may: int) -> str:
    """Return the instruction to finish a turn after a legal roll; empty if it can't be finished."""
    place, places = PLACES[target], [PLACES[end] for end in members(may)]
    if not places:
        return ""
    if may == 1 << target:
        return f"Leave it on {place}, {wording.move.top_after} up."
    if len(places) > MOST_NAMED:
        return f"Hop it from {place} by its symbol, the {wording.move.top_after}."
    return f"From {place} it may go to {listed(places, 'or')}."


def _variant_breach(before: DeblockleState, wording: _MoveWording, target: int, ground: Ground) -> Breach:
    """Return the breach of a turn that only the variant forbids."""
    move, options = wording.move, before.options
    symbol = move.top_after
    foe = other(move.owner)
    touching = list(members(adjacent_to(ground.own | 1 << move.end) & ground.foes))
    if symbol == "slider" and not slide_ends(target, ground, options) >> move.end & 1 and move.end != target:
        sentence = f"The {move.owner} block slid to {wording.end} and was stopped there by a {foe} block."
        return wording.breach("slider-stopped-by-opponent", sentence, also=(PLACES[target],))
    beside_places = tuple(PLACES[square] for square in touching)
    sentence = (
        f"The turn from {wording.start} to {wording.end} ends with a {move.owner} block right beside "
        f"the {foe} block on {beside_places[0]}."
    )
    return wording.breach("side-by-side", sentence, also=beside_places)
