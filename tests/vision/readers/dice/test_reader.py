"""Dice in a tray under a calibrated camera: synthetic pictures through the whole table reader."""

import math
from dataclasses import replace
from typing import Any

import cv2
import numpy as np
import pytest

from benchmarks.scene.dice_variety import DicePicture, TrayPicture, dice_picture, tray_of_six, tray_picture
from referee.judge.dice import pool_dice
from simulator.rendering.dice import DieLook, DrawnDie, centre_height_mm, die_rotation, pip_faces
from simulator.scene.pieces import Colour
from simulator.scene.scene import Lighting, lens, looking_at
from tests.effort import some
from vision.errors import FrameError, LayoutError
from vision.frame import Frame, Image
from vision.geometry import project
from vision.layout.pieces import DicePieces, NamedPieces
from vision.layout.table import layout_from_json
from vision.readers.dice import photographs
from vision.readers.dice.finding import (
    CLASSES,
    CROP_PX,
    WEIGHTS,
    FoundDie,
    SquareView,
    crop,
    normalised,
    shipped,
    square_input,
)
from vision.readers.dice.photographs import read_photograph
from vision.readers.dice.reader import DiceReader
from vision.readers.protocols import SurfaceView
from vision.readers.registry import table_reader
from vision.reading import DieReading, Reading, RollReading

FACES = (1, 6, 2, 5, 3, 4)


def read(*pictures: TrayPicture) -> list[Reading]:
    reader = table_reader(pictures[0].camera, pictures[0].layout, None)
    return [reader.read(Frame(one.image, 0.1 * number, number)) for number, one in enumerate(pictures)]


def best(die: DieReading) -> str:
    return max(die.faces, key=lambda face: die.faces[face])


def die(x: float, y: float, value: int, body: Colour = (0.9, 0.93, 0.95), lean: float = 0.0) -> tuple[DrawnDie, str]:
    ink = (0.05, 0.05, 0.05) if min(body) > 0.6 else (0.95, 0.95, 0.95)
    turn = die_rotation(FACES.index(value), 25.0 + 3 * x, lean, 40.0)
    look = DieLook(body, ink, pip_faces())
    return DrawnDie(np.array([x, y, centre_height_mm(turn, 16.0)]), 16.0, turn, look), str(value)


def tray(*dice: tuple[DrawnDie, str], tilt_deg: float = 15.0, azimuth_deg: float = -90.0) -> TrayPicture:
    camera = lens((960, 540), 62.0)
    pose = looking_at(560.0, tilt_deg, azimuth_deg)
    return tray_picture([one for one, _ in dice], [shows for _, shows in dice], camera, pose, Lighting())


@pytest.mark.parametrize("tilt_deg", some([5.0, 25.0, 40.0]))
def test_six_dice_are_placed_and_read(tilt_deg: float) -> None:
    made = tray_of_six(tilt_deg)
    seen = read(made)[0].rolls[0].dice
    assert len(seen) == 6
    for one, (x, y, face) in zip(seen, sorted(made.dice), strict=True):
        assert best(one) == face
        assert one.faces[face] > 0.5
        assert (one.x_mm, one.y_mm) == pytest.approx((x, y), abs=5.0)
        assert sum(one.faces.values()) == pytest.approx(1.0)
        assert one.is_settled


@pytest.fixture(scope="module")
def two() -> TrayPicture:
    """A tray with a 3 on the left and a 2 on the right."""
    return tray(die(-40.0, 10.0, 3), die(40.0, -20.0, 2))


def test_an_empty_tray_has_no_dice() -> None:
    (reading,) = read(tray())
    assert reading.rolls[0].dice == ()


def test_dice_that_touch_are_two() -> None:
    first, second = die(0.0, 0.0, 5), die(17.5, 3.0, 3)
    rotation = first[0].rotation @ second[0].rotation.T @ second[0].rotation
    turned = DrawnDie(second[0].middle_mm, 16.0, rotation, second[0].look)
    made = tray(first, (turned, "5"))
    assert [best(one) for one in read(made)[0].rolls[0].dice] == ["5", "5"]


