"""Lights and switches assigned to squares: scripted dialogues, and lights located by the camera."""

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.mapping.dialogue import (
    AssignmentBySquare,
    AssignmentBySwitch,
    LightAssignment,
    LightFinder,
    ShowLight,
    assign_lights,
    assign_switches,
    locate_light,
    one_light_map,
    one_light_signal,
    saved_map_sentence,
)
from app.wiring.plan import SensorMap, load_sensor_map, save_sensor_map
from firmware_bridge.connection.events import SensorsReported, SwitchChanged
from hardware.lights.panel import DriverSource, Panel
from hardware.lights.pixels import PixelDriver
from referee.errors import ConfigError
from simulator.scene.scene import Setting
from tests.app.mapping.glowing import empty_boards, glow, small_setting
from tests.effort import some
from vision.cameras import Camera
from vision.frame import Frame, Image

PLACES = ("a1", "b1", "c1")


def typing(*lines: str) -> Callable[[str], str]:
    """A person who types these lines, after which the input ends."""
    left = iter(lines)

    def ask(prompt: str) -> str:
        try:
            return next(left)
        except StopIteration:
            raise EOFError from None

    return ask


@dataclass
class Strip:
    lights: int = 3
    refresh_s: float | None = None
    shown: list[bytes] = field(default_factory=list)

    def show(self, colours: bytes) -> None:
        self.shown.append(colours)

    def close(self) -> None:
        pass


def test_each_light_is_shown_and_asked_about_in_turn() -> None:
    strip, said = Strip(), list[str]()
    walk = LightAssignment(3, PLACES)
    source = DriverSource("strip", lambda: PixelDriver("strip", strip, one_light_map(3)))
    with Panel([source], lambda: 0.0, said.append) as panel:

        def show(light: int | None) -> None:
            panel.show(one_light_signal(light), 0.0)

        assign_lights(walk, show, typing("a1", "what", "b", "b1", "", "status"), said.append)
    alone = [bytes(3 * light) + b"\xff\xff\xff" + bytes(6 - 3 * light) for light in range(3)]
    assert strip.shown == [alone[0], alone[1], alone[0], alone[1], alone[2], bytes(9)]
    assert walk.places_of_lights() == ({"b1": (0,)}, (2,))
    assert any("no square 'what'" in sentence for sentence in said)


def test_a_map_is_unfinished_when_the_input_ends() -> None:
    walk = LightAssignment(3, PLACES)
    assert not assign_lights(walk, lambda light: None, typing("a1"), lambda sentence: None)
    assert walk.places_of_lights() == ({"a1": (0,)}, ())
    assert assign_lights(LightAssignment(3, PLACES), lambda light: None, typing("a1", "f"), lambda sentence: None)


@functools.cache
def pictures(setting: Setting) -> list[Image]:
    return empty_boards(setting, 7)


@dataclass
class GlowingTable(Camera):
    """A camera over a rendered board on which the current light of a strip glows at its position."""

    setting: Setting
    points_mm: Sequence[tuple[float, float] | None]
    lit: int | None = None
    time_s: float = 0.0
    frames: int = 0

    def __post_init__(self) -> None:
        super().__init__("over the lights")
        self.pictures = pictures(self.setting)

    def close(self) -> None:
        pass

    def show(self, light: int | None) -> None:
        self.lit = light

    def clock(self) -> float:
        return self.time_s

    def _read(self, timeout_s: float) -> Frame:
        self.time_s += 0.2
        self.frames += 1
        image = self.pictures[self.frames % len(self.pictures)]
        point = None if self.lit is None else self.points_mm[self.lit]
        shown = image if point is None else glow(image, self.setting, *point, levels=60.0)
        return Frame(shown, self.time_s, self.frames)


@pytest.fixture(scope="module")
def setting() -> Setting:
    return small_setting()


