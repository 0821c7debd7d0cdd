"""Games of the hint against other players, for ``benchmarks/hints.py``, each determined by its plan."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from random import Random
from typing import Any, Literal

from app.cli.play.game import choose_randomly, draw_roll, program_rng
from engine.api import Clock, Game
from engine.registry import load
from engine.search.budget import CountingClock
from engine.values import OptionValue, Player, Strength

Opponent = Literal["random", "greedy", "hint", "itself"]
OPENING_TURNS = 2
"""Random turns at the start of a two-player game without dice, so that games differ."""
MOST_TURNS = 400
"""A longer game counts as a draw."""
MOST_TURNS_OF_HINTS = 150
"""The same limit for hint against hint, which tends to go on for long."""
COUNTED_S = 0.001
"""What a counting clock advances with each call, so that a game is the same on every machine."""
QUICK_S = 0.02
"""Time of a hint that only serves to reach a likely position."""


@dataclass(frozen=True)
class Pairing:
    """The strong hint, at ``seconds`` a turn, against an opponent.

    ``opponent`` is ``random``, ``greedy`` (the gentle hint, which doesn't look ahead), ``hint`` (the strong hint at
    ``opponent_seconds``) or ``itself`` (the same hint, both with a counting clock). ``points``: the mean score counts
    instead of wins.
    """

    game: str
    opponent: Opponent
    seconds: float
    options: tuple[tuple[str, OptionValue], ...] = ()
    points: bool = False
    opponent_seconds: float = 0.0


@dataclass(frozen=True)
class HintGamePlan:
    """One game of a pairing; pairs of games share opening and dice, with the seats swapped."""

    pairing: Pairing
    number: int
    seed: int


@dataclass
class Timing:
    """How many hints were asked for, and how late the latest was, in seconds."""

    hints: int = 0
    late_s: float = 0.0

    def add(self, other: Timing) -> None:
        """Merge another measurement."""
        self.hints += other.hints
        self.late_s = max(self.late_s, other.late_s)


@dataclass(frozen=True)
class Played:
    """A game's result for the hint (1 won, 0.5 drawn, 0 lost; or points ahead), its turns, and timing."""

    plan: HintGamePlan
    result: float
    turns: int
    cut_off: bool
    timing: Timing


@dataclass
class TimedHint:
    """A player that takes the hint's turn and measures its timing."""

    strength: Strength
    seconds: float
    timing: Timing = field(default_factory=Timing)
    clock: Clock = time.monotonic

    def choose(self, game: Game[Any, Any], state: Any, rng: Random, earlier: Sequence[Any]) -> Any:
        """Choose a turn for the player to move; ``earlier`` are the states before."""
        began_s = time.monotonic()
        hint = game.advice.hint(state, self.seconds, rng, clock=self.clock, strength=self.strength, earlier=earlier)
        self.timing.add(Timing(1, time.monotonic() - began_s - self.seconds))
        return hint.turn


@cache
def warmed_up(name: str) -> Game[Any, Any]:
    """Give a game with filled caches, so that one-time initialisation isn't measured."""
    game = load(name)
    state: Any = game.rules.new()
    number = 0
    while game.dice is not None and game.dice.awaits_roll(state):
        state = game.dice.rolled(state, draw_roll(game, state, 0, number))
        number += 1
    for strength in (Strength.GENTLE, Strength.STRONG):
        game.advice.hint(state, 0.05, Random(0), clock=time.monotonic, strength=strength, earlier=())
    return game


def play(plan: HintGamePlan) -> Played:
    """Play a game; for points, play it again with the opponent in the hint's seat, and compare the scores."""
    pairing = plan.pairing
    game = warmed_up(pairing.game)
    clock = CountingClock(COUNTED_S) if pairing.opponent == "itself" else time.monotonic
    hint = TimedHint(Strength.STRONG, pairing.seconds, clock=clock)
    players = _players(game, dict(pairing.options))
    seat = players[plan.number % len(players)]
    pair = plan.seed * 1_000_003 + plan.number // (1 if pairing.points or pairing.opponent == "itself" else 2)
    hints = dict.fromkeys(players, hint) if pairing.opponent == "itself" else {seat: hint}
    state, turns = _play_out(game, plan, hints, pair)
    if pairing.points and game.scores is not None:
        without, _ = _play_out(game, plan, {}, pair)
        result = float(game.scores(state)[seat] - game.scores(without)[seat])
    else:
        result = _share(game, state, seat)
    return Played(plan, result, turns, game.rules.outcome(state) is None, hint.timing)


