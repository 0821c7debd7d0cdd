"""Tracking a part of a table, keeping its pose, and cutting places out of a picture."""

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import cv2
import numpy as np
import pytest

from tests.vision.conftest import RenderTable
from tests.vision.readers.ink import sheets
from tests.vision.readers.test_registry import SHEET, SHEET_MIDDLE_MM, Cross, Written, on_picture, with_sheet
from vision.errors import NotLocatedError
from vision.frame import Frame, Image
from vision.geometry import CameraModel, CubeSolid, Pose, outline_px, project
from vision.layout.pieces import Ink, named_places, top_mm
from vision.layout.table import TableLayout, default_layout
from vision.locating.location import TableLocation
from vision.locating.markers import FoundBy, Marker, MarkerDetector, SharedPicture
from vision.locating.tracking import LineTracker, TableTracker, TrackedTable
from vision.motion.hands import HandMonitor, HandSettings
from vision.readers import part_reader
from vision.readers.ink.appearance import plain_appearance
from vision.readers.ink.reader import InkReader
from vision.readers.part_reader import PartReader
from vision.readers.protocols import SurfaceView
from vision.readers.surface_reader import SurfaceReader
from vision.readers.table_reader import TableReader
from vision.reading import Hindrance, HindranceKind
from vision.surface.occlusion import Occlusion


class Tracked:
    """A fake tracker that returns a given pose and counts its calls."""

    def __init__(self, layout: TableLayout, camera: CameraModel, pose: Pose, monkeypatch: pytest.MonkeyPatch) -> None:
        self.layout, self.camera, self.pose = layout, camera, pose
        self.asked: list[int] = []
        self.frames_averaged, self.uncertain, self.moving = 8, False, False
        self.ids: tuple[int, ...] = (0, 1, 2, 3)
        self.notices: tuple[str, ...] = ("said with this frame",)
        monkeypatch.setattr(TableTracker, "update", lambda _, frame, *given: self.update(frame))

    def update(self, frame: Frame) -> TrackedTable:
        self.asked.append(frame.sequence)
        seen = tuple(
            Marker(one, project(self.camera, self.pose, self.layout.markers.corners_mm(one)), FoundBy.PLAIN)
            for one in self.ids
        )
        located = TableLocation(self.pose, seen, self.ids, 0.1, dict.fromkeys(self.ids, 0.1), self.uncertain)
        return TrackedTable(located, self.ids, self.frames_averaged, moving=self.moving, notices=self.notices)


@pytest.fixture
def tracked(layout: TableLayout, camera: CameraModel, pose: Pose, monkeypatch: pytest.MonkeyPatch) -> Tracked:
    return Tracked(layout, camera, pose, monkeypatch)


@pytest.fixture
def picture(render_table: RenderTable, pose: Pose) -> Image:
    return render_table(pose)


@pytest.fixture
def written() -> Written:
    return Written(frozenset({"b2"}))


@pytest.fixture
def part(camera: CameraModel, layout: TableLayout, written: Written) -> PartReader:
    return PartReader(camera, layout, {"board": written}, {})


def show(part: PartReader, picture: Image, count: int, first: int = 0) -> list[tuple[str, ...]]:
    """Show a picture some times, and return the notices of each reading."""
    return [part.read(Frame(picture, number / 15, number)).notices for number in range(first, first + count)]


def test_a_steady_table_is_tracked_every_sixteenth_frame(part: PartReader, picture: Image, tracked: Tracked) -> None:
    notices = show(part, picture, 34)
    assert tracked.asked == [0, 16, 32]
    assert [number for number, said in enumerate(notices) if said] == [0, 16, 32]


@pytest.mark.parametrize(("frames_averaged", "uncertain"), [(7, False), (8, True)])
def test_a_table_that_is_not_steady_is_tracked_in_every_frame(
    part: PartReader, picture: Image, tracked: Tracked, frames_averaged: int, uncertain: bool
) -> None:
    tracked.frames_averaged, tracked.uncertain = frames_averaged, uncertain
    show(part, picture, 5)
    assert tracked.asked == [0, 1, 2, 3, 4]


def test_a_table_is_tracked_when_a_marker_looks_different(
    part: PartReader, picture: Image, tracked: Tracked, camera: CameraModel, layout: TableLayout, pose: Pose
) -> None:
    show(part, picture, 3)
    x, y = np.round(project(camera, pose, layout.markers.corners_mm(2)).mean(axis=0)).astype(int)
    other = picture.copy()
    other[y - 12 : y + 12, x - 12 : x + 12] = 250
    show(part, other, 1, 3)
    assert tracked.asked == [0, 3]
    x, y = np.round(project(camera, pose, [[*layout.centre_mm("d4"), 20.0]])[0]).astype(int)
    other[y - 6 : y + 6, x - 6 : x + 6] = 250
    show(part, other, 1, 4)
    assert tracked.asked == [0, 3]


