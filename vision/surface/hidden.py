"""Which places are hidden by what covers a surface."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from vision.frame import BoolImage
from vision.geometry import Solid
from vision.layout.surfaces import GridSurface
from vision.reading import HindranceKind
from vision.surface.occlusion import Occlusion
from vision.surface.view import SurfaceSampler


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


@dataclass(frozen=True, eq=False)
class _Needed:
    """Part of a view that a place needs: a window of it, and which of the window's pixels count."""

    window: tuple[slice, slice]
    inside: BoolImage
    count: int

    @classmethod
    def of(cls, outline: npt.NDArray[np.int32], shape: tuple[int, int]) -> _Needed:
        """What lies inside a convex outline, (n, 2) as (column, row), of a view of that shape."""
        left, top = np.clip(outline.min(axis=0), 0, (shape[1], shape[0]))
        right, bottom = np.clip(outline.max(axis=0) + 1, 0, (shape[1], shape[0]))
        inside = np.zeros((max(0, bottom - top), max(0, right - left)), dtype=np.uint8)
        if inside.size:
            cv2.fillConvexPoly(inside, outline - np.array([left, top], dtype=np.int32), 1)
        return cls((slice(top, bottom), slice(left, right)), np.asarray(inside > 0), int(inside.sum()))

    def share(self, pixels: BoolImage) -> float:
        """The share of it that is marked in a mask of the view, from 0 to 1."""
        return float((pixels[self.window] & self.inside).sum()) / max(1, self.count)


class HiddenPlaces:
    """Knows which pixels of a view each place needs, bare and with a piece on it."""

    def __init__(
        self, surface: GridSurface, sampler: SurfaceSampler, settings: HiddenSettings = HiddenSettings()
    ) -> None:
        self._settings = settings
        self._surface = surface
        self._sampler = sampler
        self._needed: dict[str, tuple[_Needed, _Needed]] = {}

    def share(self, solid: Solid, occlusions: Sequence[Occlusion]) -> float:
        """How much of what a piece would hide of the board is covered, from 0 to 1."""
        if not occlusions:
            return 0.0
        needed = _Needed.of(self._sampler.hidden_outline(solid), self._sampler.window.shape)
        return sum(needed.share(occlusion.pixels) for occlusion in occlusions)

    def hidden(self, occlusions: Sequence[Occlusion], clear: Mapping[str, bool]) -> dict[str, HindranceKind]:
        """Hidden places and the kind of occlusion that hides each; ``clear`` marks places whose piece is seen well."""
        hidden: dict[str, HindranceKind] = {}
        for place in self._surface.places if occlusions else ():
            piece, square = self._pixels(place)
            seen = clear.get(place, False)
            for occlusion in occlusions:
                most = self._settings.seen_through_share if seen else self._settings.hidden_share
                if piece.share(occlusion.pixels) > most or (
                    not seen and square.share(occlusion.pixels) > self._settings.hidden_square_share
                ):
                    hidden[place] = occlusion.kind
                    break
        return hidden

    def _pixels(self, place: str) -> tuple[_Needed, _Needed]:
        """What a piece on the place hides of the view, and the bare place."""
        if place not in self._needed:
            window, solid = self._sampler.window, self._surface.solid_at(place)
            outline = self._surface.outline_mm(place)
            corners = np.round(np.column_stack(window.to_pixels(outline[:, 0], outline[:, 1]))).astype(np.int32)
            square = _Needed.of(corners, window.shape)
            piece = square if solid is None else _Needed.of(self._sampler.hidden_outline(solid), window.shape)
            self._needed[place] = (piece, square)
        return self._needed[place]
