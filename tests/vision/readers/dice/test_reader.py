"""Dice in a tray under a calibrated camera: synthetic pictures through the whole table reader."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.scene.dice_variety import TrayPicture, tray_of_six, tray_picture
from referee.judge.dice import pool_dice
from simulator.rendering.dice import DieLook, DrawnDie, centre_height_mm, die_rotation, pip_faces
from simulator.scene.pieces import Colour
from simulator.scene.scene import Lighting, lens, looking_at
from tests.effort import some
from vision.errors import LayoutError
from vision.frame import Frame
from vision.geometry import project
from vision.layout.pieces import DicePieces, NamedPieces
from vision.layout.table import layout_from_json
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
    [
        ("red", "yellow", "green", "blue"),
        ("red", "orange", "pink", "brown"),
        ("yellow", "ivory", "white", "grey"),
        ("blue", "purple", "black", "green"),
    ],
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
