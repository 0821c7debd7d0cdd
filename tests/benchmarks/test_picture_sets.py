"""The answers of the program that reads sets of pictures."""

from collections.abc import Callable

import pytest

from benchmarks.parts.picture_sets import dice_seen, tops_seen
from benchmarks.parts.sheet_films import sheet_film
from vision.frame import Frame, Image
from vision.locating.markers import Marker, MarkerDetector
from vision.readers.registry import table_reader
from vision.reading import DieReading, PlaceReading, Reading, RollReading


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
