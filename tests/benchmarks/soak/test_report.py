"""The faults that a report of a soak asks for."""

from __future__ import annotations

import pytest

from benchmarks.parts.soak.report import GameScore, Item, Outcome, SoakReport
from simulator.faults.game import IMPOSSIBLE_KINDS


@pytest.mark.parametrize("game", sorted(IMPOSSIBLE_KINDS))
def test_a_report_asks_for_every_kind_that_can_occur_in_a_game(game: str) -> None:
    missing = set(SoakReport([], "", game=game).missing)
    assert not missing & IMPOSSIBLE_KINDS[game]
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
