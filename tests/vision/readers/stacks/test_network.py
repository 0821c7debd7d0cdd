"""The network of stacks: what it is given, and that its file is the one that was tested."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from vision.errors import WeightsError
from vision.readers.stacks.faces import ACROSS, DOWN_MM, SIDES, in_mirror
from vision.readers.stacks.network import (
    EXTRAS,
    KINDS,
    MOST_PIECES,
    SHAPE,
    WEIGHTS,
    StackNetwork,
    as_input,
    kind_of,
    shipped,
)


def noise(count: int = 2) -> npt.NDArray[np.uint8]:
    shape = (count, SIDES, len(DOWN_MM), len(ACROSS), 3)
    return np.random.default_rng(1).integers(0, 120, shape, dtype=np.uint8)


def test_every_top_has_a_number_of_its_own() -> None:
    numbers = {kind_of(size, pieces) for size in "SML" for pieces in range(MOST_PIECES + 1)}
    assert numbers == set(range(KINDS))


def test_the_light_hardly_matters_to_what_it_is_given() -> None:
    sides, views, turned = noise(), np.zeros((2, 2)), np.zeros(2)
    dim, bright = as_input(sides, views, turned), as_input(sides * 2, views, turned)
    assert dim == pytest.approx(bright, abs=0.3)
    assert abs(float(dim[:, :-EXTRAS].mean())) < 1e-3


def test_channels_come_before_rows_and_views_and_turn_at_the_end() -> None:
    sides = noise()
    given = as_input(sides, np.array([[0.1, 0.5], [0.3, 0.7]]), np.array([0.0, np.pi / 8]))
    assert given[1, -EXTRAS:] == pytest.approx([0.3, 0.7, 0.0, 1.0], abs=1e-6)
    arranged = given[0, :-EXTRAS].reshape(SHAPE)
    flat = (sides[0].astype(float) - sides[0].mean()) / (sides[0].std() + 8)
    assert arranged[2, 1, 5, 3] == pytest.approx(flat[2, 5, 3, 1], abs=1e-4)


def test_it_gives_probabilities() -> None:
    logs = shipped().log_probabilities(noise(), np.full((2, 2), 0.4), np.zeros(2))
    assert logs.shape == (2, KINDS + 1)
    assert np.exp(logs).sum(axis=1) == pytest.approx(1.0)


def test_a_stack_and_its_mirror_image_are_told_alike() -> None:
    sides, views, turned = noise(), np.full((2, 2), 0.4), np.array([0.1, -0.2])
    logs = shipped().log_probabilities(sides, views, turned)
    assert shipped().log_probabilities(in_mirror(sides), views, -turned) == pytest.approx(logs, abs=1e-4)


def test_a_file_that_was_changed_is_refused(tmp_path: Path) -> None:
    shutil.copytree(WEIGHTS, tmp_path / "weights")
    with (tmp_path / "weights" / "stacks.onnx").open("ab") as file:
        file.write(b"x")
    with pytest.raises(WeightsError, match="not those that were tested"):
        StackNetwork(tmp_path / "weights")


def test_the_weights_are_small_and_name_their_temperature() -> None:
    assert (WEIGHTS / "stacks.onnx").stat().st_size < 1_000_000
    assert 0.3 < json.loads((WEIGHTS / "weights.json").read_text(encoding="utf-8"))["temperature"] < 3
