"""Mapping square by square which light and which switch belongs to which, with a person at the terminal.

All input and output is passed in. A light is located in pictures taken with it off and on. Pairs of pictures are taken
alternately, so that changes that do not repeat with the light (flicker, daylight, automatic exposure, noise, a hand)
disappear in the median.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import cv2
import numpy as np
from rich.console import Console

from app.wiring.plan import SwitchReport
from common.phrases import Phrase, counted, either, joined, shortened
from hardware.lights.light_map import LightMap
from hardware.lights.signals import Colour, Light, LightRole, Mood, Pattern, Signal
from vision.cameras import Camera
from vision.frame import FloatArray, Image
from vision.geometry import CameraModel, Pose, back_project, project
from vision.layout.table import TableLayout
from vision.sampling import MAD_TO_SIGMA

_BACK = ("b", "back")
_FINISH = ("f", "finish")
_SKIP = ("", "s", "skip")


@dataclass
class _SensorAssignment:
    """The common part of both ways to map switches: the switch of each square that was ``found``."""

    switches: int
    places: Sequence[str]
    found: dict[str, int] = field(default_factory=dict)
    finished: bool = False

    def place_of(self, switch: int) -> str | None:
        """Return the square that a switch belongs to, ``None`` if it isn't mapped yet."""
        return next((place for place, number in self.found.items() if number == switch), None)

    def summary(self) -> str:
        """Say which squares have a switch, and which squares and switches have no partner."""
        without = [place for place in self.places if place not in self.found]
        unused = [str(number) for number in range(self.switches) if number not in self.found.values()]
        parts = [f"{len(self.found)} of {len(self.places)} squares have a switch"]
        if without:
            parts.append(f"none under {shortened(without)}")
        if unused:
            parts.append(f"switches under no square: {shortened(unused)}")
        return "; ".join(parts) + "."


@dataclass
class AssignmentBySquare(_SensorAssignment):
    """Goes through the squares; the switch that closes while a square is asked for is the one under it."""

    passed: list[str] = field(default_factory=list)

    HELP = (
        "Put a piece on the square that is asked for, alone on the board; with diodes, those before may stay. Enter "
        "alone: skip it. b: back to the square before. f: finish here."
    )

    @property
    def place(self) -> str | None:
        """The current square; ``None`` at the end."""
        done = len(self.passed)
        return None if self.finished or done >= len(self.places) else self.places[done]

    @property
    def is_over(self) -> bool:
        """Whether every square was asked for, or the person has finished."""
        return self.place is None

    @property
    def prompt(self) -> str:
        """The question to ask."""
        return Phrase("Put a piece on {place}.", self.place)

    def process_closings(self, switches: Sequence[int]) -> str:
        """Process switches that closed at the same moment; returns a sentence for the person."""
        place = self.place
        if place is None:
            return ""
        if len(switches) > 1:
            return Phrase(
                "Switches {names} closed at once: take the piece off and put it down again on {place}, "
                "right in the middle. If they always do, their wires touch.",
                joined(map(str, switches), ", "),
                place,
            )
        (switch,) = switches
        other = self.place_of(switch)
        if other is not None:
            return Phrase(
                "Switch {switch} is the one under {other} already: put the piece on {place}, or type b "
                "until {other} is asked for again.",
                switch,
                other,
                place,
            )
        self.found[place] = switch
        self.passed.append(place)
        return Phrase("{place} is switch {switch}.", place, switch)

    def answer(self, text: str) -> str:
        """Process a typed answer; returns a sentence for the person."""
        word = text.strip().lower()
        if word in _BACK:
            if not self.passed:
                return Phrase("This is the first square.")
            before = self.passed.pop()
            self.found.pop(before, None)
            return ""
        if word in _FINISH:
            self.finished = True
            return ""
        if word in _SKIP and self.place is not None:
            self.passed.append(self.place)
            return Phrase("{passed} has no switch.", self.passed[-1])
        return Phrase("{text!r} is not possible here. {help}", text.strip(), self.HELP)


