"""Paper kits: what is in the PDF is true to scale, nets close when they are folded, colours are told apart."""

import itertools
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt
import pytest

from app.settings.table_layout import kit_for
from engine import registry
from frontends.printing.kit.instead import instead_of_paper
from frontends.printing.kit.nets import Edge, Net, cube_net, edges_of, pyramid_net, same_edge
from frontends.printing.kit.pages import plan_kit
from frontends.printing.kit.pieces import block_items, dice_items, disc_items, net_item, pyramid_items
from frontends.printing.pages import MARGIN_MM, PAPERS_MM, Page, Point, write_pdf
from vision.layout.kit import KIT, RGB, kit_of
from vision.layout.pieces import PYRAMID_SIZES, BlockPieces, DicePieces, DiscPieces, PyramidPieces
from vision.layout.table import shipped_data

BOARDS = ("blockade", "deblockle", "diaballik")
GAMES = tuple(game for game in registry.games() if KIT in shipped_data(game))
Floats = npt.NDArray[np.float64]


def pages_of(game: str, paper: str) -> tuple[Page, ...]:
    return plan_kit(registry.load(game), kit_for(registry.load(game), {}), paper)


@dataclass(frozen=True)
class DrawnPage:
    """What a page of a PDF draws, in millimetres: its size, and the corners of each path."""

    size_mm: tuple[float, float]
    paths: tuple[tuple[Point, ...], ...]


def drawn(pages: tuple[Page, ...], path: Path) -> list[DrawnPage]:
    """Write pages as a PDF, and read its drawing operators back."""
    write_pdf(pages, path, title="kit")
    content = path.read_bytes().decode("latin-1")
    sizes = re.findall(r"/MediaBox \[ 0 0 ([\d.]+) ([\d.]+)", content)
    streams = re.findall(r"stream\r?\n(.*?)endstream", content, re.DOTALL)
    assert len(sizes) == len(streams) == len(pages)
    return [_page(size, stream) for size, stream in zip(sizes, streams, strict=True)]


def _page(size: tuple[str, str], stream: str) -> DrawnPage:
    paths: list[tuple[Point, ...]] = []
    points: list[Point] = []
    numbers: list[float] = []
    for token in re.sub(r"BT.*?ET", "", stream, flags=re.DOTALL).split():
        if re.fullmatch(r"-?[\d.]+", token):
            numbers.append(float(token) * 25.4 / 72)
            continue
        if token in {"m", "l"}:
            points.append((numbers[-2], numbers[-1]))
        elif token == "re":
            x, y, width, height = numbers[-4:]
            points += [(x, y), (x + width, y), (x + width, y + height), (x, y + height)]
        elif token in {"S", "f*", "B*"}:
            paths.append(tuple(points))
            points = []
        numbers = []
    width, height = (float(side) * 25.4 / 72 for side in size)
    return DrawnPage((width, height), tuple(paths))


@pytest.mark.parametrize("paper", sorted(PAPERS_MM))
@pytest.mark.parametrize("game", GAMES)
def test_every_page_has_a_ruler_of_100_mm_and_stays_in_the_margin(game: str, paper: str, tmp_path: Path) -> None:
    for page in drawn(pages_of(game, paper), tmp_path / "kit.pdf"):
        assert sorted(page.size_mm) == pytest.approx(sorted(PAPERS_MM[paper]), abs=0.01)
        lengths = [math.dist(*points) for points in page.paths if len(points) == 2 and points[0][1] == points[1][1]]
        assert any(length == pytest.approx(100, abs=0.01) for length in lengths), "the ruler"
        corners = np.array([corner for points in page.paths for corner in points])
        # most printers leave 5 mm white
        assert corners.min() > 4.9
        assert (np.array(page.size_mm) - corners).min() > 4.9


