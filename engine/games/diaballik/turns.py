"""What may be done: announcements, single actions, whole turns in any order, and the states that follow.

A *result* is the mover's pieces and ball after a turn; the opponent's never change. It is packed as
``pieces | ball << 49``. Here turns are played action by action; ``results`` looks their results up.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import NamedTuple

from common.phrases import Phrase, chained, either
from engine.games.diaballik.state import (
    CONTACTS_TO_CLAIM,
    EVERY,
    GOAL,
    GRID,
    NEAR,
    PLAYERS,
    RAYS,
    Action,
    DiaballikOptions,
    DiaballikState,
    DiaballikTurn,
    Side,
    between_squares,
    is_wall,
    other,
    touching,
)
from engine.support import repetition
from engine.support.breaches import check_announcement
from engine.support.grid import members, set_of
from engine.support.players import DRAW, REPETITION, RESIGN, common_announcements, outcome_of_announcement
from engine.support.repetition import CLAIMED_FROM, digest, times
from engine.values import Announcement, Breach, Outcome, Player

ANTI_PLAY = "anti-play"


def contacts(options: DiaballikOptions, own: int, foes: int, claimant: Player) -> int:
    """Return the claimant's pieces that touch the opponent's wall; empty if there is no wall."""
    return own & touching(foes, claimant, front_only=options.front_only) if is_wall(foes) else 0


def may_claim(options: DiaballikOptions, own: int, foes: int, claimant: Player) -> bool:
    """Return whether the claimant may announce anti-play, now that the opponent's turn is over."""
    return contacts(options, own, foes, claimant).bit_count() >= CONTACTS_TO_CLAIM


def position_key(state: DiaballikState, to_move: Player) -> str:
    """Return the digest under which a position's occurrences are counted."""
    text = f"{to_move} {state.black.pieces:x}*{state.black.ball} {state.white.pieces:x}*{state.white.ball}"
    return digest(text)


def announcements(state: DiaballikState, claimants: Sequence[Player]) -> tuple[Announcement, ...]:
    """List what may be announced now: anti-play (by ``claimants`` only), a repetition, a draw, resignations."""
    if state.to_move is None:
        return ()
    found = [
        Announcement(ANTI_PLAY, player)
        for player in claimants
        if may_claim(state.options, state.side(player).pieces, state.side(other(player)).pieces, player)
    ]
    if state.counts and times(state.counts, position_key(state, state.to_move)) >= CLAIMED_FROM:
        found.append(Announcement(REPETITION, state.to_move))
    return (*found, *common_announcements(PLAYERS))


def apply_announcement(state: DiaballikState, said: Announcement, claimants: Sequence[Player]) -> DiaballikState:
    """Return the final state after an announcement; raises IllegalTurnError, with the breaches if a rule forbids it."""

    def breaches() -> list[Breach]:
        if said.kind == ANTI_PLAY and said.player in PLAYERS:
            return [anti_play_breach(state, said.player, claimants)]
        return [_repetition_breach(state, said.player)] if said.kind == REPETITION and said.player in PLAYERS else []

    check_announcement(said, announcements(state, claimants), breaches)
    return replace(state, to_move=None, announced=said)


def _repetition_breach(state: DiaballikState, player: Player) -> Breach:
    """Return the breach of an unjustified claim of a draw: not agreed, out of turn, or too soon."""
    if state.options.repetition_draw and player != state.to_move:
        sentence = Phrase("It is {to_move}'s turn, so {player} can't claim a draw now.", state.to_move, player)
        return Breach("not-your-turn", sentence, Phrase("Wait for {player}'s turn.", player))
    return Breach(
        "repetition-too-soon",
        either(
            state.options.repetition_draw,
            "{player} can't claim a draw: this position hasn't come up three times.",
            "{player} can't claim a draw: a draw by repetition was not agreed.",
            player.capitalize(),
        ),
        Phrase("Play on."),
    )


def anti_play_breach(state: DiaballikState, player: Player, claimants: Sequence[Player]) -> Breach:
    """Return the breach of an unjustified announcement of anti-play: out of turn, no wall, or too few contacts."""
    if player not in claimants:
        return Breach(
            "anti-play-turn",
            Phrase("It is {to_move}'s turn, so {player} can't announce anti-play now.", state.to_move, player),
            Phrase("Wait for {player}'s turn.", player),
        )
    return claim_breach(state.options, state.side(player).pieces, state.side(other(player)).pieces, player)


