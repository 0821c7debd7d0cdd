from __future__ import annotations

import random
from collections import defaultdict
from dataclasses import astuple
from itertools import pairwise, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware_bridge.firmware.core.sensors import mark_ghosts
from hardware.switches import (
    CHATTER_FLIPS,
    MIN_SCANS,
    SwitchDebouncer,
    SwitchSnapshot,
    SwitchState,
    switch_states,
)

OFF, ON, DOUBT = SwitchState.OPEN, SwitchState.CLOSED, SwitchState.DOUBTFUL
START_S = 10.0


def fed(states: list[SwitchState], *, step_s: float = 0.02, settle_s: float = 0.04) -> SwitchDebouncer:
    debouncer = SwitchDebouncer(1, settle_s=settle_s)
    for number, state in enumerate(states):
        debouncer.add_scan([state], START_S + number * step_s)
    return debouncer


def seen(debouncer: SwitchDebouncer, time_s: float) -> SwitchSnapshot:
    snapshot = debouncer.snapshot(time_s)
    assert snapshot is not None
    return snapshot


def test_no_snapshot_is_given_before_the_switch_has_settled() -> None:
    debouncer = SwitchDebouncer(1)
    for number, expected in enumerate([None, None, (True,)]):
        debouncer.add_scan([ON], START_S + 0.02 * number)
        snapshot = debouncer.snapshot(START_S + 0.02 * number)
        assert (snapshot and snapshot.closed) == expected
    assert seen(debouncer, START_S + 0.04).changes == ()


def test_a_change_is_reported_once_with_the_time_it_was_first_seen() -> None:
    debouncer = fed([OFF, OFF, OFF, ON, ON, ON, ON])
    snapshot = seen(debouncer, START_S + 0.12)
    assert snapshot.closed == (True,)
    assert [astuple(change) for change in snapshot.changes] == [(0, True, pytest.approx(START_S + 0.06))]
    assert seen(debouncer, START_S + 0.12).changes == ()


@pytest.mark.parametrize("bounce", [[ON], [ON, ON], [ON, OFF, ON], [DOUBT, ON], [ON, OFF, ON, OFF, ON, ON]])
def test_a_bounce_is_no_change(bounce: list[SwitchState]) -> None:
    snapshot = seen(fed([OFF, OFF, OFF, *bounce, OFF, OFF, OFF]), START_S + 1.0)
    assert snapshot.closed == (False,)
    assert snapshot.doubtful == (False,)
    assert snapshot.changes == ()


def test_slow_scans_must_agree_three_times_and_quick_ones_for_the_settle_time() -> None:
    assert seen(fed([OFF, OFF, OFF, ON, ON], step_s=0.5), START_S + 2.0).closed == (False,)
    assert seen(fed([OFF, OFF, OFF, ON, ON, ON], step_s=0.5), START_S + 2.5).closed == (True,)
    quick = fed([OFF] * 50 + [ON] * 39, step_s=0.001, settle_s=0.04)
    assert seen(quick, START_S + 0.089).closed == (False,)


def test_passing_doubt_is_a_change_only_if_the_switch_differs_afterwards() -> None:
    debouncer = fed([ON, ON, ON, DOUBT, DOUBT, DOUBT])
    doubt = seen(debouncer, START_S + 0.1)
    assert (doubt.closed, doubt.doubtful, doubt.changes) == ((False,), (True,), ())
    for number in range(3):
        debouncer.add_scan([ON], START_S + 0.2 + 0.02 * number)
    again = seen(debouncer, START_S + 0.24)
    assert (again.closed, again.doubtful, again.changes) == ((True,), (False,), ())
    for number, state in enumerate([DOUBT, DOUBT, DOUBT, OFF, OFF, OFF]):
        debouncer.add_scan([state], START_S + 0.3 + 0.02 * number)
    after = seen(debouncer, START_S + 0.4)
    assert (after.closed, after.doubtful) == ((False,), (False,))
    assert [(change.switch, change.closed) for change in after.changes] == [(0, False)]


def test_a_switch_that_chatters_is_doubtful_until_it_is_quiet() -> None:
    debouncer = fed([OFF, OFF, OFF] + [ON, OFF] * CHATTER_FLIPS)
    end_s = START_S + 0.02 * (2 + 2 * CHATTER_FLIPS)
    assert seen(debouncer, end_s).doubtful == (True,)
    for number in range(60):
        debouncer.add_scan([OFF], end_s + 0.02 * (number + 1))
    quiet = seen(debouncer, end_s + 1.2)
    assert (quiet.closed, quiet.doubtful, quiet.changes) == ((False,), (False,), ())


def test_a_switch_that_never_settles_is_doubtful_from_the_start() -> None:
    assert seen(fed([ON, OFF, ON, OFF]), START_S + 0.06).doubtful == (True,)


