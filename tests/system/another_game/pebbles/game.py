"""The rules of Pebbles: players put one pebble at a time on an empty square; three in a row win."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from types import MappingProxyType

from engine.api import (
    EMPTY,
    Announcement,
    Appearance,
    Breach,
    Certainty,
    Clock,
    Game,
    Hint,
    LookName,
    Option,
    OptionValue,
    Outcome,
    Place,
    Player,
    Rule,
    Strength,
    Tally,
    Unfinished,
)
from engine.errors import AmbiguousError, IllegalTurnError, UnreadableError
from engine.options import read_options
from engine.support.announcements import (
    common_announcements,
    format_announcement,
    outcome_of_announcement,
    parse_announcement,
)
from engine.support.playouts import play_random_games
from engine.support.rules import OneAtATime

PLACES = tuple(f"{column}{row}" for row in "123" for column in "abc")
PLAYERS = ("red", "blue")
LOOKS = {"red": "red pebble", "blue": "blue pebble"}
SEEN = (EMPTY, *LOOKS.values())
OPTIONS = (Option("starts", "red", "Who begins.", PLAYERS),)
RULES: Mapping[str, Rule] = MappingProxyType(
    {
        "one-pebble": Rule("one-pebble", "Put down one pebble in a turn."),
        "own-pebble": Rule("own-pebble", "Put down a pebble of your own."),
        "stays": Rule("stays", "A pebble stays where it was put."),
    }
)
LINES = ("a1 b1 c1", "a2 b2 c2", "a3 b3 c3", "a1 a2 a3", "b1 b2 b3", "c1 c2 c3", "a1 b2 c3", "a3 b2 c1")


@dataclass(frozen=True)
class Put:
    """One pebble put on one square."""

    player: Player
    place: Place

    @property
    def places(self) -> tuple[Place, ...]:
        """The square."""
        return (self.place,)


@dataclass(frozen=True)
class Pebbled:
    """Whose pebbles lie where, who plays next, and what was said that ended the game."""

    red: frozenset[Place]
    blue: frozenset[Place]
    to_move: Player | None
    announced: Announcement | None = None

    def owner(self, place: Place) -> Player | None:
        """Whose pebble lies on the square."""
        return "red" if place in self.red else "blue" if place in self.blue else None


def _winner(red: frozenset[Place], blue: frozenset[Place]) -> Player | None:
    for player, pebbles in (("red", red), ("blue", blue)):
        if any(pebbles.issuperset(line.split()) for line in LINES):
            return player
    return None


def _state(red: frozenset[Place], blue: frozenset[Place], to_move: Player | None) -> Pebbled:
    over = _winner(red, blue) is not None or len(red | blue) == len(PLACES)
    return Pebbled(red, blue, None if over else to_move)


def _pebbles_after(state: Pebbled, turn: Put) -> tuple[frozenset[Place], frozenset[Place]]:
    if turn.player == "red":
        return state.red | {turn.place}, state.blue
    return state.red, state.blue | {turn.place}


def _read_looks(looks: Appearance, to_move: Player | None) -> Pebbled:
    unknown = [f"{place}: {look}" for place, look in looks.items() if place not in PLACES or look not in SEEN]
    if unknown:
        raise UnreadableError(f"there is no {unknown[0]}")
    red, blue = (frozenset(place for place, look in looks.items() if look == LOOKS[side]) for side in PLAYERS)
    return _state(red, blue, to_move)


class PebblesRules(OneAtATime[Pebbled, Put]):
    """What may be put where."""

    catalogue = RULES

    def new(self, options: Mapping[str, OptionValue] | None = None) -> Pebbled:
        return Pebbled(frozenset(), frozenset(), str(read_options(OPTIONS, options)["starts"]))

    def legal_turns(self, state: Pebbled) -> Sequence[Put]:
        if state.to_move is None:
            return ()
        return tuple(Put(state.to_move, place) for place in PLACES if state.owner(place) is None)

    def announcements(self, state: Pebbled) -> Sequence[Announcement]:
        return () if state.to_move is None else common_announcements(PLAYERS)

    def announce(self, state: Pebbled, announcement: Announcement) -> Pebbled:
        if announcement not in self.announcements(state):
            raise IllegalTurnError(f"{format_announcement(announcement)} can't be said now")
        return replace(state, to_move=None, announced=announcement)

    def certainty(self, state: Pebbled, turn: Put) -> Certainty:
        return Certainty.CERTAIN if turn in self.legal_turns(state) else Certainty.IMPOSSIBLE

    def apply(self, state: Pebbled, turn: Put) -> Pebbled:
        if turn not in self.legal_turns(state):
            raise IllegalTurnError(f"{turn.place} is no legal turn")
        return _state(*_pebbles_after(state, turn), PLAYERS[1 - PLAYERS.index(turn.player)])

    def combine(self, turns: Sequence[Put]) -> Put:
        if len(set(turns)) != 1:
            raise AmbiguousError("these turns leave different boards")
        return turns[0]

    def outcome(self, state: Pebbled) -> Outcome | None:
        if state.announced is not None:
            return outcome_of_announcement(state.announced, PLAYERS)
        winner = _winner(state.red, state.blue)
        if winner is not None:
            return Outcome(winner, "three in a row")
        return None if state.to_move is not None else Outcome(None, "the board is full")


class PebblesTable:
    """What lies where."""

    def set_up(
        self, appearance: Appearance, options: Mapping[str, OptionValue] | None = None, *, anywhere: bool = False
    ) -> Pebbled:
        wrong = tuple(place for place in PLACES if appearance.get(place, EMPTY) != EMPTY)
        if wrong:
            breach = Breach("one-pebble", "The board is not empty.", "Take the pebbles off.", wrong)
            raise IllegalTurnError(breach.sentence, (breach,))
        return GAME.rules.new(options)

    def appearance(self, state: Pebbled) -> Appearance:
        owners = {place: state.owner(place) for place in PLACES}
        return {place: EMPTY if owner is None else LOOKS[owner] for place, owner in owners.items()}

    def amend(self, state: Pebbled, looks: Mapping[Place, LookName], to_move: Player | None = None) -> Pebbled:
        shown = {**self.appearance(state), **looks}
        return _read_looks(shown, to_move or state.to_move)

    def explain(self, before: Pebbled, after: Appearance) -> tuple[Breach, ...]:
        believed = self.appearance(before)
        changed = [place for place in PLACES if after.get(place, believed[place]) != believed[place]]
        moved = tuple(place for place in changed if believed[place] != EMPTY)
        if moved:
            return (Breach("stays", RULES["stays"].sentence, "Put it back.", moved),)
        mine = LOOKS.get(before.to_move or "")
        foreign = tuple(place for place in changed if after[place] != mine)
        if foreign:
            return (Breach("own-pebble", RULES["own-pebble"].sentence, "Take it off.", foreign),)
        if len(changed) > 1:
            return (Breach("one-pebble", RULES["one-pebble"].sentence, "Leave only one.", tuple(changed)),)
        return ()

    def unfinished(self, state: Pebbled) -> Sequence[Unfinished]:
        return ()


class PebblesNotation:
    """Texts."""

    def format_state(self, state: Pebbled) -> str:
        board = "".join({"red": "r", "blue": "b", None: "."}[state.owner(place)] for place in PLACES)
        said = "" if state.announced is None else f" announced={format_announcement(state.announced)}"
        return f"{board} {state.to_move or '-'}{said}"

    def parse_state(self, text: str) -> Pebbled:
        position, _, said = text.strip().lower().partition("announced=")
        board, _, to_move = position.strip().partition(" ")
        if len(board) != len(PLACES) or set(board) - set("rb.") or to_move.strip() not in (*PLAYERS, "-"):
            raise UnreadableError(f"cannot read {text!r}; expected nine of r, b and . and who plays next")
        red, blue = (frozenset(PLACES[at] for at, mark in enumerate(board) if mark == side) for side in "rb")
        state = _state(red, blue, None if to_move.strip() == "-" else to_move.strip())
        return replace(state, announced=parse_announcement(said, PLAYERS), to_move=None) if said else state

    def format_turn(self, turn: Put) -> str:
        return turn.place

    def parse_turn(self, state: Pebbled, text: str, player: Player | None = None) -> Put:
        place = text.strip().lower()
        if place not in PLACES:
            raise UnreadableError(f"cannot read {text!r}; expected a square such as b2")
        if state.to_move is None or state.owner(place) is not None:
            raise IllegalTurnError(f"no pebble can be put on {place} now")
        if player not in (None, state.to_move):
            raise IllegalTurnError(f"it is not {player}'s turn; {state.to_move} plays next")
        return Put(state.to_move, place)

    def describe(self, turn: Put) -> str:
        return f"{turn.player.capitalize()} puts a pebble on {turn.place}."

    def diagram(self, state: Pebbled) -> str:
        marks = self.format_state(state).partition(" ")[0]
        rows = [f"{row} {' '.join(marks[3 * row - 3 : 3 * row])}" for row in (3, 2, 1)]
        return "\n".join([*rows, "  a b c"])

    def summary(self, options: Mapping[str, OptionValue] | None = None) -> str:
        starts = GAME.rules.new(options).to_move
        return f"Put one pebble on an empty square in turn; three in a row win.\n\nstarts={starts}: {starts} begins."


class PebblesAdvice:
    """A win in one, else anything."""

    def playouts(self, state: Pebbled, count: int, rng: Random, *, most_plies: int = 10_000) -> Tally:
        return play_random_games(GAME, state, count, rng, most_plies=most_plies)

    def hint(
        self,
        state: Pebbled,
        deadline_s: float,
        rng: Random,
        *,
        clock: Clock,
        strength: Strength = Strength.STRONG,
        better: Callable[[Hint[Put]], None] | None = None,
    ) -> Hint[Put]:
        turns = GAME.rules.legal_turns(state)
        if not turns:
            raise IllegalTurnError("there is no turn to hint at: the game is over")
        for turn in turns:
            if _winner(*_pebbles_after(state, turn)) == turn.player:
                return Hint(turn, "wins", 1.0, "win", 1.0)
        return Hint(rng.choice(turns), "an empty square", 0.5, "win", 0.0)


GAME = Game(
    name="pebbles",
    title="Pebbles",
    players=PLAYERS,
    options=OPTIONS,
    places=PLACES,
    looks=SEEN,
    rules=PebblesRules(),
    table=PebblesTable(),
    notation=PebblesNotation(),
    advice=PebblesAdvice(),
)