@dataclass
class AssignmentBySwitch(_SensorAssignment):
    """Takes switches in the order in which a person closes them, and asks for the square of each."""

    switch: int | None = None

    HELP = (
        "Put a piece on any square, then type which one it was. Enter alone: leave that switch out. "
        "b: forget the square before. f: finish."
    )

    @property
    def is_over(self) -> bool:
        """Whether every square is known, or the person has finished."""
        return self.finished or len(self.found) == len(self.places)

    @property
    def prompt(self) -> str:
        """The question to ask."""
        return (
            Phrase("Put a piece on a square.")
            if self.switch is None
            else Phrase("Switch {switch} closed: which square? ", self.switch)
        )

    def process_closings(self, switches: Sequence[int]) -> str:
        """Process switches that closed at the same moment; returns a sentence for the person."""
        if len(switches) > 1:
            return Phrase(
                "Switches {names} closed at once: take the piece off and try again.", joined(map(str, switches), ", ")
            )
        (switch,) = switches
        other = self.place_of(switch)
        if other is not None:
            return Phrase("Switch {switch} is the one under {other} already.", switch, other)
        if self.switch is not None and self.switch != switch:
            return Phrase(
                "Switch {switch} closed as well; first, which square has switch {switch_2}?", switch, self.switch
            )
        self.switch = switch
        return ""

    def answer(self, text: str) -> str:
        """Process a typed answer; returns a sentence for the person."""
        word = text.strip().lower()
        if word in _FINISH:
            self.finished = True
            return ""
        if word in _BACK:
            if not self.found:
                return Phrase("No square is known yet.")
            place, _ = self.found.popitem()
            return Phrase("{place} is forgotten.", place)
        if self.switch is None:
            return Phrase("No switch has closed yet. {help}", self.HELP)
        if word in _SKIP:
            left, self.switch = self.switch, None
            return Phrase("Switch {left} is left out.", left)
        if word not in self.places:
            return unknown_place(word, self.places)
        if word in self.found:
            return Phrase(
                "{word} has switch {found} already; type b until it is forgotten, or another square.",
                word,
                self.found[word],
            )
        self.found[word], self.switch = self.switch, None
        return Phrase("{word} is switch {found}.", word, self.found[word])


SwitchAssignment = AssignmentBySquare | AssignmentBySwitch


STATUS = "status"
"""Name of the status light among places."""

_NONE = ("", "-", "none")


@dataclass
class LightAssignment:
    """Goes through the lights and records the place of each.

    ``places`` are the board's squares. A light may have no square (``None`` in ``answers``), and a square several
    lights. Lights that were not reached have no square.
    """

    lights: int
    places: Sequence[str]
    answers: list[str | None] = field(default_factory=list)
    finished: bool = False

    @property
    def light(self) -> int | None:
        """The light to show now; ``None`` at the end."""
        return None if self.finished or len(self.answers) >= self.lights else len(self.answers)

    @property
    def prompt(self) -> str:
        """The question about the current light."""
        return Phrase("Light {light} of 0 to {last_light}: which square? ", self.light, self.lights - 1)

    HELP = (
        "Type the square where a light shines, such as a1. Enter alone: no square. status: the status light. "
        "b: back to the light before. f: finish here."
    )

    def answer(self, text: str) -> str:
        """Process a typed answer about the current light; returns a sentence for the person, or an empty string."""
        light = self.light
        if light is None:
            return Phrase("Every light has been shown.")
        word = text.strip().lower()
        if word in _BACK:
            if not self.answers:
                return Phrase("This is the first light.")
            self.answers.pop()
            return ""
        if word in _FINISH:
            self.finished = True
            return ""
        if word in _NONE:
            self.answers.append(None)
            return ""
        if word == STATUS or word in self.places:
            before = [number for number, given in enumerate(self.answers) if given == word]
            self.answers.append(word)
            what = Phrase("The status light") if word == STATUS else word
            return Phrase("{what} has {lights} now.", what, _lights([*before, light])) if before else ""
        return unknown_place(word, self.places)

    def places_of_lights(self) -> tuple[dict[str, tuple[int, ...]], tuple[int, ...]]:
        """Return the lights of each square, in the order of the board, and those of the status light."""
        found = {
            place: tuple(number for number, given in enumerate(self.answers) if given == place)
            for place in (*self.places, STATUS)
        }
        status = found.pop(STATUS)
        return {place: numbers for place, numbers in found.items() if numbers}, status

    def summary(self) -> str:
        """Return the result, and which squares have no light."""
        places, status = self.places_of_lights()
        dark = [place for place in self.places if place not in places]
        lit = sum(len(numbers) for numbers in places.values())
        parts = [f"{counted(lit, 'light')} under {counted(len(places), 'square')}"]
        parts.append(f"{counted(len(status), 'light')} as the status light" if status else "no status light")
        if dark:
            parts.append(f"no light under {shortened(dark)}")
        return "; ".join(parts) + "."


