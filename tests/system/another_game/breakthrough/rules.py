"""The board, states and turns; which turns are legal, which rule forbids the others, and what follows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from engine.options import read_options
from engine.support import breaches
from engine.support.grid import Grid, members
from engine.support.players import (
    common_announcements,
    one_to_move,
    opponent,
    outcome_of_announcement,
)
from engine.values import Announcement, Breach, Certainty, Option, OptionValue, Outcome, Place, Player, Rule

GRID = Grid(6, 6)
SIZE = GRID.columns
PLACES = GRID.names
PLAYERS: tuple[Player, ...] = ("red", "blue")
other = partial(opponent, PLAYERS)
players_to_move = one_to_move
FORWARD: Mapping[Player, int] = {"red": 1, "blue": -1}
"""The way each player's discs go: up or down the rows."""
GOAL: Mapping[Player, int] = {"red": GRID.every >> GRID.squares - SIZE << GRID.squares - SIZE, "blue": (1 << SIZE) - 1}
_AHEAD = {player: GRID.neighbours(((0, way),)) for player, way in FORWARD.items()}
_ASLANT = {player: GRID.neighbours(((-1, way), (1, way))) for player, way in FORWARD.items()}
MOST_DISCS = 2 * SIZE

OPTIONS = (Option("starts", "red", "Who begins.", PLAYERS),)
catalogue = breaches.rules_by_id(
    Rule("game-over", "Nothing is played once the game is over."),
    Rule("not-your-turn", "Players take turns, and move discs of their own."),
    Rule("one-disc", "One disc moves in a turn."),
    Rule("one-step", "A disc moves by one square."),
    Rule("forward", "A disc moves forward, straight or diagonally."),
    Rule("own-in-the-way", "A disc never takes one of its own colour."),
    Rule("takes-diagonally", "A disc takes diagonally forward, never straight ahead."),
    Rule("disc-gone", "A disc leaves the board only when it is taken."),
    Rule("disc-added", "No disc comes onto the board."),
    Rule("start", "Each player begins with full rows at their own edge."),
)


@dataclass(frozen=True, slots=True)
class BreakthroughState:
    """A position: the squares of each player's discs as sets; nobody is to move when the game is over."""

    starts: Player
    discs: tuple[int, int]
    to_move: Player | None
    announced: Announcement | None = None

    def of(self, player: Player) -> int:
        """The squares of a player's discs."""
        return self.discs[PLAYERS.index(player)]


@dataclass(frozen=True, slots=True)
class BreakthroughTurn:
    """One disc moved by one square; ``takes`` where a disc of the opponent's stood."""

    player: Player
    start: Place
    end: Place
    takes: bool = False

    @property
    def places(self) -> tuple[Place, ...]:
        """The square the disc leaves and the one it comes to."""
        return self.start, self.end


def new(options: Mapping[str, OptionValue] | None = None) -> BreakthroughState:
    """Give the start; raises OptionError for a bad option."""
    starts, discs = str(read_options(OPTIONS, options)["starts"]), (1 << MOST_DISCS) - 1
    return BreakthroughState(starts, (discs, discs << GRID.squares - MOST_DISCS), starts)


def steps(player: Player, own: int, foes: int) -> Iterator[tuple[int, int]]:
    """Every move as its first and last square, in rising order."""
    for start in members(own):
        for end in members(_AHEAD[player][start] & ~(own | foes) | _ASLANT[player][start] & ~own):
            yield start, end


def winner(discs: tuple[int, int]) -> tuple[Player, str] | None:
    """Who has won, and how."""
    for player, own, foes in zip(PLAYERS, discs, discs[::-1], strict=True):
        if own & GOAL[player]:
            return player, f"a {player} disc is on the far row"
        if not foes:
            return player, f"{player} has taken every disc"
    return None


def settled(state: BreakthroughState) -> BreakthroughState:
    """The state with nobody to move once the game is over."""
    return state if outcome(state) is None else replace(state, to_move=None)


