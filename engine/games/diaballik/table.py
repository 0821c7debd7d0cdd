"""What an onlooker sees: a start, a correction or a position within a turn."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from common.phrases import Phrase, either, joined, listed
from engine.errors import UnreadableError
from engine.games.diaballik.explanation import PIECE, explain_change, take_balls_off
from engine.games.diaballik.state import (
    GOAL,
    GRID,
    HOME,
    LOOK_TABLE,
    PIECES_A_SIDE,
    PLACES,
    PLAYERS,
    SQUARE_OF,
    STANDARD,
    VARIANT,
    DiaballikOptions,
    DiaballikState,
    Side,
    appearance_of,
    options_from,
    other,
)
from engine.games.diaballik.turns import (
    TurnInProgress,
    actions,
    begin_turn,
    settle,
)
from engine.support.breaches import compare_with_start, illegal_start, moves_in_order
from engine.support.grid import members, set_of
from engine.support.players import check_player, mover_after_correction
from engine.values import EMPTY, Appearance, Breach, LookName, OptionValue, Player, Unfinished

appearance = appearance_of
explain = explain_change

_EXCHANGED = GRID.squares_named(("b1", "f1", "b7", "f7"))
_BALLS = {"black": SQUARE_OF["d1"], "white": SQUARE_OF["d7"]}

STARTS: Mapping[str, Mapping[str, Side]] = MappingProxyType(
    {
        STANDARD: {player: Side(HOME[player], _BALLS[player]) for player in PLAYERS},
        VARIANT: {
            player: Side(HOME[player] & ~_EXCHANGED | HOME[other(player)] & _EXCHANGED, _BALLS[player])
            for player in PLAYERS
        },
    }
)
"""Where each player's pieces and ball start, by the option ``start``."""


def new_state(options: DiaballikOptions) -> DiaballikState:
    """Return the starting state."""
    start = STARTS[options.start]
    return settle(DiaballikState(options, start["black"], start["white"], PLAYERS[0]), counted=True)


def set_up(
    appearance: Appearance, options: Mapping[str, OptionValue] | None = None, *, anywhere: bool = False
) -> DiaballikState:
    """Return the starting state that a table shows; missing places count as empty.

    ``anywhere`` allows any squares, except a ball on the row where it wins. Raises UnreadableError for an unknown look,
    and IllegalTurnError with breaches if it is not a legal start.
    """
    in_force = options_from(options)
    seen = {SQUARE_OF[place]: found for place, found in LOOK_TABLE.read_all(appearance).items()}
    breaches = _breaches_of_start(seen, in_force, anywhere=anywhere)
    if breaches:
        raise illegal_start(breaches)
    black, white = (
        Side(
            set_of(square for square, (owner, _) in seen.items() if owner == player),
            next(square for square, found in seen.items() if found == (player, True)),
        )
        for player in PLAYERS
    )
    return settle(DiaballikState(in_force, black, white, PLAYERS[0]), counted=True)


def _breaches_of_start(
    seen: Mapping[int, tuple[str, bool]], options: DiaballikOptions, *, anywhere: bool
) -> list[Breach]:
    """List the breaches in the order in which to mend them."""
    numbers: list[Breach] = []
    balls: list[Breach] = []
    moves: dict[int, int] = {}
    for player in PLAYERS:
        start = STARTS[options.start][player]
        squares = sorted(square for square, (owner, _) in seen.items() if owner == player)
        compared = compare_with_start(GRID, set_of(squares), 0 if anywhere else start.pieces)
        moves |= compared.moves
        numbers += PIECE.wrong_number(player, len(squares), PIECES_A_SIDE, compared.missing, compared.surplus)
        # Balls go with their pieces, which are moved or taken off first.
        ends = {square: compared.moves.get(square, square) for square in squares}
        if not anywhere:
            ends = {square: end for square, end in ends.items() if PLACES[square] not in compared.surplus}
        lying = {square: ends.get(square) for square in squares if seen[square][1]}
        balls += _wrong_ball(player, lying, None if anywhere else start.ball)
    moved = (PIECE.not_at_start(seen[move.start][0], move, PLACES) for move in moves_in_order(moves))
    return [*PIECE.in_order(numbers, moved), *balls]


