"""The camera behind each picture of one source, measured from what the pictures show of the table.

A source's pictures may change in size: a phone is turned, a photo is cropped. Each size (width, height) has a camera of
its own. It is measured from the first picture that shows enough of the table, and again together with later pictures
from other sides. If the lens was changed, its pictures no longer fit, and it is measured anew. One that was calibrated
stays as it is.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from common.phrases import Phrase
from vision.errors import CalibrationError, MirroredError
from vision.geometry import CameraModel, Pose
from vision.layout.pieces import PyramidPieces
from vision.layout.table import TableLayout
from vision.locating.location import TableLocation
from vision.locating.markers import SharedPicture
from vision.locating.pose import refine_pose
from vision.self_calibration import (
    PRIORS,
    TURNS,
    SelfCalibration,
    Sighting,
    camera_with_share,
    estimate_camera,
    joined_calibration,
    measured_at,
    tilt_deg,
    unit_px,
)


@dataclass(frozen=True)
class LearningSettings:
    """When a camera is measured again. Set by hand on ray-traced pictures."""

    apart_deg: float = 5.0
    """Angle between two views, in degrees, from which the second one tells more of the lens."""
    most_views: int = 4
    """Number of views that are kept, the most tilted ones. More: slower, hardly better."""
    good_error_px: float = 0.55
    """Error of a view, in pixels of a picture of 1280 x 720, above which another one from there replaces it."""
    changed_error_px: float = 0.7
    """Error of a view, in such pixels, above which the lens may have changed."""
    changed_share: float = 0.5
    """Share of that error which another lens may leave. Higher: bent paper is taken for another lens."""
    proving_share: float = 0.02
    """Largest difference of the focal length, in a slanted view, for a camera to be the same. Higher: a wrong one may
    pass; lower: the same one is measured again.
    """
    pauses_s: tuple[float, float] = (1.0, 4.0)
    """Seconds between two attempts in pictures that do not show enough: the first, and the longest."""


_SETTINGS = LearningSettings()
USUAL_SIZE = (1280, 720)
"""Width and height of a usual camera's pictures, in pixels."""
MOST_CAMERAS = 8
"""Number of cameras that are kept of a source: a phone has two sizes, and a household a few phones."""
_CHANGED = Phrase("The camera's lens has changed. I measured it again.")
_RAISE = Phrase(
    "I see the table from straight above, so I can't measure the camera well enough for tall stacks. Raise one side of "
    "the phone by a book and hold still, or tilt the camera."
)


def with_camera(known: Iterable[SelfCalibration], measured: SelfCalibration) -> tuple[SelfCalibration, ...]:
    """Return the cameras of a source, the latest one last, with another one in place of the one of its picture size.

    A device may send pictures of any size, so of more than ``MOST_CAMERAS``, the one that was seen from the fewest
    sides goes, and of these the oldest.
    """
    others = [one for one in known if one.camera.size != measured.camera.size]
    if len(others) >= MOST_CAMERAS:
        others.remove(min(others, key=lambda one: len(one.sightings)))
    return *others, measured


