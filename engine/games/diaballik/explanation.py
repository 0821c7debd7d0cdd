"""The rules that a turn or a change breaks, and how to put it right.

Only the result of the mover's actions is seen, so this searches for the smallest violation that leads to it. It relaxes
one rule at a time and searches for actions that produce the result without that rule. It then checks those actions one
by one, so that the breach names the step that was wrong.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import permutations
from typing import NamedTuple

from common.phrases import Phrase, either, listed
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
    DiaballikTurn,
    Side,
    appearance_of,
    between_squares,
    other,
)
from engine.games.diaballik.turns import (
    MOST_ACTIONS,
    MOST_MOVES,
    TurnInProgress,
    begin_turn,
    can_act,
    canonical,
    claim_breach,
    may_claim,
    receivers,
    visible,
)
from engine.support.breaches import PieceBreaches, Wording, game_over_breach, pair_squares
from engine.support.grid import DIAGONAL, ORTHOGONAL, members, set_of
from engine.values import Appearance, Breach, Place

TAKE_BACK = Phrase("Put everything back as it was and play another turn.")


def take_balls_off(places: Sequence[Place]) -> str:
    """Return the remedy for surplus balls on these places."""
    return either(
        len(places) == 1,
        "Take the ball off the piece on {places}.",
        "Take the ball off the pieces on {places}.",
        listed(places),
    )


def turn_order_breach(state: DiaballikState, player: str, places: tuple[str, ...]) -> Breach | None:
    """Return the breach of playing when it isn't the player's turn, or ``None``."""
    if state.to_move is None:
        return game_over_breach(places)
    if player == state.to_move:
        return None
    remedy = Phrase("Put everything back as it was; {player} plays.", state.to_move)
    if not can_act(begin_turn(state, player)):
        sentence = Phrase("{player} can neither move nor pass, so {to_move} plays.", player.capitalize(), state.to_move)
        return Breach("no-action-left", sentence, remedy, places)
    return Breach(
        "not-your-turn", Phrase("It is {to_move}'s turn, not {player}'s.", state.to_move, player), remedy, places
    )


def breaches_of_actions(state: DiaballikState, turn: DiaballikTurn) -> tuple[Breach, ...]:
    """List the breach of a written turn: wrong player, else its first illegal action; empty if it is legal."""
    breach = turn_order_breach(state, turn.player, turn.places)
    if breach is not None:
        return (breach,)
    if not turn.actions:
        return (
            Breach(
                "null-turn", Phrase("Nothing was done; a turn has at least one action."), Phrase("Move or pass."), ()
            ),
        )
    now = begin_turn(state, turn.player)
    for action in turn.actions:
        breach = breach_of(now, action)
        if breach is not None:
            return (breach,)
        now = now.after(action)
    if now.side == state.side(turn.player) and not state.options.null_turn:
        sentence = Phrase("After this turn everything stands where it stood before.")
        return (Breach("null-turn", sentence, TAKE_BACK, turn.places),)
    if turn.claims and GOAL[now.player] >> now.ball & 1:
        return (_after_the_goal(now, (PLACES[now.ball],)),)
    if turn.claims and not may_claim(now.options, now.pieces, now.foes, now.player):
        breach = claim_breach(now.options, now.pieces, now.foes, now.player)
        without = Phrase("Play the turn without announcing anti-play.")
        return (replace(breach, remedy=without, instead=without),)
    return ()


def _after_the_goal(now: TurnInProgress, places: tuple[str, ...]) -> Breach:
    sentence = Phrase(
        "With the ball on {place} {player} has won, and nothing more is done.", PLACES[now.ball], now.player
    )
    remedy = Phrase("Leave the ball on {place} and everything else as it was then.", PLACES[now.ball])
    return Breach("goal-ends-turn", sentence, remedy, tuple(dict.fromkeys((PLACES[now.ball], *places))))


def breach_of(now: TurnInProgress, action: Action) -> Breach | None:
    """Return the breach of an action at this point of a turn, or ``None`` if it is legal."""
    start, end = PLACES[action.start], PLACES[action.end]
    places = tuple(dict.fromkeys((start, end)))
    if GOAL[now.player] >> now.ball & 1:
        return _after_the_goal(now, places)
    if now.ended:
        sentence = Phrase(
            "{player} has already won by anti-play, before {start} to {end}.", now.player.capitalize(), start, end
        )
        return Breach(
            "game-over",
            sentence,
            either(
                action.passes,
                "Leave the ball on {start}: the game is over.",
                "Leave the piece on {start} where it is: the game is over.",
                start,
            ),
            places,
        )
    if now.foes >> action.start & 1:
        if action.passes:
            sentence = Phrase("The piece on {start} is {opponent}'s, and so is its ball.", start, other(now.player))
            return Breach("passed-opponent-ball", sentence, TAKE_BACK, places)
        return Breach(
            "moved-opponent-piece",
            Phrase("The piece on {start} is {opponent}'s.", start, other(now.player)),
            TAKE_BACK,
            places,
        )
    if not now.pieces >> action.start & 1:
        sentence = Phrase("{player} has no piece on {start}.", now.player.capitalize(), start)
        return Breach("pass-without-ball" if action.passes else "moved-opponent-piece", sentence, TAKE_BACK, places)
    return _pass_breach(now, action, places) if action.passes else _move_breach(now, action, places)


def _move_breach(now: TurnInProgress, action: Action, places: tuple[str, ...]) -> Breach | None:
    start, end = PLACES[action.start], PLACES[action.end]
    if action.start == now.ball:
        sentence = Phrase("The piece on {start} has the ball, so it can't move to {end}.", start, end)
        remedy = either(
            now.pieces >> action.end & 1,
            "Put it back on {start}; it may move once the ball is passed. Write {start}*{end} if a pass was meant.",
            "Put it back on {start}; it may move once the ball is passed.",
            start=start,
            end=end,
        )
        instead = (
            Phrase("It may move once the ball is passed. Write {start}*{end} if a pass was meant.", start, end)
            if now.pieces >> action.end & 1
            else Phrase("It may move once the ball is passed.")
        )
        return Breach("carrier-moved", sentence, remedy, places, instead=instead)
    if (now.pieces | now.foes) >> action.end & 1:
        return Breach(
            "square-taken",
            Phrase("{end} is taken, so nothing moves there from {start}.", end, start),
            TAKE_BACK,
            places,
        )
    if not NEAR[action.start] >> action.end & 1:
        columns, rows = GRID.apart(action.start, action.end)
        jumped = between_squares(action.start, action.end) & (now.pieces | now.foes)
        if rows + columns == 2 and jumped:
            over = PLACES[jumped.bit_length() - 1]
            sentence = Phrase("From {start} to {end} a piece went over the one on {over}.", start, end, over)
            return Breach("square-taken", sentence, TAKE_BACK, (start, over, end))
        if (rows, columns) == (1, 1):
            return Breach(
                "moved-diagonally", Phrase("{start} to {end} is a diagonal step.", start, end), TAKE_BACK, places
            )
        return too_far(action.start, action.end)
    if not now.moves_left:
        sentence = Phrase(
            "Moving {start} to {end} is one move too many; a turn has {most_moves}.", start, end, MOST_MOVES
        )
        return Breach("too-many-moves", sentence, TAKE_BACK, places)
    return None


def too_far(start: int, end: int) -> Breach:
    """Return the breach of moving one piece farther than a turn allows."""
    places, steps = (PLACES[start], PLACES[end]), sum(GRID.apart(start, end))
    sentence = Phrase(
        "{place} to {other_place} is {steps} steps; a turn has {most_moves} moves of one square.",
        places[0],
        places[1],
        steps,
        MOST_MOVES,
    )
    return Breach("too-many-moves", sentence, TAKE_BACK, places)


def _pass_breach(now: TurnInProgress, action: Action, places: tuple[str, ...]) -> Breach | None:
    start, end = PLACES[action.start], PLACES[action.end]
    if action.start != now.ball:
        sentence = Phrase(
            "The piece on {start} doesn't have the ball; the ball is on {place}.", start, PLACES[now.ball]
        )
        return Breach("pass-without-ball", sentence, TAKE_BACK, places)
    if not now.pieces >> action.end & 1 or action.start == action.end:
        sentence = Phrase(
            "{player} has no other piece on {end}, so the ball can't be passed there.", now.player.capitalize(), end
        )
        return Breach("pass-to-nobody", sentence, TAKE_BACK, places)
    return pass_line_breach(now, action.start, action.end) or (
        None
        if now.passes_left
        else Breach(
            "second-pass",
            Phrase("Passing {start} to {end} is a second pass; a turn has one.", start, end),
            TAKE_BACK,
            places,
        )
    )


def pass_line_breach(now: TurnInProgress, start: int, end: int) -> Breach | None:
    """Return the breach of a pass that isn't straight or is blocked, or ``None``; ignores whether a pass is left."""
    places = (PLACES[start], PLACES[end])
    words = Wording(place=places[0], other_place=places[1], player=now.player, opponent=other(now.player))
    if not visible(start, 0) >> end & 1:
        sentence = words.said(
            "The ball can't be passed from {place} to {other_place}: they share no row, column or diagonal."
        )
        return Breach("pass-not-straight", sentence, TAKE_BACK, places)
    between = between_squares(start, end)
    barred = between & now.foes
    if barred:
        named = GRID.names_of(barred)
        sentence = words.said(
            "The pass from {place} to {other_place} goes over the {opponent} piece on {places}.", places=named[0]
        )
        return Breach("pass-blocked", sentence, TAKE_BACK, (places[0], *named, places[1]))
    jumped = between & now.pieces
    if jumped and not now.options.pass_over_own:
        named = GRID.names_of(jumped)
        sentence = words.said(
            "The pass from {place} to {other_place} goes over {player}'s own piece on {places}.", places=named[0]
        )
        return Breach("pass-over-own", sentence, TAKE_BACK, (places[0], *named, places[1]))
    return None


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
        Phrase(
            "The pieces from {starts} moved {steps} steps in all; a turn has {most_moves} moves of one square.",
            starts,
            steps,
            MOST_MOVES,
        )
        if steps > MOST_MOVES
        else Phrase("Two moves are not enough for this change: {places} changed.", listed(places))
    )
    return Breach("too-many-moves", sentence, TAKE_BACK, places)


