import itertools
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from common.grid import PlaceGrid
from hardware.errors import MapFileError, SettingError
from hardware.lights.animation import RHYTHMS, Animation, brightness, next_change_s
from hardware.lights.light_map import (
    LightMap,
    light_map_as_toml,
    light_map_from_toml,
    read_light_map,
    write_light_map,
)
from hardware.lights.panel import DriverSource, Panel
from hardware.lights.pixels import PixelDriver
from hardware.lights.signals import (
    MOOD_STYLES,
    ROLE_STYLES,
    AnimatedDriver,
    Colour,
    Light,
    LightRole,
    Mood,
    Pattern,
    Signal,
    Sound,
)
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


GRID = PlaceGrid.of_squares(7, 7)
SQUARES = GRID.places


def test_a_strip_that_is_too_short_is_reported_with_both_lengths() -> None:
    light_map = serpentine(GRID, status=(49,))
    (problem,) = light_map.problems(strip_lights=40)
    assert "has 40 lights and the light map needs 50 (light 49 is the status light); connect the missing 10" in problem
    assert light_map.problems(strip_lights=50) == light_map.problems(strip_lights=300) == ()


def test_a_light_map_lists_all_its_problems_at_once() -> None:
    with pytest.raises(SettingError) as told:
        LightMap({"a1": (0, 1), "b1": (1,), "c1": (2, 2), "d1": (-1,), "e1": (10,)}, (0,), lights=10)
    for part in (
        "light 1 is used for place a1 and for place b1",
        "light 2 is twice for place c1",
        "light 0 is used for place a1 and for the status light",
        "place d1 has light -1",
        "place e1 has light 10, and a strip of 10 lights ends with light 9",
    ):
        assert part in str(told.value)


@pytest.mark.parametrize("lights", [0, -1, 1501])
def test_a_strip_of_impossible_length_is_refused(lights: int) -> None:
    with pytest.raises(SettingError, match=f"a strip of {lights} lights"):
        LightMap({}, lights=lights)


def test_an_unknown_place_is_reported_with_a_suggestion() -> None:
    light_map = LightMap({"c3": (0,), "C4": (1,)}, lights=2)
    assert light_map.problems(known_places=SQUARES) == (
        "the light map has a place 'C4' that this game does not have (did you mean 'c4'?); "
        "it has a7, b7, c7, d7, e7, f7, g7, …, g1",
    )
    assert "did you mean 'g7'?" in LightMap({"gg7": (0,)}, lights=1).problems(known_places=SQUARES)[0]
    assert light_map.problems() == ()


def test_the_shortest_strip_reaches_the_last_light_in_use() -> None:
    assert LightMap({"c3": (4, 5)}, (0,), lights=8).shortest_strip == 6
    assert LightMap({"c3": ()}, lights=8).shortest_strip == 0


@given(st.integers(1, 3), st.integers(0, 2), st.booleans())
def test_a_light_map_survives_writing_and_reading(each: int, skipped: int, with_status: bool) -> None:
    light_map = serpentine(GRID, each, skipped=skipped, status=(1000,) if with_status else ())
    assert light_map_from_toml(light_map_as_toml(light_map)) == light_map


def test_a_file_lists_places_in_the_order_of_the_strip() -> None:
    light_map = LightMap({"z9": (), "c3": (), "b2": (2, 3), "a1": (4,), "d4": (0,)}, (1,), lights=5)
    places = light_map_as_toml(light_map).partition("[places]\n")[2].split("\n")
    assert [line.partition(" = ")[0] for line in places if line] == ["d4", "b2", "a1", "c3", "z9"]


def test_unusual_place_names_survive_writing_and_reading() -> None:
    light_map = LightMap({'the "star"': (0,), "": (1,), "räng": ()}, lights=3)
    assert light_map_from_toml(light_map_as_toml(light_map)) == light_map


