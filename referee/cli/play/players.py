"""The players at the terminal (people, hints and programs), and drawing dice for them."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import click

from engine.api import Clock, Game, Hint
from engine.support.chance import drawn
from engine.support.lazy import FromIterator
from engine.values import Player, Roll, Strength

PERSON = "person"
_KINDS = (PERSON, "hint", "hint:gentle", "hint:fair", "hint:strong", "random")
_NAME = re.compile(r"program \((gentle|fair|strong|random)\)")
"""A program's name in a record."""


@dataclass(frozen=True)
class Choice:
    """The turn that a program chose, and the reason."""

    turn: Any
    reason: str = ""


@dataclass(frozen=True)
class Program:
    """A program that plays a side. ``word`` is what ``--player`` calls it.

    ``choose`` chooses one of a player's legal turns in a state; its last argument is the earlier states, oldest first.
    """

    word: str
    choose: Callable[[Game[Any, Any], Any, Player, Random, Sequence[Any]], Choice]


def names_in(game: Game[Any, Any], tags: Iterable[tuple[str, str]]) -> dict[Player, str]:
    """Return the names of players and programs in a record's tags, by their side."""
    named = dict(tags)
    return {player: named[player.capitalize()] for player in game.players if player.capitalize() in named}


def program_name(word: str) -> str:
    """Return the name in a record of the program that ``--player`` calls ``word``."""
    return f"program ({word.removeprefix('hint:')})"


def program_word(name: str) -> str | None:
    """Return what ``--player`` calls the program of this name; ``None`` for a person's name."""
    match = _NAME.fullmatch(name)
    if match is None:
        return None
    return match[1] if match[1] == "random" else f"hint:{match[1]}"


@dataclass(frozen=True)
class PlaySettings:
    """How a game at the terminal is played.

    ``draws_dice`` draws dice instead of asking for them. Legal turns are listed automatically if there are at most
    ``most_listed``. A hint takes ``seconds``.
    """

    programs: Mapping[Player, Program]
    draws_dice: bool
    seed: int
    strength: Strength
    seconds: float
    gives_hints: bool
    most_listed: int
    most_turns: int


def choose_randomly(
    game: Game[Any, Any],
    state: Any,
    player: Player,
    rng: Random,
    earlier: Sequence[Any] = (),  # noqa: ARG001 - random turns don't depend on the past
) -> Choice:
    """Choose any of a player's legal turns, all equally likely."""
    turns = turns_of(game, state, player)
    return Choice(turns[rng.randrange(len(turns))])


def hint_program(strength: Strength, seconds: float, clock: Clock) -> Program:
    """Return a program that plays what the game's hint recommends."""

    def choose(game: Game[Any, Any], state: Any, _: Player, rng: Random, earlier: Sequence[Any]) -> Choice:
        hint: Hint[Any] = game.advice.hint(state, seconds, rng, clock=clock, strength=strength, earlier=earlier)
        return Choice(hint.turn, hint.reason)

    return Program(f"hint:{strength.value}", choose)


def turns_of(game: Game[Any, Any], state: Any, player: Player) -> Sequence[Any]:
    """Return one player's legal turns. If several players may play, they are found by binary search."""
    turns = game.rules.legal_turns(state)
    playing = game.rules.players_to_move(state)
    if len(playing) < 2:
        return turns
    place = {name: number for number, name in enumerate(playing)}
    number = place[player]
    first, after = (bisect_left(turns, at, key=lambda turn: place[turn.player]) for at in (number, number + 1))
    return FromIterator(iter(range(first, after)), turns.__getitem__)


def read_players(
    given: Mapping[Player, str], seconds: float, strength: Strength, clock: Clock
) -> dict[Player, Program]:
    """Parse which program plays each player, without the people; raises click's BadParameter."""
    programs: dict[Player, Program] = {}
    for player, text in given.items():
        kind = text.lower()
        if kind not in _KINDS:
            raise click.BadParameter(f"{player} can't be played by {text!r}; there are {', '.join(_KINDS)}")
        if kind == "random":
            programs[player] = Program(kind, choose_randomly)
        elif kind != PERSON:
            _, _, named = kind.partition(":")
            programs[player] = hint_program(Strength(named) if named else strength, seconds, clock)
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
