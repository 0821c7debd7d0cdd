"""A change is noticed at its place and nowhere else, however slowly it comes."""

import functools
import math
from dataclasses import replace
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt
import pytest

from benchmarks.scene.processing import banded, garbled, rounded
from tests.effort import some
from tests.vision.conftest import RenderTable
from vision.frame import Frame, Image
from vision.geometry import CameraModel, Pose, Rectangle, project
from vision.layout.pieces import Tray, named_places
from vision.layout.table import TableLayout, default_layout
from vision.locating.markers import SharedPicture
from vision.motion.changes import ChangeDetector, ChangeGate, marker_region, surface_region
from vision.motion.hands import HandDetection, HandDetector, HandMonitor, HandSettings
from vision.readers import surface_reader
from vision.readers.surface_reader import StillnessSettings, StillThings
from vision.reading import Hindrance, HindranceKind, PlaceReading, Reading
from vision.sampling import SHRINK, shrink
from vision.surface.occlusion import Occlusion


@pytest.fixture
def watcher(layout: TableLayout, camera: CameraModel, pose: Pose) -> ChangeDetector:
    return ChangeDetector(layout, camera, pose, {})


@pytest.fixture
def picture(camera: CameraModel) -> Image:
    return np.full((camera.size[1], camera.size[0], 3), 90, dtype=np.uint8)


def at(camera, pose, middle_mm, z):
    return tuple(int(value) for value in np.round(project(camera, pose, [[*middle_mm, z]])[0]))


def test_the_first_picture_changes_every_region_and_its_repetition_none(watcher, picture, layout):
    regions = {*layout.places, *(marker_region(marker_id) for marker_id in layout.markers.centres_mm)}
    assert watcher.changed(shrink(picture)) == regions
    assert watcher.changed(shrink(picture.copy())) == set()


def test_noise_changes_nothing(watcher, picture):
    random = np.random.default_rng(5)
    noisy = lambda: np.clip(picture + random.normal(0, 6, picture.shape), 0, 255).astype(np.uint8)  # noqa: E731
    watcher.changed(shrink(noisy()))
    assert all(watcher.changed(shrink(noisy())) == set() for _ in range(3))


@pytest.mark.parametrize("place", ["a1", "d4", "g7"])
def test_a_change_is_noticed_in_its_place_and_once(watcher, picture, layout, camera, pose, place):
    watcher.changed(shrink(picture))
    changed = picture.copy()
    cv2.circle(changed, at(camera, pose, layout.centre_mm(place), layout.board.height_mm), 5, (200, 90, 40), -1)
    seen = watcher.changed(shrink(changed))
    assert place in seen
    assert len(seen) <= 4, "only neighbours whose blocks would stand before it"
    assert watcher.changed(shrink(changed)) == set()
    assert place in watcher.changed(shrink(picture))


def test_a_change_at_a_marker_is_reported_as_the_markers_region(watcher, picture, layout, camera, pose):
    watcher.changed(shrink(picture))
    changed = picture.copy()
    x, y = layout.markers.centres_mm[2]
    cv2.circle(changed, at(camera, pose, (x, y), layout.markers.z_mm), 6, (250, 250, 250), -1)
    assert watcher.changed(shrink(changed)) == {marker_region(2)}


def test_a_slow_change_is_noticed_once_it_has_added_up(watcher, picture, layout, camera, pose):
    watcher.changed(shrink(picture))
    middle = at(camera, pose, layout.centre_mm("c3"), layout.board.height_mm)
    noticed = []
    for level in range(90, 120, 3):
        picture = picture.copy()
        cv2.circle(picture, middle, 8, (level, level, level), -1)
        noticed.append("c3" in watcher.changed(shrink(picture)))
    assert not noticed[1], "three levels are noise"
    assert 2 <= sum(noticed) <= 4


def test_a_change_beside_the_board_concerns_no_place(watcher, picture):
    watcher.changed(shrink(picture))
    changed = picture.copy()
    changed[:8, :8] = 255
    assert watcher.changed(shrink(changed)) == set()


