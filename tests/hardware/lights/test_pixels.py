from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from common.grid import PlaceGrid
from hardware.errors import SettingError
from hardware.lights.light_map import LightMap
from hardware.lights.panel import DriverSource, Panel
from hardware.lights.pixels import PixelDriver
from hardware.lights.signals import MOOD_STYLES, ROLE_STYLES, AnimatedDriver, Colour, Light, LightRole, Mood, Signal
from tests.hardware.strips import serpentine

MAP = LightMap({"a1": (1,), "b2": (2, 3), "c3": ()}, (0,), lights=4)
DARK = (0, 0, 0)


class Strip:
    """A strip that keeps every frame it was given, and fails while ``broken``."""

    def __init__(self, lights: int = 4, refresh_s: float | None = None) -> None:
        self.lights = lights
        self.refresh_s = refresh_s
        self.frames: list[bytes] = []
        self.broken = False
        self.closed = False

    def show(self, colours: bytes) -> None:
        if self.broken:
            raise OSError("the cable is out")
        assert len(colours) == 3 * self.lights
        self.frames.append(colours)

    def close(self) -> None:
        self.closed = True

    @property
    def colours(self) -> list[tuple[int, ...]]:
        """The last frame, light by light."""
        return [tuple(self.frames[-1][at : at + 3]) for at in range(0, len(self.frames[-1]), 3)]


def shown(signal: Signal, time_s: float = 0.0, **settings: float) -> list[tuple[int, ...]]:
    strip = Strip()
    driver = PixelDriver("lights", strip, MAP, **settings)
    driver.show(signal, time_s)
    return strip.colours


def panel_of(clock, strip: Strip, said: list[str] | None = None) -> Panel:
    def heard(message: str) -> None:
        if said is None:
            raise AssertionError(message)
        said.append(message)

    return Panel([DriverSource("lights", lambda: PixelDriver("lights", strip, MAP))], clock, heard)


@pytest.mark.parametrize("role", ROLE_STYLES)
def test_a_role_has_its_colour_on_every_light_of_its_place(role: LightRole) -> None:
    colour = ROLE_STYLES[role].colour.value
    status = MOOD_STYLES[Mood.FAULT].colour.value
    assert shown(Signal(Mood.FAULT, (Light.for_role("b2", role),))) == [status, DARK, colour, colour]


@pytest.mark.parametrize("mood", Mood)
def test_the_status_light_has_the_moods_colour(mood: Mood) -> None:
    assert shown(Signal(mood)) == [MOOD_STYLES[mood].colour.value, DARK, DARK, DARK]


def test_a_place_without_a_light_is_ignored() -> None:
    lights = (
        Light.for_role("c3", LightRole.FAULT),
        Light.for_role("g7", LightRole.FAULT),
        Light.for_role("a1", LightRole.TURN),
    )
    assert shown(Signal(Mood.FAULT, lights))[1:] == [Colour.GREEN.value, DARK, DARK]


def test_the_more_urgent_of_two_lights_on_a_place_is_shown() -> None:
    assert (
        shown(Signal(Mood.FAULT, (Light.for_role("a1", LightRole.TURN), Light.for_role("a1", LightRole.FAULT))))[1]
        == Colour.VERMILLION.value
    )


def test_brightness_scales_every_light() -> None:
    assert (
        shown(Signal(Mood.WAITING, (Light.for_role("a1", LightRole.HINT),)), brightness=0.5)[:2]
        == [(128, 128, 128)] * 2
    )
    assert shown(Signal(Mood.WAITING), brightness=0.0) == [DARK] * 4


def test_a_pulse_fades_on_every_light() -> None:
    driver = PixelDriver("lights", Strip(), MAP)
    driver.show(Signal(Mood.QUESTION, (Light.for_role("a1", LightRole.QUESTION),)), 0.0)
    half = [round(channel / 2) for channel in Colour.PURPLE.value]
    assert list(driver.frame(0.5)[:6]) == pytest.approx([*half, *half], abs=1)


@pytest.mark.parametrize("brightness", [-0.1, 1.1, float("nan")])
def test_a_brightness_out_of_range_is_refused(brightness: float) -> None:
    with pytest.raises(SettingError, match="expected 0 to 1"):
        PixelDriver("lights", Strip(), MAP, brightness=brightness)


def test_a_strip_shorter_than_its_map_is_refused_and_a_longer_one_is_filled_up() -> None:
    short = Strip(3)
    with pytest.raises(SettingError, match="the strip has 3 lights and the light map needs 4"):
        PixelDriver("lights", short, MAP)
    assert short.closed
    strip = Strip(9)
    PixelDriver("lights", strip, MAP).show(Signal(Mood.WAITING), 0.0)
    assert len(strip.frames[-1]) == 27


@pytest.mark.parametrize(
    ("role", "moments"),
    [
        ("fault", [0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0]),
        (LightRole.PUT_RIGHT, [0.0, 0.15, 0.35, 0.5, 1.4, 1.55, 1.75, 1.9]),
        (LightRole.TURN, [0.0]),
        (LightRole.QUESTION, [round(0.05 * step, 2) for step in range(41)]),
    ],
)
def test_frames_are_sent_at_exact_times_and_only_if_changed(
    clock, play: Callable[[Panel, float], int], role: LightRole, moments: list[float]
) -> None:
    strip, start_s = Strip(), clock.now_s
    times: list[float] = []
    kept = strip.show

    def show(colours: bytes) -> None:
        times.append(clock.now_s)
        kept(colours)

    strip.show = show  # type: ignore[method-assign]
    with panel_of(clock, strip) as panel:
        panel.show(Signal(Mood.ACCEPTED, (Light.for_role("a1", role),)))
        play(panel, start_s + 2.0)
        assert [round(time_s - start_s, 6) for time_s in times] == moments
        assert all(one != other for one, other in zip(strip.frames, strip.frames[1:], strict=False))


