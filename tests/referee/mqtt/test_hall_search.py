"""How a table reads the announcements of halls and chooses one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from zeroconf.asyncio import AsyncServiceInfo

from referee.errors import BrokerError
from referee.mqtt.hall_search import (
    SERVICE_TYPE,
    HallBroker,
    choose_broker,
    own_address,
    parse_service,
)
from referee.mqtt.options import MqttOptions, TlsOptions
from tests.effort import cases

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
