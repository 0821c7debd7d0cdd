"""Squares as bits, compared with plain columns and rows."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.support.grid import DIAGONAL, KING, ORTHOGONAL, Grid, members, set_of, union

GRIDS = st.builds(Grid, st.integers(1, 9), st.integers(1, 14))


@st.composite
def grids_with_squares(draw):
    grid = draw(GRIDS)
    return grid, draw(st.integers(0, grid.every))


def stepped(grid, squares, offsets):
    found = set()
    for square in squares:
        column, row = square % grid.columns, square // grid.columns
        for across, up in offsets:
            if 0 <= column + across < grid.columns and 0 <= row + up < grid.rows:
                found.add((row + up) * grid.columns + column + across)
    return found


def test_names_run_along_the_first_row():
    grid = Grid(3, 2)
    assert grid.names == ("a1", "b1", "c1", "a2", "b2", "c2")
    assert [grid.index[name] for name in grid.names] == list(range(6))
    assert (grid.column_of(4), grid.row_of(4)) == (1, 1)


@given(grids_with_squares())
def test_sets_of_squares_step_like_columns_and_rows(case):
    grid, squares = case
    listed = set(members(squares))
    assert set(members(grid.adjacent_to(squares))) == stepped(grid, listed, ORTHOGONAL)
    assert set(members(grid.diagonal_to(squares))) == stepped(grid, listed, DIAGONAL)
    assert set(members(grid.around(squares))) == stepped(grid, listed, KING)


@given(GRIDS)
def test_neighbours_are_the_first_squares_of_rays(grid):
    for offsets in (ORTHOGONAL, DIAGONAL, KING):
        rays = grid.rays(offsets)
        for square, near in enumerate(grid.neighbours(offsets)):
            assert set(members(near)) == {ray[0] for ray in rays[square] if ray} == stepped(grid, [square], offsets)


def test_a_ray_ends_at_the_edge():
    grid = Grid(5, 4)
    assert [grid.names[square] for square in grid.ray(grid.index["b2"], (1, 1))] == ["c3", "d4"]
    assert grid.ray(grid.index["e1"], (1, 0)) == ()


@given(st.sets(st.integers(0, 200)))
def test_members_and_set_of_are_inverse(squares):
    assert list(members(set_of(squares))) == sorted(squares)


@given(st.lists(st.sets(st.integers(0, 200))))
def test_a_union_has_the_members_of_every_set(sets):
    assert list(members(union(map(set_of, sets)))) == sorted(set().union(*sets))


def test_squares_are_found_by_name():
    grid = Grid(3, 2)
    assert grid.names_of(grid.squares_named(["c2", "a1", "c2"])) == ("a1", "c2")
    with pytest.raises(KeyError):
        grid.squares_named(["d1"])


@pytest.mark.parametrize("offsets", [ORTHOGONAL, DIAGONAL, KING])
def test_every_step_has_its_opposite(offsets):
    assert {(-across, -up) for across, up in offsets} == set(offsets)