def test_the_camera_assigns_certain_lights_and_a_person_the_others(setting: Setting) -> None:
    layout = setting.layout
    half = layout.board.cell_mm / 2
    table = GlowingTable(setting, [layout.centre_mm("c3"), None, (half, 0.0), layout.centre_mm("g1")])
    finder = LightFinder(table, table.clock, setting.camera, setting.pose, layout, pairs=2)
    walk, said = LightAssignment(4, layout.places), list[str]()
    # The camera does not see the second light, and the third is between d4 and e4.
    assign_lights(walk, table.show, typing("", "d4"), said.append, finder)
    assert walk.places_of_lights() == ({"c3": (0,), "d4": (2,), "g1": (3,)}, ())
    assert "Light 0: c3." in said
    assert any("I see no light" in sentence for sentence in said)
    assert any("between two squares" in sentence for sentence in said)


def test_after_going_back_the_person_assigns_the_light(setting: Setting) -> None:
    layout = setting.layout
    table = GlowingTable(setting, [layout.centre_mm("c3"), None])
    finder = LightFinder(table, table.clock, setting.camera, setting.pose, layout, pairs=2)
    walk = LightAssignment(2, layout.places)
    assign_lights(walk, table.show, typing("b", "c4", ""), lambda sentence: None, finder)
    assert walk.places_of_lights() == ({"c4": (0,)}, ())


def report(closed: set[int], *changes: tuple[int, bool, float]) -> SensorsReported:
    return SensorsReported(
        9.0,
        tuple(switch in closed for switch in range(4)),
        (False,) * 4,
        tuple(SwitchChanged(*change) for change in changes),
    )


def walked(
    walk: AssignmentBySquare | AssignmentBySwitch,
    reports: Sequence[SensorsReported | None],
    lines: Sequence[str | None],
) -> list[str]:
    """Assign with a report and a line (or none) at each step; the input ends after the last line."""
    said: list[str] = []
    coming: Iterator[SensorsReported | None] = iter(reports)
    typed_lines = iter(lines)

    def typed() -> list[str]:
        try:
            line = next(typed_lines)
        except StopIteration:
            raise EOFError from None
        return [] if line is None else [line]

    assign_switches(walk, lambda: next(coming, None), typed, lambda: None, said.append)
    return said


def test_switches_are_assigned_by_pieces_and_squares_can_be_skipped() -> None:
    walk = AssignmentBySquare(4, PLACES)
    # A piece sliding over switch 1 only opens and closes it again.
    reports = [report(set()), report({2}, (1, True, 1.0), (1, False, 1.1), (2, True, 1.2)), report({2}), report({2})]
    said = walked(walk, [*reports, report({0, 2}, (0, True, 3.0))], [None, None, "", None, None])
    assert walk.is_over
    assert walk.found == {"a1": 2, "c1": 0}
    prompts = [sentence for sentence in said if sentence.startswith("Put a piece on ") and len(sentence) < 22]
    assert prompts == ["Put a piece on a1.", "Put a piece on b1.", "Put a piece on c1."]


def test_two_switches_that_close_together_are_asked_about_again() -> None:
    walk = AssignmentBySquare(4, PLACES)
    said = walked(walk, [report({1, 2}, (1, True, 1.0), (2, True, 1.02))], [None])
    assert any("Switches 1, 2 closed at once" in sentence for sentence in said)
    assert walk.found == {}


def test_without_diodes_the_other_pieces_are_asked_to_leave_once() -> None:
    def doubted(*doubtful: int) -> SensorsReported:
        return SensorsReported(9.0, (False,) * 9, tuple(switch in doubtful for switch in range(9)), ())

    walk = AssignmentBySquare(9, PLACES)
    said = walked(walk, [doubted(), doubted(2), *[doubted(0, 1, 3, 4)] * 3], [None] * 4)
    assert said[1:] == [
        "Put a piece on a1.",
        "Switches 0, 1, 3, 4 can't be read now. Without diodes, take the other pieces off, so that only this one is on "
        "the board. With diodes, look for a loose wire.",
    ]


