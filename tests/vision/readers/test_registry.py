"""The reader chosen for a table, and looks missing from a set of pieces."""

from __future__ import annotations

import gc
import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import cv2
import numpy as np
import pytest

from engine.registry import games, load
from vision.errors import EnrolmentError, LayoutError
from vision.frame import FloatArray, Frame, Image
from vision.geometry import CameraModel, Pose, Rectangle, project
from vision.layout.pieces import BlockPieces, GridSurface, Ink, MarkerLayout, NamedPieces, Tray
from vision.layout.table import TableLayout, default_layout, layout_from_json
from vision.opencv import aruco_dictionary
from vision.readers.blocks.appearance import drawn_appearance
from vision.readers.blocks.appearance import save_appearance as save_blocks
from vision.readers.discs.lighting import DiscAppearance, DiscColours
from vision.readers.protocols import SurfaceView
from vision.readers.registry import (
    PIECE_READERS,
    check_looks,
    check_readable,
    is_readable,
    load_any,
    missing_traits,
    reader_kind,
    table_reader,
)
from vision.readers.table_reader import TableReader
from vision.reading import DieReading, HindranceKind, RollReading


@pytest.mark.parametrize("game", games())
def test_every_games_table_can_be_read_and_its_looks_survive_a_file(
    game: str, camera: CameraModel, tmp_path: Path
) -> None:
    layout = default_layout(game)
    assert is_readable(layout)
    kind = reader_kind(layout)
    plain = kind.plain(layout.board)
    kind.save(plain, tmp_path / "looks.json")
    assert load_any(tmp_path / "looks.json").looks == plain.looks
    assert table_reader(camera, layout, None).layout is layout
    assert table_reader(camera, layout, plain).layout is layout
    check_looks(layout, load(game).looks)


@pytest.mark.parametrize("game", games())
def test_readers_that_are_dropped_leave_nothing_for_the_garbage_collector(game: str, camera: CameraModel) -> None:
    layout = default_layout(game)
    table_reader(camera, layout, None)
    gc.collect()
    table_reader(camera, layout, None)
    assert gc.collect() == 0


def test_taught_looks_are_those_of_the_boards_kind_of_pieces_alone(camera: CameraModel) -> None:
    layout = default_layout("deblockle")
    markers = [replace(layout.markers, centres_mm={one: (0.0, 0.0)}) for one in (11, 12)]
    again = replace(layout.board, name="again", prefix="q.", printed=(), markers=markers[0])
    sheet = GridSurface("sheet", 3, 3, 24.0, pieces=Ink(), markers=markers[1], prefix="p.")
    taught = replace(drawn_appearance(("star", "cross")), colours={"red": np.zeros(3)})
    reader = table_reader(camera, replace(layout, surfaces=(layout.board, again, sheet)), taught)
    looks = {
        place: set(reading.probabilities)
        for part in reader._parts
        for place, reading in part.hidden(HindranceKind.HAND).items()
    }
    assert looks["a1"] == looks["q.a1"] == {"empty", *taught.looks}
    assert looks["p.a1"] == {"empty", *PIECE_READERS["ink"].plain(sheet).looks}


def test_a_table_with_an_unknown_kind_of_pieces_is_unreadable() -> None:
    layout = default_layout("deblockle")
    assert not is_readable(replace(layout, surfaces=(replace(layout.board, pieces=NamedPieces("shells")),)))
    assert not is_readable(replace(layout, surfaces=(replace(layout.board, pieces=None),)))
    dice_on_places = replace(layout, surfaces=(replace(layout.board, pieces=NamedPieces("dice")),))
    with pytest.raises(LayoutError, match=r"no reader knows 'dice', .* for the board; there is one for blocks, discs"):
        check_readable(dice_on_places)
    tray = Tray("tray", Rectangle(0.0, 50.0, 0.0, 50.0), pieces=NamedPieces("blocks"))
    with pytest.raises(LayoutError, match=r"no reader knows 'blocks', .* for the tray; there is one for dice"):
        check_readable(replace(layout, surfaces=(*layout.surfaces, tray)))


def test_blocks_without_a_net_are_unreadable() -> None:
    layout = default_layout("deblockle")
    bare = replace(layout.board, pieces=BlockPieces(30.0, {}))
    with pytest.raises(LayoutError, match=r"which symbols are on the blocks; add net .* up, down, north, east"):
        check_readable(replace(layout, surfaces=(bare,)))


def test_a_look_that_the_reader_never_gives_is_refused() -> None:
    layout = default_layout("diaballik")
    check_looks(layout, ("empty", "red piece", "blue piece with ball"))
    with pytest.raises(
        LayoutError, match="'red pebble', and the reader of the board gives red piece, red piece with b"
    ):
        check_looks(layout, ("empty", "red piece", "red pebble"))