def test_changes_of_several_switches_come_in_order_of_time() -> None:
    debouncer = SwitchDebouncer(2)
    for number, states in enumerate([(ON, OFF)] * 3 + [(OFF, OFF)] + [(OFF, ON)] * 3):
        debouncer.add_scan(states, START_S + 0.02 * number)
    changes = seen(debouncer, START_S + 0.12).changes
    assert [(change.switch, change.closed) for change in changes] == [(0, False), (1, True)]
    assert changes[0].time_s < changes[1].time_s


def test_a_scan_of_the_wrong_size_and_a_negative_settle_time_are_refused() -> None:
    with pytest.raises(ValueError, match="a scan of 2 switches; expected 1"):
        SwitchDebouncer(1).add_scan([OFF, OFF], START_S)
    with pytest.raises(ValueError, match="expected seconds, 0 or more"):
        SwitchDebouncer(1, settle_s=-0.1)


scans = st.lists(st.tuples(st.sampled_from([OFF, ON, DOUBT]), st.integers(1, 60)), min_size=1, max_size=60)


@given(scans, st.integers(0, 80))
def test_the_debouncer_agrees_with_a_search_through_the_whole_record(
    steps: list[tuple[SwitchState, int]], settle_ms: int
) -> None:
    debouncer = SwitchDebouncer(1, settle_s=settle_ms / 1000)
    record: list[tuple[SwitchState, int]] = []
    now_ms = 0
    for state, pause_ms in steps:
        now_ms += pause_ms
        record.append((state, now_ms))
        debouncer.add_scan([state], now_ms / 1000)
    believed = None
    for end in range(len(record), 0, -1):
        start = end - 1
        while start > 0 and record[start - 1][0] is record[end - 1][0]:
            start -= 1
        if end - start >= MIN_SCANS and (record[end - 1][1] - record[start][1]) / 1000 >= settle_ms / 1000 - 1e-9:
            believed = record[end - 1][0]
            break
    flips = [time_ms for (before, _), (after, time_ms) in pairwise(record) if before is not after]
    chatters = len(flips) >= CHATTER_FLIPS and now_ms - flips[-CHATTER_FLIPS] <= 1000
    snapshot = debouncer.snapshot(now_ms / 1000)
    if snapshot is None:
        assert len(record) < MIN_SCANS or now_ms - record[0][1] < settle_ms + 1e-6
        return
    expected = DOUBT if believed is None or chatters else believed
    assert snapshot.closed == (expected is ON,)
    assert snapshot.doubtful == (expected is DOUBT,)


Closed = frozenset[tuple[int, int]]


def flows(closed: Closed, row: int, column: int, *, diodes: bool) -> bool:
    """Whether current can flow from a driven row to a column, by a search through the wires.

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
def test_a_switch_is_certain_if_and_only_if_all_sets_with_this_reading_agree(rows: int, columns: int) -> None:
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
def test_without_diodes_no_certain_switch_is_wrong(closed: Closed) -> None:
    states = switch_states(read(closed, 8, 8, diodes=False), diodes=False)
    for place, state in zip(product(range(8), range(8)), states, strict=True):
        if state is not SwitchState.DOUBTFUL:
            assert (state is SwitchState.CLOSED) == (place in closed)


@given(places_8x8)
def test_with_diodes_every_switch_is_certain_and_right(closed: Closed) -> None:
    states = switch_states(read(closed, 8, 8, diodes=True), diodes=True)
    expected = [place in closed for place in product(range(8), range(8))]
    assert [state is SwitchState.CLOSED for state in states] == expected
    assert SwitchState.DOUBTFUL not in states


@given(places_8x8, st.integers(1, 8), st.integers(1, 8))
def test_the_firmware_finds_the_same_switches_doubtful(closed: Closed, rows: int, columns: int) -> None:
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


def test_ten_pieces_leave_about_twenty_switches_doubtful_without_diodes() -> None:
    """The figure of docs/microcontroller.md, over 300 boards."""
    dice = random.Random(7)
    squares = list(product(range(7), range(7)))
    doubts = []
    for _ in range(300):
        reading = read(frozenset(dice.sample(squares, 10)), 7, 7, diodes=False)
        doubts.append(switch_states(reading, diodes=False).count(SwitchState.DOUBTFUL))
    assert min(doubts) > 0
    assert sum(doubts) / len(doubts) == pytest.approx(20, abs=2)


def test_three_closed_corners_of_a_rectangle_make_all_four_doubtful() -> None:
    closed = frozenset({(0, 0), (0, 1), (1, 0)})
    doubtful = [
        state is SwitchState.DOUBTFUL for state in switch_states(read(closed, 2, 3, diodes=False), diodes=False)
    ]
    assert doubtful == [True, True, False, True, True, False]


def test_without_diodes_an_impossible_scan_is_doubtful_where_it_contradicts_itself() -> None:
    torn = ((True, True), (True, False))
    assert switch_states(torn, diodes=False)[3] is SwitchState.DOUBTFUL
    assert switch_states(torn, diodes=True)[3] is SwitchState.OPEN


def test_no_switches_have_no_states_and_uneven_rows_are_refused() -> None:
    assert switch_states((), diodes=False) == ()
    with pytest.raises(ValueError, match="expected equal ones"):
        switch_states(((True,), (True, False)), diodes=True)
