"""Assigning lights and switches to squares."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.errors import ConfigError
from referee.mapping.dialogue import AssignmentBySquare, AssignmentBySwitch, LightAssignment, saved_map_sentence
from referee.wiring.plan import SensorMap, load_sensor_map, save_sensor_map

PLACES = tuple(f"{column}{row}" for row in (1, 2) for column in "abc")


def test_lights_are_assigned_one_by_one() -> None:
    walk = LightAssignment(5, PLACES)
    assert "Light 0 of 0 to 4" in walk.prompt
    assert walk.answer("A1") == ""
    assert walk.answer(" ") == ""
    assert walk.answer("status") == ""
    assert walk.answer("a1") == "a1 has lights 0 and 3 now."
    assert (walk.answer("b"), walk.light) == ("", 3)
    assert walk.answer("c9") == "There is no square 'c9'; squares run from a1 to c2."
    assert walk.answer("c2") == ""
    assert walk.answer("f") == ""
    assert walk.light is None
    assert walk.places_of_lights() == ({"a1": (0,), "c2": (3,)}, (2,))
    assert walk.summary() == ("2 lights under 2 squares; 1 light as the status light; no light under b1, c1, a2, b2.")


def test_the_assignment_ends_after_the_last_light_and_cannot_go_back_from_the_first() -> None:
    walk = LightAssignment(1, PLACES)
    assert walk.answer("b") == "This is the first light."
    walk.answer("b1")
    assert walk.light is None
    assert "Every light has been shown" in walk.answer("b2")


def test_the_switch_that_closes_is_assigned_to_the_square() -> None:
    walk = AssignmentBySquare(6, PLACES)
    assert walk.prompt == "Put a piece on a1."
    assert walk.process_closings([4]) == "a1 is switch 4."
    assert ("already" in walk.process_closings([4]), walk.place) == (True, "b1")
    assert "closed at once" in walk.process_closings([0, 1])
    assert walk.answer("") == "b1 has no switch."
    assert walk.process_closings([0]) == "c1 is switch 0."
    assert (walk.answer("b"), walk.place) == ("", "c1")
    assert walk.process_closings([5]) == "c1 is switch 5."
    assert "is not possible" in walk.answer("what?")
    walk.answer("f")
    assert (walk.place, walk.process_closings([1])) == (None, "")
    assert walk.found == {"a1": 4, "c1": 5}
    assert "2 of 6 squares" in walk.summary()
    assert "0, 1, 2, 3" in walk.summary()


def test_going_back_returns_to_a_skipped_square_and_then_undoes_an_assignment() -> None:
    walk = AssignmentBySquare(6, PLACES)
    assert walk.answer("b") == "This is the first square."
    walk.process_closings([0])
    walk.answer("skip")
    walk.answer("b")
    walk.answer("b")
    assert (walk.place, walk.found) == ("a1", {})


def test_a_person_names_the_square_of_each_switch() -> None:
    walk = AssignmentBySwitch(6, PLACES)
    assert "No switch has closed yet" in walk.answer("a1")
    assert walk.process_closings([3]) == ""
    assert walk.prompt == "Switch 3 closed: which square? "
    assert "Switch 4 closed as well" in walk.process_closings([4])
    assert "no square 'a9'" in walk.answer("a9")
    assert walk.answer("b2") == "b2 is switch 3."
    assert "under b2 already" in walk.process_closings([3])
    walk.process_closings([5])
    assert "b2 has switch 3 already" in walk.answer("b2")
    assert walk.answer("") == "Switch 5 is left out."
    assert walk.answer("b") == "b2 is forgotten."
    assert walk.answer("b") == "No square is known yet."
    assert "at once" in walk.process_closings([1, 2])
    walk.answer("f")
    assert walk.finished


@given(
    st.dictionaries(
        st.sampled_from(PLACES) | st.text(st.characters(codec="utf-8"), min_size=1, max_size=5),
        st.integers(0, 60),
        max_size=6,
    ).filter(lambda places: len(set(places.values())) == len(places)),
    st.none() | st.integers(0, 2**32 - 1),
)
def test_a_sensor_map_round_trips(
    tmp_path_factory: pytest.TempPathFactory, places: dict[str, int], crc: int | None
) -> None:
    path = tmp_path_factory.mktemp("maps") / "sensors.toml"
    written = SensorMap(places, 61, crc)
    save_sensor_map(written, path)
    assert load_sensor_map(path) == written


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("switches = 4\n[places]\na1 = 0\nb1 = 0\n", "switch 0 is under a1 and under b1"),
        ("switches = 4\n[places]\na1 = 4\n", "a1 has switch 4; there are switches 0 to 3"),
        ("switches = 0\n[places]\n", "0 switches; expected 1 to 1024"),
        ("switches = 4\n", "it has no places"),
        ("[places]\na1 = 0\n", "switches is .none.; expected how many"),
        ("switches = 4\n[places]\na1 = [0]\n", r"a1 is \[0\]; expected the number"),
        ("swiches = 4\npin_map_crc = 'x'\n[places]\n", r"'swiches' is unknown.*; switches is .*; pin_map_crc is \"x\""),
        ("switches", "is not valid TOML"),
    ],
)
def test_an_invalid_sensor_map_is_refused_with_the_reason(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "sensors.toml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=message) as caught:
        load_sensor_map(path)
    assert str(path) in str(caught.value)


def test_an_unreadable_or_unwritable_sensor_map_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"can't be read \(No such file.*./run hardware sensors map"):
        load_sensor_map(tmp_path / "none.toml")
    with pytest.raises(ConfigError, match="choose another file"):
        save_sensor_map(SensorMap({}, 1), tmp_path / "nowhere" / "sensors.toml")


def test_a_sensor_map_is_checked_against_the_board() -> None:
    sensor_map = SensorMap({"a1": 0, "b2": 5}, 6, 77)
    assert sensor_map.problems(known_places=PLACES, switches=6, pin_map_crc=77) == ()
    (shorter,) = sensor_map.problems(switches=5)
    assert "there are 5 switches and the sensor map was made for 6: b2 would have none" in shorter
    (other,) = sensor_map.problems(pin_map_crc=78)
    assert "has changed since the sensors were mapped" in other
    (unknown,) = sensor_map.problems(known_places=("a1", "b1"))
    assert "squares that this game does not have: b2" in unknown
    assert SensorMap({"a1": 0}, 6).problems(pin_map_crc=78) == ()


def test_the_path_of_a_map_and_its_setting_are_named(tmp_path: Path) -> None:
    path, setting = tmp_path / "sensors.toml", 'map = "sensors.toml" under [sensors]'
    for named in (None, tmp_path / "other.toml"):
        said = saved_map_sentence("sensor map", path, named, setting)
        assert said == f"The sensor map is in {path}; {setting} uses it."
    said = saved_map_sentence("sensor map", path, tmp_path / "folder" / ".." / "sensors.toml", setting)
    assert said == f"The sensor map is in {path}, which the settings name already."