def test_a_die_that_leans_is_no_roll_yet() -> None:
    made = tray(die(-40.0, 10.0, 3), die(40.0, -20.0, 6, lean=38.0))
    upright, leaning = read(made)[0].rolls[0].dice
    assert not upright.cocked
    assert leaning.cocked
    assert not leaning.is_settled


def test_a_roll_at_rest_for_two_readings_counts_and_a_nudge_is_noticed(two: TrayPicture) -> None:
    nudged = tray(die(-40.0, 10.0, 3), die(52.0, -20.0, 2))
    readings = read(two, two, nudged, nudged)
    pooled = pool_dice(readings[:2], 1e-4)
    assert pooled is not None
    assert pooled.rests
    assert pooled.faces == ("2", "3")
    assert [one.at_rest for one in readings[2].rolls[0].dice] == [True, False]
    assert all(one.at_rest for one in readings[3].rolls[0].dice)
    moving = pool_dice(readings[:3], 1e-4)
    assert moving is not None
    assert not moving.rests


BODIES: dict[str, Colour] = {
    "red": (0.15, 0.1, 0.75),
    "orange": (0.1, 0.45, 0.95),
    "yellow": (0.1, 0.75, 0.9),
    "green": (0.25, 0.5, 0.1),
    "blue": (0.65, 0.3, 0.1),
    "purple": (0.6, 0.2, 0.5),
    "pink": (0.65, 0.5, 0.95),
    "brown": (0.15, 0.28, 0.5),
    "grey": (0.5, 0.5, 0.5),
    "black": (0.1, 0.1, 0.1),
    "white": (0.92, 0.92, 0.92),
    "ivory": (0.72, 0.84, 0.9),
}


def read_as(made: TrayPicture, pieces: DicePieces, previous: RollReading | None = None) -> tuple[DieReading, ...]:
    """The dice of a tray whose layout describes them like this."""
    surface = replace(made.layout.surfaces[0], pieces=pieces)
    return DiceReader(surface).read(SurfaceView(made.image, made.camera, made.pose, surface), previous).dice


@pytest.mark.parametrize(
    "names",
    some(
        [
            ("red", "yellow", "green", "blue"),
            ("red", "orange", "pink", "brown"),
            ("yellow", "ivory", "white", "grey"),
            ("blue", "purple", "black", "green"),
        ]
    ),
)
def test_dice_are_named_by_body_colour_if_the_layout_has_colours(names: tuple[str, ...]) -> None:
    made = tray(*(die(50.0 * number - 75.0, 20.0, number + 2, BODIES[name]) for number, name in enumerate(names)))
    seen = read_as(made, DicePieces(colours=tuple(sorted(names))))
    assert [(one.die, best(one)) for one in seen] == [(name, str(n)) for n, name in enumerate(names, 2)]


def test_a_die_in_shade_is_named_by_its_hue_rather_than_its_lightness() -> None:
    blue, green, red = BODIES["ivory"]
    made = tray(die(0.0, 0.0, 3, (0.68 * blue, 0.68 * green, 0.68 * red)))
    assert [one.die for one in read_as(made, DicePieces(colours=("grey", "ivory")))] == ["ivory"]


def test_more_dice_than_the_layout_has_colours_have_no_names(two: TrayPicture) -> None:
    assert [one.die for one in read_as(two, DicePieces(colours=("white",)))] == ["", ""]
    assert {one.die for one in read_as(two, DicePieces(colours=("black", "white", "ivory")))} == {"white", "ivory"}
    with pytest.raises(LayoutError, match=r"dice\.colours has 'rde'; expected red, orange, .*ivory"):
        read_as(two, DicePieces(colours=("rde",)))
    with pytest.raises(LayoutError, match=r"dice\.colours lists 8 dice; expected 7 or fewer"):
        read_as(two, DicePieces(colours=tuple(BODIES)[:8]))


