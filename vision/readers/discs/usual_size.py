"""Views of boards with discs of any size, scaled so that a disc is as wide as those the reader's lengths were set for.

A table half as large, half as far away, gives the same picture. So lengths in mm fit discs of any size.
"""

from __future__ import annotations

from dataclasses import replace

from vision.geometry import FrustumSolid, Pose
from vision.layout.markers import MarkerLayout
from vision.layout.pieces import DiscPieces
from vision.layout.surfaces import GridSurface, Surface
from vision.readers.protocols import SurfaceView

USUAL_DIAMETER_MM = 25.0
"""Diameter of the discs for which lengths were set."""
LEAST_CELL_SHARE = 0.25
"""Diameter of a disc, as a share of a cell, below which a board is not scaled up further, since that costs time."""


def usual_scale(surface: Surface) -> float:
    """Return the factor by which a surface's lengths are multiplied."""
    least_mm = LEAST_CELL_SHARE * surface.cell_mm if isinstance(surface, GridSurface) else 0.0
    return USUAL_DIAMETER_MM / max(DiscPieces.on(surface).diameter_mm, least_mm)


def scaled_surface(surface: Surface) -> Surface:
    """Return the surface with discs of the usual size; raises LayoutError for one without discs."""
    pieces, by = DiscPieces.on(surface), usual_scale(surface)
    scaled = DiscPieces(pieces.diameter_mm * by, pieces.disc_mm * by, pieces.ball_mm * by)
    surface = replace(surface, height_mm=surface.height_mm * by, pieces=scaled)
    return replace(surface, cell_mm=surface.cell_mm * by) if isinstance(surface, GridSurface) else surface


def scaled_view(view: SurfaceView) -> SurfaceView:
    """Return the view of the surface with discs of the usual size, with markers and pose to match."""
    by = usual_scale(view.surface)
    pose = Pose(view.pose.rotation, view.pose.translation * by)
    markers = None if view.markers is None else _scaled_markers(view.markers, by)
    return replace(view, surface=scaled_surface(view.surface), pose=pose, markers=markers)


def _scaled_markers(markers: MarkerLayout, by: float) -> MarkerLayout:
    centres = {marker_id: (x * by, y * by) for marker_id, (x, y) in markers.centres_mm.items()}
    return replace(markers, side_mm=markers.side_mm * by, z_mm=markers.z_mm * by, centres_mm=centres)


def unscaled_solid(solid: FrustumSolid, surface: Surface) -> FrustumSolid:
    """Return a body found in a scaled view as it stands on the surface itself."""
    by = usual_scale(surface)
    return FrustumSolid(
        solid.x_mm / by,
        solid.y_mm / by,
        solid.base_mm / by,
        solid.height_mm / by,
        solid.foot_radius_mm / by,
        solid.top_radius_mm / by,
    )
