"""Mapping square by square: which light and which switch belongs to which square. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from common.phrases import Phrase, counted, joined, shortened

_BACK = ("b", "back")
_FINISH = ("f", "finish")
_SKIP = ("", "s", "skip")


@dataclass
class _SensorAssignment:
    """The common part of both ways to map switches: the switch of each square that was ``found``."""

    switches: int
    places: Sequence[str]
    found: dict[str, int] = field(default_factory=dict)
    finished: bool = False

    def place_of(self, switch: int) -> str | None:
        """Return the square that a switch belongs to, ``None`` if it isn't mapped yet."""
        return next((place for place, number in self.found.items() if number == switch), None)

    def summary(self) -> str:
        """Say which squares have a switch, and which squares and switches have no partner."""
        without = [place for place in self.places if place not in self.found]
        unused = [str(number) for number in range(self.switches) if number not in self.found.values()]
        parts = [f"{len(self.found)} of {len(self.places)} squares have a switch"]
        if without:
            parts.append(f"none under {shortened(without)}")
        if unused:
            parts.append(f"switches under no square: {shortened(unused)}")
        return "; ".join(parts) + "."


@dataclass
class AssignmentBySquare(_SensorAssignment):
    """Goes through the squares; the switch that closes while a square is asked for is the one under it."""

    passed: list[str] = field(default_factory=list)

    HELP = (
        "Put a piece on the square that is asked for, alone on the board; with diodes, those before may stay. Enter "
        "alone: skip it. b: back to the square before. f: finish here."
    )

    @property
    def place(self) -> str | None:
        """The current square; ``None`` at the end."""
        done = len(self.passed)
        return None if self.finished or done >= len(self.places) else self.places[done]

    @property
    def is_over(self) -> bool:
        """Whether every square was asked for, or the person has finished."""
        return self.place is None

    @property
    def prompt(self) -> str:
        """The question to ask."""
        return Phrase("Put a piece on {place}.", self.place)

    def process_closings(self, switches: Sequence[int]) -> str:
        """Process switches that closed at the same moment; returns a sentence for the person."""
        place = self.place
        if place is None:
            return ""
        if len(switches) > 1:
            return Phrase(
                "Switches {names} closed at once: take the piece off and put it down again on {place}, "
                "right in the middle. If they always do, their wires touch.",
                joined(map(str, switches), ", "),
                place,
            )
        (switch,) = switches
        other = self.place_of(switch)
        if other is not None:
            return Phrase(
                "Switch {switch} is the one under {other} already: put the piece on {place}, or type b "
                "until {other} is asked for again.",
                switch,
                other,
                place,
            )
        self.found[place] = switch
        self.passed.append(place)
        return Phrase("{place} is switch {switch}.", place, switch)

    def answer(self, text: str) -> str:
        """Process a typed answer; returns a sentence for the person."""
        word = text.strip().lower()
        if word in _BACK:
            if not self.passed:
                return Phrase("This is the first square.")
            before = self.passed.pop()
            self.found.pop(before, None)
            return ""
        if word in _FINISH:
            self.finished = True
            return ""
        if word in _SKIP and self.place is not None:
            self.passed.append(self.place)
            return Phrase("{passed} has no switch.", self.passed[-1])
        return Phrase("{strip!r} is not possible here. {help}", text.strip(), self.HELP)


