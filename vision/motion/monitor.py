"""Adds hands that are over a surface to its readings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from vision.frame import FloatArray, Frame, Image, IndexArray
from vision.geometry import CameraModel, Pose, outline_px, project
from vision.layout.pieces import Ink
from vision.layout.surfaces import Surface, named_places
from vision.motion.hands import HandDetector, HandSettings, HandState, is_in_picture
from vision.reading import Hindrance, HindranceKind, PlaceReading, Reading, uniform_reading


class HandMonitor:
    """Detects hands over one surface, frame by frame; readings of frames far apart in time are returned unchanged."""

    def __init__(self, camera: CameraModel, surface: Surface, settings: HandSettings) -> None:
        self._settings = settings
        self._camera = camera
        self._surface = surface
        self._finder: HandDetector | None = None
        self._place_pixels: Mapping[str, IndexArray] = {}
        self._corners_px: FloatArray = np.zeros((4, 2))
        self._time_s: float | None = None

    def with_hand(self, frame: Frame, pose: Pose, reading: Reading, small: Image | None = None) -> Reading:
        """Return the reading, with a hand added where the frames so far show one; ``small`` is the frame's picture from
        ``vision.sampling.shrink``, if known.
        """
        before_s, self._time_s = self._time_s, frame.time_s
        bounds = self._surface.bounds_mm
        corners = project(self._camera, pose, bounds.corners_mm(self._surface.height_mm))
        moved = float(np.abs(corners - self._corners_px).max()) > self._settings.same_place_px
        if before_s is None or not 0 < frame.time_s - before_s <= self._settings.longest_gap_s or moved:
            self._finder = None
        seen = reading.hindered_by(HindranceKind.HAND) is not None
        if self._finder is None:
            if seen or not is_in_picture(corners, self._camera.size):
                return reading
            self._finder = HandDetector(corners, self._camera.size, self._settings)
            self._corners_px = corners
            self._place_pixels = {}
        # nothing can lie on paper without hiding print
        in_sight = isinstance(self._surface.pieces, Ink) and not reading.hindrances
        reach = self._finder.update(frame.image, frame.time_s, in_sight=in_sight, small=small)
        if reach.kind is not HandState.HAND or not reach.connected or seen:
            return reading
        if not self._place_pixels:
            # once for each finder: filling an outline takes long for a sheet's many cells
            self._place_pixels = {
                place: self._finder.pixels_inside(self._outline_px(place, pose)) for place in self._surface.places
            }
        places: dict[str, PlaceReading] = dict(reading.places)
        hidden = []
        for place, pixels in self._place_pixels.items():
            if place in places and reach.share(pixels) > self._settings.hidden_share:
                hidden.append(place)
                places[place] = uniform_reading(tuple(places[place].probabilities), HindranceKind.HAND)
        where = named_places(self._surface, hidden or self._surface.places)
        over = f"over {where}" if hidden or not self._surface.places else f"at the edge of {where}"
        hand = Hindrance(HindranceKind.HAND, f"a hand or arm is {over}", tuple(hidden))
        return replace(reading, places=places, hindrances=(*reading.hindrances, hand))

    def _outline_px(self, place: str, pose: Pose) -> npt.NDArray[np.floating]:
        """Return the outline in the picture of the piece that may stand on a place, or of the place if none can."""
        solid = self._surface.solid_at(place)
        if solid is not None:
            return outline_px(solid, self._camera, pose)
        outline = self._surface.outline_mm(place)
        return project(self._camera, pose, np.column_stack([outline, np.full(len(outline), self._surface.height_mm)]))
