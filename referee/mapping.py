"""Learning which light is which square: light by light, a person or the camera says where it shines. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

STATUS = "status"
"""What the status light is called where places are."""

_BACK = ("b", "back")
_FINISH = ("f", "finish")
_NONE = ("", "-", "none")
_LISTED = 6


@dataclass
class LightWalk:
    """Goes from light to light and keeps what each one is.

    ``places`` are the board's squares. A light may be no square's (``None`` in ``answers``) and a square may have
    several lights. What is not walked to is no square's.
    """

    lights: int
    places: Sequence[str]
    answers: list[str | None] = field(default_factory=list)
    finished: bool = False

    def __post_init__(self) -> None:
        if self.lights < 1:
            raise ValueError(f"a strip of {self.lights} lights can't be walked; expected 1 or more")

    @property
    def light(self) -> int | None:
        """The light to show now; ``None`` when there is none left or the person has finished."""
        return None if self.finished or len(self.answers) >= self.lights else len(self.answers)

    @property
    def prompt(self) -> str:
        """What to ask about the light that shows now."""
        return f"Light {self.light} of 0 to {self.lights - 1}: which square? "

    HELP = (
        "Type the square where a light shines, such as a1. Enter alone: no square. status: the status light. "
        "b: back to the light before. f: finish here."
    )

    def answer(self, text: str) -> str:
        """Take what a person typed about the light that shows; gives a sentence for them, empty when all is clear."""
        light = self.light
        if light is None:
            return "Every light has been walked to."
        word = text.strip().lower()
        if word in _BACK:
            if not self.answers:
                return "This is the first light."
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
            what = "The status light" if word == STATUS else word
            return f"{what} has {_lights([*before, light])} now." if before else ""
        return unknown_place(word, self.places)

    def places_of_lights(self) -> tuple[dict[str, tuple[int, ...]], tuple[int, ...]]:
        """Give the lights of each square, in the order of the board, and those of the status light."""
        found = {
            place: tuple(number for number, given in enumerate(self.answers) if given == place)
            for place in (*self.places, STATUS)
        }
        status = found.pop(STATUS)
        return {place: numbers for place, numbers in found.items() if numbers}, status

    def summary(self) -> str:
        """Say what was found and which squares have no light."""
        places, status = self.places_of_lights()
        dark = [place for place in self.places if place not in places]
        lit = sum(len(numbers) for numbers in places.values())
        parts = [f"{_count(lit, 'light')} under {_count(len(places), 'square')}"]
        parts.append(f"{_count(len(status), 'light')} as the status light" if status else "no status light")
        if dark:
            parts.append(f"no light under {shortened(dark)}")
        return "; ".join(parts) + "."


def unknown_place(word: str, places: Sequence[str]) -> str:
    """Say that there is no such square, and which there are."""
    return f"There is no square {word!r}; squares run from {places[0]} to {places[-1]}."


def shortened(names: Sequence[str]) -> str:
    """List names, the first few only where there are many."""
    if len(names) <= _LISTED:
        return ", ".join(names)
    return f"{', '.join(names[: _LISTED - 1])} and {len(names) - _LISTED + 1} more"


def _lights(numbers: Sequence[int]) -> str:
    return "lights " + " and ".join(map(str, numbers))


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}{'' if number == 1 else 's'}"
