"""The answers of the program that reads sets of pictures."""

from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest

from benchmarks.handwriting import right_in, sheets, taught_by
from benchmarks.parts.picture_sets import dice_seen, pieces_seen, tops_seen
from benchmarks.parts.sheet_films import sheet_film
from engine.registry import load
from vision.frame import Frame, Image
from vision.locating.markers import Marker, MarkerDetector
from vision.readers.ink.network import InkNetwork, shipped
from vision.readers.registry import table_reader
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


# Tables with sheets for the benchmark of frames, and how often the reader searches them.

SIZE = (1280, 720)


def test_one_more_cell_is_written_in_each_picture_and_markers_are_searched_for_once_for_all_sheets(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    searched: list[str] = []

    def counted(method: str) -> Callable[[MarkerDetector, Image], tuple[Marker, ...]]:
        find: Callable[[MarkerDetector, Image], tuple[Marker, ...]] = getattr(MarkerDetector, method)

        def find_and_count(self: MarkerDetector, image: Image) -> tuple[Marker, ...]:
            searched.append(method)
            return find(self, image)

        return find_and_count

    for method in ("halved", "quick", "plain"):
        monkeypatch.setattr(MarkerDetector, method, counted(method))
    monkeypatch.setattr("benchmarks.parts.sheet_films.SHOTS", 1)
    film = sheet_film("blokus-dice", 2, SIZE, seed=3)
    (shot,) = film.shots
    reader = table_reader(shot.camera, film.layout, shot.looks)
    written = []
    for number, picture in enumerate(shot.pictures[:3]):
        reading = reader.read(Frame(picture, number / 15, number, "film"))
        written.append(sum(one.best[0] != "empty" for one in reading.places.values()))
    assert searched == ["quick"], "the other methods show no more of them"
    assert written == [80, 81, 82]


# Teaching a handwriting improves reading it.


def test_a_taught_sheet_is_read_better_than_before() -> None:
    written = list(sheets([7, 1], 0.15, 2))
    taught = taught_by(written)
    (before, total, sure), (after, same, surer) = (
        right_in(network, written) for network in (shipped(), InkNetwork(taught=taught))
    )
    assert total == same == len(taught.signs)
    assert after >= before
    assert surer > sure
