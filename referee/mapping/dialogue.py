"""The mapping dialogues with a person at the terminal; all input and output is passed in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.text import Text

from common.phrases import shortened
from hardware.lights.light_map import LightMap
from hardware.lights.signals import Colour, Light, LightRole, Mood, Pattern, Signal
from referee.mapping.assignments import LightAssignment, SwitchAssignment
from referee.mapping.light_location import LightLocation, locate_light
from referee.wiring.sensor_map import SwitchReport
from vision.cameras import Camera
from vision.frame import Image
from vision.geometry import CameraModel, Pose
from vision.layout.table import TableLayout

Ask = Callable[[str], str]
Say = Callable[[str], object]
ShowLight = Callable[[int | None], None]
"""Shows one light alone, by its number, or none."""

PAIRS = 3
"""How many times a light is switched off and on in front of the camera."""

CAMERA_DELAY_S = 0.35
"""Maximum age of a picture on arrival: only pictures taken after a light changed show the change."""

READ_TIMEOUT_S = 5.0
"""How long to wait for a picture, in seconds."""


def one_light_map(lights: int) -> LightMap:
    """Return a map in which every light is a place of its own, named by its number."""
    return LightMap({str(number): (number,) for number in range(lights)}, lights=lights)


def one_light_signal(light: int | None) -> Signal:
    """Return the signal that shows one light of ``one_light_map`` alone, or none."""
    lights = () if light is None else (Light(str(light), Colour.WHITE, Pattern.STEADY, LightRole.TURN),)
    return Signal(Mood.WAITING, lights)


@dataclass(frozen=True)
class LightFinder:
    """Locates one light at a time with a camera. ``clock`` is the camera's, in monotonic seconds."""

    camera: Camera
    clock: Callable[[], float]
    model: CameraModel
    pose: Pose
    layout: TableLayout
    pairs: int = PAIRS

    def find(self, light: int, show: ShowLight) -> LightLocation:
        """Switch a light off and on a few times and locate it; raises CameraError."""
        off, on = [self._look(show, None)], []
        for _ in range(self.pairs):
            on.append(self._look(show, light))
            off.append(self._look(show, None))
        return locate_light(off, on, self.model, self.pose, self.layout)

    def _look(self, show: ShowLight, light: int | None) -> Image:
        show(light)
        shown_s = self.clock()
        while True:
            frame = self.camera.read(READ_TIMEOUT_S)
            if frame.time_s >= shown_s + CAMERA_DELAY_S:
                return frame.image


def assign_lights(
    assignment: LightAssignment, show: ShowLight, ask: Ask, say: Say, finder: LightFinder | None = None
) -> bool:
    """Go through the lights; with a ``finder``, a person is only asked about uncertain ones.

    Returns true after the last light or when the person finishes, false if the input ends before.
    """
    say(assignment.HELP)
    watched = -1
    while (light := assignment.light) is not None:
        # If the person went back to a light, the camera would only repeat its result, so the person decides.
        location = None if finder is None or light <= watched else finder.find(light, show)
        watched = max(watched, light)
        if location is not None and location.place is not None and not location.doubt:
            say(f"Light {light}: {location.place}.")
            assignment.answer(location.place)
            continue
        if location is not None:
            near = f", nearest to {location.place}" if location.place else ""
            say(f"Light {light}: I am not sure: {location.doubt}{near}.")
        if not _ask_about(assignment, light, show, ask, say):
            return False
    return True


def _ask_about(assignment: LightAssignment, light: int, show: ShowLight, ask: Ask, say: Say) -> bool:
    """Ask until this light is answered or left; returns false when the input has ended."""
    show(light)
    while assignment.light == light:
        try:
            text = ask(assignment.prompt)
        except EOFError:
            return False
        reply = assignment.answer(text)
        if reply:
            say(reply)
    return True


def assign_switches(
    assignment: SwitchAssignment,
    switches: Callable[[], SwitchReport | None],
    typed: Callable[[], Sequence[str]],
    wait: Callable[[], object],
    say: Say,
) -> bool:
    """Go through squares or switches while pieces are put down, until all are done or the person finishes.

    Returns false if the input ends before.

    ``switches`` returns the newest report with the changes since the last call, ``typed`` the lines typed since, with
    ``EOFError`` at the end of the input; ``wait`` waits a moment for either.
    """
    say(assignment.HELP)
    prompt = ""
    is_there: bool | None = None
    doubted: list[int] = []
    while not assignment.is_over:
        report = switches()
        was_there, is_there = is_there, _is_readable(report, is_there)
        if was_there is not None and was_there != is_there:
            say("The board answers again." if is_there else "The board does not answer; I wait for it.")
        if report is not None:
            if was_there is None and is_there:
                _say_if_any(say, _initially_closed(report))
            if not doubted and (doubted := _rectangle(report)):
                say(
                    f"Switches {', '.join(map(str, doubted))} can't be read now. Without diodes, take the other pieces "
                    "off, so that only this one is on the board. With diodes, look for a loose wire."
                )
            for closed in _new_closings(report):
                _say_if_any(say, assignment.process_closings(closed))
        try:
            lines = typed()
        except EOFError:
            return False
        for line in lines:
            _say_if_any(say, assignment.answer(line))
        if is_there and not assignment.is_over and assignment.prompt != prompt:
            prompt = assignment.prompt
            say(prompt)
        wait()
    return True


def _is_readable(report: SwitchReport | None, before: bool | None) -> bool | None:
    """Return whether the switches are readable; ``None`` until they are for the first time."""
    if report is None:
        return None if before is None else False
    # A board that has just started can't read its switches yet, so a switch that closes now didn't change.
    return before if all(report.doubtful) else True


def _initially_closed(report: SwitchReport) -> str:
    closed = [str(number) for number, is_closed in enumerate(report.closed) if is_closed]
    if not closed:
        return ""
    return f"Closed already: {shortened(closed)}. Take every piece off the board; a switch that stays closed is stuck."


def _rectangle(report: SwitchReport) -> list[int]:
    """Return the doubtful switches if they may be a ghost: at least the corners of a rectangle, but not all."""
    doubtful = [number for number, is_doubtful in enumerate(report.doubtful) if is_doubtful]
    return doubtful if 4 <= len(doubtful) < len(report.doubtful) else []


def _new_closings(report: SwitchReport) -> list[list[int]]:
    """Return the switches that closed and stayed closed, grouped by moment."""
    together_s = 0.05
    moments: list[tuple[float, list[int]]] = []
    for change in report.changes:
        # If a switch opened again, a piece only slid over it.
        if not change.closed or not report.closed[change.switch]:
            continue
        if moments and change.time_s - moments[-1][0] <= together_s:
            if change.switch not in moments[-1][1]:
                moments[-1][1].append(change.switch)
        else:
            moments.append((change.time_s, [change.switch]))
    return [switches for _, switches in moments]


UNFINISHED = "The input ended before the map was finished; nothing was written."


def line_printer(console: Console) -> Callable[[str], None]:
    """Return a function that prints a sentence."""
    return lambda sentence: console.print(Text(sentence), soft_wrap=True)


def saved_map_sentence(kind: str, path: Path, named: Path | None, setting: str) -> str:
    """Say where a map was written, and which ``setting`` to change, unless it names the map already."""
    if named is not None and named.resolve() == path.resolve():
        return f"The {kind} is in {path}, which the settings name already."
    return f"The {kind} is in {path}; {setting} uses it."


def _say_if_any(say: Say, sentence: str) -> None:
    if sentence:
        say(sentence)
