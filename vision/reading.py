"""A Reading: for each place a probability for each look, the dice that lie there, and what hinders it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum


class HindranceKind(StrEnum):
    """What keeps places from being read. The values are written to journals and printed as JSON."""

    HAND = "hand"
    OBJECT = "object"
    GLARE = "glare"
    NOT_LOCATED = "not located"
    MOVED_CAMERA = "moved camera"
    OUTSIDE_PICTURE = "outside the picture"
    BAD_FRAME = "bad frame"
    NO_CAMERA = "no camera"


@dataclass(frozen=True)
class Hindrance:
    """Something that keeps places from being read.

    ``message`` is a sentence for a person; ``places`` are those it hides (empty: the whole table).
    """

    kind: HindranceKind
    message: str
    places: tuple[str, ...] = ()


@dataclass(frozen=True)
class PlaceChange:
    """A sensor under a place noticed something put down there, or lifted; ``time_s`` in the time of the frames."""

    place: str
    put_down: bool
    time_s: float


@dataclass(frozen=True)
class PlaceReading:
    """What one frame says of one place.

    ``probabilities`` maps looks to probabilities that sum to 1. ``sides`` maps the compass sides the camera sees to
    the probabilities of each symbol there (absent: not seen). ``hidden_by`` names the hindrance when the place
    can't be seen, in which case the probabilities say nothing. ``offset_mm`` (x, y) and ``turned_deg`` tell how
    the piece stands on its place, where one was found. ``sensed`` is how probable a sensor under the place makes it
    that something stands there, all else being even; ``None`` without one. It is no part of the other probabilities
    and holds for a hidden place, too.
    """

    probabilities: Mapping[str, float]
    sides: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    hidden_by: HindranceKind | None = None
    offset_mm: tuple[float, float] | None = None
    turned_deg: float | None = None
    sensed: float | None = None

    @property
    def best(self) -> tuple[str, float]:
        """The most probable look and its probability."""
        look = max(self.probabilities, key=lambda name: self.probabilities[name])
        return look, self.probabilities[look]


def even_reading(looks: Sequence[str], hidden_by: HindranceKind) -> PlaceReading:
    """The reading of a place that can't be seen: any look is as probable as another."""
    return PlaceReading(dict.fromkeys(looks, 1 / max(1, len(looks))), hidden_by=hidden_by)


@dataclass(frozen=True)
class DieReading:
    """What one frame says of one die.

    ``x_mm`` and ``y_mm`` tell where its middle is, in the frame of its surface. ``faces`` maps what may be up, as the
    game's rolls name it, to probabilities that sum to 1. ``die`` names the die where a game tells its dice apart, by
    colour for example. ``at_rest``: it lies where it lay in the frame before. ``cocked``: it leans on something.
    ``half_hidden``: too little of it is in sight. ``colour_lab`` is its body's colour in CIE L*a*b*.
    """

    x_mm: float
    y_mm: float
    faces: Mapping[str, float]
    die: str = ""
    at_rest: bool = True
    cocked: bool = False
    half_hidden: bool = False
    colour_lab: tuple[float, float, float] | None = None

    @property
    def counts(self) -> bool:
        """Whether it shows a face for the game: a die that moves, leans or is half hidden is no roll yet."""
        return self.at_rest and not (self.cocked or self.half_hidden)


@dataclass(frozen=True)
class RollReading:
    """The dice that one frame shows on one surface, from left to right; empty where none lie."""

    surface: str
    dice: tuple[DieReading, ...] = ()

    @property
    def counts(self) -> bool:
        """Whether dice lie there and all of them count."""
        return bool(self.dice) and all(die.counts for die in self.dice)


@dataclass(frozen=True)
class Reading:
    """What one frame says of the whole table.

    ``places`` is empty when the table was not located or the frame could not be used; ``hindrances`` then says
    why. ``notices`` are sentences about the table itself (``the camera moved and was located again``). ``changes`` are
    the latest that sensors noticed, oldest first, those of earlier readings among them. ``rolls`` has one entry for
    each surface on which dice are read.
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
        """The places that could not be seen."""
        return tuple(place for place, seen in self.places.items() if seen.hidden_by is not None)

    def hindered_by(self, kind: HindranceKind) -> Hindrance | None:
        """The first hindrance of that kind, or ``None``."""
        return next((hindrance for hindrance in self.hindrances if hindrance.kind == kind), None)