def test_a_light_map_file_is_written_and_read(tmp_path: Path) -> None:
    file = tmp_path / "lights.toml"
    light_map = serpentine(GRID, status=(49,), lights=60)
    write_light_map(light_map, file)
    write_light_map(light_map, file)
    assert read_light_map(file) == light_map
    assert list(tmp_path.iterdir()) == [file]


def test_a_file_that_is_missing_or_cannot_be_written_is_explained(tmp_path: Path) -> None:
    with pytest.raises(MapFileError, match=r"none\.toml can't be read \(No such file or directory\); map the lights"):
        read_light_map(tmp_path / "none.toml")
    light_map = LightMap({}, lights=1)
    with pytest.raises(MapFileError, match=r"can't be written to .*none/lights\.toml \(No such file"):
        write_light_map(light_map, tmp_path / "none" / "lights.toml")
    (tmp_path / "folder").mkdir()
    with pytest.raises(MapFileError, match="can't be written"):
        write_light_map(light_map, tmp_path / "folder")
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("lights = ", "this is not valid TOML"),
        ("lights = 3", "it has no places"),
        ("[places]\na1 = [0]", "how many lights the strip has"),
        ("lights = true\n[places]", "lights is True"),
        ("lights = 3\nstatus = [0.5]\n[places]", "status is [0.5]"),
        ("lights = 3\n[places]\na1 = 'x'", "a1 is 'x'"),
        ("lights = 3\nplaces = 4", "it has no places"),
        ("lights = 3\nlight = 4\n[places]", "'light' is unknown; a light map has lights, status, pin_map_crc, places"),
    ],
)
def test_an_invalid_light_map_is_refused_with_the_reason(tmp_path: Path, text: str, told: str) -> None:
    file = tmp_path / "lights.toml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(SettingError) as caught:
        read_light_map(file)
    assert told in str(caught.value)
    assert str(file) in str(caught.value)


def test_a_single_light_can_be_written_as_one_number(tmp_path: Path) -> None:
    assert light_map_from_toml("lights = 3\nstatus = 2\n[places]\na1 = 0").places == {"a1": (0,)}
    (tmp_path / "picture").write_bytes(b"\xff\xd8\xff")
    with pytest.raises(SettingError, match="is not text"):
        read_light_map(tmp_path / "picture")


def test_a_light_map_made_with_another_pin_map_is_reported() -> None:
    light_map = LightMap({"a1": (0,)}, lights=1, pin_map_crc=77)
    assert light_map.problems(strip_lights=1, pin_map_crc=77) == ()
    assert light_map.problems() == ()
    (problem,) = light_map.problems(strip_lights=1, pin_map_crc=78)
    assert problem.startswith("the board's pin map has changed since the lights were mapped")
    assert "delete the line pin_map_crc" in problem
    # A strip that hangs on no microcontroller has no pin map, and a map written by hand names none.
    assert LightMap({"a1": (0,)}, lights=1).problems(pin_map_crc=78) == ()


@pytest.mark.parametrize("pin_map_crc", [None, 0, 2**32 - 1])
def test_the_file_keeps_the_pin_map_it_was_made_with(pin_map_crc: int | None) -> None:
    light_map = LightMap({"a1": (0,)}, lights=1, pin_map_crc=pin_map_crc)
    assert light_map_from_toml(light_map_as_toml(light_map)) == light_map
    with pytest.raises(SettingError, match="pin_map_crc is 'x'; expected a whole number, or no such line"):
        light_map_from_toml("lights = 1\npin_map_crc = 'x'\n[places]\n")


PLACES_ANIMATION = ["a1", "b2", "c3", "d4"]
lights = st.lists(
    st.builds(Light.for_role, st.sampled_from(PLACES_ANIMATION), st.sampled_from(sorted(ROLE_STYLES))), max_size=5
)
signals_animation = st.builds(Signal, st.sampled_from(Mood), lights.map(tuple), st.sampled_from(Sound))


