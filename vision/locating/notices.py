"""What a person is told about where the table is in a picture, and about a table that was not found."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from common.phrases import listed
from vision.geometry import CameraModel, Pose, project
from vision.layout.pieces import Ink
from vision.layout.surfaces import GridSurface
from vision.layout.table import TableLayout
from vision.locating.markers import ids_text
from vision.locating.pose import PoseFit, marker_error_px

_SUSPICIOUS_ERROR_PX = 1.0
"""Mean error, in pixels, above which a warning is given. Set by hand on virtual and ray-traced pictures."""
_LEAST_CELL_PX = 11.0
"""Width of a handwritten cell, in pixels, below which twice as many digits are misread."""


def notices_of(fit: PoseFit, camera: CameraModel, layout: TableLayout) -> tuple[str, ...]:
    """Return the sentences about a located table."""
    notices = []
    for marker in fit.unused:
        if fit.ids == {marker.marker_id}:
            notices.append(
                f"marker {marker.marker_id} appears twice, and no other one shows which of them is right; remove one"
            )
        elif marker.marker_id in fit.ids:
            notices.append(f"marker {marker.marker_id} appears twice; the one that agrees with the others is used")
        else:
            notices.append(
                f"marker {marker.marker_id} is not where the layout says "
                f"({marker_error_px(camera, fit.pose, layout.markers, marker):.0f} pixels off); it is left out"
            )
    if len(fit.used) > 1 and fit.error_px > _SUSPICIOUS_ERROR_PX:
        notices.append(
            f"the markers are {fit.error_px:.1f} pixels off on average; check that the calibration "
            f"{camera.name or ''} is this camera's, its focus is unchanged, and the markers lie where the layout says"
        )
    sheets = [one for one in layout.surfaces if isinstance(one, GridSurface) and isinstance(one.pieces, Ink)]
    if any(not Ink.on(one).colours and cell_px(camera, fit.pose, one) < _LEAST_CELL_PX for one in sheets):
        notices.append(
            f"the cells of a sheet are less than {_LEAST_CELL_PX:.0f} pixels wide in the picture, so digits "
            "may be in doubt; move the camera closer, or let it take larger pictures"
        )
    return tuple(dict.fromkeys(notices))


def cell_px(camera: CameraModel, pose: Pose, surface: GridSurface) -> float:
    """Return the width of a surface's cells in the picture, in pixels: the least of the means along its four edges."""
    corners = project(camera, pose, surface.bounds_mm.corners_mm(surface.height_mm))
    sides = np.linalg.norm(corners - np.roll(corners, -1, axis=0), axis=1)
    return float(min(sides[::2].min() / surface.columns, sides[1::2].min() / surface.rows))


def seen_text(seen: Sequence[int], layout: TableLayout) -> str:
    """Say which of the layout's markers were seen: ``only markers 0 and 2 of 0-3 were seen``."""
    expected = sorted(layout.markers.centres_mm)
    if len(expected) == 1:
        return f"{ids_text(expected)} was {'' if seen else 'not '}seen"
    run = len(expected) > 2 and expected == list(range(expected[0], expected[-1] + 1))
    if not seen and run:
        return f"none of markers {expected[0]} to {expected[-1]} was seen"
    of = f"{expected[0]}-{expected[-1]}" if run else listed(expected)
    if not seen:
        return f"none of markers {of} was seen"
    if len(seen) == len(expected):
        return f"{ids_text(seen)} of {of} were seen" if run else f"{ids_text(seen)} were seen"
    return f"only {ids_text(seen)} of {of} {'were' if len(seen) > 1 else 'was'} seen"


def what_to_do(seen: Sequence[int]) -> str:
    """Say what to check where the table was not found, by the markers that were seen."""
    if seen:
        return "the corners seen fit no camera above the table: check the calibration and the layout's marker side"
    return "check that the markers lie flat, are lit and in the picture, and that the lens is in focus"
