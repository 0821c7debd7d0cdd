"""How true the chances of winning are that hints tell: games of the same hint against itself."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean
from typing import Any

from rich.console import Console

from app.cli.play.game import choose_randomly, draw_roll, program_rng
from benchmarks.parts.command_line import figures
from benchmarks.parts.hint_games import COUNTED_S, MOST_TURNS_OF_HINTS, OPENING_TURNS, warmed_up
from engine.search.budget import CountingClock
from engine.values import Player, Strength

MOST_OFF = 0.05
"""The most that the chances in a tenth may differ from the results, on average."""
LEAST_TOLD = 100
"""The fewest chances in a tenth that are compared with the results."""
_STEPS_OF_FIT = 50
_MOST_STEP = 0.3


@dataclass(frozen=True)
class ChancePlan:
    """One game of a hint of this strength against itself, at ``seconds`` a turn by a counting clock."""

    game: str
    strength: Strength
    seconds: float
    seed: int


@dataclass(frozen=True)
class Told:
    """A chance that was told to a player, and the share of the game that the player got: 1, 0.5 for a draw, or 0."""

    player: Player
    chance: float
    sure: float
    result: float


@dataclass(frozen=True)
class ToldGame:
    """The chances told in one game, turn by turn."""

    plan: ChancePlan
    told: tuple[Told, ...]


def play_and_tell(plan: ChancePlan) -> ToldGame:
    """Play a game, and note the chance of each hint; an unfinished game counts as a draw."""
    game = warmed_up(plan.game)
    clock = CountingClock(COUNTED_S)
    state: Any = game.rules.new()
    earlier: list[Any] = []
    heard: list[tuple[Player, float, float]] = []
    rolls = 0
    while game.rules.outcome(state) is None and len(earlier) < MOST_TURNS_OF_HINTS:
        if game.dice is not None and game.dice.awaits_roll(state):
            state = game.dice.rolled(state, draw_roll(game, state, plan.seed, rolls))
            rolls += 1
            continue
        player = state.to_move
        rng = program_rng(plan.seed, player, len(earlier))
        if rolls == 0 and len(earlier) < OPENING_TURNS:
            turn = choose_randomly(game, state, player, rng)
        else:
            hint = game.advice.hint(state, plan.seconds, rng, clock=clock, strength=plan.strength, earlier=earlier)
            turn = hint.turn
            heard.append((player, hint.expected, hint.sure))
        earlier.append(state)
        state = game.rules.apply(state, turn)
    outcome = game.rules.outcome(state)
    winner = outcome.winner if outcome is not None else None
    return ToldGame(
        plan,
        tuple(
            Told(player, chance, sure, 0.5 if winner is None else float(player == winner))
            for player, chance, sure in heard
        ),
    )


@dataclass(frozen=True)
class Tenth:
    """The chances told between two tenths: how many, their mean, and the mean result."""

    told: int
    chance: float
    result: float

    @property
    def met(self) -> bool | None:
        """Whether chance and result agree; ``None`` for too few to tell."""
        return None if self.told < LEAST_TOLD else abs(self.chance - self.result) <= MOST_OFF


@dataclass(frozen=True)
class ChanceScore:
    """The tenths of one game and strength, the mean sum of two opponents' successive chances, and the fit.

    ``slope`` and ``offset`` fit the results by logistic regression on the logits of the chances: 1 and 0 are true, a
    slope below 1 means that chances are too far from even, and an offset above 0 that the player to move is told too
    little.
    """

    game: str
    strength: Strength
    games: int
    tenths: tuple[Tenth, ...]
    of_both: float
    slope: float
    offset: float

    @property
    def met(self) -> bool:
        """Whether every tenth agrees, and two opponents' chances add up to one."""
        return all(tenth.met is not False for tenth in self.tenths) and abs(self.of_both - 1) <= MOST_OFF


def score_chances(played: Sequence[ToldGame]) -> ChanceScore:
    """Score the games of one game and strength; proven ends are left out. Raises ValueError for no games."""
    if not played:
        raise ValueError("chances of no games have no score")
    told = [each for game in played for each in game.told if 0 < each.chance < 1]
    sums = [
        one.chance + other.chance
        for game in played
        for one, other in pairwise(game.told)
        if one.player != other.player and 0 < one.chance < 1 and 0 < other.chance < 1
    ]
    tenths = []
    for number in range(10):
        within = [each for each in told if min(9, int(10 * each.chance)) == number]
        tenths.append(
            Tenth(len(within), fmean(each.chance for each in within), fmean(each.result for each in within))
            if within
            else Tenth(0, math.nan, math.nan)
        )
    plan = played[0].plan
    slope, offset = fit_logits(told)
    return ChanceScore(
        plan.game, plan.strength, len(played), tuple(tenths), fmean(sums) if sums else 1.0, slope, offset
    )


def fit_logits(told: Sequence[Told]) -> tuple[float, float]:
    """Fit the results by the logits of the chances, by Newton's method; return slope and offset."""
    slope, offset = 1.0, 0.0
    logits = [(math.log(each.chance / (1 - each.chance)), each.result) for each in told]
    for _ in range(_STEPS_OF_FIT):
        down = across = by_slope = by_both = by_offset = 0.0
        for logit, result in logits:
            chance = 1 / (1 + math.exp(-max(-30.0, min(30.0, slope * logit + offset))))
            weight = chance * (1 - chance)
            down += (result - chance) * logit
            across += result - chance
            by_slope += weight * logit * logit
            by_both += weight * logit
            by_offset += weight
        size = by_slope * by_offset - by_both * by_both
        if size <= 0:
            break
        steps = (by_offset * down - by_both * across) / size, (by_slope * across - by_both * down) / size
        # Without a limit, Newton's method overshoots where most chances are near 0 or 1.
        shorter = min(1.0, _MOST_STEP / max(map(abs, (*steps, _MOST_STEP))))
        slope += shorter * steps[0]
        offset += shorter * steps[1]
    return slope, offset


def print_chances(scores: Sequence[ChanceScore], console: Console) -> None:
    """Print the tenths of each game and strength: how many chances, told and true."""
    for score in scores:
        table = figures(
            f"{score.game}, {score.strength.value}: {score.games} games; two opponents' chances add up to "
            f"{100 * score.of_both:.1f} %; slope {score.slope:.2f}, offset {score.offset:+.2f}",
            "chance",
            "told",
            "mean",
            "won",
            "",
        )
        for number, tenth in enumerate(score.tenths):
            if tenth.told:
                met = {None: "few", True: "met", False: "NOT MET"}[tenth.met]
                table.add_row(
                    f"{10 * number} to {10 * number + 10} %",
                    str(tenth.told),
                    f"{100 * tenth.chance:.1f} %",
                    f"{100 * tenth.result:.1f} %",
                    met,
                )
        console.print(table)
