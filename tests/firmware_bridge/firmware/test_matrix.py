"""A matrix without diodes, against every way the switches could be and every way the current could go."""

from __future__ import annotations

import itertools
from collections import defaultdict
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware_bridge.firmware.core.debounce import CHATTERING_MS
from firmware_bridge.firmware.core.sensors import MOST_CHANGES, SwitchBank, mark_ghosts
from firmware_bridge.protocol.codec import decode_message
from firmware_bridge.protocol.packets import Kind

SETTLE_MS = 20


def reads_closed(closed, row, column, rows, columns, diodes):
    """Whether current finds a path from the row that is driven to the column: depth first over closed contacts."""
    if diodes:
        return (row, column) in closed
    seen, ends = set(), [("row", row)]
    while ends:
        end = ends.pop()
        if end in seen:
            continue
        seen.add(end)
        if end[0] == "row":
            ends += [("column", c) for c in range(columns) if (end[1], c) in closed]
        else:
            ends += [("row", r) for r in range(rows) if (r, end[1]) in closed]
    return ("column", column) in seen


def reading(closed, rows, columns, diodes=False):
    """What a scan reads: a mask for each row."""
    return tuple(
        sum(1 << column for column in range(columns) if reads_closed(closed, row, column, rows, columns, diodes))
        for row in range(rows)
    )


@pytest.mark.parametrize(("rows", "columns"), [(1, 4), (2, 2), (2, 4), (3, 3), (4, 2)])
def test_a_switch_is_a_ghost_exactly_if_another_table_reads_the_same_without_it(rows, columns):
    places = list(itertools.product(range(rows), range(columns)))
    tables = defaultdict(list)
    for bits in range(1 << len(places)):
        closed = frozenset(place for index, place in enumerate(places) if bits >> index & 1)
        tables[reading(closed, rows, columns)].append(closed)
    for masks, possible in tables.items():
        ghosts = [0] * rows
        mark_ghosts(list(masks), rows, ghosts)
        surely = frozenset.intersection(*possible)
        for row, column in places:
            reads = bool(masks[row] >> column & 1)
            assert bool(ghosts[row] >> column & 1) == (reads and (row, column) not in surely)


def test_three_corners_close_the_fourth():
    masks = reading({(0, 0), (0, 2), (3, 0)}, 4, 3)
    assert masks == (0b101, 0, 0, 0b101)
    ghosts = [9] * 4
    mark_ghosts(list(masks), 4, ghosts)
    assert ghosts == [0b101, 0, 0, 0b101]


def rest(bank, masks, now, ms=60):
    """Scan the same for a while."""
    for _ in range(ms):
        bank.masks[:] = masks
        bank.update(now, SETTLE_MS)
        now += 1
    return now


def report(bank, now):
    """The bank's report as the host reads it."""
    target = bytearray(1200)
    length = bank.write_report(target, now & 0xFFFFFFFF, now)
    return decode_message(Kind.SENSORS, bytes(target[:length]))


@given(st.sets(st.tuples(st.integers(0, 3), st.integers(0, 4))), st.booleans(), st.integers(0, 7))
def test_a_bank_at_rest_tells_what_is_sure_and_what_is_not(closed, diodes, singles):
    bank = SwitchBank(4, 5, diodes, 3)
    now = rest(bank, [*reading(closed, 4, 5, diodes), singles], 1000)
    told = report(bank, now)
    assert told.changes == ()
    for row, column in itertools.product(range(4), range(5)):
        switch = row * 5 + column
        if not told.doubtful[switch]:
            assert told.closed[switch] == ((row, column) in closed)
        else:
            assert not told.closed[switch]
            assert not diodes
    assert told.closed[20:] == tuple(bool(singles >> bit & 1) for bit in range(3))
    assert not any(told.doubtful[20:])


@given(st.integers(0, 1 << 32), st.booleans())
def test_snapshots_and_changes_tell_the_same_story(seed, diodes):
    """Pieces come and go, contacts chatter: a host that only follows the changes knows what the snapshots say."""
    rng = Random(seed)
    bank = SwitchBank(3, 3, diodes, 2)
    now = rest(bank, [0, 0, 0, 0], 0)
    followed = list(report(bank, now).closed)
    closed: set[tuple[int, int]] = set()
    for _ in range(12):
        closed ^= {(rng.randrange(3), rng.randrange(3))}
        single = rng.randrange(4)
        settled = [*reading(closed, 3, 3, diodes), single]
        for _ in range(rng.randrange(12)):
            now = rest(bank, [mask & rng.randrange(8) for mask in settled], now, 1)
        now = rest(bank, settled, now, rng.choice([5, 30, 300]))
        told = report(bank, now)
        for change in told.changes:
            assert followed[change.switch] != change.closed
            assert 0 <= change.before_ms <= now
            followed[change.switch] = change.closed
        for switch, doubtful in enumerate(told.doubtful):
            assert doubtful or followed[switch] == told.closed[switch]


