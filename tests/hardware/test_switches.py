import itertools
import random
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import astuple
from itertools import pairwise, product
from typing import Any

import pytest
from gpiozero import LED
from gpiozero.exc import GPIOZeroError
from gpiozero.pins import mock
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from firmware_bridge.firmware.core.sensors import mark_ghosts
from hardware.errors import PinError
from hardware.pin_map import GpioPinMap
from hardware.switches import (
    CHATTER_FLIPS,
    MIN_SCANS,
    GpioSwitches,
    SwitchDebouncer,
    SwitchPins,
    SwitchScanner,
    SwitchSnapshot,
    SwitchState,
    switch_pins,
    switch_states,
)

ROWS, COLUMNS, SINGLES = (4, 5, 6), (2, 12, 13, 16), (20, 21)
WIRED = SwitchPins(ROWS, COLUMNS, SINGLES, diodes=False)


class Board:
    """The wires between pins: which switches are closed, and the level that each pin then reads.

    A pin driven low pulls low every pin that is connected to it; all others follow their own pull. A pin
    driven high that is joined to one driven low is a short circuit, and ends the test.
    """

    def __init__(self) -> None:
        self.closed: set[tuple[int, int]] = set()
        self.grounded: set[int] = set()
        self.diodes = False
        self.pins: dict[int, WiredPin] = {}
        self.broken = False

    def is_low(self, number: int) -> bool:
        if self.broken:
            raise GPIOZeroError("the pins are gone")
        if number in self.grounded:
            return True
        seen, todo = {number}, [number]
        while todo:
            at = todo.pop()
            for row, column in self.closed:
                # Through a diode current comes from the column and goes to the row, never back.
                ways = {column: row} if self.diodes else {column: row, row: column}
                if at in ways and ways[at] not in seen:
                    seen.add(ways[at])
                    todo.append(ways[at])
        driven = [self.pins[other] for other in seen if other in self.pins and self.pins[other].function == "output"]
        levels = {pin.driven_high for pin in driven}
        assert len(levels) < 2, "a high pin is joined to a low one"
        return levels == {False}


class WiredPin(mock.MockPin):
    """A mock pin whose input level is set by the board's wires."""

    board: Board

    def __init__(self, factory: mock.MockFactory, info: Any) -> None:
        super().__init__(factory, info)
        self.board.pins[int(info.name.removeprefix("GPIO"))] = self

    @property
    def driven_high(self) -> bool:
        return bool(self._state)

    def _get_state(self) -> bool:
        if self.function == "output":
            return bool(self._state)
        low = self.board.is_low(int(self.info.name.removeprefix("GPIO")))
        return not low and self._get_pull() == "up"


@pytest.fixture
def board(monkeypatch: pytest.MonkeyPatch) -> Board:
    made = Board()
    monkeypatch.setattr(WiredPin, "board", made, raising=False)
    return made


@pytest.fixture
def wires(board: Board) -> Iterator[mock.MockFactory]:
    factory = mock.MockFactory(revision="c03111", pin_class=WiredPin)
    yield factory
    factory.close()


def numbers(closed: set[tuple[int, int]]) -> set[int]:
    """The switches' numbers, from the pins of their rows and columns."""
    return {ROWS.index(row) * len(COLUMNS) + COLUMNS.index(column) for row, column in closed}


def closed_in(states: tuple[SwitchState, ...]) -> set[int]:
    return {number for number, state in enumerate(states) if state is SwitchState.CLOSED}


def no_wait(_: float) -> None:
    pass


def test_each_switch_is_read_at_its_own_number(board: Board, wires: mock.MockFactory) -> None:
    scanner = SwitchScanner(WIRED, no_wait, wires)
    for row, column in itertools.product(ROWS, COLUMNS):
        board.closed = {(row, column)}
        assert closed_in(scanner.scan()) == numbers(board.closed)
    board.closed = set()
    board.grounded = {21}
    assert closed_in(scanner.scan()) == {13}
    scanner.close()


