"""The camera during a set-up, kept open from its first use, and checks whether its pictures are good enough."""

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

import cv2
import numpy as np

from app.settings.settings import CameraSection
from app.setup.table_setup import FoundCamera, Point
from common.findings import Finding, Severity
from common.phrases import Phrase
from vision.cameras import Camera, PhoneCamera, open_camera, with_address
from vision.cameras.live import ids_of, usb_cameras
from vision.clarity import REMEDIES, Clarity
from vision.drawing import draw, grid_lines, write_text
from vision.errors import EndOfFramesError, NothingNewError, NotLocatedError
from vision.frame import BoolImage, FloatArray, Frame, Image
from vision.geometry import CameraModel, project
from vision.layout.pieces import GridSurface, Surface
from vision.layout.table import TableLayout
from vision.learned_cameras import LearnedCameras
from vision.locating.location import TableLocation, locate
from vision.locating.markers import Marker, MarkerDetector, SharedPicture
from vision.opencv import as_colour, as_grey
from vision.readers.registry import table_reader
from vision.readers.sizes import are_pieces_too_small, least_px, smallest_px
from vision.reading import HindranceKind

# Further limits for a good picture, as in docs/set-up.md, beside those of its clarity.
_LEAST_MARKER_PX = 25.0
"""Smallest side of a marker, in pixels. A lower limit allows more distance, but finds markers less reliably."""
_MARKER_ERROR_PX = 1.0
"""Distance, in pixels, between a marker and its place computed from the others, above which it counts as misplaced."""
_GLARE = 250
"""Grey value, 0 to 255, from which a pixel counts as glare."""
_GLARE_SHARE = 0.01
"""Share of the picture, 0 to 1, from which glare is reported."""
_RIM_SHARE = 0.12
"""What is shown around a board whose grid is compared, as a share of its size in the picture."""
Polyline = tuple[Point, ...]
_SEEN_COLOUR, _SMALL_COLOUR, _GLARE_COLOUR = (80, 220, 80), (60, 60, 255), (200, 60, 200)


_PI_CAMERA = "usr/lib/python3/dist-packages/picamera2"


def found_cameras(root: Path) -> tuple[FoundCamera, ...]:
    """List the cameras that are plugged in; ``root`` is the folder that contains ``sys`` and ``usr``.

    A Pi's own camera is listed if the software for it is installed; whether one is on the cable shows its picture.
    """
    cameras = usb_cameras(root)
    ids = ids_of(cameras)
    found = [FoundCamera(ids[each.device], each.name) for each in cameras]
    if (root / _PI_CAMERA).is_dir():
        found.append(FoundCamera("pi", Phrase("the camera on the Pi's ribbon cable")))
    return tuple(found)


def picture_findings(frame: Frame) -> Iterator[Finding]:
    """Report a picture's size, brightness, sharpness and share of glare."""
    height, width = frame.image.shape[:2]
    clarity = Clarity(frame.image)
    trouble = clarity.trouble
    if trouble is HindranceKind.HAZE:
        yield Finding.note(Phrase("light"), *REMEDIES[trouble])
    elif trouble is not None and trouble is not HindranceKind.BLUR:
        yield Finding.fault(Phrase("light"), *REMEDIES[trouble])
    yield Finding.ok(Phrase("picture"), Phrase("{width} x {height} pixels", width=width, height=height))
    if trouble is HindranceKind.BLUR:
        message = Phrase("out of focus: the sharpest edges are {width} px wide", width=f"{clarity.edge_px:.1f}")
        yield Finding.note(Phrase("focus"), message, Phrase("turn the lens until that number is smallest"))
    elif clarity.edge_px is not None:
        yield Finding.ok(Phrase("focus"), Phrase("sharp"))
    share = float(np.mean(_glare(clarity.grey)))
    if share > _GLARE_SHARE and trouble is not HindranceKind.GLARE:
        message = Phrase("{share} % of the picture is too bright", share=f"{100 * share:.0f}")
        yield Finding.note(Phrase("glare"), message, Phrase("move the lamp to the side, or close a curtain"))


