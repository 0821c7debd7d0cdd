"""A table's messages: its state and clock, the journal's events in order, answers, and Home Assistant's device."""

import asyncio
import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from importlib import metadata
from pathlib import Path
from typing import Any, cast

import aiomqtt
import jinja2
import pytest

from common.phrases import Phrase, listed
from engine.registry import games, load
from engine.values import Outcome
from frontends.languages import sentences
from frontends.mqtt.client import Received, parse_picture_request
from frontends.mqtt.journal_feed import JournalFeed, cursor_path
from frontends.mqtt.options import MqttOptions
from frontends.mqtt.payloads import discovery_message, discovery_topic, table_state
from frontends.mqtt.table_link import TableLink
from frontends.mqtt.topics import TableState
from journal.backups import back_up, restore
from journal.journal import Journal
from referee.clocks import Clock, read_control
from referee.commands.values import COMMANDS, Command, QueuedCommand, Reply, Role
from referee.judge.verdict import Verdict, VerdictKind
from referee.naming import as_name
from referee.record.events import PRIVATE, REQUEST, Event, EventKind, JsonValue
from referee.session.feed import TableSnapshot
from tests.frontends.page.page_table import port_of, snapshot_of, working
from tests.referee.given import GIVEN

NOON = datetime(2026, 11, 22, 12, tzinfo=UTC)
PLAYED_OPTIONS = MqttOptions("broker.lan", 1883, "t1", "Table 1", allows=Role.PLAY, page="http://192.168.1.5:8000/")


def state_of(snapshot: TableSnapshot, age_s: float = 0.0, game: str = "diaballik") -> TableState:
    began = "2026-11-22T11:00:00.000Z"
    return table_state(PLAYED_OPTIONS, load(game), snapshot, began, age_s, NOON, hints_allowed=True)


@pytest.mark.parametrize("name", games())
def test_the_start_of_every_game_round_trips_as_a_message(name: str) -> None:
    game = load(name)
    state = state_of(snapshot_of(game), game=name)
    assert TableState.model_validate_json(state.model_dump_json()) == state
    assert state.position == game.notation.format_state(game.rules.new())
    assert state.local["turn"] == listed(player.name for player in state.players if player.to_move)
    assert bool(state.local["scores"]) == (game.scores is not None)
    awaited = "draw the tiles" if game.to_draw(game.rules.new()) else "roll the" if game.dice else "to play"
    assert awaited in state.next.lower()
    assert not state.needs_person


def test_before_the_set_up_there_is_no_position() -> None:
    snapshot = replace(snapshot_of(load("diaballik")), states=(), to_move=None)
    state = state_of(snapshot)
    assert (state.position, state.local["turn"], state.next) == (None, "", "It waits.")
    assert state_of(replace(snapshot, words="Waiting for the set-up.")).next == "Waiting for the set-up."


def test_names_and_the_end_of_a_game_are_sent() -> None:
    snapshot = snapshot_of(load("diaballik"), names={"black": "Ann"}, outcome=Outcome("black", "the ball arrived"))
    state = state_of(snapshot)
    assert [player.name for player in state.players] == ["Ann", "White"]
    assert state.outcome == state.next == "Ann wins: the ball arrived."
    assert state.end is not None
    assert state.end.winners == ("Ann",)
    assert state.local["turn"] == ""


@pytest.mark.parametrize(
    ("kind", "needs"), [(VerdictKind.ILLEGAL, True), (VerdictKind.AMBIGUOUS, True), (VerdictKind.ACCEPTED, False)]
)
def test_a_fault_or_a_question_needs_a_person(kind: VerdictKind, needs: bool) -> None:
    verdict = Verdict(kind, "So it is.", 0.0, 0)
    assert state_of(snapshot_of(load("diaballik"), verdict=verdict)).needs_person is needs


def test_the_turns_to_choose_from_are_sent_with_their_players() -> None:
    asked = Verdict(VerdictKind.AMBIGUOUS, "Which?", 0.0, 0, candidates=("a1=1",), candidate_players=("p2",))
    shown = state_of(snapshot_of(load("number-drop"), verdict=asked), game="number-drop").verdict
    assert shown is not None
    assert (shown.candidates, shown.candidate_players) == (("a1=1",), ("p2",))