def _play_out(game: Game[Any, Any], plan: HintGamePlan, hints: dict[Player, TimedHint], pair: int) -> tuple[Any, int]:
    """Play a game to its end; players without a hint play as the opponent."""
    pairing = plan.pairing
    others = {
        "random": None,
        "itself": None,
        "greedy": TimedHint(Strength.GENTLE, pairing.seconds),
        "hint": TimedHint(Strength.STRONG, pairing.opponent_seconds),
    }[pairing.opponent]
    state: Any = game.rules.new(dict(pairing.options))
    rolls = turns = 0
    most_turns = MOST_TURNS_OF_HINTS if pairing.opponent in {"hint", "itself"} else MOST_TURNS
    earlier: list[Any] = []
    while game.rules.outcome(state) is None and turns < most_turns:
        if game.dice is not None and game.dice.awaits_roll(state):
            state = game.dice.rolled(state, draw_roll(game, state, pair, rolls))
            rolls += 1
            continue
        player = state.to_move
        chooser = hints.get(player, others)
        opening = rolls == 0 and turns < OPENING_TURNS and not pairing.points
        rng = program_rng(pair, player, turns)
        if chooser is None or opening:
            turn = choose_randomly(game, state, player, rng)
        else:
            turn = chooser.choose(game, state, rng, earlier)
        earlier.append(state)
        state = game.rules.apply(state, turn)
        turns += 1
    return state, turns


def _players(game: Game[Any, Any], options: dict[str, OptionValue]) -> tuple[Player, ...]:
    """The players of a game, as many as its option says."""
    count = options.get("players")
    return game.players[:count] if isinstance(count, int) else game.players


def _share(game: Game[Any, Any], state: Any, seat: Player) -> float:
    outcome = game.rules.outcome(state)
    if outcome is None or outcome.winner is None:
        return 0.5
    return float(outcome.winner == seat)


def positions_of(pairing: Pairing, count: int, seed: int) -> list[Any]:
    """Give early and late positions, with a player to move, of games between quick hints."""
    game = warmed_up(pairing.game)
    return [_random_position(game, pairing, seed + number) for number in range(count)]


def measure_timing(pairing: Pairing, positions: Sequence[Any]) -> Timing:
    """Time a hint in each position."""
    game = warmed_up(pairing.game)
    hint = TimedHint(Strength.STRONG, pairing.seconds)
    for number, state in enumerate(positions):
        hint.choose(game, state, Random(number), earlier=())
    return hint.timing


def _random_position(game: Game[Any, Any], pairing: Pairing, seed: int) -> Any:
    rng = Random(seed)
    # In some games a random turn takes far longer than a hint, since all turns must be listed.
    player = TimedHint(Strength.GENTLE, QUICK_S)
    state: Any = game.rules.new(dict(pairing.options))
    position = state
    rolls = 0
    for turns in range(rng.randrange(1, 25)):
        while game.rules.outcome(state) is None and game.dice is not None and game.dice.awaits_roll(state):
            state = game.dice.rolled(state, draw_roll(game, state, seed, rolls))
            rolls += 1
        if game.rules.outcome(state) is not None:
            break
        position = state
        if turns < OPENING_TURNS:
            turn = choose_randomly(game, state, state.to_move, program_rng(seed, state.to_move, turns))
        else:
            turn = player.choose(game, state, rng, earlier=())
        state = game.rules.apply(state, turn)
    return position


def plans_of(pairing: Pairing, games: int, seed: int) -> Sequence[HintGamePlan]:
    """Plan ``games`` games."""
    return [HintGamePlan(pairing, number, seed) for number in range(games)]
