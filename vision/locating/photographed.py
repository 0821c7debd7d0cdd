"""Locating a sheet in a photo from an uncalibrated camera, such as a phone's, and estimating the lens.

Only the sheet's markers are used: ``vision.self_calibration`` says how. From straight above every focal length fits, so
a typical one is preferred.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from common.phrases import listed
from vision.errors import FrameError, LayoutError, NotLocatedError
from vision.frame import Image
from vision.geometry import CameraModel, Pose
from vision.layout.pieces import GridSurface, Ink
from vision.layout.table import TableLayout
from vision.locating.location import cell_px
from vision.locating.markers import Marker, MarkerDetector, ids_text
from vision.locating.pose import corner_pairs
from vision.opencv import as_grey
from vision.self_calibration import PHOTO_PRIORS, Sighting, cameras_from_markers
from vision.surface.paper import has_other_grid, lacks_grid

MOST_SHEETS = 6
"""Maximum number of different sheets that are searched for: the players of the largest game."""


@dataclass(frozen=True)
class PhotoSettings:
    """The minimum evidence of a sheet in a photo. Set by hand on virtual photos."""

    fewest_markers: int = 3
    """Minimum number of a sheet's markers: two do not determine the lens."""
    misfit: float = 0.16
    """Error, as a share of the markers' side, above which they belong to another sheet. Higher: tolerates more bending.
    """
    least_cell_px: float = 9.0
    """Minimum width of a readable cell, in pixels."""


_SETTINGS = PhotoSettings()


@dataclass(frozen=True, eq=False)
class PhotographedSheet:
    """A sheet in a photo: its layout alone, the estimated camera, its pose, and the root mean square error of its
    marker corners in pixels.
    """

    layout: TableLayout
    camera: CameraModel
    pose: Pose
    error_px: float


def photographed_sheet(image: Image, layouts: Sequence[TableLayout]) -> PhotographedSheet:
    """Find the one sheet that a photo shows, among the sheets of the given layouts.

    ``image`` is height x width (x 3), uint8. Raises LayoutError if no layout has a sheet with markers, NotLocatedError,
    naming the markers seen, if no sheet or several are found or its printed lines are missing or those of another
    sheet, and FrameError if its cells are too small to be read.
    """
    grey = as_grey(image)
    sheets = [part for layout in layouts for part in _sheets_of(layout)]
    if not sheets:
        raise LayoutError("no sheet with markers is described; a sheet in a photo is found by its markers")
    markers = _markers_in(grey, sheets)
    _check_alone(markers, sheets)
    fits = [fit for sheet in sheets if (fit := _fit_camera_and_pose(grey, markers, sheet)) is not None]
    if not fits:
        raise NotLocatedError(_too_few_text(markers, sheets))
    best = min(fits, key=lambda fit: fit.error_px)
    sides = [marker.side_px for marker in markers if marker.marker_id in best.layout.markers.centres_mm]
    if best.error_px > _SETTINGS.misfit * float(np.mean(sides)):
        games = listed(list(dict.fromkeys(sheet.game for sheet in sheets)))
        raise NotLocatedError(
            f"no sheet found: {_ids_text(markers)} are seen, but not where a sheet of {games} has them; give --layout "
            "for a sheet of your own, or lay the paper flat"
        )
    width_px = cell_px(best.camera, best.pose, best.layout.board)
    if width_px < _SETTINGS.least_cell_px:
        raise FrameError(
            f"a cell of the {best.layout.board.name} is {width_px:.0f} pixels wide in the photo; expected "
            f"{_SETTINGS.least_cell_px:.0f} or more; take it from closer, or at the camera's full size"
        )
    if lacks_grid(image, best.camera, best.pose, best.layout.board):
        raise NotLocatedError(
            f"no sheet found: {_ids_text(markers)} are seen, but no printed lines of a sheet of {best.layout.game} "
            "between them; for a sheet of your own set its options under [game.options], or give --layout; if it is "
            "scribbled over, copy what counts to a fresh sheet; another game's table is read without --sheet"
        )
    if has_other_grid(image, best.camera, best.pose, best.layout.board):
        board = best.layout.board
        raise NotLocatedError(
            f"no sheet found: {_ids_text(markers)} are seen, but the lines printed between them are not those of "
            f"{board.columns} by {board.rows} cells; for a sheet of your own set its options under [game.options], or "
            "give --layout"
        )
    return best