def unknown_place(word: str, places: Sequence[str]) -> str:
    """Say that there is no such square, and list those there are."""
    return Phrase("There is no square {word!r}; squares run from {place} to {place_2}.", word, places[0], places[-1])


def _lights(numbers: Sequence[int]) -> str:
    return Phrase("lights {names}", joined(map(str, numbers), " and "))


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
            say(Phrase("Light {light}: {place}.", light, location.place))
            assignment.answer(location.place)
            continue
        if location is not None:
            near = Phrase(", nearest to {place}", location.place) if location.place else ""
            say(Phrase("Light {light}: I am not sure: {doubt}{near}.", light, location.doubt, near))
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
            say(either(is_there, "The board answers again.", "The board does not answer; I wait for it."))
        if report is not None:
            if was_there is None and is_there:
                _say_if_any(say, _initially_closed(report))
            if not doubted and (doubted := _rectangle(report)):
                say(
                    Phrase(
                        "Switches {numbers} can't be read now. Without diodes, take the other pieces off, so that only "
                        "this one is on the board. With diodes, look for a loose wire.",
                        ", ".join(map(str, doubted)),
                    )
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
    return Phrase(
        "Closed already: {numbers}. Take every piece off the board; a switch that stays closed is stuck.",
        shortened(closed),
    )


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


UNFINISHED = Phrase("The input ended before the map was finished; nothing was written.")


def line_printer(console: Console) -> Callable[[str], None]:
    """Return a function that prints a sentence."""
    return lambda sentence: console.print(sentence, soft_wrap=True, markup=False, emoji=False, highlight=False)


def saved_map_sentence(kind: str, path: Path, named: Path | None, setting: str) -> str:
    """Say where a map was written, and which ``setting`` to change, unless it names the map already."""
    if named is not None and named.resolve() == path.resolve():
        return Phrase("The {kind} is in {path}, which the settings name already.", kind, path)
    return Phrase("The {kind} is in {path}; {setting} uses it.", kind, path, setting)


def _say_if_any(say: Say, sentence: str) -> None:
    if sentence:
        say(sentence)


LEAST_GREY_LEVELS = 4.0
"""Minimum brightening, in grey levels of 255."""

_NOISE_SIGMAS = 8.0
"""How many standard deviations of noise a light must stand out by."""
_BLUR_SHARE = 0.12
"""Smoothing radius, in squares: about the size of a light seen through a board's top."""
_SECOND_PEAK_SHARE = 0.6
"""A second peak above this share of the strongest one makes the light ambiguous."""
_EDGE_SHARE = 0.12
"""Nearer to a square's edge than this share of its width, the square is doubtful."""
_OUTSIDE_SHARE = 0.5
"""Further off the board than this share of a square, the light belongs to none."""


@dataclass(frozen=True)
class LightLocation:
    """The result for one light.

    ``place`` is its square, ``None`` for none. ``doubt`` is the reason to ask a person, empty when certain.
    """

    place: str | None
    doubt: str = ""


def locate_light(
    off: Sequence[Image], on: Sequence[Image], camera: CameraModel, pose: Pose, layout: TableLayout
) -> LightLocation:
    """Locate the light that shines in the pictures ``on`` and is dark in ``off``.

    ``on[k]`` was taken between ``off[k]`` and ``off[k + 1]``, so there is one more of ``off``. Each is height x width x
    3, uint8, all of one size. Raises ValueError when the numbers don't fit.
    """
    if not on or len(off) != len(on) + 1:
        raise ValueError(f"{len(off)} pictures with the light off and {len(on)} with it on; expected one more of off")
    square_px = _square_px(camera, pose, layout)
    changes = [_change(before, lit, after) for before, lit, after in zip(off, on, off[1:], strict=False)]
    smooth = _smooth_median(changes, square_px)
    noise = max(_noise(smooth), _noise_of_off(off, square_px))
    y, x = np.unravel_index(int(np.argmax(smooth)), smooth.shape)
    peak = float(smooth[y, x])
    if peak < max(LEAST_GREY_LEVELS, _NOISE_SIGMAS * noise):
        return LightLocation(None, "I see no light that goes on and off")
    place, doubt = _place((float(x), float(y)), camera, pose, layout)
    second_peak = _second_peak(smooth, (int(y), int(x)), square_px)
    if second_peak > _SECOND_PEAK_SHARE * peak:
        doubt = "it shines in two places, or is mirrored"
    return LightLocation(place, doubt)


def _change(before: Image, lit: Image, after: Image) -> FloatArray:
    """Return the brightening of each pixel relative to the mean of before and after, in its strongest channel."""
    dark = (before.astype(np.float64) + after.astype(np.float64)) / 2
    bright = lit.astype(np.float64)
    # a lamp or automatic exposure changes everything alike: normalised by the medians
    gain = np.maximum(np.median(dark, axis=(0, 1)), 1.0) / np.maximum(np.median(bright, axis=(0, 1)), 1.0)
    change: FloatArray = bright * gain - dark
    return np.asarray(change.max(axis=-1), dtype=np.float64) if change.ndim == 3 else change


def _noise_of_off(off: Sequence[Image], square_px: float) -> float:
    """Return the strongest change between pictures without the light: people, shadows, a flickering screen."""
    if len(off) < 3:
        return 0.0
    changes = [_change(off[k], off[k + 1], off[k + 2]) for k in range(len(off) - 2)]
    return float(_smooth_median(changes, square_px).max()) / _NOISE_SIGMAS


def _noise(smooth: FloatArray) -> float:
    return MAD_TO_SIGMA * float(np.median(np.abs(smooth - np.median(smooth))))


def _smooth_median(changes: Sequence[FloatArray], square_px: float) -> FloatArray:
    """Return the blurred median of the changes, which lacks what happened only once."""
    median = np.median(np.stack(changes), axis=0).astype(np.float32)
    return np.asarray(cv2.GaussianBlur(median, (0, 0), max(1.0, _BLUR_SHARE * square_px)), dtype=np.float64)


def _second_peak(smooth: FloatArray, peak: tuple[int, int], square_px: float) -> float:
    """Return the strongest change more than a square away from the peak."""
    rows, columns = np.ogrid[: smooth.shape[0], : smooth.shape[1]]
    away = (rows - peak[0]) ** 2 + (columns - peak[1]) ** 2 > square_px**2
    return float(smooth[away].max()) if away.any() else 0.0


def _square_px(camera: CameraModel, pose: Pose, layout: TableLayout) -> float:
    """Return the approximate width of a square in the middle of the board, in pixels."""
    half = layout.board.cell_mm / 2
    ends = project(camera, pose, [[-half, 0.0, layout.board.height_mm], [half, 0.0, layout.board.height_mm]])
    return float(np.linalg.norm(ends[1] - ends[0]))


def _place(pixel: tuple[float, float], camera: CameraModel, pose: Pose, layout: TableLayout) -> tuple[str | None, str]:
    """Return the square of a pixel, and why it may be wrong."""
    board = layout.board
    point_mm = back_project(camera, pose, [pixel], board.height_mm)[0, :2]
    offsets = np.abs(board.centres_mm - point_mm) / board.cell_mm
    nearest = int(np.argmin(np.linalg.norm(offsets, axis=1)))
    place, off_centre = board.places[nearest], float(offsets[nearest].max())
    if off_centre > 0.5 + _OUTSIDE_SHARE:
        return None, "it shines beside the board: the status light?"
    if off_centre > 0.5:
        return place, "it shines on the edge of the board"
    if off_centre > 0.5 - _EDGE_SHARE:
        return place, "it shines between two squares"
    return place, ""