def test_a_ghost_is_doubtful_without_diodes_and_absent_with_them(board: Board, wires: mock.MockFactory) -> None:
    board.closed = {(4, 2), (4, 12), (5, 2), (6, 16)}
    scanner = SwitchScanner(WIRED, no_wait, wires)
    states = scanner.scan()
    assert {number for number, state in enumerate(states) if state is SwitchState.DOUBTFUL} == {0, 1, 4, 5}
    assert closed_in(states) == {11}
    scanner.close()
    board.diodes = True
    scanner = SwitchScanner(SwitchPins(ROWS, COLUMNS, SINGLES, diodes=True), no_wait, wires)
    assert closed_in(scanner.scan()) == numbers(board.closed)
    scanner.close()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(closed=st.sets(st.tuples(st.sampled_from(ROWS), st.sampled_from(COLUMNS))))
def test_no_certain_switch_is_wrong_and_no_scan_shorts_pins(
    board: Board, wires: mock.MockFactory, closed: set[tuple[int, int]]
) -> None:
    board.closed = closed
    scanner = SwitchScanner(WIRED, no_wait, wires)
    for number, state in enumerate(scanner.scan()[:12]):
        if state is not SwitchState.DOUBTFUL:
            assert (state is SwitchState.CLOSED) == (number in numbers(closed))
    scanner.close()


def test_only_the_row_being_read_is_driven(board: Board, wires: mock.MockFactory) -> None:
    driven: list[set[int]] = []
    scanner = SwitchScanner(
        WIRED, lambda _: driven.append({n for n, pin in board.pins.items() if pin.function == "output"}), wires
    )
    scanner.scan()
    assert driven == [{4}, set(), {5}, set(), {6}, set()]
    assert {board.pins[column].pull for column in (*COLUMNS, *SINGLES)} == {"up"}
    assert {board.pins[row].pull for row in ROWS} == {"floating"}
    scanner.close()


def test_a_row_can_use_a_pin_with_a_fixed_pull_up(board: Board, wires: mock.MockFactory) -> None:
    scanner = SwitchScanner(SwitchPins((2, 3), (4,), diodes=True), no_wait, wires)
    board.closed = {(3, 4)}
    board.diodes = True
    assert scanner.scan() == (SwitchState.OPEN, SwitchState.CLOSED)
    scanner.close()


def test_a_pin_in_use_is_reported_and_the_others_are_freed(wires: mock.MockFactory) -> None:
    with LED(13, pin_factory=wires), pytest.raises(PinError, match="sensors: pin GPIO13 is already in use"):
        SwitchScanner(WIRED, no_wait, wires)
    SwitchScanner(WIRED, no_wait, wires).close()


@pytest.mark.parametrize(
    ("pins", "told"),
    [
        ({}, "there is no pin with a sensor"),
        ({"rows": [4]}, "needs pins for rows and for columns"),
        ({"columns": [4]}, "needs pins for rows and for columns"),
        ({"rows": [4], "columns": ["GPIO4"]}, "GPIO4 is used twice: for sensor row 1 and for sensor column 1"),
        ({"rows": [4, 4], "columns": [5]}, "GPIO4 is used twice: for sensor row 1 and for sensor row 2"),
        ({"singles": [17, 99]}, "sensor 2: 99 does not exist on the 40-pin header"),
        ({"rows": ["x"], "columns": [1]}, "sensor row 1: 'x' is not a pin"),
    ],
)
def test_invalid_sensor_pins_are_refused_with_the_reason(pins: dict[str, Any], told: str) -> None:
    with pytest.raises(PinError) as caught:
        switch_pins(**pins)
    assert told in str(caught.value)


def test_all_pin_conflicts_are_named_at_once_including_lights_and_buttons() -> None:
    lights = GpioPinMap.from_names(status_red=4, status_green=5, status_blue=6, buttons={"hint": 17})
    with pytest.raises(PinError) as caught:
        switch_pins(rows=[4, 5], columns=[17, 27], singles=[0], taken=lights.uses)
    for part in (
        "GPIO4 is used twice: for status red and for sensor row 1",
        "GPIO5 is used twice: for status green and for sensor row 2",
        "GPIO17 is used twice: for button 'hint' and for sensor column 1",
        "sensor 1: 0 is kept for the identification chip",
    ):
        assert part in str(caught.value)