def claim_breach(options: DiaballikOptions, own: int, foes: int, player: Player) -> Breach:
    """Return the breach of announcing anti-play with these sets of pieces: no wall, or too few contacts."""
    foe = other(player)
    if not is_wall(foes):
        sentence = Phrase("{foe}'s pieces don't form a wall from one side of the board to the other.", foe.capitalize())
        return Breach("anti-play-wall", sentence, Phrase("Play on."), GRID.names_of(foes))
    places = GRID.names_of(contacts(options, own, foes, player))
    sentence = (
        (
            either(
                options.front_only,
                "Only {places} of {player}'s pieces touches {foe}'s wall from {player}'s side of the "
                "board, on {names}; {needed} are needed.",
                "Only {places} of {player}'s pieces touches {foe}'s wall, on {names}; {needed} are needed.",
                len(places),
                player,
                foe,
                chained(places),
                CONTACTS_TO_CLAIM,
            )
            if len(places) == 1
            else either(
                options.front_only,
                "Only {places} of {player}'s pieces touch {foe}'s wall from {player}'s side of the "
                "board, on {names}; {needed} are needed.",
                "Only {places} of {player}'s pieces touch {foe}'s wall, on {names}; {needed} are needed.",
                len(places),
                player,
                foe,
                chained(places),
                CONTACTS_TO_CLAIM,
            )
        )
        if places
        else either(
            options.front_only,
            "None of {player}'s pieces touches {foe}'s wall from {player}'s side of the board; {needed} are needed.",
            "None of {player}'s pieces touches {foe}'s wall; {needed} are needed.",
            player,
            foe,
            CONTACTS_TO_CLAIM,
        )
    )
    remedy = (
        Phrase("Bring 1 more piece right up to the wall.")
        if CONTACTS_TO_CLAIM - len(places) == 1
        else Phrase("Bring {number} more pieces right up to the wall.", CONTACTS_TO_CLAIM - len(places))
    )
    return Breach("anti-play-contacts", sentence, remedy, places)


def outcome_by_announcement(said: Announcement) -> Outcome:
    """Return the outcome of a game that ended by an announcement."""
    if said.kind == ANTI_PLAY and said.player in PLAYERS:
        return Outcome(said.player, Phrase("anti-play: {opponent}'s pieces wall off the board", other(said.player)))
    return outcome_of_announcement(said, PLAYERS)


KINDS = (ANTI_PLAY, REPETITION, RESIGN, DRAW)
"""Every kind of announcement that a state may hold."""


BALL_SHIFT = GRID.squares
PIECES_MASK = (1 << BALL_SHIFT) - 1


def subsets(squares: int) -> list[int]:
    """Return every subset of a set of squares."""
    found = [0]
    for square in members(squares):
        found += [chosen | 1 << square for chosen in found]
    return found


def _seen_along(ray: tuple[int, ...]) -> dict[int, int]:
    """Return, for each set of blockers on a ray, the squares before the first blocker."""
    found = {}
    whole = set_of(ray)
    for blockers in subsets(whole):
        free = 0
        for passed in ray:
            if blockers >> passed & 1:
                break
            free |= 1 << passed
        found[blockers] = free
    return found


@cache
def _lines(square: int) -> tuple[tuple[int, dict[int, int]], ...]:
    """Return the four lines through a square: each one's mask, and the visible squares by set of blockers."""
    lines = []
    rays = RAYS[square]
    for there, back in zip(rays[:4], rays[4:], strict=True):
        ahead, behind = _seen_along(there), _seen_along(back)
        seen = {one | two: free | more for one, free in ahead.items() for two, more in behind.items()}
        lines.append((set_of((*there, *back)), seen))
    return tuple(lines)


def visible(ball: int, foes: int) -> int:
    """Return the squares in line with the ball, before the first of the opponent's pieces."""
    (a, from_a), (b, from_b), (c, from_c), (d, from_d) = _lines(ball)
    return from_a[foes & a] | from_b[foes & b] | from_c[foes & c] | from_d[foes & d]


