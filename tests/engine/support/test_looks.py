"""Looks parsed from text, and a game's table of looks."""

import pytest

from engine.errors import UnreadableError
from engine.support.looks import Look, LookTable
from tests.present import present

TABLE = LookTable({("red", 1): "red disc", ("blue", 2): "blue disc, x up"}, ("a1", "b1"))


@pytest.mark.parametrize(
    ("name", "look"),
    [
        ("teal block, x up", Look("teal", "block", "x")),
        ("red pebble", Look("red", "pebble")),
        ("red", Look("red")),
        ("black piece with ball", Look("black", "piece with ball")),
    ],
)
def test_a_look_round_trips(name, look):
    assert Look.parse(name) == look
    assert look.name == name


def test_an_empty_place_shows_no_look():
    assert Look.parse("empty") is None
    assert present(Look.parse("teal block, x up")).piece == "teal block"


def test_a_table_of_looks_reads_its_looks():
    assert TABLE.names == ("empty", "red disc", "blue disc, x up")
    assert TABLE.read("a1", "empty") is None
    assert TABLE.read_all({"a1": "blue disc, x up", "b1": "empty"}) == {"a1": ("blue", 2)}


def test_an_unknown_place_or_look_is_refused():
    with pytest.raises(UnreadableError, match="there is no square 'c1'; squares run from a1 to b1"):
        TABLE.read("c1", "empty")
    with pytest.raises(UnreadableError, match="a1 shows 'pink'; expected one of empty, red disc, blue disc, x up"):
        TABLE.read_all({"a1": "pink"})
    told = LookTable({1: "red disc"}, ("a1",), "a disc")
    with pytest.raises(UnreadableError, match="a1 shows 'pink'; expected a disc"):
        told.read("a1", "pink")
