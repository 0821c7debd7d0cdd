"""The end of a sheet worked out exactly: the best way to go on for every roll that may come, by its probability."""

from __future__ import annotations

from engine.blokus_dice.finding import Finder
from engine.blokus_dice.outlook import Course, Prospect
from engine.blokus_dice.sheet import FACES
from engine.search.budget import Look

MOST_NODES = 20_000


class TooMuchError(Exception):
    """The end is not near enough: more sheets would have to be looked at than allowed."""


class Endgame:
    """Works out what sheets are worth; what was worked out before is remembered."""

    def __init__(self, finder: Finder, course: Course, look: Look, most_nodes: int = MOST_NODES) -> None:
        self._finder = finder
        self._rounds = course.rounds
        self._look = look
        self._nodes_left = most_nodes
        self._known: dict[tuple[Prospect, int], float] = {}

    def value(self, prospect: Prospect, done: int = 0) -> float:
        """The squares filled at the end that can be expected when ``done`` rounds of the course are over.

        Raises TooMuchError, and TimeIsUpError from the look at the clock.
        """
        key = prospect, done
        if key not in self._known:
            self._known[key] = self._worked_out(prospect, done)
        return self._known[key]

    def _worked_out(self, prospect: Prospect, done: int) -> float:
        filled = prospect.filled.bit_count()
        if done >= len(self._rounds):
            return filled
        sheet, (colour, dice) = self._finder.sheet, self._rounds[done]
        ways = self._finder.ways(prospect.colours[colour], prospect.filled, prospect.unused)
        if not ways:
            return filled
        self._nodes_left -= 1
        if self._nodes_left < 0:
            raise TooMuchError
        self._look()
        by_face = [float(filled)] * FACES
        by_strike = float(filled)
        for laid in ways:
            face = sheet.face_of[(laid >> self._finder.squares).bit_length() - 1]
            after = prospect.after(sheet.grid, colour, laid, strike=False)
            by_face[face - 1] = max(by_face[face - 1], self.value(after, done + 1))
            if prospect.strikes_left:
                after = prospect.after(sheet.grid, colour, laid, strike=True)
                by_strike = max(by_strike, self.value(after, done + 1))
        return mean_of_best([max(value, by_strike) for value in by_face], dice)


def mean_of_best(by_face: list[float], dice: int) -> float:
    """The mean of the best among several dice, each face of which is worth so much."""
    faces = len(by_face)
    return sum(
        value * ((rank / faces) ** dice - ((rank - 1) / faces) ** dice) for rank, value in enumerate(sorted(by_face), 1)
    )
