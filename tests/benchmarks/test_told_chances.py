"""The benchmark of chances: tenths, sums of two opponents' chances, and the fit."""

import io
import math
from random import Random

import pytest
from rich.console import Console

from benchmarks.parts.told_chances import (
    LEAST_TOLD,
    ChancePlan,
    Told,
    ToldGame,
    fit_logits,
    play_and_tell,
    print_chances,
    score_chances,
)
from engine.values import Strength

PLAN = ChancePlan("deblockle", Strength.FAIR, 0.005, 1)


def games(chance: float, won: float, count: int) -> list[ToldGame]:
    """Games in which this chance is told once, of which this share is won."""
    return [ToldGame(PLAN, (Told("gold", chance, 0.5, float(n < won * count)),)) for n in range(count)]


@pytest.mark.parametrize(
    ("chance", "won", "count", "met"),
    [(0.72, 0.75, 200, True), (0.72, 0.60, 200, False), (0.72, 0.60, LEAST_TOLD - 1, True), (0.72, 0.78, 200, False)],
)
def test_each_tenth_with_enough_chances_must_agree_with_the_results(
    chance: float, won: float, count: int, met: bool
) -> None:
    score = score_chances(games(chance, won, count))
    assert score.met is met
    assert (score.tenths[7].told, score.tenths[6].told) == (count, 0)
    out = Console(file=io.StringIO(), width=120)
    print_chances([score], out)
    assert isinstance(out.file, io.StringIO)
    assert ("NOT MET" in out.file.getvalue()) is not met


def test_the_chances_of_two_opponents_must_add_up() -> None:
    both = [ToldGame(PLAN, (Told("gold", 0.4, 0.5, 0.5), Told("teal", 0.3, 0.5, 0.5)))] * 3
    assert score_chances(both).of_both == pytest.approx(0.7)
    assert not score_chances(both).met


def test_proven_ends_are_left_out() -> None:
    proven = ToldGame(PLAN, (Told("gold", 1.0, 1.0, 0.0), Told("gold", 0.0, 1.0, 1.0)))
    assert sum(tenth.told for tenth in score_chances([proven]).tenths) == 0
    with pytest.raises(ValueError, match="no games"):
        score_chances([])


def test_the_fit_finds_by_how_much_chances_are_too_sure() -> None:
    rng = Random(1)
    told = []
    for _ in range(4000):
        logit = rng.uniform(-4, 4)
        true = 1 / (1 + math.exp(-(0.5 * logit + 0.3)))
        told.append(Told("gold", 1 / (1 + math.exp(-logit)), 0.5, float(rng.random() < true)))
    assert fit_logits(told) == pytest.approx((0.5, 0.3), abs=0.1)


def test_a_game_tells_a_chance_in_each_turn_after_the_opening() -> None:
    game = play_and_tell(PLAN)
    assert len(game.told) > 4
    assert {each.player for each in game.told} == {"gold", "teal"}
    assert {each.result for each in game.told} <= {0.0, 0.5, 1.0}
