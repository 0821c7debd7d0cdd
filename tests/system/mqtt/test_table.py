"""A table on a real broker: events it publishes, orders it takes; nothing is lost or done twice."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime
from typing import Any

import pytest

from common.phrases import Phrase
from engine.registry import games, load
from referee.commands.values import CommandQueue, EnterTurn, Reply, Role
from referee.journal.events import EventKind, PlayedKind, encode
from referee.journal.fold import after_step, read_step
from referee.journal.reader import read_journal
from referee.languages import sentences
from referee.mqtt.options import MqttOptions
from referee.mqtt.table_link import connect_to_broker
from referee.mqtt.topics import Answer, TableEvent, TableState
from referee.session import table_port
from referee.session.table_port import SnapshotHub, TablePort
from tests.guard import GUARD_S
from tests.system.mqtt.conftest import House, Table
from tests.system.mqtt.mosquitto import Client, Heard
from tests.system.page.served import Session
from tests.system.test_typed_games import OPTIONS, typed_game

PLAY, OWN = "referee/t1/command/play", "referee/t1/command/own"
FIRST, SECOND = "b1-b2", "b7-b6"


def events_in(running: Session) -> list[tuple[int, Any]]:
    with read_journal(running.journal) as journal:
        return journal.events()


def told(client: Client, topic: str = "referee/t1/events") -> list[TableEvent]:
    return [TableEvent.model_validate_json(heard.payload) for heard in client.heard if heard.topic == topic]


def after_event(client: Client, number: int) -> Heard:
    return client.until(lambda heard: heard.topic == "referee/t1/events" and heard.json["number"] == number)


@pytest.mark.parametrize("name", games())
def test_a_whole_game_ordered_by_mqtt_is_published_event_by_event(name: str, house: House) -> None:
    broker = house.broker()
    client = house.client(broker)
    rules = dict([OPTIONS[name].split("=")]) if name in OPTIONS else {}
    running = house.session(name, **{key: int(value) for key, value in rules.items()})
    house.table(broker, running)
    client.until(lambda heard: heard.payload == b"online")
    game = load(name)
    lines, end = typed_game(game)
    state = game.rules.new({key: int(value) for key, value in rules.items()})
    for index, line in enumerate(lines):
        kind: PlayedKind = EventKind.ROLLED if game.awaits_roll(state) else EventKind.TURN
        player, _, text = line.partition(" ") if line.split()[0] in game.players else ("", "", line)
        state = after_step(game, state, read_step(game, state, kind, text, player or None))
        command = "roll" if kind is EventKind.ROLLED else "turn"
        client.say(PLAY, {"command": command, "text": text, "player": player, "by": "Ann", "request_id": f"r{index}"})
        answer = client.answer(f"r{index}")
        assert not answer["refused"], (line, answer)
    assert state == end
    kept = events_in(running)
    after_event(client, kept[-1][0])
    assert [(event.number, event.event_type, event.data) for event in told(client)] == [
        (number, event.kind.value, json.loads(encode(event))) for number, event in kept
    ]
    german = sentences("de")
    assert all(event.sentence for event in told(client))
    turns = [event.sentence for event in told(client) if event.event_type == EventKind.TURN]
    assert all(isinstance(turn, Phrase) and german(turn) != turn for turn in turns)
    last = client.until(lambda heard: heard.topic == "referee/t1/state" and heard.json["outcome"] is not None)
    shown = TableState.model_validate_json(last.payload)
    assert shown.position == game.notation.format_state(end)
    assert shown.event_number >= kept[-1][0] - 1
    assert shown.whose_turn == ""


def test_the_newest_state_and_availability_are_retained_for_later_subscribers(house: House) -> None:
    broker = house.broker()
    table = house.table(broker)
    table.running.tell(EnterTurn(FIRST, "Ann"))
    first = house.client(broker)
    first.until(lambda heard: heard.topic == "referee/t1/state" and heard.json["turns"] == 1)
    later = house.client(broker)
    state = later.until(lambda heard: heard.topic == "referee/t1/state")
    assert state.retain
    assert (state.json["whose_turn"], state.json["turns"], state.json["table_name"]) == ("White", 1, "Table 1")
    assert later.until(lambda heard: heard.topic == "referee/t1/availability").payload == b"online"


def test_no_event_is_lost_if_the_broker_is_killed(house: House) -> None:
    broker = house.broker()
    table = house.table(broker)
    with_everything = house.client(broker)
    table.running.tell(EnterTurn(FIRST, "Ann"))
    after_event(with_everything, 3)
    broker.kill()
    assert table.running.tell(EnterTurn(SECOND, "Ben")).refused is False
    broker.start()
    after_event(with_everything, 4)
    assert sorted({event.number for event in told(with_everything)}) == [1, 2, 3, 4]
    table.running.tell(EnterTurn("b2-b3", "Ann"))
    after_event(with_everything, 5)
    assert [line.split(" (")[0] for line in table.said] == [
        f"The broker at 127.0.0.1, port {broker.port} does not answer",
        f"The broker at 127.0.0.1, port {broker.port} is back.",
    ]


def test_events_while_the_table_was_disconnected_are_published_once_it_is_back(house: House) -> None:
    broker = house.broker()
    client = house.client(broker)
    running = house.session()
    table = Table(running, broker)
    with table.on():
        after_event(client, 2)
    client.until(lambda heard: heard.payload == b"offline")
    running.tell(EnterTurn(FIRST, "Ann"))
    running.tell(EnterTurn(SECOND, "Ben"))
    with table.on():
        after_event(client, 4)
    assert sorted({event.number for event in told(client)}) == [1, 2, 3, 4]


def test_a_repeated_order_is_carried_out_once_even_after_a_restart(house: House) -> None:
    broker = house.broker()
    client = house.client(broker)
    running = house.session()
    command = {"command": "turn", "text": FIRST, "by": "Ann", "request_id": "one"}
    table = Table(running, broker)
    with table.on():
        client.until(lambda each: each.payload == b"online")
        client.say(PLAY, command)
        first = client.answer("one")
        heard = len(client.heard)
        client.say(PLAY, command)
        assert client.answer("one", heard) == first
        heard = len(client.heard)
    with table.on():
        client.until(lambda each: each.payload == b"online", heard)
        heard = len(client.heard)
        client.say(PLAY, command)
        again = client.answer("one", heard)
    assert (again["refused"], again["words"]) == (False, "That was done before; it is event 3.")
    assert [event.kind for _, event in events_in(running)] == ["new game", "set up", "turn"]
    assert {event.request_id for event in told(client) if event.number == 3} == {"one"}


def test_a_pending_order_is_answered_when_done_and_when_repeated(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    broker = house.broker()
    client = house.client(broker)
    commands = CommandQueue(time.monotonic)
    port = TablePort(load("diaballik"), SnapshotHub(), commands)
    command = {"command": "hint", "request_id": "r"}
    monkeypatch.setattr(table_port, "ANSWER_TIMEOUT_S", 0.01)
    options = MqttOptions("127.0.0.1", broker.port, "t1", "Table 1", allows=Role.PLAY)
    with connect_to_broker(port, options, print, lambda: datetime.now(UTC)):
        client.until(lambda heard: heard.payload == b"online")
        client.say(PLAY, command)
        while not (waiting := commands.take()):
            commands.wait(GUARD_S)
        # By the time that a later message is answered, its own time is over.
        client.say(PLAY, {"command": "fly", "request_id": "later"})
        client.answer("later")
        waiting[0].respond(Reply("Done."))
        monkeypatch.setattr(table_port, "ANSWER_TIMEOUT_S", GUARD_S)
        client.say(PLAY, command)
        assert client.answer("r")["words"] == "Done."
        assert commands.take() == []


def test_a_retained_order_is_not_carried_out(house: House) -> None:
    broker = house.broker()
    client = house.client(broker)
    client.say(PLAY, {"command": "turn", "text": FIRST, "request_id": "old"}, retain=True)
    house.table(broker)
    client.until(lambda heard: heard.payload == b"online")
    client.say(PLAY, {"command": "turn", "text": "c1-c2", "request_id": "newly retained"}, retain=True)
    client.say(PLAY, {"command": "turn", "text": "c1-c2", "request_id": "new"})
    client.answer("new")
    after_event(client, 3)
    assert [event.request_id for event in told(client)] == ["", "", "new"]


@pytest.mark.parametrize(
    ("allows", "topic", "command", "words"),
    [
        (Role.PLAY, PLAY, "agreed draw", 'needs command/own, and commands = "own"'),
        (Role.PLAY, OWN, "agreed draw", 'needs command/own, and commands = "own"'),
        (Role.OWN, PLAY, "agreed draw", 'needs command/own, and commands = "own"'),
        (Role.OWN, OWN, "agreed draw", "Draw agreed."),
        (Role.PLAY, PLAY, "fly", "That is not a command"),
        (Role.PLAY, PLAY, "picture", "The picture is sent."),
    ],
)
def test_topics_and_settings_decide_which_orders_are_allowed(
    allows: Role, topic: str, command: str, words: str, house: House
) -> None:
    broker = house.broker()
    client = house.client(broker)
    house.table(broker, allows=allows)
    client.until(lambda heard: heard.payload == b"online")
    client.say(topic, {"command": command, "request_id": "r"})
    assert words in client.answer("r")["words"]


def test_nothing_can_be_ordered_by_default(house: House) -> None:
    broker = house.broker()
    client = house.client(broker)
    table = house.table(broker, allows=Role.NOBODY)
    client.until(lambda heard: heard.payload == b"online")
    client.say(PLAY, {"command": "turn", "text": FIRST, "request_id": "r"})
    client.say("referee/t1/replay", {"after": 0, "request_id": "after it"})
    client.answer("after it")
    assert [event.kind for _, event in events_in(table.running)] == ["new game", "set up"]
    assert not [
        heard for heard in client.heard if heard.topic == "referee/t1/answers" and heard.json["request_id"] == "r"
    ]


def test_answers_go_to_the_requested_topic_only_below_the_prefix(house: House) -> None:
    broker = house.broker()
    client = house.client(broker)
    house.table(broker)
    client.until(lambda heard: heard.payload == b"online")
    command = {"command": "take back", "request_id": "a"}
    client.say(PLAY, command, ResponseTopic="referee/answers/hall", CorrelationData=b"\x00\x01")
    answer = client.until(lambda heard: heard.topic == "referee/answers/hall")
    assert answer.correlation == b"\x00\x01"
    assert Answer.model_validate_json(answer.payload).words == "there is no turn to take back"
    client.say(PLAY, {**command, "request_id": "b"}, ResponseTopic="home/lamp/set")
    assert client.answer("b")["refused"]
    assert not [heard for heard in client.heard if heard.topic == "home/lamp/set"]


def test_missed_events_are_sent_again(house: House) -> None:
    broker = house.broker()
    table = house.table(broker)
    for text in (FIRST, SECOND, "b2-b3"):
        table.running.tell(EnterTurn(text, "Ann"))
    client = house.client(broker)
    client.until(lambda heard: heard.payload == b"online")
    client.say("referee/t1/replay", {"after": 1, "most": 3, "request_id": "r"}, ResponseTopic="referee/answers/hall")
    assert client.answer("r")["words"] == "Events sent: 3."
    again = told(client, "referee/answers/hall")
    assert [(event.number, event.event_type) for event in again] == [(2, "set up"), (3, "turn"), (4, "turn")]
    client.say("referee/t1/replay", {"after": -1, "request_id": "bad"})
    assert client.answer("bad")["refused"]


def test_pictures_are_sent_on_request(house: House) -> None:
    broker = house.broker()
    table = house.table(broker)
    game = load("diaballik")
    state = game.rules.apply(game.rules.new(), game.notation.parse_turn(game.rules.new(), FIRST))
    table.running.reader.looks = dict(game.table.appearance(state))
    table.running.end_turn()
    client = house.client(broker)
    client.until(lambda heard: heard.payload == b"online")
    client.say(PLAY, {"command": "picture", "request_id": "p"})
    assert client.answer("p")["words"] == "The picture is sent."
    assert client.until(lambda heard: heard.topic == "referee/t1/picture").payload[:3] == b"\xff\xd8\xff"
    client.say(PLAY, {"command": "evidence", "event": 3, "request_id": "e"})
    assert client.answer("e")["words"].startswith("Pictures sent: before-b1")
    kept = client.until(lambda heard: heard.topic == "referee/t1/evidence/3/before-b1")
    with read_journal(table.running.journal) as journal:
        assert kept.payload == journal.evidence(3)[0].evidence.content
    assert not [heard for heard in client.heard if heard.retain and "picture" in heard.topic]
