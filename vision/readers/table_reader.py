"""From a frame to a Reading of the whole table, whatever its surfaces are and whatever stands on them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from vision.errors import FrameError
from vision.frame import Frame, Image
from vision.geometry import CameraModel, Pose
from vision.images import check_frame
from vision.layout.table import TableLayout
from vision.locating.location import seen_text
from vision.locating.markers import MarkerDetector
from vision.opencv import as_colour
from vision.readers.part_reader import PartReader
from vision.readers.protocols import AnyPieceReader, RollReader
from vision.readers.surface_reader import Stages
from vision.reading import Hindrance, HindranceKind, PlaceReading, Reading

FEW_MARKERS = 2
"""Markers of one part that show plainly from which those of others would, too."""


class TableReader:
    """Reads frames of one table by one camera, in order.

    ``pieces`` and ``rolls`` are the readers of its surfaces by name; ``vision.readers.registry.table_reader`` picks
    them by what the layout says. What has a pose of its own is located by itself. ``previous`` is a pose that was known
    before; where the table has no markers it tells which of the board's sides is the first player's.
    """

    def __init__(
        self,
        camera: CameraModel,
        layout: TableLayout,
        pieces: Mapping[str, AnyPieceReader],
        rolls: Mapping[str, RollReader] | None = None,
        previous: Pose | None = None,
    ) -> None:
        self.camera = camera
        self.layout = layout
        self._parts = [PartReader(camera, part, pieces, rolls or {}, previous) for part in layout.parts()]

    def read(self, frame: Frame) -> Reading:
        """Read one frame. A frame that can't be used gives a Reading without places that says why."""
        try:
            check_frame(frame.image, self.camera.size, source=frame.source or "the camera")
        except FrameError as error:
            return Reading(frame.sequence, frame.time_s, {}, (Hindrance(HindranceKind.BAD_FRAME, str(error)),))
        frame = replace(frame, image=as_colour(frame.image))
        absent = self._absent(frame)
        readings = [part.lost(frame, absent[part]) if part in absent else part.read(frame) for part in self._parts]
        return readings[0] if len(readings) == 1 else self._together(frame, readings)

    def _absent(self, frame: Frame) -> Mapping[PartReader, Hindrance]:
        """The parts that are not looked for thoroughly: of another part markers show plainly, of theirs none does."""
        lost = [part for part in self._parts if not part.is_located]
        if len(self._parts) < 2 or not lost:
            return {}
        seen: dict[str, frozenset[int]] = {}
        for dictionary in {part.layout.markers.dictionary for part in self._parts}:
            plainly = MarkerDetector(dictionary).plain(frame.image)
            seen[dictionary] = frozenset(marker.marker_id for marker in plainly)

        def shown(part: PartReader) -> frozenset[int]:
            return seen[part.layout.markers.dictionary] & frozenset(part.layout.markers.centres_mm)

        if not any(len(shown(part)) >= FEW_MARKERS for part in self._parts):
            return {}
        return {
            part: Hindrance(
                HindranceKind.NOT_LOCATED,
                f"table not located: {seen_text((), part.layout)}",
            )
            for part in lost
            if part.layout.markers.centres_mm and not shown(part)
        }

    def _together(self, frame: Frame, readings: list[Reading]) -> Reading:
        """One Reading of several parts; the places of one that is not to be seen are hidden while another is."""
        places: dict[str, PlaceReading] = {}
        hindrances: list[Hindrance] = []
        located = any(reading.places for reading in readings)
        for part, reading in zip(self._parts, readings, strict=True):
            places |= reading.places
            for hindrance in reading.hindrances:
                if located and not reading.places:
                    hidden = part.hidden(hindrance.kind)
                    places |= hidden
                    said = f"the {part.layout.surfaces[0].name}: {hindrance.message}"
                    hindrances.append(replace(hindrance, message=said, places=tuple(hidden)))
                else:
                    hindrances.append(hindrance)
        return Reading(
            frame.sequence,
            frame.time_s,
            places,
            tuple(hindrances),
            tuple(notice for reading in readings for notice in reading.notices),
            rolls=tuple(roll for reading in readings for roll in reading.rolls),
        )

    def stages(self, image: Image, pose: Pose) -> dict[str, Stages]:
        """Run all stages after locating on one picture, of the surfaces that have the table's pose, by their names."""
        return self._parts[0].stages(image, pose)

    def reading(self, frame: Frame, stages: Mapping[str, Stages]) -> Reading:
        """Turn what the stages found into probabilities and hindrances."""
        return self._parts[0].reading(frame, stages)

    def draw(self, picture: Image, stages: Mapping[str, Stages]) -> Image:
        """A copy of the picture with the pieces drawn on it."""
        return self._parts[0].draw(picture, stages)

    def crop(self, frame: Frame, place: str) -> Image:
        """Cut out one place as seen from above at the height of a piece's top, 72 x 72 pixels.

        They show 48 x 48 mm, or of a sheet a cell and half of those beside it. Raises NotLocatedError when its surface
        is not located in the newest frame that was read.
        """
        own = next((part for part in self._parts if place in part.layout.places), self._parts[0])
        return own.crop(frame, place)
