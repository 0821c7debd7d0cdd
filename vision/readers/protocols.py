"""What the table reader asks of the readers of pieces and dice.

A reader knows one kind of piece. It gets a view of one surface and says what it sees there; where the surface is, what
covers it and which places look bare is found for it. docs/internals/readers.md tells how a reader is added.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, Self, TypeVar

from vision.frame import Image
from vision.geometry import CameraModel, Pose, Solid
from vision.layout.markers import MarkerLayout
from vision.layout.surfaces import Surface
from vision.reading import RollReading
from vision.surface.bent_paper import PaperShape


@dataclass(frozen=True, eq=False)
class SurfaceView:
    """One surface in one picture.

    ``image`` is the picture as the camera took it; ``pose`` the surface's in the camera's frame, the same object for
    as long as nothing moved, so that what depends on it can be kept. ``time_s`` is the frame's; ``markers`` are those
    that gave the pose, whose paper tells what white is; ``shape`` says how a sheet is bent, ``None`` for flat ones.
    """

    image: Image
    camera: CameraModel
    pose: Pose
    surface: Surface
    time_s: float = 0.0
    markers: MarkerLayout | None = None
    shape: PaperShape | None = None


@dataclass(frozen=True, eq=False)
class EnrolmentPicture:
    """One picture of a known position to learn from.

    ``position`` holds, by place, what stands there, as the reader's kind writes it; ``markers`` are those that gave the
    pose.
    """

    image: Image
    camera: CameraModel
    pose: Pose
    position: Mapping[str, Any]
    name: str = "the picture"
    markers: MarkerLayout | None = None


class Sighting(Protocol):
    """A piece as seen on a place."""

    @property
    def place(self) -> str:
        """The place it is on."""
        ...

    @property
    def solid(self) -> Solid | None:
        """What it hides; ``None`` for ink."""
        ...

    @property
    def log_odds(self) -> float:
        """Log-odds that it is there at all."""
        ...

    @property
    def is_clear(self) -> bool:
        """Whether it is seen so well that something beside it does not matter."""
        ...

    @property
    def sides(self) -> Mapping[str, Mapping[str, float]]:
        """What its sides show, by side, where it has any."""
        ...

    def look_probabilities(self) -> Mapping[str, float]:
        """The probability of each look, given that a piece is there; they sum to 1."""
        ...

    def with_log_odds(self, log_odds: float) -> Self:
        """The same sighting, more or less sure."""
        ...


SightingT = TypeVar("SightingT", bound=Sighting)


class PieceReader(Protocol[SightingT]):
    """Reads the pieces of one surface."""

    @property
    def looks(self) -> tuple[str, ...]:
        """All looks that a place can have, but for empty."""
        ...

    def read(
        self, view: SurfaceView, places: Collection[str], previous: Mapping[str, SightingT]
    ) -> Mapping[str, SightingT]:
        """Every piece that may be there, by place.

        Only ``places`` are looked at; the others are as in ``previous``, what an earlier frame from the same pose gave.
        """
        ...

    def draw(self, picture: Image, view: SurfaceView, sightings: Mapping[str, SightingT]) -> Image:
        """A copy of the picture with the sightings drawn on it, for a person to check."""
        ...


class RollReader(Protocol):
    """Reads the dice on one surface."""

    def read(self, view: SurfaceView, previous: RollReading | None) -> RollReading:
        """Every die in sight. ``previous`` is what the frame before gave, which tells which dice rest."""
        ...


class Appearance(Protocol):
    """What the pieces of one set look like, as taught."""

    @property
    def looks(self) -> tuple[str, ...]:
        """The looks of the pieces."""
        ...

    @property
    def traits(self) -> tuple[tuple[str, ...], ...]:
        """What tells its pieces apart, a row for each trait: colours, then symbols."""
        ...


AnyPieceReader = PieceReader[Any]