def marker_findings(frame: Frame, layout: TableLayout) -> Iterator[Finding]:
    """Report the markers that an uncalibrated camera sees, and their widths. Before printing there are none."""
    seen = {marker.marker_id: marker for marker in _markers_in(frame, layout)}
    wanted = sorted(each for part in layout.parts() for each in part.markers.centres_mm)
    missing = [number for number in wanted if number not in seen]
    for number in wanted:
        if number in seen:
            yield _width_finding(seen[number])
    if missing and len(missing) == len(wanted):
        message = Phrase("none is seen yet")
        yield Finding.note(Phrase("markers"), message, Phrase("they are on the printed sheets"))
    else:
        for number in missing:
            yield Finding.note(_marker_name(number), Phrase("not seen yet"), _BRING_IN)


def draw_markers(frame: Frame, layout: TableLayout) -> Image:
    """Return a copy of the picture with each marker's outline, number and width in pixels, and glare tinted."""
    picture: Image = np.array(as_colour(frame.image), dtype=np.uint8)
    picture[_glare(as_grey(frame.image))] = _GLARE_COLOUR
    for marker in _markers_in(frame, layout):
        colour = _SMALL_COLOUR if marker.side_px < _LEAST_MARKER_PX else _SEEN_COLOUR
        outline = np.round(marker.corners_px).astype(np.int32).reshape(-1, 1, 2)
        cv2.polylines(picture, [outline], True, colour, 2, cv2.LINE_AA)
        at: FloatArray = marker.corners_px.max(axis=0)
        write_text(picture, f"{marker.marker_id}: {marker.side_px:.0f} px", at, colour)
    return picture


def _markers_in(frame: Frame, layout: TableLayout) -> list[Marker]:
    grey, found = as_grey(frame.image), []
    for part in layout.parts():
        if part.markers.centres_mm:
            seen = MarkerDetector(part.markers.dictionary).plain(grey)
            found += [marker for marker in seen if marker.marker_id in part.markers.centres_mm]
    return found


def _glare(grey: Image) -> BoolImage:
    return np.asarray(grey >= _GLARE, dtype=np.bool_)


_BRING_IN = Phrase("bring it into the picture, flat and uncovered")
_COME_NEARER = Phrase("move the camera nearer, or take larger pictures")


def _marker_name(number: int) -> Phrase:
    return Phrase("marker {number}", number=number)


def _width_finding(marker: Marker) -> Finding:
    if marker.side_px >= _LEAST_MARKER_PX:
        return Finding.ok(_marker_name(marker.marker_id), Phrase("{width} px wide", width=f"{marker.side_px:.0f}"))
    message = Phrase(
        "{width} px wide, which is too small: {needed} px are needed",
        width=f"{marker.side_px:.0f}",
        needed=f"{_LEAST_MARKER_PX:.0f}",
    )
    return Finding.fault(_marker_name(marker.marker_id), message, _COME_NEARER)


def _size_finding(camera: CameraModel, located: TableLocation, board: Surface, name: Phrase) -> Finding:
    """Report that a board was found, or that its pieces will be too small in such a picture to be read well."""
    if not (isinstance(board, GridSurface) and are_pieces_too_small(camera, located.pose, board)):
        return Finding.ok(name, Phrase("found"))
    message = Phrase(
        "found, but pieces are only {width} px wide there: {needed} px are needed to read them well",
        width=f"{smallest_px(camera, located.pose, board):.0f}",
        needed=f"{least_px(board):.0f}",
    )
    return Finding.note(name, message, _COME_NEARER)


