"""Explains which rules a change of the table breaks: pieces and balls that came or went, and what the mover did.

Only the result of the mover's actions is seen, so this searches for the smallest violation that leads to it. It relaxes
one rule at a time and searches for actions that produce the result without that rule. It then checks those actions one
by one, so that the breach names the step that was wrong.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import permutations
from typing import NamedTuple

from common.phrases import listed
from engine.games.diaballik.state import (
    EVERY,
    GOAL,
    GRID,
    LOOK_TABLE,
    NEAR,
    PIECES_A_SIDE,
    PLACES,
    PLAYERS,
    RAYS,
    SQUARE_OF,
    Action,
    DiaballikState,
    Side,
    appearance_of,
    other,
)
from engine.games.diaballik.turns import MOST_ACTIONS, MOST_MOVES, TurnInProgress, begin_turn, canonical, receivers
from engine.games.diaballik.violations import (
    LEAVE_ONE_BALL,
    TAKE_BACK,
    breach_of,
    pass_line_breach,
    take_balls_off,
    too_far,
    whose_turn,
)
from engine.support.breaches import PieceBreaches, pair_squares
from engine.support.grid import DIAGONAL, ORTHOGONAL, members, set_of
from engine.values import Appearance, Breach

_DIAGONALS = GRID.neighbours(DIAGONAL)


class _Relaxation(NamedTuple):
    """What is allowed beyond the rules; each search relaxes a single rule."""

    moves: int = MOST_MOVES
    passes: int = 1
    carrier: bool = False
    diagonal: bool = False
    jump: bool = False
    any_line: bool = False
    anywhere: bool = False
    after_goal: bool = False


_RELAXATIONS = (
    _Relaxation(any_line=True),
    _Relaxation(after_goal=True),
    _Relaxation(carrier=True),
    _Relaxation(diagonal=True),
    _Relaxation(jump=True),
    _Relaxation(anywhere=True),
    _Relaxation(moves=3),
    _Relaxation(passes=2),
)
"""Likeliest violation first, among violations with the same number of actions."""


def breaches_of_result(turn: TurnInProgress, result: Side) -> tuple[Breach, ...]:
    """List the rules broken by a turn whose result for the mover's pieces and ball no legal turn has."""
    if (turn.pieces & ~result.pieces, result.pieces & ~turn.pieces) == (1 << turn.ball, 1 << result.ball):
        return (_carried_breach(turn.ball, result.ball),)
    changed = set_of((turn.ball, result.ball)) | (turn.pieces ^ result.pieces)
    for length in range(1, MOST_ACTIONS + 2):
        for relaxation in _RELAXATIONS:
            relaxed = turn._replace(moves_left=relaxation.moves, passes_left=relaxation.passes)
            found = _search(relaxed, result, length, relaxation)
            if found is not None and relaxation.moves > MOST_MOVES:
                return (_too_many_moves(turn, result),)
            breach = None if found is None else _first_breach(turn, found)
            if breach is None:
                continue
            # A breach may also name squares that stay occupied, as obstacles; but a carrier's old square must be free.
            obstacles = 0 if breach.rule == "carrier-moved" else turn.foes | turn.pieces & result.pieces
            if set(breach.places) <= set(GRID.names_of(changed | obstacles)):
                return (breach,)
    return _unexplained(turn, result)


def _first_breach(turn: TurnInProgress, done: tuple[Action, ...]) -> Breach:
    """Return the breach of the first forbidden action; if the carrier moved, it names where that piece ended."""
    now = turn
    for number, action in enumerate(done):
        breach = breach_of(now, action)
        if breach is not None:
            if breach.rule != "carrier-moved":
                return breach
            end, passed_to = action.end, []
            for later in done[number + 1 :]:
                if later.passes:
                    passed_to.append(later.end)
                elif later.start == end:
                    end = later.end
            carried = _carried_breach(action.start, end)
            # A pass from where it came to is no better, or the whole turn would be legal in another order.
            balls = tuple(PLACES[square] for square in passed_to)
            return replace(carried, remedy=TAKE_BACK, places=carried.places + balls) if balls else carried
        now = now.after(action)
    raise AssertionError(f"{done} breaks no rule, so its result is legal")


