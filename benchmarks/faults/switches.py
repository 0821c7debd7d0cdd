"""Switches under the virtual board: which are closed by the pieces above them, and their faults.

A switch closes while a piece stands near the centre of its square. It may flicker, be stuck closed or be dead, and its
cable may be disconnected for a while. Everything is drawn from a seed; times must be requested in rising order.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from simulator.scene.pieces import PiecePose, standing_on
from vision.layout.table import TableLayout

REACH_SHARE = 0.42
"""Maximum distance of a piece from a square's centre, in squares, that closes its switch."""


@dataclass(frozen=True)
class SwitchFaults:
    """Faults of the switches; none by default.

    ``flickers_per_minute`` is how often each switch reads wrongly for up to ``flicker_s`` seconds. ``stuck`` and
    ``dead`` map places to the time in seconds at which the fault begins; ``unplugged`` are (from, to) spans in seconds.
    """

    flickers_per_minute: float = 0.0
    flicker_s: float = 0.4
    stuck: Mapping[str, float] = field(default_factory=dict)
    dead: Mapping[str, float] = field(default_factory=dict)
    unplugged: tuple[tuple[float, float], ...] = ()

    def __post_init__(self) -> None:
        """Validate the faults."""
        if self.flickers_per_minute < 0 or not self.flicker_s > 0:
            raise ValueError(
                f"flickers_per_minute is {self.flickers_per_minute} and flicker_s {self.flicker_s}; "
                "expected 0 or more, and more than 0"
            )
        both = sorted(set(self.stuck) & set(self.dead))
        if both:
            raise ValueError(f"{', '.join(both)}: both stuck and dead; expected one of the two")


def draw_switch_faults(layout: TableLayout, rng: np.random.Generator, game_s: float) -> SwitchFaults:
    """Draw the faults of a bad board in one game of about ``game_s`` seconds.

    Half of the boards have a stuck or a dead switch from some moment on; the cable is disconnected once or twice.
    """
    places = layout.places
    broken = {places[int(rng.integers(len(places)))]: float(rng.uniform(0.0, game_s))} if rng.random() < 0.5 else {}
    is_stuck = rng.random() < 0.5
    spans = [float(rng.uniform(0.0, game_s)) for _ in range(int(rng.integers(1, 3)))]
    return SwitchFaults(
        flickers_per_minute=float(rng.uniform(0.02, 0.1)),
        stuck=broken if is_stuck else {},
        dead={} if is_stuck else broken,
        unplugged=tuple((begun_s, begun_s + float(rng.uniform(0.5, 6.0))) for begun_s in sorted(spans)),
    )


class VirtualSwitches:
    """One switch for each place; the same seed and the same times give the same readings."""

    def __init__(self, layout: TableLayout, seed: int, faults: SwitchFaults | None = None) -> None:
        self._layout = layout
        self._faults = faults or SwitchFaults()
        self._rngs = {place: np.random.default_rng([seed, 61, number]) for number, place in enumerate(layout.places)}
        self._flickers = {place: (self._gap_s(place), 0.0) for place in layout.places}

    def closed(self, pieces: Sequence[PiecePose], time_s: float) -> dict[str, bool] | None:
        """Return the switches that read closed at ``time_s`` under these pieces; ``None`` while the cable is out."""
        sensed = sensed_places(self._layout, pieces)
        read = {place: self._read(place, place in sensed, time_s) for place in self._rngs}
        if any(from_s <= time_s < to_s for from_s, to_s in self._faults.unplugged):
            return None
        return read

    def _read(self, place: str, sensed: bool, time_s: float) -> bool:
        flickering = self._flickering(place, time_s)
        if time_s >= self._faults.stuck.get(place, math.inf):
            return True
        if time_s >= self._faults.dead.get(place, math.inf):
            return False
        return sensed != flickering

    def _flickering(self, place: str, time_s: float) -> bool:
        begins_s, ends_s = self._flickers[place]
        while time_s >= begins_s:
            if ends_s <= begins_s:
                ends_s = begins_s + float(self._rngs[place].uniform(0.0, self._faults.flicker_s))
                self._flickers[place] = (begins_s, ends_s)
            if time_s < ends_s:
                return True
            begins_s = ends_s + self._gap_s(place)
            self._flickers[place] = (begins_s, 0.0)
        return False

    def _gap_s(self, place: str) -> float:
        per_minute = self._faults.flickers_per_minute
        return float(self._rngs[place].exponential(60.0 / per_minute)) if per_minute else math.inf


def sensed_places(layout: TableLayout, pieces: Sequence[PiecePose]) -> frozenset[str]:
    """Return the places whose switch a piece closes: it stands on the board, near enough to the square's centre."""
    reach_mm = REACH_SHARE * layout.board.cell_mm
    found = set()
    for piece in pieces:
        place = standing_on(layout, piece)
        if place is not None:
            x_mm, y_mm = layout.centre_mm(place)
            if math.hypot(piece.x_mm - x_mm, piece.y_mm - y_mm) <= reach_mm:
                found.add(place)
    return frozenset(found)
