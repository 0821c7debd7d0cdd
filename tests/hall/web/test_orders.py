"""Orders to begin a tournament's games, as its page shows them."""

from __future__ import annotations

import re
from pathlib import Path

from hall.hall import Incoming
from hall.tournament.values import System
from referee.mqtt.topics import Answer
from tests.hall.web.visits import Visit


def test_a_refusal_is_shown_only_for_the_game_and_the_table_that_it_was_about(tmp_path: Path) -> None:
    visit = Visit(tmp_path)
    visit.director.begin("Match", System.ROUND_ROBIN, 3, "deblockle", [("Ann", 2), ("Ben", 1)])
    visit.director.pair(1, ["table-1"])

    def refuse(seat: str) -> None:
        visit.clock.now_s += 1
        visit.post("/tournaments/1/start")
        (ruling,) = visit.hall.rulings.waiting()
        refusal = Answer(table=seat, request_id=ruling.request_id, refused=True, words=f"not {seat}", event_number=20)
        visit.hall.take([Incoming(f"club/{seat}/answers", refusal.model_dump_json().encode())])
        visit.clock.now_s += 1

    def shown() -> list[str]:
        return re.findall(r'<p class="trouble">(not [^<]*)</p>', visit.page("/tournaments/1"))

    refuse("table-1")
    assert shown() == ["not table-1"]
    visit.post("/tournaments/1/move", seat="table-2", round="1", board="1")
    assert shown() == []
    refuse("table-2")
    assert shown() == ["not table-2"]
    visit.post("/tournaments/1/move", seat="table-1", round="1", board="1")
    assert shown() == [], "it has not been told again"
    refuse("table-1")
    visit.post("/tournaments/1/decide", round="1", board="1", score="1-0")
    assert shown() == [], "the game has a result"
    for number in ("2", "3"):
        visit.director.pair(1, ["table-1"])
        assert shown() == [], "the game of a later round has not been refused"
        visit.post("/tournaments/1/decide", round=number, board="1", score="1-0")
