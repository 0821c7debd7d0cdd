"""The networks can be trained again: a moment on a few pictures, where the training libraries are installed."""

import importlib
from pathlib import Path

import numpy as np
import pytest

from benchmarks.scene.dice_variety import dice_picture
from vision.readers.dice.finding import CLASSES, CROP_PX, Networks
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
def test_a_short_training_writes_a_network_of_printed_faces(tmp_path: Path) -> None:
    training = importlib.import_module("benchmarks.training.printed")
    faces = training.all_faces([])
    assert set(faces) == set(PRINTED)
    training.train_all(faces, faces, 200, 0.02, 1, tmp_path)
    chances = PrintedFaces(tmp_path).chances(np.full((60, 60, 3), 90, dtype=np.uint8), [(30.0, 30.0, 28.0)])
    assert chances.shape == (1, len(PRINTED))
    assert chances.sum() == pytest.approx(1.0, abs=1e-5)