def test_a_new_animation_shows_nothing() -> None:
    dark = Animation()
    assert dark.brightness_of("a1", 5.0, smooth=True) == 0.0
    assert dark.status(5.0, smooth=True) == (0.0, 0.0, 0.0)
    assert dark.frequency_hz(5.0) == 0.0
    assert dark.alternating_place(5.0) == (None, 0.0)
    changes = (dark.next_status_s(5.0, smooth=True), dark.next_tone_s(5.0), dark.next_alternation_s(5.0))
    assert changes == (None, None, None)


def test_a_light_that_stays_keeps_its_rhythm_and_a_new_one_begins_lit() -> None:
    first = Animation().followed_by(Signal(Mood.FAULT, (Light.for_role("a1", LightRole.FAULT),)), 10.0)
    both = first.followed_by(
        Signal(Mood.FAULT, (Light.for_role("a1", LightRole.FAULT), Light.for_role("b2", LightRole.FAULT))), 10.3
    )
    assert first.brightness_of("a1", 10.3, smooth=False) == 0.0
    assert both.brightness_of("a1", 10.3, smooth=False) == 0.0
    assert both.brightness_of("b2", 10.3, smooth=False) == 1.0
    changed = both.followed_by(Signal(Mood.FAULT, (Light.for_role("a1", LightRole.PUT_RIGHT),)), 10.3)
    assert changed.brightness_of("a1", 10.3, smooth=False) == 1.0
    assert changed.brightness_of("b2", 10.3, smooth=False) == 0.0


def test_an_unchanged_mood_or_set_of_lights_keeps_its_phase() -> None:
    lights = (Light.for_role("a1", LightRole.TURN), Light.for_role("b2", LightRole.TURN))
    first = Animation().followed_by(Signal(Mood.FAULT, lights), 10.0)
    again = first.followed_by(Signal(Mood.FAULT, lights, words="Still."), 11.3)
    assert again.alternating_place(11.3) == ("b2", 1.0)
    assert again.status(11.3, smooth=False) == first.status(11.3, smooth=False) == (0.0, 0.0, 0.0)
    other = first.followed_by(Signal(Mood.TROUBLE, lights[::-1]), 11.3)
    assert other.alternating_place(11.3) == ("b2", 1.0)
    assert other.alternating_place(12.2) == ("b2", 1.0)
    assert other.status(11.3, smooth=False)[0] > 0.5


def test_a_moment_before_a_signal_shows_its_beginning() -> None:
    lights = (Light.for_role("a1", LightRole.FAULT), Light.for_role("b2", LightRole.TURN))
    shown = Animation().followed_by(Signal(Mood.FAULT, lights), 10.0)
    for time_s in (9.2, 10.0):
        assert shown.brightness_of("a1", time_s, smooth=False) == 1.0
        assert shown.status(time_s, smooth=False)[0] > 0.5
        assert shown.alternating_place(time_s) == ("a1", 1.0)
        assert shown.next_light_s("a1", time_s, smooth=False) == 10.25
        assert shown.next_status_s(time_s, smooth=False) == 10.25
        assert shown.next_alternation_s(time_s) == 10.25


def test_a_quiet_signal_lets_the_sound_end_and_a_new_sound_replaces_it() -> None:
    sounding = Animation().followed_by(Signal(Mood.FAULT, sound=Sound.FAULT), 1.0)
    quiet = sounding.followed_by(Signal(Mood.WAITING), 1.1)
    assert quiet.frequency_hz(1.2) == sounding.frequency_hz(1.2) > 0
    replaced = sounding.followed_by(Signal(Mood.FINISHED, sound=Sound.FINISHED), 1.1)
    assert replaced.sound_since_s == 1.1
    assert quiet.next_tone_s(9.0) is None


