"""A table on a real broker: events, orders, passwords, encryption, kills; nothing lost or done twice."""

import gc
import io
import json
import os
import signal
import ssl
import subprocess
import sys
import threading
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rich.console import Console

from app.demo.run import run_demo
from app.demo.table import DemoOptions
from common.phrases import Phrase
from engine.registry import games, load
from frontends import table_port
from frontends.languages import sentences
from frontends.mqtt.options import MqttOptions, TlsOptions, read_password
from frontends.mqtt.table_link import ask_broker, connect_to_broker
from frontends.mqtt.topics import Answer, TableEvent, TableState
from frontends.table_port import SnapshotHub, TablePort
from journal.reader import read_journal
from referee.commands.values import CommandQueue, EnterTurn, Reply, Role
from referee.errors import BrokerError
from referee.record.events import EventKind, PlayedKind, encode
from referee.record.fold import after_step, read_step
from tests.effort import cases
from tests.guard import GUARD_S
from tests.system.mqtt.conftest import House, Table
from tests.system.mqtt.mosquitto import Broker, Client, Heard
from tests.system.page.served import Session
from tests.system.test_terminal import OPTIONS, typed_game

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
    assert not any(player.to_move for player in shown.players)


def test_the_newest_state_and_availability_are_retained_for_later_subscribers(house: House) -> None:
    broker = house.broker()
    table = house.table(broker)
    table.running.tell(EnterTurn(FIRST, "Ann"))
    first = house.client(broker)
    first.until(lambda heard: heard.topic == "referee/t1/state" and heard.json["turns"] == 1)
    later = house.client(broker)
    state = later.until(lambda heard: heard.topic == "referee/t1/state")
    assert state.retain
    assert (state.json["local"]["turn"], state.json["turns"], state.json["table_name"]) == ("White", 1, "Table 1")
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
        (Role.PLAY, OWN, "agreed draw", 'needs command/own, and commands = "own"'),
        (Role.OWN, OWN, "agreed draw", "Draw agreed."),
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
    assert Answer.model_validate_json(answer.payload).words == "There is no turn to take back."
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


ROOT = Path(__file__).resolve().parents[3]


class Said:
    """Collects a table's messages and waits for them."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._heard = threading.Event()
        table.said = _Tapped(self._heard)

    def first(self) -> str:
        assert self._heard.wait(GUARD_S)
        return self._table.said[0]


class _Tapped(list[str]):
    def __init__(self, heard: threading.Event) -> None:
        self._heard = heard

    def append(self, line: str) -> None:
        super().append(line)
        self._heard.set()


@pytest.fixture
def guarded(house: House, tmp_path: Path) -> Broker:
    """A broker that accepts only the user ``table``."""
    passwords = tmp_path / "passwords"
    subprocess.run(["mosquitto_passwd", "-b", "-c", str(passwords), "table", "right"], check=True)
    return house.broker("allow_anonymous false", f"password_file {passwords}")


def test_a_wrong_password_is_reported_and_the_game_goes_on(guarded: Broker, house: House) -> None:
    table = Table(house.session(), guarded, user="table", password="wrong")
    said = Said(table)
    with table.on():
        assert "look at user and password_file under [mqtt]" in said.first()
        assert not table.running.tell(EnterTurn("b1-b2", "Ann")).refused
    with pytest.raises(BrokerError, match="does not let this table in"):
        ask_broker(table.options)
    assert "wrong" not in repr(table.options)


def test_the_password_of_a_file_opens_the_broker(guarded: Broker, house: House, tmp_path: Path) -> None:
    file = tmp_path / "password"
    file.write_text("right\n", encoding="utf-8")
    client = house.client(guarded, user="table", password="right")
    table = house.table(guarded, user="table", password=read_password(file))
    client.until(lambda heard: heard.payload == b"online")
    ask_broker(table.options)
    assert table.said == []


def made(folder: Path, *arguments: str) -> None:
    done = subprocess.run(["openssl", *arguments], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two self-made authorities; certificates of a broker at 127.0.0.1 and of a table."""
    folder = tmp_path_factory.mktemp("certificates")
    key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
    for name in ("ca", "other"):
        made(
            folder, "req", "-x509", *key, "-keyout", f"{name}.key", "-out", f"{name}.crt", "-days", "2",
            "-subj", f"/CN=The club's {name}", "-addext", "basicConstraints=critical,CA:TRUE",
            "-addext", "keyUsage=critical,keyCertSign,cRLSign",
        )  # fmt: skip
    (folder / "san").write_text("subjectAltName=IP:127.0.0.1\n", encoding="utf-8")
    for name in ("broker", "table"):
        made(folder, "req", *key, "-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj", f"/CN={name}")
        made(
            folder, "x509", "-req", "-in", f"{name}.csr", "-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial",
            "-days", "2", "-extfile", "san", "-out", f"{name}.crt",
        )  # fmt: skip
    return folder


