"""When a table that was lost is searched for thoroughly.

A thorough search takes as long as dozens of frames. So it is only begun once the picture rests, or from time to time,
and made in steps, one in each frame, so that the rest of the table is read meanwhile.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import cast

import cv2

from vision.errors import NotLocatedError
from vision.frame import Frame, Image
from vision.locating.location import TableLocation
from vision.locating.steps import Steps
from vision.sampling import shrink


@dataclass(frozen=True)
class SearchSettings:
    """When a thorough search is begun. Set by hand on virtual games."""

    rest_levels: int = 9
    """Difference from the last picture, in grey levels of 255 at a quarter of its size, at which a pixel changed."""
    rest_share: float = 0.01
    """Share of the pixels that may change in a picture at rest. Higher: blurred pictures are searched too. Lower: a
    picture in which a hand moves is only searched after ``search_every_s``.
    """
    search_every_s: float = 1.0
    """Seconds until a thorough search is repeated, or made though the picture does not rest. Doubled each time."""
    search_at_last_every_s: float = 4.0
    """Longest time between two thorough searches, in seconds. Shorter: a table that is hard to find is found sooner,
    and a covered one takes more time.
    """
    apart_s: float = 2.0
    """Seconds between two frames above which another position does not mean that anything is moving now."""


_SETTINGS = SearchSettings()


class ThoroughSearches:
    """Decides which frames of a lost table are searched thoroughly, and goes on with such a search in the next ones.

    ``begun_s`` is the time of the picture that the last one was begun with, ``failure`` why it did not find the table.
    """

    def __init__(self) -> None:
        self.end()

    def end(self, failure: str = "") -> None:
        """Start afresh, since the table was found, or is given up; ``failure`` is why it was not found."""
        self._small: Image | None = None
        self._made_at_rest = False
        self._pause_s = _SETTINGS.search_every_s
        self._due_s = 0.0
        self._search: Steps[TableLocation] | None = None
        self.begun_s = 0.0
        self.failure = failure

    @property
    def are_new(self) -> bool:
        """Whether no picture was given since the start."""
        return self._small is None

    def begin(self, search: Steps[TableLocation], time_s: float) -> None:
        """Begin a search in the picture of this time, in place of one that is not finished."""
        self._search, self.begun_s = search, time_s

    def drop(self) -> None:
        """Give up a search that is not finished."""
        self._search = None

    def take_step(self) -> TableLocation | None:
        """Take the next step of the search; return the location if that finds the table."""
        if self._search is None:
            return None
        try:
            next(self._search)
        except StopIteration as end:
            self._search = None
            return cast(TableLocation, end.value)
        except NotLocatedError as error:
            self._search, self.failure = None, str(error)
        return None

    def are_due(self, grey: Image, time_s: float, *, at_once: bool) -> bool:
        """Return whether to search this frame's picture; ``at_once``: even if it is the first one without the table."""
        before, self._small = self._small, shrink(grey)
        if before is None:
            self._made_at_rest, self._due_s = at_once, time_s + self._pause_s
            return at_once
        changed = cv2.absdiff(self._small, before) > _SETTINGS.rest_levels
        rests = float(changed.mean()) <= _SETTINGS.rest_share
        is_time = time_s >= self._due_s and self._search is None
        if not is_time and (self._made_at_rest or not rests):
            return False
        self._made_at_rest |= rests
        self._pause_s = min(2 * self._pause_s, _SETTINGS.search_at_last_every_s)
        self._due_s = time_s + self._pause_s
        return True


class Pauses:
    """Tells single pictures from the frames of a film."""

    def __init__(self) -> None:
        self._time_s, self._sequence = math.inf, 0

    def is_after_pause(self, frame: Frame) -> bool:
        """Return whether the frames since the last call, tracked or not, were taken far apart in time."""
        passed_s, frames = frame.time_s - self._time_s, max(frame.sequence - self._sequence, 1)
        self._time_s, self._sequence = frame.time_s, frame.sequence
        return passed_s > _SETTINGS.apart_s * frames