def test_the_assignment_waits_for_a_disconnected_board() -> None:
    walk = AssignmentBySquare(4, PLACES)
    starting = replace(report(set()), doubtful=(True,) * 4)
    reports = [None, starting, report({1}), None, starting, report({1})]
    said = walked(walk, reports, [None] * 6 + ["f"])
    assert said[1:] == [
        "Closed already: 1. Take every piece off the board; a switch that stays closed is stuck.",
        "Put a piece on a1.",
        "The board does not answer; I wait for it.",
        "The board answers again.",
        "The board does not answer; I wait for it.",
    ]


def test_assignment_by_switch_ends_with_the_input() -> None:
    walk = AssignmentBySwitch(4, PLACES)
    walked(walk, [report({3}, (3, True, 1.0)), report({3})], [None, "b1"])
    assert not walk.is_over
    assert walk.found == {"b1": 3}


def test_pictures_are_taken_after_the_light_has_changed(setting: Setting) -> None:
    layout = setting.layout
    table = GlowingTable(setting, [layout.centre_mm("d4")])
    changes: list[float] = []

    def show(light: int | None) -> None:
        changes.append(table.time_s)
        table.show(light)

    shown: ShowLight = show
    LightFinder(table, table.clock, setting.camera, setting.pose, layout, pairs=2).find(0, shown)
    assert all(later - earlier >= 0.35 for earlier, later in pairwise(changes))


THREE_PLACES = tuple(f"{column}{row}" for row in (1, 2) for column in "abc")


def test_lights_are_assigned_one_by_one() -> None:
    walk = LightAssignment(5, THREE_PLACES)
    assert "Light 0 of 0 to 4" in walk.prompt
    assert walk.answer("A1") == ""
    assert walk.answer(" ") == ""
    assert walk.answer("status") == ""
    assert walk.answer("a1") == "a1 has lights 0 and 3 now."
    assert (walk.answer("b"), walk.light) == ("", 3)
    assert walk.answer("c9") == "There is no square 'c9'; squares run from a1 to c2."
    assert walk.answer("c2") == ""
    assert walk.answer("f") == ""
    assert walk.light is None
    assert walk.places_of_lights() == ({"a1": (0,), "c2": (3,)}, (2,))
    assert walk.summary() == ("2 lights under 2 squares; 1 light as the status light; no light under b1, c1, a2, b2.")


def test_the_assignment_ends_after_the_last_light_and_cannot_go_back_from_the_first() -> None:
    walk = LightAssignment(1, THREE_PLACES)
    assert walk.answer("b") == "This is the first light."
    walk.answer("b1")
    assert walk.light is None
    assert "Every light has been shown" in walk.answer("b2")


def test_the_switch_that_closes_is_assigned_to_the_square() -> None:
    walk = AssignmentBySquare(6, THREE_PLACES)
    assert walk.prompt == "Put a piece on a1."
    assert walk.process_closings([4]) == "a1 is switch 4."
    assert ("already" in walk.process_closings([4]), walk.place) == (True, "b1")
    assert "closed at once" in walk.process_closings([0, 1])
    assert walk.answer("") == "b1 has no switch."
    assert walk.process_closings([0]) == "c1 is switch 0."
    assert (walk.answer("b"), walk.place) == ("", "c1")
    assert walk.process_closings([5]) == "c1 is switch 5."
    assert "is not possible" in walk.answer("what?")
    walk.answer("f")
    assert (walk.place, walk.process_closings([1])) == (None, "")
    assert walk.found == {"a1": 4, "c1": 5}
    assert "2 of 6 squares" in walk.summary()
    assert "0, 1, 2, 3" in walk.summary()


def test_going_back_returns_to_a_skipped_square_and_then_undoes_an_assignment() -> None:
    walk = AssignmentBySquare(6, THREE_PLACES)
    assert walk.answer("b") == "This is the first square."
    walk.process_closings([0])
    walk.answer("skip")
    walk.answer("b")
    walk.answer("b")
    assert (walk.place, walk.found) == ("a1", {})


