from __future__ import annotations

import random
from collections import defaultdict
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware_bridge.firmware.core.matrix import mark_ghosts
from hardware.inputs.switch_states import SwitchState, switch_states

Closed = frozenset[tuple[int, int]]


def flows(closed: Closed, row: int, column: int, *, diodes: bool) -> bool:
    """Whether current finds any way from a driven row to a column: the wires as they are, searched through.

    Nodes are ("r", number) and ("c", number); a closed switch joins its row and its column. A diode lets current pass
    from the column to the row only, so a driven (low) row draws from the columns that are switched to it.
    """
    seen, todo = {("r", row)}, [("r", row)]
    while todo:
        kind, number = todo.pop()
        for switch_row, switch_column in closed:
            if kind == "r" and switch_row == number:
                reached = ("c", switch_column)
            elif kind == "c" and switch_column == number and not diodes:
                reached = ("r", switch_row)
            else:
                continue
            if reached not in seen:
                seen.add(reached)
                todo.append(reached)
    return ("c", column) in seen


def read(closed: Closed, rows: int, columns: int, *, diodes: bool) -> tuple[tuple[bool, ...], ...]:
    return tuple(tuple(flows(closed, row, column, diodes=diodes) for column in range(columns)) for row in range(rows))


def all_sets(rows: int, columns: int) -> list[Closed]:
    places = list(product(range(rows), range(columns)))
    return [
        frozenset(place for place, chosen in zip(places, choice, strict=True) if chosen)
        for choice in product((False, True), repeat=len(places))
    ]


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (1, 5), (5, 1), (2, 2), (2, 4), (3, 3), (4, 2)])
def test_a_switch_is_certain_exactly_where_all_that_could_be_read_like_this_agree(rows: int, columns: int) -> None:
    by_reading: dict[tuple[tuple[bool, ...], ...], list[Closed]] = defaultdict(list)
    for closed in all_sets(rows, columns):
        by_reading[read(closed, rows, columns, diodes=False)].append(closed)
    for reading, possible in by_reading.items():
        states = switch_states(reading, diodes=False)
        for place, state in zip(product(range(rows), range(columns)), states, strict=True):
            answers = {place in closed for closed in possible}
            expected = {
                frozenset({True}): SwitchState.CLOSED,
                frozenset({False}): SwitchState.OPEN,
                frozenset({True, False}): SwitchState.DOUBTFUL,
            }[frozenset(answers)]
            assert state is expected, (reading, place)


places_8x8 = st.frozensets(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=40)


@given(places_8x8)
def test_without_diodes_nothing_certain_is_wrong_on_a_whole_board(closed: Closed) -> None:
    states = switch_states(read(closed, 8, 8, diodes=False), diodes=False)
    for place, state in zip(product(range(8), range(8)), states, strict=True):
        if state is not SwitchState.DOUBTFUL:
            assert (state is SwitchState.CLOSED) == (place in closed)


@given(places_8x8)
def test_with_diodes_all_is_certain_and_right(closed: Closed) -> None:
    states = switch_states(read(closed, 8, 8, diodes=True), diodes=True)
    expected = [place in closed for place in product(range(8), range(8))]
    assert [state is SwitchState.CLOSED for state in states] == expected
    assert SwitchState.DOUBTFUL not in states


@given(places_8x8, st.integers(1, 8), st.integers(1, 8))
def test_the_firmware_doubts_the_same_switches(closed: Closed, rows: int, columns: int) -> None:
    reading = read(
        frozenset((row, column) for row, column in closed if row < rows and column < columns), 8, 8, diodes=False
    )
    reading = tuple(row[:columns] for row in reading[:rows])
    masks = [sum(1 << column for column, is_closed in enumerate(row) if is_closed) for row in reading]
    ghosts = [0] * rows
    mark_ghosts(masks, rows, ghosts)
    states = switch_states(reading, diodes=False)
    doubtful = [state is SwitchState.DOUBTFUL for state in states]
    assert doubtful == [bool(ghosts[row] >> column & 1) for row in range(rows) for column in range(columns)]


def test_how_much_ten_pieces_leave_in_doubt_without_diodes() -> None:
    """The figure of docs/microcontroller.md, over 300 boards."""
    dice = random.Random(7)
    squares = list(product(range(7), range(7)))
    doubts = []
    for _ in range(300):
        reading = read(frozenset(dice.sample(squares, 10)), 7, 7, diodes=False)
        doubts.append(switch_states(reading, diodes=False).count(SwitchState.DOUBTFUL))
    assert min(doubts) > 0
    assert sum(doubts) / len(doubts) == pytest.approx(20, abs=2)


def test_three_corners_make_all_four_doubtful() -> None:
    closed = frozenset({(0, 0), (0, 1), (1, 0)})
    doubtful = [
        state is SwitchState.DOUBTFUL for state in switch_states(read(closed, 2, 3, diodes=False), diodes=False)
    ]
    assert doubtful == [True, True, False, True, True, False]


def test_a_scan_that_contradicts_itself_is_doubtful_where_it_does() -> None:
    torn = ((True, True), (True, False))
    assert switch_states(torn, diodes=False)[3] is SwitchState.DOUBTFUL
    assert switch_states(torn, diodes=True)[3] is SwitchState.OPEN


def test_no_switches_and_uneven_rows() -> None:
    assert switch_states((), diodes=False) == ()
    with pytest.raises(ValueError, match="expected equal ones"):
        switch_states(((True,), (True, False)), diodes=True)