def test_a_board_without_pieces_is_told_what_may_lie_on_it() -> None:
    layout = default_layout("deblockle")
    with pytest.raises(LayoutError, match='the kind of piece in "pieces", or give "block", "piece" and "ball"'):
        check_readable(replace(layout, surfaces=(replace(layout.board, pieces=None),)))


def test_several_sheets_without_markers_are_not_read(camera: CameraModel) -> None:
    layout = default_layout("number-drop").with_sheets(2).without_markers()
    with pytest.raises(LayoutError, match="can't be told apart without markers"):
        table_reader(camera, layout, None)


def test_a_file_of_looks_is_read_as_the_kind_that_wrote_it(tmp_path: Path) -> None:
    symbols = ("star", "cross")
    save_blocks(drawn_appearance(symbols), tmp_path / "blocks.json")
    assert load_any(tmp_path / "blocks.json").traits == ((), symbols)
    (tmp_path / "other.json").write_text('{"format": "other"}', encoding="utf-8")
    with pytest.raises(EnrolmentError, match=r"other\.json have format 'other'; expected '.*looks 1', .* or '.*ink 1'"):
        load_any(tmp_path / "other.json")
    (tmp_path / "damaged.json").write_text(json.dumps({"format": PIECE_READERS["blocks"].format}), encoding="utf-8")
    with pytest.raises(EnrolmentError, match=r"cannot be read \('colours'\): enrol the piece set again"):
        load_any(tmp_path / "damaged.json")
    with pytest.raises(EnrolmentError, match="cannot read"):
        load_any(tmp_path / "none.json")


def test_missing_looks_are_named_by_their_first_word() -> None:

    taught = DiscAppearance({"black": DiscColours(np.zeros(3), np.zeros(3))})
    expected = ("empty", "black piece", "white piece", "white piece with ball", "red piece")
    assert missing_traits(taught, expected) == ("white", "red")
    assert missing_traits(taught, ("black piece with ball",)) == ()
    assert missing_traits(DiscAppearance({}), ("black piece",)) == ("black",)
    assert set(PIECE_READERS) == {"blocks", "discs", "pyramids", "ink"}


# Tables of several surfaces, with fake readers.

SHEET_MIDDLE_MM = np.array([258.0, 0.0, 0.0])
SHEET_MARKERS = MarkerLayout("DICT_4X4_50", 24.0, 0.0, {4: (-32, 62), 5: (32, 62), 6: (32, -62), 7: (-32, -62)})
SHEET = GridSurface("sheet", 3, 3, 24.0, pieces=NamedPieces("ink"), markers=SHEET_MARKERS, prefix="p2.")
TRAY = Tray("tray", Rectangle(-300.0, -210.0, -60.0, 60.0), pieces=NamedPieces("dice"))


@dataclass
class Written:
    """A fake reader that finds a cross on the given places."""

    crosses: frozenset[str]
    looks: tuple[str, ...] = ("cross",)

    def read(self, view: SurfaceView, places: Collection[str], previous: Mapping[str, Cross]) -> Mapping[str, Cross]:
        kept = {place: seen for place, seen in previous.items() if place not in places}
        return kept | {place: Cross(place) for place in places if place in self.crosses}

    def draw(self, picture: Image, view: SurfaceView, sightings: Mapping[str, Cross]) -> Image:
        return picture


@dataclass(frozen=True)
class Cross:
    place: str
    log_odds: float = 8.0
    solid: None = None
    is_clear: bool = True
    sides: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    heights: Mapping[int, float] = field(default_factory=dict)
    tops_mm: Mapping[int, tuple[float, float]] = field(default_factory=dict)
    picture: None = None

    def look_probabilities(self) -> Mapping[str, float]:
        return {"cross": 1.0}


class OneDie:
    """A fake reader of one die, which is at rest from the third look on."""

    def __init__(self) -> None:
        self.previous: list[RollReading | None] = []

    def read(self, view: SurfaceView, previous: RollReading | None) -> RollReading:
        self.previous.append(previous)
        die = DieReading(-250.0, 5.0, {"6": 0.9, "1": 0.1}, at_rest=len(self.previous) >= 3)
        return RollReading(view.surface.name, (die,))


@pytest.fixture
def table() -> TableLayout:
    board = default_layout("deblockle")
    return replace(board, surfaces=(*board.surfaces, SHEET, TRAY))


