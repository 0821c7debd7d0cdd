"""Reading whole sheets from pictures; covered cells and missing sheets are hidden."""

import json
import math
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from common.places import EMPTY
from engine.registry import load
from referee.judge.evidence.earlier_readings import WRITTEN_ANEW
from simulator.scene.handwriting import Writer
from tests.effort import some
from tests.present import present
from tests.vision.readers.ink.sheets import EXPECTED, camera, frame, grid_of, handwritten_grid, layout, picture, pose
from vision.errors import EnrolmentError, FrameError, LayoutError
from vision.geometry import CameraModel, Pose, project
from vision.layout.pieces import Ink, Tray
from vision.layout.table import default_layout
from vision.readers.ink.appearance import InkAppearance, load_appearance
from vision.readers.ink.network import BLOT, CROSS, DIGITS, EMPTY_SIGN, SIGNS, flat_map
from vision.readers.ink.reader import InkReader
from vision.readers.protocols import SurfaceView
from vision.readers.registry import PIECE_READERS, load_any, reader_kind, table_reader
from vision.readers.tiles import BARE, TileGrid, read_handwriting
from vision.reading import HindranceKind, Reading
from vision.sampling import PixelMap


def read(game: str, image: np.ndarray | None = None) -> Reading:
    reader = table_reader(camera(), layout(game), None)
    return reader.read(frame(picture(game) if image is None else image))


@pytest.mark.parametrize("game", ["number-drop", "blokus-dice"])
def test_every_cell_of_a_sheet_is_read_whichever_way_it_lies(game: str) -> None:
    reading = read(game)
    wrong = sum(a != b for a, b in zip("".join(grid_of(reading, game)), "".join(EXPECTED[game]["grid"]), strict=True))
    assert wrong <= (1 if game == "number-drop" else 0)
    assert not reading.hindrances
    assert all(sum(one.probabilities.values()) == pytest.approx(1.0) for one in reading.places.values())


def papered(game: str, share: float) -> np.ndarray:
    """The picture with white paper over the grid's nearer lines, up to this share of it, and 4 mm beyond."""
    image, bounds = picture(game).copy(), layout(game).board.bounds_mm
    far_mm = bounds.near_mm + share * bounds.depth_mm + 4.0
    left, right, near = bounds.left_mm - 4.0, bounds.right_mm + 4.0, bounds.near_mm - 4.0
    corners = np.array([(left, near, 0.0), (right, near, 0.0), (right, far_mm, 0.0), (left, far_mm, 0.0)])
    outline = project(camera(), pose(game), corners)
    inside = cv2.fillPoly(np.zeros(image.shape[:2], dtype=np.uint8), [np.round(outline).astype(np.int32)], 1) > 0
    paper = 195 + np.random.default_rng(1).normal(0, 2, image.shape)
    image[inside] = paper[inside].astype(np.uint8)
    return image


@pytest.mark.parametrize("game", ["number-drop", "blokus-dice"])
@pytest.mark.parametrize("share", some([0.5, 1.0, 0.7]))
def test_cells_under_a_sheet_of_paper_are_hidden_however_much_it_covers(game: str, share: float) -> None:
    board, reading = layout(game).board, read(game, papered(game, share))
    far_mm = board.bounds_mm.near_mm + share * board.bounds_mm.depth_mm
    covered = [place for place in board.places if board.centre_mm(place)[1] < far_mm - board.cell_mm]
    assert len(covered) > 0.3 * len(board.places)
    assert all(reading.places[place].hidden_by is not None for place in covered)


@pytest.mark.parametrize("game", ["number-drop", "blokus-dice"])
def test_a_grey_camera_reads_games_that_need_no_colour(game: str) -> None:
    grey = np.asarray(cv2.cvtColor(picture(game), cv2.COLOR_BGR2GRAY), dtype=np.uint8)
    reading = read(game, grey)
    assert len(reading.places) == len(layout(game).board.places)
    if game == "number-drop":
        right = zip("".join(grid_of(reading, game)), "".join(EXPECTED[game]["grid"]), strict=True)
        assert sum(a != b for a, b in right) <= 1


def test_in_black_and_white_no_cell_that_may_hold_a_pens_ink_is_certain() -> None:
    grey = cv2.cvtColor(cv2.cvtColor(picture("blokus-dice"), cv2.COLOR_BGR2GRAY), cv2.COLOR_GRAY2BGR)
    reading = read("blokus-dice", np.asarray(grey, dtype=np.uint8))
    assert reading.hindrances
    assert max(one.best[1] for one in reading.places.values()) < 0.99


