"""From a frame to a Reading of the whole table, whose camera is learned from the frames if it is not calibrated."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from common.phrases import Phrase, joined
from vision.errors import FrameError
from vision.frame import Frame, Image
from vision.geometry import CameraModel, Pose
from vision.images import check_frame
from vision.layout.table import TableLayout
from vision.learned_cameras import LearnedCameras
from vision.locating.location import seen_text
from vision.locating.markers import MarkerDetector, SharedPicture
from vision.motion.changes import Attention, ChangeGate
from vision.opencv import as_colour
from vision.readers.part_reader import PartReader
from vision.readers.protocols import AnyPieceReader, RollReader
from vision.readers.surface_reader import Stages
from vision.reading import Hindrance, HindranceKind, PlaceReading, Reading, Sight

FEW_MARKERS = 2
"""Number of one part's markers that must be plainly visible before another part without any counts as absent."""


class TableReader:
    """Reads one table in one camera's frames, given in order.

    ``pieces`` and ``rolls`` are the readers by surface name; ``vision.readers.registry.table_reader`` chooses them by
    the layout. Parts with a pose of their own are located separately. ``previous`` is a known pose; on a table without
    markers it determines which side of the board is the first player's. With ``attention``, some frames are not read,
    or all their places are; otherwise, the places that look changed are read in each frame. A camera that is not
    calibrated is learned from the frames, which may change in size; ``camera`` is the one of the newest frame.
    """

    def __init__(
        self,
        camera: CameraModel | LearnedCameras,
        layout: TableLayout,
        pieces: Mapping[str, AnyPieceReader],
        rolls: Mapping[str, RollReader] | None = None,
        previous: Pose | None = None,
        attention: Attention | None = None,
    ) -> None:
        self._cameras = camera if isinstance(camera, LearnedCameras) else None
        self.camera = camera.newest if isinstance(camera, LearnedCameras) else camera
        self.layout = layout
        self._attention = attention
        self._gate = ChangeGate(reads_movement=attention is Attention.MOVING)
        self.pause: Callable[[], object] = lambda: None
        """Called between the steps of a long search in one picture; nothing may be read meanwhile."""
        self.go_on_with(pieces, rolls or {}, previous)

    def __str__(self) -> str:
        """Return what a frame passes, for an engineer; parts that are read side by side are separated by ``|``."""
        gate = () if self._attention is None else (f"{self._attention.name} frames",)
        return " → ".join((*gate, " | ".join(map(str, self._parts))))

    def go_on_with(
        self, pieces: Mapping[str, AnyPieceReader], rolls: Mapping[str, RollReader], previous: Pose | None = None
    ) -> None:
        """Go on with other readers, and perhaps another known pose, as if no frame had been read before."""
        parts = self.layout.parts()
        self._gate.forget_reading()
        self._read_by = pieces, rolls, previous
        self._parts = [PartReader(self.camera, part, pieces, rolls, previous, len(parts)) for part in parts]

    def read(self, frame: Frame, shared: SharedPicture | None = None) -> Reading:
        """Read one frame; ``shared`` is what was made of it already. An unusable frame gives a Reading without places,
        with the reason.
        """
        size = self.camera.size if self._cameras is None else None
        try:
            check_frame(frame.image, size, source=frame.source or Phrase("the camera"))
        except FrameError as error:
            return self._gate.left_out(frame, str(error))
        frame = replace(frame, image=as_colour(frame.image))
        shared = shared or SharedPicture(frame.image, frame.focal_share, self.pause)
        if self._cameras is not None:
            camera = self._cameras.camera_for(shared, frame.time_s, is_film=self._is_film(frame))
            if camera is None:
                return self._gate.left_out(frame, self._cameras.why_unknown, HindranceKind.NOT_LOCATED)
            if camera is not self.camera:
                self._take_camera(camera)
        # what a photo shows is at rest, and need not be like the frame before
        attention = Attention.ALL if frame.is_still else self._attention
        if attention in {Attention.STILL, Attention.MOVING}:
            reading = self._gate.reading(frame, shared, self._read_now, self.invalidate_cache)
        else:
            if frame.is_still:
                for part in self._parts:
                    part.forget_pose()
            if attention is Attention.ALL:
                self.invalidate_cache()
            reading = self._read_now(frame, shared)
        # in frames that are not read too, so that it is said once
        said = () if self._cameras is None else self._cameras.notices()
        return replace(reading, notices=(*reading.notices, *said)) if said else reading

    def _is_film(self, frame: Frame) -> bool:
        """Return whether more pictures like this one come, so that each need not be searched by every method."""
        return self._attention in {Attention.STILL, Attention.MOVING} and not frame.is_still

    def _read_now(self, frame: Frame, shared: SharedPicture) -> Reading:
        """Read a frame that was checked."""
        reading = self._read_parts(frame, shared)
        if self._cameras is not None and self._has_learned(self._cameras, shared, frame, reading):
            self._take_camera(self._cameras.newest)
            reading = self._read_parts(frame, shared)
        return reading

    def _has_learned(self, cameras: LearnedCameras, shared: SharedPicture, frame: Frame, reading: Reading) -> bool:
        """Let the camera be learned from where the parts are now; return whether it is another one."""
        found = [(part.layout, part.new_location) for part in self._parts if part.new_location is not None]
        if not any(part.pose is not None for part in self._parts) and reading.hindered_by(HindranceKind.NOT_LOCATED):
            return cameras.look_again(shared, frame.time_s, is_film=self._is_film(frame))
        return any(cameras.learn(shared, layout, located) for layout, located in found)

    def _take_camera(self, camera: CameraModel) -> None:
        """Read with another camera; the first player stays on their side of a board without markers."""
        if camera.size != self.camera.size:
            self._gate = ChangeGate(reads_movement=self._attention is Attention.MOVING)
        pieces, rolls, previous = self._read_by
        previous = self._parts[0].pose or previous
        self.camera = camera
        self.go_on_with(pieces, rolls, previous)

    def _read_parts(self, frame: Frame, shared: SharedPicture) -> Reading:
        absent = self._absent_parts(shared)
        readings = [
            part.unlocated(frame, absent[part]) if part in absent else part.read(frame, shared) for part in self._parts
        ]
        return readings[0] if len(readings) == 1 else self._merge(frame, readings)

    def invalidate_cache(self) -> None:
        """Read every place in the next frame, also those that look as before; on a sheet, ink always shows."""
        for part in self._parts:
            part.invalidate_cache()

    def _absent_parts(self, picture: SharedPicture) -> Mapping[PartReader, Hindrance]:
        """Return the parts that need no thorough search: none of their markers is visible, but another part's are."""
        lost = [part for part in self._parts if part.pose is None]
        if len(self._parts) < 2 or not lost:
            return {}
        finders = {name: MarkerDetector(name) for name in {part.layout.markers.dictionary for part in self._parts}}
        missing = [part for part in lost if part.layout.markers.centres_mm]
        for method in (MarkerDetector.quick, MarkerDetector.plain):
            seen = {
                name: {marker.marker_id for marker in picture.find(finder, method)} for name, finder in finders.items()
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
            part: Hindrance(
                HindranceKind.NOT_LOCATED, Phrase("table not located: {seen_text}", seen_text((), part.layout))
            )
            for part in missing
        }

    def where_seen(self, image: Image, reading: Reading) -> Sight:
        """Return where the last frame, with this image, showed the table, and what its reading says is hidden."""
        hidden = [place for place, seen in reading.places.items() if seen.hidden_by is not None]
        picture = SharedPicture(as_colour(image))
        sights = [part.where_seen(picture, hidden) for part in self._parts]
        return Sight(
            sights[0].size_px,
            tuple(each for sight in sights for each in sight.parts),
            tuple(each for sight in sights for each in sight.markers),
            tuple(each for sight in sights for each in sight.hidden),
        )

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
                if located and part.pose is None:
                    hidden = part.hidden(hindrance.kind)
                    places |= hidden
                    said = joined((Phrase("the {name}", part.layout.surfaces[0].name), hindrance.message), ": ")
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
