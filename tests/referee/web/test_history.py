"""The journal on the page: events, the table after each, pictures, games, results and records."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from engine import records
from engine.registry import load
from engine.values import Outcome
from referee.commands.values import Announce, Correct, EnterTurn, NewGame, TakeBack
from referee.journal.events import STOPPED, Event, EventKind
from referee.journal.journal import Journal
from referee.journal.reader import JournalReader
from referee.session.log import end_event
from tests.referee.by_text import by_text
from tests.referee.service_table import wall_clock
from tests.referee.web.page_table import client_of, port_of


@pytest.fixture
def played(table_set_up: Any, start: Any, tmp_path: Path) -> Iterator[tuple[Any, TestClient]]:
    """A game of Deblockle: the set-up, a turn seen by the camera, a fault, and a typed turn that was taken back."""
    path = tmp_path / "journal.sqlite"
    with Journal.open(path, wall_clock=wall_clock) as journal:
        on = table_set_up(journal)
        _, after = on.play(start="c1", top="hoops")
        on.show(after, 2)
        on.show({**after, "e5": "empty", "a4": start["e5"]}, 3)
        on.tell(Correct("Ann", {"e5": "empty", "a4": start["e5"]}))
        typed = on.game.rules.legal_turns(on.service.belief[0])[0]
        on.tell(EnterTurn(on.game.notation.format_turn(typed), "Ben"))
        on.tell(TakeBack("Ben"))
        yield on, client_of(port_of("deblockle", journal=path))


def test_events_are_listed_with_their_authors_and_pictures(played: tuple[Any, TestClient]) -> None:
    on, client = played
    history = client.get("/api/history").json()
    events = history["events"]
    assert (history["game"], history["number"]) == ("deblockle", 1)
    assert [event["kind"] for event in events] == [event.kind.value for _, event in on.journal.events()]
    assert [event["by"] for event in events][-3:] == ["Ann", "Ben", "Ben"]
    turn = next(event for event in events if event["kind"] == "turn")
    assert (turn["player"], "after-c1" in turn["evidence"]) == ("gold", True)
    picture = client.get(f"/api/evidence/{turn['number']}/after-c1")
    assert (picture.headers["content-type"], picture.content[:4]) == ("image/png", b"\x89PNG")
    on.tell(Correct("Ann", to_move="gold"))
    assert len(client.get("/api/history?game=1").json()["events"]) == len(events) + 1


def test_the_table_after_each_event_agrees_with_the_fold_of_the_journal(played: tuple[Any, TestClient]) -> None:
    on, client = played
    numbers = [number for number, _ in on.journal.events()]
    positions = [client.get(f"/api/history/{number}").json() for number in numbers]
    assert [position["before"] for position in positions] == [None, *numbers[:-1]]
    assert [position["after"] for position in positions] == [*numbers[1:], None]
    assert [position["table"]["turns"] for position in positions] == [0, 0, 1, 1, 1, 2, 1]
    assert positions[-1]["table"]["board"] == positions[-3]["table"]["board"]
    assert positions[-1]["table"]["next"] == "Teal to play."
    assert positions[0]["table"]["next"] == "Before the set-up."


def test_events_that_only_keep_the_clock_running_are_left_out(tmp_path: Path) -> None:
    game = load("diaballik")
    with Journal.open(tmp_path / "journal.sqlite", wall_clock=wall_clock) as journal:
        journal.append(Event(EventKind.NEW_GAME, {"game": game.name}))
        journal.append(Event(EventKind.CLOCK, {"change": "restarted"}))
        journal.append(Event(EventKind.SET_UP, {"state": game.notation.format_state(game.rules.new())}))
        client = client_of(port_of(game.name, journal=journal.path))
        assert [event["number"] for event in client.get("/api/history").json()["events"]] == [1, 3]
        assert client.get("/api/history/3").json()["before"] == 1
        assert client.get("/api/history/1").json()["after"] == 3
        assert client.get("/api/history/2").status_code == 404
        journal.append(Event(EventKind.CLOCK, {"change": "ran"}))
        assert len(client.get("/api/history").json()["events"]) == 2


def test_games_are_listed_and_their_records_exported(played: tuple[Any, TestClient]) -> None:
    on, client = played
    (game,) = client.get("/api/games").json()["games"]
    assert (game["number"], game["name"], game["title"], game["ended"]) == (1, "deblockle", "Deblockle", False)
    written = client.get("/api/record?game=1")
    assert written.headers["content-disposition"] == 'attachment; filename="deblockle-1.txt"'
    assert records.replay(records.read(written.text)).states[-1] == on.service.belief[0]


def test_a_stopped_game_is_not_listed_as_over(played: tuple[Any, TestClient]) -> None:
    on, client = played
    assert "<td>goes on</td>" in client.get("/games").text
    on.journal.append(end_event(Outcome(None, STOPPED), None))
    assert "<td>stopped</td>" in client.get("/games").text


def test_a_history_is_only_read_again_after_a_new_event(
    played: tuple[Any, TestClient], monkeypatch: pytest.MonkeyPatch
) -> None:
    on, client = played
    read: list[int | None] = []
    events = JournalReader.events

    def counted_events(journal: JournalReader, game: int | None = None) -> list[tuple[int, Event]]:
        read.append(game)
        return events(journal, game)

    monkeypatch.setattr(JournalReader, "events", counted_events)
    first, again = (client.get("/api/history").json() for _ in range(2))
    assert (again, read) == (first, [1])
    on.tell(Correct("Ann", to_move="gold"))
    read.clear()
    assert client.get("/api/history").json() != first
    assert read == [1]


def test_an_older_games_positions_lead_back_to_its_own_events(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"
    with Journal.open(path, wall_clock=wall_clock) as journal:
        session = by_text(journal, "diaballik")
        session.begin(NewGame("diaballik"))
        session.enter(Announce("black:resign", "the clock"))
        session.begin(NewGame("diaballik"))
    client = client_of(port_of(journal=path))
    assert '<a href="/history?game=1">All events</a>' in client.get("/history/3").text
    german = {"accept-language": "de"}
    history = client.get("/history?game=1", headers=german).text
    assert ">Schwarz verliert durch Zeitüberschreitung.</a>" in history
    assert '<span class="by">die Uhr</span>' in history
    listed = client.get("/games").text
    assert re.search(r"\d{4}-\d\d-\d\d \d\d:\d\d", listed)
    assert 'value="resume"' not in listed
    assert re.search(r"\d\d\.\d\d\.\d{4}, \d\d:\d\d", client.get("/games", headers=german).text)


def test_an_older_game_of_another_kind_keeps_its_name(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"
    with Journal.open(path, wall_clock=wall_clock) as journal:
        session = by_text(journal, "number-drop")
        session.begin(NewGame("number-drop"))
        session.enter(Announce("p1:resign", "Ann"))
        by_text(journal, "diaballik").begin(NewGame("diaballik"))
    client = client_of(port_of(journal=path))
    saved = client.get("/api/record?game=1").headers["content-disposition"]
    assert saved == 'attachment; filename="number-drop-1.txt"'
    for view in ("/history?game=1", "/history/1"):
        assert "– Number Drop</title>" in client.get(view).text
    # Its sheets can be scrolled by keys.
    assert 'id="board" class="drawn" tabindex="0"' in client.get("/history/1").text


def test_an_evenings_results_are_added_up_by_name(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"
    with Journal.open(path, wall_clock=wall_clock) as journal:
        session = by_text(journal, "diaballik")
        for loser in ("black:resign", "white:resign", "black:resign"):
            session.begin(NewGame("diaballik", players={"black": "Ann", "white": "<Ben>"}))
            session.enter(Announce(loser, "Ann"))
        session.begin(NewGame("diaballik"))
    client = client_of(port_of(journal=path))
    results = client.get("/api/results").json()
    assert [each["name"] for each in results["standings"]] == ["<Ben>", "Ann"]
    ben = {"played": 3, "won": 2, "drawn": 0, "lost": 1}
    assert results["meetings"] == [{"one": "<Ben>", "other": "Ann", "tally": ben}]
    assert results["left_out"] == [4]
    assert client.get("/api/results?first=3").json()["standings"][0]["tally"]["played"] == 1
    page = client.get("/results").text
    assert "&lt;Ben&gt; won 2, Ann 1, drawn 0" in page
    assert "Not counted, since they were not played to their end: 4" in page
    assert "No game was played to its end." in client.get("/results?first=4").text


LACKING = {
    "/api/history?game=9": 404,
    "/api/history?game=x": 422,
    "/api/history?game=99999999999999999999999": 404,
    "/api/history/99999999999999999999999": 404,
    "/api/evidence/3/nothing": 404,
    "/api/evidence/99/after-c1": 404,
    "/api/record?game=9": 404,
}


def test_a_request_for_something_the_journal_lacks_is_refused(played: tuple[Any, TestClient]) -> None:
    _, client = played
    replies = {path: client.get(path) for path in LACKING}
    assert {path: reply.status_code for path, reply in replies.items()} == LACKING
    assert all(reply.json()["refused"] for reply in replies.values())


def test_without_a_journal_or_a_game_there_is_no_history(tmp_path: Path) -> None:
    assert client_of(port_of()).get("/api/history").json()["words"] == "This game is not kept in a journal."
    assert client_of(port_of(journal=tmp_path / "none")).get("/api/games").status_code == 404
    with Journal.open(tmp_path / "empty", wall_clock=wall_clock):
        client = client_of(port_of(journal=tmp_path / "empty"))
        assert client.get("/api/history").json()["words"] == "No game has begun yet."
        assert client.get("/api/games").json() == {"games": []}
    (tmp_path / "wrong").write_bytes(b"x" * 5000)
    assert client_of(port_of(journal=tmp_path / "wrong")).get("/api/games").status_code == 503


@pytest.mark.parametrize("path", ["/api/history?game=9", "/api/history/99", "/api/record?game=9", "/api/games"])
def test_an_answer_names_no_path_of_the_machine(played: tuple[Any, TestClient], path: str) -> None:
    on, client = played
    on.journal.path.rename(on.journal.path.with_name("elsewhere.sqlite")) if path == "/api/games" else None
    answer = client.get(path)
    assert (answer.status_code, "sqlite" in answer.text) == (404, False)


def test_games_and_results_are_read_again_only_after_a_new_event(
    played: tuple[Any, TestClient], monkeypatch: pytest.MonkeyPatch
) -> None:
    on, client = played
    read: list[int | None] = []
    events = JournalReader.events

    def count(self: JournalReader, game: int | None = None) -> list[tuple[int, Event]]:
        read.append(game)
        return events(self, game)

    monkeypatch.setattr(JournalReader, "events", count)
    before = [client.get(path).json() for path in ("/api/games", "/api/results")]
    read.clear()
    assert [client.get(path).json() for path in ("/api/games", "/api/results")] == before
    assert read == []
    on.tell(Correct("Ann", to_move="gold"))
    read.clear()
    assert client.get("/api/games").json() != before[0]
    client.get("/api/results")
    assert read == [1, 1]
