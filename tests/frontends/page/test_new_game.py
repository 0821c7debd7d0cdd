"""The page of a new game: who plays, the clock, house rules, other games, and what is refused."""

import re
from datetime import UTC, datetime
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from engine.registry import games, load
from frontends.page.new_game import Evenings, command_of, start_picture
from journal.journal import Journal
from referee.commands.entries import same_again
from referee.commands.values import Announce, NewGame, Reply
from referee.record.events import Event, EventKind
from tests.frontends.page.page_table import client_of, port_of, snapshot_of, working
from tests.referee.by_text import by_text

NEW = "new game"
EVENINGS = Evenings(rules={"Sundays": {"start": "variant", "null_turn": "false"}})


def filled(fields: dict[str, Any], game: str = "diaballik", **settings: Any) -> dict[str, Any]:
    """The command that a form says, without what is empty."""
    lists = {name: value if isinstance(value, list) else [value] for name, value in fields.items()}
    command = command_of(load(game), settings, EVENINGS, lists)
    return {name: value for name, value in command.items() if value and name not in ("command", "game")}


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"player": ["", ""]}, {}),
        ({"player": [" Anna ", "Ben"]}, {"players": {"black": "Anna", "white": "Ben"}}),
        ({"player": ["", "Ben"]}, {"players": {"white": "Ben"}}),
        ({"clock": "none", "minutes": "5"}, {"clock": "none"}),
        ({"clock": "other", "minutes": "7", "seconds": ""}, {"clock": "game 7"}),
        ({"clock": "other", "minutes": "7", "seconds": "0"}, {"clock": "game 7"}),
        ({"clock": "other", "minutes": "7", "seconds": "5"}, {"clock": "fischer 7+5"}),
        ({"rules": "Sundays"}, {"rules": "Sundays", "options": {"start": "variant", "null_turn": "false"}}),
        ({"rules": "Mondays"}, {}),
        ({"rules": "", "options.start": "variant"}, {}),
        ({"rules": "other", "options.start": "variant"}, {"options": {"start": "variant"}}),
        (
            {"rules": "other", "options.start": "variant", "rules_name": "Ours"},
            {"options": {"start": "variant"}, "rules": "Ours"},
        ),
        ({"without_hints": "true"}, {"without_hints": True}),
    ],
)
def test_a_form_says_a_command(fields: dict[str, Any], said: dict[str, Any]) -> None:
    assert filled(fields) == said


def test_three_names_anywhere_are_the_first_three_players() -> None:
    said = filled({"player": ["Anna", "", "Ben", "Clara"]}, "blokus-dice")
    assert said == {"players": {"p1": "Anna", "p2": "Ben", "p3": "Clara"}}


def began(game: str = "diaballik", **data: Any) -> Event:
    return Event(EventKind.NEW_GAME, {"game": game, **data})


def test_earlier_evenings_tell_names_rules_and_how_to_play_again() -> None:
    newest_first = [
        began("blockade", players={"warm": "Clara", "cool": "program (fair)"}, rules="Not here"),
        began(players={"black": "Anna", "white": "Ben"}, rules="Ours", options={"start": "variant"}),
        began(players={"black": "Ben", "white": "Dora"}, rules="Ours", options={"start": "standard"}),
    ]
    told = Evenings.of(load("diaballik"), newest_first)
    assert told.names == ("Clara", "Anna", "Ben", "Dora")
    assert told.rules == {"Ours": {"start": "variant"}}
    assert told.again is not None
    assert told.again.players == {"black": "Ben", "white": "Anna"}


@pytest.mark.parametrize(
    ("game", "data", "again"),
    [
        (
            "blokus-dice",
            {"players": {"p1": "Anna", "p2": "Ben", "p3": "Clara"}, "options": {"players": 3}},
            NewGame("blokus-dice", {"players": 3}, {"p1": "Clara", "p2": "Anna", "p3": "Ben"}, clock="none"),
        ),
        (
            "diaballik",
            {
                "players": {"black": "program (fair)", "white": "Ben"},
                "hints": "none",
                "rules": "Ours",
                "clock": {"mode": "fischer", "base_s": 300, "bonus_s": 3, "flag": "said", "waits": True},
            },
            NewGame("diaballik", {}, {"white": "Ben"}, without_hints=True, clock="fischer 5+3", rules="Ours"),
        ),
    ],
)
def test_the_same_again_changes_sides_but_not_against_the_program(
    game: str, data: dict[str, Any], again: NewGame
) -> None:
    assert same_again(load(game), began(game, **data)) == again


