"""Drawing the table's location and what covers it on the picture, for a person to check."""

from collections.abc import Sequence

import cv2
import numpy as np
import numpy.typing as npt

from vision.frame import FloatArray, Image
from vision.geometry import CameraModel, project
from vision.layout.pieces import GridSurface, top_mm
from vision.layout.table import TableLayout
from vision.locating.location import TableLocation
from vision.locating.markers import Marker
from vision.opencv import as_colour
from vision.surface.occlusion import Occlusion
from vision.surface.view import RectifiedView

_MARKER, _BOX, _GRID, _DOUBT = (80, 220, 80), (255, 160, 0), (200, 90, 0), (60, 60, 255)
"""Colours of markers, of the board's box, of its grid, and of box and grid if the pose is uncertain; blue-green-red."""
_COVERED = (200, 60, 200)
"""Colour of what is covered, blue-green-red."""
_WORDS, _WORDS_SIZE = (255, 255, 255), 0.5
"""Colour and size of the names of squares and of markers' errors."""
_FAR_PX = 20000
"""Distance to which points far outside the picture are moved, as they overflow OpenCV's drawing functions."""
_STEPS_PER_LINE = 16
"""Number of points along a line, which the lens bends."""


def grid_lines(located: TableLocation, board: GridSurface, camera: CameraModel) -> list[FloatArray]:
    """Return the lines of a located board's squares as the lens shows them, each (n, 2) in pixels, columns first."""
    half_x, half_y = board.bounds_mm.right_mm, board.bounds_mm.far_mm
    columns = [column * board.cell_mm - half_x for column in range(board.columns + 1)]
    rows = [row * board.cell_mm - half_y for row in range(board.rows + 1)]
    ends = [((x, -half_y), (x, half_y)) for x in columns] + [((-half_x, y), (half_x, y)) for y in rows]
    return [_line(located, camera, (*start, board.height_mm), (*end, board.height_mm)) for start, end in ends]


def _line(
    located: TableLocation, camera: CameraModel, start_mm: tuple[float, ...], end_mm: tuple[float, ...]
) -> FloatArray:
    fractions = np.linspace(0, 1, _STEPS_PER_LINE)[:, None]
    return project(camera, located.pose, np.asarray(start_mm) * (1 - fractions) + np.asarray(end_mm) * fractions)


def draw(image: Image, located: TableLocation, layout: TableLayout, camera: CameraModel) -> Image:
    """Return a copy of the picture (height x width x 3, uint8) with the markers, the board's box and its grid drawn.

    The grid lies on the board's top; the box reaches from the table to the top of the pieces. Both follow the lens
    distortion. A tray has only a box. An uncertain pose is drawn in red.
    """
    picture = as_colour(image).copy()
    board = layout.surfaces[0]

    def line(points_px: FloatArray, colour: tuple[int, ...]) -> None:
        cv2.polylines(picture, [whole_pixels(points_px)], False, colour, 1, cv2.LINE_AA)

    grid, box = (_DOUBT, _DOUBT) if located.uncertain else (_GRID, _BOX)
    if isinstance(board, GridSurface):
        for points_px in grid_lines(located, board, camera):
            line(points_px, grid)
        for name in (board.places[0], board.places[board.columns - 1], board.places[-1]):
            at = project(camera, located.pose, [[*board.centre_mm(name), board.height_mm]])[0]
            write_text(picture, name, at, _WORDS, _WORDS_SIZE)
    corners = [(x, y) for x, y, _ in board.bounds_mm.corners_mm(0.0)[::-1]]
    heights = sorted({0.0, top_mm(board)})
    for number, (x, y) in enumerate(corners):
        next_x, next_y = corners[(number + 1) % 4]
        for height in heights:
            line(_line(located, camera, (x, y, height), (next_x, next_y, height)), box)
        line(_line(located, camera, (x, y, heights[0]), (x, y, heights[-1])), box)
    for marker in located.markers:
        cv2.polylines(picture, [whole_pixels(marker.corners_px)], True, _MARKER, 2, cv2.LINE_AA)
        error = f"{marker.marker_id}: {located.marker_errors_px[marker.marker_id]:.2f} px"
        write_text(picture, error, marker.corners_px.max(axis=0), _WORDS, _WORDS_SIZE)
    return picture


def draw_markers(image: Image, markers: Sequence[Marker]) -> Image:
    """Return a copy of the picture with markers outlined and labelled with their ids."""
    picture = as_colour(image).copy()
    for marker in markers:
        cv2.polylines(picture, [whole_pixels(marker.corners_px)], True, _MARKER, 2, cv2.LINE_AA)
        at = (int(marker.corners_px[:, 0].max()) + 4, int(marker.corners_px[:, 1].mean()))
        cv2.putText(picture, str(marker.marker_id), at, cv2.FONT_HERSHEY_SIMPLEX, 0.7, _MARKER, 2, cv2.LINE_AA)
    return picture


def draw_occlusions(image: Image, view: RectifiedView, occlusions: Sequence[Occlusion]) -> Image:
    """Return a copy of the picture with every occlusion tinted and labelled with its kind and area."""
    picture = as_colour(image).copy()
    height, width = picture.shape[0], picture.shape[1]
    for occlusion in occlusions:
        at = np.round(view.pixel_map[occlusion.pixels]).astype(np.int32)
        mask = np.zeros((height, width), dtype=np.uint8)
        inside = (at[:, 0] >= 0) & (at[:, 1] >= 0) & (at[:, 0] < width) & (at[:, 1] < height)
        mask[at[inside, 1], at[inside, 0]] = 1
        mask = np.asarray(cv2.dilate(mask, np.ones((3, 3), dtype=np.uint8)))
        tinted = picture[mask > 0].astype(np.float64) * 0.5 + np.asarray(_COVERED) * 0.5
        picture[mask > 0] = tinted.astype(np.uint8)
        if inside.any():
            write_text(
                picture,
                f"{occlusion.kind} {occlusion.area_mm2 / 100:.0f} cm2",
                at[inside].mean(axis=0).astype(np.float64),
                _COVERED,
            )
    return picture


def write_text(picture: Image, text: str, at: FloatArray, colour: tuple[int, int, int], size: float = 0.42) -> None:
    """Write beside a point in pixels, with a dark edge that keeps the text readable."""
    x, y = np.clip(at, -_FAR_PX, _FAR_PX)
    for shade, width in (((0, 0, 0), 3), (colour, 1)):
        cv2.putText(picture, text, (int(x) + 2, int(y) - 4), cv2.FONT_HERSHEY_SIMPLEX, size, shade, width, cv2.LINE_AA)


def whole_pixels(points_px: npt.NDArray[np.floating]) -> npt.NDArray[np.int32]:
    """Round points (n, 2) to whole pixels for OpenCV's drawing functions; (n, 1, 2)."""
    return np.asarray(np.round(np.clip(points_px, -_FAR_PX, _FAR_PX)), dtype=np.int32).reshape(-1, 1, 2)
