"""The answers of the program that reads sets of pictures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from benchmarks.parts.picture_sets import dice_seen, pieces_seen, tops_seen
from engine.registry import load
from vision.reading import DieReading, HindranceKind, PlaceReading, Reading, RollReading

DIABALLIK = load("diaballik")
START = DIABALLIK.table.appearance(DIABALLIK.rules.new())


def reading_of(unsure: Mapping[str, Mapping[str, float]]) -> Reading:
    """A plain view of Diaballik's start, apart from some unsure places."""
    places = {}
    for place, look in START.items():
        seen = unsure.get(place, {look: 1.0})
        places[place] = PlaceReading({one: 0.001 + seen.get(one, 0.0) for one in DIABALLIK.looks})
    return Reading(0, 0.0, places)


def places_of(player: int, reading: Reading) -> set[str]:
    return {piece["cell"] for piece in pieces_seen(reading) if piece["player"] == player}


def test_a_faint_piece_is_reported_if_it_completes_the_set() -> None:
    everywhere = places_of(1, reading_of({}))
    assert len(everywhere) == 7
    faint = sorted(everywhere)[0]
    look = START[faint]
    assert places_of(1, reading_of({faint: {look: 0.3, "empty": 0.7}, "c4": {look: 0.2, "empty": 0.8}})) == everywhere


def test_an_eighth_piece_is_left_out() -> None:
    plain = reading_of({})
    look = START[sorted(places_of(2, plain))[0]]
    assert places_of(2, reading_of({"d4": {look: 0.6, "empty": 0.4}})) == places_of(2, plain)


def test_a_piece_may_be_missing_for_each_hidden_place() -> None:
    plain = reading_of({})
    hidden = sorted(places_of(1, plain))[0]
    covered = {**plain.places, hidden: replace(plain.places[hidden], hidden_by=HindranceKind.HAND)}
    assert places_of(1, Reading(0, 0.0, covered)) == places_of(1, plain) - {hidden}


def test_each_player_has_one_ball() -> None:
    balls = [piece["player"] for piece in pieces_seen(reading_of({})) if piece["ball"]]
    assert sorted(balls) == [1, 2]
    assert pieces_seen(Reading(0, 0.0, {})) == []


def test_tops_are_given_by_size_and_colour_even_where_an_empty_place_is_likelier() -> None:
    places = {
        "a1": PlaceReading({"empty": 0.1, "yellow medium": 0.8, "black large": 0.1}),
        "a2": PlaceReading({"empty": 0.6, "yellow medium": 0.1, "black large": 0.3}),
    }
    assert tops_seen(Reading(0, 0.0, places)) == {"a1": "M:yellow", "a2": "L:black"}


def test_dice_are_given_by_colour() -> None:
    dice = (DieReading(0.0, 0.0, {"3": 0.9, "5": 0.1}, "red"), DieReading(9.0, 0.0, {"6": 1.0}))
    assert dice_seen(Reading(0, 0.0, {}, rolls=(RollReading("tray", dice),))) == {"red": 3}
