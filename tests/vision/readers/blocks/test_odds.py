"""The block reader's certainty on drawn pictures, and changes that must leave its answer unchanged."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import cv2
import numpy as np
import pytest

from tests.vision.readers.blocks.drawn import (
    BOARD,
    CAMERA,
    LOOKS,
    PIECES,
    SIDE_MM,
    SYMBOLS,
    Block,
    picture_of,
    seen_from,
    view_of,
)
from vision.frame import Image
from vision.geometry import Pose, project
from vision.readers.blocks import reader as block_reader
from vision.readers.blocks import reader as reader_module
from vision.readers.blocks.appearance import BlockAppearance
from vision.readers.blocks.faces import CloseFitter, ColourMetric, FaceFit, RoughFace, RoughFinder
from vision.readers.blocks.reader import BlockReader, BlockSighting
from vision.readers.probabilities import softmax

POSE = seen_from()
STANDING = (
    Block("a1", "star"),
    Block("g1", "x", "green", (4.0, -3.0), 8.0),
    Block("d2", "hoops", turned_deg=-15.0, quarter=1),
    Block("b4", "cross", "green", turned_deg=21.0),
    Block("f5", "slider", off_mm=(-5.0, 4.0), quarter=1),
    Block("a7", "stop", "green"),
    Block("g7", "star", "green", quarter=2),
)


def read(
    blocks: Sequence[Block] = STANDING, pose: Pose = POSE, looks: BlockAppearance = LOOKS
) -> dict[str, BlockSighting]:
    return seen_in(picture_of(blocks, pose), pose, looks)


def seen_in(image: Image, pose: Pose = POSE, looks: BlockAppearance = LOOKS) -> dict[str, BlockSighting]:
    return BlockReader(BOARD, looks).read(view_of(image, pose), BOARD.places, {})


def told(seen: dict[str, BlockSighting]) -> dict[str, tuple[str | None, str]]:
    return {place: (one.colour, one.face.symbol) for place, one in seen.items() if one.log_odds > 0}


def truth(blocks: Sequence[Block]) -> dict[str, tuple[str, str]]:
    return {block.place: (block.colour, block.top) for block in blocks}


@pytest.fixture(scope="module")
def seen() -> dict[str, BlockSighting]:
    return read()


def test_every_block_and_nothing_else_is_found_with_certainty(seen: dict[str, BlockSighting]) -> None:
    assert told(seen) == truth(STANDING)
    for block in STANDING:
        one = seen[block.place]
        assert one.is_clear
        assert (one.solid.x_mm, one.solid.y_mm) == pytest.approx((block.solid.x_mm, block.solid.y_mm), abs=1.2)
        if block.top != "stop":
            assert abs(one.solid.turned_deg - block.turned_deg) <= 3.0
        assert (one.solid.base_mm, one.solid.side_mm) == (BOARD.height_mm, SIDE_MM)
        assert set(one.colour_distance) == {"red", "green"}
        assert not replace(one, log_odds=-2.0).is_clear


def test_places_not_read_again_keep_their_sightings(seen: dict[str, BlockSighting]) -> None:
    bare = view_of(picture_of((), POSE), POSE)
    kept = BlockReader(BOARD, LOOKS).read(bare, (), seen)
    assert kept == seen


def test_the_answer_is_the_same_while_the_camera_is_moved_around_the_table() -> None:
    reader = BlockReader(BOARD, LOOKS)
    for azimuth_deg in (15.0, 105.0, 195.0):
        pose = seen_from(azimuth_deg)
        found = reader.read(view_of(picture_of(STANDING, pose), pose), BOARD.places, {})
        assert told(found) == truth(STANDING)


def test_probabilities_follow_from_symbol_fits_and_colour_distances(seen: dict[str, BlockSighting]) -> None:
    for block in STANDING:
        one = seen[block.place]
        shares = one.look_probabilities()
        assert sum(shares.values()) == pytest.approx(1.0)
        assert max(shares, key=lambda look: shares[look]) == f"{block.colour} block, {block.top} up"
        symbols = softmax(one.face.scores, 0.016, 0.002)
        squares = {name: -0.5 * off**2 for name, off in one.colour_distance.items()}
        colours = softmax(squares, 1.0, 0.002)
        for colour, share in colours.items():
            for symbol, fit in symbols.items():
                assert shares[f"{colour} block, {symbol} up"] == pytest.approx(share * fit)


def expected_odds(place: str, one: BlockSighting, below: float) -> float:
    """The odds of a block, computed from its face, its place, and the odds by its sides."""
    odds = 26.0 * (one.face.correlation - 0.7) + below
    nearest = min(one.colour_distance.values(), default=None)
    if nearest is not None:
        odds -= min(8.0, 0.8 * max(0.0, nearest - 1.5) ** 2)
    odds -= 0.8 * max(0.0, math.dist((one.face.x_mm, one.face.y_mm), BOARD.centre_mm(place)) - 7.0)
    alone = min(1.0, max(0.0, (6.0 - below) / 4.0))
    if place in BOARD.printed and one.face.symbol == "star" and one.face.edges < 2.2:
        faint = min(1.0, (2.2 - one.face.edges) / 0.6)
        odd = 1.0 if nearest is None else min(1.0, max(0.0, (nearest - 0.7) / 0.8))
        odds -= alone * 7.0 * max(faint, odd)
    if nearest is not None:
        faint = min(1.0, max(0.0, (1.7 - one.face.edges) / 0.3))
        odd = min(1.0, max(0.0, (nearest - 1.7) / 0.5))
        odds -= alone * 12.0 * faint * odd
    return odds


def with_things(image: Image) -> Image:
    """The picture with stars printed on the board, coins on it, and a block in an odd colour."""
    image = image.copy()
    for place, radius_mm, colour in (
        ("c6", 9.0, (150, 190, 200)),
        ("e6", 10.5, (60, 70, 190)),
        ("b2", 8.0, (220, 220, 220)),
    ):
        x, y = BOARD.centre_mm(place)
        turns = np.linspace(0, 2 * np.pi, 40, endpoint=False)
        height_mm = BOARD.height_mm + SIDE_MM
        rim = [[x + radius_mm * np.cos(turn), y + radius_mm * np.sin(turn), height_mm] for turn in turns]
        cv2.fillConvexPoly(image, np.round(project(CAMERA, POSE, rim)).astype(np.int32), colour, cv2.LINE_AA)
    for place, light in zip(sorted(BOARD.printed), (150, 190, 220, 170), strict=False):
        x, y = BOARD.centre_mm(place)
        angles = np.pi / 2 + np.arange(10) * np.pi / 5
        radii = SIDE_MM * np.tile([0.35, 0.14], 5)
        points = np.column_stack([x + radii * np.cos(angles), y + radii * np.sin(angles), np.full(10, height_mm)])
        star = np.round(project(CAMERA, POSE, points)).astype(np.int32)
        cv2.fillPoly(image, [star], (light, light, light), cv2.LINE_AA)
    return image


CROWD = (
    *STANDING,
    Block("c2", "star", off_mm=(9.0, 5.0)),
    Block("e4", "cross", "green", (8.0, -5.0), 12.0),
    Block("d6", "stop"),
)


@pytest.mark.parametrize(
    ("looks", "below"),
    [
        (LOOKS, 0.0),
        (LOOKS, -5.0),
        (LOOKS, 3.0),
        (LOOKS, 7.0),
        (BlockAppearance({}, LOOKS.masks), 3.0),
    ],
)
def test_odds_are_computed_from_face_colour_place_and_sides(
    looks: BlockAppearance, below: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(block_reader, "support", lambda sides: below)
    found = seen_in(with_things(picture_of(CROWD, POSE)), looks=looks)
    assert len(found) > 6
    for place, one in found.items():
        assert one.log_odds == pytest.approx(expected_odds(place, one, below), abs=1e-6), place
        assert one.log_odds >= -6.0
        assert one.face.correlation > 0.6


def test_odds_of_a_printed_star_fall_with_fainter_edges_and_odder_colours() -> None:
    cost = block_reader._printed_star_cost
    assert [cost(edges, 0.0) for edges in (1.5, 1.6, 1.9, 2.2, 3.0)] == pytest.approx([7, 7, 3.5, 0, 0])
    assert [cost(3.0, off) for off in (0.5, 0.7, 1.1, 1.5, 2.0)] == pytest.approx([0, 0, 3.5, 7, 7])
    assert cost(1.9, 1.3) == pytest.approx(7 * 0.75)
    assert cost(3.0, None) == 7.0
    flat = block_reader._flat_thing_cost
    assert [flat(edges, 3.0) for edges in (1.0, 1.4, 1.55, 1.7, 2.0)] == pytest.approx([12, 12, 6, 0, 0])
    assert [flat(1.0, off) for off in (1.0, 1.7, 1.95, 2.2, 3.0)] == pytest.approx([0, 0, 6, 12, 12])


def test_visible_sides_are_reported(seen: dict[str, BlockSighting]) -> None:
    for block in STANDING:
        sides = seen[block.place].sides
        for side, shares in sides.items():
            symbol = block.sides[("north", "east", "south", "west").index(str(side))]
            possible = {"slider", "x", "hoops", "cross"}
            if block.top in ("star", "stop"):
                assert set(shares) == possible
                assert shares[symbol] > 0.4
    assert any(seen[place].sides for place in seen)


def test_only_requested_places_are_read(seen: dict[str, BlockSighting]) -> None:
    reader = BlockReader(BOARD, LOOKS)
    view = view_of(picture_of([block for block in STANDING if block.place != "a1"], POSE), POSE)
    again = reader.read(view, ["d2"], seen)
    assert again["a1"] is seen["a1"]
    assert again["d2"] is not seen["d2"]
    assert "a1" not in told(reader.read(view, ["a1"], seen))


@pytest.mark.parametrize(("apart_mm", "both"), [(20.0, False), (23.0, True)])
def test_of_two_blocks_found_too_close_together_the_likelier_is_kept(
    apart_mm: float, both: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The limit is 0.72 of a side: 21.6 mm for blocks of 30 mm."""
    whole = CloseFitter.fit

    def nearer(self: CloseFitter, *given: Any) -> list[FaceFit | None]:
        fits = {sight.place: fit for sight, fit in zip(given[2], whole(self, *given), strict=True) if fit is not None}
        if "d4" in fits:
            fits["d4"] = replace(fits["d4"], x_mm=fits["c4"].x_mm + apart_mm, y_mm=fits["c4"].y_mm)
        return [fits.get(sight.place) for sight in given[2]]

    monkeypatch.setattr(CloseFitter, "fit", nearer)
    monkeypatch.setattr(block_reader, "support", lambda sides: 8.0)
    found = read([Block("c4", "hoops"), Block("d4", "x")])
    assert set(found) == ({"c4", "d4"} if both else {max(found, key=lambda place: found[place].log_odds)})
    assert "c4" in found