def _too_many_moves(turn: TurnInProgress, result: Side) -> Breach:
    gone, came = list(members(turn.pieces & ~result.pieces)), list(members(result.pieces & ~turn.pieces))
    steps = min(sum(sum(GRID.apart(*move)) for move in zip(gone, ends, strict=True)) for ends in permutations(came))
    places, starts = GRID.names_of(turn.pieces ^ result.pieces), listed(PLACES[start] for start in gone)
    if steps > MOST_MOVES and len(gone) == 1:
        return too_far(gone[0], came[0])
    sentence = (
        f"The pieces from {starts} moved {steps} steps in all; a turn has {MOST_MOVES} moves of one square."
        if steps > MOST_MOVES
        else f"Two moves are not enough for this change: {listed(places)} changed."
    )
    return Breach("too-many-moves", sentence, TAKE_BACK, places)


def _carried_breach(start: int, end: int) -> Breach:
    """Return the breach of moving the carrier, the piece with the ball."""
    sentence = f"The piece with the ball went from {PLACES[start]} to {PLACES[end]}."
    remedy = f"Put it back on {PLACES[start]}; it may move once the ball is passed."
    return Breach("carrier-moved", sentence, remedy, (PLACES[start], PLACES[end]))


def _search(turn: TurnInProgress, result: Side, length: int, relaxation: _Relaxation) -> tuple[Action, ...] | None:
    """Return that many actions which lead to the result with one rule relaxed, or ``None``."""
    apart = (turn.pieces ^ result.pieces).bit_count()
    if not length:
        return () if turn.side == result else None
    if apart > 2 * min(length, turn.moves_left) or (turn.ended and not relaxation.after_goal):
        return None
    for action in _relaxed_actions(turn, result, relaxation):
        after = turn.after(action)
        if not action.passes and action.start == turn.ball:
            after = after._replace(ball=action.end)
        rest = _search(after, result, length - 1, relaxation)
        if rest is not None:
            return (action, *rest)
    return None


def _relaxed_actions(turn: TurnInProgress, result: Side, relaxation: _Relaxation) -> Iterator[Action]:
    if turn.pieces != result.pieces:
        empty = EVERY & ~(turn.pieces | turn.foes)
        movers = turn.pieces if relaxation.carrier else turn.pieces & ~(1 << turn.ball)
        for start in members(movers):
            reach = NEAR[start]
            if relaxation.diagonal:
                reach |= _DIAGONALS[start]
            if relaxation.jump:
                reach |= _jumps(start, turn.pieces | turn.foes)
            for end in members(reach & empty):
                yield Action(start, end, passes=False)
    if turn.passes_left and turn.ball != result.ball:
        own = turn.pieces & ~(1 << turn.ball)
        to = receivers(turn)
        if relaxation.any_line:
            to = set_of(square for ray in RAYS[turn.ball] for square in ray) & own
        if relaxation.anywhere:
            to = own
        for end in members(to):
            if turn.passes_left > 1 or end == result.ball or relaxation.carrier:
                yield Action(turn.ball, end, passes=True)


def _jumps(start: int, taken: int) -> int:
    found = 0
    for offset in ORTHOGONAL:
        ray = GRID.ray(start, offset)
        if len(ray) > 1 and taken >> ray[0] & 1:
            found |= 1 << ray[1]
    return found


def _unexplained(turn: TurnInProgress, result: Side) -> tuple[Breach, ...]:
    """Return the breaches of a result that needs more than one rule to be broken."""
    found = []
    gone, came = turn.pieces & ~result.pieces, result.pieces & ~turn.pieces
    places = GRID.names_of(gone | came)
    carried = (turn.ball, result.ball) in _match_moves(turn.side, Shown(result.pieces, 1 << result.ball)).pairs
    if carried:
        found.append(_carried_breach(turn.ball, result.ball))
    if GOAL[turn.player] >> result.ball & 1 or not carried:
        line = None if turn.ball == result.ball else pass_line_breach(turn, turn.ball, result.ball)
        if line is not None:
            found.append(line)
    if places and not (carried and len(places) == 2):
        found.append(_too_many_moves(turn, result))
    return tuple(found)


PIECE = PieceBreaches("piece")
"""The breaches named after this game's pieces."""


class Shown(NamedTuple):
    """What a table shows of one player: the squares of the pieces, and of those with a ball."""

    pieces: int
    balls: int


class Moved(NamedTuple):
    """How one player's pieces moved: pairs of start and end, and the squares of pieces that vanished or appeared."""

    pairs: tuple[tuple[int, int], ...]
    gone: tuple[int, ...]
    came: tuple[int, ...]


