"""Readings of one surface: doubtful pieces, empty places and what hides them."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

import cv2
import numpy as np
import pytest

from tests.vision.conftest import RenderTable
from tests.vision.readers.ink import sheets
from vision.frame import Image
from vision.geometry import CameraModel, CubeSolid, Pose, outline_px, project
from vision.layout.pieces import named_places
from vision.layout.table import TableLayout, default_layout
from vision.readers.ink.appearance import plain_appearance
from vision.readers.ink.reader import InkReader
from vision.readers.protocols import SurfaceView
from vision.readers.table_reader import FLAT_LOG_ODDS, SurfaceReader
from vision.reading import HindranceKind
from vision.surface.occlusion import Occlusion


@dataclass(frozen=True)
class Doubtful:
    place: str
    solid: CubeSolid
    log_odds: float
    is_clear: bool = False
    sides: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    heights: Mapping[int, float] = field(default_factory=dict)
    tops_mm: Mapping[int, tuple[float, float]] = field(default_factory=dict)
    picture: None = None

    def look_probabilities(self) -> Mapping[str, float]:
        return {"block": 1.0}


@dataclass
class OneDoubtful:
    """Finds one piece, on d4, with these odds."""

    solid: CubeSolid
    log_odds: float
    looks: tuple[str, ...] = ("block",)
    asked: list[int] = field(default_factory=list)

    def read(
        self, view: SurfaceView, places: Collection[str], previous: Mapping[str, Doubtful]
    ) -> Mapping[str, Doubtful]:
        self.asked.append(len(places))
        return {"d4": Doubtful("d4", self.solid, self.log_odds)}

    def draw(self, picture: Image, view: SurfaceView, sightings: Mapping[str, Doubtful]) -> Image:
        return picture


@pytest.fixture
def solid(layout: TableLayout) -> CubeSolid:
    x, y = layout.centre_mm("d4")
    return CubeSolid(x, y, layout.board.height_mm, 30.0)


def test_a_doubtful_piece_on_a_covered_surface_stays_doubtful_and_its_place_is_hidden(
    render_table: RenderTable, layout: TableLayout, camera: CameraModel, pose: Pose, solid: CubeSolid
) -> None:
    image = render_table(pose)
    cv2.fillConvexPoly(image, np.round(outline_px(solid, camera, pose)).astype(np.int32), (60, 90, 170))
    view = SurfaceView(image, camera, pose, layout.board)
    doubtful, seen = (SurfaceReader(camera, layout.board, OneDoubtful(solid, odds)) for odds in (-2.0, 0.5))
    stages = doubtful.stages(view, layout.places, None)
    places, _ = doubtful.places(stages, 0.0)
    assert stages.sightings["d4"].log_odds == -2.0
    assert places["d4"].hidden_by is HindranceKind.OBJECT
    stages = seen.stages(view, layout.places, None)
    places, hindrances = seen.places(stages, 0.0)
    assert len(stages.occlusions) == 0
    assert places["d4"].best[0] == "block"
    assert hindrances == ()
    assert set(places) == set(layout.places)


def test_a_doubtful_piece_on_a_bare_board_stays_doubtful(
    render_table: RenderTable, layout: TableLayout, camera: CameraModel, pose: Pose, solid: CubeSolid
) -> None:
    reader = SurfaceReader(camera, layout.board, OneDoubtful(solid, -2.0))
    stages = reader.stages(SurfaceView(render_table(pose), camera, pose, layout.board), layout.places, None)
    assert stages.sightings["d4"].log_odds == -2.0
    places, hindrances = reader.places(stages, 0.0)
    assert places["d4"].best[0] == "empty"
    assert places["a1"].best[0] == "empty"
    assert hindrances == ()
    again, _ = reader.places(stages, 0.0)
    assert again["d4"] is places["d4"], "an unchanged sighting gives the same reading"
    hidden = reader.hidden(HindranceKind.GLARE)
    assert set(hidden) == set(layout.places)
    assert {one.hidden_by for one in hidden.values()} == {HindranceKind.GLARE}
    assert hidden["d4"].probabilities == {"empty": 0.5, "block": 0.5}


def test_empty_places_are_less_certain_and_doubtful_pieces_less_likely_if_pieces_are_flat(
    render_table: RenderTable, layout: TableLayout, camera: CameraModel, pose: Pose, solid: CubeSolid
) -> None:
    flat = replace(layout.board, pieces=default_layout("diaballik").board.pieces)
    image = render_table(pose)
    tall_places, flat_places = (
        reader.places(reader.stages(SurfaceView(image, camera, pose, surface), layout.places, None), 0.0)[0]
        for surface in (layout.board, flat)
        for reader in [SurfaceReader(camera, surface, OneDoubtful(solid, -2.0))]
    )
    for place in layout.places:
        tall, low = (math.log(1 / one[place].probabilities["empty"] - 1) for one in (tall_places, flat_places))
        if place == "d4":
            assert low < tall == pytest.approx(-2.0, abs=0.01)
        else:
            assert low == pytest.approx(tall + FLAT_LOG_ODDS, abs=0.01)


def test_a_hand_over_a_board_names_the_places_it_hides(
    render_table: RenderTable, layout: TableLayout, camera: CameraModel, pose: Pose, solid: CubeSolid
) -> None:
    image = render_table(pose)
    height, width = image.shape[:2]
    image[height // 2 - 40 : height // 2 + 40, width // 2 :] = (90, 130, 190)
    reader = SurfaceReader(camera, layout.board, OneDoubtful(solid, -2.0))
    stages = reader.stages(SurfaceView(image, camera, pose, layout.board), layout.places, None)
    places, (hand, *_) = reader.places(stages, 0.0)
    assert hand.kind in {HindranceKind.HAND, HindranceKind.OBJECT}
    assert set(hand.places) == {place for place, one in places.items() if one.hidden_by is not None}
    assert hand.places
    word = "hand or arm" if hand.kind is HindranceKind.HAND else "foreign object"
    assert hand.message == f"a {word} is over {named_places(layout.board, hand.places)}"


def test_places_outside_the_picture_are_hidden_and_named(
    render_table: RenderTable, layout: TableLayout, camera: CameraModel, pose: Pose, solid: CubeSolid
) -> None:
    beside = replace(pose, translation=pose.translation + np.array([300.0, 0.0, 0.0]))
    board, width = layout.board, camera.size[0]
    reader = SurfaceReader(camera, board, OneDoubtful(solid, -5.0))
    stages = reader.stages(SurfaceView(render_table(beside), camera, beside, board), layout.places, None)
    places, hindrances = reader.places(stages, 0.0)
    seen_to_px = {
        place: project(camera, beside, np.column_stack([board.outline_mm(place), np.zeros(4)]))[:, 0]
        for place in board.places
    }
    gone = {place for place, columns in seen_to_px.items() if columns.min() > width}
    shown = {place for place, columns in seen_to_px.items() if columns.max() < width}
    hidden = {place for place, one in places.items() if one.hidden_by is HindranceKind.OUTSIDE_PICTURE}
    assert gone
    assert shown
    assert gone <= hidden <= set(board.places) - shown
    (named,) = [each for each in hindrances if each.kind is HindranceKind.OUTSIDE_PICTURE]
    assert set(named.places) == hidden
    assert named.message == f"the camera's picture does not show {named_places(board, named.places)}"


def test_a_hand_over_all_of_a_board_names_the_board(
    render_table: RenderTable, layout: TableLayout, camera: CameraModel, pose: Pose, solid: CubeSolid
) -> None:
    reader = SurfaceReader(camera, layout.board, OneDoubtful(solid, -2.0))
    stages = reader.stages(SurfaceView(render_table(pose), camera, pose, layout.board), layout.places, None)
    everything = np.ones(stages.rectified.colours.shape[:2], dtype=bool)
    hand = Occlusion(HindranceKind.HAND, everything, float(everything.sum()))
    covered = replace(stages, evidence=replace(stages.evidence, occlusions=(hand,)))
    places, (named,) = reader.places(covered, 0.0)
    assert {one.hidden_by for place, one in places.items()} == {HindranceKind.HAND}
    assert named.message == "a hand or arm is over the board"


def test_a_hand_that_hides_no_place_is_over_part_of_the_board(
    render_table: RenderTable, layout: TableLayout, camera: CameraModel, pose: Pose, solid: CubeSolid
) -> None:
    reader = SurfaceReader(camera, layout.board, OneDoubtful(solid, -2.0))
    stages = reader.stages(SurfaceView(render_table(pose), camera, pose, layout.board), layout.places, None)
    corner = np.zeros(stages.rectified.colours.shape[:2], dtype=bool)
    corner[0, 0] = True
    hand = Occlusion(HindranceKind.HAND, corner, 1.0)
    covered = replace(stages, evidence=replace(stages.evidence, occlusions=(hand,)))
    places, (named,) = reader.places(covered, 0.0)
    assert not any(one.hidden_by for one in places.values())
    assert named.message == "a hand or arm is over part of the board"


def test_an_arm_over_most_of_a_board_seen_bare_before_hides_it_also_after_a_move(
    render_table: RenderTable, layout: TableLayout, camera: CameraModel, pose: Pose, solid: CubeSolid
) -> None:
    reader = SurfaceReader(camera, layout.board, OneDoubtful(solid, -4.0))
    bare = render_table(pose)
    reader.stages(SurfaceView(bare, camera, pose, layout.board), layout.places, None)
    bounds = layout.board.bounds_mm
    arm = replace(bounds.grown(30.0), far_mm=bounds.near_mm + 0.7 * (bounds.far_mm - bounds.near_mm))
    outline = project(camera, pose, arm.corners_mm(layout.board.height_mm))
    covered = bare.copy()
    cv2.fillConvexPoly(covered, np.round(outline).astype(np.int32), (30, 60, 110))
    stages = reader.stages(SurfaceView(covered, camera, replace(pose), layout.board), layout.places, None)
    places, _ = reader.places(stages, 0.0)
    hidden = [place for place, reading in places.items() if reading.hidden_by is HindranceKind.HAND]
    assert len(hidden) > len(places) / 2


def test_an_arm_over_a_whole_sheet_is_a_hand() -> None:
    board, at, camera = sheets.layout("blokus-dice").board, sheets.pose("blokus-dice"), sheets.camera()
    right, far = board.bounds_mm.right_mm, board.bounds_mm.far_mm
    corners = [(-right - 60, -far - 90), (right + 14, -far - 90), (right + 14, far + 14), (-right - 60, far + 14)]
    points = np.column_stack([corners, np.full(4, 15.0)])
    image = sheets.picture("blokus-dice").copy()
    cv2.fillPoly(image, [np.round(project(camera, at, points)).astype(np.int32)], (25, 30, 40))
    noisy = np.clip(image + np.random.default_rng(0).normal(0.0, 1.0, image.shape), 0, 255).astype(np.uint8)
    reader = SurfaceReader(camera, board, InkReader(board, plain_appearance(board)))
    _, hindrances = reader.places(reader.stages(SurfaceView(noisy, camera, at, board), board.places, None), 0.0)
    assert {one.kind for one in hindrances} == {HindranceKind.HAND}
