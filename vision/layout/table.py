"""A table's layout and its JSON file.

The file is in the world frame of ``vision.geometry``: ``board`` (cols, rows, cell, top_z), ``markers`` (dictionary,
side of the black square, z, centres by id, ids clockwise from the far left, each marker's top edge towards +y) and
what stands on it (``block``: side and net). Unknown keys are left alone.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from common.json_files import read_json_object
from vision.errors import LayoutError
from vision.frame import FloatArray
from vision.geometry import Side

NET_SIDES = ("up", "down", *Side)


@dataclass(frozen=True)
class MarkerLayout:
    """The fiducial markers: dictionary name, side of the black square, height, centre (x, y) of each id."""

    dictionary: str
    side_mm: float
    z_mm: float
    centres_mm: Mapping[int, tuple[float, float]]

    def corners_mm(self, marker_id: int) -> FloatArray:
        """Corners of one marker, shape (4, 3), in ArUco's order: far left, far right, near right, near left."""
        x, y = self.centres_mm[marker_id]
        half = self.side_mm / 2
        return np.array(
            [
                [x - half, y + half, self.z_mm],
                [x + half, y + half, self.z_mm],
                [x + half, y - half, self.z_mm],
                [x - half, y - half, self.z_mm],
            ],
            dtype=np.float64,
        )


@dataclass(frozen=True)
class TableLayout:
    """The measured table. ``net`` maps NET_SIDES to symbols; empty when no blocks are used."""

    game: str
    columns: int
    rows: int
    cell_mm: float
    board_top_mm: float
    markers: MarkerLayout
    star_places: tuple[str, ...] = ()
    block_side_mm: float = 0.0
    net: Mapping[str, str] = field(default_factory=dict)

    @property
    def places(self) -> tuple[str, ...]:
        """Every square, a1 first, column by column within a row: a1 b1 ... g1 a2 ..."""
        return tuple(f"{chr(ord('a') + column)}{row + 1}" for row in range(self.rows) for column in range(self.columns))

    def centre_mm(self, place: str) -> tuple[float, float]:
        """The (x, y) of a square's centre; raises LayoutError for a place that is not on the board."""
        column = ord(place[:1] or " ") - ord("a")
        row = int(place[1:]) - 1 if place[1:].isdecimal() else -1
        if not (0 <= column < self.columns and 0 <= row < self.rows):
            last = f"{chr(ord('a') + self.columns - 1)}{self.rows}"
            raise LayoutError(f"no square {place!r} on this board; squares run from a1 to {last}")
        return (
            (column - (self.columns - 1) / 2) * self.cell_mm,
            (row - (self.rows - 1) / 2) * self.cell_mm,
        )

    def place_at(self, x_mm: float, y_mm: float) -> str | None:
        """The square that a point of the board's plane lies on, ``None`` beside the board."""
        column = round(x_mm / self.cell_mm + (self.columns - 1) / 2)
        return self._place(column, round(y_mm / self.cell_mm + (self.rows - 1) / 2))

    def neighbour(self, place: str, columns: int, rows: int) -> str | None:
        """The square so many columns to the right and rows away from the first player, ``None`` off the board."""
        return self._place(ord(place[0]) - ord("a") + columns, int(place[1:]) - 1 + rows)

    def _place(self, column: int, row: int) -> str | None:
        if not (0 <= column < self.columns and 0 <= row < self.rows):
            return None
        return f"{chr(ord('a') + column)}{row + 1}"


def _check_markers(markers: MarkerLayout) -> None:
    placed = sorted(markers.centres_mm.items())
    for number, (marker_id, (x, y)) in enumerate(placed):
        if not (math.isfinite(x) and math.isfinite(y)):
            raise LayoutError(f"marker {marker_id} stands at ({x}, {y}); expected millimetres")
        for other_id, (other_x, other_y) in placed[number + 1 :]:
            if max(abs(x - other_x), abs(y - other_y)) < markers.side_mm:
                raise LayoutError(
                    f"markers {marker_id} and {other_id} lie on each other: their centres are less than a marker's "
                    f"side ({markers.side_mm:g} mm) apart"
                )


def _positive(value: object, what: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < math.inf:
        raise LayoutError(f"{what} is {value!r}; expected a length in millimetres above zero")
    return float(value)


def layout_from_json(data: Mapping[str, Any]) -> TableLayout:
    """Make a layout from a file's parsed JSON; raises LayoutError that names the key and what it needs."""
    try:
        board, markers = data["board"], data["markers"]
        if len({int(key) for key in markers["centres"]}) < len(markers["centres"]):
            raise LayoutError("markers.centres names an id twice")
        centres = {int(key): (float(x), float(y)) for key, (x, y) in markers["centres"].items()}
        block = data.get("block") or {}
        layout = TableLayout(
            game=str(data.get("game", "")),
            columns=int(board["cols"]),
            rows=int(board["rows"]),
            cell_mm=_positive(board["cell"], "board.cell"),
            board_top_mm=float(board.get("top_z", 0.0)),
            markers=MarkerLayout(
                dictionary=str(markers["dictionary"]),
                side_mm=_positive(markers["side"], "markers.side"),
                z_mm=float(markers.get("z", 0.0)),
                centres_mm=centres,
            ),
            star_places=tuple(data.get("star_spaces", ())),
            block_side_mm=_positive(block["side"], "block.side") if block else 0.0,
            net=dict(block.get("net", {})),
        )
    except LayoutError:
        raise
    except KeyError as missing:
        raise LayoutError(f"the layout has no key {missing}; see docs/set-up.md for a whole one") from None
    except (TypeError, ValueError, AttributeError) as wrong:
        raise LayoutError(f"the layout does not make sense: {wrong}") from None
    if layout.columns < 1 or layout.rows < 1:
        raise LayoutError(f"the board has {layout.columns} x {layout.rows} squares; expected at least 1 x 1")
    if not centres:
        raise LayoutError("the layout names no marker; at least one is needed, four are best")
    _check_markers(layout.markers)
    for place in layout.star_places:
        layout.centre_mm(place)
    if layout.net and set(layout.net) != set(NET_SIDES):
        raise LayoutError(f"block.net has {sorted(layout.net)}; expected {', '.join(NET_SIDES)}")
    return layout


def games_with_layouts() -> tuple[str, ...]:
    """Name the games that a layout comes with, in alphabetical order."""
    entries = resources.files("vision.layout").joinpath("games").iterdir()
    return tuple(sorted(entry.name.removesuffix(".json") for entry in entries if entry.name.endswith(".json")))


def default_layout(game: str) -> TableLayout:
    """Give the layout that comes with a game; raises LayoutError for a game without one."""
    known = games_with_layouts()
    if game not in known:
        raise LayoutError(f"no layout comes with the game {game!r}; there is one for {', '.join(known)}")
    source = resources.files("vision.layout").joinpath("games", f"{game}.json")
    return layout_from_json(json.loads(source.read_text(encoding="utf-8")))


def load_layout(path: Path) -> TableLayout:
    """Read a layout file; raises LayoutError when it is missing, is not JSON or does not make sense."""
    return layout_from_json(read_json_object(path, "the layout", LayoutError))
