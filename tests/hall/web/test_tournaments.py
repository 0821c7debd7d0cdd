"""The pages of tournaments: rounds, results, and the games that tables are told to begin."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hall.hall import Incoming
from hall.rulings import Status
from hall.tournament.values import Score, System
from hall.web.tournaments import read_players
from referee.mqtt.topics import Answer, Topics
from tests.hall.halls import event, online, state
from tests.hall.web.visits import Visit


@pytest.fixture
def visit(tmp_path: Path) -> Visit:
    return Visit(tmp_path)


def test_a_tournament_runs_from_the_list_of_names_to_the_report(visit: Visit) -> None:
    names = "Ann; 1800\nBen,1700\n\n Cleo \nDan"
    fields = {"name": " Club\x00\r\n", "game": "deblockle", "system": "swiss", "rounds": "2", "players": names}
    assert visit.post("/tournaments", **fields).headers["location"] == "/tournaments/1"
    assert visit.director.get(1).tournament.name == "Club"
    assert visit.post("/tournaments/1/pair", seats="table-1 table-8").status_code == 422
    assert visit.post("/tournaments/1/pair", seats="table-1 table-1").status_code == 422
    assert visit.post("/tournaments/1/pair", seats="table-1").status_code == 422
    assert visit.post("/tournaments/1/pair", seats="table-1 table-2").status_code == 303
    refused = visit.post("/tournaments/1/start", clock="fisher 5+3")
    assert (refused.status_code, "did you mean fischer?" in refused.text) == (422, True)
    assert visit.post("/tournaments/1/start", clock="fischer 5+3").status_code == 303
    commands = [ruling.command for ruling in visit.hall.rulings.waiting()]
    assert [(command["players"], command["clock"], command["game"]) for command in commands] == [
        ({"gold": "Ann", "teal": "Cleo"}, "fischer 5+3", "deblockle"),
        ({"gold": "Dan", "teal": "Ben"}, "fischer 5+3", "deblockle"),
    ]
    assert visit.post("/tournaments/1/start", clock="fischer 5+3").status_code == 303
    assert len(visit.hall.rulings.waiting()) == 2, "both tables were told already"
    for board, score in (("1", "1-0"), ("2", "½-½")):
        assert visit.post("/tournaments/1/decide", round="1", board=board, score=score).status_code == 303
    assert visit.post("/tournaments/1/decide", round="1", board="1", score="7-0").status_code == 422
    assert visit.post("/tournaments/1/presence", player="4", present="no").status_code == 303
    assert "Pair round 2" in visit.page("/tournaments/1")
    report = visit.client.get("/tournaments/1/report.trf")
    assert report.text.startswith("012 Club\r\n042 2027/01/01")
    assert "1,1,Ann" in visit.client.get("/tournaments/1/standings.csv").text
    assert "1,1,Ann,Cleo,1-0" in visit.client.get("/tournaments/1/pairings.csv").text
    assert visit.client.get("/tournaments/1/else").status_code == 404
    assert visit.client.get("/tournaments/7").status_code == 404


def test_only_tables_that_can_play_the_game_are_proposed(visit: Visit) -> None:
    visit.director.begin("Club", System.SWISS, 1, "diaballik", [("Ann", 2), ("Ben", 1)])

    def proposed() -> list[str]:
        found = re.search(r"<textarea[^>]*>(.*?)</textarea>", visit.page("/tournaments/1"))
        return found[1].split() if found else ["no form"]

    for feed, game in zip(visit.feeds, ("deblockle", "diaballik"), strict=True):
        told = feed.state().model_copy(update={"game": game})
        visit.hall.take([Incoming(Topics("club", feed.table).state, told.model_dump_json().encode())])
    assert proposed() == ["table-2"]
    visit.hall.take([Incoming("club/table-2/availability", b"offline")])
    assert proposed() == []
    assert visit.post("/tournaments/1/pair", seats="table-9").status_code == 303, "others can be typed"


def test_a_game_that_has_begun_is_not_begun_anew(visit: Visit) -> None:
    visit.director.begin("Club", System.SWISS, 1, "deblockle", [("Ann", 4), ("Ben", 3), ("Cleo", 2), ("Dan", 1)])
    visit.director.pair(1, ["table-1", "table-2"])
    feed = visit.feeds[0]
    assert "Restart board" not in visit.page("/tournaments/1")
    visit.hall.take([event(feed.begin(("Ann", "Cleo"), 0))])
    visit.post("/tournaments/1/start")
    assert [ruling.seat for ruling in visit.hall.rulings.waiting()] == ["table-2"]


def begin_orders(visit: Visit, seat: str) -> list[dict[str, Any]]:
    """The orders to begin a game that are sent to a table now."""
    visit.clock.now_s += 10.0
    return [json.loads(each.payload) for each in visit.hall.due_messages() if each.topic == Topics("club", seat).own]


def test_a_game_that_begins_while_its_table_is_away_is_not_begun_anew(visit: Visit) -> None:
    visit.director.begin("Club", System.SWISS, 1, "deblockle", [("Ann", 4), ("Ben", 3), ("Cleo", 2), ("Dan", 1)])
    visit.director.pair(1, ["table-1", "table-2"])
    feed = visit.feeds[0]
    visit.hall.take([Incoming("club/table-1/availability", b"offline")])
    visit.post("/tournaments/1/start")
    begun = [feed.begin(("Ann", "Cleo"), 0), feed.advance()]
    visit.hall.take([online(feed), state(feed)])
    assert begin_orders(visit, "table-1") == [], "its newest events have not come yet"
    assert len(visit.hall.rulings.waiting()) == 2
    visit.hall.take([event(each) for each in begun])
    assert begin_orders(visit, "table-1") == []
    assert [ruling.seat for ruling in visit.hall.rulings.waiting()] == ["table-2"]


def test_a_game_is_begun_only_if_nothing_has_happened_since(visit: Visit) -> None:
    visit.director.begin("Club", System.SWISS, 1, "deblockle", [("Ann", 2), ("Ben", 1)])
    visit.director.pair(1, ["table-1"])
    feed = visit.feeds[0]
    visit.post("/tournaments/1/start")
    assert [order["seen"] for order in begin_orders(visit, "table-1")] == [len(feed.events)]
    visit.hall.take([event(feed.advance()), state(feed)])
    (order,) = begin_orders(visit, "table-1")
    assert order["seen"] == len(feed.events)
    answer = feed.carry_out(order)
    visit.hall.take([event(feed.events[-1]), state(feed)])
    assert len(visit.hall.rulings.waiting()) == 1, "its answer is still to come"
    visit.hall.take([Incoming("club/table-1/answers", answer.model_dump_json().encode())])
    assert [each.status for each in visit.hall.rulings.newest("table-1", 9)] == [Status.DONE]
    assert visit.director.get(1).begun == {(1, 1)}


def test_a_game_that_has_not_begun_can_be_moved_to_another_table(visit: Visit) -> None:
    visit.director.begin("Club", System.SWISS, 1, "deblockle", [("Ann", 4), ("Ben", 3), ("Cleo", 2), ("Dan", 1)])
    visit.director.pair(1, ["table-9", "table-2"])
    visit.post("/tournaments/1/start")
    feed, fields = visit.feeds[0], {"round": "1", "board": "1"}
    assert visit.post("/tournaments/1/move", seat="table-8", **fields).status_code == 422
    refused = visit.post("/tournaments/1/move", seat="table-2", **fields)
    assert (refused.status_code, "still has the game of round 1, board 2" in refused.text) == (422, True)
    assert "Move board 1" in visit.page("/tournaments/1")
    assert visit.post("/tournaments/1/move", seat="table-1", **fields).status_code == 303
    assert [ruling.seat for ruling in visit.hall.rulings.waiting()] == ["table-2"]
    visit.hall.take([event(each) for each in feed.events])
    assert visit.director.get(1).begun == frozenset(), "what the table played before is not this game"
    visit.hall.take([event(feed.begin(("Ann", "Cleo"), 0))])
    assert visit.director.get(1).begun == {(1, 1)}
    assert "Move board 1" not in visit.page("/tournaments/1")
    assert visit.post("/tournaments/1/move", seat="table-9", **fields).status_code == 422
    assert visit.post("/tournaments/1/move", seat="table-9", round="1", board="3").status_code == 422


def test_an_arbiter_can_begin_a_single_game_anew(visit: Visit) -> None:
    visit.director.begin("Club", System.SWISS, 1, "deblockle", [("Ann", 4), ("Ben", 3), ("Cleo", 2), ("Dan", 1)])
    visit.director.pair(1, ["table-1", "table-2"])
    visit.hall.take([event(visit.feeds[0].begin(("Ann", "Cleo"), 0))])
    (form,) = re.findall(r"<details><summary>Restart board 1</summary>(.*?)</details>", visit.page("/tournaments/1"))
    assert 'action="/tournaments/1/start"' in form
    fields = dict(re.findall(r'type="hidden" name="(round|board)" value="(\d+)"', form))
    for _ in range(2):
        assert visit.post("/tournaments/1/start", clock="fischer 5+3", **fields).status_code == 303
    (ruling,) = visit.hall.rulings.waiting()
    assert (ruling.seat, ruling.command["command"], ruling.command["clock"]) == ("table-1", "new game", "fischer 5+3")
    visit.director.decide(1, (1, 1), Score.DRAW, "Arbiter")
    assert "Restart board" not in visit.page("/tournaments/1")


def test_a_table_begins_the_latest_game_it_was_told_to_and_none_that_has_a_result(visit: Visit) -> None:
    visit.director.begin("Club", System.SWISS, 1, "deblockle", [("Ann", 4), ("Ben", 3), ("Cleo", 2), ("Dan", 1)])
    visit.director.pair(1, ["table-1", "table-2"])
    assert visit.post("/tables/table-1/rule", command="new game", game="deblockle").status_code == 303
    assert "The table has not answered yet." not in visit.page("/tournaments/1"), "that game is nobody's"
    for clock in ("", "fischer 5+3", ""):
        visit.post("/tournaments/1/start", clock=clock)
        assert [ruling.command.get("clock", "") for ruling in visit.hall.rulings.waiting()] == [clock, clock]
    assert visit.page("/tournaments/1").count("The table has not answered yet.") == 2
    visit.hall.take([Incoming("club/table-1/availability", b"offline")])
    page = visit.page("/tournaments/1")
    assert (page.count("The table is not connected."), page.count("The table has not answered yet.")) == (1, 1)
    visit.post("/tournaments/1/decide", round="1", board="1", score="1-0")
    (ruling,) = visit.hall.rulings.waiting()
    assert ruling.seat == "table-2"
    refusal = Answer(table="table-2", request_id=ruling.request_id, refused=True, words="other sheets", event_number=20)
    visit.hall.take([Incoming("club/table-2/answers", refusal.model_dump_json().encode())])
    assert '<p class="trouble">other sheets</p>' in visit.page("/tournaments/1")


def test_a_game_of_a_tournament_is_for_two(visit: Visit) -> None:
    visit.director.begin("Club", System.SWISS, 1, "blokus-dice", [("Ann", 2), ("Ben", 1)])
    visit.director.pair(1, ["table-1"])
    visit.post("/tournaments/1/start")
    (ruling,) = visit.hall.rulings.waiting()
    assert (ruling.command["players"], ruling.command["options"]) == ({"p1": "Ann", "p2": "Ben"}, {"players": 2})


def test_the_report_has_the_date_at_the_hall(visit: Visit, monkeypatch: pytest.MonkeyPatch) -> None:
    visit.director.begin("Club", System.SWISS, 1, "deblockle", [("Ann", 2), ("Ben", 1)])
    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    try:
        assert "042 2026/12/31" in visit.client.get("/tournaments/1/report.trf").text
    finally:
        monkeypatch.undo()
        time.tzset()


def test_no_table_is_told_of_a_game_that_was_lost_by_absence(visit: Visit) -> None:
    visit.director.begin("Club", System.ROUND_ROBIN, 0, "deblockle", [("Ann", 3), ("Ben", 2), ("Cleo", 1), ("Dan", 0)])
    assert visit.post("/tournaments/1/presence", player="4", present="no").status_code == 303
    assert "Pair again" in visit.page("/tournaments/1")
    assert visit.post("/tournaments/1/pair", seats="table-1").status_code == 303
    assert visit.post("/tournaments/1/decide", round="1", board="1", score="").status_code == 303
    assert visit.post("/tournaments/1/start").status_code == 303
    assert [ruling.command["players"] for ruling in visit.hall.rulings.waiting()] == [{"gold": "Ben", "teal": "Cleo"}]


def test_names_and_ratings_are_read_as_typed() -> None:
    assert read_players("Ann; 1650\nBen\t900\r\n\nO'Neill, Pat, 12\n x\x00y \nRoom 101") == [
        ("Ann", 1650),
        ("Ben", 900),
        ("O'Neill, Pat", 12),
        ("x y", 0),
        ("Room 101", 0),
    ]


@given(st.text("a1;,\t \x00\u0663", max_size=12))
def test_the_first_separator_before_a_number_ends_the_name(line: str) -> None:
    plain = re.fullmatch(r"(.*?)[;,\t]\s*(\d{1,4})\s*", line)
    name, rating = (plain[1], int(plain[2])) if plain else (line, 0)
    name = " ".join(name.replace("\x00", " ").split())
    assert read_players(line) == ([(name, rating)] if name else [])