@pytest.mark.parametrize("slope", [-1.0, 0.5])
def test_a_hard_shadow_across_a_sheet_is_not_read_as_writing(slope: float) -> None:
    lit = picture("number-drop")
    row, column = np.mgrid[: lit.shape[0], : lit.shape[1]]
    across = row - lit.shape[0] / 2 + slope * (column - lit.shape[1] / 2)
    shaded = np.where((np.abs(across) < lit.shape[0] / 6)[..., None], 0.73 * lit, lit)  # half the light
    grid, bare = (grid_of(read("number-drop", one.astype(np.uint8)), "number-drop") for one in (shaded, lit))
    assert grid == bare


def test_a_sheet_for_pens_has_their_looks_also_with_looks_for_handwriting() -> None:
    board = layout("blokus-dice").board
    assert InkReader(board, InkAppearance()).looks == Ink.on(board).colours


def test_digits_in_a_loop_are_circled_and_no_others() -> None:
    circled = {place for place, one in read("number-drop").places.items() if one.best[0].endswith("circled")}
    top = layout("number-drop").board.rows
    expected = {
        f"p1.{'abcdefg'[column]}{top - row}" for loop in EXPECTED["number-drop"]["circled"] for row, column in loop
    }
    assert circled == expected


def test_the_picture_of_a_cell_shows_it_and_half_of_those_beside_it() -> None:
    reader = table_reader(camera(), layout("number-drop"), None)
    reader.read(frame(picture("number-drop")))
    crop = reader.crop(frame(picture("number-drop")), "p1.a14")
    assert crop.shape == (72, 72, 3)
    light = crop[30:42].mean(axis=(0, 2))
    lines = [first + int(light[first : first + 12].argmin()) for first in (12, 48)]
    assert lines == pytest.approx([18, 54], abs=3)


def covered(game: str, corners_mm: list[tuple[float, float]], colour: tuple[int, int, int]) -> np.ndarray:
    """The picture with a flat thing of one colour on the sheet."""
    points = np.array([(x, y, 0.3) for x, y in corners_mm])
    pixels = np.round(project(camera(), pose(game), points)).astype(np.int32)
    return cv2.fillPoly(picture(game).copy(), [pixels], colour)


@pytest.mark.parametrize("game", ["number-drop", "blokus-dice"])
def test_ink_that_a_lamp_bleaches_is_not_read_as_none(game: str) -> None:
    bounds = layout(game).board.bounds_mm
    centre = project(camera(), pose(game), np.array([[0.0, bounds.near_mm / 2, 0.0]]))[0]
    y, x = np.mgrid[: camera().size[1], : camera().size[0]]
    lamp = 400 * np.exp(-((x - centre[0]) ** 2 + (y - centre[1]) ** 2) / (2 * 60.0**2))
    reading = read(game, np.clip(picture(game) + lamp[..., None], 0, 255).astype(np.uint8))
    hidden = [place for place, one in reading.places.items() if one.hidden_by is not None]
    assert len(hidden) > 8
    assert {reading.places[place].hidden_by for place in hidden} == {HindranceKind.GLARE}
    lines = zip(grid_of(reading, game), EXPECTED[game]["grid"], strict=True)
    pairs = [(seen, there) for line, expected in lines for seen, there in zip(line, expected, strict=True)]
    assert any(seen == "?" and there != "." for seen, there in pairs)
    assert sum(seen not in ("?", there) for seen, there in pairs) <= (1 if game == "number-drop" else 0)


@pytest.mark.parametrize("game", ["number-drop", "blokus-dice"])
def test_cells_under_a_hand_are_hidden_and_the_others_are_read(game: str) -> None:
    board = layout(game).board
    right, near = board.bounds_mm.right_mm, board.bounds_mm.near_mm
    cell = board.cell_mm
    hand = [(right + 35, near + cell), (right - 1.4 * cell, near + cell), (right - 1.4 * cell, near + 4 * cell)]
    hand.append((right + 35, near + 4 * cell))
    reading = read(game, covered(game, hand, (120, 150, 205)))
    assert reading.hindered_by(HindranceKind.HAND) is not None
    grid = grid_of(reading, game)
    assert [line[-1] for line in grid[-4:-1]] == ["?", "?", "?"]
    assert not any("?" in line[:-3] for line in grid)


