"""Vision's errors, each also the builtin it resembles.

VisionError
├── FrameError         (ValueError)   a frame that cannot be used: black, wrong size, truncated
├── CameraError        (OSError)      a camera or file that cannot be opened or went away
│   ├── EndOfFramesError              the video or folder has no more frames
│   └── FrameTimeoutError (TimeoutError)  no frame came in the time given; there may be one later
│       └── NothingNewError            nothing is wrong: a folder gets a picture when somebody takes one
├── CalibrationError   (ValueError)   a calibration that cannot be made, read, or is another camera's
├── LayoutError        (ValueError)   a table layout that does not make sense
├── NotLocatedError    (ValueError)   the table was not found in a frame; the message says what was seen
├── EnrolmentError     (ValueError)   looks that cannot be learned from the images given
└── WeightsError       (ValueError)   a trained network's file that is missing or not the one that was tested
"""

from __future__ import annotations


class VisionError(Exception):
    """Root of every error vision raises."""


class FrameError(VisionError, ValueError):
    """A frame that cannot be used."""


class CameraError(VisionError, OSError):
    """A camera, or a file in its place, that cannot be opened or stopped giving frames."""


class EndOfFramesError(CameraError):
    """A video or folder that has given all its frames."""


class FrameTimeoutError(CameraError, TimeoutError):
    """No frame came in the time given; there may be one later."""


class NothingNewError(FrameTimeoutError):
    """No frame came, and nothing is wrong: a folder gets a picture when somebody takes one."""


class CalibrationError(VisionError, ValueError):
    """A calibration that cannot be made or used."""


class LayoutError(VisionError, ValueError):
    """A table layout that does not make sense."""


class NotLocatedError(VisionError, ValueError):
    """The table was not found in a frame."""


class EnrolmentError(VisionError, ValueError):
    """Looks that cannot be learned from the images given."""


class WeightsError(VisionError, ValueError):
    """A trained network's file that is missing or not the one that was tested."""