def _carried_breach(start: int, end: int) -> Breach:
    """Return the breach of moving the carrier, the piece with the ball."""
    sentence = Phrase("The piece with the ball went from {place} to {other_place}.", PLACES[start], PLACES[end])
    remedy = Phrase("Put it back on {place}; it may move once the ball is passed.", PLACES[start])
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
        over = turn_order_breach(before, PLAYERS[0], changed)
        return () if over is None else (over,)
    shown = _shown({**looks, **after})
    sides = {player: _as_side(shown[player]) for player in PLAYERS}
    for player in (before.to_move, other(before.to_move)):
        side, still = sides[player], sides[other(player)]
        if side is None or still != before.side(other(player)):
            continue
        found = canonical(begin_turn(before, player), side)
        breach = turn_order_breach(before, player, changed)
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
    recoloured = _recoloured(before, shown, moved)
    found = [*recoloured, *own]
    for player in (mover, other(mover)):
        found += _piece_breaches(before, player, moved)
        found += _ball_breaches(before, player, shown[player], moved[player])
    found += _opponent_breaches(before, shown, moved)
    # A ball too many is taken off before the piece that carries it goes back.
    back = {breach.places[-1] for breach in found if breach.rule in ("square-taken", "moved-opponent-piece")}
    found.sort(key=lambda breach: breach.rule != "ball-added" or back.isdisjoint(breach.places))
    in_the_way = _ends_on_starts(moved[other(mover)], moved[mover]) if own else 0
    if recoloured:
        in_the_way |= _ends_on_starts(moved[mover], moved[other(mover)])
    return PIECE.making_room(found, GRID.names_of(in_the_way))


