"""Vision's errors. Each is also the built-in exception it resembles.

VisionError
├── FrameError         (ValueError)   a frame that cannot be used: black, wrong size, truncated
├── CameraError        (OSError)      a camera or file that cannot be opened or was disconnected
│   ├── EndOfFramesError              the video or folder has no more frames
│   └── FrameTimeoutError (TimeoutError)  no frame arrived in time; there may be one later
│       └── NothingNewError            the folder has no new picture, which is not a fault
├── CalibrationError   (ValueError)   a calibration that cannot be made or read, or belongs to another camera
├── LayoutError        (ValueError)   an invalid table layout
├── NotLocatedError    (ValueError)   the table was not found in a frame; the message says what was seen
├── EnrolmentError     (ValueError)   looks that cannot be learned from the images given
└── WeightsError       (ValueError)   a trained network's file that is missing or was changed
"""

from common.phrases import SpokenError


class VisionError(SpokenError):
    """Root of vision's errors."""


class FrameError(VisionError, ValueError):
    """A frame that cannot be used."""


class CameraError(VisionError, OSError):
    """A camera, or a file used as one, that cannot be opened or was disconnected."""


class EndOfFramesError(CameraError):
    """A video or folder that has no more frames."""


class FrameTimeoutError(CameraError, TimeoutError):
    """No frame arrived in time; there may be one later."""


class NothingNewError(FrameTimeoutError):
    """The folder has no new picture. This is not a fault: one appears when somebody takes it."""


class CalibrationError(VisionError, ValueError):
    """A calibration that cannot be made or used."""


class LayoutError(VisionError, ValueError):
    """An invalid table layout."""


class NotLocatedError(VisionError, ValueError):
    """The table was not found in a frame."""


class MirroredError(NotLocatedError):
    """The frame is a mirror image, so nothing in it is where it seems."""


class EnrolmentError(VisionError, ValueError):
    """Looks that cannot be learned from the images given."""


class WeightsError(VisionError, ValueError):
    """A trained network's file that is missing or was changed."""
