"""Faces without pips, learned from one picture each."""

import contextlib
import io
import math
from pathlib import Path

import cv2
import numpy as np
import pytest

from benchmarks.scene.loose_dice import draw_dice
from simulator.rendering.dice import DieLook, DrawnDie, die_rotation, text_face
from simulator.rendering.optics import develop
from simulator.scene.scene import Lighting, lens, looking_at
from tests.effort import some
from vision.errors import EnrolmentError
from vision.frame import Image
from vision.readers.dice.finding import DIE_IN_CROP_PX, LeaningOdds, crop, leaning_gain, shipped
from vision.readers.dice.photographs import INSIDE, FaceSet, ink_of, learn_faces

NAMES = ("1", "*", "3", "4", "S", "7")
WHITE = (0.9, 0.93, 0.95)


def picture_of(name: str, turned_deg: float, body: tuple[float, float, float] = WHITE) -> tuple[Image, float]:
    """A picture of one die showing a face, and the length of its edge in pixels."""
    ink = (0.05, 0.05, 0.05) if min(body) > 0.6 else (0.95, 0.95, 0.95)
    look = DieLook(body, ink, tuple(text_face(one) for one in NAMES))
    turn = die_rotation(NAMES.index(name), turned_deg)
    camera = lens((160, 160), 20.0, (0, 0, 0, 0, 0), (0, 0))
    pose = looking_at(320.0, 4.0, target_mm=(0.0, 0.0, 16.0))
    picture = np.full((160, 160, 3), 0.25, dtype=np.float32)
    draw_dice(picture, camera, pose, Lighting(), [DrawnDie(np.array([0.0, 0.0, 8.0]), 16.0, turn, look)])
    return develop(picture), 16.0 * float(camera.matrix[0, 0]) / 320.0


def square_of(name: str, turned_deg: float, body: tuple[float, float, float] = WHITE) -> Image:
    """The square around a die that shows a face, as the finder gives it."""
    image, side = picture_of(name, turned_deg, body)
    return crop(image, 79.5, 79.5, side)


@pytest.fixture(scope="module")
def taught() -> FaceSet:
    return FaceSet(NAMES, np.stack([ink_of(square_of(name, 10.0)) for name in NAMES]))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("turned_deg", some([70.0, 205.0], 1))
def test_a_face_is_recognised_in_any_rotation(taught: FaceSet, name: str, turned_deg: float) -> None:
    chances = taught.probabilities(square_of(name, turned_deg, (0.3, 0.2, 0.6)))
    assert max(chances, key=lambda one: chances[one]) == name
    assert sum(chances.values()) == pytest.approx(1.0)


def test_faces_are_kept_in_a_file(taught: FaceSet, tmp_path: Path) -> None:
    taught.save(tmp_path / "faces.npz")
    again = FaceSet.load(tmp_path / "faces.npz")
    assert again.names == NAMES
    assert again.inks == pytest.approx(taught.inks, abs=1e-3)


def test_faces_that_cannot_be_written_leave_the_old_file(taught: FaceSet, tmp_path: Path) -> None:
    path = tmp_path / "faces.npz"
    taught.save(path)
    before = path.read_bytes()
    (tmp_path / ".faces.npz.draft").mkdir()
    with pytest.raises(OSError, match=r"faces\.npz"):
        taught.save(path)
    assert path.read_bytes() == before


def packed(names: object, inks: object) -> bytes:
    """A file of faces with these arrays."""
    file = io.BytesIO()
    np.savez_compressed(file, names=np.array(names), inks=np.array(inks))
    return file.getvalue()


SOUND = packed(["star", "moon"], np.zeros((2, INSIDE.size), dtype=np.float16))