@pytest.mark.parametrize(("side_mm", "azimuth_deg"), [(12.0, -90.0), (16.0, 20.0), (20.0, 140.0)])
def test_a_die_of_any_size_is_located(side_mm: float, azimuth_deg: float) -> None:
    turn = die_rotation(2, 30.0)
    look = DieLook(BODIES["white"], BODIES["black"], pip_faces())
    drawn = DrawnDie(np.array([-80.0, 70.0, side_mm / 2]), side_mm, turn, look)
    (seen,) = read_as(tray((drawn, "2"), tilt_deg=35.0, azimuth_deg=azimuth_deg), DicePieces())
    assert (seen.x_mm, seen.y_mm) == pytest.approx((-80.0, 70.0), abs=2.0)


def test_dice_beside_the_tray_are_not_read() -> None:
    made = tray(die(-113.0, 40.0, 3), die(-40.0, 113.0, 2), die(119.0, 0.0, 5), die(0.0, -119.0, 4))
    assert [best(one) for one in read_as(made, DicePieces())] == ["3", "2"]


@pytest.mark.parametrize(("moved_mm", "rests"), [(0.0, True), (1.7, True), (2.3, False), (-1.7, True), (-2.3, False)])
def test_a_die_rests_where_it_lay_before(two: TrayPicture, moved_mm: float, rests: bool) -> None:
    before = read_as(two, DicePieces())
    for along in ("x_mm", "y_mm"):
        moved = replace(before[0], **{along: getattr(before[0], along) + moved_mm})
        seen = read_as(two, DicePieces(), RollReading("tray", (before[1], moved)))
        assert [one.at_rest for one in seen] == [rests, True]
    assert [one.at_rest for one in read_as(two, DicePieces(), RollReading("tray"))] == [False, False]


@pytest.fixture(scope="module")
def upright() -> TrayPicture:
    """A tray with one die in the middle, seen from straight above."""
    lying, _ = die(0.0, 0.0, 3)
    return tray((DrawnDie(lying.middle_mm, 16.0, die_rotation(FACES.index(3), 0.0), lying.look), "3"), tilt_deg=0.0)


@pytest.mark.parametrize("seen_mm", [4.0, 8.0])
@pytest.mark.parametrize("edge", ["left", "right", "top", "bottom"])
def test_a_die_that_the_picture_cuts_off_is_half_hidden(upright: TrayPicture, edge: str, seen_mm: float) -> None:
    made = upright
    (column, row) = project(made.camera, made.pose, [(0.0, 0.0, 16.0)])[0]
    out = seen_mm * float(made.camera.matrix[0, 0]) / (560.0 - 16.0)
    left = round(column - out) if edge == "left" else 0
    top = round(row - out) if edge == "top" else 0
    right = round(column + out) if edge == "right" else made.camera.size[0]
    bottom = round(row + out) if edge == "bottom" else made.camera.size[1]
    matrix = made.camera.matrix - np.array([[0, 0, left], [0, 0, top], [0, 0, 0]])
    camera = replace(made.camera, matrix=matrix, size=(right - left, bottom - top))
    (seen,) = read_as(replace(made, image=made.image[top:bottom, left:right], camera=camera), DicePieces())
    assert seen.half_hidden == (seen_mm < 6.0)
    assert seen.is_settled != seen.half_hidden


def test_the_dice_settings_of_a_layout() -> None:
    markers = {"dictionary": "DICT_4X4_50", "side": 20, "centres": {"0": [0, 90]}}
    given = {"tray": {"x": [0, 100], "y": [0, 100]}, "dice": {"side": 16, "colours": ["red"]}, "markers": markers}
    (surface,) = layout_from_json(given).surfaces
    assert DicePieces.on(surface) == DicePieces(16.0, 16.0, ("red",))
    (plain,) = layout_from_json({"tray": {"x": [0, 100], "y": [0, 100]}, "markers": markers}).surfaces
    assert DicePieces.on(plain) == DicePieces()
    with pytest.raises(LayoutError, match="has no dice on the tray"):
        DiceReader(replace(plain, pieces=NamedPieces("coins")))


