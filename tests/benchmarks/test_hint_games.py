"""The benchmark of hints: intervals, targets, seats, openings and dice."""

import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from benchmarks.parts import hint_games
from benchmarks.parts.hint_games import (
    HintGamePlan,
    Pairing,
    Played,
    Timing,
    measure_timing,
    plans_of,
    play,
    positions_of,
)
from benchmarks.parts.hint_scores import TimingScore, mean_interval, plot_strength, score_of, wilson
from engine.registry import load
from referee.cli.play.game import choose_randomly
from tests.engine import toy_harvest

RANDOM = Pairing("deblockle", "random", 0.01)
POINTS = Pairing("harvest", "greedy", 0.01, (("players", 2), ("rounds", 2)), points=True)


@pytest.fixture(autouse=True, scope="module")
def registered() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        toy_harvest.register(patch)
        yield


def results(pairing: Pairing, values: list[float], **more: Any) -> list[Played]:
    return [Played(HintGamePlan(pairing, n, 1), value, 10, False, Timing(1, 0.0)) for n, value in enumerate(values)]


@pytest.mark.parametrize(
    ("share", "count", "low", "high"),
    # Brown, Cai & DasGupta (2001) and any calculator of Wilson's interval.
    [(1.0, 100, 0.9630, 1.0), (0.8, 100, 0.7112, 0.8666), (0.5, 10, 0.2366, 0.7634), (0.0, 20, 0.0, 0.1611)],
)
def test_wilsons_interval(share: float, count: int, low: float, high: float) -> None:
    assert wilson(share, count) == pytest.approx((low, high), abs=1e-4)


def test_intervals_of_too_few_values() -> None:
    with pytest.raises(ValueError, match="no games"):
        wilson(0.5, 0)
    assert mean_interval([3.0]) == (-math.inf, math.inf)
    with pytest.raises(ValueError, match="no games"):
        score_of(RANDOM, [])


def test_the_interval_of_a_mean_has_its_coverage() -> None:
    rng = Random(1)
    held = 0
    for _ in range(1_000):
        low, high = mean_interval([rng.gauss(2, 3) for _ in range(100)])
        held += low <= 2 <= high
    assert 0.93 <= held / 1_000 <= 0.97


def test_targets_are_met_by_shares_and_by_intervals() -> None:
    assert score_of(RANDOM, results(RANDOM, [1.0] * 98 + [0.0] * 2)).met
    assert not score_of(RANDOM, results(RANDOM, [1.0] * 97 + [0.5] + [0.0] * 2)).met
    greedy = replace(RANDOM, opponent="greedy")
    score = score_of(greedy, results(greedy, [1.0] * 79 + [0.5] * 2 + [0.0] * 19))
    assert score.met
    assert (score.wins, score.draws, score.games) == (79, 2, 100)
    assert score_of(POINTS, results(POINTS, [1.0, 2.0, 3.0] * 10)).met
    assert not score_of(POINTS, results(POINTS, [-9.0, 1.0, 9.0] * 10)).met
    assert score_of(replace(RANDOM, opponent="hint"), results(RANDOM, [0.0])).met


def test_timing_has_targets() -> None:
    good, late = Timing(5, 0.01), Timing(5, 0.06)
    assert TimingScore(RANDOM, good, good).met
    assert not TimingScore(RANDOM, late, good).met
    assert not TimingScore(RANDOM, good, late).met


def test_seats_alternate_and_two_games_share_their_opening(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[list[Any]] = []
    game = load("deblockle")

    def choose(game: Any, state: Any, player: str, rng: Random) -> Any:
        turns = game.rules.legal_turns(state)
        choice = choose_randomly(game, state, player, rng)
        seen[-1].append((player, turns.index(choice)))
        return choice

    monkeypatch.setattr(hint_games, "choose_randomly", choose)
    for plan in plans_of(RANDOM, 4, 9):
        seen.append([])
        played = play(plan)
        assert played.result in {0.0, 0.5, 1.0}
        assert played.timing.hints > 0
    assert [opening[0] for opening in seen] == [seen[0][0]] * 2 + [seen[2][0]] * 2
    assert seen[0][:2] == seen[1][:2]
    assert seen[0][:2] != seen[2][:2]
    # After the opening the random player draws for one side only, for the other in the next game.
    assert {player for player, _ in seen[0][2:]} == {game.players[1]}
    assert {player for player, _ in seen[1][2:]} == {game.players[0]}


def test_for_points_both_play_with_the_same_dice() -> None:
    # The toy's hint is its greedy player, so with the same dice the scores are equal.
    played = [play(plan) for plan in plans_of(POINTS, 6, 3)]
    assert [game.result for game in played] == [0.0] * 6
    assert all(game.turns == 4 and not game.cut_off for game in played)


def test_a_game_that_does_not_end_is_a_draw(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hint_games, "MOST_TURNS", 3)
    played = play(HintGamePlan(RANDOM, 0, 1))
    assert (played.result, played.turns, played.cut_off) == (0.5, 3, True)
    assert score_of(RANDOM, [played]).cut_off == 1


def test_hints_are_timed_in_each_position() -> None:
    for pairing in (RANDOM, POINTS):
        game = load(pairing.game)
        asked = positions_of(pairing, 5, 1)
        assert len(set(asked)) > 1
        assert all(state.to_move is not None and not game.awaits_roll(state) for state in asked)
        assert measure_timing(pairing, asked).hints == 5


def test_the_plot_is_written(tmp_path: Path) -> None:
    path = tmp_path / "pictures" / "strength.png"
    hint = replace(RANDOM, opponent="hint", opponent_seconds=0.05)
    lines = {
        "deblockle": [score_of(replace(hint, seconds=s), results(hint, [1.0, 0.0, 0.5])) for s in (0.1, 0.2)],
        "harvest": [score_of(replace(POINTS, seconds=s), results(POINTS, [1.0, 2.0])) for s in (0.1, 0.2)],
    }
    plot_strength(lines, path)
    assert path.read_bytes().startswith(b"\x89PNG")
