"""Learning pieces, and from which side a board without markers is seen, from the first clear frame of a set-up."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from common.phrases import Phrase
from common.places import EMPTY
from vision.errors import EnrolmentError, NotLocatedError
from vision.frame import Frame
from vision.geometry import CameraModel, Pose
from vision.layout.table import TableLayout
from vision.learned_cameras import LearnedCameras
from vision.locating.location import locate
from vision.locating.markers import SharedPicture
from vision.motion.changes import Attention
from vision.readers.protocols import LearnedLook, SurfaceView
from vision.readers.registry import reader_kind, surface_readers, table_reader
from vision.readers.table_reader import TableReader
from vision.reading import Hindrance, HindranceKind, Reading

CLEARLY_BETTER = 0.25
"""The share of expected pieces by which a side must beat the one nearest to the picture's lower edge."""


def likeliest_orientation(
    frame: Frame,
    camera: CameraModel,
    layout: TableLayout,
    looks_at: Callable[[SurfaceView], LearnedLook],
    expected: Mapping[str, str],
) -> tuple[Pose, LearnedLook]:
    """Return the pose in which a picture shows the ``expected`` looks, place by place, and the pieces' looks.

    A board's lines look the same from all sides. If the expected pieces don't decide, the side nearest to the
    picture's lower edge is taken.

    ``looks_at`` learns or returns the pieces' looks. For a table with markers, they determine the pose. Raises
    NotLocatedError, and EnrolmentError if ``looks_at`` raises it for every side.
    """
    located = locate(frame.image, camera, layout)
    best: tuple[float, Pose, LearnedLook] | None = None
    refused: list[EnrolmentError] = []
    for pose in (located.pose, *located.symmetric_poses):
        view = SurfaceView(frame.image, camera, pose, layout.board, frame.time_s, layout.markers)
        try:
            looks = looks_at(view)
        except EnrolmentError as error:
            refused.append(error)
            continue
        shown = 0.0
        if located.symmetric_poses:
            shown = _share_shown(table_reader(camera, layout, looks, pose).read(frame), expected)
        if best is None or shown > best[0] + CLEARLY_BETTER:
            best = shown, pose, looks
    if best is None:
        raise refused[0]
    return best[1:]


def _share_shown(reading: Reading, expected: Mapping[str, str]) -> float:
    """Return the mean probability of the expected pieces on visible places, 0 where there are none."""
    seen = [
        reading.places[place].probabilities.get(look, 0.0)
        for place, look in expected.items()
        if look != EMPTY and place in reading.places and reading.places[place].hidden_by is None
    ]
    return sum(seen) / max(1, len(seen))


class LearningReader(TableReader):
    """Reads a table after learning the looks of the pieces from a clear frame.

    It learns the pieces' colours from the ``start``, which maps places to looks, unless they are ``known``. For a board
    without markers, it also learns the first player's side: the one from which the board shows the ``expected`` looks,
    which are those of the start by default. ``forget`` discards what was learned, for a frame that turned out not to
    show a set-up. ``keep`` saves the looks before they are used, so that no set-up is accepted with colours that a
    power cut could lose.
    """

    def __init__(
        self,
        camera: CameraModel | LearnedCameras,
        layout: TableLayout,
        start: Mapping[str, str],
        keep: Callable[[LearnedLook], None] | None = None,
        *,
        known: LearnedLook | None = None,
        expected: Mapping[str, str] | None = None,
        attention: Attention | None = None,
    ) -> None:
        self._start = start
        self._kind = reader_kind(layout)
        self._known = known
        self._expected = start if expected is None else expected
        self._plain: LearnedLook = self._kind.plain(layout.board) if known is None else known
        self._pose: Pose | None = None
        self._keep = keep
        super().__init__(camera, layout, *surface_readers(layout, self._plain), attention=attention)

    @property
    def pose(self) -> Pose | None:
        """The pose of the frame used for learning, ``None`` before learning."""
        return self._pose

    def _read_now(self, frame: Frame, shared: SharedPicture) -> Reading:
        """Read a frame. Until the colours can be learned, the Reading has no places and says why."""
        reading = super()._read_now(frame, shared)
        if (
            self._pose is not None
            or not reading.places
            or any(one.kind == HindranceKind.HAND for one in reading.hindrances)
        ):
            return reading
        try:
            pose, looks = likeliest_orientation(frame, self.camera, self.layout, self._looks_at, self._expected)
        except (EnrolmentError, NotLocatedError) as error:
            why = Hindrance(HindranceKind.BAD_FRAME, Phrase("The pieces' colours are not known yet: {error}", error))
            return Reading(frame.sequence, frame.time_s, {}, (*reading.hindrances, why), reading.notices)
        if self._keep is not None:
            self._keep(looks)
        remarks = self._kind.remarks(looks, self.layout.board) if self._known is None else ()
        self.go_on_with(*surface_readers(self.layout, looks), pose)
        self._pose = pose
        learned = super()._read_now(frame, shared)
        return replace(learned, notices=(*learned.notices, *remarks))

    def _looks_at(self, view: SurfaceView) -> LearnedLook:
        return self._kind.learn(view, self._plain, self._start) if self._known is None else self._known

    def forget(self) -> None:
        """Learn again from the next clear frame."""
        self._pose = None
        self.go_on_with(*surface_readers(self.layout, self._plain))