def test_switches_and_their_uses_are_counted() -> None:
    made = switch_pins(rows=["GPIO4", 5], columns=[6, "BOARD32", 13], singles=[20], diodes=False)
    assert made == SwitchPins((4, 5), (6, 12, 13), (20,), diodes=False)
    assert made.switches == 7
    assert made.uses[0] == ("sensor row 1", 4)
    assert len(made.uses) == 6


def play(switches: GpioSwitches, clock, seconds: float) -> list[SwitchSnapshot | None]:
    """Take a snapshot at each announced scan."""
    end_s, seen = clock.now_s + seconds, []
    while (next_s := switches.next_scan_s(clock.now_s)) <= end_s:
        clock.now_s = next_s
        seen.append(switches.latest(clock.now_s))
        assert switches.next_scan_s(clock.now_s) > clock.now_s, "the next scan must lie ahead"
    clock.now_s = end_s
    return seen


def test_a_piece_lifted_and_put_down_is_reported_with_times(clock, board: Board, wires: mock.MockFactory) -> None:
    switches = GpioSwitches(WIRED, pytest.fail, no_wait, pin_factory=wires)
    board.closed = {(4, 2)}
    first = play(switches, clock, 0.2)[-1]
    assert first is not None
    assert {number for number, closed in enumerate(first.closed) if closed} == {0}
    lifted_s = clock.now_s
    board.closed = set()
    lifted = play(switches, clock, 0.3)
    board.closed = {(6, 16)}
    put_down = play(switches, clock, 0.3)
    changes = [change for snapshot in (*lifted, *put_down) if snapshot for change in snapshot.changes]
    assert [(change.switch, change.closed) for change in changes] == [(0, False), (11, True)]
    assert changes[0].time_s == pytest.approx(lifted_s, abs=0.021)
    assert changes[1].time_s == pytest.approx(lifted_s + 0.3, abs=0.021)
    switches.close()


def test_asking_more_often_does_not_scan_more_often(clock, board: Board, wires: mock.MockFactory) -> None:
    waits: list[float] = []
    switches = GpioSwitches(WIRED, pytest.fail, waits.append, pin_factory=wires)
    for _ in range(1000):
        switches.latest(clock.now_s)
        clock.now_s += 0.001
    assert len(waits) == pytest.approx(50 * 6, abs=12)
    switches.close()


def test_pins_that_fail_are_reported_once_and_recover_by_themselves(
    clock, board: Board, wires: mock.MockFactory
) -> None:
    said: list[str] = []
    switches = GpioSwitches(WIRED, said.append, no_wait, pin_factory=wires)
    play(switches, clock, 0.2)
    board.broken = True
    assert play(switches, clock, 10.0)[-1] is None
    assert said == [
        "The sensors do not work: the pins are gone; check the wiring, then run `./run doctor`. The game "
        "goes on without them, and the referee keeps trying."
    ]
    board.broken = False
    board.closed = {(5, 12)}
    back = play(switches, clock, 10.0)[-1]
    assert back is not None
    assert back.closed[5]
    assert back.changes == ()
    assert len(said) == 1
    switches.close()


def test_pins_that_fail_on_closing_too_recover_by_themselves(
    clock, board: Board, wires: mock.MockFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: WiredPin) -> None:
        raise OSError("the pins are gone")

    said: list[str] = []
    switches = GpioSwitches(WIRED, said.append, no_wait, pin_factory=wires)
    play(switches, clock, 0.2)
    with monkeypatch.context() as broken:
        broken.setattr(board, "broken", True)
        broken.setattr(WiredPin, "close", fail)
        assert play(switches, clock, 0.2)[-1] is None
    assert len(said) == 1
    assert play(switches, clock, 10.0)[-1] is not None
    switches.close()


def test_missing_pins_are_reported_and_give_no_snapshot(clock) -> None:
    said: list[str] = []
    empty = mock.MockFactory(revision="c03111")
    with LED(4, pin_factory=empty):
        switches = GpioSwitches(WIRED, said.append, no_wait, pin_factory=empty)
        assert switches.latest(clock.now_s) is None
        assert "GPIO4 is already in use" in said[0]
        switches.close()
    empty.close()


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
