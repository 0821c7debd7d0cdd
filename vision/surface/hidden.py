"""Which places are hidden by what covers a surface, or lie outside the picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import cv2
import numpy as np
import numpy.typing as npt

from vision.frame import BoolImage
from vision.layout.surfaces import GridSurface
from vision.reading import HindranceKind
from vision.surface.occlusion import Occlusion
from vision.surface.view import SurfaceSampler


@dataclass(frozen=True)
class HiddenSettings:
    """Covered shares (0 to 1) above which a place is hidden, set by hand like ``OcclusionSettings``."""

    hidden_share: float = 0.1
    """Covered share of the area that a piece on the place would hide. Lower: more places are hidden."""
    hidden_square_share: float = 0.3
    """The same for the empty square."""
    seen_through_share: float = 0.35
    """The same for a place whose piece is clearly seen."""


_SETTINGS = HiddenSettings()


@dataclass(frozen=True, eq=False)
class _NeededArea:
    """The part of a view that a place needs: the inside of a convex outline, (n, 2) as (column, row)."""

    outline: npt.NDArray[np.int32]
    window: tuple[slice, slice]

    @classmethod
    def of(cls, outline: npt.NDArray[np.int32], shape: tuple[int, int]) -> _NeededArea:
        """Return the inside of an outline in a view of that shape."""
        left, top, width, height = cv2.boundingRect(outline)
        rows, columns = (
            slice(min(size, max(0, start)), min(size, max(0, start + length)))
            for start, length, size in ((top, height, shape[0]), (left, width, shape[1]))
        )
        return cls(outline, (rows, columns))

    @cached_property
    def inside(self) -> BoolImage:
        """Whether each of the window's pixels is inside."""
        rows, columns = self.window
        inside = np.zeros((rows.stop - rows.start, columns.stop - columns.start), dtype=np.uint8)
        if inside.size:
            cv2.fillConvexPoly(inside, self.outline - np.array([columns.start, rows.start], dtype=np.int32), 1)
        return np.asarray(inside > 0)

    def share(self, pixels: BoolImage) -> float:
        """Return the share (0 to 1) of it that is marked in a mask of the view."""
        marked = pixels[self.window]
        return float((marked & self.inside).sum()) / max(1.0, float(self.inside.sum())) if marked.any() else 0.0


class HiddenPlaces:
    """Finds hidden places by the pixels of a view that each place needs, empty and with a piece on it."""

    def __init__(self, surface: GridSurface, sampler: SurfaceSampler) -> None:
        self._surface = surface
        self._sampler = sampler

    def hidden(self, occlusions: Sequence[Occlusion], clear: Mapping[str, bool]) -> dict[str, HindranceKind]:
        """Return the hidden places and what hides each; ``clear`` marks places with a clearly seen piece."""
        hidden = dict.fromkeys(self._outside, HindranceKind.OUTSIDE_PICTURE)
        for place, (piece, square) in self._needed_areas.items() if occlusions else ():
            seen = clear.get(place, False)
            for occlusion in occlusions:
                most = _SETTINGS.seen_through_share if seen else _SETTINGS.hidden_share
                if piece.share(occlusion.pixels) > most or (
                    not seen and square.share(occlusion.pixels) > _SETTINGS.hidden_square_share
                ):
                    hidden[place] = occlusion.kind
                    break
        return hidden

    @cached_property
    def _outside(self) -> tuple[str, ...]:
        """The places that the picture does not show."""
        outside = self._sampler.outside
        return tuple(
            place
            for place, (piece, square) in (self._needed_areas.items() if outside.any() else ())
            if piece.share(outside) > _SETTINGS.seen_through_share
            or square.share(outside) > _SETTINGS.hidden_square_share
        )

    @cached_property
    def _needed_areas(self) -> dict[str, tuple[_NeededArea, _NeededArea]]:
        """The part of the view that a piece on each place hides, and that of the empty place."""
        window, places = self._sampler.window, self._surface.places
        outlines = np.array([self._surface.outline_mm(place) for place in places])
        corners = np.round(window.pixels_of(outlines)).astype(np.int32)
        squares = [_NeededArea.of(outline, window.shape) for outline in corners]
        solids = [solid for place in places if (solid := self._surface.solid_at(place)) is not None]
        pieces = [_NeededArea.of(outline, window.shape) for outline in self._sampler.hidden_outlines(solids)]
        return dict(zip(places, zip(pieces or squares, squares, strict=True), strict=True))
