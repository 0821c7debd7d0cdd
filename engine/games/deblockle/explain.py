"""Explains which rules a change of the whole board breaks; ``nearest_violation`` explains one block's move."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from common.phrases import listed
from engine.errors import ContradictionError
from engine.games.deblockle.board import PLACES, SQUARE_OF, other
from engine.games.deblockle.changes import Added, Change, Moved, Removed, changes_between
from engine.games.deblockle.nearest_violation import breach_of_wrong_goal, breaches_of_move, put_back, turn_back
from engine.games.deblockle.state import (
    LOOK_TABLE,
    DeblockleState,
    DeblockleTurn,
    appearance_of,
    change_by,
    check_facing,
    narrowed_blocks,
)
from engine.games.deblockle.turns import certainly_blocked, legal_turns, play_turn, turns_of
from engine.support.breaches import PieceBreaches, game_over
from engine.values import EMPTY, Appearance, Breach, Facing

_BLOCK = PieceBreaches("block")
PlayableTurns = set[tuple[int, int, str]]


def explain_change(
    before: DeblockleState, after: Appearance, facings: Mapping[str, Facing] = MappingProxyType({})
) -> tuple[Breach, ...]:
    """List the rules that the change breaks, the likeliest violation first.

    Empty if nothing changed or a legal turn explains it. Places missing in ``after`` count as unchanged; side faces
    seen where no block stands are ignored.
    """
    blocks_seen = {place: LOOK_TABLE.read(place, look) for place, look in after.items()}
    seen = {SQUARE_OF[place]: block for place, block in blocks_seen.items()}
    looks = appearance_of(before)
    changed = {place: look for place, look in after.items() if look != looks[place]}
    for place, facing in facings.items():
        check_facing(place, facing)
    standing = {place: facing for place, facing in facings.items() if {**looks, **after}[place] != EMPTY and facing}
    unmoved = {place: facing for place, facing in standing.items() if place not in changed}
    if before.to_move is None:
        return _after_the_end(before, changed, unmoved)
    if not changed:
        return _turned_in_place(before, unmoved)
    matching = [turn for turn in legal_turns(before) if change_by(turn) == changed]
    if matching:
        return _side_face_breaches(before, matching, standing)
    players = (before.to_move, other(before.to_move))
    playable = {player: {_turn_key(turn) for turn in turns_of(before, player)} for player in players}
    changes = changes_between(before, seen, set().union(*playable.values()))
    return (*_breaches(before, changes, playable, standing), *_turned_in_place(before, unmoved))


def _turn_key(turn: DeblockleTurn) -> tuple[int, int, str]:
    return SQUARE_OF[turn.start], -1 if turn.end is None else SQUARE_OF[turn.end], turn.top


def _after_the_end(before: DeblockleState, changed: Appearance, unmoved: Mapping[str, Facing]) -> tuple[Breach, ...]:
    places = (*changed, *(place for breach in _turned_in_place(before, unmoved) for place in breach.places))
    if not places:
        return ()
    return (game_over(places),)


def _turned_in_place(before: DeblockleState, facings: Mapping[str, Facing]) -> tuple[Breach, ...]:
    blocks = before.by_square()
    return tuple(
        Breach(
            "block-turned-in-place",
            f"The {blocks[SQUARE_OF[place]].owner} block on {place} was turned where it stands.",
            turn_back(before, SQUARE_OF[place]),
            (place,),
        )
        for place in _contradicted_places(before, facings)
    )


def _side_face_breaches(
    before: DeblockleState, matching: list[DeblockleTurn], standing: Mapping[str, Facing]
) -> tuple[Breach, ...]:
    """Return the breaches of side faces when a legal turn explains the tops."""
    turn, *_ = matching
    contradictions = [_contradicted_places(play_turn(before, candidate), standing) for candidate in matching]
    places = min(contradictions, key=len)
    found = []
    if turn.end in places:
        sentence = f"The {turn.player} block was turned on its way from {turn.start} to {turn.end}."
        remedy = f"Turn it back on {turn.end}, {turn.top} still up, as it came out of the roll."
        found.append(Breach("turned-while-hopping", sentence, remedy, (turn.end,)))
    rest = {place: standing[place] for place in places if place != turn.end}
    return (*found, *_turned_in_place(before, rest))


def _contradicted_places(state: DeblockleState, facings: Mapping[str, Facing]) -> list[str]:
    places = []
    for place, facing in facings.items():
        try:
            narrowed_blocks(state, {place: facing})
        except ContradictionError:
            places.append(place)
    return places


def _breaches(
    before: DeblockleState, changes: list[Change], playable: Mapping[str, PlayableTurns], facings: Mapping[str, Facing]
) -> list[Breach]:
    mover = str(before.to_move)
    own_moves = [change for change in changes if isinstance(change, Moved) and change.owner == mover]
    scored = [change for change in changes if isinstance(change, Removed) and _has_scored(change, mover, playable)]
    found: list[Breach] = []
    if len(own_moves) + len(scored) > 1:
        found.append(_two_blocks(before, [*own_moves, *scored]))
    elif own_moves and (_move_key(own_moves[0]) not in playable[mover] or own_moves[0].landed_on):
        found += breaches_of_move(before, own_moves[0], facings.get(PLACES[own_moves[0].end], {}))
    for change in changes:
        if change not in own_moves and change not in scored:
            found += _other_breaches(before, change, playable, alone=len(changes) == 1)
    return found


def _has_scored(change: Removed, mover: str, playable: Mapping[str, PlayableTurns]) -> bool:
    """Return whether a block of the mover may have left the board legally."""
    return change.owner == mover and (change.square, -1, "star") in playable[mover]


def _move_key(move: Moved) -> tuple[int, int, str]:
    return move.start, move.end, move.top_after


def _two_blocks(before: DeblockleState, changes: list[Moved | Removed]) -> Breach:
    described = listed(map(_describe_move, changes))
    moves = [change for change in changes if isinstance(change, Moved)]
    left = [change.square for change in changes if isinstance(change, Removed)]
    ends = [square for move in moves for square in (move.start, move.end)]
    emptied = [*(move.start for move in moves), *(move.end for move in moves if move.landed_on), *left]
    return Breach(
        "two-blocks-moved",
        f"{len(changes)} blocks were moved in one turn: {described}.",
        " ".join(put_back(before, square) for square in dict.fromkeys(emptied)) + " Then move only one of them.",
        tuple(dict.fromkeys(PLACES[square] for square in (*ends, *left))),
    )


def _describe_move(move: Moved | Removed) -> str:
    if isinstance(move, Removed):
        return f"the {move.owner} block from {PLACES[move.square]} off the board"
    if move.start == move.end:
        return f"the {move.owner} block on {PLACES[move.start]} (now {move.top_after} up)"
    return f"the {move.owner} block from {PLACES[move.start]} to {PLACES[move.end]}"


def _other_breaches(
    before: DeblockleState, change: Change, playable: Mapping[str, PlayableTurns], *, alone: bool
) -> list[Breach]:
    """Return the breaches of all changes other than moves of the mover's own blocks."""
    if isinstance(change, Moved):
        return _opponent_moved(before, change, playable[change.owner], alone=alone)
    if isinstance(change, Removed):
        return _removed(before, change, playable[change.owner], alone=alone)
    place = PLACES[change.square]
    if isinstance(change, Added):
        return [_BLOCK.added(change.owner, place)]
    was, now = change.before[0], change.after[0]
    return [_BLOCK.recoloured(place, was, now, f"Take the {now} block away. {put_back(before, change.square)}")]