@dataclass(frozen=True, eq=False)
class LocatedTable:
    """A table in a picture: each part with its location, or why it was not located."""

    frame: Frame
    camera: CameraModel
    layout: TableLayout
    picture: SharedPicture
    parts: tuple[tuple[TableLayout, TableLocation | NotLocatedError], ...]

    @classmethod
    def of(cls, frame: Frame, cameras: LearnedCameras, layout: TableLayout) -> "LocatedTable":
        """Locate each part; none where the picture's camera is not known."""
        picture = SharedPicture(as_colour(frame.image))
        camera = cameras.camera_for(picture, frame.time_s)
        if camera is None:
            unknown = NotLocatedError(cameras.why_unknown)
            return cls(frame, cameras.newest, layout, picture, tuple((part, unknown) for part in layout.parts()))
        found: list[tuple[TableLayout, TableLocation | NotLocatedError]] = []
        for part in layout.parts():
            try:
                found.append((part, locate(frame.image, camera, part, markers=picture)))
            except NotLocatedError as error:
                found.append((part, error))
        return cls(frame, camera, layout, picture, tuple(found))

    def drawn(self) -> Image | None:
        """Return the picture with the markers, box and grid of each part; ``None`` where nothing was located."""
        seen: Image | None = None
        for part, located in self.parts:
            if isinstance(located, TableLocation):
                seen = draw(self.frame.image if seen is None else seen, located, part, self.camera)
        return seen

    def grid(self) -> tuple[Image, tuple[Polyline, ...], tuple[tuple[str, Point], ...]]:
        """Return the picture around what was located, the lines of each board in it, and the names of its corners."""
        lines: list[FloatArray] = []
        names: list[tuple[str, FloatArray]] = []
        for part, located in self.parts:
            board = part.surfaces[0]
            if isinstance(located, TableLocation) and isinstance(board, GridSurface):
                lines += grid_lines(located, board, self.camera)
                for name in (board.places[0], board.places[board.columns - 1], board.places[-board.columns]):
                    middle = (*board.centre_mm(name), board.height_mm)
                    names.append((name, project(self.camera, located.pose, [middle])[0]))
        if not lines:
            return self.frame.image, (), ()
        height, width = self.frame.image.shape[:2]
        ends = np.concatenate(lines)
        least, most = ends.min(axis=0), ends.max(axis=0)
        rim = _RIM_SHARE * (most - least)
        left, top = (int(each) for each in np.clip(least - rim, 0, None))
        right, bottom = (int(each) for each in np.clip(most + rim, 1, [width, height]))
        shift = np.array([left, top])
        cut: Image = np.ascontiguousarray(self.frame.image[top:bottom, left:right])
        corners = tuple((name, _points([at - shift])[0]) for name, at in names)
        return cut, tuple(_points(each - shift) for each in lines), corners


def _points(at_px: Iterable[FloatArray]) -> Polyline:
    return tuple((round(float(x), 1), round(float(y), 1)) for x, y in at_px)


def table_findings(table: LocatedTable) -> Iterator[Finding]:
    """Report for each marker if it is seen, large enough and in its place, and what blocks the view of the board."""
    sheets = [Phrase("sheet {number}", number=number) for number in range(1, len(table.parts) + 1)]
    names = sheets if len(sheets) > 1 else [Phrase("table")]
    for (part, located), name in zip(table.parts, names, strict=True):
        yield from _marker_findings(table.camera, part, located, name)
    if not any(isinstance(located, TableLocation) for _, located in table.parts):
        return
    reading = table_reader(table.camera, table.layout, None).read(table.frame, table.picture)
    for hindrance in reading.hindrances:
        # What is wrong with the whole picture says what to do.
        is_told = hindrance.kind in REMEDIES and not hindrance.places
        remedy = "" if is_told else Phrase("clear the board, or move the lamp")
        yield Finding.fault(hindrance_name(hindrance.kind), hindrance.message, remedy)