@pytest.mark.parametrize(("role", "change_s"), [(LightRole.TURN, None), (LightRole.QUESTION, 50.5)])
def test_a_single_light_on_shared_leds_only_changes_with_its_pattern(role: LightRole, change_s: float | None) -> None:
    shown = Animation().followed_by(Signal(Mood.ACCEPTED, (Light.for_role("c1", role),)), 50.0)
    assert shown.next_alternation_s(50.1) == change_s


def test_lights_that_share_leds_are_shown_one_after_the_other_in_order() -> None:
    shown = Animation().followed_by(
        Signal(
            Mood.ACCEPTED,
            (
                Light.for_role("c1", LightRole.TURN),
                Light.for_role("c2", LightRole.TURN),
                Light.for_role("d5", LightRole.FAULT),
            ),
        ),
        50.0,
    )
    order = [shown.alternating_place(50.0 + tenth / 10)[0] for tenth in range(0, 31, 5)]
    assert order == ["c1", "c1", "c2", "c2", "d5", "d5", "c1"]
    assert shown.alternating_place(52.0) == ("d5", 1.0)
    assert shown.alternating_place(52.3) == ("d5", 0.0)


@given(signals_animation, st.floats(0, 20), st.floats(0, 20))
def test_the_place_pointed_at_stays_until_the_announced_change(signal: Signal, later_s: float, share: float) -> None:
    shown = Animation().followed_by(signal, 3.0)
    now_s = round(3.0 + later_s, 4)
    change_s = shown.next_alternation_s(now_s)
    if change_s is None:
        assert len(shown.lights) <= 1
        return
    assert change_s > now_s
    between_s = now_s + (share / 20) * (change_s - now_s - 2e-6)
    assert shown.alternating_place(max(now_s, between_s)) == shown.alternating_place(now_s)


@given(st.lists(signals_animation, min_size=1, max_size=6))
def test_an_animation_shows_only_the_last_signal(sequence: list[Signal]) -> None:
    shown, now_s = Animation(), 0.0
    for signal in sequence:
        now_s += 0.7
        shown = shown.followed_by(signal, now_s)
    last = sequence[-1]
    assert set(shown.lights) == {each.place for each in last.lights}
    assert shown.mood is last.mood
    for place in shown.lights:
        assert shown.lit_since_s[place] <= now_s


HORIZON_MS = 14_000  # a multiple of every period
any_pattern = st.sampled_from(Pattern)
any_time_s = st.floats(0, 1e6, allow_nan=False).map(lambda time_s: round(time_s, 6))


def onsets_ms(pattern: Pattern) -> list[int]:
    lit = [brightness(pattern, ms / 1000, smooth=False) for ms in range(0, HORIZON_MS, 10)]
    return [index * 10 for index, now in enumerate(lit) if now and not lit[index - 1]]


def test_a_rhythm_is_defined_for_each_pattern() -> None:
    assert set(RHYTHMS) == set(Pattern)


@pytest.mark.parametrize(
    ("pattern", "changes_ms"),
    [
        (Pattern.STEADY, []),
        (Pattern.PULSE, [500, 1500, 2500]),
        (Pattern.BLINK, [250, 500, 750]),
        (Pattern.DOUBLE_BLINK, [150, 350, 500, 1400, 1550]),
        (Pattern.TRIPLE_BLINK, [150, 350, 500, 700, 850, 2000, 2150]),
        (Pattern.GLINT, [100, 2000, 2100]),
        (Pattern.WINK, [1700, 2000, 3700]),
        (Pattern.DOUBLE_WINK, [1300, 1500, 1800, 2000, 3300]),
        (Pattern.LONG_SHORT, [800, 1100, 1250, 2000, 2800]),
    ],
)
def test_a_light_without_dimming_changes_at_these_moments(pattern: Pattern, changes_ms: list[int]) -> None:
    change_s = next_change_s(pattern, 0.0, smooth=False)
    for number, expected_ms in enumerate(changes_ms):
        assert change_s == expected_ms / 1000
        assert brightness(pattern, change_s - 1e-6, smooth=False) == 1 - number % 2
        assert brightness(pattern, change_s, smooth=False) == number % 2
        change_s = next_change_s(pattern, change_s, smooth=False)
    assert (change_s is None) == (not changes_ms)