def explain_change(before: DiaballikState, after: Appearance) -> tuple[Breach, ...]:
    """List the rules that the change breaks, the likeliest violation first.

    Empty if nothing changed, a legal turn explains it, or too many pieces of both players moved for one turn. Places
    missing in ``after`` count as unchanged. Raises UnreadableError for an unknown place or look.
    """
    LOOK_TABLE.read_all(after)
    looks = appearance_of(before)
    changed = tuple(place for place, look in after.items() if look != looks[place])
    if not changed:
        return ()
    if before.to_move is None:
        over = whose_turn(before, PLAYERS[0], changed)
        return () if over is None else (over,)
    shown = _shown({**looks, **after})
    sides = {player: _as_side(shown[player]) for player in PLAYERS}
    for player in (before.to_move, other(before.to_move)):
        side, still = sides[player], sides[other(player)]
        if side is None or still != before.side(other(player)):
            continue
        found = canonical(begin_turn(before, player), side)
        breach = whose_turn(before, player, changed)
        if found is not None:
            return () if breach is None else (breach,)
        if breach is not None and breach.rule == "no-action-left":
            return (breach, *_breaches(before, shown))
    return tuple(_breaches(before, shown))


def _shown(looks: Mapping[str, str]) -> dict[str, Shown]:
    found = {}
    read = {SQUARE_OF[place]: seen for place, seen in LOOK_TABLE.read_all(looks).items()}
    for player in PLAYERS:
        pieces = set_of(square for square, (owner, _) in read.items() if owner == player)
        balls = set_of(square for square, (owner, ball) in read.items() if owner == player and ball)
        found[player] = Shown(pieces, balls)
    return found


def _as_side(shown: Shown) -> Side | None:
    """Return the pieces and ball as a side, or ``None`` unless there are seven pieces and one ball."""
    if shown.pieces.bit_count() != PIECES_A_SIDE or shown.balls.bit_count() != 1:
        return None
    return Side(shown.pieces, shown.balls.bit_length() - 1)


def _breaches(before: DiaballikState, shown: Mapping[str, Shown]) -> list[Breach]:
    mover = str(before.to_move)
    moved = {player: _match_moves(before.side(player), shown[player]) for player in PLAYERS}
    if moved[mover].pairs and len(moved[other(mover)].pairs) > 1:
        return []  # Both have played since.
    own = _own_breaches(before, shown[mover], moved[mover]) or _onto_moved(before, moved)
    found = [*_recoloured(before, shown, moved), *own]
    for player in (mover, other(mover)):
        found += _piece_breaches(before, player, moved)
        found += _ball_breaches(before, player, shown[player], moved[player])
    return found + _opponent_breaches(before, shown, moved)


def _own_breaches(before: DiaballikState, shown: Shown, moved: Moved) -> list[Breach]:
    """Return the breaches of what the mover did with their own pieces.

    Missing or extra pieces and balls have breaches of their own. The rest is judged as if those had not changed.
    """
    mover = str(before.to_move)
    was = before.side(mover)
    pieces, ends = was.pieces, dict(moved.pairs)
    for start, end in moved.pairs:
        pieces ^= 1 << start | 1 << end
    balls = _balls_without_surplus(shown, moved)
    is_one = balls.bit_count() == 1 and balls & pieces
    side = Side(pieces, balls.bit_length() - 1 if is_one else ends.get(was.ball, was.ball))
    if side == was:
        return []
    # Landing on an opponent's piece has a breach of its own, so it must not make the way there illegal, too.
    turn = begin_turn(before, mover)
    turn = turn._replace(foes=turn.foes & ~side.pieces)
    return [] if canonical(turn, side) is not None else list(breaches_of_result(turn, side))


def _match_moves(was: Side, now: Shown) -> Moved:
    """Pair vacated squares with newly occupied ones, the nearest pair first; of equal ones that with the ball."""
    gone, came = list(members(was.pieces & ~now.pieces)), list(members(now.pieces & ~was.pieces))

    def unlikeliness(start: int, end: int) -> tuple[int, bool]:
        return sum(GRID.apart(start, end)), (start == was.ball) != bool(now.balls >> end & 1)

    paired = tuple(pair_squares(gone, came, unlikeliness))
    starts, ends = {start for start, _ in paired}, {end for _, end in paired}
    return Moved(
        paired,
        tuple(square for square in gone if square not in starts),
        tuple(square for square in came if square not in ends),
    )


