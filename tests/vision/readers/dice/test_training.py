"""The networks can be trained again: a moment on a few pictures, where the training libraries are installed."""

import importlib
from pathlib import Path

import cv2
import numpy as np
import pytest

from benchmarks.scene.dice_variety import DicePicture, TrueDie, dice_picture
from vision.readers.dice.finding import CLASSES, CROP_PX, WEIGHTS, Networks
from vision.readers.dice.reader import PRINTED, PrintedFaces

pytest.importorskip("torch")
pytest.importorskip("onnx")


@pytest.mark.filterwarnings("ignore")
def test_a_short_training_writes_networks_that_run(tmp_path: Path) -> None:
    training = importlib.import_module("benchmarks.training.dice")
    made = [dice_picture(np.random.default_rng([7, number]), 128) for number in range(4)]
    made = [picture for picture in made if picture.dice]
    pictures = training.Pictures(made, ())
    training.train_all(pictures, pictures, 0.05, 1, tmp_path)
    networks = Networks(tmp_path)
    heat = networks.finder.run(np.zeros((1, 3, 64, 96), dtype=np.float32))
    assert heat.shape == (1, 4, 16, 24)
    given = networks.faces.run(np.zeros((3, 4, CROP_PX, CROP_PX), dtype=np.float32))
    assert given.shape == (3, len(CLASSES) + 5)
    assert networks.leaning.run(np.zeros((2, 4, CROP_PX, CROP_PX), dtype=np.float32)).shape == (2, 3)
    assert networks.temperature > 0


@pytest.mark.filterwarnings("ignore")
def test_training_further_starts_from_the_given_weights(tmp_path: Path) -> None:
    training = importlib.import_module("benchmarks.training.dice")
    pictures = training.Pictures([dice_picture(np.random.default_rng([7, 1]), 128)], ())
    training.train_all(pictures, pictures, 1e-12, 1, tmp_path / "new", start=WEIGHTS, keep=("leaning",))
    further, shipped = Networks(tmp_path / "new"), Networks()
    squares = np.random.default_rng(3).normal(size=(5, 4, CROP_PX, CROP_PX)).astype(np.float32)
    for after, before in (further.faces, shipped.faces), (further.leaning, shipped.leaning):
        assert np.allclose(after.run(squares), before.run(squares), atol=1e-3)
    assert np.allclose(further.finder.run(squares[:, :3]), shipped.finder.run(squares[:, :3]), atol=1e-3)


@pytest.mark.filterwarnings("ignore")
def test_a_photographs_label_is_no_ground_where_the_networks_are_sure_of_another_die() -> None:
    training = importlib.import_module("benchmarks.training.dice")
    image = np.full((120, 120, 3), 60, dtype=np.uint8)
    cv2.rectangle(image, (45, 45), (74, 74), (235, 235, 235), cv2.FILLED)
    for x, y in ((52, 52), (52, 67), (67, 52), (67, 67), (59, 59)):
        cv2.circle(image, (x, y), 3, (20, 20, 20), cv2.FILLED, cv2.LINE_AA)
    labels = {value: (TrueDie(59.5, 59.5, 30.0, value),) for value in ("5", "6")}
    checked = [
        training.without_contradicted(DicePicture(image, dice), Networks()) for dice in (labels["5"], labels["6"], ())
    ]
    assert [[(die.shows, die.in_sight) for die in one.dice] for one in checked] == [
        [("5", True)],
        [("6", False)],
        [("other", False)],
    ]


@pytest.mark.filterwarnings("ignore")
def test_a_short_training_writes_a_network_of_printed_faces(tmp_path: Path) -> None:
    training = importlib.import_module("benchmarks.training.printed")
    faces = training.all_faces([])
    assert set(faces) == set(PRINTED)
    training.train_all(faces, faces, 200, 0.02, 1, tmp_path)
    chances = PrintedFaces(tmp_path).chances(np.full((60, 60, 3), 90, dtype=np.uint8), [(30.0, 30.0, 28.0)])
    assert chances.shape == (1, len(PRINTED))
    assert chances.sum() == pytest.approx(1.0, abs=1e-5)