def _sheets_of(layout: TableLayout) -> Iterator[TableLayout]:
    """Yield the layout of each sheet alone, up to the maximum number."""
    first = layout.surfaces[0]
    if not isinstance(first, GridSurface) or not isinstance(first.pieces, Ink) or not layout.markers.centres_mm:
        return
    alone = replace(layout, surfaces=(first,))
    for count in range(MOST_SHEETS, 0, -1):
        try:
            parts = alone.with_sheets(count).parts()
        except LayoutError:
            # there are no ids for so many
            continue
        yield from parts
        return


def _markers_in(grey: Image, sheets: Sequence[TableLayout]) -> list[Marker]:
    """Return the markers of any of the sheets, found by ever slower detectors until one sheet is complete."""
    found: list[Marker] = []
    for name in dict.fromkeys(sheet.markers.dictionary for sheet in sheets):
        finder = MarkerDetector(name)
        own = [set(sheet.markers.centres_mm) for sheet in sheets if sheet.markers.dictionary == name]
        for find in (finder.halved, finder.plain, finder.thorough, finder.sharpened, finder.equalised):
            markers = [marker for marker in find(grey) if any(marker.marker_id in ids for ids in own)]
            found = markers if len(markers) > len(found) else found
            if any(ids <= {marker.marker_id for marker in found} for ids in own):
                return found
    return found


def _check_alone(markers: Sequence[Marker], sheets: Sequence[TableLayout]) -> None:
    """Raise NotLocatedError if more than one sheet is in the photo."""
    twice = sorted(number for number, count in Counter(marker.marker_id for marker in markers).items() if count > 1)
    if len(twice) > 1:
        raise NotLocatedError(
            f"{ids_text(twice)} appear twice, so two sheets have the same markers; take a photo of one alone, and "
            "print one for each player"
        )
    seen = {marker.marker_id for marker in markers}
    there = dict.fromkeys(
        sheet.board.name for sheet in sheets if len(seen & set(sheet.markers.centres_mm)) >= _SETTINGS.fewest_markers
    )
    if len(there) > 1:
        raise NotLocatedError(f"the photo shows the {listed(there)}; take one of each alone")


def _fit_camera_and_pose(grey: Image, markers: Sequence[Marker], sheet: TableLayout) -> PhotographedSheet | None:
    """Return the camera and pose that best explain a sheet's markers; ``None`` where too few are seen."""
    own = {marker.marker_id: marker for marker in markers if marker.marker_id in sheet.markers.centres_mm}
    if len(own) < _SETTINGS.fewest_markers:
        return None
    points, pixels = corner_pairs(sheet.markers, own.values())
    size = (grey.shape[1], grey.shape[0])
    for camera, pose in cameras_from_markers(sheet, tuple(own.values()), size, PHOTO_PRIORS, "of the photo")[:1]:
        return PhotographedSheet(sheet, camera, pose, Sighting(points, pixels, pose).error_px(camera))
    return None


def _ids_text(markers: Sequence[Marker]) -> str:
    return ids_text(sorted({marker.marker_id for marker in markers}))


def _too_few_text(markers: Sequence[Marker], sheets: Sequence[TableLayout]) -> str:
    advice = "take the photo so that the markers in all four corners are in it, lit and sharp"
    if not markers:
        games = listed(list(dict.fromkeys(sheet.game for sheet in sheets)))
        return f"no sheet found: none of the markers of a sheet of {games} is seen; {advice}"
    return f"no sheet found: only {_ids_text(markers)} seen; expected {_SETTINGS.fewest_markers} of one sheet; {advice}"