def page_with(told: list[Any], reply: Reply | None = None, **parts: Any) -> tuple[TestClient, Any]:
    """A page of a table, and what carries out its commands."""
    port = port_of(**parts)
    port.snapshots(snapshot_of(port.game))

    def work(submitted: Any) -> None:
        told.append(submitted.command)
        submitted.respond(reply or Reply("It begins."))

    return client_of(port), working(port, work)


def send(client: TestClient, **fields: Any) -> Any:
    page = client.get("/new").text
    hidden = dict(re.findall(r'<input type="hidden" name="(csrf|request_id)" value="([^"]*)"', page))
    return client.post("/new", data={**hidden, **fields})


def test_a_name_that_no_drawing_may_contain_is_refused_at_its_field() -> None:
    told: list[Any] = []
    client, carried_out = page_with(told)
    with carried_out:
        reply = send(client, player=["Anna\ufffe", "Ben"])
    assert (reply.status_code, told) == (422, [])
    assert re.search(r'id="refused"[^>]*>A name has a sign that can&#39;t be shown', reply.text)
    assert 'aria-describedby="refused"' in reply.text


def test_a_game_is_begun_by_a_plain_form() -> None:
    told: list[Any] = []
    client, carried_out = page_with(told)
    with carried_out:
        reply = send(client, player=["Anna", "Ben"], clock="none", rules="")
        assert (reply.status_code, reply.headers["location"]) == (303, "/")
        assert "It begins." in client.get("/").text
    assert told == [NewGame("diaballik", {}, {"black": "Anna", "white": "Ben"}, clock="none", by="Ann")]


@pytest.mark.parametrize(
    ("field", "value"), [("player", 'value="Anna"'), ("clock", 'name="minutes"'), ("", "Los geht")]
)
def test_a_refused_form_keeps_what_was_filled_in_and_says_why_at_the_field(field: str, value: str) -> None:
    client, carried_out = page_with([], Reply("Not like this.", refused=True, field=field))
    typed = {
        "player": ["Anna", "<b>"],
        "clock": "other",
        "minutes": "77",
        "rules": "other",
        "options.start": "variant",
        "rules_name": "Ours",
        "without_hints": "true",
    }
    client.cookies.set("language", "de")
    with carried_out:
        refused = send(client, **typed)
    assert refused.status_code == 422
    assert unescape(refused.text).count("Not like this.") == 1
    form = refused.text[refused.text.index('<form id="new"') :]
    for kept in (
        'value="Anna"', 'value="&lt;b&gt;"', 'value="77"', 'value="Ours"',
        '<option value="variant" selected>', 'name="without_hints" value="true" checked',
    ):  # fmt: skip
        assert kept in form
    assert form.count(" checked>") == 3
    assert ('aria-describedby="refused"' in form) == bool(field)
    assert value in form


def test_the_tables_own_options_are_the_usual_ones() -> None:
    for options, words in (({"start": "variant"}, "As usual"), ({}, "As in the rulebook")):
        client, _ = page_with([], options=options)
        page = client.get("/new").text
        assert words in page[page.index('name="rules"') :]
        assert f'<option value="{options.get("start", "standard")}" selected>' in page


@pytest.mark.parametrize(
    ("game", "options", "seats"),
    [
        ("number-drop", {"players": 3}, 3),
        ("number-drop", {}, 2),
        ("blokus-dice", {}, 4),
        ("diaballik", {"start": "variant"}, 2),
        ("deblockle", {"starts": "either"}, 2),
        ("blockade", {}, 2),
    ],
)
@pytest.mark.parametrize("language", ["en", "de"])
def test_a_new_game_offers_a_place_for_each_who_can_play_and_no_identifiers(
    game: str, options: dict[str, Any], seats: int, language: str
) -> None:
    client, _ = page_with([], name=game, options=options)
    client.cookies.set("language", language)
    page = client.get("/new").text
    form = page[page.index('<form id="new"') : page.rindex("</form>")]
    assert form.count('name="player"') == seats
    words = unescape(re.sub(r"<[^>]*>", " ", form))
    assert re.findall(r"\w+_\w+|\./run|\bp\d\b|\bfalse\b", words) == []


@pytest.mark.parametrize("name", games())
def test_each_game_is_drawn_as_it_starts(name: str) -> None:
    client, _ = page_with([], name=name)
    picture = client.get("/new/start.svg")
    assert picture.headers["content-type"] == "image/svg+xml"
    assert "max-age" in picture.headers["cache-control"]
    assert picture.text == start_picture(name)
    assert picture.text.count("<svg") == 1
    assert not re.search("place-|aria-|<desc|<title|role=", picture.text), "no screen reader reads an image's parts"