class LearnedCameras:
    """Gives the camera of each picture of one source, and learns it.

    ``fixed`` was calibrated, and is never measured; ``known`` were measured before, perhaps of others (``may_differ``):
    only a slanted view then shows that they still hold. ``keep`` is told of each new one.
    """

    def __init__(
        self,
        layout: TableLayout,
        *,
        name: str = "",
        fixed: CameraModel | None = None,
        known: Iterable[SelfCalibration] = (),
        may_differ: bool = False,
        keep: Callable[[SelfCalibration], object] = lambda _: None,
    ) -> None:
        self._layout, self._name, self._fixed, self._keep = layout, name, fixed, keep
        self._known = {one.camera.size: one for one in known}
        self._unproven = set(self._known) if may_differ else set[tuple[int, int]]()
        self._changed: set[tuple[int, int]] = set()
        self._pause_s, self._due_s = _SETTINGS.pauses_s[0], -np.inf
        self._next_turn = 0
        self._turn: int | None = None
        self.newest = fixed or next(
            (one.camera for one in self._known.values()), camera_with_share(PRIORS.focal, USUAL_SIZE)
        )
        """The camera of the newest picture whose camera is known; a usual one before the first."""
        self.why_unknown = ""

    @property
    def known(self) -> Mapping[tuple[int, int], SelfCalibration]:
        """What was measured, by the pictures' size (width, height)."""
        return self._known

    def known_for(self, size: tuple[int, int]) -> CameraModel | None:
        """Return the camera of pictures of a size (width, height), if it is known."""
        if self._fixed is not None and self._fixed.size == size:
            return self._fixed
        return self._known[size].camera if size in self._known else None

    def camera_for(self, picture: SharedPicture, time_s: float, *, is_film: bool = False) -> CameraModel | None:
        """Return the camera that took a picture at a time in seconds; measure it if it is not known.

        In a film, the slow methods take turns, one in each picture. ``None`` if the camera is not known and the
        pictures show too little; then ``why_unknown`` says what.
        """
        size = _size_of(picture)
        if self.known_for(size) is None and self._is_due(time_s, is_film=is_film):
            try:
                self._take(estimate_camera([picture], self._layout, name=self._name, turn=self._turn))
            except (CalibrationError, MirroredError) as error:
                self.why_unknown = str(error)
        found = self.known_for(size)
        self.newest = found or self.newest
        return found

    def learn(self, picture: SharedPicture, part: TableLayout, located: TableLocation) -> bool:
        """Measure the camera of a picture anew if that helps, from a part of the table that was just located in it.

        Returns whether the camera is another one now.
        """
        known = self._known.get(_size_of(picture))
        if known is None:
            return False
        similar = [one for one in known.sightings if _apart_deg(one.pose, located.pose) < _SETTINGS.apart_deg]
        unit = unit_px(known.camera.size)
        is_good = all(one.error_px(known.camera) <= _SETTINGS.good_error_px * unit for one in similar)
        fits = located.error_px <= _SETTINGS.changed_error_px * unit
        if known.camera.size in self._unproven and tilt_deg(located.pose) >= _SETTINGS.apart_deg:
            measured = measured_at(picture, part, located.markers, located.pose, known.camera)
            if measured is not None and self._is_proven(known, measured):
                return False
            if measured is not None and measured.is_sure:
                return self._replace(measured)
        # Of more views than are kept, the flattest are left out.
        is_kept = len(known.sightings) < _SETTINGS.most_views or (
            tilt_deg(located.pose) > min(one.tilt_deg for one in known.sightings)
        )
        if (similar or not is_kept) and is_good and fits:
            return False
        measured = measured_at(picture, part, located.markers, located.pose, known.camera)
        return measured is not None and self._combine(known, measured)

    def look_again(self, picture: SharedPicture, time_s: float, *, is_film: bool = False) -> bool:
        """Measure the camera of a picture in which the table was not found, in case its lens has changed.

        Returns whether the camera is another one now.
        """
        known = self._known.get(_size_of(picture))
        if known is None or not self._is_due(time_s, is_film=is_film):
            return False
        try:
            measured = estimate_camera([picture], self._layout, name=self._name, thorough=False, turn=self._turn)
        except (CalibrationError, MirroredError):
            return False
        return self._is_changed(known, measured) and self._replace(measured)

    def notices(self) -> tuple[str, ...]:
        """Return the sentences about the camera of the newest picture."""
        known = self._known.get(self.newest.size)
        if known is None or known.camera is not self.newest:
            return ()
        tall = any(isinstance(surface.pieces, PyramidPieces) for surface in self._layout.surfaces)
        said = (_CHANGED,) if self.newest.size in self._changed else ()
        is_sure = known.is_sure and self.newest.size not in self._unproven
        return said if is_sure or not tall else (*said, _RAISE)

    def _is_due(self, time_s: float, *, is_film: bool) -> bool:
        """Return whether to look for the table in a picture that may not show it; less and less often.

        The pictures of a film are looked at in turns, then there is a pause.
        """
        if self._next_turn == 0 and time_s < self._due_s:
            return False
        self._turn = self._next_turn if is_film else None
        self._next_turn = (self._next_turn + 1) % TURNS if is_film else 0
        if self._next_turn == 0:
            self._due_s = time_s + self._pause_s
            self._pause_s = min(2 * self._pause_s, _SETTINGS.pauses_s[1])
        return True

    def _take(self, measured: SelfCalibration) -> None:
        self._known = {one.camera.size: one for one in with_camera(self._known.values(), measured)}
        self.newest = measured.camera
        self._pause_s, self._due_s, self._next_turn = _SETTINGS.pauses_s[0], -np.inf, 0
        self.why_unknown = ""
        self._keep(measured)

    def _replace(self, measured: SelfCalibration, *, is_other: bool = True) -> bool:
        if is_other:
            self._changed.add(measured.camera.size)
        self._unproven.discard(measured.camera.size)
        self._take(measured)
        return True

    def _is_proven(self, known: SelfCalibration, measured: SelfCalibration) -> bool:
        """Return whether a view that tells the focal length finds the known one, be it on slightly bent paper."""
        apart = abs(float(np.log(measured.camera.matrix[0, 0] / known.camera.matrix[0, 0])))
        if not measured.is_slanted or apart > _SETTINGS.proving_share:
            return False
        self._unproven.discard(known.camera.size)
        return True

    def _combine(self, known: SelfCalibration, measured: SelfCalibration) -> bool:
        """Measure the camera from the views known before and another one; or from this alone, if the lens changed."""
        if self._is_changed(known, measured):
            return self._replace(measured)
        if not measured.agrees:
            return False
        new = measured.sightings[0]
        apart = tuple(one for one in known.sightings if _apart_deg(one.pose, new.pose) >= _SETTINGS.apart_deg)
        before = [replace(known, sightings=apart)] if apart else []
        joined = joined_calibration([*before, measured])
        if joined.thrown_out or not joined.agrees:
            is_better = (known.agrees, known.is_sure) < (measured.agrees, measured.is_sure)
            return is_better and self._replace(measured, is_other=False)
        if len(joined.sightings) > _SETTINGS.most_views:
            best = sorted(joined.sightings, key=lambda one: one.tilt_deg)[-_SETTINGS.most_views :]
            joined = joined_calibration([replace(joined, sightings=tuple(best))])
        self._changed.discard(joined.camera.size)
        self._take(joined)
        return True

    @staticmethod
    def _is_changed(known: SelfCalibration, measured: SelfCalibration) -> bool:
        """Return whether a view fits the known camera badly in any pose, and another one well."""
        errors_px = []
        for one in measured.sightings:
            pose = refine_pose(known.camera, one.pose, one.points_mm, one.pixels)
            errors_px.append(Sighting(one.points_mm, one.pixels, pose).error_px(known.camera))
        limit_px = _SETTINGS.changed_error_px * unit_px(known.camera.size)
        return max(errors_px) > limit_px and measured.error_px < _SETTINGS.changed_share * max(errors_px)


def _size_of(picture: SharedPicture) -> tuple[int, int]:
    return picture.image.shape[1], picture.image.shape[0]


def _apart_deg(first: Pose, second: Pose) -> float:
    """Return the angle between the directions from which two poses show the table."""
    one, other = (pose.camera_position_mm / np.linalg.norm(pose.camera_position_mm) for pose in (first, second))
    return float(np.degrees(np.arccos(np.clip(one @ other, -1, 1))))
