"""Passwords, encryption, a killed table, and malformed messages."""

from __future__ import annotations

import gc
import json
import os
import signal
import ssl
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from referee.commands.values import EnterTurn, Role
from referee.errors import BrokerError
from referee.mqtt.options import MqttOptions, TlsOptions, read_password
from referee.mqtt.table_link import ask_broker
from tests.effort import cases
from tests.guard import GUARD_S
from tests.system.mqtt.conftest import House, Table
from tests.system.mqtt.mosquitto import Broker

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
    table = house.table(guarded, user="table", password=read_password(file, {}))
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
from referee.mqtt.options import MqttOptions
from referee.mqtt.table_link import connect_to_broker
from referee.session.table_port import SnapshotHub, TablePort

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