# Dice in photographs without a known camera or layout.


@pytest.fixture(scope="module")
def six() -> Image:
    """A picture of six dice."""
    return tray_of_six(8.0).image[160:560, 420:860]


@pytest.mark.parametrize("scale", [1.0, 2.5])
def test_six_dice_of_any_size_are_read(six: Image, scale: float) -> None:
    image = np.asarray(cv2.resize(six, None, fx=scale, fy=scale, interpolation=cv2.INTER_CUBIC), dtype=np.uint8)
    seen = read_photograph(image, shipped())
    assert sorted(str(die.value) for die in seen) == ["1", "2", "3", "4", "5", "6"]
    for die in seen:
        left, top, right, bottom = die.box
        assert 20 * scale < right - left < 80 * scale
        assert bottom - top == pytest.approx(right - left, rel=0.1)
        assert 0.4 < die.probability <= 1.0


class MoonsOrSuns:
    """Fake learned faces: always more likely a moon than a sun."""

    def probabilities(self, square: object) -> dict[str, float]:
        return {"sun": 0.3, "moon": 0.7}


def test_dice_are_read_by_learned_faces(six: Image) -> None:
    faces: Any = MoonsOrSuns()
    seen = read_photograph(six, shipped(), faces=faces)
    assert [die.value for die in seen] == ["moon"] * 6
    assert all(0.35 < die.probability <= 0.7 for die in seen)


def test_a_picture_without_dice_has_none() -> None:
    assert read_photograph(np.full((300, 400, 3), 128, dtype=np.uint8), shipped()) == ()


def test_a_picture_that_is_too_small_is_refused() -> None:
    with pytest.raises(FrameError, match=r"small\.png is 40 x 30 pixels; dice need at least 48 x 48"):
        read_photograph(np.zeros((30, 40, 3), dtype=np.uint8), shipped(), "small.png")


def test_a_large_photograph_is_reduced_and_its_boxes_are_in_its_own_pixels(six: Image) -> None:
    large = np.asarray(cv2.resize(six, None, fx=4, fy=4, interpolation=cv2.INTER_CUBIC), dtype=np.uint8)
    boxes = [np.array(die.box) for die in read_photograph(large, shipped())]
    for die, four in zip(read_photograph(six, shipped()), boxes, strict=True):
        assert four / 4 == pytest.approx(np.array(die.box), abs=4.0)


def test_a_box_is_as_flat_as_the_upper_side_is_seen(six: Image) -> None:
    flat = np.asarray(cv2.resize(six, None, fx=1.0, fy=0.6, interpolation=cv2.INTER_AREA), dtype=np.uint8)
    turned = np.ascontiguousarray(np.rot90(flat))
    across, down = (
        [(die.box[2] - die.box[0]) / (die.box[3] - die.box[1]) for die in read_photograph(image, shipped())]
        for image in (flat, turned)
    )
    assert len(across) == len(down) == 6
    assert min(across) > 1.1
    assert max(down) < 0.9


PLACE_PX = (100.0, 80.0)


def found(side_px: float, heat: float = 0.9, place_px: tuple[float, float] = PLACE_PX, **chances: float) -> FoundDie:
    """A die that was found, with these probabilities of values (as ``_3``) and of the other classes."""
    named = {name.removeprefix("_"): chance for name, chance in chances.items()}
    probabilities = np.array([named.get(name, 0.0) for name in CLASSES], dtype=np.float32)
    square = np.zeros((4, 4, 3), dtype=np.uint8)
    return FoundDie(*place_px, side_px, heat, probabilities, square, box_edges=(1.48, 1.48))


def read_found(monkeypatch: pytest.MonkeyPatch, *dice: FoundDie) -> list[tuple[float, int | str | None, float]]:
    """Width, value and probability of each die of a photograph in which these were found."""
    monkeypatch.setattr(photographs, "find_dice", lambda *_: dice)
    seen = read_photograph(np.zeros((200, 300, 3), dtype=np.uint8), shipped())
    assert all(end == round(end, 1) for die in seen for end in die.box)
    return [(die.box[2] - die.box[0], die.value, die.probability) for die in seen]


