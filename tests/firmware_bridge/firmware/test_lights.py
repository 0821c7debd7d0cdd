"""Lights: gamma, brightness, a current that is never exceeded, and the waiting state."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware_bridge.firmware.core.device import TonePlayer
from firmware_bridge.firmware.core.lights import PULSE_EVERY, LightFrame, linear_levels, milliamperes
from firmware_bridge.firmware.core.ticks import TICKS_MASK

PLENTY_MA = 60_000

frames = st.binary(max_size=60).map(lambda data: data[: len(data) // 3 * 3])


def shown(colours, *, limit_ma=PLENTY_MA, brightness=255, configured_ma=0):
    """What a strip of just as many lights is given."""
    frame = LightFrame(len(colours) // 3, limit_ma, brightness)
    frame.set_limit_ma(configured_ma)
    frame.take_all(memoryview(colours), len(colours) // 3)
    assert frame.refresh(0)
    assert not frame.refresh(1)
    return frame


def test_levels_are_those_of_the_srgb_curve():
    levels = linear_levels()
    for value in range(256):
        encoded = value / 255
        linear = encoded / 12.92 if encoded <= 0.04045 else ((encoded + 0.055) / 1.055) ** 2.4
        assert abs(levels[value] - 255 * linear) <= 0.5 + 1e-9
    assert list(levels) == sorted(levels)
    assert (levels[0], levels[255]) == (0, 255)


@given(frames, st.integers(0, 255))
def test_brightness_scales_and_a_light_that_is_wanted_never_vanishes(colours, brightness):
    levels = linear_levels()
    given_out = shown(colours, brightness=brightness).shown
    for light in range(len(colours) // 3):
        wanted = colours[3 * light : 3 * light + 3]
        channels = given_out[3 * light : 3 * light + 3]
        assert any(channels) == (any(wanted) and brightness > 0)
        scaled = [levels[value] * brightness / 255 for value in wanted]
        if any(round(level) for level in scaled):
            assert all(abs(one - other) <= 0.5 for one, other in zip(channels, scaled, strict=True))
        else:
            assert max(channels, default=0) <= 1


@given(st.integers(1, 255), st.integers(0, 255))
def test_the_hosts_brightness_scales_the_strips_own(own, configured):
    frame = LightFrame(1, PLENTY_MA, own)
    frame.set_brightness(configured)
    frame.take_all(memoryview(b"\xff\xff\xff"), 1)
    frame.refresh(0)
    assert frame.shown[0] == math.ceil(own * configured / 255)


def draws_ma(levels):
    """The plain formula: 20 mA a channel at full, 1 mA a light for nothing."""
    return len(levels) // 3 + sum(20 * level / 255 for level in levels)


@given(frames, st.integers(1, 500), st.integers(0, 255), st.integers(0, 700))
def test_the_strip_never_draws_more_than_its_limit(colours, limit_ma, brightness, configured_ma):
    free = shown(colours, brightness=brightness)
    frame = shown(colours, limit_ma=limit_ma, brightness=brightness, configured_ma=configured_ma)
    allowed = min(limit_ma, configured_ma or limit_ma)
    assert draws_ma(frame.shown) <= max(allowed, len(colours) // 3)
    free_ma = milliamperes(len(free.shown) // 3, sum(free.shown))
    if free_ma <= allowed or not any(free.shown):
        assert frame.shown == free.shown
        assert frame.limited_ma == 0
    else:
        assert frame.limited_ma == free_ma == math.ceil(draws_ma(free.shown) - 1e-9)
        assert all(one <= other for one, other in zip(frame.shown, free.shown, strict=True))


def test_a_limited_frame_keeps_its_colours_and_uses_what_is_allowed():
    colours = bytes([255, 128, 0]) * 50
    frame = shown(colours, limit_ma=500)
    assert 480 < draws_ma(frame.shown) <= 500
    red, green, blue = frame.shown[:3]
    assert frame.shown == bytes([red, green, blue]) * 50
    assert blue == 0
    assert green / red == pytest.approx(linear_levels()[128] / 255, abs=0.03)


@given(frames, st.lists(st.tuples(st.integers(0, 40), st.binary(min_size=3, max_size=3)), max_size=12))
def test_a_frame_is_complete(before, lit):
    frame = LightFrame(20, PLENTY_MA, 255)
    frame.take_all(memoryview(before), len(before) // 3)
    assert bytes(frame.wanted) == before.ljust(60, b"\0")
    lit = sorted(dict(lit).items())
    message = b"".join(light.to_bytes(2, "little") + colour for light, colour in lit)
    frame.take_lit(memoryview(message), len(lit))
    expected = bytearray(60)
    for light, colour in lit:
        if light < 20:
            expected[3 * light : 3 * light + 3] = colour
    assert frame.wanted == expected


def test_the_waiting_state_swells_dimly_and_nothing_else_is_left():
    frame = LightFrame(30, PLENTY_MA, 255)
    frame.take_all(memoryview(b"\xff" * 90), 30)
    frame.refresh(0)
    frame.wait(TICKS_MASK - 1000)
    heights = []
    for ms in range(0, 12_000, 20):
        frame.refresh((TICKS_MASK - 1000 + ms) & TICKS_MASK)
        lit = {at // 3 for at, level in enumerate(frame.shown) if level}
        assert lit <= set(range(0, 30, PULSE_EVERY))
        assert len({level for level in frame.shown if level}) <= 1
        heights.append(max(frame.shown))
    assert frame.is_waiting
    assert 20 < max(heights) < 64
    assert heights.count(0) > 10
    assert max(abs(one - other) for one, other in pairwise(heights)) <= 4
    frame.take_all(memoryview(b"\x01\x02\x03"), 1)
    assert not frame.is_waiting


def test_nothing_is_lit_without_brightness_nor_with_no_current_at_all():
    assert not any(shown(b"\xff" * 30, brightness=0).shown)
    assert not any(shown(b"\xff" * 30, limit_ma=10).shown)
    assert LightFrame(0, 100, 255).refresh(0)


tones = st.lists(st.tuples(st.integers(0, 65535), st.integers(0, 300)), max_size=8)


@given(tones, st.integers(0, TICKS_MASK), st.integers(1, 40))
def test_tones_sound_one_after_the_other(row, start, every):
    player = TonePlayer()
    data = b"".join(tone.to_bytes(2, "little") + lasts.to_bytes(2, "little") for tone, lasts in row)
    player.play(memoryview(data), len(row), start)
    ends = 0
    expected = []
    for tone, lasts in row:
        expected += [(ends, ends + lasts, tone)]
        ends += lasts
    for ms in range(0, ends + 50, every):
        now = [tone for begin, end, tone in expected if begin <= ms < end]
        assert player.frequency_hz((start + ms) & TICKS_MASK) == (now[0] if now else 0)
    player.play(memoryview(b"\x64\0\xe8\3"), 1, start)
    assert player.frequency_hz(start) == 100
    player.stop()
    assert player.frequency_hz(start) == 0
