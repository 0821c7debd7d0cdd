from __future__ import annotations

from itertools import product
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.microcontroller.board import MOST_BOUNCE_S, Contact, columns_read

CELLS = st.sets(st.tuples(st.integers(0, 4), st.integers(0, 4)))


@given(st.integers(0, 10_000), st.lists(st.booleans(), min_size=1, max_size=6))
def test_a_contact_settles_at_the_level_it_was_moved_to(seed: int, moves: list[bool]) -> None:
    contact = Contact(Random(seed))
    for number, closed in enumerate(moves):
        contact.move(closed, number * 1.0)
        assert (contact.settles_s or 0.0) <= number + MOST_BOUNCE_S
        assert contact.is_closed(number + MOST_BOUNCE_S) is closed
        assert contact.settles_s is None


@given(st.integers(0, 10_000))
def test_a_contact_moved_while_it_bounces_settles_at_the_last_level(seed: int) -> None:
    contact = Contact(Random(seed))
    contact.move(True, 0.0)
    contact.move(False, MOST_BOUNCE_S / 3)
    assert not contact.is_closed(1.0)


def test_contacts_bounce_unless_they_are_ideal() -> None:
    def edges(bounce_s: float) -> int:
        contact = Contact(Random(4), bounce_s)
        contact.move(True, 0.0)
        levels = [contact.is_closed(microseconds / 1e6) for microseconds in range(8000)]
        return sum(one != other for one, other in zip([False, *levels], levels, strict=False))

    assert edges(MOST_BOUNCE_S) > 1
    assert edges(0.0) == 1


@given(CELLS)
def test_with_diodes_a_row_reads_its_own_contacts(closed: set[tuple[int, int]]) -> None:
    for row in range(5):
        assert columns_read(row, closed, diodes=True) == {column for at, column in closed if at == row}


@given(CELLS)
def test_without_diodes_a_column_reads_closed_when_a_path_leads_there(closed: set[tuple[int, int]]) -> None:
    # Warshall's transitive closure over rows and columns as nodes of one graph: plain, slow, written apart.
    nodes = [("row", number) for number in range(5)] + [("column", number) for number in range(5)]
    path = {(one, one) for one in nodes}
    path |= {(("row", row), ("column", column)) for row, column in closed}
    path |= {(two, one) for one, two in path}
    for middle, one, two in product(nodes, nodes, nodes):
        if (one, middle) in path and (middle, two) in path:
            path.add((one, two))
    for row in range(5):
        expected = {column for column in range(5) if (("row", row), ("column", column)) in path}
        assert columns_read(row, closed, diodes=False) == expected


@pytest.mark.parametrize("missing", list(product((0, 1), (0, 1))))
def test_three_corners_close_the_fourth(missing: tuple[int, int]) -> None:
    corners = set(product((0, 1), (0, 1))) - {missing}
    row, column = missing
    assert column in columns_read(row, corners, diodes=False)
    assert column not in columns_read(row, corners, diodes=True)