def on_picture(picture: Image, camera: CameraModel, pose: Pose, corners_mm: FloatArray, pattern: Image) -> Image:
    """The picture with a flat pattern on the table; corners in the pattern's order, from the far left."""
    side = float(pattern.shape[0])
    ends = np.array([[0, 0], [side, 0], [side, side], [0, side]], dtype=np.float32)
    seen = project(camera, pose, corners_mm + SHEET_MIDDLE_MM).astype(np.float32)
    way = cv2.getPerspectiveTransform(ends, seen)
    size = (picture.shape[1], picture.shape[0])
    laid = cv2.warpPerspective(pattern, way, size, flags=cv2.INTER_AREA)
    inside = cv2.warpPerspective(np.full_like(pattern, 255), way, size) > 127
    return np.asarray(np.where(inside[..., None], laid[..., None], picture), dtype=np.uint8)


def with_sheet(picture: Image, camera: CameraModel, pose: Pose, hidden: Sequence[int] = ()) -> Image:
    bounds = SHEET.bounds_mm.grown(3.0)
    grid = np.full((468, 468), 200, dtype=np.uint8)
    for line in range(4):
        at = 18 + line * 144
        grid[at - 4 : at + 4, 14:-14] = 60
        grid[14:-14, at - 4 : at + 4] = 60
    picture = on_picture(picture, camera, pose, bounds.corners_mm(0.0)[[3, 2, 1, 0]], grid)
    dictionary = aruco_dictionary(SHEET_MARKERS.dictionary)
    for marker_id, (x, y) in SHEET_MARKERS.centres_mm.items():
        if marker_id in hidden:
            continue
        border = SHEET_MARKERS.side_mm / 6
        half = SHEET_MARKERS.side_mm / 2 + border
        code = cv2.aruco.generateImageMarker(dictionary, marker_id, 240)
        framed = cv2.copyMakeBorder(code, 40, 40, 40, 40, cv2.BORDER_CONSTANT, value=255)
        around = Rectangle(x - half, x + half, y - half, y + half)
        picture = on_picture(picture, camera, pose, around.corners_mm(0.0)[[3, 2, 1, 0]], np.asarray(framed))
    return picture


@pytest.fixture
def picture(render_table: Callable[..., Image], pose: Pose) -> Image:
    return render_table(pose)


def reader_of(camera: CameraModel, layout: TableLayout, dice: OneDie | None = None) -> TableReader:
    pieces = {"board": Written(frozenset({"b2"})), "sheet": Written(frozenset({"p2.c1"}))}
    return TableReader(camera, layout, pieces, {} if dice is None else {"tray": dice})


def test_a_sheet_with_markers_of_its_own_is_read_beside_the_board(
    picture: Image, camera: CameraModel, pose: Pose, table: TableLayout
) -> None:
    image = with_sheet(picture, camera, pose)
    reader = reader_of(camera, table)
    reading = reader.read(Frame(image, 0.0, 0))
    assert reading.hindrances == ()
    assert set(reading.places) == set(table.places)
    assert {place for place, seen in reading.places.items() if seen.best[0] == "cross"} == {"b2", "p2.c1"}
    crop = reader.crop(Frame(image, 0.0, 0), "p2.b2")
    assert crop.std() > 20


def test_a_missing_sheet_hides_only_its_own_places(picture: Image, camera: CameraModel, table: TableLayout) -> None:
    reading = reader_of(camera, table).read(Frame(picture, 0.0, 0))
    assert set(reading.hidden) == set(SHEET.places)
    assert {reading.places[place].hidden_by for place in SHEET.places} == {HindranceKind.NOT_LOCATED}
    assert reading.places["b2"].best[0] == "cross"
    (lost,) = reading.hindrances
    assert (lost.kind, lost.places) == (HindranceKind.NOT_LOCATED, SHEET.places)
    assert lost.message.startswith("the sheet: table not located: none of markers 4 to 7 was seen")


def test_a_missing_tray_hinders_nothing_and_is_named(picture: Image, camera: CameraModel, table: TableLayout) -> None:
    markers = MarkerLayout("DICT_4X4_50", 24.0, 0.0, {8: (-32, 62), 9: (32, 62)})
    with_tray = replace(table, surfaces=(table.board, replace(TRAY, markers=markers)))
    reading = reader_of(camera, with_tray).read(Frame(picture, 0.0, 0))
    assert reading.places["b2"].best[0] == "cross"
    assert (reading.hindrances, reading.rolls) == ((), ())
    assert [notice.partition(": ")[0] for notice in reading.notices] == ["the tray"]


def test_a_missing_part_is_named_by_its_first_surface(
    render_table: Callable[..., Image], camera: CameraModel, pose: Pose, table: TableLayout
) -> None:
    """The tray belongs to the board's part."""
    image = with_sheet(render_table(pose, hidden=(0, 1, 2, 3)), camera, pose)
    reading = reader_of(camera, table).read(Frame(image, 0.0, 0))
    assert set(reading.hidden) == set(table.board.places)
    (lost,) = reading.hindrances
    assert lost.message.startswith("the board: table not located: none of markers 0 to 3 was seen")
    assert reading.places["p2.c1"].best[0] == "cross"


