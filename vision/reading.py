"""A Reading: the probability of each look on each place, the dice on the table, and what hinders the view.

A small picture of a place tells later whether anybody touched the piece there. A piece that was lifted and put back
never stands exactly as before, and this difference is easier to see than what the piece is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Any

import numpy as np

from vision.frame import FloatArray, FloatImage, Image

KEPT_PX = 2
"""Pixels of a crop, along each axis, that make one of the picture kept. Larger: less noise, and smaller moves go
unnoticed.
"""
SMOOTHING_PX = 0.7
"""Standard deviation, in kept pixels, of the smoothing against noise."""
SHADING_PX = 4.0
"""The same of the shading that is taken away, since shadows and lamps change. Larger: more of their edges is left."""
DARKEST = 12.0
"""Grey levels added to each pixel before its logarithm is taken. Larger: noise in dark parts counts less."""
HALF_WINDOW_PX = 5.5
"""Half the side of the square around the tip that is compared, in kept pixels. These five were chosen from a few
candidates as those that best separate changed from unchanged stacks in 15 virtual games.
"""
REACH_PX = 1
"""Distance, in kept pixels, by which the whole picture may have moved, since a pose is found a little differently each
time."""
USUAL_DIFFERENCE = 0.002
"""Share by which two pictures of an untouched stack usually differ: the median of virtual games."""
_FAINT = 1e-3
"""Mean squared contrast below which a window is taken to be blank, so that noise alone makes no difference."""


@dataclass(frozen=True, eq=False)
class PlacePicture:
    """A small picture of a place without light and colour.

    ``levels`` (rows, columns) are differences of the logarithm of the grey level from its surroundings; ``tip_px`` is
    the column and row of the piece's most distinctive point, and ``half_px`` half the side of the square around it that
    is compared.
    """

    levels: FloatImage
    tip_px: tuple[float, float]
    half_px: float = HALF_WINDOW_PX

    @classmethod
    def of(cls, crop: Image, tip_px: FloatArray) -> PlacePicture:
        """Keep a crop (rows, columns, 3) and the column and row (2,) of the piece's tip in it."""
        # Here, because commands that only follow a journal know this class too and start faster without OpenCV.
        import cv2

        grey = cv2.cvtColor(crop, cv2.COLOR_BGR2GRAY).astype(np.float32)
        small = cv2.resize(grey, None, fx=1 / KEPT_PX, fy=1 / KEPT_PX, interpolation=cv2.INTER_AREA)
        logs = np.log(cv2.GaussianBlur(small, (0, 0), SMOOTHING_PX) + np.float32(DARKEST))
        levels = np.asarray(logs - cv2.GaussianBlur(logs, (0, 0), SHADING_PX), dtype=np.float32)
        column, row = ((tip_px + 0.5) / KEPT_PX - 0.5).tolist()
        return cls(levels, (column, row))

    def difference(self, later: PlacePicture) -> float:
        """Return how much a later picture of the same place differs around this one's tip, in usual differences.

        It is the squared difference as a share of both pictures' squared contrast, where they match best, divided by
        the usual share: 0 if they are the same, about 1 if nobody touched it, and hundreds if nothing is alike.
        Infinite if the tip lies outside the picture.
        """
        (left, right), (top, bottom) = (
            (max(REACH_PX, round(at - self.half_px)), min(size - REACH_PX, round(at + self.half_px) + 1))
            for at, size in zip(self.tip_px, self.levels.shape[::-1], strict=True)
        )
        if left >= right or top >= bottom or self.levels.shape != later.levels.shape:
            return float("inf")
        before = self.levels[top:bottom, left:right]
        steps = range(-REACH_PX, REACH_PX + 1)
        moved = np.array(
            [later.levels[top + down : bottom + down, left + by : right + by] for down in steps for by in steps]
        )
        squares = ((moved - before) ** 2).mean(axis=(1, 2))
        contrast = (moved**2).mean(axis=(1, 2)) + (before**2).mean()
        return float((squares / (contrast + _FAINT)).min()) / USUAL_DIFFERENCE


