"""Faces without pips, learned from one picture each."""

import contextlib
import io
import math
from pathlib import Path

import numpy as np
import pytest

from simulator.rendering.dice import DieLook, DrawnDie, die_rotation, draw_dice, text_face
from simulator.rendering.optics import develop
from simulator.scene.scene import Lighting, lens, looking_at
from tests.effort import some
from vision.errors import EnrolmentError
from vision.frame import Image
from vision.readers.dice.finding import DIE_IN_CROP_PX, crop, shipped
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