def test_a_pen_on_the_sheet_hides_the_cells_below_it() -> None:
    pen = [(-60.0, 10.0), (60.0, 22.0), (60.0, 32.0), (-60.0, 20.0)]
    reading = read("number-drop", covered("number-drop", pen, (30, 120, 30)))
    assert reading.hidden
    assert not set(reading.hidden) & {"p1.a1", "p1.d1", "p1.g3", "p1.c4", "p1.d14"}


@pytest.mark.parametrize(("game", "place"), [("number-drop", "p1.c10"), ("blokus-dice", "p1.b6")])
def test_a_cell_beside_an_object_is_hidden_if_only_its_colour_tells_what_is_in_it(game: str, place: str) -> None:
    board = layout(game).board
    x, y = board.centre_mm(place)
    side = board.cell_mm
    near = [
        (x + across * side, y - below * side) for across, below in ((-0.5, 0.5), (0.5, 0.5), (0.5, 1.5), (-0.5, 1.5))
    ]
    seen = read(game, covered(game, near, (20, 20, 20)))
    assert (seen.places[place].hidden_by is None) == (game == "number-drop")


def test_a_missing_sheet_is_hidden() -> None:
    two = default_layout("blokus-dice").with_sheets(2)
    two = replace(two, surfaces=tuple(one for one in two.surfaces if not isinstance(one, Tray)))
    reading = table_reader(camera(), two, None).read(frame(picture("blokus-dice")))
    assert grid_of(reading, "blokus-dice") == EXPECTED["blokus-dice"]["grid"]
    assert {one.hidden_by for place, one in reading.places.items() if place.startswith("p2.")} == {
        HindranceKind.NOT_LOCATED
    }
    assert "the sheet of p2: " in reading.hindrances[0].message


def test_only_changed_cells_and_their_neighbours_are_read_again() -> None:
    board = layout("number-drop").board
    reader = InkReader(board, PIECE_READERS["ink"].plain(board))
    view = SurfaceView(picture("number-drop"), camera(), pose("number-drop"), board)
    before = reader.read(view, board.places, {})
    bare = replace(view, image=np.full_like(view.image, 200))
    after = reader.read(bare, ["p1.d1"], before)
    assert after["p1.d1"].log_odds < 0 < before["p1.d1"].log_odds
    assert np.array_equal(present(after["p1.g3"].scores), present(before["p1.g3"].scores))


def test_written_cells_have_a_picture_of_their_ink_and_keep_it_until_they_are_read_again() -> None:
    board = layout("number-drop").board
    reader = InkReader(board, PIECE_READERS["ink"].plain(board))
    view = SurfaceView(picture("number-drop"), camera(), pose("number-drop"), board)
    before = reader.read(view, board.places, {})
    assert {place for place, one in before.items() if one.reading.picture} == {
        place for place, one in before.items() if one.log_odds > 0
    }
    darker = replace(view, image=np.asarray(0.9 * view.image, dtype=np.uint8))
    after = reader.read(darker, ["p1.d1"], before)
    assert after["p1.g3"].reading.picture is before["p1.g3"].reading.picture
    assert after["p1.d1"].reading.picture is not before["p1.d1"].reading.picture
    pictures = [present(before[place].reading.picture) for place in ("p1.c1", "p1.d1", "p1.g3")]
    assert pictures[1].difference(present(after["p1.d1"].reading.picture)) < WRITTEN_ANEW / 10
    assert all(one.difference(other) > WRITTEN_ANEW for one, other in combinations(pictures, 2))


def test_readings_are_drawn_on_a_copy_of_the_picture() -> None:
    board = layout("number-drop").board
    reader = InkReader(board, PIECE_READERS["ink"].plain(board))
    view = SurfaceView(picture("number-drop"), camera(), pose("number-drop"), board)
    drawn = reader.draw(view.image, view, reader.read(view, board.places, {}))
    assert drawn.shape == view.image.shape
    assert (drawn != view.image).any()


