"""The network can be trained again: a moment on a few pictures, where the training libraries are installed."""

import importlib
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from vision.readers.stacks.faces import ACROSS, DOWN_MM, SIDES
from vision.readers.stacks.network import KINDS, StackNetwork

torch = pytest.importorskip("torch")
pytest.importorskip("onnx")


@pytest.mark.filterwarnings("ignore")
def test_a_short_training_writes_a_network_that_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).resolve().parents[4] / "scripts"))
    train_stacks = importlib.import_module("train_stacks")
    console = Console(quiet=True)
    samples = train_stacks.made_samples(3, range(3), console)
    network = train_stacks.StackNetwork()
    train_stacks.learn(network, samples, 5, np.random.default_rng(1), console)
    train_stacks.write(network, samples, tmp_path)
    sides = np.zeros((2, SIDES, len(DOWN_MM), len(ACROSS), 3), dtype=np.uint8)
    logs = StackNetwork(tmp_path).log_probabilities(sides, np.zeros((2, 2)), np.zeros(2))
    assert logs.shape == (2, KINDS + 1)
    again = train_stacks.StackNetwork()
    train_stacks.start_from(again, tmp_path)
    given = torch.from_numpy(train_stacks.network_input(samples.sides[:2], samples.views[:2], samples.angles_rad[:2]))
    with torch.no_grad():
        assert torch.allclose(again.eval()(given), network.eval()(given), atol=1e-3)
    before = {name: value.clone() for name, value in network.state_dict().items()}
    train_stacks.learn(network, samples, 2, np.random.default_rng(2), console)
    train_stacks.blend(network, before, 1.0)
    with torch.no_grad():
        assert torch.allclose(again(given), network.eval()(given), atol=1e-3)
    there_and_back = train_stacks.mirrored(train_stacks.mirrored(samples))
    assert (there_and_back.sides == samples.sides).all()
    assert (train_stacks.mirrored(samples).sides != samples.sides).any()
