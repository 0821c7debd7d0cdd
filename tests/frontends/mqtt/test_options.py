"""The broker's settings and whether it answers, and how a table chooses among the halls that announce themselves."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import aiomqtt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.reasoncodes import ReasonCode
from zeroconf.asyncio import AsyncServiceInfo

from app.settings.configuration import load
from frontends.mqtt import table_link
from frontends.mqtt.client import explain_failure, is_response_topic, role_of
from frontends.mqtt.hall_search import SERVICE_TYPE, HallBroker, choose_broker, own_address, parse_service
from frontends.mqtt.options import MqttOptions, TlsOptions, mqtt_options, read_password
from frontends.mqtt.settings import MqttSection
from frontends.mqtt.topics import Topics
from referee.commands.values import Role
from referee.errors import BrokerError, ConfigError
from tests.effort import cases

TOPICS = Topics("referee", "t1")


def test_without_an_address_there_is_no_broker() -> None:
    assert mqtt_options(MqttSection(user="Ann"), "pi", None) is None


def test_the_tables_default_id_is_the_machines_name() -> None:
    options = mqtt_options(MqttSection(address="b"), "Ann's Pi.local", None)
    assert options is not None
    assert (options.table, options.table_name, options.port, options.allows) == (
        "Ann-s-Pi-local", "Ann-s-Pi-local", 1883, Role.NOBODY,
    )  # fmt: skip
    encrypted = mqtt_options(MqttSection(address="b", tls=True, commands="own", discovery=False), "", None)
    assert encrypted is not None
    assert (encrypted.table, encrypted.port, encrypted.allows) == ("table", 8883, Role.OWN)
    assert (encrypted.discovery_prefix, encrypted.tls is not None) == (None, True)


def test_a_password_is_read_from_a_file_or_given(tmp_path: Path) -> None:
    file = tmp_path / "password"
    section = MqttSection(address="b", user="Ann")
    options = mqtt_options(section, "pi", "one")
    assert options is not None
    assert options.password == "one"
    with pytest.raises(BrokerError, match="can't be read from"):
        read_password(file)
    file.write_text("\nsecond line\n", encoding="utf-8")
    with pytest.raises(BrokerError, match=r"the first line of .* is empty"):
        read_password(file)
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(BrokerError, match="not UTF-8"):
        read_password(file)
    file.write_text("two\n", encoding="utf-8")
    assert read_password(file, "one") == "two"


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ('ca_file = "ca.crt"', "mqtt.ca_file is set, but mqtt.tls is false; set tls = true"),
        ('hall = "auto"', "mqtt.hall is set, and mqtt.address too; keep one"),
        ('tls = true\nkey_file = "a.key"', "mqtt.key_file is set without mqtt.certificate_file"),
        ('table = "a/b"', 'expected text such as "table-3"'),
        ('topic_prefix = "a/+"', 'expected text such as "referee"'),
        ('commands = "all"', "expected 'off', 'play' or 'own'"),
        ('password = "secret"', "there is no setting mqtt.password"),
    ],
)
def test_invalid_settings_are_refused_with_the_reason(lines: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "referee.toml").write_text(f'[mqtt]\naddress = "b"\n{lines}\n', encoding="utf-8")
    with pytest.raises(ConfigError) as refused:
        load(None, environment={"HOME": str(tmp_path), "REFEREE_MQTT_PASSWORD": "x"}, folder=tmp_path)
    assert words in str(refused.value)


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ("port = 1883", "mqtt.hall is set, and mqtt.port too; keep one"),
        ('user = "Ann"', "mqtt.hall is set with mqtt.user, but without mqtt.ca_file; anybody in the network"),
        ('user = "Ann"\ntls = true', "anybody in the network could get the password"),
        ('own_address = "pi.local"', 'expected text such as "192.168.1.20"'),
    ],
)
def test_settings_that_contradict_a_search_for_a_hall_are_refused(lines: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "referee.toml").write_text(f'[mqtt]\nhall = "Club"\n{lines}\n', encoding="utf-8")
    with pytest.raises(ConfigError) as refused:
        load(None, environment={"HOME": str(tmp_path)}, folder=tmp_path)
    assert words in str(refused.value)


def test_a_hall_replaces_the_address() -> None:
    options = mqtt_options(MqttSection(hall="Club", own_address="10.0.0.5"), "pi", None)
    assert options is not None
    assert (options.address, options.hall, options.own_address, options.broker) == ("", "Club", "10.0.0.5", "the hall")
    assert mqtt_options(MqttSection(hall="Club", user="Ann", tls=True, ca_file=Path("ca.crt")), "pi", None) is not None


@pytest.mark.parametrize(
    ("topic", "may"),
    [
        ("referee/answers/hall", True),
        ("referee/answers/hall/7", True),
        ("referee/answers/", False),
        ("referee/answers/#", False),
        ("referee/answers/+/x", False),
        ("referee/answers/\0", False),
        (f"referee/answers/{'x' * 200}", False),
        ("referee/t2/command/own", False),
        ("zigbee2mqtt/lamp/set", False),
    ],
)
def test_a_table_answers_only_below_its_prefix(topic: str, may: bool) -> None:
    assert is_response_topic(topic, TOPICS) is may


def test_no_topic_grants_more_than_the_owner_allows() -> None:
    assert role_of(TOPICS.own, TOPICS, Role.PLAY) is Role.PLAY
    assert role_of(TOPICS.play, TOPICS, Role.OWN) is Role.PLAY
    assert role_of(TOPICS.own, TOPICS, Role.NOBODY) is Role.NOBODY
    assert role_of(TOPICS.replay, TOPICS, Role.OWN) is Role.NOBODY


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (0x86, "look at user and password_file"),
        (0x87, "look at user and password_file"),
        (0x8E, "Another table with the id t1 is on the broker at fd00::1"),
        (0x80, "does not answer (the connection broke)"),
    ],
)
def test_the_reason_why_a_broker_cannot_be_used_is_in_plain_words(code: int, words: str) -> None:
    options = MqttOptions("fd00::1", 1883, "t1", "Table 1")
    error = aiomqtt.MqttError("Disconnected during message iteration")
    packet = PacketTypes.DISCONNECT if code == 0x8E else PacketTypes.CONNACK
    error.__cause__ = aiomqtt.MqttCodeError(ReasonCode(packet, identifier=code))
    assert words.replace("fd00::1", "[fd00::1], port 1883") in explain_failure(error, options)


def test_the_reason_leaves_out_the_number_of_the_systems_error() -> None:
    options = MqttOptions("pi", 1883, "t1", "Table 1")
    said = explain_failure(aiomqtt.MqttError("[Errno -2] Name or service not known"), options)
    assert said == "The broker at pi, port 1883 does not answer (Name or service not known)."


HERE = "127.0.0.1"


def club(name: str = "Club", **changes: Any) -> HallBroker:
    fields: dict[str, Any] = {"host": "", "port": 1883, "prefix": "club", "is_encrypted": False, **changes}
    return HallBroker(name, **fields)


def table(hall: str = "auto", tls: TlsOptions | None = None) -> MqttOptions:
    return MqttOptions("", 1, "t1", "Table 1", prefix="club", hall=hall, own_address=HERE, tls=tls)


@pytest.mark.parametrize(
    ("brokers", "options", "words"),
    [
        ([], table(), "no hall is announced in this network; open one with --announce NAME"),
        ([club("Pub")], table("Club"), "halls in this network ('Pub') is the one wanted; correct hall"),
        ([club("Club", prefix="x")], table(), "('Club' with the topic_prefix 'x') is the one wanted; correct hall"),
        ([club(str(number)) for number in range(9)], table(), "several halls are announced in this network ('0', '1',"),
        ([club("Club", is_encrypted=True)], table(), "'Club' is encrypted; set tls = true"),
        ([club("Club")], table(tls=TlsOptions()), "'Club' is not encrypted, and tls = true is set"),
    ],
)
def test_the_reason_for_choosing_no_hall_is_named(brokers: list[HallBroker], options: MqttOptions, words: str) -> None:
    with pytest.raises(BrokerError) as refused:
        choose_broker(brokers, options)
    assert words in str(refused.value)
    assert len(str(refused.value)) < 200


def test_an_address_of_another_machine_is_refused() -> None:
    with pytest.raises(BrokerError, match=r"192\.0\.2\.7 is no address of this machine"):
        own_address("192.0.2.7")
    assert own_address(HERE) == HERE


# A field, its name and "=" take 255 bytes at most (RFC 6763, section 6.1).
TEXTS = st.none() | st.text(max_size=50) | st.binary(max_size=200)


@settings(max_examples=cases(30), deadline=None)
@given(
    name=st.text("a.Ü \x7f'", min_size=1, max_size=20),
    addresses=st.lists(st.binary(min_size=4, max_size=4), max_size=2),
    port=st.none() | st.integers(0, 2**16 - 1),
    fields=st.dictionaries(st.sampled_from(["host", "prefix", "tls"]) | st.text(max_size=5), TEXTS),
)
def test_an_announcement_gives_an_address_or_nothing(
    name: str, addresses: list[bytes], port: int | None, fields: dict[str, str | bytes | None]
) -> None:
    told = AsyncServiceInfo(SERVICE_TYPE, f"a.{SERVICE_TYPE}", port=port, addresses=addresses, properties=dict(fields))
    # An announcement from the network need not meet the checks of our own.
    told.name = f"{name}.{SERVICE_TYPE}"
    broker = parse_service(told)
    if broker is not None:
        assert 0 < broker.port < 2**16
        assert broker.host
        assert broker.host.isascii()
        assert not set(broker.host) & set(" /@?#\0\n")


@settings(max_examples=cases(30), deadline=None)
@given(broker=st.builds(club, st.text("abc Ü-_'", min_size=1, max_size=20), is_encrypted=st.booleans()))
def test_an_announcement_round_trips(broker: HallBroker) -> None:
    assert parse_service(broker.service(HERE)) == replace(broker, host=HERE)


def test_the_doctor_names_the_broker_that_a_hall_announced(monkeypatch: pytest.MonkeyPatch) -> None:
    async def announced(options: MqttOptions) -> MqttOptions:
        return replace(options, address="127.0.0.1", port=1)

    monkeypatch.setattr(table_link, "resolve_broker", announced)
    with pytest.raises(BrokerError, match=r"127\.0\.0\.1, port 1"):
        table_link.ask_broker(MqttOptions("", 1883, "t1", "Table 1", hall="Club"))
