"""The network of ink: its file is the one that was tested, and it reads made sheets."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from benchmarks.scene.written_sheets import written_sheet
from vision.errors import WeightsError
from vision.frame import FloatArray, FloatImage
from vision.readers.ink.network import OUTPUTS, SEEN_PX, WEIGHTS, InkNetwork, calibrated, shipped
from vision.readers.ink.paper import CELL_PX, SIGNS, cells_near_ink, ink_on

SEED = 987
SHEETS = 2


def test_most_cells_of_unseen_synthetic_sheets_are_read_correctly() -> None:
    right = total = looped = 0
    for number in range(SHEETS):
        sheet = written_sheet(np.random.default_rng([SEED, number]), SIGNS, CELL_PX)
        cells = np.argwhere(sheet.signs >= 0)
        scores = shipped().read(ink_on(sheet.flat), cells)
        assert scores.shape == (len(cells), OUTPUTS)
        assert np.exp(scores[:, : len(SIGNS)]).sum(axis=1) == pytest.approx(1.0)
        right += int((scores[:, : len(SIGNS)].argmax(axis=1) == sheet.signs.ravel()).sum())
        looped += int(((scores[:, len(SIGNS)] > 0) == (sheet.loops.ravel() > 0)).sum())
        total += len(cells)
    assert right > 0.7 * total
    assert looped > 0.93 * total


def test_calibration_keeps_the_best_sign_and_changes_its_certainty() -> None:
    scores = np.array([[1.0, 3.0, 2.0], [5.0, 0.0, 1.0]])
    plain, surer = (np.exp(calibrated(scores, 1.0, written)) for written in (1.0, 2.0))
    assert plain == pytest.approx(np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True))
    assert surer.sum(axis=1) == pytest.approx(1.0)
    assert surer[0, 0] < plain[0, 0]
    assert surer[1, 0] > plain[1, 0]
    assert surer[:, 1] / surer[:, 2] == pytest.approx(plain[:, 1] / plain[:, 2])


def test_no_cells_give_no_scores() -> None:
    ink = np.zeros((2 * CELL_PX, 2 * CELL_PX), dtype=np.float32)
    assert shipped().read(ink, np.zeros((0, 2), dtype=np.int64)).shape == (0, OUTPUTS)


@pytest.mark.parametrize("chosen", [slice(None), slice(7, 8), slice(4, None, 9)])
def test_a_cell_is_read_alike_alone_and_among_others(chosen: slice) -> None:
    sheet = written_sheet(np.random.default_rng(SEED), SIGNS, CELL_PX)
    ink, cells = ink_on(sheet.flat), np.argwhere(sheet.signs >= 0)[chosen]
    near_ink = cells_near_ink(ink)[tuple(cells.T)]
    read = shipped().read(ink, cells)
    assert read[near_ink] == pytest.approx(_alone(ink, cells[near_ink]), abs=1e-3)
    assert read[~near_ink] == pytest.approx(
        np.tile(shipped().read(np.zeros_like(ink), cells[:1]), ((~near_ink).sum(), 1))
    )


def test_cells_far_from_ink_are_as_empty_as_the_network_finds_them() -> None:
    written = np.pad(
        ink_on(written_sheet(np.random.default_rng(SEED), SIGNS, CELL_PX).flat), ((0, 6 * CELL_PX), (0, 0))
    )
    rows, columns = (side // CELL_PX - 1 for side in written.shape)
    cells = np.argwhere(np.ones((rows, columns), dtype=np.bool_))
    far = ~cells_near_ink(written)[tuple(cells.T)]
    assert far[cells[:, 0] > rows - 4].all()
    for scores in (shipped().read(written, cells[far]), _alone(written, cells[far])):
        assert (scores[:, 0] > np.log(0.99)).all()
        assert (scores[:, len(SIGNS) :] < 0).all()


def _alone(ink: FloatImage, cells: npt.NDArray[np.int64]) -> FloatArray:
    """What the network makes of each cell's crop."""
    crops = [ink[CELL_PX * row :, CELL_PX * column :][:SEEN_PX, :SEEN_PX] for row, column in cells]
    return np.concatenate([shipped().scores(np.ascontiguousarray(crop[None, None])) for crop in crops])[:, 0, 0]


def test_a_file_that_was_changed_is_refused(tmp_path: Path) -> None:
    shutil.copytree(WEIGHTS, tmp_path / "weights")
    with (tmp_path / "weights" / "ink.onnx").open("ab") as file:
        file.write(b"x")
    with pytest.raises(WeightsError, match="not those that were tested"):
        InkNetwork(tmp_path / "weights")


def test_the_weights_are_small_and_name_their_temperature() -> None:
    assert (WEIGHTS / "ink.onnx").stat().st_size < 1_000_000
    assert 0.3 < json.loads((WEIGHTS / "weights.json").read_text(encoding="utf-8"))["temperature"] < 3
