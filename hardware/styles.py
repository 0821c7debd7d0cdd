"""How each role and each mood looks: a colour, a pattern and a letter, so that none of the three stands alone.

A role's pattern is its own, and so is a mood's: a person who can't tell the colours apart, or a table with
one-coloured LEDs, loses nothing. The one status light shows a mood the way the squares show its role.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from hardware.signals import Colour, Light, Mood, Pattern


@dataclass(frozen=True)
class Style:
    """A look: ``colour``, ``pattern``, the ``letter`` where there are no colours, and the ``meaning`` in words."""

    colour: Colour
    pattern: Pattern
    letter: str
    meaning: str


ROLE_STYLES: Mapping[str, Style] = MappingProxyType(
    {
        "fault": Style(Colour.VERMILLION, Pattern.BLINK, "F", "something is wrong here"),
        "put right": Style(Colour.BLUE, Pattern.DOUBLE_BLINK, "P", "put the piece back here"),
        "question": Style(Colour.PURPLE, Pattern.PULSE, "Q", "please look here and confirm"),
        "turn": Style(Colour.GREEN, Pattern.STEADY, "T", "the accepted turn"),
        "unfinished": Style(Colour.ORANGE, Pattern.WINK, "U", "the turn goes on from here"),
        "hint": Style(Colour.WHITE, Pattern.GLINT, "H", "a hint, or what a person corrected"),
    }
)
"""Every role a light can have, the most urgent first: where two meet on one place, the earlier is shown."""

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
"""Every mood's look on the status light."""


def light(place: str, role: str) -> Light:
    """Make the light that marks ``place`` for ``role``; raises ValueError for a role without a style."""
    style = ROLE_STYLES.get(role)
    if style is None:
        raise ValueError(f"no light has the role {role!r}; roles are {', '.join(ROLE_STYLES)}")
    return Light(place, style.colour, style.pattern, role)


def one_light_a_place(lights: Iterable[Light]) -> dict[str, Light]:
    """Map each lit place to its most urgent light, in the order the places come in ``lights``.

    A role without a style gives way to every role with one.
    """
    urgency = {role: rank for rank, role in enumerate(ROLE_STYLES)}
    chosen: dict[str, Light] = {}
    for candidate in lights:
        held = chosen.get(candidate.place)
        if held is None or urgency.get(candidate.role, len(urgency)) < urgency.get(held.role, len(urgency)):
            chosen[candidate.place] = candidate
    return chosen
