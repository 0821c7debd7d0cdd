"""The hand monitor: which places a hand hides, and when it cannot tell."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
import numpy.typing as npt
import pytest

from tests.vision.conftest import RenderTable
from vision.frame import Frame, Image
from vision.geometry import CameraModel, Pose, project
from vision.layout.pieces import Tray, named_places
from vision.layout.table import TableLayout, default_layout
from vision.motion.hands import HandDetection, HandDetector, HandMonitor, HandSettings
from vision.reading import Hindrance, HindranceKind, PlaceReading, Reading

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