def test_a_switch_that_was_sure_and_turns_out_the_same_after_doubt_has_not_changed():
    bank = SwitchBank(2, 2, False, 0)
    now = rest(bank, list(reading({(0, 0), (0, 1)}, 2, 2)), 0)
    assert report(bank, now).closed == (True, True, False, False)
    now = rest(bank, list(reading({(0, 0), (0, 1), (1, 0)}, 2, 2)), now)
    told = report(bank, now)
    assert told.doubtful == (True,) * 4
    assert told.changes == ()
    now = rest(bank, list(reading({(0, 0), (1, 0)}, 2, 2)), now)
    told = report(bank, now)
    assert told.closed == (True, False, True, False)
    assert [(change.switch, change.closed) for change in told.changes] == [(1, False), (2, True)]


def test_no_corner_is_ever_called_closed_while_the_ghosts_settle():
    """The fourth corner reads closed through the others, with contacts that chatter: it is never told as closed."""
    for seed in range(60):
        rng = Random(seed)
        bank = SwitchBank(2, 2, False, 0)
        now = rest(bank, list(reading({(0, 0), (0, 1)}, 2, 2)), 0)
        report(bank, now)
        for _ in range(rng.randrange(30)):
            touching = {(1, 0)} if rng.random() < 0.5 else set()
            now = rest(bank, list(reading({(0, 0), (0, 1)} | touching, 2, 2)), now, 1)
            told = report(bank, now)
            assert not told.closed[3]
            assert not any(change.closed for change in told.changes)
        for _ in range(100):
            now = rest(bank, list(reading({(0, 0), (0, 1), (1, 0)}, 2, 2)), now, 1)
            told = report(bank, now)
            assert not told.closed[3]
            assert not any(change.closed for change in told.changes)


def test_a_corner_that_has_not_come_to_rest_leaves_the_others_in_doubt():
    """Rows are scanned one after the other, so a corner may be read as open in one scan and closed in the next."""
    bank = SwitchBank(2, 2, False, 0)
    now = rest(bank, [0b11, 0b10], 0)
    assert report(bank, now).closed == (True, True, False, True)
    for scan in range(40):
        now = rest(bank, [0b11, 0b11 if scan % 2 else 0b10], now, 1)
        assert report(bank, now).doubtful == ((True,) * 4 if scan else (False,) * 4)
    now = rest(bank, [0b11, 0b10], now)
    assert report(bank, now).closed == (True, True, False, True)


@pytest.mark.parametrize("closed", [True, False])
def test_a_switch_that_chatters_for_long_is_in_doubt_until_it_rests(closed):
    bank = SwitchBank(1, 2, True, 1)
    before = 0b10 if closed else 0
    now = moved = rest(bank, [before, 1], 0)
    while now <= moved + CHATTERING_MS + 100:
        bank.masks[:] = [before ^ (now - moved + 1) % 2 * 0b10, 1]
        bank.update(now, SETTLE_MS)
        told = report(bank, now)
        is_long = now - moved >= CHATTERING_MS
        assert told.doubtful == (False, is_long, False)
        assert told.closed == (False, closed and not is_long, True)
        assert told.changes == ()
        now += 1
    now = rest(bank, [before, 1], now)
    assert report(bank, now).closed == (False, closed, True)
    assert not any(report(bank, now).doubtful)


def test_more_changes_than_fit_are_counted_and_the_snapshot_is_right():
    bank = SwitchBank(16, 4, True, 0)
    now = rest(bank, [0] * 16, 0)
    report(bank, now)
    now = rest(bank, [15] * 16, now)
    assert bank.changes_lost
    told = report(bank, now)
    assert len(told.changes) == MOST_CHANGES
    assert all(told.closed)
    assert not bank.changes_lost


def test_the_largest_bank_fits_into_what_the_device_sends(make_bench):
    bench = make_bench(
        {"matrix": {"rows": list(range(16)), "columns": list(range(16, 32)), "diodes": True}, "switches": [32, 33, 34]}
    )
    assert bench.pins.switches == 259
    assert bench.pins.faults == []
    bench.run_until(100)
    bench.board.masks = [0xFFFF] * 16 + [7]
    bench.run_until(200)
    target = bytearray(256)
    assert bench.device.switches.write_report(target, 0, 200) <= len(target)
    assert report(bench.device.switches, 200).closed[258]