@pytest.mark.parametrize(
    "data",
    [
        b"nothing",
        b"",
        # Its header ends in an open bracket.
        b"\x93NUMPY\x01\x00\x03\x00{(\n",
        SOUND[: len(SOUND) // 2],
        packed(["star"], np.zeros((1, INSIDE.size), dtype=np.float16)),
        packed(["star", "moon"], np.zeros((2, 9), dtype=np.float16)),
        packed(["star", "moon"], np.full((2, INSIDE.size), np.nan, dtype=np.float16)),
        packed([1, 2], np.zeros((2, INSIDE.size), dtype=np.float16)),
        packed(["star", "moon"], np.zeros((2, 2**20), dtype=np.float16)),
    ],
    ids=["text", "empty", "header", "cut", "one", "narrow", "infinite", "numbers", "large"],
)
def test_a_file_that_holds_no_faces_is_refused(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "other.npz").write_bytes(data)
    with pytest.raises(EnrolmentError, match=r"expected what `\./run pieces enrol --dice` wrote"):
        FaceSet.load(tmp_path / "other.npz")


def test_a_file_with_changed_bytes_is_loaded_or_refused_cleanly(tmp_path: Path) -> None:
    path = tmp_path / "faces.npz"
    for at in range(0, len(SOUND), 3):
        path.write_bytes(SOUND[:at] + bytes((SOUND[at] ^ 0xFF,)) + SOUND[at + 1 :])
        with contextlib.suppress(EnrolmentError):
            FaceSet.load(path)


def test_ink_is_normalised_and_limited_to_the_compared_area() -> None:
    ink = ink_of(square_of("S", 30.0))
    assert np.linalg.norm(ink) == pytest.approx(1.0, abs=1e-5)
    assert ink.sum() == pytest.approx(0.0, abs=1e-3)
    assert (ink.reshape(INSIDE.shape)[~INSIDE] == 0).all()
    assert not ink_of(np.full((*INSIDE.shape, 3), 90, dtype=np.uint8)).any()


def test_a_face_counts_up_to_the_die_s_rim() -> None:
    radius = 0.46 * DIE_IN_CROP_PX
    assert INSIDE.sum() == pytest.approx(np.pi * radius**2, rel=0.05)
    rows, columns = np.nonzero(INSIDE)
    assert rows.mean() == columns.mean() == (len(INSIDE) - 1) / 2


def correlation_with_seven(square: Image) -> float:
    """The best correlation of a square with a 7, from -1 to 1, derived from the odds against a fainter 7."""
    image, side = picture_of("7", 10.0)
    ink = ink_of(crop(image, 79.5, 79.5, side))
    seven = FaceSet(("7", "fainter"), np.stack([ink, 0.97 * ink])).probabilities(square)["7"]
    return math.log(seven / (1 - seven)) / (30.0 * 0.03)


@pytest.mark.parametrize("size", [0.88, 0.97, 1.06, 1.16])
def test_a_face_matches_if_the_die_s_size_was_misjudged(size: float) -> None:
    image, side = picture_of("7", 10.0)
    assert correlation_with_seven(crop(image, 79.5, 79.5, side * size)) > 0.985


@pytest.mark.parametrize("off_px", [(1.3, 0.0), (-1.3, 0.0), (0.0, 1.3), (0.0, -1.3)])
def test_a_face_matches_if_the_die_was_found_slightly_off(off_px: tuple[float, float]) -> None:
    image, side = picture_of("7", 10.0)
    across, down = (79.5 + off * side / DIE_IN_CROP_PX for off in off_px)
    assert correlation_with_seven(crop(image, across, down, side)) > 0.96


def test_a_face_matches_equally_after_a_quarter_turn() -> None:
    square = square_of("7", 23.0)
    turned = [correlation_with_seven(np.rot90(square, quarter).copy()) for quarter in range(4)]
    assert turned == pytest.approx([turned[0]] * 4, abs=0.005)
    assert 0.9 < turned[0] < 0.99


def test_two_names_for_one_face_are_equally_likely(taught: FaceSet) -> None:
    twice = FaceSet(("S", "snake", "7"), taught.inks[[4, 4, 5]])
    chances = twice.probabilities(square_of("S", 10.0))
    assert chances["S"] == chances["snake"] == pytest.approx(0.5, abs=0.01)


def test_pictures_that_cannot_teach_are_refused() -> None:
    bare = np.full((160, 160, 3), 90, dtype=np.uint8)
    with pytest.raises(EnrolmentError, match="the picture of the face 'star' shows no dice"):
        learn_faces({"star": bare}, shipped())
    one, _ = picture_of("3", 20.0)
    with pytest.raises(EnrolmentError, match=r"the picture of the face 'star' shows 2 dice; .* no markers"):
        learn_faces({"star": np.hstack([one, one])}, shipped())


@pytest.mark.parametrize("name", ["", "1,2", "a b", " 1"])
def test_a_name_that_a_roll_cannot_hold_is_refused(name: str) -> None:
    with pytest.raises(EnrolmentError, match="can't name a face: a roll is faces separated by commas"):
        learn_faces({name: picture_of("3", 20.0)[0]}, shipped())


def test_a_face_is_learned_from_a_picture() -> None:
    pictures = {name: picture_of(name, 20.0)[0] for name in ("3", "7")}
    learned = learn_faces(pictures, shipped())
    chances = learned.probabilities(square_of("7", 140.0))
    assert chances["7"] > 0.5
    for few, said in (({"3": pictures["3"]}, "1 face given"), ({}, "0 faces given")):
        with pytest.raises(EnrolmentError, match=f"{said}; expected at least two"):
            learn_faces(few, shipped())


# Outlines of drawn dice that lie flat or lean, in oblique rectified views.

PLACE = (40.0, 38.0, 26.0)
SLANT = (0.25, 0.3)
DARK, LIGHT = (60.0, 60.0, 60.0), (200.0, 210.0, 220.0)


def drawn(
    lean_deg: float,
    towards_deg: float = 40.0,
    turned_deg: float = 23.0,
    slant: tuple[float, float] = SLANT,
    place: tuple[float, float, float] = PLACE,
    body: tuple[float, float, float] = LIGHT,
    table: tuple[float, float, float] = DARK,
) -> np.ndarray:
    """A die in parallel perspective; the middle of its upper side is at ``place`` while it lies flat."""
    x, y, side = place
    towards = math.radians(towards_deg)
    lean, _ = cv2.Rodrigues(np.array([math.cos(towards), math.sin(towards), 0.0]) * math.radians(lean_deg))
    turn, _ = cv2.Rodrigues(np.array([0.0, 0.0, math.radians(turned_deg)]))
    signs = np.array([[a, b, c] for a in (-1, 1) for b in (-1, 1) for c in (-1, 1)]) * side / 2
    corners = signs @ (lean @ turn).T
    corners[:, 2] -= side / 2
    seen = np.array([x, y]) + corners[:, :2] - corners[:, 2:] * slant
    image = np.full((150, 150, 3), table, dtype=np.uint8)
    hull = np.rint(cv2.convexHull(seen.astype(np.float32)) * 16).astype(np.int32)
    cv2.fillConvexPoly(image, hull, body, cv2.LINE_AA, 4)
    return image


def gain_of(image: np.ndarray, place: tuple[float, float, float] = PLACE, slant: tuple[float, float] = SLANT) -> float:
    gain = leaning_gain(image, place, slant)
    assert gain is not None
    return gain


@pytest.mark.parametrize("slant", [(0.0, 0.0), (0.25, 0.3), (-0.6, 0.1), (0.0, -0.7)])
@pytest.mark.parametrize("turned_deg", some([0.0, 31.0, 45.0, 70.0]))
def test_a_flat_die_fits_no_leaning_cube_better(slant: tuple[float, float], turned_deg: float) -> None:
    assert gain_of(drawn(0.0, turned_deg=turned_deg, slant=slant), slant=slant) < 0.15


@pytest.mark.parametrize("slant", [(0.0, 0.0), (0.25, 0.3)])
@pytest.mark.parametrize("towards_deg", [0.0, 40.0, 90.0, 180.0, 220.0, 270.0, 320.0])
def test_a_leaning_die_fits_a_leaning_cube_better(slant: tuple[float, float], towards_deg: float) -> None:
    assert gain_of(drawn(22.0, towards_deg, slant=slant), slant=slant) > 0.3


def test_the_more_a_die_leans_the_larger_the_gain() -> None:
    gains = [gain_of(drawn(lean_deg, 40.0)) for lean_deg in (0.0, 12.0, 18.0, 25.0)]
    assert gains == sorted(gains)
    assert gains[-1] > 0.7


@pytest.mark.parametrize("side", [14.0, 26.0, 52.0])
def test_neither_size_nor_place_matters(side: float) -> None:
    place = (71.0, 66.0, side)
    assert gain_of(drawn(0.0, place=place), place) < 0.15
    assert gain_of(drawn(22.0, place=place), place) > 0.5


@pytest.mark.parametrize("wrong", [(2.0, 0.0, 0.0), (0.0, -2.0, 0.0), (0.0, 0.0, 2.0), (0.0, 0.0, -2.0)])
def test_a_place_or_size_that_is_slightly_off_does_no_harm(wrong: tuple[float, float, float]) -> None:
    place = (PLACE[0] + wrong[0], PLACE[1] + wrong[1], PLACE[2] + wrong[2])
    assert gain_of(drawn(0.0), place) < 0.25
    assert gain_of(drawn(25.0), place) > 0.3


@pytest.mark.parametrize(
    ("body", "table"),
    [
        ((30.0, 30.0, 30.0), (190.0, 190.0, 190.0)),
        ((40.0, 40.0, 190.0), (120.0, 90.0, 80.0)),
        ((190.0, 90.0, 30.0), (60.0, 130.0, 150.0)),
    ],
)
def test_dice_of_any_colour_stand_out(body: tuple[float, float, float], table: tuple[float, float, float]) -> None:
    assert gain_of(drawn(0.0, body=body, table=table)) < 0.15
    assert gain_of(drawn(22.0, body=body, table=table)) > 0.3


@pytest.mark.parametrize(("level", "body"), [(75.0, (40.0, 50.0, 230.0)), (40.0, (90.0, 100.0, 190.0))])
def test_a_shadow_is_not_the_die(level: float, body: tuple[float, float, float]) -> None:
    shadow = drawn(0.0, place=(46.0, 42.0, 26.0), body=(level, level, level), table=(110.0, 110.0, 110.0))
    die = drawn(0.0, body=body, table=(0.0, 0.0, 0.0))
    image = np.where(die.any(axis=2, keepdims=True), die, shadow)
    assert gain_of(image) < 0.15


@pytest.mark.parametrize("noise", [0.0, 2.0, 40.0])
def test_a_patterned_table_hides_the_outline(noise: float) -> None:
    grain = np.random.default_rng(1).normal(0, noise, (150, 150, 3))
    image = np.clip(drawn(22.0, body=(130.0, 140.0, 150.0)) + grain, 0, 255).astype(np.uint8)
    assert (leaning_gain(image, PLACE, SLANT) is None) == (noise > 20)


def test_a_bare_table_has_no_outline() -> None:
    assert leaning_gain(np.full((90, 90, 3), 60, dtype=np.uint8), PLACE, SLANT) is None


@pytest.mark.parametrize("edge", ["left", "right", "top", "bottom"])
def test_an_object_that_extends_beyond_the_square_is_no_die(edge: str) -> None:
    # The view is oblique along the stripe, which elongates cubes in its direction too.
    is_level = edge in ("left", "right")
    slant = (0.5, 0.0) if is_level else (0.0, 0.5)
    image = drawn(0.0, slant=slant)
    x, y = (round(at + 0.5 * PLACE[2] * lower) for at, lower in zip(PLACE[:2], slant, strict=True))
    out = slice(0, (x if is_level else y)) if edge in ("left", "top") else slice((x if is_level else y), 150)
    image[(slice(y, y + 5), out) if is_level else (out, slice(x, x + 5))] = 220
    assert leaning_gain(image, PLACE, slant) is None


def test_two_dice_in_one_are_not_judged() -> None:
    image = np.maximum(drawn(0.0), drawn(0.0, place=(PLACE[0] + 20, PLACE[1] + 10, 26.0)))
    assert leaning_gain(image, PLACE, SLANT) is None


WAYS = np.array([(math.cos(number * math.pi / 18), math.sin(number * math.pi / 18)) for number in range(36)])


def cube_reaches(lean_deg: float, towards_deg: float, turned_deg: float, slant: tuple[float, float]) -> np.ndarray:
    """The extent of a rounded cube's outline in each direction: spheres in the corners of a smaller cube."""
    towards = math.radians(towards_deg)
    lean, _ = cv2.Rodrigues(np.array([math.cos(towards), math.sin(towards), 0.0]) * math.radians(lean_deg))
    turn, _ = cv2.Rodrigues(np.array([0.0, 0.0, math.radians(turned_deg)]))
    corners = np.array([[a, b, c] for a in (-1, 1) for b in (-1, 1) for c in (-1, 1)]) * 0.78 / 2 @ (lean @ turn).T
    lines = np.column_stack([WAYS, -WAYS @ np.array(slant)])
    return np.asarray((corners @ lines.T).max(axis=0) + 0.11 * np.linalg.norm(lines, axis=1))


def misfit(reach: np.ndarray, cube: np.ndarray) -> float:
    """Residual of an outline after fitting a cube's size and position by regularised least squares."""
    of_size_and_shift = np.vstack([np.column_stack([cube, WAYS]), np.diag([0.1 / 0.08, 0.1 / 0.1, 0.1 / 0.1])])
    wanted = np.concatenate([reach - cube, np.zeros(3)])
    changes, *_ = np.linalg.lstsq(of_size_and_shift, wanted, rcond=None)
    off = np.minimum(np.abs(wanted - of_size_and_shift @ changes)[:36], 0.15)
    held_back = (changes[0] / 0.08) ** 2 + (changes[1] ** 2 + changes[2] ** 2) / 0.1**2
    return math.sqrt((off**2).mean() + 2e-4 * held_back)


@pytest.mark.parametrize("slant", some([(0.25, 0.5), (0.0, 0.0), (-0.75, 0.25)], 1))
@pytest.mark.parametrize(("lean_deg", "towards_deg"), [(0.0, 0.0), (11.0, 130.0), (22.0, 310.0), (30.0, 200.0)])
def test_the_gain_equals_that_of_an_exhaustive_search_over_cubes(
    slant: tuple[float, float], lean_deg: float, towards_deg: float
) -> None:
    # A die of the comparison size, centred between four pixels, so nothing is resampled.
    x, y = 70.5 - 12 * slant[0], 70.5 - 12 * slant[1]
    image = drawn(lean_deg, towards_deg, slant=slant, place=(x + 2.0, y - 2.5, 25.0))
    square = cv2.GaussianBlur(image[39:103, 39:103], (0, 0), 0.7)
    light = cv2.cvtColor(square.astype(np.float32) / 255, cv2.COLOR_BGR2Lab)[..., 0]
    mask = (light - light[0, 0] > 0.35 * (light[32, 32] - light[0, 0])).astype(np.uint8)
    for how, side in ((cv2.MORPH_CLOSE, 3), (cv2.MORPH_OPEN, 4)):
        mask = np.asarray(cv2.morphologyEx(mask, how, np.ones((side, side), np.uint8)), dtype=np.uint8)
    rows, columns = np.nonzero(mask)
    reach = (np.column_stack([columns, rows]) - 31.5) @ WAYS.T / 24
    outline = reach.max(axis=0) + 0.5 / 24
    flat = min(misfit(outline, cube_reaches(0.0, 0.0, turn, slant)) for turn in range(0, 90, 3))
    leaning = min(
        misfit(outline, cube_reaches(lean, 22.5 * towards, 7.5 * turn, slant))
        for lean in (12.0, 18.0, 25.0, 33.0)
        for towards in range(16)
        for turn in range(12)
    )
    gain = leaning_gain(image, (x, y, 24.0), slant)
    if flat > 0.12:
        assert gain is None
    else:
        assert gain == pytest.approx(math.log(max(flat, 0.03) / max(leaning, 0.03)), abs=0.006)


def test_network_and_outline_both_count_and_less_in_oblique_views() -> None:
    odds = LeaningOdds()
    assert odds.of(1.0, 0.3, 0.5) > odds.of(0.0, 0.3, 0.5)
    assert odds.of(0.0, 0.6, 0.5) > odds.of(0.0, 0.3, 0.5)
    assert odds.of(0.0, 0.6, 0.2) > odds.of(0.0, 0.6, 0.5)
    assert odds.of(-6.0, 0.0, 0.5) < -3
    assert odds.of(3.0, 0.6, 0.5) > 5
