"""Readings: places, dice and hindrances."""

from dataclasses import replace
from typing import Any

import pytest

from vision.reading import (
    DieReading,
    Hindrance,
    HindranceKind,
    PlaceReading,
    Reading,
    RollReading,
    reading_to_json,
    uniform_reading,
)

DIE = DieReading(0.0, 0.0, {"1": 0.9, "2": 0.1})


@pytest.mark.parametrize(
    ("how", "why"),
    [
        ({"at_rest": False}, "moving"),
        ({"at_rest": False, "cocked": True}, "moving"),
        ({"cocked": True}, "leans"),
        ({"half_hidden": True}, "half hidden"),
        ({"half_hidden": True, "cocked": True}, "half hidden"),
    ],
)
def test_a_moving_cocked_or_half_hidden_die_is_not_settled_and_has_no_value(how: dict[str, Any], why: str) -> None:
    unsettled = replace(DIE, **how)
    assert DIE.is_settled
    assert not unsettled.is_settled
    dice = reading_to_json(Reading(0, 0.0, {}, rolls=(RollReading("tray", (DIE, unsettled)),)), "one.jpg")["rolls"]
    place = {"x_mm": 0.0, "y_mm": 0.0, "probability": 0.9}
    assert dice == {"tray": [{**place, "value": "1"}, {**place, "value": None, "why": why}]}


def test_a_place_shows_its_most_probable_look() -> None:
    assert PlaceReading({"empty": 0.2, "red": 0.7, "blue": 0.1}).best == ("red", 0.7)


def test_every_look_is_equally_probable_on_a_hidden_place() -> None:
    even = uniform_reading(("empty", "red", "blue", "green"), HindranceKind.HAND)
    assert dict(even.probabilities) == {"empty": 0.25, "red": 0.25, "blue": 0.25, "green": 0.25}
    assert even.hidden_by is HindranceKind.HAND
    assert not uniform_reading((), HindranceKind.HAND).probabilities


def test_hidden_places_and_the_first_hindrance_of_a_kind_are_named() -> None:
    seen = PlaceReading({"empty": 1.0})
    hand, other = (Hindrance(HindranceKind.HAND, said) for said in ("a hand", "another hand"))
    hidden = replace(seen, hidden_by=HindranceKind.HAND)
    reading = Reading(0, 0.0, {"a1": seen, "b1": hidden, "c1": hidden}, (hand, other))
    assert reading.hidden == ("b1", "c1")
    assert reading.hindered_by(HindranceKind.HAND) is hand
    assert reading.hindered_by(HindranceKind.GLARE) is None