class HindranceKind(StrEnum):
    """What keeps places from being read. The values are written to journals and printed as JSON."""

    HAND = "hand"
    OBJECT = "object"
    GLARE = "glare"
    DARK = "dark"
    HAZE = "haze"
    BLUR = "blur"
    COARSE = "coarse"
    UNCLEAR = "unclear"
    NOT_LOCATED = "not located"
    MOVED_CAMERA = "moved camera"
    OUTSIDE_PICTURE = "outside the picture"
    BAD_FRAME = "bad frame"
    FROZEN = "frozen"
    NO_CAMERA = "no camera"


@dataclass(frozen=True)
class Hindrance:
    """Something that keeps places from being read.

    ``message`` is a sentence for a person. ``places`` are the hidden ones; empty if it hides none, or if nothing can be
    read (the Reading then has no places either).
    """

    kind: HindranceKind
    message: str
    places: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Sight:
    """Where a reader saw the table in a picture of ``size_px`` (width, height), as corners (n, 2) in pixels.

    ``parts`` are the located surfaces, ``markers`` the markers, ``hidden`` the places that a hand or a thing hides.
    """

    size_px: tuple[int, int]
    parts: tuple[FloatArray, ...] = ()
    markers: tuple[FloatArray, ...] = ()
    hidden: tuple[FloatArray, ...] = ()


@dataclass(frozen=True)
class PlaceChange:
    """A sensor under a place noticed a piece being put down or lifted; ``time_s`` is in the time of the frames."""

    place: str
    put_down: bool
    time_s: float


@dataclass(frozen=True)
class PlaceReading:
    """What one frame shows on one place.

    ``probabilities`` maps looks to probabilities that sum to 1. ``sides`` maps the compass sides visible to the camera
    to the probabilities of each symbol there. ``hidden_by`` is the hindrance when the place can't be seen; the
    probabilities then carry no information. ``offset_mm`` (x, y) and ``turned_deg`` give the piece's position on its
    place, if one was found. ``sensed`` is the probability, from a sensor under the place with even prior odds, that a
    piece stands there; ``None`` without a sensor. It is independent of the other probabilities and valid for a hidden
    place too. ``heights`` maps numbers of stacked pieces to their probabilities, given the most probable look, and
    ``tops_mm`` to where (x, y) on its place the top piece would then stand; each is empty if unknown. ``picture``
    shows the place, for readers that keep one, so that a later look can be compared with it. ``rarer`` says how much
    rarer, in log units, the probabilities take some looks to be than the others: where the rules allow one as well as
    another, it is not rarer.
    """

    probabilities: Mapping[str, float]
    sides: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    hidden_by: HindranceKind | None = None
    offset_mm: tuple[float, float] | None = None
    turned_deg: float | None = None
    sensed: float | None = None
    heights: Mapping[int, float] = field(default_factory=dict)
    tops_mm: Mapping[int, tuple[float, float]] = field(default_factory=dict)
    picture: PlacePicture | None = field(default=None, compare=False, repr=False)
    rarer: Mapping[str, float] = field(default_factory=dict)

    @cached_property
    def best(self) -> tuple[str, float]:
        """The most probable look and its probability."""
        look = max(self.probabilities, key=lambda name: self.probabilities[name])
        return look, self.probabilities[look]


def uniform_reading(looks: Sequence[str], hidden_by: HindranceKind) -> PlaceReading:
    """Return the reading of a hidden place: all looks are equally probable."""
    return PlaceReading(dict.fromkeys(looks, 1 / max(1, len(looks))), hidden_by=hidden_by)


