"""How Reversi's discs are handled on the virtual table, and ways to break its rules on purpose."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from engine.registry import load
from simulator.play.actions import Arrangement, Carries, PlayArea, ViolationKind, pick
from simulator.play.discs import PlainDiscHandler


class ReversiHandler(PlainDiscHandler):
    """Puts discs down from the stock beside the board and turns others over."""

    stock = 16
    turns_over = True

    def carries_of(self, standing: Arrangement, turn: Any) -> Carries:
        """Put the turn's disc down, and turn over the others one by one; nothing for a pass."""
        return self.put_and_turn(standing, turn.player, turn.places)

    def shows(self, standing: Arrangement, turn: Any) -> bool:
        """Whether the turn is no pass."""
        return bool(turn.places)

    def put_and_turn(self, standing: Arrangement, player: str, places: Sequence[str]) -> Carries:
        """Put a disc on the first of these places, if there are any, and turn over those on the others."""
        carries = [self.place(standing, place, player) for place in places[:1]]
        return (*carries, *(self.turn_over(standing, place) for place in places[1:]))


def _turns(table: PlayArea, player: str) -> list[tuple[str, ...]]:
    """Return the places of each turn that the player would have."""
    game = load("reversi")
    looks = table.standing.appearance(game.places)
    turns = game.rules.legal_turns(game.table.amend(game.rules.new(), looks, player))
    return [turn.places for turn in turns if turn.player == player and turn.places]


def _other(player: str) -> str:
    return "white" if player == "black" else "black"


def _outflanks_none(table: PlayArea, player: str, rng: np.random.Generator) -> Carries:
    firsts = {places[0] for places in _turns(table, player)}
    place = pick(rng, [one for one in table.open_places() if one not in firsts])
    return table.handler.put_and_turn(table.standing, player, (place,))


def _left_unturned(table: PlayArea, player: str, rng: np.random.Generator) -> Carries:
    places = pick(rng, [places for places in _turns(table, player) if len(places) > 2])
    return table.handler.put_and_turn(table.standing, player, (places[0], *places[2:]))


def _one_too_many(table: PlayArea, player: str, rng: np.random.Generator) -> Carries:
    places = pick(rng, _turns(table, player))
    besides = pick(rng, [one for one in table.opponents(player) if one not in places])
    return table.handler.put_and_turn(table.standing, player, (*places, besides))


def _two_discs(table: PlayArea, player: str, rng: np.random.Generator) -> Carries:
    places = pick(rng, _turns(table, player))
    second = pick(rng, [one for one in table.open_places() if one not in places])
    put = table.handler.put_and_turn(table.standing, player, places)
    return (*put, table.handler.place(table.standing.after_all(put), second, player))


def _out_of_turn(table: PlayArea, player: str, rng: np.random.Generator) -> Carries:
    places = pick(rng, _turns(table, _other(player)))
    return table.handler.put_and_turn(table.standing, _other(player), places)


def _only_turned(table: PlayArea, player: str, rng: np.random.Generator) -> Carries:
    return (table.handler.turn_over(table.standing, pick(rng, table.opponents(player))),)


def _taken_off(table: PlayArea, player: str, rng: np.random.Generator) -> Carries:
    return (table.handler.take_off(table.standing, pick(rng, table.own(player))),)


_KINDS = (
    ViolationKind("outflanks none", _outflanks_none, usual=True),
    ViolationKind("one left unturned", _left_unturned, usual=True),
    ViolationKind("one turned too many", _one_too_many, usual=True),
    ViolationKind("two discs put down", _two_discs, usual=True),
    ViolationKind("out of turn", _out_of_turn, usual=True),
    ViolationKind("turned over for nothing", _only_turned),
    ViolationKind("disc taken off", _taken_off),
)

ReversiHandler.violations = {kind.name: kind for kind in _KINDS}
