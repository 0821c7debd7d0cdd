"""Objects on filled sheets: the counts, and the drawn sheets."""

import numpy as np
import pytest

from benchmarks.objects import Tally, add_sheet, filled
from common.places import EMPTY
from vision.layout.pieces import GridSurface
from vision.layout.table import default_layout
from vision.reading import HindranceKind, PlaceReading, Reading, uniform_reading

SHEET = default_layout("blokus-dice").board
LOOKS = (EMPTY, "red", "blue", "yellow", "green")
BARE = dict.fromkeys(SHEET.places, EMPTY)


def reading(**differing: PlaceReading) -> Reading:
    """A reading of an empty sheet with other readings on some places of p1."""
    others = {f"p1.{name}": one for name, one in differing.items()}
    return Reading(0, 0.0, {place: PlaceReading({EMPTY: 1.0}) for place in SHEET.places} | others, ())


@pytest.mark.parametrize(
    ("seen", "expected"),
    [
        (reading(), Tally(sheets=1)),
        (reading(c3=PlaceReading({"red": 0.97, EMPTY: 0.03})), Tally(sheets=1, wrong=1)),
        (reading(c3=PlaceReading({"red": 0.6, EMPTY: 0.4})), Tally(sheets=1)),
        (reading(c3=uniform_reading(LOOKS, HindranceKind.OBJECT)), Tally(sheets=1, covered=1)),
        (Reading(0, 0.0, {}), Tally(sheets=1, hidden=1)),
        (
            Reading(0, 0.0, dict.fromkeys(BARE, uniform_reading(LOOKS, HindranceKind.NOT_LOCATED))),
            Tally(sheets=1, hidden=1),
        ),
    ],
)
def test_only_confident_misreadings_of_visible_cells_are_wrong(seen: Reading, expected: Tally) -> None:
    tally = Tally()
    add_sheet(SHEET, BARE, seen, tally)
    assert tally == expected


@pytest.mark.parametrize("seed", range(6))
def test_a_sheet_is_at_most_half_filled_but_for_its_last_shape(seed: int) -> None:
    assert isinstance(SHEET, GridSurface)
    looks = filled(SHEET, np.random.default_rng(seed))
    assert set(looks.values()) <= {"red", "blue", "yellow", "green"}
    assert len(looks) <= len(SHEET.places) / 2 + 4
