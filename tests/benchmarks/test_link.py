"""The benchmark of the link finds each kind of violation."""

import pytest

from benchmarks.parts.link import parser_fuzz
from benchmarks.parts.link.exchange import LIGHTS_RIGHT_AFTER_S, Exchange, wire_faults
from benchmarks.parts.link.parser_fuzz import Fuzzed, FuzzSource, HostParser, fuzz
from benchmarks.parts.link.whole_firmware import SlowLine, show_lights
from firmware_bridge.firmware.core.device import Device
from firmware_bridge.firmware.core.packets import PacketReader as DeviceReader
from firmware_bridge.protocol import link
from firmware_bridge.protocol.link import HostLink, SerialLine


@pytest.mark.parametrize("share", [0.0, 0.05])
@pytest.mark.parametrize("with_restarts", [False, True])
def test_a_disturbed_exchange_is_right_and_deterministic(share: float, with_restarts: bool) -> None:
    first, second = (Exchange(wire_faults(share), 3, with_restarts=with_restarts).run(40.0) for _ in range(2))
    assert first.wrong == []
    assert first.pressed == first.reported + first.excused > 30
    assert share or max(first.lights_s) <= LIGHTS_RIGHT_AFTER_S
    assert len(first.lights_s) > 20
    assert (first.sent, first.struck, first.lights_s) == (second.sent, second.struck, second.lights_s)


def test_a_host_that_says_nothing_again_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(link, "AGAIN_S", 5.0)
    result = Exchange(wire_faults(0.05), 3).run(40.0)
    assert max(result.lights_s) > LIGHTS_RIGHT_AFTER_S


def test_a_board_that_forgets_which_presses_were_taken_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    handle = Device.handle_packet

    def forget(self: Device, packet: memoryview, now: int) -> None:
        handle(self, packet, now)
        self.taken = [0] * len(self.taken)

    monkeypatch.setattr(Device, "handle_packet", forget)
    assert Exchange(wire_faults(0.0), 3).run(60.0).wrong_count > 0


def test_a_host_that_counts_presses_by_states_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(link, "MOST_NEW_PRESSES", 1)
    monkeypatch.setattr("benchmarks.parts.link.exchange._PRESS_EVERY_S", (0.05, 0.1))
    assert Exchange(wire_faults(0.05), 3).run(60.0).wrong_count > 0


@pytest.mark.parametrize("parser", parser_fuzz.PARSERS)
def test_the_parsers_accept_only_intact_frames(parser: str) -> None:
    result = fuzz(parser, 100_000, 1)
    assert result.met
    assert result.byte_count >= 100_000
    assert result.accepted == result.whole_sent > 100
    assert result.compared > result.whole_sent
    assert 0 < result.expected_unsent < 1e-6


def test_a_parser_without_checksum_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def take(self: DeviceReader, length: int, now: int) -> None:
        if length >= 6:
            self._handler.handle_packet(self._frame[: length - 4], now)

    monkeypatch.setattr(DeviceReader, "_take", take)
    result = fuzz("device", 50_000, 1)
    assert result.accepted_unsent > 0
    assert not result.met


@pytest.mark.parametrize("error", [IndexError("beyond"), MemoryError()])
def test_a_parser_that_fails_is_found_out(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def feed(self: HostParser, data: bytes) -> list[bytes]:
        raise error

    monkeypatch.setattr(HostParser, "feed", feed)
    result = fuzz("host", 50_000, 1)
    assert result.crash is not None
    assert type(error).__name__ in result.crash
    assert not result.met


def test_a_parser_that_misses_something_is_found_out() -> None:
    total = Fuzzed("host")
    total.add(Fuzzed("host", whole_sent=2, accepted=1, whole_missed=1))
    assert not total.met


def test_the_same_seed_gives_the_same_bytes() -> None:
    assert FuzzSource(4).stream(5000) == FuzzSource(4).stream(5000)
    assert FuzzSource(4).stream(5000) != FuzzSource(5).stream(5000)


@pytest.mark.parametrize(("baud", "lights", "shown"), [(9_600, 300, 4), (38_400, 64, 38), (115_200, 64, 61)])
def test_slow_lines_show_the_newest_lights_and_say_none_again(baud: int, lights: int, shown: int) -> None:
    result = show_lights(baud, lights, 3.0)
    assert result.met
    assert result.sent in (60, 61)
    assert shown <= result.shown <= result.sent
    assert len(result.took_s) == result.shown
    # The bits of a frame of lights, ten a byte, three bytes a light.
    assert min(result.took_s) >= 30 * lights / baud


def test_a_line_that_is_taken_for_a_fast_one_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    opened = HostLink.open
    monkeypatch.setattr(HostLink, "open", lambda self, _: opened(self, SerialLine()))
    result = show_lights(9_600, 300, 3.0)
    assert result.again > 0
    assert not result.met


def test_missing_lights_are_noticed() -> None:
    assert SlowLine(1, 1, is_last_shown=True).met
    assert not SlowLine(1, 1, is_last_shown=False).met