def test_a_board_without_markers_is_located_again_when_many_of_its_places_change(
    picture: Image,
    tracked: Tracked,
    camera: CameraModel,
    layout: TableLayout,
    pose: Pose,
    written: Written,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(LineTracker, "update", lambda _, frame, _shared: tracked.update(frame))
    unmarked = replace(layout, markers=replace(layout.markers, centres_mm={}))
    part = PartReader(camera, unmarked, {"board": written}, {})
    show(part, picture, 3)
    for number, (rows, asked) in enumerate((("4", [0]), ("23456", [0, 4])), 3):
        other = picture.copy()
        for place in layout.places:
            if place[1] in rows:
                x, y = np.round(project(camera, pose, [[*layout.centre_mm(place), 20.0]])[0]).astype(int)
                other[y - 6 : y + 6, x - 6 : x + 6] = 250
        show(part, other, 1, number)
        assert tracked.asked == asked


@pytest.mark.parametrize(("shift_px", "is_kept"), [(0.5, True), (0.75, False)])
def test_a_pose_that_moves_by_half_a_pixel_is_kept(
    part: PartReader,
    picture: Image,
    tracked: Tracked,
    written: Written,
    monkeypatch: pytest.MonkeyPatch,
    camera: CameraModel,
    layout: TableLayout,
    shift_px: float,
    is_kept: bool,
) -> None:
    asked: list[int] = []
    read = Written.read

    def noted(own: Written, view: Any, places: Any, before: Any) -> Any:
        asked.append(len(places))
        return read(own, view, places, before)

    monkeypatch.setattr(Written, "read", noted)
    tracked.frames_averaged = 1
    show(part, picture, 2)
    assert asked == [len(layout.places)]
    first = tracked.pose
    corners = layout.board.bounds_mm.corners_mm(top_mm(layout.board))

    def moved(by_mm: float) -> Pose:
        return Pose(first.rotation, first.translation + np.array([by_mm, 0.0, 0.0]))

    per_mm = float(np.abs(project(camera, moved(1.0), corners) - project(camera, first, corners)).max())
    tracked.pose = moved(shift_px / per_mm)
    show(part, picture, 1, 2)
    assert len(asked) == (1 if is_kept else 2)


def test_nothing_is_read_while_the_table_moves(part: PartReader, picture: Image, tracked: Tracked) -> None:
    show(part, picture, 2)
    assert part.pose is not None
    tracked.moving, tracked.frames_averaged = True, 1
    tracked.uncertain = True
    again = PartReader(tracked.camera, tracked.layout, {}, {})
    reading = again.read(Frame(picture, 0.0, 0))
    assert [one.kind for one in reading.hindrances] == [HindranceKind.MOVED_CAMERA]
    assert reading.places == {}
    assert reading.notices == ("said with this frame",)
    assert again.pose is None


@pytest.mark.parametrize(("ids", "refines"), [((0, 1, 2), False), ((0, 1), True), ((3,), True)])
def test_the_lines_refine_a_pose_from_few_markers(
    part: PartReader,
    picture: Image,
    tracked: Tracked,
    monkeypatch: pytest.MonkeyPatch,
    ids: tuple[int, ...],
    refines: bool,
) -> None:
    refined: list[int] = []

    def refine(image: Image, camera: CameraModel, pose: Pose, layout: TableLayout, markers: object) -> Pose | None:
        refined.append(len(refined))
        return pose if len(ids) > 1 else None

    monkeypatch.setattr(part_reader, "refine_by_lines", refine)
    tracked.ids, tracked.frames_averaged = ids, 1
    reading = part.read(Frame(picture, 0.0, 0))
    part.read(Frame(picture, 0.1, 1))
    assert len(refined) == int(refines), "as long as the pose is the same, once a second is enough"
    if ids == (3,):
        (doubt,) = reading.hindrances
        assert doubt.message.startswith(
            "table not located for certain: only marker 3 of 0-3 was seen, and the board's lines"
        )
        assert doubt.kind is HindranceKind.NOT_LOCATED
    else:
        assert reading.places
    tracked.pose = Pose(tracked.pose.rotation, tracked.pose.translation + np.array([3.0, 0.0, 0.0]))
    part.read(Frame(picture, 0.2, 2))
    assert len(refined) == 2 * int(refines)


def test_a_pose_that_the_lines_contradicted_is_compared_with_them_again_after_a_second(
    part: PartReader, picture: Image, tracked: Tracked, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = iter((None, replace(tracked.pose)))
    monkeypatch.setattr(part_reader, "refine_by_lines", lambda *given: next(found))
    tracked.ids, tracked.frames_averaged = (3,), 1
    read = [part.read(Frame(picture, time_s, number)) for number, time_s in enumerate((0.0, 0.9, 1.0, 9.0))]
    assert [bool(reading.places) for reading in read] == [False, False, True, True]


@pytest.mark.parametrize(("surface", "side_mm"), [("board", 48.0), ("written", 80.0)])
def test_a_crop_shows_a_place_from_above(
    camera: CameraModel, layout: TableLayout, pose: Pose, picture: Image, tracked: Tracked, surface: str, side_mm: float
) -> None:
    if surface == "written":
        layout = replace(layout, surfaces=(replace(layout.board, pieces=Ink()),))
    part = PartReader(camera, layout, {}, {})
    frame = Frame(picture, 0.0, 0)
    with pytest.raises(NotLocatedError, match="no picture of a place can be cut out"):
        part.crop(frame, "c3")
    part.read(frame)
    crop = part.crop(frame, "c3")
    assert crop.shape == (72, 72, 3)
    x, y = layout.centre_mm("c3")
    for row, column in ((10, 15), (36, 36), (60, 50)):
        at_mm = [x + (column - 35.5) * side_mm / 72, y - (row - 35.5) * side_mm / 72, top_mm(layout.board)]
        seen = project(camera, pose, [at_mm])[0]
        left, top = np.floor(seen).astype(int)
        around = picture[top : top + 2, left : left + 2].astype(int)
        assert around.min() - 2 <= crop[row, column, 0] <= around.max() + 2
    part.unlocated(frame, Hindrance(HindranceKind.BAD_FRAME, "a torn frame"))
    with pytest.raises(NotLocatedError):
        part.crop(frame, "c3")


def test_hand_detection_samples_each_of_four_parts_at_half_the_side_length(
    camera: CameraModel, layout: TableLayout, monkeypatch: pytest.MonkeyPatch
) -> None:
    sides: list[float] = []
    whole = HandMonitor.__init__

    def noted(own: HandMonitor, camera: CameraModel, surface: object, settings: HandSettings) -> None:
        sides.append(settings.board_side_px)
        whole(own, camera, surface, settings)  # type: ignore[arg-type]

    monkeypatch.setattr(HandMonitor, "__init__", noted)
    usual = HandSettings().board_side_px
    PartReader(camera, layout, {}, {})
    PartReader(camera, layout, {}, {}, parts=4)
    assert sides == pytest.approx([usual, usual / 2])


@pytest.mark.parametrize(("others", "is_absent"), [(2, True), (1, False)])
def test_a_part_is_absent_if_two_markers_of_another_part_are_clearly_seen(
    camera: CameraModel,
    layout: TableLayout,
    pose: Pose,
    render_table: Callable[..., Image],
    monkeypatch: pytest.MonkeyPatch,
    others: int,
    is_absent: bool,
) -> None:
    """Then it is not searched for by the slow methods."""
    searched: list[str] = []
    thorough = MarkerDetector.sharpened

    def noted(own: MarkerDetector, image: Image) -> Any:
        searched.append("slow")
        return thorough(own, image)

    monkeypatch.setattr(MarkerDetector, "sharpened", noted)
    plain = MarkerDetector.plain
    seen_by_board = set(range(others))

    def only_some(own: MarkerDetector, image: Image) -> tuple[Marker, ...]:
        return tuple(one for one in plain(own, image) if one.marker_id in seen_by_board)

    monkeypatch.setattr(MarkerDetector, "plain", only_some)
    table = replace(layout, surfaces=(*layout.surfaces, SHEET))
    reader = TableReader(camera, table, {"board": Written(frozenset()), "sheet": Written(frozenset())})
    absent = reader._absent_parts(SharedPicture(render_table(pose)))
    assert len(absent) == int(is_absent)
    for part, why in absent.items():
        assert set(part.layout.markers.centres_mm) == {4, 5, 6, 7}
        assert why.message == "table not located: none of markers 4 to 7 was seen"
        assert why.kind is HindranceKind.NOT_LOCATED
    assert not searched
    whole = TableReader(camera, layout, {"board": Written(frozenset())})
    assert whole._absent_parts(SharedPicture(render_table(pose))) == {}


def test_the_stages_of_a_single_picture_give_its_reading(
    camera: CameraModel, layout: TableLayout, pose: Pose, picture: Image, written: Written
) -> None:
    reader = TableReader(camera, layout, {"board": written})
    stages = reader.stages(picture, pose)
    assert stages["board"].view.time_s == 0.0
    assert {place for place, one in stages["board"].sightings.items() if one.log_odds > 0} == {"b2"}
    reading = reader.reading(Frame(picture, 0.2, 3), stages)
    assert (reading.sequence, reading.time_s) == (3, 0.2)
    assert [place for place, one in reading.places.items() if one.best[0] == "cross"] == ["b2"]
    assert set(reading.places) == set(layout.places)
    assert reader.draw(picture, stages) is picture


def test_a_notice_shared_by_several_parts_is_given_once(
    camera: CameraModel, layout: TableLayout, pose: Pose, picture: Image, tracked: Tracked
) -> None:
    table = replace(layout, surfaces=(*layout.surfaces, SHEET))
    reader = TableReader(camera, table, {"board": Written(frozenset()), "sheet": Written(frozenset())})
    tracked.ids = (0, 1, 2)
    reading = reader.read(Frame(with_sheet(picture, camera, pose), 0.0, 0))
    assert reading.notices == ("said with this frame",)


@dataclass
class Noting(Written):
    """Notes how many places it is asked to read each time."""

    asked: list[int] = field(default_factory=list)

    def read(self, view: SurfaceView, places: Collection[str], previous: Mapping[str, Cross]) -> Mapping[str, Cross]:
        self.asked.append(len(places))
        return super().read(view, places, previous)


def test_places_of_pieces_are_read_afresh_but_not_ink(
    camera: CameraModel, layout: TableLayout, pose: Pose, picture: Image, tracked: Tracked
) -> None:
    table = replace(layout, surfaces=(*layout.surfaces, replace(SHEET, pieces=Ink())))
    board, sheet = Noting(frozenset()), Noting(frozenset())
    reader = TableReader(camera, table, {"board": board, "sheet": sheet})
    both = with_sheet(picture, camera, pose)
    reader.read(Frame(both, 0.0, 0))
    reader.read(Frame(both, 0.1, 1))
    reader.invalidate_cache()
    reader.read(Frame(both, 0.2, 2))
    reader.read(Frame(both, 0.3, 3))
    assert board.asked == [len(layout.places)] * 2
    assert sheet.asked == [len(SHEET.places)]


def with_palm(
    camera: CameraModel, layout: TableLayout, pose: Pose, picture: Image, off_mm: float
) -> tuple[TableReader, Image, Image]:
    """A reader of a board and a sheet, their picture, and one with a palm so far to the left of the sheet's grid."""
    bounds = SHEET.bounds_mm.grown(22.0)
    inked = replace(SHEET, pieces=Ink(size_mm=(bounds.width_mm, bounds.depth_mm)))
    table = replace(layout, surfaces=(*layout.surfaces, inked))
    reader = TableReader(camera, table, {"board": Written(frozenset()), "sheet": Written(frozenset())})
    paper = np.full((100, 100), 200, dtype=np.uint8)
    picture = on_picture(picture, camera, pose, bounds.corners_mm(0.0)[[3, 2, 1, 0]], paper)
    clear = with_sheet(picture, camera, pose)
    palm = np.array([[SHEET.bounds_mm.left_mm - off_mm, 0.0, 0.0]]) + SHEET_MIDDLE_MM
    (column, row), reaching = project(camera, pose, palm)[0], clear.copy()
    cv2.ellipse(reaching, ((float(column), float(row)), (20, 60), 0), (70, 100, 170), -1)
    return reader, clear, reaching


def test_a_hand_over_the_margin_of_a_sheet_is_seen_only_while_it_is_there(
    camera: CameraModel, layout: TableLayout, pose: Pose, picture: Image
) -> None:
    reader, clear, reaching = with_palm(camera, layout, pose, picture, 12.0)
    readings = [reader.read(Frame(one, number / 15, number)) for number, one in enumerate((clear, reaching, clear))]
    assert [[one.message for one in reading.hindrances] for reading in readings] == [
        [],
        ["a hand or arm is over part of the sheet"],
        [],
    ]
    # the whole sheet counts as hidden, but not the board beside it
    hidden = [{place: one.hidden_by for place, one in reading.places.items() if one.hidden_by} for reading in readings]
    assert hidden == [{}, dict.fromkeys(SHEET.places, HindranceKind.HAND), {}]


def test_what_looks_like_a_hand_on_the_margin_is_an_object_once_it_has_lain_still(
    camera: CameraModel, layout: TableLayout, pose: Pose, picture: Image
) -> None:
    reader, _, reaching = with_palm(camera, layout, pose, picture, 12.0)
    seen = [reader.read(Frame(reaching, time_s, number)) for number, time_s in enumerate((0.0, 1.0, 29.9, 30.0, 40.0))]
    hand, thing = [HindranceKind.HAND], [HindranceKind.OBJECT]
    assert [[one.kind for one in reading.hindrances] for reading in seen] == [hand, hand, hand, thing, thing]
    assert seen[-1].sequence == 4
    _, _, moved = with_palm(camera, layout, pose, picture, 8.0)
    assert [one.kind for one in reader.read(Frame(moved, 41.0, 5)).hindrances] == hand


def test_a_pose_that_too_few_lines_could_refine_is_refined_again_after_five_seconds(
    part: PartReader, picture: Image, tracked: Tracked, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[Pose] = []

    def in_vain(_image: Image, _camera: CameraModel, pose: Pose, *_given: object) -> Pose:
        tried.append(pose)
        return pose

    monkeypatch.setattr(part_reader, "refine_by_lines", in_vain)
    tracked.ids, tracked.frames_averaged = (0, 1), 1
    for number, time_s in enumerate((0.0, 4.9, 5.0)):
        part.read(Frame(picture, time_s, number))
    assert len(tried) == 2


# Readings of one surface: doubtful pieces, empty places and what hides them.


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


def test_doubtful_pieces_are_less_likely_on_a_board_that_looks_empty_if_pieces_are_flat(
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
            assert low == pytest.approx(tall, abs=0.01)


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


def test_in_a_picture_that_shows_little_a_thing_that_hides_no_line_is_blamed_on_the_light(
    render_table: RenderTable, layout: TableLayout, camera: CameraModel, pose: Pose, solid: CubeSolid
) -> None:
    reader = SurfaceReader(camera, layout.board, OneDoubtful(solid, -2.0))
    stages = reader.stages(SurfaceView(render_table(pose), camera, pose, layout.board), layout.places, None)
    whole = np.ones(stages.rectified.window.shape, dtype=np.bool_)
    for hides_lines, said in ((True, HindranceKind.OBJECT), (False, HindranceKind.GLARE)):
        thing = Occlusion(HindranceKind.OBJECT, whole, 900.0, hides_lines)
        seen = replace(stages, evidence=replace(stages.evidence, occlusions=(thing,)))
        _, hindrances = reader.places(seen, 0.0, HindranceKind.GLARE)
        assert [one.kind for one in hindrances] == [said]
        _, hindrances = reader.places(seen, 0.0)
        assert [one.kind for one in hindrances] == [HindranceKind.OBJECT]


class AllDoubtful(OneDoubtful):
    """Finds a doubtful piece on every place."""

    def read(
        self, view: SurfaceView, places: Collection[str], previous: Mapping[str, Doubtful]
    ) -> Mapping[str, Doubtful]:
        return {place: Doubtful(place, self.solid, self.log_odds) for place in places}


@pytest.mark.parametrize("is_small", [False, True])
def test_a_picture_that_shows_little_of_many_places_says_so(
    render_table: RenderTable,
    layout: TableLayout,
    camera: CameraModel,
    pose: Pose,
    solid: CubeSolid,
    monkeypatch: pytest.MonkeyPatch,
    is_small: bool,
) -> None:
    """Where pieces are too small, that is the reason, even if it is one place."""
    monkeypatch.setattr(part_reader, "are_pieces_too_small", lambda *_: is_small)
    image = render_table(pose)
    dark = np.asarray(image // 6, dtype=np.uint8)
    for picture, reader, said in (
        (image, AllDoubtful(solid, -1.0), [HindranceKind.COARSE if is_small else HindranceKind.UNCLEAR]),
        (dark, AllDoubtful(solid, -1.0), [HindranceKind.DARK]),
        (image, OneDoubtful(solid, -1.0), [HindranceKind.COARSE] if is_small else []),
    ):
        part = PartReader(camera, layout, {layout.board.name: reader}, {})
        seen = part.reading(Frame(picture, 0.0, 0), part.stages(picture, pose))
        assert [one.kind for one in seen.hindrances] == said


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
