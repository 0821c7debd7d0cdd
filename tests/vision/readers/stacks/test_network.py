"""The network of stacks: its input, output and checksum."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from tests.vision.readers.stacks import pictures
from vision.errors import WeightsError
from vision.layout.pieces import PyramidPieces
from vision.readers.stacks.appearance import MOST_PIECES
from vision.readers.stacks.enrolment import stack_of
from vision.readers.stacks.network import (
    ACROSS,
    DOWN_MM,
    EXTRAS,
    KINDS,
    SHAPE,
    SIDES,
    WEIGHTS,
    StackCrops,
    StackNetwork,
    flatten_sides,
    kind_of,
    mirror_sides,
    network_input,
    shipped,
    tip_log_odds,
)


def noise(count: int = 2) -> npt.NDArray[np.uint8]:
    shape = (count, SIDES, len(DOWN_MM), len(ACROSS), 3)
    return np.random.default_rng(1).integers(0, 120, shape, dtype=np.uint8)


def test_every_top_has_a_number_of_its_own() -> None:
    numbers = {kind_of(size, pieces) for size in "SML" for pieces in range(MOST_PIECES + 1)}
    assert numbers == set(range(KINDS))


def test_the_network_input_hardly_depends_on_the_light() -> None:
    sides, views, turned = noise(), np.zeros((2, 2)), np.zeros(2)
    dim, bright = network_input(sides, views, turned), network_input(sides * 2, views, turned)
    assert dim == pytest.approx(bright, abs=0.3)
    assert abs(float(dim[:, :-EXTRAS].mean())) < 1e-3


def test_channels_come_before_rows_and_views_and_turn_at_the_end() -> None:
    sides = noise()
    given = network_input(sides, np.array([[0.1, 0.5], [0.3, 0.7]]), np.array([0.0, np.pi / 8]))
    assert given[1, -EXTRAS:] == pytest.approx([0.3, 0.7, 0.0, 1.0], abs=1e-6)
    arranged = given[0, :-EXTRAS].reshape(SHAPE)
    flat = (sides[0].astype(float) - sides[0].mean()) / (sides[0].std() + 8)
    assert arranged[2, 1, 5, 3] == pytest.approx(flat[2, 5, 3, 1], abs=1e-4)


def test_the_output_is_log_probabilities() -> None:
    logs = shipped().log_probabilities(noise(), np.full((2, 2), 0.4), np.zeros(2))
    assert logs.shape == (2, KINDS + 1)
    assert np.exp(logs).sum(axis=1) == pytest.approx(1.0)


def test_a_doubtful_stack_and_its_mirror_image_are_classified_alike() -> None:
    board, pieces = pictures.LAYOUT.board, PyramidPieces.on(pictures.LAYOUT.board)
    crops = StackCrops(pictures.camera("010.jpg"), pictures.pose("010.jpg"), board)
    stacks = {place: stack_of(stack) for place, stack in pictures.EXPECTED["010.jpg"]["stacks"].items()}
    heights = [pieces.tip_mm(stack[-1][0], len(stack) - 1) for stack in stacks.values()]
    tips = np.array(
        [[*board.centre_mm(place), board.height_mm + high] for place, high in zip(stacks, heights, strict=True)]
    )
    turned = np.linspace(-0.2, 0.2, len(tips))
    cut = crops.of(pictures.picture("010.jpg"), list(stacks))
    sides, views = flatten_sides(crops, cut, list(stacks), tips, turned), crops.views(list(stacks))
    logs, mirrored = (
        shipped().with_mirror_images(shipped().log_probabilities(one, views, angles), one, views, angles)
        for one, angles in ((sides, turned), (mirror_sides(sides), -turned))
    )
    doubtful = np.maximum(logs, mirrored).max(axis=1) < np.log(0.8)
    doubtful &= (tip_log_odds(logs) > 0) & (tip_log_odds(mirrored) > 0)
    assert doubtful.sum() > 1
    assert mirrored[doubtful] == pytest.approx(logs[doubtful], abs=1e-3)
    clear = np.minimum(logs, mirrored).max(axis=1) > np.log(0.95)
    assert (np.abs(mirrored - logs)[clear].max(axis=1) > 0.01).any(), "what is clear is looked at once"


def test_a_file_that_was_changed_is_refused(tmp_path: Path) -> None:
    shutil.copytree(WEIGHTS, tmp_path / "weights")
    with (tmp_path / "weights" / "stacks.onnx").open("ab") as file:
        file.write(b"x")
    with pytest.raises(WeightsError, match="not those that were tested"):
        StackNetwork(tmp_path / "weights")


def test_the_weights_are_small_and_name_their_temperature() -> None:
    assert (WEIGHTS / "stacks.onnx").stat().st_size < 1_000_000
    assert 0.3 < json.loads((WEIGHTS / "weights.json").read_text(encoding="utf-8"))["temperature"] < 3
