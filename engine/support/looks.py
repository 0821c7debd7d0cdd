"""Parsing the names of looks, and mapping looks to a game's pieces."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from common.phrases import Phrase
from engine.errors import UnreadableError
from engine.values import EMPTY, Appearance, LookName, Place

PieceT = TypeVar("PieceT", bound=Hashable)


@dataclass(frozen=True)
class Look:
    """The parts of a look's name: ``teal block, x up`` is teal, a block, and shows an x. Missing parts are empty.

    >>> Look.parse("teal block, x up")
    Look(colour='teal', shape='block', mark='x')
    >>> Look("red", "pebble").name
    'red pebble'
    """

    colour: str
    shape: str = ""
    mark: str = ""

    @classmethod
    def parse(cls, name: LookName) -> Look | None:
        """Parse a look; ``None`` for an empty place."""
        if name == EMPTY:
            return None
        piece, _, mark = name.partition(",")
        colour, _, shape = piece.strip().partition(" ")
        return cls(colour, shape.strip(), mark.removesuffix("up").strip())

    @property
    def piece(self) -> str:
        """The piece without its mark: ``teal block``."""
        return f"{self.colour} {self.shape}".strip()

    @property
    def name(self) -> LookName:
        """The look's name."""
        return f"{self.piece}, {self.mark} up" if self.mark else self.piece


@dataclass(frozen=True)
class LookTable(Generic[PieceT]):
    """Maps a game's pieces to their looks, on a board of ``places``.

    ``expected`` describes valid looks in error messages; without it they list all looks.
    """

    look_of: Mapping[PieceT, LookName]
    places: Sequence[Place]
    expected: str = ""
    _pieces: Mapping[LookName, PieceT] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_pieces", {look: piece for piece, look in self.look_of.items()})

    @property
    def names(self) -> tuple[LookName, ...]:
        """Every look, that of an empty place first."""
        return (EMPTY, *self.look_of.values())

    def read(self, place: Place, look: LookName) -> PieceT | None:
        """Return the piece for a look, ``None`` if empty; raises UnreadableError for an unknown place or look."""
        if place not in self.places:
            raise UnreadableError(
                Phrase(
                    "there is no square {place!r}; squares run from {first} to {last}",
                    place,
                    self.places[0],
                    self.places[-1],
                )
            )
        if look == EMPTY:
            return None
        if look not in self._pieces:
            expected = self.expected or Phrase("one of {looks}", self._listed)
            raise UnreadableError(Phrase("{place} shows {look!r}; expected {expected}", place, look, expected))
        return self._pieces[look]

    def read_all(self, appearance: Appearance) -> dict[Place, PieceT]:
        """Return the piece of each occupied place; raises UnreadableError as ``read`` does."""
        read = {place: self.read(place, look) for place, look in appearance.items()}
        return {place: piece for place, piece in read.items() if piece is not None}

    @property
    def _listed(self) -> str:
        return ", ".join(self.names)