def hindrance_name(kind: HindranceKind) -> str:
    """Return what keeps a picture from being read in words that say where to look."""
    table, picture = Phrase("table"), Phrase("picture")
    names = {
        HindranceKind.NOT_LOCATED: table,
        HindranceKind.UNCLEAR: table,
        HindranceKind.MOVED_CAMERA: Phrase("camera"),
        HindranceKind.OUTSIDE_PICTURE: picture,
        HindranceKind.BAD_FRAME: picture,
        HindranceKind.COARSE: picture,
    }
    return names.get(kind, kind.value)


def _marker_findings(
    camera: CameraModel, layout: TableLayout, located: TableLocation | NotLocatedError, name: Phrase
) -> Iterator[Finding]:
    if isinstance(located, NotLocatedError):
        remedy = Phrase("the whole board and its markers must be in the picture")
        yield Finding.fault(Phrase("markers"), str(located), remedy)
        return
    yield _size_finding(camera, located, layout.surfaces[0], name)
    for missing in sorted({*layout.markers.centres_mm} - {*located.ids_seen}):
        yield Finding.fault(_marker_name(missing), Phrase("missing"), _BRING_IN)
    for marker in located.markers:
        width, error_px = _width_finding(marker), located.marker_errors_px[marker.marker_id]
        if width.severity is Severity.FAULT:
            yield width
        if error_px > _MARKER_ERROR_PX:
            message = Phrase("{error} px out of place", error=f"{error_px:.1f}")
            yield Finding.fault(width.subject, message, Phrase("put it where it belongs, or measure again"))


_READ_TIMEOUT_S = 10.0
_GROWING = "folder:"


class SharedCamera:
    """Takes pictures for any thread, one call at a time.

    Size and rate of the pictures are those of the ``settings``, if the camera can deliver them. ``patience_s`` is the
    longest wait for one picture; a page puts the pictures of a ``phone`` in.
    """

    def __init__(
        self,
        settings: CameraSection | None = None,
        *,
        patience_s: float = _READ_TIMEOUT_S,
        phone: PhoneCamera | None = None,
    ) -> None:
        self._settings = settings or CameraSection()
        self._stack = ExitStack()
        self._patience_s, self._phone = patience_s, phone
        self._camera: Camera | None = None
        self._source = ""
        self._last: Frame | None = None
        self._lock = Lock()

    def look(self, source: str) -> Frame:
        """Take a picture; raises CameraError.

        From a folder of files it is the newest one again if there is no new file.
        """
        with self._lock:
            self._last = self._newest_frame(self._open_source(source))
            return self._last

    @property
    def is_mirrored(self) -> bool:
        """Whether its pictures are turned round."""
        return self._settings.mirrored

    def opened(self, *_: object, **__: object) -> AbstractContextManager[Camera]:
        """Return the open camera in a context that doesn't close it."""
        assert self._camera is not None
        return nullcontext(self._camera)

    def close(self) -> None:
        """Close the camera."""
        with self._lock:
            self._stack.close()
            self._camera = None

    def _open_source(self, source: str) -> Camera:
        source = with_address(source)
        if self._camera is None or source != self._source:
            # A device can't be opened twice, so close the previous camera first.
            self._stack.close()
            self._camera = self._last = None
            asked = self._settings
            opened = open_camera(source, phone=self._phone, **asked.requested)
            self._camera, self._source = self._stack.enter_context(opened), source
        return self._camera

    def _newest_frame(self, camera: Camera) -> Frame:
        if self._last is None or not self._source.startswith(_GROWING):
            try:
                # After a photo, the next one may be minutes away.
                is_still = self._last is not None and self._last.is_still
                newest = camera.read(0.0 if is_still else self._patience_s)
            except (NothingNewError, EndOfFramesError):
                if self._last is None:
                    raise
                return self._last
        else:
            newest = self._last
        while self._source.startswith(_GROWING):
            try:
                newest = camera.read(0.0)
            except NothingNewError:
                break
        return newest
