"""Contacts that bounce: no press twice, none missed, and switches only when they rest."""

from __future__ import annotations

import itertools
from collections import defaultdict
from random import Random

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.debounce import (
    ROCKER,
    TRACES,
    WORN,
    operations,
    play_button,
    play_switch,
    random_chatter,
    recorded_chatter,
)
from benchmarks.debounce import main as measure
from firmware_bridge.firmware.core.debounce import (
    CHATTERING_MS,
    MIN_SCANS,
    ButtonDebouncer,
    SwitchDebouncer,
)
from firmware_bridge.firmware.core.sensors import SwitchBank, mark_ghosts
from firmware_bridge.firmware.core.ticks import TICKS_MASK, DeviceClock, elapsed_ms
from firmware_bridge.protocol.messages import BoardState, decode_packet, encode_packet

SETTLE_MS = 20

levels = st.lists(st.tuples(st.booleans(), st.integers(1, 40)), min_size=1, max_size=60)
starts = st.sampled_from([0, 1000, TICKS_MASK - 60, TICKS_MASK])


def scan(debouncer, spans, start, settle_ms=SETTLE_MS):
    """Scan each ms; give when it was pressed (True) and released."""
    told = []
    now = start
    for closed, length in spans:
        for _ in range(length):
            was_down = debouncer.is_down
            is_press = debouncer.update(closed, now & TICKS_MASK, settle_ms)
            if now > start and debouncer.is_down != was_down:
                told.append((now - start, debouncer.is_down))
            assert is_press is (told[-1:] == [(now - start, True)])
            now += 1
    return told