def test_changes_are_found_in_grey_pictures(watcher, picture, layout, camera, pose):
    grey = np.ascontiguousarray(picture[..., 0])
    watcher.changed(shrink(grey))
    changed = grey.copy()
    cv2.circle(changed, at(camera, pose, layout.centre_mm("d4"), layout.board.height_mm), 5, 200, -1)
    assert "d4" in watcher.changed(shrink(changed))


def blocks_of(picture, column, row, levels):
    """The picture with a row of squares, a pixel each of the small picture, that many levels brighter."""
    changed = picture.copy()
    for number, brighter in enumerate(levels):
        left, top = (column // SHRINK + number) * SHRINK, row // SHRINK * SHRINK
        changed[top : top + SHRINK, left : left + SHRINK] += np.uint8(brighter)
    return changed


@pytest.mark.parametrize(
    ("levels", "is_noticed"), [((60,), False), ((10, 10), True), ((9, 9), False), ((60, 9), False), ((60, 10), True)]
)
def test_two_pixels_of_the_small_picture_that_differ_by_ten_levels_are_a_change(
    watcher, picture, layout, camera, pose, levels, is_noticed
):
    watcher.changed(shrink(picture))
    column, row = at(camera, pose, layout.centre_mm("d4"), layout.board.height_mm)
    assert ("d4" in watcher.changed(shrink(blocks_of(picture, column, row, levels)))) == is_noticed


@pytest.mark.parametrize(("out", "is_noticed"), [(0.9, True), (1.2, True), (1.6, False)])
def test_a_marker_is_watched_with_its_white_border(watcher, picture, layout, camera, pose, out, is_noticed):
    watcher.changed(shrink(picture))
    (x, y), half = layout.markers.centres_mm[1], layout.markers.side_mm / 2
    column, row = at(camera, pose, (x + out * half, y), layout.markers.z_mm)
    changed = picture.copy()
    cv2.circle(changed, (column, row), 2, (250, 250, 250), -1)
    assert (marker_region(1) in watcher.changed(shrink(changed))) == is_noticed


def test_a_tray_is_watched_as_a_whole_up_to_its_edge(picture, layout, camera, pose):
    tray = Tray("tray", Rectangle(-60.0, 60.0, -40.0, 40.0))
    watcher = ChangeDetector(TableLayout("dice", layout.markers, (tray,)), camera, pose, {})
    assert surface_region("tray") in watcher.changed(shrink(picture))
    for x, y, expected in ((50.0, 30.0, {surface_region("tray")}), (75.0, 0.0, set()), (0.0, 55.0, set())):
        changed = picture.copy()
        cv2.circle(changed, at(camera, pose, (x, y), 0.0), 4, (200, 90, 40), -1)
        assert watcher.changed(shrink(changed)) == expected
        watcher.changed(shrink(picture))


@pytest.mark.parametrize(("away_mm", "is_noticed"), [(10.0, True), (24.0, True), (60.0, False)])
@pytest.mark.parametrize("side", [(-1, 0), (1, 0), (0, -1), (0, 1)])
def test_a_hand_beside_the_places_changes_the_margin(layout, camera, pose, picture, side, away_mm, is_noticed):
    name, half = layout.board.name, layout.board.bounds_mm.width_mm / 2
    watcher = ChangeDetector(layout, camera, pose, {name: 30.0})
    assert surface_region(name) in watcher.changed(shrink(picture))
    changed = picture.copy()
    middle = [(half + away_mm) * one for one in side]
    cv2.circle(changed, at(camera, pose, middle, layout.board.height_mm), 8, (90, 120, 190), -1)
    assert (surface_region(name) in watcher.changed(shrink(changed))) == is_noticed


def test_specks_beside_the_places_are_ignored(layout, camera, pose, picture):
    watcher = ChangeDetector(layout, camera, pose, {layout.board.name: 30.0})
    watcher.changed(shrink(picture))
    beside = layout.board.bounds_mm.right_mm + 15.0
    column, row = at(camera, pose, (beside, 0.0), layout.board.height_mm)
    picture[row - 2 : row + 2, column - 2 : column + 2] = 250
    assert surface_region(layout.board.name) not in watcher.changed(shrink(picture))


@pytest.mark.parametrize("side", ["left", "right", "top", "bottom"])
def test_a_place_at_the_pictures_edge_is_watched_as_far_as_it_is_visible(layout, camera, pose, picture, side):
    middle = project(camera, pose, [[*layout.centre_mm("d4"), layout.board.height_mm]])[0]
    width, height = camera.size
    shift = {
        "left": (-middle[0], 0.0),
        "right": (width - 1 - middle[0], 0.0),
        "top": (0.0, -middle[1]),
        "bottom": (0.0, height - 1 - middle[1]),
    }[side]
    matrix = camera.matrix.copy()
    matrix[:2, 2] += shift
    beside = CameraModel(matrix, camera.distortion, camera.size)
    watcher = ChangeDetector(layout, beside, pose, {})
    watcher.changed(shrink(picture))
    column, row = np.clip(np.round(middle + shift), 6, [width - 7, height - 7]).astype(int).tolist()
    changed = picture.copy()
    cv2.circle(changed, (column, row), 5, (220, 60, 30), -1)
    seen = watcher.changed(shrink(changed))
    assert "d4" in seen
    assert not {"a1", "a7", "g1", "g7"} & seen


@pytest.mark.parametrize("channel", range(3))
def test_a_change_of_a_single_colour_is_noticed(watcher, picture, layout, camera, pose, channel):
    watcher.changed(shrink(picture))
    changed = picture.copy()
    colour = [90, 90, 90]
    colour[channel] = 140
    cv2.circle(changed, at(camera, pose, layout.centre_mm("d4"), layout.board.height_mm), 6, colour, -1)
    assert "d4" in watcher.changed(shrink(changed))


# Only changed pictures are read again, and still pictures with a hindrance after a short time.


class Gated:
    """A reader behind a gate."""

    def __init__(self, reader: Any, *, reads_movement: bool = False) -> None:
        self.reader, self.gate = reader, ChangeGate(reads_movement=reads_movement)

    def read(self, frame: Frame) -> Reading:
        return self.gate.reading(
            frame, SharedPicture(frame.image), lambda frame, _: self.reader.read(frame), self.reader.invalidate_cache
        )


class Counting:
    """Gives the same reading for every frame and counts them."""

    def __init__(self) -> None:
        self.read_frames: list[int] = []
        self.afresh: list[int] = []

    def invalidate_cache(self) -> None:
        self.afresh.append(len(self.read_frames))

    def read(self, frame: Frame) -> Reading:
        self.read_frames.append(frame.sequence)
        return Reading(frame.sequence, frame.time_s, {"a1": PlaceReading({"empty": 1.0})})


@pytest.fixture
def counting() -> Counting:
    return Counting()


def picture_change_gate(seed: int, brightness: float = 1.0, block_at: int | None = None) -> Image:
    rows = np.linspace(60, 180, 180)[:, None, None] * np.ones((1, 320, 3))
    noise = np.random.default_rng(seed).normal(0, 4, rows.shape)
    if block_at is not None:
        rows[80:104, block_at : block_at + 24] = 240
    return np.asarray(np.clip(rows * brightness + noise, 0, 255), dtype=np.uint8)


def feed(reader: Gated, pictures: list[Image], fps: float = 10.0) -> list[Reading]:
    return [reader.read(Frame(image, number / fps, number)) for number, image in enumerate(pictures)]


def test_a_still_picture_is_read_only_a_few_times(counting: Counting) -> None:
    reader = Gated(counting)
    readings = feed(reader, [picture_change_gate(seed) for seed in range(12)])
    assert counting.read_frames == [0, 1]
    assert [reading.sequence for reading in readings] == list(range(12))
    assert [reading.time_s for reading in readings] == [number / 10 for number in range(12)]


def test_a_still_picture_is_read_again_from_time_to_time(counting: Counting) -> None:
    reader = Gated(counting)
    feed(reader, [picture_change_gate(seed) for seed in range(12)], fps=1.0)
    assert counting.read_frames == [0, 1, 4, 7, 10]


def test_a_moving_picture_is_not_read(counting: Counting) -> None:
    reader = Gated(counting)
    still = [picture_change_gate(seed) for seed in range(3)]
    moving = [picture_change_gate(3 + step, block_at=40 + 20 * step) for step in range(5)]
    rest = [picture_change_gate(20 + seed, block_at=200) for seed in range(3)]
    readings = feed(reader, still + moving + rest)
    assert all(reading.hindered_by(HindranceKind.BAD_FRAME) for reading in readings[3:5]), "perhaps only damaged"
    assert all(reading.hindered_by(HindranceKind.HAND) for reading in readings[5:9])
    assert not readings[9].hindrances
    assert counting.read_frames == [0, 1, 9, 10]


def test_after_movement_every_place_is_read_anew(counting: Counting) -> None:
    reader = Gated(counting)
    still = [picture_change_gate(seed) for seed in range(3)]
    moving = [picture_change_gate(3 + step, block_at=40 + 20 * step) for step in range(3)]
    feed(reader, [*still, *moving, *(picture_change_gate(6 + seed) for seed in range(3))])
    assert counting.afresh == [2], "before the next reading"
    assert counting.read_frames == [0, 1, 6, 7]


def test_a_lamp_that_dims_is_no_movement(counting: Counting) -> None:
    reader = Gated(counting)
    readings = feed(reader, [picture_change_gate(seed, brightness=1 - 0.01 * seed) for seed in range(12)])
    assert not any(reading.hindrances for reading in readings)


def test_after_a_few_unusable_frames_the_reading_is_kept_and_after_many_every_place_is_read_anew(
    counting: Counting,
) -> None:
    reader = Gated(counting)
    feed(reader, [picture_change_gate(seed) for seed in range(4)])
    for number, (unusable, read_frames) in enumerate([(2, [0, 1]), (3, [0, 1, 20])]):
        frames = [Frame(picture_change_gate(9), 0.4, 10 * (number + 1)) for _ in range(unusable)]
        left_out = [reader.gate.left_out(frame, "it is black") for frame in frames]
        assert [one.hindrances[0].message for one in left_out] == ["it is black"] * unusable
        assert reader.read(Frame(picture_change_gate(9), 0.5, 10 * (number + 1))).places
        assert counting.read_frames == read_frames
    assert counting.afresh == [2]


# What a camera does by itself.


def gate_table(seed: int) -> Image:
    """A board on a table, with noise."""
    picture = np.full((360, 640, 3), (60, 90, 120), dtype=np.float64)
    picture[60:300, 200:440] = (150, 190, 210)
    picture[120:180, 260:320] = (150, 120, 30)
    return np.asarray(np.clip(picture + np.roll(gate_noise(), 7919 * seed), 0, 255), dtype=np.uint8)


@functools.cache
def gate_noise() -> npt.NDArray[np.float64]:
    return np.random.default_rng(3).normal(0, 4, (360, 640, 3))


def damaged_visibly(picture: Image, rng: np.random.Generator) -> Image:
    """A garbled, torn or green picture; damage that hardly shows, such as that of a JPEG's end, does no harm."""
    while True:
        damaged, row, kind = picture.copy(), int(rng.integers(20, 320)), int(rng.integers(3))
        if kind == 0:
            damaged = garbled(picture, rng)
        else:
            damaged[row:] = (0, 135, 0) if kind == 1 else picture[::-1][row:]
        if np.mean(cv2.absdiff(cv2.blur(damaged, (9, 9)), cv2.blur(picture, (9, 9))) > 20) > 0.01:
            return damaged


def in_bands(picture: Image, time_s: float, depth: float = 0.15, periods: float = 3.3) -> Image:
    """A picture in the light of a lamp on mains, whose bands wander."""
    return rounded(banded(picture.astype(np.float32), depth, 2 * np.pi * 100.2 * time_s, periods))


@pytest.mark.parametrize("every", some([2, 3, 5], 1))
def test_damaged_frames_are_left_out_and_the_table_stays_at_rest(counting: Counting, every: int) -> None:
    rng = np.random.default_rng([every, 1])
    frames = [gate_table(seed) for seed in range(45)]
    damaged = range(every, len(frames), every)
    for number in damaged:
        frames[number] = damaged_visibly(frames[number], rng)
    readings = feed(Gated(counting), frames, fps=15.0)
    assert not counting.afresh
    assert not set(counting.read_frames) & set(damaged)
    for number, reading in enumerate(readings):
        assert [one.kind for one in reading.hindrances] == ([HindranceKind.BAD_FRAME] if number in damaged else [])


def test_damage_to_most_of_a_picture_is_no_noise_and_no_light(counting: Counting) -> None:
    frames = [gate_table(seed) for seed in range(6)]
    frames[4][40:] //= 4
    readings = feed(Gated(counting), frames)
    assert [bool(reading.hindrances) for reading in readings] == [False] * 4 + [True, False]


def test_an_old_frame_that_comes_again_and_again_confirms_nothing(counting: Counting) -> None:
    old = np.ascontiguousarray(gate_table(99)[::-1])
    frames = [old if number >= 20 and number % 2 else gate_table(number) for number in range(40)]
    readings = feed(Gated(counting), frames, fps=15.0)
    assert [number for number, one in enumerate(readings) if one.hindrances] == list(range(21, 40, 2))


def test_a_table_that_rests_between_damaged_frames_is_read(counting: Counting) -> None:
    rng = np.random.default_rng(2)
    after = [np.ascontiguousarray(gate_table(seed)[:, ::-1]) for seed in range(20)]
    frames = [gate_table(seed) for seed in range(5)]
    frames += [damaged_visibly(one, rng) if number % 3 else one for number, one in enumerate(after)]
    readings = feed(Gated(counting), frames, fps=15.0)
    assert [number for number, one in enumerate(readings) if not one.hindrances] == [
        0,
        1,
        2,
        3,
        4,
        8,
        11,
        14,
        17,
        20,
        23,
    ]
    assert counting.afresh


@pytest.mark.parametrize("bands", some([1.0, 3.3, 7.0], 1))
@pytest.mark.parametrize("strength", [0.05, 0.15])
def test_bands_of_mains_light_are_said_and_taken_out_of_what_is_read(strength: float, bands: float) -> None:
    seen: list[Image] = []

    def read(frame: Frame, _: SharedPicture) -> Reading:
        seen.append(frame.image)
        # it is read again soon
        return Reading(frame.sequence, frame.time_s, {}, (Hindrance(HindranceKind.OBJECT, "a coin is on a1", ("a1",)),))

    gate, notices = ChangeGate(), []
    for number in range(50):
        picture = in_bands(gate_table(number), number / 15, strength, bands)
        reading = gate.reading(Frame(picture, number / 15, number), SharedPicture(picture), read, lambda: None)
        notices.append(reading.notices)
        if number > 20:
            assert [one.kind for one in reading.hindrances] == [HindranceKind.OBJECT]
    assert any("The lamp flickers" in notice for notice in notices[20])
    rows = [picture[:, 20:180].mean(axis=(1, 2)) / gate_table(0)[:, 20:180].mean(axis=(1, 2)) for picture in seen[-2:]]
    assert np.std(rows[0] - rows[1]) < 0.3 * strength
    assert max(np.std(each) for each in rows) < 0.35 * strength


def test_a_change_is_noticed_between_bands_and_a_steady_lamp_is_not_named(counting: Counting) -> None:
    reader = Gated(counting)
    frames = [in_bands(gate_table(number), number / 15) for number in range(50)]
    for frame in frames[40:]:
        frame[200:230, 600:630] = 250
    feed(reader, frames, fps=15.0)
    assert {41, 42, 43, 44} & set(counting.read_frames)
    assert counting.afresh
    later = [reader.read(Frame(gate_table(number), number / 15, number)) for number in range(50, 210)]
    assert later[0].notices
    assert not later[-1].notices
    steady = feed(Gated(Counting()), [gate_table(number) for number in range(20)], fps=15.0)
    assert not any(reading.notices for reading in steady)


def test_a_camera_with_noise_that_gives_the_same_frame_again_and_again_hangs(counting: Counting) -> None:
    frames = [gate_table(min(number, 20)) for number in range(80)] + [gate_table(number) for number in range(5)]
    readings = feed(Gated(counting), frames, fps=15.0)
    assert not any(reading.hindrances for reading in readings[:21])
    assert all(reading.hindered_by(HindranceKind.BAD_FRAME) for reading in readings[21:50]), "a few may repeat"
    assert all(reading.hindered_by(HindranceKind.FROZEN) for reading in readings[50:80])
    assert all("the same picture again and again" in reading.notices[0] for reading in readings[50:80])
    assert not any(reading.hindrances or reading.notices for reading in readings[80:])
    assert counting.read_frames[-2:] == [80, 81], "anything may have happened meanwhile"


def test_drawn_pictures_may_repeat(counting: Counting) -> None:
    readings = feed(Gated(counting), [np.full((90, 160, 3), 120, dtype=np.uint8)] * 90, fps=15.0)
    assert not any(reading.hindrances or reading.notices for reading in readings)


def test_grey_pictures_are_accepted(counting: Counting) -> None:
    reader = Gated(counting)
    assert feed(reader, [picture_change_gate(0)[:, :, 0]])[0].places


class SeesAHandUntil:
    """Reports a hand until a given frame."""

    def __init__(self, gone: int) -> None:
        self.gone = gone
        self.read_frames: list[int] = []

    def read(self, frame: Frame) -> Reading:
        self.read_frames.append(frame.sequence)
        hand = (Hindrance(HindranceKind.HAND, "a hand is over d1", ("d1",)),) if frame.sequence < self.gone else ()
        return Reading(frame.sequence, frame.time_s, {}, hand)

    def invalidate_cache(self) -> None:
        """Do nothing."""


def test_the_end_of_a_hindrance_is_noticed_soon_on_a_still_picture() -> None:
    inner = SeesAHandUntil(gone=3)
    reader = Gated(inner)
    still = np.full((90, 160, 3), 120, dtype=np.uint8)
    readings = [reader.read(Frame(still, number / 8, number)) for number in range(12)]
    assert inner.read_frames == [0, 1, 3]
    assert [bool(reading.hindrances) for reading in readings] == [True] * 3 + [False] * 9


def test_while_something_moves_places_are_read_only_if_asked_for(counting: Counting) -> None:
    pictures = [picture_change_gate(0), *(picture_change_gate(step, block_at=60 * step) for step in range(1, 4))]
    for reads_movement in (False, True):
        reading = feed(Gated(counting, reads_movement=reads_movement), pictures)[-1]
        assert bool(reading.places) is reads_movement
        assert [one.kind for one in reading.hindrances] == [HindranceKind.HAND]
        assert (reading.sequence, reading.time_s) == (3, 0.3)


# The hand monitor: which places a hand hides, and when it cannot tell.

STEP_S = 0.1


class MonitoredTable:
    """Frames of a table under a still camera, and the monitor's reading of each."""

    def __init__(self, layout: TableLayout, camera: CameraModel, pose: Pose, board: Image) -> None:
        self.layout, self.camera, self.pose, self.board = layout, camera, pose, board
        self.monitor = HandMonitor(camera, layout.board, HandSettings())
        self.time_s = 10.0
        for _ in range(10):
            assert not self.show(board).hindrances

    def show(self, image: Image, step_s: float = STEP_S, pose: Pose | None = None) -> Reading:
        self.time_s += step_s
        places = {place: PlaceReading({"empty": 0.75, "disc": 0.25}) for place in self.layout.places}
        frame = Frame(image, self.time_s, round(self.time_s * 10), "")
        return self.monitor.with_hand(frame, pose or self.pose, Reading(frame.sequence, frame.time_s, places))

    def over(self, left: float, right: float, near: float, far: float) -> Image:
        """The board with a grey card over a part of it, in mm."""
        image = self.board.copy()
        corners = [[left, near, 20], [right, near, 20], [right, far, 20], [left, far, 20]]
        cv2.fillConvexPoly(image, np.round(project(self.camera, self.pose, corners)).astype(np.int32), (90, 130, 160))
        return image


@pytest.fixture
def shown(layout: TableLayout, camera: CameraModel, pose: Pose, render_table: RenderTable) -> MonitoredTable:
    return MonitoredTable(layout, camera, pose, render_table(pose, noise=0.0))


def test_the_places_under_an_arm_are_named_and_hidden(shown: MonitoredTable) -> None:
    reading = shown.show(shown.over(-20, 600, -20, 60))
    (hand,) = reading.hindrances
    assert hand.kind is HindranceKind.HAND
    assert {"e4", "f4", "g4", "e5", "f5"} <= set(hand.places)
    assert not {"a1", "b6", "c2", "a4", "d1", "g1", "d7", "g7"} & set(hand.places)
    assert hand.message == f"a hand or arm is over {named_places(shown.layout.board, hand.places)}"
    for place, one in reading.places.items():
        assert one.hidden_by == (HindranceKind.HAND if place in hand.places else None)
        assert one.probabilities["disc"] == (0.5 if place in hand.places else 0.25)
    assert not shown.show(shown.board).hindrances


def test_places_are_outlined_once_until_the_camera_moves(
    shown: MonitoredTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    outlined = []
    pixels_inside = HandDetector.pixels_inside

    def noting(self: HandDetector, outline_px: npt.ArrayLike) -> npt.NDArray[np.intp]:
        outlined.append(outline_px)
        return pixels_inside(self, outline_px)

    monkeypatch.setattr(HandDetector, "pixels_inside", noting)
    for _ in range(3):
        assert shown.show(shown.over(-20, 600, -20, 60)).hindrances
    assert len(outlined) == len(shown.layout.places)
    moved = replace(shown.pose, translation=shown.pose.translation + np.array([20.0, 0.0, 0.0]))
    for _ in range(10):
        shown.show(shown.board, pose=moved)
    assert shown.show(shown.over(-20, 600, -20, 60), pose=moved).hindrances
    assert len(outlined) == 2 * len(shown.layout.places)


def test_no_hand_is_looked_for_on_a_board_outside_the_picture(shown: MonitoredTable) -> None:
    beside = replace(shown.pose, translation=shown.pose.translation + np.array([600.0, 0.0, 0.0]))
    for _ in range(3):
        assert not shown.show(shown.board, pose=beside).hindrances


def test_an_arm_that_hides_no_place_is_reported_at_the_edge(shown: MonitoredTable) -> None:
    shown.monitor = HandMonitor(shown.camera, shown.layout.board, HandSettings(hidden_share=1.0))
    for _ in range(10):
        shown.show(shown.board)
    (hand,) = shown.show(shown.over(110, 600, -20, 20)).hindrances
    assert hand.message == "a hand or arm is at the edge of the board"
    assert hand.places == ()


def test_an_arm_over_a_tray_is_reported_by_the_name_of_the_tray(shown: MonitoredTable) -> None:
    board = shown.layout.board
    shown.monitor = HandMonitor(shown.camera, Tray("dice tray", board.bounds_mm, board.height_mm), HandSettings())
    for _ in range(10):
        shown.show(shown.board)
    (hand,) = shown.show(shown.over(-20, 600, -20, 60)).hindrances
    assert hand.message == "a hand or arm is over the dice tray"


@pytest.mark.parametrize(("step_s", "tells"), [(0.39, True), (0.41, False), (0.0, False), (-1.0, False)])
def test_frames_too_far_apart_or_out_of_order_show_no_hand(shown: MonitoredTable, step_s: float, tells: bool) -> None:
    assert bool(shown.show(shown.over(-20, 600, -20, 60), step_s).hindrances) == tells


@pytest.mark.parametrize(("shift_px", "tells"), [(2.5, True), (3.5, False)])
def test_hand_detection_starts_again_if_the_camera_moved_by_more_than_three_pixels(
    shown: MonitoredTable, shift_px: float, tells: bool
) -> None:
    depth_mm = float(shown.pose.translation[2])
    shift_mm = shift_px * depth_mm / float(shown.camera.matrix[0, 0])
    corners = shown.layout.board.bounds_mm.corners_mm(shown.layout.board.height_mm)
    moved = Pose(shown.pose.rotation, shown.pose.translation + np.array([shift_mm, 0.0, 0.0]))
    off = np.abs(project(shown.camera, moved, corners) - project(shown.camera, shown.pose, corners)).max()
    moved = Pose(shown.pose.rotation, shown.pose.translation + np.array([shift_mm * shift_px / off, 0.0, 0.0]))
    assert bool(shown.show(shown.over(-20, 600, -20, 60), pose=moved).hindrances) == tells


@pytest.mark.parametrize(
    ("game", "hidden", "expected"),
    [
        ("blokus-dice", False, True),
        ("number-drop", False, True),
        ("number-drop", True, False),
        ("deblockle", False, False),
    ],
)
def test_only_a_sheet_whose_print_all_shows_is_certainly_in_sight(
    *, game: str, hidden: bool, expected: bool, camera: CameraModel, pose: Pose, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = []
    update = HandDetector.update

    def noting(
        self: HandDetector, image: Image, time_s: float, *, in_sight: bool = False, small: Image | None = None
    ) -> HandDetection:
        told.append(in_sight)
        return update(self, image, time_s, in_sight=in_sight, small=small)

    monkeypatch.setattr(HandDetector, "update", noting)
    monitor = HandMonitor(camera, default_layout(game).board, HandSettings())
    frame = Frame(np.full((camera.size[1], camera.size[0], 3), 200, np.uint8), 1.0, 1, "")
    card = Hindrance(HindranceKind.OBJECT, "an object is over a1", ("a1",))
    monitor.with_hand(frame, pose, Reading(1, 1.0, {}, (card,) * hidden))
    assert told == [expected]


# What looks like a hand and has not moved for long is an object, and hides more around it.

HAND, OBJECT = HindranceKind.HAND, HindranceKind.OBJECT


def thing(column: int, kind: HindranceKind = HAND, side: int = 20) -> Occlusion:
    """A square thing from that column on."""
    pixels = np.zeros((60, 120), dtype=np.bool_)
    pixels[20 : 20 + side, column : column + side] = True
    return Occlusion(kind, pixels, float(side * side))


@pytest.fixture
def still(monkeypatch: pytest.MonkeyPatch) -> StillThings:
    monkeypatch.setattr(surface_reader, "_STILLNESS_SETTINGS", StillnessSettings(still_s=10.0))
    return StillThings(2)


def kinds(still: StillThings, things: list[Occlusion], time_s: float) -> list[HindranceKind]:
    return [one.kind for one in still.judged(things, time_s)]


def test_a_hand_that_does_not_move_becomes_an_object_and_stays_one(still: StillThings) -> None:
    assert still.due_s == math.inf
    assert [kinds(still, [thing(10)], time_s) for time_s in (5.0, 14.9, 15.0, 99.0)] == [
        [HAND],
        [HAND],
        [OBJECT],
        [OBJECT],
    ]


def test_it_is_due_when_it_has_lain_still_for_long_enough(still: StillThings) -> None:
    still.judged([thing(10)], 5.0)
    still.judged([thing(10), thing(60)], 8.0)
    assert still.due_s == 15.0
    still.judged([thing(10), thing(60)], 15.0)
    assert still.due_s == 18.0
    still.judged([thing(10), thing(60)], 18.0)
    assert still.due_s == math.inf


def test_a_hand_that_moves_slowly_stays_a_hand(still: StillThings) -> None:
    for second in range(60):
        # each step is within what counts as the same
        assert kinds(still, [thing(10 + second // 4)], float(second)) == [HAND]


def test_a_hand_that_was_gone_starts_anew(still: StillThings) -> None:
    still.judged([thing(10)], 0.0)
    still.judged([], 1.0)
    assert kinds(still, [thing(10)], 10.5) == [HAND]


def test_each_hand_is_followed_by_itself(still: StillThings) -> None:
    assert kinds(still, [thing(10), thing(60)], 0.0) == [HAND, HAND]
    assert kinds(still, [thing(70), thing(10), thing(100, OBJECT)], 10.0) == [HAND, OBJECT, OBJECT]


def test_an_object_hides_its_edge_too(still: StillThings) -> None:
    still.judged([thing(10)], 0.0)
    hidden = still.judged([thing(10)], 10.0)[0]
    assert np.array_equal(hidden.pixels, thing(8, side=24).pixels[[*range(2, 60), 0, 1]])
    assert hidden.area_mm2 == 400.0
    assert not thing(10).pixels[19, 10]