def test_a_blot_is_no_empty_cell_and_no_likely_sign() -> None:
    board = layout("number-drop").board
    x, y = board.centre_mm("p1.g13")
    half = 0.42 * board.cell_mm
    corners = [(x - half, y - half), (x + half, y - half), (x + half, y + half), (x - half, y + half)]
    view = SurfaceView(covered("number-drop", corners, (25, 25, 30)), camera(), pose("number-drop"), board)
    blot = InkReader(board, PIECE_READERS["ink"].plain(board)).read(view, board.places, {})["p1.g13"]
    assert blot.log_odds > 0
    assert blot.reading.best[1] < 0.3


def test_the_probability_of_a_blot_is_shared_by_all_signs(monkeypatch: pytest.MonkeyPatch) -> None:
    class HalfThreeHalfBlot:
        def read(self, _ink: object, cells: np.ndarray) -> np.ndarray:
            signs = np.log([0.5 if sign in {"3", BLOT} else 1e-9 for sign in SIGNS])
            return np.tile([*signs, -30.0, -30.0, -30.0, -30.0, -30.0], (len(cells), 1))

    monkeypatch.setattr("vision.readers.ink.reader.shipped", HalfThreeHalfBlot)
    board = layout("number-drop").board
    view = SurfaceView(picture("number-drop"), camera(), pose("number-drop"), board)
    one = InkReader(board, PIECE_READERS["ink"].plain(board)).read(view, board.places, {})["p1.d4"]
    probabilities = one.reading.probabilities
    rare = 3 * np.exp(-2.4)
    of_the_blot = 0.5 / len(set(SIGNS) - {EMPTY_SIGN, BLOT})
    total = 0.5 + of_the_blot * (len(set(SIGNS) - {EMPTY_SIGN, BLOT}) - 3 + rare)
    assert probabilities["digit 3"] == pytest.approx((0.5 + of_the_blot) / total, abs=0.01)
    assert probabilities["cross"] == pytest.approx(of_the_blot / total, abs=0.01)