@pytest.mark.parametrize("paper", sorted(PAPERS_MM))
@pytest.mark.parametrize("game", BOARDS)
def test_the_parts_of_a_board_join_to_the_squares_and_markers_of_the_layout(game: str, paper: str) -> None:
    """Lay the parts of the board together as the words say, and look for markers and squares."""
    layout = kit_of(game).layout
    board = [page for page in pages_of(game, paper) if page.cuts]
    px_per_mm = 4
    whole: dict[tuple[int, int], Floats] = {}
    at = {page: re.search(r"part (\d+) of (\d+): (\w+), (\w+)", _words(page)) for page in board}
    rows = list(dict.fromkeys(found[3] for found in at.values() if found))
    columns = list(dict.fromkeys(found[4] for found in at.values() if found))
    for page, found in at.items():
        assert found is not None
        (cut,) = page.cuts
        glue_right, glue_below = (names.index(found[k]) + 1 < len(names) for names, k in ((columns, 4), (rows, 3)))
        left, top = cut.x_mm, cut.y_mm + cut.height_mm
        right, low = cut.x_mm + cut.width_mm - 10 * glue_right, cut.y_mm + 10 * glue_below
        whole[rows.index(found[3]), columns.index(found[4])] = _cropped(page, left, right, low, top, px_per_mm)
    joined = np.vstack([np.hstack([whole[row, column] for column in range(len(columns))]) for row in range(len(rows))])
    picture = np.pad(joined.astype(np.uint8), 20, constant_values=255)
    detector = cv2.aruco.ArucoDetector(cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_4X4_50))
    quads, ids, _ = detector.detectMarkers(picture)
    seen = {int(number): quad.reshape(4, 2) / px_per_mm for number, quad in zip(ids.ravel(), quads, strict=True)}
    markers = layout.markers
    assert sorted(seen) == sorted(markers.centres_mm)
    origin = np.mean([quad.mean(axis=0) - _down(markers.centres_mm[number]) for number, quad in seen.items()], axis=0)
    for number, quad in seen.items():
        assert quad - origin == pytest.approx(markers.corners_mm(number)[:, :2] * (1, -1), abs=0.4)
    for place in layout.board.places:
        corners = np.array([origin + _down(corner) for corner in layout.board.outline_mm(place)]) * px_per_mm + 0
        for column, row in np.round(corners).astype(int):
            assert picture[row - 3 : row + 4, column - 3 : column + 4].min() < 128, f"a corner of {place} is printed"


def _words(page: Page) -> str:
    return "; ".join(label.text for label in page.labels)


def _down(point: tuple[float, float] | Floats) -> Floats:
    return np.array([point[0], -point[1]])


def _cropped(page: Page, left: float, right: float, low: float, top: float, px_per_mm: int) -> Floats:
    """Return the shapes and lines of a page between these sides, drawn by a printer; 0 is black."""
    height, width = round((top - low) * px_per_mm), round((right - left) * px_per_mm)
    picture = np.full((height, width), 255, np.uint8)

    def pixel(x: float, y: float) -> tuple[int, int]:
        return round((x - left) * px_per_mm), round((top - y) * px_per_mm)

    for part in itertools.chain(*page.shapes):
        (x, y), (to_x, to_y) = pixel(part.x_mm, part.y_mm), pixel(part.x_mm + part.width_mm, part.y_mm + part.height_mm)
        picture[max(to_y, 0) : y, max(x, 0) : to_x] = 0
    for line in page.lines:
        cv2.line(picture, pixel(*line.start_mm), pixel(*line.end_mm), 0, 2)
    return picture.astype(np.float64)


def folded(net: Net, angles: Mapping[tuple[str, str], float]) -> dict[str, Floats]:
    """Fold a net: return the corners (n, 3) of each face; ``angles`` are those of its hinges, away from the viewer."""
    first, *others = net.faces
    flat = {name: np.array([(*corner, 0.0) for corner in face]) for name, face in net.faces.items()}
    placed = {first: (np.eye(3), np.zeros(3))}
    while others:
        name, known, (start, end) = next(
            (name, known, edge)
            for name in others
            for known in placed
            for edge in edges_of(net.faces[known])
            if any(same_edge(edge, own) for own in edges_of(net.faces[name]))
        )
        axis = np.array([*np.subtract(end, start), 0.0]) / math.dist(start, end)
        turn = np.asarray(cv2.Rodrigues(axis * angles.get((known, name), angles.get((name, known), 0.0)))[0])
        foot = np.array([*start, 0.0])
        rotation, shift = placed[known]
        placed[name] = rotation @ turn, rotation @ (foot - turn @ foot) + shift
        others.remove(name)
    return {name: flat[name] @ rotation.T + shift for name, (rotation, shift) in placed.items()}


def check_closed(net: Net, solid: Mapping[str, Floats]) -> list[Edge]:
    """Assert that the edges that a tab glues together lie upon each other; return those that stay free by mistake."""
    where = {
        edge: solid[name][[k, (k + 1) % len(face)]]
        for name, face in net.faces.items()
        for k, edge in enumerate(edges_of(face))
    }
    for tab in net.tabs:
        assert math.dist(*tab.edge) == pytest.approx(math.dist(*tab.under)), "glued edges are equally long"
        edge, under = (
            next(ends for known, ends in where.items() if same_edge(known, one)) for one in (tab.edge, tab.under)
        )
        assert min(np.abs(edge - under).max(), np.abs(edge - under[::-1]).max()) < 1e-6, "they meet"
    glued = [edge for tab in net.tabs for edge in (tab.edge, tab.under)]
    return [edge for edge in where if not any(same_edge(edge, one) for one in (*glued, *net.hinges, *net.open_edges))]