@dataclass
class AssignmentBySwitch(_SensorAssignment):
    """Takes switches in the order in which a person closes them, and asks for the square of each."""

    switch: int | None = None

    HELP = (
        "Put a piece on any square, then type which one it was. Enter alone: leave that switch out. "
        "b: forget the square before. f: finish."
    )

    @property
    def is_over(self) -> bool:
        """Whether every square is known, or the person has finished."""
        return self.finished or len(self.found) == len(self.places)

    @property
    def prompt(self) -> str:
        """The question to ask."""
        return (
            Phrase("Put a piece on a square.")
            if self.switch is None
            else Phrase("Switch {switch} closed: which square? ", self.switch)
        )

    def process_closings(self, switches: Sequence[int]) -> str:
        """Process switches that closed at the same moment; returns a sentence for the person."""
        if len(switches) > 1:
            return Phrase(
                "Switches {names} closed at once: take the piece off and try again.", joined(map(str, switches), ", ")
            )
        (switch,) = switches
        other = self.place_of(switch)
        if other is not None:
            return Phrase("Switch {switch} is the one under {other} already.", switch, other)
        if self.switch is not None and self.switch != switch:
            return Phrase(
                "Switch {switch} closed as well; first, which square has switch {switch_2}?", switch, self.switch
            )
        self.switch = switch
        return ""

    def answer(self, text: str) -> str:
        """Process a typed answer; returns a sentence for the person."""
        word = text.strip().lower()
        if word in _FINISH:
            self.finished = True
            return ""
        if word in _BACK:
            if not self.found:
                return Phrase("No square is known yet.")
            place, _ = self.found.popitem()
            return Phrase("{place} is forgotten.", place)
        if self.switch is None:
            return Phrase("No switch has closed yet. {help}", self.HELP)
        if word in _SKIP:
            left, self.switch = self.switch, None
            return Phrase("Switch {left} is left out.", left)
        if word not in self.places:
            return unknown_place(word, self.places)
        if word in self.found:
            return Phrase(
                "{word} has switch {found} already; type b until it is forgotten, or another square.",
                word,
                self.found[word],
            )
        self.found[word], self.switch = self.switch, None
        return Phrase("{word} is switch {found}.", word, self.found[word])


SwitchAssignment = AssignmentBySquare | AssignmentBySwitch


STATUS = "status"
"""Name of the status light among places."""

_NONE = ("", "-", "none")


@dataclass
class LightAssignment:
    """Goes through the lights and records the place of each.

    ``places`` are the board's squares. A light may have no square (``None`` in ``answers``), and a square several
    lights. Lights that were not reached have no square.
    """

    lights: int
    places: Sequence[str]
    answers: list[str | None] = field(default_factory=list)
    finished: bool = False

    @property
    def light(self) -> int | None:
        """The light to show now; ``None`` at the end."""
        return None if self.finished or len(self.answers) >= self.lights else len(self.answers)

    @property
    def prompt(self) -> str:
        """The question about the current light."""
        return Phrase("Light {light} of 0 to {part}: which square? ", self.light, self.lights - 1)

    HELP = (
        "Type the square where a light shines, such as a1. Enter alone: no square. status: the status light. "
        "b: back to the light before. f: finish here."
    )

    def answer(self, text: str) -> str:
        """Process a typed answer about the current light; returns a sentence for the person, or an empty string."""
        light = self.light
        if light is None:
            return Phrase("Every light has been shown.")
        word = text.strip().lower()
        if word in _BACK:
            if not self.answers:
                return Phrase("This is the first light.")
            self.answers.pop()
            return ""
        if word in _FINISH:
            self.finished = True
            return ""
        if word in _NONE:
            self.answers.append(None)
            return ""
        if word == STATUS or word in self.places:
            before = [number for number, given in enumerate(self.answers) if given == word]
            self.answers.append(word)
            what = Phrase("The status light") if word == STATUS else word
            return Phrase("{what} has {lights} now.", what, _lights([*before, light])) if before else ""
        return unknown_place(word, self.places)

    def places_of_lights(self) -> tuple[dict[str, tuple[int, ...]], tuple[int, ...]]:
        """Return the lights of each square, in the order of the board, and those of the status light."""
        found = {
            place: tuple(number for number, given in enumerate(self.answers) if given == place)
            for place in (*self.places, STATUS)
        }
        status = found.pop(STATUS)
        return {place: numbers for place, numbers in found.items() if numbers}, status

    def summary(self) -> str:
        """Return the result, and which squares have no light."""
        places, status = self.places_of_lights()
        dark = [place for place in self.places if place not in places]
        lit = sum(len(numbers) for numbers in places.values())
        parts = [f"{counted(lit, 'light')} under {counted(len(places), 'square')}"]
        parts.append(f"{counted(len(status), 'light')} as the status light" if status else "no status light")
        if dark:
            parts.append(f"no light under {shortened(dark)}")
        return "; ".join(parts) + "."


def unknown_place(word: str, places: Sequence[str]) -> str:
    """Say that there is no such square, and list those there are."""
    return Phrase("There is no square {word!r}; squares run from {place} to {place_2}.", word, places[0], places[-1])


def _lights(numbers: Sequence[int]) -> str:
    return Phrase("lights {names}", joined(map(str, numbers), " and "))