def test_the_clock_is_sent_with_the_current_time() -> None:
    control = read_control("fischer 5+3")
    assert control is not None
    clock = Clock.full(control, ("black", "white"), 0.0).switch(0.0, ("black",))
    running = snapshot_of(load("diaballik"), clock=clock.face(0.0), names={"black": "Ann"})
    shown = state_of(running, age_s=59.5)
    assert shown.clock is not None
    assert shown.clock.remaining_s == {"black": 240.5, "white": 300.0}
    assert (shown.local["clock"], shown.flag_falls) == ("Ann 4:01, White 5:00", "2026-11-22T12:04:00.500Z")
    paused = replace(running, clock=replace(clock.face(0.0), paused="a question"))
    shown = state_of(paused, age_s=1000.0)
    assert (shown.local["clock"], shown.flag_falls) == ("Ann 5:00, White 5:00 (paused: a question)", None)
    long = replace(running, clock=replace(clock.face(0.0), remaining_s={"black": 4500.0, "white": 300.0}, running=()))
    assert state_of(long).local["clock"] == "Ann 1:15:00, White 5:00"
    both = replace(
        clock.face(0.0), running=("black", "white"), remaining_s={"black": 0.0, "white": 95.0}, fallen=("black",)
    )
    shown = state_of(replace(running, clock=both))
    assert shown.flag_falls == "2026-11-22T12:01:35.000Z", "the next flag, not the one that has fallen"


WRONG = Phrase("No piece stands on {place}.", "c3")


def test_sentences_are_sent_in_english_with_their_phrases() -> None:
    verdict = Verdict(VerdictKind.ILLEGAL, WRONG, 0.0, 0)
    shown = state_of(snapshot_of(load("diaballik"), verdict=verdict, hint=WRONG, names={"black": "Ann"}))
    sent = json.loads(shown.model_dump_json())
    assert (sent["hint"], sent["phrases"]["hint"]) == (WRONG, WRONG.to_json())
    assert sent["phrases"]["verdict"] == {"sentence": WRONG.to_json()}
    assert sent["phrases"]["players"]["0"]["name"] == as_name("Ann").to_json()
    got = TableState.model_validate(sent)
    assert got == shown
    assert got.verdict is not None
    assert sentences("de")(got.verdict.sentence) == "Auf c3 steht kein Stein."
    assert isinstance(got.next, Phrase)


@pytest.mark.parametrize("phrases", [None, {}, [], {"hint": "x"}, {"hint": ["{a}", {"a": "other"}], "turns": ["1"]}])
def test_a_message_without_true_phrases_has_its_english_texts(phrases: object) -> None:
    sent = json.loads(state_of(snapshot_of(load("diaballik"), hint=WRONG)).model_dump_json())
    assert sent.pop("phrases")
    got = TableState.model_validate({**sent, **({} if phrases is None else {"phrases": phrases})})
    assert got.hint == WRONG
    assert type(got.hint) is str


def message(allows: Role = Role.PLAY, language: str = "en") -> Any:
    return json.loads(discovery_message(replace(PLAYED_OPTIONS, allows=allows, language=language)))


def test_home_assistant_shows_the_tables_language() -> None:
    control = read_control("game 5")
    assert control is not None
    clock = Clock.full(control, ("black", "white"), 0.0).face(0.0)
    german, game = replace(PLAYED_OPTIONS, language="de"), load("diaballik")
    snapshot = snapshot_of(game, words=WRONG, names={"white": "Ann"}, clock=replace(clock, paused="a question"))
    values = json.loads(table_state(german, game, snapshot, "", 0.0, NOON, hints_allowed=True).model_dump_json())
    assert values["next"] == "Black to play."
    parts = message(language="de")["components"]
    shown = {
        part["name"]: rendered(part["value_template"], value_json=values)
        for part in parts.values()
        if "value_template" in part
    }
    assert shown == {
        "Partie": "Diaballik", "Am Zug": "Schwarz", "Als Nächstes": "Schwarz ist am Zug.", "Punktestand": "",
        "Urteil": "Auf c3 steht kein Stein.", "Uhr": "Schwarz 5:00, Ann 5:00 (angehalten: eine Frage)",
        "Zeit läuft ab": "None", "Braucht jemanden": "OFF", "Gezeigter Tipp": "",
    }  # fmt: skip
    assert parts["end_turn"]["name"] == "Zug beenden"
    english = message()["components"]
    assert parts["clock"]["unique_id"] == english["clock"]["unique_id"]


