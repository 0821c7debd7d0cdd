"""A Reading: for each place a probability for each look, and what hinders it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Hindrance:
    """Something that keeps places from being read.

    ``kind`` is one of ``hand``, ``object``, ``glare``, ``not located``, ``moved camera``, ``outside the picture``,
    ``bad frame``; ``message`` is a sentence for a person; ``places`` are those it hides (empty: the whole table).
    """

    kind: str
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
    hidden_by: str | None = None
    offset_mm: tuple[float, float] | None = None
    turned_deg: float | None = None
    sensed: float | None = None

    @property
    def best(self) -> tuple[str, float]:
        """The most probable look and its probability."""
        look = max(self.probabilities, key=lambda name: self.probabilities[name])
        return look, self.probabilities[look]


@dataclass(frozen=True)
class Reading:
    """What one frame says of the whole table.

    ``places`` is empty when the table was not located or the frame could not be used; ``hindrances`` then says
    why. ``notices`` are sentences about the table itself (``the camera moved and was located again``). ``changes`` are
    the latest that sensors noticed, oldest first, those of earlier readings among them.
    """

    sequence: int
    time_s: float
    places: Mapping[str, PlaceReading]
    hindrances: tuple[Hindrance, ...] = ()
    notices: tuple[str, ...] = ()
    changes: tuple[PlaceChange, ...] = ()

    @property
    def hidden(self) -> tuple[str, ...]:
        """The places that could not be seen."""
        return tuple(place for place, seen in self.places.items() if seen.hidden_by is not None)

    def hindered_by(self, kind: str) -> Hindrance | None:
        """The first hindrance of that kind, or ``None``."""
        return next((hindrance for hindrance in self.hindrances if hindrance.kind == kind), None)
