"""What the table should show, as a value: which light, what colour, what pattern, what sound.

A signal is complete: it replaces whatever was shown before, so a driver that missed one is right again after the
next. Colour never carries the meaning alone; the pattern differs too.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Protocol, runtime_checkable


class Colour(enum.Enum):
    """Colours chosen to be told apart by colour-blind people (Okabe and Ito's palette), as (red, green, blue)."""

    OFF = (0, 0, 0)
    WHITE = (255, 255, 255)
    BLUE = (0, 114, 178)
    GREEN = (0, 158, 115)
    ORANGE = (230, 159, 0)
    VERMILLION = (213, 94, 0)
    PURPLE = (204, 121, 167)


class Pattern(enum.Enum):
    """How a light behaves in time; ``hardware.patterns`` gives each its rhythm.

    A blink is a light in the dark, a wink a short dark in the light.
    """

    STEADY = "steady"
    PULSE = "pulse"
    BLINK = "blink"
    DOUBLE_BLINK = "double blink"
    TRIPLE_BLINK = "triple blink"
    GLINT = "glint"
    WINK = "wink"
    DOUBLE_WINK = "double wink"
    LONG_SHORT = "long, short"


class Sound(enum.Enum):
    """What the buzzer plays, once; ``hardware.sounds`` gives each its tones."""

    SILENCE = "silence"
    ACCEPTED = "accepted"
    FAULT = "fault"
    QUESTION = "question"
    FINISHED = "finished"
    READY = "ready"


class Mood(enum.Enum):
    """What the table as a whole says: the colour of the one status light."""

    WAITING = "waiting"
    LOOKING = "looking"
    ACCEPTED = "accepted"
    NOT_FINISHED = "not finished"
    FAULT = "fault"
    QUESTION = "question"
    CANNOT_SEE = "cannot see"
    FINISHED = "finished"
    TROUBLE = "trouble"


@dataclass(frozen=True)
class Light:
    """One place's light.

    ``role`` says why it is lit: ``turn``, ``unfinished``, ``fault``, ``put right``, ``question`` or ``hint``
    (``hardware.styles`` knows how each looks).
    """

    place: str
    colour: Colour
    pattern: Pattern
    role: str


@dataclass(frozen=True)
class Signal:
    """Everything the table should show now. ``words`` is the sentence for displays and terminals."""

    mood: Mood
    lights: tuple[Light, ...] = ()
    sound: Sound = Sound.SILENCE
    words: str = ""


class Driver(Protocol):
    """Something that can show a signal. Construction may fail with HardwareError; ``show`` may too.

    A driver whose lights move in time also has what ``AnimatedDriver`` adds.
    """

    name: str

    def show(self, signal: Signal, time_s: float) -> None:
        """Show the signal from ``time_s`` (monotonic) on, in place of whatever was shown before."""

    def close(self) -> None:
        """Put everything out and let go of pins and files."""


@runtime_checkable
class AnimatedDriver(Driver, Protocol):
    """A driver that must be called again while a signal is shown: for patterns and for the tones of a sound."""

    def tick(self, time_s: float) -> None:
        """Bring every output to where it belongs at ``time_s``; may fail with HardwareError."""

    def next_change_s(self, time_s: float) -> float | None:
        """Say when (monotonic, after ``time_s``) an output changes next, or ``None`` if none will."""
