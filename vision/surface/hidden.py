"""Which places are hidden by what covers a surface."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from vision.geometry import Solid
from vision.layout.surfaces import GridSurface
from vision.reading import HindranceKind
from vision.surface.occlusion import Occlusion
from vision.surface.view import SurfaceSampler

Pixels = npt.NDArray[np.intp]


@dataclass(frozen=True)
class HiddenSettings:
    """How much of a place must be covered for it to be hidden; shares from 0 to 1, set by hand as those of
    ``OcclusionSettings`` were.
    """

    hidden_share: float = 0.1
    """Share of what a piece on a place would hide that may be covered before the place is hidden. Lower: more places
    are hidden.
    """
    hidden_square_share: float = 0.3
    """The same for the bare square."""
    seen_through_share: float = 0.35
    """The same for a place whose piece is seen well."""


class HiddenPlaces:
    """Knows which pixels of a view each place needs, bare and with a piece on it."""

    def __init__(
        self, surface: GridSurface, sampler: SurfaceSampler, settings: HiddenSettings = HiddenSettings()
    ) -> None:
        self._settings = settings
        self._surface = surface
        self._sampler = sampler
        self._needed: dict[str, tuple[Pixels, Pixels]] = {}

    def share(self, solid: Solid, occlusions: Sequence[Occlusion]) -> float:
        """How much of what a piece would hide of the board is covered, from 0 to 1."""
        if not occlusions:
            return 0.0
        mask = self._sampler.hidden_by(solid)
        covered = sum(float((occlusion.pixels & mask).sum()) for occlusion in occlusions)
        return covered / max(1.0, float(mask.sum()))

    def hidden(self, occlusions: Sequence[Occlusion], clear: Mapping[str, bool]) -> dict[str, HindranceKind]:
        """Hidden places and the kind of occlusion that hides each; ``clear`` marks places whose piece is seen well."""
        hidden: dict[str, HindranceKind] = {}
        for place in self._surface.places if occlusions else ():
            piece, square = self._pixels(place)
            seen = clear.get(place, False)
            for occlusion in occlusions:
                flat = occlusion.pixels.reshape(-1)
                over_piece = float(flat[piece].mean()) if len(piece) else 0.0
                over_square = float(flat[square].mean()) if len(square) else 0.0
                if over_piece > (self._settings.seen_through_share if seen else self._settings.hidden_share) or (
                    not seen and over_square > self._settings.hidden_square_share
                ):
                    hidden[place] = occlusion.kind
                    break
        return hidden

    def _pixels(self, place: str) -> tuple[Pixels, Pixels]:
        """Indices, into the flat view, of what a piece on the place hides and of the bare place."""
        if place not in self._needed:
            window, solid = self._sampler.window, self._surface.solid_at(place)
            outline = self._surface.outline_mm(place)
            column, row = window.to_pixels(outline[:, 0], outline[:, 1])
            left, right, top, bottom = column.min(), column.max(), row.min(), row.max()
            square = np.zeros(window.shape, dtype=np.bool_)
            square[max(0, round(top)) : round(bottom) + 1, max(0, round(left)) : round(right) + 1] = True
            hidden = square if solid is None else self._sampler.hidden_by(solid)
            self._needed[place] = (np.flatnonzero(hidden), np.flatnonzero(square))
        return self._needed[place]
