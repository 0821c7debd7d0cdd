"""The board, states and turns; which turns are legal, which rule forbids the others, and what follows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import takewhile

from common.phrases import listed
from engine.options import read_options
from engine.support import breaches
from engine.support.grid import KING, Grid, members, set_of
from engine.support.players import common_announcements, one_to_move, opponent, outcome_of_announcement
from engine.values import Announcement, Breach, Certainty, Option, OptionValue, Outcome, Place, Player, Rule

GRID = Grid(6, 6)
PLACES = GRID.names
PLAYERS: tuple[Player, ...] = ("black", "white")
PASS = "pass"
other = partial(opponent, PLAYERS)
players_to_move = one_to_move
_RAYS = GRID.rays(KING)
START = (GRID.squares_named(("d4", "c3")), GRID.squares_named(("c4", "d3")))

OPTIONS = (Option("starts", "black", "Who begins.", PLAYERS),)
catalogue = breaches.rules_by_id(
    Rule("game-over", "Nothing is played once the game is over."),
    Rule("not-your-turn", "Players take turns, and put discs down with their own colour up."),
    Rule("one-disc", "One disc is put down in a turn, on an empty square."),
    Rule("outflank", "A disc that is put down must outflank at least one of the opponent's."),
    Rule("turn-all", "Every disc that is outflanked is turned over."),
    Rule("turn-no-other", "No other disc is turned over."),
    Rule("no-pass", "Only a player who can put no disc down passes."),
    Rule("disc-gone", "No disc leaves the board."),
    Rule("start", "The game begins with two discs of each colour in the middle, the same colours aslant."),
)


@dataclass(frozen=True, slots=True)
class ReversiState:
    """A position: the squares of each player's discs as sets; nobody is to move when the game is over."""

    starts: Player
    discs: tuple[int, int]
    to_move: Player | None
    announced: Announcement | None = None

    def of(self, player: Player) -> int:
        """The squares of a player's discs."""
        return self.discs[PLAYERS.index(player)]


@dataclass(frozen=True, slots=True)
class ReversiTurn:
    """A disc put on the first of ``places``, those on the others turned over; no places are a pass."""

    player: Player
    places: tuple[Place, ...] = ()


def new(options: Mapping[str, OptionValue] | None = None) -> ReversiState:
    """Give the start; raises OptionError for a bad option."""
    starts = str(read_options(OPTIONS, options)["starts"])
    return ReversiState(starts, START, starts)


def outflanked(own: int, foes: int, at: int) -> int:
    """The discs of ``foes`` that lie in a straight line between a disc put down on ``at`` and another of ``own``."""
    found = 0
    for ray in _RAYS[at]:
        line = tuple(takewhile(lambda square: foes >> square & 1, ray))
        ends = ray[len(line) : len(line) + 1]
        found |= set_of(line) if ends and own >> ends[0] & 1 else 0
    return found


def moves(own: int, foes: int) -> list[tuple[int, int]]:
    """Every square where a disc may be put down, and the discs that it outflanks, in rising order."""
    empty = GRID.every & ~(own | foes)
    return [(at, found) for at in members(empty) if (found := outflanked(own, foes, at))]


def played(discs: tuple[int, int], mover: int, put: int, turned: int) -> tuple[int, int]:
    """Both players' discs after a disc was put on the square in ``put`` and others were turned over."""
    own, foes = discs[mover] | put | turned, discs[1 - mover] & ~turned
    return (foes, own) if mover else (own, foes)


def settled(state: ReversiState) -> ReversiState:
    """The state with nobody to move once the game is over."""
    return state if outcome(state) is None else replace(state, to_move=None)


def outcome(state: ReversiState) -> Outcome | None:
    """Say how the game ended, or ``None`` while somebody can put a disc down."""
    if state.announced is not None:
        return outcome_of_announcement(state.announced, PLAYERS)
    if moves(*state.discs) or moves(*state.discs[::-1]):
        return None
    black, white = scores(state).values()
    return Outcome(None if black == white else PLAYERS[white > black], f"{black} black discs, {white} white ones")


