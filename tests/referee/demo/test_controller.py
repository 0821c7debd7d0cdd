"""What the demo compares with the strip of a virtual board."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from common.grid import PlaceGrid
from hardware.lights.light_map import LightMap
from hardware.lights.signals import MOOD_STYLES, Light, LightRole, Mood, Pattern, Signal
from referee.demo.controller import demo_controller

RED = bytes(MOOD_STYLES[Mood.FAULT].colour.value)
DARK = bytes(3)


@pytest.mark.parametrize(("strip", "agrees"), [((RED, RED), True), ((RED, DARK), False), ((DARK, DARK), False)])
def test_a_strip_on_which_a_steady_light_is_dark_does_not_agree(
    monkeypatch: pytest.MonkeyPatch, strip: tuple[bytes, ...], agrees: bool
) -> None:
    colour = MOOD_STYLES[Mood.FAULT].colour
    signal = Signal(Mood.FAULT, tuple(Light(place, colour, Pattern.STEADY, LightRole.FAULT) for place in ("a1", "b1")))
    with demo_controller(PlaceGrid.of_squares(2, 1), None, 1, lights=True, say=lambda _: None) as table:
        table.light_map = LightMap({"a1": (0,), "b1": (1,)}, (2,), lights=3)
        shown = SimpleNamespace(is_waiting=False, colours=b"".join((*strip, RED)))
        monkeypatch.setattr(table.device, "lights", lambda: shown)
        assert table.agrees_with(signal) is agrees
