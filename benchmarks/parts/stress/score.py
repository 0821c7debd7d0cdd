"""Scores readings of stress pictures by place and by picture."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from common.places import EMPTY
from vision.reading import HindranceKind, Reading

CERTAIN = 0.99
MOST_WRONG_OF_CERTAIN = 1e-4
MOST_CALIBRATION_ERROR = 0.01
MOST_SILENT_OF_BAD, MOST_MISNAMED_OF_BAD = 0.05, 0.1
BAD_SHARE = 0.9
"""A picture of which fewer places are read right was read badly."""
_IN_THE_WAY = frozenset({HindranceKind.HAND, HindranceKind.OBJECT})
BINS = (0.0, 0.2, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 0.999, 1.0)


@dataclass(frozen=True)
class SquareScore:
    """One place of one picture: its most probable look with the probability, and the truth."""

    place: str
    said: str
    probability: float
    truth: str
    hidden_by: str | None

    @property
    def right(self) -> bool:
        """Whether the most probable look is the true one."""
        return self.said == self.truth

    @property
    def certain(self) -> bool:
        """Whether the reading is certain."""
        return self.hidden_by is None and self.probability >= CERTAIN

    @property
    def about_a_block(self) -> bool:
        """Whether a block stands there, or is read there."""
        return EMPTY not in (self.said, self.truth) or self.said != self.truth


@dataclass(frozen=True)
class PictureScore:
    """One picture: its hardship and level, whether the table was located, and each place that was read.

    ``covered`` are places that a hand or a thing truly hides; ``hand`` is as in ``StressCase``; ``thing`` is whether
    something lies there; ``named`` are the kinds of hindrance that the reading names, for a place or for all.
    ``places`` is their number, whether read or not.
    """

    name: str
    hardship: str
    level: str
    number: int
    located: bool
    refused: str
    squares: tuple[SquareScore, ...]
    covered: tuple[str, ...]
    hand: str
    thing: bool
    named: frozenset[str]
    places: int

    @property
    def hand_said(self) -> bool:
        """Whether the reading names a hand."""
        return HindranceKind.HAND in self.named

    @property
    def thing_said(self) -> bool:
        """Whether the reading names an object."""
        return HindranceKind.OBJECT in self.named

    @property
    def is_bad(self) -> bool:
        """Whether few places were read right."""
        right = sum(square.right and square.hidden_by is None for square in self.squares)
        return not self.refused and right < BAD_SHARE * self.places

    @property
    def is_silent(self) -> bool:
        """Whether it was read badly, and the reading names nothing that hides or hinders."""
        return self.is_bad and not self.named

    @property
    def is_misnamed(self) -> bool:
        """Whether it was read badly, and the reading blames a hand or an object where there is none."""
        return self.is_bad and bool(self.named & _IN_THE_WAY) and not self.thing and self.hand == "beside"

    @property
    def wholly_right(self) -> bool:
        """Whether all visible places are read right, and none is called hidden without an object or a hand."""
        in_the_way = self.thing or self.hand != "beside"
        seen = [square for square in self.squares if square.place not in self.covered]
        return self.located and all(in_the_way if square.hidden_by else square.right for square in seen)

    @property
    def hand_missed(self) -> bool:
        """Whether a hand hides places, and the reading names neither a hand nor an object."""
        return self.located and self.hand == "over" and not self.hand_said and not self.thing_said

    @property
    def hand_called_a_thing(self) -> bool:
        """Whether a hand hides places, and the reading names an object instead."""
        return self.located and self.hand == "over" and not self.hand_said and self.thing_said

    @property
    def hand_invented(self) -> bool:
        """Whether the reading names a hand, and nothing is over the board."""
        return self.located and self.hand == "beside" and not self.thing and self.hand_said

    @property
    def thing_called_a_hand(self) -> bool:
        """Whether the reading names a hand, and there is an object instead."""
        return self.located and self.hand == "beside" and self.thing and self.hand_said


def score(
    name: tuple[str, str, str, int],
    reading: Reading | None,
    looks: Mapping[str, str],
    *,
    covered: tuple[str, ...] = (),
    hand: str = "beside",
    thing: bool = False,
    refused: str = "",
) -> PictureScore:
    """Compare a reading with the truth; ``name`` is the picture's name, hardship, level and number."""
    places = {} if reading is None else reading.places
    squares = tuple(
        SquareScore(place, *seen.best, looks[place], seen.hidden_by) for place, seen in places.items() if place in looks
    )
    hindrances = () if reading is None else reading.hindrances
    named = {str(hindrance.kind) for hindrance in hindrances} | {one.hidden_by for one in squares if one.hidden_by}
    return PictureScore(*name, bool(places), refused, squares, covered, hand, thing, frozenset(named), len(looks))