def test_dice_from_ten_pixels_to_almost_half_of_the_picture_are_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[float, float]] = []

    def find(_image: object, _networks: object, sides: tuple[float, float], *_: object) -> tuple[FoundDie, ...]:
        asked.append(sides)
        return ()

    monkeypatch.setattr(photographs, "find_dice", find)
    read_photograph(np.zeros((200, 300, 3), dtype=np.uint8), shipped())
    read_photograph(np.zeros((1600, 3200, 3), dtype=np.uint8), shipped())
    assert np.array(asked) == pytest.approx(np.array([(10.0, 90.0), (10.0, 0.45 * 800)]))


@pytest.mark.parametrize(
    ("side_px", "heat", "count"),
    [(20 / 1.7, 0.3, 2), (20 / 1.9, 0.3, 1), (20 / 1.9, 0.5, 2), (20 * 1.7, 0.3, 2), (20 * 1.9, 0.3, 1)],
)
def test_a_weak_die_of_another_size_is_dropped(
    monkeypatch: pytest.MonkeyPatch, side_px: float, heat: float, count: int
) -> None:
    assert len(read_found(monkeypatch, found(20.0, _3=1.0), found(side_px, heat, _3=1.0))) == count


@pytest.mark.parametrize(
    ("place_px", "box"),
    [
        ((100.0, 80.0), (70.4, 50.4, 129.6, 109.6)),
        ((10.0, 195.0), (0, 165.4, 39.6, 200)),
        ((295.0, 5.0), (265.4, 0, 300, 34.6)),
    ],
)
def test_a_box_holds_the_die_within_the_picture(
    monkeypatch: pytest.MonkeyPatch, place_px: tuple[float, float], box: tuple[float, ...]
) -> None:
    monkeypatch.setattr(photographs, "find_dice", lambda *_: [found(40.0, place_px=place_px, _3=1.0)])
    (seen,) = read_photograph(np.zeros((200, 300, 3), dtype=np.uint8), shipped())
    assert seen.box == pytest.approx(box)


def test_sizes_are_averaged_over_clearly_seen_dice(monkeypatch: pytest.MonkeyPatch) -> None:
    widths = [width for width, _, _ in read_found(monkeypatch, *(found(side, _3=1.0) for side in (16.0, 20.0, 25.0)))]
    assert sorted(widths) == pytest.approx([1.48 * (side * 20) ** 0.5 for side in (16.0, 20.0, 25.0)], abs=0.11)
    weak = [width for width, _, _ in read_found(monkeypatch, *(found(side, 0.3, _3=1.0) for side in (16.0, 25.0)))]
    assert sorted(weak) == pytest.approx([1.48 * 16, 1.48 * 25], abs=0.11)


def test_the_probability_of_a_value_includes_that_of_a_flat_die(monkeypatch: pytest.MonkeyPatch) -> None:
    ((_, value, probability),) = read_found(monkeypatch, found(20.0, _3=0.5, _4=0.1, cocked=0.2, nothing=0.2))
    assert value == 3
    assert probability == pytest.approx(0.8 * 0.75 * 0.5 / 0.6, abs=1e-3)
    ((_, value, probability),) = read_found(monkeypatch, found(20.0, _3=0.2, cocked=0.6, nothing=0.2))
    assert value is None
    assert probability == pytest.approx(0.6, abs=1e-3)
    ((_, value, _),) = read_found(monkeypatch, found(20.0, _3=0.5, cocked=0.5))
    assert value == 3


# The shipped networks: size and accuracy.

LARGEST_BYTES = 1_000_000


@pytest.mark.parametrize("left_out", ["printed", "faces"])
def test_the_weights_are_small(left_out: str) -> None:
    """Pips or printed faces are read, so one of these two networks is always left out."""
    assert sum(path.stat().st_size for path in WEIGHTS.iterdir() if path.stem != left_out) < LARGEST_BYTES


