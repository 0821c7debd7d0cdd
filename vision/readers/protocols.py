"""The interfaces between the table reader and the readers of pieces and dice.

A reader reads one kind of piece. It gets a view of one surface and returns what it sees there. The table reader locates
the surface and finds what covers it and which places look empty. docs/internals/readers.md explains how to add a
reader.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Protocol, TypeVar

from vision.clarity import Clarity
from vision.frame import Image
from vision.geometry import CameraModel, Pose, Solid
from vision.layout.pieces import MarkerLayout, Surface
from vision.reading import PlacePicture, RollReading
from vision.surface.paper import PaperShape


@dataclass(frozen=True, eq=False)
class SurfaceView:
    """One surface in one picture.

    ``image`` is the picture as the camera took it, but without haze; ``clarity`` is that of the whole picture, haze
    and all. ``pose`` is the surface's pose in the camera's frame; it stays the same object while nothing moves, so that
    results that depend on it can be cached. ``time_s`` is the frame's time. ``markers`` are those that gave the pose;
    their paper serves as a white reference. ``shape`` is the shape of a bent sheet, ``None`` for flat surfaces.
    """

    image: Image
    camera: CameraModel
    pose: Pose
    surface: Surface
    time_s: float = 0.0
    markers: MarkerLayout | None = None
    shape: PaperShape | None = None
    clarity: Clarity | None = None


@dataclass(frozen=True, eq=False)
class EnrolmentPicture:
    """One picture of a known position to learn from.

    ``position`` maps places to what stands there, in the format of the reader's kind; ``markers`` are those that gave
    the pose.
    """

    image: Image
    camera: CameraModel
    pose: Pose
    position: Mapping[str, Any]
    name: str = "the picture"
    markers: MarkerLayout | None = None


class Sighting(Protocol):
    """What was detected on a place: a piece, or ink."""

    @property
    def solid(self) -> Solid | None:
        """Its body, which hides things behind it; ``None`` for ink."""

    @property
    def log_odds(self) -> float:
        """Log-odds that it is there."""

    @property
    def is_clear(self) -> bool:
        """Whether it is seen so well that an occlusion beside it does not matter."""


class PieceSighting(Sighting, Protocol):
    """A piece, or a stack of pieces, detected on a place."""

    @property
    def sides(self) -> Mapping[str, Mapping[str, float]]:
        """Probabilities of the symbols on its visible sides, by side; empty for pieces without side symbols."""

    @property
    def heights(self) -> Mapping[int, float]:
        """The probability of each number of stacked pieces, given the most probable look; empty if unknown."""

    @property
    def tops_mm(self) -> Mapping[int, tuple[float, float]]:
        """Where (x, y) on the surface the top piece stands, by the number of pieces in all; empty if unknown."""

    @property
    def picture(self) -> PlacePicture | None:
        """What it looks like, for comparing it with a later look; ``None`` for readers that keep no picture."""

    def look_probabilities(self) -> Mapping[str, float]:
        """Return the probability of each look, given that a piece is there; they sum to 1."""


NOTHING: Mapping[Any, Any] = MappingProxyType({})
"""For sightings without sides, heights or tops."""


SightingT = TypeVar("SightingT", bound=Sighting)


class PieceReader(Protocol[SightingT]):
    """Reads the pieces of one surface."""

    @property
    def looks(self) -> tuple[str, ...]:
        """All looks that a place can have, except empty."""

    def read(
        self, view: SurfaceView, places: Collection[str], previous: Mapping[str, SightingT]
    ) -> Mapping[str, SightingT]:
        """Detect the pieces, by place.

        Only ``places`` are examined; the others are copied from ``previous``, the result of an earlier frame from the
        same pose.
        """

    def draw(self, picture: Image, view: SurfaceView, sightings: Mapping[str, SightingT]) -> Image:
        """Return a copy of the picture with the sightings drawn on it, for a person to check."""


class RollReader(Protocol):
    """Reads the dice on one surface."""

    def read(self, view: SurfaceView, previous: RollReading | None) -> RollReading:
        """Read every visible die. ``previous`` is the last frame's result, by which dice at rest are recognised."""


class LearnedLook(Protocol):
    """The learned appearance of one set of pieces."""

    @property
    def looks(self) -> tuple[str, ...]:
        """The looks of the pieces."""

    @property
    def traits(self) -> tuple[tuple[str, ...], ...]:
        """The traits that distinguish its pieces, one row per trait: colours, then symbols."""


AnyPieceReader = PieceReader[Any]
