"""The networks can be trained again: a moment on a few pictures, where the training libraries are installed."""

import importlib
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from simulator.scene.scene import lens, looking_at
from vision.layout.table import default_layout
from vision.readers.stacks.network import (
    ACROSS,
    DOWN_MM,
    HEIGHT_PX,
    KINDS,
    SIDES,
    SPOTS,
    WIDTH_PX,
    StackCrops,
    StackFinder,
    StackNetwork,
    tip_heights_mm,
)

torch = pytest.importorskip("torch")
pytest.importorskip("onnx")


@pytest.mark.filterwarnings("ignore")
def test_a_short_training_writes_a_network_that_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    training = importlib.import_module("benchmarks.training.stacks")
    console = Console(quiet=True)
    samples = training.made_samples(3, range(3), console)
    network = training.StackNetwork()
    training.learn(network, samples, 5, np.random.default_rng(1), console)
    training.write(network, samples, tmp_path)
    sides = np.zeros((2, SIDES, len(DOWN_MM), len(ACROSS), 3), dtype=np.uint8)
    logs = StackNetwork(tmp_path).log_probabilities(sides, np.zeros((2, 2)), np.zeros(2))
    assert logs.shape == (2, KINDS + 1)
    again = training.StackNetwork()
    training.start_from(again, tmp_path)
    given = torch.from_numpy(training.network_input(samples.sides[:2], samples.views[:2], samples.angles_rad[:2]))
    with torch.no_grad():
        assert torch.allclose(again.eval()(given), network.eval()(given), atol=1e-3)
    before = {name: value.clone() for name, value in network.state_dict().items()}
    training.learn(network, samples, 2, np.random.default_rng(2), console)
    training.blend(network, before, 1.0)
    with torch.no_grad():
        assert torch.allclose(again(given), network.eval()(given), atol=1e-3)
    there_and_back = training.mirrored(training.mirrored(samples))
    assert (there_and_back.sides == samples.sides).all()
    assert (training.mirrored(samples).sides != samples.sides).any()


@pytest.mark.filterwarnings("ignore")
def test_a_short_training_writes_a_finder_that_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    finder = importlib.import_module("benchmarks.training.stack_finder")
    console, board = Console(quiet=True), default_layout("blockade").board
    stacks = finder.stacks_of(finder.made_pictures(3, [2], console), board)
    network = finder.FinderNetwork()
    before = [value.clone() for value in network.parameters()]
    finder.learn(network, stacks, 3, np.random.default_rng(1), console)
    assert any((value != old).any() for value, old in zip(network.parameters(), before, strict=True))
    finder.write(network, tmp_path)
    crops, pictures = (
        StackCrops(lens(), looking_at(620.0, 20.0), board),
        np.zeros((2, HEIGHT_PX, WIDTH_PX, 3), np.uint8),
    )
    found = StackFinder(tmp_path).find(crops, pictures, ["a1", "b2"], tip_heights_mm(board))
    assert found.tips_px.shape == (2, SPOTS, 2)
    assert "held-out" in finder.report(network, stacks)