def test_an_output_that_needs_refreshing_gets_the_same_frame_again(clock, play: Callable[[Panel, float], int]) -> None:
    strip = Strip(refresh_s=1.0)
    with panel_of(clock, strip) as panel:
        panel.show(Signal(Mood.ACCEPTED, (Light.for_role("a1", LightRole.TURN),)))
        assert play(panel, clock.now_s + 10.5) == 10
        panel.tick()
        assert len(strip.frames) == 11
        assert len(set(strip.frames)) == 1


def test_steady_lights_need_no_ticks(clock, play: Callable[[Panel, float], int]) -> None:
    strip = Strip()
    with panel_of(clock, strip) as panel:
        panel.show(Signal(Mood.ACCEPTED, (Light.for_role("a1", LightRole.TURN),)))
        assert play(panel, clock.now_s + 3600.0) == 0
        panel.show(Signal(Mood.ACCEPTED, (Light.for_role("a1", LightRole.TURN),), words="Still."))
        assert len(strip.frames) == 1


def test_without_a_status_light_a_mood_announces_no_change(clock) -> None:
    driver = PixelDriver("lights", Strip(), LightMap({"a1": (0,)}, lights=1))
    driver.show(Signal(Mood.FAULT), clock.now_s)
    assert driver.next_change_s(clock.now_s) is None


def test_a_strip_that_works_again_shows_the_current_frame(clock, play: Callable[[Panel, float], int]) -> None:
    strip, said = Strip(), list[str]()
    with panel_of(clock, strip, said) as panel:
        panel.show(Signal(Mood.ACCEPTED, (Light.for_role("a1", LightRole.TURN),)))
        strip.broken = True
        panel.show(Signal(Mood.FAULT, (Light.for_role("a1", LightRole.FAULT),)))
        assert strip.closed
        assert said == [
            "Lights does not work: the cable is out. The game goes on, and the referee keeps trying.",
        ]
        panel.show(Signal(Mood.ACCEPTED, (Light.for_role("b2", LightRole.TURN),)))
        strip.broken = False
        play(panel, clock.now_s + 2.0)
        assert strip.colours == [Colour.GREEN.value, DARK, Colour.GREEN.value, Colour.GREEN.value]


def test_closing_darkens_every_light_and_releases_even_a_broken_output() -> None:
    strip = Strip()
    driver = PixelDriver("lights", strip, MAP)
    driver.show(Signal(Mood.FAULT, (Light.for_role("a1", LightRole.FAULT),)), 0.0)
    driver.close()
    assert strip.frames[-1] == bytes(12)
    assert strip.closed
    broken = Strip()
    broken.broken = True
    with pytest.raises(OSError, match="cable"):
        PixelDriver("lights", broken, MAP).close()
    assert broken.closed


PLACES = PlaceGrid.of_squares(4, 4).places
BOARD = serpentine(PlaceGrid.of_squares(4, 4), 2, skipped=1, status=(60,), lights=64)
PLACE_OF = {light: place for place, lights in BOARD.places.items() for light in lights}
signals = st.builds(
    Signal,
    st.sampled_from(Mood),
    st.lists(st.builds(Light.for_role, st.sampled_from(PLACES), st.sampled_from(sorted(ROLE_STYLES))), max_size=6).map(
        tuple
    ),
)


@given(st.lists(st.tuples(signals, st.floats(0.0, 3.0)), min_size=1, max_size=4), st.floats(0.0, 1.0))
def test_between_two_announced_changes_no_light_jumps(steps: list[tuple[Signal, float]], part: float) -> None:
    driver = PixelDriver("lights", Strip(64), BOARD)
    assert isinstance(driver, AnimatedDriver)
    now_s = 100.0
    for signal, pause_s in steps:
        driver.show(signal, now_s)
        held, until_s = driver.frame(now_s), now_s + pause_s
        while (change_s := driver.next_change_s(now_s)) is not None and change_s <= until_s:
            assert change_s > now_s
            # Times are rounded to microseconds.
            between = driver.frame(max(now_s, now_s + part * (change_s - now_s - 2e-6)))
            # A swell is stepped every 50 ms of its 2 s: at its steepest that is 8 % of full.
            assert max((abs(one - other) for one, other in zip(between, held, strict=True)), default=0) <= 21
            driver.tick(change_s)
            now_s, held = change_s, driver.frame(change_s)
        now_s = until_s


@given(signals, st.floats(0.0, 10.0))
def test_each_light_shows_its_place_and_all_others_are_dark(signal: Signal, later_s: float) -> None:
    driver = PixelDriver("lights", Strip(64), BOARD)
    driver.show(signal, 5.0)
    frame = driver.frame(5.0 + later_s)
    marked = {one.place for one in signal.lights}
    for number in range(64):
        colour = frame[3 * number : 3 * number + 3]
        place = PLACE_OF.get(number)
        if number in BOARD.status:
            continue
        if place is None or place not in marked:
            assert colour == bytes(3)
        else:
            assert colour == frame[3 * BOARD.places[place][0] :][:3]
