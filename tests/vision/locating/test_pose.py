from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from simulator.table import standard_setting
from vision.frame import FloatArray
from vision.geometry import project
from vision.locating.markers import Marker
from vision.locating.pose import PoseFit, fit_from, shapes_agree

SETTING = standard_setting()
MARKERS = SETTING.layout.markers


def seen(marker_id: int, smear_px: FloatArray) -> Marker:
    """A marker whose corners are pulled outwards along (x, y), as a streak does it."""
    corners = project(SETTING.camera, SETTING.pose, MARKERS.corners_mm(marker_id))
    return Marker(marker_id, corners + np.sign(corners - corners.mean(axis=0)) * smear_px)


def fitted(smears_px: list[tuple[float, float]]) -> PoseFit:
    used = [seen(marker_id, np.array(smear)) for marker_id, smear in enumerate(smears_px)]
    fit = fit_from(SETTING.camera, MARKERS, SETTING.pose, used)
    return replace(fit, used=tuple(used))


@pytest.mark.parametrize("smear_px", [(0.0, 0.0), (2.0, 0.0), (0.0, 2.0), (1.6, 1.6)])
def test_three_markers_smeared_alike_agree(smear_px: tuple[float, float]) -> None:
    assert shapes_agree(SETTING.camera, MARKERS, fitted([smear_px] * 3))


def test_one_of_three_that_is_smeared_by_itself_does_not_agree() -> None:
    assert not shapes_agree(SETTING.camera, MARKERS, fitted([(0.0, 0.0), (4.0, 0.0), (0.0, 0.0)]))


def test_two_markers_are_forgiven_no_smear() -> None:
    assert shapes_agree(SETTING.camera, MARKERS, fitted([(0.0, 0.0), (0.0, 0.0)]))
    assert not shapes_agree(SETTING.camera, MARKERS, fitted([(4.0, 0.0), (4.0, 0.0)]))
