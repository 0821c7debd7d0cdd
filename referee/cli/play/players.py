"""Who plays at the terminal: people, hints and programs; and the dice that are drawn for them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Protocol

import click

from engine.api import Clock, Game, Hint
from engine.support.chance import drawn
from engine.values import Player, Roll, Strength

PERSON = "person"
_KINDS = (PERSON, "hint", "hint:gentle", "hint:fair", "hint:strong", "greedy", "random")


@dataclass(frozen=True)
class Choice:
    """A turn that a program plays, and why."""

    turn: Any
    reason: str = ""


class Program(Protocol):
    """Plays for one player."""

    def choose(
        self, game: Game[Any, Any], state: Any, player: Player, rng: Random, earlier: Sequence[Any] = ()
    ) -> Choice:
        """Choose one of the player's legal turns; ``earlier`` are the states before, the oldest first."""


class RandomPlayer:
    """Plays any legal turn, all equally likely."""

    def choose(
        self,
        game: Game[Any, Any],
        state: Any,
        player: Player,
        rng: Random,
        earlier: Sequence[Any] = (),  # noqa: ARG002 - what was before is all the same
    ) -> Choice:
        """Choose one of the player's legal turns."""
        turns = turns_of(game, state, player)
        return Choice(turns[rng.randrange(len(turns))])


@dataclass(frozen=True)
class HintPlayer:
    """Plays what the game's own hint says to whoever is first to move."""

    strength: Strength
    seconds: float
    clock: Clock

    def choose(
        self,
        game: Game[Any, Any],
        state: Any,
        player: Player,  # noqa: ARG002 - a hint is always for who is to move
        rng: Random,
        earlier: Sequence[Any] = (),
    ) -> Choice:
        """Choose one of the player's legal turns."""
        hint: Hint[Any] = game.advice.hint(
            state, self.seconds, rng, clock=self.clock, strength=self.strength, earlier=earlier
        )
        return Choice(hint.turn, hint.reason)


class PlayersTurns(Sequence[Any]):
    """The turns of one player among those of all who may play now; lazy where those are."""

    def __init__(self, turns: Sequence[Any], first: int, after: int) -> None:
        """Take the part of ``turns`` from ``first`` up to, and without, ``after``."""
        self._turns, self._first, self._count = turns, first, after - first

    def __len__(self) -> int:
        """How many there are."""
        return self._count

    def __getitem__(self, index: Any) -> Any:
        """Give one turn, or several for a slice."""
        if isinstance(index, slice):
            return [self[number] for number in range(*index.indices(self._count))]
        if not -self._count <= index < self._count:
            raise IndexError(f"there is no turn {index}; there are {self._count}")
        return self._turns[self._first + index % self._count]


def turns_of(game: Game[Any, Any], state: Any, player: Player) -> Sequence[Any]:
    """Give one player's legal turns; where several may play they are found without walking all turns."""
    turns = game.rules.legal_turns(state)
    playing = game.rules.players_to_move(state)
    if len(playing) < 2:
        return turns
    place = {name: number for number, name in enumerate(playing)}
    number = place[player]
    first, after = (bisect_left(turns, at, key=lambda turn: place[turn.player]) for at in (number, number + 1))
    return PlayersTurns(turns, first, after)


def read_players(
    game: Game[Any, Any], given: Mapping[str, str], seconds: float, strength: Strength, clock: Clock
) -> dict[Player, Program]:
    """Read who plays each player, people left out; raises click's BadParameter for what can't be."""
    programs: dict[Player, Program] = {}
    for player, told in given.items():
        kind = told.lower()
        if player.lower() not in game.players:
            raise click.BadParameter(f"{game.name} has no player {player!r}; it has {', '.join(game.players)}")
        if kind not in _KINDS:
            raise click.BadParameter(f"{player} can't be played by {told!r}; there are {', '.join(_KINDS)}")
        if kind == "random":
            programs[player.lower()] = RandomPlayer()
        elif kind == "greedy":
            programs[player.lower()] = HintPlayer(Strength.GENTLE, seconds, clock)
        elif kind != PERSON:
            _, _, named = kind.partition(":")
            programs[player.lower()] = HintPlayer(Strength(named) if named else strength, seconds, clock)
    return programs


def draw_roll(game: Game[Any, Any], state: Any, seed: int, number: int) -> Roll:
    """Draw the game's roll of that number; the same seed and number draw alike, so that taking back changes no luck.

    Raises ValueError when no roll is awaited.
    """
    possible = () if game.dice is None else game.dice.possible_rolls(state)
    return drawn(possible, Random(f"{seed} roll {number}"))


def program_rng(seed: int, player: Player, number: int) -> Random:
    """The random numbers of a player's choice; the same seed, player and number of steps give the same."""
    return Random(f"{seed} {player} {number}")