@pytest.fixture
def encrypted(house: House, certificates: Path) -> Broker:
    """A broker that accepts only TLS, and requires a certificate."""
    return house.broker(
        "allow_anonymous true",
        f"cafile {certificates}/ca.crt",
        f"certfile {certificates}/broker.crt",
        f"keyfile {certificates}/broker.key",
        "require_certificate true",
    )


def tls(folder: Path, ca: str = "ca") -> TlsOptions:
    return TlsOptions(folder / f"{ca}.crt", folder / "table.crt", folder / "table.key")


def test_a_table_trusts_the_club_s_own_authority(encrypted: Broker, house: House, certificates: Path) -> None:
    client = house.client(encrypted, tls=tls(certificates).context())
    table = house.table(encrypted, tls=tls(certificates))
    client.until(lambda heard: heard.payload == b"online")
    ask_broker(table.options)


# The library leaves the socket of a failed handshake to the collector of garbage, which comes before the test ends.
@pytest.mark.filterwarnings("ignore:.*ssl.SSLSocket:pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("trusted", ["other", None])
def test_a_broker_of_another_authority_is_not_trusted(
    trusted: str | None, encrypted: Broker, house: House, certificates: Path
) -> None:
    wrong = TlsOptions() if trusted is None else tls(certificates, trusted)
    table = Table(house.session(), encrypted, tls=wrong)
    said = Said(table)
    with table.on():
        assert "certificate verify failed" in said.first()
    with pytest.raises(BrokerError, match="certificate verify failed"):
        ask_broker(table.options)
    gc.collect()


def test_invalid_certificate_files_are_named(tmp_path: Path, certificates: Path) -> None:
    with pytest.raises(BrokerError, match=r"nowhere.crt under \[mqtt\] can't be read"):
        TlsOptions(tmp_path / "nowhere.crt").context()
    empty = tmp_path / "empty.crt"
    empty.touch()
    with pytest.raises(BrokerError, match=r"empty.crt"):
        TlsOptions(empty).context()
    with pytest.raises(BrokerError, match=r"other.key"):
        TlsOptions(certificates / "ca.crt", certificates / "table.crt", certificates / "other.key").context()
    assert TlsOptions(certificates / "ca.crt").context().verify_mode is ssl.CERT_REQUIRED


_TABLE = """
import sys
from datetime import UTC, datetime
import time
from engine.registry import load
from referee.commands.values import CommandQueue
from frontends.mqtt.options import MqttOptions
from frontends.mqtt.table_link import connect_to_broker
from frontends.table_port import SnapshotHub, TablePort

port = TablePort(load("diaballik"), SnapshotHub(), CommandQueue(time.monotonic))
options = MqttOptions("127.0.0.1", int(sys.argv[1]), "t1", "Table 1")
with connect_to_broker(port, options, print, lambda: datetime.now(UTC)):
    sys.stdin.read()
"""


def test_the_broker_reports_a_killed_table_as_offline(house: House) -> None:
    broker = house.broker()
    client = house.client(broker)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        [sys.executable, "-c", _TABLE, str(broker.port)], stdin=subprocess.PIPE, env=environment
    ) as it:
        client.until(lambda heard: heard.payload == b"online")
        it.send_signal(signal.SIGKILL)
        client.until(lambda heard: heard.topic == "referee/t1/availability" and heard.payload == b"offline")
    later = house.client(broker)
    assert later.until(lambda heard: heard.topic == "referee/t1/availability").payload == b"offline"


