from types import SimpleNamespace

import pytest

from engine.errors import OptionError, UnknownGameError
from engine.options import options_in_force, read_options
from engine.registry import games, load
from engine.values import Option

OPTIONS = (
    Option("count", 4, "How many.", (1, 2, 4)),
    Option("free", 7, "Any number."),
    Option("fast", False, "Whether."),
    Option("name", "a", "Which.", ("a", "b")),
)


def test_options_without_values_have_their_defaults():
    assert read_options(OPTIONS, None) == {"count": 4, "free": 7, "fast": False, "name": "a"}


@pytest.mark.parametrize(
    ("name", "value", "read"),
    [
        ("count", "2", 2),
        ("count", 1, 1),
        ("free", "-3", -3),
        ("fast", "TRUE", True),
        ("fast", "off", False),
        ("fast", True, True),
        ("name", " b ", "b"),
    ],
)
def test_options_are_read_from_values_and_texts(name, value, read):
    got = read_options(OPTIONS, {name: value})[name]
    assert got == read
    assert type(got) is type(read)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("count", 3, "takes one of 1, 2, 4"),
        ("count", "many", "whole number"),
        ("count", True, "whole number"),
        ("count", "--3", "whole number"),
        ("free", "9" * 5000, "whole number"),
        ("fast", "maybe", "true or false"),
        ("name", "c", "takes one of a, b"),
        ("fats", True, "did you mean 'fast'"),
        ("zzz", True, "there are count, free, fast, name"),
    ],
)
def test_an_invalid_option_is_refused_with_the_allowed_values(name, value, message):
    with pytest.raises(OptionError, match=message):
        read_options(OPTIONS, {name: value})


def test_every_registered_game_is_loaded_by_its_name():
    assert games() == tuple(sorted(games()))
    assert [load(name).name for name in games()] == list(games())
    assert load(" Deblockle ").name == "deblockle"


@pytest.mark.parametrize(
    ("name", "message"), [("deblokle", "did you mean 'deblockle'"), ("chess", "there are: .*deblockle")]
)
def test_an_unknown_game_is_refused_with_the_known_ones(name, message):
    with pytest.raises(UnknownGameError, match=message):
        load(name)


def test_the_options_in_force_are_fields_of_the_state_or_of_its_options():
    fields = SimpleNamespace(count=2, free=7, fast=True, name="a")
    for state in (fields, SimpleNamespace(options=fields)):
        assert options_in_force(OPTIONS, state) == {"count": "2", "free": "7", "fast": "true", "name": "a"}