def test_every_component_has_a_unique_id_and_existing_topics() -> None:
    found = message()
    assert discovery_topic(PLAYED_OPTIONS) == "homeassistant/device/referee_t1/config"
    assert found["device"]["identifiers"] == ["referee_t1"]
    assert found["origin"]["name"]
    assert found["device"]["configuration_url"] == PLAYED_OPTIONS.page
    parts = found["components"].values()
    assert len({part["unique_id"] for part in parts}) == len({part["name"] for part in parts}) == len(parts)
    topics = PLAYED_OPTIONS.topics
    named = {value for part in [found, *parts] for key, value in part.items() if key.endswith("topic")}
    assert named == {topics.availability, topics.state, topics.events, topics.play, topics.picture}


def rendered(template: str, **values: Any) -> str:
    return jinja2.Environment(autoescape=False).from_string(template).render(**values)


def test_the_sensors_show_the_state() -> None:
    control = read_control("game 5")
    assert control is not None
    clock = Clock.full(control, ("black", "white"), 0.0).switch(0.0, ("black",)).face(0.0)
    verdict = Verdict(VerdictKind.ILLEGAL, "No.", 0.0, 0)
    snapshot = snapshot_of(load("diaballik"), clock=clock, verdict=verdict, words="No. " * 100, hint="d1-d2")
    values = json.loads(state_of(snapshot).model_dump_json())
    shown = {
        key: rendered(part["value_template"], value_json=values)
        for key, part in message()["components"].items()
        if "value_template" in part
    }
    assert shown == {
        "game": "Diaballik", "turn": "Black", "next": "Black to play.", "scores": "", "needs_person": "ON",
        "verdict": f"{('No. ' * 100)[:254]}…", "clock": "Black 5:00, White 5:00",
        "flag_falls": "2026-11-22T12:05:00.000Z", "hint_shown": "d1-d2",
    }  # fmt: skip
    without = json.loads(state_of(replace(snapshot, clock=None)).model_dump_json())
    parts = message()["components"]
    assert rendered(parts["clock"]["value_template"], value_json=without) == "none"
    assert rendered(parts["flag_falls"]["value_template"], value_json=without) == "None"


@pytest.mark.parametrize("length", range(254, 263))
def test_no_sensor_shows_more_than_a_state_may_have(length: int) -> None:
    shown = rendered(
        message()["components"]["verdict"]["value_template"], value_json={"local": {"verdict": "a" * length}}
    )
    assert shown == ("a" * length if length <= 255 else "a" * 254 + "…")


def test_each_button_sends_a_command_with_a_unique_id() -> None:
    moments = iter(range(100))
    buttons = [part for part in message()["components"].values() if part["platform"] == "button"]
    commands = [json.loads(rendered(part["command_template"], now=lambda: FakeTime(next(moments)))) for part in buttons]
    assert len({command["request_id"] for command in commands}) == len(commands) == 4
    for command in commands:
        assert (parse_picture_request(command) or COMMANDS.validate_python(command)).needs == Role.PLAY


class FakeTime:
    def __init__(self, seconds: int) -> None:
        self._seconds = seconds

    def timestamp(self) -> int:
        return self._seconds


def test_components_that_are_not_allowed_are_removed() -> None:
    allowed, not_allowed = message()["components"], message(Role.NOBODY)["components"]
    assert allowed.keys() == not_allowed.keys()
    changed = {key for key in allowed if allowed[key] != not_allowed[key]}
    assert changed == {"end_turn", "hint", "take_back", "take_picture", "picture"}
    assert all(not_allowed[key] == {"platform": allowed[key]["platform"]} for key in changed)


def test_a_program_that_is_not_installed_is_discovered_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(name: str) -> str:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "version", fail)
    assert json.loads(discovery_message(PLAYED_OPTIONS))["origin"]["sw_version"] == "not installed, run from its folder"


@pytest.mark.parametrize(
    "page", ["http://192.168.1.5:8000/", "https://t1.local/", "http://[fe80::1]:8000/a@b", "http://t1?"]
)
def test_a_table_s_page_may_be_on_the_web(page: str) -> None:
    state = state_of(snapshot_of(load("diaballik"))).model_copy(update={"page": page})
    assert TableState.model_validate_json(state.model_dump_json()).page == page