def _ends_on_starts(ending: Moved, started: Moved) -> int:
    """Return the set of squares to which one player's pieces moved, and from which the other's did."""
    return set_of(end for _, end in ending.pairs) & set_of(start for start, _ in started.pairs)


def _own_breaches(before: DiaballikState, shown: Shown, moved: Moved) -> list[Breach]:
    """Return the breaches of what the mover did with their own pieces.

    Missing or extra pieces and balls have breaches of their own. The rest is judged as if those had not changed.
    """
    mover = str(before.to_move)
    was = before.side(mover)
    pieces, ends = was.pieces, dict(moved.pairs)
    for start, end in moved.pairs:
        pieces ^= 1 << start | 1 << end
    if _legal_balls(before, shown, moved):
        return []
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
                remedy = Phrase(
                    "Take the {player} piece off {place}, then put the {foe} one back there.", player, place, foe
                )
                found.append(PIECE.recoloured(place, foe, player, remedy))
            elif square in moved[foe].gone:
                start = PLACES[came_from]
                words = Wording(player=player, foe=foe, start=start, place=place)
                sentence = words.said("The {player} piece from {start} went to {place}, where a {foe} piece stood.")
                remedy = words.said("Put the {player} piece back on {start} and the {foe} one on {place}.")
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
            Phrase(
                "The {mover} piece from {place} went to {other_place}, where the {foe} piece belongs.",
                mover,
                PLACES[start],
                PLACES[end],
                foe,
            ),
            Phrase("Put the {mover} piece back on {place}.", mover, PLACES[start]),
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
            sentence = Phrase("The {player} piece from {place} is gone.", player, PLACES[square])
            remedy = Phrase("Put the {player} piece back on {place}.", player, PLACES[square])
            found.append(Breach("piece-removed", sentence, remedy, (PLACES[square],)))
    for square in moved[player].came:
        if not before.side(foe).pieces >> square & 1:
            found.append(PIECE.added(player, PLACES[square]))
    return found


