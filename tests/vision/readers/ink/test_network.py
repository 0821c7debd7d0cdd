"""The network of ink: its file is the one that was tested, and it reads made sheets."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from simulator.scene.written_sheets import written_sheet
from vision.errors import WeightsError
from vision.readers.ink.handwriting import SEEN_PX
from vision.readers.ink.network import OUTPUTS, WEIGHTS, InkNetwork, calibrated, shipped
from vision.readers.ink.paper import CELL_PX, ink_on
from vision.readers.ink.signs import SIGNS

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
    crops = [ink[CELL_PX * row :, CELL_PX * column :][:SEEN_PX, :SEEN_PX] for row, column in cells]
    alone = np.concatenate([shipped().scores(np.ascontiguousarray(crop[None, None])) for crop in crops])
    assert alone.shape == (len(cells), 1, 1, OUTPUTS)
    assert shipped().read(ink, cells) == pytest.approx(alone[:, 0, 0], abs=1e-3)


def test_a_file_that_was_changed_is_refused(tmp_path: Path) -> None:
    shutil.copytree(WEIGHTS, tmp_path / "weights")
    with (tmp_path / "weights" / "ink.onnx").open("ab") as file:
        file.write(b"x")
    with pytest.raises(WeightsError, match="not those that were tested"):
        InkNetwork(tmp_path / "weights")


def test_the_weights_are_small_and_name_their_temperature() -> None:
    assert (WEIGHTS / "ink.onnx").stat().st_size < 1_000_000
    assert 0.3 < json.loads((WEIGHTS / "weights.json").read_text(encoding="utf-8"))["temperature"] < 3