@pytest.mark.parametrize(
    "page",
    [
        *("javascript:alert(1)", "data:text/html,x", "JAVASCRIPT:http://a/", " http://a/", "http://a/\n", "//a", ""),
        *("https://table-1.local:pw@evil.example/", "https://table-1.local@evil.example/", "https://evil.example\\@a/"),
        *("http:///evil.example", "http://?@a", "https://\u202eevil.example/"),
    ],
)
def test_a_state_with_another_link_is_accepted_without_it(page: str) -> None:
    state = state_of(snapshot_of(load("diaballik"))).model_copy(update={"page": page})
    assert TableState.model_validate_json(state.model_dump_json()).page is None


OPTIONS = MqttOptions("broker.lan", 1883, "t1", "Table 1")


@pytest.mark.parametrize(
    ("payload", "request_id"), [(b'{"after": -1, "request_id": "r"}', "r"), (b'{"after": -1}', ""), (b"[", "")]
)
def test_an_invalid_request_for_events_is_refused_by_its_id(payload: bytes, request_id: str) -> None:
    said: list[dict[str, Any]] = []

    class Client:
        async def publish(self, topic: str, payload: str, **_: object) -> None:
            said.append(json.loads(payload))

    async def ask() -> None:
        link = TableLink(port_of(), OPTIONS, lambda _: None, lambda: datetime.now(UTC))
        await link._replay(cast("aiomqtt.Client", Client()), Received(OPTIONS.topics.replay, payload))

    asyncio.run(ask())
    assert [(answer["request_id"], answer["refused"]) for answer in said] == [(request_id, True)]


@pytest.mark.parametrize(("fields", "command"), GIVEN)
def test_a_command_reaches_the_session_and_its_reply_comes_back(fields: dict[str, Any], command: Command) -> None:
    port, told, said = port_of(), list[QueuedCommand](), list[dict[str, Any]]()
    replies = [Reply("Done."), Reply("That can't be done.", refused=True)]

    class Client:
        async def publish(self, topic: str, payload: str, **_: object) -> None:
            assert topic == OPTIONS.topics.answers
            said.append(json.loads(payload))

    def work(submitted: QueuedCommand) -> None:
        told.append(submitted)
        submitted.respond(replies.pop(0))

    async def order() -> None:
        link = TableLink(port, replace(OPTIONS, allows=Role.OWN), lambda _: None, lambda: datetime.now(UTC))
        for request_id in ("one", "two"):
            payload = json.dumps({**fields, "by": "Ben", **fields, "seen": 6, "request_id": request_id})
            await link._carry_out(cast("aiomqtt.Client", Client()), Received(OPTIONS.topics.own, payload.encode()))

    with working(port, work):
        asyncio.run(order())
    assert [(each.command, each.command.seen) for each in told] == [(command, 6)] * 2
    assert [(each["request_id"], each["words"], each["refused"]) for each in said] == [
        ("one", "Done.", False),
        ("two", "That can't be done.", True),
    ]


