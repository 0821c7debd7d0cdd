"""The network can be trained again: a moment on a few drawn sheets, where the training libraries are installed."""

import importlib
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from vision.readers.ink.network import CELL_PX, OUTPUTS, InkNetwork

pytest.importorskip("torch")
pytest.importorskip("onnx")


@pytest.mark.filterwarnings("ignore")
def test_a_short_training_writes_a_network_that_runs(tmp_path: Path) -> None:
    training = importlib.import_module("benchmarks.training.ink")
    out = str(tmp_path / "first")
    done = CliRunner().invoke(training.main, ["--made", "40", "--steps", "3", "--out", out], catch_exceptions=False)
    assert done.exit_code == 0
    assert "held-out cells" in done.output
    bare = np.zeros((1, 1, 3 * CELL_PX, 4 * CELL_PX), dtype=np.float32)
    first = InkNetwork(tmp_path / "first").scores(bare)
    assert first.shape == (1, 2, 3, OUTPUTS)
    again = ["--made", "40", "--steps", "3", "--start", out, "--out", str(tmp_path / "second")]
    assert CliRunner().invoke(training.main, again, catch_exceptions=False).exit_code == 0
    assert (InkNetwork(tmp_path / "second").scores(bare) != first).any()
