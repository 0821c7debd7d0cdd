from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import pytest
from gpiozero import LED
from gpiozero.exc import GPIOZeroError
from gpiozero.pins import mock
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hardware.errors import PinError
from hardware.pin_map import GpioPinMap
from hardware.switches import GpioSwitches, SwitchPins, SwitchScanner, SwitchSnapshot, SwitchState, switch_pins

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
