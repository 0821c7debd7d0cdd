"""The drawing of discs: outlines at the pieces, coloured by certainty."""

from dataclasses import replace

import cv2
import numpy as np
import numpy.typing as npt
import pytest

from tests.vision.readers.discs.drawn import BOARD, CAMERA, PIECES, Drawn, picture_of, seen_from, view_of
from tests.vision.readers.discs.test_odds import LOOKS, RED
from vision.frame import FloatArray, Image
from vision.geometry import Pose, outline_px, project
from vision.readers.discs.reader import DiscReader, DiscSighting, draw_discs

POSE = seen_from()
STANDING = [Drawn("b2", RED), Drawn("f6", RED, ball=(0.03, 0.03, 0.035))]
GREEN, RED_INK, BLUE = (80, 220, 80), (60, 60, 255), (255, 200, 60)


@pytest.fixture(scope="module")
def seen() -> dict[str, DiscSighting]:
    return DiscReader(BOARD, LOOKS).read(view_of(picture_of(STANDING, POSE), POSE), ["b2", "f6"], {})


def drawn(seen: dict[str, DiscSighting], pose: Pose = POSE) -> Image:
    black = np.zeros((CAMERA.size[1], CAMERA.size[0], 3), dtype=np.uint8)
    return draw_discs(black, seen, view_of(black, pose), PIECES)


def inked(image: Image, colour: tuple[int, int, int]) -> npt.NDArray[np.bool_]:
    """Mask of a line of that colour with its anti-aliased edge."""
    light, own = image.astype(np.float32), np.float32(np.linalg.norm(colour))
    strength = np.sqrt(np.square(light).sum(axis=2))
    return np.asarray((light @ np.array(colour, np.float32) > 0.97 * own * strength) & (strength > 0.4 * own))


def off_px(outline: FloatArray, image: Image, colour: tuple[int, int, int]) -> tuple[float, float]:
    """The 70th percentile of distances from a closed outline to ink of a colour, and the largest from ink to outline.

    The rest of the outline may lie under other outlines and names.
    """
    lined = np.ones(image.shape[:2], dtype=np.uint8)
    cv2.polylines(lined, [np.round(outline).astype(np.int32)], True, 0)
    ink = inked(image, colour)
    to_ink = cv2.distanceTransform((~ink).astype(np.uint8), cv2.DIST_L2, 5)
    return float(np.quantile(to_ink[lined == 0], 0.7)), float(cv2.distanceTransform(lined, cv2.DIST_L2, 5)[ink].max())


def sphere_px(one: DiscSighting, pose: Pose) -> FloatArray:
    """The outline of its ball in the picture."""
    points = np.random.default_rng(3).normal(size=(3000, 3))
    points *= PIECES.ball_mm / 2 / np.linalg.norm(points, axis=1, keepdims=True)
    middle = [*one.fit.centre_mm, BOARD.height_mm + PIECES.disc_mm + PIECES.ball_mm / 2]
    return np.asarray(cv2.convexHull(project(CAMERA, pose, points + middle).astype(np.float32)).reshape(-1, 2))


@pytest.mark.parametrize("pose", [POSE, seen_from(tilt_deg=70.0)], ids=["high", "low"])
def test_a_disc_is_outlined_green_and_its_ball_blue(seen: dict[str, DiscSighting], pose: Pose) -> None:
    image = drawn(seen, pose)
    for one in seen.values():
        solid = PIECES.solid_with(one.fit.x_mm, one.fit.y_mm, BOARD.height_mm, ball=False)
        top = project(CAMERA, pose, solid.corners_mm()[solid.corners_mm()[:, 2] > BOARD.height_mm])
        for outline in (outline_px(solid, CAMERA, pose), top):
            assert off_px(np.asarray(outline, dtype=np.float64), image, GREEN)[0] < 3
    for ink in (GREEN, BLUE):
        assert np.abs(image.astype(int) - ink).max(axis=2).min() < 12
    missing, stray = off_px(sphere_px(seen["f6"], pose), image, BLUE)
    assert missing < 3
    assert stray < 4
    assert not inked(image, RED_INK).any()
    assert not inked(drawn({"b2": seen["b2"]}), BLUE).any()


def test_a_doubtful_disc_is_red_and_labelled_with_its_probability(seen: dict[str, DiscSighting]) -> None:
    doubted = {"f6": replace(seen["f6"], log_odds=-3.0)}
    image = drawn(doubted)
    assert np.abs(image.astype(int) - RED_INK).max(axis=2).min() < 12
    assert not inked(image, GREEN).any()
    assert not inked(image, BLUE).any()
    more = drawn({"f6": replace(seen["f6"], log_odds=-4.0)})
    assert (more != image).any()
    assert not inked(drawn({"f6": replace(seen["f6"], log_odds=-0.5)}), BLUE).any()
    sure = replace(seen["f6"], ball_log_odds=-1.0)
    assert inked(drawn({"f6": sure}), GREEN).sum() < inked(drawn({"f6": seen["f6"]}), GREEN).sum()
    assert not inked(drawn({"f6": sure}), BLUE).any()
    slight = drawn({"f6": replace(seen["f6"], ball_log_odds=0.6)})
    assert inked(slight, BLUE).any()
    assert inked(slight, GREEN).sum() > inked(drawn({"f6": sure}), GREEN).sum(), "the ball is in its name"


def test_names_stand_beside_the_discs_and_the_picture_stays_as_it_was(seen: dict[str, DiscSighting]) -> None:
    grey = np.zeros((CAMERA.size[1], CAMERA.size[0]), dtype=np.uint8)
    image = draw_discs(grey, seen, view_of(grey, POSE), PIECES)
    assert image.shape == (*grey.shape, 3)
    assert not grey.any()
    rows, columns = np.nonzero(image.any(axis=2))
    pixels = np.column_stack([columns, rows])
    middles = project(CAMERA, POSE, [[*one.fit.centre_mm, 20.0] for one in seen.values()])
    assert np.linalg.norm(pixels[:, None] - middles, axis=2).min(axis=1).max() < 160
