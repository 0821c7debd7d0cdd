"""Signals, which say what the table should show, as plain values, and the style of each role and mood.

A signal is complete: it replaces everything shown before, so a driver that missed one is correct again after the next.
No meaning depends on colour alone. Each role and each mood has a colour, a pattern and a mark of its own.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Protocol, runtime_checkable


class Colour(enum.Enum):
    """Colours that colour-blind people can distinguish (Okabe and Ito's, and a violet), as (red, green, blue)."""

    OFF = (0, 0, 0)
    WHITE = (255, 255, 255)
    BLUE = (0, 114, 178)
    VIOLET = (100, 0, 220)
    GREEN = (0, 158, 115)
    ORANGE = (230, 159, 0)
    VERMILLION = (213, 94, 0)
    PURPLE = (204, 121, 167)


class Pattern(enum.Enum):
    """How a light behaves over time; ``hardware.lights.animation`` defines the rhythms.

    A blink goes on briefly; a wink goes off briefly.
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
    """What the buzzer plays, once; ``hardware.lights.sounds`` defines the tones."""

    SILENCE = "silence"
    ACCEPTED = "accepted"
    FAULT = "fault"
    QUESTION = "question"
    FINISHED = "finished"
    READY = "ready"


class Mood(enum.Enum):
    """The state of the table as a whole, shown by the status light's colour."""

    WAITING = "waiting"
    LOOKING = "looking"
    ACCEPTED = "accepted"
    NOT_FINISHED = "not finished"
    FAULT = "fault"
    QUESTION = "question"
    CANNOT_SEE = "cannot see"
    FINISHED = "finished"
    TROUBLE = "trouble"


class LightRole(enum.StrEnum):
    """Why a place is lit, the most urgent first: if a place has several roles, the first is shown."""

    FAULT = "fault"
    PUT_RIGHT = "put right"
    QUESTION = "question"
    TURN = "turn"
    UNFINISHED = "unfinished"
    OPPONENT = "opponent"
    HINT = "hint"


@dataclass(frozen=True)
class Light:
    """One place's light, and why it is lit; ``ROLE_STYLES`` defines each role's style."""

    place: str
    colour: Colour
    pattern: Pattern
    role: LightRole

    @classmethod
    def for_role(cls, place: str, role: LightRole) -> Light:
        """Make the light that marks ``place`` for ``role``, in that role's style."""
        style = ROLE_STYLES[role]
        return cls(place, style.colour, style.pattern, role)


@dataclass(frozen=True)
class Signal:
    """Everything the table should show now. ``words`` is the sentence for displays and terminals."""

    mood: Mood
    lights: tuple[Light, ...] = ()
    sound: Sound = Sound.SILENCE
    words: str = ""


class Driver(Protocol):
    """Something that can show a signal; making it and ``show`` may raise HardwareError. See also ``AnimatedDriver``."""

    name: str

    def show(self, signal: Signal, time_s: float) -> None:
        """Show the signal from ``time_s`` (monotonic) on, replacing the one before."""

    def close(self) -> None:
        """Turn everything off and release pins and files."""


@runtime_checkable
class AnimatedDriver(Driver, Protocol):
    """A driver that must be called again while a signal is shown: for patterns and for the tones of a sound."""

    def tick(self, time_s: float) -> None:
        """Set every output to its state at ``time_s``; may raise HardwareError."""

    def next_change_s(self, time_s: float) -> float | None:
        """Return when (monotonic, after ``time_s``) an output changes next, or ``None`` if none will."""


@dataclass(frozen=True)
class Style:
    """A style: ``colour``, ``pattern``, a ``mark`` for output without colours, and the ``meaning`` in words.

    A place's mark is a pair of characters around its contents, so that it can't be mistaken for a piece.
    """

    colour: Colour
    pattern: Pattern
    mark: str
    meaning: str


ROLE_STYLES: Mapping[LightRole, Style] = MappingProxyType(
    {
        LightRole.FAULT: Style(Colour.VERMILLION, Pattern.BLINK, "!!", "something is wrong here"),
        LightRole.PUT_RIGHT: Style(Colour.BLUE, Pattern.DOUBLE_BLINK, "<>", "put the piece back here"),
        LightRole.QUESTION: Style(Colour.PURPLE, Pattern.PULSE, "??", "please look here and confirm"),
        LightRole.TURN: Style(Colour.GREEN, Pattern.STEADY, "[]", "the accepted turn"),
        LightRole.UNFINISHED: Style(Colour.ORANGE, Pattern.WINK, "~~", "turn not finished here"),
        LightRole.OPPONENT: Style(Colour.VIOLET, Pattern.DOUBLE_WINK, "{}", "please play this turn for the program"),
        LightRole.HINT: Style(Colour.WHITE, Pattern.GLINT, "()", "a hint, or what a person corrected"),
    }
)
"""The style of each role's light."""

MOOD_STYLES: Mapping[Mood, Style] = MappingProxyType(
    {
        Mood.WAITING: Style(Colour.WHITE, Pattern.GLINT, "W", "waiting for a turn"),
        Mood.LOOKING: Style(Colour.WHITE, Pattern.DOUBLE_WINK, "L", "looking at the table"),
        Mood.ACCEPTED: Style(Colour.GREEN, Pattern.STEADY, "A", "turn accepted"),
        Mood.NOT_FINISHED: Style(Colour.ORANGE, Pattern.WINK, "N", "the turn is not finished"),
        Mood.FAULT: Style(Colour.VERMILLION, Pattern.BLINK, "F", "something is wrong"),
        Mood.QUESTION: Style(Colour.PURPLE, Pattern.PULSE, "Q", "please confirm"),
        Mood.CANNOT_SEE: Style(Colour.ORANGE, Pattern.TRIPLE_BLINK, "C", "the table can't be seen"),
        Mood.FINISHED: Style(Colour.BLUE, Pattern.LONG_SHORT, "E", "the game has ended"),
        Mood.TROUBLE: Style(Colour.VERMILLION, Pattern.DOUBLE_BLINK, "X", "the referee itself has a problem"),
    }
)
"""The style of each mood's status light."""


def most_urgent_lights(lights: Iterable[Light]) -> dict[str, Light]:
    """Map each lit place to its most urgent light, in the order of ``lights``."""
    urgency = {role: rank for rank, role in enumerate(LightRole)}
    chosen: dict[str, Light] = {}
    for candidate in lights:
        held = chosen.get(candidate.place)
        if held is None or urgency[candidate.role] < urgency[held.role]:
            chosen[candidate.place] = candidate
    return chosen