@pytest.mark.skipif(not hasattr(cv2.dnn, "ENGINE_CLASSIC"), reason="this OpenCV has one engine only")
def test_opencv_uses_the_engine_that_is_faster_for_small_networks() -> None:
    network = shipped().faces._network
    kinds = {network.getLayer(name).type for name in network.getLayerNames()}
    assert "Convolution" in kinds


def test_the_finder_is_given_levels_from_minus_one_to_one() -> None:
    image = np.zeros((4, 8, 3), dtype=np.uint8)
    image[2, 5] = (128, 192, 255)
    given = normalised(image)
    assert given.shape == (3, 4, 8)
    assert given[:, 2, 5].tolist() == [0.0, 0.5, 127 / 128]
    assert given[:, 0, 0].tolist() == [-1.0, -1.0, -1.0]


def squares(pictures: list[DicePicture]) -> tuple[np.ndarray, list[str]]:
    cut, shows = [], []
    for picture in pictures:
        for die in picture.dice:
            if die.in_sight and die.side_px > 14:
                slant = picture.slant_at(die.x_px, die.y_px)
                view = SquareView() if slant is None else SquareView.of(slant)
                square = crop(picture.image, die.x_px, die.y_px, die.side_px, view)
                cut.append(square_input([square], [view])[0])
                shows.append(die.shows)
    return np.stack(cut), shows


def test_synthetic_dice_are_classified() -> None:
    batch, shows = squares([dice_picture(np.random.default_rng([2024, number]), 160) for number in range(14)])
    given = shipped().faces.run(batch)[:, : len(CLASSES)]
    said = [CLASSES[int(one.argmax())] for one in given]
    right = sum(a == b for a, b in zip(said, shows, strict=True))
    assert len(shows) > 25
    assert right / len(shows) > 0.6


@pytest.mark.parametrize("side_px", [10.0, 20.0, 34.0, 55.0, 140.0])
@pytest.mark.parametrize("at", [(150, 120), (40, 35), (260, 45), (45, 255)])
@pytest.mark.parametrize("turned_deg", [0.0, 70.0])
def test_a_crop_is_centred_on_the_requested_place(side_px: float, at: tuple[int, int], turned_deg: float) -> None:
    picture = np.full((300, 300, 3), 40, dtype=np.uint8)
    x, y = at
    half = math.ceil(side_px / 20)
    picture[y - half : y + half + 1, x - half : x + half + 1] = 220
    cut = crop(picture, x, y, side_px, SquareView(turned_deg))
    rows, columns = np.nonzero(cut[..., 0] > 130)
    assert (columns.mean(), rows.mean()) == pytest.approx(((CROP_PX - 1) / 2,) * 2, abs=0.7)


@pytest.mark.parametrize("side_px", [10.0, 20.0, 55.0, 140.0])
def test_crops_scale_every_die_to_one_size(side_px: float) -> None:
    picture = np.full((300, 300, 3), 40, dtype=np.uint8)
    half = round(side_px / 2)
    picture[150 - half : 150 + half, 120 - half : 120 + half] = 220
    cut = crop(picture, 119.5, 149.5, side_px)
    assert cut.shape == (CROP_PX, CROP_PX, 3)
    bright = (cut[..., 0] > 130).sum(axis=1).max()
    assert bright == pytest.approx(20, abs=2)
    assert abs(int(cut[CROP_PX // 2 - 10, CROP_PX // 2, 0]) - int(cut[CROP_PX // 2 + 9, CROP_PX // 2, 0])) < 90


def test_a_large_die_at_the_picture_s_edge_is_cut_out_up_to_the_last_pixel() -> None:
    edges = np.zeros((300, 300, 3), dtype=np.uint8)
    edges[:, 0], edges[0] = (255, 0, 0), (0, 255, 0)
    cut = crop(edges, 30, 30, 100.0)
    assert cut[CROP_PX // 2, 0, 0] > 60
    assert cut[0, CROP_PX // 2, 1] > 60