def _recoloured(before: DiaballikState, shown: Mapping[str, Shown], moved: Mapping[str, Moved]) -> list[Breach]:
    """Return the breaches of squares where one player's piece has taken the place of the other's."""
    found = []
    for player in PLAYERS:
        foe = other(player)
        for square in members(before.side(foe).pieces & shown[player].pieces):
            place = PLACES[square]
            came_from = next((start for start, end in moved[player].pairs if end == square), None)
            if came_from is None and any(start == square for start, _ in moved[foe].pairs):
                found.append(PIECE.added(player, place))
            elif came_from is None:
                found.append(PIECE.recoloured(place, foe, player, f"Put the {foe} piece back on {place}."))
            elif square in moved[foe].gone:
                start = PLACES[came_from]
                sentence = f"The {player} piece from {start} went to {place}, where a {foe} piece stood."
                remedy = f"Put the {player} piece back on {start} and the {foe} one on {place}."
                found.append(Breach("square-taken", sentence, remedy, (start, place)))
    return found


def _onto_moved(before: DiaballikState, moved: Mapping[str, Moved]) -> list[Breach]:
    """Return the breaches of pieces of the mover that took squares from which the opponent's pieces were moved away."""
    mover = str(before.to_move)
    foe = other(mover)
    vacated = {start for start, _ in moved[foe].pairs}
    return [
        Breach(
            "square-taken",
            f"The {mover} piece from {PLACES[start]} went to {PLACES[end]}, where the {foe} piece belongs.",
            f"Put the {mover} piece back on {PLACES[start]}.",
            (PLACES[start], PLACES[end]),
        )
        for start, end in moved[mover].pairs
        if end in vacated
    ]


def _piece_breaches(before: DiaballikState, player: str, moved: Mapping[str, Moved]) -> list[Breach]:
    foe = other(player)
    found = []
    taken = {end for _, end in moved[foe].pairs} | set(moved[foe].came)
    for square in moved[player].gone:
        if square not in taken:
            sentence = f"The {player} piece from {PLACES[square]} is gone."
            remedy = f"Put the {player} piece back on {PLACES[square]}."
            found.append(Breach("piece-removed", sentence, remedy, (PLACES[square],)))
    for square in moved[player].came:
        if not before.side(foe).pieces >> square & 1:
            found.append(PIECE.added(player, PLACES[square]))
    return found


def _balls_without_surplus(shown: Shown, moved: Moved) -> int:
    """Return a player's balls without those on pieces that weren't on the board, which go with their pieces."""
    return shown.balls & ~set_of(moved.came)


def _ball_breaches(before: DiaballikState, player: str, shown: Shown, moved: Moved) -> list[Breach]:
    was = PLACES[before.side(player).ball]
    lying = _balls_without_surplus(shown, moved)
    if not lying:
        went = next((PLACES[end] for start, end in moved.pairs if PLACES[start] == was), None)
        where = "a piece that wasn't on the board" if shown.balls else f"none of {player}'s pieces"
        sentence = f"{player.capitalize()}'s ball is on {where}; it was on {was}."
        remedy = f"Put {player}'s ball back on the piece that had it, the one from {was}."
        if went is not None:
            remedy = (
                f"Put the piece on {went} back on {was}, with {player}'s ball; it may move once the ball is passed."
            )
        return [Breach("ball-missing", sentence, remedy, (was,) if went is None else (was, went))]
    if lying.bit_count() > 1:
        places = GRID.names_of(lying)
        surplus = [place for place in places if place != was]
        return [
            Breach(
                "ball-added",
                f"{player.capitalize()} has balls on {listed(places)}.",
                take_balls_off(surplus) if len(surplus) < len(places) else LEAVE_ONE_BALL,
                places,
                adds=True,
            )
        ]
    return []


def _opponent_breaches(before: DiaballikState, shown: Mapping[str, Shown], moved: Mapping[str, Moved]) -> list[Breach]:
    mover = str(before.to_move)
    foe = other(mover)
    was = before.side(foe)
    found = [
        Breach(
            "moved-opponent-piece",
            f"It is {mover}'s turn, and the {foe} piece on {PLACES[start]} was moved to {PLACES[end]}.",
            f"Put the {foe} piece back on {PLACES[start]}.",
            (PLACES[start], PLACES[end]),
        )
        for start, end in moved[foe].pairs
    ]
    balls = _balls_without_surplus(shown[foe], moved[foe])
    carried = any(start == was.ball and balls >> end & 1 for start, end in moved[foe].pairs)
    if balls.bit_count() == 1 and not balls >> was.ball & 1 and not carried:
        now = PLACES[balls.bit_length() - 1]
        sentence = f"It is {mover}'s turn, and {foe}'s ball went from {PLACES[was.ball]} to {now}."
        remedy = f"Put {foe}'s ball back on {PLACES[was.ball]}."
        found.append(Breach("passed-opponent-ball", sentence, remedy, (PLACES[was.ball], now)))
    return found
