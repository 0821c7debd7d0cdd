"""What the benchmark of a hall's evening notices when the hall's store differs from what the tables did."""

import json
from pathlib import Path

import pytest

from benchmarks.hall.evening import Evening, Plan
from hall.database import Database


def evening_of(folder: Path, *, copies: int, winner: str | None) -> Evening:
    """One table's finished game in a store, and ``copies`` of its result; ``winner`` replaces the true one."""
    evening = Evening(Plan(1, 1.0, 1.0, True, 1, str(folder / "hall.db")), folder)
    (feed,) = evening._feeds
    while not feed.ended_games:
        feed.advance()
    (end,) = (event for event in feed.events if event.event_type == "end")
    winners = json.dumps([winner or end.data["winner"]])
    database = Database(str(folder / "hall.db"))
    with database.transaction() as work:
        work.run_all(
            "INSERT INTO event (seat, journal, number, game_number, kind, wall_time, content) "
            "VALUES (?, ?, ?, ?, ?, ?, ?)",
            [
                (feed.table, feed.journal, each.number, each.game_number, each.event_type, each.wall_time, content)
                for each in feed.events
                for content in [json.dumps(each.model_dump(mode="json"))]
            ],
        )
        work.run_all(
            "INSERT INTO result (seat, journal, game_number, number, game, players, winners, reason, wall_time) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [
                (feed.table, f"{feed.journal}{copy or ''}", 1, end.number, "x", "{}", winners, "", "")
                for copy in range(copies)
            ],
        )
    database.close()
    return evening


@pytest.mark.parametrize(
    ("copies", "winner", "faults"), [(1, None, 0), (2, None, 1), (0, None, 1), (1, "the wrong player", 1)]
)
def test_results_that_are_lost_doubled_or_changed_are_faults(
    tmp_path: Path, copies: int, winner: str | None, faults: int
) -> None:
    evening = evening_of(tmp_path, copies=copies, winner=winner)
    evening._compare()
    assert len(evening._measured.faults) == faults


def test_an_order_that_the_hall_never_stored_is_a_fault(tmp_path: Path) -> None:
    evening = evening_of(tmp_path, copies=1, winner=None)
    evening._orders_given = 1
    evening._compare()
    assert evening._measured.faults == ["1 orders were given, and the hall has 0"]


def test_an_order_that_the_hall_has_forgotten_is_a_fault(tmp_path: Path) -> None:
    evening = evening_of(tmp_path, copies=1, winner=None)
    evening._feeds[0].carry_out({"request_id": "7", "command": "note"})
    evening._feeds[0].events.pop()
    evening._compare()
    assert evening._measured.faults == ["order 7 was carried out, and the hall doesn't have it"]