def test_a_table_that_is_not_located_has_no_places(camera: CameraModel, table: TableLayout) -> None:
    reading = reader_of(camera, table).read(Frame(np.full((480, 640, 3), 90, dtype=np.uint8), 0.0, 0))
    assert not reading.places
    assert {one.kind for one in reading.hindrances} == {HindranceKind.NOT_LOCATED}


def test_dice_are_read_until_they_rest_and_again_when_the_tray_changes(
    picture: Image, camera: CameraModel, pose: Pose
) -> None:
    board = default_layout("deblockle")
    dice = OneDie()
    reader = reader_of(camera, replace(board, surfaces=(*board.surfaces, TRAY)), dice)
    readings = [reader.read(Frame(picture, number / 15, number)) for number in range(6)]
    assert [reading.rolls[0].dice[0].is_settled for reading in readings] == [False, False, True, True, True, True]
    assert dice.previous[0] is None
    assert dice.previous[1] == readings[0].rolls[0]
    assert len(dice.previous) == 3
    touched = picture.copy()
    cv2.circle(touched, tuple(map(int, project(camera, pose, [[-250.0, 0.0, 0.0]])[0])), 9, (255, 255, 255), -1)
    reader.read(Frame(touched, 6 / 15, 6))
    assert len(dice.previous) == 4


def test_a_layout_with_an_unknown_kind_of_pieces_is_refused(camera: CameraModel) -> None:
    board = default_layout("deblockle")
    check_readable(board)
    discs = replace(board, surfaces=(replace(board.board, pieces=NamedPieces("shells")),))
    with pytest.raises(
        LayoutError, match="no reader knows 'shells', which its layout names for the board; there is one"
    ):
        reader_kind(discs)
    silent = replace(board, surfaces=(replace(board.board, pieces=None),))
    with pytest.raises(LayoutError, match="does not say what is on the board"):
        check_readable(silent)
    coins = replace(TRAY, pieces=NamedPieces("coins"))
    with pytest.raises(LayoutError, match="no reader knows 'coins', which its layout names for the tray"):
        table_reader(camera, replace(board, surfaces=(*board.surfaces, coins)), reader_kind(board).plain(board.board))


def test_further_surfaces_are_read_from_the_layout_file() -> None:
    markers = {"dictionary": "DICT_4X4_50", "side": 20, "centres": {"0": [0, 90]}}
    own = {"dictionary": "DICT_4X4_50", "side": 20, "centres": {"4": [0, 90]}}
    sheet = {"board": {"cols": 3, "rows": 4, "cell": 20}, "pieces": "ink"}
    data = {
        **sheet,
        "markers": markers,
        "surfaces": [
            {**sheet, "name": "second sheet", "markers": own, "prefix": "p2."},
            {"name": "tray", "tray": {"x": [80, 120], "y": [-40, 40]}, "pieces": "dice"},
        ],
    }
    layout = layout_from_json(data)
    assert [surface.name for surface in layout.surfaces] == ["board", "second sheet", "tray"]
    assert layout.places[11:13] == ("c4", "p2.a1")
    assert layout.centre_mm("p2.b2") == (0.0, -10.0)
    first, second = layout.parts()
    assert [surface.name for surface in first.surfaces] == ["board", "tray"]
    assert set(second.markers.centres_mm) == {4}
    with pytest.raises(LayoutError, match="no place 'x9'"):
        layout.surfaces[2].centre_mm("x9")


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"name": "board"}, "the name board"),
        ({"prefix": ""}, "the place a1"),
        ({"markers": {"dictionary": "DICT_4X4_50", "side": 20, "centres": {"0": [0, 0]}}}, "the marker 0"),
    ],
)
def test_two_surfaces_with_the_same_name_places_or_markers_are_refused(changed: dict[str, object], says: str) -> None:
    sheet = {"board": {"cols": 2, "rows": 2, "cell": 20}, "pieces": "ink"}
    markers = {"dictionary": "DICT_4X4_50", "side": 20, "centres": {"0": [0, 90]}}
    own = {"dictionary": "DICT_4X4_50", "side": 20, "centres": {"4": [0, 90]}}
    second = {**sheet, "name": "second", "prefix": "p2.", "markers": own, **changed}
    with pytest.raises(LayoutError, match=f"two surfaces have {says}"):
        layout_from_json({**sheet, "markers": markers, "surfaces": [second]})