def test_a_missing_broker_is_reported_once(house: House) -> None:
    broker = house.broker()
    broker.kill()
    table = Table(house.session(), broker)
    said = Said(table)
    with table.on():
        assert said.first().startswith(f"The broker at 127.0.0.1, port {broker.port} does not answer (")
        assert not table.running.tell(EnterTurn("b1-b2", "Ann")).refused
    assert len(table.said) == 1
    with pytest.raises(BrokerError, match="does not answer"):
        ask_broker(table.options)


ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=8,
)
ALMOST_AN_ORDER = st.fixed_dictionaries(
    {"command": st.sampled_from(["turn", "correct", "press", "evidence", "picture", "new game"]) | ANY_JSON},
    optional={
        "text": ANY_JSON, "looks": ANY_JSON, "event": ANY_JSON, "request_id": ANY_JSON, "role": ANY_JSON,
        "seen": ANY_JSON, "by": ANY_JSON, "game": ANY_JSON, "after": ANY_JSON,
    },
)  # fmt: skip


def test_no_bytes_end_the_service(house: House) -> None:
    broker = house.broker()
    client = house.client(broker)
    house.table(broker, allows=Role.OWN)
    client.until(lambda heard: heard.payload == b"online")
    rounds = 0
    topics = ["command/play", "command/own", "replay"]
    payloads = st.binary(max_size=200) | (ANY_JSON | ALMOST_AN_ORDER).map(lambda value: json.dumps(value).encode())

    @settings(max_examples=cases(50), suppress_health_check=[HealthCheck.too_slow])
    @given(sent=st.lists(st.tuples(st.sampled_from(topics), payloads), max_size=8))
    def send(sent: list[tuple[str, bytes]]) -> None:
        nonlocal rounds
        for topic, payload in [*sent, ("command/play", b"[" * 60_000), ("replay", b'{"after": 1e400}')]:
            client.say(f"referee/t1/{topic}", payload)
        rounds += 1
        client.say("referee/t1/command/play", {"command": "take back", "request_id": f"alive {rounds}"})
        assert "to take back" in client.answer(f"alive {rounds}")["words"]

    send()


def test_options_hide_the_password() -> None:
    assert "secret" not in repr(MqttOptions("h", 1, "t", "T", password="secret"))


def test_a_game_of_the_virtual_table_is_published_to_its_end(house: House, tmp_path: Path) -> None:
    broker = house.broker()
    client = house.client(broker)
    path = tmp_path / "demo.sqlite"
    options = DemoOptions(
        "diaballik",
        turns=2,
        fast=True,
        lights="none",
        journal=path,
        mqtt=MqttOptions("127.0.0.1", broker.port, "t1", "Table 1"),
    )
    assert run_demo(options, Console(file=io.StringIO())) == 0
    client.until(lambda heard: heard.payload == b"offline")
    with read_journal(path) as journal:
        last = journal.last_number
    client.until(lambda heard: heard.topic == "referee/t1/events" and heard.json["number"] == last)
    told = [TableEvent.model_validate_json(each.payload) for each in client.heard if each.topic == "referee/t1/events"]
    assert sorted({event.number for event in told}) == list(range(1, last + 1))
    states = [TableState.model_validate_json(each.payload) for each in client.heard if each.topic == "referee/t1/state"]
    assert (states[-1].turns, states[-1].event_number) == (2, last)