def _opponent_moved(before: DeblockleState, move: Moved, playable: PlayableTurns, *, alone: bool) -> list[Breach]:
    start, end = PLACES[move.start], PLACES[move.end]
    remedy = put_back(before, move.start)
    places = tuple(dict.fromkeys((start, end)))
    if alone and not move.landed_on and _move_key(move) in playable:
        return [_out_of_turn(before, move.owner, start, remedy, places)]
    if start == end:
        return breaches_of_move(before, move, {})
    sentence = f"It is {before.to_move}'s turn, and the {move.owner} block was moved from {start} to {end}."
    found = [Breach("moved-opponent-block", sentence, remedy, places)]
    if move.landed_on:
        found = [*breaches_of_move(before, move, {})[:1], *found]
    if certainly_blocked(before, move.owner):
        owner = move.owner.capitalize()
        sentence = f"{owner} is Deblockle'd and has no turn the rules allow, so {before.to_move} plays on."
        found.insert(0, Breach("no-turn-left", sentence, remedy, places))
    return found


def _out_of_turn(before: DeblockleState, owner: str, start: str, remedy: str, places: tuple[str, ...]) -> Breach:
    sentence = f"It is {before.to_move}'s turn, but {owner} played the block from {start}."
    return Breach("not-your-turn", sentence, remedy, places)


def _removed(before: DeblockleState, change: Removed, playable: PlayableTurns, *, alone: bool) -> list[Breach]:
    place = PLACES[change.square]
    remedy = put_back(before, change.square)
    if alone and (change.square, -1, "star") in playable:
        return [_out_of_turn(before, change.owner, place, remedy, (place,))]
    wrong = breach_of_wrong_goal(before, change.square)
    if wrong is not None:
        return [wrong]
    sentence = f"The {change.owner} block is gone from {place}, but it didn't roll star up onto its goal."
    return [Breach("block-removed-without-goal", sentence, remedy, (place,))]