@pytest.mark.parametrize("side_mm", [16.0, 20.0, 28.0])
def test_the_net_of_a_cube_folds_to_a_closed_cube(side_mm: float) -> None:
    net = cube_net(side_mm)
    hinges = [("north", "up"), ("up", "south"), ("south", "down"), ("up", "west"), ("up", "east")]
    solid = folded(net, dict.fromkeys(hinges, math.pi / 2))
    assert not check_closed(net, solid), "no edge is left open"
    corners = np.unique(np.round(np.concatenate(list(solid.values())), 6), axis=0)
    assert len(corners) == 8
    assert np.ptp(corners, axis=0) == pytest.approx([side_mm] * 3)
    # seen with ``up`` on top and north away, each face is on its own side
    middle = corners.mean(axis=0)
    towards = {name: face.mean(axis=0) - middle for name, face in solid.items()}
    up, north = towards["up"], towards["north"]
    assert np.cross(north, up) == pytest.approx(towards["east"] * side_mm / 2)
    assert towards["down"] == pytest.approx(-up)
    assert towards["south"] == pytest.approx(-north)


@pytest.mark.parametrize("size", PYRAMID_SIZES)
def test_the_net_of_a_pyramid_folds_to_the_layouts_pyramid(size: str) -> None:
    pieces = PyramidPieces.on(kit_of("blockade").layout.board)
    wanted = pieces.sizes[size]
    net = pyramid_net(wanted, 6.0)
    slope = math.atan2(wanted.apex_mm, wanted.base_mm / 2)
    # the angle between the normals of two neighbouring sides
    turn = math.acos(math.cos(slope) ** 2)
    hinges = {(f"side {k}", f"side {k + 1}"): turn for k in range(1, 4)}
    solid = folded(net, {**hinges, ("side 2", "tip"): slope})
    free = check_closed(net, solid)
    base = np.unique(np.round(np.concatenate([solid[f"side {k}"][:2] for k in range(1, 5)]), 6), axis=0)
    assert len(base) == 4, "the base is a closed square"
    sides = sorted(math.dist(*pair) for pair in itertools.combinations(base.tolist(), 2))
    assert sides[:4] == pytest.approx([wanted.base_mm] * 4)
    normal = np.cross(base[1] - base[0], base[2] - base[0])
    normal /= np.linalg.norm(normal)
    heights = np.abs((solid["tip"] - base[0]) @ normal)
    assert heights == pytest.approx([wanted.height_mm] * 4), "the tip is level, and as high as the layout says"
    assert len(free) == 3 + 3, "only three sides of the tip, and what they lie on, are not glued"


def test_pyramids_nest() -> None:
    """A larger one goes below a smaller one, and the smaller one's sides then reach further down than its tip."""
    pieces = PyramidPieces.on(kit_of("blockade").layout.board)
    for lower, upper in (("L", "M"), ("M", "S"), ("L", "S")):
        below, above = pieces.sizes[lower], pieces.sizes[upper]
        assert above.base_mm / above.apex_mm == pytest.approx(below.base_mm / below.apex_mm, rel=0.03)
        assert above.base_mm < 0.9 * below.base_mm


def in_lab(colour: RGB) -> Floats:
    """CIELAB of a screen colour."""
    return np.asarray(cv2.cvtColor(np.array([[colour]], dtype=np.float32), cv2.COLOR_RGB2LAB)[0, 0], dtype=np.float64)


SEEN_BY = {
    "everybody": np.eye(3),
    "protanopes": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopes": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
}
"""How linear light looks to them, after Machado, Oliveira and Fernandes (2009), severity 1."""


def seen_by(people: str, colour: RGB) -> RGB:
    """Return a screen colour as these people see it."""
    linear = np.where(
        np.array(colour) <= 0.04045, np.array(colour) / 12.92, ((np.array(colour) + 0.055) / 1.055) ** 2.4
    )
    shown = np.clip(SEEN_BY[people] @ linear, 0, 1)
    red, green, blue = np.where(shown <= 0.0031308, 12.92 * shown, 1.055 * shown ** (1 / 2.4) - 0.055)
    return float(red), float(green), float(blue)


@pytest.mark.parametrize("people", sorted(SEEN_BY))
@pytest.mark.parametrize("game", BOARDS)
def test_colours_are_told_apart(game: str, people: str) -> None:
    kit = kit_of(game)
    colours = dict(kit.colours)
    if game == "diaballik":
        # blocks and pyramids are known by their ink and their sloping sides, white discs by nothing else
        colours["squares"] = kit.squares
    shown = {name: in_lab(seen_by(people, colour)) for name, colour in colours.items()}
    for one, other in itertools.combinations(shown, 2):
        assert np.linalg.norm(shown[one] - shown[other]) > 20, f"{one} and {other}"


