"""Small networks in ONNX files, run by OpenCV, and the checksums beside them."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from common.json_files import read_json_object
from common.phrases import Phrase
from vision.errors import WeightsError

_AT_ONCE = 8
"""Pictures evaluated at once: few enough for the processor's cache."""

Floats = npt.NDArray[np.float32]


def checksums(folder: Path, name: str = "weights.json") -> Mapping[str, Any]:
    """Read the SHA-256 of a folder's networks, and the values that calibrate them; raises WeightsError."""
    return read_json_object(
        folder / name,
        Phrase("the checksums"),
        lambda reason: WeightsError("{reason}; install the project again", reason),
        plural=True,
    )


class Network:
    """A network read from a file, whose SHA-256 must be the given one; raises WeightsError."""

    def __init__(self, path: Path, sha256: str) -> None:
        try:
            data = path.read_bytes()
        except OSError as error:
            raise WeightsError(f"can't read the weights {path}: {error.strerror}; install the project again") from None
        found = hashlib.sha256(data).hexdigest()
        if found != sha256:
            raise WeightsError(
                f"the weights {path} are not those that were tested: their SHA-256 is {found[:12]}..., expected "
                f"{sha256[:12]}...; install the project again"
            )
        self._network = _load_network(path)

    def run(self, batch: Floats) -> Floats:
        """Run the network on a batch (n, channels, height, width)."""
        results = []
        for start in range(0, len(batch), _AT_ONCE):
            self._network.setInput(batch[start : start + _AT_ONCE])
            results.append(np.array(self._network.forward(), dtype=np.float32))
        return np.concatenate(results)


def _load_network(path: Path) -> cv2.dnn.Net:
    if not hasattr(cv2.dnn, "ENGINE_CLASSIC"):
        return cv2.dnn.readNetFromONNX(str(path))
    level = cv2.utils.logging.getLogLevel()
    cv2.utils.logging.setLogLevel(cv2.utils.logging.LOG_LEVEL_ERROR)  # it warns about batches of variable size
    try:
        # OpenCV 5's new engine takes 1.7 times as long, and always reads bytes
        return cv2.dnn.readNetFromONNX(str(path), engine=cv2.dnn.ENGINE_CLASSIC)
    finally:
        cv2.utils.logging.setLogLevel(level)