@dataclass(frozen=True)
class Tally:
    """Counts of pictures and, by outcome, of places; ``read_right`` are those whose best look is true."""

    pictures: int = 0
    located: int = 0
    wholly_right: int = 0
    right: int = 0
    wrong_and_certain: int = 0
    unsure: int = 0
    hidden: int = 0
    blocks: int = 0
    blocks_right: int = 0
    hands: int = 0
    hands_missed: int = 0
    hands_called_things: int = 0
    no_hands: int = 0
    hands_invented: int = 0
    things: int = 0
    things_called_hands: int = 0
    refused: int = 0
    read_right: int = 0
    bad: int = 0
    silent: int = 0
    misnamed: int = 0
    calibration_error: float = 0.0

    @property
    def tried(self) -> int:
        """Pictures of piece sets that could be enrolled."""
        return self.pictures - self.refused

    @property
    def places(self) -> int:
        """All places of located pictures."""
        return self.right + self.wrong_and_certain + self.unsure + self.hidden

    @property
    def certain(self) -> int:
        """Places called certain."""
        return self.right + self.wrong_and_certain


def tally(pictures: Iterable[PictureScore]) -> Tally:
    """Count over pictures."""
    pictures = list(pictures)
    counts = dict.fromkeys(Tally.__dataclass_fields__, 0)
    counts.pop("calibration_error")
    for picture in pictures:
        counts["bad"] += picture.is_bad
        counts["silent"] += picture.is_silent
        counts["misnamed"] += picture.is_misnamed
        counts["pictures"] += 1
        counts["located"] += picture.located
        counts["wholly_right"] += picture.wholly_right
        counts["refused"] += bool(picture.refused)
        # nothing is said of hands where the table was not located
        counts["hands"] += picture.located and picture.hand == "over"
        counts["no_hands"] += picture.located and picture.hand == "beside" and not picture.thing
        counts["things"] += picture.located and picture.hand == "beside" and picture.thing
        counts["things_called_hands"] += picture.thing_called_a_hand
        counts["hands_missed"] += picture.hand_missed
        counts["hands_called_things"] += picture.hand_called_a_thing
        counts["hands_invented"] += picture.hand_invented
        for square in picture.squares:
            if square.hidden_by is not None:
                counts["hidden"] += 1
            elif not square.certain:
                counts["unsure"] += 1
            else:
                counts["right" if square.right else "wrong_and_certain"] += 1
            counts["read_right"] += square.right and square.hidden_by is None
            if square.truth != EMPTY and square.place not in picture.covered:
                counts["blocks"] += 1
                counts["blocks_right"] += square.right and square.hidden_by is None
    error = calibration_of([square for picture in pictures for square in picture.squares]).expected_error
    return Tally(**counts, calibration_error=error)


@dataclass(frozen=True, eq=False)
class Calibration:
    """Reliability by bin: number of squares, mean stated probability, and share right.

    ``expected_error`` is the expected calibration error (Naeini 2015).
    """

    counts: npt.NDArray[np.int64]
    stated: npt.NDArray[np.float64]
    came_true: npt.NDArray[np.float64]
    expected_error: float


def calibration_of(squares: Sequence[SquareScore]) -> Calibration:
    """Bin the visible squares by the probability of their most probable look."""
    judged = [square for square in squares if square.hidden_by is None]
    probabilities = np.array([square.probability for square in judged])
    right = np.array([square.right for square in judged], dtype=np.float64)
    which = np.clip(np.digitize(probabilities, BINS) - 1, 0, len(BINS) - 2)
    bins = len(BINS) - 1
    counts = np.bincount(which, minlength=bins)
    stated = np.bincount(which, weights=probabilities, minlength=bins) / np.maximum(counts, 1)
    came_true = np.bincount(which, weights=right, minlength=bins) / np.maximum(counts, 1)
    total = max(1, len(judged))
    error = float(np.sum(counts * np.abs(stated - came_true)) / total)
    return Calibration(counts.astype(np.int64), stated, came_true, error)


def missed_targets(pictures: Sequence[PictureScore]) -> list[str]:
    """The missed targets in words: certain and wrong, hands, enrolment, naming, calibration."""
    total = tally(pictures)
    squares = [square for picture in pictures for square in picture.squares]
    missing = []
    if total.wrong_and_certain > MOST_WRONG_OF_CERTAIN * total.certain:
        missing.append(
            f"{total.wrong_and_certain} of {total.certain} squares called certain are wrong (1 in 10,000 may be)"
        )
    if not total.certain:
        missing.append("no square was called certain: nothing was shown")
    if total.refused:
        missing.append(f"the piece sets of {total.refused} pictures could not be enrolled (all should be)")
    if total.hands_missed:
        missing.append(f"{total.hands_missed} of {total.hands} hands over the board were missed (none may be)")
    if total.hands_invented:
        missing.append(
            f"{total.hands_invented} of {total.no_hands} pictures with nothing over the board were said to show a hand"
        )
    for count, most, what in (
        (total.silent, MOST_SILENT_OF_BAD, "name nothing that hides or hinders"),
        (total.misnamed, MOST_MISNAMED_OF_BAD, "blame a hand or an object where there is none"),
    ):
        if count > most * total.bad:
            missing.append(f"{count} of {total.bad} bad reads {what} (at most {most:.0%})")
    error = calibration_of(squares).expected_error
    if error > MOST_CALIBRATION_ERROR:
        missing.append(f"the expected calibration error is {error:.2%} (at most {MOST_CALIBRATION_ERROR:.0%})")
    return missing
