from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from common.grid import PlaceGrid
from hardware.errors import MapFileError, SettingError
from hardware.lights.light_map import (
    LightMap,
    light_map_as_toml,
    light_map_from_toml,
    read_light_map,
    write_light_map,
)
from tests.hardware.strips import serpentine

GRID = PlaceGrid.of_squares(7, 7)
SQUARES = GRID.places


def test_a_strip_that_is_too_short_is_reported_with_both_lengths() -> None:
    light_map = serpentine(GRID, status=(49,))
    (problem,) = light_map.problems(strip_lights=40)
    assert "has 40 lights and the light map needs 50 (light 49 is the status light); connect the missing 10" in problem
    assert light_map.problems(strip_lights=50) == light_map.problems(strip_lights=300) == ()


def test_a_light_map_lists_all_its_problems_at_once() -> None:
    with pytest.raises(SettingError) as told:
        LightMap({"a1": (0, 1), "b1": (1,), "c1": (2, 2), "d1": (-1,), "e1": (10,)}, (0,), lights=10)
    for part in (
        "light 1 is used for place a1 and for place b1",
        "light 2 is twice for place c1",
        "light 0 is used for place a1 and for the status light",
        "place d1 has light -1",
        "place e1 has light 10, and a strip of 10 lights ends with light 9",
    ):
        assert part in str(told.value)


@pytest.mark.parametrize("lights", [0, -1, 1501])
def test_a_strip_of_impossible_length_is_refused(lights: int) -> None:
    with pytest.raises(SettingError, match=f"a strip of {lights} lights"):
        LightMap({}, lights=lights)


def test_an_unknown_place_is_reported_with_a_suggestion() -> None:
    light_map = LightMap({"c3": (0,), "C4": (1,)}, lights=2)
    assert light_map.problems(known_places=SQUARES) == (
        "the light map has a place 'C4' that this game does not have (did you mean 'c4'?); "
        "it has a7, b7, c7, d7, e7, f7, g7, …, g1",
    )
    assert "did you mean 'g7'?" in LightMap({"gg7": (0,)}, lights=1).problems(known_places=SQUARES)[0]
    assert light_map.problems() == ()


def test_the_shortest_strip_reaches_the_last_light_in_use() -> None:
    assert LightMap({"c3": (4, 5)}, (0,), lights=8).shortest_strip == 6
    assert LightMap({"c3": ()}, lights=8).shortest_strip == 0


@given(st.integers(1, 3), st.integers(0, 2), st.booleans())
def test_a_light_map_survives_writing_and_reading(each: int, skipped: int, with_status: bool) -> None:
    light_map = serpentine(GRID, each, skipped=skipped, status=(1000,) if with_status else ())
    assert light_map_from_toml(light_map_as_toml(light_map)) == light_map


def test_a_file_lists_places_in_the_order_of_the_strip() -> None:
    light_map = LightMap({"z9": (), "c3": (), "b2": (2, 3), "a1": (4,), "d4": (0,)}, (1,), lights=5)
    places = light_map_as_toml(light_map).partition("[places]\n")[2].split("\n")
    assert [line.partition(" = ")[0] for line in places if line] == ["d4", "b2", "a1", "c3", "z9"]


def test_unusual_place_names_survive_writing_and_reading() -> None:
    light_map = LightMap({'the "star"': (0,), "": (1,), "räng": ()}, lights=3)
    assert light_map_from_toml(light_map_as_toml(light_map)) == light_map


def test_a_light_map_file_is_written_and_read(tmp_path: Path) -> None:
    file = tmp_path / "lights.toml"
    light_map = serpentine(GRID, status=(49,), lights=60)
    write_light_map(light_map, file)
    write_light_map(light_map, file)
    assert read_light_map(file) == light_map
    assert list(tmp_path.iterdir()) == [file]


def test_a_file_that_is_missing_or_cannot_be_written_is_explained(tmp_path: Path) -> None:
    with pytest.raises(MapFileError, match=r"none\.toml can't be read \(No such file or directory\); map the lights"):
        read_light_map(tmp_path / "none.toml")
    light_map = LightMap({}, lights=1)
    with pytest.raises(MapFileError, match=r"can't be written to .*none/lights\.toml \(No such file"):
        write_light_map(light_map, tmp_path / "none" / "lights.toml")
    (tmp_path / "folder").mkdir()
    with pytest.raises(MapFileError, match="can't be written"):
        write_light_map(light_map, tmp_path / "folder")
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("lights = ", "this is not valid TOML"),
        ("lights = 3", "it has no places"),
        ("[places]\na1 = [0]", "how many lights the strip has"),
        ("lights = true\n[places]", "lights is True"),
        ("lights = 3\nstatus = [0.5]\n[places]", "status is [0.5]"),
        ("lights = 3\n[places]\na1 = 'x'", "a1 is 'x'"),
        ("lights = 3\nplaces = 4", "it has no places"),
        ("lights = 3\nlight = 4\n[places]", "'light' is unknown; a light map has lights, status, pin_map_crc, places"),
    ],
)
def test_an_invalid_light_map_is_refused_with_the_reason(tmp_path: Path, text: str, told: str) -> None:
    file = tmp_path / "lights.toml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(SettingError) as caught:
        read_light_map(file)
    assert told in str(caught.value)
    assert str(file) in str(caught.value)


def test_a_single_light_can_be_written_as_one_number(tmp_path: Path) -> None:
    assert light_map_from_toml("lights = 3\nstatus = 2\n[places]\na1 = 0").places == {"a1": (0,)}
    (tmp_path / "picture").write_bytes(b"\xff\xd8\xff")
    with pytest.raises(SettingError, match="is not text"):
        read_light_map(tmp_path / "picture")


def test_a_light_map_made_with_another_pin_map_is_reported() -> None:
    light_map = LightMap({"a1": (0,)}, lights=1, pin_map_crc=77)
    assert light_map.problems(strip_lights=1, pin_map_crc=77) == ()
    assert light_map.problems() == ()
    (problem,) = light_map.problems(strip_lights=1, pin_map_crc=78)
    assert problem.startswith("the board's pin map has changed since the lights were mapped")
    assert "delete the line pin_map_crc" in problem
    # A strip that hangs on no microcontroller has no pin map, and a map written by hand names none.
    assert LightMap({"a1": (0,)}, lights=1).problems(pin_map_crc=78) == ()


@pytest.mark.parametrize("pin_map_crc", [None, 0, 2**32 - 1])
def test_the_file_keeps_the_pin_map_it_was_made_with(pin_map_crc: int | None) -> None:
    light_map = LightMap({"a1": (0,)}, lights=1, pin_map_crc=pin_map_crc)
    assert light_map_from_toml(light_map_as_toml(light_map)) == light_map
    with pytest.raises(SettingError, match="pin_map_crc is 'x'; expected a whole number, or no such line"):
        light_map_from_toml("lights = 1\npin_map_crc = 'x'\n[places]\n")
