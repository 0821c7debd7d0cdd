"""Which turns and announcements are legal, what follows from them, and turns tapped on the board.

docs/games/diaballik.md has the rulings. A turn is tapped as a piece and its destination, or as the carrier and the
receiver.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from common.phrases import Phrase
from engine.api import PossibleLooks, Tapped, Taps
from engine.games.diaballik import turns as playing
from engine.games.diaballik.explanation import breaches_of_actions
from engine.games.diaballik.notation import format_turn, result_of
from engine.games.diaballik.results import LegalTurns, results_of
from engine.games.diaballik.state import (
    EVERY,
    LOOK_TABLE,
    PLACES,
    SQUARE_OF,
    Action,
    DiaballikState,
    DiaballikTurn,
    appearance_of,
    options_from,
)
from engine.games.diaballik.table import new_state
from engine.games.diaballik.turns import (
    ANTI_PLAY,
    BALL_SHIFT,
    PIECES_MASK,
    actions,
    begin_turn,
)
from engine.showing import TableConstraint
from engine.support.breaches import illegal_turn, only_turn, rules_by_id
from engine.support.players import one_to_move
from engine.values import EMPTY, Announcement, Certainty, OptionValue, Rule

catalogue = rules_by_id(
    Rule("too-many-pieces", "A player has seven pieces, no more."),
    Rule("too-few-pieces", "A player has seven pieces, no fewer."),
    Rule("start-square", "The pieces start on the squares of the agreed start."),
    Rule("start-ball", "One piece a side starts with the ball: the one in the middle of the home row."),
    Rule("start-at-goal", "No ball starts on the row where it wins."),
    Rule("game-over", "When the game is over, no more turns are played."),
    Rule("not-your-turn", "Players take turns: wait until it is your turn."),
    Rule("no-action-left", "A player who can neither move nor pass is skipped."),
    Rule("moved-opponent-piece", "Move only your own pieces."),
    Rule("passed-opponent-ball", "Pass only your own ball."),
    Rule("carrier-moved", "The piece with the ball stays where it is until it has passed the ball."),
    Rule("moved-diagonally", "A piece moves straight: sideways, forwards or back."),
    Rule("square-taken", "A piece moves only onto an empty square, over nobody."),
    Rule("too-many-moves", "A turn has two moves of one square at most."),
    Rule("second-pass", "A turn has one pass at most."),
    Rule("pass-not-straight", "A pass goes straight along a row, a column or a diagonal."),
    Rule("pass-blocked", "No pass goes over a piece of the opponent."),
    Rule("pass-over-own", "If it was agreed, no pass goes over a piece of your own."),
    Rule("pass-to-nobody", "A pass goes to another piece of your own."),
    Rule("pass-without-ball", "Only the piece with the ball passes it."),
    Rule("goal-ends-turn", "With the ball on the far row the game is won and nothing more is done."),
    Rule("null-turn", "If it was agreed, a turn has to change something."),
    Rule("ball-missing", "Each player's ball lies on one of their own pieces."),
    Rule("ball-added", "Each player has one ball."),
    Rule("piece-added", "No piece comes onto the board during the game."),
    Rule("piece-removed", "No piece leaves the board."),
    Rule("colour-changed", "A piece stays its owner's colour."),
    Rule("anti-play-turn", "Anti-play is announced on your own turn."),
    Rule("anti-play-wall", "Anti-play is announced against a wall: a piece in every column, each linked to the next."),
    Rule("anti-play-contacts", "Anti-play is announced when three of your pieces touch the wall face to face."),
    Rule("repetition-too-soon", "A draw may be claimed from the third time a position comes up, if that was agreed."),
)
players_to_move = one_to_move
outcome = playing.outcome_of


def new(options: Mapping[str, OptionValue] | None = None) -> DiaballikState:
    """Return the starting state; raises OptionError for a bad option."""
    return new_state(options_from(options))


def legal_turns(state: DiaballikState) -> Sequence[DiaballikTurn]:
    """List one turn for each distinct result, then the turns that end by announcing anti-play.

    The sequence is lazy. It is sorted by where the ball ends, then by the pieces' squares.
    """
    return _turns(state, claims=True)


def perft_turns(state: DiaballikState) -> Sequence[DiaballikTurn]:
    """List one turn for each distinct result, without announcements; includes the null turn if it is allowed."""
    return _turns(state, claims=False)


def _turns(state: DiaballikState, *, claims: bool) -> Sequence[DiaballikTurn]:
    return () if state.to_move is None else LegalTurns(playing.begin_turn(state, state.to_move), claims=claims)


def count_results(state: DiaballikState) -> int:
    """Return the number of perft turns."""
    return 0 if state.to_move is None else len(results_of(playing.begin_turn(state, state.to_move)))


def announcements(state: DiaballikState) -> Sequence[Announcement]:
    """List what may be announced now: anti-play, a repetition, an agreed draw or a resignation."""
    return playing.announcements(state, playing.claimants(state))


def announce(state: DiaballikState, announcement: Announcement) -> DiaballikState:
    """Return the state after an announcement; raises IllegalTurnError, with the breaches if a rule forbids it."""
    return playing.apply_announcement(state, announcement, playing.claimants(state))


def certainty(state: DiaballikState, turn: DiaballikTurn) -> Certainty:
    """Return whether the turn is legal: nothing is hidden, so it is certain or impossible."""
    return Certainty.IMPOSSIBLE if breaches_of_actions(state, turn) else Certainty.CERTAIN


def apply(state: DiaballikState, turn: DiaballikTurn) -> DiaballikState:
    """Return the state after the turn, with its actions in any legal order; raises IllegalTurnError with breaches."""
    breaches = breaches_of_actions(state, turn)
    if breaches:
        raise illegal_turn(format_turn(turn), breaches)
    return playing.state_after(state, turn.player, result_of(state, turn), claims=turn.claims)


def combine(turns: Sequence[DiaballikTurn]) -> DiaballikTurn:
    """Merge turns into the one that was played; a turn without a claim is preferred, since claims are heard, not seen.

    Raises AmbiguousError if different turns remain, or if there are none.
    """
    left = [turn for turn in turns if not turn.claims or replace(turn, claims=False) not in turns]
    return only_turn(left, format_turn)


def turns_showing(state: DiaballikState, could_be: PossibleLooks) -> Iterator[DiaballikTurn]:
    """Yield every legal turn after which the table could look like this, including claims; see ``engine.showing``."""
    if state.to_move is None:
        return
    start = playing.begin_turn(state, state.to_move)
    seen = TableConstraint(appearance_of(state), could_be)
    bare, piece, ball = (
        sum(1 << square for square, place in enumerate(PLACES) if seen.could_show(place, look))
        for look in (EMPTY, LOOK_TABLE.look_of[state.to_move, False], LOOK_TABLE.look_of[state.to_move, True])
    )
    if any(start.foes >> square & 1 and place in seen.changed for square, place in enumerate(PLACES)):
        return
    turns = LegalTurns(start, claims=True)
    found = []
    for index, result in enumerate(turns.results):
        pieces, carrier = result & PIECES_MASK, 1 << (result >> BALL_SHIFT)
        if not (pieces & ~carrier & ~piece or carrier & ~ball or EVERY & ~(pieces | start.foes) & ~bare):
            moved = (pieces ^ start.pieces) | (carrier ^ 1 << start.ball)
            found.append((moved.bit_count(), index))
    for _, index in sorted(found):
        yield turns[index]


def tapped(state: DiaballikState, taps: Taps) -> Tapped[DiaballikTurn]:
    """List what may follow these taps: the start or end of an action, or an announcement of anti-play."""
    if state.to_move is None:
        return Tapped()
    now, done = begin_turn(state, state.to_move), []
    squares, claims = (taps[:-1], True) if taps[-1:] == (ANTI_PLAY,) else (taps, False)
    if not set(squares) <= SQUARE_OF.keys():
        return Tapped()
    numbers = [SQUARE_OF[square] for square in squares]
    for start, end in zip(numbers[::2], numbers[1::2], strict=False):
        action = Action(start, end, passes=start == now.ball)
        if action not in actions(now):
            return Tapped()
        now = now.after(action)
        done.append(action)
    if len(numbers) % 2:
        ends = {action.end for action in actions(now) if action.start == numbers[-1]}
        return Tapped() if claims else Tapped(tuple(PLACES[end] for end in sorted(ends)))
    plain, claiming = (DiaballikTurn(state.to_move, tuple(done), claims=each) for each in (False, True))
    turn = claiming if claims else plain
    is_legal = bool(done) and certainty(state, turn) is Certainty.CERTAIN
    if claims:
        return Tapped(turn=turn if is_legal else None)
    starts = {action.start for action in actions(now)}
    # Where anti-play is automatic, there is nothing to announce.
    may_claim = bool(done) and not state.options.automatic and certainty(state, claiming) is Certainty.CERTAIN
    choices = {ANTI_PLAY: Phrase("announces anti-play")} if may_claim else {}
    return Tapped(tuple(PLACES[start] for start in sorted(starts)), choices, turn if is_legal else None)