@pytest.mark.parametrize("game", ["deblockle", "diaballik"])
def test_players_are_told_apart_in_a_grey_print(game: str) -> None:
    kit = kit_of(game)
    first, second = (in_lab(kit.colours[name])[0] for name in registry.load(game).players)
    assert abs(first - second) > 35
    for name in registry.load(game).players:
        assert abs(in_lab(kit.colours[name])[0] - in_lab(kit.ink_on(name))[0]) > 50


@pytest.mark.parametrize("game", BOARDS)
def test_lines_to_cut_and_fold_are_seen_in_a_grey_print(game: str) -> None:
    kit = kit_of(game)
    for name, colour in kit.colours.items():
        (net,) = (net_item(cube_net(20.0), colour, kit.ink_on(name), {}),)
        lines = [figure for figure in net.figures if figure.stroke is not None and figure.fill is None]
        on_faces = [line for line in lines if line.stroke == kit.ink_on(name)]
        assert {line.dash_mm > 0 for line in on_faces} == {True, False}, "folds are dashed, cuts are not"
        assert abs(in_lab(colour)[0] - in_lab(kit.ink_on(name))[0]) > 35
        tabs = [line for line in lines if line not in on_faces]
        assert len(tabs) == 3 * 7
        assert all(line.stroke is not None and in_lab(line.stroke)[0] < 10 for line in tabs), "black on white paper"


def test_the_first_page_says_the_command() -> None:
    game = registry.load("number-drop")
    usual, three, solo = (
        _words(plan_kit(game, kit_for(game, options), "a4", options)[0])
        for options in ({}, {"players": 3}, {"tiles": "solo_side"})
    )
    assert "./run start number-drop;" in usual
    assert "./run start number-drop;" in three, "it asks how many play"
    assert "./run watch --game number-drop --layout kit --option tiles=solo_side;" in solo


def test_only_pages_with_nets_speak_of_folding() -> None:
    assert "Fold" in _words(pages_of("deblockle", "a4")[-1])
    assert "Fold" not in _words(pages_of("diaballik", "a4")[-1])


def test_a_kit_has_all_pieces_in_their_size() -> None:
    deblockle, diaballik, blockade = map(kit_of, ("deblockle", "diaballik", "blockade"))
    blocks = BlockPieces.on(deblockle.layout.board)
    (item,) = block_items(deblockle, blocks, ["gold"])
    assert (item.width_mm, item.height_mm) == pytest.approx((3 * blocks.side_mm, 4 * blocks.side_mm + 7))
    discs = DiscPieces.on(diaballik.layout.board)
    (disc,) = disc_items(diaballik, discs, ["white"])
    assert (disc.width_mm, disc.height_mm) == pytest.approx((discs.diameter_mm, discs.diameter_mm))
    pyramids = PyramidPieces.on(blockade.layout.board)
    assert [len(pyramid_items(blockade, pyramids, size)) for size in PYRAMID_SIZES] == [25, 25, 30]
    for game, count in (("blockade", 4), ("number-drop", 5), ("blokus-dice", 3)):
        tray = next(one for one in kit_of(game).layout.surfaces if isinstance(one.pieces, DicePieces))
        dice = dice_items(kit_of(game), DicePieces.on(tray), 3)
        assert len(dice) == count
        assert [die.width_mm for die in dice] == pytest.approx([60.0] * count)


@pytest.mark.parametrize("game", ["blockade", "blokus-dice"])
def test_opposite_sides_of_a_die_add_up_to_seven(game: str) -> None:
    tray = next(one for one in kit_of(game).layout.surfaces if isinstance(one.pieces, DicePieces))
    for die in dice_items(kit_of(game), DicePieces.on(tray), 1):
        shown = [figure for figure in die.figures if figure.fill is not None and figure.stroke is None]
        up, down, north, east, south, west = (len(figure.contours) for figure in shown)
        assert up + down == north + south == east + west == 7


@pytest.mark.parametrize("game", GAMES)
def test_pieces_on_a_page_do_not_touch(game: str) -> None:
    for page in pages_of(game, "letter"):
        if page.cuts or not page.ruler or "cut out" not in _words(page):
            continue
        taken = np.zeros((round(4 * page.height_mm), round(4 * page.width_mm)), np.uint8)
        filled = [one for one in page.figures if one.stroke is not None and one.fill == one.stroke]
        for figure in filled:
            corners = np.round(np.array(figure.contours[0]) * 4).astype(np.int32)
            assert corners.min() >= 4 * MARGIN_MM - 1
            own = np.zeros_like(taken)
            cv2.fillPoly(own, [corners], 1)
            inside = np.asarray(cv2.erode(own, np.ones((5, 5), np.uint8)), dtype=np.uint8)
            assert not (inside & taken).any()
            taken |= inside


@pytest.mark.parametrize("game", GAMES)
def test_something_else_may_be_used(game: str) -> None:
    assert all(line.endswith(".") and "{" not in line for line in instead_of_paper(kit_of(game)))
