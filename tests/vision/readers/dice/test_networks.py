"""The shipped networks: size and accuracy."""

import math

import cv2
import numpy as np
import pytest

from benchmarks.scene.dice_variety import DicePicture, dice_picture
from vision.readers.dice.finding import (
    CLASSES,
    CROP_PX,
    WEIGHTS,
    SquareView,
    crop,
    normalised,
    shipped,
    square_input,
)

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
