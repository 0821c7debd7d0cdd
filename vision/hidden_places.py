"""Which places of a board a covering hides so much that they can't be read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from vision.board_view import BoardSampler
from vision.coverings import Covering
from vision.layout import TableLayout
from vision.solids import BlockSolid

HIDDEN_SHARE = 0.1
HIDDEN_SQUARE_SHARE = 0.3
SEEN_THROUGH_SHARE = 0.35

Pixels = npt.NDArray[np.intp]


class HiddenPlaces:
    """Knows which pixels of a board view each place needs, bare and with a block on it."""

    def __init__(self, layout: TableLayout, sampler: BoardSampler) -> None:
        self._layout = layout
        self._sampler = sampler
        self._needed: dict[str, tuple[Pixels, Pixels]] = {}

    def share(self, solid: BlockSolid, coverings: Sequence[Covering]) -> float:
        """How much of what a block would hide of the board is covered, from 0 to 1."""
        if not coverings:
            return 0.0
        mask = self._sampler.hidden_by(solid)
        covered = sum(float((covering.pixels & mask).sum()) for covering in coverings)
        return covered / max(1.0, float(mask.sum()))

    def hidden(self, coverings: Sequence[Covering], clear: Mapping[str, bool]) -> dict[str, str]:
        """Hidden places and the kind of covering that hides each; ``clear`` marks places whose block is seen well."""
        hidden: dict[str, str] = {}
        for place in self._layout.places if coverings else ():
            block, square = self._pixels(place)
            seen = clear.get(place, False)
            for covering in coverings:
                flat = covering.pixels.reshape(-1)
                over_block = float(flat[block].mean()) if len(block) else 0.0
                over_square = float(flat[square].mean()) if len(square) else 0.0
                if over_block > (SEEN_THROUGH_SHARE if seen else HIDDEN_SHARE) or (
                    not seen and over_square > HIDDEN_SQUARE_SHARE
                ):
                    hidden[place] = covering.kind
                    break
        return hidden

    def _pixels(self, place: str) -> tuple[Pixels, Pixels]:
        """Indices, into the flat view, of what a block on the place hides and of the bare place."""
        if place not in self._needed:
            layout, window = self._layout, self._sampler.window
            x, y = layout.centre_mm(place)
            solid = BlockSolid(x, y, layout.board_top_mm, layout.block_side_mm)
            half = layout.cell_mm / 2
            left, top = window.to_pixels(x - half, y + half)
            right, bottom = window.to_pixels(x + half, y - half)
            square = np.zeros(window.shape, dtype=np.bool_)
            square[max(0, round(top)) : round(bottom) + 1, max(0, round(left)) : round(right) + 1] = True
            self._needed[place] = (np.flatnonzero(self._sampler.hidden_by(solid)), np.flatnonzero(square))
        return self._needed[place]