def _wrong_ball(player: str, lying: Mapping[int, int | None], start: int | None) -> list[Breach]:
    """Return the breach of a ball that is missing, doubled, not at ``start`` (if given), or already at the goal.

    ``lying`` maps the squares of balls to where they come with their pieces; to ``None`` if these are taken off.
    """
    balls, ends = tuple(lying), [end for end in lying.values() if end is not None]
    if ends == [start]:
        return []
    places = tuple(PLACES[ball] for ball in balls)
    if len(balls) != 1 or (start is not None and balls != (start,)):
        sentence = (
            either(
                balls,
                "{player} starts with the ball on one piece, and it is on {places}.",
                "{player} starts with the ball on one piece, and none has one.",
                player=player.capitalize(),
                places=listed(places),
            )
            if start is None
            else either(
                balls,
                "{player} starts with the ball on the piece on {place}, and it is on {places}.",
                "{player} starts with the ball on the piece on {place}, and none has one.",
                player=player.capitalize(),
                place=PLACES[start],
                places=listed(places),
            )
        )
        remedy: str = (
            Phrase("Put {player}'s ball on one piece.", player)
            if start is None
            else Phrase("Put {player}'s ball on the piece on {place}.", player, PLACES[start])
        )
        if len(ends) > 1 and start is None:
            remedy = Phrase("Leave the ball on one of them only.")
        elif start in ends:
            remedy = take_balls_off([PLACES[end] for end in ends if end != start])
        elif len(ends) > 1:
            remedy = joined((take_balls_off([PLACES[end] for end in ends[1:]]), remedy))
        needed = PLACES[_BALLS[player] if start is None else start]
        involved = places if start is None and places else dict.fromkeys((*places, needed))
        return [Breach("start-ball", sentence, remedy, tuple(involved))]
    if GOAL[player] >> balls[0] & 1:
        sentence = Phrase(
            "{player}'s ball on {place} is already on the row where it wins.", player.capitalize(), places[0]
        )
        return [Breach("start-at-goal", sentence, Phrase("Give it to a piece elsewhere."), places)]
    return []


def amend(state: DiaballikState, looks: Mapping[str, LookName], to_move: Player | None = None) -> DiaballikState:
    """Return the state with these looks on these squares and ``to_move`` to play (``None``: as before).

    Repetition counts start afresh, since positions may have been counted in error. Raises UnreadableError if the result
    is not a possible position.
    """
    check_player(PLAYERS, to_move)
    LOOK_TABLE.read_all(looks)
    shown = {**appearance_of(state), **looks}
    black, white = (_side(player, shown) for player in PLAYERS)
    if GOAL[PLAYERS[0]] >> black.ball & 1 and GOAL[PLAYERS[1]] >> white.ball & 1:
        raise UnreadableError(Phrase("both balls would be on the row where they win; expected one at most"))
    mover = mover_after_correction(PLAYERS, to_move, state.to_move)
    return settle(DiaballikState(state.options, black, white, mover), counted=True)


def _side(player: str, shown: Mapping[str, LookName]) -> Side:
    mine = {place: ball for place, (owner, ball) in LOOK_TABLE.read_all(shown).items() if owner == player}
    balls = [place for place, ball in mine.items() if ball]
    if len(mine) != PIECES_A_SIDE:
        where = ", ".join(mine) or EMPTY
        raise UnreadableError(
            Phrase(
                "{player} would have {mine} pieces ({where}); expected {pieces_a_side}",
                player,
                len(mine),
                where,
                PIECES_A_SIDE,
            )
        )
    if len(balls) != 1:
        where = ", ".join(balls) or EMPTY
        raise UnreadableError(
            Phrase("{player} would have {balls} balls ({where}); expected 1", player, len(balls), where)
        )
    return Side(GRID.squares_named(mine), SQUARE_OF[balls[0]])


def unfinished(state: DiaballikState) -> list[Unfinished]:
    """List the positions with a piece or ball in hand, before the first action and after it, in order of squares.

    Between two actions the position is the end of a shorter turn, so only these are unfinished.
    """
    if state.to_move is None:
        return []
    before = appearance_of(state)
    start = begin_turn(state, state.to_move)
    found: dict[tuple[tuple[str, LookName], ...], str] = {}
    for turn in (start, *(start.after(action) for action in actions(start))):
        done = _looks(start, turn)
        for change, instruction in _in_hand(turn):
            changed = {place: look for place, look in {**done, **change}.items() if look != before[place]}
            found.setdefault(tuple(sorted(changed.items())), instruction)
    return [Unfinished(dict(changed), instruction) for changed, instruction in found.items()]


def _looks(start: TurnInProgress, turn: TurnInProgress) -> dict[str, LookName]:
    """Return the looks of the squares where the turn so far may have changed something."""
    touched = (start.pieces ^ turn.pieces) | 1 << start.ball | 1 << turn.ball
    return {
        PLACES[square]: LOOK_TABLE.look_of[turn.player, square == turn.ball] if turn.pieces >> square & 1 else EMPTY
        for square in members(touched)
    }


def _in_hand(turn: TurnInProgress) -> Iterator[tuple[dict[str, LookName], str]]:
    if turn.ended:
        return
    if turn.moves_left:
        for square in members(turn.pieces & ~(1 << turn.ball)):
            place = PLACES[square]
            yield {place: EMPTY}, Phrase("Put down the {player} piece you picked up from {place}.", turn.player, place)
    if turn.passes_left:
        change = {PLACES[turn.ball]: LOOK_TABLE.look_of[turn.player, False]}
        yield change, Phrase("Put {player}'s ball down on the piece that gets it.", turn.player)