def test_a_pulse_fades_out_within_a_second() -> None:
    assert [brightness(Pattern.PULSE, time_s) for time_s in (0.0, 0.5, 1.0)] == pytest.approx([1.0, 0.5, 0.0])


@pytest.mark.parametrize("pattern", Pattern)
@pytest.mark.parametrize("smooth", [True, False])
def test_every_pattern_starts_bright(pattern: Pattern, smooth: bool) -> None:
    assert brightness(pattern, 0.0, smooth=smooth) == 1.0


@given(any_pattern, any_time_s, st.booleans())
def test_brightness_is_within_0_and_1_and_repeats_each_period(pattern: Pattern, time_s: float, smooth: bool) -> None:
    value = brightness(pattern, time_s, smooth=smooth)
    assert 0.0 <= value <= 1.0
    assert smooth or value in (0.0, 1.0)
    period_s = RHYTHMS[pattern].period_ms / 1000
    assert brightness(pattern, time_s + period_s, smooth=smooth) == pytest.approx(value)


@given(any_pattern, any_time_s, st.floats(0, 1, exclude_max=True))
def test_brightness_changes_exactly_at_the_announced_change(pattern: Pattern, time_s: float, share: float) -> None:
    now = brightness(pattern, time_s, smooth=False)
    change_s = next_change_s(pattern, time_s, smooth=False)
    if change_s is None:
        assert pattern is Pattern.STEADY
        return
    assert change_s > time_s
    between_s = min(time_s + share * (change_s - time_s), change_s - 1e-6)
    assert brightness(pattern, max(time_s, between_s), smooth=False) == now
    assert brightness(pattern, change_s, smooth=False) != now


def test_a_smooth_pattern_changes_twenty_times_a_second() -> None:
    moments = [0.0]
    while moments[-1] < 1.0:
        change_s = next_change_s(Pattern.PULSE, moments[-1])
        assert change_s is not None
        moments.append(change_s)
    assert len(moments) == 21
    levels = [brightness(Pattern.PULSE, moment) for moment in moments]
    assert levels == sorted(levels, reverse=True)


@pytest.mark.parametrize("pattern", Pattern)
def test_no_pattern_flashes_more_than_three_times_in_a_second(pattern: Pattern) -> None:
    onsets = onsets_ms(pattern)
    for start in onsets:
        assert sum(start <= onset < start + 1000 for onset in onsets) <= 3


@pytest.mark.parametrize(("one", "other"), [*itertools.combinations(Pattern, 2)])
def test_any_two_patterns_differ_on_a_light_without_dimming(one: Pattern, other: Pattern) -> None:
    def duty(pattern: Pattern) -> float:
        return sum(end - start for start, end in RHYTHMS[pattern].lit_ms) / RHYTHMS[pattern].period_ms

    def flashes_a_period(pattern: Pattern) -> int:
        return len(onsets_ms(pattern)) * RHYTHMS[pattern].period_ms // HORIZON_MS

    counted = flashes_a_period(one) != flashes_a_period(other)
    often = abs(len(onsets_ms(one)) - len(onsets_ms(other))) >= HORIZON_MS // 2000
    assert counted or often or abs(duty(one) - duty(other)) >= 0.15


@pytest.mark.parametrize("time_s", [-0.001, float("nan")])
def test_a_time_before_the_beginning_is_refused(time_s: float) -> None:
    with pytest.raises(ValueError, match="expected seconds since it began"):
        brightness(Pattern.BLINK, time_s)
    with pytest.raises(ValueError, match="expected seconds since it began"):
        next_change_s(Pattern.BLINK, time_s)