MOST_MOVES = 2
MOST_ACTIONS = 3


class TurnInProgress(NamedTuple):
    """A turn in progress: the player, the options, the pieces and the ball, and the moves and passes left."""

    player: str
    options: DiaballikOptions
    foes: int
    pieces: int
    ball: int
    moves_left: int = MOST_MOVES
    passes_left: int = 1

    @property
    def side(self) -> Side:
        """The mover's pieces and ball."""
        return Side(self.pieces, self.ball)

    @property
    def ended(self) -> bool:
        """Whether the game is over: the ball is on the far row, or anti-play has ended it automatically."""
        if GOAL[self.player] >> self.ball & 1:
            return True
        return self.options.automatic and may_claim(self.options, self.pieces, self.foes, self.player)

    def after(self, action: Action) -> TurnInProgress:
        """Return the turn after one more action, which must be legal."""
        if action.passes:
            return self._replace(ball=action.end, passes_left=self.passes_left - 1)
        return self._replace(pieces=self.pieces ^ (1 << action.start | 1 << action.end), moves_left=self.moves_left - 1)


def begin_turn(state: DiaballikState, player: str) -> TurnInProgress:
    """Return the player's turn before its first action."""
    side = state.side(player)
    return TurnInProgress(player, state.options, state.side(other(player)).pieces, side.pieces, side.ball)


def receivers(turn: TurnInProgress) -> int:
    """Return the own pieces that the ball can be passed to, whether or not a pass is left."""
    return _receivers(turn.options, turn.pieces & ~(1 << turn.ball), turn.ball, turn.foes)


def _receivers(options: DiaballikOptions, others: int, ball: int, foes: int) -> int:
    seen = visible(ball, foes) & others
    if options.pass_over_own:
        return seen
    return set_of(square for square in members(seen) if not between_squares(ball, square) & others)


def actions(turn: TurnInProgress) -> Iterator[Action]:
    """Yield every legal next action: moves in order of squares, then passes. Empty once the turn has ended."""
    if turn.ended:
        return
    if turn.moves_left:
        empty = EVERY & ~(turn.pieces | turn.foes)
        for start in members(turn.pieces & ~(1 << turn.ball)):
            for end in members(NEAR[start] & empty):
                yield Action(start, end, passes=False)
    if turn.passes_left:
        for end in members(receivers(turn)):
            yield Action(turn.ball, end, passes=True)


def results_by_playing(turn: TurnInProgress) -> list[int]:
    """Return every distinct result of a whole turn, packed, found by playing every sequence of actions."""
    player, options, foes = turn[:3]
    goal = GOAL[player]
    found: set[int] = set()
    # Plain tuples of what changes: pieces, ball, moves and passes left.
    now = {(turn.pieces, turn.ball, turn.moves_left, turn.passes_left)}
    for _ in range(MOST_ACTIONS):
        after: set[tuple[int, int, int, int]] = set()
        for pieces, ball, moves, passes in now:
            if goal >> ball & 1 or (options.automatic and may_claim(options, pieces, foes, player)):
                continue
            others = pieces & ~(1 << ball)
            if moves:
                empty = EVERY & ~(pieces | foes)
                for start in members(others):
                    for end in members(NEAR[start] & empty):
                        after.add((pieces ^ (1 << start | 1 << end), ball, moves - 1, passes))
            if passes:
                for end in members(_receivers(options, others, ball, foes)):
                    after.add((pieces, end, moves, passes - 1))
        found.update(pieces | ball << BALL_SHIFT for pieces, ball, _, _ in after)
        now = after
    if not options.null_turn:
        found.discard(turn.pieces | turn.ball << BALL_SHIFT)
    return list(found)


def can_act(turn: TurnInProgress) -> bool:
    """Return whether the player has any legal action."""
    return next(actions(turn), None) is not None


def canonical(turn: TurnInProgress, result: Side) -> tuple[Action, ...] | None:
    """Return the canonical actions that lead to a result: the fewest, then moves first, then the lowest squares.

    ``None`` if no turn has that result. The option ``null_turn`` is not checked.
    """
    for length in range(1, MOST_ACTIONS + 1):
        found = _actions_of_length(turn, result, length)
        if found is not None:
            return found
    return None


