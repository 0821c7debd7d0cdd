"""Drawing a table's location onto the picture, for a person to check."""

from __future__ import annotations

import cv2
import numpy as np

from vision.frame import FloatArray, Image
from vision.geometry import CameraModel, project
from vision.layout.table import TableLayout
from vision.locating.location import TableLocation

_MARKER, _BOX, _GRID, _DOUBT = (80, 220, 80), (255, 160, 0), (200, 90, 0), (60, 60, 255)
_STEPS_PER_LINE = 16


def draw(image: Image, located: TableLocation, layout: TableLayout, camera: CameraModel) -> Image:
    """Give a copy of the picture (height x width x 3, uint8) with the markers, the board's box and its grid drawn.

    The grid lies on the board's top; the box reaches from the table to the top of the blocks. Both bend with the
    lens. An uncertain pose is drawn in red.
    """
    picture = np.array(cv2.cvtColor(image, cv2.COLOR_GRAY2BGR) if image.ndim == 2 else image, dtype=np.uint8)
    half_x, half_y = layout.columns * layout.cell_mm / 2, layout.rows * layout.cell_mm / 2

    def line(start_mm: tuple[float, float, float], end_mm: tuple[float, float, float], colour: tuple[int, ...]) -> None:
        fractions = np.linspace(0, 1, _STEPS_PER_LINE)[:, None]
        points = np.asarray(start_mm) * (1 - fractions) + np.asarray(end_mm) * fractions
        cv2.polylines(picture, [_whole(project(camera, located.pose, points))], False, colour, 1, cv2.LINE_AA)

    grid, box = (_DOUBT, _DOUBT) if located.uncertain else (_GRID, _BOX)
    top = layout.board_top_mm
    for column in range(layout.columns + 1):
        x = column * layout.cell_mm - half_x
        line((x, -half_y, top), (x, half_y, top), grid)
    for row in range(layout.rows + 1):
        y = row * layout.cell_mm - half_y
        line((-half_x, y, top), (half_x, y, top), grid)
    corners = [(-half_x, half_y), (half_x, half_y), (half_x, -half_y), (-half_x, -half_y)]
    heights = sorted({0.0, top + layout.block_side_mm})
    for number, (x, y) in enumerate(corners):
        next_x, next_y = corners[(number + 1) % 4]
        for height in heights:
            line((x, y, height), (next_x, next_y, height), box)
        line((x, y, heights[0]), (x, y, heights[-1]), box)
    for marker in located.markers:
        cv2.polylines(picture, [_whole(marker.corners_px)], True, _MARKER, 2, cv2.LINE_AA)
        _write(
            picture,
            f"{marker.marker_id}: {located.marker_errors_px[marker.marker_id]:.2f} px",
            marker.corners_px.max(axis=0),
        )
    for name in (layout.places[0], layout.places[layout.columns - 1], layout.places[-1]):
        _write(picture, name, project(camera, located.pose, [[*layout.centre_mm(name), top]])[0])
    return picture


def _whole(points_px: FloatArray) -> cv2.typing.MatLike:
    # Points far outside the picture overflow OpenCV's drawing.
    return np.round(np.clip(points_px, -20000, 20000)).astype(np.int32).reshape(-1, 1, 2)


def _write(picture: Image, text: str, at_px: FloatArray) -> None:
    place = (round(float(np.clip(at_px[0], -20000, 20000))), round(float(np.clip(at_px[1], -20000, 20000))))
    cv2.putText(picture, text, place, cv2.FONT_HERSHEY_SIMPLEX, 0.5, (0, 0, 0), 3, cv2.LINE_AA)
    cv2.putText(picture, text, place, cv2.FONT_HERSHEY_SIMPLEX, 0.5, (255, 255, 255), 1, cv2.LINE_AA)
