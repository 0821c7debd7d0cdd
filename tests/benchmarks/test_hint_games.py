"""The benchmark of hints: intervals, targets, seats, openings and dice."""

from collections.abc import Iterator
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from app.cli.play.game import choose_randomly
from benchmarks.parts import hint_games
from benchmarks.parts.hint_games import (
    HintGamePlan,
    Pairing,
    Played,
    Timing,
    plans_of,
    play,
)
from benchmarks.parts.hint_scores import score_of, wilson
from engine.registry import load
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
