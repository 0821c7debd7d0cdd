"""The rules of Pebbles: players put one pebble at a time on an empty square; three in a row win."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from engine.api import (
    EMPTY,
    Appearance,
    Breach,
    Certainty,
    Facing,
    LookName,
    Option,
    OptionValue,
    Outcome,
    Place,
    Player,
    Roll,
    Rule,
    Unfinished,
)
from engine.errors import AmbiguousError, IllegalTurnError, UnreadableError
from engine.options import read_options

PLACES = tuple(f"{column}{row}" for row in "123" for column in "abc")
PLAYERS = ("red", "blue")
LOOKS = {"red": "red pebble", "blue": "blue pebble"}
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
    """Whose pebbles lie where, and who plays next."""

    red: frozenset[Place]
    blue: frozenset[Place]
    to_move: Player | None

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


class Pebbles:
    """Three in a row."""

    name = "pebbles"
    title = "Pebbles"
    players: tuple[Player, ...] = PLAYERS
    options: tuple[Option, ...] = (Option("starts", "red", "Who begins.", PLAYERS),)
    places = PLACES
    looks = (EMPTY, *LOOKS.values())
    rules: Mapping[str, Rule] = MappingProxyType(
        {
            "one-pebble": Rule("one-pebble", "Put down one pebble in a turn."),
            "own-pebble": Rule("own-pebble", "Put down a pebble of your own."),
            "stays": Rule("stays", "A pebble stays where it was put."),
        }
    )

    def new(self, options: Mapping[str, OptionValue] | None = None) -> Pebbled:
        return Pebbled(frozenset(), frozenset(), str(read_options(self.options, options)["starts"]))

    def set_up(
        self, appearance: Appearance, options: Mapping[str, OptionValue] | None = None, *, anywhere: bool = False
    ) -> Pebbled:
        wrong = tuple(place for place in PLACES if appearance.get(place, EMPTY) != EMPTY)
        if wrong:
            breach = Breach("one-pebble", "The board is not empty.", "Take the pebbles off.", wrong)
            raise IllegalTurnError(breach.sentence, (breach,))
        return self.new(options)

    def legal_turns(self, state: Pebbled, roll: Roll | None = None) -> Sequence[Put]:
        if state.to_move is None:
            return ()
        return tuple(Put(state.to_move, place) for place in PLACES if state.owner(place) is None)

    def certainty(self, state: Pebbled, turn: Put) -> Certainty:
        return Certainty.CERTAIN if turn in self.legal_turns(state) else Certainty.IMPOSSIBLE

    def apply(self, state: Pebbled, turn: Put) -> Pebbled:
        if turn not in self.legal_turns(state):
            raise IllegalTurnError(f"{self.format_turn(turn)} is no legal turn")
        following = PLAYERS[1 - PLAYERS.index(turn.player)]
        if turn.player == "red":
            return _state(state.red | {turn.place}, state.blue, following)
        return _state(state.red, state.blue | {turn.place}, following)

    def combine(self, turns: Sequence[Put]) -> Put:
        if len(set(turns)) != 1:
            raise AmbiguousError("these turns leave different boards")
        return turns[0]

    def unfinished(self, state: Pebbled) -> Sequence[Unfinished]:
        return ()

    def outcome(self, state: Pebbled) -> Outcome | None:
        winner = _winner(state.red, state.blue)
        if winner is not None:
            return Outcome(winner, "three in a row")
        return None if state.to_move is not None else Outcome(None, "the board is full")

    def appearance(self, state: Pebbled) -> Appearance:
        owners = {place: state.owner(place) for place in PLACES}
        return {place: EMPTY if owner is None else LOOKS[owner] for place, owner in owners.items()}

    def facings(self, state: Pebbled) -> Mapping[Place, tuple[Facing, ...]]:
        return {}

    def narrow(self, state: Pebbled, sightings: Mapping[Place, Facing]) -> Pebbled:
        return state

    def amend(self, state: Pebbled, looks: Mapping[Place, LookName], to_move: Player | None = None) -> Pebbled:
        shown = {**self.appearance(state), **looks}
        return self._read_looks(shown, to_move or state.to_move)

    def explain(
        self, before: Pebbled, after: Appearance, facings: Mapping[Place, Facing] | None = None
    ) -> tuple[Breach, ...]:
        believed = self.appearance(before)
        changed = [place for place in PLACES if after.get(place, believed[place]) != believed[place]]
        moved = tuple(place for place in changed if believed[place] != EMPTY)
        if moved:
            return (Breach("stays", self.rules["stays"].sentence, "Put it back.", moved),)
        mine = LOOKS.get(before.to_move or "")
        foreign = tuple(place for place in changed if after[place] != mine)
        if foreign:
            return (Breach("own-pebble", self.rules["own-pebble"].sentence, "Take it off.", foreign),)
        if len(changed) > 1:
            return (Breach("one-pebble", self.rules["one-pebble"].sentence, "Leave only one.", tuple(changed)),)
        return ()

    def format_state(self, state: Pebbled) -> str:
        board = "".join({"red": "r", "blue": "b", None: "."}[state.owner(place)] for place in PLACES)
        return f"{board} {state.to_move or '-'}"

    def parse_state(self, text: str) -> Pebbled:
        board, _, to_move = text.strip().lower().partition(" ")
        if len(board) != len(PLACES) or set(board) - set("rb.") or to_move.strip() not in (*PLAYERS, "-"):
            raise UnreadableError(f"cannot read {text!r}; expected nine of r, b and . and who plays next")
        red, blue = (frozenset(PLACES[at] for at, mark in enumerate(board) if mark == side) for side in "rb")
        return _state(red, blue, None if to_move.strip() == "-" else to_move.strip())

    def format_turn(self, turn: Put) -> str:
        return turn.place

    def parse_turn(self, state: Pebbled, text: str) -> Put:
        place = text.strip().lower()
        if place not in PLACES:
            raise UnreadableError(f"cannot read {text!r}; expected a square such as b2")
        if state.to_move is None or state.owner(place) is not None:
            raise IllegalTurnError(f"no pebble can be put on {place} now")
        return Put(state.to_move, place)

    def describe(self, turn: Put) -> str:
        return f"{turn.player.capitalize()} puts a pebble on {turn.place}."

    def _read_looks(self, looks: Appearance, to_move: Player | None) -> Pebbled:
        unknown = [f"{place}: {look}" for place, look in looks.items() if place not in PLACES or look not in self.looks]
        if unknown:
            raise UnreadableError(f"there is no {unknown[0]}")
        red, blue = (frozenset(place for place, look in looks.items() if look == LOOKS[side]) for side in PLAYERS)
        return _state(red, blue, to_move)
