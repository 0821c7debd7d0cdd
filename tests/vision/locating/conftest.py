"""A tracker that is fed with pictures."""

from collections.abc import Callable

import pytest

from vision.frame import Frame
from vision.geometry import CameraModel
from vision.layout.table import TableLayout
from vision.locating.tracking import TableTracker, TrackedTable


@pytest.fixture
def feed(camera: CameraModel, layout: TableLayout) -> Callable[..., TrackedTable]:
    """``feed(picture, at_s)`` gives one frame after another to one tracker."""
    tracker = TableTracker(camera, layout, hold_s=5.0)
    count = iter(range(1000))

    def update(picture, at_s=None, unchanged=()):
        sequence = next(count)
        frame = Frame(picture, float(sequence) if at_s is None else at_s, sequence)
        return tracker.update(frame, unchanged=unchanged)

    return update
