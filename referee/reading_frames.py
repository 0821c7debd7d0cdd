"""A reading of every frame: what keeps one from being read is a hindrance, not an error."""

from __future__ import annotations

from referee.service_protocols import Reader
from vision.errors import FrameError, NotLocatedError
from vision.frame import Frame
from vision.reading import Hindrance, Reading


def read_or_hindered(reader: Reader, frame: Frame) -> Reading:
    """Read a frame; one that can't be used gives a Reading without places that says why."""
    try:
        return reader.read(frame)
    except NotLocatedError as error:
        hindrance = Hindrance("not located", str(error))
    except FrameError as error:
        hindrance = Hindrance("bad frame", str(error))
    return Reading(frame.sequence, frame.time_s, {}, (hindrance,))