def test_names_and_house_rules_come_from_the_journal(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"
    with Journal.open(path, wall_clock=lambda: datetime(2026, 11, 1, tzinfo=UTC)) as journal:
        journal.append(began(players={"black": "Anna", "white": "Ben"}, rules="Sundays", options={"start": "variant"}))
    client, _ = page_with([], journal=path)
    page = client.get("/new").text
    assert re.findall(r'data-name="(\w+)"', page) == ["Anna", "Ben"]
    assert 'name="rules" value="Sundays"' in page
    again = page[page.index('value="same again"') :].partition("</form>")[0]
    assert re.sub(r"<[^>]*>", " ", again).split()[-2:] == ["Ben", "Anna"]


def test_the_players_of_blockade_are_told_their_towers() -> None:
    client, _ = page_with([], name="blockade")
    client.cookies.set("language", "de")
    players = client.get("/api/table").json()["players"]
    assert [player["tally"] for player in players] == [
        "Türme, von fünf: Rot 0, Gelb 0",
        "Türme, von fünf: Grün 0, Blau 0",
    ]
    assert "Türme, von fünf: Rot 0, Gelb 0" in client.get("/").text


def test_tiles_are_asked_for_by_their_slots_and_not_as_dice() -> None:
    client, _ = page_with([], name="number-drop")
    document = client.get("/api/dice").json()
    assert document["are_tiles"]
    assert [die["name"] for die in document["dice"]] == ["A", "B", "C", "D", "E"]
    assert document["shapes"].keys() == set(document["dice"][0]["faces"])
    words = client.get("/").text
    assert "Tap where you write." in words
    assert "Tap the piece you play." not in words
    client, _ = page_with([], name="blockade")
    document = client.get("/api/dice").json()
    assert (document["are_tiles"], document["shapes"]) == (False, {})


def test_the_same_again_is_that_of_the_last_game_though_nobody_was_named(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"
    with Journal.open(path, wall_clock=lambda: datetime(2026, 11, 1, tzinfo=UTC)) as journal:
        session = by_text(journal, "diaballik")
        session.begin(NewGame("diaballik", players={"black": "Anna", "white": "Ben"}))
        session.begin(NewGame("diaballik"))
        session.carry_out_or_raise(Announce("white:resign", "Cleo"))
        # The one that the referee begins by itself.
        session.begin(NewGame("diaballik"))
        begun = journal.beginnings(9)
    assert [event.names for event in begun] == [{}, {"black": "Anna", "white": "Ben"}]
    client, _ = page_with([], journal=path)
    again = client.get("/new").text.partition('value="same again"')[2].partition("</form>")[0]
    assert "Same again" in again
    assert "Ben" not in again


def test_a_page_that_knows_of_no_game_ends_none() -> None:
    port = port_of()
    port.snapshots(snapshot_of(port.game))
    told: list[Any] = []

    def work(submitted: Any) -> None:
        told.append(submitted.command)
        submitted.respond(Reply("It begins."))

    with working(port, work):
        client = client_of(port)
        hidden = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', client.get("/new").text))
        port.snapshots(snapshot_of(port.game, 2, turns=3))
        refused = client.post("/new", data={**hidden, "player": ["Anna", "Ben"]})
        assert (refused.status_code, told) == (409, [])
        assert "A game is being played now. Begin ends it." in refused.text
        assert 'value="Anna"' in refused.text
        assert 'name="ends" value="1"' in refused.text
        assert send(client, player=["Anna", "Ben"], ends="1").status_code == 303
        # What is not played here is refused by the session; it never begins the game that is.
        send(client, game="nosuch", ends="1")
    assert told[0].players == {"black": "Anna", "white": "Ben"}
    assert [command.game for command in told] == ["diaballik", "nosuch"]


def test_what_ends_a_game_counts_for_the_table_that_the_page_shows(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"
    with Journal.open(path, wall_clock=lambda: datetime(2026, 11, 1, tzinfo=UTC)) as journal:
        journal.append(began(players={"black": "Anna", "white": "Ben"}))
    client, _ = page_with([], journal=path)
    again = client.get("/new").text.partition('value="same again"')[2].partition("</form>")[0]
    assert 'name="seen" value="1"' in again
    for page in ("/ending", "/ending?resign=white"):
        text = client.get(page).text
        forms = text.count('<form method="post" action="/do"')
        assert forms == text.count('name="seen" value="1"') > 0