def test_a_cell_is_read_again_with_its_eight_neighbours(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(3)

    class AlwaysAnother:
        def read(self, _ink: object, cells: np.ndarray) -> np.ndarray:
            return random.normal(0.0, 1.0, (len(cells), len(SIGNS) + 5))

    monkeypatch.setattr("vision.readers.ink.reader.shipped", AlwaysAnother)
    board = layout("number-drop").board
    view = SurfaceView(picture("number-drop"), camera(), pose("number-drop"), board)
    reader = InkReader(board, PIECE_READERS["ink"].plain(board))
    before = reader.read(view, board.places, {})

    def read_again(places: list[str]) -> set[str]:
        after = reader.read(view, places, before)
        scores = {place: (present(before[place].scores), present(after[place].scores)) for place in board.places}
        return {place for place, (was, now) in scores.items() if not np.array_equal(was, now)}

    assert read_again(["p1.d5"]) == {f"p1.{column}{row}" for column in "cde" for row in (4, 5, 6)}
    assert read_again(["p1.a1"]) == {"p1.a1", "p1.a2", "p1.b1", "p1.b2"}
    assert read_again([]) == set()


def test_looks_and_sides_are_computed_from_the_scores_of_each_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    class Anything:
        def read(self, _ink: object, cells: np.ndarray) -> np.ndarray:
            random = np.random.default_rng(3)
            signs = np.log(random.dirichlet(np.full(len(SIGNS), 0.3), len(cells)) + 1e-12)
            return np.column_stack([signs, random.normal(0.0, 2.0, (len(cells), 5))])

    monkeypatch.setattr("vision.readers.ink.reader.shipped", Anything)
    board = layout("number-drop").board
    view = SurfaceView(picture("number-drop"), camera(), pose("number-drop"), board)
    seen = InkReader(board, PIECE_READERS["ink"].plain(board)).read(view, board.places, {})
    shown = [sign for sign in SIGNS if sign not in {EMPTY_SIGN, BLOT}]
    for one in seen.values():
        assert one.scores is not None
        assert one.loop_log_odds is not None
        share = dict(zip(SIGNS, np.exp(one.scores), strict=False))
        written = sum(share[sign] for sign in (*shown, BLOT))
        assert one.log_odds == pytest.approx(np.log(max(written, 1e-9)) - np.log(max(share[EMPTY_SIGN], 1e-9)))
        given = {sign: max((share[sign] + share[BLOT] / len(shown)) / written, 1e-4) for sign in shown}
        inside, *lines = (1 / (1 + np.exp(-one.loop_log_odds))).tolist()
        if one.log_odds > 0:
            assert [sides["loop"] for sides in one.reading.sides.values()] == pytest.approx(lines)
            assert [sum(sides.values()) for sides in one.reading.sides.values()] == pytest.approx([1.0] * 4)
        else:
            assert one.reading.sides == {}
        weights = {"cross": given[CROSS]}
        for sign in set(shown) - {CROSS}:
            weights[f"digit {sign}"] = (1 - inside) * given[sign]
            weights[f"digit {sign} circled"] = inside * given[sign]
        for look in one.reading.rarer:
            weights[look] *= np.exp(-2.4)
        total = sum(weights.values())
        there = 1 / (1 + math.exp(-one.log_odds))
        expected = {"empty": 1 - there} | {look: there * weight / total for look, weight in weights.items()}
        assert set(one.reading.rarer) == {f"digit {digit}{loop}" for digit in "089" for loop in ("", " circled")}
        assert set(one.reading.rarer.values()) == {2.4}
        assert one.reading.probabilities == pytest.approx(expected, rel=1e-3, abs=2e-5)


def test_cell_positions_are_computed_once_for_each_pose(monkeypatch: pytest.MonkeyPatch) -> None:
    poses = []

    def watched(camera: CameraModel, pose: Pose, *rest: Any) -> PixelMap:
        poses.append(pose)
        return flat_map(camera, pose, *rest)

    monkeypatch.setattr("vision.readers.ink.reader.flat_map", watched)
    board = layout("number-drop").board
    reader = InkReader(board, PIECE_READERS["ink"].plain(board))
    view = SurfaceView(picture("number-drop"), camera(), pose("number-drop"), board)
    again = replace(view, pose=replace(view.pose))
    for one in (view, view, again, replace(again, camera=replace(view.camera))):
        reader.read(one, ["p1.d1"], {})
    assert [pose is again.pose for pose in poses] == [False, True, True]


def test_a_pushed_sheet_is_read_at_its_new_position() -> None:
    board = layout("number-drop").board
    reader = InkReader(board, PIECE_READERS["ink"].plain(board))
    view = SurfaceView(picture("number-drop"), camera(), pose("number-drop"), board)
    before = reader.read(view, board.places, {})
    was = pose("number-drop")
    pushed = replace(was, translation=was.translation + was.rotation @ (board.cell_mm, 0.0, 0.0))
    after = reader.read(replace(view, pose=pushed), board.places, {})
    written = [place for place in board.places if place[3] != "a" and before[place].log_odds > 0]
    assert len(written) > 5
    assert all(after[str(board.neighbour(place, -1, 0))].log_odds > 0 for place in written)


def test_one_cell_that_changed_is_read_as_in_the_whole_picture() -> None:
    reader, fresh = (table_reader(camera(), layout("number-drop"), None) for _ in range(2))
    first, place = picture("number-drop"), "p1.d14"
    before = reader.read(frame(first))
    x, y = layout("number-drop").board.centre_mm(place)
    ends = np.array([(x, y + 4.0, 0.0), (x, y - 4.0, 0.0)])
    start, end = np.round(project(camera(), pose("number-drop"), ends)).astype(int).tolist()
    written = first.copy()
    cv2.line(written, start, end, (40, 40, 40), 2)
    again = reader.read(replace(frame(written), sequence=1, time_s=0.1))
    whole = fresh.read(frame(written))
    assert before.places[place].best[0] == "empty"
    assert whole.places[place].best[0] == "digit 1"
    for name, one in whole.places.items():
        assert again.places[name].probabilities == pytest.approx(one.probabilities, abs=0.02), name


@pytest.mark.parametrize("game", ["number-drop", "blokus-dice"])
@pytest.mark.parametrize("scale", [0.94, 1.06])
def test_a_sheet_printed_at_another_scale_is_read(game: str, scale: float) -> None:
    printed = layout(game)
    sheet, markers = printed.board, printed.markers
    centres = {number: (scale * x, scale * y) for number, (x, y) in markers.centres_mm.items()}
    larger = replace(
        printed,
        markers=replace(markers, side_mm=scale * markers.side_mm, centres_mm=centres),
        surfaces=(replace(sheet, cell_mm=scale * sheet.cell_mm),),
    )
    reading = table_reader(camera(), larger, None).read(frame(picture(game)))
    wrong = sum(a != b for a, b in zip("".join(grid_of(reading, game)), "".join(EXPECTED[game]["grid"]), strict=True))
    assert wrong <= (1 if game == "number-drop" else 0)


# Handwritten digits in a printed grid, in a photo.


def test_digits_crosses_and_empty_cells_are_read() -> None:
    total = right = 0
    for seed in range(6):
        image, grid, signs = handwritten_grid(seed)
        for row, told in zip(read_handwriting(image, grid, "page.jpg"), signs, strict=True):
            for cell, sign in zip(row, told, strict=True):
                assert sum(cell.probabilities.values()) == pytest.approx(1)
                assert (cell.symbol == BARE) == (sign == EMPTY_SIGN)
                total += sign not in {EMPTY_SIGN, BLOT}
                right += cell.symbol == sign
    assert right >= 0.9 * total > 50


def test_several_signs_in_a_cell_are_a_number_or_in_doubt() -> None:
    """A tidy hand writes each number into a cell of 60 pixels."""
    said = ["10", "17", "-4", "42", "63", "29", "58", "71"]
    page = np.full((6 * 60, 8 * 60, 3), 235, dtype=np.uint8)
    for at in range(9):
        cv2.line(page, (60 * at, 0), (60 * at, 6 * 60), (150, 150, 150), 1, cv2.LINE_AA)
        cv2.line(page, (0, 60 * min(at, 6)), (8 * 60, 60 * min(at, 6)), (150, 150, 150), 1, cv2.LINE_AA)
    for row in range(6):
        hand = Writer(np.random.default_rng(row), 0.3)
        for column, number in enumerate(said):
            for place, sign in enumerate(number):
                middle = np.array([60 * column + 19 + 22 * place, 60 * row + 30])
                for stroke in hand.sign(sign, 1.0):
                    points = np.round(stroke * (30, 55) + middle).astype(np.int32)
                    cv2.polylines(page, [points.reshape(-1, 1, 2)], False, (60, 40, 40), 3, cv2.LINE_AA)
    photo = np.pad(page, ((40, 40), (40, 40), (0, 0)), constant_values=235)
    corners = ((40.0, 40.0), (520.0, 40.0), (520.0, 400.0), (40.0, 400.0))
    cells = read_handwriting(photo, TileGrid(6, 8, corners), "page.jpg")
    assert not any(cell.probability > 0.9 for row in cells for cell in row if cell.symbol in DIGITS)
    assert sum(cell.symbol == number for row in cells for cell, number in zip(row, said, strict=True)) > 24


def test_a_grid_beyond_the_picture_or_too_small_is_refused() -> None:
    image, grid, _ = handwritten_grid(1)
    with pytest.raises(LayoutError, match=r"is outside page\.jpg"):
        read_handwriting(image, TileGrid(5, 6, (*grid.corners[:3], (80.0, 500.0))), "page.jpg")
    with pytest.raises(FrameError, match="pixels wide or high"):
        read_handwriting(image, TileGrid(40, 40, grid.corners), "page.jpg")


# Looks of ink need no enrolment; their names are the game's.


@pytest.mark.parametrize("game", ["number-drop", "blokus-dice"])
def test_looks_are_named_as_the_game_names_them(game: str) -> None:
    looks = reader_kind(layout(game)).plain(layout(game).board).looks
    assert set(looks) == set(load(game).looks) - {EMPTY}


@pytest.mark.parametrize("game", ["number-drop", "blokus-dice"])
def test_looks_are_saved_and_loaded(game: str, tmp_path: Path) -> None:
    kind = reader_kind(layout(game))
    plain = kind.plain(layout(game).board)
    kind.save(plain, tmp_path / "looks.json")
    assert load_any(tmp_path / "looks.json") == plain
    assert plain.traits == (plain.looks,)


@pytest.mark.parametrize(
    ("said", "says"),
    [({"format": "blocks"}, "have format 'blocks'"), ({"format": "tabletop-referee ink 1", "pens": "red"}, "list of")],
)
def test_other_files_are_refused(said: dict[str, str], says: str, tmp_path: Path) -> None:
    (tmp_path / "looks.json").write_text(json.dumps(said), encoding="utf-8")
    with pytest.raises(EnrolmentError, match=says):
        load_appearance(tmp_path / "looks.json")


def test_pens_are_not_taught() -> None:
    kind = reader_kind(layout("blokus-dice"))
    with pytest.raises(EnrolmentError, match="recognised without being taught"):
        kind.positions("a1=red", layout("blokus-dice").board)