def test_a_person_names_the_square_of_each_switch() -> None:
    walk = AssignmentBySwitch(6, THREE_PLACES)
    assert "No switch has closed yet" in walk.answer("a1")
    assert walk.process_closings([3]) == ""
    assert walk.prompt == "Switch 3 closed: which square? "
    assert "Switch 4 closed as well" in walk.process_closings([4])
    assert "no square 'a9'" in walk.answer("a9")
    assert walk.answer("b2") == "b2 is switch 3."
    assert "under b2 already" in walk.process_closings([3])
    walk.process_closings([5])
    assert "b2 has switch 3 already" in walk.answer("b2")
    assert walk.answer("") == "Switch 5 is left out."
    assert walk.answer("b") == "b2 is forgotten."
    assert walk.answer("b") == "No square is known yet."
    assert "at once" in walk.process_closings([1, 2])
    walk.answer("f")
    assert walk.finished


@given(
    st.dictionaries(
        st.sampled_from(THREE_PLACES) | st.text(st.characters(codec="utf-8"), min_size=1, max_size=5),
        st.integers(0, 60),
        max_size=6,
    ).filter(lambda places: len(set(places.values())) == len(places)),
    st.none() | st.integers(0, 2**32 - 1),
)
def test_a_sensor_map_round_trips(
    tmp_path_factory: pytest.TempPathFactory, places: dict[str, int], crc: int | None
) -> None:
    path = tmp_path_factory.mktemp("maps") / "sensors.toml"
    written = SensorMap(places, 61, crc)
    save_sensor_map(written, path)
    assert load_sensor_map(path) == written


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("switches = 4\n[places]\na1 = 0\nb1 = 0\n", "switch 0 is under a1 and under b1"),
        ("switches = 4\n[places]\na1 = 4\n", "a1 has switch 4; there are switches 0 to 3"),
        ("switches = 0\n[places]\n", "0 switches; expected 1 to 1024"),
        ("switches = 4\n", "it has no places"),
        ("[places]\na1 = 0\n", "switches is .none.; expected how many"),
        ("switches = 4\n[places]\na1 = [0]\n", r"a1 is \[0\]; expected the number"),
        ("swiches = 4\npin_map_crc = 'x'\n[places]\n", r"'swiches' is unknown.*; switches is .*; pin_map_crc is \"x\""),
        ("switches", "is not valid TOML"),
    ],
)
def test_an_invalid_sensor_map_is_refused_with_the_reason(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "sensors.toml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=message) as caught:
        load_sensor_map(path)
    assert str(path) in str(caught.value)


def test_an_unreadable_or_unwritable_sensor_map_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"can't be read \(No such file.*./run hardware sensors map"):
        load_sensor_map(tmp_path / "none.toml")
    with pytest.raises(ConfigError, match="choose another file"):
        save_sensor_map(SensorMap({}, 1), tmp_path / "nowhere" / "sensors.toml")


def test_a_sensor_map_is_checked_against_the_board() -> None:
    sensor_map = SensorMap({"a1": 0, "b2": 5}, 6, 77)
    assert sensor_map.problems(known_places=THREE_PLACES, switches=6, pin_map_crc=77) == ()
    (shorter,) = sensor_map.problems(switches=5)
    assert "there are 5 switches and the sensor map was made for 6: b2 would have none" in shorter
    (other,) = sensor_map.problems(pin_map_crc=78)
    assert "has changed since the sensors were mapped" in other
    (unknown,) = sensor_map.problems(known_places=("a1", "b1"))
    assert "squares that this game does not have: b2" in unknown
    assert SensorMap({"a1": 0}, 6).problems(pin_map_crc=78) == ()


