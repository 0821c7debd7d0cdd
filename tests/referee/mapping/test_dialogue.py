"""Scripted dialogues that assign lights and switches with a person at the terminal."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

import pytest

from firmware_bridge.connection.events import SensorsReported, SwitchChanged
from hardware.lights.panel import DriverSource, Panel
from hardware.lights.pixels import PixelDriver
from referee.mapping.dialogue import (
    AssignmentBySquare,
    AssignmentBySwitch,
    LightAssignment,
    LightFinder,
    ShowLight,
    assign_lights,
    assign_switches,
    one_light_map,
    one_light_signal,
)
from simulator.scene.scene import Setting
from tests.referee.mapping.glowing import empty_boards, glow, small_setting
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

    def read(self, timeout_s: float) -> Frame:
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
