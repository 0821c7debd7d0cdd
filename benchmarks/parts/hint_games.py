"""Games between a hint and a plain player, for ``benchmarks/hints.py``: everything follows from a game's plan."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from random import Random
from typing import Any, Literal

from engine.api import Clock, Game, Hint
from engine.registry import load
from engine.search.budget import CountingClock
from engine.values import OptionValue, Player, Strength
from referee.cli.play.players import choose_randomly, draw_roll, program_rng

Opponent = Literal["random", "greedy", "hint", "itself"]
OPENING_TURNS = 2
"""Turns drawn at random before a game of two without dice, so that no two games are the same."""
MOST_TURNS = 400
"""A game that goes on longer counts as a draw."""
MOST_TURNS_OF_HINTS = 150
"""The same where a hint plays a hint: both would go on at length."""
COUNTED_S = 0.001
"""What each look at a clock takes that only counts them: the same game then comes out on every machine."""
QUICK_S = 0.02
"""What a hint gets where only a likely position is wanted."""


@dataclass(frozen=True)
class Pairing:
    """Who plays whom, at how much time a turn.

    ``opponent`` is ``random``, ``greedy`` (the same game's gentle hint, which looks at the turn alone), ``hint``
    (the strong hint at ``opponent_seconds``) or ``itself`` (the same hint, both by a clock that counts its looks).
    ``points``: the mean score counts, not who wins.
    """

    game: str
    opponent: Opponent
    seconds: float
    options: tuple[tuple[str, OptionValue], ...] = ()
    points: bool = False
    opponent_seconds: float = 0.0


@dataclass(frozen=True)
class HintGamePlan:
    """One game of a pairing: two games running share opening and dice, with the seats changed."""

    pairing: Pairing
    number: int
    seed: int


@dataclass
class Timing:
    """How punctual hints were, in seconds: the longest wait for a first answer, the greatest lateness."""

    hints: int = 0
    first_s: float = 0.0
    late_s: float = 0.0

    def add(self, other: Timing) -> None:
        """Take in what was measured elsewhere."""
        self.hints += other.hints
        self.first_s = max(self.first_s, other.first_s)
        self.late_s = max(self.late_s, other.late_s)


@dataclass(frozen=True)
class Played:
    """What came of a game: the hint's result (1 won, 0.5 drawn, 0 lost; or points ahead), turns, how punctual."""

    plan: HintGamePlan
    result: float
    turns: int
    cut_off: bool
    timing: Timing


@dataclass
class TimedHint:
    """Plays what the hint says, and measures how punctual it is."""

    strength: Strength
    seconds: float
    timing: Timing = field(default_factory=Timing)
    clock: Clock = time.monotonic

    def choose(self, game: Game[Any, Any], state: Any, rng: Random, earlier: Sequence[Any] = ()) -> Any:
        """Choose a turn of whoever is to move; ``earlier`` are the states before."""
        first_s: list[float] = []

        def note_first(hint: Hint[Any]) -> None:
            del hint
            if not first_s:
                first_s.append(time.monotonic())

        began_s = time.monotonic()
        hint = game.advice.hint(
            state, self.seconds, rng, clock=self.clock, strength=self.strength, earlier=earlier, better=note_first
        )
        ended_s = time.monotonic()
        self.timing.add(Timing(1, (first_s or [ended_s])[0] - began_s, ended_s - began_s - self.seconds))
        return hint.turn


@cache
def warmed_up(name: str) -> Game[Any, Any]:
    """Give a game whose tables are made: the first hint of a process may take longer, and measures nothing."""
    game = load(name)
    state: Any = game.rules.new()
    number = 0
    while game.dice is not None and game.dice.awaits_roll(state):
        state = game.dice.rolled(state, draw_roll(game, state, 0, number))
        number += 1
    for strength in (Strength.GENTLE, Strength.STRONG):
        game.advice.hint(state, 0.05, Random(0), clock=time.monotonic, strength=strength)
    return game


def play(plan: HintGamePlan) -> Played:
    """Play one game; of a pairing for points two, the second with the opponent in the hint's seat and the same dice."""
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
    """Play from the start to the end, the players without a hint as the pairing says."""
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
            turn = choose_randomly(game, state, player, rng).turn
        else:
            turn = chooser.choose(game, state, rng, earlier)
        earlier.append(state)
        state = game.rules.apply(state, turn)
        turns += 1
    return state, turns


def _players(game: Game[Any, Any], options: dict[str, OptionValue]) -> tuple[Player, ...]:
    """Those who play: all a game has, or as many as the option says."""
    count = options.get("players")
    return game.players[:count] if isinstance(count, int) else game.players


def _share(game: Game[Any, Any], state: Any, seat: Player) -> float:
    outcome = game.rules.outcome(state)
    if outcome is None or outcome.winner is None:
        return 0.5
    return float(outcome.winner == seat)


def positions_of(pairing: Pairing, count: int, seed: int) -> list[Any]:
    """Give positions of games between quick hints, early and late, in which somebody has a turn to play."""
    game = warmed_up(pairing.game)
    return [_somewhere(game, pairing, seed + number) for number in range(count)]


def measure_timing(pairing: Pairing, positions: Sequence[Any]) -> Timing:
    """Ask for a hint in each position, and give how punctual they were."""
    game = warmed_up(pairing.game)
    hint = TimedHint(Strength.STRONG, pairing.seconds)
    for number, state in enumerate(positions):
        hint.choose(game, state, Random(number))
    return hint.timing


def _somewhere(game: Game[Any, Any], pairing: Pairing, seed: int) -> Any:
    rng = Random(seed)
    # In some games listing all turns, to draw one, takes far longer than a hint does.
    walker = TimedHint(Strength.GENTLE, QUICK_S)
    state: Any = game.rules.new(dict(pairing.options))
    kept = state
    rolls = 0
    for turns in range(rng.randrange(1, 25)):
        while game.rules.outcome(state) is None and game.dice is not None and game.dice.awaits_roll(state):
            state = game.dice.rolled(state, draw_roll(game, state, seed, rolls))
            rolls += 1
        if game.rules.outcome(state) is not None:
            break
        kept = state
        if turns < OPENING_TURNS:
            turn = choose_randomly(game, state, state.to_move, program_rng(seed, state.to_move, turns)).turn
        else:
            turn = walker.choose(game, state, rng)
        state = game.rules.apply(state, turn)
    return kept


def plans_of(pairing: Pairing, games: int, seed: int) -> Sequence[HintGamePlan]:
    """Give the plans of so many games."""
    return [HintGamePlan(pairing, number, seed) for number in range(games)]