def scores(state: ReversiState) -> Mapping[Player, int]:
    """The number of each player's discs."""
    return {player: state.of(player).bit_count() for player in PLAYERS}


def turn_of(player: Player, at: int, turned: int) -> ReversiTurn:
    """The turn that puts a disc down and turns others over."""
    return ReversiTurn(player, (PLACES[at], *GRID.names_of(turned)))


def legal_turns(state: ReversiState) -> Sequence[ReversiTurn]:
    """List every turn, by the square of the disc; only a pass where there is none."""
    player = state.to_move
    if player is None:
        return ()
    found = moves(state.of(player), state.of(other(player)))
    return tuple(turn_of(player, *move) for move in found) or (ReversiTurn(player),)


perft_turns = legal_turns


def breaches_of(state: ReversiState, turn: ReversiTurn) -> tuple[Breach, ...]:
    """The rules that a turn breaks; none when it is legal."""
    player, own, foes = turn.player, state.of(turn.player), state.of(other(turn.player))
    if state.to_move is None:
        return (breaches.game_over_breach(turn.places),)
    if not turn.places:
        places = tuple(PLACES[at] for at, _ in moves(own, foes))
        told = f"{player.capitalize()} can put a disc down on {listed(places, 'or')}."
        return (Breach("no-pass", told, "Put a disc down.", places),) if places else ()
    place, at = turn.places[0], GRID.index[turn.places[0]]
    needed, turned = outflanked(own, foes, at), GRID.squares_named(turn.places[1:])
    left, besides = GRID.names_of(needed & ~turned), GRID.names_of(turned & ~needed)
    wrong = None
    if player != state.to_move:
        wrong = "not-your-turn", f"{place} has a {player} disc, and {state.to_move} is to move."
    elif (own | foes) >> at & 1:
        wrong = "one-disc", f"There is a disc on {place} already."
    elif not needed:
        wrong = "outflank", f"The disc on {place} outflanks none."
    if wrong:
        back = f" and turn {listed(turn.places[1:])} back" if turned else ""
        return (Breach(*wrong, f"Take the disc off {place}{back}.", turn.places),)
    found: list[Breach] = []
    if left:
        sentence = f"The disc on {place} outflanks {listed(left)}, too."
        found.append(Breach("turn-all", sentence, f"Turn {listed(left)} over.", (place, *left)))
    if besides:
        sentence = f"The disc on {place} does not outflank {listed(besides)}."
        found.append(Breach("turn-no-other", sentence, f"Turn {listed(besides)} back.", besides))
    return tuple(found)


def certainty(state: ReversiState, turn: ReversiTurn) -> Certainty:
    """Say whether the turn is legal: nothing is hidden."""
    return Certainty.IMPOSSIBLE if breaches_of(state, turn) else Certainty.CERTAIN


def apply(state: ReversiState, turn: ReversiTurn) -> ReversiState:
    """Give the state after the turn; raises IllegalTurnError with the breaches."""
    if found := breaches_of(state, turn):
        raise breaches.illegal_turn(text_of(turn), found)
    put, turned = (GRID.squares_named(names) for names in (turn.places[:1], turn.places[1:]))
    discs = played(state.discs, PLAYERS.index(turn.player), put, turned)
    return settled(replace(state, discs=discs, to_move=other(turn.player)))


def text_of(turn: ReversiTurn) -> str:
    """The square of the turn's disc, or ``pass``."""
    return turn.places[0] if turn.places else PASS


def combine(turns: Sequence[ReversiTurn]) -> ReversiTurn:
    """Give the one turn there is; raises AmbiguousError otherwise: each leaves another board."""
    return breaches.only_turn(turns, text_of)


def announcements(state: ReversiState) -> Sequence[Announcement]:
    """List what may be said: either resigns, or both agree on a draw."""
    return () if state.to_move is None else common_announcements(PLAYERS)


def announce(state: ReversiState, announcement: Announcement) -> ReversiState:
    """Give the state after an announcement; raises IllegalTurnError."""
    breaches.check_announcement(announcement, announcements(state))
    return settled(replace(state, announced=announcement))