def test_a_block_half_behind_another_is_read_without_its_hidden_side() -> None:
    pose = seen_from(-90.0, 55.0)
    blocks = [Block("d3", "x", "green"), Block("d4", "star"), Block("a4", "star"), Block("f6", "hoops", "green")]
    found = read(blocks, pose)
    assert told(found) == truth(blocks)
    assert "south" in found["a4"].sides
    hidden, free = found["d4"].sides, found["a4"].sides
    assert max(free["south"], key=lambda name: free["south"][name]) == "x"
    assert "south" not in hidden


def test_blocks_of_a_set_without_colours_are_found_without_a_colour() -> None:
    found = read(looks=BlockAppearance({}, LOOKS.masks))
    assert {place: one.face.symbol for place, one in found.items() if one.log_odds > 0} == {
        block.place: block.top for block in STANDING
    }
    for one in found.values():
        assert one.colour is None
        assert one.look_probabilities() == {}


def test_the_drawing_shows_blocks_and_symbols(seen: dict[str, BlockSighting]) -> None:
    black = np.zeros((CAMERA.size[1], CAMERA.size[0], 3), dtype=np.uint8)
    view = view_of(black, POSE)
    reader = BlockReader(BOARD, LOOKS)
    assert reader.looks == tuple(f"{colour} block, {symbol} up" for colour in ("red", "green") for symbol in SYMBOLS)
    image = reader.draw(black, view, {"d2": seen["d2"]})
    assert not black.any()
    own = image[(image != 0).any(axis=2)]
    # Drawn with the solid's corners: every edge of the cube is inked.
    corners = project(CAMERA, POSE, seen["d2"].solid.corners_mm())
    edges = [(0, 1), (1, 2), (2, 3), (3, 0), (4, 5), (5, 6), (6, 7), (7, 4), (0, 4), (1, 5), (2, 6), (3, 7)]
    for first, second in edges:
        for share in (0.2, 0.5, 0.8):
            x, y = np.round(corners[first] + share * (corners[second] - corners[first])).astype(int)
            assert image[y - 1 : y + 2, x - 1 : x + 2].any()
    green, red = (80, 220, 80), (60, 60, 255)
    assert np.abs(own.astype(int) - green).max(axis=1).min() < 12
    assert np.abs(own.astype(int) - red).max(axis=1).min() > 40
    doubted = reader.draw(black[..., 0], view, {"d2": replace(seen["d2"], log_odds=-3.0)})
    assert doubted.shape == black.shape
    assert np.abs(doubted.astype(int) - red).max(axis=2).min() < 12
    assert np.abs(doubted.astype(int) - green).max(axis=2).min() > 40
    barely, undecided = (reader.draw(black, view, {"d2": replace(seen["d2"], log_odds=odds)}) for odds in (0.4, 0.0))
    assert np.abs(barely.astype(int) - green).max(axis=2).min() < 12
    assert np.abs(undecided.astype(int) - red).max(axis=2).min() < 12
    more = reader.draw(black, view, {"d2": replace(seen["d2"], log_odds=-4.0)})
    assert (more != doubted).any()
    assert PIECES.side_mm == SIDE_MM