def test_the_path_of_a_map_and_its_setting_are_named(tmp_path: Path) -> None:
    path, setting = tmp_path / "sensors.toml", 'map = "sensors.toml" under [sensors]'
    for named in (None, tmp_path / "other.toml"):
        said = saved_map_sentence("sensor map", path, named, setting)
        assert said == f"The sensor map is in {path}; {setting} uses it."
    said = saved_map_sentence("sensor map", path, tmp_path / "folder" / ".." / "sensors.toml", setting)
    assert said == f"The sensor map is in {path}, which the settings name already."


PAIRS = 3


@pytest.fixture(scope="module")
def empty_table(setting: Setting) -> list[Image]:
    """Seven pictures of the empty board, each with its own noise."""
    return empty_boards(setting, 2 * PAIRS + 1)


def flickering(image: Image, gain: float) -> Image:
    return np.clip(image.astype(float) * gain, 0, 255).astype(np.uint8)


Shine = Callable[[Image], Image]


def off_and_on(empty_table: list[Image], shine: Shine) -> tuple[list[Image], list[Image]]:
    return empty_table[::2], [shine(image) for image in empty_table[1::2]]


@pytest.mark.parametrize("place", some(["a1", "d4", "g7", "b6"]))
@pytest.mark.parametrize("levels", [12.0, 120.0])
def test_a_light_is_found_in_its_square(setting: Setting, empty_table: list[Image], place: str, levels: float) -> None:
    x_mm, y_mm = setting.layout.centre_mm(place)
    off, on = off_and_on(empty_table, lambda image: glow(image, setting, x_mm + 3, y_mm - 4, levels))
    spot = locate_light(off, on, setting.camera, setting.pose, setting.layout)
    assert (spot.place, spot.doubt) == (place, "")


def test_a_lamp_that_flickers_is_no_light(setting: Setting, empty_table: list[Image]) -> None:
    gains = iter([1.0, 0.9, 1.04, 1.08, 0.97, 1.0, 0.93])
    flicker = [flickering(image, next(gains)) for image in empty_table]
    off, on = flicker[::2], flicker[1::2]
    assert "no light" in locate_light(off, on, setting.camera, setting.pose, setting.layout).doubt
    x_mm, y_mm = setting.layout.centre_mm("c5")
    lit = [glow(image, setting, x_mm, y_mm, 30) for image in on]
    spot = locate_light(off, lit, setting.camera, setting.pose, setting.layout)
    assert (spot.place, spot.doubt) == ("c5", "")


def test_a_missing_light_is_reported(setting: Setting, empty_table: list[Image]) -> None:
    off, on = off_and_on(empty_table, lambda image: image)
    spot = locate_light(off, on, setting.camera, setting.pose, setting.layout)
    assert spot.place is None
    assert "no light" in spot.doubt


def test_a_single_change_is_no_light(setting: Setting, empty_table: list[Image]) -> None:
    off, on = list(empty_table[::2]), list(empty_table[1::2])
    on[1] = glow(on[1], setting, 0, 0, 150)
    assert "no light" in locate_light(off, on, setting.camera, setting.pose, setting.layout).doubt


def test_a_doubtful_light_is_reported_with_the_reason(setting: Setting, empty_table: list[Image]) -> None:
    half = setting.layout.board.cell_mm / 2

    def doubt_of(shine: Shine) -> str:
        off, on = off_and_on(empty_table, shine)
        return locate_light(off, on, setting.camera, setting.pose, setting.layout).doubt

    assert "between two squares" in doubt_of(lambda image: glow(image, setting, half, 0, 80))
    assert "beside the board" in doubt_of(lambda image: glow(image, setting, 0, -8.6 * half, 80))
    assert "two places" in doubt_of(lambda image: glow(glow(image, setting, 0, 0, 80), setting, 4 * half, 2 * half, 70))


def test_there_must_be_one_more_picture_without_the_light(setting: Setting, empty_table: list[Image]) -> None:
    with pytest.raises(ValueError, match="one more of off"):
        locate_light(empty_table[:2], empty_table[:2], setting.camera, setting.pose, setting.layout)