@dataclass(frozen=True)
class DieReading:
    """What one frame shows of one die.

    ``x_mm`` and ``y_mm`` are its centre in the frame of its surface. ``faces`` maps the possible upper faces, named as
    in the game's rolls, to probabilities that sum to 1. ``die`` names the die in games that distinguish dice, for
    example by colour. ``at_rest``: it lies where it was in the frame before, if there was one. ``cocked``: it leans
    on something. ``half_hidden``: it reaches beyond the picture's edge.
    """

    x_mm: float
    y_mm: float
    faces: Mapping[str, float]
    die: str = ""
    at_rest: bool = True
    cocked: bool = False
    half_hidden: bool = False

    @property
    def best(self) -> tuple[str, float]:
        """The most probable face and its probability."""
        return max(self.faces.items(), key=lambda item: item[1])

    @property
    def why_unsettled(self) -> str:
        """Why it shows no face for the game yet: ``moving``, ``half hidden`` or ``leans``; empty if it shows one."""
        if not self.at_rest:
            return "moving"
        # the visible part of a half hidden die says little about whether it leans
        return "half hidden" if self.half_hidden else "leans" if self.cocked else ""

    @property
    def is_settled(self) -> bool:
        """Whether it shows a face for the game: a die that moves, leans or is half hidden is no roll yet."""
        return not self.why_unsettled


@dataclass(frozen=True)
class RollReading:
    """The dice that one frame shows on one surface, from left to right; empty if there are none."""

    surface: str
    dice: tuple[DieReading, ...] = ()


@dataclass(frozen=True)
class Reading:
    """What one frame shows of the whole table.

    ``places`` is empty when the table was not located or the frame could not be used; ``hindrances`` then gives the
    reason. ``notices`` are sentences about the table itself (``the camera moved and was located again``). ``changes``
    are the latest from sensors, oldest first, including those of earlier readings. ``rolls`` has one entry per surface
    on which dice are read.
    """

    sequence: int
    time_s: float
    places: Mapping[str, PlaceReading]
    hindrances: tuple[Hindrance, ...] = ()
    notices: tuple[str, ...] = ()
    changes: tuple[PlaceChange, ...] = ()
    rolls: tuple[RollReading, ...] = ()

    @property
    def hidden(self) -> tuple[str, ...]:
        """The places that could not be read."""
        return tuple(place for place, seen in self.places.items() if seen.hidden_by is not None)

    def hindered_by(self, kind: HindranceKind) -> Hindrance | None:
        """Return the first hindrance of that kind, or ``None``."""
        return next((hindrance for hindrance in self.hindrances if hindrance.kind == kind), None)


_DIGITS = 4
"""Decimal places of probabilities in JSON."""
_LEAST_SHOWN = 0.001
"""Probability below which a look is left out of the JSON."""


def reading_to_json(reading: Reading, source: str) -> dict[str, Any]:
    """Return a reading as JSON values: each place's likeliest look, and all plausible looks, to four digits."""
    return {
        "source": source,
        "places": {place: _place_to_json(seen) for place, seen in reading.places.items()},
        "hindrances": [
            {"kind": hindrance.kind, "message": hindrance.message, "places": list(hindrance.places)}
            for hindrance in reading.hindrances
        ],
        "notices": list(reading.notices),
        "rolls": {roll.surface: [_die_to_json(die) for die in roll.dice] for roll in reading.rolls},
    }


def _die_to_json(die: DieReading) -> dict[str, Any]:
    value, probability = die.best
    return {
        "x_mm": round(die.x_mm, 1),
        "y_mm": round(die.y_mm, 1),
        "value": value if die.is_settled else None,
        "probability": round(probability, _DIGITS),
        **({} if die.is_settled else {"why": die.why_unsettled}),
        **({"die": die.die} if die.die else {}),
    }


def _place_to_json(seen: PlaceReading) -> dict[str, Any]:
    if seen.hidden_by is not None:
        return {"look": None, "hidden_by": seen.hidden_by}
    look, probability = seen.best
    place: dict[str, Any] = {
        "look": look,
        "probability": round(probability, _DIGITS),
        "probabilities": {
            name: round(value, _DIGITS) for name, value in seen.probabilities.items() if value >= _LEAST_SHOWN
        },
    }
    if seen.sides:
        place["sides"] = {
            side: {symbol: round(value, _DIGITS) for symbol, value in symbols.items()}
            for side, symbols in seen.sides.items()
        }
    if seen.offset_mm is not None:
        place["offset_mm"] = [round(length, 2) for length in seen.offset_mm]
    if seen.turned_deg is not None:
        place["turned_deg"] = round(seen.turned_deg, 1)
    return place