def test_a_drawn_block_is_labelled_with_its_doubt_and_its_sides(
    seen: dict[str, BlockSighting], monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[str] = []
    monkeypatch.setattr(reader_module, "write_text", lambda _picture, text, *_: written.append(text))
    block = replace(seen["d2"], sides={"south": {"x": 0.9, "cross": 0.1}, "east": {}})
    doubted = replace(block, log_odds=-2.6, colour_distance={}, sides={})
    view = view_of(np.zeros((CAMERA.size[1], CAMERA.size[0], 3), dtype=np.uint8), POSE)
    BlockReader(BOARD, LOOKS).draw(view.image, view, {"d2": block, "e3": doubted})
    assert written == ["d2 red hoops", "s:x", "e3 ? hoops -3"]


def test_faces_of_an_odd_colour_are_fitted_closely_only_if_they_are_clear(monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[RoughFace] = []
    closely: list[RoughFace] = []
    rough, close = RoughFinder.find, CloseFitter.fit

    def find(self: RoughFinder, *given: Any) -> list[RoughFace]:
        found.extend(rough(self, *given))
        return list(found)

    def fit(self: CloseFitter, *given: Any) -> list[FaceFit | None]:
        closely.extend(given[2])
        return close(self, *given)

    monkeypatch.setattr(RoughFinder, "find", find)
    monkeypatch.setattr(CloseFitter, "fit", fit)
    image = picture_of(STANDING, POSE)
    up = BOARD.height_mm + SIDE_MM
    for place, shape, colour in (
        ("e3", [(-11, -10), (11, -10), (-11, 11)], (240, 60, 60)),
        ("c4", [(-9, -6), (9, -6), (7, 9), (-9, 6)], (60, 200, 240)),
    ):
        x, y = BOARD.centre_mm(place)
        outline = project(CAMERA, POSE, [[x + across, y + along, up] for across, along in shape])
        cv2.fillConvexPoly(image, np.round(outline).astype(np.int32), colour, cv2.LINE_AA)
    seen_in(image)
    metric = ColourMetric(LOOKS.colours, 0.2)
    expected = [one.place for one in found if one.fit > 0.8 or min(metric.distances(one.face, one.ink).values()) < 4.5]
    assert [one.place for one in closely] == expected
    assert {one.place for one in found} - set(expected) == {"e3"}
    assert "c4" in expected
    assert all(one.fit >= 0.6 for one in found)
