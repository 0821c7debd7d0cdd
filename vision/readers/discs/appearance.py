"""The appearance of a set of discs and balls: each player's two colours relative to white paper, and its file.

A colour is the log of linear light over that of the markers' white paper in the same light: blue against green, red
against green, and brightness. So it hardly depends on lamp, exposure or white balance.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np

from vision.errors import EnrolmentError
from vision.frame import FloatArray, FloatImage
from vision.readers.enrolment import finite_vector, read_looks, write_looks

APPEARANCE_FORMAT = "tabletop-referee discs 1"
DARK_FLOOR = 0.012
"""Linear light, relative to white paper, added before logarithms are taken: below it a camera only records noise."""


def look_name(player: str, ball: bool) -> str:
    """Return the look of a piece, as written everywhere: ``black piece with ball``."""
    return f"{player} piece{' with ball' if ball else ''}"


_MIX = np.array([[1.0, -1.0, 0.0], [0.0, -1.0, 1.0], [1 / 3, 1 / 3, 1 / 3]], dtype=np.float32)
"""Weights of the logarithms of blue, green and red in the three terms of a colour."""
_UNMIX = np.linalg.inv(_MIX.astype(np.float64))


def colours_of(light: FloatImage, paper: FloatArray) -> FloatImage:
    """Return colours, (rows, columns, 3), float32, of linear light of that shape, blue-green-red, relative to paper's
    (3,).
    """
    shares = cv2.transform(light, np.column_stack([np.diag(1 / paper), np.full(3, DARK_FLOOR)]))
    return np.asarray(cv2.transform(cv2.log(shares, shares), _MIX), dtype=np.float32)


def shares_of(colour: FloatArray) -> FloatArray:
    """Return linear light relative to paper, blue-green-red, of a colour (3,), including ``DARK_FLOOR``."""
    return np.asarray(np.exp(_UNMIX @ colour), dtype=np.float64)


def colour_of_shares(shares: FloatArray) -> FloatArray:
    """Return colours, shape (..., 3), of linear light relative to paper, including ``DARK_FLOOR``."""
    return np.asarray(np.log(shares) @ _MIX.T.astype(np.float64), dtype=np.float64)


@dataclass(frozen=True, eq=False)
class DiscColours:
    """The colours of one player's discs and ball, shape (3,) each."""

    disc: FloatArray
    ball: FloatArray


@dataclass(frozen=True, eq=False)
class DiscAppearance:
    """A piece set: each player's colours, first player first. Empty for a set that was not enrolled."""

    players: Mapping[str, DiscColours]

    @property
    def looks(self) -> tuple[str, ...]:
        """Each player's piece without and with a ball."""
        return tuple(look_name(player, ball) for player in self.players for ball in (False, True))

    @property
    def traits(self) -> tuple[tuple[str, ...], ...]:
        """The traits that distinguish its pieces: the player, and the ball."""
        return tuple(self.players), ("no ball", "ball")


def save_appearance(looks: DiscAppearance, path: Path) -> None:
    """Write an appearance to a file, atomically; raises OSError."""
    players = {
        player: {name: [round(float(value), 4) for value in getattr(colours, name)] for name in ("disc", "ball")}
        for player, colours in looks.players.items()
    }
    write_looks(path, APPEARANCE_FORMAT, {"players": players})


def load_appearance(path: Path) -> DiscAppearance:
    """Read an appearance from a file; raises EnrolmentError with what is wrong."""
    data = read_looks(path, APPEARANCE_FORMAT)
    try:
        return DiscAppearance(
            {
                str(player): DiscColours(finite_vector(colours["disc"], 3), finite_vector(colours["ball"], 3))
                for player, colours in data["players"].items()
            }
        )
    except (KeyError, TypeError, ValueError, OverflowError, AttributeError) as wrong:
        raise EnrolmentError("these looks cannot be read ({wrong}): enrol the piece set again", wrong) from wrong
