"""What the table should show, as a value: which light, what colour, what pattern, what sound.

A signal is complete: it replaces whatever was shown before, so a driver that missed one is right again after the
next. Colour never carries the meaning alone; the pattern differs too.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Protocol


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
    """How a light behaves in time."""

    STEADY = "steady"
    PULSE = "pulse"
    BLINK = "blink"
    DOUBLE_BLINK = "double blink"


class Sound(enum.Enum):
    """What the buzzer plays, once."""

    SILENCE = "silence"
    ACCEPTED = "accepted"
    FAULT = "fault"
    QUESTION = "question"
    FINISHED = "finished"


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


@dataclass(frozen=True)
class Light:
    """One place's light. ``role`` says why it is lit: ``turn``, ``fault``, ``put right``, ``hint`` or ``question``."""

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
    """Something that can show a signal. Construction may fail with HardwareError; ``show`` may too."""

    name: str

    def show(self, signal: Signal, time_s: float) -> None:
        """Show the signal from ``time_s`` (monotonic) on, in place of whatever was shown before."""

    def close(self) -> None:
        """Put everything out and let go of pins and files."""