@given(levels, starts)
def test_presses_and_releases_take_turns_whatever_the_contact_does(spans, start):
    told = [what for _, what in scan(ButtonDebouncer(), [(False, 3), *spans], start)]
    assert told == [True, False] * (len(told) // 2) + [True] * (len(told) % 2)


chatters = st.lists(st.integers(1, 6), max_size=6).map(lambda spans: spans[: len(spans) // 2 * 2])


@given(st.lists(st.tuples(chatters, st.integers(45, 500), chatters, st.integers(45, 500)), max_size=6), starts)
def test_a_press_with_chatter_is_told_once_and_never_missed(fingers, start):
    spans = [(False, 30)]
    touched, expected = [], []
    for chatter_in, hold, chatter_out, rest in fingers:
        now = sum(length for _, length in spans)
        touched.append(now)
        expected.append((now, now + sum(chatter_in) + hold))
        spans += [(n % 2 == 0, length) for n, length in enumerate(chatter_in)] + [(True, hold)]
        spans += [(n % 2 == 1, length) for n, length in enumerate(chatter_out)] + [(False, rest)]
    told = scan(ButtonDebouncer(), spans, start)
    pressed = [at for at, is_press in told if is_press]
    assert len(pressed) == len(fingers) == sum(not is_press for _, is_press in told)
    for at, (touch, let_go) in zip(pressed, expected, strict=True):
        assert touch + SETTLE_MS - 1 <= at < let_go


def test_a_press_is_told_with_the_moment_of_its_touch():
    button = ButtonDebouncer()
    told = scan(button, [(False, 5), (True, 3000), (False, 100)], 0)
    assert [what for _, what in told] == [True, False]
    assert button.touched == 5


def test_a_longer_debounce_time_during_a_press_keeps_the_press():
    button = ButtonDebouncer()
    told = scan(button, [(False, 50), (True, 30)], 0)
    told += scan(button, [(True, 40), (False, 200)], 80, settle_ms=5 * SETTLE_MS)
    assert [what for _, what in told] == [True, False]
    assert button.touched == 50


def test_a_button_that_is_down_at_the_start_is_no_press_until_it_was_released():
    told = scan(ButtonDebouncer(), [(True, 2000), (False, 50), (True, 50), (False, 50)], 0)
    assert [at for at, is_press in told if is_press] == [2050 + SETTLE_MS - 1]


def test_one_odd_reading_after_a_pause_decides_nothing():
    button = ButtonDebouncer()
    scan(button, [(False, 10)], 0)
    assert not button.update(True, 110, SETTLE_MS)
    assert not any(button.update(False, now, SETTLE_MS) for now in range(111, 200))


def test_a_pause_between_two_readings_that_agree_counts():
    button = ButtonDebouncer()
    scan(button, [(False, 10)], 0)
    assert not button.update(True, 11, SETTLE_MS)
    assert button.update(True, 38, SETTLE_MS)
    assert button.touched == 11


class PlainSwitch:
    """The rule, written down: all scans are kept, and asked each time."""

    def __init__(self):
        self.scans = []
        self.level = None
        self.rest_since = None

    def update(self, closed, now):
        self.scans.append((now, closed))
        run = []
        for time, level in reversed(self.scans):
            if level != closed:
                break
            run.append(time)
        quiet = len(run) >= MIN_SCANS and now - run[-1] >= SETTLE_MS
        if quiet:
            self.level = closed
            self.rest_since = None
        elif self.rest_since is None and (closed != self.level or len(run) == 1):
            self.rest_since = now
        self.unsettled = self.rest_since is not None
        self.chattering = self.unsettled and now - self.rest_since >= CHATTERING_MS


@given(st.lists(st.tuples(st.booleans(), st.integers(1, 30), st.integers(1, 12)), max_size=30), starts)
def test_a_switch_is_as_the_plain_rule_says(spans, start):
    switch, plain = SwitchDebouncer(2), PlainSwitch()
    now = 0
    for closed, gap, count in spans:
        for _ in range(count):
            now += gap
            switch.update(int(closed) << 1, (start + now) & TICKS_MASK, SETTLE_MS)
            plain.update(closed, now)
            if plain.level is not None:
                assert switch.level >> 1 == plain.level
                assert not switch.unknown & 2
                assert bool(switch.unsettled & 2) == plain.unsettled
                assert bool(switch.chattering & 2) == plain.chattering


def test_a_switch_is_unknown_until_it_has_rested():
    switch = SwitchDebouncer(3)
    for now in range(SETTLE_MS):
        switch.update(0b101, now, SETTLE_MS)
        assert (switch.level, switch.unknown) == (0, 0b111)
    switch.update(0b101, SETTLE_MS, SETTLE_MS)
    assert (switch.level, switch.unknown, switch.unsettled) == (0b101, 0, 0)


def test_a_clean_contact_is_never_doubtful_however_long_it_has_to_rest():
    switch = SwitchDebouncer(1)
    for now in range(0, 1500, 5):
        switch.update(int(now >= 500), now, 400)
        assert not switch.chattering
    assert switch.level == 1


def test_a_switch_that_will_not_rest_is_chattering_and_later_well_again():
    switch = SwitchDebouncer(1)
    now = 0
    while now < 1000:
        switch.update(now // 7 % 2, now, SETTLE_MS)
        now += 1
        assert bool(switch.chattering) == (now > CHATTERING_MS)
    while now < 1100:
        switch.update(1, now, SETTLE_MS)
        now += 1
    assert (switch.chattering, switch.level, switch.unknown) == (0, 1, 0)


@pytest.mark.parametrize("play", [play_button, play_switch])
@pytest.mark.parametrize("contact", [ROCKER, "random chatter"])
def test_ordinary_contacts_make_no_event_twice_and_miss_none(play, contact):
    rng = Random(4)
    recorded = [trace for trace in TRACES if trace.switch == contact]
    closing = [recorded_chatter(trace) for trace in recorded if trace.closes] or [random_chatter(rng) for _ in "12345"]
    opening = [recorded_chatter(trace) for trace in recorded if not trace.closes] or closing
    outcome = play(operations(rng, closing, opening, 40, 150.0), rng, SETTLE_MS)
    assert (outcome.operations, outcome.doubled, outcome.missed) == (80, 0, 0)
    # The scan that finds the change speaks for 4 ms before it at most, and the clock counts whole ms.
    assert min(outcome.latencies_ms) >= SETTLE_MS - 5


def test_the_play_notices_what_goes_wrong():
    """With hardly any debouncing the worn contact gives events twice: the measurement can fail."""
    rng = Random(4)
    worn = [trace for trace in TRACES if trace.switch == WORN]
    closing = [recorded_chatter(trace) for trace in worn if trace.closes]
    opening = [recorded_chatter(trace) for trace in worn if not trace.closes]
    done = operations(rng, closing, opening, 40, 300.0)
    assert play_button(done, Random(1), 5).doubled > 10
    assert play_button(done, Random(1), 100).doubled == 0


def test_the_measurement_runs_and_its_lines_are_met():
    done = CliRunner().invoke(measure, ["--quick", "--seed", "3"])
    assert done.exit_code == 0, done.output
    assert "NOT MET" not in done.output
    assert done.output.count("met") == 6


@given(st.integers(0, TICKS_MASK), st.lists(st.integers(0, 1 << 29), max_size=20))
def test_the_clock_goes_on_where_the_ticks_wrap(start, steps):
    clock = DeviceClock(start)
    now = start
    for step in steps:
        now += step
        clock.advance(now & TICKS_MASK)
        assert clock.time_ms() == now
        assert elapsed_ms(now & TICKS_MASK, (now - step) & TICKS_MASK) == step


# A matrix without diodes, against every way the switches could be and every way the current could go.


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


def report(bank):
    """What the bank tells, as the host reads it."""
    packet = bytearray(encode_packet(BoardState(1, 2)))
    packet[-2:] = bank.count.to_bytes(2, "little")
    at = len(packet)
    packet += bytes(2 * ((bank.count + 7) // 8))
    assert bank.write_states(packet, at) == len(packet)
    told = decode_packet(bytes(packet))
    assert isinstance(told, BoardState)
    return told


@given(st.sets(st.tuples(st.integers(0, 3), st.integers(0, 4))), st.booleans(), st.integers(0, 7))
def test_a_bank_at_rest_tells_what_is_sure_and_what_is_not(closed, diodes, singles):
    bank = SwitchBank(4, 5, diodes, 3)
    rest(bank, [*reading(closed, 4, 5, diodes), singles], 1000)
    told = report(bank)
    for row, column in itertools.product(range(4), range(5)):
        switch = row * 5 + column
        if not told.doubtful[switch]:
            assert told.closed[switch] == ((row, column) in closed)
        else:
            assert not told.closed[switch]
            assert not diodes
    assert told.closed[20:] == tuple(bool(singles >> bit & 1) for bit in range(3))
    assert not any(told.doubtful[20:])


def test_switches_that_were_sure_are_in_doubt_while_they_may_be_ghosts():
    bank = SwitchBank(2, 2, False, 0)
    now = rest(bank, list(reading({(0, 0), (0, 1)}, 2, 2)), 0)
    assert report(bank).closed == (True, True, False, False)
    now = rest(bank, list(reading({(0, 0), (0, 1), (1, 0)}, 2, 2)), now)
    told = report(bank)
    assert told.doubtful == (True,) * 4
    now = rest(bank, list(reading({(0, 0), (1, 0)}, 2, 2)), now)
    told = report(bank)
    assert told.closed == (True, False, True, False)


def test_no_corner_is_ever_called_closed_while_the_ghosts_settle():
    """The fourth corner reads closed through the others, with contacts that chatter: it is never told as closed."""
    for seed in range(60):
        rng = Random(seed)
        bank = SwitchBank(2, 2, False, 0)
        now = rest(bank, list(reading({(0, 0), (0, 1)}, 2, 2)), 0)
        report(bank)
        for _ in range(rng.randrange(30)):
            touching = {(1, 0)} if rng.random() < 0.5 else set()
            now = rest(bank, list(reading({(0, 0), (0, 1)} | touching, 2, 2)), now, 1)
            told = report(bank)
            assert not told.closed[3]
        for _ in range(100):
            now = rest(bank, list(reading({(0, 0), (0, 1), (1, 0)}, 2, 2)), now, 1)
            told = report(bank)
            assert not told.closed[3]


def test_a_corner_that_has_not_come_to_rest_leaves_the_others_in_doubt():
    """Rows are scanned one after the other, so a corner may be read as open in one scan and closed in the next."""
    bank = SwitchBank(2, 2, False, 0)
    now = rest(bank, [0b11, 0b10], 0)
    assert report(bank).closed == (True, True, False, True)
    for scan in range(40):
        now = rest(bank, [0b11, 0b11 if scan % 2 else 0b10], now, 1)
        assert report(bank).doubtful == ((True,) * 4 if scan else (False,) * 4)
    now = rest(bank, [0b11, 0b10], now)
    assert report(bank).closed == (True, True, False, True)


@pytest.mark.parametrize("closed", [True, False])
def test_a_switch_that_chatters_for_long_is_in_doubt_until_it_rests(closed):
    bank = SwitchBank(1, 2, True, 1)
    before = 0b10 if closed else 0
    now = moved = rest(bank, [before, 1], 0)
    while now <= moved + CHATTERING_MS + 100:
        bank.masks[:] = [before ^ (now - moved + 1) % 2 * 0b10, 1]
        bank.update(now, SETTLE_MS)
        told = report(bank)
        is_long = now - moved >= CHATTERING_MS
        assert told.doubtful == (False, is_long, False)
        assert told.closed == (False, closed and not is_long, True)
        now += 1
    now = rest(bank, [before, 1], now)
    assert report(bank).closed == (False, closed, True)
    assert not any(report(bank).doubtful)


def test_the_largest_bank_is_told(make_bench):
    bench = make_bench(
        {"matrix": {"rows": list(range(16)), "columns": list(range(16, 32)), "diodes": True}, "switches": [32, 33, 34]}
    )
    assert bench.pins.switches == 259
    assert bench.pins.faults == []
    bench.run_until(100)
    bench.board.masks = [0xFFFF] * 16 + [7]
    bench.run_until(200)
    assert report(bench.device.switches).closed[258]