def outcome(state: BreakthroughState) -> Outcome | None:
    """Say how the game ended, or ``None`` while it goes on."""
    if state.announced is not None:
        return outcome_of_announcement(state.announced, PLAYERS)
    won = winner(state.discs)
    return None if won is None else Outcome(*won)


def turn_of(state: BreakthroughState, player: Player, start: int, end: int) -> BreakthroughTurn:
    """The turn from one square to another, legal or not."""
    return BreakthroughTurn(player, PLACES[start], PLACES[end], bool(state.of(other(player)) >> end & 1))


def legal_turns(state: BreakthroughState) -> Sequence[BreakthroughTurn]:
    """List every turn, by the squares it starts and ends on."""
    who = players_to_move(state)
    return tuple(turn_of(state, me, *step) for me in who for step in steps(me, state.of(me), state.of(other(me))))


perft_turns = legal_turns


def breach_of(state: BreakthroughState, turn: BreakthroughTurn) -> Breach | None:
    """The rule that a turn breaks first, ``None`` when it is legal."""
    player, start, end = turn.player, GRID.index[turn.start], GRID.index[turn.end]
    own, foes = state.of(player), state.of(other(player))
    rows = (GRID.row_of(end) - GRID.row_of(start)) * FORWARD[player]
    if state.to_move is None:
        return breaches.game_over(turn.places)
    if player != state.to_move or not own >> start & 1:
        rule, told = "not-your-turn", f"{state.to_move.capitalize()} is to move, and has no disc on {turn.start}."
    elif own >> end & 1:
        rule, told = "own-in-the-way", f"On {turn.end} stands a {player} disc already."
    elif rows <= 0:
        rule, told = "forward", f"{turn.start} to {turn.end} is not forward."
    elif rows > 1 or abs(GRID.column_of(end) - GRID.column_of(start)) > 1:
        rule, told = "one-step", f"{turn.start} to {turn.end} is further than one square."
    elif foes & _AHEAD[player][start] & 1 << end:
        rule, told = "takes-diagonally", f"The disc on {turn.end} stands straight ahead of {turn.start}."
    else:
        return None
    return Breach(rule, told, f"Put the disc back on {turn.start}.", turn.places)


def certainty(state: BreakthroughState, turn: BreakthroughTurn) -> Certainty:
    """Say whether the turn is legal: nothing is hidden."""
    return Certainty.CERTAIN if breach_of(state, turn) is None else Certainty.IMPOSSIBLE


def apply(state: BreakthroughState, turn: BreakthroughTurn) -> BreakthroughState:
    """Give the state after the turn; raises IllegalTurnError with the breach."""
    breach = breach_of(state, turn)
    if breach is not None:
        raise breaches.illegal_turn(f"{turn.start}-{turn.end}", (breach,))
    discs = played(state.discs, PLAYERS.index(turn.player), GRID.index[turn.start], GRID.index[turn.end])
    return settled(replace(state, discs=discs, to_move=other(turn.player)))


def played(discs: tuple[int, int], mover: int, start: int, end: int) -> tuple[int, int]:
    """Both players' discs after a move."""
    own, foes = discs[mover] ^ (1 << start | 1 << end), discs[1 - mover] & ~(1 << end)
    return (foes, own) if mover else (own, foes)


def combine(turns: Sequence[BreakthroughTurn]) -> BreakthroughTurn:
    """Give the one turn there is; raises AmbiguousError otherwise: each leaves another board."""
    return breaches.only_turn(turns, lambda turn: f"{turn.start}-{turn.end}")


def announcements(state: BreakthroughState) -> Sequence[Announcement]:
    """List what may be said: either resigns, or both agree on a draw."""
    return () if state.to_move is None else common_announcements(PLAYERS)


def announce(state: BreakthroughState, announcement: Announcement) -> BreakthroughState:
    """Give the state after an announcement; raises IllegalTurnError."""
    breaches.check_announcement(announcement, announcements(state))
    return settled(replace(state, announced=announcement))
