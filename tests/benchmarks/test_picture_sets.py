"""What the program that answers sets of pictures says of Blockade."""

from __future__ import annotations

from benchmarks.parts.picture_sets import dice_seen, tops_seen
from vision.reading import DieReading, PlaceReading, Reading, RollReading


def test_tops_are_told_by_size_and_colour_even_where_bare_board_is_likelier() -> None:
    places = {
        "a1": PlaceReading({"empty": 0.1, "yellow medium": 0.8, "black large": 0.1}),
        "a2": PlaceReading({"empty": 0.6, "yellow medium": 0.1, "black large": 0.3}),
    }
    assert tops_seen(Reading(0, 0.0, places)) == {"a1": "M:yellow", "a2": "L:black"}


def test_dice_are_told_by_their_colours() -> None:
    dice = (DieReading(0.0, 0.0, {"3": 0.9, "5": 0.1}, "red"), DieReading(9.0, 0.0, {"6": 1.0}))
    assert dice_seen(Reading(0, 0.0, {}, rolls=(RollReading("tray", dice),))) == {"red": 3}
