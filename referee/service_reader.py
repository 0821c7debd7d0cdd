"""A reader that learns the pieces' colours from the set-up, for a piece set that was never enrolled."""

from __future__ import annotations

from collections.abc import Callable

from vision.enrolment import learn_colours
from vision.errors import EnrolmentError, NotLocatedError
from vision.frame import Frame, Image
from vision.geometry import CameraModel
from vision.layout import TableLayout
from vision.locating import locate
from vision.looks import PieceLooks, plain_looks
from vision.reader import TableReader
from vision.reading import Hindrance, Reading


class LearningReader:
    """Reads frames like ``TableReader``; until the colours are known, it tries to learn them from each clear frame.

    ``colour_names`` go from the first player, nearest to the camera's lower edge in the layout's terms, to the last.
    What is learned stays until ``forget``, which is for a set-up that was not one after all. ``keep`` gets it before
    anything is read with it, so that no set-up is accepted by colours that a power cut could take away.
    """

    def __init__(
        self,
        camera: CameraModel,
        layout: TableLayout,
        colour_names: tuple[str, ...],
        keep: Callable[[PieceLooks], None] | None = None,
    ) -> None:
        self._camera = camera
        self._layout = layout
        self._names = colour_names
        self._plain = plain_looks(tuple(dict.fromkeys(layout.net.values())))
        self._reader = TableReader(camera, layout, self._plain)
        self._learned = False
        self._keep = keep

    @property
    def looks(self) -> PieceLooks | None:
        """What was learned, ``None`` before."""
        return self._reader.looks if self._learned else None

    def read(self, frame: Frame) -> Reading:
        """Read one frame; a Reading without places that says why while the colours can't be learned."""
        reading = self._reader.read(frame)
        if self._learned or not reading.places or any(one.kind == "hand" for one in reading.hindrances):
            return reading
        try:
            pose = locate(frame.image, self._camera, self._layout).pose
            looks = learn_colours(frame.image, self._camera, pose, self._layout, self._plain, self._names)
        except (EnrolmentError, NotLocatedError) as error:
            why = Hindrance("bad frame", f"The pieces' colours are not known yet: {error}")
            return Reading(frame.sequence, frame.time_s, {}, (*reading.hindrances, why), reading.notices)
        if self._keep is not None:
            self._keep(looks)
        self._reader = TableReader(self._camera, self._layout, looks)
        self._learned = True
        return self._reader.read(frame)

    def crop(self, frame: Frame, place: str) -> Image:
        """Cut out one place; raises NotLocatedError when the table is not located."""
        return self._reader.crop(frame, place)

    def forget(self) -> None:
        """Learn the colours afresh from the next clear frame."""
        self._learned = False
        self._reader = TableReader(self._camera, self._layout, self._plain)
