"""From a frame to a Reading of the whole table, for any surfaces and pieces."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from vision.errors import FrameError
from vision.frame import Frame, Image
from vision.geometry import CameraModel, Pose
from vision.images import check_frame
from vision.layout.table import TableLayout
from vision.locating.markers import MarkerDetector, PictureMarkers
from vision.locating.notices import seen_text
from vision.opencv import as_colour
from vision.readers.part_reader import PartReader, SharedPicture
from vision.readers.protocols import AnyPieceReader, RollReader
from vision.readers.surface_reader import Stages
from vision.reading import Hindrance, HindranceKind, PlaceReading, Reading

FEW_MARKERS = 2
"""Number of one part's markers that must be plainly visible before another part without any counts as absent."""


class TableReader:
    """Reads one table in one camera's frames, given in order.

    ``pieces`` and ``rolls`` are the readers by surface name; ``vision.readers.registry.table_reader`` chooses them by
    the layout. Parts with a pose of their own are located separately. ``previous`` is a known pose; on a table without
    markers it determines which side of the board is the first player's.
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
        parts = layout.parts()
        self._parts = [PartReader(camera, part, pieces, rolls or {}, previous, len(parts)) for part in parts]

    def read(self, frame: Frame) -> Reading:
        """Read one frame. An unusable frame gives a Reading without places, with the reason."""
        try:
            check_frame(frame.image, self.camera.size, source=frame.source or "the camera")
        except FrameError as error:
            return Reading(frame.sequence, frame.time_s, {}, (Hindrance(HindranceKind.BAD_FRAME, str(error)),))
        frame = replace(frame, image=as_colour(frame.image))
        shared = SharedPicture(frame.image)
        absent = self._absent_parts(shared.markers)
        readings = [
            part.unlocated(frame, absent[part]) if part in absent else part.read(frame, shared) for part in self._parts
        ]
        return readings[0] if len(readings) == 1 else self._merge(frame, readings)

    def look_afresh(self) -> None:
        """Read every place in the next frame, also those that look as before; on a sheet, ink always shows."""
        for part in self._parts:
            part.look_afresh()

    def _absent_parts(self, markers: PictureMarkers) -> Mapping[PartReader, Hindrance]:
        """Return the parts that need no thorough search: none of their markers is visible, but another part's are."""
        lost = [part for part in self._parts if not part.is_located]
        if len(self._parts) < 2 or not lost:
            return {}
        finders = {name: MarkerDetector(name) for name in {part.layout.markers.dictionary for part in self._parts}}
        missing = [part for part in lost if part.layout.markers.centres_mm]
        for method in (MarkerDetector.quick, MarkerDetector.plain):
            seen = {
                name: {marker.marker_id for marker in markers.find(finder, method)} for name, finder in finders.items()
            }
            shown = {
                part: seen[part.layout.markers.dictionary] & part.layout.markers.centres_mm.keys()
                for part in self._parts
            }
            missing = [part for part in missing if not shown[part]]
            if not missing:
                return {}
        if not any(len(ids) >= FEW_MARKERS for ids in shown.values()):
            return {}
        return {
            part: Hindrance(HindranceKind.NOT_LOCATED, f"table not located: {seen_text((), part.layout)}")
            for part in missing
        }

    def _merge(self, frame: Frame, readings: list[Reading]) -> Reading:
        """Merge the Readings of several parts.

        While one part is visible, the places of an absent one are hidden, and so are those of one under a hand. An
        absent one without places, such as a tray, hinders nothing; a notice says why it is not read.
        """
        places: dict[str, PlaceReading] = {}
        hindrances: list[Hindrance] = []
        notices = [notice for reading in readings for notice in reading.notices]
        located = any(reading.places for reading in readings)
        for part, reading in zip(self._parts, readings, strict=True):
            is_under_hand = reading.hindered_by(HindranceKind.HAND) is not None
            places |= part.hidden(HindranceKind.HAND) if is_under_hand else reading.places
            for hindrance in reading.hindrances:
                if located and not part.is_located:
                    hidden = part.hidden(hindrance.kind)
                    places |= hidden
                    said = f"the {part.layout.surfaces[0].name}: {hindrance.message}"
                    if hidden:
                        hindrances.append(replace(hindrance, message=said, places=tuple(hidden)))
                    else:
                        notices.append(said)
                else:
                    hindrances.append(hindrance)
        return Reading(
            frame.sequence,
            frame.time_s,
            places,
            tuple(hindrances),
            tuple(dict.fromkeys(notices)),
            rolls=tuple(roll for reading in readings for roll in reading.rolls),
        )

    def stages(self, image: Image, pose: Pose) -> dict[str, Stages]:
        """Run all stages after locating on one picture, for the surfaces that have the table's pose, by name."""
        return self._parts[0].stages(image, pose)

    def reading(self, frame: Frame, stages: Mapping[str, Stages]) -> Reading:
        """Turn the results of the stages into probabilities and hindrances."""
        return self._parts[0].reading(frame, stages)

    def draw(self, picture: Image, stages: Mapping[str, Stages]) -> Image:
        """Return a copy of the picture with the pieces drawn on it."""
        return self._parts[0].draw(picture, stages)

    def crop(self, frame: Frame, place: str) -> Image:
        """Cut out one place as seen from above at the height of a piece's top, 72 x 72 pixels.

        The picture covers 48 x 48 mm, or on a sheet a cell and half of its neighbours. Raises NotLocatedError when its
        surface was not located in the newest frame.
        """
        own = next((part for part in self._parts if place in part.layout.places), self._parts[0])
        return own.crop(frame, place)
