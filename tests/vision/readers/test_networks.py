"""Networks are loaded only from the files that were tested."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from vision.errors import WeightsError
from vision.readers.dice.finding import WEIGHTS, Networks
from vision.readers.dice.printed import PrintedFaces
from vision.readers.ink.network import InkNetwork
from vision.readers.networks import Network, checksums
from vision.readers.stacks.network import StackFinder, StackNetwork


def test_other_weights_are_refused(tmp_path: Path) -> None:
    changed = bytearray((WEIGHTS / "faces.onnx").read_bytes())
    changed[2000] ^= 1
    (tmp_path / "faces.onnx").write_bytes(bytes(changed))
    expected = checksums(WEIGHTS)["faces"]
    with pytest.raises(WeightsError, match="are not those that were tested"):
        Network(tmp_path / "faces.onnx", expected)
    with pytest.raises(WeightsError, match="No such file"):
        Network(tmp_path / "none.onnx", expected)


@pytest.mark.parametrize("load", [Networks, PrintedFaces, StackNetwork, StackFinder, InkNetwork])
def test_missing_and_torn_checksums_are_named(load: Callable[[Path], object], tmp_path: Path) -> None:
    with pytest.raises(WeightsError, match=r"\.json: No such file or directory; install the project again"):
        load(tmp_path)
    for name in ("weights.json", "printed.json"):
        (tmp_path / name).write_text('{"temperature": 1', encoding="utf-8")
    with pytest.raises(WeightsError, match=r"\.json are not valid JSON: .*; install the project again"):
        load(tmp_path)