def _balls_without_surplus(shown: Shown, moved: Moved) -> int:
    """Return a player's balls without those on pieces that weren't on the board, which go with their pieces."""
    return shown.balls & ~set_of(moved.came)


def _legal_balls(before: DiaballikState, shown: Shown, moved: Moved) -> tuple[int, ...]:
    """Return the squares of the mover's balls any one of which would end a legal turn; none unless there are several.

    A ball that lies where it was before is none of them, since the others are then the surplus.
    """
    was = before.side(str(before.to_move))
    balls = _balls_without_surplus(shown, moved)
    if balls.bit_count() < 2 or balls >> was.ball & 1:
        return ()
    turn = begin_turn(before, str(before.to_move))
    pieces = was.pieces ^ set_of(square for pair in moved.pairs for square in pair)
    return tuple(ball for ball in members(balls) if canonical(turn, Side(pieces, ball)) is not None)


def _ball_added(before: DiaballikState, player: str, shown: Shown, moved: Moved) -> Breach:
    """Return the breach of a player's pieces that carry several balls."""
    was = before.side(player).ball
    balls = _balls_without_surplus(shown, moved)
    places = GRID.names_of(balls)
    legal = _legal_balls(before, shown, moved) if player == before.to_move else ()
    kept = set_of(legal) or balls & set_of((was, dict(moved.pairs).get(was, was)))
    sentence = Phrase("{player} has balls on {places}.", player.capitalize(), listed(places))
    remedy = take_balls_off(GRID.names_of(balls & ~kept))
    if len(legal) > 1:
        remedy = Phrase(
            "Leave the ball only where it was passed to, {places}: that decides the turn.",
            listed(GRID.names_of(kept), "or"),
        )
    elif not kept:
        remedy = Phrase(
            "Take the balls off {places}, and put one back on the piece that had it, the one from {was}.",
            listed(places),
            PLACES[was],
        )
        places = (*places, PLACES[was])
    return Breach("ball-added", sentence, remedy, places, adds=True)


def _ball_breaches(before: DiaballikState, player: str, shown: Shown, moved: Moved) -> list[Breach]:
    was = PLACES[before.side(player).ball]
    lying = _balls_without_surplus(shown, moved)
    if not lying:
        went = next((PLACES[end] for start, end in moved.pairs if PLACES[start] == was), None)
        sentence = either(
            shown.balls,
            "{player}'s ball is on a piece that wasn't on the board; it was on {was}.",
            "{player}'s ball is on none of {player_2}'s pieces; it was on {was}.",
            player=player.capitalize(),
            was=was,
            player_2=player,
        )
        remedy = Phrase("Put {player}'s ball back on the piece that had it, the one from {was}.", player, was)
        if went is not None:
            remedy = Phrase(
                "Put the piece on {went} back on {was}, with {player}'s ball; it may move once the ball is passed.",
                went,
                was,
                player,
            )
        return [Breach("ball-missing", sentence, remedy, (was,) if went is None else (was, went))]
    if lying.bit_count() > 1:
        return [_ball_added(before, player, shown, moved)]
    return []


def _opponent_breaches(before: DiaballikState, shown: Mapping[str, Shown], moved: Mapping[str, Moved]) -> list[Breach]:
    mover = str(before.to_move)
    foe = other(mover)
    was = before.side(foe)
    found = [
        Breach(
            "moved-opponent-piece",
            Phrase(
                "It is {mover}'s turn, and the {foe} piece on {place} was moved to {other_place}.",
                mover,
                foe,
                PLACES[start],
                PLACES[end],
            ),
            Phrase("Put the {foe} piece back on {place}.", foe, PLACES[start]),
            (PLACES[start], PLACES[end]),
        )
        for start, end in moved[foe].pairs
    ]
    balls = _balls_without_surplus(shown[foe], moved[foe])
    carried = any(start == was.ball and balls >> end & 1 for start, end in moved[foe].pairs)
    if balls.bit_count() == 1 and not balls >> was.ball & 1 and not carried:
        now = PLACES[balls.bit_length() - 1]
        sentence = Phrase(
            "It is {mover}'s turn, and {foe}'s ball went from {place} to {now}.", mover, foe, PLACES[was.ball], now
        )
        remedy = Phrase("Put {foe}'s ball back on {place}.", foe, PLACES[was.ball])
        found.append(Breach("passed-opponent-ball", sentence, remedy, (PLACES[was.ball], now)))
    return found
