"""The faults that a report of a soak asks for."""

from __future__ import annotations

import pytest

from benchmarks.faults.game import impossible_kinds
from benchmarks.parts.soak.report import GameScore, Item, Outcome, SoakReport
from engine.registry import games, load


@pytest.mark.parametrize("game", games())
def test_a_report_asks_for_every_kind_that_can_occur_in_a_game(game: str) -> None:
    missing = set(SoakReport([], "", game=game).missing)
    assert not missing & impossible_kinds(load(game))
    assert {"nothing", "illegal turn"}.isdisjoint(missing)
    assert {"no frames", "hand resting"} <= missing
    assert ("dice touched" in missing) == (game in {"blockade", "number-drop", "blokus-dice"})
    assert ("several hands" in missing) == (game in {"number-drop", "blokus-dice"})
    assert ("put back turned" in missing) == (game == "deblockle")
    assert any(kind.startswith("illegal: set-up: ") for kind in missing)


def test_a_kind_that_occurred_is_not_asked_for() -> None:
    item = Item(1, 2.0, "turn", ("dice touched",), Outcome.AT_ONCE)
    score = GameScore(1, 1, (item,), (), (), "")
    assert "dice touched" not in SoakReport([score], "", game="blockade").missing


def test_a_run_of_one_kind_is_not_asked_for_the_others() -> None:
    item = Item(1, 2.0, "turn", ("no frames",), Outcome.AT_ONCE)
    scores = [GameScore(1, 2000, (item,), (), (), "")]
    assert SoakReport(scores, "", kinds=("no frames",)).met
    assert not SoakReport(scores, "").met


def test_a_few_games_that_end_early_do_not_excuse_missing_kinds() -> None:
    assert not SoakReport([GameScore(1, 1982, (), (), (), "")], "").met