class WallClock:
    def __init__(self) -> None:
        self.now = datetime(2026, 11, 22, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    with Journal.open(tmp_path / "journal.sqlite", wall_clock=WallClock()) as opened:
        yield opened


def play(journal: Journal, *turns: str, request: str = "") -> None:
    """Begin a game and play these turns."""
    game = load("diaballik")
    state = game.rules.new()
    journal.append(Event(EventKind.NEW_GAME, {"game": game.name}))
    journal.append(Event(EventKind.SET_UP, {"state": game.notation.format_state(state)}))
    for text in turns:
        turn = game.notation.parse_turn(state, text)
        state = game.rules.apply(state, turn)
        data = {"turn": text, "player": turn.player, "state": game.notation.format_state(state)}
        journal.append(Event(EventKind.TURN, {**data, REQUEST: request} if request else data))


def test_events_are_sent_in_order_with_a_sentence_each(journal: Journal) -> None:
    play(journal, "b1-b2", "b7-b6", request="one")
    play(journal, "c1-c2")
    told = JournalFeed(journal.path, OPTIONS).after(0)
    assert [event.number for event in told] == list(range(1, 8))
    assert [event.game_number for event in told] == [1, 1, 1, 1, 2, 2, 2]
    assert told[2].sentence == "Black moves b1 to b2."
    assert all(event.sentence and event.journal == told[0].wall_time for event in told)
    assert [event.request_id for event in told] == ["", "", "one", "one", "", "", ""]


def test_a_private_hint_stays_at_the_table(journal: Journal) -> None:
    play(journal, "b1-b2")
    hint: dict[str, JsonValue] = {"player": "white", "by": "Ben", "strength": "fair", "stage": "whole"}
    said: dict[str, JsonValue] = {"turn": "b7-b6", "sentence": "White moves b7 to b6.", "places": ["b7", "b6"]}
    journal.append(Event(EventKind.HINT_GIVEN, {**hint, **said, PRIVATE: True}))
    journal.append(Event(EventKind.HINT_GIVEN, {**hint, **said}))
    private, public = JournalFeed(journal.path, OPTIONS).after(0)[-2:]
    assert "b7" in public.model_dump_json()
    assert "b7" not in private.model_dump_json()
    assert private.data == {**hint, PRIVATE: True}


def test_the_events_do_not_depend_on_where_the_feed_begins(journal: Journal) -> None:
    play(journal, "b1-b2", "b7-b6", "b2-b3")
    play(journal, "c1-c2")
    whole = JournalFeed(journal.path, OPTIONS).after(0)
    feed = JournalFeed(journal.path, OPTIONS)
    for number in (6, 2, 3, 0, 7, 4):
        assert feed.after(number, 2) == whole[number : number + 2]


def test_a_table_that_is_new_on_a_broker_begins_with_its_newest_game(journal: Journal) -> None:
    feed = JournalFeed(journal.path, OPTIONS)
    assert (feed.start(), feed.identity()) == (0, "")
    play(journal, "b1-b2")
    assert feed.start() == 0
    play(journal)
    assert feed.start() == 3


def test_the_feed_continues_from_the_brokers_cursor(journal: Journal) -> None:
    play(journal, "b1-b2", "b7-b6")
    feed = JournalFeed(journal.path, OPTIONS)
    feed.after(feed.start())
    feed.keep_cursor(3)
    assert JournalFeed(journal.path, OPTIONS).start() == 3


def test_a_cursor_of_an_older_version_still_holds(journal: Journal) -> None:
    play(journal, "b1-b2", "b7-b6")
    first = journal.events()[0][1].wall_time
    for number, start in ((3, 3), (400, 4), (10**30, 4)):
        cursor_path(journal.path).write_text(json.dumps({"journal": first, "number": number}), encoding="utf-8")
        assert JournalFeed(journal.path, OPTIONS).start() == start


@pytest.mark.parametrize("played_since", [0, 1, 2, 3])
def test_after_a_restore_every_event_is_sent_again(tmp_path: Path, played_since: int) -> None:
    path, copy, clock = tmp_path / "journal.sqlite", tmp_path / "copy.sqlite", WallClock()
    with Journal.open(path, wall_clock=clock) as journal:
        play(journal, "b1-b2")
        back_up(path, copy)
        play(journal, "c1-c2")
    feed = JournalFeed(path, OPTIONS)
    feed.keep_cursor(feed.after(0)[-1].number)
    restore(copy, path, clock())
    with Journal.open(path, wall_clock=clock) as journal:
        for _ in range(played_since):
            play(journal, "c1-c2")
    feed = JournalFeed(path, OPTIONS)
    assert feed.start() == 0
    newest = feed.after(0)[-1].number
    feed.keep_cursor(newest)
    assert JournalFeed(path, OPTIONS).start() == newest == 3 * (1 + played_since)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"journal": 1}', '{"journal": "another", "number": 3}'])
def test_a_foreign_or_invalid_cursor_omits_no_event(text: str, journal: Journal) -> None:
    play(journal, "b1-b2")
    cursor_path(journal.path).write_text(text, encoding="utf-8")
    assert JournalFeed(journal.path, OPTIONS).start() == 0


def test_an_impossible_event_is_sent_without_a_sentence(journal: Journal) -> None:
    play(journal, "b1-b2")
    journal.append(Event(EventKind.TURN, {"turn": "a1-a7", "player": "white", "state": "nothing"}))
    journal.append(Event(EventKind.NOTE, {"text": "Somebody waves."}))
    told = JournalFeed(journal.path, OPTIONS).after(2)
    assert [(event.number, event.game, bool(event.sentence)) for event in told] == [
        (3, "diaballik", True),
        (4, "diaballik", False),
        (5, "diaballik", False),
    ]
