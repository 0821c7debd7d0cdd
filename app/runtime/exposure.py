"""Locks a camera's exposure, white balance and focus while a game is watched."""

from collections.abc import Callable
from typing import Protocol

import numpy as np

from common.phrases import Phrase
from vision.frame import Frame


class AdaptingCamera(Protocol):
    """A camera whose automatic settings can be locked."""

    @property
    def is_locked(self) -> bool:
        """Whether the settings are locked."""

    def lock(self, locked: bool) -> None:
        """Lock the current settings, or let them adapt."""


# When a camera is locked. Brightness is the mean of all pixels, 0 to 255. Set by hand; not tried on a real camera.
# An arm across the board changes the mean by a third at most, switching a lamp changes it by more than a half; the
# factors lie in between.
_SETTLE_S = 3.0
"""How long, in seconds, the table must have been in sight before locking; cameras adapt within two seconds. Longer:
also suits slower cameras, but colours drift for longer."""
_DARKER = 0.55
"""The light has changed if the brightness is below this factor of that at locking. Higher: adapts to smaller changes,
but also to arms."""
_BRIGHTER = 1.7
"""The same for brighter light. Lower: the same effect."""
_CHANGED_S = 4.0
"""How long, in seconds, the light must have changed: longer than a hand or a shadow stays. Longer: adapts later."""
_CHECK_S = 1.0
"""For how many seconds after locking a change of brightness counts as the camera's own jump. Longer: notices slower
jumps."""


class ExposureHold:
    """Locks a camera once the table is found, and lets it adapt when the light has changed.

    Otherwise, hands over the board would change the brightness, and colours would drift. A camera whose pictures jump
    when it is locked stays automatic for good. ``say`` gets messages for people.
    """

    def __init__(self, camera: AdaptingCamera, say: Callable[[str], None]) -> None:
        self._camera, self._say = camera, say
        self._found_s: float | None = None
        self._held: tuple[float, float] | None = None
        """When the camera was locked, and the picture's brightness then."""
        self._changed_s: float | None = None
        self._can_hold = True

    def update(self, frame: Frame, *, is_located: bool) -> None:
        """Process a frame; ``is_located`` tells whether the table was found in it."""
        if not self._can_hold:
            return
        if self._held is not None and not self._camera.is_locked:
            # The camera was disconnected in between.
            self._held = self._found_s = None
        if self._held is None:
            self._lock_when_settled(frame, is_located)
        elif self._is_other_light(frame):
            self._changed_s = frame.time_s if self._changed_s is None else self._changed_s
            self._react(frame.time_s)
        else:
            self._changed_s = None

    def _lock_when_settled(self, frame: Frame, is_located: bool) -> None:
        if not is_located:
            self._found_s = None
            return
        if self._found_s is None:
            self._found_s = frame.time_s
        if frame.time_s - self._found_s >= _SETTLE_S:
            self._camera.lock(True)
            self._held, self._changed_s = (frame.time_s, _brightness(frame)), None

    def _is_other_light(self, frame: Frame) -> bool:
        assert self._held is not None
        ratio = _brightness(frame) / max(self._held[1], 1.0)
        return not _DARKER < ratio < _BRIGHTER

    def _react(self, now_s: float) -> None:
        assert self._held is not None
        assert self._changed_s is not None
        if self._changed_s - self._held[0] <= _CHECK_S:
            self._can_hold = False
            self._say(Phrase("This camera can't lock its exposure, so it stays automatic."))
        elif now_s - self._changed_s >= _CHANGED_S:
            self._say(Phrase("The light has changed. The camera adapts to it."))
        else:
            return
        self._camera.lock(False)
        self._held = self._found_s = None


def _brightness(frame: Frame) -> float:
    return float(np.mean(frame.image[::16, ::16]))