def _actions_of_length(turn: TurnInProgress, result: Side, length: int) -> tuple[Action, ...] | None:
    if not length:
        return () if turn.side == result else None
    passing = turn.ball != result.ball
    moves = length - passing
    apart = (turn.pieces ^ result.pieces).bit_count()
    if (passing and not turn.passes_left) or moves > turn.moves_left or apart > 2 * moves or turn.ended:
        return None
    if moves:
        empty = EVERY & ~(turn.pieces | turn.foes)
        starts = turn.pieces & ~(1 << turn.ball)
        # With no move to spare, each one must take a piece from a square to vacate to one to fill.
        if apart == 2 * moves:
            starts &= ~result.pieces
            empty &= result.pieces
        for start in members(starts):
            for end in members(NEAR[start] & empty):
                action = Action(start, end, passes=False)
                rest = _actions_of_length(turn.after(action), result, length - 1)
                if rest is not None:
                    return (action, *rest)
    if passing and receivers(turn) >> result.ball & 1:
        action = Action(turn.ball, result.ball, passes=True)
        rest = _actions_of_length(turn.after(action), result, length - 1)
        if rest is not None:
            return (action, *rest)
    return None


def state_after(state: DiaballikState, player: str, result: Side, *, claims: bool) -> DiaballikState:
    """Return the state after a legal turn with this result; ``claims`` if it ends by announcing anti-play."""
    if player == PLAYERS[0]:
        after = replace(state, black=result, to_move=other(player))
    else:
        after = replace(state, white=result, to_move=other(player))
    if claims:
        return replace(after, to_move=None, announced=Announcement(ANTI_PLAY, player))
    return settle(after, counted=True)


def winner_by_ball(state: DiaballikState) -> str | None:
    """Return the player whose ball is on the far row, or ``None``."""
    return next((player for player in PLAYERS if GOAL[player] >> state.side(player).ball & 1), None)


def settle(state: DiaballikState, *, counted: bool) -> DiaballikState:
    """Return the state with the right player to move: a stuck player is skipped; ``None`` if the game is over.

    ``counted`` counts this occurrence of the position (with the option ``repetition_draw``). Both players can't be
    stuck at once: of fourteen pieces, always more than the two carriers are beside empty squares.
    """
    to_move = state.to_move
    if to_move is None:
        return state
    if winner_by_ball(state) is not None:
        return replace(state, to_move=None)
    if state.options.automatic:
        # The player who has just moved comes first, since they could have announced it first.
        for player in (other(to_move), to_move):
            if may_claim(state.options, state.side(player).pieces, state.side(other(player)).pieces, player):
                return replace(state, to_move=None, announced=Announcement(ANTI_PLAY, player))
    if not can_act(begin_turn(state, to_move)):
        to_move = other(to_move)
        state = replace(state, to_move=to_move)
    if state.options.repetition_draw and counted:
        state = replace(state, counts=repetition.counted(state.counts, position_key(state, to_move)))
    return state


def claimants(state: DiaballikState) -> tuple[str, ...]:
    """Return who may announce anti-play now: the player to move, and an opponent who was skipped."""
    if state.to_move is None:
        return ()
    skipped = other(state.to_move)
    return (state.to_move,) if can_act(begin_turn(state, skipped)) else (state.to_move, skipped)


def outcome_of(state: DiaballikState) -> Outcome | None:
    """Return how the game ended, or ``None`` while it goes on."""
    if state.announced is not None:
        return outcome_by_announcement(state.announced)
    winner = winner_by_ball(state)
    return None if winner is None else Outcome(winner, Phrase("{winner}'s ball is on the far row", winner))


def turn_with_result(start: TurnInProgress, result: Side, *, claims: bool = False) -> DiaballikTurn:
    """Return the turn with canonical actions that has this result; some legal turn must have it."""
    found = canonical(start, result)
    if found is None:
        raise AssertionError(f"no actions lead to the result {result}")
    return DiaballikTurn(start.player, found, claims)


def unpack(result: int) -> Side:
    """Return a packed result as pieces and ball."""
    return Side(result & PIECES_MASK, result >> BALL_SHIFT)
