"""The players at the terminal (people, hints and programs), and drawing dice for them."""

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
    """The turn that a program chose, and the reason."""

    turn: Any
    reason: str = ""


class Program(Protocol):
    """Plays for one player."""

    def choose(
        self, game: Game[Any, Any], state: Any, player: Player, rng: Random, earlier: Sequence[Any] = ()
    ) -> Choice:
        """Choose one of the player's legal turns; ``earlier`` are the earlier states, oldest first."""


class RandomPlayer:
    """Plays any legal turn, all equally likely."""

    def choose(
        self,
        game: Game[Any, Any],
        state: Any,
        player: Player,
        rng: Random,
        earlier: Sequence[Any] = (),  # noqa: ARG002 - random turns don't depend on the past
    ) -> Choice:
        """Choose one of the player's legal turns."""
        turns = turns_of(game, state, player)
        return Choice(turns[rng.randrange(len(turns))])


@dataclass(frozen=True)
class HintPlayer:
    """Plays the turn that the game's hint recommends to the first player to move."""

    strength: Strength
    seconds: float
    clock: Clock

    def choose(
        self,
        game: Game[Any, Any],
        state: Any,
        player: Player,  # noqa: ARG002 - a hint is always for the player to move
        rng: Random,
        earlier: Sequence[Any] = (),
    ) -> Choice:
        """Choose one of the player's legal turns."""
        hint: Hint[Any] = game.advice.hint(
            state, self.seconds, rng, clock=self.clock, strength=self.strength, earlier=earlier
        )
        return Choice(hint.turn, hint.reason)


class PlayersTurns(Sequence[Any]):
    """One player's part of the turns of all players who may play now; as lazy as ``turns``."""

    def __init__(self, turns: Sequence[Any], first: int, after: int) -> None:
        """Select the turns from index ``first`` up to, but excluding, ``after``."""
        self._turns, self._first, self._count = turns, first, after - first

    def __len__(self) -> int:
        """Return the number of turns."""
        return self._count

    def __getitem__(self, index: Any) -> Any:
        """Return one turn, or a list for a slice."""
        if isinstance(index, slice):
            return [self[number] for number in range(*index.indices(self._count))]
        if not -self._count <= index < self._count:
            raise IndexError(f"there is no turn {index}; there are {self._count}")
        return self._turns[self._first + index % self._count]


def turns_of(game: Game[Any, Any], state: Any, player: Player) -> Sequence[Any]:
    """Return one player's legal turns. If several players may play, they are found by binary search."""
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
    """Parse which program plays each player, without the people; raises click's BadParameter."""
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
    """Draw the game's roll number ``number``. It depends only on seed and number, so a take-back doesn't change it.

    Raises ValueError if no roll is awaited.
    """
    possible = () if game.dice is None else game.dice.possible_rolls(state)
    return drawn(possible, Random(f"{seed} roll {number}"))


def program_rng(seed: int, player: Player, number: int) -> Random:
    """Return the random generator for a player's choice, determined by seed, player and number of steps."""
    return Random(f"{seed} {player} {number}")
