"""Pieces gone paired with pieces come."""

from engine.support.breaches import pairs
from engine.support.grid import Grid

GRID = Grid(5, 5)


def way(start, end):
    return (sum(GRID.apart(start, end)),)


def squares(names):
    return [GRID.index[name] for name in names.split()]


def named(gone, come, unlikeliness=way):
    return [(GRID.names[a], GRID.names[b]) for a, b in pairs(squares(gone), squares(come), unlikeliness)]


def test_the_nearest_are_paired_first():
    assert named("a1 e5", "a2 e4") == [("a1", "a2"), ("e5", "e4")]
    assert named("a1 a3", "a4") == [("a3", "a4")]


def test_of_equally_near_ones_the_lowest_come_first():
    assert named("a1", "b1 a2") == [("a1", "b1")]


def test_what_is_likelier_goes_before_what_is_nearer():
    liked = {(GRID.index["a1"], GRID.index["a5"])}
    assert named("a1", "a2 a5", lambda start, end: ((start, end) not in liked, *way(start, end))) == [("a1", "a5")]


def test_nothing_gone_or_come_makes_no_pair():
    assert named("", "a1") == named("a1", "") == []
